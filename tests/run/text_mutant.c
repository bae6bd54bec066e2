#include "tests/run/text_mutant.h"

#include <math.h>
#include <string.h>

typedef struct spot {
    at_expr **at;
    int stage;
    bool in_index;
} spot;

typedef AT_VEC(spot) spots;

static bool is_float(const at_compute *c, const at_expr *e) {
    switch (e->op) {
    case AT_X_FLOAT:
    case AT_X_CALL: return true;
    case AT_X_INDEX: return c->tensors[e->ref].role != AT_ROLE_INDEX;
    case AT_X_NEG: return is_float(c, e->arg[0]);
    case AT_X_ADD:
    case AT_X_SUB:
    case AT_X_MUL:
    case AT_X_DIV:
    case AT_X_MIN:
    case AT_X_MAX: return is_float(c, e->arg[0]) || is_float(c, e->arg[1]);
    case AT_X_SELECT: return is_float(c, e->arg[1]) || is_float(c, e->arg[2]);
    default: return false;
    }
}

static void collect(at_arena *a, at_expr **at, int stage, bool in_index, spots *out) {
    *at_push(a, out) = (spot){at, stage, in_index};
    for (int i = 0; i < (*at)->nargs; i++)
        collect(a, &(*at)->arg[i], stage, in_index || (*at)->op == AT_X_INDEX, out);
}

static at_expr *node(at_arena *a, at_op op, at_expr *x, at_expr *y) {
    at_expr *args[] = {x, y};
    return at_expr_new(a, op, y ? 2 : 1, args);
}

static at_expr *axis_name(at_arena *a, const at_compute *c, int stage, int axis) {
    at_expr *e = at_expr_name(a, c->tensors[stage].axes[axis].name);
    e->ref = axis;
    return e;
}

static at_expr *plus(at_arena *a, at_expr *e, int64_t by) {
    return node(a, by < 0 ? AT_X_SUB : AT_X_ADD, e, at_expr_int(a, by < 0 ? -by : by));
}

static at_expr *real(at_arena *a, double x) {
    at_expr *e = at_expr_new(a, AT_X_FLOAT, 0, NULL);
    e->number = fabs(x);
    return x < 0 ? node(a, AT_X_NEG, e, NULL) : e;
}

/* ---- changes --------------------------------------------------------------------------------- */

static int one_of(at_rng *rng, int n) { return (int)at_rng_below(rng, (uint64_t)n); }

static at_expr *with_op(at_arena *a, const at_expr *e, at_op op) {
    at_expr *x = at_expr_new(a, op, e->nargs, e->arg);
    return x;
}

static at_op other_op(at_op op, at_rng *rng) {
    switch (op) {
    case AT_X_ADD: return AT_X_SUB;
    case AT_X_SUB: return AT_X_ADD;
    case AT_X_MUL: return one_of(rng, 2) ? AT_X_ADD : AT_X_SUB;
    case AT_X_DIV: return AT_X_MUL;
    case AT_X_MIN: return AT_X_MAX;
    case AT_X_MAX: return AT_X_MIN;
    case AT_X_LT: return one_of(rng, 2) ? AT_X_LE : AT_X_GE;
    case AT_X_LE: return one_of(rng, 2) ? AT_X_LT : AT_X_GT;
    case AT_X_GT: return one_of(rng, 2) ? AT_X_GE : AT_X_LE;
    case AT_X_GE: return one_of(rng, 2) ? AT_X_GT : AT_X_LT;
    case AT_X_EQ: return AT_X_NE;
    case AT_X_NE: return AT_X_EQ;
    case AT_X_AND: return AT_X_OR;
    case AT_X_OR: return AT_X_AND;
    default: return op;
    }
}

/* One operand alone, or another operation. */
static at_expr *change_binary(at_arena *a, const at_compute *c, at_expr *e, bool in_index,
                              at_rng *rng, const char **what) {
    const bool is_logical = at_op_compares(e->op);
    if (!is_logical && one_of(rng, 2)) {
        at_expr *x = e->arg[one_of(rng, 2)];
        if (!in_index && is_float(c, e) && !is_float(c, x)) x = node(a, AT_X_MUL, real(a, 1), x);
        return *what = "a term or factor is lost", x;
    }
    if (in_index && (e->op == AT_X_DIV || e->op == AT_X_MOD || e->op == AT_X_MUL)) return NULL;
    if (!in_index && c->in_steps && at_expr_is_whole(c, e) && !one_of(rng, 3)) {
        at_expr *most = node(a, AT_X_MIN, e, at_expr_int(a, 32767));
        return *what = "cut to 16 bits", node(a, AT_X_MAX, most, at_expr_int(a, -32768));
    }
    const at_op op = other_op(e->op, rng);
    if (op == e->op) return NULL;
    return *what = "another operation", with_op(a, e, op);
}

