/* schedule/edit/edit_operand.c: E13, what a stage calculates of weights alone becomes a stage that
 * it reads, which can be packed as weights are; so does one of several reads of a tensor. E21: so
 * does a place that entries and axes give together, within a bound. */
#include "schedule/edit/edit_compute.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

/* Are all its reads of what is known ahead, and each at a place that axes give? Counts them. */
typedef struct weight_reads {
    const at_compute *c;
    int num;
} weight_reads;

static at_walk take_weight(const at_expr *e, void *ctx) {
    weight_reads *x = ctx;
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    const at_tensor *t = &x->c->tensors[e->ref];
    if (t->role != AT_ROLE_WEIGHT && t->role != AT_ROLE_INDEX && !t->is_packing && !t->is_table)
        return AT_WALK_END;
    x->num += !t->is_table;
    for (int i = 0; i < e->nargs; i++)
        if (at_expr_reads(e->arg[i])) return AT_WALK_END;
    return AT_WALK_PAST;
}

/* No integer: a part of one that became a float would be divided as floats are. */
static bool is_float(const at_expr *e, const void *compute) {
    if (e->op == AT_X_INDEX)
        return !at_tensor_has_entries(&((const at_compute *)compute)->tensors[e->ref]);
    return e->op == AT_X_FLOAT || e->op == AT_X_CALL;
}

/* An element at a place that loops lead to evenly: packing puts it where it is needed by itself. */
static bool is_plain_read(const at_compute *c, const at_expr *e) {
    if (e->op != AT_X_INDEX || at_tensor_has_entries(&c->tensors[e->ref])) return false;
    for (int i = 0; i < e->nargs; i++)
        if (at_index_multiplies(e->arg[i])) return false;
    return true;
}

const at_expr *at_edit_operand_of(const at_compute *c, const at_expr *e, int tensor) {
    weight_reads weights = {c, 0};
    if (!at_expr_walk(e, take_weight, &weights) && weights.num)
        return !is_plain_read(c, e) && at_expr_count_reads(e, tensor) ? e : NULL;
    bool is_choice = e->op == AT_X_SELECT;
    if (!is_choice && !at_expr_find_value(e, is_float, c)) return NULL;
    for (int i = is_choice; i < e->nargs && e->op != AT_X_INDEX; i++) {
        const at_expr *found = at_edit_operand_of(c, e->arg[i], tensor);
        if (found) return found;
    }
    return NULL;
}

/* Another name of the tensor, whose axes are some of the stage's. */
static bool is_renaming(const at_compute *c, const at_tensor *stage, const at_expr *e) {
    const at_tensor *x = &c->tensors[e->ref];
    bool is = !at_tensor_has_entries(x);
    for (int i = 0; i < e->nargs && is; i++) {
        int axis = e->arg[i]->op == AT_X_NAME ? e->arg[i]->ref : AT_REF_SIZE;
        const at_expr *extent = axis < AT_REF_SIZE ? stage->axes[axis].extent : NULL;
        is = extent && at_expr_equal(extent, x->axes[i].extent);
        for (int j = 0; j < i; j++) is &= e->arg[j]->ref != axis;
    }
    return is;
}

/* A read of the tensor that moves along the stage's axis, or that lies along it. */
typedef struct along {
    const at_compute *c;
    const at_tensor *stage;
    int tensor, axis;
    bool lies;
} along;

static bool is_along(const at_expr *e, const void *ctx) {
    const along *x = ctx;
    return at_expr_is_read(e, &x->tensor) &&
           at_expr_uses(x->lies ? e->arg[e->nargs - 1] : e, x->axis) &&
           is_renaming(x->c, x->stage, e);
}

static at_status find_operand(const at_compute *c, const at_tensor *stage, int tensor,
                              const char *axis, const at_expr **out, at_error *err) {
    const char *name = c->tensors[tensor].name;
    if (!axis) {
        *out = at_edit_operand_of(c, stage->body, tensor);
        if (*out) return AT_OK;
        return at_fail(err, AT_E_INPUT, "@%s calculates nothing of weights alone with \"%s\"",
                       stage->name, name);
    }
    *out = NULL;
    for (int k = 0; k < axes_of(stage); k++) {
        if (strcmp(stage->axes[k].name, axis) != 0) continue;
        const along it = {c, stage, tensor, k, true}, moves = {c, stage, tensor, k, false};
        *out = at_expr_find_value(stage->body, is_along, &it);
        if (!*out) *out = at_expr_find_value(stage->body, is_along, &moves);
    }
    if (*out) return AT_OK;
    return at_fail(err, AT_E_INPUT, "@%s reads no \"%s\" as it lies along \"%s\"", stage->name,
                   name, axis);
}

typedef struct axis_order {
    int axes[MAX_AXES], n;
} axis_order;

