/* engine/data/dataset_scale.c: how large data are. Where a function of a long sum is computed, the
 * sum's factors are so small that it stays moderate; so are inputs of which a function's argument
 * is made in another way. Of large values every sigmoid is 0 or 1, which hides what is wrong in the
 * sum, and exponentials are subnormal, which a core takes much longer for, or 0. What lies below a
 * maximum is large: without the maximum it overflows. */
#include "engine/data/dataset.h"

#include <math.h>

/* The exponential of 89 is no float. */
#define HIGHEST 90
/* Arguments of functions are within this, but for so many of them. */
#define MODERATE 20
#define MOST_BEYOND 0.125
#define LEAST_FACTOR 0x1p-20

/* ---- sums of products ------------------------------------------------------------------------ */

static bool is_maximum(const at_compute *c, const at_expr *e) {
    if (e->op != AT_X_INDEX) return false;
    const at_tensor *t = &c->tensors[e->ref];
    return t->num_reduce && t->reduction == AT_REDUCE_MAX;
}

static bool reads_maximum(const at_compute *c, const at_expr *e) {
    if (e->op == AT_X_INDEX) return is_maximum(c, e);
    for (int i = 0; i < e->nargs; i++)
        if (reads_maximum(c, e->arg[i])) return true;
    return false;
}

static bool levels_off(const at_expr *e) {
    return e->op == AT_X_CALL &&
           (e->integer == AT_FUNCTION_EXP || e->integer == AT_FUNCTION_TANH ||
            e->integer == AT_FUNCTION_ERF || e->integer == AT_FUNCTION_SIGMOID);
}

/* Tensors that e reads; unless all of it, those that such functions in it read. */
static void mark_reads(const at_compute *c, const at_expr *e, bool all, bool *marked) {
    if (e->op == AT_X_INDEX) {
        marked[e->ref] |= all;
        return;
    }
    if (levels_off(e)) all = !reads_maximum(c, e);
    for (int i = 0; i < e->nargs; i++) mark_reads(c, e->arg[i], all, marked);
}

static bool reads_role(const at_compute *c, const at_expr *e, at_role role) {
    if (e->op == AT_X_INDEX) return c->tensors[e->ref].role == role;
    for (int i = 0; i < e->nargs; i++)
        if (reads_role(c, e->arg[i], role)) return true;
    return false;
}

static void shrink(at_dataset *d, const at_expr *e, at_role role, double factor) {
    if (e->op == AT_X_INDEX) {
        const bool is_asked = d->compute->tensors[e->ref].role == role;
        if (is_asked) d->factor[e->ref] = fmin(d->factor[e->ref], factor);
        return;
    }
    for (int i = 0; i < e->nargs; i++) shrink(d, e->arg[i], role, factor);
}

/* The products of a sum of n terms: their weights, or else what their inputs share. */
static void shrink_products(at_dataset *d, const at_expr *e, double n) {
    const at_compute *c = d->compute;
    if (e->op == AT_X_MUL && reads_role(c, e, AT_ROLE_WEIGHT)) {
        shrink(d, e, AT_ROLE_WEIGHT, 1 / n);
    } else if (e->op == AT_X_MUL && reads_role(c, e->arg[0], AT_ROLE_INPUT) &&
               reads_role(c, e->arg[1], AT_ROLE_INPUT)) {
        shrink(d, e, AT_ROLE_INPUT, 1 / sqrt(n));
    } else if (e->op != AT_X_INDEX) {
        for (int i = 0; i < e->nargs; i++) shrink_products(d, e->arg[i], n);
    }
}

static void moderate_sums(at_arena *a, at_dataset *d, int64_t longest) {
    const at_compute *c = d->compute;
    bool *marked = AT_NEW_ARRAY(a, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) d->factor[t] = 1;
    for (int t = c->num_tensors - 1; t >= 0; t--) {
        const at_tensor *x = &c->tensors[t];
        if (x->role != AT_ROLE_STAGE) continue;
        mark_reads(c, x->body, marked[t] && !x->num_reduce, marked);
        if (!marked[t] || !x->num_reduce || x->reduction != AT_REDUCE_SUM) continue;
        double n = 1;
        for (int i = x->num_axes; i < x->num_axes + x->num_reduce; i++)
            n *= (double)(d->extents[t][i] < 0 ? longest : d->extents[t][i]);
        shrink_products(d, x->body, n);
    }
}

/* ---- what lies below a maximum --------------------------------------------------------------- */

static bool is_below_maximum(const at_compute *c, const at_expr *e, bool in_exp) {
    in_exp |= e->op == AT_X_CALL && e->integer == AT_FUNCTION_EXP;
    if (in_exp && e->op == AT_X_SUB && is_maximum(c, e->arg[1])) return true;
    for (int i = 0; i < e->nargs && e->op != AT_X_INDEX; i++)
        if (is_below_maximum(c, e->arg[i], in_exp)) return true;
    return false;
}

