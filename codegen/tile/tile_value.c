/* codegen/tile/tile_value.c: values as operations on virtual registers.
 *
 * Equal loads of one straight-line body are shared. A tensor that lives in registers has one
 * register per vector of its elements. */
#include "codegen/tile/tile_build.h"
#include "codegen/tile/tile_pick.h"

bool at_build_is_register(const at_builder *b, int tensor) {
    return b->regs->local[tensor] || b->open[tensor].held;
}

/* Have two element vectors, off + lane*(0 .. lanes-1), an element in common? */
static bool meet(const at_tile_key *x, const at_tile_key *y) {
    int64_t apart = y->off - x->off, lane = x->lanes > 1 ? x->lane : y->lane;
    if (x->lanes == 1 && y->lanes == 1) return !apart;
    if (x->lanes == 1 || y->lanes == 1 || x->lane == y->lane)
        return apart % lane == 0 && apart / lane > -y->lanes && apart / lane < x->lanes;
    int64_t x_end = x->off + x->lane * (x->lanes - 1), y_end = y->off + y->lane * (y->lanes - 1);
    return !((x->off < y->off && x->off < y_end && x_end < y->off && x_end < y_end) ||
             (y->off < x->off && y->off < x_end && y_end < x->off && y_end < x_end));
}

at_tile_key *at_build_key(at_builder *b, const at_tile_place *p, bool defines) {
    if (b->regs->local[p->tensor] && p->num_strides) b->failed = true; /* another in each turn */
    int lanes = p->lane ? at_build_lanes(b) : 1;
    const at_tile_key mine = {.off = p->off, .lanes = lanes, .lane = lanes > 1 ? p->lane : 0};
    for (int i = 0; i < b->keys.len; i++) {
        at_tile_key *k = &b->keys.data[i];
        if (k->tensor != p->tensor || !meet(k, &mine)) continue;
        if (k->off != mine.off || k->lanes != mine.lanes || k->lane != mine.lane)
            b->failed = true; /* part of a register */
        return k;
    }
    if (!defines && b->regs->local[p->tensor]) b->failed = true;
    int v = at_build_vreg(b, (at_tile_vreg){.acc = true});
    int s = b->open[p->tensor].held ? at_build_find_slot(b, p, true) : -1;
    at_tile_key *k = at_push(b->l->arena, &b->keys);
    *k = (at_tile_key){.tensor = p->tensor,
                       .off = p->off,
                       .lanes = lanes,
                       .lane = mine.lane,
                       .vreg = v,
                       .slot = s,
                       .num_chains = 1};
    return k;
}

/* The virtual register of what was stored there in this body; -1: none. */
static int stored_value(at_builder *b, int s, int64_t off, int lanes) {
    for (int i = 0; i < b->num_stored; i++) {
        const at_tile_stored *o = &b->stored[i];
        if (o->slot != s || o->off != off || o->lanes != lanes) continue;
        b->spends = true;
        return o->vreg;
    }
    return -1;
}

/* A mask and a value, of whose lanes bits stay, or are added. */
static int with_bits(at_builder *b, at_tile_kind kind, int mask, const at_value *v) {
    const int x = at_build_value(b, v), had = at_build_had(b, kind, mask, x);
    if (had >= 0) return had;
    const int d = at_build_operation(b, kind, -1, mask, x);
    b->vregs.data[d].same = b->vregs.data[mask].same && b->vregs.data[x].same;
    return d;
}

/* Takes the first of two values in lanes whose mask has all bits set, the second in the others. */
static int chosen(at_builder *b, int mask, const at_value *either) {
    if (!b->l->target->is_double && at_value_has_bits(either->b, false))
        return with_bits(b, AT_T_AND, mask, either->a);
    if (!b->l->target->is_double && at_value_has_bits(either->a, true))
        return with_bits(b, AT_T_OR, mask, either->b);
    int x = at_build_value(b, either->a), y = at_build_value(b, either->b);
    bool same = b->vregs.data[mask].same && b->vregs.data[x].same && b->vregs.data[y].same;
    int d = at_build_vreg(b, (at_tile_vreg){.same = same});
    at_tile_op *op = at_build_emit(b, AT_T_MOV);
    op->dst = (int16_t)d;
    op->a = (int16_t)y;
    op = at_build_emit(b, AT_T_BLEND);
    op->dst = (int16_t)d;
    op->a = (int16_t)mask;
    op->b = (int16_t)x;
    return d;
}

double at_build_constant(const at_builder *b, const at_value *v) {
    if (v->whole) return at_build_bits(v);
    return b->l->target->is_double ? v->number : (float)v->number;
}

/* Elements of less than 32 bits come one behind the other, or so far apart as the set takes them,
 * or one for all lanes. */
