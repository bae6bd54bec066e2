/* codegen/tile_gnu.c: a tile program as C with vector types, for gcc and clang.
 *
 * One variable per register and every unrolled operation printed: given an array, the compilers
 * keep accumulators in memory. Each function names its instruction set, so that no -march is
 * needed. Vectors in memory have a type of their own, aligned like a float and free to alias. What
 * concerns only the first lanes of a vector touches nothing beyond them. */
#include "codegen/tile_text.h"
#include "codegen/tile_pick.h"

#include <math.h>

static void address(at_text *out, const at_tile_op *op, int64_t lane) {
    int64_t off = op->off + lane;
    at_text_addf(out, "p%d", op->slot);
    if (off) at_text_addf(out, " %c %lld", off < 0 ? '-' : '+', (long long)(off < 0 ? -off : off));
}

/* As many lanes as a smaller register has, which the same set of instructions has, too? */
static bool is_narrow(const at_tile *t, const at_tile_op *op) {
    return op->lanes < t->lanes && (op->lanes == 4 || op->lanes == 8);
}

/* Pieces of 8, 4, 2 and 1. */
static void store_pieces(at_text *out, const at_tile_op *op) {
    const char *blank = "";
    for (int i = 0, n; i < op->lanes; i += n) {
        n = op->lanes - i >= 8 ? 8 : op->lanes - i >= 4 ? 4 : op->lanes - i >= 2 ? 2 : 1;
        if (n == 1) {
            at_text_addf(out, "%sp%d[%lld] = v%d[%d];", blank, op->slot, (long long)op->off + i,
                         op->a, i);
        } else {
            at_text_addf(out, "%sat_store%d(", blank, n);
            address(out, op, i);
            at_text_addf(out, ", v%d, %d);", op->a, i);
        }
        blank = " ";
    }
    at_text_add(out, "\n");
}

/* To every so many floats: by masks, or one by one. */
static void store_apart(at_text *out, const at_tile *t, const at_tile_op *op) {
    bool by_masks = at_tile_stores_by_masks(t->target, op);
    for (int i = 0; i < op->lanes && !by_masks; i++)
        at_text_addf(out, "%sp%d[%lld] = v%d[%d];", i ? " " : "", op->slot,
                     (long long)(op->off + at_tile_lane_from(op, i)), op->a, i);
    if (!by_masks) {
        at_text_add(out, "\n");
        return;
    }
    for (int part = 0; part < at_tile_spread_parts(op, t->lanes); part++) {
        at_text_addf(out, "%sat_store_lanes(", part ? " " : "");
        address(out, op, at_tile_spread_at(op, t->lanes, part) - op->off);
        at_text_addf(out, ", __builtin_shufflevector(v%d, v%d", op->a, op->a);
        for (int i = 0; i < t->lanes; i++) {
            int lane = at_tile_spread_lane(op, t->lanes, part, i);
            at_text_addf(out, ", %d", lane < 0 ? 0 : lane);
        }
        at_text_addf(out, "), 0x%x);", (unsigned)at_tile_spread_mask(op, t->lanes, part));
    }
    at_text_add(out, "\n");
}

static const char *element(const at_tile *t, const at_tile_op *op) {
    return at_type_of(t->slot_type[op->slot])->c;
}

/* Floats of 16 bits: all lanes by one conversion, else one by one. */
static void store_halves(at_text *out, const at_tile *t, const at_tile_op *op) {
    const char *name = at_type_of(t->slot_type[op->slot])->name;
    if (op->lanes == t->lanes && !op->times) {
        at_text_addf(out, "at_store_%s(", name);
        address(out, op, 0);
        at_text_addf(out, ", v%d);\n", op->a);
        return;
    }
    for (int i = 0; i < op->lanes; i++)
        at_text_addf(out, "%sp%d[%lld] = at_to_%s(v%d[%d]);", i ? " " : "", op->slot,
                     (long long)op->off + (op->times ? at_tile_lane_from(op, i) : i), name, op->a,
                     i);
    at_text_add(out, "\n");
}

