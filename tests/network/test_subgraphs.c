/* Graphs in attributes and sequences: loops and scans whose steps are known beside plain loops of
 * the test's own, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"

enum { N = 3 };
static const float X[N] = {0.5f, -1.25f, 3};

static at_net *open_graph(onnx_graph *g) { return onnx_open_as(arena, g, 17, NULL); }

static void expect_refused(onnx_graph *g, int version, const char *text) {
    onnx_expect_refused(g, version, NULL, AT_E_INPUT, text);
}

/* v = v*x + k, of which each value is collected; the body goes on below k of `last`. */
static onnx_graph counting(const char *last) {
    onnx_graph body = {0};
    onnx_input(&body, "k", AT_NET_INT64, "");
    onnx_input(&body, "c", AT_NET_BOOL, "");
    onnx_input(&body, "v", AT_NET_FLOAT, "3");
    onnx_constant(&body, "last", AT_NET_INT64, "", last, false);
    onnx_node(&body, "Less", "k last", "again", "");
    onnx_node(&body, "Cast", "k", "kf", "to=1");
    onnx_node(&body, "Mul", "v x", "vx", "");
    onnx_node(&body, "Add", "vx kf", "next", "");
    onnx_node(&body, "Neg", "next", "seen", "");
    onnx_output(&body, "again");
    onnx_output(&body, "next");
    onnx_output(&body, "seen");
    return body;
}

/* A loop that the number of steps ends, one that the condition does, one that makes no step. */
static void loop(void **state) {
    (void)state;
    static const struct {
        const char *inputs, *last;
        int steps;
    } rows[] = {{"four yes x", "9", 4}, {"four - x", "1", 2}, {"- yes x", "0", 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        onnx_graph g = {0}, body = counting(rows[i].last);
        onnx_input(&g, "x", AT_NET_FLOAT, "3");
        onnx_constant(&g, "four", AT_NET_INT64, "", "4", false);
        onnx_constant(&g, "yes", AT_NET_BOOL, "", "1", false);
        onnx_node_with_graphs(&g, "Loop", rows[i].inputs, "end all", "", "body", &body, NULL, NULL);
        onnx_output(&g, "end");
        onnx_output(&g, "all");
        at_net *net = open_graph(&g);
        onnx_expect_shape(net, 1, at_format(arena, "float32[%d, 3]", rows[i].steps));
        const void *inputs[] = {X};
        double **out = onnx_outputs_of(arena, net, inputs);
        for (int j = 0; j < N; j++) {
            double v = X[j];
            for (int k = 0; k < rows[i].steps; k++) {
                v = v * X[j] + k;
                assert_true(fabs(out[1][k * N + j] + v) < 1e-12);
            }
            assert_true(fabs(out[0][j] - v) < 1e-12);
        }
        at_net_program p = onnx_program(net, NULL);
        onnx_check_program(arena, net, &p);
        at_net_program_free(&p);
        at_net_close(net);
    }
}

static void no_step(void **state) {
    (void)state;
    onnx_graph g = {0}, body = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "3");
    onnx_input(&body, "k", AT_NET_INT64, "");
    onnx_input(&body, "c", AT_NET_BOOL, "");
    onnx_input(&body, "v", AT_NET_FLOAT, "3");
    onnx_node(&body, "Neg", "v", "w", "");
    onnx_node(&body, "Identity", "c", "d", "");
    onnx_output(&body, "d");
    onnx_output(&body, "w");
    onnx_constant(&g, "none", AT_NET_INT64, "", "0", false);
    onnx_node(&g, "Abs", "x", "a", "");
    onnx_node_with_graphs(&g, "Loop", "none - a", "y", "", "body", &body, NULL, NULL);
    onnx_output(&g, "y");
    at_net *net = open_graph(&g);
    assert_int_equal(net->nodes.len, 1);
    const double *y = onnx_output_of(arena, net, X);
    for (int j = 0; j < N; j++) assert_true(y[j] == fabs((double)X[j]));
    at_net_close(net);
}

/* Backwards along the second axis; what is collected stands along the last axis, first step last.
 */
