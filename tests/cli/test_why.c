/* show --why and run --why from outside: the table's parts, and that both mean the same. */
#include "tests/cli/cli_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define T "conv2d_3x3_gemm"
#define ARGS "--args N=1,H=6,W=8,CI=16,CO=32 --config default "

static void show(void **state) {
    (void)state;
    if (!cli_knows_cpu()) return;
    char *text = strdup(cli_expect(0, "./autotune show " T " " ARGS "--why")->out);
    const char *const parts[] = {"what bounds it on ", "FMA ports", "from L2",
                                 "from memory",        "\nbound: ", "the largest need is "};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i])) fail_msg("\"%s\" is not in:\n%s", parts[i], text);
    assert_null(strstr(text, "measured"));
    free(text);
    const char *large = strstr(cli_expect(0, "./autotune show dense --config default --why")->out,
                               "\nestimated from the knobs: ");
    assert_non_null(large);
    assert_null(strstr(large, "e+"));
    cli_expect(0, "./autotune show " T " " ARGS "--why --isa avx2 --json");
    const at_json *json = cli_json(), *why = cli_member(json, "why");
    double fmas = 0, largest = 0;
    for (const at_json *t = cli_member(why, "tiles")->child; t; t = t->next)
        fmas += cli_number(t, "fmas");
    /* no tails in these tiles: each of eight lanes of each instruction is a multiply-add asked for
     */
    assert_true(fmas * 8 * 2 == cli_number(json, "flops"));
    for (const at_json *c = cli_member(why, "cycles")->child; c; c = c->next)
        largest = fmax(largest, c->number);
    assert_true(cli_number(why, "bound_cycles") >= largest && largest > 0);
    assert_false(cli_member(why, "partial")->boolean);
    /* without it there is no such member */
    cli_expect(0, "./autotune show " T " " ARGS "--json");
    assert_null(at_json_get(cli_json(), "why"));
}

/* What depends on which blocks are stored is known, too. */
static void sparse(void **state) {
    (void)state;
    if (!cli_knows_cpu()) return;
    cli_expect(0, "./autotune show sparse_dense --args M=16,N=32,K=32 --why --json");
    const at_json *json = cli_json();
    assert_false(cli_member(json, "why.partial")->boolean);
    assert_true(cli_number(json, "why.bound_cycles") > 0);
}

/* Where each of very many turns is another one, only the first millions are gone through. */
static void many_turns(void **state) {
    (void)state;
    if (!cli_knows_cpu()) return;
    cli_write("long.te", "args B=1000000, S=128, D=256\nx[B, S, D] : input\nlength[B] : index\n"
                         "out[b:B, d:D] = sum(s:S) s < length[b] ? x[b, s, d] : 0\n");
    cli_expect(0, "./autotune show long.te --why --json");
    assert_true(cli_member(cli_json(), "why.partial")->boolean);
}

static void run(void **state) {
    (void)state;
    if (!cli_knows_cpu()) return;
    cli_expect(0, "./autotune show " T " " ARGS "--why --json");
    double bound = cli_number(cli_json(), "why.bound_cycles");
    cli_expect(0, "./autotune run " T " " ARGS "--why --json");
    const at_json *json = cli_json();
    assert_true(cli_number(json, "why.bound_cycles") == bound);
    double cycles = cli_number(json, "why.measured_cycles"),
           ghz = cli_number(json, "why.clock_ghz");
    assert_true(fabs(cycles - cli_number(json, "time_ns") * ghz) < 1e-6 * cycles);
    assert_true(fabs(cli_number(json, "why.bound_of_measured") - bound / cycles) < 1e-6);
    assert_non_null(
        strstr(cli_expect(0, "./autotune run " T " " ARGS "--why")->out, "; the bound is "));
}

static void prune(void **state) {
    (void)state;
    static const char *const wrong[] = {"0.5", "x", "2x", "nan", "-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_non_null(strstr(cli_expect(2, "./autotune " T " --prune %s", wrong[i])->err,
                               "write for example 2.0"));
    if (!cli_knows_cpu()) return;
    /* How many there are depends on times; what they look like does not. */
    cli_expect(0, "./autotune " T " --args N=1,H=14,W=14,CI=64,CO=64 --trials 40 --tuner random "
                  "--prune 1 --log p.log --json");
    const at_json *json = cli_json(), *invalid = at_json_get(cli_member(json, "failed"), "invalid");
    int64_t pruned = invalid ? invalid->integer : 0;
    char *log = strdup(cli_read("p.log"));
    int seen = 0, error_1 = 0;
    for (char *line = strtok(log, "\n"); line; line = strtok(NULL, "\n")) {
        if (!strstr(line, "\"error\": \"pruned\"")) continue;
        seen++;
        error_1 += strstr(line, "\"result\": [[1000000000.0], 1, ") != NULL;
    }
    free(log);
    assert_int_equal(seen, pruned);
    assert_int_equal(error_1, pruned);
    /* With --prune they are answers, without it they are measured after all. */
    cli_expect(0, "./autotune " T " --args N=1,H=14,W=14,CI=64,CO=64 --trials 40 --tuner random "
                  "--prune 1 --log p.log --json");
    assert_int_equal(cli_member(cli_json(), "from_log")->integer, 40);
    cli_expect(0, "./autotune " T " --args N=1,H=14,W=14,CI=64,CO=64 --trials 40 --tuner random "
                  "--log p.log --json");
    json = cli_json();
    assert_int_equal(cli_member(json, "from_log")->integer, 40 - pruned);
    assert_null(at_json_get(cli_member(json, "failed"), "invalid"));
}

