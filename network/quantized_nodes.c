/* network/quantized_nodes.c: a product of 8-bit numbers as a node of integers:
 *
 *     sum((x - zx)*(w - zw))*sx*sw/sy + zy  is  round((sum(x*w) + c)*f) + zy
 *
 * with x as u8, w as s8 whose zero is 0, and c, of the bias and of zx, and f worked out ahead.
 * Where w - zw are more than s8 holds, w are less by d, and sum(x)*d is added, or each is the sum
 * of two. What a convolution pads with is zx: a node before it makes the padded picture. */
#include "network/quantized_int.h"

#include <math.h>
#include <string.h>

static const at_net_value *value_at(const at_net *net, int v) { return &net->values.data[v]; }

/* ---- new values and nodes -------------------------------------------------------------------- */

static int add_value(quantizer *q, const at_net_value *v) {
    *at_push(q->arena, &q->net->values) = *v;
    return q->net->values.len - 1;
}

int net_add_constant(quantizer *q, const char *name, at_net_type type, at_type element_type,
                     int rank, const int64_t *dims, const void *data) {
    at_net_value v = {.name = name,
                      .type = type,
                      .element = element_type,
                      .rank = rank,
                      .dims = at_copy(q->arena, dims, sizeof *dims * (size_t)rank),
                      .elements = 1,
                      .data = data,
                      .producer = -1,
                      .is_constant = true};
    for (int i = 0; i < rank; i++) v.elements *= dims[i];
    return add_value(q, &v);
}

void net_add_node(quantizer *q, const at_net_node *like, const char *op, at_net_kind kind,
                  const int *inputs, int num_inputs, int output, at_text *text) {
    at_net_node n = *like;
    n.op = op;
    n.kind = kind;
    n.inputs = at_copy(q->arena, inputs, sizeof *inputs * (size_t)num_inputs);
    n.num_inputs = num_inputs;
    n.outputs = at_copy(q->arena, &output, sizeof output);
    n.num_outputs = 1;
    n.index_inputs = 0;
    n.text = at_text_take(q->arena, text);
    *at_push(q->arena, &q->nodes) = n;
}

/* Of what may be the sum of two s8: one of them. */
static double part_of(double weight, bool second) {
    const double first = fmax(-128, fmin(127, weight));
    return second ? weight - first : first;
}

/* Weights as s8, their channels rounded up to `inner` with weights that are 0; of two, those of the
 * second ones are behind. */
static int whole_weights(quantizer *q, const product *p, int64_t inner) {
    const at_net_value *w = value_at(q->net, p->w.value);
    const int64_t rows = p->kind == CONVOLUTION ? w->dims[0] : 1,
                  channels = p->kind == CONVOLUTION ? w->dims[1] : 1,
                  rest = w->elements / (rows * channels);
    int64_t dims[AT_NET_MAX_RANK];
    memcpy(dims, w->dims, sizeof *dims * (size_t)w->rank);
    const int64_t made = p->kind == CONVOLUTION ? inner * (p->is_of_two ? 2 : 1) : 1;
    if (p->kind == CONVOLUTION) dims[1] = made;
    int8_t *data = AT_NEW_ARRAY(q->arena, int8_t, rows * made * rest + 1);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < made; c++)
            for (int64_t i = 0; i < rest; i++) {
                const bool second = p->is_of_two && c >= inner;
                const int64_t from = second ? c - inner : c, e = (r * channels + from) * rest + i;
                const double shift = !p->shift                ? 0
                                     : p->kind == CONVOLUTION ? p->shift[r]
                                                              : p->shift[net_output_of(p, w, e)];
                data[(r * made + c) * rest + i] =
                    (int8_t)(from < channels ? part_of(net_weight(p, w, e) - shift, second)
                                             : -shift);
            }
    return net_add_constant(q, w->name, AT_NET_INT8, AT_S8, w->rank, dims, data);
}

