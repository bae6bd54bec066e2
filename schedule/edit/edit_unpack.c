/* schedule/edit/edit_unpack.c: E19, what a sum takes out of entries of an index tensor: numbers of
 * a few bits, of which one entry holds several. The entries become a stage of integers, which is
 * packed as weights are and stays as narrow; the numbers of one entry are terms beside each other,
 * so that each is a shift and a mask by numbers, and what they have in common is multiplied once.
 */
#include "schedule/edit/edit_compute.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

enum { MOST_UNITS = 4, MOST_WRITTEN = 16, MOST_FACTORS = 16 };

/* By what an axis of the sum is divided: 1, then other numbers, each a multiple of the one before.
 */
typedef struct units {
    int64_t of[MOST_UNITS];
    int n, axis;
} units;

typedef struct unpacking {
    at_arena *arena;
    int axis, tensor;
    const char *entries; /* the new stage; NULL: it is read by itself */
    units units;
    at_expr *digit[MOST_UNITS]; /* the axis by its digits; [0]: a number */
    at_expr **value;            /* of the other axes */
    bool fails;
} unpacking;

/* A quotient or a remainder of the axis by a number. */
static bool takes_digits(const at_expr *e, int axis) {
    return (e->op == AT_X_DIV || e->op == AT_X_MOD) && at_expr_is_name(e->arg[0], axis) &&
           e->arg[1]->op == AT_X_INT && e->arg[1]->integer > 1;
}

/* false: there are too many, or one does not divide the next. */
static bool add_unit(units *u, int64_t number) {
    int at = 0;
    while (at < u->n && u->of[at] < number) at++;
    if (at < u->n && u->of[at] == number) return true;
    if (u->n == MOST_UNITS || number % u->of[at - 1] || (at < u->n && u->of[at] % number))
        return false;
    for (int i = u->n++; i > at; i--) u->of[i] = u->of[i - 1];
    u->of[at] = number;
    return true;
}

static at_walk find_unit(const at_expr *e, void *ctx) {
    units *u = ctx;
    if (!takes_digits(e, u->axis)) return AT_WALK_ON;
    return add_unit(u, e->arg[1]->integer) ? AT_WALK_PAST : AT_WALK_END;
}

typedef struct quotient {
    const at_compute *c;
    int axis;
} quotient;

static bool is_read_at_quotient(const at_expr *e, const void *ctx) {
    const quotient *x = ctx;
    bool any = false;
    for (int i = 0; i < e->nargs && e->op == AT_X_INDEX; i++)
        any |= e->arg[i]->op == AT_X_DIV && takes_digits(e->arg[i], x->axis);
    return any && x->c->tensors[e->ref].role == AT_ROLE_INDEX;
}

int64_t at_edit_unpacks(const at_compute *c, const at_tensor *sum, int axis, int *tensor,
                        int64_t *whole) {
    units u = {{1}, 1, axis};
    const at_expr *read = NULL;
    if (!sum->num_reduce || sum->reduction != AT_REDUCE_SUM || sum->axes[axis].begin) return 0;
    if (at_type_of(sum->type)->is_int || at_expr_walk(sum->body, find_unit, &u) || u.n < 2)
        return 0;
    if (u.of[1] <= MOST_WRITTEN)
        read = at_expr_find(sum->body, is_read_at_quotient, &(quotient){c, axis});
    if (!read) return 0;
    *tensor = read->ref;
    *whole = u.of[u.n - 1];
    return u.of[1];
}

/* ---- terms ----------------------------------------------------------------------------------- */

static bool is_number(const at_expr *e) { return e->op == AT_X_INT; }

/* What numbers alone decide is decided. */
static at_expr *made(unpacking *u, at_op op, at_expr *x, at_expr *y) {
    int64_t value;
    if (is_number(x) && is_number(y) && at_expr_binary(op, x->integer, y->integer, &value))
        return at_expr_int(u->arena, value);
    if (op == AT_X_ADD && is_number(y) && !y->integer) return x;
    if (op == AT_X_ADD && is_number(x) && !x->integer) return y;
    if (op == AT_X_MUL && is_number(y) && y->integer == 1) return x;
    return at_expr_pair(u->arena, op, x, y);
}

/* Of the digits from one to the last before another, in units of the first one's. */
static at_expr *place_of(unpacking *u, int from, int to) {
    at_expr *sum = at_expr_int(u->arena, 0);
    for (int i = to - 1; i >= from; i--) {
        at_expr *times = at_expr_int(u->arena, u->units.of[i] / u->units.of[from]);
        sum = made(u, AT_X_ADD, sum,
                   made(u, AT_X_MUL, rewrite_copy_expr(u->arena, u->digit[i]), times));
    }
    return sum;
}

