/* ga and xgb: what holds for every tuner that learns; ranking measures against golden values; and
 * that both find more than chance would on spaces with structure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tuners/model.h"

/* ---- spaces and scores ---------------------------------------------------------------------- */

/* Options of these many values each, "a", "b", ..., under a joint condition, or none. */
static at_space *space_of(at_arena *a, const int *lengths, int num, const char *filter) {
    at_error err;
    at_space *s = at_space_new(a);
    for (int k = 0; k < num; k++) {
        at_text list = {0};
        char name[2] = {(char)('a' + k), 0};
        for (int i = 0; i < lengths[k]; i++) at_text_addf(&list, "%s%d", i ? ", " : "[", i);
        at_text_add(&list, "]");
        if (at_space_option(s, name, list.data, &err) != AT_OK) fail_msg("%s", err.text);
        at_text_free(&list);
    }
    if (filter && at_space_filter(s, filter, &err) != AT_OK) fail_msg("%s", err.text);
    return s;
}

/* A smooth peak with a ripple; every seventh point fails. */
static at_trial trial_of(const at_space *s, int64_t index) {
    int64_t digits[8];
    double score = 100;
    at_space_digits(s, index, digits);
    for (int k = 0; k < at_space_num_knobs(s); k++) {
        double at = (double)(digits[k] + 1) / (double)at_space_knob_len(s, k);
        score /= 1 + 4 * (at - 0.6) * (at - 0.6) + 0.03 * (double)(digits[k] % 3);
    }
    bool valid = index % 7 != 3;
    return (at_trial){index, valid, valid ? score : 0, false};
}

static at_tuner *new_tuner(const char *name, at_space *s, at_tuner_options o) {
    at_tuner *t;
    at_error err;
    if (at_tuner_new(name, s, &o, &t, &err) != AT_OK) fail_msg("%s", err.text);
    return t;
}

static const char *const learners[] = {"ga", "xgb"};
enum { NUM_LEARNERS = 2, MOST = 5000 };

static bool absent(const char *name) {
    const at_tuner_class *row;
    return at_tuner_find(name, &row, NULL) != AT_OK;
}

/* How results come back. */
typedef enum order { IN_ORDER, REVERSED, LATE } order;

/* Runs a search of at most `most` trials and returns how many it made. `batch` are asked for at a
 * time; results come in the given order, LATE: one by one, asking again in between. */
static int run(const char *name, at_space *s, at_tuner_options o, int batch, order how, int most,
               int64_t *out) {
    at_tuner *t = new_tuner(name, s, o);
    int n = 0, told = 0;
    while (n < most) {
        int want = batch < most - n ? batch : most - n;
        int made = at_tuner_next(t, out + n, want);
        assert_in_range(made, 0, want);
        n += made;
        if (!made && told == n) break;
        if (how == LATE) {
            at_trial trial = trial_of(s, out[told++]);
            at_tuner_update(t, &trial, 1);
            continue;
        }
        for (int i = told; i < n; i++) {
            at_trial trial = trial_of(s, out[how == REVERSED ? n - 1 - (i - told) : i]);
            at_tuner_update(t, &trial, 1);
        }
        told = n;
    }
    at_tuner_free(t);
    return n;
}

/* ---- properties ----------------------------------------------------------------------------- */

static void check_each_once(const at_space *s, int64_t begin, int64_t end, const int64_t *got,
                            int n) {
    int valid = 0;
    for (int64_t i = begin; i < end; i++) {
        int times = 0;
        for (int k = 0; k < n; k++) times += got[k] == i;
        assert_int_equal(times, at_space_is_valid(s, i));
        valid += times;
    }
    assert_int_equal(valid, n); /* and none outside */
}

/* Costs that know all, that know the opposite, and that know nothing of every third point. */
static void cost_all(void *ctx, const int64_t *indices, int n, double *ns) {
    for (int i = 0; i < n; i++) ns[i] = 1e5 / (trial_of(ctx, indices[i]).score + 1);
}

static void cost_opposite(void *ctx, const int64_t *indices, int n, double *ns) {
    cost_all(ctx, indices, n, ns);
    for (int i = 0; i < n; i++) ns[i] = 1e6 / ns[i];
}

static void cost_some(void *ctx, const int64_t *indices, int n, double *ns) {
    cost_all(ctx, indices, n, ns);
    for (int i = 0; i < n; i++)
        if (indices[i] % 3 == 0) ns[i] = INFINITY;
}

