/* schedule/edit/edit_factor.c: E7, a sum in two steps. */
#include "schedule/edit/edit_compute.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

/* The reduction whose digits have the piece; -1: none. */
static int reduction_of(const at_tensor *t, const tree_node *leaf, const char *piece) {
    for (int k = t->num_axes; k < axes_of(t); k++)
        if (names_have(&leaf->index[k], piece)) return k;
    return -1;
}

/* The reduction `axis` as the digits of its loops: axes of their own, and the axis a
 * definition. Parts that do not divide go beyond the axis, where there is nothing to join. */
static at_status open_digits(rewrite *w, const tree_node *leaf, int axis, at_tensor *rf,
                             name_list *names) {
    const name_list *digits = &leaf->index[axis];
    at_expr *value = NULL;
    for (int i = 0; i < digits->len; i++) {
        if (at_symbol_find(w->old->symbols, digits->data[i]) < 0)
            return at_fail(w->err, AT_E_INPUT, "loop \"%s\" has no size of its name",
                           digits->data[i]);
        const char *name = rewrite_fresh(w, at_format(w->arena, "%s_r", digits->data[i]));
        at_expr *digit = at_expr_name(w->arena, name),
                *extent = at_expr_name(w->arena, digits->data[i]);
        if (value)
            digit = at_expr_pair(w->arena, AT_X_ADD,
                                 at_expr_pair(w->arena, AT_X_MUL, value, extent), digit);
        value = digit;
        *at_push(w->arena, names) = name;
    }
    at_def *defs = AT_NEW_ARRAY(w->arena, at_def, rf->num_defs + 1);
    memcpy(defs + 1, rf->defs, sizeof *defs * (size_t)rf->num_defs);
    defs[0] = (at_def){.num_names = 1, .names = AT_NEW(w->arena, const char *), .expr = value};
    defs[0].names[0] = rf->axes[axis].name;
    rf->defs = defs;
    rf->num_defs++;
    at_expr *inside = at_expr_pair(w->arena, AT_X_LT, at_expr_name(w->arena, rf->axes[axis].name),
                                   rewrite_copy_expr(w->arena, rf->axes[axis].extent));
    rf->written =
        at_expr_new(w->arena, AT_X_SELECT, 3,
                    (at_expr *[]){inside, rf->written, neutral_expr(w->arena, rf->reduction)});
    return AT_OK;
}

/* The stage with one more axis, its own name and loops: axes, the piece at `place` of them, then
 * what is left to sum. */
static at_status make_factored(rewrite *w, tree_node *leaf, const at_tensor *x, const char *piece,
                               int axis, int place, at_tensor *rf) {
    const name_list digits = leaf->index[axis];
    bool whole = digits.len == 1;
    name_list names = {0};
    if (!whole) AT_TRY(open_digits(w, leaf, axis, rf, &names));
    else *at_push(w->arena, &names) = x->axes[axis].name;
    at_axis *axes = AT_NEW_ARRAY(w->arena, at_axis, axes_of(x) + digits.len);
    name_list *index = AT_NEW_ARRAY(w->arena, name_list, axes_of(x) + digits.len);
    int n = 0;
    for (int k = 0; k < x->num_axes; k++) {
        n = k + (k >= place);
        axes[n] = rf->axes[k], index[n] = leaf->index[k];
    }
    n = x->num_axes;
    for (int pass = 0; pass < 2; pass++) /* the piece first */
        for (int k = x->num_axes; k < axes_of(x); k++) {
            for (int d = 0; k == axis && d < digits.len; d++) {
                if (!strcmp(digits.data[d], piece) != (pass == 0)) continue;
                const int to = pass ? n : place;
                axes[to] = (at_axis){.name = names.data[d],
                                     .extent = whole ? rf->axes[axis].extent
                                                     : at_expr_name(w->arena, digits.data[d])};
                index[to] = (name_list){0};
                *at_push(w->arena, &index[to]) = digits.data[d];
                n++;
            }
            if (k != axis && pass == 1) axes[n] = rf->axes[k], index[n] = leaf->index[k], n++;
        }
    rf->axes = axes;
    rf->num_axes = x->num_axes + 1;
    rf->num_reduce = n - rf->num_axes;
    leaf->index = index;
    leaf->num_index = n;
    return AT_OK;
}

