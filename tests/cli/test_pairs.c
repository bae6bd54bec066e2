/* Dot products beside those of four bytes as they lie: of bf16 and of s16, two to a lane, of single
 * bytes, and of three channels. */
#include "tests/cli/cli_test.h"

#include <string.h>

/* Two products of bf16 are one operation, or are added one after the other, on every set; what is
 * denormal may be lost, and its products with what is large. */
static void pairs(void **state) {
    (void)state;
    static const char *const sets[][2] = {{"avx512bf16", "avx512_bf16"},
                                          {"avx512vnni", "avx512_vnni"},
                                          {"avx512", "avx512vl"},
                                          {"avx2", "fma"},
                                          {"sse2", "sse2"},
                                          {"scalar", "sse2"}};
    cli_write("p.te", "args M=12, N=64, K=40\ndata[M, K] : input bf16\nweight[N, K] : weight bf16\n"
                      "packw[p:N/32, k:K/2, x:32, j:2] : bf16 = weight[p*32 + x, k*2 + j]\n"
                      "acc[y:M, x:N] = sum(k:K/2, j:2) data[y, k*2 + j] * packw[x/32, k, x%32, j]\n"
                      "schedule\np, k, x, j =>\n    @packw = p, k, x, j\n"
                      "yo:2, xo:2 =>\n    k, yi:6 unroll, xi:32 vec, j:dot =>\n"
                      "        @acc = {yo, yi}/y, {xo, xi}/x // k, j\n");
    cli_write_array("d.npy", "<u2", 12, 40, "\x7f\0", 2);
    cli_write_array("w.npy", "<u2", 64, 40, "\x7f\x70", 2);
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const bool has = !cli_run("grep -qw %s /proc/cpuinfo", sets[i][1])->status;
        for (int gcc = 0; gcc <= !cli_run("command -v gcc")->status && has; gcc++) {
            const char *const by = gcc ? "gcc" : "tcc";
            cli_expect(0,
                       "./autotune run ./p.te --isa %s --compiler %s --array data=d.npy --array "
                       "weight=w.npy",
                       sets[i][0], by);
        }
    }
    const cli_result *r = cli_expect(0, "./autotune show ./p.te --isa avx512bf16 --dump=tile");
    assert_non_null(strstr(r->out, "dot "));
    assert_null(strstr(r->out, "fma"));
    r = cli_expect(0, "./autotune show ./p.te --isa avx512");
    assert_non_null(strstr(r->out, "no dot products: the instructions have no dot products"));
}

/* Factors, or products, of which a lane holds different numbers are no dot product together. */
static void unequal_pairs(void **state) {
    (void)state;
    static const char stages[] = "v[4*N + K] : input s8\nu[k:K] : s16 = x[k] - 3\n"
                                 "words[j:2*N + K] : s16 = y[j] - 3\n";
    static const struct {
        int terms;
        const char *type, *stages, *sum, *tree;
    } of[] = {{4, "s16", "", "x[k] * y[2*w + k]", ""},
              {2, "s16", "", "y[2*w + k] * x[k]", ""},
              {4, "u8", stages, "x[k] * v[4*w + k] + u[k] * words[2*w + k]",
               "k =>\n    @u = k\nj =>\n    @words = j\n"}};
    static const char *const sets[][2] = {
        {"avx512vnni", "avx512_vnni"}, {"avx512", "avx512vl"}, {"avx2", "fma"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 "args N=64, K=%d\nx[K] : input u8\ny[2*N + K] : input %s\n%s"
                 "acc[w:N] : s32 = sum(k:K) %s\n"
                 "schedule\n%swo:2 =>\n    wi:32 vec, k:dot =>\n        @acc = {wo, wi}/w // k\n",
                 of[i].terms, of[i].type, of[i].stages, of[i].sum, of[i].tree);
        cli_write("u.te", text);
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
            if (!cli_run("grep -qw %s /proc/cpuinfo", sets[k][1])->status)
                cli_expect(0, "./autotune run ./u.te --isa %s", sets[k][0]);
        const cli_result *r = cli_expect(0, "./autotune show ./u.te --isa avx2");
        assert_non_null(strstr(r->out, "makes no dot products: a lane holds "));
    }
}

