/* network/parts.c: a graph cut into parts. A part begins with a node, takes what follows element by
 * element as long as one value leaves it, and reads through nodes that only move data. Where that
 * is asked for it goes on with more: behind a value that others read, too, with windows by bands of
 * rows, or with another sum. */
#include <string.h>

#include "network/graph.h"
#include "network/joined.h"

enum { MOST_TAIL = 24 /* nodes looked at beyond the last cut */, MOST_JOINS = 4 /* in a part */ };

typedef struct cutter {
    at_arena *arena;
    const at_net *net;
    at_net_cut *cut;
    const at_net_cutting *how;
    int *part_of; /* [node] -1: none yet; moves that their readers compute have none */
    AT_VEC(at_net_part) parts;
    AT_VEC(int) last;          /* [part] its last node */
    AT_VEC(at_net_join) joins; /* that are not made */
    at_error *err;
} cutter;

static const at_net_node *node_at(const cutter *c, int i) { return &c->net->nodes.data[i]; }
static const at_net_value *value_at(const cutter *c, int v) { return &c->net->values.data[v]; }

/* The node changes nothing in memory. */
static bool is_view(const cutter *c, int node) {
    const at_net_node *n = node_at(c, node);
    if (n->is_in_place) return true;
    return n->num_outputs > 0 && n->outputs[0] >= 0 &&
           c->cut->views[n->outputs[0]] != n->outputs[0];
}

static int num_read(const at_net_node *n) {
    int count = 0;
    for (int k = 0; k < n->num_inputs; k++) count += n->inputs[k] >= 0 && at_net_reads(n, k);
    return count;
}

/* ---- integers -------------------------------------------------------------------------------- */

/* Does it read or write numbers that lie in memory as integers? */
static bool has_integers(const cutter *c, int node) {
    const at_net_node *n = node_at(c, node);
    for (int k = 0; k < n->num_inputs; k++)
        if (n->inputs[k] >= 0 && at_type_of(value_at(c, n->inputs[k])->element)->is_int)
            return true;
    for (int k = 0; k < n->num_outputs; k++)
        if (n->outputs[k] >= 0 && at_type_of(value_at(c, n->outputs[k])->element)->is_int)
            return true;
    return false;
}

/* Sums of floats, and functions that round: kernels have none of them beside integers. */
static bool has_rounding(const cutter *c, int node) {
    static const char *const words[] = {"sum(",  "prod(", "exp(", "log(",
                                        "sqrt(", "tanh(", "erf(", "sigmoid("};
    const char *text = node_at(c, node)->text;
    if (has_integers(c, node)) return false;
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strstr(text, words[i])) return true;
    return false;
}

/* Does y read what x makes as an index? Indices are prepared before a kernel begins. */
static bool reads_as_index(const cutter *c, int y, int x) {
    const at_net_node *n = node_at(c, y);
    for (int k = 0; k < n->num_inputs && n->index_inputs; k++)
        if ((n->index_inputs >> k & 1) && n->inputs[k] >= 0 &&
            value_at(c, n->inputs[k])->producer == x)
            return true;
    return false;
}

static bool go_together(const cutter *c, int x, int y) {
    if (node_at(c, x)->is_whole || node_at(c, y)->is_whole) return false;
    if (reads_as_index(c, x, y) || reads_as_index(c, y, x)) return false;
    return !(has_integers(c, x) && has_rounding(c, y)) &&
           !(has_integers(c, y) && has_rounding(c, x));
}

/* A move of one tensor's elements, which readers can make where they read. */
static bool is_taken_by_readers(const cutter *c, int node) {
    const at_net_node *n = node_at(c, node);
    if (n->kind != AT_NET_MOVE || c->how->apart[node] || is_view(c, node)) return false;
    if (num_read(n) != 1 || n->num_outputs != 1 || n->outputs[0] < 0) return false;
    if (value_at(c, n->outputs[0])->is_output) return false;
    const at_int_list *readers = &c->cut->readers[n->outputs[0]];
    for (int i = 0; i < readers->len; i++)
        if (is_view(c, readers->data[i]) || !go_together(c, node, readers->data[i])) return false;
    return readers->len > 0;
}

/* ---- regions --------------------------------------------------------------------------------- */

/* Nodes that may become a part. */
typedef struct region {
    at_int_list nodes;
    int kept;  /* so many of them have one value that leaves */
    int head;  /* the last one of another kind than element by element */
    int joins; /* that are made */
    bool by_bands, has_sums;
} region;

