/* cli/final.h: the best few of a run, timed again in turn, with the FMA peak measured beside each.
 */
#ifndef AT_CLI_FINAL_H
#define AT_CLI_FINAL_H

#include "cli/known.h"

enum { AT_FINALISTS = 5, AT_FINAL_ROUNDS = 5 };

typedef struct at_finalist {
    const at_result *result;
    at_candidate candidate;
    double costs_s[AT_FINAL_ROUNDS], peaks[AT_FINAL_ROUNDS];
    int rounds;    /* 0: it failed now */
    double time_s; /* medians */
    double peak_gflops, gflops, of_peak;
} at_finalist;

typedef struct at_final {
    at_finalist of[AT_FINALISTS];
    int count;
    const at_finalist *winner; /* NULL: none */
} at_final;

/* Lowest median wins. Samples go to the log as comment lines "#final {json}". Interrupted: the
 * samples so far decide. AT_E_OUTPUT, AT_E_BUG. */
at_status at_final_run(at_session *s, const at_known *known, at_log *log, at_final *out,
                       at_error *err);

#endif
