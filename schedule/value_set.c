/* schedule/value_set.c: sets of values through expressions, and through stages that sum nothing. */
#include "schedule/value_set.h"

#include <math.h>

#include "schedule/edit/rewrite.h"

enum { MOST_STEPS = 64 };

/* ---- operators ------------------------------------------------------------------------------- */

static int opposite(int x) {
    return (x & VALUE_ZERO) | (x & VALUE_BELOW ? VALUE_ABOVE : 0) |
           (x & VALUE_ABOVE ? VALUE_BELOW : 0) | (x > VALUE_NUMBER ? VALUE_REST : 0);
}

static int sum_of_two(int x, int y) {
    if ((x | y) & VALUE_REST) return VALUE_REST;
    if ((x | y) & VALUE_NOTHING) return VALUE_NOTHING;
    if (x == VALUE_ZERO || x == y) return y;
    return y == VALUE_ZERO ? x : VALUE_NUMBER;
}

static int product_of_two(int x, int y) {
    const int both = x | y;
    if (both & VALUE_NOTHING)
        return both == (VALUE_NOTHING | VALUE_ABOVE) ? VALUE_NOTHING : VALUE_REST;
    if (both & VALUE_ZERO) return VALUE_ZERO;
    if (both & VALUE_REST) return VALUE_REST;
    return x == y ? VALUE_ABOVE : VALUE_BELOW;
}

static int quotient_of_two(int x, int y) {
    if (y == VALUE_NOTHING && x <= VALUE_ABOVE) return VALUE_ZERO;
    return y == VALUE_ABOVE || y == VALUE_BELOW ? product_of_two(x, y) : VALUE_REST;
}

/* What is not a number is ignored. */
static int extreme_of_two(bool is_max, int x, int y) {
    static const int order[] = {VALUE_NOTHING, VALUE_BELOW, VALUE_ZERO, VALUE_ABOVE};
    if ((x | y) & VALUE_REST) return x | y;
    for (int i = 0; i < 4; i++) {
        const int at = order[is_max ? 3 - i : i];
        if (at == x || at == y) return at;
    }
    return VALUE_ANY;
}

static int of_two(at_op op, int x, int y) {
    switch (op) {
    case AT_X_ADD: return sum_of_two(x, y);
    case AT_X_SUB: return sum_of_two(x, opposite(y));
    case AT_X_MUL: return product_of_two(x, y);
    case AT_X_DIV: return quotient_of_two(x, y);
    case AT_X_MIN: return extreme_of_two(false, x, y);
    case AT_X_MAX: return extreme_of_two(true, x, y);
    default: return VALUE_ANY;
    }
}

static int of_pairs(at_op op, int x, int y) {
    int all = 0;
    for (int i = 1; i < VALUE_ANY; i *= 2)
        for (int k = 1; k < VALUE_ANY; k *= 2)
            if (x & i && y & k) all |= of_two(op, i, k);
    return all;
}

static int of_call(at_function f, int x) {
    if (x & VALUE_REST) return VALUE_ANY;
    switch (f) {
    case AT_FUNCTION_EXP:
    case AT_FUNCTION_SIGMOID:
        return (x & VALUE_NUMBER ? VALUE_ABOVE : 0) | (x & VALUE_NOTHING ? VALUE_ZERO : 0);
    case AT_FUNCTION_TANH:
    case AT_FUNCTION_ERF: return x & VALUE_NOTHING ? (x & VALUE_NUMBER) | VALUE_BELOW : x;
    case AT_FUNCTION_SQRT: return x & ~(VALUE_ZERO | VALUE_ABOVE) ? VALUE_ANY : x;
    case AT_FUNCTION_RSQRT: return x == VALUE_ABOVE ? x : VALUE_ANY;
    case AT_FUNCTION_LOG: return x == VALUE_ABOVE ? VALUE_NUMBER : VALUE_ANY;
    default: return x & VALUE_NOTHING ? VALUE_ANY : VALUE_NUMBER;
    }
}

static int of_number(double x) {
    if (x == -INFINITY) return VALUE_NOTHING;
    if (!isfinite(x)) return VALUE_REST;
    return x < 0 ? VALUE_BELOW : x > 0 ? VALUE_ABOVE : VALUE_ZERO;
}

/* Sums and products of as many as there may be, one at least. */
static int of_terms(at_reduction r, int x) {
    int all = x, before;
    do {
        before = all;
        if (r == AT_REDUCE_SUM) all |= of_pairs(AT_X_ADD, all, x);
        if (r == AT_REDUCE_PROD) all |= of_pairs(AT_X_MUL, all, x);
    } while (all != before);
    return all;
}

