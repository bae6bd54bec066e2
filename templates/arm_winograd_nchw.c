/* templates/arm_winograd_nchw.c: convolution by Winograd's F(4x4, 3x3) as AutoTVM's
 * conv2d_nchw_winograd.arm_cpu: all tiles of the data are transformed first, then blocks of output
 * channels go through products and the transform back. Knobs, filters and their order are
 * AutoTVM's; a loop that is a vector stands innermost here. */
#include "templates/template.h"

/* clang-format off */
/* B, G, T: polynomials at the points 0, 1, -1, 1/2, -2 and infinity. d: tiles of 6x6, of which neighbours share two rows or columns; v: transformed; M: products; y:
 * tiles of 4x4 outputs. Rows and columns are transformed one after the other. */
static const char compute[] =
    "data[N, CI, H, W] : input\n"
    "weight[CO, CI, 3, 3] : weight\n"
    "B[e:6, i:6] = {1, -1.5, -2, 1.5, 1, 0, 0, -1, 0.5, 2.5, 1, 0, 0, 1, -2.5, 0.5, 1, 0,\n"
    "    0, -2, -1, 2, 1, 0, 0, 0.5, -1, -0.5, 1, 0, 0, 1, -1.5, -2, 1.5, 1}\n"
    "G[e:6, i:3] = {1, 0, 0, 0.3333333333333333, 0.3333333333333333, 0.3333333333333333,\n"
    "    -0.3333333333333333, 0.3333333333333333, -0.3333333333333333, -1.0666666666666667,\n"
    "    -0.5333333333333333, -0.26666666666666666, 0.06666666666666667, -0.13333333333333333,\n"
    "    0.26666666666666666, 0, 0, 1}\n"
    "T[e:4, i:6] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 0.5, -2, 0, 0, 1, 1, 0.25, 4, 0,\n"
    "    0, 1, -1, 0.125, -8, 1}\n"
    "g[e:6, j:3, c:CI, o:CO] = G[e, 0]*weight[o, c, 0, j] + G[e, 1]*weight[o, c, 1, j]\n"
    "    + G[e, 2]*weight[o, c, 2, j]\n"
    "u[q:CO/VK, e:6, f:6, c:CI, b:VK] = G[f, 0]*g[e, 0, c, o] + G[f, 1]*g[e, 1, c, o]\n"
    "    + G[f, 2]*g[e, 2, c, o] where o = q*VK + b\n"
    "d[b:P/VP, c:CI, e:6, f:6, i:VP] = inside ? data[p/(TH*TW), c, iy, ix] : 0\n"
    "    where p = b*VP + i, iy = p/TW%TH*4 + e - pt, ix = p%TW*4 + f - pl,\n"
    "          inside = 0 <= iy && iy < H && 0 <= ix && ix < W\n"
    "row[e:6, j:6, b:P/VP, c:CI, i:VP] = sum(r:6) B[e, r]*d[b, c, r, j, i]\n"
    "v[e:6, f:6, b:P/VP, c:CI, i:VP] = sum(j:6) B[f, j]*row[e, j, b, c, i]\n"
    "m[e:6, f:6, k:CO, p:P] = sum(c:CI) u[k/VK, e, f, c, k%VK]*v[e, f, p/VP, c, p%VP]\n"
    "col[k:CO, p:P, e:6, l:4] = sum(f:6) T[l, f]*m[e, f, k, p]\n"
    "y[k:CO, p:P, a:4, l:4] = sum(e:6) T[a, e]*col[k, p, e, l]\n"
    "out[n:N, k:CO, h:OH, w:OW] = y[k, (n*TH + h/4)*TW + w/4, h%4, w%4]\n";

/* %s: the loops of a product. */
static const char tree[] =
    "ko, c, e:unroll, f:unroll, ki:vec =>\n"
    "    @u = ko, e, f, c, ki\n"
    "po:para, c =>\n"
    "    e, f, pi =>\n"
    "        @d = po, c, e, f, pi\n"
    "    j, r:unroll, e:unroll, pi:vec =>\n"
    "        @row = e, j, po, c, pi  // r\n"
    "    e, j:unroll, f:unroll, pi:vec =>\n"
    "        @v = e, f, po, c, pi  // j\n"
    "ko:para =>\n"
    "    e, f, po, co, %s =>\n"
    "        @m = e, f, {ko, ki}/k, {po, pi}/p  // {co, ci}/c\n"
    "    n, th, tw, ki =>\n"
    "        e, f:unroll, l:vec =>\n"
    "            @col = {ko, ki}/k, {n, th, tw}/p, e, l  // f\n"
    "        e:unroll, a:unroll, l:vec =>\n"
    "            @y = {ko, ki}/k, {n, th, tw}/p, a, l  // e\n"
    "        a:unroll, l:vec =>\n"
    "            @out = n, {ko, ki}/k, {th, a}/h, {tw, l}/w\n";
/* clang-format on */

static const struct {
    const char *condition, *loops;
} tiles[] = {
    {"mark_k == 2", "ci:ann(mark_c), pi:ann(mark_p), ki:vec"},
    {"mark_p == 2", "ki:ann(mark_k), ci:ann(mark_c), pi:vec"},
    {"", "ki:ann(mark_k), ci:ann(mark_c), pi:ann(mark_p)"},
};

static void define(at_template *t) {
    at_require(t, "KH == 3 && KW == 3 && sh == 1 && sw == 1 && dh == 1 && dw == 1",
               "the kernel is 3x3, strides and dilation are 1");
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "1", "1", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "1", "1", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_sizes(t, "TH = (OH + 3)/4, TW = (OW + 3)/4, P = N*TH*TW, th = TH, tw = TW");
    at_split(t, "tile_p", "P", "po pi", .policy = AT_FACTORS, .filter = "last <= 16");
    at_split(t, "tile_k", "CO", "ko ki", .policy = AT_FACTORS, .filter = "last <= 16");
    at_split(t, "tile_c", "CI", "co ci", .policy = AT_FACTORS, .filter = "last <= 16");
    at_annotate(t, "ann_reduce", "mark_c", "try_unroll");
    at_annotate(t, "ann_spatial", "mark_k mark_p", "try_unroll_vec");
    at_sizes(t, "VP = |pi|, VK = |ki|, a = 4, l = 4");
    at_compute(t, compute);
    for (int i = 0; i < (int)(sizeof tiles / sizeof *tiles); i++)
        at_schedule_when(t, tiles[i].condition, at_textf(t, tree, tiles[i].loops));
    at_flops(t, "2*KH*KW*N*OH*OW*CI*CO");
}

static void defaults(at_template *t, int lanes) {
    static const long long unrolled[] = {1}, vectors[] = {1, 2};
    long long pi = at_divisor(at_evaluate(t, "P"), lanes > 16 ? 16 : lanes),
              ki = at_divisor(at_evaluate(t, "CO"), 16), ci = at_divisor(at_evaluate(t, "CI"), 4);
    at_default(t, "tile_p", &pi);
    at_default(t, "tile_k", &ki);
    at_default(t, "tile_c", &ci);
    at_default(t, "ann_reduce", unrolled);
    at_default(t, "ann_spatial", vectors);
}

const at_template_row at_arm_winograd_nchw = {
    .name = "conv2d_nchw_winograd",
    .record_name = "conv2d_nchw_winograd.arm_cpu",
    .help = "convolution of 3x3 by Winograd's F(4, 3), channels first, as AutoTVM's for Arm",
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
