/* codegen/x86/avx2.c: tiles in AVX2 with FMA: 16 registers of 8 floats. */
#include "codegen/x86/encode.h"
#include "codegen/tile/tile_pick.h"

#include <string.h>

/* False for what is not a number. */
static const uint8_t comparisons[AT_T_KIND_COUNT] = {
    [AT_T_LESS] = 0x11, [AT_T_AT_MOST] = 0x12, [AT_T_EQUAL] = 0x00};

static void zip(at_x86 *x, const at_tile_op *op) {
    static const at_x86_op ops[] = {AT_X86_VUNPCKLPS,  AT_X86_VUNPCKHPS,  AT_X86_VUNPCKLPD,
                                    AT_X86_VUNPCKHPD,  AT_X86_VPUNPCKLWD, AT_X86_VPUNPCKHWD,
                                    AT_X86_VPUNPCKLBW, AT_X86_VPUNPCKHBW};
    int bytes = 4 * op->lanes;
    at_x86_arg d = at_vec(op->dst, bytes), a = at_vec(op->a, bytes), b = at_vec(op->b, bytes);
    at_x86_arg args[] = {d, a, b};
    if (op->kind == AT_T_FOURS) EMIT(x, VSHUFPS, d, a, b, at_imm(op->by));
    else if (op->kind == AT_T_HALVES) EMIT(x, VPERM2F128, d, a, b, at_imm(op->by));
    else at_asm_emit(&x->code, ops[op->kind - AT_T_ZIP_LOW], 0, false, 3, args);
}

/* A mask in the scratch register for lanes that no plain move has. */
static void load_mask(at_x86 *x, int lanes) {
    if (x->scratch_now == lanes) return;
    x->scratch_now = lanes;
    EMIT(x, VMOVUPS, at_vec(AT_X86_SCRATCH_VEC, 32),
         at_mem(AT_RIP, 0x10000000, 32)); /* distance patched at the end */
    *at_push(x->code.arena, &x->mask_patches) = (at_x86_patch){x->code.len - 4, x->code.len, lanes};
}

/* ---- elements narrower than a lane ----------------------------------------------------------- */

/* Four or eight lanes at once. */
static void load_together(at_x86 *x, const at_tile_op *op) {
    const int one = (int)at_type_bytes(x->t->slot_type[op->slot]);
    const bool has_sign = at_x86_has_sign(x, op);
    const at_x86_arg args[] = {at_vec(op->dst, 4 * op->lanes),
                               at_x86_memory(x, op, one * op->lanes)};
    const at_x86_op load = one == 1   ? has_sign ? AT_X86_VPMOVSXBD : AT_X86_VPMOVZXBD
                           : has_sign ? AT_X86_VPMOVSXWD
                                      : AT_X86_VPMOVZXWD;
    at_asm_emit(&x->code, load, 0, false, 2, args);
}

/* The lanes behind are 0. */
static void load_narrow(at_x86 *x, const at_tile_op *op) {
    const int n = op->lanes;
    at_tile_op one = *op;
    if (n == 4 || n == 8) {
        load_together(x, op);
        return;
    }
    one.lanes = 1;
    for (int i = 0; i < n; i++, one.off++) {
        const at_x86_arg half = at_vec(i < 4 ? op->dst : AT_X86_SCRATCH_VEC, 16),
                         element = at_x86_narrow_element(x, &one);
        if (i % 4) EMIT(x, VPINSRD, half, half, element, at_imm(i % 4));
        else EMIT(x, VMOVD, half, element);
    }
    if (n < 4) return;
    EMIT(x, VPERM2F128, at_vec(op->dst, 32), at_vec(op->dst, 32), at_vec(AT_X86_SCRATCH_VEC, 32),
         at_imm(0x20));
    x->scratch_now = 0;
}

