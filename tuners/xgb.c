/* tuners/xgb.c: proposals by a cost model that learns from the trials. Source of behaviour: TVM
 * v0.12, python/tvm/autotvm/tuner/model_based_tuner.py and xgboost_tuner.py. Differences:
 * docs/notes/tuners.md. */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 4096,       /* rows predicted at a time */
    WHOLE_SPACE = 4096, /* indices: up to here every point is scored */
    FEW = 3,            /* best trials that are descended from */
};
static const double random_share = 0.05, least_discount = 0.05;

typedef struct xgb {
    at_book book;
    at_rows rows;
    int plan_size, diversity;
    bool anneals;  /* whatever the size of the space */
    bool descends; /* half of a plan is near the best */
    int growth;    /* a plan is at least this part of the trials so far; 0: it is not */
    at_model_options fit;
    at_annealer annealer;
    at_model *model, *base;
    at_drafted *drafted; /* searches instead; or NULL */
    at_process *process; /* makes the first plans; or NULL */
    double discount;     /* of the base model: halved every half_life trials */
    int half_life;
} xgb;

/* ---- the model ------------------------------------------------------------------------------ */

/* What the models say of these points: larger is better. */
static void score(void *self, const int64_t *indices, int n, double *out) {
    xgb *x = self;
    const float *rows[CHUNK];
    double base[CHUNK];
    for (int begin = 0; begin < n; begin += CHUNK) {
        int count = n - begin < CHUNK ? n - begin : CHUNK;
        at_rows_need(&x->rows, indices + begin, count);
        for (int i = 0; i < count; i++) rows[i] = at_rows_of(&x->rows, indices[begin + i]);
        if (x->model) at_model_predict(x->model, rows, count, out + begin);
        else
            for (int i = 0; i < count; i++) out[begin + i] = 0;
        if (!x->base) continue;
        at_model_predict(x->base, rows, count, base);
        for (int i = 0; i < count; i++) out[begin + i] += x->discount * base[i];
    }
}

/* The base model from trials of other tasks: labels are shares of each task's best, and tasks are
 * not compared with one another. */
static at_model *fit_history(const at_history *h, const at_model_options *o) {
    int n = h->count, width = 0, num_groups = 0;
    for (int i = 0; i < n; i++)
        if (h->lengths[i] > width) width = h->lengths[i];
    float *data = calloc((size_t)n * (size_t)width + 1, sizeof *data);
    const float **rows = malloc(sizeof *rows * (size_t)(n + 1));
    float *labels = malloc(sizeof *labels * (size_t)(n + 1));
    unsigned *groups = calloc((size_t)n + 1, sizeof *groups);
    AT_NEED(data && rows && labels && groups);
    for (int i = 0, end; i < n; i = end) {
        double best = 0;
        for (end = i; end < n && h->tasks[end] == h->tasks[i]; end++)
            best = fmax(best, h->scores[end]);
        groups[num_groups++] = (unsigned)(end - i);
        for (int k = i; k < end; k++) labels[k] = best > 0 ? (float)(h->scores[k] / best) : 0;
    }
    for (int i = 0; i < n; i++) {
        float *row = data + (size_t)i * (size_t)width;
        if (h->lengths[i] > 0) memcpy(row, h->rows[i], sizeof *row * (size_t)h->lengths[i]);
        rows[i] = row;
    }
    at_model_data d = {.num_rows = n,
                       .width = width,
                       .rows = rows,
                       .labels = labels,
                       .groups = groups,
                       .num_groups = num_groups};
    at_model *m = at_model_fit(&d, o);
    free(groups);
    free(labels);
    free(rows);
    free(data);
    return m;
}

