/* codegen/tile_gnu_double.c: a tile program whose registers hold doubles, as C with vector types.
 */
#include "codegen/tile_gnu.h"

/* %d: bytes of as many floats, twice, and of the doubles, twice. */
static const char types_of[] =
    "    typedef float at_floats __attribute__((vector_size(%d), unused));\n"
    "    typedef float at_place __attribute__((vector_size(%d), may_alias, aligned(4), unused));\n"
    "    typedef double at_doubles __attribute__((vector_size(%d)));\n"
    "    typedef long long at_choice __attribute__((vector_size(%d), unused));\n";

static void load(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "d%d = ", op->dst);
    if (op->lanes == t->lanes) {
        at_text_add(out, "__builtin_convertvector((at_floats) * (const at_place *)(");
        at_gnu_address(out, op);
        at_text_add(out, "), at_doubles);\n");
        return;
    }
    at_text_add(out, "(at_doubles){");
    for (int i = 0; i < op->lanes; i++)
        at_text_addf(out, "%sp%d[%lld]", i ? ", " : "", op->slot, (long long)op->off + i);
    at_text_add(out, "};\n");
}

static void store(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->lanes == t->lanes) {
        at_text_add(out, "*(at_place *)(");
        at_gnu_address(out, op);
        at_text_addf(out, ") = __builtin_convertvector(d%d, at_floats);\n", op->a);
        return;
    }
    for (int i = 0; i < op->lanes; i++)
        at_text_addf(out, "%sp%d[%lld] = (float)d%d[%d];", i ? " " : "", op->slot,
                     (long long)op->off + i, op->a, i);
    at_text_add(out, "\n");
}

static void operand(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->mem == AT_MEM_NONE) {
        at_text_addf(out, "d%d", op->b);
        return;
    }
    at_text_add(out, "(");
    at_c_constant(out, t, op);
    at_text_add(out, " - (at_doubles){0})");
}

static void operation(at_text *out, const at_tile *t, const at_tile_op *op) {
    static const char sign[AT_T_KIND_COUNT] = {
        [AT_T_ADD] = '+', [AT_T_SUB] = '-', [AT_T_MUL] = '*',
        [AT_T_DIV] = '/', [AT_T_MIN] = '<', [AT_T_MAX] = '>'};
    switch (op->kind) {
    case AT_T_PREFETCH:
        at_text_addf(out, "__builtin_prefetch(p%d + %lld);\n", op->slot, (long long)op->off);
        return;
    case AT_T_LOAD: load(out, t, op); return;
    case AT_T_STORE: store(out, t, op); return;
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
        operand(out, t, op);
        at_text_addf(out, " - d%d;\n", op->dst);
        return;
    case AT_T_MIN:
    case AT_T_MAX:
        at_text_addf(out, "{ at_choice c = (at_choice)(d%d %c ", op->a, sign[op->kind]);
        operand(out, t, op);
        at_text_addf(out, "); d%d = (at_doubles)((c & (at_choice)d%d) | (~c & (at_choice)", op->dst,
                     op->a);
        operand(out, t, op);
        at_text_add(out, ")); }\n");
        return;
    default:
        if (!sign[op->kind]) AT_BUG("tile operation %d is none of doubles", op->kind);
        at_text_addf(out, "d%d = d%d %c ", op->dst, op->a, sign[op->kind]);
    }
    operand(out, t, op);
    at_text_add(out, ";\n");
}

void at_gnu_doubles(at_text *out, const at_tile *t, const char *prefix) {
    at_tile_style doubles = {"at_doubles", 'd', "", operation, ""};
    at_text types = {0};
    at_text_addf(&types, types_of, 4 * t->lanes, 4 * t->lanes, 8 * t->lanes, 8 * t->lanes);
    doubles.types = at_text_str(&types);
    at_tile_function(out, t, &doubles, prefix);
    at_text_free(&types);
}
