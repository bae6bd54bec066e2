/* schedule/compute_sample.c: a few elements of each stage, of computations of any size. What a
 * stage reads of another one is one of its few elements; a sum of many terms is estimated from some
 * of them. */
#include "schedule/schedule_int.h"

#include <math.h>

enum { ELEMENTS = 64, TERMS = 128, STEPS = 4 };

typedef struct sampler {
    eval_ctx ctx;
    at_sample *of;
    at_rng rng;
    int64_t axis[MAX_AXES];
    double (*elements)[ELEMENTS]; /* [tensor] of stages; 0 until they are worked out */
} sampler;

/* The same element for the same place. */
static double element_at(const sampler *s, int tensor, int64_t offset) {
    return s->elements[tensor][(uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

static at_status read_sample(eval_ctx *ctx, int tensor, const int64_t *index, int64_t offset,
                             double *out) {
    (void)index;
    const sampler *s = ctx->user;
    bool is_stage = ctx->compute->tensors[tensor].role == AT_ROLE_STAGE;
    *out = is_stage ? element_at(s, tensor, offset) : s->of->element(s->of, tensor, offset);
    return AT_OK;
}

static int64_t sample_entry(eval_ctx *ctx, int tensor, int64_t offset) {
    const sampler *s = ctx->user;
    return s->of->entry(s->of, tensor, offset);
}

static void see(eval_ctx *ctx, const at_expr *e, double value) {
    const sampler *s = ctx->user;
    s->of->seen(s->of, e, value);
}

/* A random one of the terms at these axes, how many of which there are: 0, no term. */
static at_status term(sampler *s, const at_tensor *t, double *x, double *count) {
    *count = 1;
    for (int i = t->num_axes; i < axes_of(t); i++) {
        int64_t begin = 0, end = s->ctx.extents[s->ctx.stage][i];
        if (t->axes[i].begin) {
            AT_TRY(eval_int(&s->ctx, t->axes[i].begin, &begin));
            AT_TRY(eval_int(&s->ctx, t->axes[i].end, &end));
        }
        *count *= end > begin ? (double)(end - begin) : 0;
        if (*count == 0) return AT_OK;
        s->axis[i] = begin + (int64_t)at_rng_below(&s->rng, (uint64_t)(end - begin));
    }
    return eval_float(&s->ctx, t->body, x);
}

/* A sum of `count` terms of which n were looked at. Where their mean may be 0, sums of more terms
 * grow as the root of their number. */
static double whole_sum(double sum, double squares, double n, double count) {
    const double mean = sum / n, variance = squares / n - mean * mean;
    const bool has_mean = mean * mean * n > 9 * variance;
    return has_mean || count <= n ? mean * count : sum * sqrt(count / n);
}

static at_status reduce(sampler *s, const at_tensor *t, double *total) {
    double terms = 1, x, count, sum = 0, squares = 0, all = 0;
    for (int i = t->num_axes; i < axes_of(t); i++)
        terms *= t->axes[i].begin ? TERMS : (double)s->ctx.extents[s->ctx.stage][i];
    const int n = terms < TERMS ? (int)terms : TERMS;
    *total = at_reduction_neutral(t->reduction);
    for (int i = 0; i < n; i++) {
        AT_TRY(term(s, t, &x, &count));
        all += count / n;
        if (count == 0) continue;
        sum += x, squares += x * x;
        if (t->reduction != AT_REDUCE_SUM) *total = at_reduction_join(t->reduction, x, *total);
    }
    if (t->reduction == AT_REDUCE_SUM && n) *total = whole_sum(sum, squares, n, all);
    return AT_OK;
}

static at_status look_at_stages(sampler *s) {
    const at_compute *c = s->ctx.compute;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        s->ctx.stage = t;
        if (at_halts()) return at_fail_stopped(s->ctx.err);
        for (int i = 0; x->role == AT_ROLE_STAGE && i < ELEMENTS; i++) {
            for (int j = 0; j < x->num_axes; j++)
                s->axis[j] = (int64_t)at_rng_below(&s->rng, (uint64_t)s->ctx.extents[t][j]);
            if (x->num_reduce) AT_TRY(reduce(s, x, &s->elements[t][i]));
            else AT_TRY(eval_float(&s->ctx, x->body, &s->elements[t][i]));
            s->elements[t][i] = stored_value(x, at_expr_is_whole(c, x->body), s->elements[t][i]);
        }
    }
    return AT_OK;
}

at_status at_compute_sample(at_arena *a, const at_compute *c, const int64_t *values, at_sample *of,
                            at_error *err) {
    int64_t **extents;
    AT_TRY(at_compute_extents(a, c, values, &extents, err));
    sampler s = {.of = of,
                 .ctx = {.compute = c,
                         .values = values,
                         .extents = extents,
                         .err = err,
                         .read = read_sample,
                         .entry = sample_entry}};
    s.elements = at_alloc(a, sizeof *s.elements * (size_t)c->num_tensors);
    s.ctx.axis = s.axis;
    s.ctx.user = &s;
    at_rng_seed(&s.rng, 0, 0);
    /* What goes on from step to step is a few steps on before anybody is told of it. */
    const int passes = at_compute_has_recurrence(c) ? STEPS : 1;
    for (int pass = 1; pass <= passes; pass++) {
        s.ctx.seen = pass == passes ? see : NULL;
        AT_TRY(look_at_stages(&s));
    }
    return AT_OK;
}
