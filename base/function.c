/* base/function.c: the functions of function.def; reciprocals that are exact. */
#include "base/base.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ANGLE 131072 /* sines of larger ones are none */

static const struct row {
    const char *name;
    int ulps;
} rows[] = {
#define AT_FUNCTION(id, name, value, ulps) {#name, ulps},
#include "base/function.def"
#undef AT_FUNCTION
};
_Static_assert(sizeof rows / sizeof *rows == AT_FUNCTION_COUNT, "a row per function");

const char *at_function_name(at_function f) { return rows[f].name; }

int at_function_ulps(at_function f) { return rows[f].ulps; }

int at_function_find(const char *name) {
    for (int i = 0; i < AT_FUNCTION_COUNT; i++)
        if (!strcmp(rows[i].name, name)) return i;
    return -1;
}

/* The float of 16 bits whose bits are the integer x. */
static double of_half(double x) {
    const int bits = (int)nearbyint(x > 0 ? fmin(x, 65535) : 0);
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits >> 15 ? -1 : 1;
    if (exponent == 31) return fraction ? NAN : sign * INFINITY;
    return sign * ldexp(exponent ? fraction + 1024 : fraction, (exponent ? exponent : 1) - 25);
}

/* The float of 16 bits that is nearest, halves to the even one; infinite beyond the largest. */
static double nearest(double x, at_type of) {
    const int digits = of == AT_F16 ? 11 : 8, least = of == AT_F16 ? -13 : -125;
    const double beyond = of == AT_F16 ? 65520 : 0x1.ffp127;
    int exponent;
    if (!isfinite(x) || fabs(x) >= beyond) return x * INFINITY;
    frexp(x, &exponent);
    if (exponent < least || x == 0) exponent = least;
    return ldexp(nearbyint(ldexp(x, digits - exponent)), exponent - digits);
}

double at_function_value(at_function f, double x) {
    switch (f) {
#define AT_FUNCTION(id, name, value, ulps)                                                         \
    case AT_FUNCTION_##id:                                                                         \
        return value;
#include "base/function.def"
#undef AT_FUNCTION
    case AT_FUNCTION_COUNT: break;
    }
    AT_BUG("function %d has no value", f);
}

double at_exact_reciprocal(double number) {
    enum { MOST = 126 }; /* both are normal numbers */
    int exponent;
    if (fabs(frexp(number, &exponent)) != 0.5) return 0;
    return abs(exponent - 1) <= MOST ? 1 / number : 0;
}