/* Takes in an axis that is not among those so far. */
static at_walk find_axis(const at_expr *e, void *ctx) {
    axis_order *x = ctx;
    bool is_new = e->op == AT_X_NAME && e->ref < AT_REF_SIZE;
    for (int i = 0; i < x->n && is_new; i++) is_new = x->axes[i] != e->ref;
    if (is_new) x->axes[x->n++] = e->ref;
    return AT_WALK_ON;
}

/* Axes within the indices of reads alone. */
static at_walk find_axes_of_read(const at_expr *e, void *ctx) {
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    at_expr_walk(e, find_axis, ctx);
    return AT_WALK_PAST;
}

typedef struct operand_made {
    rewrite_values values;
    const at_expr *of;
    const at_tensor *made;
    int tensor, index; /* as this index of reads of the tensor alone; -1: anywhere */
} operand_made;

/* Reads the operand wherever an expression has it. */
static at_expr *with_read(const at_expr *e, at_expr *copy, void *ctx) {
    operand_made *x = ctx;
    at_arena *a = x->values.arena;
    if (x->tensor < 0 && at_expr_equal(e, x->of)) return rewrite_element(a, x->made->name, x->made);
    if (x->tensor >= 0 && at_expr_is_read(e, &x->tensor) && at_expr_equal(e->arg[x->index], x->of))
        copy->arg[x->index] = rewrite_element(a, x->made->name, x->made);
    return rewrite_at_values(e, copy, &x->values);
}

/* The new stage, over axes of what reads it, stands for an expression of that. It computes what is
 * written of it already, or else the expression. */
static at_status add_operand(rewrite *w, at_arena *a, const at_tensor *from,
                             const axis_order *order, const at_expr *operand, at_tensor made,
                             int tensor, int index, at_error *err) {
    at_expr *const *value = rewrite_axes(a, from);
    made.num_axes = order->n;
    made.axes = AT_NEW_ARRAY(a, at_axis, order->n);
    for (int k = 0; k < order->n; k++) {
        const at_axis *of_stage = &from->axes[order->axes[k]];
        if (!of_stage->extent)
            return at_fail(err, AT_E_INPUT, "how far \"%s\" of @%s goes is not known",
                           of_stage->name, from->name);
        made.axes[k] =
            (at_axis){.name = of_stage->name, .extent = rewrite_copy_expr(a, of_stage->extent)};
    }
    if (!made.written) made.written = rewrite_expr_at(a, operand, value);
    operand_made x = {{a, value}, operand, &made, tensor, index};
    rewrite_add_stage(w, from->name, made, at_expr_map(a, from->body, with_read, &x));
    return AT_OK;
}

at_status at_edit_operand(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                          const char *axis, const char *name, const at_compute **compute,
                          at_tree **out, at_error *err) {
    rewrite w;
    const at_expr *operand;
    axis_order order = {.n = 0};
    AT_TRY(rewrite_start(&w, a, t, name, err));
    int s = at_compute_find(t->compute, stage), of = at_compute_find(t->compute, tensor);
    const at_tensor *from = s < 0 ? NULL : &t->compute->tensors[s];
    if (!from || !tree_leaf(w.made, stage))
        return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
    if (of < 0) return at_fail(err, AT_E_INPUT, "there is no tensor \"%s\"", tensor);
    AT_TRY(find_operand(t->compute, from, of, axis, &operand, err));
    at_expr_walk(operand, find_axes_of_read, &order); /* as what is read lies */
    at_expr_walk(operand, find_axis, &order);
    if (!order.n)
        return at_fail(err, AT_E_INPUT, "what @%s makes of \"%s\" is one number", stage, tensor);
    at_tensor made = {.name = name, .role = AT_ROLE_STAGE};
    const at_tensor *alone = operand->op == AT_X_INDEX ? &t->compute->tensors[operand->ref] : NULL;
    /* Entries that a stage of floats multiplies become floats once, and on every set of vectors. */
    if (alone && (alone->role != AT_ROLE_INDEX || from->type != AT_F32)) made.type = alone->type;
    else if (is_float_expr(t->compute, operand) && at_expr_is_whole(t->compute, operand))
        made.type = AT_S32;
    AT_TRY(add_operand(&w, a, from, &order, operand, made, -1, -1, err));
    return rewrite_finish(&w, compute, out);
}

/* ---- places ---------------------------------------------------------------------------------- */

static at_walk find_axis_beside(const at_expr *e, void *unused) {
    (void)unused;
    if (e->op == AT_X_INDEX) return AT_WALK_PAST;
    return e->op == AT_X_NAME && e->ref < AT_REF_SIZE ? AT_WALK_END : AT_WALK_ON;
}

/* Of sums and products lanes that cannot gather add up addresses as fast. */
static at_walk find_bound(const at_expr *e, void *unused) {
    (void)unused;
    if (e->op == AT_X_INDEX) return AT_WALK_PAST;
    const bool is_even = !e->nargs || e->op == AT_X_ADD || e->op == AT_X_SUB || e->op == AT_X_MUL ||
                         e->op == AT_X_NEG;
    return is_even ? AT_WALK_ON : AT_WALK_END;
}

