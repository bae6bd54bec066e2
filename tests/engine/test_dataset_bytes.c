/* Data whose results are rounded to bytes: most lie within a byte, some half between two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "tests/engine/filled_dataset.h"

/* Most results that are rounded to a byte lie within it, also behind bounds; in a further draw
 * scales are above a half. */
static void scales_of_bytes(void **state) {
    (void)state;
    enum { M = 20, N = 64, DEPTH = 40 };
    at_arena *a = at_arena_new();
    fill_any(a, "args M=20, N=64, K=40\nx[M, K] : input u8\nw[N, K] : weight s8\n"
                "b[N] : weight s32\nscale[N] : weight\nzero[N] : weight\n"
                "acc[m:M, n:N] : s32 = sum(k:K) x[m, k] * w[n, k]\n"
                "kept[m:M, n:N] : s32 = max(acc[m, n] + b[n], 0)\n"
                "out[m:M, n:N] : u8 = round(kept[m, n]*scale[n] + zero[n])\n");
    const uint8_t *x = (const uint8_t *)values_of("x");
    const int8_t *w = (const int8_t *)values_of("w");
    const int32_t *b = (const int32_t *)(const void *)values_of("b");
    const float *scale = values_of("scale"), *zero = values_of("zero");
    int within = 0;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            int sum = b[n];
            for (int k = 0; k < DEPTH; k++) sum += x[m * DEPTH + k] * w[n * DEPTH + k];
            const float y = nearbyintf((float)(sum > 0 ? sum : 0) * scale[n] + zero[n]);
            within += y >= 1 && y <= 254;
        }
    assert_in_range(within, M * N / 3, M * N);
    assert_int_equal(d.rule.num_draws, 2);
    d.draw = 1;
    assert_true(at_dataset_fill(&d, 2));
    for (int n = 0; n < N; n += 2) assert_true(scale[n] >= 0.5f && scale[n] <= 1.5f);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Few integers have one value on every draw, also where nothing is decided that a look would serve.
 */
static void few_integers(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill_any(a, "args M=20, K=9\nx[M] : input u8\nw[K] : weight s8\nzero[1] : input u8\n"
                "out[m:M] : s32 = sum(k:K) (m + k < M ? x[m + k] : zero[0])*w[k]\n");
    const int zero = at_compute_find(d.compute, "zero");
    assert_int_equal(d.rule.draw[0].extremes.len, 1);
    assert_int_equal(d.rule.draw[0].extremes.data[0].tensor, zero);
    const float kept = d.rule.draw[0].extremes.data[0].value;
    assert_true(kept == *(const uint8_t *)values_of("zero"));
    at_dataset_free(&d);
    at_arena_free(a);
}

/* How many of n numbers that are rounded to a byte lie within it, half between two of which the
 * lower one is even, or odd, with either sign: at least so many of each. */
static void count_halves(float y, int ends[4]) {
    const float below = floorf(y);
    if (y - below == 0.5f && fabsf(y) < 127) ends[(y < 0) + 2 * ((int)fabsf(below) % 2)]++;
}

static void expect_halves(const char *what, const int ends[4]) {
    for (int i = 0; i < 4; i++)
        if (ends[i] < 4) fail_msg("%s: %d halves of kind %d", what, ends[i], i);
}

