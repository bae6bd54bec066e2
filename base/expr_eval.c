/* base/expr_eval.c: expressions evaluated over integers. */
#include "base/base.h"

static at_status eval_fail(const at_expr *e, at_error *err, const char *what) {
    at_text t = {0};
    at_expr_print(&t, e);
    at_status s = at_fail(err, AT_E_INPUT, "%s %s", at_text_str(&t), what);
    at_text_free(&t);
    return s;
}

bool at_expr_binary(at_op op, int64_t x, int64_t y, int64_t *out) {
    switch (op) {
    case AT_X_ADD: return !__builtin_add_overflow(x, y, out);
    case AT_X_SUB: return !__builtin_sub_overflow(x, y, out);
    case AT_X_MUL: return !__builtin_mul_overflow(x, y, out);
    case AT_X_DIV:
        if (y == -1) return !__builtin_sub_overflow(0, x, out); /* the machine's would trap */
        *out = y ? at_floordiv(x, y) : 0;
        return y != 0;
    case AT_X_MOD: *out = y && y != -1 ? at_floormod(x, y) : 0; return y != 0;
    case AT_X_LT: *out = x < y; return true;
    case AT_X_LE: *out = x <= y; return true;
    case AT_X_GT: *out = x > y; return true;
    case AT_X_GE: *out = x >= y; return true;
    case AT_X_EQ: *out = x == y; return true;
    case AT_X_NE: *out = x != y; return true;
    case AT_X_AND: *out = x && y; return true;
    case AT_X_OR: *out = x || y; return true;
    case AT_X_MIN: *out = x < y ? x : y; return true;
    case AT_X_MAX: *out = x > y ? x : y; return true;
    case AT_X_BIT_AND: *out = x & y; return true;
    case AT_X_BIT_OR: *out = x | y; return true;
    case AT_X_SHIFT_LEFT:
        return y >= 0 && y < 63 && !__builtin_mul_overflow(x, (int64_t)1 << y, out);
    case AT_X_SHIFT_RIGHT: *out = y >= 0 ? x >> (y < 63 ? y : 63) : 0; return y >= 0;
    default: return false;
    }
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
    case AT_X_TEXT:
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
        if (at_expr_binary(e->op, x, y, out)) return AT_OK;
        if (e->op == AT_X_SHIFT_RIGHT || (e->op == AT_X_SHIFT_LEFT && y < 0))
            return eval_fail(e, err, "shifts by less than 0");
        return eval_fail(e, err, y ? "exceeds 2^63" : "divides by zero");
    }
}
