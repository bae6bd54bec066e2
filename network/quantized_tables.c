/* network/quantized_tables.c: what comes of one byte, element by element, with roundings to bytes
 * on the way, is one of 256 bytes: a table, worked out by the nodes' own rows. */
#include "network/quantized_int.h"

#include <string.h>

enum { BYTES = 256, MOST_VALUES = 64 };

typedef struct chain {
    const quantizer *q;
    int64_t elements;
    int source;              /* the byte of which all comes; -1: not found yet */
    int values[MOST_VALUES]; /* between the two */
    int num_values;
    int ends[MOST_VALUES]; /* bytes behind which it does not go back */
    int num_ends;
} chain;

static const at_net_value *value_at(const chain *c, int v) { return &c->q->net->values.data[v]; }

static const at_net_node *maker_of(const chain *c, int v) {
    const int by = value_at(c, v)->producer;
    return by < 0 ? NULL : &c->q->net->nodes.data[by];
}

/* -1: it is not there. */
static int place_in(const int *list, int n, int v) {
    for (int i = 0; i < n; i++)
        if (list[i] == v) return i;
    return -1;
}

static bool is_in(const int *list, int n, int v) { return place_in(list, n, v) >= 0; }

static bool goes_back(chain *c, int v);

/* Element by element, of constants that are single numbers and of what comes of the source. */
static bool is_step(chain *c, int v) {
    const at_net_node *n = maker_of(c, v);
    if (!n || !n->row || !n->text || n->num_outputs != 1) return false;
    if (n->kind != AT_NET_MAP || value_at(c, v)->elements != c->elements) return false;
    for (int k = 0; k < n->num_inputs; k++)
        if (n->inputs[k] >= 0 && !goes_back(c, n->inputs[k])) return false;
    if (c->num_values == MOST_VALUES) return false;
    c->values[c->num_values++] = v;
    return true;
}

static bool goes_back(chain *c, int v) {
    const at_net_value *x = value_at(c, v);
    if (x->is_constant) return x->elements == 1 && x->data;
    if (v == c->source || is_in(c->values, c->num_values, v)) return true;
    if (!net_is_byte(x)) return is_step(c, v);
    const chain before = *c;
    if (!is_in(c->ends, c->num_ends, v) && is_step(c, v)) return true;
    *c = before;
    if (c->source >= 0 || x->element == AT_F32 || x->elements != c->elements) return false;
    c->source = v;
    return true;
}

/* The byte whose number a value is; -1: the value is computed. */
static int byte_of(const chain *c, int v) {
    if (net_is_byte(value_at(c, v))) return v;
    return strcmp(maker_of(c, v)->op, "DequantizeLinear") ? -1 : maker_of(c, v)->inputs[0];
}

static bool is_read_elsewhere(const chain *c, const at_net_node *last, int v) {
    const at_int_list *readers = &c->q->readers[v];
    bool is_read = value_at(c, v)->is_output;
    for (int k = 0; k < readers->len; k++) {
        const at_net_node *n = &c->q->net->nodes.data[readers->data[k]];
        is_read |= n->outputs != last->outputs && !is_in(c->values, c->num_values, n->outputs[0]);
    }
    return is_read;
}

/* A value that others read as well, numbers of the source aside; -1: there is none. */
static int read_elsewhere(const chain *c, const at_net_node *last) {
    for (int i = 0; i < c->num_values; i++)
        if (byte_of(c, c->values[i]) != c->source && is_read_elsewhere(c, last, c->values[i]))
            return c->values[i];
    return -1;
}

/* The longest chain of which nobody else reads anything. */
static bool find_chain(chain *c, const at_net_node *last) {
    while (c->num_ends < MOST_VALUES) {
        c->source = -1, c->num_values = 0;
        if (!goes_back(c, last->inputs[0]) || c->source < 0) return false;
        const int read = read_elsewhere(c, last);
        if (read < 0) return true;
        c->ends[c->num_ends] = byte_of(c, read);
        if (c->ends[c->num_ends++] < 0) return false;
    }
    return false;
}

