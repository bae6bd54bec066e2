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

#include "engine/search/machine_speeds.h"
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

typedef struct cut_facts {
    int parts, moves_in_sums; /* moves of data that parts with a sum make where they read */
} cut_facts;

static cut_facts facts_of(const at_net_cut *cut) {
    cut_facts f = {.parts = cut->num_parts};
    for (int i = 0; i < cut->num_parts; i++) {
        int moves = 0, sums = 0;
        for (int k = 0; k < cut->parts[i].num_nodes; k++) {
            const int kind = cut->net->nodes.data[cut->parts[i].nodes[k]].kind;
            moves += kind == AT_NET_MOVE;
            sums += kind == AT_NET_SUM;
        }
        f.moves_in_sums += sums ? moves : 0;
    }
    return f;
}

/* Facts of the cut without costs, and of the cut by costs. */
static void cut_both(onnx_graph *g, const char *isa, cut_facts *plain, cut_facts *by_cost) {
    const at_engine_options o = {.isa = isa};
    at_net *net = onnx_open(arena, g);
    const at_net *rewritten = at_net_rewrite(arena, net, at_engine_target(&o)->has_integers);
    const at_net_cutting how = at_net_cutting_new(arena, rewritten);
    at_net_cut first, second;
    at_net_logged none = {0};
    at_net_tries tries = {0};
    at_error err;
    if (at_net_cut_parts(arena, rewritten, &how, &first, &err) != AT_OK ||
        at_net_cut_by_cost(arena, rewritten, &(at_net_build){.engine = o}, &none, &second, &tries,
                           &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_true(cost_of(&second, &o) <= cost_of(&first, &o));
    *plain = facts_of(&first);
    *by_cost = facts_of(&second);
    at_net_close(net);
}

/* parts: of the cut by costs; 0: any number. */
static void shuffle_before(const char *depthwise, int parts) {
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        onnx_graph g = {0};
        cut_facts plain, by_cost;
        onnx_input(&g, "x", AT_NET_FLOAT, "1,16,14,14");
        onnx_numbers(&g, "w1", "272,16,1,1", 1, false);
        onnx_numbers(&g, "w2", "272,1,3,3", 2, false);
        onnx_numbers(&g, "w3", "16,34,1,1", 3, false);
        onnx_constant(&g, "apart", AT_NET_INT64, "5", "1 4 68 14 14", false);
        onnx_constant(&g, "whole", AT_NET_INT64, "4", "1 272 14 14", false);
        onnx_node(&g, "Conv", "x w1", "c", "");
        onnx_node(&g, "Reshape", "c apart", "a", "");
        onnx_node(&g, "Transpose", "a", "t", "perm=[0,2,1,3,4]");
        onnx_node(&g, "Reshape", "t whole", "s", "");
        onnx_node(&g, "Conv", "s w2", "d", depthwise);
        onnx_node(&g, "Conv", "d w3", "y", "group=8"); /* each of 34, which four do not divide */
        onnx_output(&g, "y");
        cut_both(&g, sets[i], &plain, &by_cost);
        assert_int_equal(plain.parts, 5); /* three, and one at each edge */
        assert_int_not_equal(plain.moves_in_sums, 0);
        assert_int_equal(by_cost.moves_in_sums, 0);
        if (parts) assert_int_equal(by_cost.parts, parts);
    }
}

static void shuffle(void **state) {
    (void)state;
    shuffle_before("group=272 pads=[1,1,1,1]", 0);
    /* The shuffle moves four elements for each one that is computed. Channels first from there on
     * would take less, too, but more than a copy and channels last. */
    shuffle_before("group=272 pads=[1,1,1,1] strides=[2,2]", 6);
}

/* A depthwise convolution by itself has its channels first, and lanes along rows, into which its
 * padding does not cut: the same with its picture padded ahead is not to be estimated much faster.
 */
static void depthwise_alone(void **state) {
    (void)state;
    const char *const sizes[][3] = {{"1,48,28,28", "1,48,34,34", "48,1,7,7"},
                                    {"1,256,7,7", "1,256,9,9", "256,1,3,3"}};
    for (size_t i = 0; i < 2 * sizeof sets / sizeof *sets; i++) {
        const at_engine_options o = {.isa = sets[i / 2]};
        const char *const *size = sizes[i % 2];
        double s[2];
        for (int ahead = 0; ahead < 2; ahead++) {
            onnx_graph g = {0};
            at_net_cut cut;
            at_error err;
            const int pad = ahead ? 0 : size[2][strlen(size[2]) - 1] / 2 - '0' / 2;
            const char *group = i % 2 ? "256" : "48";
            onnx_input(&g, "x", AT_NET_FLOAT, size[ahead]);
            onnx_numbers(&g, "w", size[2], 1, false);
            onnx_node(&g, "Conv", "x w", "y",
                      at_format(arena, "group=%s pads=[%d,%d,%d,%d]", group, pad, pad, pad, pad));
            onnx_output(&g, "y");
            at_net *net = onnx_open(arena, &g);
            const at_net *rewritten =
                at_net_rewrite(arena, net, at_engine_target(&o)->has_integers);
            const at_net_cutting how = at_net_cutting_new(arena, rewritten);
            if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK)
                fail_msg("%s", err.text);
            s[ahead] = cost_of(&cut, &o);
            at_net_close(net);
        }
        assert_true(s[0] < 3 * s[1]);
    }
}

