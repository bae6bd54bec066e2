/* tests/run/entities.h: random entities of some tasks, compiled and run: the whole output is that
 * of the expressions, bit by bit. Machine code under TinyCC for each instruction set of this CPU, C
 * with vector types under gcc and clang.
 *
 * AT_COUNT: entities per task for the best set (a fifth of it for the others; gcc and clang: a
 * sixth, and a thirtieth for the others); AT_SEED chooses others; AT_ONLY: a pattern of tests'
 * names, as avx2 or gcc. Without AT_COUNT all ends after AT_SECONDS (default 60). */
#ifndef AT_TESTS_RUN_ENTITIES_H
#define AT_TESTS_RUN_ENTITIES_H

#include "tests/run/shape.h"

typedef struct entities_of {
    const char *template_name, *args;
} entities_of;

/* The whole of a test program; count: per task, where AT_COUNT does not say otherwise. */
int entities_main(const char *name, const entities_of *tasks, int num_tasks, long count);

#endif
