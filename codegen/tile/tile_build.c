/* codegen/tile/tile_build.c: a list of nests becomes a tile program.
 *
 * Needs:   no conditions; addresses affine in the loops of the list, but for an entry of an index
 * list each; loop bounds known before it.
 */
#include "codegen/tile/tile_build.h"

#include <string.h>

enum {
    REGISTERS_PER_TURN = 4, /* that a function of an element takes, about */
    TURNS = 16,             /* of a loop, */
    QUOTIENT = 8            /* and operations that one takes as long as: for comparisons */
};

/* Operations that only make or move a pointer. */
static bool is_aside(const at_tile_op *op) {
    return op->kind == AT_T_BUMP || op->kind == AT_T_PREFETCH || op->kind == AT_T_INDEX;
}

/* Slots that nothing is read from or written to any more go, with what prefetches them. Those made
 * inside come last. */
static void drop_slots(at_builder *b) {
    at_arena *a = b->l->arena;
    bool *used = AT_NEW_ARRAY(a, bool, b->most_slots);
    int *number = AT_NEW_ARRAY(a, int, b->most_slots), n = 0;
    const at_tile_slot *old = at_copy(a, b->slots, sizeof *old * (size_t)b->num_slots);
    for (int i = 0; i < b->ops.len; i++) {
        const at_tile_op *op = &b->ops.data[i];
        const int regs[] = {op->a, op->b};
        if (op->slot >= 0 && (!is_aside(op) || b->slots[op->slot].is_ahead)) used[op->slot] = true;
        for (int j = 0; j < 2; j++)
            if (regs[j] >= 0 && b->vregs.data[regs[j]].load && b->vregs.data[regs[j]].slot >= 0)
                used[b->vregs.data[regs[j]].slot] = true;
    }
    for (int i = 0; i < b->ops.len; i++) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->kind == AT_T_INDEX && used[op->dst]) used[op->slot] = used[op->base] = true;
        if (op->kind == AT_T_SCATTER && op->base >= 0) used[op->base] = true;
    }
    b->num_pointers = 0;
    for (int inside = 0; inside < 2; inside++)
        for (int i = 0; i < b->num_slots; i++) {
            if ((old[i].made_in > 0) != inside) continue;
            number[i] = used[i] ? n : -1;
            if (!used[i]) continue;
            b->slots[n++] = old[i];
            b->num_pointers += inside;
        }
    b->num_slots = n - b->num_pointers;
    int kept = 0;
    for (int i = 0; i < b->ops.len; i++) {
        at_tile_op op = b->ops.data[i];
        if (op.kind == AT_T_INDEX && number[op.dst] < 0) continue;
        if (op.kind == AT_T_INDEX) op.dst = (int16_t)number[op.dst];
        if (op.base >= 0) op.base = (int16_t)number[op.base];
        if (op.slot >= 0) op.slot = (int16_t)number[op.slot];
        if (!is_aside(&op) || op.slot >= 0) b->ops.data[kept++] = op;
    }
    b->ops.len = kept;
    for (int v = 0; v < b->vregs.len; v++)
        if (b->vregs.data[v].slot >= 0 && b->vregs.data[v].load)
            b->vregs.data[v].slot = (int16_t)number[b->vregs.data[v].slot];
}

/* Drops operations whose result nothing reads (of a tensor in registers, what a tail leaves
 * unused). */
static void drop_unused(at_builder *b) {
    int *uses = AT_NEW_ARRAY(b->l->arena, int, b->vregs.len + 1);
    for (bool again = true; again;) {
        again = false;
        memset(uses, 0, sizeof *uses * (size_t)b->vregs.len);
        for (int i = 0; i < b->ops.len; i++) {
            const at_tile_op *op = &b->ops.data[i];
            if (op->a >= 0) uses[op->a]++;
            if (op->b >= 0) uses[op->b]++;
        }
        int kept = 0;
        for (int i = 0; i < b->ops.len; i++) {
            const at_tile_op *op = &b->ops.data[i];
            if (at_tile_defines(op) && !uses[op->dst]) again = true;
            else b->ops.data[kept++] = *op;
        }
        b->ops.len = kept;
    }
    drop_slots(b);
}

/* An element of a tensor in registers is read by a vector along `vec`, or goes into one that is. */
static bool want_value(at_builder *b, const at_value *v, int vec, bool all) {
    bool more = false;
    if (v->op == AT_V_LOAD && b->regs->local[v->tensor] && !b->wanted[v->tensor])
        more = b->wanted[v->tensor] = all || (vec >= 0 && !at_aff_coef(v->at, vec));
    if (v->a) more |= want_value(b, v->a, vec, all);
    if (v->b) more |= want_value(b, v->b, vec, all);
    return more;
}

