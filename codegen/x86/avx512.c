/* codegen/x86/avx512.c: tiles in AVX-512: 32 registers of 16 floats. Everything with a mask
 * operand, so that all registers can be named. */
#include "codegen/x86/encode.h"
#include "codegen/tile/tile_pick.h"
#include "codegen/tile/tile_wanted.h"

/* False for what is not a number. */
static const uint8_t comparisons[AT_T_KIND_COUNT] = {
    [AT_T_LESS] = 0x11, [AT_T_AT_MOST] = 0x12, [AT_T_EQUAL] = 0x00};
/* True for it. */
#define NOT_LESS 0x15
/* Of three bits, first to third: the second ? the third : the first. */
#define SECOND_CHOOSES 0xb8
/* Mask registers: of comparisons and gathers, where a tile has any; those before, or all of them,
 * of tails. */
enum { COMPARED = 7, MASKS };

/* Floats of 16 bits: those of IEEE 754 are converted, those of upper halves shifted. As copies
 * these have no lower half, so that a register that is stored can be shifted back. */
static void load_halves(at_x86 *x, const at_tile_op *op) {
    const int n = op->lanes;
    const bool is_f16 = x->t->slot_type[op->slot] == AT_F16, whole = n == 4 || n == 8 || n == 16,
               is_one = n == 1 || op->kind == AT_T_BCAST;
    const int width = is_one ? 16 : whole ? 4 * n : 64;
    const at_x86_arg k0 = at_mask_reg(0), v = at_vec(op->dst, width),
                     k = whole || is_one ? k0 : at_x86_mask(x, n);
    const at_x86_op widen = is_f16 ? AT_X86_VCVTPH2PS : AT_X86_VPMOVZXWD;
    if (is_one) EMIT(x, VMOVD, v, at_x86_narrow_element(x, op));
    else {
        const at_x86_arg args[] = {v, k, at_x86_memory(x, op, width / 2)};
        at_asm_emit(&x->code, widen, 0, !whole, 3, args);
    }
    if (is_one && is_f16) EMIT(x, VCVTPH2PS, v, k0, v);
    if (!is_f16) EMIT(x, VPSLLD, v, k0, v, at_imm(16));
    if (op->kind == AT_T_BCAST) EMIT(x, VBROADCASTSS, at_x86_reg(x, op->dst), k0, v);
}

static void store_halves(at_x86 *x, const at_tile_op *op) {
    const int n = op->lanes;
    const bool is_f16 = x->t->slot_type[op->slot] == AT_F16, whole = n == 4 || n == 8 || n == 16;
    const int width = whole ? 4 * n : 64;
    const at_x86_arg k0 = at_mask_reg(0), v = at_vec(op->a, width),
                     k = whole ? k0 : at_x86_mask(x, n);
    if (is_f16) {
        EMIT(x, VCVTPS2PH, at_x86_memory(x, op, width / 2), k, v, at_imm(0));
        return;
    }
    const at_x86_arg all = at_x86_reg(x, op->a); /* lanes beyond are stored later, perhaps */
    EMIT(x, VPSRAD, all, k0, all, at_imm(16));
    EMIT(x, VPMOVDW, at_x86_memory(x, op, width / 2), k, v);
    EMIT(x, VPSLLD, all, k0, all, at_imm(16));
}

/* Of elements narrower than a lane. */
static void move_narrow(at_x86 *x, const at_tile_op *op, bool store) {
    const at_type type = x->t->slot_type[op->slot];
    if (at_type_is_half(type)) {
        if (store) store_halves(x, op);
        else load_halves(x, op);
        return;
    }
    const int n = op->lanes, one = (int)at_type_bytes(type);
    const bool bytes = one == 1, whole = n == 4 || n == 8 || n == 16;
    if (n == 1 && store) {
        const at_x86_arg args[] = {at_x86_memory(x, op, one), at_vec(op->a, 16), at_imm(0)};
        at_asm_emit(&x->code, bytes ? AT_X86_VPEXTRB : AT_X86_VPEXTRW, 0, false, 3, args);
        return;
    }
    if (n == 1) {
        EMIT(x, VMOVD, at_vec(op->dst, 16), at_x86_narrow_element(x, op));
        return;
    }
    const int width = whole ? 4 * n : 64;
    const at_x86_arg v = at_vec(store ? op->a : op->dst, width),
                     m = at_x86_memory(x, op, one * width / 4),
                     k = whole ? at_mask_reg(0) : at_x86_mask(x, n);
    const at_x86_arg store_args[] = {m, k, v}, load_args[] = {v, k, m};
    const at_x86_op load = at_x86_has_sign(x, op) ? bytes ? AT_X86_VPMOVSXBD : AT_X86_VPMOVSXWD
                           : bytes                ? AT_X86_VPMOVZXBD
                                                  : AT_X86_VPMOVZXWD;
    const at_x86_op cut = bytes ? AT_X86_VPMOVDB : AT_X86_VPMOVDW;
    at_asm_emit(&x->code, store ? cut : load, 0, !store && !whole, 3,
                store ? store_args : load_args);
}

