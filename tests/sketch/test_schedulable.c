/* Schedulables: the user's matrix product from its text alone to a tiled tree with knobs, what
 * edits refuse, and templates that become schedulables, print as files and are the same again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/arena.h"

#include "sketch/schedulable.h"
#include "sketch/sketch.h"

#include <stdlib.h>

static const char product[] = "A[N, L] : input\n"
                              "B[L, M] : weight\n"
                              "C[N, M] : input\n"
                              "mul[i:N, j:M] = sum(k:L) A[i, k]*B[k, j]\n"
                              "out[i:N, j:M] = mul[i, j] + C[i, j]\n";

static at_status tried(const char *name, const char *args, const char *record_args,
                       const at_definition *definitions, int n, const char *compute,
                       const char *tree, const at_schedulable **out, at_error *err) {
    at_schedulable *s = at_schedulable_untried(
        arena, &(at_schedulable){.row = {.name = name, .args = args, .record_args = record_args},
                                 .definitions = definitions,
                                 .num_definitions = n,
                                 .compute_text = compute,
                                 .tree_text = tree});
    *out = s;
    return at_schedulable_try_only(arena, s, err);
}

static const at_schedulable *matmul_add(void) {
    const at_schedulable *s;
    at_error err;
    if (tried("matmul_add", "N=24, L=12, M=32", "[N, L, M]", NULL, 0, product,
              "i, j, k =>\n    @mul = i, j  // k\ni, j =>\n    @out = i, j\n", &s, &err) != AT_OK)
        fail_msg("%s", err.text);
    return s;
}

/* What an edit makes of s, tried; over symbols of its own, since a split adds some. */
static at_status make(const at_schedulable *s, const at_edit *e, const at_schedulable **out,
                      at_error *err) {
    at_symbols *symbols = AT_NEW(arena, at_symbols);
    at_compute *own;
    const at_compute *compute;
    at_tree *tree;
    at_definition *all = AT_NEW_ARRAY(arena, at_definition, s->num_definitions + 1);
    at_text c = {0}, t = {0};
    for (int i = 0; i < s->compute->symbols->names.len; i++)
        at_symbol_add(arena, symbols, s->compute->symbols->names.data[i]);
    AT_TRY(at_compute_parse(arena, symbols, s->compute_text, "computation", &own, err));
    for (int i = 0; i < s->num_definitions; i++) all[i] = s->definitions[i];
    at_definition *knob = &all[s->num_definitions];
    AT_TRY(at_edit_make(arena, symbols, own, s->tree, e, &compute, &tree, knob, err));
    at_compute_print(&c, compute);
    at_tree_print(&t, tree);
    return tried(s->row.name, s->row.args, s->row.record_args, all,
                 s->num_definitions + (knob->text[0] != NULL), at_text_take(arena, &c),
                 at_text_take(arena, &t), out, err);
}

static const at_schedulable *edit(const at_schedulable *s, at_edit e) {
    at_error err;
    if (make(s, &e, &s, &err) != AT_OK) fail_msg("%s", err.text);
    return s;
}

static void refuse(const at_schedulable *s, at_edit e, const char *message) {
    const at_schedulable *unused;
    at_error err;
    assert_int_not_equal(make(s, &e, &unused, &err), AT_OK);
    assert_string_equal(err.text, message);
}

#define SPLIT(of, which, with, ...)                                                                \
    ((at_edit){                                                                                    \
        .kind = AT_EDIT_SPLIT, .stage = of, .loop = which, .knob = with, .names = {__VA_ARGS__}})

