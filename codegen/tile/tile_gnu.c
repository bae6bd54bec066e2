/* codegen/tile/tile_gnu.c: a tile program as C with vector types, for gcc and clang.
 *
 * One variable per register and every unrolled operation printed: given an array, the compilers
 * keep accumulators in memory. Each function names its instruction set, so that no -march is
 * needed. */
#include "codegen/tile/tile_gnu.h"
#include "codegen/tile/tile_wanted.h"
#include "codegen/tile/tile_zip.h"

#include <math.h>

enum { HALF = 8 }; /* lanes of half of the widest registers */

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

/* The bits of the second operand, as integers. */
static void operand_bits(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->mem == AT_MEM_CONST) {
        at_text_addf(out, "((at_mask){0} + (int)0x%08xu)", at_tile_bits(op));
        return;
    }
    at_text_add(out, "(at_mask)");
    operand(out, t, op);
}

/* The second operand of a helper that is a macro, and has a name for each place where that lies. */
static void argument(at_text *out, const at_tile_op *op) {
    if (op->element) at_text_addf(out, "v%d, %d", op->b, op->element - 1);
    else if (op->mem == AT_MEM_CONST) constant(out, op);
    else if (op->mem == AT_MEM_NONE) at_text_addf(out, "v%d", op->b);
    else at_gnu_address(out, op);
}

static void place(at_text *out, const at_tile *t, const at_tile_op *op, char place) {
    static const char *const from[] = {"", "_load", "_broadcast", ""};
    static const char *const signs[] = {
        [AT_DOT_US] = "us", [AT_DOT_SU] = "su",   [AT_DOT_SS] = "s",
        [AT_DOT_UU] = "u",  [AT_DOT_S16] = "s16", [AT_DOT_BF16] = "bf16"};
    const bool all = place == 'v' && op->mem == AT_MEM_BCAST;
    switch (place) {
    case 'u': operand_bits(out, t, op); return;
    case 'c': constant(out, op); return;
    case 'f': at_text_add(out, op->element ? "_lane" : from[op->mem]); return;
    case 'y': argument(out, op); return;
    case 'm': at_gnu_address(out, op); return;
    case 't': at_text_add(out, at_type_of((at_type)op->by)->name); return;
    case 'g': at_text_add(out, signs[op->by]); return;
    case 'h': at_text_add(out, op->upper ? "2" : ""); return;
    case 'w':
        if (op->lanes == t->lanes / 2) at_text_addf(out, "%d", op->lanes);
        return;
    case 'i':
        at_text_addf(out, "%s %s", op->no_sign ? "unsigned" : "signed",
                     op->bits == 8 ? "char" : "short");
        return;
    case 'r':
        if (op->apart) at_text_addf(out, "\n    at_apart(v%d);", op->dst);
        return;
    default:
        at_text_add(out, all ? "at_all(" : "");
        operand(out, t, op);
        at_text_add(out, all ? ")" : "");
    }
}

/* $v: the second operand as a vector, $y: as a helper's argument, which may be a lane or an
 * address, and $f: the end of such a helper's name; $c: the number in all lanes, $m: where memory
 * is, $t: the type `by`, $i: the integers of 8 or 16 bits, $g: the signs that a dot product's
 * elements have, $r: a product is rounded before anything is added, $w: half the lanes of a
 * register, where a multiply-add has no more. Integers are multiplied
 * without sign: their overflow is defined. */
static const char *const forms[AT_T_KIND_COUNT] = {
    [AT_T_PREFETCH] = "__builtin_prefetch(p$s + $o);",
    [AT_T_CONST] = "$d = $c;",
    [AT_T_FMA] = "at_fma$w$f($d, $a, $y);",
    [AT_T_DOT] = "at_$gdot$f($d, $a, $y);",
    [AT_T_MUL] = "$d = $a * $x;$r",
    [AT_T_MIN] = "at_min($d, $a, $v);",
    [AT_T_MAX] = "at_max($d, $a, $v);",
    [AT_T_SCALE] = "at_scale($d, $a, $b, $c);",
    [AT_T_AND] = "$d = (at_vector)((at_mask)$a & $u);",
    [AT_T_OR] = "$d = (at_vector)((at_mask)$a | $u);",
    [AT_T_INT_ADD] = "$d = (at_vector)((at_mask)$a + $u);",
    [AT_T_INT_SUB] = "$d = (at_vector)((at_mask)$a - $u);",
    [AT_T_INT_MUL] = "at_narrow(unsigned, $d, $a, *, $u);",
    [AT_T_INT_MIN] = "$d = at_int_min((at_mask)$a, $u);",
    [AT_T_INT_MAX] = "$d = at_int_max((at_mask)$a, $u);",
    [AT_T_SHIFT_LEFT] = "$d = (at_vector)((at_mask)$a << $n);",
    [AT_T_SHIFT_RIGHT] = "$d = (at_vector)((at_mask)$a >> $n);",
    [AT_T_LESS] = "$d = (at_vector)($a < $x);",
    [AT_T_AT_MOST] = "$d = (at_vector)($a <= $x);",
    [AT_T_EQUAL] = "$d = (at_vector)($a == $x);",
    [AT_T_BLEND] = "$d = at_choose((at_mask)$a, $x, $d);",
    [AT_T_TO_INT] = "at_to_int($d, $a);",
    [AT_T_TO_FLOAT] = "$d = __builtin_convertvector((at_mask)$a, at_vector);",
    [AT_T_GATHER] = "at_gather($d, $m, $a, $l);",
    [AT_T_CUT] = "at_cut_$t($d, $a, $b);",
    [AT_T_WEAVE] = "at_weave($d, $a);",
};