static void cost_none(void *ctx, const int64_t *indices, int n, double *ns) {
    (void)ctx;
    (void)indices;
    for (int i = 0; i < n; i++) ns[i] = INFINITY;
}

/* The best of 100 trials, in the median of a few seeds: what is drawn by chance differs. */
static double found_with_costs(at_space *space, const at_tuner_options *o) {
    enum { SEEDS = 5, TRIALS = 100 };
    static int64_t got[MOST];
    double found[SEEDS] = {0};
    for (int k = 0; k < SEEDS; k++) {
        at_tuner_options mine = *o;
        mine.seed = o->seed + (uint64_t)k;
        run("xgb", space, mine, 1, IN_ORDER, TRIALS, got);
        for (int i = 0; i < TRIALS; i++) found[k] = fmax(found[k], trial_of(space, got[i]).score);
    }
    at_sort_doubles(found, SEEDS);
    return at_sorted_median(found, SEEDS);
}

/* With costs: the first trial is what they say is best, and all the rest holds as without: each
 * index once, whatever the costs, however results come. Of costs that are all wrong (the first
 * trial has a tenth of the best speed) half of it is found in spite of them. */
static void with_costs(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    static int64_t got[MOST], other[MOST];
    static void (*const costs[])(void *, const int64_t *, int, double *) = {cost_all, cost_opposite,
                                                                            cost_some, cost_none};
    at_space *small = space_of(a, (const int[]){9, 9, 4}, 3, "a * b % 4 != c");
    at_space *large = space_of(a, (const int[]){16, 25, 20}, 3, NULL);
    static const double enough[] = {0.95, 0.5, 0.95, 0.9};
    double best = 0;
    for (int64_t i = 0; i < at_space_range_length(large); i++)
        best = fmax(best, trial_of(large, i).score);
    for (int c = 0; c < 4; c++) {
        at_tuner_options o = {.seed = 3, .costs = {costs[c], small}};
        int n = run("xgb", small, o, 1, IN_ORDER, MOST, got);
        check_each_once(small, 0, at_space_range_length(small), got, n);
        double ns, least = INFINITY;
        for (int i = 0; i < n; i++) {
            costs[c](small, &got[i], 1, &ns);
            least = fmin(least, ns);
            if (i == 0) other[0] = (int64_t)fmin(ns, 1e18);
        }
        assert_int_equal(other[0], (int64_t)fmin(least, 1e18));
        o = (at_tuner_options){.seed = 5, .costs = {costs[c], large}};
        run("xgb", large, o, 1, IN_ORDER, 100, got);
        run("xgb", large, o, 7, REVERSED, 100, other);
        assert_memory_equal(got, other, 100 * sizeof *got);
        if (c == 0) {
            run("xgb", large, o, 5, LATE, 100, other);
            assert_memory_equal(got, other, 100 * sizeof *got);
        }
        assert_true(found_with_costs(large, &o) >= enough[c] * best);
        if (c == 0) assert_true(trial_of(large, got[0]).score >= 0.95 * best);
    }
    at_arena_free(a);
}

/* Only the last part of a sum has anything cheap. */
static void cost_last_part(void *ctx, const int64_t *indices, int n, double *ns) {
    int64_t first = at_space_part_begin(ctx, at_space_num_parts(ctx) - 1);
    for (int i = 0; i < n; i++) ns[i] = indices[i] >= first ? 10 : 1000;
}

/* A small space is looked at beside one that has a hundred thousand times as many points. */
static void small_part(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    static const char *const names[] = {"large", "small"};
    at_space *parts[] = {space_of(a, (const int[]){100, 100, 100}, 3, NULL),
                         space_of(a, (const int[]){5, 2}, 2, NULL)},
             *sum = at_space_new(a);
    at_error err;
    assert_int_equal(at_space_sum(sum, "sketch", names, parts, 2, &err), AT_OK);
    for (int seed = 0; seed < 3; seed++) {
        at_tuner *t =
            new_tuner("xgb", sum, (at_tuner_options){.seed = seed, .costs = {cost_last_part, sum}});
        int64_t index;
        assert_int_equal(at_tuner_next(t, &index, 1), 1);
        assert_true(index >= at_space_part_begin(sum, 1));
        at_tuner_free(t);
    }
    at_arena_free(a);
}

/* Costs and speeds of a sum of equal parts; costs hold one of them for four times as slow, which is
 * half as fast again. */
enum { PARTS_OF_SUM = 8, DOUBTED = 5 };

