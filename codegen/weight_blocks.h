/* codegen/weight_blocks.h: blocks of weights that are asked for ahead, as lowering does it and
 * estimates count it. */
#ifndef AT_CODEGEN_WEIGHT_BLOCKS_H
#define AT_CODEGEN_WEIGHT_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

enum { AT_LINE_BYTES = 64 }; /* of a cache, that is asked for as one */

typedef struct at_weights_loop { /* a loop around a read of weights */
    int64_t extent, growth;      /* growth: elements from one turn to the next */
    bool is_reduce, is_written_out;
} at_weights_loop;

/* Bytes that blocks may take where the second-level cache has so many. */
int64_t at_ahead_room(int64_t l2_bytes);
/* The outermost of n loops, the outer ones first, that goes from block to block, of blocks that are
 * gone through several times and of which two have room; -1: there is none. */
int at_ahead_loop(const at_weights_loop *all, int n, int64_t room_elements);
/* Turns of the loops inside of loop b that a tile does not write out: each asks once. */
int64_t at_ahead_turns(const at_weights_loop *all, int n, int b);

#endif
