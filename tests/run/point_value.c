#include "tests/run/point_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIMS = 32, MOST_NESTED = 4000 };

typedef struct slot {
    int stage; /* -1: empty */
    int64_t offset;
    double value;
    bool is_known; /* else it is being worked out, and what reads it reads what was there */
} slot;

struct points {
    const at_compute *c;
    const int64_t *values;
    int64_t *const *extents;
    const at_data *data;
    slot *slots;
    size_t size, used;
    int64_t work;
    int nested; /* elements that wait for others, one for the next */
};

typedef struct place {
    points *p;
    int stage;
    int64_t axis[MAX_DIMS];
} place;

typedef struct number {
    bool is_float;
    int64_t i;
    double f;
} number;

static double as_float(number x) { return x.is_float ? x.f : (double)x.i; }

static const double strange = 1000.25;
enum { STRANGE_INT = 77 };

points *points_new(at_arena *a, const at_compute *c, const int64_t *values, int64_t *const *extents,
                   const at_data *data) {
    points *p = AT_NEW(a, points);
    *p = (points){.c = c, .values = values, .extents = extents, .data = data, .size = 1 << 12};
    p->slots = malloc(p->size * sizeof *p->slots);
    points_forget(p);
    return p;
}

void points_free(points *p) { free(p->slots); }

void points_forget(points *p) {
    for (size_t i = 0; i < p->size; i++) p->slots[i].stage = -1;
    p->used = 0;
    p->work = 0;
}

int64_t points_work(const points *p) { return p->work; }

static slot *find(points *p, int stage, int64_t offset) {
    size_t at =
        (size_t)(((uint64_t)offset * 64 + (uint64_t)stage) * UINT64_C(0x9e3779b97f4a7c15) >> 16);
    for (at &= p->size - 1; p->slots[at].stage >= 0; at = (at + 1) & (p->size - 1))
        if (p->slots[at].stage == stage && p->slots[at].offset == offset) return &p->slots[at];
    return &p->slots[at];
}

static void grow(points *p) {
    slot *old = p->slots;
    const size_t n = p->size;
    p->size *= 2;
    p->slots = malloc(p->size * sizeof *p->slots);
    for (size_t i = 0; i < p->size; i++) p->slots[i].stage = -1;
    for (size_t i = 0; i < n; i++)
        if (old[i].stage >= 0) *find(p, old[i].stage, old[i].offset) = old[i];
    free(old);
}

static int64_t elements(const points *p, int t) {
    return at_tensor_elements(&p->c->tensors[t], p->extents[t]);
}

/* What a float does not hold is infinite, as in a kernel. */
static double in_range(double v) {
    if (v > 3.4028235677973366e38) return INFINITY;
    return v < -3.4028235677973366e38 ? -INFINITY : v;
}

static number value(place *x, const at_expr *e);

/* What a read finds outside of a tensor. */
static number outside(const at_tensor *t) {
    if (at_tensor_has_entries(t)) return (number){.i = 3};
    return (number){.is_float = true, .f = at_type_of(t->type)->is_int ? STRANGE_INT : strange};
}

static number read(place *x, const at_expr *e) {
    points *p = x->p;
    const at_tensor *t = &p->c->tensors[e->ref];
    int64_t offset = 0;
    for (int i = 0; i < e->nargs; i++)
        offset = offset * p->extents[e->ref][i] + value(x, e->arg[i]).i;
    if (offset < 0 || offset >= elements(p, e->ref)) return outside(t);
    if (t->role == AT_ROLE_INDEX) return (number){.i = p->data[e->ref].i[offset]};
    if (t->role != AT_ROLE_STAGE)
        return (number){.is_float = true, .f = at_type_value(t->type, p->data[e->ref].f, offset)};
    const double f = points_at(p, e->ref, offset);
    return t->is_places ? (number){.i = (int64_t)f} : (number){.is_float = true, .f = f};
}

static number of_floats(at_op op, double x, double y) {
    switch (op) {
    case AT_X_ADD: return (number){true, 0, in_range(x + y)};
    case AT_X_SUB: return (number){true, 0, in_range(x - y)};
    case AT_X_MUL: return (number){true, 0, in_range(x * y)};
    case AT_X_DIV: return (number){true, 0, in_range(x / y)};
    case AT_X_MIN: return (number){true, 0, x < y ? x : y};
    case AT_X_MAX: return (number){true, 0, x > y ? x : y};
    case AT_X_BIT_AND: return (number){true, 0, (double)((int64_t)x & (int64_t)y)};
    case AT_X_BIT_OR: return (number){true, 0, (double)((int64_t)x | (int64_t)y)};
    case AT_X_SHIFT_RIGHT: return (number){true, 0, (double)((int64_t)x >> (int64_t)y)};
    case AT_X_LT: return (number){.i = x < y};
    case AT_X_LE: return (number){.i = x <= y};
    case AT_X_GT: return (number){.i = x > y};
    case AT_X_GE: return (number){.i = x >= y};
    case AT_X_EQ: return (number){.i = x == y};
    default: return (number){.i = x != y};
    }
}

