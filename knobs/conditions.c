/* knobs/conditions.c: conditions worked out over intervals, so that they can be asked while some of
 * their knobs are still open. */
#include "knobs/knobs_int.h"

#include <math.h>
#include <stdlib.h>

/* All values that an expression may have; none: it divides by zero, or its only value is none. */
typedef struct range {
    double lo, hi;
    bool whole;   /* all of them are */
    bool is_none; /* it has no value; may have none: lo and hi are infinite */
} range;

static const range nothing = {.is_none = true};
static const range anything = {.lo = -INFINITY, .hi = INFINITY};

static bool is_one(range x) { return x.lo == x.hi; }
static range truth(bool can_fail, bool can_hold) {
    return (range){!can_fail, can_hold, true, false};
}

static range of_corners(double a, double b, double c, double d, bool whole) {
    range r = {fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d)), whole, false};
    return isnan(a) || isnan(b) || isnan(c) || isnan(d) ? anything : r;
}

static range quotient(range x, range y) {
    bool whole = x.whole && y.whole;
    if (is_one(y) && y.lo == 0) return nothing;
    if (y.lo <= 0 && y.hi >= 0) return anything;
    range q = of_corners(x.lo / y.lo, x.lo / y.hi, x.hi / y.lo, x.hi / y.hi, whole);
    if (whole) q.lo = floor(q.lo), q.hi = floor(q.hi);
    return q;
}

static range rest(range x, range y) {
    if (is_one(y) && y.lo == 0) return nothing;
    if (is_one(x) && is_one(y)) {
        double v = x.lo - y.lo * floor(x.lo / y.lo);
        return (range){v, v, x.whole && y.whole, false};
    }
    if (y.lo <= 0) return anything;
    return (range){0, x.whole && y.whole ? y.hi - 1 : y.hi, x.whole && y.whole, false};
}

/* Of bits nothing is known before both operands are. */
static range of_bits(at_op op, range x, range y) {
    int64_t v;
    if (!is_one(x) || !is_one(y)) return anything;
    if (!x.whole || !y.whole || fabs(x.lo) > 0x1p53 || fabs(y.lo) > 0x1p53) return nothing;
    if (!at_expr_binary(op, (int64_t)x.lo, (int64_t)y.lo, &v)) return nothing;
    return (range){(double)v, (double)v, true, false};
}

static range compare(at_op op, range x, range y) {
    switch (op) {
    case AT_X_LT: return truth(!(x.hi < y.lo), x.lo < y.hi);
    case AT_X_LE: return truth(!(x.hi <= y.lo), x.lo <= y.hi);
    case AT_X_GT: return truth(!(x.lo > y.hi), x.hi > y.lo);
    case AT_X_GE: return truth(!(x.lo >= y.hi), x.hi >= y.lo);
    default: break;
    }
    bool same = is_one(x) && is_one(y) && x.lo == y.lo, apart = x.hi < y.lo || y.hi < x.lo;
    return op == AT_X_EQ ? truth(!same, !apart) : truth(!apart, !same);
}

static range binary(at_op op, range x, range y) {
    bool whole = x.whole && y.whole;
    switch (op) {
    case AT_X_ADD: return (range){x.lo + y.lo, x.hi + y.hi, whole, false};
    case AT_X_SUB: return (range){x.lo - y.hi, x.hi - y.lo, whole, false};
    case AT_X_MUL: return of_corners(x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi, whole);
    case AT_X_DIV: return quotient(x, y);
    case AT_X_MOD: return rest(x, y);
    case AT_X_MIN: return (range){fmin(x.lo, y.lo), fmin(x.hi, y.hi), whole, false};
    case AT_X_MAX: return (range){fmax(x.lo, y.lo), fmax(x.hi, y.hi), whole, false};
    case AT_X_BIT_AND:
    case AT_X_BIT_OR:
    case AT_X_SHIFT_LEFT:
    case AT_X_SHIFT_RIGHT: return of_bits(op, x, y);
    default: return compare(op, x, y);
    }
}

