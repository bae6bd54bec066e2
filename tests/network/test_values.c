/* Values of small networks: constants that are worked out, the reference in double beside plain
 * loops of the test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"
#include "tests/network/values.h"

enum { C = 3, H = 7, W = 6, M = 4 };

/* A 3x2 convolution of stride 2 along rows, one row of padding above, ReLU. */
static void convolution(void **state) {
    (void)state;
    const float *x = numbers(C * H * W), *w = numbers(M * C * 3 * 2), *b = numbers(M);
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,3,7,6");
    onnx_constant(&g, "w", AT_NET_FLOAT, "4,3,3,2", as_text(w, M * C * 6), true);
    onnx_constant(&g, "b", AT_NET_FLOAT, "4", as_text(b, M), false);
    onnx_node(&g, "Conv", "x w b", "c", "strides=[2,1] pads=[1,0,0,0]");
    onnx_node(&g, "Relu", "c", "y", "");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    for (int m = 0; m < M; m++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < W - 1; j++) {
                double sum = b[m];
                for (int c = 0; c < C; c++)
                    for (int p = 0; p < 3; p++)
                        for (int q = 0; q < 2; q++) {
                            const int row = 2 * i + p - 1;
                            if (row < 0 || row >= H) continue;
                            sum += (double)x[(c * H + row) * W + j + q] *
                                   w[((m * C + c) * 3 + p) * 2 + q];
                        }
                expect_near(y[(m * 3 + i) * (W - 1) + j], fmax(sum, 0));
            }
    at_net_close(net);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* One unit, two inputs, backwards. */
static void recurrence(void **state) {
    (void)state;
    enum { T = 4 };
    const float *x = numbers(T * 2), *w = numbers(8), *r = numbers(4), *b = numbers(8);
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4,1,2");
    onnx_constant(&g, "w", AT_NET_FLOAT, "1,4,2", as_text(w, 8), true);
    onnx_constant(&g, "r", AT_NET_FLOAT, "1,4,1", as_text(r, 4), true);
    onnx_constant(&g, "b", AT_NET_FLOAT, "1,8", as_text(b, 8), true);
    onnx_node(&g, "LSTM", "x w r b", "y", "hidden_size=1 direction='reverse'");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    double h = 0, c = 0;
    for (int t = T - 1; t >= 0; t--) {
        double gate[4];
        for (int i = 0; i < 4; i++)
            gate[i] = (double)x[2 * t] * w[2 * i] + (double)x[2 * t + 1] * w[2 * i + 1] + h * r[i] +
                      b[i] + b[4 + i];
        c = sigmoid(gate[2]) * c + sigmoid(gate[0]) * tanh(gate[3]);
        h = sigmoid(gate[1]) * tanh(c);
        if (fabs(y[t] - h) > 1e-9) fail_msg("step %d: %.12g, not %.12g", t, y[t], h);
    }
    at_net_close(net);
}

enum { STEPS = 3, DATA = 4, UNITS = 2, GATES = 4 * UNITS };

/* In place, to one of 256 numbers between the least, the largest and 0. */
static void round_to_bytes(double *x, int n) {
    double least = 0, most = 0;
    for (int i = 0; i < n; i++) least = fmin(least, x[i]), most = fmax(most, x[i]);
    const double scale = most > least ? (most - least) / 255 : 1, zero = rint(-least / scale);
    for (int i = 0; i < n; i++)
        x[i] = (fmin(fmax(rint(x[i] / scale) + zero, 0), 255) - zero) * scale;
}

/* ONNX Runtime's LSTM of bytes, whose data and states are rounded on the way; a scale and a zero
 * for each gate of W, one for all of R. */
static void recurrence_of_bytes(void **state) {
    (void)state;
    const float *x = numbers(STEPS * DATA), *b = numbers(2 * GATES);
    int w[DATA * GATES], r[UNITS * GATES], zeros[GATES];
    float scales[GATES];
    double data[STEPS * DATA], h[UNITS] = {0}, c[UNITS] = {0};
    at_text of_w = {0}, of_r = {0}, of_zeros = {0};
    for (int i = 0; i < DATA * GATES; i++) at_text_addf(&of_w, " %d", w[i] = i * 37 % 256);
    for (int i = 0; i < UNITS * GATES; i++) at_text_addf(&of_r, " %d", r[i] = i * 91 % 256);
    for (int i = 0; i < GATES; i++) {
        at_text_addf(&of_zeros, " %d", zeros[i] = 120 + i);
        scales[i] = (float)(i + 3) / 1024;
    }
    for (int i = 0; i < STEPS * DATA; i++) data[i] = x[i];
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "3,1,4");
    onnx_constant(&g, "w", AT_NET_UINT8, "1,4,8", at_text_str(&of_w), true);
    onnx_constant(&g, "r", AT_NET_UINT8, "1,2,8", at_text_str(&of_r), true);
    onnx_constant(&g, "b", AT_NET_FLOAT, "1,16", as_text(b, 2 * GATES), true);
    onnx_constant(&g, "sw", AT_NET_FLOAT, "1,8", as_text(scales, GATES), true);
    onnx_constant(&g, "zw", AT_NET_UINT8, "1,8", at_text_str(&of_zeros), true);
    onnx_constant(&g, "sr", AT_NET_FLOAT, "1", "0.0078125", true);
    onnx_constant(&g, "zr", AT_NET_UINT8, "1", "131", true);
    onnx_node(&g, "com.microsoft:DynamicQuantizeLSTM", "x w r b - - - - sw zw sr zr", "y",
              "hidden_size=2");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    round_to_bytes(data, STEPS * DATA);
    for (int t = 0; t < STEPS; t++) {
        double gate[GATES], rounded[UNITS] = {h[0], h[1]};
        round_to_bytes(rounded, UNITS);
        for (int j = 0; j < GATES; j++) {
            gate[j] = (double)b[j] + b[GATES + j];
            for (int k = 0; k < DATA; k++)
                gate[j] += data[t * DATA + k] * (w[k * GATES + j] - zeros[j]) * scales[j];
            for (int k = 0; k < UNITS; k++)
                gate[j] += rounded[k] * (r[k * GATES + j] - 131) * 0.0078125;
        }
        for (int u = 0; u < UNITS; u++) {
            c[u] =
                sigmoid(gate[2 * UNITS + u]) * c[u] + sigmoid(gate[u]) * tanh(gate[3 * UNITS + u]);
            h[u] = sigmoid(gate[UNITS + u]) * tanh(c[u]);
            if (fabs(y[t * UNITS + u] - h[u]) > 1e-6)
                fail_msg("step %d: %.12g, not %.12g", t, y[t * UNITS + u], h[u]);
        }
    }
    at_text_free(&of_w);
    at_text_free(&of_r);
    at_text_free(&of_zeros);
    at_net_close(net);
}

