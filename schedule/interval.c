/* schedule/interval.c: interval arithmetic over a box of axis values.
 *
 * Conditions narrow it twice. Those that fail on a whole box say that nothing is evaluated there.
 * Those that compare sums of the same terms are subtracted: with `0 <= h + kh - 1` an index
 * h + kh - 1 is that sum, at least 0, plus 0. */
#include "schedule/interval.h"

enum {
    MOST_LOOKED_AT = 64, /* of an index tensor's part that is looked through for its own bounds */
    AT_ONCE = 1 << 20    /* entries that are looked through without a look at stop */
};

static const interval anything = {INT64_MIN, INT64_MAX, true};

static interval at_point(int64_t x) { return (interval){x, x, false}; }

static bool is_point(interval x) { return x.lo == x.hi && !x.exceeds; }

/* ---- operators ------------------------------------------------------------------------------- */

static interval combine(at_op op, interval x, interval y) {
    interval r = {.exceeds = x.exceeds || y.exceeds};
    int64_t p[4];
    if (r.exceeds) return anything;
    switch (op) {
    case AT_X_ADD:
        r.exceeds = __builtin_add_overflow(x.lo, y.lo, &r.lo);
        r.exceeds |= __builtin_add_overflow(x.hi, y.hi, &r.hi);
        break;
    case AT_X_SUB:
        r.exceeds = __builtin_sub_overflow(x.lo, y.hi, &r.lo);
        r.exceeds |= __builtin_sub_overflow(x.hi, y.lo, &r.hi);
        break;
    case AT_X_MUL:
        for (int i = 0; i < 4; i++)
            r.exceeds |= __builtin_mul_overflow(i & 1 ? x.hi : x.lo, i & 2 ? y.hi : y.lo, &p[i]);
        r.lo = r.hi = p[0];
        for (int i = 1; i < 4; i++) {
            if (p[i] < r.lo) r.lo = p[i];
            if (p[i] > r.hi) r.hi = p[i];
        }
        break;
    case AT_X_DIV: /* divisors are sizes of at least 1: extents.c */
        if (y.lo < 1) return anything;
        return (interval){at_floordiv(x.lo, y.lo), at_floordiv(x.hi, y.lo), false};
    case AT_X_MOD:
        if (y.lo < 1) return anything;
        if (at_floordiv(x.lo, y.lo) != at_floordiv(x.hi, y.lo))
            return (interval){0, y.lo - 1, false};
        return (interval){at_floormod(x.lo, y.lo), at_floormod(x.hi, y.lo), false};
    case AT_X_MIN: return (interval){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi, false};
    case AT_X_MAX: return (interval){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi, false};
    default: AT_BUG("operator %d on indices", op);
    }
    return r.exceeds ? anything : r;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void spoil(linear *l) { l->n = -1; }

static void add_constant(linear *l, int64_t x, int64_t factor) {
    if (__builtin_mul_overflow(x, factor, &x) ||
        __builtin_add_overflow(l->constant, x, &l->constant))
        spoil(l);
}

static void add_term(linear *l, const at_expr *of, int64_t factor) {
    for (int i = 0; i < l->n; i++) {
        if (!at_expr_same(l->term[i].of, of)) continue;
        if (__builtin_add_overflow(l->term[i].factor, factor, &l->term[i].factor)) spoil(l);
        return;
    }
    if (l->n == MAX_TERMS) spoil(l);
    if (l->n < 0) return;
    l->term[l->n].of = of;
    l->term[l->n++].factor = factor;
}

/* Adds factor times e. */
static void add_to(bounder *b, linear *l, const at_expr *e, int64_t factor) {
    static const box nowhere;
    int64_t minus;
    b->steps++;
    if (l->n < 0) return;
    if (at_expr_is_size(e)) {
        interval x = interval_of(b, &nowhere, NULL, e);
        if (is_point(x)) add_constant(l, x.lo, factor);
        else spoil(l);
        return;
    }
    switch (e->op) {
    case AT_X_NEG:
    case AT_X_ADD:
    case AT_X_SUB:
        if (__builtin_sub_overflow(0, factor, &minus)) spoil(l);
        else {
            add_to(b, l, e->arg[0], e->op == AT_X_NEG ? minus : factor);
            if (e->op != AT_X_NEG) add_to(b, l, e->arg[1], e->op == AT_X_SUB ? minus : factor);
        }
        return;
    case AT_X_MUL:
        for (int i = 0; i < 2; i++) {
            if (!at_expr_is_size(e->arg[i])) continue;
            interval x = interval_of(b, &nowhere, NULL, e->arg[i]);
            if (!is_point(x) || __builtin_mul_overflow(factor, x.lo, &factor)) spoil(l);
            else add_to(b, l, e->arg[1 - i], factor);
            return;
        }
        break;
    default: break;
    }
    add_term(l, e, factor);
}

static interval plain(bounder *b, const box *at, const guard *g, const at_expr *e);

/* l - times * m, which may be NULL. */
static interval interval_of_sum(bounder *b, const box *at, const guard *g, const linear *l,
                                int64_t times, const linear *m) {
    linear sum = *l;
    int64_t factor;
    if (m) {
        if (__builtin_sub_overflow(0, times, &factor)) return anything;
        add_constant(&sum, m->constant, factor);
        for (int i = 0; i < m->n && sum.n >= 0; i++) {
            int64_t x;
            if (__builtin_mul_overflow(m->term[i].factor, factor, &x)) return anything;
            add_term(&sum, m->term[i].of, x);
        }
    }
    if (sum.n < 0) return anything;
    interval r = at_point(sum.constant);
    for (int i = 0; i < sum.n; i++) {
        if (!sum.term[i].factor) continue;
        r = combine(
            AT_X_ADD, r,
            combine(AT_X_MUL, at_point(sum.term[i].factor), plain(b, at, g, sum.term[i].of)));
    }
    return r;
}

/* What x, bounds of e, becomes by what is known of e's terms. */
static interval narrow(bounder *b, const box *at, const guard *g, const at_expr *e, interval x) {
    linear l = {0};
    interval r;
    add_to(b, &l, e, 1);
    if (l.n < 0) return x;
    if (l.n > 1) { /* terms that are there several times */
        r = interval_of_sum(b, at, g, &l, 0, NULL);
        if (!r.exceeds && r.lo > x.lo) x.lo = r.lo;
        if (!r.exceeds && r.hi < x.hi) x.hi = r.hi;
    }
    for (; g; g = g->outer)
        for (int i = 0; i < g->num_bounds; i++) {
            const linear *m = &g->bound[i];
            for (int t = 0; t < m->n; t++) {
                int64_t factor = 0;
                for (int j = 0; j < l.n; j++)
                    if (at_expr_same(l.term[j].of, m->term[t].of)) factor = l.term[j].factor;
                /* INT64_MIN / -1 traps. */
                if (!factor || factor == INT64_MIN || factor % m->term[t].factor) continue;
                int64_t times = factor / m->term[t].factor;
                r = interval_of_sum(b, at, g->outer, &l, times, m);
                if (r.exceeds) continue;
                if (times > 0 && r.lo > x.lo) x.lo = r.lo;
                if (times < 0 && r.hi < x.hi) x.hi = r.hi;
            }
        }
    return x;
}

/* ---- expressions ----------------------------------------------------------------------------- */

static interval interval_of_read(bounder *b, const box *at, const guard *g, const at_expr *e) {
    const at_data *d = b->data ? &b->data[e->ref] : NULL;
    const int64_t *extents = b->extents[e->ref];
    int64_t from = 0, to = 0;
    if (!d || !d->i || b->compute->tensors[e->ref].is_places) return b->of_index[e->ref];
    for (int i = 0; i < e->nargs; i++) { /* the last runs, the others stand still */
        interval x = interval_of(b, at, g, e->arg[i]);
        /* lo is above hi where guards contradict each other: nothing is read there */
        if (x.exceeds || x.lo < 0 || x.lo > x.hi || x.hi >= extents[i] ||
            (i < e->nargs - 1 && x.lo != x.hi) || x.hi - x.lo >= MOST_LOOKED_AT)
            return b->of_index[e->ref];
        from = from * extents[i] + x.lo;
        to = to * extents[i] + x.hi;
    }
    interval r = at_point(d->i[from]);
    for (; from <= to; from++) {
        if (d->i[from] < r.lo) r.lo = d->i[from];
        if (d->i[from] > r.hi) r.hi = d->i[from];
    }
    return r;
}

static interval interval_of_choice(bounder *b, const box *at, const guard *g, const at_expr *e) {
    int truth = truth_of(b, at, g, e->arg[0]);
    interval x = {0}, y = {0};
    guard inner;
    guard_init(b, &inner, g, e->arg[0], true);
    if (truth & CAN_HOLD) x = interval_of(b, at, &inner, e->arg[1]);
    if (truth == CAN_HOLD) return x;
    guard_init(b, &inner, g, e->arg[0], false);
    y = interval_of(b, at, &inner, e->arg[2]);
    if (truth == CAN_FAIL) return y;
    if (x.exceeds || y.exceeds) return anything;
    return (interval){x.lo < y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi, false};
}

/* Guards are not subtracted from e itself, only from what it consists of. */
static interval plain(bounder *b, const box *at, const guard *g, const at_expr *e) {
    if (++b->steps > b->most_steps) return anything;
    switch (e->op) {
    case AT_X_INT: return at_point(e->integer);
    case AT_X_NAME:
        if (e->ref >= AT_REF_SIZE) return at_point(b->values[e->ref - AT_REF_SIZE]);
        return (interval){at->lo[e->ref], at->hi[e->ref], false};
    case AT_X_INDEX: return interval_of_read(b, at, g, e);
    case AT_X_NEG: return combine(AT_X_SUB, at_point(0), plain(b, at, g, e->arg[0]));
    case AT_X_SELECT: return interval_of_choice(b, at, g, e);
    case AT_X_ADD:
    case AT_X_SUB: return combine(e->op, plain(b, at, g, e->arg[0]), plain(b, at, g, e->arg[1]));
    default:
        return combine(e->op, interval_of(b, at, g, e->arg[0]), interval_of(b, at, g, e->arg[1]));
    }
}

interval interval_of(bounder *b, const box *at, const guard *g, const at_expr *e) {
    interval x = plain(b, at, g, e);
    if (x.exceeds || x.lo == x.hi || (!g && e->op == AT_X_NAME)) return x;
    return narrow(b, at, g, e, x);
}

/* ---- conditions ------------------------------------------------------------------------------ */

static int invert(int truth) {
    return (truth & CAN_FAIL ? CAN_HOLD : 0) | (truth & CAN_HOLD ? CAN_FAIL : 0);
}

/* x < y or x <= y. */
static int is_less(interval x, interval y, bool or_equal) {
    if (or_equal ? x.hi <= y.lo : x.hi < y.lo) return CAN_HOLD;
    return (or_equal ? x.lo > y.hi : x.lo >= y.hi) ? CAN_FAIL : CAN_FAIL | CAN_HOLD;
}

int truth_of(bounder *b, const box *at, const guard *g, const at_expr *e) {
    int first, second;
    if (++b->steps > b->most_steps) return CAN_FAIL | CAN_HOLD;
    switch (e->op) {
    case AT_X_NOT: return invert(truth_of(b, at, g, e->arg[0]));
    case AT_X_AND:
    case AT_X_OR:
        first = truth_of(b, at, g, e->arg[0]);
        if (first == (e->op == AT_X_AND ? CAN_FAIL : CAN_HOLD)) return first;
        second = truth_of(b, at, g, e->arg[1]);
        if (e->op == AT_X_AND) {
            if (second == CAN_FAIL) return second;
            return (first | second) & CAN_FAIL ? CAN_FAIL | CAN_HOLD : CAN_HOLD;
        }
        if (second == CAN_HOLD) return second;
        return (first | second) & CAN_HOLD ? CAN_FAIL | CAN_HOLD : CAN_FAIL;
    case AT_X_SELECT:
        first = truth_of(b, at, g, e->arg[0]);
        return (first & CAN_HOLD ? truth_of(b, at, g, e->arg[1]) : 0) |
               (first & CAN_FAIL ? truth_of(b, at, g, e->arg[2]) : 0);
    default: break;
    }
    if (is_float_expr(b->compute, e->arg[0]) || is_float_expr(b->compute, e->arg[1]))
        return CAN_FAIL | CAN_HOLD;
    interval x = interval_of(b, at, g, e->arg[0]), y = interval_of(b, at, g, e->arg[1]);
    if (x.exceeds || y.exceeds) return CAN_FAIL | CAN_HOLD;
    switch (e->op) {
    case AT_X_LT: return is_less(x, y, false);
    case AT_X_LE: return is_less(x, y, true);
    case AT_X_GT: return is_less(y, x, false);
    case AT_X_GE: return is_less(y, x, true);
    case AT_X_EQ:
    case AT_X_NE:
        first = x.hi < y.lo || y.hi < x.lo   ? CAN_FAIL
                : is_point(x) && is_point(y) ? CAN_HOLD
                                             : CAN_FAIL | CAN_HOLD;
        return e->op == AT_X_EQ ? first : invert(first);
    default: AT_BUG("operator %d as a condition", e->op);
    }
}

/* x - y - less >= 0. */
static void add_bound(bounder *b, guard *g, const at_expr *x, const at_expr *y, int less) {
    if (g->num_bounds == MAX_BOUNDS) return;
    linear *l = &g->bound[g->num_bounds];
    *l = (linear){0};
    add_to(b, l, x, 1);
    add_to(b, l, y, -1);
    add_constant(l, less, -1);
    int used = 0;
    for (int i = 0; i < l->n; i++)
        if (l->term[i].factor) l->term[used++] = l->term[i];
    if (l->n < 0 || !used) return;
    l->n = used;
    g->num_bounds++;
}

/* x and y differ: where one of them is nowhere below the other, it is above. Ranges of data count
 * as anything. */
static void add_bounds_of_unequal(bounder *b, guard *g, const at_expr *x, const at_expr *y) {
    const at_tensor *t = &b->compute->tensors[b->stage];
    box all;
    for (int i = 0; i < axes_of(t); i++) {
        all.lo[i] = t->axes[i].begin ? INT64_MIN : 0;
        all.hi[i] = t->axes[i].begin ? INT64_MAX : b->extents[b->stage][i] - 1;
    }
    linear l = {0};
    add_to(b, &l, x, 1);
    add_to(b, &l, y, -1);
    if (l.n < 0) return;
    const interval off = interval_of_sum(b, &all, g->outer, &l, 0, NULL);
    if (off.exceeds) return;
    if (off.lo >= 0) add_bound(b, g, x, y, 1);
    if (off.hi <= 0) add_bound(b, g, y, x, 1);
}

static void add_bounds(bounder *b, guard *g, const at_expr *e, bool holds) {
    switch (e->op) {
    case AT_X_NOT: add_bounds(b, g, e->arg[0], !holds); return;
    case AT_X_AND:
    case AT_X_OR:
        if (holds != (e->op == AT_X_AND)) return; /* one or the other: boxes will tell */
        add_bounds(b, g, e->arg[0], holds);
        add_bounds(b, g, e->arg[1], holds);
        return;
    case AT_X_SELECT: return;
    default: break;
    }
    const at_expr *x = e->arg[0], *y = e->arg[1];
    if (is_float_expr(b->compute, x) || is_float_expr(b->compute, y)) return;
    switch (e->op) {
    case AT_X_LT: holds ? add_bound(b, g, y, x, 1) : add_bound(b, g, x, y, 0); return;
    case AT_X_LE: holds ? add_bound(b, g, y, x, 0) : add_bound(b, g, x, y, 1); return;
    case AT_X_GT: holds ? add_bound(b, g, x, y, 1) : add_bound(b, g, y, x, 0); return;
    case AT_X_GE: holds ? add_bound(b, g, x, y, 0) : add_bound(b, g, y, x, 1); return;
    default:
        if ((e->op == AT_X_EQ) != holds) {
            add_bounds_of_unequal(b, g, x, y);
            return;
        }
        add_bound(b, g, x, y, 0);
        add_bound(b, g, y, x, 0);
    }
}

void guard_init(bounder *b, guard *g, const guard *outer, const at_expr *condition, bool holds) {
    g->outer = outer;
    g->condition = condition;
    g->holds = holds;
    g->num_bounds = 0;
    add_bounds(b, g, condition, holds);
}

/* Of elements that are indices: as integers, and as indices. Sums are integers alone. */
static void bound_places(bounder *b, int tensor) {
    const at_tensor *t = &b->compute->tensors[tensor];
    box all;
    if (is_float_expr(b->compute, t->body)) return;
    if (t->num_reduce && !at_reduction_is_extreme(t->reduction)) return;
    for (int i = 0; i < axes_of(t); i++) {
        if (t->axes[i].begin) return; /* there may be no term */
        all.lo[i] = 0;
        all.hi[i] = b->extents[tensor][i] - 1;
    }
    b->stage = tensor;
    b->most_steps = INT64_MAX;
    interval *of = &b->of_index[tensor];
    const interval x = interval_of(b, &all, NULL, t->body);
    if (!x.exceeds && x.lo > of->lo && x.lo <= of->hi) of->lo = x.lo;
    if (!x.exceeds && x.hi < of->hi && x.hi >= of->lo) of->hi = x.hi;
}

static void bound_all_places(at_arena *a, bounder *b) {
    const at_compute *c = b->compute;
    bool any = false;
    for (int t = 0; t < c->num_tensors; t++) any |= c->tensors[t].is_places;
    if (!any) return;
    at_whole_ranges(a, c, b->values, b->extents, b->of_index);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].is_places) bound_places(b, t);
    b->steps = b->most_steps = 0;
}

bounder bounder_of(at_arena *a, const at_compute *c, const int64_t *values, int64_t *const *extents,
                   const at_data *data, const volatile int *stop) {
    bounder b = {.compute = c, .values = values, .extents = extents, .data = data};
    b.of_index = AT_NEW_ARRAY(a, interval, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role != AT_ROLE_INDEX) continue;
        b.of_index[t] = (interval){INT32_MIN, INT32_MAX, false};
        int64_t n = at_tensor_elements(&c->tensors[t], extents[t]);
        const int32_t *x = data ? data[t].i : NULL;
        if (!x || n < 1) continue;
        interval r = at_point(x[0]);
        for (int64_t i = 1; i < n && (i % AT_ONCE || !at_is_stopped(stop)); i++) {
            if (x[i] < r.lo) r.lo = x[i];
            if (x[i] > r.hi) r.hi = x[i];
        }
        b.of_index[t] = r;
    }
    bound_all_places(a, &b);
    return b;
}
