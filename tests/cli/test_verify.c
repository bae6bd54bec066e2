/* tests/cli/test_verify.c: what becomes of records when they are run again. Times are claimed in
 * such a way that no machine is too fast or too slow for the verdict. */
#include "tests/cli/cli_test.h"

#include <string.h>

#define TUNE "./autotune conv2d_3x3_gemm --args N=1,H=5,W=7,CI=3,CO=6 "

/* best.log: one record with its finals. */
static void make_best(void) {
    cli_expect(0, "rm -f t.log best.log; " TUNE "--trials 4 --seed 3 --log t.log");
    cli_expect(0, "./autotune pick_best t.log -o best.log");
}

/* best.log with one sed expression applied, as x.log. Where the default configuration won, which is
 * timed beside the trials and is none, its record is a trial's. */
static void change(const char *sed) {
    cli_expect(0, "sed -E -e 's/\"part\": \"anchor\", //' -e '%s' best.log > x.log", sed);
}

static const at_json *only_record(void) {
    const at_json *records = cli_member(cli_json(), "records");
    assert_int_equal(records->count, 1);
    return records->child;
}

static void expect(int status, const char *options, const char *verdict, const char *note) {
    cli_expect(status, "./autotune verify x.log --json %s", options);
    const at_json *r = only_record();
    assert_string_equal(cli_member(r, "verdict")->string, verdict);
    if (!strstr(cli_member(r, "note")->string, note))
        fail_msg("%s: note \"%s\", expected \"%s\"", verdict, cli_member(r, "note")->string, note);
    assert_int_equal(cli_member(cli_json(), "count")->count, 6);
    assert_int_equal(cli_member(cli_member(cli_json(), "count"), verdict)->integer, 1);
}

#define FAST_CLAIM CLI_CLAIM("1e-12", "1.1e-12")

static void reproduced(void **state) {
    (void)state;
    make_best();
    change(CLI_SLOW_CLAIM);
    expect(0, "", "reproduced", "");
    const at_json *r = only_record();
    assert_string_equal(cli_member(r, "source")->string, "x.log");
    assert_int_equal(cli_member(r, "line")->integer, 1);
    double time_ns = cli_member(r, "time_ns")->number, flops = 2.0 * 35 * 6 * 27;
    assert_true(time_ns > 0);
    assert_float_equal(cli_member(r, "gflops")->number, flops / time_ns, 1e-6);
    assert_true(cli_member(r, "recorded.time_ns")->number >= 1e12);
    assert_true(cli_member(r, "ratio")->number < 1);
    const cli_result *t = cli_expect(0, "./autotune verify x.log x.log");
    assert_int_equal(
        cli_count_lines(t->out, "x.log:1: conv2d_3x3_gemm [1, 5, 7, 3, 6, \"float32\"]"), 2);
    assert_int_equal(cli_count_lines(t->out, "  reproduced: was "), 2);
    assert_int_equal(cli_count_lines(t->out, "2 records: 2 reproduced\n"), 1);
    /* What is measured can be kept, in the same context and with the same data, behind what says
     * what it was timed against; more of it is on the same scale. */
    cli_expect(0, "./autotune verify x.log --log again.log");
    cli_expect(0, "./autotune pick_best again.log x.log --json");
    assert_int_equal(cli_member(cli_json(), "picked")->count, 1);
    assert_int_equal(cli_member(cli_member(cli_json(), "picked")->child, "considered")->integer, 2);
    const char *again = cli_read("again.log");
    assert_int_equal(cli_count_lines(again, ""), 3);
    assert_int_equal(cli_count_lines(again, "#objective {"), 1);
    assert_int_equal(cli_count_lines(again, "#anchor {"), 1);
    cli_expect(0, "./autotune verify x.log --log again.log");
    assert_int_equal(cli_count_lines(cli_read("again.log"), ""), 4);
    assert_non_null(strstr(cli_read("again.log"), "\"seed\": 3, "));
}

