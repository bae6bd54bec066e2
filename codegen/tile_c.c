/* codegen/tile_c.c: a tile program as plain scalar C, one float variable per register. For any
 * compiler, and the fallback of every other printer. Needs: a program made for one lane. */
#include "codegen/tile_text.h"

#include <math.h>

static bool is_int(const at_tile *t, const at_tile_op *op) {
    return at_type_of(t->slot_type[op->slot])->is_int;
}

static at_type element_type(const at_tile *t, const at_tile_op *op) {
    return op->slot >= 0 ? t->slot_type[op->slot] : AT_F32;
}

/* Floats of 16 bits, loaded as codegen/functions.c has it, and stored, where they are such. */
static const char *const half_helpers[AT_TYPE_COUNT][2] = {
    [AT_F16] = {"static inline float %1$sof_f16(unsigned short x) {\n"
                "    unsigned size = (unsigned)(x & 0x7fff) << 13;\n"
                "    float value = %1$sfloat(size) * 0x1p112f;\n"
                "    unsigned all = size >= 0x0f800000 ? 0x7f800000 : 0;\n"
                "    return %1$sfloat(%1$sbits(value) | all | (unsigned)(x & 0x8000) << 16);\n"
                "}\n\n",
                "static inline unsigned short %1$sto_f16(float x) {\n"
                "    unsigned size = %1$sbits(x) & 0x7fffffff, sign = %1$sbits(x) >> 16 & 0x8000;\n"
                "    unsigned beyond = (size >> 13 & 0x3ff) | 0x7c00;\n"
                "    unsigned within = %1$sbits(%1$sfloat(size) * 0x1p-112f) >> 13;\n"
                "    return (unsigned short)(sign | (size >= 0x47800000 ? beyond : within));\n"
                "}\n\n"},
    [AT_BF16] = {"static inline float %1$sof_bf16(unsigned short x) {\n"
                 "    union { unsigned u; float f; } both;\n"
                 "    both.u = (unsigned)x << 16;\n"
                 "    return both.f;\n"
                 "}\n\n",
                 "static inline unsigned short %1$sto_bf16(float x) {\n"
                 "    union { float f; unsigned u; } both;\n"
                 "    both.f = x;\n"
                 "    return (unsigned short)(both.u >> 16);\n"
                 "}\n\n"}};

/* Those that any of the tiles calls, without libm. A root is rounded from one in double: no float's
 * root is too close to a boundary for that. */
void at_tile_helpers_c(at_text *out, at_tile *const *tiles, int n, const char *prefix) {
    bool roots = false, bits = false, wholes = false, halves[AT_TYPE_COUNT][2] = {{false}};
    for (int i = 0; i < n; i++)
        for (int j = 0; j < tiles[i]->num_ops; j++) {
            int kind = tiles[i]->ops[j].kind;
            roots |= kind == AT_T_SQRT;
            wholes |= kind == AT_T_TO_INT;
            const bool moves = kind == AT_T_LOAD || kind == AT_T_BCAST || kind == AT_T_STORE ||
                               kind == AT_T_SCATTER;
            const at_type type = moves ? element_type(tiles[i], &tiles[i]->ops[j]) : AT_F32;
            bits |= type != AT_F32 && type != AT_BF16;
            halves[type][kind == AT_T_STORE] |= at_type_is_half(type);
            bits |= kind >= AT_T_AND && kind < AT_T_ZIP_LOW && kind != AT_T_SQRT;
        }
    if (bits)
        at_text_addf(out,
                     "static inline unsigned %sbits(float x) {\n"
                     "    union { float f; unsigned u; } both;\n"
                     "    both.f = x;\n"
                     "    return both.u;\n"
                     "}\n\n"
                     "static inline float %sfloat(unsigned x) {\n"
                     "    union { float f; unsigned u; } both;\n"
                     "    both.u = x;\n"
                     "    return both.f;\n"
                     "}\n\n",
                     prefix, prefix);
    for (int type = 0; type < AT_TYPE_COUNT; type++)
        for (int stores = 0; stores < 2; stores++)
            if (halves[type][stores]) at_text_addf(out, half_helpers[type][stores], prefix);
    if (wholes)
        at_text_addf(out,
                     "static inline float %swhole(float x) { /* halves to the even one */\n"
                     "    int y = (int)x;\n"
                     "    float rest = x - (float)y;\n"
                     "    if (rest > 0.5f || (rest == 0.5f && y & 1)) y++;\n"
                     "    if (rest < -0.5f || (rest == -0.5f && y & 1)) y--;\n"
                     "    return %sfloat((unsigned)y);\n"
                     "}\n\n",
                     prefix, prefix);
    if (roots)
        at_text_addf(out,
                     "static inline float %sroot(float x) {\n"
                     "    union { double d; unsigned long long u; } y;\n"
                     "    if (!(x > 0.0f && x <= 0x1.fffffep127f)) return x < 0.0f ? (x - x) / (x "
                     "- x) : x;\n"
                     "    y.d = x;\n"
                     "    y.u = (y.u >> 1) + (1023ULL << 51);\n"
                     "    for (int i = 0; i < 4; i++) y.d = 0.5 * (y.d + x / y.d);\n"
                     "    return (float)y.d;\n"
                     "}\n\n",
                     prefix);
}

