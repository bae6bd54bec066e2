/* tests/sketch/interpreted.h: does a task's every sketch compute what its computation says? */
#ifndef AT_TESTS_INTERPRETED_H
#define AT_TESTS_INTERPRETED_H

#include "tests/any_task.h"

/* At its defaults for 4, 8 and 16 lanes and at random points, each of them interpreted. */
void check_task(at_arena *a, at_task *task);

#endif
