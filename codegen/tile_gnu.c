/* codegen/tile_gnu.c: a tile program as C with vector types, for gcc and clang.
 *
 * One variable per register and every unrolled operation printed: given an array, the compilers
 * keep accumulators in memory. Each function names its instruction set, so that no -march is
 * needed. */
#include "codegen/tile_gnu.h"
#include "codegen/tile_zip.h"

#include <math.h>

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
    if (op->mem == AT_MEM_VECTOR) at_gnu_lanes(out, t, op);
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
    else at_gnu_address(out, op);
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

static void first(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->a, op->dst);
    for (int i = 0; i < t->lanes; i++) at_text_addf(out, ", %d", i < op->lanes ? i : t->lanes + i);
    at_text_add(out, ");\n");
}

/* Of all lanes of two registers. */
static void join(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->a, op->b);
    for (int i = 0; i < t->lanes; i++) {
        int lane = 0;
        if (op->kind == AT_T_FOURS)
            lane = i - i % 4 + (op->by >> 2 * (i % 4) & 3) + i % 4 / 2 * t->lanes;
        if (op->kind == AT_T_MERGE) lane = at_tile_merge_from(op->by, t->lanes, i);
        if (op->kind == AT_T_HALVES) lane = (op->by >> i / 4 * 4 & 3) * 4 + i % 4;
        at_text_addf(out, ", %d", lane);
    }
    at_text_add(out, ");\n");
}

/* The instructions do in every four lanes what is wanted of the first. */
static void zip(at_text *out, const at_tile *t, const at_tile_op *op) {
    static const char *const names[] = {"unpcklps",  "unpckhps",  "unpcklpd",  "unpckhpd",
                                        "punpcklwd", "punpckhwd", "punpcklbw", "punpckhbw"};
    if (t->target->gnu_zip && op->lanes == 4) {
        at_text_addf(out, t->target->gnu_zip, names[op->kind - AT_T_ZIP_LOW], op->dst, op->a,
                     op->b);
        return;
    }
    const int bytes = at_tile_zip_bytes(op), n = 4 * t->lanes / bytes;
    const bool is_narrow = bytes < 4;
    at_text_addf(out, "v%d = ", op->dst);
    if (is_narrow)
        at_text_addf(out,
                     "({ typedef %s at_words __attribute__((vector_size(%d))); "
                     "(at_vector)__builtin_shufflevector((at_words)v%d, (at_words)v%d",
                     bytes == 1 ? "char" : "short", 4 * t->lanes, op->a, op->b);
    else at_text_addf(out, "__builtin_shufflevector(v%d, v%d", op->a, op->b);
    for (int i = 0; i < n; i++) {
        const int from = at_tile_zip_from(op, i) + i % 2 * n;
        if (bytes == 8) at_text_addf(out, ", %d, %d", 2 * from, 2 * from + 1);
        else at_text_addf(out, ", %d", from);
    }
    at_text_add(out, is_narrow ? "); });\n" : ");\n");
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
    else at_gnu_address(out, op);
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
        at_gnu_address(out, op);
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
    case AT_T_BCAST: at_gnu_load(out, t, op); return;
    case AT_T_STORE: at_gnu_store(out, t, op); return;
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
    case AT_T_ZIP_LOW16:
    case AT_T_ZIP_HIGH16:
    case AT_T_ZIP_LOW8:
    case AT_T_ZIP_HIGH8: zip(out, t, op); return;
    case AT_T_FOURS:
    case AT_T_HALVES:
    case AT_T_MERGE: join(out, t, op); return;
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

void at_tile_print_gnu(at_text *out, const at_tile *t, const char *prefix) {
    static const at_tile_style vectors = {"at_vector", 'v', "", operation,
                                          "__attribute__((aligned(64))) "};
    if (!t->target->prelude) {
        at_tile_print_c(out, t, prefix);
        return;
    }
    at_tile_comment(out, t);
    at_text_add(out, "AT_TILE ");
    if (t->target->is_double) at_gnu_doubles(out, t, prefix);
    else at_tile_function(out, t, &vectors, prefix);
}
