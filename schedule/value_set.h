/* schedule/value_set.h: what elements of stages may be, where conditions on indices are known to
 * hold: exp(-inf - m) is 0, whatever number m is. Inputs are taken to be numbers, results of
 * numbers to be none too large, and what a 0 is multiplied by to be a number. */
#ifndef AT_VALUE_SET_H
#define AT_VALUE_SET_H

#include "schedule/condition.h"

/* Bits of a set. */
enum {
    VALUE_BELOW = 1, /* a number less than 0 */
    VALUE_ZERO = 2,
    VALUE_ABOVE = 4,
    VALUE_NUMBER = 7,
    VALUE_NOTHING = 8, /* -inf */
    VALUE_REST = 16,   /* inf, or none */
    VALUE_ANY = 31
};

typedef struct valuer {
    at_arena *arena;
    const at_compute *compute;
    int *of_stage; /* [tensor] so far */
    int steps;     /* stages that may be looked into, yet */
    /* What sizes have to be, so that rows have a term that counts; NULL: anything. */
    at_expr *needs;
} valuer;

valuer valuer_of(at_arena *a, const at_compute *c);
/* Conditions without which an expression of a stage is `nothing`: VALUE_ZERO or VALUE_NOTHING. */
conditions conditions_of_value(valuer *v, const at_expr *e, int nothing);

#endif
