/* schedule/reads.c: does every read of a computation lie within its tensor, and no index leave 64
 * bits? Nothing is run: an index is bounded over the box of its axes (interval.c). Where the bounds
 * do not suffice the box is halved, down to single points, at which they are exact; so what is
 * refused comes with a point at which it is wrong. */
#include "schedule/interval.h"

/* Nodes of expressions that are looked at; those of a template take some thousands. About a
 * second. */
static const int64_t most_steps = 60000000;

typedef struct checker {
    at_arena *arena;
    const at_compute *c;
    const at_data *data;
    const volatile int *stop; /* once it is set, nothing more is looked at */
    bounder b;
    const bool *by_list; /* [tensor] elements of index tensors decide its elements */
    at_error *err;
    /* the demand in hand */
    const at_expr *read; /* NULL: only that the number is one of 64 bits */
    int dimension;
    const at_expr *e;
    const guard *guards;
    int64_t lo, hi;          /* where e must lie */
    uint32_t axes, own_axes; /* that it depends on, with its guards and without them */
} checker;

static const at_tensor *current(const checker *k) { return &k->c->tensors[k->b.stage]; }

/* ---- messages -------------------------------------------------------------------------------- */

static bool stands_there(const at_expr *e, const void *other) {
    const at_expr *x = other;
    return e->op == x->op && e->line == x->line && e->col == x->col;
}

/* A read as it was written: definitions are substituted in what is checked. */
static const at_expr *as_written(const checker *k, const at_expr *e) {
    const at_tensor *t = current(k);
    const at_expr *found = at_expr_find(t->written, stands_there, e);
    for (int i = 0; i < t->num_defs && !found; i++)
        found = at_expr_find(t->defs[i].expr, stands_there, e);
    return found ? found : e;
}

static void add_point(const checker *k, at_text *out, const box *at) {
    const char *before = " where ";
    for (int i = 0; i < axes_of(current(k)); i++) {
        if (!(k->axes >> i & 1)) continue;
        at_text_addf(out, "%s%s = %lld", before, current(k)->axes[i].name, (long long)at->lo[i]);
        before = ", ";
    }
}

/* at NULL: there was no point found, and no proof. */
static at_status refuse(checker *k, const box *at, interval x) {
    const at_expr *e = k->read ? k->read : k->e;
    const at_lex lex = {.text = k->c->text, .what = k->c->what};
    at_text expr = {0}, text = {0};
    at_expr_print(&expr, as_written(k, e));
    at_text_addf(&text, "\"%s\"", current(k)->name);
    if (k->read) {
        at_text_addf(&text, " reads %s", at_text_str(&expr));
        if (!at || x.exceeds) at_text_addf(&text, ": its index");
        else at_text_addf(&text, " at index %lld", (long long)x.lo);
        if (k->read->nargs > 1) at_text_addf(&text, " of dimension %d", k->dimension + 1);
    } else {
        at_text_addf(&text, ": %s", at_text_str(&expr));
    }
    if (!at) {
        if (k->read)
            at_text_addf(&text, " cannot be shown to lie within 0 to %lld", (long long)k->hi);
        else at_text_add(&text, " cannot be shown to stay below 2^63");
        at_text_add(&text, "; a condition, min or max bounds it");
    } else {
        if (x.exceeds) at_text_add(&text, " exceeds 2^63");
        add_point(k, &text, at);
        if (!x.exceeds && k->hi < 0) at_text_add(&text, "; the extent is 0");
        else if (!x.exceeds)
            at_text_addf(&text, "; the extent is %lld, so 0 to %lld are accepted",
                         (long long)k->hi + 1, (long long)k->hi);
    }
    at_lex_fail_at(&lex, e->line, e->col, k->err, "%s", at_text_str(&text));
    at_text_free(&expr);
    at_text_free(&text);
    return AT_E_INPUT;
}

/* ---- one demand ------------------------------------------------------------------------------ */

/* An axis, and those that decide where it begins and ends. */
static at_walk add_axis(const at_expr *e, void *checking) {
    checker *k = checking;
    if (e->op != AT_X_NAME || e->ref >= AT_REF_SIZE || k->axes >> e->ref & 1) return AT_WALK_ON;
    const at_axis *axis = &current(k)->axes[e->ref];
    k->axes |= 1u << e->ref;
    if (axis->begin) at_expr_walk(axis->begin, add_axis, k);
    if (axis->begin) at_expr_walk(axis->end, add_axis, k);
    return AT_WALK_ON;
}

