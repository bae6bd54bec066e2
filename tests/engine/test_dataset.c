/* How large data are: sums that a function levels off are moderate, others as large as they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "engine/dataset.h"
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

static void fill(at_arena *a, const char *text) {
    at_error err;
    at_config config;
    int64_t *values;
    const at_task *t = task_of_text(a, "own.te", text, "");
    const at_compute *c = at_task_compute(t);
    const int **layouts = AT_NEW_ARRAY(a, const int *, c->num_tensors);
    if (at_task_default_config(a, t, 8, &config, &err) != AT_OK ||
        at_task_values(a, t, &config, &values, &err) != AT_OK ||
        at_dataset_new(a, c, values, layouts, NULL, &d, &err) != AT_OK ||
        at_dataset_expect(&d, &err) != AT_OK)
        fail_msg("%s", err.text);
    assert_false(d.is_exact);
    assert_true(at_dataset_fill(&d, 1));
}

#define SHAPES "args N=3, M=5, K=512\nx[N, K] : input\nw[K, M] : weight\nb[M] : weight\n"
#define PRODUCT "s[n:N, m:M] = sum(k:K) x[n, k] * w[k, m]\n"

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

/* Without the maximum the exponential overflows; and a quotient levels nothing off. */
static void sums_that_stay_large(void **state) {
    (void)state;
    static const char *const texts[] = {
        SHAPES PRODUCT "most[n:N] = max(m:M) s[n, m]\n"
                       "out[n:N, m:M] = exp(s[n, m] - most[n]) * b[m]\n",
        SHAPES PRODUCT "out[n:N, m:M] = s[n, m] / (b[m] * b[m] + 1)\n",
    };
    for (int i = 0; i < 2; i++) {
        at_arena *a = at_arena_new();
        fill(a, texts[i]);
        assert_true(largest("w") > 4);
        at_dataset_free(&d);
        at_arena_free(a);
    }
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

int main(void) {
    at_sketches_for_templates();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_before_functions),
        cmocka_unit_test(sums_of_inputs),
        cmocka_unit_test(sums_that_stay_large),
        cmocka_unit_test(filling_is_stopped),
    };
    return cmocka_run_group_tests_name("engine/dataset", tests, NULL, NULL);
}
