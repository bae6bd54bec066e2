/* Where a graph is cut by costs: the parts together are estimated to take no more than those of the
 * cut without, and a shuffle of channels that a depthwise convolution would read through is a part
 * of its own; what is cheap to read through is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "network/program.h"
#include "tests/arena.h"
#include "tests/network/made_net.h"

static const char *const sets[] = {"avx2"};

static double cost_of(const at_net_cut *cut, const at_engine_options *o) {
    double sum = 0;
    at_error err;
    for (int i = 0; i < cut->num_parts; i++) {
        const at_template_row *row;
        at_task *task;
        if (at_net_row_of(&cut->parts[i], &row, &err) != AT_OK ||
            at_task_new(arena, row, NULL, &task, &err) != AT_OK)
            fail_msg("%s", err.text);
        sum += at_config_cost(o, task);
    }
    return sum;
}

/* Parts of the cut without costs, and by them. */
static void cut_both(onnx_graph *g, const char *isa, int *plain, int *by_cost) {
    const at_engine_options o = {.isa = isa};
    at_net *net = onnx_open(arena, g);
    const at_net *rewritten = at_net_rewrite(arena, net, at_engine_target(&o)->has_integers);
    const bool *apart = AT_NEW_ARRAY(arena, bool, rewritten->nodes.len);
    at_net_cut first, second;
    at_error err;
    if (at_net_cut_parts(arena, rewritten, apart, &first, &err) != AT_OK ||
        at_net_cut_by_cost(arena, rewritten, &o, &second, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_true(cost_of(&second, &o) <= cost_of(&first, &o));
    *plain = first.num_parts;
    *by_cost = second.num_parts;
    at_net_close(net);
}

static void shuffle_before(const char *depthwise) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        onnx_graph g = {0};
        int plain, by_cost;
        onnx_input(&g, "x", AT_NET_FLOAT, "1,16,14,14");
        onnx_numbers(&g, "w1", "272,16,1,1", 1, false);
        onnx_numbers(&g, "w2", "272,1,3,3", 2, false);
        onnx_numbers(&g, "w3", "16,272,1,1", 3, false);
        onnx_constant(&g, "apart", AT_NET_INT64, "5", "1 4 68 14 14", false);
        onnx_constant(&g, "whole", AT_NET_INT64, "4", "1 272 14 14", false);
        onnx_node(&g, "Conv", "x w1", "c", "");
        onnx_node(&g, "Reshape", "c apart", "a", "");
        onnx_node(&g, "Transpose", "a", "t", "perm=[0,2,1,3,4]");
        onnx_node(&g, "Reshape", "t whole", "s", "");
        onnx_node(&g, "Conv", "s w2", "d", depthwise);
        onnx_node(&g, "Conv", "d w3", "y", "");
        onnx_output(&g, "y");
        cut_both(&g, sets[i], &plain, &by_cost);
        assert_int_equal(plain, 3);
        assert_int_equal(by_cost, 4);
    }
}

static void shuffle(void **state) {
    (void)state;
    shuffle_before("group=272 pads=[1,1,1,1]");
    /* the shuffle moves four elements for each one that is computed */
    shuffle_before("group=272 pads=[1,1,1,1] strides=[2,2]");
}

static void slice(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        onnx_graph g = {0};
        int plain, by_cost;
        onnx_input(&g, "x", AT_NET_FLOAT, "1,64,16,16");
        onnx_numbers(&g, "w", "64,32,1,1", 1, false);
        onnx_constant(&g, "from", AT_NET_INT64, "1", "32", false);
        onnx_constant(&g, "to", AT_NET_INT64, "1", "64", false);
        onnx_constant(&g, "axis", AT_NET_INT64, "1", "1", false);
        onnx_node(&g, "Relu", "x", "r", "");
        onnx_node(&g, "Slice", "r from to axis", "s", "");
        onnx_node(&g, "Conv", "s w", "y", "");
        onnx_output(&g, "y");
        onnx_output(&g, "r");
        cut_both(&g, sets[i], &plain, &by_cost);
        assert_int_equal(by_cost, plain);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shuffle), cmocka_unit_test(slice)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
