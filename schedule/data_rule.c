/* schedule/data_rule.c: see data.h. Inputs and weights are whole numbers around zero, so that sums
 * have both signs, times powers of two such that what meets a bound or a function is about as large
 * as the bound is wide. What a floor looks at has quarters; what a maximum looks at is told apart.
 */
#include "schedule/data_int.h"

#include <math.h>
#include <string.h>

enum {
    MOST_RANGE = 8,   /* of inputs that need no more different values */
    REAL_RANGE = 8,   /* where no integers are exact */
    MOST_ROUNDS = 32, /* of changes by decisions */
    MOST_CHANGES = 6, /* by one of them */
    LIGHTER = 8       /* so many times, what few elements have than what it is added to */
};
#define EXACT_RATIO 0x1p24
/* Where inputs have more different values than they need, sums that are formed in another way than
 * the text does shall be exact, too. */
#define SPREAD_RATIO 0x1p21
#define SPREAD_MOST 0x1p20
#define SPREAD_OTHERS 0x1p10
#define SPREAD_FACTORS 0x1p4 /* a small one would leave nothing of what it is multiplied by */
/* Bounds of other sizes are a matter of safety, as of a divisor that must not be 0. */
#define LEAST_WIDTH 0x1p-6
#define MOST_WIDTH 0x1p12

typedef struct ruler {
    at_arena *arena;
    const at_compute *c;
    const int64_t *values;
    const at_data_known *known;
    int64_t **extents;
    bool is_exact;
    at_fill *fill;
    data_look *look;
    bool *marked;
    double *power;              /* [tensor] with which it grows with what is marked */
    bool *reads[AT_ROLE_STAGE]; /* [role][stage] it reads a tensor of that role somewhere */
} ruler;

void at_fill_draw(const at_fill *f, bool is_exact, int64_t first, int64_t n, at_rng *rng,
                  float *out) {
    const bool skips_0 = !f->has_0 && f->lo < 0 && f->hi > 0;
    const uint64_t steps = (uint64_t)(f->hi - f->lo + !skips_0);
    const bool moves = steps >= AT_LEAST_MOVING;
    uint64_t step = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = f->lo;
        if (is_exact) {
            step = moves && i ? (step + 1 + at_rng_below(rng, steps - 1)) % steps
                              : at_rng_below(rng, steps);
            x += (double)step, x += skips_0 && x >= 0;
        } else x += (f->hi - f->lo) * ((double)at_rng_below(rng, 1 << 24) + 0.5) * 0x1p-24;
        out[i] = (float)(f->unit * x + data_away(f, first + i));
    }
}

static double most_of(const at_fill *f) { return f->unit * fmax(fabs(f->lo), fabs(f->hi)); }

/* Is it drawn from a fill? */
static bool is_drawn(const ruler *r, int t) {
    const at_tensor *x = &r->c->tensors[t];
    return x->role != AT_ROLE_STAGE && x->role != AT_ROLE_INDEX &&
           !(r->known->given && r->known->given[t]);
}

/* extremes: times the ends that elements may have. */
static double ratio_of(const ruler *r, double extremes) {
    const int n = r->c->num_tensors;
    at_arena *a = at_arena_new();
    double *most = AT_NEW_ARRAY(a, double, n), *unit = AT_NEW_ARRAY(a, double, n);
    for (int t = 0; t < n; t++) {
        unit[t] = is_drawn(r, t) ? r->fill[t].unit : 1;
        most[t] = is_drawn(r, t) ? extremes * most_of(&r->fill[t]) : r->known->bound[t];
        if (!is_drawn(r, t) && most[t] < 0) most[t] = MOST_RANGE;
    }
    double ratio =
        at_compute_ratio(r->c, r->values, most, unit, r->known->bound, r->known->longest);
    at_arena_free(a);
    return ratio;
}

static void fill_all(ruler *r, double lo, double hi) {
    for (int t = 0; t < r->c->num_tensors; t++)
        r->fill[t] = (at_fill){.lo = lo, .hi = hi, .unit = 1};
}

/* ---- changing the size of an expression ------------------------------------------------------ */

typedef struct role_asked {
    const ruler *r;
    at_role role;
} role_asked;

static bool is_of_role(const at_expr *e, const void *ctx) {
    const role_asked *x = ctx;
    return e->op == AT_X_INDEX &&
           (x->r->c->tensors[e->ref].role == x->role || x->r->reads[x->role][e->ref]);
}