/* Whole numbers keep to their type: they wrap, and division cuts off. */
static void whole_numbers(void **state) {
    (void)state;
    static const int8_t x[] = {100, -100, 7, -7};
    static const double expected[] = {-28, 28, 3, -3};
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_INT8, "4");
    onnx_constant(&g, "two", AT_NET_INT8, "", "2", false);
    onnx_constant(&g, "four", AT_NET_INT8, "", "4", false);
    onnx_node(&g, "Mul", "x two", "twice", "");
    onnx_node(&g, "Div", "twice two", "half", "");
    onnx_node(&g, "Div", "twice four", "quarter", "");
    onnx_node(&g, "Cast", "half", "h", "to=7");
    onnx_output(&g, "quarter");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    for (int i = 0; i < 2; i++) assert_true(y[i] == (i ? 56 : -56) / 4);
    for (int i = 2; i < 4; i++) assert_true(y[i] == expected[i]);
    at_net_close(net);
}

/* Indices that are data: from the end, and outside. */
static void gathered(void **state) {
    (void)state;
    static const int64_t good[] = {-1, 0, 2}, bad[] = {0, 3, 1};
    at_net_reference *r;
    at_error err;
    double *out;
    onnx_graph g = {0};
    onnx_input(&g, "i", AT_NET_INT64, "3");
    onnx_constant(&g, "x", AT_NET_FLOAT, "3,2", "1 2 3 4 5 6", true);
    onnx_node(&g, "Gather", "x i", "y", "axis=0");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, good);
    const double expected[] = {5, 6, 1, 2, 5, 6};
    for (int i = 0; i < 6; i++) assert_true(y[i] == expected[i]);
    const void *input = bad;
    assert_int_equal(at_net_reference_new(net, NULL, &r, &err), AT_OK);
    assert_int_equal(at_net_reference_run(r, &input, arena, &out, NULL, &err), AT_E_INPUT);
    assert_non_null(strstr(err.text, "i[1] is 3; -3 to 2 are accepted"));
    at_net_reference_free(r);
    at_net_close(net);
}

