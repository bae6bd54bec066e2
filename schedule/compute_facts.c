/* schedule/compute_facts.c: how much work a computation is, and how large its numbers can become.
 */
#include "schedule/schedule_int.h"

#include <math.h>

#include "base/range.h"

/* ---- work ---------------------------------------------------------------------------------- */

typedef struct counter {
    eval_ctx ctx;
    int64_t axis[MAX_AXES];
    uint32_t placed; /* axes along which each term counts for one place: they make no terms */
    bool failed;     /* the bounds need data that is not there */
} counter;

static bool bounds_use(const at_compute *c, int tensor, int axis) {
    const at_tensor *t = &c->tensors[tensor];
    for (int i = 0; i < t->num_reduce; i++)
        if (info_of(c)->info[tensor].bound_axes[i] & (1u << axis)) return true;
    return false;
}

/* How many values of an axis are walked: of large ones a value in the middle of so many stands for
 * all of them, which changes no sum of what grows evenly. */
static int64_t walked_at_once(const at_compute *c, int tensor, int64_t values) {
    int walked = 0;
    for (int i = 0; i < c->tensors[tensor].num_axes; i++) walked += bounds_use(c, tensor, i);
    const int64_t most = walked <= 1 ? 1 << 22 : walked == 2 ? 1 << 12 : 1 << 8;
    return values / (2 * most) * 2 + 1;
}

/* Points of the axes from `axis` on. Only axes that bounds use are walked, the others multiply. */
static double count_points(counter *k, int axis) {
    const at_compute *c = k->ctx.compute;
    const at_tensor *t = &c->tensors[k->ctx.stage];
    /* A running sum takes a term for each element. */
    const bool runs = axis == t->num_axes && at_running_axis(t) >= 0;
    if (axis == axes_of(t) || runs || k->failed) return 1;
    if (axis < t->num_axes && (k->placed >> axis & 1)) return count_points(k, axis + 1);
    int64_t begin = 0, end = k->ctx.extents[k->ctx.stage][axis];
    if (t->axes[axis].begin)
        k->failed |= eval_int(&k->ctx, t->axes[axis].begin, &begin) != AT_OK ||
                     eval_int(&k->ctx, t->axes[axis].end, &end) != AT_OK;
    if (end <= begin) return 0;
    if (!bounds_use(c, k->ctx.stage, axis))
        return ((double)end - (double)begin) * count_points(k, axis + 1);
    double total = 0;
    for (int64_t i = begin, n = walked_at_once(c, k->ctx.stage, end - begin); i < end && !k->failed;
         i += n) {
        if (n > end - i) n = end - i;
        k->axis[axis] = i + (n - 1) / 2;
        total += (double)n * count_points(k, axis + 1);
    }
    return total;
}

static bool lacks_data(const at_expr *e, const void *data) {
    return e->op == AT_X_INDEX && (!data || !((const at_data *)data)[e->ref].i);
}

static bool lacks_bounds(const at_tensor *t, const at_data *data) {
    for (int i = t->num_axes; i < axes_of(t); i++)
        if (t->axes[i].begin && (at_expr_find(t->axes[i].begin, lacks_data, data) ||
                                 at_expr_find(t->axes[i].end, lacks_data, data)))
            return true;
    return false;
}

/* A number that data give: an element, or a calculation with entries of index tensors. */
static bool is_of_data(const at_expr *e, const void *compute) {
    return e->op == AT_X_INDEX || is_float_expr(compute, e);
}

static bool is_product(const at_expr *e, const void *compute) {
    return e->op == AT_X_MUL && is_float_expr(compute, e) &&
           at_expr_find(e->arg[0], is_of_data, compute) &&
           at_expr_find(e->arg[1], is_of_data, compute);
}

/* Products that a term e of a sum adds to it, on average. */
static double multiply_adds(eval_ctx *ctx, const at_expr *e) {
    if (e->op == AT_X_ADD || e->op == AT_X_SUB)
        return multiply_adds(ctx, e->arg[0]) + multiply_adds(ctx, e->arg[1]);
    return at_expr_find_value(e, is_product, ctx->compute) ? part_of_products(ctx, e) : 0;
}

