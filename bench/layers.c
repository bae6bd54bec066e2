/* bench/layers.c: what the operator conv2d finds on whole networks and on odd sizes, against the
 * best of oneDNN (direct, and both of its Winograd's), XNNPACK, and im2col with OpenBLAS. Each
 * template has a search of its own; the fastest of them is what counts. ROWS in the environment
 * names groups or single layers: "vgg resnet-3". */
#include "bench/peers.h"

#include <math.h>
#include <string.h>

enum { MOST_OURS = 4, MOST_PEERS = 5, NUM_ODD = 40, TRIALS = 60 };

/* Outputs of F(4, 3), in units of their root mean square, on data that are not normal. */
static const double within = 1e-4;
/* What a layer is to reach against the best peer. */
static const double least = 1, least_1x1 = 0.97, mean_3x3 = 1.2;

typedef struct shape {
    int ic, h, w, oc, kernel, stride, pad;
} shape;

/* clang-format off */
static const shape resnet[] = { /* 53 convolutions of 20 shapes */
    {3, 224, 224, 64, 7, 2, 3}, {64, 56, 56, 64, 1, 1, 0}, {64, 56, 56, 64, 3, 1, 1},
    {64, 56, 56, 256, 1, 1, 0}, {256, 56, 56, 64, 1, 1, 0}, {256, 56, 56, 128, 1, 2, 0},
    {256, 56, 56, 512, 1, 2, 0}, {128, 28, 28, 128, 3, 1, 1}, {128, 28, 28, 512, 1, 1, 0},
    {512, 28, 28, 128, 1, 1, 0}, {512, 28, 28, 256, 1, 2, 0}, {512, 28, 28, 1024, 1, 2, 0},
    {256, 14, 14, 256, 3, 1, 1}, {256, 14, 14, 1024, 1, 1, 0}, {1024, 14, 14, 256, 1, 1, 0},
    {1024, 14, 14, 512, 1, 2, 0}, {1024, 14, 14, 2048, 1, 2, 0}, {512, 7, 7, 512, 3, 1, 1},
    {512, 7, 7, 2048, 1, 1, 0}, {2048, 7, 7, 512, 1, 1, 0}};
static const shape vgg[] = { /* 13 of 9 */
    {3, 224, 224, 64, 3, 1, 1}, {64, 224, 224, 64, 3, 1, 1}, {64, 112, 112, 128, 3, 1, 1},
    {128, 112, 112, 128, 3, 1, 1}, {128, 56, 56, 256, 3, 1, 1}, {256, 56, 56, 256, 3, 1, 1},
    {256, 28, 28, 512, 3, 1, 1}, {512, 28, 28, 512, 3, 1, 1}, {512, 14, 14, 512, 3, 1, 1}};
static const shape mobilenet[] = { /* MobileNetV2's, but for the depthwise ones */
    {3, 224, 224, 32, 3, 2, 1}, {32, 112, 112, 16, 1, 1, 0}, {16, 112, 112, 96, 1, 1, 0},
    {96, 56, 56, 24, 1, 1, 0}, {24, 56, 56, 144, 1, 1, 0}, {144, 56, 56, 24, 1, 1, 0},
    {144, 28, 28, 32, 1, 1, 0}, {32, 28, 28, 192, 1, 1, 0}, {192, 28, 28, 32, 1, 1, 0},
    {192, 14, 14, 64, 1, 1, 0}, {64, 14, 14, 384, 1, 1, 0}, {384, 14, 14, 64, 1, 1, 0},
    {384, 14, 14, 96, 1, 1, 0}, {96, 14, 14, 576, 1, 1, 0}, {576, 14, 14, 96, 1, 1, 0},
    {576, 7, 7, 160, 1, 1, 0}, {160, 7, 7, 960, 1, 1, 0}, {960, 7, 7, 160, 1, 1, 0},
    {960, 7, 7, 320, 1, 1, 0}, {320, 7, 7, 1280, 1, 1, 0}};
/* clang-format on */

#define COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
static shape odd[NUM_ODD];
static const struct {
    const char *name;
    const shape *of;
    int num;
} groups[] = {{"resnet", resnet, COUNT(resnet)},
              {"vgg", vgg, COUNT(vgg)},
              {"mobilenet", mobilenet, COUNT(mobilenet)},
              {"odd", odd, NUM_ODD}};

