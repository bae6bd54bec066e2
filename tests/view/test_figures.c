/* Figures and names in words, tables, CSV and pieces of a page: exact texts, and for times the
 * property that four digits are what people get to see. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "view/html.h"
#include "view/view.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static at_arena *arena;
static at_text text;

static int setup(void **state) {
    (void)state;
    arena = at_arena_new();
    setenv("TZ", "UTC", 1);
    tzset();
    return 0;
}

static int teardown(void **state) {
    (void)state;
    at_arena_free(arena);
    at_text_free(&text);
    return 0;
}

static int reset(void **state) {
    (void)state;
    at_text_clear(&text);
    return 0;
}

#define EXPECT(wanted) assert_string_equal(at_text_str(&text), wanted), at_text_clear(&text)

/* ---- figures --------------------------------------------------------------------------------- */

static void times(void **state) {
    (void)state;
    static const struct {
        double seconds;
        const char *text;
    } rows[] = {{1, "1.000 s"},           {0.0012341, "1.234 ms"},   {0.01234, "12.34 ms"},
                {0.1234, "123.4 ms"},     {9.99951, "10.00 s"},      {99.996, "100.0 s"},
                {1234, "1234 s"},         {0.99996, "1.000 s"},      {999.96e-6, "1.000 ms"},
                {999.94e-6, "999.9 us"},  {2.5e-9, "2.500 ns"},      {5e-10, "0.500 ns"},
                {3.14159e-6, "3.142 us"}, {0.000999951, "1.000 ms"}, {0, "0.000 ns"},
                {1e300, "1e+300 s"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        at_text_add_time(&text, rows[i].seconds);
        EXPECT(rows[i].text);
    }
}

/* Read back by hand, a time is right to half a unit of its last digit, and has four digits. */
static void times_have_four_digits(void **state) {
    (void)state;
    at_rng rng;
    at_rng_seed(&rng, 4, 1);
    for (int i = 0; i < 20000; i++) {
        double seconds = pow(10, -8.9 + 12 * ((double)at_rng_below(&rng, 1 << 30) / (1 << 30)));
        at_text_clear(&text);
        at_text_add_time(&text, seconds);
        char *unit;
        double number = strtod(at_text_str(&text), &unit);
        double scale = !strcmp(unit, " s")    ? 1
                       : !strcmp(unit, " ms") ? 1e-3
                       : !strcmp(unit, " us") ? 1e-6
                       : !strcmp(unit, " ns") ? 1e-9
                                              : NAN;
        int digits = 0;
        for (const char *p = at_text_str(&text); p < unit; p++)
            digits += isdigit((unsigned char)*p) != 0;
        if (!(fabs(number * scale - seconds) <= 0.000501 * seconds) || digits != 4)
            fail_msg("%.17g s is told as %s", seconds, at_text_str(&text));
    }
}

static void shares_and_units(void **state) {
    (void)state;
    at_text_add_share(&text, 0.9844);
    EXPECT("98.4 %");
    at_text_add_share(&text, 0.00504);
    EXPECT("0.50 %");
    at_text_add_share(&text, 1.034);
    EXPECT("103.4 %");
    assert_string_equal(at_unit_of_speed(false), "GFLOP/s");
    assert_string_equal(at_unit_of_speed(true), "GB/s");
    assert_string_equal(at_name_of_peak(false, false), "FMA peak");
    assert_string_equal(at_name_of_peak(true, false), "bandwidth");
    assert_string_equal(at_name_of_peak(false, true), "dot peak");
}

static void names(void **state) {
    (void)state;
    const at_json *args;
    at_context c = {.cpu = "Some\tCPU",
                    .threads = 1,
                    .isa = "avx2",
                    .compiler = "tcc",
                    .packing = "ahead",
                    .cache = "hot"};
    assert_int_equal(at_json_parse(arena, "[1, \"x\"]", 8, &args, NULL), AT_OK);
    at_text_add_record_task(&text, "conv\nall", args);
    EXPECT("conv\\nall [1, \"x\"]");
    at_text_add_context(&text, &c);
    EXPECT("Some\\tCPU, tcc, avx2, weights packed ahead, 1 thread");
    c.threads = 2;
    at_text_add_context(&text, &c);
    assert_non_null(strstr(at_text_str(&text), ", 2 threads"));
    at_text_clear(&text);
    at_text_add_span(&text, 1700000000, 1700000061.9);
    EXPECT("2023-11-14 22:13:20 to 2023-11-14 22:14:21");
    at_text_add_span(&text, 0, -5);
    EXPECT("? to ?");
    assert_string_equal(at_failure_name(0), "unchecked");
    assert_string_equal(at_failure_name(AT_ERR_WRONG_ANSWER), "wrong");
    assert_string_equal(at_failure_name(AT_ERR_RUN_TIMEOUT), "timeout");
    assert_string_equal(at_failure_name(AT_NUM_FAILURES - 1), "other");
}

static void table(void **state) {
    (void)state;
    static const char *const cells[] = {"task",
                                        "time",
                                        "from",
                                        "a longer task",
                                        "1 ms",
                                        "a\x1b"
                                        "cd",
                                        "t",
                                        "100.5 ms",
                                        ""};
    at_table t = {.arena = arena, .columns = 3};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) at_table_add(&t, cells[i]);
    at_table_print(&text, &t);
    EXPECT("task               time  from\n"
           "a longer task      1 ms  a\\x1bcd\n"
           "t              100.5 ms\n");
}

