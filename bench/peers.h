/* bench/peers.h: libraries that are compared with: found or not. */
#ifndef AT_BENCH_PEERS_H
#define AT_BENCH_PEERS_H

#include "bench/bench.h"

/* ---- peers: found or not, one convolution at a time ------------------------------------------ */

/* An operator with a window, channels last; the same stride, padding and dilation along each axis.
 */
typedef enum at_bench_op_kind {
    AT_BENCH_CONV,
    AT_BENCH_TRANSPOSED_CONV,
    AT_BENCH_AVG_POOL,
    AT_BENCH_MAX_POOL,
    AT_BENCH_SOFTMAX,    /* of n rows of ic elements, without axes of a window */
    AT_BENCH_LAYER_NORM, /* the same; weight: its scales, then its shifts */
    AT_BENCH_PRODUCT,    /* in: its y, x and k; OpenBLAS's, as the next two */
    AT_BENCH_HEADS,      /* queries times keys [s, h, d], head by head; in: s, h, d */
    AT_BENCH_NORM,       /* of in[0] elements */
    AT_BENCH_NO_PEER
} at_bench_op_kind;
typedef struct at_bench_op {
    at_bench_op_kind kind;
    int dims, n, ic, oc, groups, in[3], kernel[3], stride, pad, dilation;
    bool weight_ohwi;  /* [oc, kernel, ic] instead of [kernel, ic/groups, oc] */
    int winograd;      /* as at_bench_conv's */
    const float *bias; /* of a convolution: added, and ReLU behind it; NULL: neither */
} at_bench_op;
void at_bench_op_out(const at_bench_op *s, int out[3]); /* extents of the output (window.c) */

/* peers_onednn.c: convolution, layouts of oneDNN's choice, weights and data reordered ahead;
 * pooling of data as they are. */
const char *at_onednn_about(void); /* version; NULL: built without it */
typedef struct at_onednn at_onednn;
/* Borrows data [n, in, ic] and weight, which pooling has not. NULL with a text in err. */
at_onednn *at_onednn_op(const at_bench_op *s, const float *data, const float *weight,
                        at_error *err);
/* Borrows data [n, ih, iw, ic] and weight [oc, kh, kw, ic]. NULL with a text in err. */
at_onednn *at_onednn_conv(const at_bench_conv *s, const float *data, const float *weight,
                          at_error *err);
/* peers_onednn_lstm.c: x[t, b, i], weight[gate, j, i], weight_of_state[gate, j, k], bias[gate, j],
 * gates in the order in, forget, new, out; output [t, b, j]. */
typedef struct at_bench_lstm {
    int steps, batch, inputs, states;
} at_bench_lstm;
at_onednn *at_onednn_lstm(const at_bench_lstm *s, const float *data, const float *weight,
                          const float *weight_of_state, const float *bias, at_error *err);
const char *at_onednn_kernel(const at_onednn *d); /* name of the implementation it chose */
void at_onednn_output(at_onednn *d, float *out);  /* [n, oh, ow, oc] */
at_bench_contender at_onednn_contender(at_onednn *d);
void at_onednn_free(at_onednn *d);
/* onednn.c: the same, its output checked: of plain tensors as above, and of a template's, which
 * holds them in blocks of i and o channels. To be freed even after an error. */
at_status at_bench_open_onednn(const at_bench_conv *s, const float *data, const float *weight,
                               const float *expected, at_onednn **out, at_error *err);
/* A copy of [outer, blocks, inner, block] as [outer, inner, blocks*block]. */
float *at_bench_unblocked(const float *blocked, int64_t outer, int64_t blocks, int64_t inner,
                          int64_t block);
at_status at_bench_open_onednn_blocked(const at_bench_conv *s, const at_bench_data *d, int64_t i,
                                       int64_t o, at_onednn **out, at_error *err);

/* peers_openblas.c: im2col of the whole layer, then one sgemm. */
const char *at_openblas_about(void); /* kernels' core name; NULL: not on this machine */
typedef struct at_openblas at_openblas;
at_openblas *at_openblas_conv(at_arena *a, const at_bench_conv *s, const float *data,
                              const float *weight);
const float *at_openblas_output(const at_openblas *b); /* [n, oh, ow, oc] */
at_bench_contender at_openblas_contender(at_openblas *b);

/* peers_xnnpack.c: weight [oc, kh, kw, ic], packed when it is made. NULL: it cannot do that. */
bool at_xnnpack_is_there(void);
typedef struct at_xnnpack at_xnnpack;
at_xnnpack *at_xnnpack_conv(at_arena *a, const at_bench_conv *s, const float *data,
                            const float *weight);
const float *at_xnnpack_output(const at_xnnpack *x); /* [n, oh, ow, oc] */
at_bench_contender at_xnnpack_contender(at_xnnpack *x);
void at_xnnpack_free(at_xnnpack *x); /* NULL is fine */

/* a [y, k] times b [k, x], or its transpose [x, k], plus addend [y, x] unless NULL. */
typedef struct at_openblas_product at_openblas_product;
at_openblas_product *at_openblas_product_new(at_arena *arena, const int yxk[3], const float *a,
                                             const float *b, bool transposed, const float *addend);
/* Queries a times keys b, both [s, h, d], for each h; the norm of n elements. */
at_openblas_product *at_openblas_heads_new(at_arena *arena, const int shd[3], const float *a,
                                           const float *b);
at_openblas_product *at_openblas_norm_new(at_arena *arena, int n, const float *a);
const float *at_openblas_product_output(const at_openblas_product *p);
at_bench_contender at_openblas_product_contender(at_openblas_product *p);

/* peers_tvm.c: what tools/tvm-search found for a row: PATH.so and PATH.json. Borrows the data, and
 * checks its output. To be closed even after an error. AT_E_NO_VALID: it is no such kernel. */
typedef struct at_tvm at_tvm;
at_status at_tvm_open(at_arena *a, const char *path, const at_bench_data *d, at_tvm **out,
                      at_error *err);
void at_tvm_close(at_tvm *t); /* NULL is fine */
double at_tvm_search_s(const at_tvm *t);
int at_tvm_trials(const at_tvm *t);
at_bench_contender at_tvm_contender(at_tvm *t);

#endif
