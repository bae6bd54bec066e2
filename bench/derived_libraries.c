/* bench/derived_libraries.c: computations without a schedule (examples/te) against what a user
 * would call instead. OpenBLAS packs in the timed part and is met with weights packed inline,
 * oneDNN packs ahead and is met so; the other packing stands beside it. */
#include "bench/peers.h"

#include <string.h>

enum { AHEAD, INLINE, PEER, NUM_CONTENDERS, TRIALS = 300 };

/* A convolution of ResNet-50, or, with kh = 0, a product of 1024^3. */
typedef struct row {
    const char *name, *file, *args;
    at_bench_conv conv;
    double target; /* of the peer's speed */
} row;

/* clang-format off */
#define CONV(title, kernel, pad, pixels, from, to, target_)                                        \
    {title, "conv2d",                                                                              \
     "H=" #pixels ",W=" #pixels ",CI=" #from ",CO=" #to ",K=" #kernel ",P=" #pad,                  \
     {1, pixels, pixels, from, to, kernel, kernel, 1, pad, 0}, target_}
static const row rows[] = {
    {"product", "matmul_add", "N=1024,L=1024,M=1024", {0}, 1.0},
    {"dense", "dense", "M=1024,N=1024,K=1024", {0}, 1.0},
    CONV("3x3-56", 3, 1, 56, 64, 64, 1.0),
    CONV("3x3-28", 3, 1, 28, 128, 128, 1.0),
    CONV("3x3-14", 3, 1, 14, 256, 256, 1.0),
    CONV("3x3-7", 3, 1, 7, 512, 512, 1.0),
    CONV("1x1-56", 1, 0, 56, 256, 64, 0.97),
    CONV("1x1-28", 1, 0, 28, 512, 128, 0.97),
    CONV("1x1-14", 1, 0, 14, 1024, 256, 0.97),
    CONV("1x1-7", 1, 0, 7, 2048, 512, 0.97),
};
/* clang-format on */

static const float *tensor(const at_bench_data *d, const char *name) {
    return d->tensor[at_compute_find(d->compute, name)];
}

static at_status open_openblas(at_arena *a, const row *r, const at_bench_data *d,
                               at_openblas_product **out, at_error *err) {
    static const int size[] = {1024, 1024, 1024};
    int result = at_compute_find(d->compute, "out");
    *out = strcmp(r->file, "dense") ? at_openblas_product_new(a, size, tensor(d, "A"),
                                                              tensor(d, "B"), false, tensor(d, "C"))
                                    : at_openblas_product_new(a, size, tensor(d, "data"),
                                                              tensor(d, "weight"), true, NULL);
    return at_bench_check("OpenBLAS", at_openblas_product_output(*out), d->tensor[result],
                          d->elements[result], 0, err);
}

static void report(at_arena *a, const row *r, const at_bench_contest *c, const char *peer) {
    static const char *const packed[] = {[AHEAD] = "packed ahead", [INLINE] = "packed inline"};
    int met = r->conv.kh ? AHEAD : INLINE;
    for (int i = AHEAD; i <= INLINE; i++)
        at_bench_report_row(
            at_format(a, "%s.te %s %s against %s", r->file, r->name, packed[i], peer),
            at_bench_contest_speed(c, i, PEER), i == met ? AT_BENCH_GOAL_LEAST : AT_BENCH_GOAL_NONE,
            r->target);
    at_bench_report_row("    of the FMA peak", at_bench_contest_of_peak(c, met), AT_BENCH_GOAL_NONE,
                        0);
    at_bench_report_row(at_format(a, "    %s of the peak", peer), at_bench_contest_of_peak(c, PEER),
                        AT_BENCH_GOAL_NONE, 0);
    if (r->conv.kh) at_bench_note_padding(&r->conv);
}

static at_status contest(at_arena *a, const row *r, at_bench_kernel *kernel,
                         const at_bench_data *data, at_error *err) {
    at_bench_contender of[NUM_CONTENDERS];
    at_bench_contest c;
    at_onednn *onednn = NULL;
    at_openblas_product *openblas = NULL;
    const bool is_conv = r->conv.kh > 0;
    at_status s =
        is_conv ? at_bench_open_onednn_blocked(&r->conv, data, r->conv.ic, r->conv.oc, &onednn, err)
                : open_openblas(a, r, data, &openblas, err);
    if (s == AT_OK) {
        for (int i = AHEAD; i <= INLINE; i++) of[i] = at_bench_kernel_contender(&kernel[i]);
        of[PEER] = is_conv ? at_onednn_contender(onednn) : at_openblas_product_contender(openblas);
        at_bench_contest_run(&c, of, NUM_CONTENDERS, at_bench_target());
        report(a, r, &c, is_conv ? "oneDNN" : "OpenBLAS");
    }
    at_onednn_free(onednn);
    return s;
}

static at_status run(at_arena *a, int i, at_error *err) {
    const row *r = &rows[i];
    at_bench_search s =
        at_bench_te_search(a, at_format(a, "%s-ahead", r->name), r->file, r->args, TRIALS);
    at_program *p;
    at_bench_data data[2];
    at_bench_kernel kernel[2];
    AT_TRY(at_bench_best_open(a, &s, &p, &data[AHEAD], &kernel[AHEAD], err));
    s.name = at_format(a, "%s-inline", r->name);
    s.options = at_bench_pack_inline;
    at_status status = at_bench_best_open(a, &s, &p, &data[INLINE], &kernel[INLINE], err);
    if (status == AT_OK) {
        status = contest(a, r, kernel, &data[AHEAD], err);
        at_bench_kernel_close(&kernel[INLINE]);
    }
    at_bench_kernel_close(&kernel[AHEAD]);
    return status;
}

at_status at_bench_derived_libraries(at_error *err) {
    at_status s = AT_OK;
    at_bench_report_section("Derived loop trees, best of 300 trials, against libraries", "ratio",
                            2);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && s == AT_OK; i++) {
        const char *missing = rows[i].conv.kh       ? at_onednn_about() ? NULL : "no oneDNN"
                              : at_openblas_about() ? NULL
                                                    : "no OpenBLAS";
        if (!at_bench_is_wanted(rows[i].name) && !at_bench_is_wanted("libraries")) continue;
        if (missing) at_bench_report_skip(rows[i].name, missing);
        else s = at_bench_row(run, i, rows[i].name, err);
    }
    return s;
}
