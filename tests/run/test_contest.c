/* bench/contest.c: contests of the bench, whose pairs are made up here: medians of all pairs and of
 * those in each state, and room for as many pairs as an outcome may hold, which is more than were
 * asked for where states change all the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define at_time_pairs make_up_pairs
#include "bench/contest.c"
#undef at_time_pairs
#include "bench/memory.c"
#include "bench/report.c"

static int num_pairs; /* of each outcome */

/* A run's time over the first one's. */
static const double ratios[AT_STATE_COUNT] = {
    [AT_STATE_ALONE] = 1.5, [AT_STATE_COMPANY] = 2.5, [AT_STATE_MIXED] = 1.75};
static const at_state states[] = {AT_STATE_MIXED, AT_STATE_ALONE, AT_STATE_MIXED, AT_STATE_COMPANY,
                                  AT_STATE_MIXED};
enum { STATES = sizeof states / sizeof *states };

int make_up_pairs(at_run *r, at_anchor *a, const at_job *job, at_run_time check_run,
                  at_outcome *out) {
    (void)r, (void)a, (void)check_run;
    assert_true(job->pairs <= num_pairs && job->to_the_end);
    for (int i = 0; i < num_pairs; i++) {
        at_state s = states[i % STATES];
        out->pairs[out->num_pairs++] = (at_pair){ratios[s] * 1e-3, 1e-3, 1e-3, s};
    }
    return 0;
}

static void idle(void *context) { ++*(volatile int *)context; }

static void hold(at_bench_contest *c) {
    int calls = 0;
    const at_bench_contender of[] = {{idle, &calls, 1}, {idle, &calls, 1}};
    at_bench_contest_run(c, of, 2, at_target_find(at_vector_set_name(at_cpu_best_set())));
    assert_true(calls >= 4);
}

static void as_many_as_an_outcome_holds(void **state) {
    (void)state;
    at_bench_contest c;
    num_pairs = AT_MAX_PAIRS;
    hold(&c);
    at_bench_spread s = at_bench_contest_speed(&c, 0, 1);
    assert_true(s.median == ratios[AT_STATE_MIXED]);
    assert_true(s.in[AT_BENCH_ALONE] == ratios[AT_STATE_ALONE]);
    assert_true(s.in[AT_BENCH_COMPANY] == ratios[AT_STATE_COMPANY]);
    assert_true(s.share[AT_BENCH_ALONE] == 1.0 / STATES);
    assert_true(s.share[AT_BENCH_COMPANY] == 1.0 / STATES);
    assert_int_equal(c.pairs[AT_BENCH_ANY], 2LL * c.rounds * AT_MAX_PAIRS);
}

/* A contest goes on until medians are known to 0.4 %: where quartiles are 2 % apart that takes some
 * twenty rounds; where they are 9 % apart 241 are not enough. */
static void until_it_is_sure(void **state) {
    (void)state;
    static at_bench_contest c = {.peak = 2};
    for (int r = 0; r < AT_BENCH_ROUNDS; r++) {
        c.times[AT_BENCH_ANY][r].of[1] = 1;
        c.times[AT_BENCH_ANY][r].of[2] = 2 + 0.02 * (r % 5 - 2);
    }
    for (c.rounds = 7; !is_sure(&c) && c.rounds < AT_BENCH_ROUNDS; c.rounds++) {
    }
    assert_in_range(c.rounds, 15, 40);
    for (int r = 0; r < AT_BENCH_ROUNDS; r++) c.times[AT_BENCH_ANY][r].of[1] = 1 + 0.05 * (r % 5);
    c.rounds = AT_BENCH_ROUNDS;
    assert_false(is_sure(&c));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_many_as_an_outcome_holds),
                                       cmocka_unit_test(until_it_is_sure)};
    return cmocka_run_group_tests_name("run/contest", tests, NULL, NULL);
}
