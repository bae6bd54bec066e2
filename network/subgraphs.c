/* network/subgraphs.c: graphs in attributes. An If whose condition is known is its branch; a Loop
 * or a Scan whose number of steps is known is so many copies of its body, which read each other. */
#include "network/graph_int.h"

#include <string.h>

enum { MOST_DEPTH = 16, MOST_NODES = 1 << 16 }; /* nodes: of all steps */

static at_status miss(net_builder *b, net_scope *s, const net_raw_node *n, const char *why) {
    net_note_missing(b, at_format(b->arena, "%s: %s", n->op, why), n->name);
    return net_add_unknown(b, s, n);
}

/* Number i of an attribute, or 0. */
static int64_t number_of(const net_raw_node *n, const char *name, int i) {
    const at_net_attribute *a = net_raw_attribute(n, name, AT_NET_ATTR_INTS);
    return a && i < a->num ? a->ints[i] : 0;
}

/* NULL: there is none, or it is too deep. */
static const at_net_subgraph *graph_of(const net_builder *b, const net_raw_node *n,
                                       const char *name) {
    const at_net_attribute *a = net_raw_attribute(n, name, AT_NET_ATTR_GRAPH);
    return a && b->depth < MOST_DEPTH ? a->graph : NULL;
}

/* A graph's nodes, in a scope that has its inputs; values: of its outputs. */
static at_status add_graph(net_builder *b, net_scope *s, const net_raw_node *n,
                           const at_net_subgraph *g, int *values) {
    b->depth++;
    AT_TRY(b->add_nodes(b, s, g));
    b->depth--;
    for (int i = 0; i < g->outputs.len; i++) {
        const char *name = g->outputs.data[i].name;
        values[i] = net_find_value(s, name);
        if (values[i] < 0)
            return net_fail(b, n, at_format(b->arena, "\"%s\" is not computed", name));
    }
    return AT_OK;
}

static bool is_known(const net_builder *b, int value) {
    const at_net_value *v = &b->net->values.data[value];
    return v->is_constant && v->elements == 1 && !b->facts.data[value].sequence;
}

static int64_t known_int(const net_builder *b, int value) {
    const at_net_value *v = &b->net->values.data[value];
    return at_net_element_int(v->type, v->data, 0);
}

/* ---- If -------------------------------------------------------------------------------------- */

static at_status add_if(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    if (inputs[0] < 0) return net_fail(b, n, "input 1 of at least 1 is missing");
    if (!is_known(b, inputs[0]))
        return miss(b, s, n,
                    at_format(b->arena,
                              "its condition \"%s\" depends on data, unless --set says what its "
                              "inputs are",
                              b->net->values.data[inputs[0]].name));
    const char *wanted = known_int(b, inputs[0]) ? "then_branch" : "else_branch";
    const at_net_subgraph *g = graph_of(b, n, wanted);
    if (!g || g->outputs.len != n->outputs.len)
        return net_fail(b, n, at_format(b->arena, "%s is missing or does not fit", wanted));
    net_scope inner = {.names = {.arena = b->arena}, .outer = s};
    int *values = AT_NEW_ARRAY(b->arena, int, g->outputs.len + 1);
    AT_TRY(net_add_constants(b, &inner, g));
    AT_TRY(add_graph(b, &inner, n, g, values));
    for (int i = 0; i < g->outputs.len; i++)
        AT_TRY(net_name_value(b, s, n->outputs.data[i], values[i]));
    return AT_OK;
}

/* ---- steps ----------------------------------------------------------------------------------- */

typedef AT_VEC(int) value_list;

/* A node whose body is made for each step. The body's outputs: the condition of a Loop, what the
 * next step reads, and what is collected. */
typedef struct stepping {
    net_builder *b;
    const net_raw_node *node;
    const at_net_subgraph *body;
    net_scope constants;                   /* of the body, for all steps */
    int *carried;                          /* [num_carried] */
    int num_carried, num_collected, first; /* first: output that is carried */
    value_list *collected;                 /* [num_collected] of each step */
    int *values;                           /* [body's outputs] of the last step */
} stepping;

static at_status begin(stepping *p, net_scope *s) {
    net_builder *b = p->b;
    p->constants = (net_scope){.names = {.arena = b->arena}, .outer = s};
    p->collected = AT_NEW_ARRAY(b->arena, value_list, p->num_collected + 1);
    p->values = AT_NEW_ARRAY(b->arena, int, p->body->outputs.len + 1);
    return net_add_constants(b, &p->constants, p->body);
}

