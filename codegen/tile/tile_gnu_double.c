/* codegen/tile/tile_gnu_double.c: a tile program whose registers hold doubles, as C with vector
 * types.
 */
#include "codegen/tile/tile_gnu.h"

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

static void place(at_text *out, const at_tile *t, const at_tile_op *op, char place) {
    if (place == 'c') at_c_constant(out, t, op);
    else if (op->mem == AT_MEM_NONE) at_text_addf(out, "d%d", op->b);
    else {
        at_text_add(out, "(");
        at_c_constant(out, t, op);
        at_text_add(out, " - (at_doubles){0})");
    }
}

#define CHOICE(SIGN)                                                                               \
    "{ at_choice c = (at_choice)($a " SIGN " $x); "                                                \
    "$d = (at_doubles)((c & (at_choice)$a) | (~c & (at_choice)$x)); }"

/* $c: the number. */
static const char *const forms[AT_T_KIND_COUNT] = {
    [AT_T_PREFETCH] = "__builtin_prefetch(p$s + $o);",
    [AT_T_BCAST] = "$d = (double)p$s[$o] - (at_doubles){0};",
    [AT_T_CONST] = "$d = $c - (at_doubles){0};",
    [AT_T_MIN] = CHOICE("<"),
    [AT_T_MAX] = CHOICE(">"),
};

static const char *form_of(const at_tile_op *op) { return at_c_form(forms, op); }

static void other(at_text *out, const at_tile *t, const at_tile_op *op) {
    switch (op->kind) {
    case AT_T_LOAD: load(out, t, op); return;
    case AT_T_STORE: store(out, t, op); return;
    default: AT_BUG("tile operation %d is none of doubles", op->kind);
    }
}

void at_gnu_doubles(at_text *out, const at_tile *t, const char *prefix) {
    at_tile_style doubles = {.type = "at_doubles",
                             .letter = 'd',
                             .aligned = "",
                             .form = form_of,
                             .other = other,
                             .place = place};
    at_text types = {0};
    at_text_addf(&types, types_of, 4 * t->lanes, 4 * t->lanes, 8 * t->lanes, 8 * t->lanes);
    doubles.types = at_text_str(&types);
    at_tile_function(out, t, &doubles, prefix);
    at_text_free(&types);
}