static void memory(at_text *out, const at_tile *t, const at_tile_op *op) {
    (void)t;
    at_text_addf(out, "p%d[%lld]", op->slot, (long long)op->off);
}

static void operand(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->mem == AT_MEM_NONE) at_text_addf(out, "r%d", op->b);
    else if (op->mem == AT_MEM_CONST) at_c_constant(out, t, op);
    else memory(out, t, op);
}

/* The bits of the second operand. */
static void operand_bits(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->mem != AT_MEM_NONE && op->mem != AT_MEM_CONST && is_int(t, op)) {
        at_text_add(out, "(unsigned)");
        memory(out, t, op);
        return;
    }
    if (op->mem == AT_MEM_CONST) {
        at_text_addf(out, "0x%08xu", at_tile_bits(op));
        return;
    }
    at_text_addf(out, "%sbits(", t->prefix);
    operand(out, t, op);
    at_text_add(out, ")");
}

/* What is done with the bits of registers. */
static void bits_operation(at_text *out, const at_tile *t, const at_tile_op *op) {
    static const char *const sign[AT_T_KIND_COUNT] = {[AT_T_AND] = "&",
                                                      [AT_T_OR] = "|",
                                                      [AT_T_INT_ADD] = "+",
                                                      [AT_T_INT_SUB] = "-",
                                                      [AT_T_INT_MUL] = "*"};
    const char *p = t->prefix;
    switch (op->kind) {
    case AT_T_MUL_ADD:
        at_text_addf(out, "r%d = r%d * r%d + ", op->dst, op->dst, op->a);
        operand(out, t, op);
        break;
    case AT_T_LESS:
    case AT_T_AT_MOST:
    case AT_T_EQUAL:
        at_text_addf(out, "r%d = %sfloat(r%d %s ", op->dst, p, op->a, at_tile_comparison(op));
        operand(out, t, op);
        at_text_add(out, " ? 0xffffffffu : 0u)");
        break;
    case AT_T_BLEND:
        at_text_addf(out, "r%d = %sbits(r%d) ? ", op->dst, p, op->a);
        if (op->mem == AT_MEM_CONST) at_text_addf(out, "%sfloat(0x%08xu)", p, at_tile_bits(op));
        else operand(out, t, op);
        at_text_addf(out, " : r%d", op->dst);
        break;
    case AT_T_SQRT: at_text_addf(out, "r%d = %sroot(r%d)", op->dst, p, op->a); break;
    case AT_T_SHIFT_LEFT:
        at_text_addf(out, "r%d = %sfloat(%sbits(r%d) << %d)", op->dst, p, p, op->a, op->by);
        break;
    case AT_T_SHIFT_RIGHT:
        at_text_addf(out, "r%d = %sfloat((unsigned)((int)%sbits(r%d) >> %d))", op->dst, p, p, op->a,
                     op->by);
        break;
    case AT_T_INT_MIN:
    case AT_T_INT_MAX:
        at_text_addf(out, "r%d = (int)%sbits(r%d) %c (int)", op->dst, p, op->a,
                     op->kind == AT_T_INT_MIN ? '<' : '>');
        operand_bits(out, t, op);
        at_text_addf(out, " ? r%d : ", op->a);
        if (op->mem == AT_MEM_CONST) at_text_addf(out, "%sfloat(0x%08xu)", p, at_tile_bits(op));
        else operand(out, t, op);
        break;
    case AT_T_TO_INT: at_text_addf(out, "r%d = %swhole(r%d)", op->dst, p, op->a); break;
    case AT_T_TO_FLOAT:
        at_text_addf(out, "r%d = (float)(int)%sbits(r%d)", op->dst, p, op->a);
        break;
    default:
        if (!sign[op->kind]) AT_BUG("tile operation %d has no C", op->kind);
        at_text_addf(out, "r%d = %sfloat(%sbits(r%d) %s ", op->dst, p, p, op->a, sign[op->kind]);
        operand_bits(out, t, op);
        at_text_add(out, ")");
    }
    at_text_add(out, ";\n");
}

