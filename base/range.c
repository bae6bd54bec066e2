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

/* The integers of as many bits as these take. */
static at_range same_bits(at_range x) {
    const double most = fmax(x.hi, -x.lo - 1);
    double bits = 1;
    while (bits <= most) bits *= 2;
    return (at_range){x.lo < 0 ? -bits : 0, bits - 1};
}

at_range at_range_and(at_range x, at_range y) {
    if (x.lo < 0 && y.lo < 0) return same_bits(at_range_hull(x, y));
    return (at_range){0, x.lo < 0 ? y.hi : y.lo < 0 ? x.hi : fmin(x.hi, y.hi)};
}

at_range at_range_or(at_range x, at_range y) {
    const at_range all = same_bits(at_range_hull(x, y));
    return (at_range){x.lo < 0 || y.lo < 0 ? all.lo : fmax(x.lo, y.lo), all.hi};
}

at_range at_range_shifted(at_range x, int bits) {
    return (at_range){floor(ldexp(x.lo, -bits)), floor(ldexp(x.hi, -bits))};
}
