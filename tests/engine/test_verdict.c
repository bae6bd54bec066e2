/* What `verify` says of a record, of numbers given: never that a time far from the recorded one is
 * reproduced, and nothing for certain where the interval lies about the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "base/base.h"
#include "engine/measure/record_verify.h"

enum { DRAWS = 2000 };

static at_verdict of(double low, double median, double high, double clock) {
    return at_verdict_of(&(at_interval){median, low, high}, 1.05, clock);
}

static void rows(void **state) {
    (void)state;
    assert_int_equal(of(0.98, 1, 1.02, 1), AT_REPRODUCED);
    assert_int_equal(of(0.2, 0.3, 0.4, 0.3), AT_REPRODUCED); /* faster */
    assert_int_equal(of(0.9, 1.04, 2, 1), AT_REPRODUCED);
    assert_int_equal(of(1.06, 1.1, 1.2, 1), AT_STALE);
    /* Some of its runs took as long as recorded, but not most. */
    assert_int_equal(of(1, 11662, 20000, 11662), AT_UNCLEAR);
    assert_int_equal(of(1.04, 1.06, 1.1, 1), AT_UNCLEAR);
    /* In pairs as long as recorded, and 18.66 ms beside 1.6 us by the clock. */
    assert_int_equal(of(0.98, 1, 1.02, 11662), AT_UNCLEAR);
    /* Pairs that are too few for an interval. */
    assert_int_equal(of(-INFINITY, 1, INFINITY, 1), AT_REPRODUCED);
    assert_int_equal(of(-INFINITY, 1.5, INFINITY, 1), AT_UNCLEAR);
}

static void properties(void **state) {
    (void)state;
    at_rng rng;
    at_rng_seed(&rng, 49, 0);
    for (int i = 0; i < DRAWS; i++) {
        const double median = exp(10 * at_rng_unit(&rng) - 5);
        const double low = median * at_rng_unit(&rng), high = median / (at_rng_unit(&rng) + 1e-9);
        const double clock = exp(10 * at_rng_unit(&rng) - 5);
        const at_verdict is = of(low, median, high, clock);
        if (is == AT_REPRODUCED) assert_true(median <= 1.05 && clock < 10);
        if (is == AT_STALE) assert_true(low > 1.05);
        /* On another scale it is the same. */
        const at_interval scaled = {8 * median, 8 * low, 8 * high};
        assert_int_equal(at_verdict_of(&scaled, 8 * 1.05, clock), is);
        /* What takes longer is never better. */
        assert_true(of(2 * low, 2 * median, 2 * high, 2 * clock) >= is);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows), cmocka_unit_test(properties)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