static at_expr *change_call(at_arena *a, at_expr *e, at_rng *rng, const char **what) {
    if (one_of(rng, 2)) return *what = "no function", node(a, AT_X_MUL, real(a, 1), e->arg[0]);
    at_expr *x = with_op(a, e, AT_X_CALL);
    x->integer = one_of(rng, AT_FUNCTION_COUNT);
    x->name = at_function_name((at_function)x->integer);
    return x->integer == e->integer ? NULL : (*what = "another function", x);
}

static at_expr *change_choice(at_arena *a, at_expr *e, at_rng *rng, const char **what) {
    at_expr *args[] = {e->arg[0], e->arg[2], e->arg[1]};
    const int which = one_of(rng, 3);
    if (!which) return *what = "sides exchanged", at_expr_new(a, AT_X_SELECT, 3, args);
    return *what = "no guard", e->arg[which];
}

static at_expr *change_read(at_arena *a, const at_compute *c, const spot *s, at_rng *rng,
                            const char **what) {
    at_expr *e = *s->at, *x = at_expr_new(a, AT_X_INDEX, e->nargs, e->arg);
    x->ref = e->ref;
    x->name = e->name;
    if (!e->nargs) return NULL;
    const int i = one_of(rng, e->nargs), j = one_of(rng, e->nargs);
    if (one_of(rng, 4) || i == j) {
        x->arg[i] = plus(a, e->arg[i], one_of(rng, 2) ? 1 : -1);
        return *what = "an index off by one", x;
    }
    (void)c;
    x->arg[i] = e->arg[j];
    x->arg[j] = e->arg[i];
    return *what = "indices exchanged", x;
}

static at_expr *change(at_arena *a, const at_compute *c, const spot *s, at_rng *rng,
                       const char **what) {
    at_expr *e = *s->at;
    switch (e->op) {
    case AT_X_INT: return *what = "another constant", plus(a, e, one_of(rng, 2) ? 1 : -1);
    case AT_X_FLOAT:
        if (isinf(e->number)) return *what = "another constant", real(a, 0);
        if (!one_of(rng, 3)) return *what = "another constant", real(a, e->number + 1);
        return *what = "another constant",
               real(a, one_of(rng, 2) && e->number != 0 ? e->number * 1.125 : e->number - 1);
    case AT_X_NAME:
        return s->in_index ? (*what = "an index off by one", plus(a, e, one_of(rng, 2) ? 1 : -1))
                           : NULL;
    case AT_X_INDEX: return change_read(a, c, s, rng, what);
    case AT_X_NEG: return *what = "no sign", e->arg[0];
    case AT_X_NOT: return *what = "no negation", e->arg[0];
    case AT_X_SELECT: return change_choice(a, e, rng, what);
    case AT_X_CALL: return change_call(a, e, rng, what);
    default: return change_binary(a, c, e, s->in_index, rng, what);
    }
}

/* The first or the last terms of a reduction are left out. */
static at_expr *cut_bound(at_arena *a, const at_compute *c, int stage, int64_t *const *extents,
                          at_rng *rng, const char **what) {
    const at_tensor *t = &c->tensors[stage];
    const int axis = t->num_axes + one_of(rng, t->num_reduce);
    const int64_t extent = extents[stage][axis];
    at_expr *name = axis_name(a, c, stage, axis), *bound, *args[3];
    if (t->axes[axis].begin) {
        at_expr *end =
            one_of(rng, 2) ? node(a, AT_X_SUB, t->axes[axis].end, at_expr_int(a, 1)) : NULL;
        bound = end ? node(a, AT_X_LT, name, end) : node(a, AT_X_GT, name, t->axes[axis].begin);
    } else {
        if (extent < 2) return NULL;
        const int64_t by =
            one_of(rng, 3) ? 1 : 1 + (int64_t)at_rng_below(rng, (uint64_t)extent / 2);
        bound = one_of(rng, 2) ? node(a, AT_X_LT, name, at_expr_int(a, extent - by))
                               : node(a, AT_X_GE, name, at_expr_int(a, by));
    }
    const double nothing = (double)at_reduction_neutral(t->reduction);
    args[0] = bound;
    args[1] = t->body;
    args[2] = real(a, nothing);
    *what = "a bound of a reduction";
    return at_expr_new(a, AT_X_SELECT, 3, args);
}

