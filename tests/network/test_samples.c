/* Operators of one or few lines of text beside the C library and plain loops of the test's own:
 * functions of an element, elements at places between others, transforms and windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"

/* The output y of a network of one node with one input. */
static const double *compute(onnx_graph *g, const void *input) {
    at_net *net = onnx_open_as(arena, g, 27, NULL);
    const double *y = onnx_output_of(arena, net, input);
    at_net_close(net);
    return y;
}

/* ---- functions of an element ----------------------------------------------------------------- */

/* Also near 0, where differences would cancel, and outside of what a function is for. */
static void functions(void **state) {
    (void)state;
    static const struct {
        const char *op;
        double (*of)(double);
    } rows[] = {{"Tan", tan},   {"Atan", atan},   {"Asin", asin},   {"Acos", acos},  {"Sinh", sinh},
                {"Cosh", cosh}, {"Asinh", asinh}, {"Acosh", acosh}, {"Atanh", atanh}};
    static const float x[] = {0,  1e-20f,  -3e-7f, 1e-3f, -0.3f, 0.5f, -0.51f, 0.9f,  1,
                              -1, 1.0001f, -1.7f,  3,     -20,   80,   -2e5f,  1e30f, NAN};
    enum { N = sizeof x / sizeof *x };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, at_format(arena, "%d", N));
        onnx_node(&g, rows[i].op, "x", "y", "");
        onnx_output(&g, "y");
        const double *y = compute(&g, x);
        for (int k = 0; k < N; k++) {
            const double expected = rows[i].of(x[k]);
            if (rows[i].of == tan && fabs(x[k]) > 131072) continue; /* sines are NaN there */
            if (y[k] == expected || (isnan(y[k]) && isnan(expected))) continue;
            if (!(fabs(y[k] - expected) <= 1e-10 * fabs(expected)))
                fail_msg("%s of %.9g is %.17g, not %.17g", rows[i].op, (double)x[k], y[k],
                         expected);
        }
    }
}

/* ---- bits ------------------------------------------------------------------------------------ */

enum { WORDS = 8 };

/* Of each word of the input and the same one of a constant. */
static const double *with_words(const char *op, const char *how, at_net_type type, const void *x,
                                const char *others) {
    onnx_graph g = {0};
    onnx_input(&g, "x", type, "8");
    onnx_constant(&g, "other", type, "8", others, false);
    onnx_node(&g, op, "x other", "y", how);
    onnx_output(&g, "y");
    return compute(&g, x);
}

static void expect_words(const char *what, const double *y, const int64_t *expected) {
    for (int i = 0; i < WORDS; i++)
        if (y[i] != (double)expected[i])
            fail_msg("%s: word %d is %.17g, not %lld", what, i, y[i], (long long)expected[i]);
}

static void bits(void **state) {
    (void)state;
    static const char *const ops[] = {"BitwiseAnd", "BitwiseOr", "BitwiseXor"};
    static const int32_t x[] = {0, -1, 12345, -12345, INT32_MAX, INT32_MIN, 1 << 24, -7},
                         other[] = {-1, -1, 54321, 54321, -2, INT32_MAX, (1 << 24) + 1, 3};
    at_text others = {0};
    for (int i = 0; i < WORDS; i++) at_text_addf(&others, "%d ", other[i]);
    const char *text = at_text_take(arena, &others);
    for (int op = 0; op < 3; op++) {
        int64_t expected[WORDS];
        for (int i = 0; i < WORDS; i++)
            expected[i] = op == 0 ? x[i] & other[i] : op == 1 ? x[i] | other[i] : x[i] ^ other[i];
        expect_words(ops[op], with_words(ops[op], "", AT_NET_INT32, x, text), expected);
    }
}

/* The eighth bit says what is below 0, or 128. */
static void bits_of_bytes(void **state) {
    (void)state;
    static const uint8_t x[] = {0, 1, 127, 128, 200, 255, 85, 170};
    static const char others[] = "255 3 128 128 77 170 170 85";
    static const int64_t common[] = {0, 1, 0, 128, 72, 170, 0, 0},
                         inverse[] = {255, 254, 128, 127, 55, 0, 170, 85};
    expect_words("BitwiseAnd", with_words("BitwiseAnd", "", AT_NET_UINT8, x, others), common);
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_UINT8, "8");
    onnx_node(&g, "BitwiseNot", "x", "y", "");
    onnx_output(&g, "y");
    expect_words("BitwiseNot", compute(&g, x), inverse);
}

