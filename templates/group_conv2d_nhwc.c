/* templates/group_conv2d_nhwc.c: grouped convolution, channels last: data [N, H, W, CI], weight
 * [KH, KW, CI/G, CO], packed ahead in blocks of the output channels of a group. Of narrow groups it
 * leaves the loops to the rules. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, H, W, CI] : input\n"
    "weight[KH, KW, I, CO] : weight\n"
    "pad[n:N, y:H+pt+pb, x:W+pl+pr, c:CI] = inside ? data[n, y - pt, x - pl, c] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n"
    "packw[p:CO/B, kh:KH, kw:KW, c:I, b:B] = weight[kh, kw, c, p*B + b]\n"
    "acc[n:N, h:OH, w:OW, f:CO] = sum(kh:KH, kw:KW, c:I)\n"
    "    pad[n, h*sh + kh*dh, w*sw + kw*dw, f/O*I + c] * packw[f/B, kh, kw, c, f%B]\n"
    "out[n:N, h:OH, w:OW, f:CO] = acc[n, h, w, f]\n";

/* Of groups as narrow as the shortest register: the rules have lanes go through several groups. */
static const char narrow[] =
    "data[N, H, W, CI] : input\n"
    "weight[KH, KW, I, CO] : weight\n"
    "pad[n:N, y:H+pt+pb, x:W+pl+pr, c:CI] = inside ? data[n, y - pt, x - pl, c] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n"
    "acc[n:N, h:OH, w:OW, f:CO] = sum(kh:KH, kw:KW, c:I)\n"
    "    pad[n, h*sh + kh*dh, w*sw + kw*dw, f/O*I + c] * weight[kh, kw, c, f]\n"
    "out[n:N, h:OH, w:OW, f:CO] = acc[n, h, w, f]\n";

/* Channels outermost read their weights once, rows outermost their part of the image. kw innermost
 * where it is unrolled. */
static const char tree[] =
    "p, kh, kw, c, b =>\n"
    "    @packw = p, kh, kw, c, b\n"
    "%s =>\n"
    "    co, kh, %s, hi:unroll, wi:unroll, fi:vec =>\n"
    "        @acc = n, {ho, hi}/h, {wo, wi}/w, {g, fo, fi}/f  // kh, kw, {co, ci}/c\n"
    "    hi:unroll, wi:unroll, fi:vec =>\n"
    "        @out = n, {ho, hi}/h, {wo, wi}/w, {g, fo, fi}/f\n";
/* clang-format on */

static void define(at_template *t) {
    at_require(t, "CI % G == 0", "G does not divide CI");
    at_require(t, "CO % G == 0", "G does not divide CO");
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_sizes(t, "I = CI/G, O = CO/G, g = G");
    if (at_evaluate(t, "O == 4 && I <= 8")) {
        at_compute(t, narrow);
        return;
    }
    at_split(t, "tile_oc", "O", "fo fi", .policy = AT_FACTORS);
    at_split(t, "tile_ic", "I", "co ci", .policy = AT_FACTORS);
    at_split(t, "tile_oh", "OH", "ho hi", .policy = AT_VERBOSE, .filter = "last <= 4");
    at_split(t, "tile_ow", "OW", "wo wi", .policy = AT_VERBOSE, .filter = "last <= 64");
    at_option(t, "unroll_kw", "[true, false]", 1);
    at_option(t, "rows_first", "[true, false]", 1);
    at_sizes(t, "B = |fi|");
    at_compute(t, compute);
    for (int rows = 1; rows >= 0; rows--)
        for (int kw = 1; kw >= 0; kw--)
            at_schedule_when(t, at_textf(t, "rows_first == %d && unroll_kw == %d", rows, kw),
                             at_textf(t, tree,
                                      rows ? "{n, ho}:para, wo, g, fo" : "{n, g, fo, ho}:para, wo",
                                      kw ? "ci, kw:unroll" : "kw, ci"));
}

/* Two vectors of output channels and as many pixels as then fit the registers. */
static void defaults(at_template *t, int lanes) {
    long long fi = at_vectors(at_evaluate(t, "O"), lanes, 2), hi = 1;
    long long ci = at_divisor(at_evaluate(t, "I"), 64);
    long long wi = at_fitting_rows(at_evaluate(t, "OW"), at_most_rows(fi, lanes));
    at_default(t, "tile_oc", &fi);
    at_default(t, "tile_ic", &ci);
    at_default(t, "tile_oh", &hi);
    at_default(t, "tile_ow", &wi);
}

const at_template_row at_group_conv2d_nhwc = {
    .name = "group_conv2d_nhwc",
    .help = "grouped convolution, channels last, any kernel, stride, padding and dilation",
    .args = "N=1, H=56, W=56, CI=64, CO=128, KH=3, KW=3, strides(sh, sw)=2, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1, G=4",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}_{KH}x{KW}",
    .title = "conv{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, H, W, CI], \"float32\"], "
                   "[\"TENSOR\", [KH, KW, CI/G, CO], \"float32\"], "
                   "strides, padding, dilation, G, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
