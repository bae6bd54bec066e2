/* network/row_gaps.c: rows of a value whose length is a multiple of a large power of two would meet
 * in a few places of the first-level cache: a kernel that goes along several of them at once would
 * lose their lines before it has read them. Such rows get a line more, which nobody reads or
 * writes. */
#include "network/graph.h"

/* 64 places of 64 bytes: rows 4 KB apart meet in one, those of every second pixel of 2 KB, too. */
enum { LINE_BYTES = 64, MEETING_BYTES = 2048, LEAST_ROWS = 8 };

static bool meets(const at_net *net, const int *const *orders, int v) {
    const at_net_value *x = &net->values.data[v];
    const int64_t row = at_net_row_elements(net, orders, v);
    if (!x->elements || x->elements / row < LEAST_ROWS) return false;
    return row * at_type_bytes(x->element) % MEETING_BYTES == 0;
}

/* A parameter of kernels alone, each of which tells how far its rows are apart. */
static bool may_have_gaps(const at_net *net, const at_int_list *readers, int v) {
    const at_net_value *x = &net->values.data[v];
    return x->producer >= 0 && !x->is_input && !x->is_output &&
           at_net_is_of_kernels(net, readers, v);
}

void at_net_add_row_gaps(at_net_box *boxes, at_arena *a, const at_net *net,
                         const int *const *orders, const int *views) {
    const int n = net->values.len;
    const at_int_list *readers = at_net_readers(a, net);
    bool *fixed = AT_NEW_ARRAY(a, bool, n + 1);
    for (int v = 0; v < n; v++) {
        /* Others have its elements in their own order, or lie in it as wholes. */
        if (views[v] != v) fixed[v] = fixed[views[v]] = true;
        if (boxes[v].in < 0) continue;
        fixed[v] = true;
        if (!boxes[v].row || !at_net_is_of_kernels(net, readers, v)) fixed[boxes[v].in] = true;
    }
    for (int v = 0; v < n; v++)
        if (!fixed[v] && may_have_gaps(net, readers, v) && meets(net, orders, v))
            boxes[v].row = at_net_row_elements(net, orders, v) +
                           LINE_BYTES / at_type_bytes(net->values.data[v].element);
    for (int v = 0; v < n; v++) { /* rows of what lies inside begin in the first row */
        const int64_t row = boxes[v].in < 0 ? 0 : boxes[boxes[v].in].row;
        if (row) boxes[v].row = row;
    }
}
