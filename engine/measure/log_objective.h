/* engine/measure/log_objective.h: which state of the machine counts in a search. It is chosen once,
 * when a log begins, and stands in it (#objective lines). docs/notes/measuring.md */
#ifndef AT_ENGINE_LOG_OBJECTIVE_H
#define AT_ENGINE_LOG_OBJECTIVE_H

#include "engine/measure/known_results.h"

/* Before the first trial: the objective of the log; of one that begins now, what the options or
 * else the probes say. AT_E_OUTPUT */
at_status at_objective_begin(at_session *s, at_known *known, at_log *log, at_error *err);
/* AT_E_USAGE: the log began with another objective than the options ask for. */
at_status at_objective_check(const at_session *s, const at_known *known, at_error *err);
/* Outside of a search: this state counts, from now on. A log that has no objective yet is told.
 * log: NULL: there is none, and known is not asked. AT_E_OUTPUT */
at_status at_objective_take(at_session *s, at_objective o, at_known *known, at_log *log,
                            at_error *err);

#endif
