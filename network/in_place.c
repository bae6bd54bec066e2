/* network/in_place.c: values that lie inside of others. What a Concat reads is written right where
 * its output has it, and what a Split makes is read where its input has it: rows of a value are
 * then some elements of longer rows, and nothing is copied. So are the entries that the steps of a
 * loop take of a value: the kernel of one step is then that of all. */
#include <string.h>

#include "network/graph.h"

typedef struct placing {
    at_net *net;
    const int *const *orders;
    const int *views;
    const at_int_list *readers;
    bool *is_viewed; /* [value] others share its memory */
    bool *is_inside; /* [value] of another */
    AT_VEC(at_net_node) copies;
    AT_VEC(int) before; /* [copy] the node that reads it */
} placing;

/* Fewer elements are copied as soon as told where they go. */
enum { LEAST_ELEMENTS = 1024 };

static const at_net_value *value_at(const placing *p, int v) { return &p->net->values.data[v]; }

static int axis_of(const at_net_value *v, const at_net_node *n) {
    const int64_t i = at_net_int(n, "axis", 0);
    return (int)(i < 0 ? i + v->rank : i);
}

/* Parts along this axis of the value are of each of its rows in memory, or, of what is one row
 * before that axis, parts of the whole. *inner: elements of a step along it. */
static bool is_cut(const placing *p, int v, int axis, bool *of_rows, int64_t *inner) {
    const at_net_value *x = value_at(p, v);
    const int *order = p->orders[v];
    int64_t outer = 1;
    int at = 0;
    *inner = 1;
    while (at < x->rank && (order ? order[at] : at) != axis) at++;
    for (int k = 0; k < x->rank; k++) {
        if (k < at) outer *= x->dims[order ? order[k] : k];
        if (k > at) *inner *= x->dims[order ? order[k] : k];
    }
    *of_rows = outer > 1;
    return at < x->rank && (outer == 1 || at == x->rank - 1);
}

static bool lie_alike(const placing *p, int x, int y) {
    const int *a = p->orders[x], *b = p->orders[y];
    const at_net_value *of_x = value_at(p, x), *of_y = value_at(p, y);
    if (!a != !b || of_x->rank != of_y->rank || of_x->type != of_y->type) return false;
    return of_x->element == of_y->element && (!a || !memcmp(a, b, sizeof *a * (size_t)of_x->rank));
}

/* May it be written, and read, inside of another value, as a whole or row by row? */
static bool may_lie_whole_inside(const placing *p, int v) {
    const at_net_value *x = value_at(p, v);
    return x->producer >= 0 && !x->is_output && !p->is_inside[v] && p->views[v] == v &&
           at_net_is_of_kernels(p->net, p->readers, v);
}

static bool may_lie_inside(const placing *p, int v) {
    return !p->is_viewed[v] && may_lie_whole_inside(p, v);
}

/* ---- Split ----------------------------------------------------------------------------------- */

static void place_split(placing *p, at_net_node *n) {
    bool of_rows;
    int64_t inner;
    const int x = n->inputs[0];
    if (!at_net_is_of_kernels(p->net, p->readers, x) ||
        !is_cut(p, x, axis_of(value_at(p, x), n), &of_rows, &inner))
        return;
    if (value_at(p, x)->elements < LEAST_ELEMENTS) return;
    for (int k = 0; k < n->num_outputs; k++) {
        const int y = n->outputs[k];
        if (y < 0 || !may_lie_inside(p, y) || !lie_alike(p, x, y)) return;
    }
    n->is_in_place = true;
    for (int k = 0; k < n->num_outputs; k++) p->is_inside[n->outputs[k]] = true;
}

/* ---- entries --------------------------------------------------------------------------------- */

/* Of fewer entries, each is taken by the kernels that read it. */
enum { LEAST_ENTRIES = 4 };

/* The entry along an axis that a Gather takes, of a place that is known; -1: it is none. */
static int64_t entry_of(const placing *p, const at_net_node *n) {
    if (strcmp(n->op, "Gather") || n->num_inputs != 2 || n->inputs[0] < 0 || n->is_whole) return -1;
    const at_net_value *x = value_at(p, n->inputs[0]), *at = value_at(p, n->inputs[1]);
    if (!at->is_constant || at->elements != 1) return -1;
    const int64_t i = at_net_element_int(at->type, at->data, 0);
    return i < 0 ? i + x->dims[axis_of(x, n)] : i;
}

