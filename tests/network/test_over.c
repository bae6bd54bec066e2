/* Outputs in the memory of inputs that end with them: where a kernel reads an element only to make
 * the one in the same place, and the memory is the network's own; what comes out is what the texts
 * of the nodes say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"

static void convolution(onnx_graph *g, const char *x, const char *y, int inputs, int outputs,
                        int k) {
    const char *w = at_format(arena, "w_%s", y);
    onnx_numbers(g, w, at_format(arena, "%d,%d,%d,%d", outputs, inputs, k, k), (int)strlen(y),
                 false);
    onnx_node(g, "Conv", at_format(arena, "%s %s", x, w), y,
              at_format(arena, "pads=[%d,%d,%d,%d]", k / 2, k / 2, k / 2, k / 2));
}

static const at_net_storage *storage_of(const at_net_program *p, const char *name) {
    for (int i = 0; i < p->storages.len; i++) {
        const at_net_storage *s = &p->storages.data[i];
        if (s->value >= 0 && !strcmp(p->cut.net->values.data[s->value].name, name)) return s;
    }
    fail_msg("no storage of %s", name);
    return NULL;
}

/* Does y take the memory of x? */
static bool takes(const at_net_program *p, const char *y, const char *x) {
    const at_net_storage *of_y = storage_of(p, y), *of_x = storage_of(p, x);
    if (of_y->over != (int)(of_x - p->storages.data)) return false;
    assert_int_equal(of_y->place.offset, of_x->place.offset);
    assert_int_equal(of_y->first, of_x->last);
    return true;
}

/* Residual blocks: each sum takes the memory of the addend before it, from end to end, by
 * Winograd's algorithm and by products, with rows that have gaps. */
static void residual(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "1,3,5,6");
    convolution(&g, "x", "a", 3, 512, 1);
    for (int i = 0; i < 3; i++) {
        const char *from = i ? at_format(arena, "s%d", i - 1) : "a";
        convolution(&g, from, at_format(arena, "m%d", i), 512, 24, 1);
        convolution(&g, at_format(arena, "m%d", i), at_format(arena, "c%d", i), 24, 512, i ? 1 : 3);
        onnx_node(&g, "Add", at_format(arena, "c%d %s", i, from), at_format(arena, "t%d", i), "");
        onnx_node(&g, "Relu", at_format(arena, "t%d", i), at_format(arena, "s%d", i), "");
    }
    onnx_node(&g, "GlobalMaxPool", "s2", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    assert_true(takes(&p, "s0", "a"));
    assert_true(takes(&p, "s1", "s0"));
    assert_true(takes(&p, "s2", "s1"));
    onnx_check_program(arena, net, &p);
    /* one of 512 channels, not two, beside what Winograd's algorithm needs */
    assert_true(p.workspace_bytes < 3 * 30 * 528 * 4);
    at_net_program_free(&p);
    at_net_close(net);
}

/* Not: what is needed later, what the caller has, what is read in another place, or of another
 * size, or for all elements of a row. */
static void kept(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "48,48");
    onnx_numbers(&g, "w", "48,48", 1, false);
    static const char *const products[] = {"a", "b", "c", "d", "e", "r"};
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const char *from = at_format(arena, "f%s", products[i]);
        onnx_numbers(&g, at_format(arena, "w%s", products[i]), "48,48", 2 + (int)i, false);
        onnx_node(&g, "MatMul", at_format(arena, "x w%s", products[i]), products[i], "");
        onnx_node(&g, "MatMul", at_format(arena, "%s w", products[i]), from, "");
    }
    onnx_node(&g, "Transpose", "b", "bt", "perm=[1,0]");
    onnx_node(&g, "ReduceMax", "d", "dm", "axes=[1] keepdims=1");
    onnx_node(&g, "Softmax", "r", "ys", "axis=1");
    onnx_node(&g, "MatMul", "x wa", "u", "");
    onnx_node(&g, "Sin", "u", "q", "");
    static const char *const others[] = {"a", "bt", "x", "dm", "q", "ys"}, *const sums[] = {
                                                                               "ya", "yb", "yc",
                                                                               "yd", "ye", "yf"};
    for (int i = 0; i < 6; i++) {
        const char *sum = at_format(arena, "s%d", i);
        onnx_node(&g, "Add", at_format(arena, "f%s %s", products[i], others[i]), sum, "");
        onnx_node(&g, "MatMul", at_format(arena, "%s w", sum), sums[i], "");
        onnx_output(&g, sums[i]);
    }
    onnx_node(&g, "MatMul", "a w", "later", "");
    onnx_output(&g, "later");
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(storage_of(&p, at_format(arena, "s%d", i))->over, -1);
    assert_true(takes(&p, "s4", "q"));
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

/* Each element of the addend after it has written the one before. */
static void reads_behind(void *const *tensors, void *packed, void *workspace) {
    const float *x = tensors[2];
    float *y = tensors[3];
    (void)packed, (void)workspace;
    for (int i = 0; i < 20 * 24; i++) y[i] = x[i ? i - 1 : 0];
}

static void reads_there(void *const *tensors, void *packed, void *workspace) {
    const float *x = tensors[2];
    float *y = tensors[3];
    (void)packed, (void)workspace;
    for (int i = 0; i < 20 * 24; i++) y[i] = x[i] + 1;
}

/* A kernel that does otherwise than its text says is noticed. */
static void behind(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "20,16");
    onnx_input(&g, "z", AT_NET_FLOAT, "20,24");
    onnx_numbers(&g, "w", "16,24", 1, false);
    onnx_node(&g, "MatMul", "x w", "a", "");
    onnx_node(&g, "Add", "a z", "y", "");
    onnx_output(&g, "y");
    at_net *net = onnx_open(arena, &g);
    at_net_program p = onnx_program(net, NULL);
    const at_net_kernel *k = &p.kernels[0];
    assert_string_equal(k->part->title, "product 16 to 24 of 20, add");
    at_net_form f = k->forms.data[0];
    assert_int_equal(f.overwritten, 1 << 2);
    assert_int_equal(at_net_find_overwritten(k, &f, false), 1 << 2);
    f.fast = reads_there;
    assert_int_equal(at_net_find_overwritten(k, &f, false), 1 << 2);
    f.fast = reads_behind;
    assert_int_equal(at_net_find_overwritten(k, &f, false), 0);
    assert_int_equal(at_net_find_overwritten(k, &f, true), 1 << 2); /* as the text says */
    onnx_check_program(arena, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(residual), cmocka_unit_test(kept),
                                       cmocka_unit_test(behind)};
    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
