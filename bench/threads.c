/* bench/threads.c: what a second core adds to a kernel whose outer loops are parallel, against what
 * it adds to the FMA peak, since clock and power are shared. */
#include "bench/bench.h"
#include "runtime/inside.h"

enum { ROUNDS = 21, CHUNKS = 16, PEAKS = 3 };
#define CHUNK_NS 1000000
#define ENOUGH_NS 2000000000 /* of one sample's chunks, should the machine be busy */

static at_status open_kernel(at_arena *a, at_bench_kernel *out, at_error *err) {
    const at_bench_search search = {
        "64@56", "conv2d_NCHWc",   "N=1,IC=64,H=56,W=56,OC=64,KH=3,KW=3,strides=1,padding=1", "",
        200,     at_bench_target()};
    at_program *program;
    at_bench_data data;
    return at_bench_best_open(a, &search, &program, &data, out, err);
}

/* Seconds per run: the best of chunks, which others on a core have left alone. */
static double sample_s(at_bench_kernel *k, int threads) {
    int64_t begin = at_now_ns(), best = INT64_MAX;
    int number = 1;
    at_par_setup(&k->par, threads);
    k->entry(k->buf, k->workspace, &k->par);
    for (int i = 0; i < CHUNKS && at_now_ns() - begin < ENOUGH_NS; i++) {
        int64_t start = at_now_ns();
        for (int j = 0; j < number; j++) k->entry(k->buf, k->workspace, &k->par);
        int64_t ns = (at_now_ns() - start) / number;
        if (ns < best) best = ns;
        if (ns * number < CHUNK_NS) number = (int)(CHUNK_NS / (ns > 0 ? ns : 1)) + 1;
    }
    return (double)best * 1e-9;
}

static double peak(int threads) {
    double best = 0;
    for (int i = 0; i < PEAKS; i++) {
        double gflops = at_peak_gflops(at_cpu_best_set(), threads);
        if (gflops > best) best = gflops;
    }
    return best;
}

static at_status run(at_arena *a, int layer, at_error *err) {
    (void)layer;
    at_bench_kernel kernel;
    double by_peak[ROUNDS], by_kernel[ROUNDS], scaling[ROUNDS], of_one[ROUNDS], of_two[ROUNDS];
    AT_TRY(open_kernel(a, &kernel, err));
    for (int r = 0; r < ROUNDS; r++) {
        double one = sample_s(&kernel, 1), peak_one = peak(1);
        double two = sample_s(&kernel, 2), peak_two = peak(2);
        by_kernel[r] = one / two;
        by_peak[r] = peak_two / peak_one;
        scaling[r] = by_kernel[r] / by_peak[r];
        of_one[r] = kernel.flops / one * 1e-9 / peak_one;
        of_two[r] = kernel.flops / two * 1e-9 / peak_two;
    }
    at_bench_report_row("two threads against one", at_bench_spread_of(by_kernel, ROUNDS),
                        AT_BENCH_GOAL_NONE, 0);
    at_bench_report_row("    FMA peak of two cores against one",
                        at_bench_spread_of(by_peak, ROUNDS), AT_BENCH_GOAL_NONE, 0);
    at_bench_report_row("that against the peak's", at_bench_spread_of(scaling, ROUNDS),
                        AT_BENCH_GOAL_LEAST, 0.9);
    at_bench_report_row("    one thread of the peak", at_bench_spread_of(of_one, ROUNDS),
                        AT_BENCH_GOAL_NONE, 0);
    at_bench_report_row("    two threads of both cores' peak", at_bench_spread_of(of_two, ROUNDS),
                        AT_BENCH_GOAL_NONE, 0);
    at_bench_kernel_close(&kernel);
    return AT_OK;
}

at_status at_bench_threads(at_error *err) {
    at_bench_report_section("Two threads, conv2d_NCHWc on 64@56, best of 200 trials", "ratio", 2);
    if (!at_has_threads() || at_bench_cores < 2) {
        at_bench_report_skip("two threads", at_bench_cores < 2 ? "one core" : "no OpenMP");
        return AT_OK;
    }
    return at_bench_row(run, 0, "two threads", err);
}