/* Each four of lanes from its own place. */
static void load_fours(at_x86 *x, const at_tile_op *op) {
    at_tile_op one = *op;
    const at_x86_arg k0 = at_mask_reg(0), v = at_vec(op->dst, 64);
    EMIT(x, VMOVUPS, at_vec(op->dst, 16), k0, at_x86_memory(x, op, 16));
    for (int i = 1; i < op->lanes / 4; i++) {
        one.off += op->fours;
        EMIT(x, VINSERTF32X4, v, k0, v, at_x86_memory(x, &one, 16), at_imm(i));
    }
}

/* Each four of lanes to its own place. */
static void store_fours(at_x86 *x, const at_tile_op *op) {
    at_tile_op one = *op;
    const at_x86_arg k0 = at_mask_reg(0), v = at_vec(op->a, 64);
    EMIT(x, VMOVUPS, at_x86_memory(x, op, 16), k0, at_vec(op->a, 16));
    for (int i = 1; i < op->lanes / 4; i++) {
        one.off += op->fours;
        EMIT(x, VEXTRACTF32X4, at_x86_memory(x, &one, 16), k0, v, at_imm(i));
    }
}

/* Do lanes of a load go round as an instruction has them, without a permutation? */
static at_x86_op repeats(const at_tile_op *op) {
    if (!op->packed || !op->by || !op->cyclic || op->plus || op->lanes != op->by)
        return AT_X86_COUNT;
    return op->by == 2   ? AT_X86_VBROADCASTSD
           : op->by == 4 ? AT_X86_VBROADCASTF32X4
           : op->by == 8 ? AT_X86_VBROADCASTF64X4
                         : AT_X86_COUNT;
}

static void move(at_x86 *x, const at_tile_op *op, bool store) {
    int r = store ? op->a : op->dst, n = op->lanes;
    if (!store && repeats(op) != AT_X86_COUNT) {
        const at_x86_arg args[] = {at_x86_reg(x, r), at_mask_reg(0), at_x86_memory(x, op, 4 * n)};
        at_asm_emit(&x->code, repeats(op), 0, false, 3, args);
        return;
    }
    if (!at_tile_is_wide(x->t, op)) {
        move_narrow(x, op, store);
        return;
    }
    if (n == 1) {
        at_x86_arg v = at_vec(r, 16), m = at_x86_memory(x, op, 4);
        if (store) EMIT(x, VMOVSS, m, at_mask_reg(0), v);
        else EMIT(x, VMOVSS, v, at_mask_reg(0), m);
        return;
    }
    if (op->fours) {
        if (store) store_fours(x, op);
        else load_fours(x, op);
        return;
    }
    bool whole = n == 4 || n == 8 || n == 16;
    int bytes = whole ? 4 * n : x->set->width;
    at_x86_arg v = at_vec(r, bytes), m = at_x86_memory(x, op, bytes),
               k = whole ? at_mask_reg(0) : at_x86_mask(x, n);
    at_x86_arg store_args[] = {m, k, v}, load_args[] = {v, k, m};
    at_asm_emit(&x->code, AT_X86_VMOVUPS, 0, !store && !whole, 3, store ? store_args : load_args);
}

static void load_entry(at_x86 *x, at_x86_arg into, int entry) {
    EMIT(x, VPMOVZXBD, into, at_mask_reg(0), at_x86_constant(16));
    at_x86_point_spread(x, entry);
}

/* The register that holds an entry throughout; -1: none does. */
static int keeper_of(const at_x86 *x, int entry) {
    for (int r = x->t->num_regs; r < x->t->target->regs - 1; r++)
        if (x->kept[r] == 1 + entry) return r;
    return -1;
}

