/* codegen/placed_terms.c: the statement of a leaf whose terms say where they belong.
 *
 *     @h[scatter] = 0, c // n     ->     h[.., c] += v[n, c] at (i[n])
 *
 * A place is a whole number in a float; one outside of the axis is none. What else decides whether
 * a term counts decides it as in any sum, where it is a condition over indices; where it compares
 * values, the place is -1 if it fails. */
#include "codegen/dissolve.h"

typedef struct {
    at_low *l;
    const at_tensor *t;
    at_scatter places;
    const at_aff *const *axes;
    const at_value *place;
} scatterer;

static at_expr *binary(scatterer *x, at_op op, const at_expr *a, const at_expr *b) {
    return at_expr_pair(x->l->arena, op, (at_expr *)a, (at_expr *)b);
}

static at_expr *choice(scatterer *x, const at_expr *c, const at_expr *a, const at_expr *b) {
    return at_expr_new(x->l->arena, AT_X_SELECT, 3,
                       (at_expr *[]){(at_expr *)c, (at_expr *)a, (at_expr *)b});
}

static at_expr *number(scatterer *x, double value) {
    at_expr *e = at_expr_new(x->l->arena, AT_X_FLOAT, 0, NULL);
    e->number = value;
    return e;
}

/* ---- places ---------------------------------------------------------------------------------- */

/* A place along an axis as a number; one that is not whole is -1. asks: so is one outside of the
 * axis, which else is asked as the term is joined. */
static at_expr *place_along(scatterer *x, int axis, bool asks) {
    const at_compute *c = x->l->program->compute;
    const at_expr *e = x->places.place[axis], *none = number(x, -1);
    at_expr *value = binary(x, AT_X_ADD, e, number(x, 0)), *counts = NULL;
    if (!at_expr_is_whole(c, e)) {
        at_expr *whole = at_expr_new(x->l->arena, AT_X_CALL, 1, (at_expr *[]){value});
        whole->integer = AT_FUNCTION_FLOOR;
        counts = binary(x, AT_X_EQ, whole, value);
    }
    if (asks) {
        const int64_t extent = x->l->program->extents[x->l->leaf->tensor][axis];
        at_expr *inside = binary(x, AT_X_AND, binary(x, AT_X_GE, value, number(x, 0)),
                                 binary(x, AT_X_LT, value, number(x, (double)extent)));
        counts = counts ? binary(x, AT_X_AND, counts, inside) : inside;
    }
    return counts ? choice(x, counts, value, none) : value;
}

/* All places of a term as one, in the order of their axes. */
static const at_value *place_of(scatterer *x, at_stmt *s) {
    enum { MOST = 1 << 24 }; /* whole numbers up to it are floats */
    const int64_t *extents = x->l->program->extents[x->l->leaf->tensor];
    at_expr *all = NULL, *counts = NULL;
    const bool several = (x->places.axes & (x->places.axes - 1)) != 0;
    int last = -1;
    s->num_places = 1;
    for (int k = 0; k < x->t->num_axes; k++) {
        if (!(x->places.axes >> k & 1)) continue;
        if (last >= 0 && last != k - 1)
            at_lower_fail(x->l, "@%s has places along axes that do not stand side by side",
                          x->t->name);
        last = k;
        s->num_places *= extents[k];
        at_expr *e = place_along(x, k, several);
        at_expr *inside = binary(x, AT_X_GE, e, number(x, 0));
        counts = counts ? binary(x, AT_X_AND, counts, inside) : inside;
        all = all ? binary(x, AT_X_ADD, binary(x, AT_X_MUL, all, number(x, (double)extents[k])), e)
                  : e;
        if (s->num_places > MOST) break;
    }
    if (s->num_places > MOST) at_lower_fail(x->l, "@%s has more than 2^24 places", x->t->name);
    if (several) all = choice(x, counts, all, number(x, -1));
    return at_value_expr(x->l, all, x->axes);
}

/* ---- the term -------------------------------------------------------------------------------- */

enum { MOST_CONDITIONS = 64 };

