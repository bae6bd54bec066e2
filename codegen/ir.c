/* codegen/ir.c: making, copying and rewriting the tree between passes; deciding conditions. */
#include "codegen/codegen_int.h"

#include <math.h>
#include <string.h>

at_ir *at_ir_new(at_low *l, at_ir_kind kind) {
    at_ir *n = AT_NEW(l->arena, at_ir);
    n->kind = kind;
    if (kind == AT_IR_LOOP) n->loop.piece = -1;
    return n;
}

at_ir *at_ir_copy_list(at_low *l, const at_ir *list) {
    at_ir *head = NULL, **tail = &head;
    for (; list; list = list->next) {
        *tail = at_ir_copy(l, list);
        tail = &(*tail)->next;
    }
    return head;
}

const at_aff *at_ir_lo(at_low *l, const at_ir *n) {
    return n->loop.lo_aff ? n->loop.lo_aff : at_aff_const(l, n->loop.lo);
}

const at_aff *at_ir_hi(at_low *l, const at_ir *n) {
    return n->loop.hi_aff ? n->loop.hi_aff : at_aff_const(l, n->loop.hi);
}

at_ir *at_ir_copy(at_low *l, const at_ir *n) {
    at_ir *c = at_copy(l->arena, n, sizeof *n);
    c->next = NULL;
    c->child = at_ir_copy_list(l, n->child);
    c->other = at_ir_copy_list(l, n->other);
    return c;
}

void at_ir_append(at_ir ***tail, at_ir *list) {
    **tail = list;
    while (**tail) *tail = &(**tail)->next;
}

bool at_ir_has_sum(const at_ir *list) {
    for (; list; list = list->next)
        if (list->kind == AT_IR_STMT ? list->stmt.add
                                     : at_ir_has_sum(list->child) || at_ir_has_sum(list->other))
            return true;
    return false;
}

at_mask at_ir_loops(const at_ir *list) {
    at_mask m = 0;
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP) m |= AT_BIT(list->loop.sym);
        m |= at_ir_loops(list->child) | at_ir_loops(list->other);
    }
    return m;
}

at_mask at_ir_loops_of(const at_ir *n) {
    return at_ir_loops(n->child) | at_ir_loops(n->other) |
           (n->kind == AT_IR_LOOP ? AT_BIT(n->loop.sym) : 0);
}

at_sym at_range_enter(at_low *l, const at_ir *loop) {
    at_sym old = l->syms.data[loop->loop.sym];
    l->syms.data[loop->loop.sym].lo = loop->loop.lo;
    l->syms.data[loop->loop.sym].hi = loop->loop.hi - 1;
    l->syms.data[loop->loop.sym].may_be_empty = !at_loop_is_fixed(loop);
    return old;
}

void at_range_leave(at_low *l, const at_ir *loop, at_sym old) {
    l->syms.data[loop->loop.sym].lo = old.lo;
    l->syms.data[loop->loop.sym].hi = old.hi;
    l->syms.data[loop->loop.sym].may_be_empty = old.may_be_empty;
}

/* ---- substitution ---------------------------------------------------------------------------- */

static const at_cond *cond_change(at_low *l, const at_cond *c, at_atom_change *change,
                                  const void *context) {
    if (!c || c->op == AT_C_FALSE || c->op == AT_C_TRUE) return c;
    at_cond *n = at_copy(l->arena, c, sizeof *c);
    if (c->op == AT_C_ATOM) n->atom = change(l, c->atom, context);
    n->a = cond_change(l, c->a, change, context);
    n->b = cond_change(l, c->b, change, context);
    return n;
}

typedef struct {
    int sym;
    const at_aff *by;
} substitution;

static const at_aff *atom_subst(at_low *l, const at_aff *atom, const void *context) {
    const substitution *s = context;
    return at_aff_subst(l, atom, s->sym, s->by);
}

