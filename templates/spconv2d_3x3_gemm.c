/* templates/spconv2d_3x3_gemm.c: conv2d_3x3_gemm with a block-sparse weight: rows are output
 * channels, columns (kh, kw, ci). Knobs, order and defaults are those of AutoTVM's template. And
 * spconv2d_nhwc, the same for any kernel, stride, padding and dilation. */
#include "templates/template.h"

/* clang-format off */
#define TENSORS \
    "data[N, H, W, CI] : input\n" \
    "blocks[nnz, R, C] : weight\n" \
    "indices[nnz]      : index\n" \
    "indptr[X/R + 1]   : index\n"
/* strip: the picture with its padding, in pieces of RH rows and CW columns of the output. */
#define PADDED \
    "inside ? data[n, h, w, c] : 0\n" \
    "    where y0 = t*(RH*CW), n = y0/(H*W),\n" \
    "          h = y0/W %% H + r - 1, w = y0 %% W + q - 1,\n" \
    "          inside = 0 <= h && h < H && 0 <= w && w < W\n"
#define DIGITS \
    "    where {t, h:RH, w:CW} = y, {kh:3, kw:3, c:CI} = k\n"

/* The same of any convolution. */
#define PADDED_ANY \
    "inside ? data[n, h, w, c] : 0\n" \
    "    where y0 = t*(RH*CW), n = y0/(OH*OW),\n" \
    "          h = y0/OW %% OH*sh + r - pt, w = y0 %% OW*sw + q - pl,\n" \
    "          inside = 0 <= h && h < H && 0 <= w && w < W\n"
#define DIGITS_ANY \
    "    where {t, h:RH, w:CW} = y, {kh:KH, kw:KW, c:CI} = k\n"

/* A vector is the rows of a block. */
static const char rows_3x3[] =
    TENSORS
    "strip[t:Y/(RH*CW), r:RH + 2, q:CW + 2, c:CI] = " PADDED
    "im2col[y:Y, k:K]  = strip[t, h + kh, w + kw, c]\n" DIGITS;
static const char rows_any[] =
    TENSORS
    "strip[t:Y/(RH*CW), r:(RH - 1)*sh + eh, q:(CW - 1)*sw + ew, c:CI] = " PADDED_ANY
    "im2col[y:Y, k:K]  = strip[t, h*sh + kh*dh, w*sw + kw*dw, c]\n" DIGITS_ANY;

/* %s: those; a further stage, and what is read of the blocks. */
static const char rows_compute[] =
    "%s"
    "%s"
    "cc[y:Y, xr:X/R, r:R, c:C] = sum(e : indptr[xr] .. indptr[xr+1])\n"
    "    im2col[y, indices[e]*C + c] * %s\n"
    "out[y:Y, x:X]     = sum(c:C) cc[y, x/R, x%%R, c]\n";

/* Blocks of several columns lie turned round in memory, so that rows are a vector. */
static const char turn[] = "turned[e:nnz, c:C, r:R] = blocks[e, r, c]\n";
static const char turn_tree[] =
    "e, c, r =>\n"
    "    @turned = e, c, r\n";

/* %s: that of turned blocks. */
static const char rows_copied[] =
    "%s"
    "yt, xt, yo =>\n"
    "    yi, k9, ci:vec =>\n"
    "        @im2col = {yt, yo, yi}/y, {k9, ci}/k\n"
    "    xo =>\n"
    "        x1:1, ko:dyn(xr), yi:unroll, xi:vec, ki:unroll =>\n"
    "            @cc = {yt, yo, yi}/y, {xt, xo, x1}/xr, xi, ki  // ko\n"
    "        yi:unroll, xi:vec, ki:unroll =>\n"
    "            @out = {yt, yo, yi}/y, {xt, xo, xi}/x  // ki\n";

static const char rows_in_place[] =
    "%s"
    "yt =>\n"
    "    r, q, c:vec =>\n"
    "        @strip = yt, r, q, c\n"
    "    xt, yo, xo =>\n"
    "        x1:1, ko:dyn(xr), yi:unroll, xi:vec, ki:unroll =>\n"
    "            @cc = {yt, yo, yi}/y, {xt, xo, x1}/xr, xi, ki  // ko\n"
    "        yi:unroll, xi:vec, ki:unroll =>\n"
    "            @out = {yt, yo, yi}/y, {xt, xo, xi}/x  // ki\n";

