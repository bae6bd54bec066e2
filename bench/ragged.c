/* bench/ragged.c: products whose sizes no good part divides, without tuning, against 1024 in speed
 * per operation: a ragged tile comes in two versions, full and partial. */
#include "bench/bench.h"
#include "sketch/sketch.h"

enum { SIZES = 3 };
static const int sizes[SIZES] = {1024, 1000, 1021};

static at_status open_size(at_arena *a, int size, at_bench_kernel *kernel, at_error *err) {
    const at_lower_options lo = at_bench_lower_options(at_bench_target());
    const at_template_row *row;
    at_task *task;
    at_config config;
    at_program *program;
    at_bench_data data;
    AT_TRY(at_template_find("matmul_add", &row, err));
    AT_TRY(at_task_new(a, row, at_format(a, "N=%d,L=%d,M=%d", size, size, size), &task, err));
    AT_TRY(at_task_default_config(a, task, at_bench_target()->default_lanes, &config, err));
    AT_TRY(at_task_program(a, task, &config, &program, err));
    AT_TRY(at_bench_data_new(a, program->compute, program->values, &data, err));
    return at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, &data, kernel, err);
}

static double speed_per_operation(const at_bench_contest *c, const double *times, int i, int j) {
    return c->flops[i] / times[i] * times[j] / c->flops[j];
}

static void report(at_arena *a, const at_bench_contest *c) {
    for (int i = 1; i < SIZES; i++)
        at_bench_report_row(at_format(a, "matmul_add %d^3 against %d^3", sizes[i], sizes[0]),
                            at_bench_contest_of(c, speed_per_operation, i, 0), AT_BENCH_GOAL_LEAST,
                            0.95);
}

static at_status run(at_arena *a, int unused, at_error *err) {
    at_bench_kernel kernels[SIZES] = {{0}};
    at_bench_contender of[SIZES];
    at_bench_contest contest;
    at_status s = AT_OK;
    (void)unused;
    for (int i = 0; i < SIZES && s == AT_OK; i++) {
        s = open_size(a, sizes[i], &kernels[i], err);
        of[i] = at_bench_kernel_contender(&kernels[i]);
    }
    if (s == AT_OK) {
        at_bench_contest_run(&contest, of, SIZES, at_bench_target());
        report(a, &contest);
    }
    for (int i = 0; i < SIZES; i++) at_bench_kernel_close(&kernels[i]);
    return s;
}

at_status at_bench_ragged(at_error *err) {
    at_bench_report_section("Sizes that no good part divides, default configuration", "ratio", 2);
    return at_bench_row(run, 0, "matmul_add", err);
}
