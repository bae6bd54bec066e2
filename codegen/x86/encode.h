/* codegen/x86/encode.h: the function around a tile's vector code (encode.c), and what each
 * instruction set puts into it (avx512.c, avx2.c, sse2.c). */
#ifndef AT_CODEGEN_X86_ENCODE_H
#define AT_CODEGEN_X86_ENCODE_H

#include "codegen/tile/reloads.h"
#include "codegen/tile/tile.h"
#include "codegen/x86/asm.h"
#include "codegen/x86/x86.h"

#define AT_X86_MAX_NEST 16
#define AT_X86_SCRATCH AT_RAX
#define AT_X86_SCRATCH_VEC 15 /* sse2, avx2: kept out of allocation by their rows in targets.c */

typedef struct at_x86 at_x86;
typedef struct at_x86_patch { /* a displacement from the end of its instruction */
    int at, end, entry;
} at_x86_patch;

/* Where the lanes of a load are from: lane i is number (i + plus)/by of a register,
 * or, where it is cyclic, (i + plus)%by. Or, where times
 * is given, number times*i (of -1 the last - i) of registers that lie behind each other in memory,
 * of which the first `part` are put together already (below 0: four by four are turned round). Or
 * of register `part` of those that a store to every so many floats leads to, where the first goes
 * to lane `plus`. bytes: the lanes that are bytes of this part of such a load; no others. merged:
 * those of AT_T_MERGE; 2: with a and b in each other's place. */
typedef struct at_x86_spread {
    int by, plus, cyclic, times, lanes, part, stored, grouped, bytes, merged;
} at_x86_spread;

/* How an instruction set does it. */
typedef struct at_x86_set {
    int width;                /* bytes of a register */
    int pool_bytes;           /* of a constant behind the code, */
    int number_bytes;         /* which repeats a float or a double */
    bool clears_upper;        /* vzeroupper at the end */
    void (*begin)(at_x86 *x); /* behind the prologue; NULL: nothing */
    /* Moves of some lanes; loads that are spread over lanes, or picked of every so many floats, and
     * stores to such; constants. NULL, all of them: vector has these, too. */
    void (*move)(at_x86 *x, const at_tile_op *op, bool store);
    void (*spread)(at_x86 *x, const at_tile_op *op);
    void (*pick)(at_x86 *x, const at_tile_op *op);
    void (*store_apart)(at_x86 *x, const at_tile_op *op);
    void (*constant)(at_x86 *x, const at_tile_op *op);
    void (*vector)(at_x86 *x, const at_tile_op *op); /* all else */
    void (*zip)(at_x86 *x, const at_tile_op *op);    /* of the first four lanes */
    void (*scatter)(at_x86 *x, const at_tile_op *op);
    void (*end)(at_x86 *x); /* data behind the code; NULL: none */
} at_x86_set;

struct at_x86 {
    at_asm code;
    const at_tile *t;
    const at_x86_set *set;
    int *slot_reg;  /* [slots]; -1: it lies in memory, */
    int *slot_home; /* there from rsp; of the tile's own memory: where that begins */
    at_reloads reloads;
    int trip_home[AT_TILE_MAX_TRIPS]; /* offset from rsp */
    int counter_reg[AT_X86_MAX_NEST]; /* by depth; -1: on the stack */
    int counter_home[AT_X86_MAX_NEST];
    uint16_t mask_of[8]; /* avx512: the lanes that a k register is a mask of, from k1 on; 0: none */
    int shared_mask; /* avx512: k register of lanes that have none, set wherever it is used; 0: none
                      */
    int scratch_now; /* what the scratch vector holds: avx2: a mask for so many lanes; an entry of
                        `spreads`: as -1, -2, ...; 0: nothing known */
    const uint8_t *wanted; /* avx512: at_tile_wanted_lanes */
    /* avx512: 1 + the entry of `spreads` that a register holds throughout; 0: none */
    uint8_t kept[32];
    AT_VEC(at_x86_patch) mask_patches; /* avx2: displacements to the mask table; entry: lanes */
    AT_VEC(uint64_t) pool;             /* constants behind the code, each `pool_bytes` long */
    AT_VEC(at_x86_patch) pool_patches;
    AT_VEC(at_x86_spread) spreads; /* behind these, a byte per lane: where it is from */
    AT_VEC(at_x86_patch) spread_patches;
    /* Addresses of numbers that a pointer may lead to; entry: the operation that has them first. */
    AT_VEC(at_x86_patch) miss_patches;
    /* Of a tile with scatters: the slot of the pointer to a place, and that to places and terms,
     * which lie in a line of the cache from there in the frame. */
    int place_slot, frame_slot, scatter_home;
    int spilled_home;        /* bytes from rsp to where registers are spilled */
    int product_reg;         /* for AT_T_INDEX; -1: none is left */
    int saved[6], num_saved; /* callee-saved registers in use */
};

