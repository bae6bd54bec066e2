/* cost/estimate_terms.h: which terms of a sum count, where conditions leave some out. */
#ifndef AT_COST_ESTIMATE_TERMS_H
#define AT_COST_ESTIMATE_TERMS_H

#include "base/base.h"

/* Places along an axis that conditions are asked at: all of a short one; of a long one those near
 * its ends, and some between that stand for their neighbours. */
typedef struct est_places {
    int num;
    int64_t *at;    /* [num], upwards */
    double *number; /* [num] of places that it stands for, itself included */
} est_places;

/* Where a stage's terms count along one of its axes. */
enum { MAX_BORDERS = 4, EST_FEWER = 2, EST_WIDTHS = 16 };
typedef struct est_border {
    int axis;
    uint32_t asked;    /* bits: axes that the conditions along it are of */
    int64_t num;       /* places along it */
    est_places places; /* of these, those asked */
    int terms;         /* combinations of what is summed over that were asked */
    double *number;    /* [terms] of combinations that each stands for */
    double apart;      /* share of terms that count at one of two places in its middle alone */
    double *holds; /* [places][terms] in how many places of the other axes a term counts there */
    struct {
        int64_t width, step; /* of blocks; 0: none is kept here */
        double share;        /* of (block, term), those with any */
    } kept[EST_WIDTHS];
    struct {
        double number,
            size;       /* of the places; of the terms that count elsewhere, that count there */
    } fewer[EST_FEWER]; /* places where fewer terms count; number 0: none */
} est_border;

/* Which of a stage's terms count, in one tree with one set of numbers. */
typedef struct est_terms {
    const struct est_terms *next; /* of the same stage's in others */
    uint64_t hash;                /* of the next three */
    const bool *dissolved;        /* the tree's: whose conditions the stage has as its own */
    const int64_t *extent;        /* of the stage's axes and of what it sums over */
    int64_t *sizes;               /* of those that may be asked: values */
    double share;                 /* of the terms that count */
    est_border *borders;          /* [MAX_BORDERS] */
    int num_borders;
} est_terms;

/* estimate_terms.c: share of blocks of so many places, `step` apart, with each term, in which any
 * counts. */
double est_share_along(est_border *b, double width, int64_t step);

#endif
