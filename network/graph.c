/* network/graph.c: the graph of a file as it was read: inputs get their sizes, nodes their rows,
 * sizes and texts, one behind the other; what is constant is worked out; an If whose condition is
 * known is its branch. What is missing is collected, and told at once. */
#include "network/graph_int.h"

#include "network/graph.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_VERSION = 7, LAST_VERSION = 28, MOST_DEPTH = 16 };

typedef struct scope {
    net_names names;
    const struct scope *outer;
} scope;

static int find_value(const scope *s, const char *name) {
    for (; s; s = s->outer) {
        const int v = net_names_find(&s->names, name);
        if (v >= 0) return v;
    }
    return -1;
}

static int64_t elements(int rank, const int64_t *dims) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dims[i];
    return n;
}

static int add_value(net_builder *b, at_net_value v, bool is_unknown) {
    at_net *net = b->net;
    v.elements = elements(v.rank, v.dims);
    *at_push(net->arena, &net->values) = v;
    while (b->unknown.len < net->values.len) *at_push(b->arena, &b->unknown) = false;
    b->unknown.data[net->values.len - 1] = is_unknown;
    return net->values.len - 1;
}

static at_status name_value(net_builder *b, scope *s, const char *name, int value) {
    if (!*name || net_names_add(&s->names, name, value)) return AT_OK;
    return at_fail(b->err, AT_E_INPUT, "%s: there are two values \"%s\"", b->net->path, name);
}

/* ---- what is missing ------------------------------------------------------------------------- */

static void note_missing(net_builder *b, const char *what, const char *node) {
    for (int i = 0; i < b->missing.len; i++)
        if (!strcmp(b->missing.data[i].what, what)) {
            b->missing.data[i].count++;
            return;
        }
    *at_push(b->arena, &b->missing) = (net_missing){what, node, 1};
}

static at_status tell_missing(const net_builder *b) {
    if (!b->missing.len) return AT_OK;
    at_text list = {0};
    for (int i = 0; i < b->missing.len; i++) {
        const net_missing *m = &b->missing.data[i];
        at_text_addf(&list, "%s%s (node \"%s\"", i ? "; " : "", m->what, m->node);
        if (m->count > 1) at_text_addf(&list, " and %d more", m->count - 1);
        at_text_add(&list, ")");
    }
    at_fail(b->err, AT_E_INPUT, "%s: needs what is not there yet: %s", b->net->path,
            at_text_str(&list));
    at_text_free(&list);
    return AT_E_INPUT;
}

/* ---- inputs and constants -------------------------------------------------------------------- */

static at_status add_constants(net_builder *b, scope *s, const at_net_subgraph *g) {
    if (g->has_sparse)
        return at_fail(b->err, AT_E_INPUT, "%s: constants in sparse form are not read",
                       b->net->path);
    for (int i = 0; i < g->constants.len; i++) {
        const at_net_tensor *t = &g->constants.data[i];
        const at_net_value v = {.name = t->name,
                                .type = t->type,
                                .rank = t->rank,
                                .dims = t->dims,
                                .data = t->data,
                                .producer = -1,
                                .is_constant = true};
        const bool is_text = t->type == AT_NET_STRING;
        if (is_text) note_missing(b, "a constant of strings", t->name);
        AT_TRY(name_value(b, s, t->name, add_value(b, v, is_text)));
    }
    return AT_OK;
}

/* An input whose value the user gives is a constant. */
static void set_value(net_builder *b, at_net_value *v, double number) {
    const int64_t n = elements(v->rank, v->dims);
    char *data = at_alloc(b->net->arena, (size_t)n * (size_t)at_net_type_bytes(v->type));
    for (int64_t i = 0; i < n; i++) at_net_store(v->type, data, i, number);
    v->data = data;
    v->is_constant = true;
}

static at_status check_sizes(const net_builder *b, const net_port *p, int rank,
                             const int64_t *dims) {
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        if (!at_mul64(n, dims[i] < 0 ? 1 : dims[i], &n) || n > AT_NET_MAX_ELEMENTS)
            return at_fail(b->err, AT_E_INPUT, "%s: the input \"%s\" has more than 2^32 elements",
                           b->net->path, p->name);
    return AT_OK;
}

