/* codegen/x86/sse2.c: tiles in SSE2, 16 registers of 4 floats, and scalar code in their lowest
 * lane. An instruction has two operands, the first of which is overwritten. */
#include "codegen/x86/encode.h"
#include "codegen/tile/tile_pick.h"

static void zip(at_x86 *x, const at_tile_op *op) {
    static const at_x86_op ops[] = {AT_X86_UNPCKLPS,  AT_X86_UNPCKHPS,  AT_X86_UNPCKLPD,
                                    AT_X86_UNPCKHPD,  AT_X86_PUNPCKLWD, AT_X86_PUNPCKHWD,
                                    AT_X86_PUNPCKLBW, AT_X86_PUNPCKHBW};
    at_x86_arg s = at_vec(AT_X86_SCRATCH_VEC, 16);
    at_x86_arg args[] = {s, at_vec(op->b, 16)};
    EMIT(x, MOVAPS, s, at_vec(op->a, 16));
    if (op->kind == AT_T_FOURS) EMIT(x, SHUFPS, s, at_vec(op->b, 16), at_imm(op->by));
    else at_asm_emit(&x->code, ops[op->kind - AT_T_ZIP_LOW], 0, false, 2, args);
    EMIT(x, MOVAPS, at_vec(op->dst, 16), s);
}

static void move_narrow(at_x86 *x, const at_tile_op *op, bool store) {
    if (at_type_is_half(x->t->slot_type[op->slot])) at_x86_move_halves_sse2(x, op, store);
    else at_x86_move_narrow_sse2(x, op, store);
}

static void move(at_x86 *x, const at_tile_op *op, bool store) {
    if (!at_tile_is_wide(x->t, op)) {
        move_narrow(x, op, store);
        return;
    }
    int n = op->lanes;
    at_x86_arg v = at_vec(store ? op->a : op->dst, 16), s = at_vec(AT_X86_SCRATCH_VEC, 16);
    at_x86_op how = n == 1 ? AT_X86_MOVSS : n == 4 ? AT_X86_MOVUPS : AT_X86_MOVLPS;
    at_x86_arg m = at_x86_memory(x, op, n == 1 ? 4 : n == 4 ? 16 : 8);
    if (!store && (n == 2 || n == 3)) EMIT(x, XORPS, v, v); /* movlps keeps the upper half */
    at_x86_arg store_args[] = {m, v}, load_args[] = {v, m};
    at_asm_emit(&x->code, how, 0, false, 2, store ? store_args : load_args);
    if (n != 3) return;
    at_x86_arg third = m;
    third.value += 8;
    third.bytes = 4;
    if (store) {
        EMIT(x, MOVHLPS, s, v);
        EMIT(x, MOVSS, third, s);
    } else {
        EMIT(x, MOVSS, s, third);
        EMIT(x, MOVLHPS, v, s);
    }
}

static void spread(at_x86 *x, const at_tile_op *op) {
    at_x86_arg v = at_x86_reg(x, op->dst);
    int order = 0;
    for (int i = 0; i < 4; i++) order |= at_tile_spread_from(op, i) << 2 * i;
    EMIT(x, SHUFPS, v, v, at_imm(order));
}

/* Every so many floats, out of two loads or one by one. */
static void pick(at_x86 *x, const at_tile_op *op) {
    at_x86_arg v = at_x86_reg(x, op->dst), s = at_vec(AT_X86_SCRATCH_VEC, 16);
    at_tile_op one = *op;
    int at[2], from[4], order = 0;
    if (at_tile_pick_four(op, 0, at, from)) {
        const bool is_one = at[0] == at[1];
        for (int i = 0; i < 2 - is_one; i++) {
            one.off = op->off + at[i];
            EMIT(x, MOVUPS, i ? s : v, at_x86_memory(x, &one, 16));
        }
        for (int i = 0; i < 4; i++) order |= from[i] % 4 << 2 * i;
        EMIT(x, SHUFPS, v, is_one ? v : s, at_imm(order));
        return;
    }
    for (int i = 0; i < op->lanes; i++) {
        one.off = op->off + at_tile_lane_from(op, i);
        EMIT(x, MOVSS, i ? s : v, at_x86_memory(x, &one, 4));
        if (i == 1) EMIT(x, UNPCKLPS, v, s);
        if (i == 2) EMIT(x, MOVLHPS, v, s);
        if (i < 3) continue;
        EMIT(x, SHUFPS, s, s, at_imm(0x15)); /* to the last lane; the others are 0 */
        EMIT(x, ORPS, v, s);
    }
}

