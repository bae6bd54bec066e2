/* codegen/aarch64/neon.c: tiles in NEON: 32 registers of 4 floats; scalar code is the same of their
 * lowest lane. */
#include "codegen/aarch64/encode.h"

static int reg(int r) { return at_a64_vector(r); }

/* ---- memory ---------------------------------------------------------------------------------- */

/* One lane of a register, from or to `at` bytes behind the pointer's. */
static void move_lane(at_a64 *x, const at_tile_op *op, bool store, int v, int lane, int64_t at) {
    const int address = at_a64_address(x, op, at);
    at_a64_emit(&x->code, store ? AT_A64_ST1_S : AT_A64_LD1_S, (const int64_t[]){v, lane, address});
}

/* How elements of a type narrower than a lane are widened, and made of a lane: floats of 16 bits
 * are converted, or are upper halves, integers are extended, or are the lowest bits. */
typedef struct narrow {
    at_a64_form widen[2], cut[2]; /* one after the other; 0: there is no second one */
} narrow;

static narrow narrow_of(at_type type) {
    switch (type) {
    case AT_U8:
    case AT_BOOL:
        return (narrow){{AT_A64_USHLL_8, AT_A64_USHLL_16}, {AT_A64_XTN_32, AT_A64_XTN_16}};
    case AT_S8: return (narrow){{AT_A64_SSHLL_8, AT_A64_SSHLL_16}, {AT_A64_XTN_32, AT_A64_XTN_16}};
    case AT_F16: return (narrow){{AT_A64_FCVTL_H}, {AT_A64_FCVTN_H}};
    case AT_BF16: return (narrow){{AT_A64_SHLL_16}, {AT_A64_SHRN_16}};
    default: return (narrow){{AT_A64_SSHLL_16}, {AT_A64_XTN_32}};
    }
}

static void convert(at_a64 *x, const at_a64_form forms[2], int into, int from) {
    at_a64_emit(&x->code, forms[0], (const int64_t[]){into, from});
    if (forms[1]) at_a64_emit(&x->code, forms[1], (const int64_t[]){into, into});
}

static void move_narrow(at_a64 *x, const at_tile_op *op, bool store, int v) {
    static const at_a64_form loads[] = {AT_A64_LD1_B, AT_A64_LD1_H},
                             stores[] = {AT_A64_ST1_B, AT_A64_ST1_H};
    const at_type type = x->t->slot_type[op->slot];
    const narrow how = narrow_of(type);
    const int s = store ? AT_A64_SCRATCH_VEC : v, log2_one = at_type_bytes(type) == 2,
              n = op->kind == AT_T_BCAST ? 1 : op->lanes;
    if (store) convert(x, how.cut, s, v);
    at_a64_move(x, op, store, s, n == 4 ? 2 + log2_one : log2_one, 0);
    for (int i = 1; i < n && n < 4; i++)
        at_a64_emit(&x->code, (store ? stores : loads)[log2_one],
                    (const int64_t[]){s, i, at_a64_address(x, op, (int64_t)i << log2_one)});
    if (!store) convert(x, how.widen, v, v);
}

/* The first lanes; the others of a load are 0. */
static void move(at_a64 *x, const at_tile_op *op, bool store, int v) {
    static const int log2_bytes[] = {0, 2, 3, 3, 4};
    if (!at_tile_is_wide(x->t, op)) {
        move_narrow(x, op, store, v);
        return;
    }
    at_a64_move(x, op, store, v, log2_bytes[op->lanes], 0);
    if (op->lanes == 3) move_lane(x, op, store, v, 2, 8);
}

/* To or from every so many floats, or a turned load, one by one. */
static void move_apart(at_a64 *x, const at_tile_op *op, bool store, int v) {
    for (int i = 0; i < op->lanes; i++) {
        const int64_t at = 4 * (int64_t)at_tile_lane_from(op, i);
        if (i == 0) at_a64_move(x, op, store, v, 2, at);
        else move_lane(x, op, store, v, i, at);
    }
}

