/* network/graph.h: a graph that is being prepared: rewritten, with an order of axes for each value,
 * and cut into parts. */
#ifndef AT_NETWORK_GRAPH_H
#define AT_NETWORK_GRAPH_H

#include "network/network.h"
#include "schedule/schedule.h"

/* A copy whose nodes compute the same outputs with less work: what nobody reads and what stands
 * there twice is gone, and factors are in weights. integers: products of bytes are of integers
 * (quantized.h). Lives in a, and borrows what the net holds. */
at_net *at_net_rewrite(at_arena *a, const at_net *net, bool integers);

/* edges.c: copies with channels last of inputs that convolutions read and of outputs that they
 * make. */
void at_net_move_edges(at_net *net);

/* group_norms.c: groups of channels are normalized by one node. */
void at_net_find_group_norms(at_net *net);
/* net_node.c: the text and the kind of a node that has its op, version, inputs and attributes;
 * false: it cannot be, and the node is as it was. */
bool at_net_write_node(at_net *net, at_net_node *n);
/* What the node's operator makes of these inputs, which are constants: a constant; -1: it is not
 * worked out. */
int at_net_work_out(at_net *net, const at_net_node *like, const int *inputs);

/* shuffles.c: convolutions read shuffled channels where they were before. */
void at_net_leave_shuffles(at_net *net);
/* repeats.c: what is repeated along an axis is read where it is. */
void at_net_join_repeats(at_net *net);
/* net_halves.c: elements of weights that are kept in 16 bits have their types. */
void at_net_keep_halves(at_net *net);

/* net_whole.c: tells of each node whether it is to be computed in whole numbers. */
void at_net_find_whole(at_net *net);
/* How a value's elements lie in memory for a kernel, or for a part in whole numbers. */
at_net_type at_net_kept_type(const at_net *net, int v, bool whole);

/* orders.c: does the node sample a picture at places that its data name, by lanes along channels?
 * Where a row of places fills a vector, lanes go along the row. */
bool at_net_samples_channels(const at_net *net, const at_net_node *n);
/* [value] the first value of its group, which convolutions and what goes
 * with them read and make and in which channels may lie last; -1: it is in none. */
const int *at_net_order_groups(at_arena *a, const at_net *net);
/* [value] the axes as they lie in memory, the slowest first; NULL: as declared. In such groups
 * channels lie last, but in those with as_given (NULL: none) of that value. */
const int *const *at_net_orders(at_arena *a, const at_net *net, const bool *as_given);
/* The size of the axis whose elements lie side by side. */
int64_t at_net_row_elements(const at_net *net, const int *const *orders, int v);
/* [value] the value whose memory it shares since its elements lie in the same order; else itself.
 */
const int *at_net_views(at_arena *a, const at_net *net, const int *const *orders);

/* Where a value lies: inside of another, or in memory of its own. */
typedef struct at_net_box {
    int in;         /* the value whose memory has it, which is in no other; -1: it has its own */
    int64_t offset; /* elements before its first */
    int64_t row;    /* from one of its rows in memory to the next; 0: as long as they are */
} at_net_box;
/* in_place.c: tells of Concat and Split where nothing needs to be copied; what a Concat has to copy
 * still is copied by nodes before it. Then, [value] where they lie. */
void at_net_place_inside(at_net *net);
const at_net_box *at_net_boxes(at_arena *a, const at_net *net, const int *const *orders,
                               const int *views);
/* row_gaps.c: a line between rows that would meet in a few places of the caches. */
void at_net_add_row_gaps(at_net_box *boxes, at_arena *a, const at_net *net,
                         const int *const *orders, const int *views);

/* A parameter of a part's kernel. */
typedef struct at_net_param {
    int value;
    at_role role; /* STAGE: an output */
} at_net_param;

/* A part: nodes whose texts are one computation. */
typedef struct at_net_part {
    const int *nodes; /* in the order of the graph */
    int num_nodes;
    const char *text;           /* as a .te file */
    const char *title;          /* "conv3x3 64 to 64 at 56, bias, add, relu" */
    const char *name;           /* of the task: words of the title and a hash of the text */
    const at_net_param *params; /* inputs, outputs, as the text declares them */
    const int64_t *rows;        /* [num_params] as at_net_box.row; NULL: all are 0 */
    int num_params;
    bool is_whole; /* a node that is computed in whole numbers, by plain C */
    int same;      /* the first part of the same text: itself or one before */
} at_net_part;

/* A node that could go on with the part before it. */
typedef struct at_net_join {
    int node, first; /* first: of that part */
} at_net_join;

