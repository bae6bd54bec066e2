/* cost/estimate_tile_int.h: the tile of a sum, cut into parts. */
#ifndef AT_COST_ESTIMATE_TILE_INT_H
#define AT_COST_ESTIMATE_TILE_INT_H

#include "cost/estimate_int.h"

enum { MOST_OVERLAPS = 4 };
typedef struct est_overlap { /* what the steps of a loop of the sum read, of which the next row
                                reads some */
    int64_t step[MAX_READS];
    double turns;
    bool is_loop; /* of a few turns, which is unrolled where each of them is short */
} est_overlap;

typedef struct est_tile { /* of a sum */
    const est_leaf *x;
    int root; /* its first loop */
    at_part part[AT_PARTS_MAX];
    int which[AT_PARTS_MAX], num_parts;    /* loops */
    unsigned uncut;                        /* bits: parts that stay whole */
    int64_t other;                         /* registers along what is not cut */
    int together;                          /* sums that each have such registers */
    bool is_beside;                        /* another of them has the calls */
    bool in_blocks;                        /* it stands in a loop of its own sum, over tiles */
    double steps, again;                   /* of the sum; of the loops that are no registers */
    double width;                          /* elements of a register */
    double share;                          /* of the steps that count */
    double each, ends;                     /* operations of a step, and behind the sum */
    double slower;                         /* times: of vectors whose elements lie apart */
    double least_ns;                       /* of a step */
    double memory_ns;                      /* of a multiply-add, where sums are kept in memory */
    int64_t step[MAX_READS][AT_PARTS_MAX]; /* elements that an access moves in the part's loop, */
    est_overlap overlap[MOST_OVERLAPS];    /* loops of the sum that are unrolled, outer first */
    int num_overlaps;
    double end_ns;      /* of a call: where its sum ends */
    double per_term;    /* times: a multiply-add of the machine's table */
    double peak_ns;     /* of a multiply-add */
    unsigned grouped;   /* bits: parts whose loop has sums inside it, the rows of a turn of which */
    double group_steps; /* are a group that is summed up by itself, in so many steps */
    bool is_paired;     /* both factors of its terms are vectors */
    bool is_dynamic;    /* it goes over a list */
    bool goes_on;       /* the next call adds to what this one stores */
    bool is_shifted;    /* where a vector's elements lie is worked out for each */
} est_tile;

/* estimate_part.c: all parts of tiles that are run so often: whole ones and those left over. far:
 * share of the vectors that come from L2. Adds to e->out, but for the time. */
double est_parts_ns(at_estimator *e, const est_tile *t, double calls, double far);

/* estimate_cold.c: what lines of a vector that come from beyond the second-level cache add to a sum
 * that takes so long without them. lines: that come in a run where all else is hot; is_one: its
 * tile has one part. */
double est_beyond_ns(const at_estimator *e, const est_leaf *x, const est_access *a, double lines,
                     bool is_one, double sums_ns);

#endif
