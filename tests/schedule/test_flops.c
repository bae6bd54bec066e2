/* Work, bounds and the exact range of a computation. */
#include "tests/schedule/examples.h"

#include <math.h>

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
    fixture_text(&f, "N=5", "x[N] : input\no[i:N] = sum(k: 0 .. i + 1) x[k] + x[i]");
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 15, 0);
    fixture_close(&f);
    /* of a running sum each element has one term more than the one before */
    fixture_text(&f, "N=5", "x[N] : input\no[i:N] = sum(k: 0 .. i + 1) x[k]");
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 5, 0);
    fixture_close(&f);
    /* each product that is added or taken away */
    fixture_text(&f, "N=5",
                 "x[N] : input\ny[N] : input\n"
                 "o[i:N] = sum(k:N) x[i]*y[k] - x[k]*(y[i] - x[i]) + y[k]");
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 2 * 25, 0);
    fixture_close(&f);
    /* with entries of index tensors, too, and not with places */
    fixture_text(&f, "N=5",
                 "x[N] : input\nw[N, N] : index\n"
                 "o[i:N] = sum(k:N) x[k]*(w[i, k]%16 - 8) + x[i]*(w[i, k]/16) "
                 "+ x[k]*(k + 1)");
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 2 * 25, 0);
    fixture_close(&f);
}

/* Products that entries of an index tensor leave out, themselves or through what is read, where
 * these are known; what values decide counts. */
static void flops_by_data(void **state) {
    (void)state;
    static const char *const texts[] = {
        "s[3] : index\nx[N] : input\n"
        "o[e:2, i:N] = sum(k:N) (s[e] <= i && i < s[e + 1] ? x[k]*x[i] : 0)",
        "s[3] : index\nx[N] : input\n"
        "y[e:2, i:N] = i < s[e + 1] && !(i < s[e]) ? x[i] : 0\n"
        "o[e:2, i:N] = sum(k:N) x[k]*y[e, i]",
        "s[3] : index\nx[N] : input\n"
        "o[e:2, i:N] = sum(k:N) (s[e] <= i && i < s[e + 1] && x[k] > 0 ? x[k]*x[i] : 0)"};
    static int32_t starts[] = {0, 2, 3};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fixture f;
        fixture_text(&f, "N=5", texts[i]);
        at_data *data = AT_NEW_ARRAY(f.arena, at_data, f.compute->num_tensors);
        assert_float_equal(at_compute_flops(f.compute, f.values, data), 2.0 * 50, 0);
        data[0].i = starts;
        assert_float_equal(at_compute_flops(f.compute, f.values, data), 2.0 * 15, 0);
        fixture_close(&f);
    }
}

/* Products of zeros in between are counted by hand; those with padding count. */
static void flops_of_remainders(void **state) {
    (void)state;
    static const char *const texts[] = {
        /* through a stage, and without one */
        "d[H, C] : input\nw[K, C] : input\n"
        "s[y:H*S + K, c:C] = p <= y && (y - p)%S == 0 && (y - p)/S < H ? d[(y - p)/S, c] : 0\n"
        "o[i:H*S] = sum(r:K, c:C) s[i + r, c]*w[r, c]",
        "d[H, C] : input\nw[K, C] : input\n"
        "o[i:H*S] = sum(r:K, c:C) w[r, c]*((i + r - p)%S == 0 && (i + r - p)/S < H && p <= i + r ?"
        " d[(i + r - p)/S, c] : 0)"};
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (int h = 1; h <= 5; h += 2)
            for (int s = 1; s <= 4; s++)
                for (int k = 1; k <= 5; k++)
                    for (int p = 0; p < 3; p++) {
                        fixture f;
                        char sizes[64];
                        int64_t products = 0;
                        snprintf(sizes, sizeof sizes, "H=%d, C=3, S=%d, K=%d, p=%d", h, s, k, p);
                        fixture_text(&f, sizes, texts[t]);
                        for (int i = 0; i < h * s; i++)
                            for (int r = 0; r < k; r++) products += 3 * ((i + r - p) % s == 0);
                        assert_float_equal(at_compute_flops(f.compute, f.values, NULL),
                                           2.0 * (double)products, 0);
                        fixture_close(&f);
                    }
}

/* Two remainders of the same axes hold together more seldom than each by itself; where a size of a
 * sum is data nothing is told. */
static void flops_of_several_remainders(void **state) {
    (void)state;
    fixture f;
    fixture_text(&f, "N=12",
                 "x[N] : input\ny[N] : input\n"
                 "o[i:N] = sum(k:N) (i%2 == 0 ? x[k] : 0)*(i%3 == 0 ? y[k] : 0)");
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 12 * 2, 0);
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\ny[N] : input\n"
                                   "o[i:N] = sum(k:N) (i%2 == 0 ? x[k] : 0)*(k%3 == 0 ? y[k] : 0)",
                                   "c", &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 6 * 4, 0);
    assert_ok(&f, at_compute_parse(f.arena, &f.symbols,
                                   "x[N] : input\ny[N] : input\n"
                                   "o[i:N] = sum(k: 0 .. i + 1) (i%2 == 0 ? x[k] : 0)*y[k]",
                                   "c", &f.compute, &f.err));
    assert_float_equal(at_compute_flops(f.compute, f.values, NULL), 2.0 * 78, 0);
    fixture_close(&f);
}