/* Where lanes are from stands in a register that the tile has left over, else in the last one,
 * which tiles with such operations leave alone. */
static at_x86_arg lanes_of_entry(at_x86 *x, int entry) {
    const int last = x->t->target->regs - 1, kept = keeper_of(x, entry);
    if (kept >= 0) return at_x86_reg(x, kept);
    if (x->scratch_now != -1 - entry) load_entry(x, at_x86_reg(x, last), entry);
    x->scratch_now = -1 - entry;
    return at_x86_reg(x, last);
}

/* The table of both is overwritten by lanes of the one that dst is already, else by where they are
 * from. */
static void merge(at_x86 *x, const at_tile_op *op) {
    const bool is_b = op->dst == op->b && op->dst != op->a;
    const int entry = at_x86_merge_entry(x, op, is_b);
    const at_x86_arg dst = at_x86_reg(x, op->dst), a = at_x86_reg(x, op->a),
                     b = at_x86_reg(x, op->b), k0 = at_mask_reg(0);
    if (is_b || op->dst == op->a) {
        EMIT(x, VPERMT2PS, dst, k0, lanes_of_entry(x, entry), is_b ? a : b);
        return;
    }
    const int kept = keeper_of(x, entry);
    if (kept < 0) load_entry(x, dst, entry);
    else EMIT(x, VMOVAPS, dst, k0, at_x86_reg(x, kept));
    EMIT(x, VPERMI2PS, dst, k0, a, b);
}

static void zip(at_x86 *x, const at_tile_op *op) {
    static const at_x86_op ops[] = {AT_X86_VUNPCKLPS,  AT_X86_VUNPCKHPS,  AT_X86_VUNPCKLPD,
                                    AT_X86_VUNPCKHPD,  AT_X86_VPUNPCKLWD, AT_X86_VPUNPCKHWD,
                                    AT_X86_VPUNPCKLBW, AT_X86_VPUNPCKHBW};
    const int bytes = 4 * op->lanes;
    if (op->kind == AT_T_MERGE) {
        merge(x, op);
        return;
    }
    at_x86_arg d = at_vec(op->dst, bytes), a = at_vec(op->a, bytes), b = at_vec(op->b, bytes);
    at_x86_arg args[] = {d, at_mask_reg(0), a, b};
    at_asm_emit(&x->code, ops[op->kind - AT_T_ZIP_LOW], 0, false, 4, args);
}

static at_x86_arg lanes_from(at_x86 *x, const at_tile_op *op, int part) {
    return lanes_of_entry(x, at_x86_spread_entry(x, op, part));
}

/* Lanes of all quarters, then bytes within each quarter. */
static void weave(at_x86 *x, const at_tile_op *op) {
    const int entry = at_x86_quarters_entry(x);
    const at_x86_arg dst = at_x86_reg(x, op->dst), k0 = at_mask_reg(0);
    EMIT(x, VPERMPS, dst, k0, lanes_of_entry(x, entry), at_x86_reg(x, op->a));
    EMIT(x, VPSHUFB, dst, k0, dst, at_x86_constant(64));
    at_x86_point_spread(x, entry);
}

static void spread(at_x86 *x, const at_tile_op *op) {
    if (repeats(op) != AT_X86_COUNT) return;
    at_x86_arg v = at_x86_reg(x, op->dst), from = lanes_from(x, op, 0);
    EMIT(x, VPERMPS, v, at_mask_reg(0), from, v);
}

/* So far apart that they are one by one, four at a time: the last register, too, takes fours. */
static void pick_singles(at_x86 *x, const at_tile_op *op) {
    at_tile_op one = *op;
    at_x86_arg v = at_x86_reg(x, op->dst), k0 = at_mask_reg(0);
    for (int i = 0; i < op->lanes; i++) {
        at_x86_arg four = at_vec(i < 4 ? op->dst : x->t->target->regs - 1, 16);
        one.off = op->off + at_tile_lane_from(op, i);
        if (i % 4) EMIT(x, VINSERTPS, four, four, at_x86_memory(x, &one, 4), at_imm(i % 4 << 4));
        else EMIT(x, VMOVSS, four, k0, at_x86_memory(x, &one, 4));
        if (i >= 4 && (i % 4 == 3 || i + 1 == op->lanes))
            EMIT(x, VINSERTF32X4, v, k0, v, four, at_imm(i / 4));
    }
    if (op->lanes > 4) x->scratch_now = 0;
}

