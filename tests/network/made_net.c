#include "tests/network/made_net.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "network/net_memory.h"

static void give_up(const char *why) {
    fprintf(stderr, "%s\n", why);
    abort();
}

void onnx_numbers(onnx_graph *g, const char *name, const char *dims, int seed, bool positive) {
    at_rng rng;
    at_text t = {0};
    int64_t n = 1;
    at_rng_seed(&rng, (uint64_t)seed, 3);
    for (const char *p = dims; *p; p += strcspn(p, ","), p += *p == ',') n *= atoi(p);
    for (int64_t i = 0; i < n; i++)
        at_text_addf(&t, " %g",
                     positive ? (1 + (double)at_rng_below(&rng, 16)) / 8
                              : ((double)at_rng_below(&rng, 33) - 16) / 16);
    onnx_constant(g, name, AT_NET_FLOAT, dims, at_text_str(&t), true);
    at_text_free(&t);
}

void onnx_chain(onnx_graph *g) {
    onnx_input(g, "x", AT_NET_FLOAT, "96,512");
    onnx_input(g, "y", AT_NET_FLOAT, "96,512");
    onnx_node(g, "Add", "x y", "s", "");
    onnx_node(g, "Relu", "s", "r", "");
    onnx_node(g, "Mul", "r y", "m", "");
    onnx_node(g, "Sub", "m x", "d", "");
    onnx_node(g, "ReduceMax", "r", "most", "axes=[1] keepdims=1");
    onnx_node(g, "Add", "d most", "z", "");
}

at_net *onnx_open_as(at_arena *a, onnx_graph *g, int opset, const at_net_options *o) {
    at_text bytes = onnx_model(g, opset);
    const void *kept = at_copy(a, at_text_str(&bytes), bytes.len);
    const size_t size = bytes.len;
    at_net *net;
    at_error err;
    at_text_free(&bytes);
    if (at_net_parse(kept, size, "made.onnx", o, &net, &err) != AT_OK) fail_msg("%s", err.text);
    for (int i = 0; i < net->values.len; i++) assert_non_null(net->values.data[i].dims);
    return net;
}

at_net *onnx_open(at_arena *a, onnx_graph *g) { return onnx_open_as(a, g, 13, NULL); }

void onnx_expect_refused(onnx_graph *g, int opset, const at_net_options *o, at_status status,
                         const char *text) {
    at_text bytes = onnx_model(g, opset);
    at_net *net;
    at_error err;
    assert_int_equal(at_net_parse(at_text_str(&bytes), bytes.len, NULL, o, &net, &err), status);
    if (!strstr(err.text, text)) fail_msg("%s: expected %s", err.text, text);
    assert_null(strchr(err.text, '\n'));
    assert_null(net);
    at_text_free(&bytes);
}

void onnx_expect_shape(const at_net *net, int output, const char *shape) {
    const at_net_value *v = &net->values.data[net->outputs.data[output]];
    at_text t = {0};
    at_net_add_shape(&t, v->type, v->rank, v->dims);
    assert_string_equal(at_text_str(&t), shape);
    at_text_free(&t);
}

double **onnx_outputs_of(at_arena *a, const at_net *net, const void *const *inputs) {
    double **outputs = AT_NEW_ARRAY(a, double *, net->outputs.len);
    at_net_reference *r;
    at_error err;
    if (at_net_reference_new(net, NULL, &r, &err) != AT_OK ||
        at_net_reference_run(r, inputs, a, outputs, NULL, &err) != AT_OK)
        fail_msg("%s", err.text);
    at_net_reference_free(r);
    return outputs;
}

const double *onnx_output_of(at_arena *a, const at_net *net, const void *input) {
    return onnx_outputs_of(a, net, &input)[0];
}

