/* tests/cli/test_aarch64.c: kernels for AArch64, made here: compiled by Debian's compiler for it,
 * and run by qemu, each says whether it is right. Without these two, skipped. */
#include "tests/cli/cli_test.h"

#include <string.h>

static const char *const kernels[] = {
    "conv2d_3x3_gemm --args N=1,H=6,W=6,CI=8,CO=40",
    "dense --args M=12,N=40,K=23",
    "conv2d_nhwc --args N=1,H=7,W=9,CI=5,CO=24",
    "conv2d_nchw_spatial_pack --args N=1,CI=6,H=8,W=8,CO=16",
    "conv2d_winograd_nhwc --args N=1,H=6,W=6,CI=8,CO=16,m=2",
    "depthwise_conv2d_nchw --args N=1,C=12,H=9,W=8",
    "softmax --args Y=5,X=37",
    "sparse_dense --args M=12,N=16,K=20",
};
enum { NUM_KERNELS = sizeof kernels / sizeof *kernels };

static void all_are_right(const char *isa, const char *dialect) {
    if (cli_run("command -v aarch64-linux-gnu-gcc qemu-aarch64-static")->status) {
        print_message("aarch64-linux-gnu-gcc or qemu-aarch64-static is not installed\n");
        skip();
    }
    for (int i = 0; i < NUM_KERNELS; i++) {
        cli_expect(0, "./autotune apply %s --config default --isa %s --dialect %s --main -o k.c",
                   kernels[i], isa, dialect);
        cli_expect(0, "aarch64-linux-gnu-gcc -O1 -Wall -Werror -static k.c -o k -lm");
        const cli_result *r = cli_expect(0, "qemu-aarch64-static ./k");
        assert_non_null(strstr(r->out, ": right, "));
    }
}

static void machine_code(void **state) { (void)state, all_are_right("neon", "tcc"); }
static void vector_types(void **state) { (void)state, all_are_right("neon", "gnu"); }
static void scalar_code(void **state) { (void)state, all_are_right("a64", "tcc"); }

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(machine_code),
                                       cmocka_unit_test(vector_types),
                                       cmocka_unit_test(scalar_code)};
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
