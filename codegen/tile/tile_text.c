/* codegen/tile/tile_text.c: what the printers of C share: numbers, statements by their forms,
 * additions at computed places, and the function around the operations. */
#include "codegen/tile/tile_text.h"

#include <math.h>

void at_c_float(at_text *out, float x) {
    bool minus_zero = x == 0 && signbit(x);
    if (x > -1e6f && x < 1e6f && x == (float)(int)x && !minus_zero)
        at_text_addf(out, "%d.0f", (int)x);
    else if (isinf(x)) at_text_addf(out, "(%s1.0f / 0.0f)", x < 0 ? "-" : "");
    else at_text_addf(out, "%af", (double)x);
}

void at_c_constant(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (t->target->is_double && isfinite(op->number)) at_text_addf(out, "%a", op->number);
    else at_c_float(out, (float)op->number);
}

/* What is at *m, and the term, joined. */
static void scatter_join(at_text *out, const at_tile_op *op, const char *term) {
    switch (op->by) {
    case AT_T_MUL:
    case AT_T_INT_MUL: at_text_addf(out, "*m *= %s", term); return;
    case AT_T_MIN:
    case AT_T_INT_MIN:
    case AT_T_MAX:
    case AT_T_INT_MAX:
        at_text_addf(out, "*m = %s %c *m ? %s : *m", term,
                     op->by == AT_T_MIN || op->by == AT_T_INT_MIN ? '<' : '>', term);
        return;
    default: at_text_addf(out, "*m += %s", term);
    }
}

/* Lanes of a register as an array, so that a compiler may keep a loop over them. */
static void scatter_lanes(at_text *out, const at_tile *t, const char *type, const char *name,
                          int reg) {
    at_text_addf(out, "%s %s[%d]; __builtin_memcpy(%s, &v%d, sizeof %s); ", type, name, t->lanes,
                 name, reg, name);
}

/* A place of a list is read once, as the number of 64 bits that the address takes: of one of 32
 * bits gcc adds what is constant before it widens the sum, lane by lane. */
void at_tile_scatter_c(at_text *out, const at_tile *t, const at_tile_op *op) {
    const char *type = at_type_of(t->slot_type[op->slot])->c;
    const bool lanes = op->lanes > 1, listed = op->a<0, first = t->lanes> 1 && !lanes;
    char place[64], term[64];
    at_text_add(out, "{ ");
    if (lanes && !listed) scatter_lanes(out, t, "float", "at", op->a);
    if (lanes) scatter_lanes(out, t, type, "term", op->b);
    if (listed) snprintf(place, sizeof place, "at");
    else if (lanes) snprintf(place, sizeof place, "at[%s]", op->cyclic ? "0" : "l");
    else snprintf(place, sizeof place, first ? "v%d[0]" : "r%d", op->a);
    if (lanes) snprintf(term, sizeof term, "term[l]");
    else if (first)
        snprintf(term, sizeof term,
                 at_type_of(t->slot_type[op->slot])->is_int ? "((at_mask)v%d)[0]" : "v%d[0]",
                 op->b);
    else if (at_type_of(t->slot_type[op->slot])->is_int)
        snprintf(term, sizeof term, "(int)%sbits(r%d)", t->prefix, op->b);
    else snprintf(term, sizeof term, "r%d", op->b);
    /* A row that goes to one place has one test, so that a compiler makes vectors of its lanes. */
    if (lanes && !op->cyclic) at_text_addf(out, "for (int l = 0; l < %d; l++) ", op->lanes);
    if (listed)
        at_text_addf(out, "{ const long at = p%d[%lld%s]; ", op->base, (long long)op->trip,
                     lanes && !op->cyclic ? " + l" : "");
    at_text_addf(out,
                 "if (%1$s >= 0 && %1$s <= %2$d) { %3$s *m = p%4$d + %5$lld + %6$lldL * (long)%1$s",
                 place, op->most, type, op->slot, (long long)op->off, (long long)op->bump);
    if (op->times) at_text_addf(out, " + %dL * l", op->times);
    at_text_add(out, "; ");
    if (op->cyclic) at_text_addf(out, "for (int l = 0; l < %d; l++, m++) ", op->lanes);
    scatter_join(out, op, term);
    at_text_add(out, listed ? "; } } }\n" : "; } }\n");
}

