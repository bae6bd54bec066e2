/* tests/cli/test_terminal.c: what is seen on a terminal and off it: progress, colours, verbosity,
 * first failures and what --keep saves; other locales, paths with blanks. */
#include "tests/cli/cli_test.h"
#include "tests/cli/screen.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "conv2d_3x3_gemm"
#define SMALL "./autotune " NAME " --args N=1,H=5,W=7,CI=3,CO=6 "
#define LONG "./autotune " NAME " --args N=1,H=14,W=14,CI=16,CO=16 --trials 1000000 "

static char sources[PATH_MAX]; /* the tests run in a folder of their own */

static void check_contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void check_absent(const char *text, const char *part) {
    if (strstr(text, part)) fail_msg("\"%s\" is in:\n%s", part, text);
}

/* ---- the progress line ----------------------------------------------------------------------- */

static int lines_with(const screen *s, const char *part) {
    int n = 0;
    for (int i = 0; i < s->lines; i++) n += strstr(s->text[i], part) != NULL;
    return n;
}

static void check_one_line(const screen *s, const char *part) {
    if (lines_with(s, part) == 1) return;
    for (int i = 0; i < s->lines; i++) print_message("%s\n", s->text[i]);
    fail_msg("not one line with \"%s\"", part);
}

/* Made narrower and wider, then interrupted by Ctrl-C: one progress line is left, whole, and its
 * beginning is not what the terminal echoed. */
static void resized_and_interrupted(void **state) {
    (void)state;
    static screen s;
    screen_start(&s, "TERM=xterm " LONG "--log resized.log", 100);
    assert_true(screen_until(&s, "  ETA "));
    static const int widths[] = {40, 20, 80};
    for (int i = 0; i < 3; i++) {
        screen_resize(&s, widths[i]);
        /* The first of these may have been under way. */
        assert_true(screen_until(&s, "\033[J") && screen_until(&s, "\033[J"));
        s.widest = 0;
        assert_true(screen_until(&s, "\033[J") && screen_until(&s, "\033[J"));
        assert_in_range(s.widest, 10, widths[i] - 1);
        /* The end is not cut off: the name gave way. */
        if (widths[i] == 40) assert_true(screen_until(&s, "  ETA "));
    }
    screen_type(&s, "\003");
    assert_int_equal(screen_end(&s), 130);
    check_one_line(&s, " GFLOP/s  (");
    check_one_line(&s, NAME "  ");
    check_one_line(&s, "of the FMA peak beside it");
    check_one_line(&s, "interrupted after ");
    check_contains(s.raw.data, "making the input");
    assert_int_equal(lines_with(&s, "making the input"), 0);
    assert_int_equal(lines_with(&s, "^C"), 0);
    assert_int_equal(cli_processes(), 0);
    at_text_free(&s.raw);
}

/* Eighty columns are enough for it, whatever failed: here everything. */
static void fits(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status != 0) skip();
    static screen s;
    screen_start(&s, "TERM=xterm " LONG "--trials 5 --compiler gcc --timeout 1ms --log fits.log",
                 80);
    assert_int_equal(screen_end(&s), 3);
    assert_true(s.redrawn > 1);
    assert_in_range(s.widest, 40, 79);
    check_one_line(&s, "none valid yet  (5/5)  5 failed");
    check_one_line(&s, " failed: compile-timeout");
    check_contains(s.raw.data, "it is checked against");
    assert_int_equal(lines_with(&s, "against"), 0);
    at_text_free(&s.raw);
}

static void dumb_terminal(void **state) {
    (void)state;
    static screen s;
    screen_start(&s, "TERM=dumb " SMALL "--trials 300 --log dumb.log", 80);
    assert_int_equal(screen_end(&s), 0);
    assert_null(strchr(s.raw.data, 033));
    check_one_line(&s, "  (300/300)  ");
    at_text_free(&s.raw);
}

/* Nothing comes, and it ends. Off a terminal nothing is said. */
static void a_worker_waits(void **state) {
    (void)state;
    static screen s;
    cli_expect(0, "mkdir -m 700 box");
    screen_start(&s, "TERM=xterm ./autotune work box --idle 10ms", 80);
    assert_int_equal(screen_end(&s), 0);
    check_one_line(&s, "autotune: waits for searches: autotune ... --on dir:box; Ctrl-C ends it");
    at_text_free(&s.raw);
    assert_string_equal(cli_expect(0, "./autotune work box --idle 10ms")->err, "");
}