/* Bits that leave a word are lost; a count that is no place in it moves all out. */
static void shifts(void **state) {
    (void)state;
    static const int16_t x[] = {1, -1, 12345, -12345, INT16_MAX, INT16_MIN, -6, 3};
    static const char counts[] = "15 3 2 5 14 1 16 -1";
    static const int64_t left[] = {INT16_MIN, -8, -16156, -1824, -16384, 0, 0, 0},
                         right[] = {0, -1, 3086, -386, 1, -16384, -1, 0};
    expect_words("LEFT", with_words("BitShift", "direction='LEFT'", AT_NET_INT16, x, counts), left);
    expect_words("RIGHT", with_words("BitShift", "direction='RIGHT'", AT_NET_INT16, x, counts),
                 right);
}

static const double *cast_bits(at_net_type from, at_net_type to, const void *x) {
    onnx_graph g = {0};
    onnx_input(&g, "x", from, "8");
    onnx_node(&g, "BitCast", "x", "y", at_format(arena, "to=%d", (int)to));
    onnx_output(&g, "y");
    return compute(&g, x);
}

/* Floats, subnormal ones, zeros and infinities among them, as whole numbers and back. */
static void same_bits(void **state) {
    (void)state;
    static const float x[WORDS] = {1.5f, -0.0f, 0, -3e38f, 1e-40f, -1e-45f, INFINITY, 16777217};
    static const uint16_t halves[] = {0x3c01, 0x8000, 0, 0xfbff, 0x03ff, 0x8001, 0x7c00, 0x7801};
    static const int8_t bytes[] = {0, 1, -1, 127, -128, 5, -5, 64};
    int32_t words[WORDS];
    int64_t expected[WORDS];
    const double *y;
    memcpy(words, x, sizeof words);
    for (int i = 0; i < WORDS; i++) expected[i] = words[i];
    expect_words("float32", cast_bits(AT_NET_FLOAT, AT_NET_INT32, x), expected);
    for (int i = 0; i < WORDS; i++) expected[i] = (uint32_t)words[i];
    expect_words("without a sign", cast_bits(AT_NET_FLOAT, AT_NET_UINT32, x), expected);
    y = cast_bits(AT_NET_INT32, AT_NET_FLOAT, words);
    for (int i = 0; i < WORDS; i++)
        if (y[i] != x[i] || !signbit(y[i]) != !signbit(x[i])) fail_msg("word %d is %g", i, y[i]);
    for (int i = 0; i < WORDS; i++) expected[i] = halves[i];
    expect_words("float16", cast_bits(AT_NET_FLOAT16, AT_NET_UINT16, halves), expected);
    y = cast_bits(AT_NET_UINT16, AT_NET_FLOAT16, halves);
    for (int i = 0; i < WORDS; i++) assert_true(y[i] == at_net_element(AT_NET_FLOAT16, halves, i));
    for (int i = 0; i < WORDS; i++) expected[i] = (uint8_t)bytes[i];
    expect_words("bytes", cast_bits(AT_NET_INT8, AT_NET_UINT8, bytes), expected);
}

/* Entries of an axis in order, where each comes first, which each is, and how often. */
static void unique_columns(void **state) {
    (void)state;
    static const char columns[] = "3 1 3 2 1 1  0 5 0 7 5 4";
    static const double expected[4][8] = {
        {1, 1, 2, 3, 4, 5, 7, 0}, {5, 1, 3, 0}, {3, 1, 3, 2, 1, 0}, {1, 2, 1, 2}};
    static const int sizes[] = {8, 4, 6, 4};
    onnx_graph g = {0};
    onnx_constant(&g, "x", AT_NET_FLOAT, "2,6", columns, true);
    onnx_node(&g, "Unique", "x", "y at which times", "axis=1");
    onnx_output(&g, "y");
    onnx_output(&g, "at");
    onnx_output(&g, "which");
    onnx_output(&g, "times");
    at_net *net = onnx_open_as(arena, &g, 13, NULL);
    double **y = onnx_outputs_of(arena, net, NULL);
    onnx_expect_shape(net, 0, "float32[2, 4]");
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < sizes[k]; i++)
            if (y[k][i] != expected[k][i]) fail_msg("output %d: element %d is %g", k, i, y[k][i]);
    at_net_close(net);
}

