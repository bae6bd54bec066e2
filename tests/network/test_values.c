/* Values of small networks: constants that are worked out, the reference in double beside plain
 * loops of the test's own, data in other files, and input that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"

static at_net *open_graph(onnx_graph *g, const at_net_options *o) {
    return onnx_open_as(arena, g, 17, o);
}

static const double *compute(const at_net *net, const void *input) {
    return onnx_output_of(arena, net, input);
}

static void expect_near(double x, double y) {
    if (fabs(x - y) > 1e-12 * fmax(1, fabs(y))) fail_msg("%.17g, not %.17g", x, y);
}

static float *numbers(int n) {
    float *x = AT_NEW_ARRAY(arena, float, n);
    for (int i = 0; i < n; i++) x[i] = (float)((i * 37 + 11) % 29 - 14) / 8;
    return x;
}

static const char *as_text(const float *x, int n) {
    at_text t = {0};
    for (int i = 0; i < n; i++) at_text_addf(&t, "%s%.9g", i ? " " : "", x[i]);
    return at_text_take(arena, &t);
}

/* ---- values ---------------------------------------------------------------------------------- */

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

static void expect_refused(onnx_graph *g, int version, at_status status, const char *text) {
    onnx_expect_refused(g, version, NULL, status, text);
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

/* ---- data in other files ----------------------------------------------------------------------
 */

static const char *folder;

static void write_file(const char *name, const void *data, size_t n) {
    FILE *f = fopen(at_format(arena, "%s/%s", folder, name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static at_status open_external(const char *location, const char *offset, const char *length,
                               at_net **net, at_error *err) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2");
    onnx_external(&g, "w", "2", location, offset, length);
    onnx_node(&g, "Add", "x w", "y", "");
    onnx_output(&g, "y");
    at_text bytes = onnx_model(&g, 17);
    write_file("m.onnx", at_text_str(&bytes), bytes.len);
    at_text_free(&bytes);
    return at_net_open(at_format(arena, "%s/m.onnx", folder), NULL, net, err);
}

static void expect_external(const char *location, const char *offset, const char *length,
                            const char *text) {
    at_net *net;
    at_error err;
    assert_int_equal(open_external(location, offset, length, &net, &err), AT_E_INPUT);
    if (!strstr(err.text, text)) fail_msg("%s: expected %s", err.text, text);
}

static void external_data(void **state) {
    (void)state;
    static const float data[] = {0, 3, 4}, x[] = {1, 1};
    at_net *net;
    at_error err;
    char name[] = "/tmp/network-XXXXXX";
    folder = mkdtemp(name);
    assert_non_null(folder);
    assert_int_equal(mkdir(at_format(arena, "%s/in", folder), 0700), 0);
    write_file("in/w.bin", data, sizeof data);
    assert_int_equal(symlink("in", at_format(arena, "%s/link", folder)), 0);
    if (open_external("in/w.bin", "4", "8", &net, &err) != AT_OK) fail_msg("%s", err.text);
    const double *y = compute(net, x);
    assert_true(y[0] == 4 && y[1] == 5);
    at_net_close(net);
    expect_external("link/w.bin", "4", "8", "it is a link");
    expect_external("/etc/passwd", "0", "8", "a place in the model's folder");
    expect_external("../w.bin", "0", "8", "a place in the model's folder");
    expect_external("in/../in/w.bin", "0", "8", "a place in the model's folder");
    expect_external("", "0", "8", "a place in the model's folder");
    expect_external("none.bin", "0", "8", "No such file");
    expect_external("in", "0", "8", "is no file");
    expect_external("in/w.bin", "8", "8", "lie beyond its end");
    expect_external("in/w.bin", "-1", "8", "lie beyond its end");
    expect_external("in/w.bin", "99999999999999999999", "8", "lie beyond its end");
    expect_external("in/w.bin", "0", "4",
                    "2 elements of 4 bytes by its sizes, and 4 bytes of data");
    assert_int_equal(system(at_format(arena, "rm -r %s", folder)), 0);
}

/* ---- wrong input ------------------------------------------------------------------------------
 */

static onnx_graph one_node(const char *op, const char *inputs, const char *attributes) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,4,5,5");
    onnx_constant(&g, "boxes", AT_NET_FLOAT, "1,4", "0 0 1 1", true);
    onnx_constant(&g, "two", AT_NET_INT64, "1", "2", false);
    onnx_constant(&g, "w", AT_NET_FLOAT, "2,3,1,1", "1 2 3 4 5 6", true);
    onnx_constant(&g, "fits", AT_NET_FLOAT, "1,4,1,1", "1 2 3 4", true);
    onnx_constant(&g, "huge", AT_NET_INT64, "4", "1048576 1048576 1 1", true);
    onnx_constant(&g, "five", AT_NET_FLOAT, "2,1,1,1,5", "1 2 3 4 5 6 7 8 9 10", true);
    onnx_node(&g, op, inputs, "y", attributes);
    onnx_output(&g, "y");
    return g;
}

static void refused(void **state) {
    (void)state;
    static const struct {
        const char *op, *inputs, *attributes, *text;
    } rows[] = {
        {"Relu", "none", "", "reads \"none\", which is no input, no constant and no output"},
        {"Conv", "x w", "", "4 channels of \"x\" do not fit 3 to 2 of \"w\""},
        {"Conv", "x fits", "kernel_shape=[1,3]", "kernel_shape: 3; the weight's size is 1"},
        {"Reshape", "x two", "", "100 elements of \"x\" do not fit sizes [2]"},
        {"Expand", "x huge", "", "sizes 1048576 and 4"},
        {"ConstantOfShape", "huge", "", "at most 2^32 elements"},
        {"Concat", "x two", "axis=0", "\"x\" is of float32, \"two\" of int64"},
        {"MaxPool", "x", "kernel_shape=[9,9]", "a window of 9 does not fit into 5"},
        {"Transpose", "x", "perm=[0,1,2,2]", "perm has axis 2 twice"},
        {"Softmax", "x", "axis=4", "axis 4 of a value with 4 dimensions"},
        {"Min", "x - x", "", "input 2 is missing"},
        {"Conv", "x", "", "input 2 of at least 2 is missing"},
        {"Relu", "x two", "", "has 2 inputs; at most 1 are accepted"},
        {"LayerNormalization", "x five", "", "\"five\" is larger than what it is taken to"},
        {"Reshape", "two x", "", "\"x\" depends on data, and must be known"},
        {"RoiAlign", "x boxes two", "sampling_ratio=-3", "a sampling_ratio of -3; up to 1024"},
        {"RoiAlign", "x boxes two", "sampling_ratio=99999",
         "a sampling_ratio of 99999; up to 1024"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        onnx_graph g = one_node(rows[i].op, rows[i].inputs, rows[i].attributes);
        expect_refused(&g, 17, AT_E_INPUT, rows[i].text);
    }
}

/* Any piece of a file is refused in one line, or is read. */
static void cut_off(void **state) {
    (void)state;
    onnx_graph g = one_node("Relu", "x", "");
    at_text bytes = onnx_model(&g, 17);
    int refusals = 0;
    for (size_t n = 0; n < bytes.len; n++) {
        at_net *net;
        at_error err = {0};
        const void *part = malloc(n ? n : 1); /* so that reading beyond it is seen */
        memcpy((void *)part, bytes.data, n);
        if (at_net_parse(part, n, NULL, NULL, &net, &err) == AT_OK) at_net_close(net);
        else refusals += strlen(err.text) > 0 && !strchr(err.text, '\n');
        free((void *)part);
    }
    assert_true(refusals >= (int)bytes.len - 1);
    at_text_free(&bytes);
}

static void dimensions(void **state) {
    (void)state;
    static const struct {
        const char *dims, *text;
    } rows[] = {{"N=0", "SIZE, a number from 1"},
                {"N", "NAME=SIZE"},
                {"N=2,", "--dim N=2,: a comma too many: NAME=SIZE"},
                {",N=2", "--dim ,N=2: a comma too many: NAME=SIZE"},
                {"N=2,4", "--dim N=2,4: \"4\": NAME=SIZE, a number from 1 to 2^40 is accepted, "
                          "several with commas; several sizes of one name go with apply"},
                {"N=2,M=3", "--dim M"},
                {"N=1099511627776", "more than 2^32 elements"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        onnx_graph g = {0};
        at_net *net;
        at_error err;
        const at_net_options o = {.dims = rows[i].dims};
        onnx_input(&g, "x", AT_NET_FLOAT, "N,2");
        onnx_node(&g, "Relu", "x", "y", "");
        onnx_output(&g, "y");
        at_text bytes = onnx_model(&g, 17);
        assert_int_not_equal(at_net_parse(at_text_str(&bytes), bytes.len, NULL, &o, &net, &err),
                             AT_OK);
        if (!strstr(err.text, rows[i].text)) fail_msg("%s: expected %s", err.text, rows[i].text);
        at_text_free(&bytes);
    }
}

/* A bound input is a constant, by which an If is decided. */
static void bound(void **state) {
    (void)state;
    static const float x[] = {-1, 4};
    for (int i = 0; i < 2; i++) {
        onnx_graph g = {0}, then = {0}, otherwise = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "2");
        onnx_input(&g, "rate", AT_NET_INT64, "");
        onnx_constant(&g, "high", AT_NET_INT64, "", "16000", false);
        onnx_node(&g, "Equal", "rate high", "is_high", "");
        onnx_node(&then, "Relu", "x", "a", "");
        onnx_output(&then, "a");
        onnx_node(&otherwise, "Neg", "x", "b", "");
        onnx_output(&otherwise, "b");
        onnx_node_with_graphs(&g, "If", "is_high", "y", "", "then_branch", &then, "else_branch",
                              &otherwise);
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, &(at_net_options){.sets = i ? "rate=8000" : "rate=16000"});
        assert_int_equal(net->inputs.len, 1);
        assert_string_equal(net->values.data[net->outputs.data[0]].name, "y");
        const double *y = compute(net, x);
        assert_true(y[0] == (i ? 1 : 0) && y[1] == (i ? -4 : 4));
        at_net_close(net);
    }
}

enum { QUERIES = 3, KEYS = 5, PAST = 2, SIZE = 4, VALUES = 3, HEADS = 4, SHARED = 2 };

/* Element i of key or value row j of head g: of the past, which has heads apart, or behind it. */
static double cached(const float *past, const float *x, int g, int j, int i, int size) {
    return j < PAST ? past[(g * PAST + j) * size + i]
                    : x[(j - PAST) * SHARED * size + g * size + i];
}

/* Query i of head h, into out[VALUES]; mask: what is added to each key's score. */
static void attend(const float *q, const float *const *kv, const float *mask, int h, int i,
                   double *out) {
    double score[KEYS], sum = 0;
    const int g = h / (HEADS / SHARED);
    for (int c = 0; c < VALUES; c++) out[c] = 0;
    for (int j = 0; j < KEYS && j <= i + PAST; j++) {
        score[j] = 0;
        for (int d = 0; d < SIZE; d++)
            score[j] += q[(i * HEADS + h) * SIZE + d] * cached(kv[2], kv[0], g, j, d, SIZE);
        score[j] = exp(2 * tanh(score[j] / 2 / 2) + mask[i * KEYS + j]); /* 1/sqrt(SIZE), cap 2 */
        sum += score[j];
        for (int c = 0; c < VALUES; c++) out[c] += score[j] * cached(kv[3], kv[1], g, j, c, VALUES);
    }
    for (int c = 0; c < VALUES; c++) out[c] = sum ? out[c] / sum : 0;
}

/* Heads share keys, which come behind those of the past; scores are bounded, a mask is added, and
 * no query sees later keys. The last one attends to none. */
static void attention(void **state) {
    (void)state;
    const float *q = numbers(QUERIES * HEADS * SIZE), *k = numbers(100) + 7, *v = k + 30,
                *past_k = k + 3, *past_v = k + 17;
    float mask[QUERIES * KEYS] = {0, 1, -2, 0.5f, 0, 0.25f, 0, 1, -1, 3};
    double expected[VALUES];
    for (int j = 0; j < KEYS; j++) mask[2 * KEYS + j] = -INFINITY;
    onnx_graph g = {0};
    onnx_input(&g, "q", AT_NET_FLOAT, "1,3,16");
    onnx_constant(&g, "k", AT_NET_FLOAT, "1,3,8", as_text(k, 3 * 8), true);
    onnx_constant(&g, "v", AT_NET_FLOAT, "1,3,6", as_text(v, 3 * 6), true);
    onnx_constant(&g, "m", AT_NET_FLOAT, "3,5", as_text(mask, QUERIES * KEYS), true);
    onnx_constant(&g, "pk", AT_NET_FLOAT, "1,2,2,4", as_text(past_k, 16), true);
    onnx_constant(&g, "pv", AT_NET_FLOAT, "1,2,2,3", as_text(past_v, 12), true);
    onnx_node(&g, "Attention", "q k v m pk pv", "y",
              "q_num_heads=4 kv_num_heads=2 is_causal=1 softcap=2.0");
    onnx_output(&g, "y");
    at_net *net = onnx_open_as(arena, &g, 24, NULL);
    const double *y = compute(net, q);
    for (int i = 0; i < QUERIES; i++)
        for (int h = 0; h < HEADS; h++) {
            attend(q, (const float *const[]){k, v, past_k, past_v}, mask, h, i, expected);
            for (int c = 0; c < VALUES; c++)
                expect_near(y[(i * HEADS + h) * VALUES + c], expected[c]);
        }
    assert_true(y[0] != 0 && y[2 * HEADS * VALUES] == 0);
    at_net_close(net);
}

/* A mask that ends before the keys lets no query attend to the rest; one without keys is refused.
 */
static void short_mask(void **state) {
    (void)state;
    for (int width = 2; width >= 0; width -= 2) {
        const float *x = numbers(3 * 2);
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1,1,3,2");
        onnx_constant(&g, "m", AT_NET_FLOAT, width ? "1,2" : "1,0", width ? "-inf 0" : "", false);
        onnx_node(&g, "Attention", "x x x m", "y", "");
        onnx_output(&g, "y");
        if (!width) {
            expect_refused(&g, 24, AT_E_INPUT, "\"m\" does not fit the scores");
            continue;
        }
        at_net *net = onnx_open_as(arena, &g, 24, NULL);
        const double *y = compute(net, x);
        for (int i = 0; i < 6; i++) expect_near(y[i], (double)x[2 + i % 2]); /* the second key's */
        at_net_close(net);
    }
}

/* Pairs of the first four of six elements are turned, either way of pairing; the rest stays. */
static void turned_rows(void **state) {
    (void)state;
    for (int by_neighbours = 0; by_neighbours < 2; by_neighbours++) {
        const float *x = numbers(2 * 3 * 6), *c = numbers(40) + 5, *s = c + 12;
        const int places[] = {1, 0, 2};
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1,2,3,6");
        onnx_constant(&g, "c", AT_NET_FLOAT, "3,2", as_text(c, 6), true);
        onnx_constant(&g, "s", AT_NET_FLOAT, "3,2", as_text(s, 6), true);
        onnx_constant(&g, "p", AT_NET_INT64, "1,3", "1 0 -1", true);
        onnx_node(&g, "RotaryEmbedding", "x c s p", "y",
                  by_neighbours ? "rotary_embedding_dim=4 interleaved=1"
                                : "rotary_embedding_dim=4");
        onnx_output(&g, "y");
        at_net *net = onnx_open_as(arena, &g, 23, NULL);
        const double *y = compute(net, x);
        for (int row = 0; row < 6; row++) {
            const float *in = x + row * 6;
            const double *out = y + row * 6;
            for (int k = 0; k < 2; k++) {
                const int i = by_neighbours ? 2 * k : k, j = by_neighbours ? 2 * k + 1 : k + 2;
                const double cosine = c[places[row % 3] * 2 + k], sine = s[places[row % 3] * 2 + k];
                expect_near(out[i], cosine * in[i] - sine * in[j]);
                expect_near(out[j], sine * in[i] + cosine * in[j]);
            }
            assert_true(out[4] == in[4] && out[5] == in[5]);
        }
        at_net_close(net);
    }
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

/* Of several updates of one place the last one stays. */
static void scattered_places(void **state) {
    (void)state;
    enum { ELEMENTS = 12 };
    const float *x = numbers(ELEMENTS);
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,2,3");
    onnx_constant(&g, "places", AT_NET_INT64, "4,3", "1 0 2 0 -1 0 1 0 2 0 0 -3", true);
    onnx_constant(&g, "u", AT_NET_FLOAT, "4", "100 200 300 400", true);
    onnx_node(&g, "ScatterND", "x places u", "y", "");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    for (int i = 0; i < ELEMENTS; i++)
        expect_near(y[i], i == 8 ? 300 : i == 3 ? 200 : i == 0 ? 400 : (double)x[i]);
    at_net_close(net);
}

/* ONNX has each index within its axis: known ones that are not are refused, as Gather's are. */
static void scattered_outside(void **state) {
    (void)state;
    static const struct {
        const char *x, *op, *places, *dims, *updates, *text;
    } cases[] = {{"2,2,3", "ScatterND", "1 0 2 0 0 3 0 2 0 0 -3 1 2 0 0 -3 1 2", "6,3", "6",
                  "(ScatterND): places[1, 2] is 3; -3 to 2 are accepted"},
                 {"4,3", "ScatterND", "2 2 0 2 -5 1 3 -1 3 0 0 0", "6,2", "6",
                  "(ScatterND): places[2, 0] is -5; -4 to 3 are accepted"},
                 {"6", "ScatterElements", "1 2 3 4 5 6", "6", "6",
                  "(ScatterElements): places[5] is 6; -6 to 5 are accepted"},
                 {"6", "Gather", "6", "", NULL, "(Gather): places is 6; -6 to 5 are accepted"}};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        const char *updates = cases[k / 2].updates;
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, cases[k / 2].x);
        onnx_constant(&g, "places", AT_NET_INT64, cases[k / 2].dims, cases[k / 2].places, true);
        onnx_constant(&g, "u", AT_NET_FLOAT, "6", "100 200 300 400 500 600", true);
        onnx_node(&g, cases[k / 2].op, updates ? "x places u" : "x places", "y",
                  updates && k % 2 ? "reduction='add'" : "");
        onnx_output(&g, "y");
        expect_refused(&g, 17, AT_E_INPUT, cases[k / 2].text);
    }
}

/* Of several updates of one element the last one is there, wherever the places come from. */
static void scattered_again(void **state) {
    (void)state;
    static const struct {
        const char *op, *x, *dims, *words, *updates;
        int64_t places[8];
        double y[6];
    } cases[] = {{"ScatterND", "6", "4,1", "1 4 -5 4", "4", {1, 4, -5, 4}, {0, 3, 0, 0, 4, 0}},
                 {"ScatterND",
                  "3,2",
                  "2,2,2",
                  "0 1 2 0 -3 1 0 0",
                  "2,2",
                  {0, 1, 2, 0, -3, 1, 0, 0},
                  {4, 3, 0, 0, 2, 0}},
                 {"ScatterElements", "6", "4", "1 4 -5 4", "4", {1, 4, -5, 4}, {0, 3, 0, 0, 4, 0}},
                 {"ScatterElements",
                  "3,2",
                  "3,2",
                  "0 2 0 2 -3 1",
                  "3,2",
                  {0, 2, 0, 2, -3, 1},
                  {5, 0, 0, 6, 0, 4}},
                 {"ScatterElements", /* fewer columns than there are */
                  "3,2",
                  "4,1",
                  "2 0 -1 0",
                  "4,1",
                  {2, 0, -1, 0},
                  {4, 0, 0, 0, 3, 0}}};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        onnx_graph g = {0};
        if (k % 2)
            onnx_constant(&g, "places", AT_NET_INT64, cases[k / 2].dims, cases[k / 2].words, true);
        else onnx_input(&g, "places", AT_NET_INT64, cases[k / 2].dims);
        onnx_constant(&g, "x", AT_NET_FLOAT, cases[k / 2].x, "0 0 0 0 0 0", true);
        onnx_constant(&g, "u", AT_NET_FLOAT, cases[k / 2].updates,
                      strcmp(cases[k / 2].updates, "3,2") ? "1 2 3 4" : "1 2 3 4 5 6", true);
        if (k % 2) onnx_input(&g, "more", AT_NET_FLOAT, "1");
        onnx_node(&g, cases[k / 2].op, "x places u", "z", "");
        onnx_node(&g, "Add", k % 2 ? "z more" : "z x", "y", "");
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, NULL);
        const float none = 0;
        const double *y = compute(net, k % 2 ? (const void *)&none : cases[k / 2].places);
        for (int i = 0; i < 6; i++) expect_near(y[i], cases[k / 2].y[i]);
        at_net_close(net);
    }
}