/* ---- expressions ----------------------------------------------------------------------------- */

/* Is a size the length of an axis, which has one element at least? */
static bool is_length(const valuer *v, const at_expr *e) {
    for (int t = 0; t < v->compute->num_tensors; t++) {
        const at_tensor *x = &v->compute->tensors[t];
        for (int k = 0; k < axes_of(x) && x->role == AT_ROLE_STAGE; k++)
            if (x->axes[k].extent && !x->axes[k].begin && at_expr_equal(x->axes[k].extent, e))
                return true;
    }
    return false;
}

static at_expr *take_index(const at_expr *e, at_expr *copy, void *read) {
    return e->op == AT_X_NAME && e->ref < AT_REF_SIZE ? ((const at_expr *)read)->arg[e->ref] : copy;
}

/* Is it a read of a stage that sums nothing and has no steps, while stages may be looked into? */
static bool looks_into(valuer *v, const at_expr *read) {
    const at_tensor *t = &v->compute->tensors[read->ref];
    return t->role == AT_ROLE_STAGE && !t->num_reduce && !at_tensor_goes_in_steps(t) &&
           !t->is_table && v->steps > 0 && v->steps--;
}

/* An expression of the stage that is read there. */
static at_expr *at_read(const valuer *v, const at_expr *read, const at_expr *e) {
    return at_expr_map(v->arena, e, take_index, (void *)read);
}

/* Of a stage's body as its type holds it: integers are no -inf, and what lies beyond is cut. */
static int as_stored(const at_compute *c, const at_tensor *t, int x) {
    const bool stays = !(x & ~(VALUE_ZERO | VALUE_ABOVE)) && at_expr_is_whole(c, t->body);
    return x == VALUE_ZERO || stays || !at_type_of(t->type)->is_int ? x : VALUE_NUMBER;
}

static int value_set_of(valuer *v, const at_expr *e, const conditions *known);

static int set_of_read(valuer *v, const at_expr *read, const conditions *known) {
    const at_tensor *t = &v->compute->tensors[read->ref];
    if (!looks_into(v, read)) return v->of_stage[read->ref];
    return as_stored(v->compute, t, value_set_of(v, at_read(v, read, t->body), known));
}

/* What a stage's expression may be where these hold. */
static int value_set_of(valuer *v, const at_expr *e, const conditions *known) {
    int truth, all;
    if (at_expr_is_number(e)) return of_number(at_expr_number(e));
    if (at_expr_is_size(e) && is_length(v, e)) return VALUE_ABOVE;
    switch (e->op) {
    case AT_X_NAME: return e->ref < AT_REF_SIZE ? VALUE_ZERO | VALUE_ABOVE : VALUE_NUMBER;
    case AT_X_NEG:
        if (e->arg[0]->op == AT_X_FLOAT) return of_number(-e->arg[0]->number);
        return opposite(value_set_of(v, e->arg[0], known));
    case AT_X_SELECT:
        truth = conditions_decide(known, e->arg[0]);
        return (truth ? value_set_of(v, e->arg[1], known) : 0) |
               (truth > 0 ? 0 : value_set_of(v, e->arg[2], known));
    case AT_X_INDEX: return set_of_read(v, e, known);
    case AT_X_CALL: return of_call((at_function)e->integer, value_set_of(v, e->arg[0], known));
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MUL:
    case AT_X_DIV:
    case AT_X_MIN:
    case AT_X_MAX:
        all = of_pairs(e->op, value_set_of(v, e->arg[0], known), value_set_of(v, e->arg[1], known));
        /* A quotient of indices is rounded. */
        return e->op == AT_X_DIV && at_expr_is_whole(v->compute, e) ? all | VALUE_ZERO : all;
    default: return e->op >= AT_X_NOT && e->op <= AT_X_OR ? VALUE_ZERO | VALUE_ABOVE : VALUE_ANY;
    }
}

/* ---- conditions ------------------------------------------------------------------------------ */

typedef struct found {
    valuer *v;
    conditions all;
} found;

static void add_found(conditions *all, const at_expr *e) {
    for (int i = 0; i < all->num; i++)
        if (at_expr_same(all->of[i].of, e)) return;
    if (all->num < MOST_CONDITIONS) all->of[all->num++] = (condition){e, true};
}

/* Conditions on several axes of the stage that has them: of padding one axis may be a sum of some.
 */
