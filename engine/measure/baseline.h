/* engine/measure/baseline.h: what one has without a tuner: plain loops over the computation,
 * compiled by gcc, timed in alternation with the winner. */
#ifndef AT_ENGINE_BASELINE_H
#define AT_ENGINE_BASELINE_H

#include "engine/measure/measure.h"

#define AT_BASELINE_FLAGS "-O3 -march=native -ffast-math -fno-finite-math-only"

typedef struct at_baseline {
    double ratio;    /* their time over the winner's; 0: they were not timed */
    const char *why; /* where they were asked for and not timed; else NULL */
} at_baseline;

/* The session's worker has data and runs nothing. AT_E_INTERRUPTED AT_E_OUTPUT AT_E_BUG */
at_status at_baseline_time(at_session *s, const at_config *winner, at_baseline *out, at_error *err);

#endif
