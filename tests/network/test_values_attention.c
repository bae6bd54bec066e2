/* Values of attention: heads that share keys, masks, bounds, and pairs that are turned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/arena.h"
#include "tests/network/made_net.h"
#include "tests/network/values.h"

enum { QUERIES = 3, KEYS = 5, PAST = 2, SIZE = 4, VALUES = 3, HEADS = 4, SHARED = 2 };

/* Element i of key or value row j of head g: of the past, which has heads apart, or behind it. */
static double cached(const float *past, const float *x, int g, int j, int i, int size) {
    return j < PAST ? past[(g * PAST + j) * size + i]
                    : x[(j - PAST) * SHARED * size + g * size + i];
}

/* Query i of head h, into out[VALUES]; mask: what is added to each key's score. */
static void attend(const float *q, const float *const *kv, const float *mask, int h, int i,
                   double *out) {
    double score[KEYS], sum = 0;
    const int g = h / (HEADS / SHARED);
    for (int c = 0; c < VALUES; c++) out[c] = 0;
    for (int j = 0; j < KEYS && j <= i + PAST; j++) {
        score[j] = 0;
        for (int d = 0; d < SIZE; d++)
            score[j] += q[(i * HEADS + h) * SIZE + d] * cached(kv[2], kv[0], g, j, d, SIZE);
        score[j] = exp(2 * tanh(score[j] / 2 / 2) + mask[i * KEYS + j]); /* 1/sqrt(SIZE), cap 2 */
        sum += score[j];
        for (int c = 0; c < VALUES; c++) out[c] += score[j] * cached(kv[3], kv[1], g, j, c, VALUES);
    }
    for (int c = 0; c < VALUES; c++) out[c] = sum ? out[c] / sum : 0;
}

/* Heads share keys, which come behind those of the past; scores are bounded, a mask is added, and
 * no query sees later keys. The last one attends to none. */
static void attention(void **state) {
    (void)state;
    const float *q = numbers(QUERIES * HEADS * SIZE), *k = numbers(100) + 7, *v = k + 30,
                *past_k = k + 3, *past_v = k + 17;
    float mask[QUERIES * KEYS] = {0, 1, -2, 0.5f, 0, 0.25f, 0, 1, -1, 3};
    double expected[VALUES];
    for (int j = 0; j < KEYS; j++) mask[2 * KEYS + j] = -INFINITY;
    onnx_graph g = {0};
    onnx_input(&g, "q", AT_NET_FLOAT, "1,3,16");
    onnx_constant(&g, "k", AT_NET_FLOAT, "1,3,8", as_text(k, 3 * 8), true);
    onnx_constant(&g, "v", AT_NET_FLOAT, "1,3,6", as_text(v, 3 * 6), true);
    onnx_constant(&g, "m", AT_NET_FLOAT, "3,5", as_text(mask, QUERIES * KEYS), true);
    onnx_constant(&g, "pk", AT_NET_FLOAT, "1,2,2,4", as_text(past_k, 16), true);
    onnx_constant(&g, "pv", AT_NET_FLOAT, "1,2,2,3", as_text(past_v, 12), true);
    onnx_node(&g, "Attention", "q k v m pk pv", "y",
              "q_num_heads=4 kv_num_heads=2 is_causal=1 softcap=2.0");
    onnx_output(&g, "y");
    at_net *net = onnx_open_as(arena, &g, 24, NULL);
    const double *y = compute(net, q);
    for (int i = 0; i < QUERIES; i++)
        for (int h = 0; h < HEADS; h++) {
            attend(q, (const float *const[]){k, v, past_k, past_v}, mask, h, i, expected);
            for (int c = 0; c < VALUES; c++)
                expect_near(y[(i * HEADS + h) * VALUES + c], expected[c]);
        }
    assert_true(y[0] != 0 && y[2 * HEADS * VALUES] == 0);
    at_net_close(net);
}

/* A mask that ends before the keys lets no query attend to the rest; one without keys is refused.
 */
static void short_mask(void **state) {
    (void)state;
    for (int width = 2; width >= 0; width -= 2) {
        const float *x = numbers(3 * 2);
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1,1,3,2");
        onnx_constant(&g, "m", AT_NET_FLOAT, width ? "1,2" : "1,0", width ? "-inf 0" : "", false);
        onnx_node(&g, "Attention", "x x x m", "y", "");
        onnx_output(&g, "y");
        if (!width) {
            expect_refused(&g, 24, AT_E_INPUT, "\"m\" does not fit the scores");
            continue;
        }
        at_net *net = onnx_open_as(arena, &g, 24, NULL);
        const double *y = compute(net, x);
        for (int i = 0; i < 6; i++) expect_near(y[i], (double)x[2 + i % 2]); /* the second key's */
        at_net_close(net);
    }
}

/* Pairs of the first four of six elements are turned, either way of pairing; the rest stays. */
static void turned_rows(void **state) {
    (void)state;
    for (int by_neighbours = 0; by_neighbours < 2; by_neighbours++) {
        const float *x = numbers(2 * 3 * 6), *c = numbers(40) + 5, *s = c + 12;
        const int places[] = {1, 0, 2};
        onnx_graph g = {0};
        onnx_input(&g, "x", AT_NET_FLOAT, "1,2,3,6");
        onnx_constant(&g, "c", AT_NET_FLOAT, "3,2", as_text(c, 6), true);
        onnx_constant(&g, "s", AT_NET_FLOAT, "3,2", as_text(s, 6), true);
        onnx_constant(&g, "p", AT_NET_INT64, "1,3", "1 0 -1", true);
        onnx_node(&g, "RotaryEmbedding", "x c s p", "y",
                  by_neighbours ? "rotary_embedding_dim=4 interleaved=1"
                                : "rotary_embedding_dim=4");
        onnx_output(&g, "y");
        at_net *net = onnx_open_as(arena, &g, 23, NULL);
        const double *y = compute(net, x);
        for (int row = 0; row < 6; row++) {
            const float *in = x + row * 6;
            const double *out = y + row * 6;
            for (int k = 0; k < 2; k++) {
                const int i = by_neighbours ? 2 * k : k, j = by_neighbours ? 2 * k + 1 : k + 2;
                const double cosine = c[places[row % 3] * 2 + k], sine = s[places[row % 3] * 2 + k];
                expect_near(out[i], cosine * in[i] - sine * in[j]);
                expect_near(out[j], sine * in[i] + cosine * in[j]);
            }
            assert_true(out[4] == in[4] && out[5] == in[5]);
        }
        at_net_close(net);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention),
        cmocka_unit_test(short_mask),
        cmocka_unit_test(turned_rows),
    };
    return cmocka_run_group_tests_name("network/values_attention", tests, make_arena, free_arena);
}
