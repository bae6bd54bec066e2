/* tests/run/text_mutant.h: one change of a computation's expressions: a term, an operation, a
 * guard, a bound, an index off by one, a constant; everywhere, or in some elements only, as of a
 * lane. */
#ifndef AT_TESTS_RUN_TEXT_MUTANT_H
#define AT_TESTS_RUN_TEXT_MUTANT_H

#include "schedule/schedule.h"

typedef struct text_mutant {
    const char *what, *text; /* text: of the stage's body as it is then */
    int stage;
    int axis; /* it is in elements with this value of this axis of the stage alone; -1: in all */
    int64_t at;
    at_expr **slot, *before;
} text_mutant;

/* Makes the change in c itself; false: none was found. */
bool text_mutate(at_arena *a, at_compute *c, int64_t *const *extents, at_rng *rng,
                 text_mutant *out);
void text_restore(const text_mutant *m);

#endif