static at_status add_input(net_builder *b, scope *s, const net_port *p) {
    int64_t dims[AT_NET_MAX_RANK] = {0};
    int rank;
    if (p->other || !at_net_type_bytes(p->type))
        return at_fail(b->err, AT_E_INPUT,
                       "%s: the input \"%s\" is %s; tensors of numbers are read", b->net->path,
                       p->name,
                       p->other                   ? p->other
                       : p->type == AT_NET_STRING ? "of strings"
                                                  : "of an unknown element type");
    AT_TRY(net_bind_shape(b, p, &rank, dims));
    AT_TRY(check_sizes(b, p, rank, dims));
    at_net_value v = {.name = p->name,
                      .type = p->type,
                      .rank = rank,
                      .dims = at_copy(b->net->arena, dims, sizeof *dims * (size_t)rank),
                      .producer = -1};
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0) return AT_OK; /* told when all are known */
    const net_pair *value = net_bind_value(b, p->name);
    bool is_constant;
    const at_net_tensor *array = net_bind_array(b, p->name, &is_constant);
    if (array && is_constant && array->type != p->type)
        return at_fail(b->err, AT_E_INPUT, "%s: \"%s\" is of %s, not of %s", b->net->path, p->name,
                       at_net_type_name(p->type), at_net_type_name(array->type));
    if (value) {
        set_value(b, &v, value->number);
    } else if (array && is_constant) {
        v.data = at_copy(b->net->arena, array->data,
                         (size_t)array->elements * (size_t)at_net_type_bytes(array->type));
        v.is_constant = true;
    }
    v.is_input = !v.is_constant;
    const int number = add_value(b, v, false);
    if (v.is_input) *at_push(b->net->arena, &b->net->inputs) = number;
    return name_value(b, s, p->name, number);
}

