/* A command as a kernel: from its words to a winner, and what goes wrong on the way. What it prints
 * is made up, so that nothing here goes by the clock. */
#include "tests/cli/cli_test.h"

#include <stdio.h>
#include <string.h>

/* Prints how far its number is from 9; some numbers are worse than slow. */
static const char bench[] =
    "#!/bin/sh\n"
    "[ $# -eq 2 ] || { echo \"$# words\"; exit 9; }\n"
    "[ \"$2\" = 13 ] && kill -SEGV $$\n"
    "[ \"$2\" = 15 ] && { echo 'no such tile' >&2; exit 3; }\n"
    "[ \"$2\" = 16 ] && { echo 'time: none'; exit 0; }\n"
    "t=$(($2 - 9))\n"
    "echo working; echo \"time: $((${t#-} + 1)).5 ms, rate: $((50 - ${t#-}))\"\n";

static void write_bench(void) {
    cli_write("bench", bench);
    cli_expect(0, "chmod +x bench; rm -f command.log made");
}

#define TUNE "./autotune tune --command './bench --tile {TILE}' --metric 'time: ([0-9.]+) ms' "

static void failures_never_win(void **state) {
    (void)state;
    write_bench();
    const char *out = cli_expect(0, TUNE "--knob TILE=1..16 --trials 100 --tuner grid")->out;
    assert_non_null(strstr(out, "TILE=9\n\n./bench --tile 9\n\nFastest of 16: 1.500 ms.\n"));
    const char *log = cli_trials("command.log");
    assert_int_equal(cli_count_lines(log, "{"), 16);
    cli_expect(0, "grep -q 'ended by signal 11' command.log");
    cli_expect(0, "grep -q 'ended with exit code 3: no such tile' command.log");
    cli_expect(0, "grep -q 'fits the metric; it begins: time: none' command.log");
    cli_expect(0, "grep -c '\"check\": \"nothing\"' command.log | grep -qx 13");
    /* A log holds hashes, never the command. */
    cli_expect(1, "grep -q -e bench -e '[-]-tile' -e 0-9 command.log");
    /* The same command goes on, and other verbs read what it wrote. */
    out = cli_expect(0, TUNE "--knob TILE=1..16 --trials 16 --tuner grid --json")->out;
    const at_json *v = cli_json();
    assert_int_equal(cli_number(v, "from_log"), 16);
    assert_non_null(strstr(out, "[[\"TILE\", \"ot\", 9]]"));
    out = cli_expect(0, "./autotune log command.log")->out;
    assert_non_null(strstr(out, "  best: 1.500 ms; index 8, line 9;"));
    assert_non_null(strstr(out, "\n  with TILE=9\n"));
    cli_expect(0, "./autotune pick_best command.log -o best.log");
    cli_expect(0, "./autotune plot command.log --knobs");
    cli_expect(0, "./autotune replay command.log --tuner random --trials 4 --repeats 2");
}

/* Other values are another space, other words another task. */
static void tasks(void **state) {
    (void)state;
    write_bench();
    cli_expect(0, TUNE "--knob TILE=8,9 --tuner grid");
    const char *err = cli_expect(0, TUNE "--knob TILE=9,8 --tuner grid")->err;
    assert_non_null(strstr(err, "2 records of another version"));
    cli_expect(0, "./autotune tune --command './bench -t {TILE}' --metric 'time: ([0-9.]+) ms' "
                  "--knob TILE=8,9 --tuner grid --json");
    assert_int_equal(cli_number(cli_json(), "from_log"), 0);
}

static void largest(void **state) {
    (void)state;
    write_bench();
    const char *out =
        cli_expect(0, "./autotune tune --command './bench --tile {TILE}' --metric 'rate: ([0-9]+)' "
                      "--higher --knob TILE=1..12 --trials 12 --tuner random")
            ->out;
    assert_non_null(strstr(out, "./bench --tile 9\n\nLargest of 12: 50.\n"));
    out = cli_expect(0, "./autotune log command.log --csv")->out;
    assert_non_null(strstr(out, ",50.0,"));
}

/* Values are part of a word, whatever is in them; conditions hold; knobs may not count. */
static void words(void **state) {
    (void)state;
    cli_write("args", "#!/bin/sh\nfor a; do printf '[%s]' \"$a\" >> seen; done; echo >> seen\n"
                      "echo \"figure 1\"\n");
    cli_expect(0, "chmod +x args; rm -f seen made command.log");
    cli_expect(0, "./autotune tune --command './args -x=\"{A} b\" \\{N} '\\''{A};touch made'\\'' "
                  "$(touch made) {B}' --metric 'figure ([0-9]+)' --knob 'A=a b,;touch made,$(touch "
                  "made)' --knob N=1..4 --knob 'B=5,6 if N == 1' --require 'N <= 2' --tuner grid "
                  "--trials 100");
    cli_expect(1, "test -e made");
    cli_expect(0, "grep -qxF '[-x=a b b][1][a b;touch made][$(touch][made)][5]' seen");
    cli_expect(0, "grep -qxF '[-x=;touch made b][2][;touch made;touch made][$(touch][made)]' seen");
    cli_expect(1, "grep -qF '[3]' seen");
    /* 3 values of A; N 1 with two of B, N 2 with none */
    assert_int_equal(cli_count_lines(cli_trials("command.log"), "{"), 9);
}

