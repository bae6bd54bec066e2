/* codegen/partition_plan.c: where a loop nest is cut, and how: the atoms that keep conditions
 * undecided, and what partition.c is to do about each at which loop (its head says when). */
#include "codegen/partition_int.h"

#include <stdlib.h>

#define MAX_PEEL 8 /* iterations of one loop that become copies of their own */

/* ---- undecided atoms ------------------------------------------------------------------------- */

/* Calls see() for each atom that keeps a condition undecided, until it returns true. */
typedef struct atom_query {
    at_low *l;
    int copies;
    bool (*see)(struct atom_query *q, const at_aff *atom);
    const at_fact *facts;
    const at_ir *at; /* the node that asks */
    const at_aff *found;
    int64_t first, last; /* iterations that AT_CUT_PEEL is about */
    at_cut_view *view;   /* of the atoms that at_cut_together has seen */
    const at_fact *mixed;
} atom_query;

static bool query_cond(atom_query *q, const at_cond *c) {
    if (at_cond_decide(q->l, c, q->facts) != AT_C_ATOM) return false;
    if (c->op == AT_C_ATOM) return q->see(q, c->atom);
    return query_cond(q, c->a) || (c->b && query_cond(q, c->b));
}

static bool query_value(atom_query *q, const at_value *v) {
    if (v->op == AT_V_SELECT) {
        at_cond_op c = at_cond_decide(q->l, v->cond, q->facts);
        if (c == AT_C_TRUE) return query_value(q, v->a);
        if (c == AT_C_FALSE) return query_value(q, v->b);
        if (query_cond(q, v->cond)) return true;
    }
    return (v->a && query_value(q, v->a)) || (v->b && query_value(q, v->b));
}

static bool query_list(atom_query *q, const at_ir *n);

static bool query_node(atom_query *q, const at_ir *n) {
    if (n->kind == AT_IR_STMT) {
        if (n->stmt.guard) {
            at_cond_op c = at_cond_decide(q->l, n->stmt.guard, q->facts);
            if (c == AT_C_FALSE) return false;
            if (c == AT_C_ATOM && query_cond(q, n->stmt.guard)) return true;
        }
        return query_value(q, n->stmt.val);
    }
    at_sym old = at_range_enter(q->l, n);
    bool found = query_list(q, n->child);
    at_range_leave(q->l, n, old);
    return found;
}

static bool query_list(atom_query *q, const at_ir *n) {
    for (; n; n = n->next)
        if (query_node(q, n)) return true;
    return false;
}

/* ---- what is done about one ------------------------------------------------------------------ */

at_cut_view at_cut_view_of(at_low *l, const at_ir *n, const at_aff *atom) {
    at_cut_view v = {.values = -1};
    int64_t first, last;
    at_aff_range(l, at_aff_part(l, atom, at_ir_loops(n->child), &v.outside), &v.lo, &v.hi);
    const at_aff *seen = at_aff_concrete(l, v.outside, AT_BIT(n->loop.sym));
    for (int i = 0; i < seen->n; i++) v.step = at_gcd(v.step, seen->t[i].k);
    if (!v.step) return v;
    at_aff_range(l, seen, &first, &last);
    first = first > -v.hi ? first : -v.hi;
    last = last < -v.lo - 1 ? last : -v.lo - 1;
    v.value = first + at_floormod(seen->c - first, v.step);
    v.values = v.value > last ? 0 : (last - v.value) / v.step + 1;
    return v;
}

/* The deepest loop in a list among those of the set `inside`. */
static const at_ir *innermost(const at_ir *list, at_mask inside) {
    for (; list; list = list->next) {
        if (list->kind != AT_IR_LOOP) continue;
        const at_ir *deeper = innermost(list->child, inside);
        if (deeper) return deeper;
        if (AT_BIT(list->loop.sym) & inside) return list;
    }
    return NULL;
}

/* The iterations [*first, *last] of n in which the atom is neither always nor never true. */
static void mixed_range(at_low *l, const at_ir *n, const at_aff *atom, int64_t *first,
                        int64_t *last) {
    int64_t k = at_aff_coef(atom, n->loop.sym), lo, hi;
    at_aff_range(l, at_aff_sub(l, atom, at_aff_scale(l, at_aff_sym(l, n->loop.sym), k)), &lo, &hi);
    if (k > 0) {
        *first = -at_floordiv(hi, k);    /* ceil(-hi/k): from here it may hold */
        *last = -at_floordiv(lo, k) - 1; /* up to here it may fail */
    } else {
        *first = at_floordiv(lo, -k) + 1;
        *last = at_floordiv(hi, -k);
    }
    if (*first < n->loop.lo) *first = n->loop.lo;
    if (*first > n->loop.hi) *first = n->loop.hi;
    if (*last > n->loop.hi - 1) *last = n->loop.hi - 1;
}

