/* network/sizes.h: a network of several sizes: which sizes are asked for, and whether another one
 * can run at the next larger. */
#ifndef AT_NETWORK_SIZES_H
#define AT_NETWORK_SIZES_H

#include "network/network.h"

enum { AT_NET_MOST_SIZES = 16 };
typedef struct at_net_sizes {
    const char *name;                    /* of the size; NULL: it has one value */
    int64_t value[AT_NET_MOST_SIZES];    /* ascending */
    const char *dims[AT_NET_MOST_SIZES]; /* the option --dim for each */
    int n;
} at_net_sizes;
bool at_net_is_size(double x); /* a whole number that --dim takes */
/* Reads the option --dim: batch=1,4,8,seq=128. AT_E_USAGE: it has another form, or lists values of
 * two sizes. Without a list n is 1, and dims[0] the text itself, which may be NULL. */
at_status at_net_sizes_of(at_arena *a, const char *dims, at_net_sizes *out, at_error *err);

/* The text of --dim for a value of the size that is not listed; owned by a. */
const char *at_net_dims_at(at_arena *a, const at_net_sizes *s, int64_t size);

/* How the values of a network change with one of its sizes. */
typedef struct at_net_rows {
    const int *axis;   /* [value] of the larger network: the axis with the size; -1: none */
    const char *fault; /* NULL: along it each element is computed of the same place of what is read,
                          so that what lies behind changes nothing; else what is in the way */
} at_net_rows;
/* The same network at two sizes, each above 0. AT_E_INPUT: no input has the size. */
at_status at_net_find_rows(at_arena *a, const at_net *small, int64_t small_size,
                           const at_net *large, int64_t large_size, at_net_rows *out,
                           at_error *err);

#endif
