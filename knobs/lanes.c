/* knobs/lanes.c: conditions worked out where all of their knobs have values, or for many values of
 * one knob at once. */
#include "knobs/knobs_int.h"

#include <math.h>
#include <string.h>

/* One number for each value of the open knob. NaN: there is none, as of a division by zero. */
typedef struct lanes {
    bool varies; /* else v[0] is that of all */
    bool whole;  /* whole numbers, whose quotients are rounded down */
    double v[AT_LANES];
} lanes;

typedef struct job {
    const at_requirement *q;
    const int64_t *digits; /* of the other knobs */
    int open, n;           /* knob, and how many of its values */
    const int64_t *values; /* [n] their digits */
    bool is_mixed;         /* some lanes are whole numbers and others not */
    int64_t *work;
} job;

static void work_out(job *j, const at_expr *e, lanes *out);

static void spread(lanes *x, int n) {
    for (int i = 1; i < n && !x->varies; i++) x->v[i] = x->v[0];
    x->varies = true;
}

static void read_leaf(const job *j, const at_open_leaf *l, lanes *out) {
    out->whole = l->whole;
    out->varies = l->knob == j->open;
    if (!out->varies) out->v[0] = l->values[j->digits[l->knob]];
    for (int i = 0; i < j->n && out->varies; i++) out->v[i] = l->values[j->values[i]];
}

static double of_bits(at_op op, double x, double y, bool whole) {
    int64_t v;
    if (!whole || !(fabs(x) <= 0x1p53 && fabs(y) <= 0x1p53)) return NAN;
    return at_expr_binary(op, (int64_t)x, (int64_t)y, &v) ? (double)v : NAN;
}

static double quotient(double x, double y, bool whole) {
    if (y == 0) return NAN;
    return whole ? floor(x / y) : x / y;
}

static double truth(double x, double y, bool holds) { return isnan(x) || isnan(y) ? NAN : holds; }

#define EACH(value)                                                                                \
    for (int i = 0; i < n; i++) {                                                                  \
        const double a = x->v[i], b = y->v[i];                                                     \
        x->v[i] = (value);                                                                         \
    }                                                                                              \
    break

/* x becomes x op y. */
static void binary(at_op op, lanes *x, const lanes *y, int n) {
    const bool whole = x->whole && y->whole;
    x->whole = whole;
    switch (op) {
    case AT_X_ADD: EACH(a + b);
    case AT_X_SUB: EACH(a - b);
    case AT_X_MUL: EACH(a * b);
    case AT_X_DIV: EACH(quotient(a, b, whole));
    case AT_X_MOD: EACH(b == 0 ? NAN : a - b * floor(a / b));
    case AT_X_MIN: EACH(isnan(a) || isnan(b) ? NAN : fmin(a, b));
    case AT_X_MAX: EACH(isnan(a) || isnan(b) ? NAN : fmax(a, b));
    case AT_X_BIT_AND:
    case AT_X_BIT_OR:
    case AT_X_SHIFT_LEFT:
    case AT_X_SHIFT_RIGHT: EACH(of_bits(op, a, b, whole));
    default: x->whole = true;
    }
    switch (op) {
    case AT_X_LT: EACH(truth(a, b, a < b));
    case AT_X_LE: EACH(truth(a, b, a <= b));
    case AT_X_GT: EACH(truth(a, b, a > b));
    case AT_X_GE: EACH(truth(a, b, a >= b));
    case AT_X_EQ: EACH(truth(a, b, a == b));
    case AT_X_NE: EACH(truth(a, b, a != b));
    /* What the first decides alone, the second is not asked. */
    case AT_X_AND: EACH(isnan(a) || a == 0 ? a : truth(b, b, b != 0));
    case AT_X_OR: EACH(isnan(a) ? a : a != 0 ? 1 : truth(b, b, b != 0));
    default: break;
    }
}

static void choose(job *j, const at_expr *e, lanes *out) {
    lanes no;
    lanes chosen;
    work_out(j, e->arg[0], &chosen);
    if (!chosen.varies || j->n == 1) {
        if (isnan(chosen.v[0])) *out = chosen;
        else work_out(j, e->arg[chosen.v[0] != 0 ? 1 : 2], out);
        return;
    }
    work_out(j, e->arg[1], out);
    work_out(j, e->arg[2], &no);
    j->is_mixed |= out->whole != no.whole;
    spread(out, j->n);
    spread(&no, j->n);
    for (int i = 0; i < j->n; i++)
        if (isnan(chosen.v[i])) out->v[i] = NAN;
        else if (chosen.v[i] == 0) out->v[i] = no.v[i];
}

/* "false && ..." is false, whatever follows. */
static bool is_decided(at_op op, lanes *x) {
    if ((op != AT_X_AND && op != AT_X_OR) || x->varies) return false;
    if (!isnan(x->v[0]) && (x->v[0] != 0) != (op == AT_X_OR)) return false;
    x->v[0] = truth(x->v[0], x->v[0], x->v[0] != 0);
    x->whole = true;
    return true;
}

static void work_out(job *j, const at_expr *e, lanes *out) {
    lanes y;
    *j->work += 1;
    out->varies = false;
    switch (e->op) {
    case AT_X_INT: out->v[0] = (double)e->integer, out->whole = true; return;
    case AT_X_FLOAT: out->v[0] = e->number, out->whole = e->number == floor(e->number); return;
    case AT_X_NAME: read_leaf(j, &j->q->leaves.data[e->ref], out); return;
    case AT_X_SELECT: choose(j, e, out); return;
    default: break;
    }
    work_out(j, e->arg[0], out);
    if (is_decided(e->op, out)) return;
    int n = out->varies ? j->n : 1;
    if (e->nargs == 1) {
        for (int i = 0; i < n; i++)
            out->v[i] = e->op == AT_X_NEG ? -out->v[i] : truth(out->v[i], 0, out->v[i] == 0);
        out->whole |= e->op == AT_X_NOT;
        return;
    }
    work_out(j, e->arg[1], &y);
    if (out->varies || y.varies) {
        spread(out, j->n);
        spread(&y, j->n);
    }
    n = out->varies ? j->n : 1;
    *j->work += n / 2;
    binary(e->op, out, &y, n);
}

/* The knob that counts only where the condition holds has its first value elsewhere. */
static bool is_first(const job *j, int i) {
    const int active = j->q->active_knob;
    return active >= 0 && (active == j->open ? j->values[i] : j->digits[active]) == 0;
}

static void ask(job *j, bool *holds) {
    lanes x;
    j->is_mixed = false;
    work_out(j, j->q->expr, &x);
    if (!x.varies) spread(&x, j->n);
    for (int i = 0; i < j->n; i++) holds[i] = (!isnan(x.v[i]) && x.v[i] != 0) || is_first(j, i);
}

void at_requirement_lanes(const at_requirement *q, const int64_t *digits, int open,
                          const int64_t *values, int n, bool *holds, int64_t *work) {
    job j = {q, digits, open, n, values, false, work};
    ask(&j, holds);
    for (int i = 0; i < n && j.is_mixed; i++) {
        job one = {q, digits, open, 1, values + i, false, work};
        ask(&one, holds + i);
    }
}

bool at_requirement_holds(const at_requirement *q, const int64_t *digits) {
    bool holds;
    int64_t work = 0;
    at_requirement_lanes(q, digits, -1, NULL, 1, &holds, &work);
    return holds;
}
