/* bench/fused.c: what stages behind a convolution cost as a part of it: the best configuration of
 * the plain task on layers of ResNet-50, with bias and ReLU, and with an addend besides, against
 * the same without. */
#include "bench/bench.h"

#include <string.h>

enum { PLAIN, RELU, ADD, COPY, CONTENDERS };

static const char *const forms[] = {"", "+bias+relu", "+bias+add+relu"};

typedef struct copying { /* of as many bytes as the addend has */
    float *from, *to;
    size_t size_bytes;
} copying;

static void copy(void *context) {
    const copying *c = context;
    memcpy(c->to, c->from, c->size_bytes);
}

/* The same point of the space with stages behind it. */
static at_status open_form(at_arena *a, const at_bench_search *s, int form, at_bench_data *data,
                           at_bench_kernel *kernel, at_error *err) {
    at_bench_search of = *s;
    at_program *program;
    const at_lower_options lo = at_bench_lower_options(s->target);
    of.template_name = at_format(a, "%s%s", s->template_name, forms[form]);
    AT_TRY(at_bench_program_at(a, &of, at_bench_tune(s)->index, &program, err));
    AT_TRY(at_bench_data_new(a, program->compute, program->values, data, err));
    return at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, data, kernel, err);
}

static at_status open_all(at_arena *a, const at_bench_search *s, at_bench_kernel *kernels,
                          at_bench_contender *of, copying *c, at_error *err) {
    at_bench_data data;
    for (int i = PLAIN; i <= ADD; i++) {
        AT_TRY(open_form(a, s, i, &data, &kernels[i], err));
        of[i] = at_bench_kernel_contender(&kernels[i]);
    }
    int addend = at_compute_find(data.compute, "addend");
    c->size_bytes = (size_t)data.elements[addend] * 4;
    c->from = at_bench_alloc((int64_t)c->size_bytes);
    c->to = at_bench_alloc((int64_t)c->size_bytes);
    of[COPY] = (at_bench_contender){copy, c, (double)c->size_bytes / 4};
    return AT_OK;
}

/* The time with an addend, as a multiple of 1.03 times the plain one's and that of reading as many
 * bytes, half a copy's. */
static double with_addend(const at_bench_contest *c, const double *times, int plain, int add) {
    (void)c;
    return times[COPY] > 0 ? times[add] / (1.03 * times[plain] + 0.5 * times[COPY]) : 0;
}

static at_status run_search(at_arena *a, const at_bench_search *s, at_error *err) {
    const at_bench_tuned *tuned = at_bench_tune(s);
    at_bench_kernel kernels[CONTENDERS] = {{0}};
    at_bench_contender of[CONTENDERS];
    at_bench_contest contest;
    copying c;
    if (!tuned->ok) return at_fail(err, AT_E_NO_VALID, "%s", tuned->why);
    at_status status = open_all(a, s, kernels, of, &c, err);
    if (status == AT_OK) {
        at_bench_contest_run(&contest, of, CONTENDERS, s->target);
        at_bench_report_row(at_format(a, "%s: bias and ReLU, in time", s->name),
                            at_bench_contest_speed(&contest, PLAIN, RELU), AT_BENCH_GOAL_MOST,
                            1.03);
        at_bench_report_row(at_format(a, "%s: an addend besides", s->name),
                            at_bench_contest_of(&contest, with_addend, PLAIN, ADD),
                            AT_BENCH_GOAL_MOST, 1);
    }
    for (int i = PLAIN; i <= ADD; i++) at_bench_kernel_close(&kernels[i]);
    return status;
}

static const struct {
    const char *name, *template_name, *args;
} layers[] = {
    {"NCHWc 64@56 3x3", "conv2d_NCHWc", "IC=64,H=56,W=56,OC=64"},
    {"NCHWc 256@14 3x3", "conv2d_NCHWc", "IC=256,H=14,W=14,OC=256"},
    {"NCHWc 512@7 3x3", "conv2d_NCHWc", "IC=512,H=7,W=7,OC=512"},
    {"NCHWc 64>256@56 1x1", "conv2d_NCHWc", "IC=64,H=56,W=56,OC=256,KH=1,KW=1,padding=0"},
    {"nhwc 128@28 3x3", "conv2d_nhwc", "CI=128,H=28,W=28,CO=128"},
    {"gemm 64@56 3x3", "conv2d_3x3_gemm", "CI=64,H=56,W=56,CO=64"},
};

static at_status run(at_arena *a, int i, at_error *err) {
    const at_bench_search s = {.name = layers[i].name,
                               .template_name = layers[i].template_name,
                               .args = layers[i].args,
                               .options = "",
                               .trials = 100,
                               .target = at_bench_target()};
    return run_search(a, &s, err);
}

at_status at_bench_fused(at_error *err) {
    at_bench_report_section("Stages behind a convolution, against the same without", "ratio", 3);
    for (int i = 0; i < (int)(sizeof layers / sizeof *layers); i++)
        AT_TRY(at_bench_row(run, i, layers[i].name, err));
    return AT_OK;
}
