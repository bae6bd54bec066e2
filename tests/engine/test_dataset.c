/* How large data are: sums that a function levels off are moderate, others as large as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "engine/data/dataset.h"
#include "tests/any_task.h"

enum { K = 512 };

static at_dataset d;

static const float *values_of(const char *name) {
    return at_store_at(d.store, d.offset[at_compute_find(d.compute, name)]);
}

static double largest(const char *name) {
    double most = 0;
    const float *p = values_of(name);
    int64_t n = d.size_bytes[at_compute_find(d.compute, name)] / 4;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs((double)p[i]));
    return most;
}

static void fill_any(at_arena *a, const char *text) {
    at_error err;
    at_config config;
    int64_t *values;
    const at_task *t = task_of_text(a, "own.te", text, "");
    const at_compute *c = at_task_compute(t);
    const int **layouts = AT_NEW_ARRAY(a, const int *, c->num_tensors);
    if (at_task_default_config(a, t, 8, &config, &err) != AT_OK ||
        at_task_values(a, t, &config, &values, &err) != AT_OK ||
        at_dataset_new(a, c, values, layouts, NULL, &d, &err) != AT_OK ||
        at_dataset_expect(a, &d, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_true(at_dataset_fill(&d, 1));
}

static void fill(at_arena *a, const char *text) {
    fill_any(a, text);
    assert_false(d.is_exact);
}

#define SHAPES "args N=3, M=5, K=512\nx[N, K] : input\nw[K, M] : weight\nb[M] : weight\n"
#define PRODUCT "s[n:N, m:M] = sum(k:K) x[n, k] * w[k, m]\n"

/* Factors of 1 and -1 alone would be exact, but half of all neighbours were equal then, and what
 * goes from step to step has no second one to tell. */
