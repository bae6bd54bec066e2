/* codegen/tile/tile_verify.c: what every printer may rely on. A program that breaks a rule is our
 * own bug. */
#include "codegen/tile/tile.h"

#include <string.h>

static const char *check_index(const at_tile *t, const at_tile_op *op, const bool *made) {
    if (op->dst < t->num_slots || op->dst >= t->num_slots + t->num_pointers)
        return "a pointer is made where none is kept";
    bool passed =
        op->base >= 0 && op->base < t->num_slots && t->slot_type[op->base] == t->slot_type[op->dst];
    if (!passed && (op->base != op->dst || !made[op->dst]))
        return "an entry is added to what is no pointer";
    if (op->may_miss && (op->times != 1 || op->plus || op->by != 1 || op->base == op->dst))
        return "a pointer that may lead to numbers is made of more than an entry";
    if (op->times < 1 || op->plus < 0 || op->by < 1 || op->most < 0) return "no digit of an entry";
    return NULL;
}

/* What an operation reads or writes in memory; NULL: it may. made: pointers so far. */
static const char *check_memory(const at_tile *t, const at_tile_op *op, const bool *made) {
    const bool stores = at_tile_stores(op);
    const int frame = t->num_spilled ? at_tile_frame(t) : -1;
    const bool memory = stores || op->kind == AT_T_LOAD || op->kind == AT_T_BCAST ||
                        op->kind == AT_T_PREFETCH || op->kind == AT_T_INDEX ||
                        op->kind == AT_T_GATHER || op->mem == AT_MEM_VECTOR ||
                        op->mem == AT_MEM_BCAST;
    if (memory && (op->slot < 0 || op->slot >= at_tile_all_slots(t)))
        return "a memory operand has no slot";
    if (memory && op->slot == frame &&
        ((op->kind != AT_T_LOAD && op->kind != AT_T_STORE && op->kind != AT_T_ADD) ||
         op->lanes != t->lanes || op->off < 0 || op->off % t->lanes ||
         op->off / t->lanes >= t->num_spilled || t->target->is_double))
        return "a spilled register is not moved as a whole";
    const bool widens =
        stores || op->kind == AT_T_LOAD || op->kind == AT_T_BCAST || op->kind == AT_T_PREFETCH;
    if (op->kind == AT_T_INDEX && t->slot_type[op->slot] != AT_S32)
        return "an entry is read of what is no index list";
    const bool steps = op->by || (op->times && op->kind != AT_T_LOAD);
    if (memory && !at_tile_is_wide(t, op) && (!widens || steps))
        return "an operand in memory is to be widened";
    if (memory && op->halves && (t->slot_type[op->slot] != AT_F16 || op->times || op->by))
        return "floats of 16 bits as they lie are none";
    if (memory && op->packed && at_type_bytes(t->slot_type[op->slot]) == 4)
        return "several elements to a lane have 32 bits each";
    if (op->fours && ((op->kind != AT_T_LOAD && op->kind != AT_T_STORE) || !t->target->gnu_insert ||
                      !at_tile_is_wide(t, op) || op->lanes % AT_TILE_SQUARE || op->times || op->by))
        return "the set does not move fours of lanes from or to places of their own";
    if (op->kind == AT_T_STORE && op->packed && op->lanes % AT_TILE_SQUARE)
        return "several elements to a lane are stored other than fours of lanes at a time";
    if (memory && op->slot >= t->num_slots && op->slot != frame && !made[op->slot])
        return "a pointer is used before it is made";
    if (op->kind == AT_T_BUMP && (op->slot < 0 || op->slot >= t->num_slots))
        return "what is bumped is no pointer that was passed";
    return NULL;
}

/* Elements that a register holds. */
static int most_lanes(const at_tile *t, const at_tile_op *op) {
    return op->halves ? 2 * t->lanes : t->lanes;
}

