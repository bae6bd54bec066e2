/* Random edits of random computations: whatever edits make and the verifier accepts computes the
 * same as before all edits, in the interpreter of trees and lowered, in the interpreter of tiles.
 * In the environment: AT_SEED and AT_COUNT choose others and more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "schedule/edit/edit_compute.h"
#include "tests/codegen/operands.h"
#include "tests/setting.h"

#include <stdlib.h>
#include <string.h>

enum { EDITS = 12, PATH = 40, E1 = 1, E2, E3, E4, E5, E6, E7, E8, E10, E11, KINDS };

typedef struct editing {
    built before, now; /* the arena, symbols and values are those of `before` */
    at_rng rng;
    at_text told; /* what was done, for a failure's message */
    int done[KINDS], refused[KINDS], illegal[KINDS];
} editing;

static int below(editing *e, int n) { return (int)at_rng_below(&e->rng, (uint64_t)n); }

/* ---- what there is to edit ------------------------------------------------------------------- */

static const char *random_stage(editing *e) {
    const at_compute *c = e->now.compute;
    for (;;) {
        const at_tensor *t = &c->tensors[below(e, c->num_tensors)];
        if (t->role == AT_ROLE_STAGE) return t->name;
    }
}

/* One of its axes, in half of all cases; else NULL. */
static const char *random_axis(editing *e, const char *stage) {
    const at_tensor *t = &e->now.compute->tensors[at_compute_find(e->now.compute, stage)];
    return t->num_axes && below(e, 2) ? t->axes[below(e, t->num_axes)].name : NULL;
}

static const at_node *find_leaf(const at_node *first, int tensor) {
    for (const at_node *n = first; n; n = n->next) {
        if (n->is_leaf && !n->is_init && n->tensor == tensor) return n;
        const at_node *inside = n->is_leaf ? NULL : find_leaf(n->child, tensor);
        if (inside) return inside;
    }
    return NULL;
}

typedef struct piece {
    const char *name;
    int64_t extent;
} piece;

/* The pieces of the loops around a stage, outermost first. */
static int pieces_of(const editing *e, const char *stage, piece out[PATH]) {
    const at_program *p = e->now.program;
    const at_node *leaf = find_leaf(p->root, at_compute_find(e->now.compute, stage)), *up[PATH];
    int depth = 0, n = 0;
    for (const at_node *x = leaf ? leaf->parent : NULL; x && depth < PATH; x = x->parent)
        up[depth++] = x;
    while (depth--)
        for (int m = 0; m < up[depth]->num_pieces && n < PATH; m++)
            out[n++] = (piece){p->piece_names[up[depth]->piece[m]], up[depth]->piece_extent[m]};
    return n;
}

/* A size of the test's own; NULL: there is no room for more. */
static const char *new_size(editing *e, int64_t value) {
    at_symbols *s = &e->before.symbols;
    if (s->names.len == RP_SIZES) return NULL;
    const char *name = at_format(e->before.arena, "e%d", s->names.len);
    e->before.values[at_symbol_add(e->before.arena, s, name)] = value;
    return name;
}

/* ---- edits ----------------------------------------------------------------------------------- */

typedef struct result {
    const at_compute *compute;
    at_tree *tree;
} result;

static at_status split(editing *e, const char *stage, const piece *x, result *r, at_error *err) {
    int64_t inner = 1;
    for (int64_t d = 2; d <= x->extent; d++)
        if (x->extent % d == 0 && (inner == 1 || below(e, 2))) inner = d;
    const char *parts[] = {new_size(e, x->extent / inner), new_size(e, inner)};
    if (!parts[0] || !parts[1] || x->extent < 1) return AT_E_INPUT;
    at_text_addf(&e->told, "split %s %s into %s %s\n", stage, x->name, parts[0], parts[1]);
    return at_edit_split(e->before.arena, e->now.tree, e->now.compute, stage, x->name, parts, 2,
                         &r->tree, err);
}

static at_status copy(editing *e, const char *stage, result *r, at_error *err) {
    at_copy_kind kind = (at_copy_kind)below(e, 3);
    const char *name = at_format(e->before.arena, "copy%d", e->now.compute->num_tensors);
    const char *tensor = e->now.compute->tensors[below(e, e->now.compute->num_tensors)].name;
    if (kind == AT_COPY_WRITE) tensor = stage;
    at_text_addf(&e->told, "copy %d of %s for %s: %s\n", kind, tensor, stage, name);
    return at_edit_copy(e->before.arena, e->now.tree, kind, tensor, stage, name, &r->compute,
                        &r->tree, err);
}

