/* codegen/tile/tile.h: the tile program, last product of the passes and input of every printer.
 *
 * A tile is a function of pointers (slots) and trip counts. Structured: nested counted loops around
 * straight-line code over numbered vector registers. Memory operands are slot + constant offset, in
 * elements; slots are bumped by loops. A slot may point to an index list: an entry of it, times a
 * stride, makes a further pointer of another slot (the columns of block-sparse weights). A register
 * holds `lanes` floats of the instruction set (or doubles: at_target.is_double; memory holds
 * floats); an operation may concern only the first few (`lanes` of the operation: tails).
 * Accumulators stay in registers from their first to their last operation. */
#ifndef AT_CODEGEN_TILE_H
#define AT_CODEGEN_TILE_H

#include <math.h>
#include <string.h>

#include "codegen/ir.h"
#include "codegen/target.h"
#include "codegen/tile/tile_parts.h"

typedef enum at_tile_kind {
    AT_T_LOOP, /* trip (constant) or trip_arg times; of a passed count n, where `by` is given, n/by
                  times, and where `most` is given what that leaves divided by it */
    AT_T_END,
    AT_T_BUMP,     /* slot += bump (* trip argument trip_arg, if >= 0) */
    AT_T_PREFETCH, /* memory will be read soon */
    AT_T_INDEX,    /* pointer dst = pointer base + bump * a digit of the list's entry in memory */
    AT_T_CONST,    /* dst = number in all lanes */
    AT_T_LOAD,    /* dst = memory: lanes floats, rest 0; of a list the integers. Where `by` is given
                     they are spread: lane i is number (i + plus)/by of them, or (i + plus)%by
                     where `cyclic` is; where `times` is they are picked: lane i is number times*i
                     from there, with `by` times*((i + plus)/by); of -1 they are turned: lane 0 is
                     the last of them */
    AT_T_BCAST,   /* dst = one float in all lanes; of a list the integer */
    AT_T_STORE,   /* memory = a: lanes floats; where `times` is given to every so many, lane i to
                     number times*i from there, and what lies between stays */
    AT_T_SCATTER, /* of the first lanes, one by one: b joins memory, as the kind `by` joins, so many
                     `bump`s on as a says, a whole number from 0 to `most`; of another one nothing
                     is joined. Where there is no a, the integers of slot `base`, from number `trip`
                     on, say it. Lane i begins at number times*i from there. Where `cyclic` is, the
                     first place is that of all lanes, which lie side by side. Where `plus` is, b is
                     the same in all lanes */
    AT_T_MOV,     /* dst = a */
    AT_T_FMA,     /* dst += a * b */
    AT_T_FNMA,    /* dst -= a * b */
    AT_T_FMS,     /* dst = a * b - dst */
    AT_T_ADD,     /* dst = a op b */
    AT_T_SUB,
    AT_T_MUL,
    AT_T_DIV,
    AT_T_MIN,
    AT_T_MAX,
    AT_T_MUL_ADD, /* dst = dst * a + b */
    AT_T_SCALE,   /* a times 2 to the power of b, which is an integer; where b is below `number`, 0;
                     where the target has it */
    AT_T_AND,     /* of bits */
    AT_T_OR,
    AT_T_INT_ADD, /* of 32-bit integers, without overflow */
    AT_T_INT_SUB,
    AT_T_INT_MUL,
    AT_T_INT_MIN,
    AT_T_INT_MAX,
    AT_T_DOT,  /* dst += the products of four bytes to a lane, or of two elements of 16 bits, `by`
                  saying of which (at_dot); where the target has it */
    AT_T_CUT,  /* integers of a and b cut to half their bits, the type `by`: of every 128 bits of a
                  register those of a, then those of b; where the target has it */
    AT_T_LESS, /* all bits where a < b, else none */
    AT_T_AT_MOST, /* where a <= b */
    AT_T_EQUAL,
    AT_T_BLEND,       /* dst = b where a has all bits, dst where it has none */
    AT_T_SQRT,        /* of a, as the following */
    AT_T_SHIFT_LEFT,  /* an integer, by `by` bits */
    AT_T_SHIFT_RIGHT, /* with its sign */
    AT_T_TO_FLOAT,    /* an integer */
    AT_T_TO_INT,      /* a number within 32 bits; halves go to the even one */
    AT_T_GATHER,      /* lane i is number a_i of memory, rest 0; where the target has it */
    AT_T_SWAP,        /* lane i is that of number i ^ by; by: a power of two below the lanes */
    AT_T_WEAVE,       /* lane i has byte i of each quarter of a's bytes; where the target has it */
    AT_T_QUARTERS,    /* lanes 0, n, .., then 1, n + 1, .., of n fours; where the target has it */
    AT_T_FIRST,       /* the first lanes of dst = those of a; the others stay */
    AT_T_ZIP_LOW,     /* of the first 4 lanes, or of every four: a0 b0 a1 b1 */
    AT_T_ZIP_HIGH,    /* a2 b2 a3 b3 */
    AT_T_ZIP_LOW2,    /* a0 a1 b0 b1 */
    AT_T_ZIP_HIGH2,   /* a2 a3 b2 b3 */
    AT_T_ZIP_LOW16,
    AT_T_ZIP_HIGH16, /* of every eight elements of 16 bits: a0 b0 .. b3; a4 .. b7 */
    AT_T_ZIP_LOW8,
    AT_T_ZIP_HIGH8, /* of every sixteen bytes */
    AT_T_FOURS,     /* of every four lanes two of a, then two of b: which, as bits of `by` */
    AT_T_HALVES,    /* of a's two halves and b's, 0 to 3: (by & 3), then (by >> 4) */
    AT_T_MERGE,     /* of registers that are interleaved (tile_zip.h); where the target has it */
    AT_T_KIND_COUNT
} at_tile_kind;

