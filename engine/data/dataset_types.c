/* engine/data/dataset_types.c: data of computations with integers: all values of a type, its least
 * and largest among them, and floats of a size that what is rounded is within its type. */
#include "engine/data/dataset.h"

#include <math.h>
#include <string.h>

/* Of what 32 bits hold in an input: most are small, so that they do not hide the sum beside them;
 * the extremes are those that ranges are proved with. */
enum { USUAL_S32 = 1 << 12 };

static void put(at_type type, char *to, int64_t i, int64_t v) {
    const uint32_t bits = (uint32_t)v;
    const size_t bytes = (size_t)at_type_bytes(type);
    memcpy(to + (int64_t)bytes * i, &bits, bytes); /* the lowest come first */
}

/* Floats of 16 bits that bytes make are from 1/32 to 1, of either sign: of others most would be
 * infinite, no number, or so large that nothing else is seen beside them. */
static void make_halves(const at_dataset *d, int t, unsigned char *to, at_rng *rng) {
    const at_tensor *x = &d->compute->tensors[t];
    const int64_t n = at_dataset_elements(d, t), row = d->extents[t][x->num_axes - 1];
    for (int s = 0; s < d->compute->num_tensors; s++) {
        const int64_t at = at_data_upper_byte(d->compute, s, t);
        for (int64_t i = at; at >= 0 && i < n; i += row)
            to[i] = (unsigned char)(at_rng_below(rng, 2) << 7 | (10 + at_rng_below(rng, 5)) << 2 |
                                    at_rng_below(rng, 4));
    }
}

void at_dataset_fill_whole(const at_dataset *d, int t, at_rng *rng) {
    const at_type type = d->compute->tensors[t].type;
    const at_type_facts *facts = at_type_of(type);
    const int64_t n = at_dataset_elements(d, t);
    const bool is_word = type == AT_S32;
    const int64_t lo = is_word ? -USUAL_S32 : (int64_t)facts->least,
                  hi = is_word ? USUAL_S32 : (int64_t)facts->most;
    char *to = at_store_at(d->store, d->offset[t]);
    for (int64_t i = 0; i < n; i++)
        put(type, to, i, lo + (int64_t)at_rng_below(rng, (uint64_t)(hi - lo + 1)));
    if (n < 4) return;
    put(type, to, (int64_t)at_rng_below(rng, (uint64_t)n), is_word ? -(int64_t)AT_MOST_GIVEN : lo);
    put(type, to, (int64_t)at_rng_below(rng, (uint64_t)n), is_word ? (int64_t)AT_MOST_GIVEN : hi);
    if (at_type_bytes(type) == 1) make_halves(d, t, (unsigned char *)to, rng);
}

/* ---- floats ---------------------------------------------------------------------------------- */

/* Of an element, about; 1 where nothing is known. */
static double size_of(const at_dataset *d, const at_expr *e);

/* Has it no element below 0, and a mean above its size? */
static bool is_positive(const at_compute *c, const at_expr *e) {
    if (e->op == AT_X_MUL) return is_positive(c, e->arg[0]) && is_positive(c, e->arg[1]);
    return e->op == AT_X_INDEX && c->tensors[e->ref].type == AT_U8;
}

static double size_of_tensor(const at_dataset *d, int t) {
    const at_tensor *x = &d->compute->tensors[t];
    const at_type_facts *type = at_type_of(x->type);
    double terms = 1;
    if (x->role != AT_ROLE_STAGE && x->type == AT_S32) return USUAL_S32 / 2;
    if (type->is_int && x->type != AT_S32) return (type->most - type->least) / 3;
    if (x->role != AT_ROLE_STAGE) return 1;
    for (int i = x->num_axes; i < x->num_axes + x->num_reduce; i++)
        if (d->extents[t][i] > 0) terms *= (double)d->extents[t][i];
    const bool sums = x->num_reduce && x->reduction == AT_REDUCE_SUM;
    const bool grows = sums && is_positive(d->compute, x->body);
    return (grows ? 2 * terms : sums ? sqrt(terms) : 1) * size_of(d, x->body);
}

static double size_of(const at_dataset *d, const at_expr *e) {
    double x, y;
    switch (e->op) {
    case AT_X_INT: return fabs((double)e->integer);
    case AT_X_FLOAT: return fabs(e->number);
    case AT_X_INDEX: return size_of_tensor(d, e->ref);
    case AT_X_NEG:
    case AT_X_CALL: return size_of(d, e->arg[0]);
    case AT_X_SELECT: return size_of(d, e->arg[1]);
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MUL:
        x = size_of(d, e->arg[0]), y = size_of(d, e->arg[1]);
        return e->op == AT_X_MUL ? x * y : hypot(x, y);
    case AT_X_MAX:
    case AT_X_MIN: /* a bound above 0 is what is reached */
        x = size_of(d, e->arg[0]), y = size_of(d, e->arg[1]);
        return e->op == AT_X_MIN && at_expr_is_number(e->arg[1]) ? fmin(x, y) : fmax(x, y);
    case AT_X_DIV: return size_of(d, e->arg[0]) / fmax(size_of(d, e->arg[1]), 1);
    case AT_X_SHIFT_LEFT: return ldexp(size_of(d, e->arg[0]), (int)size_of(d, e->arg[1]));
    case AT_X_SHIFT_RIGHT: return ldexp(size_of(d, e->arg[0]), -(int)size_of(d, e->arg[1]));
    case AT_X_BIT_AND: return fmin(size_of(d, e->arg[0]), size_of(d, e->arg[1]));
    default: return 1;
    }
}

static bool multiplies(const at_expr *e, const void *tensor) {
    return e->op == AT_X_MUL &&
           (at_expr_is_read(e->arg[0], tensor) || at_expr_is_read(e->arg[1], tensor));
}

/* The size of what is multiplied by elements of a tensor; 0: nothing is. */
static double multiplied_by(const at_dataset *d, const at_expr *e, int t) {
    const at_expr *product = at_expr_find(e, multiplies, &t);
    return product ? size_of(d, product->arg[!at_expr_is_read(product->arg[1], &t)]) : 0;
}

void at_dataset_step_range(const at_dataset *d, int t, double *lo, double *hi) {
    enum { SPREAD = 128 }; /* of results: a few on either side of a byte, most within it */
    double size = 0;
    for (int s = 0; s < d->compute->num_tensors && !size; s++)
        if (d->compute->tensors[s].role == AT_ROLE_STAGE)
            size = multiplied_by(d, d->compute->tensors[s].body, t);
    const double scale = d->draw ? 1 : SPREAD / size; /* at_data_rule_find says why */
    *lo = size > 0 ? 0.5 * scale : -SPREAD;
    *hi = size > 0 ? 1.5 * scale : SPREAD;
    if (d->compute->tensors[t].role == AT_ROLE_INPUT) *lo = -*hi; /* scales are weights */
}
