/* network/net_indices.c: indices of joined texts made simple: sums of multiples of axes and of what
 * cannot be taken apart, with quotients and remainders that are known left out, and conditions that
 * always hold. */
#include <string.h>

#include "network/joined.h"

typedef struct range {
    int64_t lo, hi;
} range;

static const range anything = {INT64_MIN / 4, INT64_MAX / 4};
static bool bounded(range r) { return r.lo > anything.lo / 2 && r.hi < anything.hi / 2; }

/* A sum: constant + factor times expression, .. */
typedef struct term {
    int64_t factor;
    at_expr *of;
    range in;
} term;
enum { MOST_TERMS = 32 };
typedef struct sum {
    int64_t constant;
    int n;
    term terms[MOST_TERMS];
} sum;

typedef struct simplifier {
    at_arena *arena;
    const at_joined_axis *axes;
} simplifier;

typedef struct replacing {
    at_arena *arena;
    at_expr *const *axes;
    const int *tensors;
} replacing;

static at_expr *replace(const at_expr *e, at_expr *copy, void *ctx) {
    const replacing *x = ctx;
    if (e->op == AT_X_NAME && x->axes && x->axes[e->ref])
        return at_expr_map(x->arena, x->axes[e->ref], NULL, NULL);
    if (e->op == AT_X_INDEX && x->tensors) copy->ref = x->tensors[e->ref];
    return copy;
}

at_expr *at_join_replace(at_arena *a, const at_expr *e, at_expr *const *axes, const int *tensors) {
    return at_expr_map(a, e, replace, &(replacing){a, axes, tensors});
}

static bool is_no_integer(const at_expr *e, const void *unused) {
    (void)unused;
    const bool is = e->op == AT_X_INT || e->op == AT_X_NAME || e->op == AT_X_NEG ||
                    (e->op >= AT_X_ADD && e->op <= AT_X_MOD) || e->op == AT_X_MIN ||
                    e->op == AT_X_MAX;
    return !is;
}

/* Of whole numbers alone, without reads? */
static bool is_integer(const at_expr *e) { return !at_expr_find(e, is_no_integer, NULL); }

/* ---- sums ------------------------------------------------------------------------------------ */

static bool add_term(sum *s, int64_t factor, at_expr *of, range in) {
    if (!factor) return true;
    for (int i = 0; i < s->n; i++) {
        if (!at_expr_same(s->terms[i].of, of)) continue;
        s->terms[i].factor += factor;
        if (!s->terms[i].factor) s->terms[i] = s->terms[--s->n];
        return true;
    }
    if (s->n == MOST_TERMS) return false;
    s->terms[s->n++] = (term){factor, of, in};
    return true;
}

static bool add_sum(sum *s, int64_t factor, const sum *of) {
    s->constant += factor * of->constant;
    for (int i = 0; i < of->n; i++)
        if (!add_term(s, factor * of->terms[i].factor, of->terms[i].of, of->terms[i].in))
            return false;
    return true;
}

static range range_of(const sum *s) {
    range r = {s->constant, s->constant};
    for (int i = 0; i < s->n; i++) {
        const term *t = &s->terms[i];
        int64_t x, y;
        if (!bounded(t->in) || !at_mul64(t->factor, t->in.lo, &x) ||
            !at_mul64(t->factor, t->in.hi, &y))
            return anything;
        r.lo += x < y ? x : y;
        r.hi += x < y ? y : x;
        if (!bounded(r)) return anything;
    }
    return r;
}

/* Positive terms first, so that no expression begins with a sign. */
static at_expr *expr_of(at_arena *a, const sum *s) {
    at_expr *e = NULL;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int i = 0; i < s->n; i++) {
            int64_t f = s->terms[i].factor * sign;
            if (f < 0) continue;
            at_expr *t = s->terms[i].of;
            if (f != 1) t = at_expr_pair(a, AT_X_MUL, t, at_expr_int(a, f));
            if (!e) e = sign > 0 ? t : at_expr_new(a, AT_X_NEG, 1, &t);
            else e = at_expr_pair(a, sign > 0 ? AT_X_ADD : AT_X_SUB, e, t);
        }
    if (!e) return at_expr_int(a, s->constant);
    if (!s->constant) return e;
    int64_t c = s->constant;
    return at_expr_pair(a, c > 0 ? AT_X_ADD : AT_X_SUB, e, at_expr_int(a, c > 0 ? c : -c));
}

