/* Types of elements: integers of 8 and 32 bits, compared bit by bit with the reference; what is
 * refused, and what it says. */
#include "tests/cli/cli_test.h"

#include <string.h>

/* A search none of whose trials may fail: a busy machine gets the time that it needs. */
#define SOUND_TRIALS "--tuner random --timeout 100s --trials "

#define SIZES "args M=12, N=48, K=40\n"
#define OPERANDS "data[M, K] : input u8\nweight[N, K] : weight s8\n"
#define SUM "acc[y:M, x:N] : s32 = sum(k:K) data[y, k] * weight[x, k]\n"

/* What rules derive of it runs with every compiler, and as plain C, and gives the reference's bits.
 */
static void runs_by(const char *text, int num_compilers) {
    static const char *const compilers[] = {"tcc", "gcc", "clang"};
    cli_write("t.te", text);
    for (int i = 0; i < num_compilers; i++) {
        if (cli_run("command -v %s", i ? compilers[i] : "true")->status) continue;
        const cli_result *r =
            cli_expect(0, "./autotune ./t.te " SOUND_TRIALS "4 --compiler %s --log %s.log",
                       compilers[i], compilers[i]);
        if (strstr(r->err, "failed")) fail_msg("%s", r->err);
        cli_run("rm -f %s.log", compilers[i]);
    }
    if (cli_run("command -v gcc")->status) return;
    cli_expect(0, "./autotune apply ./t.te --config default --dialect c --main --force -o k.c");
    cli_expect(0, "gcc -O1 -ffp-contract=off -o k k.c -lm && ./k");
}

static void runs(const char *text) {
    if (cli_run("grep -q avx512vl /proc/cpuinfo")->status) skip();
    runs_by(text, 3);
    const cli_result *r =
        cli_expect(0, "./autotune ./t.te --isa avx2 " SOUND_TRIALS "3 --log avx2.log");
    if (strstr(r->err, "failed")) fail_msg("avx2: %s", r->err);
    cli_run("rm -f avx2.log");
    if (cli_run("command -v gcc")->status) return;
    cli_expect(0,
               "./autotune apply ./t.te --config default --isa avx2 --dialect gnu --main --force "
               "-o k.c");
    cli_expect(0, "gcc -O1 -ffp-contract=off -o k k.c -lm && ./k");
}

static void sums_of_bytes(void **state) {
    (void)state;
    runs(SIZES OPERANDS SUM);
}

/* Scaled by channel, rounded, and cut to what a byte holds. */
static void requantised(void **state) {
    (void)state;
    runs(SIZES OPERANDS SUM "scale[N] : weight\nbias[N] : weight s32\n"
                            "out[y:M, x:N] : u8 = round((acc[y, x] + bias[x]) * scale[x] + 7.5)\n");
}

/* Sets without vectors of narrow integers: words by `pmaddwd`, products of 32 bits in two halves.
 */
static void small_sets(void **state) {
    (void)state;
    static const char *const sets[] = {"sse2", "scalar"};
    if (cli_run("grep -q sse2 /proc/cpuinfo")->status) skip();
    cli_write("t.te", SIZES OPERANDS SUM
              "scale[N] : weight\nfar[N] : input s32\nshort[N] : input s16\n"
              "out[y:M, x:N] : u8 = round(acc[y, x]*scale[x] + 7.5)\n"
              "least[x:N] : s32 = min(far[x] >> 15, short[x])*max(short[x], -9)\n");
    for (int i = 0; i < 2; i++) {
        const cli_result *r = cli_expect(0,
                                         "./autotune ./t.te --isa %s " SOUND_TRIALS "4 "
                                         "--log %s.log",
                                         sets[i], sets[i]);
        if (strstr(r->err, "failed")) fail_msg("%s: %s", sets[i], r->err);
        if (cli_run("command -v gcc")->status) continue;
        cli_expect(0,
                   "./autotune apply ./t.te --config default --isa %s --dialect gnu --main --force "
                   "-o k.c",
                   sets[i]);
        cli_expect(0, "gcc -O1 -ffp-contract=off -o k k.c -lm && ./k");
    }
}

static void signed_outputs(void **state) {
    (void)state;
    runs(SIZES OPERANDS SUM "scale[N] : weight\n"
                            "out[y:M, x:N] : s8 = round(acc[y, x] * scale[x] - 3.0)\n");
}

/* Sums whose lanes lie apart in memory, since outputs have their channels first. */
static void channels_first(void **state) {
    (void)state;
    runs("x[2, 6, 6, 4] : input u8\nw[8, 4, 3, 3] : weight s8\n"
         "acc[n:2, m:8, a:4, b:4] : s32 = sum(c:4, p:3, q:3) x[n, a + p, b + q, c]*w[m, c, p, q]\n"
         "out[n:2, m:8, a:4, b:4] : u8 = round(acc[n, m, a, b]*0.01)\n");
}

