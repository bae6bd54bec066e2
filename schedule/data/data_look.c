/* schedule/data/data_look.c: what a computation makes of its data: sizes of all expressions and
 * what decisions see, from some elements of each stage. */
#include "schedule/data/data_int.h"

#include <math.h>
#include <string.h>

/* What is added to keep a divisor from 0. */
#define SMALL 0x1p-6

typedef struct node {
    const at_expr *e;
    double n, squares, last;
    int decision; /* -1: it is none */
} node;

struct data_look {
    at_sample sample; /* first: what it calls gets this */
    const at_compute *c;
    const int64_t *values;
    const at_data_known *known;
    const at_fill *fill;
    bool is_exact;
    at_rng rng;
    node *nodes; /* by address */
    size_t size; /* a power of two */
    AT_VEC(data_decision) decisions;
};

static node *find(const data_look *l, const at_expr *e) {
    size_t i = (size_t)((uintptr_t)e / 16 * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (l->size - 1);
    while (l->nodes[i].e && l->nodes[i].e != e) i = (i + 1) & (l->size - 1);
    return &l->nodes[i];
}

/* ---- decisions ------------------------------------------------------------------------------- */

static bool reads_extreme(const at_expr *e, const void *compute) {
    const at_tensor *t =
        e->op == AT_X_INDEX ? &((const at_compute *)compute)->tensors[e->ref] : NULL;
    return t && t->num_reduce && at_reduction_is_extreme(t->reduction);
}

/* A number, also by sizes: 0 - 5, W - 1. */
static bool number_of(const data_look *l, const at_expr *e, double *x) {
    double y;
    if (at_expr_is_number(e)) return *x = at_expr_number(e), true;
    if (e->op == AT_X_NAME && e->ref >= AT_REF_SIZE)
        return *x = (double)l->values[e->ref - AT_REF_SIZE], true;
    if (e->op == AT_X_NEG && number_of(l, e->arg[0], x)) return *x = -*x, true;
    if (e->op != AT_X_ADD && e->op != AT_X_SUB) return false;
    if (!number_of(l, e->arg[0], x) || !number_of(l, e->arg[1], &y)) return false;
    return *x += e->op == AT_X_ADD ? y : -y, true;
}

static bool is_bound(at_op op) { return op == AT_X_MIN || op == AT_X_MAX; }

/* Between which numbers min and max, one in the other, leave a value that lies between lo and hi;
 * then what it is. */
static const at_expr *bounded(const data_look *l, const at_expr *e, double *lo, double *hi) {
    double x;
    while (is_bound(e->op)) {
        const int i = number_of(l, e->arg[1], &x) ? 1 : number_of(l, e->arg[0], &x) ? 0 : -1;
        if (i < 0) break;
        if (e->op == AT_X_MIN && x < *hi) *hi = x;
        if (e->op == AT_X_MAX && x > *lo) *lo = x;
        e = e->arg[!i];
    }
    return e;
}

/* What a number is added to, and the bound that it meets instead: max(u + 9, 0) is u beside -9. */
static const at_expr *without_number(const data_look *l, const at_expr *e, double *at) {
    double x;
    while (e->op == AT_X_ADD || e->op == AT_X_SUB) {
        if (number_of(l, e->arg[1], &x)) {
            *at -= e->op == AT_X_ADD ? x : -x;
            e = e->arg[0];
        } else if (e->op == AT_X_ADD && number_of(l, e->arg[0], &x)) {
            *at -= x;
            e = e->arg[1];
        } else break;
    }
    return e;
}

/* The places of an axis that a value is compared with: the middle of them, and half of their number
 * in *width; *width 0: e is no axis. */
static double middle_of(const data_look *l, int stage, const at_expr *e, double *width) {
    int64_t extent;
    const bool is_axis = e->op == AT_X_NAME && e->ref < axes_of(&l->c->tensors[stage]);
    const at_axis *axis = is_axis ? &l->c->tensors[stage].axes[e->ref] : NULL;
    *width = 0;
    if (!axis || axis->begin || at_expr_eval(axis->extent, l->values, &extent, NULL) != AT_OK)
        return 0;
    *width = (double)extent / 2;
    return *width - 0.5;
}

/* How e decides; false: it does not. */
static bool decides(const data_look *l, const at_expr *e, data_decision *d) {
    double lo = -INFINITY, hi = INFINITY, x;
    if (e->op == AT_X_CALL) {
        d->of = e->arg[0];
        d->below_maximum =
            e->integer == AT_FUNCTION_EXP && at_expr_find_value(e->arg[0], reads_extreme, l->c);
        return e->integer != AT_FUNCTION_ABS && !at_function_narrows((at_function)e->integer);
    }
    if (is_bound(e->op) && is_float_expr(l->c, e)) {
        d->of = bounded(l, e, &lo, &hi);
        if (d->of == e) return d->of = e->arg[0], true; /* of two values */
        const bool between = isfinite(lo) && isfinite(hi);
        d->at = between ? (lo + hi) / 2 : isfinite(lo) ? lo : hi;
        if (!between) d->of = without_number(l, d->of, &d->at);
        d->width = between ? hi - lo : fabs(d->at);
        d->is_lone = !between;
        d->is_added = d->is_lone && e->op == AT_X_MAX && d->at > 0 && d->at < SMALL;
        return isfinite(d->at);
    }
    const int added = e->op != AT_X_ADD             ? -1
                      : number_of(l, e->arg[1], &x) ? 1
                      : number_of(l, e->arg[0], &x) ? 0
                                                    : -1;
    if (added >= 0 && x > 0 && x < SMALL) {
        d->of = e->arg[1 - added];
        d->width = x;
        return d->is_added = is_float_expr(l->c, d->of);
    }
    if (e->op == AT_X_ADD || e->op == AT_X_SUB) {
        d->of = e->arg[0];
        d->is_sum = is_float_expr(l->c, e->arg[0]) && is_float_expr(l->c, e->arg[1]) &&
                    at_expr_reads(e->arg[0]) && at_expr_reads(e->arg[1]);
        return d->is_sum;
    }
    if (!at_op_compares(e->op)) return false;
    if (!is_float_expr(l->c, e->arg[0]) && !is_float_expr(l->c, e->arg[1])) return false;
    const int number = number_of(l, e->arg[1], &x) ? 1 : number_of(l, e->arg[0], &x) ? 0 : -1;
    d->of = e->arg[number == 0];
    if (number >= 0) return d->at = x, d->width = fabs(x), d->is_lone = true, isfinite(x);
    for (int i = 0; i < 2 && !(d->width > 0); i++) {
        d->at = middle_of(l, d->stage, e->arg[i], &d->width);
        if (d->width > 0) d->of = e->arg[1 - i];
    }
    return true;
}

/* Elements as they are, of which some are chosen? */
static bool is_copied(const at_expr *e) {
    if (e->op == AT_X_SELECT) return is_copied(e->arg[1]) && is_copied(e->arg[2]);
    return e->op == AT_X_INDEX || e->op == AT_X_INT;
}

/* How the type of its stage decides on what a body makes; false: it does not. */
static bool is_cut(const data_look *l, const at_expr *e, data_decision *d) {
    const at_tensor *t = &l->c->tensors[d->stage];
    const at_type_facts *type = at_type_of(t->type);
    double lo = type->least, hi = type->most;
    if (e != t->body || !type->is_int || t->type == AT_S32 || t->type == AT_BOOL || t->num_reduce ||
        is_copied(e))
        return false;
    d->of = bounded(l, e, &lo, &hi);
    d->at = (lo + hi) / 2;
    d->width = hi - lo;
    return d->is_stored = d->width > 0;
}

/* bounds: it stands within a bound, which is one decision with it. */
static void add(data_look *l, at_arena *a, const at_expr *e, int stage, bool bounds) {
    node *n = find(l, e);
    data_decision d = {.e = e, .stage = stage};
    if (!n->e) {
        *n = (node){.e = e, .decision = -1};
        if (!(bounds && is_bound(e->op)) && (is_cut(l, e, &d) || decides(l, e, &d))) {
            d.x = AT_NEW_ARRAY(a, double, DATA_KEPT);
            d.y = AT_NEW_ARRAY(a, double, DATA_KEPT);
            n->decision = l->decisions.len;
            *at_push(a, &l->decisions) = d;
        }
    }
    if (e->op == AT_X_INDEX) return;
    for (int i = 0; i < e->nargs; i++) {
        double x;
        bool within = is_bound(e->op) && number_of(l, e->arg[!i], &x);
        add(l, a, e->arg[i], stage, within);
    }
}

/* ---- looking --------------------------------------------------------------------------------- */

double data_random_unit(int tensor, int64_t offset) {
    at_rng rng;
    at_rng_seed(&rng, (uint64_t)offset * UINT64_C(0x9e3779b97f4a7c15), (uint64_t)tensor);
    return at_rng_unit(&rng);
}

double data_away(const at_fill *f, int64_t element) {
    if (!f->row) return 0;
    const int64_t rows = at_fill_rows(f), row = element / f->row * at_fill_stride(f) % rows;
    return f->unit * f->apart * (double)(row - rows / 2);
}

double data_look_element(const data_look *l, const at_fill *f, int t, int64_t offset) {
    const at_type type = l->c->tensors[t].type;
    if (l->known->given && l->known->given[t])
        return at_type_value(type, l->known->given[t], offset);
    const double x = data_random_unit(t, offset);
    if (at_type_of(type)->is_int) {
        const at_wholes w = at_data_wholes(type, f);
        return (double)w.lo + (double)w.step * floor(x * (double)((w.hi - w.lo) / w.step + 1));
    }
    if (l->is_exact) return f->unit * (f->lo + floor(x * (f->hi - f->lo + 1)));
    return f->unit * (f->lo + (f->hi - f->lo) * x);
}

static double element(const at_sample *s, int t, int64_t offset) {
    const data_look *l = (const data_look *)s;
    return data_look_element(l, &l->fill[t], t, offset) + data_away(&l->fill[t], offset);
}

static int64_t entry(const at_sample *s, int t, int64_t offset) {
    const at_data_known *k = ((const data_look *)s)->known;
    if (k->indices && k->indices[t]) return k->indices[t][offset];
    const at_index_range *r = &k->entries[t];
    const int64_t last = k->num_entries[t] - 1;
    if (r->ascends && last > 0) return r->lo + (r->hi - r->lo) * offset / last;
    return r->lo + (int64_t)floor(data_random_unit(t, offset) * (double)(r->hi - r->lo + 1));
}

static void see(at_sample *s, const at_expr *e, double value) {
    data_look *l = (data_look *)s;
    node *n = find(l, e);
    if (!n->e) return; /* of an index */
    n->last = value;
    if (isfinite(value)) n->n++, n->squares += value * value;
    if (n->decision < 0) return;
    data_decision *d = &l->decisions.data[n->decision];
    const double x = find(l, d->of)->last;
    const double y = !d->is_stored && e->nargs > 1 ? find(l, e->arg[d->of == e->arg[0]])->last : 0;
    if (!isfinite(x) || !isfinite(y)) return; /* what is masked is infinite */
    /* Each is as likely to be kept as any other. */
    int64_t at = d->num++;
    if (at >= DATA_KEPT) at = (int64_t)at_rng_below(&l->rng, (uint64_t)d->num);
    if (at >= DATA_KEPT) return;
    d->x[at] = x;
    d->y[at] = y;
}

data_look *data_look_new(at_arena *a, const at_compute *c, const int64_t *values,
                         const at_data_known *known, bool is_exact) {
    data_look *l = AT_NEW(a, data_look);
    size_t nodes = 0;
    *l = (data_look){.sample = {element, entry, see},
                     .c = c,
                     .values = values,
                     .known = known,
                     .is_exact = is_exact,
                     .size = 64};
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE) nodes += (size_t)at_expr_nodes(c->tensors[t].body);
    while (l->size < 2 * nodes) l->size *= 2;
    l->nodes = AT_NEW_ARRAY(a, node, l->size);
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE) add(l, a, c->tensors[t].body, t, false);
    return l;
}