/* ---- places in a grid ------------------------------------------------------------------------ */

enum { H = 3, W = 5, PLACES = 60 };

static const float *picture(void) {
    float *x = AT_NEW_ARRAY(arena, float, H *W);
    for (int i = 0; i < H * W; i++) x[i] = (float)((i * 37 + 11) % 29 - 14) / 8;
    return x;
}

/* Element i of n as the padding has it: step by step from edge to edge. -1: none. */
static int padded(int i, int n, char padding, bool aligned) {
    while (i < 0 || i >= n) {
        if (padding == 'z') return -1;
        if (padding == 'b') i = i < 0 ? 0 : n - 1;
        else if (i < 0) i = aligned ? -i : -1 - i;
        else i = aligned ? 2 * (n - 1) - i : 2 * n - 1 - i;
    }
    return i;
}

static double share(char mode, double distance) {
    const double d = fabs(distance), a = -0.75;
    if (mode == 'n') return d == 0;
    if (mode == 'l') return d < 1 ? 1 - d : 0;
    return d <= 1  ? (a + 2) * d * d * d - (a + 3) * d * d + 1
           : d < 2 ? a * (d * d * d - 5 * d * d + 8 * d - 4)
                   : 0;
}

static double sampled(const float *x, double gx, double gy, char mode, char padding, bool aligned) {
    double px = aligned ? (gx + 1) / 2 * (W - 1) : ((gx + 1) * W - 1) / 2,
           py = aligned ? (gy + 1) / 2 * (H - 1) : ((gy + 1) * H - 1) / 2, sum = 0;
    if (mode == 'n') px = nearbyint(px), py = nearbyint(py);
    for (int i = (int)floor(py) - 1; i <= (int)floor(py) + 2; i++)
        for (int j = (int)floor(px) - 1; j <= (int)floor(px) + 2; j++) {
            const int h = padded(i, H, padding, aligned), w = padded(j, W, padding, aligned);
            if (h < 0 || w < 0) continue;
            sum += share(mode, i - py) * share(mode, j - px) * (double)x[h * W + w];
        }
    return sum;
}

static void check_grid(const char *mode, const char *padding, bool aligned) {
    at_text grid = {0};
    float places[PLACES][2];
    for (int i = 0; i < PLACES; i++)
        for (int k = 0; k < 2; k++) {
            places[i][k] = (float)((i * 53 + k * 29) % 127 - 63) / 20;
            at_text_addf(&grid, "%.9g ", (double)places[i][k]);
        }
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,1,3,5");
    onnx_constant(&g, "grid", AT_NET_FLOAT, "1,15,4,2", at_text_take(arena, &grid), true);
    onnx_node(
        &g, "GridSample", "x grid", "y",
        at_format(arena, "mode='%s' padding_mode='%s' align_corners=%d", mode, padding, aligned));
    onnx_output(&g, "y");
    const float *x = picture();
    const double *y = compute(&g, x);
    for (int i = 0; i < PLACES; i++) {
        const double expected = sampled(x, places[i][0], places[i][1], *mode, *padding, aligned);
        if (fabs(y[i] - expected) > 1e-9)
            fail_msg("%s, %s, %d: place %d is %.12g, not %.12g", mode, padding, aligned, i, y[i],
                     expected);
    }
}

/* Of one row with its elements' centres at -1 and 1 the place is in the middle, as in PyTorch. */
static void grid_of_one_row(void **state) {
    (void)state;
    static const float theta[] = {0.5f, 0.25f, 0.125f, 2, 4, -1};
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,2,3");
    onnx_constant(&g, "sizes", AT_NET_INT64, "4", "1 1 1 3", false);
    onnx_node(&g, "AffineGrid", "x sizes", "y", "align_corners=1");
    onnx_output(&g, "y");
    const double *y = compute(&g, theta);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++)
            assert_true(y[2 * i + k] == theta[3 * k] * (i - 1.0) + theta[3 * k + 2]);
}

