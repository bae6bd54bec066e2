/* Networks of 8-bit numbers with scales and zeros: kernels of integers against the nodes in double,
 * which know nothing of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "network/net_truth.h"
#include "tests/arena.h"
#include "tests/network/made_net.h"

static void whole(onnx_graph *g, const char *name, at_net_type type, const char *dims, int n,
                  int least, int most) {
    at_text t = {0};
    for (int i = 0; i < n; i++)
        at_text_addf(&t, " %d", least + (i * 37 + i / 5) % (most - least + 1));
    onnx_constant(g, name, type, dims, at_text_str(&t), true);
    at_text_free(&t);
}

static void scalar(onnx_graph *g, const char *name, at_net_type type, const char *x) {
    onnx_constant(g, name, type, "", x, false);
}

/* The number of parts whose titles say that they are of integers. */
static int count_integers(const at_net_program *p) {
    int n = 0;
    for (int i = 0; i < p->cut.num_parts; i++) n += !strncmp(p->cut.parts[i].title, "int8 ", 5);
    return n;
}

/* The nodes of an operator that the network has when it is rewritten. */
static int count_rewritten(const at_net *net, const char *op) {
    const at_net *rewritten = at_net_rewrite(arena, net, true);
    int n = 0;
    for (int i = 0; i < rewritten->nodes.len; i++) n += !strcmp(rewritten->nodes.data[i].op, op);
    return n;
}

/* A part's estimate is of the instructions that its kernel has, with weights that are cold. */
static void check_estimates(const at_net_program *p, const at_net_build *b) {
    for (int i = 0; i < p->num_kernels; i++) {
        const at_net_choice *c = &p->kernels[i].choices[0];
        at_engine_options o = b->engine;
        if (p->kernels[i].part->is_whole || !isfinite(c->time_s)) continue;
        o.isa = at_net_isa(b, c->selection.task);
        o.cache = AT_CACHE_WEIGHTS_COLD;
        const double seconds = at_config_seconds(&o, c->selection.task, &c->selection.config);
        if (fabs(c->time_s - seconds) > 1e-6 * seconds)
            fail_msg("%s: %g s, not %g", p->kernels[i].part->title, c->time_s, seconds);
    }
}

/* integers: so many parts are of integers, where this CPU's kernels have them. exact: outputs are
 * equal; else no element is more than `step` away, and but one in fifty is equal: a half may be
 * rounded to either side. */
static void check(onnx_graph *g, int integers, bool exact, double step) {
    at_net *net = onnx_open(arena, g);
    at_net_program p;
    const at_net_build b = {0};
    at_net_truth t;
    at_error err;
    at_net_distance errors[4];
    const void *inputs[4];
    for (int i = 0; i < net->inputs.len; i++) {
        const at_net_value *v = &net->values.data[net->inputs.data[i]];
        char *x = at_alloc(arena, (size_t)(v->elements * at_net_type_bytes(v->type)));
        const double least = v->type == AT_NET_INT8 ? -128 : 0;
        for (int64_t k = 0; k < v->elements; k++)
            at_net_store(v->type, x, k,
                         v->type == AT_NET_FLOAT ? sin((double)k * 1.7) * 2
                                                 : least + (double)(k * 29 % 256));
        inputs[i] = x;
    }
    if (at_net_program_new(net, &b, &p, &err) != AT_OK ||
        at_net_truth_new(net, inputs, NULL, &t, &err) != AT_OK ||
        at_net_truth_compare(&t, &p, errors, NULL, &err) != AT_OK)
        fail_msg("%s", err.text);
    check_estimates(&p, &b);
    assert_int_equal(count_integers(&p), integers);
    for (int i = 0; i < net->outputs.len; i++) {
        const at_net_value *v = &net->values.data[net->outputs.data[i]];
        int64_t differ = 0;
        for (int64_t k = 0; k < v->elements; k++) {
            const double x = at_net_element(v->type, t.outputs[i], k), e = t.expected[i][k];
            differ += fabs(x - e) > step * 1e-3;
            if (fabs(x - e) > step * 1.001)
                fail_msg("%s[%lld] is %g, not %g", v->name, (long long)k, x, e);
        }
        if (differ > (exact ? 0 : v->elements / 50))
            fail_msg("%s: %lld of %lld differ", v->name, (long long)differ, (long long)v->elements);
    }
    at_net_truth_free(&t);
    at_net_program_free(&p);
    at_net_close(net);
}

