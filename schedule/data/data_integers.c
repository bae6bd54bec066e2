/* schedule/data/data_integers.c: data of computations with integers: the draws they have, floats of
 * a size that what is rounded lies within its type, and integers of the numbers of their types. */
#include "schedule/data/data_int.h"

#include <math.h>

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

/* The least power that a division asks for; 0: no division does. */
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

/* A tensor of few elements has the values that data_look looked at: another zero point would move
 * all results. A tensor that a maximum looks at has winners instead. */
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
    if (d->is_added || d->is_sum || !data_has_width(r, d) || !n) return true;
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
    AT_TRY(data_serve_all(r, err));
    data_move_wholes(r);
    AT_TRY(data_serve_all(r, err));
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
at_status data_find_integers(data_ruler *r, at_data_rule *out, at_error *err) {
    const size_t bytes = sizeof *r->fill * (size_t)r->c->num_tensors;
    at_draw between = {0};
    bool is_between;
    out->is_exact = at_compute_exact_range(r->c, r->values, r->known->bound, r->known->longest) > 0;
    const bool has_larger = out->is_exact && scales_to_integers(r->c);
    const int bits = has_larger ? DATA_COARSE : out->is_exact ? coarse_of(r->c) : 0;
    r->look = data_look_new(r->arena, r->c, r->values, r->known, false);
    r->fill = fill_in_steps(r, false);
    r->only_functions = true;
    AT_TRY(data_serve_all(r, err));
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