/* The lanes that an operation moves; NULL: it may. */
static const char *check_lanes(const at_tile *t, const at_tile_op *op) {
    const bool stores = at_tile_stores(op);
    if (stores && !t->slot_written[op->slot]) return "a store goes to a slot that is only read";
    if (op->kind == AT_T_GATHER && (!t->target->gathers || op->dst == op->a || op->lanes < 2))
        return "the set does not gather, or not into the register that says from where";
    if ((stores || op->kind == AT_T_LOAD || op->kind == AT_T_FIRST || op->kind == AT_T_GATHER) &&
        (op->lanes < 1 || op->lanes > most_lanes(t, op)))
        return "lanes out of range";
    if (op->kind == AT_T_LOAD && op->times &&
        (!at_target_picks(t->target,
                          at_tile_is_wide(t, op) ? 4 : at_type_bytes(t->slot_type[op->slot]),
                          op->times) ||
         op->cyclic || op->lanes < 2 || (!at_tile_is_wide(t, op) && (op->by || op->grouped)) ||
         (op->times < 0 && op->by) ||
         (op->grouped && (op->by || op->times < 2 || op->plus < 0 || op->plus >= op->times))))
        return "a load takes no vector from every so many floats";
    if (op->kind == AT_T_STORE && op->times &&
        (op->times < 2 || op->times > t->target->most_stored_step || op->lanes < 2))
        return "a store takes no vector to every so many floats";
    if (op->kind == AT_T_LOAD && op->by &&
        (op->by < 2 || !at_target_spreads(t->target, op->by) || op->plus < 0 ||
         op->plus >= op->by || (op->lanes == t->lanes && !op->times)))
        return "a load is not spread by a number below the lanes";
    return NULL;
}

static const char *check_scatter(const at_tile *t, const at_tile_op *op, const bool *defined) {
    if (op->b < 0 || !defined[op->b] || op->most < 0 || op->bump < 1 || op->times < 0 ||
        at_type_bytes(t->slot_type[op->slot]) != 4)
        return "a scatter without terms or places";
    if (op->a < 0 &&
        (op->base < 0 || op->base >= t->num_slots || !at_type_of(t->slot_type[op->base])->is_int))
        return "a scatter takes its places from no list";
    return NULL;
}

/* What not every set has, or not for every operand; NULL: this one does what the operation says. */
static const char *check_set(const at_tile *t, const at_tile_op *op) {
    const at_target *set = t->target;
    const bool is_dot = op->kind == AT_T_DOT, zips_all = set->joins_fours || set->gnu_insert;
    if (set->is_double && op->kind > AT_T_MAX) return "it is none of doubles";
    if (is_dot && !(set->dots & op->by)) return "the set has no such dot products";
    if (is_dot && op->by == AT_DOT_SU && !op->element) return "such dot products are by a lane";
    if (op->halves && (!set->multiplies_halves || op->mem ||
                       (op->kind != AT_T_LOAD && op->kind != AT_T_BCAST && !at_tile_is_term(op))))
        return "the set does not multiply floats of 16 bits, or not so";
    if (op->mem == AT_MEM_VECTOR && (!set->fold_vector || op->lanes != t->lanes))
        return "a vector memory operand is not whole, or the set has none";
    if (op->mem == AT_MEM_BCAST && !set->fold_bcast) return "the set has no embedded broadcast";
    if (op->mem == AT_MEM_CONST && op->kind >= AT_T_FMA && !set->fold_const)
        return "the set has no constants in memory";
    if (op->kind == AT_T_SCALE && (!set->scales || op->mem))
        return "the set does not scale, or not by what lies in memory";
    if ((op->kind == AT_T_CUT || op->kind == AT_T_QUARTERS) && !set->cuts)
        return "the set does not cut two registers to half their bits";
    if (op->kind == AT_T_WEAVE && !set->weaves) return "the set does not weave bytes";
    if (op->kind >= AT_T_ZIP_LOW && (op->mem || op->lanes < 4 || op->lanes > t->lanes ||
                                     op->lanes & (op->lanes - 1) || (op->lanes != 4 && !zips_all)))
        return "lanes are put together that are neither the first four of registers, nor twice as "
               "many, nor all";
    if (op->kind >= AT_T_FOURS &&
        (!(op->kind == AT_T_MERGE ? set->merges : set->joins_fours) || op->lanes != t->lanes ||
         (op->kind == AT_T_HALVES && t->lanes != 8)))
        return "the set does not put lanes of two registers together so";
    if (op->element && (!set->by_element || op->mem || op->element > most_lanes(t, op) ||
                        (!at_tile_is_term(op) && op->kind != AT_T_MUL && !is_dot)))
        return "the set does not multiply by that lane of a register";
    return NULL;
}

/* Of integers of 8 or 16 bits. */
static const char *check_narrow(const at_tile *t, const at_tile_op *op) {
    const bool shifts = op->kind == AT_T_SHIFT_LEFT || op->kind == AT_T_SHIFT_RIGHT,
               counts = op->kind >= AT_T_INT_ADD && op->kind <= AT_T_INT_MAX;
    if (!t->target->narrows || op->mem || (op->bits != 8 && op->bits != 16))
        return "the set has no such integers, or not in memory";
    if (!counts && !shifts && op->kind != AT_T_LESS && op->kind != AT_T_BLEND)
        return "it is not done with such integers";
    if (op->bits == 8 && (shifts || op->kind == AT_T_INT_MUL))
        return "bytes are neither shifted nor multiplied";
    if (op->kind == AT_T_LESS && op->no_sign) return "such integers are compared with their sign";
    return shifts && op->by >= op->bits ? "a shift by more bits than there are" : NULL;
}