/* Ansor's tiling with the consumer inside, with all that can be had of E1 to E8. */
static const at_schedulable *tiled(void) {
    const at_schedulable *s = matmul_add();
    s = edit(s, SPLIT("mul", "i", "tile_i", "i0", "i1", "i2"));
    s = edit(s, SPLIT("mul", "j", "tile_j", "j0", "j1"));
    s = edit(s, SPLIT("mul", "k", "tile_k", "k0", "k1"));
    s = edit(s, (at_edit){.kind = AT_EDIT_ORDER,
                          .stage = "mul",
                          .names = {"i0", "j0", "i1", "k0", "k1", "i2", "j1"}});
    s = edit(s,
             (at_edit){.kind = AT_EDIT_MARK, .stage = "mul", .loop = "i2", .ann = AT_ANN_UNROLL});
    s = edit(s, (at_edit){.kind = AT_EDIT_MARK, .stage = "mul", .loop = "j1", .ann = AT_ANN_VEC});
    s = edit(s, (at_edit){.kind = AT_EDIT_NEST, .stage = "out", .other = "mul", .loop = "i1"});
    s = edit(s, (at_edit){.kind = AT_EDIT_COPY,
                          .copy = AT_COPY_LAYOUT,
                          .stage = "mul",
                          .other = "B",
                          .names = {"packb"}});
    s = edit(s, (at_edit){.kind = AT_EDIT_FUSE, .stage = "mul", .names = {"i0", "j0"}});
    return edit(s,
                (at_edit){.kind = AT_EDIT_MARK, .stage = "mul", .loop = "i0", .ann = AT_ANN_PARA});
}

/* Programs of many configurations against the computation before all edits. */
static void expect_right(const at_schedulable *s, const at_compute *original) {
    at_space *space = at_task_space(s->task);
    at_rng rng;
    at_rng_seed(&rng, 5, 1);
    for (int n = 0; n < 60; n++) {
        at_arena *a = at_arena_new();
        at_config c;
        at_program *p;
        int64_t *values, **extents;
        at_error err;
        int64_t index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_len(space));
        if (at_config_at(a, space, index, &c, &err) != AT_OK ||
            at_task_values(a, s->task, &c, &values, &err) != AT_OK ||
            at_task_program(a, s->task, &c, &p, &err) != AT_OK ||
            at_compute_extents(a, s->compute, values, &extents, &err) != AT_OK)
            fail_msg("%s", err.text);
        at_data *found = AT_NEW_ARRAY(a, at_data, s->compute->num_tensors),
                *wanted = AT_NEW_ARRAY(a, at_data, original->num_tensors);
        for (int t = 0; t < s->compute->num_tensors; t++) {
            const at_tensor *x = &s->compute->tensors[t];
            if (x->role == AT_ROLE_STAGE) continue;
            const int64_t count = at_tensor_elements(x, extents[t]);
            found[t].f = AT_NEW_ARRAY(a, float, count);
            for (int64_t i = 0; i < count; i++)
                found[t].f[i] = (float)(int)at_rng_below(&rng, 17) - 8;
            wanted[at_compute_find(original, x->name)] = found[t];
        }
        if (at_compute_interpret(a, original, values, wanted, &err) != AT_OK ||
            at_program_interpret(a, p, found, &err) != AT_OK)
            fail_msg("%s", err.text);
        int out = at_compute_find(s->compute, "out"), before = at_compute_find(original, "out");
        assert_memory_equal(found[out].f, wanted[before].f,
                            sizeof(float) * (size_t)(extents[out][0] * extents[out][1]));
        at_arena_free(a);
    }
}

static void edits(void **state) {
    (void)state;
    const at_schedulable *s = tiled();
    assert_string_equal(s->tree_text, "j0, k0, k1, j1 =>\n"
                                      "    @packb = j0, k0, k1, j1\n"
                                      "{i0, j0}:para, i1 =>\n"
                                      "    k0, k1, i2:unroll, j1:vec =>\n"
                                      "        @mul = {i0, i1, i2}/i, {j0, j1}/j  // {k0, k1}/k\n"
                                      "    i2:unroll, j1:vec =>\n"
                                      "        @out = {i0, i1, i2}/i, {j0, j1}/j\n");
    /* 24 in 3 parts, 32 in 2, 12 in 2 */
    assert_int_equal(at_space_len(at_task_space(s->task)), 30 * 6 * 6);
    expect_right(s, matmul_add()->compute);
    s = edit(s, (at_edit){.kind = AT_EDIT_FACTOR, .stage = "mul", .loop = "k1", .names = {"rf"}});
    expect_right(s, matmul_add()->compute);
}