/* A condition may be shorter or longer than what it takes of, and takes nothing that is not there.
 */
static void compressed(void **state) {
    (void)state;
    static const char *const conditions[] = {"0 1", "1 0 1 0 0", "1 0 1 1"};
    static const float x[] = {1, 2, 3, 4, 5, 6};
    static const double expected[][4] = {{3, 4}, {1, 2, 5, 6}};
    for (int i = 0; i < 3; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "3,2");
        onnx_constant(&g, "c", AT_NET_BOOL, at_format(arena, "%d", i ? 6 - i : 2), conditions[i],
                      false);
        onnx_node(&g, "Compress", "x c", "y", "axis=0");
        onnx_output(&g, "y");
        if (i == 2) {
            expect_refused(&g, 17, AT_E_INPUT, "\"c\" takes element 3 of 3");
            continue;
        }
        at_net *net = open_graph(&g, NULL);
        const double *y = compute(net, x);
        assert_int_equal(net->values.data[net->outputs.data[0]].elements, 2 * (i + 1));
        for (int k = 0; k < 2 * (i + 1); k++) assert_true(y[k] == expected[i][k]);
        at_net_close(net);
    }
}

/* Nodes that ONNX Runtime's optimizer joins: a normalized sum of three, which is an output, too,
 * and activations behind a bias. */
static void joined_by_others(void **state) {
    (void)state;
    enum { ROWS = 3, WIDTH = 5, ALL = ROWS * WIDTH };
    static const struct {
        const char *op, *inputs;
        bool has_mean;
    } cases[] = {{"com.microsoft:SkipLayerNormalization", "x s g h b", true},
                 {"com.microsoft:SkipSimplifiedLayerNormalization", "x s g b", false}};
    const float *x = numbers(ALL + 3 * WIDTH), *scale = x + 1, *shift = x + 4, *bias = x + 9;
    for (int c = 0; c < 2; c++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1,3,5");
        onnx_constant(&g, "s", AT_NET_FLOAT, "1,3,5", as_text(x + 2, ALL), true);
        onnx_constant(&g, "g", AT_NET_FLOAT, "5", as_text(scale, WIDTH), true);
        onnx_constant(&g, "h", AT_NET_FLOAT, "5", as_text(shift, WIDTH), true);
        onnx_constant(&g, "b", AT_NET_FLOAT, "5", as_text(bias, WIDTH), true);
        onnx_node(&g, cases[c].op, cases[c].inputs, "n - - sum", "epsilon=0.5");
        onnx_node(&g, "com.microsoft:BiasGelu", "n sum", "e", "");
        onnx_node(&g, "com.microsoft:FastGelu", "e h", "f", "");
        onnx_node(&g, "com.microsoft:QuickGelu", "f", "y", "");
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, NULL);
        const double *y = compute(net, x);
        for (int i = 0; i < ALL; i++) {
            double mean = 0, square = 0, sum[WIDTH];
            const int k = i % WIDTH, first = i - k;
            for (int j = 0; j < WIDTH; j++) {
                sum[j] = (double)x[first + j] + (double)x[2 + first + j] + (double)bias[j];
                mean += cases[c].has_mean ? sum[j] / WIDTH : 0;
            }
            for (int j = 0; j < WIDTH; j++) square += pow(sum[j] - mean, 2) / WIDTH;
            double v = (sum[k] - mean) / sqrt(square + 0.5) * (double)scale[k];
            v += (cases[c].has_mean ? (double)shift[k] : 0) + sum[k];
            v = v / 2 * (1 + erf(v / sqrt(2))) + (double)shift[k];
            v = v / 2 * (1 + tanh(sqrt(2 / acos(-1)) * (v + 0.044715 * v * v * v)));
            expect_near(y[i], v / (1 + exp(-1.702 * v)));
        }
        at_net_close(net);
    }
}

/* The factor of each row is an output, too. */
static void factors_of_rows(void **state) {
    (void)state;
    enum { WIDTH = 5, ALL = 3 * WIDTH };
    const float *x = numbers(ALL + WIDTH), *scale = x + ALL;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,3,5");
    onnx_constant(&g, "g", AT_NET_FLOAT, "5", as_text(scale, WIDTH), true);
    onnx_node(&g, "SimplifiedLayerNormalization", "x g", "n factor", "epsilon=0.5");
    onnx_node(&g, "Sub", "n factor", "y", "");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    for (int i = 0; i < ALL; i++) {
        const int k = i % WIDTH;
        double square = 0;
        for (int j = 0; j < WIDTH; j++) square += pow((double)x[i - k + j], 2) / WIDTH;
        expect_near(y[i], ((double)x[i] * (double)scale[k] - 1) / sqrt(square + 0.5));
    }
    at_net_close(net);
}

