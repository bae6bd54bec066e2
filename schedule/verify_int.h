/* schedule/verify_int.h: shared by the rules (verify.c) and the region inference behind two of them
 * (coverage.c). */
#ifndef AT_VERIFY_INT_H
#define AT_VERIFY_INT_H

#include "schedule/schedule_int.h"

/* Does the reader find every element that its expression names? The producer is a leaf, common the
 * number of loops around both; read is an INDEX node of the producer's stage in the body of the
 * reader or of a dissolved stage, whose axes are given by forms. Axis of the first failure, or -1.
 * but: an axis that is not looked at, or -1. */
typedef struct form form;
int uncovered_axis(const at_program *p, const at_node *producer, int common, const at_expr *read,
                   const form *axes, int but);
/* The same for an init and its sum: both name the elements by digits, and must mean the same ones
 * at each iteration of the common loops. */
int uninitialised_axis(const at_node *init, const at_node *sum, int common);

/* An integer as a sum of loop counters:  sum weight * counter + constant + something in [lo, hi].
 */
enum { MAX_TERMS = 16 };
typedef struct term {
    const at_node *loop;
    int member;
    int64_t weight, extent;
} term;
struct form {
    int n;
    term t[MAX_TERMS];
    int64_t constant;
    int64_t lo, hi;  /* 0, 0: nothing unknown */
    int loose_depth; /* of the outermost loop that the unknown part depends on */
};
void leaf_forms(const at_node *leaf, form *axes); /* [leaf->num_axes] */
/* A resolved integer expression over axes of given forms. */
void form_of(const at_program *p, const at_expr *e, const form *axes, form *out);

#endif