/* An instruction without embedded broadcast or mask. */
#define EMIT(x, op, ...)                                                                           \
    at_asm_emit(&(x)->code, AT_X86_##op, 0, false,                                                 \
                sizeof((at_x86_arg[]){__VA_ARGS__}) / sizeof(at_x86_arg),                          \
                (at_x86_arg[]){__VA_ARGS__})

static inline at_x86_arg at_x86_reg(const at_x86 *x, int r) { return at_vec(r, x->set->width); }

/* encode.c: the register of a slot's pointer, which is loaded where it lies in memory; good until
 * two other pointers are asked for. Of an operation, what it reads or writes. */
int at_x86_pointer(at_x86 *x, int slot);
at_x86_arg at_x86_memory(at_x86 *x, const at_tile_op *op, int bytes);
/* Are elements in memory integers with a sign? */
static inline bool at_x86_has_sign(const at_x86 *x, const at_tile_op *op) {
    const at_type_facts *type = at_type_of(x->t->slot_type[op->slot]);
    return type->is_int && type->least < 0;
}
/* An element that is narrower than a lane, in a register for integers. */
at_x86_arg at_x86_narrow_element(at_x86 *x, const at_tile_op *op);
/* Instructions of AVX and later sets, of sets of 64-byte registers all but AND and OR. */
extern const at_x86_op at_x86_arithmetic[AT_T_KIND_COUNT];

/* encode.c: an operation's constant as a memory operand, and, right behind the instruction that has
 * it and ends in so many bytes of immediate operands, where that is. */
static inline at_x86_arg at_x86_constant(int bytes) { return at_mem(AT_RIP, 0x10000000, bytes); }
void at_x86_point(at_x86 *x, const at_tile_op *op, int immediate_bytes);

/* avx512.c: mask registers, at entry, and the one for so many lanes, the first of a register. */
void at_x86_set_masks(at_x86 *x);
at_x86_arg at_x86_mask(at_x86 *x, int lanes);

/* halves.c: a load, of one for all lanes too, or a store of floats of 16 bits. */
void at_x86_move_halves_avx2(at_x86 *x, const at_tile_op *op, bool store);
void at_x86_move_halves_sse2(at_x86 *x, const at_tile_op *op, bool store);

/* integers_sse2.c: a load or store of narrower integers; a product, the least or the largest of
 * those of 32 bits; a dot product of s16. */
void at_x86_move_narrow_sse2(at_x86 *x, const at_tile_op *op, bool stores);
void at_x86_integers_sse2(at_x86 *x, const at_tile_op *op);
void at_x86_dot_sse2(at_x86 *x, const at_tile_op *op);

/* narrow.c: arithmetic with integers of 8 and 16 bits. */
void at_x86_narrow(at_x86 *x, const at_tile_op *op);

/* bytes.c: a load of every so many bytes, each to a lane. */
void at_x86_pick_bytes(at_x86 *x, const at_tile_op *op);

/* scatter_lanes.c: for at_x86_set.scatter of each set. */
void at_x86_scatter(at_x86 *x, const at_tile_op *op);

/* permute.c: where the lanes of a load that is spread or picked are from: which entry of `spreads`
 * that is, and, right behind the instruction whose last operand it is, as bytes in memory; the
 * entries, behind the code. part: of what is picked. */
int at_x86_spread_entry(at_x86 *x, const at_tile_op *op, int part);
int at_x86_merge_entry(at_x86 *x, const at_tile_op *op, bool swapped);
int at_x86_bytes_entry(at_x86 *x, const at_tile_op *op, int part);
/* The first of four entries that turn four by four round: lanes of a register, or bytes in each
 * quarter of it. */
int at_x86_quarters_entry(at_x86 *x);
void at_x86_point_spread(at_x86 *x, int entry);
at_x86_op at_x86_cut(const at_tile_op *op);
at_x86_op at_x86_dot(const at_tile_op *op); /* the instruction of a dot product */
void at_x86_spreads(at_x86 *x);

/* encode.c: the machine code of a tile, for at_target.encode of each set. */
bool at_x86_encode(at_arena *arena, at_tile *t, const at_x86_set *set);

#endif
