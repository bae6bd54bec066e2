/* Models that are refused, in one line each: data in other files, nodes, sizes, values that are
 * bound, and files that are cut off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"
#include "tests/network/values.h"

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
    } rows[] = {
        {"N=0", "SIZE, a number from 1"},
        {"N", "NAME=SIZE"},
        {"N=2,", "--dim N=2,: a comma too many: NAME=SIZE"},
        {",N=2", "--dim ,N=2: a comma too many: NAME=SIZE"},
        {"N=2,4", "--dim N=2,4: several sizes of one name go with apply; here \"N\" has one"},
        {"4", "--dim 4: NAME=SIZE, a number from 1 to 2^40 is accepted, several with commas"},
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(external_data), cmocka_unit_test(refused), cmocka_unit_test(cut_off),
        cmocka_unit_test(dimensions),    cmocka_unit_test(bound),
    };
    return cmocka_run_group_tests_name("network/wrong_models", tests, make_arena, free_arena);
}
