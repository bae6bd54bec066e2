/* --fuse from the command line to a kernel in a C file: a task of its own name throughout. */
#include "tests/cli/cli_test.h"

#include <string.h>

static const char shape[] = "--args M=32,N=48,K=20";

static void from_tuning_to_a_kernel(void **state) {
    (void)state;
    cli_expect(0, "./autotune dense %s --fuse bias,relu --trials 4 --log f.log --json", shape);
    assert_string_equal(cli_member(cli_json(), "task")->string, "dense+bias+relu");
    assert_int_equal(cli_member(cli_json(), "failed")->count, 0);

    assert_int_equal(cli_count_lines(cli_trials("f.log"), "{"), 4);
    assert_non_null(strstr(cli_read("f.log"), "\"dense_pack.x86+bias+relu\""));
    /* the same by name, from the log alone */
    const cli_result *again =
        cli_expect(0, "./autotune dense+bias+relu %s --trials 4 --log f.log", shape);
    assert_non_null(strstr(again->out, "f.log: 4 trials"));
    assert_int_equal(cli_count_lines(cli_trials("f.log"), "{"), 4);
    /* it is another task than the plain one */
    cli_expect(0, "./autotune dense %s --trials 2 --log f.log", shape);
    assert_int_equal(cli_count_lines(cli_trials("f.log"), "{"), 6);
    cli_expect(0, "./autotune pick_best f.log -o best.log");
    assert_int_equal(cli_count_lines(cli_read("best.log"), "{"), 2);
    cli_expect_verified("best.log", "");
    cli_expect(0, "./autotune apply dense --fuse bias,relu --log best.log --main --name f -o f.c");
    char *source = cli_read("f.h");
    assert_non_null(strstr(source, "void f(const float *data, const float *weight, "
                                   "const float *bias_0, float *out, void *workspace);"));
    const cli_result *run = cli_expect(0, "cc -O1 f.c -o f && ./f");
    assert_non_null(strstr(run->out, "right"));
}

static void in_a_file_of_layers(void **state) {
    (void)state;
    cli_write("net.workload", "2 dense+bias+relu M=16,N=32,K=8\n1 dense M=16,N=32,K=8\n");
    cli_expect(0, "./autotune tune --workload ./net.workload --trials 4 --log w.log");
    char *log = cli_read("w.log");
    assert_non_null(strstr(cli_read("f.log"), "\"dense_pack.x86+bias+relu\""));
    assert_non_null(strstr(log, "\"dense_pack.x86\""));
    const cli_result *r =
        cli_expect(2, "./autotune tune --workload ./net.workload --fuse relu --trials 4");
    assert_non_null(strstr(r->err, "--fuse relu needs a template"));
}

static void own_template(void **state) {
    (void)state;
    cli_write("mine.c", "#include \"template.h\"\n"
                        "static void define(at_template *t) {\n"
                        "    at_option(t, \"u\", \"[1, 2]\", 0);\n"
                        "    at_compute(t, \"a[N, K] : input\\nw[K, M] : weight\\n\"\n"
                        "        \"out[i:N, j:M] = sum(k:K) a[i, k]*w[k, j]\\n\");\n"
                        "    at_schedule(t, \"i, k, j:vec =>\\n    @out = i, j  // k\\n\");\n"
                        "}\n"
                        "const at_template_row at_mine = {.name = \"mine\", .help = \"\",\n"
                        "    .args = \"N=5, K=7, M=33\", .record_args = \"[N, K, M]\",\n"
                        "    .define = define};\n");
    const cli_result *r = cli_expect(0, "./autotune show ./mine.c --fuse bias,relu --index 0");
    assert_non_null(strstr(r->out, "mine+bias+relu N=5,K=7,M=33"));
    assert_non_null(strstr(r->out, "@out_sum"));
    cli_expect(0, "./autotune run ./mine.c --fuse bias,relu --index 0");
    cli_expect(0, "./autotune run ./mine.c --fuse add --index 1");
}

#define STAGES                                                                                     \
    "bias, add, relu, clip, scale, mul, leaky, sigmoid, tanh, silu, gelu, hardsigmoid, "           \
    "hardswish, u8, s8; "                                                                          \
    "or written out, in parentheses: (x*sigmoid(x))\n"

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *command, *message;
    } slips[] = {
        {"run dense --fuse loud", "autotune: --fuse: unknown stage \"loud\"; there are: " STAGES},
        {"run dense --fuse ''", "autotune: --fuse: unknown stage \"\"; there are: " STAGES},
        {"run dense --fuse bias,", "autotune: --fuse: unknown stage \"\"; there are: " STAGES},
        {"dense+loud --trials 2", "autotune: --fuse: unknown stage \"loud\"; there are: " STAGES},
        {"apply --log x.log --fuse relu -o k.c", "autotune: --fuse relu needs a template; among "
                                                 "layers and records its name says so: "
                                                 "TEMPLATE+bias+relu\n"},
        {"log x.log --fuse relu",
         "autotune: --fuse is no option of log; autotune help log lists them\n"},
    };
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const cli_result *r = cli_expect(2, "./autotune %s", slips[i].command);
        assert_string_equal(r->err, slips[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_tuning_to_a_kernel),
                                       cmocka_unit_test(in_a_file_of_layers),
                                       cmocka_unit_test(own_template), cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