/* "float *p0, const float *p1, long n0" */
static void parameters(at_text *out, const at_tile *t) {
    for (int i = 0; i < t->num_slots; i++)
        at_text_addf(out, "%s%s%s *p%d", i ? ", " : "", t->slot_written[i] ? "" : "const ",
                     at_type_of(t->slot_type[i])->c, i);
    for (int i = 0; i < t->num_trips; i++)
        at_text_addf(out, "%slong n%d", i || t->num_slots ? ", " : "", i);
}

void at_tile_comment(at_text *out, const at_tile *t) {
    at_text_add(out, "/*");
    for (int i = 0; i < t->num_slots; i++)
        at_text_addf(out, "%s p%d: %s", i ? "," : "", i, t->slot_name[i]);
    at_text_add(out, " */\n");
}

void at_tile_declare(at_text *out, const at_tile *t, const char *prefix) {
    at_tile_comment(out, t);
    at_text_addf(out, "void %s%s(", prefix, t->name);
    parameters(out, t);
    at_text_add(out, ");\n");
}

/* The variables that anything is written to, 16 on a line. */
static void variables(at_text *out, const at_tile *t, const at_tile_style *style) {
    bool written[64] = {false};
    for (int i = 0; i < t->num_ops; i++)
        if (t->ops[i].kind >= AT_T_CONST && t->ops[i].dst >= 0) written[t->ops[i].dst] = true;
    int n = 0;
    for (int r = 0; r < t->num_regs; r++) {
        if (!written[r]) continue;
        if (n % 16) at_text_add(out, ", ");
        else at_text_addf(out, "%s    %s ", n ? ";\n" : "", style->type);
        at_text_addf(out, "%c%d", style->letter, r);
        n++;
    }
    if (n) at_text_add(out, ";\n");
    for (int p = t->num_slots; p < t->num_slots + t->num_pointers; p++)
        at_text_addf(out, "    const %s *p%d;\n", at_type_of(t->slot_type[p])->c, p);
    if (t->num_spilled)
        at_text_addf(out, "    %sfloat p%d[%d];\n", style->aligned, at_tile_frame(t),
                     t->num_spilled * t->lanes);
}

/* What pointers lead to that an entry below 0 makes. */
static void numbers(at_text *out, const at_tile *t) {
    for (const at_tile_op *op = t->ops; op < t->ops + t->num_ops; op++) {
        if (op->kind != AT_T_INDEX || !op->may_miss || at_tile_first_miss(t, op) != op) continue;
        const at_type type = (at_type)t->slot_type[op->base];
        const uint32_t bits = at_tile_missed(t, op);
        at_text_addf(out, "    static const %s none%d[%d] = {", at_type_of(type)->c, op->dst,
                     AT_TILE_NUMBERS);
        for (int i = 0; i < (bits ? AT_TILE_NUMBERS : 1); i++) {
            at_text_add(out, i ? ", " : "");
            if (type == AT_F32) at_c_float(out, (float)op->number);
            else at_text_addf(out, "(%s)0x%x", at_type_of(type)->c, bits);
        }
        at_text_add(out, "};\n");
    }
}

static void index_entry(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "p%d = ", op->dst);
    if (op->may_miss)
        at_text_addf(out, "p%d[%lld] < 0 ? none%d : ", op->slot, (long long)op->off,
                     at_tile_first_miss(t, op)->dst);
    at_text_addf(out, "p%d + ", op->base);
    if (op->bump != 1) at_text_addf(out, "%lldL * ", (long long)op->bump);
    if (op->by != 1) at_text_add(out, "(long)(");
    if (op->by != 1) at_text_add(out, "(unsigned)(");
    if (op->times != 1) at_text_addf(out, "%d * ", op->times);
    at_text_addf(out, "p%d[%lld]", op->slot, (long long)op->off);
    if (op->plus) at_text_addf(out, " + %d", op->plus);
    if (op->by != 1) at_text_addf(out, ") / %dU", op->by);
    at_text_add(out, op->by != 1 ? ");\n" : ";\n");
}

