/* Recorded spaces in compact form: what is written is read again, compressed or not, and what is
 * wrong in a file is said with its line. */
#include "tests/records/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static at_arena *arena;

static int setup(void **state) {
    arena = at_arena_new();
    return scratch_setup(state);
}

static int teardown(void **state) {
    at_arena_free(arena);
    return scratch_teardown(state);
}

static const at_json *json(const char *text) {
    const at_json *v;
    at_error err;
    if (at_json_parse(arena, text, strlen(text), &v, &err) != AT_OK) fail_msg("%s", err.text);
    return v;
}

static at_space *space(void) {
    at_error err;
    at_space *s = at_space_new(arena);
    assert_int_equal(at_space_split(s, "tile", 6, 2, &(at_split_options){0}, &err), AT_OK);
    assert_int_equal(at_space_option(s, "unroll", "[true, false]", &err), AT_OK);
    return s;
}

static const double times_s[8] = {1.5e-6, 2.00004e-3, -4, 0, 3, 1.23456e-7, -1, 1e-9};

static at_space_file sample(void) {
    at_space_file f = {.task = "a \"task\"",
                       .args = json("[1, \"float32\", [2.5, null]]"),
                       .knobs = at_space_knobs(arena, space()),
                       .first_s = 1700000000,
                       .last_s = 1700000100,
                       .range = 8,
                       .time_s = at_copy(arena, times_s, sizeof times_s)};
    f.extra = (at_extra){.present = true, .version = "0.1.0", .same_as = -1};
    f.extra.context = (at_context){.cpu = "Zen", .threads = 1, .isa = "avx2", .compiler = "tcc"};
    return f;
}

static at_space_file read_text(const char *name, const char *text) {
    at_space_file f;
    at_error err;
    put_file(name, text);
    assert_true(at_is_space_file(name));
    if (at_space_file_read(arena, name, &f, &err) != AT_OK) fail_msg("%s", err.text);
    return f;
}

static void round_trip(void **state) {
    (void)state;
    at_text text = {0}, knobs = {0}, again = {0};
    at_space_file f = sample();
    at_space_file_print(&text, &f);
    at_space_file g = read_text("a.space", at_text_str(&text));
    assert_string_equal(g.task, f.task);
    assert_true(at_args_equal(g.args, f.args));
    at_json_print(&knobs, g.knobs);
    assert_string_equal(at_text_str(&knobs),
                        "[{\"name\": \"tile\", \"kind\": \"sp\", \"values\": [[-1, 1], [-1, 2], "
                        "[-1, 3], [-1, 6]]}, "
                        "{\"name\": \"unroll\", \"kind\": \"ot\", \"values\": [true, false]}]");
    assert_string_equal(g.extra.context.cpu, "Zen");
    assert_string_equal(g.extra.version, "0.1.0");
    assert_int_equal(g.extra.context.threads, 1);
    char hash[33];
    at_context_hash(&f.extra.context, hash);
    assert_string_equal(g.extra.context_hash, hash);
    assert_true(g.first_s == f.first_s && g.last_s == f.last_s);
    assert_int_equal(g.range, 8);
    for (int i = 0; i < 8; i++) /* five digits are kept */
        assert_true(fabs(g.time_s[i] - times_s[i]) <= 5e-5 * fabs(times_s[i]));
    assert_true(g.time_s[2] == -4 && g.time_s[3] == 0);
    at_space_file_print(&again, &g);
    assert_string_equal(at_text_str(&again), at_text_str(&text));

    /* Compressed, with comments before it. */
    assert_int_equal(system("{ echo '#one'; echo '#two'; cat a.space; } | gzip -9n >b.space.gz"),
                     0);
    assert_true(at_is_space_file("b.space.gz"));
    at_error err;
    if (at_space_file_read(arena, "b.space.gz", &g, &err) != AT_OK) fail_msg("%s", err.text);
    at_text_clear(&again);
    at_space_file_print(&again, &g);
    assert_string_equal(at_text_str(&again), at_text_str(&text));
    at_text_free(&again);
    at_text_free(&knobs);
    at_text_free(&text);
}

