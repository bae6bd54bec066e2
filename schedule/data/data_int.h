/* schedule/data/data_int.h: what the files share that choose data (data.h). */
#ifndef AT_SCHEDULE_DATA_INT_H
#define AT_SCHEDULE_DATA_INT_H

#include "schedule/data/data.h"
#include "schedule/schedule_int.h"

/* Where values decide something: a function that levels off, a bound, a comparison, a floor. */
typedef struct data_decision {
    const at_expr *e;
    int stage;
    const at_expr *of; /* the operand that its data move */
    double at, width;  /* of a bound or comparison with a number: where, and how wide what it leaves
                        * is; width 0: it has none */
    bool is_lone;      /* one bound, or a number to compare with: as wide as it is far from 0 */
    bool is_sum;       /* of two values */
    bool is_stored;    /* of a whole body: what its stage's type holds, and bounds within that */
    bool is_added;     /* a small number, `width`, is added, or the least, lest something is 0 */
    bool below_maximum; /* of an exponential: its argument is what lies below a maximum */
    int changes;        /* how often data were changed for it, */
    double before;      /* how far it was from what it needs before that, and by how much */
    double factor;      /* times these data were changed */
    const bool *marked; /* [tensor] */
    /* Values of `of`, and of what it is compared with: of num some, at most DATA_KEPT. */
    int64_t num;
    double *x, *y;
} data_decision;
enum { DATA_KEPT = 512 };
static inline int data_kept(const data_decision *d) {
    return d->num < DATA_KEPT ? (int)d->num : DATA_KEPT;
}

/* What some elements of each stage are with these fills (data_look.c). */
typedef struct data_look data_look;
data_look *data_look_new(at_arena *a, const at_compute *c, const int64_t *values,
                         const at_data_known *known, bool is_exact);
at_status data_look_at(data_look *l, at_arena *a, const at_fill *fill, at_error *err);
/* All decisions in text order. */
data_decision *data_look_decisions(data_look *l, int *n);
/* The element that is looked at with this fill, of a tensor that is drawn, without its row's
 * distance (data_away). */
double data_look_element(const data_look *l, const at_fill *f, int t, int64_t offset);
/* Is what the stage works out cut by two bounds, or by its type, before anything reads it? */
bool data_look_is_cut(const data_look *l, int stage);
/* The root of the mean square of an expression's values. */
double data_look_size(const data_look *l, const at_expr *e);
/* A share from 0 to 1 of |x - at| lies below this. */
double data_quantile(const data_decision *d, double at, double share);
/* A number from 0 to 1, the same for the same element. */
double data_random_unit(int tensor, int64_t offset);

/* Of what an axis of a tensor is a part. The offset of the element with a number in each of them,
 * which an axis more to the right counts first. */
typedef enum data_part { DATA_ROW, DATA_PLACE, DATA_TERM, DATA_PARTS } data_part;
int64_t data_offset(int axes, const int64_t *extent, const data_part *part,
                    int64_t number[DATA_PARTS]);

/* The n-th of places: the first, the last, those where loops of 2, 4, 8 and 16 steps behind whole
 * tiles begin, then evenly between; of each 13 again. */
int64_t data_place_of(int64_t n, int64_t terms);

/* How far from 0 the row of an element lies. */
double data_away(const at_fill *f, int64_t element);

/* ---- the data of a computation being chosen (data_ruler.c) ----------------------------------- */

typedef struct data_ruler {
    at_arena *arena;
    const at_compute *c;
    const int64_t *values;
    const at_data_known *known;
    int64_t **extents;
    bool is_exact;
    at_fill *fill;
    data_look *look;
    bool only_functions; /* no bounds are served */
    bool moves_wholes;   /* inputs and weights of integers get other fills, too */
    bool *marked;
    double *power;             /* [tensor] with which it grows with what is marked */
    double *size;              /* [tensor] of an element, about (data_find_sizes) */
    bool *from[AT_ROLE_STAGE]; /* [role][tensor] it has that role, or reads such a tensor */
    bool *chosen;              /* [tensor] (data_find_chosen) */
    int *summed;               /* [tensor] the sum that chosen elements are terms of; -1: of none */
    bool *uncut; /* [tensor] grows with one that is moved: no bounds cut what lies between */
} data_ruler;