static bool can_be_widened(const at_builder *b, const at_tile_place *p, at_type type) {
    const bool is_vector =
        p->lane == 0 || p->lane == 1 || at_target_picks(b->l->target, at_type_bytes(type), p->lane);
    return !p->by && (at_build_lanes(b) == 1 || is_vector) && !at_build_is_gathered(b, p);
}

/* x < y, x <= y, x == y of integers that are less than 2^31 apart: the sign of a difference. */
static int compared_wholes(at_builder *b, at_val_op op, int x, int y) {
    if (op == AT_V_EQUAL)
        return at_build_operation(b, AT_T_AND, -1, compared_wholes(b, AT_V_AT_MOST, x, y),
                                  compared_wholes(b, AT_V_AT_MOST, y, x));
    int apart = at_build_operation(b, AT_T_INT_SUB, -1, x, y);
    if (op == AT_V_AT_MOST) {
        const int one = at_build_const(b, at_number_of_bits(1));
        apart = at_build_operation(b, AT_T_INT_SUB, -1, apart, one);
    }
    int mask = at_build_operation(b, AT_T_SHIFT_RIGHT, -1, apart, -1);
    b->ops.data[b->ops.len - 1].by = 31;
    return mask;
}

/* The same of any integers: whether the smaller of both is y, or the larger one, by a difference
 * that is 0, whichever way round it is taken. */
static int compared_far(at_builder *b, at_val_op op, int x, int y) {
    if (op == AT_V_LESS) x = at_build_operation(b, AT_T_INT_MIN, -1, x, y);
    if (op == AT_V_AT_MOST) x = at_build_operation(b, AT_T_INT_MAX, -1, x, y);
    const int apart = at_build_operation(b, AT_T_INT_SUB, -1, x, y),
              back = at_build_operation(b, AT_T_INT_SUB, -1, y, x),
              either = at_build_operation(b, AT_T_OR, -1, apart, back),
              differ = at_build_operation(b, AT_T_SHIFT_RIGHT, -1, either, -1);
    b->ops.data[b->ops.len - 1].by = 31;
    if (op == AT_V_LESS) return differ;
    const int all = at_build_const(b, at_number_of_bits(UINT32_MAX));
    return at_build_operation(b, AT_T_INT_SUB, -1, all, differ);
}

/* By so many bits an integer is shifted, to the left where it is a product with a power of two; 0:
 * it is no shift. */
static int shift_of(const at_value *v) {
    if (v->op == AT_V_SHIFT_RIGHT) return (int)v->b->number;
    const at_value *by = v->a && v->a->op == AT_V_CONST ? v->a : v->b;
    if (v->op != AT_V_MUL || by->op != AT_V_CONST) return 0;
    int bits;
    return by->number > 1 && frexp(by->number, &bits) == 0.5 ? bits - 1 : 0;
}

static int shifted(at_builder *b, const at_value *v) {
    const bool right = v->op == AT_V_SHIFT_RIGHT;
    const int x = at_build_value(b, !right && v->a->op == AT_V_CONST ? v->b : v->a);
    const int d = at_build_operation(b, right ? AT_T_SHIFT_RIGHT : AT_T_SHIFT_LEFT, -1, x, -1);
    b->ops.data[b->ops.len - 1].by = shift_of(v);
    b->vregs.data[d].same = b->vregs.data[x].same;
    return d;
}

int at_build_group(const at_low *l, const at_value *load) {
    const at_low_tensor *t = &l->tensors[load->tensor];
    const int64_t n = t->num_axes && !t->row ? t->extents[t->num_axes - 1] : 0;
    if (n < 2 || n > AT_TILE_WHOLE_STEP || l->buffers[load->tensor].elements % n) return 0;
    for (int i = 0; i < load->at->n; i++)
        if (load->at->t[i].k % n) return 0;
    return (int)n;
}

/* Of a load of every `step`-th element: is that one of each group, all of which are whole? The
 * place goes to the first one's beginning, *plus says which one it is. */
static bool takes_groups(const at_builder *b, const at_value *v, int64_t step, at_tile_place *p,
                         int *plus) {
    if (step < 2 || p->by || p->num_digits || at_build_group(b->l, v) != step) return false;
    *plus = (int)((v->at->c % step + step) % step);
    p->off -= *plus;
    return true;
}

