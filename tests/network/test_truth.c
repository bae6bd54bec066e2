/* How far outputs are from those in double, and which of them no kernel could bring nearer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "network/net_code.h"
#include "network/net_truth.h"
#include "tests/arena.h"
#include "tests/folder.h"
#include "tests/network/made_net.h"

/* y = Sigmoid(x w 0.3); seed: of the weights */
static at_net *made(int seed) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4,32");
    onnx_numbers(&g, "w", "32,8", seed, false);
    onnx_constant(&g, "scale", AT_NET_FLOAT, "", "0.3", false);
    onnx_node(&g, "MatMul", "x w", "m", "");
    onnx_node(&g, "Mul", "m scale", "s", "");
    onnx_node(&g, "Sigmoid", "s", "y", "");
    onnx_output(&g, "y");
    return onnx_open(arena, &g);
}

static const void *const *numbers(bool whole) {
    const void **inputs = AT_NEW_ARRAY(arena, const void *, 1);
    float *x = AT_NEW_ARRAY(arena, float, 4 * 32);
    for (int i = 0; i < 4 * 32; i++) x[i] = (float)(i * 7 % 23 - 11) / (whole ? 1 : 7.3f);
    inputs[0] = x;
    return inputs;
}

typedef struct judged {
    at_net_distance error, moved;
} judged;

/* The outputs of one network's kernels beside those of another one in double. */
static judged judge(at_net *kernels, at_net *right, const void *const *inputs) {
    at_net_program p;
    at_net_build b = {0};
    at_net_truth t;
    at_error err;
    judged j;
    if (at_net_program_new(kernels, &b, &p, &err) != AT_OK ||
        at_net_truth_new(right, inputs, NULL, &t, &err) != AT_OK ||
        at_net_truth_compare(&t, &p, &j.error, NULL, &err) != AT_OK ||
        at_net_truth_moved(&t, &err) != AT_OK)
        fail_msg("%s", err.text);
    j.moved = t.moved[0];
    at_net_truth_free(&t);
    at_net_program_free(&p);
    return j;
}

static at_net_verdict verdict(judged j) {
    return at_net_verdict_of(j.error, j.moved, AT_NET_MAX_ERROR);
}

/* Other weights are wrong, and no rounding excuses them. */
static void right_and_wrong(void **state) {
    (void)state;
    at_net *one = made(1), *other = made(2);
    judged j = judge(one, one, numbers(false));
    assert_int_equal(verdict(j), AT_NET_RIGHT);
    assert_true(j.error.most < 1e-6 && j.moved.most > 0 && j.moved.most < 1e-6);
    j = judge(one, other, numbers(false));
    assert_int_equal(verdict(j), AT_NET_WRONG);
    at_net_close(one);
    at_net_close(other);
}

/* A small number, added to a huge one that is taken away again: kernels are far away, and so is
 * whatever rounds the sum. */
static void ill_conditioned(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4,32");
    onnx_numbers(&g, "w", "32,8", 1, false);
    onnx_constant(&g, "scale", AT_NET_FLOAT, "", "100000.3", false);
    onnx_node(&g, "MatMul", "x w", "m", "");
    onnx_node(&g, "Mul", "m scale", "huge", "");
    onnx_node(&g, "Add", "huge m", "sum", "");
    onnx_node(&g, "Sub", "sum huge", "y", "");
    onnx_output(&g, "y");
    at_net *n = onnx_open(arena, &g);
    judged j = judge(n, n, numbers(false));
    assert_true(j.error.most > AT_NET_MAX_ERROR && j.moved.most > AT_NET_MAX_ERROR);
    assert_int_equal(verdict(j), AT_NET_ILL_CONDITIONED);
    at_net_close(n);
}