static double score_in_part(const at_space *sum, int64_t index, int *part) {
    *part = at_space_part_of(sum, index);
    at_trial t = trial_of(at_space_part(sum, *part), index - at_space_part_begin(sum, *part));
    return *part == DOUBTED ? 1.5 * t.score : t.score;
}

static void cost_doubting(void *ctx, const int64_t *indices, int n, double *ns) {
    for (int i = 0; i < n; i++) {
        int part;
        ns[i] = 1e5 / (score_in_part(ctx, indices[i], &part) + 1);
        if (part == DOUBTED) ns[i] *= 1.5 * 4;
    }
}

/* A few trials are for parts that costs think little of. */
static void doubted_part(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    char names[PARTS_OF_SUM][2];
    const char *listed[PARTS_OF_SUM];
    at_space *parts[PARTS_OF_SUM], *sum = at_space_new(a);
    at_error err;
    for (int p = 0; p < PARTS_OF_SUM; p++) {
        parts[p] = space_of(a, (const int[]){8, 8, 8}, 3, NULL);
        names[p][0] = (char)('p' + p);
        names[p][1] = 0;
        listed[p] = names[p];
    }
    assert_int_equal(at_space_sum(sum, "sketch", listed, parts, PARTS_OF_SUM, &err), AT_OK);
    for (int seed = 0; seed < 5; seed++) {
        at_tuner *t =
            new_tuner("xgb", sum, (at_tuner_options){.seed = seed, .costs = {cost_doubting, sum}});
        double best = 0, of_others = 0;
        for (int i = 0; i < 50; i++) {
            int64_t index;
            int part;
            assert_int_equal(at_tuner_next(t, &index, 1), 1);
            double score = score_in_part(sum, index, &part);
            *(part == DOUBTED ? &best : &of_others) =
                fmax(score, part == DOUBTED ? best : of_others);
            at_tuner_update(t, &(at_trial){index, score > 0, score, false}, 1);
        }
        assert_true(best > 1.3 * of_others);
        at_tuner_free(t);
    }
    at_arena_free(a);
}

/* Where costs are wrong about everything, the first trial is the point to start from all the same;
 * no plan has it again. */
static void start(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    static int64_t got[MOST];
    at_space *s = space_of(a, (const int[]){9, 9, 4}, 3, "a * b % 4 != c");
    int64_t length = at_space_range_length(s), begin = length - 1;
    while (!at_space_is_valid(s, begin)) begin--;
    at_tuner_options o = {.seed = 3, .costs = {cost_opposite, s}, .start = &begin};
    check_each_once(s, 0, length, got, run("xgb", s, o, 1, IN_ORDER, MOST, got));
    assert_int_equal(got[0], begin);
    while (at_space_is_valid(s, begin)) begin--; /* no point: as without */
    check_each_once(s, 0, length, got, run("xgb", s, o, 1, IN_ORDER, MOST, got));
    at_arena_free(a);
}

/* The faster, the dearer; of failures nothing is known. */
static void cost_wrong(void *ctx, const int64_t *indices, int n, double *ns) {
    for (int i = 0; i < n; i++) {
        double score = trial_of(ctx, indices[i]).score;
        ns[i] = score > 0 ? 10 * score : INFINITY;
    }
}

typedef void cost_fn(void *ctx, const int64_t *indices, int n, double *ns);
typedef struct costing {
    cost_fn *of;
    at_space *space;
} costing;

/* What costs say of a point: a number that means the same in another space. */
static int cost_number(void *ctx, int64_t index, float *out, int max) {
    const costing *c = ctx;
    double ns;
    assert_true(max >= 1);
    c->of(c->space, &index, 1, &ns);
    *out = isfinite(ns) ? (float)log2(ns) : 0;
    return 1;
}

/* One task's trials at every so many points, with its costs; speeds are to be filled in. */
enum { KNOWN = 300 };
typedef struct past {
    float row[KNOWN][1];
    const float *rows[KNOWN];
    double scores[KNOWN], costs[KNOWN];
    int lengths[KNOWN], tasks[KNOWN];
    at_history history;
} past;

static void remember(past *p, costing c, int step) {
    for (int i = 0; i < KNOWN; i++) {
        int64_t index = (int64_t)i * step;
        p->lengths[i] = cost_number(&c, index, p->row[i], 1);
        c.of(c.space, &index, 1, &p->costs[i]);
        p->rows[i] = p->row[i];
    }
    p->history = (at_history){KNOWN, p->rows, p->lengths, p->scores, p->tasks, p->costs};
}

/* Costs that are all wrong, and trials of another task with costs that are wrong in the same way,
 * at another speed: the first trial is twice as fast at least. */
