/* Weights of the user's: sparse matrices and arrays from files, in tuning and running. */
#include "tests/cli/cli_test.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static char weights[2 * PATH_MAX]; /* the folder; the tests run in one of their own */

/* Valid until the fourth call from here. */
static const char *path_of(const char *file) {
    static char path[4][2 * PATH_MAX + 64];
    static int next;
    next = (next + 1) % 4;
    snprintf(path[next], sizeof path[next], "%s/%s", weights, file);
    return path[next];
}

#define SPARSE "sparse_dense --args M=5,N=8,K=12"

/* Of the 8 x 12 matrix in blocks of 4 x 1 that tests/runtime/test_input.c describes. */
static void formats(void **state) {
    (void)state;
    static const struct {
        const char *file, *options;
        int nnz, r, c;
        bool real;
    } cases[] = {
        {"bsr.npz", "", 5, 4, 1, true},
        {"bsr_float64_stored.npz", " --block 4x1", 5, 4, 1, true},
        {"csr.npz", " --block 4x1", 5, 4, 1, true},
        {"csr.npz", " --block 1x1", 19, 1, 1, true},
        {"coo.npz", " --block 8x12", 1, 8, 12, true},
        {"array.npy", " --block 4x3", 5, 4, 3, true},
        {"coordinate.mtx", " --block 4x1", 5, 4, 1, true},
        {"array.mtx", " --block 2x2", 10, 2, 2, true},
        {"pattern.mtx", " --block 4x1", 5, 4, 1, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_expect(0, "./autotune run " SPARSE "%s --weight %s --json --paranoid", cases[i].options,
                   path_of(cases[i].file));
        const at_json *r = cli_json(), *args = cli_member(r, "args");
        assert_int_equal(at_json_at(args, 3)->integer, cases[i].nnz);
        assert_int_equal(at_json_at(args, 4)->integer, cases[i].r);
        assert_int_equal(at_json_at(args, 5)->integer, cases[i].c);
        /* Values of the file are no integers: each output has its limit. */
        const at_json *of_limit = cli_member(r, "of_limit");
        assert_int_equal(of_limit->kind == AT_JSON_NULL, !cases[i].real);
        if (cases[i].real) assert_true(of_limit->number <= 1);
        else assert_true(cli_member(r, "max_error")->number == 0);
    }
}

/* One context per pattern, whatever the values. */
static void contexts(void **state) {
    (void)state;
    const char *tune = "./autotune " SPARSE "%s%s%s --trials 4 --log w.log --json";
    const char *bsr = path_of("bsr.npz"), *pattern = path_of("pattern.mtx");
    cli_expect(0, tune, " --weight ", bsr, "");
    assert_int_equal(cli_member(cli_json(), "failed")->count, 0);
    assert_int_equal(cli_member(cli_json(), "trials")->integer, 4);
    cli_expect(0, tune, " --weight ", pattern, " --block 4x1");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 4);
    cli_expect(0, tune, ",nnz=5,R=4,C=1", "", "");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 0);
    assert_int_equal(
        cli_count_lines(cli_expect(0, "./autotune pick_best w.log")->out, "{\"input\""), 2);

    /* From the log: records of the weight's own pattern before others. */
    const char *run = "./autotune run sparse_dense --log w.log%s%s%s";
    static const char other[] =
        ": measured with another sparse weight; --weight or --sparsity make";
    assert_null(strstr(cli_expect(0, run, " --weight ", bsr, "")->err, other));
    assert_null(strstr(cli_expect(0, run, "", "", "")->err, other));
    /* All four of the first search: any but the default may have been too slow to be timed. */
    cli_expect(0, "awk '{print} /^{/ && ++n == 4 {exit}' w.log > own.log");
    assert_non_null(strstr(cli_expect(0, "./autotune run sparse_dense --log own.log")->err, other));
    assert_non_null(
        strstr(cli_expect(0, run, " --line " FIRST_RECORD("w.log"), "", "")->err, other));
    assert_null(strstr(
        cli_expect(0, run, " --line " FIRST_RECORD("w.log") " --weight ", bsr, "")->err, other));
}

/* Arrays for templates without a sparse weight, in the order of the plain tensor. */
static void arrays(void **state) {
    (void)state;
    static const char *const fitting[][2] = {
        {"dense", "M=5,N=8,K=12"},
        {"dense", "M=5,N=8,K=12,bias=1"},
        {"matmul_add", "N=5,L=8,M=12"},
        {"conv2d_NCHWc", "H=5,W=6,IC=4,OC=8,KH=1,KW=3,padding=0"}, /* 8 x 4 x 1 x 3 */
        {"conv2d_NCHWc", "H=5,W=6,IC=12,OC=8,KH=1,KW=1,padding=0"},
        {"conv2d_nhwc", "H=5,W=6,CI=8,CO=12,KH=1,KW=1,padding=0"},
        {"conv2d_nhwc", "H=5,W=6,CI=2,CO=12,KH=2,KW=2"},
    };
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++) {
        cli_expect(0, "./autotune %s --args %s --weight %s --trials 3 --log a.log --json",
                   fitting[i][0], fitting[i][1], path_of("array.npy"));
        assert_int_equal(cli_member(cli_json(), "failed")->count, 0);
        cli_expect(0, "./autotune run %s --args %s --weight %s --json", fitting[i][0],
                   fitting[i][1], path_of("array.npy"));
        assert_true(cli_member(cli_json(), "of_limit")->number <= 1);
    }
}

