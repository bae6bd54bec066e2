/* codegen/tile/tile_pick.h: loads and stores of every so many floats, by whole registers
 * (tile_pick.c, tile_group.c). */
#ifndef AT_CODEGEN_TILE_PICK_H
#define AT_CODEGEN_TILE_PICK_H

#include "codegen/tile/tile.h"

/* tile_pick.c: a load of every so many floats as loads of whole registers, of which lanes are
 * taken. Those begin at these elements behind the first one, so that none reaches beyond the last
 * one: how many; at: [AT_TILE_MAX_PICKS], `lanes` floats each. */
int at_tile_pick_parts(const at_tile_op *op, int lanes, int *at);
/* Floats of the first one, which are fewer where it is the only one. */
int at_tile_pick_first(const at_tile_op *op, int lanes);
/* The lane that lane i is from once that part is loaded: of the part, `lanes` and more; of what is
 * put together before it, less. */
int at_tile_pick_lane(const at_tile_op *op, int lanes, int part, int i);
/* Four lanes of such a load, from this one on, out of two loads of four floats: where these begin,
 * none of which reaches beyond the last one that is asked for, and which of the eight each lane is.
 * false: steps are too wide for that, or it ends too early. */
bool at_tile_pick_four(const at_tile_op *op, int lane, int at[2], int from[4]);
/* Does it load every second of 15 floats? They are 0, 2, 4 and 6 of the first eight, and 1, 3, 5
 * and 7 of the last. */
bool at_tile_picks_second(const at_tile_op *op);
/* Is a store to every so many floats one of registers of which masks let lanes be written? Else
 * they are stored one by one. */
static inline bool at_tile_stores_by_masks(const at_target *t, const at_tile_op *op) {
    return t->masked_stores && op->times <= AT_TILE_WHOLE_STEP;
}
/* How many floats lie between the first that a load or store moves and the last, both included. */
int64_t at_tile_span(const at_tile_op *op);
/* Of a store to every so many floats: in how many registers these lie, and where each begins, which
 * may be before the first; which lane of the value lane i of one is (-1: none, and nothing is
 * written there), and the lanes that are written, as bits. */
int at_tile_spread_parts(const at_tile_op *op, int lanes);
int at_tile_spread_lane(const at_tile_op *op, int lanes, int part, int i);
int64_t at_tile_spread_at(const at_tile_op *op, int lanes, int part);
uint32_t at_tile_spread_mask(const at_tile_op *op, int lanes, int part);
/* What stands before it in its group of `times`: all stores to a group begin at the same place, so
 * that they do not cut lines of the cache in different places. */
int at_tile_spread_before(const at_tile_op *op);

#endif
