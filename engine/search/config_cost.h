/* engine/search/config_cost.h: the estimated times of a task's configurations, from their knobs
 * alone.
 *
 * A few microseconds a point: nothing is verified, lowered or measured. Estimates compare points of
 * one task; how near they are to the clock is in docs/notes/cost.md. */
#ifndef AT_ENGINE_CONFIG_COST_H
#define AT_ENGINE_CONFIG_COST_H

#include "cost/cost.h"
#include "engine/options.h"
#include "engine/search/recorded_space.h"
#include "templates/task.h"
#include "tuners/tuners.h"

typedef struct at_cost_model at_cost_model;

/* For kernels as the options have them made, on this machine: its own table where it has been
 * measured, else that of a core like it; nothing is measured now. Returns owned; borrows the task.
 */
at_cost_model *at_cost_model_new(const at_task *task, const at_engine_options *o);
/* The same with speeds that are built in: the same wherever it is asked for. */
at_cost_model *at_cost_model_built_in(const at_task *task, const at_engine_options *o);
/* As at_cost_model_new, but with this table, if it is given one before its first estimate. */
at_cost_model *at_cost_model_late(const at_task *task, const at_engine_options *o);
void at_cost_model_set(at_cost_model *m, const at_speed_table *table);
/* For this target and these speeds; mean_dynamic is the task's own. Borrows the task. */
at_cost_model *at_cost_model_of(const at_task *task, const at_estimate_options *o);
/* For a recorded space of a template: its own machine's table where it has one, else one that is
 * built in, never this machine's: a replay is the same everywhere. NULL: its instruction set is not
 * known.
 */
at_cost_model *at_cost_model_of_recorded(const at_recorded *r);
void at_cost_model_free(at_cost_model *m); /* NULL is fine */

/* out_ns[i]: estimated time of index[i], an index into the task's space; INFINITY where there is no
 * such configuration, it cannot be built, or it is beyond what is estimated. A finite estimate does
 * not say that the point is valid: at_task_program verifies. */
void at_cost_points(at_cost_model *m, const int64_t *index, int n, double *out_ns);
/* The same of one point, with what the time is made of; false: INFINITY. */
bool at_cost_point(at_cost_model *m, int64_t index, at_estimate *out);
/* The same of any configuration of the task, which need be no point of the space. */
bool at_cost_config(at_cost_model *m, const at_config *config, at_estimate *out);

/* As a tuner asks for them; m is borrowed. */
at_costs at_costs_of(at_cost_model *m);

#endif
