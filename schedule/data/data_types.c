/* schedule/data/data_types.c: data of computations with integers: floats of a size that what is
 * rounded is within its type, and about which number integers are drawn. */
#include "schedule/data/data_int.h"

#include <math.h>

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
    if (x->role != AT_ROLE_STAGE && x->type == AT_S32)
        return (double)at_data_wholes(AT_S32, &(at_fill){.unit = 1}).hi / 2;
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

int data_coarse(at_type type, int bits) { return at_type_bytes(type) == 1 ? bits / 2 : bits; }

/* A number that all coarse integers that e makes are multiples of; 1: nothing is known. */
static int64_t step_of(const data_ruler *r, const at_expr *e) {
    const at_tensor *t = e->op == AT_X_INDEX ? &r->c->tensors[e->ref] : NULL;
    if (t && at_type_of(t->type)->is_int && data_is_drawn(r, e->ref))
        return (int64_t)1 << data_coarse(t->type, DATA_COARSE);
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

/* Is e an element of the tensor, or of a copy? */
static bool copies(const at_compute *c, const at_expr *e, int tensor) {
    if (e->op == AT_X_SELECT) return copies(c, e->arg[1], tensor) || copies(c, e->arg[2], tensor);
    if (e->op != AT_X_INDEX || e->ref == tensor) return e->op == AT_X_INDEX;
    const at_tensor *t = &c->tensors[e->ref];
    return t->role == AT_ROLE_STAGE && !t->num_reduce && !at_tensor_goes_in_steps(t) && t->body &&
           copies(c, t->body, tensor);
}

typedef struct centre {
    const at_compute *c;
    int tensor;
    double at;
} centre;

/* What is subtracted from elements, as a zero point is; of another tensor's, the middle of its
 * type.
 */
static at_walk find_centre(const at_expr *e, void *ctx) {
    centre *of = ctx;
    if (e->op == AT_X_INDEX) return AT_WALK_PAST;
    if ((e->op != AT_X_SUB && e->op != AT_X_ADD) || !at_expr_is_whole(of->c, e)) return AT_WALK_ON;
    const bool first = copies(of->c, e->arg[0], of->tensor);
    if (!first && !copies(of->c, e->arg[1], of->tensor)) return AT_WALK_ON;
    const at_expr *other = e->arg[first];
    if (other->op == AT_X_INT)
        of->at = (double)(e->op == AT_X_SUB ? other->integer : -other->integer);
    else if (e->op == AT_X_ADD || other->op != AT_X_INDEX) return AT_WALK_ON;
    else {
        const at_type_facts *type = at_type_of(of->c->tensors[of->tensor].type);
        of->at = floor((type->least + type->most + 1) / 2);
    }
    return AT_WALK_END;
}

/* About which number integers are drawn that are to be smaller. */
static double centre_of(const at_compute *c, int t) {
    centre of = {c, t, 0};
    const at_type_facts *type = at_type_of(c->tensors[t].type);
    for (int s = 0; s < c->num_tensors; s++)
        if (c->tensors[s].role == AT_ROLE_STAGE && c->tensors[s].body &&
            at_expr_walk(c->tensors[s].body, find_centre, &of))
            break;
    return fmax(type->least, fmin(type->most, of.at));
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
    if (at_type_of(r->c->tensors[t].type)->is_int) {
        f.centre = centre_of(r->c, t);
        return f;
    }
    r->size[t] = hypot(f.lo, f.hi) / 2; /* what is scaled behind it is chosen for that */
    find_stage_sizes(r);
    return f;
}
