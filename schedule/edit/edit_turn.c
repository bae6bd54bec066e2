/* schedule/edit/edit_turn.c: what follows each other along an axis comes to lie side by side. E14,
 * a copy of a tensor whose last dimension is the one that an axis of the reader moves along,
 * forwards; E15, a stage whose last axis is another one, and what copies it. */
#include "schedule/access.h"
#include "schedule/edit/edit_compute.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

typedef struct turn {
    rewrite *w;
    rewrite_values values; /* names of the reader's axes */
    const char *name;
    const at_tensor *from;
    int tensor, axis;
    int dimension, step; /* of the reads that move along the axis; -1: there are none so far */
} turn;

static bool is_turned(const turn *x, const at_expr *e) {
    return e->op == AT_X_INDEX && e->ref == x->tensor && at_expr_uses(e, x->axis);
}

/* Ends where one of them moves in several dimensions, or unlike another. */
static at_walk find_way(const at_expr *e, void *ctx) {
    turn *x = ctx;
    int dimension = -1, step = 0;
    if (!is_turned(x, e)) return AT_WALK_ON;
    for (int d = 0; d < e->nargs; d++) {
        int own = at_index_step(e->arg[d], x->axis);
        if (own == AT_STEP_OTHER || (own && dimension >= 0)) return AT_WALK_END;
        if (own) dimension = d, step = own;
    }
    bool is_alike = x->dimension < 0 || (x->dimension == dimension && x->step == step);
    x->dimension = dimension;
    x->step = step;
    return dimension >= 0 && is_alike ? AT_WALK_PAST : AT_WALK_END;
}

/* From the end of the dimension instead of its beginning. */
static at_expr *from_end(const turn *x, at_expr *index) {
    at_arena *a = x->w->arena;
    at_expr *last = at_expr_pair(
        a, AT_X_SUB, rewrite_copy_expr(a, x->from->axes[x->dimension].extent), at_expr_int(a, 1));
    return at_expr_pair(a, AT_X_SUB, last, index);
}

/* Reads the turned copy. */
static at_expr *with_read(const at_expr *e, at_expr *copy, void *ctx) {
    turn *x = ctx;
    if (!is_turned(x, e)) return rewrite_at_values(e, copy, &x->values);
    at_expr **index = AT_NEW_ARRAY(x->w->arena, at_expr *, e->nargs);
    for (int d = 0, n = 0; d < e->nargs; d++)
        if (d != x->dimension) index[n++] = copy->arg[d];
    at_expr *last = copy->arg[x->dimension];
    index[e->nargs - 1] = x->step < 0 ? from_end(x, last) : last;
    return at_expr_read(x->w->arena, x->name, e->nargs, index);
}

/* The copy as a stage of its own, over axes of fresh names. */
static at_tensor made_of(rewrite *w, const turn *x, const char *name) {
    const int n = x->from->num_axes;
    at_tensor made = {.name = name, .role = AT_ROLE_STAGE, .type = x->from->type, .num_axes = n};
    at_expr **index = AT_NEW_ARRAY(w->arena, at_expr *, n);
    made.axes = AT_NEW_ARRAY(w->arena, at_axis, n);
    for (int k = 0; k < n; k++) {
        int d = k == n - 1 ? x->dimension : k + (k >= x->dimension);
        made.axes[k] = (at_axis){.name = rewrite_fresh(w, at_format(w->arena, "%s_i%d", name, k)),
                                 .extent = rewrite_copy_expr(w->arena, x->from->axes[d].extent)};
        index[d] = at_expr_name(w->arena, made.axes[k].name);
    }
    if (x->step < 0) index[x->dimension] = from_end(x, index[x->dimension]);
    made.written = at_expr_read(w->arena, x->from->name, n, index);
    return made;
}

/* Whether a stage above the reader is such a copy already, forwards. */
static bool is_made(const turn *x, const at_compute *c, int stage, int reader) {
    const at_tensor *t = &c->tensors[stage];
    const at_expr *e = t->body;
    if (stage >= reader || t->role != AT_ROLE_STAGE || t->num_reduce || e->op != AT_X_INDEX ||
        e->ref != x->tensor || t->num_axes != e->nargs || x->step < 0)
        return false;
    for (int d = 0; d < e->nargs; d++) {
        int axis = d == x->dimension ? e->nargs - 1 : d - (d > x->dimension);
        if (!at_expr_is_name(e->arg[d], axis) ||
            !at_expr_equal(t->axes[axis].extent, x->from->axes[d].extent))
            return false;
    }
    return true;
}

