/* The figure that a command prints: where it stands, and what unit is behind it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/command/metric.h"

#include <math.h>
#include <string.h>

static void figures(void **state) {
    (void)state;
    static const struct {
        const char *pattern, *text;
        bool higher;
        double cost; /* 0: there is none */
    } rows[] = {
        {"time: ([0-9.]+) ms", "a\ntime: 12.5 ms\ntime: 3 ms\n", false, 0.0125},
        {"time: ([0-9.]+)", "time: 12.5 us, whole", false, 12.5e-6},
        {"time: ([0-9.]+)", "time: 12.5\xc2\xb5s", false, 12.5e-6},
        {"([0-9.]+)", "7ns", false, 7e-9},
        {"([0-9.]+)", "7 s", false, 7},
        {"([0-9.]+)", "7 msec", false, 7}, /* no unit that is known */
        {"([0-9.e+-]+)", "7e-3", false, 7e-3},
        {"rate ([0-9.]+)", "rate 40 ms", true, 0.025},
        {"time: ([0-9.]+)", "tame: 12.5", false, 0},
        {"^([0-9.]+)$", "x 1\n2\n", false, 2},
        {"(.*)", "none", false, 0},
        {"([-0-9.]+)", "-3", false, 0},
        {"([0-9.]+)", "0.0", false, 0},
        {"(a)|([0-9]+)", "12", false, 0}, /* the first parentheses hold nothing */
        {"(inf|nan)", "inf", false, 0},
        {"([0-9.]+)", "1.2.3", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        at_metric m;
        at_error err;
        double cost = 0;
        assert_int_equal(at_metric_open(&m, rows[i].pattern, rows[i].higher, &err), AT_OK);
        bool found = at_metric_read(&m, rows[i].text, &cost);
        if (found != (rows[i].cost > 0) || (found && fabs(cost / rows[i].cost - 1) > 1e-12))
            fail_msg("%s in \"%s\": %d %g, not %g", rows[i].pattern, rows[i].text, found, cost,
                     rows[i].cost);
        at_metric_close(&m);
    }
}

/* A figure that is none is told as it stands. */
static void figures_that_are_none(void **state) {
    (void)state;
    at_metric m;
    at_error err;
    at_arena *a = at_arena_new();
    assert_int_equal(at_metric_open(&m, "time: ([-0-9a-z.]+)", false, &err), AT_OK);
    assert_string_equal(at_metric_figure(a, &m, "time: nan ms"), "nan");
    assert_string_equal(at_metric_figure(a, &m, "x\ntime: -5 ms"), "-5");
    assert_null(at_metric_figure(a, &m, "tame: 5 ms"));
    at_metric_close(&m);
    at_arena_free(a);
}

static void patterns(void **state) {
    (void)state;
    at_metric m;
    at_error err;
    assert_int_equal(at_metric_open(&m, "time [0-9]+", false, &err), AT_E_USAGE);
    assert_non_null(strstr(err.text, "the number stands in parentheses"));
    at_metric_close(&m);
    assert_int_equal(at_metric_open(&m, "time ([0-9]+", false, &err), AT_E_USAGE);
    at_metric_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(figures),
                                       cmocka_unit_test(figures_that_are_none),
                                       cmocka_unit_test(patterns)};
    return cmocka_run_group_tests_name("engine/metric", tests, NULL, NULL);
}