/* As they lie: by pieces of 8, 4, 2 and 1. */
static void load_raw_halves(at_text *out, const at_tile_op *op) {
    const char *blank = "";
    if (op->kind == AT_T_BCAST) {
        at_text_addf(out, "at_broadcast_half(v%d, ", op->dst);
        address(out, op, 0);
        at_text_add(out, ");\n");
        return;
    }
    for (int i = 0, n; i < op->lanes; i += n, blank = " ") {
        n = i ? 1 : op->lanes >= 8 ? 8 : op->lanes >= 4 ? 4 : op->lanes >= 2 ? 2 : 1;
        at_text_addf(out, i ? "%sat_half_into(v%d, " : "%sat_halves%d(v%d, ", blank,
                     i ? op->dst : n, op->dst);
        address(out, op, i);
        if (i) at_text_addf(out, ", %d", i);
        at_text_add(out, ");");
    }
    at_text_add(out, "\n");
}

static void load_halves(at_text *out, const at_tile *t, const at_tile_op *op) {
    const char *name = at_type_of(t->slot_type[op->slot])->name;
    if (op->kind == AT_T_LOAD && op->lanes == t->lanes) {
        at_text_addf(out, "at_load_%s(v%d, ", name, op->dst);
        address(out, op, 0);
        at_text_add(out, ");\n");
        return;
    }
    at_text_addf(out, op->kind == AT_T_BCAST ? "v%d = at_all(" : "v%d = (at_vector){", op->dst);
    for (int i = 0; i < (op->kind == AT_T_BCAST ? 1 : op->lanes); i++) {
        at_text_addf(out, "%sat_of_%s(*(", i ? ", " : "", name);
        address(out, op, i);
        at_text_add(out, "))");
    }
    at_text_add(out, op->kind == AT_T_BCAST ? ");\n" : "};\n");
}

/* Integers: the lowest bits of each lane, one by one; narrower ones of all lanes by one conversion.
 */
static void store_narrow(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (at_type_is_half(t->slot_type[op->slot])) {
        store_halves(out, t, op);
        return;
    }
    if (op->lanes == t->lanes && !op->times) {
        at_text_addf(out, "at_store_narrow(%s, %d, ", element(t, op),
                     (int)at_type_bytes(t->slot_type[op->slot]) * t->lanes);
        address(out, op, 0);
        at_text_addf(out, ", v%d);\n", op->a);
        return;
    }
    for (int i = 0; i < op->lanes; i++)
        at_text_addf(out, "%sp%d[%lld] = (%s)((at_mask)v%d)[%d];", i ? " " : "", op->slot,
                     (long long)op->off + (op->times ? at_tile_lane_from(op, i) : i),
                     element(t, op), op->a, i);
    at_text_add(out, "\n");
}

/* Widened, or a lane as the 32 bits lie. */
static void load_narrow(at_text *out, const at_tile *t, const at_tile_op *op) {
    const int terms = 4 / (int)at_type_bytes(t->slot_type[op->slot]);
    const char *bits = at_type_is_half(t->slot_type[op->slot]) ? "at_two(" : "at_four(";
    if (op->halves) {
        load_raw_halves(out, op);
        return;
    }
    if (at_type_is_half(t->slot_type[op->slot]) && !op->packed) {
        load_halves(out, t, op);
        return;
    }
    if (op->kind == AT_T_LOAD && op->packed && is_narrow(t, op)) {
        at_text_addf(out, "at_load%d(v%d, ", op->lanes, op->dst);
        address(out, op, 0);
        at_text_add(out, ");\n");
        return;
    }
    at_text_addf(out, "v%d = ", op->dst);
    if (op->kind == AT_T_BCAST) {
        at_text_addf(out, "(at_vector)((at_mask){0} + %s", op->packed ? bits : "*(");
        address(out, op, 0);
        at_text_add(out, "));\n");
        return;
    }
    if (op->lanes == t->lanes && !op->packed) {
        at_text_addf(out, "at_load_narrow(%s, %d, ", element(t, op),
                     (int)at_type_bytes(t->slot_type[op->slot]) * t->lanes);
        address(out, op, 0);
        at_text_add(out, ");\n");
        return;
    }
    if (op->lanes == t->lanes || (op->packed && t->target->masked_loads)) {
        const bool is_part = op->lanes < t->lanes;
        at_text_addf(out, "at_load%s(", is_part ? "_first" : "");
        address(out, op, 0);
        if (is_part) at_text_addf(out, ", %d", op->lanes);
        at_text_add(out, ");\n");
        return;
    }
    at_text_add(out, "(at_vector)(at_mask){");
    for (int i = 0; i < op->lanes; i++) {
        at_text_add(out, i ? ", " : "");
        at_text_add(out, op->packed ? bits : "*(");
        address(out, op, op->packed ? terms * i : i);
        at_text_add(out, ")");
    }
    at_text_add(out, "};\n");
}

