/* network/quantized_match.c: products of 8-bit numbers: QLinearConv, QLinearMatMul, ConvInteger,
 * MatMulInteger, and Conv, MatMul and Gemm between DequantizeLinear and QuantizeLinear. */
#include "network/quantized_int.h"

#include <math.h>
#include <string.h>

/* ---- scales and zeros ------------------------------------------------------------------------ */

static const at_net_value *value_at(const at_net *net, int v) { return &net->values.data[v]; }

static const at_net_value *constant_at(const at_net *net, int v) {
    return v >= 0 && value_at(net, v)->is_constant && value_at(net, v)->data ? value_at(net, v)
                                                                             : NULL;
}

/* The only one, where there is one. */
static double known_element(const at_net_value *v, int64_t i) {
    return at_net_element(v->type, v->data, v->elements == 1 ? 0 : i);
}

bool at_net_quantized_by(at_arena *a, const at_net *net, int scale, int zero, int axis,
                         at_net_quantized *out) {
    const at_net_value *s = constant_at(net, scale), *z = constant_at(net, zero);
    if (!s || s->rank > 1 ||
        (zero >= 0 && (!z || (z->elements != 1 && z->elements != s->elements))))
        return false;
    *out = (at_net_quantized){.value = -1,
                              .axis = axis,
                              .num = s->elements,
                              .scale = AT_NEW_ARRAY(a, double, s->elements),
                              .zero = AT_NEW_ARRAY(a, double, s->elements)};
    for (int64_t i = 0; i < s->elements; i++) {
        out->scale[i] = known_element(s, i);
        out->zero[i] = z ? known_element(z, i) : 0;
        if (!(out->scale[i] > 0) || !isfinite(out->scale[i])) return false;
    }
    return true;
}

int net_input(const at_net_node *n, int k) { return k < n->num_inputs ? n->inputs[k] : -1; }

static int axis_of(const at_net_node *n, int rank) {
    const int64_t k = at_net_int(n, "axis", 1);
    return (int)(k < 0 ? k + rank : k);
}

static bool dequantized_by(at_arena *a, const at_net *net, const at_net_node *n,
                           at_net_quantized *out) {
    if (strcmp(n->op, "DequantizeLinear") || at_net_int(n, "block_size", 0)) return false;
    const int rank = value_at(net, n->inputs[0])->rank;
    if (!at_net_quantized_by(a, net, n->inputs[1], net_input(n, 2), axis_of(n, rank), out))
        return false;
    out->value = n->inputs[0];
    return true;
}

bool at_net_dequantized(at_arena *a, const at_net *net, int value, at_net_quantized *out) {
    const at_net_value *v = value_at(net, value);
    if (v->dequantized) return dequantized_by(a, net, v->dequantized, out);
    return v->producer >= 0 && dequantized_by(a, net, &net->nodes.data[v->producer], out);
}

bool net_same_numbers(const at_net_quantized *x, const at_net_quantized *y) {
    return x->num == 1 && y->num == 1 && x->scale[0] == y->scale[0] && x->zero[0] == y->zero[0];
}

/* ---- a product as it was found --------------------------------------------------------------- */

bool net_is_byte(const at_net_value *v) {
    return v->type == AT_NET_UINT8 || v->type == AT_NET_INT8;
}

static int output_axis(const product *p) { return p->kind == CONVOLUTION || p->transposed ? 0 : 1; }

int64_t net_output_of(const product *p, const at_net_value *w, int64_t i) {
    return output_axis(p) ? i % p->outputs : i / (w->elements / p->outputs);
}

double net_weight(const product *p, const at_net_value *w, int64_t i) {
    return known_element(w, i) - p->w.zero[p->w.num > 1 ? net_output_of(p, w, i) : 0];
}

/* Bytes around 128, or around 0, are of s8 whatever their zero is. */
static void shift_weights(const quantizer *q, product *p, const at_net_value *w) {
    const double middle = w->type == AT_NET_UINT8 ? 128 : 0;
    double *shift = AT_NEW_ARRAY(q->arena, double, p->outputs);
    for (int64_t m = 0; m < p->outputs; m++) shift[m] = middle - p->w.zero[p->w.num > 1 ? m : 0];
    p->shift = shift;
}

bool net_is_dense(const product *p) {
    return p->kind == CONVOLUTION && at_net_int(p->node, "group", 1) == 1;
}

/* As sums of two s8 they are multiplied twice, which takes less than sums of x for few outputs. */
static bool are_of_two(const product *p, const at_net_value *w) {
    enum { MOST_OUTPUTS = 16 };
    bool fit = net_is_dense(p) && p->outputs <= MOST_OUTPUTS;
    for (int64_t i = 0; i < w->elements && fit; i++) fit = net_weight(p, w, i) <= 127 + 127;
    return fit;
}

