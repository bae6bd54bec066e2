/* codegen/aarch64/doubles.c: tiles whose registers hold two doubles, or one: what packing computes.
 * Memory holds floats. */
#include "codegen/aarch64/encode.h"

#include <string.h>

static int reg(int r) { return at_a64_vector(r); }

static void constant(at_a64 *x, const at_tile_op *op) {
    uint64_t bits;
    int64_t eight;
    memcpy(&bits, &op->number, sizeof bits);
    if (!bits) EMIT(x, CLEAR, reg(op->dst));
    else if (at_a64_short_float(op->number, &eight)) EMIT(x, FMOV_2D, reg(op->dst), eight);
    else {
        at_a64_number(x, AT_X16, bits);
        EMIT(x, DUP_X2, reg(op->dst), AT_X16);
    }
}

static void load(at_a64 *x, const at_tile_op *op) {
    const int v = reg(op->dst);
    const bool is_one = op->kind == AT_T_BCAST || op->lanes == 1;
    at_a64_move(x, op, false, v, is_one ? 2 : 3, 0);
    if (is_one) EMIT(x, FCVT_D, v, v);
    else EMIT(x, FCVTL, v, v);
    if (op->kind == AT_T_BCAST) EMIT(x, DUP_LANE2, v, v, 0);
}

static void store(at_a64 *x, const at_tile_op *op) {
    EMIT(x, FCVTN, AT_A64_SCRATCH_VEC, reg(op->a));
    at_a64_move(x, op, true, AT_A64_SCRATCH_VEC, op->lanes == 1 ? 2 : 3, 0);
}

static void extreme(at_a64 *x, const at_tile_op *op) {
    const int a = reg(op->a), b = reg(op->b), s = AT_A64_SCRATCH_VEC;
    if (op->kind == AT_T_MIN) EMIT(x, FCMGT_2D, s, b, a);
    else EMIT(x, FCMGT_2D, s, a, b);
    EMIT(x, BSL, s, a, b);
    at_a64_copy(x, reg(op->dst), s);
}

static void vector(at_a64 *x, const at_tile_op *op) {
    static const at_a64_form forms[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = AT_A64_FMLA_2D, [AT_T_FNMA] = AT_A64_FMLS_2D, [AT_T_ADD] = AT_A64_FADD_2D,
        [AT_T_SUB] = AT_A64_FSUB_2D, [AT_T_MUL] = AT_A64_FMUL_2D,  [AT_T_DIV] = AT_A64_FDIV_2D};
    const int s = AT_A64_SCRATCH_VEC;
    switch (op->kind) {
    case AT_T_CONST: constant(x, op); return;
    case AT_T_LOAD:
    case AT_T_BCAST: load(x, op); return;
    case AT_T_STORE: store(x, op); return;
    case AT_T_MOV: at_a64_copy(x, reg(op->dst), reg(op->a)); return;
    case AT_T_MIN:
    case AT_T_MAX: extreme(x, op); return;
    case AT_T_FMS:
        EMIT(x, FNEG_2D, s, reg(op->dst));
        EMIT(x, FMLA_2D, s, reg(op->a), reg(op->b));
        at_a64_copy(x, reg(op->dst), s);
        return;
    default:
        if (!forms[op->kind]) x->code.bad = true;
        else
            at_a64_emit(&x->code, forms[op->kind],
                        (const int64_t[]){reg(op->dst), reg(op->a), reg(op->b)});
    }
}

bool at_encode_neon_doubles(at_arena *arena, at_tile *t) { return at_a64_encode(arena, t, vector); }