/* A weight of 64 x 48 by rows, one of it as given, as a matrix by columns. */
static void write_weight(const char *path, const char *value) {
    cli_expect(0,
               "awk 'BEGIN { print \"%%%%MatrixMarket matrix array real general\\n64 48\";"
               " for (k = 0; k < 48; k++) for (x = 0; x < 64; x++)"
               " print x == 3 && k == 40 ? \"%s\" : ((x * 37 + k * 11) %% 101 - 50) / 64 }' >%s",
               value, path);
}

/* One huge weight hides nothing but what is lost beside it: of 12 x 64 outputs, the 12 it has a
 * part in. */
static void one_huge(void **state) {
    (void)state;
    const char *run = "./autotune run dense --args M=12,N=64,K=48 --weight huge.mtx --json";
    write_weight("huge.mtx", "1e9");
    cli_expect(0, "%s --paranoid", run);
    double of_limit = cli_member(cli_json(), "of_limit")->number;
    assert_true(of_limit > 0 && of_limit < 0.5);
    if (cli_run("command -v gcc")->status) skip();
    cli_write_faulty_gcc("for (int i = 0; i < 12 * 64; i++) ((float *)buf[3])[i] += 0.01f;");
    const cli_result *r = cli_expect(3,
                                     "REAL_GCC=$(command -v gcc) "
                                     "PATH=$PWD/bin:$PATH %s --compiler gcc",
                                     run);
    assert_non_null(strstr(r->err, "; 756 of 768 elements differ"));
    assert_non_null(strstr(r->err, " +- "));
}

/* What no float holds cannot be checked. */
static void not_finite(void **state) {
    (void)state;
    const char *run = "./autotune run dense --args M=12,N=64,K=48 --weight %s";
    write_weight("over.mtx", "3e38");
    const cli_result *r = cli_expect(4, run, "over.mtx");
    assert_non_null(strstr(r->err, "autotune: --weight: "));
    assert_non_null(strstr(r->err, " elements of out exceed what a float32 holds (out["));
    write_weight("nan.mtx", "nan");
    assert_non_null(strstr(cli_expect(4, run, "nan.mtx")->err, "nan"));
}

static void refused(void **state) {
    (void)state;
    static const struct {
        int status;
        const char *words, *file, *text;
    } cases[] = {
        {2, SPARSE ",R=8", "bsr.npz", " with blocks of 4x1: --args has blocks of 8x1\n"},
        {2, SPARSE " --block 8x1", "bsr.npz",
         "bsr.npz: its blocks are 4x1, not 8x1; leave --block out, or convert the file to blocks "
         "of that size\n"},
        {2, SPARSE " --sparsity 0.5", "bsr.npz", "give one of --weight and --sparsity, not both\n"},
        {2, SPARSE ",nnz=6", "bsr.npz", "bsr.npz: has 5 blocks, --args has nnz = 6\n"},
        {2, "sparse_dense --args M=5,N=12,K=8", "bsr.npz",
         "bsr.npz: it is 8 x 12, the weight of sparse_dense with M=5,N=12,K=8,nnz=1,R=4,C=1 is 12 "
         "x 8; --args gives another shape\n"},
        {2, SPARSE, "array.npy", "R does not divide N; --block gives other blocks than 16x1"},
        {2, SPARSE " --block 4x1", "scalar.npy", "it is a single number, the weight of"},
        {4, SPARSE, "csc.npz", "a matrix of format \"csc\"; bsr, csr and coo are read\n"},
        {2, "dense --args M=5,N=8,K=12", "bsr.npz",
         "a sparse matrix, but dense has no sparse weight; it takes an array\n"},
        {2, "dense --args M=5,N=12,K=8", "array.npy",
         "array.npy: it is 8 x 12, the weight of dense with M=5,N=12,K=8,bias=0,wb=0 is 12 x 8; "
         "--args gives another shape\n"},
        {2, "conv2d_NCHWc --args IC=8,OC=12,KH=1,KW=1,padding=0", "array.npy",
         " is 8 x 12, the weight of"},
        {2, "sparse_dense --workload resnet50", "bsr.npz", "--weight is for one task"},
        {4, SPARSE, "none.npz", "none.npz: No such file or directory\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cli_result *r = cli_expect(cases[i].status, "./autotune %s %s --weight %s",
                                         strstr(cases[i].words, "--workload") ? "tune" : "run",
                                         cases[i].words, path_of(cases[i].file));
        if (!strstr(r->err, cases[i].text)) fail_msg("not \"%s\": %s", cases[i].text, r->err);
    }
}

static int setup(void **state) {
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) return -1;
    snprintf(weights, sizeof weights, "%s/tests/golden/weights", here);
    return cli_setup(state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(formats),    cmocka_unit_test(contexts),
                                       cmocka_unit_test(arrays),     cmocka_unit_test(one_huge),
                                       cmocka_unit_test(not_finite), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, setup, cli_teardown);
}