static bool sum_of(const simplifier *m, const at_expr *e, sum *out);

/* What cannot be taken apart is a term of its own. */
static bool add_opaque(const simplifier *m, const at_expr *e, range in, sum *out) {
    at_expr *copy = at_copy(m->arena, e, sizeof *e);
    return add_term(out, 1, copy, in);
}

/* x / d and x % d: multiples of d leave the remainder and, divided, come before the quotient. */
static bool divide(const simplifier *m, const sum *x, int64_t d, bool quotient, sum *out) {
    sum rest = {0}, whole = {0};
    int64_t c = at_floordiv(x->constant, d);
    whole.constant = c;
    rest.constant = x->constant - c * d;
    for (int i = 0; i < x->n; i++) {
        const term *t = &x->terms[i];
        bool divides = t->factor % d == 0;
        if (!add_term(divides ? &whole : &rest, divides ? t->factor / d : t->factor, t->of, t->in))
            return false;
    }
    range r = range_of(&rest);
    if (bounded(r) && at_floordiv(r.lo, d) == at_floordiv(r.hi, d)) {
        int64_t q = at_floordiv(r.lo, d);
        if (quotient) return add_sum(out, 1, &whole) && (out->constant += q, true);
        return add_sum(out, 1, &rest) && (out->constant -= q * d, true);
    }
    at_expr *inner = expr_of(m->arena, &rest);
    if (quotient && rest.n == 1 && !rest.constant && rest.terms[0].factor == 1 &&
        rest.terms[0].of->op == AT_X_DIV && rest.terms[0].of->arg[1]->op == AT_X_INT) {
        inner = rest.terms[0].of->arg[0]; /* (x / a) / b = x / (a*b) */
        d *= rest.terms[0].of->arg[1]->integer;
        r = anything;
    }
    at_expr *e =
        at_expr_pair(m->arena, quotient ? AT_X_DIV : AT_X_MOD, inner, at_expr_int(m->arena, d));
    range in = {0, d - 1};
    if (quotient) in = bounded(r) ? (range){at_floordiv(r.lo, d), at_floordiv(r.hi, d)} : anything;
    if (quotient && !add_sum(out, 1, &whole)) return false;
    return add_term(out, 1, e, in);
}

