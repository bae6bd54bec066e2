/* codegen/tile/tile_make.h: how nests become tile programs: the steps of the pass `tiles`. */
#ifndef AT_CODEGEN_TILE_MAKE_H
#define AT_CODEGEN_TILE_MAKE_H

#include "codegen/codegen_int.h"
#include "codegen/tile/tile.h"

/* Tensors that live in registers during a tile. */
typedef struct at_tile_regs {
    const bool *local; /* [tensor] defined and used up inside the tile */
    bool promote; /* sums of other tensors: loaded before, stored behind the loops that do not move
                     them */
    bool sparing; /* no registers but those that are needed: no chains, stored values are loaded */
    int spills;   /* so many pointers, of which some lie in memory, as values may; 0: as many as
                     registers hold, and no value is stored to be loaded again */
} at_tile_regs;

/* tile_build.c: expands a list of nests (no conditions, addresses affine in the loops of the list)
 * to a tile program, sparing where it does not fit else. NULL where it does not at all: too many
 * slots, trip counts or registers. */
at_tile_call *at_tile_build(at_low *l, const at_ir *list, const at_tile_regs *regs);
/* The slot of a tile's own memory, if it has one, leads to no tensor. */
void at_tile_name_frame(at_tile_call *c);

/* tile_calls.c: calls for a list that is a unit; NULL where it does not fit. The list itself stays
 * as it is. */
at_ir *at_tile_calls(at_low *l, const at_ir *list, const at_tile_regs *regs);

/* tile_cut.c: calls build() for register-sized parts of a list, cut along pieces whose loops are in
 * `keep`; what it returns (NULL: does not fit) comes back in order, in loops where there are many
 * equal parts. Takes the list. */
typedef at_ir *at_cut_build(void *context, at_ir *list);
at_ir *at_cut_to_registers(at_low *l, at_ir *list, at_mask keep, at_cut_build *build,
                           void *context);
/* Operations of a list as code whose loops are written out where they are to be, about. */
int64_t at_expanded_ops(const at_low *l, const at_ir *list);

/* Keeps real loops where the unrolled body would exceed AT_TILE_MAX_OPS; loops in `keep` stay
 * unrolled, and loops inside of them are real where the whole would exceed AT_TILE_MAX_VALUES. */
void at_limit_unrolling(at_low *l, at_ir *list, at_mask keep);

/* tile_rows.c: the loop that a copy runs on along is a vector, and stands innermost, where its
 * loops have no annotations. */
void at_widen_copies(at_low *l, at_ir *list, const at_tile_regs *regs);
/* Does a loop that runs as often as is known at run time copy one element in each turn, each behind
 * the one before, from every so many? */
bool at_is_counted_copy(const at_low *l, const at_ir *n, const at_tile_regs *regs);
/* Does it add to one element in each turn, each behind the one before, or terms to one? */
bool at_is_counted_sum(const at_low *l, const at_ir *n, const at_tile_regs *regs);

/* tile_transpose.c: copies that neither loop of is a vector of on both sides, cut into squares of
 * AT_TILE_SQUARE elements each way. Takes the list. */
at_ir *at_transpose_copies(at_low *l, at_ir *list, const at_tile_regs *regs);
/* Cells each way of a square that such a copy, a loop or a statement, is cut into. */
int at_transpose_side(const at_low *l, const at_ir *cell);

/* tile_alloc.c: virtual registers to real ones; loads are delayed, folded into operations, dropped
 * and loaded again rather than ever stored. false where accumulators alone exceed the register
 * file. */
