/* network/net_halves.c: weights of 16-bit floats that stay as they are. A product with few rows
 * waits for its weight to come from memory: half as many bytes take half the time. With more rows,
 * and in convolutions, weights are float32. */
#include <string.h>

#include "network/graph.h"

enum { MOST_ROWS = 8 };

static bool is_half(const at_net_value *v) {
    return v->is_constant && v->data && v->element == AT_F32 && v->rank == 2 &&
           at_net_type_is_half(v->type);
}

/* A product of few rows has the value as its weight, and as nothing else. */
static bool is_product_of_few(const at_net *net, const at_net_node *n, int v) {
    static const char *const products[] = {"MatMul", "Gemm", NULL};
    if (!at_net_op_is(n, products)) return false;
    for (int k = 0; k < n->num_inputs; k++)
        if ((n->inputs[k] == v) != (k == 1)) return false;
    const at_net_value *y = &net->values.data[n->outputs[0]];
    return y->rank > 0 && y->elements <= MOST_ROWS * y->dims[y->rank - 1];
}

void at_net_keep_halves(at_net *net) {
    const at_int_list *readers = at_net_readers(net->arena, net);
    for (int v = 0; v < net->values.len; v++) {
        at_net_value *x = &net->values.data[v];
        bool keeps = is_half(x) && readers[v].len > 0;
        for (int i = 0; keeps && i < readers[v].len; i++)
            keeps = is_product_of_few(net, &net->nodes.data[readers[v].data[i]], v);
        if (keeps) x->element = x->type == AT_NET_FLOAT16 ? AT_F16 : AT_BF16;
    }
}
