/* Kernels for AArch64, made here: compiled by Debian's compiler for it, and run by qemu, each says
 * whether it is right. Without these two, skipped. AT_AARCH64=all (make test-aarch64): all
 * templates and files, and points of their spaces beside the default; else a few of them. */
#include "tests/cli/cli_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char sources[256]; /* the folder that the tests are started in */

static const struct {
    const char *name, *args;
    bool integers;
    bool always;
} kernels[] = {
    {"conv2d_3x3_gemm", "N=1,H=6,W=6,CI=8,CO=40", false, true},
    {"conv2d_NCHWc", "N=1,IC=8,H=7,W=6,OC=24", false, false},
    {"conv2d_nhwc", "N=1,H=7,W=9,CI=5,CO=24", false, true},
    {"conv2d_winograd_nhwc", "N=1,H=6,W=6,CI=8,CO=16,m=2", false, true},
    {"conv2d_winograd_NCHWc", "N=1,H=6,W=6,CI=8,CO=16,m=4", false, false},
    {"indirect_conv2d_nhwc", "N=1,H=6,W=6,CI=8,CO=24", false, false},
    {"group_conv2d_nhwc", "N=1,H=7,W=6,CI=8,CO=16,G=2", false, false},
    {"depthwise_conv2d_NCHWc", "N=1,IC=16,H=9,W=8", false, false},
    {"depthwise_conv2d_nhwc", "N=1,H=9,W=8,C=12", false, false},
    {"conv2d_transpose_nhwc", "N=1,H=4,W=4,CI=8,CO=12", false, false},
    {"conv2d_capsule_nhwijc", "N=1,H=4,W=4,CI=4,CO=8", false, false},
    {"conv1d_nwc", "N=1,W=16,CI=8,CO=20", false, false},
    {"conv3d_ndhwc", "N=1,D=4,H=6,W=6,CI=4,CO=12", false, false},
    {"max_pool2d_nhwc", "N=1,H=9,W=8,C=20", false, false},
    {"avg_pool2d_nhwc", "N=1,H=9,W=8,C=20", false, false},
    {"layer_norm", "M=5,N=37", false, false},
    {"softmax", "Y=5,X=37", false, true},
    {"norm", "B=2,M=6,N=21", false, false},
    {"dense", "M=12,N=40,K=23", false, true},
    {"matmul_add", "N=12,L=13,M=24", false, false},
    {"batch_matmul", "B=2,M=9,N=16,K=11", false, false},
    {"spconv2d_3x3_gemm", "N=1,H=6,W=6,CI=8,CO=32", false, false},
    {"spconv2d_nhwc", "N=1,H=6,W=6,CI=8,CO=32", false, false},
    {"conv2d_nchw_spatial_pack", "N=1,CI=6,H=8,W=8,CO=16", false, true},
    {"depthwise_conv2d_nchw", "N=1,C=12,H=9,W=8", false, true},
    {"conv2d_nchw_winograd", "N=1,CI=8,H=8,W=8,CO=16", false, false},
    {"sparse_dense", "M=12,N=16,K=20", false, true},
    {"conv2d_NCHWc_int8", "N=1,IC=16,H=6,W=6,OC=16", true, false},
    {"dense_int8", "M=6,N=32,K=16", true, true},
    {"batch_matmul_int8", "B=2,M=6,N=16,K=12", true, false},
    {"attention.te", "B=2,S=6,T=7,D=8", false, true},
    {"batch_matmul.te", "B=2,N=9,M=16,K=11", false, false},
    {"causal_softmax.te", "H=2,S=9", false, false},
    {"channels_last.te", "N=1,C=8,H=5,W=6", false, false},
    {"complex_matmul.te", "M=5,N=16,K=6", false, false},
    {"conv1d.te", "L=12,CI=6,CO=16", false, false},
    {"conv2d.te", "H=6,W=6,CI=6,CO=16,K=3,P=1", false, false},
    {"conv2d_nchw.te", "H=6,W=6,CI=6,CO=16", false, false},
    {"conv2d_u8s8.te", "H=5,W=6,CI=8,CO=16", true, false},
    {"dense_s8s8.te", "M=5,N=16,K=12", true, false},
    {"depthwise_conv2d.te", "H=7,W=6,C=12", false, false},
    {"distances.te", "N=7,M=16,D=5", false, false},
    {"embedding.te", "S=6,V=50,D=12", false, false},
    {"group_norm.te", "H=4,W=5,C=16,G=4", false, false},
    {"gru_cell.te", "N=3,X=6,H=12", false, false},
    {"layer_norm.te", "M=5,N=21", false, false},
    {"lstm_cell.te", "N=3,X=6,H=12", false, true},
    {"masked_mean.te", "B=2,S=9,D=12", false, false},
    {"mlp.te", "B=5,I=12,H=20,O=10", false, false},
    {"rotary.te", "B=1,T=5,H=2,D=8", false, false},
    {"separable_blur.te", "H=9,W=12", false, false},
    {"sparse_dense.te", "M=6,N=20,K=16,E=40", false, false},
    {"stencil.te", "Z=5,Y=6,X=12", false, false},
    {"transpose.te", "N=9,M=12", false, false},
    {"unsharp.te", "H=9,W=12", false, false},
    {"histogram.te", "P=500,B=32", false, true},
    {"embedding_gradient.te", "N=20,V=30,C=12", false, false},
    {"dense_q4_0", "M=3,N=32,K=64", true, false},
    {"dense_q8_0", "M=1,N=32,K=64", true, false},
    {"dense_q4_k", "M=2,N=32,K=256", true, false},
};
enum { NUM_KERNELS = sizeof kernels / sizeof *kernels, MOST_TRIES = 8 };

