/* schedule/data/data_levels.c: a further draw, of three numbers for each input, where a condition
 * compares sums: of many different numbers hardly any sum is just what it is compared with, where
 * `>` is not `>=`. */
#include "schedule/data/data_int.h"

#include <math.h>

enum {
    MOST_HITS = 16,        /* of one condition: more do not count */
    MOST_NUMBER = 1 << 20, /* that sums are compared with */
    MOST_TRIED = 12,       /* of its divisors */
    MOST_ODD = 1 << 10     /* times a power of two, of floats */
};
#define LEAST_HITS 0.25

/* ---- which conditions ------------------------------------------------------------------------ */

static bool is_of(const at_expr *e, const void *tensors) {
    return e->op == AT_X_INDEX && ((const bool *)tensors)[e->ref];
}

/* [tensor] Is it a sum of terms, or made of one? */
static bool *find_sums(const data_ruler *r) {
    bool *sums = AT_NEW_ARRAY(r->arena, bool, r->c->num_tensors);
    for (int i = 0; i < r->c->num_tensors; i++) {
        const at_tensor *t = &r->c->tensors[r->c->order[i]];
        if (t->role != AT_ROLE_STAGE || !t->body) continue;
        sums[r->c->order[i]] = (t->num_reduce && t->reduction == AT_REDUCE_SUM) ||
                               at_expr_find_value(t->body, is_of, sums);
    }
    return sums;
}

/* What e is where `of` is x; false: it is not known. */
static bool known_at(const at_expr *e, const at_expr *of, double x, double *out) {
    double y, z = 0;
    if (at_expr_same(e, of)) return *out = x, true;
    if (at_expr_is_number(e)) return *out = at_expr_number(e), true;
    if (e->op == AT_X_NEG && known_at(e->arg[0], of, x, &y)) return *out = -y, true;
    if (e->op != AT_X_MUL) return false;
    const bool first = known_at(e->arg[0], of, x, &y), second = known_at(e->arg[1], of, x, &z);
    *out = first && second ? y * z : 0;
    return (first && second) || (first && y == 0) || (second && z == 0);
}

static bool chooses_by(const at_expr *e, const void *condition) {
    return e->op == AT_X_SELECT && e->arg[0] == condition;
}

/* Does the result depend on which side equal numbers are? Not that of `s > 0 ? s : s*0.25`. */
static bool matters(const data_ruler *r, const data_decision *d) {
    double x, y;
    const at_expr *e = at_expr_find(r->c->tensors[d->stage].body, chooses_by, d->e);
    return !d->is_lone || !e || !known_at(e->arg[1], d->of, d->at, &x) ||
           !known_at(e->arg[2], d->of, d->at, &y) || x != y;
}

/* About so many elements of its stage are just what they are compared with, where they lie as
 * normal numbers do and are multiples of a grain. */
static double hits_of(const data_ruler *r, const data_decision *d, double grain) {
    const int n = data_kept(d);
    double sum = 0, squares = 0;
    if (!n || (d->is_lone && fmod(d->at, grain) != 0)) return 0;
    for (int i = 0; i < n; i++) sum += d->x[i] - d->y[i];
    const double mean = sum / n;
    for (int i = 0; i < n; i++) squares += (d->x[i] - d->y[i] - mean) * (d->x[i] - d->y[i] - mean);
    if (n >= MOST_HITS && squares == 0 && mean != 0) return 0; /* all lie beside it */
    const double size = fmax(sqrt(squares / n), grain), far = mean / size,
                 share = exp(-far * far / 2) * grain / (size * sqrt(2 * M_PI));
    return fmin(MOST_HITS,
                share * (double)at_tensor_elements(&r->c->tensors[d->stage], r->extents[d->stage]));
}

typedef struct levels {
    data_ruler *r;
    data_decision *d;
    int num;
    bool *wanted;  /* [num] no draw has enough values there */
    double before; /* hits on the draw that has the most */
} levels;

static at_status find_wanted(levels *l, const at_data_rule *out, bool *any, at_error *err) {
    const data_ruler *r = l->r;
    const bool *sums = find_sums(r);
    *any = false;
    l->d = data_look_decisions(r->look, &l->num);
    l->wanted = AT_NEW_ARRAY(r->arena, bool, l->num);
    for (int i = 0; i < l->num; i++) {
        const data_decision *d = &l->d[i];
        const bool compares = at_op_compares(d->e->op) && !d->is_stored;
        l->wanted[i] = compares && at_expr_find_value(d->e, is_of, sums) && matters(r, d);
        *any |= l->wanted[i];
    }
    for (int k = 0; k < out->num_draws && *any && r->c->in_steps; k++) {
        AT_TRY(data_look_at(r->look, r->arena, out->draw[k].fill, err));
        double all = 0;
        *any = false;
        for (int i = 0; i < l->num; i++) {
            const double hits = l->wanted[i] ? hits_of(r, &l->d[i], 1) : 0;
            *any |= l->wanted[i] &= hits < MOST_HITS;
            all += l->wanted[i] ? hits : 0;
        }
        l->before = fmax(l->before, all);
    }
    return AT_OK;
}

/* Hits of the wanted ones with the fills as they are; 0 where sums would not be exact. */
static at_status count_hits(const levels *l, double grain, double *num, at_error *err) {
    data_ruler *r = l->r;
    *num = 0;
    if (!r->c->in_steps && data_ratio(r, 1) > DATA_EXACT_RATIO) return AT_OK;
    AT_TRY(data_look_at(r->look, r->arena, r->fill, err));
    for (int i = 0; i < l->num; i++) *num += l->wanted[i] ? hits_of(r, &l->d[i], grain) : 0;
    return AT_OK;
}

