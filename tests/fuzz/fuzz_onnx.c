/* ONNX files: refused in one line that a terminal may show, or a graph whose nodes read what stands
 * before them, and whose texts are computations that read within their tensors. */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "network/network.h"
#include "tests/fuzz/verb.h"
#include "tests/network/onnx_writer.h"

static void check_node(at_arena *a, const at_net *net, const at_net_node *n) {
    at_compute *c;
    at_error err;
    for (int k = 0; k < n->num_inputs; k++) AT_ASSERT(n->inputs[k] < net->values.len);
    for (int k = 0; k < n->num_outputs; k++)
        if (n->outputs[k] >= 0)
            for (int i = 0; i < n->num_inputs; i++) AT_ASSERT(n->inputs[i] != n->outputs[k]);
    if (at_net_computation(a, net, n, &c, &err) != AT_OK) AT_BUG("%s: %s", n->text, err.text);
}

static void run(const uint8_t *data, size_t size) {
    at_arena *a = at_arena_new();
    at_net_options o = {.room_bytes = 1 << 22};
    at_net *net;
    at_error err;
    at_status s = at_net_parse(data, size, NULL, &o, &net, &err);
    if (s == AT_E_USAGE) { /* sizes are not given */
        o.dims = "N=2";
        s = at_net_parse(data, size, NULL, &o, &net, &err);
    }
    if (s == AT_OK) {
        at_text text = {0};
        at_net_print(&text, net, true);
        for (int i = 0; i < net->nodes.len; i++) check_node(a, net, &net->nodes.data[i]);
        at_text_free(&text);
        at_net_close(net);
    } else {
        AT_ASSERT(s == AT_E_INPUT || s == AT_E_USAGE);
        fuzz_check_shown(err.text, "the message");
    }
    at_arena_free(a);
}

/* ---- graphs to begin with -------------------------------------------------------------------- */

static void picture(onnx_graph *g) {
    onnx_input(g, "x", AT_NET_FLOAT, "N,2,6,5");
    onnx_constant(g, "w", AT_NET_FLOAT, "2,2,1,2", "1 2 3 4 5 6 7 8", true);
    onnx_constant(g, "b", AT_NET_FLOAT, "2", "1 2", false);
    onnx_node(g, "Conv", "x w b", "c", "strides=[2,1] pads=[0,1,0,0]");
    onnx_node(g, "MaxPool", "c", "p - ", "kernel_shape=[2,2] ceil_mode=1");
    onnx_node(g, "LRN", "p", "l", "size=3");
    onnx_node(g, "Flatten", "l", "f", "axis=1");
    onnx_node(g, "Softmax", "f", "y", "axis=-1");
}

static void sizes(onnx_graph *g) {
    onnx_input(g, "x", AT_NET_FLOAT, "N,6");
    onnx_constant(g, "k", AT_NET_INT64, "2", "1 -1", false);
    onnx_node(g, "Shape", "x", "s", "");
    onnx_node(g, "Gather", "s k", "t", "axis=0");
    onnx_node(g, "Concat", "t k", "u", "axis=0");
    onnx_node(g, "Slice", "u k s", "v", "");
    onnx_node(g, "Reshape", "x k", "y", "");
}

static void sequence(onnx_graph *g) {
    onnx_input(g, "x", AT_NET_FLOAT, "3,N,2");
    onnx_constant(g, "w", AT_NET_FLOAT, "1,4,2", "1 2 3 4 5 6 7 8", true);
    onnx_constant(g, "r", AT_NET_FLOAT, "1,4,1", "1 2 3 4", true);
    onnx_node(g, "LSTM", "x w r", "y h", "hidden_size=1");
}

static void resized(onnx_graph *g) {
    onnx_input(g, "x", AT_NET_FLOAT, "1,1,N,3");
    onnx_constant(g, "s", AT_NET_FLOAT, "4", "1 1 2 1.5", true);
    onnx_node(g, "Resize", "x - s", "z", "mode='linear'");
    onnx_node(g, "ReduceSum", "z", "r", "keepdims=0");
    onnx_node(g, "Pad", "z", "y", "pads=[0,0,1,1,0,0,0,0]");
}

static void branch(onnx_graph *g) {
    onnx_graph then = {0}, otherwise = {0};
    onnx_input(g, "x", AT_NET_FLOAT, "N,2");
    onnx_constant(g, "c", AT_NET_BOOL, "", "1", false);
    onnx_node(&then, "Relu", "x", "a", "");
    onnx_output(&then, "a");
    onnx_node(&otherwise, "Exp", "x", "b", "");
    onnx_output(&otherwise, "b");
    onnx_node_with_graphs(g, "If", "c", "y", "", "then_branch", &then, "else_branch", &otherwise);
}

static bool seed(int i, at_text *out) {
    static void (*const graphs[])(onnx_graph * g) = {picture, sizes, sequence, resized, branch};
    onnx_graph g = {0};
    if (i >= (int)(sizeof graphs / sizeof *graphs)) return false;
    graphs[i](&g);
    onnx_output(&g, "y");
    at_text model = onnx_model(&g, 12);
    at_text_addn(out, at_text_str(&model), model.len);
    at_text_free(&model);
    return true;
}

const fuzz_target fuzz_onnx = {"onnx", run, seed, 1};
