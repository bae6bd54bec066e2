/* network/shuffles.c: channels that are shuffled between two convolutions stay where they are. The
 * second convolution reads them from there, its sum in another order; what stands between, of each
 * channel by itself, has its weights in the old order. A shuffle is a Reshape to [groups, channels
 * of a group], a Transpose of these two, and a Reshape to channels. */
#include <string.h>

#include "network/graph.h"

enum { MOST_BETWEEN = 8 };

typedef struct shuffle {
    at_net *net;
    const at_int_list *readers;
    int from, to; /* values; channel c of `to` is channel c%groups*each + c/groups of `from` */
    int64_t groups, each;
    int between[MOST_BETWEEN]; /* nodes, of each channel by itself */
    int num_between;
    int conv; /* the node that sums channels up */
} shuffle;

static const at_net_value *value_at(const shuffle *s, int v) { return &s->net->values.data[v]; }

static bool same_dims(const int64_t *x, const int64_t *y, int n) {
    return !memcmp(x, y, sizeof *x * (size_t)n);
}

static bool find_shuffle(shuffle *s, int first) {
    const char *const ops[] = {"Reshape", "Transpose", "Reshape"};
    int v[4], node = first;
    for (int k = 0; k < 3; k++) {
        const at_net_node *n = node < 0 ? NULL : &s->net->nodes.data[node];
        if (!n || strcmp(n->op, ops[k]) || n->kind != AT_NET_MOVE) return false;
        v[k] = n->inputs[0];
        v[k + 1] = n->outputs[0];
        node = k < 2 ? at_net_only_reader(s->net, s->readers, v[k + 1]) : -1;
    }
    const at_net_value *x = value_at(s, v[0]), *split = value_at(s, v[1]),
                       *turned = value_at(s, v[2]), *y = value_at(s, v[3]);
    const int rank = x->rank;
    if (rank < 3 || split->rank != rank + 1 || y->rank != rank) return false;
    if (!same_dims(x->dims, y->dims, rank) || split->dims[0] != x->dims[0] ||
        split->dims[1] * split->dims[2] != x->dims[1] ||
        !same_dims(split->dims + 3, x->dims + 2, rank - 2))
        return false;
    const at_net_node *turn = &s->net->nodes.data[at_net_only_reader(s->net, s->readers, v[1])];
    const at_net_attribute *perm = at_net_attribute_find(turn, "perm", AT_NET_ATTR_INTS);
    for (int i = 0; i < turned->rank; i++)
        if (!perm || perm->num != turned->rank || perm->ints[i] != (i == 1 ? 2 : i == 2 ? 1 : i))
            return false;
    s->from = v[0];
    s->to = v[3];
    s->groups = split->dims[1];
    s->each = split->dims[2];
    return true;
}

/* It reads data, and constants whose elements may lie in another order. */
static bool can_move(const shuffle *s, const at_net_node *n, int data) {
    if (n->inputs[0] != data) return false;
    for (int k = 1; k < n->num_inputs; k++) {
        const at_net_value *w = n->inputs[k] < 0 ? NULL : value_at(s, n->inputs[k]);
        if (w && (!w->data || w->element != AT_F32 || !at_net_type_is_float(w->type))) return false;
    }
    return true;
}

static bool is_by_channel(const shuffle *s, const at_net_node *n, int data) {
    const at_net_value *x = value_at(s, data), *y = value_at(s, n->outputs[0]);
    if (n->num_outputs != 1 || y->rank != x->rank || y->dims[1] != x->dims[1]) return false;
    if (!strcmp(n->op, "Conv"))
        return can_move(s, n, data) && at_net_int(n, "group", 1) == x->dims[1];
    static const char *const affine[] = {"Bias", "Scale",
                                         NULL}; /* of each channel (net_rewrite.c) */
    if (n->kind != AT_NET_MAP || !same_dims(x->dims, y->dims, x->rank)) return false;
    return n->num_inputs == 1 || (at_net_op_is(n, affine) && can_move(s, n, data));
}