double at_compute_flops(const at_compute *c, const int64_t *values, const at_data *data) {
    at_arena *a = at_arena_new();
    counter k = {.ctx = {.compute = c, .values = values, .data = data}};
    double products = 0, sums = 0;
    int64_t **extents;
    k.failed = at_compute_extents(a, c, values, &extents, NULL) != AT_OK;
    k.ctx.extents = extents;
    k.ctx.axis = k.axis;
    for (int t = 0; t < c->num_tensors && !k.failed; t++) {
        if (!c->tensors[t].num_reduce) continue;
        k.failed = lacks_bounds(&c->tensors[t], data);
        if (k.failed) break;
        k.ctx.stage = t;
        k.placed = at_scatter_of(&c->tensors[t]).axes;
        double points = count_points(&k, 0);
        products +=
            points * (k.placed ? (double)!!at_expr_find_value(c->tensors[t].body, is_product, c)
                               : multiply_adds(&k.ctx, c->tensors[t].body));
        sums += points;
    }
    at_arena_free(a);
    return k.failed ? -1 : 2 * (products > 0 ? round(products) : sums);
}

/* ---- size of numbers ----------------------------------------------------------------------- */

typedef struct bounder {
    const at_compute *c;
    const int64_t *values;
    int64_t *const *extents;
    double *magnitude; /* [tensor] */
    double *grain;     /* [tensor] what its values are multiples of */
    int stage;
    const double *given;       /* [tensor] the largest entry of an index tensor, or below 0; NULL */
    int64_t max_dynamic;       /* the length of what data decide */
    double inner, inner_ratio; /* the largest of what was bounded, and in units of its grain */
} bounder;

typedef at_range range;

static double grain(bounder *b, const at_expr *e);

typedef struct axis_range {
    int64_t *const *extents;
    int axis;
    int64_t *lo, *hi;
} axis_range;

static at_walk cut_to_read(const at_expr *e, void *ctx) {
    const axis_range *x = ctx;
    for (int i = 0; i < e->nargs && e->op == AT_X_INDEX; i++) {
        if (!at_expr_is_name(e->arg[i], x->axis)) continue;
        const int64_t last = x->extents[e->ref][i] - 1;
        if (*x->lo < 0) *x->lo = 0;
        if (*x->hi > last) *x->hi = last;
    }
    return e->op == AT_X_SELECT ? AT_WALK_PAST : AT_WALK_ON;
}

void at_compute_axis_range(const at_compute *c, int64_t *const *extents, int stage, int axis,
                           int64_t *lo, int64_t *hi) {
    const int64_t extent = extents[stage][axis];
    *lo = extent < 0 ? INT32_MIN : 0;
    *hi = extent < 0 ? INT32_MAX : extent - 1;
    if (extent < 0)
        at_expr_walk(c->tensors[stage].body, cut_to_read, &(axis_range){extents, axis, lo, hi});
}

