/* bench/why.c: how near the bounds come: of random configurations, the bound as a share of what is
 * measured, and whether both put them in the same order. */
#include "bench/bench.h"
#include "runtime/runtime_int.h"
#include "sketch/sketch.h"

enum { MOST = 200 };
#define SAMPLE_NS 4000000

typedef struct task {
    const char *name, *args;
    int configurations;
} task;

static const task tasks[] = {
    {"conv2d_3x3_gemm", "N=1,H=56,W=56,CI=64,CO=64", MOST},
    {"conv2d_NCHWc", "N=1,IC=64,H=56,W=56,OC=64,KH=3,KW=3,strides=1,padding=1", MOST},
    {"dense", "M=256,N=256,K=256", MOST},
};

typedef struct pair {
    double bound, measured; /* cycles */
} pair;

/* ---- measuring ------------------------------------------------------------------------------- */

/* The core's clock, by its peak, in cycles per second. */
static double clock_hz(const at_core *c) {
    return at_peak_gflops(at_cpu_best_set(), 1) * 1e9 / at_core_flops(c, at_bench_target());
}

static double best_s(at_bench_kernel *k) {
    int64_t begin = at_now_ns(), best = INT64_MAX;
    for (int i = 0; i < 3 || at_now_ns() - begin < SAMPLE_NS; i++) {
        int64_t start = at_now_ns();
        k->entry(k->buf, k->workspace, &k->par);
        int64_t ns = at_now_ns() - start;
        if (ns < best) best = ns;
    }
    return (double)best * 1e-9;
}

static at_status measure(at_arena *a, const at_core *core, const at_program *p,
                         const at_bench_data *data, pair *out, at_error *err) {
    const at_cpu *cpu = at_cpu_facts();
    const at_machine machine = {.core = core,
                                .l1d_bytes = cpu->l1d_bytes,
                                .l2_bytes = cpu->l2_bytes,
                                .l3_bytes = cpu->l3_bytes,
                                .threads = 1};
    at_lower_options lo = at_bench_lower_options(at_bench_target());
    const at_lowered *lowered;
    at_bench_kernel kernel;
    AT_TRY(at_lower_tiles(a, p, &lo, &lowered, err));
    out->bound = at_bound_of(a, lowered, &machine)->bound_cycles;
    AT_TRY(at_bench_kernel_open(a, p, &lo, AT_TCC, NULL, data, &kernel, err));
    double before = clock_hz(core), time_s = best_s(&kernel);
    out->measured = time_s * (before + clock_hz(core)) / 2;
    at_bench_kernel_close(&kernel);
    return AT_OK;
}

static at_status run(at_arena *a, const task *t, const at_core *core, at_error *err) {
    const at_template_row *row;
    at_task *of;
    at_rng rng;
    at_bench_data data = {0};
    pair pairs[MOST];
    int n = 0, wanted = at_bench_trials ? at_bench_trials : t->configurations;
    AT_TRY(at_template_find(t->name, &row, err));
    AT_TRY(at_task_new(a, row, t->args, &of, err));
    at_rng_seed(&rng, 0, 1);
    for (int tries = 0; n < wanted && n < MOST && tries < 10 * wanted; tries++) {
        at_config config;
        at_program *program;
        at_error why;
        at_arena *scratch = at_arena_new();
        uint64_t range = (uint64_t)at_space_range_length(at_task_space(of));
        int64_t index = (int64_t)at_rng_below(&rng, range);
        at_status s = AT_OK;
        if (at_config_at(scratch, at_task_space(of), index, &config, &why) == AT_OK &&
            at_task_program(scratch, of, &config, &program, &why) == AT_OK) {
            /* in the layout of this configuration */
            at_bench_alloc_reset();
            s = at_bench_data_new(scratch, program->compute, program->values, &data, err);
            if (s == AT_OK) s = measure(scratch, core, program, &data, &pairs[n], err);
            if (s == AT_OK) n++;
        }
        at_arena_free(scratch);
        AT_TRY(s);
    }
    double share[MOST], bound[MOST], measured[MOST];
    int above = 0;
    for (int i = 0; i < n; i++) bound[i] = pairs[i].bound, measured[i] = pairs[i].measured;
    double order = at_bench_rank_correlation(bound, measured, n);
    for (int i = 0; i < n; i++) {
        share[i] = pairs[i].bound / pairs[i].measured;
        above += share[i] > 1;
    }
    at_bench_report_row(at_format(a, "%s, bound / measured", t->name), at_bench_spread_of(share, n),
                        AT_BENCH_GOAL_NONE, 0);
    at_bench_report_row("    rank correlation of both", at_bench_single(order), AT_BENCH_GOAL_NONE,
                        0);
    double high = (double)above / n;
    at_bench_report_row("    share of bounds above what was measured", at_bench_single(high),
                        AT_BENCH_GOAL_MOST, 0.02);
    return AT_OK;
}

at_status at_bench_why(at_error *err) {
    const at_core *core = at_core_find(at_cpu_facts()->core);
    at_status s = AT_OK;
    at_bench_report_section("Bounds of 200 random configurations", "ratio", 3);
    if (!core) at_bench_report_skip("bounds", "no facts of this CPU");
    for (size_t i = 0; core && i < sizeof tasks / sizeof *tasks && s == AT_OK; i++) {
        at_arena *a = at_arena_new();
        s = run(a, &tasks[i], core, err);
        at_arena_free(a);
    }
    return s;
}