/* Sizes that nothing divides. */
static void make_odd(void) {
    static const int kernels[] = {3, 1, 3, 5};
    at_rng rng;
    at_rng_seed(&rng, 20, 1);
    for (int i = 0; i < NUM_ODD; i++) {
        int kernel = kernels[i % 4];
        odd[i] = (shape){.ic = 3 + 2 * (int)at_rng_below(&rng, 100),
                         .h = 7 + 2 * (int)at_rng_below(&rng, 30),
                         .w = 7 + 2 * (int)at_rng_below(&rng, 30),
                         .oc = 5 + 2 * (int)at_rng_below(&rng, 100),
                         .kernel = kernel,
                         .stride = i % 8 == 7 ? 2 : 1,
                         .pad = kernel / 2};
    }
}

/* ---- one layer ------------------------------------------------------------------------------- */

typedef struct contest {
    const char *name;
    at_bench_conv conv;
    at_bench_data data; /* of conv2d_nhwc */
    at_bench_kernel ours[MOST_OURS];
    const char *of[MOST_OURS];
    at_onednn *onednn[MOST_PEERS];
    at_xnnpack *xnnpack;
    at_bench_contender peers[MOST_PEERS];
    const char *names[MOST_PEERS];
    int num_ours, num_peers;
} contest;

static bool is_3x3(const at_bench_conv *s) { return s->kh == 3 && s->stride == 1; }
static bool is_5x5(const at_bench_conv *s) { return s->kh == 5 && s->stride == 1; }
static bool is_1x1(const at_bench_conv *s) { return s->kh == 1; }

/* [taps, ic, oc] to [oc, taps, ic]. */
static float *outputs_first(const at_bench_conv *s, const float *from) {
    int64_t taps = (int64_t)s->kh * s->kw * s->ic;
    float *to = at_bench_alloc(taps * s->oc * 4);
    for (int64_t k = 0; k < taps; k++)
        for (int64_t o = 0; o < s->oc; o++) to[o * taps + k] = *from++;
    return to;
}

static float *tensor(const at_bench_data *d, const char *name) {
    return d->tensor[at_compute_find(d->compute, name)];
}

/* The same tensors, by their names; a product has the weight of a convolution turned round. */
static at_bench_data same_data(at_arena *a, const contest *c, const at_program *p, bool turned) {
    const at_bench_data *from = &c->data;
    at_bench_data d = {
        .compute = p->compute, .values = p->values, .flops = from->flops, .within = within};
    d.tensor = AT_NEW_ARRAY(a, float *, p->compute->num_tensors);
    d.elements = AT_NEW_ARRAY(a, int64_t, p->compute->num_tensors);
    for (int t = 0; t < p->compute->num_tensors; t++) {
        const char *name = p->compute->tensors[t].name;
        int other = at_compute_find(from->compute, name);
        if (other < 0) continue;
        d.tensor[t] = turned && !strcmp(name, "weight")
                          ? outputs_first(&c->conv, from->tensor[other])
                          : from->tensor[other];
        d.elements[t] = from->elements[other];
    }
    return d;
}

static at_status open_way(at_arena *a, contest *c, const char *template_name, const char *args,
                          at_error *err) {
    const at_lower_options lo = at_bench_lower_options(at_bench_target());
    at_bench_search search = {.name = c->name,
                              .template_name = template_name,
                              .args = args,
                              .options = "",
                              .trials = TRIALS,
                              .target = at_bench_target()};
    at_bench_kernel *kernel = &c->ours[c->num_ours];
    at_program *program;
    if (!c->num_ours) AT_TRY(at_bench_best_open(a, &search, &program, &c->data, kernel, err));
    else {
        AT_TRY(at_bench_best(a, &search, &program, err));
        at_bench_data same = same_data(a, c, program, !strcmp(template_name, "dense"));
        AT_TRY(at_bench_kernel_open(a, program, &lo, AT_TCC, NULL, &same, kernel, err));
    }
    c->of[c->num_ours++] = template_name;
    return AT_OK;
}

