/* bench/sketches.c: what deriving takes, over TVM's te_workload set: a task with all its sketches,
 * and what a search knows of a point before it is measured: its numbers, its tree and its estimate.
 */
#include "bench/bench.h"

#include <math.h>

#include "engine/search/config_cost.h"

enum { POINTS = 200, TIMES = 9, MOST_ROWS = 64 };

typedef struct times {
    double task_ms, point_us;
} times;

static double since_us(int64_t start) { return (double)(at_now_ns() - start) * 1e-3; }

/* Random points, each once, the best of a few passes. */
static double point_us(const at_task *task) {
    const at_engine_options o = {0};
    at_cost_model *m = at_cost_model_new(task, &o);
    at_rng rng;
    int64_t index[POINTS];
    double ns[POINTS], us = INFINITY;
    at_rng_seed(&rng, 1, 1);
    for (int i = 0; i < POINTS; i++)
        index[i] =
            (int64_t)at_rng_below(&rng, (uint64_t)at_space_range_length(at_task_space(task)));
    for (int time = 0; time < TIMES; time++) {
        int64_t start = at_now_ns();
        at_cost_points(m, index, POINTS, ns);
        us = fmin(us, since_us(start) / POINTS);
    }
    at_cost_model_free(m);
    return us;
}

static at_status take(const at_bench_te_row *r, times *out, at_error *err) {
    *out = (times){INFINITY, 0};
    for (int i = 0; i < TIMES; i++) {
        at_arena *a = at_arena_new();
        at_task *task;
        int64_t start = at_now_ns();
        at_status s =
            at_bench_task(a, at_format(a, "examples/te/%s.te", r->file), r->args, &task, err);
        if (i > 0) out->task_ms = fmin(out->task_ms, since_us(start) * 1e-3); /* the file is read */
        if (s == AT_OK && i == TIMES - 1) out->point_us = point_us(task);
        at_arena_free(a);
        AT_TRY(s);
    }
    return AT_OK;
}

static void report(at_arena *a, const char *what, const at_bench_te_row *rows, const double *values,
                   int n, double most) {
    at_bench_spread s = at_bench_spread_of(values, n);
    int slowest = 0;
    for (int i = 0; i < n; i++)
        if (values[i] > values[slowest]) slowest = i;
    double worst = values[slowest];
    at_bench_report_row(what, s, AT_BENCH_GOAL_NONE, 0);
    at_bench_report_row(at_format(a, "  the slowest, %s", rows[slowest].name),
                        at_bench_single(worst), AT_BENCH_GOAL_MOST, most);
}

at_status at_bench_sketches(at_error *err) {
    int n;
    const at_bench_te_row *rows = at_bench_te_rows(&n);
    double task_ms[MOST_ROWS], us[MOST_ROWS];
    AT_ASSERT(n <= MOST_ROWS);
    at_bench_report_section("Deriving te_workload, best of a few runs", "time", 2);
    for (int i = 0; i < n; i++) {
        times t;
        AT_TRY(take(&rows[i], &t, err));
        task_ms[i] = t.task_ms;
        us[i] = t.point_us;
    }
    at_arena *a = at_arena_new();
    report(a, "a task with its sketches, milliseconds", rows, task_ms, n, 10);
    report(a, "a point's numbers, tree and estimate, microseconds", rows, us, n, 20);
    at_arena_free(a);
    return AT_OK;
}
