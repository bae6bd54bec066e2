/* engine/measure/timed_rounds.h: one kernel timed as well as a moment allows. */
#ifndef AT_ENGINE_TIMED_ROUNDS_H
#define AT_ENGINE_TIMED_ROUNDS_H

#include "engine/measure/measure.h"

/* Medians of the rounds, and how well the time is known; zeros where it failed. */
typedef struct at_timing {
    double time_s, gflops, of_peak;
    at_interval time; /* 95 %, of the rounds */
    int rounds;
    double of_bound; /* multiply-adds of its code over those at the peak; where above 1 they are the
                        peak that of_peak is of; 0: not known */
} at_timing;

/* The whole way, of a session that has begun: c is made, compiled, timed and dropped; what is left
 * in it is the kernel, where there is one. Rounds of samples, each with the peak beside it, for
 * 0.7 s; where the options ask for repeats of a number, those alone; result is of the last round.
 * That the kernel fails is a result. AT_E_INTERRUPTED AT_E_BUG, and at_candidate_compile's. */
at_status at_config_time(at_session *s, const at_config *config, at_candidate *c, at_record *result,
                         at_timing *t, at_error *err);

#endif