/* No more than 100 columns: a label that leaves no room stands in a line of its own. */
static void wide_table(void **state) {
    (void)state;
    const char *label =
        "a label of more than eighty letters, which nobody would like to see beside the numbers";
    at_table t = {.arena = arena, .columns = 4};
    static const char *const numbers[] = {"1.234 ms", "256.84", "99"};
    at_table_add(&t, "layer");
    for (int i = 0; i < 3; i++) at_table_add(&t, "GFLOP/s");
    at_table_add(&t, label);
    for (int i = 0; i < 3; i++) at_table_add(&t, numbers[i]);
    at_table_add(&t, "short");
    for (int i = 0; i < 3; i++) at_table_add(&t, numbers[i]);
    at_table_print(&text, &t);
    EXPECT(
        "layer   GFLOP/s  GFLOP/s  GFLOP/s\n"
        "a label of more than eighty letters, which nobody would like to see beside the numbers\n"
        "       1.234 ms   256.84  99\n"
        "short  1.234 ms   256.84  99\n");
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void csv(void **state) {
    (void)state;
    static const char line[] =
        "{\"input\": [\"c -keys=cpu\", \"=cmd|x,\\\"y\\\"\", [1, \"a;b\"], {}], \"config\": "
        "{\"index\": 7, \"code_hash\": null, \"entity\": [[\"tile\", \"sp\", [-1, 4]]]}, "
        "\"result\": [[0.5, 1.5], 0, 2.25, 1700000000.5], \"version\": 0.2}";
    at_record r;
    at_error err;
    assert_int_equal(at_record_parse(arena, line, strlen(line), &r, &err), AT_OK);
    r.line = 12;
    at_key_map knobs = {.arena = arena};
    at_key_map_add(&knobs, "none");
    at_key_map_add(&knobs, "tile");
    at_csv_head(&text, &knobs);
    int columns = 1;
    for (const char *p = at_text_str(&text); *p; p++) columns += *p == ',';
    at_text_clear(&text);
    at_csv_row(&text, &r, &knobs);
    assert_non_null(strstr(at_text_str(&text), "12,\"'=cmd|x,\"\"y\"\"\",\"[1, \"\"a;b\"\"]\","));
    assert_non_null(strstr(at_text_str(&text), ",1.0,,,2.25,1700000000.5,"));
    assert_non_null(strstr(at_text_str(&text), "\",,\"[-1, 4]\"\n"));
    /* As many fields as the head names, by a reader of RFC 4180. */
    int fields = 1;
    bool quoted = false;
    for (const char *p = at_text_str(&text); *p; p++) {
        if (*p == '"') quoted = !quoted;
        fields += *p == ',' && !quoted;
    }
    assert_int_equal(fields, columns);
    assert_false(quoted);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void html(void **state) {
    (void)state;
    at_html_add(&text, "<b a=\"1\">&amp; 'x'\x01 \xc3\xa9");
    EXPECT("&lt;b a=&quot;1&quot;&gt;&amp;amp; 'x'\\x01 \xc3\xa9");
    at_html_addf(&text, "%d<%s", 3, "a&b");
    EXPECT("3&lt;a&amp;b");
    at_html_head(&text, "a <log>");
    at_html_add(&text, "</style><script>");
    at_html_end(&text);
    assert_null(strstr(at_text_str(&text), "<script"));
    assert_null(strstr(at_text_str(&text), "http")); /* needs nothing but itself */
    assert_non_null(strstr(at_text_str(&text), "<title>a &lt;log&gt;</title>"));
    /* Every tag that is opened is closed. */
    static const char *const tags[] = {"html", "head", "style", "title", "body"};
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        assert_non_null(strstr(at_text_str(&text), at_format(arena, "<%s", tags[i])));
        assert_non_null(strstr(at_text_str(&text), at_format(arena, "</%s>", tags[i])));
    }
}

static void samples(void **state) {
    (void)state;
    static const double quick[] = {1e-3, 1.1e-3, 1.2e-3}, slow[] = {2e-3};
    const at_sample_row rows[] = {{"<a>", quick, 3, 1.1e-3}, {"b", slow, 1, 2e-3}};
    at_svg_samples(&text, rows, 2);
    const char *svg = at_text_str(&text);
    assert_non_null(strstr(svg, "&lt;a&gt;"));
    assert_null(strstr(svg, "<a>"));
    assert_null(strstr(svg, "nan"));
    assert_int_equal(memcmp(svg, "<svg", 4), 0);
    assert_non_null(strstr(svg, "</svg>"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, reset)
    const struct CMUnitTest tests[] = {TEST(times),
                                       TEST(times_have_four_digits),
                                       TEST(shares_and_units),
                                       TEST(names),
                                       TEST(table),
                                       TEST(wide_table),
                                       TEST(csv),
                                       TEST(html),
                                       TEST(samples)};
    return cmocka_run_group_tests_name("view/figures", tests, setup, teardown);
}
