/* Which task gets the next round: Ansor's formula by hand, and searches of recorded spaces, which
 * reach the same sum with fewer trials than equal shares do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "engine/search/task_share.h"

#include <math.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

static void expect_gain(const at_shares *s, int task, double gain) {
    double found = at_shares_gain(s, task);
    if (fabs(found - gain) > 1e-9 * fabs(gain) + 1e-12)
        fail_msg("task %d: gain %.12g instead of %.12g", task, found, gain);
}

/* A round of the task that must be next. */
static void round_of(at_shares *s, int task, double best_s) {
    assert_int_equal(at_shares_next(s), task);
    at_shares_add(s, task, best_s);
}

/* 0.8 weight best/rounds, and 0.2 weight (best 3 rounds ago - best)/3. */
static void by_hand(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_share_task tasks[] = {{1, 1000, NULL, 0}, {3, 1000, NULL, 0}};
    at_shares *s = at_shares_new(a, tasks, 2, 0);
    round_of(s, 1, 2); /* each has one round first, the largest before the others */
    round_of(s, 0, 8);
    expect_gain(s, 0, 0.8 * 8);
    expect_gain(s, 1, 3 * 0.8 * 2);
    round_of(s, 0, 7);
    expect_gain(s, 0, 0.8 * 7 / 2);
    round_of(s, 1, 2);
    expect_gain(s, 1, 3 * 0.8 * 2 / 2);
    round_of(s, 0, 7);
    expect_gain(s, 0, 0.8 * 7 / 3);
    round_of(s, 1, 1.8);
    expect_gain(s, 1, 3 * 0.8 * 1.8 / 3);
    round_of(s, 0, 6.4); /* the fourth: the third before it was the first, of 8 */
    expect_gain(s, 0, 0.2 * (8 - 6.4) / 3 + 0.8 * 6.4 / 4);
    round_of(s, 1, 1.7);
    expect_gain(s, 1, 3 * (0.2 * (2 - 1.7) / 3 + 0.8 * 1.7 / 4));
    /* 1.3867 and 1.08; without rounds to come the other one has all */
    at_shares_end(s, 0);
    round_of(s, 1, 1.7);
    at_shares_end(s, 1);
    assert_int_equal(at_shares_next(s), -1);
    at_arena_free(a);
}

/* First rounds in pieces go by turns; what has results of another search begins last. */
static void by_turns(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_share_task tasks[] = {{1, 3000, NULL, 0}, {1, 2000, NULL, 0}, {1, 1000, NULL, 0}};
    at_shares *s = at_shares_new(a, tasks, COUNT(tasks), 0);
    static const int in_turn[] = {0, 2, 1};
    at_shares_put_off(s, 1);
    for (int i = 0; i < 2 * COUNT(tasks); i++) {
        assert_int_equal(at_shares_next(s), in_turn[i % COUNT(tasks)]);
        at_shares_add_piece(s, in_turn[i % COUNT(tasks)]);
    }
    /* However many pieces it had, it was one round. */
    for (int i = 0; i < COUNT(tasks); i++) round_of(s, in_turn[i], 4 + i);
    for (int i = 0; i < COUNT(tasks); i++) expect_gain(s, in_turn[i], 0.8 * (4 + i));
    at_arena_free(a);
}

/* Of ways of doing one thing: by how much the least of the times may fall. */
static void least_of_all(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_share_task tasks[] = {{1, 1000, NULL, 1}, {1, 1000, NULL, 1}};
    at_shares *s = at_shares_new(a, tasks, 2, 0);
    round_of(s, 0, 8);
    round_of(s, 1, 2);
    expect_gain(s, 0, 2 - (8 - 0.8 * 8));
    expect_gain(s, 1, 0.8 * 2);
    round_of(s, 1, 1.9);
    round_of(s, 1, 1.8);
    expect_gain(s, 0, 1.8 - (8 - 0.8 * 8));
    expect_gain(s, 1, 0.8 * 1.8 / 3);
    round_of(s, 1, 1.5);
    /* what cannot come near the best gets nothing */
    expect_gain(s, 0, 0);
    expect_gain(s, 1, 0.2 * (2 - 1.5) / 3 + 0.8 * 1.5 / 4);
    for (int i = 0; i < 5; i++) round_of(s, 1, 1.5);
    at_arena_free(a);
}

