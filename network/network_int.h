/* network/network_int.h: what the files of network/ share: the file as it was read, the context in
 * which an operator's row works, helpers for texts. */
#ifndef AT_NETWORK_INT_H
#define AT_NETWORK_INT_H

#include "network/network.h"

/* ---- wire format (wire.c) -------------------------------------------------------------------- */

typedef struct wire {
    const uint8_t *at, *end;
} wire;
typedef enum wire_kind {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5
} wire_kind;
typedef struct wire_field {
    int number;
    wire_kind kind;
    uint64_t value; /* a varint, or the bits of a fixed one */
    wire bytes;
} wire_field;
/* The next field. False: there is none, or *broken was set. */
bool wire_next(wire *w, wire_field *f, bool *broken);
bool wire_varint(wire *w, uint64_t *out);
float wire_float(uint64_t bits);

/* ---- names (net_names.c)
 * ------------------------------------------------------------------------- */

typedef struct net_names {
    at_arena *arena;
    const char **name;
    int *value;
    int len, cap;
} net_names;
int net_names_find(const net_names *n, const char *name); /* -1: none */
/* False: it is there already. */
bool net_names_add(net_names *n, const char *name, int value);

/* ---- the file as read (onnx_read.c) ---------------------------------------------------------- */

typedef struct net_dim {
    int64_t value;    /* -1: unknown */
    const char *name; /* NULL: none */
} net_dim;
typedef struct net_port { /* an input or an output of a graph */
    const char *name;
    at_net_type type;
    bool has_shape;
    int rank;
    net_dim *dims;
    const char *other; /* "a sequence": no tensor; else NULL */
} net_port;
typedef struct net_raw_node {
    const char *name, *op, *domain;
    AT_VEC(const char *) inputs;
    AT_VEC(const char *) outputs;
    AT_VEC(at_net_attribute) attributes;
} net_raw_node;
typedef struct at_net_subgraph {
    const char *name;
    AT_VEC(net_raw_node) nodes;
    AT_VEC(at_net_tensor) constants;
    AT_VEC(net_port) inputs;
    AT_VEC(net_port) outputs;
    bool has_sparse;
} at_net_subgraph;
typedef struct net_import {
    const char *domain;
    int64_t version;
} net_import;
typedef struct net_model {
    int64_t ir_version;
    AT_VEC(net_import) imports;
    at_net_subgraph *graph;
    int num_functions;
} net_model;
typedef struct net_external net_external; /* files of external data */
at_status net_read_model(at_arena *a, const char *path, wire bytes, net_external *x, net_model *out,
                         at_error *err);

/* ---- files (net_file.c) ---------------------------------------------------------------------- */

at_status net_map_file(const char *path, const void **bytes, size_t *size, at_error *err);
void net_unmap(const void *bytes, size_t size);
/* Where external data lie: beside the model. path NULL: nowhere. */
net_external *net_external_new(at_arena *a, const char *path);
at_status net_external_data(net_external *x, const char *tensor, const char *location,
                            int64_t offset, int64_t length, const void **data, int64_t *bytes,
                            at_error *err);
const char *net_external_path(const net_external *x, int i); /* of file i; NULL: none */
void net_external_close(net_external *x);

/* ---- operators (registry.c, ops_*.c) --------------------------------------------------------- */

typedef struct net_out {
    at_net_type type;
    int rank;
    const int64_t *dims;
    const void *data;
    bool is_constant;
} net_out;

/* A node while its row works on it. */
typedef struct net_op {
    at_arena *arena;
    at_net *net;
    at_net_node *node;
    net_out *out; /* [num_outputs] */
    at_text text;
    at_error *err;
    bool is_missing; /* what failed is something that is not there yet, no contradiction */
} net_op;

struct at_net_row {
    const char *name, *domain;
    int since; /* the first version of the operator set that it reads */
    at_net_kind kind;
    int least_inputs, most_inputs; /* -1: any number */
    int most_outputs;              /* -1: any number */
    /* Works out types and sizes of the outputs, and writes the text; or gives constants. */
    at_status (*build)(net_op *o);
};
/* NULL: there is none. */
const at_net_row *net_row_find(const char *domain, const char *name, int64_t version);