/* ---- QLinear --------------------------------------------------------------------------------- */

/* type: of data and outputs. per_channel: scales of weights. attributes: of the convolution. */
static void linear_conv(at_net_type type, const char *x_zero, const char *y_zero, bool per_channel,
                        const char *channels, const char *weight, int weights,
                        const char *attributes) {
    onnx_graph g = {0};
    onnx_input(&g, "x", type, channels);
    scalar(&g, "sx", AT_NET_FLOAT, "0.031");
    scalar(&g, "zx", type, x_zero);
    whole(&g, "w", AT_NET_INT8, weight, weights, -127, 127);
    if (per_channel)
        onnx_constant(&g, "sw", AT_NET_FLOAT, "8", "0.01 0.02 0.03 0.011 0.012 0.007 0.02 0.01",
                      false);
    else scalar(&g, "sw", AT_NET_FLOAT, "0.011");
    scalar(&g, "zw", AT_NET_INT8, "0");
    scalar(&g, "sy", AT_NET_FLOAT, "0.37");
    scalar(&g, "zy", type, y_zero);
    onnx_constant(&g, "b", AT_NET_INT32, "8", "1 -200 3000 -40000 5 66 -777 8888", false);
    onnx_node(&g, "QLinearConv", "x sx zx w sw zw sy zy b", "y", attributes);
    onnx_output(&g, "y");
    check(&g, 1, false, 1);
}

static void linear_convolutions(void **state) {
    (void)state;
    linear_conv(AT_NET_UINT8, "0", "0", false, "1,8,7,9", "8,8,3,3", 576, "pads=[1,1,1,1]");
    linear_conv(AT_NET_UINT8, "131", "7", true, "1,8,7,9", "8,8,3,3", 576,
                "pads=[1,2,0,1] strides=[2,1]");
    linear_conv(AT_NET_INT8, "-3", "-11", true, "2,3,6,6", "8,3,3,3", 216, "dilations=[2,1]");
    linear_conv(AT_NET_INT8, "5", "0", false, "1,8,5,5", "8,1,3,3", 72, "group=8 pads=[1,1,1,1]");
    linear_conv(AT_NET_UINT8, "128", "1", false, "1,8,5,5", "8,4,1,1", 32, "group=2");
    linear_conv(AT_NET_UINT8, "128", "1", false, "1,6,17", "8,6,5", 240, "pads=[2,2]");
}

