/* records/spread.c: samples: costs out of them, and how far they, or the ratios of pairs, are
 * apart. */
#include "records/records_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double *at_costs_of_samples(at_arena *a, const double *samples, int n, int *num_costs) {
    double *costs = at_copy(a, samples, (size_t)n * sizeof *costs);
    *num_costs = n;
    if (n <= 2) return costs;
    at_sort_doubles(costs, n);
    *num_costs -= 2;
    return costs + 1;
}

static double *sorted_rounds(const at_turns *t) {
    double *times = malloc((size_t)t->num_rounds * sizeof *times);
    AT_NEED(times);
    for (int i = 0; i < t->num_rounds; i++) times[i] = t->rounds[i].time_s;
    at_sort_doubles(times, t->num_rounds);
    return times;
}

/* The middle half, or all of a few. */
static at_spread spread_of(double *sorted, int n) {
    bool few = n < 4;
    return (at_spread){.samples = n,
                       .median_s = at_sorted_quantile(sorted, n, 0.5),
                       .low_s = few ? sorted[0] : at_sorted_quantile(sorted, n, 0.25),
                       .high_s = few ? sorted[n - 1] : at_sorted_quantile(sorted, n, 0.75)};
}

at_spread at_record_spread(const at_record *r) {
    const at_turns *final = at_record_final(r);
    const double *samples = r->costs_s;
    int n = r->num_costs;
    if (r->extra.num_samples) samples = r->extra.samples_s, n = r->extra.num_samples;
    if (final) n = final->num_rounds;
    AT_ASSERT(n);
    double *sorted = final ? sorted_rounds(final) : at_sorted_copy(samples, n);
    at_spread s = spread_of(sorted, n);
    free(sorted);
    return s;
}

/* ---- ratios ---------------------------------------------------------------------------------- */

static bool of_final(const at_turns *t, at_ratios *out) {
    if (!t || !t->first || !(t->first_s > 0)) return false;
    at_interval m = at_turns_interval(t);
    double low_s = t->first_s * exp(t->first_error), high_s = t->first_s * exp(-t->first_error);
    if (!isfinite(m.low) || !isfinite(m.high)) return false;
    *out = (at_ratios){.first = t->first,
                       .objective = t->objective,
                       .samples = at_turns_counting(t),
                       .ratio = t->time_s / t->first_s,
                       .low = m.low / low_s,
                       .high = m.high / high_s,
                       .is_interval = t->first_error > 0};
    return true;
}

/* The pairs that count for o. */
static int in_state(const at_paired *p, at_objective o, double *out) {
    int n = 0;
    for (int k = 0; k < p->num_ratios; k++) {
        at_state s = AT_STATE_UNKNOWN;
        if (*p->states) at_state_from_letter(p->states[k], &s);
        if (at_objective_counts(o, s)) out[n++] = p->ratios[k];
    }
    return n;
}

/* Alone, where any pair was; else in company, else of any. */
static bool of_trial(const at_paired *p, at_ratios *out) {
    static const at_objective order[] = {AT_OBJECTIVE_ALONE, AT_OBJECTIVE_COMPANY,
                                         AT_OBJECTIVE_TYPICAL};
    if (!(p->of_first > 0) || !p->num_ratios) return false;
    double *of = malloc((size_t)p->num_ratios * sizeof *of), links = p->of_first / p->ratio;
    AT_NEED(of);
    int n = 0, i = 0;
    while (i < 3 && !(n = in_state(p, order[i], of))) i++;
    if (n) {
        at_sort_doubles(of, n);
        at_spread s = spread_of(of, n);
        *out = (at_ratios){.first = p->first,
                           .objective = order[i],
                           .samples = n,
                           .ratio = s.median_s * links,
                           .low = s.low_s * links,
                           .high = s.high_s * links};
    }
    free(of);
    return n > 0;
}

at_interval at_ratio_interval(const at_paired *p, at_objective o, double level) {
    double *of = malloc((size_t)p->num_ratios * sizeof *of + 1), links = p->of_first / p->ratio;
    AT_NEED(of);
    int n = in_state(p, o, of);
    if (!n) n = in_state(p, AT_OBJECTIVE_TYPICAL, of);
    at_interval m = at_median_always(of, n, level);
    free(of);
    return (at_interval){m.median * links, m.low * links, m.high * links};
}

bool at_record_ratios(const at_record *r, at_ratios *out) {
    return of_final(at_record_final(r), out) || of_trial(&r->extra.pairs, out);
}

bool at_ratios_comparable(const at_ratios *x, const at_ratios *y) {
    return !strcmp(x->first, y->first) && x->objective == y->objective;
}