/* Const: `number` in all lanes, which lies behind the code. */
typedef enum at_tile_mem { AT_MEM_NONE, AT_MEM_VECTOR, AT_MEM_BCAST, AT_MEM_CONST } at_tile_mem;

typedef struct at_tile_op {
    uint8_t kind; /* at_tile_kind */
    uint8_t mem; /* arithmetic: b is this memory operand instead of a register; const: from there */
    uint8_t lanes; /* load, store, first, vector memory operand */
    int16_t dst, a, b;
    int16_t slot;
    int16_t base;     /* index: the pointer that is added to: a slot, or dst itself; scatter */
    int16_t trip_arg; /* loop, bump: index of the passed trip count; -1: constant */
    int64_t off;      /* elements */
    int64_t trip;     /* loop: constant trips */
    int64_t bump;     /* elements; index: per unit of the digit */
    int32_t times, plus, by; /* index: the digit is floor((times * entry + plus) / by); load */
    int32_t most;  /* index: of a number from 0 to this; by = 1: as it is; loop: 2^n, as `by` is */
    bool cyclic;   /* load */
    bool grouped;  /* load of every so many floats: number `plus` of each whole group of `times` */
    int64_t fours; /* load, store of 32 bits to a lane: each four of lanes lies so many elements
                      behind the one before; 0: they are one run */
    uint8_t element;  /* product, alone or with a sum, or dot: 1 + the lane of b that all of
                         a's are multiplied with; 0: each with its own */
    bool packed;      /* load, broadcast, store, dot: a lane is the 32 bits that lie there */
    bool halves;      /* load, broadcast: floats of 16 bits as they lie, two to a lane; as many as
                         `lanes` says. Term: of the first such floats of a and b, one to a lane,
                         `element` being one of all of b's */
    bool upper;       /* term of those: of the second half of a's, and of b's but for an element */
    uint8_t bits;     /* of integers, of less and of blend: 8 or 16 each; 0: 32 */
    bool no_sign;     /* integers of `bits` are without sign */
    bool apart;       /* product: it is rounded before anything is added */
    bool may_miss;    /* index: an entry below 0 leads to AT_TILE_NUMBERS times `number` */
    double number;    /* a float's, but in tiles in double; scale */
    const char *name; /* loop: of the loop in the tree */
} at_tile_op;

#define AT_TILE_MAX_SLOTS 12 /* that registers hold, with the pointers made inside */
#define AT_TILE_MAX_PICKS 4  /* registers that a load of every so many floats is from */
#define AT_TILE_WHOLE_STEP 4 /* beyond it such floats are moved one by one */
#define AT_TILE_NUMBERS 64
#define AT_TILE_MAX_TRIPS 6
#define AT_TILE_MAX_VALUES 16000 /* of a tile, in virtual registers */
#define AT_TILE_MAX_OPS 1500     /* of one straight-line body; beyond, unrolled loops stay loops */