/* Elements lie within their type. */
static void store_narrow(at_x86 *x, const at_tile_op *op) {
    const at_type type = x->t->slot_type[op->slot];
    const int n = op->lanes, one = (int)at_type_bytes(type);
    const at_x86_arg v = at_vec(op->a, 16), cut = at_vec(AT_X86_SCRATCH_VEC, 16);
    at_tile_op each = *op;
    x->scratch_now = 0;
    if (n > 4) EMIT(x, VEXTRACTI128, cut, at_vec(op->a, 32), at_imm(1));
    EMIT(x, VPACKSSDW, cut, v, n > 4 ? cut : v);
    if (one == 1 && type == AT_U8) EMIT(x, VPACKUSWB, cut, cut, cut);
    else if (one == 1) EMIT(x, VPACKSSWB, cut, cut, cut);
    if (n == 8 && one == 2) EMIT(x, VMOVUPS, at_x86_memory(x, op, 16), cut);
    else if (n * one == 8) EMIT(x, VMOVQ, at_x86_memory(x, op, 8), cut);
    else if (n * one == 4) EMIT(x, VMOVD, at_x86_memory(x, op, 4), cut);
    else
        for (int i = 0; i < n; i++, each.off++)
            if (one == 1) EMIT(x, VPEXTRB, at_x86_memory(x, &each, 1), cut, at_imm(i));
            else EMIT(x, VPEXTRW, at_x86_memory(x, &each, 2), cut, at_imm(i));
}

/* ---- moves ----------------------------------------------------------------------------------- */

/* Both fours of lanes, each from or to its own place. */
static void move_fours(at_x86 *x, const at_tile_op *op, bool store) {
    at_tile_op second = *op;
    second.off += op->fours;
    const int r = store ? op->a : op->dst;
    const at_x86_arg v = at_vec(r, 32), four = at_vec(r, 16), m = at_x86_memory(x, op, 16);
    if (store) EMIT(x, VMOVUPS, m, four);
    else EMIT(x, VMOVUPS, four, m);
    const at_x86_arg other = at_x86_memory(x, &second, 16);
    if (store) EMIT(x, VEXTRACTF128, other, v, at_imm(1));
    else EMIT(x, VINSERTF128, v, v, other, at_imm(1));
}

/* The first lanes of a register, in fours, pairs and singles: stores with a mask take an AMD core
 * as long as ten others. */
static void store_first(at_x86 *x, const at_tile_op *op) {
    at_tile_op piece = *op;
    at_x86_arg half = at_vec(op->a, 16);
    int left = op->lanes;
    if (left > 4) {
        EMIT(x, VMOVUPS, at_x86_memory(x, &piece, 16), half);
        half = at_vec(AT_X86_SCRATCH_VEC, 16);
        EMIT(x, VEXTRACTF128, half, at_vec(op->a, 32), at_imm(1));
        x->scratch_now = 0;
        piece.off += 4;
        left -= 4;
    }
    if (left > 1) EMIT(x, VMOVQ, at_x86_memory(x, &piece, 8), half);
    if (left == 1) EMIT(x, VMOVSS, at_x86_memory(x, &piece, 4), half);
    piece.off += 2;
    if (left == 3) EMIT(x, VEXTRACTPS, at_x86_memory(x, &piece, 4), half, at_imm(2));
}

/* The other lanes become 0. */
static void load_first(at_x86 *x, const at_tile_op *op) {
    if (op->lanes == 2) {
        EMIT(x, VMOVQ, at_vec(op->dst, 16), at_x86_memory(x, op, 8));
        return;
    }
    const at_x86_arg m = at_x86_memory(x, op, 32);
    load_mask(x, op->lanes);
    EMIT(x, VMASKMOVPS, at_vec(op->dst, 32), at_vec(AT_X86_SCRATCH_VEC, 32), m);
}

static void move(at_x86 *x, const at_tile_op *op, bool store) {
    if (op->fours) {
        move_fours(x, op, store);
        return;
    }
    if (at_type_is_half(x->t->slot_type[op->slot]) && !op->packed) {
        at_x86_move_halves_avx2(x, op, store);
        return;
    }
    if (!at_tile_is_wide(x->t, op)) {
        if (store) store_narrow(x, op);
        else load_narrow(x, op);
        return;
    }
    const int n = op->lanes;
    if (n != 1 && n != 4 && n != 8) {
        if (store) store_first(x, op);
        else load_first(x, op);
        return;
    }
    const at_x86_arg v = at_vec(store ? op->a : op->dst, n == 8 ? 32 : 16),
                     m = at_x86_memory(x, op, 4 * n);
    const at_x86_arg store_args[] = {m, v}, load_args[] = {v, m};
    at_asm_emit(&x->code, n == 1 ? AT_X86_VMOVSS : AT_X86_VMOVUPS, 0, false, 2,
                store ? store_args : load_args);
}