/* op.c: what rows are written with. */
static inline const at_net_value *op_in(const net_op *o, int k) { /* NULL: not given */
    if (k < 0 || k >= o->node->num_inputs || o->node->inputs[k] < 0) return NULL;
    return &o->net->values.data[o->node->inputs[k]];
}
static inline bool op_has_out(const net_op *o, int k) {
    return k < o->node->num_outputs && o->node->outputs[k] >= 0;
}
at_status op_fail(net_op *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
at_status op_missing(net_op *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int64_t op_int(const net_op *o, const char *name, int64_t otherwise);
float op_float(const net_op *o, const char *name, float otherwise);
const char *op_string(const net_op *o, const char *name, const char *otherwise);
bool op_has(const net_op *o, const char *name, at_net_attribute_kind kind);
/* NULL: not given. */
const int64_t *op_ints(const net_op *o, const char *name, int *n);
/* n numbers of an attribute from the least on, which all are where it is not given. */
at_status op_numbers(net_op *o, const char *name, int n, int64_t least, int64_t *out);
/* Into 0 .. rank - 1. */
at_status op_axis(net_op *o, int64_t axis, int rank, int *out);
/* Elements of a constant input; what: "sizes" for the message. Not given: NULL and 0. */
at_status op_known_ints(net_op *o, int k, const int64_t **out, int *n);
at_status op_known_floats(net_op *o, int k, const double **out, int *n);
/* From the attribute of older versions, or from the input of newer ones. NULL: neither. */
at_status op_ints_of(net_op *o, const char *attribute, int input, const int64_t **out, int *n);
/* dims are copied. A dimension below 0 or too many elements is an error. */
at_status op_out(net_op *o, int k, at_net_type type, int rank, const int64_t *dims);
at_status op_out_like(net_op *o, int k, const at_net_value *v);
/* A constant output: room to fill. */
at_status op_constant(net_op *o, int k, void **data);
at_status op_same_type(net_op *o, int k, int other);
/* Another input, a constant that the row has worked out: its number. data lives as long. */
int op_add_constant(net_op *o, at_net_type type, int rank, const int64_t *dims, const void *data);
/* The entries of input k are indices, which the text reads as such. */
void op_reads_index(net_op *o, int k);
/* Entries of input k, which are no constant, count along axes of these sizes: entry i of
 * sizes[i % depth], from the end where it is below 0. */
void op_limit_entries(net_op *o, int k, const int64_t *sizes, int depth);
/* An entry of input k at this index, which may count from the end of so many. */
const char *op_entry(net_op *o, int k, const char *index, int64_t extent);
/* Axes from an attribute or an input, as a set; *given: there are some. */
at_status op_axis_set(net_op *o, const int64_t *axes, int n, int rank, uint32_t *out);

/* exp(d) for d from 0 downwards: what would be a subnormal number is 0. */
#define OP_SHARE_OF_D "d < -80 ? 0 : exp(d < -80 ? -80 : d)"
#define OP_TURN 6.283185307179586 /* once around a circle */
/* Texts: behind the text of the operator, and one by itself. */
#define op_add(o, ...) at_text_addf(&(o)->text, __VA_ARGS__)
#define op_format(o, ...) at_format((o)->arena, __VA_ARGS__)
const char *op_number(const net_op *o, double x); /* a float as the notation has it, with a sign */
/* "a0:4, a1:8"; of rank 0 "a0:1". */
const char *op_axes(const net_op *o, const char *letter, int rank, const int64_t *dims);
/* "a0, a1"; of rank 0 "0". */
const char *op_index(const net_op *o, const char *letter, int rank);
/* "a0, a1 - 4, a2" */
const char *op_shifted(const net_op *o, int rank, int axis, int64_t by);
/* An input that is broadcast to so many axes: "x1[a0, 0, a2]". */
const char *op_read(const net_op *o, int k, const char *letter, int rank);
/* The index of an element of sizes `in` as that of one of sizes `out` with as many elements whose
 * axes are letter<i>; *where: definitions that it uses, beginning with "where", or "". */
const char *op_reshaped(const net_op *o, const char *letter, int rank, const int64_t *dims,
                        int in_rank, const int64_t *in_dims, const char **where);
/* The output's sizes of two broadcast values, in place. */
at_status op_broadcast(net_op *o, int *rank, int64_t dims[AT_NET_MAX_RANK], const at_net_value *v);
/* Input k can be broadcast to these sizes. */
at_status op_fits(net_op *o, int k, int rank, const int64_t *dims);
/* The stage y0 as this expression of the inputs, broadcast to the output. */
at_status op_map(net_op *o, at_net_type type, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Of a norm of order p: what is added up of an element "%s", and what the sum "%s" comes to, NULL:
 * itself. */
at_status op_norm(net_op *o, int64_t p, const char **term, const char **result);

/* All of a set of axes of a value reduced: "r1:4" of these, "a0:2" of the others. */
typedef struct op_reduction {
    const at_net_value *x;
    uint32_t set;
    int64_t kept[AT_NET_MAX_RANK]; /* sizes, 1 where reduced */
    int64_t terms;
} op_reduction;
op_reduction op_reduce(const at_net_value *x, uint32_t set);
const char *op_terms(const net_op *o, const op_reduction *r); /* "r1:4, r2:3" */
/* The index of a term, "a0, r1"; letter NULL: of what its element was reduced to, "a0, 0". */
const char *op_term(const net_op *o, const op_reduction *r, const char *letter);

/* ops_conv.c: the stage of a convolution's sum. */
typedef struct op_convolution {
    int weight, bias; /* inputs; the data are input 0 */
    at_net_type type; /* of the output */
    const char *stage;
    const char *data_zero, *weight_zero; /* what is taken from each element; NULL: nothing */
} op_convolution;
/* *axes, *own: of the output, "n:1, m:64, a0:56", "n, m, a0". */
at_status op_convolve(net_op *o, const op_convolution *how, const char **axes, const char **own);

/* The stage of a mean of windows, or of all of a picture, of what is left of the data without
 * data_zero (NULL: nothing is taken); *axes, *own: as of op_convolve. */
at_status op_average(net_op *o, bool whole, const char *data_zero, at_net_type type,
                     const char *stage, const char **axes, const char **own);

/* Families. */
#define NET_ROWS_END                                                                               \
    { .name = NULL }
extern const at_net_row net_rows_angles[], net_rows_attention[], net_rows_bits[], net_rows_blocks[],
    net_rows_boxes[], net_rows_conv[], net_rows_map[], net_rows_move[], net_rows_gather[],
    net_rows_loss[], net_rows_norm[], net_rows_product[], net_rows_quant[], net_rows_reduce[],
    net_rows_resize[], net_rows_sample[], net_rows_scan[], net_rows_shape[], net_rows_signal[];

/* ---- graph (graph.c, fold.c) ----------------------------------------------------------------- */

/* The outputs of a node whose inputs are constant, by its text. */
at_status net_fold(net_op *o);
/* The value that a tensor's name says: k of x<k> or y<k>; -1: another. */
int net_number(const char *name, char letter);

#endif