static region region_of(const cutter *c, int first) {
    region r = {0};
    *at_push(c->arena, &r.nodes) = first;
    return r;
}

static bool in_region(const region *r, int node) {
    for (int i = 0; i < r->nodes.len; i++)
        if (r->nodes.data[i] == node) return true;
    return false;
}

/* Whether something outside reads the value; *next: the first such node. */
static bool leaves(const cutter *c, const region *r, int v, int *next) {
    bool out = value_at(c, v)->is_output;
    const at_int_list *readers = &c->cut->readers[v];
    for (int i = 0; i < readers->len; i++) {
        if (in_region(r, readers->data[i])) continue;
        out = true;
        if (*next < 0 || readers->data[i] < *next) *next = readers->data[i];
    }
    return out;
}

/* How many values leave the region; *next: the first node outside that reads one. */
static int count_leaving(const cutter *c, const region *r, int *next) {
    int count = 0;
    *next = -1;
    for (int i = 0; i < r->nodes.len; i++) {
        const at_net_node *n = node_at(c, r->nodes.data[i]);
        for (int k = 0; k < n->num_outputs; k++)
            if (n->outputs[k] >= 0) count += leaves(c, r, n->outputs[k], next);
    }
    return count;
}

/* A sum of whole rows, behind which rows may go on element by element. */
static bool is_row_sum(const at_net_node *n) { return !strncmp(n->op, "Reduce", 6); }

/* How many elements a node's follow-up may have: as many as it writes, or, of sums of rows, reads.
 */
static int64_t most_elements(const cutter *c, const at_net_node *n) {
    int64_t most = value_at(c, at_net_first_output(n))->elements;
    for (int k = 0; is_row_sum(n) && k < n->num_inputs; k++)
        if (n->inputs[k] >= 0 && value_at(c, n->inputs[k])->elements > most)
            most = value_at(c, n->inputs[k])->elements;
    return most;
}

static bool all_go_together(const cutter *c, const region *r, int node) {
    for (int i = 0; i < r->nodes.len; i++)
        if (!go_together(c, r->nodes.data[i], node)) return false;
    return true;
}

static bool may_follow(const cutter *c, const region *r, int node, int64_t elements) {
    const at_net_node *n = node_at(c, node), *head = node_at(c, r->nodes.data[r->head]);
    if (c->part_of[node] >= 0 || n->num_outputs != 1 || !n->text) return false;
    if (!all_go_together(c, r, node)) return false;
    int64_t own = value_at(c, n->outputs[0])->elements;
    if (is_row_sum(head) && is_row_sum(n)) return most_elements(c, n) == elements;
    if (n->kind != AT_NET_MAP) return false;
    return is_row_sum(head) ? own <= elements : own == elements;
}

/* ---- joins ----------------------------------------------------------------------------------- */

/* What is joined to a part only where that is asked for. */
typedef enum join { NO_JOIN, BY_BANDS, WITH_SUM } join;

static bool has_op(const cutter *c, const region *r, const char *const *names) {
    for (int i = 0; i < r->nodes.len; i++)
        if (at_net_op_is(node_at(c, r->nodes.data[i]), names)) return true;
    return false;
}

/* A second value may leave: a convolution's other ways have one output. */
static bool may_leave(const cutter *c, const region *r) {
    static const char *const convolutions[] = {"Conv", NULL};
    return !has_op(c, r, convolutions);
}

/* Each channel by itself. */
static bool reads_windows(const cutter *c, const at_net_node *n) {
    static const char *const pools[] = {"MaxPool", "AveragePool", NULL};
    const int64_t channels =
        value_at(c, n->inputs[0])->rank == 4 ? value_at(c, n->inputs[0])->dims[1] : 0;
    return at_net_op_is(n, pools) ||
           (!strcmp(n->op, "Conv") && at_net_int(n, "group", 1) == channels);
}

/* The value that leaves the part, for this node alone; -1: it is another, or has other readers. */
static int value_between(const cutter *c, const region *r, int node) {
    const at_net_node *n = node_at(c, node);
    for (int k = 0; k < n->num_inputs; k++) {
        const int v = n->inputs[k];
        if (v < 0 || !in_region(r, value_at(c, v)->producer) || !at_net_reads(n, k)) continue;
        return c->cut->readers[v].len == 1 && !value_at(c, v)->is_output ? v : -1;
    }
    return -1;
}

/* Could the node go on with a convolution by bands of rows? It reads windows of its value, which
 * exceeds the caches near the core. The lanes of a band go through all channels: a sum of groups of
 * them would be one element at a time. */
