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

/* A final's times in each state, and who is behind whom there: an order that turns round. */
static void finals_by_state(void **state) {
    (void)state;
    enum { ROUNDS = 12, EACH = 4 };
    static const double alone[2] = {1.0, 1.1}, company[2] = {1.5, 1.3};
    at_turns of[2];
    at_round rounds[2][ROUNDS], there[2][ROUNDS];
    double samples[2][ROUNDS][EACH];
    for (int f = 0; f < 2; f++) {
        for (int i = 0; i < ROUNDS; i++) {
            const double jitter = 1 + 1e-4 * ((i * 5) % 7);
            for (int k = 0; k < EACH; k++)
                samples[f][i][k] = k == 2 ? 99 : jitter * (k < 2 ? alone[f] : company[f]);
            rounds[f][i] = (at_round){
                .samples_s = samples[f][i], .num_samples = EACH, .states = "aamc", .time_s = 7};
        }
        of[f] = (at_turns){.begun_s = 1, .rounds = rounds[f], .num_rounds = ROUNDS, .among = 2};
    }
    for (int o = AT_OBJECTIVE_ALONE; o <= AT_OBJECTIVE_COMPANY; o++) {
        const double *expected = o == AT_OBJECTIVE_ALONE ? alone : company;
        int n = o == AT_OBJECTIVE_ALONE ? 2 * ROUNDS : ROUNDS;
        at_turns x[2] = {of[0], of[1]};
        for (int f = 0; f < 2; f++) {
            assert_int_equal(at_turns_for(&x[f], (at_objective)o, there[f]), n);
            assert_int_equal(at_turns_counting(&x[f]), n);
            assert_float_equal(x[f].time_s, expected[f], 1e-3);
            assert_float_equal(x[f].rounds[3].time_s, expected[f], 1e-3);
        }
        int slower = expected[1] > expected[0];
        assert_int_equal(at_turns_behind(&x[1], &x[0]), slower);
        assert_int_equal(at_turns_behind(&x[0], &x[1]), !slower);
    }
    /* A state that no sample is in leaves all as it is. */
    for (int i = 0; i < ROUNDS; i++) rounds[0][i].states = "aaaa";
    at_turns x = of[0];
    assert_int_equal(at_turns_for(&x, AT_OBJECTIVE_COMPANY, there[0]), 0);
    assert_ptr_equal(x.rounds, of[0].rounds);
    /* So it is where states are not told. */
    for (int i = 0; i < ROUNDS; i++) rounds[0][i].states = NULL;
    assert_int_equal(at_turns_for(&x, AT_OBJECTIVE_ALONE, there[0]), 0);
    assert_float_equal(at_turns_time(&x), 7, 0);
}

/* Who was seen a few times only in the state that counts is ahead by luck. */
static void few_samples(void **state) {
    (void)state;
    enum { EACH = 6 };
    static const struct {
        const char *states[3];
        double alone[3]; /* the times there; 0.5 elsewhere */
        int winner;
    } cases[] = {
        {{"aacccc", "aaaaac", "aaaaaa"}, {1.0, 1.2, 1.1}, 2},
        {{"aaaaac", "aaaaac", "aaaaaa"}, {1.0, 1.2, 1.1}, 0},
        {{"aacccc", "aaaacc", "cccccc"}, {1.2, 1.1, 1.0}, 2}, /* nobody is known there */
        {{"cccccc", "aaaaac", "mmmmmm"}, {1.0, 1.2, 1.1}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_round rounds[3];
        double samples[3][EACH];
        at_turns of[3];
        at_contender who[3];
        for (int f = 0; f < 3; f++) {
            const char *states = cases[i].states[f];
            for (int k = 0; k < EACH; k++)
                samples[f][k] = states[k] == 'a' ? cases[i].alone[f] : 0.5;
            rounds[f] = (at_round){.samples_s = samples[f], .num_samples = EACH, .states = states};
            of[f] = (at_turns){.begun_s = 1,
                               .rounds = &rounds[f],
                               .num_rounds = 1,
                               .among = 3,
                               .objective = AT_OBJECTIVE_ALONE};
            of[f].time_s = at_turns_time(&of[f]);
            who[f] = (at_contender){.mean_s = 1, .finals = &of[f], .num_finals = 1};
        }
        assert_int_equal(at_winner(who, 3), cases[i].winner);
    }
}

/* Lines say states sample by sample, and what counts; a reader may ask for something else. */
static void final_lines(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_final_line l;
    at_finals finals;
#define HEAD                                                                                       \
    "final {\"task\": \"t\", \"dialect\": \"gnu\", \"args\": [], \"context_hash\": \"ab\", "       \
    "\"index\": 7, "                                                                               \
    "\"entity\": [], \"begun\": 1.5, \"among\": 2, \"anchor\": 3, \"objective\": \"alone\", "      \
    "\"rounds\": 2, \"rounds_s\": [[1.0, 2.0], [4.0, 3.0]], "
    static const char text[] = HEAD "\"states\": [\"ac\", \"ca\"], \"peaks_gflops\": [1, 1]}";
    static const char other[] = "final {\"task\": \"u\", \"dialect\": \"c\", \"args\": [], "
                                "\"context_hash\": \"ab\", \"index\": 7, \"entity\": [], "
                                "\"begun\": 1.5, \"rounds\": 1, \"rounds_s\": [[1.0]], "
                                "\"peaks_gflops\": [1]}";
    static const char *const wrong[] = {
        HEAD "\"states\": [\"ac\"], \"peaks_gflops\": [1, 1]}",
        HEAD "\"states\": [\"ac\", \"c\"], \"peaks_gflops\": [1, 1]}",
        HEAD "\"states\": [\"ac\", 7], \"peaks_gflops\": [1, 1]}",
        HEAD "\"states\": \"acca\", \"peaks_gflops\": [1, 1]}",
    };
    assert_true(at_final_line_read(a, text, &l));
    assert_int_equal(l.turns.objective, AT_OBJECTIVE_ALONE);
    assert_true(l.turns.time_s == 2); /* of 1 and 3 */
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(at_final_line_read(a, wrong[i], &l));
    at_text out = {0};
    at_config config = {0};
    assert_true(at_final_line_read(a, text, &l));
    l.config = &config;
    at_final_line_print(&out, &l);
    assert_non_null(strstr(out.data, "\"states\": [\"ac\", \"ca\"]"));
    assert_non_null(strstr(out.data, "\"objective\": \"alone\""));
    at_finals_init(&finals, a);
    at_finals_add(&finals, text, 1);
    at_finals_add(&finals, other, 2); /* in the memory that reading the first one took */
    int n;
    const at_turns *t = at_finals_get(&finals, 0, &l, &n);
    assert_int_equal(n, 1);
    assert_string_equal(t->dialect, "gnu");
    at_turns there = *t;
    at_round rounds[2];
    assert_int_equal(at_turns_for(&there, AT_OBJECTIVE_COMPANY, rounds), 2);
    assert_true(there.time_s == 3); /* of 2 and 4 */
    at_text_free(&out);
    at_arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_counts), cmocka_unit_test(medians),
        cmocka_unit_test(lines),       cmocka_unit_test(finals_by_state),
        cmocka_unit_test(few_samples), cmocka_unit_test(final_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