/* Forms of operations on registers that C spells as it does those on floats: $x is the second
 * operand. */
static const char *const arithmetic[AT_T_KIND_COUNT] = {
    [AT_T_MOV] = "$d = $a;",
    [AT_T_FMA] = "$d += $a * $x;",
    [AT_T_FNMA] = "$d -= $a * $x;",
    [AT_T_FMS] = "$d = $a * $x - $d;",
    [AT_T_MUL_ADD] = "$d = $d * $a + $x;",
    [AT_T_ADD] = "$d = $a + $x;",
    [AT_T_SUB] = "$d = $a - $x;",
    [AT_T_MUL] = "$d = $a * $x;",
    [AT_T_DIV] = "$d = $a / $x;",
};

const char *at_c_form(const char *const *forms, const at_tile_op *op) {
    return forms[op->kind] ? forms[op->kind] : arithmetic[op->kind];
}

static void statement(at_text *out, const at_tile *t, const at_tile_op *op,
                      const at_tile_style *style) {
    const char *at = style->form(op);
    if (!at) {
        style->other(out, t, op);
        return;
    }
    for (const char *place; (place = strchr(at, '$')); at = place + 2) {
        at_text_addn(out, at, (size_t)(place - at));
        switch (place[1]) {
        case 'd': at_text_addf(out, "%c%d", style->letter, op->dst); break;
        case 'a': at_text_addf(out, "%c%d", style->letter, op->a); break;
        case 'b': at_text_addf(out, "%c%d", style->letter, op->b); break;
        case 'n': at_text_addf(out, "%d", op->by); break;
        case 'l': at_text_addf(out, "%d", op->lanes); break;
        case 's': at_text_addf(out, "%d", op->slot); break;
        case 'o': at_text_addf(out, "%lld", (long long)op->off); break;
        case 'p': at_text_add(out, t->prefix); break;
        default: style->place(out, t, op, place[1]);
        }
    }
    at_text_addf(out, "%s\n", at);
}

void at_tile_function(at_text *out, const at_tile *t, const at_tile_style *style,
                      const char *prefix) {
    at_text_addf(out, "static void %s%s(", prefix, t->name);
    parameters(out, t);
    at_text_addf(out, ") {\n%s", style->types);
    variables(out, t, style);
    numbers(out, t);
    int depth = 1;
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_END) depth--;
        at_text_addf(out, "%*s", 4 * depth, "");
        if (op->kind == AT_T_LOOP) {
            at_text_addf(out, "for (long i%d = 0; i%d < ", depth, depth);
            if (op->trip_arg >= 0) at_text_addf(out, "n%d", op->trip_arg);
            else at_text_addf(out, "%lld", (long long)op->trip);
            if (op->by > 1) at_text_addf(out, " / %d", op->by);
            if (op->most) at_text_addf(out, " %% %d", op->most);
            at_text_addf(out, "; i%d++) { /* %s */\n", depth, op->name);
            depth++;
        } else if (op->kind == AT_T_END) at_text_add(out, "}\n");
        else if (op->kind == AT_T_BUMP) {
            at_text_addf(out, "p%d %s= ", op->slot, op->bump < 0 ? "-" : "+");
            if (op->trip_arg >= 0) at_text_addf(out, "n%d * ", op->trip_arg);
            at_text_addf(out, "%lld;\n", (long long)(op->bump < 0 ? -op->bump : op->bump));
        } else if (op->kind == AT_T_INDEX) index_entry(out, t, op);
        else statement(out, t, op, style);
    }
    at_text_add(out, "}\n\n");
}