/* Weights of u8 or s8 are of integers wherever their zero is. */
static void linear_product(void **state) {
    (void)state;
    static const struct {
        at_net_type type;
        int least, most;
        const char *zero;
    } cases[] = {{AT_NET_UINT8, 0, 255, "128"}, {AT_NET_INT8, -128, 127, "0"},
                 {AT_NET_UINT8, 20, 147, "60"}, {AT_NET_INT8, -128, 20, "-100"},
                 {AT_NET_UINT8, 0, 255, "60"},  {AT_NET_INT8, -128, 127, "-90"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool is_signed = cases[k].type == AT_NET_INT8;
        onnx_graph g = {0};
        onnx_input(&g, "x", cases[k].type, "2,5,40");
        scalar(&g, "sx", AT_NET_FLOAT, "0.031");
        scalar(&g, "zx", cases[k].type, is_signed ? "-7" : "99");
        whole(&g, "w", cases[k].type, "40,24", 960, cases[k].least, cases[k].most);
        scalar(&g, "sw", AT_NET_FLOAT, "0.011");
        scalar(&g, "zw", cases[k].type, cases[k].zero);
        scalar(&g, "sy", AT_NET_FLOAT, "0.5");
        scalar(&g, "zy", AT_NET_UINT8, "77");
        onnx_node(&g, "QLinearMatMul", "x sx zx w sw zw sy zy", "y", "");
        onnx_output(&g, "y");
        check(&g, 1, false, 1);
    }
}

/* ---- sums as they are ------------------------------------------------------------------------ */

/* A sum of integers as it is: y = MatMulInteger or ConvInteger of x and w, less zeros. */
typedef struct integer_sum {
    const char *op;
    at_net_type x_type;
    const char *x; /* dimensions */
    at_net_type w_type;
    const char *w;
    int elements, least, most;   /* of w */
    const char *x_zero, *w_zero; /* NULL: none; w_zero: one number, or one for each column */
    const char *attributes;
} integer_sum;

static void sum_integers(const integer_sum *s) {
    onnx_graph g = {0};
    const bool by_column = s->w_zero && strchr(s->w_zero, ' ');
    onnx_input(&g, "x", s->x_type, s->x);
    whole(&g, "w", s->w_type, s->w, s->elements, s->least, s->most);
    if (s->x_zero) scalar(&g, "zx", s->x_type, s->x_zero);
    if (s->w_zero) onnx_constant(&g, "zw", s->w_type, by_column ? "8" : "", s->w_zero, false);
    onnx_node(&g, s->op,
              at_format(arena, "x w%s%s", s->x_zero ? " zx" : "", s->w_zero ? " zw" : ""), "y",
              s->attributes);
    onnx_output(&g, "y");
    check(&g, 1, true, 0.5);
}

/* Sums beyond 2^24, which floats would round; then of weights that are less their zero no s8: zeros
 * by column, padding, groups. */
static void integers(void **state) {
    (void)state;
    static const integer_sum sums[] = {
        {"MatMulInteger", AT_NET_UINT8, "3,900", AT_NET_INT8, "900,8", 7200, 100, 127, "1", NULL,
         ""},
        {"ConvInteger", AT_NET_INT8, "1,64,6,6", AT_NET_INT8, "8,64,3,3", 4608, -128, -90, "-128",
         NULL, ""},
        {"MatMulInteger", AT_NET_UINT8, "3,900", AT_NET_UINT8, "900,8", 7200, 100, 255, "1",
         "0 1 2 3 128 140 0 60", ""},
        {"ConvInteger", AT_NET_UINT8, "1,62,6,6", AT_NET_UINT8, "8,62,3,3", 4464, 60, 255, "3", "5",
         "pads=[1,1,1,1]"},
        {"ConvInteger", AT_NET_INT8, "1,8,6,6", AT_NET_UINT8, "8,4,3,3", 288, 0, 255, NULL, NULL,
         "group=2"},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) sum_integers(&sums[i]);
}

/* The zero is known only when the network runs. w_zero: of weights of u8. */
static void dynamic_product(const char *w_zero) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4,32");
    if (w_zero) {
        whole(&g, "w", AT_NET_UINT8, "32,16", 512, 0, 255);
        scalar(&g, "zw", AT_NET_UINT8, w_zero);
    } else {
        whole(&g, "w", AT_NET_INT8, "32,16", 512, -127, 127);
    }
    onnx_node(&g, "DynamicQuantizeLinear", "x", "q s z", "");
    onnx_node(&g, "MatMulInteger", w_zero ? "q w z zw" : "q w z", "m", "");
    onnx_node(&g, "Cast", "m", "f", "to=1");
    onnx_node(&g, "Mul", "f s", "y", "");
    onnx_output(&g, "y");
    check(&g, 1, false, 2);
}

/* The same of a convolution, which is padded with that zero. */
static void dynamic_convolution(int channels, int groups, const char *w_zero,
                                const char *attributes) {
    onnx_graph g = {0};
    const int per_group = channels / groups, elements = 8 * per_group * 9;
    const char *dims = at_format(arena, "8,%d,3,3", per_group);
    onnx_input(&g, "x", AT_NET_FLOAT, at_format(arena, "1,%d,7,6", channels));
    whole(&g, "w", w_zero ? AT_NET_UINT8 : AT_NET_INT8, dims, elements, w_zero ? 0 : -127,
          w_zero ? 255 : 127);
    if (w_zero) scalar(&g, "zw", AT_NET_UINT8, w_zero);
    onnx_node(&g, "DynamicQuantizeLinear", "x", "q s z", "");
    onnx_node(&g, "ConvInteger", w_zero ? "q w z zw" : "q w z", "m",
              at_format(arena, "group=%d %s", groups, attributes));
    onnx_node(&g, "Cast", "m", "f", "to=1");
    onnx_node(&g, "Mul", "f s", "y", "");
    onnx_output(&g, "y");
    check(&g, 1, false, 2);
}