/* dst: lanes of a register, from where an entry says. */
static void permute(at_x86 *x, at_x86_arg dst, int entry, at_x86_arg v) {
    const at_x86_arg from = at_vec(AT_X86_SCRATCH_VEC, 32);
    if (x->scratch_now != -1 - entry) {
        EMIT(x, VPMOVZXBD, from, at_x86_constant(8));
        at_x86_point_spread(x, entry);
        x->scratch_now = -1 - entry;
    }
    EMIT(x, VPERMPS, dst, from, v);
}

static void spread(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg v = at_x86_reg(x, op->dst);
    permute(x, v, at_x86_spread_entry(x, op, 0), v);
}

/* The four lanes of a half, out of two loads. */
static void pick_four(at_x86 *x, const at_tile_op *op, const int at[2], const int from[4],
                      int into) {
    at_tile_op one = *op, two = *op;
    one.off += at[0];
    two.off += at[1];
    at_x86_arg half = at_vec(into, 16), a = at_x86_memory(x, &one, 16),
               b = at_x86_memory(x, &two, 16);
    int order = 0;
    for (int i = 0; i < 4; i++) order |= from[i] % 4 << 2 * i;
    if (at[0] == at[1]) {
        EMIT(x, VPERMILPS, half, a, at_imm(order));
        return;
    }
    EMIT(x, VMOVUPS, half, a);
    EMIT(x, VSHUFPS, half, half, b, at_imm(order));
}

/* Every second float, out of two loads: in each half 0 and 2 of the first load, and 1 and 3 of the
 * last, and then pairs 0, 2, 1 and 3. */
static void pick_second(at_x86 *x, const at_tile_op *op) {
    enum { FROM_BOTH = 0xd8 };
    at_tile_op last = *op;
    const at_x86_arg v = at_x86_reg(x, op->dst);
    last.off += 7;
    EMIT(x, VMOVUPS, v, at_x86_memory(x, op, 32));
    EMIT(x, VSHUFPS, v, v, at_x86_memory(x, &last, 32), at_imm(FROM_BOTH));
    EMIT(x, VPERMPD, v, v, at_imm(FROM_BOTH));
}

/* Every so many floats, one by one. */
static void pick_singles(at_x86 *x, const at_tile_op *op, int into, int lane) {
    at_tile_op one = *op;
    at_x86_arg half = at_vec(into, 16);
    for (int i = 0; i < 4 && lane + i < op->lanes; i++) {
        one.off = op->off + at_tile_lane_from(op, lane + i);
        at_x86_arg m = at_x86_memory(x, &one, 4);
        if (i) EMIT(x, VINSERTPS, half, half, m, at_imm(i << 4));
        else EMIT(x, VMOVSS, half, m);
    }
}

static void pick(at_x86 *x, const at_tile_op *op) {
    if (!at_tile_is_wide(x->t, op)) {
        at_x86_pick_bytes(x, op);
        return;
    }
    if (op->times < 0 && op->lanes == 8) {
        permute(x, at_x86_reg(x, op->dst), at_x86_spread_entry(x, op, 0), at_x86_memory(x, op, 32));
        return;
    }
    if (at_tile_picks_second(op)) {
        pick_second(x, op);
        return;
    }
    for (int lane = 0; lane < op->lanes; lane += 4) {
        int at[2], from[4], into = lane ? AT_X86_SCRATCH_VEC : op->dst;
        if (at_tile_pick_four(op, lane, at, from)) pick_four(x, op, at, from, into);
        else pick_singles(x, op, into, lane);
    }
    if (op->lanes <= 4) return;
    at_x86_arg v = at_x86_reg(x, op->dst);
    EMIT(x, VPERM2F128, v, v, at_vec(AT_X86_SCRATCH_VEC, 32), at_imm(0x20));
    x->scratch_now = 0;
}