/* What is asked of a term before it counts, in its order. */
typedef struct {
    const at_cond *of[MOST_CONDITIONS];
    int num;
} conditions;

static void add_condition(scatterer *x, const at_cond *c, conditions *out) {
    if (out->num == MOST_CONDITIONS)
        at_lower_fail(x->l, "@%s has more than %d conditions", x->t->name, MOST_CONDITIONS);
    else out->of[out->num++] = c;
}

static bool is_read(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_INDEX;
}

static bool is_of_indices(const scatterer *x, const at_expr *e) {
    const at_compute *c = x->l->program->compute;
    return !at_expr_reads_role(c, e, AT_ROLE_INPUT) && !at_expr_reads_role(c, e, AT_ROLE_STAGE) &&
           !at_expr_reads_role(c, e, AT_ROLE_WEIGHT) && at_expr_is_whole(c, e);
}

/* A term that reads at its own place must not be read where that place lies outside of the axis.
 */
static void ask_place(scatterer *x, int axis, conditions *out) {
    at_low *l = x->l;
    const at_expr *e = x->places.place[axis];
    const int64_t extent = l->program->extents[l->leaf->tensor][axis];
    if (!at_expr_find_index(x->t->body, is_read, NULL) || !is_of_indices(x, e)) return;
    at_expr *inside = binary(x, AT_X_AND, binary(x, AT_X_GE, e, at_expr_int(l->arena, 0)),
                             binary(x, AT_X_LT, e, at_expr_int(l->arena, extent)));
    add_condition(x, at_cond_expr(l, inside, x->axes), out);
}

/* A condition, part by part; one that compares values decides the place. */
static void ask(scatterer *x, const at_expr *e, conditions *out) {
    at_low *l = x->l;
    const int axis = at_scatter_equation(&x->places, e);
    if (e->op == AT_X_AND) {
        ask(x, e->arg[0], out);
        ask(x, e->arg[1], out);
        return;
    }
    if (axis >= 0) {
        ask_place(x, axis, out);
        return;
    }
    const at_value *v = at_value_expr(l, choice(x, e, number(x, 1), number(x, 0)), x->axes);
    if (v->op == AT_V_SELECT) add_condition(x, v->cond, out);
    else x->place = at_value_choose(l, v->a, x->place, at_value_const(l, -1, false));
}

void at_scatter_statement(at_low *l, const at_node *leaf, const at_aff **axes, at_stmt *s) {
    const at_tensor *t = &l->program->compute->tensors[leaf->tensor];
    scatterer x = {.l = l, .t = t, .places = at_scatter_of(t), .axes = axes};
    const int64_t *extents = l->program->extents[leaf->tensor];
    const bool is_int = at_type_of(t->type)->is_int;
    const at_value *neutral =
        at_value_const(l, at_reduction_neutral_of(t->reduction, t->type), is_int);
    const at_aff **ix = at_copy(l->arena, axes, sizeof *axes * (size_t)t->num_axes);
    const at_expr *e = t->body;
    conditions asked = {.num = 0};
    for (int k = 0; k < t->num_axes; k++)
        if (x.places.axes >> k & 1)
            ix[k] = at_aff_sym(l, at_sym_loop(l, t->axes[k].name, extents[k]));
    s->ix = ix;
    s->placed = x.places.axes;
    x.place = place_of(&x, s);
    for (int left = 1; left; e = e->arg[1]) {
        ask(&x, e->arg[0], &asked);
        left = 0;
        for (int k = 0; k < t->num_axes; k++)
            left |= (x.places.axes >> k & 1) && at_expr_uses(e->arg[1], k);
    }
    s->val = at_value_binary(l, AT_V_PLACED, at_value_stored(l, e, axes, t->type), x.place);
    for (int i = asked.num - 1; i >= 0; i--)
        s->val = at_value_new(l, (at_value){.op = AT_V_SELECT,
                                            .whole = is_int,
                                            .cond = asked.of[i],
                                            .a = s->val,
                                            .b = neutral});
}