#define DATA_EXACT_RATIO 0x1p24 /* most of data_ratio where sums are exact */
enum { DATA_MOST_RANGE = 8 };   /* of inputs that need no more different values */

at_status data_ruler_begin(data_ruler *r, at_arena *a, const at_compute *c, const int64_t *values,
                           const at_data_known *known, at_error *err);

bool data_is_drawn(const data_ruler *r, int tensor); /* from a fill */
/* May its fill change for a decision? */
bool data_is_moved(const data_ruler *r, int tensor);
/* Is it an element as it is, of a tensor that no stage makes? */
static inline bool data_is_element(const at_compute *c, const at_expr *e) {
    return e->op == AT_X_INDEX && c->tensors[e->ref].role != AT_ROLE_STAGE;
}
/* Is it an element of a stage? For at_expr_find_value. */
static inline bool data_is_of_stage(const at_expr *e, const void *compute) {
    return e->op == AT_X_INDEX && !data_is_element(compute, e);
}
/* Are bits of the tensor's elements taken, so that all values are to be there? */
bool data_is_taken_apart(const at_compute *c, int tensor);
/* From now on those of integers change as well. */
void data_move_wholes(data_ruler *r);
int64_t data_elements_of(const data_ruler *r, int tensor);
/* The odd number that a number, not 0, is a power of two times. */
double data_odd_part(double x);
/* The largest value of a stage by the power of two that its values are multiples of, of fills whose
 * ends are so many times as far from 0. */
double data_ratio(const data_ruler *r, double extremes);
/* Marks the tensors with which e grows in proportion. */
void data_mark_sources(data_ruler *r, const at_expr *e);
/* With which power of the marked tensors e grows. */
double data_power(data_ruler *r, const at_expr *e);
/* The factor for the elements of tensors, which are marked then, that brings e nearer to so many
 * times its size; where sums are exact, a power of two. 1: no such tensor is drawn, or e is near
 * enough. */
double data_factor_for(data_ruler *r, const at_expr *e, double times);
void data_multiply(data_ruler *r, double factor); /* the fills of marked tensors */
/* Does the maximum or minimum of a stage go back to the tensor's elements? */
bool data_meets_extreme(data_ruler *r, int tensor);
/* r->size, of computations with integers. */
void data_find_sizes(data_ruler *r);
/* The fill of an input or weight of floats beside integers, whose results are rounded to a type:
 * most results lie within the type, or, is_large, they are as large as the integers. */
at_fill data_fill_in_steps(data_ruler *r, int tensor, bool is_large);
/* at_fill.coarse of integers whose sums, and sums of products of bytes, are to be multiples of 2 to
 * the power of `bits`. */
enum { DATA_COARSE = 8 };
int data_coarse(at_type type, int bits);
/* Does an expression read a tensor of that role, itself or through stages? */
bool data_reads_role(const data_ruler *r, const at_expr *e, at_role role);
/* Do entries of index tensors say to which places terms belong, so that these belong to others on a
 * second draw? */
bool data_has_places(const data_ruler *r);
/* Do entries, which the data are to have, say where an axis ends, or a few how far reductions go?
 */
bool data_has_ends(const data_ruler *r);
/* Where a maximum or minimum looks at floats beside integers: they get extremes, and lie aside on
 * the second draw. Does any? */
bool data_draws_in_steps(data_ruler *r, at_data_rule *out);
/* Plants winners of maxima and minima that look at sums of products of two inputs
 * (data_products.c): in some rows all sums are far above 0, in others far below. Changes the fills
 * of these inputs; false: there are none. */
bool data_plant_products(const data_ruler *r, at_draw *draw);
/* Where a minimum looks at sums of squares of differences between two inputs, different places are
 * the nearest. */
void data_plant_nearest(const data_ruler *r, at_draw *draw);
/* The most terms that such sums have; 0: there are none. */
int64_t data_product_terms(const data_ruler *r);
/* Changes r->fill until decisions see what they need (data_serve.c), those that can be served. */
at_status data_serve_all(data_ruler *r, at_error *err);
/* Are the decision's bounds neither too near nor too far apart for fills to change for them? */
bool data_has_width(const data_ruler *r, const data_decision *d);
/* The first draw of a computation without integers, r->fill, and r->is_exact (data_floats.c); and
 * the first two or three of one with integers (data_integers.c). */