static at_expr *term_of(unpacking *u, const at_expr *e);

static at_expr *digits_of(unpacking *u, const at_expr *e) {
    int i = 0;
    while (u->units.of[i] != e->arg[1]->integer) i++;
    return e->op == AT_X_DIV ? place_of(u, i, u->units.n) : place_of(u, 0, i);
}

/* A quotient or a remainder of an entry: its bits. */
static at_expr *bits_of(unpacking *u, const at_expr *e) {
    const int64_t by = e->arg[1]->op == AT_X_INT ? e->arg[1]->integer : 0;
    at_expr *x = term_of(u, e->arg[0]);
    int power = 0;
    while (power < 30 && (int64_t)1 << power < by) power++;
    u->fails |= (int64_t)1 << power != by;
    if (e->op == AT_X_MOD)
        return at_expr_pair(u->arena, AT_X_BIT_AND, x, at_expr_int(u->arena, by - 1));
    return power ? at_expr_pair(u->arena, AT_X_SHIFT_RIGHT, x, at_expr_int(u->arena, power)) : x;
}

/* The same with other arguments, where numbers alone do not decide it. */
static at_expr *with_terms(unpacking *u, const at_expr *e) {
    at_expr **arg = AT_NEW_ARRAY(u->arena, at_expr *, e->nargs);
    for (int i = 0; i < e->nargs; i++) {
        arg[i] = term_of(u, e->arg[i]);
        if (e->op == AT_X_SELECT && !i && is_number(arg[0]))
            return term_of(u, e->arg[arg[0]->integer ? 1 : 2]);
    }
    int64_t value;
    if (e->nargs == 2 && is_number(arg[0]) && is_number(arg[1]) && e->op != AT_X_INDEX &&
        at_expr_binary(e->op, arg[0]->integer, arg[1]->integer, &value))
        return at_expr_int(u->arena, value);
    at_expr *out = at_copy(u->arena, e, sizeof *e);
    out->arg = arg;
    out->line = out->col = 0;
    if (e->op == AT_X_INDEX && e->ref == u->tensor) out->name = u->entries;
    return out;
}

static at_expr *term_of(unpacking *u, const at_expr *e) {
    if (at_expr_is_name(e, u->axis)) return place_of(u, 0, u->units.n);
    if (takes_digits(e, u->axis)) return digits_of(u, e);
    if (!e->nargs) return rewrite_expr_at(u->arena, e, u->value);
    const bool divides = e->op == AT_X_DIV || e->op == AT_X_MOD;
    return divides && at_expr_count_reads(e, u->tensor) ? bits_of(u, e) : with_terms(u, e);
}

static void find_factors(const at_expr *e, const at_expr **factor, int *n) {
    if (e->op != AT_X_MUL || *n >= MOST_FACTORS - 1) {
        factor[(*n)++] = e;
        return;
    }
    find_factors(e->arg[0], factor, n);
    find_factors(e->arg[1], factor, n);
}

static at_expr *times(unpacking *u, at_expr *x, at_expr *y) {
    return x ? at_expr_pair(u->arena, AT_X_MUL, x, y) : y;
}

/* What the term's factor is for the d-th number of an entry. */
static at_expr *factor_of(unpacking *u, const at_expr *factor, int64_t d) {
    u->digit[0] = at_expr_int(u->arena, d);
    return term_of(u, factor);
}

static bool differs_within(unpacking *u, const at_expr *factor) {
    const at_expr *first = factor_of(u, factor, 0);
    for (int64_t d = 1; d < u->units.of[1]; d++)
        if (!at_expr_equal(first, factor_of(u, factor, d))) return true;
    return false;
}

/* The terms of one entry added up, times what they have in common; NULL: all of them are the same
 * term. */
static at_expr *written_out(unpacking *u, const at_expr *body) {
    const at_expr *factor[MOST_FACTORS + 1], *differing[MOST_FACTORS + 1];
    at_expr *sum = NULL, *common = NULL;
    int n = 0, num = 0;
    find_factors(body, factor, &n);
    for (int i = 0; i < n; i++)
        if (differs_within(u, factor[i])) differing[num++] = factor[i];
        else common = times(u, common, factor_of(u, factor[i], 0));
    for (int64_t d = 0; d < u->units.of[1] && num; d++) {
        at_expr *term = NULL;
        for (int i = 0; i < num; i++) term = times(u, term, factor_of(u, differing[i], d));
        sum = sum ? at_expr_pair(u->arena, AT_X_ADD, sum, term) : term;
    }
    return sum && common ? at_expr_pair(u->arena, AT_X_MUL, sum, common) : sum;
}

