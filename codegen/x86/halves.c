/* codegen/x86/halves.c: floats of 16 bits are widened as they are loaded, and stored, where they
 * have no more digits: in AVX2 by F16C where the target has it, else by integer arithmetic, as in
 * SSE2. (AVX-512: avx512.c.) */
#include "codegen/x86/encode.h"

/* Element i of memory. */
static at_x86_arg element(at_x86 *x, const at_tile_op *op, int i) {
    at_tile_op one = *op;
    one.off += i;
    return at_x86_memory(x, &one, 2);
}

static bool is_f16(const at_x86 *x, const at_tile_op *op) {
    return x->t->slot_type[op->slot] == AT_F16;
}

/* By F16C? */
static bool is_converted(const at_x86 *x, const at_tile_op *op) {
    return is_f16(x, op) && x->t->target->converts_halves;
}

/* Elements as they lie, in the first words of a register. */
static void gather_words(at_x86 *x, const at_tile_op *op, at_x86_arg v, int n) {
    if (n == 1) {
        EMIT(x, MOVZX, at_gpr32(AT_X86_SCRATCH), element(x, op, 0));
        EMIT(x, VMOVD, v, at_gpr32(AT_X86_SCRATCH));
        return;
    }
    EMIT(x, VXORPS, v, v, v);
    for (int i = 0; i < n; i++) EMIT(x, VPINSRW, v, v, element(x, op, i), at_imm(i));
}

/* to = what the instruction makes of v and of these bits in all lanes, which lie behind the code.
 */
static void with_avx2(at_x86 *x, at_x86_op instruction, at_x86_arg to, at_x86_arg v,
                      uint32_t bits) {
    const at_tile_op number = {.kind = AT_T_CONST, .number = at_number_of_bits(bits)};
    const at_x86_arg args[] = {to, v, at_x86_constant(32)};
    at_asm_emit(&x->code, instruction, 0, false, 3, args);
    at_x86_point(x, &number, 0);
}

#define POWER_112 0x77800000u /* 2^112 and 2^-112, as bits */
#define POWER_MINUS_112 0x07800000u
#define SIGN 0x80000000u

/* As widen_sse2. */
static void widen_avx2(at_x86 *x, int reg) {
    const at_x86_arg v = at_vec(reg, 32), s = at_vec(AT_X86_SCRATCH_VEC, 32);
    const at_tile_op beyond = {.kind = AT_T_CONST, .number = 0x1p16};
    with_avx2(x, AT_X86_VANDPS, s, v, SIGN);
    with_avx2(x, AT_X86_VANDPS, v, v, ~SIGN);
    EMIT(x, VPSRAD, v, v, at_imm(3));
    with_avx2(x, AT_X86_VMULPS, v, v, POWER_112);
    EMIT(x, VORPS, v, v, s);
    with_avx2(x, AT_X86_VANDPS, s, v, ~SIGN);
    EMIT(x, VCMPPS, s, s, at_x86_constant(32), at_imm(5)); /* not less */
    at_x86_point(x, &beyond, 1);
    with_avx2(x, AT_X86_VANDPS, s, s, 0x7f800000);
    EMIT(x, VORPS, v, v, s);
    x->scratch_now = 0;
}

static void narrow_avx2(at_x86 *x, int reg) {
    const at_x86_arg v = at_vec(reg, 32), s = at_vec(AT_X86_SCRATCH_VEC, 32);
    with_avx2(x, AT_X86_VANDPS, s, v, ~SIGN);
    with_avx2(x, AT_X86_VMULPS, s, s, POWER_MINUS_112);
    with_avx2(x, AT_X86_VANDPS, s, s, 0x0fffe000);
    EMIT(x, VPSLLD, s, s, at_imm(3));
    EMIT(x, VXORPS, s, s, v); /* the sign is v's */
    with_avx2(x, AT_X86_VANDPS, s, s, ~SIGN);
    EMIT(x, VXORPS, s, s, v);
}

static void load_avx2(at_x86 *x, const at_tile_op *op) {
    const int n = op->kind == AT_T_BCAST ? 1 : op->lanes, bytes = n > 4 ? 32 : 16;
    const at_x86_arg first = at_vec(op->dst, 16), v = at_vec(op->dst, bytes);
    const bool whole = n == 4 || n == 8;
    if (!whole) gather_words(x, op, first, n);
    const at_x86_arg from = whole ? at_x86_memory(x, op, 2 * n) : first;
    if (is_converted(x, op)) EMIT(x, VCVTPH2PS, v, from);
    else {
        EMIT(x, VPMOVZXWD, v, from);
        EMIT(x, VPSLLD, v, v, at_imm(16));
        if (is_f16(x, op)) widen_avx2(x, op->dst);
    }
    if (op->kind == AT_T_BCAST) EMIT(x, VBROADCASTSS, at_vec(op->dst, 32), first);
}