/* ---- colours -------------------------------------------------------------------------------- */

static bool is_colored(const char *environment, const char *option) {
    static screen s;
    char command[256];
    snprintf(command, sizeof command, "%s ./autotune nothing %s", environment, option);
    screen_start(&s, command, 80);
    assert_int_equal(screen_end(&s), 2);
    bool colored = strstr(s.raw.data, "\033[31mautotune:\033[0m ") != NULL;
    if (!colored) assert_null(strchr(s.raw.data, 033));
    check_one_line(&s, "autotune: unknown command");
    at_text_free(&s.raw);
    return colored;
}

static void colors(void **state) {
    (void)state;
    cli_expect(0, SMALL "--trials 3 --log colors.log");
    assert_true(is_colored("TERM=xterm", ""));
    assert_true(is_colored("TERM=xterm NO_COLOR=", ""));
    assert_false(is_colored("TERM=xterm NO_COLOR=1", ""));
    assert_false(is_colored("TERM=dumb", ""));
    static const struct {
        const char *command;
        bool colored;
    } plots[] = {{"TERM=xterm ./autotune plot colors.log", false},
                 {"TERM=xterm ./autotune plot colors.log --color auto", false},
                 {"TERM=xterm ./autotune plot colors.log --color=always", true},
                 {"NO_COLOR=1 ./autotune plot colors.log --color=always", true}};
    for (size_t i = 0; i < sizeof plots / sizeof *plots; i++)
        assert_int_equal(strchr(cli_expect(0, "%s", plots[i].command)->out, 033) != NULL,
                         plots[i].colored);
    static screen s;
    screen_start(&s, "TERM=xterm ./autotune plot colors.log --color never", 80);
    assert_int_equal(screen_end(&s), 0);
    assert_null(strchr(s.raw.data, 033));
    at_text_free(&s.raw);
    check_contains(cli_expect(2, "./autotune log colors.log --color=sometimes")->err,
                   "--color sometimes: there are auto, always, never");
}

/* A terminal of one byte a character takes parts of others for C1. */
static void other_locale(void **state) {
    (void)state;
    static screen s;
    for (int utf8 = 0; utf8 < 2; utf8++) {
        char command[128];
        snprintf(command, sizeof command,
                 "TERM=xterm LC_ALL=%s ./autotune log 'gr\xc3\x9b\x9b.log'",
                 utf8 ? "C.UTF-8" : "C");
        screen_start(&s, command, 80);
        assert_int_equal(screen_end(&s), 4);
        check_contains(s.raw.data,
                       utf8 ? "cannot read gr\xc3\x9b\\x9b.log" : "cannot read gr\\u00db\\x9b.log");
        at_text_free(&s.raw);
    }
}

/* ---- how much is said ----------------------------------------------------------------------- */

static void verbosity(void **state) {
    (void)state;
    cli_write("blank.log", "\n");
    assert_string_equal(cli_expect(0, SMALL "--trials 5 --log q.log -q")->err, "");
    check_contains(cli_run("./autotune log blank.log q.log --diff")->err, "warning: blank.log");
    check_absent(cli_run("./autotune log blank.log q.log --diff -q")->err, "warning");
    assert_string_equal(cli_run("./autotune nothing -q")->err, cli_run("./autotune nothing")->err);

    const cli_result *r = cli_expect(0, SMALL "--trials 20 --log v.log --tuner random -v");
    /* Each better than the one before. */
    double best = 0, gflops;
    int trial, better = 0;
    for (const char *line = r->err; !strncmp(line, "trial ", 6); line = strchr(line, '\n') + 1) {
        assert_int_equal(sscanf(line, "trial %d: %*f %*s %lf GFLOP/s; {", &trial, &gflops), 2);
        assert_true(gflops >= best);
        best = gflops;
        better++;
    }
    assert_in_range(better, 1, 20);

    r = cli_expect(0, SMALL "--trials 20 --log d.log --tuner random --debug");
    assert_int_equal(cli_count_lines(r->err, "No: "), 20);
    check_contains(r->err, "No: 1\tGFLOPS: ");
    check_contains(r->err, "\tresult: MeasureResult(costs=(");
    check_contains(r->err, ",), error_no=MeasureErrorNo.NO_ERROR, all_cost=" + 2);
    check_contains(r->err, "\t[('tile_y', [-1, ");
    check_absent(r->err, "(20/20)");
    cli_expect(2, "./autotune log q.log -q -v");
}

