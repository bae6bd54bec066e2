/* schedule/scatter.c: reductions whose terms each go to one place:
 *
 *     h[b:B, c:C] = sum(n:N) i[n] == b ? v[n, c] : 0
 *
 * which is also written h[i[n]:B, c:C] += (n:N) v[n, c]. A tree may go over the terms alone and add
 * each where it belongs: @h[scatter] = 0, c // n. */
#include "schedule/schedule_int.h"

#include <math.h>

static at_walk count_name(const at_expr *e, void *counts) {
    if (e->op == AT_X_NAME && e->ref >= 0 && e->ref < MAX_AXES) ((int *)counts)[e->ref]++;
    return AT_WALK_ON;
}

static bool is_neutral(const at_expr *e, at_reduction r) {
    const double neutral = at_reduction_neutral(r);
    if (e->op == AT_X_NEG) {
        const at_expr *of = e->arg[0];
        return of->op == AT_X_FLOAT && -of->number == neutral;
    }
    return (e->op == AT_X_INT && (double)e->integer == neutral) ||
           (e->op == AT_X_FLOAT && e->number == neutral);
}

typedef struct equations {
    const at_tensor *t;
    int counts[MAX_AXES]; /* uses of each axis */
    at_scatter found;
} equations;

/* Takes in the equations of a condition, one side of which is an axis that nothing else uses. */
static at_walk look(const at_expr *e, void *ctx) {
    equations *x = ctx;
    for (int side = 0; e->op == AT_X_EQ && side < 2; side++) {
        const at_expr *axis = e->arg[side];
        if (axis->op != AT_X_NAME || axis->ref < 0 || axis->ref >= x->t->num_axes ||
            axis->ref >= AT_SCATTER_AXES || x->counts[axis->ref] != 1)
            continue;
        x->found.axes |= 1u << axis->ref;
        x->found.place[axis->ref] = e->arg[!side];
        break;
    }
    return e->op == AT_X_AND ? AT_WALK_ON : AT_WALK_PAST;
}

at_scatter at_scatter_of(const at_tensor *t) {
    equations x = {.t = t};
    if (t->role != AT_ROLE_STAGE || !t->num_reduce || at_tensor_goes_in_steps(t) || t->is_packing)
        return x.found;
    at_expr_walk(t->body, count_name, x.counts);
    for (int i = t->num_axes; i < axes_of(t); i++) {
        if (!t->axes[i].begin) continue;
        at_expr_walk(t->axes[i].begin, count_name, x.counts);
        at_expr_walk(t->axes[i].end, count_name, x.counts);
    }
    for (const at_expr *e = t->body; e->op == AT_X_SELECT && is_neutral(e->arg[2], t->reduction);
         e = e->arg[1])
        at_expr_walk(e->arg[0], look, &x);
    return x.found;
}

int at_scatter_equation(const at_scatter *x, const at_expr *e) {
    for (int k = 0; e->op == AT_X_EQ && k < AT_SCATTER_AXES && x->axes >> k; k++)
        if ((x->axes >> k & 1) && (e->arg[0] == x->place[k] || e->arg[1] == x->place[k])) return k;
    return -1;
}

/* The conditions that stand before that equation are added to *guard; true: it has been found. */
static bool guards_before(at_arena *a, const at_expr *e, const at_scatter *x, int axis,
                          const at_expr **guard) {
    if (e->op == AT_X_AND)
        return guards_before(a, e->arg[0], x, axis, guard) ||
               guards_before(a, e->arg[1], x, axis, guard);
    const int of = at_scatter_equation(x, e);
    if (of < 0 && !*guard) *guard = e;
    else if (of < 0) *guard = at_expr_pair(a, AT_X_AND, (at_expr *)*guard, (at_expr *)e);
    return of == axis;
}

const at_expr *at_scatter_guard(at_arena *a, const at_tensor *t, const at_scatter *x, int axis) {
    const at_expr *guard = NULL;
    for (const at_expr *e = t->body; !guards_before(a, e->arg[0], x, axis, &guard);) e = e->arg[1];
    return guard;
}
