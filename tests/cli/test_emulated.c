/* The program built for AArch64, under qemu: what it makes there is right, as machine code, as
 * vector types and by the interpreter; a search, and one from here that is measured there. Where
 * AT_AARCH64_BUILD names no folder of such programs (make test-aarch64 does), skipped. */
#include "tests/cli/cli_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TASK "conv2d_3x3_gemm --args N=1,H=8,W=8,CI=16,CO=16 --tuner random"

static char sources[256],
    emulated[2048]; /* beginning of a command: a program behind it is run so */

static int setup(void **state) {
    const char *build = getenv("AT_AARCH64_BUILD");
    if (!getcwd(sources, sizeof sources)) return -1;
    if (build && *build)
        snprintf(emulated, sizeof emulated,
                 "BUILD='%s/%s' CROSS_ROOT='%s/build/arm64-root' '%s/tools/under-qemu' '%s/%s'",
                 sources, build, sources, sources, sources, build);
    return cli_setup(state);
}

static void need_programs(void) {
    if (*emulated && !cli_run("command -v qemu-aarch64-static")->status) return;
    print_message("AT_AARCH64_BUILD names no programs for AArch64, or qemu is not installed\n");
    skip();
}

/* Random computations and trees, and tiles made by hand. */
static void code_is_right(void **state) {
    (void)state;
    need_programs();
    cli_expect(0, "AT_COUNT=40 %s/tests/codegen/test_random", emulated);
    cli_expect(0, "%s/tests/codegen/test_tile_code", emulated);
    cli_expect(0, "%s/tests/codegen/test_made_tiles", emulated);
}

/* Records name the target as AutoTVM does for boards, the core by its number. */
static void expect_records(const char *log, int trials, const char *core) {
    char target[128];
    snprintf(target, sizeof target, "{\"input\": [\"c -keys=arm_cpu,cpu -device=arm_cpu -mcpu=%s\"",
             core);
    assert_int_equal(cli_count_lines(cli_trials(log), target), trials);
    cli_expect(0, "./autotune log %s --json", log);
    assert_int_equal(cli_member(cli_json(), "bad")->integer, 0);
}

/* What was found, as a file for there that says itself whether it is right. */
static void expect_right(const char *log, const char *code) {
    cli_expect(0, "rm -f best.log; ./autotune pick_best %s -o best.log", log);
    cli_expect(0, "./autotune apply --log best.log %s --main -o k.c", code);
    cli_expect(0, "aarch64-linux-gnu-gcc -O1 -static k.c -o k -lm");
    const cli_result *r = cli_run("qemu-aarch64-static ./k");
    if (!strstr(r->out, ": right, ") && !strstr(r->out, " times what fits at the peak of this CPU"))
        fail_msg("%s", r->out);
}

static void search(void **state) {
    (void)state;
    need_programs();
    cli_expect(0, "QEMU_CPU=cortex-a72 %s/autotune " TASK " --trials 30 --log a.log", emulated);
    expect_records("a.log", 30, "cortex-a72");
    expect_right("a.log", "");
    expect_right("a.log", "--dialect gnu --isa neon");
}

/* From here, for a board: its facts are what code is lowered with. */
static void agent(void **state) {
    (void)state;
    need_programs();
    cli_expect(0, "mkdir -m 700 board");
    cli_expect(0,
               "QEMU_CPU=neoverse-n1 %s/autotune work \"$PWD/board\" >agent.out 2>&1 & "
               "agent=$!; ./autotune " TASK " --trials 10 --on dir:\"$PWD/board\" --log b.log; "
               "status=$?; kill $agent; wait $agent; exit $status",
               emulated);
    expect_records("b.log", 10, "neoverse-n1");
    assert_non_null(strstr(cli_read("b.log"), "\"isa\": \"neon\""));
    expect_right("b.log", "");
}

/* Two f16 are multiplied as they lie where the CPU does it, and widened elsewhere. */
static void products_of_halves(void **state) {
    (void)state;
    static const char *const cpus[] = {"max", "cortex-a72"}, *const sets[] = {"neon_fp16fml",
                                                                              "neon"};
    need_programs();
    for (int i = 0; i < 2; i++)
        cli_expect(0,
                   "QEMU_CPU=%s %s/autotune run dense --args M=12,N=40,K=33,types=f16f16f32 "
                   "--config default >out && grep -q ', %s, ' out",
                   cpus[i], emulated, sets[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(code_is_right), cmocka_unit_test(search),
                                       cmocka_unit_test(agent),
                                       cmocka_unit_test(products_of_halves)};
    return cmocka_run_group_tests_name("cli/emulated", tests, setup, cli_teardown);
}
