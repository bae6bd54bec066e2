/* codegen/target.h: a target is a record: what lowering, the printers of tiles and the reports know
 * of an instruction set. An architecture is a folder (codegen/x86/, codegen/aarch64/) and one row
 * in target.c; nothing else asks which one it is. docs/how-to/add-a-target.md */
#ifndef AT_CODEGEN_TARGET_H
#define AT_CODEGEN_TARGET_H

#include "base/base.h"

enum { AT_DOT_TERMS = 4 }; /* products of bytes that are added to a lane at once */

struct at_tile;
typedef struct at_architecture at_architecture;

/* Dot products that an instruction does. Of bytes: of the first operand's and the second one's,
 * which have no sign (U) or one (S). Of pairs of 16 bits: of two s16, or of two bf16, whose
 * products are added to a float in an order of the CPU's own, denormal numbers being 0. */
typedef enum at_dot {
    AT_DOT_US = 1,
    AT_DOT_SU = 2, /* by a lane of the second operand alone */
    AT_DOT_SS = 4,
    AT_DOT_UU = 8,
    AT_DOT_BYTES = 15,
    AT_DOT_S16 = 16,
    AT_DOT_BF16 = 32
} at_dot;

typedef struct at_target {
    const char *name; /* as --isa and logs have it */
    const char *like; /* a target as fast on floats, which has tables of speeds; NULL: itself */
    /* The parts of the CPU that it needs, as gcc's attributes and __builtin_cpu_supports name them,
     * commas between; "" where every CPU of the architecture will do. */
    const char *parts;
    int lanes, regs;    /* floats of a register; registers that tiles may use */
    int spreading_regs; /* of those, what a tile has to spare that spreads what it loads over lanes
                         */
    int joining_regs;   /* and one that takes the less of two, or multiplies and adds otherwise than
                           to a sum */
    bool joins_fours;   /* puts lanes of two registers together: AT_T_FOURS, of 8 AT_T_HALVES */
    bool merges;        /* and in any order: AT_T_MERGE */
    int most_step;      /* of lanes that a load takes from every so many floats; 0: none */
    int most_stored_step; /* the same of a store, which leaves alone what lies between; 0: none */
    int default_lanes;    /* that configurations without tuning are made for, with facts of
                             default_for.h; plain C's are those that a compiler may make of it */
    bool picks_bytes;     /* a load takes lanes from every so many bytes, too, which become
                             integers of 32 bits */
    bool gathers;         /* lanes are loaded from places that a register says */
    bool fold_vector;     /* an unaligned vector may be a memory operand */
    bool fold_bcast;      /* so may one float for all lanes */
    bool fold_const;      /* so may a constant behind the code */
    bool by_element;    /* all lanes are multiplied with one lane of a register (tile_element.c) */
    bool fused;         /* a multiply-add is one instruction */
    bool picks_whole;   /* a load of every so many floats is of whole registers (tile_pick.c) */
    bool masked_loads;  /* in C for gcc and clang: the first lanes of a register by one load, */
    bool masked_stores; /* by one store */
    bool has_integers;  /* elements of 8 and 16 bits, arithmetic with integers of 32; C for any
                           compiler has them, too */
    bool has_halves;    /* elements that are floats of 16 bits, as C for any compiler has them */
    bool converts_halves;   /* f16 become floats, and floats f16, by one instruction */
    bool multiplies_halves; /* two f16 are multiplied and added to a float by one instruction, as
                               if both had been widened */
    bool scatters;  /* machine code of lanes that go to places of their own: AT_T_SCATTER; C for any
                       compiler has it, too */
    int dots;       /* products of bytes or of 16 bits are added to a lane at once (AT_T_DOT): of
                       which, bits of at_dot, */
    int dot_regs;   /* by several instructions, which take so many registers besides and add pairs
                       of products in 16 bits; 0: by one */
    int dot_terms;  /* as many multiply-adds take as long, where nobody measured it */
    bool weaves;    /* lanes get a byte of each quarter of a register (AT_T_WEAVE) */
    bool cuts;      /* two registers of integers become one of half their bits (AT_T_CUT), and fours
                       of lanes are turned round (AT_T_QUARTERS) */
    bool narrows;   /* arithmetic with integers of 8 and 16 bits, as many as a register holds */
    bool scales;    /* an instruction multiplies by a power of two (AT_T_SCALE) */
    bool is_double; /* registers hold doubles: `lanes` of them; floats are widened as they are
                       loaded, and rounded as they are stored. For +, -, *, /, min and max */
    const struct at_target *in_double; /* the same instructions with registers of doubles */
    /* For gcc and clang, as asm: a register is the root of another. Registers' numbers are filled
     * in. */
    const char *gnu_sqrt;
    /* Puts four lanes from memory into a register's fours of a number: loads may take fours of
     * lanes from places of their own (NULL: they may not). */
    const char *gnu_insert;
    /* Of the first four lanes of two registers, the instruction of a name (NULL: as a shuffle). */
    const char *gnu_zip;
    /* Machine code of a tile into t->code, an ordinary function of the system's calling convention,
     * position independent, owned by arena. false: an instruction cannot be encoded. NULL: it is
     * not made for this target (dialects gnu and c are). */
    bool (*encode)(at_arena *arena, struct at_tile *t);
    /* The types and macros that tiles in C with vector types are written in; of registers of
     * doubles, those besides the others. NULL: tiles are plain C. */
    void (*prelude)(const struct at_target *target, at_text *out);
    /* What tiles with integers take besides. */
    void (*integers)(const struct at_target *target, at_text *out);
    /* And those with floats of 16 bits. */
    void (*halves)(const struct at_target *target, at_text *out);
    const at_architecture *architecture;
} at_target;

