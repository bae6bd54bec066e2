/* tests/run/entities.h: random entities of one template, compiled and run: the whole output is that
 * of the expressions, bit by bit. Machine code under TinyCC for each instruction set of this CPU, C
 * with vector types under gcc.
 *
 * AT_COUNT: entities per shape for the best set (a fifth of it for the others, a sixth for gcc);
 * AT_SEED chooses others. Without AT_COUNT all ends after AT_SECONDS (default 60). */
#ifndef AT_TESTS_RUN_ENTITIES_H
#define AT_TESTS_RUN_ENTITIES_H

#include "tests/run/shape.h"

enum { MAX_SHAPES = 8 };

/* The whole of a test program; args: of the tasks. count where AT_COUNT does not say otherwise. */
int entities_main(const char *template_name, const char *const *args, int num_args, long count);

#endif