static void fit(xgb *x) {
    const at_book *b = &x->book;
    int n = 0;
    const float **rows = malloc(sizeof *rows * (size_t)b->num_known);
    float *labels = malloc(sizeof *labels * (size_t)b->num_known), *margins = NULL;
    int64_t *known = malloc(sizeof *known * (size_t)b->num_known);
    bool *is_bound = malloc(sizeof *is_bound * (size_t)b->num_known);
    AT_NEED(rows && labels && known && is_bound);
    for (int i = 0; i < b->entered.len; i++) {
        if (!b->known[i]) continue;
        labels[n] = (float)(b->score[i] / b->best);
        is_bound[n] = b->is_bound[i];
        known[n++] = b->entered.indices[i];
    }
    at_model_free(x->model);
    x->model = NULL;
    x->discount = pow(2, -(double)n / x->half_life);
    if (x->base && x->discount < least_discount) {
        at_model_free(x->base);
        x->base = NULL;
    }
    at_rows_need(&x->rows, known, n);
    for (int i = 0; i < n; i++) rows[i] = at_rows_of(&x->rows, known[i]);
    if (x->base) {
        double *base = malloc(sizeof *base * (size_t)n);
        margins = malloc(sizeof *margins * (size_t)n);
        AT_NEED(base && margins);
        at_model_predict(x->base, rows, n, base);
        for (int i = 0; i < n; i++) margins[i] = (float)(x->discount * base[i]);
        free(base);
    }
    at_model_data d = {.num_rows = n,
                       .width = x->rows.width,
                       .rows = rows,
                       .labels = labels,
                       .margins = margins,
                       .is_bound = is_bound,
                       .groups = &(unsigned){(unsigned)n},
                       .num_groups = 1};
    x->model = at_model_fit(&d, &x->fit);
    free(margins);
    free(labels);
    free(rows);
    free(known);
    free(is_bound);
}

/* ---- plans ---------------------------------------------------------------------------------- */

/* Equal predictions are common: which of them come first should not go by index. */
static void shuffle(at_rng *rng, int64_t *list, int n) {
    for (int i = n - 1; i > 0; i--) {
        int k = (int)at_rng_below(rng, (uint64_t)i + 1);
        int64_t other = list[k];
        list[k] = list[i];
        list[i] = other;
    }
}

static int best_of_all(xgb *x, int num, int64_t *out) {
    at_book *b = &x->book;
    int n = 0;
    int64_t first = at_space_place(b->space, b->begin), last = at_space_place(b->space, b->end);
    int64_t *all = malloc(sizeof *all * (size_t)(last - first + 1));
    AT_NEED(all);
    for (int64_t place = first; place < last; place++) {
        int64_t i = at_space_at_place(b->space, place);
        if (at_book_allows(b, i)) all[n++] = i;
    }
    double *scores = malloc(sizeof *scores * (size_t)(n + 1));
    AT_NEED(scores);
    shuffle(&b->rng, all, n);
    score(x, all, n, scores);
    at_best best;
    at_best_init(&best, num);
    for (int i = 0; i < n; i++) at_best_offer(&best, all[i], scores[i]);
    n = best.len;
    memcpy(out, best.indices, sizeof *out * (size_t)n);
    at_best_free(&best);
    free(scores);
    free(all);
    return n;
}

/* Of n candidates, best first, num that differ as much as can be. */
static int diversify(xgb *x, int64_t *candidates, int n, int num) {
    if (n <= num || x->diversity == 1) return n < num ? n : num;
    int knobs = at_space_num_knobs(x->book.space);
    int64_t *digits = malloc(sizeof *digits * (size_t)(n * knobs + 1));
    int64_t *chosen = malloc(sizeof *chosen * (size_t)num);
    int *picked = malloc(sizeof *picked * (size_t)num);
    AT_NEED(digits && chosen && picked);
    for (int i = 0; i < n; i++) at_space_digits(x->book.space, candidates[i], digits + i * knobs);
    at_pick_diverse(NULL, digits, n, knobs, 1, num, picked);
    for (int i = 0; i < num; i++) chosen[i] = candidates[picked[i]];
    memcpy(candidates, chosen, sizeof *chosen * (size_t)num);
    free(picked);
    free(chosen);
    free(digits);
    return num;
}

/* How many of the first n trials are random for exploration's sake. */
static int random_of(int n) { return (int)(random_share * n); }

/* Coordinate descent: of the points one knob away from the best trials those that the model puts
 * first. */
