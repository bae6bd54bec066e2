/* ga and xgb: what holds for every tuner that learns, and that both find more than chance would on
 * spaces with structure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include "searches.h"

static const char *const learners[] = {"ga", "xgb"};
enum { NUM_LEARNERS = 2 };

/* ---- each point once ------------------------------------------------------------------------ */

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
    static int64_t got[MOST_TRIALS];
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
            at_space *s = options_space(a, spaces[k].lengths, spaces[k].num, spaces[k].filter);
            int64_t range = at_space_range_length(s);
            for (int preset = 0; preset < 2; preset++) {
                at_tuner_options o = {.seed = k, .autotvm = preset};
                check_each_once(s, 0, range, got,
                                run_search(learners[l], s, o, 1, IN_ORDER, MOST_TRIALS, got));
                if (range < 8) continue;
                o.begin = range / 4;
                o.end = range - range / 3;
                check_each_once(s, o.begin, o.end, got,
                                run_search(learners[l], s, o, 5, IN_ORDER, MOST_TRIALS, got));
            }
        }
    }
    at_arena_free(a);
}

/* A space without knobs has one point; one without a valid point ends at once; and where all trials
 * fail, the search goes on to the end. */
static void nothing_to_learn(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    int64_t got[64];
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        assert_int_equal(
            run_search(learners[l], at_space_new(a), (at_tuner_options){0}, 2, IN_ORDER, 9, got),
            1);
        at_space *s = options_space(a, (int[]){30}, 1, "a > 3");
        assert_int_equal(
            run_search(learners[l], s, (at_tuner_options){.end = 3}, 2, IN_ORDER, 9, got), 0);
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
    static int64_t got[MOST_TRIALS], other[MOST_TRIALS];
    at_space *s = options_space(a, (int[]){24, 20, 12}, 3, "(a + b + c) % 5 != 2");
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        for (int preset = 0; preset < 2; preset++) {
            at_tuner_options o = {.seed = 11, .autotvm = preset};
            int n = run_search(learners[l], s, o, 1, IN_ORDER, 200, got);
            assert_int_equal(n, 200);
            static const int sizes[] = {7, 200};
            for (int i = 0; i < 2; i++) {
                for (order how = IN_ORDER; how <= LATE; how++) {
                    assert_int_equal(run_search(learners[l], s, o, sizes[i], how, 200, other), 200);
                    assert_memory_equal(got, other, 200 * sizeof *got);
                }
            }
            o.seed = 12;
            run_search(learners[l], s, o, 1, IN_ORDER, 200, other);
            assert_memory_not_equal(got, other, 200 * sizeof *got);
        }
    }
    at_arena_free(a);
}

/* What was not proposed, comes twice or is no number, changes nothing. */
static void strange_results(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_space *s = options_space(a, (int[]){15, 15}, 2, NULL);
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

/* Points that have to be found, two places for one of them at times: none is proposed twice. */
static void found_points(void **state) {
    (void)state;
    enum { KNOBS = 5, TRIALS = 40 };
    at_arena *a = at_arena_new();
    at_space *s = at_space_new(a);
    at_error err;
    for (int k = 0; k < KNOBS; k++)
        assert_int_equal(at_space_option(s, (const char *[]){"a", "b", "c", "d", "e"}[k],
                                         "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14]", &err),
                         AT_OK);
    assert_int_equal(at_space_require(s, -1, "a*b*c*d*e == 5040", "product", NULL, 0, &err), AT_OK);
    assert_true(at_space_mends(s));
    for (int l = 0; l < NUM_LEARNERS; l++) {
        if (absent(learners[l])) continue;
        at_tuner *t = new_tuner(learners[l], s, (at_tuner_options){.seed = 3});
        int64_t got[TRIALS];
        for (int n = 0; n < TRIALS; n++) {
            assert_int_equal(at_tuner_next(t, got + n, 1), 1);
            assert_true(at_space_is_valid(s, got[n]));
            for (int i = 0; i < n; i++) assert_true(got[i] != got[n]);
            at_tuner_update(t, &(at_trial){got[n], true, (double)(got[n] % 97) + 1, false}, 1);
        }
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
    at_space *s = options_space(a, (int[]){16, 12, 10, 5}, 4, NULL);
    int64_t n = at_space_len(s), good = 0;
    double best = 0;
    for (int64_t i = 0; i < n; i++) best = fmax(best, trial_of(s, i).score);
    for (int64_t i = 0; i < n; i++) good += trial_of(s, i).score >= 0.99 * best;
    int expected = (int)((n + 1) / (good + 1)); /* of random picks, none twice */
    assert_in_range(expected, 301, 2 * MOST_TRIALS);
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

/* ---- generations of ga ---------------------------------------------------------------------- */

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
        parts[p] = options_space(a, (const int[]){VALUES, VALUES, VALUES, VALUES, VALUES, VALUES},
                                 KNOBS, NULL);
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
    at_space *s = options_space(a, (int[]){20, 20, 20}, 3, NULL);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exhaustive),   cmocka_unit_test(nothing_to_learn),
        cmocka_unit_test(batches),      cmocka_unit_test(strange_results),
        cmocka_unit_test(found_points), cmocka_unit_test(beats_chance),
        cmocka_unit_test(crossover),    cmocka_unit_test(bounds_have_no_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
