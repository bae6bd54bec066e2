/* templates/depthwise_conv2d_nhwc.c: depthwise convolution, channels last: data [N, H, W, C],
 * weight [KH, KW, C, M], packed ahead in blocks of output channels; channel c makes c*M to c*M +
 * M-1. */
#include "templates/template.h"

/* clang-format off */
#define IMAGE                                                                                      \
    "data[N, H, W, C] : input\n"                                                                   \
    "weight[KH, KW, C, M] : weight\n"                                                              \
    "pad[n:N, y:H+pt+pb, x:W+pl+pr, c:C] = inside ? data[n, y - pt, x - pl, c] : 0\n"              \
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n"

static const char compute[] = IMAGE
    "packw[p:C/B, kh:KH, kw:KW, b:B] = weight[kh, kw, p*B + b, 0]\n"
    "acc[n:N, h:OH, w:OW, f:C] = sum(kh:KH, kw:KW)\n"
    "    pad[n, h*sh + kh*dh, w*sw + kw*dw, f] * packw[f/B, kh, kw, f%B]\n"
    "out[n:N, h:OH, w:OW, f:C] = acc[n, h, w, f]\n";

/* Rows of a tile share what they read of the image. Channels outermost read their weights once, rows
 * outermost their part of the image. */
static const char tree[] =
    "p, kh, kw, b =>\n"
    "    @packw = p, kh, kw, b\n"
    "%s =>\n"
    "    kh:ann(unroll_kh), kw:ann(unroll_kw), hi:unroll, wi:unroll, fi:vec =>\n"
    "        @acc = n, {ho, hi}/h, {wo, wi}/w, {fo, fi}/f  // kh, kw\n"
    "    hi:unroll, wi:unroll, fi:vec =>\n"
    "        @out = n, {ho, hi}/h, {wo, wi}/w, {fo, fi}/f\n";

/* Several outputs per channel: a vector is of channels, which lie side by side, and goes to the
 * output turned round, four by four where there are as many. */
static const char several_compute[] = IMAGE
    "packw[p:C/B, kh:KH, kw:KW, m:M, b:B] = weight[kh, kw, p*B + b, m]\n"
    "acc[n:N, h:OH, w:OW, m:M, c:C] = sum(kh:KH, kw:KW)\n"
    "    pad[n, h*sh + kh*dh, w*sw + kw*dw, c] * packw[c/B, kh, kw, m, c%B]\n"
    "out[n:N, h:OH, w:OW, f:C*M] = acc[n, h, w, f%M, f/M]\n";

static const char several_tree[] =
    "p, kh, kw, mi, b =>\n"
    "    @packw = p, kh, kw, mi, b\n"
    "%s =>\n"
    "    kh:ann(unroll_kh), kw:ann(unroll_kw), hi:unroll, wi:unroll, mi:unroll, fi:vec =>\n"
    "        @acc = n, {ho, hi}/h, {wo, wi}/w, mi, {fo, fi}/c  // kh, kw\n"
    "    hi:unroll, wi:unroll, fi:unroll, mi:%s =>\n"
    "        @out = n, {ho, hi}/h, {wo, wi}/w, {fo, fi, mi}/f\n";
/* clang-format on */

static void define(at_template *t) {
    int several = at_evaluate(t, "M") > 1;
    const char *of = several ? several_tree : tree;
    const char *mi = at_evaluate(t, "M%4") ? "unroll" : "vec";
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_split(t, "tile_c", "C", "fo fi", .policy = AT_FACTORS, .filter = "last <= 128");
    at_split(t, "tile_h", "OH", "ho hi", .policy = AT_VERBOSE, .filter = "last <= 4");
    at_split(t, "tile_w", "OW", "wo wi", .policy = AT_VERBOSE, .filter = "last <= 32");
    at_option(t, "unroll_kh", "[true, false]", 0);
    at_option(t, "unroll_kw", "[true, false]", 0);
    at_option(t, "rows_first", "[true, false]", 0);
    at_sizes(t, "B = |fi|, mi = M");
    at_compute(t, several ? several_compute : compute);
    at_schedule_when(t, "rows_first", at_textf(t, of, "{n, ho}:para, wo, fo", mi));
    at_schedule(t, at_textf(t, of, "{n, fo, ho}:para, wo", mi));
}

static void defaults(at_template *t, int lanes) {
    long long fi = at_divisor(at_evaluate(t, "C"), 2 * lanes), hi = 1;
    long long rows = (lanes == 16 ? 8 : 4) / at_evaluate(t, "M");
    long long wi = at_divisor(at_evaluate(t, "OW"), rows > 1 ? rows : 1);
    at_default(t, "tile_c", &fi);
    at_default(t, "tile_h", &hi);
    at_default(t, "tile_w", &wi);
}

const at_template_row at_depthwise_conv2d_nhwc = {
    .name = "depthwise_conv2d_nhwc",
    .help = "depthwise convolution, channels last, any kernel, stride, dilation and multiplier",
    .args = "N=1, H=112, W=112, C=32, KH=3, KW=3, M=1, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1",
    .record_args = "[[\"TENSOR\", [N, H, W, C], \"float32\"], "
                   "[\"TENSOR\", [KH, KW, C, M], \"float32\"], "
                   "strides, padding, dilation, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
