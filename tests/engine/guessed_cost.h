/* tests/engine/guessed_cost.h: the cost model of a machine that was never measured. */
#ifndef AT_TESTS_ENGINE_GUESSED_COST_H
#define AT_TESTS_ENGINE_GUESSED_COST_H

#include "cost/cost.h"
#include "engine/search/config_cost.h"

/* With the core's own caches and 32 MB behind them, on one thread. */
static inline at_cost_model *guessed_cost(const at_task *t, const at_target *target,
                                          const at_core *core) {
    at_speeds speeds;
    at_speeds_guess(core, target, &speeds);
    return at_cost_model_of(
        t, &(at_estimate_options){.target = target,
                                  .speeds = &speeds,
                                  .cache_bytes = {core->l1d_bytes, core->l2_bytes, 1 << 25},
                                  .threads = 1});
}

#endif