static void dynamic(void **state) {
    (void)state;
    dynamic_product(NULL);
    dynamic_product("7");
    dynamic_convolution(6, 1, NULL, "pads=[1,1,1,1]");
    dynamic_convolution(8, 1, "200", "pads=[1,0,2,1] strides=[2,1]");
    dynamic_convolution(8, 1, "130", "");
    dynamic_convolution(6, 1, "0", "pads=[1,1,1,1]"); /* 255 is no sum of two s8 */
    dynamic_convolution(8, 8, "7", "pads=[1,1,1,1]");
    dynamic_convolution(8, 2, NULL, "pads=[1,1,1,1]");
}

/* Sums that may be beyond 32 bits are of floats. zero: of x; NULL: it comes with the run. */
static void long_sum(const char *zero, at_net_type type, int least, int terms, int integers) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_UINT8, at_format(arena, "2,%d", terms));
    if (zero) scalar(&g, "z", AT_NET_UINT8, zero);
    else onnx_input(&g, "z", AT_NET_UINT8, "1");
    whole(&g, "w", type, at_format(arena, "%d,4", terms), 4 * terms, least, least + 1);
    onnx_node(&g, "MatMulInteger", "x w z", "y", "");
    onnx_output(&g, "y");
    check(&g, integers, true, 0.5);
}

static void long_sums(void **state) {
    (void)state;
    long_sum(NULL, AT_NET_INT8, 0, 32000, 1);
    long_sum(NULL, AT_NET_INT8, 0, 33000, 0);
    long_sum("128", AT_NET_INT8, 0, 33000, 0);
    long_sum("128", AT_NET_UINT8, 0, 32000, 1);
    long_sum("255", AT_NET_UINT8, 254, 16000, 1);
    long_sum(NULL, AT_NET_UINT8, 254, 16000, 1);
    long_sum("0", AT_NET_INT8, 0, 70000, 0);
}

/* ---- between DequantizeLinear and QuantizeLinear -----------------------------------------------
 */

static void quantized(onnx_graph *g, const char *from, const char *to, const char *scale,
                      const char *zero) {
    const char *s = at_format(arena, "%s_s", to), *z = at_format(arena, "%s_z", to),
               *q = at_format(arena, "%s_q", to);
    scalar(g, s, AT_NET_FLOAT, scale);
    scalar(g, z, AT_NET_UINT8, zero);
    onnx_node(g, "QuantizeLinear", at_format(arena, "%s %s %s", from, s, z), q, "");
    onnx_node(g, "DequantizeLinear", at_format(arena, "%s %s %s", q, s, z), to, "");
}

/* A node whose output is rounded to bytes. */
static void rounded_node(onnx_graph *g, const char *op, const char *inputs, const char *to,
                         const char *scale, const char *zero) {
    const char *made = at_format(arena, "%s0", to);
    onnx_node(g, op, inputs, made, "");
    quantized(g, made, to, scale, zero);
}

static void dequantized(onnx_graph *g, const char *name, const char *dims, int n,
                        const char *scale) {
    const char *q = at_format(arena, "%s_q", name), *s = at_format(arena, "%s_s", name),
               *z = at_format(arena, "%s_z", name);
    whole(g, q, AT_NET_INT8, dims, n, -127, 127);
    scalar(g, s, AT_NET_FLOAT, scale);
    scalar(g, z, AT_NET_INT8, "0");
    onnx_node(g, "DequantizeLinear", at_format(arena, "%s %s %s", q, s, z), name, "");
}

/* A product of integers behind views of dequantized numbers, one of which is read elsewhere, too.
 */
static void behind_views(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,4,3,2");
    dequantized(&g, "w1", "10,24", 240, "0.01");
    dequantized(&g, "w2", "10,24", 240, "0.02");
    onnx_constant(&g, "shape", AT_NET_INT64, "2", "2 -1", false);
    quantized(&g, "x", "a", "0.016", "127");
    onnx_node(&g, "Flatten", "a", "f", "");
    onnx_node(&g, "Gemm", "f w1", "c", "transB=1");
    rounded_node(&g, "Neg", "x", "b", "0.013", "100");
    onnx_node(&g, "Reshape", "b shape", "r", "");
    onnx_node(&g, "Abs", "r", "e", "");
    onnx_node(&g, "Gemm", "r w2", "d", "transB=1");
    static const char *const outputs[] = {"c", "d", "e"};
    for (int i = 0; i < 3; i++) onnx_output(&g, outputs[i]);
    check(&g, 2, false, 1);
}

/* Numbers that are quantized again as they were, behind a move or at once, are moved as bytes; with
 * another zero they are not. */
