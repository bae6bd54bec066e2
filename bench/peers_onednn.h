/* bench/peers_onednn.h: what the files that call oneDNN share. Built where its header is; its API
 * differs between the major versions 2 and 3, and this is version 2's. */
#ifndef AT_BENCH_PEERS_ONEDNN_H
#define AT_BENCH_PEERS_ONEDNN_H

#include "bench/peers.h"

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2
#define HAS_ONEDNN

struct at_onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_memory_t data, weight, bias, out; /* in its layouts */
    dnnl_memory_t weight_of_state;         /* of a recurrent net; else NULL */
    dnnl_memory_desc_t plain_out;
    double flops;
    dnnl_status_t status; /* of the first call that failed */
};

/* After the first failure nothing is done any more; the maker looks once, at the end. */
#define DO(call)                                                                                   \
    do {                                                                                           \
        if (d->status == dnnl_success) d->status = (call);                                         \
    } while (0)

at_onednn *onednn_new(void); /* with an engine and a stream */
/* The same, if all went well; else NULL, and it is freed. */
at_onednn *onednn_made(at_onednn *d, at_error *err);
dnnl_memory_t onednn_memory(at_onednn *d, const dnnl_memory_desc_t *desc, void *handle);
/* Number i of this kind, in the layout that the primitive chose. */
dnnl_memory_t onednn_own_memory(at_onednn *d, dnnl_query_t which, int i);
void onednn_reorder_plain(at_onednn *d, const dnnl_memory_desc_t *desc, const float *plain,
                          dnnl_memory_t to);
#endif
#endif