at_status data_look_at(data_look *l, at_arena *a, const at_fill *fill, at_error *err) {
    l->fill = fill;
    at_rng_seed(&l->rng, 0, 0);
    for (size_t i = 0; i < l->size; i++) l->nodes[i].n = l->nodes[i].squares = 0;
    for (int i = 0; i < l->decisions.len; i++) l->decisions.data[i].num = 0;
    /* A read outside of its tensor is told, with its place, by who checks reads. */
    at_status s = at_compute_sample(a, l->c, l->values, &l->sample, err);
    return s == AT_E_INPUT ? AT_OK : s;
}

data_decision *data_look_decisions(data_look *l, int *n) {
    *n = l->decisions.len;
    return l->decisions.data;
}

bool data_look_is_cut(const data_look *l, int stage) {
    const at_tensor *t = &l->c->tensors[stage];
    const int number = t->num_reduce ? -1 : find(l, t->body)->decision;
    const data_decision *d = number < 0 ? NULL : &l->decisions.data[number];
    return d && (d->is_stored || (is_bound(d->e->op) && d->width > 0 && !d->is_lone));
}

double data_look_size(const data_look *l, const at_expr *e) {
    const node *n = find(l, e);
    return n->e && n->n > 0 ? sqrt(n->squares / n->n) : 0;
}