static bool reads_list(const at_expr *e, const void *checking) {
    const checker *k = checking;
    return e->op == AT_X_INDEX && k->by_list[e->ref];
}

/* Index tensors, and what is worked out of them. */
static void find_by_list(at_arena *a, checker *k) {
    bool *by_list = AT_NEW_ARRAY(a, bool, k->c->num_tensors);
    k->by_list = by_list;
    for (int t = 0; t < k->c->num_tensors; t++) {
        const at_tensor *x = &k->c->tensors[t];
        by_list[t] = x->role == AT_ROLE_INDEX ||
                     (x->role == AT_ROLE_STAGE && at_expr_find(x->body, reads_list, k));
    }
}

static bool reads_computed(const at_expr *e, const void *compute) {
    return e->op == AT_X_INDEX && ((const at_compute *)compute)->tensors[e->ref].is_places;
}

/* Does it hang on elements of index tensors? */
static bool hangs_on_data(const checker *k) {
    if (at_expr_find(k->e, reads_list, k)) return true;
    for (const guard *g = k->guards; g; g = g->outer)
        if (at_expr_find(g->condition, reads_list, k)) return true;
    for (int i = 0; i < axes_of(current(k)); i++) {
        const at_axis *axis = &current(k)->axes[i];
        if ((k->axes >> i & 1) && axis->begin &&
            (at_expr_find(axis->begin, reads_list, k) || at_expr_find(axis->end, reads_list, k)))
            return true;
    }
    return false;
}

/* Axes whose bounds are data run no further than those let them. False: one does not run at all. */
static bool cut_to_bounds(checker *k, box *at) {
    for (int i = current(k)->num_axes; i < axes_of(current(k)); i++) {
        const at_axis *axis = &current(k)->axes[i];
        if (!axis->begin) continue;
        interval begin = interval_of(&k->b, at, NULL, axis->begin);
        interval end = interval_of(&k->b, at, NULL, axis->end);
        if (!begin.exceeds && begin.lo > at->lo[i]) at->lo[i] = begin.lo;
        if (!end.exceeds && end.hi <= at->lo[i]) return false;
        if (!end.exceeds && end.hi <= at->hi[i]) at->hi[i] = end.hi - 1;
        if (at->lo[i] > at->hi[i]) return false;
    }
    return true;
}

/* What the guards say of the box, from the outermost on. */
static int truth_of_guards(checker *k, const box *at, const guard *g) {
    if (!g) return CAN_HOLD;
    int outer = truth_of_guards(k, at, g->outer);
    if (outer == CAN_FAIL) return outer;
    int truth = truth_of(&k->b, at, g->outer, g->condition);
    if (truth == (g->holds ? CAN_FAIL : CAN_HOLD)) return CAN_FAIL;
    return outer == CAN_HOLD && truth == (g->holds ? CAN_HOLD : CAN_FAIL) ? CAN_HOLD
                                                                          : CAN_FAIL | CAN_HOLD;
}

/* The widest of these axes; -1: they are at one point. */
static int widest_of(const checker *k, const box *at, uint32_t axes) {
    int best = -1;
    uint64_t width = 0;
    for (int i = 0; i < axes_of(current(k)); i++) {
        uint64_t w = (uint64_t)at->hi[i] - (uint64_t)at->lo[i];
        if (!(axes >> i & 1) || w <= width) continue;
        best = i;
        width = w;
    }
    return best;
}

/* The axis to halve, one of the number's own before those of conditions alone; -1: it is one
 * point. */
static int widest(const checker *k, const box *at) {
    const int own = widest_of(k, at, k->own_axes);
    return own >= 0 ? own : widest_of(k, at, k->axes);
}

static at_status check_box(checker *k, const box *whole) {
    box at = *whole;
    if (at_is_stopped(k->stop)) return AT_OK;
    if (!cut_to_bounds(k, &at)) return AT_OK;
    int guarded = truth_of_guards(k, &at, k->guards);
    if (guarded == CAN_FAIL) return AT_OK;
    interval x = interval_of(&k->b, &at, k->guards, k->e);
    if (!x.exceeds && x.lo >= k->lo && x.hi <= k->hi) return AT_OK;
    /* of computed elements no point tells more than all */
    if (k->b.steps > k->b.most_steps || at_expr_find(k->e, reads_computed, k->c))
        return refuse(k, NULL, x);
    int axis = widest(k, &at);
    if (axis < 0) return refuse(k, &at, x);
    const int64_t lo = at.lo[axis], hi = at.hi[axis];
    const int64_t middle = lo + (int64_t)(((uint64_t)hi - (uint64_t)lo) / 2);
    at.hi[axis] = middle;
    AT_TRY(check_box(k, &at));
    at.lo[axis] = middle + 1;
    at.hi[axis] = hi;
    return check_box(k, &at);
}

