/* network/graph_ask.c: what several files ask of a graph, and change in it. */
#include <string.h>

#include "network/graph.h"

bool at_net_op_is(const at_net_node *n, const char *const *names) {
    for (; *names; names++)
        if (!strcmp(n->op, *names)) return true;
    return false;
}

int at_net_first_output(const at_net_node *n) {
    int k = 0;
    while (k + 1 < n->num_outputs && n->outputs[k] < 0) k++;
    return n->outputs[k];
}

int64_t at_net_weights_bytes(const at_net *net) {
    at_arena *a = at_arena_new();
    bool *counts = AT_NEW_ARRAY(a, bool, net->values.len);
    int64_t bytes = 0;
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_inputs; k++)
            if (n->inputs[k] >= 0 && at_net_reads(n, k)) counts[n->inputs[k]] = true;
    }
    for (int v = 0; v < net->values.len; v++) {
        const at_net_value *x = &net->values.data[v];
        if (counts[v] && x->is_constant) bytes += x->elements * at_net_type_bytes(x->type);
    }
    at_arena_free(a);
    return bytes;
}

const at_int_list *at_net_readers(at_arena *a, const at_net *net) {
    at_int_list *readers = AT_NEW_ARRAY(a, at_int_list, net->values.len);
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_inputs; k++) {
            int v = n->inputs[k];
            if (v < 0 || !at_net_reads(n, k)) continue;
            at_int_list *of = &readers[v];
            if (!of->len || of->data[of->len - 1] != i) *at_push(a, of) = i;
        }
    }
    return readers;
}

int at_net_only_reader(const at_net *net, const at_int_list *readers, int v) {
    return net->values.data[v].is_output || readers[v].len != 1 ? -1 : readers[v].data[0];
}

const at_net_value *at_net_float_input(const at_net *net, const at_net_node *n, int k) {
    if (k >= n->num_inputs || n->inputs[k] < 0) return NULL;
    const at_net_value *v = &net->values.data[n->inputs[k]];
    return v->data && at_net_type_is_float(v->type) ? v : NULL;
}

void at_net_set_nodes(at_net *net, const at_net_node *nodes, int n) {
    net->nodes.len = 0;
    for (int i = 0; i < n; i++) *at_push(net->arena, &net->nodes) = nodes[i];
    for (int i = 0; i < net->values.len; i++) net->values.data[i].producer = -1;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < net->nodes.data[i].num_outputs; k++)
            if (net->nodes.data[i].outputs[k] >= 0)
                net->values.data[net->nodes.data[i].outputs[k]].producer = i;
}

void at_net_reread(at_net *net, at_net_node *n, int from, int to) {
    int *inputs = at_copy(net->arena, n->inputs, sizeof *inputs * (size_t)n->num_inputs);
    for (int k = 0; k < n->num_inputs; k++)
        if (inputs[k] == from) inputs[k] = to;
    n->inputs = inputs;
}

at_net_node at_net_identity(at_net *net, const char *op, int from, int to) {
    at_arena *a = net->arena;
    const at_net_value *v = &net->values.data[from];
    at_text text = {0}, index = {0};
    at_text_add(&text, "y0[");
    for (int i = 0; i < v->rank; i++) {
        at_text_addf(&text, "%sa%d:%lld", i ? ", " : "", i, (long long)v->dims[i]);
        at_text_addf(&index, "%sa%d", i ? ", " : "", i);
    }
    at_text_addf(&text, "] = x0[%s]\n", at_text_str(&index));
    at_text_free(&index);
    return (at_net_node){.name = v->name,
                         .op = op,
                         .num_inputs = 1,
                         .num_outputs = 1,
                         .inputs = at_copy(a, &from, sizeof from),
                         .outputs = at_copy(a, &to, sizeof to),
                         .kind = AT_NET_OTHER,
                         .text = at_text_take(a, &text)};
}

bool at_net_is_of_kernels(const at_net *net, const at_int_list *readers, int v) {
    const at_net_value *x = &net->values.data[v];
    if (x->is_constant) return false;
    if (!at_net_type_is_float(x->type) && x->element == AT_F32) return false;
    for (int i = 0; i < readers[v].len; i++) {
        const at_net_node *n = &net->nodes.data[readers[v].data[i]];
        for (int k = 0; k < n->num_inputs; k++)
            if (n->inputs[k] == v && (n->index_inputs >> k & 1)) return false;
        if (n->is_whole) return false;
    }
    return x->producer < 0 || !net->nodes.data[x->producer].is_whole;
}

int64_t at_net_row_elements(const at_net *net, const int *const *orders, int v) {
    const at_net_value *x = &net->values.data[v];
    if (!x->rank) return 1;
    return x->dims[orders[v] ? orders[v][x->rank - 1] : x->rank - 1];
}

int64_t at_net_elements_in_memory(const at_net_cut *cut, int v) {
    const int64_t elements = cut->net->values.data[v].elements, row = cut->boxes[v].row;
    return row ? elements / at_net_row_elements(cut->net, cut->orders, v) * row : elements;
}

int at_net_root(const at_net_cut *cut, int v, int64_t *offset) {
    const at_net_box *b = &cut->boxes[cut->views[v]];
    if (offset) *offset = b->in < 0 ? 0 : b->offset;
    return b->in < 0 ? cut->views[v] : b->in;
}

int at_net_add_constant(at_net *net, const char *name, int rank, const int64_t *dims,
                        const float *data) {
    int64_t elements = 1;
    for (int i = 0; i < rank; i++) elements *= dims[i];
    *at_push(net->arena, &net->values) = (at_net_value){.name = name,
                                                        .type = AT_NET_FLOAT,
                                                        .rank = rank,
                                                        .dims = dims,
                                                        .elements = elements,
                                                        .data = data,
                                                        .producer = -1,
                                                        .is_constant = true};
    return net->values.len - 1;
}