static int near_best(xgb *x, int num, int64_t *out) {
    at_numbering near = {0};
    at_best best;
    at_best_init(&best, num);
    at_add_near_best(&x->book, x->book.score, FEW, &near);
    double *scores = malloc(sizeof *scores * (size_t)(near.len + 1));
    AT_NEED(scores);
    int64_t *all = near.len ? near.indices : out;
    shuffle(&x->book.rng, all, near.len);
    score(x, all, near.len, scores);
    for (int i = 0; i < near.len; i++) at_best_offer(&best, all[i], scores[i]);
    num = best.len;
    memcpy(out, best.indices, sizeof *out * (size_t)num);
    free(scores);
    at_best_free(&best);
    at_numbering_free(&near);
    return num;
}

static void enter(at_book *b, const int64_t *indices, int n, const char *part) {
    for (int i = 0; i < n; i++) at_book_enter(b, indices[i], part);
}

/* The first plans are by the process alone, which tells from few trials what is like the best that
 * is known; then half of each is by trees, which cut a space in two where it is uneven. Returns how
 * many points it entered. */
static int enter_by_process(xgb *x, int total) {
    at_book *b = &x->book;
    const int before = b->entered.len;
    if (!x->process || before >= AT_PROCESS_TRIALS) return 0;
    at_process_round(x->process, before < AT_PROCESS_ALONE ? total : (total + 1) / 2);
    return b->entered.len - before;
}

/* The next proposals: the plan, and some at random; at random all, as long as there is
 * nothing to learn from. */
static void make_round(void *self) {
    xgb *x = self;
    at_book *b = &x->book;
    int total = x->plan_size;
    if (x->growth && b->entered.len / x->growth > total) total = b->entered.len / x->growth;
    total -= enter_by_process(x, total);
    if (total <= 0) return;
    int num = total - random_of(b->entered.len + total) + random_of(b->entered.len);
    if (b->best > 0) fit(x);
    else if (!x->base) num = 0;
    if (num) {
        int most = num * x->diversity;
        int64_t *plan = malloc(sizeof *plan * (size_t)most);
        AT_NEED(plan);
        int near = x->descends && b->best > 0 ? near_best(x, (num + 1) / 2, plan) : 0;
        enter(b, plan, near, "descent");
        bool whole = !x->anneals && at_tuner_places(b->space, b->begin, b->end) <= WHOLE_SPACE;
        most = (num - near) * x->diversity;
        int n = whole ? best_of_all(x, most, plan) : at_anneal(&x->annealer, &b->rng, most, plan);
        n = diversify(x, plan, n, num - near);
        enter(b, plan, n, "model");
        free(plan);
        num = near + n;
    }
    at_book_enter_random(b, total - num);
}

static void make_drafted_round(void *self) { at_drafted_round(((xgb *)self)->drafted); }

/* ---- the tuner ------------------------------------------------------------------------------ */

enum { PLAN_SIZE, DIVERSITY, LOSS, DRAFT, NUM_OPTIONS };
static const char *const switches[] = {"off", "on", NULL};
enum { LOSS_AUTO = AT_LOSS_REG + 1 };
static const char *const losses[] = {
    [AT_LOSS_RANK] = "rank", [AT_LOSS_REG] = "reg", [LOSS_AUTO] = "auto", NULL};
static const at_tuner_option options[NUM_OPTIONS] = {
    [PLAN_SIZE] = {.name = "plan-size",
                   .argument = "N",
                   .help = "configurations tried between two fits of the model",
                   .min = 1,
                   .max = 10000,
                   .initial = 4,
                   .autotvm = 64},
    [DIVERSITY] =
        {.name = "diversity",
         .argument = "N",
         .help = "choose plans for difference: from N times as many candidates, or N times as much",
         .min = 1,
         .max = 100,
         .initial = 1,
         .autotvm = 1},
    [LOSS] = {.name = "loss",
              .argument = "NAME",
              .help =
                  "learn rank (the order) or reg (the speed); auto: reg with a draft, else rank",
              .words = losses,
              .initial = LOSS_AUTO,
              .autotvm = AT_LOSS_RANK},
    [DRAFT] = {.name = "draft",
               .argument = "WHEN",
               .help =
                   "begin with what its cost says is best, and descend from the best: on or off",
               .words = switches,
               .initial = 1,
               .autotvm = 0}};

