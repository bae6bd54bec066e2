/* Which values count for an objective, and the comment line that tells it: there and back, and what
 * is no such line. */
#include "tests/records/support.h"

#include <string.h>

static void what_counts(void **state) {
    (void)state;
    /* rows: objectives; columns: unknown, alone, company, mixed */
    static const bool expected[AT_OBJECTIVE_COUNT][AT_STATE_COUNT] = {
        [AT_OBJECTIVE_NONE] = {true, true, true, false},
        [AT_OBJECTIVE_ALONE] = {false, true, false, false},
        [AT_OBJECTIVE_COMPANY] = {false, false, true, false},
        [AT_OBJECTIVE_TYPICAL] = {true, true, true, false},
    };
    for (int o = 0; o < AT_OBJECTIVE_COUNT; o++)
        for (int s = 0; s < AT_STATE_COUNT; s++)
            assert_int_equal(at_objective_counts((at_objective)o, (at_state)s), expected[o][s]);
    at_objective o;
    assert_true(at_objective_from_name("company", &o));
    assert_int_equal(o, AT_OBJECTIVE_COMPANY);
    assert_false(at_objective_from_name("", &o));
    assert_false(at_objective_from_name("mixed", &o));
}

static void medians(void **state) {
    (void)state;
    const double v[] = {5, 1, 9, 2, 7};
    const struct {
        const char *states;
        at_objective o;
        double median;
        int counting;
    } cases[] = {{"aaccm", AT_OBJECTIVE_ALONE, 3, 2},     {"aaccm", AT_OBJECTIVE_COMPANY, 5.5, 2},
                 {"aaccm", AT_OBJECTIVE_TYPICAL, 3.5, 4}, {"mmmmm", AT_OBJECTIVE_ALONE, 5, 0},
                 {"uuuuu", AT_OBJECTIVE_ALONE, 5, 0},     {"uuuuu", AT_OBJECTIVE_TYPICAL, 5, 5},
                 {"", AT_OBJECTIVE_ALONE, 5, 0},          {NULL, AT_OBJECTIVE_COMPANY, 5, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n;
        assert_true(at_median_that_counts(v, cases[i].states, 5, cases[i].o, &n) ==
                    cases[i].median);
        assert_int_equal(n, cases[i].counting);
    }
}

static void lines(void **state) {
    (void)state;
    static const char text[] =
        "objective {\"task\": \"t\", \"args\": [1, \"x\"], \"context_hash\": \"ab\", "
        "\"objective\": \"company\", \"by\": \"probes\", "
        "\"seen\": {\"alone\": 0.2500, \"company\": 0.7500}}";
    static const char *const none[] = {
        "objective",
        "objective {}",
        "final {\"task\": \"t\", \"args\": [], \"context_hash\": \"\", \"objective\": \"alone\"}",
        "objective {\"task\": \"t\", \"args\": [], \"context_hash\": \"\", \"objective\": "
        "\"mixed\"}",
        "objective {\"task\": \"t\", \"args\": [], \"context_hash\": 7, \"objective\": \"alone\"}",
        "objective {\"task\": \"t\", \"context_hash\": \"\", \"objective\": \"alone\"}",
        "objective {\"task\": \"t\", \"args\": [], \"context_hash\": \"\", \"objective\": "
        "\"alone\"",
    };
    at_arena *a = at_arena_new();
    at_objective_line l;
    at_text out = {0};
    assert_true(at_objective_line_read(a, text, &l));
    assert_int_equal(l.objective, AT_OBJECTIVE_COMPANY);
    assert_true(l.by_probes && l.share[AT_STATE_ALONE] == 0.25 &&
                l.share[AT_STATE_COMPANY] == 0.75 && l.share[AT_STATE_MIXED] == 0);
    at_objective_line_print(&out, &l);
    assert_string_equal(at_text_str(&out), text);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(at_objective_line_read(a, none[i], &l));
    /* Shares that are none count for nothing. */
    assert_true(
        at_objective_line_read(a,
                               "objective {\"task\": \"t\", \"args\": [], \"context_hash\": \"\", "
                               "\"objective\": \"alone\", "
                               "\"seen\": {\"alone\": 7, \"company\": \"x\", \"mixed\": -1}}",
                               &l));
    for (int s = 0; s < AT_STATE_COUNT; s++) assert_true(l.share[s] == 0);
    at_text_free(&out);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_counts),
        cmocka_unit_test(medians),
        cmocka_unit_test(lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