/* Products by one lane of b, and those of floats of 16 bits. */
static const char *const
    by_lane[AT_T_KIND_COUNT] = {[AT_T_FMA] = "at_fma$f($d, $a, $y);",
                                [AT_T_FNMA] = "at_fnma$f($d, $a, $y);",
                                [AT_T_MUL] = "at_mul$f($d, $a, $y);$r"},
    *const of_halves[AT_T_KIND_COUNT] = {
        [AT_T_FMA] = "at_half_fma$h$f($d, $a, $y);", [AT_T_FNMA] = "at_half_fnma$h$f($d, $a, $y);"};

/* Integers of 8 or 16 bits, of the type $i. */
static const char *const narrow[AT_T_KIND_COUNT] = {
    [AT_T_INT_ADD] = "at_narrow($i, $d, $a, +, $b);",
    [AT_T_INT_SUB] = "at_narrow($i, $d, $a, -, $b);",
    [AT_T_INT_MUL] = "at_narrow($i, $d, $a, *, $b);",
    [AT_T_INT_MIN] = "at_narrow_choice($i, $d, $a, <, $b);",
    [AT_T_INT_MAX] = "at_narrow_choice($i, $d, $a, >, $b);",
    [AT_T_SHIFT_LEFT] = "at_narrow_shift($i, $d, $a, <<, $n);",
    [AT_T_SHIFT_RIGHT] = "at_narrow_shift($i, $d, $a, >>, $n);",
    [AT_T_LESS] = "at_narrow($i, $d, $a, <, $b);",
    [AT_T_BLEND] = "$d = at_choose((at_mask)$a, $x, $d);"};

static const char *form_of(const at_tile_op *op) {
    if (op->bits) return narrow[op->kind];
    if (op->halves && at_tile_is_term(op)) return of_halves[op->kind];
    return op->element && op->kind != AT_T_DOT ? by_lane[op->kind] : at_c_form(forms, op);
}

/* Whole lanes of a register or of two. */
static void shuffle(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "v%d = __builtin_shufflevector(v%d, v%d", op->dst, op->a,
                 at_tile_shuffled_second(op));
    for (int i = 0; i < t->lanes; i++)
        at_text_addf(out, ", %d", at_tile_shuffled_from(op, t->lanes, i));
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

static void other(at_text *out, const at_tile *t, const at_tile_op *op) {
    switch (op->kind) {
    case AT_T_LOAD:
    case AT_T_BCAST: at_gnu_load(out, t, op); return;
    case AT_T_STORE: at_gnu_store(out, t, op); return;
    case AT_T_SCATTER: at_tile_scatter_c(out, t, op); return;
    case AT_T_SQRT: at_text_addf(out, t->target->gnu_sqrt, op->dst, op->a); return;
    case AT_T_SWAP:
    case AT_T_QUARTERS:
    case AT_T_FIRST:
    case AT_T_FOURS:
    case AT_T_HALVES:
    case AT_T_MERGE: shuffle(out, t, op); return;
    default: zip(out, t, op);
    }
}

/* A tile of 16 lanes whose multiply-adds have 8 where nothing depends on the others: some cores
 * work out two of these in the time of a whole one. */
static at_tile in_halves(at_arena *a, const at_tile *t) {
    at_tile made = *t;
    const uint8_t *wanted = at_tile_wanted_lanes(a, t);
    made.ops = AT_NEW_ARRAY(a, at_tile_op, t->num_ops);
    for (int i = 0; i < t->num_ops; i++) {
        at_tile_op *op = &made.ops[i];
        *op = t->ops[i];
        if (op->kind == AT_T_FMA && !op->halves)
            op->lanes = (uint8_t)(at_tile_is_half(t, wanted, op) ? HALF : t->lanes);
    }
    return made;
}

void at_tile_print_gnu(at_text *out, const at_tile *t, const char *prefix) {
    static const at_tile_style vectors = {.type = "at_vector",
                                          .letter = 'v',
                                          .types = "",
                                          .aligned = "__attribute__((aligned(64))) ",
                                          .form = form_of,
                                          .other = other,
                                          .place = place};
    if (!t->target->prelude) {
        at_tile_print_c(out, t, prefix);
        return;
    }
    at_tile_comment(out, t);
    at_text_add(out, "AT_TILE ");
    if (t->target->is_double) at_gnu_doubles(out, t, prefix);
    else if (t->lanes == 2 * HALF) {
        at_arena *a = at_arena_new();
        const at_tile made = in_halves(a, t);
        at_tile_function(out, &made, &vectors, prefix);
        at_arena_free(a);
    } else at_tile_function(out, t, &vectors, prefix);
}