double data_quantile(const data_decision *d, double at, double share) {
    double kept[DATA_KEPT];
    const int n = data_kept(d);
    for (int i = 0; i < n; i++) kept[i] = fabs(d->x[i] - at);
    at_sort_doubles(kept, n);
    return n ? kept[(int)(share * (n - 1))] : 0;
}

/* ---- floats of 16 bits in bytes -------------------------------------------------------------- */

typedef struct upper {
    int tensor;
    int64_t at; /* the last index of the element; -1: none is found */
} upper;

/* An element of the tensor as the upper byte of a float. */
static at_walk find_upper(const at_expr *e, void *ctx) {
    upper *u = ctx;
    for (int i = 0; e->op == AT_X_MUL && i < 2 && u->at < 0; i++) {
        const at_expr *x = e->arg[i], *by = e->arg[1 - i];
        if (x->op == AT_X_BIT_AND) x = x->arg[0]; /* of one with a sign */
        const at_expr *last = at_expr_is_read(x, &u->tensor) ? x->arg[x->nargs - 1] : NULL;
        if (last && last->op == AT_X_INT && by->op == AT_X_INT && by->integer == 256)
            u->at = last->integer;
    }
    return u->at < 0 ? AT_WALK_ON : AT_WALK_END;
}

static at_walk look_in_half(const at_expr *e, void *ctx) {
    if (e->op != AT_X_CALL || e->integer != AT_FUNCTION_HALF) return AT_WALK_ON;
    return at_expr_walk(e, find_upper, ctx) ? AT_WALK_END : AT_WALK_PAST;
}

int64_t at_data_upper_byte(const at_compute *c, int stage, int tensor) {
    upper u = {tensor, -1};
    if (c->tensors[stage].body) at_expr_walk(c->tensors[stage].body, look_in_half, &u);
    return u.at;
}
