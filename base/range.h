/* base/range.h: where numbers lie, from lo to hi; either may be infinite, the numbers are not. */
#ifndef AT_RANGE_H
#define AT_RANGE_H

typedef struct at_range {
    double lo, hi;
} at_range;

/* The least range that holds both, and where products of a number of either lie. */
at_range at_range_hull(at_range x, at_range y);
at_range at_range_product(at_range x, at_range y);
/* Of integers: where the bits are that two have in common, or that either has, and what is left of
 * them behind so many bits. */
at_range at_range_and(at_range x, at_range y);
at_range at_range_or(at_range x, at_range y);
at_range at_range_shifted(at_range x, int bits);

#endif
