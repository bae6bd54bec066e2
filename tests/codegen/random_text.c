/* tests/codegen/random_text.c: a random program as text, and built from it. */
#include "tests/codegen/random_program.h"

#include <math.h>
#include <string.h>

/* ---- text ---------------------------------------------------------------------------------- */

void random_program_sizes(const random_program *p, at_text *out) {
    for (int i = 0; i < p->num_sizes; i++) {
        at_text_addf(out, "%s%s=", i ? ", " : "", p->size[i].name);
        if (*p->size[i].expr) at_text_add(out, p->size[i].expr);
        else at_text_addf(out, "%lld", (long long)p->size[i].value);
    }
}

static void print_loop(const rp_node *n, at_text *out) {
    static const char *const words[] = {"", ":para", ":vec", ":unroll"};
    for (int k = 0; k < n->num_pieces; k++)
        at_text_addf(out, "%s%s", k ? ", " : n->num_pieces > 1 ? "{" : "", n->piece[k]);
    at_text_addf(out, "%s", n->num_pieces > 1 ? "}" : "");
    if (*n->dyn) at_text_addf(out, ":dyn(%s)%s", n->dyn, n->ann == AT_ANN_VEC ? " vec" : "");
    else if (n->fixed && n->ann == AT_ANN_NONE) at_text_addf(out, ":%d", n->fixed);
    else at_text_add(out, words[n->ann]);
}

static void print_list(const random_program *p, int i, int depth, at_text *out) {
    for (; i >= 0; i = p->node[i].next) {
        const rp_node *n = &p->node[i];
        for (int k = 0; k < depth; k++) at_text_add(out, "    ");
        while (!n->is_leaf) {
            print_loop(n, out);
            const rp_node *c = &p->node[n->child];
            bool only = c->next < 0 && !c->own_line;
            at_text_add(out, only && !c->is_leaf ? ", " : only ? " => " : " =>\n");
            if (!only) {
                print_list(p, n->child, depth + 1, out);
                break;
            }
            n = c;
        }
        if (n->is_leaf) at_text_addf(out, "%s\n", n->leaf);
    }
}

void random_program_tree(const random_program *p, at_text *out) {
    if (p->tree) at_text_add(out, p->tree);
    else print_list(p, p->node[0].child, 0, out);
}

/* ---- numbers ------------------------------------------------------------------------------- */

static void resolve(const built *b, at_expr *e) {
    if (e->op == AT_X_NAME) e->ref = at_symbol_find(&b->symbols, e->name);
    for (int i = 0; i < e->nargs; i++) resolve(b, e->arg[i]);
}

static at_status evaluate(built *b, const char *expr, int64_t *out) {
    at_expr *e;
    AT_TRY(at_expr_parse_text(b->arena, expr, "sizes", &e, &b->err));
    resolve(b, e);
    return at_expr_eval(e, b->values, out, &b->err);
}

static at_status set_sizes(built *b, const random_program *p) {
    for (int i = 0; i < p->num_sizes; i++) {
        const rp_size *s = &p->size[i];
        int slot = at_symbol_add(b->arena, &b->symbols, s->name);
        b->values[slot] = s->value;
        if (*s->expr) AT_TRY(evaluate(b, s->expr, &b->values[slot]));
    }
    return AT_OK;
}

int64_t build_elements(const built *b, int tensor) {
    return at_tensor_elements(&b->compute->tensors[tensor], b->program->extents[tensor]);
}

static int32_t edge(at_rng *rng) {
    static const int32_t edges[] = {INT32_MIN, INT32_MIN + 1, INT32_MAX, INT32_MAX - 1, -1,
                                    0,         65536,         -46341};
    const int at = (int)at_rng_below(rng, 12);
    return at < 8 ? edges[at] : (int32_t)at_rng_u32(rng);
}

static void fill_index(at_rng *rng, const rp_index *x, int64_t limit, int32_t *out, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        out[i] = x->edges && i % 3 ? edge(rng)
                                   : (int32_t)at_rng_below(rng, (uint64_t)limit + x->pointers);
    for (int64_t i = 1; x->pointers && i < n; i++) /* ascending: insertion */
        for (int64_t k = i; k > 0 && out[k - 1] > out[k]; k--) {
            int32_t o = out[k];
            out[k] = out[k - 1];
            out[k - 1] = o;
        }
}

static void fill_input(built *b, int tensor, int nans, at_rng *rng) {
    const int64_t n = build_elements(b, tensor);
    at_data *d = &b->data[tensor];
    if (b->compute->tensors[tensor].type == AT_S32) d->i = AT_NEW_ARRAY(b->arena, int32_t, n + 1);
    else d->f = AT_NEW_ARRAY(b->arena, float, n + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = (int64_t)at_rng_below(rng, (uint64_t)(2 * b->range + 1)) - b->range;
        if (d->i) d->i[i] = (int32_t)v;
        else d->f[i] = nans && (i + tensor) % nans == 0 ? NAN : (float)v;
    }
}

