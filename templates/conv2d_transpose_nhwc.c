/* templates/conv2d_transpose_nhwc.c: transposed convolution, channels last: data [N, H, W, CI],
 * weight [KH, KW, CI, CO], packed ahead in blocks of output channels. Data element (y, x) times tap
 * (kh, kw) adds to output (y*sh + kh - top, x*sw + kw - left). Of an output row only every sh-th
 * tap meets data, beginning with (h + top) % sh; so the taps of rows sh apart are the same, and
 * nothing is multiplied by the zeros between data elements. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, H, W, CI] : input\n"
    "weight[KH, KW, CI, CO] : weight\n"
    "packw[p:CO/B, kh:TH*sh, kw:TW*sw, c:CI, b:B] =\n"
    "    kh < KH && kw < KW ? weight[kh, kw, c, p*B + b] : 0\n"
    "acc[n:N, h:OH, w:OW, f:CO] = sum(th:TH, tw:TW, c:CI)\n"
    "    inside ? data[n, y, x, c] * packw[f/B, (h + top)%sh + th*sh, (w + left)%sw + tw*sw, c, f%B]\n"
    "           : 0\n"
    "    where y = (h + top)/sh - th, x = (w + left)/sw - tw,\n"
    "          inside = 0 <= y && y < H && 0 <= x && x < W\n"
    "out[n:N, h:OH, w:OW, f:CO] = acc[n, h, w, f]\n";

/* Pixels of a tile lie sw apart. */
static const char tree[] =
    "p, kh, kw, c, b =>\n"
    "    @packw = p, kh, kw, c, b\n"
    "{n, fo, ho}:para, hr:unroll, wr:unroll, wo =>\n"
    "    co, th, %s, wi:unroll, fi:vec =>\n"
    "        @acc = n, {ho, hr}/h, {wo, wi, wr}/w, {fo, fi}/f  // th, tw, {co, ci}/c\n"
    "    wi:unroll, fi:vec =>\n"
    "        @out = n, {ho, hr}/h, {wo, wi, wr}/w, {fo, fi}/f\n";
/* clang-format on */

static void define(at_template *t) {
    at_sizes(t, "OH = (H-1)*sh - top - bottom + KH + oh, OW = (W-1)*sw - left - right + KW + ow,"
                "TH = (KH + sh-1)/sh, TW = (KW + sw-1)/sw");
    at_require(t, "OH >= 1 && OW >= 1", "the padding leaves no output");
    at_sizes(t, "QH = (OH + sh-1)/sh, QW = (OW + sw-1)/sw, ho = QH, hr = sh, wr = sw");
    at_split(t, "tile_ow", "QW", "wo wi", .policy = AT_FACTORS, .filter = "last <= 64");
    at_split(t, "tile_oc", "CO", "fo fi", .policy = AT_FACTORS);
    at_split(t, "tile_ic", "CI", "co ci", .policy = AT_FACTORS);
    at_option(t, "unroll_tw", "[true, false]", 1);
    at_sizes(t, "B = |fi|");
    at_compute(t, compute);
    at_schedule_when(t, "unroll_tw", at_textf(t, tree, "ci, tw:unroll"));
    at_schedule(t, at_textf(t, tree, "tw, ci"));
}

/* Two vectors of output channels and as many pixels as then fit the registers. */
static void defaults(at_template *t, int lanes) {
    long long fi = at_vectors(at_evaluate(t, "CO"), lanes, 2);
    long long ci = at_divisor(at_evaluate(t, "CI"), 64);
    long long wi = at_divisor(at_evaluate(t, "QW"), at_most_rows(fi, lanes));
    at_default(t, "tile_oc", &fi);
    at_default(t, "tile_ic", &ci);
    at_default(t, "tile_ow", &wi);
}

const at_template_row at_conv2d_transpose_nhwc = {
    .name = "conv2d_transpose_nhwc",
    .help = "transposed convolution, channels last, any kernel, stride and padding",
    .args = "N=1, H=4, W=4, CI=512, CO=256, KH=4, KW=4, strides(sh, sw)=2, "
            "padding(top, left, bottom, right)=1 from 0, output_padding(oh, ow)=0 from 0",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}_{KH}x{KW}",
    .title = "deconv{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, H, W, CI], \"float32\"], "
                   "[\"TENSOR\", [KH, KW, CI, CO], \"float32\"], "
                   "strides, padding, \"float32\", output_padding]",
    .define = define,
    .defaults = defaults,
};
