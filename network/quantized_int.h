/* network/quantized_int.h: what the files share that make nodes of integers: quantized.c (which
 * values and nodes), quantized_match.c (products that fit), quantized_nodes.c (their texts). */
#ifndef AT_NETWORK_QUANTIZED_INT_H
#define AT_NETWORK_QUANTIZED_INT_H

#include "network/quantized.h"

typedef enum product_kind { CONVOLUTION, MATRICES } product_kind;

/* What is summed up, and what becomes of the sums. */
typedef struct product {
    product_kind kind;
    const at_net_node *node; /* Conv, MatMul, Gemm or one of theirs */
    at_net_quantized x, w;   /* x.num is 1, or 0: its zero is given by zero_value */
    int zero_value;          /* -1: none */
    bool transposed;         /* the second matrix is [M, K] */
    int64_t outputs;         /* channels or columns */
    const double *shift;     /* [outputs]: a weight less its zero is an s8 more this; NULL: an s8 */
    bool is_of_two;          /* a weight less its zero is the sum of two s8, one behind the other */
    const double *bias;      /* [outputs] in reals; NULL: none */
    bool is_rounded;         /* to y; else the sums are reals, or, of type s32, integers */
    bool is_whole;
    bool is_positive; /* nothing below zero is left of what is rounded */
    at_net_quantized y;
    int output; /* value */
} product;

typedef struct quantizer {
    at_arena *arena;
    at_net *net;
    const at_int_list *readers;
    AT_VEC(at_net_node) nodes; /* as they become */
} quantizer;

/* quantized_match.c: false: it is none. */
bool net_match_linear(const quantizer *q, const at_net_node *n, product *p);
bool net_match_integers(const quantizer *q, const at_net_node *n, product *p);
bool net_match_reals(const quantizer *q, const at_net_node *n, product *p);
bool net_match_rounded(const quantizer *q, const at_net_node *n, product *p);
/* The node that makes a value which this reader alone reads; NULL: another. */
const at_net_node *net_maker_of(const quantizer *q, int v);
bool net_is_byte(const at_net_value *v);
bool net_is_dense(const product *p);        /* a convolution whose outputs read all channels */
int net_input(const at_net_node *n, int k); /* -1: not given */
/* One scale and one zero for all, the same ones. */
bool net_same_numbers(const at_net_quantized *x, const at_net_quantized *y);
/* The real number that 1 stands for in sums of output m. */
double net_unit_of(const product *p, int64_t m);

/* quantized_tables.c: what a QuantizeLinear makes of one byte, by several steps, is looked up.
 * False: it is made in another way. */
bool net_add_table(quantizer *q, const at_net_node *n);

/* quantized_views.c: moves of dequantized numbers become moves of their bytes. */
void net_view_bytes(at_net *net);

/* quantized_nodes.c: appended to the quantizer's nodes. */
void net_add_product(quantizer *q, const product *p);
void net_add_node(quantizer *q, const at_net_node *like, const char *op, at_net_kind kind,
                  const int *inputs, int num_inputs, int output, at_text *text);
int net_add_constant(quantizer *q, const char *name, at_net_type type, at_type element_type,
                     int rank, const int64_t *dims, const void *data);
int64_t net_number_of(const at_net_node *n, const char *name, int i, int64_t otherwise);
/* Element i of a product's weight less its zero, and the output to which it goes. */
double net_weight(const product *p, const at_net_value *w, int64_t i);
int64_t net_output_of(const product *p, const at_net_value *w, int64_t i);
extern const char *const net_picture_axes[], *const net_matrix_axes[];
void net_add_dims(at_text *t, const at_net_value *v, const char *const *names);
void net_add_names(at_text *t, int rank, const char *const *names);

#endif