static bool may_go_by_bands(const cutter *c, const region *r, int node, int v) {
    enum { LEAST_BYTES = 1 << 20 };
    const at_net_node *n = node_at(c, node);
    const at_net_node *head = node_at(c, r->nodes.data[0]);
    if (r->joins || strcmp(head->op, "Conv") != 0) return false;
    if (at_net_int(head, "group", 1) > 1 && !reads_windows(c, head)) return false;
    return n->inputs[0] == v && reads_windows(c, n) &&
           value_at(c, v)->elements * 4 >= LEAST_BYTES && value_at(c, v)->dims[0] == 1 &&
           c->cut->orders[v] && c->cut->orders[n->outputs[0]];
}

/* Could it be computed with the sum before it, or the element-wise nodes, in one kernel? A head of
 * a sum; a product, a softmax or a mean, and another product; a sum and a mean of all of it. */
static bool may_go_with_sum(const cutter *c, const region *r, int node, int v) {
    enum { LEAST_BYTES = 256 << 10 };
    static const char *const products[] = {"MatMul", "Gemm", NULL};
    static const char *const sums[] = {"MatMul", "Gemm", "Conv", NULL};
    const at_net_node *n = node_at(c, node), *head = node_at(c, r->nodes.data[r->head]);
    const bool is_sum = n->kind == AT_NET_SUM, is_plain_sum = at_net_op_is(n, sums);
    if (r->by_bands || value_at(c, v)->elements * 4 < LEAST_BYTES) return false;
    if (head->kind == AT_NET_MAP) return is_sum && !r->joins;
    if (head->kind == AT_NET_OTHER || is_row_sum(head)) return at_net_op_is(n, products);
    return at_net_op_is(head, sums) && !is_plain_sum && !reads_windows(c, n) &&
           (is_sum || n->kind == AT_NET_OTHER);
}

static join join_of(const cutter *c, const region *r, int node) {
    const at_net_node *n = node_at(c, node);
    if (r->kept != r->nodes.len || r->joins == MOST_JOINS || c->part_of[node] >= 0) return NO_JOIN;
    if (n->num_outputs != 1 || !n->text || !all_go_together(c, r, node)) return NO_JOIN;
    const int v = value_between(c, r, node);
    if (v < 0) return NO_JOIN;
    if (may_go_by_bands(c, r, node, v)) return BY_BANDS;
    return may_go_with_sum(c, r, node, v) ? WITH_SUM : NO_JOIN;
}

static void add_join(cutter *c, const region *r, int node) {
    *at_push(c->arena, &c->joins) = (at_net_join){node, r->nodes.data[0]};
}

/* Element by element; *allowed: values that leave. */
static void follow(cutter *c, region *r, int node, int *allowed) {
    int next;
    const bool joins = may_leave(c, r) && c->how->links[node] == AT_NET_GOES_ON;
    *at_push(c->arena, &r->nodes) = node;
    const int leaving = count_leaving(c, r, &next);
    if (joins && leaving > *allowed) *allowed = leaving, r->joins++;
    if (leaving <= *allowed) r->kept = r->nodes.len;
}

static void grow(cutter *c, region *r) {
    int next, allowed = 1;
    int64_t elements = most_elements(c, node_at(c, r->nodes.data[0]));
    r->kept = r->nodes.len;
    while (r->nodes.len - r->kept < MOST_TAIL && r->nodes.len < MOST_TAIL * 4) {
        count_leaving(c, r, &next);
        if (next < 0 || c->how->links[next] == AT_NET_ENDS) break;
        const join how = join_of(c, r, next);
        if (how != NO_JOIN && c->how->links[next] != AT_NET_GOES_ON) {
            add_join(c, r, next);
            break;
        }
        if (how != NO_JOIN) {
            r->by_bands |= how == BY_BANDS;
            r->has_sums |= how == WITH_SUM;
            r->joins++;
            r->head = r->nodes.len;
            *at_push(c->arena, &r->nodes) = next;
            r->kept = r->nodes.len;
            elements = most_elements(c, node_at(c, next));
        } else if (may_follow(c, r, next, elements)) follow(c, r, next, &allowed);
        else break;
    }
    if (r->nodes.len > r->kept && may_leave(c, r)) add_join(c, r, r->nodes.data[r->kept]);
    r->nodes.len = r->kept;
}