/* Does an expression read a tensor of that role, itself or through stages? */
static bool reads_role(const ruler *r, const at_expr *e, at_role role) {
    return at_expr_find_value(e, is_of_role, &(role_asked){r, role});
}

/* Of each stage, the ones that it reads first; not of those that read themselves. */
static void find_roles(ruler *r) {
    for (int role = 0; role < AT_ROLE_STAGE; role++) {
        r->reads[role] = AT_NEW_ARRAY(r->arena, bool, r->c->num_tensors);
        for (int i = 0; i < r->c->num_tensors; i++) {
            const int stage = r->c->order[i];
            const at_tensor *t = &r->c->tensors[stage];
            r->reads[role][stage] = t->role == AT_ROLE_STAGE && !t->is_recurrence && !t->cycle &&
                                    t->body && reads_role(r, t->body, (at_role)role);
        }
    }
}

static void mark(ruler *r, const at_expr *e);

/* Of the operands of a sum those that make up its size. */
static void mark_large(ruler *r, const at_expr *e) {
    const double x = data_look_size(r->look, e->arg[0]), y = data_look_size(r->look, e->arg[1]);
    if (x * 4 > y) mark(r, e->arg[0]);
    if (y * 4 > x) mark(r, e->arg[1]);
}

/* The side of a product that is changed: weights first, then what is no number. */
static const at_expr *moved_factor(const ruler *r, const at_expr *e) {
    for (int role = AT_ROLE_STAGE; role-- > 0;)
        for (int i = 2; i-- > 0;) {
            at_role which = role ? AT_ROLE_WEIGHT : AT_ROLE_INPUT;
            if (reads_role(r, e->arg[i], which)) return e->arg[i];
        }
    return e->arg[1];
}

/* Tensors with which e grows in proportion. */
static void mark(ruler *r, const at_expr *e) {
    switch (e->op) {
    case AT_X_INDEX:
        if (r->marked[e->ref] || at_tensor_has_entries(&r->c->tensors[e->ref])) return;
        r->marked[e->ref] = true;
        if (r->c->tensors[e->ref].role == AT_ROLE_STAGE) mark(r, r->c->tensors[e->ref].body);
        return;
    case AT_X_NEG:
    case AT_X_DIV: mark(r, e->arg[0]); return;
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MIN:
    case AT_X_MAX: mark_large(r, e); return;
    case AT_X_MUL: mark(r, moved_factor(r, e)); return;
    case AT_X_SELECT: mark(r, e->arg[1]), mark(r, e->arg[2]); return;
    case AT_X_CALL:
        if (e->integer == AT_FUNCTION_ABS || e->integer == AT_FUNCTION_FLOOR ||
            at_function_narrows((at_function)e->integer))
            mark(r, e->arg[0]);
        return;
    default: return;
    }
}

static void mark_sources(ruler *r, const at_expr *e) {
    memset(r->marked, 0, sizeof *r->marked * (size_t)r->c->num_tensors);
    mark(r, e);
}

/* With which power of the marked tensors e grows: a square of differences with the second. */
static double power(const ruler *r, const at_expr *e) {
    double most = 0, sum = 0;
    if (e->op == AT_X_INDEX) return r->power[e->ref];
    for (int i = 0; i < e->nargs; i++) {
        const double of = power(r, e->arg[i]);
        most = of > most ? of : most;
        sum += of;
    }
    return e->op == AT_X_MUL ? sum : most;
}

/* Of each tensor: of stages, the ones that they read first. */
static void find_powers(ruler *r) {
    for (int i = 0; i < r->c->num_tensors; i++) {
        const int tensor = r->c->order[i];
        const at_tensor *t = &r->c->tensors[tensor];
        const bool is_read = t->role == AT_ROLE_STAGE && !t->is_recurrence && !t->cycle;
        r->power[tensor] = !r->marked[tensor] ? 0 : is_read ? power(r, t->body) : 1;
    }
}

static void multiply(ruler *r, double factor) {
    for (int t = 0; t < r->c->num_tensors; t++)
        if (r->marked[t] && is_drawn(r, t)) r->fill[t].unit *= factor;
}

/* The factor for the elements of tensors, which are marked then, that brings e nearer to so many
 * times its size; where sums are exact, a power of two. 1: no such tensor is drawn, or e is near
 * enough. */