static void scan(void **state) {
    (void)state;
    enum { T = 5 };
    float x[2 * T], sum[2] = {0};
    onnx_graph g = {0}, body = {0};
    for (int i = 0; i < 2 * T; i++) x[i] = (float)((i * 7) % 11) / 4;
    onnx_input(&g, "x", AT_NET_FLOAT, "2,5");
    onnx_constant(&g, "zero", AT_NET_FLOAT, "2", "0 0", true);
    onnx_input(&body, "s", AT_NET_FLOAT, "2");
    onnx_input(&body, "e", AT_NET_FLOAT, "2");
    onnx_node(&body, "Add", "s e", "t", "");
    onnx_node(&body, "Identity", "t", "u", "");
    onnx_output(&body, "t");
    onnx_output(&body, "u");
    onnx_node_with_graphs(&g, "Scan", "zero x", "- y",
                          "num_scan_inputs=1 scan_input_axes=[-1] scan_input_directions=[1] "
                          "scan_output_axes=[-1] scan_output_directions=[1]",
                          "body", &body, NULL, NULL);
    onnx_output(&g, "y");
    at_net *net = open_graph(&g);
    onnx_expect_shape(net, 0, "float32[2, 5]");
    const double *y = onnx_output_of(arena, net, x);
    for (int t = T - 1; t >= 0; t--)
        for (int i = 0; i < 2; i++) {
            sum[i] += x[i * T + t];
            assert_true(y[i * T + t] == (double)sum[i]);
        }
    at_net_close(net);
}

/* Of version 8: each row by itself, the second input from its end, a sum carried on. */
static void scan_of_rows(void **state) {
    (void)state;
    enum { ROWS = 3, T = 4 };
    float x[ROWS * T], e[ROWS * T], first[ROWS] = {1, -2, 0.5f};
    onnx_graph g = {0}, body = {0};
    for (int i = 0; i < ROWS * T; i++) x[i] = (float)((i * 7) % 11), e[i] = (float)((i * 5) % 13);
    onnx_input(&g, "first", AT_NET_FLOAT, "3,1");
    onnx_input(&g, "x", AT_NET_FLOAT, "3,4,1");
    onnx_input(&g, "e", AT_NET_FLOAT, "3,4,1");
    onnx_input(&body, "s", AT_NET_FLOAT, "1");
    onnx_input(&body, "u", AT_NET_FLOAT, "1");
    onnx_input(&body, "v", AT_NET_FLOAT, "1");
    onnx_node(&body, "Mul", "u v", "p", "");
    onnx_node(&body, "Add", "s p", "t", "");
    onnx_node(&body, "Sub", "t u", "w", "");
    onnx_output(&body, "t");
    onnx_output(&body, "w");
    onnx_node_with_graphs(&g, "Scan", "- first x e", "last all",
                          "num_scan_inputs=2 directions=[0,1]", "body", &body, NULL, NULL);
    onnx_output(&g, "last");
    onnx_output(&g, "all");
    at_net *net = onnx_open_as(arena, &g, 8, NULL);
    const void *inputs[] = {first, x, e};
    double **y = onnx_outputs_of(arena, net, inputs);
    onnx_expect_shape(net, 0, "float32[3, 1]");
    onnx_expect_shape(net, 1, "float32[3, 4, 1]");
    for (int r = 0; r < ROWS; r++) {
        double sum = first[r];
        for (int t = 0; t < T; t++) {
            sum += (double)x[r * T + t] * e[r * T + T - 1 - t];
            assert_true(y[1][r * T + t] == sum - x[r * T + t]);
        }
        assert_true(y[0][r] == sum);
    }
    at_net_close(net);
}

