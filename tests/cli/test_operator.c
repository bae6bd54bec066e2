/* Operators: all templates that compute one thing, with one budget. */
#include "tests/cli/cli_test.h"

#include <math.h>
#include <string.h>

#define SMALL "--args N=1,H=6,W=6,CI=4,CO=16"
/* Where only ways count: trials by themselves, without pairs, states and an anchor. */
#define BRIEFLY " --number 1 --repeat 1 "

static void all_ways(void **state) {
    (void)state;
    const cli_result *r = cli_expect(0, "./autotune conv2d " SMALL " --trials 40 --tuner random");
    assert_int_equal(cli_count_lines(r->out, "conv2d: conv3x3 4 to 16 @6"), 1);
    assert_int_equal(cli_count_lines(r->out, "conv2d_winograd_nhwc  "), 1);
    assert_int_equal(cli_count_lines(r->out, "conv2d_winograd_nhwc, m 2  "), 1);
    assert_int_equal(cli_count_lines(r->out, "conv2d_nhwc  "), 1);
    assert_int_equal(cli_count_lines(r->out, "conv2d_3x3_gemm  "), 1);
    assert_non_null(strstr(r->out, "\nNext: autotune apply "));
    assert_int_equal(cli_count_lines(r->out, "Log conv2d.log."), 1);
    /* What it says does so, whatever a shell makes of brackets and blanks. */
    cli_expect(0, "./autotune conv2d " SMALL " --trials 40 --tuner random --log 'a log' | "
                  "sed -n 's/^Next: autotune \\(.*\\) -o kernel.c/.\\/autotune \\1 -o k.c/p' "
                  ">says && [ -s says ] && sh ./says && [ -s k.c ]");
    /* The same again is answered from the log; each way had its part, and the fastest is that. */
    cli_expect(0, "./autotune tune conv2d " SMALL " --trials 40 --tuner random --json");
    const at_json *all = cli_json(), *ways = cli_member(all, "ways");
    int fastest = (int)cli_member(all, "fastest")->integer, trials = 0;
    assert_int_equal(ways->count, 4);
    for (int i = 0; i < 4; i++) {
        const at_json *way = at_json_at(ways, i);
        double of_best = cli_member(way, "of_best")->number;
        assert_true(i == fastest ? of_best == 1 : of_best >= 1);
        assert_true(cli_member(way, "trials")->integer >= 5);
        assert_int_equal(cli_member(way, "trials")->integer, cli_member(way, "from_log")->integer);
        trials += (int)cli_member(way, "trials")->integer;
    }
    assert_int_equal(trials, 40);
}

/* Workers elsewhere turn from one way to another: one budget, one summary, one log that answers. */
static void elsewhere(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        cli_expect(0, "./autotune conv2d " SMALL
                      " --trials 12 --tuner random --log far.log --json -q --on local:1");
        const at_json *all = cli_json(), *ways = cli_member(all, "ways");
        int64_t trials = 0;
        assert_int_equal(ways->count, 4);
        for (int w = 0; w < 4; w++) {
            const at_json *way = at_json_at(ways, w);
            assert_true(cli_member(way, "trials")->integer >= 1);
            trials += cli_member(way, "trials")->integer;
            if (i)
                assert_int_equal(cli_member(way, "from_log")->integer,
                                 cli_member(way, "trials")->integer);
        }
        assert_int_equal(trials, 12);
        cli_expect(0, "grep -c '\"trial\"' far.log | grep -x 12");
    }
}

