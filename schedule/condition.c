/* schedule/condition.c: comparisons as sums that are at least 0: one follows from another where
 * they differ by a number. */
#include "schedule/condition.h"

#include "schedule/edit/rewrite.h"

static bool is_no_entry(const at_expr *e, const void *compute) {
    const at_compute *c = compute;
    return e->op == AT_X_INDEX && c->tensors[e->ref].role != AT_ROLE_INDEX;
}

bool condition_is_bound(const at_compute *c, const at_expr *e) {
    const uint32_t axes = at_expr_axes(e);
    return at_op_orders(e->op) && axes && (axes & (axes - 1) || at_expr_reads(e)) &&
           !at_expr_find(e, is_no_entry, c);
}

condition condition_not(condition c) { return (condition){c.of, !c.holds}; }

bool condition_sum(const condition *c, index_sum *out) {
    const at_op op = c->of->op;
    const bool is_less = op == AT_X_LT || op == AT_X_LE;
    const int64_t sign = is_less == c->holds ? 1 : -1;
    const bool is_strict = (op == AT_X_LT || op == AT_X_GT) == c->holds;
    *out = (index_sum){.num = 0};
    return at_op_orders(c->of->op) && index_sum_add(out, c->of->arg[1], sign, NULL) &&
           index_sum_add(out, c->of->arg[0], -sign, NULL) &&
           (!is_strict || index_sum_add_part(out, (index_part){-1, NULL, NO_AXIS}));
}

/* x less y; false: the difference is no number. */
static bool is_apart(const index_sum *x, const index_sum *y, int64_t *by) {
    index_sum d = *x;
    for (int i = 0; i < y->num; i++)
        if (!index_sum_add_part(&d, (index_part){-y->of[i].by, y->of[i].size, y->of[i].axis}))
            return false;
    *by = d.num ? d.of[0].by : 0;
    return d.num == 0 || (d.num == 1 && !d.of[0].size && d.of[0].axis == NO_AXIS);
}

bool condition_implies(const condition *known, const condition *c) {
    index_sum x, y;
    int64_t by;
    if (at_expr_same(known->of, c->of)) return known->holds == c->holds;
    return condition_sum(c, &x) && condition_sum(known, &y) && is_apart(&x, &y, &by) && by >= 0;
}

void conditions_add(conditions *c, condition one) {
    int kept = 0;
    for (int i = 0; i < c->num; i++)
        if (condition_implies(&c->of[i], &one)) return;
    for (int i = 0; i < c->num; i++)
        if (!condition_implies(&one, &c->of[i])) c->of[kept++] = c->of[i];
    c->num = kept;
    if (c->num < MOST_CONDITIONS) c->of[c->num++] = one;
}

void conditions_take(conditions *c, const at_compute *of, const at_expr *e, bool holds) {
    if (e->op == AT_X_NOT) conditions_take(c, of, e->arg[0], !holds);
    else if (e->op == (holds ? AT_X_AND : AT_X_OR))
        for (int i = 0; i < 2; i++) conditions_take(c, of, e->arg[i], holds);
    else if (condition_is_bound(of, e)) conditions_add(c, (condition){e, holds});
}

int conditions_decide(const conditions *known, const at_expr *e) {
    if (e->op == AT_X_NOT) {
        const int of = conditions_decide(known, e->arg[0]);
        return of < 0 ? of : !of;
    }
    if (e->op == AT_X_AND || e->op == AT_X_OR) {
        const int decides = e->op == AT_X_OR, x = conditions_decide(known, e->arg[0]),
                  y = conditions_decide(known, e->arg[1]);
        return x == decides || y == decides ? decides : x == y ? x : -1;
    }
    for (int i = 0; i < known->num && at_op_orders(e->op); i++)
        for (int holds = 0; holds < 2; holds++)
            if (condition_implies(&known->of[i], &(condition){e, holds})) return holds;
    return -1;
}

at_expr *condition_expr(at_arena *a, const condition *c, at_expr *const *axes) {
    static const at_op other[] = {
        [AT_X_LT] = AT_X_GE, [AT_X_LE] = AT_X_GT, [AT_X_GT] = AT_X_LE, [AT_X_GE] = AT_X_LT};
    at_expr *e = rewrite_expr_at(a, c->of, axes);
    if (!c->holds) e->op = other[e->op];
    return e;
}
