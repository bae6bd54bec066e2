/* network/net_truth.c: see net_truth.h. */
#include "network/net_truth.h"

#include <math.h>
#include <stdlib.h>

#include "network/net_memory.h"
#include "runtime/runtime.h"

static const at_net_value *output(const at_net_truth *t, int i) {
    return &t->net->values.data[t->net->outputs.data[i]];
}

at_net_verdict at_net_verdict_of(at_net_distance error, at_net_distance moved, double limit) {
    if (error.most <= limit) return AT_NET_RIGHT;
    return error.most <= AT_NET_OF_MOVED * moved.most && error.rms <= AT_NET_OF_MOVED * moved.rms
               ? AT_NET_ILL_CONDITIONED
               : AT_NET_WRONG;
}

static double rms_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        if (isfinite(x[k])) sum += x[k] * x[k];
    return sum > 0 ? sqrt(sum / (double)n) : 0;
}

/* In double a value lives from the node that makes it to the last one that reads it. */
static double bytes_in_double(const at_net *net) {
    at_arena *a = at_arena_new();
    at_net_block *blocks = AT_NEW_ARRAY(a, at_net_block, net->values.len + 1);
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_outputs; k++)
            if (n->outputs[k] >= 0) blocks[n->outputs[k]] = (at_net_block){.first = i, .last = i};
        for (int k = 0; k < n->num_inputs; k++)
            if (n->inputs[k] >= 0) blocks[n->inputs[k]].last = i;
    }
    for (int i = 0; i < net->outputs.len; i++) blocks[net->outputs.data[i]].last = net->nodes.len;
    for (int i = 0; i < net->values.len; i++) {
        const at_net_value *v = &net->values.data[i];
        if (!v->is_constant) blocks[i].bytes = v->elements * (int64_t)sizeof(double);
    }
    const double bytes = (double)at_net_least_bytes(blocks, net->values.len);
    at_arena_free(a);
    return bytes;
}

/* The bytes of these values in their types, and `more` bytes for each element. */
static double bytes_of(const at_net *net, const int *values, int n, int64_t more) {
    double bytes = 0;
    for (int i = 0; i < n; i++) {
        const at_net_value *v = &net->values.data[values[i]];
        bytes += (double)v->elements * (double)(at_net_type_bytes(v->type) + more);
    }
    return bytes;
}

at_status at_net_truth_room(const at_net *net, at_error *err) {
    const double gib = 1024.0 * 1024 * 1024, most = (double)at_cpu_most_bytes(),
                 bytes = bytes_in_double(net) +
                         bytes_of(net, net->inputs.data, net->inputs.len, 0) +
                         bytes_of(net, net->outputs.data, net->outputs.len, sizeof(double));
    if (bytes <= most) return AT_OK;
    return at_fail(err, AT_E_INPUT,
                   "%s: with these sizes its values, in double, need %.1f GiB; on this machine at "
                   "most %.1f GiB are accepted",
                   net->path, bytes / gib, most / gib);
}

at_status at_net_truth_new(const at_net *net, const void *const *inputs, const volatile int *stop,
                           at_net_truth *out, at_error *err) {
    at_arena *a = at_arena_new();
    const int n = net->outputs.len;
    *out = (at_net_truth){.arena = a,
                          .net = net,
                          .inputs = inputs,
                          .expected = AT_NEW_ARRAY(a, double *, n + 1),
                          .rms = AT_NEW_ARRAY(a, double, n + 1),
                          .outputs = AT_NEW_ARRAY(a, void *, n + 1),
                          .stop = stop};
    AT_TRY(at_net_reference_new(net, stop, &out->reference, err));
    AT_TRY(at_net_reference_run(out->reference, inputs, a, out->expected, stop, err));
    for (int i = 0; i < n; i++) {
        const at_net_value *v = output(out, i);
        out->rms[i] = rms_of(out->expected[i], v->elements);
        out->outputs[i] = at_alloc(a, (size_t)(v->elements * at_net_type_bytes(v->type)) + 1);
    }
    return AT_OK;
}

void at_net_truth_free(at_net_truth *t) {
    if (!t->arena) return;
    at_net_reference_free(t->reference);
    free(t->workspace);
    at_arena_free(t->arena);
    *t = (at_net_truth){0};
}

static void reserve(at_net_truth *t, int64_t bytes) {
    if (t->workspace && bytes <= t->workspace_bytes) return;
    free(t->workspace);
    t->workspace = NULL;
    t->workspace_bytes = bytes;
    t->workspace = at_net_room(bytes);
}

/* What distances are told over: 1 where all is 0. */
static double unit_of(const at_net_truth *t, int output) {
    return t->rms[output] > 0 ? t->rms[output] : 1;
}

at_net_distance at_net_over_rms(const at_net_truth *t, int output, at_net_distance x) {
    const double rms = unit_of(t, output);
    return (at_net_distance){x.most / rms, x.rms / rms};
}

at_status at_net_truth_compare(at_net_truth *t, const at_net_program *p, at_net_distance *errors,
                               double *sum, at_error *err) {
    reserve(t, p->workspace_bytes);
    AT_TRY(at_net_program_run(p, t->inputs, t->outputs, t->workspace, err));
    if (sum) *sum = 0;
    for (int i = 0; i < t->net->outputs.len; i++) {
        const at_net_value *v = output(t, i);
        at_arena *a = at_arena_new();
        double *x = AT_NEW_ARRAY(a, double, v->elements + 1);
        for (int64_t k = 0; k < v->elements; k++) {
            x[k] = at_net_element(v->type, t->outputs[i], k);
            const double d = (x[k] - t->expected[i][k]) / unit_of(t, i);
            if (sum && isfinite(d)) *sum += d * d;
        }
        errors[i] = at_net_over_rms(t, i, at_net_distance_of(v, x, t->expected[i]));
        at_arena_free(a);
    }
    return AT_OK;
}

at_status at_net_truth_moved(at_net_truth *t, at_error *err) {
    at_net_distance *moved = AT_NEW_ARRAY(t->arena, at_net_distance, t->net->outputs.len + 1);
    AT_TRY(at_net_reference_moved(t->reference, t->inputs, t->expected, moved, t->stop, err));
    for (int i = 0; i < t->net->outputs.len; i++) moved[i] = at_net_over_rms(t, i, moved[i]);
    t->moved = moved;
    return AT_OK;
}
