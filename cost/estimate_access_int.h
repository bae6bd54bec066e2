/* cost/estimate_access_int.h: which stages an access reads its tensor through. */
#ifndef AT_COST_ESTIMATE_ACCESS_INT_H
#define AT_COST_ESTIMATE_ACCESS_INT_H

#include "cost/estimate_int.h"

/* Of reads: the leaf's own, then that of what it reads, .. */
enum { MAX_CHAIN = 4 };
typedef struct est_chain {
    const at_expr *read[MAX_CHAIN];
    int num;
} est_chain;

/* estimate_through.c: of one of the leaf's reads, or of what it writes (read < 0): a chain of one
 * without a read. */
est_chain est_chain_to(const at_estimator *e, const at_program *p, const est_leaf *x, int read);
/* Sets how the access moves that the chain comes to in the end, and in which of the leaf's loops
 * elements of a vector lie otherwise than in steps. */
void est_steps_through(at_estimator *e, const at_program *p, est_leaf *x, const est_stage *s,
                       int read, const est_chain *c, est_access *a);

/* A hash goes on with a number. */
static inline uint64_t est_mixed(uint64_t hash, uint64_t x) {
    return (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
}

/* The same for one that stands for its numbers: of two that differ the same comes once in 2^64. */
static inline uint64_t est_joined(uint64_t hash, uint64_t x) {
    hash = est_mixed(hash, x);
    return hash ^ hash >> 29;
}

#endif