static const at_cond *cond_subst(at_low *l, const at_cond *c, int sym, const at_aff *y) {
    return cond_change(l, c, atom_subst, &(substitution){sym, y});
}

static int num_dims(const at_low *l, int tensor) { return l->tensors[tensor].num_axes; }

static const at_aff **ix_subst(at_low *l, const at_aff **ix, int tensor, int sym, const at_aff *y) {
    int n = num_dims(l, tensor);
    const at_aff **out = AT_NEW_ARRAY(l->arena, const at_aff *, n);
    for (int i = 0; i < n; i++) out[i] = at_aff_subst(l, ix[i], sym, y);
    return out;
}

static const at_value *value_subst(at_low *l, const at_value *v, int sym, const at_aff *y) {
    if (v->op == AT_V_CONST) return v;
    at_value *n = at_copy(l->arena, v, sizeof *v);
    if (v->ix) n->ix = ix_subst(l, v->ix, v->tensor, sym, y);
    if (v->at) n->at = at_aff_subst(l, v->at, sym, y);
    if (v->cond) n->cond = cond_subst(l, v->cond, sym, y);
    if (v->a) n->a = value_subst(l, v->a, sym, y);
    if (v->b) n->b = value_subst(l, v->b, sym, y);
    return n;
}

static void loop_subst(at_low *l, at_loop *n, int sym, const at_aff *y) {
    if (n->lo_aff) n->lo_aff = at_aff_subst(l, n->lo_aff, sym, y);
    if (n->hi_aff) n->hi_aff = at_aff_subst(l, n->hi_aff, sym, y);
}

static void stmt_subst(at_low *l, at_stmt *n, int sym, const at_aff *y) {
    if (n->ix) n->ix = ix_subst(l, n->ix, n->tensor, sym, y);
    if (n->at) n->at = at_aff_subst(l, n->at, sym, y);
    if (n->val) n->val = value_subst(l, n->val, sym, y);
    if (n->integer) n->integer = at_aff_subst(l, n->integer, sym, y);
    if (n->guard) n->guard = cond_subst(l, n->guard, sym, y);
    if (n->ahead) n->ahead = at_aff_subst(l, n->ahead, sym, y);
}

void at_ir_subst(at_low *l, at_ir *list, int sym, const at_aff *y) {
    for (at_ir *n = list; n; n = n->next) {
        switch (n->kind) {
        case AT_IR_LOOP: loop_subst(l, &n->loop, sym, y); break;
        case AT_IR_IF: n->test = at_aff_subst(l, n->test, sym, y); break;
        case AT_IR_STMT: stmt_subst(l, &n->stmt, sym, y); break;
        case AT_IR_TILE: AT_BUG("a tile is called already");
        }
        at_ir_subst(l, n->child, sym, y);
        at_ir_subst(l, n->other, sym, y);
    }
}

static const at_value *value_change(at_low *l, const at_value *v, at_atom_change *change,
                                    const void *context) {
    if (!v || v->op == AT_V_CONST) return v;
    at_value *n = at_copy(l->arena, v, sizeof *v);
    n->cond = cond_change(l, v->cond, change, context);
    n->a = value_change(l, v->a, change, context);
    n->b = value_change(l, v->b, change, context);
    return n;
}

void at_ir_change_atoms(at_low *l, at_ir *list, at_atom_change *change, const void *context) {
    for (at_ir *n = list; n; n = n->next) {
        if (n->kind == AT_IR_STMT) {
            n->stmt.guard = cond_change(l, n->stmt.guard, change, context);
            n->stmt.val = value_change(l, n->stmt.val, change, context);
        }
        at_ir_change_atoms(l, n->child, change, context);
        at_ir_change_atoms(l, n->other, change, context);
    }
}

/* ---- mention --------------------------------------------------------------------------------- */

