/* base/expr.c: expressions with C's operators: made and compared; integer division. */
#include "base/base.h"

#include <string.h>

int64_t at_floordiv(int64_t a, int64_t b) {
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t at_floormod(int64_t a, int64_t b) {
    int64_t r = a % b;
    return r + (r != 0 && (r < 0) != (b < 0) ? b : 0);
}

int64_t at_gcd(int64_t a, int64_t b) {
    uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a, y = b < 0 ? -(uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (int64_t)x;
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

at_expr *at_expr_name(at_arena *a, const char *name) {
    at_expr *e = at_expr_new(a, AT_X_NAME, 0, NULL);
    e->name = name;
    return e;
}

at_expr *at_expr_read(at_arena *a, const char *tensor, int n, at_expr *const *index) {
    at_expr *e = at_expr_new(a, AT_X_INDEX, n, index);
    e->name = tensor;
    return e;
}

at_expr *at_expr_pair(at_arena *a, at_op op, at_expr *x, at_expr *y) {
    return at_expr_new(a, op, 2, (at_expr *[]){x, y});
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool at_expr_equal(const at_expr *x, const at_expr *y) {
    if (x == y) return true;
    if (x->op != y->op || x->nargs != y->nargs) return false;
    if (x->integer != y->integer || x->number != y->number) return false;
    if (!at_same_text(x->name, y->name) || !at_same_text(x->field, y->field)) return false;
    for (int i = 0; i < x->nargs; i++)
        if (!at_expr_equal(x->arg[i], y->arg[i])) return false;
    return true;
}

bool at_expr_same(const at_expr *x, const at_expr *y) {
    if (x == y) return true;
    if (x->op != y->op || x->ref != y->ref || x->nargs != y->nargs || x->integer != y->integer ||
        x->number != y->number)
        return false;
    for (int i = 0; i < x->nargs; i++)
        if (!at_expr_same(x->arg[i], y->arg[i])) return false;
    return true;
}
