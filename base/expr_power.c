/* base/expr_power.c: powers by a number: pow(x, -1.5) is what it is made of, products, roots and
 * quotients, or exp(y*log(x)). */
#include "base/base.h"

#include <math.h>

enum { MOST_PRODUCTS = 32, MOST_NODES = 100 };

static at_expr *node(at_arena *a, at_op op, const at_expr *at, int nargs, at_expr *const *args) {
    at_expr *e = at_expr_new(a, op, nargs, args);
    e->line = at->line;
    e->col = at->col;
    return e;
}

static at_expr *binary(at_arena *a, at_op op, at_expr *x, at_expr *y) {
    return node(a, op, x, 2, (at_expr *[]){x, y});
}

static at_expr *call_of(at_arena *a, at_function f, const at_expr *x) {
    at_expr *e = node(a, AT_X_CALL, x, 1, (at_expr *[]){at_expr_map(a, x, NULL, NULL)});
    e->integer = f;
    return e;
}

static at_expr *number_of(at_arena *a, const at_expr *at, double number) {
    at_expr *e = node(a, AT_X_FLOAT, at, 0, NULL);
    e->number = number;
    return e;
}

/* The n-th power, n >= 1. */
static at_expr *products(at_arena *a, const at_expr *x, int n) {
    if (n == 1) return at_expr_map(a, x, NULL, NULL);
    return binary(a, AT_X_MUL, products(a, x, n - n / 2), products(a, x, n / 2));
}

/* What an exponent says without reading anything: a number, its opposite, a quotient. */
static bool known_number(const at_expr *e, double *out) {
    double x, y;
    if (at_expr_is_number(e)) return *out = at_expr_number(e), isfinite(*out);
    if (e->op == AT_X_NEG && known_number(e->arg[0], &x)) return *out = -x, true;
    if (e->op != AT_X_DIV || !known_number(e->arg[0], &x) || !known_number(e->arg[1], &y))
        return false;
    return *out = x / y, isfinite(*out);
}

/* exp(y*log(x)), where x may be negative if the exponent is whole. */
static at_expr *by_logarithm(at_arena *a, const at_expr *x, double y) {
    const bool is_whole = y == floor(y);
    const at_expr *of = is_whole ? call_of(a, AT_FUNCTION_ABS, x) : x;
    at_expr *size =
        call_of(a, AT_FUNCTION_EXP,
                binary(a, AT_X_MUL, number_of(a, x, y), call_of(a, AT_FUNCTION_LOG, of)));
    if (!is_whole || fmod(y, 2) == 0) return size;
    at_expr *side[3] = {binary(a, AT_X_LT, products(a, x, 1), number_of(a, x, 0)),
                        number_of(a, x, -1), number_of(a, x, 1)};
    return binary(a, AT_X_MUL, node(a, AT_X_SELECT, x, 3, side), size);
}

/* Of an exponent above 0. */
static at_expr *positive_power(at_arena *a, const at_expr *x, double y) {
    const double whole = floor(y);
    if (whole > MOST_PRODUCTS || (y != whole && y != whole + 0.5)) return by_logarithm(a, x, y);
    at_expr *root = y > whole ? call_of(a, AT_FUNCTION_SQRT, x) : NULL;
    if (!(whole > 0)) return root;
    at_expr *all = products(a, x, (int)whole);
    return root ? binary(a, AT_X_MUL, all, root) : all;
}

at_expr *at_expr_power(at_arena *a, const at_expr *x, const at_expr *by, const char **problem) {
    double y;
    if (!known_number(by, &y)) return NULL;
    if (at_expr_nodes(x) > MOST_NODES) {
        *problem = "pow of a long expression: name the expression by where, or make it a stage";
        return NULL;
    }
    if (y == 0) return number_of(a, x, 1);
    if (y == -0.5) return call_of(a, AT_FUNCTION_RSQRT, x);
    at_expr *power = positive_power(a, x, fabs(y));
    return y > 0 ? power : binary(a, AT_X_DIV, number_of(a, x, 1), power);
}
