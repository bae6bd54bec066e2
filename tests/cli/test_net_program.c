/* A network on the command line: from the file to a program, and what is refused. */
#include "engine/measure/target_here.h"
#include "runtime/cpu.h"
#include "tests/cli/cli_test.h"

#include <stdlib.h>
#include <string.h>

#include "tests/network/onnx_writer.h"

static void numbers(onnx_graph *g, const char *name, const char *dims, int n) {
    at_text t = {0};
    for (int i = 0; i < n; i++) at_text_addf(&t, " %g", (double)(i * 7 % 17 - 8) / 16);
    onnx_constant(g, name, AT_NET_FLOAT, dims, at_text_str(&t), true);
    at_text_free(&t);
}

/* net.onnx, in the folder of the tests, and the first half of it. */
static void make_model(void) {
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "picture", AT_NET_FLOAT, "N,3,8,8");
    numbers(&g, "w", "8,3,3,3", 216);
    numbers(&g, "w3", "8,8,3,3", 576);
    numbers(&g, "w2", "5,8", 40);
    onnx_node(&g, "Conv", "picture w", "c", "pads=[1,1,1,1]");
    onnx_node(&g, "Relu", "c", "r", "");
    onnx_node(&g, "Conv", "r w3", "d", "pads=[1,1,1,1]");
    onnx_node(&g, "Relu", "d", "s", "");
    onnx_node(&g, "GlobalAveragePool", "s", "p", "");
    onnx_node(&g, "Flatten", "p", "f", "");
    onnx_node(&g, "Gemm", "f w2", "class", "transB=1");
    onnx_output(&g, "class");
    at_text bytes = onnx_model(&g, 13);
    assert_int_equal(at_write_file("net.onnx", at_text_str(&bytes), bytes.len, &err), AT_OK);
    assert_int_equal(at_write_file("half.onnx", at_text_str(&bytes), bytes.len / 2, &err), AT_OK);
    at_text_free(&bytes);
}

static void expect_text(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("%s\nhas no \"%s\"", text, part);
}

static void from_file_to_program(void **state) {
    (void)state;
    make_model();
    const cli_result *r = cli_expect(0, "./autotune show net.onnx --dim N=1");
    expect_text(r->out, "4 parts of 4 kinds");
    expect_text(r->out, "conv3x3 3 to 8 at 8, relu");
    expect_text(r->out, "input  picture: float32[1, 3, 8, 8]");
    r = cli_expect(0, "./autotune show net.onnx --dim N=1 --code");
    expect_text(r->out, "w0[8, 3, 3, 3] : weight");

    r = cli_expect(0, "./autotune net.onnx --dim N=1 --trials 0");
    expect_text(r->out, "  product 8 to 5 of 1");
    expect_text(r->out, "nothing was measured, nor compared with the network in double");
    cli_expect(0, "test ! -e net.log");
    r = cli_expect(0, "./autotune net.onnx --dim N=1 --trials 12");
    expect_text(r->out, "product 8 to 5 of 1");
    expect_text(r->out, "Log net.log.\n");
    expect_text(r->out, "Next: autotune apply net.onnx --dim N=1 --log net.log -o net.c\n");
    r = cli_expect(0, "./autotune run net.onnx --dim N=1 --log net.log --output class=y.npy");
    expect_text(r->out, "4 of 4 kinds of parts are in the log");
    r = cli_expect(0, "./autotune run net.onnx --dim N=1 --why");
    expect_text(r->out, "what bounds it");
    expect_text(r->out, "  conv3x3 3 to 8 at 8, relu\n");

    cli_expect(0,
               "./autotune report net.onnx --dim N=1 --log net.log && grep -q 'parts along time' "
               "net.onnx.html && grep -q '>before<' net.onnx.html && grep -q '>after<' "
               "net.onnx.html && grep -q '>conv3x3 3 to 8 at 8, relu</td>' net.onnx.html");
    cli_expect(0, "./autotune report net.onnx --dim N=1 -o - | grep -q '>not tuned<'");
    cli_expect(0, "mkdir -p below && cd below && ../autotune report ../net.onnx --dim N=1 && "
                  "mv net.onnx.html page.html && ../autotune report ../net.log && "
                  "mv net.log.html page.html");
    r = cli_expect(0, "./autotune dense --args M=4,N=4,K=4 --trials 1 --log dense.log && "
                      "./autotune run net.onnx --dim N=1 --log dense.log");
    expect_text(r->err, "dense.log: holds no part of net.onnx: it is of another network");

    r = cli_expect(0, "./autotune apply net.onnx --dim N=1 --log net.log --main -o net.c");
    expect_text(r->out, "4 of 4 kinds of parts are tuned, by net.log");
    cli_expect(0, "cc -std=c99 -Wall -Wextra -Werror -O1 net.c -o net && ./net");
    cli_expect(0, "mkdir -p elsewhere && cd elsewhere && ../net ../net.bin");
    expect_text(cli_expect(1, "cd elsewhere && ../net")->out,
                "net.bin: the weights cannot be read; the first word of the command is their path");
    r = cli_expect(0, "./autotune apply net.onnx --dim N=1 --weights source --main -o own.c");
    expect_text(r->out, "0 of 4 kinds of parts are tuned");
    assert_string_equal(r->err, "");
    cli_expect(0, "test ! -e own.bin && cc -std=c99 -O1 own.c -o own && ./own");
    /* Weights of an earlier apply stay, and are told of; another file of that name is nobody's
     * business. */
    cli_expect(0, "cp net.bin own.bin");
    r = cli_expect(0, "./autotune apply net.onnx --dim N=1 --weights source -o own.c");
    expect_text(r->err, "own.bin: of an earlier apply; own.c has its weights in itself\n");
    cli_expect(0, "cmp net.bin own.bin && echo mine >own.bin");
    r = cli_expect(0, "./autotune apply net.onnx --dim N=1 --weights source -o own.c");
    assert_string_equal(r->err, "");
}

