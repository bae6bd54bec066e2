/* codegen/x86/doubles.c: tiles whose registers hold doubles, in AVX-512 (8 of them) and AVX2 (4).
 * Floats become doubles as they are loaded, and are rounded as they are stored. Those of SSE2 and
 * of the scalar set are in sse2.c. */
#include "codegen/x86/encode.h"

enum { AVX512_SCRATCH = 31 }; /* kept out of allocation by its row in targets.c */

/* dst = a op b, or a * b joined with dst */
static const at_x86_op arithmetic[AT_T_KIND_COUNT] = {
    [AT_T_FMA] = AT_X86_VFMADD231PD, [AT_T_FNMA] = AT_X86_VFNMADD231PD,
    [AT_T_FMS] = AT_X86_VFMSUB231PD, [AT_T_ADD] = AT_X86_VADDPD,
    [AT_T_SUB] = AT_X86_VSUBPD,      [AT_T_MUL] = AT_X86_VMULPD,
    [AT_T_DIV] = AT_X86_VDIVPD,      [AT_T_MIN] = AT_X86_VMINPD,
    [AT_T_MAX] = AT_X86_VMAXPD};

/* ---- AVX-512 --------------------------------------------------------------------------------- */

/* The first n lanes: as many as half a register, a quarter or one, or those of a mask. */
static void load_512(at_x86 *x, const at_tile_op *op) {
    at_x86_arg k0 = at_mask_reg(0), narrow = at_vec(op->dst, 16);
    int n = op->lanes;
    if (n == 1) {
        EMIT(x, VMOVSS, narrow, k0, at_x86_memory(x, op, 4));
        EMIT(x, VCVTPS2PD, at_x86_reg(x, op->dst), k0, at_vec(op->dst, 32));
        return;
    }
    bool whole = n == 4 || n == 8;
    at_x86_arg args[] = {at_vec(op->dst, n == 4 ? 32 : 64),
                         whole ? at_mask_reg(0) : at_x86_mask(x, n),
                         at_x86_memory(x, op, n == 4 ? 16 : 32)};
    at_asm_emit(&x->code, AT_X86_VCVTPS2PD, 0, !whole, 3, args);
}

static void store_512(at_x86 *x, const at_tile_op *op) {
    at_x86_arg k0 = at_mask_reg(0);
    int n = op->lanes;
    EMIT(x, VCVTPD2PS, at_vec(AVX512_SCRATCH, 32), k0, at_x86_reg(x, op->a));
    if (n == 1) EMIT(x, VMOVSS, at_x86_memory(x, op, 4), k0, at_vec(AVX512_SCRATCH, 16));
    else if (n == 4) EMIT(x, VMOVUPS, at_x86_memory(x, op, 16), k0, at_vec(AVX512_SCRATCH, 16));
    else
        EMIT(x, VMOVUPS, at_x86_memory(x, op, 32), n == 8 ? at_mask_reg(0) : at_x86_mask(x, n),
             at_vec(AVX512_SCRATCH, 32));
}

static void vector_512(at_x86 *x, const at_tile_op *op) {
    at_x86_arg k0 = at_mask_reg(0), dst = at_x86_reg(x, op->dst);
    switch (op->kind) {
    case AT_T_CONST:
        if (op->number == 0) EMIT(x, VPXORD, dst, k0, dst, dst);
        else {
            EMIT(x, VBROADCASTSD, dst, k0, at_x86_constant(8));
            at_x86_point(x, op, 0);
        }
        return;
    case AT_T_LOAD: load_512(x, op); return;
    case AT_T_BCAST: {
        at_x86_arg args[] = {dst, k0, at_x86_memory(x, op, 4)};
        at_asm_emit(&x->code, AT_X86_VCVTPS2PD, 8, false, 3, args);
        return;
    }
    case AT_T_STORE: store_512(x, op); return;
    case AT_T_MOV: EMIT(x, VMOVAPS, dst, k0, at_x86_reg(x, op->a)); return;
    default: break;
    }
    bool constant = op->mem == AT_MEM_CONST;
    at_x86_arg args[] = {dst, k0, at_x86_reg(x, op->a),
                         constant ? at_x86_constant(8) : at_x86_reg(x, op->b)};
    at_asm_emit(&x->code, arithmetic[op->kind], constant ? 8 : 0, false, 4, args);
    if (constant) at_x86_point(x, op, 0);
}

