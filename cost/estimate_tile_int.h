/* cost/estimate_tile_int.h: the tile of a sum, cut into parts; what the accesses of a leaf touch,
 * and how often they come to it again. */
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
    int64_t lane;                          /* elements from one lane to the next of a row's */
    unsigned in_lanes;                     /* bits: parts whose turns are a vector's lanes */
    int together;                          /* sums that each have such registers */
    bool is_beside;                        /* another of these sums has the calls */
    bool in_blocks;                        /* it stands in a loop of its own sum, over tiles */
    double steps, again;                   /* of the sum; of the loops that are no registers */
    double turns;                          /* of loops around it that a call has */
    double width;                          /* elements of a register */
    double share;                          /* of the steps that count */
    double each, ends;                     /* operations of a step, and behind the sum */
    double apart;                          /* moves and stores behind the sum, one by one */
    est_works works;                       /* of a term, beside multiply-adds; time: of a step */
    unsigned worked[EST_WORKS];            /* bits: parts along which each is another */
    double slower;                         /* times: of vectors whose elements lie apart */
    double least_ns;                       /* of a step */
    double memory_ns;                      /* of a multiply-add, where sums are kept in memory */
    double cut_ns;                         /* what a step waits for masks of the one before */
    int64_t step[MAX_READS][AT_PARTS_MAX]; /* elements that an access moves in the part's loop, */
    est_overlap overlap[MOST_OVERLAPS];    /* loops of the sum that are unrolled, outer first */
    int num_overlaps;
    double end_ns;    /* of a call: where its sum ends */
    double per_term;  /* times: a multiply-add of the machine's table */
    double peak_ns;   /* of a multiply-add */
    unsigned grouped; /* bits: parts whose loop has sums inside it: the rows of one of its turns */
    double group_steps;         /* are a group, which is summed up by itself in so many steps */
    bool is_paired;             /* both factors of its terms are vectors */
    bool lanes_sum;             /* its lanes lie along the sum, and are added up at its end */
    int vectors;                /* the access whose vectors may come from L2; -1: none */
    bool is_dynamic;            /* it goes over a list */
    bool goes_on;               /* the next call adds to what this one stores */
    bool is_shifted;            /* where a vector's elements lie is worked out for each */
    const est_border *diagonal; /* along rows; NULL: no border is a diagonal */
    int diagonal_part;          /* whose turns are its rows */
    double diagonal_block;      /* terms of each block along it; 0: there are no blocks */
} est_tile;

/* Share of the turns of loops along an axis, from one loop on, that its elements have. */
static inline double est_share_of_axis(const at_program *p, const est_leaf *x, int axis, int from) {
    const double extent = (double)p->extents[x->node->tensor][axis];
    double turns = 1;
    for (int i = from; i < x->num_loops; i++)
        if (x->loop[i].axis == axis) turns *= x->loop[i].turns;
    return extent > 0 && turns > extent ? extent / turns : 1;
}

static const double est_address_ns = 2.2; /* of an element that is found by divisions */

/* A multiply-add of a vector, of a tile of many rows. */
static inline double est_least_ns(const at_estimator *e) {
    return (double)e->speeds.step_ns[0][AT_SPEED_ROWS - 1] / AT_SPEED_ROWS;
}

/* estimate_access.c: what an element takes, with what dissolved stages that are read do. */
const est_works *est_worked_out(at_estimator *e, const at_program *p, int tensor);
/* Bits: axes in an index that has a bound, there or in what dissolved stages read. */
uint32_t est_bounded(at_estimator *e, const at_program *p, int tensor);
/* Turns of a tile's loops of a sum, or of its others, that none of the axes is in; of a vector one
 * for so many elements. */
double est_turns_alike(const est_leaf *x, int root, bool sums, uint32_t axes, int lanes);

/* estimate_sum.c: the tile of the sum whose first loop in it is `root`, but for the sizes of parts;
 * end: the leaf that goes over its results, or NULL. */
