/* AutoTVM's templates of bytes: their records load, apply and run. */
#include "tests/cli/cli_test.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static char sources[PATH_MAX]; /* the folder that the tests are started in */

static int setup(void **state) { return getcwd(sources, sizeof sources) ? cli_setup(state) : -1; }

#define DEPTHWISE(data, weight, layout)                                                            \
    "{\"input\": [\"llvm -keys=cpu -mcpu=cascadelake\", \"depthwise_conv2d_NCHWc.x86\", "          \
    "[[\"TENSOR\", " data ", \"uint8\"], [\"TENSOR\", " weight                                     \
    ", \"int8\"], [1, 1], [1, 1, 1, 1], [1, 1], \"" layout "\", \"" layout                         \
    "\", \"int32\"], {}], \"config\": {\"index\": 5, \"code_hash\": null, \"entity\": "            \
    "[[\"tile_ic\", \"sp\", [-1, 1]], [\"tile_oc\", \"sp\", [-1, 16]], [\"tile_ow\", \"sp\", "     \
    "[-1, 9]], "                                                                                   \
    "[\"unroll_kw\", \"ot\", true]]}, \"result\": [[1e-05], 0, 1.0, 1700000000.0], \"version\": "  \
    "0.2, "                                                                                        \
    "\"tvm_version\": \"0.12.0\"}\n"

/* As AutoTVM writes them, of a CPU with VNNI. */
static const char *const records[] = {
    "{\"input\": [\"llvm -keys=cpu -mcpu=cascadelake\", \"conv2d_NCHWc_int8.x86\", [[\"TENSOR\", "
    "[1, 32, 9, 9], \"uint8\"], [\"TENSOR\", [32, 32, 3, 3], \"int8\"], [1, 1], [1, 1, 1, 1], [1, "
    "1], \"NCHW\", \"NCHW\", \"int32\"], {}], \"config\": {\"index\": 5, \"code_hash\": null, "
    "\"entity\": [[\"tile_ic\", \"sp\", [-1, 16]], [\"tile_oc\", \"sp\", [-1, 16]], [\"tile_ow\", "
    "\"sp\", [-1, 9]], [\"unroll_kw\", \"ot\", true]]}, \"result\": [[1e-05], 0, 1.0, "
    "1700000000.0], \"version\": 0.2, \"tvm_version\": \"0.12.0\"}\n",
    "{\"input\": [\"llvm -keys=cpu -mcpu=cascadelake\", \"conv2d_NCHWc_int8.x86\", [[\"TENSOR\", "
    "[1, 2, 9, 9, 16], \"uint8\"], [\"TENSOR\", [2, 2, 1, 1, 4, 16, 4], \"int8\"], [2, 2], [0, 0, "
    "0, 0], [1, 1], \"NCHW16c\", \"NCHW16c\", \"int32\"], {}], \"config\": {\"index\": 0, "
    "\"code_hash\": null, \"entity\": [[\"tile_ic\", \"sp\", [-1, 16]], [\"tile_oc\", \"sp\", [-1, "
    "16]], [\"tile_ow\", \"sp\", [-1, 5]], [\"tile_oh\", \"ot\", 1]]}, \"result\": [[1e-05], 0, "
    "1.0, 1700000000.0], \"version\": 0.2, \"tvm_version\": \"0.12.0\"}\n",
    "{\"input\": [\"llvm -keys=cpu -mcpu=cascadelake\", \"dense_int8.x86\", [[\"TENSOR\", [12, "
    "64], "
    "\"uint8\"], [\"TENSOR\", [3, 16, 16, 4], \"int8\"], null, \"int32\"], {}], \"config\": "
    "{\"index\": 3, \"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", [-1, 4]]]}, \"result\": "
    "[[1e-05], 0, 1.0, 1700000000.0], \"version\": 0.2, \"tvm_version\": \"0.12.0\"}\n",
    "{\"input\": [\"llvm -keys=cpu -mcpu=cascadelake\", \"batch_matmul_int8.x86\", [[\"TENSOR\", "
    "[2, 12, 64], \"uint8\"], [\"TENSOR\", [2, 32, 64], \"int8\"], [2, 12, 32], \"int32\", false, "
    "true], {}], \"config\": {\"index\": 3, \"code_hash\": null, \"entity\": [[\"tile_y\", \"sp\", "
    "[-1, 6]], [\"layout_trans_compute_root\", \"ot\", 1]]}, \"result\": [[1e-05], 0, 1.0, "
    "1700000000.0], \"version\": 0.2, \"tvm_version\": \"0.12.0\"}\n",
    DEPTHWISE("[1, 32, 9, 9]", "[32, 1, 3, 3]", "NCHW"),
    DEPTHWISE("[1, 2, 9, 9, 16]", "[2, 1, 3, 3, 1, 16]", "NCHW16c")};

static const char *const names[] = {
    "conv2d_NCHWc_int8", "conv2d_NCHWc_int8",      "dense_int8",
    "batch_matmul_int8", "depthwise_conv2d_NCHWc", "depthwise_conv2d_NCHWc"};

static bool can_run(void) { return cli_run("grep -q avx512vl /proc/cpuinfo")->status == 0; }

static void loaded(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        cli_write("one.log", records[i]);
        if (can_run()) cli_expect(0, "./autotune run %s --log one.log", names[i]);
        cli_expect(0, "./autotune apply %s --log one.log --dialect c --main -o one.c", names[i]);
        cli_expect(0, "cc -O1 -ffp-contract=off one.c -lm -o one && ./one");
        cli_run("rm -f one.c one.h one");
    }
}

/* So large that gcc compiles the reference, whose products must not become part of a multiply-add:
 * one of these outputs would then be another. */
static void rounded_at_each_step(void **state) {
    (void)state;
    if (!can_run()) return;
    const cli_result *r =
        cli_expect(0,
                   "./autotune run %s/examples/te/dense_u8s8.te --args M=1024,N=1024,K=96 --seed 1 "
                   "--index 0 --repeat 1 --number 1",
                   sources);
    assert_non_null(strstr(r->out, "equal to the reference"));
    r = cli_expect(0, "./autotune run dense_int8 --args M=32,N=32,K=32");
    assert_non_null(strstr(r->out, "of the dot peak beside it"));
}

/* What a delivered kernel takes is judged beside multiply-adds, of which a dot product takes the
 * time of one. */
static void delivered(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status) skip();
    cli_expect(0, "./autotune apply dense_int8 --args M=64,N=64,K=256 --config default --dialect "
                  "gnu --main --force -o d.c");
    cli_expect(0, "gcc -O2 -ffp-contract=off -o d d.c");
    if (!cli_run("grep -q avx512_vnni /proc/cpuinfo")->status) cli_expect(0, "./d");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loaded),
                                       cmocka_unit_test(rounded_at_each_step),
                                       cmocka_unit_test(delivered)};
    return cmocka_run_group_tests_name("cli/int8", tests, setup, cli_teardown);
}