static int load_value(at_builder *b, const at_value *v) {
    const at_type type = b->l->tensors[v->tensor].type;
    const bool is_narrow = at_type_bytes(type) != 4;
    at_tile_place p = at_build_locate_load(b, v);
    int lanes = at_build_lanes(b);
    if (at_build_is_register(b, v->tensor)) {
        if (p.num_digits || p.by) b->failed = true; /* which one is not known, or no one */
        int of = at_build_key(b, &p, false)->vreg;
        if (lanes > 1 && !p.lane && !b->vregs.data[of].same)
            b->failed = true; /* one lane of the register has it */
        return of;
    }
    if ((is_narrow && !can_be_widened(b, &p, type)) || p.cyclic > 1) b->failed = true;
    if (at_build_is_gathered(b, &p)) return at_build_gathered(b, v, &p);
    at_build_spread(&p, &lanes);
    int64_t step = lanes == 1 ? 0 : p.times ? p.times : p.lane > 1 || p.lane < 0 ? p.lane : 0;
    if (step < 0) p.off -= lanes - 1;
    int plus = p.plus;
    const bool grouped = !is_narrow && takes_groups(b, v, step, &p, &plus);
    bool bcast = p.by ? lanes == 1 : lanes > 1 ? p.lane == 0 : b->all_lanes;
    int s = at_build_slot_of(b, &p), loads = b->vregs.len;
    int had = bcast || p.by || step ? -1 : stored_value(b, s, p.off, lanes);
    if (had >= 0) return had;
    int r = at_build_load(b, (at_tile_vreg){.load = bcast ? AT_T_BCAST : AT_T_LOAD,
                                            .lanes = (uint8_t)(bcast ? 1 : lanes),
                                            .same = bcast,
                                            .slot = (int16_t)s,
                                            .off = p.off,
                                            .by = (uint8_t)(bcast ? 0 : p.by),
                                            .plus = (uint8_t)(bcast ? 0 : plus),
                                            .cyclic = p.cyclic,
                                            .grouped = grouped,
                                            .times = (int8_t)step,
                                            .narrow = is_narrow});
    if (b->vregs.len > loads && !bcast) at_build_prefetch(b, v->tensor, s, p.off);
    return r;
}

int at_build_value(at_builder *b, const at_value *v) {
    /* What failed is thrown away: a value that reads stages of stages has no end otherwise. */
    if (b->failed) return b->vregs.len ? 0 : at_build_vreg(b, (at_tile_vreg){0});
    if (v->op == AT_V_CONST) return at_build_const(b, at_build_constant(b, v));
    if (v->op == AT_V_LOAD) return load_value(b, v);
    static const uint8_t kinds[] = {
        [AT_V_ADD] = AT_T_ADD,   [AT_V_SUB] = AT_T_SUB,         [AT_V_MUL] = AT_T_MUL,
        [AT_V_DIV] = AT_T_DIV,   [AT_V_MIN] = AT_T_MIN,         [AT_V_MAX] = AT_T_MAX,
        [AT_V_LESS] = AT_T_LESS, [AT_V_AT_MOST] = AT_T_AT_MOST, [AT_V_EQUAL] = AT_T_EQUAL};
    static const uint8_t of_wholes[] = {
        [AT_V_ADD] = AT_T_INT_ADD, [AT_V_SUB] = AT_T_INT_SUB, [AT_V_MUL] = AT_T_INT_MUL,
        [AT_V_MIN] = AT_T_INT_MIN, [AT_V_MAX] = AT_T_INT_MAX, [AT_V_BIT_AND] = AT_T_AND,
        [AT_V_BIT_OR] = AT_T_OR};
    if (v->whole && shift_of(v)) return shifted(b, v);
    int x = at_build_value(b, v->a);
    if (v->op == AT_V_CALL || v->op == AT_V_NUMBER || v->op == AT_V_WHOLE) {
        int of = v->op == AT_V_CALL     ? at_build_function(b, v->function, x)
                 : v->op == AT_V_NUMBER ? at_build_number(b, x)
                                        : at_build_whole(b, x);
        b->vregs.data[of].same = b->vregs.data[x].same;
        return of;
    }
    if (v->op == AT_V_CHOOSE) return chosen(b, x, v->b);
    const bool compares = v->op >= AT_V_LESS;
    const uint8_t kind = v->whole ? of_wholes[v->op] : kinds[v->op];
    int y = at_build_value(b, v->b), d = at_build_had(b, kind, x, y);
    if (d >= 0) return d;
    bool same = b->vregs.data[x].same && b->vregs.data[y].same;
    if (compares && v->a->whole && v->b->whole) {
        const bool is_near = at_value_are_near(b->l, v->a, v->b);
        d = is_near ? compared_wholes(b, v->op, x, y) : compared_far(b, v->op, x, y);
        b->vregs.data[d].same = same;
        return d;
    }
    d = at_build_vreg(b, (at_tile_vreg){.same = same});
    at_tile_op *op = at_build_emit(b, kind);
    op->apart = kind == AT_T_MUL && b->l->program->compute->in_steps;
    op->dst = (int16_t)d;
    op->a = (int16_t)x;
    op->b = (int16_t)y;
    return d;
}
