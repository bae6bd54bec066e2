/* Values inside of others: what a Concat reads is written where its output has it, what a Split
 * makes is read where its input has it; what comes out is what the texts of the nodes say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"

static void branch(onnx_graph *g, const char *x, const char *y, int inputs, int outputs, int k,
                   int seed) {
    char dims[64], w[32], attributes[64];
    snprintf(dims, sizeof dims, "%d,%d,%d,%d", outputs, inputs, k, k);
    snprintf(w, sizeof w, "w_%s", y);
    snprintf(attributes, sizeof attributes, "pads=[%d,%d,%d,%d]", k / 2, k / 2, k / 2, k / 2);
    onnx_numbers(g, w, dims, seed, false);
    onnx_node(g, "Conv", at_format(arena, "%s %s", x, w), y, attributes);
}

/* Two branches, and a largest of windows of both; the same text for both outputs of another row. */
static void branches(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,3,14,15");
    branch(&g, "x", "s", 3, 16, 3, 1);
    branch(&g, "s", "a", 16, 24, 1, 2);
    branch(&g, "s", "b", 16, 40, 3, 3); /* by Winograd's algorithm, too */
    onnx_node(&g, "Relu", "b", "r", "");
    onnx_node(&g, "Concat", "a r", "k", "axis=1");
    onnx_node(&g, "Dropout", "k", "d", "");
    onnx_node(&g, "MaxPool", "d", "y", "kernel_shape=[2,2] strides=[2,2]");
    onnx_output(&g, "y");
    onnx_check(
        arena, &g,
        "conv3x3 3 to 16 at 14x15; conv1x1 16 to 24 at 14x15; conv3x3 16 to 40 at 14x15, relu; "
        "max pool2x2 64 at 7 stride 2");
}

/* Each Concat goes on with the one before; all lie in the last. What is read of each is part of its
 * rows. */