/* Lanes of what was loaded as it lies. */
static void permute(at_a64 *x, const at_tile_op *op, int v) {
    at_a64_lanes lanes;
    for (int i = 0; i < 16; i++) {
        const int from = op->times ? at_tile_lane_from(op, i / 4) : at_tile_spread_from(op, i / 4);
        lanes.byte[i] = (uint8_t)(4 * from + i % 4);
    }
    at_a64_permute(x, v, v, &lanes);
}

/* Floats of 16 bits as they lie. */
static void load_halves(at_a64 *x, const at_tile_op *op, int v) {
    const int n = op->lanes, whole = n >= 8 ? 3 : n >= 4 ? 2 : n >= 2 ? 1 : 0;
    if (op->kind == AT_T_BCAST) {
        EMIT(x, LD1R_8H, v, at_a64_address(x, op, 0));
        return;
    }
    at_a64_move(x, op, false, v, whole + 1, 0);
    for (int i = 1 << whole; i < n; i++) EMIT(x, LD1_H, v, i, at_a64_address(x, op, 2 * i));
}

static void load(at_a64 *x, const at_tile_op *op) {
    const int v = reg(op->dst);
    if (op->halves) {
        load_halves(x, op, v);
        return;
    }
    const bool is_turned = op->times < 0 && op->lanes == x->t->lanes;
    if (op->times && !is_turned) {
        move_apart(x, op, false, v);
        return;
    }
    move(x, op, false, v);
    if (op->by || is_turned) permute(x, op, v);
}

static void broadcast(at_a64 *x, const at_tile_op *op) {
    const int v = reg(op->dst);
    if (op->halves) {
        load_halves(x, op, v);
        return;
    }
    if (!at_tile_is_wide(x->t, op)) {
        move_narrow(x, op, false, v);
        EMIT(x, DUP_LANE, v, v, 0);
        return;
    }
    if (!op->off) {
        EMIT(x, LD1R, v, at_a64_address(x, op, 0));
        return;
    }
    at_a64_move(x, op, false, v, 2, 0);
    EMIT(x, DUP_LANE, v, v, 0);
}

/* ---- registers ------------------------------------------------------------------------------- */

static void constant(at_a64 *x, const at_tile_op *op) {
    const uint32_t bits = at_tile_bits(op);
    int64_t eight;
    if (!bits) EMIT(x, CLEAR, reg(op->dst));
    else if (at_a64_short_float(op->number, &eight)) EMIT(x, FMOV, reg(op->dst), eight);
    else {
        at_a64_number(x, AT_X16, bits);
        EMIT(x, DUP_X, reg(op->dst), AT_X16);
    }
}

/* dst = a where it is less (or greater), else b. */
static void extreme(at_a64 *x, const at_tile_op *op) {
    const int d = reg(op->dst), a = reg(op->a), b = reg(op->b), s = AT_A64_SCRATCH_VEC;
    if (op->kind == AT_T_MIN) EMIT(x, FCMGT, s, b, a);
    else EMIT(x, FCMGT, s, a, b);
    if (d == a) EMIT(x, BIF, d, b, s);
    else if (d == b) EMIT(x, BIT, d, a, s);
    else {
        EMIT(x, BSL, s, a, b);
        at_a64_copy(x, d, s);
    }
}

/* a*b - dst, or dst*a + b: summed up beside what is read. */
static void multiply_beside(at_a64 *x, const at_tile_op *op) {
    const int d = reg(op->dst), a = reg(op->a), b = reg(op->b), s = AT_A64_SCRATCH_VEC;
    if (op->kind == AT_T_FMS) {
        EMIT(x, FNEG, s, d);
        EMIT(x, FMLA, s, a, b);
    } else {
        at_a64_copy(x, s, b);
        EMIT(x, FMLA, s, d, a);
    }
    at_a64_copy(x, d, s);
}

/* The first lanes of dst become a's. */
static void first(at_a64 *x, const at_tile_op *op) {
    const int d = reg(op->dst), a = reg(op->a), n = op->lanes;
    if (d == a) return;
    if (n == 4) at_a64_copy(x, d, a);
    else if (n == 1) EMIT(x, MOV_LANE, d, 0, a, 0);
    else EMIT(x, MOV_LANE2, d, 0, a, 0);
    if (n == 3) EMIT(x, MOV_LANE, d, 2, a, 2);
}

