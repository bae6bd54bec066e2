/* schedule/data_types.c: data of computations with integers: all values of a type, its least and
 * largest among them, and floats of a size that what is rounded is within its type. */
#include "schedule/data_int.h"

#include <math.h>

/* Of what 32 bits hold in an input: most are small, so that they do not hide the sum beside them;
 * the extremes are those that ranges are proved with. */
enum { USUAL_S32 = 1 << 12 };
/* Steps of coarse integers: sums of products of bytes are multiples of 256, as are those of 32 bits
 * that are added to them, of which neighbours shall differ. */
enum { COARSE_BYTE = 1 << 4, COARSE_OTHER = 1 << 8, COARSE_S32 = 1 << 15 };

at_wholes at_data_wholes(at_type type, bool is_coarse) {
    const at_type_facts *x = at_type_of(type);
    const int64_t most = (int64_t)AT_MOST_GIVEN, lo = (int64_t)x->least, hi = (int64_t)x->most;
    at_wholes w = {.lo = lo, .hi = hi, .least = lo, .most = hi, .step = 1};
    const int64_t usual = is_coarse ? COARSE_S32 : USUAL_S32;
    if (type == AT_S32) w = (at_wholes){-usual, usual, .least = -most, .most = most, .step = 1};
    if (!is_coarse || type == AT_BOOL) return w;
    w.step = at_type_bytes(type) == 1 ? COARSE_BYTE : COARSE_OTHER;
    w.hi -= w.hi % w.step, w.most -= w.most % w.step, w.least -= w.least % w.step;
    return w;
}

at_wholes at_data_wholes_of(const at_tensor *t, const at_index_range *r, bool is_coarse) {
    if (t->role != AT_ROLE_INDEX) return at_data_wholes(t->type, is_coarse);
    return (at_wholes){.lo = r->lo, .hi = r->hi, .least = r->lo, .most = r->hi, .step = 1};
}

/* ---- floats ---------------------------------------------------------------------------------- */

/* Has it no element below 0, and a mean above its size? */
static bool is_positive(const at_compute *c, const at_expr *e) {
    if (e->op == AT_X_MUL) return is_positive(c, e->arg[0]) && is_positive(c, e->arg[1]);
    return e->op == AT_X_INDEX && c->tensors[e->ref].type == AT_U8;
}

/* About how large an element is, where the sizes of tensors are known. */
static double size_of(const data_ruler *r, const at_expr *e) {
    double x, y;
    switch (e->op) {
    case AT_X_INT: return fabs((double)e->integer);
    case AT_X_FLOAT: return fabs(e->number);
    case AT_X_INDEX: return r->size[e->ref];
    case AT_X_NEG:
    case AT_X_CALL: return size_of(r, e->arg[0]);
    case AT_X_SELECT: return size_of(r, e->arg[1]);
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MUL:
        x = size_of(r, e->arg[0]), y = size_of(r, e->arg[1]);
        return e->op == AT_X_MUL ? x * y : hypot(x, y);
    case AT_X_MAX:
    case AT_X_MIN: /* a bound above 0 is what is reached */
        x = size_of(r, e->arg[0]), y = size_of(r, e->arg[1]);
        return e->op == AT_X_MIN && at_expr_is_number(e->arg[1]) ? fmin(x, y) : fmax(x, y);
    case AT_X_DIV: return size_of(r, e->arg[0]) / fmax(size_of(r, e->arg[1]), 1);
    case AT_X_SHIFT_LEFT: return size_of(r, e->arg[0]) * exp2(size_of(r, e->arg[1]));
    case AT_X_SHIFT_RIGHT: return size_of(r, e->arg[0]) * exp2(-size_of(r, e->arg[1]));
    case AT_X_BIT_AND: return fmin(size_of(r, e->arg[0]), size_of(r, e->arg[1]));
    default: return 1;
    }
}

/* About how large a tensor's elements are; 1 where nothing is known. */
static double size_of_tensor(const data_ruler *r, int t) {
    const at_tensor *x = &r->c->tensors[t];
    const at_type_facts *type = at_type_of(x->type);
    double terms = 1;
    if (x->role != AT_ROLE_STAGE && x->type == AT_S32) return USUAL_S32 / 2;
    if (type->is_int && x->type != AT_S32) return (type->most - type->least) / 3;
    if (x->role != AT_ROLE_STAGE || x->is_recurrence || x->cycle) return 1;
    for (int i = x->num_axes; i < x->num_axes + x->num_reduce; i++)
        if (r->extents[t][i] > 0) terms *= (double)r->extents[t][i];
    const bool sums = x->num_reduce && x->reduction == AT_REDUCE_SUM;
    const bool grows = sums && is_positive(r->c, x->body);
    return (grows ? 2 * terms : sums ? sqrt(terms) : 1) * size_of(r, x->body);
}