/* ---- failures ------------------------------------------------------------------------------- */

/* The command that a first failure names, run as it stands. */
static void first_failure(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status != 0) skip();
    const cli_result *r =
        cli_expect(3, SMALL "--trials 3 --compiler gcc --timeout 1ms --seed 5 --log ff.log");
    assert_int_equal(cli_count_lines(r->err, "autotune: trial "), 1);
    check_contains(r->err, "autotune: trial 1 failed: compile-timeout\n    gcc exceeded ");
    check_contains(r->err, "\n    {\"index\": ");
    check_contains(r->err, "autotune: no valid configuration in 3 trials (3 failed: 3 compile-");
    check_contains(r->err, "give more time with --timeout, or --compiler tcc; to look at it: "
                           "autotune run " NAME " --args N=1,H=5,W=7,CI=3,CO=6 --seed 5 --compiler "
                           "gcc --timeout 1ms --index ");
    char *command = strdup(strstr(r->err, "    once more: ") + strlen("    once more: "));
    *strchr(command, '\n') = 0;
    int index = atoi(strstr(command, "--index ") + strlen("--index "));
    r = cli_expect(3, "PATH=.:$PATH; %s", command);
    check_contains(r->err, "autotune: compile-timeout: gcc exceeded ");
    static const char *const files[] = {"result.txt", "config.json", "tree.txt",  "kernel.c",
                                        "program.c",  "7-tile.txt",  "8-emit.txt"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        cli_expect(0, "test -s " NAME "-%d/%s", index, files[i]);
    check_contains(cli_run("cat " NAME "-%d/result.txt", index)->out, command);
    /* Given more time it is the kernel that it always was. */
    cli_expect(0, "cd " NAME "-%d && gcc -O2 -o program program.c -lm && ./program", index);
    cli_expect(0,
               "./autotune run " NAME " --args N=1,H=5,W=7,CI=3,CO=6 --config $(tr -d ' \\n' <" NAME
               "-%d/config.json)",
               index);
    free(command);
}

/* Of seven configurations only the one with a single piece computes everything: six failures of one
 * kind, of which the first is told; nothing again when the log answers. */
static void first_of_each_kind(void **state) {
    (void)state;
    cli_write("own.c", "#include \"template.h\"\n"
                       "static void define(at_template *t) {\n"
                       "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS);\n"
                       "    at_compute(t, \"a[X] : input\\nb[x:X] = a[x]\\n\");\n"
                       "    at_schedule(t, \"xo, xi:vec =>\\n    @b = xi\\n\");\n"
                       "}\n"
                       "const at_template_row at_own = {.name = \"own\", .args = \"X=64\",\n"
                       "    .record_args = \"[X]\", .define = define};\n");
    const cli_result *r = cli_expect(0, "./autotune ./own.c --trials 7 --log kinds.log");
    assert_int_equal(cli_count_lines(r->err, "autotune: trial "), 1);
    check_contains(r->err, " failed: invalid\n    schedule of own:2: {xi:");
    check_contains(r->err, "\n    once more: autotune run ./own.c --index ");
    check_contains(r->out, "6 failed: 6 invalid");
    r = cli_expect(0, "./autotune ./own.c --trials 7 --log kinds.log");
    assert_int_equal(cli_count_lines(r->err, "autotune: trial "), 0);
    r = cli_expect(0, "./autotune ./own.c --trials 7 --log verbose.log -v");
    assert_int_equal(cli_count_lines(r->err, "autotune: trial "), 1);
    assert_int_equal(cli_count_lines(r->err, "trial "),
                     6); /* the other failures, and the valid one */
    check_absent(r->err, "none valid yet  (7/7)");
    assert_string_equal(cli_expect(0, "./autotune ./own.c --trials 7 --log quiet.log -q")->err, "");
    /* What cannot be lowered leaves its configuration and what is wrong with it. */
    r = cli_expect(3, "./autotune run ./own.c --index 0 --keep");
    check_contains(cli_read("own-0/result.txt"),
                   "invalid: schedule of own:2: {xi:1} does not reach");
    check_contains(cli_read("own-0/config.json"), "{\"index\": 0, ");
    assert_int_not_equal(access("own-0/kernel.c", F_OK), 0);
}