static void stale(void **state) {
    (void)state;
    make_best();
    change(FAST_CLAIM);
    expect(7, "", "stale", "");
    assert_string_equal(cli_member(only_record(), "compared")->string, "pairs");
    /* The first anchor of its log was another kernel. */
    change(FAST_CLAIM "; s/\"first\": \"[0-9a-f]+\"/\"first\": \"0\"/");
    expect(7, "", "stale", "");
    assert_string_equal(cli_member(only_record(), "compared")->string, "time");
    change(FAST_CLAIM);
    assert_non_null(strstr(cli_expect(7, "./autotune verify x.log")->err,
                           "autotune: 1 of 1 records not reproduced\n"));
    /* Also where only single samples of finals were lost: the record's own count then. */
    cli_expect(0, "grep -v '^#' x.log > y.log; mv y.log x.log");
    expect(7, "", "stale", "");
}

/* A template of the user's, with the tree given. */
static void write_template(const char *leaf) {
    at_text t = {0};
    at_text_addf(&t,
                 "#include \"template.h\"\n"
                 "static void define(at_template *t) {\n"
                 "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
                 "    at_compute(t, \"a[X] : input\\nb[x:X] = a[x]\\n\");\n"
                 "    at_schedule(t, \"xo, xi:vec =>\\n    @b = %s\\n\");\n"
                 "}\n"
                 "static void defaults(at_template *t, int lanes) {\n"
                 "    long long n = lanes * 0 + 64;\n"
                 "    at_default(t, \"tile_x\", &n);\n"
                 "}\n"
                 "const at_template_row at_own = {.name = \"own\", .args = \"X=64\",\n"
                 "    .record_args = \"[X]\", .define = define, .defaults = defaults};\n",
                 leaf);
    cli_write("own.c", at_text_str(&t));
    at_text_free(&t);
}

static void wrong(void **state) {
    (void)state;
    write_template("{xo, xi}/x");
    cli_expect(0, "rm -f best.log; ./autotune ./own.c --trials 3 --log own.log");
    cli_expect(0, "./autotune pick_best own.log -o best.log");
    change(CLI_SLOW_CLAIM "; s/-1, [0-9]+/-1, 4/");
    expect(7, "", "not_run", "unknown template \"own\"");
    expect(0, "./own.c", "reproduced", "");
    /* The file is edited; only with the default does its tree still compute everything. */
    write_template("xi");
    expect(7, "./own.c", "not_run", "the template has changed since; --accept-changed");
    expect(7, "./own.c --accept-changed", "wrong", "invalid: ");
    assert_int_equal(cli_member(only_record(), "time_ns")->kind, AT_JSON_NULL);
}

static void circumstances(void **state) {
    (void)state;
    make_best();
    static const struct {
        const char *sed, *verdict, *note;
    } rows[] = {
        {"s/\"cpu\": \"[^\"]*\"/\"cpu\": \"Another CPU\"/", "other_cpu", ""},
        {"s/\"compiler\": \"tcc\"/\"compiler\": \"icc\"/", "not_run", "there is no compiler icc"},
        {"s/\"isa\": \"[a-z0-9]*\"/\"isa\": \"avx9\"/", "not_run",
         "there is no instruction set avx9"},
        {"s/\"cache\": \"hot\"/\"cache\": \"frozen\"/", "not_run",
         "there is no state of caches frozen"},
        {"s/\"threads\": 1/\"threads\": 1000/", "not_run", "1000"},
        {"s/conv2d_3x3_gemm/conv9d/", "not_run", "unknown template \"conv9d\""},
        {"s/\\[1, 5, 7, 3, 6,/[1, 5, 7, 3,/", "not_run", ""},
        {"s/\"sp\", \\[-1, /\"sp\", [-1, 1, 1, 1, /", "not_run", "this knob takes "},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sed[512];
        snprintf(sed, sizeof sed, "%s; %s", CLI_SLOW_CLAIM, rows[i].sed);
        change(sed);
        expect(7, "", rows[i].verdict, rows[i].note);
    }
    change(CLI_SLOW_CLAIM
           "; s/\"compiler_version\": \"/&0./; s/\"template\": \"./\"template\": \"x/");
    expect(7, "", "not_run",
           "the template has changed since; --accept-changed verifies it all the same");
    expect(0, "--accept-changed", "reproduced", "the template has changed");
    assert_non_null(strstr(cli_member(only_record(), "note")->string, ", was 0.0."));
}

