/* schedule/data/data_serve.c: fills changed until decisions see what they need: a function values
 * where it is not flat, a bound values on either side. */
#include "schedule/data/data_int.h"

#include <math.h>
#include <string.h>

enum {
    MOST_ROUNDS = 32, /* of changes by decisions */
    MOST_CHANGES = 6  /* by one of them */
};
/* Bounds of other sizes are a matter of safety, as of a divisor that must not be 0. */
#define LEAST_WIDTH 0x1p-6
#define MOST_WIDTH 0x1p12
#define WIDEST_TYPE 0x1p16 /* but those of a type */
#define NEARER 1.3         /* of integers, which need not change by powers of two */

/* What a logarithm or a root is taken of: drawn from numbers above 0. */
static bool raise_above_0(data_ruler *r, const at_expr *e) {
    bool any = false;
    data_mark_sources(r, e);
    for (int t = 0; t < r->c->num_tensors; t++) {
        at_fill *f = &r->fill[t];
        if (!r->marked[t] || !data_is_moved(r, t) || f->lo > 0) continue;
        if (at_type_of(r->c->tensors[t].type)->is_int) continue;
        f->lo = r->is_exact && !r->c->in_steps ? 1 : f->hi / 8;
        any = true;
    }
    return any;
}

static double share_below(const data_decision *d) {
    const int n = data_kept(d);
    int below = 0;
    for (int i = 0; i < n; i++) below += d->x[i] < d->y[i];
    return n ? (double)below / n : 0;
}

/* An expression whose value is to become so many times as large. */
typedef struct wish {
    const at_expr *of;
    double times;
} wish;
static const wish no_wish = {NULL, 1};

/* Of values that both come from data: the larger ones shall be as small as the others where one
 * side always wins. */
static wish match_sides(const data_ruler *r, const data_decision *d) {
    const double below = share_below(d);
    const at_expr *x = d->of, *y = d->e->arg[d->of == d->e->arg[0]];
    const double of_x = data_look_size(r->look, x), of_y = data_look_size(r->look, y);
    if ((below > 0.05 && below < 0.95) || !(of_x > 0) || !(of_y > 0)) return no_wish;
    return of_x > of_y ? (wish){x, of_y / of_x} : (wish){y, of_x / of_y};
}

/* A function that is flat where its argument is large, and nothing but its argument near 0. */
static wish moderate(const data_decision *d) {
    const double most = data_quantile(d, 0, 0.75), middle = data_quantile(d, 0, 0.5);
    if (d->below_maximum) {
        if (!(middle > 0) || (middle > 1 && middle < 4.5)) return no_wish;
        return (wish){d->of, 2.5 / middle};
    }
    if (most > 8) return (wish){d->of, 3 / most};
    return most > 0 && most < 0.5 ? (wish){d->of, 2 / most} : no_wish;
}

/* Nearly all lie beyond the same one of two bounds: their middle shall lie between these. */
static wish move_between(const data_decision *d) {
    const int n = data_kept(d);
    const double beyond = d->at > 0 ? d->at + d->width / 2 : d->at - d->width / 2;
    int many = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) {
        if (fabs(d->x[i]) < fabs(beyond) || d->x[i] * beyond <= 0) continue;
        many++, sum += d->x[i];
    }
    return many > 0.75 * n ? (wish){d->of, d->at / (sum / many)} : no_wish;
}

bool data_has_width(const data_ruler *r, const data_decision *d) {
    return d->width >= LEAST_WIDTH && d->width <= (r->c->in_steps ? WIDEST_TYPE : MOST_WIDTH);
}

static wish widen(const data_ruler *r, const data_decision *d) {
    if (!data_has_width(r, d)) return no_wish;
    if (d->is_stored || d->e->op == AT_X_MIN || d->e->op == AT_X_MAX) {
        const wish w = !d->is_lone && d->at != 0 ? move_between(d) : no_wish;
        if (w.of) return w;
    }
    const double size = data_quantile(d, d->is_lone ? 0 : d->at, 0.68);
    const double near = r->moves_wholes ? NEARER : 2;
    if (!(size > 0) || (size * near > d->width && size < d->width * near)) return no_wish;
    return (wish){d->of, d->width / size};
}

