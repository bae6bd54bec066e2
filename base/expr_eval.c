/* base/expr_eval.c: expressions evaluated over integers. */
#include "base/base.h"

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
    case AT_X_CALL: return eval_fail(e, err, "is no integer: functions are of values");
    default:
        AT_TRY(at_expr_eval(e->arg[0], values, &x, err));
        AT_TRY(at_expr_eval(e->arg[1], values, &y, err));
        return eval_binary(e, x, y, out, err);
    }
}
