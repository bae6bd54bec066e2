/* templates/pool2d.c: the largest value or the average of a window, channels last: data
 * [N, H, W, C]. What lies in the padding is never the largest; it counts in an average where
 * count_include_pad is 1. Data in blocks of c channels [N, C/c, H, W, c] are N*C/c images of c. */
#include "templates/template.h"

/* clang-format off */
static const char compute[] =
    "data[N, H, W, C] : input\n"
    "acc[n:N, h:OH, w:OW, c:C] = %s(kh:KH, kw:KW) inside ? data[n, y, x, c] : %s\n"
    "    where y = h*sh + kh*dh - pt, x = w*sw + kw*dw - pl,\n"
    "          inside = 0 <= y && y < H && 0 <= x && x < W\n"
    "%s";

static const char largest[] =
    "out[n:N, h:OH, w:OW, c:C] = acc[n, h, w, c]\n";

static const char all[] =
    "out[n:N, h:OH, w:OW, c:C] = acc[n, h, w, c] * %.9g\n";

/* What a window has inside the image. */
static const char inside[] =
    "rows[h:OH] = sum(kh:KH) 0 <= y && y < H ? 1.0 : 0.0 where y = h*sh + kh*dh - pt\n"
    "columns[w:OW] = sum(kw:KW) 0 <= x && x < W ? 1.0 : 0.0 where x = w*sw + kw*dw - pl\n"
    "share[h:OH, w:OW] = 1 / (rows[h] * columns[w])\n"
    "out[n:N, h:OH, w:OW, c:C] = acc[n, h, w, c] * share[h, w]\n";

static const char shares[] =
    "h =>\n"
    "    kh => @rows = h // kh\n"
    "w =>\n"
    "    kw => @columns = w // kw\n"
    "h, w =>\n"
    "    @share = h, w\n";

/* Rows of a tile share what they read of the image. */
static const char tree[] =
    "%s"
    "{n, ho}:para, wo, co =>\n"
    "    kh:ann(unroll_kh), kw:ann(unroll_kw), hi:unroll, wi:unroll, ci:vec =>\n"
    "        @acc = n, {ho, hi}/h, {wo, wi}/w, {co, ci}/c  // kh, kw\n"
    "    hi:unroll, wi:unroll, ci:vec =>\n"
    "        @out = n, {ho, hi}/h, {wo, wi}/w, {co, ci}/c\n";
/* clang-format on */

static void define(at_template *t, const char *reduction, const char *none, const char *result,
                   const char *before) {
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the window exceeds the padded image");
    at_split(t, "tile_c", "C", "co ci", .policy = AT_FACTORS, .filter = "last <= 128");
    at_split(t, "tile_h", "OH", "ho hi", .policy = AT_VERBOSE, .filter = "last <= 4");
    at_split(t, "tile_w", "OW", "wo wi", .policy = AT_VERBOSE, .filter = "last <= 32");
    at_option(t, "unroll_kh", "[true, false]", 1);
    at_option(t, "unroll_kw", "[true, false]", 1);
    at_compute(t, at_textf(t, compute, reduction, none, result));
    at_schedule(t, at_textf(t, tree, before));
}

static void define_max(at_template *t) { define(t, "max", "-inf", largest, ""); }

static void define_avg(at_template *t) {
    long long window = at_evaluate(t, "KH*KW");
    at_require(t, "count_include_pad <= 1", "count_include_pad is 0 or 1");
    if (at_evaluate(t, "count_include_pad || !(top || left || bottom || right)"))
        define(t, "sum", "0", at_textf(t, all, 1.0 / (double)window), "");
    else define(t, "sum", "0", inside, shares);
}

static void defaults(at_template *t, int lanes) {
    long long c = at_evaluate(t, "C"), ci = at_vectors(c, lanes, 4), hi = 1;
    long long wi = at_fitting_rows(at_evaluate(t, "OW"), 4);
    if (ci > 128) ci = at_divisor(c, 4 * lanes); /* no knob has more */
    at_default(t, "tile_c", &ci);
    at_default(t, "tile_h", &hi);
    at_default(t, "tile_w", &wi);
}

#define ARGS                                                                                       \
    "N=1, H=112, W=112, C=64, KH=3, KW=3, strides(sh, sw)=2, "                                     \
    "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1"
#define SIZES "{N}x{H}x{W}x{C}_{KH}x{KW}"
#define RECORD_ARGS "[[\"TENSOR\", [N, H, W, C], \"float32\"], [KH, KW], strides, dilation, padding"

const at_template_row at_pool2d = {
    .name = "max_pool2d_nhwc",
    .help = "largest value of a window, channels last, any window, stride, padding and dilation",
    .args = ARGS,
    .sizes = SIZES,
    .title = "largest of {KH}x{KW}, {C} @{H}x{W}",
    .record_args = RECORD_ARGS "]",
    .define = define_max,
    .defaults = defaults,
};

const at_template_row at_avg_pool2d_nhwc = {
    .name = "avg_pool2d_nhwc",
    .help = "average of a window, or of the whole image, channels last",
    .args = ARGS ", count_include_pad=0 from 0",
    .sizes = SIZES,
    .title = "mean of {KH}x{KW}, {C} @{H}x{W}",
    .record_args = RECORD_ARGS ", count_include_pad]",
    .define = define_avg,
    .defaults = defaults,
};
