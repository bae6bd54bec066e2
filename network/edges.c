/* network/edges.c: inputs whose channels a convolution sums up, or a sampling reads, and outputs of
 * these lie in memory as the file declares them, channels first. A node of its own moves them,
 * once, so that the node between has channels last on both sides. */
#include <string.h>

#include "network/graph.h"

typedef struct edges {
    at_net *net;
    const at_int_list *readers; /* [value] of the graph as it was */
    AT_VEC(at_net_node) nodes;  /* in the new order */
} edges;

static at_net_value *value_at(const edges *e, int v) { return &e->net->values.data[v]; }

/* Does the order of its axes matter, and are there channels enough? */
static bool is_picture(const at_net_value *v) {
    int64_t pixels = 1;
    for (int i = 2; i < v->rank; i++) pixels *= v->dims[i];
    return v->rank >= 3 && v->dims[1] >= AT_NET_LEAST_LAST && pixels > 1 &&
           at_net_type_is_float(v->type) && v->element == AT_F32;
}

/* A convolution that is not of each channel by itself, and makes more than a few. */
static bool sums_channels(const edges *e, const at_net_node *n) {
    static const char *const names[] = {"Conv", "ConvTranspose", NULL};
    if (!at_net_op_is(n, names) || n->inputs[0] < 0) return false;
    if (value_at(e, n->outputs[0])->dims[1] < AT_NET_LEAST_LAST) return false;
    return at_net_int(n, "group", 1) < value_at(e, n->inputs[0])->dims[1];
}

/* It has channels last on both sides. */
static bool is_inner(const edges *e, const at_net_node *n) {
    return sums_channels(e, n) || at_net_samples_channels(e->net, n);
}

static bool is_read_inside(const edges *e, int v) {
    for (int i = 0; i < e->net->nodes.len; i++) {
        const at_net_node *n = &e->net->nodes.data[i];
        if (is_inner(e, n) && n->inputs[0] == v) return true;
    }
    return false;
}

/* A convolution or a sampling makes it, with what follows element by element and goes on with its
 * part. Other parts of that kind move the elements while they compute. */
static bool is_made_inside(const edges *e, int v) {
    const at_net_node *n;
    for (;; v = n->inputs[0]) {
        const int by = value_at(e, v)->producer;
        n = by < 0 ? NULL : &e->net->nodes.data[by];
        if (!n || n->num_inputs < 1 || n->inputs[0] < 0) return false;
        if (is_inner(e, n)) return true;
        const at_net_value *x = value_at(e, n->inputs[0]);
        if (n->kind != AT_NET_MAP || x->elements != value_at(e, v)->elements) return false;
        if (x->is_output) return false;
        const at_int_list *readers = &e->readers[n->inputs[0]];
        for (int i = 0; i < readers->len; i++)
            if (e->net->nodes.data[readers->data[i]].kind != AT_NET_MAP) return false;
    }
}

/* A copy of the value that is the network's own. */
static int add_inner(edges *e, int of) {
    at_net_value v = *value_at(e, of);
    v.name = at_format(e->net->arena, "%s, channels last", v.name);
    v.is_input = v.is_output = false;
    *at_push(e->net->arena, &e->net->values) = v;
    return e->net->values.len - 1;
}

/* Every reader of the value, but a move, which may be a view of it, reads the copy. */
static int copy_for_readers(edges *e, int v) {
    const int inner = add_inner(e, v);
    for (int i = 0; i < e->net->nodes.len; i++)
        if (e->net->nodes.data[i].kind != AT_NET_MOVE)
            at_net_reread(e->net, &e->net->nodes.data[i], v, inner);
    return inner;
}

/* It is an edge with channels last behind it. */
static bool is_moved(const edges *e, int v) {
    const at_net_value *x = value_at(e, v);
    if (!is_picture(x) || !(x->is_input || x->is_output)) return false;
    return x->is_input ? is_read_inside(e, v) : is_made_inside(e, v);
}

void at_net_move_edges(at_net *net) {
    edges e = {.net = net, .readers = at_net_readers(net->arena, net)};
    const int num_values = net->values.len;
    int *inner = AT_NEW_ARRAY(net->arena, int, num_values); /* [value] its copy; 0: it has none */
    bool *moved = AT_NEW_ARRAY(net->arena, bool, num_values);
    for (int i = 0; i < num_values; i++) moved[i] = is_moved(&e, i);
    for (int i = 0; i < num_values; i++) {
        if (!moved[i]) continue;
        inner[i] = copy_for_readers(&e, i);
        if (value_at(&e, i)->is_input)
            *at_push(net->arena, &e.nodes) = at_net_identity(net, "ChannelsLast", i, inner[i]);
    }
    for (int i = 0; i < net->nodes.len; i++) {
        at_net_node n = net->nodes.data[i];
        const int v = n.num_outputs == 1 ? n.outputs[0] : -1;
        const bool moves = v >= 0 && moved[v];
        if (moves) n.outputs = at_copy(net->arena, &inner[v], sizeof inner[v]);
        *at_push(net->arena, &e.nodes) = n;
        if (moves)
            *at_push(net->arena, &e.nodes) = at_net_identity(net, "ChannelsFirst", inner[v], v);
    }
    at_net_set_nodes(net, e.nodes.data, e.nodes.len);
}
