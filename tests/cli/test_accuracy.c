/* Errors of kernels as a limit of the search: what it admits, what it refuses, what it says. */
#include "tests/cli/cli_test.h"

#include <string.h>

#define SMALL "conv2d_winograd_nhwc --args N=1,H=8,W=8,CI=32,CO=16,points=0"
#define FOUR SMALL ",m=4"

static double recorded(const char *path, const char *name) {
    const char *line = strstr(cli_read(path), name);
    double x = -1;
    assert_non_null(line);
    assert_int_equal(sscanf(line + strlen(name), "\": %lf", &x), 1);
    return x;
}

/* One rounding of a number and one of a product: by at most 2^-24 of it each, and not 0. */
static void one_product(void **state) {
    (void)state;
    cli_write("tenth.te", "args N=4096\nA[N] : input\nout[i:N] = A[i] * 0.1\n");
    cli_expect(0, "./autotune ./tenth.te --trials 2 --log tenth.log");
    double most = recorded("tenth.log", "max_error"), rms = recorded("tenth.log", "rms_error");
    /* the largest of 4096 normal numbers is below 6 */
    assert_true(rms > 1e-9 && rms < 0x1p-23 && most > rms && most < 6 * 0x1p-23);
}

/* Entries of an index tensor lead to many elements, as in every run; a single element's error is
 * the largest and the mean, and stays readable. */
static void entries(void **state) {
    (void)state;
    cli_write("rows.te", "args B=64, D=32, V=100\np[V, D] : weight\nq[D] : weight\nr[B] : index\n"
                         "s[b:B] = sum(d:D) p[r[b], d]*q[d]\no[b:B] = sigmoid(s[b])\n");
    cli_expect(0, "./autotune ./rows.te --trials 2 --log rows.log");
    double most = recorded("rows.log", "max_error"), rms = recorded("rows.log", "rms_error");
    assert_true(rms > 1e-9 && most > 1.2 * rms && most < 1e-5);
    for (int b = 1; b < 8; b++) {
        cli_expect(0, "./autotune ./rows.te --args B=%d,D=32,V=1 --trials 1 --log one.log", b);
        cli_expect(0, "./autotune pick_best one.log && mv one.log last.log");
        most = recorded("last.log", "max_error"), rms = recorded("last.log", "rms_error");
        assert_true(rms > 0 && most >= rms);
    }
}

/* Ways through all nodes: as far as bounds tell, lengths double with each node. The run shows that
 * they are small integers. */
static void integers_of_steps(void **state) {
    (void)state;
    cli_write("ways.te", "args N=48\nw[N, N] : input\n"
                         "d[k:N+1, i:N, j:N] = k > 0 ? min(d[k - 1, i, j], d[k - 1, i, k - 1] + "
                         "d[k - 1, k - 1, j]) : w[i, j]\nout[i:N, j:N] = d[N, i, j]\n");
    const cli_result *r = cli_expect(0, "./autotune run ./ways.te --config default");
    assert_null(strstr(r->err, "not checked"));
    assert_non_null(strstr(r->out, "within its limit of the reference (0 of it at most)"));
}

static bool has_error(const char *line, const char *end, double *error) {
    const char *found = strstr(line, "\"max_error\": ");
    return found && found < end && sscanf(found, "\"max_error\": %lf", error) == 1;
}

/* Did a trial of that log have this error? */
static bool is_recorded(const char *path, double wanted) {
    double error;
    for (const char *line = cli_read(path), *end; (end = strchr(line, '\n')); line = end + 1)
        if (has_error(line, end, &error) && error == wanted) return true;
    return false;
}