/* Maxima of bytes, differences that leave their range, and choices between them. */
static void bytes(void **state) {
    (void)state;
    runs("args H=24, C=40\nx[H, C] : input s8\ny[H, C] : input u8\n"
         "most[h:H/2, c:C] : s8 = max(k:2) x[h*2 + k, c]\n"
         "out[h:H/2, c:C] : u8 = most[h, c] > 3 ? y[h, c] - most[h, c] : max(most[h, c], -x[h, "
         "c])\n");
}

/* Integers that are no floats, and such as have the bits of no number, quiet or signalling. */
static void constants(void **state) {
    (void)state;
    runs("args H=24, C=40\nx[H, C] : input u8\n"
         "near[h:H, c:C] : s32 = x[h, c] + 16777217\n"
         "far[h:H, c:C] : s32 = x[h, c] + 2139095041\n"
         "below[h:H, c:C] : s32 = -8388607 - x[h, c]\n"
         "quiet[h:H, c:C] : s32 = x[h, c] > 7 ? 2143289345 : -1\n"
         "loud[h:H, c:C] : s32 = x[h, c] > 7 ? 2139095041 : -8388607\n"
         "ends[h:H, c:C] : s32 = max(x[h, c] > 99 ? 2147483647 : -2147483647 - 1, x[h, c]*0 - "
         "8388606)\n");
}

/* Bits of integers that are read, and of indices. */
static void bits(void **state) {
    (void)state;
    runs("args N=48, K=40\nq[N, K] : input u8\ns[N, K] : input s8\n"
         "low[n:N, k:K] : u8 = q[n, k] & 15\nhigh[n:N, k:K] : s8 = (q[n, k] >> 4) - 8\n"
         "joined[n:N, k:K] : s32 = q[n, k] << 8 | q[n, k & 7] | s[n, k >> 1] & 240\n"
         "signs[n:N, k:K] : s16 = s[n, k] >> 3\n"
         "parts[n:N, k:K] : u8 = q[n, k/4*4] >> k%4*2 & 3\n"
         "moved[n:N, k:K] : s32 = s[n, k] << (k & 3)\n"
         "scaled[n:N, k:K] = (s[n, k] & 3 | 4 | q[n, (k << 1) % K] >> 0)*0.5\n"
         "nearer[n:N, k:K] : s32 = n > 0 ? nearer[n - 1, k] + ((s[n, k] - nearer[n - 1, k]) >> 2) "
         ": 0\n"
         "back[n:N, k:K] : s32 = n > 0 ? back[n - 1, k] - ((back[n - 1, k] - s[n, k]*65536) >> 1) "
         ": 0\n"
         "negative[n:N, k:K] : s32 = s[n, k] & -3 | s[n, K - 1 - k] | -65536\n");
}

/* Sums of floats beside integers are checked within limits: 4 bit in blocks with a scale each,
 * by floats, and by bytes that these are rounded to. */
static void in_blocks(void **state) {
    (void)state;
    static const char operands[] = "args M=3, N=48, K=128\nx[M, K] : input\n"
                                   "w[N, K/32, 16] : weight u8\nd[N, K/32] : weight\n";
    char text[1200];
    snprintf(text, sizeof text,
             "%sy[m:M, n:N] = sum(b:K/32, h:2, j:16) x[m, b*32 + h*16 + j] * (((h == 0 ? w[n, b, "
             "j] & 15 : w[n, b, j] >> 4) - 8) * d[n, b])\n",
             operands);
    runs(text);
    snprintf(text, sizeof text,
             "%smost[m:M, b:K/32] = max(i:32) abs(x[m, b*32 + i])\n"
             "q[m:M, k:K] : s8 = round(x[m, k] * (most[m, k/32] > 0 ? 127/most[m, k/32] : 0))\n"
             "sums[m:M, b:K/32] : s32 = sum(i:32) q[m, b*32 + i]\n"
             "dots[m:M, n:N, b:K/32] : s32 = sum(h:2, j:16) q[m, b*32 + h*16 + j] * (h == 0 ? w[n, "
             "b, j] & 15 : w[n, b, j] >> 4)\n"
             "y[m:M, n:N] = sum(b:K/32) (dots[m, n, b] - 8*sums[m, b]) * (d[n, b] * (most[m, "
             "b]*0.007874016))\n",
             operands);
    runs(text);
    /* sums that are written out are stored once, however many vectors there are beside each other
     */
    const cli_result *r = cli_expect(0, "./autotune show dense_q4_k --args M=1,N=32,K=256 --config "
                                        "default --isa avx512vnni --dump=tile");
    int stored = 0, read = 0;
    for (const char *p = r->out; (p = strstr(p, "[low.")); p++)
        *(strncmp(p - strlen("store "), "store ", strlen("store ")) ? &read : &stored) += 1;
    assert_int_equal(stored, 2);
    assert_int_equal(read, 2);
}