static at_status add_inputs(net_builder *b, scope *s, const at_net_subgraph *g) {
    AT_VEC(const char *) names = {0};
    AT_TRY(net_bind_begin(b));
    for (int i = 0; i < g->inputs.len; i++) {
        const net_port *p = &g->inputs.data[i];
        if (net_names_find(&s->names, p->name) >= 0) continue; /* older files list constants */
        *at_push(b->arena, &names) = p->name;
        AT_TRY(add_input(b, s, p));
    }
    return net_bind_end(b, names.data, names.len);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static at_status add_nodes(net_builder *b, scope *s, const at_net_subgraph *g);

static int64_t version_of(const net_builder *b, const char *domain) {
    for (int i = 0; i < b->model->imports.len; i++)
        if (!strcmp(b->model->imports.data[i].domain, domain))
            return b->model->imports.data[i].version;
    return 0;
}

static at_status add_unknown(net_builder *b, scope *s, const net_raw_node *n) {
    for (int i = 0; i < n->outputs.len; i++)
        AT_TRY(name_value(
            b, s, n->outputs.data[i],
            add_value(b, (at_net_value){.name = n->outputs.data[i], .producer = -1}, true)));
    return AT_OK;
}

static at_status find_inputs(net_builder *b, const scope *s, const net_raw_node *n, int **inputs,
                             bool *known) {
    *inputs = AT_NEW_ARRAY(b->net->arena, int, n->inputs.len + 1);
    *known = true;
    for (int i = 0; i < n->inputs.len; i++) {
        const char *name = n->inputs.data[i];
        (*inputs)[i] = *name ? find_value(s, name) : -1;
        if (*name && (*inputs)[i] < 0)
            return at_fail(b->err, AT_E_INPUT,
                           "%s: node \"%s\" (%s) reads \"%s\", which is no input, no constant and "
                           "no output of a node",
                           b->net->path, n->name, n->op, name);
        if (*name && b->unknown.data[(*inputs)[i]]) *known = false;
    }
    return AT_OK;
}

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
        o->out[i].is_constant |= !elements(o->out[i].rank, o->out[i].dims);
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
static at_status keep(net_builder *b, scope *s, const net_op *o, const net_raw_node *raw) {
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
        outputs[i] =
            add_value(b,
                      (at_net_value){.name = name,
                                     .type = out->type,
                                     .rank = out->rank,
                                     .dims = out->dims,
                                     .data = out->data,
                                     .is_constant = out->is_constant,
                                     .producer = known || out->is_constant ? -1 : net->nodes.len},
                      false);
        if (is_named) AT_TRY(name_value(b, s, name, outputs[i]));
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

static at_status add_operator(net_builder *b, scope *s, const net_raw_node *n, int64_t version,
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
        note_missing(b, reason_of(b, b->err, n->op), n->name);
        status = add_unknown(b, s, n);
    }
    at_text_free(&o.text);
    at_arena_free(scratch);
    return status;
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

/* A branch in place of its If: what it gives has the names of the If's outputs. */
static at_status add_if(net_builder *b, scope *s, const net_raw_node *n, int condition) {
    const at_net_value *v = &b->net->values.data[condition];
    if (!v->is_constant || v->elements != 1) {
        note_missing(b,
                     at_format(b->arena,
                               "If: its condition \"%s\" depends on data, unless --set says what "
                               "its inputs are",
                               v->name),
                     n->name);
        return add_unknown(b, s, n);
    }
    const char *wanted = at_net_element_int(v->type, v->data, 0) ? "then_branch" : "else_branch";
    const at_net_subgraph *g = NULL;
    for (int i = 0; i < n->attributes.len; i++)
        if (!strcmp(n->attributes.data[i].name, wanted)) g = n->attributes.data[i].graph;
    if (!g || g->outputs.len != n->outputs.len || b->depth == MOST_DEPTH)
        return at_fail(b->err, AT_E_INPUT, "%s: node \"%s\" (If): %s is missing or does not fit",
                       b->net->path, n->name, wanted);
    scope inner = {.names = {.arena = b->arena}, .outer = s};
    b->depth++;
    AT_TRY(add_constants(b, &inner, g));
    AT_TRY(add_nodes(b, &inner, g));
    b->depth--;
    for (int i = 0; i < g->outputs.len; i++) {
        const int value = find_value(&inner, g->outputs.data[i].name);
        if (value < 0)
            return at_fail(b->err, AT_E_INPUT, "%s: node \"%s\" (If): \"%s\" is not computed",
                           b->net->path, n->name, g->outputs.data[i].name);
        AT_TRY(name_value(b, s, n->outputs.data[i], value));
    }
    return AT_OK;
}

static at_status add_node(net_builder *b, scope *s, const net_raw_node *n) {
    int *inputs;
    bool known, is_read = false;
    for (int i = 0; i < n->outputs.len; i++) is_read |= *n->outputs.data[i] != 0;
    if (!is_read) return AT_OK;
    AT_TRY(find_inputs(b, s, n, &inputs, &known));
    const bool is_if = !strcmp(n->op, "If") && !*n->domain && n->inputs.len == 1;
    const int64_t version = version_of(b, n->domain);
    const at_net_row *row = net_row_find(n->domain, n->op, version);
    if (!row && !is_if) {
        note_missing(b, *n->domain ? at_format(b->arena, "%s of %s", n->op, n->domain) : n->op,
                     n->name);
        return add_unknown(b, s, n);
    }
    if (!known) return add_unknown(b, s, n);
    if (is_if && inputs[0] >= 0) return add_if(b, s, n, inputs[0]);
    return add_operator(b, s, n, version, row, inputs);
}

static at_status add_nodes(net_builder *b, scope *s, const at_net_subgraph *g) {
    const int *order;
    AT_TRY(net_order(b, g, &order));
    for (int i = 0; i < g->nodes.len; i++) AT_TRY(add_node(b, s, &g->nodes.data[order[i]]));
    return AT_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static at_status check_versions(const net_builder *b) {
    const int64_t version = version_of(b, "");
    if (version >= FIRST_VERSION && version <= LAST_VERSION) return AT_OK;
    if (!version && b->model->imports.len) return AT_OK; /* nodes say what is missing */
    return at_fail(b->err, AT_E_INPUT,
                   "%s: is of version %lld of ONNX's operators; %d to %d are accepted",
                   b->net->path, (long long)version, FIRST_VERSION, LAST_VERSION);
}

static at_status find_outputs(net_builder *b, const scope *s) {
    const at_net_subgraph *g = b->model->graph;
    at_net *net = b->net;
    for (int i = 0; i < g->outputs.len; i++) {
        const char *name = g->outputs.data[i].name;
        const int v = find_value(s, name);
        if (v < 0)
            return at_fail(b->err, AT_E_INPUT, "%s: nothing computes the output \"%s\"", net->path,
                           name);
        if (net->values.data[v].is_output || net->values.data[v].is_input) continue;
        net->values.data[v].name = name;
    }
    for (int i = 0; i < g->outputs.len; i++) {
        const int v = find_value(s, g->outputs.data[i].name);
        net->values.data[v].is_output = true;
        *at_push(net->arena, &net->outputs) = v;
    }
    return AT_OK;
}

static at_status build_graph(net_builder *b) {
    scope top = {.names = {.arena = b->arena}};
    AT_TRY(check_versions(b));
    AT_TRY(add_constants(b, &top, b->model->graph));
    AT_TRY(add_inputs(b, &top, b->model->graph));
    AT_TRY(add_nodes(b, &top, b->model->graph));
    AT_TRY(tell_missing(b));
    return find_outputs(b, &top);
}

typedef struct at_net_file {
    const void *bytes;
    size_t size;
    net_external *external;
} at_net_file;

static at_status parse(at_net *net, const void *bytes, size_t size, const at_net_options *o,
                       at_error *err) {
    static const at_net_options none;
    static const int64_t usual_room = 1LL << 31;
    net_model model;
    const wire w = {bytes, (const uint8_t *)bytes + size};
    AT_TRY(net_read_model(net->arena, net->path, w, net->file->external, &model, err));
    net->room_bytes = o && o->room_bytes ? o->room_bytes : usual_room;
    at_arena *scratch = at_arena_new();
    net_builder b = {
        .arena = scratch, .net = net, .model = &model, .options = o ? o : &none, .err = err};
    const at_status status = build_graph(&b);
    at_arena_free(scratch);
    return status;
}

static at_net *new_net(const char *path) {
    at_arena *a = at_arena_new();
    at_net *net = AT_NEW(a, at_net);
    net->arena = a;
    net->path = at_strdup(a, path ? path : "the model");
    net->file = AT_NEW(a, at_net_file);
    net->file->external = net_external_new(a, path ? net->path : NULL);
    return net;
}

at_status at_net_parse(const void *bytes, size_t size, const char *path, const at_net_options *o,
                       at_net **out, at_error *err) {
    at_net *net = new_net(path);
    const at_status status = parse(net, bytes, size, o, err);
    if (status != AT_OK) at_net_close(net);
    *out = status == AT_OK ? net : NULL;
    return status;
}

at_status at_net_open(const char *path, const at_net_options *o, at_net **out, at_error *err) {
    const void *bytes;
    size_t size;
    AT_TRY(net_map_file(path, &bytes, &size, err));
    const at_status status = at_net_parse(bytes, size, path, o, out, err);
    if (status != AT_OK) {
        net_unmap(bytes, size);
    } else {
        (*out)->file->bytes = bytes;
        (*out)->file->size = size;
    }
    return status;
}

void at_net_close(at_net *n) {
    if (!n) return;
    net_external_close(n->file->external);
    net_unmap(n->file->bytes, n->file->size);
    at_arena_free(n->arena);
}

const char *at_net_file_at(const at_net *n, int i) {
    return i ? net_external_path(n->file->external, i - 1) : n->path;
}

bool at_net_is_model(const char *path) {
    const size_t n = strlen(path);
    return n > 5 && !strcmp(path + n - 5, ".onnx");
}
