/* bench/templates.c: the best that the tool finds for its dense templates, against what a user
 * would call instead: oneDNN's direct convolution and OpenBLAS's sgemm. */
#include "bench/peers.h"

#include <string.h>

enum { OURS, PEER, NUM_CONTENDERS };

/* A convolution, or, with kh = 0, a product of 1024^3. */
typedef struct row {
    at_bench_search search;
    at_bench_conv conv;
    double target; /* of the peer's speed */
} row;

/* clang-format off */
#define NCHWC(title, kernel, pixels, from, to, stride_, pad_, target_)                             \
    {{title, "conv2d_NCHWc",                                                                       \
      "N=1,IC=" #from ",H=" #pixels ",W=" #pixels ",OC=" #to ",KH=" #kernel ",KW=" #kernel         \
      ",strides=" #stride_ ",padding=" #pad_,                                                      \
      "", 200, NULL},                                                                              \
     {1, pixels, pixels, from, to, kernel, kernel, stride_, pad_, 0}, target_}
#define NHWC(title, pixels, channels)                                                              \
    {{title, "conv2d_nhwc", "N=1,H=" #pixels ",W=" #pixels ",CI=" #channels ",CO=" #channels, "",  \
      200, NULL},                                                                                  \
     {1, pixels, pixels, channels, channels, 3, 3, 1, 1, 0}, 0.85}

static const row rows[] = {
    NCHWC("64@56", 3, 56, 64, 64, 1, 1, 0.97),
    NCHWC("128@28", 3, 28, 128, 128, 1, 1, 0.97),
    NCHWC("256@14", 3, 14, 256, 256, 1, 1, 0.97),
    NCHWC("512@7", 3, 7, 512, 512, 1, 1, 0.97),
    NCHWC("1x1 256@56 to 64", 1, 56, 256, 64, 1, 0, 0.92),
    NCHWC("1x1 512@28 to 128", 1, 28, 512, 128, 1, 0, 0.92),
    NCHWC("1x1 1024@14 to 256", 1, 14, 1024, 256, 1, 0, 0.92),
    NCHWC("1x1 2048@7 to 512", 1, 7, 2048, 512, 1, 0, 0.92),
    NCHWC("7x7 stride 2, 3@224 to 64", 7, 224, 3, 64, 2, 3, 0.85),
    NHWC("64@56", 56, 64),
    NHWC("128@28", 28, 128),
    NHWC("256@14", 14, 256),
    NHWC("512@7", 7, 512),
    {{"1024^3", "dense", "M=1024,N=1024,K=1024", "", 200, NULL}, {0}, 1.0},
    {{"1024^3", "matmul_add", "N=1024,L=1024,M=1024", "", 200, NULL}, {0}, 1.0},
};
/* clang-format on */

static int64_t value_of(const at_program *p, const char *name) {
    return p->values[at_symbol_find(p->compute->symbols, name)];
}

/* data [y, k] times weight, which matmul_add has as [k, x] and dense as [x, k]. */
static at_status open_openblas(at_arena *a, const at_program *p, const at_bench_data *d,
                               at_openblas_product **out, at_error *err) {
    const at_compute *c = d->compute;
    int x = (int)value_of(p, "X"), y = (int)value_of(p, "Y"), k = (int)value_of(p, "K");
    int result = at_compute_find(c, "out"), addend = at_compute_find(c, "addend");
    *out = at_openblas_product_new(a, (int[]){y, x, k}, d->tensor[at_compute_find(c, "data")],
                                   d->tensor[at_compute_find(c, "weight")], addend < 0,
                                   addend < 0 ? NULL : d->tensor[addend]);
    return at_bench_check("OpenBLAS", at_openblas_product_output(*out), d->tensor[result],
                          d->elements[result], 0, err);
}

static void report(at_arena *a, const row *r, const at_bench_contest *c, const char *peer) {
    const char *what = at_format(a, "%s %s", r->search.template_name, r->search.name);
    at_bench_report_row(at_format(a, "%s of the FMA peak", what), at_bench_contest_of_peak(c, OURS),
                        AT_BENCH_GOAL_NONE, 0);
    at_bench_report_row(at_format(a, "    %s of the peak", peer), at_bench_contest_of_peak(c, PEER),
                        AT_BENCH_GOAL_NONE, 0);
    if (r->conv.kh) at_bench_note_padding(&r->conv);
    at_bench_report_row(at_format(a, "%s against %s", what, peer),
                        at_bench_contest_speed(c, OURS, PEER), AT_BENCH_GOAL_LEAST, r->target);
}

static at_status contest(at_arena *a, const void *of_row, const at_program *program,
                         at_bench_kernel *kernel, const at_bench_data *data, at_error *err) {
    const row *r = of_row;
    at_bench_contender of[NUM_CONTENDERS];
    at_bench_contest c;
    at_onednn *onednn = NULL;
    at_openblas_product *openblas = NULL;
    at_status s = AT_OK;
    bool nhwc = r->conv.kh && !strcmp(r->search.template_name, "conv2d_nhwc");
    of[OURS] = at_bench_kernel_contender(kernel);
    if (r->conv.kh) {
        s = at_bench_open_onednn_blocked(&r->conv, data, nhwc ? r->conv.ic : value_of(program, "i"),
                                         nhwc ? r->conv.oc : value_of(program, "o"), &onednn, err);
        if (s == AT_OK) of[PEER] = at_onednn_contender(onednn);
    } else {
        s = open_openblas(a, program, data, &openblas, err);
        if (s == AT_OK) of[PEER] = at_openblas_product_contender(openblas);
    }
    if (s == AT_OK) {
        at_bench_contest_run(&c, of, NUM_CONTENDERS, at_bench_target());
        report(a, r, &c, r->conv.kh ? "oneDNN" : "OpenBLAS sgemm");
    }
    at_onednn_free(onednn);
    return s;
}

static at_status run(at_arena *a, int i, at_error *err) {
    return at_bench_best_meets(a, &rows[i].search, contest, &rows[i], err);
}

at_status at_bench_templates(at_error *err) {
    at_status s = AT_OK;
    at_bench_report_section("Templates, best of 200 trials, tcc", "ratio", 2);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && s == AT_OK; i++) {
        const char *missing = rows[i].conv.kh       ? at_onednn_about() ? NULL : "no oneDNN"
                              : at_openblas_about() ? NULL
                                                    : "no OpenBLAS";
        if (missing) at_bench_report_skip(rows[i].search.name, missing);
        else s = at_bench_row(run, i, rows[i].search.name, err);
    }
    return s;
}
