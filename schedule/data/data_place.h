/* schedule/data/data_place.h: values of a stage at one place, worked out from elements that may be
 * moved (data_place.c), and sums of few terms among these (data_few.c). */
#ifndef AT_SCHEDULE_DATA_PLACE_H
#define AT_SCHEDULE_DATA_PLACE_H

#include "schedule/data/data_int.h"

enum {
    PLACE_ELEMENTS = 12,     /* that a decision and what chooses it read */
    PLACE_WORK = 1 << 13,    /* reads for one decision */
    PLACE_OF_SUMS = 1 << 15, /* the same where it reads sums */
    PLACE_FINEST = 64        /* of the furthest element 2^-PLACE_FINEST: nearer to 0 none is */
};

typedef struct data_few data_few;

/* An element of an input, or a sum. */
typedef struct data_element {
    int tensor;
    int64_t offset;
    double value;
    bool is_fixed;        /* it has a value of its own already, or is given */
    data_few *few;        /* the terms that a sum has; NULL: it is none */
    double lo, hi, grain; /* of a sum: its ends, and what it is a multiple of */
} data_element;

/* What has values already, on one draw. */
typedef struct data_taken data_taken;

/* Numbers of places: the next one, and all that had no element when they were tried. Of these each
 * is tried again in a later round: the next of them, and how many there were as the round began. */
typedef struct data_next {
    int64_t number;
    AT_VEC(int64_t) failed;
    int again, end;
} data_next;

typedef struct data_place data_place;
struct data_place {
    data_ruler *r;
    at_arena *scratch; /* for one place */
    at_draw *draw;
    data_taken *taken;
    int round;       /* in which the places have their elements */
    int number;      /* of the decision: each begins at another place */
    int64_t *placed; /* [number] places with elements, in this round and those before */
    data_next *next; /* of each kind of them */
    int decisions;   /* of the computation */
    int served;      /* places that count, of the first round */
    int count;       /* which of all places it is, in all rounds */
    int64_t *moved;  /* [tensor] elements that were placed in this round */
    int share;       /* all decisions together place at most one of so many elements of a tensor */
    int stage;
    int64_t axis[AT_RECURRENCE_AXES];
    data_element elements[PLACE_ELEMENTS];
    int num, reads, work, all_work; /* all_work: of the decisions before */
    bool is_open;       /* it reads what cannot be moved, or more than may keep its value */
    bool sees_rounding; /* is_rounded: some float that was worked out is another one in 32 bits */
    bool is_rounded;
    bool calls;     /* and a function was called, */
    double largest; /* how large values were at most, */
    int operations; /* and of how many */
    /* A sum as an element; false: it is none. NULL: no sum is. */
    bool (*read_sum)(data_place *p, int stage, const int64_t *index, data_element *out);
    /* Within a sum, the value of an element that is no stage's. NULL: it is not within one. */
    double (*read_in)(const data_few *of, int tensor, int64_t offset);
    const data_few *of;
};

/* An element of an input as it is on the draw now. */
data_element data_place_element(const data_place *p, int tensor, int64_t offset);
/* false: it cannot be worked out. */
bool data_place_value(data_place *p, const at_expr *e, double *out);
/* The nearest value that an element may have, between which two these lie, and how far apart such
 * values are; 0: they are floats. */
double data_place_nearest(const data_place *p, const data_element *x, double value);
void data_place_ends(const data_place *p, const data_element *x, double *lo, double *hi);
double data_place_grain(const data_place *p, const data_element *x);

/* May more of the tensor's elements be placed? What else a kernel makes of it is seen in the
 * others. The decisions share these. */
bool data_place_may_move(const data_place *p, int tensor);
/* Puts the elements of the place, sums aside, which are taken then. */
void data_place_put(data_place *p);
void data_place_put_one(data_place *p, at_placed one);

/* In a round. */
data_taken *data_taken_new(const data_ruler *r, at_draw *draw, int round);
bool data_is_in(const at_placed *run, int64_t offset);
/* Is any element of a run? */
bool data_taken_any(const data_taken *taken, const at_placed *run);
void data_take(data_taken *taken, at_placed one);

/* ---- sums of few terms (data_few.c) ---------------------------------------------------------- */

/* The sum at this place, of which the terms are 0 by the elements of one tensor, this one or, -1,
 * any, but for few, whose elements may be chosen; NULL: there is no such tensor. */
data_few *data_few_new(data_place *p, int stage, const int64_t *index, int tensor);
/* data_place.read_sum: near to 0 more often than far from it. */
bool data_few_read(data_place *p, int stage, const int64_t *index, data_element *out);
/* Chooses the elements; false: none make it this sum. */
bool data_few_make(data_few *f, double sum);
void data_few_put(data_few *f);

#endif
