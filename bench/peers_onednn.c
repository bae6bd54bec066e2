/* bench/peers_onednn.c: oneDNN's direct convolution, float32, forward, layouts of its own choice.
 * Data and weights are brought into these layouts ahead, as ours are packed ahead. Built where
 * dnnl.h is; its API differs between the major versions 2 and 3, and this is version 2's. */
#include "bench/bench.h"

#include <stdlib.h>

#if __has_include(<oneapi/dnnl/dnnl.h>)
#include <oneapi/dnnl/dnnl.h>
#endif

#if defined(DNNL_VERSION_MAJOR) && DNNL_VERSION_MAJOR == 2

struct at_onednn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t desc;
    dnnl_primitive_t primitive;
    dnnl_memory_t data, weight, out; /* in its layouts */
    dnnl_memory_desc_t plain_out;
    double flops;
    dnnl_status_t status; /* of the first call that failed */
};

const char *at_onednn_about(void) {
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

/* After the first failure nothing is done any more; the maker looks once, at the end. */
#define DO(call)                                                                                   \
    do {                                                                                           \
        if (d->status == dnnl_success) d->status = (call);                                         \
    } while (0)

static dnnl_memory_t memory(at_onednn *d, const dnnl_memory_desc_t *desc, void *handle) {
    dnnl_memory_t m = NULL;
    DO(dnnl_memory_create(&m, desc, d->engine, handle));
    return m;
}

static dnnl_memory_t own_memory(at_onednn *d, dnnl_query_t which) {
    if (d->status != dnnl_success) return NULL;
    const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(d->desc, which, 0);
    return memory(d, desc, at_bench_alloc((int64_t)dnnl_memory_desc_get_size(desc)));
}

static void reorder(at_onednn *d, dnnl_memory_t from, dnnl_memory_t to) {
    const dnnl_memory_desc_t *from_desc = NULL, *to_desc = NULL;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t primitive = NULL;
    dnnl_exec_arg_t args[] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    DO(dnnl_memory_get_memory_desc(from, &from_desc));
    DO(dnnl_memory_get_memory_desc(to, &to_desc));
    DO(dnnl_reorder_primitive_desc_create(&desc, from_desc, d->engine, to_desc, d->engine, NULL));
    DO(dnnl_primitive_create(&primitive, desc));
    DO(dnnl_primitive_execute(primitive, d->stream, 2, args));
    DO(dnnl_stream_wait(d->stream));
    if (primitive) dnnl_primitive_destroy(primitive);
    if (desc) dnnl_primitive_desc_destroy(desc);
}

static void reorder_plain(at_onednn *d, const dnnl_memory_desc_t *desc, const float *plain,
                          dnnl_memory_t to) {
    dnnl_memory_t from = memory(d, desc, (void *)(uintptr_t)plain);
    reorder(d, from, to);
    if (from) dnnl_memory_destroy(from);
}

static void make(at_onednn *d, const at_bench_conv *s, const float *data, const float *weight) {
    const dnnl_dims_t data_dims = {s->n, s->ic, s->ih, s->iw},
                      weight_dims = {s->oc, s->ic, s->kh, s->kw},
                      out_dims = {s->n, s->oc, at_bench_conv_oh(s), at_bench_conv_ow(s)},
                      strides = {s->stride, s->stride}, pads = {s->pad, s->pad};
    dnnl_memory_desc_t any_data, any_weight, any_out, plain_data, plain_weight;
    dnnl_convolution_desc_t conv;
    DO(dnnl_engine_create(&d->engine, dnnl_cpu, 0));
    DO(dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags));
    DO(dnnl_memory_desc_init_by_tag(&any_data, 4, data_dims, dnnl_f32, dnnl_format_tag_any));
    DO(dnnl_memory_desc_init_by_tag(&any_weight, 4, weight_dims, dnnl_f32, dnnl_format_tag_any));
    DO(dnnl_memory_desc_init_by_tag(&any_out, 4, out_dims, dnnl_f32, dnnl_format_tag_any));
    DO(dnnl_memory_desc_init_by_tag(&plain_data, 4, data_dims, dnnl_f32, dnnl_nhwc));
    DO(dnnl_memory_desc_init_by_tag(&plain_weight, 4, weight_dims, dnnl_f32, dnnl_ohwi));
    DO(dnnl_memory_desc_init_by_tag(&d->plain_out, 4, out_dims, dnnl_f32, dnnl_nhwc));
    DO(dnnl_convolution_forward_desc_init(&conv, dnnl_forward_inference, dnnl_convolution_direct,
                                          &any_data, &any_weight, NULL, &any_out, strides, pads,
                                          pads));
    DO(dnnl_primitive_desc_create(&d->desc, &conv, NULL, d->engine, NULL));
    DO(dnnl_primitive_create(&d->primitive, d->desc));
    d->data = own_memory(d, dnnl_query_src_md);
    d->weight = own_memory(d, dnnl_query_weights_md);
    d->out = own_memory(d, dnnl_query_dst_md);
    reorder_plain(d, &plain_data, data, d->data);
    reorder_plain(d, &plain_weight, weight, d->weight);
}