static void grids(void **state) {
    (void)state;
    static const char *const modes[] = {"nearest", "linear", "cubic"}, *const paddings[] = {
                                                                           "zeros", "border",
                                                                           "reflection"};
    for (int i = 0; i < 9; i++)
        for (int aligned = 0; aligned < 2; aligned++)
            check_grid(modes[i / 3], paddings[i % 3], aligned);
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Two rows of two places each with scores of three classes; a target is ignored. */
static void losses(void **state) {
    (void)state;
    static const float x[2][3][2] = {{{1, -2}, {0.5f, 3}, {2, 0}}, {{-1, 4}, {0, 1}, {7, -3}}},
                       weight[] = {0.5f, 2, 3};
    static const int target[2][2] = {{2, 0}, {1, 2}};
    static const char *const reductions[] = {"none", "sum", "mean"};
    for (int i = 0; i < 12; i++) {
        const bool is_softmax = i / 3 % 2, is_weighted = i / 6;
        double each[4], total = 0, shares = 0;
        for (int k = 0; k < 4; k++) {
            const int c = target[k / 2][k % 2];
            const double w = c == 1 ? 0 : is_weighted ? (double)weight[c] : 1;
            double sum = 0;
            for (int n = 0; n < 3; n++) sum += exp((double)x[k / 2][n][k % 2]);
            each[k] = w * ((is_softmax ? log(sum) : 0) - (double)x[k / 2][c][k % 2]);
            total += each[k];
            shares += w;
        }
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "2,3,2");
        onnx_constant(&g, "target", AT_NET_INT64, "2,2", "2 0 1 2", false);
        onnx_constant(&g, "weight", AT_NET_FLOAT, "3", "0.5 2 3", true);
        onnx_node(&g, is_softmax ? "SoftmaxCrossEntropyLoss" : "NegativeLogLikelihoodLoss",
                  is_weighted ? "x target weight" : "x target", "y",
                  at_format(arena, "reduction='%s' ignore_index=1", reductions[i % 3]));
        onnx_output(&g, "y");
        const double *y = compute(&g, x);
        for (int k = 0; k < (i % 3 ? 1 : 4); k++) {
            const double expected = i % 3 == 0 ? each[k] : i % 3 == 1 ? total : total / shares;
            if (fabs(y[k] - expected) > 1e-9)
                fail_msg("%d: loss %d is %.12g, not %.12g", i, k, y[k], expected);
        }
    }
}

static void norms_of_channels(void **state) {
    (void)state;
    static const float x[2][3] = {{3, -4, 0}, {12, -5, 6}};
    for (int p = 1; p < 5; p++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1,2,3,1");
        onnx_node(&g, "GlobalLpPool", "x", "y", at_format(arena, "p=%d", p));
        onnx_output(&g, "y");
        const double *y = compute(&g, x);
        for (int c = 0; c < 2; c++) {
            double sum = 0;
            for (int i = 0; i < 3; i++) sum += pow(fabs((double)x[c][i]), p);
            if (fabs(y[c] - pow(sum, 1.0 / p)) > 1e-9)
                fail_msg("p=%d: channel %d is %.12g, not %.12g", p, c, y[c], pow(sum, 1.0 / p));
        }
    }
}

/* ---- a convolution that goes on -------------------------------------------------------------- */

