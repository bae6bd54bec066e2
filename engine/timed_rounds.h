/* engine/timed_rounds.h: one kernel timed as well as a moment allows. */
#ifndef AT_ENGINE_TIMED_ROUNDS_H
#define AT_ENGINE_TIMED_ROUNDS_H

#include "engine/measure.h"

/* Medians of the rounds, and how well the time is known; zeros where it failed. */
typedef struct at_timing {
    double time_s, gflops, of_peak;
    at_interval time; /* 95 %, of the rounds */
    int rounds;
} at_timing;

/* Rounds of samples, each with the peak beside it, for 0.7 s; where the options ask for repeats of
 * a number, those alone. c is compiled; result is what at_candidate_make began, and ends with the
 * last round. AT_E_INTERRUPTED AT_E_BUG */
at_status at_candidate_time(at_session *s, at_candidate *c, at_record *result, at_timing *t,
                            at_error *err);
/* The whole way, of a session that has begun: c is made, compiled, timed and dropped; what is left
 * in it is the kernel, where there is one. That it fails is a result. Errors as above, and
 * at_candidate_compile's. */
at_status at_config_time(at_session *s, const at_config *config, at_candidate *c, at_record *result,
                         at_timing *t, at_error *err);

#endif