/* A prefetch has no compiler-independent form and prints as an empty statement. */
static void operation(at_text *out, const at_tile *t, const at_tile_op *op) {
    static const char *const sign[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = "+", [AT_T_SUB] = "-", [AT_T_MUL] = "*",
        [AT_T_DIV] = "/", [AT_T_MIN] = "<", [AT_T_MAX] = ">"};
    if (op->kind > AT_T_MAX && op->kind < AT_T_ZIP_LOW) {
        bits_operation(out, t, op);
        return;
    }
    switch (op->kind) {
    case AT_T_PREFETCH: at_text_add(out, ";\n"); return;
    case AT_T_CONST:
        at_text_addf(out, "r%d = ", op->dst);
        if (isnan(op->number)) at_text_addf(out, "%sfloat(0x%08xu)", t->prefix, at_tile_bits(op));
        else at_c_constant(out, t, op);
        break;
    case AT_T_LOAD:
    case AT_T_BCAST:
        at_text_addf(out, "r%d = ", op->dst);
        if (is_int(t, op)) at_text_addf(out, "%sfloat((unsigned)", t->prefix);
        if (at_type_is_half(element_type(t, op)))
            at_text_addf(out, "%sof_%s(", t->prefix, at_type_of(element_type(t, op))->name);
        memory(out, t, op);
        if (element_type(t, op) != AT_F32) at_text_add(out, ")");
        break;
    case AT_T_STORE:
        memory(out, t, op);
        if (is_int(t, op))
            at_text_addf(out, " = (%s)(int)%sbits(r%d)", at_type_of(t->slot_type[op->slot])->c,
                         t->prefix, op->a);
        else if (at_type_is_half(element_type(t, op)))
            at_text_addf(out, " = %sto_%s(r%d)", t->prefix, at_type_of(element_type(t, op))->name,
                         op->a);
        else at_text_addf(out, " = %sr%d", t->target->is_double ? "(float)" : "", op->a);
        break;
    case AT_T_SCATTER: at_tile_scatter_c(out, t, op); return;
    case AT_T_MOV: at_text_addf(out, "r%d = r%d", op->dst, op->a); break;
    case AT_T_FMA:
    case AT_T_FNMA:
        at_text_addf(out, "r%d %c= r%d * ", op->dst, op->kind == AT_T_FMA ? '+' : '-', op->a);
        operand(out, t, op);
        break;
    case AT_T_FMS:
        at_text_addf(out, "r%d = r%d * ", op->dst, op->a);
        operand(out, t, op);
        at_text_addf(out, " - r%d", op->dst);
        break;
    case AT_T_MIN:
    case AT_T_MAX:
        at_text_addf(out, "r%d = r%d %s ", op->dst, op->a, sign[op->kind]);
        operand(out, t, op);
        at_text_addf(out, " ? r%d : ", op->a);
        operand(out, t, op);
        break;
    default:
        at_text_addf(out, "r%d = r%d %s ", op->dst, op->a, sign[op->kind]);
        operand(out, t, op);
    }
    at_text_add(out, ";\n");
}

void at_tile_print_c(at_text *out, const at_tile *t, const char *prefix) {
    const at_tile_style scalars = {t->target->is_double ? "double" : "float", 'r', "", operation,
                                   ""};
    at_tile_comment(out, t);
    at_tile_function(out, t, &scalars, prefix);
}