/* Of a sum with the lengths of its reductions. */
static at_status inlined(editing *e, const char *stage, result *r, at_error *err) {
    const at_tensor *x = &e->now.compute->tensors[at_compute_find(e->now.compute, stage)];
    const char *names[PATH];
    int64_t sizes[PATH];
    at_text_addf(&e->told, "inline %s of %d\n", stage, x->num_reduce);
    for (int k = 0; k < x->num_reduce; k++) {
        const at_axis *axis = &x->axes[x->num_axes + k];
        names[k] = axis->name;
        if (axis->begin) return AT_E_INPUT;
        AT_TRY(at_expr_eval(axis->extent, e->before.values, &sizes[k], err));
    }
    return at_edit_inline(e->before.arena, e->now.tree, stage, names, sizes, x->num_reduce,
                          &r->compute, &r->tree, err);
}

/* Names of another stage, of none, or those that its axes have, the other way round. */
static at_status renamed(editing *e, const char *stage, result *r, at_error *err) {
    const at_compute *c = e->now.compute;
    const at_tensor *x = &c->tensors[at_compute_find(c, stage)],
                    *like = &c->tensors[at_compute_find(c, random_stage(e))];
    const char *names[PATH];
    int n = x->num_axes + x->num_reduce, most = like->num_axes + like->num_reduce,
        kind = below(e, 3);
    at_text_addf(&e->told, "rename %s:", stage);
    for (int k = 0; k < n; k++) {
        names[k] = kind == 0 && k < most ? like->axes[k].name
                   : kind == 1           ? x->axes[n - 1 - k].name
                                         : at_format(e->before.arena, "r%d", k);
        at_text_addf(&e->told, " %s", names[k]);
    }
    at_text_add(&e->told, "\n");
    return at_edit_rename(e->before.arena, e->now.tree, stage, names, n, &r->compute, &r->tree,
                          err);
}

static at_status edit(editing *e, int kind, result *r, at_error *err) {
    at_arena *a = e->before.arena;
    piece x[PATH];
    const char *stage = random_stage(e);
    int n = pieces_of(e, stage, x);
    const at_tree *t = e->now.tree;
    const at_compute *c = e->now.compute;
    if (kind == E6) return copy(e, stage, r, err);
    if (kind == E10) return inlined(e, stage, r, err);
    if (kind == E11) return renamed(e, stage, r, err);
    if (kind == E5) {
        at_text_addf(&e->told, "dissolve %s\n", stage);
        return at_edit_dissolve(a, t, c, stage, &r->tree, err);
    }
    if (!n) return AT_E_INPUT;
    const piece *one = &x[below(e, n)], *two = &x[below(e, n)];
    const char *names[] = {one->name, two->name};
    if (kind == E1) return split(e, stage, one, r, err);
    at_text_addf(&e->told, "%s %s %s %s\n",
                 kind == E2   ? "order"
                 : kind == E3 ? "fuse"
                 : kind == E4 ? "nest"
                 : kind == E7 ? "factor"
                              : "mark",
                 stage, one->name, two->name);
    if (kind == E2) return at_edit_order(a, t, c, stage, names, 2, &r->tree, err);
    if (kind == E3) return at_edit_fuse(a, t, c, stage, names, 2, &r->tree, err);
    if (kind == E7)
        return at_edit_factor(a, t, stage, one->name,
                              at_format(a, "rf%d", e->now.compute->num_tensors),
                              random_axis(e, stage), &r->compute, &r->tree, err);
    if (kind == E8)
        return at_edit_mark(a, t, c, stage, one->name, (at_ann)below(e, 4), &r->tree, err);
    const char *moved = random_stage(e);
    at_text_addf(&e->told, "(%s)\n", moved);
    return at_edit_nest(a, t, c, moved, stage, one->name, below(e, 2), &r->tree, err);
}

/* The program of a result; the verifier's word. */
static at_status build(editing *e, const result *r, at_program **p, at_error *err) {
    AT_TRY(at_program_build(e->before.arena, r->tree, e->before.values, p, err));
    return at_program_verify(e->before.arena, *p, err);
}

/* ---- checks ---------------------------------------------------------------------------------- */

/* The data of the computation as it is now: inputs by name. */
static at_data *data_now(editing *e, const at_data *of) {
    const at_compute *c = e->now.compute;
    at_data *d = AT_NEW_ARRAY(e->before.arena, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        int before = at_compute_find(e->before.compute, c->tensors[t].name);
        if (before >= 0) d[t] = of[before];
    }
    return d;
}

static const char *same_outputs(editing *e) {
    for (int t = 0; t < e->now.compute->num_tensors; t++) {
        const at_tensor *x = &e->now.compute->tensors[t];
        int before = at_compute_find(e->before.compute, x->name);
        if (x->is_output != (before >= 0 && e->before.compute->tensors[before].is_output))
            return at_format(e->before.arena, "%s is %s output", x->name,
                             x->is_output ? "an" : "no");
    }
    return NULL;
}

