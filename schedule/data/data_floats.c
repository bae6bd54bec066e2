/* schedule/data/data_floats.c: data of computations without integers: whole numbers and quarters of
 * the largest range with which sums are exact; else any numbers. */
#include "schedule/data/data_int.h"

#include <math.h>

enum {
    REAL_RANGE = 8,   /* where no integers are exact */
    MOST_ROUNDS = 32, /* of operands that are made smaller */
    LIGHTER = 8       /* so many times, what few elements have than what it is added to */
};
/* Where inputs have more different values than they need, sums that are formed in another way than
 * the text does shall be exact, too. */
#define SPREAD_RATIO 0x1p21
#define SPREAD_MOST 0x1p20
#define SPREAD_F16 0x1p13 /* winners lie up to four times as far from 0 */
#define SPREAD_OTHERS 0x1p10
#define SPREAD_FACTORS 0x1p4 /* a small one would leave nothing of what it is multiplied by */

static void fill_all(data_ruler *r, double lo, double hi) {
    for (int t = 0; t < r->c->num_tensors; t++)
        r->fill[t] = (at_fill){.lo = lo, .hi = hi, .unit = 1};
}

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
    AT_TRY(data_serve_all(r, err));
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
    return data_serve_all(r, err);
}

at_status data_find_floats(data_ruler *r, at_error *err) {
    r->look = data_look_new(r->arena, r->c, r->values, r->known, true);
    AT_TRY(find_exact(r, err));
    r->is_exact &= !is_poor(r);
    return r->is_exact ? AT_OK : find_real(r, err);
}
