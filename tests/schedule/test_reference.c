/* The naive C gives what the interpreter gives; work, bounds and the exact range. */
#include "tests/schedule/examples.h"

#include <math.h>
#include <string.h>

/* Compiles without a warning and runs. */
static void check_reference(fixture *f, const char *what) {
    at_text source = {0};
    int64_t workspace_bytes, **extents;
    assert_ok(f, at_compute_interpret(f->arena, f->compute, f->values, f->data, &f->err));
    assert_ok(f, at_compute_extents(f->arena, f->compute, f->values, &extents, &f->err));
    assert_ok(f, at_compute_reference_c(f->arena, f->compute, f->values, "reference", &source,
                                        &workspace_bytes, &f->err));
    naive_entry *run = fixture_compile(f, source.data);
    void *buf[16] = {0};
    const float *expected[16];
    int64_t size[16];
    int inputs = 0, total;
    for (int t = 0; t < f->compute->num_tensors; t++)
        if (f->compute->tensors[t].role != AT_ROLE_STAGE)
            buf[inputs++] = f->data[t].i ? (void *)f->data[t].i : (void *)f->data[t].f;
    total = inputs;
    for (int t = 0; t < f->compute->num_tensors; t++) {
        const at_tensor *x = &f->compute->tensors[t];
        if (!x->is_output) continue;
        size[total] = (int64_t)sizeof(float);
        for (int i = 0; i < x->num_axes; i++) size[total] *= extents[t][i];
        expected[total] = f->data[t].f;
        buf[total] = at_alloc(f->arena, (size_t)size[total]);
        total++;
    }
    void *workspace = at_alloc(f->arena, (size_t)workspace_bytes);
    memset(workspace, 0xff, (size_t)workspace_bytes); /* NaN */
    assert_int_equal(run(buf, workspace, NULL), 0);
    for (int i = inputs; i < total; i++)
        if (memcmp(buf[i], expected[i], (size_t)size[i]))
            fail_msg("%s differs:\n%s", what, source.data);
    at_text_free(&source);
}

static void test_examples(void **state) {
    (void)state;
    for (int i = 0; i < num_examples; i++) {
        fixture f;
        fixture_open(&f, examples[i]);
        fixture_fill(&f, (uint64_t)i);
        check_reference(&f, examples[i]->name);
        fixture_close(&f);
    }
}

/* Floored division, every operator, two outputs, an input nobody reads, a triangular reduction. */
static void test_operators(void **state) {
    (void)state;
    fixture f;
    fixture_sizes(&f, "N=6, E=6, K=6, C=1");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\n"
                                   "unread[3] : input\n"
                                   "indices[N] : index\n"
                                   "o[i:N, j:N] = (i - j)/3 + (j - i)%4 + x[max(i - j, 0)]*0.5\n"
                                   "for[i:N, long:N] = !(x[i] > x[long]) || i == 2 && long != 1 ? "
                                   "min(x[i], 1.5) : -x[indices[i]] + max(i, 2)\n"
                                   "t[i:N] = sum(k:N, h: 0 .. k + 1) x[h] - 2 + for[i, h]\n",
                                   "c", &f.compute, &f.err));
    fixture_fill(&f, 4);
    check_reference(&f, "operators");
    fixture_close(&f);
}

static void test_flops(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &conv_gemm);
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 35 * 6 * 27, 0);
    fixture_close(&f);
    fixture_open(&f, &conv_direct);
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 2 * 8 * 5 * 7 * 6 * 3 * 2,
                       0);
    fixture_close(&f);
    /* stored blocks only, and only where something is multiplied */
    fixture_open(&f, &sparse);
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), -1, 0);
    fixture_fill(&f, 1);
    assert_float_equal(at_compute_flops(f.compute, f.values, f.data), 2.0 * 6 * 7 * 2 * 3, 0);
    fixture_close(&f);
    /* nothing is: the sums count */
    fixture_sizes(&f, "N=5");
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\no[i:N] = sum(k: 0 .. i + 1) x[k]", "c",
                                   &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 15, 0);
    fixture_close(&f);
}

static void check_range(const char *sizes, const char *text, int64_t dynamic, int range) {
    fixture f;
    fixture_sizes(&f, sizes);
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
    assert_int_equal(at_compute_exact_range(f.compute, f.values, NULL, dynamic), range);
    fixture_close(&f);
}

static void test_range(void **state) {
    (void)state;
    static const char gemm[] = "x[4, K] : input\nw[5, K] : weight\n"
                               "o[i:4, j:5] = sum(k:K) x[i, k]*w[j, k]";
    check_range("K=1", gemm, 0, 8);
    check_range("K=262144", gemm, 0, 8);
    check_range("K=262145", gemm, 0, 7);
    check_range("K=16777216", gemm, 0, 1);
    check_range("K=16777217", gemm, 0, 0);
    static const char bias[] = "x[K] : input\nb[1] : input\n"
                               "s[i:1] = sum(k:K) (k < 3 ? x[k]*x[k] : 0)\n"
                               "o[i:1] = s[i] - b[i]*2";
    check_range("K=262143", bias, 0, 8); /* 64 * 262143 + 16 */
    check_range("K=262144", bias, 0, 7);
    static const char rows[] = "x[9] : input\np[5] : index\n"
                               "o[i:4] = sum(e: p[i] .. p[i + 1]) x[e]*x[e]";
    check_range("K=1", rows, 262144, 8);
    check_range("K=1", rows, 262145, 7);
    check_range("K=1", rows, -1, 0);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]*0.5", 0, 0);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]/4", 0, 0);
    check_range("K=4194305", "x[K] : input\no[i:K] = max(i*4, x[i])", 0, 8);
    check_range("K=4194306", "x[K] : input\no[i:K] = max(i*4, x[i])", 0, 0);
}

static void test_bound(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &conv_gemm);
    assert_float_equal(at_compute_bound(f.compute, f.values, 8, NULL, 0), 64 * 27, 0);
    assert_float_equal(at_compute_bound(f.compute, f.values, 0.5, NULL, 0), 0.25 * 27, 0);
    fixture_close(&f);
    fixture_open(&f, &sparse);
    assert_float_equal(at_compute_bound(f.compute, f.values, 1, NULL, 7), 7 * 3, 0);
    assert_true(isinf(at_compute_bound(f.compute, f.values, 1, NULL, -1)));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples), cmocka_unit_test(test_operators),
        cmocka_unit_test(test_flops),    cmocka_unit_test(test_range),
        cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
