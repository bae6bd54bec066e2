/* network/net_print.c: a graph as people read it, and a node's computation as a text. */
#include "network/network_int.h"

#include <string.h>

void at_net_add_shape(at_text *out, at_net_type type, int rank, const int64_t *dims) {
    if (type != AT_NET_UNDEFINED) at_text_add(out, at_net_type_name(type));
    at_text_add(out, "[");
    for (int i = 0; i < rank; i++) at_text_addf(out, "%s%lld", i ? ", " : "", (long long)dims[i]);
    at_text_add(out, "]");
}

bool at_net_reads(const at_net_node *n, int k) {
    char name[16];
    const int length = snprintf(name, sizeof name, "x%d[", k);
    for (const char *p = n->text; p && (p = strstr(p, name)); p += length)
        if (p == n->text || !at_in_name(p[-1])) return true;
    return false;
}

void at_net_add_computation(at_text *out, const at_net *net, const at_net_node *n) {
    for (int k = 0; k < n->num_inputs; k++) {
        if (n->inputs[k] < 0 || !at_net_reads(n, k)) continue;
        const at_net_value *v = &net->values.data[n->inputs[k]];
        const bool is_index = k < 32 && n->index_inputs >> k & 1;
        at_text_addf(out, "x%d", k);
        if (v->rank) at_net_add_shape(out, AT_NET_UNDEFINED, v->rank, v->dims);
        else at_text_add(out, "[1]");
        at_text_add(out, is_index ? " : index\n" : v->is_constant ? " : weight\n" : " : input\n");
    }
    at_text_add(out, n->text);
}

at_status at_net_computation(at_arena *a, const at_net *net, const at_net_node *n, at_compute **out,
                             at_error *err) {
    at_text text = {0};
    at_symbols *none = AT_NEW(a, at_symbols);
    at_net_add_computation(&text, net, n);
    const at_status s = at_compute_parse(a, none, at_text_str(&text),
                                         at_format(a, "node %s (%s)", n->name, n->op), out, err);
    at_text_free(&text);
    return s;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void add_name(at_text *out, const char *name) {
    at_text shown = {0};
    at_text_add_visible(&shown, name);
    at_text_add(out, at_text_str(&shown));
    at_text_free(&shown);
}

static void add_value(at_text *out, const at_net_value *v) {
    add_name(out, v->name);
    at_text_add(out, " ");
    at_net_add_shape(out, v->type, v->rank, v->dims);
}

/* Constants of a few elements are shown. */
static void add_constant(at_text *out, const at_net_value *v) {
    enum { SHOWN = 4 };
    if (v->elements > SHOWN) {
        add_name(out, v->name);
        at_net_add_shape(out, AT_NET_UNDEFINED, v->rank, v->dims);
        return;
    }
    at_text_add(out, "{");
    for (int64_t i = 0; i < v->elements; i++)
        at_text_addf(out, "%s%.9g", i ? ", " : "", at_net_element(v->type, v->data, i));
    at_text_add(out, "}");
}

static void add_node(at_text *out, const at_net *net, const at_net_node *n) {
    for (int k = 0; k < n->num_outputs; k++) {
        if (n->outputs[k] < 0) continue;
        at_text_add(out, k ? ", " : "");
        add_value(out, &net->values.data[n->outputs[k]]);
    }
    at_text_addf(out, " = %s(", n->op);
    for (int k = 0; k < n->num_inputs; k++) {
        at_text_add(out, k ? ", " : "");
        if (n->inputs[k] < 0) continue;
        const at_net_value *v = &net->values.data[n->inputs[k]];
        if (v->is_constant) add_constant(out, v);
        else add_name(out, v->name);
    }
    at_text_add(out, ")\n");
}

static void add_text(at_text *out, const at_net *net, const at_net_node *n) {
    at_text text = {0};
    at_net_add_computation(&text, net, n);
    for (const char *p = at_text_str(&text); *p;) {
        const size_t length = strcspn(p, "\n");
        at_text_addf(out, "    %.*s\n", (int)length, p);
        p += length + (p[length] == '\n');
    }
    at_text_free(&text);
}

void at_net_print(at_text *out, const at_net *net, bool texts) {
    int constants = 0;
    double bytes = 0;
    for (int i = 0; i < net->values.len; i++) {
        const at_net_value *v = &net->values.data[i];
        constants += v->is_constant;
        bytes += v->is_constant ? (double)v->elements * at_net_type_bytes(v->type) : 0;
    }
    add_name(out, net->path);
    at_text_addf(out, ": %d node%s, %d constant%s of %.3g MB\n", net->nodes.len,
                 at_plural(net->nodes.len), constants, at_plural(constants), bytes * 1e-6);
    for (int i = 0; i < net->inputs.len; i++) {
        at_text_add(out, "input ");
        add_value(out, &net->values.data[net->inputs.data[i]]);
        at_text_add(out, "\n");
    }
    for (int i = 0; i < net->outputs.len; i++) {
        at_text_add(out, "output ");
        add_value(out, &net->values.data[net->outputs.data[i]]);
        at_text_add(out, "\n");
    }
    at_text_add(out, "\n");
    for (int i = 0; i < net->nodes.len; i++) {
        add_node(out, net, &net->nodes.data[i]);
        if (texts) add_text(out, net, &net->nodes.data[i]);
    }
}