static int setup(void **state) {
    if (!getcwd(sources, sizeof sources)) return -1;
    return cli_setup(state);
}

static bool is_whole(void) {
    const char *asked = getenv("AT_AARCH64");
    return asked && !strcmp(asked, "all");
}

static void need_tools(void) {
    if (!cli_run("command -v aarch64-linux-gnu-gcc && command -v qemu-aarch64-static")->status)
        return;
    print_message("aarch64-linux-gnu-gcc or qemu-aarch64-static is not installed\n");
    skip();
}

/* The template's name, or the path of the file. */
static const char *word_of(int i) {
    static char word[512];
    const char *ending = strrchr(kernels[i].name, '.');
    if (!ending) return kernels[i].name;
    snprintf(word, sizeof word, "%s/examples/te/%s", sources, kernels[i].name);
    return word;
}

/* k.c, compiled and run. */
static void expect_right(const char *name, const char *how) {
    cli_expect(0, "aarch64-linux-gnu-gcc -O1 -Wall -Werror -static k.c -o k -lm");
    /* Its outputs are compared before it judges its time, which means nothing here. */
    const cli_result *r = cli_run("qemu-aarch64-static ./k");
    if (!strstr(r->out, ": right, ") && !strstr(r->out, " times what fits at the peak of this CPU"))
        fail_msg("%s %s: %s", name, how, r->out);
}

static void check(int i, const char *config, const char *code) {
    char how[256];
    cli_expect(0, "./autotune apply %s --args '%s' %s %s --main -o k.c", word_of(i),
               kernels[i].args, config, code);
    snprintf(how, sizeof how, "%s %s %s", kernels[i].args, config, code);
    expect_right(kernels[i].name, how);
}

static void all_are_right(const char *code) {
    need_tools();
    for (int i = 0; i < NUM_KERNELS; i++) {
        if (!is_whole() && !kernels[i].always) continue;
        check(i, "--config default", code);
    }
}

static void machine_code(void **state) { (void)state, all_are_right("--isa neon --dialect tcc"); }
static void vector_types(void **state) { (void)state, all_are_right("--isa neon --dialect gnu"); }
static void scalar_code(void **state) { (void)state, all_are_right("--isa a64 --dialect tcc"); }

