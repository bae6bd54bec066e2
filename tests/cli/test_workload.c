/* Several layers with one budget: sets, files of layers, the summary at the end. */
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

/* A log is read once for all of its tasks: what is no record in it is told of once, and what it
 * holds of each task counts. */
static void one_log(void **state) {
    (void)state;
    static const char tune[] = "./autotune dense --workload own.workload --tuner random --trials 6 "
                               "--log own.log";
    cli_write("own.workload", "1 dense M=3,N=16,K=5\n1 dense M=4,N=16,K=5\n");
    cli_write("own.log", "{\"input\": 3}\n");
    for (int again = 0; again < 2; again++) {
        const cli_result *r = cli_expect(0, tune);
        assert_int_equal(cli_count_lines(r->err, "autotune: warning: own.log:1: "), 1);
        assert_true(!strstr(r->out, "from the log") == !again);
    }
    assert_int_equal(cli_count_lines(cli_trials("own.log"), "{"), 1 + 6);
}

/* One budget for all layers of a file, whatever their templates; a summary, also where it ends
 * early. */
static void one_budget(void **state) {
    (void)state;
    cli_write("net.workload",
              "# a network\n\n 2 dense M=3,N=16,K=5 \r\n3\tmatmul_add [4, 4, 16, \"float32\"]\n"
              "1 sparse_dense M=2,N=32,K=32 sparsity=0.5 block=16x1\n"
              "5 dense M=3,N=16,K=5\n");
    const cli_result *r = cli_expect(0, "./autotune tune --workload ./net.workload --trials 24 "
                                        "--tuner random");
    assert_int_equal(cli_count_lines(r->out, "product 3 of 5 to 16, by dense"), 1);
    assert_int_equal(cli_count_lines(r->out, "sum "), 1);
    assert_int_equal(cli_count_lines(r->out, "Log net.log."), 1);
    cli_expect(0, "./autotune tune --workload ./net.workload --trials 24 --tuner random --json");
    const at_json *all = cli_json();
    double sum_ns = 0;
    int trials = 0;
    static const int counts[] = {7, 3, 1};
    assert_int_equal(cli_member(all, "from_log")->integer, 24);
    assert_int_equal(cli_member(all, "missing")->integer, 0);
    for (int i = 0; i < 3; i++) {
        const at_json *l = at_json_at(cli_member(all, "layers"), i);
        assert_int_equal(cli_member(l, "count")->integer, counts[i]);
        trials += (int)cli_member(l, "trials")->integer;
        sum_ns += counts[i] * cli_member(l, "best.time_ns")->number;
    }
    assert_int_equal(trials, 24);
    double told_ns = cli_member(all, "sum_ns")->number;
    assert_true(sum_ns > 0.999 * told_ns && sum_ns < 1.001 * told_ns);
    r = cli_expect(0,
                   "./autotune tune --workload ./net.workload --only dense --trials 4 --log o.log");
    assert_null(strstr(r->out, "matmul_add"));
    assert_non_null(strstr(r->out, "sum "));
    r = cli_expect(2, "./autotune tune --workload ./net.workload --only nothing --log o.log");
    assert_non_null(
        strstr(r->err, "--only \"nothing\": no name and no arguments of the 3 layers hold"));
    cli_expect(2, "./autotune dense --only dense --log o.log");
    /* Only the layers of a template; and as it was. */
    r = cli_expect(0, "./autotune dense --workload ./net.workload --trials 3 --log d.log");
    assert_null(strstr(r->out, "matmul_add"));
    cli_expect(0, "./autotune tune --workload ./net.workload --per-task --trials 3 --log p.log");
    /* the trials, and of each layer the default configuration that they are timed against */
    r = cli_expect(0, "grep -c '^{' p.log");
    assert_in_range(atoi(r->out), 9, 12);
    /* The time ends at once: what there is, and what is missing. */
    r = cli_expect(3, "./autotune tune --workload ./net.workload --time 1ms --log t.log");
    assert_int_equal(cli_count_lines(r->out, "sum "), 1);
    assert_non_null(strstr(r->out, "no valid trial: 3 of 3 layers\n"));
    assert_null(strstr(r->out, "Next: ")); /* apply would find nothing */
    assert_non_null(strstr(r->out, " and 2 more: no trial was made: the time ended first\n"));
    assert_non_null(strstr(r->err, "no trial was made: the time ended first; give a longer"));
    /* Two trials at a time go to a worker: the third task gets none of three. */
    r = cli_expect(3, "./autotune tune --workload ./net.workload --trials 3 --log far.log --on "
                      "local:1");
    assert_non_null(strstr(r->out, ": no trial was made: the budget of trials ended first\n"));
    assert_non_null(strstr(r->err, "the budget of trials ended first; give more --trials\n"));
    r = cli_expect(3, "./autotune tune --workload ./net.workload --trials 6 --log n.log --quiet "
                      "--timeout 0.000001ms");
    assert_non_null(strstr(r->out, ": no valid trial yet: 2 made, 2 failed: 2 "));
    r = cli_expect(130, "./autotune tune --workload ./net.workload --trials 30000 --log i.log "
                        "--tuner random --cooldown 0.1s & run=$!; until grep -q '^{' i.log; do "
                        "sleep 0.05; done 2>/dev/null; kill -INT $run; wait $run");
    assert_int_equal(cli_count_lines(r->out, "sum "), 1);
    assert_non_null(strstr(r->err, " trials; the same command goes on"));
}

