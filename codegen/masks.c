/* codegen/masks.c: conditions on entries of an index tensor, one for each lane, become masks, and
 * so do those on places that no cut decides.
 *
 *     y[i] == 1 ? a : b    ->    b where the lane of y is not 1, else a; both are worked out
 *
 * An entry is compared as a number with one that is exact: from an integer to a float the order
 * stays, and no integer becomes a number below MOST_EXACT that it is not. What is worked out in
 * vain must not read what lies outside, so all places in there are known and inside. */
#include "codegen/partition_int.h"

enum {
    MOST_EXACT = 1 << 21,
    MOST_NUMBERS = 1 << 14, /* of a table that masks read */
    MOST_LOADS = 32,
    MOST_POINTERS = 10 /* of a tile's, for one statement */
};

typedef struct {
    at_low *l;
    const at_fact *facts;
    at_mask lanes; /* loops around that are vectors */
} masker;

/* ---- what may be worked out in vain ---------------------------------------------------------- */

/* Do lanes gather from the tensor where a stage of places says? */
static bool gathers(const at_low *l, int tensor) {
    return l->target->gathers && at_type_bytes(at_low_tensor_type(l, tensor)) == 4;
}

/* Places that a stage says are known to lie within bounds; entries of data may be any. */
static bool lies_inside(const masker *m, int tensor, const at_aff *at) {
    at_low *l = m->l;
    const at_aff *room = at_aff_shift(l, at_aff_scale(l, at, -1), l->buffers[tensor].elements - 1);
    for (int i = 0; i < at->n; i++) {
        const at_sym s = l->syms.data[at->t[i].sym];
        const bool is_place = s.kind == AT_SYM_LOAD && at_low_holds_places(l, s.tensor);
        if (is_place ? !gathers(l, tensor) || !lies_inside(m, s.tensor, s.of)
                     : at_aff_reads(l, at_aff_sym(l, at->t[i].sym)))
            return false;
    }
    return at_aff_is_sure(l, at, m->facts) && at_aff_is_sure(l, room, m->facts);
}

/* A sum of loops and entries, as `tables` takes it. */
static bool is_number_inside(const masker *m, const at_value *v) {
    at_low *l = m->l;
    int64_t lo, hi;
    for (int i = 0; i < v->at->n; i++) {
        const at_sym s = l->syms.data[v->at->t[i].sym];
        if (s.kind == AT_SYM_LOAD ? !lies_inside(m, s.tensor, s.of) : s.kind != AT_SYM_LOOP)
            return false;
    }
    at_aff_range(l, v->at, &lo, &hi);
    return !v->bounds || (v->bounds[0] <= lo && hi <= v->bounds[1]);
}

static bool is_harmless(const masker *m, const at_value *v) {
    if (v->op == AT_V_SELECT || v->op == AT_V_TABLE || v->op == AT_V_PLACED || v->may_miss)
        return false;
    if (v->op == AT_V_LOAD) return lies_inside(m, v->tensor, v->at);
    if (v->op == AT_V_INDEX) return is_number_inside(m, v);
    return (!v->a || is_harmless(m, v->a)) && (!v->b || is_harmless(m, v->b));
}

typedef struct {
    const at_value *value[MOST_LOADS];
    int num, pointers;
} loads;

