/* schedule/tree_attribute.c: what stands in brackets behind a stage of a tree: what its reads ask
 * for ahead, what they read by a list, and how its storage is laid out. Made, copied, printed, and
 * given numbers. */
#include "schedule/schedule_int.h"

#include <string.h>

#define MOST_PAD ((int64_t)1 << 40)

static tree_node *node(const at_tree_maker *m, int i) { return &m->tree->nodes.data[i]; }

at_status at_tree_add_prefetch(at_tree_maker *m, int leaf, const char *tensor, at_expr *bytes) {
    tree_node *n = node(m, leaf);
    int t = at_compute_find(m->c, tensor), count = n->fixed.num_prefetch;
    if (t < 0) return tree_fail(m, "there is no tensor \"%s\"", tensor);
    for (int i = 0; i < count; i++)
        if (n->fixed.prefetch[i].tensor == t)
            return tree_fail(m, "\"%s\" is prefetched already", tensor);
    if (count == AT_MAX_PREFETCH) return tree_fail(m, "more than %d prefetches", AT_MAX_PREFETCH);
    n->fixed.prefetch[count].tensor = t;
    n->prefetch[count] = bytes;
    n->fixed.num_prefetch++;
    return AT_OK;
}

/* Only what lies in the workspace, or is packed, is ours to lay out, and its leaf says how. */
static at_status check_layout(at_tree_maker *m, const tree_node *n, bool given, const char *what) {
    const at_tensor *t = &m->c->tensors[n->fixed.tensor];
    if (n->fixed.is_init) return tree_fail(m, "%s stands at @%s, not at its init", what, t->name);
    if (t->is_output)
        return tree_fail(m, "%s: @%s is an output, which lies as the task has it", what, t->name);
    return given ? tree_fail(m, "@%s has that twice", t->name) : AT_OK;
}

at_status at_tree_set_rows(at_tree_maker *m, int leaf, at_rows rows, at_expr *pad) {
    tree_node *n = node(m, leaf);
    AT_TRY(check_layout(m, n, n->fixed.rows != AT_ROWS_APART,
                        rows == AT_ROWS_DENSE ? "dense" : "pad"));
    n->fixed.rows = rows;
    n->pad = pad;
    return AT_OK;
}

at_status at_tree_set_axes(at_tree_maker *m, int leaf, const char *const *axes, int num) {
    tree_node *n = node(m, leaf);
    const at_tensor *t = &m->c->tensors[n->fixed.tensor];
    int *order = AT_NEW_ARRAY(m->arena, int, t->num_axes);
    uint32_t seen = 0;
    AT_TRY(check_layout(m, n, n->fixed.order != NULL, "order"));
    for (int i = 0; i < num; i++) {
        int k = 0;
        while (k < t->num_axes && strcmp(t->axes[k].name, axes[i])) k++;
        if (k == t->num_axes || seen >> k & 1)
            return tree_fail(m, "\"%s\" is not another axis of @%s", axes[i], t->name);
        seen |= 1u << k;
        order[i] = k;
    }
    if (num != t->num_axes)
        return tree_fail(m, "order has %d of the %d axes of @%s", num, t->num_axes, t->name);
    n->fixed.order = order;
    return AT_OK;
}

at_status at_tree_set_pointers(at_tree_maker *m, int leaf, const char *tensor) {
    tree_node *n = node(m, leaf);
    int t = at_compute_find(m->c, tensor);
    if (t < 0) return tree_fail(m, "there is no tensor \"%s\"", tensor);
    if (m->c->tensors[t].role != AT_ROLE_INPUT)
        return tree_fail(m, "pointers: \"%s\" is no input", tensor);
    if (n->fixed.has_pointers) return tree_fail(m, "pointers stand here twice");
    if (n->fixed.is_init) return tree_fail(m, "pointers: an init reads nothing");
    n->fixed.has_pointers = true;
    n->fixed.pointers = t;
    return AT_OK;
}

at_status at_tree_set_running(at_tree_maker *m, int leaf) {
    tree_node *n = node(m, leaf);
    const at_tensor *t = &m->c->tensors[n->fixed.tensor];
    if (n->fixed.is_init) return tree_fail(m, "running stands at @%s, not at its init", t->name);
    if (at_running_axis(t) < 0)
        return tree_fail(
            m,
            "running: @%s is no sum from 0 to x + 1 or x, of an axis x that its terms do "
            "not use",
            t->name);
    if (n->fixed.is_running) return tree_fail(m, "running stands here twice");
    n->fixed.is_running = true;
    return AT_OK;
}