/* Parts of a sum have knobs of their own; the indices are one row. */
static void sum(void **state) {
    (void)state;
    static const char *const names[] = {"one", "two"};
    at_text text = {0}, again = {0};
    at_error err;
    at_space *all = at_space_new(arena), *parts[] = {space(), at_space_new(arena)};
    assert_int_equal(at_space_option(parts[1], "unroll", "[1, 2, 3]", &err), AT_OK);
    assert_int_equal(at_space_sum(all, "sketch", names, parts, 2, &err), AT_OK);
    at_space_file f = sample();
    f.knobs = at_space_knobs(arena, all);
    f.range = at_space_range_length(all);
    f.time_s = AT_NEW_ARRAY(arena, double, f.range);
    memcpy(f.time_s, times_s, sizeof times_s);
    f.time_s[10] = 2;
    at_space_file_print(&text, &f);
    assert_non_null(strstr(at_text_str(&text), "\"sketches\": [{\"name\": \"one\", \"knobs\": ["));
    at_space_file g = read_text("s.space", at_text_str(&text));
    assert_int_equal(g.range, 8 + 3);
    assert_true(g.time_s[10] == 2);
    at_space_file_print(&again, &g);
    assert_string_equal(at_text_str(&again), at_text_str(&text));
    at_text_free(&again);
    at_text_free(&text);
}

/* Nothing is known but the times. */
static void foreign(void **state) {
    (void)state;
    at_space_file g = read_text("f.space", "{\"autotune_space\": 1, \"task\": \"t\", \"args\": [], "
                                           "\"knobs\": [{\"values\": [1, 2]}]}\n12\ne6");
    assert_false(g.extra.present);
    assert_true(g.first_s == 0 && g.range == 2);
    assert_float_equal(g.time_s[0], 12e-9, 1e-20);
    assert_true(g.time_s[1] == -6);
}

static void others(void **state) {
    (void)state;
    static const char *const texts[] = {"", "#only\n", "{\"input\": [1]}\n", "12\n13\n", "#"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        put_file("o", texts[i]);
        assert_false(at_is_space_file("o"));
    }
    assert_false(at_is_space_file("missing"));
    assert_false(at_is_space_file("."));
}

#define HEAD "{\"autotune_space\": 1, \"task\": \"t\", \"args\": [], \"knobs\": "
#define SUM                                                                                        \
    "{\"autotune_space\": 1, \"task\": \"t\", \"args\": [], \"sketches\": "                        \
    "[{\"knobs\": [{\"values\": [1, 2]}]}, "
#define TWO HEAD "[{\"values\": [1, 2]}]}\n"

static void faults(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"autotune_space\": 2, \"task\": \"t\"}\n",
         "x:1: recorded space: of another format than 1"},
        {"{\"autotune_space\": ", "x:1: recorded space: "},
        {"#c\n{\"autotune_space\": 1, \"args\": [], \"knobs\": []}\n1\n",
         "x:2: recorded space: \"task\", \"args\" or \"knobs\" are not as they should be"},
        {HEAD "[1]}\n1\n", "x:1: recorded space: \"knobs\" are no lists of values, or of more than "
                           "100000000 points"},
        {HEAD "[{\"values\": []}]}\n", "x:1: recorded space: \"knobs\" are no lists of values"},
        {SUM "3]}\n1\n", "x:1: recorded space: \"knobs\" are no lists of values"},
        {SUM "{\"knobs\": [{\"values\": []}]}]}\n1\n",
         "x:1: recorded space: \"knobs\" are no lists of values"},
        {TWO "1\n", "x:3: \"\" is no time, e and an error number, or -"},
        {TWO "1\n2\n3\n", "x:4: beyond the space of 2 points"},
        {TWO "1\n-2\n", "x:3: \"-2\" is no time"},
        {TWO "1\n2 3\n", "x:3: \"2 3\" is no time"},
        {TWO "0\n2\n", "x:2: \"0\" is no time"},
        {TWO "inf\n2\n", "x:2: \"inf\" is no time"},
        {TWO "e\n2\n", "x:2: \"e\" is no time"},
        {TWO "e-4\n2\n", "x:2: \"e-4\" is no time"},
        {TWO "nan\n2\n", "x:2: \"nan\" is no time"},
        {TWO "--\n2\n", "x:2: \"--\" is no time"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_space_file f;
        at_error err;
        put_file("x", cases[i].text);
        assert_true(at_is_space_file("x"));
        assert_int_equal(at_space_file_read(arena, "x", &f, &err), AT_E_INPUT);
        if (strncmp(err.text, cases[i].message, strlen(cases[i].message)))
            fail_msg("%s\ninstead of\n%s", err.text, cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(round_trip), cmocka_unit_test(sum),
                                       cmocka_unit_test(foreign), cmocka_unit_test(others),
                                       cmocka_unit_test(faults)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
