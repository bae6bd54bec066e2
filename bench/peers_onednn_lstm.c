/* bench/peers_onednn_lstm.c: oneDNN's LSTM layer, float32, forward, its weights brought into
 * layouts of its own choice ahead. */
#include "bench/peers_onednn.h"

#ifdef HAS_ONEDNN

/* [gate, state, from] in memory, as [layer, direction, from, gate, state]; in: the order of gates,
 * in, forget, new, out, is oneDNN's, too. */
static void describe_weight(at_onednn *d, int64_t from, int64_t states, dnnl_memory_desc_t *any,
                            dnnl_memory_desc_t *plain) {
    const dnnl_dims_t dims = {1, 1, from, 4, states};
    DO(dnnl_memory_desc_init_by_tag(any, 5, dims, dnnl_f32, dnnl_format_tag_any));
    DO(dnnl_memory_desc_init_by_strides(
        plain, 5, dims, dnnl_f32,
        (dnnl_dims_t){4 * states * from, 4 * states * from, 1, states * from, from}));
}

static void make(at_onednn *d, const at_bench_lstm *s, const float *data, const float *weight,
                 const float *weight_of_state, const float *bias) {
    dnnl_memory_desc_t x, h, any_weight, any_of_state, plain_weight, plain_of_state, b;
    dnnl_rnn_desc_t op;
    DO(dnnl_memory_desc_init_by_tag(&x, 3, (dnnl_dims_t){s->steps, s->batch, s->inputs}, dnnl_f32,
                                    dnnl_tnc));
    DO(dnnl_memory_desc_init_by_tag(&h, 3, (dnnl_dims_t){s->steps, s->batch, s->states}, dnnl_f32,
                                    dnnl_tnc));
    DO(dnnl_memory_desc_init_by_tag(&b, 4, (dnnl_dims_t){1, 1, 4, s->states}, dnnl_f32, dnnl_ldgo));
    describe_weight(d, s->inputs, s->states, &any_weight, &plain_weight);
    describe_weight(d, s->states, s->states, &any_of_state, &plain_of_state);
    DO(dnnl_lstm_forward_desc_init(&op, dnnl_forward_inference, dnnl_unidirectional_left2right, &x,
                                   NULL, NULL, &any_weight, &any_of_state, &b, &h, NULL, NULL, 0));
    DO(dnnl_primitive_desc_create(&d->desc, &op, NULL, d->engine, NULL));
    DO(dnnl_primitive_create(&d->primitive, d->desc));
    d->plain_out = h;
    d->data = onednn_own_memory(d, dnnl_query_src_md, 0);
    d->out = onednn_own_memory(d, dnnl_query_dst_md, 0);
    d->weight = onednn_own_memory(d, dnnl_query_weights_md, 0);
    d->weight_of_state = onednn_own_memory(d, dnnl_query_weights_md, 1);
    d->bias = onednn_memory(d, &b, (void *)(uintptr_t)bias);
    onednn_reorder_plain(d, &x, data, d->data);
    onednn_reorder_plain(d, &plain_weight, weight, d->weight);
    onednn_reorder_plain(d, &plain_of_state, weight_of_state, d->weight_of_state);
}

at_onednn *at_onednn_lstm(const at_bench_lstm *s, const float *data, const float *weight,
                          const float *weight_of_state, const float *bias, at_error *err) {
    at_onednn *d = onednn_new();
    make(d, s, data, weight, weight_of_state, bias);
    return onednn_made(d, err);
}

#else

at_onednn *at_onednn_lstm(const at_bench_lstm *s, const float *data, const float *weight,
                          const float *weight_of_state, const float *bias, at_error *err) {
    (void)s, (void)data, (void)weight, (void)weight_of_state, (void)bias;
    at_fail(err, AT_E_BUG, "built without oneDNN");
    return NULL;
}

#endif
