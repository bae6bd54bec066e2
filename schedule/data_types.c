/* schedule/data_types.c: data of computations with integers: all values of a type, its least and
 * largest among them, and floats of a size that what is rounded is within its type. */
#include "schedule/data_int.h"

#include <math.h>

/* Of what 32 bits hold in an input: most are small, so that they do not hide the sum beside them;
 * the extremes are those that ranges are proved with. */
enum { USUAL_S32 = 1 << 12 };

at_wholes at_data_wholes(at_type type) {
    const at_type_facts *x = at_type_of(type);
    const int64_t most = (int64_t)AT_MOST_GIVEN;
    if (type == AT_S32)
        return (at_wholes){.lo = -USUAL_S32, .hi = USUAL_S32, .least = -most, .most = most};
    const int64_t lo = (int64_t)x->least, hi = (int64_t)x->most;
    return (at_wholes){.lo = lo, .hi = hi, .least = lo, .most = hi};
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

void data_find_sizes(data_ruler *r) {
    r->size = AT_NEW_ARRAY(r->arena, double, r->c->num_tensors);
    for (int i = 0; i < r->c->num_tensors; i++)
        r->size[r->c->order[i]] = size_of_tensor(r, r->c->order[i]);
}

static bool multiplies(const at_expr *e, const void *tensor) {
    return e->op == AT_X_MUL &&
           (at_expr_is_read(e->arg[0], tensor) || at_expr_is_read(e->arg[1], tensor));
}

/* The size of what is multiplied by elements of a tensor; 0: nothing is. */
static double multiplied_by(const data_ruler *r, const at_expr *e, int t) {
    const at_expr *product = at_expr_find(e, multiplies, &t);
    return product ? size_of(r, product->arg[!at_expr_is_read(product->arg[1], &t)]) : 0;
}

at_fill data_fill_in_steps(const data_ruler *r, int t, bool is_large) {
    enum { SPREAD = 128 }; /* of results: a few on either side of a byte, most within it */
    double size = 0;
    for (int s = 0; s < r->c->num_tensors && !size; s++)
        if (r->c->tensors[s].role == AT_ROLE_STAGE)
            size = multiplied_by(r, r->c->tensors[s].body, t);
    const double scale = is_large ? 1 : SPREAD / size;
    at_fill f = {
        .lo = size > 0 ? 0.5 * scale : -SPREAD, .hi = size > 0 ? 1.5 * scale : SPREAD, .unit = 1};
    if (r->c->tensors[t].role == AT_ROLE_INPUT) f.lo = -f.hi; /* scales are weights */
    else f.has_powers = size > 0;
    return f;
}