/* Of a foreign record its target says which CPU it is of. */
static void foreign(void **state) {
    (void)state;
    make_best();
    change("/^#/d; s/, \"autotune\".*/}/; s/\"result\": \\[\\[[^]]*/\"result\": [[1000.0/");
    expect(0, "", "reproduced", "");
    cli_expect(0, "sed -i 's/-mcpu=/-mcpu=x/' x.log");
    expect(7, "", "other_cpu", "");
}

static void left_out(void **state) {
    (void)state;
    make_best();
    change(CLI_SLOW_CLAIM);
    cli_expect(0, "sed 's/\"check\": \"exact\"/\"check\": \"unchecked\"/; /^#/d' x.log > u.log; "
                  "cat u.log x.log > both.log");
    assert_int_equal(cli_count_lines(cli_expect(0, "./autotune verify both.log")->out,
                                     "1 record: 1 reproduced; left out: 1 unchecked\n"),
                     1);
    /* It counts as `log` does. */
    cli_expect(
        0,
        "sed 's/, 0, [0-9.e-]*, \\([0-9.e+]*\\)\\], \"version\"/, 4, 1, \\1], \"version\"/' u.log "
        "> f.log; { cat f.log both.log; echo garbage; } > all.log");
    cli_expect(0, "./autotune verify all.log --json");
    const int64_t left = cli_member(cli_json(), "left_out")->integer;
    assert_int_equal(left, 2);
    assert_int_equal(cli_member(cli_json(), "unreadable")->integer, 1);
    cli_expect(0, "./autotune log all.log --json");
    assert_int_equal(cli_member(cli_json(), "records")->integer, 1 + left);
    assert_int_equal(cli_member(cli_json(), "bad")->integer, 1);
    assert_int_equal(cli_count_lines(cli_expect(0, "./autotune verify all.log")->out,
                                     "1 record: 1 reproduced; left out: 1 failed, 1 unchecked, 1 "
                                     "unreadable line\n"),
                     1);
    assert_non_null(strstr(cli_expect(3, "./autotune verify u.log")->err,
                           "autotune: no valid record to verify; left out: 1 "
                           "unchecked\n"));
}

static void bad_input(void **state) {
    (void)state;
    static const struct {
        const char *command;
        int status;
        const char *message;
    } rows[] = {
        {"verify", 2, "verify needs a log: autotune verify LOG... [options]"},
        {"verify none.log", 4, "cannot read none.log: No such file or directory"},
        {"verify x.log --margin -1", 2, "--margin -1: not a number of percent from 0 to 1000"},
        {"verify x.log --margin 5x", 2, "--margin 5x: not a number of percent from 0 to 1000"},
        {"verify x.log --compiler gcc", 2,
         "--compiler is no option of verify; autotune help verify lists them"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const cli_result *r = cli_expect(rows[i].status, "./autotune %s", rows[i].command);
        char expected[256];
        snprintf(expected, sizeof expected, "autotune: %s\n", rows[i].message);
        assert_string_equal(r->err, expected);
        assert_string_equal(r->out, "");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reproduced),    cmocka_unit_test(stale),   cmocka_unit_test(wrong),
        cmocka_unit_test(circumstances), cmocka_unit_test(foreign), cmocka_unit_test(left_out),
        cmocka_unit_test(bad_input),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