static at_walk find_conditions(const at_expr *e, void *ctx) {
    found *f = ctx, own = {.v = f->v};
    if (condition_is_bound(f->v->compute, e)) add_found(&f->all, e);
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    if (looks_into(f->v, e))
        at_expr_walk(f->v->compute->tensors[e->ref].body, find_conditions, &own);
    for (int i = 0; i < own.all.num; i++) {
        const at_expr *here = at_read(f->v, e, own.all.of[i].of);
        const bool is_listed = at_expr_reads(here) && !at_expr_reads(own.all.of[i].of);
        if (condition_is_bound(f->v->compute, here) && !is_listed) add_found(&f->all, here);
    }
    return AT_WALK_PAST;
}

conditions conditions_of_value(valuer *v, const at_expr *e, int nothing) {
    found f = {.v = v};
    conditions of = {.num = 0};
    v->steps = MOST_STEPS;
    at_expr_walk(e, find_conditions, &f);
    for (int i = 0; i < f.all.num; i++)
        for (int holds = 0; holds < 2; holds++) {
            const condition c = {f.all.of[i].of, holds};
            v->steps = MOST_STEPS;
            if (value_set_of(v, e, &(conditions){{condition_not(c)}, 1}) == nothing)
                conditions_add(&of, c);
        }
    v->steps = MOST_STEPS;
    return of;
}

/* ---- rows with a term that counts ------------------------------------------------------------ */

/* Sizes of an extent, which are slots, as those of a body; and back. */
static at_expr *take_size(const at_expr *e, at_expr *copy, void *by) {
    if (e->op == AT_X_NAME) copy->ref += *(const int *)by;
    return copy;
}

static at_expr *sizes_moved(const valuer *v, const at_expr *e, int by) {
    return at_expr_map(v->arena, e, take_size, &by);
}

static bool add_extent(const valuer *v, const at_axis *x, int64_t by, index_sum *s) {
    return x->extent && !x->begin &&
           index_sum_add(s, sizes_moved(v, x->extent, AT_REF_SIZE), by, NULL) &&
           index_sum_add_part(s, (index_part){-by, NULL, NO_AXIS});
}

/* The least of a sum whatever axes are, of sizes alone; false: it is not known. */
static bool take_least(const valuer *v, const at_tensor *t, const index_sum *s, index_sum *out) {
    *out = (index_sum){.num = 0};
    for (int i = 0; i < s->num; i++) {
        const index_part *p = &s->of[i];
        if (p->axis == NO_AXIS) {
            if (!index_sum_add_part(out, *p)) return false;
            continue;
        }
        if (p->by > 0) continue; /* the axis is 0 at least */
        if (p->size || !add_extent(v, &t->axes[p->axis], p->by, out)) return false;
    }
    return true;
}

static at_expr *size_expr(const valuer *v, const index_sum *s) {
    at_expr *all = NULL;
    for (int i = 0; i < s->num; i++) {
        const index_part *p = &s->of[i];
        const int64_t times = all && p->by < 0 ? -p->by : p->by;
        at_expr *e = p->size ? sizes_moved(v, p->size, -AT_REF_SIZE) : at_expr_int(v->arena, times);
        if (p->size && times != 1)
            e = at_expr_pair(v->arena, AT_X_MUL, at_expr_int(v->arena, times), e);
        all = all ? at_expr_pair(v->arena, p->by < 0 ? AT_X_SUB : AT_X_ADD, all, e) : e;
    }
    return all;
}

static bool is_among(at_op op, const at_expr *all, const at_expr *part) {
    for (; all; all = all->op == op ? all->arg[0] : NULL)
        if (at_expr_equal(all->op == op ? all->arg[1] : all, part)) return true;
    return false;
}

/* Both of two conditions on sizes, or either; the first may be NULL. */
static at_expr *joined(at_arena *a, at_op op, at_expr *x, at_expr *y) {
    if (is_among(op, x, y)) return x;
    return x ? at_expr_pair(a, op, x, y) : y;
}

/* Is a sum at least 0 wherever it is? What sizes have to be for that goes to *needs. */
static bool is_never_below(const valuer *v, const at_tensor *t, const index_sum *s,
                           at_expr **needs) {
    index_sum least;
    bool is_open = false, has_size = false;
    if (!take_least(v, t, s, &least)) return false;
    for (int i = 0; i < least.num; i++)
        has_size |= least.of[i].size != NULL, is_open |= least.of[i].size || least.of[i].by < 0;
    if (!is_open || !has_size) return !is_open;
    at_expr *e = at_expr_pair(v->arena, AT_X_GE, size_expr(v, &least), at_expr_int(v->arena, 0));
    *needs = joined(v->arena, AT_X_AND, *needs, e);
    return true;
}