/* To every so many floats, one by one out of both halves. */
static void store_apart(at_x86 *x, const at_tile_op *op) {
    at_tile_op one = *op;
    for (int i = 0; i < op->lanes; i++, one.off += op->times) {
        at_x86_arg half = at_vec(i < 4 ? op->a : AT_X86_SCRATCH_VEC, 16),
                   m = at_x86_memory(x, &one, 4);
        if (i == 4) EMIT(x, VEXTRACTF128, half, at_vec(op->a, 32), at_imm(1));
        if (i % 4) EMIT(x, VEXTRACTPS, m, half, at_imm(i % 4));
        else EMIT(x, VMOVSS, m, half);
    }
    if (op->lanes > 4) x->scratch_now = 0;
}

static void constant(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg dst = at_x86_reg(x, op->dst), first = at_vec(op->dst, 16);
    const int32_t bits = (int32_t)at_tile_bits(op);
    if (op->mem) {
        EMIT(x, VMOVUPS, dst, at_x86_constant(32));
        at_x86_point(x, op, 0);
    } else if (!bits) EMIT(x, VXORPS, dst, dst, dst);
    else {
        EMIT(x, MOV, at_gpr32(AT_X86_SCRATCH), at_imm(bits));
        EMIT(x, VMOVD, first, at_gpr32(AT_X86_SCRATCH));
        EMIT(x, VBROADCASTSS, dst, first);
    }
}

static void arithmetic(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg dst = at_x86_reg(x, op->dst), from = at_x86_reg(x, op->a),
                     scratch = at_vec(AT_X86_SCRATCH_VEC, 32);
    at_x86_arg b = op->mem == AT_MEM_NONE    ? at_x86_reg(x, op->b)
                   : op->mem == AT_MEM_CONST ? at_x86_constant(32)
                                             : at_x86_memory(x, op, 32);
    at_x86_arg args[] = {dst, from, b};
    int immediate = 0;
    if (at_tile_compares(op))
        EMIT(x, VCMPPS, dst, from, b, at_imm(comparisons[op->kind])), immediate = 1;
    else if (op->kind == AT_T_BLEND) EMIT(x, VANDPS, scratch, from, b);
    else at_asm_emit(&x->code, at_x86_arithmetic[op->kind], 0, false, 3, args);
    if (op->mem == AT_MEM_CONST) at_x86_point(x, op, immediate);
    if (op->kind != AT_T_BLEND) return;
    EMIT(x, VANDNPS, dst, from, dst);
    EMIT(x, VORPS, dst, dst, scratch);
    x->scratch_now = 0; /* it was there */
}

/* By one instruction; else pairs of products are added to 32 bits, those of bytes, which do not
 * leave 16, to 16 bits first. */
static void dot(at_x86 *x, const at_tile_op *op) {
    const at_tile_op ones = {.number = (double)at_of_bits(0x00010001)}; /* in each 16 bits */
    const at_x86_arg dst = at_x86_reg(x, op->dst), a = at_x86_reg(x, op->a),
                     b = op->mem ? at_x86_memory(x, op, 32) : at_x86_reg(x, op->b),
                     pairs = at_x86_reg(x, x->t->target->regs - x->t->target->dot_regs);
    if (!x->t->target->dot_regs) {
        const at_x86_arg args[] = {dst, a, b};
        at_asm_emit(&x->code, at_x86_dot(op), 0, false, 3, args);
        return;
    }
    if (op->by == AT_DOT_S16) {
        EMIT(x, VPMADDWD, pairs, a, b);
        EMIT(x, VPADDD, dst, dst, pairs);
        return;
    }
    EMIT(x, VPMADDUBSW, pairs, a, b);
    EMIT(x, VPMADDWD, pairs, pairs, at_x86_constant(32));
    at_x86_point(x, &ones, 0);
    EMIT(x, VPADDD, dst, dst, pairs);
}

