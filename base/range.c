/* base/range.c: see range.h. */
#include "base/range.h"

#include <math.h>

at_range at_range_hull(at_range x, at_range y) {
    return (at_range){fmin(x.lo, y.lo), fmax(x.hi, y.hi)};
}

/* Nothing times whatever number is nothing. */
static double times(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

at_range at_range_product(at_range x, at_range y) {
    const double a = times(x.lo, y.lo), b = times(x.lo, y.hi), c = times(x.hi, y.lo),
                 d = times(x.hi, y.hi);
    return (at_range){fmin(fmin(a, b), fmin(c, d)), fmax(fmax(a, b), fmax(c, d))};
}
