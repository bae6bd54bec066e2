/* Moves of data and places in networks that are made ready to run: what reads through them, where
 * they are made, and indices that come with the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "network/program.h"
#include "tests/arena.h"
#include "tests/network/made_net.h"

/* A move that two parts read through is made in both. */
static void shared_moves(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,4,6");
    onnx_numbers(&g, "w1", "4,3", 1, false);
    onnx_numbers(&g, "w2", "4,5", 2, false);
    onnx_node(&g, "Transpose", "x", "t", "perm=[0,2,1]");
    onnx_node(&g, "MatMul", "t w1", "y1", "");
    onnx_node(&g, "MatMul", "t w2", "a", "");
    onnx_node(&g, "Relu", "a", "y2", "");
    onnx_output(&g, "y1");
    onnx_output(&g, "y2");
    onnx_check(arena, &g, "product 4 to 3 of 6; product 4 to 5 of 6, relu");
}

/* Truth values of one node are conditions of the next; a place is found among the numbers of an
 * axis. */
static void choices(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "3,8");
    onnx_constant(&g, "zero", AT_NET_FLOAT, "", "0", false);
    onnx_constant(&g, "half", AT_NET_FLOAT, "", "0.5", false);
    onnx_node(&g, "Less", "x zero", "below", "");
    onnx_node(&g, "Greater", "x half", "above", "");
    onnx_node(&g, "Or", "below above", "out", "");
    onnx_node(&g, "Where", "out zero x", "y", "");
    onnx_node(&g, "ArgMin", "x", "place", "axis=1");
    onnx_output(&g, "y");
    onnx_output(&g, "place");
    onnx_check(arena, &g, "greater 3x8; less 3x8, or, where; arg min 3x1");
}

/* Indices come with the run: they are checked, and may be negative. */
static void indices(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "ids", AT_NET_INT64, "1,6");
    onnx_numbers(&g, "table", "3,8", 1, false);
    onnx_node(&g, "Gather", "table ids", "e", "axis=0");
    onnx_node(&g, "Relu", "e", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_error err;
    at_net_program p = onnx_program(net, NULL);
    onnx_check_program(arena, net, &p);
    int64_t ids[6] = {0, -1, 2, 3, 0, 0};
    const void *inputs[] = {ids};
    float y[48];
    void *outputs[] = {y};
    assert_int_equal(onnx_run(&p, inputs, outputs, &err), AT_E_INPUT);
    assert_string_equal(err.text, "element 3 of \"ids\" is 3; it must be from -3 to 2");
    at_net_program_free(&p);
    at_net_close(net);
}

/* Each of a place's entries has limits of its own, whether it reads or is written to. */
static void places(void **state) {
    (void)state;
    for (int writes = 0; writes < 2; writes++) {
        onnx_graph g = {0};
        onnx_input(&g, "ids", AT_NET_INT64, "3,2");
        onnx_numbers(&g, "x", "3,8", 1, false);
        onnx_numbers(&g, "u", "3", 2, false);
        onnx_node(&g, writes ? "ScatterND" : "GatherND", writes ? "x ids u" : "x ids", "e", "");
        onnx_node(&g, "Relu", "e", "y", "");
        onnx_output(&g, "y");
        at_net *net = onnx_open(arena, &g);
        at_error err;
        at_net_program p = onnx_program(net, NULL);
        onnx_check_program(arena, net, &p);
        const int64_t good[6] = {2, 7, -3, -8, 1, 5}, bad[6] = {2, 7, 3, 5, 1, 5};
        const void *inputs[] = {good};
        float y[24];
        void *outputs[] = {y};
        if (onnx_run(&p, inputs, outputs, &err) != AT_OK) fail_msg("%s", err.text);
        inputs[0] = bad;
        assert_int_equal(onnx_run(&p, inputs, outputs, &err), AT_E_INPUT);
        assert_string_equal(err.text, "element 2 of \"ids\" is 3; it must be from -3 to 2");
        at_net_program_free(&p);
        at_net_close(net);
    }
}

/* Indices that the network computes itself, through a move of data: they lie in memory before the
 * part that reads by them. */
static void computed_indices(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,7,5");
    onnx_constant(&g, "shape", AT_NET_INT64, "3", "1 4 5", true);
    onnx_node(&g, "ArgMax", "x", "best", "axis=1");
    onnx_node(&g, "Expand", "best shape", "rows", "");
    onnx_node(&g, "GatherElements", "x rows", "e", "axis=1");
    onnx_node(&g, "Relu", "e", "y", "");
    onnx_output(&g, "y");
    onnx_check(arena, &g, NULL);
}

