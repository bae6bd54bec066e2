/* tuners/process.c: a search where nothing is known but the values of knobs. What trials say
 * of other points is tuners/likeness.c's; the next trial is the one that may be expected to gain
 * most (D. R. Jones, M. Schonlau, W. J. Welch, Efficient Global Optimization, 1998). */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    POOL = 2048,         /* points by chance that are looked at, beside those near the best */
    MENDED_POOL = 64,    /* where each takes long to be found */
    MOST_WORK = 1 << 25, /* multiplications of a plan */
    LEAST_CANDIDATES = 256,
    FEW = 3,   /* best trials whose neighbours are looked at */
    FIRST = 3, /* trials before anything is learned */
    DRAWS = 8  /* of which the one is taken that is least like those before it */
};
static const double root_of_two_pi = 2.5066282746310002, failure = 1;

struct at_process {
    at_book *book;
    at_rows rows;
    at_likeness likeness;
    int width;     /* of rows; 0: there is nothing to tell points by */
    int64_t *pool; /* in random order */
    int num_pool;
    bool begun;
};

/* ---- points as numbers ----------------------------------------------------------------------- */

/* The power of two in a whole number: 64 and 128 are alike where hardware's widths are. */
static float power_in(float x) {
    const int64_t whole = x >= 1 && x < (float)(1 << 24) ? (int64_t)x : 0;
    return (float)whole == x ? (float)(whole & -whole) : 0;
}

/* The numbers that others learn from, and the powers of two in them, or, where there are none,
 * which of its values it is. */
static int numbers_of_entity(const at_entity *e, int64_t digit, float *out, bool *is_text) {
    const at_config own = {.entities = e, .num_knobs = 1};
    const int n = e->marks ? -1 : at_config_features(&own, out);
    if (n < 0) return *out = (float)digit, *is_text = true, 1;
    for (int i = 0; i < n; i++) is_text[i] = false;
    for (int i = 0; i < n; i++) {
        out[n + i] = power_in(out[i]);
        is_text[n + i] = false;
    }
    return 2 * n;
}

enum { MOST_NUMBERS = 256 };
static int numbers_of(const at_space *s, int64_t index, float out[MOST_NUMBERS],
                      bool is_text[MOST_NUMBERS]) {
    at_arena *a = at_arena_new();
    at_config c;
    int n = -1;
    if (at_config_at(a, s, index, &c, NULL) == AT_OK) {
        int64_t *digits = AT_NEW_ARRAY(a, int64_t, c.num_knobs + 1);
        at_space_digits(s, index, digits);
        n = 0;
        for (int k = 0; k < c.num_knobs && n >= 0; k++)
            if (n + 2 * c.entities[k].n >= MOST_NUMBERS) n = -1;
            else n += numbers_of_entity(&c.entities[k], digits[k], out + n, is_text + n);
    }
    at_arena_free(a);
    return n;
}

static int row_of(void *ctx, int64_t index, float *out, int max) {
    float numbers[MOST_NUMBERS];
    bool is_text[MOST_NUMBERS];
    int n = numbers_of(ctx, index, numbers, is_text);
    if (n > 0 && n <= max) memcpy(out, numbers, sizeof *out * (size_t)n);
    return n;
}

static void begin(at_process *p) {
    at_book *b = p->book;
    at_numbering pool = {0};
    float numbers[MOST_NUMBERS];
    bool is_text[MOST_NUMBERS];
    p->begun = true;
    const int room = at_space_mends(b->space) ? MENDED_POOL : POOL;
    at_book_sample(b, b->begin, b->end, room, &b->rng, &pool);
    p->num_pool = pool.len;
    p->pool = malloc(sizeof *p->pool * (size_t)(pool.len + 1));
    AT_NEED(p->pool);
    if (pool.len) memcpy(p->pool, pool.indices, sizeof *p->pool * (size_t)pool.len);
    at_numbering_free(&pool);
    int width = p->num_pool ? numbers_of(b->space, p->pool[0], numbers, is_text) : 0;
    p->width = width < 0 ? 0 : width;
    const float **rows = malloc(sizeof *rows * ((size_t)p->num_pool + 1));
    AT_NEED(rows);
    at_rows_need(&p->rows, p->pool, p->num_pool);
    for (int i = 0; i < p->num_pool; i++) rows[i] = at_rows_of(&p->rows, p->pool[i]);
    at_likeness_init(&p->likeness, rows, p->num_pool, is_text, p->width);
    free(rows);
}