/* Results of a log get this time, and are of no pair, as if they had been measured like that, and
 * nothing inside a network. */
static void set_time(const char *from, const char *to, const char *seconds) {
    cli_expect(0,
               "grep -vE '^#(final|in_network)' %s | sed -E 's/\"pairs\": \\{[^}]*\\}, //; "
               "s/\"result\": \\[\\[[^]]*\\]/\"result\": [[%s]/' >>%s",
               from, seconds, to);
}

/* What Winograd's algorithm can do is done by it, where the log says so. */
static void another_way(void **state) {
    (void)state;
    make_model();
    cli_expect(0, "./autotune conv2d_winograd_nhwc+relu --args N=1,H=8,W=8,CI=8,CO=8,m=2,points=0 "
                  "--trials 2 --cache weights-cold --log ways.log");
    cli_expect(0, "./autotune net.onnx --dim N=1 --only 'conv3x3 8' --trials 3 --log other.log");
    set_time("other.log", "ways.log", "1.0");
    const cli_result *r =
        cli_expect(0, "./autotune apply net.onnx --dim N=1 --log ways.log --main -o ways.c");
    expect_text(r->out, "1 of 4 kinds of parts are tuned");
    cli_expect(0, "cc -std=c99 -Wall -Wextra -Werror -O1 ways.c -o ways && ./ways");
}

static void make_convolution(void) {
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "x", AT_NET_FLOAT, "1,48,8,8");
    numbers(&g, "w", "48,48,3,3", 20736);
    numbers(&g, "w1", "48,48,1,1", 2304);
    numbers(&g, "w2", "16,48,1,1", 768);
    onnx_node(&g, "Conv", "x w1", "a", "");
    onnx_node(&g, "Conv", "a w", "c", "pads=[1,1,1,1]");
    onnx_node(&g, "Relu", "c", "r", "");
    onnx_node(&g, "Conv", "r w2", "y", "");
    onnx_output(&g, "y");
    assert_int_equal(onnx_write(&g, 13, "conv.onnx", &err), AT_OK);
}

static double told_error(const cli_result *r) {
    expect_text(r->out, "largest error over the root mean square: ");
    return strtod(strstr(r->out, "square: ") + 8, NULL);
}

/* What is exact enough stays; else the part that errs most is computed in another way; what nothing
 * can reach is told. What a search finds is compared, and the log says so. */
