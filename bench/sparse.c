/* bench/sparse.c: block-sparse convolution on the layers of conv3x3, as a share of the FMA peak on
 * the stored blocks, and in time against the dense convolution of the same layer: the tool's best
 * of both, in one contest. The dense one is the dialect gnu through gcc, since TinyCC holds one
 * kernel at a time. */
#include "bench/bench.h"

enum { SPARSE, DENSE, NUM_CONTENDERS };
enum { BLOCK_ROWS = 16, BLOCK_COLUMNS = 1 };
static const double sparsity = 0.8;

static const struct {
    double of_peak, faster;
} targets[AT_BENCH_LAYERS] = {{0.65, 3}, {0.70, 3}, {0.73, 3}, {0.5, 2.5}};

/* The tool makes the same pattern of this many blocks. */
static at_status search_of(at_arena *a, const at_bench_pruned *l, at_bench_search *out,
                           at_pattern *pattern, at_error *err) {
    at_task *task;
    at_bsr b;
    const char *args = at_format(a, "%s,R=%d,C=%d", l->sizes, BLOCK_ROWS, BLOCK_COLUMNS);
    AT_TRY(at_bench_task(a, l->template_name, args, &task, err));
    if (!at_task_bsr(task, &b)) return at_fail(err, AT_E_BUG, "%s is not sparse", l->template_name);
    AT_TRY(at_pattern_random(a, b.rows, b.columns, b.r, b.c, sparsity, 0, pattern, err));
    *out = (at_bench_search){.name = l->name,
                             .template_name = l->template_name,
                             .args = at_format(a, "%s,nnz=%lld", args, (long long)pattern->nnz),
                             .options = l->options,
                             .trials = l->trials,
                             .target = at_bench_target()};
    return AT_OK;
}

at_status at_bench_open_pruned(at_arena *a, const at_bench_pruned *l, at_bench_kernel *out,
                               at_error *err) {
    const at_lower_options lo = at_bench_lower_options(at_bench_target());
    at_bench_search search;
    at_pattern pattern;
    at_bench_data data;
    at_program *program;
    at_task *task;
    AT_TRY(search_of(a, l, &search, &pattern, err));
    AT_TRY(at_bench_best(a, &search, &program, err));
    AT_TRY(at_bench_task(a, search.template_name, search.args, &task, err));
    AT_TRY(at_bench_data_sparse(a, task, program, &pattern, &data, err));
    return at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, &data, out, err);
}

at_status at_bench_open_sparse(at_arena *a, const at_bench_layer *l, at_bench_kernel *out,
                               at_error *err) {
    const at_bench_conv *s = &l->conv;
    const at_bench_pruned pruned = {
        .name = l->name,
        .template_name = "spconv2d_3x3_gemm",
        .sizes = at_format(a, "N=%d,H=%d,W=%d,CI=%d,CO=%d", s->n, s->ih, s->iw, s->ic, s->oc),
        .options = "--tuner random",
        .trials = 500};
    return at_bench_open_pruned(a, &pruned, out, err);
}

static at_status open_dense(at_arena *a, const at_bench_layer *l, at_bench_kernel *out,
                            at_error *err) {
    at_lower_options lo = at_bench_lower_options(at_bench_target());
    const at_bench_search search = at_bench_layer_search(a, l, at_bench_target());
    at_bench_data data;
    at_program *program;
    lo.dialect = AT_DIALECT_GNU;
    AT_TRY(at_bench_best(a, &search, &program, err));
    AT_TRY(at_bench_data_new(a, program->compute, program->values, &data, err));
    return at_bench_kernel_open(a, program, &lo, AT_GCC, "-O3 -march=native", &data, out, err);
}

static at_status run(at_arena *a, int layer, at_error *err) {
    const at_bench_layer *l = &at_bench_layers[layer];
    at_bench_kernel kernel[NUM_CONTENDERS] = {0};
    at_bench_contender of[NUM_CONTENDERS];
    at_bench_contest contest;
    bool both = at_compiler_available(AT_GCC);
    at_status s = at_bench_open_sparse(a, l, &kernel[SPARSE], err);
    if (s == AT_OK && both) s = open_dense(a, l, &kernel[DENSE], err);
    int n = both ? NUM_CONTENDERS : DENSE;
    for (int i = 0; i < n; i++) of[i] = at_bench_kernel_contender(&kernel[i]);
    of[DENSE].flops = of[SPARSE].flops; /* speeds then compare as times do */
    if (s == AT_OK) {
        at_bench_contest_run(&contest, of, n, at_bench_target());
        at_bench_report_row(at_format(a, "%s of the FMA peak", l->name),
                            at_bench_contest_of_peak(&contest, SPARSE), AT_BENCH_GOAL_LEAST,
                            targets[layer].of_peak);
        const char *what = at_format(a, "%s, time of conv2d_3x3_gemm by its own", l->name);
        if (both)
            at_bench_report_row(what, at_bench_contest_speed(&contest, SPARSE, DENSE),
                                AT_BENCH_GOAL_LEAST, targets[layer].faster);
        else at_bench_report_skip(what, "no gcc");
    }
    for (int i = 0; i < n; i++) at_bench_kernel_close(&kernel[i]);
    return s;
}

at_status at_bench_sparse(at_error *err) {
    at_bench_report_section("spconv2d_3x3_gemm, sparsity 0.8, blocks of 16x1, tcc", "ratio", 2);
    return at_bench_each_layer(run, err);
}