static void factors_of_steps(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill(a, "args T=113, C=147\na[T, C] : input\nx[T, C] : input\n"
            "h[t:T, c:C] = t > 1 ? a[t, c]*h[t - 2, c] + x[t, c] : x[t, c]\n");
    const float *factor = values_of("a"), *x = values_of("x");
    for (int i = 1; i < 113 * 147; i++)
        assert_true(factor[i] != factor[i - 1] && x[i] != x[i - 1] && x[i] != 0);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* A number per channel is not what it is added to: with it a whole channel would lie on one side of
 * a bound. No element stands beside itself, so that a neighbour's is another one. */
static void numbers_of_channels(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill_any(a, "args N=40, M=60, K=9\nx[N, K] : input\nw[K, M] : weight\nb[M] : weight\n"
                "f[M] : weight\ng[M] : weight\n" PRODUCT
                "t[n:N, m:M] = (s[n, m] + b[m])*f[m] + g[m]\nout[n:N, m:M] = max(t[n, m], 0)\n");
    assert_true(d.is_exact);
    const float *x = values_of("x"), *w = values_of("w"), *b = values_of("b"), *f = values_of("f"),
                *g = values_of("g");
    for (int m = 0; m < 60; m++) {
        int above = 0;
        for (int n = 0; n < 40; n++) {
            double sum = 0;
            for (int k = 0; k < 9; k++) sum += (double)x[n * 9 + k] * w[k * 60 + m];
            above += (sum + b[m]) * f[m] + g[m] > 0;
        }
        assert_in_range(above, 1, 39);
        assert_true(!m || (b[m] != b[m - 1] && f[m] != f[m - 1] && g[m] != g[m - 1]));
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

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

/* Rows have other largest elements than the rows beside them. */
static void winners_of_rows(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    float before = 0;
    fill_any(a, "args N=20, K=50\nx[N, K] : input\nout[n:N] = max(k:K) x[n, k]\n");
    const float *x = values_of("x");
    for (int n = 0; n < 20; n++) {
        float most = -INFINITY;
        for (int k = 0; k < 50; k++) most = fmaxf(most, x[n * 50 + k]);
        assert_true(most != before);
        before = most;
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Of rows by eight each has, somewhere, an element beyond all of any other: a kernel that takes it
 * for one of the other row is wrong. */
static void rows_by_eight(void **state) {
    (void)state;
    enum { ROWS = 1024, TERMS = 9, BY = 8 };
    at_arena *a = at_arena_new();
    fill_any(a, "args N=1024, K=9\nx[N, K] : input\nout[n:N] = max(k:K) x[n, k]\n");
    const float *x = values_of("x");
    float most[ROWS];
    for (int n = 0; n < ROWS; n++) {
        most[n] = -INFINITY;
        for (int k = 0; k < TERMS; k++) most[n] = fmaxf(most[n], x[n * TERMS + k]);
    }
    for (int own = 0; own < BY; own++)
        for (int other = 0; other < BY; other++) {
            int beyond = 0;
            for (int n = 0; n < ROWS && own != other; n += BY)
                for (int k = 0; k < TERMS; k++)
                    beyond += x[(n + own) * TERMS + k] > most[n + other];
            if (!beyond && own != other) fail_msg("row %d hides all of row %d", other, own);
        }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Of a few hundred bytes or entries two or three would be the most: rows have one that no other
 * element reaches, another one than the row before, the first and the last place among them. */
static void winners_among_wholes(void **state) {
    (void)state;
    enum { ROWS = 39, PLACES = 300 };
    static const char *const texts[] = {
        "x[N, K] : input u8\nmost[n:N] : s32 = max(k:K) x[n, k]\n",
        "x[N, K] : input s8\nleast[n:N] : s32 = min(k:K) x[n, k]\n",
        "x[N, K] : index\nmost[n:N] : s32 = max(k:K) x[n, k]\n",
        "x[N, K] : index\nleast[n:N] : s32 = min(k:K) x[n, k]\nt[N] : input\n"
        "y[n:N, k:K] = t[min(x[n, k], N - 1)]\n",
    };
    for (int i = 0; i < 4; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, at_format(a, "args N=39, K=300\n%s", texts[i]));
        const void *x = values_of("x");
        bool wins[PLACES] = {false};
        int before = INT_MAX;
        for (int n = 0; n < ROWS; n++) {
            int first = INT_MIN, reached = 0, place = 0;
            for (int k = 0; k < PLACES; k++) {
                const int at = n * PLACES + k, v = i == 0   ? ((const uint8_t *)x)[at]
                                                   : i == 1 ? ((const int8_t *)x)[at]
                                                            : ((const int32_t *)x)[at];
                const int sized = i % 2 ? -v : v;
                reached = sized > first ? 1 : reached + (sized == first);
                if (sized > first) first = sized, place = k;
            }
            if (reached != 1 || first == before) fail_msg("%s: row %d", texts[i], n);
            before = first;
            wins[place] = true;
        }
        assert_true(wins[0] && wins[PLACES - 1]);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Weights of a long sum before an exponential, even through another stage; what is added to it
 * stays. */
static void sums_before_functions(void **state) {
    (void)state;
    static const char *const texts[] = {
        SHAPES PRODUCT "out[n:N, m:M] = 1 / (1 + exp(0 - s[n, m] - b[m]))\n",
        SHAPES PRODUCT "h[n:N, m:M] = s[n, m] + b[m]\nout[n:N, m:M] = h[n, m] * sigmoid(h[n, m])\n",
        SHAPES PRODUCT "out[n:N, m:M] = tanh(s[n, m]) * b[m]\n",
    };
    for (int i = 0; i < 3; i++) {
        at_arena *a = at_arena_new();
        fill(a, texts[i]);
        const float *x = values_of("x"), *w = values_of("w");
        assert_true(largest("x") > 4 && largest("b") > 1);
        for (int n = 0; n < 3; n++)
            for (int m = 0; m < 5; m++) {
                double sum = 0, terms = 0;
                for (int k = 0; k < K; k++) {
                    sum += (double)x[n * K + k] * w[k * 5 + m];
                    terms += fabs((double)x[n * K + k] * w[k * 5 + m]);
                }
                assert_true(fabs(sum) < 64 && terms > 1);
            }
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Both factors of a kernel of distances, of which the exponential would be 0 otherwise. */
static void sums_of_inputs(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill(a, "args N=3, M=5, K=512\nx[N, K] : input\ny[M, K] : input\n"
            "s[n:N, m:M] = sum(k:K) (x[n, k] - y[m, k]) * (x[n, k] - y[m, k])\n"
            "out[n:N, m:M] = exp(0 - s[n, m])\n");
    const float *x = values_of("x"), *y = values_of("y");
    double sum = 0;
    for (int k = 0; k < K; k++) sum += pow((double)x[k] - y[k], 2);
    assert_true(sum > 1 && sum < 80);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* The share of the elements of output `name` that are beyond this, as the interpreter works them
 * out from the data. */
static double share_beyond(at_arena *a, const char *name, double limit) {
    const at_compute *c = d.compute;
    at_data *data = AT_NEW_ARRAY(a, at_data, c->num_tensors);
    at_error err;
    int found = at_compute_find(c, name);
    for (int t = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role == AT_ROLE_STAGE) continue;
        if (c->tensors[t].role == AT_ROLE_INDEX) data[t].i = at_store_at(d.store, d.offset[t]);
        else data[t].f = at_store_at(d.store, d.offset[t]);
    }
    if (at_compute_interpret(a, c, d.values, data, &err) != AT_OK) fail_msg("%s", err.text);
    int64_t n = d.size_bytes[found] / 4, beyond = 0;
    for (int64_t i = 0; i < n; i++) beyond += fabs((double)data[found].f[i]) > limit;
    return (double)beyond / (double)n;
}

/* What lies below a maximum is moderate in one draw, so that what is not the largest counts, and so
 * far below it in the other that without the maximum it overflows. */
static void below_maximum(void **state) {
    (void)state;
    static const char *const texts[] = {
        SHAPES PRODUCT "most[n:N] = max(m:M) s[n, m]\n"
                       "a[n:N, m:M] = s[n, m] - most[n]\n"
                       "out[n:N, m:M] = exp(s[n, m] - most[n]) * b[m]\n",
        "args N=30, M=50\nx[N, M] : input\nw[N] : weight\n"
        "most[n:N] = max(m:M) x[n, m]\n"
        "a[n:N, m:M] = x[n, m] - most[n]\n"
        "out[n:N, m:M] = exp(x[n, m] - most[n]) * sigmoid(w[n] * x[n, m])\n",
    };
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        fill(a, texts[i]);
        assert_int_equal(d.rule.num_draws, 2);
        assert_true(share_beyond(a, "a", 0.1) > 0.6 && share_beyond(a, "a", 8) < 0.25);
        d.draw = 1;
        assert_true(at_dataset_fill(&d, 1));
        assert_true(share_beyond(a, "a", 89) > 0.6);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* A bound that meets what a number is added to is as wide as the number: of what lies 9 below a
 * maximum and further nothing would be left, and the winner's own size is in nothing. */
static void bounds_behind_numbers(void **state) {
    (void)state;
    static const char *const nears[] = {"max(s[n, m] - most[n] + 9, 0)",
                                        "max(9 + (s[n, m] - most[n]), 0)",
                                        "0 - min(most[n] - s[n, m] - 9, 0)"};
    for (size_t i = 0; i < sizeof nears / sizeof *nears; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, at_format(a,
                              "args N=20, M=30, K=9\nx[N, K] : input\nw[K, M] : weight\n" PRODUCT
                              "most[n:N] = max(m:M) s[n, m]\nout[n:N, m:M] = %s\n",
                              nears[i]));
        const double some = share_beyond(a, "out", 0.01);
        if (some < 0.25 || some > 0.95) fail_msg("%s: %g", nears[i], some);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Where all is worked out element by element, a few arguments of functions that level off lie far
 * from 0 on either side, and most do not. */
static void far_arguments(void **state) {
    (void)state;
    static const char *const forms[] = {"tanh(x[n])", "x[n]*sigmoid(x[n])", "exp(x[n]*4)",
                                        "0.5*x[n]*(1 + erf(x[n]*0.7))"};
    static const double times[] = {1, 1, 4, 0.7};
    for (int form = 0; form < 4; form++) {
        enum { N = 400 };
        at_arena *a = at_arena_new();
        int above = 0, below = 0, near = 0;
        fill(a, at_format(a, "args N=400\nx[N] : input\nout[n:N] = %s\n", forms[form]));
        for (int n = 0; n < N; n++) {
            const double x = times[form] * (double)values_of("x")[n];
            above += x > 60 && x < 88, below += x < -60 && x > -88, near += fabs(x) < 10;
        }
        if (!above || !below || near < N / 2)
            fail_msg("%s: %d above, %d below, %d near 0", forms[form], above, below, near);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Where the argument of an exponential is a product, or a sum of two inputs, none overflows, and
 * some are far from 0 all the same. */
static void far_products(void **state) {
    (void)state;
    static const char *const forms[] = {"a[n]*b[n]", "a[n] + b[n]", "a[n]*a[n]*b[n]", "a[n]/4"};
    for (int form = 0; form < 4; form++) {
        at_arena *arena = at_arena_new();
        double most = 0;
        fill(arena, at_format(arena,
                              "args N=400\na[N] : input\nb[N] : input\n"
                              "out[n:N] = exp(%s)/(1 + exp(%s)) + b[n]\n",
                              forms[form], forms[form]));
        for (int n = 0; n < 400; n++) {
            const double x = (double)values_of("a")[n], y = (double)values_of("b")[n];
            const double of[] = {x * y, x + y, x * x * y, x / 4};
            most = fmax(most, fabs(of[form]));
        }
        if (!(most > 30 && most < 88)) fail_msg("%s: %g at most", forms[form], most);
        at_dataset_free(&d);
        at_arena_free(arena);
    }
}

/* Nor does the square of an exponential. */
static void far_squares(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    double most = 0;
    fill(a, "args N=400\nx[N] : input\np[n:N] = exp(x[n])\n"
            "out[n:N] = x[n]*p[n]*(p[n] + 2)/(p[n]*(p[n] + 2) + 2)\n");
    for (int n = 0; n < 400; n++) most = fmax(most, fabs((double)values_of("x")[n]));
    assert_true(most > 20 && most < 44);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Of whole numbers none would be changed. */
static void rounded_values(void **state) {
    (void)state;
    static const char *const functions[] = {"floor", "ceil", "round"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        at_arena *a = at_arena_new();
        int broken = 0;
        fill_any(a,
                 at_format(a, "args N=400\nx[N] : input\nout[n:N] = %s(x[n]) + 1\n", functions[i]));
        for (int n = 0; n < 400; n++) broken += values_of("x")[n] != floorf(values_of("x")[n]);
        if (broken < 200)
            fail_msg("%s: %d of 400 values are no whole numbers", functions[i], broken);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* What is bounded behind a rounding, and has one sign, is not all beyond the same bound. */
static void bounds_of_distances(void **state) {
    (void)state;
    for (int low = 0; low <= 3; low += 3) { /* at 3 and 9 they are as wide as they are far from 0 */
        at_arena *a = at_arena_new();
        fill_any(a, at_format(a,
                              "args N=200, K=9\nx[N, K] : input\n"
                              "top[n:N] = max(k:K) x[n, k]\nlow[n:N] = min(k:K) x[n, k]\n"
                              "out[n:N] = min(max(round((top[n] - low[n])*0.75) - 2, %d), %d) + "
                              "0.5*top[n]\na[n:N] = round((top[n] - low[n])*0.75) - 2\n",
                              low, low + 6));
        const double beyond = share_beyond(a, "a", low + 5.5);
        if (beyond > 0.75) fail_msg("%g are beyond the bound %d", beyond, low + 6);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Values that say where terms belong lie about the places that there are. */
static void places_of_values(void **state) {
    (void)state;
    enum { N = 300, H = 21 };
    at_arena *a = at_arena_new();
    int inside = 0;
    fill_any(a, "args N=300, H=21\nx[N] : input\nv[N] : input\n"
                "b[(floor(x[n]*8) + 10):H] += (n:N) v[n]\n");
    for (int n = 0; n < N; n++) {
        const float place = floorf(values_of("x")[n] * 8) + 10;
        inside += place >= 0 && place < H;
    }
    if (inside < N / 3) fail_msg("%d of %d terms have a place", inside, N);
    assert_true(inside < N);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* A maximum that begins at 0, and such a minimum, are right only where the terms are not all on one
 * side of it, which they are in the second draw: of rows, of windows and of bins. */
static void maxima_below_0(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args N=70, M=90\nx[N, M] : input\ny[N, M] : input\n"
        "most[n:N] = max(m:M) x[n, m]\n"
        "low[n:N] = min(m:M) y[n, m]\n",
        "args N=64\nx[N + 6, N + 6] : input\n"
        "p[i:N + 6, j:N + 6] = i < 1 ? x[i + 1, j] : x[i, j]\n"
        "most[i:N, j:N] = max(r:7, s:7) p[i + r, j + s]\n",
        "args P=523, B=13\nx[P] : index\nv[P] : input\nmost[x[p]:B] max= (p:P) v[p]\n",
        /* of both, what is looked at first */
        "args N=64\nx[N + 6, N + 6] : input\n"
        "most[i:N, j:N] = max(r:7, s:7) x[i + r, j + s]\n"
        "low[i:N, j:N] = min(r:7, s:7) x[i + r, j + s]\nout[i:N, j:N] = most[i, j] - low[i, j]\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, texts[i]);
        assert_int_equal(d.rule.num_draws, 2);
        d.draw = 1;
        assert_true(at_dataset_fill(&d, 1));
        const at_compute *c = d.compute;
        for (int t = 0; t < c->num_tensors; t++) {
            if (c->tensors[t].role != AT_ROLE_INPUT) continue;
            const float *x = values_of(c->tensors[t].name);
            const float side = c->tensors[t].name[0] == 'y' ? 1.0f : -1.0f;
            for (int64_t k = 0; k < d.size_bytes[t] / 4; k++)
                if (x[k] * side <= 0) fail_msg("text %zu: %s has %g", i, c->tensors[t].name, x[k]);
        }
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* How far a reduction goes is the most that is allowed, and another time an odd number less. */
static void lone_bounds(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill_any(a, "args N=8, T=64\na[N, T] : input\npos : index\n"
                "s[n:N] = sum(j:0..pos + 1) a[n, j]\n");
    const int *pos = (const int *)(const void *)values_of("pos");
    assert_int_equal(d.rule.num_draws, 2);
    for (uint64_t seed = 1; seed < 100; seed++) {
        for (d.draw = 0; d.draw < 2; d.draw++) {
            assert_true(at_dataset_fill(&d, seed));
            if (!d.draw) assert_int_equal(*pos, 63);
            else assert_int_equal(*pos, 62); /* 63 terms: some in each piece of 32, 16, .. 1 */
        }
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Each of the entries that an axis is compared with is its extent in one of two draws, and less in
 * the other. */
static void ends_of_axes(void **state) {
    (void)state;
    enum { ROWS = 9, MOST = 40 };
    at_arena *a = at_arena_new();
    fill_any(a, "args B=9, S=40, D=70\nx[B, S, D] : input\nlength[B] : index\n"
                "s[b:B, d:D] = sum(s:S) s < length[b] ? x[b, s, d] : 0\n");
    const int *length = (const int *)(const void *)values_of("length");
    assert_int_equal(d.rule.num_draws, 2);
    for (uint64_t seed = 1; seed < 100; seed++) {
        int whole[ROWS] = {0};
        for (d.draw = 0; d.draw < 2; d.draw++) {
            assert_true(at_dataset_fill(&d, seed));
            for (int b = 0; b < ROWS; b++) {
                assert_in_range(length[b], 0, MOST);
                whole[b] += length[b] == MOST;
            }
        }
        for (int b = 0; b < ROWS; b++) assert_int_equal(whole[b], 1);
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* What overflows is saturated: the tails of reductions are walked with the first values, too. */
static void bounds_beside_overflow(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill_any(a, "args N=4, T=64\ns[N, T] : input\npos : index\n"
                "m[n:N] = max(j:0..pos + 1) s[n, j]\n"
                "e[n:N, j:T] = j <= pos ? exp(s[n, j] - m[n]) : 0\n"
                "t[n:N] = sum(j:0..pos + 1) e[n, j]\n");
    const int *pos = (const int *)(const void *)values_of("pos");
    assert_int_equal(d.rule.num_draws, 3);
    assert_ptr_equal(d.rule.draw[2].fill, d.rule.draw[0].fill);
    for (d.draw = 0; d.draw < 3; d.draw++) {
        assert_true(at_dataset_fill(&d, 1));
        assert_int_equal(*pos, d.draw ? 62 : 63);
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Sums of products that a maximum looks at have a winner at the first place that counts, the last,
 * and where pieces of a ragged loop begin, so far above the others that without it they overflow.
 */
static void winners_of_products(void **state) {
    (void)state;
    enum { G = 6, T = 64, D = 8, LAST = 62 };
    at_arena *a = at_arena_new();
    fill(a, "args G=6, T=64, D=8\nq[G, D] : input\nkey[G, T, D] : input\nslope[G] : weight\n"
            "pos : index\ns[g:G, j:T] = sum(d:D) q[g, d]*key[g, j, d]\n"
            "b[g:G, j:T] = s[g, j] + slope[g]\n"
            "m[g:G] = max(j:0..pos + 1) b[g, j]\n"
            "e[g:G, j:T] = j <= pos ? exp(b[g, j] - m[g]) : 0\n"
            "t[g:G] = sum(j:0..pos + 1) e[g, j]\n");
    bool wins[T] = {false};
    d.draw = 1;
    assert_true(at_dataset_fill(&d, 1));
    const float *q = values_of("q"), *key = values_of("key");
    for (int g = 0; g < G; g++) {
        double first = -INFINITY, second = -INFINITY;
        int place = 0;
        for (int j = 0; j <= LAST; j++) {
            double s = 0;
            for (int k = 0; k < D; k++) s += (double)q[g * D + k] * key[(g * T + j) * D + k];
            if (s > first) second = first, first = s, place = j;
            else if (s > second) second = s;
        }
        wins[place] = true;
        if (!(first - second > 89)) fail_msg("row %d: %g and %g", g, first, second);
    }
    static const int places[] = {0, LAST, LAST - 2, LAST - 6, LAST - 14, LAST - 30};
    for (int i = 0; i < G; i++)
        if (!wins[places[i]]) fail_msg("no row has its winner at %d", places[i]);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Of sums of products, however long, a maximum has rows in which all lie far below 0 and others in
 * which the largest lies far above; the last place wins, and another one. Exact ones, too. */
static void products_on_both_sides(void **state) {
    (void)state;
    enum { S = 8, T = 40 };
    for (int exact = 0; exact < 2; exact++)
        for (int terms = 8; terms <= 4096; terms *= 8) {
            at_arena *a = at_arena_new();
            bool wins[T] = {false};
            int below = 0, above = 0;
            const char *text = at_format(
                a,
                "args S=8, T=40, D=%d\nq[S, D] : input\nkey[T, D] : input\n"
                "s[i:S, j:T] = sum(d:D) q[i, d]*key[j, d]\nm[i:S] = max(j:T) s[i, j]\n%s",
                terms, exact ? "o[i:S] = m[i] + 1\n" : "e[i:S, j:T] = exp(s[i, j] - m[i])\n");
            fill_any(a, text);
            if (d.is_exact != exact && exact && terms > 512) {
                at_dataset_free(&d);
                at_arena_free(a);
                continue;
            }
            d.draw = 1;
            assert_int_equal(d.is_exact, exact);
            assert_int_equal(d.rule.num_draws, 2);
            assert_true(at_dataset_fill(&d, 1));
            const float *q = values_of("q"), *key = values_of("key");
            for (int i = 0; i < S; i++) {
                double most = -INFINITY;
                int place = 0;
                for (int j = 0; j < T; j++) {
                    double s = 0;
                    for (int k = 0; k < terms; k++)
                        s += (double)q[i * terms + k] * key[j * terms + k];
                    if (s > most) most = s, place = j;
                }
                wins[place] = true;
                below += most<(exact ? -1 : -104), above += most>(exact ? 1 : 104);
            }
            if (!below || !above || !wins[0] || !wins[T - 1])
                fail_msg("%s: %d rows below 0, %d above, %d, %d", text, below, above, wins[0],
                         wins[T - 1]);
            at_dataset_free(&d);
            at_arena_free(a);
        }
}

/* Sums that become floats of 16 bits stay finite there, however many terms they have. */
static void products_in_halves(void **state) {
    (void)state;
    enum { S = 7, T = 20, DEPTH = 2048 };
    at_arena *a = at_arena_new();
    double most = 0;
    fill(a, "args S=7, T=20, D=2048\nq[S, D] : input\nkey[T, D] : input\n"
            "s[i:S, j:T] = sum(d:D) q[i, d]*key[j, d]\nh[i:S, j:T] : f16 = s[i, j]\n"
            "m[i:S] = max(j:T) h[i, j]\ne[i:S, j:T] = exp((h[i, j] - m[i])*0.02)\n");
    d.draw = 1;
    assert_true(at_dataset_fill(&d, 1));
    for (int i = 0; i < S; i++)
        for (int j = 0; j < T; j++) {
            double s = 0;
            for (int k = 0; k < DEPTH; k++)
                s += (double)values_of("q")[i * DEPTH + k] * values_of("key")[j * DEPTH + k];
            most = fmax(most, fabs(s));
        }
    if (!(most > 10000 && most < 65504)) fail_msg("sums of up to %g", most);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* An input may have no elements, as what is kept of earlier steps before the first one: it has no
 * place for a winner, and no row to lie far from 0. */
static void inputs_without_elements(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args G=2, T=64, P=1, D=8\nq[G, D] : input\npast[G, P - 1, D] : input\n"
        "now[G, T, D] : input\nkey[g:G, j:T, d:D] = j >= P - 1 ? now[g, j, d] : past[g, j, d]\n"
        "s[g:G, j:T] = sum(d:D) q[g, d]*key[g, j, d]\nm[g:G] = max(j:T) s[g, j]\n"
        "e[g:G, j:T] = exp(s[g, j] - m[g])\n",
        "args T=64, P=1\npast[P - 1] : input\nnow[T] : input\n"
        "mean[i:1] = sum(j:T) j < P - 1 ? past[j] : now[j]\n"
        "e[j:T] = j < P - 1 ? exp(past[j] - mean[0]) : exp(now[j])\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        at_arena *a = at_arena_new();
        fill(a, texts[i]);
        const int past = at_compute_find(d.compute, "past");
        assert_int_equal(d.size_bytes[past], 0);
        assert_int_equal(d.rule.num_draws, 2);
        for (int k = 0; k < d.rule.draw[1].extremes.len; k++)
            assert_int_not_equal(d.rule.draw[1].extremes.data[k].tensor, past);
        d.draw = 1;
        assert_true(at_dataset_fill(&d, 1));
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Where a number makes differences smaller, they are larger before. */
static void winners_times_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {"(x[n, m] - most[n])*0.125", "0.125*(x[n, m] - most[n])",
                                        "(x[n, m] - most[n])/8"};
    for (int i = 0; i < 3; i++) {
        at_arena *a = at_arena_new();
        fill(a, at_format(a,
                          "args N=30, M=50\nx[N, M] : input\nmost[n:N] = max(m:M) x[n, m]\n"
                          "a[n:N, m:M] = %s\nout[n:N, m:M] = exp(%s)*0.3\n",
                          texts[i], texts[i]));
        d.draw = 1;
        assert_true(at_dataset_fill(&d, 1));
        if (share_beyond(a, "a", 89) < 0.6) fail_msg("%s", texts[i]);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Which of several equal ones is the place of the largest is seen in the second draw alone, beside
 * integers as well; there all lie below 0. */
static void equal_winners(void **state) {
    (void)state;
    enum { ROWS = 20, TERMS = 90 };
    static const char *const places[][2] = {{"", "? k : inf"}, {" : s32", "? k : M"}};
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        int several[2] = {0}, with_last[2] = {0};
        fill_any(a, at_format(a,
                              "args N=20, M=90\nx[N, M] : input\nmost[n:N] = max(m:M) x[n, m]\n"
                              "place[n:N]%s = min(k:M) x[n, k] == most[n] %s\n",
                              places[i][0], places[i][1]));
        assert_int_equal(d.rule.num_draws, 2);
        for (d.draw = 0; d.draw < 2; d.draw++) {
            assert_true(at_dataset_fill(&d, 1));
            const float *x = values_of("x");
            for (int row = 0; row < ROWS; row++) {
                float most = x[row * TERMS];
                int times = 0;
                for (int k = 0; k < TERMS; k++) most = fmaxf(most, x[row * TERMS + k]);
                for (int k = 0; k < TERMS; k++) times += x[row * TERMS + k] == most;
                several[d.draw] += times > 1;
                with_last[row % 2] += times > 1 && x[row * TERMS + TERMS - 1] == most;
                if (d.draw) assert_true(most < 0);
            }
        }
        assert_int_equal(several[0], 0);
        assert_true(several[1] > ROWS / 4 && several[1] < ROWS);
        assert_true(with_last[0] && with_last[1]);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* ---- what is done with an element before it is compared -------------------------------------- */

enum { WINDOW_ROWS = 40, WINDOW_TERMS = 150 };

static float plus(int n, int k) { return values_of("x")[n * WINDOW_TERMS + k] + values_of("b")[k]; }
static float minus(int n, int k) {
    return values_of("b")[k] - values_of("x")[n * WINDOW_TERMS + k];
}
static float distance(int n, int k) {
    return fabsf(values_of("b")[n] - values_of("x")[n * WINDOW_TERMS + k]);
}
static float scaled(int n, int k) {
    return values_of("x")[n * WINDOW_TERMS + k] * values_of("b")[k];
}
static float above(int n, int k) { return fmaxf(values_of("x")[n * WINDOW_TERMS + k], 0); }

/* Rows have their best term at the first place and at the last on one draw or the other, by the
 * numbers of the element alone or beside others. */
static void winners_behind_operations(void **state) {
    (void)state;
    static const struct {
        const char *sizes, *stages;
        float (*term)(int n, int k);
        bool is_min, has_all;
    } cases[] = {
        {"b[K] : weight", "out[n:N] = max(k:K) x[n, k] + b[k]", plus, false, false},
        {"b[K] : weight", "out[n:N] = max(k:K) (b[k] - x[n, k])", minus, false, false},
        {"b[N] : weight", "out[n:N] = max(k:K) abs(b[n] - x[n, k])", distance, false, true},
        {"b[K] : weight", "out[n:N] = max(k:K) x[n, k]*b[k]", scaled, false, false},
        {"b[K] : weight", "out[n:N] = min(k:K) x[n, k]*b[k]", scaled, true, false},
        {"b[K] : weight", "r[n:N, k:K] = max(x[n, k], 0)\nout[n:N] = max(k:K) r[n, k] + b[0]*0",
         above, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        at_arena *a = at_arena_new();
        int at_first = 0, at_last = 0;
        fill_any(a, at_format(a, "args N=40, K=150\nx[N, K] : input\n%s\n%s\n", cases[i].sizes,
                              cases[i].stages));
        for (d.draw = 0; d.draw < d.rule.num_draws; d.draw++) {
            assert_true(at_dataset_fill(&d, 1));
            for (int n = 0; n < WINDOW_ROWS; n++) {
                const float sign = cases[i].is_min ? -1 : 1;
                float most = -INFINITY;
                for (int k = 0; k < WINDOW_TERMS; k++)
                    most = fmaxf(most, sign * cases[i].term(n, k));
                at_first += sign * cases[i].term(n, 0) == most;
                at_last += sign * cases[i].term(n, WINDOW_TERMS - 1) == most;
            }
        }
        if (!at_first || !at_last || (cases[i].has_all && at_first + at_last < 4))
            fail_msg("%s: %d, %d", cases[i].stages, at_first, at_last);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* A maximum, of windows too, that a number is added to is below 0 on the second draw: one that
 * begins at 0 is wrong there. A minimum is above 0. */
static void sums_of_windows_below_0(void **state) {
    (void)state;
    static const char *const texts[] = {
        "out[y:Y] = max(k:K) y + k >= 1 && y + k < Y + 1 ? x[y + k - 1] + b[k] : -inf",
        "out[y:Y] = max(k:K) y + k >= 1 && y + k < Y + 1 ? x[y + k - 1]*0.3 - b[k] : -inf",
        "out[y:Y] = min(k:K) y + k >= 1 && y + k < Y + 1 ? x[y + k - 1] - b[k] : inf",
    };
    for (int i = 0; i < 3; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, at_format(a, "args Y=200, K=3\nx[Y] : input\nb[K] : weight\n%s\n", texts[i]));
        assert_int_equal(d.rule.num_draws, 2);
        d.draw = 1;
        assert_true(at_dataset_fill(&d, 1));
        const double sign = i < 2 ? -1 : 1, of_b = i ? -sign : sign;
        for (int y = 0; y < 200; y++) assert_true(sign * (double)values_of("x")[y] > 0);
        for (int k = 0; k < 3; k++) assert_true(of_b * (double)values_of("b")[k] > 0);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Of a maximum of all so far each step may be the largest until then: of random numbers some seven
 * of a thousand are. A minimum is the other way round; and on the other draw the first steps stay.
 */
static void running_extremes(void **state) {
    (void)state;
    enum { STEPS = 1500 };
    static const char *const texts[] = {
        "out[i:2, t:T] = max(k:0..t + 1) x[i, k]",
        "out[i:2, t:T] = min(k:0..t + 1) x[i, k]",
        "out[i:2, t:T] = t > 0 ? max(out[i, t - 1], x[i, t]) : x[i, 0]",
    };
    for (int i = 0; i < 3; i++) {
        at_arena *a = at_arena_new();
        fill_any(a, at_format(a, "args T=1500\nx[2, T] : input\n%s\n", texts[i]));
        assert_int_equal(d.rule.num_draws, 2);
        for (d.draw = 0; d.draw < 2; d.draw++) {
            int changes = 0;
            assert_true(at_dataset_fill(&d, 1));
            const float *x = values_of("x"), sign = i == 1 ? -1 : 1;
            float most = -INFINITY;
            for (int t = 0; t < STEPS; t++) {
                changes += sign * x[t] > most;
                most = fmaxf(most, sign * x[t]);
            }
            if (d.draw ? changes > 20 : changes < STEPS / 16)
                fail_msg("%s: %d changes", texts[i], changes);
        }
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* Stages that each read the one before twice are looked through once: 2^40 ways lead to x. */
static void maxima_of_chosen(void **state) {
    (void)state;
    enum { STAGES = 40 };
    at_arena *a = at_arena_new();
    at_text text = {0};
    const char *of = "x";
    at_text_addf(&text, "args N=4\nx[N, %d] : input\n", STAGES + 2);
    for (int i = 0; i < STAGES; i++) {
        at_text_addf(&text, "s%d[n:N, m:%d] = m < 1 ? %s[n, m] : %s[n, m + 1]\n", i, STAGES + 1 - i,
                     of, of);
        of = at_format(a, "s%d", i);
    }
    at_text_addf(&text, "out[n:N] = max(m:2) %s[n, m]\n", of);
    fill_any(a, at_text_str(&text));
    assert_int_equal(d.rule.num_draws, 2);
    at_text_free(&text);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* What grows with which power of a factor is found in the same way: all stages are squares, or
 * twice what stands before, and a sum of the last is bounded. */
static void sizes_of_chains(void **state) {
    (void)state;
    enum { STAGES = 60 };
    at_arena *a = at_arena_new();
    at_text text = {0};
    at_text_addf(&text,
                 "args N=64\nx[N, 16] : input\nw[N] : weight\ns0[n:N, m:16] = x[n, m]*0.5\n");
    for (int i = 1; i < STAGES; i++)
        at_text_addf(&text,
                     i % 20 ? "s%d[n:N, m:16] = s%d[n, m]*0.9 + s%d[n, m]*0.1\n"
                            : "s%d[n:N, m:16] = s%d[n, m]*s%d[n, m]\n",
                     i, i - 1, i - 1);
    at_text_addf(&text,
                 "t[n:N] = sum(m:16) s%d[n, m]*w[n]\nout[n:N] = min(max(t[n], 0), 6)\n"
                 "a[n:N] = t[n] + 0.0\n",
                 STAGES - 1);
    fill(a, at_text_str(&text));
    assert_true(share_beyond(a, "a", 6) > 0.1 && share_beyond(a, "a", 6) < 0.9);
    at_text_free(&text);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* A quotient levels nothing off. */
static void sums_that_stay_large(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill(a, SHAPES PRODUCT "out[n:N, m:M] = s[n, m] / (b[m] * b[m] + 1)\n");
    assert_true(largest("w") > 4);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Squares of differences and other polynomials: arguments, which are outputs beside the function,
 * are moderate, and are not all near 0. */
static void other_arguments(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args H=40, W=50\nx[H + 4, W + 4] : input\ng[5, 5] : weight\n"
        "a[h:H, w:W, i:5, j:5] ="
        " -8.0 * (x[h + i, w + j] - x[h + 2, w + 2]) * (x[h + i, w + j] - x[h + 2, w + 2])\n"
        "out[h:H, w:W] = sum(i:5, j:5) g[i, j]"
        " * exp(-8.0 * (x[h + i, w + j] - x[h + 2, w + 2]) * (x[h + i, w + j] - x[h + 2, w + "
        "2]))\n",
        "args Q=30, N=70, D=3\nq[Q, D] : input\nx[N, D] : input\n"
        "d2[i:Q, j:N] = sum(k:D) (q[i, k] - x[j, k]) * (q[i, k] - x[j, k])\n"
        "a[i:Q, j:N] = -2.0 * d2[i, j]\n"
        "out[i:Q] = sum(j:N) exp(-2.0 * d2[i, j])\n",
        "args N=300, K=20\nx[N] : input\nc[K] : weight\ng[K] : weight\n"
        "a[n:N, k:K] = g[k] * (x[n] - c[k]) * (x[n] - c[k]) * (x[n] - c[k])\n"
        "out[n:N, k:K] = tanh(g[k] * (x[n] - c[k]) * (x[n] - c[k]) * (x[n] - c[k]))\n",
        "args V=200, E=900\nx[V] : input\nstart[V + 1] : index\nto[E] : index\n"
        "a[v:V] = sum(e:start[v]..start[v + 1]) 30.0 * x[to[e]]\n"
        "out[v:V] = sigmoid(a[v])\nb[v:V] = a[v] + 0.0\n",
        "args N=100, K=40\nx[N] : input\ny[N, K] : input\n"
        "most[n:N] = max(k:K) y[n, k]\n"
        "a[n:N] = x[n] * x[n] * 3.0\n"
        "out[n:N] = exp(x[n] * x[n] * 3.0) + sqrt(abs(most[n]))\n"
        "b[n:N] = a[n] + 0.0\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        at_arena *a = at_arena_new();
        fill(a, texts[i]);
        const char *name = at_compute_find(d.compute, "b") >= 0 ? "b" : "a";
        double large = share_beyond(a, name, 20), small = share_beyond(a, name, 1);
        if (large > 0.25 || small < 0.25)
            fail_msg("text %zu: beyond 20 are %g, beyond 1 %g", i, large, small);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

/* What makes an argument large is not the data: they are not made smaller and smaller. */
static void arguments_that_stay(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    fill(a, "args N=300, K=33\nx[N] : input\n"
            "out[k:K] = sum(n:N) exp(-0.5 * (x[n] * 8.0 - k) * (x[n] * 8.0 - k))\n");
    assert_true(largest("x") > 0.5);
    at_dataset_free(&d);
    fill(a, "args N=300\nx[N] : input\nout[n:N] = exp(x[n]) + sigmoid(x[n])\n");
    assert_true(largest("x") > 7);
    at_dataset_free(&d);
    fill(a, "args N=300\nx[N] : input\n"
            "out[n:N, m:N] = exp(m <= n ? x[n] * 0.5 : -inf)\n");
    assert_true(largest("x") > 7);
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Who asked for an end while an index tensor is filled, or normal numbers are, gets it; what the
 * time ended before is not called filled. */
static void filling_is_stopped(void **state) {
    (void)state;
    at_arena *a = at_arena_new();
    const volatile int stop = 1;
    fill(a, "args N=100\nx[N] : input\nrows[N] : index\nout[n:N] = exp(x[rows[n]])\n");
    const int tensor = at_compute_find(d.compute, "rows");
    int32_t *rows = at_store_at(d.store, d.offset[tensor]);
    float *x = at_store_at(d.store, d.offset[at_compute_find(d.compute, "x")]);
    for (int i = 0; i < 2; i++) { /* random ones; then one and the same */
        memset(rows, 0, (size_t)d.size_bytes[tensor]);
        d.stop = &stop;
        assert_true(at_dataset_fill(&d, 1));
        assert_int_equal(rows[0], 0);
        assert_int_equal(rows[99], 0);
        x[99] = 0;
        assert_true(at_dataset_fill_normal(&d, 1));
        assert_true(x[99] == 0);
        d.stop = NULL;
        d.deadline_ns = 1;
        assert_false(at_dataset_fill(&d, 1));
        assert_false(at_dataset_fill_normal(&d, 1));
        d.deadline_ns = 0;
        assert_true(at_dataset_fill_normal(&d, 1));
        assert_true(at_dataset_fill(&d, 1));
        assert_int_not_equal(rows[0] + rows[99], 0);
        d.entries[tensor] = (at_index_range){.lo = 5, .hi = 5};
    }
    at_dataset_free(&d);
    at_arena_free(a);
}

/* Where an output says little its inputs become smaller, all of them alike; not floats beside
 * integers, nor the winners of their rows. */
static void smaller_inputs(void **state) {
    (void)state;
    static const struct {
        const char *name, *type;
        bool shrinks;
    } cases[] = {{"floats", "", true}, {"bytes", " s8", false}};
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        fill(a, at_format(a,
                          "args N=20, M=90\nx[N, M] : input\ny[N, M] : input%s\n"
                          "most[n:N] = max(m:M) x[n, m]\n"
                          "out[n:N, m:M] = exp(x[n, m] - most[n])*y[n, m]\n",
                          cases[i].type));
        const double before = largest("x");
        assert_true(at_dataset_shrink(&d, 4) == cases[i].shrinks);
        assert_true(at_dataset_fill(&d, 1));
        if (largest("x") != (cases[i].shrinks ? before / 4 : before))
            fail_msg("%s: %g, %g before", cases[i].name, largest("x"), before);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_of_steps),
        cmocka_unit_test(numbers_of_channels),
        cmocka_unit_test(far_arguments),
        cmocka_unit_test(far_products),
        cmocka_unit_test(far_squares),
        cmocka_unit_test(few_integers),
        cmocka_unit_test(halves_of_bytes),
        cmocka_unit_test(functions_beside_bytes),
        cmocka_unit_test(halves_of_divided),
        cmocka_unit_test(halves_of_floats),
        cmocka_unit_test(scales_of_bytes),
        cmocka_unit_test(winners_of_rows),
        cmocka_unit_test(rows_by_eight),
        cmocka_unit_test(winners_among_wholes),
        cmocka_unit_test(sums_before_functions),
        cmocka_unit_test(sums_of_inputs),
        cmocka_unit_test(sums_that_stay_large),
        cmocka_unit_test(other_arguments),
        cmocka_unit_test(below_maximum),
        cmocka_unit_test(bounds_behind_numbers),
        cmocka_unit_test(maxima_below_0),
        cmocka_unit_test(maxima_of_chosen),
        cmocka_unit_test(winners_behind_operations),
        cmocka_unit_test(sums_of_windows_below_0),
        cmocka_unit_test(running_extremes),
        cmocka_unit_test(arguments_that_stay),
        cmocka_unit_test(filling_is_stopped),
        cmocka_unit_test(sizes_of_chains),
        cmocka_unit_test(equal_winners),
        cmocka_unit_test(smaller_inputs),
        cmocka_unit_test(lone_bounds),
        cmocka_unit_test(ends_of_axes),
        cmocka_unit_test(bounds_beside_overflow),
        cmocka_unit_test(rounded_values),
        cmocka_unit_test(bounds_of_distances),
        cmocka_unit_test(places_of_values),
        cmocka_unit_test(winners_of_products),
        cmocka_unit_test(winners_times_numbers),
        cmocka_unit_test(products_on_both_sides),
        cmocka_unit_test(products_in_halves),

        cmocka_unit_test(inputs_without_elements),
    };
    return cmocka_run_group_tests_name("engine/dataset", tests, NULL, NULL);
}