/* Four products of bytes are one operation. */
static void dots(void **state) {
    (void)state;
    runs("args M=12, N=64, K=40\n" OPERANDS
         "packw[p:N/32, k:K/4, x:32, j:4] : s8 = weight[p*32 + x, k*4 + j]\n"
         "acc[y:M, x:N] : s32 = sum(k:K/4, j:4) data[y, k*4 + j] * packw[x/32, k, x%32, j]\n"
         "schedule\n"
         "p, k, x, j =>\n    @packw = p, k, x, j\n"
         "yo:2, xo:2 =>\n    k, yi:6 unroll, xi:32 vec, j:dot =>\n"
         "        @acc = {yo, yi}/y, {xo, xi}/x // k, j\n");
}

/* What a lane holds several of lies the other way: fours of bytes, as weights are packed for dot
 * products, and pairs of 16 bits, whose squares leave edges both ways, or one; as many squares
 * beside each other as fill a register are turned round together. */
static void turned_round(void **state) {
    (void)state;
    static const char text[] =
        "x[M, 4*K] : input u8\nw[M, 2*K] : input s16\n"
        "fours[k:K, i:M, j:4] : u8 = x[i, 4*k + j]\n"
        "pairs[k:K, i:M, j:2] : s16 = w[i, 2*k + j]\n"
        "out[k:K, i:M] : s32 = fours[k, i, 0] - 2*fours[k, i, 1] + 3*fours[k, i, 2] + "
        "5*fours[k, i, 3] + pairs[k, i, 0] - 7*pairs[k, i, 1]\n"
        "schedule\nk, i, j =>\n    @fours = k, i, j\ni, k, j =>\n    @pairs = k, i, j\n"
        "k, i =>\n    @out = k, i\n";
    static const int rows[] = {13, 21, 32};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char sized[sizeof text + 40];
        snprintf(sized, sizeof sized, "args M=%d, K=13\n%s", rows[i], text);
        runs(sized);
        const cli_result *r = cli_expect(0, "./autotune show ./t.te --isa avx2 --dump=tile");
        assert_non_null(strstr(r->out, "zip_low"));
        assert_non_null(strstr(r->out, " packed fours "));
        r = cli_expect(0, "./autotune show ./t.te --isa avx512 --dump=tile");
        assert_int_equal(strstr(r->out, "packed fours ") != NULL, rows[i] >= 16);
    }
}

/* Lanes are partial sums of few outputs: each lane of an output takes another four of the terms. */
static void partial_sums_in_lanes(void **state) {
    (void)state;
    static const struct { int outputs, parts; } of[] = {{24, 2}, {5, 4}, {21, 2}, {3, 8}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char text[1200];
        snprintf(
            text, sizeof text,
            "args P=13, F=%d, I=%d, K=5\nx[P, 4*I*K] : input u8\nw[4*I*K, F] : weight s8\n"
            "wp[k:K, f:F, i:I, j:4] : s8 = w[4*I*k + 4*i + j, f]\n"
            "part[p:P, f:F, i:I] : s32 = sum(k:K, j:4) x[p, 4*I*k + 4*i + j] * wp[k, f, i, j]\n"
            "out[p:P, f:F] : s32 = sum(i:I) part[p, f, i]\n"
            "schedule\nk, f, i, j =>\n    @wp = k, f, i, j\n"
            "p0:4 =>\n    k, p1:4 unroll, {f, i}:vec, j:dot =>\n"
            "        @part = {p0, p1}/p, f, i // k, j\n"
            "    p1:4 unroll, i:unroll, f:vec =>\n        @out = {p0, p1}/p, f // i\n",
            of[k].outputs, of[k].parts);
        runs(text);
        char lanes[40];
        snprintf(lanes, sizeof lanes, "packed lanes %d (i + 0)%%%d", of[k].parts, of[k].parts);
        const cli_result *r = cli_expect(0, "./autotune show ./t.te --isa avx512vnni --dump=tile");
        assert_non_null(strstr(r->out, lanes));
    }
}

/* Rules make such lanes where outputs leave a part of a register empty; what each output has of its
 * own is repeated for neighbouring rows. */