at_status data_find_floats(data_ruler *r, at_error *err);
at_status data_find_integers(data_ruler *r, at_data_rule *out, at_error *err);
/* Makes r->fill so small that what is added lest something is 0 counts, and that the least that it
 * may be is more than it is. *any: they change. */
at_status data_bring_near_0(data_ruler *r, bool *any, at_error *err);
/* A second draw, where the first one, r->fill, hides a mistake (data_draws.c). */
at_status data_second_draw(data_ruler *r, at_data_rule *out, at_error *err);

/* A further draw, on which sums are what they are compared with (data_levels.c). */
at_status data_draw_levels(data_ruler *r, at_data_rule *out, at_error *err);

/* ---- rows of what decides (data_rows.c), winners of them (data_extremes.c) ------------------- */

/* The terms of a maximum or minimum, of each of which one element of an input makes the best of its
 * row: the element is the largest of the row's then, or the smallest, or either, as other tensors
 * say. */
typedef enum data_winner { DATA_HIGH, DATA_LOW, DATA_EITHER } data_winner;
typedef struct data_rows {
    const data_ruler *ruler;
    const at_draw *draw; /* whose fills other tensors have */
    int stage, tensor;
    int64_t num, terms;
    data_winner winner;
    bool is_alone; /* nothing else that is drawn, or worked out, is in a term */
    double slope;  /* how much a term changes with its element, on the average */
} data_rows;

/* false: the stage has no such terms. */
bool data_rows_find(data_rows *r, const data_ruler *ruler, int stage, const at_draw *draw);
/* The offset of the element, in the plain tensor; -1: the term has none. */
int64_t data_rows_at(const data_rows *r, int64_t row, int64_t place);
/* The largest, or the smallest, that an element is to be: `above` beyond the end of what it is
 * drawn from; 0: half as far as the ends are apart. Of integers the end. */
double data_rows_end(const data_rows *r, bool is_high, double above);
/* How far a winner is to lie beyond that end, lest what stands beside it in its term decides; 0:
 * nothing does, or sums would not be exact. */
double data_rows_beyond(const data_rows *r);
bool data_rows_are_whole(const data_rows *r); /* are these elements integers, or entries? */
at_wholes data_rows_wholes(const data_rows *r);
/* May each element be another one by itself? Not of entries that ascend or say where axes end. */
bool data_rows_may_change(const data_rows *r);

/* Plants the best elements of rows, data_rows_end(above). number: 0 or 1, of extremes at other
 * places. Returns the least number of rows of one of the inputs, 0: there are none. */
int64_t data_plant_extremes(const data_ruler *r, double above, int number, at_draw *draw);
/* Plants a few elements of such rows that lie 8 to 64 beyond the other ends. */
void data_plant_small(const data_ruler *r, at_draw *draw);

/* Finds tensors whose elements, floats that are drawn, are compared and chosen alone; in_rows: and
 * perhaps added up, each in one row. */
void data_find_chosen(data_ruler *r, bool in_rows);
/* Of which place of the sum a term reads what a stage has at this place; false: of several. */
bool data_find_row(const data_ruler *r, int sum, int stage, const int64_t *axis, int64_t *index);
/* Are both sides elements as they are, or numbers, of which one is taken? */
bool data_compares_unrounded(const data_ruler *r, const at_expr *comparison);
/* Plants elements about what comparisons of elements compare with (data_thresholds.c), on the first
 * draw. */
void data_plant_thresholds(data_ruler *r, at_data_rule *out);
/* The same of sums, on the last of the draws or a further one. */
void data_plant_sums(data_ruler *r, at_data_rule *out);

/* Rows whose winners are to go from place to place (data_cover.c). */
void data_cover(const data_ruler *r, at_draw *draw);

/* at_data_rule.again (data_again.c). */
int64_t data_again(const data_ruler *r);

/* Elements behind each other that a reduction of this input's elements as they are goes over, or,
 * also_within, of anything made of them; 0: there is none. */
int64_t data_row_of(const data_ruler *r, int tensor, bool also_within);

#endif