typedef struct at_tile {
    const char *name, *base_name; /* tile_14x32; name: with a number where several differ */
    const char *prefix;           /* of the names of helpers in C */
    const at_target *target;
    int lanes;    /* of a register */
    int num_regs; /* registers used */
    int num_slots, num_trips;
    int num_pointers;       /* made by AT_T_INDEX: they count as slots from num_slots on */
    int num_spilled;        /* registers that memory of its own holds: the slot at_tile_frame() */
    const char **slot_name; /* [slots], as the following */
    at_type *slot_type;     /* of what it points to */
    bool *slot_written;
    at_tile_op *ops;
    int num_ops;
    at_hash hash;              /* once the tile is one of a kernel's (tile_key.c) */
    struct at_tile_kept *kept; /* of the memo, where its code is kept, too; or NULL */
    const uint8_t *code;       /* dialect tcc: machine code */
    int code_bytes;
} at_tile;

typedef struct at_tile_call {
    at_tile *tile;
    int *slot_tensor;                      /* [slots passed and made inside] */
    const at_aff **slot_at;                /* element address at entry */
    const at_aff *trip[AT_TILE_MAX_TRIPS]; /* never negative */
    const char *const *notes;              /* as at_kernel's, of this call */
    int num_notes;
} at_tile_call;

/* The slot of registers that are spilled: it is neither passed nor made. */
static inline int at_tile_frame(const at_tile *t) { return t->num_slots + t->num_pointers; }
static inline int at_tile_all_slots(const at_tile *t) {
    return at_tile_frame(t) + (t->num_spilled > 0);
}

/* How often a loop with a passed trip count runs. */
static inline int64_t at_tile_turns(const at_tile_op *op, int64_t passed) {
    int64_t n = op->by > 1 ? passed / op->by : passed;
    return op->most ? n % op->most : n;
}

static inline uint32_t at_bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float at_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Does memory hold what a register does, 32 bits to a lane? Else it is widened as it is loaded, and
 * as it is stored its lowest bits are. */
static inline bool at_tile_is_wide(const at_tile *t, const at_tile_op *op) {
    return op->packed || op->halves || at_type_bytes(t->slot_type[op->slot]) == 4;
}

/* A number as doubles carry it, and its bits as a float. What is not a number keeps all of its
 * bits: the processor's conversion makes another of one that signals, which an integer may be. */
static inline double at_number_of_bits(uint32_t bits) {
    if (!isnan(at_of_bits(bits))) return at_of_bits(bits);
    const uint64_t wide =
        (uint64_t)(bits >> 31) << 63 | (uint64_t)0x7ff << 52 | (uint64_t)(bits & 0x7fffff) << 29;
    double x;
    memcpy(&x, &wide, sizeof x);
    return x;
}
static inline uint32_t at_tile_bits(const at_tile_op *op) { /* of its number */
    uint64_t wide;
    if (!isnan(op->number)) return at_bits_of((float)op->number);
    memcpy(&wide, &op->number, sizeof wide);
    return (uint32_t)(wide >> 63) << 31 | 0x7f800000 | (uint32_t)(wide >> 29 & 0x7fffff);
}

/* Of a load that is spread: the one of its floats that lane i is. */
static inline int at_tile_spread_from(const at_tile_op *op, int i) {
    return op->cyclic ? (i + op->plus) % op->by : (i + op->plus) / op->by;
}
/* Of a load or store of every so many floats, or of a load that is turned: the one from there that
 * lane i is. */
