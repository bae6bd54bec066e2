/* schedule/data/data.h: which data a computation is checked on. They are chosen so that every
 * operation matters: a kernel that leaves one out is to give something else. */
#ifndef AT_SCHEDULE_DATA_H
#define AT_SCHEDULE_DATA_H

#include "schedule/schedule.h"

/* What the elements of an input or weight are drawn from: whole numbers from lo to hi times unit, a
 * number of few bits; where no sum is exact, any numbers between these ends. Of AT_LEAST_MOVING
 * whole numbers and more none stands beside itself, so that a neighbour is not taken for it. row >
 * 0: so many elements are a row, and `rows` rows (0: 7) lie from -3 to 3 times `apart` units away,
 * or so much further as there are more, one after the other, and begin again; or, of 7, if it is
 * mixed, so that of two rows one lies below. Integers have the numbers of their type
 * (at_data_wholes); with a unit below 1 only those about the centre. */
enum { AT_LEAST_MOVING = 4 };
typedef struct at_fill {
    double lo, hi, unit, apart, centre;
    int64_t row, rows;
    bool is_mixed;
    bool has_powers; /* every fourth of numbers above 0 that are not whole is a power of two: its
                        products with whole numbers may be halves, whose rounding is seen */
    /* Above 0, of numbers that are not whole: every other element is a multiple of grain, or is
     * `power`, a power of two, so that what is rounded lies half between two numbers at times. */
    double grain, power;
    bool has_0; /* else none of the whole numbers is, since what is multiplied by it does not matter
                 */
    /* Of integers and entries: so many of the least, and of the most, of the different numbers are
     * left to elements that are placed. */
    int spared_least, spared_most;
    int64_t step; /* of integers; above 0: they are the centre, and so much less or more */
    int coarse;   /* of integers: they are multiples of 2 to the power of this */
} at_fill;

/* Of rows: -3, -2, -1, 0 and so on; mixed: -3, 0, 3, -1, 2, -2, 1. */
static inline int64_t at_fill_stride(const at_fill *f) { return f->is_mixed ? 3 : 1; }
static inline int64_t at_fill_rows(const at_fill *f) { return f->rows ? f->rows : 7; }

/* Elements that have a value of their own: the largest or the smallest of what a maximum or minimum
 * looks at. One, and `more` others, each `step` behind the one before. */
typedef struct at_placed {
    int tensor;
    int64_t offset; /* in the plain tensor */
    float value;
    int64_t more, step;
    bool stays; /* also where what is drawn is made smaller (at_dataset_shrink) */
    int round;  /* 0: it has its value in all runs; else in runs of this round, from 1 on */
} at_placed;
static inline bool at_is_placed(const at_placed *x, int round) {
    return !x->round || x->round == round;
}

/* Few long rows of an input, of each of which one element wins: in the first runs the first and the
 * last places in turn, of all rows the same; then in each run one of another group of places, of
 * row 0 that of the run's number, of each row that of so many groups behind the one before, round
 * and round. */
enum { AT_COVER_AXES = 32, AT_COVER_ENDS = 64 };
typedef struct at_cover {
    int tensor;
    int64_t rows, terms, group, between, runs;
    /* An element's offset: digits of the row's number and of the place's, the last one first. */
    int64_t base, extent[AT_COVER_AXES], stride[AT_COVER_AXES];
    int row_axes, axes;
    double value, unit; /* the winner of a row is row % different units beyond value */
    int64_t different;
} at_cover;
/* Where the winner of a row is in a run, and what it is. */
int64_t at_cover_offset(const at_cover *x, int64_t run, int64_t row);
double at_cover_value(const at_cover *x, int64_t row);

/* One set of data. */
typedef struct at_draw {
    at_fill *fill; /* [tensor] of inputs and weights */
    AT_VEC(at_placed) extremes;
    AT_VEC(at_cover) covers; /* beside which there are no extremes */
    int entries;             /* which draw of entries index tensors have: 0 or 1 (at_index_fill) */
} at_draw;
/* The runs of a draw, in which all covers have theirs; and the order to make them in where all may
 * be too many: ends first, then others so that those made so far lie evenly. */
int64_t at_cover_runs(const at_draw *draw);
int64_t *at_cover_order(at_arena *a, int64_t runs);

enum { AT_MOST_DRAWS = 5, AT_MOST_ROUNDS = 16 };

/* is_exact: any order of summation gives the same bits on the first draw. Where one draw cannot do
 * all there are others, which are exact as well. */
typedef struct at_data_rule {
    bool is_exact;
    int num_draws;
    at_draw draw[AT_MOST_DRAWS];
    at_draw cover; /* one more, which is run again and again; without covers: it is not there */
    int64_t again; /* else so many runs with other numbers, of the draws in turn */
} at_data_rule;
/* In how many rounds elements are placed: as many as the runs of each draw have at least once. */
static inline int at_data_rounds(const at_data_rule *r) {
    const int64_t most = r->again / (2 * AT_MOST_DRAWS);
    return (int)(most < 1 ? 1 : most > AT_MOST_ROUNDS ? AT_MOST_ROUNDS : most);
}
/* The round of the n-th run of a draw: every other run has no element of its own value, in turn. */
static inline int at_data_round(const at_data_rule *r, int64_t n) {
    return 1 + (int)(n / 2 % at_data_rounds(r));
}

/* What is known of the data already. */
typedef struct at_data_known {
    const float *const *given; /* [tensor] elements of the user's; NULL, or entries of it: none */
    const int32_t *const *indices; /* [tensor] entries that index tensors have; the same */
    const at_index_range *entries; /* [tensor] of other index tensors */
    const int64_t *num_entries;    /* [tensor] how many these are */
    const double
        *bound;      /* [tensor] the largest |value| of given elements and of entries, else -1 */
    bool is_real;    /* some given elements are no integers */
    int64_t longest; /* terms of a sum whose bounds are data, at most */
} at_data_known;

/* Owned by a. What a computation does with its data is seen by looking at some elements of each
 * stage (compute_sample.c), so it takes milliseconds whatever the extents. */
at_status at_data_rule_find(at_arena *a, const at_compute *c, const int64_t *values,
                            const at_data_known *known, at_data_rule *out, at_error *err);
/* Of inputs and weights of integers: numbers from lo to hi, and where there are four and more one
 * of the least and one of the most, each at any place; each is lo and a multiple of step, and of
 * two neighbours one is one less, if has_less. f: what the draw has for the tensor. */
typedef struct at_wholes {
    int64_t lo, hi, least, most, step;
    bool has_less;
} at_wholes;
at_wholes at_data_wholes(at_type type, const at_fill *f);
/* Of t, an input of integers, or an index tensor with these entries. */
at_wholes at_data_wholes_of(const at_tensor *t, const at_index_range *entries, const at_fill *f);
/* n elements of such numbers, from this one on. */
void at_fill_draw(const at_fill *f, bool is_exact, int64_t first, int64_t n, at_rng *rng,
                  float *out);

/* The last index at which a stage takes an element of a tensor for the upper byte of a float of 16
 * bits (half); -1: at none. Of random bytes most such floats would be infinite or no number. */
int64_t at_data_upper_byte(const at_compute *c, int stage, int tensor);

#endif
