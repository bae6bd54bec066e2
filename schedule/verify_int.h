/* schedule/verify_int.h: shared by the rules (verify.c, verify_steps.c), what they look up
 * (verify_tables.c) and the region inference behind some of them (coverage.c). */
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

/* ---- rules ----------------------------------------------------------------------------------- */

typedef struct verifier {
    at_arena *arena;
    const at_program *p;
    at_error *err;
    const at_node *at; /* what is looked at */
    int num_leaves;
    const at_node **leaves;  /* textual order */
    const at_node **loops;   /* [id] */
    int *leaves_below;       /* [loop id] */
    const at_node **leaf_of; /* [tensor] */
    const at_node **init_of; /* [tensor] */
    int *position;           /* [tensor] of its leaf among leaves */
    int *first_use;          /* [loop id] its members in uses */
    int num_uses;
    signed char *uses; /* [leaf][first_use + member]: which axis it counts, -1 none */
} verifier;
#define BROKEN(v, ...) at_fail((v)->err, AT_E_INPUT, __VA_ARGS__)

static inline const at_tensor *stage_of(const verifier *v, const at_node *leaf) {
    return &v->p->compute->tensors[leaf->tensor];
}
/* Leaves and loops of a list, and how many leaves there are below each loop. */
void verify_collect(verifier *v, const at_node *n);
/* Which axis of a leaf the loop's first member counts; those of the others follow. -1: none. */
signed char *verify_use(const verifier *v, int leaf, const at_node *loop);
/* "k", "{i, j}". */
const char *verify_loop_name(const verifier *v, const at_node *loop);

/* How a leaf uses a loop; a fused loop is used when one of its members is. */
typedef struct usage {
    bool spatial, reduce;
    bool ignores; /* a member that runs more than once */
} usage;
usage verify_usage(const verifier *v, int leaf, const at_node *loop);
/* A dyn loop inside of the first `common` ones that a leaf does not sum over: it may run no
 * iteration. NULL: there is none. */
const at_node *verify_unsure_loop(const verifier *v, int leaf, int common);

/* Rule 11: of a leaf that goes on from step to step; of a read of an earlier step of its cycle. */
at_status verify_running(verifier *v, int leaf);
at_status verify_back(verifier *v, int reader, const at_expr *read, const form *axes);
/* Whether a read that its loops do not cover along an axis is one of the steps before of a stage
 * that reads itself, which these loops have made: all else of it is covered. */
bool verify_before(verifier *v, int reader, const at_expr *read, const form *axes, int axis);

#endif
