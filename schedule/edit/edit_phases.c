/* schedule/edit/edit_phases.c: E17, a sum of which a remainder leaves every S-th term: each phase
 * of an axis has the terms that count, and the sum no condition. */
#include "schedule/edit/edit_phases.h"

#include <string.h>

#include "schedule/access.h"
#include "schedule/index_sum.h"
#include "schedule/edit/rewrite.h"

/* The condition `place % step == 0` without which the terms are 0. */
typedef struct phases {
    rewrite *w;
    const at_tensor *sum;
    int axis, reduction; /* place moves by `along` and `back`, each 1 or -1, along these alone, */
    int along, back;     /* and so many times the factor along the reduction; NULL: 1. -1: none */
    const at_expr *place, *step, *factor;
    at_phase_inverse by;
    at_expr *value[MAX_AXES]; /* what stands for the sum's axes */
    at_expr *quotient;        /* place / step */
    at_expr *remainder;       /* of a phase that terms count of it is 0; NULL: of each they do */
} phases;

/* ---- the condition --------------------------------------------------------------------------- */

static bool is_times_axis(const at_expr *e, int axis) {
    return e->op == AT_X_MUL &&
           (at_expr_is_name(e->arg[0], axis) || at_expr_is_name(e->arg[1], axis));
}

/* How a place moves along an axis, as at_index_step says it, but for a factor from 1 on. */
static int step_by_factor(const at_expr *e, int axis, const at_expr **factor) {
    if (is_times_axis(e, axis)) {
        const at_expr *by = e->arg[at_expr_is_name(e->arg[0], axis)];
        if (!at_expr_is_size(by) || (by->op == AT_X_INT && by->integer < 1)) return AT_STEP_OTHER;
        if (by->op != AT_X_INT || by->integer > 1) *factor = by;
        return 1;
    }
    if (!at_expr_uses(e, axis) || (e->op != AT_X_NEG && e->op != AT_X_ADD && e->op != AT_X_SUB))
        return at_index_step(e, axis);
    const bool is_second = e->nargs > 1 && at_expr_uses(e->arg[1], axis);
    if (is_second && at_expr_uses(e->arg[0], axis)) return AT_STEP_OTHER;
    const int step = step_by_factor(e->arg[is_second], axis, factor);
    const bool turns = e->op == AT_X_NEG || (e->op == AT_X_SUB && is_second);
    return step == AT_STEP_OTHER || !turns ? step : -step;
}

static bool find_steps(phases *x, const at_expr *place) {
    x->reduction = -1;
    x->factor = NULL;
    x->along = at_index_step(place, x->axis);
    for (int k = 0; k < axes_of(x->sum); k++) {
        const int step =
            k < x->sum->num_axes ? at_index_step(place, k) : step_by_factor(place, k, &x->factor);
        if (k == x->axis || !step) continue;
        if (k < x->sum->num_axes || x->reduction >= 0 || step == AT_STEP_OTHER) return false;
        x->reduction = k;
        x->back = step;
    }
    return x->along && x->along != AT_STEP_OTHER &&
           (x->reduction < 0 || !x->sum->axes[x->reduction].begin);
}

static bool is_zero_remainder(const at_expr *e) {
    return e->op == AT_X_EQ && e->arg[0]->op == AT_X_MOD && is_zero_expr(e->arg[1]) &&
           at_expr_is_size(e->arg[0]->arg[1]);
}

static bool is_quotient(const at_expr *e, const void *ctx) {
    const phases *x = ctx;
    return e->op == AT_X_DIV && at_expr_equal(e->arg[0], x->place) &&
           at_expr_equal(e->arg[1], x->step);
}

/* Of a place that the axis alone moves the quotient counts, too: terms are 0 in whole elements. */
static at_walk find_in_condition(const at_expr *e, void *ctx) {
    phases *x = ctx;
    if (e->op == AT_X_AND) return AT_WALK_ON;
    if (!is_zero_remainder(e) || !find_steps(x, e->arg[0]->arg[0])) return AT_WALK_PAST;
    x->place = e->arg[0]->arg[0];
    x->step = e->arg[0]->arg[1];
    return x->reduction >= 0 || at_expr_find(x->sum->body, is_quotient, x) ? AT_WALK_END
                                                                           : AT_WALK_PAST;
}

