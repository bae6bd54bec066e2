/* Programs that were made before: by edits in a file, and as records of Ansor's. */
#include "tests/cli/cli_test.h"
#include "tests/cli/product.h"

#include <string.h>

/* How a program comes about, replayed from a file: the same tree. */
static void history(void **state) {
    (void)state;
    cli_write("my.te", product);
    cli_expect(0, "./autotune show ./my.te --history steps > my.steps");
    assert_non_null(strstr(cli_read("my.steps"), "\nsplit mul i into i0:"));
    assert_non_null(strstr(cli_read("my.steps"), "\ncopy layout B for mul as B_packed\n"));
    cli_expect(0, "./autotune show ./my.te --from-steps my.steps --history steps > again.steps");
    cli_expect(0, "cmp my.steps again.steps");
    const cli_result *r = cli_expect(0, "./autotune run ./my.te --from-steps my.steps");
    assert_non_null(strstr(r->out, "equal to the reference"));
    cli_expect(0, "./autotune apply ./my.te --from-steps my.steps --main -o steps.c");
    cli_expect(0, "gcc -O1 -o steps steps.c -lm && ./steps");
    r = cli_expect(0, "./autotune show ./my.te --history trace");
    assert_non_null(strstr(r->out, "sketch = sample_categorical([\"tile_j+pack_B\""));
    assert_non_null(strstr(r->out, "\ntile_k = sample_tile(L, 2) -> ["));
    cli_expect(0, "./autotune show conv2d_3x3_gemm --args N=1,H=8,W=8,CI=8,CO=16 --index 30 "
                  "--history steps > conv.steps");
    assert_non_null(strstr(cli_read("conv.steps"), "\njoin im2col before acc in yo\n"));
    cli_expect(0, "./autotune run conv2d_3x3_gemm --args N=1,H=8,W=8,CI=8,CO=16 "
                  "--from-steps conv.steps");
    static const struct {
        const char *steps, *message;
    } cases[] = {
        {"splat mul", "bad.steps:1:1: expected one of split, order, "},
        {"# one\nmark mul i", "bad.steps:2:11: expected one of plain, para, vec, unroll"},
        {"split mul i into a", "bad.steps:1:19: a lacks its size, as in a:8"},
        {"split mul i into a:3 b:0", "expected a whole number from 1 on"},
        {"split mul i into a:3 b:5", "does not reach the end of axis i of @mul"},
        {"split mul z into a:3", "bad.steps: split mul z into a:3: \"z\" is no loop around @mul"},
        {"split mul i into N:3", "bad.steps: split mul i into N:3: N is 24, not 3"},
        {"mark mul k para", "bad.steps: the default configuration: rule 9 (para): "},
        {"size q:4", "bad.steps: the computation has no size \"q\""},
        {"fuse mul: j k", "\"j\" and \"k\": an axis and a reduction"},
        {"join mul behind mul", "@mul and @mul stand in one loop"},
        {"attribute mul [dens]", "bad.steps: attribute mul [dens]: "},
        {"\x01", "bad.steps:1:1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_write("bad.steps", cases[i].steps);
        r = cli_expect(4, "./autotune run ./my.te --from-steps bad.steps");
        if (!strstr(r->err, cases[i].message))
            fail_msg("\"%s\" lacks \"%s\"", r->err, cases[i].message);
    }
    cli_write("far.te",
              "args N=40, D=3\nx[N, D] : input\n"
              "s[i:N, j:N] = sum(d:D) x[i, d]*x[j, d]\nout[i:N] = sum(j:N) abs(s[i, j])\n");
    cli_expect(0, "./autotune show ./far.te --history steps > far.steps");
    assert_non_null(strstr(cli_read("far.steps"), "inline s of d:3\n"));
    cli_expect(0, "./autotune run ./far.te --from-steps far.steps");
    r = cli_expect(4, "./autotune run ./far.te --from-steps far.steps --args D=4");
    assert_non_null(strstr(r->err, "far.steps: inline s of d:3: d is 4, not 3"));
    cli_expect(0, "./autotune show ./far.te -o far.c");
    r = cli_expect(2, "./autotune run ./far.c --args D=4");
    assert_non_null(strstr(r->err, "the sum s is written out: (D) == 3"));
    cli_expect(2, "./autotune run ./my.te --from-steps my.steps --index 0");
    cli_expect(4, "./autotune run ./my.te --from-steps none.steps");
    cli_expect(4, "./autotune run ./my.te --from-steps my.steps --args N=25");
}

/* A record of Ansor's becomes a template, whose kernel is right. */
static void ansor(void **state) {
    (void)state;
    cli_write(
        "ansor.json",
        "# two\n"
        "{\"i\": [[\"[\\\"matmul_add\\\", 16, 16, 32, \\\"float32\\\"]\", \"llvm\"], [[], []]], "
        "\"r\": [[0.003], 0, 0.1, 1], \"v\": \"v0.6\"}\n"
        "{\"i\": [[\"[\\\"matmul_add\\\", 16, 16, 32, \\\"float32\\\"]\", \"llvm\"], [[], "
        "[[\"SP\", 2, 1, 32, [16], 1], [\"RE\", 2, [0, 1, 3, 2]], [\"AN\", 2, 3, 2]]]], "
        "\"r\": [[0.001], 0, 0.1, 1], \"v\": \"v0.6\"}\n");
    cli_expect(0, "./autotune convert ansor.json --from ansor -o best.c");
    assert_non_null(strstr(cli_read("best.c"), "i0_, j0_, k0, j1_:vec =>"));
    const cli_result *r = cli_expect(0, "./autotune run ./best.c");
    assert_non_null(strstr(r->out, "equal to the reference"));
    r = cli_expect(0, "./autotune convert ansor.json --from ansor --line 2");
    assert_non_null(strstr(r->out, "matmul_add of ansor.json:2"));
    cli_expect(2, "./autotune convert ansor.json --from ansor --line 1");
    cli_expect(2, "./autotune convert ansor.json --from ansor --to log");
    cli_expect(2, "./autotune convert ansor.json --from other");
    cli_write("bad.json", "{\"i\": [[\"[\\\"nothing\\\", 3]\", \"llvm\"], [[], []]], "
                          "\"r\": [[0.1], 0, 0.1, 1]}\n");
    r = cli_expect(4, "./autotune convert bad.json --from ansor");
    assert_non_null(strstr(r->err, "bad.json:1: workload \"nothing\" is not known"));
    cli_write("bad.json", "{\"i\": [[\"[\\\"norm_bmn\\\", 3, 4, 5]\", \"llvm\"], [[], "
                          "[[\"RE\", 1, [2, 2, 1]]]]], \"r\": [[0.1], 0, 0.1, 1]}\n");
    r = cli_expect(4, "./autotune convert bad.json --from ansor");
    assert_non_null(strstr(r->err, "bad.json:1: step 0 (RE): loop 2 comes twice"));
    cli_write("bad.json", "{\"i\": [[\"[\\\"matmul_add\\\", 16, 16]\", \"llvm\"], [[], []]], "
                          "\"r\": [[0.1], 0, 0.1, 1]}\n");
    r = cli_expect(4, "./autotune convert bad.json --from ansor");
    assert_non_null(strstr(r->err, "numbers are missing; of N=1, L=1, M=1 the first 3 are needed"));
    cli_expect(0, "sed 's/\"SP\", 2, 1, 32/\"SP\", 2, 1, 33/' ansor.json > bad.json");
    r = cli_expect(4, "./autotune convert bad.json --from ansor");
    assert_non_null(strstr(r->err, "step 0 (SP): loop 1 of matmul has 32 steps, not 33"));
    cli_expect(0, "sed 's/\"SP\", 2, 1, 32/\"SP\", 2, 1, 0/' ansor.json > varied.json");
    cli_expect(0, "./autotune convert varied.json --from ansor");
    /* as a search that was killed leaves it; and of two workloads, whose times say nothing */
    cli_expect(0, "{ cat ansor.json; head -c 90 ansor.json | tail -n 1; } > torn.json");
    r = cli_expect(0, "./autotune convert torn.json --from ansor");
    assert_non_null(strstr(r->err, "torn.json: 1 line left out that is no record of Ansor's"));
    cli_expect(0, "sed '2s/16, 16, 32/16, 8, 32/' ansor.json > two.json");
    r = cli_expect(2, "./autotune convert two.json --from ansor");
    assert_non_null(
        strstr(r->err, "the best are 2 of [\"matmul_add\", 16, 8, 32, \"float32\"], 3 "));
    cli_expect(0, "./autotune convert two.json --from ansor --line 2");
    cli_write("bad.json", "no record\n");
    cli_expect(4, "./autotune convert bad.json --from ansor");
    cli_write("bad.json", "{\"i\": [[\"[]\", \"llvm\"], [[], []]], \"r\": [[1e10], 4, 0.1, 1]}\n");
    cli_expect(3, "./autotune convert bad.json --from ansor");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history),
        cmocka_unit_test(ansor),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
