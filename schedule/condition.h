/* schedule/condition.h: comparisons of indices that hold, or fail, and what follows from them
 * whatever sizes and axes are. */
#ifndef AT_CONDITION_H
#define AT_CONDITION_H

#include "schedule/index_sum.h"

/* A comparison of axes of a stage, as resolved. */
typedef struct condition {
    const at_expr *of;
    bool holds;
} condition;
enum { MOST_CONDITIONS = 8 };
typedef struct conditions {
    condition of[MOST_CONDITIONS];
    int num;
} conditions;

/* Of several axes, or of one with entries of index tensors, and of no other data: such a one bounds
 * loops. */
bool condition_is_bound(const at_compute *c, const at_expr *e);
/* The sum that is at least 0 where the condition holds; false: it has none. */
bool condition_sum(const condition *c, index_sum *out);
/* Does the second hold wherever the first does? */
bool condition_implies(const condition *known, const condition *c);
condition condition_not(condition c);
/* Adds the conditions that follow where an expression holds, or fails: and, or, not are looked
 * into. A condition that another one implies is left out. */
void conditions_take(conditions *c, const at_compute *of, const at_expr *e, bool holds);
void conditions_add(conditions *c, condition one);
/* What is known of an expression where all of these hold: 1 it holds, 0 it fails, -1 neither. */
int conditions_decide(const conditions *known, const at_expr *e);
/* Fresh nodes without refs, for a text: with copies of these for axes, which a reader that says the
 * condition may name otherwise. */
at_expr *condition_expr(at_arena *a, const condition *c, at_expr *const *axes);

#endif
