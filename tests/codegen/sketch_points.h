/* tests/codegen/sketch_points.h: random points of all sketches of a computation, run in every form
 * that lowering gives them and compared with the interpreter of the computation before all edits.
 */
#ifndef AT_TESTS_SKETCH_POINTS_H
#define AT_TESTS_SKETCH_POINTS_H

#include "tests/any_task.h"
#include "tests/codegen/phases.h"
#include "tests/setting.h"

typedef struct batch batch; /* points waiting to be run, and what came of the others */
batch *batch_open(void);
/* Prints the sums, and fails if a point was refused or wrong. of: so many computations of what. */
void batch_close(batch *b, const char *of, long computations);

/* So many points of each sketch; what: names the computation where something is wrong. That of a
 * random program, whose tree is of no interest, and that of a task. */
void check_random(batch *b, const char *what, const random_program *p, int points);
void check_plain(batch *b, const char *what, at_task *task, int points);

/* The task of a file of examples/te, or with its folder of another. */
at_task *task_of_file(at_arena *a, const char *file, const char *args);
/* The task of a random computation, whose tree is left open. */
at_task *task_of_random(at_arena *a, const random_program *p);

#endif