static void nested(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,3,9,11");
    branch(&g, "x", "k0", 3, 16, 3, 1);
    for (int i = 0; i < 3; i++) {
        const char *from = at_format(arena, "k%d", i), *y = at_format(arena, "c%d", i);
        onnx_node(&g, "Relu", from, at_format(arena, "r%d", i), "");
        branch(&g, at_format(arena, "r%d", i), y, 16 + 8 * i, 8, 3, 2 + i);
        onnx_node(&g, "Concat", at_format(arena, "%s %s", from, y), at_format(arena, "k%d", i + 1),
                  "axis=1");
    }
    onnx_node(&g, "GlobalAveragePool", "k3", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    const at_net *rewritten = at_net_rewrite(arena, net, false);
    const int *const *orders = at_net_orders(arena, rewritten, NULL);
    const at_net_box *boxes =
        at_net_boxes(arena, rewritten, orders, at_net_views(arena, rewritten, orders));
    static const struct {
        const char *name;
        int64_t offset;
    } places[] = {{"k0", 0}, {"c0", 16}, {"k1", 0}, {"c1", 24}, {"k2", 0}, {"c2", 32}};
    for (int v = 0; v < rewritten->values.len; v++)
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            if (strcmp(rewritten->values.data[v].name, places[i].name) != 0) continue;
            assert_string_equal(rewritten->values.data[boxes[v].in].name, "k3");
            assert_int_equal(boxes[v].offset, places[i].offset);
            assert_int_equal(boxes[v].row, 40);
        }
    at_net_program p = onnx_program(net, NULL);
    for (int i = 0; i < p.cut.num_parts; i++) assert_null(strstr(p.cut.parts[i].title, "concat"));
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

/* A half of a convolution's output goes on, and all of it lies in the Concat behind; what lies in
 * another value already is copied. */
static void split(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,3,13,12");
    branch(&g, "x", "s", 3, 32, 3, 1);
    onnx_node(&g, "Split", "s", "a b", "axis=1");
    branch(&g, "b", "c", 16, 16, 3, 2);
    onnx_node(&g, "Add", "c b", "d", "");
    onnx_node(&g, "Concat", "a b d", "k", "axis=1");
    branch(&g, "k", "e", 48, 16, 1, 3);
    onnx_node(&g, "Concat", "e d d", "m", "axis=1");
    onnx_node(&g, "Relu", "m", "y", "");
    onnx_output(&g, "y");
    onnx_check(arena, &g,
               "conv3x3 3 to 32 at 13x12; conv3x3 16 to 16 at 13x12, add; copy 16 at 13x12; "
               "conv1x1 48 to 16 at 13x12; copy 16 at 13x12; relu 48 at 13x12");
}

/* Rows of three axes; whole rows one behind another; inputs and outputs of the network; what is not
 * in place, since others need it elsewhere. */
static void rows(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,9,64");
    onnx_input(&g, "z", AT_NET_FLOAT, "1,30,40");
    onnx_constant(&g, "flat", AT_NET_INT64, "2", "30 80", false);
    onnx_node(&g, "Split", "x", "a b", "axis=2");
    onnx_node(&g, "Sigmoid", "a", "s", "");
    onnx_node(&g, "Tanh", "b", "t", "");
    onnx_node(&g, "Mul", "s t", "m", "");
    onnx_node(&g, "Concat", "m t s x", "y", "axis=-1"); /* an output, with a copy of an input */
    onnx_node(&g, "Exp", "z", "e", "");
    onnx_node(&g, "Abs", "z", "f", "");
    onnx_node(&g, "Concat", "e f", "k", "axis=2");
    onnx_node(&g, "Reshape", "k flat", "v", ""); /* a view */
    onnx_node(&g, "ReduceSum", "v", "w", "keepdims=1");
    onnx_node(&g, "Concat", "f e", "u", "axis=1"); /* both lie elsewhere */
    onnx_node(&g, "Split", "u", "h i j", "axis=1");
    onnx_node(&g, "Sub", "h j", "q", "");
    static const char *const outputs[] = {"y", "w", "q", "i"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) onnx_output(&g, outputs[i]);
    onnx_check(arena, &g, NULL);
}

/* Heads of a row, each of which is split: what is split is another shape of what lies in memory. */
static void split_view(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,20,96");
    onnx_constant(&g, "heads", AT_NET_INT64, "4", "1 20 2 48", false);
    onnx_constant(&g, "sizes", AT_NET_INT64, "2", "12 36", false);
    onnx_node(&g, "Relu", "x", "r", "");
    onnx_node(&g, "Reshape", "r heads", "h", "");
    onnx_node(&g, "Split", "h sizes", "a b", "axis=3");
    onnx_node(&g, "Transpose", "a", "y", "perm=[0,2,1,3]");
    onnx_node(&g, "Transpose", "b", "z", "perm=[0,2,3,1]");
    onnx_output(&g, "y");
    onnx_output(&g, "z");
    onnx_check(arena, &g, "relu 1x20x96; transpose 2 at 20x12; transpose 2 at 36x20");
}

enum { STEPS = 6 };

/* Steps that each take an entry of r, however they name its place, and read it in another shape. */
static void add_steps(onnx_graph *g) {
    static const char *const places[STEPS] = {"0", "1", "2", "-3", "4", "-1"};
    onnx_constant(g, "square", AT_NET_INT64, "2", "16 15", false);
    onnx_numbers(g, "w", "15,15", 1, false);
    onnx_input(g, "s0", AT_NET_FLOAT, "16,15");
    for (int i = 0; i < STEPS; i++) {
        const char *at = at_format(arena, "k%d", i), *entry = at_format(arena, "e%d", i);
        onnx_constant(g, at, AT_NET_INT64, i == 2 ? "1" : "", places[i], false);
        onnx_node(g, "Gather", at_format(arena, "r %s", at), entry, "axis=0");
        onnx_node(g, "Reshape", at_format(arena, "%s square", entry), at_format(arena, "v%d", i),
                  "");
        onnx_node(g, "MatMul", at_format(arena, "s%d w", i), at_format(arena, "p%d", i), "");
        onnx_node(g, "Add", at_format(arena, "p%d v%d", i, i), at_format(arena, "a%d", i), "");
        onnx_node(g, "Sigmoid", at_format(arena, "a%d", i), at_format(arena, "s%d", i + 1), "");
    }
    onnx_output(g, "s6");
}

/* They are one kernel; the value itself, which lies in no other then, may be read elsewhere. */
static void entries(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "6,2,120");
    onnx_node(&g, "Relu", "x", "r", "");
    onnx_node(&g, "Neg", "r", "n", "");
    add_steps(&g);
    onnx_node(&g, "Concat", "n r", "m", "axis=2");
    onnx_node(&g, "Exp", "m", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    int steps = 0, kernels = 0;
    for (int i = 0; i < p.cut.num_parts; i++)
        steps += !strncmp(p.cut.parts[i].title, "product 15 to 15 of 16", 22);
    for (int i = 0; i < p.num_kernels; i++)
        kernels += !strncmp(p.kernels[i].part->title, "product 15 to 15 of 16", 22);
    assert_int_equal(steps, STEPS);
    assert_int_equal(kernels, 1);
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

/* Where what the entries are of lies in longer rows, so do entries, and another shape of one is
 * copied. */
static void entries_of_rows(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "6,2,240");
    onnx_node(&g, "Relu", "x", "l", "");
    onnx_node(&g, "Split", "l", "r t", "axis=2");
    add_steps(&g);
    onnx_input(&g, "b0", AT_NET_FLOAT, "2,120");
    onnx_constant(&g, "two", AT_NET_INT64, "", "2", false);
    for (int i = 0; i < STEPS; i++) {
        const char *entry = at_format(arena, "f%d", i);
        onnx_node(&g, "Gather", i == 2 ? "t two" : at_format(arena, "t k%d", i), entry, "axis=0");
        onnx_node(&g, "Sub", at_format(arena, "%s b%d", entry, i), at_format(arena, "c%d", i), "");
        onnx_node(&g, "Tanh", at_format(arena, "c%d", i), at_format(arena, "b%d", i + 1), "");
    }
    onnx_output(&g, "b6");
    onnx_check(arena, &g, NULL);
}

/* One element behind the first 24 of a row of 64, in the last row but one. */
static void writes_beside(void *const *tensors, void *packed, void *workspace) {
    (void)packed, (void)workspace;
    ((float *)tensors[2])[18 * 64 + 24] = 1;
}

static void writes_its_own(void *const *tensors, void *packed, void *workspace) {
    (void)packed, (void)workspace;
    for (int r = 0; r < 20; r++)
        for (int i = 0; i < 24; i++) ((float *)tensors[2])[r * 64 + i] = 1;
}

/* A kernel that writes between its rows is noticed before the network runs. */
static void between_rows(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "20,16");
    onnx_numbers(&g, "w", "16,24", 1, false);
    onnx_numbers(&g, "v", "16,40", 2, false);
    onnx_node(&g, "MatMul", "x w", "a", "");
    onnx_node(&g, "MatMul", "x v", "b", "");
    onnx_node(&g, "Concat", "a b", "y", "axis=1");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_error err;
    at_net_program p = onnx_program(net, NULL);
    const at_net_kernel *k = &p.kernels[0];
    assert_string_equal(k->part->title, "product 16 to 24 of 20");
    assert_int_equal(k->forms.len, 1);
    at_net_form f = k->forms.data[0];
    assert_int_equal(f.rows[2], 64);
    assert_int_equal(at_net_check_rows(k, &f, &err), AT_OK);
    f.fast = writes_its_own;
    assert_int_equal(at_net_check_rows(k, &f, &err), AT_OK);
    f.fast = writes_beside;
    assert_int_equal(at_net_check_rows(k, &f, &err), AT_E_BUG);
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

/* How far the rows of a value are apart; 0: as long as they are. */
static int64_t row_of(const at_net_cut *cut, const char *name) {
    for (int v = 0; v < cut->net->values.len; v++)
        if (!strcmp(cut->net->values.data[v].name, name)) return cut->boxes[v].row;
    fail_msg("no value %s", name);
    return -1;
}

/* Rows of 2 KB and its multiples lie a line further apart, and those of what lies inside. Not:
 * other lengths, few rows, what is read in another shape, what the network's caller has. */
static void gaps(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t row;
    } expected[] = {{"a", 528}, {"b", 1040}, {"c", 1040}, {"k", 1040}, {"e", 0},
                    {"f", 0},   {"m", 0},    {"n", 1040}, {"y", 0}};
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,16,4,4");
    onnx_input(&g, "z", AT_NET_FLOAT, "8,16");
    onnx_constant(&g, "shape", AT_NET_INT64, "3", "4 2 1024", false);
    onnx_numbers(&g, "w", "16,1024", 5, false);
    branch(&g, "x", "a", 16, 512, 1, 1);
    branch(&g, "a", "b", 512, 512, 1, 2);
    branch(&g, "a", "c", 512, 512, 1, 3);
    onnx_node(&g, "Concat", "b c", "k", "axis=1");
    branch(&g, "k", "e", 1024, 24, 3, 4);
    onnx_node(&g, "GlobalAveragePool", "a", "f", "");
    onnx_node(&g, "MatMul", "z w", "m", "");
    onnx_node(&g, "Reshape", "m shape", "v", "");
    onnx_node(&g, "ReduceMax", "v", "r", "axes=[0] keepdims=0");
    onnx_node(&g, "Sin", "z", "s", "");
    onnx_node(&g, "MatMul", "s w", "n", "");
    onnx_node(&g, "ReduceMax", "n", "y", "axes=[1]");
    static const char *const outputs[] = {"e", "f", "r", "y"};
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) onnx_output(&g, outputs[i]);
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        if (row_of(&p.cut, expected[i].name) != expected[i].row)
            fail_msg("%s: %lld", expected[i].name, (long long)row_of(&p.cut, expected[i].name));
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(branches),
                                       cmocka_unit_test(nested),
                                       cmocka_unit_test(split),
                                       cmocka_unit_test(split_view),
                                       cmocka_unit_test(rows),
                                       cmocka_unit_test(entries),
                                       cmocka_unit_test(entries_of_rows),
                                       cmocka_unit_test(between_rows),
                                       cmocka_unit_test(gaps)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