/* The state is longer than the input. */
static void causal_convolution(void **state) {
    (void)state;
    static const float x[2][2] = {{3, -4}, {2, 5}};
    static const double past[2][3] = {{1, -1, 2}, {0, 4, -3}},
                        weight[2][4] = {{1, 2, -1, 3}, {-2, 1, 0.5, 4}}, bias[2] = {0.5, -1};
    for (int has_past = 0; has_past < 2; has_past++)
        for (int output = 0; output < 2; output++) {
            onnx_graph g = {0};
            onnx_input(&g, "x", AT_NET_FLOAT, "1,2,2");
            onnx_constant(&g, "w", AT_NET_FLOAT, "2,1,4", "1 2 -1 3 -2 1 0.5 4", true);
            onnx_constant(&g, "b", AT_NET_FLOAT, "2", "0.5 -1", true);
            onnx_constant(&g, "p", AT_NET_FLOAT, "1,2,3", "1 -1 2 0 4 -3", true);
            onnx_node(&g, "CausalConvWithState", has_past ? "x w b p" : "x w b", "y0 y1",
                      "activation='silu'");
            onnx_output(&g, output ? "y1" : "y0");
            const double *y = compute(&g, x);
            for (int c = 0; c < 2; c++)
                for (int t = 0; t < 2 + output; t++) {
                    double all[5] = {0}, expected = bias[c];
                    for (int i = 0; i < 5; i++)
                        all[i] = i > 2 ? (double)x[c][i - 3] : has_past ? past[c][i] : 0;
                    for (int k = 0; k < 4 && !output; k++) expected += all[t + k] * weight[c][k];
                    expected = output ? all[t + 2] : expected / (1 + exp(-expected));
                    if (fabs(y[c * (2 + output) + t] - expected) > 1e-9)
                        fail_msg("%d, %d: element %d of channel %d is %.12g, not %.12g", has_past,
                                 output, t, c, y[c * (2 + output) + t], expected);
                }
        }
}

/* ---- linear attention ------------------------------------------------------------------------ */

enum { STEPS = 3, KEYS = 2, VALUES = 3 };

/* Two heads of queries share the state of one of keys; output 1 is the state behind all steps. */
static void check_linear(const char *rule, bool has_past, int output) {
    const bool is_gated = strstr(rule, "gated"), is_delta = strstr(rule, "delta");
    static const float q[STEPS][2][KEYS] = {{{1, -2}, {3, 0}}, {{2, 1}, {-1, 4}}, {{0, 5}, {1, 1}}};
    static const double k[STEPS][KEYS] = {{1, 2}, {-1, 0.5}, {2, -2}},
                        v[STEPS][VALUES] = {{1, 0, 2}, {3, -1, 1}, {-2, 4, 0.5}},
                        g[STEPS] = {-0.5, -1, 0.25}, beta[STEPS] = {0.5, 1, 0.25};
    double state[KEYS][VALUES] = {{0}}, expected[STEPS * 2 * VALUES];
    for (int i = 0; i < KEYS * VALUES && has_past; i++) state[i / VALUES][i % VALUES] = i - 2;
    for (int t = 0, n = 0; t < STEPS; t++) {
        for (int j = 0; j < VALUES; j++) {
            double known = 0;
            for (int i = 0; i < KEYS; i++) {
                state[i][j] *= is_gated ? exp(g[t]) : 1;
                known += state[i][j] * k[t][i];
            }
            for (int i = 0; i < KEYS; i++)
                state[i][j] += k[t][i] * (is_delta ? beta[t] * (v[t][j] - known) : v[t][j]);
        }
        for (int head = 0; head < 2; head++)
            for (int j = 0; j < VALUES; j++, n++) {
                expected[n] = 0;
                for (int i = 0; i < KEYS; i++)
                    expected[n] += (double)q[t][head][i] * state[i][j] / sqrt(KEYS);
            }
    }
    onnx_graph graph = {0};
    onnx_input(&graph, "q", AT_NET_FLOAT, "1,3,4");
    onnx_constant(&graph, "k", AT_NET_FLOAT, "1,3,2", "1 2 -1 0.5 2 -2", true);
    onnx_constant(&graph, "v", AT_NET_FLOAT, "1,3,3", "1 0 2 3 -1 1 -2 4 0.5", true);
    onnx_constant(&graph, "p", AT_NET_FLOAT, "1,1,2,3", has_past ? "-2 -1 0 1 2 3" : "0 0 0 0 0 0",
                  true);
    onnx_constant(&graph, "g", AT_NET_FLOAT, "1,3,1", "-0.5 -1 0.25", true);
    onnx_constant(&graph, "b", AT_NET_FLOAT, "1,3,1", "0.5 1 0.25", true);
    onnx_node(&graph, "LinearAttention",
              is_gated && is_delta ? "q k v p g b"
              : is_gated           ? "q k v p g"
                                   : "q k v p",
              "y0 y1", at_format(arena, "q_num_heads=2 kv_num_heads=1 update_rule='%s'", rule));
    onnx_output(&graph, output ? "y1" : "y0");
    const double *y = compute(&graph, q);
    for (int n = 0; n < (output ? KEYS * VALUES : STEPS * 2 * VALUES); n++) {
        const double right = output ? state[n / VALUES][n % VALUES] : expected[n];
        /* The scale is a number of the text, a float. */
        if (fabs(y[n] - right) > 1e-6 * fmax(1, fabs(right)))
            fail_msg("%s, output %d: element %d is %.12g, not %.12g", rule, output, n, y[n], right);
    }
}

