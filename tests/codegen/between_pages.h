/* tests/codegen/between_pages.h: machine code of a tile, run between guard pages against the
 * interpreter of tile programs. */
#ifndef AT_TESTS_BETWEEN_PAGES_H
#define AT_TESTS_BETWEEN_PAGES_H

#include "codegen/tile/tile_make.h"

enum { MAX_ARGS = 64, MAX_SLOTS = MAX_ARGS - AT_TILE_MAX_TRIPS };

extern bool entries_miss; /* every third of what index lists hold */
/* With several trip counts, and with operands at either end of their pages; name: in messages. */
void compare_tile(at_arena *a, at_tile *t, const char *name);
/* Where this CPU lacks the target's instructions, the test is skipped, and says so. */
void skip_without(const at_target *target);

#endif