static void other_task(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    enum { STEP = 24 };
    static past p;
    at_arena *a = at_arena_new();
    at_space *large = space_of(a, (const int[]){16, 25, 22}, 3, NULL),
             *other = space_of(a, (const int[]){12, 20, 30}, 3, NULL);
    double best = 0;
    remember(&p, (costing){cost_wrong, other}, STEP);
    for (int i = 0; i < KNOWN; i++) /* some failed */
        p.scores[i] = i % 10 ? trial_of(other, (int64_t)i * STEP).score / 7 : 0;
    for (int64_t i = 0; i < at_space_range_length(large); i++)
        best = fmax(best, trial_of(large, i).score);
    at_tuner_options o = {.seed = 3, .costs = {cost_wrong, large}};
    int64_t first;
    assert_int_equal(run("xgb", large, o, 1, IN_ORDER, 1, &first), 1);
    const double without = trial_of(large, first).score;
    o.history = &p.history;
    o.common = (at_features){cost_number, &(costing){cost_wrong, large}};
    assert_int_equal(run("xgb", large, o, 1, IN_ORDER, 1, &first), 1);
    assert_true(without < 0.2 * best && trial_of(large, first).score > 2 * without);
    at_arena_free(a);
}

/* Costs that are right. */
static void cost_right(void *ctx, const int64_t *indices, int n, double *ns) {
    for (int i = 0; i < n; i++) {
        double score = trial_of(ctx, indices[i]).score;
        ns[i] = score > 0 ? 1e4 / score : INFINITY;
    }
}

/* Costs that are right, and another task of which the contrary is told: what its trials say is
 * given up, and ten trials find what they find without it. */
static void misleading_task(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    enum { TRIALS = 10 };
    static past p;
    at_arena *a = at_arena_new();
    at_space *large = space_of(a, (const int[]){16, 25, 22}, 3, NULL);
    costing right = {cost_right, large};
    remember(&p, right, 29);
    for (int i = 0; i < KNOWN; i++)
        p.scores[i] = isfinite(p.costs[i]) ? p.costs[i] * p.costs[i] : 0;
    double best[2] = {0};
    for (int with = 0; with < 2; with++)
        for (uint64_t seed = 1; seed <= 5; seed++) {
            at_tuner_options o = {.seed = seed, .costs = {cost_right, large}};
            int64_t got[TRIALS];
            double found = 0;
            if (with) o.history = &p.history, o.common = (at_features){cost_number, &right};
            assert_int_equal(run("xgb", large, o, 1, IN_ORDER, TRIALS, got), TRIALS);
            for (int i = 0; i < TRIALS; i++) found = fmax(found, trial_of(large, got[i]).score);
            best[with] += found;
        }
    assert_true(best[1] > 0.95 * best[0]);
    at_arena_free(a);
}

/* Of a sum of many parts children of two points of one part are mixtures of the two: knobs of other
 * parts take no part. Another part keeps the values that it knows. */
static void crossover(void **state) {
    (void)state;
    enum { PARTS = 12, KNOBS = 6, VALUES = 9, GENERATIONS = 12, POPULATION = 16 };
    at_arena *a = at_arena_new();
    const char *names[PARTS];
    at_space *parts[PARTS], *sum = at_space_new(a);
    int64_t digits[1 + PARTS * KNOBS], parents[POPULATION][KNOBS];
    int mixed = 0, children = 0;
    at_error err;
    for (int p = 0; p < PARTS; p++) {
        names[p] = at_format(a, "p%d", p);
        parts[p] =
            space_of(a, (const int[]){VALUES, VALUES, VALUES, VALUES, VALUES, VALUES}, KNOBS, NULL);
    }
    assert_int_equal(at_space_sum(sum, "sketch", names, parts, PARTS, &err), AT_OK);
    at_tuner *t = new_tuner("ga", sum, (at_tuner_options){.seed = 4});
    for (int g = 0; g < GENERATIONS; g++) {
        at_trial trials[POPULATION];
        int64_t made[POPULATION][KNOBS];
        for (int i = 0; i < POPULATION; i++) {
            int64_t index;
            assert_int_equal(at_tuner_next(t, &index, 1), 1);
            at_space_digits(sum, index, digits);
            int part = (int)digits[0];
            for (int k = 0; k < KNOBS; k++) made[i][k] = digits[1 + part * KNOBS + k];
            /* A child that differs in two values from each parent is none's copy. */
            bool is_mixed = g > 0;
            for (int p = 0; p < POPULATION && g > 0; p++) {
                int others = 0;
                for (int k = 0; k < KNOBS; k++) others += made[i][k] != parents[p][k];
                is_mixed &= others >= 2;
            }
            mixed += is_mixed;
            children += g > 0;
            trials[i] = (at_trial){.index = index, .valid = true, .score = part == 3 ? 10 : 1};
        }
        at_tuner_update(t, trials, POPULATION);
        memcpy(parents, made, sizeof parents);
    }
    if (5 * mixed < 2 * children) fail_msg("%d of %d children are mixtures", mixed, children);
    at_tuner_free(t);
    at_arena_free(a);
}

