/* engine/search/config_pick.c: see config_pick.h. */
#include "engine/search/config_pick.h"

#include <math.h>

#include "engine/measure/target_here.h"
#include "engine/search/config_cost.h"
#include "engine/search/kept_picks.h"

enum { PROPOSALS = 16 };
/* The default is seldom bad: another one has to be faster by so much. */
static const double enough = 0.97;

/* Of configurations that take about as long, those whose sums do not wait in memory err less. */
static const double exact = 0.95;

static double weighed(const at_estimate *e) { return e->waits ? e->ns / exact : e->ns; }

/* What the default tuner would try first; how many. */
static int first_proposals(const at_task *task, at_cost_model *costs, bool roughly, int64_t *out) {
    at_tuner *tuner;
    const at_tuner_options to = {.costs = at_costs_of(costs), .is_rough = roughly};
    if (at_tuner_new(at_tuner_default(), at_task_space(task), &to, &tuner, NULL) != AT_OK) return 0;
    int n = at_tuner_next(tuner, out, PROPOSALS);
    at_tuner_free(tuner);
    return n;
}

/* Can the point be built? */
static bool is_valid(const at_task *task, int64_t index) {
    at_arena *a = at_arena_new();
    at_config config;
    at_program *program;
    bool valid = at_config_at(a, at_task_space(task), index, &config, NULL) == AT_OK &&
                 at_task_program(a, task, &config, &program, NULL) == AT_OK;
    at_arena_free(a);
    return valid;
}

/* The best of the proposals and of the default, whose configuration this is. */
static at_kept_pick best_of(const at_task *task, at_cost_model *costs, bool roughly,
                            const at_config *standard) {
    int64_t proposals[PROPOSALS];
    at_kept_pick best = {.index = -1, .ns = INFINITY};
    double least = INFINITY;
    at_estimate e;
    if (at_cost_config(costs, standard, &e)) best.ns = e.ns, least = weighed(&e) * enough;
    int n = first_proposals(task, costs, roughly, proposals);
    for (int i = 0; i < n; i++) {
        if (!at_cost_point(costs, proposals[i], &e) || weighed(&e) >= least ||
            !is_valid(task, proposals[i]))
            continue;
        best = (at_kept_pick){proposals[i], e.ns};
        least = weighed(&e);
    }
    return best;
}

/* everywhere: by the speeds that are built in, and roughly. */
static at_status pick(at_arena *a, const at_engine_options *o, const at_task *task, bool everywhere,
                      at_config *out, double *time_s, at_error *err) {
    at_kept_pick best;
    char key[33];
    AT_TRY(at_task_default_config(
        a, task, at_engine_target_for(o, at_task_compute(task))->default_lanes, out, err));
    const bool has_key = at_pick_key(o, task, out, everywhere, key);
    if (!has_key || !at_pick_kept(key, &best) || (best.index >= 0 && !is_valid(task, best.index))) {
        at_cost_model *costs =
            everywhere ? at_cost_model_built_in(task, o) : at_cost_model_new(task, o);
        best = best_of(task, costs, everywhere, out);
        at_cost_model_free(costs);
        if (has_key && !at_halts()) at_pick_keep(key, &best);
    }
    *time_s = best.ns * 1e-9;
    return best.index < 0 ? AT_OK : at_config_at(a, at_task_space(task), best.index, out, err);
}

at_status at_config_pick(at_arena *a, const at_engine_options *o, const at_task *task,
                         at_config *out, double *time_s, at_error *err) {
    return pick(a, o, task, false, out, time_s, err);
}

double at_config_cost(const at_engine_options *o, const at_task *task) {
    at_arena *a = at_arena_new();
    at_config config;
    double time_s;
    if (pick(a, o, task, true, &config, &time_s, NULL) != AT_OK) time_s = INFINITY;
    at_arena_free(a);
    return time_s;
}

static bool estimate(const at_engine_options *o, const at_task *task, const at_config *config,
                     at_estimate *out) {
    at_cost_model *costs = at_cost_model_new(task, o);
    const bool is_known = at_cost_config(costs, config, out);
    at_cost_model_free(costs);
    return is_known;
}

double at_config_seconds(const at_engine_options *o, const at_task *task, const at_config *config) {
    at_estimate e;
    return estimate(o, task, config, &e) ? e.ns * 1e-9 : 0;
}

double at_config_saved(const at_engine_options *o, const at_task *task, const at_config *config) {
    at_estimate e;
    return estimate(o, task, config, &e) ? (e.alone_ns - e.ns) * 1e-9 : 0;
}
