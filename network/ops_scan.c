/* network/ops_scan.c: recurrent layers, LSTM, GRU and RNN: stages that read each other at the step
 * before. Stages of a direction end in its number. And a convolution with a state. */
#include "network/network_int.h"

#include <string.h>

typedef struct layer {
    int gates, directions;
    bool reverse[2], batch_first;
    long long steps, batch, inputs, hidden;
    bool has_lengths; /* sequences of several lengths */
    bool is_dynamic;  /* data and states are rounded to bytes, weights are bytes */
    double clip;      /* 0: none */
    const char *activation[6];
    float alpha[6], beta[6];
} layer;

/* ---- what is asked for ----------------------------------------------------------------------- */

static at_status take_direction(net_op *o, layer *l) {
    const char *direction = op_string(o, "direction", "forward");
    l->directions = 1;
    if (!strcmp(direction, "reverse")) l->reverse[0] = true;
    else if (!strcmp(direction, "bidirectional")) l->directions = 2, l->reverse[1] = true;
    else if (strcmp(direction, "forward") != 0) return op_fail(o, "direction \"%s\"", direction);
    return AT_OK;
}

static at_status take_activations(net_op *o, layer *l, const char *const *usual, int n) {
    const at_net_attribute *given =
                               at_net_attribute_find(o->node, "activations", AT_NET_ATTR_STRINGS),
                           *alpha = at_net_attribute_find(o->node, "activation_alpha",
                                                          AT_NET_ATTR_FLOATS),
                           *beta = at_net_attribute_find(o->node, "activation_beta",
                                                         AT_NET_ATTR_FLOATS);
    static const char *const known[] = {"Sigmoid",         "Tanh",       "Relu",        "LeakyRelu",
                                        "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu",
                                        "Softsign",        "Softplus",   "Affine"};
    if (given && given->strings && given->num != n * l->directions)
        return op_fail(o, "%d activations, not %d", given->num, n * l->directions);
    for (int i = 0; i < n * l->directions; i++) {
        bool found = false;
        l->activation[i] = given && given->strings ? given->strings[i] : usual[i % n];
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            found |= !strcmp(known[k], l->activation[i]);
        if (!found) return op_missing(o, "activation %s", l->activation[i]);
        l->alpha[i] = alpha && alpha->floats && i < alpha->num   ? alpha->floats[i]
                      : !strcmp(l->activation[i], "HardSigmoid") ? 0.2f
                      : !strcmp(l->activation[i], "LeakyRelu")   ? 0.01f
                                                                 : 1;
        l->beta[i] = beta && beta->floats && i < beta->num      ? beta->floats[i]
                     : !strcmp(l->activation[i], "HardSigmoid") ? 0.5f
                     : !strcmp(l->activation[i], "ScaledTanh")  ? 1
                                                                : 0;
    }
    return AT_OK;
}

static at_status has_sizes(net_op *o, int k, int rank, long long first, long long second,
                           long long third) {
    const at_net_value *v = op_in(o, k);
    const long long sizes[] = {first, second, third};
    bool fits = !v || v->rank == rank;
    for (int i = 0; v && fits && i < rank; i++) fits = v->dims[i] == sizes[i];
    return fits ? AT_OK : op_fail(o, "\"%s\" has other sizes than the layer", v->name);
}

/* Weights of so many numbers to all gates; bytes lie with the gates last. */
static at_status has_weights(net_op *o, const layer *l, int k, long long numbers) {
    const long long all = l->gates * l->hidden;
    return l->is_dynamic ? has_sizes(o, k, 3, l->directions, numbers, all)
                         : has_sizes(o, k, 3, l->directions, all, numbers);
}

static bool all_steps(const at_net_value *lengths, long long steps) {
    for (int64_t i = 0; i < lengths->elements; i++)
        if (at_net_element_int(lengths->type, lengths->data, i) != steps) return false;
    return true;
}