/* Two lanes of a, then two of b. */
static void fours(at_a64 *x, const at_tile_op *op) {
    const int d = reg(op->dst), s = AT_A64_SCRATCH_VEC;
    switch (op->by) {
    case 0x88: EMIT(x, UZP1, d, reg(op->a), reg(op->b)); return;
    case 0xdd: EMIT(x, UZP2, d, reg(op->a), reg(op->b)); return;
    case 0x44: EMIT(x, ZIP1_2D, d, reg(op->a), reg(op->b)); return;
    case 0xee: EMIT(x, ZIP2_2D, d, reg(op->a), reg(op->b)); return;
    default: break;
    }
    for (int i = 0; i < 4; i++)
        EMIT(x, MOV_LANE, s, i, reg(i < 2 ? op->a : op->b), op->by >> 2 * i & 3);
    at_a64_copy(x, d, s);
}

/* Of three registers. */
static bool find_form(const at_tile_op *op, at_a64_form *out) {
    static const at_a64_form forms[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = AT_A64_FMLA,          [AT_T_FNMA] = AT_A64_FMLS,
        [AT_T_ADD] = AT_A64_FADD,          [AT_T_SUB] = AT_A64_FSUB,
        [AT_T_MUL] = AT_A64_FMUL,          [AT_T_DIV] = AT_A64_FDIV,
        [AT_T_AND] = AT_A64_AND_V,         [AT_T_OR] = AT_A64_ORR_V,
        [AT_T_INT_ADD] = AT_A64_ADD_V,     [AT_T_INT_SUB] = AT_A64_SUB_V,
        [AT_T_INT_MUL] = AT_A64_MUL_V,     [AT_T_INT_MIN] = AT_A64_SMIN,
        [AT_T_INT_MAX] = AT_A64_SMAX,      [AT_T_EQUAL] = AT_A64_FCMEQ,
        [AT_T_ZIP_LOW] = AT_A64_ZIP1,      [AT_T_ZIP_HIGH] = AT_A64_ZIP2,
        [AT_T_ZIP_LOW2] = AT_A64_ZIP1_2D,  [AT_T_ZIP_HIGH2] = AT_A64_ZIP2_2D,
        [AT_T_ZIP_LOW16] = AT_A64_ZIP1_8H, [AT_T_ZIP_HIGH16] = AT_A64_ZIP2_8H,
        [AT_T_ZIP_LOW8] = AT_A64_ZIP1_16B, [AT_T_ZIP_HIGH8] = AT_A64_ZIP2_16B};
    *out = forms[op->kind];
    return *out;
}

/* Sums of products of bytes: whose operands have no sign decides, and whether b is one lane. */
static void dot(at_a64 *x, const at_tile_op *op) {
    const int d = reg(op->dst), a = reg(op->a), b = reg(op->b), lane = op->element - 1;
    const bool by_lane = op->element;
    static const at_a64_form whole[] =
        {[AT_DOT_SS] = AT_A64_SDOT, [AT_DOT_UU] = AT_A64_UDOT, [AT_DOT_US] = AT_A64_USDOT},
                             lanes[] = {[AT_DOT_SS] = AT_A64_SDOT_LANE,
                                        [AT_DOT_UU] = AT_A64_UDOT_LANE,
                                        [AT_DOT_US] = AT_A64_USDOT_LANE,
                                        [AT_DOT_SU] = AT_A64_SUDOT_LANE};
    at_a64_emit(&x->code, (by_lane ? lanes : whole)[op->by], (const int64_t[]){d, a, b, lane});
}

/* Products of floats of 16 bits; an element is one of the first 16 registers', in which those that
 * have elements lie (element_registers.c). */
