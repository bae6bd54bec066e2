/* schedule/reduction.c: what a stage makes one element of many terms with. */
#include "schedule/schedule_int.h"

#include <math.h>
#include <string.h>

static const struct row {
    const char *name;
    float neutral;
} rows[] = {
    [AT_REDUCE_SUM] = {"sum", 0},
    [AT_REDUCE_MAX] = {"max", -INFINITY},
    [AT_REDUCE_MIN] = {"min", INFINITY},
    [AT_REDUCE_PROD] = {"prod", 1},
};
_Static_assert(sizeof rows / sizeof *rows == AT_REDUCE_COUNT, "a row per reduction");

const char *at_reduction_name(at_reduction r) { return rows[r].name; }

float at_reduction_neutral(at_reduction r) { return rows[r].neutral; }

double at_reduction_neutral_of(at_reduction r, at_type t) {
    const at_type_facts *type = at_type_of(t);
    if (!type->is_int || !at_reduction_is_extreme(r)) return rows[r].neutral;
    return r == AT_REDUCE_MAX ? type->least : type->most;
}

at_expr *neutral_expr(at_arena *a, at_reduction r) {
    if (!isinf(rows[r].neutral)) return at_expr_int(a, (int64_t)rows[r].neutral);
    at_expr *inf = at_expr_name(a, "inf");
    return rows[r].neutral > 0 ? inf : at_expr_new(a, AT_X_NEG, 1, &inf);
}

bool at_reduction_is_extreme(at_reduction r) { return r == AT_REDUCE_MAX || r == AT_REDUCE_MIN; }

int at_reduction_find(const char *name) {
    for (int i = 0; i < AT_REDUCE_COUNT; i++)
        if (!strcmp(rows[i].name, name)) return i;
    return -1;
}

double at_reduction_join(at_reduction r, double term, double partial) {
    switch (r) {
    case AT_REDUCE_SUM: return partial + term;
    case AT_REDUCE_MAX: return term > partial ? term : partial;
    case AT_REDUCE_MIN: return term < partial ? term : partial;
    case AT_REDUCE_PROD: return partial * term;
    case AT_REDUCE_COUNT: break;
    }
    AT_BUG("reduction %d", r);
}

const char *at_reduction_c(at_reduction r, at_arena *a, const char *term, const char *partial) {
    switch (r) {
    case AT_REDUCE_SUM: return at_format(a, "%s += %s;", partial, term);
    case AT_REDUCE_PROD: return at_format(a, "%s *= %s;", partial, term);
    default:
        return at_format(a, "%s = %s %c %s ? %s : %s;", partial, term,
                         r == AT_REDUCE_MAX ? '>' : '<', partial, term, partial);
    }
}

const char *at_reduction_start_c(at_reduction r) {
    static const char *const texts[] = {"0", "-1.0f / 0.0f", "1.0f / 0.0f", "1"};
    return texts[r];
}

double at_extreme(bool is_max, double x, double y) {
    const double nothing = is_max ? -(double)INFINITY : (double)INFINITY;
    if (isnan(x)) x = nothing;
    if (isnan(y)) y = nothing;
    return is_max == (x > y) ? x : y;
}

const char *at_extreme_first_c(at_arena *a, bool is_max, const char *x, const char *y) {
    return at_format(a, "(%1$s %3$c %2$s || (%2$s != %2$s && %1$s == %1$s))", x, y,
                     is_max ? '>' : '<');
}

const char *at_extreme_c(at_arena *a, bool is_max, const char *x, const char *y) {
    return at_format(a, "%s ? %s : %s == %s ? %s : %s", at_extreme_first_c(a, is_max, x, y), x, y,
                     y, y, at_reduction_start_c(is_max ? AT_REDUCE_MAX : AT_REDUCE_MIN));
}