/* What is read of tensors, lists and tables of numbers. */
static void find_loads(const at_low *l, const at_value *v, loads *found) {
    bool is_new = v->op == AT_V_LOAD || v->op == AT_V_INDEX;
    for (int i = 0; i < found->num; i++)
        if (found->value[i]->op == v->op && found->value[i]->tensor == v->tensor &&
            at_aff_is_beside(found->value[i]->at, v->at))
            is_new = false;
    int entries = 0;
    for (int i = 0; v->op == AT_V_INDEX && i < v->at->n; i++)
        entries += l->syms.data[v->at->t[i].sym].kind == AT_SYM_LOAD;
    if (is_new) found->pointers += v->op == AT_V_LOAD ? 1 : entries + (entries < v->at->n);
    if (is_new && found->num < MOST_LOADS) found->value[found->num++] = v;
    if (v->a) find_loads(l, v->a, found);
    if (v->b) find_loads(l, v->b, found);
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* An atom k*entry + rest >= 0, where k is 1 or -1; or rest >= 0, of loops alone. */
typedef struct {
    int entry;            /* -1: none */
    int64_t k, bounds[2]; /* of rest */
    const at_aff *rest;
} mask_atom;

/* Terms over loops, and over quotients that are the same for all lanes, which are few numbers. */
static bool is_exact(const masker *m, const at_aff *x, int64_t *bounds) {
    at_low *l = m->l;
    for (int i = 0; i < x->n; i++) {
        const at_sym s = l->syms.data[x->t[i].sym];
        const bool is_same = s.kind == AT_SYM_DIV && !(s.deps & m->lanes) && !at_aff_reads(l, s.of);
        if (s.kind != AT_SYM_LOOP && !is_same) return false;
    }
    at_aff_range(l, x, &bounds[0], &bounds[1]);
    return bounds[0] > -MOST_EXACT && bounds[1] < MOST_EXACT;
}

/* By how much a lane moves it; 0: not at all. */
static int64_t step_of(const masker *m, const at_aff *atom) {
    int64_t k = 0;
    for (int i = 0; i < atom->n; i++)
        if (atom->t[i].sym < AT_MAX_LOOPS && (AT_BIT(atom->t[i].sym) & m->lanes)) k = atom->t[i].k;
    return k;
}

static bool is_mask_atom(const masker *m, const at_aff *atom, mask_atom *out) {
    at_low *l = m->l;
    out->entry = -1;
    for (int i = 0; i < atom->n; i++) {
        if (l->syms.data[atom->t[i].sym].kind != AT_SYM_LOAD) continue;
        if (out->entry >= 0) return false;
        out->entry = atom->t[i].sym;
        out->k = atom->t[i].k;
    }
    out->rest = atom;
    if (out->entry < 0) { /* numbers that lie side by side, one way or the other */
        out->k = step_of(m, atom) < 0 ? -1 : 1;
        out->rest = at_aff_scale(l, atom, out->k);
        return step_of(m, out->rest) <= 1 && is_exact(m, out->rest, out->bounds) &&
               out->bounds[1] - out->bounds[0] < MOST_NUMBERS;
    }
    if (out->k != 1 && out->k != -1) return false;
    out->rest = at_aff_sub(l, atom, at_aff_scale(l, at_aff_sym(l, out->entry), out->k));
    const at_sym s = l->syms.data[out->entry];
    for (int i = 0; i < s.of->n; i++) /* a vector of entries lies side by side */
        if (s.of->t[i].sym < AT_MAX_LOOPS && (AT_BIT(s.of->t[i].sym) & m->lanes) &&
            s.of->t[i].k != 1)
            return false;
    return !(at_aff_opaque_deps(l, s.of) & m->lanes) && is_exact(m, out->rest, out->bounds) &&
           lies_inside(m, s.tensor, s.of);
}

/* x >= 0 && -x >= 0 */
static bool is_equation(const masker *m, const at_cond *c) {
    return c->op == AT_C_AND && c->a->op == AT_C_ATOM && c->b->op == AT_C_ATOM &&
           at_cond_decide(m->l, c->a, m->facts) == AT_C_ATOM &&
           at_aff_equal(c->a->atom, at_aff_scale(m->l, c->b->atom, -1));
}

/* Is an entry, the same for all lanes, compared with numbers that lie side by side? A cut of the
 * lanes would leave three runs, of which one is a single element. */
static bool meets_one_lane(const masker *m, const at_cond *c) {
    mask_atom x;
    return is_equation(m, c) && is_mask_atom(m, c->a->atom, &x) && x.entry >= 0 &&
           step_of(m, c->a->atom) == -x.k;
}

/* Is all that keeps it undecided entries and places, and one of them another in each lane? */
static bool is_mask(const masker *m, const at_cond *c, bool *by_lanes) {
    mask_atom x;
    if (at_cond_decide(m->l, c, m->facts) != AT_C_ATOM) return true;
    *by_lanes |= meets_one_lane(m, c);
    if (c->op != AT_C_ATOM)
        return is_mask(m, c->a, by_lanes) && (!c->b || is_mask(m, c->b, by_lanes));
    if (!is_mask_atom(m, c->atom, &x)) return false;
    const at_mask deps = x.entry < 0 ? at_aff_deps(m->l, c->atom) : m->l->syms.data[x.entry].deps;
    *by_lanes |= (deps & m->lanes) != 0;
    return true;
}

/* bounds: of x; NULL: it is an entry. */
static const at_value *number(at_low *l, const at_aff *x, const int64_t *bounds) {
    if (bounds) bounds = at_copy(l->arena, bounds, 2 * sizeof *bounds);
    if (x->n) return at_value_new(l, (at_value){.op = AT_V_INDEX, .at = x, .bounds = bounds});
    return at_value_new(l, (at_value){.op = AT_V_CONST, .number = (double)x->c});
}

static const at_value *mask_of(const masker *m, const at_cond *c);

static const at_value *mask_of_atom(const masker *m, const at_aff *atom, bool equal) {
    at_low *l = m->l;
    mask_atom x;
    if (!is_mask_atom(m, atom, &x)) AT_BUG("a condition that is no mask");
    if (x.entry < 0) {
        const at_value *rest = number(l, x.rest, x.bounds),
                       *zero = number(l, at_aff_const(l, 0), NULL);
        if (equal) return at_value_binary(l, AT_V_EQUAL, rest, zero);
        return x.k > 0 ? at_value_binary(l, AT_V_AT_MOST, zero, rest)
                       : at_value_binary(l, AT_V_AT_MOST, rest, zero);
    }
    const int64_t from_below[] = {-x.bounds[1], -x.bounds[0]};
    const at_value *entry = number(l, at_aff_sym(l, x.entry), NULL),
                   *other = x.k > 0 ? number(l, at_aff_scale(l, x.rest, -1), from_below)
                                    : number(l, x.rest, x.bounds);
    if (equal) return at_value_binary(l, AT_V_EQUAL, entry, other);
    return x.k > 0 ? at_value_binary(l, AT_V_AT_MOST, other, entry)
                   : at_value_binary(l, AT_V_AT_MOST, entry, other);
}

static const at_value *mask_of(const masker *m, const at_cond *c) {
    at_low *l = m->l;
    const at_cond_op known = at_cond_decide(l, c, m->facts);
    if (known != AT_C_ATOM) return at_value_bits(l, known == AT_C_TRUE);
    if (is_equation(m, c)) return mask_of_atom(m, c->a->atom, true);
    switch (c->op) {
    case AT_C_ATOM: return mask_of_atom(m, c->atom, false);
    case AT_C_NOT:
        return at_value_choose(l, mask_of(m, c->a), at_value_bits(l, false),
                               at_value_bits(l, true));
    case AT_C_AND:
        return at_value_choose(l, mask_of(m, c->a), mask_of(m, c->b), at_value_bits(l, false));
    case AT_C_OR:
        return at_value_choose(l, mask_of(m, c->a), at_value_bits(l, true), mask_of(m, c->b));
    default: AT_BUG("a condition that is decided");
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static const at_value *with_masks(const masker *m, const at_value *v) {
    bool by_lanes = false;
    if (!v->a) return v;
    const at_value *a = with_masks(m, v->a), *b = v->b ? with_masks(m, v->b) : NULL;
    if (v->op == AT_V_SELECT && at_cond_decide(m->l, v->cond, m->facts) == AT_C_ATOM &&
        is_mask(m, v->cond, &by_lanes) && by_lanes && is_harmless(m, a) && is_harmless(m, b))
        return at_value_choose(m->l, mask_of(m, v->cond), a, b);
    return at_value_of(m->l, v, a, b);
}

const at_value *at_value_with_masks(at_low *l, const at_value *v, const at_fact *facts,
                                    at_mask lanes) {
    const masker m = {l, facts, lanes};
    loads found = {.num = 0};
    const at_value *masked = with_masks(&m, at_value_fold(l, v, facts));
    find_loads(l, masked, &found);
    return found.pointers > MOST_POINTERS ? v : at_value_fold(l, masked, facts);
}

bool at_value_is_harmless(at_low *l, const at_value *v, const at_fact *facts) {
    const masker m = {l, facts, 0};
    return is_harmless(&m, v);
}

/* Does a condition in it still keep it undecided? */
static bool is_open(at_low *l, const at_value *v, const at_fact *facts) {
    if (v->op == AT_V_SELECT) return at_cond_decide(l, v->cond, facts) == AT_C_ATOM;
    return (v->a && is_open(l, v->a, facts)) || (v->b && is_open(l, v->b, facts));
}

static bool reads_entries(const at_low *l, const at_cond *c) {
    if (c->op == AT_C_ATOM) return at_aff_reads(l, c->atom);
    return (c->a && reads_entries(l, c->a)) || (c->b && reads_entries(l, c->b));
}

bool at_masks_serve(at_low *l, const at_ir *list, const at_fact *facts, at_mask lanes, bool tails) {
    bool serve = true;
    for (const at_ir *n = list; n && serve; n = n->next) {
        if (n->kind == AT_IR_STMT) {
            const at_cond *guard = n->stmt.guard;
            serve = (!guard || (tails && !reads_entries(l, guard)) ||
                     at_cond_decide(l, guard, facts) != AT_C_ATOM) &&
                    !is_open(l, at_value_with_masks(l, n->stmt.val, facts, lanes), facts);
            continue;
        }
        if (n->kind != AT_IR_LOOP) return false;
        const bool is_vector =
            n->loop.ann == AT_ANN_VEC && at_loop_is_fixed(n) && l->target->lanes > 1;
        at_sym old = at_range_enter(l, n);
        serve = at_masks_serve(l, n->child, facts, lanes | (is_vector ? AT_BIT(n->loop.sym) : 0),
                               tails);
        at_range_leave(l, n, old);
    }
    return serve;
}