static bool goes_by_costs(const at_tuner_options *o) { return at_tuner_value(o, &options[DRAFT]); }

/* Costs are about right, and a few percent off is what there is to learn. The order of a few
 * unlucky trials says of all that is like them that they are last, however little they are behind.
 */
static at_loss loss_of(const at_tuner_options *o, bool has_draft) {
    int64_t asked = at_tuner_value(o, &options[LOSS]);
    if (asked != LOSS_AUTO) return (at_loss)asked;
    return has_draft ? AT_LOSS_REG : AT_LOSS_RANK;
}

static void *create(at_space *space, const at_tuner_options *o) {
    xgb *x = calloc(1, sizeof *x);
    AT_NEED(x);
    at_book_init(&x->book, space, o, AT_STREAM_XGB);
    x->rows.source = o->features.of ? o->features : at_value_features(space);
    x->plan_size = (int)at_tuner_value(o, &options[PLAN_SIZE]);
    x->half_life = o->autotvm ? 64 : 8;
    x->diversity = (int)at_tuner_value(o, &options[DIVERSITY]);
    x->anneals = o->autotvm;
    x->annealer = (at_annealer){.book = &x->book,
                                .score = score,
                                .ctx = x,
                                .most_points = o->autotvm              ? 128
                                               : at_space_mends(space) ? 4 /* a step takes long */
                                                                       : 16,
                                .patience = o->autotvm ? 50 : 5};
    x->discount = 1;
    bool drafts = goes_by_costs(o);
    bool corrects = o->history && o->history->costs_ns; /* what the draft goes by */
    bool knows = o->history && o->history->count && !corrects;
    x->descends = drafts && !knows;
    bool has_draft = x->descends && o->costs.of;
    x->fit = (at_model_options){.loss = loss_of(o, has_draft),
                                .most_rounds = 300,
                                .patience = o->autotvm ? 20 : 10,
                                .top = x->plan_size,
                                .seed = o->seed};
    if (x->descends) x->plan_size = (x->plan_size + 1) / 2;
    x->growth = o->autotvm ? 0 : x->descends ? 8 : 4;
    if (knows) {
        at_model_options base = x->fit;
        base.patience = 100;
        base.top *= 2;
        x->base = fit_history(o->history, &base);
    } else if (has_draft)
        x->drafted = at_drafted_new(&x->book, &x->rows, o, &x->fit, x->plan_size, x->diversity);
    else if (x->descends && !at_space_num_parts(space)) x->process = at_process_new(&x->book);
    return x;
}

static void begin(void *self) {
    xgb *x = self;
    if (x->drafted) at_drafted_begin(x->drafted);
}

static int next(void *self, int64_t *indices, int n) {
    xgb *x = self;
    return at_book_next(&x->book, x->drafted ? make_drafted_round : make_round, self, indices, n);
}

static const char *part(void *self, int64_t index) {
    return at_book_part(&((xgb *)self)->book, index);
}

static void update(void *self, const at_trial *trials, int n) {
    at_book_update(&((xgb *)self)->book, trials, n);
}

static void destroy(void *self) {
    xgb *x = self;
    at_model_free(x->model);
    at_model_free(x->base);
    at_drafted_free(x->drafted);
    at_process_free(x->process);
    at_rows_free(&x->rows);
    free(x->annealer.points);
    at_book_free(&x->book);
    free(x);
}

const at_tuner_class at_xgb_tuner = {
    .name = "xgb",
    .help = "a cost model (XGBoost) that learns from the trials",
    .options = options,
    .num_options = NUM_OPTIONS,
    .rank = 2,
    .learns_features = true,
    .goes_by_costs = goes_by_costs,
    .create = create,
    .begin = begin,
    .next = next,
    .update = update,
    .part = part,
    .destroy = destroy,
};
