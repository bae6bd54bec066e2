/* templates/conv3d_ndhwc.c: convolution along three axes, channels last, with the knobs of
 * AutoTVM's conv3d_ndhwc.x86: data [N, D, H, W, CI], weight [KD, KH, KW, CI, CO], packed ahead in
 * blocks of output channels. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, D, H, W, CI] : input\n"
    "weight[KD, KH, KW, CI, CO] : weight\n"
    "pad[n:N, z:D+pf+pk, y:H+pt+pb, x:W+pl+pr, c:CI] =\n"
    "    inside ? data[n, z - pf, y - pt, x - pl, c] : 0\n"
    "    where inside = pf <= z && z < D + pf && pt <= y && y < H + pt && pl <= x && x < W + pl\n"
    "packw[p:CO/B, kd:KD, kh:KH, kw:KW, c:CI, b:B] = weight[kd, kh, kw, c, p*B + b]\n"
    "acc[n:N, d:OD, h:OH, w:OW, f:CO] = sum(kd:KD, kh:KH, kw:KW, c:CI)\n"
    "    pad[n, d*sd + kd*dd, h*sh + kh*dh, w*sw + kw*dw, c] * packw[f/B, kd, kh, kw, c, f%B]\n"
    "out[n:N, d:OD, h:OH, w:OW, f:CO] = acc[n, d, h, w, f]\n";

/* kw innermost where it is unrolled. */
static const char tree[] =
    "p, kd, kh, kw, c, b =>\n"
    "    @packw = p, kd, kh, kw, c, b\n"
    "{n, fo, d, h}:para, ow =>\n"
    "    co, kd, kh, %s, iw:unroll, fi:vec =>\n"
    "        @acc = n, d, h, {ow, iw}/w, {fo, fi}/f  // kd, kh, kw, {co, ci}/c\n"
    "    iw:unroll, fi:vec =>\n"
    "        @out = n, d, h, {ow, iw}/w, {fo, fi}/f\n";
/* clang-format on */

static void define(at_template *t) {
    at_sizes(t, AT_WINDOW("OD", "D", "KD", "sd", "dd", "front", "back", "pf", "pk"));
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OD >= 1 && OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_split(t, "tile_ic", "CI", "co ci", .policy = AT_FACTORS);
    at_split(t, "tile_oc", "CO", "fo fi", .policy = AT_FACTORS);
    at_split(t, "tile_ow", "OW", "ow iw", .policy = AT_FACTORS, .filter = "last <= 8");
    at_option(t, "unroll_kw", "[true, false]", 1);
    at_sizes(t, "B = |fi|");
    at_compute(t, compute);
    at_schedule_when(t, "unroll_kw", at_textf(t, tree, "ci, kw:unroll"));
    at_schedule(t, at_textf(t, tree, "kw, ci"));
}

static void defaults(at_template *t, int lanes) {
    long long fi = at_vectors(at_evaluate(t, "CO"), lanes, 2), rows = at_most_rows(fi, lanes);
    long long iw = at_divisor(at_evaluate(t, "OW"), rows < 8 ? rows : 8);
    long long ci = at_divisor(at_evaluate(t, "CI"), 64);
    at_default(t, "tile_oc", &fi);
    at_default(t, "tile_ic", &ci);
    at_default(t, "tile_ow", &iw);
}

const at_template_row at_conv3d_ndhwc = {
    .name = "conv3d_ndhwc",
    .record_name = "conv3d_ndhwc.x86",
    .help = "convolution along three axes, channels last, any kernel, stride, padding and dilation",
    .args = "N=1, D=16, H=56, W=56, CI=64, CO=64, KD=1, KH=1, KW=1, strides(sd, sh, sw)=1, "
            "padding(front, top, left, back, bottom, right)=0 from 0, dilation(dd, dh, dw)=1",
    .sizes = "{N}x{D}x{H}x{W}x{CI}_{CO}_{KD}x{KH}x{KW}",
    .title = "conv{KD}x{KH}x{KW} {CI} to {CO} @{D}x{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, D, H, W, CI], \"float32\"], "
                   "[\"TENSOR\", [KD, KH, KW, CI, CO], \"float32\"], "
                   "strides, padding, dilation, 1, \"float32\"]",
    .define = define,
    .defaults = defaults,
};