/* Rules: pairs of bf16 are further sketches, and what all lanes read is widened once; s16 that are
 * worked out are stored where they are terms of dot products. */
static void derived_pairs(void **state) {
    (void)state;
    static const char words[] =
        "args M=12, N=48, K=40\ndata[M, K] : input u8\nbytes[N, K] : weight s8\n"
        "weight[x:N, k:K] : s16 = bytes[x, k] - 3\n"
        "moved[y:M, k:K] : s16 = data[y, k] - 128\n"
        "acc[y:M, x:N] : s32 = sum(k:K) moved[y, k] * weight[x, k]\n";
    const cli_result *r =
        cli_expect(0, "./autotune derive dense --args 'M=64,N=256,K=64,types=\"bf16bf16f32\"'");
    assert_non_null(strstr(r->out, "@data_wide = "));
    assert_non_null(strstr(r->out, "\npairs+"));
    assert_non_null(strstr(r->out, "k_i:dot"));
    cli_write("t.te", words);
    if (!cli_run("grep -qw avx2 /proc/cpuinfo")->status) {
        cli_expect(0, "./autotune run ./t.te");
        cli_expect(0, "./autotune run ./t.te --isa avx2");
    }
    if (!cli_run("command -v gcc")->status) {
        cli_expect(0, "./autotune apply ./t.te --config default --dialect c --main --force -o k.c");
        cli_expect(0, "gcc -O1 -ffp-contract=off -o k k.c -lm && ./k");
    }
    r = cli_expect(0, "./autotune show ./t.te --isa avx512vnni --config default --dump=tile");
    assert_non_null(strstr(r->out, "dot "));
    assert_null(strstr(r->out, "int_mul"));
}

/* Products of a depthwise convolution along a row are added four at a time, where sums share what
 * they read; at the edges of the picture fewer. */
