/* bench/algorithms.c: Winograd's convolution against our best direct one and against oneDNN's two,
 * on the 3x3 layers of ResNet-50. All count the operations of the definition. */
#include "bench/bench.h"

#include <string.h>

enum { WINOGRAD, DIRECT, PEERS, MOST_PEERS = 3 };

/* What oneDNN has: direct, Winograd with tiles of 2 and of 4. */
static const int of_onednn[MOST_PEERS] = {0, 2, 4};

typedef struct layer {
    const char *name;
    int pixels, channels, m;
    double of_peak;
} layer;

/* m: of the tiles; where 7 pixels make tiles of 4, a quarter of the products is for nothing. */
static const layer layers[] = {
    {"64@56", 56, 64, 4, 1.8},
    {"128@28", 28, 128, 4, 2.2},
    {"256@14", 14, 256, 4, 1.6},
    {"512@7", 7, 512, 2, 1.1},
};

/* Outputs of F(4, 3) on these data; of the points of the default, 0.6e-5 is usual. */
static const double within = 1e-4;

typedef struct contest {
    at_bench_kernel kernels[DIRECT + 1];
    at_onednn *onednn[MOST_PEERS];
    at_bench_contender of[PEERS + MOST_PEERS];
    int num;
} contest;

static at_status search(const layer *l, const char *template_name, const char *more, at_arena *a,
                        at_bench_search *out, at_error *err) {
    *out = (at_bench_search){.name = l->name,
                             .template_name = template_name,
                             .args = at_format(a, "N=1,H=%d,W=%d,CI=%d,CO=%d%s", l->pixels,
                                               l->pixels, l->channels, l->channels, more),
                             .options = "",
                             .trials = 200,
                             .target = at_bench_target()};
    const at_bench_tuned *tuned = at_bench_tune(out);
    return tuned->ok ? AT_OK : at_fail(err, AT_E_NO_VALID, "%s", tuned->why);
}

/* The same tensors, by their names. */
static at_bench_data same_data(at_arena *a, const at_bench_data *from, const at_program *p) {
    at_bench_data d = {
        .compute = p->compute, .values = p->values, .flops = from->flops, .within = within};
    d.tensor = AT_NEW_ARRAY(a, float *, p->compute->num_tensors);
    d.elements = AT_NEW_ARRAY(a, int64_t, p->compute->num_tensors);
    for (int t = 0; t < p->compute->num_tensors; t++) {
        int other = at_compute_find(from->compute, p->compute->tensors[t].name);
        if (other < 0) continue;
        d.tensor[t] = from->tensor[other];
        d.elements[t] = from->elements[other];
    }
    return d;
}

/* The next of them. */
static at_status open_onednn(const layer *l, const at_bench_data *data, contest *c, at_error *err) {
    int i = c->num - PEERS;
    const at_bench_conv conv = {1, l->pixels, l->pixels, l->channels, l->channels,
                                3, 3,         1,         1,           of_onednn[i]};
    AT_TRY(at_bench_open_onednn_blocked(&conv, data, l->channels, l->channels, &c->onednn[i], err));
    c->of[c->num++] = at_onednn_contender(c->onednn[i]);
    return AT_OK;
}

static at_status open_all(at_arena *a, const layer *l, contest *c, at_error *err) {
    at_bench_search direct, winograd;
    at_program *program;
    at_bench_data data;
    const at_lower_options lo = at_bench_lower_options(at_bench_target());
    at_error is_none;
    AT_TRY(search(l, "conv2d_winograd_nhwc", at_format(a, ",m=%d", l->m), a, &winograd, err));
    AT_TRY(search(l, "conv2d_nhwc", "", a, &direct, err));
    AT_TRY(at_bench_best_open(a, &direct, &program, &data, &c->kernels[DIRECT], err));
    AT_TRY(at_bench_best(a, &winograd, &program, err));
    at_bench_data same = same_data(a, &data, program);
    AT_TRY(at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, &same, &c->kernels[WINOGRAD], err));
    c->of[WINOGRAD] = at_bench_kernel_contender(&c->kernels[WINOGRAD]);
    c->of[DIRECT] = at_bench_kernel_contender(&c->kernels[DIRECT]);
    c->num = DIRECT + 1;
    if (!at_onednn_about()) return AT_OK;
    AT_TRY(open_onednn(l, &data, c, err));
    /* Not every CPU has the other two. */
    while (c->num < PEERS + MOST_PEERS && open_onednn(l, &data, c, &is_none) == AT_OK) continue;
    return AT_OK;
}

static void report(at_arena *a, const layer *l, const contest *c) {
    at_bench_contest timed;
    at_bench_contest_run(&timed, c->of, c->num, at_bench_target());
    at_bench_report_row(at_format(a, "%s F(%d, 3) of the FMA peak", l->name, l->m),
                        at_bench_contest_of_peak(&timed, WINOGRAD), AT_BENCH_GOAL_LEAST,
                        l->of_peak);
    at_bench_report_row(at_format(a, "%s against conv2d_nhwc", l->name),
                        at_bench_contest_speed(&timed, WINOGRAD, DIRECT), AT_BENCH_GOAL_LEAST,
                        l->channels <= 128 ? 1.6 : 1);
    for (int i = PEERS; i < c->num; i++)
        at_bench_report_row(
            at_format(a, "%s against %s", l->name, at_onednn_kernel(c->onednn[i - PEERS])),
            at_bench_contest_speed(&timed, WINOGRAD, i),
            i > PEERS ? AT_BENCH_GOAL_LEAST : AT_BENCH_GOAL_NONE, i > PEERS ? 1.1 : 0);
}

static at_status run(at_arena *a, int i, at_error *err) {
    contest c = {0};
    at_status s = open_all(a, &layers[i], &c, err);
    if (s == AT_OK) report(a, &layers[i], &c);
    for (int k = 0; k < MOST_PEERS; k++) at_onednn_free(c.onednn[k]);
    for (int k = WINOGRAD; k <= DIRECT; k++) at_bench_kernel_close(&c.kernels[k]);
    return s;
}

at_status at_bench_algorithms(at_error *err) {
    at_bench_report_section("Winograd's convolution, best of 200 trials, tcc", "ratio", 2);
    for (int i = 0; i < (int)(sizeof layers / sizeof *layers); i++)
        AT_TRY(at_bench_row(run, i, layers[i].name, err));
    return AT_OK;
}