/* Outputs without a name: of the whole node, of the first one. */
static void unnamed(void **state) {
    (void)state;
    static const float x[] = {0.5f, -1};
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,1,1");
    onnx_constant(&g, "w", AT_NET_FLOAT, "1,4,1", "1 2 3 4", true);
    onnx_constant(&g, "r", AT_NET_FLOAT, "1,4,1", "1 1 1 1", true);
    onnx_node(&g, "Shape", "x", "-", "");
    onnx_node(&g, "Exp", "x", "", "");
    onnx_node(&g, "LSTM", "x w r", "- last", "hidden_size=1");
    onnx_node(&g, "MaxPool", "last", "- place", "kernel_shape=[1]");
    onnx_node(&g, "Cast", "place", "p", "to=1");
    onnx_node(&g, "Add", "p last", "y", "");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    double h = 0, c = 0;
    for (int t = 0; t < 2; t++) {
        const double forget = sigmoid(3.0 * x[t] + h), in = sigmoid(x[t] + h),
                     out = sigmoid(2.0 * x[t] + h);
        c = forget * c + in * tanh(4.0 * x[t] + h);
        h = out * tanh(c);
    }
    expect_near(y[0], h);
    at_net_close(net);
}

/* What is no number stays none: the value of a margin. */
static void no_number(void **state) {
    (void)state;
    const float *x = numbers(2);
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2");
    onnx_node(&g, "Pad", "x", "y", "pads=[1,0] value=nan.");
    onnx_output(&g, "y");
    at_net *net = onnx_open_as(arena, &g, 10, NULL);
    const double *y = compute(net, x);
    assert_true(isnan(y[0]) && y[1] == x[0] && y[2] == x[1]);
    at_net_close(net);
}

/* Many at once as one by one: all patterns, and floats around each of them. */
static void widened(void **state) {
    (void)state;
    static const at_net_type types[] = {AT_NET_FLOAT16, AT_NET_BFLOAT16};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (uint32_t h = 0; h < 65536; h++) {
            const uint16_t half = (uint16_t)h;
            float x, near[5];
            uint16_t narrow[5], expected;
            assert_true(at_net_widen(types[t], &half, AT_NET_FLOAT, &x, 1));
            const double value = at_net_element(types[t], &half, 0);
            assert_true((double)x == value || (isnan(x) && isnan(value)));
            const float between = x * (1 + (t ? 0x1p-8f : 0x1p-11f)); /* a tie, or beside one */
            near[0] = x, near[1] = between, near[4] = x + 0x1p-25f;
            near[2] = nextafterf(between, 0), near[3] = nextafterf(between, between * 2);
            assert_true(at_net_widen(AT_NET_FLOAT, near, types[t], narrow, 5));
            for (int k = 0; k < 5; k++) {
                at_net_store(types[t], &expected, 0, (double)near[k]);
                assert_int_equal(narrow[k], expected);
            }
        }
    int32_t whole = 1;
    float none;
    assert_false(at_net_widen(AT_NET_INT32, &whole, AT_NET_FLOAT, &none, 1));
}

static double stored(double x, bool is_constant) { return is_constant ? (double)(float)x : x; }

/* A batch normalized by itself, and the running mean and variance that come nearer to its own; of a
 * constant, as of weights that are standardized, all of them are constants, stored as floats. */