static void linear_attention(void **state) {
    (void)state;
    static const char *const rules[] = {"linear", "gated", "gated_delta"};
    for (int i = 0; i < 12; i++) check_linear(rules[i % 3], i / 3 % 2, i / 6);
}

/* ---- transforms ------------------------------------------------------------------------------ */

enum { SIGNAL = 6 };

/* Element k of the transform of a complex signal, as long as is said: cut off, or with zeros. */
static void transformed(const double (*x)[2], int length, int k, bool inverse, double out[2]) {
    out[0] = out[1] = 0;
    for (int n = 0; n < length && n < SIGNAL; n++) {
        const double angle = (inverse ? 2 : -2) * 3.14159265358979324 * n * k / length;
        out[0] += x[n][0] * cos(angle) - x[n][1] * sin(angle);
        out[1] += x[n][0] * sin(angle) + x[n][1] * cos(angle);
    }
    for (int i = 0; inverse && i < 2; i++) out[i] /= length;
}

static const double *transform(const float *x, const char *sizes, int length, const char *how) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, sizes);
    onnx_constant(&g, "length", AT_NET_INT64, "", at_format(arena, "%d", length), true);
    onnx_node(&g, "DFT", "x length", "y", how);
    onnx_output(&g, "y");
    return compute(&g, x);
}

static void expect_number(double x, double expected) { /* tables are of floats */
    if (fabs(x - expected) > 1e-5) fail_msg("%.12g, not %.12g", x, expected);
}

static void whole_transforms(void **state) {
    (void)state;
    static const int lengths[] = {4, 6, 9};
    float x[SIGNAL][2];
    double wide[SIGNAL][2], expected[2];
    for (int i = 0; i < 2 * SIGNAL; i++)
        wide[i / 2][i % 2] = x[i / 2][i % 2] = (float)(i * 7 % 11 - 5);
    for (int i = 0; i < 6; i++) {
        const int length = lengths[i / 2];
        const double *y = transform(x[0], "1,6,2", length, at_format(arena, "inverse=%d", i % 2));
        for (int k = 0; k < length; k++) {
            transformed(wide, length, k, i % 2, expected);
            expect_number(y[2 * k], expected[0]);
            expect_number(y[2 * k + 1], expected[1]);
        }
    }
}

