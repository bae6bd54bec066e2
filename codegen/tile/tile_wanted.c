/* codegen/tile/tile_wanted.c: lanes of registers on which anything depends, from what is stored and
 * from operations across lanes back to what they are made of. A register is one thing throughout.
 */
#include "codegen/tile/tile_wanted.h"

/* Does each lane of dst come from the same one of the operands? */
static bool is_by_lane(const at_tile_op *op) {
    return op->kind >= AT_T_MOV && op->kind <= AT_T_TO_INT && op->kind != AT_T_DOT &&
           op->kind != AT_T_CUT && !op->halves && !op->bits && !op->element;
}

static bool want(uint8_t *wanted, int reg, int lanes) {
    if (reg < 0 || wanted[reg] >= lanes) return false;
    wanted[reg] = (uint8_t)lanes;
    return true;
}

/* Lanes of what an operation reads, by those of what it makes; true: more than before. */
static bool want_read(const at_tile *t, const at_tile_op *op, uint8_t *wanted) {
    const bool is_kept = (op->kind == AT_T_LOAD || op->kind == AT_T_STORE || op->mem) &&
                         t->num_spilled && op->slot == at_tile_frame(t),
               is_run = op->kind == AT_T_STORE && !op->times && !op->fours && !op->packed;
    const int cell = is_kept ? t->num_regs + (int)(op->off / t->lanes) : -1;
    bool more = false;
    if (op->kind == AT_T_LOAD) return want(wanted, cell, wanted[op->dst]);
    if (op->kind < AT_T_STORE) return false;
    const int lanes = is_kept && op->kind == AT_T_STORE ? wanted[cell]
                      : is_run                          ? op->lanes
                      : is_by_lane(op)                  ? wanted[op->dst]
                                                        : t->lanes;
    int of[3];
    for (int n = at_tile_operands(op, of); n-- > 0;) more |= want(wanted, of[n], lanes);
    if (op->mem == AT_MEM_VECTOR) more |= want(wanted, cell, lanes);
    return more;
}

const uint8_t *at_tile_wanted_lanes(at_arena *a, const at_tile *t) {
    uint8_t *wanted = AT_NEW_ARRAY(a, uint8_t, t->num_regs + t->num_spilled);
    for (bool more = true; more;) {
        more = false;
        for (int i = t->num_ops; i-- > 0;) more |= want_read(t, &t->ops[i], wanted);
    }
    return wanted;
}

bool at_tile_is_half(const at_tile *t, const uint8_t *wanted, const at_tile_op *op) {
    return is_by_lane(op) && op->dst < t->num_regs && wanted[op->dst] &&
           wanted[op->dst] <= t->lanes / 2;
}
