/* schedule/data/data_rule.c: see data.h. Inputs and weights are whole numbers around zero, so that
 * sums have both signs, times powers of two such that what meets a bound or a function is about as
 * large as the bound is wide. What a floor looks at has quarters; what a maximum looks at is told
 * apart.
 */
#include "schedule/data/data_int.h"

#include <math.h>
#include <string.h>

enum {
    REAL_RANGE = 8,   /* where no integers are exact */
    MOST_ROUNDS = 32, /* of changes by decisions */
    MOST_CHANGES = 6, /* by one of them */
    LIGHTER = 8       /* so many times, what few elements have than what it is added to */
};
/* Where inputs have more different values than they need, sums that are formed in another way than
 * the text does shall be exact, too. */
#define SPREAD_RATIO 0x1p21
#define SPREAD_MOST 0x1p20
#define SPREAD_F16 0x1p13 /* winners lie up to four times as far from 0 */
#define SPREAD_OTHERS 0x1p10
#define SPREAD_FACTORS 0x1p4 /* a small one would leave nothing of what it is multiplied by */
/* Bounds of other sizes are a matter of safety, as of a divisor that must not be 0. */
#define LEAST_WIDTH 0x1p-6
#define MOST_WIDTH 0x1p12
#define WIDEST_TYPE 0x1p16 /* but those of a type */
#define NEARER 1.3         /* of integers, which need not change by powers of two */

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
        if (f->has_powers && (first + i) % 4 == 3) x = ldexp(1, ilogb(x));
        if (f->grain > 0 && (first + i) % 2) x = f->grain * rint(x / f->grain);
        if (f->power > 0 && (first + i) % 2) x = f->power;
        out[i] = (float)(f->unit * x + data_away(f, first + i));
    }
}

static void fill_all(data_ruler *r, double lo, double hi) {
    for (int t = 0; t < r->c->num_tensors; t++)
        r->fill[t] = (at_fill){.lo = lo, .hi = hi, .unit = 1};
}

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

/* ---- what decisions need --------------------------------------------------------------------- */