static void derived_parts(void **state) {
    (void)state;
    static const struct {
        int rows, outputs, terms;
    } of[] = {{12, 24, 64}, {8, 12, 32}, {6, 40, 48}, {4, 8, 16}, {20, 20, 64}};
    if (cli_run("grep -q avx512_vnni /proc/cpuinfo")->status) skip();
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "args M=%d, N=%d, K=%d\n" OPERANDS SUM "scale[N] : weight\nbias[N] : weight s32\n"
                 "out[y:M, x:N] : u8 = round((acc[y, x] + bias[x]) * scale[x] + 7.5)\n",
                 of[k].rows, of[k].outputs, of[k].terms);
        cli_write("t.te", text);
        const cli_result *r = cli_expect(0, "./autotune derive ./t.te");
        assert_non_null(strstr(r->out, "parts_x+pack_weight"));
        static const char *const how[] = {"--compiler tcc", "--compiler gcc", "--isa avx2"};
        for (int i = 0; i < 3; i++) {
            r = cli_run("./autotune ./t.te --sketch parts_x+pack_weight " SOUND_TRIALS
                        "4 --log parts.log %s",
                        how[i]);
            if (r->status || strstr(r->err, "failed")) fail_msg("%s: %s", how[i], r->err);
            cli_run("rm -f parts.log");
        }
        r = cli_expect(
            0, "./autotune show ./t.te --sketch parts_x+pack_weight --isa avx512vnni --dump=tile");
        assert_non_null(strstr(r->out, " of groups"));
    }
    cli_write("t.te", "args M=12, N=32, K=64\n" OPERANDS SUM "scale[N] : weight\n"
                      "out[y:M, x:N] : u8 = round(acc[y, x] * scale[x])\n"); /* full registers */
    assert_null(strstr(cli_expect(0, "./autotune derive ./t.te")->out, "parts_x"));
}