static bool is_single(at_mask m) { return m && !(m & (m - 1)); }

/* Is it a loop whose turns are told apart in registers? */
static bool is_in_registers(const at_ir *n) { return at_loop_is_unrolled(n) || n->loop.is_turned; }

/* Has each of these loops of a tile a fixed size, and is it one of its rows or lanes, or a loop of
 * its sum with so few turns that each can be peeled? */
static bool all_decided(const at_ir *list, at_mask loops) {
    for (; list; list = list->next) {
        if (list->kind == AT_IR_LOOP && AT_BIT(list->loop.sym) & loops &&
            !(at_loop_is_fixed(list) &&
              (is_in_registers(list) || (list->loop.is_reduce && at_loop_trips(list) <= MAX_PEEL))))
            return false;
        if (!all_decided(list->child, loops)) return false;
    }
    return true;
}

static bool is_already(at_truth truth, const at_aff *atom, const at_fact *facts) {
    for (; facts; facts = facts->next)
        if (facts->truth == truth && at_aff_equal(facts->atom, atom)) return true;
    return false;
}

static bool see_together(atom_query *q, const at_aff *atom) {
    at_low *l = q->l;
    at_cut_view *all = q->view;
    const at_aff *known = at_atom_known(l, atom, q->facts);
    at_cut_view own = at_cut_view_of(l, q->at, known);
    if (!at_aff_is_beside(own.outside, all->outside)) /* it may fail where that holds */
        own = at_cut_view_of(l, q->at, at_aff_shift(l, at_aff_scale(l, known, -1), -1));
    if (!at_aff_is_beside(own.outside, all->outside) || is_already(AT_MIXED, atom, q->mixed))
        return false;
    const int64_t apart = own.outside->c - all->outside->c, lo = own.lo + apart,
                  hi = own.hi + apart;
    if (llabs(lo - all->lo) > 1 || llabs(hi - all->hi) > 1 || (lo == all->lo && hi == all->hi))
        return false;
    const at_fact f = {atom, AT_MIXED, false, q->mixed};
    q->mixed = at_copy(l->arena, &f, sizeof f);
    all->values = -1;
    if (lo < all->lo) all->lo = lo;
    if (hi > all->hi) all->hi = hi;
    return false;
}

void at_cut_together(at_low *l, const at_ir *n, const at_aff *atom, at_cut_view *view,
                     const at_fact **facts) {
    const at_fact f = {atom, AT_MIXED, false, *facts};
    atom_query q = {.l = l,
                    .see = see_together,
                    .facts = *facts,
                    .at = n,
                    .view = view,
                    .mixed = at_copy(l->arena, &f, sizeof f)};
    *view = at_cut_view_of(l, n, at_atom_known(l, atom, *facts));
    const at_mask below = at_ir_loops(n->child);
    if (!is_single(at_aff_deps(l, at_aff_concrete(l, atom, 0)) & below))
        (void)query_list(&q, n->child);
    *facts = q.mixed;
}

/* How many partial sizes the atom has inside the loop, where it is full or partial and these are
 * known; -1: they are not. */
static int64_t num_partial(const atom_query *q, const at_aff *atom, at_mask below) {
    const at_ir *n = q->at;
    if (!below || q->copies >= AT_CUT_MAX_COPIES || !all_decided(n->child, below) ||
        !is_in_registers(innermost(n->child, below)))
        return -1;
    return at_cut_view_of(q->l, n, atom).values;
}

/* Rows, lanes and sums: no loop around tiles, which would tell more of them apart. */
static bool are_of_tile(const at_ir *list, at_mask loops) {
    for (; list; list = list->next)
        if ((list->kind == AT_IR_LOOP && AT_BIT(list->loop.sym) & loops && !is_in_registers(list) &&
             !list->loop.is_reduce) ||
            !are_of_tile(list->child, loops))
            return false;
    return true;
}

/* Whether what stands in the loop may come in three versions: where the atom holds throughout,
 * where it fails, and one for all of between. */
static bool has_mixed_version(const atom_query *q, const at_aff *written, at_mask below) {
    return below && q->copies < AT_CUT_MAX_COPIES && !is_already(AT_BETWEEN, written, q->facts) &&
           are_of_tile(q->at->child, below) && is_in_registers(innermost(q->at->child, below));
}