static void held_to_an_error(void **state) {
    (void)state;
    make_convolution();
    cli_expect(0,
               "./autotune conv2d_winograd_nhwc+relu --args N=1,H=8,W=8,CI=48,CO=48,m=4,points=0 "
               "--trials 2 --max-error 1 --cache weights-cold --log far.log");
    cli_expect(0, "./autotune conv.onnx --only 'conv3x3 48' --trials 6 --log own.log");
    set_time("own.log", "far.log", "1.0");
    const cli_result *r = cli_expect(0, "./autotune run conv.onnx --log far.log");
    const double far = told_error(r);
    /* Not without a log: m=4 is what estimates put first on some CPUs. */
    r = cli_expect(0, "./autotune run conv.onnx --log far.log --max-error 1e-12");
    const double near = told_error(r);
    assert_true(far > 1.2 * near);
    r = cli_expect(0, "./autotune run conv.onnx --log far.log --max-error %g", far * 2);
    assert_null(strstr(r->err, "other way"));
    r = cli_expect(0, "./autotune run conv.onnx --log far.log --max-error %g", 1.1 * near);
    expect_text(r->err, "1 kind of parts is computed in other ways");
    assert_true(told_error(r) <= 1.1 * near);
    cli_expect(0,
               "./autotune apply conv.onnx --log far.log --max-error %g --main -o near.c && "
               "cc -O1 near.c -o near && ./near | grep right",
               1.1 * near);
    r = cli_expect(0, "./autotune run conv.onnx --log far.log --max-error 1e-12");
    expect_text(r->out, ": ill-conditioned");

    r = cli_expect(0, "./autotune conv.onnx --trials 10 --log told.log");
    expect_text(r->out, "output y: largest error over the root mean square: ");
    cli_expect(0, "grep -q '^#network {\"outputs\": \\[{\"name\": \"y\", \"error\": ' told.log");
    cli_expect(0, "./autotune log told.log");
}

/* Parts go to workers elsewhere as texts, and stand in the log so: it is known what its records are
 * of where the model is not there. */
static void parts_without_the_model(void **state) {
    (void)state;
    make_convolution();
    cli_expect(0, "./autotune conv.onnx --only conv1x1 --trials 2 --on local:1 --log away.log");
    cli_expect(0, "grep -c '^#te ' away.log | grep -x 2");
    expect_text(cli_expect(0, "./autotune run conv.onnx --log away.log")->out,
                "2 of 5 kinds of parts are in the log");
    cli_expect(0, "mv conv.onnx away.onnx && ./autotune apply --log away.log -o away.c && "
                  "cc -c away.c && ./autotune report away.log -o away.html");
    cli_expect(0, "mv away.onnx conv.onnx");
    /* A text of the log's own is not what the model computes. */
    cli_expect(0, "sed '/^#te/s/[*]/+/g' away.log >other.log && ! cmp away.log other.log");
    expect_text(cli_expect(0, "./autotune run conv.onnx --log other.log --json")->out,
                "\"verdict\": \"right\"");
    const cli_result *r = cli_expect(2, "./autotune conv.onnx --trials 1 --on local:1");
    expect_text(r->err, "too few for ");
}

/* Adds the records of a log with cold weights, and the same as if they had been measured with hot
 * caches, which take less. */
static void add_both(const char *from, const char *to) {
    set_time(from, to, "2e-3");
    cli_expect(0,
               "sed -E 's/\"cache\": \"weights-cold\"/\"cache\": \"hot\"/; "
               "s/\"context_hash\": \"..../\"context_hash\": \"0123/' %s >hot.log",
               from);
    set_time("hot.log", to, "1e-9");
}

/* Records with hot caches do not compete with those whose weights were cold, however fast they are;
 * which count is said. */
