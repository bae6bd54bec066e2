/* templates/conv2d_nhwc.c: direct convolution, channels last: data [N, H, W, CI], weight
 * [KH, KW, CI, CO], packed ahead in blocks of output channels. With other types than float32,
 * or fewer channels than the shortest register has lanes, it leaves the loops to the rules. */
#include "templates/template.h"

/* clang-format off */
static const char padded[] =
    "data[N, H, W, CI] : input\n"
    "weight[KH, KW, CI, CO] : weight\n"
    "pad[n:N, y:H+pt+pb, x:W+pl+pr, c:CI] = inside ? data[n, y - pt, x - pl, c] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n"
    "packw[p:CO/B, kh:KH, kw:KW, c:CI, b:B] = weight[kh, kw, c, p*B + b]\n"
    "acc[n:N, h:OH, w:OW, f:CO] = sum(kh:KH, kw:KW, c:CI)\n"
    "    pad[n, h*sh + kh*dh, w*sw + kw*dw, c] * packw[f/B, kh, kw, c, f%B]\n"
    "out[n:N, h:OH, w:OW, f:CO] = acc[n, h, w, f]\n";

static const char plain[] =
    "data[N, H, W, CI] : input\n"
    "weight[KH, KW, CI, CO] : weight\n"
    "packw[p:CO/B, kh:KH, kw:KW, c:CI, b:B] = weight[kh, kw, c, p*B + b]\n"
    "acc[n:N, h:OH, w:OW, f:CO] = sum(kh:KH, kw:KW, c:CI)\n"
    "    data[n, h*sh + kh*dh, w*sw + kw*dw, c] * packw[f/B, kh, kw, c, f%B]\n"
    "out[n:N, h:OH, w:OW, f:CO] = acc[n, h, w, f]\n";

/* %s: types, padding if any, the sum, the output. */
static const char typed[] =
    "data[N, H, W, CI] : input %s\n"
    "weight[KH, KW, CI, CO] : weight %s\n"
    "%s"
    "acc[n:N, h:OH, w:OW, f:CO] : %s = %s"
    "%s";

static const char sum[] =
    "sum(kh:KH, kw:KW, c:CI)\n"
    "    %s[n, h*sh + kh*dh, w*sw + kw*dw, c] * weight[kh, kw, c, f]\n";

/* A row's points and their channels are one axis, so that fours of terms go along the P points that
 * lie side by side, and few terms are padding. %s: the types of data and weight. */
static const char joined[] =
    "pad[n:N, y:H+pt+pb, x:X] : %s = inside ? data[n, y - pt, x/CI - pl, x%%CI] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl*CI <= x && x < (W + pl)*CI\n"
    "wide[kh:KH, kw:KW/P, k:K, f:CO] : %s = k < P*CI ? weight[kh, kw*P + k/CI, k%%CI, f] : 0\n";

static const char sum_of_joined[] =
    "sum(kh:KH, kw:KW/P, k:K)\n"
    "    pad[n, h*sh + kh*dh, (w*sw + kw*dw)*CI + k] * wide[kh, kw, k, f]\n";

/* Which order the reduction loops are in: kw innermost where it is unrolled, unless it stands above
 * co and ci. %s: prefetch, if any. */
static const char tree[] =
    "p, kh, kw, c, b =>\n"
    "    @packw = p, kh, kw, c, b\n"
    "{n, fo, h}:para, ow =>\n"
    "    [co, kh, kw:ann(unroll_kw), ci]:order(loops), iw:unroll, fi:vec =>\n"
    "        @acc%s = n, h, {ow, iw}/w, {fo, fi}/f  // kh, kw, {co, ci}/c\n"
    "    iw:unroll, fi:vec =>\n"
    "        @out = n, h, {ow, iw}/w, {fo, fi}/f\n";
/* clang-format on */

static int is_padded(at_template *t) { return at_evaluate(t, "pt || pl || pb || pr") != 0; }

/* Do dot products of bytes have fewer channels than they have terms, or other numbers of them? */
static int is_joined(at_template *t) {
    const int is_byte = at_argument_type(t, "types", 0)[1] == '8';
    return is_byte && at_evaluate(t, "CI % 4 != 0 && (dw == 1 ? KW : 1)*CI > 2");
}

static const char *type(at_template *t, int i) { return at_argument_type(t, "types", i); }