bool at_dataset_is_high(const at_dataset *d) {
    const at_compute *c = d->compute;
    for (int t = 0; t < c->num_tensors && !d->is_exact; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && is_below_maximum(c, c->tensors[t].body, false))
            return true;
    return false;
}

void at_dataset_range(const at_dataset *d, int t, bool high, double *lo, double *hi) {
    const double scale = d->scale * d->factor[t];
    const int b = d->range;
    high &= d->compute->tensors[t].role == AT_ROLE_INPUT;
    *hi = scale * (high ? HIGHEST : b);
    *lo = high ? scale * (HIGHEST - b - b / 2) : -scale * (b / 2);
}

/* ---- other arguments ------------------------------------------------------------------------- */

typedef struct look {
    at_sample sample;
    const at_dataset *d;
    bool high;
    const at_expr *call; /* whose arguments are counted */
    int seen, beyond;
} look;

static double random_unit(int tensor, int64_t offset) {
    at_rng rng;
    at_rng_seed(&rng, (uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15), (uint64_t)tensor);
    return at_rng_unit(&rng);
}

static double element(const at_sample *s, int t, int64_t offset) {
    const look *l = (const look *)s;
    if (l->d->given[t]) return (double)l->d->given[t][offset];
    double lo, hi;
    at_dataset_range(l->d, t, l->high, &lo, &hi);
    return lo + (hi - lo) * random_unit(t, offset);
}

static int64_t entry(const at_sample *s, int t, int64_t offset) {
    const at_dataset *d = ((const look *)s)->d;
    const at_index_range *r = &d->entries[t];
    const int64_t last = at_dataset_elements(d, t) - 1;
    if (d->pattern && t == d->bsr.indptr) return d->pattern->indptr[offset];
    if (d->pattern) return d->pattern->indices[offset];
    if (d->indices[t]) return d->indices[t][offset];
    if (r->ascends && last) return r->lo + (r->hi - r->lo) * offset / last;
    return r->lo + (int64_t)floor(random_unit(t, offset) * (double)(r->hi - r->lo + 1));
}

static void called(at_sample *s, const at_expr *call, double argument) {
    look *l = (look *)s;
    if (call != l->call || !isfinite(argument)) return; /* what is masked is infinite */
    l->seen++;
    l->beyond += fabs(argument) > MODERATE;
}

/* The share of the call's arguments that are large. */
static double share_beyond(at_arena *a, const at_dataset *d, const at_expr *call) {
    look l = {
        .sample = {element, entry, called}, .d = d, .high = at_dataset_is_high(d), .call = call};
    at_error err;
    if (at_compute_sample(a, d->compute, d->values, &l.sample, &err) != AT_OK || !l.seen) return 0;
    return (double)l.beyond / l.seen;
}

/* Tensors that e is made of, but for what a function levels off, and that may be made smaller: an
 * input below a maximum is to stay large. */
static void mark_sources(const at_dataset *d, const at_expr *e, bool *marked) {
    if (e->op == AT_X_INDEX) {
        const at_tensor *t = &d->compute->tensors[e->ref];
        if (marked[e->ref] || t->role == AT_ROLE_INDEX || d->given[e->ref]) return;
        marked[e->ref] = t->role != AT_ROLE_INPUT || !at_dataset_is_high(d);
        if (t->role == AT_ROLE_STAGE) mark_sources(d, t->body, marked);
        return;
    }
    if (levels_off(e)) return;
    for (int i = 0; i < e->nargs; i++) mark_sources(d, e->arg[i], marked);
}

static void multiply(at_dataset *d, const bool *marked, double by) {
    for (int t = 0; t < d->compute->num_tensors; t++)
        if (marked[t]) d->factor[t] *= by;
}

/* The largest data with which the arguments are moderate; else those with which most of them are,
 * as where what is added to them is large. */
static void moderate_call(at_arena *a, at_dataset *d, const at_expr *call) {
    double least = share_beyond(a, d, call), best = 1, now = 1;
    if (least <= MOST_BEYOND) return;
    bool *marked = AT_NEW_ARRAY(a, bool, d->compute->num_tensors);
    mark_sources(d, call->arg[0], marked);
    while (least > MOST_BEYOND && now > LEAST_FACTOR) {
        now *= sqrt(0.5);
        multiply(d, marked, sqrt(0.5));
        double share = share_beyond(a, d, call);
        if (share < 0.9 * least) least = share, best = now;
    }
    multiply(d, marked, best / now);
}

static void moderate_calls(at_arena *a, at_dataset *d, const at_expr *e) {
    if (e->op == AT_X_INDEX) return;
    if (levels_off(e) && !reads_maximum(d->compute, e)) moderate_call(a, d, e);
    for (int i = 0; i < e->nargs; i++) moderate_calls(a, d, e->arg[i]);
}

void at_dataset_find_factors(at_dataset *d, int64_t longest) {
    const at_compute *c = d->compute;
    at_arena *a = at_arena_new();
    moderate_sums(a, d, longest);
    for (int t = 0; t < c->num_tensors && !d->is_exact; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE) moderate_calls(a, d, c->tensors[t].body);
    at_arena_free(a);
}