static at_status take_layer(net_op *o, int gates, const char *const *usual, int num_usual,
                            layer *l) {
    const at_net_value *x = op_in(o, 0), *r = op_in(o, 2), *lengths = op_in(o, 4);
    *l = (layer){.gates = gates,
                 .batch_first = op_int(o, "layout", 0) != 0,
                 .is_dynamic = !strncmp(o->node->op, "Dynamic", 7)};
    AT_TRY(take_direction(o, l));
    const at_net_value *odd = x->rank != 3 ? x : r;
    if (odd->rank != 3) return op_fail(o, "\"%s\" has %d dimensions, not 3", odd->name, odd->rank);
    l->steps = x->dims[l->batch_first];
    l->batch = x->dims[!l->batch_first];
    l->inputs = x->dims[2];
    l->hidden = r->dims[l->is_dynamic ? 1 : 2];
    l->clip = op_float(o, "clip", 0);
    l->has_lengths = lengths && !(lengths->is_constant && all_steps(lengths, l->steps));
    if (l->steps < 1 || l->batch < 1 || l->hidden < 1) return op_missing(o, "without a step");
    AT_TRY(has_weights(o, l, 1, l->inputs));
    AT_TRY(has_weights(o, l, 2, l->hidden));
    AT_TRY(has_sizes(o, 3, 2, l->directions, 2 * gates * l->hidden, 0));
    AT_TRY(has_sizes(o, 4, 1, l->batch, 0, 0));
    const long long d = l->directions;
    AT_TRY(has_sizes(o, 5, 3, l->batch_first ? l->batch : d, l->batch_first ? d : l->batch,
                     l->hidden));
    if (l->has_lengths) op_reads_index(o, 4);
    return take_activations(o, l, usual, num_usual);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static const char *activated(const net_op *o, const layer *l, int i, const char *x) {
    const char *name = l->activation[i], *a = op_number(o, l->alpha[i]),
               *b = op_number(o, l->beta[i]);
    if (l->clip > 0)
        x = op_format(o, "min(max(%s, %s), %s)", x, op_number(o, -l->clip), op_number(o, l->clip));
    if (!strcmp(name, "Sigmoid")) return op_format(o, "sigmoid(%s)", x);
    if (!strcmp(name, "Tanh")) return op_format(o, "tanh(%s)", x);
    if (!strcmp(name, "Relu")) return op_format(o, "max(%s, 0)", x);
    if (!strcmp(name, "LeakyRelu")) return op_format(o, "max(%s, 0) + min(%s, 0)*%s", x, x, a);
    if (!strcmp(name, "ThresholdedRelu")) return op_format(o, "((%s) > %s ? %s : 0)", x, a, x);
    if (!strcmp(name, "ScaledTanh")) return op_format(o, "%s*tanh((%s)*%s)", a, x, b);
    if (!strcmp(name, "HardSigmoid")) return op_format(o, "min(max((%s)*%s + %s, 0), 1)", x, a, b);
    if (!strcmp(name, "Elu")) return op_format(o, "((%s) > 0 ? %s : (exp(%s) - 1)*%s)", x, x, x, a);
    if (!strcmp(name, "Softsign")) return op_format(o, "(%s)/(1 + abs(%s))", x, x);
    if (!strcmp(name, "Softplus"))
        return op_format(o, "(max(%s, 0) + log(1 + exp(-abs(%s))))", x, x);
    return op_format(o, "((%s)*%s + %s)", x, a, b);
}

/* The place of step t in the input. */
static const char *time_of(const net_op *o, const layer *l, int d) {
    if (!l->reverse[d]) return "t";
    if (l->has_lengths) return "(t < x4[b] ? x4[b] - 1 - t : t)";
    return op_format(o, "%lld - t", l->steps - 1);
}

/* An element of the state before step t: of a stage, or of input `initial`. */
static const char *before(const net_op *o, const layer *l, const char *stage, int initial, int d,
                          const char *unit) {
    const char *first = "0";
    if (op_in(o, initial))
        first = l->batch_first ? op_format(o, "x%d[b, %d, %s]", initial, d, unit)
                               : op_format(o, "x%d[%d, b, %s]", initial, d, unit);
    if (l->steps == 1) return op_format(o, "%s", first);
    return op_format(o, "(t > 0 ? %s%d[t - 1, b, %s] : %s)", stage, d, unit, first);
}

static const char *head(const net_op *o, const layer *l, const char *stage, int d,
                        long long units) {
    return op_format(o, "%s%d[t:%lld, b:%lld, j:%lld]", stage, d, l->steps, l->batch, units);
}

/* Stage `name` of three axes: `element` rounded to one of 256 numbers between the least and the
 * largest element and 0, as DynamicQuantizeLinear does, for each place of the first axis `by`. */
static void add_rounded(net_op *o, const char *name, const char *by, const char *others,
                        const char *axes, const char *at, const char *element) {
    const char *i = op_format(o, "%.*s", (int)strcspn(by, ":"), by);
    const char *of = strchr(axes, *i) ? i : "0"; /* of all elements, or of those of this place */
    op_add(o, "most%s[%s] = max(%s) %s\n", name, by, others, element);
    op_add(o, "least%s[%s] = min(%s) %s\n", name, by, others, element);
    op_add(o, "wide%s[%s] = (max(most%s[%s], 0) - min(least%s[%s], 0))/255.0\n", name, by, name, i,
           name, i);
    op_add(o, "scale%s[%s] = wide%s[%s] == 0 ? 1 : wide%s[%s]\n", name, by, name, i, name, i);
    op_add(o, "zero%s[%s] = round(-min(least%s[%s], 0)/scale%s[%s])\n", name, by, name, i, name, i);
    op_add(o, "byte%s[%s] = min(max(round((%s)/scale%s[%s]) + zero%s[%s], 0), 255)\n", name, axes,
           element, name, of, name, of);
    op_add(o, "%s[%s] = (byte%s[%s] - zero%s[%s])*scale%s[%s]\n", name, axes, name, at, name, of,
           name, of);
}

/* u: the data, rounded. */
static void add_rounded_data(net_op *o, const layer *l) {
    const char *axes = op_format(o, "p:%lld, q:%lld, k:%lld", (long long)op_in(o, 0)->dims[0],
                                 (long long)op_in(o, 0)->dims[1], l->inputs);
    add_rounded(o, "u", "o:1", axes, axes, "p, q, k", "x0[p, q, k]");
}

/* The scale or zero of gates j, or of all gates. */
static const char *number_of(const net_op *o, int k, int d) {
    return op_format(o, op_in(o, k)->rank == 2 ? "x%d[%d, j]" : "x%d[%d]", k, d);
}

/* An element of weights 1 or 2 of gates j. */
static const char *weight(const net_op *o, const layer *l, int k, int d) {
    if (!l->is_dynamic) return op_format(o, "x%d[%d, j, k]", k, d);
    const char *scale = number_of(o, 6 + 2 * k, d), *zero = number_of(o, 7 + 2 * k, d);
    return op_format(o, "(x%d[%d, k, j] - %s)*%s", k, d, zero, scale);
}

/* g: the products of the inputs with all gates, and their biases. */
static void add_inputs(net_op *o, const layer *l, int d) {
    const char *time = time_of(o, l, d);
    op_add(o, "%s = sum(k:%lld) %s[%s%s, k] * %s\n", head(o, l, "g", d, l->gates * l->hidden),
           l->inputs, l->is_dynamic ? "u" : "x0", l->batch_first ? "b, " : time,
           l->batch_first ? time : ", b", weight(o, l, 1, d));
}

/* r: those of the state before. */
static void add_state(net_op *o, const layer *l, int d, int initial, long long gates) {
    const char *state = before(o, l, "h", initial, d, "k");
    if (l->is_dynamic) {
        const char *name = op_format(o, "w%d", d);
        add_rounded(o, name, op_format(o, "t:%lld", l->steps),
                    op_format(o, "b:%lld, k:%lld", l->batch, l->hidden),
                    op_format(o, "t:%lld, b:%lld, k:%lld", l->steps, l->batch, l->hidden),
                    "t, b, k", state);
        state = op_format(o, "%s[t, b, k]", name);
    }
    op_add(o, "%s = sum(k:%lld) %s * %s\n", head(o, l, "r", d, gates * l->hidden), l->hidden, state,
           weight(o, l, 2, d));
}

/* "g0[t, b, j + 4]" of gate i, with the biases that are asked for. */
static const char *gate(const net_op *o, const layer *l, int d, int i, bool with_input_bias,
                        bool with_state_bias) {
    const long long at = i * l->hidden, behind = l->gates * l->hidden;
    const char *x = op_format(o, "g%d[t, b, j + %lld]", d, at);
    if (op_in(o, 3) && with_input_bias) x = op_format(o, "%s + x3[%d, j + %lld]", x, d, at);
    if (op_in(o, 3) && with_state_bias)
        x = op_format(o, "%s + x3[%d, j + %lld]", x, d, behind + at);
    return x;
}

/* A stage of the state, which stays as it is behind the end of a sequence. */
static void add_kept(net_op *o, const layer *l, const char *stage, int d, int initial,
                     const char *value) {
    if (l->has_lengths)
        value = op_format(o, "t < x4[b] ? %s : %s", value, before(o, l, stage, initial, d, "j"));
    op_add(o, "%s = %s\n", head(o, l, stage, d, l->hidden), value);
}

/* ---- outputs --------------------------------------------------------------------------------- */

/* All steps, at their own places. */
static at_status add_all(net_op *o, const layer *l) {
    const int64_t steps_first[] = {l->steps, l->directions, l->batch, l->hidden},
                  batch_first[] = {l->batch, l->steps, l->directions, l->hidden};
    const at_net_type type = op_in(o, 0)->type;
    AT_TRY(op_out(o, 0, type, 4, l->batch_first ? batch_first : steps_first));
    if (!op_has_out(o, 0)) return AT_OK;
    const char *of[2];
    for (int d = 0; d < l->directions; d++)
        of[d] = op_format(o, "h%d[%s, b, j]", d, time_of(o, l, d));
    op_add(o, "y0[");
    if (l->batch_first) op_add(o, "b:%lld, t:%lld, d:%d", l->batch, l->steps, l->directions);
    else op_add(o, "t:%lld, d:%d, b:%lld", l->steps, l->directions, l->batch);
    op_add(o, ", j:%lld] = ", l->hidden);
    if (l->has_lengths) op_add(o, "t >= x4[b] ? 0 : ");
    if (l->directions == 2) op_add(o, "d == 0 ? %s : %s\n", of[0], of[1]);
    else op_add(o, "%s\n", of[0]);
    return AT_OK;
}

/* The state behind the last step. */
static at_status add_last(net_op *o, const layer *l, int k, const char *stage) {
    const int64_t plain[] = {l->directions, l->batch, l->hidden},
                  batch_first[] = {l->batch, l->directions, l->hidden};
    AT_TRY(op_out(o, k, op_in(o, 0)->type, 3, l->batch_first ? batch_first : plain));
    if (!op_has_out(o, k)) return AT_OK;
    if (l->batch_first) op_add(o, "y%d[b:%lld, d:%d", k, l->batch, l->directions);
    else op_add(o, "y%d[d:%d, b:%lld", k, l->directions, l->batch);
    op_add(o, ", j:%lld] = ", l->hidden);
    if (l->directions == 2) op_add(o, "d == 0 ? %s0[%lld, b, j] : ", stage, l->steps - 1);
    op_add(o, "%s%d[%lld, b, j]\n", stage, l->directions - 1, l->steps - 1);
    return AT_OK;
}

/* ---- the layers ------------------------------------------------------------------------------ */

/* Gates in the order i o f c; input 7 are weights of the cell's state. */
static const char *peephole(const net_op *o, const layer *l, int d, int gate_number,
                            const char *cell) {
    if (!op_in(o, 7)) return "";
    return op_format(o, " + x7[%d, j + %lld]*%s", d, gate_number * l->hidden, cell);
}

static void add_lstm(net_op *o, const layer *l, int d) {
    const char *cell = before(o, l, "c", 6, d, "j");
    const int a = 3 * d;
    add_inputs(o, l, d);
    add_state(o, l, d, 5, 4);
    static const char *const names[] = {"i", "o", "f", "z"};
    const char *sums[4];
    for (int i = 0; i < 4; i++)
        sums[i] = op_format(o, "%s + r%d[t, b, j + %lld]", gate(o, l, d, i, true, true), d,
                            i * l->hidden);
    op_add(o, "%s = %s\n", head(o, l, names[0], d, l->hidden),
           activated(o, l, a, op_format(o, "%s%s", sums[0], peephole(o, l, d, 0, cell))));
    const bool coupled = op_int(o, "input_forget", 0) != 0;
    const char *forget =
        coupled ? op_format(o, "1 - i%d[t, b, j]", d)
                : activated(o, l, a, op_format(o, "%s%s", sums[2], peephole(o, l, d, 2, cell)));
    op_add(o, "%s = %s\n", head(o, l, names[2], d, l->hidden), forget);
    op_add(o, "%s = %s\n", head(o, l, names[3], d, l->hidden), activated(o, l, a + 1, sums[3]));
    add_kept(o, l, "c", d, 6,
             op_format(o, "f%d[t, b, j]*%s + i%d[t, b, j]*z%d[t, b, j]", d, cell, d, d));
    const char *now = op_format(o, "c%d[t, b, j]", d);
    op_add(o, "%s = %s\n", head(o, l, names[1], d, l->hidden),
           activated(o, l, a, op_format(o, "%s%s", sums[1], peephole(o, l, d, 1, now))));
    layer plain = *l; /* the clip is about gates */
    plain.clip = 0;
    add_kept(o, l, "h", d, 5, op_format(o, "o%d[t, b, j]*%s", d, activated(o, &plain, a + 2, now)));
}

static at_status lstm(net_op *o) {
    static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
    layer l;
    AT_TRY(take_layer(o, 4, usual, 3, &l));
    AT_TRY(has_sizes(o, 6, 3, l.batch_first ? l.batch : l.directions,
                     l.batch_first ? l.directions : l.batch, l.hidden));
    AT_TRY(has_sizes(o, 7, 2, l.directions, 3 * l.hidden, 0));
    if (l.is_dynamic) add_rounded_data(o, &l);
    for (int d = 0; d < l.directions; d++) add_lstm(o, &l, d);
    AT_TRY(add_all(o, &l));
    AT_TRY(add_last(o, &l, 1, "h"));
    return add_last(o, &l, 2, "c");
}

/* A scale or zero of weights: one for each direction, and maybe gate. */
static at_status has_numbers(net_op *o, int k) {
    const at_net_value *v = op_in(o, k), *w = op_in(o, 1);
    const bool fits = v && (v->rank == 1 || (v->rank == 2 && v->dims[1] == w->dims[2])) &&
                      v->dims[0] == w->dims[0];
    return fits ? AT_OK : op_fail(o, "input %d does not fit the weights", k + 1);
}

/* Of ONNX Runtime, as it computes it: all steps' data have one scale, the states before a step one
 * of their own. */
static at_status dynamic_lstm(net_op *o) {
    if (op_in(o, 1)->rank != 3) return op_fail(o, "the weights have not 3 dimensions");
    for (int k = 8; k < 12; k++) AT_TRY(has_numbers(o, k));
    return lstm(o);
}

/* Gates in the order z r h. */
static void add_gru(net_op *o, const layer *l, int d) {
    const bool after = op_int(o, "linear_before_reset", 0) != 0;
    const char *state = before(o, l, "h", 5, d, "j");
    const int a = 2 * d;
    add_inputs(o, l, d);
    add_state(o, l, d, 5, after ? 3 : 2);
    for (int i = 0; i < 2; i++)
        op_add(o, "%s = %s\n", head(o, l, i ? "s" : "z", d, l->hidden),
               activated(o, l, a,
                         op_format(o, "%s + r%d[t, b, j + %lld]", gate(o, l, d, i, true, true), d,
                                   i * l->hidden)));
    const char *sum = gate(o, l, d, 2, true, false);
    const char *bias = op_in(o, 3) ? op_format(o, " + x3[%d, j + %lld]", d, 5 * l->hidden) : "";
    if (after) {
        sum = op_format(o, "%s + s%d[t, b, j]*(r%d[t, b, j + %lld]%s)", sum, d, d, 2 * l->hidden,
                        bias);
    } else {
        op_add(o, "%s = s%d[t, b, j]*%s\n", head(o, l, "w", d, l->hidden), d, state);
        op_add(o, "%s = sum(k:%lld) w%d[t, b, k] * x2[%d, j + %lld, k]\n",
               head(o, l, "v", d, l->hidden), l->hidden, d, d, 2 * l->hidden);
        sum = op_format(o, "%s + v%d[t, b, j]%s", sum, d, bias);
    }
    op_add(o, "%s = %s\n", head(o, l, "n", d, l->hidden), activated(o, l, a + 1, sum));
    add_kept(o, l, "h", d, 5,
             op_format(o, "(1 - z%d[t, b, j])*n%d[t, b, j] + z%d[t, b, j]*%s", d, d, d, state));
}

static at_status gru(net_op *o) {
    static const char *const usual[] = {"Sigmoid", "Tanh"};
    layer l;
    AT_TRY(take_layer(o, 3, usual, 2, &l));
    for (int d = 0; d < l.directions; d++) add_gru(o, &l, d);
    AT_TRY(add_all(o, &l));
    return add_last(o, &l, 1, "h");
}

static at_status rnn(net_op *o) {
    static const char *const usual[] = {"Tanh"};
    layer l;
    AT_TRY(take_layer(o, 1, usual, 1, &l));
    for (int d = 0; d < l.directions; d++) {
        add_inputs(o, &l, d);
        add_state(o, &l, d, 5, 1);
        add_kept(o, &l, "h", d, 5,
                 activated(o, &l, d,
                           op_format(o, "%s + r%d[t, b, j]", gate(o, &l, d, 0, true, true), d)));
    }
    AT_TRY(add_all(o, &l));
    return add_last(o, &l, 1, "h");
}

/* ---- a convolution that goes on -------------------------------------------------------------- */

/* Of each channel with what came before: the state of the last call, or zeros. */
static at_status causal_conv(net_op *o) {
    const at_net_value *x = op_in(o, 0), *w = op_in(o, 1), *bias = op_in(o, 2), *past = op_in(o, 3);
    const char *activation = op_string(o, "activation", "none");
    const bool is_silu = !strcmp(activation, "silu") || !strcmp(activation, "swish");
    if (!is_silu && strcmp(activation, "none") != 0)
        return op_missing(o, "activation %s", activation);
    if (x->rank != 3 || w->rank != 3 || w->dims[0] != x->dims[1] || w->dims[1] != 1 || !w->dims[2])
        return op_fail(o, "a weight of a row for each channel of 3 dimensions is needed");
    const int64_t kept = w->dims[2] - 1, dims[] = {x->dims[0], x->dims[1], kept};
    if (bias && bias->elements != dims[1])
        return op_fail(o, "\"%s\" has no element for each channel", bias->name);
    if (past && (past->rank != 3 || memcmp(past->dims, dims, sizeof dims) != 0))
        return op_fail(o, "\"%s\" has no %lld elements for each channel", past->name,
                       (long long)kept);
    AT_TRY(op_out_like(o, 0, x));
    AT_TRY(op_out(o, 1, x->type, 3, dims));
    const char *rows = op_axes(o, "a", 2, dims);
    op_add(o, "all[%s, t:%lld] = t < %lld ? %s : x0[a0, a1, t - %lld]\n", rows,
           (long long)(x->dims[2] + kept), (long long)kept, past && kept ? "x3[a0, a1, t]" : "0",
           (long long)kept);
    op_add(o, "s[%s, t:%lld] = sum(k:%lld) all[a0, a1, t + k]*x1[a1, 0, k]\n", rows,
           (long long)x->dims[2], (long long)(kept + 1));
    op_add(o, "z[%s, t:%lld] = s[a0, a1, t]%s\n", rows, (long long)x->dims[2],
           bias ? " + x2[a1]" : "");
    op_add(o, "y0[%s, t:%lld] = z[a0, a1, t]%s\n", rows, (long long)x->dims[2],
           is_silu ? "*sigmoid(max(-40, z[a0, a1, t]))" : "");
    if (op_has_out(o, 1) && kept)
        op_add(o, "y1[%s, t:%lld] = all[a0, a1, t + %lld]\n", rows, (long long)kept,
               (long long)x->dims[2]);
    void *none;
    return op_has_out(o, 1) && !kept ? op_constant(o, 1, &none) : AT_OK;
}

const at_net_row net_rows_scan[] = {
    {"CausalConvWithState", "", 27, AT_NET_OTHER, 2, 4, 2, causal_conv},
    {"LSTM", "", 7, AT_NET_SCAN, 3, 8, 3, lstm},
    {"DynamicQuantizeLSTM", "com.microsoft", 1, AT_NET_SCAN, 3, 12, 3, dynamic_lstm},
    {"GRU", "", 7, AT_NET_SCAN, 3, 6, 2, gru},
    {"RNN", "", 7, AT_NET_SCAN, 3, 6, 2, rnn},
    NET_ROWS_END,
};
