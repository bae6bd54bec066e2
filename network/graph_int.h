/* network/graph_int.h: what the files share that make a graph of a file as it was read: graph.c
 * (nodes one by one), bind.c (what the user gives), net_order.c (their order). */
#ifndef AT_GRAPH_INT_H
#define AT_GRAPH_INT_H

#include "network/network_int.h"

typedef struct net_pair {
    const char *name;
    double number;
    bool is_used;
} net_pair;
typedef AT_VEC(net_pair) net_pairs;

typedef struct net_missing { /* what is not there yet */
    const char *what, *node;
    int count;
} net_missing;

typedef AT_VEC(const char *) net_size_names;

typedef struct net_builder {
    at_arena *arena;
    at_net *net;
    const net_model *model;
    const at_net_options *options;
    at_error *err;
    net_pairs dims, sets;
    net_size_names known, open; /* those without a number */
    AT_VEC(net_missing) missing;
    AT_VEC(bool) unknown; /* by value: worked out by what is missing */
    int depth;
} net_builder;

at_status net_bind_begin(net_builder *b);
/* The sizes of an input; -1 of one that is open, which net_bind_end tells. */
at_status net_bind_shape(net_builder *b, const net_port *p, int *rank, int64_t *dims);
/* NULL: none is given. */
const at_net_tensor *net_bind_array(net_builder *b, const char *input, bool *is_constant);
const net_pair *net_bind_value(net_builder *b, const char *input); /* NULL: it is not set */
at_status net_bind_end(net_builder *b, const char *const *inputs, int num_inputs);

/* Nodes of a graph, each behind those that it reads. */
at_status net_order(net_builder *b, const at_net_subgraph *g, const int **order);

#endif