/* A log brings no values of its own. */
static void logs_are_data(void **state) {
    (void)state;
    write_bench();
    cli_expect(0, TUNE "--knob TILE=8,10 --tuner grid");
    cli_expect(0, "sed -i 's/\"TILE\", \"ot\", 8/\"TILE\", \"ot\", \"8;touch made\"/' command.log");
    cli_expect(0, TUNE "--knob TILE=8,10 --tuner grid --json");
    assert_int_equal(cli_number(cli_json(), "from_log"), 1);
    cli_expect(1, "test -e made");
    /* and no other verb runs it */
    cli_expect(0, "rm bench; ./autotune log command.log; ./autotune plot command.log");
    cli_run("./autotune run command --log command.log");
    cli_run("./autotune verify command.log");
}

static void late(void **state) {
    (void)state;
    cli_write("bench", "#!/bin/sh\n[ $2 = 2 ] && sleep 600\necho time: $2 ms\n");
    cli_expect(0, "chmod +x bench; rm -f command.log");
    const char *out =
        cli_expect(0, TUNE "--knob TILE=1,2 --tuner grid --timeout 4s --trials 2")->out;
    assert_non_null(strstr(out, "./bench --tile 1\n"));
    cli_expect(0, "grep -q '\"the command exceeded 4 s\"' command.log");
}

static void expect_error(const char *command, const char *text) {
    const char *err = cli_expect(2, "./autotune tune %s", command)->err;
    if (!strstr(err, text)) fail_msg("%s said: %sexpected: %s", command, err, text);
}

static void mistakes(void **state) {
    (void)state;
    write_bench();
    static const struct {
        const char *command, *message;
    } bad[] = {
        {"--command './bench'", "--command needs --metric"},
        {"--command './bench' --metric '(x)'", "--command needs a knob: --knob TILE=8,16,32"},
        {"--command './none {A}' --metric '(x)' --knob A=1,2", "the program ./none is not found"},
        {"--command './bench \"{A}' --metric '(x)' --knob A=1,2", "a quote is open"},
        {"--command ' ' --metric '(x)' --knob A=1,2", "--command \" \": WORDS is expected"},
        {"--command './bench' --metric 'x' --knob A=1,2", "the number stands in parentheses"},
        {"--command './bench' --metric '(x' --knob A=1,2", "--metric (x: "},
        {"--command './bench' --metric '(x)' --knob A", "--knob A: write NAME=8,16,32"},
        {"--command './bench' --metric '(x)' --knob A=1,,2", "--knob A=1,,2: a value is empty"},
        {"--command './bench' --metric '(x)' --knob 'A=a\"b'", "may hold no quote or backslash"},
        {"--command './bench' --metric '(x)' --knob 'int=1'", "\"int\" is "},
        {"dense --command './bench' --metric '(x)' --knob A=1", "--command stands in the place of"},
        {"--command './bench' --metric '(x)' --knob A=1 --on local:1", "--on is of kernels"},
        {"dense --metric '(x)'", "are of a command, which --command names"},
        {"--command './bench --tile {A}' --metric 'tame: ([0-9]+)' --knob A=1..8",
         "--metric tame: ([0-9]+): nothing that it printed fits the metric; it begins: working"},
        {"--command 'echo 0 {A}' --metric '([0-9]+)' --knob A=1..8 --log none.log",
         "--metric ([0-9]+): the metric found \"0\"; a number above 0 is accepted"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(bad[i].command, bad[i].message);
    const char *err = cli_expect(4, TUNE "--knob TILE=1,2 --knob TILE=3")->err;
    assert_non_null(strstr(err, "a second knob \"TILE\""));
    err = cli_expect(4, TUNE "--knob TILE=1,2 --require 'TILS > 1'")->err;
    assert_non_null(strstr(err, "\"TILS\" is no knob"));
    cli_expect(0, "rm -f command.log");
    err = cli_expect(0, TUNE "--knob TILE=1,2 --knob OTHER=1,2 --trials 2")->err;
    assert_non_null(strstr(err, "--command: no word of it holds {OTHER}"));
    assert_null(strstr(err, "stays as it is"));
    err = cli_expect(0, "./autotune tune --command 'echo {TILE} {TIEL} {0}' --metric '([0-9]+)' "
                        "--knob TILE=1,2 --log tiel.log")
              ->err;
    assert_non_null(strstr(err, "--command: {TIEL} stays as it is: no --knob has this name"));
    err = cli_expect(3, TUNE "--knob TILE=13,15 --log failing.log")->err;
    assert_null(strstr(err, "--paranoid")); /* which a command does not take */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_never_win),
        cmocka_unit_test(tasks),
        cmocka_unit_test(largest),
        cmocka_unit_test(words),
        cmocka_unit_test(logs_are_data),
        cmocka_unit_test(late),
        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests_name("cli/command", tests, cli_setup, cli_teardown);
}
