/* sketch/rule_layout.c: the layout of a sum is a choice. Where the last axis moves the data and an
 * axis before it moves weights, as in a convolution whose channels come first, further sketches
 * store the sum with that axis last: lanes go along weights, which are packed, and an element of
 * the data is spread over them. What had the sum's name turns it on its way out:
 *
 *     out[f, h, v] = sum(c, r, q) x[c, h + r, v + q]*w[f, c, r, q]    ->
 *         out_last[h, v, f] = sum(c, r, q) ..;  out[f, h, v] = out_last[h, v, f]
 *
 * So does a sum that reads such a one, as a depthwise convolution between two others. */
#include <string.h>

#include "sketch/limits.h"
#include "sketch/tile.h"

/* Is a stage stored in another layout already? */
static bool is_put(const sketch_state *s, int stage) {
    const char *name = s->compute->tensors[stage].name;
    for (const sketch_edit *e = s->last; e; e = e->before)
        if (e->edit.kind == AT_EDIT_ACROSS && !strcmp(e->edit.names[0], name)) return true;
    return false;
}

/* Would lanes along an axis go along all that they read, and does the axis move weights, or what is
 * stored with it last already? */
static bool suits(const sketch_state *s, int stage, int axis, int last) {
    const at_stage_facts *f = &s->facts->of[stage];
    bool any = false;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        const bool is_weight = sketch_is_weight(s, x->tensor);
        if (!x->known || (is_weight && x->stride[last])) return false;
        if (!is_weight && x->stride[axis] != 0 && x->stride[axis] != 1) return false;
        any |= is_weight ? x->stride[axis] != 0 : x->stride[axis] == 1 && is_put(s, x->tensor);
    }
    return any;
}

/* The axis that may come last; -1: none, or the sum is stored well as it is. */
static int last_of(const sketch_state *s, int stage) {
    const at_tensor *x = &s->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = x->num_axes - 1;
    int64_t terms = 1;
    int found = -1;
    if (!f->is_stage || f->is_dissolved || f->is_written || x->cycle || !x->num_reduce ||
        last < 1 || tile_has_lists(x))
        return -1;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++) terms *= f->extent[k];
    for (int k = 0; k < last && terms >= LAYOUT_LEAST_TERMS; k++)
        if (f->extent[k] >= LEAST_COPIED_LANES && !f->divisor[k] && suits(s, stage, k, last) &&
            (found < 0 || f->extent[k] > f->extent[found]))
            found = k;
    return found;
}

bool sketch_has_layouts(const sketch_state *s) {
    for (int t = 0; t < s->compute->num_tensors; t++)
        if (last_of(s, t) >= 0) return true;
    return false;
}

/* Does an expression read a stage, and only at the reader's own axes in their order? */
static bool reads_in_place(const at_expr *e, int stage, bool *any) {
    for (int i = 0; i < e->nargs; i++)
        if (!reads_in_place(e->arg[i], stage, any)) return false;
    if (e->op != AT_X_INDEX || e->ref != stage) return true;
    *any = true;
    return at_expr_is_in_place(e);
}

/* Is a stage made of the elements of another one, each of that at its place, for others? */
static bool goes_along(const at_compute *c, int reader, int stage) {
    const at_tensor *x = &c->tensors[reader], *t = &c->tensors[stage];
    bool any = false;
    return x->role == AT_ROLE_STAGE && !x->num_reduce && !x->is_output && !x->cycle &&
           !x->is_recurrence && x->num_axes == t->num_axes &&
           reads_in_place(x->body, stage, &any) && any;
}

static at_status put(sketch_state *s, int stage, int axis, at_error *err) {
    const at_tensor *x = &s->compute->tensors[stage];
    const at_edit e = {.kind = AT_EDIT_ACROSS,
                       .stage = x->name,
                       .loop = x->axes[axis].name,
                       .names = {sketch_fresh(s, at_format(s->arena, "%s_last", x->name))}};
    return sketch_step(s, &e, err);
}

/* A sum, and what is made of its elements beside it. */
static at_status put_all(sketch_state *s, int sum, int axis, at_error *err) {
    const char *name = s->compute->tensors[sum].name;
    AT_TRY(put(s, sum, axis, err));
    for (int r = at_compute_find(s->compute, name) + 1; r < s->compute->num_tensors; r++) {
        const char *reader = s->compute->tensors[r].name;
        if (!goes_along(s->compute, r, at_compute_find(s->compute, name))) continue;
        AT_TRY(put(s, r, axis, err));
        AT_TRY(sketch_drop_copy(s, reader, err));
    }
    return sketch_drop_copy(s, name, err);
}

at_status sketch_put_last(sketch_state *s, const at_facts_given *given, at_error *err) {
    for (int t = 0; t < s->compute->num_tensors; t++) {
        const int k = last_of(s, t);
        if (k < 0) continue;
        s->name = at_format(s->arena, "%s%slast_%s", s->name, *s->name ? "+" : "",
                            s->compute->tensors[t].axes[k].name);
        AT_TRY(put_all(s, t, k, err));
        AT_TRY(sketch_look_again(s, given, err));
    }
    return AT_OK;
}