/* A real signal to half of its spectrum and back. */
static void half_transforms(void **state) {
    (void)state;
    const float x[SIGNAL] = {3, -1, 4, 1, -5, 9};
    float half[SIGNAL / 2 + 1][2];
    double wide[SIGNAL][2] = {{0}}, expected[2];
    for (int i = 0; i < SIGNAL; i++) wide[i][0] = x[i];
    const double *y = transform(x, "1,6,1", SIGNAL, "onesided=1");
    for (int k = 0; k <= SIGNAL / 2; k++) {
        transformed(wide, SIGNAL, k, false, expected);
        for (int i = 0; i < 2; i++) {
            expect_number(y[2 * k + i], expected[i]);
            half[k][i] = (float)expected[i];
        }
    }
    y = transform(half[0], "1,4,2", SIGNAL, "onesided=1 inverse=1");
    for (int i = 0; i < SIGNAL; i++) expect_number(y[i], x[i]);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Also of one element, which is where a periodic one begins. */
static void windows(void **state) {
    (void)state;
    static const struct {
        const char *op, *how;
        int size;
        double y[4];
    } rows[] = {{"HannWindow", "periodic=1", 4, {0, 0.5, 1, 0.5}},
                {"HannWindow", "periodic=0", 3, {0, 1, 0}},
                {"HannWindow", "periodic=1", 1, {0}},
                {"HannWindow", "periodic=0", 1, {1}},
                {"HammingWindow", "periodic=1", 1, {4 / 46.0}},
                {"BlackmanWindow", "periodic=0", 3, {0, 1, 0}},
                {"BlackmanWindow", "periodic=1", 1, {0}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const float zeros[4] = {0};
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, at_format(arena, "%d", rows[i].size));
        onnx_constant(&g, "size", AT_NET_INT64, "", at_format(arena, "%d", rows[i].size), true);
        onnx_node(&g, rows[i].op, "size", "window", rows[i].how);
        onnx_node(&g, "Add", "x window", "y", "");
        onnx_output(&g, "y");
        const double *y = compute(&g, zeros);
        for (int k = 0; k < rows[i].size; k++) expect_number(y[k], rows[i].y[k]);
    }
}

/* Triangles over bins, between edges that are equally far apart in mel; where two edges are in one
 * bin, it counts as a whole. */
static void mel_bands(void **state) {
    (void)state;
    enum { BANDS = 6, LENGTH = 32, BINS = LENGTH / 2 + 1 };
    const double low = 2595 * log10(1 + 100 / 700.0), high = 2595 * log10(1 + 3500 / 700.0);
    static float ones[BINS][BANDS];
    double expected[BINS][BANDS] = {{0}};
    int edges[BANDS + 2];
    for (int i = 0; i < BINS * BANDS; i++) ones[i / BANDS][i % BANDS] = 1;
    for (int i = 0; i < BANDS + 2; i++) {
        const double mel = low + (high - low) / (BANDS + 2) * i;
        edges[i] = (int)((LENGTH + 1) * 700 * (pow(10, mel / 2595) - 1) / 8000);
    }
    for (int i = 0; i < BANDS; i++) {
        const int *e = &edges[i];
        expected[e[1]][i] = 1;
        for (int k = e[0]; k < e[1]; k++) expected[k][i] = (double)(k - e[0]) / (e[1] - e[0]);
        for (int k = e[1]; k < e[2]; k++) expected[k][i] = (double)(e[2] - k) / (e[2] - e[1]);
    }
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "17,6");
    onnx_constant(&g, "bands", AT_NET_INT64, "", "6", true);
    onnx_constant(&g, "length", AT_NET_INT64, "", "32", true);
    onnx_constant(&g, "rate", AT_NET_INT64, "", "8000", true);
    onnx_constant(&g, "low", AT_NET_FLOAT, "", "100", true);
    onnx_constant(&g, "high", AT_NET_FLOAT, "", "3500", true);
    onnx_node(&g, "MelWeightMatrix", "bands length rate low high", "m", "");
    onnx_node(&g, "Mul", "x m", "y", "");
    onnx_output(&g, "y");
    const double *y = compute(&g, ones);
    for (int i = 0; i < BINS * BANDS; i++) expect_number(y[i], expected[i / BANDS][i % BANDS]);
}

/* ---- determinants ---------------------------------------------------------------------------- */

static void determinants(void **state) {
    (void)state;
    const float x[] = {2, -3, 1, 2, 0, -1, 1, 4, 5};
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "3,3");
    onnx_node(&g, "Det", "x", "y", "");
    onnx_output(&g, "y");
    expect_number(compute(&g, x)[0], 49);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),
        cmocka_unit_test(grids),
        cmocka_unit_test(grid_of_one_row),
        cmocka_unit_test(whole_transforms),
        cmocka_unit_test(half_transforms),
        cmocka_unit_test(windows),
        cmocka_unit_test(determinants),
        cmocka_unit_test(bits),
        cmocka_unit_test(bits_of_bytes),
        cmocka_unit_test(shifts),
        cmocka_unit_test(same_bits),
        cmocka_unit_test(unique_columns),
        cmocka_unit_test(losses),
        cmocka_unit_test(norms_of_channels),
        cmocka_unit_test(causal_convolution),
        cmocka_unit_test(mel_bands),
        cmocka_unit_test(linear_attention),
    };
    return cmocka_run_group_tests_name("network/samples", tests, make_arena, free_arena);
}