double net_unit_of(const product *p, int64_t m) {
    return p->x.scale[0] * p->w.scale[p->w.num > 1 ? m : 0];
}

/* No sum of u8 times s8 is further from 0. */
static double most_of_sums(const product *p, const at_net_value *w) {
    return 255 * 128.0 * (double)w->elements / (double)p->outputs *
           (p->shift || p->is_of_two ? 2 : 1);
}

/* They are constants of 8 bits; scales are those of outputs. */
static bool weights_fit(const quantizer *q, product *p) {
    const at_net_value *w = constant_at(q->net, p->w.value);
    const int axis = output_axis(p);
    if (!w || !net_is_byte(w) || w->dims[axis] != p->outputs) return false;
    if (p->w.num != 1 && (p->w.num != p->outputs || p->w.axis != axis)) return false;
    bool fit = true;
    for (int64_t i = 0; i < w->elements && fit; i++)
        fit = net_weight(p, w, i) >= -128 && net_weight(p, w, i) <= 127;
    p->is_of_two = !fit && are_of_two(p, w);
    if (!fit && !p->is_of_two) shift_weights(q, p, w);
    return most_of_sums(p, w) < 0x1p30; /* and as much again for a zero that comes with the run */
}

static bool data_fit(const quantizer *q, const product *p) {
    return p->x.num <= 1 && net_is_byte(value_at(q->net, p->x.value)) &&
           !value_at(q->net, p->x.value)->is_constant;
}

static bool attribute_is(const at_net_node *n, const char *name, double x) {
    const at_net_attribute *i = at_net_attribute_find(n, name, AT_NET_ATTR_INT),
                           *f = at_net_attribute_find(n, name, AT_NET_ATTR_FLOAT);
    return (!i || (double)i->i == x) && (!f || (double)f->f == x);
}

/* Is it a convolution or a product of matrices whose second operand is input w? */
static bool shape_fits(const quantizer *q, product *p, int w) {
    const at_net_node *n = p->node;
    const at_net_value *x = value_at(q->net, n->inputs[0]), *k = value_at(q->net, n->inputs[w]);
    const at_net_attribute *automatic = at_net_attribute_find(n, "auto_pad", AT_NET_ATTR_STRING);
    if (strstr(n->op, "Conv")) {
        p->kind = CONVOLUTION;
        p->outputs = k->rank ? k->dims[0] : 0;
        return x->rank >= 3 && x->rank <= 5 && k->rank == x->rank &&
               (!automatic || !strcmp(automatic->s, "NOTSET") || !strcmp(automatic->s, "VALID"));
    }
    p->kind = MATRICES;
    if (x->rank < 2 || k->rank != 2) return false;
    if (strstr(n->op, "Gemm")) {
        p->transposed = at_net_int(n, "transB", 0) != 0;
        if (!attribute_is(n, "transA", 0) || !attribute_is(n, "alpha", 1) ||
            !attribute_is(n, "beta", 1) || x->rank != 2)
            return false;
    }
    p->outputs = k->dims[p->transposed ? 0 : 1];
    return x->dims[x->rank - 1] == k->dims[p->transposed ? 1 : 0];
}

/* A bias has as many elements as there are outputs. in_units: they count the scale of x times that
 * of the output's weights; else they are reals. */
static bool take_bias(const quantizer *q, product *p, int value, bool in_units) {
    if (value < 0) return true;
    const at_net_value *b = constant_at(q->net, value);
    if (!b || !b->rank || b->elements != p->outputs || b->dims[b->rank - 1] != p->outputs)
        return false;
    double *bias = AT_NEW_ARRAY(q->arena, double, p->outputs);
    const double most = 0x1p30 - most_of_sums(p, value_at(q->net, p->w.value));
    for (int64_t m = 0; m < p->outputs; m++) {
        const double unit = net_unit_of(p, m);
        bias[m] = known_element(b, m) * (in_units ? unit : 1);
        if (!(fabs(bias[m] / unit) < most)) return false; /* with sums beyond 32 bits */
    }
    p->bias = bias;
    return true;
}

/* Conv, MatMul or Gemm of dequantized numbers. */
bool net_match_reals(const quantizer *q, const at_net_node *n, product *p) {
    static const char *const names[] = {"Conv", "MatMul", "Gemm", NULL};
    *p = (product){.node = n, .zero_value = -1, .output = n->outputs[0]};
    return at_net_op_is(n, names) && at_net_dequantized(q->arena, q->net, n->inputs[0], &p->x) &&
           at_net_dequantized(q->arena, q->net, n->inputs[1], &p->w) && shape_fits(q, p, 1) &&
           data_fit(q, p) && p->x.num == 1 && weights_fit(q, p) &&
           take_bias(q, p, net_input(n, 2), false);
}