static bool aff_mentions(const at_low *l, const at_aff *x, int sym) {
    for (int i = 0; x && i < x->n; i++) {
        const at_sym *s = &l->syms.data[x->t[i].sym];
        if (x->t[i].sym == sym) return true;
        if (s->kind != AT_SYM_LOOP && (aff_mentions(l, s->of, sym) || aff_mentions(l, s->of2, sym)))
            return true;
    }
    return false;
}

static bool cond_mentions(const at_low *l, const at_cond *c, int sym) {
    return c && (aff_mentions(l, c->atom, sym) || cond_mentions(l, c->a, sym) ||
                 cond_mentions(l, c->b, sym));
}

static bool ix_mentions(const at_low *l, const at_aff *const *ix, int tensor, int sym) {
    for (int i = 0; ix && i < num_dims(l, tensor); i++)
        if (aff_mentions(l, ix[i], sym)) return true;
    return false;
}

static bool value_mentions(const at_low *l, const at_value *v, int sym) {
    return v && (ix_mentions(l, v->ix, v->tensor, sym) || aff_mentions(l, v->at, sym) ||
                 cond_mentions(l, v->cond, sym) || value_mentions(l, v->a, sym) ||
                 value_mentions(l, v->b, sym));
}

static bool stmt_mentions(const at_low *l, const at_stmt *n, int sym) {
    return aff_mentions(l, n->at, sym) || aff_mentions(l, n->integer, sym) ||
           ix_mentions(l, n->ix, n->tensor, sym) || value_mentions(l, n->val, sym) ||
           cond_mentions(l, n->guard, sym) || aff_mentions(l, n->ahead, sym);
}

static bool node_mentions(const at_low *l, const at_ir *n, int sym) {
    switch (n->kind) {
    case AT_IR_LOOP:
        return aff_mentions(l, n->loop.lo_aff, sym) || aff_mentions(l, n->loop.hi_aff, sym);
    case AT_IR_IF: return aff_mentions(l, n->test, sym);
    case AT_IR_STMT: return stmt_mentions(l, &n->stmt, sym);
    case AT_IR_TILE: break;
    }
    AT_BUG("a tile is called already");
}

bool at_ir_mentions(const at_low *l, const at_ir *list, int sym) {
    for (const at_ir *n = list; n; n = n->next)
        if (node_mentions(l, n, sym) || at_ir_mentions(l, n->child, sym) ||
            at_ir_mentions(l, n->other, sym))
            return true;
    return false;
}

