/* tuners/model.h: the parts of the model-based tuner. */
#ifndef AT_MODEL_H
#define AT_MODEL_H

#include "tuners/tuners_int.h"

/* ---- metrics.c ------------------------------------------------------------------------------ */

/* How well predictions put the best labels first: for each i below top, the share of the i+1 best
 * by label that stand before place i in the order of predictions; the sum of these, divided by top
 * even when there are fewer than top. */
double at_average_recall(const double *preds, const double *labels, int n, int top);
/* Chooses num of n candidates, each the one with the largest sum of its score (NULL: 0) and weight
 * for each digit that none chosen before has; ties to the first. digits[n][num_digits]. */
void at_pick_diverse(const double *scores, const int64_t *digits, int n, int num_digits,
                     double weight, int num, int *picked);

/* ---- rows.c --------------------------------------------------------------------------------- */

/* Features by index, padded with zeros to the longest; zeros where they cannot be worked out. */
typedef struct at_rows {
    at_features source;
    at_numbering numbers;
    at_arena *arena; /* of the rows */
    float **rows;    /* [cap][width] */
    int width, cap;
    float *row; /* [room] */
    int room;
} at_rows;
void at_rows_free(at_rows *r);
/* Makes sure that these are there; rows asked for earlier may go when memory runs to its limit. */
void at_rows_need(at_rows *r, const int64_t *indices, int n);
const float *at_rows_of(const at_rows *r, int64_t index); /* needed before; valid until then */

/* ---- draft.c -------------------------------------------------------------------------------- */

/* The cheapest of many points, by costs that are known before anything is measured, and, as far as
 * that is trusted, by what other tasks say of how far they are off. */
typedef struct at_draft {
    const at_book *book;
    at_costs costs;
    bool is_rough;                    /* fewer points are looked at */
    struct at_learned_costs *learned; /* NULL: no other task tells */
    double trust;                     /* in that: 0 to 1 */
    at_numbering known;               /* whose cost was asked for */
    struct at_draft_cost *cost;       /* [known.cap] */
    double highest;
    int cap;
    int64_t *pool; /* [num_pool] cheapest first, then some by chance */
    int num_pool;
    bool made;
} at_draft;
/* The pool: where other tasks tell something, half of it is what they put first. */
void at_draft_make(at_draft *d, at_rng *rng);
void at_draft_free(at_draft *d);
/* Logarithms to base 2 of ns; of points without a cost the highest that there is. */
void at_draft_costs(at_draft *d, const int64_t *indices, int n, double *log_costs);
/* Powers of two that the point is faster than its cost, as other tasks have it; 0: they say
 * nothing. */
void at_draft_corrections(at_draft *d, const int64_t *indices, int n, double *out);

/* ---- neighbours.c --------------------------------------------------------------------------- */

/* Adds the points that the book allows and that differ in this knob from the one with these digits,
 * which are changed meanwhile; of a knob with many values only those that are near in the list. */
void at_add_neighbours_by(const at_book *b, int64_t *digits, int knob, at_numbering *out);
/* The same of all knobs of each of these points. */
void at_add_neighbours(const at_book *b, const int64_t *indices, int n, at_numbering *out);
/* The same of the few trials that are worth most: worth[entered.len] is of all, but failures and
 * bounds are none of them. */
void at_add_near_best(const at_book *b, const double *worth, int few, at_numbering *out);

/* ---- xgb_model.c ---------------------------------------------------------------------------- */

typedef enum at_loss { AT_LOSS_RANK, AT_LOSS_REG } at_loss;

typedef struct at_model at_model;
typedef struct at_model_data {
    int num_rows, width;
    const float *const *rows;
    const float *labels;    /* finite, larger is better */
    const float *margins;   /* a start for each row; NULL: none */
    const bool *is_bound;   /* [num_rows] the label is at most that; NULL: none is */
    const unsigned *groups; /* rows of each task, in order; rank compares within them */
    int num_groups;
} at_model_data;
typedef struct at_model_options {
    at_loss loss;
    int most_rounds, patience; /* rounds without a better average recall before it ends */
    int top;                   /* of the average recall */
    uint64_t seed;
} at_model_options;
at_model *at_model_fit(const at_model_data *data, const at_model_options *o);
/* Rows may be wider than those of the fit. A margin is not included. */
void at_model_predict(at_model *m, const float *const *rows, int n, double *out);
void at_model_free(at_model *m);

/* ---- anneal.c ------------------------------------------------------------------------------- */

typedef struct at_annealer {
    const at_book *book;
    void (*score)(void *ctx, const int64_t *indices, int n, double *out);
    void *ctx;
    int most_points;
    int patience;    /* iterations without a better point before it ends */
    int64_t *points; /* kept from one call to the next */
    int num_points;
} at_annealer;
/* The best `num` points that the book allows, best first, as far as simulated annealing comes upon
 * them; returns how many. */