/* What e is, beside integers: a float after each operation, unless it is a whole number. */
static number in_step(const place *x, const at_expr *e, number v) {
    const at_compute *c = x->p->c;
    if (v.is_float && c->in_steps && !at_expr_is_whole(c, e)) v.f = (float)v.f;
    return v;
}

static number value(place *x, const at_expr *e) {
    switch (e->op) {
    case AT_X_INT: return (number){.i = e->integer};
    case AT_X_FLOAT: return (number){true, 0, (double)(float)e->number};
    case AT_X_NAME:
        return (number){.i = e->ref < AT_REF_SIZE ? x->axis[e->ref]
                                                  : x->p->values[e->ref - AT_REF_SIZE]};
    case AT_X_INDEX: return read(x, e);
    default: break;
    }
    number a = value(x, e->arg[0]), b = {0};
    switch (e->op) {
    case AT_X_NEG: return (number){a.is_float, -a.i, -a.f};
    case AT_X_NOT: return (number){.i = !a.i};
    case AT_X_AND: return a.i ? value(x, e->arg[1]) : a;
    case AT_X_OR: return a.i ? a : value(x, e->arg[1]);
    case AT_X_SELECT: return value(x, e->arg[a.i ? 1 : 2]);
    case AT_X_CALL:
        return in_step(
            x, e,
            (number){true, 0, in_range(at_function_value((at_function)e->integer, as_float(a)))});
    default: break;
    }
    b = value(x, e->arg[1]);
    if (a.is_float || b.is_float) return in_step(x, e, of_floats(e->op, as_float(a), as_float(b)));
    number r = {0};
    if (!at_expr_binary(e->op, a.i, b.i, &r.i)) r.i = 0;
    return r;
}

/* Terms of the axes from `axis` on. */
static double reduce(place *x, int axis, double sum) {
    const at_tensor *t = &x->p->c->tensors[x->stage];
    if (axis == t->num_axes + t->num_reduce) {
        const bool in_floats = x->p->c->in_steps && !at_type_of(t->type)->is_int;
        double term = as_float(value(x, t->body));
        x->p->work++;
        if (in_floats) term = (float)term;
        sum = in_range(at_reduction_join(t->reduction, term, sum));
        return in_floats ? (double)(float)sum : sum;
    }
    int64_t begin = 0, end = x->p->extents[x->stage][axis];
    if (t->axes[axis].begin) {
        begin = value(x, t->axes[axis].begin).i;
        end = value(x, t->axes[axis].end).i;
    }
    for (int64_t i = begin; i < end; i++) {
        x->axis[axis] = i;
        sum = reduce(x, axis + 1, sum);
    }
    return sum;
}

/* A value as the stage stores it: its type's nearest whole number towards 0. */
static double stored(const at_compute *c, const at_tensor *t, double v) {
    const at_type_facts *type = at_type_of(t->type);
    if (!type->is_int) return c->in_steps ? (double)(float)v : v;
    const double most = at_expr_is_whole(c, t->body) ? type->most : at_type_most_float(t->type);
    return trunc(v >= type->least ? v <= most ? v : most : type->least);
}

double points_at(points *p, int stage, int64_t offset) {
    const at_tensor *t = &p->c->tensors[stage];
    slot *s = find(p, stage, offset);
    if (s->stage >= 0) return s->is_known ? s->value : strange;
    if (p->nested == MOST_NESTED) return strange; /* a mutant that goes on within a step */
    *s = (slot){.stage = stage, .offset = offset};
    if (++p->used * 2 > p->size) grow(p);
    place x = {.p = p, .stage = stage};
    int64_t rest = offset;
    for (int i = t->num_axes - 1; i >= 0; i--) {
        x.axis[i] = rest % p->extents[stage][i];
        rest /= p->extents[stage][i];
    }
    p->work++;
    p->nested++;
    double v = t->num_reduce
                   ? reduce(&x, t->num_axes, at_reduction_neutral_of(t->reduction, t->type))
                   : as_float(value(&x, t->body));
    p->nested--;
    s = find(p, stage, offset);
    s->value = stored(p->c, t, v);
    s->is_known = true;
    return s->value;
}
