/* bench/lowp.c: products and convolutions of bytes (examples/te), the best of 200 trials of derived
 * loop trees, as a share of the dot peak, which is four times that of multiply-adds of floats. */
#include "bench/bench.h"
#include "engine/engine.h"

enum { TRIALS = 200, DOTS_TO_FMA = 4 };

typedef struct row {
    const char *name, *file, *args;
    double target; /* of the dot peak */
} row;

#define CONV(title, kernel, pad, pixels, from, to)                                                 \
    {                                                                                              \
        title, "conv2d_u8s8",                                                                      \
            "H=" #pixels ",W=" #pixels ",CI=" #from ",CO=" #to ",K=" #kernel ",P=" #pad, 0.9       \
    }
static const row rows[] = {CONV("3x3-56", 3, 1, 56, 64, 64),
                           CONV("3x3-28", 3, 1, 28, 128, 128),
                           CONV("3x3-14", 3, 1, 14, 256, 256),
                           CONV("3x3-7", 3, 1, 7, 512, 512),
                           CONV("1x1-56", 1, 0, 56, 64, 256),
                           CONV("1x1-14", 1, 0, 14, 1024, 256),
                           {"dense", "dense_u8s8", "M=1024,N=1024,K=1024", 0.9},
                           {"dense-128", "dense_u8s8", "M=128,N=768,K=768", 0.9},
                           {"signed-128", "dense_s8s8", "M=128,N=768,K=768", 0.8}};

static at_status run(at_arena *a, int i, at_error *err) {
    const row *r = &rows[i];
    at_bench_search s = at_bench_te_search(a, r->name, r->file, r->args, TRIALS);
    at_program *p;
    at_bench_data data;
    at_bench_kernel kernel;
    at_bench_contest c;
    s.target = at_target_with_dots(at_bench_target(), AT_DOT_BYTES);
    AT_TRY(at_bench_best_open(a, &s, &p, &data, &kernel, err));
    const at_bench_contender of = at_bench_kernel_contender(&kernel);
    at_bench_contest_run(&c, &of, 1, at_bench_target());
    at_bench_spread share = at_bench_contest_of_peak(&c, 0);
    share.low /= DOTS_TO_FMA, share.median /= DOTS_TO_FMA, share.high /= DOTS_TO_FMA;
    for (int k = 0; k < AT_BENCH_KINDS; k++) share.in[k] /= DOTS_TO_FMA;
    at_bench_report_row(at_format(a, "%s.te %s", r->file, r->name), share, AT_BENCH_GOAL_LEAST,
                        r->target);
    at_bench_kernel_close(&kernel);
    return AT_OK;
}

at_status at_bench_lowp(at_error *err) {
    at_status s = AT_OK;
    at_bench_report_section("Products of bytes, best of 200 trials", "of the dot peak", 2);
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows) && s == AT_OK; i++)
        if (!at_target_with_dots(at_bench_target(), AT_DOT_BYTES)->dots)
            at_bench_report_skip(rows[i].name, "the CPU has no dot products");
        else if (at_bench_is_wanted(rows[i].name)) s = at_bench_row(run, i, rows[i].name, err);
    return s;
}
