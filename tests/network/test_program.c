/* Networks made ready to run: what comes out is what the texts of the nodes say, evaluated one by
 * one in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "network/program.h"
#include "tests/arena.h"
#include "tests/network/made_net.h"

/* ---- graphs ---------------------------------------------------------------------------------- */

static void normalization(onnx_graph *g, const char *x, const char *y, const char *channels) {
    const char *name[] = {"s", "b", "m", "v"};
    at_text inputs = {0};
    at_text_add(&inputs, x);
    for (int k = 0; k < 4; k++) {
        const char *own = at_format(arena, "%s_%s", y, name[k]);
        onnx_numbers(g, own, channels, 11 + k, k == 3);
        at_text_addf(&inputs, " %s", own);
    }
    onnx_node(g, "BatchNormalization", at_text_str(&inputs), y, "");
    at_text_free(&inputs);
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Shifts and factors one behind another are in weight and bias; where something else reads what is
 * between, or where there is no weight before, they stay. */
static void channels(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,8,9,7");
    onnx_numbers(&g, "w1", "16,8,1,1", 1, false);
    onnx_numbers(&g, "w2", "16,16,1,1", 2, false);
    onnx_numbers(&g, "f", "16,1,1", 3, true);
    onnx_numbers(&g, "d", "1,16,1,1", 4, true);
    onnx_numbers(&g, "s", "16,1,1", 5, false);
    onnx_numbers(&g, "one", "1", 6, true);
    onnx_numbers(&g, "wide", "1,1,1,7", 7, false);
    onnx_node(&g, "Conv", "x w1", "c1", "");
    normalization(&g, "c1", "n1", "16");
    onnx_node(&g, "Mul", "f n1", "m1", "");
    onnx_node(&g, "Sub", "m1 s", "a1", "");
    onnx_node(&g, "Div", "a1 d", "d1", "");
    onnx_node(&g, "Relu", "d1", "r1", "");
    onnx_node(&g, "Conv", "r1 w2", "c2", "");
    onnx_node(&g, "Mul", "c2 one", "m2", "");
    onnx_node(&g, "Add", "m2 wide", "a2", "");
    onnx_node(&g, "Sub", "s r1", "b2", "");
    onnx_node(&g, "Add", "a2 b2", "y", "");
    onnx_output(&g, "y");
    onnx_check(arena, &g,
               "channels last 8 at 9x7; conv1x1 8 to 16 at 9x7, bias, relu; sub 16 at 9x7; "
               "conv1x1 16 to 16 at 9x7, add, add; channels first 16 at 9x7");
}

/* Transposed convolutions whose windows lie side by side, with padding, more at the end, in groups;
 * and one whose windows are apart. */
static void side_by_side(void **state) {
    (void)state;
    static const struct {
        const char *weight, *attributes;
    } cases[] = {
        {"8,6,2,2", "strides=[2,2]"},
        {"8,6,3,3", "strides=[3,3] pads=[1,1,1,1] output_padding=[1,2]"},
        {"8,6,2,4", "strides=[2,4] pads=[0,1,0,1]"},
        {"8,3,2,2", "strides=[2,2] group=2"},
        {"8,6,2,2", "strides=[2,2] dilations=[2,1]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1,8,5,4");
        onnx_numbers(&g, "w", cases[i].weight, 1, false);
        onnx_node(&g, "ConvTranspose", "x w", "c", cases[i].attributes);
        onnx_node(&g, "Relu", "c", "y", "");
        onnx_output(&g, "y");
        onnx_check(arena, &g, NULL);
    }
}

/* What is subnormal in a weight is nothing beside the rest, and packed as 0. */
static void subnormal_weights(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,4");
    onnx_constant(&g, "w", AT_NET_FLOAT, "4,2", " 1e-40 2 -3e-39 1 0.5 1e-45 1 -1e-44", true);
    onnx_node(&g, "MatMul", "x w", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    onnx_check_program(arena, net, &p);
    for (int64_t i = 0; i + 4 <= p.weights_bytes; i += 4) {
        float x;
        memcpy(&x, p.weights + i, sizeof x);
        assert_true(x == 0 || fabsf(x) > 1e-30f);
    }
    assert_true(p.weights_bytes >= 32);
    at_net_program_free(&p);
    at_net_close(net);
}

/* A block with an addend: factors go into weights, bias, sum and activation behind the second. */
static void residual(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,8,9,7");
    onnx_numbers(&g, "w1", "16,8,3,3", 1, false);
    onnx_numbers(&g, "w2", "16,16,3,3", 2, false);
    onnx_numbers(&g, "w3", "16,8,1,1", 3, false);
    onnx_numbers(&g, "b3", "16", 4, false);
    onnx_node(&g, "Conv", "x w1", "c1", "pads=[1,1,1,1]");
    normalization(&g, "c1", "n1", "16");
    onnx_node(&g, "Relu", "n1", "r1", "");
    onnx_node(&g, "Conv", "r1 w2", "c2", "pads=[1,1,1,1]");
    normalization(&g, "c2", "n2", "16");
    onnx_node(&g, "Conv", "x w3 b3", "c3", "");
    normalization(&g, "c3", "n3", "16");
    onnx_node(&g, "Add", "n2 n3", "a", "");
    onnx_node(&g, "Relu", "a", "y", "");
    onnx_output(&g, "y");
    onnx_check(
        arena, &g,
        "channels last 8 at 9x7; conv3x3 8 to 16 at 9x7, bias, relu; conv1x1 8 to 16 at 9x7, "
        "bias; conv3x3 16 to 16 at 9x7, bias, add, relu; channels first 16 at 9x7");
}

/* Only convolutions with channels enough move them, and what leaves in the middle of a part is no
 * part of it; each move is made once, for all that read it. */
static void edges(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,8,5,7");
    onnx_input(&g, "p", AT_NET_FLOAT, "1,3,5,7");
    onnx_numbers(&g, "w1", "8,8,1,1", 1, false);
    onnx_numbers(&g, "w2", "3,8,1,1", 2, false);
    onnx_numbers(&g, "w3", "8,3,1,1", 3, false);
    onnx_numbers(&g, "w4", "8,1,3,3", 4, false);
    onnx_node(&g, "Conv", "x w1", "c", "");
    onnx_node(&g, "Conv", "x w2", "few", "");
    onnx_node(&g, "Conv", "p w3", "d", "");
    onnx_node(&g, "Add", "d x", "a", "");
    onnx_node(&g, "Sigmoid", "a", "s", "");
    onnx_node(&g, "Mul", "a s", "m", "");
    onnx_node(&g, "Conv", "x w4", "alone", "group=8 pads=[1,1,1,1]");
    onnx_node(&g, "Abs", "c", "e", "");
    onnx_node(&g, "MaxPool", "c", "q", "kernel_shape=[2,2]");
    static const char *const outputs[] = {"e", "few", "m", "alone", "q"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) onnx_output(&g, outputs[i]);
    onnx_check(arena, &g,
               "channels last 8 at 5x7; conv1x1 8 to 8 at 5x7; conv1x1 8 to 3 at 5x7; "
               "conv1x1 3 to 8 at 5x7, add, sigmoid, mul; channels first 8 at 5x7; "
               "depthwise3x3 8 at 5x7; abs 8 at 5x7; max pool2x2 8 at 4x6");
}

/* So do samplings, whose channels are side by side where rows of places are short. */
static void sampled_edges(void **state) {
    (void)state;
    static const struct {
        int width;
        const char *parts;
    } rows[] = {{4, "channels last 8 at 5x7; roi align 8 at 3x4, abs; channels first 8 at 3x4"},
                {16, "roi align 8 at 3x16, abs"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "4,8,5,7");
        onnx_input(&g, "boxes", AT_NET_FLOAT, "2,4");
        onnx_input(&g, "pictures", AT_NET_INT64, "2");
        onnx_node(
            &g, "RoiAlign", "x boxes pictures", "s",
            at_format(arena, "sampling_ratio=1 output_height=3 output_width=%d", rows[i].width));
        onnx_node(&g, "Abs", "s", "y", "");
        onnx_output(&g, "y");
        onnx_check(arena, &g, rows[i].parts);
    }
}

/* Branches that come together, pooling, a view, a product, a softmax. */
static void classifier(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,3,12,12");
    onnx_numbers(&g, "w1", "8,3,3,3", 1, false);
    onnx_numbers(&g, "w2", "4,8,1,1", 2, false);
    onnx_numbers(&g, "w3", "8,1,3,3", 3, false);
    onnx_numbers(&g, "w4", "10,12", 4, false);
    onnx_numbers(&g, "b4", "10", 5, false);
    onnx_node(&g, "Conv", "x w1", "c1", "strides=[2,2] pads=[1,1,1,1]");
    normalization(&g, "c1", "n1", "8");
    onnx_node(&g, "Sigmoid", "n1", "s1", "");
    onnx_node(&g, "Mul", "n1 s1", "r1", "");
    onnx_node(&g, "Conv", "r1 w2", "c2", "");
    onnx_node(&g, "Conv", "r1 w3", "c3", "group=8 pads=[1,1,1,1]");
    onnx_node(&g, "Concat", "c2 c3", "k", "axis=1");
    onnx_node(&g, "MaxPool", "k", "p", "kernel_shape=[2,2] strides=[2,2]");
    onnx_node(&g, "GlobalAveragePool", "p", "q", "");
    onnx_node(&g, "Flatten", "q", "f", "");
    onnx_node(&g, "Gemm", "f w4 b4", "m", "transB=1");
    onnx_node(&g, "Softmax", "m", "y", "");
    onnx_output(&g, "r1");
    onnx_output(&g, "y");
    onnx_check(
        arena, &g,
        "conv3x3 3 to 8 at 6 stride 2, bias, sigmoid, mul; channels first 8 at 6; conv1x1 8 to "
        "4 at 6; depthwise3x3 8 at 6; concat 12 at 6; max pool2x2 12 at 3 stride 2; global "
        "average pool 12 at 1; "
        "product 12 to 10 of 1, bias; softmax 1x10");
}

/* What a mask leaves of a softmax is 0, and no subnormal number, for which a core takes thirty
 * times as long; what is not a number stays so. */
static void masked(void **state) {
    (void)state;
    enum { N = 8 };
    static const float x[3 * N] = {
        0,         -100,      -90,       -104,      -INFINITY, 1,         -79,       2,
        -100,      -100,      -101,      -200,      -100,      0,         -95,       -88,
        -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "3,8");
    onnx_node(&g, "Softmax", "x", "y", "axis=1");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    at_error err;
    float y[3 * N];
    const void *inputs[] = {x};
    void *outputs[] = {y};
    if (onnx_run(&p, inputs, outputs, &err) != AT_OK) fail_msg("%s", err.text);
    for (int i = 0; i < 2 * N; i++) {
        const float most = i < N ? 2 : 0, sum = i < N ? expf(-2) + expf(-1) + 1 : 1;
        const float e = x[i] - most < -87 ? 0 : expf(x[i] - most) / sum;
        if (!(fabsf(y[i] - e) <= 1e-6F)) fail_msg("%g, not %g", (double)y[i], (double)e);
        if (y[i] != 0 && y[i] < FLT_MIN) fail_msg("%g is subnormal", (double)y[i]);
        if (x[i] - most < -87 && y[i] != 0) fail_msg("%g, not 0", (double)y[i]);
    }
    for (int i = 2 * N; i < 3 * N; i++) assert_true(isnan(y[i]));
    at_net_program_free(&p);
    at_net_close(net);
}

/* Rows less their mean over their deviation, in nine nodes, are one part; moves are read through;
 * an output that is an input, a constant or another output is copied. */
static void rows(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,5,16");
    onnx_numbers(&g, "gain", "16", 1, false);
    onnx_numbers(&g, "shift", "16", 2, false);
    onnx_numbers(&g, "w", "16,12", 3, false);
    onnx_constant(&g, "two", AT_NET_FLOAT, "", "2", false);
    onnx_constant(&g, "eps", AT_NET_FLOAT, "", "0.00001", false);
    onnx_node(&g, "ReduceMean", "x", "mean", "axes=[-1]");
    onnx_node(&g, "Sub", "x mean", "d", "");
    onnx_node(&g, "Pow", "d two", "sq", "");
    onnx_node(&g, "ReduceMean", "sq", "var", "axes=[-1]");
    onnx_node(&g, "Add", "var eps", "ve", "");
    onnx_node(&g, "Sqrt", "ve", "sd", "");
    onnx_node(&g, "Div", "d sd", "q", "");
    onnx_node(&g, "Mul", "q gain", "m", "");
    onnx_node(&g, "Add", "m shift", "n", "");
    onnx_node(&g, "MatMul", "n w", "h", "");
    onnx_node(&g, "Transpose", "h", "t", "perm=[0,2,1]");
    onnx_node(&g, "MatMul", "h t", "y", "");
    onnx_node(&g, "Identity", "x", "same", "");
    onnx_node(&g, "Identity", "gain", "kept", "");
    onnx_output(&g, "y");
    onnx_output(&g, "same");
    onnx_output(&g, "kept");
    onnx_check(arena, &g,
               "reduce mean 2x5x1, sub, pow, reduce mean, add, sqrt, div and 2 more; product 16 to "
               "12 of 5, 2 times; product 12 to 5 of 5, 2 times");
}

/* A transposed convolution whose output steps do not divide: its last phases are shorter. */
static void transposed(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,1,3,3");
    onnx_numbers(&g, "w", "1,2,3,3", 1, false);
    onnx_node(&g, "ConvTranspose", "x w", "y", "strides=[3,2] pads=[1,2,1,2]");
    onnx_output(&g, "y");
    onnx_check(arena, &g, "deconv3x3 1 to 2 at 7x3 stride 3");
}

/* Groups of channels that are normalized by what exporters write for it are one part, with a Mul
 * and an Add of channels or without, unless others read what is between. */
static void group_norm(void **state) {
    (void)state;
    static const struct {
        const char *scale, *bias;
        bool is_read, is_one;
    } cases[] = {{"12,1,1", "1,12,1,1", false, true},
                 {"12,1,1", NULL, false, true},
                 {NULL, NULL, false, true},
                 {"12,5,1", "12,1,1", false, true},
                 {NULL, NULL, true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *last = "normal";
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "2,12,5,7");
        onnx_numbers(&g, "w", "12,12,1,1", 1, false);
        onnx_numbers(&g, "of_groups", "3", 2, false);
        onnx_numbers(&g, "shifts", "3", 3, false);
        onnx_constant(&g, "groups", AT_NET_INT64, "3", "0 3 -1", true);
        onnx_constant(&g, "back", AT_NET_INT64, "4", "2 12 5 7", true);
        onnx_node(&g, "Conv", "x w", "v", "");
        onnx_node(&g, "Reshape", "v groups", "split", "");
        onnx_node(&g, "InstanceNormalization", "split of_groups shifts", "normals", "epsilon=0.25");
        onnx_node(&g, "Reshape", "normals back", "normal", "");
        if (cases[i].scale) {
            onnx_numbers(&g, "scale", cases[i].scale, 4, false);
            onnx_node(&g, "Mul", "scale normal", last = "scaled", "");
        }
        if (cases[i].bias) {
            onnx_numbers(&g, "bias", cases[i].bias, 5, false);
            onnx_node(&g, "Add", at_format(arena, "%s bias", last), "shifted", "");
            last = "shifted";
        }
        onnx_node(&g, "Relu", last, "r", "");
        onnx_node(&g, "Conv", "r w", "y", "");
        if (cases[i].is_read) {
            onnx_node(&g, "Neg", "normals", "z", "");
            onnx_output(&g, "z");
        }
        onnx_output(&g, "y");
        at_net *net = onnx_open(arena, &g);
        at_net_program p = onnx_program(net, NULL);
        bool is_one = false;
        for (int k = 0; k < p.cut.num_parts; k++)
            is_one |= !strncmp(p.cut.parts[k].title, "group normalization", 19);
        if (is_one != cases[i].is_one) fail_msg("case %zu", i);
        onnx_check_program(arena, net, &p);
        at_net_program_free(&p);
        at_net_close(net);
    }
}

/* Values that leave in the middle of chains, however these are cut. */
static void values_between(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_chain(&g);
    static const char *const outputs[] = {"r", "d", "z"};
    for (int i = 0; i < 3; i++) onnx_output(&g, outputs[i]);
    onnx_check(arena, &g, NULL);
}

/* Outputs of a node that nothing reads, and what only they are computed from, are in no part. */
static void unread(void **state) {
    (void)state;
    static const struct {
        const char *op, *inputs, *outputs, *attributes;
    } cases[] = {{"TopK", "x count", "values e", "axis=1"},
                 {"com.microsoft:SkipLayerNormalization", "x x scale", "rows - - e", ""}};
    for (int i = 0; i < 2; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1,7,5");
        onnx_constant(&g, "count", AT_NET_INT64, "1", "3", true);
        onnx_constant(&g, "scale", AT_NET_FLOAT, "5", "1 2 3 4 5", true);
        onnx_node(&g, cases[i].op, cases[i].inputs, cases[i].outputs, cases[i].attributes);
        onnx_node(&g, "Cast", "e", "f", "to=1");
        onnx_node(&g, "Exp", "f", "y", "");
        onnx_output(&g, "y");
        onnx_check(arena, &g, NULL);
    }
}

/* The cell's state alone: the other one goes round and leaves no step. */
static void state_alone(void **state) {
    (void)state;
    onnx_graph g = {0};
    at_net_program p;
    const at_net_build b = {0};
    at_error err;
    onnx_input(&g, "x", AT_NET_FLOAT, "2,1,1");
    onnx_constant(&g, "w", AT_NET_FLOAT, "1,4,1", "1 2 3 4", true);
    onnx_node(&g, "LSTM", "x w w", "all last cell", "hidden_size=1");
    onnx_node(&g, "Exp", "cell", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    assert_int_equal(at_net_program_new(net, &b, &p, &err), AT_E_INPUT);
    assert_non_null(strstr(err.text, "(LSTM): a state that no output reads is not there yet"));
    at_net_program_free(&p);
    at_net_close(net);
}

/* A large part runs on two threads, one of few microseconds on one; the outputs are the same. */
static void threads(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,64,28,28");
    onnx_numbers(&g, "w", "64,64,3,3", 1, false);
    onnx_node(&g, "Conv", "x w", "c", "pads=[1,1,1,1]");
    onnx_node(&g, "GlobalMaxPool", "c", "m", "");
    onnx_node(&g, "ReduceMax", "m", "y", "axes=[1]");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_net_build b = {.engine.threads = 2, .is_exact = true};
    if (!at_has_threads()) skip();
    at_net_program p = onnx_program(net, &b);
    assert_int_equal(p.num_kernels, 4);
    assert_int_equal(p.kernels[1].forms.data[0].session.how.threads, 2);
    assert_int_equal(p.kernels[3].forms.data[0].session.how.threads, 1);
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

/* Halves in and out; a weight of few rows stays in 16 bits, that of a convolution does not. */
static void halves(void **state) {
    (void)state;
    static const at_net_type types[] = {AT_NET_FLOAT16, AT_NET_BFLOAT16};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", types[i], "1,3,8,8");
        const char *to = types[i] == AT_NET_FLOAT16 ? "to=10" : "to=16";
        static const char *const dims[] = {"16,3,3,3", "16", "16,40"};
        for (int k = 0; k < 3; k++) {
            onnx_numbers(&g, at_format(arena, "f%d", k), dims[k], k + 1, k == 1);
            onnx_node(&g, "Cast", at_format(arena, "f%d", k), at_format(arena, "w%d", k), to);
        }
        onnx_node(&g, "Conv", "x w0", "c", "");
        onnx_node(&g, "BatchNormalization", "c w1 w1 w1 w1", "n", "");
        onnx_node(&g, "GlobalAveragePool", "n", "q", "");
        onnx_node(&g, "Flatten", "q", "f", "");
        onnx_node(&g, "MatMul", "f w2", "y", "");
        onnx_output(&g, "y");
        at_net *net = onnx_open(arena, &g);
        at_net_program p = onnx_program(net, NULL);
        const char *name =
            types[i] == AT_NET_FLOAT16 ? "w0[16, 40] : weight f16" : "w0[16, 40] : weight bf16";
        assert_string_equal(p.cut.parts[0].title, "conv3x3 3 to 16 at 6, bias");
        assert_non_null(strstr(p.cut.parts[0].text, "w0[16, 3, 3, 3] : weight\n"));
        assert_non_null(strstr(p.cut.parts[p.cut.num_parts - 1].text, name));
        onnx_check_program(arena, net, &p);
        at_net_program_free(&p);
        at_net_close(net);
    }
}

/* Winograd's algorithm with m = 4 is no way of a convolution of few channels. */
static void ways_of_channels(void **state) {
    (void)state;
    for (int channels = 47; channels <= 48; channels++) {
        onnx_graph g = {0};
        const at_net_build b = {.without_weights = true};
        onnx_input(&g, "x", AT_NET_FLOAT, at_format(arena, "1,%d,8,8", channels));
        onnx_numbers(&g, "w", at_format(arena, "16,%d,3,3", channels), 1, false);
        onnx_node(&g, "Conv", "x w", "y", "pads=[1,1,1,1]");
        onnx_output(&g, "y");
        at_net *net = onnx_open(arena, &g);
        int found = 0;
        at_net_program p = onnx_program(net, &b);
        for (int i = 0; i < p.num_kernels; i++)
            if (!strncmp(p.kernels[i].part->title, "conv3x3", 7)) found = p.kernels[i].num_ways;
        assert_int_equal(found, channels < 48 ? 2 : 3);
        at_net_program_free(&p);
        at_net_close(net);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_of_channels),
        cmocka_unit_test(threads),
        cmocka_unit_test(channels),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(subnormal_weights),
        cmocka_unit_test(residual),
        cmocka_unit_test(classifier),
        cmocka_unit_test(rows),
        cmocka_unit_test(masked),
        cmocka_unit_test(unread),
        cmocka_unit_test(state_alone),
        cmocka_unit_test(transposed),
        cmocka_unit_test(group_norm),
        cmocka_unit_test(values_between),
        cmocka_unit_test(edges),
        cmocka_unit_test(sampled_edges),
        cmocka_unit_test(halves),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
