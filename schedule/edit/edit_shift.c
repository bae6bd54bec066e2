/* schedule/edit/edit_shift.c: E16, a sum of products of two elements of one type of bytes becomes
 * one of products of u8 and s8, which dot products are of: one operand is moved by 128, and what
 * that adds is the sum of the other one's. */
#include "schedule/edit/edit_compute.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

enum { HALF = 128 };

typedef struct shift {
    rewrite w;
    const at_tensor *stage;
    const at_expr *moved, *other; /* reads of the stage */
    const at_edit_shift_names *names;
} shift;

static const at_tensor *tensor_of(const shift *s, const at_expr *read) {
    return &s->w.old->tensors[read->ref];
}

static at_status find_factors(shift *s, const char *tensor) {
    const at_expr *e = s->stage->body;
    at_error *err = s->w.err;
    if (s->stage->type != AT_S32 || !s->stage->num_reduce || s->stage->reduction != AT_REDUCE_SUM ||
        e->op != AT_X_MUL || e->arg[0]->op != AT_X_INDEX || e->arg[1]->op != AT_X_INDEX)
        return at_fail(err, AT_E_INPUT, "\"%s\" is no sum of s32 of products of two elements",
                       s->stage->name);
    const int k = strcmp(tensor_of(s, e->arg[0])->name, tensor) ? 1 : 0;
    s->moved = e->arg[k];
    s->other = e->arg[!k];
    if (strcmp(tensor_of(s, s->moved)->name, tensor))
        return at_fail(err, AT_E_INPUT, "\"%s\" has no factor \"%s\"", s->stage->name, tensor);
    const at_type type = tensor_of(s, s->moved)->type;
    if ((type != AT_U8 && type != AT_S8) || tensor_of(s, s->other)->type != type)
        return at_fail(err, AT_E_INPUT, "the factors of \"%s\" are not both u8 or both s8",
                       s->stage->name);
    for (int i = s->stage->num_axes; i < axes_of(s->stage); i++)
        if (s->stage->axes[i].begin || !at_expr_uses(s->other, i))
            return at_fail(err, AT_E_INPUT, "\"%s\" does not move along all of \"%s\"",
                           tensor_of(s, s->other)->name, s->stage->axes[i].name);
    return AT_OK;
}

/* The tensor's elements as the other type of bytes. */
static at_tensor moved_tensor(shift *s) {
    const at_tensor *from = tensor_of(s, s->moved);
    const bool is_signed = from->type == AT_S8;
    at_arena *a = s->w.arena;
    at_tensor t = {.name = s->names->moved,
                   .role = AT_ROLE_STAGE,
                   .type = is_signed ? AT_U8 : AT_S8,
                   .num_axes = from->num_axes};
    at_expr **index = AT_NEW_ARRAY(a, at_expr *, from->num_axes);
    t.axes = AT_NEW_ARRAY(a, at_axis, from->num_axes);
    for (int k = 0; k < from->num_axes; k++) {
        t.axes[k].name = rewrite_fresh(&s->w, at_format(a, "%s_i%d", t.name, k));
        t.axes[k].extent = rewrite_copy_expr(a, from->axes[k].extent);
        index[k] = at_expr_name(a, t.axes[k].name);
    }
    t.written =
        at_expr_pair(a, is_signed ? AT_X_ADD : AT_X_SUB,
                     at_expr_read(a, from->name, from->num_axes, index), at_expr_int(a, HALF));
    return t;
}

/* Of the other factor: over the axes of the stage that move it. */
static at_tensor sums_of_other(shift *s, at_expr *const *value) {
    const at_tensor *x = s->stage;
    at_arena *a = s->w.arena;
    at_tensor t = {.name = s->names->sums, .role = AT_ROLE_STAGE, .type = AT_S32};
    t.axes = AT_NEW_ARRAY(a, at_axis, axes_of(x));
    for (int k = 0; k < axes_of(x); k++) {
        if (!at_expr_uses(s->other, k)) continue;
        t.axes[t.num_axes + t.num_reduce] =
            (at_axis){.name = x->axes[k].name, .extent = rewrite_copy_expr(a, x->axes[k].extent)};
        if (k < x->num_axes) t.num_axes++;
        else t.num_reduce++;
    }
    t.reduction = AT_REDUCE_SUM;
    t.written = rewrite_expr_at(a, s->other, value);
    return t;
}

/* What the stage is then: the sum of dot products and what the move adds. */
static at_expr *corrected(shift *s, const at_tensor *sums) {
    const at_tensor *x = s->stage;
    at_arena *a = s->w.arena;
    at_expr *added =
        at_expr_pair(a, AT_X_MUL, at_expr_int(a, HALF), rewrite_element(a, sums->name, sums));
    return at_expr_pair(a, tensor_of(s, s->moved)->type == AT_S8 ? AT_X_SUB : AT_X_ADD,
                        rewrite_element(a, s->names->dots, x), added);
}

/* The stage's sum, of the moved operand, under the name of dots. */
static at_tensor sum_of_dots(shift *s, at_expr *const *value) {
    at_arena *a = s->w.arena;
    at_tensor t = *rewrite_find(&s->w, s->stage->name);
    at_expr *moved = rewrite_expr_at(a, s->moved, value),
            *other = rewrite_expr_at(a, s->other, value);
    moved->name = s->names->moved;
    t.name = s->names->dots;
    t.num_defs = 0;
    t.written = at_expr_pair(a, AT_X_MUL, moved, other);
    return t;
}

at_status at_edit_shift(at_arena *a, const at_tree *t, const char *stage, const char *tensor,
                        const at_edit_shift_names *names, const at_compute **compute, at_tree **out,
                        at_error *err) {
    shift s = {.names = names};
    tree_node *leaf;
    AT_TRY(rewrite_start_leaf(&s.w, a, t, names->moved, stage, &s.stage, &leaf, err));
    AT_TRY(find_factors(&s, tensor));
    at_expr *const *value = rewrite_axes(a, s.stage);
    const at_tensor moved = moved_tensor(&s), sums = sums_of_other(&s, value),
                    dots = sum_of_dots(&s, value);
    at_tensor *x = rewrite_find(&s.w, stage), rest = *x;
    rest.num_defs = rest.num_reduce = 0;
    rest.reduction = AT_REDUCE_SUM;
    rest.written = corrected(&s, &sums);
    *x = rest;
    tree_insert(s.w.made, rewrite_outermost(leaf), true, rewrite_plain_nest(&s.w, &moved));
    tree_insert(s.w.made, rewrite_outermost(leaf), true, rewrite_plain_nest(&s.w, &sums));
    tree_insert(s.w.made, rewrite_outermost(leaf), false, rewrite_plain_nest(&s.w, &rest));
    leaf->stage = dots.name;
    rewrite_insert(&s.w, stage, moved);
    rewrite_insert(&s.w, stage, sums);
    rewrite_insert(&s.w, stage, dots);
    return rewrite_finish(&s.w, compute, out);
}
