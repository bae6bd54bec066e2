/* bench/peers_onednn.c: oneDNN's operators on windows, float32, forward: convolution, also
 * grouped and transposed, in layouts of its own choice, and pooling, channels last. Data and
 * weights are brought into these layouts ahead, as ours are packed ahead. Built where dnnl.h is;
 * its API differs between the major versions 2 and 3, and this is version 2's. */
#include "bench/peers_onednn.h"

#include <stdlib.h>

#ifdef HAS_ONEDNN

const char *at_onednn_about(void) {
    static char text[32];
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}

dnnl_memory_t onednn_memory(at_onednn *d, const dnnl_memory_desc_t *desc, void *handle) {
    dnnl_memory_t m = NULL;
    DO(dnnl_memory_create(&m, desc, d->engine, handle));
    return m;
}

dnnl_memory_t onednn_own_memory(at_onednn *d, dnnl_query_t which, int i) {
    if (d->status != dnnl_success) return NULL;
    const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(d->desc, which, i);
    return onednn_memory(d, desc, at_bench_alloc((int64_t)dnnl_memory_desc_get_size(desc)));
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

void onednn_reorder_plain(at_onednn *d, const dnnl_memory_desc_t *desc, const float *plain,
                          dnnl_memory_t to) {
    dnnl_memory_t from = onednn_memory(d, desc, (void *)(uintptr_t)plain);
    reorder(d, from, to);
    if (from) dnnl_memory_destroy(from);
}

/* Weights are transformed out of [oc, ic, kh, kw] alone. */
static void transform_weight(at_onednn *d, const dnnl_memory_desc_t *plain, const float *weight,
                             const dnnl_dims_t dims) {
    dnnl_memory_desc_t desc;
    DO(dnnl_memory_desc_init_by_tag(&desc, 4, dims, dnnl_f32, dnnl_oihw));
    if (d->status != dnnl_success) return;
    dnnl_memory_t m =
        onednn_memory(d, &desc, at_bench_alloc((int64_t)dnnl_memory_desc_get_size(&desc)));
    onednn_reorder_plain(d, plain, weight, m);
    reorder(d, m, d->weight);
    if (m) dnnl_memory_destroy(m);
}

/* Channels last, in memory: [n, spatial..., c]. */
static void describe_data(at_onednn *d, const at_bench_op *s, const int *extent, int c,
                          dnnl_memory_desc_t *any, dnnl_memory_desc_t *plain) {
    dnnl_dims_t dims = {s->n, c}, strides = {0, 1};
    int64_t step = c;
    for (int i = s->dims - 1; i >= 0; i--) {
        dims[2 + i] = extent[i];
        strides[2 + i] = step;
        step *= extent[i];
    }
    strides[0] = step;
    DO(dnnl_memory_desc_init_by_tag(any, 2 + s->dims, dims, dnnl_f32, dnnl_format_tag_any));
    DO(dnnl_memory_desc_init_by_strides(plain, 2 + s->dims, dims, dnnl_f32, strides));
}

/* In memory [kernel..., ic/groups, oc], or [oc, kernel..., ic]. */
static void describe_weight(at_onednn *d, const at_bench_op *s, dnnl_memory_desc_t *any,
                            dnnl_memory_desc_t *plain) {
    int g = s->groups > 1, i = s->ic / s->groups, o = s->oc / s->groups;
    dnnl_dims_t dims = {s->groups}, strides = {o};
    int64_t step = s->weight_ohwi ? i : (int64_t)i * s->oc;
    dims[g] = o, dims[g + 1] = i;
    strides[g + 1] = s->weight_ohwi ? 1 : s->oc;
    for (int k = s->dims - 1; k >= 0; k--) {
        dims[g + 2 + k] = s->kernel[k];
        strides[g + 2 + k] = step;
        step *= s->kernel[k];
    }
    strides[g] = s->weight_ohwi ? step : 1;
    DO(dnnl_memory_desc_init_by_tag(any, g + 2 + s->dims, dims, dnnl_f32, dnnl_format_tag_any));
    DO(dnnl_memory_desc_init_by_strides(plain, g + 2 + s->dims, dims, dnnl_f32, strides));
}

/* A bias, and ReLU as a part of the convolution. */
static void add_relu(at_onednn *d, int oc, dnnl_memory_desc_t *bias, dnnl_primitive_attr_t *attr) {
    dnnl_post_ops_t ops = NULL;
    DO(dnnl_memory_desc_init_by_tag(bias, 1, (dnnl_dims_t){oc}, dnnl_f32, dnnl_x));
    DO(dnnl_primitive_attr_create(attr));
    DO(dnnl_post_ops_create(&ops));
    DO(dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_relu, 0, 0));
    DO(dnnl_primitive_attr_set_post_ops(*attr, ops));
    if (ops) dnnl_post_ops_destroy(ops);
}