int at_anneal(at_annealer *a, at_rng *rng, int num, int64_t *out);

/* The best of what is offered, best first. */
typedef struct at_best {
    int64_t *indices;
    double *scores;
    int len, cap;
} at_best;
void at_best_init(at_best *b, int cap);
void at_best_free(at_best *b);
/* False: it is not among them, or was already. */
bool at_best_offer(at_best *b, int64_t index, double score);

/* ---- learned_costs.c ------------------------------------------------------------------------ */

/* What trials of other tasks say of how far costs are off. Borrows what common needs; the history,
 * whose rows common has made, only now. */
typedef struct at_learned_costs at_learned_costs;
at_learned_costs *at_learned_costs_new(const at_features *common, const at_history *h,
                                       uint64_t seed);
/* Powers of two that points are faster than their costs say; 0: nothing is known. */
void at_learned_costs_off(at_learned_costs *l, const int64_t *indices, int n, double *out);
void at_learned_costs_free(at_learned_costs *l); /* NULL is fine */

/* ---- likeness.c ----------------------------------------------------------------------------- */

enum { AT_NUM_SCALES = 7 };
/* A number of points: the value of a knob, or a part of it. */
typedef struct at_column {
    bool is_text;  /* values are the same or not */
    float *levels; /* [num] that there are, in ascending order */
    int num;
    float *alike[AT_NUM_SCALES]; /* [num] points that are so many levels apart */
} at_column;
/* What may be true of a space: over how far each number's values are alike, how much is noise, and
 * how much each number tells by itself, whatever the others are. */
typedef struct at_view {
    uint8_t *scale; /* [width] */
    uint8_t noise, share;
    double weight; /* of the views that are kept, by what trials say of them: all together 1 */
} at_view;
enum { AT_VIEWS = 48, AT_KEPT_VIEWS = 8 };
typedef struct at_likeness {
    at_column *columns;
    int width;
    at_view views[AT_VIEWS]; /* those that are kept first, */
    int num_kept;            /* of which there are so many */
} at_likeness;
/* rows[n][width]: values that numbers have. */
void at_likeness_init(at_likeness *p, const float *const *rows, int n, const bool *is_text,
                      int width);
void at_likeness_free(at_likeness *p);
void at_likeness_levels(const at_likeness *p, const float *row, uint16_t *out);
/* Draws views beside those that were kept, and keeps those by which these trials are likeliest.
 * levels[n][width]; y[n] with the mean 0. */
void at_likeness_fit(at_likeness *p, const uint16_t *levels, const double *y, int n, at_rng *rng);

/* Cholesky's factor of the covariance of points that are added one by one, and what it leaves of
 * the variance of candidates, 1 at first. Borrows points and candidates. */
typedef struct at_factor {
    const at_likeness *of;
    const at_view *view;
    int n, most, num_candidates;
    const uint16_t **points;    /* [most] */
    double *l;                  /* [most][most] */
    const uint16_t *candidates; /* [num_candidates][width] */
    double *v;                  /* [most][num_candidates] */
    double *variance;           /* [num_candidates] */
} at_factor;
at_factor at_factor_new(const at_likeness *p, const at_view *view, int most,
                        const uint16_t *candidates, int n);
void at_factor_free(at_factor *f);
void at_factor_add(at_factor *f, const uint16_t *point);
/* z = y without what the points before tell of each: what v times z is, is expected of candidates.
 */
void at_factor_whiten(const at_factor *f, const double *y, double *z);
/* What of the squares of differences is expected where nothing is known, by what n trials say. */
double at_spread(const double *z, int n);

/* ---- process.c ------------------------------------------------------------------------------ */

/* A search by a Gaussian process over the values of the knobs: for the first trials, where each
 * tells much, and nothing but these is known. Its time grows with the third power of their number.
 */
typedef struct at_process at_process;
enum { AT_PROCESS_ALONE = 40, AT_PROCESS_TRIALS = 150 }; /* without another model; at all */
at_process *at_process_new(at_book *b);
void at_process_round(at_process *p, int num); /* enters the next plan */
void at_process_free(at_process *p);           /* NULL is fine */

/* ---- drafted.c ------------------------------------------------------------------------------ */

/* xgb's search where costs are known. */
typedef struct at_drafted at_drafted;
at_drafted *at_drafted_new(at_book *book, at_rows *rows, const at_tuner_options *o,
                           const at_model_options *fit, int plan_size, int diversity);
void at_drafted_begin(at_drafted *d); /* makes the draft, if it is not made */
void at_drafted_round(at_drafted *d); /* enters the next plan */
void at_drafted_free(at_drafted *d);

#endif