static void store_singles(at_x86 *x, const at_tile_op *op) {
    at_tile_op one = *op;
    at_x86_arg k0 = at_mask_reg(0);
    for (int i = 0; i < op->lanes; i++, one.off += op->times) {
        at_x86_arg four = at_vec(i < 4 ? op->a : x->t->target->regs - 1, 16),
                   m = at_x86_memory(x, &one, 4);
        if (i >= 4 && i % 4 == 0)
            EMIT(x, VEXTRACTF32X4, four, k0, at_vec(op->a, 64), at_imm(i / 4));
        if (i % 4) EMIT(x, VEXTRACTPS, m, four, at_imm(i % 4));
        else EMIT(x, VMOVSS, m, k0, four);
    }
    if (op->lanes > 4) x->scratch_now = 0;
}

static void pick(at_x86 *x, const at_tile_op *op) {
    if (!at_tile_is_wide(x->t, op)) {
        at_x86_pick_bytes(x, op);
        return;
    }
    if (op->times > AT_TILE_WHOLE_STEP) {
        pick_singles(x, op);
        return;
    }
    at_tile_op first = *op;
    int at[AT_TILE_MAX_PICKS], n = at_tile_pick_parts(op, 16, at);
    at_x86_arg v = at_x86_reg(x, op->dst);
    first.lanes = (uint8_t)at_tile_pick_first(op, 16);
    if (op->times < 0 && (op->lanes == 8 || op->lanes == 16)) {
        const int bytes = 4 * op->lanes;
        const int from = lanes_from(x, op, 0).reg;
        EMIT(x, VPERMPS, at_vec(op->dst, bytes), at_mask_reg(0), at_vec(from, bytes),
             at_x86_memory(x, op, bytes));
        return;
    }
    move(x, &first, false);
    for (int part = n > 1; part < n; part++) {
        bool ends = part == n - 1 && op->lanes < 16; /* the lanes behind are 0 */
        at_x86_arg from = lanes_from(x, op, part),
                   k = ends ? at_x86_mask(x, op->lanes) : at_mask_reg(0);
        first.off = op->off + at[part];
        at_x86_arg one[] = {v, k, from, v}, two[] = {v, k, from, at_x86_memory(x, &first, 64)};
        if (n == 1) at_asm_emit(&x->code, AT_X86_VPERMPS, 0, ends, 4, one);
        else at_asm_emit(&x->code, AT_X86_VPERMT2PS, 0, ends, 4, two);
    }
}

static at_x86_arg mask_of(at_x86 *x, uint32_t bits);

/* To every so many floats: of each register that is written the lanes between stay as they are. */
static void store_apart(at_x86 *x, const at_tile_op *op) {
    if (op->times > AT_TILE_WHOLE_STEP) {
        store_singles(x, op);
        return;
    }
    at_tile_op one = *op;
    for (int part = 0; part < at_tile_spread_parts(op, 16); part++) {
        one.off = at_tile_spread_at(op, 16, part);
        at_x86_arg lanes = lanes_from(x, op, part), to = at_x86_memory(x, &one, 64),
                   v = at_x86_reg(x, x->t->target->regs - 1),
                   k = mask_of(x, at_tile_spread_mask(op, 16, part));
        EMIT(x, VPERMPS, v, at_mask_reg(0), lanes, at_x86_reg(x, op->a));
        EMIT(x, VMOVUPS, to, k, v);
        x->scratch_now = 0;
    }
}

/* Lanes that the mask leaves out do not underflow. */
static void scale(at_x86 *x, const at_tile_op *op) {
    at_x86_arg dst = at_x86_reg(x, op->dst), by = at_x86_reg(x, op->b), k = at_mask_reg(COMPARED);
    at_x86_arg compared[] = {k, at_mask_reg(0), by, at_x86_constant(4), at_imm(NOT_LESS)};
    at_x86_arg scaled[] = {dst, k, at_x86_reg(x, op->a), by};
    at_asm_emit(&x->code, AT_X86_VCMPPS, x->set->width / 4, false, 5, compared);
    at_x86_point(x, op, 1);
    at_asm_emit(&x->code, AT_X86_VSCALEFPS, 0, true, 4, scaled);
}