/* To every so many floats, one by one. */
static void store_apart(at_x86 *x, const at_tile_op *op) {
    at_x86_arg v = at_x86_reg(x, op->a), s = at_vec(AT_X86_SCRATCH_VEC, 16);
    at_tile_op one = *op;
    for (int i = 0; i < op->lanes; i++, one.off += op->times) {
        if (i) EMIT(x, MOVAPS, s, v);
        if (i) EMIT(x, SHUFPS, s, s, at_imm(i));
        EMIT(x, MOVSS, at_x86_memory(x, &one, 4), i ? s : v);
    }
}

/* The second operand, of so many bytes in memory. */
static at_x86_arg second(at_x86 *x, const at_tile_op *op, int bytes) {
    if (op->mem == AT_MEM_CONST) return at_x86_constant(bytes);
    return op->mem ? at_x86_memory(x, op, bytes) : at_x86_reg(x, op->b);
}

/* Whole registers, in the scalar set too, where the lowest lane counts. */
static void compare(at_x86 *x, const at_tile_op *op) {
    at_x86_arg s = at_vec(AT_X86_SCRATCH_VEC, 16);
    EMIT(x, MOVAPS, s, at_x86_reg(x, op->a));
    EMIT(x, CMPPS, s, second(x, op, 16),
         at_imm(op->kind == AT_T_LESS      ? 1
                : op->kind == AT_T_AT_MOST ? 2
                                           : 0));
    if (op->mem == AT_MEM_CONST) at_x86_point(x, op, 1);
    EMIT(x, MOVAPS, at_x86_reg(x, op->dst), s);
}

/* d ^ ((d ^ b) & mask) */
static void blend(at_x86 *x, const at_tile_op *op) {
    at_x86_arg s = at_vec(AT_X86_SCRATCH_VEC, 16), d = at_x86_reg(x, op->dst);
    EMIT(x, MOVAPS, s, second(x, op, 16));
    if (op->mem == AT_MEM_CONST) at_x86_point(x, op, 0);
    EMIT(x, XORPS, s, d);
    EMIT(x, ANDPS, s, at_x86_reg(x, op->a));
    EMIT(x, XORPS, d, s);
}

static void shift(at_x86 *x, const at_tile_op *op) {
    at_x86_arg d = at_x86_reg(x, op->dst);
    if (op->dst != op->a) EMIT(x, MOVAPS, d, at_x86_reg(x, op->a));
    if (op->kind == AT_T_SHIFT_LEFT) EMIT(x, PSLLD, d, at_imm(op->by));
    else EMIT(x, PSRAD, d, at_imm(op->by));
}

/* Of three lanes: a2 a3 d2 d3, then a2 a3 a2 d3, then the first two. */
static void first(at_x86 *x, const at_tile_op *op) {
    at_x86_arg d = at_x86_reg(x, op->dst), a = at_x86_reg(x, op->a);
    if (op->dst == op->a) return;
    if (op->lanes == 3) {
        EMIT(x, MOVHLPS, d, a);
        EMIT(x, SHUFPS, d, d, at_imm(0xc4));
    }
    if (op->lanes == 1) EMIT(x, MOVSS, d, a);
    else if (op->lanes == 4) EMIT(x, MOVAPS, d, a);
    else EMIT(x, MOVSD, d, a);
}

