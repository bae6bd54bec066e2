/* templates/conv2d_capsule_nhwijc.c: convolution of capsules, pixels that hold a CS x CS matrix per
 * channel, which is multiplied by that of the weight: data [N, H, W, CS, CS, CI], weight
 * [KH, KW, CS, CS, CI, CO], packed ahead in blocks of output channels. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, H, W, CS, CS, CI] : input\n"
    "weight[KH, KW, CS, CS, CI, CO] : weight\n"
    "pad[n:N, y:H+pt+pb, x:W+pl+pr, i:CS, k:CS, c:CI] = inside ? data[n, y - pt, x - pl, i, k, c] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n"
    "packw[j:CS, p:CO/B, kh:KH, kw:KW, k:CS, c:CI, b:B] = weight[kh, kw, k, j, c, p*B + b]\n"
    "acc[n:N, h:OH, w:OW, i:CS, j:CS, f:CO] = sum(kh:KH, kw:KW, k:CS, c:CI)\n"
    "    pad[n, h*sh + kh, w*sw + kw, i, k, c] * packw[j, f/B, kh, kw, k, c, f%B]\n"
    "out[n:N, h:OH, w:OW, i:CS, j:CS, f:CO] = acc[n, h, w, i, j, f]\n";

/* The rows of a tile's matrices share the weight. */
static const char tree[] =
    "j, p, kh, kw, k, c, b =>\n"
    "    @packw = j, p, kh, kw, k, c, b\n"
    "{n, j, fo, h}:para, wo =>\n"
    "    kh, %s, wi:unroll, i:unroll, fi:vec =>\n"
    "        @acc = n, h, {wo, wi}/w, i, j, {fo, fi}/f  // kh, kw, k, {co, ci}/c\n"
    "    wi:unroll, i:unroll, fi:vec =>\n"
    "        @out = n, h, {wo, wi}/w, i, j, {fo, fi}/f\n";
/* clang-format on */

static void define(at_template *t) {
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "1", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "1", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_split(t, "tile_ow", "OW", "wo wi", .policy = AT_VERBOSE, .filter = "last <= 16");
    at_split(t, "tile_oc", "CO", "fo fi", .policy = AT_FACTORS);
    at_split(t, "tile_ic", "CI", "co ci", .policy = AT_FACTORS);
    at_option(t, "unroll_kw", "[true, false]", 1);
    at_sizes(t, "B = |fi|");
    at_compute(t, compute);
    at_schedule_when(t, "unroll_kw", at_textf(t, tree, "k, co, ci, kw:unroll"));
    at_schedule(t, at_textf(t, tree, "kw, k, co, ci"));
}

/* Two vectors of output channels and as many matrices as then fit the registers. */
static void defaults(at_template *t, int lanes) {
    long long fi = at_vectors(at_evaluate(t, "CO"), lanes, 2);
    long long ci = at_divisor(at_evaluate(t, "CI"), 64);
    long long rows = at_most_rows(fi, lanes) / at_evaluate(t, "CS");
    long long wi = at_fitting_rows(at_evaluate(t, "OW"), rows > 1 ? rows : 1);
    at_default(t, "tile_oc", &fi);
    at_default(t, "tile_ic", &ci);
    at_default(t, "tile_ow", &wi);
}

const at_template_row at_conv2d_capsule_nhwijc = {
    .name = "conv2d_capsule_nhwijc",
    .help = "convolution of capsules: of pixels that hold a matrix per channel",
    .args = "N=1, H=16, W=16, CI=32, CO=32, KH=3, KW=3, strides(sh, sw)=2, "
            "padding(top, left, bottom, right)=1 from 0, CS=4",
    .sizes = "{N}x{H}x{W}x{CI}_{CO}_{KH}x{KW}",
    .title = "capsules{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, H, W, CS, CS, CI], \"float32\"], "
                   "[\"TENSOR\", [KH, KW, CS, CS, CI, CO], \"float32\"], "
                   "strides, padding, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