static void woven_rows(void **state) {
    (void)state;
    static const char task[] =
        "depthwise_conv2d_NCHWc --args 'IC=32,ib=16,ob=16,layout=\"NCHW16c\","
        "out_layout=\"NCHW16c\",%s,types=\"u8s8%s\"' --isa avx512vnni --config "
        "'{\"entity\": [[\"tile_ic\", \"sp\", [-1, 16]], [\"tile_oc\", \"sp\", [-1, 16]], "
        "[\"tile_ow\", \"sp\", [-1, %d]], [\"unroll_kw\", \"ot\", true]]}'";
    static const struct {
        const char *sizes;
        int tile;
        bool woven;
    } of[] = {{"H=6,W=28", 14, true},
              {"H=5,W=26,KH=3,KW=3,padding=0", 24, true},
              {"H=7,W=15,KH=2,KW=2,padding=0", 14, true},
              {"H=9,W=28,strides=2", 14, false}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        for (int wide = 0; wide < 2; wide++) {
            char args[400];
            snprintf(args, sizeof args, task, of[i].sizes, wide ? "s32" : "u8", of[i].tile);
            const cli_result *r = cli_expect(0, "./autotune show %s --dump=tile", args);
            assert_int_equal(strstr(r->out, "weave") != NULL, of[i].woven);
            if (cli_run("grep -qw avx512_vnni /proc/cpuinfo")->status) continue;
            cli_expect(0, "./autotune run %s", args);
            if (!wide && !cli_run("command -v gcc")->status)
                cli_expect(0, "./autotune run %s --compiler gcc", args);
        }
}

/* So are those of several rows of outputs, whose tile stores in the body in which it adds, also
 * where a channel's pixels lie apart. Packed weights end in zeros where a block of channels does.
 */
static void woven_blocks(void **state) {
    (void)state;
    static const struct {
        const char *out, *in, *reads, *tiles[4];
    } of[] = {{"n:2, h:H, w:W, b:16",
               "2, H, W, 16",
               "n, h - 1, w - 1, b",
               {"[-1, 16]|4|4", "[-1, 16]|2|8", "[-1, 16]|8|2", "[-1, 16]|3|5"}},
              {"h:H, w:W, b:144",
               "H, W, 144",
               "h - 1, w - 1, b",
               {"[-1, 1, 16]|4|4", "[-1, 2, 16]|4|4", "[-1, 1, 16]|8|2", "[-1, 1, 64]|1|4"}}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const char *n = i ? "" : "n, ", *two = i ? "" : "2, ", *each = i ? "" : "n:2, ";
        char text[1000], config[300];
        snprintf(text, sizeof text,
                 "args H=9, W=11\ndata[%s] : input u8\nweight[%s3, 3, %d] : weight s8\n"
                 "scale[%s%d] : weight\n"
                 "pad[%sh:H+2, w:W+2, b:%d] : u8 = inside ? data[%s] : 0\n"
                 "    where inside = 1 <= h && h < H + 1 && 1 <= w && w < W + 1\n"
                 "acc[%s] : s32 = sum(r:3, q:3) pad[%sh + r, w + q, b] * weight[%sr, q, b]\n"
                 "out[%s] : u8 = round(acc[%sh, w, b] * scale[%sb] + 99.0)\n",
                 of[i].in, two, i ? 144 : 16, two, i ? 144 : 16, each, i ? 144 : 16, of[i].reads,
                 of[i].out, n, n, of[i].out, n, n);
        cli_write("t.te", text);
        for (int k = 0; k < 4; k++) {
            char lanes[20] = "";
            int h = 0, w = 0;
            assert_int_equal(sscanf(of[i].tiles[k], "%19[^|]|%d|%d", lanes, &h, &w), 3);
            snprintf(config, sizeof config,
                     "'{\"entity\": [[\"sketch\", \"ot\", \"tile_b+unroll%s\"], "
                     "[\"tile_b\", \"sp\", %s], [\"tile_h\", \"sp\", [-1, %d]], [\"tile_w\", "
                     "\"sp\", [-1, %d]]]}'",
                     i ? "+pack_weight" : "", lanes, h, w);
            const cli_result *r = cli_expect(
                0, "./autotune show ./t.te --isa avx512vnni --config %s --dump=tile", config);
            assert_int_equal(strstr(r->out, "weave") != NULL, h > 1);
            if (cli_run("grep -qw avx512_vnni /proc/cpuinfo")->status) continue;
            cli_expect(0, "./autotune run ./t.te --isa avx512vnni --config %s", config);
            if (k == 1 && !cli_run("command -v gcc")->status)
                cli_expect(0, "./autotune run ./t.te --isa avx512vnni --compiler gcc --config %s",
                           config);
        }
    }
}

/* Bytes are widened to s16 in sketches of their own, which are as right: sets without dot products
 * of bytes by one instruction add pairs faster. */
static void widened_bytes(void **state) {
    (void)state;
    static const struct {
        const char *task, *sketch;
    } of[] = {{"dense --args 'M=13,N=40,K=36,types=\"u8s8u8\"'", "words+tile_x+pack_weight_wide"},
              {"dense --args 'M=13,N=40,K=36,types=\"s8s8s32\"'", "words+tile_x+pack_weight_wide"},
              {"conv2d_nhwc --args 'H=9,W=7,CI=12,CO=24,KH=3,KW=3,padding=1,types=\"u8s8u8\"'",
               "words+tile_f+pack_weight_wide"}};
    static const char *const sets[][2] = {
        {"avx2", "fma"}, {"avx512", "avx512vl"}, {"avx512vnni", "avx512_vnni"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const cli_result *r =
            cli_expect(0, "./autotune show %s --isa avx2 --sketch %s", of[i].task, of[i].sketch);
        assert_non_null(strstr(r->out, "_wide_packed = "));
        assert_null(strstr(r->out, "makes no dot products"));
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++)
            if (!cli_run("grep -qw %s /proc/cpuinfo", sets[k][1])->status)
                cli_expect(0, "./autotune run %s --isa %s --sketch %s", of[i].task, sets[k][0],
                           of[i].sketch);
    }
}

/* Bytes of kinds that a set has no dot products of, but of two s16, are added as pairs of these: at
 * the ends of their range, where a product of two bytes leaves 16 bits, and a lane's four are
 * equal.
 */
static void bytes_by_pairs(void **state) {
    (void)state;
    static const char text[] =
        "args M=12, N=64, K=40\ndata[M, K] : input %s\nweight[N, K] : weight %s\n"
        "packw[p:N/32, k:K/4, x:32, j:4] : %s = weight[p*32 + x, k*4 + j]\n"
        "acc[y:M, x:N] : s32 = sum(k:K/4, j:4) data[y, k*4 + j] * packw[x/32, k, x%%32, j]\n"
        "schedule\np, k, x, j =>\n    @packw = p, k, x, j\n"
        "yo:2, xo:2 =>\n    k, yi:6 unroll, xi:32 vec, j:dot =>\n"
        "        @acc = {yo, yi}/y, {xo, xi}/x // k, j\n";
    static const char *const types[][2] = {{"u8", "s8"}, {"s8", "u8"}, {"u8", "u8"}, {"s8", "s8"}};
    static const char *const sets[][2] = {
        {"sse2", "sse2"}, {"avx2", "fma"}, {"avx512vnni", "avx512_vnni"}};
    const bool gcc = !cli_run("command -v gcc")->status;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char of[700];
        snprintf(of, sizeof of, text, types[i][0], types[i][1], types[i][1]);
        cli_write("b.te", of);
        for (int k = 0; k < 2; k++) {
            const bool has_sign = types[i][k][0] == 's';
            cli_write_array(k ? "w.npy" : "d.npy", has_sign ? "|i1" : "|u1", k ? 64 : 12, 40,
                            has_sign ? "\x80" : "\xff", 1);
        }
        const cli_result *r = cli_expect(0, "./autotune show ./b.te --isa sse2 --dump=tile");
        assert_non_null(strstr(r->out, "dot "));
        assert_null(strstr(r->out, "int_mul"));
        assert_null(strstr(r->out, "makes no dot products"));
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
            if (cli_run("grep -qw %s /proc/cpuinfo", sets[k][1])->status) continue;
            cli_expect(0, "./autotune run ./b.te --isa %s --array data=d.npy --array weight=w.npy",
                       sets[k][0]);
            if (gcc) cli_expect(0, "./autotune run ./b.te --isa %s --compiler gcc", sets[k][0]);
        }
    }
}