/* Of an integer or a condition. */
static range int_range(const bounder *b, const at_expr *e) {
    range x, y;
    double v;
    switch (e->op) {
    case AT_X_INT: return (range){(double)e->integer, (double)e->integer};
    case AT_X_NAME:
        if (e->ref < AT_REF_SIZE) {
            int64_t lo, hi;
            at_compute_axis_range(b->c, b->extents, b->stage, e->ref, &lo, &hi);
            return (range){(double)lo, (double)hi};
        }
        v = (double)b->values[e->ref - AT_REF_SIZE];
        return (range){v, v};
    case AT_X_INDEX:
        if (b->given && b->given[e->ref] >= 0) return (range){0, b->given[e->ref]};
        if (b->magnitude && b->c->tensors[e->ref].is_places)
            return (range){-b->magnitude[e->ref], b->magnitude[e->ref]};
        return (range){INT32_MIN, INT32_MAX};
    case AT_X_NEG: x = int_range(b, e->arg[0]); return (range){-x.hi, -x.lo};
    case AT_X_SELECT:
        x = int_range(b, e->arg[1]), y = int_range(b, e->arg[2]);
        return at_range_hull(x, y);
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MUL:
    case AT_X_DIV:
    case AT_X_MOD:
    case AT_X_MIN:
    case AT_X_MAX:
    case AT_X_BIT_AND:
    case AT_X_BIT_OR:
    case AT_X_SHIFT_RIGHT: break;
    case AT_X_AND:
    case AT_X_OR:
    case AT_X_NOT: return (range){0, 1};
    default: /* of others nothing is known: whole values, such as floor's */
        return at_op_compares(e->op) ? (range){0, 1} : (range){INT32_MIN, INT32_MAX};
    }
    x = int_range(b, e->arg[0]), y = int_range(b, e->arg[1]);
    switch (e->op) {
    case AT_X_ADD: return (range){x.lo + y.lo, x.hi + y.hi};
    case AT_X_SUB: return (range){x.lo - y.hi, x.hi - y.lo};
    case AT_X_MUL: return at_range_product(x, y);
    case AT_X_DIV: return (range){floor(x.lo / y.lo), floor(x.hi / y.lo)};
    case AT_X_MOD: return (range){0, y.hi - 1};
    case AT_X_BIT_AND: return at_range_and(x, y);
    case AT_X_BIT_OR: return at_range_or(x, y);
    case AT_X_SHIFT_RIGHT: return at_range_shifted(x, (int)y.lo);
    case AT_X_MIN: return (range){fmin(x.lo, y.lo), fmin(x.hi, y.hi)};
    default: return (range){fmax(x.lo, y.lo), fmax(x.hi, y.hi)};
    }
}

double smallest_int(const at_compute *c, const int64_t *values, int64_t *const *extents, int stage,
                    const at_expr *e) {
    bounder b = {.c = c, .values = values, .extents = extents, .stage = stage};
    return int_range(&b, e).lo;
}

void at_compute_place_range(const at_compute *c, const int64_t *values, int64_t *const *extents,
                            int stage, int64_t *lo, int64_t *hi) {
    const at_tensor *t = &c->tensors[stage];
    const bounder b = {.c = c, .values = values, .extents = extents, .stage = stage};
    range x = {INT32_MIN, INT32_MAX};
    if (t->is_places && !t->num_reduce) x = int_range(&b, t->body);
    *lo = x.lo >= INT32_MIN ? (int64_t)x.lo : INT32_MIN;
    *hi = x.hi <= INT32_MAX ? (int64_t)x.hi : INT32_MAX;
}

/* Of a function whose values are no integers, with an argument of at most x. */
static double function_magnitude(const at_expr *e, double x) {
    switch ((at_function)e->integer) {
    case AT_FUNCTION_EXP: return exp(x);
    case AT_FUNCTION_SQRT: return sqrt(x);
    case AT_FUNCTION_TANH:
    case AT_FUNCTION_ERF:
    case AT_FUNCTION_SIGMOID:
    case AT_FUNCTION_SIN:
    case AT_FUNCTION_COS: return 1;
    default: return INFINITY; /* near zero */
    }
}

static bool reduces_to_extreme(const bounder *b) {
    const at_tensor *t = &b->c->tensors[b->stage];
    return t->num_reduce && at_reduction_is_extreme(t->reduction);
}

/* Of so many terms, each of them at most x. */
static double reduced_magnitude(at_reduction r, double x, double terms) {
    if (at_reduction_is_extreme(r)) return x;
    if (r == AT_REDUCE_PROD) return x <= 1 ? 1 : terms < 0 ? INFINITY : pow(x, terms);
    return x == 0 ? 0 : terms < 0 ? INFINITY : x * terms;
}

/* The number of min(.., number), max or with both exchanged; *of: what stands beside it. */
static bool bounded_by(const at_expr *e, at_op op, double *number, const at_expr **of) {
    if (e->op != op) return false;
    for (int i = 0; i < 2; i++) {
        const at_expr *x = e->arg[i];
        const bool is_negative = x->op == AT_X_NEG;
        if (is_negative) x = x->arg[0];
        if (!at_expr_is_number(x)) continue;
        *number = (is_negative ? -1 : 1) * at_expr_number(x);
        *of = e->arg[!i];
        return true;
    }
    return false;
}

