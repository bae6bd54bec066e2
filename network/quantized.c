/* network/quantized.c: which values of a graph are bytes in memory, and which nodes become nodes of
 * integers for it; what else works on bytes: rounding to them, and back, maxima and means. */
#include "network/quantized_int.h"

#include <string.h>

static const at_net_value *value_at(const at_net *net, int v) { return &net->values.data[v]; }

/* ---- what else works on bytes ---------------------------------------------------------------- */

static const char *number(const quantizer *q, double x) {
    const char *text = at_format(q->arena, "%.9g", x);
    return strpbrk(text, ".e") ? text : at_format(q->arena, "%s.0", text);
}

/* y0 of y's type: q[..], whole numbers of s16, and the zero. */
static void add_stored(at_text *t, const at_net_value *y, const char *const *names, double zero) {
    at_text_add(t, "y0[");
    net_add_dims(t, y, names);
    at_text_add(t, "] = q[");
    net_add_names(t, y->rank, names);
    at_text_addf(t, "] + %g\n", zero);
}

static void add_quantize(quantizer *q, const at_net_node *n, const at_net_quantized *y) {
    const at_net_value *out = value_at(q->net, n->outputs[0]);
    at_text t = {0};
    at_text_add(&t, "q[");
    net_add_dims(&t, out, net_matrix_axes);
    at_text_add(&t, "] : s16 = round(x0[");
    net_add_names(&t, out->rank, net_matrix_axes);
    at_text_addf(&t, "]/%s)\n", number(q, y->scale[0]));
    add_stored(&t, out, net_matrix_axes, y->zero[0]);
    net_add_node(q, n, "Quantize", AT_NET_MAP, n->inputs, 1, n->outputs[0], &t);
}

static void add_dequantize(quantizer *q, const at_net_node *n, const at_net_quantized *x) {
    const at_net_value *out = value_at(q->net, n->outputs[0]);
    at_text t = {0};
    at_text_add(&t, "y0[");
    net_add_dims(&t, out, net_matrix_axes);
    at_text_add(&t, "] = (x0[");
    net_add_names(&t, out->rank, net_matrix_axes);
    at_text_addf(&t, "] - %g)*%s\n", x->zero[0], number(q, x->scale[0]));
    net_add_node(q, n, "Dequantize", AT_NET_MOVE, n->inputs, 1, n->outputs[0], &t);
}

/* The largest of dequantized numbers, quantized again as they were, is the largest of the numbers.
 */
static bool add_max_pool(quantizer *q, const at_net_node *n, const at_net_quantized *y) {
    const at_net_node *by = net_maker_of(q, n->inputs[0]);
    at_net_quantized x;
    if (!by || strcmp(by->op, "MaxPool") ||
        at_net_attribute_find(by, "auto_pad", AT_NET_ATTR_STRING) ||
        !at_net_dequantized(q->arena, q->net, by->inputs[0], &x) || !net_same_numbers(&x, y))
        return false;
    const at_net_value *in = value_at(q->net, x.value), *out = value_at(q->net, n->outputs[0]);
    if (in->element == AT_F32 || in->element != out->element || in->rank > 5) return false;
    at_text t = {0}, index = {0}, inside = {0};
    at_text_add(&t, "y0[");
    net_add_dims(&t, out, net_picture_axes);
    at_text_add(&t, "] = max(");
    for (int i = 0; i + 2 < in->rank; i++) {
        const int64_t kernel = net_number_of(by, "kernel_shape", i, 1);
        const int64_t begin = net_number_of(by, "pads", i, 0),
                      stride = net_number_of(by, "strides", i, 1),
                      far = net_number_of(by, "dilations", i, 1);
        const char *place = at_format(q->arena, "a%d*%lld + p%d*%lld - %lld", i, (long long)stride,
                                      i, (long long)far, (long long)begin);
        at_text_addf(&t, "%sp%d:%lld", i ? ", " : "", i, (long long)kernel);
        at_text_addf(&index, ", %s", place);
        at_text_addf(&inside, "%s0 <= %s && %s < %lld", i ? " && " : "", place, place,
                     (long long)in->dims[2 + i]);
    }
    at_text_addf(&t, ") %s ? x0[n, m%s] : %g\n", at_text_str(&inside), at_text_str(&index),
                 at_type_of(in->element)->least);
    at_text_free(&index);
    at_text_free(&inside);
    net_add_node(q, by, "MaxPool", AT_NET_SUM, &x.value, 1, n->outputs[0], &t);
    return true;
}

static bool add_mean(quantizer *q, const at_net_node *n, const at_net_quantized *y) {
    const at_net_node *by = net_maker_of(q, n->inputs[0]);
    at_net_quantized x;
    if (!by || strcmp(by->op, "GlobalAveragePool") ||
        !at_net_dequantized(q->arena, q->net, by->inputs[0], &x) || x.num != 1)
        return false;
    const at_net_value *in = value_at(q->net, x.value), *out = value_at(q->net, n->outputs[0]);
    if (in->element == AT_F32 || out->element == AT_F32 || in->rank > 5) return false;
    const double count = (double)(in->elements / (in->dims[0] * in->dims[1]));
    at_text t = {0};
    at_text_add(&t, "s[");
    net_add_dims(&t, out, net_picture_axes);
    at_text_add(&t, "] : s32 = sum(");
    for (int i = 2; i < in->rank; i++)
        at_text_addf(&t, "%sp%d:%lld", i > 2 ? ", " : "", i, (long long)in->dims[i]);
    at_text_add(&t, ") x0[n, m");
    for (int i = 2; i < in->rank; i++) at_text_addf(&t, ", p%d", i);
    at_text_add(&t, "]\nq[");
    net_add_dims(&t, out, net_picture_axes);
    at_text_add(&t, "] : s16 = round((s[");
    net_add_names(&t, out->rank, net_picture_axes);
    at_text_addf(&t, "] - %g)*%s)\n", x.zero[0] * count,
                 number(q, x.scale[0] / (y->scale[0] * count)));
    add_stored(&t, out, net_picture_axes, y->zero[0]);
    net_add_node(q, by, "GlobalAveragePool", AT_NET_SUM, &x.value, 1, n->outputs[0], &t);
    return true;
}

