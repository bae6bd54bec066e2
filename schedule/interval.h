/* schedule/interval.h: bounds of integer expressions of a stage while its axes run over a box, with
 * the conditions that guard them. At a box of one point they are exact. */
#ifndef AT_INTERVAL_H
#define AT_INTERVAL_H

#include "schedule/schedule_int.h"

typedef struct interval {
    int64_t lo, hi;
    bool exceeds; /* something on the way may leave 64 bits: lo and hi say nothing */
} interval;

/* Values of the axes: lo .. hi, both included. */
typedef struct box {
    int64_t lo[MAX_AXES], hi[MAX_AXES];
} box;

/* A sum of multiples of expressions, and a constant. Lowering has affine forms of its own
 * (codegen/affine.h): what it is given has been verified, so its numbers stay within 64 bits, and
 * its terms are loops. Here any expression may be a term and any number too large, and nothing is
 * allocated: verifying takes microseconds. */
enum { MAX_TERMS = 12 };
typedef struct linear {
    int64_t constant;
    int n; /* -1: it has too many terms, or numbers that are too large */
    struct {
        int64_t factor;
        const at_expr *of;
    } term[MAX_TERMS];
} linear;

/* A condition that holds, or does not, where an expression is evaluated. */
enum { MAX_BOUNDS = 8 };
typedef struct guard guard;
struct guard {
    const guard *outer; /* NULL: none */
    const at_expr *condition;
    bool holds;
    int num_bounds; /* what follows of it: these are at least 0 */
    linear bound[MAX_BOUNDS];
};

/* Of stages of integers, by their arithmetic alone (whole.c); those of index tensors are known. */
void at_whole_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                     int64_t *const *extents, interval *of);

typedef struct bounder {
    const at_compute *compute;
    const int64_t *values;
    int64_t *const *extents;
    const at_data *data; /* NULL: there is none */
    interval *of_index;  /* [tensor] of elements that are indices */
    int stage;
    int64_t steps, most_steps; /* of work done, and allowed: beyond them all is unknown */
} bounder;

/* Borrows all of it; data may be NULL, also that of single tensors. Bounds of entries mean nothing
 * once *stop (may be NULL) is set. */
bounder bounder_of(at_arena *a, const at_compute *c, const int64_t *values, int64_t *const *extents,
                   const at_data *data, const volatile int *stop);
/* Of an integer expression of the stage in hand. */
interval interval_of(bounder *b, const box *at, const guard *g, const at_expr *e);
/* What a condition of it can be; both, where values decide. */
enum { CAN_FAIL = 1, CAN_HOLD = 2 };
int truth_of(bounder *b, const box *at, const guard *g, const at_expr *condition);
void guard_init(bounder *b, guard *g, const guard *outer, const at_expr *condition, bool holds);

#endif