at_status at_tree_set_scatter(at_tree_maker *m, int leaf) {
    tree_node *n = node(m, leaf);
    const at_tensor *t = &m->c->tensors[n->fixed.tensor];
    if (n->fixed.is_init) return tree_fail(m, "scatter stands at @%s, not at its init", t->name);
    if (!at_scatter_of(t).axes)
        return tree_fail(m,
                         "scatter: no term of @%s has its place along an axis, as in "
                         "%s[i[n]:B] += (n:N) v[n]",
                         t->name, t->name);
    if (n->fixed.is_scatter) return tree_fail(m, "scatter stands here twice");
    n->fixed.is_scatter = true;
    return AT_OK;
}

/* Of another tree over a computation with these names; names of sizes are looked up anew. */
static at_expr *copy_number(at_tree_maker *m, const at_expr *e) {
    if (!e) return NULL;
    at_expr *copy = at_copy(m->arena, e, sizeof *copy);
    if (copy->op == AT_X_NAME) copy->ref = at_symbol_find(m->c->symbols, copy->name);
    return copy;
}

at_status tree_copy_attributes(at_tree_maker *m, int leaf, const at_tree *from,
                               const tree_node *n) {
    const at_tensor *all = from->compute->tensors, *t = &all[n->fixed.tensor];
    const char *names[MAX_AXES];
    for (int i = 0; i < n->fixed.num_prefetch; i++)
        AT_TRY(at_tree_add_prefetch(m, leaf, all[n->fixed.prefetch[i].tensor].name,
                                    copy_number(m, n->prefetch[i])));
    if (n->fixed.has_pointers) AT_TRY(at_tree_set_pointers(m, leaf, all[n->fixed.pointers].name));
    if (n->fixed.is_running) AT_TRY(at_tree_set_running(m, leaf));
    if (n->fixed.is_scatter) AT_TRY(at_tree_set_scatter(m, leaf));
    if (n->fixed.rows != AT_ROWS_APART)
        AT_TRY(at_tree_set_rows(m, leaf, n->fixed.rows, copy_number(m, n->pad)));
    if (!n->fixed.order) return AT_OK;
    for (int i = 0; i < t->num_axes; i++) names[i] = t->axes[n->fixed.order[i]].name;
    return at_tree_set_axes(m, leaf, names, t->num_axes);
}

at_status build_attributes(const tree_node *from, const int64_t *values, at_node *n,
                           at_error *err) {
    for (int i = 0; i < n->num_prefetch; i++)
        AT_TRY(at_expr_eval(from->prefetch[i], values, &n->prefetch[i].bytes, err));
    if (!from->pad) return AT_OK;
    AT_TRY(at_expr_eval(from->pad, values, &n->pad, err));
    if (n->pad >= 0 && n->pad <= MOST_PAD) return AT_OK;
    return at_fail(err, AT_E_INPUT, "line %d: pad %lld: 0 to 2^40 elements are accepted", n->line,
                   (long long)n->pad);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void print_reading(at_text *out, const at_compute *c, const at_node *n) {
    if (n->is_running) at_text_add(out, "[running]");
    if (n->is_scatter) at_text_add(out, "[scatter]");
    if (n->has_pointers) at_text_addf(out, "[pointers %s]", c->tensors[n->pointers].name);
}

static void print_order(at_text *out, const at_tensor *t, const int *order) {
    if (!order) return;
    at_text_add(out, "[order");
    for (int i = 0; i < t->num_axes; i++) at_text_addf(out, " %s", t->axes[order[i]].name);
    at_text_add(out, "]");
}

void tree_print_attributes(at_text *out, const at_compute *c, const tree_node *leaf) {
    const at_node *n = &leaf->fixed;
    for (int i = 0; i < n->num_prefetch; i++) {
        at_text_addf(out, "[prefetch %s ", c->tensors[n->prefetch[i].tensor].name);
        at_expr_print(out, leaf->prefetch[i]);
        at_text_add(out, "]");
    }
    print_reading(out, c, n);
    if (n->rows == AT_ROWS_DENSE) at_text_add(out, "[dense]");
    if (n->rows == AT_ROWS_PADDED) {
        at_text_add(out, "[pad ");
        at_expr_print(out, leaf->pad);
        at_text_add(out, "]");
    }
    print_order(out, &c->tensors[n->tensor], n->order);
}

void at_leaf_print_attributes(at_text *out, const at_program *p, const at_node *n, bool all) {
    const at_compute *c = p->compute;
    for (int i = 0; i < n->num_prefetch; i++)
        if (all || n->prefetch[i].bytes > 0)
            at_text_addf(out, "[prefetch %s %lld]", c->tensors[n->prefetch[i].tensor].name,
                         (long long)n->prefetch[i].bytes);
    print_reading(out, c, n);
    if (n->rows == AT_ROWS_DENSE) at_text_add(out, "[dense]");
    if (n->rows == AT_ROWS_PADDED) at_text_addf(out, "[pad %lld]", (long long)n->pad);
    print_order(out, &c->tensors[n->tensor], n->order);
}
