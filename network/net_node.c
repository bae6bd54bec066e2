/* network/net_node.c: a node of a file, or of our making, by the row of its operator: sizes, text,
 * and what is known of its outputs at once. */
#include "network/graph.h"
#include "network/graph_int.h"

#include <string.h>

static at_status check_counts(net_op *o, const at_net_row *row) {
    const at_net_node *n = o->node;
    int given = 0;
    enum { MOST_TENSORS = 200 }; /* fewer than a computation may have */
    if (n->num_inputs > MOST_TENSORS || n->num_outputs > MOST_TENSORS)
        return op_missing(o, "more than %d inputs or outputs", MOST_TENSORS);
    for (int i = 0; i < n->num_inputs; i++)
        if (n->inputs[i] >= 0) given = i + 1;
    for (int i = 0; i < row->least_inputs; i++)
        if (!op_in(o, i))
            return op_fail(o, "input %d of at least %d is missing", i + 1, row->least_inputs);
    if (row->most_inputs >= 0 && given > row->most_inputs)
        return op_fail(o, "has %d inputs; at most %d are accepted", given, row->most_inputs);
    if (row->most_outputs >= 0 && n->num_outputs > row->most_outputs)
        return op_fail(o, "has %d outputs; at most %d are accepted", n->num_outputs,
                       row->most_outputs);
    return AT_OK;
}

static bool is_folded(const net_op *o) {
    for (int i = 0; i < o->node->num_inputs; i++)
        if (op_in(o, i) && !op_in(o, i)->is_constant) return false;
    return true;
}

/* Outputs without elements are known. */
static void fold_empty(net_op *o) {
    for (int i = 0; i < o->node->num_outputs; i++)
        o->out[i].is_constant |= !net_elements(o->out[i].rank, o->out[i].dims);
}

static bool all_known(const net_op *o) {
    for (int i = 0; i < o->node->num_outputs; i++)
        if (op_has_out(o, i) && !o->out[i].is_constant) return false;
    return true;
}

static at_status build(net_op *o, const at_net_row *row) {
    AT_TRY(check_counts(o, row));
    AT_TRY(row->build(o));
    fold_empty(o);
    if (all_known(o) || !is_folded(o)) return AT_OK;
    o->node->text = at_text_str(&o->text);
    return net_fold(o);
}

/* Has the text a stage of output k? */
static bool writes(const net_op *o, int k) {
    char name[16];
    snprintf(name, sizeof name, "y%d[", k);
    return strstr(at_text_str(&o->text), name) != NULL;
}

/* The values that it makes, and the node itself where one of them is not known yet. */
static at_status keep(net_builder *b, net_scope *s, const net_op *o, const net_raw_node *raw) {
    at_net *net = b->net;
    const bool known = all_known(o);
    int *outputs = AT_NEW_ARRAY(net->arena, int, o->node->num_outputs + 1);
    for (int i = 0; i < o->node->num_outputs; i++) {
        const net_out *out = &o->out[i];
        outputs[i] = -1;
        const bool is_named = *raw->outputs.data[i];
        if (!is_named && !writes(o, i)) continue;
        const char *name = is_named ? raw->outputs.data[i]
                                    : at_format(net->arena, "%s/output%d", o->node->name, i);
        outputs[i] = net_add_value(
            b,
            (at_net_value){.name = name,
                           .type = out->type,
                           .rank = out->rank,
                           .dims = out->dims,
                           .data = out->data,
                           .is_constant = out->is_constant,
                           .producer = known || out->is_constant ? -1 : net->nodes.len},
            false);
        if (is_named) AT_TRY(net_name_value(b, s, name, outputs[i]));
    }
    if (known && !strcmp(o->node->op, "DequantizeLinear") && outputs[0] >= 0)
        net->values.data[outputs[0]].dequantized = at_copy(net->arena, o->node, sizeof *o->node);
    if (known) return AT_OK;
    at_net_node node = *o->node;
    node.outputs = outputs;
    node.text = at_strdup(net->arena, at_text_str(&o->text));
    *at_push(net->arena, &net->nodes) = node;
    return AT_OK;
}