static void states_of_caches(void **state) {
    (void)state;
    static const char kernel[] = "conv2d_winograd_nhwc+relu";
    make_convolution();
    cli_expect(0, "./autotune conv.onnx --only conv1x1 --trials 3 --log cold.log");
    add_both("cold.log", "both.log");
    const cli_result *r = cli_expect(0, "./autotune apply conv.onnx --log both.log -o both.c");
    expect_text(r->err, "both.log: of 2 parts, records with caches in two states, which do not "
                        "compete; the best with weights-cold ones are taken\n");
    cli_expect(0, "for l in $(sed -n 's/.* both.log:\\([0-9]*\\):$/\\1/p' both.c); do "
                  "sed -n ${l}p both.log; done >taken && grep -q weights-cold taken && "
                  "! grep '\"cache\": \"hot\"' taken");

    cli_expect(0,
               "./autotune %s --args N=1,H=8,W=8,CI=8,CO=8,m=2,points=0 --trials 1 "
               "--cache weights-cold --log one.log",
               kernel);
    add_both("one.log", "two.log");
    r = cli_expect(0, "./autotune apply %s --log two.log -o two.c", kernel);
    expect_text(r->err, "were measured with hot and with weights-cold caches, and do not compete; "
                        "the best with hot ones is taken\n");
}

/* What choices of a part took inside the network decides, whatever they took alone. */
static void inside(const char *log) {
    cli_expect(0, "test $(grep -c '^#in_network ' %s) -ge 2", log);
    /* Configurations that stood against each other are trials, or what estimates put first. */
    cli_expect(
        0,
        "sed -n 's/^#in_network .*\"entity\": \\(.*\\), \"time_s\".*/\\1/p' %s | sort -u >stood && "
        "while read -r e; do grep -v '^#' %s | grep -cF \"$e\"; done <stood >times && "
        "test $(grep -vc '^0$' times) -ge 1",
        log, log);
    /* The latest line of a choice counts: all of them say the same. */
    for (int first = 1; first <= 2; first++) {
        cli_expect(0,
                   "awk '/^#in_network /{match($0, /\"key\": \"[^\"]*\"/); "
                   "k = substr($0, RSTART, RLENGTH); if (!(k in of)) of[k] = ++n; "
                   "sub(/\"time_s\": [^}]*/, \"\\\"time_s\\\": \" "
                   "(of[k] == %d ? \"1e-9\" : \"1.0\"))} {print}' %s >inside.log",
                   first, log);
        cli_expect(0, "./autotune apply wide.onnx --log inside.log --force -o inside.c && "
                      "grep -qF \"$(sed -n 's/^#in_network .*\"entity\": \\(.*\\), \"time_s\": "
                      "1e-9}/\\1/p' inside.log)\" inside.c");
    }
}

/* A way that the log does not have is taken where estimates put it far before the one that it has:
 * m=4 of Winograd's algorithm multiplies a quarter as often. */
static void missing_way(void **state) {
    (void)state;
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "x", AT_NET_FLOAT, "1,64,64,64");
    numbers(&g, "w", "64,64,3,3", 36864);
    onnx_node(&g, "Conv", "x w", "a", "pads=[1,1,1,1]");
    onnx_node(&g, "Conv", "a w", "b", "pads=[1,1,1,1]");
    onnx_node(&g, "Conv", "b w", "y", "pads=[1,1,1,1]");
    onnx_output(&g, "y");
    assert_int_equal(onnx_write(&g, 13, "wide.onnx", &err), AT_OK);
    cli_expect(0, "./autotune wide.onnx --trials 5 --log ways.all");
    inside("ways.all");
    cli_expect(0, "grep -v winograd ways.all >own_text.log && grep -q '^{' own_text.log");
    cli_expect(0, "./autotune apply wide.onnx --log own_text.log -o wide.c && "
                  "grep -q 'configuration from no record' wide.c");
}

/* Trials of its parts walk as many bytes of weights as the network has, where the second-level
 * cache holds less than half of these. */
static void weights_walked(void **state) {
    (void)state;
    onnx_graph g = {0};
    at_error err;
    enum { N = 2048 };
    const long long caches = 2 * (at_cpu_facts()->l2_bytes >> 20), own = (long long)N * N * 4 >> 20;
    onnx_input(&g, "x", AT_NET_FLOAT, "1,2048");
    onnx_constant(&g, "shape", AT_NET_INT64, "2", "2048 2048", false);
    onnx_node(&g, "ConstantOfShape", "shape", "w", "");
    onnx_node(&g, "MatMul", "x w", "y", "");
    onnx_output(&g, "y");
    assert_int_equal(onnx_write(&g, 13, "heavy.onnx", &err), AT_OK);
    const cli_result *r = cli_expect(0, "./autotune heavy.onnx --trials 2 --stats --log heavy.log");
    char said[64];
    snprintf(said, sizeof said, "packed weights in turn from %lld MiB",
             caches > own ? caches : own);
    expect_text(r->out, said);
}