/* Ways that do not fit the arguments are none; stages go with every way. */
static void which(void **state) {
    (void)state;
    cli_expect(0, "./autotune conv2d " SMALL ",KH=1,KW=1,padding=0 --trials 4 --log a.log --json");
    assert_int_equal(cli_member(cli_json(), "ways")->count, 2);
    assert_string_equal(cli_member(at_json_at(cli_member(cli_json(), "ways"), 1), "task")->string,
                        "dense");
    cli_expect(0, "./autotune conv2d " SMALL ",padding=[0,1,0,1] --trials 6 --log b.log --json");
    assert_int_equal(cli_member(cli_json(), "ways")->count, 3);
    cli_expect(0, "./autotune conv2d+relu " SMALL " --trials 8 --log c.log --json");
    const at_json *way = at_json_at(cli_member(cli_json(), "ways"), 3);
    assert_string_equal(cli_member(way, "task")->string, "conv2d_3x3_gemm+relu");
    cli_expect(0, "./autotune conv2d --fuse bias,relu " SMALL " --trials 8 --log d.log --json");
    way = at_json_at(cli_member(cli_json(), "ways"), 1);
    assert_string_equal(cli_member(way, "task")->string, "conv2d_winograd_nhwc+bias+relu");
    const cli_result *r = cli_expect(0, "./autotune list");
    assert_non_null(strstr(r->out, "\n  conv2d        convolution, channels last: "));
}

static int ways_named(const char *task) {
    int n = 0;
    const at_json *ways = cli_member(cli_json(), "ways");
    for (int i = 0; i < ways->count; i++)
        n += !strcmp(cli_member(at_json_at(ways, i), "task")->string, task);
    return n;
}

