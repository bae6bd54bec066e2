/* Estimates of what the terms of a sum take beside multiply-adds: arithmetic, loads that are
 * picked, and rows whose terms data or bounds tell apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cost/cost.h"
#include "tests/codegen/support.h"

static double sums_ns(const program *of) {
    at_arena *a = at_arena_new();
    const at_program *p = program_of(a, of);
    at_speeds speeds;
    at_estimate out;
    const at_estimate_options o = {.target = at_target_find("avx2"),
                                   .speeds = &speeds,
                                   .threads = 1,
                                   .mean_dynamic = 1,
                                   .cache_bytes = {1 << 20, 1 << 24}};
    at_speeds_guess(at_core_find("sapphirerapids"), o.target, &speeds);
    speeds.peak_gflops = 96;
    assert_true(at_estimate_of(at_estimator_new(a, p->compute, &o), p, &out));
    at_arena_free(a);
    return out.sums_ns;
}

enum { LANES = 8, ROWS = 6, VECTORS = 2 }; /* of avx2; of a tile in registers */

#define TENSORS "x[M, K] : input\ny[K, N] : input\nv[K] : input\n"
#define SUM(term) "o[i:M, j:N] = sum(k:K) " term "\n"
#define TREE "k, i:unroll, j:vec =>\n    @o = i, j // k\n"
#define TERMS(name, stages, term)                                                                  \
    { name, "M=6 N=16 K=32", TENSORS stages SUM(term), TREE }

/* What depends on rows alone is worked out once for all vectors, and what depends on the sum's axis
 * alone once for all of the tile. */
static void functions(void **state) {
    (void)state;
    static const program product = TERMS("product", "", "x[i, k]*y[k, j]"),
                         all = TERMS("all", "", "tanh(x[i, k]*y[k, j])*v[k]"),
                         rows = TERMS("rows", "", "tanh(x[i, k]*v[k])*y[k, j]"),
                         terms = TERMS("terms", "", "tanh(v[k]*v[k])*y[k, j]");
    const double least = sums_ns(&product), of_all = sums_ns(&all) - least,
                 of_rows = sums_ns(&rows) - least, of_terms = sums_ns(&terms) - least;
    assert_true(of_all > least);
    assert_true(of_all > 0.99 * VECTORS * of_rows && of_all < 1.01 * VECTORS * of_rows);
    assert_true(of_rows > 0.99 * ROWS * of_terms && of_rows < 1.01 * ROWS * of_terms);
}

/* The product that a condition chooses is added by the instruction that makes it, too. */
static void chosen_products(void **state) {
    (void)state;
    static const program product = TERMS("product", "", "x[i, k]*y[k, j]"),
                         padded = TERMS("padded", "", "i + k >= 1 ? x[i, k]*y[k, j] : 0"),
                         either = TERMS("either", "", "k > 0 ? x[i, k]*y[k, j] : y[k, j]*v[k]");
    assert_true(sums_ns(&padded) < 1.01 * sums_ns(&product));
    assert_true(sums_ns(&either) < 1.01 * sums_ns(&product));
}

static void divisions(void **state) {
    (void)state;
    static const program sum = TERMS("sum", "", "(x[i, k] + y[k, j])*v[k]"),
                         quotient = TERMS("quotient", "", "(x[i, k]/y[k, j])*v[k]"),
                         by_four = TERMS("by four", "", "(x[i, k]/4)*y[k, j]");
    assert_true(sums_ns(&quotient) > 2 * sums_ns(&sum));
    assert_true(sums_ns(&by_four) < sums_ns(&quotient));
}

/* Stages that are computed where a term reads them take as long as if the term said them. */
static void through_stages(void **state) {
    (void)state;
    static const program said = TERMS("said", "", "tanh(x[i, k])*y[k, j]"),
                         read = TERMS("read", "t[i:M, k:K] = tanh(x[i, k])\n", "t[i, k]*y[k, j]");
    assert_true(sums_ns(&said) == sums_ns(&read));
}

/* A vector of every second element takes longer, where loads count: each multiply-add has one. */
static void picked_lanes(void **state) {
    (void)state;
#define WINDOW(step)                                                                               \
    "H=6 W=16",                                                                                    \
        "x[H, 64] : input\n"                                                                       \
        "o[h:H, w:W] = max(q:3) x[h, w*" step " + q]\n",                                           \
        "q:unroll, h:unroll, w:vec =>\n    @o = h, w // q\n"
    static const program row = {"row", WINDOW("1")}, second = {"second", WINDOW("2")};
#undef WINDOW
    assert_true(sums_ns(&second) > 1.5 * sums_ns(&row));
}

/* A bound that decides within a vector takes the tile apart; one along rows does not. */
static void bounds(void **state) {
    (void)state;
#define BLUR(row, column)                                                                          \
    "H=6 W=16",                                                                                    \
        "x[H, W] : input\nk[3, 3] : input\n"                                                       \
        "o[h:H, w:W] = sum(r:3, q:3) x[" row ", " column "]*k[r, q]\n",                            \
        "r:unroll, q:unroll, h:unroll, w:vec =>\n    @o = h, w // r, q\n"
    static const program within = {"within", BLUR("min(h + r, H - 1)", "min(w + q, W - 1)")},
                         rows = {"rows", BLUR("min(h + r, H - 1)", "w")};
#undef BLUR
    assert_true(sums_ns(&within) > 2 * sums_ns(&rows));
}

/* Rows that data tell apart are tiles of their own; terms of which data decide count. */
static void lengths(void **state) {
    (void)state;
#define MEAN(rows, term)                                                                           \
    "B=8 S=64 D=16 b1=" rows,                                                                      \
        "x[B, S, D] : input\nlength[B] : index\n"                                                  \
        "o[b:B, d:D] = sum(s:S) " term "\n",                                                       \
        "b0, s, b1:unroll, d:vec =>\n    @o = {b0, b1}/b, d // s\n"
#define UNTIL "s < length[b] ? x[b, s, d] : 0"
    static const program one = {"one", MEAN("1 b0=8", UNTIL)},
                         four = {"four", MEAN("4 b0=2", UNTIL)},
                         all = {"all", MEAN("1 b0=8", "x[b, s, d]")},
                         all_by_four = {"all by four", MEAN("4 b0=2", "x[b, s, d]")};
#undef UNTIL
#undef MEAN
    assert_true(sums_ns(&one) == sums_ns(&all));
    assert_true(sums_ns(&four) > 2 * sums_ns(&all_by_four));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),    cmocka_unit_test(chosen_products),
        cmocka_unit_test(divisions),    cmocka_unit_test(through_stages),
        cmocka_unit_test(picked_lanes), cmocka_unit_test(bounds),
        cmocka_unit_test(lengths)};
    return cmocka_run_group_tests_name("cost/estimate_terms", tests, NULL, NULL);
}
