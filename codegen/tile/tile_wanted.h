/* codegen/tile/tile_wanted.h: which lanes of a tile's registers anything depends on
 * (tile_wanted.c): of registers that are stored in part, as tails are, machine code may work out a
 * part. */
#ifndef AT_CODEGEN_TILE_WANTED_H
#define AT_CODEGEN_TILE_WANTED_H

#include "codegen/tile/tile.h"

/* [num_regs + num_spilled], in a: on how many first lanes of a register anything depends, and of
 * one that the tile's own memory holds; 0: on none. */
const uint8_t *at_tile_wanted_lanes(at_arena *a, const at_tile *t);
/* Does each lane of dst come from the same one of the operands, and does nothing depend on lanes
 * behind the first half? wanted: at_tile_wanted_lanes. */
bool at_tile_is_half(const at_tile *t, const uint8_t *wanted, const at_tile_op *op);

#endif
