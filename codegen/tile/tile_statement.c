/* codegen/tile/tile_statement.c: statements as operations on virtual registers: a value is stored,
 * joined to a register, to what memory holds, or to elements at places that are computed. */
#include "codegen/tile/tile_build.h"
#include "codegen/tile/tile_pick.h"

#include <string.h>

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
    op->number = at_build_constant(b, v);
    b->vregs.data[acc].same = x < 0 || b->vregs.data[x].same;
}

/* A statement of a tensor in registers. */
static void in_registers(at_builder *b, const at_ir *n, const at_tile_place *p) {
    at_tile_key *k = at_build_key(b, p, !n->stmt.add);
    if (!n->stmt.add) {
        k->neutral =
            at_value_is_neutral(n->stmt.val, n->stmt.reduction, b->l->tensors[n->stmt.tensor].type);
        define(b, k->vreg, n->stmt.val);
        return;
    }
    int acc = at_build_partial(b, k), lanes = at_build_lanes(b);
    const bool is_part = k->spread && !b->late && lanes < b->l->target->lanes;
    accumulate(b, acc, n, is_part ? lanes : 0);
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

/* Are the places integers of memory that lie side by side, or one for all lanes? */
static bool lists_places(at_builder *b, const at_value *v, at_tile_place *list) {
    const at_value *from = v->op == AT_V_NUMBER ? v->a : v;
    if (from->op != AT_V_LOAD || from->may_miss || at_build_is_register(b, from->tensor) ||
        !at_type_of(b->l->tensors[from->tensor].type)->is_int)
        return false;
    *list = at_build_locate_load(b, from);
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
    if (at_build_is_register(b, n->stmt.tensor)) {
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
