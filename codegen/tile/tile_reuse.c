/* codegen/tile/tile_reuse.c: what a tile has worked out is not worked out again: an operation on
 * the same operands in one straight-line body is done once, and one whose operands a loop does not
 * change is done before it, as are all those that make a register in each turn alike, as an
 * accumulator, whose register is its own until the loop ends. So are loads, those whose lanes are
 * put together first of all.
 *
 * Where a weight's scale or a mean stands beside each element of a sum, that is most of the work.
 * All of it takes registers for longer: the caller has the operations as they were. */
#include "codegen/tile/tile_make.h"

#include <string.h>

enum {
    REMEMBERED = 256, /* results of a body */
    MOST_HELD = 16    /* loads of a loop */
};

typedef struct {
    at_low *l;
    at_tile_op *ops;
    int n;
    at_tile_reused *out;
    const int *slot_tensor;
    int *defs;    /* [virtual register] operations that change it: in all, */
    int *changes; /* so far */
    int *same_as; /* [virtual register] one that holds the same; -1: none */
    int known[REMEMBERED];
    int known_changes[REMEMBERED][2];
    at_tile_lifts lifts;
    bool found;
    int room;     /* for virtual registers */
    int limit;    /* of them, where a loop's operations are to go before it */
    int num;      /* virtual registers of the caller's */
    int *inside;  /* [num] of a register's changes, those in the body of the loop at hand */
    bool *steady; /* [num] is it made anew in each turn of that loop, and always the same? */
} reuser;

/* Loads that go before a loop which does not change what they are from. */
static bool may_lift(const reuser *r, const at_tile_vreg *v) {
    if (v->by || v->times) return true;
    return r->lifts == AT_LIFT_LOADS && (v->load == AT_T_BCAST || v->load == AT_T_LOAD);
}

/* Its result hangs on its operands alone. */
static bool is_pure(const at_tile_op *op) {
    return at_tile_defines(op) && op->a >= 0 && op->kind != AT_T_MOV && op->kind != AT_T_GATHER &&
           !at_tile_updates(op);
}

/* A register that others change begins with it. */
static bool begins(const at_tile_op *op) { return op->kind == AT_T_MOV || op->kind == AT_T_CONST; }

static bool ends_body(const at_tile_op *op) {
    return op->kind == AT_T_LOOP || op->kind == AT_T_END;
}

/* ---- once per body --------------------------------------------------------------------------- */

static bool does_the_same(const at_tile_op *x, const at_tile_op *y) {
    return x->kind == y->kind && x->a == y->a && x->b == y->b && x->by == y->by &&
           x->lanes == y->lanes && x->bits == y->bits && x->no_sign == y->no_sign;
}

/* What is known is forgotten where another result takes its place. */
static void remember(reuser *r, int i) {
    at_tile_op *op = &r->ops[i];
    uint32_t hash = ((uint32_t)op->kind * 31 + (uint32_t)op->a) * 2654435761u ^
                    ((uint32_t)op->b + (uint32_t)op->by) * 40503u;
    int at = (int)((hash ^ hash >> 15) % REMEMBERED), before = r->known[at];
    const int changes[] = {r->changes[op->a], op->b >= 0 ? r->changes[op->b] : 0};
    if (before >= 0 && does_the_same(&r->ops[before], op) &&
        !memcmp(r->known_changes[at], changes, sizeof changes)) {
        r->same_as[op->dst] = r->ops[before].dst;
        r->found = true;
        return;
    }
    r->known[at] = i;
    memcpy(r->known_changes[at], changes, sizeof changes);
}

static int standing_for(const reuser *r, int v) {
    return v >= 0 && r->same_as[v] >= 0 ? r->same_as[v] : v;
}

static void once(reuser *r) {
    int kept = 0;
    memset(r->known, -1, sizeof r->known);
    for (int i = 0; i < r->n; i++) {
        at_tile_op op = r->ops[i];
        op.a = (int16_t)standing_for(r, op.a);
        op.b = (int16_t)standing_for(r, op.b);
        r->ops[kept] = op;
        if (ends_body(&op)) memset(r->known, -1, sizeof r->known);
        bool is_value = is_pure(&op) && r->defs[op.dst] == 1 && !r->out->vregs[op.dst].acc;
        if (is_value) remember(r, kept);
        if (is_value && r->same_as[op.dst] >= 0) continue;
        if (at_tile_defines(&op)) r->changes[op.dst]++;
        kept++;
    }
    r->n = kept;
}

/* ---- before a loop --------------------------------------------------------------------------- */

/* Does what a load is from change between these operations? */
static bool moves(const reuser *r, const at_tile_vreg *load, int from, int to) {
    if (load->load == AT_T_CONST) return false;
    for (int i = from; i < to; i++) {
        const at_tile_op *op = &r->ops[i];
        if (op->kind == AT_T_BUMP && op->slot == load->slot) return true;
        if (op->kind == AT_T_INDEX && op->dst == load->slot) return true;
        if (at_tile_stores(op) && r->slot_tensor[op->slot] == r->slot_tensor[load->slot])
            return true;
    }
    return false;
}

