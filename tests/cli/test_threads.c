/* --threads from outside: kernels on several threads are right, their records say so, and files of
 * `apply` run on threads under -fopenmp and on one without it. */
#include "tests/cli/cli_test.h"

#include <string.h>

#define T "conv2d_NCHWc"
#define ARGS "--args N=1,IC=8,H=9,W=10,OC=16,KH=3,KW=3,strides=1,padding=1 "

static bool has_openmp(void) { /* the C compiler's, which built the program, too */
    return cli_run("echo 'int main(void) { return 0; }' | cc -fopenmp -x c -o omp - 2>omp.txt")
               ->status == 0;
}

static void too_many(void **state) {
    (void)state;
    const cli_result *r = cli_expect(2, "./autotune run " T " " ARGS "--threads 1024");
    assert_non_null(strstr(r->err, "--threads 1024: "));
    cli_expect(2, "./autotune run " T " " ARGS "--threads 0");
}

static void records(void **state) {
    (void)state;
    if (cli_cores() < 2 || !has_openmp()) skip();
    cli_expect(0, "./autotune " T " " ARGS "--trials 6 --tuner random --threads 2 --log two.log");
    assert_int_equal(cli_count_lines(cli_read("two.log"), "{"), 7); /* and the default */
    const char *log = cli_read("two.log");
    int with = 0;
    for (const char *s = log; (s = strstr(s, "\"threads\": 2")); s++) with++;
    assert_int_equal(with, 7);
    /* another context: nothing of it is an answer */
    cli_expect(0, "./autotune " T " " ARGS "--trials 6 --tuner random --log two.log --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 0);
    const cli_result *r =
        cli_expect(0, "./autotune run " T " " ARGS "--log two.log --line " FIRST_RECORD("two.log"));
    assert_non_null(strstr(r->out, "2 threads"));
    assert_non_null(strstr(r->out, "output: equal to the reference"));
}

static void files(void **state) {
    (void)state;
    const char *flags[] = {"", "-fopenmp"};
    for (int one = 0; one < 2; one++) {
        cli_expect(0, "./autotune apply " T " " ARGS "--index 5 --main %s -o kernel.c",
                   one ? "" : "--threads 3");
        assert_true((strstr(cli_read("kernel.c"), "#pragma omp") != NULL) == !one);
        for (int i = 0; i < 2; i++) {
            if (*flags[i] && !has_openmp()) continue;
            cli_expect(0, "cc -O2 -Wall -Wextra -Werror %s -o kernel kernel.c -lm", flags[i]);
            assert_non_null(strstr(cli_expect(0, "OMP_NUM_THREADS=2 ./kernel")->out, "right"));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_many),
        cmocka_unit_test(records),
        cmocka_unit_test(files),
    };
    return cmocka_run_group_tests_name("cli/threads", tests, cli_setup, cli_teardown);
}