/* ---- fills ----------------------------------------------------------------------------------- */

static bool is_int(const data_ruler *r, int t) { return at_type_of(r->c->tensors[t].type)->is_int; }

/* Has it fills of levels? */
static bool has_levels(const data_ruler *r, int t) {
    return data_is_moved(r, t) && (is_int(r, t) || !r->c->in_steps);
}

/* All tensors that e is made of. */
static void find_parts(const data_ruler *r, const at_expr *e, bool *parts) {
    if (e->op != AT_X_INDEX) {
        for (int i = 0; i < e->nargs; i++) find_parts(r, e->arg[i], parts);
        return;
    }
    const at_tensor *t = &r->c->tensors[e->ref];
    if (parts[e->ref]) return;
    parts[e->ref] = true;
    if (t->role == AT_ROLE_STAGE && t->body) find_parts(r, t->body, parts);
}

/* The largest divisor of n whose multiples, in the steps so far, the type holds beside the centre.
 */
static int64_t divisor_for(const data_ruler *r, int t, int64_t n) {
    const at_type_facts *type = at_type_of(r->c->tensors[t].type);
    const at_fill *f = &r->fill[t];
    const double most = fmax(type->most - f->centre, f->centre - type->least) / (double)f->step;
    int64_t x = (double)n < most ? n : (int64_t)most;
    while (x > 1 && n % x) x--;
    return x > 1 ? x : 1;
}

static bool holds(at_type type, double x) {
    float stored[1];
    at_type_store(type, stored, 0, (float)x);
    return at_type_value(type, stored, 0) == x;
}

/* What is compared becomes a multiple of the number: one factor of each product does, or, where its
 * type does not hold that, several. false: no tensor can be scaled by it. */
static bool scale(data_ruler *r, double number, const bool *parts) {
    int64_t rest = (int64_t)number;
    bool has_ints = false;
    for (int t = 0; t < r->c->num_tensors; t++) {
        if (!parts[t] || !has_levels(r, t)) continue;
        at_fill *f = &r->fill[t];
        if (!is_int(r, t)) {
            if (!holds(r->c->tensors[t].type, f->unit * number)) continue;
            f->unit *= number;
            return true;
        }
        const int64_t step = divisor_for(r, t, rest);
        f->step *= step;
        rest /= step;
        has_ints = true;
        if (rest == 1) break;
    }
    return has_ints;
}

/* Of floats beside integers conditions are counted: rows from all below what is usual to all above.
 */
static void set_apart(const data_ruler *r, int t, at_fill *f) {
    enum { ENDS = 3 }; /* rows from -3 to 3 */
    f->row = data_row_of(r, t, true);
    f->apart = (f->hi - f->lo) / ENDS;
}

static at_fill *with_levels(const data_ruler *r, const at_fill *fill, const bool *parts) {
    at_fill *f = at_copy(r->arena, fill, sizeof *f * (size_t)r->c->num_tensors);
    for (int t = 0; t < r->c->num_tensors; t++) {
        if (!parts[t] || !data_is_moved(r, t)) continue;
        if (is_int(r, t)) f[t].step = 1;
        else if (!r->c->in_steps) f[t] = (at_fill){.lo = -1, .hi = 1, .unit = 1, .has_0 = true};
        else set_apart(r, t, &f[t]);
    }
    return f;
}

/* The n-th divisor of a number, the number itself first; of others than whole ones there is no
 * second. 0: there is none. */
static double nth_divisor(double number, int n) {
    if (!n) return number;
    if (number > MOST_NUMBER || rint(number) != number) return 0;
    for (int64_t x = (int64_t)number - 1; x > 1; x--)
        if ((int64_t)number % x == 0 && !--n) return (double)x;
    return 0;
}

/* Of the fills as they are, and of those that the number or one of its divisors makes larger, the
 * ones with the most hits, which *most is then. */
static at_status choose_scale(levels *l, double number, const bool *parts, double *most,
                              at_error *err) {
    data_ruler *r = l->r;
    at_fill *before = r->fill, *best = before;
    if (number == 0 || data_odd_part(number) > (r->c->in_steps ? MOST_NUMBER : MOST_ODD))
        return AT_OK;
    for (int k = 0; k < MOST_TRIED && nth_divisor(number, k) > 0; k++) {
        double hits;
        r->fill = at_copy(r->arena, before, sizeof *before * (size_t)r->c->num_tensors);
        const double grain = nth_divisor(number, k);
        if (!scale(r, grain, parts)) continue;
        AT_TRY(count_hits(l, grain, &hits, err));
        if (hits > *most) *most = hits, best = r->fill;
    }
    r->fill = best;
    return AT_OK;
}

at_status data_draw_levels(data_ruler *r, at_data_rule *out, at_error *err) {
    levels l = {.r = r};
    bool any, *parts = AT_NEW_ARRAY(r->arena, bool, r->c->num_tensors);
    double most;
    if (!out->is_exact || out->num_draws >= AT_MOST_DRAWS - 1) return AT_OK;
    AT_TRY(find_wanted(&l, out, &any, err));
    if (!any) return AT_OK;
    if (r->c->in_steps) data_move_wholes(r);
    for (int i = 0; i < l.num; i++)
        if (l.wanted[i]) find_parts(r, l.d[i].e, parts);
    r->fill = with_levels(r, out->draw[0].fill, parts);
    AT_TRY(count_hits(&l, 1, &most, err));
    for (int i = 0; i < l.num; i++)
        if (l.wanted[i] && l.d[i].is_lone)
            AT_TRY(choose_scale(&l, fabs(l.d[i].at), parts, &most, err));
    if (most > LEAST_HITS && most > 2 * l.before) out->draw[out->num_draws++].fill = r->fill;
    return AT_OK;
}
