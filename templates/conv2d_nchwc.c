/* templates/conv2d_nchwc.c: convolution in blocked layouts, AutoTVM's conv2d_NCHWc.x86: data
 * [N, IC/i, H, W, i], weight [OC/o, IC/i, KH, KW, i, o]. Block sizes are knobs, or, with packed
 * arguments, those of the data: then tile_ic and tile_oc have no effect. */
#include "templates/template.h"

/* clang-format off */
/* Without padding there is no stage for it, so that nothing is conditional. */
static const char padded[] =
    "data[N, IC/i, H, W, i] : input\n"
    "weight[OC/o, IC/i, KH, KW, i, o] : weight\n"
    "pad[n:N, C:IC/i, y:H+pt+pb, x:W+pl+pr, c:i] = inside ? data[n, C, y - pt, x - pl, c] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n"
    "acc[n:N, O:OC/o, h:OH, w:OW, b:o] = sum(ic:IC, kh:KH, kw:KW)\n"
    "    pad[n, ic/i, h*sh + kh*dh, w*sw + kw*dw, ic%i] * weight[O, ic/i, kh, kw, ic%i, b]\n"
    "out[n:N, O:OC/o, h:OH, w:OW, b:o] = acc[n, O, h, w, b]\n";

static const char plain[] =
    "data[N, IC/i, H, W, i] : input\n"
    "weight[OC/o, IC/i, KH, KW, i, o] : weight\n"
    "acc[n:N, O:OC/o, h:OH, w:OW, b:o] = sum(ic:IC, kh:KH, kw:KW)\n"
    "    data[n, ic/i, h*sh + kh*dh, w*sw + kw*dw, ic%i] * weight[O, ic/i, kh, kw, ic%i, b]\n"
    "out[n:N, O:OC/o, h:OH, w:OW, b:o] = acc[n, O, h, w, b]\n";

static const char kw_unrolled[] =
    "{n, O, h}:para, ow =>\n"
    "    C, kh, iic, kw:unroll, iw:unroll, b:vec =>\n"
    "        @acc = n, O, h, {ow, iw}/w, b  // {C, iic}/ic, kh, kw\n"
    "    iw:unroll, b:vec =>\n"
    "        @out = n, O, h, {ow, iw}/w, b\n";

static const char kw_rolled[] =
    "{n, O, h}:para, ow =>\n"
    "    C, kh, kw, iic, iw:unroll, b:vec =>\n"
    "        @acc = n, O, h, {ow, iw}/w, b  // {C, iic}/ic, kh, kw\n"
    "    iw:unroll, b:vec =>\n"
    "        @out = n, O, h, {ow, iw}/w, b\n";

/* A 1x1 kernel reads no row twice, so rows may share a tile too. */
static const char one_by_one[] =
    "{n, O, oh}:para, ow =>\n"
    "    C, iic, ih:unroll, iw:unroll, b:vec =>\n"
    "        @acc = n, O, {oh, ih}/h, {ow, iw}/w, b  // {C, iic}/ic, 0, 0\n"
    "    ih:unroll, iw:unroll, b:vec =>\n"
    "        @out = n, O, {oh, ih}/h, {ow, iw}/w, b\n";
/* clang-format on */

static int is_1x1(at_template *t) { return at_evaluate(t, "KH == 1 && KW == 1") != 0; }