/* ---- which values lie in memory as integers -------------------------------------------------- */

static at_type element_of(const at_net_value *v) {
    return v->type == AT_NET_UINT8   ? AT_U8
           : v->type == AT_NET_INT8  ? AT_S8
           : v->type == AT_NET_INT32 ? AT_S32
                                     : AT_F32;
}

static bool matches(const quantizer *q, const at_net_node *n) {
    product p;
    return net_match_linear(q, n, &p) || net_match_integers(q, n, &p);
}

static bool is_move(const at_net_node *n) {
    return n->kind == AT_NET_MOVE && strcmp(n->op, "Resize") && strcmp(n->op, "Upsample");
}

static bool makes_integers(const quantizer *q, const at_net_node *n) {
    at_net_quantized y;
    if (!strcmp(n->op, "QuantizeLinear"))
        return net_is_byte(value_at(q->net, n->outputs[0])) &&
               at_net_quantized_by(q->arena, q->net, n->inputs[1], net_input(n, 2), 0, &y) &&
               y.num == 1;
    return is_move(n) || matches(q, n);
}

static bool takes_integers(const quantizer *q, const at_net_node *n, int value) {
    at_net_quantized x;
    if (!strcmp(n->op, "DequantizeLinear"))
        return value == n->inputs[0] && at_net_dequantized(q->arena, q->net, n->outputs[0], &x) &&
               x.num == 1;
    return is_move(n) || (value == n->inputs[0] && matches(q, n));
}

/* All that make or read it know integers; moves do where all that they move is of them. */
static void choose_elements(quantizer *q) {
    at_net *net = q->net;
    for (int v = 0; v < net->values.len; v++) {
        at_net_value *x = &net->values.data[v];
        if (x->is_constant) continue;
        at_type type = element_of(x);
        if (x->producer >= 0 && !makes_integers(q, &net->nodes.data[x->producer])) type = AT_F32;
        for (int i = 0; i < q->readers[v].len && type; i++)
            if (!takes_integers(q, &net->nodes.data[q->readers[v].data[i]], v)) type = AT_F32;
        x->element = type;
    }
    for (bool again = true; again;) {
        again = false;
        for (int i = 0; i < net->nodes.len; i++) {
            const at_net_node *n = &net->nodes.data[i];
            bool all = true, any = false;
            if (!is_move(n)) continue;
            for (int k = 0; k < n->num_inputs + n->num_outputs; k++) {
                const int v = k < n->num_inputs ? n->inputs[k] : n->outputs[k - n->num_inputs];
                if (v < 0 || (k < n->num_inputs && !at_net_reads(n, k))) continue;
                all &= net->values.data[v].element != AT_F32;
                any |= net->values.data[v].element != AT_F32;
            }
            again |= any && !all;
            for (int k = 0; any && !all && k < n->num_inputs + n->num_outputs; k++) {
                const int v = k < n->num_inputs ? n->inputs[k] : n->outputs[k - n->num_inputs];
                if (v >= 0) net->values.data[v].element = AT_F32;
            }
        }
    }
}

/* ---- the graph ------------------------------------------------------------------------------- */

/* The node as it becomes; false: it stays. */
static bool replace(quantizer *q, const at_net_node *n) {
    product p;
    at_net_quantized numbers;
    const at_net_value *out = n->outputs[0] >= 0 ? value_at(q->net, n->outputs[0]) : NULL;
    if (!out) return false;
    if (net_match_rounded(q, n, &p) || net_match_linear(q, n, &p) || net_match_integers(q, n, &p) ||
        net_match_reals(q, n, &p))
        return net_add_product(q, &p), true;
    if (!strcmp(n->op, "QuantizeLinear") && out->element != AT_F32) {
        at_net_quantized_by(q->arena, q->net, n->inputs[1], net_input(n, 2), 0, &numbers);
        if (!add_max_pool(q, n, &numbers) && !add_mean(q, n, &numbers) && !net_add_table(q, n))
            add_quantize(q, n, &numbers);
        return true;
    }
    if (!strcmp(n->op, "DequantizeLinear") && value_at(q->net, n->inputs[0])->element != AT_F32 &&
        at_net_dequantized(q->arena, q->net, n->outputs[0], &numbers) && numbers.num == 1)
        return add_dequantize(q, n, &numbers), true;
    return false;
}

void at_net_use_integers(at_net *net) {
    net_view_bytes(net);
    quantizer q = {.arena = net->arena, .net = net, .readers = at_net_readers(net->arena, net)};
    choose_elements(&q);
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node n = net->nodes.data[i];
        if (!replace(&q, &n)) *at_push(q.arena, &q.nodes) = n;
    }
    at_net_set_nodes(net, q.nodes.data, q.nodes.len);
}