at_status at_edit_turn(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                       const char *axis, const char *name, const at_compute **compute,
                       at_tree **out, at_error *err) {
    rewrite w;
    at_expr *value[MAX_AXES];
    const at_compute *c = t->compute;
    const int s = at_compute_find(c, stage), of = at_compute_find(c, tensor),
              there = at_compute_find(c, name);
    AT_TRY(rewrite_start(&w, a, t, there < 0 ? name : NULL, err));
    const at_tensor *from = s < 0 ? NULL : &c->tensors[s];
    if (!from || !tree_leaf(w.made, stage))
        return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
    if (of < 0) return at_fail(err, AT_E_INPUT, "there is no tensor \"%s\"", tensor);
    turn x = {.w = &w,
              .values = {a, value},
              .name = name,
              .from = &c->tensors[of],
              .tensor = of,
              .axis = -1,
              .dimension = -1};
    for (int k = 0; k < axes_of(from); k++) {
        value[k] = at_expr_name(a, from->axes[k].name);
        if (!strcmp(from->axes[k].name, axis)) x.axis = k;
    }
    if (x.axis < 0) return at_fail(err, AT_E_INPUT, "@%s has no axis \"%s\"", stage, axis);
    if (at_tensor_has_entries(x.from) || at_expr_walk(from->body, find_way, &x) || x.dimension < 0)
        return at_fail(err, AT_E_INPUT,
                       "@%s has no reads of \"%s\" that go along one dimension by steps of \"%s\"",
                       stage, tensor, axis);
    if (x.dimension == x.from->num_axes - 1 && x.step > 0)
        return at_fail(err, AT_E_INPUT, "@%s reads \"%s\" along \"%s\" as it lies", stage, tensor,
                       axis);
    if (there >= 0 && !is_made(&x, c, there, s))
        return at_fail(err, AT_E_INPUT, "there is a tensor \"%s\" already", name);
    at_expr *written = at_expr_map(a, from->body, with_read, &x);
    if (there < 0) {
        rewrite_add_stage(&w, stage, made_of(&w, &x, name), written);
        return rewrite_finish(&w, compute, out);
    }
    at_tensor *reader = rewrite_find(&w, stage);
    reader->written = written;
    reader->num_defs = 0;
    return rewrite_finish(&w, compute, out);
}

/* ---- E15 ------------------------------------------------------------------------------------- */

/* Which of n axes is the k-th one where `last` comes behind the others. */
static int axis_at(int k, int last, int n) { return k < last ? k : k < n - 1 ? k + 1 : last; }

/* What had the sum's name: the same elements in their own order. */
static at_tensor copy_across(rewrite *w, const at_tensor *sum, const char *name, int axis) {
    const int n = sum->num_axes;
    at_tensor t = {.name = sum->name, .role = AT_ROLE_STAGE, .type = sum->type, .num_axes = n};
    at_expr **index = AT_NEW_ARRAY(w->arena, at_expr *, n);
    t.axes = AT_NEW_ARRAY(w->arena, at_axis, n);
    for (int k = 0; k < n; k++) {
        t.axes[k] = (at_axis){.name = sum->axes[k].name,
                              .extent = rewrite_copy_expr(w->arena, sum->axes[k].extent)};
        index[k] = at_expr_name(w->arena, sum->axes[axis_at(k, axis, n)].name);
    }
    t.written = at_expr_read(w->arena, name, n, index);
    return t;
}

typedef struct own_read {
    at_arena *arena;
    const char *stage, *name;
    int axis;
} own_read;

/* What reads itself reads its new name, at indices in their new order. */
static void read_across(at_expr *e, void *ctx) {
    const own_read *x = ctx;
    if (e->op != AT_X_INDEX || strcmp(e->name, x->stage)) return;
    at_expr **index = AT_NEW_ARRAY(x->arena, at_expr *, e->nargs);
    for (int k = 0; k < e->nargs; k++) index[k] = e->arg[axis_at(k, x->axis, e->nargs)];
    e->name = x->name;
    e->arg = index;
}

static void put_last(at_arena *a, tree_node *leaf, int axis, int n) {
    name_list *index = AT_NEW_ARRAY(a, name_list, leaf->num_index);
    for (int k = 0; k < leaf->num_index; k++)
        index[k] = leaf->index[k < n ? axis_at(k, axis, n) : k];
    leaf->index = index;
}

at_status at_edit_across(at_arena *a, const at_tree *t, const char *stage, const char *axis,
                         const char *name, const at_compute **compute, at_tree **out,
                         at_error *err) {
    rewrite w;
    AT_TRY(rewrite_start(&w, a, t, name, err));
    at_tensor *x = rewrite_find(&w, stage);
    tree_node *leaf = tree_leaf(w.made, stage), *init = tree_init(w.made, stage);
    if (!x || !leaf) return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
    int k = 0;
    while (k < x->num_axes && strcmp(x->axes[k].name, axis)) k++;
    if (k >= x->num_axes - 1)
        return at_fail(err, AT_E_INPUT, "@%s has no axis \"%s\" before its last one", stage, axis);
    at_tensor sum = *x, copy = copy_across(&w, x, name, k);
    sum.axes = AT_NEW_ARRAY(a, at_axis, axes_of(x));
    for (int i = 0; i < axes_of(x); i++)
        sum.axes[i] = x->axes[i < sum.num_axes ? axis_at(i, k, sum.num_axes) : i];
    put_last(a, leaf, k, sum.num_axes);
    if (init) put_last(a, init, k, sum.num_axes);
    own_read own = {a, stage, name, k};
    at_expr_each(sum.written, read_across, &own);
    for (int d = 0; d < sum.num_defs; d++) at_expr_each(sum.defs[d].expr, read_across, &own);
    sum.name = leaf->stage = name;
    if (init) init->stage = name;
    *x = copy;
    rewrite_insert(&w, stage, sum);
    tree_insert(w.made, rewrite_outermost(leaf), false, rewrite_plain_nest(&w, &copy));
    return rewrite_finish(&w, compute, out);
}
