/* codegen/tile/tile_parts.h: what a tile is made of: into how large parts it is cut so that its
 * sums fit the registers, which loops around it are its own, how far reductions are unrolled.
 * Functions of the instruction set and a few numbers of the tree alone, for lowering and for
 * estimates of what it will come to (cost/). */
#ifndef AT_CODEGEN_TILE_PARTS_H
#define AT_CODEGEN_TILE_PARTS_H

#include "codegen/target.h"
#include "schedule/tree.h"

#define AT_PARTS_MAX 4 /* pieces of one tile that may be cut */

/* The innermost loop of a sum over few elements goes several steps at a time
 * (at_tile_thin_steps): operations of a step up to which it does, and the most steps. */
#define AT_THIN_OPS 16
#define AT_THIN_STEPS 8
/* Of a sum's body, a reduction being unrolled: three steps of 28 multiply-adds. Longer ones leave
 * the cache of decoded instructions (measured on Sapphire Rapids: 0.86 of the peak instead of
 * 0.90). */
#define AT_TILE_SUM_OPS 176
#define AT_TILE_STRAIGHT_OPS 500 /* of one that no loop of the tile repeats */
#define AT_TILE_CHAINS 8         /* multiply-adds under way at once: latency 4 on 2 units */
#define AT_TILE_SQUARE 4         /* elements of 32 bits each way that are turned round at once, */
#define AT_TILE_MOST_SQUARE 16   /* and the most of fewer bits: as many as are as long */
/* Cells along what such squares are stored to, of `cells` there: as many squares beside each other,
 * each of `side`, are turned round at once as a register, or a part of one, holds. */
static inline int64_t at_tile_squares_width(const at_target *t, int side, int64_t cells) {
    int64_t width = (int64_t)t->lanes / AT_TILE_SQUARE * side;
    while (width > side && (!t->gnu_insert || cells < width)) width /= 2;
    return width;
}

typedef struct at_part { /* a piece: a loop of that name in every nest of the tile */
    bool vector;         /* else unrolled */
    int64_t extent;
    int64_t size; /* of a part, as it is chosen; the last one may be smaller */
} at_part;

/* One part each, where the tile fits the registers as it is. other_regs: registers of a sum along
 * what is not cut, at least 1. beside: those that functions behind the sum take besides all of its
 * accumulators. */
void at_tile_parts(const at_target *target, at_part *parts, int n, int64_t other_regs,
                   int64_t beside);

/* Is a counted loop around the leaves of a tile the tile's own? ops: operations of the leaves, all
 * written out; of few a call for each turn would take as long as they do. */
bool at_tile_takes_turns(at_ann ann, bool is_reduce, double ops);
/* Operations of a body at most, as a reduction is unrolled; is_repeated: by a loop of the tile. */
int64_t at_tile_sum_ops(bool is_repeated);
/* Steps that a thin sum of so many goes at a time. */
int64_t at_tile_thin_steps(int64_t turns);
/* Turns of a loop to keep unrolled, each `unit` of them `ops` operations: the largest divisor
 * within `most`, a multiple of unit; unit where there is none. */
int64_t at_tile_unrolled_turns(int64_t turns, int64_t unit, double ops, int64_t most);
/* Partial results of each of so many sums, so that `busy` operations are under way at once; beside:
 * registers that the sums cannot have. */
int64_t at_tile_chains(const at_target *target, double sums, int busy, int beside);

#endif