static bool has_versions(const atom_query *q, const at_aff *written, const at_aff *atom,
                         at_mask below) {
    const int64_t partial = num_partial(q, atom, below);
    if (partial >= 0 && partial <= AT_CUT_MAX_VALUES) return true;
    return has_mixed_version(q, written, below);
}

/* A loop around tiles that is to be written out, or that alone decides the atom, and a quotient of
 * its variable in the atom: with each iteration by itself it is a number. */
static bool hides_in_quotient(const atom_query *q, const at_aff *atom) {
    const at_ir *n = q->at;
    const at_mask self = AT_BIT(n->loop.sym);
    return (at_aff_opaque_deps(q->l, atom) & self) &&
           (n->loop.ann == AT_ANN_UNROLL || at_aff_deps(q->l, atom) == self) &&
           at_loop_is_fixed(n) && at_loop_trips(n) > 1 && at_loop_trips(n) <= MAX_PEEL &&
           q->copies < AT_CUT_MAX_COPIES && at_counted_loops(n->child);
}

static bool is_long_sum(const at_ir *n) {
    return n->kind == AT_IR_LOOP && n->loop.is_reduce && !is_in_registers(n) &&
           at_loop_trips(n) > MAX_PEEL;
}

/* Whether one of these loops is one that sets apart itself what a condition cuts. */
static bool has_long_sum(const at_ir *list, at_mask loops) {
    for (; list; list = list->next) {
        if (list->kind != AT_IR_LOOP) continue;
        if ((AT_BIT(list->loop.sym) & loops && is_long_sum(list)) ||
            has_long_sum(list->child, loops))
            return true;
    }
    return false;
}

/* An atom that is asked about in a loop, q->at. */
typedef struct asked {
    const at_aff *written, *without; /* as it is written; without what is known already */
    const at_aff *atom;              /* without symbols that are sums of others */
    at_mask deps, self, below;       /* of its loops, this one, and those further in */
    bool outside;                    /* loops further out decide it, too */
    bool hidden; /* where it changes along those further in is known about only */
    bool known;  /* none but these decide it, and their ends are numbers */
} asked;

static asked ask(const atom_query *q, const at_aff *atom) {
    const at_ir *n = q->at;
    asked x = {.written = atom, .without = at_atom_known(q->l, atom, q->facts)};
    x.atom = at_aff_concrete(q->l, x.without, 0);
    x.deps = at_aff_deps(q->l, x.atom);
    x.self = AT_BIT(n->loop.sym);
    x.below = at_ir_loops(n->child);
    x.outside = (x.deps & ~x.below) != 0; /* else a cut further in decides it */
    x.hidden = (at_aff_opaque_deps(q->l, x.atom) & x.below) != 0;
    x.known = !(x.deps & ~(x.below | x.self)) && at_loop_is_fixed(n);
    return x;
}

/* The loop alone decides the atom, with those further out. */
static at_cut_action choose_alone(const atom_query *q, const asked *x) {
    const at_ir *n = q->at;
    const bool is_vector = n->loop.ann == AT_ANN_VEC && at_loop_is_fixed(n) &&
                           q->l->target->lanes > 1 && (x->deps & ~x->self);
    return is_vector && at_masks_serve(q->l, n->child, q->facts, x->self, false) ? AT_CUT_LEAVE
                                                                                 : AT_CUT_IN_TWO;
}

/* Loops further in, which are a tile's, decide it as well. */
static at_cut_action choose_around_tile(const atom_query *q, const asked *x) {
    const at_ir *n = q->at;
    if (q->first > q->last && (q->first <= n->loop.lo || q->first >= n->loop.hi))
        return AT_CUT_LEAVE; /* nothing to cut */
    const bool is_part = q->first > n->loop.lo || q->last < n->loop.hi - 1;
    if (!is_part && has_long_sum(n->child, x->deps & x->below)) return AT_CUT_LEAVE;
    if (at_loop_trips(n) > 1 && q->last - q->first < MAX_PEEL) return AT_CUT_PEEL;
    return is_part && !is_in_registers(n) && !is_already(AT_MIXED, x->written, q->facts)
               ? AT_CUT_SET_APART
               : AT_CUT_LEAVE;
}

/* The loop inside can be cut in each iteration. To set apart the iterations that need no cut pays
 * where the inner loop is a vector, which a cut would lose, and for a copy, which does so little
 * that the cut would cost as much. */