/* The first makes the data; what the others cannot do they leave out. */
static at_status open_ours(at_arena *a, contest *c, at_error *err) {
    const at_bench_conv *s = &c->conv;
    at_error is_none;
    const char *sizes =
        at_format(a, "N=%d,H=%d,W=%d,CI=%d,CO=%d", s->n, s->ih, s->iw, s->ic, s->oc);
    AT_TRY(open_way(a, c, "conv2d_nhwc",
                    at_format(a, "%s,KH=%d,KW=%d,strides=%d,padding=%d", sizes, s->kh, s->kw,
                              s->stride, s->pad),
                    err));
    for (int m = is_3x3(s) ? 4 : 2; m >= 2 && (is_3x3(s) || is_5x5(s)); m -= 2)
        (void)open_way(
            a, c, "conv2d_winograd_nhwc",
            at_format(a, "%s,KH=%d,KW=%d,padding=%d,m=%d", sizes, s->kh, s->kw, s->pad, m),
            &is_none);
    if (is_1x1(s) && s->stride == 1)
        (void)open_way(a, c, "dense",
                       at_format(a, "M=%d,N=%d,K=%d", s->n * s->ih * s->iw, s->oc, s->ic),
                       &is_none);
    return AT_OK;
}

static void open_peers(at_arena *a, contest *c) {
    static const int winograd[] = {0, 2, 4};
    at_error is_none;
    for (int i = 0; i < (is_3x3(&c->conv) ? 3 : 1) && at_onednn_about(); i++) {
        at_bench_conv conv = c->conv;
        at_onednn **made = &c->onednn[c->num_peers];
        conv.winograd = winograd[i];
        if (at_bench_open_onednn_blocked(&conv, &c->data, conv.ic, conv.oc, made, &is_none) !=
            AT_OK) {
            at_onednn_free(*made);
            *made = NULL;
            continue;
        }
        c->names[c->num_peers] = at_onednn_kernel(*made);
        c->peers[c->num_peers++] = at_onednn_contender(*made);
    }
    const float *data = tensor(&c->data, "data");
    const float *weight = outputs_first(&c->conv, tensor(&c->data, "weight"));
    int out = at_compute_find(c->data.compute, "out");
    if (at_xnnpack_is_there() && (c->xnnpack = at_xnnpack_conv(a, &c->conv, data, weight)) &&
        at_bench_check("XNNPACK", at_xnnpack_output(c->xnnpack), c->data.tensor[out],
                       c->data.elements[out], 0, &is_none) == AT_OK) {
        c->names[c->num_peers] = "XNNPACK";
        c->peers[c->num_peers++] = at_xnnpack_contender(c->xnnpack);
    }
    if (!at_openblas_about()) return;
    at_openblas *b = at_openblas_conv(a, &c->conv, data, weight);
    c->names[c->num_peers] = "im2col and OpenBLAS";
    c->peers[c->num_peers++] = at_openblas_contender(b);
}

static int fastest(const at_bench_contest *timed, int from, int n) {
    int best = from;
    for (int i = from; i < n; i++)
        if (at_bench_contest_speed(timed, i, best).median > 1) best = i;
    return best;
}

/* The fastest of ours, whatever it is, in time by that of 16x1 at 0.8. */
static void report_pruned(at_arena *a, contest *c, int best) {
    const at_bench_conv *s = &c->conv;
    at_bench_pruned pruned = {
        .name = at_format(a, "%s-pruned", c->name), .options = "", .trials = TRIALS};
    at_bench_kernel kernel = {0};
    at_bench_contest timed;
    at_error why;
    if (is_3x3(s)) {
        pruned.template_name = "spconv2d_3x3_gemm";
        pruned.sizes = at_format(a, "N=%d,H=%d,W=%d,CI=%d,CO=%d", s->n, s->ih, s->iw, s->ic, s->oc);
    } else if (is_1x1(s) && s->stride == 1) {
        pruned.template_name = "sparse_dense";
        pruned.sizes = at_format(a, "M=%d,N=%d,K=%d", s->n * s->ih * s->iw, s->oc, s->ic);
    } else {
        pruned.template_name = "spconv2d_nhwc";
        pruned.sizes = at_format(a, "N=%d,H=%d,W=%d,CI=%d,CO=%d,KH=%d,KW=%d,strides=%d,padding=%d",
                                 s->n, s->ih, s->iw, s->ic, s->oc, s->kh, s->kw, s->stride, s->pad);
    }
    if (at_bench_open_pruned(a, &pruned, &kernel, &why) == AT_OK) {
        at_bench_contender of[] = {at_bench_kernel_contender(&kernel),
                                   at_bench_kernel_contender(&c->ours[best])};
        of[0].flops = of[1].flops; /* speeds then compare as times do */
        at_bench_contest_run(&timed, of, 2, at_bench_target());
        at_bench_report_row(
            at_format(a, "%s, time of %s by that of 16x1 at 0.8", c->name, c->of[best]),
            at_bench_contest_speed(&timed, 0, 1), AT_BENCH_GOAL_NONE, 0);
    } else at_bench_report_skip(pruned.name, why.text);
    at_bench_kernel_close(&kernel);
}