/* A template of the user's own, in a folder whose name a shell would take apart. */
static void first_failure_of_own_template(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status != 0) skip();
    cli_expect(0, "mkdir -p \"it's mine\" && cp '%s/templates/dense.c' \"it's mine\"", sources);
    const cli_result *r = cli_expect(3, "./autotune \"it's mine/dense.c\" --args M=4,N=16,K=20 "
                                        "--compiler gcc --timeout 1ms --trials 1 --log own.log");
    check_contains(r->err, "once more: autotune run 'it'\\''s mine/dense.c' --args M=4,N=16,K=20 ");
    char *command = strdup(strstr(r->err, "    once more: ") + strlen("    once more: "));
    *strchr(command, '\n') = 0;
    r = cli_expect(3, "PATH=.:$PATH; %s", command);
    check_contains(r->err, "autotune: its texts are in dense-");
    free(command);
}

/* ---- where it runs -------------------------------------------------------------------------- */

/* Whatever the locale's decimal point is. */
static void locale(void **state) {
    (void)state;
    if (cli_run("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null && "
                "test \"$(LOCPATH=$PWD LC_ALL=de_DE.UTF-8 locale decimal_point)\" = ,")
            ->status != 0) {
        print_message("localedef and the locale de_DE are not installed: not tested\n");
        skip();
    }
#define GERMAN "LOCPATH=$PWD LC_ALL=de_DE.UTF-8 LANG=de_DE.UTF-8 "
    cli_expect(0, GERMAN SMALL "--trials 70 --log german.log --json --time 1.5m -q");
    double gflops = cli_member(cli_json(), "best.gflops")->number;
    assert_true(gflops > 0);
    cli_expect(0, GERMAN "./autotune run " NAME " --log german.log --json");
    assert_true(cli_member(cli_json(), "gflops")->number > 0);
    static const char *const commands[] = {
        "log german.log",
        "log german.log --csv",
        "plot german.log",
        "log --json german.log",
        "plot --knobs german.log",
        "pick_best german.log",
        "plot german.log -o de.svg && sed 's/gnuplot_plot_[0-9]*//' de.svg"};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strstr(commands[i], "svg") && cli_run("gnuplot --version")->status != 0) continue;
        char *ours = strdup(cli_expect(0, GERMAN "./autotune %s", commands[i])->out);
        assert_string_equal(ours, cli_expect(0, "LC_ALL=C.UTF-8 ./autotune %s", commands[i])->out);
        free(ours);
    }
}

static void blanks(void **state) {
    (void)state;
    cli_expect(0, "mkdir -p 'a b/c d' && cp -L autotune 'a b/auto tune' && cd 'a b' && "
                  "'./auto tune' " NAME
                  " --args N=1,H=5,W=7,CI=3,CO=6 --trials 5 --log 'c d/x y.log'");
    cli_expect(0, "cd 'a b' && './auto tune' apply " NAME " --log 'c d/x y.log' -o 'c d/k 1.c' && "
                  "'./auto tune' plot 'c d/x y.log' && './auto tune' log 'c d/x y.log' && "
                  "'./auto tune' pick_best 'c d/x y.log' -o 'c d/best 1.log' && "
                  "test -s 'c d/best 1.log' && test -s 'c d/k 1.c'");
}

static int setup(void **state) {
    if (!getcwd(sources, sizeof sources)) return -1;
    return cli_setup(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resized_and_interrupted),
        cmocka_unit_test(fits),
        cmocka_unit_test(dumb_terminal),
        cmocka_unit_test(a_worker_waits),
        cmocka_unit_test(colors),
        cmocka_unit_test(other_locale),
        cmocka_unit_test(verbosity),
        cmocka_unit_test(first_failure),
        cmocka_unit_test(first_of_each_kind),
        cmocka_unit_test(first_failure_of_own_template),
        cmocka_unit_test(locale),
        cmocka_unit_test(blanks),
    };
    return cmocka_run_group_tests_name("cli/terminal", tests, setup, cli_teardown);
}