/* with: the instruction of each kind; bytes: of a memory operand. */
static void arithmetic(at_x86 *x, const at_tile_op *op, const at_x86_op *with, int bytes) {
    at_x86_arg d = at_x86_reg(x, op->dst), a = at_x86_reg(x, op->a),
               s = at_vec(AT_X86_SCRATCH_VEC, 16);
    at_x86_arg b = second(x, op, bytes);
    bool term = at_tile_joins_product(op);
    int kind = term ? AT_T_MUL : op->kind == AT_T_MUL_ADD ? AT_T_ADD : op->kind;
    if (op->kind == AT_T_MUL_ADD) {
        at_x86_arg args[] = {d, a};
        at_asm_emit(&x->code, with[AT_T_MUL], 0, false, 2, args);
    }
    if (op->kind == AT_T_MUL_ADD || (!term && op->dst == op->a)) {
        at_x86_arg args[] = {d, b};
        at_asm_emit(&x->code, with[kind], 0, false, 2, args);
        if (op->mem == AT_MEM_CONST) at_x86_point(x, op, 0);
        return;
    }
    EMIT(x, MOVAPS, s, a);
    at_x86_arg args[] = {s, b};
    at_asm_emit(&x->code, with[kind], 0, false, 2, args);
    if (op->mem == AT_MEM_CONST) at_x86_point(x, op, 0);
    if (op->kind == AT_T_FMS) {
        at_x86_arg rest[] = {s, d};
        at_asm_emit(&x->code, with[AT_T_SUB], 0, false, 2, rest);
    }
    at_x86_arg sum[] = {d, s};
    at_x86_op last = op->kind == AT_T_FMA    ? with[AT_T_ADD]
                     : op->kind == AT_T_FNMA ? with[AT_T_SUB]
                                             : AT_X86_MOVAPS;
    at_asm_emit(&x->code, last, 0, false, 2, sum);
}

static void constant(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg dst = at_x86_reg(x, op->dst);
    const int32_t bits = (int32_t)at_tile_bits(op);
    if (op->mem) {
        EMIT(x, MOVAPS, dst, at_x86_constant(16));
        at_x86_point(x, op, 0);
    } else if (!bits) EMIT(x, XORPS, dst, dst);
    else {
        EMIT(x, MOV, at_gpr32(AT_X86_SCRATCH), at_imm(bits));
        EMIT(x, MOVD, dst, at_gpr32(AT_X86_SCRATCH));
        EMIT(x, SHUFPS, dst, dst, at_imm(0));
    }
}

static void vector_op(at_x86 *x, const at_tile_op *op, const at_x86_op *with, int bytes) {
    switch (op->kind) {
    case AT_T_BCAST:
        if (!at_tile_is_wide(x->t, op)) {
            move_narrow(x, op, false);
            return;
        }
        EMIT(x, MOVSS, at_x86_reg(x, op->dst), at_x86_memory(x, op, 4));
        EMIT(x, SHUFPS, at_x86_reg(x, op->dst), at_x86_reg(x, op->dst), at_imm(0));
        return;
    case AT_T_MOV: EMIT(x, MOVAPS, at_x86_reg(x, op->dst), at_x86_reg(x, op->a)); return;
    case AT_T_SQRT: {
        at_x86_arg args[] = {at_x86_reg(x, op->dst), at_x86_reg(x, op->a)};
        at_asm_emit(&x->code, with[op->kind], 0, false, 2, args);
        return;
    }
    case AT_T_SHIFT_LEFT:
    case AT_T_SHIFT_RIGHT: shift(x, op); return;
    case AT_T_TO_INT: EMIT(x, CVTPS2DQ, at_x86_reg(x, op->dst), at_x86_reg(x, op->a)); return;
    case AT_T_TO_FLOAT: EMIT(x, CVTDQ2PS, at_x86_reg(x, op->dst), at_x86_reg(x, op->a)); return;
    case AT_T_SWAP:
        if (op->dst != op->a) EMIT(x, MOVAPS, at_x86_reg(x, op->dst), at_x86_reg(x, op->a));
        EMIT(x, SHUFPS, at_x86_reg(x, op->dst), at_x86_reg(x, op->dst),
             at_imm(op->by == 2 ? 0x4e : 0xb1));
        return;
    case AT_T_FIRST: first(x, op); return;
    case AT_T_INT_MUL:
    case AT_T_INT_MIN:
    case AT_T_INT_MAX: at_x86_integers_sse2(x, op); return;
    case AT_T_DOT: at_x86_dot_sse2(x, op); return;
    case AT_T_LESS:
    case AT_T_AT_MOST:
    case AT_T_EQUAL: compare(x, op); return;
    case AT_T_BLEND: blend(x, op); return;
    case AT_T_AND:
    case AT_T_OR:
    case AT_T_INT_ADD:
    case AT_T_INT_SUB: arithmetic(x, op, with, 16); return;
    default: arithmetic(x, op, with, bytes);
    }
}

