/* Choosing among results in pairs: for an objective by the pairs in its state and the anchor's time
 * there; of several logs by ratios where they have an anchor in common, else by time, which is
 * told. */
#include "tests/records/support.h"

#include <string.h>

static const char *trial(at_arena *a, int index, const char *cost, double of_first,
                         const char *first, const char *ratios, const char *states) {
    return line_of(a, NULL, 1, index, cost, 0,
                   at_format(a,
                             "{\"check\": \"exact\", \"context\": {\"cpu\": \"Zen\"}, \"pairs\": "
                             "{\"anchor\": 0, \"ratio\": %g, \"of_first\": %g, \"first\": \"%s\", "
                             "\"ratios\": [%s], \"states\": \"%s\"}}",
                             of_first, of_first, first, ratios, states));
}

/* Of the same task and context as the trial: the first of a chain, slower in company. */
static const char *anchor(at_arena *a, const char *of, const char *first, double alone_s,
                          double company_s) {
    at_record r;
    at_text text = {0};
    assert_int_equal(at_record_parse(a, of, strlen(of) - 1, &r, NULL), AT_OK);
    at_anchor_line l = {.task = r.task,
                        .args = r.args,
                        .context_hash = r.extra.context_hash,
                        .code_hash = first,
                        .first = first,
                        .config = &r.config,
                        .of_first = 1,
                        .first_s = alone_s,
                        .by[AT_STATE_ALONE] = {25, 0, 0, 1, alone_s},
                        .by[AT_STATE_COMPANY] = {25, 0, 0, 1, company_s}};
    at_anchor_line_print(&text, &l);
    const char *line = at_format(a, "#%s\n", at_text_str(&text));
    at_text_free(&text);
    return line;
}

/* A line of the trial's own in a final. */
static const char *final_of(at_arena *a, const char *trial, at_turns turns) {
    at_record r;
    at_text text = {0};
    assert_int_equal(at_record_parse(a, trial, strlen(trial) - 1, &r, NULL), AT_OK);
    at_final_line_print(&text, &(at_final_line){.task = r.task,
                                                .args = r.args,
                                                .context_hash = r.extra.context_hash,
                                                .config = &r.config,
                                                .turns = turns});
    return at_text_take(a, &text);
}