typedef struct place_of {
    const at_compute *c;
    int tensor, index;
    const at_expr *found;
    bool is_guarded; /* by a condition on entries: it may lie outside where that fails */
} place_of;

/* An index of a read that is made of entries and of axes beside them, within a bound or the like.
 */
static at_walk find_place(const at_expr *e, void *ctx) {
    place_of *x = ctx;
    for (int i = 0; e->op == AT_X_INDEX && e->ref == x->tensor && i < e->nargs; i++)
        if (at_expr_reads_entries(x->c, e->arg[i]) &&
            at_expr_walk(e->arg[i], find_axis_beside, NULL) &&
            at_expr_walk(e->arg[i], find_bound, NULL)) {
            x->found = e->arg[i];
            return AT_WALK_END;
        }
    return AT_WALK_ON;
}

/* An entry of an index tensor, perhaps plus or minus a number, so that it fits 32 bits. */
static bool is_near_entry(const at_compute *c, const at_expr *e) {
    if (e->op == AT_X_INDEX) return c->tensors[e->ref].role == AT_ROLE_INDEX;
    return (e->op == AT_X_ADD || e->op == AT_X_SUB) && e->arg[1]->op == AT_X_INT &&
           e->arg[1]->integer < 1 << 24 && e->arg[0]->op == AT_X_INDEX &&
           is_near_entry(c, e->arg[0]);
}

/* A read at such an index. */
static at_walk find_entry(const at_expr *e, void *ctx) {
    place_of *x = ctx;
    for (int i = 0; e->op == AT_X_INDEX && e->ref == x->tensor && i < e->nargs; i++)
        if (is_near_entry(x->c, e->arg[i])) {
            x->found = e->arg[i], x->index = i, x->is_guarded = true;
            return AT_WALK_END;
        }
    return AT_WALK_ON;
}

/* The same on a side of a choice by entries. */
static at_walk find_guarded(const at_expr *e, void *ctx) {
    place_of *x = ctx;
    if (e->op != AT_X_SELECT || !at_expr_reads_entries(x->c, e->arg[0])) return AT_WALK_ON;
    return at_expr_walk(e->arg[1], find_entry, ctx) || at_expr_walk(e->arg[2], find_entry, ctx)
               ? AT_WALK_END
               : AT_WALK_PAST;
}

static place_of find(const at_compute *c, int stage, int tensor) {
    place_of x = {.c = c, .tensor = tensor};
    if (!at_expr_walk(c->tensors[stage].body, find_place, &x))
        at_expr_walk(c->tensors[stage].body, find_guarded, &x);
    return x;
}

const at_expr *at_edit_place_of(const at_compute *c, int stage, int tensor, bool *is_guarded) {
    const place_of x = find(c, stage, tensor);
    *is_guarded = x.is_guarded;
    return x.found;
}

/* The nearest place inside of the tensor. */
static at_expr *clamped(at_arena *a, const place_of *x, at_expr *const *value) {
    const at_expr *extent = x->c->tensors[x->tensor].axes[x->index].extent;
    at_expr *last = at_expr_pair(a, AT_X_SUB, rewrite_copy_expr(a, extent), at_expr_int(a, 1));
    return at_expr_pair(
        a, AT_X_MIN,
        at_expr_pair(a, AT_X_MAX, rewrite_expr_at(a, x->found, value), at_expr_int(a, 0)), last);
}

at_status at_edit_place(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                        const char *name, const at_compute **compute, at_tree **out,
                        at_error *err) {
    rewrite w;
    axis_order found = {.n = 0}, order = {.n = 0};
    AT_TRY(rewrite_start(&w, a, t, name, err));
    const int s = at_compute_find(t->compute, stage), of = at_compute_find(t->compute, tensor);
    const at_tensor *from = s < 0 ? NULL : &t->compute->tensors[s];
    if (!from || !tree_leaf(w.made, stage))
        return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
    if (of < 0) return at_fail(err, AT_E_INPUT, "there is no tensor \"%s\"", tensor);
    const place_of place = find(t->compute, s, of);
    if (!place.found)
        return at_fail(err, AT_E_INPUT,
                       "@%s reads \"%s\" at no place that entries and axes bound together, and at "
                       "none that entries guard",
                       stage, tensor);
    at_expr_walk(place.found, find_axis, &found);
    for (int i = 0; i < axes_of(from); i++) /* reductions, then the axes that lanes go along */
        for (int k = 0; k < found.n; k++) {
            const int axis = (from->num_axes + i) % axes_of(from);
            if (found.axes[k] == axis) order.axes[order.n++] = axis;
        }
    at_tensor made = {.name = name, .role = AT_ROLE_STAGE, .type = AT_S32};
    if (place.is_guarded) made.written = clamped(a, &place, rewrite_axes(a, from));
    AT_TRY(add_operand(&w, a, from, &order, place.found, made, place.is_guarded ? of : -1,
                       place.index, err));
    return rewrite_finish(&w, compute, out);
}