static void constant(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg k0 = at_mask_reg(0), dst = at_x86_reg(x, op->dst);
    const int32_t bits = (int32_t)at_tile_bits(op);
    if (op->mem) {
        EMIT(x, VBROADCASTSS, dst, k0, at_x86_constant(4));
        at_x86_point(x, op, 0);
    } else if (!bits) EMIT(x, VPXORD, dst, k0, dst, dst);
    else {
        EMIT(x, MOV, at_gpr32(AT_X86_SCRATCH), at_imm(bits));
        EMIT(x, VPBROADCASTD, dst, k0, at_gpr32(AT_X86_SCRATCH));
    }
}

/* From where the lanes of a register say. */
static void gather(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg dst = at_x86_reg(x, op->dst), all = at_mask_reg(COMPARED);
    EMIT(x, VPXORD, dst, at_mask_reg(0), dst, dst);
    if (op->lanes < 16) EMIT(x, KMOVW, all, at_x86_mask(x, op->lanes));
    else EMIT(x, KXNORW, all, all, all);
    EMIT(x, VGATHERDPS, dst, all,
         at_mem_gather(at_x86_pointer(x, op->slot), op->a, op->off * 4, 64));
}

/* Half of a register, of which some cores work out two in the time of a whole one, is enough where
 * nothing depends on the other half. */
static int width_of(const at_x86 *x, const at_tile_op *op) {
    return at_tile_is_half(x->t, x->wanted, op) ? x->set->width / 2 : x->set->width;
}

static void arithmetic(at_x86 *x, const at_tile_op *op) {
    const int width = width_of(x, op);
    const at_x86_op what = op->kind == AT_T_DOT   ? at_x86_dot(op)
                           : op->kind == AT_T_AND ? AT_X86_VPANDD
                           : op->kind == AT_T_OR  ? AT_X86_VPORD
                                                  : at_x86_arithmetic[op->kind];
    const at_x86_arg k0 = at_mask_reg(0), dst = at_vec(op->dst, width), from = at_vec(op->a, width);
    at_x86_arg b = op->mem == AT_MEM_NONE ? at_vec(op->b, width)
                   : op->mem == AT_MEM_CONST
                       ? at_x86_constant(4)
                       : at_x86_memory(x, op, op->mem == AT_MEM_BCAST ? 4 : width);
    int broadcast = op->mem == AT_MEM_BCAST || op->mem == AT_MEM_CONST ? width / 4 : 0;
    if (at_tile_compares(op)) {
        at_x86_arg args[] = {at_mask_reg(COMPARED), k0, from, b, at_imm(comparisons[op->kind])};
        at_asm_emit(&x->code, AT_X86_VCMPPS, broadcast, false, 5, args);
    } else if (op->kind == AT_T_BLEND) {
        at_x86_arg args[] = {dst, k0, from, b, at_imm(SECOND_CHOOSES)};
        at_asm_emit(&x->code, AT_X86_VPTERNLOGD, broadcast, false, 5, args);
    } else {
        at_x86_arg args[] = {dst, k0, from, b};
        at_asm_emit(&x->code, what, broadcast, false, 4, args);
    }
    bool immediate = at_tile_compares(op) || op->kind == AT_T_BLEND;
    if (op->mem == AT_MEM_CONST) at_x86_point(x, op, immediate);
    if (at_tile_compares(op)) EMIT(x, VPMOVM2D, dst, at_mask_reg(COMPARED));
}

static void less_of_narrow(at_x86 *x, const at_tile_op *op) {
    const at_x86_arg k = at_mask_reg(COMPARED), k0 = at_mask_reg(0), a = at_x86_reg(x, op->a),
                     b = at_x86_reg(x, op->b), dst = at_x86_reg(x, op->dst);
    if (op->bits == 8) {
        EMIT(x, VPCMPGTB, k, k0, b, a);
        EMIT(x, VPMOVM2B, dst, k);
    } else {
        EMIT(x, VPCMPGTW, k, k0, b, a);
        EMIT(x, VPMOVM2W, dst, k);
    }
}