/* Which part proposed what: the draft first, then model and descent, and chance at times. */
static void parts(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, (const int[]){16, 25, 22}, 3, NULL);
    for (int costs = 0; costs < 2; costs++) {
        at_tuner *t =
            new_tuner("xgb", s, (at_tuner_options){.costs = {costs ? cost_some : NULL, s}});
        int counts[4] = {0};
        static const char *const names[] = {"draft", "model", "descent", "random"};
        for (int i = 0; i < 100; i++) {
            int64_t index;
            assert_int_equal(at_tuner_next(t, &index, 1), 1);
            const char *part = at_tuner_part(t, index);
            int k = 0;
            while (k < 4 && strcmp(part, names[k])) k++;
            assert_in_range(k, 0, 3);
            if (i == 0) assert_string_equal(part, costs ? "draft" : "random");
            counts[k]++;
            at_trial trial = trial_of(s, index);
            at_tuner_update(t, &trial, 1);
        }
        assert_int_equal(counts[0] > 0, costs);
        assert_true(counts[1] > 5 && counts[2] > 5 && counts[3] > 0);
        assert_string_equal(at_tuner_part(t, -1), "");
        at_tuner_free(t);
    }
    at_arena_free(a);
}

/* Every valid index once, then the end: spaces of one point, smaller than a population and larger,
 * joint filters, index ranges; both ways of making plans. */
static void exhaustive(void **state) {
    (void)state;
    static const struct {
        int lengths[3], num;
        const char *filter;
    } spaces[] = {{{1}, 1, NULL},
                  {{2}, 1, NULL},
                  {{5, 3}, 2, NULL},
                  {{7, 11, 3}, 3, NULL},
                  {{9, 9, 4}, 3, "a * b % 4 == c"},
                  {{12, 12}, 2, "a == b"},
                  {{20, 20}, 2, "a + b == 38"},
                  {{6, 1, 5}, 3, "a > c"}};
    at_arena *a = at_arena_new();
    static int64_t got[MOST];
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
            at_space *s = space_of(a, spaces[k].lengths, spaces[k].num, spaces[k].filter);
            int64_t range = at_space_range_length(s);
            for (int preset = 0; preset < 2; preset++) {
                at_tuner_options o = {.seed = k, .autotvm = preset};
                check_each_once(s, 0, range, got, run(learners[l], s, o, 1, IN_ORDER, MOST, got));
                if (range < 8) continue;
                o.begin = range / 4;
                o.end = range - range / 3;
                check_each_once(s, o.begin, o.end, got,
                                run(learners[l], s, o, 5, IN_ORDER, MOST, got));
            }
        }
    }
    at_arena_free(a);
}

/* A space without knobs has one point; one without a valid point ends at once; and where all trials
 * fail, the search goes on to the end. */