static bool stays(const reuser *r, int v, int from, int to) {
    const at_tile_vreg *reg = &r->out->vregs[v];
    if (reg->load && !reg->acc) return !moves(r, reg, from, to);
    if (!reg->acc) return false;
    for (int i = from; i < to; i++)
        if (at_tile_defines(&r->ops[i]) && r->ops[i].dst == v) return false;
    return true;
}

/* What goes before several loops, one around the other, has copies of its loads before each. */
static int new_register(reuser *r, at_tile_vreg v) {
    if (r->out->num_vregs == r->room) {
        at_tile_vreg *more = AT_NEW_ARRAY(r->l->arena, at_tile_vreg, 2 * r->room);
        memcpy(more, r->out->vregs, sizeof *more * (size_t)r->room);
        r->out->vregs = more;
        r->room *= 2;
    }
    r->out->vregs[r->out->num_vregs] = v;
    return r->out->num_vregs++;
}

/* A load is shared by the operations of its body only. */
static int before_loop(reuser *r, int v, const int *copies, int num_copies) {
    const at_tile_vreg reg = r->out->vregs[v];
    if (reg.acc || !reg.load) return v;
    for (int i = 0; i < num_copies; i++) {
        const at_tile_vreg *c = &r->out->vregs[copies[i]];
        if (at_tile_same_load(c, &reg)) return copies[i];
    }
    return new_register(r, reg);
}

/* Registers that may be steady: all changes stand in the loop's body itself, and the first of them
 * does not hang on what the register held. */
static void find_made_inside(reuser *r, int from, int to) {
    int depth = 0;
    memset(r->inside, 0, sizeof *r->inside * (size_t)r->num);
    memset(r->steady, 0, sizeof *r->steady * (size_t)r->num);
    for (int i = from; i < to; i++) {
        const at_tile_op *op = &r->ops[i];
        depth += (op->kind == AT_T_LOOP) - (op->kind == AT_T_END);
        if (depth != 1 || !at_tile_defines(op) || op->dst >= r->num) continue;
        if (!r->inside[op->dst]++) r->steady[op->dst] = is_pure(op) || begins(op);
    }
    for (int i = from; i < to; i++) {
        const at_tile_op *op = &r->ops[i];
        if (!at_tile_defines(op) || op->dst >= r->num) continue;
        const int all = r->defs[op->dst];
        if (r->inside[op->dst] != all || (all == 1 && begins(op))) r->steady[op->dst] = false;
    }
}

/* May the operation at hand be done before the loop, as far as this operand goes? changes: of each
 * register, those so far in this body. */
static bool is_known_before(const reuser *r, int v, const int *changes, int from, int to) {
    if (v < 0) return true;
    if (v < r->num && r->steady[v]) return changes[v] > 0;
    return stays(r, v, from, to);
}

/* One that stays in the loop needs what a register holds in the end. Was one not that? */
static bool needs_less(reuser *r, int v, const int *changes) {
    if (v < 0 || v >= r->num || !r->steady[v] || changes[v] == r->inside[v]) return false;
    r->steady[v] = false;
    return true;
}

/* Sets steady. */
static void find_steady(reuser *r, int from, int to) {
    find_made_inside(r, from, to);
    for (bool any = true; any;) {
        any = false;
        memset(r->changes, 0, sizeof *r->changes * (size_t)r->num);
        for (int i = from; i < to; i++) {
            const at_tile_op *op = &r->ops[i];
            const bool defines = at_tile_defines(op) && op->dst < r->num;
            if (defines && r->steady[op->dst]) {
                const bool may = is_pure(op) || begins(op) || at_tile_updates(op);
                if (!may || !is_known_before(r, op->a, r->changes, from, to) ||
                    !is_known_before(r, op->b, r->changes, from, to))
                    r->steady[op->dst] = false, any = true;
            }
            if (!defines || !r->steady[op->dst]) {
                any |= needs_less(r, op->a, r->changes);
                any |= needs_less(r, op->b, r->changes);
            }
            if (defines) r->changes[op->dst]++;
        }
    }
}

/* From the loop at `from` to its end at `to`: what can be is moved to before it. */
static void lift(reuser *r, int from, int to) {
    at_tile_op *lifted = AT_NEW_ARRAY(r->l->arena, at_tile_op, to - from + 1);
    at_tile_op *rest = AT_NEW_ARRAY(r->l->arena, at_tile_op, to - from + 1);
    int *copies = AT_NEW_ARRAY(r->l->arena, int, 2 * (to - from) + 1);
    int num_copies = 0, n = 0, left = 0;
    if (r->ops[from].trip_arg >= 0)
        return; /* it may not run at all, and its pointers lead nowhere */
    if (r->out->num_vregs + 2 * (to - from) > r->limit) return;
    find_steady(r, from, to);
    for (int i = from; i < to; i++) {
        at_tile_op op = r->ops[i];
        const bool lifts = at_tile_defines(&op) && op.dst < r->num && r->steady[op.dst];
        if (!lifts) {
            rest[left++] = op;
            continue;
        }
        int16_t *const regs[] = {&op.a, &op.b};
        for (int j = 0; j < 2; j++) {
            if (*regs[j] < 0) continue;
            int v = before_loop(r, *regs[j], copies, num_copies);
            if (v != *regs[j] && v == r->out->num_vregs - 1) copies[num_copies++] = v;
            *regs[j] = (int16_t)v;
        }
        r->out->vregs[op.dst].acc = true;
        lifted[n++] = op;
    }
    memcpy(r->ops + from, lifted, sizeof *lifted * (size_t)n);
    memcpy(r->ops + from + n, rest, sizeof *rest * (size_t)left);
    r->found |= n > 0;
}

