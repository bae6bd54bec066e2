/* templates/indirect_conv2d_nhwc.c: direct convolution by a list of rows, channels last. The
 * caller's list says, for each pixel of the output and each element of the kernel, which pixel of
 * the data is multiplied; where padding is, that is a row of zeros behind the picture. Nothing is
 * copied, and no condition is left: any stride, padding and dilation, or any other choice of
 * pixels, is the same kernel. A tile sums up all products of its rows, a batch of small products at
 * a time. Sources: M. Dukhan, arXiv 1907.02129 (indirection); E. Georganas and others, arXiv
 * 1906.06440 (batch-reduce). */
#include "templates/template.h"

/* clang-format off */
/* %s: pixels and a row of zeros, as the caller has them or as they are copied. */
static const char compute[] =
    "data[%s, CI] : input\n"
    "rows[Y, T] : index\n"
    "weight[KH, KW, CI, CO] : weight\n"
    "packw[p:CO/B, t:T, c:CI, b:B] = weight[t/KW, t%%KW, c, p*B + b]\n"
    "%s"
    "acc[y:Y, x:CO] = sum(t:T, c:CI) %s[rows[y, t], c] * packw[x/B, t, c, x%%B]\n"
    "out[y:Y, x:CO] = acc[y, x]\n";

static const char copy[] = "padded[r:R, c:CI] = r < P ? data[r, c] : 0\n";

static const char tree[] =
    "p, t, c, b =>\n"
    "    @packw = p, t, c, b\n"
    "%s"
    "{fo, yo}:para =>\n"
    "    t, co, ci:unroll, yi:unroll, fi:vec =>\n"
    "        @acc = {yo, yi}/y, {fo, fi}/x  // t, {co, ci}/c\n"
    "    yi:unroll, fi:vec =>\n"
    "        @out = {yo, yi}/y, {fo, fi}/x\n";

static const char tree_of_copy[] =
    "r:para, c:vec =>\n"
    "    @padded = r, c\n";
/* clang-format on */

/* A tile has a pointer for each of its rows, and there are 16 registers for all. */
static void define(at_template *t) {
    at_sizes(t, "eh = (KH-1)*dh + 1, ew = (KW-1)*dw + 1,"
                "pt = top < 0 ? eh/2 : top, pl = left < 0 ? ew/2 : left,"
                "pb = bottom < 0 ? (eh-1)/2 : bottom, pr = right < 0 ? (ew-1)/2 : right");
    at_require(t, "H + pt + pb >= eh && W + pl + pr >= ew", "the kernel exceeds the padded image");
    at_sizes(t, "OH = (H + pt + pb - eh)/sh + 1, OW = (W + pl + pr - ew)/sw + 1,"
                "Y = N*OH*OW, T = KH*KW, P = N*H*W, R = P + (pt || pl || pb || pr ? 1 : 0)");
    at_require(t, "copy <= 1 && (!copy || R > P)", "copy is 0 or 1, and 0 without padding");
    at_split(t, "tile_y", "Y", "yo yi", .policy = AT_LISTED, .listed = "1 2 3 4 5 6 7 8",
             .fallback = {-1, 7});
    at_split(t, "tile_co", "CO", "fo fi", .policy = AT_FACTORS);
    at_split(t, "tile_ci", "CI", "co ci", .policy = AT_FACTORS, .max_factor = 16);
    at_sizes(t, "B = |fi|");
    int copies = (int)at_evaluate(t, "copy && R > P");
    at_compute(t, at_textf(t, compute, copies ? "P" : "R", copies ? copy : "",
                           copies ? "padded" : "data"));
    at_schedule(t, at_textf(t, tree, copies ? tree_of_copy : ""));
}

/* Two vectors of output channels, or more of them beside fewer rows. */
static void defaults(at_template *t, int lanes) {
    long long fi = at_vectors(at_evaluate(t, "CO"), lanes, 2), ci = 1;
    long long yi = at_most_rows(fi, lanes), most = lanes == 16 ? 7 : 6;
    if (yi > most) yi = most;
    if (yi > at_evaluate(t, "Y")) yi = at_evaluate(t, "Y");
    at_default(t, "tile_y", &yi);
    at_default(t, "tile_co", &fi);
    at_default(t, "tile_ci", &ci);
}

const at_template_row at_indirect_conv2d_nhwc = {
    .name = "indirect_conv2d_nhwc",
    .help = "direct convolution by a list of rows, channels last, without copies or conditions",
    .args = "N=1, H=56, W=56, CI=64, CO=64, KH=3, KW=3, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1, copy=0 from 0",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}_{KH}x{KW}",
    .title = "conv{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, H, W, CI], \"float32\"], "
                   "[\"TENSOR\", [KH, KW, CI, CO], \"float32\"], strides, padding, dilation, "
                   "\"float32\"] with copy=0 | "
                   "[[\"TENSOR\", [N, H, W, CI], \"float32\"], "
                   "[\"TENSOR\", [KH, KW, CI, CO], \"float32\"], strides, padding, dilation, "
                   "\"float32\", copy]",
    .define = define,
    .defaults = defaults,
};