/* Speeds as expected, of which half are only known to be at most something. */
static void bounds_are_no_times(void **state) {
    (void)state;
    enum { N = 64 };
    if (absent("xgb")) skip();
    float features[N][2], labels[N], margins[N];
    bool is_bound[N];
    const float *rows[N];
    double with[N], without[N];
    for (int i = 0; i < N; i++) {
        bool bounded = i >= N / 2;
        features[i][0] = (float)i, features[i][1] = (float)(i % 5);
        rows[i] = features[i];
        margins[i] = bounded ? -8 : -1;
        labels[i] = bounded ? -3 : -1;   /* far above what is expected */
        if (i >= N - 8) labels[i] = -12; /* below it */
        is_bound[i] = bounded;
    }
    at_model_data d = {.num_rows = N,
                       .width = 2,
                       .rows = rows,
                       .labels = labels,
                       .margins = margins,
                       .groups = &(unsigned){N},
                       .num_groups = 1};
    const at_model_options o = {.loss = AT_LOSS_REG, .most_rounds = 40, .patience = 40, .top = 16};
    at_model *m = at_model_fit(&d, &o);
    at_model_predict(m, rows, N, without);
    at_model_free(m);
    d.is_bound = is_bound;
    m = at_model_fit(&d, &o);
    at_model_predict(m, rows, N, with);
    at_model_free(m);
    double base = with[0]; /* the same for all */
    /* Order: those behind a bound are behind what was timed, and among themselves as expected. */
    at_model_options rank = o;
    double ranked[N];
    rank.loss = AT_LOSS_RANK;
    for (int i = N / 2; i < N; i++) labels[i] = -3 - (float)(i % 7);
    m = at_model_fit(&d, &rank);
    at_model_predict(m, rows, N, ranked);
    at_model_free(m);
    for (int i = N / 2; i < N; i++)
        assert_true((double)margins[i] + ranked[i] < (double)margins[0] + ranked[0]);
    for (int i = N / 2; i < N - 8; i++) assert_true(fabs(ranked[i] - ranked[N / 2]) < 1);
    for (int i = N / 2; i < N - 12; i++) {
        assert_true(without[i] - without[0] > 4); /* taken for a time it pulls up */
        assert_true(fabs(with[i] - base) < 0.5);
    }
    for (int i = N - 8; i < N; i++) assert_true(with[i] - base < -3);
}

enum { GENERATION = 16 };

/* What ga proposes after a generation whose even proposals were timed, from 100 on, and whose odd
 * ones are known by bounds. */
static void children_of(at_space *s, const double bounds[GENERATION / 2],
                        int64_t children[GENERATION]) {
    int64_t parents[GENERATION];
    at_trial trials[GENERATION];
    at_tuner *t = new_tuner("ga", s, (at_tuner_options){.seed = 5});
    assert_int_equal(at_tuner_next(t, parents, GENERATION), GENERATION);
    for (int i = 0; i < GENERATION; i++)
        trials[i] = (at_trial){.index = parents[i],
                               .valid = true,
                               .score = i % 2 ? bounds[i / 2] : 100 + i,
                               .is_bound = i % 2};
    at_tuner_update(t, trials, GENERATION);
    assert_int_equal(at_tuner_next(t, children, GENERATION), GENERATION);
    at_tuner_free(t);
}

/* How far a kernel got until it was stopped does not make it a better or a worse parent than
 * another one that was stopped, nor a better one than any that was timed. */
static void bounds_have_no_order(void **state) {
    (void)state;
    static const double up[] = {3, 5, 8, 13, 21, 34, 55, 89},
                        down[] = {89, 55, 34, 21, 13, 8, 5, 3},
                        above[] = {3, 105, 200, 300, 400, 500, 600, 700},
                        timed_too_slow[] = {90, 91, 92, 93, 94, 95, 96, 97};
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, (int[]){20, 20, 20}, 3, NULL);
    int64_t of[4][GENERATION];
    children_of(s, up, of[0]);
    children_of(s, down, of[1]);
    children_of(s, above, of[2]);
    children_of(s, timed_too_slow, of[3]);
    for (int i = 0; i < GENERATION; i++) {
        assert_int_equal(of[0][i], of[1][i]);
        assert_int_equal(of[0][i], of[2][i]);
    }
    assert_true(memcmp(of[0], of[3], sizeof(int64_t) * GENERATION) != 0); /* they do count */
    at_arena_free(a);
}

static void nothing_to_learn(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    int64_t got[64];
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        assert_int_equal(
            run(learners[l], at_space_new(a), (at_tuner_options){0}, 2, IN_ORDER, 9, got), 1);
        at_space *s = space_of(a, (int[]){30}, 1, "a > 3");
        assert_int_equal(run(learners[l], s, (at_tuner_options){.end = 3}, 2, IN_ORDER, 9, got), 0);
        at_tuner *t = new_tuner(learners[l], s, (at_tuner_options){0});
        int n = 0;
        while (at_tuner_next(t, got + n, 1)) {
            at_tuner_update(t, &(at_trial){got[n], false, 0, false}, 1);
            n++;
        }
        assert_int_equal(n, 26);
        at_tuner_free(t);
    }
    at_arena_free(a);
}

