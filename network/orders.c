/* network/orders.c: how values lie in memory: channels last between convolutions and what goes with
 * them, and which values share their memory with another. */
#include <string.h>

#include "network/graph.h"

enum { PLACES_OF_VECTOR = 16 };

static int find(int *of, int v) {
    while (of[v] != v) v = of[v] = of[of[v]];
    return v;
}

static void unite(int *of, int x, int y) { of[find(of, x)] = find(of, y); }

/* What reads and writes channels side by side. */
static bool wants_channels_last(const at_net_node *n) {
    static const char *const names[] = {"Conv",
                                        "ConvTranspose",
                                        "MaxPool",
                                        "AveragePool",
                                        "GlobalAveragePool",
                                        "GlobalMaxPool",
                                        "LpPool",
                                        "BatchNormalization",
                                        "Scale",
                                        "Bias",
                                        "LRN",
                                        "InstanceNormalization",
                                        "GroupNormalization",
                                        "Resize",
                                        "Upsample",
                                        "DepthToSpace",
                                        "SpaceToDepth",
                                        "PRelu",
                                        "Bytes",
                                        NULL};
    return at_net_op_is(n, names);
}

bool at_net_samples_channels(const at_net *net, const at_net_node *n) {
    static const char *const names[] = {"GridSample", "RoiAlign", NULL};
    if (!at_net_op_is(n, names)) return false;
    const at_net_value *y = &net->values.data[n->outputs[0]];
    return y->dims[y->rank - 1] < PLACES_OF_VECTOR;
}

/* Moves and others that leave axes where they are. */
static bool keeps_axes(const at_net_node *n) {
    static const char *const names[] = {"Concat", "Pad",        "Slice",    "Split",
                                        "Expand", "Dequantize", "Identity", "Dropout",
                                        "Cast",   "Copy",       "Table",    NULL};
    return n->kind == AT_NET_MAP || at_net_op_is(n, names) || wants_channels_last(n);
}

static bool is_activation(const at_net_value *v) { return v->rank >= 3 && !v->is_constant; }

/* Those that make no other order in memory than the declared one are told by NULL, and a picture's
 * few bytes a pixel, which are brought to four where they are read. */
static const int *channels_last(at_arena *a, const at_net_value *v) {
    int64_t pixels = 1;
    for (int i = 2; i < v->rank; i++) pixels *= v->dims[i];
    if (pixels == 1 || v->dims[1] == 1 || (v->element != AT_F32 && v->dims[1] < 4)) return NULL;
    int *order = AT_NEW_ARRAY(a, int, v->rank);
    for (int i = 1; i + 1 < v->rank; i++) order[i] = i + 1;
    order[v->rank - 1] = 1;
    return order;
}

/* Values of one rank that a node reads and writes are of one group. */
static void unite_values(const at_net *net, const at_net_node *n, int *of) {
    int first = -1;
    for (int k = 0; k < n->num_inputs + n->num_outputs; k++) {
        int v = k < n->num_inputs ? n->inputs[k] : n->outputs[k - n->num_inputs];
        if (v < 0 || !is_activation(&net->values.data[v])) continue;
        if (first >= 0 && net->values.data[first].rank == net->values.data[v].rank)
            unite(of, first, v);
        if (first < 0) first = v;
    }
}

const int *at_net_order_groups(at_arena *a, const at_net *net) {
    int n = net->values.len, *of = AT_NEW_ARRAY(a, int, n), *groups = AT_NEW_ARRAY(a, int, n),
        *first = AT_NEW_ARRAY(a, int, n);
    bool *wanted = AT_NEW_ARRAY(a, bool, n);
    for (int v = 0; v < n; v++) of[v] = v;
    for (int i = 0; i < net->nodes.len; i++)
        if (keeps_axes(&net->nodes.data[i])) unite_values(net, &net->nodes.data[i], of);
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *node = &net->nodes.data[i];
        if (!wants_channels_last(node) && !at_net_samples_channels(net, node)) continue;
        for (int k = 0; k < node->num_outputs; k++)
            if (node->outputs[k] >= 0) wanted[find(of, node->outputs[k])] = true;
        if (node->num_inputs && node->inputs[0] >= 0) wanted[find(of, node->inputs[0])] = true;
    }
    for (int v = 0; v < n; v++) first[v] = -1;
    for (int v = 0; v < n; v++) {
        const at_net_value *x = &net->values.data[v];
        const int root = find(of, v);
        const bool is_in = is_activation(x) && !x->is_input && !x->is_output && wanted[root];
        if (is_in && first[root] < 0) first[root] = v;
        groups[v] = is_in ? first[root] : -1;
    }
    return groups;
}

const int *const *at_net_orders(at_arena *a, const at_net *net, const bool *as_given) {
    const int *groups = at_net_order_groups(a, net);
    const int **orders = AT_NEW_ARRAY(a, const int *, net->values.len);
    for (int v = 0; v < net->values.len; v++)
        if (groups[v] >= 0 && !(as_given && as_given[groups[v]]))
            orders[v] = channels_last(a, &net->values.data[v]);
    return orders;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* The axes of more than one element, as they lie in memory; map: what axis k of the value is
 * called.
 */
static int axes_in_memory(const at_net_value *v, const int *order, const int *map, int *out) {
    int n = 0;
    for (int k = 0; k < v->rank; k++) {
        int axis = order ? order[k] : k;
        if (v->dims[axis] != 1) out[n++] = map ? map[axis] : axis;
    }
    return n;
}

static bool is_transposed_alike(const at_net *net, const at_net_node *n, const int *const *orders) {
    int from[AT_NET_MAX_RANK], to[AT_NET_MAX_RANK], map[AT_NET_MAX_RANK];
    const at_net_value *x = &net->values.data[n->inputs[0]], *y = &net->values.data[n->outputs[0]];
    const at_net_attribute *perm = at_net_attribute_find(n, "perm", AT_NET_ATTR_INTS);
    for (int k = 0; k < y->rank; k++)
        map[k] = perm && perm->num == y->rank ? (int)perm->ints[k] : y->rank - 1 - k;
    int count = axes_in_memory(x, orders[n->inputs[0]], NULL, from);
    if (axes_in_memory(y, orders[n->outputs[0]], map, to) != count) return false;
    return !memcmp(from, to, sizeof *from * (size_t)count);
}

/* Both as declared, or the same axes in the same order. */
static bool lies_alike(const at_net *net, const at_net_node *n, const int *const *orders) {
    static const char *const reshapes[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", NULL};
    static const char *const copies[] = {"Identity",     "Dropout",       "Cast",
                                         "ChannelsLast", "ChannelsFirst", NULL};
    int x = n->inputs[0], y = n->outputs[0];
    if (net->values.data[x].type != net->values.data[y].type) return false;
    if (at_net_op_is(n, reshapes)) return !orders[x] && !orders[y];
    if (at_net_op_is(n, copies)) return !orders[x] == !orders[y];
    return !strcmp(n->op, "Transpose") && is_transposed_alike(net, n, orders);
}

const int *at_net_views(at_arena *a, const at_net *net, const int *const *orders) {
    int *of = AT_NEW_ARRAY(a, int, net->values.len);
    for (int v = 0; v < net->values.len; v++) of[v] = v;
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        if (n->num_inputs < 1 || n->inputs[0] < 0 || n->num_outputs < 1 || n->outputs[0] < 0)
            continue;
        if (net->values.data[n->inputs[0]].is_constant || !lies_alike(net, n, orders)) continue;
        of[n->outputs[0]] = of[n->inputs[0]];
    }
    return of;
}