static bool is_narrow_slot(const at_tile *t, const at_tile_op *op) {
    return at_type_bytes(t->slot_type[op->slot]) != 4;
}

static void store(at_text *out, const at_tile *t, const at_tile_op *op) {
    const bool is_part = op->times || op->lanes < t->lanes;
    if ((is_narrow_slot(t, op) && !op->packed) || (is_part && t->slot_type[op->slot] == AT_S32)) {
        store_narrow(out, t, op);
        return;
    }
    if (op->times) {
        store_apart(out, t, op);
        return;
    }
    bool pieces = t->target->masked_stores ? is_narrow(t, op) : op->lanes < t->lanes;
    if (op->packed && is_narrow(t, op)) {
        at_text_addf(out, "at_store%d(", op->lanes);
        address(out, op, 0);
        at_text_addf(out, ", v%d, 0);\n", op->a);
        return;
    }
    if (op->lanes == 1 || pieces) {
        store_pieces(out, op);
        return;
    }
    at_text_addf(out, "at_store%s(", op->lanes < t->lanes ? "_first" : "");
    address(out, op, 0);
    at_text_addf(out, ", v%d", op->a);
    if (op->lanes < t->lanes) at_text_addf(out, ", %d", op->lanes);
    at_text_add(out, ");\n");
}

static void load(at_text *out, const at_tile *t, const at_tile_op *op) {
    bool list = t->slot_type[op->slot] == AT_S32;
    if (op->lanes == 1 || (op->lanes < t->lanes && (list || !t->target->masked_loads))) {
        at_text_addf(out, "(at_vector)%s{", list ? "(at_mask)" : "");
        for (int i = 0; i < op->lanes; i++)
            at_text_addf(out, "%sp%d[%lld]", i ? ", " : "", op->slot, (long long)op->off + i);
        at_text_add(out, "}");
        return;
    }
    at_text_addf(out, "at_load%s(", op->lanes < t->lanes ? "_first" : "");
    address(out, op, 0);
    if (op->lanes < t->lanes) at_text_addf(out, ", %d", op->lanes);
    at_text_add(out, ")");
}

/* dst = memory */
static void load_register(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (is_narrow(t, op) && t->slot_type[op->slot] != AT_S32) {
        at_text_addf(out, "at_load%d(v%d, ", op->lanes, op->dst);
        address(out, op, 0);
        at_text_add(out, ");");
        return;
    }
    at_text_addf(out, "v%d = ", op->dst);
    load(out, t, op);
    at_text_add(out, ";");
}

/* A number in all lanes. */
static void constant(at_text *out, const at_tile_op *op) {
    if (isnan(op->number)) {
        at_text_addf(out, "((at_vector)((at_mask){0} + 0x%08x))", at_tile_bits(op));
        return;
    }
    at_text_add(out, "at_all(");
    at_c_float(out, (float)op->number);
    at_text_add(out, ")");
}

/* One float for all lanes: beside a vector, C broadcasts it by itself. */
static void operand(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->mem == AT_MEM_VECTOR) load(out, t, op);
    else if (op->mem == AT_MEM_BCAST) at_text_addf(out, "p%d[%lld]", op->slot, (long long)op->off);
    else if (op->mem == AT_MEM_CONST) constant(out, op);
    else at_text_addf(out, "v%d", op->b);
}

/* acc += a * b */
static void multiply_add(at_text *out, const at_tile_op *op) {
    static const char *const names[] = {"at_fma", "at_fma_load", "at_fma_broadcast", "at_fma"};
    at_text_addf(out, "%s(v%d, v%d, ", names[op->mem], op->dst, op->a);
    if (op->mem == AT_MEM_CONST) constant(out, op);
    else if (op->mem == AT_MEM_NONE) at_text_addf(out, "v%d", op->b);
    else address(out, op, 0);
    at_text_add(out, ");\n");
}