static void multiply_halves(at_a64 *x, const at_tile_op *op) {
    static const at_a64_form whole[2][2] = {{AT_A64_FMLAL, AT_A64_FMLAL2},
                                            {AT_A64_FMLSL, AT_A64_FMLSL2}},
                             lanes[2][2] = {{AT_A64_FMLAL_LANE, AT_A64_FMLAL2_LANE},
                                            {AT_A64_FMLSL_LANE, AT_A64_FMLSL2_LANE}};
    const bool less = op->kind == AT_T_FNMA, out_of_reach = reg(op->b) >= AT_A64_ELEMENT_REGISTERS,
               repeated = op->element && out_of_reach;
    const int b = repeated ? AT_A64_SCRATCH_VEC : reg(op->b);
    if (repeated) EMIT(x, DUP_LANE_8H, b, reg(op->b), op->element - 1);
    at_a64_emit(&x->code, (op->element && !repeated ? lanes : whole)[less][op->upper],
                (const int64_t[]){reg(op->dst), reg(op->a), b, op->element - 1});
}

/* By one lane of b. */
static void by_element(at_a64 *x, const at_tile_op *op) {
    at_a64_emit(&x->code,
                op->kind == AT_T_FMA    ? AT_A64_FMLA_LANE
                : op->kind == AT_T_FNMA ? AT_A64_FMLS_LANE
                                        : AT_A64_FMUL_LANE,
                (const int64_t[]){reg(op->dst), reg(op->a), reg(op->b), op->element - 1});
}

static void vector(at_a64 *x, const at_tile_op *op) {
    const int d = op->dst >= 0 ? reg(op->dst) : -1, a = op->a >= 0 ? reg(op->a) : -1;
    at_a64_form form;
    if (op->halves && at_tile_is_term(op)) {
        multiply_halves(x, op);
        return;
    }
    if (op->element && op->kind != AT_T_DOT) {
        by_element(x, op);
        return;
    }
    switch (op->kind) {
    case AT_T_CONST: constant(x, op); return;
    case AT_T_LOAD: load(x, op); return;
    case AT_T_BCAST: broadcast(x, op); return;
    case AT_T_STORE:
        if (op->times) move_apart(x, op, true, a);
        else move(x, op, true, a);
        return;
    case AT_T_MOV: at_a64_copy(x, d, a); return;
    case AT_T_FMS:
    case AT_T_MUL_ADD: multiply_beside(x, op); return;
    case AT_T_MIN:
    case AT_T_MAX: extreme(x, op); return;
    case AT_T_LESS: EMIT(x, FCMGT, d, reg(op->b), a); return;
    case AT_T_AT_MOST: EMIT(x, FCMGE, d, reg(op->b), a); return;
    case AT_T_BLEND: EMIT(x, BIT, d, reg(op->b), a); return;
    case AT_T_SQRT: EMIT(x, FSQRT, d, a); return;
    case AT_T_SHIFT_LEFT: EMIT(x, SHL, d, a, op->by); return;
    case AT_T_SHIFT_RIGHT: EMIT(x, SSHR, d, a, op->by); return;
    case AT_T_TO_FLOAT: EMIT(x, SCVTF, d, a); return;
    case AT_T_TO_INT: EMIT(x, FCVTNS, d, a); return;
    case AT_T_SWAP:
        if (op->by == 2) EMIT(x, EXT8, d, a, a);
        else EMIT(x, REV64, d, a);
        return;
    case AT_T_FIRST: first(x, op); return;
    case AT_T_DOT: dot(x, op); return;
    case AT_T_SCATTER: at_a64_scatter(x, op, vector); return;
    case AT_T_FOURS: fours(x, op); return;
    default:
        if (!find_form(op, &form)) x->code.bad = true;
        else at_a64_emit(&x->code, form, (const int64_t[]){d, a, reg(op->b)});
    }
}

bool at_encode_neon(at_arena *arena, at_tile *t) {
    at_tile placed;
    if (!at_a64_place_elements(arena, t, &placed)) return at_a64_encode(arena, t, vector);
    const bool encoded = at_a64_encode(arena, &placed, vector);
    t->code = placed.code;
    t->code_bytes = placed.code_bytes;
    return encoded;
}