/* A search that learns from bounds, of a space in a log. */
static void feature(void **state) {
    (void)state;
    if (!cli_knows_cpu()) return;
    cli_expect(0, "./autotune " T " --args N=1,H=6,W=8,CI=16,CO=32 --trials 30 "
                  "--feature bound --log f.log");
}

/* ---- notes ----------------------------------------------------------------------------------- */

static void write_template(const char *compute, const char *schedule) {
    at_text t = {0};
    at_text_addf(&t,
                 "#include \"template.h\"\n"
                 "static void define(at_template *t) {\n"
                 "    at_split(t, \"tile_x\", \"X\", \"xo xi\", .policy = AT_FACTORS,\n"
                 "             .fallback = {-1, 16});\n"
                 "    at_compute(t, \"data[Y, K] : input\\nweight[X, K] : weight\\n%s\");\n"
                 "    at_schedule(t, \"%s\");\n"
                 "}\n"
                 "const at_template_row at_own = {.name = \"own\", .help = \"notes\",\n"
                 "    .args = \"Y=8, X=32, K=64\", .record_args = \"[Y, X, K]\",\n"
                 "    .define = define};\n",
                 compute, schedule);
    cli_write("own.c", at_text_str(&t));
    at_text_free(&t);
}

static const at_json *notes_of(const char *command, const char *isa) {
    cli_expect(0, "./autotune %s own.c --config default --isa %s --json", command, isa);
    return cli_member(cli_json(), "notes");
}

/* A vec loop without vectors is told, with line, loop and reason; not where there are none. */
static void dropped_vectors(void **state) {
    (void)state;
    write_template("out[y:Y, x:X] = sum(k:K) data[y, k]*weight[x, k]\\n",
                   "y, xo =>\\n    k, xi:vec =>\\n        @out = y, {xo, xi}/x // k\\n");
    static const char *const said =
        "line 2: xi:vec makes no vectors: @out reads weight 64 elements apart";
    const at_json *notes = notes_of("show", "sse2");
    assert_int_equal(notes->count, 1);
    assert_string_equal(at_json_at(notes, 0)->string, said);
    assert_string_equal(at_json_at(notes_of("run", "sse2"), 0)->string, said);
    assert_non_null(
        strstr(cli_expect(0, "./autotune show own.c --config default --isa sse2")->out, said));
    if (cli_knows_cpu())
        assert_non_null(strstr(
            cli_expect(0, "./autotune run own.c --config default --isa sse2 --why")->out, said));
    assert_int_equal(notes_of("show", "scalar")->count, 0);
}

/* A sum of single elements is in all lanes of its register, for vectors that read it. */
static void beside_a_scalar(void **state) {
    (void)state;
    write_template("r[y:Y] = sum(k:K) data[y, k]*data[y, k]\\n"
                   "out[y:Y, k:K] = data[y, k]*r[y] + weight[0, 0]\\n",
                   "y =>\\n    k =>\\n        @r = y // k\\n    k:vec =>\\n        @out = y, k\\n");
    assert_int_equal(notes_of("show", "avx2")->count, 0);
    const char *tiles =
        cli_expect(0, "./autotune show own.c --config default --isa avx2 --dump tile")->out;
    assert_int_equal(cli_count_lines(strstr(tiles, "tile_1x64:"), "    store ["), 64 / 8);
    cli_expect(0, "./autotune run own.c --config default --paranoid");
}

/* Rows of several lines of the picture are cut into registers, too, though only the sum has them as
 * lines and columns. */
static void rows_of_several_lines(void **state) {
    (void)state;
    static const char *const sets[] = {"avx2", "avx512"};
    for (int i = 0; i < 2; i++) {
        cli_expect(0,
                   "./autotune show spconv2d_3x3_gemm --args N=1,H=14,W=14,CI=16,CO=32,nnz=60 "
                   "--isa %s --json --config '{\"entity\": [[\"tile_y\", \"sp\", [-1, 1, 98]], "
                   "[\"tile_x\", \"sp\", [-1, 2]]]}'",
                   sets[i]);
        assert_int_equal(cli_member(cli_json(), "notes")->count, 0);
    }
}

static void no_notes(void **state) {
    (void)state;
    static const char *const tasks[] = {"conv2d_3x3_gemm",
                                        "conv2d_NCHWc",
                                        "conv2d_nhwc",
                                        "conv2d_winograd_nhwc",
                                        "conv2d_winograd_NCHWc",
                                        "indirect_conv2d_nhwc",
                                        "group_conv2d_nhwc",
                                        "depthwise_conv2d_NCHWc",
                                        "depthwise_conv2d_nhwc",
                                        "conv2d_transpose_nhwc",
                                        "conv2d_capsule_nhwijc",
                                        "conv1d_nwc",
                                        "conv3d_ndhwc",
                                        "max_pool2d_nhwc",
                                        "avg_pool2d_nhwc",
                                        "layer_norm",
                                        "softmax",
                                        "softmax --args X=1000",
                                        "norm",
                                        "dense",
                                        "matmul_add",
                                        "batch_matmul",
                                        "spconv2d_3x3_gemm",
                                        "spconv2d_nhwc",
                                        "sparse_dense"};
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        cli_expect(0, "./autotune show %s --config default --isa avx2 --json", tasks[i]);
        assert_int_equal(cli_member(cli_json(), "notes")->count, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropped_vectors),
        cmocka_unit_test(beside_a_scalar),
        cmocka_unit_test(rows_of_several_lines),
        cmocka_unit_test(no_notes),
        cmocka_unit_test(show),
        cmocka_unit_test(sparse),
        cmocka_unit_test(many_turns),
        cmocka_unit_test(run),
        cmocka_unit_test(prune),
        cmocka_unit_test(feature),
    };
    return cmocka_run_group_tests_name("cli/why", tests, cli_setup, cli_teardown);
}