/* Moves in front of a node, the first ones first. */
static void add_moves(const cutter *c, region *r, int node) {
    const at_net_node *n = node_at(c, node);
    for (int k = 0; k < n->num_inputs; k++) {
        if (n->inputs[k] < 0 || !at_net_reads(n, k)) continue;
        int by = value_at(c, n->inputs[k])->producer;
        if (by < 0 || in_region(r, by) || !is_taken_by_readers(c, by)) continue;
        add_moves(c, r, by);
        *at_push(c->arena, &r->nodes) = by;
    }
}

static void sort(int *nodes, int n) {
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && nodes[k - 1] > nodes[k]; k--) {
            int x = nodes[k];
            nodes[k] = nodes[k - 1];
            nodes[k - 1] = x;
        }
}

/* ---- the cut --------------------------------------------------------------------------------- */

/* The values of the part's own nodes that others read, too. A move in front is made again in every
 * part that reads through it. */
static const bool *leaving_values(const cutter *c, const region *own, const region *all) {
    bool *out = AT_NEW_ARRAY(c->arena, bool, c->net->values.len);
    for (int i = 0; i < own->kept; i++) {
        const at_net_node *n = node_at(c, own->nodes.data[i]);
        for (int k = 0, next = -1; k < n->num_outputs; k++)
            if (n->outputs[k] >= 0) out[n->outputs[k]] = leaves(c, all, n->outputs[k], &next);
    }
    return out;
}

/* The part that begins with the node, and in *r its own nodes. */
static at_status make_part(cutter *c, int first, region *r, at_net_part *p) {
    *r = region_of(c, first);
    *p = (at_net_part){.is_whole = node_at(c, first)->is_whole};
    if (!node_at(c, first)->text)
        return at_fail(c->err, AT_E_INPUT, "node %s (%s) has no computation",
                       node_at(c, first)->name, node_at(c, first)->op);
    grow(c, r);
    region all = {0};
    for (int i = 0; i < r->kept; i++) *at_push(c->arena, &all.nodes) = r->nodes.data[i];
    for (int i = 0; i < r->kept; i++) add_moves(c, &all, r->nodes.data[i]);
    sort(all.nodes.data, all.nodes.len);
    p->nodes = all.nodes.data;
    p->num_nodes = all.nodes.len;
    const bool *leaving = leaving_values(c, r, &all);
    return at_net_join_part(c->arena, c->cut, leaving, r->by_bands ? c->how->threads : 0, p,
                            c->err);
}

static at_status add_part(cutter *c, int first) {
    region r;
    at_net_part p;
    int last = 0;
    AT_TRY(make_part(c, first, &r, &p));
    for (int i = 0; i < r.kept; i++) {
        c->part_of[r.nodes.data[i]] = c->parts.len;
        c->cut->first_of[r.nodes.data[i]] = first;
        if (r.nodes.data[i] > last) last = r.nodes.data[i];
    }
    *at_push(c->arena, &c->parts) = p;
    *at_push(c->arena, &c->last) = last;
    return AT_OK;
}

/* They run in the order of their last nodes. */
static void order_parts(cutter *c) {
    at_net_part *p = c->parts.data;
    int *last = c->last.data;
    for (int i = 1; i < c->parts.len; i++)
        for (int k = i; k > 0 && last[k - 1] > last[k]; k--) {
            at_net_part part = p[k];
            int node = last[k];
            p[k] = p[k - 1], last[k] = last[k - 1];
            p[k - 1] = part, last[k - 1] = node;
        }
}

/* The name tells whole numbers' types apart. */
static bool same_kernel(const at_net_part *x, const at_net_part *y) {
    return !strcmp(x->text, y->text) && x->is_whole == y->is_whole &&
           (!x->is_whole || !strcmp(x->name, y->name));
}

static void find_equal(cutter *c) {
    for (int i = 0; i < c->parts.len; i++) {
        at_net_part *p = &c->parts.data[i];
        p->same = i;
        for (int k = 0; k < i && p->same == i; k++)
            if (same_kernel(&c->parts.data[k], p)) p->same = k;
        if (p->same == i) continue;
        p->name = c->parts.data[p->same].name;
        p->title = c->parts.data[p->same].title;
    }
}

static cutter cutter_of(at_arena *a, at_net_cut *cut, const at_net_cutting *how, at_error *err) {
    cutter c = {.arena = a,
                .net = cut->net,
                .cut = cut,
                .how = how,
                .part_of = AT_NEW_ARRAY(a, int, cut->net->nodes.len),
                .err = err};
    for (int i = 0; i < cut->net->nodes.len; i++) c.part_of[i] = -1;
    return c;
}