static double share_below(const data_decision *d) {
    const int n = data_kept(d);
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

static bool has_width(const data_ruler *r, const data_decision *d) {
    return d->width >= LEAST_WIDTH && d->width <= (r->c->in_steps ? WIDEST_TYPE : MOST_WIDTH);
}

static wish widen(const data_ruler *r, const data_decision *d) {
    if (!has_width(r, d)) return no_wish;
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
static at_status serve_all(data_ruler *r, at_error *err) {
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
static void allow_0(data_ruler *r) {
    int n;
    const data_decision *d = data_look_decisions(r->look, &n);
    for (int i = 0; i < n; i++) {
        if (!at_op_compares(d[i].e->op)) continue;
        data_mark_sources(r, d[i].of);
        for (int t = 0; t < r->c->num_tensors; t++)
            if (r->marked[t]) r->fill[t].has_0 = true;
    }
}

/* What is rounded to whole numbers has quarters, which are as exact. */
static void quarter(data_ruler *r) {
    int n;
    const data_decision *d = data_look_decisions(r->look, &n);
    bool *done = AT_NEW_ARRAY(r->arena, bool, r->c->num_tensors);
    for (int i = 0; i < n; i++) {
        if (d[i].e->op != AT_X_CALL || !at_function_rounds((at_function)d[i].e->integer)) continue;
        data_mark_sources(r, d[i].of);
        for (int t = 0; t < r->c->num_tensors; t++) {
            at_fill *f = &r->fill[t], before = *f;
            if (!r->marked[t] || !data_is_drawn(r, t) || done[t]) continue;
            done[t] = true;
            f->unit /= 4, f->lo *= 4, f->hi *= 4;
            if (data_ratio(r, 1) > DATA_EXACT_RATIO) f->lo = before.lo, f->hi = before.hi;
        }
    }
}

static void spread_one(data_ruler *r, int t, double most) {
    at_fill *f = &r->fill[t];
    for (at_fill before = *f; f->hi < most; before = *f) {
        f->lo *= 2, f->hi *= 2;
        if (data_ratio(r, 2) <= SPREAD_RATIO) continue;
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
static double most_spread(const data_ruler *r, int tensor) {
    bool any = false;
    for (int s = 0; s < r->c->num_tensors && !any; s++)
        any = r->c->tensors[s].role == AT_ROLE_STAGE &&
              at_expr_find(r->c->tensors[s].body, multiplies, &tensor);
    return any ? SPREAD_FACTORS : SPREAD_OTHERS;
}

/* Values are as many as sums allow, so that few are equal: a neighbour's element is another one
 * then, and an element that a maximum leaves out is missed. Those that few elements have, as a
 * number per channel, come first: sums of products leave little to the others. */
static void spread(data_ruler *r) {
    int64_t done = -1;
    for (int t = 0; t < r->c->num_tensors; t++)
        if (data_is_drawn(r, t) && data_meets_extreme(r, t))
            spread_one(r, t, r->c->tensors[t].type == AT_F16 ? SPREAD_F16 : SPREAD_MOST);
    for (bool any = true; any;) {
        int64_t least = INT64_MAX;
        for (int t = 0; t < r->c->num_tensors; t++)
            if (data_is_drawn(r, t) && data_elements_of(r, t) > done &&
                data_elements_of(r, t) < least)
                least = data_elements_of(r, t);
        any = least < INT64_MAX;
        for (int t = 0; t < r->c->num_tensors && any; t++)
            if (data_is_drawn(r, t) && data_elements_of(r, t) == least)
                spread_one(r, t, most_spread(r, t));
        done = least;
    }
}

/* Are all marked tensors drawn, and does each have far fewer elements than the stage, as a number
 * per channel? */
static bool is_of_few(const data_ruler *r, int stage) {
    bool any = false;
    for (int t = 0; t < r->c->num_tensors; t++) {
        if (!r->marked[t]) continue;
        if (!data_is_drawn(r, t) || 2 * data_elements_of(r, t) > data_elements_of(r, stage))
            return false;
        any = true;
    }
    return any;
}

/* An operand of a sum that is so many times as large as the other one leaves; false: it is not. */
static bool restrain(data_ruler *r, const data_decision *d, int side) {
    const double of = data_look_size(r->look, d->e->arg[side]),
                 other = data_look_size(r->look, d->e->arg[1 - side]);
    bool any = false;
    if (!(other > 0) || of <= other / LIGHTER) return false;
    data_mark_sources(r, d->e->arg[side]);
    if (!is_of_few(r, d->stage)) return false;
    const double times = exp2(ceil(log2(of / other * LIGHTER)));
    for (int t = 0; t < r->c->num_tensors; t++) {
        at_fill *f = &r->fill[t];
        const double hi = fmax(f->hi / times, fmin(f->hi, DATA_MOST_RANGE));
        if (!r->marked[t] || hi >= f->hi) continue;
        f->lo *= hi / f->hi, f->hi = hi;
        any = true;
    }
    return any;
}

/* Where a number per channel outweighs what it is added to, it decides alone on which side of a
 * bound a whole channel lies: it has as few values as keep it far below that size, also where
 * another number of the channel is a small factor. */
static at_status restrain_all(data_ruler *r, at_error *err) {
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

static at_status try_range(data_ruler *r, int range, bool *fits, at_error *err) {
    fill_all(r, -range, range);
    *fits = !r->known->is_real && data_ratio(r, 1) <= DATA_EXACT_RATIO;
    if (!*fits) return AT_OK;
    AT_TRY(data_look_at(r->look, r->arena, r->fill, err)); /* sizes, for what is marked */
    allow_0(r);
    quarter(r);
    spread(r);
    AT_TRY(restrain_all(r, err));
    AT_TRY(serve_all(r, err));
    *fits = data_ratio(r, 1) <= DATA_EXACT_RATIO;
    return AT_OK;
}

static at_status find_exact(data_ruler *r, at_error *err) {
    for (int range = DATA_MOST_RANGE; range >= 1; range--) {
        bool fits;
        AT_TRY(try_range(r, range, &fits, err));
        if (fits) return AT_OK;
    }
    /* Exact data that do not serve all decisions are better than none. */
    fill_all(r, -1, 1);
    r->is_exact = !r->known->is_real && data_ratio(r, 1) <= DATA_EXACT_RATIO;
    return AT_OK;
}

/* What goes on from step to step is multiplied by so few different numbers that every other
 * neighbour is the same. */
static bool is_poor(const data_ruler *r) {
    bool any = false;
    for (int s = 0; s < r->c->num_tensors && !any; s++)
        for (int t = 0; t < r->c->num_tensors && !any; t++)
            any = at_tensor_goes_in_steps(&r->c->tensors[s]) && data_is_drawn(r, t) &&
                  r->fill[t].hi - r->fill[t].lo < AT_LEAST_MOVING &&
                  at_expr_find(r->c->tensors[s].body, multiplies, &t);
    return any;
}

/* What goes on from step to step, as its data say, would grow without end by factors of both signs
 * as easily as by others: most of them are above 0. */
static at_status find_real(data_ruler *r, at_error *err) {
    r->look = data_look_new(r->arena, r->c, r->values, r->known, false);
    fill_all(r, at_compute_has_recurrence(r->c) ? -REAL_RANGE / 2 : -REAL_RANGE, REAL_RANGE);
    return serve_all(r, err);
}

static bool is_scaled(const at_expr *e, const void *compute) {
    const at_compute *c = compute;
    if (e->op != AT_X_MUL && e->op != AT_X_DIV) return false;
    for (int i = e->op == AT_X_DIV; i < 2; i++) {
        const at_expr *x = e->arg[i];
        if (x->op == AT_X_INDEX && c->tensors[x->ref].role == AT_ROLE_WEIGHT &&
            !at_type_of(c->tensors[x->ref].type)->is_int)
            return true;
    }
    return false;
}

/* Are there integers made of what is multiplied or divided by weights? Where these are below a
 * half, as they are for most results to lie within a type, what else stands in a register is as
 * good as the bound 0 in front of a store that saturates there. And of the many sums that integers
 * may have hardly one within the type lies half between two numbers. So a further draw has larger
 * weights, and coarse integers, of whose sums each power of two makes halves. */
static bool scales_to_integers(const at_compute *c) {
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && at_type_of(c->tensors[t].type)->is_int &&
            at_expr_find(c->tensors[t].body, is_scaled, c))
            return true;
    return false;
}

/* Where e divides by a number, so that few integers lie half between two results: multiples of 2 to
 * the power of this often do. 0: it does not divide so. */
static int coarse_for(const at_compute *c, const at_expr *e) {
    enum { FEW = 4 }; /* one of 2^FEW */
    if (e->nargs < 2) return 0;
    const bool is_first = e->op == AT_X_MUL && at_expr_is_number(e->arg[0]);
    const at_expr *by = e->arg[!is_first];
    if (e->op == AT_X_SHIFT_RIGHT && data_is_element(c, e->arg[0]))
        return 0; /* its bits are taken */
    if (!at_expr_is_number(by) || !is_float_expr(c, e->arg[is_first])) return 0;
    const double x = at_expr_number(by);
    if (e->op == AT_X_SHIFT_RIGHT) return x < FEW ? 0 : x > DATA_COARSE ? DATA_COARSE : (int)x - 1;
    const bool divides = e->op == AT_X_MUL ? fabs(x) < exp2(-DATA_COARSE)
                                           : e->op == AT_X_DIV && fabs(x) > exp2(DATA_COARSE);
    return divides ? DATA_COARSE : 0;
}

typedef struct coarse {
    const at_compute *c;
    int bits;
} coarse;

static at_walk find_least(const at_expr *e, void *ctx) {
    coarse *found = ctx;
    const int bits = coarse_for(found->c, e);
    if (bits && (!found->bits || bits < found->bits)) found->bits = bits;
    return e->op == AT_X_INDEX ? AT_WALK_PAST : AT_WALK_ON;
}

/* The least of what divisions want; 0: there are none. */
static int coarse_of(const at_compute *c) {
    coarse found = {c, 0};
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && c->tensors[t].body)
            at_expr_walk(c->tensors[t].body, find_least, &found);
    return found.bits;
}

static at_fill *fill_in_steps(data_ruler *r, bool is_large) {
    at_fill *fill = AT_NEW_ARRAY(r->arena, at_fill, r->c->num_tensors);
    data_find_sizes(r);
    for (int t = 0; t < r->c->num_tensors; t++)
        if (data_is_drawn(r, t)) fill[t] = data_fill_in_steps(r, t, is_large);
    return fill;
}

/* Few elements are those that were looked at: another zero point would move all values. What a
 * maximum looks at has winners instead. */
static void place_few(data_ruler *r, bool has_floats, at_draw *out) {
    enum { FEW = 8 };
    for (int t = 0; t < r->c->num_tensors; t++) {
        const bool is_int = at_type_of(r->c->tensors[t].type)->is_int;
        const int64_t n = data_is_drawn(r, t) ? data_elements_of(r, t) : 0;
        if (!(is_int || has_floats) || n > FEW || data_meets_extreme(r, t)) continue;
        for (int64_t i = 0; i < n; i++)
            *at_push(r->arena, &out->extremes) =
                (at_placed){.tensor = t,
                            .offset = i,
                            .value = (float)data_look_element(r->look, &r->fill[t], t, i)};
    }
}

/* Do some values lie between the bounds, and some beyond, or on either side of the only one? */
static bool is_met(const data_ruler *r, const data_decision *d) {
    const int n = data_kept(d);
    int between = 0;
    const double least = d->is_lone ? 0.05 : 0.25, most = d->is_lone ? 0.95 : 0.98;
    for (int i = 0; i < n; i++)
        between += d->is_lone ? d->x[i] < d->at : fabs(d->x[i] - d->at) < d->width / 2;
    if (d->is_added || d->is_sum || !has_width(r, d) || !n) return true;
    return between >= least * n && between <= most * n;
}

/* Where some of what meets bounds on the first draw is nearly all beyond them, it lies between on a
 * further one: floats are other ones, or, as of `round(s*0.03125)`, integers are smaller. *any:
 * data change. */
static at_status find_between(data_ruler *r, at_draw *out, bool *any, at_error *err) {
    const at_fill *before = at_copy(r->arena, r->fill, sizeof *before * (size_t)r->c->num_tensors);
    int n;
    const data_decision *d = data_look_decisions(r->look, &n);
    *any = false;
    AT_TRY(data_look_at(r->look, r->arena, r->fill, err));
    for (int i = 0; i < n; i++) *any |= !is_met(r, &d[i]);
    if (!*any) return AT_OK;
    AT_TRY(serve_all(r, err));
    data_move_wholes(r);
    AT_TRY(serve_all(r, err));
    *any = false;
    for (int t = 0; t < r->c->num_tensors; t++)
        *any |= data_is_moved(r, t) && r->fill[t].unit != before[t].unit;
    out->fill = r->fill;
    if (*any) place_few(r, true, out);
    return AT_OK;
}

/* Floats beside integers so small that a number that is added lest something is 0 counts. */
static at_status add_near_0(data_ruler *r, at_data_rule *out, at_error *err) {
    bool any = false;
    if (out->num_draws >= AT_MOST_DRAWS - 1) return AT_OK; /* other entries may come */
    r->fill = at_copy(r->arena, out->draw[0].fill, sizeof *r->fill * (size_t)r->c->num_tensors);
    AT_TRY(data_bring_near_0(r, &any, err));
    if (any) out->draw[out->num_draws++].fill = r->fill;
    return AT_OK;
}

static void make_coarse(const data_ruler *r, int bits, at_fill *fill) {
    for (int t = 0; t < r->c->num_tensors; t++) {
        const at_type type = r->c->tensors[t].type;
        if (data_is_drawn(r, t) && at_type_of(type)->is_int && !data_is_taken_apart(r->c, t))
            fill[t].coarse = data_coarse(type, bits);
    }
}

/* Integers have the data of their types (at_data_wholes), but where none lie between bounds then.
 */
static at_status find_in_steps(data_ruler *r, at_data_rule *out, at_error *err) {
    const size_t bytes = sizeof *r->fill * (size_t)r->c->num_tensors;
    at_draw between = {0};
    bool is_between;
    out->is_exact = at_compute_exact_range(r->c, r->values, r->known->bound, r->known->longest) > 0;
    const bool has_larger = out->is_exact && scales_to_integers(r->c);
    const int bits = has_larger ? DATA_COARSE : out->is_exact ? coarse_of(r->c) : 0;
    r->look = data_look_new(r->arena, r->c, r->values, r->known, false);
    r->fill = fill_in_steps(r, false);
    r->only_functions = true;
    AT_TRY(serve_all(r, err));
    r->only_functions = false;
    out->draw[0].fill = at_copy(r->arena, r->fill, bytes);
    place_few(r, false, &out->draw[0]);
    out->draw[1].fill = has_larger ? fill_in_steps(r, true) : NULL;
    AT_TRY(find_between(r, &between, &is_between, err));
    if (!has_larger) {
        out->draw[1].fill = at_copy(r->arena, bits ? r->fill : out->draw[0].fill, bytes);
        if (bits && is_between) place_few(r, true, &out->draw[1]);
    }
    make_coarse(r, bits, out->draw[1].fill);
    if (data_draws_in_steps(r, out) || bits) out->num_draws = 2;
    if (is_between) out->draw[out->num_draws++] = between;
    return out->is_exact ? AT_OK : add_near_0(r, out, err);
}

/* Each other draw has other entries. Where some say how far reductions go, one has the values of
 * the first beside them: what the second has may be saturated, or tied, and hide what is left out.
 */
static void add_entries(const data_ruler *r, at_data_rule *out) {
    for (int i = 1; i < out->num_draws; i++) out->draw[i].entries = 1;
    if (!data_has_ends(r) && !(out->num_draws == 1 && data_has_places(r))) return;
    out->draw[out->num_draws] = out->draw[0];
    out->draw[out->num_draws++].entries = 1;
}

/* The values of the first draw without its winners. */
static void add_runs(const data_ruler *r, at_data_rule *out) {
    out->cover = (at_draw){.fill = out->draw[0].fill};
    data_cover(r, &out->cover);
    if (!out->cover.covers.len) out->again = data_again(r);
}

/* What is alike of integers and floats; runs first, as elements are placed in rounds of them. */
static at_status add_rest(data_ruler *r, at_data_rule *out, at_error *err) {
    add_runs(r, out);
    data_plant_thresholds(r, out);
    AT_TRY(data_draw_levels(r, out, err));
    data_plant_sums(r, out);
    add_entries(r, out);
    return AT_OK;
}

at_status at_data_rule_find(at_arena *a, const at_compute *c, const int64_t *values,
                            const at_data_known *known, at_data_rule *out, at_error *err) {
    data_ruler r;
    *out = (at_data_rule){.num_draws = 1};
    AT_TRY(data_ruler_begin(&r, a, c, values, known, err));
    if (c->in_steps) {
        AT_TRY(find_in_steps(&r, out, err));
        return add_rest(&r, out, err);
    }
    r.look = data_look_new(a, c, values, known, true);
    AT_TRY(find_exact(&r, err));
    r.is_exact &= !is_poor(&r);
    if (!r.is_exact) AT_TRY(find_real(&r, err));
    out->is_exact = r.is_exact;
    out->draw[0].fill = r.fill;
    AT_TRY(data_second_draw(&r, out, err));
    data_plant_nearest(&r, &out->draw[0]);
    return add_rest(&r, out, err);
}