static void place_entry(placing *p, at_net_node *n) {
    bool of_rows;
    int64_t inner;
    const int x = n->inputs[0], y = n->outputs[0];
    const at_net_value *from = value_at(p, x), *to = value_at(p, y);
    if (p->readers[x].len < LEAST_ENTRIES || from->elements < LEAST_ELEMENTS) return;
    /* A view of the entry knows nothing of longer rows. */
    if (p->is_inside[x] && p->is_viewed[y]) return;
    if (!at_net_is_of_kernels(p->net, p->readers, x) || !may_lie_whole_inside(p, y) ||
        from->type != to->type || from->element != to->element || p->orders[x] || p->orders[y] ||
        !is_cut(p, x, axis_of(from, n), &of_rows, &inner) || of_rows)
        return;
    n->is_in_place = true;
    p->is_inside[y] = true;
    p->is_viewed[x] = true; /* as by a view of the entry: it comes to lie in no longer rows */
}

/* ---- Concat ---------------------------------------------------------------------------------- */

/* Inputs from k on are all that a Split makes, in order, of a value that may lie inside itself: so
 * many; else 0. */
static int parts_of_split(const placing *p, const at_net_node *n, int k) {
    const int by = value_at(p, n->inputs[k])->producer;
    const at_net_node *split = by < 0 ? NULL : &p->net->nodes.data[by];
    if (!split || !split->is_in_place || strcmp(split->op, "Split") != 0) return 0;
    if (k + split->num_outputs > n->num_inputs) return 0;
    for (int i = 0; i < split->num_outputs; i++)
        if (n->inputs[k + i] != split->outputs[i]) return 0;
    const at_net_value *x = value_at(p, split->inputs[0]), *y = value_at(p, n->outputs[0]);
    if (axis_of(x, split) != axis_of(y, n) || !may_lie_inside(p, split->inputs[0])) return 0;
    return lie_alike(p, split->inputs[0], n->outputs[0]) ? split->num_outputs : 0;
}

/* The value whose place in the output the Concat's input k has, and in *count how many inputs it
 * stands for; -1: its elements are copied. */
static int placed_at(const placing *p, const at_net_node *n, int k, int *count) {
    const int x = n->inputs[k];
    *count = parts_of_split(p, n, k);
    if (*count) return p->net->nodes.data[value_at(p, x)->producer].inputs[0];
    *count = 1;
    for (int i = 0; i < k; i++)
        if (n->inputs[i] == x) return -1;
    return may_lie_inside(p, x) && lie_alike(p, x, n->outputs[0]) ? x : -1;
}

static int add_copy(placing *p, int node, int of) {
    at_arena *a = p->net->arena;
    at_net_value v = *value_at(p, of);
    v.is_constant = v.is_input = v.is_output = false;
    v.data = NULL;
    v.name = at_format(a, "%s, copied", v.name);
    *at_push(a, &p->net->values) = v;
    const int to = p->net->values.len - 1;
    *at_push(a, &p->copies) = at_net_identity(p->net, "Copy", of, to);
    *at_push(a, &p->before) = node;
    return to;
}

/* Moves are copied anyway, be it by the Concat that reads them. */
static bool is_worth_it(const placing *p, const at_net_node *n) {
    static const char *const parts[] = {"Concat", "Split", NULL};
    int64_t placed = 0, all = value_at(p, n->outputs[0])->elements;
    for (int k = 0, count; k < n->num_inputs; k += count) {
        if (placed_at(p, n, k, &count) < 0) continue;
        const at_net_node *by = &p->net->nodes.data[value_at(p, n->inputs[k])->producer];
        if (by->kind == AT_NET_MOVE && !at_net_op_is(by, parts)) continue;
        for (int i = 0; i < count; i++) placed += value_at(p, n->inputs[k + i])->elements;
    }
    return all >= LEAST_ELEMENTS && placed * 2 >= all;
}

/* Rows may be copied only where they lie like the output's. */
static bool can_be_placed(const placing *p, const at_net_node *n) {
    bool of_rows;
    int64_t inner;
    const int y = n->outputs[0];
    if (strcmp(n->op, "Concat") || y < 0 || n->is_whole ||
        !at_net_is_of_kernels(p->net, p->readers, y))
        return false;
    if (!is_cut(p, y, axis_of(value_at(p, y), n), &of_rows, &inner)) return false;
    for (int k = 0; k < n->num_inputs; k++)
        if (n->inputs[k] < 0 || !value_at(p, n->inputs[k])->elements ||
            value_at(p, n->inputs[k])->is_constant ||
            (p->orders[y] && value_at(p, n->inputs[k])->dims[1] == 1))
            return false;
    return true;
}

static void place_concat(placing *p, int node) {
    at_net_node *n = &p->net->nodes.data[node];
    if (!can_be_placed(p, n) || !is_worth_it(p, n)) return;
    int *inputs = at_copy(p->net->arena, n->inputs, sizeof *inputs * (size_t)n->num_inputs);
    for (int k = 0, count; k < n->num_inputs; k += count) {
        const int inside = placed_at(p, n, k, &count);
        if (inside < 0) inputs[k] = add_copy(p, node, n->inputs[k]);
        else p->is_inside[inside] = true;
    }
    n->inputs = inputs;
    n->is_in_place = true;
}

