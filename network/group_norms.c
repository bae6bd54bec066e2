/* network/group_norms.c: the normalization of groups of channels that exporters write as a Reshape
 * to groups, an InstanceNormalization, a Reshape back, and a Mul and an Add of each channel, is one
 * GroupNormalization, so that channels may lie last before and behind it. */
#include <string.h>

#include "network/graph.h"

typedef struct group_norm {
    at_net *net;
    const at_int_list *readers;
    int x;    /* the value that is normalized */
    int last; /* the node that makes what is read by others */
    int64_t groups, channels;
    float epsilon;
    float *scale, *bias; /* [channels] */
} group_norm;

static const at_net_value *value_at(const group_norm *g, int v) { return &g->net->values.data[v]; }
static const at_net_node *node_at(const group_norm *g, int n) { return &g->net->nodes.data[n]; }

static bool is_node(const group_norm *g, int n, const char *op) {
    return n >= 0 && !strcmp(node_at(g, n)->op, op);
}

/* [n, groups, whatever] of [n, channels, sizes], and back again. */
static bool find_reshapes(group_norm *g, int node) {
    const at_net_node *n = node_at(g, node);
    const int before = value_at(g, n->inputs[0])->producer;
    const int behind = at_net_only_reader(g->net, g->readers, n->outputs[0]);
    if (!is_node(g, before, "Reshape") || !is_node(g, behind, "Reshape")) return false;
    g->x = node_at(g, before)->inputs[0];
    g->last = behind;
    const at_net_value *x = value_at(g, g->x), *split = value_at(g, n->inputs[0]),
                       *y = value_at(g, node_at(g, behind)->outputs[0]);
    if (x->rank < 3 || y->rank != x->rank || split->dims[0] != x->dims[0] ||
        x->dims[1] % split->dims[1] ||
        memcmp(x->dims, y->dims, sizeof *x->dims * (size_t)x->rank) != 0)
        return false;
    g->groups = split->dims[1];
    g->channels = x->dims[1];
    return true;
}

static bool take_groups(group_norm *g, const at_net_node *n) {
    const at_net_value *scale = at_net_float_input(g->net, n, 1),
                       *bias = at_net_float_input(g->net, n, 2);
    const at_net_attribute *epsilon = at_net_attribute_find(n, "epsilon", AT_NET_ATTR_FLOAT);
    if (!scale || !bias || scale->elements != g->groups || bias->elements != g->groups)
        return false;
    g->epsilon = epsilon ? epsilon->f : 1e-5f;
    g->scale = AT_NEW_ARRAY(g->net->arena, float, g->channels);
    g->bias = AT_NEW_ARRAY(g->net->arena, float, g->channels);
    for (int64_t c = 0; c < g->channels; c++) {
        const int64_t of = c * g->groups / g->channels;
        g->scale[c] = (float)at_net_element(scale->type, scale->data, of);
        g->bias[c] = (float)at_net_element(bias->type, bias->data, of);
    }
    return true;
}

/* A Mul or an Add with a constant of each channel goes in, if nothing else reads what is before it.
 */
static bool take_channels(group_norm *g, const char *op) {
    const int v = node_at(g, g->last)->outputs[0], node = at_net_only_reader(g->net, g->readers, v);
    if (!is_node(g, node, op) || node_at(g, node)->num_inputs != 2) return false;
    const at_net_node *n = node_at(g, node);
    const at_net_value *k = at_net_float_input(g->net, n, n->inputs[0] == v), *x = value_at(g, v);
    if (!k || k->rank > x->rank || k->elements != g->channels ||
        (g->channels > 1 &&
         (k->rank < x->rank - 1 || k->dims[k->rank - x->rank + 1] != g->channels)))
        return false;
    for (int64_t c = 0; c < g->channels; c++) {
        const float by = (float)at_net_element(k->type, k->data, c);
        if (*op == 'A') g->bias[c] += by;
        else g->scale[c] *= by, g->bias[c] *= by;
    }
    g->last = node;
    return true;
}

static void write_node(const group_norm *g) {
    at_arena *a = g->net->arena;
    at_net_node *n = &g->net->nodes.data[g->last];
    const at_net_node old = *n;
    int64_t *dims = at_copy(a, &g->channels, sizeof g->channels);
    int *inputs = AT_NEW_ARRAY(a, int, 3);
    at_net_attribute *attributes = AT_NEW_ARRAY(a, at_net_attribute, 2);
    inputs[0] = g->x;
    inputs[1] = at_net_add_constant(g->net, at_format(a, "%s_scale", n->name), 1, dims, g->scale);
    inputs[2] = at_net_add_constant(g->net, at_format(a, "%s_bias", n->name), 1, dims, g->bias);
    attributes[0] = (at_net_attribute){"num_groups", AT_NET_ATTR_INT, .i = g->groups};
    attributes[1] = (at_net_attribute){"epsilon", AT_NET_ATTR_FLOAT, .f = g->epsilon};
    *n = (at_net_node){.name = old.name,
                       .op = "GroupNormalization",
                       .num_inputs = 3,
                       .num_outputs = 1,
                       .inputs = inputs,
                       .outputs = old.outputs,
                       .num_attributes = 2,
                       .attributes = attributes,
                       .version = 21};
    if (!at_net_write_node(g->net, n)) *n = old;
}

void at_net_find_group_norms(at_net *net) {
    const at_int_list *readers = at_net_readers(net->arena, net);
    for (int i = 0; i < net->nodes.len; i++) {
        group_norm g = {.net = net, .readers = readers};
        if (!is_node(&g, i, "InstanceNormalization") || !find_reshapes(&g, i) ||
            !take_groups(&g, node_at(&g, i)))
            continue;
        if (take_channels(&g, "Mul")) take_channels(&g, "Add");
        write_node(&g);
    }
}
