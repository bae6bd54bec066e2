/* Searches with workers that are made up, over the spaces of docs/spaces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "remote/simulate.h"
#include "tests/arena.h"

static at_recorded space;

static int setup(void **state) {
    at_error err;
    (void)state;
    arena = at_arena_new();
    return at_recorded_read(arena, "docs/spaces/dense_16x128x128.space.gz", NULL, NULL, &space,
                            &err) == AT_OK
               ? 0
               : -1;
}

static at_simulated simulate(const char *tuner, at_simulation what) {
    at_simulated x;
    at_error err;
    at_engine_options o = {.tuner = tuner, .seed = 3};
    if (at_simulate(&space, &o, &what, &x, &err) != AT_OK) fail_msg("%s", err.text);
    return x;
}

/* Trials of a second: what the search itself takes is nothing beside them. */
static void linear(void **state) {
    (void)state;
    at_simulated one =
        simulate("random", (at_simulation){.workers = 1, .trials = 60, .trial_s = 1});
    at_simulated many =
        simulate("random", (at_simulation){.workers = 16, .trials = 400, .trial_s = 1});
    assert_int_equal(one.trials, 60);
    assert_int_equal(many.trials, 400);
    assert_true(fabs(one.per_second - 1) < 0.05);
    assert_true(many.per_second > 14 && many.per_second < 18);
    /* The network's time is hidden, as long as it is less than a trial's. */
    at_simulated slow = simulate(
        "random", (at_simulation){.workers = 1, .trials = 60, .trial_s = 1, .latency_s = 0.3});
    assert_true(fabs(slow.per_second - 1) < 0.05);
}

/* Workers are lost with every twentieth trial: all trials are done all the same. */
static void losses(void **state) {
    (void)state;
    static const char *const tuners[] = {"random", "ga"};
    for (int i = 0; i < 2; i++) {
        at_simulated x =
            simulate(tuners[i],
                     (at_simulation){.workers = 16, .trials = 400, .trial_s = 0.1, .losses = 0.05});
        assert_true(x.trials == 400 && x.measured < 400);
        assert_true(isfinite(x.seconds) && x.seconds >= (double)x.measured * 0.1 / 16 * 0.9);
    }
}

/* What learns finds 95 % of the best, with one worker and with many. */
static void learned(void **state) {
    (void)state;
    for (int workers = 1; workers <= 32; workers *= 32) {
        at_simulated x =
            simulate("ga", (at_simulation){.workers = workers, .trials = 3000, .trial_s = 0.02});
        assert_true(isfinite(x.to_95_s));
        assert_true(x.to_95_trials < 2500);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(linear), cmocka_unit_test(losses),
                                       cmocka_unit_test(learned)};
    return cmocka_run_group_tests_name("remote/simulate", tests, setup, free_arena);
}