static void quantized_again(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        const bool same = i < 2, counts = i & 1;
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "2,4,6");
        dequantized(&g, "w", "12,10", 120, "0.01");
        onnx_constant(&g, "shape", AT_NET_INT64, "2", "4 12", false);
        quantized(&g, "x", "a", "0.016", "127");
        onnx_node(&g, "Transpose", "a", "t", "perm=[1,0,2]");
        quantized(&g, "t", "b", "0.016", same ? "127" : "120");
        rounded_node(&g, "Reshape", "b shape", "c", "0.016", same ? "127" : "120");
        quantized(&g, "c", "d", "0.016", same ? "127" : "120");
        onnx_node(&g, "MatMul", "d w", "y", "");
        onnx_output(&g, "y");
        if (!counts) {
            check(&g, 1, false, 1);
            continue;
        }
        at_net *net = onnx_open(arena, &g);
        assert_int_equal(count_rewritten(net, "Quantize"), same ? 1 : 2);
        at_net_close(net);
    }
}

/* SiLU of bytes, of few steps, whose result others read as well, and GELU and HardSwish of it. */
static onnx_graph functions_of_bytes(void) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,9,20");
    scalar(&g, "less", AT_NET_FLOAT, "0.70710678");
    scalar(&g, "one", AT_NET_FLOAT, "1");
    quantized(&g, "x", "a", "0.016", "127");
    rounded_node(&g, "Sigmoid", "a", "b", "0.004", "0");
    rounded_node(&g, "Mul", "a b", "c", "0.008", "30");
    rounded_node(&g, "Mul", "c less", "d", "0.006", "31");
    rounded_node(&g, "Erf", "d", "e", "0.008", "128");
    rounded_node(&g, "Add", "e one", "f", "0.008", "0");
    rounded_node(&g, "Mul", "f c", "h", "0.012", "20");
    rounded_node(&g, "HardSigmoid", "h", "i", "0.004", "0");
    rounded_node(&g, "Mul", "h i", "k", "0.01", "18");
    onnx_output(&g, "c");
    onnx_output(&g, "k");
    return g;
}

static void looked_up(void **state) {
    (void)state;
    onnx_graph g = functions_of_bytes();
    check(&g, 0, false, 0.012);
    g = functions_of_bytes();
    at_net *net = onnx_open(arena, &g);
    assert_int_equal(count_rewritten(net, "Table"), 1);
    at_net_close(net);
}

/* What goes element by element from bytes to bytes lies as a convolution left it, whoever reads it;
 * of a picture, whose pixels have fewer than four bytes, each channel lies by itself. */
static void lies_as_made(void **state) {
    (void)state;
    for (int channels = 3; channels <= 8; channels += 5) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, at_format(arena, "1,%d,6,5", channels));
        dequantized(&g, "w", at_format(arena, "16,%d,1,1", channels), 16 * channels, "0.01");
        quantized(&g, "x", "a", "0.016", "127");
        rounded_node(&g, "Conv", "a w", "b", "0.02", "120");
        rounded_node(&g, "HardSigmoid", "b", "d", "0.004", "0");
        onnx_node(&g, "ReduceMean", "d", "y", "axes=[2,3]");
        onnx_output(&g, "y");
        at_net *net = onnx_open(arena, &g);
        const at_net *rewritten = at_net_rewrite(arena, net, true);
        const int *const *orders = at_net_orders(arena, rewritten, NULL);
        int found = 0;
        for (int v = 0; v < rewritten->values.len; v++) {
            const char *name = rewritten->values.data[v].name;
            const bool is_first = !strcmp(name, "a_q");
            if (!is_first && strcmp(name, "b_q") != 0 && strcmp(name, "d_q") != 0) continue;
            assert_int_equal(rewritten->values.data[v].element, AT_U8);
            assert_true((orders[v] != NULL) == (!is_first || channels == 8));
            found++;
        }
        assert_int_equal(found, 3);
        at_net_close(net);
    }
}

/* A single dequantized number, as an input without axes and as a view without any. */
static void without_axes(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,1");
    onnx_input(&g, "v", AT_NET_FLOAT, "");
    quantized(&g, "x", "a", "0.016", "127");
    quantized(&g, "v", "b", "0.013", "100");
    onnx_node(&g, "Squeeze", "a", "s", "");
    onnx_node(&g, "Add", "s b", "y", "");
    onnx_output(&g, "y");
    check(&g, 0, false, 1);
}