/* More pieces than one node may join, in another order, of several sizes. */
static void sequence(void **state) {
    (void)state;
    enum { SIZE = 301 };
    float x[SIZE];
    for (int i = 0; i < SIZE; i++) x[i] = (float)i;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "301");
    onnx_constant(&g, "two", AT_NET_INT64, "", "2", false);
    onnx_constant(&g, "last", AT_NET_INT64, "", "-1", false);
    onnx_constant(&g, "first", AT_NET_INT64, "", "0", false);
    onnx_node(&g, "SplitToSequence", "x two", "s", "");
    onnx_node(&g, "SequenceAt", "s last", "e", "");
    onnx_node(&g, "SequenceErase", "s", "shorter", "");
    onnx_node(&g, "SequenceInsert", "shorter e first", "turned", "");
    onnx_node(&g, "SequenceLength", "turned", "n", "");
    onnx_node(&g, "ConcatFromSequence", "turned", "y", "axis=0");
    onnx_output(&g, "y");
    onnx_output(&g, "n");
    at_net *net = open_graph(&g);
    const at_net_value *n = &net->values.data[net->outputs.data[1]];
    assert_int_equal(at_net_element_int(n->type, n->data, 0), 151);
    const double *y = onnx_output_of(arena, net, x);
    for (int i = 0; i < SIZE; i++) assert_true(y[i] == (i + SIZE - 1) % SIZE);
    at_net_close(net);
}

/* Places from the end count the values that there are before. */
static void inserted(void **state) {
    (void)state;
    static const struct {
        const char *at;
        double first[3]; /* element of each value */
    } rows[] = {
        {"-2", {3, 1, 2}}, {"-1", {1, 3, 2}}, {"0", {3, 1, 2}}, {"1", {1, 3, 2}}, {"2", {1, 2, 3}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1");
        onnx_constant(&g, "two", AT_NET_FLOAT, "1", "2", false);
        onnx_constant(&g, "three", AT_NET_FLOAT, "1", "3", false);
        onnx_constant(&g, "at", AT_NET_INT64, "", rows[i].at, false);
        onnx_node(&g, "SequenceConstruct", "x two", "s", "");
        onnx_node(&g, "SequenceInsert", "s three at", "t", "");
        onnx_node(&g, "ConcatFromSequence", "t", "y", "axis=0");
        onnx_output(&g, "y");
        at_net *net = open_graph(&g);
        const float one[] = {1};
        const double *y = onnx_output_of(arena, net, one);
        assert_memory_equal(y, rows[i].first, sizeof rows[i].first);
        at_net_close(net);
    }
}

/* One value that is an input and two outputs, or a constant, has each output's name. */
static void names_of_one_value(void **state) {
    (void)state;
    static const char *const names[] = {"a", "b", "x", "c"};
    const float x[] = {0.5f, -1.25f, 3};
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "3");
    onnx_node(&g, "Optional", "x", "a", "");
    onnx_node(&g, "Optional", "x", "b", "");
    onnx_node(&g, "Neg", "x", "m", "");
    onnx_node(&g, "Optional", "m", "c", "");
    for (int i = 0; i < 4; i++) onnx_output(&g, names[i]);
    onnx_output(&g, "m");
    at_net *net = open_graph(&g);
    const void *inputs[] = {x};
    double **out = onnx_outputs_of(arena, net, inputs);
    assert_string_equal(net->values.data[net->inputs.data[0]].name, "x");
    for (int i = 0; i < 5; i++) {
        const char *name = i < 4 ? names[i] : "m";
        assert_string_equal(net->values.data[net->outputs.data[i]].name, name);
        for (int j = 0; j < N; j++) assert_true(out[i][j] == (i < 3 ? x[j] : -x[j]));
    }
    at_net_program p = onnx_program(net, NULL);
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

/* A body's value that is called like a later value of the graph around it is the body's own. */
static void own_names(void **state) {
    (void)state;
    onnx_graph g = {0}, body = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "3");
    onnx_constant(&g, "two", AT_NET_INT64, "", "2", false);
    onnx_input(&body, "k", AT_NET_INT64, "");
    onnx_input(&body, "c", AT_NET_BOOL, "");
    onnx_input(&body, "v", AT_NET_FLOAT, "3");
    onnx_node(&body, "Add", "v x", "y", "");
    onnx_node(&body, "Neg", "y", "w", "");
    onnx_output(&body, "c");
    onnx_output(&body, "w");
    onnx_node_with_graphs(&g, "Loop", "two - x", "end", "", "body", &body, NULL, NULL);
    onnx_node(&g, "Abs", "end", "y", "");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g);
    const double *y = onnx_output_of(arena, net, X);
    for (int j = 0; j < N; j++) assert_true(y[j] == fabs((double)X[j])); /* -(-(x + x) + x) */
    at_net_close(net);
}