static double magnitude(bounder *b, const at_expr *e);

/* Of what two numbers bound, which is looked at by itself; -1: it is none. */
static double clamped_magnitude(bounder *b, const at_expr *e) {
    const at_op other = e->op == AT_X_MIN ? AT_X_MAX : AT_X_MIN;
    const at_expr *inner, *x;
    double outer, inside;
    if (!bounded_by(e, e->op, &outer, &inner) || !bounded_by(inner, other, &inside, &x)) return -1;
    const double all = magnitude(b, x), unit = grain(b, x);
    b->inner = fmax(b->inner, all);
    if (all > 0) b->inner_ratio = fmax(b->inner_ratio, unit > 0 ? all / unit : INFINITY);
    return fmax(fabs(outer), fabs(inside));
}

/* Largest sum of |terms| that evaluating a value can form. */
static double magnitude(bounder *b, const at_expr *e) {
    if (!is_float_expr(b->c, e)) {
        range r = int_range(b, e);
        return fmax(fabs(r.lo), fabs(r.hi));
    }
    double x, y;
    switch (e->op) {
    case AT_X_FLOAT:
        if (isinf(e->number) && reduces_to_extreme(b)) return 0; /* stands for no term */
        return fabs(e->number);
    case AT_X_INDEX: return b->magnitude[e->ref];
    case AT_X_NEG: return magnitude(b, e->arg[0]);
    case AT_X_SELECT: return fmax(magnitude(b, e->arg[1]), magnitude(b, e->arg[2]));
    case AT_X_CALL:
        x = magnitude(b, e->arg[0]);
        if (e->integer == AT_FUNCTION_ABS) return x;
        if (at_function_narrows((at_function)e->integer)) return x * (1 + 0x1p-8);
        return at_function_rounds((at_function)e->integer) ? ceil(x) : function_magnitude(e, x);
    default: break;
    }
    x = e->op == AT_X_MIN || e->op == AT_X_MAX ? clamped_magnitude(b, e) : -1;
    if (x >= 0) return x;
    x = magnitude(b, e->arg[0]), y = magnitude(b, e->arg[1]);
    switch (e->op) {
    case AT_X_ADD:
    case AT_X_SUB: return x + y;
    case AT_X_MUL: return x == 0 || y == 0 ? 0 : x * y;
    case AT_X_MIN:
    case AT_X_MAX: return fmax(x, y);
    case AT_X_BIT_AND:
        for (int i = 0; i < 2; i++)
            if (e->arg[i]->op == AT_X_INT && e->arg[i]->integer >= 0)
                return (double)e->arg[i]->integer;
        return 2 * fmax(x, y) + 1;
    case AT_X_BIT_OR: return 2 * fmax(x, y) + 1;
    case AT_X_SHIFT_RIGHT: return ceil(ldexp(x, -(int)e->arg[1]->integer));
    case AT_X_DIV: return at_expr_is_number(e->arg[1]) && y > 0 ? x / y : INFINITY;
    default: AT_BUG("operator %d on values", e->op);
    }
}

/* 0.1 is a multiple of 2^-27: exact where inputs are 1 and -1 alone, which tells little. */
#define FINEST 0x1p-10

/* What every value of e is a multiple of: a power of two, INFINITY where it is 0 alone, 0 where
 * there is no such number. A sum of few enough multiples is exact in any order. */