/* Looking up takes as long as two steps that compute. */
static bool is_worth_it(const chain *c) {
    int steps = 1;
    for (int i = 0; i < c->num_values; i++) steps += net_is_byte(value_at(c, c->values[i]));
    return steps > 2;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int add_all_bytes(quantizer *q, const at_net_value *like) {
    const int64_t dims[] = {BYTES};
    uint8_t *data = at_alloc(q->arena, BYTES);
    for (int i = 0; i < BYTES; i++) data[i] = (uint8_t)(like->type == AT_NET_INT8 ? i - 128 : i);
    return net_add_constant(q, "all bytes", like->type, AT_F32, 1, dims, data);
}

/* What the value is for each of all bytes; -1: it cannot be worked out. */
static int work_out(quantizer *q, const chain *c, int v, int bytes, int *worked) {
    int inputs[MOST_VALUES];
    if (value_at(c, v)->is_constant) return v;
    if (v == c->source) return bytes;
    int *made = &worked[place_in(c->values, c->num_values, v)];
    if (*made >= 0) return *made;
    const at_net_node n = *maker_of(c, v);
    if (n.num_inputs > MOST_VALUES) return -1;
    for (int k = 0; k < n.num_inputs; k++) {
        inputs[k] = n.inputs[k] < 0 ? -1 : work_out(q, c, n.inputs[k], bytes, worked);
        if (n.inputs[k] >= 0 && inputs[k] < 0) return -1;
    }
    return *made = at_net_work_out(q->net, &n, inputs);
}

static int add_table(quantizer *q, const chain *c, const at_net_node *last) {
    const int64_t dims[] = {BYTES};
    int worked[MOST_VALUES], inputs[3] = {-1, -1, -1};
    const at_net_node n = *last;
    memset(worked, -1, sizeof worked);
    inputs[0] = work_out(q, c, n.inputs[0], add_all_bytes(q, value_at(c, c->source)), worked);
    for (int k = 1; k < n.num_inputs && k < 3; k++) inputs[k] = n.inputs[k];
    const int made = inputs[0] < 0 ? -1 : at_net_work_out(q->net, &n, inputs);
    if (made < 0 || value_at(c, made)->elements != BYTES) return -1;
    int32_t *table = AT_NEW_ARRAY(q->arena, int32_t, BYTES);
    const at_net_value *y = value_at(c, made);
    for (int i = 0; i < BYTES; i++) table[i] = (int32_t)at_net_element_int(y->type, y->data, i);
    const char *name = at_format(q->arena, "%s_table", value_at(c, n.outputs[0])->name);
    return net_add_constant(q, name, AT_NET_INT32, AT_S32, 1, dims, table);
}

bool net_add_table(quantizer *q, const at_net_node *n) {
    const at_net_value *y = &q->net->values.data[n->outputs[0]];
    chain c = {.q = q, .elements = y->elements};
    if (y->elements < BYTES || !find_chain(&c, n) || !is_worth_it(&c)) return false;
    const int table = add_table(q, &c, n), inputs[] = {c.source, table};
    if (table < 0) return false;
    y = value_at(&c, n->outputs[0]);
    at_text t = {0};
    at_text_add(&t, "i[");
    net_add_dims(&t, y, net_matrix_axes);
    at_text_add(&t, "] : s32 = x0[");
    net_add_names(&t, y->rank, net_matrix_axes);
    at_text_add(&t, value_at(&c, c.source)->type == AT_NET_INT8 ? "] + 128\ny0[" : "]\ny0[");
    net_add_dims(&t, y, net_matrix_axes);
    at_text_add(&t, "] = x1[i[");
    net_add_names(&t, y->rank, net_matrix_axes);
    at_text_add(&t, "]]\n");
    net_add_node(q, n, "Table", AT_NET_OTHER, inputs, 2, n->outputs[0], &t);
    return true;
}
