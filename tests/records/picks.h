/* tests/records/picks.h: at_pick_best of all records, for the objective of their log. */
#ifndef AT_TESTS_RECORDS_PICKS_H
#define AT_TESTS_RECORDS_PICKS_H

#include "records/best.h"

static inline at_status pick_all(at_arena *a, const char *const *inputs, int num_inputs,
                                 const char *output, at_force force, at_per per, at_warn_fn *warn,
                                 void *ctx, at_pick **picks, int *num_picks, at_error *err) {
    return at_pick_best(a, inputs, num_inputs, NULL, NULL, AT_OBJECTIVE_NONE, output, force, per,
                        NULL, warn, ctx, picks, num_picks, err);
}

#endif
