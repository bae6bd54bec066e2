/* network/repeats.c: values that are repeated along an axis, as heads of keys for the heads of
 * queries that share them: an Expand along an axis of its own, and a Reshape that joins this axis
 * to the one before. Both together are one move, whose readers read the value itself. */
#include <string.h>

#include "network/graph.h"

/* The axis of y that joins two axes of x; -1: there is none, or more than that differs. */
static int joined_axis(const at_net_value *x, const at_net_value *y) {
    int axis = 0;
    if (y->rank + 1 != x->rank) return -1;
    while (axis < y->rank && x->dims[axis] == y->dims[axis]) axis++;
    if (axis == y->rank || x->dims[axis] * x->dims[axis + 1] != y->dims[axis]) return -1;
    for (int i = axis + 1; i < y->rank; i++)
        if (x->dims[i + 1] != y->dims[i]) return -1;
    return axis;
}

/* y0 of the value before both, whose axes of extent 1 are those that are repeated. */
static const char *text_of(at_arena *a, const at_net_value *x, const at_net_value *between,
                           const at_net_value *y, int axis) {
    const long long times = between->dims[axis + 1];
    at_text text = {0};
    at_text_add(&text, "y0[");
    for (int i = 0; i < y->rank; i++)
        at_text_addf(&text, "%sa%d:%lld", i ? ", " : "", i, (long long)y->dims[i]);
    at_text_add(&text, "] = x0[");
    for (int i = 0; i < x->rank; i++) {
        at_text_add(&text, i ? ", " : "");
        if (x->dims[i] == 1) at_text_add(&text, "0");
        else if (i == axis) at_text_addf(&text, "a%d/%lld", axis, times);
        else if (i == axis + 1) at_text_addf(&text, "a%d%%%lld", axis, times);
        else at_text_addf(&text, "a%d", i < axis ? i : i - 1);
    }
    at_text_add(&text, "]\n");
    return at_text_take(a, &text);
}

/* Then the two stay: with the Expand the repeated value is copied row by row, and the Transpose is
 * read where it is; without it the Transpose would be made, which copies column by column. */
static bool is_transposed(const at_net *net, const at_int_list *readers) {
    for (int i = 0; i < readers->len; i++)
        if (!strcmp(net->nodes.data[readers->data[i]].op, "Transpose")) return true;
    return false;
}

void at_net_join_repeats(at_net *net) {
    const at_int_list *readers = at_net_readers(net->arena, net);
    for (int i = 0; i < net->nodes.len; i++) {
        at_net_node *n = &net->nodes.data[i];
        if (strcmp(n->op, "Expand") != 0 || n->kind != AT_NET_MOVE) continue;
        const at_net_value *x = &net->values.data[n->inputs[0]],
                           *between = &net->values.data[n->outputs[0]];
        const int reader = at_net_only_reader(net, readers, n->outputs[0]);
        if (reader < 0 || x->rank != between->rank) continue;
        at_net_node *next = &net->nodes.data[reader];
        const at_net_value *y = &net->values.data[next->outputs[0]];
        const int axis = joined_axis(between, y);
        if (strcmp(next->op, "Reshape") != 0 || next->kind != AT_NET_MOVE || axis < 0 ||
            is_transposed(net, &readers[next->outputs[0]]))
            continue;
        next->op = n->op;
        next->text = text_of(net->arena, x, between, y, axis);
        at_net_reread(net, next, n->outputs[0], n->inputs[0]);
    }
}