/* Which are wanted in all lanes; true: more than before. */
static bool find_wanted(at_builder *b, const at_ir *list, int vec) {
    bool more = false;
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT)
            more |= want_value(b, list->stmt.val, vec, b->wanted[list->stmt.tensor]);
        else if (list->loop.ann == AT_ANN_VEC && b->l->target->lanes > 1)
            more |= find_wanted(b, list->child, list->loop.sym);
        else more |= find_wanted(b, list->child, vec);
    }
    return more;
}

static int loads_of(const at_tile *t) {
    int n = 0;
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        n += op->kind == AT_T_LOAD || op->kind == AT_T_BCAST || op->mem == AT_MEM_VECTOR ||
             op->mem == AT_MEM_BCAST;
    }
    return n;
}

/* Operations, and the registers that they name, on the way to a tile. */
typedef struct {
    const at_tile_op *ops;
    const at_tile_vreg *vregs;
    int num_ops, num_vregs;
} listing;

/* Registers for the operations, in this order. */
static bool give_registers(const listing *of, at_low *l, const int *slot_tensor, bool spills,
                           at_tile *t) {
    listing in = *of;
    in.ops = at_tile_of_halves(l, in.ops, in.num_ops, &in.vregs, &in.num_vregs, slot_tensor);
    in.ops = at_tile_by_element(l, in.ops, in.num_ops, &in.vregs, &in.num_vregs, slot_tensor);
    return at_tile_alloc(l, in.ops, in.num_ops, in.vregs, in.num_vregs, spills, t);
}

/* Terms that read the same, one behind the other, where fewer loads come of it. */
static void share_loads(at_low *l, const listing *in, const int *slot_tensor, at_tile *t) {
    int different = 0;
    at_tile other = *t;
    for (int v = 0; v < in->num_vregs; v++)
        different += in->vregs[v].load == AT_T_LOAD || in->vregs[v].load == AT_T_BCAST;
    for (int in_groups = 0; in_groups < 2 && loads_of(t) > different; in_groups++) {
        listing shared = *in;
        shared.ops = at_tile_share(l, in->ops, in->num_ops, in->vregs, in->num_vregs, in_groups);
        if (give_registers(&shared, l, slot_tensor, false, &other) &&
            loads_of(&other) < loads_of(t))
            *t = other;
    }
}

/* Vectors that take turns need more registers; where there are not as many, fewer do, or they go
 * one by one. How many do; 0: it does not fit. */
static int allocate(at_low *l, const listing *of, const int *slot_tensor, bool spills, at_tile *t) {
    listing contracted = *of, *in = &contracted;
    contracted.ops = at_tile_contract(l, of->ops, of->vregs, of->num_vregs, &contracted.num_ops);
    for (int together = l->target->regs / REGISTERS_PER_TURN; together > 1;
         together = together > 2 ? (together + 1) / 2 : 0) {
        const at_tile_op *woven =
            at_tile_weave(l, in->ops, in->num_ops, in->vregs, in->num_vregs, slot_tensor, together);
        if (!woven) break;
        listing taking_turns = *in;
        taking_turns.ops = woven;
        if (give_registers(&taking_turns, l, slot_tensor, false, t)) return together;
    }
    if (give_registers(in, l, slot_tensor, false, t)) share_loads(l, in, slot_tensor, t);
    else if (!spills || !give_registers(in, l, slot_tensor, true, t)) return 0;
    return 1;
}

/* How many operations take as long as this one, which may load its lanes one by one. */
static int length_of(const at_tile_op *op) {
    if (op->kind == AT_T_DIV || op->kind == AT_T_SQRT) return QUOTIENT;
    return op->kind == AT_T_LOAD && op->times > AT_TILE_WHOLE_STEP ? op->lanes : 1;
}

/* Of its operations, those in a loop counting more than those before it. */
static double work_of(const at_tile *t) {
    double sum = 0, times = 1;
    for (int i = 0; i < t->num_ops; i++) {
        const at_tile_op *op = &t->ops[i];
        if (op->kind == AT_T_LOOP) times *= TURNS;
        if (op->kind == AT_T_END) times /= TURNS;
        sum += times * length_of(op);
    }
    return sum;
}

/* Are the operations of y to be preferred? They are less work, and none takes turns with fewer, or
 * they are half of it at most: what takes turns may be what is worked out once. */
static bool is_better(const at_tile *y, int turns_of_y, const at_tile *x, int turns_of_x) {
    const double work = work_of(y), before = work_of(x);
    return work < (turns_of_y < turns_of_x ? before / 2 : before);
}

