/* network/net_costs.c: where a graph is cut, by what the parts are estimated to take. Moves of data
 * go into the parts that read them, or are parts of their own, and a part goes on behind a value
 * that others read, too, or ends there, whichever takes less over the whole graph: nodes that are
 * alike, and are read alike, change together, one kind after the other. */
#include <math.h>
#include <string.h>

#include "network/program.h"

enum { MOST_KINDS = 24 };
/* Another cut is taken where it takes less than this share: estimates are no measurements. */
static const double enough = 0.9;

typedef struct chooser {
    at_arena *arena;
    const at_net *net;
    const at_engine_options *engine;
    at_net_cutting how;
    at_key_map known; /* texts of parts whose cost was asked for */
    AT_VEC(double) seconds;
    at_error *err;
} chooser;

/* ---- costs ----------------------------------------------------------------------------------- */

/* A part costs the same wherever it is asked for: a log's parts are those of the search that wrote
 * the log. */
static at_status part_cost(chooser *c, const at_net_part *p, double *out) {
    const at_template_row *row;
    at_task *task;
    int known = c->seconds.len, at = at_key_map_add(&c->known, p->text);
    if (at < known) return *out = c->seconds.data[at], AT_OK;
    AT_TRY(at_net_row_of(p, &row, c->err));
    AT_TRY(at_task_new(c->arena, row, NULL, &task, c->err));
    *out = at_config_cost(c->engine, task);
    *at_push(c->arena, &c->seconds) = *out;
    return AT_OK;
}

/* What the parts of a cut take that the other has not. */
static at_status cost_beside(chooser *c, const at_net_cut *cut, const at_net_cut *other,
                             double *out) {
    bool *used = AT_NEW_ARRAY(c->arena, bool, other->num_parts);
    *out = 0;
    for (int i = 0; i < cut->num_parts; i++) {
        double seconds;
        int k = 0;
        while (k < other->num_parts &&
               (used[k] || strcmp(cut->parts[i].text, other->parts[k].text) != 0))
            k++;
        if (k < other->num_parts) {
            used[k] = true;
            continue;
        }
        if (cut->parts[i].is_whole) continue;
        AT_TRY(part_cost(c, &cut->parts[i], &seconds));
        *out += seconds;
    }
    return AT_OK;
}

/* ---- what may change ------------------------------------------------------------------------- */

/* Nodes of one kind do the same, for readers that do the same. */
typedef struct kind {
    at_int_list nodes;
    int64_t elements; /* of all of them */
} kind;

typedef AT_VEC(kind) kinds;

/* names: texts of the node and of the parts that have it, by which kinds are told apart. */
static void add_to_kind(chooser *c, kinds *all, at_key_map *names, const at_net_cut *cut, int node,
                        int beside) {
    const at_net_node *n = &c->net->nodes.data[node];
    const at_net_value *y = &c->net->values.data[n->outputs[0]];
    at_text text = {0};
    at_text_add(&text, n->text);
    for (int i = 0; i < cut->num_parts; i++)
        for (int k = 0; k < cut->parts[i].num_nodes; k++)
            if (cut->parts[i].nodes[k] == node || cut->parts[i].nodes[k] == beside)
                at_text_add(&text, cut->parts[i].text);
    const int k = at_key_map_add(names, at_text_str(&text));
    at_text_free(&text);
    if (k == all->len) *at_push(c->arena, all) = (kind){.elements = 0};
    *at_push(c->arena, &all->data[k].nodes) = node;
    all->data[k].elements += y->elements;
}

static void largest_first(kinds *all) {
    for (int i = 1; i < all->len; i++)
        for (int k = i; k > 0 && all->data[k - 1].elements < all->data[k].elements; k--) {
            kind x = all->data[k];
            all->data[k] = all->data[k - 1], all->data[k - 1] = x;
        }
}

/* Moves that parts make where they read, and no other move reads them; those of the most elements
 * first. */
static kinds kinds_of(chooser *c, const at_net_cut *cut) {
    kinds all = {0};
    at_key_map names = {.arena = c->arena};
    const at_int_list *readers = at_net_readers(c->arena, c->net);
    bool *made = AT_NEW_ARRAY(c->arena, bool, c->net->nodes.len);
    for (int i = 0; i < cut->num_parts; i++)
        for (int k = 0; cut->parts[i].num_nodes > 1 && k < cut->parts[i].num_nodes; k++)
            made[cut->parts[i].nodes[k]] = true;
    for (int i = 0; i < c->net->nodes.len; i++) {
        const at_net_node *n = &c->net->nodes.data[i];
        bool last = n->kind == AT_NET_MOVE && made[i];
        for (int r = 0; last && r < readers[n->outputs[0]].len; r++)
            last = c->net->nodes.data[readers[n->outputs[0]].data[r]].kind != AT_NET_MOVE;
        if (last) add_to_kind(c, &all, &names, cut, i, i);
    }
    largest_first(&all);
    return all;
}

/* Nodes that could go on with a part before them. */
static kinds joins_of(chooser *c, const at_net_cut *cut, const at_net_join *joins, int n) {
    kinds all = {0};
    at_key_map names = {.arena = c->arena};
    for (int i = 0; i < n; i++) add_to_kind(c, &all, &names, cut, joins[i].node, joins[i].first);
    largest_first(&all);
    return all;
}

static void turn(bool *of, const kind *k) {
    for (int i = 0; i < k->nodes.len; i++) of[k->nodes.data[i]] ^= true;
}

/* Each kind in turn the other way, where that takes less. */
static at_status try_kinds(chooser *c, const kinds *all, bool *of, at_net_cut *out) {
    for (int i = 0; i < all->len && i < MOST_KINDS; i++) {
        at_net_cut other;
        double before, after;
        turn(of, &all->data[i]);
        AT_TRY(at_net_cut_parts(c->arena, c->net, &c->how, &other, c->err));
        AT_TRY(cost_beside(c, out, &other, &before));
        AT_TRY(cost_beside(c, &other, out, &after));
        if (after < before * enough) *out = other;
        else turn(of, &all->data[i]);
    }
    return AT_OK;
}

at_status at_net_cut_by_cost(at_arena *a, const at_net *net, const at_engine_options *o,
                             at_net_cut *out, at_error *err) {
    chooser c = {.arena = a,
                 .net = net,
                 .engine = o,
                 .how = {AT_NEW_ARRAY(a, bool, net->nodes.len),
                         AT_NEW_ARRAY(a, bool, net->nodes.len),
                         AT_NEW_ARRAY(a, bool, net->nodes.len)},
                 .known.arena = a,
                 .err = err};
    AT_TRY(at_net_cut_parts(a, net, &c.how, out, err));
    const kinds moves = kinds_of(&c, out);
    AT_TRY(try_kinds(&c, &moves, c.how.apart, out));
    const kinds joins = joins_of(&c, out, out->joins, out->num_joins);
    AT_TRY(try_kinds(&c, &joins, c.how.joined, out));
    const kinds bands = joins_of(&c, out, out->bands, out->num_bands);
    return try_kinds(&c, &bands, c.how.banded, out);
}
