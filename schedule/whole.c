/* schedule/whole.c: arithmetic of 32-bit integers: no value on the way leaves 32 bits. */
#include "schedule/interval.h"

#include <math.h>
#include <string.h>

#include "base/range.h"

/* ---- ranges ---------------------------------------------------------------------------------- */

typedef at_range range;

typedef struct {
    const at_compute *c;
    int64_t *const *extents;
    const int64_t *values;
    const at_data *data;
    range *of; /* [tensor] */
    int stage;
    at_error *err;
} ranger;

static const range any_int = {INT32_MIN, INT32_MAX};

/* Of a stage that is worked out step by step, before its first step: no value is there. */
static const range nothing = {INFINITY, -INFINITY};
static bool is_nothing(range x) { return x.lo > x.hi; }

static at_status beyond(const ranger *r, const at_expr *e, range x) {
    const at_tensor *t = &r->c->tensors[r->stage];
    at_text text = {0};
    at_expr_print(&text, e);
    at_fail(r->err, AT_E_INPUT,
            "%s:%d: \"%s\": %s may be from %.0f to %.0f, which is beyond 32 bits; make the sum "
            "shorter, or work in f32",
            t->what, t->line, t->name, at_text_str(&text), x.lo, x.hi);
    at_text_free(&text);
    return AT_E_INPUT;
}

/* The part of a way that a number goes, (b - a) >> n of a + ((b - a) >> n), (a - b) >> n of
 * a - ((a - b) >> n): rounded down, it is between nothing and all of the way. NULL: it goes none.
 */
static const at_expr *part_of_way(const at_expr *e) {
    if (e->op != AT_X_ADD && e->op != AT_X_SUB) return NULL;
    for (int i = 0; i < (e->op == AT_X_ADD ? 2 : 1); i++) {
        const at_expr *a = e->arg[i], *part = e->arg[!i];
        if (part->op == AT_X_SHIFT_RIGHT && part->arg[0]->op == AT_X_SUB &&
            at_expr_equal(part->arg[0]->arg[e->op == AT_X_ADD], a))
            return part;
    }
    return NULL;
}

/* Of an expression of integers, all of whose values on the way fit, too. ends: receives what the
 * two ends of the way may be whose part e is; NULL: it is none. */
static at_status range_between(ranger *r, const at_expr *e, range *ends, range *out) {
    const at_expr *part = part_of_way(e);
    range x[3] = {{0}}, own[2];
    switch (e->op) {
    case AT_X_INT: *out = (range){(double)e->integer, (double)e->integer}; return AT_OK;
    case AT_X_NAME:
        if (e->ref < AT_REF_SIZE) {
            int64_t lo, hi;
            at_compute_axis_range(r->c, r->extents, r->stage, e->ref, &lo, &hi);
            *out = (range){(double)lo, (double)hi};
        } else {
            const double value = (double)r->values[e->ref - AT_REF_SIZE];
            *out = (range){value, value};
        }
        return AT_OK;
    case AT_X_INDEX: *out = r->of[e->ref]; return AT_OK;
    default: break;
    }
    for (int i = e->op == AT_X_SELECT; i < e->nargs; i++) {
        range *of_way = e->arg[i] == part ? own : e->op == AT_X_SHIFT_RIGHT && !i ? ends : NULL;
        AT_TRY(range_between(r, e->arg[i], of_way, &x[i]));
        if (e->op == AT_X_SELECT || !is_nothing(x[i])) continue;
        *out = nothing;
        return AT_OK;
    }
    if (ends && e->op == AT_X_SUB) memcpy(ends, x, 2 * sizeof *ends);
    switch (e->op) {
    case AT_X_NEG: *out = (range){-x[0].hi, -x[0].lo}; break;
    case AT_X_ADD: *out = (range){x[0].lo + x[1].lo, x[0].hi + x[1].hi}; break;
    case AT_X_SUB: *out = (range){x[0].lo - x[1].hi, x[0].hi - x[1].lo}; break;
    case AT_X_MUL: *out = at_range_product(x[0], x[1]); break;
    case AT_X_MIN: *out = (range){fmin(x[0].lo, x[1].lo), fmin(x[0].hi, x[1].hi)}; break;
    case AT_X_MAX: *out = (range){fmax(x[0].lo, x[1].lo), fmax(x[0].hi, x[1].hi)}; break;
    case AT_X_SELECT: *out = at_range_hull(x[1], x[2]); break;
    case AT_X_BIT_AND: *out = at_range_and(x[0], x[1]); break;
    case AT_X_BIT_OR: *out = at_range_or(x[0], x[1]); break;
    case AT_X_SHIFT_RIGHT: *out = at_range_shifted(x[0], (int)x[1].lo); break;
    case AT_X_DIV: /* of indices, which are divided by sizes */
    case AT_X_MOD:
        if (x[1].lo < 1 || x[1].lo < x[1].hi) *out = any_int;
        else if (e->op == AT_X_MOD) *out = (range){0, x[1].lo - 1};
        else *out = (range){floor(x[0].lo / x[1].lo), floor(x[0].hi / x[1].lo)};
        break;
    default: *out = any_int; return AT_OK; /* conditions */
    }
    if (part) {
        const range all = at_range_hull(own[0], own[1]);
        *out = (range){fmax(out->lo, all.lo), fmin(out->hi, all.hi)};
    }
    if (is_nothing(*out)) return AT_OK;
    if (out->lo < any_int.lo || out->hi > any_int.hi) return beyond(r, e, *out);
    return AT_OK;
}

