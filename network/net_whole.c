/* network/net_whole.c: which nodes are computed in whole numbers. Kernels compute in float32, which
 * has whole numbers up to 2^24; a node whose integers may be larger is computed in double, which
 * has them up to 2^53, by plain C. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "network/graph.h"

static const double most_of_float = 1 << 24;

typedef struct finder {
    const at_net *net;
    const at_int_list *readers;
    double *most; /* [value] no element is further from 0 */
} finder;

static bool is_wide_type(at_net_type t) {
    return at_net_type_is_int(t) && at_net_type_bytes(t) > 2;
}

static double most_of_type(at_net_type t) {
    if (t == AT_NET_BOOL) return 1;
    return at_net_type_is_int(t) ? ldexp(1, 8 * at_net_type_bytes(t)) : INFINITY;
}

static double most_of_constant(const at_net_value *v) {
    double most = 0;
    if (!is_wide_type(v->type) || !v->data) return most_of_type(v->type);
    for (int64_t i = 0; i < v->elements; i++)
        most = fmax(most, fabs(at_net_element(v->type, v->data, i)));
    return most;
}

static double most_of_input(const finder *f, const at_net_node *n, int k) {
    return k < n->num_inputs && n->inputs[k] >= 0 ? f->most[n->inputs[k]] : 0;
}

/* Of operators that write what they read, or what is no larger. */
static bool keeps_numbers(const at_net_node *n) {
    static const char *const names[] = {
        "Where", "Max", "Min",       "Clip",      "Identity", "Relu",   "Abs",  "Neg", "Sign",
        "Cast",  "Div", "ReduceMax", "ReduceMin", "Mod",      "OneHot", "TopK", NULL};
    return at_net_op_is(n, names) || (n->kind == AT_NET_MOVE && strncmp(n->op, "Scatter", 7));
}

/* What is rounded to floats, or only asked whether it is 0, may be rounded before. */
static bool may_round(const at_net *net, const at_net_node *n) {
    if (strcmp(n->op, "Cast")) return false;
    const at_net_type to = net->values.data[n->outputs[0]].type;
    return at_net_type_is_float(to) || to == AT_NET_BOOL;
}

/* A product of bytes is rounded once, when it is stored: as exact as what its readers make of it.
 */
static bool is_rounded_product(const finder *f, const at_net_node *n) {
    const int out = n->outputs[0];
    const at_type x = f->net->values.data[n->inputs[0]].element;
    if (n->kind != AT_NET_SUM || (x != AT_U8 && x != AT_S8) || out < 0) return false;
    bool all = !f->net->values.data[out].is_output;
    for (int i = 0; i < f->readers[out].len; i++)
        all &= may_round(f->net, &f->net->nodes.data[f->readers[out].data[i]]);
    return all;
}

/* How far from 0 the elements of a node's integer output k may be, by what it computes. */
static double most_of_output(const finder *f, const at_net_node *n, int k) {
    static const char *const sums[] = {"Add", "Sub", "Sum", NULL};
    static const char *const places[] = {"ArgMax", "ArgMin", "NonZero", NULL};
    static const char *const rows[] = {"ReduceSum", "CumSum", NULL};
    static const char *const bytes[] = {"ConvInteger", "MatMulInteger", NULL};
    const double elements = (double)f->net->values.data[n->inputs[0]].elements;
    double largest = 0, sum = 0, product = 1;
    for (int i = 0; i < n->num_inputs; i++) {
        const double most = most_of_input(f, n, i);
        if (n->inputs[i] < 0 || n->index_inputs >> i & 1) continue;
        largest = fmax(largest, most), sum += most, product *= most;
    }
    if (at_net_op_is(n, places) || (!strcmp(n->op, "TopK") && k == 1)) return elements;
    if (at_net_op_is(n, bytes) || is_rounded_product(f, n))
        return most_of_float; /* sums of kernels, as exact as they are */
    if (at_net_op_is(n, sums)) return sum;
    if (!strcmp(n->op, "Mul")) return product;
    if (at_net_op_is(n, rows)) return elements * most_of_input(f, n, 0);
    return keeps_numbers(n) ? largest : INFINITY;
}

static bool is_wide(const finder *f, int v) {
    const at_net_value *x = &f->net->values.data[v];
    return !x->is_constant && is_wide_type(x->type) && x->element == AT_F32 &&
           f->most[v] > most_of_float;
}

static bool is_whole(const finder *f, const at_net_node *n) {
    bool any = false, floats = false;
    if (!n->text || n->outputs[0] < 0) return false;
    for (int k = 0; k < n->num_inputs; k++)
        any |= n->inputs[k] >= 0 && !(n->index_inputs >> k & 1) && at_net_reads(n, k) &&
               is_wide(f, n->inputs[k]);
    if (any && may_round(f->net, n)) return false;
    for (int k = 0; k < n->num_outputs; k++) {
        if (n->outputs[k] < 0) continue;
        any |= is_wide(f, n->outputs[k]);
        floats |= at_net_type_is_float(f->net->values.data[n->outputs[k]].type);
    }
    return any && (!floats || n->kind == AT_NET_MAP || n->kind == AT_NET_MOVE);
}

void at_net_find_whole(at_net *net) {
    finder f = {net, at_net_readers(net->arena, net),
                AT_NEW_ARRAY(net->arena, double, net->values.len + 1)};
    for (int i = 0; i < net->values.len; i++) {
        const at_net_value *v = &net->values.data[i];
        f.most[i] = v->is_constant ? most_of_constant(v) : most_of_type(v->type);
    }
    for (int i = 0; i < net->nodes.len; i++) {
        at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_outputs; k++)
            if (n->outputs[k] >= 0 && n->num_inputs && n->inputs[0] >= 0)
                f.most[n->outputs[k]] = fmin(f.most[n->outputs[k]], most_of_output(&f, n, k));
        n->is_whole = is_whole(&f, n);
    }
}

at_net_type at_net_kept_type(const at_net *net, int v, bool whole) {
    const at_net_value *x = &net->values.data[v];
    const bool as_it_is = x->producer < 0 || net->nodes.data[x->producer].is_whole;
    switch (x->element) {
    case AT_U8: return AT_NET_UINT8;
    case AT_S8: return AT_NET_INT8;
    case AT_S32: return AT_NET_INT32;
    case AT_F16: return AT_NET_FLOAT16;
    case AT_BF16: return AT_NET_BFLOAT16;
    default: return whole && as_it_is && at_net_type_is_int(x->type) ? x->type : AT_NET_FLOAT;
    }
}
