/* templates/depthwise_conv2d_nhwc.c: depthwise convolution, channels last: data [N, H, W, C],
 * weight [KH, KW, C, M], packed ahead in blocks of output channels; channel c makes c*M to c*M +
 * M-1, which lie in one block. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, H, W, C] : input\n"
    "weight[KH, KW, C, M] : weight\n"
    "pad[n:N, y:H+pt+pb, x:W+pl+pr, c:C] = inside ? data[n, y - pt, x - pl, c] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n"
    "packw[p:F/B, kh:KH, kw:KW, b:B] = weight[kh, kw, f/M, f%M] where f = p*B + b\n"
    "acc[n:N, h:OH, w:OW, f:F] = sum(kh:KH, kw:KW)\n"
    "    pad[n, h*sh + kh*dh, w*sw + kw*dw, f/M] * packw[f/B, kh, kw, f%B]\n"
    "out[n:N, h:OH, w:OW, f:F] = acc[n, h, w, f]\n";

/* Rows of a tile share what they read of the image. Channels outermost read their weights once, rows
 * outermost their part of the image. */
static const char tree[] =
    "p, kh, kw, b =>\n"
    "    @packw = p, kh, kw, b\n"
    "%s =>\n"
    "    kh:ann(unroll_kh), kw:ann(unroll_kw), hi:unroll, wi:unroll, b:vec =>\n"
    "        @acc = n, {ho, hi}/h, {wo, wi}/w, {fo, b}/f  // kh, kw\n"
    "    hi:unroll, wi:unroll, b:vec =>\n"
    "        @out = n, {ho, hi}/h, {wo, wi}/w, {fo, b}/f\n";
/* clang-format on */

static void define(at_template *t) {
    const char *narrow = at_textf(t, "last <= %lld", at_evaluate(t, "max(128/M, 1)"));
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_split(t, "tile_c", "C", "fo fi", .policy = AT_FACTORS, .filter = narrow);
    at_split(t, "tile_h", "OH", "ho hi", .policy = AT_VERBOSE, .filter = "last <= 4");
    at_split(t, "tile_w", "OW", "wo wi", .policy = AT_VERBOSE, .filter = "last <= 32");
    at_option(t, "unroll_kh", "[true, false]", 0);
    at_option(t, "unroll_kw", "[true, false]", 0);
    at_option(t, "rows_first", "[true, false]", 0);
    at_sizes(t, "F = C*M, B = |fi|*M, b = B");
    at_compute(t, compute);
    at_schedule_when(t, "rows_first", at_textf(t, tree, "{n, ho}:para, wo, fo"));
    at_schedule(t, at_textf(t, tree, "{n, fo, ho}:para, wo"));
}

static void defaults(at_template *t, int lanes) {
    long long m = at_evaluate(t, "M"), channels = m < 2 * lanes ? 2 * lanes / m : 1;
    long long c = at_evaluate(t, "C"), fi = at_divisor(c, channels), hi = 1;
    long long wide = at_vectors(c, lanes, 2), wi = lanes == 16 ? 8 : 4;
    if (m == 1 && wide > fi && wide <= 128) fi = wide, wi = 4; /* prime */
    wi = at_fitting_rows(at_evaluate(t, "OW"), wi);
    at_default(t, "tile_c", &fi);
    at_default(t, "tile_h", &hi);
    at_default(t, "tile_w", &wi);
}

const at_template_row at_depthwise_conv2d_nhwc = {
    .name = "depthwise_conv2d_nhwc",
    .help = "depthwise convolution, channels last, any kernel, stride, dilation and multiplier",
    .args = "N=1, H=112, W=112, C=32, KH=3, KW=3, M=1, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1",
    .sizes = "{N}x{H}x{W}x{C}_{KH}x{KW}",
    .title = "depthwise{KH}x{KW} {C} @{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, H, W, C], \"float32\"], "
                   "[\"TENSOR\", [KH, KW, C, M], \"float32\"], "
                   "strides, padding, dilation, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
