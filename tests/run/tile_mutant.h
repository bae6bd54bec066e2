/* tests/run/tile_mutant.h: one change of a lowered kernel: an operation of a tile, which is encoded
 * again, or a statement of the C around them. */
#ifndef AT_TESTS_RUN_TILE_MUTANT_H
#define AT_TESTS_RUN_TILE_MUTANT_H

#include "codegen/codegen.h"

typedef struct tile_mutant {
    const char *what, *where; /* where: the operation or the line, as it is then */
    const char *source;
    const at_tile_code *codes; /* [num_tiles] */
} tile_mutant;

/* Everything is in a, or the kernel's; false: what was drawn offers no change. */
bool tile_mutate(at_arena *a, const at_kernel *k, at_rng *rng, tile_mutant *out);

#endif
