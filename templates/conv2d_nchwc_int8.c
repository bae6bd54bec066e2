/* templates/conv2d_nchwc_int8.c: convolution of bytes in blocked layouts, AutoTVM's
 * conv2d_NCHWc_int8.x86: data [N, IC/i, H, W, i] without sign, weight [OC/o, IC/i, KH, KW, i/4, o,
 * 4] with sign, sums of 32 bits. Four input channels are one dot product. Block sizes are knobs,
 * or, with packed arguments, those of the data: then tile_ic and tile_oc have no effect. */
#include "templates/template.h"

/* clang-format off */
/* %s: padding, if any; what the sum reads. q: f input channels, which are four but where nothing is
 * in blocks. */
static const char compute[] =
    "data[N, IC/i, H, W, i] : input u8\n"
    "weight[OC/o, IC/i, KH, KW, F, o, f] : weight s8\n"
    "%s"
    "acc[n:N, O:OC/o, h:OH, w:OW, b:o] : s32 = sum(q:IC/f, kh:KH, kw:KW, j:f)\n"
    "    %s[n, q/F, h*sh + kh*dh, w*sw + kw*dw, q%%F*f + j] * weight[O, q/F, kh, kw, q%%F, b, j]\n"
    "out[n:N, O:OC/o, h:OH, w:OW, b:o] : s32 = acc[n, O, h, w, b]\n";

static const char padding[] =
    "pad[n:N, C:IC/i, y:H+pt+pb, x:W+pl+pr, c:i] : u8 = inside ? data[n, C, y - pt, x - pl, c] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n";

static const char kw_unrolled[] =
    "{n, O, h}:para, ow =>\n"
    "    C, kh, iic, kw:unroll, iw:unroll, b:vec, j:dot =>\n"
    "        @acc = n, O, h, {ow, iw}/w, b  // {C, iic}/q, kh, kw, j\n"
    "    iw:unroll, b:vec =>\n"
    "        @out = n, O, h, {ow, iw}/w, b\n";

static const char kw_rolled[] =
    "{n, O, h}:para, ow =>\n"
    "    C, kh, kw, iic, iw:unroll, b:vec, j:dot =>\n"
    "        @acc = n, O, h, {ow, iw}/w, b  // {C, iic}/q, kh, kw, j\n"
    "    iw:unroll, b:vec =>\n"
    "        @out = n, O, h, {ow, iw}/w, b\n";

/* A 1x1 kernel reads no row twice, so rows may share a tile too. */
static const char one_by_one[] =
    "{n, O, oh}:para, ow =>\n"
    "    C, iic, ih:unroll, iw:unroll, b:vec, j:dot =>\n"
    "        @acc = n, O, {oh, ih}/h, {ow, iw}/w, b  // {C, iic}/q, 0, 0, j\n"
    "    ih:unroll, iw:unroll, b:vec =>\n"
    "        @out = n, O, {oh, ih}/h, {ow, iw}/w, b\n";
/* clang-format on */

static int is_1x1(at_template *t) { return at_evaluate(t, "KH == 1 && KW == 1") != 0; }

