/* tests/cli/made_space.h: a space that was recorded without running anything: a log with a result
 * for each point of a small task. */
#ifndef MADE_SPACE_H
#define MADE_SPACE_H

#include "tests/cli/cli_test.h"

#define MADE_TASK "conv2d_3x3_gemm"
#define MADE_ARGS "N=1,H=7,W=7,CI=16,CO=16"

enum { MADE_MOST = 4000 };

extern int made_points;                /* of the space */
extern double made_times_s[MADE_MOST]; /* [made_points] by index; INFINITY: a failure */
extern double made_best_s;             /* the least of them */

/* Group setup, as cli_setup: writes space.log, every point of the space, the seventh of each dozen
 * a failure, and other.log, the same times of a task with twice the output channels. */
int made_space_setup(void **state);

#endif
