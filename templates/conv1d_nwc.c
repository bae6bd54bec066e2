/* templates/conv1d_nwc.c: convolution along one axis, channels last: data [N, W, CI], weight
 * [KW, CI, CO], packed ahead in blocks of output channels. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, W, CI] : input\n"
    "weight[KW, CI, CO] : weight\n"
    "pad[n:N, x:W+pl+pr, c:CI] = inside ? data[n, x - pl, c] : 0\n"
    "    where inside = pl <= x && x < W + pl\n"
    "packw[p:CO/B, kw:KW, c:CI, b:B] = weight[kw, c, p*B + b]\n"
    "acc[n:N, w:OW, f:CO] = sum(kw:KW, c:CI) pad[n, w*s + kw*d, c] * packw[f/B, kw, c, f%B]\n"
    "out[n:N, w:OW, f:CO] = acc[n, w, f]\n";

/* kw innermost where it is unrolled. */
static const char tree[] =
    "p, kw, c, b =>\n"
    "    @packw = p, kw, c, b\n"
    "{n, fo}:para, wo =>\n"
    "    co, %s, wi:unroll, fi:vec =>\n"
    "        @acc = n, {wo, wi}/w, {fo, fi}/f  // kw, {co, ci}/c\n"
    "    wi:unroll, fi:vec =>\n"
    "        @out = n, {wo, wi}/w, {fo, fi}/f\n";
/* clang-format on */

static void define(at_template *t) {
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "s", "d", "left", "right", "pl", "pr"));
    at_require(t, "OW >= 1", "the kernel exceeds the padded data");
    at_split(t, "tile_ow", "OW", "wo wi", .policy = AT_VERBOSE, .filter = "last <= 64");
    at_split(t, "tile_oc", "CO", "fo fi", .policy = AT_FACTORS);
    at_split(t, "tile_ic", "CI", "co ci", .policy = AT_FACTORS);
    at_option(t, "unroll_kw", "[true, false]", 1);
    at_sizes(t, "B = |fi|");
    at_compute(t, compute);
    at_schedule_when(t, "unroll_kw", at_textf(t, tree, "ci, kw:unroll"));
    at_schedule(t, at_textf(t, tree, "kw, ci"));
}

/* Two vectors of output channels and as many places as then fit the registers. */
static void defaults(at_template *t, int lanes) {
    long long fi = at_vectors(at_evaluate(t, "CO"), lanes, 2);
    long long ci = at_divisor(at_evaluate(t, "CI"), 64);
    long long wi = at_fitting_rows(at_evaluate(t, "OW"), at_most_rows(fi, lanes));
    at_default(t, "tile_oc", &fi);
    at_default(t, "tile_ic", &ci);
    at_default(t, "tile_ow", &wi);
}

const at_template_row at_conv1d_nwc = {
    .name = "conv1d_nwc",
    .help = "convolution along one axis, channels last, any kernel, stride, padding and dilation",
    .args = "N=1, W=256, CI=64, CO=128, KW=3, strides(s)=2, padding(left, right)=1 from 0, "
            "dilation(d)=1",
    .sizes = "{N}x{W}x{CI}_{CO}_{KW}",
    .title = "conv{KW} {CI} to {CO} @{W}",
    .record_args = "[[\"TENSOR\", [N, W, CI], \"float32\"], "
                   "[\"TENSOR\", [KW, CI, CO], \"float32\"], "
                   "strides, padding, dilation, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
