/* templates/depthwise_conv2d_nchwc.c: depthwise convolution in blocked layouts, AutoTVM's
 * depthwise_conv2d_NCHWc.x86: data [N, IC/i, H, W, i], weight [OC/o, 1, KH, KW, 1, o]. Block sizes
 * are knobs, or, with packed arguments, those of the data: then tile_ic and tile_oc have no effect.
 * AutoTVM has no multiplier M here; channel c makes c*M to c*M + M-1. */
#include "templates/template.h"

/* clang-format off */
/* %s: types, if any, and the output. */
static const char compute[] =
    "data[N, IC/i, H, W, i] : input%s\n"
    "weight[OC/o, 1, KH, KW, 1, o] : weight%s\n"
    "pad[n:N, C:IC/i, y:H+pt+pb, x:W+pl+pr, c:i]%s = inside ? data[n, C, y - pt, x - pl, c] : 0\n"
    "    where inside = pt <= y && y < H + pt && pl <= x && x < W + pl\n"
    "acc[n:N, O:OC/o, h:OH, w:OW, b:o]%s = sum(kh:KH, kw:KW)\n"
    "    pad[n, c/i, h*sh + kh*dh, w*sw + kw*dw, c%%i] * weight[O, 0, kh, kw, 0, b]\n"
    "    where c = (O*o + b)/M\n"
    "%s";

static const char tree[] =
    "{n, O, h}:para, ow =>\n"
    "    kh, kw:ann(unroll_kw), iw:unroll, b:vec =>\n"
    "        @acc = n, O, h, {ow, iw}/w, b  // kh, kw\n"
    "    iw:unroll, b:vec =>\n"
    "        @out = n, O, h, {ow, iw}/w, b\n";
/* clang-format on */

static const char *declared(at_template *t, const char *type) {
    return at_is_typed(t, "types") ? at_textf(t, " : %s", type) : "";
}

/* What follows "input" or "weight". */
static const char *kept(at_template *t, int i) {
    return at_is_typed(t, "types") ? at_textf(t, " %s", at_argument_type(t, "types", i)) : "";
}

static void define_computation(at_template *t) {
    const at_typed out = {.axes = "n:N, O:OC/o, h:OH, w:OW, b:o",
                          .channel = "O*o + b",
                          .channels = "OC",
                          .value = "acc[n, O, h, w, b]"};
    at_compute(t, at_textf(t, compute, kept(t, 0), kept(t, 1),
                           declared(t, at_argument_type(t, "types", 0)),
                           declared(t, at_sum_type(t, "types")),
                           at_is_typed(t, "types")
                               ? at_typed_output(t, "types", &out)
                               : "out[n:N, O:OC/o, h:OH, w:OW, b:o] = acc[n, O, h, w, b]\n"));
}

static void define(at_template *t) {
    at_require(t, "(ib == 0) == (ob == 0)", "ib and ob are given both or neither");
    at_require(t, "ib == 0 || IC % ib == 0", "ib does not divide IC");
    at_require(t, "ob == 0 || IC*M % ob == 0", "ob does not divide IC*M");
    at_sizes(t, AT_WINDOW("OH", "H", "KH", "sh", "dh", "top", "bottom", "pt", "pb"));
    at_sizes(t, AT_WINDOW("OW", "W", "KW", "sw", "dw", "left", "right", "pl", "pr"));
    at_require(t, "OH >= 1 && OW >= 1", "the kernel exceeds the padded image");
    at_sizes(t, "OC = IC*M");
    at_split(t, "tile_ic", "IC", "c_chunks c_block", .policy = AT_FACTORS);
    at_split(t, "tile_oc", "OC", "o_chunks o_block", .policy = AT_FACTORS);
    at_split(t, "tile_ow", "OW", "ow iw", .policy = AT_FACTORS, .filter = "last <= 64");
    at_option(t, "unroll_kw", "[true, false]", 1);
    at_sizes(t, "i = ib ? ib : |c_block|, o = ob ? ob : |o_block|, b = o");
    define_computation(t);
    at_schedule(t, tree);
    at_layout(t, "data[n, C, y, x, c] = n, C, c, y, x");
    at_layout(t, "weight[O, k, y, x, l, o] = O, o, k, l, y, x");
    at_layout(t, "out[n, O, h, w, o] = n, O, o, h, w");
}

static void defaults(at_template *t, int lanes) {
    long long m = at_evaluate(t, "M"), whole = m <= lanes ? m : 1; /* a channel's in one block */
    long long o = whole * at_divisor(at_evaluate(t, "OC") / whole, lanes / whole);
    if (m == 1) o = at_vectors(at_evaluate(t, "OC"), lanes, 1);
    long long i = at_divisor(at_evaluate(t, "IC"), o), vectors = (o + lanes - 1) / lanes;
    /* Where loads have to be few, each is used by all of a row's terms, and not one at a time. */
    long long most = at_by_element(t) ? 15 : 31, unroll = at_by_element(t);
    long long iw = at_divisor(at_evaluate(t, "OW"), vectors < most ? most / vectors : 1);
    at_default(t, "tile_oc", &o);
    at_default(t, "tile_ic", &i);
    at_default(t, "tile_ow", &iw);
    at_default(t, "unroll_kw", &unroll);
}

#define REST(type) ", strides, padding, dilation, layout, out_layout, \"" type "\"]"
#define PLAIN(data, weight, out)                                                                   \
    "[[\"TENSOR\", [N, IC, H, W], \"" data "\"], [\"TENSOR\", [IC, M, KH, KW], \"" weight          \
    "\"]" REST(out)
#define BLOCKS(data, weight, out)                                                                  \
    "[[\"TENSOR\", [N, IC/ib, H, W, ib], \"" data                                                  \
    "\"], [\"TENSOR\", [IC/ob, 1, KH, KW, 1, ob], \"" weight "\"]" REST(out)

#define PLAIN_FLOATS PLAIN("float32", "float32", "float32") " with ib=0, ob=0, types=\"\" | "
#define BLOCKS_OF_FLOATS BLOCKS("float32", "float32", "float32") " with M=1, types=\"\" | "
#define PLAIN_BYTES PLAIN("uint8", "int8", "int32") " with ib=0, ob=0, types=\"u8s8s32\" | "
#define BLOCKS_OF_BYTES BLOCKS("uint8", "int8", "int32") " with M=1, types=\"u8s8s32\" | "
#define ANY_TYPES                                                                                  \
    "[[N, IC, H, W], [M, KH, KW], strides, padding, dilation, layout, out_layout, ib, ob, types]"

const at_template_row at_depthwise_conv2d_nchwc = {
    .name = "depthwise_conv2d_NCHWc",
    .record_name = "depthwise_conv2d_NCHWc.x86",
    .help = "depthwise convolution in blocked layouts, any kernel, stride, dilation and multiplier",
    .args = "N=1, IC=32, H=112, W=112, M=1, KH=3, KW=3, strides(sh, sw)=1, "
            "padding(top, left, bottom, right)=1 from 0, dilation(dh, dw)=1, "
            "layout=\"NCHW\" or \"NCHW{ib}c\", out_layout=\"NCHW\" or \"NCHW{ob}c\", "
            "ib=0 from 0, ob=0 from 0, " AT_TYPES,
    .sizes = "{N}x{IC}x{H}x{W}_{KH}x{KW}",
    .title = "depthwise{KH}x{KW} {IC} @{H}x{W}",
    .record_args = PLAIN_FLOATS BLOCKS_OF_FLOATS PLAIN_BYTES BLOCKS_OF_BYTES ANY_TYPES,
    .define = define,
    .defaults = defaults,
};