static void define_typed(at_template *t) {
    const at_typed out = {.axes = "n:N, h:OH, w:OW, f:CO",
                          .channel = "f",
                          .channels = "CO",
                          .value = "acc[n, h, w, f]"};
    const int joins = is_joined(t), pads = is_padded(t);
    if (joins)
        at_sizes(t, "P = dw == 1 ? KW : 1, K = (P*CI + 3)/4*4,"
                    "X = ((OW - 1)*sw + (KW/P - 1)*dw)*CI + K");
    const char *pad =
        at_textf(t,
                 "pad[n:N, y:H+pt+pb, x:W+pl+pr, c:CI] : %s = inside ?"
                 " data[n, y - pt, x - pl, c] : 0\n"
                 "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n",
                 type(t, 0));
    at_compute(t, at_textf(t, typed, type(t, 0), type(t, 1),
                           joins  ? at_textf(t, joined, type(t, 0), type(t, 1))
                           : pads ? pad
                                  : "",
                           at_sum_type(t, "types"),
                           joins ? sum_of_joined : at_textf(t, sum, pads ? "pad" : "data"),
                           at_typed_output(t, "types", &out)));
}

static void define(at_template *t) {
    at_sizes(t, "eh = (KH-1)*dh + 1, ew = (KW-1)*dw + 1,"
                "pt = top < 0 ? eh/2 : top, pl = left < 0 ? ew/2 : left,"
                "pb = bottom < 0 ? (eh-1)/2 : bottom, pr = right < 0 ? (ew-1)/2 : right");
    at_require(t, "H + pt + pb >= eh && W + pl + pr >= ew", "the kernel exceeds the padded image");
    at_sizes(t, "OH = (H + pt + pb - eh)/sh + 1, OW = (W + pl + pr - ew)/sw + 1");
    if (at_is_typed(t, "types") || at_evaluate(t, "CO < 4 || CO < 8 && KH*KW*CI >= 256")) {
        define_typed(t);
        return;
    }
    at_split(t, "tile_ow", "OW", "ow iw", .policy = AT_VERBOSE, .filter = "last <= 64");
    at_split(t, "tile_co", "CO", "fo fi", .policy = AT_FACTORS);
    at_split(t, "tile_ci", "CI", "co ci", .policy = AT_FACTORS, .fallback = {-1, 16});
    if (at_evaluate(t, "KH*KW > 1")) at_option(t, "order", "[0, 1, 2]", 0);
    else at_sizes(t, "order = 0");
    if (at_evaluate(t, "KW > 1")) at_option(t, "unroll_kw", "[true, false]", 1);
    else at_sizes(t, "unroll_kw = 0");
    /* Bytes that weights are asked for ahead, where they outgrow the caches near the core. */
    int large = at_evaluate(t, "KH*KW*CI*CO > 131072") != 0;
    if (large) at_option(t, "prefetch", "[0, 2048, 8192]", 2);
    at_sizes(t, large ? "B = |fi|, ahead = prefetch" : "B = |fi|");
    at_compute(t, is_padded(t) ? padded : plain);
    /* co, kh, kw, ci; kh, co, kw, ci; or kh, kw, co, ci: numbers 0, 6 and 8 of the orders of four.
     */
    at_sizes(t, "loops = order == 2 ? 8 : 6*order + unroll_kw");
    at_schedule(t, at_textf(t, tree, large ? "[prefetch packw ahead]" : ""));
}

/* Two vectors of output channels and as many pixels as then fit the registers. */
static void defaults(at_template *t, int lanes) {
    long long fi = at_vectors(at_evaluate(t, "CO"), lanes, 2);
    long long iw = at_fitting_rows(at_evaluate(t, "OW"), at_most_rows(fi, lanes));
    at_default(t, "tile_co", &fi);
    at_default(t, "tile_ow", &iw);
}

const at_template_row at_conv2d_nhwc = {
    .name = "conv2d_nhwc",
    .help = "direct convolution, channels last, any kernel, stride, padding and dilation",
    .args = "N=1, H=56, W=56, CI=64, CO=64, KH=3, KW=3, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1, " AT_TYPES,
    .sizes = "{N}x{H}x{W}x{CI}_{CO}_{KH}x{KW}",
    .title = "conv{KH}x{KW} {CI} to {CO} @{H}x{W}",
    .record_args = "[[\"TENSOR\", [N, H, W, CI], \"float32\"], "
                   "[\"TENSOR\", [KH, KW, CI, CO], \"float32\"], "
                   "strides, padding, dilation, \"float32\"] with types=\"\" | "
                   "[[N, H, W, CI], [KH, KW, CI, CO], strides, padding, dilation, types]",
    .define = define,
    .defaults = defaults,
};
