/* templates/conv2d_3x3_gemm.c: 3x3 convolution, NHWC, stride 1, pad 1, as im2col and GEMM.
 * Knobs and their order are those of AutoTVM's template of this name. */
#include "templates/template.h"

/* The texts keep their own lines. K runs over kh, kw, ci with ci fastest. */
/* clang-format off */
static const char compute[] =
    "data[N, H, W, CI] : input\n"
    "weight[X, K]      : weight\n"
    "im2col[y:Y, k:K]  = inside ? data[n, ih, iw, c] : 0\n"
    "    where {n, h:H, w:W} = y, {kh:3, kw:3, c:CI} = k,\n"
    "          ih = h + kh - 1, iw = w + kw - 1,\n"
    "          inside = 0 <= ih && ih < H && 0 <= iw && iw < W\n"
    "packw[p:X/B, k:K, b:B] = weight[p*B + b, k]\n"
    "acc[y:Y, x:X]     = sum(k:K) im2col[y, k] * packw[x/B, k, x%B]\n"
    "out[y:Y, x:X]     = acc[y, x]\n";

static const char schedule[] =
    "p, b, k =>\n"
    "    @packw = p, k, b\n"
    "yt, xt, yo =>\n"
    "    yi, k9, ci:vec =>\n"
    "        @im2col = {yt, yo, yi}/y, {k9, ci}/k\n"
    "    xo =>\n"
    "        ko, ki:unroll, yi:unroll, xi:vec =>\n"
    "            @acc = {yt, yo, yi}/y, {xt, xo, xi}/x  // {ko, ki}/k\n"
    "        yi:unroll, xi:vec =>\n"
    "            @out = {yt, yo, yi}/y, {xt, xo, xi}/x\n";
/* clang-format on */

/* Defaults: a register tile of at most 14 rows x 2 AVX-512 vectors, which comes within 2 % of the
 * FMA peak; xo wide, because im2col is computed again for every xt. */
static void define(at_template *t) {
    at_sizes(t, "Y = N*H*W, X = CO, K = 9*CI");
    at_split(t, "tile_y", "Y", "yt yo yi", .policy = AT_FACTORS, .fallback = {-1, 16, 14});
    at_split(t, "tile_x", "X", "xt xo xi", .policy = AT_FACTORS, .fallback = {-1, 8, 32});
    at_split(t, "tile_k", "K", "ko ki", .policy = AT_FACTORS, .fallback = {-1, 8});
    at_sizes(t, "B = |xi|, k9 = 9, ci = CI");
    at_compute(t, compute);
    at_schedule(t, schedule);
}

/* Where hardly anything divides the columns: more vectors than two; where nothing divides the rows,
 * more of these. */
static void defaults(at_template *t, int lanes) {
    long long x = at_evaluate(t, "X"), xi = at_vectors(x, lanes, 2);
    long long y = at_evaluate(t, "Y"), yi = at_vectors(y, 14, 1);
    long long parts[2] = {at_divisor(x / xi, 8), xi}, rows[2] = {at_divisor(y / yi, 16), yi};
    if (xi > 2 * lanes) at_default(t, "tile_x", parts);
    if (yi > 14) at_default(t, "tile_y", rows);
}

const at_template_row at_conv2d_3x3_gemm = {
    .name = "conv2d_3x3_gemm",
    .help = "3x3 convolution, NHWC, stride 1, pad 1, as im2col and GEMM",
    .args = "N=1, H=56, W=56, CI=64, CO=64",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}",
    .title = "conv3x3 {CI} to {CO} @{H}x{W}",
    .record_args = "[N, H, W, CI, CO, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
