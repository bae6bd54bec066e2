/* network/net_order.c: the order of a graph's nodes. Files have one, mostly. */
#include "network/graph_int.h"

#include <string.h>

typedef AT_VEC(int) int_list;

typedef struct ordering {
    net_builder *b;
    const at_net_subgraph *g;
    net_names producer; /* of a name, the node */
    int_list *readers;  /* [node] */
    int *waits;         /* [node] for so many nodes */
} ordering;

static at_status find_producers(ordering *o) {
    for (int i = 0; i < o->g->nodes.len; i++) {
        const net_raw_node *n = &o->g->nodes.data[i];
        for (int k = 0; k < n->outputs.len; k++) {
            const char *name = n->outputs.data[k];
            if (*name && !net_names_add(&o->producer, name, i))
                return at_fail(o->b->err, AT_E_INPUT,
                               "%s: \"%s\" is computed twice, by node \"%s\"", o->b->net->path,
                               name, n->name);
        }
    }
    return AT_OK;
}

/* Graphs in attributes, the innermost first. */
typedef struct inner {
    const at_net_subgraph *graph;
    const struct inner *outer;
} inner;

/* A graph's own value, whatever is called so around it. */
static bool is_own(const at_net_subgraph *g, const char *name) {
    for (int i = 0; i < g->inputs.len; i++)
        if (!strcmp(g->inputs.data[i].name, name)) return true;
    for (int i = 0; i < g->constants.len; i++)
        if (!strcmp(g->constants.data[i].name, name)) return true;
    for (int i = 0; i < g->nodes.len; i++)
        for (int k = 0; k < g->nodes.data[i].outputs.len; k++)
            if (!strcmp(g->nodes.data[i].outputs.data[k], name)) return true;
    return false;
}

static void wait_for(ordering *o, int node, const char *name, const inner *in) {
    const int from = *name ? net_names_find(&o->producer, name) : -1;
    if (from < 0) return;
    for (; in; in = in->outer)
        if (is_own(in->graph, name)) return;
    *at_push(o->b->arena, &o->readers[from]) = node;
    o->waits[node]++;
}

/* What graphs in attributes read of the graph around them counts, too. */
static void wait_for_reads(ordering *o, int node, const net_raw_node *n, const inner *in) {
    for (int k = 0; k < n->inputs.len; k++) wait_for(o, node, n->inputs.data[k], in);
    for (int k = 0; k < n->attributes.len; k++) {
        const at_net_subgraph *g = n->attributes.data[k].graph;
        if (!g) continue;
        const inner own = {g, in};
        for (int i = 0; i < g->nodes.len; i++) wait_for_reads(o, node, &g->nodes.data[i], &own);
        for (int i = 0; i < g->outputs.len; i++) wait_for(o, node, g->outputs.data[i].name, &own);
    }
}

static bool is_ordered(const ordering *o) {
    for (int i = 0; i < o->g->nodes.len; i++)
        for (int k = 0; k < o->readers[i].len; k++)
            if (o->readers[i].data[k] <= i) return false;
    return true;
}

/* Leaves nodes out that no output needs. */
static int keep_needed(const ordering *o, int *order, int n) {
    bool *needed = AT_NEW_ARRAY(o->b->arena, bool, n + 1);
    for (int i = 0; i < o->g->outputs.len; i++) {
        const int from = net_names_find(&o->producer, o->g->outputs.data[i].name);
        if (from >= 0) needed[from] = true;
    }
    for (int i = n - 1; i >= 0; i--) {
        const int_list *readers = &o->readers[order[i]];
        for (int k = 0; k < readers->len; k++) needed[order[i]] |= needed[readers->data[k]];
    }
    int len = 0;
    for (int i = 0; i < n; i++)
        if (needed[order[i]]) order[len++] = order[i];
    return len;
}

at_status net_order(net_builder *b, const at_net_subgraph *g, const int **order, int *num) {
    const int n = g->nodes.len;
    const bool all = !b->options->until || g != b->model->graph;
    ordering o = {.b = b, .g = g, .producer = {.arena = b->arena}};
    o.readers = AT_NEW_ARRAY(b->arena, int_list, n + 1);
    o.waits = AT_NEW_ARRAY(b->arena, int, n + 1);
    AT_TRY(find_producers(&o));
    for (int i = 0; i < n; i++) wait_for_reads(&o, i, &g->nodes.data[i], NULL);
    int *out = AT_NEW_ARRAY(b->arena, int, n + 1), len = 0;
    *order = out;
    if (is_ordered(&o)) {
        while (len < n) out[len] = len, len++;
    } else {
        for (int i = 0; i < n; i++)
            if (!o.waits[i]) out[len++] = i;
        for (int i = 0; i < len; i++)
            for (int k = 0; k < o.readers[out[i]].len; k++) {
                const int reader = o.readers[out[i]].data[k];
                if (!--o.waits[reader]) out[len++] = reader;
            }
    }
    *num = all || len < n ? len : keep_needed(&o, out, n);
    if (len == n) return AT_OK;
    int i = 0;
    while (!o.waits[i]) i++;
    return at_fail(b->err, AT_E_INPUT,
                   "%s: the graph has a cycle; node \"%s\" (%s) is in it or behind it",
                   b->net->path, g->nodes.data[i].name, g->nodes.data[i].op);
}