static void minimum(at_text *out, const at_tile *t, const at_tile_op *op) {
    bool all = op->mem == AT_MEM_BCAST;
    at_text_addf(out, "%s(v%d, v%d, %s", op->kind == AT_T_MIN ? "at_min" : "at_max", op->dst, op->a,
                 all ? "at_all(" : "");
    operand(out, t, op);
    at_text_add(out, all ? "));\n" : ");\n");
}

static void swap(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->a, op->a);
    for (int i = 0; i < t->lanes; i++) at_text_addf(out, ", %d", i ^ op->by);
    at_text_add(out, ");\n");
}

static void quarters(at_text *out, const at_tile *t, const at_tile_op *op) {
    const int fours = t->lanes / 4;
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->a, op->a);
    for (int i = 0; i < t->lanes; i++) at_text_addf(out, ", %d", i % fours * 4 + i / fours);
    at_text_add(out, ");\n");
}

static void spread(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->dst, op->dst);
    for (int i = 0; i < t->lanes; i++) at_text_addf(out, ", %d", at_tile_spread_from(op, i));
    at_text_add(out, ");\n");
}

/* Of whole registers: from single floats the compilers put them together one by one. */
static void pick_whole(at_text *out, const at_tile *t, const at_tile_op *op) {
    int at[AT_TILE_MAX_PICKS], n = at_tile_pick_parts(op, t->lanes, at);
    at_tile_op part = *op;
    part.lanes = (uint8_t)at_tile_pick_first(op, t->lanes);
    load_register(out, t, &part);
    part.lanes = (uint8_t)t->lanes;
    for (int i = n > 1; i < n; i++) {
        at_text_addf(out, " v%d = __builtin_shufflevector(v%d, ", op->dst, op->dst);
        part.off = op->off + at[i];
        if (n > 1) load(out, t, &part);
        else at_text_addf(out, "v%d", op->dst);
        for (int j = 0; j < t->lanes; j++)
            at_text_addf(out, ", %d", at_tile_pick_lane(op, t->lanes, i, j));
        at_text_add(out, ");");
    }
    if (op->lanes < t->lanes) {
        at_text_addf(out, " v%d = (at_vector)((at_mask)v%d & (at_mask){", op->dst, op->dst);
        for (int i = 0; i < op->lanes; i++) at_text_addf(out, "%s-1", i ? ", " : "");
        at_text_add(out, "});");
    }
    at_text_add(out, "\n");
}

/* Of four floats. */
static void memory4(at_text *out, const at_tile_op *op, int at) {
    at_text_addf(out, "*(const at_memory4 *)(p%d + %lld)", op->slot, (long long)(op->off + at));
}

/* Four lanes each out of two loads; false: they are not. */
static bool pick_fours(at_text *out, const at_tile *t, const at_tile_op *op) {
    int at[2], from[4];
    for (int lane = 0; lane < t->lanes; lane += 4)
        if (!at_tile_pick_four(op, lane, at, from)) return false;
    at_text_addf(out, t->lanes > 4 ? "v%d = __builtin_shufflevector(" : "v%d = ", op->dst);
    for (int lane = 0; lane < t->lanes; lane += 4) {
        at_tile_pick_four(op, lane, at, from);
        at_text_addf(out, "%s__builtin_shufflevector(", lane ? ", " : "");
        memory4(out, op, at[0]);
        at_text_add(out, ", ");
        memory4(out, op, at[1]);
        for (int i = 0; i < 4; i++) at_text_addf(out, ", %d", from[i]);
        at_text_add(out, ")");
    }
    for (int i = 0; i < t->lanes && t->lanes > 4; i++) at_text_addf(out, ", %d", i);
    at_text_add(out, t->lanes > 4 ? ");\n" : ";\n");
    return true;
}

/* Every so many floats. */
static void pick(at_text *out, const at_tile *t, const at_tile_op *op) {
    const bool is_turned = op->times < 0 && op->lanes == t->lanes;
    if (is_turned || (t->target->picks_whole && op->times <= AT_TILE_WHOLE_STEP)) {
        pick_whole(out, t, op);
        return;
    }
    if (pick_fours(out, t, op)) return;
    at_text_addf(out, "v%d = (at_vector)%s{", op->dst,
                 t->slot_type[op->slot] == AT_S32 ? "(at_mask)" : "");
    for (int i = 0; i < op->lanes; i++)
        at_text_addf(out, "%sp%d[%lld]", i ? ", " : "", op->slot,
                     (long long)(op->off + at_tile_lane_from(op, i)));
    at_text_add(out, "};\n");
}