/* Among the factors of the term. */
static at_walk find_in_factors(const at_expr *e, void *x) {
    if (e->op == AT_X_MUL || e->op == AT_X_NEG) return AT_WALK_ON;
    if (e->op != AT_X_SELECT || !is_zero_expr(e->arg[2])) return AT_WALK_PAST;
    const bool found = at_expr_walk(e->arg[0], find_in_condition, x) ||
                       at_expr_walk(e->arg[1], find_in_factors, x);
    return found ? AT_WALK_END : AT_WALK_PAST;
}

static at_walk find_remainder(const at_expr *e, void *step) {
    if (e->op == AT_X_AND) return AT_WALK_ON;
    if (!is_zero_remainder(e)) return AT_WALK_PAST;
    *(const at_expr **)step = e->arg[0]->arg[1];
    return AT_WALK_END;
}

const at_expr *at_edit_zeros_between(const at_tensor *stage) {
    const at_expr *e = stage->body, *step = NULL;
    if (!stage->num_reduce && e->op == AT_X_SELECT && is_zero_expr(e->arg[2]))
        at_expr_walk(e->arg[0], find_remainder, &step);
    return step;
}

static bool has_phases(phases *x) {
    return x->sum->num_reduce && x->sum->reduction == AT_REDUCE_SUM &&
           at_expr_walk(x->sum->body, find_in_factors, x);
}

bool at_edit_has_phases(const at_tensor *sum, int axis, at_phase_steps *out) {
    phases x = {.sum = sum, .axis = axis};
    const bool has = has_phases(&x);
    *out = (at_phase_steps){x.step, x.factor};
    return has;
}

/* By Euclid's algorithm: each rest is the factor so many times, modulo the step. */
at_phase_inverse at_phase_inverse_of(int64_t step, int64_t factor) {
    int64_t common = step, times = 0, rest = factor % step, next_times = 1;
    while (rest) {
        const int64_t quotient = common / rest, next = common % rest,
                      left = times - quotient * next_times;
        common = rest, times = next_times;
        rest = next, next_times = left;
    }
    const int64_t steps = step / common, inverse = (times % steps + steps) % steps;
    return (at_phase_inverse){inverse ? inverse : 1, common};
}

/* ---- expressions ----------------------------------------------------------------------------- */

static at_expr *binary(const phases *x, at_op op, at_expr *a, at_expr *b) {
    return at_expr_pair(x->w->arena, op, a, b);
}

static at_expr *step_of(const phases *x) { return rewrite_copy_expr(x->w->arena, x->step); }

static at_expr *number(const phases *x, int64_t n) { return at_expr_int(x->w->arena, n); }

static bool is_one(const at_expr *e) { return e->op == AT_X_INT && e->integer == 1; }

/* x / step, of a size or a phase: down, or up. */
static at_expr *divided_by(const phases *x, at_expr *e, const at_expr *step, bool up) {
    at_arena *a = x->w->arena;
    if (is_one(step)) return e;
    if (up)
        e = binary(x, AT_X_SUB, binary(x, AT_X_ADD, e, rewrite_copy_expr(a, step)), number(x, 1));
    return binary(x, AT_X_DIV, e, rewrite_copy_expr(a, step));
}

static at_expr *divided(const phases *x, at_expr *e, bool up) {
    return divided_by(x, e, x->step, up);
}

/* A step or a factor without what the two have in common. */
static at_expr *without_common(const phases *x, const at_expr *size) {
    if (size->op == AT_X_INT) return number(x, size->integer / x->by.common);
    return divided_by(x, rewrite_copy_expr(x->w->arena, size), number(x, x->by.common), false);
}

static at_expr *times(const phases *x, at_expr *factor, at_expr *e) {
    return is_one(factor) ? e : binary(x, AT_X_MUL, factor, e);
}

static at_expr *sum_of(const phases *x, at_expr *a, int sign, at_expr *b) {
    if (!a && sign < 0) return at_expr_new(x->w->arena, AT_X_NEG, 1, &b);
    return a ? binary(x, sign < 0 ? AT_X_SUB : AT_X_ADD, a, b) : b;
}

