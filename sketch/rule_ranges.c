/* sketch/rule_ranges.c: a sum whose range another axis bounds on one side, as that of a triangle,
 * goes over all that the range may reach, so that its loop can be cut into tiles and lanes; what
 * lies outside is left out by a condition, which lowering makes bounds of most tiles:
 *
 *     sum(k:0..i+1) l[i, k] * b[k, j]   ->   sum(k:N) (k < i+1 ? l[i, k] * b[k, j] : 0)
 *
 * A band, which is bounded on both sides, stays: most of the whole would lie outside. So does a
 * running sum (rule_running.c), but a short one. */
#include "schedule/edit.h"
#include "sketch/limits.h"
#include "sketch/sketch_int.h"

static bool has_axes(const at_expr *e) {
    bool has = e->op == AT_X_NAME && e->ref < AT_REF_SIZE;
    for (int i = 0; i < e->nargs; i++) has |= has_axes(e->arg[i]);
    return has;
}

static bool is_triangle(const at_axis *x) {
    return x->begin && !at_expr_reads(x->begin) && !at_expr_reads(x->end) &&
           has_axes(x->begin) != has_axes(x->end);
}

static bool runs_on(const at_tensor *t, const int64_t *values) {
    const int axis = at_running_axis(t);
    int64_t n;
    return axis >= 0 && at_expr_eval(t->axes[axis].extent, values, &n, NULL) == AT_OK &&
           n > RANGE_SHORT;
}

/* Of these sizes; a range that is always empty goes over nothing. */
static bool reaches(const at_axis *x, const int64_t *values) {
    int64_t n;
    return at_expr_eval(x->extent, values, &n, NULL) == AT_OK && n > 0;
}

at_status sketch_widen_ranges(sketch_state *s, const at_facts_given *given, at_error *err) {
    const at_compute *c = s->compute;
    at_error why; /* it goes further than is known */
    for (int t = 0; t < c->num_tensors; t++)
        for (int k = 0; k < c->tensors[t].num_reduce; k++) {
            const at_tensor *x = &c->tensors[t];
            const at_axis *axis = &x->axes[x->num_axes + k];
            at_edit e = {.kind = AT_EDIT_WIDEN, .stage = x->name, .loop = axis->name};
            const sketch_state before = *s;
            if (!is_triangle(axis) || x->cycle || runs_on(x, given->values) ||
                sketch_step(s, &e, &why) != AT_OK)
                continue;
            if (!reaches(&s->compute->tensors[t].axes[x->num_axes + k], given->values)) *s = before;
        }
    return s->compute == c ? AT_OK : sketch_look_again(s, given, err);
}
