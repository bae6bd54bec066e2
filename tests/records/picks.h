/* tests/records/picks.h: at_pick_best of all records, for the objective of their log. */
#ifndef AT_TESTS_RECORDS_PICKS_H
#define AT_TESTS_RECORDS_PICKS_H

#include "records/best.h"

static inline at_status pick_all(at_arena *a, const char *const *inputs, int num_inputs,
                                 const char *output, at_force force, at_per per, at_warn_fn *warn,
                                 void *ctx, at_pick **picks, int *num_picks, at_error *err) {
    const at_pick_request q = {.logs = inputs,
                               .num_logs = num_inputs,
                               .per = per,
                               .output = output,
                               .force = force,
                               .warn = warn,
                               .warn_ctx = ctx};
    return at_pick_best(a, &q, picks, num_picks, err);
}

#endif