/* Blocks of few rows would fill a part of a vector only: there a vector is pixels, and sums are
 * turned round on their way to the output. */
static const char pixels_3x3[] =
    TENSORS
    "strip[t:Y/(RH*CW), r:RH + 2, c:CI, q:CW + 2] = " PADDED
    "im2col[k:K, y:Y]  = strip[t, h + kh, c, w + kw]\n" DIGITS;
/* Pixels that a vector reads lie side by side, a stride's phases apart. */
static const char pixels_any[] =
    TENSORS
    "strip[t:Y/(RH*CW), r:(RH - 1)*sh + eh, c:CI, p:sw, q:CW + (ew - 1)/sw] = "
    "inside ? data[n, h, w, c] : 0\n"
    "    where y0 = t*(RH*CW), n = y0/(OH*OW),\n"
    "          h = y0/OW %% OH*sh + r - pt, w = y0 %% OW*sw + q*sw + p - pl,\n"
    "          inside = 0 <= h && h < H && 0 <= w && w < W\n"
    "im2col[k:K, y:Y]  = strip[t, h*sh + kh*dh, c, kw*dw %% sw, w + kw*dw/sw]\n" DIGITS_ANY;

/* %s: those. */
static const char pixels_compute[] =
    "%s"
    "cc[xr:X/R, r:R, y:Y] = sum(e : indptr[xr] .. indptr[xr+1], c:C)\n"
    "    im2col[indices[e]*C + c, y] * blocks[e, r, c]\n"
    "out[y:Y, x:X]     = cc[x/R, x%%R, y]\n";

static const char pixels_copied[] =
    "yt, xt, yo =>\n"
    "    k9, yi, ci =>\n"
    "        @im2col = {k9, ci}/k, {yt, yo, yi}/y\n"
    "    xo =>\n"
    "        x1:1, ko:dyn(xr), ki:unroll, xi:unroll, yi:vec =>\n"
    "            @cc = {xt, xo, x1}/xr, xi, {yt, yo, yi}/y  // ko, ki\n"
    "    yi, {xo, xi} =>\n"
    "        @out = {yt, yo, yi}/y, {xt, xo, xi}/x\n";

/* %s: the loops of the strip, and its leaf. */
static const char pixels_in_place[] =
    "yt =>\n"
    "    %s =>\n"
    "        @strip = yt, r, c, %sq\n"
    "    xt, yo =>\n"
    "        xo =>\n"
    "            x1:1, ko:dyn(xr), ki:unroll, xi:unroll, yi:vec =>\n"
    "                @cc = {xt, xo, x1}/xr, xi, {yt, yo, yi}/y  // ko, ki\n"
    "        yi, {xo, xi} =>\n"
    "            @out = {yt, yo, yi}/y, {xt, xo, xi}/x\n";
/* clang-format on */

/* 3x3, stride 1, padding 1: as AutoTVM has it; or any. */
static void by_rows(at_template *t, int any) {
    int turned = at_evaluate(t, "C > 1 && nnz > 0") != 0;
    const char *tree = turned ? turn_tree : "";
    at_compute(t, at_textf(t, rows_compute, at_textf(t, any ? rows_any : rows_3x3),
                           turned ? turn : "", turned ? "turned[e, c, r]" : "blocks[e, r, c]"));
    at_schedule_when(t, "strips", at_textf(t, rows_in_place, tree));
    at_schedule(t, at_textf(t, rows_copied, tree));
}

static void by_pixels(at_template *t, int any) {
    at_compute(t, at_textf(t, pixels_compute, at_textf(t, any ? pixels_any : pixels_3x3)));
    at_schedule_when(
        t, "strips",
        at_textf(t, pixels_in_place, any ? "r, q, p, c" : "r, q, c", any ? "p, " : ""));
    at_schedule(t, pixels_copied);
}

