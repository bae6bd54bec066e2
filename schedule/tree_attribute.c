/* schedule/tree_attribute.c: what stands in brackets behind a stage of a tree: what its reads ask
 * for ahead, what they read by a list, and how its storage is laid out. Made, copied, printed, and
 * given numbers. */
#include "schedule/tree_int.h"

#include <string.h>

#define MOST_PAD ((int64_t)1 << 40)

at_status at_tree_add_prefetch(at_tree_maker *m, at_tree_node *n, const char *tensor,
                               at_expr *bytes) {
    int t = at_compute_find(m->c, tensor), count = n->fixed.num_prefetch;
    if (t < 0) return tree_fail(m, "there is no tensor \"%s\"", tensor);
    for (int i = 0; i < count; i++)
        if (n->fixed.prefetch[i].tensor == t)
            return tree_fail(m, "\"%s\" is prefetched already", tensor);
    if (count == AT_MAX_PREFETCH) return tree_fail(m, "more than %d prefetches", AT_MAX_PREFETCH);
    n->fixed.prefetch[count].tensor = t;
    n->attributes.prefetched[count] = m->c->tensors[t].name;
    n->attributes.prefetch[count] = bytes;
    n->attributes.num_prefetch++;
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

at_status at_tree_set_rows(at_tree_maker *m, at_tree_node *n, at_rows rows, at_expr *pad) {
    AT_TRY(check_layout(m, n, n->fixed.rows != AT_ROWS_APART,
                        rows == AT_ROWS_DENSE ? "dense" : "pad"));
    n->fixed.rows = n->attributes.rows = rows;
    n->attributes.pad = pad;
    return AT_OK;
}

at_status at_tree_set_axes(at_tree_maker *m, at_tree_node *n, const char *const *axes, int num) {
    const at_tensor *t = &m->c->tensors[n->fixed.tensor];
    int *order = AT_NEW_ARRAY(m->arena, int, t->num_axes);
    const char **names = AT_NEW_ARRAY(m->arena, const char *, t->num_axes);
    uint32_t seen = 0;
    AT_TRY(check_layout(m, n, n->fixed.order != NULL, "order"));
    for (int i = 0; i < num; i++) {
        int k = 0;
        while (k < t->num_axes && strcmp(t->axes[k].name, axes[i])) k++;
        if (k == t->num_axes || seen >> k & 1)
            return tree_fail(m, "\"%s\" is not another axis of @%s", axes[i], t->name);
        seen |= 1u << k;
        order[i] = k;
        names[i] = t->axes[k].name;
    }
    if (num != t->num_axes)
        return tree_fail(m, "order has %d of the %d axes of @%s", num, t->num_axes, t->name);
    n->fixed.order = order;
    n->attributes.order = names;
    n->attributes.num_order = num;
    return AT_OK;
}

at_status at_tree_set_pointers(at_tree_maker *m, at_tree_node *n, const char *tensor) {
    int t = at_compute_find(m->c, tensor);
    if (t < 0) return tree_fail(m, "there is no tensor \"%s\"", tensor);
    if (m->c->tensors[t].role != AT_ROLE_INPUT)
        return tree_fail(m, "pointers: \"%s\" is no input", tensor);
    if (n->fixed.has_pointers) return tree_fail(m, "pointers stand here twice");
    if (n->fixed.is_init) return tree_fail(m, "pointers: an init reads nothing");
    n->fixed.has_pointers = true;
    n->fixed.pointers = t;
    n->attributes.pointers = m->c->tensors[t].name;
    return AT_OK;
}

at_status at_tree_set_running(at_tree_maker *m, at_tree_node *n) {
    const at_tensor *t = &m->c->tensors[n->fixed.tensor];
    if (n->fixed.is_init) return tree_fail(m, "running stands at @%s, not at its init", t->name);
    if (at_running_axis(t) < 0)
        return tree_fail(
            m,
            "running: @%s is no sum from 0 to x + 1 or x, of an axis x that its terms do "
            "not use",
            t->name);
    if (n->fixed.is_running) return tree_fail(m, "running stands here twice");
    n->fixed.is_running = n->attributes.is_running = true;
    return AT_OK;
}

at_status at_tree_set_scatter(at_tree_maker *m, at_tree_node *n) {
    const at_tensor *t = &m->c->tensors[n->fixed.tensor];
    if (n->fixed.is_init) return tree_fail(m, "scatter stands at @%s, not at its init", t->name);
    if (!at_scatter_of(t).axes)
        return tree_fail(m,
                         "scatter: no term of @%s has its place along an axis, as in "
                         "%s[i[n]:B] += (n:N) v[n]",
                         t->name, t->name);
    if (n->fixed.is_scatter) return tree_fail(m, "scatter stands here twice");
    n->fixed.is_scatter = n->attributes.is_scatter = true;
    return AT_OK;
}

/* Names of sizes are looked up anew. */
static at_expr *copy_number(at_tree_maker *m, const at_expr *e) {
    if (!e) return NULL;
    at_expr *copy = at_copy(m->arena, e, sizeof *copy);
    if (copy->op == AT_X_NAME) copy->ref = at_symbol_find(m->c->symbols, copy->name);
    return copy;
}

at_status tree_add_attributes(at_tree_maker *m, tree_node *leaf, const leaf_attributes *given) {
    for (int i = 0; i < given->num_prefetch; i++)
        AT_TRY(at_tree_add_prefetch(m, leaf, given->prefetched[i],
                                    copy_number(m, given->prefetch[i])));
    if (given->pointers) AT_TRY(at_tree_set_pointers(m, leaf, given->pointers));
    if (given->is_running) AT_TRY(at_tree_set_running(m, leaf));
    if (given->is_scatter) AT_TRY(at_tree_set_scatter(m, leaf));
    if (given->rows != AT_ROWS_APART)
        AT_TRY(at_tree_set_rows(m, leaf, given->rows, copy_number(m, given->pad)));
    if (!given->order) return AT_OK;
    return at_tree_set_axes(m, leaf, given->order, given->num_order);
}

at_status build_attributes(const tree_node *from, const int64_t *values, at_node *n,
                           at_error *err) {
    for (int i = 0; i < n->num_prefetch; i++)
        AT_TRY(at_expr_eval(from->attributes.prefetch[i], values, &n->prefetch[i].bytes, err));
    if (!from->attributes.pad) return AT_OK;
    AT_TRY(at_expr_eval(from->attributes.pad, values, &n->pad, err));
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
        at_expr_print(out, leaf->attributes.prefetch[i]);
        at_text_add(out, "]");
    }
    print_reading(out, c, n);
    if (n->rows == AT_ROWS_DENSE) at_text_add(out, "[dense]");
    if (n->rows == AT_ROWS_PADDED) {
        at_text_add(out, "[pad ");
        at_expr_print(out, leaf->attributes.pad);
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