/* The same proposals, however many are asked for at a time and in whatever order results come. */
static void batches(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    static int64_t got[MOST], other[MOST];
    at_space *s = space_of(a, (int[]){24, 20, 12}, 3, "(a + b + c) % 5 != 2");
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        for (int preset = 0; preset < 2; preset++) {
            at_tuner_options o = {.seed = 11, .autotvm = preset};
            int n = run(learners[l], s, o, 1, IN_ORDER, 200, got);
            assert_int_equal(n, 200);
            static const int sizes[] = {7, 200};
            for (int i = 0; i < 2; i++) {
                for (order how = IN_ORDER; how <= LATE; how++) {
                    assert_int_equal(run(learners[l], s, o, sizes[i], how, 200, other), 200);
                    assert_memory_equal(got, other, 200 * sizeof *got);
                }
            }
            o.seed = 12;
            run(learners[l], s, o, 1, IN_ORDER, 200, other);
            assert_memory_not_equal(got, other, 200 * sizeof *got);
        }
    }
    at_arena_free(a);
}

/* What was not proposed, comes twice or is no number, changes nothing. */
static void strange_results(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, (int[]){15, 15}, 2, NULL);
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        at_tuner *t = new_tuner(learners[l], s, (at_tuner_options){.seed = 2});
        int64_t index;
        int n = 0;
        at_trial strange[] = {
            {-1, true, 5, false}, {1 << 20, true, 5, false}, {0, true, NAN, false}};
        for (; at_tuner_next(t, &index, 1); n++) {
            at_trial trial = trial_of(s, index);
            if (n % 5 == 0) trial.score = n % 2 ? NAN : -INFINITY;
            at_tuner_update(t, strange, 2);
            at_tuner_update(t, &trial, 1);
            trial.score = 1e30;
            at_tuner_update(t, &trial, 1);
        }
        assert_int_equal(n, 225);
        at_tuner_free(t);
    }
    at_arena_free(a);
}

/* ---- better than chance --------------------------------------------------------------------- */

/* Trials until the goal; one more than `most` if not within these. */
static int trials_to(const char *name, at_space *s, at_tuner_options o, double goal, int most) {
    at_tuner *t = new_tuner(name, s, o);
    int64_t index;
    int n = 0;
    bool reached = false;
    while (!reached && n < most && at_tuner_next(t, &index, 1)) {
        at_trial trial = trial_of(s, index);
        at_tuner_update(t, &trial, 1);
        reached = trial.score >= goal;
        n++;
    }
    at_tuner_free(t);
    return reached ? n : n + 1;
}

static int median_trials(const char *name, at_space *s, at_tuner_options o, double goal, int most) {
    enum { SEEDS = 5 };
    int trials[SEEDS];
    for (int seed = 0; seed < SEEDS; seed++) {
        o.seed = (uint64_t)seed;
        int n = trials_to(name, s, o, goal, most), at = seed;
        for (; at > 0 && trials[at - 1] > n; at--) trials[at] = trials[at - 1];
        trials[at] = n;
    }
    return trials[SEEDS / 2];
}

static void beats_chance(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, (int[]){16, 12, 10, 5}, 4, NULL);
    int64_t n = at_space_len(s), good = 0;
    double best = 0;
    for (int64_t i = 0; i < n; i++) best = fmax(best, trial_of(s, i).score);
    for (int64_t i = 0; i < n; i++) good += trial_of(s, i).score >= 0.99 * best;
    int expected = (int)((n + 1) / (good + 1)); /* of random picks, none twice */
    assert_in_range(expected, 301, 2 * MOST);
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        int trials =
            median_trials(learners[l], s, (at_tuner_options){0}, 0.99 * best, expected / 2);
        if (trials > expected / 2) fail_msg("%s: random takes %d trials", learners[l], expected);
    }
    if (absent("xgb")) skip();
    static const char *const losses[] = {"xgb:loss=rank,diversity=2", "xgb:loss=reg,diversity=2"};
    for (int i = 0; i < 2; i++) {
        at_tuner_options o = {0};
        const at_tuner_class *row;
        at_error err;
        if (at_tuner_parse(losses[i], &o, &row, &err) != AT_OK) fail_msg("%s", err.text);
        assert_true(median_trials("xgb", s, o, 0.99 * best, expected / 2) <= expected / 2);
    }
    at_arena_free(a);
}

