/* Values of what is scattered: several updates of one place, none, and places that are not there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"
#include "tests/network/values.h"

/* Of several updates of one place the last one stays. */
static void scattered_places(void **state) {
    (void)state;
    enum { ELEMENTS = 12 };
    const float *x = numbers(ELEMENTS);
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "2,2,3");
    onnx_constant(&g, "places", AT_NET_INT64, "4,3", "1 0 2 0 -1 0 1 0 2 0 0 -3", true);
    onnx_constant(&g, "u", AT_NET_FLOAT, "4", "100 200 300 400", true);
    onnx_node(&g, "ScatterND", "x places u", "y", "");
    onnx_output(&g, "y");
    at_net *net = open_graph(&g, NULL);
    const double *y = compute(net, x);
    for (int i = 0; i < ELEMENTS; i++)
        expect_near(y[i], i == 8 ? 300 : i == 3 ? 200 : i == 0 ? 400 : (double)x[i]);
    at_net_close(net);
}

/* ONNX has each index within its axis: known ones that are not are refused, as Gather's are. */
static void scattered_outside(void **state) {
    (void)state;
    static const struct {
        const char *x, *op, *places, *dims, *updates, *text;
    } cases[] = {{"2,2,3", "ScatterND", "1 0 2 0 0 3 0 2 0 0 -3 1 2 0 0 -3 1 2", "6,3", "6",
                  "(ScatterND): places[1, 2] is 3; -3 to 2 are accepted"},
                 {"4,3", "ScatterND", "2 2 0 2 -5 1 3 -1 3 0 0 0", "6,2", "6",
                  "(ScatterND): places[2, 0] is -5; -4 to 3 are accepted"},
                 {"6", "ScatterElements", "1 2 3 4 5 6", "6", "6",
                  "(ScatterElements): places[5] is 6; -6 to 5 are accepted"},
                 {"6", "Gather", "6", "", NULL, "(Gather): places is 6; -6 to 5 are accepted"}};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        const char *updates = cases[k / 2].updates;
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, cases[k / 2].x);
        onnx_constant(&g, "places", AT_NET_INT64, cases[k / 2].dims, cases[k / 2].places, true);
        onnx_constant(&g, "u", AT_NET_FLOAT, "6", "100 200 300 400 500 600", true);
        onnx_node(&g, cases[k / 2].op, updates ? "x places u" : "x places", "y",
                  updates && k % 2 ? "reduction='add'" : "");
        onnx_output(&g, "y");
        expect_refused(&g, 17, AT_E_INPUT, cases[k / 2].text);
    }
}

/* Of several updates of one element the last one is there, wherever the places come from. */
static void scattered_again(void **state) {
    (void)state;
    static const struct {
        const char *op, *x, *dims, *words, *updates;
        int64_t places[8];
        double y[6];
    } cases[] = {{"ScatterND", "6", "4,1", "1 4 -5 4", "4", {1, 4, -5, 4}, {0, 3, 0, 0, 4, 0}},
                 {"ScatterND",
                  "3,2",
                  "2,2,2",
                  "0 1 2 0 -3 1 0 0",
                  "2,2",
                  {0, 1, 2, 0, -3, 1, 0, 0},
                  {4, 3, 0, 0, 2, 0}},
                 {"ScatterElements", "6", "4", "1 4 -5 4", "4", {1, 4, -5, 4}, {0, 3, 0, 0, 4, 0}},
                 {"ScatterElements",
                  "3,2",
                  "3,2",
                  "0 2 0 2 -3 1",
                  "3,2",
                  {0, 2, 0, 2, -3, 1},
                  {5, 0, 0, 6, 0, 4}},
                 {"ScatterElements", /* fewer columns than there are */
                  "3,2",
                  "4,1",
                  "2 0 -1 0",
                  "4,1",
                  {2, 0, -1, 0},
                  {4, 0, 0, 0, 3, 0}}};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        onnx_graph g = {0};
        if (k % 2)
            onnx_constant(&g, "places", AT_NET_INT64, cases[k / 2].dims, cases[k / 2].words, true);
        else onnx_input(&g, "places", AT_NET_INT64, cases[k / 2].dims);
        onnx_constant(&g, "x", AT_NET_FLOAT, cases[k / 2].x, "0 0 0 0 0 0", true);
        onnx_constant(&g, "u", AT_NET_FLOAT, cases[k / 2].updates,
                      strcmp(cases[k / 2].updates, "3,2") ? "1 2 3 4" : "1 2 3 4 5 6", true);
        if (k % 2) onnx_input(&g, "more", AT_NET_FLOAT, "1");
        onnx_node(&g, cases[k / 2].op, "x places u", "z", "");
        onnx_node(&g, "Add", k % 2 ? "z more" : "z x", "y", "");
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, NULL);
        const float none = 0;
        const double *y = compute(net, k % 2 ? (const void *)&none : cases[k / 2].places);
        for (int i = 0; i < 6; i++) expect_near(y[i], cases[k / 2].y[i]);
        at_net_close(net);
    }
}