/* What is whole is computed exactly: nothing moves, and nothing is excused. */
static void whole(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4,32");
    onnx_constant(&g, "w", AT_NET_FLOAT, "32,1",
                  "1 2 3 -4 5 6 7 8 9 -1 2 3 4 5 6 7 -8 9 1 2 3 4 -5 6 7 8 9 1 2 3 4 5", false);
    onnx_node(&g, "MatMul", "x w", "y", "");
    onnx_output(&g, "y");
    at_net *n = onnx_open(arena, &g);
    judged j = judge(n, n, numbers(true));
    assert_true(j.error.most == 0 && j.moved.most == 0);
    at_net_close(n);
}

/* Bytes of numbers so near to the next one that a few roundings decide, and of numbers that are
 * not: one more rounding changes none of either. */
static void bytes_by_luck(void **state) {
    (void)state;
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4,32");
    onnx_constant(&g, "scale", AT_NET_FLOAT, "", "1", false);
    onnx_constant(&g, "zero", AT_NET_UINT8, "", "0", false);
    onnx_node(&g, "QuantizeLinear", "x scale zero", "q", "");
    onnx_node(&g, "DequantizeLinear", "q scale zero", "y", "");
    onnx_output(&g, "y");
    at_net *n = onnx_open(arena, &g);
    float x[4 * 32];
    const void *inputs[] = {x};
    for (int near = 0; near < 2; near++) {
        for (int i = 0; i < 4 * 32; i++) x[i] = near ? 100.50003f : 100.51f;
        const judged j = judge(n, n, inputs);
        assert_true(j.error.most == 0);
        assert_float_equal(j.moved.most, near ? 0.25 / 101 : 0, 1e-9);
    }
    at_net_close(n);
}

static at_net *scaled(const char *scale) {
    onnx_graph g = {0};
    onnx_input(&g, "x", AT_NET_FLOAT, "4,32");
    onnx_constant(&g, "one", AT_NET_FLOAT, "", "1", false);
    onnx_constant(&g, "scale", AT_NET_FLOAT, "", scale, false);
    onnx_constant(&g, "zero", AT_NET_UINT8, "", "0", false);
    onnx_node(&g, "QuantizeLinear", "x one zero", "q", "");
    onnx_node(&g, "DequantizeLinear", "q scale zero", "y", "");
    onnx_output(&g, "y");
    return onnx_open(arena, &g);
}

/* Where a few bytes may come out as other ones, all of them 1 % away are wrong, though none is
 * further away than one of the few. */
static void small_but_all(void **state) {
    (void)state;
    at_net *right = scaled("1"), *wrong = scaled("1.01");
    float x[4 * 32];
    const void *inputs[] = {x};
    for (int i = 0; i < 4 * 32; i++) x[i] = i % 32 ? 100.2f : 100.50003f;
    const judged j = judge(wrong, right, inputs);
    assert_true(j.error.most > AT_NET_MAX_ERROR && j.error.most < AT_NET_OF_MOVED * j.moved.most);
    assert_int_equal(verdict(j), AT_NET_WRONG);
    assert_int_equal(
        at_net_verdict_of((at_net_distance){j.error.most, j.moved.rms}, j.moved, AT_NET_MAX_ERROR),
        AT_NET_ILL_CONDITIONED);
    at_net_close(right);
    at_net_close(wrong);
}

/* Functions of one name, of texts that no cache has yet, live side by side, whether there is a
 * cache or not. */
static void codes(void **state) {
    enum { CODES = 3 };
    const char *const caches[] = {at_format(arena, "%s/cache", folder), "/dev/null/none"},
                      *name = "number";
    (void)state;
    for (int i = 0; i < 2; i++) {
        net_code *of[CODES];
        int (*numbers[CODES])(void);
        assert_int_equal(setenv("XDG_CACHE_HOME", caches[i], 1), 0);
        for (int k = 0; k < CODES; k++) {
            const char *text = at_format(arena, "int number(void) { return %d; }\n", 10 * i + k);
            void *found;
            at_error err;
            if (net_code_new(arena, text, true, &name, 1, &found, NULL, &of[k], &err) != AT_OK)
                fail_msg("%s", err.text);
            memcpy(&numbers[k], &found, sizeof found);
        }
        for (int k = 0; k < CODES; k++) assert_int_equal(numbers[k](), 10 * i + k);
        for (int k = 0; k < CODES; k++) net_code_free(of[k]);
    }
}