static inline int at_tile_lane_from(const at_tile_op *op, int i) {
    if (op->times < 0) return op->lanes - 1 - i;
    if (op->grouped) return op->times * i + op->plus;
    return op->times * (op->kind == AT_T_LOAD && op->by ? (i + op->plus) / op->by : i);
}
/* Does it change memory? */
static inline bool at_tile_stores(const at_tile_op *op) {
    return op->kind == AT_T_STORE || op->kind == AT_T_SCATTER;
}
/* Does it change the register dst? */
static inline bool at_tile_defines(const at_tile_op *op) {
    return op->kind >= AT_T_CONST && !at_tile_stores(op);
}
/* Does a straight-line body end with it, or what its pointers lead to change? */
static inline bool at_tile_ends_body(const at_tile_op *op) {
    return op->kind == AT_T_LOOP || op->kind == AT_T_END || op->kind == AT_T_BUMP ||
           op->kind == AT_T_INDEX;
}
/* Is it a product that is added to a sum, or taken from it, which one instruction may do? */
static inline bool at_tile_is_term(const at_tile_op *op) {
    return op->kind == AT_T_FMA || op->kind == AT_T_FNMA;
}
/* Is it a product that is joined with dst? */
static inline bool at_tile_joins_product(const at_tile_op *op) {
    return at_tile_is_term(op) || op->kind == AT_T_FMS;
}
static inline bool at_tile_multiplies_and_adds(const at_tile_op *op) {
    return at_tile_joins_product(op) || op->kind == AT_T_MUL_ADD;
}
/* Is dst an operand, too? */
static inline bool at_tile_updates(const at_tile_op *op) {
    return at_tile_multiplies_and_adds(op) || op->kind == AT_T_BLEND || op->kind == AT_T_FIRST ||
           op->kind == AT_T_DOT;
}
/* The operation on registers that joins a term with what a scatter found in memory. */
static inline at_tile_op at_tile_scatter_join(const at_tile_op *op, int dst, int found, int term) {
    const bool second = op->by == AT_T_MIN || op->by == AT_T_MAX; /* may be what is no number */
    return (at_tile_op){.kind = (uint8_t)op->by,
                        .lanes = op->lanes,
                        .dst = (int16_t)dst,
                        .a = (int16_t)(second ? term : found),
                        .b = (int16_t)(second ? found : term),
                        .slot = -1};
}
static inline bool at_tile_compares(const at_tile_op *op) {
    return op->kind >= AT_T_LESS && op->kind <= AT_T_EQUAL;
}
/* Has it, of those on registers, no second operand b? */
static inline bool at_tile_is_unary(const at_tile_op *op) {
    return op->kind >= AT_T_SQRT && op->kind <= AT_T_FIRST;
}

/* tile_ops.c: registers that it reads, dst too where it is an operand: how many. Is r one? */
int at_tile_operands(const at_tile_op *op, int out[3]);
bool at_tile_reads(const at_tile_op *op, int r);
/* tile_verify.c: our own rules; text of the first one broken, or NULL. */
const char *at_tile_verify(const at_tile *t, at_arena *a);
/* tile_interp.c: one lane of an operation on registers, d being what dst holds; of integers the
 * bits. Executes a tile program. slots: base addresses. */
float at_tile_lane(const at_tile *t, const at_tile_op *op, float d, float a, float b);
void at_tile_interpret(const at_tile *t, float *const *slots, const long *trips);
/* The first operation that makes pointers to the same number as this one may. */
const at_tile_op *at_tile_first_miss(const at_tile *t, const at_tile_op *op);
uint32_t at_tile_missed(const at_tile *t, const at_tile_op *op); /* what lies there */
int at_tile_loop_end(const at_tile *t, int i); /* the operation behind the loop that begins at i */
/* tile_encode.c, for machine code: how many loops are around each other, does the one that begins
 * at i hold none, is a pointer made of several digits, are all of a scatter's list places? */
int at_tile_nest_depth(const at_tile *t);
bool at_tile_is_innermost(const at_tile *t, int i);
bool at_tile_has_digits(const at_tile *t), at_tile_has_scatters(const at_tile *t);
bool at_tile_scatter_all(const at_tile *t, const at_tile_op *op);
/* floor(x / by), x being from 0 to most < 2^30: what is a power of two is shifted out, the rest is
 * multiplied by 2^shift / rest, rounded up, where that is exact. */
typedef struct at_tile_quotient {
    int power;
    int64_t factor; /* 0: the power is all */
    int shift;
} at_tile_quotient;
at_tile_quotient at_tile_divide(int32_t by, int32_t most);
/* Is the quotient that the operation before made one that this one can go on from? */
bool at_tile_goes_on(const at_tile *t, const at_tile_op *op);

#endif
