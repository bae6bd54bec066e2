/* bench/algorithms.c: Winograd's convolution against our best direct one and against oneDNN's two,
 * on the 3x3 layers of ResNet-50; with weights that are in no cache; in batches of 10; and a sparse
 * convolution beside it. All count the operations of the definition, the sparse one its time alone.
 */
#include "bench/peers.h"

enum { WINOGRAD, DIRECT, OURS, MOST_PEERS = 3, MOST_COPIES = 128 };

/* What oneDNN has: direct, Winograd with tiles of 2 and of 4. */
static const int of_onednn[MOST_PEERS] = {0, 2, 4};

typedef struct layer {
    const char *name;
    int batch, pixels, channels, m;
    double of_peak; /* 0: nothing is asked */
    int sparse;     /* the same of at_bench_layers; -1: none */
} layer;

/* m: of the tiles; where 7 pixels make tiles of 4, a quarter of the products is for nothing. */
static const layer layers[] = {
    {"64@56", 1, 56, 64, 4, 1.8, 0},    {"128@28", 1, 28, 128, 4, 2.2, 1},
    {"256@14", 1, 14, 256, 4, 1.6, 2},  {"512@7", 1, 7, 512, 2, 1.1, 3},
    {"10x64@56", 10, 56, 64, 4, 0, -1}, {"10x128@28", 10, 28, 128, 4, 0, -1},
};

/* Outputs of F(4, 3) on these data; of the points of the default, 0.6e-5 is usual. */
static const double within = 1e-4;

typedef struct contest {
    at_bench_kernel kernels[OURS];
    at_onednn *onednn[MOST_PEERS];
    at_bench_contender of[OURS + MOST_PEERS];
    int num;
    at_bench_data data; /* of WINOGRAD */
    at_program *program;
} contest;

