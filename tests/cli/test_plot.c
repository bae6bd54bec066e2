/* tests/cli/test_plot.c: plots of logs made by hand, whose figures are known. */
#include "tests/cli/cli_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "conv2d_3x3_gemm"
/* Multiply-adds of the task below, times two. */
static const double flops = 2.0 * (1 * 4 * 4) * 16 * (9 * 8);

static void check_contains(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* A line of another program's log: no more than AutoTVM writes. error_no 0: it took time_s. */
static void add_trial(at_text *log, int tile, double time_s, int error_no, double at_s) {
    at_text_addf(log,
                 "{\"input\": [\"c -keys=cpu -mcpu=znver4\", \"" NAME
                 "\", [1, 4, 4, 8, 16, \"float32\"], {}], \"config\": {\"index\": 0, "
                 "\"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, %d, 1]], "
                 "[\"tile_x\", \"sp\", [-1, 1, 16]], [\"tile_k\", \"sp\", [-1, 1]]]}, ",
                 tile);
    at_text_addf(log, "\"result\": [[%.9g], %d, 0.5, %.6f], \"version\": 0.2, ",
                 error_no ? 1e9 : time_s, error_no, 1.7e9 + at_s);
    at_text_add(log, "\"tvm_version\": \"0.12.0\"}\n");
}

/* Six trials, the fourth failed, an hour between the fifth and the sixth. */
static void write_log(const char *path) {
    at_text log = {0};
    add_trial(&log, 1, 4e-6, 0, 0);
    add_trial(&log, 2, 2e-6, 0, 1);
    add_trial(&log, 2, 8e-6, 0, 2);
    add_trial(&log, 4, 0, 4, 4);
    add_trial(&log, 4, 1e-6, 0, 5);
    add_trial(&log, 4, 3e-6, 0, 3605);
    cli_write(path, at_text_str(&log));
    at_text_free(&log);
}

static void check_near(double x, double expected) {
    if (!(fabs(x - expected) <= 1e-9 * fabs(expected))) fail_msg("%.17g, not %.17g", x, expected);
}

static void figures(void **state) {
    (void)state;
    static const double times[] = {4e-6, 2e-6, 8e-6, 0, 1e-6, 3e-6};
    static const double seconds[] = {0.5, 1.5, 2.5, 4.5, 5.5, 6};
    write_log("a.log");
    cli_expect(0, "./autotune plot a.log --json");
    const at_json *task = at_json_at(cli_member(cli_json(), "tasks"), 0);
    assert_string_equal(cli_member(task, "unit")->string, "GFLOP/s");
    const at_json *series = at_json_at(cli_member(task, "series"), 0);
    assert_int_equal(cli_member(series, "trials")->integer, 6);
    assert_int_equal(cli_member(series, "failed")->integer, 1);
    assert_int_equal(cli_member(series, "best_trial")->integer, 5);
    for (int i = 0; i < 6; i++) {
        const at_json *point = at_json_at(cli_member(series, "points"), i);
        const at_json *speed = cli_member(point, "speed");
        check_near(cli_member(point, "seconds")->number, seconds[i]);
        if (times[i] > 0) check_near(speed->number, flops * 1e-9 / times[i]);
        else assert_int_equal(speed->kind, AT_JSON_NULL);
    }
}

static void knobs(void **state) {
    (void)state;
    write_log("a.log");
    cli_expect(0, "./autotune plot --knobs a.log --json");
    const at_json *knob =
        at_json_at(cli_member(at_json_at(cli_member(cli_json(), "tasks"), 0), "knobs"), 0);
    assert_string_equal(cli_member(knob, "name")->string, "tile_y");
    static const struct {
        const char *value;
        int trials, failed;
        double best_s, median_s; /* median of speeds: the mean of the two in the middle */
    } expected[] = {{"[-1, 4, 1]", 3, 1, 1e-6, 1.5e-6},
                    {"[-1, 2, 1]", 2, 0, 2e-6, 3.2e-6},
                    {"[-1, 1, 1]", 1, 0, 4e-6, 4e-6}};
    assert_int_equal(cli_member(knob, "values")->count, 3);
    for (int i = 0; i < 3; i++) {
        const at_json *v = at_json_at(cli_member(knob, "values"), i);
        assert_string_equal(cli_member(v, "value")->string, expected[i].value);
        assert_int_equal(cli_member(v, "trials")->integer, expected[i].trials);
        assert_int_equal(cli_member(v, "failed")->integer, expected[i].failed);
        check_near(cli_member(v, "best")->number, flops * 1e-9 / expected[i].best_s);
        check_near(cli_member(v, "median")->number, flops * 1e-9 / expected[i].median_s);
    }
    const cli_result *r = cli_expect(0, "LC_ALL=C ./autotune plot --knobs a.log");
    check_contains(r->out, "  [-1, 4, 1]      36.9      24.6       3       1  ######");
    check_contains(r->out, "\ntile_k ");
}

/* Columns on the terminal: bytes that do not continue a character. */
static int widest(const char *text) {
    int most = 0, n = 0;
    for (; *text; text++) {
        if (*text == '\n') n = 0;
        else n += ((unsigned char)*text & 0xc0) != 0x80;
        if (n > most) most = n;
    }
    return most;
}

static void check_title(const char *options) {
    const char *out = cli_expect(0, "./autotune plot a.log --against trials %s", options)->out;
    assert_true(!strncmp(out, "conv3x3 8 to 16 @4, ", strlen("conv3x3 8 to 16 @4, ")));
}

static void terminal(void **state) {
    (void)state;
    write_log("a.log");
    /* 20 columns and 12 rows: trial t is at round(t / 6 * 19), a speed of s at round(s / 38 * 11)
     * from below; the best so far climbs from 9.2 over 18.4 to 36.9 GFLOP/s. */
    const cli_result *r =
        cli_expect(0, "LC_ALL=C COLUMNS=32 ./autotune plot a.log --against trials");
    assert_string_equal(r->out, "conv3x3 8 to 16 @4, " NAME "\n"
                                "GFLOP/s\n"
                                "       |                aaaa\n"
                                "       |                a\n"
                                "    30 +                a\n"
                                "       |                a\n"
                                "       |                a\n"
                                "    20 +                a\n"
                                "       |      aaaaaaaaaaa\n"
                                "       |      a            .\n"
                                "    10 +   aaaa\n"
                                "       |\n"
                                "       |          .\n"
                                "     0 +\n"
                                "failed |             x\n"
                                "       ++---------------+---\n"
                                "trials  0               5\n"
                                "a.log: c -keys=cpu -mcpu=znver4\n"
                                "36.9 GFLOP/s at trial 5 of 6, after 5.500 s of 6.000 s; "
                                "1 failed; pauses left out\n");
    for (int columns = 40; columns <= 200; columns += 80) {
        r = cli_expect(
            0, "LC_ALL=de_DE.UTF-8 COLUMNS=%d ./autotune plot a.log a.log | sed '1d;19q'", columns);
        assert_in_range(widest(r->out), columns - 4, columns);
        check_contains(r->out, "\xe2\xa0"); /* braille */
    }
    assert_null(strchr(r->out, 033));
    r = cli_expect(0, "TERM=xterm ./autotune plot a.log --color=always");
    check_contains(r->out, "\033[");
    check_title("--only '8 to 16'");
    check_title("--only '[1, 4'");
    cli_expect(2, "./autotune plot a.log --only 'to 17'");
}

static bool has_gnuplot(void) { return cli_run("gnuplot --version")->status == 0; }

/* Nothing but failures: an empty plot, and no word of a best. */
static void only_failures(void **state) {
    (void)state;
    at_text log = {0};
    for (int i = 0; i < 3; i++) add_trial(&log, 1, 0, 4, i);
    cli_write("failed.log", at_text_str(&log));
    at_text_free(&log);
    const cli_result *r = cli_expect(0, "COLUMNS=40 ./autotune plot failed.log");
    check_contains(r->out, "no valid trial among 3, in 2.500 s; 3 failed\n");
    assert_null(strstr(r->out, "\xe2\xa0")); /* braille */
    assert_null(strstr(r->out, "\xe2\xa1"));
    check_contains(cli_expect(0, "./autotune plot failed.log --knobs")->out, "  [-1, 1, 1]  ");
}

/* The shortest time that a record may have is drawn; a shorter one, which nobody can have measured,
 * is among what failed. */
static void no_time(void **state) {
    (void)state;
    at_text log = {0};
    add_trial(&log, 1, 1e-12, 0, 0);
    add_trial(&log, 2, 1e-6, 0, 1);
    cli_write("short.log", at_text_str(&log));
    add_trial(&log, 1, 5e-324, 0, 2);
    cli_write("none.log", at_text_str(&log));
    at_text_free(&log);
    const cli_result *r = cli_expect(0, "./autotune plot short.log");
    assert_null(strstr(r->out, "failed"));
    check_contains(r->out, "3e+07");
    r = cli_expect(0, "./autotune plot none.log");
    assert_null(strstr(r->out, "inf"));
    check_contains(r->out, "failed");
    check_contains(r->out, "3e+07");
}

static void files(void **state) {
    (void)state;
    if (!has_gnuplot()) {
        print_message("gnuplot is not installed: pictures are not tested\n");
        skip();
    }
    cli_expect(0, "mkdir -p 'it'\"'\"'s a path'");
    write_log("it's a path/a b.log");
    static const struct {
        const char *ending, *begin;
    } formats[] = {{"svg", "<?xml"}, {"png", "\x89PNG"}, {"pdf", "%PDF"}};
    for (int i = 0; i < 3; i++)
        for (int knob = 0; knob < 2; knob++) {
            cli_expect(0, "cd it*path; ../autotune plot %s 'a b.log' -o 'x y.%s'",
                       knob ? "--knobs" : "", formats[i].ending);
            cli_expect(0, "head -c %d it*path/x*.%s", (int)strlen(formats[i].begin),
                       formats[i].ending);
            assert_string_equal(cli_run("head -c %d it*path/x*.%s", (int)strlen(formats[i].begin),
                                        formats[i].ending)
                                    ->out,
                                formats[i].begin);
        }
    cli_expect(0, "cd it*path; ../autotune plot 'a b.log' -o 'x y.svg'");
    char *svg = cli_read("it's a path/x y.svg");
    check_contains(svg, "a b.log: c -keys=cpu");
    check_contains(svg, "seconds");
    check_contains(svg, "1 failed");
    assert_string_equal(cli_expect(0, "ls it*path | grep -c tmp; true")->out, "0\n");
}

/* Trials of which none is drawn: gnuplot refuses a plot without a point. */
static void nothing_to_draw(void **state) {
    (void)state;
    if (!has_gnuplot()) skip();
    at_text log = {0};
    add_trial(&log, 3, 1e-6, 0, 0); /* no configuration of the task */
    cli_write("unfit.log", at_text_str(&log));
    at_text_free(&log);
    write_log("a.log");
    static const char *const ways[] = {"", "--against trials", "--against seconds", "--knobs"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (int both = 0; both < 2; both++) {
            const cli_result *r = cli_expect(0, "./autotune plot unfit.log %s %s -o unfit.svg",
                                             both ? "a.log" : "", ways[i]);
            check_contains(r->err, "no configuration of its task, and not used");
            check_contains(cli_read("unfit.svg"), "</svg>");
        }
}

static void refused(void **state) {
    (void)state;
    write_log("a.log");
    const cli_result *r = cli_expect(2, "./autotune plot a.log -o x.jpeg");
    check_contains(r->err, "--output x.jpeg: the ending says the format: .png, .svg or .pdf");
    r = cli_expect(2, "PATH=/nowhere ./autotune plot a.log -o x.svg");
    check_contains(r->err, "gnuplot, which is not installed: apt-get install gnuplot-nox");
    assert_int_not_equal(access("x.svg", F_OK), 0);
    cli_run("mkdir -p killed");
    cli_write("killed/gnuplot", "#!/bin/sh\nkill -KILL $$\n");
    r = cli_expect(1, "chmod +x killed/gnuplot; PATH=$PWD/killed:$PATH ./autotune plot a.log -o "
                      "x.svg");
    check_contains(r->err, "autotune: x.svg: gnuplot was ended by SIGKILL\n");
    assert_int_not_equal(access("x.svg", F_OK), 0);
    check_contains(cli_expect(2, "./autotune plot a.log --only dense")->err,
                   "--only dense: no task");
    cli_expect(4, "./autotune plot absent.log");
    cli_expect(2, "./autotune plot a.log --knobs --against trials");
    at_text many = {0};
    for (int i = 1; i <= 81; i++)
        at_text_addf(&many, "sed 's/.1, 4, 4, 8, 16, /[%d, 4, 4, 8, 16, /;q' a.log >>many.log; ",
                     i);
    cli_expect(0, "%s", at_text_str(&many));
    at_text_free(&many);
    r = cli_expect(2, "./autotune plot many.log -o x.svg");
    check_contains(r->err, "--output x.svg: 81 tasks are too many for a picture, 80 would do; ");
    if (has_gnuplot()) cli_expect(5, "./autotune plot a.log -o absent/x.svg");
    check_contains(cli_expect(0, "./autotune plot a.log --only '4, 8'")->out, NAME);
}

/* ---- a log is data --------------------------------------------------------------------------- */

/* One record in which every text tries to run a command, in each way of quoting that gnuplot has.
 */
static void write_attack(const char *path) {
    static const char attack[] =
        "\\nEND\\nsystem \\\"touch PWNED\\\"\\n$k << END\\n`touch PWNED`"
        "''; system('touch PWNED') #\\\\\\\"; system(\\\"touch PWNED\\\") #";
    at_text log = {0};
    for (int i = 0; i < 2; i++) {
        at_text_addf(&log, "{\"input\": [\"c %s\", \"%s\", [\"%s\"], {}], ", attack, attack,
                     attack);
        at_text_addf(
            &log,
            "\"config\": {\"index\": 0, \"code_hash\": null, \"entity\": [[\"%s\", \"an\", "
            "[\"%s\"]], [\"o\", \"ot\", \"%s\"]]}, \"result\": [[1.0], %d, 1.0, 1.0], "
            "\"version\": 0.2",
            attack, attack, attack, i);
        at_text_addf(
            &log,
            ", \"autotune\": {\"tuner\": \"%s\", \"check\": \"exact\", \"context\": "
            "{\"cpu\": \"%s\", \"isa\": \"%s\", \"compiler\": \"%s\", \"packing\": \"%s\", "
            "\"cache\": \"%s\"}}}\n",
            attack, attack, attack, attack, attack, attack);
    }
    cli_write(path, at_text_str(&log));
    at_text_free(&log);
}

/* Also where it comes compressed or out of another tuner's file, or the file itself has such a
 * name. */
static void commands_in_a_log(void **state) {
    (void)state;
    if (!has_gnuplot()) {
        print_message("gnuplot is not installed: pictures are not tested\n");
        skip();
    }
    cli_expect(0, "mkdir -p attack");
    write_attack("attack/a.log");
    write_attack(
        "attack/`touch PWNED`''; system('touch PWNED') #\"; system(\"touch PWNED\") #.log");
    cli_expect(0, "cd attack; gzip -k a.log; for f in t4 kernel_tuner; do "
                  "../autotune convert -q a.log --to $f -o a.$f && "
                  "../autotune convert -q a.$f --to log -o $f.log || exit 1; done");
    cli_expect(0, "cd attack; for f in *log *.gz; do for o in '' --knobs; do "
                  "../autotune plot -q $o \"$f\" -o picture.svg || exit 1; done; done; "
                  "for e in png pdf; do ../autotune plot -q a.log -o picture.$e || exit 1; done");
    cli_expect(0, "cd attack; test ! -e PWNED && test -s picture.svg");
    check_contains(cli_read("attack/picture.svg"), "touch PWNED");
    cli_expect(0, "rm -r attack");
}

/* The name of the picture is nothing to gnuplot. */
static void names_of_pictures(void **state) {
    (void)state;
    write_log("a.log");
    check_contains(cli_expect(2, "./autotune plot a.log -o '|touch PWNED; cat >x.png'")->err,
                   "--output |touch PWNED; cat >x.png: a name that begins with | means a command "
                   "elsewhere; write ./|touch");
    check_contains(cli_expect(2, "./autotune plot a.log -o '<x.png'")->err, "begins with <");
    if (has_gnuplot()) {
        static const char *const names[] = {"./|touch PWNED #.png", "it's ''.png",
                                            "`touch PWNED`.png", "a\"b\\n.png"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            setenv("PICTURE", names[i], 1);
            cli_expect(0, "./autotune plot a.log -o \"$PICTURE\" && test -s \"$PICTURE\" && "
                          "rm \"$PICTURE\"");
        }
        /* A picture that cannot be written leaves the one that is there. */
        cli_write("old.png", "\x89PNG\r\n\x1a\n"
                             "old");
        cli_expect(5, "(ulimit -f 0; trap '' XFSZ; exec ./autotune plot a.log -o old.png)");
        assert_string_equal(cli_read("old.png"), "\x89PNG\r\n\x1a\n"
                                                 "old");
    }
    assert_int_not_equal(access("PWNED", F_OK), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures),           cmocka_unit_test(knobs),
        cmocka_unit_test(terminal),          cmocka_unit_test(only_failures),
        cmocka_unit_test(no_time),           cmocka_unit_test(files),
        cmocka_unit_test(nothing_to_draw),   cmocka_unit_test(refused),
        cmocka_unit_test(commands_in_a_log), cmocka_unit_test(names_of_pictures),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