/* Tiles and points of Winograd's: the usual ones, those that a limit admits, all. */
static void tiles(void **state) {
    (void)state;
    static const struct {
        const char *options;
        int winograd;
    } cases[] = {{"", 2},
                 {" --max-error 1e-4", 3},
                 {" --all-ways", 6},
                 {",KH=5,KW=5,padding=2", 1},
                 {",KH=5,KW=5,padding=2 --max-error 1e-4", 2},
                 {",KH=5,KW=5,padding=2 --all-ways", 5},
                 {",KH=5,KW=5,strides=2", 0},
                 {",KH=3,KW=5", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cli_expect(0,
                   "./autotune conv2d " SMALL
                   "%s --trials 20 --tuner random --log o.log --json" BRIEFLY,
                   cases[i].options);
        assert_int_equal(ways_named("conv2d_winograd_nhwc"), cases[i].winograd);
        assert_int_equal(ways_named("indirect_conv2d_nhwc"),
                         strstr(cases[i].options, "all-ways") != NULL);
    }
    /* Kernels of 3x3, 5x5, 5x5 with a stride, and 3x5. */
    cli_expect(0, "./autotune pick_best o.log --per operator --json");
    assert_int_equal(cli_member(cli_json(), "picked")->count, 4);
}

/* 64 elements of 49 products each, whose factors must be known where they are worked out: that many
 * channels are not written out besides. */
static void large_kernels(void **state) {
    (void)state;
    static const char *const sets[] = {"", "--isa sse2", "--isa scalar"};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        cli_expect(0,
                   "./autotune run conv2d_winograd_nhwc --args N=1,H=6,W=6,CI=5,CO=40,KH=7,KW=7,"
                   "padding=3,m=2 --config default %s --number 1 --repeat 1",
                   sets[i]);
}

/* m and points of Winograd's templates are searched where they are not given. */
static void open_arguments(void **state) {
    (void)state;
    static const struct {
        const char *options;
        int ways;
    } cases[] = {{"", 5},
                 {" --max-error 1e-4", 6},
                 {" --all-ways", 6},
                 {",points=2", 1},
                 {",m=6 --max-error 1e-4", 1},
                 {",m=4", 4},
                 {",KH=7,KW=7,padding=3 --max-error 1e-4", 1},
                 {",KH=2,KW=2,padding=0", 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = i % 2 ? "conv2d_winograd_NCHWc" : "conv2d_winograd_nhwc";
        cli_expect(0,
                   "./autotune %s " SMALL "%s --trials 12 --tuner random --log w%d.log "
                   "--json" BRIEFLY,
                   name, cases[i].options, (int)i);
        assert_int_equal(ways_named(name), cases[i].ways);
    }
    cli_expect(0, "./autotune conv2d_winograd_nhwc " SMALL ",m=4,points=1 --trials 2 --log x.log "
                  "--json");
    assert_string_equal(cli_member(cli_json(), "task")->string, "conv2d_winograd_nhwc");
    const cli_result *r =
        cli_expect(0, "./autotune conv2d_winograd_nhwc+relu " SMALL " --trials 10 --log y.log");
    assert_int_equal(cli_count_lines(r->out, "conv2d_winograd_nhwc, "), 5);
    r = cli_expect(0, "./autotune help conv2d_winograd_NCHWc");
    assert_int_equal(cli_count_lines(r->out, "tune searches m and points where --args "), 1);
    r = cli_expect(3, "./autotune conv2d_winograd_nhwc --args N=1,H=6,W=6,CI=8,CO=8,KH=7,KW=7,"
                      "padding=3 --trials 2 --max-error 1e-9 --log z.log");
    assert_non_null(strstr(r->err, "none meets --max-error 1e-09"));
    r = cli_expect(2, "./autotune conv2d_winograd_nhwc --args KH=9,KW=9");
    assert_non_null(strstr(r->err, "m and the kernel make tiles of 4, 6 or 8"));
    r = cli_expect(2, "./autotune conv2d_winograd_nhwc --args strides=2");
    assert_non_null(strstr(r->err, "unknown argument \"strides\"; conv2d_winograd_nhwc has "));
}

/* A sparse weight competes in each shape of its blocks, or in the one that is asked for. */
static void sparse(void **state) {
    (void)state;
    cli_expect(0, "./autotune conv2d " SMALL " --sparsity 0.9 --trials 16 --log g.log --json");
    assert_int_equal(ways_named("spconv2d_3x3_gemm"), 4);
    assert_int_equal(ways_named("conv2d_winograd_nhwc"), 2);
    cli_expect(0, "./autotune sparse_conv2d " SMALL " --block 8x1 --trials 10 --log g.log --json");
    assert_int_equal(ways_named("spconv2d_3x3_gemm"), 1);
    /* 12 outputs have no blocks of 8 or 16 */
    cli_expect(0, "./autotune sparse_conv2d --args H=6,W=6,CI=4,CO=12 --trials 12 --log g.log "
                  "--json");
    assert_int_equal(ways_named("spconv2d_3x3_gemm"), 2);
    cli_write("w.mtx", "%%MatrixMarket matrix coordinate real general\n16 36 2\n1 1 0.5\n9 4 2\n");
    cli_expect(0, "./autotune conv2d " SMALL " --weight w.mtx --trials 16 --log h.log --json");
    assert_int_equal(ways_named("spconv2d_3x3_gemm"), 4);
    assert_int_equal(ways_named("conv2d_winograd_nhwc"), 2);
    const cli_result *r = cli_expect(2, "./autotune conv2d_winograd_nhwc " SMALL " --sparsity 0.9");
    assert_non_null(strstr(r->err, "no template with a sparse weight has these arguments"));
    /* Every kernel and stride has one. */
    cli_expect(0, "./autotune conv2d " SMALL ",KH=5,KW=5,strides=2,padding=2 --sparsity 0.9 "
                  "--trials 12 --log h.log --json");
    assert_int_equal(ways_named("spconv2d_nhwc"), 4);
    cli_expect(0, "./autotune conv2d " SMALL ",KH=1,KW=1,padding=0 --sparsity 0.5 --trials 12 "
                  "--log h.log --json");
    assert_int_equal(ways_named("sparse_dense"), 4);
    cli_expect(0, "./autotune conv2d " SMALL ",KH=1,KW=1,padding=0,strides=2 --sparsity 0.5 "
                  "--trials 12 --log h.log --json");
    assert_int_equal(ways_named("spconv2d_nhwc"), 4);
    cli_expect(0, "./autotune plot h.log --against sparsity --json");
    assert_int_equal(cli_member(cli_json(), "tasks")->count, 4);
}

/* One file for all ways, in any of its forms; without zeros none of them is sparse. */
static void one_weight(void **state) {
    (void)state;
    cli_expect(0, "awk 'BEGIN { print \"%%%%MatrixMarket matrix array real general\\n16 36\";"
                  " for (k = 0; k < 36; k++) for (o = 0; o < 16; o++)"
                  " print ((o * 37 + k * 11) %% 101 + 1) / 64 }' >full.mtx");
    cli_expect(0, "./autotune conv2d " SMALL " --weight full.mtx --trials 12 --log n.log --json");
    const at_json *ways = cli_member(cli_json(), "ways");
    assert_int_equal(ways->count, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(cli_member(at_json_at(ways, i), "failed")->count, 0);
    cli_expect(0, "sed 's/^0.5$/0/' full.mtx >some.mtx");
    cli_expect(0, "./autotune conv2d " SMALL " --weight some.mtx --trials 16 --log n.log --json");
    assert_int_equal(ways_named("spconv2d_3x3_gemm"), 4);
    cli_expect(0, "sed -n 1p full.mtx >flat.mtx; echo 16 4 >>flat.mtx; sed -n 3,66p full.mtx "
                  ">>flat.mtx");
    cli_expect(0, "./autotune conv2d " SMALL ",KH=1,KW=1,padding=0 --weight flat.mtx --trials 4 "
                  "--log n.log --json");
    assert_int_equal(ways_named("dense"), 1);
    cli_expect(0, "./autotune dense --all-ways --args M=8,N=16,K=4 --weight flat.mtx --trials 4 "
                  "--log n.log --json");
    assert_int_equal(ways_named("conv2d_nhwc"), 1);
    const cli_result *r = cli_expect(2, "./autotune conv2d " SMALL " --weight flat.mtx");
    assert_non_null(strstr(r->err, "--weight flat.mtx: it is 16 x 4, which is none of [KH, KW, CI, "
                                   "CO] = 3 x 3 x 4 x 16, [CO, CI, KH, KW] and, as a matrix, [CO, "
                                   "KH*KW*CI] = 16 x 36"));
}

/* Of a name that a template has, too, the template is meant, unless more is asked for. */
static void shared_name(void **state) {
    (void)state;
    const char *args = "--args M=8,N=16,K=12";
    cli_expect(0, "./autotune dense %s --trials 2 --log i.log --json", args);
    assert_string_equal(cli_member(cli_json(), "task")->string, "dense");
    cli_expect(0, "./autotune dense %s --all-ways --trials 4 --log i.log --json", args);
    assert_int_equal(cli_member(cli_json(), "ways")->count, 2);
    cli_expect(0, "./autotune dense %s --sparsity 0.5 --trials 12 --log i.log --json", args);
    assert_int_equal(ways_named("sparse_dense"), 4);
    const cli_result *r = cli_expect(2, "./autotune softmax --all-ways");
    assert_non_null(strstr(r->err, "--all-ways: there is no operator softmax"));
    r = cli_expect(0, "./autotune help conv2d");
    assert_int_equal(cli_count_lines(r->out, "  conv2d_winograd_nhwc  convolution of stride 1 "),
                     1);
    assert_int_equal(cli_count_lines(r->out, "  spconv2d_3x3_gemm "), 1);
}

/* A log of lines that are made up: 16x1 crosses the dense time of 100 us half way between two. */
static void crossing(void **state) {
    (void)state;
    static const struct {
        const char *task, *args;
        double time_s;
    } rows[] = {
        {"conv2d_nhwc",
         "[[\"TENSOR\", [1, 6, 6, 32], \"float32\"], [\"TENSOR\", [3, 3, 32, 16], \"float32\"], 1, "
         "1, "
         "1, \"float32\"]",
         2e-4},
        {"conv2d_3x3_gemm", "[1, 6, 6, 32, 16, \"float32\"]", 1e-4},
        {"spconv2d_3x3_gemm", "[1, 6, 6, 32, 16, 86, 16, 1]", 1.5e-4}, /* of 288 blocks */
        {"spconv2d_3x3_gemm", "[1, 6, 6, 32, 16, 58, 16, 1]", 0.5e-4},
        {"spconv2d_3x3_gemm", "[1, 6, 6, 32, 16, 58, 8, 1]", 3e-4},
    };
    at_text log = {0};
    char command[400];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        snprintf(command, sizeof command, "./autotune space %s --args '%s' --index 0", rows[i].task,
                 rows[i].args);
        const char *config = cli_expect(0, command)->out;
        at_text_addf(&log,
                     "{\"input\": [\"c -keys=cpu\", \"%s\", %s, {}], \"config\": %.*s, "
                     "\"result\": [[%g], 0, 1.0, 1.0], \"version\": 0.2, "
                     "\"tvm_version\": \"0.12.0\"}\n",
                     rows[i].task, rows[i].args, (int)strcspn(config, "\n"), config,
                     rows[i].time_s);
    }
    cli_write("made.log", at_text_str(&log));
    at_text_free(&log);
    cli_expect(0, "./autotune plot made.log --against sparsity --json");
    const at_json *tasks = cli_member(cli_json(), "tasks");
    assert_int_equal(tasks->count, 1);
    const at_json *lines = cli_member(at_json_at(tasks, 0), "lines");
    assert_int_equal(lines->count, 4);
    const at_json *rows_of_16 = at_json_at(lines, 2), *rows_of_8 = at_json_at(lines, 3);
    assert_string_equal(cli_member(rows_of_16, "label")->string, "16x1");
    assert_int_equal(cli_member(rows_of_16, "points")->count, 2);
    double from = cli_member(rows_of_16, "faster_from")->number, middle = 1 - 72.0 / 288;
    assert_true(from > middle - 1e-9 && from < middle + 1e-9);
    assert_int_equal(cli_member(rows_of_8, "faster_from")->kind, AT_JSON_NULL);
    const cli_result *r = cli_expect(0, "LC_ALL=C ./autotune plot made.log --against sparsity");
    assert_non_null(strstr(r->out, "16x1: 0.701 150.0 us, 0.799 50.00 us; from 0.75 on faster than "
                                   "conv2d_3x3_gemm\n"));
    assert_non_null(strstr(r->out, "; not faster than conv2d_3x3_gemm\n"));
    cli_expect(0, "./autotune conv2d_nhwc " SMALL " --trials 2 --log k.log");
    cli_expect(3, "./autotune plot k.log --against sparsity");
}

/* One record per operator and arguments, however these are spelled, whichever the template. Times
 * are those of the table, since each way's final is in the log. */
static void per_operator(void **state) {
    (void)state;
    cli_expect(0, "./autotune conv2d " SMALL " --trials 40 --tuner random --log j.log --json");
    double fastest =
        cli_member(cli_member(at_json_at(cli_member(cli_json(), "ways"),
                                         (int)cli_member(cli_json(), "fastest")->integer),
                              "best"),
                   "time_ns")
            ->number;
    cli_expect(0, "./autotune pick_best j.log --per operator --json");
    const at_json *picked = at_json_at(cli_member(cli_json(), "picked"), 0);
    assert_true(fabs(cli_member(picked, "time_ns")->number / fastest - 1) < 1e-6);
    cli_expect(0, "./autotune log j.log --json");
    const at_json *tasks = cli_member(cli_json(), "tasks");
    int finals = 0; /* each has its own; a busy machine may leave no time for some */
    for (int i = 0; i < tasks->count; i++) {
        const at_json *best = cli_member(at_json_at(tasks, i), "best");
        finals += !strcmp(cli_member(best, "measured")->string, "final");
    }
    assert_true(finals > 1);
    cli_expect(0, "./autotune conv2d_nhwc " SMALL ",padding=[1,1,1,1] --trials 2 --log j.log");
    cli_expect(0, "./autotune dense --args M=36,N=16,K=4 --trials 2 --log j.log");
    cli_expect(0, "./autotune conv2d_nhwc " SMALL ",KH=1,KW=1,padding=0 --trials 2 --log j.log");
    cli_expect(0, "./autotune pick_best j.log --json");
    assert_int_equal(cli_member(cli_json(), "picked")->count, 6);
    cli_expect(0, "./autotune pick_best j.log --per operator --json");
    assert_int_equal(cli_member(cli_json(), "picked")->count, 2);
}

/* A template or a computation of the user's comes first. */
static void of_the_user(void **state) {
    (void)state;
    cli_write("conv2d.te", "args N=16\nA[N] : input\nout[i:N] = A[i] * 2\n");
    const cli_result *r =
        cli_expect(0, "./autotune ./conv2d.te --args N=32 --trials 2 --log u.log");
    assert_non_null(strstr(r->out, "conv2d N=32\n"));
}

static const char user[] =
    "#include \"all.h\"\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n"
    "static int check(int side, int stride, int taps) {\n"
    "    enum { CI = 4, CO = 8 };\n"
    "    int pad = taps / 2, places = (side + 2 * pad - taps) / stride + 1, wrong = 0;\n"
    "    const conv2d_bias_silu_shape shape = {1, side, side, CI, CO, taps, taps, stride, stride,\n"
    "                                          pad, pad, pad, pad, 1, 1};\n"
    "    long bytes = conv2d_bias_silu_workspace_bytes(&shape, 1);\n"
    "    if (bytes < 0) return 1;\n"
    "    float data[16 * 16 * CI], weight[9 * CI * CO], bias[CO], out[16 * 16 * CO];\n"
    "    for (int i = 0; i < 16 * 16 * CI; i++) data[i] = (float)((i * 7) % 9 - 4);\n"
    "    for (int i = 0; i < 9 * CI * CO; i++) weight[i] = (float)((i * 5) % 7 - 3);\n"
    "    for (int i = 0; i < CO; i++) bias[i] = (float)i;\n"
    "    if (conv2d_bias_silu(&shape, data, weight, bias, out, malloc(bytes + 1))) return 1;\n"
    "    for (int i = 0; i < places * places * CO; i++) {\n"
    "        double sum = bias[i % CO];\n"
    "        for (int k = 0; k < taps * taps * CI; k++) {\n"
    "            int h = i / CO / places * stride + k / CI / taps - pad;\n"
    "            int w = i / CO % places * stride + k / CI % taps - pad;\n"
    "            if (h >= 0 && w >= 0 && h < side && w < side)\n"
    "                sum += (double)data[(h * side + w) * CI + k % CI] * weight[k * CO + i % CO];\n"
    "        }\n"
    "        double wanted = sum / (1 + exp(-sum));\n"
    "        wrong += !(fabs(out[i] - wanted) <= 1e-4 * (1 + fabs(wanted)));\n"
    "    }\n"
    "    printf(\"%s %d\\n\", conv2d_bias_silu_kernel(&shape), wrong);\n"
    "    return wrong;\n"
    "}\n"
    "int main(void) {\n"
    "    const conv2d_bias_silu_shape none = {2};\n"
    "    return check(5, 1, 3) || check(6, 2, 3) || check(7, 1, 3) || check(6, 1, 1) ||\n"
    "           conv2d_bias_silu_kernel(&none) != 0;\n"
    "}\n";

/* Layers of an operator in a file: tuned, and called by shape over ways, by each of which the
 * weight is taken in one form. */
static void layers(void **state) {
    (void)state;
    cli_write("some.workload", "3 conv2d+bias+silu N=1,H=5,W=5,CI=4,CO=8\n"
                               "1 conv2d+bias+silu N=1,H=6,W=6,CI=4,CO=8,strides=2\n"
                               "2 matmul_add N=4,L=4,M=16\n");
    cli_expect(0, "./autotune tune --workload ./some.workload --trials 60 --tuner random" BRIEFLY
                  "--json --log all.log");
    const at_json *tuned = cli_member(cli_json(), "layers");
    assert_int_equal(tuned->count, 3);
    static const int ways[] = {4, 1};
    for (int i = 0; i < 2; i++) {
        const at_json *l = at_json_at(tuned, i);
        assert_string_equal(cli_member(l, "operator")->string, "conv2d+bias+silu");
        assert_int_equal(cli_member(l, "ways")->count, ways[i]);
    }
    /* others by the ways whose weight lies otherwise */
    cli_expect(
        0, "./autotune conv2d_3x3_gemm+bias+silu --args N=1,H=7,W=7,CI=4,CO=8 --trials 2" BRIEFLY
           "--log all.log");
    cli_expect(0, "./autotune conv2d+bias+silu --args N=1,H=6,W=6,CI=4,CO=8,KH=1,KW=1,padding=0 "
                  "--trials 8" BRIEFLY "--log all.log");
    cli_expect(0, "./autotune apply --log all.log --main -o all.c");
    const cli_result *r = cli_expect(0, "cc -O1 all.c -o all -lm && ./all");
    int right = 0;
    for (const char *at = r->out; (at = strstr(at, ": right, ")); at++) right++;
    assert_int_equal(right, 5);
    cli_expect(0, "./autotune apply --log all.log -o all.c --force");
    cli_write("user.c", user);
    r = cli_expect(0, "cc -O1 all.c user.c -o user -lm && ./user");
    assert_non_null(strstr(r->out, "conv2d_3x3_gemm_bias_silu_1x7x7x4_8 0\n"));
    /* one layer by the operator's name, of several one that is named */
    r = cli_expect(2, "./autotune apply conv2d+bias+silu --log all.log -o one.c");
    assert_non_null(strstr(r->err, "all.log: holds 4 layers of conv2d+bias+silu; choose one"));
    cli_expect(0, "./autotune apply conv2d --fuse bias,silu --args N=1,H=7,W=7,CI=4,CO=8 "
                  "--log all.log -o one.c");
    /* and the same layers again from the log */
    cli_expect(0,
               "./autotune conv2d+bias+silu --workload ./all.log --trials 40 --tuner random" BRIEFLY
               "--json --log all.log");
    assert_int_equal(cli_member(cli_json(), "layers")->count, 4);
}

static void mistakes(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"conv2d --args OC=3", "--args: unknown argument \"OC\"; conv2d_nhwc has "},
        {"conv2d " SMALL " --trials 3", "3 trials are too few for 4 tasks"},
        {"conv2d " SMALL " --trials 1", "1 trial is too few for 4 tasks"},
        {"conv2d --fuse loud", "loud"},
        {"show conv2d --config '{\"entity\": []}'", "give one of --config"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cli_result *r = cli_expect(2, "./autotune %s --log e.log", cases[i][0]);
        assert_int_equal(cli_count_lines(r->err, "autotune: "), 1);
        if (!strstr(r->err, cases[i][1])) fail_msg("%s: %s", cases[i][0], r->err);
    }
    const cli_result *r =
        cli_expect(3, "./autotune conv2d --trials 4 --timeout 0.000001ms --log f.log");
    assert_non_null(strstr(r->err, "no valid configuration of 4 of 4 ways; the first: "));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ways),      cmocka_unit_test(elsewhere),
        cmocka_unit_test(which),         cmocka_unit_test(tiles),
        cmocka_unit_test(large_kernels), cmocka_unit_test(open_arguments),
        cmocka_unit_test(sparse),        cmocka_unit_test(one_weight),
        cmocka_unit_test(shared_name),   cmocka_unit_test(per_operator),
        cmocka_unit_test(crossing),      cmocka_unit_test(of_the_user),
        cmocka_unit_test(layers),        cmocka_unit_test(mistakes),
    };
    return cmocka_run_group_tests_name("cli/operator", tests, cli_setup, cli_teardown);
}