static void vector(at_x86 *x, const at_tile_op *op) {
    if (op->bits && op->kind != AT_T_BLEND) {
        if (op->kind == AT_T_LESS) less_of_narrow(x, op);
        else at_x86_narrow(x, op);
        return;
    }
    const int width = width_of(x, op);
    const at_x86_arg k0 = at_mask_reg(0), dst = at_vec(op->dst, width), from = at_vec(op->a, width);
    switch (op->kind) {
    case AT_T_BCAST:
        if (at_type_is_half(x->t->slot_type[op->slot]) && !op->packed) {
            load_halves(x, op);
            return;
        }
        if (!at_tile_is_wide(x->t, op)) {
            EMIT(x, VPBROADCASTD, dst, k0, at_x86_narrow_element(x, op));
            return;
        }
        EMIT(x, VBROADCASTSS, dst, k0, at_x86_memory(x, op, 4));
        return;
    case AT_T_MOV: EMIT(x, VMOVAPS, dst, k0, from); return;
    case AT_T_SQRT: EMIT(x, VSQRTPS, dst, k0, from); return;
    case AT_T_SHIFT_LEFT: EMIT(x, VPSLLD, dst, k0, from, at_imm(op->by)); return;
    case AT_T_SHIFT_RIGHT: EMIT(x, VPSRAD, dst, k0, from, at_imm(op->by)); return;
    case AT_T_TO_FLOAT: EMIT(x, VCVTDQ2PS, dst, k0, from); return;
    case AT_T_TO_INT: EMIT(x, VCVTPS2DQ, dst, k0, from); return;
    case AT_T_GATHER: gather(x, op); return;
    case AT_T_SWAP:
        if (op->by >= 4)
            EMIT(x, VSHUFF64X2, dst, k0, from, from, at_imm(op->by == 8 ? 0x4e : 0xb1));
        else EMIT(x, VPERMILPS, dst, k0, from, at_imm(op->by == 2 ? 0x4e : 0xb1));
        return;
    case AT_T_CUT: {
        const at_x86_arg args[] = {dst, k0, from, at_x86_reg(x, op->b)};
        at_asm_emit(&x->code, at_x86_cut(op), 0, false, 4, args);
        return;
    }
    case AT_T_QUARTERS:
        EMIT(x, VPERMPS, dst, k0, lanes_of_entry(x, at_x86_quarters_entry(x)), from);
        return;
    case AT_T_WEAVE: weave(x, op); return;
    case AT_T_FIRST: EMIT(x, VMOVAPS, dst, at_x86_mask(x, op->lanes), from); return;
    case AT_T_SCALE: scale(x, op); return;
    default: arithmetic(x, op);
    }
}

static void set_mask(at_x86 *x, int reg, uint32_t bits) {
    EMIT(x, MOV, at_gpr32(AT_X86_SCRATCH), at_imm((int)bits));
    EMIT(x, KMOVW, at_mask_reg(reg), at_gpr32(AT_X86_SCRATCH));
}

static uint32_t first_lanes(int n) { return (1u << n) - 1; }

/* The masks that it needs. */
enum { MOST_MASKS = 4 };
static int masks_of(const at_tile *t, const at_tile_op *op, uint32_t masks[MOST_MASKS]) {
    bool picks = op->kind == AT_T_LOAD && op->times, apart = op->kind == AT_T_STORE && op->times;
    if (op->times > AT_TILE_WHOLE_STEP && (picks || apart)) return 0;
    if (picks && ((op->times < 0 && op->lanes == 8) || !at_tile_is_wide(t, op))) return 0;
    int n = picks ? at_tile_pick_first(op, 16) : op->lanes, count = 0;
    bool moves = op->kind == AT_T_LOAD || op->kind == AT_T_STORE ||
                 (op->kind == AT_T_SCATTER && op->cyclic); /* all lanes at once */
    moves &= n != 1 && n != 4 && n != 8;
    moves |= op->kind == AT_T_STORE && n == 1 && at_type_is_half(t->slot_type[op->slot]);
    for (; apart && count < at_tile_spread_parts(op, 16); count++)
        masks[count] = at_tile_spread_mask(op, 16, count);
    if (apart) return count;
    if ((moves || op->kind == AT_T_FIRST || op->kind == AT_T_GATHER) && n != 16)
        masks[count++] = first_lanes(n);
    if (picks && op->lanes != 16) masks[count++] = first_lanes(op->lanes);
    return count;
}

/* A mask register for each mask that it needs, set up at entry. Where there are more masks than
 * registers, as along a diagonal, the last register is set at each use of one of the others. */