static void make(at_onednn *d, const at_bench_op *s, const float *data, const float *weight) {
    dnnl_memory_desc_t any_data, any_weight, any_out, plain_data, plain_weight, bias;
    dnnl_primitive_attr_t attr = NULL;
    dnnl_dims_t strides, dilates, pads, kernel;
    int out[3];
    union {
        dnnl_convolution_desc_t conv;
        dnnl_deconvolution_desc_t deconv;
        dnnl_pooling_v2_desc_t pool;
        dnnl_softmax_desc_t softmax;
        dnnl_layer_normalization_desc_t layer_norm;
    } op;
    at_bench_op_out(s, out);
    for (int i = 0; i < s->dims; i++) {
        strides[i] = s->stride;
        dilates[i] = s->dilation - 1;
        pads[i] = s->pad;
        kernel[i] = s->kernel[i];
    }
    describe_data(d, s, s->in, s->ic, &any_data, &plain_data);
    describe_data(d, s, out, s->oc, &any_out, &d->plain_out);
    switch (s->kind) {
    case AT_BENCH_CONV:
        describe_weight(d, s, &any_weight, &plain_weight);
        if (s->bias) add_relu(d, s->oc, &bias, &attr);
        /* Which tiles Winograd has follows from what it is for. */
        DO(dnnl_dilated_convolution_forward_desc_init(
            &op.conv, s->winograd == 4 ? dnnl_forward_training : dnnl_forward_inference,
            s->winograd ? dnnl_convolution_winograd : dnnl_convolution_direct, &any_data,
            &any_weight, s->bias ? &bias : NULL, &any_out, strides, dilates, pads, pads));
        break;
    case AT_BENCH_TRANSPOSED_CONV:
        describe_weight(d, s, &any_weight, &plain_weight);
        DO(dnnl_dilated_deconvolution_forward_desc_init(
            &op.deconv, dnnl_forward_inference, dnnl_deconvolution_direct, &any_data, &any_weight,
            NULL, &any_out, strides, dilates, pads, pads));
        break;
    case AT_BENCH_SOFTMAX:
        DO(dnnl_softmax_forward_desc_init(&op.softmax, dnnl_forward_inference, &plain_data, 1));
        break;
    case AT_BENCH_LAYER_NORM:
        DO(dnnl_layer_normalization_forward_desc_init(
            &op.layer_norm, dnnl_forward_inference, &plain_data, NULL, 1e-5f, dnnl_use_scaleshift));
        DO(dnnl_memory_desc_init_by_tag(&plain_weight, 2, (dnnl_dims_t){2, s->ic}, dnnl_f32,
                                        dnnl_ab));
        break;
    default:
        DO(dnnl_pooling_v2_forward_desc_init(
            &op.pool, dnnl_forward_inference,
            s->kind == AT_BENCH_MAX_POOL ? dnnl_pooling_max : dnnl_pooling_avg_include_padding,
            &plain_data, &any_out, strides, kernel, dilates, pads, pads));
    }
    DO(dnnl_primitive_desc_create(&d->desc, &op, attr, d->engine, NULL));
    if (attr) dnnl_primitive_attr_destroy(attr);
    DO(dnnl_primitive_create(&d->primitive, d->desc));
    d->data = onednn_own_memory(d, dnnl_query_src_md, 0);
    d->out = onednn_own_memory(d, dnnl_query_dst_md, 0);
    onednn_reorder_plain(d, &plain_data, data, d->data);
    if (s->bias) d->bias = onednn_memory(d, &bias, (void *)(uintptr_t)s->bias);
    if (!weight) return;
    d->weight = onednn_own_memory(d, dnnl_query_weights_md, 0);
    if (s->winograd) transform_weight(d, &plain_weight, weight, plain_weight.dims);
    else onednn_reorder_plain(d, &plain_weight, weight, d->weight);
}

