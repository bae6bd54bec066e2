/* schedule/data/data_ruler.c: what is known of data while they are chosen (data_rule.c): how large
 * sums of them are, which tensors make up the size of an expression, and by how much their fills
 * change.
 */
#include "schedule/data/data_int.h"

#include <math.h>
#include <string.h>

static double most_of(const at_fill *f) { return f->unit * fmax(fabs(f->lo), fabs(f->hi)); }

bool data_is_drawn(const data_ruler *r, int t) {
    const at_tensor *x = &r->c->tensors[t];
    return x->role != AT_ROLE_STAGE && x->role != AT_ROLE_INDEX &&
           !(r->known->given && r->known->given[t]);
}

static bool is_whole(const data_ruler *r, int tensor) {
    return r->c->in_steps && at_type_of(r->c->tensors[tensor].type)->is_int;
}

/* Is the tensor's element what e takes bits of? */
static bool takes_bits(const at_expr *e, const void *tensor) {
    if (e->op != AT_X_BIT_AND && e->op != AT_X_BIT_OR && e->op != AT_X_SHIFT_RIGHT) return false;
    const at_expr *x = e->arg[0];
    while ((x->op == AT_X_ADD || x->op == AT_X_SUB) && at_expr_is_number(x->arg[1])) x = x->arg[0];
    return at_expr_is_read(x, tensor);
}

bool data_is_taken_apart(const at_compute *c, int tensor) {
    bool any = false;
    for (int s = 0; s < c->num_tensors && !any; s++)
        any = c->tensors[s].role == AT_ROLE_STAGE && c->tensors[s].body &&
              at_expr_find_value(c->tensors[s].body, takes_bits, &tensor);
    return any;
}

bool data_is_moved(const data_ruler *r, int t) {
    const at_type type = r->c->tensors[t].type;
    if (!data_is_drawn(r, t)) return false;
    if (!is_whole(r, t)) return true;
    return r->moves_wholes && type != AT_BOOL && !data_is_taken_apart(r->c, t);
}

double data_odd_part(double x) {
    int exponent;
    double odd = ldexp(frexp(x, &exponent), 53);
    while (fmod(odd, 2) == 0) odd /= 2;
    return odd;
}

double data_ratio(const data_ruler *r, double extremes) {
    const int n = r->c->num_tensors;
    at_arena *a = at_arena_new();
    double *most = AT_NEW_ARRAY(a, double, n), *unit = AT_NEW_ARRAY(a, double, n);
    for (int t = 0; t < n; t++) {
        unit[t] = data_is_drawn(r, t) ? r->fill[t].unit / data_odd_part(r->fill[t].unit) : 1;
        most[t] = data_is_drawn(r, t) ? extremes * most_of(&r->fill[t]) : r->known->bound[t];
        if (!data_is_drawn(r, t) && most[t] < 0) most[t] = DATA_MOST_RANGE;
    }
    double ratio =
        at_compute_ratio(r->c, r->values, most, unit, r->known->bound, r->known->longest);
    at_arena_free(a);
    return ratio;
}

/* ---- changing the size of an expression ------------------------------------------------------ */

static bool is_from(const at_expr *e, const void *from) {
    return e->op == AT_X_INDEX && ((const bool *)from)[e->ref];
}

bool data_reads_role(const data_ruler *r, const at_expr *e, at_role role) {
    return at_expr_find_value(e, is_from, r->from[role]);
}

/* Of computations with integers only what changes has a role; entries stay as they are. */
static bool has_role(const data_ruler *r, int tensor) {
    return !r->c->in_steps || r->c->tensors[tensor].role == AT_ROLE_INDEX ||
           data_is_moved(r, tensor);
}

static bool is_followed(const at_tensor *t) {
    return t->role == AT_ROLE_STAGE && !t->is_recurrence && !t->cycle && t->body;
}

