/* remote/simulate.h: a search with any number of workers that are made up, over a recorded space.
 * The search is the real one (engine/far/far_search.h) with its log, its messages are made and
 * read, and the processor time of all that is charged; only workers and network are numbers. */
#ifndef AT_REMOTE_SIMULATE_H
#define AT_REMOTE_SIMULATE_H

#include "engine/engine.h"

typedef struct at_simulation {
    int workers;
    int64_t trials;   /* at most the points of the space */
    double trial_s;   /* what each takes; 0: 2 ms and five runs of what is recorded */
    double latency_s; /* of a message, each way */
    double losses; /* share of trials with which their worker is lost; it is back after a second */
} at_simulation;

typedef struct at_simulated {
    int64_t trials, measured; /* others were the same program as an earlier one */
    double seconds;           /* of the whole search */
    double per_second;        /* of those measured, when all workers are at work */
    double search_share;      /* of that time the search itself was busy */
    double to_95_s;           /* until 95 % of the best recorded speed; INFINITY: not reached */
    int64_t to_95_trials;
} at_simulated;

/* o: tuner, seed, features. AT_E_USAGE: a space without a template here. AT_E_OUTPUT */
at_status at_simulate(const at_recorded *r, const at_engine_options *o, const at_simulation *what,
                      at_simulated *out, at_error *err);

#endif