/* Rules mark them, and pack both operands for that; what they cannot mark they name. */
static void derived_dots(void **state) {
    (void)state;
    static const char conv[] =
        "args H=9, C=8, O=24\ndata[H, H, C] : input u8\nweight[O, 3, 3, C] : weight s8\n"
        "pad[h:H+2, w:H+2, c:C] : u8 = inside ? data[h - 1, w - 1, c] : 0\n"
        "    where inside = 1 <= h && h <= H && 1 <= w && w <= H\n"
        "acc[h:H, w:H, o:O] : s32 = sum(r:3, q:3, c:C) pad[h + r, w + q, c] * weight[o, r, q, c]\n";
    static const struct {
        const char *text, *dots; /* what derive prints of them */
    } of[] = {{SIZES OPERANDS SUM, "k_i:dot"},
              {conv, "c_i:dot"},
              {SIZES "data[K, M] : input s8\nweight[K, N] : input u8\n"
                     "acc[y:M, x:N] : s32 = sum(k:K) data[k, y] * weight[k, x]\n",
               "data_packed"},
              {SIZES "data[M, K] : input u8\nweight[N, K] : weight u8\n" SUM, "weight_s8_packed"},
              {SIZES "data[M, K] : input s8\nweight[N, K] : weight s8\n" SUM, "@weight_sums"},
              {SIZES "data[M, K] : input s8\nweight[K, N] : input s8\n"
                     "acc[y:M, x:N] : s32 = sum(k:K) data[y, k] * weight[k, x]\n"
                     "out[y:M, x:N] : s8 = round(acc[y, x] * 0.004)\n",
               "@data_u8"},
              {SIZES "data[M, K] : input u8\n"
                     "acc[y:M, x:M] : s32 = sum(k:K) data[y, k] * data[x, k]\n",
               "acc makes no dot products: one factor has to be u8, and the other s8"},
              {"args M=12, N=48, K=39\n" OPERANDS SUM,
               "acc makes no dot products: k has 39 steps, which is no multiple of 4"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        runs(of[i].text);
        const cli_result *r = cli_expect(0, "./autotune derive ./t.te");
        if (!strstr(r->out, of[i].dots)) fail_msg("%s\n%s", of[i].dots, r->out);
        cli_expect(0, "./autotune derive ./t.te --json");
    }
    cli_write("t.te", conv);
    const cli_result *r = cli_expect(0, "./autotune show ./t.te --isa avx512vnni --dump=tile");
    assert_non_null(strstr(r->out, "dot "));
    assert_null(strstr(r->out, "int_mul"));
    cli_write("t.te", "args M=12, N=6, K=301\n" OPERANDS SUM); /* few lanes, many terms */
    r = cli_expect(0, "./autotune derive ./t.te");
    assert_non_null(strstr(r->out, "acc makes no dot products"));
    assert_null(strstr(r->out, "; acc makes no dot products")); /* said once */
}

/* A text with both types of floats of 16 bits in the place of "half". */
static void runs_with_halves(const char *text) {
    static const char *const types[] = {"f16", "bf16"};
    for (int i = 0; i < 2; i++) {
        char made[1200];
        size_t n = 0;
        for (const char *p = text; *p && n < sizeof made - 8;) {
            const bool is_type = !strncmp(p, "half", 4);
            n += (size_t)snprintf(made + n, sizeof made - n, is_type ? "%s" : "%.1s",
                                  is_type ? types[i] : p);
            p += is_type ? 4 : 1;
        }
        runs_by(made, 1);
    }
}

/* Floats of 16 bits: operands of products, rounded outputs, maxima, outputs that others read. */
static void halves(void **state) {
    (void)state;
    runs_with_halves(SIZES "data[M, K] : input\nweight[N, K] : weight half\nbias[N] : weight half\n"
                           "acc[y:M, x:N] = sum(k:K) data[y, k] * weight[x, k]\n"
                           "out[y:M, x:N] : half = max(acc[y, x] + bias[x], 0)\n");
    runs_with_halves("args M=24, N=100\nx[M, N] : input half\nm[y:M] : half = max(k:N) x[y, k]\n"
                     "e[y:M, n:N] : half = exp(x[y, n] - m[y])\ns[y:M] = sum(k:N) e[y, k]\n"
                     "out[y:M, n:N] : half = e[y, n]/s[y]\n");
    runs_with_halves(
        "args M=77\nx[M] : input half\ny[M] : input\n"
        "both[m:M] : output = x[m] + y[m]\nz[m:M] : output half = x[m]*1.5 + y[m]\n"
        "out[m:M] : half = z[m]*z[m]\nless[m:M] : half = min(-x[M - 1 - m], abs(z[m]))\n");
    runs_with_halves("args H=24, C=40\nx[H, C] : input half\nq[H, C] : input s8\n"
                     "y[h:H, c:C] : half = x[h, c]*q[h, c]*0.37\n");
    runs_with_halves("args T=9, D=40\nnew[D] : input\nrows[T, D] : input half\npos : index\n"
                     "kept[t:T, d:D] : in rows = t == pos ? new[d]*0.3 : rows[t, d]\n"
                     "out[t:T, d:D] : half = kept[t, d]*new[d]\n");
    /* a register that is stored in part, then as a whole */
    cli_write("t.te", "args Z=1\ny[h:12, c:5] : bf16 = 0.5\n");
    cli_expect(
        0, "./autotune run ./t.te --config "
           "'{\"entity\": [[\"sketch\", \"ot\", \"flat_h\"], [\"tile_h\", \"sp\", [-1, 2, 8]]]}'");
}

static void refused(const char *text, const char *why) {
    cli_write("bad.te", text);
    const cli_result *r = cli_run("./autotune ./bad.te --trials 1 --log bad.log");
    assert_int_not_equal(r->status, 0);
    if (!strstr(r->err, why)) fail_msg("%s\n%s", why, r->err);
}

static void refusals(void **state) {
    (void)state;
    refused("args N=8\nx[N] : input\nk[N] : index s8\ny[i:N] = x[k[i]]\n",
            "an index holds 32-bit integers, or s64");
    refused("args N=8\nx[N] : input u9\ny[i:N] = x[i]\n",
            "expected a type (f32, s32, s16, s8, u8, f16, bf16, bool) or a new line, got 'u9'");
    refused("args N=8\nx[N] : input\ny[i:N] : u9 = x[i]\n",
            "expected output, in and an input, or a type of elements");
    refused("args N=8\nx[N] : weight s64\ny[i:N] = x[i]\n", "weights are s32 or narrower");
    refused("args N=8\nx[N] : input\ny[i:N] : output s64 = x[i]\n", "a stage is s32 or narrower");
    refused("args N=8\ny[i:2] : output = {1, 2}\nz[i:2] = y[i]\n", "a table is given");
    refused("args N=8\nx[N] : input\ny[i:N] : u8 = x[i]\n", "say how, as round(...)");
    refused("args N=8\nx[N] : input u8\ny[i:N] : u8 = x[i]/2\n", "integers have no quotient");
    refused("args N=8, K=9\nx[N, K] : input u8\ny[i:N] : u8 = sum(k:K) x[i, k]\n",
            "a sum is s32 or f32");
    refused("args N=8, K=9\nx[N, K] : input f16\ny[i:N] : f16 = sum(k:K) x[i, k]\n",
            "a sum is f32 or s32: store it in another stage as f16");
    refused("args N=8, K=9\nx[N, K] : input u8\ny[i:N] : s32 = sum(k:K) x[i, k] * 0.5\n",
            "the terms of an s32 are integers");
    refused("args N=8, B=3\ni[N] : index\nv[N] : input s32\nh[i[n]:B] : s32 max= (n:N) v[n]\n",
            "terms that are left out of this reduction are -inf, which is no s32");
    refused("args N=8, K=70000\nx[N, K] : input u8\nw[K] : weight s8\n"
            "y[i:N] : s32 = sum(k:K) x[i, k] * w[k]\n",
            "which is beyond 32 bits");
    refused("args N=8\nx[N] : input\ny[i:N] = x[i] & 3\n", "only integers have bits");
    refused("args N=8\nx[N] : input u8\ny[i:N] : u8 = x[i] & 3 == 1 ? 1 : 0\n",
            "a condition is no number");
    refused("args N=8\nx[N] : input u8\ny[i:N] : u8 = x[i] >> x[i]\n",
            "integers are shifted by 0 to 30: by a number, or by an index of which numbers say so");
    refused("args N=8\nx[N] : input u8\ny[i:N] : u8 = x[i] >> i%8*5\n",
            "integers are shifted by 0 to 30: by a number, or by an index of which numbers say so");
    refused("args N=8\nx[N] : input u8\ny[i:N] : s32 = x[i] << 24\n", "which is beyond 32 bits");
    refused("args N=32\nx[N] : input u8\ny[i:N] : s32 = i > 0 ? 2*y[i - 1] : x[0]\n",
            "2*y[i - 1] may be from 0 to 4278190080, which is beyond 32 bits");
    refused("args N=20000000\nx[N] : input u8\ny[i:N] : s32 = (i > 0 ? y[i - 1] : 0) + x[i]\n",
            "which is beyond 32 bits");
    refused("args N=9\nx[N] : input\ny[i:N] : s32 = i > 0 ? max(y[i - 1] - 1, 0) : 3\n"
            "z[i:N] = x[y[i]]\n",
            "\"y\" is worked out step by step: its elements are no indices, but those of a copy");
    refused("args N=8\nx[N] : input u8\ny[i:N] : s32 = x[i] & 4294967295\n",
            "integers among values have 32 bits");
    refused("args N=8\nx[N] : input u8\ny[i:N] : u8 = x[i & 5]\n", "of an index there are i & 15");
    refused("args N=8, K=9\nx[N, K] : input u8\ns[i:N] = sum(k:K) x[i, k] * 0.3\n"
            "y[i:N] : u8 = round(s[i])\nz[i:N] = y[i]*0.5\n",
            "\"y\" are integers made of a sum of floats");
    refused("args N=8, K=9\nx[N, K] : input u8\ny[i:N] = sum(k:K) x[i, k] * 0.3\n"
            "z[i:N] : u8 = x[i, 0]\n",
            "\"z\" are integers beside outputs that are checked within limits");
}

/* Data beside integers have the size of what they are multiplied by: also where that goes on from
 * step to step, in one stage or two, and where each of many stages reads another twice. */
static void sizes_of_stages(void **state) {
    (void)state;
    char text[4096] = "args N=8\nx0[N] : input s8\nw[N] : weight\n";
    cli_write("t.te", "args T=5, N=8\nx[T, N] : input s8\nw[N] : weight\n"
                      "h[t:T, i:N] = t > 0 ? h[t - 1, i]*w[i] + x[t, i] : 0\n"
                      "f[t:T, i:N] = t > 0 ? g[t - 1, i]*w[i] : 0\n"
                      "g[t:T, i:N] = f[t, i] + x[t, i]\n");
    cli_expect(0, "./autotune run ./t.te");
    for (int k = 0; k < 40; k++) {
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "x%d[i:N] = max(x%d[i]*0.5, x%d[i]*0.25)\n", k + 1, k,
                 k);
    }
    strcat(text, "y[i:N] = x40[i]*w[i]\n");
    cli_write("t.te", text);
    cli_expect(0, "./autotune run ./t.te");
}

