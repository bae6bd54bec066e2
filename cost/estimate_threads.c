/* cost/estimate_threads.c: what threads of several cores make of the time of leaves: each has a
 * share of the turns of a parallel loop, and some of the lines that it touches are in another
 * core's caches. */
#include <math.h>

#include "cost/estimate_int.h"

/* What a line takes that another core wrote or read last: measured on a Sapphire Rapids under KVM.
 */
static const double other_ns = 5.5;

/* The loop whose turns threads share; -1: one of them does all. */
static int shared_loop(const est_leaf *x) {
    for (int i = 0; i < x->num_loops; i++)
        if (x->loop[i].ann == AT_ANN_PARA) return i;
    return -1;
}

/* Share of the turns that the busiest thread has; they are dealt out in equal parts. */
static double busiest(const at_estimator *e, const est_leaf *x) {
    double turns = 1;
    for (int i = 0; i < x->num_loops; i++)
        if (x->loop[i].ann == AT_ANN_PARA) turns *= x->loop[i].turns;
    return ceil(turns / e->o.threads) / turns;
}

/* Does the tensor outlive the turn of the shared loop? */
static bool is_common(const est_leaf *x, const est_access *a, int loop) {
    return !a->in_registers && (loop < 0 || a->buffer->scope < x->loop[loop].node->depth);
}

/* Do threads share the tensor by its outermost dimension? Then each has its own part of it, which
 * the same thread wrote in another kernel, or will read. */
static bool is_own(const est_access *a, int loop) {
    for (int d = 0; d < a->num_dims; d++)
        if (a->buffer->limit[d] > 1) return a->moved[loop] >> d & 1;
    return false;
}

/* Nanoseconds that the busiest thread waits for lines of other cores, and for weights of which the
 * others read each line as well. */
static double apart_ns(const at_estimator *e, const est_access *a, int loop, double share) {
    const at_tensor *t = &e->compute->tensors[a->tensor];
    const bool moves = loop >= 0 && a->moved[loop];
    if (t->is_packing || t->role == AT_ROLE_WEIGHT)
        return loop >= 0 && !moves && e->o.cold_weights
                   ? a->lines[0] * (1 - share) * (double)e->speeds.stream_ns[2]
                   : 0;
    if (loop >= 0 && is_own(a, loop)) return 0;
    return a->lines[0] * (moves ? share : 1) * (1 - 1.0 / e->o.threads) * other_ns;
}

static bool is_touched_before(const at_estimator *e, const est_leaf *x, const est_access *a) {
    for (const est_leaf *y = e->leaf; y <= x; y++)
        for (int k = 0; k < y->num_accesses; k++) {
            if (&y->access[k] == a) return false;
            if (y->access[k].tensor == a->tensor) return true;
        }
    return false;
}

double est_share(const at_estimator *e, const est_leaf *x) {
    return e->o.threads > 1 ? busiest(e, x) : 1;
}

void est_add_apart(const at_estimator *e, at_estimate *sum) {
    if (e->o.threads <= 1) return;
    for (const est_leaf *x = e->leaf; x < e->leaf + e->num_leaves; x++) {
        const int loop = shared_loop(x);
        const double share = busiest(e, x);
        for (int k = 0; k < x->num_accesses; k++) {
            const est_access *a = &x->access[k];
            if (!is_common(x, a, loop) || is_touched_before(e, x, a)) continue;
            sum->memory_ns += apart_ns(e, a, loop, share);
            sum->alone_ns += apart_ns(e, a, -1, 1); /* one thread does all */
        }
    }
}