static double factor_for(ruler *r, const at_expr *e, double times) {
    bool any = false;
    if (!isfinite(times) || !(times > 0)) return 1;
    mark_sources(r, e);
    for (int t = 0; t < r->c->num_tensors; t++) any |= r->marked[t] && is_drawn(r, t);
    find_powers(r);
    const double by = fmax(-3, fmin(3, log2(times) / (any ? power(r, e) : INFINITY)));
    return exp2(r->is_exact ? round(by) : by);
}

/* What a logarithm or a root is taken of: drawn from numbers above 0. */
static bool raise_above_0(ruler *r, const at_expr *e) {
    bool any = false;
    mark_sources(r, e);
    for (int t = 0; t < r->c->num_tensors; t++) {
        at_fill *f = &r->fill[t];
        if (!r->marked[t] || !is_drawn(r, t) || f->lo > 0) continue;
        f->lo = r->is_exact ? 1 : f->hi / 8;
        any = true;
    }
    return any;
}

/* ---- what decisions need --------------------------------------------------------------------- */

static double share_below(const data_decision *d) {
    const int n = d->num < DATA_KEPT ? (int)d->num : DATA_KEPT;
    int below = 0;
    for (int i = 0; i < n; i++) below += d->x[i] < d->y[i];
    return n ? (double)below / n : 0;
}

/* What is to become so many times as large. */
typedef struct wish {
    const at_expr *of;
    double times;
} wish;
static const wish no_wish = {NULL, 1};

/* Of values that both come from data: the larger ones shall be as small as the others where one
 * side always wins. */