/* inputs: of the body. */
static at_status step(stepping *p, const int *inputs) {
    net_builder *b = p->b;
    const at_net_subgraph *g = p->body;
    net_scope own = {.names = {.arena = b->arena}, .outer = &p->constants};
    for (int i = 0; i < g->inputs.len; i++)
        AT_TRY(net_name_value(b, &own, g->inputs.data[i].name, inputs[i]));
    AT_TRY(add_graph(b, &own, p->node, g, p->values));
    const int *from = p->values + p->first;
    for (int i = 0; i < p->num_carried; i++) p->carried[i] = from[i];
    for (int i = 0; i < p->num_collected; i++) {
        const int value = from[p->num_carried + i];
        if (!net_is_tensor(b, value)) return net_fail(b, p->node, "its body collects a sequence");
        *at_push(b->arena, &p->collected[i]) = value;
    }
    return AT_OK;
}

/* Of no step at all: the sizes that the body declares, and none along the axis. */
static at_status add_none(stepping *p, const net_port *port, int64_t axis, int *out) {
    net_builder *b = p->b;
    const int rank = port->rank + 1, at = (int)(axis < 0 ? axis + rank : axis);
    int64_t *dims = AT_NEW_ARRAY(b->net->arena, int64_t, rank);
    bool known = port->has_shape && at >= 0 && at < rank && rank <= AT_NET_MAX_RANK;
    for (int i = 0; known && i < rank; i++) {
        dims[i] = i == at ? 0 : port->dims[i - (i > at)].value;
        known = dims[i] >= 0;
    }
    if (!known)
        net_note_missing(
            b, at_format(b->arena, "%s: no step, and \"%s\" has no sizes", p->node->op, port->name),
            p->node->name);
    const at_net_value v = {.name = port->name,
                            .type = port->type,
                            .rank = known ? rank : 0,
                            .dims = dims,
                            .producer = -1,
                            .is_constant = known};
    *out = net_add_value(b, v, !known);
    return AT_OK;
}

/* The value of output i. axes: of what is collected; NULL: each is 0. Directions: 1 is from
 * the last step to the first. */
static at_status outcome(stepping *p, int i, const char *axes, const char *directions, int *out) {
    net_builder *b = p->b;
    const net_raw_node *n = p->node;
    const int k = i - p->num_carried;
    if (k < 0) return *out = p->carried[i], AT_OK;
    value_list *list = &p->collected[k];
    const int64_t axis = axes ? number_of(n, axes, k) : 0;
    for (int j = 0; directions && number_of(n, directions, k) && j < list->len / 2; j++) {
        const int first = list->data[j];
        list->data[j] = list->data[list->len - 1 - j];
        list->data[list->len - 1 - j] = first;
    }
    if (!list->len) return add_none(p, &p->body->outputs.data[p->first + i], axis, out);
    return net_join_values(b, n->outputs.data[i], list->data, list->len, axis, true, out);
}

static at_status end(stepping *p, net_scope *s, const char *axes, const char *directions) {
    const net_raw_node *n = p->node;
    for (int i = 0; i < n->outputs.len; i++) {
        int value;
        if (!*n->outputs.data[i]) continue;
        AT_TRY(outcome(p, i, axes, directions, &value));
        AT_TRY(net_name_value(p->b, s, n->outputs.data[i], value));
    }
    return AT_OK;
}

static bool may_step(net_builder *b, const at_net_subgraph *body) {
    b->num_in_steps += 1 + body->nodes.len;
    return b->num_in_steps <= MOST_NODES;
}

static at_status too_many(net_builder *b, net_scope *s, const net_raw_node *n) {
    return miss(b, s, n, at_format(b->arena, "more than %d nodes in all steps", MOST_NODES));
}

/* ---- Loop ------------------------------------------------------------------------------------ */

static int rank_of_input(const at_net_subgraph *g, int input) {
    return g->inputs.data[input].has_shape && g->inputs.data[input].rank == 1;
}