/* Elements of integers come from arrays of integers of any width that its type can hold. */
static void arrays(void **state) {
    (void)state;
    static const char run[] = "./autotune ./a.te --array data=d.npy --trials 1 --log a.log";
    cli_write("a.te", SIZES OPERANDS SUM);
    cli_write_array("d.npy", "<f4", 12, 40, "\0\0\0\0", 4);
    const cli_result *r = cli_expect(4, run);
    assert_non_null(strstr(r->err, "integers of up to 64 bits are read"));
    cli_write_array("d.npy", "<i2", 12, 40, "\0\1", 2);
    r = cli_expect(4, run);
    assert_non_null(strstr(r->err, "element 0 is 256; elements of type u8 are from 0 to 255"));
    if (cli_run("grep -q avx512vl /proc/cpuinfo")->status) return;
    cli_write_array("d.npy", "|u1", 12, 40, "\xff", 1);
    cli_write_array("w.npy", "<i8", 48, 40, "\x80\xff\xff\xff\xff\xff\xff\xff", 8);
    cli_expect(0, "%s --array weight=w.npy", run);
}

#define WORDS                                                                                      \
    "args N=13, V=50, C=24\nids[N] : index s64\nmask[N, C] : input bool\nfar[N] : input s64\n"     \
    "table[V, C] : weight\nout[n:N, c:C] = mask[n, c] ? table[ids[n], c] : 0\n"                    \
    "least[n:N] : s32 = !mask[n, 0] ? max(far[n], -1000) : far[n]\n"                               \
    "any[n:N] : bool = max(c:C) mask[n, c]\n"

