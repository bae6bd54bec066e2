/* network/graph.c: the graph of a file as it was read: inputs get their sizes, nodes their rows,
 * sizes and texts, one behind the other; what is constant is worked out. What is missing is
 * collected, and told at once. */
#include "network/graph_int.h"

#include "network/graph.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_VERSION = 7, LAST_VERSION = 28 };

/* ---- what is missing ------------------------------------------------------------------------- */

static at_status tell_missing(const net_builder *b) {
    if (!b->missing.len) return AT_OK;
    at_text list = {0};
    for (int i = 0; i < b->missing.len; i++) {
        const net_missing *m = &b->missing.data[i];
        at_text_addf(&list, "%s%s (node \"%s\"", i ? "; " : "", m->what, m->node);
        if (m->count > 1) at_text_addf(&list, " and %d more", m->count - 1);
        at_text_add(&list, ")");
    }
    at_fail(b->err, AT_E_INPUT,
            "%s: needs what is not there yet: %s; --until NAMES returns values before it",
            b->net->path, at_text_str(&list));
    at_text_free(&list);
    return AT_E_INPUT;
}

/* ---- inputs and constants -------------------------------------------------------------------- */

/* An input whose value the user gives is a constant. */
static void set_value(net_builder *b, at_net_value *v, double number) {
    const int64_t n = net_elements(v->rank, v->dims);
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

static at_status add_input(net_builder *b, net_scope *s, const net_port *p) {
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
    const int number = net_add_value(b, v, false);
    if (v.is_input) *at_push(b->net->arena, &b->net->inputs) = number;
    return net_name_value(b, s, p->name, number);
}

static at_status add_inputs(net_builder *b, net_scope *s, const at_net_subgraph *g) {
    AT_VEC(const char *) names = {0};
    AT_TRY(net_bind_begin(b));
    for (int i = 0; i < g->inputs.len; i++) {
        const net_port *p = &g->inputs.data[i];
        if (net_names_find(&s->names, p->name) >= 0) continue; /* older files list constants */
        *at_push(b->arena, &names) = p->name;
        AT_TRY(add_input(b, s, p));
    }
    at_net_names of = {.inputs = names.data, .num_inputs = names.len};
    const char **outputs = AT_NEW_ARRAY(b->arena, const char *, g->outputs.len + 1);
    for (int i = 0; i < g->outputs.len; i++) outputs[i] = g->outputs.data[i].name;
    of.outputs = outputs, of.num_outputs = g->outputs.len;
    return net_bind_end(b, &of);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static at_status find_inputs(net_builder *b, const net_scope *s, const net_raw_node *n,
                             int **inputs, bool *known) {
    *inputs = AT_NEW_ARRAY(b->net->arena, int, n->inputs.len + 1);
    *known = true;
    for (int i = 0; i < n->inputs.len; i++) {
        const char *name = n->inputs.data[i];
        (*inputs)[i] = *name ? net_find_value(s, name) : -1;
        if (*name && (*inputs)[i] < 0)
            return at_fail(b->err, AT_E_INPUT,
                           "%s: node \"%s\" (%s) reads \"%s\", which is no input, no constant and "
                           "no output of a node",
                           b->net->path, n->name, n->op, name);
        if (*name && b->facts.data[(*inputs)[i]].is_unknown) *known = false;
    }
    return AT_OK;
}

static const net_structure *find_structure(const net_raw_node *n) {
    const net_structure *const tables[] = {net_subgraphs, net_sequences};
    for (size_t i = 0; i < sizeof tables / sizeof *tables && !*n->domain; i++)
        for (const net_structure *s = tables[i]; s->op; s++)
            if (!strcmp(s->op, n->op)) return s;
    return NULL;
}

static at_status add_structure(net_builder *b, net_scope *s, const net_raw_node *n,
                               const net_structure *how, const int *inputs) {
    const int num = n->inputs.len;
    if (num < how->least_inputs || (how->most_inputs >= 0 && num > how->most_inputs))
        return net_fail(b, n, at_format(b->arena, "has %d inputs", num));
    return how->add(b, s, n, inputs);
}

/* Tensors only: another name of a sequence is the sequence. */
static at_status add_of_sequence(net_builder *b, net_scope *s, const net_raw_node *n, int input) {
    if (!strcmp(n->op, "Identity")) return net_name_value(b, s, n->outputs.data[0], input);
    return net_fail(
        b, n,
        at_format(b->arena, "\"%s\" is a sequence, not a tensor", b->net->values.data[input].name));
}

static at_status add_node(net_builder *b, net_scope *s, const net_raw_node *n) {
    int *inputs;
    bool known, is_read = false;
    for (int i = 0; i < n->outputs.len; i++) is_read |= *n->outputs.data[i] != 0;
    if (!is_read) return AT_OK;
    AT_TRY(find_inputs(b, s, n, &inputs, &known));
    const int64_t version = net_version_of(b, n->domain);
    const net_structure *structure = version ? find_structure(n) : NULL;
    const at_net_row *row = net_row_find(n->domain, n->op, version);
    if (!row && !structure) {
        net_note_missing(b, *n->domain ? at_format(b->arena, "%s of %s", n->op, n->domain) : n->op,
                         n->name);
        return net_add_unknown(b, s, n);
    }
    if (!known) return net_add_unknown(b, s, n);
    if (structure) return add_structure(b, s, n, structure, inputs);
    for (int i = 0; i < n->inputs.len; i++)
        if (inputs[i] >= 0 && b->facts.data[inputs[i]].sequence)
            return add_of_sequence(b, s, n, inputs[i]);
    return net_add_operator(b, s, n, version, row, inputs);
}

static at_status add_nodes(net_builder *b, net_scope *s, const at_net_subgraph *g) {
    const int *order;
    int num;
    AT_TRY(net_order(b, g, &order, &num));
    for (int i = 0; i < num; i++) AT_TRY(add_node(b, s, &g->nodes.data[order[i]]));
    return AT_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static at_status check_versions(const net_builder *b) {
    const int64_t version = net_version_of(b, "");
    if (version >= FIRST_VERSION && version <= LAST_VERSION) return AT_OK;
    if (!version && b->model->imports.len) return AT_OK; /* nodes say what is missing */
    return at_fail(b->err, AT_E_INPUT,
                   "%s: is of version %lld of ONNX's operators; %d to %d are accepted",
                   b->net->path, (long long)version, FIRST_VERSION, LAST_VERSION);
}

/* An output that is an input, or another output, too, is copied: each output has its own name. */
static at_status find_outputs(net_builder *b, const net_scope *s) {
    const at_net_subgraph *g = b->model->graph;
    at_net *net = b->net;
    for (int i = 0; i < g->outputs.len; i++) {
        const char *name = g->outputs.data[i].name;
        int v = net_find_value(s, name);
        if (v < 0)
            return at_fail(b->err, AT_E_INPUT, "%s: nothing computes the output \"%s\"", net->path,
                           name);
        if (!net_is_tensor(b, v))
            return at_fail(b->err, AT_E_INPUT,
                           "%s: the output \"%s\" is a sequence; tensors of numbers are returned",
                           net->path, name);
        const at_net_value *found = &net->values.data[v];
        if ((found->is_output || found->is_input) && strcmp(found->name, name) != 0)
            AT_TRY(net_add_made(b, "Identity", name, &v, 1, NULL, 0, &v));
        net->values.data[v].name = name;
        net->values.data[v].is_output = true;
        *at_push(net->arena, &net->outputs) = v;
    }
    return AT_OK;
}

static at_status build_graph(net_builder *b) {
    net_scope top = {.names = {.arena = b->arena}};
    AT_TRY(check_versions(b));
    AT_TRY(net_bind_outputs(b, b->model->graph));
    AT_TRY(net_add_constants(b, &top, b->model->graph));
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
    net_builder b = {.arena = scratch,
                     .net = net,
                     .model = &model,
                     .options = o ? o : &none,
                     .err = err,
                     .add_nodes = add_nodes};
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

bool at_net_is_model(const char *path) { return at_ends_in(path, ".onnx"); }
