/* schedule/verify_steps.c: rule 11: what goes on from step to step stands in loops that do. */
#include "schedule/verify_int.h"

/* Does this digit turn outside of that one? */
static bool turns_outside(const at_digits *x, int i, const at_digits *y, int k) {
    if (x->loop[i] == y->loop[k]) return x->member[i] < y->member[k];
    return x->loop[i]->depth < y->loop[k]->depth;
}

/* The loop of an axis that does not go from step to step, inside of those before it; NULL: all do.
 */
static const at_node *out_of_step(const at_digits *d) {
    for (int i = 0; i < d->n; i++) {
        if (d->loop[i]->ann == AT_ANN_PARA || d->loop[i]->ann == AT_ANN_VEC) return d->loop[i];
        if (i + 1 < d->n && !turns_outside(d, i, d, i + 1)) return d->loop[i + 1];
    }
    return NULL;
}

static at_status check_steps(verifier *v, const at_node *n, int axis) {
    const at_tensor *s = stage_of(v, n);
    const at_node *loop = out_of_step(&n->axes[axis]);
    if (!loop) return AT_OK;
    return BROKEN(v,
                  "rule 11 (running): @%s runs along axis %s: loop %s must go from step to step, "
                  "inside of those before it",
                  s->name, s->axes[axis].name, verify_loop_name(v, loop));
}

/* All loops of an axis stand outside of all of another one, and none is written out: tiles put what
 * they write out in an order of their own. */
static at_status check_outside(verifier *v, const at_node *n, int axis, int other) {
    const at_tensor *s = stage_of(v, n);
    const at_digits *d = &n->axes[axis], *inner = &n->axes[other];
    for (int i = 0; i < d->n; i++)
        for (int k = 0; k < inner->n; k++)
            if (!turns_outside(d, i, inner, k) || d->loop[i]->ann == AT_ANN_UNROLL)
                return BROKEN(v,
                              "rule 11 (running): @%s reads itself across axis %s: loop %s of axis "
                              "%s must be outside of loop %s, and not unroll",
                              s->name, s->axes[other].name, verify_loop_name(v, d->loop[i]),
                              s->axes[axis].name, verify_loop_name(v, inner->loop[k]));
    return AT_OK;
}

at_status verify_running(verifier *v, int leaf) {
    const at_node *n = v->at = v->leaves[leaf];
    const at_tensor *s = stage_of(v, n);
    const at_recurrence r = at_recurrence_of(v->p->compute, n->tensor);
    const uint32_t steps = at_stage_steps(v->p->compute, n->tensor);
    for (int axis = 0; axis < s->num_axes; axis++) {
        if (!(steps >> axis & 1)) continue;
        AT_TRY(check_steps(v, n, axis));
        for (int other = 0; other < s->num_axes; other++)
            if (r.across[axis] >> other & 1 ||
                (r.back[axis] >> other & 1 && out_of_step(&n->axes[other])))
                AT_TRY(check_outside(v, n, axis, other));
    }
    return AT_OK;
}

/* Do two leaves count their axes by the same loops? */
static bool same_digits(const at_digits *x, const at_digits *y) {
    bool same = x->n == y->n;
    for (int i = 0; i < x->n && same; i++)
        same = x->loop[i] == y->loop[i] && x->member[i] == y->member[i] &&
               x->extent[i] == y->extent[i];
    return same;
}

/* Of the loops that count an axis the one that does not go from step to step, or is written out, as
 * tiles put what that makes in an order of their own; NULL: none. */
static const at_node *not_in_steps(const at_digits *d) {
    for (int i = 0; i < d->n; i++)
        if (d->loop[i]->ann == AT_ANN_UNROLL) return d->loop[i];
    return out_of_step(d);
}

/* A read of an earlier step: both leaves stand in the loops of the steps, and what is read lies
 * within what those outside of the innermost of these have computed. */
at_status verify_back(verifier *v, int reader, const at_expr *read, const form *axes) {
    const at_node *r = v->leaves[reader], *w = v->leaf_of[read->ref];
    const int back = at_cycle_back(v->p->compute, r->tensor, read),
              producer = v->position[read->ref];
    const at_digits *d = &r->axes[back];
    const char *reads = stage_of(v, r)->name, *axis = stage_of(v, r)->axes[back].name;
    const at_node *loop = not_in_steps(d);
    if (!same_digits(d, &w->axes[back]))
        return BROKEN(
            v,
            "rule 11 (running): @%s reads an earlier step of @%s along axis %s: both must "
            "stand in the same loops of it",
            reads, read->name, axis);
    if (loop)
        return BROKEN(v,
                      "rule 11 (running): @%s reads an earlier step of @%s along axis %s: loop %s "
                      "must go from step to step, inside of those before it, and not unroll",
                      reads, read->name, axis, verify_loop_name(v, loop));
    if (!d->n) return AT_OK;
    const int common = d->loop[d->n - 1]->depth + 1;
    for (loop = d->loop[d->n - 1]; loop; loop = loop->parent)
        if (verify_usage(v, producer, loop).reduce)
            return BROKEN(
                v,
                "rule 11 (running): reduction loop %s of @%s stands outside of loop %s, in "
                "which @%s reads an earlier step of it",
                verify_loop_name(v, loop), read->name, verify_loop_name(v, d->loop[d->n - 1]),
                reads);
    const at_node *unsure = verify_unsure_loop(v, producer, common);
    if (unsure)
        return BROKEN(v,
                      "rule 11 (running): @%s reads an earlier step of @%s, which loop %s may "
                      "leave out",
                      reads, read->name, verify_loop_name(v, unsure));
    const int other = uncovered_axis(v->p, w, common, read, axes, back);
    if (other < 0) return AT_OK;
    return BROKEN(v,
                  "rule 11 (running): @%s reads more of axis %s of an earlier step of @%s than the "
                  "loops around loop %s have computed",
                  reads, v->p->compute->tensors[read->ref].axes[other].name, read->name,
                  verify_loop_name(v, d->loop[d->n - 1]));
}

/* Is an index the counter of an axis, in all of its loops, or less by a number? */
static bool is_at_or_before(const at_digits *d, const form *index) {
    int64_t weight = 1;
    int counted = 0;
    for (int i = d->n - 1; i >= 0; i--) {
        bool same = d->extent[i] == 1;
        for (int k = 0; k < index->n && !same; k++)
            same = index->t[k].loop == d->loop[i] && index->t[k].member == d->member[i] &&
                   index->t[k].weight == weight;
        if (!same) return false;
        counted += d->extent[i] > 1;
        weight *= d->extent[i];
    }
    return counted == index->n && !index->lo && !index->hi && index->constant <= 0;
}

bool verify_before(verifier *v, int reader, const at_expr *read, const form *axes, int axis) {
    const at_node *w = v->leaf_of[read->ref], *shared;
    const int common = common_loops(w, v->leaves[reader], &shared);
    const at_tensor *t = &v->p->compute->tensors[read->ref];
    form index;
    if (!t->is_recurrence || !(at_stage_steps(v->p->compute, read->ref) >> axis & 1) ||
        not_in_steps(&w->axes[axis]))
        return false;
    form_of(v->p, read->arg[axis], axes, &index);
    return is_at_or_before(&w->axes[axis], &index) &&
           uncovered_axis(v->p, w, common, read, axes, axis) < 0;
}