/* Of each stage, the ones that it reads first; not of those that read themselves. */
static void find_roles(data_ruler *r) {
    for (int role = 0; role < AT_ROLE_STAGE; role++) {
        r->from[role] = AT_NEW_ARRAY(r->arena, bool, r->c->num_tensors);
        for (int i = 0; i < r->c->num_tensors; i++) {
            const int tensor = r->c->order[i];
            const at_tensor *t = &r->c->tensors[tensor];
            const bool is_own = (int)t->role == role && has_role(r, tensor);
            r->from[role][tensor] =
                is_followed(t) ? data_reads_role(r, t->body, (at_role)role) : is_own;
        }
    }
}

static bool is_uncut(const data_ruler *r, const at_expr *e) {
    return at_expr_find_value(e, is_from, r->uncut);
}

void data_move_wholes(data_ruler *r) {
    r->moves_wholes = true;
    find_roles(r);
    r->uncut = AT_NEW_ARRAY(r->arena, bool, r->c->num_tensors);
    for (int i = 0; i < r->c->num_tensors; i++) {
        const int t = r->c->order[i];
        const at_tensor *x = &r->c->tensors[t];
        r->uncut[t] = !is_followed(x) ? data_is_moved(r, t)
                                      : !data_look_is_cut(r->look, t) && is_uncut(r, x->body);
    }
}

at_status data_ruler_begin(data_ruler *r, at_arena *a, const at_compute *c, const int64_t *values,
                           const at_data_known *known, at_error *err) {
    *r = (data_ruler){.arena = a, .c = c, .values = values, .known = known, .is_exact = true};
    AT_TRY(at_compute_extents(a, c, values, &r->extents, err));
    r->fill = AT_NEW_ARRAY(a, at_fill, c->num_tensors);
    r->marked = AT_NEW_ARRAY(a, bool, c->num_tensors);
    r->power = AT_NEW_ARRAY(a, double, c->num_tensors);
    find_roles(r);
    return AT_OK;
}

static void mark(data_ruler *r, const at_expr *e);

/* Of the operands of a sum those that make up its size. */
static void mark_large(data_ruler *r, const at_expr *e) {
    const double x = data_look_size(r->look, e->arg[0]), y = data_look_size(r->look, e->arg[1]);
    if (x * 4 > y) mark(r, e->arg[0]);
    if (y * 4 > x) mark(r, e->arg[1]);
}

/* The side of a product that is changed: weights first, then what is no number. */
static const at_expr *moved_factor(const data_ruler *r, const at_expr *e) {
    for (int role = AT_ROLE_STAGE; role-- > 0;)
        for (int i = 2; i-- > 0;) {
            at_role which = role ? AT_ROLE_WEIGHT : AT_ROLE_INPUT;
            if (data_reads_role(r, e->arg[i], which)) return e->arg[i];
        }
    return e->arg[1];
}

/* The factors of a product of integers that bounds have not cut; all, where they have cut both.
 * Sums of products have fewer different values where one factor alone becomes smaller. */
static void mark_factors(data_ruler *r, const at_expr *e) {
    const bool any = is_uncut(r, e->arg[0]) || is_uncut(r, e->arg[1]);
    for (int i = 0; i < 2; i++)
        if (!any || is_uncut(r, e->arg[i])) mark(r, e->arg[i]);
}

/* Tensors with which e grows in proportion. */
static void mark(data_ruler *r, const at_expr *e) {
    switch (e->op) {
    case AT_X_INDEX:
        if (r->marked[e->ref] || at_tensor_has_entries(&r->c->tensors[e->ref])) return;
        r->marked[e->ref] = true;
        if (r->c->tensors[e->ref].role == AT_ROLE_STAGE) mark(r, r->c->tensors[e->ref].body);
        return;
    case AT_X_NEG:
    case AT_X_SHIFT_RIGHT:
    case AT_X_DIV: mark(r, e->arg[0]); return;
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MIN:
    case AT_X_MAX: mark_large(r, e); return;
    case AT_X_MUL:
        if (r->moves_wholes && at_expr_is_whole(r->c, e)) mark_factors(r, e);
        else mark(r, moved_factor(r, e));
        return;
    case AT_X_SELECT: mark(r, e->arg[1]), mark(r, e->arg[2]); return;
    case AT_X_CALL:
        if (e->integer == AT_FUNCTION_ABS || e->integer == AT_FUNCTION_SQRT ||
            at_function_rounds((at_function)e->integer) ||
            at_function_narrows((at_function)e->integer))
            mark(r, e->arg[0]);
        return;
    default: return;
    }
}

