/* codegen/aarch64/scatter_lanes.c: a scatter, lane by lane: what memory holds at a lane's place
 * comes into all lanes, is joined with all terms, and the one lane goes back. */
#include "codegen/aarch64/encode.h"

/* Two vector registers that tiles with scatters leave free: the last one is scratch. */
static int spare(const at_a64 *x) { return x->t->target->regs - 2; }

/* x16 = the place of that lane, a whole number without sign: below 0 it is a large one. */
static void load_place(at_a64 *x, const at_tile_op *op, int list, int lane) {
    if (op->a >= 0) {
        EMIT(x, FCVTNS, AT_A64_SCRATCH_VEC, at_a64_vector(op->a));
        EMIT(x, MOV_W_LANE, AT_X16, AT_A64_SCRATCH_VEC, lane);
        return;
    }
    static const at_a64_form loads[2][5] = {
        [0] = {0, AT_A64_LDRB_W, AT_A64_LDRH_W, 0, AT_A64_LDR_W},
        [1] = {0, AT_A64_LDRSB_W, AT_A64_LDRSH_W, 0, AT_A64_LDR_W}};
    const at_type type = x->t->slot_type[op->base];
    const int64_t size = at_type_bytes(type), bytes = size * (op->trip + lane);
    const bool near = bytes >= 0 && bytes < size * 4096;
    if (!near) at_a64_add(x, AT_X16, list, bytes);
    at_a64_emit(&x->code, loads[at_type_of(type)->least < 0][size],
                (const int64_t[]){AT_X16, near ? list : AT_X16, near ? bytes : 0});
}

/* The lanes from there on, side by side. */
static void move_row(at_a64 *x, bool store, int v, int lanes) {
    static const at_a64_form forms[2][5] = {
        {AT_A64_LDR_Q, AT_A64_LDR_S, AT_A64_LDR_D, AT_A64_LDR_D, AT_A64_LDR_Q},
        {AT_A64_STR_Q, AT_A64_STR_S, AT_A64_STR_D, AT_A64_STR_D, AT_A64_STR_Q}};
    at_a64_emit(&x->code, forms[store][lanes], (const int64_t[]){v, AT_X16, 0});
    if (lanes != 3) return;
    EMIT(x, ADDI, AT_X16, AT_X16, 8);
    at_a64_emit(&x->code, store ? AT_A64_ST1_S : AT_A64_LD1_S, (const int64_t[]){v, 2, AT_X16});
    if (!store) EMIT(x, SUBI, AT_X16, AT_X16, 8);
}

void at_a64_scatter(at_a64 *x, const at_tile_op *op, void (*vector)(at_a64 *, const at_tile_op *)) {
    const int base = at_a64_pointer(x, op->slot),
              list = op->a < 0 ? at_a64_pointer(x, op->base) : -1,
              turns = op->cyclic ? 1 : op->lanes, found = at_a64_vector(spare(x));
    at_tile_op joined = at_tile_scatter_join(op, spare(x), spare(x), op->b);
    joined.lanes = (uint8_t)x->t->lanes;
    for (int i = 0; i < turns; i++) {
        load_place(x, op, list, i);
        const bool all = at_tile_scatter_all(x->t, op);
        if (!all) {
            at_a64_number(x, AT_X17, (uint64_t)op->most);
            EMIT(x, CMP_W, AT_X16, AT_X17);
        }
        const int skip = x->code.words.len;
        if (!all) EMIT(x, B_HI, 0);
        at_a64_number(x, AT_X17, (uint64_t)op->bump * 4);
        EMIT(x, MADD, AT_X16, AT_X16, AT_X17, base);
        at_a64_add(x, AT_X16, AT_X16, 4 * (op->off + (int64_t)op->times * i));
        if (op->cyclic) move_row(x, false, found, op->lanes);
        else EMIT(x, LD1R, found, AT_X16);
        vector(x, &joined);
        if (op->cyclic) move_row(x, true, found, op->lanes);
        else EMIT(x, ST1_S, found, i, AT_X16);
        if (!all) at_a64_aim(&x->code, skip, 4 * (x->code.words.len - skip));
    }
}