/* log(1001) and log(1201) to the base 1.618 are 14.36 and 14.74; of 1501 15.2. */
static void like_others(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_share_task tasks[] = {
        {1, 1000, "dense", 0}, {1, 1200, "dense", 0}, {1, 1500, "dense", 0}, {1, 1000, "conv", 0}};
    at_shares *s = at_shares_new(a, tasks, COUNT(tasks), 0);
    static const int largest_first[] = {2, 1, 0, 3};
    for (int i = 0; i < COUNT(tasks); i++) round_of(s, largest_first[i], 4);
    for (int i = 0; i < COUNT(tasks); i++)
        for (int n = 0; n < 3; n++) at_shares_add(s, i, 4);
    /* Of one size and speed, no more is expected than by the rounds. */
    for (int i = 0; i < COUNT(tasks); i++) expect_gain(s, i, 0.8 * 4 / 4);
    /* The second one at 1200 a second: the first should come to half of that, 2 * 1000/1200 s. */
    at_shares_add(s, 1, 1);
    expect_gain(s, 0, 0.8 * (4 - 2 * 1000 / 1200.0));
    expect_gain(s, 2, 0.8 * 4 / 4);
    expect_gain(s, 3, 0.8 * 4 / 4);
    assert_int_equal(at_shares_next(s), 0);
    /* It does not in more than 5 rounds more than the other has had: it is not like it. */
    for (int n = 0; n < 6; n++) at_shares_add(s, 0, 4);
    expect_gain(s, 0, 0.8 * (4 - 2 * 1000 / 1200.0));
    at_shares_add(s, 0, 4);
    expect_gain(s, 0, 0.8 * 4 / 11);
    at_arena_free(a);
}

/* What has no valid result neither starves nor takes everything. */
static void none_valid(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_share_task tasks[] = {{1, 1000, NULL, 0}, {1, 1000, NULL, 0}, {2, 500, NULL, 0}};
    at_shares *s = at_shares_new(a, tasks, COUNT(tasks), 0);
    int rounds[COUNT(tasks)] = {0};
    round_of(s, 0, 0);
    round_of(s, 1, 0);
    round_of(s, 2, 0);
    expect_gain(s, 0, 0.8); /* nothing is known: as if each took a second of the sum */
    expect_gain(s, 2, 0.8);
    at_shares_add(s, 0, 1);
    at_shares_add(s, 2, 0.75);
    expect_gain(s, 1, 0.8 * 2 * 0.75); /* as the third, the largest */
    expect_gain(s, 2, 0.8 * 2 * 0.75 / 2);
    for (int n = 0; n < 300; n++) {
        int next = at_shares_next(s);
        rounds[next]++;
        at_shares_add(s, next, next == 0 ? 1 : next == 1 ? 0 : 0.75);
    }
    for (int i = 0; i < COUNT(tasks); i++) assert_in_range(rounds[i], 60, 125);
    at_arena_free(a);
}

/* Where all promise the same the seed decides, always alike. */
static void ties(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const at_share_task tasks[] = {{1, 10, NULL, 0}, {1, 10, NULL, 0}, {1, 10, NULL, 0}};
    int first[3] = {0};
    for (uint64_t seed = 0; seed < 60; seed++) {
        int chosen[2];
        for (int i = 0; i < 2; i++) {
            at_shares *s = at_shares_new(a, tasks, COUNT(tasks), seed);
            for (int k = 0; k < 3; k++) round_of(s, k, 5);
            chosen[i] = at_shares_next(s);
        }
        assert_int_equal(chosen[0], chosen[1]);
        first[chosen[0]]++;
    }
    for (int i = 0; i < 3; i++) assert_true(first[i] > 5);
    at_arena_free(a);
}

