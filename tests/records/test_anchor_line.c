/* What records and comment lines say of pairs: there and back, and refused where it makes no sense;
 * bounds win nothing. */
#include "tests/records/support.h"

#include <math.h>
#include <string.h>

#define CONTEXT "\"context\": {\"cpu\": \"c\"}"
#define PAIRS                                                                                      \
    "\"pairs\": {\"anchor\": 2, \"ratio\": 0.75, \"of_first\": 0.5, "                              \
    "\"of_first_error\": 0.01, \"first\": \"ab\", \"ratios\": "                                    \
    "[0.75, 0.7, 0.8], \"states\": \"aac\", \"bracketed\": true}"

static void there_and_back(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_record r;
    at_text out = {0};
    const char *line =
        line_of(a, NULL, 8, 3, "0.25", 0, "{\"check\": \"exact\", " PAIRS ", " CONTEXT "}");
    assert_int_equal(at_record_parse(a, line, strlen(line) - 1, &r, NULL), AT_OK);
    const at_paired *p = &r.extra.pairs;
    assert_int_equal(p->anchor, 2);
    assert_true(p->ratio == 0.75 && p->of_first == 0.5 && p->of_first_error == 0.01 &&
                p->is_bracketed);
    assert_int_equal(p->num_ratios, 3);
    assert_true(p->ratios[1] == 0.7);
    assert_string_equal(p->states, "aac");
    assert_string_equal(p->first, "ab");
    at_record_print(&out, &r);
    assert_non_null(strstr(out.data, PAIRS));
    assert_true(at_record_is_candidate(&r));
    at_text_free(&out);
    at_arena_free(a);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "\"pairs\": {}",
        "\"pairs\": 7",
        "\"pairs\": {\"anchor\": -1, \"ratio\": 1, \"of_first\": 1, \"first\": \"\"}",
        "\"pairs\": {\"anchor\": 0, \"ratio\": 0, \"of_first\": 1, \"first\": \"\"}",
        "\"pairs\": {\"anchor\": 0, \"ratio\": 1, \"of_first\": -1, \"first\": \"\"}",
        "\"pairs\": {\"anchor\": 0, \"ratio\": 1, \"of_first\": 1, \"first\": 7}",
        "\"pairs\": {\"anchor\": 0, \"ratio\": 1, \"of_first\": 1, \"of_first_error\": -1, "
        "\"first\": \"\"}",
        "\"pairs\": {\"anchor\": 0, \"ratio\": 1, \"of_first\": 1, \"first\": \"\", \"ratios\": "
        "[0]}",
        "\"pairs\": {\"anchor\": 0, \"ratio\": 1, \"of_first\": 1, \"first\": \"\", \"ratios\": "
        "[1], "
        "\"states\": \"x\"}",
        "\"pairs\": {\"anchor\": 0, \"ratio\": 1, \"of_first\": 1, \"first\": \"\", \"ratios\": "
        "[1], "
        "\"states\": \"aa\"}",
    };
    at_arena *a = at_arena_new();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        at_record r;
        at_error err;
        const char *line =
            line_of(a, NULL, 8, 3, "0.25", 0, at_format(a, "{%s, " CONTEXT "}", wrong[i]));
        assert_int_equal(at_record_parse(a, line, strlen(line) - 1, &r, &err), AT_E_INPUT);
        assert_non_null(strstr(err.text, "autotune.pairs"));
    }
    at_arena_free(a);
}

/* Faster than all others, but only a bound. */
static void bounds_win_nothing(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_record r[2];
    bool wins[2];
    const char *bound =
        line_of(a, NULL, 8, 3, "0.001", 0,
                "{\"check\": \"exact\", \"sample_kind\": \"at_least\", " CONTEXT "}");
    const char *timed = line_of(a, NULL, 8, 4, "0.5", 0,
                                "{\"check\": \"exact\", \"sample_kind\": \"full\", " CONTEXT "}");
    assert_int_equal(at_record_parse(a, bound, strlen(bound) - 1, &r[0], NULL), AT_OK);
    assert_int_equal(at_record_parse(a, timed, strlen(timed) - 1, &r[1], NULL), AT_OK);
    assert_true(at_record_is_at_least(&r[0]) && !at_record_is_at_least(&r[1]));
    assert_false(at_record_is_candidate(&r[0]));
    at_mark_winners("a.log", r, 2, NULL, NULL, wins);
    assert_true(!wins[0] && wins[1]);
    at_mark_winners("a.log", r, 1, NULL, NULL, wins);
    assert_false(wins[0]);
    at_arena_free(a);
}

static at_anchor_line make_line(at_arena *a) {
    const at_json *args;
    at_config *c = AT_NEW(a, at_config);
    assert_int_equal(at_json_parse(a, "[1, 2]", 6, &args, NULL), AT_OK);
    return (at_anchor_line){.task = "t",
                            .context_hash = "00112233445566778899aabbccddeeff",
                            .code_hash = "aa",
                            .args = args,
                            .index = 7,
                            .number = 3,
                            .linked_to = 2,
                            .links = 1,
                            .pairs = 200,
                            .link = -0.5,
                            .link_error = 0.003,
                            .of_first = 0.25,
                            .of_first_error = 0.004,
                            .first = "bb",
                            .first_s = 0.0014,
                            .state = AT_STATE_COMPANY,
                            .by[AT_STATE_ALONE] = {40, -0.25, 0.01, 0.75, 0.001},
                            .by[AT_STATE_COMPANY] = {200, -0.5, 0.003, 0.25, 0.0014},
                            .config = c};
}

