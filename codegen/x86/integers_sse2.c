/* codegen/x86/integers_sse2.c: integers in SSE2, and in scalar code: narrower elements are widened
 * and narrowed by unpacking and packing; products of 32 bits are those of two lanes at a time, the
 * least and the largest a comparison and a choice; pairs of s16 are multiplied and added at once.
 */
#include "codegen/x86/encode.h"

static at_x86_arg scratch(void) { return at_vec(AT_X86_SCRATCH_VEC, 16); }

static at_x86_arg element(at_x86 *x, const at_tile_op *op, int i) {
    at_tile_op one = *op;
    one.off += i;
    return at_x86_memory(x, &one, (int)at_type_bytes(x->t->slot_type[op->slot]));
}

static at_x86_arg loaded(at_x86 *x, const at_tile_op *op, int i) {
    at_tile_op one = *op;
    one.off += i;
    return at_x86_narrow_element(x, &one);
}

/* Four at once: each element twice, or in front of zeros. */
static void load_four(at_x86 *x, const at_tile_op *op, at_x86_arg v) {
    const int bytes = (int)at_type_bytes(x->t->slot_type[op->slot]);
    const bool is_signed = at_x86_has_sign(x, op);
    const at_x86_arg beside = is_signed ? v : scratch();
    if (!is_signed) EMIT(x, XORPS, beside, beside);
    if (bytes == 1) {
        EMIT(x, MOVD, v, at_x86_memory(x, op, 4));
        EMIT(x, PUNPCKLBW, v, beside);
    } else EMIT(x, MOVQ, v, at_x86_memory(x, op, 8));
    EMIT(x, PUNPCKLWD, v, beside);
    if (is_signed) EMIT(x, PSRAD, v, at_imm(32 - 8 * bytes));
}

static void load(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg v = at_vec(op->dst, 16);
    if (op->kind == AT_T_BCAST || op->lanes == 1) {
        EMIT(x, MOVD, v, loaded(x, op, 0));
        if (op->kind == AT_T_BCAST) EMIT(x, SHUFPS, v, v, at_imm(0));
        return;
    }
    if (op->lanes == 4) {
        load_four(x, op, v);
        return;
    }
    EMIT(x, XORPS, v, v);
    for (int i = 0; i < op->lanes; i++) EMIT(x, PINSRW, v, loaded(x, op, i), at_imm(2 * i + 1));
    EMIT(x, PSRAD, v, at_imm(16));
}

/* Elements lie within their type. */
static void store(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg v = at_vec(op->a, 16), s = scratch();
    const bool is_byte = at_type_bytes(x->t->slot_type[op->slot]) == 1;
    if (op->lanes < 4) {
        for (int i = 0; i < op->lanes; i++) {
            EMIT(x, PEXTRW, at_gpr32(AT_X86_SCRATCH), v, at_imm(2 * i));
            EMIT(x, MOV, element(x, op, i),
                 is_byte ? at_gpr8(AT_X86_SCRATCH) : at_gpr16(AT_X86_SCRATCH));
        }
        return;
    }
    EMIT(x, MOVAPS, s, v);
    EMIT(x, PACKSSDW, s, s);
    if (!is_byte) {
        EMIT(x, MOVQ, at_x86_memory(x, op, 8), s);
        return;
    }
    if (at_x86_has_sign(x, op)) EMIT(x, PACKSSWB, s, s);
    else EMIT(x, PACKUSWB, s, s);
    EMIT(x, MOVD, at_x86_memory(x, op, 4), s);
}

void at_x86_move_narrow_sse2(at_x86 *x, const at_tile_op *op, bool stores) {
    if (stores) store(x, op);
    else load(x, op);
}

/* ---- 32 bits --------------------------------------------------------------------------------- */

/* The second operand; where that is a constant, its place comes behind the instruction. */
static void by_second(at_x86 *x, at_x86_op instruction, at_x86_arg d, const at_tile_op *op, int b) {
    const at_x86_arg args[] = {d, op->mem ? at_x86_constant(16) : at_vec(b, 16)};
    at_asm_emit(&x->code, instruction, 0, false, 2, args);
    if (op->mem) at_x86_point(x, op, 0);
}

static void swap_pairs(at_x86 *x, int r) {
    EMIT(x, SHUFPS, at_vec(r, 16), at_vec(r, 16), at_imm(0xb1));
}

/* Products of lanes 0 and 2, and of 1 and 3 where these have changed places. */
static void multiply(at_x86 *x, const at_tile_op *op, int a, int b) {
    const at_x86_arg d = at_vec(op->dst, 16), s = scratch();
    const bool apart = !op->mem && b != op->dst;
    if (op->dst != a) EMIT(x, MOVAPS, d, at_vec(a, 16));
    EMIT(x, MOVAPS, s, d);
    swap_pairs(x, AT_X86_SCRATCH_VEC);
    if (apart) swap_pairs(x, b);
    by_second(x, AT_X86_PMULUDQ, s, op, op->mem || apart ? b : AT_X86_SCRATCH_VEC);
    if (apart) swap_pairs(x, b);
    by_second(x, AT_X86_PMULUDQ, d, op, b);
    EMIT(x, SHUFPS, d, d, at_imm(8));
    EMIT(x, SHUFPS, s, s, at_imm(8));
    EMIT(x, UNPCKLPS, d, s);
}

/* ((a ^ b) & which) ^ b, which being where a is it. */
static void extreme(at_x86 *x, const at_tile_op *op, int a, int b) {
    const at_x86_arg d = at_vec(op->dst, 16), s = scratch();
    if (!op->mem && a == b) {
        EMIT(x, MOVAPS, d, at_vec(a, 16));
        return;
    }
    if (op->kind == AT_T_INT_MAX) {
        EMIT(x, MOVAPS, s, at_vec(a, 16));
        by_second(x, AT_X86_PCMPGTD, s, op, b);
    } else {
        by_second(x, AT_X86_MOVAPS, s, op, b);
        EMIT(x, PCMPGTD, s, at_vec(a, 16));
    }
    if (op->dst != a) EMIT(x, MOVAPS, d, at_vec(a, 16));
    by_second(x, AT_X86_XORPS, d, op, b);
    EMIT(x, ANDPS, d, s);
    by_second(x, AT_X86_XORPS, d, op, b);
}

void at_x86_integers_sse2(at_x86 *x, const at_tile_op *op) {
    int a = op->a, b = op->b;
    if (!op->mem && b == op->dst) b = a, a = op->dst; /* either may come first */
    if (op->kind == AT_T_INT_MUL) multiply(x, op, a, b);
    else extreme(x, op, a, b);
}

void at_x86_dot_sse2(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg s = scratch();
    EMIT(x, MOVAPS, s, at_vec(op->a, 16));
    EMIT(x, PMADDWD, s, at_vec(op->b, 16));
    EMIT(x, PADDD, at_vec(op->dst, 16), s);
}