static void define(at_template *t) {
    at_require(t, "IC % 4 == 0 && OC % 16 == 0", "IC is a multiple of 4 and OC one of 16");
    at_require(t, "(ib == 0) == (ob == 0)", "ib and ob are given both or neither");
    at_require(t, "ib == 0 || (IC % ib == 0 && ib % 4 == 0)", "ib is no divisor of IC in fours");
    at_require(t, "ob == 0 || OC % ob == 0", "ob does not divide OC");
    at_sizes(t, "eh = (KH-1)*dh + 1, ew = (KW-1)*dw + 1,"
                "pt = top < 0 ? eh/2 : top, pl = left < 0 ? ew/2 : left,"
                "pb = bottom < 0 ? (eh-1)/2 : bottom, pr = right < 0 ? (ew-1)/2 : right");
    at_require(t, "H + pt + pb >= eh && W + pl + pr >= ew", "the kernel exceeds the padded image");
    at_sizes(t, "OH = (H + pt + pb - eh)/sh + 1, OW = (W + pl + pr - ew)/sw + 1");
    at_split(t, "tile_ic", "IC", "c_chunks c_block", .policy = AT_FACTORS,
             .filter = "last % 4 == 0");
    at_split(t, "tile_oc", "OC", "o_chunks o_block", .policy = AT_FACTORS,
             .filter = "last % 16 == 0");
    at_split(t, "tile_ow", "OW", "ow iw", .policy = AT_FACTORS, .filter = "last <= 64");
    if (is_1x1(t)) {
        at_option(t, "tile_oh", at_evaluate(t, "OH > 1") ? "[1, 2]" : "[1]", 0);
        at_sizes(t, "ih = tile_oh, oh = (OH + ih - 1)/ih");
        at_schedule(t, one_by_one);
    } else {
        at_option(t, "unroll_kw", "[true, false]", 1);
        at_schedule_when(t, "unroll_kw", kw_unrolled);
        at_schedule(t, kw_rolled);
    }
    at_sizes(t, "i = ib ? ib : |c_block|, o = ob ? ob : |o_block|, C = IC/i, b = o,"
                "f = i < 4 ? i : 4, F = i/f, iic = F, j = f");
    int is_padded = at_evaluate(t, "pt || pl || pb || pr") != 0;
    at_compute(t, at_textf(t, compute, is_padded ? padding : "", is_padded ? "pad" : "data"));
    at_layout(t, "data[n, C, y, x, c] = n, C, c, y, x");
    at_layout(t, "weight[O, C, y, x, c, o, f] = O, o, C, c, f, y, x");
    at_layout(t, "out[n, O, h, w, o] = n, O, o, h, w");
}

/* Two vectors of output channels where there are as many, and rows for 31 registers. */
static void defaults(at_template *t, int lanes) {
    long long oc = at_evaluate(t, "OC"), o = oc % 32 ? 16 : 32, one = 1;
    long long i = at_divisor(at_evaluate(t, "IC") / 4, 16) * 4;
    long long vectors = (o + lanes - 1) / lanes;
    long long iw = at_divisor(at_evaluate(t, "OW"), vectors < 28 ? 28 / vectors : 1);
    at_default(t, "tile_oc", &o);
    at_default(t, "tile_ic", &i);
    at_default(t, "tile_ow", &iw);
    if (is_1x1(t)) at_default(t, "tile_oh", &one);
}

#define REST ", strides, padding, dilation, layout, out_layout, \"int32\"]"

const at_template_row at_conv2d_nchwc_int8 = {
    .name = "conv2d_NCHWc_int8",
    .record_name = "conv2d_NCHWc_int8.x86",
    .help = "convolution of bytes in blocked layouts, u8 by s8 to s32",
    .sizes = "{N}x{IC}x{H}x{W}_{OC}_{KH}x{KW}",
    .title = "conv{KH}x{KW} {IC} to {OC} @{H}x{W}, bytes",
    .args = "N=1, IC=64, H=56, W=56, OC=64, KH=3, KW=3, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1, "
            "layout=\"NCHW\" or \"NCHW{ib}c\", out_layout=\"NCHW\" or \"NCHW{ob}c\", "
            "ib=0 from 0, ob=0 from 0",
    .record_args = "[[\"TENSOR\", [N, IC, H, W], \"uint8\"], "
                   "[\"TENSOR\", [OC, IC, KH, KW], \"int8\"]" REST " with ib=0, ob=0 | "
                   "[[\"TENSOR\", [N, IC/ib, H, W, ib], \"uint8\"], "
                   "[\"TENSOR\", [OC/ob, IC/ib, KH, KW, ib/4, ob, 4], \"int8\"]" REST,
    .define = define,
    .defaults = defaults,
};