static void first(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->a, op->dst);
    for (int i = 0; i < t->lanes; i++) at_text_addf(out, ", %d", i < op->lanes ? i : t->lanes + i);
    at_text_add(out, ");\n");
}

/* Of all lanes of two registers. */
static void join(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->a, op->b);
    for (int i = 0; i < t->lanes; i++) {
        const bool high = op->kind == AT_T_ZIP_HIGH || op->kind == AT_T_ZIP_HIGH2;
        const bool twos = op->kind == AT_T_ZIP_LOW2 || op->kind == AT_T_ZIP_HIGH2;
        int lane = i - i % 4 + 2 * high + (twos ? i % 2 : i % 4 / 2) +
                   (twos ? i % 4 / 2 : i % 2) * t->lanes;
        if (op->kind == AT_T_FOURS)
            lane = i - i % 4 + (op->by >> 2 * (i % 4) & 3) + i % 4 / 2 * t->lanes;
        if (op->kind == AT_T_HALVES) lane = (op->by >> i / 4 * 4 & 3) * 4 + i % 4;
        at_text_addf(out, ", %d", lane);
    }
    at_text_add(out, ");\n");
}

/* The instructions do in every four lanes what is wanted of the first. */
static void zip(at_text *out, const at_tile *t, const at_tile_op *op) {
    bool high = op->kind == AT_T_ZIP_HIGH || op->kind == AT_T_ZIP_HIGH2;
    bool twos = op->kind == AT_T_ZIP_LOW2 || op->kind == AT_T_ZIP_HIGH2;
    if (op->kind >= AT_T_FOURS || (t->lanes > 4 && op->lanes == t->lanes)) {
        join(out, t, op);
        return;
    }
    if (t->target->gnu_zip) {
        const char *name = high ? twos ? "unpckhpd" : "unpckhps" : twos ? "unpcklpd" : "unpcklps";
        at_text_addf(out, t->target->gnu_zip, name, op->dst, op->a, op->b);
        return;
    }
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->a, op->b);
    for (int i = 0; i < t->lanes; i++) {
        int lane = i / 4 * 4 + 2 * high + (twos ? i % 2 : i % 4 / 2);
        bool of_b = twos ? i % 4 / 2 : i % 2;
        at_text_addf(out, ", %d", lane + (of_b ? t->lanes : 0));
    }
    at_text_add(out, ");\n");
}

/* The bits of the second operand, as integers. */
static void operand_bits(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->mem == AT_MEM_CONST) {
        at_text_addf(out, "((at_mask){0} + (int)0x%08xu)", at_tile_bits(op));
        return;
    }
    at_text_add(out, "(at_mask)");
    operand(out, t, op);
}

/* dst += the products of the elements of a lane. */
static void dot(at_text *out, const at_tile_op *op) {
    static const char *const names[] = {"", "_load", "_broadcast", ""};
    static const char *const signs[] = {
        [AT_DOT_US] = "us", [AT_DOT_SU] = "su",   [AT_DOT_SS] = "s",
        [AT_DOT_UU] = "u",  [AT_DOT_S16] = "s16", [AT_DOT_BF16] = "bf16"};
    at_text_addf(out, "at_%sdot%s%s(v%d, v%d, ", signs[op->by], names[op->mem],
                 op->element ? "_lane" : "", op->dst, op->a);
    if (op->element) at_text_addf(out, "v%d, %d", op->b, op->element - 1);
    else if (op->mem == AT_MEM_CONST) constant(out, op);
    else if (op->mem == AT_MEM_NONE) at_text_addf(out, "v%d", op->b);
    else address(out, op, 0);
    at_text_add(out, ");\n");
}

/* What is done with the bits of registers. Integers are added without sign: their overflow is
 * defined. */
