/* engine/final/final_budget.h: how long a final may take, and how many kernels and runs fit into
 * that. */
#ifndef AT_ENGINE_FINAL_BUDGET_H
#define AT_ENGINE_FINAL_BUDGET_H

#include "engine/measure/known_results.h"

enum { AT_FINALISTS_LEAST = 4 }; /* however long they take, where there are as many */
enum { AT_FINAL_LEAST = 6 };     /* rounds timed alone; fewer have no interval of 95 % */

/* Seconds: of the time that the worker has its core, and by the clock, where others take the core
 * away. What was timed in another state than the one that counts is in neither, up to other_s by
 * the clock. */
typedef struct at_final_limits {
    double core_s, clock_s, other_s;
} at_final_limits;
/* What a final has taken, all of it and what of it was in other states. */
typedef struct at_final_spent {
    double core_s, clock_s, other_core_s, other_clock_s;
} at_final_spent;
/* As a share of what it may take. */
double at_final_share(const at_final_limits *limits, const at_final_spent *spent);

/* So many times as long as usual, 1 to 4, where pairs of trials deviate that much
 * (at_states_deviation). */
double at_final_times(double deviation);
/* A tenth of the session's time so far, and at least as long as that was, between 1 and 3 s; in
 * pairs as long as 1,500 of the best take, if that is more, but no more than a fifth; so many times
 * that, but no more than a third, or, of a short session, three quarters and 4 s. pair_s: 0 where
 * there are none. */
double at_final_core_s(double so_far_s, double pair_s, double times);
/* That; twice as much by the clock, and as much again for other states; but no more than what is
 * left of its time limit. */
at_final_limits at_final_budget(const at_session *s, const at_known *known);
/* What of a time limit for the whole run is kept for the final. */
double at_final_reserve(double time_s);

/* What a turn of this finalist has: samples where it is timed alone, or pairs with an anchor. */
int at_final_samples(const at_record *r);
int at_final_pairs(const at_record *r);
/* Seconds that pairs which count may take until each finalist has enough of them (AT_FEW_SAMPLES):
 * half of the final's time on the core, but no more than come in a third of its time by the clock,
 * where this share of all pairs counts. */
double at_final_sampling_s(const at_final_limits *limits, double share);
/* Single trials differ by more than the best few do from one another: as many of the n best as the
 * least number of rounds leaves time for; in pairs, as can have enough of them in that time. */
int at_final_number(const at_session *s, const at_record *const *top, int n,
                    const at_final_limits *limits);

#endif
