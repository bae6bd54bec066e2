/* engine/measure/session_work.c: how much a run does, so that times become speeds: operations, or,
 * where there are no multiply-adds, the bytes of inputs and outputs. */
#include "engine/measure/session.h"
#include "engine/measure/bench.h"
#include "engine/measure/target_here.h"

#include <math.h>

/* The axis of which each point goes on where the one before it ends, as `start[b] .. start[b + 1]`
 * does; -1: none. */
static int list_axis(const at_axis *x) {
    const at_expr *begin = x->begin, *end = x->end;
    if (begin->op != AT_X_INDEX || end->op != AT_X_INDEX || begin->ref != end->ref ||
        begin->nargs != 1 || begin->arg[0]->op != AT_X_NAME || begin->arg[0]->ref >= AT_REF_SIZE)
        return -1;
    const at_expr *next = end->arg[0];
    bool follows = next->op == AT_X_ADD && at_expr_is_name(next->arg[0], begin->arg[0]->ref) &&
                   next->arg[1]->op == AT_X_INT && next->arg[1]->integer == 1;
    return follows ? begin->arg[0]->ref : -1;
}

/* The longest that a reduction whose bounds are data may be: what it indexes ends there. */
static double longest(const at_compute *c, int64_t *const *extents, int stage, int axis) {
    int num;
    const at_expr *const *reads = at_compute_reads(c, stage, &num);
    double most = INFINITY;
    for (int i = 0; i < num; i++)
        for (int d = 0; d < reads[i]->nargs; d++)
            if (at_expr_is_name(reads[i]->arg[d], axis))
                most = fmin(most, (double)extents[reads[i]->ref][d]);
    return most;
}

/* Points of a stage, those of its reductions among them: at most, where data are their bounds. */
static double points_of(const at_compute *c, int64_t *const *extents, int stage) {
    const at_tensor *t = &c->tensors[stage];
    double points = 1;
    for (int i = 0; i < t->num_axes + t->num_reduce; i++) {
        if (extents[stage][i] >= 0) {
            points *= (double)extents[stage][i];
            continue;
        }
        int along = list_axis(&t->axes[i]);
        points *= longest(c, extents, stage, i);
        if (along >= 0) points /= (double)extents[stage][along];
    }
    return points;
}

/* Elements of an input that are read at most: of one that an index tensor's entries choose from,
 * one at each point. */
static double elements_read(const at_compute *c, int64_t *const *extents, int input) {
    double whole = 1, chosen = 0;
    for (int i = 0; i < c->tensors[input].num_axes; i++) whole *= (double)extents[input][i];
    for (int t = input + 1; t < c->num_tensors; t++) {
        int num;
        const at_expr *const *reads = at_compute_reads(c, t, &num);
        for (int i = 0; i < num; i++)
            if (reads[i]->ref == input)
                chosen += at_expr_reads_entries(c, reads[i]) ? points_of(c, extents, t) : INFINITY;
    }
    return fmin(whole, chosen);
}

/* Do entries of index tensors decide which products are 0? */
static bool chooses_by_list(const at_expr *e, const void *compute) {
    return e->op == AT_X_SELECT && at_expr_reads_entries(compute, e->arg[0]);
}

void at_session_count_by_data(at_session *s) {
    const at_dataset *d = &s->bench->data;
    const at_compute *c = d->compute;
    bool chooses = false;
    at_data *data = AT_NEW_ARRAY(s->scratch, at_data, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        if (x->role == AT_ROLE_INDEX) data[t].i = at_store_at(d->store, d->offset[t]);
        if (x->role == AT_ROLE_STAGE) chooses |= at_expr_find(x->body, chooses_by_list, c) != NULL;
    }
    if (s->what.flops <= 0 || !chooses) return;
    const double flops = at_compute_flops(c, d->values, data);
    if (flops > 0 && flops < s->what.flops) s->what.flops = s->what.work = flops;
}

/* Terms of the dot products that its sums are made of on this CPU; 0: of none. */
static int dot_terms(const at_compute *c) {
    static const at_type types[] = {AT_U8, AT_S16, AT_BF16};
    const at_target *t = at_target_of_types(at_target_here(), c);
    for (int i = 0; i < 3; i++)
        if (at_adds_products(c, types[i])) return at_target_dot_terms(t, types[i]);
    return 0;
}

/* Of plain tensors; those whose shapes depend on the configuration hold as much in any. */
void at_session_count_work(at_session *s) {
    const at_compute *c = at_task_compute(s->what.task);
    at_config config;
    int64_t *values, **extents;
    s->what.work = s->what.flops;
    s->what.dot_terms = dot_terms(c);
    if (s->what.flops > 0 ||
        at_task_default_config(s->arena, s->what.task, AT_ANY_LANES, &config, NULL) != AT_OK ||
        at_task_values(s->arena, s->what.task, &config, &values, NULL) != AT_OK ||
        at_compute_extents(s->arena, c, values, &extents, NULL) != AT_OK)
        return;
    for (int t = 0; t < c->num_tensors; t++) {
        double bytes = (double)at_type_bytes(c->tensors[t].type);
        for (int i = 0; i < c->tensors[t].num_axes; i++) bytes *= (double)extents[t][i];
        if (c->tensors[t].role != AT_ROLE_STAGE)
            s->what.read_bytes +=
                (double)at_type_bytes(c->tensors[t].type) * elements_read(c, extents, t);
        else if (c->tensors[t].is_output && (!c->tensors[t].lies_in || c->tensors[t].is_updated))
            s->what.written_bytes += bytes;
    }
    s->what.in_bytes = true;
    s->what.work = s->what.read_bytes + s->what.written_bytes;
}
