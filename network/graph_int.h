/* network/graph_int.h: what the files share that make a graph of a file as it was read: graph.c
 * (nodes one by one), bind.c (what the user gives), net_order.c (their order), subgraphs.c (graphs
 * in attributes), sequences.c (lists of values), and what these are made of. */
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

typedef struct net_sequence { /* values in a row */
    const int *values;
    int len;
} net_sequence;

typedef struct net_fact {
    bool is_unknown;              /* worked out by what is missing */
    const net_sequence *sequence; /* that the value stands for; NULL: it is a tensor */
} net_fact;

typedef struct net_scope { /* names of a graph, behind which those around it are looked up */
    net_names names;
    const struct net_scope *outer;
} net_scope;

typedef struct net_builder net_builder;
struct net_builder {
    at_arena *arena;
    at_net *net;
    const net_model *model;
    const at_net_options *options;
    at_error *err;
    net_pairs dims, sets;
    net_size_names known, open; /* those without a number */
    AT_VEC(net_missing) missing;
    AT_VEC(net_fact) facts; /* by value */
    int depth;
    int num_in_steps; /* nodes of all steps of loops */
    /* Nodes of a graph, those of graphs in their attributes included. */
    at_status (*add_nodes)(net_builder *b, net_scope *s, const at_net_subgraph *g);
};

at_status net_bind_begin(net_builder *b);
/* The sizes of an input; -1 of one that is open, which net_bind_end tells. */
at_status net_bind_shape(net_builder *b, const net_port *p, int *rank, int64_t *dims);
/* NULL: none is given. */
const at_net_tensor *net_bind_array(net_builder *b, const char *input, bool *is_constant);
const net_pair *net_bind_value(net_builder *b, const char *input); /* NULL: it is not set */
at_status net_bind_end(net_builder *b, const at_net_names *of);

/* The outputs that are wanted in place of the graph's. */
at_status net_bind_outputs(net_builder *b, at_net_subgraph *g);

/* Nodes of a graph, each behind those that it reads; where outputs are wanted in place of the
 * file's, those of the graph that these need. */
at_status net_order(net_builder *b, const at_net_subgraph *g, const int **order, int *num);

/* ---- net_builder.c --------------------------------------------------------------------------- */

int64_t net_elements(int rank, const int64_t *dims);
int net_find_value(const net_scope *s, const char *name); /* -1: none */
bool net_is_tensor(const net_builder *b, int value);      /* it is there, and no sequence */
at_status net_name_value(net_builder *b, net_scope *s, const char *name, int value);
int net_add_value(net_builder *b, at_net_value v, bool is_unknown);
/* A constant whole number, or a truth value. */
int net_add_number(net_builder *b, const char *name, at_net_type type, int rank, int64_t x);
at_status net_add_constants(net_builder *b, net_scope *s, const at_net_subgraph *g);
/* The outputs of a node that cannot be worked out, for which something is missing. */
at_status net_add_unknown(net_builder *b, net_scope *s, const net_raw_node *n);
void net_note_missing(net_builder *b, const char *what, const char *node);
at_status net_fail(net_builder *b, const net_raw_node *n, const char *why);
int64_t net_version_of(const net_builder *b, const char *domain); /* 0: none is named */
const at_net_attribute *net_raw_attribute(const net_raw_node *n, const char *name,
                                          at_net_attribute_kind kind); /* NULL: none */

/* ---- net_node.c ------------------------------------------------------------------------------ */

at_status net_add_operator(net_builder *b, net_scope *s, const net_raw_node *n, int64_t version,
                           const at_net_row *row, const int *inputs);
/* A node that the file does not have, with one output; of unknown values it is unknown. */
at_status net_add_made(net_builder *b, const char *op, const char *name, const int *inputs, int n,
                       const at_net_attribute *attributes, int num_attributes, int *out);

/* ---- operators that are no computation ------------------------------------------------------- */

typedef struct net_structure {
    const char *op;
    int least_inputs, most_inputs; /* -1: any number */
    at_status (*add)(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs);
} net_structure;
extern const net_structure net_subgraphs[], net_sequences[]; /* NULL ends the ops */

/* The sequence of these values gets a name. */
at_status net_give_sequence(net_builder *b, net_scope *s, const char *name, const int *values,
                            int len);
/* One value of several along an axis, a new one or one that they have; name: of the value. */
at_status net_join_values(net_builder *b, const char *name, const int *values, int n, int64_t axis,
                          bool is_new, int *out);

#endif