static at_status range_of(ranger *r, const at_expr *e, range *out) {
    return range_between(r, e, NULL, out);
}

/* An expression of integers; ends where one exceeds them. */
static at_walk check(const at_expr *e, void *ctx) {
    ranger *r = ctx;
    range unused;
    if (e->op == AT_X_INDEX) return AT_WALK_PAST;
    if (!at_expr_is_whole(r->c, e) || !is_float_expr(r->c, e)) return AT_WALK_ON;
    return range_of(r, e, &unused) == AT_OK ? AT_WALK_PAST : AT_WALK_END;
}

static const range anything = {-INFINITY, INFINITY};

/* With the floats that its ends become beside floats. */
static range as_floats(range x) {
    return (range){fmin(x.lo, (float)x.lo), fmax(x.hi, (float)x.hi)};
}

/* Of a value that is whole when it is stored. What may be no number, which becomes the least
 * integer, goes down to -inf. */
static range range_of_value(ranger *r, const at_expr *e) {
    at_error why;
    at_error *err = r->err;
    const at_function f = (at_function)e->integer;
    range x = anything, y;
    switch (e->op) {
    case AT_X_FLOAT: return as_floats((range){e->number, e->number});
    case AT_X_SELECT:
        return at_range_hull(range_of_value(r, e->arg[1]), range_of_value(r, e->arg[2]));
    case AT_X_CALL:
        if (!at_function_rounds(f)) return anything;
        x = range_of_value(r, e->arg[0]);
        return (range){at_function_value(f, x.lo), at_function_value(f, x.hi)};
    case AT_X_MIN:
    case AT_X_MAX:
        x = range_of_value(r, e->arg[0]);
        y = range_of_value(r, e->arg[1]);
        return e->op == AT_X_MIN ? (range){fmin(x.lo, y.lo), fmin(x.hi, y.hi)}
                                 : (range){fmax(x.lo, y.lo), fmax(x.hi, y.hi)};
    default: break;
    }
    r->err = &why;
    if (!at_expr_is_whole(r->c, e) || range_of(r, e, &x) != AT_OK) x = anything;
    r->err = err;
    return as_floats(x);
}

/* Of a reduction whose bounds are expressions, by what these may be and what it is an index of. */
static int64_t most_terms(ranger *r, const at_axis *axis, int number) {
    at_error why, *err = r->err;
    range begin = any_int, end = any_int;
    int64_t lo, hi;
    at_compute_axis_range(r->c, r->extents, r->stage, number, &lo, &hi);
    r->err = &why;
    if (range_of(r, axis->begin, &begin) == AT_OK) lo = (int64_t)fmax((double)lo, begin.lo);
    if (range_of(r, axis->end, &end) == AT_OK) hi = (int64_t)fmin((double)hi, end.hi - 1);
    r->err = err;
    return hi < lo ? 0 : hi - lo + 1;
}

static int64_t terms_of(ranger *r, const at_tensor *t) {
    int64_t n = 1;
    for (int i = t->num_axes; i < axes_of(t); i++) {
        int64_t extent = r->extents[r->stage][i];
        if (extent < 0) extent = most_terms(r, &t->axes[i], i);
        if (!at_mul64(n, extent, &n)) return INT32_MAX;
    }
    return n;
}

static at_status check_stage(ranger *r, const at_tensor *t) {
    const at_type_facts *type = at_type_of(t->type);
    const range all = {type->least, type->most};
    range x = all;
    if (at_expr_walk(t->body, check, r)) return AT_E_INPUT;
    if (!type->is_int) {
        r->of[r->stage] = all;
        return AT_OK;
    }
    if (at_expr_is_whole(r->c, t->body)) AT_TRY(range_of(r, t->body, &x));
    else x = range_of_value(r, t->body);
    if (t->num_reduce && t->reduction == AT_REDUCE_SUM) {
        const double n = (double)terms_of(r, t);
        x = (range){fmin(0, x.lo * n), fmax(0, x.hi * n)};
        if (x.lo < all.lo || x.hi > all.hi) return beyond(r, t->body, x);
    }
    r->of[r->stage] = (range){fmax(fmin(x.lo, all.hi), all.lo), fmin(fmax(x.hi, all.lo), all.hi)};
    return AT_OK;
}

/* How many elements of stages that are worked out step by step may follow from each other. Where
 * all reads go back, each lowers the sum of the indices; else those of the steps, of which the
 * first that changes is lower. */
