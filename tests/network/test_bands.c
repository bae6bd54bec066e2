/* Two sums of a part by bands of rows: the text computes what the nodes say, one by one in double,
 * whatever strides, padding and sizes are; what cannot be done by bands is one text without them.
 */
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

/* ---- graphs ---------------------------------------------------------------------------------- */

typedef struct chain {
    const char *size, *first,
        *second; /* of x; attributes of the first, and the second with its op */
    const char *second_op;
    const char *tail; /* between: of element-wise nodes, or "" */
    bool by_bands;
} chain;

static at_net *open_chain(const chain *c) {
    onnx_graph g = {0};
    const bool is_pool = strcmp(c->second_op, "Conv") != 0;
    onnx_input(&g, "x", AT_NET_FLOAT, c->size);
    const char channels = c->size[2], *kernel = strstr(c->first, "pads") ? "3,3" : "1,1";
    const int inner = (channels - '0') / (strstr(c->first, "group=2") ? 2 : 1);
    onnx_numbers(&g, "w1", at_format(arena, "64,%d,%s", inner, kernel), 1, false);
    onnx_numbers(&g, "b1", "64", 2, false);
    onnx_numbers(&g, "w2", "64,1,3,3", 3, false);
    onnx_node(&g, "Conv", "x w1 b1", "c", c->first);
    onnx_node(&g, "Relu", "c", "r", "");
    if (*c->tail) onnx_node(&g, c->tail, "r", "e", "");
    const char *from = *c->tail ? "e" : "r";
    onnx_node(&g, c->second_op, is_pool ? from : at_format(arena, "%s w2", from), "d", c->second);
    onnx_node(&g, "Relu", "d", "f", "");
    onnx_numbers(&g, "w3", "4,64,1,1", 4, false);
    onnx_node(&g, "Conv", "f w3", "y", "");
    onnx_output(&g, "y");
    return onnx_open(arena, &g);
}

static const chain chains[] = {
    {"1,2,64,72", "", "group=64 pads=[1,1,1,1]", "Conv", "", true},
    {"1,2,68,66", "", "group=64 pads=[1,1,1,1] strides=[2,2]", "Conv", "Sigmoid", true},
    {"1,2,66,66", "", "group=64", "Conv", "", true},
    {"1,2,68,68", "", "group=64 dilations=[2,2] pads=[2,2,2,2]", "Conv", "", true},
    {"1,2,134,130", "pads=[1,1,1,1] strides=[2,2]", "group=64 pads=[0,1,2,0]", "Conv", "", false},
    {"1,2,128,136", "pads=[1,1,1,1] strides=[2,2]", "group=64 pads=[0,1,2,0]", "Conv", "", true},
    {"1,2,64,64", "pads=[1,1,1,1]", "kernel_shape=[3,3] pads=[1,1,1,1] strides=[2,2]", "MaxPool",
     "", true},
    {"1,2,64,64", "", "kernel_shape=[2,2] strides=[2,2]", "AveragePool", "", true},
    {"1,2,20,20", "", "group=64 pads=[1,1,1,1]", "Conv", "", false}, /* near the core anyway */
    {"1,4,64,72", "", "group=64 pads=[1,1,1,1]", "Conv", "", true},
    {"1,4,64,72", "group=2", "group=64 pads=[1,1,1,1]", "Conv", "", false}, /* sums of groups */
    {"1,1,64,72", "", "group=64 pads=[1,1,1,1]", "Conv", "", false} /* no sum */};

static void windows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        at_net *net = open_chain(&chains[i]);
        const at_net *rewritten = at_net_rewrite(arena, net, false);
        at_net_cutting how = at_net_cutting_new(arena, rewritten);
        at_net_cut cut;
        at_error err;
        if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
        for (int k = 0; k < cut.num_joins; k++) how.links[cut.joins[k].node] = AT_NET_GOES_ON;
        if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
        const bool by_bands = strstr(cut.parts[0].text, "\nschedule\nb:para =>\n");
        assert_int_equal(by_bands, chains[i].by_bands);
        if (by_bands)
            onnx_check_part(arena, &cut, &cut.parts[0], onnx_made_values(arena, rewritten));
        at_net_close(net);
    }
}

/* So many threads share a part's bands: each has as many, where the part has such a number of bands
 * that are half as high and more. The numbers are right then, too. */
static void bands_of_threads(void **state) {
    (void)state;
    static const struct {
        const char *size;
        int alone, of_two;
    } of[] = {{"1,2,112,88", 7, 8}, {"1,2,63,72", 7, 7}};
    for (size_t i = 0; i < 2 * sizeof of / sizeof *of; i++) {
        const chain x = {of[i / 2].size, "", "group=64 pads=[1,1,1,1]", "Conv", "", true};
        at_net *net = open_chain(&x);
        const at_net *rewritten = at_net_rewrite(arena, net, false);
        at_net_cutting how = at_net_cutting_new(arena, rewritten);
        at_net_cut cut;
        at_error err;
        how.threads = 1 + i % 2;
        if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
        for (int k = 0; k < cut.num_joins; k++) how.links[cut.joins[k].node] = AT_NET_GOES_ON;
        if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
        const char *bands = strstr(cut.parts[0].text, "[b:");
        assert_non_null(bands);
        assert_int_equal(atoi(bands + 3), i % 2 ? of[i / 2].of_two : of[i / 2].alone);
        onnx_check_part(arena, &cut, &cut.parts[0], onnx_made_values(arena, rewritten));
        at_net_close(net);
    }
}

/* The rows of a band, and how they are found. */
static void as_text(void **state) {
    (void)state;
    static const char text[] = "x0[1, 2, 68, 66] : input\n"
                               "w0[64, 2, 1, 1] : weight\n"
                               "w1[64] : weight\n"
                               "w2[64, 1, 3, 3] : weight\n"
                               "t0[ka0:2, na:64] = w0[na, ka0, 0, 0]\n";
    at_net *net = open_chain(&chains[1]);
    const at_net *rewritten = at_net_rewrite(arena, net, false);
    at_net_cutting how = at_net_cutting_new(arena, rewritten);
    at_net_cut cut;
    at_error err;
    if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(cut.num_joins, 1);
    assert_int_equal(cut.num_parts, 3);
    how.links[cut.joins[0].node] = AT_NET_GOES_ON;
    if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(cut.num_parts, 2);
    assert_memory_equal(cut.parts[0].text, text, sizeof text - 1);
    assert_string_equal(cut.parts[0].title, "conv1x1 2 to 64 at 68x66, bias, relu, sigmoid, "
                                            "depthwise3x3 64 at 34x33 stride 2, relu");
    at_net_close(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows), cmocka_unit_test(bands_of_threads), cmocka_unit_test(as_text)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