typedef struct at_tile_vreg {
    bool acc;     /* pinned: not a load that could be repeated */
    uint8_t load; /* AT_T_LOAD, AT_T_BCAST, AT_T_CONST; else 0: computed */
    uint8_t lanes;
    int16_t slot;
    int64_t off;
    uint8_t by, plus; /* a load that is spread: lane i gets number (i + plus)/by; 0: it is not */
    bool cyclic;      /* it gets number (i + plus)%by */
    bool grouped;     /* picked of whole groups: number `plus` of each */
    int8_t times;     /* a load that is picked: lane i gets number times*i; -1: it is turned, lane 0
                         gets the last; 0: neither */
    int64_t fours; /* each four of lanes lies so many elements behind the one before; 0: one run */
    bool packed;   /* a lane is the 32 bits that lie there */
    bool halves;   /* floats of 16 bits as they lie, two to a lane: `lanes` of them */
    bool narrow;   /* widened as it is loaded */
    double number;
    bool pooled; /* const: may be a memory operand */
    bool same;   /* all lanes hold the same */
} at_tile_vreg;
/* Of registers (-1: none) and nothing else. */
at_tile_op at_tile_on_registers(at_tile_kind kind, int dst, int a);   /* tile_ops.c */
bool at_tile_same_load(const at_tile_vreg *v, const at_tile_vreg *w); /* tile_ops.c */
at_tile_op at_tile_load_of(const at_tile_vreg *v, int into); /* the operation; into: a register */
/* [tensor] which the operations store to (tile_ops.c); slot_tensor: [slot] */
const bool *at_tile_changed(at_low *l, const at_tile_op *ops, int num_ops, const int *slot_tensor);
bool at_tile_alloc(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                   int num_vregs, bool spills, at_tile *out);

/* tile_share.c: the same operations, terms that read the same one behind the other. */
at_tile_op *at_tile_share(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                          int num_vregs, bool in_groups);

/* tile_reuse.c: what is worked out once, where the operations do it again in a straight-line body
 * or, as `lifts` says, in each turn of a loop. false: nothing. slot_tensor: [slot] */
typedef enum at_tile_lifts {
    AT_LIFT_NOTHING,
    AT_LIFT_RESULTS,
    AT_LIFT_COMPOSED, /* and loads whose lanes are put together */
    AT_LIFT_LOADS     /* and all others */
} at_tile_lifts;
typedef struct at_tile_reused {
    at_tile_op *ops;
    at_tile_vreg *vregs;
    int num_ops, num_vregs;
} at_tile_reused;
bool at_tile_reuse(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                   int num_vregs, const int *slot_tensor, at_tile_lifts lifts, at_tile_reused *out);

/* tile_contract.c: the same operations with multiply-adds for products that are added or taken away
 * once; of the target. *num_ops: how many there are, before and behind. */
const at_tile_op *at_tile_contract(at_low *l, const at_tile_op *ops, const at_tile_vreg *vregs,
                                   int num_vregs, int *num_ops);

/* tile_ahead.c: operations on registers in the order in which a core that goes in order waits
 * least, loads before their time, on targets that have such cores; within straight-line bodies. */
static inline bool at_tile_loads_ahead(const at_target *t) { return t->by_element; }
void at_tile_load_ahead(at_low *l, at_tile_op *ops, int num_ops);

/* tile_halves.c: the same operations, of which terms take floats of 16 bits as they lie in memory,
 * where the target multiplies such floats; *vregs then has the registers that hold two vectors,
 * too. */
const at_tile_op *at_tile_of_halves(at_low *l, const at_tile_op *ops, int num_ops,
                                    const at_tile_vreg **vregs, int *num_vregs,
                                    const int *slot_tensor);

/* tile_element.c: the same operations, of which products take factors that are one number from
 * lanes of registers, where the target multiplies by a lane; *vregs then has the vectors that hold
 * these numbers, too. slot_tensor: [slot] */
const at_tile_op *at_tile_by_element(at_low *l, const at_tile_op *ops, int num_ops,
                                     const at_tile_vreg **vregs, int *num_vregs,
                                     const int *slot_tensor);

/* tile_weave.c: the same operations in another order, in which up to `together` neighbouring
 * vectors take turns; NULL: there is nothing to gain. slot_tensor: [slot] */
at_tile_op *at_tile_weave(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                          int num_vregs, const int *slot_tensor, int together);

/* tile_blocks.c: sums of some hundred terms and more are added up in blocks. */
void at_tile_sum_in_blocks(at_low *l, at_tile *t);
/* tile_spread.c: lines that the end of a tile asks for are asked for while its sums go on. */
void at_tile_spread_asking(at_low *l, at_tile *t);

/* tile_key.c: of all that a tile's code depends on: not of names, nor of which tensors the pointers
 * lead to. */
at_hash at_tile_hash(const at_tile *t);

/* tile_dot.c: terms of one dot product of the factors of such a product; 0: the target has none. */
int at_build_dot_terms(const at_low *l, const at_value *product);

#endif