/* Levels of so many points; returns owned [n][width]. */
static uint16_t *levels_of(at_process *p, const int64_t *indices, int n) {
    uint16_t *out = malloc(sizeof *out * ((size_t)n * (size_t)p->width + 1));
    AT_NEED(out);
    at_rows_need(&p->rows, indices, n);
    for (int i = 0; i < n; i++)
        at_likeness_levels(&p->likeness, at_rows_of(&p->rows, indices[i]), out + i * p->width);
    return out;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The neighbours of the best trials, and as much of the pool as there is time for. */
static void list_candidates(const at_process *p, int known, at_numbering *out) {
    const at_book *b = p->book;
    int most = MOST_WORK / ((known * known + 1) * AT_KEPT_VIEWS);
    if (most < LEAST_CANDIDATES) most = LEAST_CANDIDATES;
    at_add_near_best(b, b->score, FEW, out);
    for (int i = 0; i < p->num_pool && out->len < most; i++)
        if (at_number_of(out, p->pool[i]) < 0 && at_book_allows(b, p->pool[i]))
            at_number_add(out, p->pool[i]);
}

/* Trials whose results are known, then those that are awaited. y: of the former, their mean 0;
 * returns how many they are. */
static int gather_trials(const at_book *b, int64_t *indices, double *y) {
    int n = 0, awaited = 0;
    double worst = INFINITY, mean = 0;
    for (int i = 0; i < b->entered.len; i++)
        if (b->known[i]) indices[n++] = b->entered.indices[i];
    for (int i = 0; i < b->entered.len; i++)
        if (!b->known[i]) indices[n + awaited++] = b->entered.indices[i];
        else if (b->score[i] > 0) worst = fmin(worst, log2(b->score[i]));
    n = 0;
    for (int i = 0; i < b->entered.len; i++)
        if (b->known[i]) y[n++] = b->score[i] > 0 ? log2(b->score[i]) : worst - failure;
    for (int i = 0; i < n; i++) mean += y[i] / n;
    for (int i = 0; i < n; i++) y[i] -= mean;
    return n;
}

/* How much better than the best a trial may be expected to be. */
static double gain(double mean, double deviation, double best) {
    const double z = (mean - best) / deviation;
    const double below = 0.5 * erfc(-z / sqrt(2)), density = exp(-z * z / 2) / root_of_two_pi;
    return deviation * (z * below + density);
}

/* What a view expects of the candidates. */
typedef struct expected {
    at_factor factor;
    double *mean; /* [candidate] */
    double variance, best, weight;
} expected;

static expected expect(const at_process *p, const at_view *view, const uint16_t *trials, int n,
                       const double *y, int known, int num, const uint16_t *others, int m) {
    expected e = {.factor = at_factor_new(&p->likeness, view, n + num, others, m),
                  .best = -INFINITY,
                  .weight = view->weight};
    double *z = calloc((size_t)n + 1, sizeof *z);
    e.mean = calloc((size_t)m + 1, sizeof *e.mean);
    AT_NEED(z && e.mean);
    for (int i = 0; i < n; i++) at_factor_add(&e.factor, trials + i * p->width);
    e.factor.n = known; /* what is awaited tells nothing of speeds */
    at_factor_whiten(&e.factor, y, z);
    e.factor.n = n;
    e.variance = at_spread(z, known);
    for (int i = 0; i < known; i++) {
        const double *v = e.factor.v + (size_t)i * (size_t)m;
        e.best = fmax(e.best, y[i]);
        for (int c = 0; c < m; c++) e.mean[c] += v[c] * z[i];
    }
    free(z);
    return e;
}

/* Enters the candidates that promise most to all views, each as if those before had come out as
 * expected. */
static void enter_best(at_process *p, expected *views, const int64_t *candidates, int num) {
    const int m = views[0].factor.num_candidates;
    for (int k = 0; k < num && k < m; k++) {
        int at = -1;
        double most = 0;
        for (int c = 0; c < m; c++) {
            if (!at_book_allows(p->book, candidates[c])) continue;
            double g = 0;
            for (int i = 0; i < AT_KEPT_VIEWS; i++) {
                const expected *e = &views[i];
                const double deviation = sqrt(e->variance * e->factor.variance[c]);
                g += e->weight * gain(e->mean[c], deviation, e->best);
            }
            if (g > most * (1 + 1e-9)) most = g, at = c; /* not by how a CPU rounds */
        }
        if (at < 0) break;
        at_book_enter(p->book, candidates[at], "model");
        for (int i = 0; i < AT_KEPT_VIEWS; i++) {
            expected *e = &views[i];
            e->best = fmax(e->best, e->mean[at]);
            at_factor_add(&e->factor, e->factor.candidates + at * p->width);
        }
    }
}

static void enter_plan(at_process *p, int num) {
    at_book *b = p->book;
    const int trials = b->entered.len;
    at_numbering candidates = {0};
    int64_t *indices = malloc(sizeof *indices * (size_t)(trials + 1));
    double *y = malloc(sizeof *y * (size_t)(trials + 1));
    expected views[AT_KEPT_VIEWS];
    AT_NEED(indices && y);
    const int known = gather_trials(b, indices, y);
    list_candidates(p, known, &candidates);
    uint16_t *levels = levels_of(p, indices, trials);
    uint16_t *others = levels_of(p, candidates.indices, candidates.len);
    at_likeness_fit(&p->likeness, levels, y, known, &b->rng);
    for (int i = 0; i < AT_KEPT_VIEWS; i++)
        views[i] =
            expect(p, &p->likeness.views[i], levels, trials, y, known, num, others, candidates.len);
    enter_best(p, views, candidates.indices, num);
    for (int i = 0; i < AT_KEPT_VIEWS; i++) {
        at_factor_free(&views[i].factor);
        free(views[i].mean);
    }
    free(others);
    free(levels);
    free(y);
    free(indices);
    at_numbering_free(&candidates);
}

/* How many numbers the points differ in, at least. */
static int least_different(const at_process *p, int64_t index) {
    const at_book *b = p->book;
    int least = p->width;
    const float *row = at_rows_of(&p->rows, index);
    for (int i = 0; i < b->entered.len; i++) {
        const float *other = at_rows_of(&p->rows, b->entered.indices[i]);
        int differ = 0;
        for (int c = 0; c < p->width; c++) differ += row[c] != other[c];
        if (differ < least) least = differ;
    }
    return least;
}

/* The first trials: points by chance that have little in common. */
static void enter_first(at_process *p, int num) {
    at_book *b = p->book;
    at_rows_need(&p->rows, p->pool, p->num_pool);
    at_rows_need(&p->rows, b->entered.indices, b->entered.len);
    for (int k = 0; k < num; k++) {
        int64_t best = -1;
        int most = -1, drawn = 0;
        for (int i = k * DRAWS; i < p->num_pool && drawn < DRAWS; i++) {
            if (!at_book_allows(b, p->pool[i])) continue;
            const int differ = least_different(p, p->pool[i]);
            if (differ > most) most = differ, best = p->pool[i];
            drawn++;
        }
        if (best < 0) break;
        at_book_enter(b, best, "random");
    }
}

void at_process_round(at_process *p, int num) {
    at_book *b = p->book;
    if (!p->begun) begin(p);
    const int before = b->entered.len;
    if (!(b->best > 0)) enter_first(p, FIRST);
    else if (p->width) enter_plan(p, num);
    if (b->entered.len == before) at_book_enter_random(b, num);
}

at_process *at_process_new(at_book *b) {
    at_process *p = calloc(1, sizeof *p);
    AT_NEED(p);
    p->book = b;
    p->rows.source = (at_features){row_of, b->space};
    return p;
}

void at_process_free(at_process *p) {
    if (!p) return;
    at_likeness_free(&p->likeness);
    free(p->pool);
    at_rows_free(&p->rows);
    free(p);
}