static const char *compare(editing *e, const at_data *found, const at_data *expected) {
    at_data *wanted = data_now(e, expected);
    const at_compute *c = e->now.compute;
    const char *fault = NULL;
    for (int t = 0; t < c->num_tensors && !fault; t++)
        if (c->tensors[t].is_output)
            fault = find_difference(&e->before, c->tensors[t].name, elements_of(&found[t]),
                                    &wanted[t], build_elements(&e->now, t));
    return fault;
}

/* The computation that edits made, and the tree over it. */
static const char *interpret(editing *e, const at_data *expected, at_data **all) {
    at_arena *a = e->before.arena;
    at_data *found = data_now(e, e->before.data);
    at_error err;
    *all = data_now(e, e->before.data);
    if (at_compute_interpret(a, e->now.compute, e->before.values, *all, &err) != AT_OK ||
        at_program_interpret(a, e->now.program, found, &err) != AT_OK)
        return at_strdup(a, err.text);
    const char *fault = compare(e, *all, expected);
    return fault ? fault : compare(e, found, expected);
}

/* expected: of the computation as it is now. */
static const char *lower_and_run(editing *e, const at_data *expected, const at_target *target) {
    at_lower_options o = {.dialect = AT_DIALECT_TCC, .target = target, .name = "k", .verify = true};
    at_low *l;
    at_error err;
    if (at_lower_until(e->before.arena, e->now.program, &o, "tiles", &l, &err) != AT_OK)
        return at_strdup(e->before.arena, err.text);
    operands mem;
    e->now.data = data_now(e, e->before.data);
    operands_open(&mem, &e->now, l->params, l->num_params, l->workspace_bytes, l->thread_bytes, 5);
    const char *fault = l->pack_root ? ir_run(l, true, &mem.memory) : NULL;
    if (!fault) fault = ir_run(l, false, &mem.memory);
    if (!fault) fault = operands_check(&mem, expected);
    if (fault) fault = at_strdup(e->before.arena, fault);
    operands_close(&mem);
    return fault;
}

static void check(editing *e, uint64_t seed) {
    at_data *expected = at_copy(e->before.arena, e->before.data,
                                sizeof(at_data) * (size_t)e->before.compute->num_tensors);
    at_error err;
    if (at_compute_interpret(e->before.arena, e->before.compute, e->before.values, expected, &err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
    const char *fault = same_outputs(e);
    at_data *all;
    if (!fault) fault = interpret(e, expected, &all);
    if (!fault)
        fault = lower_and_run(
            e, all,
            at_target_at((int)(seed % (unsigned)at_target_at(0)->architecture->num_targets)));
    if (!fault) return;
    at_text text = {0};
    at_compute_print(&text, e->now.compute);
    at_tree_print(&text, e->now.tree);
    fail_msg("seed %llu: %s\n%s%s", (unsigned long long)seed, fault, at_text_str(&e->told),
             at_text_str(&text));
}

static bool edit_random(editing *e, uint64_t seed) {
    random_program *p = calloc(1, sizeof *p);
    assert_non_null(p);
    random_program_make(seed, p);
    bool used = build_open(&e->before, p) == USE_OK;
    at_rng_seed(&e->rng, seed, 7);
    e->now = e->before;
    for (int i = 0; used && i < EDITS; i++) {
        result r = {e->now.compute, e->now.tree};
        at_program *program;
        at_error err;
        int kind = E1 + below(e, KINDS - 1);
        size_t told = e->told.len;
        bool plain = i == 0 && seed % 2;
        at_status s = plain ? at_edit_plain(e->before.arena, e->before.compute, &r.tree, &err)
                            : edit(e, kind, &r, &err);
        if (plain) kind = 0;
        e->refused[kind] += s != AT_OK;
        if (s == AT_OK && build(e, &r, &program, &err) == AT_OK) {
            e->now.compute = (at_compute *)(uintptr_t)r.compute;
            e->now.tree = r.tree;
            e->now.program = program;
            e->done[kind]++;
        } else if (e->told.len > told) {
            e->told.data[e->told.len = told] = 0;
            e->illegal[kind] += s == AT_OK;
        }
    }
    if (used) check(e, seed);
    build_close(&e->before);
    free(p);
    if (e->told.data) e->told.data[e->told.len = 0] = 0;
    return used;
}

static void random_edits(void **state) {
    (void)state;
    editing *e = calloc(1, sizeof *e);
    long seed = setting("AT_SEED", 1), count = how_many("AT_COUNT", 150), used = 0;
    assert_non_null(e);
    for (long i = 0; i < count; i++) used += edit_random(e, (uint64_t)(seed + i));
    for (int k = E1; k < KINDS; k++) {
        print_message("E%d: %d done, %d refused, %d illegal\n", k < E10 ? k : k + 1, e->done[k],
                      e->refused[k], e->illegal[k]);
        assert_true(e->done[k] > 0);
    }
    assert_true(used > count / 3);
    at_text_free(&e->told);
    free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_edits)};
    return cmocka_run_group_tests_name("codegen/edits", tests, NULL, NULL);
}
