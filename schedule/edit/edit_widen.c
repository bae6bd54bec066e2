/* schedule/edit/edit_widen.c: E12, a reduction over a range that other axes give goes over all that
 * the range may reach, and a condition leaves out what lies outside of it. */
#include "schedule/edit/edit_compute.h"

#include <math.h>
#include <string.h>

#include "schedule/edit/rewrite.h"

/* An expression over sizes (NULL: none), and a constant. */
typedef struct bound {
    at_expr *e;
    int64_t c;
    bool is_known;
} bound;

typedef struct widening {
    at_arena *arena;
    const at_tensor *stage;
} widening;

static const int64_t most_constant = (int64_t)1 << 31;

static bound known(at_expr *e, int64_t c) {
    return (bound){e, c, -most_constant < c && c < most_constant};
}

static at_expr *expr_of(const widening *w, bound x) {
    if (!x.e) return at_expr_int(w->arena, x.c);
    if (!x.c) return x.e;
    return at_expr_pair(w->arena, x.c < 0 ? AT_X_SUB : AT_X_ADD, x.e,
                        at_expr_int(w->arena, x.c < 0 ? -x.c : x.c));
}

static bound end_of(const widening *w, const at_expr *e, bool upper);

static bound sum_of(const widening *w, const at_expr *e, bool upper) {
    bool minus = e->op == AT_X_SUB;
    bound x = end_of(w, e->arg[0], upper), y = end_of(w, e->arg[1], upper != minus);
    if (!x.is_known || !y.is_known) return (bound){0};
    at_expr *both = x.e && y.e ? at_expr_pair(w->arena, e->op, x.e, y.e) : x.e ? x.e : y.e;
    if (minus && y.e && !x.e)
        return known(at_expr_pair(w->arena, AT_X_SUB, expr_of(w, known(NULL, x.c - y.c)), y.e), 0);
    return known(both, minus ? x.c - y.c : x.c + y.c);
}

static bound product_of(const widening *w, const at_expr *e, bool upper) {
    const at_expr *number = e->arg[0]->op == AT_X_INT ? e->arg[0] : e->arg[1];
    const at_expr *other = number == e->arg[0] ? e->arg[1] : e->arg[0];
    if (number->op != AT_X_INT || number->integer < 0 || number->integer > most_constant)
        return (bound){0};
    bound x = end_of(w, other, upper);
    if (!x.is_known) return x;
    at_expr *n = at_expr_int(w->arena, number->integer);
    return known(x.e ? at_expr_pair(w->arena, AT_X_MUL, n, x.e) : NULL, number->integer * x.c);
}

/* The largest value while the axes run, or the smallest: of sums, multiples, and the smaller or the
 * larger of such, which are right for all sizes. */
static bound end_of(const widening *w, const at_expr *e, bool upper) {
    bound x, y;
    switch (e->op) {
    case AT_X_INT: return known(NULL, e->integer);
    case AT_X_NAME:
        if (e->ref >= AT_REF_SIZE) return known(rewrite_copy_expr(w->arena, e), 0);
        if (!upper) return known(NULL, 0);
        if (!w->stage->axes[e->ref].extent) return (bound){0};
        return known(rewrite_copy_expr(w->arena, w->stage->axes[e->ref].extent), -1);
    case AT_X_ADD:
    case AT_X_SUB: return sum_of(w, e, upper);
    case AT_X_MUL: return product_of(w, e, upper);
    case AT_X_MIN:
    case AT_X_MAX:
        x = end_of(w, e->arg[0], upper), y = end_of(w, e->arg[1], upper);
        if (!x.is_known || !y.is_known) return (bound){0};
        if (x.e == y.e || (x.e && y.e && at_expr_equal(x.e, y.e)))
            return known(x.e, (e->op == AT_X_MIN) == (x.c < y.c) ? x.c : y.c);
        return known(at_expr_pair(w->arena, e->op, expr_of(w, x), expr_of(w, y)), 0);
    default: return (bound){0};
    }
}