/* QGemm to bytes and to floats, with a weight as it is and turned. */
static void own_gemm(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        const bool turned = i & 1, rounded = i & 2;
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_UINT8, "5,24");
        scalar(&g, "xs", AT_NET_FLOAT, "0.02");
        scalar(&g, "xz", AT_NET_UINT8, "120");
        whole(&g, "w", AT_NET_INT8, turned ? "10,24" : "24,10", 240, -127, 127);
        scalar(&g, "ws", AT_NET_FLOAT, "0.01");
        scalar(&g, "wz", AT_NET_INT8, "0");
        whole(&g, "b", AT_NET_INT32, "10", 10, -3000, 3000);
        scalar(&g, "ys", AT_NET_FLOAT, "0.3");
        scalar(&g, "yz", AT_NET_UINT8, "99");
        onnx_node(&g, "com.microsoft:QGemm",
                  rounded ? "x xs xz w ws wz b ys yz" : "x xs xz w ws wz b", "y",
                  turned ? "transB=1 alpha=1.0" : "");
        onnx_output(&g, "y");
        check(&g, 1, false, rounded ? 1 : 0.01);
    }
}

/* A bias that is beyond 32 bits in units of the scales is added to floats. */
static void large_bias(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,4,5,6");
    quantized(&g, "x", "xq", "0.02", "128");
    dequantized(&g, "w", "8,4,1,1", 32, "1e-7");
    onnx_constant(&g, "b", AT_NET_FLOAT, "8", "9 -8 7 -6 5 -4 3 2", true);
    rounded_node(&g, "Conv", "xq w b", "y", "0.1", "128");
    onnx_output(&g, "y");
    check(&g, 0, false, 0.1);
}

/* Convolutions, an addend, the largest of windows, a mean, a product: all on bytes. */
static void picture(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,3,16,16");
    dequantized(&g, "w1", "8,3,3,3", 216, "0.01");
    dequantized(&g, "w2", "8,8,3,3", 576, "0.003");
    dequantized(&g, "w3", "10,8", 80, "0.01");
    onnx_constant(&g, "b", AT_NET_FLOAT, "8", "1 -1 0.5 0.25 0 0.1 -0.2 0.3", false);
    quantized(&g, "x", "xq", "0.016", "127");
    onnx_node(&g, "Conv", "xq w1 b", "c1", "pads=[1,1,1,1]");
    rounded_node(&g, "Relu", "c1", "a", "0.05", "3");
    onnx_node(&g, "MaxPool", "a", "m", "kernel_shape=[3,3] strides=[2,2] pads=[1,1,1,1]");
    scalar(&g, "ms", AT_NET_FLOAT, "0.05");
    scalar(&g, "mz", AT_NET_UINT8, "3");
    onnx_node(&g, "QuantizeLinear", "m ms mz", "mq", "");
    onnx_node(&g, "DequantizeLinear", "mq ms mz", "mf", "");
    onnx_node(&g, "Conv", "mf w2", "c2", "pads=[1,1,1,1]");
    quantized(&g, "c2", "c2q", "0.07", "120");
    onnx_node(&g, "Add", "c2q mf", "sum", "");
    rounded_node(&g, "Relu", "sum", "r2q", "0.06", "0");
    rounded_node(&g, "GlobalAveragePool", "r2q", "pq", "0.04", "5");
    rounded_node(&g, "Flatten", "pq", "fq", "0.04", "5");
    onnx_node(&g, "Gemm", "fq w3", "h", "transB=1");
    quantized(&g, "h", "y", "0.05", "100");
    onnx_output(&g, "y");
    check(&g, 3, true, 0.05);
}

/* What is read as floats, too, stays correct: a value of bytes with another kind of reader. */
static void mixed(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,16");
    dequantized(&g, "w", "16,8", 128, "0.01");
    quantized(&g, "x", "a", "0.016", "127");
    rounded_node(&g, "MatMul", "a w", "b", "0.05", "100");
    onnx_node(&g, "Sigmoid", "b", "s", "");
    onnx_node(&g, "Cast", "b_q", "c", "to=1");
    onnx_node(&g, "Add", "s c", "t", "");
    onnx_node(&g, "Softmax", "a", "u", "");
    onnx_output(&g, "t");
    onnx_output(&g, "u");
    check(&g, 1, false, 1.01);
}