static bool can_fail(range x) { return x.lo <= 0 && x.hi >= 0; }
static bool can_hold(range x) { return !(x.lo == 0 && x.hi == 0); }

static range work_out(const at_requirement *q, const at_expr *e, const int64_t *digits);

static range join(at_op op, const at_requirement *q, const at_expr *e, const int64_t *digits) {
    range x = work_out(q, e->arg[0], digits);
    bool is_and = op == AT_X_AND;
    if (x.is_none) return x;
    if (is_and ? !can_hold(x) : !can_fail(x)) return truth(is_and, !is_and);
    range y = work_out(q, e->arg[1], digits);
    if (y.is_none) return is_one(x) ? y : truth(true, true);
    if (is_and) return truth(can_fail(x) || can_fail(y), can_hold(x) && can_hold(y));
    return truth(can_fail(x) && can_fail(y), can_hold(x) || can_hold(y));
}

static range choose(const at_requirement *q, const at_expr *e, const int64_t *digits) {
    range c = work_out(q, e->arg[0], digits);
    if (c.is_none) return c;
    if (!can_fail(c)) return work_out(q, e->arg[1], digits);
    if (!can_hold(c)) return work_out(q, e->arg[2], digits);
    range x = work_out(q, e->arg[1], digits), y = work_out(q, e->arg[2], digits);
    if (x.is_none || y.is_none) return anything;
    return (range){fmin(x.lo, y.lo), fmax(x.hi, y.hi), x.whole && y.whole, false};
}

static range work_out(const at_requirement *q, const at_expr *e, const int64_t *digits) {
    range x, y;
    switch (e->op) {
    case AT_X_INT: return (range){(double)e->integer, (double)e->integer, true, false};
    case AT_X_FLOAT: return (range){e->number, e->number, e->number == floor(e->number), false};
    case AT_X_NAME: {
        const at_open_leaf *l = &q->leaves.data[e->ref];
        if (digits[l->knob] < 0) return (range){l->lo, l->hi, l->whole, false};
        double v = l->values[digits[l->knob]];
        return (range){v, v, l->whole, false};
    }
    case AT_X_AND:
    case AT_X_OR: return join(e->op, q, e, digits);
    case AT_X_SELECT: return choose(q, e, digits);
    default: break;
    }
    x = work_out(q, e->arg[0], digits);
    if (x.is_none) return x;
    if (e->op == AT_X_NEG) return (range){-x.hi, -x.lo, x.whole, false};
    if (e->op == AT_X_NOT) return truth(can_hold(x), can_fail(x));
    y = work_out(q, e->arg[1], digits);
    return y.is_none ? y : binary(e->op, x, y);
}

bool at_requirement_can_hold(const at_requirement *q, const int64_t *digits) {
    if (q->active_knob >= 0 && digits[q->active_knob] <= 0) return true;
    range x = work_out(q, q->expr, digits);
    return !x.is_none && can_hold(x);
}

bool at_requires_keep(const at_space *s, int64_t index) {
    enum { FEW = 64 };
    int64_t few[FEW], *digits = few;
    bool keeps = true;
    if (!s->requires.len) return true;
    if (s->num_knobs > FEW) digits = malloc(sizeof *digits * (size_t)s->num_knobs);
    AT_NEED(digits);
    at_space_digits(s, index, digits);
    for (int i = 0; i < s->requires.len && keeps; i++)
        keeps = at_requirement_holds(&s->requires.data[i], digits);
    if (digits != few) free(digits);
    return keeps;
}

bool at_space_is_active(const at_space *s, int knob, const int64_t *digits) {
    for (int i = 0; i < s->requires.len; i++) {
        at_requirement q = s->requires.data[i];
        if (q.active_knob != knob) continue;
        q.active_knob = -1;
        if (!at_requirement_holds(&q, digits)) return false;
    }
    return true;
}