static wish match_sides(const ruler *r, const data_decision *d) {
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

static wish widen(const data_decision *d) {
    if (!(d->width >= LEAST_WIDTH && d->width <= MOST_WIDTH)) return no_wish;
    const double size = data_quantile(d, fabs(d->at) == d->width ? 0 : d->at, 0.68);
    if (!(size > 0) || (size > d->width / 2 && size < d->width * 2)) return no_wish;
    return (wish){d->of, d->width / size};
}

/* What is added up where sums round: the errors of a large operand would hide a small one. */
static wish even_out(const ruler *r, const data_decision *d) {
    enum { MOST = 16 };
    const at_expr *x = d->e->arg[0], *y = d->e->arg[1];
    const double of_x = data_look_size(r->look, x), of_y = data_look_size(r->look, y);
    if (!(of_x > 0) || !(of_y > 0)) return no_wish;
    if (of_x > MOST * of_y) return (wish){x, of_y / of_x};
    return of_y > MOST * of_x ? (wish){y, of_x / of_y} : no_wish;
}

static wish wish_of(const ruler *r, const data_decision *d) {
    if (!d->num || d->is_added) return no_wish;
    if (d->is_sum) return r->is_exact ? no_wish : even_out(r, d);
    if (d->e->op != AT_X_CALL)
        return d->width > 0 ? widen(d) : d->e->nargs > 1 ? match_sides(r, d) : no_wish;
    switch ((at_function)d->e->integer) {
    case AT_FUNCTION_EXP:
    case AT_FUNCTION_TANH:
    case AT_FUNCTION_ERF:
    case AT_FUNCTION_SIGMOID:
    case AT_FUNCTION_SIN:
    case AT_FUNCTION_COS: return moderate(d);
    case AT_FUNCTION_FLOOR:
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
static bool serve(ruler *r, data_decision *d) {
    if (d->changes > MOST_CHANGES) return false;
    if (needs_above_0(d) && !d->changes++ && raise_above_0(r, d->of)) return true;
    const wish w = wish_of(r, d);
    const double far = fabs(log2(w.times)), by = d->factor;
    if (!w.of) return false;
    if (by > 0 && far > 0.9 * d->before) { /* something else decides */
        memcpy(r->marked, d->marked, sizeof *r->marked * (size_t)r->c->num_tensors);
        multiply(r, 1 / by);
        d->changes = MOST_CHANGES + 1;
        return true;
    }
    const double factor = factor_for(r, w.of, w.times);
    if (factor == 1) return false;
    multiply(r, factor);
    d->changes++;
    d->before = far;
    d->factor = factor;
    d->marked = at_copy(r->arena, r->marked, sizeof *r->marked * (size_t)r->c->num_tensors);
    return true;
}

/* In text order: what a stage reads is served before. */
static at_status serve_all(ruler *r, at_error *err) {
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

/* ---- exact data ------------------------------------------------------------------------------ */

/* What is compared with a number has zeros. */
static void allow_0(ruler *r) {
    int n;
    const data_decision *d = data_look_decisions(r->look, &n);
    for (int i = 0; i < n; i++) {
        if (d[i].e->op < AT_X_LT || d[i].e->op > AT_X_NE) continue;
        mark_sources(r, d[i].of);
        for (int t = 0; t < r->c->num_tensors; t++)
            if (r->marked[t]) r->fill[t].has_0 = true;
    }
}

/* What a floor rounds has quarters, which are as exact as whole numbers. */
static void quarter(ruler *r) {
    int n;
    const data_decision *d = data_look_decisions(r->look, &n);
    bool *done = AT_NEW_ARRAY(r->arena, bool, r->c->num_tensors);
    for (int i = 0; i < n; i++) {
        if (d[i].e->op != AT_X_CALL || d[i].e->integer != AT_FUNCTION_FLOOR) continue;
        mark_sources(r, d[i].of);
        for (int t = 0; t < r->c->num_tensors; t++) {
            at_fill *f = &r->fill[t], before = *f;
            if (!r->marked[t] || !is_drawn(r, t) || done[t]) continue;
            done[t] = true;
            f->unit /= 4, f->lo *= 4, f->hi *= 4;
            if (ratio_of(r, 1) > EXACT_RATIO) f->lo = before.lo, f->hi = before.hi;
        }
    }
}

/* Does the maximum or minimum of a stage go back to the tensor's elements? */
static bool meets_extreme(ruler *r, int tensor) {
    for (int s = 0; s < r->c->num_tensors; s++) {
        const at_tensor *t = &r->c->tensors[s];
        if (t->role != AT_ROLE_STAGE || !t->num_reduce || !at_reduction_is_extreme(t->reduction))
            continue;
        mark_sources(r, t->body);
        if (r->marked[tensor]) return true;
    }
    return false;
}

static void spread_one(ruler *r, int t, double most) {
    at_fill *f = &r->fill[t];
    for (at_fill before = *f; f->hi < most; before = *f) {
        f->lo *= 2, f->hi *= 2;
        if (ratio_of(r, 2) <= SPREAD_RATIO) continue;
        *f = before;
        return;
    }
}

static bool multiplies(const at_expr *e, const void *tensor) {
    bool any = false;
    for (int i = 0; i < e->nargs && e->op == AT_X_MUL; i++)
        any |= e->arg[i]->op == AT_X_INDEX && e->arg[i]->ref == *(const int *)tensor;
    return any;
}

/* How far the values of a tensor may be spread that no maximum looks at. */
static double most_spread(const ruler *r, int tensor) {
    bool any = false;
    for (int s = 0; s < r->c->num_tensors && !any; s++)
        any = r->c->tensors[s].role == AT_ROLE_STAGE &&
              at_expr_find(r->c->tensors[s].body, multiplies, &tensor);
    return any ? SPREAD_FACTORS : SPREAD_OTHERS;
}

static int64_t elements_of(const ruler *r, int t) { return element_count(r->c, t, r->extents[t]); }

/* Values are as many as sums allow, so that few are equal: a neighbour's element is another one
 * then, and an element that a maximum leaves out is missed. Those that few elements have, as a
 * number per channel, come first: sums of products leave little to the others. */
static void spread(ruler *r) {
    int64_t done = -1;
    for (int t = 0; t < r->c->num_tensors; t++)
        if (is_drawn(r, t) && meets_extreme(r, t)) spread_one(r, t, SPREAD_MOST);
    for (bool any = true; any;) {
        int64_t least = INT64_MAX;
        for (int t = 0; t < r->c->num_tensors; t++)
            if (is_drawn(r, t) && elements_of(r, t) > done && elements_of(r, t) < least)
                least = elements_of(r, t);
        any = least < INT64_MAX;
        for (int t = 0; t < r->c->num_tensors && any; t++)
            if (is_drawn(r, t) && elements_of(r, t) == least) spread_one(r, t, most_spread(r, t));
        done = least;
    }
}

/* Are all marked tensors drawn, and does each have far fewer elements than the stage, as a number
 * per channel? */
static bool is_of_few(const ruler *r, int stage) {
    bool any = false;
    for (int t = 0; t < r->c->num_tensors; t++) {
        if (!r->marked[t]) continue;
        if (!is_drawn(r, t) || 2 * elements_of(r, t) > elements_of(r, stage)) return false;
        any = true;
    }
    return any;
}

/* An operand of a sum that is so many times as large as the other one leaves; false: it is not. */
static bool restrain(ruler *r, const data_decision *d, int side) {
    const double of = data_look_size(r->look, d->e->arg[side]),
                 other = data_look_size(r->look, d->e->arg[1 - side]);
    bool any = false;
    if (!(other > 0) || of <= other / LIGHTER) return false;
    mark_sources(r, d->e->arg[side]);
    if (!is_of_few(r, d->stage)) return false;
    const double times = exp2(ceil(log2(of / other * LIGHTER)));
    for (int t = 0; t < r->c->num_tensors; t++) {
        at_fill *f = &r->fill[t];
        const double hi = fmax(f->hi / times, fmin(f->hi, MOST_RANGE));
        if (!r->marked[t] || hi >= f->hi) continue;
        f->lo *= hi / f->hi, f->hi = hi;
        any = true;
    }
    return any;
}

/* Where a number per channel outweighs what it is added to, it decides alone on which side of a
 * bound a whole channel lies: it has as few values as keep it far below that size, also where
 * another number of the channel is a small factor. */
static at_status restrain_all(ruler *r, at_error *err) {
    int n;
    for (int round = 0; round < MOST_ROUNDS; round++) {
        bool any = false;
        AT_TRY(data_look_at(r->look, r->arena, r->fill, err));
        const data_decision *d = data_look_decisions(r->look, &n);
        for (int i = 0; i < 2 * n && !any; i++)
            any = d[i / 2].is_sum && d[i / 2].num && restrain(r, &d[i / 2], i % 2);
        if (!any) break;
    }
    return AT_OK;
}

static at_status try_range(ruler *r, int range, bool *fits, at_error *err) {
    fill_all(r, -range, range);
    *fits = !r->known->is_real && ratio_of(r, 1) <= EXACT_RATIO;
    if (!*fits) return AT_OK;
    AT_TRY(data_look_at(r->look, r->arena, r->fill, err)); /* sizes, for what is marked */
    allow_0(r);
    quarter(r);
    spread(r);
    AT_TRY(restrain_all(r, err));
    AT_TRY(serve_all(r, err));
    *fits = ratio_of(r, 1) <= EXACT_RATIO;
    return AT_OK;
}

static at_status find_exact(ruler *r, at_error *err) {
    for (int range = MOST_RANGE; range >= 1; range--) {
        bool fits;
        AT_TRY(try_range(r, range, &fits, err));
        if (fits) return AT_OK;
    }
    /* Exact data that do not serve all decisions are better than none. */
    fill_all(r, -1, 1);
    r->is_exact = !r->known->is_real && ratio_of(r, 1) <= EXACT_RATIO;
    return AT_OK;
}

/* What goes on from step to step is multiplied by so few different numbers that every other
 * neighbour is the same. */
static bool is_poor(const ruler *r) {
    bool any = false;
    for (int s = 0; s < r->c->num_tensors && !any; s++)
        for (int t = 0; t < r->c->num_tensors && !any; t++)
            any = at_tensor_goes_in_steps(&r->c->tensors[s]) && is_drawn(r, t) &&
                  r->fill[t].hi - r->fill[t].lo < AT_LEAST_MOVING &&
                  at_expr_find(r->c->tensors[s].body, multiplies, &t);
    return any;
}

/* What goes on from step to step, as its data say, would grow without end by factors of both signs
 * as easily as by others: most of them are above 0. */
static at_status find_real(ruler *r, at_error *err) {
    r->look = data_look_new(r->arena, r->c, r->values, r->known, false);
    fill_all(r, at_compute_has_recurrence(r->c) ? -REAL_RANGE / 2 : -REAL_RANGE, REAL_RANGE);
    return serve_all(r, err);
}

/* ---- the second draw ------------------------------------------------------------------------- */

/* Exponentials below a maximum: elements that are so far apart that without the largest of them the
 * others overflow. */
static bool overflows(ruler *r, at_draw *out) {
    enum { APART = 128 };
    int n;
    const data_decision *d = data_look_decisions(r->look, &n);
    bool any = false;
    out->fill = at_copy(r->arena, r->fill, sizeof *r->fill * (size_t)r->c->num_tensors);
    for (int i = 0; i < n; i++) any |= d[i].below_maximum;
    if (!any) return false;
    for (int t = 0; t < r->c->num_tensors; t++) {
        at_fill *f = &out->fill[t];
        if (!is_drawn(r, t) || !meets_extreme(r, t)) continue;
        f->row = data_row_of(r->c, r->extents, r->known, t);
        f->apart = f->row ? APART / f->unit : 0;
    }
    if (data_plant_extremes(r->arena, r->c, r->extents, r->known, APART, 0, out)) return true;
    at_fill *first = r->fill;
    r->fill = out->fill;
    for (int i = 0; i < n; i++)
        if (d[i].below_maximum)
            for (int k = 0; k < 3; k++) multiply(r, factor_for(r, d[i].of, 8));
    r->fill = first;
    return true;
}

/* Is the tensor, or what is made of it, added up by this stage? */
static bool adds_up(ruler *r, int stage, int tensor) {
    const at_tensor *t = &r->c->tensors[stage];
    if (t->role != AT_ROLE_STAGE || !at_expr_count_reads(t->body, tensor)) return false;
    return t->num_reduce && t->reduction == AT_REDUCE_SUM;
}

/* The distance of an input from a sum of its own, as from a mean. */
static at_walk find_centred(const at_expr *e, void *ctx) {
    ruler *r = ctx;
    if (e->op == AT_X_INDEX) return AT_WALK_PAST;
    if (e->op != AT_X_SUB || e->arg[0]->op != AT_X_INDEX || e->arg[1]->op != AT_X_INDEX)
        return AT_WALK_ON;
    int mean = is_drawn(r, e->arg[0]->ref) ? e->arg[1]->ref : -1;
    for (int k = 0; k < 4 && mean >= 0; k++) {
        const at_tensor *t = &r->c->tensors[mean];
        if (adds_up(r, mean, e->arg[0]->ref)) return AT_WALK_END;
        const at_expr *body = t->role == AT_ROLE_STAGE && !t->num_reduce ? t->body : NULL;
        while (body && body->op != AT_X_INDEX && body->nargs)
            body = body->arg[body->op == AT_X_MUL && body->arg[0]->op != AT_X_INDEX];
        mean = body && body->op == AT_X_INDEX ? body->ref : -1;
    }
    return AT_WALK_PAST;
}

/* Numbers that are far from 0 beside how far they are apart: a variance that is worked out in
 * another way loses what is small. And so small that what is added lest something is 0 counts. */
static at_status is_centred(ruler *r, at_draw *out, bool *any, at_error *err) {
    enum { APART = 512, ROUNDS = 6 };
    const size_t bytes = sizeof *r->fill * (size_t)r->c->num_tensors;
    at_fill *first = r->fill;
    int n;
    data_decision *d = data_look_decisions(r->look, &n);
    *any = false;
    r->fill = out->fill = at_copy(r->arena, r->fill, bytes);
    for (int k = 0; k < ROUNDS; k++) {
        AT_TRY(data_look_at(r->look, r->arena, r->fill, err));
        for (int i = 0; i < n; i++) {
            if (!d[i].is_added) continue;
            const double size = data_quantile(&d[i], 0, 0.5);
            if (!(size > 4 * d[i].width)) continue;
            const double factor = factor_for(r, d[i].of, d[i].width / size);
            multiply(r, factor);
            *any |= factor != 1;
        }
    }
    for (int s = 0; s < r->c->num_tensors; s++) {
        if (r->c->tensors[s].role != AT_ROLE_STAGE) continue;
        const at_expr *distance = at_expr_walk(r->c->tensors[s].body, find_centred, r);
        if (!distance) continue;
        const int t = distance->arg[0]->ref;
        *any = true;
        r->fill[t].apart = APART * r->fill[t].hi;
        r->fill[t].row = data_row_of(r->c, r->extents, r->known, t);
        if (!r->fill[t].row) r->fill[t].row = elements_of(r, t) / r->extents[t][0];
    }
    r->fill = first;
    return AT_OK;
}

/* Tensors whose elements, as they are, a maximum or a minimum looks at get sign -1, or 1; 0 where
 * both look at them. */
static void find_sides(const ruler *r, const at_expr *e, int sign, int *side, bool *is_met) {
    if (e->op == AT_X_SELECT) {
        find_sides(r, e->arg[1], sign, side, is_met);
        find_sides(r, e->arg[2], sign, side, is_met);
    }
    if (e->op != AT_X_INDEX) return;
    const bool is_known = is_met[e->ref] && (side[e->ref] == sign || !side[e->ref]);
    if (is_known) return;
    side[e->ref] = is_met[e->ref] ? 0 : sign;
    is_met[e->ref] = true;
    const at_tensor *t = &r->c->tensors[e->ref];
    if (t->role == AT_ROLE_STAGE && !t->num_reduce && !t->is_recurrence && !t->cycle && t->body)
        find_sides(r, t->body, sign, side, is_met);
}

/* What a maximum looks at lies below 0, and a minimum's terms above: one that begins at 0 is wrong
 * there, and nowhere else where its terms are many. */
static bool is_aside(ruler *r, at_draw *out) {
    const int n = r->c->num_tensors;
    int *side = AT_NEW_ARRAY(r->arena, int, n);
    bool *is_met = AT_NEW_ARRAY(r->arena, bool, n), any = false;
    for (int s = 0; s < n; s++) {
        const at_tensor *t = &r->c->tensors[s];
        if (t->role == AT_ROLE_STAGE && t->num_reduce && at_reduction_is_extreme(t->reduction))
            find_sides(r, t->body, t->reduction == AT_REDUCE_MAX ? -1 : 1, side, is_met);
    }
    at_fill *first = r->fill;
    r->fill = out->fill = at_copy(r->arena, r->fill, sizeof *r->fill * (size_t)n);
    for (int t = 0; t < n; t++) {
        at_fill *f = &out->fill[t];
        if (!is_drawn(r, t) || !side[t] || f->lo >= 0 || f->hi <= 0) continue;
        const double by = f->hi - f->lo + 1;
        f->lo += side[t] * by, f->hi += side[t] * by;
        any = true;
    }
    any &= ratio_of(r, 1) <= EXACT_RATIO;
    r->fill = first;
    if (!any) out->fill = first;
    return any;
}

static bool is_scaled(const at_expr *e, const void *compute) {
    const at_compute *c = compute;
    if (e->op != AT_X_MUL) return false;
    for (int i = 0; i < 2; i++) {
        const at_expr *x = e->arg[i];
        if (x->op == AT_X_INDEX && c->tensors[x->ref].role == AT_ROLE_WEIGHT &&
            c->tensors[x->ref].type == AT_F32)
            return true;
    }
    return false;
}

/* Are there integers made of what is multiplied by weights? Where these are below a half, as they
 * are for most results to lie within a type, what else stands in a register is as good as the bound
 * 0 in front of a store that saturates there. So a further draw has larger ones. */
static bool scales_to_integers(const at_compute *c) {
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && at_type_of(c->tensors[t].type)->is_int &&
            at_expr_find(c->tensors[t].body, is_scaled, c))
            return true;
    return false;
}

/* ---- recurrences ----------------------------------------------------------------------------- */

/* Not with a number: on which side of it elements lie is not a matter of steps. */
static bool is_compared(const at_expr *e, const void *tensor) {
    bool is = false;
    for (int i = 0; i < 2 && e->nargs == 2; i++)
        is |= at_expr_is_read(e->arg[i], tensor) && !at_expr_is_number(e->arg[1 - i]);
    return is && ((e->op >= AT_X_LT && e->op <= AT_X_NE) || e->op == AT_X_MIN || e->op == AT_X_MAX);
}

/* The first axis along which a recurrence reads itself elsewhere; -1: there is none. */
static int step_axis(const ruler *r, int stage) {
    const at_tensor *t = &r->c->tensors[stage];
    const at_expr *own = t->is_recurrence ? at_expr_find(t->body, at_expr_is_read, &stage) : NULL;
    for (int i = 0; own && i < own->nargs; i++)
        if (own->arg[i]->op != AT_X_NAME || own->arg[i]->ref != i) return i;
    return -1;
}

/* Elements of one step of an input that a recurrence compares; 0: none does. */
static int64_t step_of(const ruler *r, int tensor) {
    for (int s = 0; s < r->c->num_tensors; s++) {
        const int axis = step_axis(r, s);
        const at_expr *by =
            axis < 0 ? NULL : at_expr_find(r->c->tensors[s].body, is_compared, &tensor);
        if (!by) continue;
        const at_expr *read = by->arg[!at_expr_is_read(by->arg[0], &tensor)];
        int64_t n = 1;
        for (int i = read->nargs; i-- > 0; n *= r->extents[tensor][i])
            if (read->arg[i]->op == AT_X_NAME && read->arg[i]->ref == axis) return n;
    }
    return 0;
}

/* Where a recurrence compares an input with what it has, the input's steps rise on the first draw:
 * a late step that is not taken is missed. On the second they fall: what the first step leaves is
 * seen at the end, and so is a later step that is taken though it must not be. Either way some
 * elements go against it. */
static bool rises_and_falls(ruler *r, at_data_rule *out) {
    enum { MOST = 64, RISE = MOST / 8, FALL = MOST / 2, ALL = MOST + 3 * FALL };
    const int n = r->c->num_tensors;
    const size_t bytes = sizeof *r->fill * (size_t)n;
    at_fill *rising = at_copy(r->arena, r->fill, bytes),
            *falling = at_copy(r->arena, r->fill, bytes), *first = r->fill;
    bool any = false;
    r->fill = at_copy(r->arena, r->fill, bytes);
    for (int t = 0; t < n; t++) {
        const int64_t row = is_drawn(r, t) && r->c->tensors[t].type == AT_F32 ? step_of(r, t) : 0;
        if (!row) continue;
        rising[t] = (at_fill){.lo = -MOST, .hi = MOST, .unit = 1, .apart = RISE, .row = row};
        falling[t] =
            (at_fill){.lo = -MOST - ALL, .hi = MOST - ALL, .unit = 1, .apart = -FALL, .row = row};
        r->fill[t] = (at_fill){.lo = -2 * ALL, .hi = 2 * ALL, .unit = 1};
        any = true;
    }
    any &= ratio_of(r, 1) <= EXACT_RATIO;
    r->fill = first;
    if (any) out->draw[0].fill = rising, out->draw[1].fill = falling, out->num_draws = 2;
    return any;
}

at_status at_data_rule_find(at_arena *a, const at_compute *c, const int64_t *values,
                            const at_data_known *known, at_data_rule *out, at_error *err) {
    enum { FEW_ROWS = 64 };
    ruler r = {.arena = a, .c = c, .values = values, .known = known, .is_exact = true};
    *out = (at_data_rule){.num_draws = 1};
    AT_TRY(at_compute_extents(a, c, values, &r.extents, err));
    r.fill = AT_NEW_ARRAY(a, at_fill, c->num_tensors);
    r.marked = AT_NEW_ARRAY(a, bool, c->num_tensors);
    r.power = AT_NEW_ARRAY(a, double, c->num_tensors);
    if (c->in_steps) { /* integers have the data of their types */
        fill_all(&r, -REAL_RANGE, REAL_RANGE);
        out->is_exact = at_compute_exact_range(c, values, known->bound, known->longest) > 0;
        out->draw[0].fill = out->draw[1].fill = r.fill;
        if (out->is_exact && scales_to_integers(c)) out->num_draws = 2;
        return AT_OK;
    }
    r.look = data_look_new(a, c, values, known, true);
    find_roles(&r);
    AT_TRY(find_exact(&r, err));
    r.is_exact &= !is_poor(&r);
    if (!r.is_exact) AT_TRY(find_real(&r, err));
    out->is_exact = r.is_exact;
    out->draw[0].fill = r.fill;
    if (!r.is_exact && overflows(&r, &out->draw[1])) {
        out->num_draws = 2;
        return AT_OK;
    }
    if (!r.is_exact) {
        bool any;
        AT_TRY(is_centred(&r, &out->draw[1], &any, err));
        if (any) out->num_draws = 2;
        if (any) return AT_OK;
    }
    if (r.is_exact && ratio_of(&r, 2) > EXACT_RATIO) return AT_OK;
    const int64_t rows = data_plant_extremes(a, c, r.extents, known, 0, 0, &out->draw[0]);
    out->draw[1].fill = r.fill;
    const bool aside = r.is_exact && is_aside(&r, &out->draw[1]);
    if (r.is_exact && !aside && !rows && rises_and_falls(&r, out)) return AT_OK;
    if (!aside && (!rows || rows >= FEW_ROWS)) return AT_OK;
    out->num_draws = 2;
    data_plant_extremes(a, c, r.extents, known, 0, 1, &out->draw[1]);
    return AT_OK;
}