/* Words of the register, or of one with its upper half. */
static void store_avx2(at_x86 *x, const at_tile_op *op) {
    const int n = op->lanes;
    const bool packed = is_converted(x, op), narrow = is_f16(x, op) && !packed;
    const int reg = narrow ? AT_X86_SCRATCH_VEC : op->a;
    const at_x86_arg v = at_vec(reg, n > 4 ? 32 : 16), s = at_vec(AT_X86_SCRATCH_VEC, 16);
    if (packed && (n == 4 || n == 8)) {
        EMIT(x, VCVTPS2PH, at_x86_memory(x, op, 2 * n), v, at_imm(0));
        return;
    }
    if (packed) EMIT(x, VCVTPS2PH, s, v, at_imm(0));
    if (narrow) narrow_avx2(x, op->a);
    for (int i = 0; i < n; i++) {
        const bool upper = !packed && i >= 4;
        if (upper && i == 4) EMIT(x, VEXTRACTF128, s, v, at_imm(1));
        EMIT(x, VPEXTRW, element(x, op, i), packed || upper ? s : at_vec(reg, 16),
             at_imm(packed ? i : 2 * (i % 4) + 1));
    }
    x->scratch_now = 0;
}

void at_x86_move_halves_avx2(at_x86 *x, const at_tile_op *op, bool store) {
    if (store) store_avx2(x, op);
    else load_avx2(x, op);
}

/* The same where v is the result, too. */
static void with_sse2(at_x86 *x, at_x86_op instruction, at_x86_arg v, uint32_t bits) {
    const at_tile_op number = {.kind = AT_T_CONST, .number = at_number_of_bits(bits)};
    const at_x86_arg args[] = {v, at_x86_constant(16)};
    at_asm_emit(&x->code, instruction, 0, false, 2, args);
    at_x86_point(x, &number, 0);
}

/* Those of IEEE 754, whose bits are the upper halves of v: exponent and fraction, taken as those of
 * a float, are the absolute value times 2^-112 (codegen/tile/functions.c). */
static void widen_sse2(at_x86 *x, at_x86_arg v) {
    const at_x86_arg s = at_vec(AT_X86_SCRATCH_VEC, 16);
    const at_tile_op beyond = {.kind = AT_T_CONST, .number = 0x1p16};
    EMIT(x, MOVAPS, s, v);
    with_sse2(x, AT_X86_ANDPS, s, SIGN);
    with_sse2(x, AT_X86_ANDPS, v, ~SIGN);
    EMIT(x, PSRAD, v, at_imm(3));
    with_sse2(x, AT_X86_MULPS, v, POWER_112);
    EMIT(x, ORPS, v, s);
    EMIT(x, MOVAPS, s, v);
    with_sse2(x, AT_X86_ANDPS, s, ~SIGN);
    EMIT(x, CMPPS, s, at_x86_constant(16), at_imm(5)); /* not less */
    at_x86_point(x, &beyond, 1);
    with_sse2(x, AT_X86_ANDPS, s, 0x7f800000);
    EMIT(x, ORPS, v, s);
}

/* The other way, into the upper halves of the scratch register. */
static void narrow_sse2(at_x86 *x, at_x86_arg v) {
    const at_x86_arg s = at_vec(AT_X86_SCRATCH_VEC, 16);
    EMIT(x, MOVAPS, s, v);
    with_sse2(x, AT_X86_ANDPS, s, ~SIGN);
    with_sse2(x, AT_X86_MULPS, s, POWER_MINUS_112);
    with_sse2(x, AT_X86_ANDPS, s, 0x0fffe000);
    EMIT(x, PSLLD, s, at_imm(3));
    EMIT(x, XORPS, s, v); /* the sign is v's */
    with_sse2(x, AT_X86_ANDPS, s, ~SIGN);
    EMIT(x, XORPS, s, v);
}

static void load_sse2(at_x86 *x, const at_tile_op *op) {
    const int n = op->kind == AT_T_BCAST ? 1 : op->lanes;
    const at_x86_arg v = at_vec(op->dst, 16);
    EMIT(x, XORPS, v, v);
    for (int i = 0; i < n; i++) EMIT(x, PINSRW, v, element(x, op, i), at_imm(2 * i + 1));
    if (is_f16(x, op)) widen_sse2(x, v);
    if (op->kind == AT_T_BCAST) EMIT(x, SHUFPS, v, v, at_imm(0));
}

static void store_sse2(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg v = at_vec(op->a, 16), s = at_vec(AT_X86_SCRATCH_VEC, 16);
    if (is_f16(x, op)) narrow_sse2(x, v);
    for (int i = 0; i < op->lanes; i++) {
        EMIT(x, PEXTRW, at_gpr32(AT_X86_SCRATCH), is_f16(x, op) ? s : v, at_imm(2 * i + 1));
        EMIT(x, MOV, element(x, op, i), at_gpr16(AT_X86_SCRATCH));
    }
}

void at_x86_move_halves_sse2(at_x86 *x, const at_tile_op *op, bool store) {
    if (store) store_sse2(x, op);
    else load_sse2(x, op);
}