/* A maximum or a minimum that begins at 0. */
static at_expr *other_start(at_arena *a, const at_tensor *t, const char **what) {
    *what = "another start";
    return node(a, t->reduction == AT_REDUCE_MAX ? AT_X_MAX : AT_X_MIN, t->body, real(a, 0));
}

/* Only where an axis of the stage has one value, or a remainder. */
static at_expr *in_part(at_arena *a, const at_compute *c, int64_t *const *extents, at_rng *rng,
                        at_expr *body, at_expr *changed, text_mutant *m) {
    const at_tensor *t = &c->tensors[m->stage];
    if (!t->num_axes) return changed;
    const int axis = one_of(rng, t->num_axes);
    const int64_t extent = extents[m->stage][axis];
    if (extent < 2) return changed;
    at_expr *args[3] = {NULL, changed, body}, *name = axis_name(a, c, m->stage, axis);
    m->axis = axis;
    m->at = !one_of(rng, 3) ? extent - 1 : (int64_t)at_rng_below(rng, (uint64_t)extent);
    if (extent > 16 && one_of(rng, 2))
        args[0] =
            node(a, AT_X_EQ, node(a, AT_X_MOD, name, at_expr_int(a, 8)), at_expr_int(a, m->at % 8));
    else args[0] = node(a, AT_X_EQ, name, at_expr_int(a, m->at));
    return at_expr_new(a, AT_X_SELECT, 3, args);
}

/* A copy, whose spots are those of the original in the same order. */
static at_expr *copy(at_arena *a, const at_expr *e) {
    at_expr *x = at_copy(a, e, sizeof *e);
    x->arg = AT_NEW_ARRAY(a, at_expr *, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) x->arg[i] = copy(a, e->arg[i]);
    return x;
}

static bool try_one(at_arena *a, at_compute *c, int64_t *const *extents, at_rng *rng,
                    text_mutant *m) {
    spots all = {0};
    int stages[256], n = 0;
    for (int t = 0; t < c->num_tensors; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && !c->tensors[t].is_table) stages[n++] = t;
    m->stage = stages[one_of(rng, n)];
    m->axis = -1;
    at_tensor *t = &c->tensors[m->stage];
    at_expr *body = t->body, *changed = copy(a, body);
    if (t->num_reduce && !one_of(rng, 6)) {
        const bool begins = at_reduction_is_extreme(t->reduction) && !one_of(rng, 3);
        changed = begins ? other_start(a, t, &m->what)
                         : cut_bound(a, c, m->stage, extents, rng, &m->what);
        if (!changed) return false;
    } else {
        collect(a, &changed, m->stage, false, &all);
        const spot *s = &all.data[one_of(rng, all.len)];
        at_expr *x = change(a, c, s, rng, &m->what);
        if (!x) return false;
        *s->at = x;
    }
    const bool is_number = is_float(c, body) == is_float(c, changed);
    if (!is_number) changed = node(a, AT_X_MUL, real(a, 1), changed);
    if (!t->num_reduce || t->reduction == AT_REDUCE_SUM)
        if (one_of(rng, 3) == 0) changed = in_part(a, c, extents, rng, body, changed, m);
    m->slot = &t->body;
    m->before = body;
    t->body = changed;
    return true;
}

bool text_mutate(at_arena *a, at_compute *c, int64_t *const *extents, at_rng *rng,
                 text_mutant *out) {
    for (int i = 0; i < 100; i++)
        if (try_one(a, c, extents, rng, out)) {
            at_text text = {0};
            at_expr_print(&text, *out->slot);
            out->text = at_format(a, "%s: %s", c->tensors[out->stage].name, at_text_str(&text));
            at_text_free(&text);
            return true;
        }
    return false;
}

void text_restore(const text_mutant *m) { *m->slot = m->before; }