/* ---- dot products of bytes ------------------------------------------------------------------- */

/* Kernels of bytes, each with instructions that it has to have. */
static void with_dots(const char *code, const char *wanted) {
    need_tools();
    for (int i = 0; i < NUM_KERNELS; i++) {
        if (!kernels[i].integers || (!is_whole() && !kernels[i].always)) continue;
        check(i, "--config default", code);
        if (!strstr(cli_read("k.c"), wanted)) fail_msg("%s: no %s", kernels[i].name, wanted);
    }
}

static void dots_of_one_kind(void **state) {
    (void)state;
    with_dots("--isa neon_dotprod --dialect tcc", "sdot v");
    with_dots("--isa neon_dotprod --dialect gnu", "at_sdot");
}

static void dots_of_two_kinds(void **state) {
    (void)state;
    with_dots("--isa neon_i8mm --dialect tcc", "dot v");
    with_dots("--isa neon_i8mm --dialect gnu", "dot");
}

/* Each pair of types in a tree that says where the dot products are, data from one end of a type to
 * the other: which instructions it gets, and that it is right. */
static void dots_of_each_pair(void **state) {
    (void)state;
    static const struct {
        const char *data, *weight, *isa, *wanted;
    } of[] = {
        {"s8", "s8", "neon_dotprod", "sdot v"}, {"u8", "u8", "neon_dotprod", "udot v"},
        {"u8", "s8", "neon_dotprod", "sdot v"}, {"s8", "u8", "neon_dotprod", "sdot v"},
        {"s8", "s8", "neon_i8mm", "sdot v"},    {"u8", "u8", "neon_i8mm", "udot v"},
        {"u8", "s8", "neon_i8mm", "dot v"},     {"s8", "u8", "neon_i8mm", "dot v"},
    };
    need_tools();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[1024];
        snprintf(
            text, sizeof text,
            "data[5, 24] : input %s\nweight[32, 24] : weight %s\n"
            "packw[p:2, k:6, x:16, j:4] : %s = weight[p*16 + x, k*4 + j]\n"
            "acc[y:5, x:32] : s32 = sum(k:6, j:4) data[y, k*4 + j] * packw[x/16, k, x%%16, j]\n"
            "schedule\np, k, x, j =>\n    @packw = p, k, x, j\n"
            "xo:2 =>\n    k, y:unroll, xi:16 vec, j:dot =>\n"
            "        @acc = y, {xo, xi}/x // k, j\n",
            of[i].data, of[i].weight, of[i].weight);
        cli_write("pair.te", text);
        for (int dialect = 0; dialect < 2; dialect++) {
            cli_expect(
                0, "./autotune apply pair.te --config default --isa %s --dialect %s --main -o k.c",
                of[i].isa, dialect ? "gnu" : "tcc");
            if (!dialect && !strstr(cli_read("k.c"), of[i].wanted))
                fail_msg("%s by %s: no %s", of[i].data, of[i].weight, of[i].wanted);
            expect_right("pair.te", "");
        }
    }
}

/* Floats of 16 bits, whole registers of them and rests. */
static void floats_of_16_bits(void **state) {
    (void)state;
    static const char *const types[] = {"f16", "bf16"};
    need_tools();
    for (int i = 0; i < 2; i++)
        for (int how = 0; how < 4; how++) {
            const bool gnu = how % 2;
            char text[512];
            snprintf(text, sizeof text,
                     "x[5, 13] : input %1$s\nw[23, 13] : weight %1$s\nb[23] : weight %1$s\n"
                     "y[m:5, n:23] = sum(k:13) x[m, k] * w[n, k]\n"
                     "z[m:5, n:23] : %1$s = max(y[m, n] + b[n], 0)\n",
                     types[i]);
            cli_write("narrow.te", text);
            cli_expect(0,
                       "./autotune apply narrow.te --config default --isa %s --dialect %s "
                       "--main -o k.c",
                       how < 2 ? "neon" : "a64", gnu ? "gnu" : "tcc");
            expect_right(types[i], gnu ? "gnu" : "tcc");
        }
}

