/* base/expr.c: expressions with C's operators: made, compared, evaluated over integers. */
#include "base/base.h"

#include <string.h>

bool at_mul64(int64_t a, int64_t b, int64_t *out) { return !__builtin_mul_overflow(a, b, out); }

int64_t at_floordiv(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t at_floormod(int64_t a, int64_t b) {
    int64_t r = a % b;
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}

/* ---- making ---------------------------------------------------------------------------------- */

at_expr *at_expr_new(at_arena *a, at_op op, int nargs, at_expr *const *args) {
    at_expr *e = AT_NEW(a, at_expr);
    e->op = op;
    e->ref = -1;
    e->nargs = nargs;
    if (nargs) e->arg = at_copy(a, args, (size_t)nargs * sizeof *args);
    return e;
}

at_expr *at_expr_int(at_arena *a, int64_t value) {
    at_expr *e = at_expr_new(a, AT_X_INT, 0, NULL);
    e->integer = value;
    return e;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool same_text(const char *x, const char *y) { return x == y || (x && y && !strcmp(x, y)); }

bool at_expr_equal(const at_expr *x, const at_expr *y) {
    if (x == y) return true;
    if (x->op != y->op || x->nargs != y->nargs) return false;
    if (x->integer != y->integer || x->number != y->number) return false;
    if (!same_text(x->name, y->name) || !same_text(x->field, y->field)) return false;
    for (int i = 0; i < x->nargs; i++)
        if (!at_expr_equal(x->arg[i], y->arg[i])) return false;
    return true;
}

/* ---- evaluating ------------------------------------------------------------------------------ */

static at_status eval_fail(const at_expr *e, at_error *err, const char *what) {
    at_text t = {0};
    at_expr_print(&t, e);
    at_status s = at_fail(err, AT_E_INPUT, "%s %s", at_text_str(&t), what);
    at_text_free(&t);
    return s;
}

static at_status eval_binary(const at_expr *e, int64_t x, int64_t y, int64_t *out, at_error *err) {
    bool over = false;
    switch (e->op) {
    case AT_X_ADD: over = __builtin_add_overflow(x, y, out); break;
    case AT_X_SUB: over = __builtin_sub_overflow(x, y, out); break;
    case AT_X_MUL: over = __builtin_mul_overflow(x, y, out); break;
    case AT_X_DIV:
    case AT_X_MOD:
        if (y == 0) return eval_fail(e, err, "divides by zero");
        if (y == -1) { /* the one quotient that does not fit traps */
            over = e->op == AT_X_DIV && __builtin_sub_overflow(0, x, out);
            if (e->op == AT_X_MOD) *out = 0;
        } else {
            *out = e->op == AT_X_DIV ? at_floordiv(x, y) : at_floormod(x, y);
        }
        break;
    case AT_X_LT: *out = x < y; break;
    case AT_X_LE: *out = x <= y; break;
    case AT_X_GT: *out = x > y; break;
    case AT_X_GE: *out = x >= y; break;
    case AT_X_EQ: *out = x == y; break;
    case AT_X_NE: *out = x != y; break;
    case AT_X_MIN: *out = x < y ? x : y; break;
    case AT_X_MAX: *out = x > y ? x : y; break;
    default: AT_BUG("expression operator %d has no value", e->op);
    }
    return over ? eval_fail(e, err, "exceeds 2^63") : AT_OK;
}

at_status at_expr_eval(const at_expr *e, const int64_t *values, int64_t *out, at_error *err) {
    int64_t x, y;
    switch (e->op) {
    case AT_X_INT: *out = e->integer; return AT_OK;
    case AT_X_NAME:
    case AT_X_EXTENT:
    case AT_X_INDEX:
    case AT_X_FIELD:
    case AT_X_FLOAT:
        if (e->ref < 0) return eval_fail(e, err, "is no integer known here");
        *out = values[e->ref];
        return AT_OK;
    case AT_X_NEG:
        AT_TRY(at_expr_eval(e->arg[0], values, &x, err));
        if (__builtin_sub_overflow(0, x, out)) return eval_fail(e, err, "exceeds 2^63");
        return AT_OK;
    case AT_X_NOT:
        AT_TRY(at_expr_eval(e->arg[0], values, &x, err));
        *out = !x;
        return AT_OK;
    case AT_X_AND:
    case AT_X_OR:
        AT_TRY(at_expr_eval(e->arg[0], values, &x, err));
        if (!x == (e->op == AT_X_AND)) {
            *out = e->op == AT_X_OR;
            return AT_OK;
        }
        AT_TRY(at_expr_eval(e->arg[1], values, &x, err));
        *out = x != 0;
        return AT_OK;
    case AT_X_SELECT:
        AT_TRY(at_expr_eval(e->arg[0], values, &x, err));
        return at_expr_eval(e->arg[x ? 1 : 2], values, out, err);
    default:
        AT_TRY(at_expr_eval(e->arg[0], values, &x, err));
        AT_TRY(at_expr_eval(e->arg[1], values, &y, err));
        return eval_binary(e, x, y, out, err);
    }
}