static at_pick pick(at_arena *a, const char *x, const char *y, at_objective o) {
    at_pick *picks;
    int n;
    at_error err;
    const char *const logs[] = {x, y};
    const at_pick_request q = {.logs = logs, .num_logs = y ? 2 : 1, .objective = o};
    at_status s = at_pick_best(a, &q, &picks, &n, &err);
    if (s != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(n, 1);
    return picks[0];
}

static void expect(const at_pick *p, int index, double time_s, bool is_in_state, bool is_by_time) {
    assert_int_equal(p->record.config.recorded_index, index);
    assert_float_equal(p->time_s, time_s, 1e-12);
    assert_int_equal(p->is_in_state, is_in_state);
    assert_int_equal(p->is_by_time, is_by_time);
}

static void by_state(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *one = trial(a, 1, "0.5", 0.5, "f", "0.5, 0.9, 7", "acm");
    const char *two = trial(a, 2, "0.6", 0.6, "f", "0.6, 0.7, 7", "acm");
    const char *slow = trial(a, 3, "0.8", 0.8, "f", "0.8, 0.8", "aa"); /* never in company */
    put_file("a.log", join(a, anchor(a, one, "f", 1, 2), one, two, slow, NULL));
    at_pick p = pick(a, "a.log", NULL, AT_OBJECTIVE_NONE);
    expect(&p, 1, 0.5, true, false);
    p = pick(a, "a.log", NULL, AT_OBJECTIVE_ALONE);
    expect(&p, 1, 0.5, true, false);
    p = pick(a, "a.log", NULL, AT_OBJECTIVE_COMPANY);
    expect(&p, 2, 0.7 * 2, true, false);
    put_file("b.log", join(a, anchor(a, one, "f", 1, 2), slow, NULL));
    p = pick(a, "b.log", NULL, AT_OBJECTIVE_COMPANY);
    expect(&p, 3, 0.8, false, false);
    at_arena_free(a);
}

/* A trial in that state wins over another's final there where it is faster, not otherwise: a final
 * may have met the state with one of them only. */
static void by_state_of_a_final(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *lines[] = {trial(a, 1, "0.6", 0.6, "f", "0.6, 1", "ac"),
                           trial(a, 2, "0.55", 0.55, "f", "0.55, 1", "mc")};
    for (int faster = 0; faster < 2; faster++) {
        const char *finals[2];
        for (int i = 0; i < 2; i++) {
            const double samples[] = {i && faster ? 0.5 : 0.7, 1};
            const at_round round = {
                .samples_s = samples, .num_samples = 2, .states = i ? "ac" : "cc"};
            finals[i] = final_of(a, lines[i],
                                 (at_turns){.begun_s = 10,
                                            .rounds = &round,
                                            .num_rounds = 1,
                                            .among = 2,
                                            .objective = AT_OBJECTIVE_COMPANY,
                                            .error = ""});
        }
        put_file("a.log", join(a, anchor(a, lines[0], "f", 1, 1), lines[0], lines[1], finals[0],
                               finals[1], NULL));
        at_pick p = pick(a, "a.log", NULL, AT_OBJECTIVE_ALONE);
        expect(&p, faster ? 2 : 1, faster ? 0.5 : 0.6, true, false);
    }
    at_arena_free(a);
}

/* The second log is of a moment when everything took half as long. */
static void by_anchor(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *one = trial(a, 1, "0.5", 0.5, "f", "0.5", "a");
    const char *same = trial(a, 2, "0.275", 0.55, "f", "0.55", "a");
    const char *other = trial(a, 2, "0.275", 0.55, "g", "0.55", "a");
    const char *unpaired = line_of(a, NULL, 1, 3, "0.275", 0,
                                   "{\"check\": \"exact\", \"context\": {\"cpu\": \"Zen\"}}");
    put_file("a.log", join(a, anchor(a, one, "f", 1, 2), one, NULL));
    put_file("b.log", join(a, anchor(a, same, "f", 0.5, 1), same, NULL));
    at_pick p = pick(a, "a.log", "b.log", AT_OBJECTIVE_NONE);
    expect(&p, 1, 0.5, true, false);
    p = pick(a, "b.log", "a.log", AT_OBJECTIVE_NONE);
    expect(&p, 1, 0.5, true, false);
    put_file("c.log", join(a, anchor(a, other, "g", 0.5, 1), other, NULL));
    p = pick(a, "a.log", "c.log", AT_OBJECTIVE_NONE);
    expect(&p, 2, 0.275, true, true);
    put_file("d.log", unpaired);
    p = pick(a, "a.log", "d.log", AT_OBJECTIVE_NONE);
    expect(&p, 3, 0.275, true, true);
    at_arena_free(a);
}

/* Winners of two finals, with and without an anchor in common. */
static void by_finals(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const char *one = trial(a, 1, "0.5", 0.5, "f", "0.5", "a");
    const char *two = trial(a, 2, "0.275", 0.55, "f", "0.55", "a");
    const char *final[2][2];
    for (int i = 0; i < 2; i++)
        for (int shared = 0; shared < 2; shared++) {
            const double samples[] = {i ? 0.275 : 0.5};
            const at_round round = {.samples_s = samples, .num_samples = 1, .states = "a"};
            final[i][shared] = final_of(a, i ? two : one,
                                        (at_turns){.begun_s = 10 + i,
                                                   .rounds = &round,
                                                   .num_rounds = 1,
                                                   .among = 2,
                                                   .objective = AT_OBJECTIVE_ALONE,
                                                   .error = "",
                                                   .first = shared ? "f" : NULL,
                                                   .first_s = i ? 0.5 : 1});
        }
    for (int shared = 0; shared < 2; shared++) {
        put_file("a.log", join(a, anchor(a, one, "f", 1, 2), one, final[0][shared], NULL));
        put_file("b.log", join(a, anchor(a, two, "f", 0.5, 1), two, final[1][shared], NULL));
        at_pick p = pick(a, "a.log", "b.log", AT_OBJECTIVE_NONE);
        if (shared) expect(&p, 1, 0.5, true, false);
        else expect(&p, 2, 0.275, true, true);
    }
    at_arena_free(a);
}

int main(void) {
#define TEST(f) cmocka_unit_test_setup_teardown(f, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {TEST(by_state), TEST(by_state_of_a_final), TEST(by_anchor),
                                       TEST(by_finals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
