/* network/quantized_views.c: what a Flatten makes of dequantized numbers is what comes of the bytes
 * in that shape: where the shape changes first, a product behind it finds its bytes. */
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

void net_view_bytes(at_net *net) {
    mover m = {.net = net, .readers = at_net_readers(net->arena, net)};
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node n = net->nodes.data[i];
        const at_net_node *by =
            n.num_inputs && n.inputs[0] >= 0 && n.outputs[0] >= 0 ? dequantizer_of(&m, &n) : NULL;
        if (by) exchange(&m, &n, by);
        else *at_push(net->arena, &m.nodes) = n;
    }
    at_net_set_nodes(net, m.nodes.data, m.nodes.len);
}
