/* cli/network_arrays.h: inputs and outputs of a network as files and as random numbers. */
#ifndef AT_CLI_NETWORK_ARRAYS_H
#define AT_CLI_NETWORK_ARRAYS_H

#include "cli/options.h"
#include "network/network.h"

/* Inputs of a network, each in its own type. */
typedef struct at_net_arrays {
    at_arena *arena;
    const at_options *o;
    const at_net *net;
    AT_VEC(at_net_tensor) given; /* by --input */
    at_net_tensor *expected;     /* [o->request.num_expects] by --expect */
    const void **inputs;         /* [net->inputs.len] */
    int num_random;              /* of them, made of the seed */
} at_net_arrays;

/* Opens the network of the options, whose open sizes may be those of the arrays of --input, which
 * are read; other inputs are made: normal numbers, truth values, indices 0 and 1. Everything but
 * the network lives in a. */
at_status at_net_arrays_open(at_arena *a, const at_options *o, at_net_arrays *out, at_net **net,
                             at_error *err);
/* The largest distance of --expect's array of an output from `reference`; NAN: it has none. */
at_net_distance at_net_arrays_distance(const at_net_arrays *x, int output, const double *reference);
/* Writes the outputs that --output names; data: elements of each in its own type. */
at_status at_net_arrays_write(const at_net_arrays *x, const void *const *data, at_error *err);

#endif