/* With what is worked out once where that is better. */
static bool allocate_best(at_builder *b, at_tile *t) {
    int *tensor = AT_NEW_ARRAY(b->l->arena, int, b->most_slots);
    const bool spills = (b->regs->spills || b->turns_many) && !b->l->target->is_double;
    listing plain = {b->ops.data, b->vregs.data, b->ops.len, b->vregs.len};
    at_tile other = *t;
    at_tile_reused reused;
    for (int i = 0; i < b->num_slots + b->num_pointers; i++) tensor[i] = b->slots[i].tensor;
    int turns = allocate(b->l, &plain, tensor, spills, t);
    for (int lifts = AT_LIFT_LOADS; lifts >= AT_LIFT_NOTHING; lifts--) {
        if (!at_tile_reuse(b->l, plain.ops, plain.num_ops, plain.vregs, plain.num_vregs, tensor,
                           (at_tile_lifts)lifts, &reused))
            continue;
        const listing in = {reused.ops, reused.vregs, reused.num_ops, reused.num_vregs};
        int others = allocate(b->l, &in, tensor, false, &other);
        if (!others || (turns && !is_better(&other, others, t, turns))) continue;
        *t = other;
        return true;
    }
    return turns > 0;
}

void at_tile_name_frame(at_tile_call *c) {
    at_tile *t = c->tile;
    if (!t->num_spilled) return;
    c->slot_tensor[at_tile_frame(t)] = -1;
    t->slot_name[at_tile_frame(t)] = "spilled";
}

static void name_slots(const at_builder *b, at_tile_call *c) {
    at_low *l = b->l;
    at_tile *t = c->tile;
    const int n = at_tile_all_slots(t);
    c->slot_tensor = AT_NEW_ARRAY(l->arena, int, n);
    c->slot_at = AT_NEW_ARRAY(l->arena, const at_aff *, n);
    t->slot_name = AT_NEW_ARRAY(l->arena, const char *, n);
    t->slot_written = AT_NEW_ARRAY(l->arena, bool, n);
    t->slot_type = AT_NEW_ARRAY(l->arena, at_type, n + 2);
    for (int i = 0; i < at_tile_frame(t); i++) {
        const at_low_tensor *tensor = &l->tensors[b->slots[i].tensor];
        c->slot_tensor[i] = b->slots[i].tensor;
        c->slot_at[i] = b->slots[i].rest;
        t->slot_name[i] = tensor->name;
        t->slot_written[i] = b->slots[i].written;
        t->slot_type[i] = tensor->type;
    }
    if (t->num_spilled) t->slot_written[at_tile_frame(t)] = true;
    at_tile_name_frame(c);
}

/* spends: with registers that a sparing one may do without. */
static at_tile_call *build(at_low *l, const at_ir *list, const at_tile_regs *regs, bool *spends) {
    at_builder b = {
        .l = l, .regs = regs, .inner = at_ir_loops(list), .vec_sym = -1, .trying = -1, .body = 1};
    b.most_slots = regs->spills ? regs->spills : AT_TILE_MAX_SLOTS;
    b.slots = AT_NEW_ARRAY(l->arena, at_tile_slot, b.most_slots);
    b.open = AT_NEW_ARRAY(l->arena, at_tile_open, l->num_tensors);
    b.wanted = AT_NEW_ARRAY(l->arena, bool, l->num_tensors);
    b.first_fresh = AT_NEW_ARRAY(l->arena, int, l->num_tensors);
    while (find_wanted(&b, list, -1)) continue;
    at_build_list(&b, list);
    at_build_group_loads(&b);
    at_build_group_stores(&b);
    at_build_pack_stores(&b);
    *spends = b.spends;
    at_build_weave_rows(&b);
    if (b.failed) return NULL;
    drop_unused(&b);
    at_tile *t = AT_NEW(l->arena, at_tile);
    t->target = l->target;
    t->lanes = l->target->lanes;
    t->prefix = at_format(l->arena, "%s_", l->options->name);
    t->num_slots = b.num_slots;
    t->num_pointers = b.num_pointers;
    if (!allocate_best(&b, t)) return NULL;
    at_tile_sum_in_blocks(l, t);
    at_tile_spread_asking(l, t);
    at_tile_call *c = AT_NEW(l->arena, at_tile_call);
    c->tile = t;
    c->notes = b.notes.data;
    c->num_notes = b.notes.len;
    t->num_trips = b.num_trips;
    name_slots(&b, c);
    for (int i = 0; i < b.num_trips; i++) c->trip[i] = b.trips[i];
    return c;
}

at_tile_call *at_tile_build(at_low *l, const at_ir *list, const at_tile_regs *regs) {
    bool spends;
    at_tile_call *call = build(l, list, regs, &spends);
    if (call || !spends) return call;
    at_tile_regs sparing = *regs;
    sparing.sparing = true;
    return build(l, list, &sparing, &spends);
}
