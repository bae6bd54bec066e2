/* network/network.h: a network as a graph of an ONNX file. Values have known sizes, every node has
 * the row of its operator and the text of its computation. What depends on constants and sizes
 * alone has been worked out.
 *
 * The file stays mapped while the graph lives; weights are not copied. */
#ifndef AT_NETWORK_H
#define AT_NETWORK_H

#include "base/base.h"
#include "schedule/schedule.h"

/* Element types, with the numbers of ONNX's TensorProto.DataType. */
typedef enum at_net_type {
    AT_NET_UNDEFINED = 0,
    AT_NET_FLOAT = 1,
    AT_NET_UINT8 = 2,
    AT_NET_INT8 = 3,
    AT_NET_UINT16 = 4,
    AT_NET_INT16 = 5,
    AT_NET_INT32 = 6,
    AT_NET_INT64 = 7,
    AT_NET_STRING = 8,
    AT_NET_BOOL = 9,
    AT_NET_FLOAT16 = 10,
    AT_NET_DOUBLE = 11,
    AT_NET_UINT32 = 12,
    AT_NET_UINT64 = 13,
    AT_NET_BFLOAT16 = 16
} at_net_type;
const char *at_net_type_name(at_net_type t); /* "float32"; "unknown" */
int at_net_type_bytes(at_net_type t);        /* of an element; 0: it has no fixed size */
const char *at_net_c_type(at_net_type t);    /* NULL: C has none */
bool at_net_type_is_float(at_net_type t);
bool at_net_type_is_half(at_net_type t); /* floats of 16 bits */
bool at_net_type_is_int(at_net_type t);  /* whole numbers, truth values aside */

enum { AT_NET_MAX_RANK = 12 };
/* With fewer channels a convolution reads and writes them as the file declares them, first. */
enum { AT_NET_LEAST_LAST = 8 };
#define AT_NET_MAX_ELEMENTS (1LL << 32) /* of one value */

/* Elements row by row in `type`. data may stand at any address: read it by memcpy or by
 * at_net_element. */
typedef struct at_net_tensor {
    const char *name;
    at_net_type type;
    int rank;
    const int64_t *dims;
    int64_t elements;
    const void *data;
} at_net_tensor;

typedef struct at_net_value {
    const char *name; /* as in the file */
    at_net_type type;
    int rank;            /* 0: a single element */
    const int64_t *dims; /* never NULL */
    int64_t elements;
    const void *data; /* of a constant: as in at_net_tensor; else NULL */
    int producer;     /* node; -1: an input or a constant */
    bool is_constant; /* known now; one without elements may have no data */
    at_type element;  /* as kernels have it: float32, or of a rewritten graph integers */
    const struct at_net_node *dequantized; /* a constant's: the DequantizeLinear that made it */
    bool is_input, is_output;
} at_net_value;

/* What stands in an attribute, with the numbers of ONNX's AttributeProto.AttributeType. */
typedef enum at_net_attribute_kind {
    AT_NET_ATTR_NONE = 0,
    AT_NET_ATTR_FLOAT = 1,
    AT_NET_ATTR_INT = 2,
    AT_NET_ATTR_STRING = 3,
    AT_NET_ATTR_TENSOR = 4,
    AT_NET_ATTR_GRAPH = 5,
    AT_NET_ATTR_FLOATS = 6,
    AT_NET_ATTR_INTS = 7,
    AT_NET_ATTR_STRINGS = 8
} at_net_attribute_kind;

struct at_net_subgraph; /* network_int.h */
typedef struct at_net_attribute {
    const char *name;
    at_net_attribute_kind kind;
    int64_t i;
    float f;
    const char *s;
    int num; /* of floats, ints or strings */
    const float *floats;
    const int64_t *ints;
    const char *const *strings;
    const at_net_tensor *tensor;
    const struct at_net_subgraph *graph;
} at_net_attribute;

