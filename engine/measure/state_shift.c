/* engine/measure/state_shift.c: times of different states made comparable. */
#include "engine/measure/state_shift.h"

#include <math.h>

enum { FEW = 16 };

bool at_is_of_counting_state(const at_record *r, at_objective objective) {
    const at_paired *p = &r->extra.pairs;
    int counting = 0;
    if (!p->num_ratios || !p->states || !*p->states) return true;
    at_median_that_counts(p->ratios, p->states, p->num_ratios, objective, &counting);
    return counting > 0;
}

void at_state_shift_add(at_state_shift *x, const at_record *r, at_objective objective) {
    const double worth = log(at_record_mean(r));
    bool counts = at_is_of_counting_state(r, objective);
    if (counts) at_push(x->arena, &x->counting);
    else at_push(x->arena, &x->others);
    double *of = counts ? x->counting.data : x->others.data;
    int i = (counts ? x->counting.len : x->others.len) - 1;
    for (; i > 0 && of[i - 1] > worth; i--) of[i] = of[i - 1];
    of[i] = worth;
}

double at_state_shift_of_others(const at_state_shift *x) {
    if (x->counting.len < FEW || x->others.len < FEW) return 0;
    return x->counting.data[x->counting.len / 4] - x->others.data[x->others.len / 4];
}

double at_state_shift_learn(at_state_shift *x, const at_record *r, at_objective objective) {
    if (!at_record_is_candidate(r)) return r->extra.gflops;
    if (r->extra.same_as < 0) at_state_shift_add(x, r, objective);
    if (at_is_of_counting_state(r, objective)) return r->extra.gflops;
    return r->extra.gflops * exp(-at_state_shift_of_others(x));
}
