/* engine/dataset_scale.c: where a function of a long sum is computed, the sum's factors are so
 * small that it stays moderate. Of large values every sigmoid is 0 or 1, which hides what is wrong
 * in the sum, and exponentials are subnormal, which a core takes much longer for. What lies below a
 * maximum is large: without the maximum it overflows. */
#include "engine/dataset.h"

#include <math.h>

static bool is_maximum(const at_compute *c, const at_expr *e) {
    if (e->op != AT_X_INDEX) return false;
    const at_tensor *t = &c->tensors[e->ref];
    return t->num_reduce && t->reduction == AT_REDUCE_MAX;
}

static bool reads_maximum(const at_compute *c, const at_expr *e) {
    if (e->op == AT_X_INDEX) return is_maximum(c, e);
    for (int i = 0; i < e->nargs; i++)
        if (reads_maximum(c, e->arg[i])) return true;
    return false;
}

static bool levels_off(const at_expr *e) {
    return e->op == AT_X_CALL &&
           (e->integer == AT_FUNCTION_EXP || e->integer == AT_FUNCTION_TANH ||
            e->integer == AT_FUNCTION_ERF || e->integer == AT_FUNCTION_SIGMOID);
}

/* Tensors that e reads; unless all of it, those that such functions in it read. */
static void mark_reads(const at_compute *c, const at_expr *e, bool all, bool *marked) {
    if (e->op == AT_X_INDEX) {
        marked[e->ref] |= all;
        return;
    }
    if (levels_off(e)) all = !reads_maximum(c, e);
    for (int i = 0; i < e->nargs; i++) mark_reads(c, e->arg[i], all, marked);
}

static bool reads_role(const at_compute *c, const at_expr *e, at_role role) {
    if (e->op == AT_X_INDEX) return c->tensors[e->ref].role == role;
    for (int i = 0; i < e->nargs; i++)
        if (reads_role(c, e->arg[i], role)) return true;
    return false;
}

static void shrink(at_dataset *d, const at_expr *e, at_role role, double factor) {
    if (e->op == AT_X_INDEX) {
        const bool is_asked = d->compute->tensors[e->ref].role == role;
        if (is_asked) d->factor[e->ref] = fmin(d->factor[e->ref], factor);
        return;
    }
    for (int i = 0; i < e->nargs; i++) shrink(d, e->arg[i], role, factor);
}

/* The products of a sum of n terms: their weights, or else what their inputs share. */
static void shrink_products(at_dataset *d, const at_expr *e, double n) {
    const at_compute *c = d->compute;
    if (e->op == AT_X_MUL && reads_role(c, e, AT_ROLE_WEIGHT)) {
        shrink(d, e, AT_ROLE_WEIGHT, 1 / n);
    } else if (e->op == AT_X_MUL && reads_role(c, e->arg[0], AT_ROLE_INPUT) &&
               reads_role(c, e->arg[1], AT_ROLE_INPUT)) {
        shrink(d, e, AT_ROLE_INPUT, 1 / sqrt(n));
    } else if (e->op != AT_X_INDEX) {
        for (int i = 0; i < e->nargs; i++) shrink_products(d, e->arg[i], n);
    }
}

void at_dataset_find_factors(at_dataset *d, int64_t longest) {
    const at_compute *c = d->compute;
    at_arena *a = at_arena_new();
    bool *marked = AT_NEW_ARRAY(a, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) d->factor[t] = 1;
    for (int t = c->num_tensors - 1; t >= 0; t--) {
        const at_tensor *x = &c->tensors[t];
        if (x->role != AT_ROLE_STAGE) continue;
        mark_reads(c, x->body, marked[t] && !x->num_reduce, marked);
        if (!marked[t] || !x->num_reduce || x->reduction != AT_REDUCE_SUM) continue;
        double n = 1;
        for (int i = x->num_axes; i < x->num_axes + x->num_reduce; i++)
            n *= (double)(d->extents[t][i] < 0 ? longest : d->extents[t][i]);
        shrink_products(d, x->body, n);
    }
    at_arena_free(a);
}

static bool is_below_maximum(const at_compute *c, const at_expr *e, bool in_exp) {
    in_exp |= e->op == AT_X_CALL && e->integer == AT_FUNCTION_EXP;
    if (in_exp && e->op == AT_X_SUB && is_maximum(c, e->arg[1])) return true;
    for (int i = 0; i < e->nargs && e->op != AT_X_INDEX; i++)
        if (is_below_maximum(c, e->arg[i], in_exp)) return true;
    return false;
}

bool at_dataset_is_high(const at_dataset *d) {
    const at_compute *c = d->compute;
    for (int t = 0; t < c->num_tensors && !d->is_exact; t++)
        if (c->tensors[t].role == AT_ROLE_STAGE && is_below_maximum(c, c->tensors[t].body, false))
            return true;
    return false;
}