struct at_architecture {
    const char *name;
    bool parts_as_they_stand; /* gcc's "#pragma GCC target" takes a target's parts so */
    const at_target *targets; /* the plainest first */
    int num_targets;
    const char *align_code; /* the assembler's directive before a function, as C has it in a text */
    /* Text of one instruction; returns its length in bytes, 0 if it is none. */
    int (*disassemble)(const uint8_t *code, int len, char *out, size_t out_size);
    /* static int NAME(void) in C: does the CPU have the target's parts, and does the system keep
     * their registers? by_compiler: gcc's and clang's builtins may say so, else any compiler takes
     * it. */
    void (*cpu_test)(const at_target *target, const char *name, bool by_compiler, at_text *out);
    /* static void NAME(long n) in C for gcc and clang: n rounds of independent multiply-adds. The
     * operations of a round. */
    double (*peak_loop)(const at_target *target, const char *name, at_text *out);
};

/* Can what is loaded be spread over the lanes of a register, each float over `by` of them? */
static inline bool at_target_spreads(const at_target *t, int64_t by) {
    return by < t->lanes && !t->is_double;
}

/* Can a load take its lanes from elements of so many bytes that are so many apart? -1: the vector
 * as it lies, turned round. */
static inline bool at_target_picks(const at_target *t, int64_t bytes, int64_t step) {
    if (bytes != 4 && (bytes != 1 || !t->picks_bytes)) return false;
    return step < 0 ? step == -1 && t->most_step > 0 : step > 1 && step <= t->most_step;
}

/* Terms of a dot product of such elements, as many as 32 bits hold; 0: the set has none. Bytes are
 * added as pairs of s16 where it has those alone. */
static inline int at_target_dot_terms(const at_target *t, at_type of) {
    const int kinds = at_type_bytes(of) == 1 ? AT_DOT_BYTES | AT_DOT_S16
                      : of == AT_S16         ? AT_DOT_S16
                      : of == AT_BF16        ? AT_DOT_BF16
                                             : 0;
    return t->dots & kinds ? at_type_per_lane(of) : 0;
}

const at_target *at_target_find(const char *name);       /* NULL: there is none */
const at_target *at_target_at(int i);                    /* all of them; NULL behind the last */
const at_target *at_target_plainest(const at_target *t); /* of its architecture: plain C */

#endif
