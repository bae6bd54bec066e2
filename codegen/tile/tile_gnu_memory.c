/* codegen/tile/tile_gnu_memory.c: loads and stores as C with vector types.
 *
 * Vectors in memory have a type of their own, aligned like a float and free to alias. What concerns
 * only the first lanes of a vector touches nothing beyond them. */
#include "codegen/tile/tile_gnu.h"
#include "codegen/tile/tile_pick.h"

static void address(at_text *out, const at_tile_op *op, int64_t lane) {
    int64_t off = op->off + lane;
    at_text_addf(out, "p%d", op->slot);
    if (off) at_text_addf(out, " %c %lld", off < 0 ? '-' : '+', (long long)(off < 0 ? -off : off));
}

void at_gnu_address(at_text *out, const at_tile_op *op) { address(out, op, 0); }

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
    const bool is_pick = op->kind == AT_T_LOAD && op->times && !op->packed;
    const int terms = at_type_per_lane(t->slot_type[op->slot]);
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
    if (op->lanes == t->lanes && !op->packed && !is_pick) {
        at_text_addf(out, "at_load_narrow(%s, %d, ", element(t, op),
                     (int)at_type_bytes(t->slot_type[op->slot]) * t->lanes);
        address(out, op, 0);
        at_text_add(out, ");\n");
        return;
    }
    if (op->packed && (op->lanes == t->lanes || t->target->masked_loads)) {
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
        address(out, op, op->packed ? terms * i : is_pick ? at_tile_lane_from(op, i) : i);
        at_text_add(out, ")");
    }
    at_text_add(out, "};\n");
}

static bool is_narrow_slot(const at_tile *t, const at_tile_op *op) {
    return at_type_bytes(t->slot_type[op->slot]) != 4;
}

/* Each four of lanes to its own place. */
static void store_fours(at_text *out, const at_tile_op *op) {
    for (int i = 0; i < op->lanes / 4; i++) {
        at_text_add(out, i ? " at_store4(" : "at_store4(");
        address(out, op, i * op->fours);
        at_text_addf(out, ", v%d, %d);", op->a, 4 * i);
    }
    at_text_add(out, "\n");
}

void at_gnu_store(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (op->fours) {
        store_fours(out, op);
        return;
    }
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

void at_gnu_lanes(at_text *out, const at_tile *t, const at_tile_op *op) {
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
    at_gnu_lanes(out, t, op);
    at_text_add(out, ";");
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
        if (n > 1) at_gnu_lanes(out, t, &part);
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

/* Every second float of 15; false: the load takes others. */
static bool pick_second(at_text *out, const at_tile *t, const at_tile_op *op) {
    if (!at_tile_picks_second(op) || t->lanes != op->lanes) return false;
    at_text_addf(out,
                 "v%d = __builtin_shufflevector(at_load(p%d + %lld), at_load(p%d + %lld), 0, 2, 4, "
                 "6, 9, 11, 13, 15);\n",
                 op->dst, op->slot, (long long)op->off, op->slot, (long long)op->off + 7);
    return true;
}

/* Every so many floats. */
static void pick(at_text *out, const at_tile *t, const at_tile_op *op) {
    const bool is_turned = op->times < 0 && op->lanes == t->lanes;
    if (is_turned || (t->target->picks_whole && op->times <= AT_TILE_WHOLE_STEP)) {
        pick_whole(out, t, op);
        return;
    }
    if (pick_second(out, t, op) || pick_fours(out, t, op)) return;
    at_text_addf(out, "v%d = (at_vector)%s{", op->dst,
                 t->slot_type[op->slot] == AT_S32 ? "(at_mask)" : "");
    for (int i = 0; i < op->lanes; i++)
        at_text_addf(out, "%sp%d[%lld]", i ? ", " : "", op->slot,
                     (long long)(op->off + at_tile_lane_from(op, i)));
    at_text_add(out, "};\n");
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
void at_gnu_load(at_text *out, const at_tile *t, const at_tile_op *op) {
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
