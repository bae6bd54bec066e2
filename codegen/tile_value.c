/* codegen/tile_value.c: statements as operations on virtual registers.
 *
 * Equal loads of one straight-line body are shared. A tensor that lives in registers has one
 * register per vector of its elements. */
#include "codegen/tile_build.h"
#include "codegen/tile_pick.h"

#include <string.h>

static bool in_register(const at_builder *b, int tensor) {
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

/* The register of an element vector of a tensor that lives in registers. What is used must have
 * been defined: of a tile that is cut, another part may do that. */
static at_tile_key *key_of(at_builder *b, const at_tile_place *p, bool defines) {
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

/* ---- tables ---------------------------------------------------------------------------------- */

static bool holds_table(const at_value *v) {
    return v->op == AT_V_TABLE || (v->a && holds_table(v->a)) || (v->b && holds_table(v->b));
}

static double element_of(at_builder *b, const at_value *v) {
    int64_t at = v->at->c;
    for (int i = 0; i < v->at->n; i++) {
        int sym = v->at->t[i].sym;
        bool known = sym < AT_MAX_LOOPS && (b->inner & AT_BIT(sym)) && sym != b->vec_sym;
        for (int j = 0; j < b->num_counted && known; j++) known = b->counted[j]->loop.sym != sym;
        if (!known) {
            b->failed = true;
            return 0;
        }
        at += v->at->t[i].k * b->bound[sym];
    }
    if (at < 0 || at >= v->table_len) b->failed = true;
    return b->failed ? 0 : v->table[at];
}

static const at_value *look_up(at_builder *b, const at_value *v) {
    at_value n = *v;
    if (v->op == AT_V_TABLE) n = (at_value){.op = AT_V_CONST, .number = element_of(b, v)};
    if (v->a) n.a = look_up(b, v->a);
    if (v->b) n.b = look_up(b, v->b);
    return at_copy(b->l->arena, &n, sizeof n);
}

/* Elements of tables become numbers: what is multiplied by 0 goes, what is multiplied by 1 stays.
 */
static const at_value *with_numbers(at_builder *b, const at_value *v) {
    return holds_table(v) ? at_value_fold(b->l, look_up(b, v), NULL) : v;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* A store to memory: registers that held elements it may have overwritten do not hold them any
 * more.
 */
static void note_stored(at_builder *b, int s, int64_t off, int lanes, int v) {
    int kept = 0;
    for (int i = 0; i < b->num_stored; i++) {
        const at_tile_stored *o = &b->stored[i];
        bool apart = o->slot == s && (o->off >= off + lanes || off >= o->off + o->lanes);
        if (apart || b->slots[o->slot].tensor != b->slots[s].tensor) b->stored[kept++] = *o;
    }
    b->num_stored = kept;
    if (v >= 0 && kept < MAX_STORED && !b->regs->sparing && !b->vregs.data[v].acc &&
        !b->vregs.data[v].load)
        b->stored[b->num_stored++] = (at_tile_stored){s, lanes, v, off};
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

/* As a register has it. */
static double number_of(const at_builder *b, const at_value *v) {
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
    if (in_register(b, v->tensor)) {
        if (p.num_digits || p.by) b->failed = true; /* which one is not known, or no one */
        int of = key_of(b, &p, false)->vreg;
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
    if (v->op == AT_V_CONST) return at_build_const(b, number_of(b, v));
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

/* Was acc set to 0, and nothing has used it since? Then nothing needs that any more: it goes with
 * all that is unused. */
static bool was_zero(at_builder *b, int acc) {
    for (int i = b->ops.len - 1; i >= 0; i--) {
        at_tile_op *op = &b->ops.data[i];
        if (op->kind == AT_T_LOOP || op->kind == AT_T_END) return false;
        if (op->dst != acc && op->a != acc && op->b != acc) continue;
        if (op->kind != AT_T_CONST || op->number != 0) return false;
        op->dst = (int16_t)at_build_vreg(b, (at_tile_vreg){0});
        return true;
    }
    return false;
}

/* acc += v, where a number from a table is a factor of v: by 0 nothing is added, by 1 and -1 no
 * product is made. */
static void accumulate_number(at_builder *b, int acc, const at_value *v) {
    if (at_value_is_zero(v)) return;
    bool scaled = v->op == AT_V_MUL && v->a->op == AT_V_CONST;
    bool negative = scaled && v->a->number == -1;
    int x = at_build_value(b, scaled ? v->b : v);
    int by = scaled && !negative ? at_build_value(b, v->a) : -1;
    bool first = !negative && was_zero(b, acc);
    if (!b->vregs.data[x].same) b->vregs.data[acc].same = false;
    at_tile_op *op;
    if (by >= 0) {
        op = at_build_emit(b, first ? AT_T_MUL : AT_T_FMA);
        op->a = (int16_t)x;
        op->b = (int16_t)by;
    } else {
        op = at_build_emit(b, negative ? AT_T_SUB : first ? AT_T_MOV : AT_T_ADD);
        op->a = (int16_t)(first ? x : acc);
        if (!first) op->b = (int16_t)x;
    }
    op->dst = (int16_t)acc;
}

/* Has the sum or difference v a term that is a product? */
static bool has_product(const at_value *v) {
    if (v->op == AT_V_ADD || v->op == AT_V_SUB) return has_product(v->a) || has_product(v->b);
    return v->op == AT_V_MUL;
}

/* acc += v or, where it is taken away, acc -= v: term by term, so that each product takes one
 * multiply-add. */
static void accumulate_terms(at_builder *b, int acc, const at_value *v, bool is_taken) {
    if (v->op == AT_V_ADD || v->op == AT_V_SUB) {
        accumulate_terms(b, acc, v->a, is_taken);
        accumulate_terms(b, acc, v->b, is_taken != (v->op == AT_V_SUB));
        return;
    }
    bool product = v->op == AT_V_MUL;
    int x = at_build_value(b, product ? v->a : v), y = product ? at_build_value(b, v->b) : x;
    if (!b->vregs.data[x].same || !b->vregs.data[y].same) b->vregs.data[acc].same = false;
    at_tile_op *op;
    if (product) {
        op = at_build_emit(b, is_taken ? AT_T_FNMA : AT_T_FMA);
        op->a = (int16_t)x;
    } else {
        op = at_build_emit(b, is_taken ? AT_T_SUB : AT_T_ADD);
        op->a = (int16_t)acc;
    }
    op->b = (int16_t)y;
    op->dst = (int16_t)acc;
}

static void add_word_product(at_builder *b, int acc, const at_value *v) {
    const int x = at_build_value(b, v->a), y = at_build_value(b, v->b);
    if (!b->vregs.data[x].same || !b->vregs.data[y].same) b->vregs.data[acc].same = false;
    at_build_operation(b, AT_T_DOT, acc, x, y);
    b->ops.data[b->ops.len - 1].by = AT_DOT_S16;
}

/* Does a sum of integers count where a mask holds, which is -1 there? */
static bool counts(const at_builder *b, const at_ir *n) {
    const at_value *v = n->stmt.val;
    return n->stmt.reduction == AT_REDUCE_SUM && v->whole && v->op == AT_V_CHOOSE &&
           v->b->a->op == AT_V_CONST && v->b->a->number == 1 && at_value_has_bits(v->b->b, false) &&
           !b->l->target->is_double;
}

/* Is it 0 in each lane behind the first ones? */
static bool ends_with_zeros(const at_builder *b, int x, int lanes) {
    const at_tile_vreg *v = &b->vregs.data[x];
    return v->load == AT_T_LOAD && v->lanes == lanes && !v->by && !v->times && !v->fours &&
           !v->packed && !v->halves && !v->narrow;
}

/* Is the term 0 in each lane behind the first ones, so that all lanes may be added? */
static bool adds_zeros(at_builder *b, const at_value *v, int lanes) {
    if (v->op != AT_V_MUL) return ends_with_zeros(b, at_build_value(b, v), lanes);
    return ends_with_zeros(b, at_build_value(b, v->a), lanes) &&
           ends_with_zeros(b, at_build_value(b, v->b), lanes);
}

/* acc joined with v; by multiply-adds where v has products that are summed. lanes: only so many of
 * them, the others keep what they are; 0: all. */
static void accumulate(at_builder *b, int acc, const at_ir *n, int lanes) {
    const at_value *v = n->stmt.val;
    bool sum = n->stmt.reduction == AT_REDUCE_SUM && !v->whole;
    if (b->dot) {
        if (lanes) b->failed = true;
        b->vregs.data[acc].same = false;
        at_build_dot(b, acc, v);
        return;
    }
    at_build_note_undotted(b, n);
    if (b->looked_up && !lanes && sum) {
        accumulate_number(b, acc, v);
        return;
    }
    if (lanes && sum && adds_zeros(b, v, lanes)) lanes = 0;
    int into = lanes ? at_build_vreg(b, (at_tile_vreg){0}) : acc;
    at_tile_op *op;
    const bool is_word = n->stmt.reduction == AT_REDUCE_SUM && at_build_is_word_product(b->l, v);
    if (is_word || (sum && has_product(v))) {
        if (lanes) op = at_build_emit(b, AT_T_MOV), op->dst = (int16_t)into, op->a = (int16_t)acc;
        if (is_word) add_word_product(b, into, v);
        else accumulate_terms(b, into, v, false);
        if (lanes) b->vregs.data[acc].same = false;
    } else {
        const bool is_count = counts(b, n);
        int x = at_build_value(b, is_count ? v->a : v);
        if (!b->vregs.data[x].same) b->vregs.data[acc].same = false;
        if (is_count) at_build_operation(b, AT_T_INT_SUB, into, acc, x);
        else at_build_join(b, n->stmt.tensor, into, acc, x);
    }
    if (!lanes) return;
    op = at_build_emit(b, AT_T_FIRST);
    op->dst = (int16_t)acc;
    op->a = (int16_t)into;
    op->lanes = (uint8_t)lanes;
}

static void define(at_builder *b, int acc, const at_value *v) {
    int x = v->op == AT_V_CONST ? -1 : at_build_value(b, v);
    at_tile_op *op = at_build_emit(b, x < 0 ? AT_T_CONST : AT_T_MOV);
    op->dst = (int16_t)acc;
    op->a = (int16_t)x;
    op->number = number_of(b, v);
    b->vregs.data[acc].same = x < 0 || b->vregs.data[x].same;
}

/* A statement of a tensor in registers. */
static void in_registers(at_builder *b, const at_ir *n, const at_tile_place *p) {
    at_tile_key *k = key_of(b, p, !n->stmt.add);
    if (!n->stmt.add) {
        k->neutral =
            at_value_is_neutral(n->stmt.val, n->stmt.reduction, b->l->tensors[n->stmt.tensor].type);
        define(b, k->vreg, n->stmt.val);
        return;
    }
    int acc = at_build_partial(b, k), lanes = at_build_lanes(b);
    accumulate(b, acc, n, k->spread && lanes < b->l->target->lanes ? lanes : 0);
}

bool at_build_reads(const at_builder *b, const at_tile_op *op, int tensor) {
    const int regs[] = {op->a, op->b};
    for (int j = 0; j < 2; j++) {
        const at_tile_vreg *v = regs[j] >= 0 ? &b->vregs.data[regs[j]] : NULL;
        if (v && v->load && v->slot >= 0 && b->slots[v->slot].tensor == tensor) return true;
    }
    return (op->kind == AT_T_LOAD || op->kind == AT_T_GATHER || op->kind == AT_T_SCATTER) &&
           b->slots[op->slot].tensor == tensor;
}

/* The store in this straight-line body of what is about to be stored again; -1: none, or it is read
 * in between. */
static int last_store(const at_builder *b, int s, int64_t off, int lanes) {
    int tensor = b->slots[s].tensor;
    for (int i = b->ops.len - 1; i >= 0; i--) {
        const at_tile_op *op = &b->ops.data[i];
        if (op->kind == AT_T_LOOP || op->kind == AT_T_END || op->kind == AT_T_BUMP) return -1;
        if (op->packed && op->slot >= 0 && b->slots[op->slot].tensor == tensor) return -1;
        bool same = op->slot == s && (op->kind == AT_T_STORE || op->kind == AT_T_LOAD);
        if (same && (op->off >= off + lanes || off >= op->off + at_tile_span(op))) continue;
        if (op->kind == AT_T_STORE && same && op->off == off && op->lanes == lanes && !op->times)
            return i;
        if (at_build_reads(b, op, tensor)) return -1;
        if (op->kind == AT_T_STORE && b->slots[op->slot].tensor == tensor) return -1;
    }
    return -1;
}

static bool is_key(const at_builder *b, int v) {
    for (int i = 0; i < b->keys.len; i++)
        if (b->keys.data[i].vreg == v) return true;
    return false;
}

/* A register with what memory holds there. Where it was stored just before, that store goes: a sum
 * of a few terms is stored once. */
static int sum_so_far(at_builder *b, int s, int64_t off, int lanes) {
    int stored = last_store(b, s, off, lanes), v;
    at_tile_op old = {0}, *op;
    if (stored >= 0) {
        old = b->ops.data[stored];
        b->ops.len--;
        memmove(&b->ops.data[stored], &b->ops.data[stored + 1],
                sizeof old * (size_t)(b->ops.len - stored));
        if (b->vregs.data[old.a].acc && !is_key(b, old.a)) return old.a;
    }
    v = at_build_vreg(b, (at_tile_vreg){.acc = true});
    bool number = stored >= 0 && b->vregs.data[old.a].load == AT_T_CONST;
    op = at_build_emit(b, stored < 0 ? AT_T_LOAD : number ? AT_T_CONST : AT_T_MOV);
    op->dst = (int16_t)v;
    if (number) op->number = b->vregs.data[old.a].number;
    else if (stored >= 0) op->a = old.a;
    else op->slot = (int16_t)s, op->off = off, op->lanes = (uint8_t)lanes;
    return v;
}

/* Are the places entries of a list that lie side by side, or one for all lanes? */
static bool lists_places(at_builder *b, const at_value *v, at_tile_place *list) {
    if (v->op != AT_V_NUMBER || v->a->op != AT_V_LOAD || v->a->may_miss) return false;
    if (b->l->tensors[v->a->tensor].type != AT_S32 || in_register(b, v->a->tensor)) return false;
    *list = at_build_locate_load(b, v->a);
    return !list->num_digits && !list->by && !list->times &&
           (at_build_lanes(b) == 1 || list->lane == 1 || !list->lane);
}

/* A scatter: in each lane a term and a place, or a place for all lanes, which lie side by side. */
static void scatter(at_builder *b, const at_ir *n, const at_tile_place *p) {
    const at_value *v = n->stmt.val;
    const int lanes = at_build_lanes(b), tensor = n->stmt.tensor;
    if (v->op != AT_V_PLACED || p->num_digits || p->by || p->lane < 0) b->failed = true;
    if (b->failed) return;
    at_tile_place list = {0};
    const bool listed = lists_places(b, v->b, &list);
    const int places = listed ? -1 : at_build_value(b, v->b), terms = at_build_value(b, v->a),
              slot = at_build_find_slot(b, p, true),
              of_list = listed ? at_build_find_slot(b, &list, false) : -1;
    if (b->failed) return;
    at_build_join(b, tensor, terms, terms, terms); /* says which operation that is */
    const int by = b->ops.data[--b->ops.len].kind;
    at_tile_op *op = at_build_emit(b, AT_T_SCATTER);
    op->base = (int16_t)of_list;
    op->trip = list.off;
    op->slot = (int16_t)slot;
    op->off = p->off;
    op->a = (int16_t)places;
    op->b = (int16_t)terms;
    op->lanes = (uint8_t)lanes;
    op->bump = n->stmt.place_stride;
    op->most = (int32_t)(n->stmt.num_places - 1);
    op->by = by;
    op->plus = b->vregs.data[terms].same;
    op->cyclic = lanes > 1 && p->lane == 1 && (listed ? !list.lane : b->vregs.data[places].same);
    op->times = op->cyclic || lanes == 1 ? 0 : (int32_t)p->lane;
    b->num_stored = 0;
    b->first_fresh[tensor] = b->vregs.len;
}

void at_build_statement(at_builder *b, const at_ir *written) {
    at_ir statement = *written;
    const at_ir *n = &statement;
    if (!at_lower_goes_on(b->l)) b->failed = true;
    b->current = written;
    b->first_op = b->ops.len;
    statement.stmt.val = with_numbers(b, written->stmt.val);
    b->looked_up = n->stmt.val != written->stmt.val;
    at_tile_place p = at_build_locate(b, n->stmt.tensor, n->stmt.at);
    b->all_lanes = b->wanted[n->stmt.tensor];
    if (n->stmt.num_places) {
        scatter(b, n, &p);
        return;
    }
    if (in_register(b, n->stmt.tensor)) {
        in_registers(b, n, &p);
        return;
    }
    int lanes = at_build_lanes(b);
    int64_t step = lanes > 1 && p.lane > 1 ? p.lane : 0;
    /* All lanes into one element, or too far apart: not a vector. */
    if (lanes > 1 && (p.lane < 1 || (step && n->stmt.add))) b->failed = true;
    if (step > b->l->target->most_stored_step) b->failed = true;
    if (at_type_bytes(b->l->tensors[n->stmt.tensor].type) != 4 && step) b->failed = true;
    int s = at_build_find_slot(b, &p, true), v;
    if (n->stmt.add) {
        v = sum_so_far(b, s, p.off, lanes);
        accumulate(b, v, n, 0);
    } else v = at_build_value(b, n->stmt.val);
    at_tile_op *op = at_build_emit(b, AT_T_STORE);
    op->slot = (int16_t)s;
    op->off = p.off;
    op->a = (int16_t)v;
    op->lanes = (uint8_t)lanes;
    op->times = (int32_t)step;
    note_stored(b, s, p.off, (int)at_tile_span(op), step ? -1 : v);
    if (lanes > 1) at_build_prefetch(b, n->stmt.tensor, s, p.off);
    b->first_fresh[n->stmt.tensor] = b->vregs.len; /* what was loaded may have been overwritten */
}
