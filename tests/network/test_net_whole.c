/* Whole numbers of networks beyond those of float32: computed exactly, compared with arithmetic of
 * 64 bits here; what is beyond 2^53 on the way in is an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "network/graph.h"
#include "network/program.h"
#include "tests/arena.h"
#include "tests/network/made_net.h"

enum { N = 4, OUTPUTS = 11 };
static const int64_t given[N] = {16777217, -2147483649, 4294967299, 1000000007};
static const int64_t other[N] = {3, -7, 1000003, 2147483647};

static at_net *made(void) {
    onnx_graph g = {0};
    at_text numbers = {0};
    for (int i = 0; i < N; i++) at_text_addf(&numbers, " %lld", (long long)other[i]);
    onnx_input(&g, "x", AT_NET_INT64, "4");
    onnx_input(&g, "narrow", AT_NET_INT32, "4");
    onnx_constant(&g, "c", AT_NET_INT64, "4", at_text_str(&numbers), true);
    onnx_constant(&g, "table", AT_NET_INT64, "4", "1099511627777 2 16777219 4", true);
    onnx_constant(&g, "four", AT_NET_INT64, "", "4", true);
    onnx_constant(&g, "axes", AT_NET_INT64, "1", "0", true);
    onnx_constant(&g, "least", AT_NET_INT64, "", "-1073741824", true);
    onnx_constant(&g, "most", AT_NET_INT64, "", "1073741824", true);
    onnx_node(&g, "Add", "x c", "sum", "");
    onnx_node(&g, "Sub", "x c", "difference", "");
    onnx_node(&g, "Mul", "narrow narrow", "wrapped", "");
    onnx_node(&g, "Div", "x c", "quotient", "");
    onnx_node(&g, "Mod", "x c", "rest", "");
    onnx_node(&g, "Greater", "sum x", "larger", "");
    onnx_node(&g, "Where", "larger x c", "chosen", "");
    onnx_node(&g, "Mod", "x four", "place", "");
    onnx_node(&g, "Gather", "table place", "entry", "axis=0");
    onnx_node(&g, "Unsqueeze", "sum axes", "row", "");
    onnx_node(&g, "Concat", "row row", "twice", "axis=0");
    onnx_node(&g, "Cast", "x", "real", "to=1");
    onnx_node(&g, "Clip", "x least most", "clipped", "");
    static const char *const outputs[OUTPUTS] = {"sum",   "difference", "wrapped", "quotient",
                                                 "rest",  "larger",     "chosen",  "entry",
                                                 "twice", "real",       "clipped"};
    for (int i = 0; i < OUTPUTS; i++) onnx_output(&g, outputs[i]);
    at_text_free(&numbers);
    return onnx_open(arena, &g);
}

static at_status run(const at_net *net, const int64_t *x, const int32_t *narrow, void **outputs,
                     at_error *err) {
    at_net_program p = onnx_program(net, NULL);
    const void *inputs[] = {x, narrow};
    for (int i = 0; i < OUTPUTS; i++)
        outputs[i] = at_alloc(arena, (size_t)net->values.data[net->outputs.data[i]].elements * 8);
    const at_status s = onnx_run(&p, inputs, outputs, err);
    at_net_program_free(&p);
    return s;
}

static int64_t floor_rest(int64_t x, int64_t y) { return ((x % y) + y) % y; }

static void arithmetic(void **state) {
    (void)state;
    static const int64_t table[N] = {1099511627777, 2, 16777219, 4};
    const int32_t narrow[N] = {65537, -100003, 46341, 3};
    at_net *net = made();
    void *outputs[OUTPUTS];
    at_error err;
    if (run(net, given, narrow, outputs, &err) != AT_OK) fail_msg("%s", err.text);
    for (int i = 0; i < N; i++) {
        const int64_t x = given[i], c = other[i];
        assert_int_equal(((int64_t *)outputs[0])[i], x + c);
        assert_int_equal(((int64_t *)outputs[1])[i], x - c);
        assert_int_equal(((int32_t *)outputs[2])[i],
                         (int32_t)((uint32_t)narrow[i] * (uint32_t)narrow[i]));
        assert_int_equal(((int64_t *)outputs[3])[i], x / c);
        assert_int_equal(((int64_t *)outputs[4])[i], floor_rest(x, c));
        assert_int_equal(((unsigned char *)outputs[5])[i], x + c > x);
        assert_int_equal(((int64_t *)outputs[6])[i], x + c > x ? x : c);
        assert_int_equal(((int64_t *)outputs[7])[i], table[floor_rest(x, 4)]);
        assert_int_equal(((int64_t *)outputs[8])[i], x + c);
        assert_int_equal(((int64_t *)outputs[8])[N + i], x + c);
        const float real = (float)x;
        assert_memory_equal((float *)outputs[9] + i, &real, sizeof real);
        const int64_t most = 1 << 30, up = x < -most ? -most : x;
        assert_int_equal(((int64_t *)outputs[10])[i], up > most ? most : up);
    }
    at_net_close(net);
}

/* 2^53 is the last one whose neighbours double has. */
static void limits(void **state) {
    (void)state;
    const int64_t most[N] = {1LL << 53, -(1LL << 53), 0, 0}, beyond[N] = {0, 0, (1LL << 53) + 2, 0};
    const int32_t narrow[N] = {INT32_MAX, INT32_MIN, 0, 0};
    at_net *net = made();
    void *outputs[OUTPUTS];
    at_error err;
    if (run(net, most, narrow, outputs, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(run(net, beyond, narrow, outputs, &err), AT_E_INPUT);
    assert_string_equal(err.text, "element 2 of \"x\" is 9007199254740994; it must be from "
                                  "-9007199254740992 to 9007199254740992");
    at_net_close(net);
}

static bool is_whole(const at_net *net) {
    const at_net *rewritten = at_net_rewrite(arena, net, true);
    bool any = false;
    for (int i = 0; i < rewritten->nodes.len; i++) any |= rewritten->nodes.data[i].is_whole;
    return any;
}

/* Sums of bytes that become floats are rounded once either way; those that go on as integers are
 * exact. */
static void products_of_bytes(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        onnx_graph g = {0};
        onnx_numbers(&g, "reals", "4,600", 3, false);
        onnx_constant(&g, "scale", AT_NET_FLOAT, "", "0.0078125", true);
        onnx_constant(&g, "zero", AT_NET_INT8, "", "0", true);
        onnx_constant(&g, "one", AT_NET_INT32, "", "1", true);
        onnx_node(&g, "QuantizeLinear", "reals scale zero", "few", "");
        onnx_node(&g, "Transpose", "few", "w", "");
        onnx_input(&g, "q", AT_NET_UINT8, "3,600");
        onnx_input(&g, "z", AT_NET_UINT8, "");
        onnx_node(&g, "MatMulInteger", "q w z", "sums", "");
        onnx_node(&g, "Add", "sums one", "more", "");
        onnx_node(&g, "Cast", i == 1 ? "more" : "sums", "y", "to=1");
        onnx_output(&g, "y");
        if (i == 2) onnx_output(&g, "sums");
        at_net *net = onnx_open(arena, &g);
        assert_int_equal(is_whole(net), i > 0);
        at_net_program p = onnx_program(net, NULL);
        onnx_check_program(arena, net, &p);
        at_net_program_free(&p);
        at_net_close(net);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(arithmetic), cmocka_unit_test(limits),
                                       cmocka_unit_test(products_of_bytes)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