double **onnx_values(at_arena *a, const at_net *net, const void *const *inputs) {
    double **values = AT_NEW_ARRAY(a, double *, net->values.len);
    for (int v = 0; v < net->values.len; v++) {
        const at_net_value *x = &net->values.data[v];
        const void *data = x->data;
        for (int i = 0; i < net->inputs.len; i++)
            if (net->inputs.data[i] == v) data = inputs[i];
        values[v] = AT_NEW_ARRAY(a, double, x->elements);
        for (int64_t e = 0; data && e < x->elements; e++)
            values[v][e] = at_net_element(x->type, data, e);
    }
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        at_compute *c;
        at_error err;
        if (at_net_computation(a, net, n, &c, &err) != AT_OK) give_up(err.text);
        double **data = AT_NEW_ARRAY(a, double *, c->num_tensors);
        for (int k = 0; k < n->num_inputs; k++) {
            int t = at_compute_find(c, at_format(a, "x%d", k));
            if (t >= 0 && c->tensors[t].role != AT_ROLE_STAGE) data[t] = values[n->inputs[k]];
        }
        for (int k = 0; k < n->num_outputs; k++) {
            int t = at_compute_find(c, at_format(a, "y%d", k));
            if (t >= 0 && n->outputs[k] >= 0) data[t] = values[n->outputs[k]];
        }
        if (at_compute_interpret_double(a, c, NULL, data, &err) != AT_OK)
            give_up(at_format(a, "%s: %s", n->op, err.text));
    }
    return values;
}

double **onnx_made_values(at_arena *a, const at_net *net) {
    const void **inputs = AT_NEW_ARRAY(a, const void *, net->inputs.len);
    for (int i = 0; i < net->inputs.len; i++) {
        const int64_t n = net->values.data[net->inputs.data[i]].elements;
        float *x = AT_NEW_ARRAY(a, float, n);
        for (int64_t e = 0; e < n; e++) x[e] = (float)(e * 37 % 129) / 64 - 1;
        inputs[i] = x;
    }
    return onnx_values(a, net, inputs);
}

/* A value as it lies in memory. */
static double *as_it_lies(at_arena *a, const at_net_cut *cut, int v, const double *from) {
    const at_net_value *x = &cut->net->values.data[v];
    const int *order = cut->orders[v];
    double *to = AT_NEW_ARRAY(a, double, x->elements);
    for (int64_t e = 0; e < x->elements; e++) {
        int64_t at[AT_NET_MAX_RANK], rest = e, place = 0;
        for (int k = x->rank - 1; k >= 0; k--) at[k] = rest % x->dims[k], rest /= x->dims[k];
        for (int k = 0; k < x->rank; k++) {
            const int axis = order ? order[k] : k;
            place = place * x->dims[axis] + at[axis];
        }
        to[place] = from[e];
    }
    return to;
}

void onnx_check_part(at_arena *a, const at_net_cut *cut, const at_net_part *part, double **values) {
    const at_template_row *row;
    at_task *task;
    at_error err;
    if (at_net_row_of(part, &row, &err) != AT_OK || at_task_new(a, row, NULL, &task, &err) != AT_OK)
        fail_msg("%s", err.text);
    const at_compute *c = at_task_compute(task);
    double **data = AT_NEW_ARRAY(a, double *, c->num_tensors);
    double **expected = AT_NEW_ARRAY(a, double *, c->num_tensors);
    int *of = AT_NEW_ARRAY(a, int, c->num_tensors);
    for (int t = 0, i = 0; t < c->num_tensors; t++) {
        if (c->tensors[t].role == AT_ROLE_STAGE && !c->tensors[t].is_output) continue;
        of[t] = part->params[i++].value;
        data[t] = as_it_lies(a, cut, of[t], values[of[t]]);
        if (!c->tensors[t].is_output) continue;
        expected[t] = data[t];
        data[t] = AT_NEW_ARRAY(a, double, cut->net->values.data[of[t]].elements);
    }
    if (at_compute_interpret_double(a, c, NULL, data, &err) != AT_OK)
        fail_msg("%s: %s", part->title, err.text);
    for (int t = 0; t < c->num_tensors; t++)
        for (int64_t e = 0; expected[t] && e < cut->net->values.data[of[t]].elements; e++)
            if (!(fabs(data[t][e] - expected[t][e]) <= 1e-12))
                fail_msg("%s: element %lld is %g, not %g", part->title, (long long)e, data[t][e],
                         expected[t][e]);
}