static void bits_operation(at_text *out, const at_tile *t, const at_tile_op *op) {
    static const char sign[AT_T_KIND_COUNT] = {[AT_T_AND] = '&',
                                               [AT_T_OR] = '|',
                                               [AT_T_INT_ADD] = '+',
                                               [AT_T_INT_SUB] = '-',
                                               [AT_T_INT_MUL] = '*'};
    switch (op->kind) {
    case AT_T_SQRT: at_text_addf(out, t->target->gnu_sqrt, op->dst, op->a); return;
    case AT_T_MUL_ADD:
        at_text_addf(out, "v%d = v%d * v%d + ", op->dst, op->dst, op->a);
        operand(out, t, op);
        break;
    case AT_T_LESS:
    case AT_T_AT_MOST:
    case AT_T_EQUAL:
        at_text_addf(out, "v%d = (at_vector)(v%d %s ", op->dst, op->a, at_tile_comparison(op));
        operand(out, t, op);
        at_text_add(out, ")");
        break;
    case AT_T_BLEND:
        at_text_addf(out, "v%d = at_choose((at_mask)v%d, ", op->dst, op->a);
        operand(out, t, op);
        at_text_addf(out, ", v%d)", op->dst);
        break;
    case AT_T_SHIFT_LEFT:
    case AT_T_SHIFT_RIGHT:
        at_text_addf(out, "v%d = (at_vector)((at_mask)v%d %s %d)", op->dst, op->a,
                     op->kind == AT_T_SHIFT_LEFT ? "<<" : ">>", op->by);
        break;
    case AT_T_INT_MIN:
    case AT_T_INT_MAX:
        at_text_addf(out, "v%d = at_int_%s((at_mask)v%d, ", op->dst,
                     op->kind == AT_T_INT_MIN ? "min" : "max", op->a);
        operand_bits(out, t, op);
        at_text_add(out, ")");
        break;
    case AT_T_DOT: dot(out, op); return;
    case AT_T_TO_INT: at_text_addf(out, "at_to_int(v%d, v%d)", op->dst, op->a); break;
    case AT_T_TO_FLOAT:
        at_text_addf(out, "v%d = __builtin_convertvector((at_mask)v%d, at_vector)", op->dst, op->a);
        break;
    case AT_T_SCALE:
        at_text_addf(out, "at_scale(v%d, v%d, v%d, at_all(", op->dst, op->a, op->b);
        at_c_float(out, (float)op->number);
        at_text_add(out, "))");
        break;
    case AT_T_GATHER:
        at_text_addf(out, "at_gather(v%d, ", op->dst);
        address(out, op, 0);
        at_text_addf(out, ", v%d, %d);\n", op->a, op->lanes);
        return;
    case AT_T_SWAP: swap(out, t, op); return;
    case AT_T_CUT:
        at_text_addf(out, "at_cut_%s(v%d, v%d, v%d)", at_type_of((at_type)op->by)->name, op->dst,
                     op->a, op->b);
        break;
    case AT_T_QUARTERS: quarters(out, t, op); return;
    case AT_T_WEAVE: at_text_addf(out, "at_weave(v%d, v%d)", op->dst, op->a); break;
    case AT_T_FIRST: first(out, t, op); return;
    default:
        at_text_addf(out, "v%d = (at_vector)((at_mask)v%d %c ", op->dst, op->a, sign[op->kind]);
        operand_bits(out, t, op);
        at_text_add(out, ")");
    }
    at_text_add(out, ";\n");
}

/* By one lane of b. */
static void by_element(at_text *out, const at_tile_op *op) {
    const char *name = op->kind == AT_T_FMA    ? "at_fma_lane"
                       : op->kind == AT_T_FNMA ? "at_fnma_lane"
                                               : "at_mul_lane";
    at_text_addf(out, "%s(v%d, v%d, v%d, %d);\n", name, op->dst, op->a, op->b, op->element - 1);
    if (op->apart) at_text_addf(out, "%*sat_apart(v%d);\n", 4, "", op->dst);
}

/* Each four of lanes from its own place. */
static void load_fours(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "at_load4(v%d, ", op->dst);
    address(out, op, 0);
    at_text_add(out, ");");
    for (int i = 1; i < op->lanes / 4; i++) {
        at_text_add(out, " ");
        at_text_addf(out, t->target->gnu_insert, op->dst, op->slot,
                     (long long)(op->off + i * op->fours), i);
    }
    at_text_add(out, "\n");
}