at_onednn *onednn_new(void) {
    at_onednn *d = calloc(1, sizeof *d);
    AT_ASSERT(d);
    DO(dnnl_engine_create(&d->engine, dnnl_cpu, 0));
    DO(dnnl_stream_create(&d->stream, d->engine, dnnl_stream_default_flags));
    return d;
}

at_onednn *onednn_made(at_onednn *d, at_error *err) {
    if (d->status == dnnl_success) return d;
    at_fail(err, AT_E_BUG, "oneDNN: status %d", (int)d->status);
    at_onednn_free(d);
    return NULL;
}

at_onednn *at_onednn_op(const at_bench_op *s, const float *data, const float *weight,
                        at_error *err) {
    at_onednn *d = onednn_new();
    make(d, s, data, weight);
    return onednn_made(d, err);
}

at_onednn *at_onednn_conv(const at_bench_conv *s, const float *data, const float *weight,
                          at_error *err) {
    const at_bench_op op = {.kind = AT_BENCH_CONV,
                            .dims = 2,
                            .n = s->n,
                            .ic = s->ic,
                            .oc = s->oc,
                            .groups = 1,
                            .in = {s->ih, s->iw},
                            .kernel = {s->kh, s->kw},
                            .stride = s->stride,
                            .pad = s->pad,
                            .dilation = 1,
                            .weight_ohwi = true,
                            .winograd = s->winograd};
    at_onednn *d = at_onednn_op(&op, data, weight, err);
    if (d) d->flops = at_bench_conv_flops(s);
    return d;
}

const char *at_onednn_kernel(const at_onednn *d) {
    const char *name = "";
    dnnl_primitive_desc_query(d->desc, dnnl_query_impl_info_str, 0, &name);
    return name;
}

static void run(void *context) {
    at_onednn *d = context;
    const dnnl_exec_arg_t args[] = {{DNNL_ARG_SRC, d->data},
                                    {DNNL_ARG_DST, d->out},
                                    {DNNL_ARG_WEIGHTS, d->weight},
                                    {DNNL_ARG_BIAS, d->bias},
                                    {DNNL_ARG_WEIGHTS_ITER, d->weight_of_state}};
    const int n = d->weight_of_state ? 5 : d->bias ? 4 : d->weight ? 3 : 2;
    dnnl_primitive_execute(d->primitive, d->stream, n, args);
    dnnl_stream_wait(d->stream);
}

at_bench_contender at_onednn_contender(at_onednn *d) {
    return (at_bench_contender){run, d, d->flops};
}

void at_onednn_output(at_onednn *d, float *out) {
    run(d);
    dnnl_memory_t plain = onednn_memory(d, &d->plain_out, out);
    reorder(d, d->out, plain);
    if (plain) dnnl_memory_destroy(plain);
}

void at_onednn_free(at_onednn *d) {
    if (!d) return;
    if (d->data) dnnl_memory_destroy(d->data);
    if (d->weight) dnnl_memory_destroy(d->weight);
    if (d->weight_of_state) dnnl_memory_destroy(d->weight_of_state);
    if (d->bias) dnnl_memory_destroy(d->bias);
    if (d->out) dnnl_memory_destroy(d->out);
    if (d->primitive) dnnl_primitive_destroy(d->primitive);
    if (d->desc) dnnl_primitive_desc_destroy(d->desc);
    if (d->stream) dnnl_stream_destroy(d->stream);
    if (d->engine) dnnl_engine_destroy(d->engine);
    free(d);
}

#else

const char *at_onednn_about(void) { return NULL; }
at_onednn *at_onednn_op(const at_bench_op *s, const float *data, const float *weight,
                        at_error *err) {
    (void)s, (void)data, (void)weight;
    at_fail(err, AT_E_BUG, "built without oneDNN");
    return NULL;
}
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