/* ---- the stages ------------------------------------------------------------------------------ */

/* The entries as they lie, as integers. */
static at_tensor entries_of(rewrite *w, const at_tensor *from, const char *name) {
    at_tensor t = {.name = name,
                   .role = AT_ROLE_STAGE,
                   .type = AT_S32,
                   .num_axes = from->num_axes,
                   .axes = AT_NEW_ARRAY(w->arena, at_axis, from->num_axes)};
    at_expr **index = AT_NEW_ARRAY(w->arena, at_expr *, from->num_axes);
    for (int k = 0; k < from->num_axes; k++) {
        t.axes[k].name = rewrite_fresh(w, at_format(w->arena, "%s_%d", name, k));
        t.axes[k].extent = rewrite_copy_expr(w->arena, from->axes[k].extent);
        index[k] = at_expr_name(w->arena, t.axes[k].name);
    }
    t.written = at_expr_read(w->arena, from->name, from->num_axes, index);
    return t;
}

/* The axis as one of groups, and one for each digit but the lowest. */
static void split_axis(rewrite *w, unpacking *u, at_tensor *sum) {
    const int more = u->units.n - 2, n = axes_of(sum);
    at_axis *axes = AT_NEW_ARRAY(w->arena, at_axis, n + more);
    for (int k = 0; k < n; k++) axes[k > u->axis ? k + more : k] = sum->axes[k];
    for (int m = u->units.n - 1; m > 0; m--) {
        at_axis *x = &axes[u->axis + u->units.n - 1 - m];
        const bool is_first = m == u->units.n - 1;
        const char *like = sum->axes[u->axis].name;
        *x = (at_axis){.name = is_first ? like
                                        : rewrite_fresh(w, at_format(w->arena, "%s_%d", like, m))};
        x->extent = is_first ? at_expr_pair(w->arena, AT_X_DIV, sum->axes[u->axis].extent,
                                            at_expr_int(w->arena, u->units.of[m]))
                             : at_expr_int(w->arena, u->units.of[m + 1] / u->units.of[m]);
        u->digit[m] = at_expr_name(w->arena, x->name);
    }
    sum->axes = axes;
    sum->num_reduce += more;
}

at_status at_edit_unpack(at_arena *a, const at_tree *t, const char *stage, const char *axis,
                         const char *name, const at_compute **compute, at_tree **out,
                         at_error *err) {
    rewrite w;
    const at_tensor *x;
    tree_node *leaf;
    unpacking u = {.arena = a, .entries = name, .units = {{1}, 1}, .axis = -1};
    int64_t whole;
    AT_TRY(rewrite_start_leaf(&w, a, t, name, stage, &x, &leaf, err));
    for (int k = x->num_axes; k < axes_of(x); k++)
        if (!strcmp(x->axes[k].name, axis)) u.axis = k;
    if (u.axis < 0 || !at_edit_unpacks(t->compute, x, u.axis, &u.tensor, &whole))
        return at_fail(err, AT_E_INPUT, "@%s takes nothing out of entries along \"%s\"", stage,
                       axis);
    u.value = rewrite_axes(a, x);
    u.units.axis = u.axis;
    at_expr_walk(x->body, find_unit, &u.units);
    const at_tensor entries = entries_of(&w, &t->compute->tensors[u.tensor], name);
    tree_node *outermost = rewrite_outermost(leaf);
    at_tensor *sum = rewrite_find(&w, stage);
    split_axis(&w, &u, sum);
    sum->num_defs = 0;
    sum->written = written_out(&u, x->body);
    if (u.fails)
        return at_fail(err, AT_E_INPUT, "@%s takes other parts than bits out of entries", stage);
    if (!sum->written)
        return at_fail(err, AT_E_INPUT,
                       "@%s reads an entry along \"%s\" for the same term each time", stage, axis);
    tree_insert(w.made, outermost, true, rewrite_plain_nest(&w, &entries));
    tree_insert(w.made, outermost, true, rewrite_plain_nest(&w, sum));
    rewrite_insert(&w, stage, entries);
    tree_remove(w.made, leaf);
    return rewrite_finish(&w, compute, out);
}
