/* codegen/tile/tile_c.c: a tile program as plain scalar C, one float variable per register. For any
 * compiler, and the fallback of every other printer. Needs: a program made for one lane. */
#include "codegen/tile/tile_text.h"

#include <math.h>

static bool is_int(const at_tile *t, const at_tile_op *op) {
    return at_type_of(t->slot_type[op->slot])->is_int;
}

static at_type element_type(const at_tile *t, const at_tile_op *op) {
    return op->slot >= 0 ? t->slot_type[op->slot] : AT_F32;
}

/* Floats of 16 bits, loaded as codegen/tile/functions.c has it, and stored, where they are such. */
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

static void memory(at_text *out, const at_tile_op *op) {
    at_text_addf(out, "p%d[%lld]", op->slot, (long long)op->off);
}

/* A number with all of its bits, which no decimal says of what is not a number. */
static void bits_of_number(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "%sfloat(0x%08xu)", t->prefix, at_tile_bits(op));
}

/* The bits of the second operand. */
static void operand_bits(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->mem == AT_MEM_CONST) at_text_addf(out, "0x%08xu", at_tile_bits(op));
    else if (op->mem == AT_MEM_NONE) at_text_addf(out, "%sbits(r%d)", t->prefix, op->b);
    else {
        at_text_addf(out, is_int(t, op) ? "(unsigned)" : "%sbits(", t->prefix);
        memory(out, op);
        at_text_add(out, is_int(t, op) ? "" : ")");
    }
}

static void place(at_text *out, const at_tile *t, const at_tile_op *op, char place) {
    if (place == 'u') operand_bits(out, t, op);
    else if (op->mem == AT_MEM_NONE) at_text_addf(out, "r%d", op->b);
    else if (op->mem != AT_MEM_CONST) memory(out, op);
    else if (place == 'w') bits_of_number(out, t, op);
    else at_c_constant(out, t, op);
}

/* $w: the second operand with all of its bits. A prefetch has no form that every compiler knows,
 * and is an empty statement. */
static const char *const forms[AT_T_KIND_COUNT] = {
    [AT_T_PREFETCH] = ";",
    [AT_T_MIN] = "$d = $a < $x ? $a : $x;",
    [AT_T_MAX] = "$d = $a > $x ? $a : $x;",
    [AT_T_SQRT] = "$d = $proot($a);",
    [AT_T_AND] = "$d = $pfloat($pbits($a) & $u);",
    [AT_T_OR] = "$d = $pfloat($pbits($a) | $u);",
    [AT_T_INT_ADD] = "$d = $pfloat($pbits($a) + $u);",
    [AT_T_INT_SUB] = "$d = $pfloat($pbits($a) - $u);",
    [AT_T_INT_MUL] = "$d = $pfloat($pbits($a) * $u);",
    [AT_T_INT_MIN] = "$d = (int)$pbits($a) < (int)$u ? $a : $w;",
    [AT_T_INT_MAX] = "$d = (int)$pbits($a) > (int)$u ? $a : $w;",
    [AT_T_SHIFT_LEFT] = "$d = $pfloat($pbits($a) << $n);",
    [AT_T_SHIFT_RIGHT] = "$d = $pfloat((unsigned)((int)$pbits($a) >> $n));",
    [AT_T_LESS] = "$d = $pfloat($a < $x ? 0xffffffffu : 0u);",
    [AT_T_AT_MOST] = "$d = $pfloat($a <= $x ? 0xffffffffu : 0u);",
    [AT_T_EQUAL] = "$d = $pfloat($a == $x ? 0xffffffffu : 0u);",
    [AT_T_BLEND] = "$d = $pbits($a) ? $w : $d;",
    [AT_T_TO_INT] = "$d = $pwhole($a);",
    [AT_T_TO_FLOAT] = "$d = (float)(int)$pbits($a);",
};

static const char *form_of(const at_tile_op *op) { return at_c_form(forms, op); }

static void load(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "r%d = ", op->dst);
    if (is_int(t, op)) at_text_addf(out, "%sfloat((unsigned)", t->prefix);
    if (at_type_is_half(element_type(t, op)))
        at_text_addf(out, "%sof_%s(", t->prefix, at_type_of(element_type(t, op))->name);
    memory(out, op);
    at_text_add(out, element_type(t, op) != AT_F32 ? ");\n" : ";\n");
}

static void store(at_text *out, const at_tile *t, const at_tile_op *op) {
    const at_type type = element_type(t, op);
    memory(out, op);
    if (is_int(t, op))
        at_text_addf(out, " = (%s)(int)%sbits(r%d);\n", at_type_of(type)->c, t->prefix, op->a);
    else if (at_type_is_half(type))
        at_text_addf(out, " = %sto_%s(r%d);\n", t->prefix, at_type_of(type)->name, op->a);
    else at_text_addf(out, " = %sr%d;\n", t->target->is_double ? "(float)" : "", op->a);
}

static void other(at_text *out, const at_tile *t, const at_tile_op *op) {
    switch (op->kind) {
    case AT_T_CONST:
        at_text_addf(out, "r%d = ", op->dst);
        if (isnan(op->number)) bits_of_number(out, t, op);
        else at_c_constant(out, t, op);
        at_text_add(out, ";\n");
        return;
    case AT_T_LOAD:
    case AT_T_BCAST: load(out, t, op); return;
    case AT_T_STORE: store(out, t, op); return;
    case AT_T_SCATTER: at_tile_scatter_c(out, t, op); return;
    default: AT_BUG("tile operation %d has no C", op->kind);
    }
}

void at_tile_print_c(at_text *out, const at_tile *t, const char *prefix) {
    const at_tile_style scalars = {.type = t->target->is_double ? "double" : "float",
                                   .letter = 'r',
                                   .types = "",
                                   .aligned = "",
                                   .form = form_of,
                                   .other = other,
                                   .place = place};
    at_tile_comment(out, t);
    at_tile_function(out, t, &scalars, prefix);
}
