/* tests/codegen/hand_made.h: tile programs put together operation by operation. */
#ifndef AT_TESTS_HAND_MADE_H
#define AT_TESTS_HAND_MADE_H

#include "codegen/tile/tile_make.h"

/* A tile being put together, and the instructions wanted for it. */
typedef struct maker {
    at_arena *arena;
    at_tile t;
    AT_VEC(at_tile_op) ops;
    at_text want;      /* a line each, as objdump writes them */
    int memory;        /* operands so far: each has another slot and offset */
    int mask[17];      /* avx512: register by lanes */
    unsigned masks[8]; /* of stores to every so many floats: from k1 on */
    int num_masks;
    int mask_now; /* avx2; below 0: the scratch register holds where lanes of loads are from */
    int plus_now;
} maker;

/* One slot more than that has a name: for registers that are spilled. */
maker start_tile(at_arena *a, const at_target *target, int num_slots, int num_trips);
at_tile_op *add_op(maker *m, int kind);
/* The last slot but one is then an index list, the last a pointer made of it. */
void add_list(maker *m);
at_tile_op *add_index(maker *m, int base, int64_t off, int64_t stride);
/* A further digit of the same entry. */
void add_digit(maker *m, int64_t stride, int times, int plus, int by);
void add_loop(maker *m, int64_t trip, int trip_arg);
void add_bump(maker *m, int slot, int64_t by, int trip_arg);
at_tile_op *add_move(maker *m, int kind, int reg, int slot, int64_t off, int lanes);
at_tile_op *add_arithmetic(maker *m, int kind, int dst, int a, int b);
at_tile *finish(maker *m);

#endif