/* Lanes of a vector, or one element in all of them. */
static void load_lanes(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->fours) load_fours(out, t, op);
    else if (is_narrow_slot(t, op)) {
        load_narrow(out, t, op);
        if (op->kind == AT_T_LOAD && op->by) spread(out, t, op);
    } else if (op->kind == AT_T_LOAD && op->times) pick(out, t, op);
    else if (op->kind == AT_T_LOAD) {
        load_register(out, t, op);
        at_text_add(out, "\n");
        if (op->by) spread(out, t, op);
    } else if (t->slot_type[op->slot] == AT_S32) {
        at_text_addf(out, "v%d = (at_vector)((at_mask){0} + p%d[%lld]);\n", op->dst, op->slot,
                     (long long)op->off);
    } else {
        at_text_addf(out, "at_broadcast(v%d, ", op->dst);
        address(out, op, 0);
        at_text_add(out, ");\n");
    }
}

/* Products of floats of 16 bits. */
static void multiply_halves(at_text *out, const at_tile_op *op) {
    at_text_addf(out, "at_half_%s%s%s(v%d, v%d, v%d", op->kind == AT_T_FMA ? "fma" : "fnma",
                 op->upper ? "2" : "", op->element ? "_lane" : "", op->dst, op->a, op->b);
    if (op->element) at_text_addf(out, ", %d", op->element - 1);
    at_text_add(out, ");\n");
}

static void operation(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->halves && at_tile_is_term(op)) {
        multiply_halves(out, op);
        return;
    }
    if (op->element && op->kind != AT_T_DOT) {
        by_element(out, op);
        return;
    }
    if (op->kind > AT_T_MAX && op->kind < AT_T_ZIP_LOW) {
        bits_operation(out, t, op);
        return;
    }
    switch (op->kind) {
    case AT_T_PREFETCH:
        at_text_addf(out, "__builtin_prefetch(p%d + %lld);\n", op->slot, (long long)op->off);
        return;
    case AT_T_CONST:
        at_text_addf(out, "v%d = ", op->dst);
        constant(out, op);
        at_text_add(out, ";\n");
        return;
    case AT_T_LOAD:
    case AT_T_BCAST: load_lanes(out, t, op); return;
    case AT_T_STORE: store(out, t, op); return;
    case AT_T_SCATTER: at_tile_scatter_c(out, t, op); return;
    case AT_T_MOV: at_text_addf(out, "v%d = v%d;\n", op->dst, op->a); return;
    case AT_T_FMA: multiply_add(out, op); return;
    case AT_T_FNMA:
        at_text_addf(out, "v%d -= v%d * ", op->dst, op->a);
        operand(out, t, op);
        at_text_add(out, ";\n");
        return;
    case AT_T_FMS:
        at_text_addf(out, "v%d = v%d * ", op->dst, op->a);
        operand(out, t, op);
        at_text_addf(out, " - v%d;\n", op->dst);
        return;
    case AT_T_MIN:
    case AT_T_MAX: minimum(out, t, op); return;
    case AT_T_ZIP_LOW:
    case AT_T_ZIP_HIGH:
    case AT_T_ZIP_LOW2:
    case AT_T_ZIP_HIGH2:
    case AT_T_FOURS:
    case AT_T_HALVES: zip(out, t, op); return;
    default: {
        static const char sign[AT_T_KIND_COUNT] = {
            [AT_T_ADD] = '+', [AT_T_SUB] = '-', [AT_T_MUL] = '*', [AT_T_DIV] = '/'};
        at_text_addf(out, "v%d = v%d %c ", op->dst, op->a, sign[op->kind]);
        operand(out, t, op);
        at_text_add(out, ";\n");
        if (op->apart) at_text_addf(out, "%*sat_apart(v%d);\n", 4, "", op->dst);
    }
    }
}

/* ---- registers of doubles -------------------------------------------------------------------- */

/* %d: bytes of as many floats, twice, and of the doubles, twice. */
static const char types_of_doubles[] =
    "    typedef float at_floats __attribute__((vector_size(%d), unused));\n"
    "    typedef float at_place __attribute__((vector_size(%d), may_alias, aligned(4), unused));\n"
    "    typedef double at_doubles __attribute__((vector_size(%d)));\n"
    "    typedef long long at_choice __attribute__((vector_size(%d), unused));\n";