/* Outputs that are no numbers: the main holds to what `run` holds to, and to each of them. */
static void not_finite(void **state) {
    (void)state;
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "x", AT_NET_FLOAT, "4,16");
    onnx_constant(&g, "none", AT_NET_FLOAT, "1", "0", true);
    onnx_node(&g, "Sqrt", "x", "roots", "");
    onnx_node(&g, "Div", "x none", "far", "");
    onnx_output(&g, "roots");
    onnx_output(&g, "far");
    assert_int_equal(onnx_write(&g, 13, "far.onnx", &err), AT_OK);
    cli_expect(0, "./autotune run far.onnx && ./autotune apply far.onnx --main -o not.c");
    const cli_result *r =
        cli_expect(0, "cc -std=c99 -pedantic -Wall -Wextra -Werror -O1 not.c -o not && ./not");
    if (strstr(r->out, "WRONG")) fail_msg("%s", r->out);
    static const char *const changes[] = {" 0 / 0\\.; 0.5", " 1 / 0\\.; -1 / 0.",
                                          " -1 / 0\\.; 0 / 0.", " 1 / 0\\.; 0"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        r = cli_expect(1, "sed 's;%s;' not.c >far.c && cc -std=c99 far.c -o far && ./far",
                       changes[i]);
        expect_text(r->out, "WRONG");
    }
}

/* Two sizes in one file; the main runs both, and another one runs, too. */
static void several_sizes(void **state) {
    (void)state;
    make_model();
    const cli_result *r = cli_expect(0, "./autotune apply net.onnx --dim N=4,1 --main -o sizes.c");
    expect_text(r->out, "; N 1: 0 of 4 kinds of parts are tuned; N 4: 0 of 4 kinds");
    expect_text(r->out, "sizes: N 1 and 4; other sizes run in pieces of these");
    r = cli_expect(0, "cc -std=c99 -Wall -Wextra -Werror -O1 sizes.c -o sizes && ./sizes");
    expect_text(r->out, "N_size 1, kernels:");
    expect_text(r->out, "N_size 4, kernels:");
    expect_text(r->out, "N_size 5, in pieces:");
    expect_text(r->out, "N_size 5, in pieces, its last row:");
    cli_expect(0, "grep -q 'sizes_run(const void .weights, long N_size, ' sizes.h");
    r = cli_expect(0, "./autotune apply net.onnx --dim N=1,4 --force --json -o sizes.c");
    expect_text(r->out, "\"sizes\": [1, 4]");
    expect_text(r->out, "\"rows_not_apart\": null");
    expect_text(r->out, "\"has_loops\": false");
    r = cli_expect(2, "./autotune run net.onnx --dim N=1,4");
    expect_text(r->err, "several sizes of one name go with apply");
    r = cli_expect(2, "./autotune apply net.onnx --dim M=1,4 -o other.c");
    expect_text(r->err, "size of inputs is not given: N");
    cli_expect(0, "test ! -e other.c");
}

/* Weights are packed by the network's kernels: a set of another architecture is refused, and told.
 */
static void sets_of_others(void **state) {
    (void)state;
    const char *const other =
        at_target_check(at_target_find("neon"), NULL) == AT_OK ? "avx2" : "neon";
    make_model();
    const cli_result *r =
        cli_expect(2, "./autotune apply net.onnx --dim N=1 --isa %s -o of_others.c", other);
    expect_text(r->err, "a network's weights are packed by its own kernels, which do not run here");
    cli_expect(0, "test ! -e of_others.c");
    r = cli_expect(2, "./autotune run net.onnx --dim N=1 --isa %s", other);
    expect_text(r->err, "do not run here: this CPU");
    cli_expect(0, "./autotune show net.onnx --dim N=1 --isa %s", other);
}

