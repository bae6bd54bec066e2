/* templates/arm_conv2d_nchw.c: convolution as AutoTVM's conv2d_nchw_spatial_pack.arm_cpu: data [N,
 * CI, H, W] is copied to tiles with their borders, weight [CO, CI, KH, KW] packed ahead in blocks
 * of channels. Knobs, their order and the loops are AutoTVM's; a loop that is a vector stands
 * innermost here. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, CI, H, W] : input\n"
    "weight[CO, CI, KH, KW] : weight\n"
    "packw[o:CO/VC, c:CI, r:KH, s:KW, b:VC] = weight[o*VC + b, c, r, s]\n"
    "vec[n:N, h:OH/VH, w:OW/VW, c:CI, y:EY, x:EX] = inside ? data[n, c, iy, ix] : 0\n"
    "    where iy = h*VH*sh + y - pt, ix = w*VW*sw + x - pl,\n"
    "          inside = 0 <= iy && iy < H && 0 <= ix && ix < W\n"
    "acc[n:N, o:CO/VC, h:OH/VH, w:OW/VW, a:VH, d:VW, b:VC] = sum(c:CI, r:KH, s:KW)\n"
    "    vec[n, h, w, c, a*sh + r*dh, d*sw + s*dw] * packw[o, c, r, s, b]\n"
    "out[n:N, k:CO, y:OH, x:OW] = acc[n, k/VC, y/VH, x/VW, y%VH, x%VW, k%VC]\n";

/* %s: the loops of a tile. */
static const char tree[] =
    "co, c, r, s, vc:vec =>\n"
    "    @packw = co, c, r, s, vc\n"
    "{n, oh}:para, ow, c, y, x:vec =>\n"
    "    @vec = n, oh, ow, c, y, x\n"
    "{n, co}:para, oh, ow =>\n"
    "    c, r:ann(mark_kh), s:ann(mark_kw), %s =>\n"
    "        @acc = n, co, oh, ow, vh, vw, vc  // c, r, s\n"
    "    vh, vc, vw:vec =>\n"
    "        @out = n, {co, vc}/k, {oh, vh}/y, {ow, vw}/x\n";
/* clang-format on */

/* Which loop is a vector, in which order of the others. */
static const struct {
    const char *condition, *loops;
} tiles[] = {
    {"order == 0 && mark_vh == 2", "vw:ann(mark_vw), vc:ann(mark_vc), vh:vec"},
    {"order == 0 && mark_vw == 2", "vh:ann(mark_vh), vc:ann(mark_vc), vw:vec"},
    {"order == 0 && mark_vc == 2", "vh:ann(mark_vh), vw:ann(mark_vw), vc:vec"},
    {"order == 0", "vh:ann(mark_vh), vw:ann(mark_vw), vc:ann(mark_vc)"},
    {"mark_vh == 2", "vc:ann(mark_vc), vw:ann(mark_vw), vh:vec"},
    {"mark_vw == 2", "vc:ann(mark_vc), vh:ann(mark_vh), vw:vec"},
    {"mark_vc == 2", "vh:ann(mark_vh), vw:ann(mark_vw), vc:vec"},
    {"", "vc:ann(mark_vc), vh:ann(mark_vh), vw:ann(mark_vw)"},
};

static void define(at_template *t) {
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_split(t, "tile_co", "CO", "co vc", .policy = AT_FACTORS);
    at_split(t, "tile_oh", "OH", "oh vh", .policy = AT_FACTORS);
    at_split(t, "tile_ow", "OW", "ow vw", .policy = AT_FACTORS);
    /* n, co, oh, ow, ci, kh, kw, vh, vw, vc */
    at_reorder(t, "reorder_0", "order", 10, "0 1 2 3 4 5 6 7 8 9, 0 1 2 3 4 5 6 9 7 8");
    at_annotate(t, "ann_reduce", "mark_kh mark_kw", "try_unroll");
    at_annotate(t, "ann_spatial", "mark_vh mark_vw mark_vc", "try_unroll_vec");
    at_sizes(t, "VC = |vc|, VH = |vh|, VW = |vw|, EY = (VH-1)*sh + (KH-1)*dh + 1, "
                "EX = (VW-1)*sw + (KW-1)*dw + 1");
    at_compute(t, compute);
    for (int i = 0; i < (int)(sizeof tiles / sizeof *tiles); i++)
        at_schedule_when(t, tiles[i].condition, at_textf(t, tree, tiles[i].loops));
}

/* Sums of up to four vectors of channels, and as many columns as then fit the registers. */
static void defaults(at_template *t, int lanes) {
    static const long long unrolled[] = {1, 1}, vectors[] = {1, 1, 2};
    long long vc = at_vectors(at_evaluate(t, "CO"), lanes, 4), rows = at_most_rows(vc, lanes);
    long long vw = at_divisor(at_evaluate(t, "OW"), rows);
    long long vh = at_divisor(at_evaluate(t, "OH"), rows / vw);
    at_default(t, "tile_co", &vc);
    at_default(t, "tile_oh", &vh);
    at_default(t, "tile_ow", &vw);
    at_default(t, "ann_reduce", unrolled);
    at_default(t, "ann_spatial", vectors);
}

const at_template_row at_arm_conv2d_nchw = {
    .name = "conv2d_nchw_spatial_pack",
    .record_name = "conv2d_nchw_spatial_pack.arm_cpu",
    .help =
        "convolution in tiles of data and blocks of weights, channels first, as AutoTVM's for Arm",
    .sizes = "{N}x{CI}x{H}x{W}_{CO}_{KH}x{KW}",
    .title = "conv{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .args = "N=1, CI=64, H=56, W=56, CO=64, KH=3, KW=3, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1",
    .record_args = "[[\"TENSOR\", [N, CI, H, W], \"float32\"], "
                   "[\"TENSOR\", [CO, CI, KH, KW], \"float32\"], strides, padding, dilation, "
                   "\"float32\"]",
    .define = define,
    .defaults = defaults,
};