/* The place without its two axes; NULL: nothing is left. */
static at_expr *rest_of(const phases *x, const at_expr *e) {
    if (e->op == AT_X_NAME && (e->ref == x->axis || e->ref == x->reduction)) return NULL;
    if (is_times_axis(e, x->reduction)) return NULL;
    if (at_expr_is_size(e)) return rewrite_copy_expr(x->w->arena, e);
    at_expr *a = rest_of(x, e->arg[0]), *b = e->nargs > 1 ? rest_of(x, e->arg[1]) : NULL;
    if (e->op == AT_X_NEG) return a ? at_expr_new(x->w->arena, AT_X_NEG, 1, &a) : NULL;
    return b ? sum_of(x, a, e->op == AT_X_SUB ? -1 : 1, b) : a;
}

static at_expr *with_phases(const phases *x, const at_expr *e);

/* A sum of sizes as an expression. */
static at_expr *size_of(const phases *x, const index_sum *s) {
    at_arena *a = x->w->arena;
    at_expr *e = NULL;
    for (int i = 0; i < s->num; i++) {
        const index_part *of = &s->of[i];
        const int64_t by = of->by < 0 ? -of->by : of->by;
        at_expr *part = of->size ? rewrite_copy_expr(a, of->size) : at_expr_int(a, by);
        if (of->size && by != 1) part = binary(x, AT_X_MUL, at_expr_int(a, by), part);
        e = sum_of(x, e, of->by < 0 ? -1 : 1, part);
    }
    return e ? e : at_expr_int(a, 0);
}

/* Is a - b the place `times` times, 1 or -1, and a sum of sizes, *rest? */
static bool is_place_and(const phases *x, const at_expr *a, const at_expr *b, int times,
                         index_sum *rest) {
    *rest = (index_sum){.num = 0};
    return index_sum_add(rest, a, 1, NULL) && index_sum_add(rest, b, -1, NULL) &&
           index_sum_add(rest, x->place, -times, NULL) && !index_sum_axes(rest);
}

/* A comparison of the place, and a size, with a size, as one of the quotient; NULL: it is none. */
static at_expr *bound_of(const phases *x, const at_expr *e) {
    static const at_op turned[] = {
        [AT_X_LT] = AT_X_GT, [AT_X_LE] = AT_X_GE, [AT_X_GT] = AT_X_LT, [AT_X_GE] = AT_X_LE};
    index_sum rest; /* place op rest */
    if (!at_op_orders(e->op)) return NULL;
    const bool is_left = is_place_and(x, e->arg[0], e->arg[1], 1, &rest);
    if (!is_left && !is_place_and(x, e->arg[0], e->arg[1], -1, &rest)) return NULL;
    for (int i = 0; is_left && i < rest.num; i++) rest.of[i].by = -rest.of[i].by;
    const at_op op = is_left ? e->op : turned[e->op];
    at_expr *limit = rest.num ? divided(x, size_of(x, &rest), op == AT_X_LT || op == AT_X_GE)
                              : at_expr_int(x->w->arena, 0);
    return binary(x, op, rewrite_copy_expr(x->w->arena, x->quotient), limit);
}

/* a && b without what always holds: NULL does. */
static at_expr *both(const phases *x, at_expr *a, at_expr *b) {
    return a && b ? binary(x, AT_X_AND, a, b) : a ? a : b;
}

/* NULL: it always holds. */
static at_expr *condition_of(const phases *x, const at_expr *e) {
    if (e->op == AT_X_AND) return both(x, condition_of(x, e->arg[0]), condition_of(x, e->arg[1]));
    if (is_zero_remainder(e) && at_expr_equal(e->arg[0]->arg[0], x->place) &&
        at_expr_equal(e->arg[0]->arg[1], x->step))
        return x->remainder ? rewrite_copy_expr(x->w->arena, x->remainder) : NULL;
    return with_phases(x, e);
}

/* A comparison that says how large the place, or the quotient, is at most. */
static bool is_upper_bound(const at_expr *e, const void *ctx) {
    const bool is_left = e->op == AT_X_LT || e->op == AT_X_LE;
    if (!is_left && e->op != AT_X_GT && e->op != AT_X_GE) return false;
    const at_expr *of = e->arg[is_left ? 0 : 1];
    return at_expr_equal(of, ((const phases *)ctx)->place) || is_quotient(of, ctx);
}

/* Where steps do not divide the axis, its last phases go on behind the end of the axis. */
static bool goes_beyond(const phases *x) {
    const at_expr *length = x->sum->axes[x->axis].extent;
    return x->along > 0 && length->op == AT_X_INT && x->step->op == AT_X_INT &&
           length->integer % x->step->integer;
}

