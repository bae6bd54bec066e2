/* tuners/drafted.c: a search that begins where costs say, and learns how far they are off. Each
 * plan is the best, by costs and what was learned, of the draft and of the neighbours of the best
 * trials: coordinate descent, in the order of promise. */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 4096, /* rows predicted at a time */
    FEW = 5,      /* best trials that are descended from */
    GROWTH = 5,   /* a plan is at least this part of the trials so far */
    CHOICE = 8    /* a plan is chosen from so many times as many, for difference in the knobs */
};
/* What another value of a knob is worth, in powers of two of speed: in the first plan, later. */
static const double first_difference = 0.05, difference = 0.01;
/* Powers of two that a failure is slower than the slowest trial. */
static const double failure = 1;
static const double random_share = 0.05;
/* Of the trials, for parts of a sum that few trials tell of: what is expected of one is too low by
 * up to so many powers of two where there is no trial of it, by a quarter of that with one, by a
 * ninth with two, and so on. */
static const double part_share = 0.25, part_doubt = 3;
/* How much trials have to tell of what other tasks say before it counts less: in squares of powers
 * of two. */
static const double belief = 0.3;

struct at_drafted {
    at_book *book;
    at_rows *rows;
    at_draft draft;
    at_model_options fit;
    int plan_size, diversity;
    int64_t start; /* of the first plan, -1: none */
    bool start_leads;
    at_model *model;
};

at_drafted *at_drafted_new(at_book *book, at_rows *rows, const at_tuner_options *o,
                           const at_model_options *fit, int plan_size, int diversity) {
    at_drafted *d = calloc(1, sizeof *d);
    AT_NEED(d);
    *d = (at_drafted){.book = book,
                      .rows = rows,
                      .draft = {.book = book, .costs = o->costs, .is_rough = o->is_rough},
                      .start = o->start ? *o->start : -1,
                      .start_leads = o->start_leads,
                      .fit = *fit,
                      .plan_size = plan_size,
                      .diversity = diversity};
    if (o->history && o->history->costs_ns && o->common.of)
        d->draft.learned = at_learned_costs_new(&o->common, o->history, o->seed);
    return d;
}

void at_drafted_free(at_drafted *d) {
    if (!d) return;
    at_model_free(d->model);
    at_draft_free(&d->draft);
    at_learned_costs_free(d->draft.learned);
    free(d);
}

/* By how much y rises where x does by 1, in n points: the factor that leaves least of y, on the way
 * from 1 as far as x does not outweigh the belief in that. */
