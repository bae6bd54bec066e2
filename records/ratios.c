/* records/ratios.c: how long a record takes beside the first anchor of its log, which records of
 * several logs may have in common. */
#include "records/records_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* How unsure a trial's median is, and then the links of its anchor. */
static const double trial_level = 0.05;

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
        at_spread s = at_spread_of(of, n);
        at_interval m = at_ratio_interval(p, order[i], trial_level);
        bool is_interval = isfinite(m.low) && isfinite(m.high);
        *out = (at_ratios){.first = p->first,
                           .objective = order[i],
                           .samples = n,
                           .ratio = s.median_s * links,
                           .low = is_interval ? m.low : s.low_s * links,
                           .high = is_interval ? m.high : s.high_s * links,
                           .is_interval = is_interval};
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
    double unsure = exp(p->of_first_error);
    return (at_interval){m.median * links, m.low * links / unsure, m.high * links * unsure};
}

bool at_record_ratios(const at_record *r, at_ratios *out) {
    return of_final(at_record_final(r), out) || of_trial(&r->extra.pairs, out);
}

bool at_ratios_comparable(const at_ratios *x, const at_ratios *y) {
    return !strcmp(x->first, y->first) && x->objective == y->objective;
}
