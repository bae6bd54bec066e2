/* bench/conv3x3.c: the best of 500 random trials of conv2d_3x3_gemm on the 3x3 layers of ResNet-50,
 * against the FMA peak, oneDNN's direct convolution, and im2col with OpenBLAS. */
#include "bench/peers.h"

enum { OURS, FIRST_PEER };

/* Of the layer being timed. */
typedef struct peers {
    at_onednn *onednn;
    at_openblas *openblas;
    at_bench_kernel tile;
    int onednn_at, openblas_at, tile_at; /* contender; tile_at 0: none */
} peers;

static at_status open_peers(at_arena *a, const at_bench_layer *l, const at_bench_data *data,
                            at_bench_contender *of, int *n, peers *p, at_error *err) {
    const at_compute *c = data->compute;
    const float *input = data->tensor[at_compute_find(c, "data")],
                *weight = data->tensor[at_compute_find(c, "weight")];
    int out = at_compute_find(c, "out");
    *p = (peers){0};
    if (at_onednn_about()) {
        AT_TRY(at_bench_open_onednn(&l->conv, input, weight, data->tensor[out], &p->onednn, err));
        of[p->onednn_at = (*n)++] = at_onednn_contender(p->onednn);
    }
    if (at_openblas_about()) {
        p->openblas = at_openblas_conv(a, &l->conv, input, weight);
        AT_TRY(at_bench_check("OpenBLAS", at_openblas_output(p->openblas), data->tensor[out],
                              data->elements[out], 0, err));
        of[p->openblas_at = (*n)++] = at_openblas_contender(p->openblas);
    }
    if (at_cpu_has_set(at_vector_set("avx512")) && at_compiler_available(AT_GCC)) {
        AT_TRY(at_bench_tile_open(a, &p->tile, err));
        of[p->tile_at = (*n)++] = at_bench_kernel_contender(&p->tile);
    }
    return AT_OK;
}

static void close_peers(peers *p) {
    at_onednn_free(p->onednn);
    at_bench_kernel_close(&p->tile);
}

static void report(at_arena *a, const at_bench_layer *l, const at_bench_contest *c,
                   const peers *p) {
    const char *ours = at_format(a, "%s of the FMA peak", l->name);
    at_bench_report_row(ours, at_bench_contest_of_peak(c, OURS), AT_BENCH_GOAL_LEAST,
                        l->least_of_peak);
    const char *blas = at_format(a, "%s against im2col + OpenBLAS sgemm", l->name);
    if (p->openblas)
        at_bench_report_row(blas, at_bench_contest_speed(c, OURS, p->openblas_at),
                            AT_BENCH_GOAL_LEAST, 1.05);
    else at_bench_report_skip(blas, "no OpenBLAS");
    const char *dnn = at_format(a, "%s against oneDNN direct", l->name);
    if (p->onednn) {
        at_bench_report_row(dnn, at_bench_contest_speed(c, OURS, p->onednn_at), AT_BENCH_GOAL_NONE,
                            0);
        at_bench_report_row(at_format(a, "    oneDNN %s of the peak", at_onednn_kernel(p->onednn)),
                            at_bench_contest_of_peak(c, p->onednn_at), AT_BENCH_GOAL_NONE, 0);
    } else at_bench_report_skip(dnn, "no oneDNN");
    if (p->openblas)
        at_bench_report_row("    im2col + OpenBLAS of the peak",
                            at_bench_contest_of_peak(c, p->openblas_at), AT_BENCH_GOAL_NONE, 0);
    if (p->tile_at)
        at_bench_report_row("    register tile in L1 of the peak",
                            at_bench_contest_of_peak(c, p->tile_at), AT_BENCH_GOAL_NONE, 0);
}

static at_status bench_layer(at_arena *a, int layer, at_error *err) {
    const at_bench_layer *l = &at_bench_layers[layer];
    at_program *program;
    at_bench_data data;
    at_bench_kernel kernel;
    at_bench_contender of[AT_BENCH_CONTENDERS];
    at_bench_contest contest;
    peers p;
    int n = FIRST_PEER;
    const at_bench_search search = at_bench_layer_search(a, l, at_bench_target());
    AT_TRY(at_bench_best_open(a, &search, &program, &data, &kernel, err));
    of[OURS] = at_bench_kernel_contender(&kernel);
    at_status s = open_peers(a, l, &data, of, &n, &p, err);
    if (s == AT_OK) {
        at_bench_contest_run(&contest, of, n, at_bench_target());
        report(a, l, &contest, &p);
    }
    close_peers(&p);
    at_bench_kernel_close(&kernel);
    return s;
}

at_status at_bench_conv3x3(at_error *err) {
    at_bench_report_section("conv2d_3x3_gemm, best of the tool's random trials, tcc", "ratio", 2);
    return at_bench_each_layer(bench_layer, err);
}