static void own_batch(void **state) {
    (void)state;
    enum { BATCH = 2, PLACES = 5, ALL = BATCH * C * PLACES };
    const float *x = numbers(ALL),
                parts[4][C] = {{1.5, -0.5, 2}, {0.25, 1, -1}, {0.5, 0, -2}, {2, 1, 0.5}};
    for (int way = 0; way < 2; way++) {
        const bool is_constant = way == 1;
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, is_constant ? "1" : "2,3,5");
        if (is_constant) onnx_constant(&g, "k", AT_NET_FLOAT, "2,3,5", as_text(x, ALL), true);
        for (int k = 0; k < 4; k++)
            onnx_constant(&g, at_format(arena, "%c", "sbmv"[k]), AT_NET_FLOAT, "3",
                          as_text(parts[k], C), k % 2);
        onnx_node(&g, "BatchNormalization", is_constant ? "k s b m v" : "x s b m v", "n mean var",
                  "training_mode=1 momentum=0.25 epsilon=0.125");
        static const char *const ends[] = {"n", "mean", "var"};
        for (int k = 0; k < 3; k++) onnx_output(&g, ends[k]);
        at_net *net = open_graph(&g, NULL);
        assert_int_equal(net->nodes.len == 0, is_constant);
        const void *inputs[] = {x};
        double **y = onnx_outputs_of(arena, net, inputs);
        for (int c = 0; c < C; c++) {
            double sum = 0, squares = 0;
            for (int i = 0; i < BATCH * PLACES; i++)
                sum += x[(i / PLACES * C + c) * PLACES + i % PLACES];
            const double mean = sum / (BATCH * PLACES);
            for (int i = 0; i < BATCH * PLACES; i++)
                squares += pow(x[(i / PLACES * C + c) * PLACES + i % PLACES] - mean, 2);
            const double variance = squares / (BATCH * PLACES);
            for (int i = 0; i < BATCH * PLACES; i++) {
                const int at = (i / PLACES * C + c) * PLACES + i % PLACES;
                const double y0 = (x[at] - mean) / sqrt(variance + 0.125);
                expect_near(y[0][at], stored(y0 * parts[0][c] + parts[1][c], is_constant));
            }
            expect_near(y[1][c], stored(parts[2][c] * 0.25 + mean * 0.75, is_constant));
            expect_near(y[2][c], stored(parts[3][c] * 0.25 + variance * 0.75, is_constant));
        }
        at_net_close(net);
    }
}

/* ONNX Runtime's product, whose matrices may be transposed. */
static void fused_product(void **state) {
    (void)state;
    enum { TIMES = 2, TERMS = 4, ROWS = 3, COLUMNS = 5 };
    const float *x = numbers(TIMES * TERMS * ROWS), *w = numbers(COLUMNS * TERMS);
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,4,3");
    onnx_constant(&g, "w", AT_NET_FLOAT, "5,4", as_text(w, COLUMNS * TERMS), true);
    onnx_node(&g, "com.microsoft:FusedMatMul", "x w", "y", "transA=1 transB=1 alpha=-0.5");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    for (int b = 0; b < TIMES; b++)
        for (int m = 0; m < ROWS; m++)
            for (int n = 0; n < COLUMNS; n++) {
                double sum = 0;
                for (int k = 0; k < TERMS; k++)
                    sum += (double)x[(b * TERMS + k) * ROWS + m] * (double)w[n * TERMS + k];
                expect_near(*y++, -0.5 * sum);
            }
    at_net_close(net);
}

/* Which element is nearest, and how many there are, is decided in float32, as PyTorch and ONNX
 * Runtime do. */
static void resized(void **state) {
    (void)state;
    static const struct {
        const char *size, *scale, *how;
        int from, to, place, source;
    } cases[] = {{"24", "1.7", "asymmetric", 24, 40, 17, 10},
                 {"30", "3.3", "asymmetric", 30, 99, 98, 29}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, cases[k].size);
        onnx_constant(&g, "scale", AT_NET_FLOAT, "1", cases[k].scale, true);
        onnx_node(&g, "Resize", "x - scale", "y",
                  at_format(arena,
                            "mode='nearest' nearest_mode='floor' "
                            "coordinate_transformation_mode='%s'",
                            cases[k].how));
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, NULL);
        float *x = AT_NEW_ARRAY(arena, float, cases[k].from);
        for (int i = 0; i < cases[k].from; i++) x[i] = (float)i;
        const double *y = compute(net, x);
        assert_int_equal(net->values.data[net->outputs.data[0]].elements, cases[k].to);
        expect_near(y[cases[k].place], cases[k].source);
        at_net_close(net);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_batch),        cmocka_unit_test(fused_product),
        cmocka_unit_test(resized),          cmocka_unit_test(convolution),
        cmocka_unit_test(recurrence),       cmocka_unit_test(recurrence_of_bytes),
        cmocka_unit_test(whole_numbers),    cmocka_unit_test(gathered),
        cmocka_unit_test(compressed),       cmocka_unit_test(unnamed),
        cmocka_unit_test(no_number),        cmocka_unit_test(widened),
        cmocka_unit_test(joined_by_others), cmocka_unit_test(factors_of_rows),
    };
    return cmocka_run_group_tests_name("network/values", tests, make_arena, free_arena);
}