typedef struct read_limits {
    const phases *x;
    at_expr *all; /* NULL: none */
} read_limits;

/* What a read by the quotient needs to stay within its tensor. */
static at_walk add_limit(const at_expr *e, void *ctx) {
    read_limits *l = ctx;
    const phases *x = l->x;
    for (int d = 0; d < e->nargs && e->op == AT_X_INDEX; d++) {
        const at_expr *length = x->w->old->tensors[e->ref].axes[d].extent;
        if (!is_quotient(e->arg[d], x)) continue;
        l->all = both(x, l->all,
                      binary(x, AT_X_LT, rewrite_copy_expr(x->w->arena, x->quotient),
                             rewrite_copy_expr(x->w->arena, length)));
    }
    return AT_WALK_ON;
}

/* A choice's condition; where it says no upper bound, since up to the axis' end none is needed, but
 * a phase goes on behind that, reads stay within their tensors. */
static at_expr *choice_of(const phases *x, const at_expr *e) {
    read_limits limits = {.x = x};
    if (goes_beyond(x) && !at_expr_find(e->arg[0], is_upper_bound, x))
        at_expr_walk(e->arg[1], add_limit, &limits);
    return both(x, condition_of(x, e->arg[0]), limits.all);
}

static at_expr *with_phases(const phases *x, const at_expr *e) {
    at_arena *a = x->w->arena;
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE) return rewrite_copy_expr(a, x->value[e->ref]);
    if (at_expr_equal(e, x->place))
        return binary(x, AT_X_MUL, step_of(x), rewrite_copy_expr(a, x->quotient));
    if (is_quotient(e, x)) return rewrite_copy_expr(a, x->quotient);
    if (e->op == AT_X_SELECT) {
        at_expr *arg[] = {choice_of(x, e), with_phases(x, e->arg[1]), with_phases(x, e->arg[2])};
        return arg[0] ? at_expr_new(a, AT_X_SELECT, 3, arg) : arg[1];
    }
    at_expr *bound = bound_of(x, e);
    if (bound) return bound;
    at_expr *out = rewrite_copy_expr(a, e);
    for (int i = 0; i < e->nargs; i++) out->arg[i] = with_phases(x, e->arg[i]);
    return out;
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* Which of the sum's terms counts first in a phase, where the place without its axes is `at`. */
static at_expr *first_term(const phases *x, at_expr *at, const at_expr *steps) {
    at_arena *a = x->w->arena;
    at_expr *left = x->back < 0 ? rewrite_copy_expr(a, at) : at_expr_new(a, AT_X_NEG, 1, &at);
    left = divided_by(x, left, number(x, x->by.common), false);
    return binary(x, AT_X_MOD, times(x, number(x, x->by.inverse), left),
                  rewrite_copy_expr(a, steps));
}

/* What stands for the sum's axes, the quotient and the condition. */
static void set_values(phases *x, const at_expr *steps, const char *phase) {
    at_arena *a = x->w->arena;
    at_expr *at = sum_of(x, rest_of(x, x->place), x->along, at_expr_name(a, phase)),
            *first = is_one(steps) ? NULL : first_term(x, at, steps), *axis = x->value[x->axis],
            *moved = NULL;
    const at_expr *common = x->reduction < 0 ? x->step : number(x, x->by.common);
    if (!is_one(common))
        x->remainder = binary(
            x, AT_X_EQ, binary(x, AT_X_MOD, rewrite_copy_expr(a, at), rewrite_copy_expr(a, common)),
            number(x, 0));
    if (x->reduction >= 0) {
        at_expr *reduction = moved = x->value[x->reduction];
        if (x->factor) moved = times(x, without_common(x, x->factor), moved);
        if (first)
            x->value[x->reduction] = binary(
                x, AT_X_ADD, binary(x, AT_X_MUL, rewrite_copy_expr(a, steps), reduction), first);
    }
    if (x->factor && first)
        at = sum_of(
            x, at, x->back,
            binary(x, AT_X_MUL, rewrite_copy_expr(a, x->factor), rewrite_copy_expr(a, first)));
    x->quotient = sum_of(x, divided(x, at, !x->factor && x->back > 0), x->along, axis);
    if (moved) x->quotient = sum_of(x, x->quotient, x->back, moved);
    x->value[x->axis] =
        binary(x, AT_X_ADD, binary(x, AT_X_MUL, step_of(x), axis), at_expr_name(a, phase));
}