static at_status demand(checker *k, const at_expr *e, const guard *g, int64_t lo, int64_t hi) {
    box whole = {{0}, {0}};
    k->e = e;
    k->guards = g;
    k->lo = lo;
    k->hi = hi;
    k->axes = 0;
    at_expr_walk(e, add_axis, k);
    k->own_axes = k->axes;
    for (; g; g = g->outer) at_expr_walk(g->condition, add_axis, k);
    if (!k->data && hangs_on_data(k)) return AT_OK;
    for (int i = 0; i < axes_of(current(k)); i++) {
        int64_t extent = k->b.extents[k->b.stage][i];
        bool dynamic = current(k)->axes[i].begin != NULL;
        whole.lo[i] = dynamic ? INT64_MIN : 0;
        whole.hi[i] = dynamic ? INT64_MAX : extent - 1;
    }
    return check_box(k, &whole);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_condition(const at_expr *e) {
    return e->op == AT_X_NOT || (e->op >= AT_X_LT && e->op <= AT_X_OR);
}

static at_status check(checker *k, const at_expr *e, const guard *g, bool within_integer);

static at_status check_under(checker *k, const at_expr *e, const guard *outer,
                             const at_expr *condition, bool holds, bool within_integer) {
    guard *g = AT_NEW(k->arena, guard);
    guard_init(&k->b, g, outer, condition, holds);
    return check(k, e, g, within_integer);
}

static at_status check_read(checker *k, const at_expr *e, const guard *g) {
    for (int i = 0; i < e->nargs; i++) {
        AT_TRY(check(k, e->arg[i], g, true));
        k->read = e;
        k->dimension = i;
        AT_TRY(demand(k, e->arg[i], g, 0, k->b.extents[e->ref][i] - 1));
    }
    return AT_OK;
}

/* e is evaluated where the guards hold; within_integer: as a part of a number that is looked at. */
static at_status check(checker *k, const at_expr *e, const guard *g, bool within_integer) {
    if (at_expr_is_number(e) || e->op == AT_X_NAME) return AT_OK;
    bool integer = !is_condition(e) && !is_float_expr(k->c, e);
    if (e->op == AT_X_INDEX) return check_read(k, e, g);
    if (e->op == AT_X_SELECT || e->op == AT_X_AND || e->op == AT_X_OR) {
        AT_TRY(check(k, e->arg[0], g, false));
        AT_TRY(
            check_under(k, e->arg[1], g, e->arg[0], e->op != AT_X_OR, within_integer || integer));
        if (e->op == AT_X_SELECT)
            AT_TRY(check_under(k, e->arg[2], g, e->arg[0], false, within_integer || integer));
    } else {
        for (int i = 0; i < e->nargs; i++)
            AT_TRY(check(k, e->arg[i], g, within_integer || integer));
    }
    if (!integer || within_integer) return AT_OK;
    k->read = NULL;
    return demand(k, e, g, INT64_MIN, INT64_MAX);
}

at_status at_compute_check_reads(const at_compute *c, const int64_t *values, const at_data *data,
                                 const volatile int *stop, at_error *err) {
    AT_TRY(at_compute_check_whole(c, values, err));
    at_arena *a = at_arena_new();
    int64_t **extents;
    at_status s = at_compute_extents(a, c, values, &extents, err);
    checker k = {.arena = a, .c = c, .data = data, .stop = stop, .err = err};
    if (s == AT_OK) k.b = bounder_of(a, c, values, extents, data, stop);
    k.b.most_steps = most_steps;
    find_by_list(a, &k);
    for (int t = 0; t < c->num_tensors && s == AT_OK; t++) {
        const at_tensor *x = &c->tensors[t];
        k.b.stage = t;
        for (int i = x->num_axes; i < axes_of(x) && s == AT_OK; i++) {
            if (!x->axes[i].begin) continue;
            s = check(&k, x->axes[i].begin, NULL, false);
            if (s == AT_OK) s = check(&k, x->axes[i].end, NULL, false);
        }
        if (s == AT_OK && x->role == AT_ROLE_STAGE) s = check(&k, x->body, NULL, false);
    }
    at_arena_free(a);
    return at_is_stopped(stop) ? at_fail_stopped(err) : s;
}
