/* How large data are: sums that a function levels off are moderate, others as large as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "tests/engine/filled_dataset.h"

enum { K = 512 };

static double largest(const char *name) {
    double most = 0;
    const float *p = values_of(name);
    int64_t n = d.size_bytes[at_compute_find(d.compute, name)] / 4;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs((double)p[i]));
    return most;
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

/* ---- what is done with an element before it is compared -------------------------------------- */

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

/* Where a maximum alone looks at elements, each lane meets some that are not a number; a sum with
 * one of these would hide all of its other terms. */
static void not_numbers(void **state) {
    (void)state;
    static const char *const texts[] = {
        "args M=64, N=48\nx[M, N] : input\ny[m:M] = max(n:N) x[m, n]\n",
        "args M=64, N=48\nx[M, N] : input\ny[m:M] = sum(n:N) exp(x[m, n])\n"};
    enum { SIZE = 64 * 48, LANES = 16 };
    for (int sums = 0; sums < 2; sums++) {
        at_arena *a = at_arena_new();
        int all = 0, of_lane[LANES] = {0};
        fill_any(a, texts[sums]);
        at_dataset_add_specials(&d, 3);
        const float *x = values_of("x");
        for (int i = 0; i < SIZE; i++) all += isnan(x[i]), of_lane[i % LANES] += isnan(x[i]);
        for (int i = 0; i < LANES && !sums; i++)
            assert_true(of_lane[i] >= SIZE / LANES / LANES - 4);
        assert_true(sums ? all == 1 : all <= SIZE / LANES + 1);
        at_dataset_free(&d);
        at_arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(factors_of_steps),      cmocka_unit_test(numbers_of_channels),
        cmocka_unit_test(far_arguments),         cmocka_unit_test(far_products),
        cmocka_unit_test(far_squares),           cmocka_unit_test(sums_before_functions),
        cmocka_unit_test(sums_of_inputs),        cmocka_unit_test(sums_that_stay_large),
        cmocka_unit_test(other_arguments),       cmocka_unit_test(below_maximum),
        cmocka_unit_test(bounds_behind_numbers), cmocka_unit_test(arguments_that_stay),
        cmocka_unit_test(filling_is_stopped),    cmocka_unit_test(sizes_of_chains),
        cmocka_unit_test(smaller_inputs),        cmocka_unit_test(rounded_values),
        cmocka_unit_test(bounds_of_distances),   cmocka_unit_test(places_of_values),
        cmocka_unit_test(winners_times_numbers), cmocka_unit_test(not_numbers),
    };
    return cmocka_run_group_tests_name("engine/dataset", tests, NULL, NULL);
}