/* ---- the graph ------------------------------------------------------------------------------- */

static void insert_copies(placing *p) {
    AT_VEC(at_net_node) nodes = {0};
    at_net *net = p->net;
    for (int i = 0; i < net->nodes.len; i++) {
        for (int k = 0; k < p->copies.len; k++)
            if (p->before.data[k] == i) *at_push(net->arena, &nodes) = p->copies.data[k];
        *at_push(net->arena, &nodes) = net->nodes.data[i];
    }
    at_net_set_nodes(net, nodes.data, nodes.len);
}

void at_net_place_inside(at_net *net) {
    at_arena *a = net->arena;
    const int *const *orders = at_net_orders(a, net, NULL);
    const int *views = at_net_views(a, net, orders);
    placing p = {.net = net,
                 .orders = orders,
                 .views = views,
                 .readers = at_net_readers(a, net),
                 .is_viewed = AT_NEW_ARRAY(a, bool, net->values.len),
                 .is_inside = AT_NEW_ARRAY(a, bool, net->values.len)};
    for (int v = 0; v < net->values.len; v++)
        if (views[v] != v) p.is_viewed[views[v]] = true;
    for (int i = 0; i < net->nodes.len; i++) {
        at_net_node *n = &net->nodes.data[i];
        if (!strcmp(n->op, "Split") && n->num_inputs && !n->is_whole) place_split(&p, n);
        else if (entry_of(&p, n) >= 0) place_entry(&p, n);
    }
    /* Later ones first: the last of several that go on with each other has all of them. */
    for (int i = net->nodes.len - 1; i >= 0; i--) place_concat(&p, i);
    insert_copies(&p);
}

/* ---- where they lie -------------------------------------------------------------------------- */

static void put_inside(at_net_box *boxes, const placing *p, int inner, int outer, int axis,
                       int64_t from) {
    bool of_rows;
    int64_t step;
    is_cut(p, outer, axis, &of_rows, &step);
    const at_net_value *v = value_at(p, outer);
    boxes[inner] = (at_net_box){
        .in = p->views[outer], .offset = from * step, .row = of_rows ? v->dims[axis] : 0};
}

static void put_parts(at_net_box *boxes, const placing *p, const at_net_node *n, const int *inner,
                      int num, int outer) {
    const int axis = axis_of(value_at(p, outer), n);
    int64_t from = 0;
    for (int k = 0; k < num; k++) {
        const int v = inner[k], whole = boxes[v].in;
        /* What a Split makes lies in what it reads: all of that is put here. */
        if (whole < 0) put_inside(boxes, p, v, outer, axis, from);
        else if (boxes[whole].in < 0) put_inside(boxes, p, whole, outer, axis, from);
        from += value_at(p, v)->dims[axis];
    }
}

/* What lies in what lies in another lies in that. */
static void resolve(at_net_box *boxes, const placing *p, int v) {
    at_net_box *b = &boxes[v];
    if (b->in < 0 || boxes[b->in].in < 0) return;
    resolve(boxes, p, b->in);
    const at_net_box *outer = &boxes[b->in];
    const int64_t own = at_net_row_elements(p->net, p->orders, b->in);
    if (outer->row) {
        b->offset = b->offset / own * outer->row + b->offset % own;
        b->row = outer->row;
    }
    b->offset += outer->offset;
    b->in = outer->in;
}

const at_net_box *at_net_boxes(at_arena *a, const at_net *net, const int *const *orders,
                               const int *views) {
    at_net_box *boxes = AT_NEW_ARRAY(a, at_net_box, net->values.len + 1);
    const placing p = {.net = (at_net *)net, .orders = orders, .views = views};
    for (int v = 0; v < net->values.len; v++) boxes[v].in = -1;
    for (int pass = 0; pass < 2; pass++) /* what is taken out of others first */
        for (int i = 0; i < net->nodes.len; i++) {
            const at_net_node *n = &net->nodes.data[i];
            const bool joins = !strcmp(n->op, "Concat");
            if (!n->is_in_place || joins != pass) continue;
            const int64_t entry = entry_of(&p, n);
            if (entry >= 0)
                put_inside(boxes, &p, n->outputs[0], n->inputs[0],
                           axis_of(value_at(&p, n->inputs[0]), n), entry);
            else if (!joins) put_parts(boxes, &p, n, n->outputs, n->num_outputs, n->inputs[0]);
            else put_parts(boxes, &p, n, n->inputs, n->num_inputs, n->outputs[0]);
        }
    for (int v = 0; v < net->values.len; v++) resolve(boxes, &p, v);
    at_net_add_row_gaps(boxes, a, net, orders, views);
    return boxes;
}
