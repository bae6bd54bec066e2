/* schedule/data/data_draws.c: the second draw of data (data.h): mistakes that the first one does
 * not show. What overflows or cancels is far from 0, what a maximum looks at lies aside, steps
 * fall, terms belong to other places. */
#include "schedule/data/data_int.h"

#include <math.h>
#include <string.h>

/* ---- far from 0, and aside ------------------------------------------------------------------- */

/* So many times as far as what lies below a maximum must be apart what it is read of, since a
 * number, as of `exp((x - most)*0.25)`, makes it smaller. */
static double times_apart(const data_ruler *r, const data_decision *d) {
    enum { MOST = 64 };
    const at_expr *e = d->of;
    while (e->op == AT_X_MUL || e->op == AT_X_DIV)
        e = e->arg[e->op == AT_X_MUL && !at_expr_reads(e->arg[0])];
    const double times = data_look_size(r->look, e) / data_look_size(r->look, d->of);
    return times > 1 && times <= MOST ? times : 1;
}

/* So many times as large the sums that lie below a maximum are to be. Those of products are of one
 * sign then, so that more terms make them larger than here by more than the root of their number.
 */
static double times_larger(const data_ruler *r, const data_decision *d) {
    enum { MOST = 512, ONE_SIGN = 600 };
    const double terms = (double)data_product_terms(r), now = data_quantile(d, 0, 0.5);
    return terms > 0 && now > 0 ? fmin(MOST, fmax(1, ONE_SIGN / (now * sqrt(terms)))) : MOST;
}

/* Exponentials below a maximum: elements that are so far apart that without the largest of them the
 * others overflow. */
static bool overflows(data_ruler *r, at_draw *out) {
    enum { APART = 128 };
    double apart = APART;
    int n;
    const data_decision *d = data_look_decisions(r->look, &n);
    bool any = false;
    out->fill = at_copy(r->arena, r->fill, sizeof *r->fill * (size_t)r->c->num_tensors);
    for (int i = 0; i < n; i++) {
        if (!d[i].below_maximum) continue;
        apart = fmax(apart, APART * times_apart(r, &d[i]));
        any = true;
    }
    if (!any) return false;
    for (int t = 0; t < r->c->num_tensors; t++) {
        at_fill *f = &out->fill[t];
        if (!data_is_drawn(r, t) || !data_meets_extreme(r, t)) continue;
        f->row = data_row_of(r, t, false);
        f->apart = f->row ? apart / f->unit : 0;
    }
    if (data_plant_extremes(r, apart, 0, out)) return true;
    at_fill *first = r->fill;
    r->fill = out->fill;
    for (int i = 0; i < n; i++)
        if (d[i].below_maximum)
            for (int k = 0; k < 3; k++)
                data_multiply(r, data_factor_for(r, d[i].of, cbrt(times_larger(r, &d[i]))));
    data_plant_products(r, out);
    r->fill = first;
    return true;
}

/* Is the tensor, or what is made of it, added up by this stage? */
static bool adds_up(data_ruler *r, int stage, int tensor) {
    const at_tensor *t = &r->c->tensors[stage];
    if (t->role != AT_ROLE_STAGE || !at_expr_count_reads(t->body, tensor)) return false;
    return t->num_reduce && t->reduction == AT_REDUCE_SUM;
}

