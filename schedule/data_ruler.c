/* schedule/data_ruler.c: what is known of data while they are chosen (data_rule.c): how large sums
 * of them are, which tensors make up the size of an expression, and by how much their fills change.
 */
#include "schedule/data_int.h"

#include <math.h>
#include <string.h>

static double most_of(const at_fill *f) { return f->unit * fmax(fabs(f->lo), fabs(f->hi)); }

bool data_is_drawn(const data_ruler *r, int t) {
    const at_tensor *x = &r->c->tensors[t];
    return x->role != AT_ROLE_STAGE && x->role != AT_ROLE_INDEX &&
           !(r->known->given && r->known->given[t]);
}

double data_ratio(const data_ruler *r, double extremes) {
    const int n = r->c->num_tensors;
    at_arena *a = at_arena_new();
    double *most = AT_NEW_ARRAY(a, double, n), *unit = AT_NEW_ARRAY(a, double, n);
    for (int t = 0; t < n; t++) {
        unit[t] = data_is_drawn(r, t) ? r->fill[t].unit : 1;
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

/* Of each stage, the ones that it reads first; not of those that read themselves. */
static void find_roles(data_ruler *r) {
    for (int role = 0; role < AT_ROLE_STAGE; role++) {
        r->from[role] = AT_NEW_ARRAY(r->arena, bool, r->c->num_tensors);
        for (int i = 0; i < r->c->num_tensors; i++) {
            const int tensor = r->c->order[i];
            const at_tensor *t = &r->c->tensors[tensor];
            const bool is_read =
                t->role == AT_ROLE_STAGE && !t->is_recurrence && !t->cycle && t->body;
            r->from[role][tensor] =
                is_read ? data_reads_role(r, t->body, (at_role)role) : (int)t->role == role;
        }
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

/* Tensors with which e grows in proportion. */
static void mark(data_ruler *r, const at_expr *e) {
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
        if (e->integer == AT_FUNCTION_ABS || at_function_rounds((at_function)e->integer) ||
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
        if (r->marked[t] && data_is_drawn(r, t)) r->fill[t].unit *= factor;
}

double data_factor_for(data_ruler *r, const at_expr *e, double times) {
    bool any = false;
    if (!isfinite(times) || !(times > 0)) return 1;
    data_mark_sources(r, e);
    for (int t = 0; t < r->c->num_tensors; t++) any |= r->marked[t] && data_is_drawn(r, t);
    const double by = fmax(-3, fmin(3, log2(times) / (any ? data_power(r, e) : INFINITY)));
    return exp2(r->is_exact ? round(by) : by);
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
    return element_count(r->c, t, r->extents[t]);
}