/* The number `by` of an operation on bits. */
static const char *check_number(const at_tile *t, const at_tile_op *op) {
    const char *fault = op->bits ? check_narrow(t, op) : NULL;
    if (fault) return fault;
    if ((op->kind == AT_T_SHIFT_LEFT || op->kind == AT_T_SHIFT_RIGHT) &&
        (op->by < 1 || op->by > 31))
        return "a shift is not by 1 to 31 bits";
    if (op->kind == AT_T_CUT &&
        (op->mem || (op->by != AT_S16 && op->by != AT_U8 && op->by != AT_S8)))
        return "registers are cut to no type of half their bits";
    if (op->kind == AT_T_SWAP && (op->by < 1 || op->by >= t->lanes || op->by & (op->by - 1)))
        return "lanes are not swapped at a distance of a power of two";
    return NULL;
}

/* Registers that an operation reads. */
static const char *check_registers(const at_tile *t, const at_tile_op *op, const bool *defined) {
    const bool stores = at_tile_stores(op), arithmetic = op->kind >= AT_T_FMA,
               listed = op->kind == AT_T_SCATTER && op->a < 0;
    if (op->kind >= AT_T_CONST && !stores && (op->dst < 0 || op->dst >= t->target->regs))
        return "a destination is no register";
    if ((stores || op->kind == AT_T_MOV || arithmetic) && !listed && (op->a < 0 || !defined[op->a]))
        return "an operand is read before it is defined";
    if (op->kind >= AT_T_SCALE && op->kind != AT_T_DOT &&
        (op->mem == AT_MEM_VECTOR || op->mem == AT_MEM_BCAST))
        return "an operand of bits lies in memory and is no constant";
    if (at_tile_is_unary(op) && (op->mem || op->b >= 0))
        return "a second operand of one that has none";
    if (arithmetic && !at_tile_is_unary(op) && !op->mem && (op->b < 0 || !defined[op->b]))
        return "an operand is read before it is defined";
    if (at_tile_updates(op) && !defined[op->dst])
        return "an accumulator is added to before it is defined";
    return NULL;
}

static const char *check_op(const at_tile *t, const at_tile_op *op, const bool *defined,
                            const bool *made) {
    const char *fault = check_set(t, op);
    if (!fault && op->upper && !op->halves) fault = "there is no second half";
    if (!fault) fault = check_memory(t, op, made);
    if (!fault && op->kind == AT_T_INDEX) return check_index(t, op, made);
    if (!fault) fault = check_lanes(t, op);
    if (!fault && op->kind == AT_T_SCATTER) fault = check_scatter(t, op, defined);
    if (!fault) fault = check_registers(t, op, defined);
    return fault ? fault : check_number(t, op);
}

const char *at_tile_verify(const at_tile *t, at_arena *a) {
    bool defined[64] = {false}, *made = AT_NEW_ARRAY(a, bool, at_tile_all_slots(t));
    int depth = 0;
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        depth += (op->kind == AT_T_LOOP) - (op->kind == AT_T_END);
        if (depth < 0) return "an end without a loop";
        if (op->kind == AT_T_LOOP && op->trip_arg < 0 && op->trip < 1)
            return "a constant loop that never runs";
        if (op->kind == AT_T_LOOP && (op->by || op->most) &&
            (op->trip_arg < 0 || op->by < 1 || op->by & (op->by - 1) || op->most < 0 ||
             op->most & (op->most - 1)))
            return "a loop over parts of something else than a passed count, or of odd sizes";
        if (op->trip_arg >= t->num_trips) return "a trip count that is not passed";
        if (op->kind == AT_T_LOOP || op->kind == AT_T_END)
            memset(made, 0, sizeof *made * (size_t)at_tile_all_slots(t));
        const char *fault = check_op(t, op, defined, made);
        if (fault) return at_format(a, "%s, operation %d: %s", t->name, i, fault);
        if (op->kind == AT_T_INDEX) made[op->dst] = true;
        if (at_tile_defines(op)) defined[op->dst] = true;
    }
    return depth ? "a loop without an end" : NULL;
}