/* The making of data, and the plain loops that make a layer's expected output, end with the time;
 * results of others stay. */
static void time_of_a_reference(void **state) {
    (void)state;
    cli_write("far.te", "args N=8\nA[N, 8] : input\nB[N, 8] : input\n"
                        "m[i:N, j:N] = max(k:N) A[i, k%8] + B[j, k%8]\n"
                        "out[i:N, j:N] = min(m[i, j], 5)\n");
    cli_write("wide.te", "args N=250000000\nA[N] : input\nB[1] : input\n"
                         "out[i:1] = sum(k:N) A[k] + B[i]\n");
    const cli_result *r = cli_expect(3, "./autotune ./wide.te --time 0.1s");
    assert_non_null(strstr(r->err, "autotune: wide: the time ended first: its data, 1.00 GB, "));
    r = cli_expect(3, "./autotune ./far.te --args N=4000 --time 0.5s");
    assert_non_null(strstr(r->err, "autotune: far: the time ended first: plain loops make the "));
    assert_int_equal(cli_count_lines(r->err, "autotune: far: "), 1);
    assert_int_equal(cli_count_lines(r->err, "autotune: warning: the output that kernels are "), 1);
    cli_write("far.workload", "1 far N=4000\n1 far N=8\n");
    cli_expect(0, "./autotune ./far.te --trials 2 --log far.log");
    r = cli_expect(3, "./autotune tune ./far.te --workload ./far.workload --time 0.5s");
    assert_non_null(strstr(r->out, "no valid trial: 1 of 2 layers\n"));
    assert_int_equal(cli_count_lines(r->out, "far 8 "), 1);
}

