/* engine/tune_set_int.h: the parts of a run of several tasks (tune_set.c). */
#ifndef AT_ENGINE_TUNE_SET_INT_H
#define AT_ENGINE_TUNE_SET_INT_H

#include "engine/tune_set.h"

/* tune_set_turn.c. Data, reference and worker of this task, and no other worker. */
at_status at_set_switch_to(at_set_tuning *t, int number, at_error *err);
/* Do the data of all tasks stay in memory while they wait? */
bool at_set_keeps_all(const at_set_tuning *t);

/* tune_set_rounds.c. Rounds of trials until the budget or the time ends; 0: no deadline. */
at_status at_set_run_rounds(at_set_tuning *t, int64_t deadline_ns, at_error *err);
/* Of ways of doing one thing each gets half of an equal share before they compete, in turn: what a
 * few trials find tells little of it. Beside other problems, which want a result as well, each has
 * a short round: 0. */
int64_t at_set_first_trials(const at_set_tuning *t);
/* The time of the best of the trials done: the log may know of better ones that this search has not
 * come to. 0: none is valid. */
double at_set_best_s(const at_set_tuning *t, const at_set_member *m);
/* Is there no worker elsewhere, not even a context whose results of the log could count? */
bool at_set_nobody_came(const at_set_tuning *t);
/* Did the time go to make a task's data? It is told; what the others have found stays. */
bool at_set_is_time_up(const at_set_tuning *t, at_status status, int64_t deadline_ns,
                       const at_error *err);

#endif