/* On some draw scaled sums of bytes lie half between two bytes, be they long or short. */
static void halves_of_bytes(void **state) {
    (void)state;
    static const char *const forms[] = {"acc[m, n]*scale[n]", "acc[m, n]/scale[n]"},
                             *const types[] = {"f32", "f16", "bf16"};
    for (int depth = 16, form = 0, type = 0; type < 3;
         depth = depth < 1024 ? 4 * depth : 16, type += depth == 16, form = !form) {
        enum { M = 32, N = 64 };
        at_arena *a = at_arena_new();
        int ends[4] = {0};
        fill_any(a, at_format(a,
                              "args M=32, N=64, K=%d\nx[M, K] : input s8\nw[N, K] : weight s8\n"
                              "scale[N] : weight %s\n"
                              "acc[m:M, n:N] : s32 = sum(k:K) x[m, k] * w[n, k]\n"
                              "out[m:M, n:N] : s8 = round(%s)\n",
                              depth, types[type], forms[form]));
        for (d.draw = 0; d.draw < d.rule.num_draws; d.draw++) {
            assert_true(at_dataset_fill(&d, 1));
            const int8_t *x = (const int8_t *)values_of("x"), *w = (const int8_t *)values_of("w");
            for (int i = 0; i < M * N; i++) {
                int sum = 0;
                const int t = at_compute_find(d.compute, "scale");
                const float scale =
                    (float)at_type_value(d.compute->tensors[t].type, values_of("scale"), i % N);
                for (int k = 0; k < depth; k++) sum += x[i / N * depth + k] * w[i % N * depth + k];
                count_halves(form ? (float)sum / scale : (float)sum * scale, ends);
            }
        }
        expect_halves(at_format(a, "%s, %s", forms[form], types[type]), ends);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* So do long sums that a number makes small: one of 2^11 of them is a half, unless data see to it.
 */
static void halves_of_divided(void **state) {
    (void)state;
    static const char *const forms[] = {"round(acc[m, n]*0.00048828125)",
                                        "round(0.00048828125*acc[m, n])", "round(acc[m, n]/2048.0)",
                                        "(acc[m, n] + 1024) >> 11"};
    for (int form = 0; form < 4; form++) {
        enum { M = 32, N = 64, DEPTH = 1024 };
        at_arena *a = at_arena_new();
        int ends[4] = {0};
        fill_any(a, at_format(a,
                              "args M=32, N=64, K=1024\nx[M, K] : input s8\nw[N, K] : weight s8\n"
                              "acc[m:M, n:N] : s32 = sum(k:K) x[m, k] * w[n, k]\n"
                              "out[m:M, n:N] : s8 = %s\n",
                              forms[form]));
        for (d.draw = 0; d.draw < d.rule.num_draws; d.draw++) {
            assert_true(at_dataset_fill(&d, 1));
            const int8_t *x = (const int8_t *)values_of("x"), *w = (const int8_t *)values_of("w");
            for (int i = 0; i < M * N; i++) {
                int sum = 0;
                for (int k = 0; k < DEPTH; k++) sum += x[i / N * DEPTH + k] * w[i % N * DEPTH + k];
                count_halves((float)sum / 2048, ends);
            }
        }
        expect_halves(forms[form], ends);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Floats that bytes are multiplied by leave the results of functions finite. */
static void functions_beside_bytes(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    double most = 0;
    fill_any(a, "args N=40, C=60\nx[N, C] : input\nb[C] : weight s8\n"
                "y[n:N, c:C] = exp(x[n, c]*b[c])/(1 + exp(x[n, c]*b[c]))\n");
    const float *x = values_of("x");
    const int8_t *b = (const int8_t *)values_of("b");
    for (int i = 0; i < 40 * 60; i++) most = fmax(most, fabs((double)x[i] * b[i % 60]));
    assert_true(most > 4 && most < 80);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Floats that are made bytes lie half between two as well. */
static void halves_of_floats(void **state) {
    (void)state;
    static const char *const forms[] = {"x[n, k]*4", "x[n, k]*0.1", "x[n, k]*scale[k]",
                                        "x[n, k]/scale[k]", "x[n, k]*scale[k] + zero[k]"};
    for (int form = 0; form < 5; form++) {
        enum { N = 60, DEPTH = 50 };
        at_arena *a = at_arena_new();
        int ends[4] = {0};
        fill_any(a, at_format(a,
                              "args N=60, K=50\nx[N, K] : input\nscale[K] : weight\n"
                              "zero[K] : weight\nout[n:N, k:K] : s8 = round(%s)\n",
                              forms[form]));
        for (d.draw = 0; d.draw < d.rule.num_draws; d.draw++) {
            assert_true(at_dataset_fill(&d, 1));
            const float *x = values_of("x"), *scale = values_of("scale"), *zero = values_of("zero");
            for (int i = 0; i < N * DEPTH; i++) {
                const float s = scale[i % DEPTH], all[] = {x[i] * 4, x[i] * 0.1f, x[i] * s,
                                                           x[i] / s, x[i] * s + zero[i % DEPTH]};
                count_halves(all[form], ends);
            }
        }
        expect_halves(forms[form], ends);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_integers),           cmocka_unit_test(halves_of_bytes),
        cmocka_unit_test(functions_beside_bytes), cmocka_unit_test(halves_of_divided),
        cmocka_unit_test(halves_of_floats),       cmocka_unit_test(scales_of_bytes),
    };
    return cmocka_run_group_tests_name("engine/dataset_bytes", tests, NULL, NULL);
}