static double grain(bounder *b, const at_expr *e) {
    int exponent;
    if (!is_float_expr(b->c, e)) return 1;
    switch (e->op) {
    case AT_X_FLOAT: {
        double part = frexp((float)e->number, &exponent) * 0x1p24;
        if (part == 0 || isinf(part)) return INFINITY;
        int64_t bits = (int64_t)part;
        double unit = ldexp((double)(bits & -bits), exponent - 24);
        return unit >= FINEST ? unit : 0;
    }
    case AT_X_INDEX: return b->grain[e->ref];
    case AT_X_NEG: return grain(b, e->arg[0]);
    case AT_X_SELECT: return fmin(grain(b, e->arg[1]), grain(b, e->arg[2]));
    case AT_X_CALL:
        if (e->integer == AT_FUNCTION_ABS) return grain(b, e->arg[0]);
        if (at_function_narrows((at_function)e->integer)) { /* multiples stay multiples */
            const double unit = grain(b, e->arg[0]);
            return unit >= 0x1p-24 ? unit : 0;
        }
        if (!at_function_rounds((at_function)e->integer)) return 0;
        return magnitude(b, e->arg[0]) <= grain(b, e->arg[0]) * (1 << 24) ? 1 : 0;
    case AT_X_DIV: {
        const at_expr *by = e->arg[1];
        double y = at_expr_number(by);
        return fabs(frexp(y, &exponent)) == 0.5 ? grain(b, e->arg[0]) / fabs(y) : 0;
    }
    case AT_X_BIT_AND:
    case AT_X_BIT_OR:
    case AT_X_SHIFT_RIGHT: return 1;
    default: break;
    }
    double x = grain(b, e->arg[0]), y = grain(b, e->arg[1]);
    if (e->op == AT_X_MUL) return x == 0 || y == 0 ? 0 : x * y;
    return fmin(x, y);
}

enum { MOST_STEPS = 1 << 14 };

typedef struct unknown_entry {
    const bounder *b;
    bool any;
} unknown_entry;

/* An entry of which bits are taken may have any value: the bits are within bounds. */
static at_walk find_unknown(const at_expr *e, void *ctx) {
    unknown_entry *x = ctx;
    if (e->op == AT_X_BIT_AND || e->op == AT_X_BIT_OR || e->op == AT_X_SHIFT_RIGHT)
        return AT_WALK_PAST;
    x->any |= e->op == AT_X_INDEX && !(x->b->given && x->b->given[e->ref] >= 0) &&
              !x->b->c->tensors[e->ref].is_places;
    return AT_WALK_ON;
}

/* The most terms along an axis of a reduction; below 0: not known. */
static double most_terms(const bounder *b, int axis) {
    const int64_t extent = b->extents[b->stage][axis];
    const at_axis *k = &b->c->tensors[b->stage].axes[axis];
    unknown_entry entry = {b, false};
    int64_t lo, hi;
    if (extent >= 0) return (double)extent;
    at_expr_walk(k->begin, find_unknown, &entry);
    at_expr_walk(k->end, find_unknown, &entry);
    if (entry.any) return (double)b->max_dynamic;
    at_compute_axis_range(b->c, b->extents, b->stage, axis, &lo, &hi);
    return fmax(0, fmin((double)hi + 1, int_range(b, k->end).hi) -
                       fmax((double)lo, int_range(b, k->begin).lo));
}

/* Sets the magnitude and the grain of a stage from those of the stages that it reads. */
static void bound_stage(bounder *b, int stage) {
    const at_tensor *s = &b->c->tensors[stage];
    b->stage = stage;
    b->magnitude[stage] = magnitude(b, s->body);
    b->grain[stage] = grain(b, s->body);
    if (s->reduction == AT_REDUCE_PROD && b->grain[stage] < 1) b->grain[stage] = 0;
    for (int i = s->num_axes; i < axes_of(s); i++)
        b->magnitude[stage] =
            reduced_magnitude(s->reduction, b->magnitude[stage], most_terms(b, i));
}

/* Stages read themselves, or each other: from their first elements on, which read nothing of them,
 * each step reads what the one before may be. What still changes after so many steps has no bound.
 */