/* What is added up where sums round: the errors of a large operand would hide a small one. */
static wish even_out(const data_ruler *r, const data_decision *d) {
    enum { MOST = 16 };
    const at_expr *x = d->e->arg[0], *y = d->e->arg[1];
    const double of_x = data_look_size(r->look, x), of_y = data_look_size(r->look, y);
    if (!(of_x > 0) || !(of_y > 0)) return no_wish;
    if (of_x > MOST * of_y) return (wish){x, of_y / of_x};
    return of_y > MOST * of_x ? (wish){y, of_x / of_y} : no_wish;
}

static wish wish_of(const data_ruler *r, const data_decision *d) {
    if (!d->num || d->is_added) return no_wish;
    if (r->only_functions && (d->is_stored || d->e->op != AT_X_CALL)) return no_wish;
    if (d->is_sum) return r->is_exact ? no_wish : even_out(r, d);
    if (d->is_stored) return widen(r, d);
    if (d->e->op != AT_X_CALL)
        return d->width > 0 ? widen(r, d) : d->e->nargs > 1 ? match_sides(r, d) : no_wish;
    switch ((at_function)d->e->integer) {
    case AT_FUNCTION_EXP:
    case AT_FUNCTION_TANH:
    case AT_FUNCTION_ERF:
    case AT_FUNCTION_SIGMOID:
    case AT_FUNCTION_SIN:
    case AT_FUNCTION_COS: return moderate(d);
    case AT_FUNCTION_FLOOR:
    case AT_FUNCTION_CEIL:
    case AT_FUNCTION_ROUND:
        return !r->is_exact && data_quantile(d, 0, 0.5) < 1 ? (wish){d->of, 4} : no_wish;
    default: return no_wish;
    }
}

static bool needs_above_0(const data_decision *d) {
    const int64_t f = d->e->op == AT_X_CALL ? d->e->integer : -1;
    return (f == AT_FUNCTION_LOG || f == AT_FUNCTION_SQRT || f == AT_FUNCTION_RSQRT) &&
           share_below(d) > 0.02;
}

/* Data are changed for a decision; false: they are as it needs them, or do not get nearer. */
static bool serve(data_ruler *r, data_decision *d) {
    if (d->changes > MOST_CHANGES) return false;
    if (needs_above_0(d) && !d->changes++ && raise_above_0(r, d->of)) return true;
    const wish w = wish_of(r, d);
    const double far = fabs(log2(w.times)), by = d->factor;
    if (!w.of) return false;
    if (by > 0 && far > 0.9 * d->before) { /* something else decides */
        memcpy(r->marked, d->marked, sizeof *r->marked * (size_t)r->c->num_tensors);
        data_multiply(r, 1 / by);
        d->changes = MOST_CHANGES + 1;
        return true;
    }
    const double factor = data_factor_for(r, w.of, w.times);
    if (factor == 1) return false;
    data_multiply(r, factor);
    d->changes++;
    d->before = far;
    d->factor = factor;
    d->marked = at_copy(r->arena, r->marked, sizeof *r->marked * (size_t)r->c->num_tensors);
    return true;
}

/* In text order: what a stage reads is served before. */
at_status data_serve_all(data_ruler *r, at_error *err) {
    int n;
    data_decision *d = data_look_decisions(r->look, &n);
    for (int i = 0; i < n; i++) d[i].changes = 0, d[i].factor = 0;
    for (int round = 0; round < MOST_ROUNDS && n; round++) {
        int served = 0;
        AT_TRY(data_look_at(r->look, r->arena, r->fill, err));
        while (served < n && !serve(r, &d[served])) served++;
        if (served == n) return AT_OK;
    }
    return AT_OK;
}
