/* network/quantized_views.c: what a move makes of dequantized numbers is what comes of the bytes
 * moved: numbers that are quantized again as they were need no scale on the way, and where a shape
 * changes first, a product behind it finds its bytes. */
#include "network/quantized_int.h"

#include <string.h>

typedef struct mover {
    at_net *net;
    const at_int_list *readers;
    AT_VEC(at_net_node) nodes;
} mover;

/* The node that makes floats of bytes, by one scale, for this view alone; NULL: another. */
static const at_net_node *dequantizer_of(const mover *m, const at_net_node *n) {
    static const char *const views[] = {"Flatten", "Reshape", "Squeeze", "Unsqueeze", NULL};
    at_net_quantized numbers;
    if (!at_net_op_is(n, views) || m->readers[n->inputs[0]].len != 1) return NULL;
    const at_net_value *x = &m->net->values.data[n->inputs[0]];
    const at_net_node *by = x->producer < 0 ? NULL : &m->net->nodes.data[x->producer];
    if (!by || x->is_output || strcmp(by->op, "DequantizeLinear")) return NULL;
    if (!at_net_dequantized(m->net->arena, m->net, n->inputs[0], &numbers)) return NULL;
    return numbers.num == 1 && net_is_byte(&m->net->values.data[by->inputs[0]]) ? by : NULL;
}

static const char *dequantized_text(const mover *m, const at_net_node *by, const at_net_value *y) {
    at_text text = {0};
    at_text_add(&text, "y0[");
    net_add_dims(&text, y, net_matrix_axes);
    at_text_add(&text, "] = (x0[");
    net_add_names(&text, y->rank, net_matrix_axes);
    at_text_addf(&text, "] - %s)*x1[0]\n", net_input(by, 2) >= 0 ? "x2[0]" : "0");
    return at_text_take(m->net->arena, &text);
}

/* The view of the bytes, then what makes floats of them. */
static void exchange(mover *m, const at_net_node *view, const at_net_node *by) {
    at_arena *a = m->net->arena;
    at_net_value bytes = m->net->values.data[view->outputs[0]];
    at_net_node first = *view, second = *by;
    bytes.name = at_format(a, "%s, in bytes", bytes.name);
    bytes.type = m->net->values.data[by->inputs[0]].type;
    bytes.is_output = false;
    *at_push(a, &m->net->values) = bytes;
    const int inner = m->net->values.len - 1;
    second.outputs = view->outputs;
    second.text = dequantized_text(m, by, &bytes);
    first.outputs = at_copy(a, &inner, sizeof inner);
    at_net_reread(m->net, &first, view->inputs[0], by->inputs[0]);
    at_net_reread(m->net, &second, by->inputs[0], inner);
    *at_push(a, &m->nodes) = first;
    *at_push(a, &m->nodes) = second;
}

/* ---- quantized again as they were ------------------------------------------------------------ */

/* What the numbers of this value were before a DequantizeLinear, where a QuantizeLinear makes the
 * same of them again; -1: something else. */
static int bytes_again(const mover *m, const at_net_node *quantize, int value) {
    const at_net_value *out = &m->net->values.data[quantize->outputs[0]];
    at_net_quantized x, y;
    if (m->net->values.data[value].is_constant || !net_is_byte(out) ||
        !at_net_dequantized(m->net->arena, m->net, value, &x) ||
        !at_net_quantized_by(m->net->arena, m->net, quantize->inputs[1], net_input(quantize, 2), 0,
                             &y))
        return -1;
    const bool same = net_same_numbers(&x, &y) && m->net->values.data[x.value].type == out->type;
    return same ? x.value : -1;
}

/* A QuantizeLinear behind a move of dequantized numbers is that move of the bytes. */
static bool move_bytes(mover *m, const at_net_node *n) {
    static const char *const moves[] = {"Transpose", "Reshape", "Flatten",      "Squeeze",
                                        "Unsqueeze", "Slice",   "DepthToSpace", "SpaceToDepth",
                                        "Expand",    NULL};
    const at_net_value *x = &m->net->values.data[n->inputs[0]];
    const at_net_node *by = x->producer < 0 ? NULL : &m->net->nodes.data[x->producer];
    if (strcmp(n->op, "QuantizeLinear") || !by || !at_net_op_is(by, moves)) return false;
    const int bytes = bytes_again(m, n, by->inputs[0]);
    if (bytes < 0) return false;
    at_net_node *moved = at_push(m->net->arena, &m->nodes);
    *moved = *by;
    at_net_reread(m->net, moved, by->inputs[0], bytes);
    moved->outputs = n->outputs;
    return true;
}

/* Without a move between, it is read where it was. */
static bool leave_bytes(mover *m, const at_net_node *n) {
    if (strcmp(n->op, "QuantizeLinear") || m->net->values.data[n->outputs[0]].is_output)
        return false;
    const int bytes = bytes_again(m, n, n->inputs[0]), from = n->outputs[0];
    for (int i = 0; i < m->readers[from].len && bytes >= 0; i++)
        at_net_reread(m->net, &m->net->nodes.data[m->readers[from].data[i]], from, bytes);
    return bytes >= 0;
}

static bool has_ends(const at_net_node *n) {
    return n->num_inputs && n->inputs[0] >= 0 && n->outputs[0] >= 0;
}

static void keep_bytes(at_net *net) {
    mover m = {.net = net, .readers = at_net_readers(net->arena, net)};
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node n = net->nodes.data[i];
        if (!has_ends(&n) || (!move_bytes(&m, &n) && !leave_bytes(&m, &n)))
            *at_push(net->arena, &m.nodes) = n;
    }
    at_net_set_nodes(net, m.nodes.data, m.nodes.len);
}

/* ---- shapes first ---------------------------------------------------------------------------- */

static void exchange_views(at_net *net) {
    mover m = {.net = net, .readers = at_net_readers(net->arena, net)};
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node n = net->nodes.data[i];
        const at_net_node *by = has_ends(&n) ? dequantizer_of(&m, &n) : NULL;
        if (by) exchange(&m, &n, by);
        else *at_push(net->arena, &m.nodes) = n;
    }
    at_net_set_nodes(net, m.nodes.data, m.nodes.len);
}

void net_view_bytes(at_net *net) {
    keep_bytes(net);
    exchange_views(net);
}