/* Without updates all stays as it is. */
static void scattered_nothing(void **state) {
    (void)state;
    static const struct {
        const char *op, *dims, *updates;
    } cases[] = {{"ScatterND", "0,2", "0"},
                 {"ScatterND", "2,0,1", "2,0,2"},
                 {"ScatterElements", "3,0", "3,0"}};
    const float x[6] = {3, 1, 4, 1, 5, 9};
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "3,2");
        onnx_constant(&g, "places", AT_NET_INT64, cases[k / 2].dims, "", true);
        onnx_constant(&g, "u", AT_NET_FLOAT, cases[k / 2].updates, "", true);
        onnx_node(&g, cases[k / 2].op, "x places u", "y", k % 2 ? "axis=1 reduction='max'" : "");
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, NULL);
        const double *y = compute(net, x);
        for (int i = 0; i < 6; i++) expect_near(y[i], (double)x[i]);
        at_net_close(net);
    }
}

/* Indices that come with the data and lie outside are refused as well, each by the axis that it
 * counts along; -1 here is the last place. */
static void scattered_data_outside(void **state) {
    (void)state;
    static const struct {
        const char *op, *dims;
        int64_t good[6], bad[6];
        const char *text;
    } cases[] = {{"ScatterND",
                  "3,2",
                  {3, 2, -4, -3, 0, 1},
                  {3, 2, 0, 3, 0, 1},
                  "(ScatterND): places[1, 1] is 3; -3 to 2 are accepted"},
                 {"ScatterND",
                  "3,2",
                  {3, 0, 1, 1, 2, 2},
                  {3, 0, -5, 1, 2, 2},
                  "(ScatterND): places[1, 0] is -5; -4 to 3 are accepted"},
                 {"ScatterND",
                  "3,1",
                  {3, -1, 0},
                  {3, 4, 0},
                  "(ScatterND): places[1, 0] is 4; -4 to 3 are accepted"},
                 {"ScatterElements",
                  "2,3",
                  {3, -4, 0, 1, 2, 2},
                  {0, 0, 0, 1, 2, 4},
                  "(ScatterElements): places[1, 2] is 4; -4 to 3 are accepted"},
                 {"GatherND",
                  "3,2",
                  {3, 2, -4, -3, 0, 1},
                  {0, 3, 0, 0, 0, 0},
                  "(GatherND): places[0, 1] is 3; -3 to 2 are accepted"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool gathers = cases[k].op[0] == 'G';
        onnx_graph g = {0};
        onnx_input(&g, "places", AT_NET_INT64, cases[k].dims);
        onnx_numbers(&g, "x", "4,3", 1, false);
        onnx_numbers(&g, "u", k == 2 ? "3,3" : k == 3 ? "2,3" : "3", 2, false);
        onnx_node(&g, cases[k].op, gathers ? "x places" : "x places u", "y", "");
        onnx_output(&g, "y");
        at_net *net = open_graph(&g, NULL);
        at_net_reference *r;
        at_error err;
        double *out;
        compute(net, cases[k].good);
        const void *input = cases[k].bad;
        assert_int_equal(at_net_reference_new(net, NULL, &r, &err), AT_OK);
        assert_int_equal(at_net_reference_run(r, &input, arena, &out, NULL, &err), AT_E_INPUT);
        if (!strstr(err.text, cases[k].text)) fail_msg("%s", err.text);
        at_net_reference_free(r);
        at_net_close(net);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scattered_places),       cmocka_unit_test(scattered_outside),
        cmocka_unit_test(scattered_again),        cmocka_unit_test(scattered_nothing),
        cmocka_unit_test(scattered_data_outside),
    };
    return cmocka_run_group_tests_name("network/values_scattered", tests, make_arena, free_arena);
}