/* Lanes through the outputs of several groups, each of which has data of its own. */
static void lanes_through_groups(void **state) {
    (void)state;
    static const char text[] =
        "args M=6, N=48\ndata[M, %d*4] : input u8\nweight[N, 4] : weight s8\n"
        "packw[g:%d, x:%d, j:4] : s8 = weight[g*%d + x, j]\n"
        "acc[y:M, x:N] : s32 = sum(j:4) data[y, x/%d*4 + j] * packw[x/%d, x%%%d, j]\n"
        "schedule\ng, x, j =>\n    @packw = g, x, j\n"
        "yo:2 =>\n    yi:3 unroll, {g:%d, x:%d} vec, j:dot =>\n"
        "        @acc = {yo, yi}/y, {g, x}/x // j\n";
    static const int outputs[] = {2, 3, 4, 6};
    static const struct {
        const char *name, *has;
        int lanes;
    } sets[] = {{"sse2", "sse2", 4},
                {"avx2", "fma", 8},
                {"avx2_vnni", "avx_vnni", 8},
                {"avx512vnni", "avx512_vnni", 16}};
    const bool gcc = !cli_run("command -v gcc")->status;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char of[700];
        const int n = outputs[i], groups = 48 / n;
        snprintf(of, sizeof of, text, groups, groups, n, n, n, n, n, groups, n);
        cli_write("g.te", of);
        for (size_t k = 0; k < sizeof sets / sizeof *sets; k++) {
            const cli_result *r =
                cli_expect(0, "./autotune show ./g.te --isa %s --dump=tile", sets[k].name);
            if (n < sets[k].lanes) assert_null(strstr(r->out, "makes no"));
            if (cli_run("grep -qw %s /proc/cpuinfo", sets[k].has)->status) continue;
            cli_expect(0, "./autotune run ./g.te --isa %s", sets[k].name);
            if (gcc && i == 2)
                cli_expect(0, "./autotune run ./g.te --isa %s --compiler gcc", sets[k].name);
        }
        cli_expect(0, "./autotune run ./g.te --isa scalar");
    }
}