/* The distance of an input from a sum of its own, as from a mean. */
static at_walk find_centred(const at_expr *e, void *ctx) {
    data_ruler *r = ctx;
    if (e->op == AT_X_INDEX) return AT_WALK_PAST;
    if (e->op != AT_X_SUB || e->arg[0]->op != AT_X_INDEX || e->arg[1]->op != AT_X_INDEX)
        return AT_WALK_ON;
    int mean = data_is_drawn(r, e->arg[0]->ref) ? e->arg[1]->ref : -1;
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

at_status data_bring_near_0(data_ruler *r, bool *any, at_error *err) {
    enum { ROUNDS = 16 };
    int n;
    data_decision *d = data_look_decisions(r->look, &n);
    bool changes = true;
    for (int k = 0; k < ROUNDS && changes; k++) {
        changes = false;
        AT_TRY(data_look_at(r->look, r->arena, r->fill, err));
        for (int i = 0; i < n; i++) {
            if (!d[i].is_added) continue;
            const double size = data_quantile(&d[i], 0, 0.5),
                         wanted = d[i].is_lone ? d[i].width / 2 : d[i].width,
                         most = d[i].is_lone ? wanted : 4 * wanted;
            if (!(size > most)) continue;
            const double factor = data_factor_for(r, d[i].of, wanted / size);
            data_multiply(r, factor);
            changes |= factor != 1;
        }
        *any |= changes;
    }
    return AT_OK;
}

/* Numbers that are far from 0 beside how far they are apart: a variance that is worked out in
 * another way loses what is small. And so small that what is added lest something is 0 counts. */
static at_status is_centred(data_ruler *r, at_draw *out, bool *any, at_error *err) {
    enum { APART = 512 };
    at_fill *first = r->fill;
    *any = false;
    r->fill = out->fill = at_copy(r->arena, r->fill, sizeof *r->fill * (size_t)r->c->num_tensors);
    AT_TRY(data_bring_near_0(r, any, err));
    for (int s = 0; s < r->c->num_tensors; s++) {
        if (r->c->tensors[s].role != AT_ROLE_STAGE) continue;
        const at_expr *distance = at_expr_walk(r->c->tensors[s].body, find_centred, r);
        if (!distance) continue;
        const int t = distance->arg[0]->ref;
        *any = true;
        r->fill[t].apart = APART * r->fill[t].hi;
        r->fill[t].row = data_row_of(r, t, false);
        const bool has_rows = r->c->tensors[t].num_axes && data_elements_of(r, t) > 0;
        if (!r->fill[t].row && has_rows) r->fill[t].row = data_elements_of(r, t) / r->extents[t][0];
    }
    r->fill = first;
    return AT_OK;
}

/* Of a number 1 or -1; 0: it is none, or 0. */
static int sign_of(const at_expr *e) {
    if (e->op == AT_X_NEG) return -sign_of(e->arg[0]);
    const double x = at_expr_number(e);
    return (x > 0) - (x < 0);
}

/* With which sign e grows with an operand of its own; 0: with none. */
static int grows_with(const at_expr *e, int operand) {
    switch (e->op) {
    case AT_X_SELECT: return operand > 0;
    case AT_X_ADD: return 1;
    case AT_X_SUB: return operand ? -1 : 1;
    case AT_X_NEG: return -1;
    case AT_X_MUL: return sign_of(e->arg[1 - operand]);
    case AT_X_DIV: return operand ? 0 : sign_of(e->arg[1]);
    default: return 0;
    }
}

/* Tensors with whose elements what a maximum looks at grows get sign -1, those with which it gets
 * smaller 1, of a minimum the other way round; where both look at them the first of these decides.
 */
static void find_sides(const data_ruler *r, const at_expr *e, int sign, int *side) {
    for (int i = 0; e->op != AT_X_INDEX && i < e->nargs; i++)
        if (grows_with(e, i)) find_sides(r, e->arg[i], sign * grows_with(e, i), side);
    if (e->op != AT_X_INDEX || side[e->ref]) return;
    side[e->ref] = sign;
    const at_tensor *t = &r->c->tensors[e->ref];
    if (t->role == AT_ROLE_STAGE && !t->num_reduce && !t->is_recurrence && !t->cycle && t->body)
        find_sides(r, t->body, sign, side);
}

/* What a maximum looks at lies below 0, and a minimum's terms above: one that begins at 0 is wrong
 * there, and nowhere else where its terms are many. false: nothing moves. */
static bool move_aside(data_ruler *r, at_fill *fill) {
    const int n = r->c->num_tensors;
    int *side = AT_NEW_ARRAY(r->arena, int, n);
    bool any = false;
    for (int s = 0; s < n; s++) {
        const at_tensor *t = &r->c->tensors[s];
        if (t->role == AT_ROLE_STAGE && t->num_reduce && at_reduction_is_extreme(t->reduction))
            find_sides(r, t->body, t->reduction == AT_REDUCE_MAX ? -1 : 1, side);
    }
    for (int t = 0; t < n; t++) {
        at_fill *f = &fill[t];
        if (!data_is_drawn(r, t) || !side[t] || f->lo >= 0 || f->hi <= 0) continue;
        const double by = f->hi - f->lo + 1;
        f->lo += side[t] * by, f->hi += side[t] * by;
        any = true;
    }
    return any;
}

static bool is_aside(data_ruler *r, at_draw *out) {
    at_fill *first = r->fill;
    r->fill = out->fill = at_copy(r->arena, r->fill, sizeof *r->fill * (size_t)r->c->num_tensors);
    const bool any =
        move_aside(r, out->fill) && (!r->is_exact || data_ratio(r, 1) <= DATA_EXACT_RATIO);
    r->fill = first;
    if (!any) out->fill = first;
    return any;
}

/* Sums of products that a maximum looks at are of one sign in a row, and have winners. */
static bool has_products(const data_ruler *r, at_draw *out) {
    const double larger = 2.5; /* both factors, in the mean (data_products.c) */
    if (!r->is_exact || data_ratio(r, larger) > DATA_EXACT_RATIO || !data_product_terms(r))
        return false;
    out->fill = at_copy(r->arena, out->fill, sizeof *out->fill * (size_t)r->c->num_tensors);
    return data_plant_products(r, out);
}

bool data_draws_in_steps(data_ruler *r, at_data_rule *out) {
    bool any = move_aside(r, out->draw[1].fill);
    for (int draw = 0; draw < 2; draw++)
        any |= data_plant_extremes(r, 0, draw, &out->draw[draw]) > 0;
    return any;
}

/* ---- recurrences ----------------------------------------------------------------------------- */

typedef struct step_input {
    const at_compute *c;
    int tensor;
} step_input;

/* What is made of the input's elements and no stage; not compared with a number: on which side of
 * it elements lie is not a matter of steps. */
static bool is_compared(const at_expr *e, const void *ctx) {
    const step_input *x = ctx;
    bool is = false;
    for (int i = 0; i < 2 && e->nargs == 2; i++)
        is |= at_expr_find_value(e->arg[i], at_expr_is_read, &x->tensor) &&
              !at_expr_find_value(e->arg[i], data_is_of_stage, x->c) &&
              !at_expr_is_number(e->arg[1 - i]);
    return is && (at_op_compares(e->op) || e->op == AT_X_MIN || e->op == AT_X_MAX);
}

/* The first axis along which a recurrence reads itself elsewhere; -1: there is none. */
static int step_axis(const data_ruler *r, int stage) {
    const at_tensor *t = &r->c->tensors[stage];
    const at_expr *own = t->is_recurrence ? at_expr_find(t->body, at_expr_is_read, &stage) : NULL;
    for (int i = 0; own && i < own->nargs; i++)
        if (!at_expr_is_name(own->arg[i], i)) return i;
    return -1;
}

/* How elements of an input follow each other, of those that a recurrence, or a maximum of all so
 * far, compares. */
typedef struct steps {
    int64_t row, num; /* elements of one step; 0: nothing compares them */
    double sign;      /* -1: it looks for the smallest */
} steps;

static bool reads_at(const at_expr *e, const void *axis) {
    bool any = false;
    for (int i = 0; e->op == AT_X_INDEX && i < e->nargs; i++)
        any |= at_expr_is_name(e->arg[i], *(const int *)axis);
    return any;
}

static steps steps_along(const data_ruler *r, const at_expr *read, int axis, double sign) {
    const int64_t *extent = r->extents[read->ref];
    int64_t n = 1;
    for (int i = read->nargs; i-- > 0; n *= extent[i])
        if (at_expr_is_name(read->arg[i], axis)) return (steps){n, extent[i], sign};
    return (steps){0};
}

/* Of a maximum whose terms begin or end with the place, as of all so far. */
static steps running_steps(const data_ruler *r, int stage, int tensor) {
    const at_tensor *t = &r->c->tensors[stage];
    const int axis = t->num_axes;
    if (t->num_reduce != 1 || !at_reduction_is_extreme(t->reduction) || !t->axes[axis].begin ||
        at_expr_reads(t->axes[axis].begin) || at_expr_reads(t->axes[axis].end))
        return (steps){0};
    const at_expr *read = at_expr_find(t->body, reads_at, &axis);
    if (!read || read->ref != tensor) return (steps){0};
    return steps_along(r, read, axis, t->reduction == AT_REDUCE_MAX ? 1 : -1);
}

static steps steps_of(const data_ruler *r, int tensor) {
    const step_input of = {r->c, tensor};
    steps x = {0};
    for (int s = 0; s < r->c->num_tensors && !x.row; s++) {
        const int axis = step_axis(r, s);
        if (r->c->tensors[s].role != AT_ROLE_STAGE) continue;
        const at_expr *by = axis < 0 ? NULL : at_expr_find(r->c->tensors[s].body, is_compared, &of);
        if (by) x = steps_along(r, at_expr_find_value(by, at_expr_is_read, &tensor), axis, 1);
        else if (axis < 0) x = running_steps(r, s, tensor);
    }
    return x;
}

/* A fill of which the numbers from -far to far lie as far from 0 as those of another at most, and
 * above 0 where these do, as a logarithm needs it. It has the number 0 alone. */
static at_fill fill_within(const at_fill *f, double far) {
    const double most = fmax(fabs(f->lo), fabs(f->hi)), least = f->lo > 0 ? f->lo : -most,
                 unit = (most - least) / (2 * far), middle = (most + least) / 2 / unit;
    return (at_fill){.lo = middle, .hi = middle, .unit = f->unit * unit};
}

/* Where a recurrence compares an input with what it has, or a maximum goes over all so far, the
 * input's steps rise on the first draw: a late step that is not taken is missed. On the second they
 * fall: what the first step leaves is seen at the end, and so is a later step that is taken though
 * it must not be. Either way some elements go against it. Of a minimum they fall first. */
static bool rise_and_fall(data_ruler *r, int64_t most_steps, at_data_rule *out) {
    enum { MOST = 64, RISE = MOST / 8, FALL = MOST / 2 };
    const int n = r->c->num_tensors;
    const size_t bytes = sizeof *r->fill * (size_t)n;
    at_fill *rising = at_copy(r->arena, r->fill, bytes),
            *falling = at_copy(r->arena, r->fill, bytes), *first = r->fill;
    bool any = false;
    r->fill = at_copy(r->arena, r->fill, bytes);
    for (int t = 0; t < n; t++) {
        const bool is_float = data_is_drawn(r, t) && r->c->tensors[t].type == AT_F32;
        const steps x = is_float ? steps_of(r, t) : (steps){0};
        if (!x.row) continue;
        const int64_t num = x.num < most_steps ? x.num : most_steps;
        const double all = MOST + (double)(num / 2) * FALL;
        rising[t] = r->is_exact ? (at_fill){.unit = 1} : fill_within(&first[t], 2 * all);
        rising[t].lo -= MOST, rising[t].hi += MOST;
        rising[t].apart = x.sign * RISE;
        rising[t].row = x.row, rising[t].rows = num;
        falling[t] = rising[t];
        falling[t].lo -= x.sign * all, falling[t].hi -= x.sign * all;
        falling[t].apart = -x.sign * FALL;
        r->fill[t] = (at_fill){.lo = -2 * all, .hi = 2 * all, .unit = 1};
        any = true;
    }
    any &= !r->is_exact || data_ratio(r, 1) <= DATA_EXACT_RATIO;
    r->fill = first;
    if (any) out->draw[0].fill = rising, out->draw[1].fill = falling, out->num_draws = 2;
    return any;
}

/* All the way, or where sums would not be exact, again and again. */
static bool rises_and_falls(data_ruler *r, at_data_rule *out) {
    enum { AGAIN = 7 };
    return rise_and_fall(r, INT64_MAX, out) || rise_and_fall(r, AGAIN, out);
}

/* Is all worked out element by element? Elsewhere a few that are far from the others would hide
 * these. */
static bool has_no_sums(const data_ruler *r) {
    bool any = false;
    for (int s = 0; s < r->c->num_tensors; s++) {
        const at_tensor *t = &r->c->tensors[s];
        any |= t->role == AT_ROLE_STAGE && (t->num_reduce || at_tensor_goes_in_steps(t));
    }
    return !any;
}

static bool levels_off(const data_decision *d) {
    const int64_t f = d->e->op == AT_X_CALL && !d->below_maximum ? d->e->integer : -1;
    return f == AT_FUNCTION_EXP || f == AT_FUNCTION_TANH || f == AT_FUNCTION_ERF ||
           f == AT_FUNCTION_SIGMOID;
}

static double size_of_fill(const at_fill *f) {
    return f->unit * sqrt((f->lo * f->lo + f->lo * f->hi + f->hi * f->hi) / 3);
}

/* How far from 0 e may be; most: tensors. */
static double largest(const data_ruler *r, const at_expr *e, const double *most) {
    switch (e->op) {
    case AT_X_INDEX: return most[e->ref];
    case AT_X_NEG: return largest(r, e->arg[0], most);
    case AT_X_ADD:
    case AT_X_SUB: return largest(r, e->arg[0], most) + largest(r, e->arg[1], most);
    case AT_X_MUL: return largest(r, e->arg[0], most) * largest(r, e->arg[1], most);
    case AT_X_DIV: return largest(r, e->arg[0], most) / data_look_size(r->look, e->arg[1]);
    case AT_X_MIN:
    case AT_X_MAX: return fmax(largest(r, e->arg[0], most), largest(r, e->arg[1], most));
    case AT_X_SELECT: return fmax(largest(r, e->arg[1], most), largest(r, e->arg[2], most));
    default: return data_look_size(r->look, e);
    }
}

/* e grows with a power of its marked tensors, of which several may be far at one place, and other
 * factors are larger there than in the mean. What these tensors, so many times as large, are to be
 * multiplied by lest e is beyond `end`. */
static double times_for(data_ruler *r, const at_expr *e, double times, double end) {
    double *most = AT_NEW_ARRAY(r->arena, double, r->c->num_tensors);
    for (int i = 0; i < r->c->num_tensors; i++) {
        const int t = r->c->order[i];
        const at_tensor *x = &r->c->tensors[t];
        const at_fill *f = &r->fill[t];
        if (data_is_drawn(r, t)) {
            const double far = r->marked[t] ? times * size_of_fill(f) : 0;
            most[t] = fmax(far, f->unit * fmax(fabs(f->lo), fabs(f->hi)));
        } else if (x->role == AT_ROLE_STAGE) most[t] = largest(r, x->body, most);
    }
    const double all = largest(r, e, most);
    return all > end && isfinite(all) ? pow(end / all, 1 / fmax(1, data_power(r, e))) : 1;
}

/* How many exponentials are multiplied with each other in e; of: in tensors. */
static double exponentials(const at_expr *e, const double *of) {
    if (e->op == AT_X_INDEX) return of[e->ref];
    double most = e->op == AT_X_CALL && e->integer == AT_FUNCTION_EXP, sum = 0;
    for (int i = 0; i < e->nargs; i++) {
        const double n = exponentials(e->arg[i], of);
        most = fmax(most, n);
        sum += n;
    }
    return e->op == AT_X_MUL ? sum : most;
}

static double most_exponentials(const data_ruler *r) {
    double *of = AT_NEW_ARRAY(r->arena, double, r->c->num_tensors), most = 1;
    for (int i = 0; i < r->c->num_tensors; i++) {
        const int t = r->c->order[i];
        if (r->c->tensors[t].role != AT_ROLE_STAGE || !r->c->tensors[t].body) continue;
        of[t] = exponentials(r->c->tensors[t].body, of);
        most = fmax(most, of[t]);
    }
    return most;
}

/* A few arguments of functions that level off are as far from 0 as they may be without a result
 * that is infinite: there a kernel has another formula, or the same one goes wrong. */
static void plant_far(data_ruler *r, at_draw *draw) {
    enum { FURTHEST = 80 };
    static const double places[] = {15, -15, 40, -40, FURTHEST, -FURTHEST};
    enum { FAR = sizeof places / sizeof *places, LEAST = 16 * FAR };
    int n;
    if (!has_no_sums(r)) return;
    const double end = FURTHEST / most_exponentials(r);
    const data_decision *d = data_look_decisions(r->look, &n);
    for (int i = 0; i < n; i++) {
        const double size = levels_off(&d[i]) ? data_look_size(r->look, d[i].of) : 0;
        if (!(size > 0)) continue;
        data_mark_sources(r, d[i].of);
        const bool is_exp = d[i].e->integer == AT_FUNCTION_EXP;
        const double times = is_exp ? times_for(r, d[i].of, FURTHEST / size, end) : 1;
        for (int t = 0; t < r->c->num_tensors; t++) {
            const at_fill *f = &r->fill[t];
            const int64_t elements = data_elements_of(r, t);
            const double of = times * size_of_fill(f);
            if (!r->marked[t] || !data_is_drawn(r, t) || f->lo > 0 || elements < LEAST) continue;
            for (int k = 0; k < FAR; k++)
                *at_push(r->arena, &draw->extremes) =
                    (at_placed){.tensor = t,
                                .offset = elements * (2 * k + 1) / (2 * FAR),
                                .value = (float)(places[k] * of / size)};
        }
    }
}

at_status data_second_draw(data_ruler *r, at_data_rule *out, at_error *err) {
    enum { FEW_ROWS = 64 };
    if (!r->is_exact) plant_far(r, &out->draw[0]);
    if (!r->is_exact) {
        bool any;
        if (overflows(r, &out->draw[1])) out->num_draws = 2, data_plant_small(r, &out->draw[0]);
        AT_TRY(is_centred(r, &out->draw[out->num_draws], &any, err));
        out->num_draws += any;
        if (out->num_draws > 1) return AT_OK;
    }
    if (r->is_exact && data_ratio(r, 2) > DATA_EXACT_RATIO) return AT_OK;
    const int64_t rows = data_plant_extremes(r, 0, 0, &out->draw[0]);
    if (!rows && rises_and_falls(r, out)) return AT_OK;
    out->draw[1].fill = r->fill;
    bool aside = is_aside(r, &out->draw[1]);
    aside |= has_products(r, &out->draw[1]);
    if (!aside && (!rows || rows >= FEW_ROWS)) return AT_OK;
    out->num_draws = 2;
    data_plant_extremes(r, 0, 1, &out->draw[1]);
    return AT_OK;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Do entries say to which place a term of the stage belongs? What a kernel does at a place
 * without a term, or with a term that belongs nowhere, is seen only where data have such. */
static bool has_places(const data_ruler *r, int stage) {
    const at_scatter x = at_scatter_of(&r->c->tensors[stage]);
    bool any = false;
    for (int k = 0; x.axes >> k && !any; k++)
        any = (x.axes >> k & 1) && data_reads_role(r, x.place[k], AT_ROLE_INDEX);
    return any;
}

bool data_has_places(const data_ruler *r) {
    bool any = false;
    for (int s = 0; s < r->c->num_tensors && !any; s++) any = has_places(r, s);
    return any;
}

bool data_has_ends(const data_ruler *r) {
    const at_data_known *k = r->known;
    bool any = false;
    for (int t = 0; k->entries && t < r->c->num_tensors && !any; t++)
        any = r->c->tensors[t].role == AT_ROLE_INDEX && !(k->indices && k->indices[t]) &&
              k->entries[t].lo < k->entries[t].hi &&
              (k->entries[t].ends || at_entries_apart(&k->entries[t], 1, k->num_entries[t]) > 0);
    return any;
}
