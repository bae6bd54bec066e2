/* schedule/compute_sample.c: a few elements of each stage, of computations of any size. What a
 * stage reads of another one is one of its few elements; a sum of many terms is estimated from some
 * of them. */
#include "schedule/schedule_int.h"

enum { ELEMENTS = 64, TERMS = 64 };

typedef struct sampler {
    eval_ctx ctx;
    at_sample *of;
    at_rng rng;
    int64_t axis[MAX_AXES];
    double (*elements)[ELEMENTS]; /* [tensor] of stages */
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

static void see_call(eval_ctx *ctx, const at_expr *call, double argument) {
    const sampler *s = ctx->user;
    s->of->called(s->of, call, argument);
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

static at_status reduce(sampler *s, const at_tensor *t, double *total) {
    double terms = 1, x, count;
    for (int i = t->num_axes; i < axes_of(t); i++)
        terms *= t->axes[i].begin ? TERMS : (double)s->ctx.extents[s->ctx.stage][i];
    const int n = terms < TERMS ? (int)terms : TERMS;
    *total = at_reduction_neutral(t->reduction);
    for (int i = 0; i < n; i++) {
        AT_TRY(term(s, t, &x, &count));
        if (count == 0) continue;
        if (t->reduction == AT_REDUCE_SUM) *total += x * (count / n);
        else *total = at_reduction_join(t->reduction, x, *total);
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
                         .entry = sample_entry,
                         .called = see_call}};
    s.elements = at_alloc(a, sizeof *s.elements * (size_t)c->num_tensors);
    s.ctx.axis = s.axis;
    s.ctx.user = &s;
    at_rng_seed(&s.rng, 0, 0);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        s.ctx.stage = t;
        for (int i = 0; x->role == AT_ROLE_STAGE && i < ELEMENTS; i++) {
            for (int j = 0; j < x->num_axes; j++)
                s.axis[j] = (int64_t)at_rng_below(&s.rng, (uint64_t)extents[t][j]);
            if (x->num_reduce) AT_TRY(reduce(&s, x, &s.elements[t][i]));
            else AT_TRY(eval_float(&s.ctx, x->body, &s.elements[t][i]));
        }
    }
    return AT_OK;
}
