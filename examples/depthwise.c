/* examples/depthwise.c: a template of your own: 3x3 depthwise convolution, NHWC, stride 1, pad 1.
 */
#include "template.h"

static const char compute[] =
    "data[N, H, W, C]  : input\n"
    "weight[3, 3, C]   : weight\n"
    "pad[n:N, y:H+2, x:W+2, c:C] = inside ? data[n, y - 1, x - 1, c] : 0\n"
    "    where inside = 1 <= y && y < H + 1 && 1 <= x && x < W + 1\n"
    "acc[n:N, h:H, w:W, c:C] = sum(kh:3, kw:3) pad[n, h + kh, w + kw, c] * weight[kh, kw, c]\n"
    "out[n:N, h:H, w:W, c:C] = acc[n, h, w, c]\n";

static const char schedule[] = "n, h, co, wo =>\n"
                               "    kh, kw:unroll, wi:unroll, ci:vec =>\n"
                               "        @acc = n, h, {wo, wi}/w, {co, ci}/c  // kh, kw\n"
                               "    wi:unroll, ci:vec =>\n"
                               "        @out = n, h, {wo, wi}/w, {co, ci}/c\n";

static void define(at_template *t) {
    at_split(t, "tile_w", "W", "wo wi", .policy = AT_FACTORS, .filter = "last <= 16",
             .fallback = {-1, 7});
    at_split(t, "tile_c", "C", "co ci", .policy = AT_FACTORS, .fallback = {-1, 16});
    at_compute(t, compute);
    at_schedule(t, schedule);
}

const at_template_row at_depthwise = {
    .name = "depthwise",
    .help = "3x3 depthwise convolution, NHWC, stride 1, pad 1",
    .args = "N=1, H=28, W=28, C=64",
    .record_args = "[N, H, W, C, \"float32\"]",
    .define = define,
};
