/* engine/final/final_budget.c: the time of a final is in proportion to that of the search before
 * it. */
#include "engine/final/final_budget.h"

#include <math.h>

#include "engine/measure/anchors.h"
#include "engine/measure/states.h"

/* A tenth of the run so far, and at least as long as that took, between one and three seconds; up
 * to a fifth of it for as many pairs of a long kernel as three seconds have of one of a
 * millisecond. */
static const double budget_share = 0.1, least_budget_s = 1, short_budget_s = 3;
static const double pairs_share = 0.2, most_pairs = 1500;
static const double patience = 2; /* by the clock, where others have the core as well */
/* What a turn takes beside the kernel's own runs (measured: 2 to 3 ms); its samples take as long.
 */
static const double turn_s = 0.003, least_sample_s = 0.0002;
enum { MOST_SAMPLES = 5, MOST_PAIRS = 8 };
/* Of the state that counts. Who waits for one that is rarer waits in vain. */
static const double least_share = 0.1;

/* Where a pair of a trial deviates by more than that, it takes more of them to say as much, and a
 * final has up to a third of the run's time so far; of a short run up to three quarters, and 3.5 s.
 */
static const double usual_deviation = 0.02, most_times = 4, loud_share = 1.0 / 3;
static const double short_loud_share = 0.75, short_loud_s = 3.5;

double at_final_times(double deviation) {
    double times = deviation / usual_deviation;
    return fmin(fmax(times * times, 1), most_times);
}

double at_final_core_s(double so_far_s, double pair_s, double times) {
    double least_s = fmin(fmax(so_far_s, least_budget_s), short_budget_s);
    double pairs_s = fmin(most_pairs * pair_s, pairs_share * so_far_s);
    double quiet_s = fmax(budget_share * so_far_s, fmax(least_s, pairs_s));
    double loud_s = fmax(loud_share * so_far_s, fmin(short_loud_share * so_far_s, short_loud_s));
    return fmax(quiet_s, fmin(times * quiet_s, loud_s));
}

at_final_limits at_final_budget(const at_session *s, const at_known *known) {
    double so_far_s = at_seconds_since(s->spent.start_ns);
    const at_record *best = at_anchor_config(s) ? at_known_best(known) : NULL;
    double budget_s = at_final_core_s(so_far_s, best ? 2 * at_record_mean(best) : 0,
                                      at_final_times(at_states_deviation(s)));
    double left_s = s->options.time_s > 0 ? fmax(s->options.time_s - so_far_s, 0) : INFINITY;
    double clock_s = fmin(patience * budget_s, left_s);
    return (at_final_limits){.core_s = fmin(budget_s, left_s),
                             .clock_s = clock_s,
                             .other_s = fmin(clock_s, left_s - clock_s)};
}

double at_final_share(const at_final_limits *limits, const at_final_spent *spent) {
    double other_s = fmin(spent->other_clock_s, limits->other_s);
    double part = spent->other_clock_s > 0 ? other_s / spent->other_clock_s : 0;
    double clock_s = spent->clock_s - other_s, core_s = spent->core_s - part * spent->other_core_s;
    return fmax(clock_s / limits->clock_s, core_s / limits->core_s);
}

double at_final_reserve(double time_s) {
    double least = fmin(time_s / 4, short_budget_s);
    double share = time_s * budget_share / (1 + budget_share);
    return fmax(share, least);
}

int at_final_samples(const at_record *r) {
    double n = 1 + turn_s / fmax(at_record_mean(r), least_sample_s);
    return n < MOST_SAMPLES ? (int)n : MOST_SAMPLES;
}

int at_final_pairs(const at_record *r) {
    return (int)fmin(1 + 4 * turn_s / (2 * at_record_mean(r)), MOST_PAIRS);
}

/* What a turn will take beside the kernel's own runs: as a trial did, whose output is compared in
 * the same way. */
static double overhead_s(const at_spent *spent) {
    double trial_s = (double)spent->check_ns / (spent->measured > 0 ? spent->measured : 1) * 1e-9;
    return fmax(trial_s, turn_s);
}

/* What a finalist takes until there is something to compare it by: rounds of samples, or turns with
 * as many pairs as that wants. */
static double least_s(const at_session *s, const at_record *r) {
    bool pairs = at_anchor_config(s) != NULL;
    int of_turn = pairs ? at_final_pairs(r) : at_final_samples(r);
    int turns = pairs ? (AT_FEW_SAMPLES + of_turn - 1) / of_turn : AT_FINAL_LEAST;
    int runs = pairs ? 2 + 2 * of_turn : 1 + of_turn;
    return turns * (overhead_s(&s->spent) + runs * at_record_mean(r));
}

double at_final_sampling_s(const at_final_limits *limits, double share) {
    double clock_s = limits->clock_s + limits->other_s;
    return fmin(limits->core_s / 2, fmax(share, least_share) * clock_s / 3);
}

int at_final_number(const at_session *s, const at_record *const *top, int n,
                    const at_final_limits *limits) {
    double sum_s = 0, budget_s = at_anchor_config(s)
                                     ? at_final_sampling_s(limits, at_states_counting(s))
                                     : limits->core_s;
    int count = 0;
    while (count < n) {
        sum_s += least_s(s, top[count]);
        if (count >= AT_FINALISTS_LEAST && sum_s > budget_s) break;
        count++;
    }
    return count;
}