/* What an operator is to fusion. */
typedef enum at_net_kind {
    AT_NET_MAP,   /* element by element, with broadcasting */
    AT_NET_MOVE,  /* elements in another place: reshape, transpose, slice, pad, gather, .. */
    AT_NET_SUM,   /* convolutions, products, pooling, reductions */
    AT_NET_SCAN,  /* recurrences */
    AT_NET_OTHER, /* several stages, such as softmax */
    AT_NET_KIND_COUNT
} at_net_kind;

typedef struct at_net_row at_net_row; /* an operator */

/* What integers may be: element i from lo[i % depth] to hi[i % depth]. depth 0: anything. */
typedef struct at_net_limits {
    int depth;
    const int64_t *lo, *hi;
} at_net_limits;

typedef struct at_net_node {
    const char *name, *op;
    int num_inputs, num_outputs;
    const int *inputs; /* values; -1: an optional one that is not given */
    const int *outputs;
    int num_attributes;
    const at_net_attribute *attributes;
    int version; /* of the operator set */
    const at_net_row *row;
    at_net_kind kind;
    /* The stages of the computation, without declarations. Input k is the tensor x<k>, output k is
     * y<k>, stages between have other names. All extents are numbers. A value of rank 0 has one
     * axis of extent 1. Values, those of integers too, are read as numbers, those of index_inputs
     * as indices. */
    const char *text;
    uint32_t index_inputs; /* as bits */
    int limited;           /* the index input that these are of; where it has none, what the text
                            * reads says what its entries may be */
    at_net_limits limits;
    bool is_whole;    /* of a rewritten graph: its integers may be beyond those of float32 */
    bool is_in_place; /* of a rewritten graph: what it reads lies in what it makes, or this in that
                       */
} at_net_node;
/* NULL: the node has none of this name that is of this kind: what is usual holds. */
const at_net_attribute *at_net_attribute_find(const at_net_node *n, const char *name,
                                              at_net_attribute_kind kind);
/* The whole number of an attribute; `otherwise` where the node has no such attribute. */
int64_t at_net_int(const at_net_node *n, const char *name, int64_t otherwise);
/* Does the text read input k? Sizes that it is written with do not count. */
bool at_net_reads(const at_net_node *n, int k);

typedef struct at_net {
    at_arena *arena;
    const char *path;
    AT_VEC(at_net_value) values;
    AT_VEC(at_net_node) nodes; /* each behind those that it reads */
    AT_VEC(int) inputs;        /* values, in the file's order */
    AT_VEC(int) outputs;
    int64_t room_bytes; /* for constants that are worked out */
    struct at_net_file *file;
} at_net;

/* The bytes of all constants that nodes read, each constant once. */
int64_t at_net_weights_bytes(const at_net *net);

/* Names of the inputs and outputs of a network. */
typedef struct at_net_names {
    const char *const *inputs, *const *outputs;
    int num_inputs, num_outputs;
} at_net_names;

/* Sizes by name and values of inputs, as the user gives them. */
typedef struct at_net_options {
    const char *dims; /* "batch=1,seq=128"; x[0]=1 is a size of the input x; NULL: none */
    const char *sets; /* "sr=16000": all elements of the input sr; NULL: none */
    /* "boxes,scores": values that are returned instead of the file's outputs; nodes that they do
     * not need are not read. NULL: the outputs */
    const char *until;
    /* The array that is given for an input, which has its sizes; *is_constant: its elements, too,
     * so that what depends on them is known. Returns NULL where there is none; may be NULL. */
    const at_net_tensor *(*array_of)(void *ctx, const char *input, bool *is_constant);
    /* Told these names before the sizes of inputs are looked at: fails where an array is given by
     * another name. May be NULL. */
    at_status (*check_names)(void *ctx, const at_net_names *of, at_error *err);
    void *ctx;
    int64_t room_bytes; /* for constants that are worked out of others; 0: 2 GiB */
} at_net_options;

/* Reads a file. AT_E_INPUT: it is no ONNX, or inconsistent, or has what is not there yet, which is
 * told all at once. AT_E_USAGE: a size or a value is missing or wrong. at_net_close frees. */