static void *room(at_arena *arena, const at_net_value *v) {
    return at_alloc(arena, (size_t)v->elements * (size_t)at_net_type_bytes(v->type) + 1);
}

static void fill(const at_net_value *v, int seed, void *out) {
    at_rng rng;
    at_rng_seed(&rng, (uint64_t)seed, 4);
    for (int64_t e = 0; e < v->elements; e++)
        at_net_store(v->type, out, e,
                     at_net_type_is_float(v->type) ? (double)at_rng_below(&rng, 2001) / 1000 - 1
                                                   : (double)at_rng_below(&rng, 3));
}

at_status onnx_run(const at_net_program *p, const void *const *inputs, void *const *outputs,
                   at_error *err) {
    const size_t bytes = (size_t)p->workspace_bytes;
    void *memory = NULL;
    assert_int_equal(posix_memalign(&memory, AT_NET_ALIGNMENT, bytes), 0);
    memset(memory, 0xff, bytes);
    const at_status s = at_net_program_run(p, inputs, outputs, memory, err);
    free(memory);
    return s;
}

void onnx_check_program(at_arena *arena, const at_net *net, const at_net_program *p) {
    const void **inputs = AT_NEW_ARRAY(arena, const void *, net->inputs.len);
    void **outputs = AT_NEW_ARRAY(arena, void *, net->outputs.len);
    at_error err;
    for (int i = 0; i < net->inputs.len; i++) {
        void *x = room(arena, &net->values.data[net->inputs.data[i]]);
        fill(&net->values.data[net->inputs.data[i]], i + 1, x);
        inputs[i] = x;
    }
    for (int i = 0; i < net->outputs.len; i++)
        outputs[i] = room(arena, &net->values.data[net->outputs.data[i]]);
    double **expected = onnx_values(arena, net, inputs);
    if (onnx_run(p, inputs, outputs, &err) != AT_OK) fail_msg("%s", err.text);
    for (int i = 0; i < net->outputs.len; i++) {
        const at_net_value *v = &net->values.data[net->outputs.data[i]];
        const double *e = expected[net->outputs.data[i]];
        double sum = 0;
        for (int64_t k = 0; k < v->elements; k++) sum += e[k] * e[k];
        double limit = 2e-6 * sqrt(sum / (double)v->elements) + 1e-12;
        for (int64_t k = 0; k < v->elements; k++)
            if (!(fabs(at_net_element(v->type, outputs[i], k) - e[k]) <=
                  limit + at_net_type_rounds(v->type, e[k])))
                fail_msg("%s[%lld] is %g, not %g", v->name, (long long)k,
                         at_net_element(v->type, outputs[i], k), e[k]);
    }
}

at_net_program onnx_program(const at_net *net, const at_net_build *b) {
    const at_net_build defaults = {0};
    at_net_program p;
    at_error err;
    if (at_net_program_new(net, b ? b : &defaults, &p, &err) != AT_OK) fail_msg("%s", err.text);
    return p;
}

void onnx_check(at_arena *a, onnx_graph *g, const char *titles) {
    at_net *net = onnx_open(a, g);
    at_net_program p = onnx_program(net, NULL);
    at_text found = {0};
    for (int i = 0; i < p.cut.num_parts; i++)
        at_text_addf(&found, "%s%s", i ? "; " : "", p.cut.parts[i].title);
    if (titles) assert_string_equal(at_text_str(&found), titles);
    at_text_free(&found);
    assert_true((double)p.workspace_bytes <= 1.05 * (double)p.least_bytes);
    onnx_check_program(a, net, &p);
    at_net_program_free(&p);
    at_net_close(net);
}