static at_status add_loop(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const at_net_subgraph *g = graph_of(b, n, "body");
    stepping p = {.b = b, .node = n, .body = g, .num_carried = n->inputs.len - 2, .first = 1};
    if (!g || g->inputs.len != n->inputs.len || g->outputs.len <= p.num_carried ||
        n->outputs.len >= g->outputs.len)
        return net_fail(b, n, "body is missing or does not fit");
    p.num_collected = g->outputs.len - 1 - p.num_carried;
    for (int i = 0; i < n->inputs.len; i++) {
        if (inputs[i] < 0 && i >= 2) return net_fail(b, n, "an input is missing");
        if (i < 2 && inputs[i] >= 0 && !is_known(b, inputs[i]))
            return miss(b, s, n,
                        at_format(b->arena, "its %s \"%s\" depends on data",
                                  i ? "condition" : "number of steps",
                                  b->net->values.data[inputs[i]].name));
    }
    p.carried = at_copy(b->arena, inputs + 2, sizeof *inputs * (size_t)p.num_carried);
    AT_TRY(begin(&p, s));
    const int64_t most = inputs[0] >= 0 ? known_int(b, inputs[0]) : INT64_MAX;
    bool goes_on = inputs[1] < 0 || known_int(b, inputs[1]);
    int *in = AT_NEW_ARRAY(b->arena, int, g->inputs.len + 1);
    for (int64_t k = 0; goes_on && k < most; k++) {
        if (!may_step(b, g)) return too_many(b, s, n);
        in[0] = net_add_number(b, g->inputs.data[0].name, AT_NET_INT64, rank_of_input(g, 0), k);
        in[1] = net_add_number(b, g->inputs.data[1].name, AT_NET_BOOL, rank_of_input(g, 1), 1);
        memcpy(in + 2, p.carried, sizeof *in * (size_t)p.num_carried);
        AT_TRY(step(&p, in));
        if (b->facts.data[p.values[0]].is_unknown) return net_add_unknown(b, s, n);
        if (!is_known(b, p.values[0]) && k + 1 < most)
            return miss(b, s, n, "the condition that its body computes depends on data");
        goes_on = k + 1 < most && known_int(b, p.values[0]);
    }
    return end(&p, s, NULL, NULL);
}

/* ---- Scan ------------------------------------------------------------------------------------ */

/* Steps of all inputs that are gone through; -1: their sizes differ, or an axis is not there. axes:
 * of each input. */
static int64_t steps_of(const net_builder *b, const net_raw_node *n, const int *scanned, int num,
                        int64_t *axes) {
    int64_t steps = -1;
    for (int i = 0; i < num; i++) {
        const at_net_value *v = &b->net->values.data[scanned[i]];
        axes[i] = number_of(n, "scan_input_axes", i);
        if (axes[i] < 0) axes[i] += v->rank;
        if (axes[i] < 0 || axes[i] >= v->rank) return -1;
        if (i && v->dims[axes[i]] != steps) return -1;
        steps = v->dims[axes[i]];
    }
    return steps;
}

/* What step k reads of the value: one entry of its axis, which goes away. */
static at_status take_entry(net_builder *b, const char *name, int value, int64_t axis, int64_t k,
                            int *out) {
    const at_net_attribute along = {.name = "axis", .kind = AT_NET_ATTR_INT, .i = axis};
    const int inputs[] = {value, net_add_number(b, name, AT_NET_INT64, 0, k)};
    return net_add_made(b, "Gather", name, inputs, 2, &along, 1, out);
}

/* All steps; scanned: the values of which each step takes an entry. */
static at_status scan(stepping *p, const int *scanned, int num, const char *directions,
                      int64_t steps, const int64_t *axes) {
    net_builder *b = p->b;
    int *in = AT_NEW_ARRAY(b->arena, int, p->body->inputs.len + 1);
    for (int64_t k = 0; k < steps; k++) {
        memcpy(in, p->carried, sizeof *in * (size_t)p->num_carried);
        for (int i = 0; i < num; i++) {
            const int at = p->num_carried + i;
            AT_TRY(take_entry(b, p->body->inputs.data[at].name, scanned[i], axes[i],
                              number_of(p->node, directions, i) ? steps - 1 - k : k, &in[at]));
        }
        AT_TRY(step(p, in));
    }
    return AT_OK;
}

/* Of version 8: a row of each input is gone through by itself, along the axis behind rows. */
static at_status scan_rows(stepping *p, net_scope *s, const int *inputs, int num, int64_t steps) {
    net_builder *b = p->b;
    const net_raw_node *n = p->node;
    const int all = p->num_carried + num;
    const int64_t rows = b->net->values.data[inputs[0]].dims[0];
    value_list *made = AT_NEW_ARRAY(b->arena, value_list, n->outputs.len + 1);
    int64_t *axes = AT_NEW_ARRAY(b->arena, int64_t, num);
    int *row = AT_NEW_ARRAY(b->arena, int, all + 1);
    for (int64_t r = 0; r < rows; r++) {
        for (int i = 0; i < all; i++)
            AT_TRY(take_entry(b, p->body->inputs.data[i].name, inputs[i], 0, r, &row[i]));
        p->carried = at_copy(b->arena, row, sizeof *row * (size_t)(p->num_carried + 1));
        AT_TRY(begin(p, s));
        AT_TRY(scan(p, row + p->num_carried, num, "directions", steps, axes));
        for (int i = 0; i < n->outputs.len; i++)
            if (*n->outputs.data[i]) AT_TRY(outcome(p, i, NULL, NULL, at_push(b->arena, &made[i])));
    }
    for (int i = 0; i < n->outputs.len; i++) {
        const char *name = n->outputs.data[i];
        int value;
        if (!*name) continue;
        AT_TRY(net_join_values(b, name, made[i].data, made[i].len, 0, true, &value));
        AT_TRY(net_name_value(b, s, name, value));
    }
    return AT_OK;
}

