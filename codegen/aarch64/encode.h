/* codegen/aarch64/encode.h: the function around a tile's vector code (encode.c), and what registers
 * of floats and of doubles put into it (neon.c, doubles.c). */
#ifndef AT_CODEGEN_AARCH64_ENCODE_H
#define AT_CODEGEN_AARCH64_ENCODE_H

#include "codegen/aarch64/aarch64.h"
#include "codegen/aarch64/asm.h"
#include "codegen/tile/reloads.h"
#include "codegen/tile/tile.h"

#define AT_A64_MAX_NEST 16
#define AT_A64_ELEMENT_REGISTERS 16 /* of whose 16 bits elements can be */
#define AT_A64_SCRATCH_VEC 31       /* what tiles have to spare: at_target.joining_regs */

typedef struct at_a64_patch {
    int at, entry; /* an instruction, and what it is to lead to */
} at_a64_patch;

typedef struct at_a64_lanes { /* bytes of a register, each the number of one of another's */
    uint8_t byte[16];
} at_a64_lanes;

typedef struct at_a64 at_a64;
struct at_a64 {
    at_a64_code code;
    const at_tile *t;
    int *slot_reg;  /* [slots]; -1: it lies in memory, */
    int *slot_home; /* there from sp; of the tile's own memory: where that begins */
    int64_t *moved; /* [slots]: bytes that its register is ahead of the pointer */
    at_reloads reloads;
    int trip_reg[AT_TILE_MAX_TRIPS]; /* -1: it lies in memory */
    int trip_home[AT_TILE_MAX_TRIPS];
    int counter_reg[AT_A64_MAX_NEST]; /* by depth; -1: on the stack */
    int counter_home[AT_A64_MAX_NEST];
    int saved[20], num_saved;    /* registers of the caller's; those of vectors from 32 on */
    AT_VEC(at_a64_lanes) tables; /* behind the code */
    AT_VEC(at_a64_patch) table_patches;
    AT_VEC(at_a64_patch) miss_patches; /* entry: the operation that has those numbers first */
};

#define EMIT(x, form, ...) at_a64_emit(&(x)->code, AT_A64_##form, (const int64_t[]){__VA_ARGS__})

/* encode.c: the register of vectors that one of the tile's is. The first ones need not be saved. */
static inline int at_a64_vector(int r) {
    return r < 8 ? r : r < 23 ? r + 8 : r < 31 ? r - 15 : AT_A64_SCRATCH_VEC;
}

static inline void at_a64_copy(at_a64 *x, int into, int from) { EMIT(x, ORR_V, into, from, from); }

/* A move of a register of 1, 2, 4, 8 or 16 bytes (log2 of it) to or from `at` bytes behind what the
 * operation's pointer leads to; x16 may change. */
void at_a64_move(at_a64 *x, const at_tile_op *op, bool store, int reg, int log2_bytes, int64_t at);
/* The register of a slot's pointer. Good until two others are asked for. */
int at_a64_pointer(at_a64 *x, int slot);
/* A register that holds that address; x16 where it is no pointer's own. */
int at_a64_address(at_a64 *x, const at_tile_op *op, int64_t at);
void at_a64_number(at_a64 *x, int reg, uint64_t number);
/* into = from + bytes; x17 changes where the number is large. */
void at_a64_add(at_a64 *x, int into, int from, int64_t bytes);
/* Lanes of register `from` as a table says, into another one. */
void at_a64_permute(at_a64 *x, int into, int from, const at_a64_lanes *lanes);

/* element_registers.c: the same tile with other registers, where elements of some are multiplied by
 * that an instruction takes of the first 16 alone; false: there are none. */
bool at_a64_place_elements(at_arena *arena, const at_tile *t, at_tile *placed);

/* scatter_lanes.c: vector joins a term with what memory holds. */
void at_a64_scatter(at_a64 *x, const at_tile_op *op, void (*vector)(at_a64 *, const at_tile_op *));

/* encode.c: the machine code of a tile; vector: what is done with registers. */
bool at_a64_encode(at_arena *arena, at_tile *t, void (*vector)(at_a64 *x, const at_tile_op *op));

#endif