static void vector(at_x86 *x, const at_tile_op *op) {
    static const at_x86_op packed[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = AT_X86_ADDPS,     [AT_T_SUB] = AT_X86_SUBPS,  [AT_T_MUL] = AT_X86_MULPS,
        [AT_T_DIV] = AT_X86_DIVPS,     [AT_T_MIN] = AT_X86_MINPS,  [AT_T_MAX] = AT_X86_MAXPS,
        [AT_T_AND] = AT_X86_ANDPS,     [AT_T_OR] = AT_X86_ORPS,    [AT_T_INT_ADD] = AT_X86_PADDD,
        [AT_T_INT_SUB] = AT_X86_PSUBD, [AT_T_SQRT] = AT_X86_SQRTPS};
    vector_op(x, op, packed, 16);
}

static void scalar(at_x86 *x, const at_tile_op *op) {
    static const at_x86_op single[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = AT_X86_ADDSS,     [AT_T_SUB] = AT_X86_SUBSS,  [AT_T_MUL] = AT_X86_MULSS,
        [AT_T_DIV] = AT_X86_DIVSS,     [AT_T_MIN] = AT_X86_MINSS,  [AT_T_MAX] = AT_X86_MAXSS,
        [AT_T_AND] = AT_X86_ANDPS,     [AT_T_OR] = AT_X86_ORPS,    [AT_T_INT_ADD] = AT_X86_PADDD,
        [AT_T_INT_SUB] = AT_X86_PSUBD, [AT_T_SQRT] = AT_X86_SQRTSS};
    vector_op(x, op, single, 4);
}

/* Registers of two doubles, or of one. */
static void doubles(at_x86 *x, const at_tile_op *op) {
    static const at_x86_op with[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = AT_X86_ADDPD, [AT_T_SUB] = AT_X86_SUBPD, [AT_T_MUL] = AT_X86_MULPD,
        [AT_T_DIV] = AT_X86_DIVPD, [AT_T_MIN] = AT_X86_MINPD, [AT_T_MAX] = AT_X86_MAXPD};
    at_x86_arg s = at_vec(AT_X86_SCRATCH_VEC, 16);
    bool is_one = op->kind == AT_T_BCAST || op->lanes == 1;
    switch (op->kind) {
    case AT_T_CONST:
        if (op->number == 0) EMIT(x, XORPS, at_x86_reg(x, op->dst), at_x86_reg(x, op->dst));
        else {
            EMIT(x, MOVAPS, at_x86_reg(x, op->dst), at_x86_constant(16));
            at_x86_point(x, op, 0);
        }
        return;
    case AT_T_LOAD:
    case AT_T_BCAST:
        if (is_one) EMIT(x, MOVSS, s, at_x86_memory(x, op, 4));
        if (op->kind == AT_T_BCAST) EMIT(x, UNPCKLPS, s, s);
        EMIT(x, CVTPS2PD, at_x86_reg(x, op->dst), is_one ? s : at_x86_memory(x, op, 8));
        return;
    case AT_T_STORE:
        EMIT(x, CVTPD2PS, s, at_x86_reg(x, op->a));
        if (is_one) EMIT(x, MOVSS, at_x86_memory(x, op, 4), s);
        else EMIT(x, MOVLPS, at_x86_memory(x, op, 8), s);
        return;
    case AT_T_MOV: EMIT(x, MOVAPS, at_x86_reg(x, op->dst), at_x86_reg(x, op->a)); return;
    default: arithmetic(x, op, with, 16);
    }
}

bool at_encode_sse2_doubles(at_arena *arena, at_tile *t) {
    static const at_x86_set set = {
        .width = 16, .pool_bytes = 16, .number_bytes = 8, .vector = doubles};
    return at_x86_encode(arena, t, &set);
}

#define MOVES                                                                                      \
    .width = 16, .pool_bytes = 16, .number_bytes = 4, .move = move, .spread = spread,              \
    .pick = pick, .store_apart = store_apart, .constant = constant, .zip = zip,                    \
    .scatter = at_x86_scatter

bool at_encode_sse2(at_arena *arena, at_tile *t) {
    static const at_x86_set set = {MOVES, .vector = vector};
    return at_x86_encode(arena, t, &set);
}

bool at_encode_scalar(at_arena *arena, at_tile *t) {
    static const at_x86_set set = {MOVES, .vector = scalar};
    return at_x86_encode(arena, t, &set);
}