bool at_encode_avx512_doubles(at_arena *arena, at_tile *t) {
    static const at_x86_set set = {.width = 64,
                                   .pool_bytes = 8,
                                   .number_bytes = 8,
                                   .clears_upper = true,
                                   .begin = at_x86_set_masks,
                                   .vector = vector_512};
    return at_x86_encode(arena, t, &set);
}

/* ---- AVX2 ------------------------------------------------------------------------------------ */

/* A memory operand that lies so many floats further. */
static at_x86_arg further(at_x86 *x, const at_tile_op *op, int floats, int bytes) {
    at_x86_arg m = at_x86_memory(x, op, bytes);
    m.value += 4 * floats;
    return m;
}

static void load_256(at_x86 *x, const at_tile_op *op) {
    at_x86_arg s = at_vec(AT_X86_SCRATCH_VEC, 16), dst = at_x86_reg(x, op->dst);
    int n = op->lanes;
    if (n == 4) {
        EMIT(x, VCVTPS2PD, dst, at_x86_memory(x, op, 16));
        return;
    }
    if (n == 1) EMIT(x, VMOVSS, s, at_x86_memory(x, op, 4));
    else EMIT(x, VMOVSD, s, at_x86_memory(x, op, 8));
    if (n == 3) EMIT(x, VINSERTPS, s, s, further(x, op, 2, 4), at_imm(0x20));
    EMIT(x, VCVTPS2PD, dst, s);
}

static void store_256(at_x86 *x, const at_tile_op *op) {
    at_x86_arg s = at_vec(AT_X86_SCRATCH_VEC, 16);
    int n = op->lanes;
    EMIT(x, VCVTPD2PS, s, at_x86_reg(x, op->a));
    if (n == 4) EMIT(x, VMOVUPS, at_x86_memory(x, op, 16), s);
    else if (n == 1) EMIT(x, VMOVSS, at_x86_memory(x, op, 4), s);
    else EMIT(x, VMOVLPS, at_x86_memory(x, op, 8), s);
    if (n == 3) EMIT(x, VEXTRACTPS, further(x, op, 2, 4), s, at_imm(2));
}

static void vector_256(at_x86 *x, const at_tile_op *op) {
    at_x86_arg dst = at_x86_reg(x, op->dst), s = at_vec(AT_X86_SCRATCH_VEC, 16);
    switch (op->kind) {
    case AT_T_CONST:
        if (op->number == 0) EMIT(x, VXORPS, dst, dst, dst);
        else {
            EMIT(x, VMOVUPS, dst, at_x86_constant(32));
            at_x86_point(x, op, 0);
        }
        return;
    case AT_T_LOAD: load_256(x, op); return;
    case AT_T_BCAST:
        EMIT(x, VBROADCASTSS, s, at_x86_memory(x, op, 4));
        EMIT(x, VCVTPS2PD, dst, s);
        return;
    case AT_T_STORE: store_256(x, op); return;
    case AT_T_MOV: EMIT(x, VMOVAPS, dst, at_x86_reg(x, op->a)); return;
    default: break;
    }
    bool constant = op->mem == AT_MEM_CONST;
    at_x86_arg args[] = {dst, at_x86_reg(x, op->a),
                         constant ? at_x86_constant(32) : at_x86_reg(x, op->b)};
    at_asm_emit(&x->code, arithmetic[op->kind], 0, false, 3, args);
    if (constant) at_x86_point(x, op, 0);
}

bool at_encode_avx2_doubles(at_arena *arena, at_tile *t) {
    static const at_x86_set set = {.width = 32,
                                   .pool_bytes = 32,
                                   .number_bytes = 8,
                                   .clears_upper = true,
                                   .vector = vector_256};
    return at_x86_encode(arena, t, &set);
}
