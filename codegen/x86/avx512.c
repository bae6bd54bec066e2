/* codegen/x86/avx512.c: tiles in AVX-512: 32 registers of 16 floats. Everything with a mask
 * operand, so that all registers can be named. */
#include "codegen/x86/encode.h"

#include <string.h>

static void zip(at_x86 *x, const at_tile_op *op) {
    static const at_x86_op ops[] = {AT_X86_VUNPCKLPS, AT_X86_VUNPCKHPS, AT_X86_VUNPCKLPD,
                                    AT_X86_VUNPCKHPD};
    at_x86_arg d = at_vec(op->dst, 16), a = at_vec(op->a, 16), b = at_vec(op->b, 16);
    at_x86_arg args[] = {d, at_mask_reg(0), a, b};
    at_asm_emit(&x->code, ops[op->kind - AT_T_ZIP_LOW], 0, false, 4, args);
}

static void move(at_x86 *x, const at_tile_op *op, bool store) {
    int r = store ? op->a : op->dst, n = op->lanes;
    if (n == 1) {
        at_x86_arg v = at_vec(r, 16), m = at_x86_memory(x, op, 4);
        if (store) EMIT(x, VMOVSS, m, at_mask_reg(0), v);
        else EMIT(x, VMOVSS, v, at_mask_reg(0), m);
        return;
    }
    bool whole = n == 4 || n == 8 || n == 16;
    int bytes = whole ? 4 * n : x->set->width;
    at_x86_arg v = at_vec(r, bytes), m = at_x86_memory(x, op, bytes),
               k = at_mask_reg(whole ? 0 : x->mask_of[n]);
    at_x86_arg store_args[] = {m, k, v}, load_args[] = {v, k, m};
    at_asm_emit(&x->code, AT_X86_VMOVUPS, 0, !store && !whole, 3, store ? store_args : load_args);
}

static void vector(at_x86 *x, const at_tile_op *op) {
    static const at_x86_op arithmetic[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = AT_X86_VFMADD231PS, [AT_T_ADD] = AT_X86_VADDPS, [AT_T_SUB] = AT_X86_VSUBPS,
        [AT_T_MUL] = AT_X86_VMULPS,      [AT_T_DIV] = AT_X86_VDIVPS, [AT_T_MIN] = AT_X86_VMINPS,
        [AT_T_MAX] = AT_X86_VMAXPS};
    at_x86_arg k0 = at_mask_reg(0);
    int32_t bits;
    switch (op->kind) {
    case AT_T_CONST:
        memcpy(&bits, &op->number, sizeof bits);
        if (!bits)
            EMIT(x, VPXORD, at_x86_reg(x, op->dst), k0, at_x86_reg(x, op->dst),
                 at_x86_reg(x, op->dst));
        else {
            EMIT(x, MOV, at_gpr32(AT_X86_SCRATCH), at_imm(bits));
            EMIT(x, VPBROADCASTD, at_x86_reg(x, op->dst), k0, at_gpr32(AT_X86_SCRATCH));
        }
        return;
    case AT_T_LOAD: move(x, op, false); return;
    case AT_T_STORE: move(x, op, true); return;
    case AT_T_BCAST:
        EMIT(x, VBROADCASTSS, at_x86_reg(x, op->dst), k0, at_x86_memory(x, op, 4));
        return;
    case AT_T_MOV: EMIT(x, VMOVAPS, at_x86_reg(x, op->dst), k0, at_x86_reg(x, op->a)); return;
    default: break;
    }
    at_x86_arg b = op->mem == AT_MEM_NONE
                       ? at_x86_reg(x, op->b)
                       : at_x86_memory(x, op, op->mem == AT_MEM_BCAST ? 4 : x->set->width);
    at_x86_arg args[] = {at_x86_reg(x, op->dst), k0, at_x86_reg(x, op->a), b};
    at_asm_emit(&x->code, arithmetic[op->kind], op->mem == AT_MEM_BCAST ? x->set->width / 4 : 0,
                false, 4, args);
}

/* One mask register per number of lanes that is no whole register, set up at entry. */
static void set_masks(at_x86 *x) {
    int next = 1;
    for (int i = 0; i < x->t->num_ops; i++) {
        const at_tile_op *op = &x->t->ops[i];
        int n = op->lanes;
        bool moves = op->kind == AT_T_LOAD || op->kind == AT_T_STORE;
        if (!moves || n == 1 || n == 4 || n == 8 || n == 16 || x->mask_of[n]) continue;
        if (next == 8) x->code.bad = true; /* seven widths of tail in one tile: does not occur */
        x->mask_of[n] = next & 7;
        EMIT(x, MOV, at_gpr32(AT_X86_SCRATCH), at_imm((1 << n) - 1));
        EMIT(x, KMOVW, at_mask_reg(next++ & 7), at_gpr32(AT_X86_SCRATCH));
    }
}

bool at_encode_avx512(at_arena *arena, at_tile *t) {
    static const at_x86_set set = {
        .width = 64, .clears_upper = true, .begin = set_masks, .vector = vector, .zip = zip};
    return at_x86_encode(arena, t, &set);
}
