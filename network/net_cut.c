/* network/net_cut.c: where a graph is cut, by what the parts take. Moves of data go into the parts
 * that read them, or are parts of their own, and a group of values lies with its channels last, or
 * as declared, whichever takes less over the whole graph: nodes that are alike, and are read alike,
 * change together, one kind after the other. Then chains of nodes are cut (chains.c). */
#include <string.h>

#include "network/net_costs.h"

enum { MOST_KINDS = 24 };

typedef struct chooser {
    at_arena *arena;
    const at_net *net;
    at_net_costs costs;
    at_net_cutting how;
    at_error *err;
} chooser;

/* ---- what may change ------------------------------------------------------------------------- */

/* Nodes of one kind do the same, for readers that do the same. */
typedef struct kind {
    at_int_list nodes;
    int64_t elements; /* of all of them */
} kind;

typedef AT_VEC(kind) kinds;

/* names: texts of the node and of the parts that have it, by which kinds are told apart. */
static void add_to_kind(chooser *c, kinds *all, at_key_map *names, const at_net_cut *cut,
                        int node) {
    const at_net_node *n = &c->net->nodes.data[node];
    const at_net_value *y = &c->net->values.data[n->outputs[0]];
    at_text text = {0};
    at_text_add(&text, n->text);
    for (int i = 0; i < cut->num_parts; i++)
        for (int k = 0; k < cut->parts[i].num_nodes; k++)
            if (cut->parts[i].nodes[k] == node) at_text_add(&text, cut->parts[i].text);
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

/* Moves that parts make where they read and that no other move reads, the largest first. */
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
        if (last) add_to_kind(c, &all, &names, cut, i);
    }
    largest_first(&all);
    return all;
}

static void turn(bool *of, const kind *k) {
    for (int i = 0; i < k->nodes.len; i++) of[k->nodes.data[i]] ^= true;
}

/* *out becomes the cut by c->how where that takes less. */
static at_status try_cut(chooser *c, at_net_cut *out, bool *is_better) {
    at_net_cut other;
    AT_TRY(at_net_cut_parts(c->arena, c->net, &c->how, &other, c->err));
    return at_net_cost_take_less(&c->costs, out, &other, 1, at_net_enough, is_better);
}

/* Each kind in turn the other way, where that takes less. */
static at_status try_moves(chooser *c, at_net_cut *out) {
    const kinds all = kinds_of(c, out);
    for (int i = 0; i < all.len && i < MOST_KINDS; i++) {
        bool is_better;
        turn(c->how.apart, &all.data[i]);
        AT_TRY(try_cut(c, out, &is_better));
        if (!is_better) turn(c->how.apart, &all.data[i]);
    }
    return AT_OK;
}

/* ---- layouts --------------------------------------------------------------------------------- */

enum { MOST_GROUPS = 6, MOST_SUMS = 8 /* of a group, each of which is estimated both ways */ };
enum { LEAST_ELEMENTS = 1 << 16 };

static int64_t elements_of_group(const at_net *net, const int *groups, int group) {
    int64_t sum = 0;
    for (int v = 0; v < net->values.len; v++)
        if (groups[v] == group) sum += net->values.data[v].elements;
    return sum;
}

/* Sums that read or make values of the group; none is told of a group in which values lie inside
 * of others, which depends on the order of their axes. */
static int sums_of_group(const at_net *net, const int *groups, int group) {
    int sums = 0;
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        bool is_in = false;
        for (int k = 0; k < n->num_inputs + n->num_outputs; k++) {
            const int v = k < n->num_inputs ? n->inputs[k] : n->outputs[k - n->num_inputs];
            is_in |= v >= 0 && groups[v] == group;
        }
        if (is_in && n->is_in_place) return 0;
        sums += is_in && n->kind == AT_NET_SUM;
    }
    return sums;
}

static at_status try_layouts(chooser *c, at_net_cut *out, bool *any) {
    const int *groups = at_net_order_groups(c->arena, c->net);
    int tried = 0;
    for (int v = 0; v < c->net->values.len && tried < MOST_GROUPS; v++) {
        bool is_better;
        if (groups[v] != v) continue;
        const int sums = sums_of_group(c->net, groups, v);
        if (!sums || sums > MOST_SUMS || elements_of_group(c->net, groups, v) < LEAST_ELEMENTS)
            continue;
        tried++;
        c->how.as_given[v] = true;
        AT_TRY(try_cut(c, out, &is_better));
        c->how.as_given[v] = is_better;
        *any |= is_better;
    }
    return AT_OK;
}

/* Moves apart and layouts may be answers to the same question: where a layout is taken, moves are
 * tried first, too. */
static at_status try_both(chooser *c, at_net_cut *out) {
    at_net_cut moved;
    bool any = false, is_less;
    AT_TRY(at_net_cut_parts(c->arena, c->net, &c->how, out, c->err));
    moved = *out;
    AT_TRY(try_layouts(c, out, &any));
    AT_TRY(try_moves(c, out));
    if (!any) return AT_OK;
    const at_net_cutting how = c->how;
    c->how = at_net_cutting_new(c->arena, c->net);
    c->how.threads = how.threads;
    AT_TRY(try_moves(c, &moved));
    AT_TRY(try_layouts(c, &moved, &any));
    AT_TRY(at_net_cost_take_less(&c->costs, out, &moved, 1, 1, &is_less));
    if (!is_less) c->how = how;
    return AT_OK;
}

/* What the log says counts from here on. */
static at_status read_log(chooser *c, const at_net_build *b, const at_net_cut *cut,
                          at_net_logged *out) {
    const at_template_row *row;
    if (!b->log) return AT_OK;
    for (int i = 0; i < cut->num_parts; i++)
        if (!cut->parts[i].is_whole) AT_TRY(at_net_row_of(&cut->parts[i], &row, c->err));
    AT_TRY(at_net_name_chains(&c->costs, cut, &c->how));
    if (b->like) *out = b->like->logged;
    else AT_TRY(at_net_read_log(c->arena, b, out, c->err));
    c->costs.known = (at_key_map){.arena = c->arena};
    c->costs.of.len = 0;
    return AT_OK;
}

at_status at_net_cut_by_cost(at_arena *a, const at_net *net, const at_net_build *b,
                             at_net_logged *logged, at_net_cut *out, at_net_tries *tries,
                             at_error *err) {
    chooser c = {.arena = a,
                 .net = net,
                 .how = at_net_cutting_new(a, net),
                 .costs = {.arena = a,
                           .net = net,
                           .engine = &b->engine,
                           .logged = logged,
                           .known.arena = a,
                           .err = err},
                 .err = err};
    if (b->engine.threads > 1) c.how.threads = (int)b->engine.threads;
    AT_TRY(try_both(&c, out));
    AT_TRY(read_log(&c, b, out, logged));
    AT_TRY(at_net_cut_chains(&c.costs, out, &c.how, tries));
    return at_net_cut_parts(a, net, &c.how, out, err);
}