/* Each size for each set; a set that the CPU is said to lack leaves all sizes to the next one. */
static void sizes_and_sets(void **state) {
    (void)state;
    const char *const wide = at_cpu_has_set(at_vector_set("avx2")) ? "avx2" : "sse2";
    if (!at_cpu_has_set(at_vector_set("sse2"))) skip();
    make_model();
    const cli_result *r = cli_expect(
        0, "./autotune apply net.onnx --dim N=1,4 --isas %s,scalar --main -o both.c", wide);
    expect_text(r->out, "; N 4, scalar: 0 of 4 kinds");
    r = cli_expect(0, "cc -std=c99 -pedantic -Wall -Wextra -Werror -O1 both.c -o both && ./both");
    expect_text(r->out, "N_size 5, in pieces, its last row:");
    cli_expect(0,
               "test $(grep -c 'if (both_has_%s()) return' both.c) = 2 && "
               "sed 's/if (both_has_%s())/if (0)/' both.c >less.c && cp both.h less.h && "
               "cc -std=c99 -O1 less.c -o less && ./less",
               wide, wide);
}

/* Inputs whose names the function has for what it takes and computes itself; of one only the size
 * counts. */
static void names_of_sizes(void **state) {
    (void)state;
    onnx_graph g = {0};
    at_error err;
    onnx_input(&g, "N_size", AT_NET_FLOAT, "N,16");
    onnx_input(&g, "piece_rows", AT_NET_FLOAT, "N,16");
    onnx_input(&g, "loop_n", AT_NET_FLOAT, "N,16");
    onnx_node(&g, "Shape", "loop_n", "shape", "");
    onnx_node(&g, "ConstantOfShape", "shape", "zeros", "");
    onnx_node(&g, "Add", "piece_rows zeros", "same", "");
    onnx_node(&g, "Add", "N_size same", "rows", "");
    onnx_output(&g, "rows");
    assert_int_equal(onnx_write(&g, 13, "named.onnx", &err), AT_OK);
    cli_expect(0, "./autotune apply named.onnx --dim N=1,4 --main -o named.c");
    const cli_result *r =
        cli_expect(0, "cc -std=c99 -Wall -Wextra -Werror -O1 named.c -o named && ./named");
    expect_text(r->out, "N_size_ 4, kernels:");
    cli_expect(0, "grep -q 'long N_size_, const float .N_size, const float .in_1_piece_rows, "
                  "const float .in_2_loop_n, float .rows, ' named.h");
}

static void refused(void **state) {
    (void)state;
    static const struct {
        int status;
        const char *command, *text;
    } cases[] = {
        {2, "./autotune show net.onnx", "size of inputs is not given: N; as in --dim N=1"},
        {2, "./autotune apply net.onnx --dim N=1", "give the C file that is to be written"},
        {2, "./autotune apply net.onnx --dim N=1 -o x.c --weights there", "there are file and sou"},
        {2, "./autotune run net.onnx --dim N=1 --args N=1", "--args is not for networks"},
        {2, "./autotune dense --trials 0", "--trials 0: a search takes 1 or more"},
        {2, "./autotune show net.onnx --dim N=1 --why", "autotune run net.onnx --dim N=1 --why"},
        {2, "./autotune run net.onnx --dim N=1 --input x=y.npy", "has no input \"x\""},
        {2, "./autotune run net.onnx --input x=y.npy", "has no input \"x\""},
        {2, "./autotune verify net.onnx", "a network is tuned, shown, run, reported and applied"},
        {2, "./autotune run dense --config default --dim N=1", "--dim goes with a network"},
        {4, "./autotune show half.onnx", "half.onnx"},
        {4, "./autotune show none.onnx", "none.onnx"},
        {4, "./autotune apply net.onnx --dim N=1 --log none.log -o x.c", "none.log"},
    };
    make_model();
    cli_expect(0, "./autotune run net.onnx --dim N=1 --output class=y.npy --force");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_text(cli_expect(cases[i].status, "%s", cases[i].command)->err, cases[i].text);
    cli_expect(0, "test ! -e x.c");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_file_to_program),
        cmocka_unit_test(another_way),
        cmocka_unit_test(held_to_an_error),
        cmocka_unit_test(parts_without_the_model),
        cmocka_unit_test(states_of_caches),
        cmocka_unit_test(missing_way),
        cmocka_unit_test(weights_walked),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(several_sizes),
        cmocka_unit_test(sizes_and_sets),
        cmocka_unit_test(sets_of_others),
        cmocka_unit_test(names_of_sizes),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, cli_setup, cli_teardown);
}