void est_tile_of(at_estimator *e, const at_program *p, const est_leaf *x, const est_leaf *end,
                 int root, est_tile *out);

/* estimate_calls.c: loops of a leaf become loops over its parts: a loop that is cut stays around,
 * as the loop over its `num` parts, from root on, the first of them outermost. NULL: no loop is
 * cut.
 */
est_leaf *est_cut(at_estimator *e, const est_leaf *whole, int root, const at_part *parts,
                  const double *num, const int *which, int n);

/* estimate_part.c: all parts of tiles that run so often: whole parts and what is left over. far:
 * share of the vectors that come from L2. Adds to e->out, but for the time. */
double est_parts_ns(at_estimator *e, const est_tile *t, double calls, double far);

/* estimate_memory.c: the time that lines from beyond the second-level cache add to a sum, which
 * takes sums_ns without them. lines: the lines of a run in which all else is hot; asked: those that
 * steps of the sum read, near or far; is_one: the sum's tile has one part. */
double est_beyond_ns(const at_estimator *e, const est_leaf *x, const est_access *a, double lines,
                     double asked, bool is_one, double sums_ns);

/* ---- what accesses touch --------------------------------------------------------------------- */

enum { MOST_SMALL = 4 };
typedef struct small_turns { /* of a loop, that touch less than the others: at the end of an axis,
                                or where few terms count */
    int loop, axis;          /* axis: only what moves along it is less; -1: everything */
    double size;             /* of what they touch, of the others' */
    double number;           /* of all turns */
} small_turns;

typedef struct touched {       /* bytes, a line at least each time */
    double own[MAX_LOOPS + 1]; /* by the leaf, in loops from one on */
    double all[MAX_LOOPS + 1]; /* the same with what others touch in these loops */
    struct {
        double bytes[MAX_LOOPS + 1];
        int shared;       /* loops, with the leaf */
    } beside[MAX_LEAVES]; /* the same of other leaves, but for what the leaf itself touches */
    int num_beside;
    int together[MAX_READS];     /* of each access: loops shared with others that touch the same */
    double turns[MAX_LOOPS + 1]; /* of the loops before each */
    int beyond[MAX_LOOPS];       /* axes whose loops go beyond their ends */
    int num_beyond;
    small_turns small[MOST_SMALL];
    int num_small;
} touched;

/* piled: lines that pile up in a few places of a cache count as if they did so in all. */
static inline double est_bytes(const est_access *a, int from, bool piled) {
    return piled ? a->crowd[from] : EST_LINE_BYTES * a->lines[from];
}

/* estimate_reuse.c: sets turns, beyond and small. */
void est_count_turns(const est_leaf *x, touched *t);
/* Share of the turns of loops before `once` in which any term counts that touches the same. */
double est_share_of_turns(const est_leaf *x, const est_access *a, int once);
/* Share of what loops from one on touch that terms which count read, as of rows and columns on one
 * side of a diagonal. */
double est_share_of_lines(const est_leaf *x, const est_access *a, int from);
/* Is there an access that goes along the border and along its terms in dimensions of their own, as
 * a matrix of which a diagonal leaves a part out? */
bool est_is_diagonal(const est_leaf *x, const est_border *b);
/* How far an access was followed outwards for one size of the caches, to be gone on from for a
 * larger one. Begins with no loop: once and moving are the leaf's loops. */
typedef struct est_scan {
    int once;      /* loops from here on: each line comes once */
    int moving;    /* the first of them in which most lines are others */
    double window; /* bytes between two touches in the loop before `once`, where that is known */
    /* Where some of the lines in loops from here on are still there, and others are not: bytes
     * between two touches of the latter (0: there is no such place), and how many the former are.
     */
    int some;
    double window_of_some, stay;
    bool is_known;
} est_scan;

/* Lines of an access that come anew into a cache of that size. shared: loops,
 * with others that touch the same. */
double est_fetched(const at_estimator *e, const est_leaf *x, const est_access *a, const touched *t,
                   int shared, double size, bool piled, est_scan *scan);

#endif