at_mask at_counted_loops(const at_ir *list) {
    at_mask m = 0;
    for (; list; list = list->next) {
        if (list->kind != AT_IR_LOOP) continue;
        if (at_loop_is_counted(list)) m |= AT_BIT(list->loop.sym);
        m |= at_counted_loops(list->child);
    }
    return m;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static at_cond_op decide_range(at_low *l, const at_aff *atom) {
    int64_t lo, hi;
    at_aff_range(l, atom, &lo, &hi);
    return lo >= 0 ? AT_C_TRUE : hi < 0 ? AT_C_FALSE : AT_C_ATOM;
}

/* Of an atom x, where y holds (then x holds if x >= y), fails (x fails if x <= y) or is 0 (x is
 * x - y). */
static at_cond_op decide_by(at_low *l, const at_aff *x, const at_fact *y) {
    int64_t lo, hi;
    at_aff_range(l, at_aff_sub(l, x, y->atom), &lo, &hi);
    if (y->truth != AT_FAILS && lo >= 0) return AT_C_TRUE;
    if (y->truth == AT_FAILS ? hi <= 0 : y->truth == AT_ZERO && hi < 0) return AT_C_FALSE;
    return AT_C_ATOM;
}

/* The same by x + y: of the other end of an axis. Beyond one end nothing is beyond the other. */
static at_cond_op decide_by_other_end(at_low *l, const at_aff *x, const at_fact *y) {
    int64_t lo, hi;
    const at_aff *both = at_aff_add(l, x, y->atom);
    if (both->n >= x->n + y->atom->n) return AT_C_ATOM; /* it is about other loops */
    at_aff_range(l, both, &lo, &hi);
    if (y->truth != AT_HOLDS && lo >= (y->truth == AT_ZERO ? 0 : -1)) return AT_C_TRUE;
    if (y->truth != AT_FAILS && hi < 0) return AT_C_FALSE;
    return AT_C_ATOM;
}

static at_cond_op decide_as_written(at_low *l, const at_aff *atom, const at_fact *facts) {
    at_cond_op found = decide_range(l, atom);
    for (; facts && found == AT_C_ATOM; facts = facts->next) {
        if (facts->truth == AT_MIXED || facts->truth == AT_BETWEEN) continue;
        if (facts->outside || at_aff_is_beside(atom, facts->atom))
            found = decide_by(l, atom, facts);
        if (found == AT_C_ATOM && facts->outside) found = decide_by_other_end(l, atom, facts);
    }
    return found;
}

const at_aff *at_atom_known(at_low *l, const at_aff *atom, const at_fact *facts) {
    for (; facts; facts = facts->next) {
        if (facts->truth != AT_ZERO) continue;
        const at_aff *rest = at_aff_sub(l, atom, facts->atom);
        if (rest->n < atom->n) atom = rest;
    }
    return atom;
}

/* Loops are cut by what is left of an atom where values are known, so that decides it, too. Nothing
 * that is worked out for it stays: of many conditions it would be gigabytes. */
static at_cond_op decide_atom(at_low *l, const at_aff *atom, const at_fact *facts) {
    const at_mark before = at_arena_mark(l->arena);
    at_cond_op found = decide_as_written(l, atom, facts);
    const at_aff *known = found == AT_C_ATOM ? at_atom_known(l, atom, facts) : atom;
    if (known != atom) found = decide_as_written(l, known, facts);
    at_arena_rewind(l->arena, before);
    return found;
}

at_cond_op at_cond_decide(at_low *l, const at_cond *c, const at_fact *facts) {
    at_cond_op a, b;
    switch (c->op) {
    case AT_C_ATOM: return decide_atom(l, c->atom, facts);
    case AT_C_NOT:
        a = at_cond_decide(l, c->a, facts);
        return a == AT_C_TRUE ? AT_C_FALSE : a == AT_C_FALSE ? AT_C_TRUE : AT_C_ATOM;
    case AT_C_AND:
    case AT_C_OR: {
        at_cond_op settles = c->op == AT_C_AND ? AT_C_FALSE : AT_C_TRUE;
        a = at_cond_decide(l, c->a, facts);
        if (a == settles) return a;
        b = at_cond_decide(l, c->b, facts);
        if (b == settles) return b;
        return a == AT_C_ATOM || b == AT_C_ATOM ? AT_C_ATOM : a;
    }
    default: return c->op;
    }
}

/* What reads at x stays in the loops that facts are about. */
bool at_aff_is_sure(at_low *l, const at_aff *x, const at_fact *facts) {
    int64_t lo, hi;
    at_aff_range(l, x, &lo, &hi);
    if (lo >= 0) return true;
    for (; facts; facts = facts->next) {
        const at_aff *y = facts->atom;
        if (facts->truth != AT_HOLDS && facts->truth != AT_ZERO) continue;
        if (!y->n || at_aff_deps(l, y) & ~at_aff_deps(l, x)) continue;
        int64_t k = at_aff_coef(x, y->t[0].sym) / y->t[0].k;
        if (facts->truth == AT_HOLDS && k < 0) continue;
        at_aff_range(l, at_aff_add_times(l, x, y, -k), &lo, &hi);
        if (lo >= 0) return true;
    }
    return false;
}

/* Where an entry stands, without the bound of at_aff_inside where ranges and facts make it
 * needless.
 */
static const at_aff *without_bound(at_low *l, const at_aff *of, const at_fact *facts) {
    if (of->n != 1 || of->c || of->t[0].k != 1) return of;
    const at_sym s = l->syms.data[of->t[0].sym];
    if (s.kind != AT_SYM_MIN && s.kind != AT_SYM_MAX) return of;
    const at_aff *room = at_aff_sub(l, s.of2, s.of);
    return at_aff_is_sure(l, s.kind == AT_SYM_MIN ? room : at_aff_scale(l, room, -1), facts)
               ? without_bound(l, s.of, facts)
               : of;
}

/* An address whose reads of index tensors, which may stand in others and in bounds, have no
 * needless bound of their own: a tile takes entries at affine addresses only. */
static const at_aff *unclamped(at_low *l, const at_aff *x, const at_fact *facts) {
    if (!x || !at_aff_reads(l, x)) return x;
    const at_aff *z = at_aff_const(l, x->c);
    for (int i = 0; i < x->n; i++) {
        const at_sym s = l->syms.data[x->t[i].sym];
        const at_aff *v = at_aff_sym(l, x->t[i].sym);
        const at_aff *of = s.kind == AT_SYM_LOAD ? without_bound(l, s.of, facts) : s.of;
        of = unclamped(l, of, facts);
        const at_aff *of2 = unclamped(l, s.of2, facts);
        if (of != s.of || of2 != s.of2) v = at_aff_remade(l, &s, of, of2);
        z = at_aff_add_times(l, z, v, x->t[i].k);
    }
    return at_aff_equal(x, z) ? x : z;
}

const at_value *at_value_new(at_low *l, at_value v) { return at_copy(l->arena, &v, sizeof v); }

const at_value *at_value_of(at_low *l, const at_value *v, const at_value *a, const at_value *b) {
    at_value copy = *v;
    copy.a = a;
    copy.b = b;
    return a == v->a && b == v->b ? v : at_value_new(l, copy);
}

const at_value *at_value_const(at_low *l, double number, bool whole) {
    return at_value_new(l, (at_value){.op = AT_V_CONST, .number = number, .whole = whole});
}

const at_value *at_value_as_number(at_low *l, const at_value *v) {
    if (!v->whole) return v;
    if (v->op == AT_V_CONST) return at_value_const(l, (float)v->number, false);
    return at_value_new(l, (at_value){.op = AT_V_NUMBER, .a = v});
}

const at_value *at_value_as_whole(at_low *l, const at_value *v) {
    if (v->whole) return v;
    if (v->op == AT_V_CONST) return at_value_const(l, nearbyint(v->number), true);
    if (v->op == AT_V_CHOOSE && v->b->a->op == AT_V_CONST && v->b->b->op == AT_V_CONST)
        return at_value_choose(l, v->a, at_value_as_whole(l, v->b->a),
                               at_value_as_whole(l, v->b->b));
    return at_value_new(l, (at_value){.op = AT_V_WHOLE, .whole = true, .a = v});
}

const at_value *at_value_binary(at_low *l, at_val_op op, const at_value *a, const at_value *b) {
    const bool whole = (op <= AT_V_SHIFT_RIGHT || op == AT_V_EITHER) && a->whole && b->whole;
    return at_value_new(
        l, (at_value){.op = op, .whole = whole || (op == AT_V_CHOOSE && b->whole), .a = a, .b = b});
}

const at_value *at_value_bits(at_low *l, bool all) {
    at_value v = {.op = AT_V_CONST};
    memset(&v.number, all ? 255 : 0, sizeof v.number);
    return at_value_new(l, v);
}

bool at_value_has_bits(const at_value *v, bool all) {
    double bits;
    memset(&bits, all ? 255 : 0, sizeof bits);
    return v->op == AT_V_CONST && !memcmp(&v->number, &bits, sizeof bits);
}

const at_value *at_value_choose(at_low *l, const at_value *mask, const at_value *x,
                                const at_value *y) {
    return at_value_binary(l, AT_V_CHOOSE, mask, at_value_binary(l, AT_V_EITHER, x, y));
}

/* Is it a number, whatever it reads? */
static bool is_number_always(const at_low *l, const at_value *v) {
    switch (v->op) {
    case AT_V_LOAD: return l->tensors[v->tensor].has_numbers;
    case AT_V_CONST:
    case AT_V_NUMBER:
    case AT_V_INDEX: return true;
    case AT_V_MIN:
    case AT_V_MAX: return is_number_always(l, v->b);
    default: return false;
    }
}

const at_value *at_value_extreme(at_low *l, at_val_op op, const at_value *x, const at_value *y) {
    const bool is_second = is_number_always(l, y);
    if (is_second || is_number_always(l, x))
        return at_value_binary(l, op, is_second ? x : y, is_second ? y : x);
    const at_reduction r = op == AT_V_MAX ? AT_REDUCE_MAX : AT_REDUCE_MIN;
    const at_value nothing = {.op = AT_V_CONST, .number = (double)at_reduction_neutral(r)};
    return at_value_binary(l, op, x, at_value_binary(l, op, y, at_value_new(l, nothing)));
}

bool at_value_is_zero(const at_value *v) { return v->op == AT_V_CONST && v->number == 0; }

bool at_value_is_neutral(const at_value *v, at_reduction r, at_type type) {
    return v->op == AT_V_CONST && v->number == at_reduction_neutral_of(r, type);
}

int64_t at_value_size(const at_value *v) {
    return 1 + (v->a ? at_value_size(v->a) : 0) + (v->b ? at_value_size(v->b) : 0);
}

bool at_value_reads(const at_value *v, int tensor) {
    return (v->op == AT_V_LOAD && v->tensor == tensor) || (v->a && at_value_reads(v->a, tensor)) ||
           (v->b && at_value_reads(v->b, tensor));
}

int at_value_calls(const at_value *v) {
    return (v->op == AT_V_CALL) + (v->a ? at_value_calls(v->a) : 0) +
           (v->b ? at_value_calls(v->b) : 0);
}

static at_mask table_loops(const at_low *l, const at_value *v) {
    return (v->op == AT_V_TABLE ? at_aff_deps(l, v->at) : 0) | (v->a ? table_loops(l, v->a) : 0) |
           (v->b ? table_loops(l, v->b) : 0);
}

at_mask at_ir_table_loops(const at_low *l, const at_ir *list) {
    at_mask m = 0;
    for (; list; list = list->next) {
        if (list->kind == AT_IR_STMT) m |= table_loops(l, list->stmt.val);
        m |= at_ir_table_loops(l, list->child) | at_ir_table_loops(l, list->other);
    }
    return m;
}

static bool is_number(const at_value *v, double number) {
    return v->op == AT_V_CONST && v->number == number;
}

/* A product with a number, which stands first; two numbers become one where that is exact. */
static const at_value *scaled(at_low *l, const at_value *a, const at_value *b) {
    const at_value *number = a->op == AT_V_CONST ? a : b, *rest = number == a ? b : a;
    const at_value *inner = rest->op == AT_V_CONST ? rest : rest->op == AT_V_MUL ? rest->a : NULL;
    at_value v = {.op = AT_V_MUL, .a = number, .b = rest};
    const bool in_steps = l->program->compute->in_steps; /* each product is rounded */
    if (inner && inner->op == AT_V_CONST && (rest == inner || !in_steps)) {
        double product = number->number * inner->number;
        if (product == (double)(float)product) {
            at_value one = {.op = AT_V_CONST, .number = product};
            const at_value *both = at_copy(l->arena, &one, sizeof one);
            if (rest == inner) return both;
            if (is_number(both, 1)) return rest->b;
            v = (at_value){.op = AT_V_MUL, .a = both, .b = rest->b};
        }
    }
    return at_copy(l->arena, &v, sizeof v);
}

static bool is_read_of_same(const at_value *x, const at_value *y) {
    return x->op == AT_V_LOAD && y->op == AT_V_LOAD && x->tensor == y->tensor && x->at && y->at &&
           at_aff_equal(x->at, y->at) && !x->may_miss && !y->may_miss && x->whole == y->whole;
}

/* Are both of the same two elements, in either order where they are equal? */
static bool compare_same(const at_value *less, const at_value *equal) {
    return (is_read_of_same(less->a, equal->a) && is_read_of_same(less->b, equal->b)) ||
           (is_read_of_same(less->a, equal->b) && is_read_of_same(less->b, equal->a));
}

/* The first of either where a mask has all bits, else the second. */
static const at_value *folded_choice(at_low *l, const at_value *v, const at_value *mask,
                                     const at_value *either) {
    const at_value *x = either->a, *y = either->b;
    if (mask->op == AT_V_CONST) return mask->number == 0 ? y : x;
    if (at_value_has_bits(x, true) && at_value_has_bits(y, false)) return mask;
    if (at_value_has_bits(x, false) && at_value_has_bits(y, false)) return x;
    if (at_value_has_bits(x, true) && mask->op == AT_V_LESS && y->op == AT_V_EQUAL &&
        compare_same(mask, y))
        return at_value_binary(l, AT_V_AT_MOST, mask->a, mask->b);
    return at_value_of(l, v, mask, either);
}

const at_value *at_value_fold(at_low *l, const at_value *v, const at_fact *facts) {
    if (v->op == AT_V_LOAD && v->at) {
        const at_aff *at = unclamped(l, v->at, facts);
        if (at == v->at) return v;
        at_value *load = at_copy(l->arena, v, sizeof *v);
        load->at = at;
        return load;
    }
    if (v->op == AT_V_CONST || (v->at && !v->a) || v->op == AT_V_LOAD) return v;
    if (v->op == AT_V_SELECT) {
        at_cond_op c = at_cond_decide(l, v->cond, facts);
        if (c != AT_C_ATOM) return at_value_fold(l, c == AT_C_TRUE ? v->a : v->b, facts);
    }
    const at_value *a = at_value_fold(l, v->a, facts);
    const at_value *b = v->b ? at_value_fold(l, v->b, facts) : NULL;
    if (v->op == AT_V_NUMBER && a->whole && a->op == AT_V_CONST) return at_value_as_number(l, a);
    if (v->op == AT_V_WHOLE && (a->op == AT_V_CONST || a->op == AT_V_CHOOSE))
        return at_value_as_whole(l, a);
    if (v->op == AT_V_CALL && a->op == AT_V_CONST) {
        const float number = (float)at_function_value(v->function, (float)a->number);
        return at_value_new(l, (at_value){.op = AT_V_CONST, .number = number});
    }
    if (v->op == AT_V_CHOOSE) return folded_choice(l, v, a, b);
    if (v->op == AT_V_MUL && at_value_is_zero(a)) return a; /* a term that a condition made zero */
    if (v->op == AT_V_MUL && at_value_is_zero(b)) return b;
    if (v->op == AT_V_MUL && is_number(a, 1)) return b;
    if (v->op == AT_V_MUL && is_number(b, 1)) return a;
    if (v->op == AT_V_ADD && at_value_is_zero(a)) return b;
    if (v->op == AT_V_ADD && at_value_is_zero(b)) return a;
    if (v->op == AT_V_SUB && at_value_is_zero(b)) return a;
    if (v->op == AT_V_MUL && !v->whole && (a->op == AT_V_CONST || b->op == AT_V_CONST))
        return scaled(l, a, b);
    if (v->op == AT_V_DIV && b->op == AT_V_CONST) {
        const at_value by = {.op = AT_V_CONST, .number = at_exact_reciprocal(b->number)};
        if (by.number != 0) return scaled(l, at_value_new(l, by), a);
    }
    return at_value_of(l, v, a, b);
}