static void limits(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune " FOUR " --trials 4 --tuner random --log a");
    assert_int_equal(cli_count_lines(r->out, "errors over the root mean square of the output: "),
                     1);
    double most = recorded("a", "max_error");
    assert_true(most > 5e-7 && most < 1e-5); /* of direct sums of 288: 1e-6 or so */
    /* Nothing meets it: a trial for each way of adding up tells, and the best error is said. */
    r = cli_expect(3, "./autotune " FOUR " --max-error 1e-7 --trials 40 --tuner random --log b");
    assert_non_null(strstr(r->err, "in 6 trials: none meets --max-error 1e-07; the best error "
                                   "reached is "));
    /* What was refused is measured under a larger limit, and is known then. */
    cli_expect(0, "./autotune " FOUR " --trials 4 --tuner random --log b --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 0);
    assert_true(is_recorded("a", cli_member(cli_json(), "best.accuracy.max_error")->number));
    cli_expect(0, "./autotune " FOUR " --trials 4 --tuner random --log b --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 4);
    /* Under a smaller one it does not count. */
    cli_expect(3, "./autotune " FOUR " --max-error 1e-7 --trials 4 --tuner random --log b");
}

/* Of kernels that add up alike one is enough to refuse all; the search goes on with the others. */
static void classes(void **state) {
    (void)state;
    double limit = 2.4e-6; /* between what parts of 4 and of 16 channels reach */
    cli_expect(0, "./autotune " FOUR " --max-error %g --trials 30 --tuner random --log f", limit);
    double refused[6] = {0}, error;
    int num_refused = 0, num_fine = 0;
    const char *log = cli_read("f");
    for (const char *line = log, *end; (end = strchr(line, '\n')); line = end + 1) {
        if (*line == '#' || !has_error(line, end, &error)) continue;
        if (error <= limit) {
            num_fine++;
            continue;
        }
        assert_true(num_refused < 6);
        for (int i = 0; i < num_refused; i++) assert_true(refused[i] != error);
        refused[num_refused++] = error;
    }
    assert_true(num_refused > 0 && num_fine > 20);
}

static void told(void **state) {
    (void)state;
    const char *const says = "errors over the root mean square of the output: at most ";
    cli_expect(0, "./autotune " FOUR " --trials 3 --tuner random --log c");
    assert_non_null(strstr(cli_expect(0, "./autotune log c")->out, says));
    assert_non_null(strstr(cli_expect(0, "./autotune show " FOUR " --log c")->out, says));
    assert_non_null(strstr(cli_expect(0, "./autotune apply " FOUR " --log c")->out, says));
    assert_non_null(strstr(cli_expect(0, "./autotune run " FOUR " --log c")->out, says));
    /* Of sums that integers check nothing is measured, unless it is asked for. */
    cli_expect(0, "./autotune run dense --args M=8,N=32,K=64 --json");
    assert_int_equal(cli_member(cli_json(), "accuracy")->kind, AT_JSON_NULL);
    cli_expect(0, "./autotune run dense --args M=8,N=32,K=64 --max-error 1e-4 --json");
    assert_true(cli_member(cli_json(), "accuracy.max_error")->number < 3e-6);
    /* Nor where a rounding error may become a large one; but of transforms that are exact on
     * integers. */
    cli_write("steps.te", "args N=64\nA[N] : input\nout[i:N] = floor(A[i] * 0.1)\n");
    cli_expect(0, "./autotune run ./steps.te --json");
    assert_int_equal(cli_member(cli_json(), "accuracy")->kind, AT_JSON_NULL);
    cli_expect(0, "./autotune run " SMALL ",m=2 --json");
    assert_int_equal(cli_member(cli_json(), "of_limit")->kind, AT_JSON_NULL);
    assert_true(cli_member(cli_json(), "accuracy.max_error")->number < 4e-6);
    const cli_result *r =
        cli_expect(3, "./autotune run dense --args M=8,N=32,K=64 --max-error 1e-9");
    assert_non_null(strstr(r->err, "--max-error is 1e-09"));
    r = cli_expect(0, "./autotune run dense_int8 --args M=4,N=32,K=64 --max-error 1e-4");
    assert_non_null(strstr(r->err, "--max-error changes nothing: the integers of dense_int8 are"));
    r = cli_expect(2, "./autotune run dense --max-error 0");
    assert_non_null(strstr(r->err, "--max-error 0: not a number above 0 and up to 1"));
}

/* Ways of an operator that are too inaccurate are none; the others go on. */
static void ways(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune conv2d --args N=1,H=8,W=8,CI=32,CO=16 "
                                        "--max-error 2e-6 --trials 40 --tuner random --log d");
    assert_non_null(strstr(r->out, ", too large"));
    r = cli_expect(3, "./autotune conv2d --args N=1,H=8,W=8,CI=32,CO=16 --max-error 1e-9 --trials "
                      "200 --tuner random --log e");
    const char *best = strstr(r->err, "none meets --max-error 1e-09; the best error reached is ");
    double error, other;
    assert_non_null(best);
    assert_int_equal(sscanf(strstr(best, "reached is "), "reached is %lf", &error), 1);
    int ways = 0; /* the table has the error of each */
    for (const char *at = r->out; (at = strstr(at, ", too large")); at++, ways++) {
        const char *number = at;
        while (number > r->out && number[-1] != ' ') number--;
        assert_int_equal(sscanf(number, "%lf", &other), 1);
        assert_true(error <= other);
    }
    assert_true(ways > 1);
}

/* What the definition itself rounds is told, and refused only where a limit is given; and what is 0
 * since a float is infinite on the way is right. */
static void definitions(void **state) {
    (void)state;
    cli_write("scores.te", "args S=24, D=256\nq[S, D] : input\nk[S, D] : input\n"
                           "v[S, D] : input\ns[i:S, j:S] = sum(d:D) q[i, d] * k[j, d]\n"
                           "most[i:S] = max(j:S) s[i, j]\n"
                           "e[i:S, j:S] = exp(3 * (s[i, j] - most[i]))\n"
                           "total[i:S] = sum(j:S) e[i, j]\n"
                           "o[i:S, d:D] = sum(j:S) e[i, j] * v[j, d]\n"
                           "out[i:S, d:D] = o[i, d] / total[i]\n");
    cli_expect(0, "./autotune ./scores.te --trials 2 --log scores.log");
    assert_true(recorded("scores.log", "max_error") > 1e-5);
    cli_expect(3, "./autotune ./scores.te --trials 2 --max-error 1e-5 --log scores2.log");
    cli_write("ratio.te", "args N=999\nf[9, N] : input\nd[q:9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}\n"
                          "all[n:N] = sum(q:9) f[q, n]\nmoved[n:N] = sum(q:9) d[q]*f[q, n]\n"
                          "out[n:N] = moved[n] / (all[n]*all[n])\n");
    cli_expect(0, "./autotune ./ratio.te --trials 2 --log ratio.log");
    assert_true(recorded("ratio.log", "max_error") > 1e-5);
    cli_write("silu.te", "args N=4096\nA[N] : input\ny[i:N] = 40*A[i]\n"
                         "out[i:N] = y[i] / (1 + exp(-y[i]))\n");
    cli_expect(0, "./autotune ./silu.te --trials 2 --log silu.log");
    /* Even in double, before a sum over what comes of it. */
    cli_write("layers.te", "args M=8, K=64, N=24\nx[M, K] : input\nv[K, N] : weight\n"
                           "w[N, N] : weight\ns[m:M, n:N] = sum(k:K) x[m, k] * v[k, n]\n"
                           "a[m:M, n:N] = s[m, n] / (1 + exp(-90*s[m, n]))\n"
                           "out[m:M, n:N] = sum(k:N) a[m, k] * w[k, n]\n");
    cli_expect(0, "./autotune ./layers.te --trials 2 --log layers.log");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_product),
        cmocka_unit_test(entries),
        cmocka_unit_test(integers_of_steps),
        cmocka_unit_test(limits),
        cmocka_unit_test(classes),
        cmocka_unit_test(told),
        cmocka_unit_test(ways),
        cmocka_unit_test(definitions),
    };
    return cmocka_run_group_tests_name("cli/accuracy", tests, cli_setup, cli_teardown);
}