/* Token numbers and masks, with what the reference makes of them; arrays of NumPy's types, and one
 * clear line where an element must not be. */
static void words_and_masks(void **state) {
    (void)state;
    static const char run[] = "./autotune ./w.te --trials 1 --log w.log --array ids=i.npy";
    runs_by(WORDS, 3);
    cli_write("w.te", WORDS);
    cli_write_array("i.npy", "<i8", 1, 13, "\x31\0\0\0\0\0\0\0", 8);
    const cli_result *r = cli_expect(2, run);
    assert_non_null(strstr(r->err, "is an array of 13"));
    cli_write_array("m.npy", "|b1", 13, 24, "\2", 1);
    r = cli_expect(4, "./autotune ./w.te --trials 1 --log w.log --array mask=m.npy");
    assert_non_null(strstr(r->err, "element 0 is 2; elements of type bool are from 0 to 1"));
    cli_write_array("m.npy", "|b1", 13, 24, "\1", 1);
    cli_expect(0, "./autotune ./w.te --trials 1 --log w.log --array mask=m.npy");
}

/* A written function that takes elements beyond their range says which tensor has them. */
static void refused_elements(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status) skip();
    cli_write("w.te", WORDS);
    cli_expect(0, "./autotune apply ./w.te --config default --dialect c --name w --force -o w.c");
    cli_write("use.c",
              "#include <stdio.h>\n#include <stdlib.h>\n#include \"w.h\"\n"
              "static long long ids[13], far_[13];\nstatic unsigned char mask[13*24], any[13];\n"
              "static float table[50*24], out[13*24];\nstatic int least[13];\n"
              "static int run(void) {\n    static char memory[1 << 16];\n"
              "    return w(ids, mask, far_, table, out, least, any, memory);\n}\n"
              "static int packs(void) {\n    static char packed[1 << 16];\n"
              "    return w_pack(ids, table, packed);\n}\n"
              "int main(void) {\n    table[49*24] = 3, ids[12] = 49, mask[12*24] = 1;\n"
              "    printf(\"%d \", run());\n    printf(\"%g %d\", out[12*24], any[12]);\n"
              "    ids[4] = 50;\n    printf(\" %d %d\", run(), packs());\n"
              "    ids[4] = -1;\n    printf(\" %d\", run());\n"
              "    ids[4] = 1ll << 32;\n    printf(\" %d\", run());\n    ids[4] = 0;\n"
              "    mask[7] = 2;\n    printf(\" %d\", run());\n    mask[7] = 0;\n"
              "    far_[0] = (1ll << 30) + 1;\n    printf(\" %d\", run());\n"
              "    far_[0] = -(1ll << 30);\n    printf(\" %d\\n\", run());\n    return 0;\n}\n");
    const cli_result *r = cli_expect(0, "gcc -O1 -Wall -Werror use.c w.c -o use -lm && ./use");
    assert_string_equal(r->out, "0 3 1 1 1 1 1 2 3 0\n");
    r = cli_expect(0, "cat w.h");
    assert_non_null(strstr(r->out, "Returns 1 where an element of ids is not from 0 to 49"));
    /* what a condition guards may be anything below, as where words are filled up with -1 */
    cli_write("w.te", "args N=13, V=50, C=24\nids[N] : index s64\ntable[V, C] : weight\n"
                      "out[n:N, c:C] = ids[n] < 0 ? 0 : table[ids[n], c]\n");
    cli_expect(0, "./autotune apply ./w.te --config default --dialect c --name w --force -o w.c");
    r = cli_expect(0, "cat w.h");
    assert_non_null(strstr(r->out, "element of ids is not from -2147483648 to 49"));
    /* edits of rules leave inputs as callers have them */
    cli_write("w.te",
              SIZES OPERANDS "ids[M] : index s64\n" SUM "out[y:M, x:N] : s32 = acc[ids[y], x]\n");
    cli_expect(0, "./autotune apply ./w.te --config default --dialect c --name w --force -o w.c");
    r = cli_expect(0, "cat w.h");
    assert_non_null(strstr(r->out, "const signed char *weight, const long long *ids, int *out"));
}