static void slice(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        onnx_graph g = {0};
        cut_facts plain, by_cost;
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
        assert_int_equal(by_cost.parts, plain.parts);
    }
}

/* A weight that two nodes read is one, and what nobody reads, or for its size alone, is none. */
static void bytes_of_weights(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,8,4,4");
    onnx_numbers(&g, "w", "8,8,1,1", 1, false);
    onnx_numbers(&g, "b", "8", 2, false);
    onnx_numbers(&g, "unread", "99", 3, false);
    onnx_constant(&g, "shape", AT_NET_INT64, "2", "8 16", false);
    onnx_node(&g, "Conv", "x w b", "c", "");
    onnx_node(&g, "Conv", "c w", "d", "");
    onnx_node(&g, "Reshape", "d shape", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    assert_int_equal(at_net_weights_bytes(net), (64 + 8) * 4);
    at_net_close(net);
}

/* A part goes on behind a value that leaves where the join is asked for, to where no more values
 * leave; what it stores and reads again is marked. Behind a convolution it does not. */
static void joined(void **state) {
    (void)state;
    static const char text[] = "x0[4, 6] : input\n"
                               "x1[4, 6] : input\n"
                               "y0[a0:4, a1:6] : output = max(x0[a0, a1] + x1[a0, a1], 0)\n"
                               "y1[a0:4, a1:6] = y0[a0, a1]*x1[a0, a1] - x0[a0, a1]\n";
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4,6");
    onnx_input(&g, "y", AT_NET_FLOAT, "4,6");
    onnx_input(&g, "p", AT_NET_FLOAT, "1,3,5,5");
    onnx_numbers(&g, "w", "8,3,1,1", 1, false);
    onnx_node(&g, "Add", "x y", "s", "");
    onnx_node(&g, "Relu", "s", "r", "");
    onnx_node(&g, "Mul", "r y", "m", "");
    onnx_node(&g, "Sub", "m x", "d", "");
    onnx_node(&g, "Conv", "p w", "c", "");
    onnx_node(&g, "Relu", "c", "a", "");
    static const char *const outputs[] = {"r", "d", "c", "a"};
    for (int i = 0; i < 4; i++) onnx_output(&g, outputs[i]);
    at_net *net = onnx_open(arena, &g);
    const at_net *rewritten = at_net_rewrite(arena, net, false);
    at_net_cutting how = at_net_cutting_new(arena, rewritten);
    at_net_cut cut;
    at_error err;
    if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(cut.num_parts, 5);
    assert_int_equal(cut.num_joins, 1);
    how.links[cut.joins[0].node] = AT_NET_GOES_ON;
    if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(cut.num_parts, 4);
    assert_string_equal(cut.parts[0].text, text);
    assert_string_equal(cut.parts[0].title, "add 4x6, relu, mul, sub");
    assert_int_equal(cut.parts[0].num_params, 4);
    at_net_close(net);
}

/* What the user has measured here is none of these tests' business. */
static void no_table(void **state) {
    (void)state;
    at_speed_table table;
    assert_false(at_speeds_kept(&table));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_table), cmocka_unit_test(shuffle), cmocka_unit_test(depthwise_alone),
        cmocka_unit_test(slice),    cmocka_unit_test(joined),  cmocka_unit_test(bytes_of_weights)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