static at_status search(const layer *l, const char *template_name, const char *more, at_arena *a,
                        at_bench_search *out, at_error *err) {
    *out =
        (at_bench_search){.name = l->name,
                          .template_name = template_name,
                          .args = at_format(a, "N=%d,H=%d,W=%d,CI=%d,CO=%d%s", l->batch, l->pixels,
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
    int i = c->num - OURS;
    const at_bench_conv conv = {l->batch, l->pixels, l->pixels, l->channels, l->channels,
                                3,        3,         1,         1,           of_onednn[i]};
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
    AT_TRY(
        search(l, "conv2d_winograd_nhwc", at_format(a, ",m=%d,points=0", l->m), a, &winograd, err));
    AT_TRY(search(l, "conv2d_nhwc", "", a, &direct, err));
    AT_TRY(at_bench_best_open(a, &direct, &program, &data, &c->kernels[DIRECT], err));
    AT_TRY(at_bench_best(a, &winograd, &program, err));
    c->program = program;
    c->data = same_data(a, &data, program);
    AT_TRY(
        at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, &c->data, &c->kernels[WINOGRAD], err));
    c->of[WINOGRAD] = at_bench_kernel_contender(&c->kernels[WINOGRAD]);
    c->of[DIRECT] = at_bench_kernel_contender(&c->kernels[DIRECT]);
    c->num = DIRECT + 1;
    if (!at_onednn_about()) return AT_OK;
    AT_TRY(open_onednn(l, &data, c, err));
    /* Not every CPU has the other two. */
    while (c->num < OURS + MOST_PEERS && open_onednn(l, &data, c, &is_none) == AT_OK) continue;
    return AT_OK;
}

static void report(at_arena *a, const layer *l, const contest *c) {
    at_bench_contest timed;
    at_bench_contest_run(&timed, c->of, c->num, at_bench_target());
    at_bench_report_row(at_format(a, "%s F(%d, 3) of the FMA peak", l->name, l->m),
                        at_bench_contest_of_peak(&timed, WINOGRAD),
                        l->of_peak > 0 ? AT_BENCH_GOAL_LEAST : AT_BENCH_GOAL_NONE, l->of_peak);
    at_bench_report_row(at_format(a, "%s against conv2d_nhwc", l->name),
                        at_bench_contest_speed(&timed, WINOGRAD, DIRECT), AT_BENCH_GOAL_LEAST,
                        l->channels <= 128 ? 1.6 : 1);
    for (int i = OURS; i < c->num; i++)
        at_bench_report_row(
            at_format(a, "%s against %s", l->name, at_onednn_kernel(c->onednn[i - OURS])),
            at_bench_contest_speed(&timed, WINOGRAD, i),
            i > OURS ? AT_BENCH_GOAL_LEAST : AT_BENCH_GOAL_NONE, i > OURS ? 1.1 : 0);
}

/* ---- weights that are in no cache ------------------------------------------------------------ */

/* The same kernel with weights of its own each time, so many that the last cache is left behind
 * until the first comes again. */
typedef struct cold {
    at_bench_kernel of[MOST_COPIES];
    at_bench_contender each[MOST_COPIES];
    int num, next;
} cold;

static void run_next(void *context) {
    cold *k = context;
    at_bench_contender *now = &k->each[k->next++ % k->num];
    now->run(now->context);
}

static double weight_bytes(const at_program *p) {
    double bytes = 0;
    for (int t = 0; t < p->compute->num_tensors; t++) {
        double n = 4;
        for (int i = 0; i < p->compute->tensors[t].num_axes; i++) n *= (double)p->extents[t][i];
        if (p->compute->tensors[t].is_packing && !p->dissolved[t]) bytes += n;
    }
    return bytes;
}

static at_status report_cold(at_arena *a, const layer *l, const contest *c, at_error *err) {
    const at_lower_options lo = at_bench_lower_options(at_bench_target());
    double copies = 2 * (double)at_cpu_facts()->l3_bytes / weight_bytes(c->program);
    int wanted = copies < 2 ? 2 : copies > MOST_COPIES ? MOST_COPIES : (int)copies;
    cold *k = AT_NEW(a, cold);
    at_bench_contest timed;
    at_status s = AT_OK;
    while (k->num < wanted && s == AT_OK) {
        at_bench_kernel *made = &k->of[k->num];
        s = at_bench_kernel_open(a, c->program, &lo, AT_TCC, NULL, &c->data, made, err);
        if (s != AT_OK) break;
        made->workspace = k->of[0].workspace; /* which is no weight */
        k->each[k->num++] = at_bench_kernel_contender(made);
    }
    at_bench_contender of[] = {c->of[WINOGRAD], {run_next, k, c->of[WINOGRAD].flops}};
    if (s == AT_OK) {
        at_bench_contest_run(&timed, of, 2, at_bench_target());
        at_bench_report_row(
            at_format(a, "%s F(%d, 3) of the FMA peak, weights cold", l->name, l->m),
            at_bench_contest_of_peak(&timed, 1), AT_BENCH_GOAL_NONE, 0);
    }
    for (int i = 0; i < k->num; i++) at_bench_kernel_close(&k->of[i]);
    return s;
}

/* ---- a sparse weight beside it --------------------------------------------------------------- */

static at_status report_sparse(at_arena *a, const layer *l, const contest *c, at_error *err) {
    at_bench_kernel sparse = {0};
    at_bench_contest timed;
    at_status s = at_bench_open_sparse(a, &at_bench_layers[l->sparse], &sparse, err);
    at_bench_contender of[] = {c->of[WINOGRAD], at_bench_kernel_contender(&sparse)};
    of[1].flops = of[0].flops; /* speeds then compare as times do */
    if (s == AT_OK) {
        at_bench_contest_run(&timed, of, 2, at_bench_target());
        at_bench_report_row(at_format(a, "%s, its time by that of 16x1 at 0.8", l->name),
                            at_bench_contest_speed(&timed, 1, WINOGRAD), AT_BENCH_GOAL_NONE, 0);
    }
    at_bench_kernel_close(&sparse);
    return s;
}

static at_status run(at_arena *a, int i, at_error *err) {
    contest c = {0};
    at_status s = open_all(a, &layers[i], &c, err);
    if (s == AT_OK) report(a, &layers[i], &c);
    if (s == AT_OK && layers[i].sparse >= 0) s = report_cold(a, &layers[i], &c, err);
    if (s == AT_OK && layers[i].sparse >= 0) s = report_sparse(a, &layers[i], &c, err);
    for (int k = 0; k < MOST_PEERS; k++) at_onednn_free(c.onednn[k]);
    for (int k = WINOGRAD; k <= DIRECT; k++) at_bench_kernel_close(&c.kernels[k]);
    return s;
}

at_status at_bench_algorithms(at_error *err) {
    at_bench_report_section("Winograd's convolution, best of 200 trials, tcc", "ratio", 2);
    for (int i = 0; i < (int)(sizeof layers / sizeof *layers); i++)
        if (at_bench_is_wanted(layers[i].name)) AT_TRY(at_bench_row(run, i, layers[i].name, err));
    return AT_OK;
}
