/* bench/cost.c: how near the estimates from knobs come: on each recorded space their order against
 * that of the measured times, the point they put first, and what one of them takes. */
#include "bench/bench.h"
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>

static const char *const spaces[] = {
    "dense_16x128x128",
    "conv2d_NCHWc_24x24x96x96",
    "conv2d_3x3_gemm_14x14x64x128",
    "dense_30x120x64",
    "conv2d_NCHWc_30x60x48x144",
    "conv2d_3x3_gemm_14x14x256x256",
    "batch_matmul_8x64x64x48",
    "conv2d_NCHWc_1x1_28x28x128x96",
    "conv2d_nhwc_24x24x32x64_dilated",
    "depthwise_conv2d_NCHWc_28x28x96",
    "conv2d_winograd_nhwc_28x28x64x64",
    "sparse_dense_48x256x384",
    "batch_matmul_12x32x64x32",
    "conv2d_winograd_nhwc_14x14x32x32",
    "depthwise_conv2d_NCHWc_14x14x64",
    "sparse_dense_64x128x256",
    "spconv2d_3x3_gemm_14x14x64x64",
};
enum { TUNED = 3 }; /* of these, the first few were looked at when the estimate was made */

static void row(at_arena *a, const char *space, const char *what, double value, at_bench_goal goal,
                double target) {
    at_bench_report_row(at_format(a, "%s, %s", space, what), at_bench_single(value), goal, target);
}

static int by_time(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

static at_status run(at_arena *a, const char *space, at_error *err) {
    at_recorded r;
    AT_TRY(
        at_recorded_read(a, at_format(a, "docs/spaces/%s.space.gz", space), NULL, NULL, &r, err));
    at_cost_model *m = at_cost_model_of_recorded(&r);
    if (!m) return at_fail(err, AT_E_INPUT, "%s: estimates of no known instruction set", space);
    int64_t range = at_space_range_length(r.space);
    int64_t *index = AT_NEW_ARRAY(a, int64_t, range);
    double *ns = AT_NEW_ARRAY(a, double, range), *time = AT_NEW_ARRAY(a, double, range);
    double(*both)[2] = at_alloc(a, sizeof *both * (size_t)range);
    int n = 0, first = 0;
    for (int64_t i = 0; i < range; i++)
        if (r.time_s[i] > 0) index[n++] = i;
    at_cost_points(m, index, n, ns); /* once more, warm */
    int64_t start = at_now_ns();
    at_cost_points(m, index, n, ns);
    double us = (double)(at_now_ns() - start) * 1e-3 / n;
    for (int i = 0; i < n; i++) {
        time[i] = r.time_s[index[i]];
        both[i][0] = ns[i], both[i][1] = time[i];
        if (ns[i] < ns[first]) first = i;
    }
    row(a, space, "rank correlation", at_bench_rank_correlation(ns, time, n), AT_BENCH_GOAL_LEAST,
        0.95);
    qsort(both, (size_t)n, sizeof *both, by_time);
    int tenth = n / 10;
    double *fast_ns = AT_NEW_ARRAY(a, double, n), *fast_time = AT_NEW_ARRAY(a, double, n);
    for (int i = 0; i < tenth; i++) fast_ns[i] = both[i][0], fast_time[i] = both[i][1];
    row(a, space, "in the fastest tenth", at_bench_rank_correlation(fast_ns, fast_time, tenth),
        AT_BENCH_GOAL_NONE, 0);
    row(a, space, "share of the optimum of the first", r.best_s / time[first], AT_BENCH_GOAL_LEAST,
        0.85);
    row(a, space, "microseconds a point", us, AT_BENCH_GOAL_MOST, 5);
    at_cost_model_free(m);
    return AT_OK;
}

at_status at_bench_cost(at_error *err) {
    at_bench_report_section("Estimates from knobs on recorded spaces", "ratio", 3);
    for (int i = 0; i < (int)(sizeof spaces / sizeof *spaces); i++) {
        if (i == TUNED)
            at_bench_report_note(
                "No setting was chosen on those that follow; docs/notes/cost.md says "
                "where terms were found.");
        at_arena *a = at_arena_new();
        at_status s = run(a, spaces[i], err);
        at_arena_free(a);
        AT_TRY(s);
    }
    return AT_OK;
}
