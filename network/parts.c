/* network/parts.c: a graph cut into parts. A part begins with a node, takes what follows element by
 * element as long as one value leaves it, or two where that is asked for, and reads through nodes
 * that only move data. */
#include <string.h>

#include "network/graph.h"
#include "network/joined.h"

enum { MOST_TAIL = 24 /* nodes looked at beyond the last cut */ };

typedef struct cutter {
    at_arena *arena;
    const at_net *net;
    at_net_cut *cut;
    const at_net_cutting *how;
    const at_int_list *readers; /* [value] */
    int *part_of; /* [node] -1: none yet; moves that their readers compute have none */
    AT_VEC(at_net_part) parts;
    AT_VEC(int) last; /* [part] its last node */
    AT_VEC(at_net_join) joins, bands;
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

static bool go_together(const cutter *c, int x, int y) {
    if (node_at(c, x)->is_whole || node_at(c, y)->is_whole) return false;
    return !(has_integers(c, x) && has_rounding(c, y)) &&
           !(has_integers(c, y) && has_rounding(c, x));
}

/* A move of one tensor's elements, which readers can make where they read. */
static bool is_taken_by_readers(const cutter *c, int node) {
    const at_net_node *n = node_at(c, node);
    if (n->kind != AT_NET_MOVE || c->how->apart[node] || is_view(c, node)) return false;
    if (num_read(n) != 1 || n->num_outputs != 1 || n->outputs[0] < 0) return false;
    if (value_at(c, n->outputs[0])->is_output) return false;
    const at_int_list *readers = &c->readers[n->outputs[0]];
    for (int i = 0; i < readers->len; i++)
        if (is_view(c, readers->data[i]) || !go_together(c, node, readers->data[i])) return false;
    return readers->len > 0;
}

/* ---- regions --------------------------------------------------------------------------------- */

/* Nodes that may become a part. */
typedef struct region {
    int nodes[MOST_TAIL * 4];
    int num, kept; /* kept: so many of them have one value that leaves */
} region;

static bool in_region(const region *r, int node) {
    for (int i = 0; i < r->num; i++)
        if (r->nodes[i] == node) return true;
    return false;
}

/* Whether something outside reads the value; *next: the first such node. */
static bool leaves(const cutter *c, const region *r, int v, int *next) {
    bool out = value_at(c, v)->is_output;
    const at_int_list *readers = &c->readers[v];
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
    for (int i = 0; i < r->num; i++) {
        const at_net_node *n = node_at(c, r->nodes[i]);
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

static bool may_follow(const cutter *c, const region *r, int node, int64_t elements) {
    const at_net_node *n = node_at(c, node), *first = node_at(c, r->nodes[0]);
    if (c->part_of[node] >= 0 || n->num_outputs != 1 || !n->text) return false;
    for (int i = 0; i < r->num; i++)
        if (!go_together(c, r->nodes[i], node)) return false;
    int64_t own = value_at(c, n->outputs[0])->elements;
    if (is_row_sum(first) && is_row_sum(n)) return most_elements(c, n) == elements;
    if (n->kind != AT_NET_MAP) return false;
    return is_row_sum(first) ? own <= elements : own == elements;
}

/* A convolution's other ways have one output. */
static bool may_join(const cutter *c, const region *r) {
    return strcmp(node_at(c, r->nodes[0])->op, "Conv") != 0;
}

/* Each channel by itself. */
static bool reads_windows(const cutter *c, const at_net_node *n) {
    static const char *const pools[] = {"MaxPool", "AveragePool", NULL};
    const at_net_attribute *group = at_net_attribute_find(n, "group");
    const int64_t channels =
        value_at(c, n->inputs[0])->rank == 4 ? value_at(c, n->inputs[0])->dims[1] : 0;
    return at_net_op_is(n, pools) || (!strcmp(n->op, "Conv") && group && group->i == channels);
}

/* Could the node go on with a convolution by bands of rows? It reads windows of its value, which
 * nobody else reads, and which exceeds the caches near the core. */
static bool may_go_by_bands(const cutter *c, const region *r, int node) {
    enum { LEAST_BYTES = 1 << 20 };
    const at_net_node *n = node_at(c, node), *first = node_at(c, r->nodes[0]);
    if (r->kept != r->num || strcmp(first->op, "Conv") != 0 || c->part_of[node] >= 0) return false;
    if (n->num_outputs != 1 || !n->text || !go_together(c, r->nodes[0], node)) return false;
    const int v = n->inputs[0];
    if (v < 0 || !reads_windows(c, n) || !in_region(r, value_at(c, v)->producer)) return false;
    return value_at(c, v)->elements * 4 >= LEAST_BYTES && value_at(c, v)->dims[0] == 1 &&
           c->cut->orders[v] && c->cut->orders[n->outputs[0]] && c->readers[v].len == 1 &&
           !value_at(c, v)->is_output;
}

static void grow(cutter *c, region *r) {
    int next, allowed = 1; /* values that leave */
    bool by_bands = false;
    int64_t elements = most_elements(c, node_at(c, r->nodes[0]));
    r->kept = r->num;
    while (r->num - r->kept < MOST_TAIL && r->num < MOST_TAIL * 4) {
        count_leaving(c, r, &next);
        if (next < 0) break;
        if (!by_bands && may_go_by_bands(c, r, next)) {
            *at_push(c->arena, &c->bands) = (at_net_join){next, r->nodes[0]};
            if (!c->how->banded[next]) break;
            by_bands = true;
            r->nodes[r->num++] = next;
            r->kept = r->num;
            elements = most_elements(c, node_at(c, next));
            continue;
        }
        if (!may_follow(c, r, next, elements)) break;
        const bool joins = may_join(c, r) && c->how->joined[next];
        r->nodes[r->num++] = next;
        const int leaving = count_leaving(c, r, &next);
        if (joins && leaving > allowed) allowed = leaving;
        if (leaving <= allowed) r->kept = r->num;
    }
    if (r->num > r->kept && may_join(c, r))
        *at_push(c->arena, &c->joins) = (at_net_join){r->nodes[r->kept], r->nodes[0]};
    r->num = r->kept;
}

/* Moves in front of a node, the first ones first. */
static void add_moves(const cutter *c, region *r, int node) {
    const at_net_node *n = node_at(c, node);
    for (int k = 0; k < n->num_inputs; k++) {
        if (n->inputs[k] < 0 || !at_net_reads(n, k)) continue;
        int by = value_at(c, n->inputs[k])->producer;
        if (by < 0 || in_region(r, by) || !is_taken_by_readers(c, by)) continue;
        if (r->num >= MOST_TAIL * 4 - 2) continue;
        add_moves(c, r, by);
        r->nodes[r->num++] = by;
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

/* ---- the text of a part ---------------------------------------------------------------------- */

/* A part's tensors by value while it is put together. */
typedef struct joining {
    const cutter *c;
    bool is_whole, by_bands;
    at_joined j;
    AT_VEC(int) values;
    AT_VEC(int) tensors;
} joining;

static int find_value(const joining *g, int v) {
    for (int i = g->values.len - 1; i >= 0; i--)
        if (g->values.data[i] == v) return g->tensors.data[i];
    return -1;
}

static void set_value(joining *g, int v, int tensor) {
    *at_push(g->c->arena, &g->values) = v;
    *at_push(g->c->arena, &g->tensors) = tensor;
}

static at_status input_of(joining *g, const at_net_node *n, int k, int *out) {
    int v = n->inputs[k];
    const at_net_value *value = value_at(g->c, v);
    bool index = n->index_inputs >> k & 1;
    int known = find_value(g, v);
    *out = known;
    if (known >= 0 && (g->j.tensors.data[known].role == AT_ROLE_INDEX) == index) return AT_OK;
    if (known >= 0 && g->j.tensors.data[known].role == AT_ROLE_STAGE)
        return at_fail(g->c->err, AT_E_INPUT,
                       "node %s (%s): an index that is computed beside is not there yet", n->name,
                       n->op);
    at_role role = index ? AT_ROLE_INDEX : value->is_constant ? AT_ROLE_WEIGHT : AT_ROLE_INPUT;
    *out = at_join_input(&g->j, v, role, index ? AT_F32 : value->element, value->rank, value->dims);
    set_value(g, v, *out);
    return AT_OK;
}

static at_status join_node(joining *g, int node) {
    const at_net_node *n = node_at(g->c, node);
    int *inputs = AT_NEW_ARRAY(g->c->arena, int, n->num_inputs);
    int *outputs = AT_NEW_ARRAY(g->c->arena, int, n->num_outputs);
    for (int k = 0; k < n->num_inputs; k++) {
        inputs[k] = -1;
        if (n->inputs[k] >= 0 && at_net_reads(n, k)) AT_TRY(input_of(g, n, k, &inputs[k]));
    }
    const char *what = at_format(g->c->arena, "text of %s", n->op);
    AT_TRY(at_join_text(&g->j, n->text, what, inputs, n->num_inputs, outputs, n->num_outputs,
                        g->c->err));
    for (int k = 0; k < n->num_outputs; k++) {
        if (n->outputs[k] < 0 || outputs[k] < 0) continue;
        g->j.tensors.data[outputs[k]].value = n->outputs[k];
        g->j.tensors.data[outputs[k]].type = value_at(g->c, n->outputs[k])->element;
        set_value(g, n->outputs[k], outputs[k]);
    }
    return AT_OK;
}

static bool has_sizes(const at_joined_tensor *t, const at_net_value *v) {
    if (t->num_axes != v->rank) return false;
    for (int i = 0; i < v->rank; i++)
        if (t->axes[i].extent != v->dims[i]) return false;
    return true;
}

/* Values as they lie in memory: of inputs and outputs, and of what is computed between; a node's
 * inner stages of the same sizes as its output like that. */
static void set_orders(joining *g) {
    for (int i = g->j.tensors.len - 1, v = -1; i >= 0; i--) {
        const at_joined_tensor *t = &g->j.tensors.data[i];
        bool inner = t->role == AT_ROLE_STAGE && t->value < 0;
        if (!inner) v = t->value;
        if (v < 0 || !g->c->cut->orders[v] || (inner && !has_sizes(t, value_at(g->c, v)))) continue;
        at_join_permute(&g->j, i, g->c->cut->orders[v]);
    }
}

/* An index that is known only when the network runs is prepared at every call, and with it all that
 * is prepared ahead: then constants are inputs as they are. Plain C prepares nothing. */
static void set_roles(joining *g) {
    bool late = false;
    for (int i = 0; i < g->j.tensors.len; i++) {
        const at_joined_tensor *t = &g->j.tensors.data[i];
        late |= t->role == AT_ROLE_INDEX && !value_at(g->c, t->value)->is_constant;
    }
    const bool as_they_are = late || g->is_whole;
    for (int i = 0; as_they_are && i < g->j.tensors.len; i++)
        if (g->j.tensors.data[i].role == AT_ROLE_WEIGHT) g->j.tensors.data[i].role = AT_ROLE_INPUT;
}

/* NULL: rows of all parameters are as long as they are. */
static const int64_t *rows_of(const cutter *c, const at_net_part *p) {
    int64_t *rows = AT_NEW_ARRAY(c->arena, int64_t, p->num_params);
    bool any = false;
    for (int i = 0; i < p->num_params; i++) {
        rows[i] = c->cut->boxes[p->params[i].value].row;
        any |= rows[i] != 0;
    }
    return any ? rows : NULL;
}

static void finish_part(joining *g, at_net_part *p) {
    at_arena *a = g->c->arena;
    at_text text = {0};
    int *params = AT_NEW_ARRAY(a, int, g->j.tensors.len);
    set_roles(g);
    at_join_dissolve(&g->j);
    if (g->by_bands) at_join_bands(&g->j);
    at_join_name(&g->j);
    at_join_print(&text, &g->j);
    at_join_print_bands(&text, &g->j);
    p->text = at_text_take(a, &text);
    p->num_params = at_join_parameters(&g->j, params);
    at_net_param *out = AT_NEW_ARRAY(a, at_net_param, p->num_params);
    for (int i = 0; i < p->num_params; i++) {
        const at_joined_tensor *t = &g->j.tensors.data[params[i]];
        out[i] = (at_net_param){t->value, t->role};
    }
    p->params = out;
    p->rows = rows_of(g->c, p);
}

/* Plain C is of the types that its parameters have in memory. */
static const char *typed_text(const cutter *c, const at_net_part *p) {
    at_text text = {0};
    at_text_add(&text, p->text);
    for (int i = 0; i < p->num_params; i++) {
        const int root = c->cut->views[p->params[i].value];
        at_text_addf(&text, "# %s, %s\n", at_net_type_name(value_at(c, root)->type),
                     at_net_type_name(at_net_kept_type(c->net, root, true)));
    }
    return at_text_take(c->arena, &text);
}

static at_status join_part(cutter *c, at_net_part *p) {
    joining g = {.c = c, .is_whole = p->is_whole, .j.arena = c->arena};
    region r = {0};
    for (int i = 0; i < p->num_nodes; i++) {
        at_status s = join_node(&g, p->nodes[i]);
        if (s != AT_OK) return s;
        r.nodes[r.num++] = p->nodes[i];
        g.by_bands |= c->how->banded[p->nodes[i]];
    }
    for (int i = 0; i < g.j.tensors.len; i++) {
        at_joined_tensor *t = &g.j.tensors.data[i];
        int next = -1;
        if (t->role != AT_ROLE_STAGE || t->value < 0) continue;
        /* A move in front is made again in every part that reads through it. */
        bool own = c->part_of[value_at(c, t->value)->producer] == c->parts.len;
        t->is_output = own && leaves(c, &r, t->value, &next);
    }
    set_orders(&g);
    finish_part(&g, p);
    p->title = at_net_part_title(c->arena, c->net, p->nodes, p->num_nodes);
    if (p->is_whole) p->title = at_format(c->arena, "%s, in whole numbers", p->title);
    p->name = at_net_part_name(c->arena, p->title, p->is_whole ? typed_text(c, p) : p->text);
    return AT_OK;
}

/* ---- the cut --------------------------------------------------------------------------------- */

static at_status add_part(cutter *c, int first) {
    region r = {.nodes = {first}, .num = 1};
    at_net_part p = {.is_whole = node_at(c, first)->is_whole};
    if (!node_at(c, first)->text)
        return at_fail(c->err, AT_E_INPUT, "node %s (%s) has no computation",
                       node_at(c, first)->name, node_at(c, first)->op);
    grow(c, &r);
    int last = 0;
    for (int i = 0; i < r.kept; i++) {
        c->part_of[r.nodes[i]] = c->parts.len;
        if (r.nodes[i] > last) last = r.nodes[i];
    }
    for (int i = 0; i < r.kept; i++) add_moves(c, &r, r.nodes[i]);
    sort(r.nodes, r.num);
    p.nodes = at_copy(c->arena, r.nodes, sizeof *r.nodes * (size_t)r.num);
    p.num_nodes = r.num;
    AT_TRY(join_part(c, &p));
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

at_status at_net_cut_parts(at_arena *a, const at_net *net, const at_net_cutting *how,
                           at_net_cut *out, at_error *err) {
    *out = (at_net_cut){.net = net};
    out->orders = at_net_orders(a, net);
    out->views = at_net_views(a, net, out->orders);
    out->boxes = at_net_boxes(a, net, out->orders, out->views);
    cutter c = {.arena = a,
                .net = net,
                .cut = out,
                .how = how,
                .readers = at_net_readers(a, net),
                .part_of = AT_NEW_ARRAY(a, int, net->nodes.len),
                .err = err};
    for (int i = 0; i < net->nodes.len; i++) c.part_of[i] = -1;
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
    out->bands = c.bands.data;
    out->num_bands = c.bands.len;
    return AT_OK;
}