/* ---- of ONNX Runtime's domain ---------------------------------------------------------------- */

enum { PLANES = 3, ROWS = 4, COLUMNS = 5, ELEMENTS = PLANES * ROWS * COLUMNS };
static const double scale_x = 0.0213f, scale_b = 0.0371f, scale_y = 0.0517f;
enum { ZERO_X = 131, ZERO_B = 100, ZERO_Y = 9 };

static int stored(double real) {
    const double y = nearbyint(real / scale_y) + ZERO_Y;
    return (int)(y < 0 ? 0 : y > 255 ? 255 : y);
}

static double real_at(const unsigned char *x, int i) { return (x[i] - ZERO_X) * scale_x; }

/* The mean of the elements of a window, of which one row and one column may lie outside; padding
 * counts as 0 where it counts. */
static double mean_of(const unsigned char *x, int plane, int row, int column, bool padding) {
    double sum = 0;
    int n = 0;
    for (int r = row - 1; r <= row; r++)
        for (int c = column - 1; c <= column; c++) {
            const bool inside = r >= 0 && c >= 0 && r < ROWS && c < COLUMNS;
            if (inside) sum += real_at(x, (plane * ROWS + r) * COLUMNS + c);
            n += inside || padding;
        }
    return sum / n;
}

/* The exponential of an element over the sum of `n` that begin at a multiple of n. */
static double share_of(const unsigned char *x, int i, int n) {
    double sum = 0;
    for (int k = i / n * n; k < i / n * n + n; k++) sum += exp(real_at(x, k) - real_at(x, i));
    return 1 / sum;
}

/* What plain loops make of the operator. */
static int expected_of(const char *op, const unsigned char *x, const unsigned char *b, int i) {
    const int column = i % COLUMNS, row = i / COLUMNS % ROWS, plane = i / COLUMNS / ROWS;
    const double e = real_at(x, i), f = (b[plane * COLUMNS + column] - ZERO_B) * scale_b;
    if (!strcmp(op, "QLinearAdd")) return stored(e + f);
    if (!strcmp(op, "QLinearMul")) return stored(e * f);
    if (!strcmp(op, "QLinearSigmoid")) return stored(1 / (1 + exp(-e)));
    if (!strcmp(op, "QLinearLeakyRelu")) return stored(e >= 0 ? e : e * 0.3125);
    if (!strcmp(op, "QLinearSoftmax")) return stored(share_of(x, i, COLUMNS));
    if (!strcmp(op, "QLinearSoftmax, planes")) return stored(share_of(x, i, ROWS * COLUMNS));
    return stored(mean_of(x, plane, row, column, !strcmp(op, "QLinearAveragePool, padding")));
}