void data_mark_sources(data_ruler *r, const at_expr *e) {
    memset(r->marked, 0, sizeof *r->marked * (size_t)r->c->num_tensors);
    mark(r, e);
}

/* With which power of the marked tensors e grows: a square of differences with the second. */
static double power(const data_ruler *r, const at_expr *e) {
    double most = 0, sum = 0;
    if (e->op == AT_X_INDEX) return r->power[e->ref];
    for (int i = 0; i < e->nargs; i++) {
        const double of = power(r, e->arg[i]);
        most = of > most ? of : most;
        sum += of;
    }
    if (e->op == AT_X_CALL && e->integer == AT_FUNCTION_SQRT) return most / 2;
    return e->op == AT_X_MUL ? sum : most;
}

/* Of each tensor: of stages, the ones that they read first. */
static void find_powers(data_ruler *r) {
    for (int i = 0; i < r->c->num_tensors; i++) {
        const int tensor = r->c->order[i];
        const at_tensor *t = &r->c->tensors[tensor];
        const bool is_read = t->role == AT_ROLE_STAGE && !t->is_recurrence && !t->cycle;
        r->power[tensor] = !r->marked[tensor] ? 0 : is_read ? power(r, t->body) : 1;
    }
}

double data_power(data_ruler *r, const at_expr *e) {
    find_powers(r);
    return power(r, e);
}

void data_multiply(data_ruler *r, double factor) {
    for (int t = 0; t < r->c->num_tensors; t++)
        if (r->marked[t] && data_is_moved(r, t)) r->fill[t].unit *= factor;
}

/* How much smaller integers may become, which have a few different values then: a power of two. */
static double least_unit(at_type type) {
    enum { FEW = 4 };
    const at_wholes w = at_data_wholes(type, &(at_fill){.unit = 1});
    return exp2(ceil(log2(FEW / (double)(w.hi - w.lo + 1))));
}

/* How marked integers may change, as binary logarithms; those that cannot change so are no longer
 * marked: they have all numbers of their types, or few. */
static void limit_wholes(data_ruler *r, bool grows, double *least, double *most) {
    for (int t = 0; t < r->c->num_tensors; t++) {
        const at_type type = r->c->tensors[t].type;
        if (!r->marked[t] || !data_is_drawn(r, t) || !is_whole(r, t)) continue;
        const double now = log2(r->fill[t].unit), end = log2(least_unit(type));
        r->marked[t] = data_is_moved(r, t) && (grows ? now < 0 : now > end);
        if (r->marked[t]) *least = fmax(*least, end - now), *most = fmin(*most, -now);
    }
}

double data_factor_for(data_ruler *r, const at_expr *e, double times) {
    double least = -3, most = 3;
    bool any = false, has_floats = false;
    if (!isfinite(times) || !(times > 0)) return 1;
    data_mark_sources(r, e);
    limit_wholes(r, times > 1, &least, &most);
    for (int t = 0; t < r->c->num_tensors; t++) {
        any |= r->marked[t] && data_is_moved(r, t);
        has_floats |= r->marked[t] && data_is_moved(r, t) && !is_whole(r, t);
    }
    const double by = fmax(least, fmin(most, log2(times) / (any ? data_power(r, e) : INFINITY)));
    return exp2(r->is_exact && has_floats ? round(by) : by);
}

bool data_meets_extreme(data_ruler *r, int tensor) {
    for (int s = 0; s < r->c->num_tensors; s++) {
        const at_tensor *t = &r->c->tensors[s];
        if (t->role != AT_ROLE_STAGE || !t->num_reduce || !at_reduction_is_extreme(t->reduction))
            continue;
        data_mark_sources(r, t->body);
        if (r->marked[tensor]) return true;
    }
    return false;
}

int64_t data_elements_of(const data_ruler *r, int t) {
    return at_tensor_elements(&r->c->tensors[t], r->extents[t]);
}
