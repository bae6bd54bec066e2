/* network/net_truth.h: how far a network's outputs are from those in double, and how far they may
 * be. */
#ifndef AT_NETWORK_TRUTH_H
#define AT_NETWORK_TRUTH_H

#include "network/program.h"

/* The outputs that a network should have for some inputs. */
typedef struct at_net_truth {
    at_arena *arena;
    const at_net *net;
    at_net_reference *reference;
    const void *const *inputs; /* borrowed */
    double **expected;         /* [outputs] */
    double *rms;               /* [outputs] root mean square of what is expected; at least 0 */
    at_net_distance *moved;    /* [outputs] over rms; NULL: at_net_truth_moved was not asked */
    void **outputs;            /* [outputs] of the last program that was compared */
    char *workspace;
    int64_t workspace_bytes;
    const volatile int *stop;
} at_net_truth;

/* How exact an output is. */
typedef enum at_net_verdict {
    AT_NET_RIGHT,           /* within the limit */
    AT_NET_ILL_CONDITIONED, /* beyond, but as near as one more rounding of every number is */
    AT_NET_WRONG
} at_net_verdict;
#define AT_NET_MAX_ERROR 1e-3 /* over the root mean square, where nothing else is asked for */
/* error, moved: over the root mean square. */
at_net_verdict at_net_verdict_of(at_net_distance error, at_net_distance moved, double limit);

/* Refuses a network whose values in double take more than at_cpu_most_bytes: called before
 * at_net_truth_new, and before its inputs are made. */
at_status at_net_truth_room(const at_net *net, at_error *err);
/* Computes the outputs in double. at_net_truth_free frees, also after an error. */
at_status at_net_truth_new(const at_net *net, const void *const *inputs, const volatile int *stop,
                           at_net_truth *out, at_error *err);
void at_net_truth_free(at_net_truth *t);
/* Runs a program on the inputs: errors[outputs] over the root mean square, and, where sum is not
 * NULL, the sum of all outputs' squared errors over their mean squares. */
at_status at_net_truth_compare(at_net_truth *t, const at_net_program *p, at_net_distance *errors,
                               double *sum, at_error *err);
/* A distance from an output over its root mean square, where that is something. */
at_net_distance at_net_over_rms(const at_net_truth *t, int output, at_net_distance x);
/* Fills t->moved. */
at_status at_net_truth_moved(at_net_truth *t, at_error *err);

/* exact.c: while an output is beyond the limit, parts are computed in other ways, the part first
 * whose other way takes away the most error for the time. errors[outputs]: the errors that remain,
 * which may be beyond the limit. *replaced: how many kinds of parts. */
at_status at_net_make_exact(at_net_program *p, const at_net_build *b, at_net_truth *t, double limit,
                            at_net_distance *errors, int *replaced, at_error *err);

/* contest.c: the best choices of each part inside the network, in turn with the program, which
 * takes what is faster there; so long, but of one part at least. Written into the log of b.
 * *changed: how many kinds of parts took another. */
at_status at_net_contest(at_net_program *p, const at_net_build *b, at_net_truth *t, double most_s,
                         int *changed, at_error *err);

#endif