static void load_in_double(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "d%d = ", op->dst);
    if (op->lanes == t->lanes) {
        at_text_add(out, "__builtin_convertvector((at_floats) * (const at_place *)(");
        address(out, op, 0);
        at_text_add(out, "), at_doubles);\n");
        return;
    }
    at_text_add(out, "(at_doubles){");
    for (int i = 0; i < op->lanes; i++)
        at_text_addf(out, "%sp%d[%lld]", i ? ", " : "", op->slot, (long long)op->off + i);
    at_text_add(out, "};\n");
}

static void store_in_double(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->lanes == t->lanes) {
        at_text_add(out, "*(at_place *)(");
        address(out, op, 0);
        at_text_addf(out, ") = __builtin_convertvector(d%d, at_floats);\n", op->a);
        return;
    }
    for (int i = 0; i < op->lanes; i++)
        at_text_addf(out, "%sp%d[%lld] = (float)d%d[%d];", i ? " " : "", op->slot,
                     (long long)op->off + i, op->a, i);
    at_text_add(out, "\n");
}

static void operand_in_double(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->mem == AT_MEM_NONE) {
        at_text_addf(out, "d%d", op->b);
        return;
    }
    at_text_add(out, "(");
    at_c_constant(out, t, op);
    at_text_add(out, " - (at_doubles){0})");
}

static void operation_in_double(at_text *out, const at_tile *t, const at_tile_op *op) {
    static const char sign[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = '+', [AT_T_SUB] = '-', [AT_T_MUL] = '*',
        [AT_T_DIV] = '/', [AT_T_MIN] = '<', [AT_T_MAX] = '>'};
    switch (op->kind) {
    case AT_T_PREFETCH:
        at_text_addf(out, "__builtin_prefetch(p%d + %lld);\n", op->slot, (long long)op->off);
        return;
    case AT_T_LOAD: load_in_double(out, t, op); return;
    case AT_T_STORE: store_in_double(out, t, op); return;
    case AT_T_BCAST:
        at_text_addf(out, "d%d = (double)p%d[%lld] - (at_doubles){0};\n", op->dst, op->slot,
                     (long long)op->off);
        return;
    case AT_T_CONST:
        at_text_addf(out, "d%d = ", op->dst);
        at_c_constant(out, t, op);
        at_text_add(out, " - (at_doubles){0};\n");
        return;
    case AT_T_MOV: at_text_addf(out, "d%d = d%d;\n", op->dst, op->a); return;
    case AT_T_FMA: at_text_addf(out, "d%d += d%d * ", op->dst, op->a); break;
    case AT_T_FNMA: at_text_addf(out, "d%d -= d%d * ", op->dst, op->a); break;
    case AT_T_FMS:
        at_text_addf(out, "d%d = d%d * ", op->dst, op->a);
        operand_in_double(out, t, op);
        at_text_addf(out, " - d%d;\n", op->dst);
        return;
    case AT_T_MIN:
    case AT_T_MAX:
        at_text_addf(out, "{ at_choice c = (at_choice)(d%d %c ", op->a, sign[op->kind]);
        operand_in_double(out, t, op);
        at_text_addf(out, "); d%d = (at_doubles)((c & (at_choice)d%d) | (~c & (at_choice)", op->dst,
                     op->a);
        operand_in_double(out, t, op);
        at_text_add(out, ")); }\n");
        return;
    default:
        if (!sign[op->kind]) AT_BUG("tile operation %d is none of doubles", op->kind);
        at_text_addf(out, "d%d = d%d %c ", op->dst, op->a, sign[op->kind]);
    }
    operand_in_double(out, t, op);
    at_text_add(out, ";\n");
}

void at_tile_print_gnu(at_text *out, const at_tile *t, const char *prefix) {
    static const at_tile_style vectors = {"at_vector", 'v', "", operation,
                                          "__attribute__((aligned(64))) "};
    at_tile_style doubles = {"at_doubles", 'd', "", operation_in_double, ""};
    at_text types = {0};
    if (!t->target->prelude) {
        at_tile_print_c(out, t, prefix);
        return;
    }
    at_tile_comment(out, t);
    at_text_add(out, "AT_TILE ");
    at_text_addf(&types, types_of_doubles, 4 * t->lanes, 4 * t->lanes, 8 * t->lanes, 8 * t->lanes);
    doubles.types = at_text_str(&types);
    at_tile_function(out, t, t->target->is_double ? &doubles : &vectors, prefix);
    at_text_free(&types);
}