static void lines(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_anchor_line l = make_line(a), read;
    at_text out = {0};
    at_anchor_line_print(&out, &l);
    assert_true(at_anchor_line_read(a, at_text_str(&out), &read));
    assert_string_equal(read.task, "t");
    assert_string_equal(read.code_hash, "aa");
    assert_string_equal(read.first, "bb");
    assert_int_equal(read.number, 3);
    assert_int_equal(read.linked_to, 2);
    assert_int_equal(read.links, 1);
    assert_int_equal(read.pairs, 200);
    assert_int_equal(read.index, 7);
    assert_int_equal(read.state, AT_STATE_COMPANY);
    for (int i = 0; i < AT_STATE_COUNT; i++)
        assert_memory_equal(&read.by[i], &l.by[i], sizeof l.by[i]);
    assert_true(read.link == -0.5 && read.link_error == 0.003 && read.of_first == 0.25 &&
                read.first_s == 0.0014 && read.of_first_error == 0.004);
    /* Torn ones are no lines. */
    for (size_t n = 0; n < out.len; n++)
        assert_false(at_anchor_line_read(a, at_strndup(a, out.data, n), &read));
    assert_false(at_anchor_line_read(a, "final {}", &read));
    at_text_free(&out);
    at_arena_free(a);
}

/* What nobody can have measured: the line does not count, and nothing is reckoned with it. */
static void hostile_lines(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_anchor_line read;
    static const struct {
        const char *member, *value;
    } wrong[] = {
        {"first_s", "NaN"},       {"first_s", "-1.0"},     {"first_s", "0.0"},
        {"first_s", "1e-300"},    {"first_s", "1e300"},    {"first_s", "1e999"},
        {"of_first", "-0.25"},    {"of_first", "0"},       {"of_first", "1e300"},
        {"of_first", "\"0.25\""}, {"link", "1e300"},       {"link", "-1e300"},
        {"link_error", "-0.01"},  {"link_error", "1e300"}, {"links", "-1"},
        {"links", "1.5"},         {"links", "2147483647"}, {"number", "2147483647"},
        {"number", "-1"},         {"number", "1e400"},     {"pairs", "0"},
        {"linked_to", "-2"},      {"linked_to", "\"x\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        at_anchor_line l = make_line(a);
        at_text out = {0}, bad = {0};
        at_anchor_line_print(&out, &l);
        char *at = strstr(at_text_str(&out), at_format(a, "\"%s\": ", wrong[i].member));
        assert_non_null(at);
        at += strlen(wrong[i].member) + strlen("\"\": ");
        at_text_addn(&bad, out.data, (size_t)(at - out.data));
        at_text_addf(&bad, "%s%s", wrong[i].value, at + strcspn(at, ",}"));
        if (at_anchor_line_read(a, at_text_str(&bad), &read))
            fail_msg("%s %s is read", wrong[i].member, wrong[i].value);
        at_text_free(&out);
        at_text_free(&bad);
    }
    at_arena_free(a);
}

/* Older lines say how unsure their own link is, and nothing of those before it. */
static void unsure_links(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_anchor_line l = make_line(a), read;
    at_text out = {0};
    l.links = 2;
    at_anchor_line_print(&out, &l);
    char *own = strstr(out.data, "\"of_first_error\"");
    assert_non_null(own);
    own[1] = 'x';
    assert_true(at_anchor_line_read(a, at_text_str(&out), &read));
    assert_float_equal(read.of_first_error, 0.006, 1e-12);
    at_text_free(&out);
    at_arena_free(a);
}

/* The first of a chain has no link; one of a longer chain must tell its own. */
static void chains(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    at_anchor_line l = make_line(a), read;
    at_text out = {0};
    l.links = 0;
    at_anchor_line_print(&out, &l);
    assert_null(strstr(out.data, "linked_to"));
    assert_true(at_anchor_line_read(a, at_text_str(&out), &read));
    assert_int_equal(read.linked_to, -1);
    char *links = strstr(out.data, "\"links\": 0");
    assert_non_null(links);
    links[strlen("\"links\": ")] = '2';
    assert_false(at_anchor_line_read(a, at_text_str(&out), &read));
    at_text_free(&out);
    at_arena_free(a);
}

static void state_words(void **state) {
    (void)state;
    for (int i = 0; i < AT_STATE_COUNT; i++) {
        at_state s;
        assert_true(at_state_from_letter(at_state_letter((at_state)i), &s));
        assert_int_equal(s, i);
        assert_int_equal(at_state_name(s)[0], at_state_letter(s));
    }
    assert_false(at_state_from_letter('x', &(at_state){0}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),     cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(bounds_win_nothing), cmocka_unit_test(lines),
        cmocka_unit_test(unsure_links),       cmocka_unit_test(chains),
        cmocka_unit_test(state_words),        cmocka_unit_test(hostile_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
