/* How long a final may go on: what others take of the core, and time in a state that does not
 * count, prolong it so far and no further. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/final/final_budget.h"

static const at_final_limits limits = {.core_s = 3, .clock_s = 6, .other_s = 6};

static double share(double clock_s, double core_s, double other_clock_s, double other_core_s) {
    const at_final_spent spent = {.clock_s = clock_s,
                                  .core_s = core_s,
                                  .other_clock_s = other_clock_s,
                                  .other_core_s = other_core_s};
    return at_final_share(&limits, &spent);
}

static void own_core(void **state) {
    (void)state;
    assert_float_equal(share(1.5, 1.5, 0, 0), 0.5, 1e-12);
    assert_float_equal(share(3, 3, 0, 0), 1, 1e-12);
    assert_float_equal(share(6, 2, 0, 0), 1, 1e-12); /* others have it for two thirds */
}

static void other_state(void **state) {
    (void)state;
    assert_float_equal(share(3, 3, 3, 3), 0, 1e-12); /* nothing counts so far */
    assert_float_equal(share(3, 3, 1.5, 1.5), 0.5, 1e-12);
    assert_float_equal(share(6, 6, 6, 6), 0, 1e-12);
    assert_float_equal(share(9, 9, 9, 9), 1, 1e-12); /* the state does not come */
    assert_float_equal(share(12, 6, 12, 6), 1, 1e-12);
}

/* With a time limit nothing is added to it. */
static void no_more_time(void **state) {
    (void)state;
    const at_final_limits last = {.core_s = 2, .clock_s = 2};
    const at_final_spent spent = {.clock_s = 2, .core_s = 2, .other_clock_s = 2, .other_core_s = 2};
    assert_float_equal(at_final_share(&last, &spent), 1, 1e-12);
}

/* Seconds of a run so far, of a pair, and what a final may take then. */
static void seconds(void **state) {
    (void)state;
    static const double cases[][3] = {
        {0.2, 0.0002, 1},  {2, 0.0002, 2},    {6, 0.002, 3}, {60, 0.002, 6}, {35, 0.0054, 7},
        {50, 0.0054, 8.1}, {100, 0.0054, 10}, {50, 1, 10},   {6, 0.5, 3},    {35, 0, 3.5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_float_equal(at_final_core_s(cases[i][0], cases[i][1], 1), cases[i][2], 1e-9);
}

/* Loud moments: four times as long at most, and a third of the run's time so far, or 3.5 s. */
static void loud_moments(void **state) {
    (void)state;
    assert_float_equal(at_final_times(0), 1, 1e-9); /* not known */
    assert_float_equal(at_final_times(0.01), 1, 1e-9);
    assert_float_equal(at_final_times(0.03), 2.25, 1e-9);
    assert_float_equal(at_final_times(0.2), 4, 1e-9);
    assert_float_equal(at_final_core_s(30, 0.0002, 2.25), 6.75, 1e-9);
    assert_float_equal(at_final_core_s(30, 0.0002, 4), 10, 1e-9);
    assert_float_equal(at_final_core_s(6, 0.0002, 4), 3.5, 1e-9); /* a short run */
    assert_float_equal(at_final_core_s(4.4, 0.0002, 4), 3.3, 1e-9);
    assert_float_equal(at_final_core_s(2, 0.0002, 4), 2, 1e-9); /* never less than in quiet ones */
}

/* Where the state that counts is rare, fewer finalists have their first pairs in that time. */
static void sampling(void **state) {
    (void)state;
    static const double cases[][2] = {{1, 1.5},   {0.4, 1.5}, {0.375, 1.5},
                                      {0.2, 0.8}, {0.1, 0.4}, {0, 0.4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_float_equal(at_final_sampling_s(&limits, cases[i][0]), cases[i][1], 1e-9);
    const at_final_limits last = {.core_s = 2, .clock_s = 2};
    assert_float_equal(at_final_sampling_s(&last, 0.75), 0.5, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_core), cmocka_unit_test(other_state), cmocka_unit_test(no_more_time),
        cmocka_unit_test(seconds),  cmocka_unit_test(sampling),    cmocka_unit_test(loud_moments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
