/* Outputs that bounds cut, or their types: on some set of data a quarter and more of the elements
 * lie between, whatever a computation writes its factors, quotients and bounds as. Where nearly all
 * lie beyond one, a kernel that leaves out terms is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/run/text_subject.h"

typedef struct bounded_text {
    const char *text;
    double lo, hi; /* of each output */
} bounded_text;

static double share_between(const at_dataset *d, int t, double lo, double hi) {
    const int64_t n = at_dataset_elements(d, t);
    int64_t between = 0;
    for (int64_t i = 0; i < n; i++) {
        const double x = at_dataset_expected(d, t, i);
        between += x > lo && x < hi;
    }
    return (double)between / (double)n;
}

static void expect_between(const bounded_text *b) {
    text_subject s;
    text_subject_open(&s, b->text, "");
    for (int t = 0; t < s.compute->num_tensors; t++) {
        double most = 0;
        if (!s.compute->tensors[t].is_output) continue;
        for (int k = 0; k < s.num_draws; k++) {
            const double share = share_between(&s.draw[k], t, b->lo, b->hi);
            if (share > most) most = share;
        }
        if (most < 0.25)
            fail_msg("%.2f of %s lie between %g and %g:\n%s", most, s.compute->tensors[t].name,
                     b->lo, b->hi, b->text);
    }
    text_subject_close(&s);
}

static void expect_all(const bounded_text *all, int n) {
    for (int i = 0; i < n; i++) expect_between(&all[i]);
}

#define SHAPES(x, w) "args M=20, N=33, K=64\nx[M, K] : input " x "\nw[N, K] : weight " w "\n"
#define SUM "s[m:M, n:N] : s32 = sum(k:K) x[m, k]*w[n, k]\n"
#define OUT(type) "y[m:M, n:N] : " type " = "

static void constants(void **state) {
    (void)state;
    static const bounded_text all[] = {
        {"args H=12, W=7, C=5\nx[H, W, C] : input u8\nw[3, 3, C] : weight s8\n"
         "s[h:H-2, v:W-2, c:C] : s32 = sum(r:3, q:3) x[h + r, v + q, c]*w[r, q, c]\n"
         "y[h:H-2, v:W-2, c:C] : u8 = min(max(round(s[h, v, c]*0.03125), 0), 255)\n",
         0, 255},
        {SHAPES("u8", "s8") SUM OUT("u8") "round((s[m, n] + 1000.5)*0.01)\n", 0, 255},
        {SHAPES("s8", "s8") SUM OUT("f32") "min(max(s[m, n]*0.0235, 0), 6)\n", 0, 6},
        /* by sizes */
        {"args Q=190, W=13\ng[Q] : input\n"
         "near[q:Q] : s32 = min(max(floor(g[q]*3), 0), W - 1)\n",
         0, 12},
        {SHAPES("s16", "s8") SUM OUT("s16") "round(s[m, n]*0.25)\n", -32768, 32767},
        {SHAPES("u8", "u8") SUM OUT("u8") "s[m, n] >> 8\n", 0, 255},
        {SHAPES("u8", "s8") SUM OUT("u8") "(s[m, n] + 16) >> 5\n", 0, 255},
        {SHAPES("s8", "s8") SUM OUT("s8") "min(max(s[m, n] >> 3, -128), 127)\n", -128, 127},
        {SHAPES("u8", "u8") "s[m:M, n:N] : s32 = sum(k:K) (x[m, k] - 128)*(w[n, k] - 117)\n" OUT(
             "u8") "round(s[m, n]*0.01 + 128.0)\n",
         0, 255},
        {SHAPES("s8", "s8") SUM "f[m:M, n:N] = s[m, n]*0.0009765625\n" OUT(
             "s8") "round(f[m, n] > 0 ? f[m, n] : f[m, n]*0.125)\n",
         -128, 127},
    };
    expect_all(all, sizeof all / sizeof *all);
}

