/* ONNX files as graphs: sizes, what is worked out at once, texts, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/arena.h"
#include "tests/folder.h"
#include "tests/network/made_net.h"

/* Every text is a computation whose reads lie within their tensors. */
static void check_texts(const at_net *net) {
    for (int i = 0; i < net->nodes.len; i++) {
        at_compute *c;
        at_error err;
        if (at_net_computation(arena, net, &net->nodes.data[i], &c, &err) != AT_OK ||
            at_compute_check_reads(c, NULL, NULL, NULL, &err) != AT_OK)
            fail_msg("%s\n%s", net->nodes.data[i].text, err.text);
    }
}

static void convolution(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "N,4,9,H");
    onnx_constant(&g, "w", AT_NET_FLOAT, "2,2,1,2", "1 2 3 4 5 6 7 8", true);
    onnx_constant(&g, "b", AT_NET_FLOAT, "2", "1 2", false);
    onnx_node(&g, "Conv", "x w b", "c", "group=2 strides=[2,1] pads=[0,1,0,0]");
    onnx_node(&g, "Relu", "c", "r", "");
    onnx_node(&g, "AveragePool", "r", "p", "kernel_shape=[2,3] ceil_mode=1 pads=[0,1,1,1]");
    onnx_node(&g, "Flatten", "p", "y", "axis=2");
    onnx_output(&g, "y");
    at_net *net = onnx_open_as(arena, &g, 13, &(at_net_options){.dims = "N=1,H=8"});
    assert_int_equal(net->nodes.len, 4);
    assert_string_equal(net->nodes.data[0].text,
                        "s[n:1, m:2, a0:5, a1:8] = sum(c:2, p0:1, p1:2) inside ? x0[n, m*2 + c, "
                        "i0, i1] * x1[m, c, p0, p1] : 0 where i0 = a0*2, i1 = a1 + p1 - 1, inside "
                        "= 0 <= i1 && i1 < 8\n"
                        "y0[n:1, m:2, a0:5, a1:8] = s[n, m, a0, a1] + x2[m]\n");
    check_texts(net);
    onnx_expect_shape(net, 0, "float32[2, 40]");
    at_net_close(net);
}

/* Sizes by way of Shape and its like leave no node behind. */
static void sizes(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "N,6");
    onnx_constant(&g, "two", AT_NET_INT64, "1", "2", false);
    onnx_constant(&g, "rest", AT_NET_INT64, "1", "-1", true);
    onnx_node(&g, "Shape", "x", "shape", "");
    onnx_node(&g, "Mul", "shape two", "twice", "");
    onnx_node(&g, "Concat", "rest twice", "wanted", "axis=0");
    onnx_node(&g, "Sub", "wanted rest", "more", "");
    onnx_node(&g, "ConstantOfShape", "more", "zeros", "");
    onnx_node(&g, "Transpose", "x", "t", "");
    onnx_node(&g, "Reshape", "t rest", "y", "");
    onnx_output(&g, "y");
    onnx_output(&g, "zeros");
    onnx_output(&g, "wanted");
    at_net *net = onnx_open_as(arena, &g, 13, &(at_net_options){.dims = "N=4"});
    assert_int_equal(net->nodes.len, 2);
    onnx_expect_shape(net, 0, "float32[24]");
    onnx_expect_shape(net, 1, "float32[0, 9, 13]");
    const at_net_value *wanted = &net->values.data[net->outputs.data[2]];
    const int64_t expected[] = {-1, 8, 12};
    for (int i = 0; i < 3; i++)
        assert_int_equal(at_net_element_int(wanted->type, wanted->data, i), expected[i]);
    check_texts(net);
    at_net_close(net);
}

static void refused(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "N,?");
    onnx_node(&g, "NoSuch", "x", "a", "");
    onnx_node(&g, "Relu", "a", "b", "");
    onnx_node(&g, "NoSuch", "b", "c", "");
    onnx_node(&g, "Nor", "x", "d", "");
    onnx_output(&g, "c");
    at_text kept = {0};
    at_text_addn(&kept, at_text_str(&g.bytes), g.bytes.len);
    onnx_graph again = {kept};
    onnx_expect_refused(&g, 13, NULL, AT_E_USAGE,
                        "sizes of inputs are not given: N, x[1]; as in --dim 'N=1,x[1]=1'");
    onnx_expect_refused(&again, 13, &(at_net_options){.dims = "N=1,x[1]=2"}, AT_E_INPUT,
                        "NoSuch (node \"NoSuch\" and 1 more); Nor (node \"Nor\")");
}

/* Nodes without a name are told by their places, also those of a graph in an attribute. */
static void unnamed(void **state) {
    (void)state;
    onnx_graph g = {0}, body = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4");
    onnx_constant(&g, "yes", AT_NET_BOOL, "", "1", false);
    onnx_node(&g, "Relu", "x", "a", "");
    onnx_node(&body, "?NoSuch", "a", "b", "");
    onnx_output(&body, "b");
    pb_string(&body.bytes, 2, "inner");
    onnx_node_with_graphs(&g, "?If", "yes", "c", "", "then_branch", &body, NULL, NULL);
    onnx_node(&g, "?Nor", "x", "d", "");
    onnx_output(&g, "c");
    onnx_output(&g, "d");
    onnx_expect_refused(&g, 13, NULL, AT_E_INPUT,
                        "NoSuch (node \"inner.node[0]\"); Nor (node \"graph.node[2]\")");
}