static void check_range(const char *sizes, const char *text, int64_t dynamic, int range) {
    fixture f;
    fixture_text(&f, sizes, text);
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
    /* bounds over axes and sizes say how many terms there are, whatever data may be elsewhere */
    static const char running[] = "x[4] : input\no[i:K] = sum(e: 0 .. i + 1) x[e%4]*x[e%4]",
                      lag[] = "x[4] : input\no[i:K] = sum(e: 0 .. i) x[e%4]*x[e%4]",
                      twice[] = "x[9] : input\np[5] : index\no[i:4, j:K] = "
                                "sum(e: p[i] .. p[i + 1], k: j .. 3*j) x[e]*x[k%9]",
                      words[] = "x[K] : input\np[K] : index\n"
                                "o[i:1] = sum(k:K) (p[k] >> 3 & 15)*x[k]";
    check_range("K=262144", running, 0, 8);
    check_range("K=262145", running, 0, 7);
    check_range("K=262145", running, -1, 7);
    check_range("K=262145", lag, 0, 8);
    check_range("K=262146", lag, 0, 7);
    check_range("K=683", twice, 128, 8); /* 64 * 128 * from 0 to 3 * 682 */
    check_range("K=684", twice, 128, 7);
    check_range("K=2", twice, -1, 0);
    static const char ends[] = "x[4] : input\np[K] : index\n"
                               "o[i:K] = sum(e: 0 .. (p[i] & 262143)) x[e%4]*x[e%4]";
    check_range("K=2", ends, 0, 8);
    check_range("K=139810", words, 0, 8); /* 8 * 15 * K */
    check_range("K=139811", words, 0, 7);
    /* multiples of a power of two are as good as integers: so many of them fit a float */
    check_range("K=4", "x[K] : input\no[i:K] = x[i]*0.5", 0, 8);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]/4", 0, 8);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]/3", 0, 0);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]*0.1", 0, 0);
    check_range("K=2097152", "x[K] : input\no[i:1] = sum(k:K) x[k]*0.25", 0, 8);
    check_range("K=2097153", "x[K] : input\no[i:1] = sum(k:K) x[k]*0.25", 0, 7);
    check_range("K=4", "x[K] : input\no[i:K] = x[i]*0.125 + x[i]*2097152", 0, 0);
    check_range("K=4", "x[K] : input\no[i:K] = floor(x[i]*0.125)*3", 0, 8);
    check_range("K=4", "x[K] : input\nT[i:2] = {0.5, -1}\no[i:K] = x[i]*T[i/K]", 0, 8);
    check_range("K=4", "x[K] : input\nT[i:2] = {0.3, -1}\no[i:K] = x[i]*T[i/K]", 0, 0);
    /* step by step: sums grow, halves become finer, the largest so far stays what it is */
    check_range("K=16384", "x[K] : input\no[i:K] = (i > 0 ? o[i - 1] : 0) + x[i]", 0, 8);
    check_range("K=16385", "x[K] : input\no[i:K] = (i > 0 ? o[i - 1] : 0) + x[i]", 0, 0);
    check_range("K=19", "x[K] : input\no[i:K] = (i > 0 ? o[i - 1]*0.5 : 0) + x[i]", 0, 8);
    check_range("K=40", "x[K] : input\no[i:K] = (i > 0 ? o[i - 1]*0.5 : 0) + x[i]", 0, 0);
    check_range("K=99999999", "x[K] : input\no[i:K] = max(i > 0 ? o[i - 1] : 0, x[i])", 0, 8);
    check_range("K=4194305", "x[K] : input\no[i:K] = max(i*4, x[i])", 0, 8);
    check_range("K=4194306", "x[K] : input\no[i:K] = max(i*4, x[i])", 0, 0);
}

static void test_bound(void **state) {
    (void)state;
    fixture f;
    double ratio;
    fixture_open(&f, &conv_gemm);
    assert_float_equal(at_compute_bound(f.compute, f.values, 8, NULL, 0, &ratio), 64 * 27, 0);
    assert_float_equal(at_compute_bound(f.compute, f.values, 0.5, NULL, 0, &ratio), 0.25 * 27, 0);
    fixture_close(&f);
    fixture_open(&f, &sparse);
    assert_float_equal(at_compute_bound(f.compute, f.values, 1, NULL, 7, &ratio), 7 * 3, 0);
    assert_true(isinf(at_compute_bound(f.compute, f.values, 1, NULL, -1, &ratio)));
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flops),          cmocka_unit_test(flops_by_data),
        cmocka_unit_test(flops_of_remainders), cmocka_unit_test(flops_of_several_remainders),
        cmocka_unit_test(test_range),          cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