static void define(at_template *t) {
    at_require(t, "(ib == 0) == (ob == 0)", "ib and ob are given both or neither");
    at_require(t, "ib == 0 || IC % ib == 0", "ib does not divide IC");
    at_require(t, "ob == 0 || OC % ob == 0", "ob does not divide OC");
    at_sizes(t, "eh = (KH-1)*dh + 1, ew = (KW-1)*dw + 1,"
                "pt = top < 0 ? eh/2 : top, pl = left < 0 ? ew/2 : left,"
                "pb = bottom < 0 ? (eh-1)/2 : bottom, pr = right < 0 ? (ew-1)/2 : right");
    at_require(t, "H + pt + pb >= eh && W + pl + pr >= ew", "the kernel exceeds the padded image");
    at_sizes(t, "OH = (H + pt + pb - eh)/sh + 1, OW = (W + pl + pr - ew)/sw + 1");
    at_split(t, "tile_ic", "IC", "c_chunks c_block", .policy = AT_FACTORS);
    at_split(t, "tile_oc", "OC", "o_chunks o_block", .policy = AT_FACTORS);
    at_split(t, "tile_ow", "OW", "ow iw", .policy = AT_VERBOSE, .filter = "last <= 64");
    if (is_1x1(t)) {
        at_option(t, "tile_oh", at_evaluate(t, "OH > 1") ? "[1, 2]" : "[1]", 0);
        at_sizes(t, "ih = tile_oh, oh = (OH + ih - 1)/ih");
        at_schedule(t, one_by_one);
    } else {
        at_option(t, "unroll_kw", "[true, false]", 1);
        at_schedule_when(t, "unroll_kw", kw_unrolled);
        at_schedule(t, kw_rolled);
    }
    at_sizes(t, "i = ib ? ib : |c_block|, o = ob ? ob : |o_block|, C = IC/i, iic = i, b = o");
    at_compute(t, at_evaluate(t, "pt || pl || pb || pr") ? padded : plain);
    at_layout(t, "data[n, C, y, x, c] = n, C, c, y, x");
    at_layout(t, "weight[O, C, y, x, c, o] = O, o, C, c, y, x");
    at_layout(t, "out[n, O, h, w, o] = n, O, o, h, w");
}

/* Sums of so many vectors each, in 31 registers. */
static void default_1x1(at_template *t, long long vectors) {
    long long oh = at_evaluate(t, "OH"), ow = at_evaluate(t, "OW"), tile_oh, tile_ow = ow;
    long long rows = vectors < 31 ? 31 / vectors : 1;
    for (;; tile_ow = at_divisor(ow, tile_ow - 1)) {
        tile_oh = at_divisor(oh, rows / tile_ow);
        if (tile_oh * tile_ow <= rows) break;
    }
    at_default(t, "tile_ow", &tile_ow);
    at_default(t, "tile_oh", &tile_oh);
}

static void defaults(at_template *t, int lanes) {
    long long o = at_vectors(at_evaluate(t, "OC"), lanes, 1), vectors = (o + lanes - 1) / lanes;
    long long i = at_divisor(at_evaluate(t, "IC"), o);
    long long iw = at_fitting_rows(at_evaluate(t, "OW"), vectors < 31 ? 31 / vectors : 1);
    at_default(t, "tile_oc", &o);
    at_default(t, "tile_ic", &i);
    if (is_1x1(t)) default_1x1(t, vectors);
    else at_default(t, "tile_ow", &iw);
}

#define REST ", strides, padding, dilation, layout, out_layout, \"float32\"]"

const at_template_row at_conv2d_nchwc = {
    .name = "conv2d_NCHWc",
    .record_name = "conv2d_NCHWc.x86",
    .help = "convolution in blocked layouts, any kernel, stride, padding and dilation",
    .args = "N=1, IC=64, H=56, W=56, OC=64, KH=3, KW=3, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1, "
            "layout=\"NCHW\" or \"NCHW{ib}c\", out_layout=\"NCHW\" or \"NCHW{ob}c\", "
            "ib=0 from 0, ob=0 from 0",
    .sizes = "{N}x{IC}x{H}x{W}_{OC}_{KH}x{KW}",
    .title = "conv{KH}x{KW} {IC} to {OC} @{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, IC, H, W], \"float32\"], "
                   "[\"TENSOR\", [OC, IC, KH, KW], \"float32\"]" REST " with ib=0, ob=0 | "
                   "[[\"TENSOR\", [N, IC/ib, H, W, ib], \"float32\"], "
                   "[\"TENSOR\", [OC/ob, IC/ib, KH, KW, ib, ob], \"float32\"]" REST,
    .define = define,
    .defaults = defaults,
};