/* Functions that choose by shape return 2 then; no plain loops stand behind them. */
static void refused_by_shape(void **state) {
    (void)state;
    if (cli_run("command -v gcc")->status) skip();
    cli_write("v.te", "args N=13, V=50\nids[N] : index s64\nmask[N] : input bool\n"
                      "table[V] : weight\nout[n:N] = mask[n] ? table[ids[n]] : 0\n");
    cli_expect(0, "./autotune ./v.te --trials 1 --log v.log");
    cli_expect(0, "./autotune apply --log v.log --dialect c --main --force -o v.c");
    cli_expect(0, "gcc -O1 -Wall -Werror v.c -o main -lm && ./main");
    cli_expect(0, "./autotune apply --log v.log --dialect c --force -o v.c");
    cli_write("use.c",
              "#include <stdio.h>\n#include \"v.h\"\n"
              "static long long ids[13];\nstatic unsigned char mask[13];\n"
              "static float table[50], out[13];\nstatic char memory[1 << 16], packed[1 << 16];\n"
              "static v_shape s = {13, 50};\n"
              "static void say(void) {\n"
              "    printf(\"%d %d \", v(&s, ids, mask, table, out, memory),\n"
              "           v_pack(&s, ids, table, packed));\n"
              "    printf(\"%d, \", v_in_blocks(&s, mask, packed, out, memory));\n}\n"
              "int main(void) {\n    say();\n    mask[3] = 2;\n    say();\n    mask[3] = 1;\n"
              "    ids[3] = 50;\n    say();\n    s.V = 51;\n    say();\n    return 0;\n}\n");
    const cli_result *r = cli_expect(0, "gcc -O1 -Wall -Werror use.c v.c -o use -lm && ./use");
    assert_string_equal(r->out, "0 0 0, 2 0 2, 2 2 0, 1 1 1, ");
    r = cli_expect(4, "./autotune apply --log v.log --fallback --force -o v.c");
    assert_non_null(strstr(r->err, "there are no plain loops for integers"));
}

/* Their templates, with any element-wise stages behind them. */
static void products_of_halves(void **state) {
    (void)state;
    static const char *const names[] = {"dense_f16", "dense_bf16+bias+relu"};
    static const char args[] = "M=13,N=48,K=36";
    for (int i = 0; i < 2; i++) {
        const cli_result *r = cli_expect(0,
                                         "./autotune %s --args %s " SOUND_TRIALS "8 "
                                         "--log d.log",
                                         names[i], args);
        if (strstr(r->err, "failed")) fail_msg("%s", r->err);
        cli_run("rm -f d.log");
        if (cli_run("command -v gcc")->status) continue;
        cli_expect(0,
                   "./autotune apply %s --args %s --config default --dialect c --main --force "
                   "-o k.c",
                   names[i], args);
        cli_expect(0, "gcc -O1 -o k k.c -lm && ./k");
    }
}

/* Floats of 16 bits come from floats, the nearest, or from their bits. */
static void arrays_of_halves(void **state) {
    (void)state;
    static const char run[] = "./autotune ./h.te --array x=x.npy --trials 1 --log h.log";
    for (int bf16 = 0; bf16 < 2; bf16++) {
        cli_write("h.te", bf16 ? "args M=12, N=40\nx[M, N] : input bf16\ny[m:M, n:N] = 2*x[m, n]\n"
                               : "args M=12, N=40\nx[M, N] : input f16\ny[m:M, n:N] = 2*x[m, n]\n");
        cli_write_array("x.npy", "<f2", 12, 40, "\0\x3c", 2);
        cli_expect(0, run);
        cli_write_array("x.npy", "<f4", 12, 40, "\0\0\x80\x3f", 4);
        cli_expect(0, run);
        cli_write_array("x.npy", "<u2", 12, 40, "\x80\x3f", 2);
        cli_expect(0, run);
        cli_write_array("x.npy", "<u2", 12, 40, "\x80\x7f", 2);
        cli_expect(4, run);
        cli_write_array("x.npy", "<f4", 12, 40, "\0\0\x80\x47", 4);
        cli_expect(bf16 ? 0 : 4, run);
        cli_run("rm -f h.log");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_bytes),    cmocka_unit_test(requantised),
        cmocka_unit_test(small_sets),       cmocka_unit_test(signed_outputs),
        cmocka_unit_test(channels_first),   cmocka_unit_test(bytes),
        cmocka_unit_test(constants),        cmocka_unit_test(bits),
        cmocka_unit_test(in_blocks),        cmocka_unit_test(dots),
        cmocka_unit_test(turned_round),     cmocka_unit_test(partial_sums_in_lanes),
        cmocka_unit_test(derived_parts),    cmocka_unit_test(derived_dots),
        cmocka_unit_test(halves),           cmocka_unit_test(refusals),
        cmocka_unit_test(sizes_of_stages),  cmocka_unit_test(arrays),
        cmocka_unit_test(words_and_masks),  cmocka_unit_test(refused_elements),
        cmocka_unit_test(refused_by_shape), cmocka_unit_test(products_of_halves),
        cmocka_unit_test(arrays_of_halves)};
    return cmocka_run_group_tests_name("cli/types", tests, cli_setup, cli_teardown);
}
