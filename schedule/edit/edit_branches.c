/* schedule/edit/edit_branches.c: E18, a sum whose terms choose between two reads becomes two sums,
 * each of the terms with one of them. */
#include "schedule/edit/edit_compute.h"

#include "schedule/edit/rewrite.h"

/* The choice among the factors of a term, by indices and sizes, between two values that are read;
 * NULL: there is none. */
static at_walk find_choice(const at_expr *e, void *unused) {
    (void)unused;
    if (e->op == AT_X_SELECT && !at_expr_reads(e->arg[0]) && at_expr_reads(e->arg[1]) &&
        at_expr_reads(e->arg[2]))
        return AT_WALK_END;
    return e->op == AT_X_MUL || e->op == AT_X_NEG ? AT_WALK_ON : AT_WALK_PAST;
}

static const at_expr *choice_of(const at_expr *e) { return at_expr_walk(e, find_choice, NULL); }

bool at_edit_has_branches(const at_tensor *sum) {
    return !at_tensor_has_range(sum) && sum->num_reduce && sum->reduction == AT_REDUCE_SUM &&
           choice_of(sum->body);
}

/* The term with one side of the choice in its place. */
static at_expr *term_with(at_arena *a, const at_expr *e, const at_expr *choice, int side,
                          at_expr *const *value) {
    if (e == choice) return rewrite_expr_at(a, e->arg[side], value);
    if (e->op != AT_X_MUL && e->op != AT_X_NEG) return rewrite_expr_at(a, e, value);
    at_expr *arg[2];
    for (int i = 0; i < e->nargs; i++) arg[i] = term_with(a, e->arg[i], choice, side, value);
    return at_expr_new(a, e->op, e->nargs, arg);
}

/* The sum of the terms where the condition holds (side 1) or fails (2). */
static at_tensor sum_of_side(at_arena *a, const at_tensor *from, const char *name, int side,
                             at_expr *const *value) {
    const at_expr *choice = choice_of(from->body);
    at_tensor t = at_tensor_copy(a, from);
    at_expr *arg[3] = {rewrite_expr_at(a, choice->arg[0], value), at_expr_int(a, 0),
                       at_expr_int(a, 0)};
    arg[side] = term_with(a, from->body, choice, side, value);
    t.name = name;
    t.num_defs = 0;
    t.written = at_expr_new(a, AT_X_SELECT, 3, arg);
    return t;
}

at_status at_edit_branches(at_arena *a, const at_tree *t, const char *stage,
                           const char *const *names, const at_compute **compute, at_tree **out,
                           at_error *err) {
    rewrite w;
    at_expr *read[2];
    const at_tensor *x;
    tree_node *leaf;
    AT_TRY(rewrite_start_leaf(&w, a, t, names[0], stage, &x, &leaf, err));
    if (!at_edit_has_branches(x))
        return at_fail(err, AT_E_INPUT, "the terms of @%s choose between no two reads by indices",
                       stage);
    tree_node *outermost = rewrite_outermost(leaf);
    for (int i = 0; i < 2; i++) {
        const at_tensor sum = sum_of_side(a, x, names[i], i + 1, rewrite_axes(a, x));
        read[i] = rewrite_element(a, names[i], x);
        tree_insert(w.made, outermost, true, rewrite_plain_nest(&w, &sum));
        rewrite_insert(&w, stage, sum);
    }
    at_tensor *both = rewrite_find(&w, stage);
    both->num_reduce = both->num_defs = 0;
    both->written = at_expr_pair(a, AT_X_ADD, read[0], read[1]);
    tree_insert(w.made, outermost, false, rewrite_plain_nest(&w, both));
    tree_remove(w.made, leaf);
    return rewrite_finish(&w, compute, out);
}