/* ---- recorded spaces ------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int count;
} recorded[] = {
    {"conv2d_3x3_gemm_14x14x256x256", 6},
    {"conv2d_3x3_gemm_14x14x64x128", 4},
    {"conv2d_NCHWc_24x24x96x96", 1},
    {"conv2d_NCHWc_30x60x48x144", 2},
    {"dense_16x128x128", 1},
    {"dense_30x120x64", 3},
};
enum { NUM_RECORDED = COUNT(recorded), ROUND = 8, SEEDS = 20 };

typedef struct search {
    at_tuner *tuner;
    double best_s;
} search;

static bool run_round(search *x, const at_recorded *r) {
    for (int i = 0; i < ROUND; i++) {
        int64_t index;
        if (!at_tuner_next(x->tuner, &index, 1)) return false;
        double s = r->time_s[index];
        at_tuner_update(x->tuner, &(at_trial){index, s > 0, s > 0 ? 1 / s : 0, false}, 1);
        if (s > 0 && (x->best_s == 0 || s < x->best_s)) x->best_s = s;
    }
    return true;
}

/* Trials until the weighted sum is within 5 % of the least; equal: all in turn. */
static int trials_to_sum(at_arena *a, const at_recorded *spaces, bool equal, uint64_t seed) {
    at_share_task tasks[NUM_RECORDED];
    search of[NUM_RECORDED] = {0};
    double least_s = 0;
    int trials = 0, turn = 0;
    for (int i = 0; i < NUM_RECORDED; i++) {
        at_tuner_options o = {.seed = seed};
        at_error err;
        tasks[i] = (at_share_task){recorded[i].count, at_task_flops(spaces[i].task),
                                   at_task_row(spaces[i].task)->name, 0};
        least_s += recorded[i].count * spaces[i].best_s;
        assert_int_equal(at_tuner_new("ga", spaces[i].space, &o, &of[i].tuner, &err), AT_OK);
    }
    at_shares *s = at_shares_new(a, tasks, NUM_RECORDED, seed);
    for (bool reached = false; !reached;) {
        int next = equal ? turn++ % NUM_RECORDED : at_shares_next(s);
        assert_true(next >= 0 && trials < 1000000);
        if (!run_round(&of[next], &spaces[next])) at_shares_end(s, next);
        at_shares_add(s, next, of[next].best_s);
        trials += ROUND;
        double sum_s = 0;
        for (int i = 0; i < NUM_RECORDED; i++)
            sum_s += of[i].best_s > 0 ? recorded[i].count * of[i].best_s : INFINITY;
        reached = sum_s <= 1.05 * least_s;
    }
    for (int i = 0; i < NUM_RECORDED; i++) at_tuner_free(of[i].tuner);
    return trials;
}

static void fewer_trials(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_error err;
    static at_recorded spaces[NUM_RECORDED];
    double shared = 0, equal = 0;
    for (int i = 0; i < NUM_RECORDED; i++) {
        const char *path = at_format(a, "docs/spaces/%s.space.gz", recorded[i].name);
        if (at_recorded_read(a, path, NULL, NULL, &spaces[i], &err) != AT_OK)
            fail_msg("%s", err.text);
    }
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        shared += trials_to_sum(a, spaces, false, seed);
        equal += trials_to_sum(a, spaces, true, seed);
    }
    print_message("trials to within 5 %% of the least sum: %.0f, with equal shares %.0f\n",
                  shared / SEEDS, equal / SEEDS);
    assert_true(shared < 0.8 * equal);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),     cmocka_unit_test(by_turns),   cmocka_unit_test(least_of_all),
        cmocka_unit_test(like_others), cmocka_unit_test(none_valid), cmocka_unit_test(ties),
        cmocka_unit_test(fewer_trials)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
