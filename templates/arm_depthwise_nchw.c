/* templates/arm_depthwise_nchw.c: depthwise convolution as AutoTVM's depthwise_conv2d_nchw.arm_cpu:
 * data [N, C, H, W] and weight [C, 1, KH, KW] are copied to blocks of channels, the data strip by
 * strip. Knobs and their order are AutoTVM's; a loop that is a vector stands innermost here. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, C, H, W] : input\n"
    "weight[C, 1, KH, KW] : weight\n"
    "packw[o:C/VC, r:KH, s:KW, b:VC] = weight[o*VC + b, 0, r, s]\n"
    "strip[n:N, o:C/VC, h:OH/VH, y:EY, x:EX, b:VC] = inside ? data[n, o*VC + b, iy, x - pl] : 0\n"
    "    where iy = h*VH*sh + y - pt, inside = 0 <= iy && iy < H && pl <= x && x < W + pl\n"
    "acc[n:N, o:C/VC, y:OH, x:OW, b:VC] = sum(r:KH, s:KW)\n"
    "    strip[n, o, y/VH, y%VH*sh + r*dh, x*sw + s*dw, b] * packw[o, r, s, b]\n"
    "out[n:N, k:C, y:OH, x:OW] = acc[n, k/VC, y, x, k%VC]\n";

/* %s: the loops of a tile. */
static const char tree[] =
    "co, r, s, vc:vec =>\n"
    "    @packw = co, r, s, vc\n"
    "{n, co}:para, oh =>\n"
    "    y, x, vc:vec =>\n"
    "        @strip = n, co, oh, y, x, vc\n"
    "    ow, r, s, %s =>\n"
    "        @acc = n, co, {oh, vh}/y, {ow, vw}/x, vc  // r, s\n"
    "    vh, vc, x:vec =>\n"
    "        @out = n, {co, vc}/k, {oh, vh}/y, x\n";
/* clang-format on */

static const struct {
    const char *condition, *loops;
} tiles[] = {
    {"mark_vh == 2", "vw:ann(mark_vw), vc:ann(mark_vc), vh:vec"},
    {"mark_vw == 2", "vh:ann(mark_vh), vc:ann(mark_vc), vw:vec"},
    {"mark_vc == 2", "vh:ann(mark_vh), vw:ann(mark_vw), vc:vec"},
    {"", "vh:ann(mark_vh), vw:ann(mark_vw), vc:ann(mark_vc)"},
};

static void define(at_template *t) {
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_split(t, "tile_c", "C", "co vc", .policy = AT_FACTORS);
    at_split(t, "tile_h", "OH", "oh vh", .policy = AT_FACTORS);
    at_split(t, "tile_w", "OW", "ow vw", .policy = AT_FACTORS);
    at_annotate(t, "ann", "mark_vh mark_vw mark_vc", "try_unroll_vec");
    at_sizes(t, "VC = |vc|, VH = |vh|, EY = (VH-1)*sh + (KH-1)*dh + 1, "
                "EX = (OW-1)*sw + (KW-1)*dw + 1");
    at_compute(t, compute);
    for (int i = 0; i < (int)(sizeof tiles / sizeof *tiles); i++)
        at_schedule_when(t, tiles[i].condition, at_textf(t, tree, tiles[i].loops));
}

static void defaults(at_template *t, int lanes) {
    static const long long vectors[] = {1, 1, 2};
    long long vc = at_vectors(at_evaluate(t, "C"), lanes, 1), rows = at_most_rows(vc, lanes);
    long long vw = at_divisor(at_evaluate(t, "OW"), rows), vh = 1;
    at_default(t, "tile_c", &vc);
    at_default(t, "tile_h", &vh);
    at_default(t, "tile_w", &vw);
    at_default(t, "ann", vectors);
}

const at_template_row at_arm_depthwise_nchw = {
    .name = "depthwise_conv2d_nchw",
    .record_name = "depthwise_conv2d_nchw.arm_cpu",
    .help =
        "depthwise convolution in blocks of channels, data channels first, as AutoTVM's for Arm",
    .sizes = "{N}x{C}x{H}x{W}_{KH}x{KW}",
    .title = "depthwise{KH}x{KW} {C} @{H}x{W}",
    .args = "N=1, C=32, H=112, W=112, KH=3, KW=3, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1",
    .record_args = "[[\"TENSOR\", [N, C, H, W], \"float32\"], "
                   "[\"TENSOR\", [C, 1, KH, KW], \"float32\"], strides, padding, dilation, "
                   "\"float32\"]",
    .define = define,
    .defaults = defaults,
};