typedef AT_VEC(int) at_int_list;
typedef struct at_net_cut {
    const at_net *net; /* rewritten */
    const int *const *orders;
    const int *views;
    const at_net_box *boxes;    /* [value] */
    const at_int_list *readers; /* [value] as of at_net_readers */
    at_net_part *parts;         /* in an order in which they can run */
    int num_parts;
    int *first_of;            /* [node] the first one of its part; -1: readers compute it */
    const at_net_join *joins; /* that are not made */
    int num_joins;
} at_net_cut;
/* The value whose memory has this one's elements; *offset (may be NULL): how many are before. */
int at_net_root(const at_net_cut *cut, int v, int64_t *offset);
/* How many elements the memory of a value has, which lies in no other value's. */
int64_t at_net_elements_in_memory(const at_net_cut *cut, int v);

/* How a node stands to the part before it. By rule a part goes on element by element, as long as
 * one value leaves it; it could also go on behind a second value that leaves, read windows by bands
 * of rows, or go on with another sum. */
typedef enum at_net_link { AT_NET_BY_RULE, AT_NET_ENDS, AT_NET_GOES_ON } at_net_link;
/* How a graph is cut. */
typedef struct at_net_cutting {
    bool *apart;        /* [node] moves of data that are not made by the parts that read them */
    at_net_link *links; /* [node] */
    bool *as_given;     /* [value] as of at_net_orders */
    int threads;        /* that share out bands of rows */
} at_net_cutting;
at_net_cutting at_net_cutting_new(at_arena *a, const at_net *net); /* all by rule */
/* AT_E_INPUT names a node that cannot be part of a computation. */
at_status at_net_cut_parts(at_arena *a, const at_net *rewritten, const at_net_cutting *how,
                           at_net_cut *out, at_error *err);

/* Nodes that could be one part. */
enum { AT_NET_MOST_BEGINS = 5 };
typedef struct at_net_chain {
    const int *nodes; /* in the order in which the part takes them */
    int num_nodes;
    int begins[AT_NET_MOST_BEGINS],
        num_begins; /* of them, with which a part may begin; ascending */
    bool has_sums;  /* a part could have several sums, not by bands */
} at_net_chain;
at_net_chain at_net_chain_from(at_arena *a, const at_net_cut *cut, const at_net_cutting *how,
                               int first);
/* The part that would begin with the node; *own: how many of its nodes no other part has. */
at_status at_net_part_from(at_arena *a, const at_net_cut *cut, const at_net_cutting *how, int first,
                           at_net_part *out, int *own, at_error *err);
/* part_text.c: title, name, text, parameters and rows of a part whose nodes are known. leaves:
 * [value] others read it. threads: that share out bands of rows; 0: it does not go by bands. */
at_status at_net_join_part(at_arena *a, const at_net_cut *cut, const bool *leaves, int threads,
                           at_net_part *p, at_error *err);

/* title.c: what a part is in words, and as a name. */
const char *at_net_part_title(at_arena *a, const at_net *net, const int *nodes, int n);
const char *at_net_part_name(at_arena *a, const char *title, const char *text);

/* What several files of the graph ask. */
int at_net_first_output(const at_net_node *n);                     /* that is wanted */
bool at_net_op_is(const at_net_node *n, const char *const *names); /* NULL ends the names */
/* Do kernels alone make and read the value, as numbers? readers: of at_net_readers. */
bool at_net_is_of_kernels(const at_net *net, const at_int_list *readers, int v);
/* [value] the nodes that read it, each once. */
const at_int_list *at_net_readers(at_arena *a, const at_net *net);
/* The only node that reads a value; -1: none or several do, or the value is an output. */
int at_net_only_reader(const at_net *net, const at_int_list *readers, int v);
/* Input k, if it is there and is a constant of floats; else NULL. */
const at_net_value *at_net_float_input(const at_net *net, const at_net_node *n, int k);
/* The graph has these nodes from now on (they may be the first of those that it had), and its
 * values these producers. */
void at_net_set_nodes(at_net *net, const at_net_node *nodes, int n);
/* The node reads another value instead of this one. */
void at_net_reread(at_net *net, at_net_node *n, int from, int to);
/* A value of float32; dims and data stay the caller's. */
int at_net_add_constant(at_net *net, const char *name, int rank, const int64_t *dims,
                        const float *data);
/* A node that makes the same elements as another value, as a part of its own. */
at_net_node at_net_identity(at_net *net, const char *op, int from, int to);

#endif