static at_expr *neutral(at_arena *a, at_reduction r) {
    if (!isinf(at_reduction_neutral(r))) return at_expr_int(a, (int64_t)at_reduction_neutral(r));
    at_expr *inf = at_expr_new(a, AT_X_FLOAT, 0, NULL);
    inf->number = INFINITY;
    return at_reduction_neutral(r) > 0 ? inf : at_expr_new(a, AT_X_NEG, 1, &inf);
}

/* The name compared with an end, plus c; with each of those that it is the smaller of (GE: the
 * larger), since conditions on sums of axes are what loops are cut by. */
static at_expr *compared(const widening *w, const char *name, at_op op, const at_expr *end,
                         int64_t c) {
    at_arena *a = w->arena;
    const at_expr *x = end->nargs == 2 ? end->arg[0] : NULL, *y = x ? end->arg[1] : NULL;
    if (end->op == AT_X_ADD && y->op == AT_X_INT) return compared(w, name, op, x, c + y->integer);
    if (end->op == (op == AT_X_GE ? AT_X_MAX : AT_X_MIN))
        return at_expr_pair(a, AT_X_AND, compared(w, name, op, x, c), compared(w, name, op, y, c));
    return at_expr_pair(a, op, at_expr_name(a, name),
                        expr_of(w, end->op == AT_X_INT ? known(NULL, end->integer + c)
                                                       : known(rewrite_copy_expr(a, end), c)));
}

static bool uses_axes(const widening *w, const at_expr *e) {
    bool uses = false;
    for (int k = 0; k < axes_of(w->stage); k++) uses |= at_expr_uses(e, k);
    return uses;
}

/* begin <= axis && axis < end, which is not asked where all that may be reached ends there; NULL:
 * nothing is. */
static at_expr *within(const widening *w, const at_axis *x) {
    const bool is_from_0 = x->begin->op == AT_X_INT && !x->begin->integer;
    at_expr *from = is_from_0 ? NULL : compared(w, x->name, AT_X_GE, x->begin, 0);
    at_expr *below = uses_axes(w, x->end) ? compared(w, x->name, AT_X_LT, x->end, 0) : NULL;
    return from && below ? at_expr_pair(w->arena, AT_X_AND, from, below) : from ? from : below;
}

static at_status widen(at_arena *a, at_tensor *x, const at_tensor *from, int axis, at_error *err) {
    const widening w = {a, from};
    const at_axis *range = &from->axes[axis];
    bound first = end_of(&w, range->begin, false), last = end_of(&w, range->end, true);
    if (!first.is_known || first.e || first.c < 0 || !last.is_known)
        return at_fail(err, AT_E_INPUT, "how far \"%s\" of @%s goes is not known", range->name,
                       from->name);
    at_expr *condition = within(&w, range);
    if (condition)
        x->written = at_expr_new(a, AT_X_SELECT, 3,
                                 (at_expr *[]){condition, x->written, neutral(a, from->reduction)});
    x->axes[axis].begin = x->axes[axis].end = NULL;
    x->axes[axis].extent = expr_of(&w, last);
    return AT_OK;
}

at_status at_edit_widen(at_arena *a, const at_tree *t, const char *stage, const char *loop,
                        const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w = {.arena = a, .old = t->compute, .tree = t, .err = err};
    int s = at_compute_find(t->compute, stage), axis = -1;
    AT_TRY(tree_copy(a, t, &w.made, err));
    tree_node *leaf = s < 0 ? NULL : tree_leaf(w.made, stage);
    if (!leaf) return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
    const at_tensor *x = &t->compute->tensors[s];
    for (int k = x->num_axes; k < axes_of(x); k++)
        if (!strcmp(x->axes[k].name, loop) && x->axes[k].begin) axis = k;
    if (axis < 0) return at_fail(err, AT_E_INPUT, "@%s has no range \"%s\"", stage, loop);
    for (int i = 0; i < t->compute->num_tensors; i++) {
        at_tensor copy = at_tensor_copy(a, &t->compute->tensors[i]);
        if (i == s) AT_TRY(widen(a, &copy, x, axis, err));
        *at_push(a, &w.tensors) = copy;
    }
    tree_node *around = tree_loop(leaf, loop);
    if (around && around->dynamic) around->dynamic = false, around->dyn_axes.len = 0;
    return rewrite_finish(&w, compute, out);
}