/* The number of steps; -1: scanned values differ in rows or steps, or carried ones in rows. */
static int64_t steps_of_rows(const net_builder *b, const int *inputs, int carried, int num) {
    const at_net_value *first = &b->net->values.data[inputs[carried]];
    bool fit = first->rank >= 2 && first->dims[0] > 0;
    for (int i = 0; fit && i < carried + num; i++) {
        const at_net_value *v = &b->net->values.data[inputs[i]];
        fit = v->rank >= (i < carried ? 1 : 2) && v->dims[0] == first->dims[0] &&
              (i < carried || v->dims[1] == first->dims[1]);
    }
    return fit ? first->dims[1] : -1;
}

static at_status add_scan(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const at_net_attribute *count = net_raw_attribute(n, "num_scan_inputs", AT_NET_ATTR_INT);
    const at_net_subgraph *g = graph_of(b, n, "body");
    const bool by_rows = net_version_of(b, "") < 9;
    const int lengths = by_rows ? 1 : 0, given = n->inputs.len - lengths; /* the first one */
    const int scanned = count && count->i > 0 && count->i <= given ? (int)count->i : 0;
    stepping p = {.b = b, .node = n, .body = g, .num_carried = given - scanned};
    if (by_rows && inputs[0] >= 0) return miss(b, s, n, "of version 8, with lengths of rows");
    if (!g || !scanned || g->inputs.len != given || g->outputs.len < p.num_carried ||
        n->outputs.len > g->outputs.len)
        return net_fail(b, n, "body is missing or does not fit");
    inputs += lengths;
    for (int i = 0; i < given; i++)
        if (inputs[i] < 0) return net_fail(b, n, "an input is missing");
    p.num_collected = g->outputs.len - p.num_carried;
    int64_t *axes = AT_NEW_ARRAY(b->arena, int64_t, scanned);
    const int *along = inputs + p.num_carried;
    const int64_t steps = by_rows ? steps_of_rows(b, inputs, p.num_carried, scanned)
                                  : steps_of(b, n, along, scanned, axes);
    if (steps < 0)
        return net_fail(b, n, "axes that it goes along are not there, or differ in size");
    const int64_t rows = by_rows ? b->net->values.data[inputs[0]].dims[0] : 1;
    for (int64_t k = 0; k < rows * steps; k++)
        if (!may_step(b, g)) return too_many(b, s, n);
    if (by_rows) return scan_rows(&p, s, inputs, scanned, steps);
    p.carried = at_copy(b->arena, inputs, sizeof *inputs * (size_t)(p.num_carried + 1));
    AT_TRY(begin(&p, s));
    AT_TRY(scan(&p, along, scanned, "scan_input_directions", steps, axes));
    return end(&p, s, "scan_output_axes", "scan_output_directions");
}

/* ---- SequenceMap ----------------------------------------------------------------------------- */

/* A step for each value of the first sequence; tensors are the same in each step. */
static at_status add_map(net_builder *b, net_scope *s, const net_raw_node *n, const int *inputs) {
    const at_net_subgraph *g = graph_of(b, n, "body");
    stepping p = {.b = b, .node = n, .body = g};
    if (!g || g->inputs.len != n->inputs.len || g->outputs.len != n->outputs.len)
        return net_fail(b, n, "body is missing or does not fit");
    p.num_collected = g->outputs.len;
    const net_sequence *first = inputs[0] < 0 ? NULL : b->facts.data[inputs[0]].sequence;
    if (!first) return net_fail(b, n, "its first input is no sequence");
    AT_TRY(begin(&p, s));
    int *in = AT_NEW_ARRAY(b->arena, int, g->inputs.len + 1);
    for (int k = 0; k < first->len; k++) {
        if (!may_step(b, g)) return too_many(b, s, n);
        for (int i = 0; i < n->inputs.len; i++) {
            const net_sequence *list = inputs[i] < 0 ? NULL : b->facts.data[inputs[i]].sequence;
            if (inputs[i] < 0 || (list && list->len != first->len))
                return net_fail(b, n, "an input is missing, or sequences differ in length");
            in[i] = list ? list->values[k] : inputs[i];
        }
        AT_TRY(step(&p, in));
    }
    for (int i = 0; i < n->outputs.len; i++)
        AT_TRY(
            net_give_sequence(b, s, n->outputs.data[i], p.collected[i].data, p.collected[i].len));
    return AT_OK;
}

const net_structure net_subgraphs[] = {{"If", 1, 1, add_if},
                                       {"Loop", 2, -1, add_loop},
                                       {"Scan", 1, -1, add_scan},
                                       {"SequenceMap", 1, -1, add_map},
                                       {.op = NULL}};