at_status at_net_open(const char *path, const at_net_options *o, at_net **out, at_error *err);
/* The same of bytes, which live as long as the graph; path is for messages and finds external data,
 * NULL: there is none. */
at_status at_net_parse(const void *bytes, size_t size, const char *path, const at_net_options *o,
                       at_net **out, at_error *err);
void at_net_close(at_net *n); /* NULL is fine */
/* Files that it was read of: the model and those of external data; NULL: there is no file i. */
const char *at_net_file_at(const at_net *n, int i);
/* Is it the name of such a file? */
bool at_net_is_model(const char *path);

/* Element i of data in this type as a number; of whole numbers beyond 2^53 the nearest. */
double at_net_element(at_net_type t, const void *data, int64_t i);
int64_t at_net_element_int(at_net_type t, const void *data, int64_t i);
/* "i[2, 5]": element i of the value, for messages; owned by a. */
const char *at_net_element_name(at_arena *a, const at_net_value *v, int64_t i);
/* Stores x as element i of data, as ONNX's Cast does. */
void at_net_store(at_net_type t, void *data, int64_t i, double x);

/* Converts elements from floats of 16 bits to float32, or back; false: the types are others. */
bool at_net_widen(at_net_type from, const void *x, at_net_type to, void *y, int64_t elements);
/* How far an output of this type may be from x because its type rounds more than float32 does; 0:
 * it does not. */
double at_net_type_rounds(at_net_type t, double x);

/* A node's computation: its text behind declarations. What is constant is a weight, unless the text
 * reads it as an index. */
at_status at_net_computation(at_arena *a, const at_net *net, const at_net_node *n, at_compute **out,
                             at_error *err);
/* Appends the text of that computation. */
void at_net_add_computation(at_text *out, const at_net *net, const at_net_node *n);
/* Appends the network as text: inputs and outputs, nodes, sizes, constants. texts: the nodes'
 * computations, too. */
void at_net_print(at_text *out, const at_net *net, bool texts);
void at_net_add_shape(at_text *out, at_net_type type, int rank, const int64_t *dims);

/* ---- the graph in double (net_reference.c) --------------------------------------------------- */

/* Plain C of the nodes' texts, compiled. Borrows the graph, and lives in this process. */
typedef struct at_net_reference at_net_reference;
/* AT_E_INTERRUPTED once *stop (may be NULL) is set. */
at_status at_net_reference_new(const at_net *net, const volatile int *stop, at_net_reference **out,
                               at_error *err);
/* inputs: the elements of each input of the graph, in its type. outputs: those of each output, in
 * double, which live in a. */
at_status at_net_reference_run(at_net_reference *r, const void *const *inputs, at_arena *a,
                               double **outputs, const volatile int *stop, at_error *err);
/* How far the elements of an output are from the expected ones, beyond what their type rounds; in
 * the output's own unit. */
typedef struct at_net_distance {
    double most; /* infinite where an element is no number */
    double
        rms; /* of all that are numbers: many small differences show, where few large ones may be */
} at_net_distance;
/* moved: of each output how far elements change where every number on the way, inputs and
 * weights among them, is rounded once more as float32 does, at random, a few times. Kernels of
 * float32, which round several times, may be AT_NET_OF_MOVED times as far. Where numbers become
 * bytes a change comes or does not come: there, further draws move numbers as many times as far,
 * until one comes, and a quarter of it counts. outputs: those of at_net_reference_run. */
enum { AT_NET_OF_MOVED = 8 };
at_status at_net_reference_moved(at_net_reference *r, const void *const *inputs,
                                 double *const *outputs, at_net_distance *moved,
                                 const volatile int *stop, at_error *err);
void at_net_reference_free(at_net_reference *r); /* NULL is fine */
/* Of x, the elements of v, from the expected ones. */
at_net_distance at_net_distance_of(const at_net_value *v, const double *x, const double *expected);

#endif
