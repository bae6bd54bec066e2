/* engine/final_rounds.h: the best few of a run, timed again in random order round after round, with
 * the FMA peak measured beside each, until their intervals part or the budget ends. */
#ifndef AT_ENGINE_FINAL_ROUNDS_H
#define AT_ENGINE_FINAL_ROUNDS_H

#include "engine/known_results.h"

enum { AT_FINALISTS = 32, AT_FINAL_ROUNDS = 40 }; /* at most */
enum { AT_FINAL_LEAST = 6 };                      /* rounds; fewer have no interval of 95 % */

typedef struct at_finalist {
    const at_result *result;
    at_candidate candidate;
    double costs_s[AT_FINAL_ROUNDS], peaks[AT_FINAL_ROUNDS];
    int rounds;                         /* -1: it failed now */
    bool is_behind;                     /* the leader, certainly */
    double time_s, peak_gflops, gflops; /* medians */
    at_interval of_peak;                /* of the shares, each of the peak of the moment */
} at_finalist;

typedef struct at_final {
    at_finalist of[AT_FINALISTS];
    int count;
    const at_finalist *winner; /* NULL: none */
    int tied;                  /* others that cannot be told from the winner */
} at_final;

/* Finalists are the best by their trials, as many as the budget has time for. Lowest median wins.
 * One is behind where the 95 % interval of its ratios to the winner, round by round, lies above 1;
 * it gets no more turns. The budget is a tenth of the run's time, at least 2 s; a turn that was
 * begun is finished. Turns go to the log as comment lines "#final {json}". Interrupted: the turns
 * so far decide. AT_E_OUTPUT, AT_E_BUG. */
at_status at_final_run(at_session *s, const at_known *known, at_log *log, at_final *out,
                       at_error *err);

#endif