static const char *reason_of(const net_builder *b, const at_error *err, const char *op) {
    const char *behind = strstr(err->text, "): ");
    return behind ? at_format(b->arena, "%s: %s", op, behind + 3) : op;
}

at_status net_add_operator(net_builder *b, net_scope *s, const net_raw_node *n, int64_t version,
                           const at_net_row *row, const int *inputs) {
    at_net_node node = {.name = n->name,
                        .op = n->op,
                        .num_inputs = n->inputs.len,
                        .num_outputs = n->outputs.len,
                        .inputs = inputs,
                        .num_attributes = n->attributes.len,
                        .attributes = n->attributes.data,
                        .version = (int)version,
                        .row = row,
                        .kind = row->kind};
    int *outputs = AT_NEW_ARRAY(b->arena, int, n->outputs.len + 1);
    for (int i = 0; i < n->outputs.len; i++) outputs[i] = *n->outputs.data[i] ? 0 : -1;
    node.outputs = outputs;
    at_arena *scratch = at_arena_new();
    net_op o = {.arena = scratch, .net = b->net, .node = &node, .err = b->err};
    o.out = AT_NEW_ARRAY(scratch, net_out, n->outputs.len + 1);
    at_status status = build(&o, row);
    if (status == AT_OK) {
        status = keep(b, s, &o, n);
    } else if (o.is_missing) {
        net_note_missing(b, reason_of(b, b->err, n->op), n->name);
        status = net_add_unknown(b, s, n);
    }
    at_text_free(&o.text);
    at_arena_free(scratch);
    return status;
}

int at_net_work_out(at_net *net, const at_net_node *like, const int *inputs) {
    at_net_node n = *like;
    const int output = 0;
    at_error err;
    at_arena *scratch = at_arena_new();
    n.inputs = inputs, n.outputs = &output;
    net_out out = {0};
    net_op o = {.arena = scratch, .net = net, .node = &n, .out = &out, .err = &err};
    const bool known = n.num_outputs == 1 && build(&o, n.row) == AT_OK && out.is_constant;
    at_text_free(&o.text);
    at_arena_free(scratch);
    if (!known) return -1;
    *at_push(net->arena, &net->values) =
        (at_net_value){.name = n.name,
                       .type = out.type,
                       .rank = out.rank,
                       .dims = out.dims,
                       .elements = net_elements(out.rank, out.dims),
                       .data = out.data,
                       .producer = -1,
                       .is_constant = true};
    return net->values.len - 1;
}

bool at_net_write_node(at_net *net, at_net_node *n) {
    const at_net_row *row = net_row_find("", n->op, n->version);
    at_error err;
    if (!row) return false;
    at_arena *scratch = at_arena_new();
    net_op o = {.arena = scratch, .net = net, .node = n, .err = &err};
    o.out = AT_NEW_ARRAY(scratch, net_out, n->num_outputs + 1);
    const bool written = row->build(&o) == AT_OK;
    if (written) {
        n->row = row;
        n->kind = row->kind;
        n->text = at_strdup(net->arena, at_text_str(&o.text));
    }
    at_text_free(&o.text);
    at_arena_free(scratch);
    return written;
}

at_status net_add_made(net_builder *b, const char *op, const char *name, const int *inputs, int n,
                       const at_net_attribute *attributes, int num_attributes, int *out) {
    at_arena *a = b->net->arena;
    net_scope own = {.names = {.arena = b->arena}};
    net_raw_node node = {.name = name, .op = op, .domain = ""};
    const int64_t version = net_version_of(b, "");
    bool known = true;
    *at_push(a, &node.outputs) = name;
    for (int i = 0; i < n; i++) {
        *at_push(a, &node.inputs) = b->net->values.data[inputs[i]].name;
        known = known && !b->facts.data[inputs[i]].is_unknown;
    }
    for (int i = 0; i < num_attributes; i++) *at_push(a, &node.attributes) = attributes[i];
    AT_TRY(known ? net_add_operator(b, &own, &node, version, net_row_find("", op, version),
                                    at_copy(a, inputs, sizeof *inputs * (size_t)n))
                 : net_add_unknown(b, &own, &node));
    *out = net_find_value(&own, name);
    return AT_OK;
}