/* A product of bytes that has no three beside it is added by one instruction, as one of s16: the
 * upper halves of a byte without sign are 0. */
static void single_products(void **state) {
    (void)state;
    static const char task[] = "depthwise_conv2d_NCHWc --args 'IC=32,H=9,W=11,types=\"%s\"'";
    static const struct {
        const char *types;
        bool one;
    } of[] = {{"u8s8u8", true}, {"u8u8s32", true}, {"s8s8s32", false}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char args[160];
        snprintf(args, sizeof args, task, of[i].types);
        const cli_result *r =
            cli_expect(0, "./autotune show %s --isa avx512vnni --dump=tile", args);
        assert_int_equal(strstr(r->out, "int_mul") == NULL, of[i].one);
        for (int avx2 = 0; avx2 < 2; avx2++)
            if (!cli_run("grep -qw %s /proc/cpuinfo", avx2 ? "fma" : "avx512_vnni")->status)
                cli_expect(0, "./autotune run %s --isa %s", args, avx2 ? "avx2" : "avx512vnni");
    }
}

/* The points of a row and their few channels are one axis, whose last terms are padding: their
 * weights are 0. Of a dilated convolution a point's channels are. By default it is copied with its
 * padding, whatever its sizes divide. */
static void joined_channels(void **state) {
    (void)state;
    static const char task[] =
        "conv2d_nhwc --args 'H=9,W=11,%s,CO=32,types=\"%s\"' --isa avx512vnni";
    static const char *const types[] = {"u8s8u8", "s8s8s32"}, *const sizes[] = {
                                                                  "CI=3",
                                                                  "CI=5",
                                                                  "CI=6,KH=2,KW=2,padding=0",
                                                                  "CI=3,strides=2,padding=0",
                                                                  "CI=1,KH=5,KW=5",
                                                                  "CI=7,KH=1,KW=1,padding=0",
                                                                  "CI=7,padding=2,dilation=2"};
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        char args[160];
        snprintf(args, sizeof args, task, sizes[i / 2], types[i % 2]);
        const cli_result *r = cli_expect(0, "./autotune show %s --dump=tile", args);
        assert_non_null(strstr(r->out, "k_i:4 dot"));
        assert_null(strstr(r->out, "no dot products"));
        if (!cli_run("grep -qw avx512_vnni /proc/cpuinfo")->status)
            cli_expect(0, "./autotune run %s", args);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs),           cmocka_unit_test(unequal_pairs),
        cmocka_unit_test(derived_pairs),   cmocka_unit_test(widened_bytes),
        cmocka_unit_test(woven_rows),      cmocka_unit_test(woven_blocks),
        cmocka_unit_test(single_products), cmocka_unit_test(joined_channels),
        cmocka_unit_test(bytes_by_pairs),  cmocka_unit_test(lanes_through_groups)};
    return cmocka_run_group_tests_name("cli/pairs", tests, cli_setup, cli_teardown);
}
