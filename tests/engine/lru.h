/* tests/engine/lru.h: a lowered program run through caches that forget the least recently used.
 *
 * Nothing is reckoned: loops are gone through, every operation of a tile touches the lines of its
 * operand, and each level counts what it did not have. The memory that a tile has of its own, where
 * long sums are kept, is left out: one or two thousand bytes that are always at hand would be a
 * quarter of caches as small as tests ask for. */
#ifndef AT_TESTS_LRU_H
#define AT_TESTS_LRU_H

#include "codegen/lowered.h"

enum { LRU_LEVELS = 3, LRU_LINE = 16 /* elements */ };

typedef struct lru_counts {
    double lines[LRU_LEVELS]; /* that a level of these sizes had to be given */
    double touched;           /* different lines, all together */
    double touches;
    bool complete; /* the program was run to its end */
} lru_counts;

/* bytes: of each cache, ascending. Stops after so many touches, and where a list is read. */
lru_counts lru_run(at_arena *a, const at_lowered *p, const int64_t bytes[LRU_LEVELS],
                   double most_touches);

#endif
