/* engine/measure/problem_room.h: whether the data of a problem fit this machine. */
#ifndef AT_ENGINE_PROBLEM_ROOM_H
#define AT_ENGINE_PROBLEM_ROOM_H

#include "engine/options.h"
#include "engine/task/problem.h"

/* Of each of its ways. AT_E_INPUT names the line that the problem is from. What is wrong with the
 * options is no problem's fault, and told later. */
at_status at_problem_room(const at_engine_options *o, const at_problem *p, at_error *err);

#endif