static void scales(void **state) {
    (void)state;
    static const bounded_text all[] = {
        {SHAPES("u8", "s8") "f[N] : weight f16\n" SUM OUT("u8") "round(s[m, n]*f[n])\n", 0, 255},
        {SHAPES("u8", "s8") "f[N] : weight bf16\n" SUM OUT("u8") "round(s[m, n]*f[n])\n", 0, 255},
        {SHAPES("u8", "s8") "sx[1] : input\nsw[N] : weight\nso[1] : input\n"
                            "f[n:N] = sx[0]*sw[n]/so[0]\n" SUM OUT("u8") "round(s[m, n]*f[n])\n",
         0, 255},
        {SHAPES("u8", "s8") "sw[N] : weight\nf[n:N] = sw[n]*0.0078125\n" SUM
                            "g[m:M, n:N] = s[m, n]*f[n] + 128.0\n" OUT("u8") "round(g[m, n])\n",
         0, 255},
        {SHAPES("s8",
                "s8") "f[N] : weight s16\n" SUM OUT("s8") "(((s[m, n] >> 6)*f[n]) + 2048) >> 12\n",
         -128, 127},
        {SHAPES("u8",
                "u8") "zx[1] : input u8\nzw[N] : weight u8\nf[N] : weight\n"
                      "s[m:M, n:N] : s32 = sum(k:K) (x[m, k] - zx[0])*(w[n, k] - zw[n])\n" OUT(
                          "u8") "round(s[m, n]*f[n]) + 128\n",
         0, 255},
    };
    expect_all(all, sizeof all / sizeof *all);
}

/* What a sum of bytes that bounds have cut goes on to. */
static void chains(void **state) {
    (void)state;
    static const bounded_text all[] = {
        {SHAPES("u8", "s8") "v[17, N] : weight s8\n" SUM
                            "y[m:M, n:N] : output u8 = round(s[m, n]*0.03125)\n"
                            "t[m:M, l:17] : s32 = sum(n:N) y[m, n]*v[l, n]\n"
                            "z[m:M, l:17] : u8 = round(t[m, l]*0.03125)\n",
         0, 255},
        {"args H=14, C=6, O=7, P=5\nx[H, H, C] : input u8\nw[3, 3, C, O] : weight s8\n"
         "b[O] : weight s32\nv[3, 3, O, P] : weight s8\nc[P] : weight s32\nu[P, O] : weight s8\n"
         "s[h:H-2, q:H-2, o:O] : s32 = sum(r:3, p:3, c:C) x[h + r, q + p, c]*w[r, p, c, o]\n"
         "y[h:H-2, q:H-2, o:O] : output u8 = (s[h, q, o] + b[o] + 32) >> 6\n"
         "t[h:H-4, q:H-4, o:P] : s32 = sum(r:3, p:3, c:O) y[h + r, q + p, c]*v[r, p, c, o]\n"
         "z[h:H-4, q:H-4, o:P] : output u8 = (t[h, q, o] + c[o] + 32) >> 6\n"
         "a[h:H-4, q:H-4, o:O] : s32 = sum(c:P) z[h, q, c]*u[c, o]\n"
         "out[h:H-4, q:H-4, o:O] : u8 = (a[h, q, o] + 32) >> 6\n",
         0, 255},
    };
    expect_all(all, sizeof all / sizeof *all);
}

/* Where results are small beside the bounds, other floats make them reach either. */
static void reached(void **state) {
    (void)state;
    text_subject s;
    text_subject_open(
        &s,
        SHAPES("f32", "s8") "f[1] : input\ng[N] : weight\n"
                            "q[m:M, k:K] : s8 = round(x[m, k]*f[0])\n"
                            "s[m:M, n:N] : s32 = sum(k:K) q[m, k]*w[n, k]\n"
                            "t[m:M, n:N] = s[m, n]*g[n]\n"
                            "y[m:M, n:N] : s8 = min(max(round(t[m, n]*0.5), -127), 127)\n",
        "");
    const int y = at_compute_find(s.compute, "y");
    bool is_least = false, is_most = false;
    for (int k = 0; k < s.num_draws; k++)
        for (int64_t i = 0; i < at_dataset_elements(&s.draw[k], y); i++) {
            is_least |= at_dataset_expected(&s.draw[k], y, i) == -127;
            is_most |= at_dataset_expected(&s.draw[k], y, i) == 127;
        }
    assert_true(is_least && is_most);
    text_subject_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(constants), cmocka_unit_test(scales),
                                       cmocka_unit_test(chains), cmocka_unit_test(reached)};
    return cmocka_run_group_tests_name("run/between", tests, NULL, NULL);
}
