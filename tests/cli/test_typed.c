/* Templates whose types of elements are arguments, stages that requantise, and numbers of a few
 * bits that stay in the entries that they lie in. */
#include "tests/cli/cli_test.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

static char sources[PATH_MAX]; /* the tests run in a folder of their own */

/* The types of the data, the weight and the output as an argument; the rules make the loops, also
 * those that read a padded picture by a list of places. */
static void types_as_arguments(void **state) {
    (void)state;
    static const char *const tasks[][2] = {
        {"dense", "M=13,N=48,K=36,types=u8s8u8"},
        {"dense+(max(x,100))", "M=13,N=48,K=36,bias=1,types=s8s8u8"},
        {"dense", "M=13,N=48,K=37,types=u8s8f32"},
        {"conv2d_nhwc", "H=7,W=6,CI=8,CO=32,types=s8s8s8,strides=2"},
        {"conv2d_nhwc", "H=7,W=6,CI=4,CO=32,KH=1,KW=1,padding=0,types=u8s8s32"},
        {"conv2d_nhwc", "H=7,W=6,CI=8,CO=32,types=f16f16f16"},
        {"conv2d_nhwc --sketch tile_f+pointers_data", "H=7,W=6,CI=8,CO=32,types=bf16bf16f32"},
        {"dense_int8+bias+relu+u8", "M=13,N=32,K=36"},
        {"conv2d_NCHWc_int8+s8", "IC=8,H=7,W=6,OC=32"},
        {"depthwise_conv2d_NCHWc", "IC=16,H=9,W=7,types=u8s8u8"},
        {"depthwise_conv2d_NCHWc", "IC=16,H=9,W=7,M=2,types=s8s8s32,strides=2"}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        char task[200];
        snprintf(task, sizeof task, "'%s", tasks[i][0]);
        const size_t n = strcspn(task, " ");
        memmove(task + n + 1, task + n, strlen(task + n) + 1);
        task[n] = '\'';
        const cli_result *r = cli_expect(
            0, "./autotune %s --args %s --trials 4 --tuner random --log t.log", task, tasks[i][1]);
        if (strstr(r->err, "failed")) fail_msg("%s", r->err);
        if (cli_run("command -v gcc")->status || i % 3) continue;
        cli_expect(0, "./autotune apply --log t.log --dialect c --main --force -o k.c");
        cli_expect(0, "gcc -O1 -ffp-contract=off -o k k.c -lm && ./k && rm t.log");
    }
    const cli_result *r = cli_run("./autotune dense --args types=u8s8s16 --trials 1");
    assert_int_equal(r->status, 2);
    assert_non_null(strstr(r->err, "--args: types = \"u8s8s16\"; it is \"\" or \"u8s8s32\" or "));
    r = cli_run("./autotune dense --args types=u8s8s32,wb=16 --trials 1");
    assert_non_null(strstr(r->err, "weights of other types than float32 are not packed: wb is 0"));
}

/* Numbers of a few bits stay in the entries that they lie in, where few rows need them. */
static void entries_unpacked(void **state) {
    (void)state;
    static const char *const tasks[][2] = {{"int4_dense", "M=1,N=70,K=96"},
                                           {"int4_dense", "M=3,N=37,K=64"},
                                           {"packed_dense", "M=2,N=40,K=36"}};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        const cli_result *r = cli_expect(0, "./autotune derive %s/examples/te/%s.te --args %s",
                                         sources, tasks[i][0], tasks[i][1]);
        assert_non_null(strstr(r->out, "@w_entries_packed"));
        r = cli_expect(0,
                       "./autotune %s/examples/te/%s.te --args %s --trials 4 --tuner random "
                       "--isa avx2 --log n.log",
                       sources, tasks[i][0], tasks[i][1]);
        if (strstr(r->err, "failed")) fail_msg("%s", r->err);
        for (int gnu = 0; gnu < (i ? 0 : 2) && !cli_run("command -v gcc")->status; gnu++) {
            cli_expect(0, "./autotune apply --log n.log --dialect %s --main --force -o k.c",
                       gnu ? "gnu" : "c");
            cli_expect(0, "gcc -O1 -o k k.c -lm && ./k");
            if (i) continue;
            /* Each number of an entry counts: one that is taken from its neighbour's place. */
            for (int at = 4; at < 32; at += 12) {
                r = cli_expect(1, "sed 's/>> %d)/>> %d)/' k.c > w.c && gcc -o w w.c -lm && ./w", at,
                               at < 28 ? at + 4 : 24);
                assert_non_null(strstr(r->out, "elements are wrong"));
            }
        }
        cli_run("rm n.log");
    }
}

int main(void) {
    assert_non_null(getcwd(sources, sizeof sources));
    const struct CMUnitTest tests[] = {cmocka_unit_test(types_as_arguments),
                                       cmocka_unit_test(entries_unpacked)};
    return cmocka_run_group_tests_name("cli/typed", tests, cli_setup, cli_teardown);
}