/* The nodes up to the convolution that sums channels up. */
static bool find_readers(shuffle *s) {
    const int64_t channels = s->groups * s->each;
    int v = s->to;
    for (s->num_between = 0; s->num_between < MOST_BETWEEN; s->num_between++) {
        s->conv = at_net_only_reader(s->net, s->readers, v);
        const at_net_node *n = s->conv < 0 ? NULL : &s->net->nodes.data[s->conv];
        if (!n) return false;
        if (!is_by_channel(s, n, v)) {
            const int64_t groups = at_net_int(n, "group", 1);
            return !strcmp(n->op, "Conv") && can_move(s, n, v) &&
                   (groups == 1 || channels / groups % s->groups == 0);
        }
        s->between[s->num_between] = s->conv;
        v = n->outputs[0];
    }
    return false;
}

/* ---- what becomes of them -------------------------------------------------------------------- */

/* The text with one piece replaced; NULL: it has none. */
static const char *replaced(at_arena *a, const char *text, const char *piece, const char *by) {
    const char *at = text ? strstr(text, piece) : NULL;
    return at ? at_format(a, "%.*s%s%s", (int)(at - text), text, by, at + strlen(piece)) : NULL;
}

/* The grouped convolution's text: its sum goes over the groups of the shuffle (c) and what each of
 * its own groups has of one of these (d). Without groups the order of its weight is enough. */
static const char *text_of(const shuffle *s) {
    const at_net_node *n = &s->net->nodes.data[s->conv];
    at_arena *a = s->net->arena;
    const at_net_value *w = value_at(s, n->inputs[1]);
    const long long groups = at_net_int(n, "group", 1), outputs = w->dims[0] / groups,
                    inner = w->dims[1], each = inner / s->groups;
    if (groups == 1) return n->text;
    const char *group = outputs == 1 ? "m" : at_format(a, "m/%lld", outputs), *t = n->text;
    t = replaced(a, t, at_format(a, "x0[n, %s*%lld + c, ", group, inner),
                 at_format(a, "x0[n, c*%lld + %s*%lld + d, ", (long long)s->each, group, each));
    t = replaced(a, t, "x1[m, c, ", at_format(a, "x1[m, c*%lld + d, ", each));
    return replaced(a, t, at_format(a, "sum(c:%lld", inner),
                    at_format(a, "sum(c:%lld, d:%lld", (long long)s->groups, each));
}

/* An input of a node whose axis goes along `axis` in the new order: of `groups` times what it has
 * of each, one behind the other. */
static void reorder(at_net *net, at_net_node *n, int k, int axis, int64_t groups) {
    if (n->inputs[k] < 0) return;
    const at_net_value w = net->values.data[n->inputs[k]];
    const int64_t extent = w.dims[axis], each = extent / groups;
    float *data = AT_NEW_ARRAY(net->arena, float, w.elements);
    int64_t inner = 1;
    for (int i = axis + 1; i < w.rank; i++) inner *= w.dims[i];
    for (int64_t i = 0; i < w.elements; i++) {
        const int64_t row = i / (inner * extent), c = i / inner % extent;
        data[(row * extent + c % groups * each + c / groups) * inner + i % inner] =
            (float)at_net_element(w.type, w.data, i);
    }
    at_net_reread(net, n, n->inputs[k], at_net_add_constant(net, w.name, w.rank, w.dims, data));
}

static void leave_out(shuffle *s) {
    at_net *net = s->net;
    at_net_node *conv = &net->nodes.data[s->conv];
    const char *text = text_of(s);
    if (!text) return;
    at_net_node *first = s->num_between ? &net->nodes.data[s->between[0]] : conv;
    at_net_reread(net, first, s->to, s->from);
    for (int i = 0; i < s->num_between; i++) {
        at_net_node *n = &net->nodes.data[s->between[i]];
        for (int k = 1; k < n->num_inputs; k++) reorder(net, n, k, 0, s->groups);
    }
    reorder(net, conv, 1, 1, s->groups);
    conv->text = text;
}

void at_net_leave_shuffles(at_net *net) {
    shuffle s = {.net = net, .readers = at_net_readers(net->arena, net)};
    for (int i = 0; i < net->nodes.len; i++)
        if (find_shuffle(&s, i) && find_readers(&s)) leave_out(&s);
}