static double slope(const double *x, const double *y, int n, double prior) {
    double mean_x = 0, mean_y = 0, both = prior, square = prior;
    for (int i = 0; i < n; i++) mean_x += x[i] / n, mean_y += y[i] / n;
    for (int i = 0; i < n; i++) {
        both += (x[i] - mean_x) * (y[i] - mean_y);
        square += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return square > 0 ? fmax(both / square, 0) : 0;
}

/* ---- trust in other tasks -------------------------------------------------------------------- */

/* How much of what they say the trials so far confirm, as an account of what costs are off by. */
static double confirmed(at_drafted *d) {
    const at_book *b = d->book;
    int n = b->entered.len, timed = 0;
    double *off = malloc(sizeof *off * (size_t)(n + 1)),
           *said = malloc(sizeof *said * (size_t)(n + 1));
    AT_NEED(off && said);
    d->draft.trust = 0;
    at_draft_costs(&d->draft, b->entered.indices, n, off);
    at_draft_corrections(&d->draft, b->entered.indices, n, said);
    for (int i = 0; i < n; i++) {
        if (!at_book_is_timed(b, i)) continue;
        said[timed] = said[i];
        off[timed++] = log2(b->score[i]) + off[i];
    }
    double trust = fmin(slope(said, off, timed, belief), 1);
    free(said);
    free(off);
    return trust;
}

/* ---- the model ------------------------------------------------------------------------------ */

/* Labels: speeds; what the model starts from: the speeds that costs say, in the same unit. Both are
 * logarithms, so that what it learns is their ratio. */
static void set_labels(at_drafted *d, float *labels, float *margins) {
    const at_book *b = d->book;
    int n = b->entered.len, valid = 0;
    double worst = INFINITY, ratio = 0, *costs = malloc(sizeof *costs * (size_t)n);
    AT_NEED(costs);
    at_draft_costs(&d->draft, b->entered.indices, n, costs);
    for (int i = 0; i < n; i++) {
        if (!(b->score[i] > 0)) continue;
        worst = fmin(worst, log2(b->score[i]));
        if (b->is_bound[i]) continue;
        ratio += log2(b->score[i]) + costs[i];
        valid++;
    }
    for (int i = 0; i < n; i++) {
        labels[i] = (float)(b->score[i] > 0 ? log2(b->score[i]) : worst - failure);
        margins[i] = (float)(ratio / valid - costs[i]);
    }
    free(costs);
}

static void fit(at_drafted *d) {
    const at_book *b = d->book;
    int n = b->entered.len;
    const float **rows = malloc(sizeof *rows * (size_t)n);
    float *labels = malloc(sizeof *labels * (size_t)n);
    float *margins = malloc(sizeof *margins * (size_t)n);
    AT_NEED(rows && labels && margins);
    at_rows_need(d->rows, b->entered.indices, n);
    for (int i = 0; i < n; i++) rows[i] = at_rows_of(d->rows, b->entered.indices[i]);
    set_labels(d, labels, margins);
    at_model_data data = {.num_rows = n,
                          .width = d->rows->width,
                          .rows = rows,
                          .labels = labels,
                          .margins = margins,
                          .is_bound = b->is_bound,
                          .groups = &(unsigned){(unsigned)n},
                          .num_groups = 1};
    at_model_free(d->model);
    d->model = at_model_fit(&data, &d->fit);
    free(margins);
    free(labels);
    free(rows);
}

/* Expected speeds, as logarithms. */
static void predict(at_drafted *d, const int64_t *indices, int n, double *out) {
    const float *rows[CHUNK];
    double costs[CHUNK];
    for (int begin = 0; begin < n; begin += CHUNK) {
        int count = n - begin < CHUNK ? n - begin : CHUNK;
        memset(out + begin, 0, sizeof *out * (size_t)count);
        at_draft_costs(&d->draft, indices + begin, count, costs);
        if (d->model) {
            at_rows_need(d->rows, indices + begin, count);
            for (int i = 0; i < count; i++) rows[i] = at_rows_of(d->rows, indices[begin + i]);
            at_model_predict(d->model, rows, count, out + begin);
        }
        for (int i = 0; i < count; i++) out[begin + i] -= costs[i];
    }
}

/* ---- plans ---------------------------------------------------------------------------------- */

typedef struct candidate {
    int64_t index;
    double score;
    const char *part;
    int place; /* in the order of costs */
} candidate;

static int best_first(const void *x, const void *y) {
    const candidate *a = x, *b = y;
    if (a->score != b->score) return a->score > b->score ? -1 : 1;
    return a->place - b->place;
}

/* The neighbours of the best trials, by the mean of what was measured and what is expected: of many
 * that were measured once, those that seem best are those that had luck. Where the order is learned
 * the model's scale is its own, so what it expects is put on that of what was measured. */
static void add_near_best(at_drafted *d, at_numbering *out) {
    const at_book *b = d->book;
    int n = b->entered.len, timed = 0;
    double *worth = malloc(sizeof *worth * (size_t)(n + 1)),
           *expected = calloc((size_t)(n + 1), sizeof *expected),
           *measured = calloc((size_t)(n + 1), sizeof *measured);
    AT_NEED(worth && expected && measured);
    predict(d, b->entered.indices, n, worth);
    for (int i = 0; i < n; i++) {
        if (!at_book_is_timed(b, i)) continue;
        expected[timed] = worth[i];
        measured[timed++] = log2(b->score[i]);
    }
    double scale = slope(expected, measured, timed, 0);
    for (int i = 0; i < n; i++)
        if (at_book_is_timed(b, i)) worth[i] = scale * worth[i] + log2(b->score[i]);
    at_add_near_best(b, worth, FEW, out);
    free(measured);
    free(expected);
    free(worth);
}

/* All that may be proposed, best first. *n: how many. */
static candidate *candidates(at_drafted *d, int *n) {
    const at_book *b = d->book;
    at_numbering all = {0};
    add_near_best(d, &all);
    int near = all.len;
    for (int i = 0; i < d->draft.num_pool; i++) {
        int64_t index = d->draft.pool[i];
        if (at_number_of(&all, index) < 0 && at_book_allows(b, index)) at_number_add(&all, index);
    }
    candidate *list = malloc(sizeof *list * (size_t)(all.len + 1));
    double *scores = malloc(sizeof *scores * (size_t)(all.len + 1));
    AT_NEED(list && scores);
    predict(d, all.indices, all.len, scores);
    for (int i = 0; i < all.len; i++)
        list[i] = (candidate){all.indices[i], scores[i],
                              i < near   ? "descent"
                              : d->model ? "model"
                                         : "draft",
                              i};
    *n = all.len;
    qsort(list, (size_t)*n, sizeof *list, best_first);
    free(scores);
    at_numbering_free(&all);
    return list;
}

/* Enters num of the first of the list, such as differ in their knobs; returns how many there were.
 */
static int enter(at_drafted *d, const candidate *list, int n, int num) {
    int knobs = at_space_num_knobs(d->book->space);
    if (n > CHOICE * num) n = CHOICE * num;
    if (num > n) num = n;
    int64_t *digits = malloc(sizeof *digits * (size_t)(n * knobs + 1));
    double *scores = malloc(sizeof *scores * (size_t)(n + 1));
    int *picked = malloc(sizeof *picked * (size_t)(num + 1));
    AT_NEED(digits && scores && picked);
    for (int i = 0; i < n; i++) {
        scores[i] = list[i].score;
        at_space_digits(d->book->space, list[i].index, digits + i * knobs);
    }
    double weight = d->diversity * (d->model ? difference : first_difference);
    at_pick_diverse(scores, digits, n, knobs, weight, num, picked);
    for (int i = 0; i < num; i++)
        at_book_enter(d->book, list[picked[i]].index, list[picked[i]].part);
    free(picked);
    free(scores);
    free(digits);
    return num;
}

/* Enters the best of so many parts of a sum, those first that may be better than is known. The
 * list holds what was entered no more. */
static int enter_parts(at_drafted *d, candidate *list, int *n, int num) {
    const at_book *b = d->book;
    int parts = at_space_num_parts(b->space), entered = 0;
    if (parts < 2 || num < 1) return 0;
    int *tried = calloc((size_t)parts + 1, sizeof *tried);
    AT_NEED(tried);
    for (int i = 0; i < b->entered.len; i++)
        tried[at_space_part_of(b->space, b->entered.indices[i])]++;
    for (; entered < num && *n; entered++) {
        int best = 0;
        double most = -INFINITY;
        for (int i = 0; i < *n; i++) {
            int trials = tried[at_space_part_of(b->space, list[i].index)];
            double hope = list[i].score + part_doubt / ((1 + trials) * (1 + trials));
            if (hope > most) most = hope, best = i;
        }
        tried[at_space_part_of(b->space, list[best].index)]++;
        at_book_enter(d->book, list[best].index, list[best].part);
        --*n;
        memmove(list + best, list + best + 1, sizeof *list * (size_t)(*n - best));
    }
    free(tried);
    return entered;
}

/* The best by costs, by what was learned, and by what other tasks say as far as that is trusted. */
static int enter_best(at_drafted *d, int num, int for_parts) {
    int n;
    candidate *list = candidates(d, &n);
    int entered = enter_parts(d, list, &n, for_parts < num ? for_parts : num);
    entered += enter(d, list, n, num - entered);
    free(list);
    return entered;
}

static void enter_start(at_drafted *d) {
    if (d->start >= 0 && at_book_allows(d->book, d->start))
        at_book_enter(d->book, d->start, "default");
}

void at_drafted_begin(at_drafted *d) {
    if (!d->draft.made) at_draft_make(&d->draft, &d->book->rng);
}

void at_drafted_round(at_drafted *d) {
    at_book *b = d->book;
    int before = b->entered.len, total = before / GROWTH, entered = 0;
    if (total < d->plan_size) total = d->plan_size;
    int randoms = (int)(random_share * (before + total)) - (int)(random_share * before);
    int for_parts = (int)(part_share * (before + total)) - (int)(part_share * before);
    at_drafted_begin(d);
    if (!before && d->start_leads) enter_start(d);
    if (d->draft.learned &&
        !before) { /* the others have not been heard yet, so half goes without */
        d->draft.trust = 1;
        entered = enter_best(d, (total - randoms + 1) / 2, 0);
        d->draft.trust = 0;
    } else if (d->draft.learned) d->draft.trust = confirmed(d);
    if (b->best > 0) fit(d);
    entered += enter_best(d, total - randoms - entered, for_parts);
    at_book_enter_random(b, total - entered);
    if (!before && !d->start_leads) enter_start(d);
}