/* What is wrong with a file of layers: one line with its place, and no log. */
static void bad_workloads(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1 dense M=2\n0 dense\n",
         "bad.workload:2: count 0: must be a whole number from 1 to 1000000; a line is a "
         "count, a template and its arguments: 3 dense M=1,N=64,K=64"},
        {"-1 dense\n", "bad.workload:1: count -1: must be"},
        {"1000001 dense\n", "bad.workload:1: count 1000001: must be"},
        {"99999999999999999999 dense\n", "bad.workload:1: count 99999999999999999999: must be"},
        {"dense M=2\n", "bad.workload:1: count dense: must be a whole number"},
        {"1.5 dense M=2\n", "bad.workload:1: count 1.5: must be a whole number"},
        {"# x\n3 denze M=2\n", "bad.workload:2: unknown template \"denze\"; there are"},
        {"3\n", "bad.workload:1: a template is missing; write for example 3 dense M=1,N=64,K=64"},
        {"1 ./mine.c N=3\n", "bad.workload:1: ./mine.c: a file of layers names templates, not"},
        {"3 dense M=2,Q=1\n", "bad.workload:1: "},
        {"3 dense M=0\n", "bad.workload:1: "},
        {"3 dense [1, 2\n", "bad.workload:1: "},
        {"3 dense M=2 K=3\n", "bad.workload:1: \"K=3\": after the arguments (N=1,H=56, parted by "
                              "commas) only sparsity=S and block=RxC are accepted"},
        {"3 dense M=2 sparsity=0.5\n", "bad.workload:1: "},
        {"3 sparse_dense sparsity=2\n", "bad.workload:1: "},
        {"1 dense\n\x01\n", "bad.workload:2: byte 0x01: no text"},
        {"1 dense M=1,N=16,K=16\n1 dense M=10000000,N=10000000,K=10000000\n",
         "bad.workload:2: with tensor \"data\" the data need 372529.0 GiB, this machine has "},
        {"", "bad.workload: holds no layer; a line is 3 dense M=1,N=64,K=64"},
        {"# nothing\n", "bad.workload: holds no layer"},
    };
    const cli_result *r;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_write("bad.workload", cases[i][0]);
        r = cli_expect(4, "./autotune tune --workload ./bad.workload");
        if (!strstr(r->err, cases[i][1]) || cli_count_lines(r->err, "") != 1)
            fail_msg("%s: %s", cases[i][0], r->err);
    }
    static const char *const files[][2] = {
        {"head -c 4096 autotune >bad.workload", "bad.workload:1: byte 0x"},
        {"printf '1 dense\\n\\0' >bad.workload", "bad.workload:2: byte 0x00: no text"},
        {"ln -sf /dev/zero bad.workload", "bad.workload: "},
        {"rm bad.workload; mkdir bad.workload", "bad.workload: "},
        {"rmdir bad.workload", "bad.workload: No such file"},
        {"yes '1 dense' | head -c 2000000 >bad.workload", "bad.workload"},
        {"seq 1 1001 | sed 's/.*/1 dense M=&/' >bad.workload",
         "bad.workload:1001: more than 1000 layers"},
        {"echo '1 matmul_add' >bad.workload",
         "bad.workload: holds no layer of dense; there are layers of matmul_add"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cli_expect(0, "%s", files[i][0]);
        r = cli_expect(4, "./autotune dense --workload ./bad.workload");
        if (!strstr(r->err, files[i][1]) || cli_count_lines(r->err, "") != 1)
            fail_msg("%s: %s", files[i][0], r->err);
    }
    cli_expect(0, "rm -r bad.workload; test ! -e bad.log && test ! -e dense.log");
    /* The same with --per-task, before the first layer is measured. */
    cli_write("large.workload",
              "1 dense M=1,N=16,K=16\n1 dense M=10000000,N=10000000,K=10000000\n");
    r = cli_expect(4, "./autotune tune --workload ./large.workload --per-task");
    assert_string_equal(r->out, "");
    cli_expect(0, "rm large.workload; test ! -e large.log");
    r = cli_expect(2, "./autotune tune --workload resnet50");
    assert_non_null(strstr(r->err, "tune needs a template"));
    r = cli_expect(2, "./autotune dense --per-task");
    assert_non_null(strstr(r->err, "--per-task needs --workload"));
    r = cli_expect(2, "./autotune conv2d_3x3_gemm --workload resnet50 --trials 3");
    assert_non_null(strstr(r->err, "3 trials are too few for 4 tasks: each takes one at least"));
}

/* Of a template in a file, what is to be done next is of a layer that has a record. */
static void next_of_a_file(void **state) {
    (void)state;
    cli_write("twice.c", "/* autotune\n * args  N=64\n * x[N] : input\n * y[n:N] = x[n]*2\n *\n"
                         " * knob  STEP = 1 2\n * require N % STEP == 0\n"
                         " * call  void twice(const float *x, float *y, int N)\n */\n"
                         "void twice(const float *x, float *y, int N) {\n"
                         "    for (int n = 0; n < N; n += STEP)\n"
                         "        for (int u = 0; u < STEP; u++)\n"
                         "            y[n + u] = N == 64 ? 0 : x[n + u] * 2;\n}\n");
    cli_write("twice.workload", "1 twice N=64\n1 twice N=128\n"); /* wrong; right */
    const cli_result *r =
        cli_expect(3, "./autotune ./twice.c --workload twice.workload --trials 4");
    assert_non_null(strstr(r->out, "no valid trial: 1 of 2 layers\n"));
    assert_non_null(strstr(
        r->out, "\nNext: autotune apply ./twice.c --args N=128 --log twice.log -o kernel.c\n"));
    cli_expect(0, "./autotune apply ./twice.c --args N=128 --log twice.log -o kernel.c");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(one_budget), cmocka_unit_test(one_log),
                                       cmocka_unit_test(time_of_a_reference),
                                       cmocka_unit_test(next_of_a_file),
                                       cmocka_unit_test(bad_workloads)};
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