/* An edit that leaves a tree no program can follow says which rule it breaks. */
static void rules(void **state) {
    (void)state;
    const at_schedulable *s = tiled();
    refuse(s, (at_edit){.kind = AT_EDIT_MARK, .stage = "mul", .loop = "k0", .ann = AT_ANN_PARA},
           "the default configuration: rule 9 (para): loop k0 must not be inside "
           "para loop {i0, j0}");
    refuse(s, SPLIT("mul", "i9", "tile_9", "p", "q"), "\"i9\" is no loop around @mul");
    refuse(s, SPLIT("mul", "i2", "tile_i", "p", "q"), "matmul_add: a second knob \"tile_i\"");
    refuse(s, (at_edit){.kind = AT_EDIT_DISSOLVE, .stage = "mul"},
           "rule 1 (leaf): @mul is a sum, which cannot be dissolved");
}

/* ---- templates ------------------------------------------------------------------------------- */

/* The program of the same index by both, where the template has this tree for it. */
static bool expect_alike(const at_task *t, const at_schedulable *s, int64_t index,
                         const at_tree *tree) {
    const at_tree *chosen;
    at_config x, y;
    at_program *p, *q;
    at_error err;
    at_text before = {0}, after = {0};
    if (at_config_at(arena, at_task_space(t), index, &x, &err) != AT_OK ||
        at_task_tree(arena, t, &x, &chosen, &err) != AT_OK)
        fail_msg("%s", err.text);
    if (chosen != tree) return false;
    if (at_config_at(arena, at_task_space(s->task), index, &y, &err) != AT_OK)
        fail_msg("%s", err.text);
    at_status here = at_task_program(arena, t, &x, &p, &err);
    at_status there = at_task_program(arena, s->task, &y, &q, &err);
    assert_int_equal(here, there);
    if (here == AT_OK) {
        at_program_print(&before, p, true);
        at_program_print(&after, q, true);
        assert_string_equal(at_text_str(&before), at_text_str(&after));
    }
    at_text_free(&before);
    at_text_free(&after);
    return true;
}

static void of_templates(void **state) {
    (void)state;
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    for (int i = 0; i < at_template_count(); i++) {
        const at_template_row *row = at_template_at(i);
        const at_schedulable *s;
        at_task *t;
        at_error err;
        if (at_task_new(arena, row, "", &t, &err) != AT_OK) fail_msg("%s", err.text);
        if (at_schedulable_of_task(arena, t, &s, &err) != AT_OK)
            fail_msg("%s: %s", row->name, err.text);
        int64_t n = at_space_range_length(at_task_space(t));
        const at_tree *tree;
        at_config c;
        if (at_task_default_config(arena, t, 8, &c, &err) != AT_OK ||
            at_task_tree(arena, t, &c, &tree, &err) != AT_OK)
            fail_msg("%s", err.text);
        assert_int_equal(at_space_range_length(at_task_space(s->task)), n);
        int alike = 0;
        for (int k = 0; k < 40; k++)
            alike += expect_alike(t, s, (int64_t)at_rng_below(&rng, (uint64_t)n), tree);
        assert_true(alike > 0);
    }
}

/* The file that is printed is a template of the program's. */
static void printed(void **state) {
    (void)state;
    const char *program = getenv("AUTOTUNE");
    const at_schedulable *s = tiled();
    at_text text = {0};
    at_error err;
    char folder[] = "/tmp/autotune-sketch-XXXXXX";
    if (!program) skip();
    assert_non_null(mkdtemp(folder));
    at_schedulable_print(&text, s);
    const char *file = at_format(arena, "%s/matmul_add.c", folder);
    if (at_write_file(file, text.data, text.len, &err) != AT_OK) fail_msg("%s", err.text);
    const char *command =
        at_format(arena, "%s run %s --index 37 >%s/out && grep -q 'equal to the reference' %s/out",
                  program, file, folder, folder);
    int status = system(command);
    if (status) fail_msg("%s\n%s", command, at_text_str(&text));
    assert_int_equal(system(at_format(arena, "rm -r %s", folder)), 0);
    at_text_free(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(edits), cmocka_unit_test(rules),
                                       cmocka_unit_test(of_templates), cmocka_unit_test(printed)};
    return cmocka_run_group_tests_name("sketch/schedulable", tests, make_arena, free_arena);
}
