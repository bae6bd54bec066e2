/* xgb with what it is told before its first trial: estimated costs, right and wrong, and trials of
 * other tasks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "searches.h"

/* ---- costs ---------------------------------------------------------------------------------- */

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
    static int64_t got[MOST_TRIALS];
    double found[SEEDS] = {0};
    for (int k = 0; k < SEEDS; k++) {
        at_tuner_options mine = *o;
        mine.seed = o->seed + (uint64_t)k;
        run_search("xgb", space, mine, 1, IN_ORDER, TRIALS, got);
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
    static int64_t got[MOST_TRIALS], other[MOST_TRIALS];
    static void (*const costs[])(void *, const int64_t *, int, double *) = {cost_all, cost_opposite,
                                                                            cost_some, cost_none};
    at_space *small = options_space(a, (const int[]){9, 9, 4}, 3, "a * b % 4 != c");
    at_space *large = options_space(a, (const int[]){16, 25, 20}, 3, NULL);
    static const double enough[] = {0.95, 0.5, 0.95, 0.9};
    double best = 0;
    for (int64_t i = 0; i < at_space_range_length(large); i++)
        best = fmax(best, trial_of(large, i).score);
    for (int c = 0; c < 4; c++) {
        at_tuner_options o = {.seed = 3, .costs = {costs[c], small}};
        int n = run_search("xgb", small, o, 1, IN_ORDER, MOST_TRIALS, got);
        check_each_once(small, 0, at_space_range_length(small), got, n);
        double ns, least = INFINITY;
        for (int i = 0; i < n; i++) {
            costs[c](small, &got[i], 1, &ns);
            least = fmin(least, ns);
            if (i == 0) other[0] = (int64_t)fmin(ns, 1e18);
        }
        assert_int_equal(other[0], (int64_t)fmin(least, 1e18));
        o = (at_tuner_options){.seed = 5, .costs = {costs[c], large}};
        run_search("xgb", large, o, 1, IN_ORDER, 100, got);
        run_search("xgb", large, o, 7, REVERSED, 100, other);
        assert_memory_equal(got, other, 100 * sizeof *got);
        if (c == 0) {
            run_search("xgb", large, o, 5, LATE, 100, other);
            assert_memory_equal(got, other, 100 * sizeof *got);
        }
        assert_true(found_with_costs(large, &o) >= enough[c] * best);
        if (c == 0) assert_true(trial_of(large, got[0]).score >= 0.95 * best);
    }
    at_arena_free(a);
}

/* Where costs are wrong about everything, the point to start from is the first trial all the same,
 * or the last of the first plan, of two; no plan has it again. */
static void start(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    static int64_t got[MOST_TRIALS];
    at_space *s = options_space(a, (const int[]){9, 9, 4}, 3, "a * b % 4 != c");
    int64_t length = at_space_range_length(s), begin = length - 1;
    while (!at_space_is_valid(s, begin)) begin--;
    at_tuner_options o = {.seed = 3, .costs = {cost_opposite, s}, .start = &begin};
    check_each_once(s, 0, length, got, run_search("xgb", s, o, 1, IN_ORDER, MOST_TRIALS, got));
    assert_int_equal(got[2], begin);
    o.start_leads = true;
    check_each_once(s, 0, length, got, run_search("xgb", s, o, 1, IN_ORDER, MOST_TRIALS, got));
    assert_int_equal(got[0], begin);
    while (at_space_is_valid(s, begin)) begin--; /* no point: as without */
    check_each_once(s, 0, length, got, run_search("xgb", s, o, 1, IN_ORDER, MOST_TRIALS, got));
    at_arena_free(a);
}