static bool add_extreme(const simplifier *m, const at_expr *e, const sum *x, const sum *y,
                        sum *out) {
    bool is_min = e->op == AT_X_MIN;
    range a = range_of(x), b = range_of(y);
    if (bounded(a) && bounded(b)) {
        if (is_min ? a.hi <= b.lo : a.lo >= b.hi) return add_sum(out, 1, x);
        if (is_min ? b.hi <= a.lo : b.lo >= a.hi) return add_sum(out, 1, y);
    }
    range in = anything;
    if (bounded(a) && bounded(b))
        in = is_min ? (range){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi}
                    : (range){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    return add_term(out, 1,
                    at_expr_pair(m->arena, e->op, expr_of(m->arena, x), expr_of(m->arena, y)), in);
}

static bool sum_of_binary(const simplifier *m, const at_expr *e, sum *out) {
    sum x = {0}, y = {0};
    if (!sum_of(m, e->arg[0], &x) || !sum_of(m, e->arg[1], &y)) return false;
    switch (e->op) {
    case AT_X_ADD: return add_sum(out, 1, &x) && add_sum(out, 1, &y);
    case AT_X_SUB: return add_sum(out, 1, &x) && add_sum(out, -1, &y);
    case AT_X_MUL:
        if (!y.n) return add_sum(out, y.constant, &x);
        if (!x.n) return add_sum(out, x.constant, &y);
        return add_term(
            out, 1, at_expr_pair(m->arena, AT_X_MUL, expr_of(m->arena, &x), expr_of(m->arena, &y)),
            anything);
    case AT_X_DIV:
    case AT_X_MOD:
        if (y.n || y.constant <= 0) return false;
        return divide(m, &x, y.constant, e->op == AT_X_DIV, out);
    default: return add_extreme(m, e, &x, &y, out);
    }
}

static bool sum_of(const simplifier *m, const at_expr *e, sum *out) {
    switch (e->op) {
    case AT_X_INT: return out->constant += e->integer, true;
    case AT_X_NAME: {
        const at_joined_axis *x = &m->axes[e->ref];
        if (x->extent == 1 && !x->begin) return true;
        return add_opaque(m, e, x->begin ? anything : (range){0, x->extent - 1}, out);
    }
    case AT_X_NEG: {
        sum x = {0};
        return sum_of(m, e->arg[0], &x) && add_sum(out, -1, &x);
    }
    default: return sum_of_binary(m, e, out);
    }
}

/* ---- expressions ----------------------------------------------------------------------------- */

enum { FALSE_, TRUE_, OPEN };

/* A comparison of whole numbers. */
static int decide(at_op op, range r) { /* of the left less the right side */
    if (!bounded(r)) return OPEN;
    switch (op) {
    case AT_X_LT: return r.hi < 0 ? TRUE_ : r.lo >= 0 ? FALSE_ : OPEN;
    case AT_X_LE: return r.hi <= 0 ? TRUE_ : r.lo > 0 ? FALSE_ : OPEN;
    case AT_X_GT: return r.lo > 0 ? TRUE_ : r.hi <= 0 ? FALSE_ : OPEN;
    case AT_X_GE: return r.lo >= 0 ? TRUE_ : r.hi < 0 ? FALSE_ : OPEN;
    default: {
        int equal = r.lo == 0 && r.hi == 0 ? TRUE_ : r.lo > 0 || r.hi < 0 ? FALSE_ : OPEN;
        return equal == OPEN || op == AT_X_EQ ? equal : !equal;
    }
    }
}

static bool is_truth(const at_expr *e, bool *value) {
    if (e->op != AT_X_EQ || e->arg[0]->op != AT_X_INT || e->arg[1]->op != AT_X_INT) return false;
    *value = e->arg[0]->integer == e->arg[1]->integer;
    return true;
}

static at_expr *truth(at_arena *a, bool value) {
    return at_expr_pair(a, AT_X_EQ, at_expr_int(a, 0), at_expr_int(a, value ? 0 : 1));
}

static at_expr *simplify_condition(const simplifier *m, at_expr *e) {
    bool x, y;
    if (e->op == AT_X_NOT) return is_truth(e->arg[0], &x) ? truth(m->arena, !x) : e;
    if (e->op == AT_X_SELECT) return is_truth(e->arg[0], &x) ? e->arg[x ? 1 : 2] : e;
    if (e->op == AT_X_AND || e->op == AT_X_OR) {
        bool neutral = e->op == AT_X_AND;
        if (is_truth(e->arg[0], &x)) return x == neutral ? e->arg[1] : e->arg[0];
        if (is_truth(e->arg[1], &y)) return y == neutral ? e->arg[0] : e->arg[1];
    }
    return e;
}

/* A number that a condition on values chooses is a value, too, and no index; where the stage is of
 * integers, it stays one. */
static at_expr *value_of(at_arena *a, at_expr *e) {
    if (e->op != AT_X_INT) return e;
    at_expr *value = at_expr_new(a, AT_X_FLOAT, 0, NULL);
    value->number = (double)e->integer;
    return value;
}

at_expr *at_join_simplify(at_arena *a, const at_expr *e, const at_joined_axis *axes, at_type type) {
    const simplifier m = {a, axes};
    sum s = {0};
    if (e->op == AT_X_NAME)
        return at_copy(a, e, sizeof *e); /* it says which axis goes with which */
    if (is_integer(e) && sum_of(&m, e, &s)) return expr_of(a, &s);
    if (at_op_compares(e->op) && is_integer(e->arg[0]) && is_integer(e->arg[1])) {
        sum y = {0}, less = {0};
        bool simple = sum_of(&m, e->arg[0], &s) && sum_of(&m, e->arg[1], &y) &&
                      add_sum(&less, 1, &s) && add_sum(&less, -1, &y);
        int known = simple ? decide(e->op, range_of(&less)) : OPEN;
        if (known != OPEN) return truth(a, known == TRUE_);
    }
    at_expr *copy = at_copy(a, e, sizeof *e);
    copy->arg = e->nargs ? AT_NEW_ARRAY(a, at_expr *, e->nargs) : NULL;
    for (int i = 0; i < e->nargs; i++) copy->arg[i] = at_join_simplify(a, e->arg[i], axes, type);
    if (e->op == AT_X_SELECT && !at_type_of(type)->is_int && at_expr_reads(e->arg[0]))
        for (int i = 1; i < 3; i++) copy->arg[i] = value_of(a, copy->arg[i]);
    return simplify_condition(&m, copy);
}
