/* Two sums of a part by bands of rows: the text computes what the nodes say, one by one in double,
 * whatever strides, padding and sizes are; what cannot be done by bands is one text without them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "network/program.h"
#include "tests/arena.h"
#include "tests/network/made_net.h"

/* ---- values ---------------------------------------------------------------------------------- */

/* With inputs from -1 to 1. */
static double **evaluate(const at_net *net) {
    const void **inputs = AT_NEW_ARRAY(arena, const void *, net->inputs.len);
    for (int i = 0; i < net->inputs.len; i++) {
        const int64_t n = net->values.data[net->inputs.data[i]].elements;
        float *x = AT_NEW_ARRAY(arena, float, n);
        for (int64_t e = 0; e < n; e++) x[e] = (float)(e * 37 % 129) / 64 - 1;
        inputs[i] = x;
    }
    return onnx_values(arena, net, inputs);
}

/* A value as it lies in memory. */
static double *as_it_lies(const at_net_cut *cut, int v, const double *from) {
    const at_net_value *x = &cut->net->values.data[v];
    const int *order = cut->orders[v];
    double *to = AT_NEW_ARRAY(arena, double, x->elements);
    for (int64_t e = 0; e < x->elements; e++) {
        int64_t at[AT_NET_MAX_RANK], rest = e, place = 0;
        for (int k = x->rank - 1; k >= 0; k--) at[k] = rest % x->dims[k], rest /= x->dims[k];
        for (int k = 0; k < x->rank; k++) {
            const int axis = order ? order[k] : k;
            place = place * x->dims[axis] + at[axis];
        }
        to[place] = from[e];
    }
    return to;
}

static void compare(const at_net_cut *cut, const at_net_part *part, double **values) {
    const at_template_row *row;
    at_task *task;
    at_error err;
    double *out = NULL, *expected = NULL;
    int64_t elements = 0;
    if (at_net_row_of(part, &row, &err) != AT_OK ||
        at_task_new(arena, row, NULL, &task, &err) != AT_OK)
        fail_msg("%s", err.text);
    const at_compute *c = at_task_compute(task);
    double **data = AT_NEW_ARRAY(arena, double *, c->num_tensors);
    for (int t = 0, i = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role == AT_ROLE_STAGE && !c->tensors[t].is_output) continue;
        const int v = part->params[i++].value;
        data[t] = as_it_lies(cut, v, values[v]);
        if (!c->tensors[t].is_output) continue;
        elements = cut->net->values.data[v].elements;
        expected = data[t];
        out = data[t] = AT_NEW_ARRAY(arena, double, elements);
    }
    if (at_compute_interpret_double(arena, c, NULL, data, &err) != AT_OK)
        fail_msg("%s: %s", part->title, err.text);
    for (int64_t e = 0; e < elements; e++)
        if (!(fabs(out[e] - expected[e]) <= 1e-12))
            fail_msg("%s: element %lld is %g, not %g", part->title, (long long)e, out[e],
                     expected[e]);
}

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
    onnx_numbers(&g, "w1", at_format(arena, "64,%c,%s", channels, kernel), 1, false);
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
    {"1,1,64,72", "", "group=64 pads=[1,1,1,1]", "Conv", "", false} /* no sum */};

static void windows(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof chains / sizeof *chains; i++) {
        at_net *net = open_chain(&chains[i]);
        const at_net *rewritten = at_net_rewrite(arena, net, false);
        at_net_cutting how = onnx_cutting(arena, rewritten);
        at_net_cut cut;
        at_error err;
        if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
        for (int k = 0; k < cut.num_bands; k++) how.banded[cut.bands[k].node] = true;
        if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
        const bool by_bands = strstr(cut.parts[0].text, "\nschedule\nb:para =>\n");
        assert_int_equal(by_bands, chains[i].by_bands);
        if (by_bands) compare(&cut, &cut.parts[0], evaluate(rewritten));
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
    at_net_cutting how = onnx_cutting(arena, rewritten);
    at_net_cut cut;
    at_error err;
    if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(cut.num_bands, 1);
    assert_int_equal(cut.num_parts, 3);
    how.banded[cut.bands[0].node] = true;
    if (at_net_cut_parts(arena, rewritten, &how, &cut, &err) != AT_OK) fail_msg("%s", err.text);
    assert_int_equal(cut.num_parts, 2);
    assert_memory_equal(cut.parts[0].text, text, sizeof text - 1);
    assert_string_equal(cut.parts[0].title, "conv1x1 2 to 64 at 68x66, bias, relu, sigmoid, "
                                            "depthwise3x3 64 at 34x33 stride 2, relu");
    at_net_close(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(windows), cmocka_unit_test(as_text)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
