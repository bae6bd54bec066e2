/* schedule/edit/edit_quotient.c: E20, a sum whose terms are divided by what all of them share
 * becomes the sum of what is divided, which is divided once. */
#include "schedule/edit/edit_compute.h"

#include "schedule/edit/rewrite.h"

typedef struct divided {
    const at_compute *c;
    const at_tensor *sum;
} divided;

/* What is divided by values of other elements, no numbers, that no reduction changes. Integers stay
 * quotients: products of them would be worked out in 32 bits. */
static bool is_quotient(const divided *x, const at_expr *e) {
    return e->op == AT_X_DIV && at_expr_reads(e->arg[1]) &&
           !(at_expr_axes(e->arg[1]) >> x->sum->num_axes) && !at_expr_is_whole(x->c, e->arg[0]);
}

/* The product of what is left of a term, and of what it was divided by (NULL: nothing). */
static at_expr *undivided(at_arena *a, const divided *x, const at_expr *e, at_expr *const *value,
                          at_expr **product) {
    if (is_quotient(x, e)) {
        at_expr *by = rewrite_expr_at(a, e->arg[1], value);
        *product = *product ? at_expr_pair(a, AT_X_MUL, *product, by) : by;
        return undivided(a, x, e->arg[0], value, product);
    }
    if (e->op != AT_X_MUL && e->op != AT_X_NEG) return rewrite_expr_at(a, e, value);
    at_expr *arg[2];
    for (int i = 0; i < e->nargs; i++) arg[i] = undivided(a, x, e->arg[i], value, product);
    return at_expr_new(a, e->op, e->nargs, arg);
}

static at_walk find_quotient(const at_expr *e, void *of) {
    if (is_quotient(of, e)) return AT_WALK_END;
    return e->op == AT_X_MUL || e->op == AT_X_NEG ? AT_WALK_ON : AT_WALK_PAST;
}

bool at_edit_has_quotient(const at_compute *c, const at_tensor *sum) {
    return !at_tensor_has_range(sum) && sum->num_reduce && sum->reduction == AT_REDUCE_SUM &&
           sum->type == AT_F32 && !at_tensor_goes_in_steps(sum) &&
           at_expr_walk(sum->body, find_quotient, &(divided){c, sum});
}

at_status at_edit_quotient(at_arena *a, const at_tree *t, const char *stage, const char *name,
                           const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w;
    at_expr *by = NULL;
    const at_tensor *x;
    tree_node *leaf;
    AT_TRY(rewrite_start_leaf(&w, a, t, name, stage, &x, &leaf, err));
    if (!at_edit_has_quotient(t->compute, x))
        return at_fail(err, AT_E_INPUT, "the terms of @%s are divided by nothing that they share",
                       stage);
    at_tensor sum = at_tensor_copy(a, x);
    sum.name = name;
    sum.num_defs = 0;
    sum.is_marked = false;
    sum.written = undivided(a, &(divided){t->compute, x}, x->body, rewrite_axes(a, x), &by);
    tree_insert(w.made, rewrite_outermost(leaf), true, rewrite_plain_nest(&w, &sum));
    rewrite_insert(&w, stage, sum);
    at_tensor *quotient = rewrite_find(&w, stage);
    quotient->num_reduce = quotient->num_defs = 0;
    quotient->written = at_expr_pair(a, AT_X_DIV, rewrite_element(a, name, x), by);
    tree_insert(w.made, rewrite_outermost(leaf), false, rewrite_plain_nest(&w, quotient));
    tree_remove(w.made, leaf);
    return rewrite_finish(&w, compute, out);
}