/* QLinearConv, QLinearMatMul, QGemm, of which the last one may make reals. */
bool net_match_linear(const quantizer *q, const at_net_node *n, product *p) {
    static const char *const names[] = {"QLinearConv", "QLinearMatMul", "QGemm", NULL};
    const bool gemm = !strcmp(n->op, "QGemm");
    const int y = gemm ? 7 : 6, y_scale = net_input(n, y), bias = net_input(n, gemm ? 6 : 8);
    *p = (product){.node = n, .zero_value = -1, .output = n->outputs[0]};
    p->is_rounded = y_scale >= 0;
    if (!at_net_op_is(n, names) || !shape_fits(q, p, 3)) return false;
    const int axis = output_axis(p);
    if (!at_net_quantized_by(q->arena, q->net, n->inputs[1], n->inputs[2], 0, &p->x) ||
        !at_net_quantized_by(q->arena, q->net, n->inputs[4], n->inputs[5], axis, &p->w) ||
        (p->is_rounded &&
         (!at_net_quantized_by(q->arena, q->net, y_scale, net_input(n, y + 1), 0, &p->y) ||
          p->y.num != 1 || !net_is_byte(value_at(q->net, p->output)))))
        return false;
    p->x.value = n->inputs[0], p->w.value = n->inputs[3];
    return p->x.num == 1 && data_fit(q, p) && weights_fit(q, p) && take_bias(q, p, bias, true);
}

/* ConvInteger, MatMulInteger: their sums are what is wanted. */
bool net_match_integers(const quantizer *q, const at_net_node *n, product *p) {
    static const char *const names[] = {"ConvInteger", "MatMulInteger", NULL};
    static const double one[] = {1};
    *p = (product){.node = n, .zero_value = -1, .output = n->outputs[0], .is_whole = true};
    if (!at_net_op_is(n, names) || !shape_fits(q, p, 1)) return false;
    const int zx = net_input(n, 2), zw = net_input(n, 3);
    const at_net_value *x_zero = constant_at(q->net, zx), *w_zero = constant_at(q->net, zw);
    if ((zw >= 0 && !w_zero) || (zx >= 0 && value_at(q->net, zx)->elements != 1)) return false;
    p->x = (at_net_quantized){.value = n->inputs[0], .num = 1, .scale = (double *)one};
    p->x.zero = AT_NEW_ARRAY(q->arena, double, 1);
    if (x_zero) p->x.zero[0] = known_element(x_zero, 0);
    else if (zx >= 0) p->zero_value = zx;
    p->w = (at_net_quantized){.value = n->inputs[1],
                              .axis = output_axis(p),
                              .num = w_zero ? w_zero->elements : 1,
                              .scale = AT_NEW_ARRAY(q->arena, double, p->outputs)};
    p->w.zero = AT_NEW_ARRAY(q->arena, double, p->w.num);
    for (int64_t m = 0; m < p->w.num; m++) p->w.zero[m] = w_zero ? known_element(w_zero, m) : 0;
    for (int64_t m = 0; m < p->outputs; m++) p->w.scale[m] = 1;
    return data_fit(q, p) && weights_fit(q, p);
}

/* The node that makes a value which this reader alone reads; NULL: another. */
const at_net_node *net_maker_of(const quantizer *q, int v) {
    const at_net_value *x = value_at(q->net, v);
    if (x->producer < 0 || x->is_output || q->readers[v].len != 1) return NULL;
    return &q->net->nodes.data[x->producer];
}

/* What a QuantizeLinear rounds: sums, with nothing or Relu between. */
bool net_match_rounded(const quantizer *q, const at_net_node *n, product *p) {
    at_net_quantized y;
    if (strcmp(n->op, "QuantizeLinear") || !net_is_byte(value_at(q->net, n->outputs[0])) ||
        !at_net_quantized_by(q->arena, q->net, n->inputs[1], net_input(n, 2), 0, &y) || y.num != 1)
        return false;
    const at_net_node *by = net_maker_of(q, n->inputs[0]);
    const bool positive = by && !strcmp(by->op, "Relu");
    if (positive) by = net_maker_of(q, by->inputs[0]);
    if (!by || !net_match_reals(q, by, p)) return false;
    p->is_rounded = true;
    p->is_positive = positive;
    p->y = y;
    p->output = n->outputs[0];
    return true;
}
