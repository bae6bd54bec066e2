/* --jobs 2 from outside: the search is that of --jobs 1, and nothing is left behind. */
#include "tests/cli/cli_test.h"

#include <string.h>

#define T "conv2d_3x3_gemm"
#define ARGS "--args N=1,H=6,W=8,CI=16,CO=32 "

static void no_core(void **state) {
    (void)state;
    const cli_result *r = cli_expect(2, "taskset -c $(taskset -cp $$ | sed 's/.*: //;s/[-,].*//') "
                                        "./autotune " T " " ARGS "--jobs 2");
    assert_string_equal(r->err, "autotune: --jobs 2: takes a core beside the 1 that kernels are "
                                "measured on; this process may use 1\n");
    cli_expect(2, "./autotune " T " " ARGS "--jobs 3");
    cli_expect(2, "./autotune " T " " ARGS "--jobs 0");
}

/* Every trial of the one is an answer to the other: it proposes the same after the same results. */
static void same_search(void **state) {
    (void)state;
    static const char *const ways[] = {
        "--tuner random", "--tuner grid", "--tuner ga --population 8",
        "--tuner random --early-stopping 7", "--tuner random --prune 1.2"};
    if (cli_cores() < 2) skip();
    bool is_known = cli_knows_cpu();
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!is_known && strstr(ways[i], "--prune")) continue;
        cli_expect(0,
                   "rm -f two.log; ./autotune " T " " ARGS
                   "--trials 40 --jobs 2 --log two.log --json %s",
                   ways[i]);
        const at_json *json = cli_json();
        int64_t trials = cli_member(json, "trials")->integer;
        assert_int_equal(cli_member(json, "from_log")->integer, 0);
        assert_true(cli_member(json, "seconds.ahead")->number > 0);
        /* and the default */
        assert_int_equal(cli_count_lines(cli_read("two.log"), "{"), trials + 1);
        cli_expect(0, "./autotune " T " " ARGS "--trials 40 --log two.log --json %s", ways[i]);
        json = cli_json();
        assert_int_equal(cli_member(json, "trials")->integer, trials);
        assert_int_equal(cli_member(json, "from_log")->integer, trials);
        assert_true(cli_member(json, "seconds.ahead")->number == 0);
    }
}

/* Compilers run ahead, too; an object that is not measured any more goes as well. */
static void objects(void **state) {
    (void)state;
    if (cli_cores() < 2) skip();
    cli_expect(0,
               "mkdir tmp && TMPDIR=$PWD/tmp ./autotune " T " " ARGS
               "--trials 6 --jobs 2 --compiler gcc --early-stopping 2 --tuner random --log g.log");
    assert_string_equal(cli_expect(0, "ls tmp")->out, "");
    assert_int_equal(cli_processes(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_core),
        cmocka_unit_test(same_search),
        cmocka_unit_test(objects),
    };
    return cmocka_run_group_tests_name("cli/jobs", tests, cli_setup, cli_teardown);
}
