/* codegen/tile/tile_dump.c: a tile program as text, for --dump=tile and for people. */
#include "codegen/tile/tile_text.h"

static const char *const names[] = {
    "loop",      "end",        "bump",        "prefetch",  "index",    "const",    "load",
    "bcast",     "store",      "scatter",     "mov",       "fma",      "fnma",     "fms",
    "add",       "sub",        "mul",         "div",       "min",      "max",      "mul_add",
    "scale",     "and",        "or",          "int_add",   "int_sub",  "int_mul",  "int_min",
    "int_max",   "dot",        "cut",         "less",      "at_most",  "equal",    "blend",
    "sqrt",      "shift_left", "shift_right", "to_float",  "to_int",   "gather",   "swap",
    "weave",     "quarters",   "first",       "zip_low",   "zip_high", "zip_low2", "zip_high2",
    "zip_low16", "zip_high16", "zip_low8",    "zip_high8", "fours",    "halves",   "merge"};
_Static_assert(sizeof names / sizeof names[0] == AT_T_KIND_COUNT, "one name per operation");

static void memory(at_text *out, const at_tile *t, const at_tile_op *op) {
    at_text_addf(out, "[%s.%d%+lld]", t->slot_name[op->slot], op->slot, (long long)op->off);
}

/* Which lanes a move takes, and from where. */
static void print_lanes(at_text *out, const at_tile *t, const at_tile_op *op) {
    bool part = op->kind == AT_T_LOAD || op->kind == AT_T_STORE || op->kind == AT_T_FIRST ||
                op->kind == AT_T_GATHER || op->kind == AT_T_SCATTER;
    if (part && op->lanes < t->lanes) at_text_addf(out, " lanes %d", op->lanes);
    if (op->fours) at_text_addf(out, " fours %lld apart", (long long)op->fours);
    const bool spread = op->kind == AT_T_LOAD && op->by;
    if (part && op->times < 0) at_text_add(out, " turned");
    else if (part && op->times) at_text_addf(out, spread ? " %d*" : " %d*i", op->times);
    if (op->grouped) at_text_addf(out, " + %d of groups", op->plus);
    if (spread)
        at_text_addf(out, "%s(i + %d)%c%d", op->times ? "" : " ", op->plus, op->cyclic ? '%' : '/',
                     op->by);
}

static void print_operands(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->dst >= 0) at_text_addf(out, " r%d", op->dst);
    if (op->kind == AT_T_CONST && !op->mem) at_text_addf(out, ", %.9g", op->number);
    if (op->kind == AT_T_STORE || op->kind == AT_T_LOAD || op->kind == AT_T_BCAST ||
        op->kind == AT_T_PREFETCH || op->kind == AT_T_GATHER || op->kind == AT_T_SCATTER) {
        at_text_add(out, op->dst >= 0 ? ", " : " ");
        memory(out, t, op);
    }
    if (op->a >= 0) at_text_addf(out, ", r%d", op->a);
    if (op->b >= 0) at_text_addf(out, ", r%d", op->b);
    if (op->element) at_text_addf(out, "[%d]", op->element - 1);
    if (op->kind >= AT_T_FOURS) at_text_addf(out, ", 0x%02x", (unsigned)op->by);
    if (op->kind == AT_T_SHIFT_LEFT || op->kind == AT_T_SHIFT_RIGHT || op->kind == AT_T_SWAP)
        at_text_addf(out, ", %d", op->by);
    if (op->kind == AT_T_CUT) at_text_addf(out, ", %s", at_type_of((at_type)op->by)->name);
    if (op->mem == AT_MEM_CONST) at_text_addf(out, ", {%a}", op->number);
    else if (op->mem) {
        at_text_add(out, ", ");
        memory(out, t, op);
        if (op->mem == AT_MEM_BCAST) at_text_addf(out, "{1to%d}", t->lanes);
    }
    if (op->kind == AT_T_SCATTER && op->a < 0)
        at_text_addf(out, ", [%s.%d%+lld]", t->slot_name[op->base], op->base, (long long)op->trip);
    if (op->kind == AT_T_SCATTER)
        at_text_addf(out, " %s %lld*0..%d", names[op->by], (long long)op->bump, op->most);
    if (op->bits) at_text_addf(out, " of %c%d", op->no_sign ? 'u' : 's', op->bits);
    if (op->packed) at_text_add(out, " packed");
    if (op->halves) at_text_add(out, op->upper ? " upper halves" : " halves");
    print_lanes(out, t, op);
}

void at_tile_print(at_text *out, const at_tile *t) {
    at_text_addf(out, "%s: %d lanes%s, %d registers, slots", t->name, t->lanes,
                 t->target->is_double ? " in double" : "", t->num_regs);
    for (int i = 0; i < t->num_slots; i++)
        at_text_addf(out, " %s.%d%s", t->slot_name[i], i, t->slot_written[i] ? "(w)" : "");
    at_text_addf(out, ", %d trip counts\n", t->num_trips);
    int depth = 1;
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_END) depth--;
        at_text_addf(out, "%*s%s", 4 * depth, "", names[op->kind]);
        if (op->kind == AT_T_LOOP) {
            depth++;
            if (op->trip_arg >= 0) at_text_addf(out, " n%d", op->trip_arg);
            else at_text_addf(out, " %lld", (long long)op->trip);
            if (op->by > 1) at_text_addf(out, "/%d", op->by);
            if (op->most) at_text_addf(out, "%%%d", op->most);
            at_text_addf(out, " %s", op->name);
        } else if (op->kind == AT_T_BUMP) {
            at_text_addf(out, " %s.%d %+lld", t->slot_name[op->slot], op->slot,
                         (long long)op->bump);
            if (op->trip_arg >= 0) at_text_addf(out, " * n%d", op->trip_arg);
        } else if (op->kind == AT_T_INDEX) {
            at_text_addf(out, " %s.%d = %s.%d + %lld * ", t->slot_name[op->dst], op->dst,
                         t->slot_name[op->base], op->base, (long long)op->bump);
            if (op->times != 1) at_text_addf(out, "%d ", op->times);
            memory(out, t, op);
            if (op->plus) at_text_addf(out, " + %d", op->plus);
            if (op->by != 1) at_text_addf(out, " / %d", op->by);
            if (op->may_miss) at_text_addf(out, " or %.9gs", op->number);
        } else if (op->kind != AT_T_END) {
            print_operands(out, t, op);
        }
        at_text_add(out, "\n");
    }
}