static void define(at_template *t) {
    at_require(t, "CO % R == 0", "R does not divide CO");
    at_require(t, "9*CI % C == 0", "C does not divide 9*CI");
    at_require(t, "nnz <= CO/R * (9*CI/C)", "nnz exceeds the number of blocks");
    at_sizes(t, "Y = N*H*W, X = CO, K = 9*CI");
    at_split(t, "tile_y", "Y", "yt yo yi", .policy = AT_FACTORS, .fallback = {-1, 160, 8});
    at_split(t, "tile_x", "X/R", "xt xo", .policy = AT_FACTORS, .fallback = {-1, 4});
    at_sizes(t, "k9 = 9, ci = CI, xi = R, ki = C");
    /* A strip is the rows of a yt if they are rows of one picture or a part of one row, and if yi
     * does not cross from one row to the next in the middle. Short rows of many channels are
     * faster copied (512 channels at 7x7: by a tenth). */
    at_sizes(t, "rows = |yo|*|yi|, even = W % |yi| == 0 || |yi| % W == 0");
    at_sizes(t,
             "strips = W >= 14 && even && (W % rows == 0 || (rows % W == 0 && H % (rows/W) == 0))");
    at_sizes(t, "CW = strips ? min(rows, W) : W, RH = strips ? rows/CW : 1");
    if (at_evaluate(t, "R < 16") != 0) by_pixels(t, 0);
    else by_rows(t, 0);
    at_sparse(t, "blocks", "indices", "indptr", "K/C");
    at_flops(t, "2*Y*nnz*R*C");
}

static void define_any(at_template *t) {
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_require(t, "CO % R == 0", "R does not divide CO");
    at_require(t, "KH*KW*CI % C == 0", "C does not divide KH*KW*CI");
    at_require(t, "nnz <= CO/R * (KH*KW*CI/C)", "nnz exceeds the number of blocks");
    at_sizes(t, "eh = (KH - 1)*dh + 1, ew = (KW - 1)*dw + 1");
    at_sizes(t, "Y = N*OH*OW, X = CO, K = KH*KW*CI");
    at_split(t, "tile_y", "Y", "yt yo yi", .policy = AT_FACTORS, .fallback = {-1, 160, 8});
    at_split(t, "tile_x", "X/R", "xt xo", .policy = AT_FACTORS, .fallback = {-1, 4});
    at_sizes(t, "k9 = KH*KW, ci = CI, xi = R, ki = C");
    at_sizes(t, "rows = |yo|*|yi|, even = OW % |yi| == 0 || |yi| % OW == 0");
    at_sizes(t, "strips = OW >= 14 && even &&"
                "         (OW % rows == 0 || (rows % OW == 0 && OH % (rows/OW) == 0))");
    at_sizes(t, "CW = strips ? min(rows, OW) : OW, RH = strips ? rows/CW : 1");
    if (at_evaluate(t, "R < 16") != 0) by_pixels(t, 1);
    else by_rows(t, 1);
    at_sparse(t, "blocks", "indices", "indptr", "K/C");
    at_flops(t, "2*Y*nnz*R*C");
}

/* Where nothing divides the pixels, a row of them. */
static void defaults(at_template *t, const char *width) {
    long long y = at_evaluate(t, "Y"), yi = at_vectors(at_evaluate(t, width), 8, 1);
    long long rows[2] = {at_divisor(y / yi, 160), yi};
    if (2 * at_divisor(y, 8) < 8 && yi > 8) at_default(t, "tile_y", rows);
}

static void defaults_3x3(at_template *t, int lanes) {
    (void)lanes;
    defaults(t, "W");
}

static void defaults_any(at_template *t, int lanes) {
    (void)lanes;
    defaults(t, "OW");
}

const at_template_row at_spconv2d_3x3_gemm = {
    .name = "spconv2d_3x3_gemm",
    .help = "3x3 convolution, NHWC, stride 1, pad 1, with a block-sparse weight",
    .args = "N=1, H=56, W=56, CI=64, CO=64, nnz=1 from 0, R=16, C=1",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}",
    .title = "sparse conv3x3 {CI} to {CO} @{H}x{W}",
    .record_args = "[N, H, W, CI, CO, nnz, R, C] | [N, H, W, CI, CO, nnz, R, C, \"float32\"]",
    .define = define,
    .defaults = defaults_3x3,
};

const at_template_row at_spconv2d_nhwc = {
    .name = "spconv2d_nhwc",
    .help = "convolution with a block-sparse weight, any kernel, stride, padding and dilation",
    .args = "N=1, H=56, W=56, CI=64, CO=64, KH=3, KW=3, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1, nnz=1 from 0, R=16, "
            "C=1",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}_{KH}x{KW}",
    .title = "sparse conv{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, H, W, CI], \"float32\"], CO, KH, KW, strides, padding, "
                   "dilation, nnz, R, C, \"float32\"]",
    .define = define_any,
    .defaults = defaults_any,
};
