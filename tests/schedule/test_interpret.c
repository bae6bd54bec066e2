/* The interpreter of expressions against loops written by hand, which share nothing with it. */
#include "tests/schedule/examples.h"

#include <math.h>

static float *result(fixture *f, const char *name) {
    return f->data[at_compute_find(f->compute, name)].f;
}

static void run(fixture *f, uint64_t seed) {
    fixture_fill(f, seed);
    assert_ok(f, at_compute_interpret(f->arena, f->compute, f->values, f->data, &f->err));
}

static void test_conv(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &conv_gemm);
    run(&f, 11);
    enum { H = 7, W = 5, CI = 3, CO = 6 };
    const float *data = result(&f, "data"), *weight = result(&f, "weight"),
                *out = result(&f, "out");
    for (int h = 0; h < H; h++)
        for (int w = 0; w < W; w++)
            for (int co = 0; co < CO; co++) {
                double sum = 0;
                for (int kh = 0; kh < 3; kh++)
                    for (int kw = 0; kw < 3; kw++)
                        for (int ci = 0; ci < CI; ci++) {
                            int ih = h + kh - 1, iw = w + kw - 1;
                            if (ih < 0 || ih >= H || iw < 0 || iw >= W) continue;
                            sum += (double)data[(ih * W + iw) * CI + ci] *
                                   (double)weight[co * 9 * CI + (kh * 3 + kw) * CI + ci];
                        }
                assert_float_equal(out[(h * W + w) * CO + co], sum, 0);
            }
    fixture_close(&f);
}

/* Strides, dilation, uneven padding; channels in blocks of i and o. */
static void test_direct(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &conv_direct);
    run(&f, 12);
    enum { N = 2, IC = 6, IH = 9, IW = 7, OC = 8, KH = 3, KW = 2, SH = 2, SW = 1, DH = 1, DW = 2 };
    enum { PT = 1, PL = 2, BI = 3, BO = 4, OH = 5, OW = 7 };
    assert_int_equal(fixture_value(&f, "OH"), OH);
    assert_int_equal(fixture_value(&f, "OW"), OW);
    const float *data = result(&f, "data"), *weight = result(&f, "weight"),
                *out = result(&f, "out");
    for (int at = 0; at < N * OC * OH * OW; at++) {
        int b = at % BO, w = at / BO % OW, h = at / BO / OW % OH,
            co = at / BO / OW / OH % (OC / BO);
        int n = at / BO / OW / OH / (OC / BO);
        double sum = 0;
        for (int ci = 0; ci < IC; ci++)
            for (int kh = 0; kh < KH; kh++)
                for (int kw = 0; kw < KW; kw++) {
                    int y = h * SH + kh * DH - PT, x = w * SW + kw * DW - PL;
                    if (y < 0 || y >= IH || x < 0 || x >= IW) continue;
                    int d = (((n * (IC / BI) + ci / BI) * IH + y) * IW + x) * BI + ci % BI;
                    int k =
                        ((((co * (IC / BI) + ci / BI) * KH + kh) * KW + kw) * BI + ci % BI) * BO +
                        b;
                    sum += (double)data[d] * (double)weight[k];
                }
        assert_float_equal(out[at], sum, 0);
    }
    fixture_close(&f);
}

/* Stored blocks against the dense matrix they stand for. */
static void test_sparse(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f, &sparse);
    run(&f, 13);
    enum { Y = 6, K = 12, X = 8, R = 2, C = 3, E = 7 };
    const float *a = result(&f, "im2col"), *blocks = result(&f, "blocks"), *out = result(&f, "out");
    const int32_t *indptr = f.data[at_compute_find(f.compute, "indptr")].i;
    const int32_t *indices = f.data[at_compute_find(f.compute, "indices")].i;
    double dense[X][K] = {{0}};
    assert_int_equal(indptr[1], 0); /* an empty row */
    assert_int_equal(indptr[X / R], E);
    for (int xr = 0; xr < X / R; xr++)
        for (int e = indptr[xr]; e < indptr[xr + 1]; e++)
            for (int r = 0; r < R; r++)
                for (int c = 0; c < C; c++)
                    dense[xr * R + r][indices[e] * C + c] += (double)blocks[(e * R + r) * C + c];
    for (int y = 0; y < Y; y++)
        for (int x = 0; x < X; x++) {
            double sum = 0;
            for (int k = 0; k < K; k++) sum += (double)a[y * K + k] * dense[x][k];
            assert_float_equal(out[y * X + x], sum, 0);
        }
    fixture_close(&f);
}