static void own_operator(const char *op, const char *inputs, const char *attributes) {
    unsigned char x[ELEMENTS], b[PLANES * COLUMNS];
    onnx_graph g = {0};
    at_text of_b = {0};
    at_net_truth t;
    at_error err;
    for (int i = 0; i < ELEMENTS; i++) x[i] = (unsigned char)(i * 29 % 256);
    for (int i = 0; i < PLANES * COLUMNS; i++) {
        b[i] = (unsigned char)(i * 53 % 256);
        at_text_addf(&of_b, " %d", b[i]);
    }
    onnx_input(&g, "x", AT_NET_UINT8, "1,3,4,5");
    onnx_constant(&g, "b", AT_NET_UINT8, "3,1,5", at_text_str(&of_b), true);
    scalar(&g, "sx", AT_NET_FLOAT, "0.0213");
    scalar(&g, "sb", AT_NET_FLOAT, "0.0371");
    scalar(&g, "sy", AT_NET_FLOAT, "0.0517");
    scalar(&g, "zx", AT_NET_UINT8, "131");
    scalar(&g, "zb", AT_NET_UINT8, "100");
    scalar(&g, "zy", AT_NET_UINT8, "9");
    const char *name = at_strndup(arena, op, strcspn(op, ","));
    onnx_node(&g, at_format(arena, "com.microsoft:%s", name), inputs, "y", attributes);
    onnx_output(&g, "y");
    onnx_graph again = {0};
    at_text_addn(&again.bytes, at_text_str(&g.bytes), g.bytes.len);
    at_net *net = onnx_open(arena, &g);
    const void *given[] = {x};
    if (at_net_truth_new(net, given, NULL, &t, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(net->values.data[net->outputs.data[0]].elements, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++)
        if (t.expected[0][i] != expected_of(op, x, b, i))
            fail_msg("%s[%d] is %g, not %d", op, i, t.expected[0][i], expected_of(op, x, b, i));
    at_net_truth_free(&t);
    at_net_close(net);
    at_text_free(&of_b);
    check(&again, 0, false, 1);
}

static void own_domain(void **state) {
    (void)state;
    static const char windows[] = "kernel_shape=[2,2] pads=[1,1,0,0]";
    own_operator("QLinearAdd", "x sx zx b sb zb sy zy", "");
    own_operator("QLinearMul", "x sx zx b sb zb sy zy", "");
    own_operator("QLinearSigmoid", "x sx zx sy zy", "");
    own_operator("QLinearLeakyRelu", "x sx zx sy zy", "alpha=0.3125");
    own_operator("QLinearSoftmax", "x sx zx sy zy", "opset=13");
    own_operator("QLinearSoftmax, planes", "x sx zx sy zy", "opset=11 axis=2");
    own_operator("QLinearAveragePool", "x sx zx sy zy", windows);
    own_operator("QLinearAveragePool, padding", "x sx zx sy zy",
                 at_format(arena, "%s count_include_pad=1", windows));
}

/* Bytes of two scales one behind another, in a third. */
static void concatenated(void **state) {
    (void)state;
    enum { FIRST = 6, SECOND = 10, COUNT = FIRST + SECOND };
    unsigned char x[FIRST], b[SECOND];
    onnx_graph g = {0}, again = {0};
    at_net_truth t;
    at_error err;
    for (int i = 0; i < FIRST; i++) x[i] = (unsigned char)(i * 41 + 3);
    for (int i = 0; i < SECOND; i++) b[i] = (unsigned char)(i * 23 + 7);
    onnx_input(&g, "x", AT_NET_UINT8, "2,3");
    onnx_input(&g, "b", AT_NET_UINT8, "2,5");
    onnx_constant(&g, "none", AT_NET_UINT8, "2,0", "", true);
    scalar(&g, "sx", AT_NET_FLOAT, "0.0213");
    scalar(&g, "sb", AT_NET_FLOAT, "0.0371");
    scalar(&g, "sy", AT_NET_FLOAT, "0.0517");
    scalar(&g, "zx", AT_NET_UINT8, "131");
    scalar(&g, "zb", AT_NET_UINT8, "100");
    scalar(&g, "zy", AT_NET_UINT8, "9");
    onnx_node(&g, "com.microsoft:QLinearConcat", "sy zy x sx zx none sx zx b sb zb none sb zb", "y",
              "axis=-1");
    onnx_output(&g, "y");
    at_text_addn(&again.bytes, at_text_str(&g.bytes), g.bytes.len);
    at_net *net = onnx_open(arena, &g);
    const void *given[] = {x, b};
    if (at_net_truth_new(net, given, NULL, &t, &err) != AT_OK) fail_msg("%s", err.text);
    for (int i = 0; i < COUNT; i++) {
        const int row = i / 8, column = i % 8;
        const double real = column < 3 ? real_at(x, row * 3 + column)
                                       : (b[row * 5 + column - 3] - ZERO_B) * scale_b;
        if (t.expected[0][i] != stored(real))
            fail_msg("%d is %g, not %d", i, t.expected[0][i], stored(real));
    }
    at_net_truth_free(&t);
    at_net_close(net);
    check(&again, 0, false, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_domain),     cmocka_unit_test(behind_views),
        cmocka_unit_test(concatenated),   cmocka_unit_test(linear_convolutions),
        cmocka_unit_test(linear_product), cmocka_unit_test(integers),
        cmocka_unit_test(dynamic),        cmocka_unit_test(long_sums),
        cmocka_unit_test(picture),        cmocka_unit_test(quantized_again),
        cmocka_unit_test(lies_as_made),   cmocka_unit_test(looked_up),
        cmocka_unit_test(large_bias),     cmocka_unit_test(own_gemm),
        cmocka_unit_test(mixed),          cmocka_unit_test(without_axes)};
    return cmocka_run_group_tests_name("network/quantized", tests, make_arena, free_arena);
}