/* What is behind the values that are wanted may be anything; what they do not need is not read. */
static void until(void **state) {
    (void)state;
    for (int i = 0; i < 6; i++) {
        static const struct {
            const char *until, *says;
        } rows[] = {{"b,a", NULL},
                    {"c", "NoSuch (node \"NoSuch\")"},
                    {"x", "--until x: \"x\" is no output of a node"},
                    {"a,bb", "\"bb\" is no output of a node of the model; did you mean \"b\"?"},
                    {"a,", "\"\" is no output of a node"},
                    {"a,a", "--until a,a: \"a\" is given twice"}};
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "4");
        onnx_node(&g, "Nor", "x", "d", "");
        onnx_node(&g, "NoSuch", "b", "c", "");
        onnx_node(&g, "Relu", "x", "a", "");
        onnx_node(&g, "Neg", "a", "b", "");
        onnx_output(&g, "c");
        onnx_output(&g, "d");
        const at_net_options o = {.until = rows[i].until};
        if (rows[i].says) {
            onnx_expect_refused(&g, 13, &o, i == 1 ? AT_E_INPUT : AT_E_USAGE, rows[i].says);
            continue;
        }
        at_net *net = onnx_open_as(arena, &g, 13, &o);
        assert_int_equal(net->nodes.len, 2);
        assert_int_equal(net->outputs.len, 2);
        assert_string_equal(net->values.data[net->outputs.data[0]].name, "b");
        assert_string_equal(net->values.data[net->outputs.data[1]].name, "a");
        at_net_close(net);
    }
}

/* A name may have commas: the longest one that is there counts. */
static void until_with_commas(void **state) {
    (void)state;
    static const struct {
        const char *until, *names[2];
    } rows[] = {
        {"a,b", {"a,b"}}, {"b,a", {"b", "a"}}, {"a,b,b", {"a,b", "b"}}, {"b,a,b", {"b", "a,b"}}};
    for (size_t i = 0; i <= sizeof rows / sizeof *rows; i++) {
        const bool is_wrong = i == sizeof rows / sizeof *rows;
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "4");
        onnx_node(&g, "Relu", "x", "a", "");
        onnx_node(&g, "Neg", "a", "a,b", "");
        onnx_node(&g, "Abs", "a", "b", "");
        onnx_output(&g, "b");
        const at_net_options o = {.until = is_wrong ? "a,b,c" : rows[i].until};
        if (is_wrong) {
            onnx_expect_refused(&g, 13, &o, AT_E_USAGE, "\"c\" is no output of a node");
            continue;
        }
        at_net *net = onnx_open_as(arena, &g, 13, &o);
        assert_int_equal(net->outputs.len, rows[i].names[1] ? 2 : 1);
        for (int k = 0; k < net->outputs.len; k++)
            assert_string_equal(net->values.data[net->outputs.data[k]].name, rows[i].names[k]);
        at_net_close(net);
    }
}

static void cycle(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2");
    onnx_node(&g, "Add", "x b", "a", "");
    onnx_node(&g, "Relu", "a", "b", "");
    onnx_output(&g, "b");
    onnx_expect_refused(&g, 13, NULL, AT_E_INPUT, "cycle");
}

/* Nodes may stand in any order. */
static void unordered(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2");
    onnx_node(&g, "Relu", "a", "y", "");
    onnx_node(&g, "Add", "x x", "a", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open_as(arena, &g, 13, NULL);
    assert_string_equal(net->nodes.data[0].op, "Add");
    at_net_close(net);
}

/* ---- large files ----------------------------------------------------------------------------- */

static long most_resident_kb(void) {
    long kb = -1;
    char line[256];
    FILE *f = fopen("/proc/self/status", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) sscanf(line, "VmHWM: %ld", &kb);
    fclose(f);
    return kb;
}

/* Two gigabytes of weights in another file are mapped, and take no memory. */
static void external_weights(void **state) {
    (void)state;
    enum { LAYERS = 8, SIDE = 8192 };
    const long long layer_bytes = (long long)SIDE * SIDE * 4;
    onnx_graph g = {0};
    at_net *net;
    at_error err;
    const char *path = at_format(arena, "%s/large.onnx", folder), *x = "x";
    FILE *weights = fopen(at_format(arena, "%s/large.bin", folder), "w");
    assert_non_null(weights);
    assert_int_equal(ftruncate(fileno(weights), LAYERS * layer_bytes), 0);
    fclose(weights);
    onnx_input(&g, "x", AT_NET_FLOAT, "1,8192");
    for (int i = 0; i < LAYERS; i++) {
        const char *w = at_format(arena, "w%d", i), *y = at_format(arena, "y%d", i);
        onnx_external(&g, w, "8192,8192", "large.bin", at_format(arena, "%lld", i * layer_bytes),
                      at_format(arena, "%lld", layer_bytes));
        onnx_node(&g, "MatMul", at_format(arena, "%s %s", x, w), y, "");
        x = y;
    }
    onnx_output(&g, x);
    assert_int_equal(onnx_write(&g, 13, path, &err), AT_OK);
    if (at_net_open(path, NULL, &net, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(net->nodes.len, LAYERS);
    at_net_close(net);
    assert_true(most_resident_kb() < 100 << 10);
}

static int begin(void **state) { return make_arena(state) || make_folder(state); }
static int end(void **state) { return remove_folder(state) || free_arena(state); }

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(external_weights),
        cmocka_unit_test(convolution),
        cmocka_unit_test(sizes),
        cmocka_unit_test(refused),
        cmocka_unit_test(unnamed),
        cmocka_unit_test(until),
        cmocka_unit_test(until_with_commas),
        cmocka_unit_test(cycle),
        cmocka_unit_test(unordered),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