static int begin(void **state) { return make_arena(state) || make_folder(state); }
static int end(void **state) { return remove_folder(state) || free_arena(state); }

/* The squared error with one choice of a kernel. */
static double error_with(at_net_program *p, at_net_truth *t, int kernel, int choice) {
    const at_net_build b = {0};
    at_net_distance errors[1];
    double sum;
    at_error err;
    if (at_net_recompile(p, &b, kernel, choice, &err) != AT_OK ||
        at_net_prepare(p, &err) != AT_OK || at_net_truth_compare(t, p, errors, &sum, &err) != AT_OK)
        fail_msg("%s", err.text);
    return sum;
}

/* A part has three ways, the nearest of which is by far the slowest: where a faster one, which is
 * nearer than the fastest, is not near enough, it is taken nevertheless. */
static void nearest_at_last(void **state) {
    (void)state;
    const at_net_build b = {0};
    onnx_graph g = {0};
    at_net_program p;
    at_net_truth t;
    at_error err;
    at_net_distance errors[1];
    double sum[3];
    int kernel = -1, replaced;
    onnx_input(&g, "x", AT_NET_FLOAT, "1,48,8,8");
    onnx_numbers(&g, "w", "16,48,3,3", 1, false);
    onnx_node(&g, "Conv", "x w", "y", "pads=[1,1,1,1]");
    onnx_output(&g, "y");
    at_net *n = onnx_open(arena, &g);
    float x[48 * 8 * 8];
    for (int i = 0; i < 48 * 8 * 8; i++) x[i] = (float)(i * 7 % 23 - 11) / 7.3f;
    const void *const inputs[] = {x};
    if (at_net_program_new(n, &b, &p, &err) != AT_OK ||
        at_net_truth_new(n, inputs, NULL, &t, &err) != AT_OK)
        fail_msg("%s", err.text);
    for (int i = 0; i < p.num_kernels; i++)
        if (p.kernels[i].num_choices == 3) kernel = i;
    assert_true(kernel >= 0);
    at_net_choice *c = p.kernels[kernel].choices;
    for (int i = 0; i < 3; i++) sum[i] = error_with(&p, &t, kernel, i);
    for (int i = 0; i < 3; i++) /* the largest error first, the least last */
        for (int k = 0; k < 2; k++) {
            if (sum[k] >= sum[k + 1]) continue;
            const at_net_choice choice = c[k];
            const double error = sum[k];
            c[k] = c[k + 1], c[k + 1] = choice;
            sum[k] = sum[k + 1], sum[k + 1] = error;
        }
    assert_true(sum[0] > sum[1] && sum[1] > sum[2]);
    for (int i = 0; i < 3; i++) c[i].time_s = i == 2 ? 1 : 1e-6 * (i + 1);
    assert_true(error_with(&p, &t, kernel, 0) == sum[0]);
    if (at_net_make_exact(&p, &b, &t, 0, errors, &replaced, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_int_equal(replaced, 1);
    double found;
    if (at_net_truth_compare(&t, &p, errors, &found, &err) != AT_OK) fail_msg("%s", err.text);
    assert_true(found == sum[2]);
    at_net_truth_free(&t);
    at_net_program_free(&p);
    at_net_close(n);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(right_and_wrong),
                                       cmocka_unit_test(ill_conditioned),
                                       cmocka_unit_test(small_but_all),
                                       cmocka_unit_test(whole),
                                       cmocka_unit_test(bytes_by_luck),
                                       cmocka_unit_test(nearest_at_last),
                                       cmocka_unit_test(codes)};
    return cmocka_run_group_tests_name("network/truth", tests, begin, end);
}
