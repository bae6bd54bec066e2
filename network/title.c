/* network/title.c: what a part is, in words: "conv3x3 64 to 64 at 56, bias, add, relu". */
#include <ctype.h>
#include <string.h>

#include "network/graph.h"

static void add_sizes(at_text *out, const at_net_value *v, int from) {
    bool square = v->rank - from == 2 && v->dims[from] == v->dims[from + 1];
    for (int i = from; i < v->rank && !(square && i > from); i++)
        at_text_addf(out, "%s%lld", i > from ? "x" : "", (long long)v->dims[i]);
}

static void add_kernel(at_text *out, const at_net_node *n, const at_net_value *w) {
    const at_net_attribute *kernel = at_net_attribute_find(n, "kernel_shape", AT_NET_ATTR_INTS);
    for (int i = 0; kernel && i < kernel->num; i++)
        at_text_addf(out, "%s%lld", i ? "x" : "", (long long)kernel->ints[i]);
    for (int i = 2; !kernel && w && i < w->rank; i++)
        at_text_addf(out, "%s%lld", i > 2 ? "x" : "", (long long)w->dims[i]);
}

static void add_stride(at_text *out, const at_net_node *n) {
    const at_net_attribute *strides = at_net_attribute_find(n, "strides", AT_NET_ATTR_INTS);
    if (strides && strides->num && strides->ints[0] > 1)
        at_text_addf(out, " stride %lld", (long long)strides->ints[0]);
}

static void add_convolution(at_text *out, const at_net *net, const at_net_node *n) {
    const at_net_value *x = &net->values.data[n->inputs[0]], *w = &net->values.data[n->inputs[1]];
    const at_net_value *y = &net->values.data[n->outputs[0]];
    const int64_t groups = at_net_int(n, "group", 1);
    bool depthwise = groups > 1 && groups == x->dims[1];
    if (w->element != AT_F32) at_text_add(out, "int8 ");
    at_text_add(out, depthwise ? "depthwise" : !strcmp(n->op, "Conv") ? "conv" : "deconv");
    add_kernel(out, n, w);
    if (depthwise) at_text_addf(out, " %lld", (long long)y->dims[1]);
    else at_text_addf(out, " %lld to %lld", (long long)x->dims[1], (long long)y->dims[1]);
    if (groups > 1 && !depthwise) at_text_addf(out, " in %lld", (long long)groups);
    at_text_add(out, " at ");
    add_sizes(out, y, 2);
    add_stride(out, n);
    if (n->num_inputs > 2 && n->inputs[2] >= 0) at_text_add(out, ", bias");
}

static void add_product(at_text *out, const at_net *net, const at_net_node *n) {
    const at_net_value *x = &net->values.data[n->inputs[0]];
    const at_net_value *y = &net->values.data[n->outputs[0]];
    int64_t k = x->rank ? x->dims[x->rank - 1 - (at_net_int(n, "transA", 0) != 0)] : 1;
    if (x->element != AT_F32) at_text_add(out, "int8 ");
    at_text_addf(out, "product %lld to %lld", (long long)k,
                 (long long)(y->rank ? y->dims[y->rank - 1] : 1));
    if (y->rank < 2) return;
    at_text_addf(out, " of %lld", (long long)y->dims[y->rank - 2]);
    int64_t batch = y->elements / (y->dims[y->rank - 1] * y->dims[y->rank - 2]);
    if (batch > 1) at_text_addf(out, ", %lld times", (long long)batch);
    if (!strcmp(n->op, "Gemm") && n->num_inputs > 2 && n->inputs[2] >= 0)
        at_text_add(out, ", bias");
}

static void add_word(at_text *out, const char *op) {
    for (const char *p = op; *p; p++) {
        if (p > op && isupper((unsigned char)*p) && islower((unsigned char)p[-1]))
            at_text_add(out, " ");
        at_text_addf(out, "%c", tolower((unsigned char)*p));
    }
}

static void add_head(at_text *out, const at_net *net, const at_net_node *n) {
    static const char *const products[] = {"MatMul", "Gemm", "FusedMatMul", NULL};
    static const char *const convolutions[] = {"Conv", "ConvTranspose", NULL};
    if (at_net_op_is(n, convolutions)) add_convolution(out, net, n);
    else if (at_net_op_is(n, products)) add_product(out, net, n);
    else {
        const at_net_value *y = &net->values.data[at_net_first_output(n)];
        add_word(out, n->op);
        if (at_net_attribute_find(n, "kernel_shape", AT_NET_ATTR_INTS)) add_kernel(out, n, NULL);
        at_text_add(out, " ");
        if (y->rank == 4) at_text_addf(out, "%lld at ", (long long)y->dims[1]);
        add_sizes(out, y, y->rank == 4 ? 2 : 0);
        add_stride(out, n);
    }
}

/* The node that says most: a sum, then what has several stages. */
static int head_of(const at_net *net, const int *nodes, int n) {
    static const at_net_kind first[] = {AT_NET_SUM, AT_NET_SCAN, AT_NET_OTHER, AT_NET_MAP};
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        for (int i = 0; i < n; i++)
            if (net->nodes.data[nodes[i]].kind == first[k]) return i;
    return n - 1;
}

enum { MOST_WORDS = 6 };

const char *at_net_part_title(at_arena *a, const at_net *net, const int *nodes, int n) {
    at_text out = {0};
    int head = head_of(net, nodes, n), words = 0;
    add_head(&out, net, &net->nodes.data[nodes[head]]);
    for (int i = 0; i < n; i++) {
        const at_net_node *x = &net->nodes.data[nodes[i]];
        if (i == head || x->kind == AT_NET_MOVE) continue;
        if (++words > MOST_WORDS) continue;
        at_text_add(&out, ", ");
        if (!strcmp(x->op, "Conv") || at_net_attribute_find(x, "kernel_shape", AT_NET_ATTR_INTS))
            add_head(&out, net, x);
        else add_word(&out, x->op);
    }
    if (words > MOST_WORDS) at_text_addf(&out, " and %d more", words - MOST_WORDS);
    return at_text_take(a, &out);
}

/* The same parts have the same name in every model; the hash tells those of one title apart. */
const char *at_net_part_name(at_arena *a, const char *title, const char *text) {
    enum { MOST_CHARACTERS = 60 };
    at_hash h;
    char hex[33];
    at_text out = {0};
    at_hash_init(&h);
    at_hash_add_str(&h, text);
    at_hash_hex(&h, hex);
    for (const char *p = title; *p && out.len < MOST_CHARACTERS; p++) {
        if (*p == ',' || (*p == ' ' && p[-1] == ',')) {
            if (*p == ',') at_text_add(&out, "-");
        } else at_text_addf(&out, "%c", *p == ' ' ? '_' : *p);
    }
    at_text_addf(&out, ".%.6s", hex);
    return at_text_take(a, &out);
}