static double sum_of_logs;
static int num_3x3;

static void report(at_arena *a, contest *c, bool prune) {
    at_bench_contest timed;
    at_bench_contender of[AT_BENCH_CONTENDERS];
    for (int i = 0; i < c->num_ours; i++) of[i] = at_bench_kernel_contender(&c->ours[i]);
    at_bench_contest_run(&timed, of, c->num_ours, at_bench_target());
    int best = fastest(&timed, 0, c->num_ours);
    of[0] = at_bench_kernel_contender(&c->ours[best]);
    for (int i = 0; i < c->num_peers; i++) of[1 + i] = c->peers[i];
    at_bench_contest_run(&timed, of, 1 + c->num_peers, at_bench_target());
    int peer = fastest(&timed, 1, 1 + c->num_peers);
    at_bench_spread ratio = at_bench_contest_speed(&timed, 0, peer);
    const at_bench_conv *s = &c->conv;
    at_bench_report_row(at_format(a, "%s %dx%d %d>%d k%d s%d: %s against %s", c->name, s->ih, s->iw,
                                  s->ic, s->oc, s->kh, s->stride, c->of[best], c->names[peer - 1]),
                        ratio, AT_BENCH_GOAL_LEAST, is_1x1(s) ? least_1x1 : least);
    if (is_3x3(s)) sum_of_logs += log(ratio.median), num_3x3++;
    if (prune) report_pruned(a, c, best);
}

static int group_in_hand;

static at_status run(at_arena *a, int i, at_error *err) {
    const shape *s = &groups[group_in_hand].of[i];
    contest c = {.conv = {1, s->h, s->w, s->ic, s->oc, s->kernel, s->kernel, s->stride, s->pad, 0}};
    c.name = at_format(a, "%s-%d", groups[group_in_hand].name, i + 1);
    at_status status = open_ours(a, &c, err);
    if (status == AT_OK) open_peers(a, &c);
    if (status == AT_OK && c.num_peers) report(a, &c, groups[group_in_hand].of == resnet);
    for (int k = 0; k < c.num_peers; k++) at_onednn_free(c.onednn[k]);
    at_xnnpack_free(c.xnnpack);
    for (int k = 0; k < c.num_ours; k++) at_bench_kernel_close(&c.ours[k]);
    return status;
}

at_status at_bench_layers_of_networks(at_error *err) {
    make_odd();
    at_bench_report_section("conv2d, the fastest of its ways, in speed against the fastest peer",
                            "ratio", 2);
    for (int g = 0; g < COUNT(groups); g++)
        for (int i = 0; i < groups[g].num; i++) {
            char name[32];
            snprintf(name, sizeof name, "%s-%d", groups[g].name, i + 1);
            if (!at_bench_is_wanted(groups[g].name) && !at_bench_is_wanted(name)) continue;
            group_in_hand = g;
            AT_TRY(at_bench_row(run, i, name, err));
        }
    if (num_3x3) {
        double mean = exp(sum_of_logs / num_3x3);
        at_bench_report_row("geometric mean of the 3x3 layers of stride 1", at_bench_single(mean),
                            AT_BENCH_GOAL_LEAST, mean_3x3);
    }
    return AT_OK;
}