/* s with the sum `value` for an axis. */
static bool put_axis(const index_sum *s, int axis, const index_sum *value, index_sum *out) {
    *out = (index_sum){.num = 0};
    for (int i = 0; i < s->num; i++) {
        if (s->of[i].axis != axis) {
            if (!index_sum_add_part(out, s->of[i])) return false;
            continue;
        }
        for (int k = 0; k < value->num; k++) {
            index_part p = value->of[k];
            p.by *= s->of[i].by;
            if (s->of[i].size || !index_sum_add_part(out, p)) return false;
        }
    }
    return true;
}

/* Do all conditions hold at a place of the reduction, which is one of its own? */
static bool is_right_place(const valuer *v, const at_tensor *t, const conditions *c,
                           const index_sum *place, at_expr **needs) {
    const int axis = t->num_axes;
    const index_sum own = {{{1, NULL, axis}}, 1};
    index_sum s, at, beyond = *place;
    for (int i = 0; i < c->num; i++)
        if (!condition_sum(&c->of[i], &s) || !put_axis(&s, axis, place, &at) ||
            !is_never_below(v, t, &at, needs))
            return false;
    if (!place->num) return true; /* the first one */
    for (int i = 0; i < beyond.num; i++) beyond.of[i].by *= -1;
    return put_axis(&own, axis, place, &at) && is_never_below(v, t, &at, needs) &&
           add_extent(v, &t->axes[axis], 1, &beyond) && is_never_below(v, t, &beyond, needs);
}

/* Where a condition is met just so; false: that is no place of the reduction. */
static bool place_of(const condition *c, int axis, index_sum *out) {
    index_sum s;
    int64_t by = 0;
    *out = (index_sum){.num = 0};
    if (!condition_sum(c, &s)) return false;
    for (int i = 0; i < s.num; i++)
        if (s.of[i].axis == axis) by = s.of[i].size ? 2 : s.of[i].by;
    if (by != 1 && by != -1) return false;
    for (int i = 0; i < s.num; i++)
        if (s.of[i].axis != axis)
            out->of[out->num++] = (index_part){-by * s.of[i].by, s.of[i].size, s.of[i].axis};
    return true;
}

/* Has each element a term at which all conditions hold? What sizes have to be for that goes to
 * v->needs: one thing, or else several. */
static bool has_place(valuer *v, const at_tensor *t, const conditions *c) {
    at_expr *any[2] = {NULL, NULL};
    if (t->num_reduce != 1) return !c->num;
    for (int i = -1; i < c->num; i++) {
        index_sum place = {.num = 0}; /* the first one */
        at_expr *needs = NULL;
        if (i >= 0 && !place_of(&c->of[i], t->num_axes, &place)) continue;
        if (!is_right_place(v, t, c, &place, &needs)) continue;
        if (!needs) return true;
        at_expr **of = &any[needs->op == AT_X_AND];
        *of = joined(v->arena, AT_X_OR, *of, needs);
    }
    at_expr *needs = any[0] ? any[0] : any[1];
    if (needs) v->needs = joined(v->arena, AT_X_AND, v->needs, needs);
    return needs;
}

static int of_reduction(valuer *v, const at_tensor *t, int terms) {
    const bool is_max = t->reduction == AT_REDUCE_MAX;
    const int nothing = is_max ? VALUE_NOTHING : VALUE_ZERO;
    int all = of_terms(t->reduction, terms);
    if (at_tensor_has_range(t)) return VALUE_ANY;
    if (!(all & nothing) || (!is_max && all != (VALUE_ZERO | VALUE_ABOVE))) return all;
    const conditions c = conditions_of_value(v, t->body, nothing);
    if (!(value_set_of(v, t->body, &c) & nothing) && has_place(v, t, &c)) all &= ~nothing;
    return all;
}

valuer valuer_of(at_arena *a, const at_compute *c) {
    valuer v = {.arena = a, .compute = c, .of_stage = AT_NEW_ARRAY(a, int, c->num_tensors)};
    const conditions none = {.num = 0};
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        v.of_stage[t] = x->role == AT_ROLE_STAGE ? VALUE_ANY : VALUE_NUMBER;
        if (x->role != AT_ROLE_STAGE || at_tensor_goes_in_steps(x) || x->is_table) continue;
        v.steps = 0; /* what it reads is known */
        v.of_stage[t] = value_set_of(&v, x->body, &none);
        if (x->num_reduce) v.of_stage[t] = of_reduction(&v, x, v.of_stage[t]);
        v.of_stage[t] = as_stored(c, x, v.of_stage[t]);
    }
    v.steps = MOST_STEPS;
    return v;
}