/* Products of two floats of 16 bits: by numbers and by vectors, of whole registers and rests. */
static void products_of_halves(void **state) {
    (void)state;
    static const struct {
        const char *text, *wanted;
    } of[] = {
        {"x[12, 64] : input f16\nw[48, 64] : weight f16\n"
         "y[m:12, n:48] = sum(k:64) x[m, k] * w[n, k]\n",
         "fmlal2 v"},
        {"x[7, 33] : input f16\nw[21, 33] : weight f16\n"
         "y[m:7, n:21] = sum(k:33) x[m, k] * w[n, k]\n",
         "fmlal v"},
        {"x[3, 40] : input f16\nw[40, 16] : weight f16\n"
         "y[m:3, n:16] = sum(k:40) x[m, k] * w[k, n]\nschedule\n"
         "ko:5 =>\n    ki:8 unroll, m0:3 unroll, n0:16 vec =>\n        @y = m0, n0 // {ko, ki}\n",
         "fmlal2 v"},
        /* more registers with elements than the first 16, of which instructions take them */
        {"x[12, 6, 5] : input f16\nw[12, 4] : weight f16\n"
         "y[m:6, n:4] = sum(k:12) x[k, m, 2] * w[k, n]\nschedule\n"
         "k:12 unroll, m0:6 unroll, n0:4 vec =>\n    @y = m0, n0 // k\n",
         ".8h, v"},
        {"x[9, 20] : input f16\nw[9, 20] : input f16\n"
         "y[n:20] = sum(k:9) x[k, n] * w[k, n]\n",
         "fmlal v"},
    };
    need_tools();
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int gnu = 0; gnu < 2; gnu++) {
            cli_write("products.te", of[i].text);
            cli_expect(0,
                       "./autotune apply products.te --config default --isa neon_fp16fml "
                       "--dialect %s --main -o k.c",
                       gnu ? "gnu" : "tcc");
            if (!strstr(cli_read("k.c"), gnu ? "at_half_fma" : of[i].wanted))
                fail_msg("%s: no %s", of[i].text, of[i].wanted);
            expect_right(of[i].text, gnu ? "gnu" : "tcc");
        }
}

/* ---- points of spaces ------------------------------------------------------------------------ */

/* A point of a space, the same one each time; those that it leaves out are passed over. */
static void point_of(int i) {
    const char *code = i % 2 ? "--isa neon --dialect gnu" : "--isa neon --dialect tcc";
    cli_expect(0, "./autotune space %s --args %s --json", word_of(i), kernels[i].args);
    const uint64_t length = (uint64_t)cli_number(cli_json(), "len");
    uint64_t seed = (uint64_t)i + 1;
    for (int tries = 0; tries < MOST_TRIES; tries++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        char config[64];
        snprintf(config, sizeof config, "--index %llu",
                 (unsigned long long)((seed >> 33) % length));
        const cli_result *r = cli_run("./autotune apply %s --args %s %s %s -o k.c", word_of(i),
                                      kernels[i].args, config, code);
        if (r->status == 2 || r->status == 3) continue; /* no point, or one that breaks a rule */
        check(i, config, code);
        return;
    }
}

/* Of each third: half a second each. */
static void other_points(void **state) {
    (void)state;
    need_tools();
    for (int i = 0; i < NUM_KERNELS; i++)
        if (is_whole() && !kernels[i].integers && i % 3 == 0) point_of(i);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_code),      cmocka_unit_test(vector_types),
        cmocka_unit_test(scalar_code),       cmocka_unit_test(dots_of_one_kind),
        cmocka_unit_test(dots_of_two_kinds), cmocka_unit_test(dots_of_each_pair),
        cmocka_unit_test(floats_of_16_bits), cmocka_unit_test(products_of_halves),
        cmocka_unit_test(other_points)};
    return cmocka_run_group_tests_name("cli/aarch64", tests, setup, cli_teardown);
}