/* The sum of an output's weights. */
static double *sums_of_weights(quantizer *q, const product *p) {
    const at_net_value *w = value_at(q->net, p->w.value);
    double *sum = AT_NEW_ARRAY(q->arena, double, p->outputs);
    for (int64_t i = 0; i < w->elements; i++) sum[net_output_of(p, w, i)] += net_weight(p, w, i);
    return sum;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* A value of rank 0 has one axis of extent 1. */
void net_add_dims(at_text *t, const at_net_value *v, const char *const *names) {
    for (int i = 0; i < v->rank; i++)
        at_text_addf(t, "%s%s:%lld", i ? ", " : "", names[i], (long long)v->dims[i]);
    if (!v->rank) at_text_addf(t, "%s:1", names[0]);
}

void net_add_names(at_text *t, int rank, const char *const *names) {
    for (int i = 0; i < rank || !i; i++) at_text_addf(t, "%s%s", i ? ", " : "", names[i]);
}

const char *const net_picture_axes[] = {"n", "m", "a0", "a1", "a2"};

/* Behind the sums s[..] + c[..]: y0. names: of the output's axes; inputs from `next` on. */
static void add_outcome(quantizer *q, const product *p, at_text *t, const char *const *names,
                        const char *channel, int *inputs, int *next) {
    const at_net_value *y = value_at(q->net, p->output);
    float *f = AT_NEW_ARRAY(q->arena, float, p->outputs);
    bool same = true;
    for (int64_t m = 0; m < p->outputs; m++) {
        f[m] = (float)(net_unit_of(p, m) / (p->is_rounded ? p->y.scale[0] : 1));
        same &= f[m] == f[0];
    }
    const int64_t dims[] = {same ? 1 : p->outputs};
    const char *factor = at_format(q->arena, "x%d[%s]", *next, same ? "0" : channel);
    inputs[(*next)++] = net_add_constant(q, at_format(q->arena, "%s_factor", y->name), AT_NET_FLOAT,
                                         AT_F32, 1, dims, f);
    at_text_add(t, p->is_rounded ? "q[" : "y0[");
    net_add_dims(t, y, names);
    at_text_add(t, p->is_rounded ? "] : s16 = round(" : "] = ");
    at_text_add(t, "b[");
    net_add_names(t, y->rank, names);
    at_text_addf(t, "] * %s%s\n", factor, p->is_rounded ? ")" : "");
    if (!p->is_rounded) return;
    const at_type type = y->type == AT_NET_UINT8 ? AT_U8 : AT_S8;
    const bool clamp = p->is_positive && p->y.zero[0] > at_type_of(type)->least;
    const bool stored = y->element == type;
    const int64_t one[] = {1};
    char *byte = at_alloc(q->arena, 1);
    at_net_store(y->type, byte, 0, p->y.zero[0]);
    const char *zero = at_format(q->arena, "x%d[0]", *next);
    inputs[(*next)++] =
        net_add_constant(q, at_format(q->arena, "%s_zero", y->name), y->type, type, 1, one, byte);
    at_text_add(t, "y0[");
    net_add_dims(t, y, names);
    at_text_add(t, "] = ");
    if (!stored)
        at_text_addf(t, "min(%g, max(%g, ", at_type_of(type)->most, at_type_of(type)->least);
    if (clamp) at_text_addf(t, "max(%s, ", zero);
    at_text_add(t, "q[");
    net_add_names(t, y->rank, names);
    at_text_addf(t, "] + %s%s%s\n", zero, clamp ? ")" : "", stored ? "" : "))");
}

/* b: the sums with what the bias and the zero of x make of them. x_zero: as x is read. */
static void add_shift(quantizer *q, const product *p, double x_zero, at_text *t,
                      const char *const *names, const char *channel, const char *stage, int *inputs,
                      int *next) {
    const at_net_value *y = value_at(q->net, p->output);
    const double *sums = sums_of_weights(q, p);
    int32_t *c = AT_NEW_ARRAY(q->arena, int32_t, p->outputs);
    for (int64_t m = 0; m < p->outputs; m++) {
        const double unit = net_unit_of(p, m);
        c[m] = (int32_t)((p->bias ? nearbyint(p->bias[m] / unit) : 0) - x_zero * sums[m]);
    }
    const int64_t dims[] = {p->outputs};
    at_text_addf(t, "%s[", stage);
    net_add_dims(t, y, names);
    at_text_add(t, "] : s32 = s[");
    net_add_names(t, y->rank, names);
    at_text_addf(t, "] + x%d[%s]\n", *next, channel);
    inputs[(*next)++] = net_add_constant(q, at_format(q->arena, "%s_shift", y->name), AT_NET_INT32,
                                         AT_S32, 1, dims, c);
}

/* An element of x as u8, whose zero is 128 more where x is of s8. */
static const char *byte_of(const quantizer *q, const product *p, const char *index) {
    const at_net_value *x = value_at(q->net, p->x.value);
    const char *plus = x->type == AT_NET_INT8 ? " + 128" : "";
    return x->element == AT_F32 ? at_format(q->arena, "round(x0[%s]%s)", index, plus)
                                : at_format(q->arena, "x0[%s]%s", index, plus);
}

static double byte_zero(const quantizer *q, const product *p) {
    return p->x.zero[0] + (value_at(q->net, p->x.value)->type == AT_NET_INT8 ? 128 : 0);
}

/* The zero of x that comes with the run, as u8, where it is input k of a node. */
static const char *run_zero(const quantizer *q, const product *p, int k) {
    const at_net_value *zero = value_at(q->net, p->zero_value);
    const char *element =
        at_format(q->arena, zero->type == AT_NET_INT8 ? "x%d[0] + 128" : "x%d[0]", k);
    return zero->element == AT_F32 ? at_format(q->arena, "round(%s)", element) : element;
}

/* x as u8 in memory, of these sizes; a value of its own, or x itself. */
static int add_bytes(quantizer *q, const product *p, const int64_t *dims, const char *const *names,
                     const char *index, const char *inside) {
    const at_net_value *x = value_at(q->net, p->x.value);
    if (!inside && x->element == AT_U8) return p->x.value;
    at_net_value v = *x;
    at_text t = {0};
    v.name = at_format(q->arena, "%s_bytes", x->name);
    v.type = AT_NET_UINT8;
    v.element = AT_U8;
    v.dims = at_copy(q->arena, dims, sizeof *dims * (size_t)x->rank);
    v.elements = 1;
    for (int i = 0; i < x->rank; i++) v.elements *= dims[i];
    v.is_input = v.is_output = false;
    v.dequantized = NULL;
    at_text_add(&t, "y0[");
    net_add_dims(&t, &v, names);
    const char *byte = byte_of(q, p, index);
    const bool waits = inside && p->zero_value >= 0;
    const char *zero = waits ? run_zero(q, p, 1) : at_format(q->arena, "%g", byte_zero(q, p));
    if (inside) at_text_addf(&t, "] = %s ? %s : %s\n", inside, byte, zero);
    else at_text_addf(&t, "] = %s\n", byte);
    const int inputs[] = {p->x.value, p->zero_value}, value = add_value(q, &v);
    net_add_node(q, p->node, "Bytes", AT_NET_OTHER, inputs, waits ? 2 : 1, value, &t);
    q->nodes.data[q->nodes.len - 1].num_attributes = 0;
    return value;
}

/* ---- convolutions ---------------------------------------------------------------------------- */

int64_t net_number_of(const at_net_node *n, const char *name, int i, int64_t otherwise) {
    const at_net_attribute *a = at_net_attribute_find(n, name, AT_NET_ATTR_INTS);
    return a && i < a->num ? a->ints[i] : otherwise;
}

/* The picture with its padding, and with channels that four at a time are multiplied. */
static int padded(quantizer *q, const product *p, int64_t inner) {
    const at_net_value *x = value_at(q->net, p->x.value), *y = value_at(q->net, p->output),
                       *w = value_at(q->net, p->w.value);
    int64_t dims[AT_NET_MAX_RANK] = {x->dims[0], x->dims[1]};
    at_text index = {0}, inside = {0};
    if (net_is_dense(p)) dims[1] = inner;
    if (dims[1] > x->dims[1]) at_text_addf(&inside, "m < %lld", (long long)x->dims[1]);
    at_text_add(&index, "n, m");
    for (int i = 2; i < x->rank; i++) {
        const int64_t begin = net_number_of(p->node, "pads", i - 2, 0);
        const int64_t span = (y->dims[i] - 1) * net_number_of(p->node, "strides", i - 2, 1) +
                             (w->dims[i] - 1) * net_number_of(p->node, "dilations", i - 2, 1) + 1;
        dims[i] = begin || span > x->dims[i] ? span : x->dims[i];
        at_text_addf(&index, begin ? ", a%d - %lld" : ", a%d", i - 2, (long long)begin);
        if (begin)
            at_text_addf(&inside, "%sa%d >= %lld", inside.len ? " && " : "", i - 2,
                         (long long)begin);
        if (dims[i] > x->dims[i] + begin)
            at_text_addf(&inside, "%sa%d < %lld", inside.len ? " && " : "", i - 2,
                         (long long)(x->dims[i] + begin));
    }
    return add_bytes(q, p, dims, net_picture_axes, at_text_take(q->arena, &index),
                     inside.len ? at_text_take(q->arena, &inside) : NULL);
}

static void add_window(quantizer *q, const product *p, int64_t inner, bool is_product, at_text *t) {
    const at_net_value *w = value_at(q->net, p->w.value), *x = value_at(q->net, p->x.value);
    const int64_t groups = at_net_int(p->node, "group", 1), per_group = w->dims[0] / groups;
    at_text_addf(t, p->is_of_two ? "sum(h:2, c:%lld" : "sum(c:%lld", (long long)inner);
    for (int i = 2; i < x->rank; i++) at_text_addf(t, ", p%d:%lld", i - 2, (long long)w->dims[i]);
    at_text_add(t, ") x0[n, ");
    if (groups == 1) at_text_add(t, "c");
    else if (per_group == 1 && inner == 1) at_text_add(t, "m");
    else at_text_addf(t, "m/%lld*%lld + c", (long long)per_group, (long long)inner);
    for (int i = 2; i < x->rank; i++)
        at_text_addf(t, ", a%d*%lld + p%d*%lld", i - 2,
                     (long long)net_number_of(p->node, "strides", i - 2, 1), i - 2,
                     (long long)net_number_of(p->node, "dilations", i - 2, 1));
    at_text_add(t, is_product ? "] * x1[m, c" : "");
    if (p->is_of_two) at_text_addf(t, " + h*%lld", (long long)inner);
    for (int i = 2; i < x->rank && is_product; i++) at_text_addf(t, ", p%d", i - 2);
    at_text_add(t, "]\n");
}

/* ---- products of matrices -------------------------------------------------------------------- */

const char *const net_matrix_axes[] = {"a0", "a1", "a2", "a3", "a4",  "a5",
                                       "a6", "a7", "a8", "a9", "a10", "a11"};

static void add_matrices(quantizer *q, const product *p, bool is_product, at_text *t) {
    const at_net_value *x = value_at(q->net, p->x.value);
    const int last = x->rank - 1;
    at_text_addf(t, "sum(k:%lld) x0[", (long long)x->dims[last]);
    for (int i = 0; i < last; i++) at_text_addf(t, "a%d, ", i);
    at_text_add(t, "k]");
    if (is_product) at_text_addf(t, p->transposed ? " * x1[a%d, k]" : " * x1[k, a%d]", last);
    at_text_add(t, "\n");
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void add_sum(quantizer *q, const product *p, int64_t inner, bool is_product, at_text *t) {
    if (p->kind == CONVOLUTION) add_window(q, p, inner, is_product, t);
    else add_matrices(q, p, is_product, t);
}

/* The axes of y on which sums of x depend: not on its channel, where each of them reads all of x.
 */
static void add_places(const product *p, const at_net_value *y, const char *const *names,
                       bool with_sizes, at_text *t) {
    const int channel = net_is_dense(p) ? 1 : p->kind == CONVOLUTION ? -1 : y->rank - 1;
    for (int i = 0, k = 0; i < y->rank; i++) {
        if (i == channel) continue;
        at_text_addf(t, "%s%s", k++ ? ", " : "", names[i]);
        if (with_sizes) at_text_addf(t, ":%lld", (long long)y->dims[i]);
    }
}

/* s: the sums of products. */
static void add_sums(quantizer *q, const product *p, const char *const *names, const char *channel,
                     int64_t inner, at_text *t, int *inputs, int *next) {
    const at_net_value *y = value_at(q->net, p->output);
    at_text_add(t, p->shift ? "p[" : "s[");
    net_add_dims(t, y, names);
    at_text_add(t, "] : s32 = ");
    add_sum(q, p, inner, true, t);
    if (!p->shift) return;
    at_text_add(t, "r[");
    add_places(p, y, names, true, t);
    at_text_add(t, "] : s32 = ");
    add_sum(q, p, inner, false, t);
    at_text_add(t, "s[");
    net_add_dims(t, y, names);
    at_text_add(t, "] : s32 = p[");
    net_add_names(t, y->rank, names);
    at_text_add(t, "] + r[");
    add_places(p, y, names, false, t);
    at_text_addf(t, "]*(x%d[%s] + 1)\n", *next, channel);
    int8_t *d = AT_NEW_ARRAY(q->arena, int8_t, p->outputs + 1); /* shifts are from -127 to 128 */
    for (int64_t m = 0; m < p->outputs; m++) d[m] = (int8_t)(p->shift[m] - 1);
    inputs[(*next)++] = net_add_constant(q, at_format(q->arena, "%s_zeros", y->name), AT_NET_INT8,
                                         AT_S8, 1, &p->outputs, d);
}

/* Sums of weights times a zero that comes with the run: s becomes s - zero*sum. The weights are
 * read for it, since they say how large the sums may be. */
static void add_zero(quantizer *q, const product *p, int64_t inner, at_text *t,
                     const char *const *names, const char *channel, int *inputs, int *next) {
    const at_net_value *y = value_at(q->net, p->output), *w = value_at(q->net, p->w.value);
    const bool conv = p->kind == CONVOLUTION;
    const long long outputs = p->outputs;
    long long terms = conv ? inner * (p->is_of_two ? 2 : 1) : w->elements / outputs;
    at_text_addf(t, "%s[m:%lld] : s32 = sum(k:%lld", p->shift ? "u" : "w", outputs, terms);
    for (int i = 2; conv && i < w->rank; i++) {
        at_text_addf(t, ", p%d:%lld", i - 2, (long long)w->dims[i]);
        terms *= w->dims[i];
    }
    at_text_add(t, conv ? ") x1[m, k" : ") x1[k, m");
    for (int i = 2; conv && i < w->rank; i++) at_text_addf(t, ", p%d", i - 2);
    at_text_add(t, "]\n");
    if (p->shift) at_text_addf(t, "w[m:%lld] : s32 = u[m] + (x2[m] + 1)*%lld\n", outputs, terms);
    at_text_addf(t, "z[i:1] : u8 = %s\n", run_zero(q, p, *next));
    inputs[(*next)++] = p->zero_value;
    at_text_add(t, "y0[");
    net_add_dims(t, y, names);
    at_text_add(t, "] = s[");
    net_add_names(t, y->rank, names);
    at_text_addf(t, "] - z[0]*w[%s]\n", channel);
}

void net_add_product(quantizer *q, const product *p) {
    enum { MOST_INPUTS = 6 };
    const at_net_value *w = value_at(q->net, p->w.value);
    const bool conv = p->kind == CONVOLUTION;
    const char *const *names = conv ? net_picture_axes : net_matrix_axes;
    const int rank = value_at(q->net, p->output)->rank;
    const char *channel = conv ? "m" : net_matrix_axes[rank - 1];
    const int64_t inner = !conv ? 0 : net_is_dense(p) ? (w->dims[1] + 3) / 4 * 4 : w->dims[1];
    int inputs[MOST_INPUTS], next = 2;
    at_text t = {0};
    add_sums(q, p, names, channel, inner, &t, inputs, &next);
    if (p->zero_value >= 0) add_zero(q, p, inner, &t, names, channel, inputs, &next);
    else
        add_shift(q, p, byte_zero(q, p), &t, names, channel, p->is_whole ? "y0" : "b", inputs,
                  &next);
    if (!p->is_whole) add_outcome(q, p, &t, names, channel, inputs, &next);
    const at_net_value *x = value_at(q->net, p->x.value);
    at_text index = {0};
    net_add_names(&index, x->rank, names);
    inputs[0] =
        conv ? padded(q, p, inner) : add_bytes(q, p, x->dims, names, at_text_str(&index), NULL);
    at_text_free(&index);
    inputs[1] = whole_weights(q, p, inner);
    net_add_node(q, p->node, conv ? "Conv" : "MatMul", AT_NET_SUM, inputs, next, p->output, &t);
}