/* Each operator once, on negative numbers too. */
static void test_operators(void **state) {
    (void)state;
    static const struct {
        const char *body;
        double value[4];
    } cases[] = {
        {"(i - 2)/3", {-1, -1, 0, 0}},
        {"(i - 2)%3", {1, 2, 0, 1}},
        {"97 >> i%4*2 & 7", {1, 0, 6, 1}},
        {"(i + 1) << (i < 2 ? 3 : 3 - i%4)", {8, 16, 6, 4}},
        {"-x[i]*2", {-2, 4, -6, 8}},
        {"x[i]/2", {0.5, -1, 1.5, -2}},
        {"min(i, 2) + max(x[i], 0)", {1, 1, 5, 2}},
        {"x[i] > 0 && i < 2 ? 1 : 0", {1, 0, 0, 0}},
        {"!(x[i] > 0) || i == 2 ? 1.5 : i", {0, 1.5, 1.5, 1.5}},
        {"i != 1 ? x[i] - 0.5 : N", {0.5, 4, 2.5, -4.5}},
        {"0 < i <= 2 ? x[i - 1] : x[3 - i]", {-4, 1, -2, 1}},
        {"x[i] >= 3 || x[i] == -2 ? i : x[i] <= -4 ? 9 : 0", {0, 1, 2, 9}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fixture f;
        fixture_sizes(&f, "N=4");
        const char *text = at_format(f.arena, "x[N] : input\no[i:N] = %s\n", cases[k].body);
        float x[4] = {1, -2, 3, -4}, o[4];
        at_data data[2] = {{.f = x}, {.f = o}};
        assert_ok(&f, at_compute_parse(f.arena, &f.symbols, text, "c", &f.compute, &f.err));
        assert_ok(&f, at_compute_interpret(f.arena, f.compute, f.values, data, &f.err));
        for (int i = 0; i < 4; i++)
            if ((double)o[i] != cases[k].value[i])
                fail_msg("%s at %d: %g, expected %g", cases[k].body, i, (double)o[i],
                         cases[k].value[i]);
        fixture_close(&f);
    }
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"x[N] : input\no[i:N] = x[i + 1]",
         "c:2: \"o\" reads x[4], outside of dimension 1 with extent 4"},
        {"x[N, 2] : input\no[i:N] = sum(k:N) x[i, k]",
         "c:2: \"o\" reads x[0, 2], outside of dimension 2 with extent 2"},
        {"x[N] : input\no[i:N] = x[(i - 1)*N]",
         "c:2: \"o\" reads x[-4], outside of dimension 1 with extent 4"},
        {"x[N] : input\no[i:N] = x[i*L*L]", "c:2: \"o\": i*L*L exceeds 2^63"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        fixture f;
        fixture_sizes(&f, "N=4, L=4611686018427387904");
        assert_ok(&f,
                  at_compute_parse(f.arena, &f.symbols, cases[k].text, "c", &f.compute, &f.err));
        fixture_fill(&f, 1);
        assert_int_equal(at_compute_interpret(f.arena, f.compute, f.values, f.data, &f.err),
                         AT_E_INPUT);
        assert_string_equal(f.err.text, cases[k].message);
        fixture_close(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),    cmocka_unit_test(test_direct),
        cmocka_unit_test(test_sparse),  cmocka_unit_test(test_operators),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