void at_x86_set_masks(at_x86 *x) {
    uint32_t which[MASKS + 1];
    int count = 0, end = MASKS;
    for (int i = 0; i < x->t->num_ops; i++) {
        const at_tile_op *op = &x->t->ops[i];
        if (at_tile_compares(op) || op->kind == AT_T_SCALE || op->kind == AT_T_GATHER)
            end = COMPARED;
        uint32_t masks[MOST_MASKS];
        int n = masks_of(x->t, op, masks);
        for (int k = 0; k < n; k++) {
            int seen = 0;
            while (seen < count && which[seen] != masks[k]) seen++;
            if (seen == count && count <= MASKS) which[count++] = masks[k];
        }
    }
    if (1 + count > end) x->shared_mask = --end;
    for (int i = 0; i < count && 1 + i < end; i++) {
        x->mask_of[1 + i] = (uint16_t)which[i];
        set_mask(x, 1 + i, which[i]);
    }
}

static at_x86_arg mask_of(at_x86 *x, uint32_t bits) {
    for (int k = 1; k < MASKS; k++)
        if (x->mask_of[k] == bits) return at_mask_reg(k);
    set_mask(x, x->shared_mask, bits);
    return at_mask_reg(x->shared_mask);
}

at_x86_arg at_x86_mask(at_x86 *x, int lanes) { return mask_of(x, first_lanes(lanes)); }

/* The entries that an operation takes lanes by. */
static int entries_of(at_x86 *x, const at_tile_op *op, int entry[AT_TILE_MAX_PICKS + 1]) {
    const bool apart = op->kind == AT_T_STORE && op->times, loads = op->kind == AT_T_LOAD,
               turned = op->times < 0 && (op->lanes == 8 || op->lanes == 16);
    int at[AT_TILE_MAX_PICKS], n = 0;
    if (op->kind == AT_T_MERGE)
        entry[n++] = at_x86_merge_entry(x, op, op->dst == op->b && op->dst != op->a);
    if (op->kind == AT_T_QUARTERS || op->kind == AT_T_WEAVE) entry[n++] = at_x86_quarters_entry(x);
    if (loads && !op->times && op->by && repeats(op) == AT_X86_COUNT)
        entry[n++] = at_x86_spread_entry(x, op, 0);
    if ((!apart && !(loads && op->times)) || op->times > AT_TILE_WHOLE_STEP ||
        !at_tile_is_wide(x->t, op))
        return n;
    const int parts = turned  ? 1
                      : apart ? at_tile_spread_parts(op, 16)
                              : at_tile_pick_parts(op, 16, at);
    for (int part = loads && parts > 1; part < parts; part++)
        entry[n++] = at_x86_spread_entry(x, op, part);
    return n;
}

/* Registers that the tile leaves over hold entries, as many as there are. */
static void keep_entries(at_x86 *x) {
    int r = x->t->num_regs;
    for (int i = 0; i < x->t->num_ops; i++)
        if (x->t->ops[i].kind == AT_T_SCATTER) return;
    for (int i = 0; i < x->t->num_ops; i++) {
        int entry[AT_TILE_MAX_PICKS + 1], n = entries_of(x, &x->t->ops[i], entry);
        for (int k = 0; k < n && r < x->t->target->regs - 1; k++) {
            bool is_kept = false;
            for (int j = x->t->num_regs; j < r; j++) is_kept |= x->kept[j] == 1 + entry[k];
            if (is_kept || entry[k] >= UINT8_MAX) continue;
            x->kept[r] = (uint8_t)(1 + entry[k]);
            load_entry(x, at_x86_reg(x, r++), entry[k]);
        }
    }
}

static void begin(at_x86 *x) {
    x->wanted = at_tile_wanted_lanes(x->code.arena, x->t);
    at_x86_set_masks(x);
    keep_entries(x);
}

bool at_encode_avx512(at_arena *arena, at_tile *t) {
    static const at_x86_set set = {.width = 64,
                                   .pool_bytes = 4,
                                   .number_bytes = 4,
                                   .clears_upper = true,
                                   .begin = begin,
                                   .move = move,
                                   .spread = spread,
                                   .pick = pick,
                                   .store_apart = store_apart,
                                   .constant = constant,
                                   .vector = vector,
                                   .zip = zip,
                                   .scatter = at_x86_scatter};
    return at_x86_encode(arena, t, &set);
}