static int64_t longest_chain(const ranger *r, const int *stages, int num) {
    int64_t sum = 1, product = 1;
    uint32_t steps = 0, across = 0;
    for (int i = 0; i < num; i++) {
        const at_recurrence own = at_recurrence_of(r->c, stages[i]);
        steps |= own.steps | own.beyond | at_cycle_steps(r->c, stages[i]);
        for (int k = 0; k < r->c->tensors[stages[i]].num_axes; k++) across |= own.across[k];
    }
    for (int k = 0; k < 32 && steps >> k; k++) {
        const int64_t extent = steps >> k & 1 ? r->extents[stages[0]][k] : 1;
        sum += extent - 1;
        if (!at_mul64(product, extent, &product)) return INT64_MAX;
    }
    return num > 1 || across ? product : sum;
}

/* One pass after the other, each of which says what one element more may be, until that is no more
 * than before. What takes too many may be anything. */
static at_status check_steps(ranger *r, const int *stages, int num) {
    enum { MOST_PASSES = 1 << 22 };
    const int64_t passes = longest_chain(r, stages, num);
    bool grows = true;
    for (int i = 0; i < num; i++) r->of[stages[i]] = nothing;
    for (int64_t pass = 0; pass < passes && grows; pass++) {
        grows = false;
        for (int i = 0; i < num; i++) {
            const at_tensor *t = &r->c->tensors[stages[i]];
            const at_type_facts *type = at_type_of(t->type);
            const range all = {type->least, type->most},
                        before = pass < MOST_PASSES ? r->of[stages[i]] : all;
            r->stage = stages[i];
            r->of[r->stage] = before;
            AT_TRY(check_stage(r, t));
            const range now = at_range_hull(before, r->of[r->stage]);
            grows |= now.lo < before.lo || now.hi > before.hi;
            r->of[r->stage] = now;
        }
    }
    return AT_OK;
}

/* How many stages from one on in their order are worked out together. */
static int num_together(const at_compute *c, int first) {
    const int cycle = c->tensors[c->order[first]].cycle;
    int n = 1;
    while (cycle && first + n < c->num_tensors && c->tensors[c->order[first + n]].cycle == cycle)
        n++;
    return n;
}

static at_status check_together(ranger *r, const int *stages, int num) {
    const at_tensor *t = &r->c->tensors[*stages];
    if (at_tensor_goes_in_steps(t)) return check_steps(r, stages, num);
    r->stage = *stages;
    return t->role == AT_ROLE_STAGE ? check_stage(r, t) : AT_OK;
}

/* A range may have no term. */
static range or_nothing(const at_tensor *t, range x) {
    const double none = at_reduction_neutral_of(t->reduction, t->type);
    return at_tensor_has_range(t) ? at_range_hull(x, (range){none, none}) : x;
}

void at_whole_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                     int64_t *const *extents, interval *of) {
    at_error unused;
    ranger r = {.c = c, .values = values, .extents = extents, .err = &unused};
    r.of = AT_NEW_ARRAY(a, range, c->num_tensors);
    for (int i = 0; i < c->num_tensors; i++) {
        const at_type_facts *type = at_type_of(c->tensors[i].type);
        r.of[i] = c->tensors[i].role == AT_ROLE_INDEX ? (range){(double)of[i].lo, (double)of[i].hi}
                                                      : (range){type->least, type->most};
    }
    for (int i = 0, num; i < c->num_tensors; i += num) {
        const int *stages = &c->order[i];
        num = num_together(c, i);
        const bool fits = check_together(&r, stages, num) == AT_OK;
        for (int k = 0; k < num; k++) {
            const at_tensor *t = &c->tensors[stages[k]];
            range *x = &r.of[stages[k]];
            if (t->role != AT_ROLE_STAGE || !at_type_of(t->type)->is_int) continue;
            *x = fits ? or_nothing(t, *x) : any_int;
            of[stages[k]] = (interval){(int64_t)ceil(x->lo), (int64_t)floor(x->hi), false};
        }
    }
}

at_status at_compute_check_whole(const at_compute *c, const int64_t *values, at_error *err) {
    if (!c->in_steps) return AT_OK;
    at_arena *a = at_arena_new();
    ranger r = {.c = c, .values = values, .of = AT_NEW_ARRAY(a, range, c->num_tensors), .err = err};
    int64_t **extents;
    at_status s = at_compute_extents(a, c, values, &extents, err);
    r.extents = extents;
    for (int i = 0; i < c->num_tensors; i++) {
        const at_type_facts *type = at_type_of(c->tensors[i].type);
        const bool is_given = c->tensors[i].role != AT_ROLE_STAGE && c->tensors[i].type == AT_S32;
        r.of[i] =
            is_given ? (range){-AT_MOST_GIVEN, AT_MOST_GIVEN} : (range){type->least, type->most};
    }
    for (int i = 0; i < c->num_tensors && s == AT_OK; i += num_together(c, i))
        s = check_together(&r, &c->order[i], num_together(c, i));
    at_arena_free(a);
    return s;
}