/* What had its name: the sum (or what else it is) over the axis `place` of rf. */
static at_tensor sum_of(rewrite *w, const at_tensor *rf, int place, const char *name) {
    int n = rf->num_axes;
    at_tensor t = {.name = name,
                   .role = AT_ROLE_STAGE,
                   .num_axes = n - 1,
                   .num_reduce = 1,
                   .reduction = rf->reduction,
                   .type = rf->type};
    at_expr **index = AT_NEW_ARRAY(w->arena, at_expr *, n);
    t.axes = AT_NEW_ARRAY(w->arena, at_axis, n);
    for (int k = 0; k < n; k++) {
        const int to = k == place ? n - 1 : k - (k > place);
        t.axes[to].name = rf->axes[k].name;
        t.axes[to].extent = rewrite_copy_expr(w->arena, rf->axes[k].extent);
        index[k] = at_expr_name(w->arena, rf->axes[k].name);
    }
    t.written = at_expr_read(w->arena, rf->name, n, index);
    return t;
}

static at_status check(const rewrite *w, const at_tensor *x, tree_node *leaf, const char *piece,
                       int axis) {
    if (axis < 0)
        return at_fail(w->err, AT_E_INPUT, "\"%s\" is no reduction of @%s", piece, x->name);
    const tree_node *loop = tree_loop(leaf, piece);
    if (loop->dynamic || loop->extents.len)
        return at_fail(w->err, AT_E_INPUT, "\"%s\" has an extent of its own: it cannot be an axis",
                       piece);
    if (loop->pieces.len > 1)
        return at_fail(w->err, AT_E_INPUT, "\"%s\" is fused with other loops", piece);
    if (leaf->index[axis].len == 1 && x->num_reduce == 1)
        return at_fail(w->err, AT_E_INPUT, "\"%s\" is all that @%s sums over: split it first",
                       piece, x->name);
    if (tree_init(w->made, x->name))
        return at_fail(w->err, AT_E_INPUT, "@%s.init is a leaf of its own", x->name);
    return AT_OK;
}

at_status at_edit_factor(at_arena *a, const at_tree *t, const char *stage, const char *piece,
                         const char *name, const char *before, const at_compute **compute,
                         at_tree **out, at_error *err) {
    rewrite w;
    AT_TRY(rewrite_start(&w, a, t, name, err));
    at_tensor *x = rewrite_find(&w, stage);
    tree_node *leaf = x ? tree_leaf(w.made, stage) : NULL;
    if (!leaf) return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
    const at_tensor *old = &w.old->tensors[at_compute_find(w.old, stage)];
    int axis = reduction_of(old, leaf, piece);
    int place = before ? 0 : old->num_axes;
    AT_TRY(check(&w, old, leaf, piece, axis));
    while (before && place < old->num_axes && strcmp(old->axes[place].name, before) != 0) place++;
    if (before && place == old->num_axes)
        return at_fail(err, AT_E_INPUT, "\"%s\" is no axis of @%s", before, stage);
    tree_node *inner = rewrite_nest_behind(&w, leaf, piece);
    at_tensor rf = at_tensor_copy(a, old);
    rf.name = name;
    AT_TRY(make_factored(&w, leaf, old, piece, axis, place, &rf));
    *x = sum_of(&w, &rf, place, stage);
    rewrite_insert(&w, stage, rf);
    tree_node *sum = rewrite_add_leaf(&w, inner, stage, rf.num_axes);
    for (int k = 0; k < rf.num_axes; k++)
        sum->index[k == place ? rf.num_axes - 1 : k - (k > place)] = leaf->index[k];
    leaf->stage = name;
    return rewrite_finish(&w, compute, out);
}