static void take_steps(bounder *b, const int *stages, int num, double most) {
    bool grows = true, refines = true;
    int i = 0;
    for (int k = 0; k < num; k++) b->magnitude[stages[k]] = 0, b->grain[stages[k]] = INFINITY;
    for (; (grows || refines) && i < most && i < MOST_STEPS; i++) {
        grows = refines = false;
        for (int k = 0; k < num; k++) {
            const int t = stages[k];
            const double before = b->magnitude[t], grain_before = b->grain[t];
            bound_stage(b, t);
            grows |= b->magnitude[t] != before;
            refines |= b->grain[t] != grain_before;
        }
    }
    for (int k = 0; k < num && i < most; k++) {
        if (grows) b->magnitude[stages[k]] = INFINITY;
        if (refines) b->grain[stages[k]] = 0;
    }
}

/* So many steps a stage that reads itself goes, or a cycle whose first stage it is. */
static double num_steps(const bounder *b, int stage, uint32_t steps) {
    double most = 1;
    for (int k = 0; k < b->c->tensors[stage].num_axes; k++)
        if (steps >> k & 1) most *= (double)b->extents[stage][k];
    return most;
}

/* A stage; of a cycle, with its first stage all of it. */
static void bound_one(bounder *b, int stage) {
    const at_cycle *cycle = at_cycle_of(b->c, stage);
    if (cycle && stage != cycle->stages[0]) return;
    uint32_t steps = cycle ? cycle->steps : 0;
    const int num = cycle ? cycle->num : 1;
    double inner = 0; /* steps within a step: of recurrences, one behind the other */
    for (int k = 0; k < num; k++) {
        const int t = cycle ? cycle->stages[k] : stage;
        const uint32_t own = at_recurrence_of(b->c, t).steps & ~steps;
        if (own) inner += num_steps(b, t, own);
    }
    const double most = num_steps(b, stage, steps) * fmax(inner, 1);
    if (cycle) take_steps(b, cycle->stages, num, most);
    else if (b->c->tensors[stage].is_recurrence) take_steps(b, &stage, 1, most);
    else bound_stage(b, stage);
}

/* All stages; of, grains: [tensor] the bound of each input, weight and index tensor, and what its
 * values are multiples of; those of stages are found. */
static bounder bound_from(const at_compute *c, const int64_t *values, int64_t *const *extents,
                          double *of, double *grains, const double *given, int64_t max_dynamic) {
    bounder k = {.c = c,
                 .values = values,
                 .extents = extents,
                 .given = given,
                 .magnitude = of,
                 .grain = grains,
                 .max_dynamic = max_dynamic};
    for (int i = 0; i < c->num_tensors; i++)
        if (c->tensors[c->order[i]].role == AT_ROLE_STAGE) bound_one(&k, c->order[i]);
    return k;
}

/* The same of inputs that are integers of at most b. */
static bounder bound_all(at_arena *a, const at_compute *c, const int64_t *values,
                         int64_t *const *extents, double b, const double *given,
                         int64_t max_dynamic) {
    double *of = AT_NEW_ARRAY(a, double, c->num_tensors);
    double *grains = AT_NEW_ARRAY(a, double, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        of[t] = given && given[t] >= 0 ? given[t] : b;
        grains[t] = 1;
    }
    return bound_from(c, values, extents, of, grains, given, max_dynamic);
}

/* The largest sum of a stage, and in units of its grain. Entries as they lie are no sum. */
static double largest_of(const bounder *k, double *ratio) {
    const double *of = k->magnitude, *grains = k->grain;
    double largest = 0;
    *ratio = 0;
    for (int t = 0; t < k->c->num_tensors; t++) {
        if (k->c->tensors[t].role != AT_ROLE_STAGE) continue;
        if (copies_entries(k->c, &k->c->tensors[t])) continue;
        largest = fmax(largest, of[t]);
        if (of[t] > 0) *ratio = fmax(*ratio, grains[t] > 0 ? of[t] / grains[t] : INFINITY);
    }
    *ratio = fmax(*ratio, k->inner_ratio);
    return fmax(largest, k->inner);
}

double *grains_of(at_arena *a, const at_compute *c, const int64_t *values,
                  int64_t *const *extents) {
    double *g = bound_all(a, c, values, extents, 1, NULL, -1).grain;
    for (int t = 0; t < c->num_tensors; t++)
        if (isinf(g[t])) g[t] = 1;
    return g;
}

