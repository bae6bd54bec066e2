/* engine/search/config_pick.h: a configuration without measuring anything: the one that
 * estimates put first. */
#ifndef AT_ENGINE_CONFIG_PICK_H
#define AT_ENGINE_CONFIG_PICK_H

#include "engine/options.h"
#include "templates/task.h"

/* The best of the proposals that a search would begin with, and of the default configuration, by
 * their estimates. out lives in a. *time_s: what it is estimated to take; INFINITY: nothing is
 * known, and it is the default. Errors are those of the default configuration. */
at_status at_config_pick(at_arena *a, const at_engine_options *o, const at_task *task,
                         at_config *out, double *time_s, at_error *err);
/* What that one takes by speeds that are built in: the same wherever it is asked for. INFINITY:
 * nothing is known. */
double at_config_cost(const at_engine_options *o, const at_task *task);
/* The seconds that a configuration is estimated to take; 0: it has no estimate. */
double at_config_seconds(const at_engine_options *o, const at_task *task, const at_config *config);
/* Seconds that the threads of the options are estimated to save of what one of them would take. */
double at_config_saved(const at_engine_options *o, const at_task *task, const at_config *config);

#endif