/* Of each stage, the ones that it reads first. */
static void find_stage_sizes(data_ruler *r) {
    for (int i = 0; i < r->c->num_tensors; i++) {
        const int t = r->c->order[i];
        if (r->c->tensors[t].role == AT_ROLE_STAGE) r->size[t] = size_of_tensor(r, t);
    }
}

void data_find_sizes(data_ruler *r) {
    r->size = AT_NEW_ARRAY(r->arena, double, r->c->num_tensors);
    for (int t = 0; t < r->c->num_tensors; t++)
        if (r->c->tensors[t].role != AT_ROLE_STAGE) r->size[t] = size_of_tensor(r, t);
    find_stage_sizes(r);
}

enum { SPREAD = 128 }; /* of results: a few on either side of a byte, most within it */

static bool scales(const at_expr *e, const void *tensor) {
    return (e->op == AT_X_MUL || e->op == AT_X_DIV) &&
           (at_expr_is_read(e->arg[0], tensor) || at_expr_is_read(e->arg[1], tensor));
}

/* What elements of a tensor are multiplied or divided by, or divide; of NULL: nothing. size: about
 * how large that is; of what they divide or are divided by, how large a factor would have to be. */
typedef struct partner {
    const at_expr *of;
    bool is_divided;
    double size;
} partner;

static partner partner_of(const data_ruler *r, const at_expr *e, int t) {
    const at_expr *x = at_expr_find(e, scales, &t);
    if (!x) return (partner){0};
    const int other = !at_expr_is_read(x->arg[1], &t);
    const double size = size_of(r, x->arg[other]);
    partner p = {.of = x->arg[other], .is_divided = x->op == AT_X_DIV && !other, .size = size};
    if (x->op == AT_X_DIV) p.size = other ? 1 / size : (double)SPREAD * SPREAD / size;
    if (!(p.size > 0) || !isfinite(p.size)) p.of = NULL;
    return p;
}

/* A number that all coarse integers that e makes are multiples of; 1: nothing is known. */
static int64_t step_of(const data_ruler *r, const at_expr *e) {
    const at_tensor *t = e->op == AT_X_INDEX ? &r->c->tensors[e->ref] : NULL;
    if (t && at_type_of(t->type)->is_int && data_is_drawn(r, e->ref))
        return at_data_wholes(t->type, true).step;
    if (t && t->role == AT_ROLE_STAGE && !t->is_recurrence && !t->cycle && t->body)
        return step_of(r, t->body);
    if (e->op != AT_X_MUL && e->op != AT_X_ADD && e->op != AT_X_SUB) return 1;
    const int64_t x = step_of(r, e->arg[0]), y = step_of(r, e->arg[1]);
    return e->op == AT_X_MUL ? x * y : x < y ? x : y;
}

static double nearest_power(double x) { return exp2(round(log2(x))); }

/* Of coarse integers it makes halves. */
static double power_for(const data_ruler *r, partner p) {
    const double step = (double)step_of(r, p.of), power = nearest_power(SPREAD / p.size);
    return p.is_divided ? fmax(power, 2 * step) : fmin(power, 0.5 / step);
}

at_fill data_fill_in_steps(data_ruler *r, int t, bool is_large) {
    enum { GRAINS = 8 }; /* in what becomes 1, or so */
    const bool is_input = r->c->tensors[t].role == AT_ROLE_INPUT;
    partner p = {0};
    for (int s = 0; s < r->c->num_tensors && !p.of; s++)
        if (r->c->tensors[s].role == AT_ROLE_STAGE) p = partner_of(r, r->c->tensors[s].body, t);
    const double scale = !p.of || (is_large && !is_input) ? 1 : SPREAD / p.size;
    at_fill f = {.lo = p.of ? 0.5 * scale : -SPREAD, .hi = p.of ? 1.5 * scale : SPREAD, .unit = 1};
    if (is_input) f.lo = -f.hi; /* scales are weights */
    if (is_input || !p.of) f.grain = nearest_power(p.of ? 1 / p.size : 1) / GRAINS;
    else if (is_large) f.power = power_for(r, p);
    else f.has_powers = true;
    if (at_type_of(r->c->tensors[t].type)->is_int) return f;
    r->size[t] = hypot(f.lo, f.hi) / 2; /* what is scaled behind it is chosen for that */
    find_stage_sizes(r);
    return f;
}