bool at_compute_is_whole(const at_compute *c, const int64_t *values) {
    at_arena *a = at_arena_new();
    int64_t **extents;
    bool is_whole = at_compute_extents(a, c, values, &extents, NULL) == AT_OK;
    const double *g = is_whole ? grains_of(a, c, values, extents) : NULL;
    for (int t = 0; t < c->num_tensors && is_whole; t++) is_whole = g[t] > 0;
    at_arena_free(a);
    return is_whole;
}

double at_compute_bound(const at_compute *c, const int64_t *values, double b, const double *given,
                        int64_t max_dynamic, double *ratio) {
    at_arena *a = at_arena_new();
    int64_t **extents;
    double largest = *ratio = INFINITY;
    if (at_compute_extents(a, c, values, &extents, NULL) == AT_OK) {
        const bounder k = bound_all(a, c, values, extents, b, given, max_dynamic);
        largest = largest_of(&k, ratio);
    }
    at_arena_free(a);
    return largest;
}

double at_compute_ratio(const at_compute *c, const int64_t *values, const double *most,
                        const double *unit, const double *given, int64_t max_dynamic) {
    at_arena *a = at_arena_new();
    const size_t bytes = sizeof *most * (size_t)c->num_tensors;
    int64_t **extents;
    double ratio = INFINITY;
    if (at_compute_extents(a, c, values, &extents, NULL) == AT_OK) {
        const bounder k = bound_from(c, values, extents, at_copy(a, most, bytes),
                                     at_copy(a, unit, bytes), given, max_dynamic);
        largest_of(&k, &ratio);
    }
    at_arena_free(a);
    return ratio;
}

int at_compute_exact_range(const at_compute *c, const int64_t *values, const double *given,
                           int64_t max_dynamic) {
    if (c->in_steps) return at_compute_is_steady(c) ? 8 : 0;
    for (int b = 8; b >= 1; b--) {
        double ratio;
        at_compute_bound(c, values, b, given, max_dynamic, &ratio);
        if (ratio <= 1 << 24) return b;
    }
    return 0;
}

/* ---- how it rounds --------------------------------------------------------------------------- */

static bool is_computed(const at_expr *e, const void *compute) {
    if (e->op == AT_X_INDEX)
        return ((const at_compute *)compute)->tensors[e->ref].role == AT_ROLE_STAGE;
    return e->op == AT_X_CALL || e->op == AT_X_MUL || e->op == AT_X_DIV;
}

static bool magnifies_errors(const at_expr *e, const void *compute) {
    const at_expr *of = NULL;
    if (e->op == AT_X_CALL && (e->integer == AT_FUNCTION_EXP || e->integer == AT_FUNCTION_LOG ||
                               e->integer == AT_FUNCTION_SQRT || e->integer == AT_FUNCTION_RSQRT))
        of = e->arg[0];
    if (e->op == AT_X_DIV && is_float_expr(compute, e->arg[1])) of = e->arg[1];
    return of && at_expr_find_value(of, is_computed, compute);
}

bool at_compute_is_transform(const at_compute *c) {
    bool has_table = false;
    for (int t = 0; t < c->num_tensors; t++) {
        has_table |= c->tensors[t].is_table;
        if (c->tensors[t].role == AT_ROLE_STAGE &&
            at_expr_find_value(c->tensors[t].body, magnifies_errors, c))
            return false;
    }
    return has_table;
}

static bool is_step(const at_expr *e, const void *compute) {
    bool is = e->op == AT_X_CALL && e->integer == AT_FUNCTION_FLOOR;
    for (int i = 0; i < e->nargs && at_op_compares(e->op); i++)
        is |= is_float_expr(compute, e->arg[i]) &&
              at_expr_find_value(e->arg[i], is_computed, compute);
    return is;
}

bool at_compute_has_steps(const at_compute *c) {
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE &&
            at_expr_find_value(c->tensors[t].body, is_step, c))
            return true;
    return false;
}