/* The accumulator that what is loaded into v becomes, if it is one of those that are lifted; held:
 * [MOST_HELD] what is loaded, and the accumulators. -1: it is none. */
static int held(reuser *r, int v, int from, int to, int held[][2], int *num_held) {
    const at_tile_vreg reg = r->out->vregs[v];
    if (reg.acc || !reg.load || !may_lift(r, &reg) || !stays(r, v, from, to)) return -1;
    for (int i = 0; i < *num_held; i++)
        if (at_tile_same_load(&r->out->vregs[held[i][0]], &reg)) return held[i][1];
    if (*num_held == MOST_HELD) return -1;
    held[*num_held][0] = v;
    held[*num_held][1] = new_register(r, (at_tile_vreg){.acc = true});
    return held[(*num_held)++][1];
}

/* The same of loads whose lanes are put together; how many operations that adds. */
static int lift_loads(reuser *r, int from, int to) {
    int all[MOST_HELD][2], n = 0, depth = 0;
    if (r->ops[from].trip_arg >= 0) return 0;
    for (int i = from; i < to; i++) {
        at_tile_op *op = &r->ops[i];
        depth += (op->kind == AT_T_LOOP) - (op->kind == AT_T_END);
        int16_t *const regs[] = {&op->a, &op->b};
        for (int j = 0; j < 2 && depth == 1; j++) {
            int v = *regs[j] >= 0 ? held(r, *regs[j], from, to, all, &n) : -1;
            if (v >= 0) *regs[j] = (int16_t)v;
        }
    }
    memmove(r->ops + from + n, r->ops + from, sizeof *r->ops * (size_t)(r->n - from));
    for (int i = 0; i < n; i++)
        r->ops[from + i] = at_tile_load_of(&r->out->vregs[all[i][0]], all[i][1]);
    r->n += n;
    r->found |= n > 0;
    return n;
}

static void lift_all(reuser *r, at_tile_lifts lifts) {
    int stack[32], depth = 0;
    for (int i = 0; i < r->n; i++) {
        if (r->ops[i].kind == AT_T_LOOP) stack[depth++] = i;
        if (r->ops[i].kind != AT_T_END) continue;
        int from = stack[--depth];
        lift(r, from, i);
        while (r->ops[from].kind != AT_T_LOOP) from++;
        if (lifts >= AT_LIFT_COMPOSED) i += lift_loads(r, from, i);
    }
}

static int num_loops(const at_tile_op *ops, int n) {
    int loops = 0;
    for (int i = 0; i < n; i++) loops += ops[i].kind == AT_T_LOOP;
    return loops;
}

bool at_tile_reuse(at_low *l, const at_tile_op *ops, int num_ops, const at_tile_vreg *vregs,
                   int num_vregs, const int *slot_tensor, at_tile_lifts lifts,
                   at_tile_reused *out) {
    const int held = lifts >= AT_LIFT_COMPOSED ? MOST_HELD * num_loops(ops, num_ops) : 0,
              most = num_vregs + 2 * num_ops + held + 1;
    reuser r = {.l = l, .n = num_ops, .out = out, .slot_tensor = slot_tensor, .lifts = lifts};
    if (most > INT16_MAX) return false;
    r.room = most;
    r.limit = INT16_MAX - held;
    r.ops = AT_NEW_ARRAY(l->arena, at_tile_op, num_ops + held + 1);
    memcpy(r.ops, ops, sizeof *ops * (size_t)num_ops);
    out->vregs = AT_NEW_ARRAY(l->arena, at_tile_vreg, most);
    memcpy(out->vregs, vregs, sizeof *vregs * (size_t)num_vregs);
    out->num_vregs = num_vregs;
    r.defs = AT_NEW_ARRAY(l->arena, int, num_vregs);
    r.changes = AT_NEW_ARRAY(l->arena, int, num_vregs);
    r.num = num_vregs;
    r.inside = AT_NEW_ARRAY(l->arena, int, num_vregs);
    r.steady = AT_NEW_ARRAY(l->arena, bool, num_vregs);
    r.same_as = AT_NEW_ARRAY(l->arena, int, num_vregs);
    memset(r.same_as, -1, sizeof *r.same_as * (size_t)num_vregs);
    for (int i = 0; i < num_ops; i++)
        if (at_tile_defines(&ops[i])) r.defs[ops[i].dst]++;
    once(&r);
    if (lifts) lift_all(&r, lifts);
    out->ops = r.ops;
    out->num_ops = r.n;
    return r.found;
}
