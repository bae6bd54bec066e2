/* network/net_builder.c: what a graph is made of while it is read: names and the values that they
 * stand for, constants, what is missing. */
#include "network/graph_int.h"

#include <string.h>

const at_net_attribute *net_raw_attribute(const net_raw_node *n, const char *name,
                                          at_net_attribute_kind kind) {
    return at_net_attribute_find(
        &(at_net_node){.attributes = n->attributes.data, .num_attributes = n->attributes.len}, name,
        kind);
}

int net_find_value(const net_scope *s, const char *name) {
    for (; s; s = s->outer) {
        const int v = net_names_find(&s->names, name);
        if (v >= 0) return v;
    }
    return -1;
}

bool net_is_tensor(const net_builder *b, int value) {
    return value >= 0 && !b->facts.data[value].sequence;
}

int64_t net_elements(int rank, const int64_t *dims) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dims[i];
    return n;
}

int net_add_value(net_builder *b, at_net_value v, bool is_unknown) {
    static const int64_t none[1];
    at_net *net = b->net;
    if (!v.rank) v.dims = none; /* no NULL, which memcpy may not take */
    v.elements = net_elements(v.rank, v.dims);
    *at_push(net->arena, &net->values) = v;
    while (b->facts.len < net->values.len) *at_push(b->arena, &b->facts) = (net_fact){0};
    b->facts.data[net->values.len - 1].is_unknown = is_unknown;
    return net->values.len - 1;
}

int net_add_number(net_builder *b, const char *name, at_net_type type, int rank, int64_t x) {
    int64_t *dims = AT_NEW_ARRAY(b->net->arena, int64_t, rank + 1);
    for (int i = 0; i < rank; i++) dims[i] = 1;
    void *data = at_alloc(b->net->arena, sizeof x);
    at_net_store(type, data, 0, (double)x);
    const at_net_value v = {.name = name,
                            .type = type,
                            .rank = rank,
                            .dims = dims,
                            .data = data,
                            .producer = -1,
                            .is_constant = true};
    return net_add_value(b, v, false);
}

at_status net_name_value(net_builder *b, net_scope *s, const char *name, int value) {
    if (!*name || net_names_add(&s->names, name, value)) return AT_OK;
    return at_fail(b->err, AT_E_INPUT, "%s: there are two values \"%s\"", b->net->path, name);
}

at_status net_add_constants(net_builder *b, net_scope *s, const at_net_subgraph *g) {
    if (g->has_sparse)
        return at_fail(b->err, AT_E_INPUT, "%s: constants in sparse form are not read",
                       b->net->path);
    for (int i = 0; i < g->constants.len; i++) {
        const at_net_tensor *t = &g->constants.data[i];
        const at_net_value v = {.name = t->name,
                                .type = t->type,
                                .rank = t->rank,
                                .dims = t->dims,
                                .data = t->data,
                                .producer = -1,
                                .is_constant = true};
        const bool is_text = t->type == AT_NET_STRING;
        if (is_text) net_note_missing(b, "a constant of strings", t->name);
        AT_TRY(net_name_value(b, s, t->name, net_add_value(b, v, is_text)));
    }
    return AT_OK;
}

at_status net_add_unknown(net_builder *b, net_scope *s, const net_raw_node *n) {
    for (int i = 0; i < n->outputs.len; i++)
        AT_TRY(net_name_value(
            b, s, n->outputs.data[i],
            net_add_value(b, (at_net_value){.name = n->outputs.data[i], .producer = -1}, true)));
    return AT_OK;
}

/* ---- what is missing ------------------------------------------------------------------------- */

void net_note_missing(net_builder *b, const char *what, const char *node) {
    for (int i = 0; i < b->missing.len; i++)
        if (!strcmp(b->missing.data[i].what, what)) {
            b->missing.data[i].count++;
            return;
        }
    *at_push(b->arena, &b->missing) = (net_missing){what, node, 1};
}

at_status net_fail(net_builder *b, const net_raw_node *n, const char *why) {
    return at_fail(b->err, AT_E_INPUT, "%s: node \"%s\" (%s): %s", b->net->path, n->name, n->op,
                   why);
}

int64_t net_version_of(const net_builder *b, const char *domain) {
    for (int i = 0; i < b->model->imports.len; i++)
        if (!strcmp(b->model->imports.data[i].domain, domain))
            return b->model->imports.data[i].version;
    return 0;
}