static void refused(void **state) {
    (void)state;
    onnx_graph g[5] = {0}, body = counting("1"), endless = counting("99999999"), of_data = {0},
               of_lists = {0};
    for (int i = 0; i < 5; i++) {
        onnx_input(&g[i], "x", AT_NET_FLOAT, "3");
        onnx_input(&g[i], "n", AT_NET_INT64, "");
    }
    onnx_node_with_graphs(&g[0], "Loop", "n - x", "y z", "", "body", &body, NULL, NULL);
    onnx_output(&g[0], "y");
    expect_refused(&g[0], 17, "Loop: its number of steps \"n\" depends on data");
    onnx_node_with_graphs(&g[1], "Loop", "- - x", "y z", "", "body", &endless, NULL, NULL);
    onnx_output(&g[1], "y");
    expect_refused(&g[1], 17, "Loop: more than 65536 nodes in all steps");
    onnx_input(&of_data, "k", AT_NET_INT64, "");
    onnx_input(&of_data, "c", AT_NET_BOOL, "");
    onnx_node(&of_data, "Less", "k n", "d", "");
    onnx_node(&of_data, "Identity", "x", "w", "");
    onnx_output(&of_data, "d");
    onnx_output(&of_data, "w");
    onnx_node_with_graphs(&g[2], "Loop", "- -", "y", "", "body", &of_data, NULL, NULL);
    onnx_output(&g[2], "y");
    expect_refused(&g[2], 17, "Loop: the condition that its body computes depends on data");
    onnx_node(&g[3], "SequenceConstruct", "x x", "y", "");
    onnx_output(&g[3], "y");
    expect_refused(&g[3], 17, "the output \"y\" is a sequence");
    onnx_input(&of_lists, "v", AT_NET_FLOAT, "");
    onnx_node(&of_lists, "SequenceConstruct", "v", "w", "");
    onnx_output(&of_lists, "w");
    onnx_node_with_graphs(&g[4], "Scan", "x", "y", "num_scan_inputs=1", "body", &of_lists, NULL,
                          NULL);
    onnx_output(&g[4], "y");
    expect_refused(&g[4], 17, "(Scan): its body collects a sequence");
}

/* A place that is not there, one that comes with the run, a sequence where a tensor is read. */
static void refused_sequences(void **state) {
    (void)state;
    static const struct {
        const char *op, *inputs, *says;
    } rows[] = {{"SequenceAt", "s three", "position 3; -2 to 1 are accepted"},
                {"SequenceAt", "s n", "SequenceAt: its position depends on data"},
                {"SequenceAt", "x three", "its first input is no sequence"},
                {"SequenceInsert", "s x minus", "position -3; -2 to 2 are accepted"},
                {"SequenceInsert", "s s", "(SequenceInsert): an input is no tensor"},
                {"SplitToSequence", "x pieces", "sizes of pieces are not those of the tensor"},
                {"SplitToSequence", "long", "more than 65536 pieces"},
                {"Relu", "s", "\"s\" is a sequence, not a tensor"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "3");
        onnx_input(&g, "n", AT_NET_INT64, "");
        onnx_input(&g, "long", AT_NET_FLOAT, "70000");
        onnx_constant(&g, "three", AT_NET_INT64, "", "3", false);
        onnx_constant(&g, "minus", AT_NET_INT64, "", "-3", false);
        onnx_constant(&g, "pieces", AT_NET_INT64, "2", "-1 4", false);
        onnx_node(&g, "SequenceConstruct", "x x", "s", "");
        onnx_node(&g, rows[i].op, rows[i].inputs, "y", "");
        onnx_output(&g, "y");
        expect_refused(&g, 17, rows[i].says);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(loop),
                                       cmocka_unit_test(no_step),
                                       cmocka_unit_test(scan),
                                       cmocka_unit_test(scan_of_rows),
                                       cmocka_unit_test(sequence),
                                       cmocka_unit_test(inserted),
                                       cmocka_unit_test(names_of_one_value),
                                       cmocka_unit_test(own_names),
                                       cmocka_unit_test(refused),
                                       cmocka_unit_test(refused_sequences)};
    return cmocka_run_group_tests_name("network/subgraphs", tests, make_arena, free_arena);
}
