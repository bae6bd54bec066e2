/* Channels that are shuffled between convolutions: who sums them up reads them where they were,
 * and what comes out is what the texts of the nodes say. Other shuffles stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"

typedef struct made {
    onnx_graph g;
    const char *at; /* the last value */
    int seed;
} made;

static const char *named(made *m, const char *letter) {
    return at_format(arena, "%s%d", letter, ++m->seed);
}

static void node(made *m, const char *op, const char *others, const char *attributes) {
    const char *y = named(m, "v");
    onnx_node(&m->g, op, at_format(arena, "%s%s", m->at, others), y, attributes);
    m->at = y;
}

static void convolve(made *m, const char *weight, const char *attributes) {
    const char *w = named(m, "w");
    onnx_numbers(&m->g, w, weight, m->seed, false);
    node(m, "Conv", at_format(arena, " %s", w), attributes);
}

static void normalize(made *m, const char *channels) {
    const char *inputs = "";
    for (int i = 0; i < 4; i++) {
        const char *w = named(m, "n");
        onnx_numbers(&m->g, w, channels, m->seed, i == 3);
        inputs = at_format(arena, "%s %s", inputs, w);
    }
    node(m, "BatchNormalization", inputs, "");
}

static void reshape(made *m, const char *n, const char *sizes) {
    const char *s = named(m, "s");
    onnx_constant(&m->g, s, AT_NET_INT64, n, sizes, false);
    node(m, "Reshape", at_format(arena, " %s", s), "");
}

/* Of 24 channels, 7x6 pixels of two pictures; groups: "3 8". */
static void shuffle(made *m, const char *groups) {
    reshape(m, "5", at_format(arena, "2 %s 7 6", groups));
    node(m, "Transpose", "", "perm=[0,2,1,3,4]");
    reshape(m, "4", "2 24 7 6");
}

static made begin(void) {
    made m = {.at = "x"};
    onnx_input(&m.g, "x", AT_NET_FLOAT, "2,12,7,6");
    convolve(&m, "24,4,1,1", "group=3");
    node(&m, "Relu", "", "");
    return m;
}

/* transposes: how many of them are left. */
static void end(made *m, int transposes) {
    onnx_output(&m->g, m->at);
    at_net *net = onnx_open(arena, &m->g);
    const at_net *rewritten = at_net_rewrite(arena, net, false);
    int found = 0;
    for (int i = 0; i < rewritten->nodes.len; i++)
        found += !strcmp(rewritten->nodes.data[i].op, "Transpose");
    assert_int_equal(found, transposes);
    at_net_program p = onnx_program(net, NULL);
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

/* As ShuffleNet has it: past a depthwise convolution of other sizes, its factors and shifts, and
 * an activation. */
static void past_depthwise(void **state) {
    (void)state;
    made m = begin();
    shuffle(&m, "3 8");
    convolve(&m, "24,1,3,3", "group=24 strides=[2,2] pads=[1,1,1,1]");
    normalize(&m, "24");
    node(&m, "Relu", "", "");
    convolve(&m, "16,12,1,1", "group=2");
    normalize(&m, "16");
    end(&m, 0);
}

/* Groups that are no groups of the sum: one, windows of each, and one output of each. */
static void other_sums(void **state) {
    (void)state;
    static const struct {
        const char *groups, *weight, *attributes;
    } cases[] = {
        {"3 8", "10,24,1,1", ""},
        {"4 6", "8,12,3,3", "group=2 pads=[1,1,1,1]"},
        {"2 12", "6,4,1,1", "group=6"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        made m = begin();
        shuffle(&m, cases[i].groups);
        convolve(&m, cases[i].weight, cases[i].attributes);
        end(&m, 0);
    }
}

/* Four groups of six do not divide by four, a second reader wants the new order, and another
 * Transpose is no shuffle. */
static void kept(void **state) {
    (void)state;
    made m = begin();
    shuffle(&m, "4 6");
    convolve(&m, "24,6,1,1", "group=4");
    end(&m, 1);

    m = begin();
    shuffle(&m, "3 8");
    onnx_output(&m.g, m.at);
    convolve(&m, "16,12,1,1", "group=2");
    end(&m, 1);

    m = begin();
    reshape(&m, "5", "2 24 1 7 6");
    node(&m, "Transpose", "", "perm=[0,2,1,4,3]");
    reshape(&m, "4", "2 24 6 7");
    convolve(&m, "16,12,1,1", "group=2");
    end(&m, 1);
}

/* Attributes that are no whole numbers where these are asked for: what is usual holds. */
static void other_kinds(void **state) {
    (void)state;
    made m = begin();
    shuffle(&m, "3 8");
    convolve(&m, "8,24,3,3",
             "group=2.0 auto_pad=1 strides=[2.0,2.0] dilations=[2.0,2.0] kernel_shape=[2.0,2.0]");
    end(&m, 0);

    m = begin();
    reshape(&m, "5", "2 3 8 7 6");
    node(&m, "Transpose", "", "perm=1");
    reshape(&m, "4", "2 24 7 6");
    convolve(&m, "8,24,1,1", "");
    end(&m, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(past_depthwise),
                                       cmocka_unit_test(other_sums), cmocka_unit_test(kept),
                                       cmocka_unit_test(other_kinds)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