/* Along the axis and the reduction it goes by steps, and the phase comes first. */
static at_tensor stage_of(phases *x, const char *name, bool is_whole) {
    at_arena *a = x->w->arena;
    const at_tensor *s = x->sum;
    at_tensor t = {.name = name,
                   .role = AT_ROLE_STAGE,
                   .type = s->type,
                   .reduction = s->reduction,
                   .num_axes = s->num_axes + 1,
                   .num_reduce = s->num_reduce,
                   .axes = AT_NEW_ARRAY(a, at_axis, axes_of(s) + 1)};
    const char *phase = rewrite_fresh(x->w, at_format(a, "%s_p", s->axes[x->axis].name));
    const at_expr *steps = x->reduction < 0 ? number(x, 1) : without_common(x, x->step);
    t.axes[0] = (at_axis){.name = phase, .extent = step_of(x)};
    for (int k = 0; k < axes_of(s); k++) {
        at_axis *to = &t.axes[k + 1];
        *to =
            (at_axis){s->axes[k].name, rewrite_copy_expr(a, s->axes[k].extent),
                      rewrite_copy_expr(a, s->axes[k].begin), rewrite_copy_expr(a, s->axes[k].end)};
        x->value[k] = at_expr_name(a, to->name);
        if (k == x->axis) to->extent = divided(x, to->extent, true);
        if (k == x->reduction) to->extent = divided_by(x, to->extent, steps, true);
    }
    set_values(x, steps, phase);
    at_expr *inside = NULL;
    if (!is_whole && x->reduction >= 0)
        inside = binary(x, AT_X_LT, rewrite_copy_expr(a, x->value[x->reduction]),
                        rewrite_copy_expr(a, s->axes[x->reduction].extent));
    t.written = rewrite_guarded(a, inside, with_phases(x, s->body));
    return t;
}

/* What had the sum's name: of each element the one of its phase. */
static at_expr *picked(const phases *x, const char *name) {
    at_arena *a = x->w->arena;
    const int n = x->sum->num_axes;
    at_expr **index = AT_NEW_ARRAY(a, at_expr *, n + 1);
    for (int k = 0; k < n; k++) index[k + 1] = at_expr_name(a, x->sum->axes[k].name);
    index[0] = binary(x, AT_X_MOD, rewrite_copy_expr(a, index[x->axis + 1]), step_of(x));
    index[x->axis + 1] = divided(x, index[x->axis + 1], false);
    return at_expr_read(a, name, n + 1, index);
}

at_status at_edit_phases(at_arena *a, const at_tree *t, const char *stage, const char *axis,
                         const char *name, at_phase_inverse by, bool is_whole,
                         const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w;
    phases x = {.w = &w, .by = by};
    tree_node *leaf;
    AT_TRY(rewrite_start_leaf(&w, a, t, name, stage, &x.sum, &leaf, err));
    while (x.axis < x.sum->num_axes && strcmp(x.sum->axes[x.axis].name, axis)) x.axis++;
    if (x.axis == x.sum->num_axes || !has_phases(&x))
        return at_fail(err, AT_E_INPUT,
                       "@%s is no sum of whose terms a remainder along \"%s\" leaves every n-th",
                       stage, axis);
    if (by.inverse < 1 || by.common < 1 || (!x.factor && by.inverse * by.common != 1))
        return at_fail(err, AT_E_INPUT, "inverse %lld and common %lld undo no factor of @%s",
                       (long long)by.inverse, (long long)by.common, stage);
    at_tensor sum = stage_of(&x, name, is_whole), copy = at_tensor_copy(a, x.sum);
    copy.num_reduce = copy.num_defs = 0;
    copy.written = picked(&x, name);
    tree_node *outermost = rewrite_outermost(leaf);
    tree_insert(w.made, outermost, true, rewrite_plain_nest(&w, &sum));
    tree_insert(w.made, outermost, false, rewrite_plain_nest(&w, &copy));
    tree_remove(w.made, leaf);
    *rewrite_find(&w, stage) = copy;
    rewrite_insert(&w, stage, sum);
    return rewrite_finish(&w, compute, out);
}
