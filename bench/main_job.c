/* bench/main_job.c: how long the tool's main job takes, from start to end, on one core: 500 random
 * trials of the default task with the reference before and the final round after them. */
#include "bench/bench.h"

at_status at_bench_trial_time(at_error *err) {
    (void)err;
    at_bench_report_section("The main job, conv2d_3x3_gemm on 64@56, one core", "s", 1);
    at_arena *a = at_arena_new();
    const at_bench_search search = at_bench_layer_search(a, &at_bench_layers[0], at_bench_target());
    const at_bench_tuned *t = at_bench_tune(&search);
    at_arena_free(a);
    if (!t->ok) {
        at_bench_report_skip("500 random trials", t->why);
        return AT_OK;
    }
    double all = t->total_s / t->trials * 500, cpu = t->cpu_s / t->trials * 500;
    at_bench_report_row("500 random trials, wall time", at_bench_single(all), AT_BENCH_GOAL_MOST,
                        20);
    at_bench_report_row("    processor time in it", at_bench_single(cpu), AT_BENCH_GOAL_NONE, 0);
    at_bench_spread ms = t->per_trial_s;
    ms.low *= 1e3, ms.median *= 1e3, ms.high *= 1e3;
    at_bench_report_row("    one trial, ms (AutoTVM v0.12: 450)", ms, AT_BENCH_GOAL_NONE, 0);
    return AT_OK;
}