at_onednn *at_onednn_conv(const at_bench_conv *s, const float *data, const float *weight,
                          at_error *err) {
    at_onednn *d = calloc(1, sizeof *d);
    AT_ASSERT(d);
    d->flops = at_bench_conv_flops(s);
    make(d, s, data, weight);
    if (d->status == dnnl_success) return d;
    at_fail(err, AT_E_BUG, "oneDNN: status %d", (int)d->status);
    at_onednn_free(d);
    return NULL;
}

const char *at_onednn_kernel(const at_onednn *d) {
    const char *name = "";
    dnnl_primitive_desc_query(d->desc, dnnl_query_impl_info_str, 0, &name);
    return name;
}

static void run(void *context) {
    at_onednn *d = context;
    const dnnl_exec_arg_t args[] = {
        {DNNL_ARG_SRC, d->data}, {DNNL_ARG_WEIGHTS, d->weight}, {DNNL_ARG_DST, d->out}};
    dnnl_primitive_execute(d->primitive, d->stream, 3, args);
    dnnl_stream_wait(d->stream);
}

at_bench_contender at_onednn_contender(at_onednn *d) {
    return (at_bench_contender){run, d, d->flops};
}

void at_onednn_output(at_onednn *d, float *out) {
    run(d);
    dnnl_memory_t plain = memory(d, &d->plain_out, out);
    reorder(d, d->out, plain);
    if (plain) dnnl_memory_destroy(plain);
}

void at_onednn_free(at_onednn *d) {
    if (!d) return;
    if (d->data) dnnl_memory_destroy(d->data);
    if (d->weight) dnnl_memory_destroy(d->weight);
    if (d->out) dnnl_memory_destroy(d->out);
    if (d->primitive) dnnl_primitive_destroy(d->primitive);
    if (d->desc) dnnl_primitive_desc_destroy(d->desc);
    if (d->stream) dnnl_stream_destroy(d->stream);
    if (d->engine) dnnl_engine_destroy(d->engine);
    free(d);
}

#else

const char *at_onednn_about(void) { return NULL; }
at_onednn *at_onednn_conv(const at_bench_conv *s, const float *data, const float *weight,
                          at_error *err) {
    (void)s, (void)data, (void)weight;
    at_fail(err, AT_E_BUG, "built without oneDNN");
    return NULL;
}
const char *at_onednn_kernel(const at_onednn *d) {
    (void)d;
    return "";
}
at_bench_contender at_onednn_contender(at_onednn *d) { return (at_bench_contender){NULL, d, 0}; }
void at_onednn_output(at_onednn *d, float *out) { (void)d, (void)out; }
void at_onednn_free(at_onednn *d) { (void)d; }

#endif