/* Without updates all stays as it is. */
static void scattered_nothing(void **state) {
    (void)state;
    static const struct {
        const char *op, *dims, *updates;
    } cases[] = {{"ScatterND", "0,2", "0"},
                 {"ScatterND", "2,0,1", "2,0,2"},
                 {"ScatterElements", "3,0", "3,0"}};
    const float x[6] = {3, 1, 4, 1, 5, 9};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "3,2");
        onnx_constant(&g, "places", AT_NET_INT64, cases[k / 2].dims, "", true);
        onnx_constant(&g, "u", AT_NET_FLOAT, cases[k / 2].updates, "", true);
        onnx_node(&g, cases[k / 2].op, "x places u", "y", k % 2 ? "axis=1 reduction='max'" : "");
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, NULL);
        const double *y = compute(net, x);
        for (int i = 0; i < 6; i++) expect_near(y[i], (double)x[i]);
        at_net_close(net);
    }
}

/* Indices that come with the data and lie outside are refused as well, each by the axis that it
 * counts along; -1 here is the last place. */
static void scattered_data_outside(void **state) {
    (void)state;
    static const struct {
        const char *op, *dims;
        int64_t good[6], bad[6];
        const char *text;
    } cases[] = {{"ScatterND",
                  "3,2",
                  {3, 2, -4, -3, 0, 1},
                  {3, 2, 0, 3, 0, 1},
                  "(ScatterND): places[1, 1] is 3; -3 to 2 are accepted"},
                 {"ScatterND",
                  "3,2",
                  {3, 0, 1, 1, 2, 2},
                  {3, 0, -5, 1, 2, 2},
                  "(ScatterND): places[1, 0] is -5; -4 to 3 are accepted"},
                 {"ScatterND",
                  "3,1",
                  {3, -1, 0},
                  {3, 4, 0},
                  "(ScatterND): places[1, 0] is 4; -4 to 3 are accepted"},
                 {"ScatterElements",
                  "2,3",
                  {3, -4, 0, 1, 2, 2},
                  {0, 0, 0, 1, 2, 4},
                  "(ScatterElements): places[1, 2] is 4; -4 to 3 are accepted"},
                 {"GatherND",
                  "3,2",
                  {3, 2, -4, -3, 0, 1},
                  {0, 3, 0, 0, 0, 0},
                  "(GatherND): places[0, 1] is 3; -3 to 2 are accepted"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool gathers = cases[k].op[0] == 'G';
        onnx_graph g = {0};
        onnx_input(&g, "places", AT_NET_INT64, cases[k].dims);
        onnx_numbers(&g, "x", "4,3", 1, false);
        onnx_numbers(&g, "u", k == 2 ? "3,3" : k == 3 ? "2,3" : "3", 2, false);
        onnx_node(&g, cases[k].op, gathers ? "x places" : "x places u", "y", "");
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, NULL);
        at_net_reference *r;
        at_error err;
        double *out;
        compute(net, cases[k].good);
        const void *input = cases[k].bad;
        assert_int_equal(at_net_reference_new(net, NULL, &r, &err), AT_OK);
        assert_int_equal(at_net_reference_run(r, &input, arena, &out, NULL, &err), AT_E_INPUT);
        if (!strstr(err.text, cases[k].text)) fail_msg("%s", err.text);
        at_net_reference_free(r);
        at_net_close(net);
    }
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
        cmocka_unit_test(scattered_places), cmocka_unit_test(scattered_outside),
        cmocka_unit_test(scattered_again),  cmocka_unit_test(scattered_nothing),
        cmocka_unit_test(resized),          cmocka_unit_test(scattered_data_outside),
        cmocka_unit_test(convolution),      cmocka_unit_test(attention),
        cmocka_unit_test(short_mask),       cmocka_unit_test(turned_rows),
        cmocka_unit_test(recurrence),       cmocka_unit_test(recurrence_of_bytes),
        cmocka_unit_test(whole_numbers),    cmocka_unit_test(gathered),
        cmocka_unit_test(compressed),       cmocka_unit_test(external_data),
        cmocka_unit_test(refused),          cmocka_unit_test(cut_off),
        cmocka_unit_test(dimensions),       cmocka_unit_test(bound),
        cmocka_unit_test(unnamed),          cmocka_unit_test(no_number),
        cmocka_unit_test(widened),          cmocka_unit_test(joined_by_others),
        cmocka_unit_test(factors_of_rows),
    };
    return cmocka_run_group_tests_name("network/values", tests, make_arena, free_arena);
}