static at_cut_action choose_around_loop(atom_query *q, const asked *x, const at_ir *inner) {
    at_low *l = q->l;
    const at_ir *n = q->at;
    const at_mask further_in = x->deps & x->below;
    if (is_in_registers(n)) return AT_CUT_LEAVE;
    const bool is_mixed = is_already(AT_MIXED, x->written, q->facts);
    if (!is_single(further_in)) { /* a tile's loops: n and those around it decide together */
        const bool has_masks = n->loop.is_reduce && !at_aff_reads(l, x->atom) &&
                               at_masks_serve(l, n->child, q->facts, 0, false);
        if ((is_long_sum(n) || has_masks) && !is_mixed) return AT_CUT_SET_APART;
        if (has_masks) return AT_CUT_LEAVE;
        return x->outside && !x->known && has_versions(q, x->written, x->without, further_in)
                   ? AT_CUT_VERSIONS
                   : AT_CUT_LEAVE;
    }
    if (is_mixed) return AT_CUT_LEAVE;
    if (!is_in_registers(inner) && at_ir_has_sum(n->child)) return AT_CUT_LEAVE;
    const int64_t partial = num_partial(q, x->without, further_in);
    if (partial == 0 || partial == 1) return AT_CUT_SET_APART;
    const int64_t width = at_loop_trips(inner), trips = at_loop_trips(n);
    return trips > width || (trips > 1 && at_masks_serve(l, n->child, q->facts, 0, false))
               ? AT_CUT_SET_APART
               : AT_CUT_LEAVE;
}

/* What is done in q->at about an atom. */
static at_cut_action choose(atom_query *q, const at_aff *atom) {
    const at_ir *n = q->at;
    const asked x = ask(q, atom);
    if (!(x.deps & (x.below | x.self))) return AT_CUT_AROUND;
    if ((x.deps & x.below) && at_aff_reads(q->l, x.atom) && !at_ir_has_sum(n->child) &&
        at_masks_serve(q->l, n->child, q->facts, 0, true))
        return AT_CUT_LEAVE; /* lanes are compared with an entry, or their entries with a number */
    if (hides_in_quotient(q, x.atom)) {
        q->first = n->loop.lo;
        q->last = n->loop.hi - 1;
        return AT_CUT_PEEL;
    }
    const bool is_linear = x.deps & x.self && !(at_aff_opaque_deps(q->l, x.atom) & x.self);
    if (x.outside && !x.hidden && (!is_linear || n->loop.ann == AT_ANN_PARA) &&
        has_versions(q, x.written, x.without, x.deps & x.below))
        return AT_CUT_VERSIONS;
    if (!is_linear) return AT_CUT_LEAVE;
    if (!(x.deps & x.below)) return choose_alone(q, &x);
    if (n->loop.ann == AT_ANN_PARA || q->copies >= AT_CUT_MAX_COPIES) return AT_CUT_LEAVE;
    const at_ir *inner = innermost(n->child, x.deps & x.below);
    mixed_range(q->l, n, x.atom, &q->first, &q->last);
    if (x.known && is_in_registers(inner)) return choose_around_tile(q, &x);
    return x.hidden ? AT_CUT_LEAVE : choose_around_loop(q, &x, inner);
}

/* ---- the first of which something is done ---------------------------------------------------- */

static bool see_any(atom_query *q, const at_aff *atom) {
    q->found = atom;
    return true;
}

const at_aff *at_cut_undecided(at_low *l, const at_ir *n, const at_fact *facts) {
    atom_query q = {.l = l, .see = see_any, .facts = facts, .at = n};
    return query_node(&q, n) ? q.found : NULL;
}

static bool see_cut(atom_query *q, const at_aff *atom) {
    q->found = atom;
    at_cut_action a = choose(q, atom);
    return a != AT_CUT_LEAVE && a != AT_CUT_VERSIONS;
}

at_cut at_cut_of_loop(at_low *l, int copies, const at_ir *n, const at_fact *facts) {
    atom_query q = {.l = l, .copies = copies, .see = see_cut, .facts = facts, .at = n};
    if (!query_list(&q, n->child)) return (at_cut){.action = AT_CUT_LEAVE};
    const at_cut_action action = choose(&q, q.found); /* as n sees it, not what asked */
    return (at_cut){action, q.found, q.first, q.last};
}

static bool see_versions(atom_query *q, const at_aff *atom) {
    q->found = atom;
    return choose(q, atom) == AT_CUT_VERSIONS;
}

const at_aff *at_cut_versions(at_low *l, int copies, const at_ir *n, const at_fact *facts) {
    atom_query q = {.l = l, .copies = copies, .see = see_versions, .facts = facts, .at = n};
    return query_list(&q, n->child) ? q.found : NULL;
}