at_status at_net_cut_parts(at_arena *a, const at_net *net, const at_net_cutting *how,
                           at_net_cut *out, at_error *err) {
    *out = (at_net_cut){.net = net};
    out->orders = at_net_orders(a, net, how->as_given);
    out->views = at_net_views(a, net, out->orders);
    out->boxes = at_net_boxes(a, net, out->orders, out->views);
    out->readers = at_net_readers(a, net);
    out->first_of = AT_NEW_ARRAY(a, int, net->nodes.len);
    for (int i = 0; i < net->nodes.len; i++) out->first_of[i] = -1;
    cutter c = cutter_of(a, out, how, err);
    for (int i = 0; i < net->nodes.len; i++) {
        if (c.part_of[i] >= 0 || is_view(&c, i) || is_taken_by_readers(&c, i)) continue;
        AT_TRY(add_part(&c, i));
    }
    order_parts(&c);
    find_equal(&c);
    out->parts = c.parts.data;
    out->num_parts = c.parts.len;
    out->joins = c.joins.data;
    out->num_joins = c.joins.len;
    return AT_OK;
}

/* The last one of many moves behind each other: an index that is read through moves grows with
 * each of them, up to several times as long. */
static bool *ends_of_moves(at_arena *a, const at_net *net) {
    enum { MOST_MOVES = 12 };
    bool *out = AT_NEW_ARRAY(a, bool, net->nodes.len);
    int *moves = AT_NEW_ARRAY(a, int, net->nodes.len); /* up to the node */
    for (int i = 0; i < net->nodes.len; i++) {
        const at_net_node *n = &net->nodes.data[i];
        for (int k = 0; k < n->num_inputs && n->kind == AT_NET_MOVE; k++) {
            const int by = n->inputs[k] < 0 ? -1 : net->values.data[n->inputs[k]].producer;
            if (by >= 0 && !out[by] && moves[by] > moves[i]) moves[i] = moves[by];
        }
        moves[i] += n->kind == AT_NET_MOVE;
        out[i] = moves[i] == MOST_MOVES;
    }
    return out;
}

at_net_cutting at_net_cutting_new(at_arena *a, const at_net *net) {
    return (at_net_cutting){ends_of_moves(a, net), AT_NEW_ARRAY(a, at_net_link, net->nodes.len),
                            AT_NEW_ARRAY(a, bool, net->values.len), 1};
}

/* ---- parts one by one ------------------------------------------------------------------------ */

/* Nodes of parts that begin before are taken. */
static cutter from_node(at_arena *a, const at_net_cut *cut, const at_net_cutting *how, int first,
                        at_error *err) {
    cutter c = cutter_of(a, (at_net_cut *)cut, how, err);
    for (int i = 0; i < cut->net->nodes.len; i++)
        if (cut->first_of[i] >= 0 && cut->first_of[i] < first) c.part_of[i] = 0;
    return c;
}

at_net_chain at_net_chain_from(at_arena *a, const at_net_cut *cut, const at_net_cutting *how,
                               int first) {
    at_net_cutting all = *how;
    at_net_chain out = {0};
    const size_t size = sizeof *all.links * (size_t)cut->net->nodes.len;
    all.links = at_copy(a, how->links, size);
    cutter c = from_node(a, cut, &all, first, NULL);
    region r;
    for (int known = -1; known < c.joins.len;) {
        known = c.joins.len;
        r = region_of(&c, first);
        grow(&c, &r);
        if (c.joins.len > known && all.links[c.joins.data[known].node] == AT_NET_BY_RULE)
            all.links[c.joins.data[known].node] = AT_NET_GOES_ON;
        else break;
    }
    out.nodes = r.nodes.data;
    out.num_nodes = r.nodes.len;
    out.has_sums = r.has_sums;
    for (int i = 0; i < r.nodes.len && out.num_begins < AT_NET_MOST_BEGINS; i++)
        if (!i || all.links[r.nodes.data[i]] == AT_NET_GOES_ON) out.begins[out.num_begins++] = i;
    return out;
}

at_status at_net_part_from(at_arena *a, const at_net_cut *cut, const at_net_cutting *how, int first,
                           at_net_part *out, int *own, at_error *err) {
    region r;
    cutter c = from_node(a, cut, how, first, err);
    AT_TRY(make_part(&c, first, &r, out));
    *own = r.nodes.len;
    return AT_OK;
}