/* A base model from a task of the same shape finds the peak in the first plan already. */
static void history(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    at_space *s = space_of(a, (int[]){16, 12, 10, 5}, 4, NULL);
    enum { ROWS = 400 };
    static float rows[ROWS][4];
    static const float *row[ROWS];
    static int lengths[ROWS], tasks[ROWS];
    static double scores[ROWS];
    at_rng rng;
    at_rng_seed(&rng, 1, 1);
    for (int i = 0; i < ROWS; i++) {
        int64_t digits[4], index = (int64_t)at_rng_below(&rng, (uint64_t)at_space_len(s));
        at_space_digits(s, index, digits);
        for (int k = 0; k < 4; k++) rows[i][k] = (float)digits[k];
        row[i] = rows[i];
        lengths[i] = 4;
        tasks[i] = i / 150;
        /* Tasks of very different speed: shares of the best of each are learned. */
        scores[i] = trial_of(s, index).score * (tasks[i] == 1 ? 1e-3 : 1);
    }
    at_history h = {ROWS, row, lengths, scores, tasks, NULL};
    double best = 0, with = 0, without = 0;
    for (int64_t i = 0; i < at_space_len(s); i++) best = fmax(best, trial_of(s, i).score);
    for (uint64_t seed = 0; seed < 10; seed++) {
        int64_t got[10];
        double found = 0;
        run("xgb", s, (at_tuner_options){.seed = seed, .history = &h}, 1, IN_ORDER, 10, got);
        for (int i = 0; i < 10; i++) found = fmax(found, trial_of(s, got[i]).score / best);
        with += found / 10;
        found = 0;
        run("xgb", s, (at_tuner_options){.seed = seed}, 1, IN_ORDER, 10, got);
        for (int i = 0; i < 10; i++) found = fmax(found, trial_of(s, got[i]).score / best);
        without += found / 10;
    }
    assert_true(with > without + 0.1);
    at_arena_free(a);
}

/* ---- golden measures ------------------------------------------------------------------------ */

static const at_json *golden(at_arena *a) {
    const at_json *v = NULL;
    char *text;
    size_t len;
    at_error err;
    if (at_read_file(a, "tests/golden/metrics.json", &text, &len, &err) != AT_OK ||
        at_json_parse(a, text, len, &v, &err) != AT_OK)
        fail_msg("%s", err.text);
    return v;
}

static int numbers(const at_json *list, double *out) {
    int n = 0;
    for (const at_json *x = list->child; x; x = x->next) out[n++] = x->number;
    return n;
}

static void recalls(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_json *curves = at_json_get(golden(a), "curves");
    assert_true(curves->count > 0);
    for (const at_json *c = curves->child; c; c = c->next) {
        double preds[32], labels[32], expected[32], got[32];
        int n = numbers(at_json_get(c, "preds"), preds);
        numbers(at_json_get(c, "labels"), labels);
        assert_int_equal(numbers(at_json_get(c, "recall_curve"), expected), n);
        at_recall_curve(preds, labels, n, got);
        for (int i = 0; i < n; i++) assert_float_equal(got[i], expected[i], 1e-12);
        int top = (int)at_json_get(c, "N")->integer;
        assert_float_equal(at_average_recall(preds, labels, n, top),
                           at_json_get(c, "a_recall")->number, 1e-12);
    }
    at_arena_free(a);
}

static void diverse_picks(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_json *cases = at_json_get(golden(a), "submodular_pick");
    assert_true(cases->count > 0);
    for (const at_json *c = cases->child; c; c = c->next) {
        double scores[32];
        int64_t digits[32 * 4];
        int n = numbers(at_json_get(c, "scores"), scores), num_digits = 0, at = 0, picked[32];
        for (const at_json *row = at_json_get(c, "knobs")->child; row; row = row->next) {
            num_digits = row->count;
            for (const at_json *x = row->child; x; x = x->next) digits[at++] = x->integer;
        }
        int num = (int)at_json_get(c, "n_pick")->integer;
        at_pick_diverse(scores, digits, n, num_digits, at_json_get(c, "knob_weight")->number, num,
                        picked);
        const at_json *expected = at_json_get(c, "picked")->child;
        for (int i = 0; i < num; i++, expected = expected->next)
            assert_int_equal(picked[i], expected->integer);
    }
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_costs),
        cmocka_unit_test(parts),
        cmocka_unit_test(exhaustive),
        cmocka_unit_test(nothing_to_learn),
        cmocka_unit_test(batches),
        cmocka_unit_test(strange_results),
        cmocka_unit_test(beats_chance),
        cmocka_unit_test(history),
        cmocka_unit_test(recalls),
        cmocka_unit_test(diverse_picks),
        cmocka_unit_test(start),
        cmocka_unit_test(other_task),
        cmocka_unit_test(misleading_task),
        cmocka_unit_test(small_part),
        cmocka_unit_test(doubted_part),
        cmocka_unit_test(crossover),
        cmocka_unit_test(bounds_are_no_times),
        cmocka_unit_test(bounds_have_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