static void vector(at_x86 *x, const at_tile_op *op) {
    if (op->bits && op->kind != AT_T_BLEND) {
        at_x86_narrow(x, op);
        return;
    }
    const at_x86_arg dst = at_x86_reg(x, op->dst), from = at_x86_reg(x, op->a),
                     scratch = at_vec(AT_X86_SCRATCH_VEC, 32);
    switch (op->kind) {
    case AT_T_BCAST:
        if (at_type_is_half(x->t->slot_type[op->slot]) && !op->packed)
            at_x86_move_halves_avx2(x, op, false);
        else if (at_tile_is_wide(x->t, op)) EMIT(x, VBROADCASTSS, dst, at_x86_memory(x, op, 4));
        else {
            EMIT(x, VMOVD, at_vec(op->dst, 16), at_x86_narrow_element(x, op));
            EMIT(x, VBROADCASTSS, dst, at_vec(op->dst, 16));
        }
        return;
    case AT_T_DOT: dot(x, op); return;
    case AT_T_CUT: {
        const at_x86_arg args[] = {dst, from, at_x86_reg(x, op->b)};
        at_asm_emit(&x->code, at_x86_cut(op), 0, false, 3, args);
        return;
    }
    case AT_T_QUARTERS: permute(x, dst, at_x86_quarters_entry(x), from); return;
    case AT_T_MOV: EMIT(x, VMOVAPS, dst, from); return;
    case AT_T_SQRT: EMIT(x, VSQRTPS, dst, from); return;
    case AT_T_SHIFT_LEFT: EMIT(x, VPSLLD, dst, from, at_imm(op->by)); return;
    case AT_T_SHIFT_RIGHT: EMIT(x, VPSRAD, dst, from, at_imm(op->by)); return;
    case AT_T_TO_FLOAT: EMIT(x, VCVTDQ2PS, dst, from); return;
    case AT_T_TO_INT: EMIT(x, VCVTPS2DQ, dst, from); return;
    case AT_T_GATHER: /* takes its mask with it */
        EMIT(x, VXORPS, dst, dst, dst);
        if (op->lanes < 8) load_mask(x, op->lanes);
        else EMIT(x, VPCMPEQD, scratch, scratch, scratch);
        EMIT(x, VGATHERDPS, dst, at_mem_gather(at_x86_pointer(x, op->slot), op->a, op->off * 4, 32),
             scratch);
        x->scratch_now = 0;
        return;
    case AT_T_SWAP:
        if (op->by == 4) EMIT(x, VPERM2F128, dst, from, from, at_imm(1));
        else EMIT(x, VPERMILPS, dst, from, at_imm(op->by == 2 ? 0x4e : 0xb1));
        return;
    case AT_T_FIRST: EMIT(x, VBLENDPS, dst, dst, from, at_imm((1 << op->lanes) - 1)); return;
    default: arithmetic(x, op);
    }
}

/* All masks are windows of one table behind the code. */
static void mask_table(at_x86 *x) {
    if (!x->mask_patches.len) return;
    int32_t table[16];
    for (int i = 0; i < 16; i++) table[i] = i < 8 ? -1 : 0;
    at_asm_align(&x->code, 32);
    int at = x->code.len;
    at_asm_raw(&x->code, table, sizeof table);
    for (int i = 0; i < x->mask_patches.len && !x->code.bad; i++) {
        const at_x86_patch *p = &x->mask_patches.data[i];
        int32_t distance = at + 4 * (8 - p->entry) - p->end;
        memcpy(x->code.code + p->at, &distance, sizeof distance);
    }
}

bool at_encode_avx2(at_arena *arena, at_tile *t) {
    static const at_x86_set set = {.width = 32,
                                   .pool_bytes = 32,
                                   .number_bytes = 4,
                                   .clears_upper = true,
                                   .move = move,
                                   .spread = spread,
                                   .pick = pick,
                                   .store_apart = store_apart,
                                   .constant = constant,
                                   .vector = vector,
                                   .zip = zip,
                                   .scatter = at_x86_scatter,
                                   .end = mask_table};
    return at_x86_encode(arena, t, &set);
}