static at_status fill(built *b, const random_program *p) {
    at_rng rng;
    at_rng_seed(&rng, p->seed, 13);
    b->data = AT_NEW_ARRAY(b->arena, at_data, b->compute->num_tensors);
    for (int t = 0; t < b->compute->num_tensors; t++) {
        const at_tensor *x = &b->compute->tensors[t];
        int64_t n = build_elements(b, t), limit = 1;
        if (x->role == AT_ROLE_STAGE) continue;
        if (x->role != AT_ROLE_INDEX) {
            fill_input(b, t, p->nans, &rng);
            continue;
        }
        b->data[t].i = AT_NEW_ARRAY(b->arena, int32_t, n + 1);
        if (!p->num_indices) at_index_fill(&b->entries[t], 0, n, &rng, b->data[t].i);
        for (int i = 0; i < p->num_indices; i++)
            if (!strcmp(p->index[i].tensor, x->name)) {
                AT_TRY(evaluate(b, p->index[i].limit, &limit));
                if (limit < 1) return AT_E_INPUT;
                fill_index(&rng, &p->index[i], limit, b->data[t].i, n);
            }
    }
    return AT_OK;
}

/* Iterations of all leaves; dynamic loops are short. */
static double work(const at_node *n, double times) {
    double sum = 0;
    for (; n; n = n->next)
        sum += n->is_leaf ? times : work(n->child, times * (double)(n->extent < 0 ? 4 : n->extent));
    return sum;
}

/* A program that is printed and parsed again prints the same. */
static at_status print_and_parse(built *b) {
    at_text first = {0}, second = {0};
    at_compute *c;
    at_tree *t;
    at_compute_print(&first, b->compute);
    at_status s =
        at_compute_parse(b->arena, &b->symbols, at_text_str(&first), "printed", &c, &b->err);
    if (s == AT_OK) at_compute_print(&second, c);
    if (s == AT_OK && strcmp(at_text_str(&first), at_text_str(&second)))
        AT_BUG("a computation prints differently once parsed:\n%s\n%s", first.data, second.data);
    at_text_clear(&first);
    at_text_clear(&second);
    at_tree_print(&first, b->tree);
    if (s == AT_OK) s = at_tree_parse(b->arena, c, at_text_str(&first), "printed", &t, &b->err);
    if (s != AT_OK) AT_BUG("what was printed does not parse: %s", b->err.text);
    at_tree_print(&second, t);
    if (strcmp(at_text_str(&first), at_text_str(&second)))
        AT_BUG("a tree prints differently once parsed:\n%s\n%s", first.data, second.data);
    b->compute = c;
    b->tree = t;
    at_text_free(&first);
    at_text_free(&second);
    return AT_OK;
}

/* Operands here are floats and integers of 32 bits. */
static at_status check_types(built *b) {
    for (int t = 0; t < b->compute->num_tensors; t++) {
        const at_tensor *x = &b->compute->tensors[t];
        if (at_type_bytes(x->type) != 4 && (x->role != AT_ROLE_STAGE || x->is_output))
            return at_fail(&b->err, AT_E_INPUT, "%s has elements of %s: here they have 32 bits",
                           x->name, at_type_of(x->type)->name);
    }
    return AT_OK;
}

static at_status open(built *b, const random_program *p) {
    at_text tree = {0};
    AT_TRY(set_sizes(b, p));
    AT_TRY(at_compute_parse(b->arena, &b->symbols, p->compute, "compute", &b->compute, &b->err));
    AT_TRY(check_types(b));
    random_program_tree(p, &tree);
    at_status s =
        at_tree_parse(b->arena, b->compute, at_text_str(&tree), "tree", &b->tree, &b->err);
    at_text_free(&tree);
    AT_TRY(s);
    AT_TRY(print_and_parse(b));
    AT_TRY(at_program_build(b->arena, b->tree, b->values, &b->program, &b->err));
    return at_program_verify(b->arena, b->program, &b->err);
}

/* Stages that edits add must not change what index tensors may hold. */
static at_status find_ranges(built *b, const random_program *p) {
    const int num = b->compute->num_tensors;
    b->entries = AT_NEW_ARRAY(b->arena, at_index_range, num);
    if (p->num_indices) return AT_OK;
    const built *of = p->entries_of;
    if (!of)
        return at_compute_index_ranges(b->arena, b->compute, b->values, b->entries, NULL, &b->err);
    for (int t = 0; t < num; t++)
        if (b->compute->tensors[t].role == AT_ROLE_INDEX)
            b->entries[t] = of->entries[at_compute_find(of->compute, b->compute->tensors[t].name)];
    return AT_OK;
}

use build_open(built *b, const random_program *p) {
    enum { LONGEST = 70, WORK = 60000 };
    memset(b, 0, sizeof *b);
    b->arena = at_arena_new();
    if (p->full) return USE_TOO_LARGE;
    if (open(b, p) != AT_OK) return USE_REFUSED;
    if (work(b->program->root, 1) > WORK) return USE_TOO_LARGE;
    const int num = b->compute->num_tensors;
    double *given = AT_NEW_ARRAY(b->arena, double, num);
    if (find_ranges(b, p) != AT_OK) return USE_REFUSED;
    for (int t = 0; t < num; t++)
        given[t] = b->compute->tensors[t].role == AT_ROLE_INDEX && !p->num_indices
                       ? (double)b->entries[t].hi
                       : -1;
    /* Fractions are halves and quarters: a few more bits. */
    double most = strchr(p->compute, '.') ? 1 << 16 : 1 << 24;
    double ratio; /* functions at the end have no grain, and are the same in every way to run it */
    for (b->range = p->range ? p->range : 5; b->range > 0; b->range--)
        if (at_compute_bound(b->compute, b->values, b->range, given, LONGEST, &ratio) <= most)
            break;
    if (!b->range || (p->range && b->range < p->range)) return USE_TOO_LARGE;
    return fill(b, p) == AT_OK ? USE_OK : USE_REFUSED;
}

void build_close(built *b) { at_arena_free(b->arena); }
