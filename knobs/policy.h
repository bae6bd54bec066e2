/* knobs/policy.h: how a split enumerates its parts. Apart from knobs.h because template authors see
 * it too, and their header stands without any other. */
#ifndef AT_POLICY_H
#define AT_POLICY_H

typedef enum at_policy {
    AT_FACTORS,   /* divisors of the length */
    AT_POWER2,    /* powers of two up to the length */
    AT_VERBOSE,   /* both, in CPython's set order */
    AT_CANDIDATE, /* exactly the given lists */
    AT_LISTED,    /* for each part sizes from a list of its own; need not divide */
} at_policy;

#endif