/* Heads of values that heads of queries share: no copy of them for each is made. */
static void repeated(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,6,1,40");
    onnx_input(&g, "v", AT_NET_FLOAT, "1,2,40,16");
    onnx_constant(&g, "axes", AT_NET_INT64, "1", "2", true);
    onnx_constant(&g, "each", AT_NET_INT64, "5", "1 2 3 40 16", true);
    onnx_constant(&g, "all", AT_NET_INT64, "4", "1 6 40 16", true);
    onnx_node(&g, "Unsqueeze", "v axes", "u", "");
    onnx_node(&g, "Expand", "u each", "e", "");
    onnx_node(&g, "Reshape", "e all", "r", "");
    onnx_node(&g, "MatMul", "x r", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    assert_int_equal(p.cut.num_parts, 1);
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

/* Known places where a ScatterND writes: slices, with steps and from the end, and rows anywhere. */
static void scattered(void **state) {
    (void)state;
    static const struct {
        const char *x, *places, *dims, *updates;
    } cases[] = {{"7,9", "2 3 4", "3,1", "3,9"},
                 {"7,9", "1 -8 1 -5 1 -2 4 -8 4 -5 4 -2", "2,3,2", "2,3"},
                 {"7,9", "6", "1,1", "1,9"},
                 {"7,9", "5 0 3", "3,1", "3,9"},
                 {"5,6,7", "1 2 3 0 5 6 4 -1 0 1 2 2 3 3 3 0 0 1", "6,3", "6"},
                 {"5,6,7,2", "1 2 3 0 5 6 4 -1 0 1 2 2 3 3 3 0 0 1", "2,3,3", "2,3,2"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, cases[i].x);
        onnx_input(&g, "u", AT_NET_FLOAT, cases[i].updates);
        onnx_constant(&g, "places", AT_NET_INT64, cases[i].dims, cases[i].places, true);
        onnx_node(&g, "ScatterND", "x places u", "y", "");
        onnx_output(&g, "y");
        at_net *net = onnx_open(arena, &g);
        at_net_program p = onnx_program(net, NULL);
        assert_int_equal(p.cut.parts[0].num_nodes, 1);
        if (strstr(p.cut.parts[0].text, "sum(")) fail_msg("%zu: %s", i, p.cut.parts[0].text);
        onnx_check_program(arena, net, &p);
        at_net_program_free(&p);
        at_net_close(net);
    }
}

/* Places in several axes that come with the run, or that add up. */
static void scattered_late(void **state) {
    (void)state;
    static const struct {
        const char *x, *dims, *places, *how; /* places: NULL: they come with the run */
    } cases[] = {{"5,6,7", "4,3", NULL, "reduction='add'"},
                 {"5,6,7", "4,3", "1 2 3 4 -1 0 1 2 3 0 0 6", "reduction='add'"},
                 {"5,6,7", "4,3", NULL, ""},
                 {"5,6", "4,2", NULL, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, cases[i].x);
        onnx_input(&g, "u", AT_NET_FLOAT, "4");
        if (cases[i].places)
            onnx_constant(&g, "places", AT_NET_INT64, cases[i].dims, cases[i].places, true);
        else onnx_input(&g, "places", AT_NET_INT64, cases[i].dims);
        onnx_node(&g, "ScatterND", "x places u", "y", cases[i].how);
        onnx_output(&g, "y");
        onnx_check(arena, &g, at_format(arena, "scatter nd %s", i < 3 ? "5x6x7" : "5x6"));
    }
}

/* More moves behind each other than a part reads through. */
static void long_moves(void **state) {
    enum { MOVES = 150 };
    (void)state;
    onnx_graph g = {0};
    const char *from = "x";
    onnx_input(&g, "x", AT_NET_FLOAT, "1,2,5,6");
    onnx_constant(&g, "pads", AT_NET_INT64, "8", "0 0 1 1 0 0 0 0", false);
    onnx_constant(&g, "first", AT_NET_INT64, "2", "1 1", false);
    onnx_constant(&g, "end", AT_NET_INT64, "2", "99 99", false);
    onnx_constant(&g, "axes", AT_NET_INT64, "2", "2 3", false);
    for (int i = 0; i < MOVES; i++) {
        const char *to = at_format(arena, "m%d", i);
        if (i % 3 == 0)
            onnx_node(&g, "Pad", at_format(arena, "%s pads", from), to, "mode='reflect'");
        else if (i % 3 == 1) onnx_node(&g, "Transpose", from, to, "perm=[0,1,3,2]");
        else onnx_node(&g, "Slice", at_format(arena, "%s first end axes", from), to, "");
        from = to;
    }
    onnx_numbers(&g, "w", "3,2,3,3", 1, false);
    onnx_node(&g, "Conv", at_format(arena, "%s w", from), "y", "");
    onnx_output(&g, "y");
    onnx_check(arena, &g, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_moves),     cmocka_unit_test(choices),
        cmocka_unit_test(indices),          cmocka_unit_test(places),
        cmocka_unit_test(computed_indices), cmocka_unit_test(repeated),
        cmocka_unit_test(scattered),        cmocka_unit_test(scattered_late),
        cmocka_unit_test(long_moves),
    };
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
