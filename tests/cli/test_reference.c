/* Large tasks are checked by way of a random projection; where the output that would stand in for
 * the reference is wrong, the reference is computed in full. */
#include "tests/cli/cli_test.h"

#include <string.h>

/* Some 4e9 operations, 20 to 30 ms a run on most cores. */
static const char task[] = "conv2d_NCHWc --args N=10,IC=88,OC=88";

static void projected(void **state) {
    (void)state;
    static const char *const large[] = {
        task,
        "conv2d_3x3_gemm --args N=10,CI=88,CO=88",
        "conv2d_nhwc --args N=10,CI=88,CO=88",
        "dense --args M=1280,N=1280,K=1280,bias=1",
        "matmul_add --args N=1280,L=1280,M=1280",
        "spconv2d_3x3_gemm --args N=10,H=112,W=112 --sparsity 0.5",
        "sparse_dense --args M=2048,N=2048,K=2048 --sparsity 0.7",
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        cli_expect(0, "./autotune run %s --json", large[i]);
        assert_string_equal(cli_member(cli_json(), "reference")->string, "projected");
    }
    cli_expect(0, "./autotune run conv2d_NCHWc --json");
    assert_string_equal(cli_member(cli_json(), "reference")->string, "projected");
    cli_expect(0, "./autotune run conv2d_NCHWc --args IC=32,OC=32 --json");
    assert_string_equal(cli_member(cli_json(), "reference")->string, "whole");
}

/* A gcc that makes every kernel wrong in one element, but no reference: nothing wrong becomes the
 * reference. */
static void wrong_stand_in(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status != 0) skip();
    cli_write_faulty_gcc("((float *)buf[2])[12345] += 1;");
    const cli_result *r = cli_expect(3,
                                     "REAL_GCC=$(command -v gcc) "
                                     "PATH=$PWD/bin:$PATH ./autotune run %s --compiler gcc --json",
                                     task);
    assert_non_null(strstr(r->err, "the default configuration's output is wrong; the reference is "
                                   "computed in full"));
    assert_non_null(strstr(r->err, "out[12345]: got "));
    assert_non_null(strstr(r->err, "; 1 of "));
    assert_string_equal(cli_member(cli_json(), "reference")->string, "whole");
}

/* Rows of weights without a block: their outputs are zeros. */
static void zeros(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune run sparse_dense --args M=16,N=64,K=64,nnz=1");
    assert_non_null(
        strstr(r->err, " % of the expected out are 0: being equal to it proves little"));
    r = cli_expect(0, "./autotune run conv2d_3x3_gemm --args N=1,H=5,W=7,CI=3,CO=6 --paranoid");
    assert_null(strstr(r->err, "proves little"));
}

/* Shares of exponentials of products: of inputs as large as softmax's own, one share of each row
 * would be all. What is not finite among the inputs takes nothing from the limits of the rest. */
static void inputs_of_a_fit_size(void **state) {
    (void)state;
    cli_write("scores.te", "args H=2, N=24, D=16\n"
                           "Q[H, N, D] : input\n"
                           "K[H, N, D] : input\n"
                           "S[h:H, i:N, j:N] = sum(d:D) Q[h, i, d] * K[h, j, d]\n"
                           "M[h:H, i:N] = max(j:N) S[h, i, j]\n"
                           "E[h:H, i:N, j:N] = exp(S[h, i, j] - M[h, i])\n"
                           "Z[h:H, i:N] = sum(j:N) E[h, i, j]\n"
                           "out[h:H, i:N, j:N] = E[h, i, j] / Z[h, i]\n");
    const cli_result *r = cli_expect(0, "./autotune run ./scores.te");
    assert_null(strstr(r->err, "proves little"));
    r = cli_expect(0, "./autotune run ./scores.te --paranoid");
    assert_null(strstr(r->err, "proves little"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(projected), cmocka_unit_test(zeros),
                                       cmocka_unit_test(inputs_of_a_fit_size),
                                       cmocka_unit_test(wrong_stand_in)};
    return cmocka_run_group_tests_name("cli/reference", tests, cli_setup, cli_teardown);
}