/* Which part proposed what: the draft first, then model and descent, and chance at times. */
static void parts(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    at_space *s = options_space(a, (const int[]){16, 25, 22}, 3, NULL);
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

/* ---- trials that had luck ------------------------------------------------------------------- */

/* One kind of points is a little better than all others, and costs say so; most of the same kind
 * are a little worse, which costs do not know. */
enum { KIND = 3 };
static bool is_good_kind(const at_space *s, int64_t index) {
    int64_t digits[3];
    at_space_digits(s, index, digits);
    return digits[0] == KIND && digits[1] == 0;
}

static double speed_of(const at_space *s, int64_t index, bool as_costs) {
    int64_t digits[3];
    at_space_digits(s, index, digits);
    double speed = 100 / (1 + 0.002 * (double)digits[2]);
    if (digits[0] == KIND) speed *= digits[1] && !as_costs ? 0.9 : 1.03;
    return speed;
}

static void cost_of_kinds(void *ctx, const int64_t *indices, int n, double *ns) {
    for (int i = 0; i < n; i++) ns[i] = 1e5 / speed_of(ctx, indices[i], true);
}

/* The good kind is tried, though trials of those like it have been worse and what is measured is
 * off by a few percent. */
static void unlucky_kind(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    enum { SEEDS = 20, TRIALS = 150, ENOUGH = 5 };
    at_arena *a = at_arena_new();
    at_space *s = options_space(a, (const int[]){12, 6, 30}, 3, NULL);
    int found = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        at_tuner *t =
            new_tuner("xgb", s, (at_tuner_options){.seed = seed, .costs = {cost_of_kinds, s}});
        at_rng luck;
        int tried = 0;
        at_rng_seed(&luck, seed, 1);
        for (int i = 0; i < TRIALS; i++) {
            int64_t index;
            assert_int_equal(at_tuner_next(t, &index, 1), 1);
            tried += is_good_kind(s, index);
            double off = 0.96 + 0.08 * at_rng_unit(&luck);
            at_trial trial = {index, true, speed_of(s, index, false) * off, false};
            at_tuner_update(t, &trial, 1);
        }
        found += tried >= ENOUGH;
        at_tuner_free(t);
    }
    if (found < 18) fail_msg("%d of %d", found, SEEDS);
    at_arena_free(a);
}

/* ---- costs of sums of spaces ---------------------------------------------------------------- */

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
    at_space *parts[] = {options_space(a, (const int[]){100, 100, 100}, 3, NULL),
                         options_space(a, (const int[]){5, 2}, 2, NULL)},
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
        parts[p] = options_space(a, (const int[]){8, 8, 8}, 3, NULL);
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

/* ---- trials of other tasks ------------------------------------------------------------------ */

/* A base model from a task of the same shape finds the peak in the first plan already. */
static void history(void **state) {
    (void)state;
    if (absent("xgb")) skip();
    at_arena *a = at_arena_new();
    at_space *s = options_space(a, (int[]){16, 12, 10, 5}, 4, NULL);
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
        run_search("xgb", s, (at_tuner_options){.seed = seed, .history = &h}, 1, IN_ORDER, 10, got);
        for (int i = 0; i < 10; i++) found = fmax(found, trial_of(s, got[i]).score / best);
        with += found / 10;
        found = 0;
        run_search("xgb", s, (at_tuner_options){.seed = seed}, 1, IN_ORDER, 10, got);
        for (int i = 0; i < 10; i++) found = fmax(found, trial_of(s, got[i]).score / best);
        without += found / 10;
    }
    assert_true(with > without + 0.1);
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
    at_space *large = options_space(a, (const int[]){16, 25, 22}, 3, NULL),
             *other = options_space(a, (const int[]){12, 20, 30}, 3, NULL);
    double best = 0;
    remember(&p, (costing){cost_wrong, other}, STEP);
    for (int i = 0; i < KNOWN; i++) /* some failed */
        p.scores[i] = i % 10 ? trial_of(other, (int64_t)i * STEP).score / 7 : 0;
    for (int64_t i = 0; i < at_space_range_length(large); i++)
        best = fmax(best, trial_of(large, i).score);
    at_tuner_options o = {.seed = 3, .costs = {cost_wrong, large}};
    int64_t first;
    assert_int_equal(run_search("xgb", large, o, 1, IN_ORDER, 1, &first), 1);
    const double without = trial_of(large, first).score;
    o.history = &p.history;
    o.common = (at_features){cost_number, &(costing){cost_wrong, large}};
    assert_int_equal(run_search("xgb", large, o, 1, IN_ORDER, 1, &first), 1);
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
    at_space *large = options_space(a, (const int[]){16, 25, 22}, 3, NULL);
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
            assert_int_equal(run_search("xgb", large, o, 1, IN_ORDER, TRIALS, got), TRIALS);
            for (int i = 0; i < TRIALS; i++) found = fmax(found, trial_of(large, got[i]).score);
            best[with] += found;
        }
    assert_true(best[1] > 0.95 * best[0]);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(with_costs),      cmocka_unit_test(parts),
        cmocka_unit_test(unlucky_kind),    cmocka_unit_test(start),
        cmocka_unit_test(small_part),      cmocka_unit_test(doubted_part),
        cmocka_unit_test(history),         cmocka_unit_test(other_task),
        cmocka_unit_test(misleading_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
