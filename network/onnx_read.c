/* network/onnx_read.c: an ONNX file as it is: nodes, constants, inputs, outputs. Texts and small
 * numbers are copied, elements of constants stay where they are. The numbers of fields are those of
 * ONNX's onnx.proto. */
#include "network/network_int.h"

#include <string.h>

enum {
    MOST_DEPTH = 16,      /* of graphs in attributes */
    MOST_ITEMS = 1 << 20, /* nodes, constants, attributes, names: together */
    MOST_TEXT = 1 << 16
};

typedef struct reader {
    at_arena *arena;
    const char *path;
    net_external *external;
    at_error *err;
    int depth, items;
    bool broken; /* bytes that are no fields */
} reader;

static at_status fail(const reader *r, const char *what) {
    return at_fail(r->err, AT_E_INPUT, "%s: %s", r->path, what);
}

/* After the fields of something: were they whole? */
static at_status whole(const reader *r, const char *what) {
    if (!r->broken) return AT_OK;
    return at_fail(r->err, AT_E_INPUT, "%s is no ONNX file, or was cut off: %s is not whole",
                   r->path, what);
}

static at_status count(reader *r) {
    if (++r->items <= MOST_ITEMS) return AT_OK;
    return at_fail(r->err, AT_E_INPUT, "%s: more than %d nodes, constants and attributes", r->path,
                   MOST_ITEMS);
}

static at_status take_text(reader *r, const wire_field *f, const char **out) {
    const size_t n = (size_t)(f->bytes.end - f->bytes.at);
    if (f->kind != WIRE_BYTES) r->broken = true;
    if (n > MOST_TEXT) return fail(r, "has a name of more than 65536 characters");
    AT_TRY(count(r));
    *out = f->kind == WIRE_BYTES ? at_strndup(r->arena, (const char *)f->bytes.at, n) : "";
    return AT_OK;
}

/* A message's fields, or none, where it is something else. */
static wire message(reader *r, const wire_field *f) {
    if (f->kind != WIRE_BYTES) r->broken = true;
    return f->bytes;
}

/* Numbers of a repeated field, packed or alone. */
typedef AT_VEC(int64_t) number_list;
static at_status take_numbers(reader *r, const wire_field *f, number_list *out) {
    uint64_t x;
    if (f->kind == WIRE_VARINT) {
        AT_TRY(count(r));
        *at_push(r->arena, out) = (int64_t)f->value;
        return AT_OK;
    }
    wire rest = message(r, f);
    while (!r->broken && rest.at < rest.end) {
        if (wire_varint(&rest, &x)) *at_push(r->arena, out) = (int64_t)x;
        else r->broken = true;
    }
    return AT_OK;
}

/* ---- constants ------------------------------------------------------------------------------- */

typedef struct raw_tensor {
    int64_t type;
    number_list dims;
    const char *name;
    wire raw;      /* raw_data, or packed float_data, double_data */
    int raw_bytes; /* an element of it; 0: as the type has it */
    bool has_raw;
    number_list whole;    /* int32_data, int64_data, uint64_data */
    AT_VEC(float) floats; /* float_data, element by element */
    bool is_external, has_strings;
    const char *location, *offset, *length;
} raw_tensor;

static at_status read_external(reader *r, wire w, raw_tensor *t) {
    wire_field f;
    const char *key = "", *value = "";
    while (wire_next(&w, &f, &r->broken)) {
        if (f.number == 1) AT_TRY(take_text(r, &f, &key));
        if (f.number == 2) AT_TRY(take_text(r, &f, &value));
    }
    if (!strcmp(key, "location")) t->location = value;
    if (!strcmp(key, "offset")) t->offset = value;
    if (!strcmp(key, "length")) t->length = value;
    return AT_OK;
}

static at_status read_packed(reader *r, const wire_field *f, int bytes, raw_tensor *t) {
    if (f->kind == WIRE_FIXED32 && bytes == 4) {
        AT_TRY(count(r));
        *at_push(r->arena, &t->floats) = wire_float(f->value);
        return AT_OK;
    }
    if (f->kind != WIRE_BYTES) return fail(r, "has a constant in a form that is not read");
    t->raw = f->bytes;
    t->raw_bytes = bytes;
    t->has_raw = true;
    return AT_OK;
}

static at_status read_tensor_fields(reader *r, wire w, raw_tensor *t) {
    wire_field f;
    while (wire_next(&w, &f, &r->broken)) {
        switch (f.number) {
        case 1: AT_TRY(take_numbers(r, &f, &t->dims)); break;
        case 2: t->type = (int64_t)f.value; break;
        case 4: AT_TRY(read_packed(r, &f, 4, t)); break;
        case 5:
        case 7:
        case 11: AT_TRY(take_numbers(r, &f, &t->whole)); break;
        case 6: t->has_strings = true; break;
        case 8: AT_TRY(take_text(r, &f, &t->name)); break;
        case 9: AT_TRY(read_packed(r, &f, 0, t)); break;
        case 10: AT_TRY(read_packed(r, &f, 8, t)); break;
        case 13: AT_TRY(read_external(r, message(r, &f), t)); break;
        case 14: t->is_external = f.value == 1; break;
        default: break;
        }
    }
    return whole(r, "a constant");
}

static at_status dims_of(const reader *r, const char *name, const number_list *dims,
                         at_net_tensor *t) {
    int64_t n = 1;
    if (dims->len > AT_NET_MAX_RANK)
        return at_fail(r->err, AT_E_INPUT, "%s: \"%s\" has %d dimensions; at most %d are accepted",
                       r->path, name, dims->len, AT_NET_MAX_RANK);
    for (int i = 0; i < dims->len; i++)
        if (dims->data[i] < 0 || !at_mul64(n, dims->data[i], &n) || n > AT_NET_MAX_ELEMENTS)
            return at_fail(r->err, AT_E_INPUT,
                           "%s: \"%s\": a size of %lld; sizes from 0 and at most 2^32 elements are "
                           "accepted",
                           r->path, name, (long long)dims->data[i]);
    t->rank = dims->len;
    t->dims = dims->data;
    t->elements = n;
    return AT_OK;
}

/* Numbers of int32_data and its like as they lie in memory. */
static const void *stored_numbers(const reader *r, const raw_tensor *t, int bytes) {
    char *data = at_alloc(r->arena, (size_t)t->whole.len * (size_t)bytes);
    for (int i = 0; i < t->whole.len; i++)
        memcpy(data + (size_t)i * (size_t)bytes, &t->whole.data[i], (size_t)bytes);
    return data;
}

static int64_t parse_number(const char *s) {
    int64_t x = 0;
    if (!s || !*s) return -2;
    for (; *s; s++)
        if (*s < '0' || *s > '9' || !at_mul64(x, 10, &x) || __builtin_add_overflow(x, *s - '0', &x))
            return -2;
    return x;
}

static at_status find_data(const reader *r, const raw_tensor *t, int bytes, at_net_tensor *out) {
    int64_t have = 0;
    if (t->is_external) {
        const int64_t offset = t->offset ? parse_number(t->offset) : 0;
        const int64_t length = t->length ? parse_number(t->length) : out->elements * bytes;
        AT_TRY(net_external_data(r->external, out->name, t->location, offset, length, &out->data,
                                 &have, r->err));
    } else if (t->has_raw) {
        if (t->raw_bytes && t->raw_bytes != bytes) return fail(r, "a constant of another type");
        out->data = t->raw.at;
        have = t->raw.end - t->raw.at;
    } else if (t->floats.len && bytes == (int)sizeof(float)) {
        out->data = t->floats.data;
        have = (int64_t)t->floats.len * bytes;
    } else if (t->whole.len) {
        out->data = stored_numbers(r, t, bytes);
        have = (int64_t)t->whole.len * bytes;
    }
    if (have == out->elements * bytes) return AT_OK;
    return at_fail(r->err, AT_E_INPUT,
                   "%s: \"%s\" has %lld elements of %d byte%s by its sizes, and %lld bytes of data",
                   r->path, out->name, (long long)out->elements, bytes, at_plural(bytes),
                   (long long)have);
}

static at_status read_tensor(reader *r, wire w, at_net_tensor *out) {
    raw_tensor t = {.name = ""};
    AT_TRY(count(r));
    AT_TRY(read_tensor_fields(r, w, &t));
    *out = (at_net_tensor){.name = t.name, .type = (at_net_type)t.type};
    AT_TRY(dims_of(r, t.name, &t.dims, out));
    const int bytes = t.type > 0 && t.type < 64 ? at_net_type_bytes(out->type) : 0;
    if (t.has_strings || out->type == AT_NET_STRING) return out->type = AT_NET_STRING, AT_OK;
    if (!bytes)
        return at_fail(r->err, AT_E_INPUT, "%s: \"%s\" is of element type %lld, which is not there",
                       r->path, t.name, (long long)t.type);
    return find_data(r, &t, bytes, out);
}

/* ---- types of inputs and outputs ------------------------------------------------------------- */

static at_status read_dim(reader *r, wire w, net_dim *out) {
    wire_field f;
    *out = (net_dim){.value = -1};
    while (wire_next(&w, &f, &r->broken)) {
        if (f.number == 1) out->value = (int64_t)f.value;
        if (f.number == 2) AT_TRY(take_text(r, &f, &out->name));
    }
    if (out->name && !*out->name) out->name = NULL;
    return AT_OK;
}

static at_status read_shape(reader *r, wire w, net_port *out) {
    wire_field f;
    AT_VEC(net_dim) dims = {0};
    while (wire_next(&w, &f, &r->broken)) {
        if (f.number != 1) continue;
        AT_TRY(count(r));
        AT_TRY(read_dim(r, message(r, &f), at_push(r->arena, &dims)));
    }
    if (dims.len > AT_NET_MAX_RANK)
        return at_fail(r->err, AT_E_INPUT, "%s: \"%s\" has %d dimensions; at most %d are accepted",
                       r->path, out->name, dims.len, AT_NET_MAX_RANK);
    out->has_shape = true;
    out->rank = dims.len;
    out->dims = dims.data;
    return AT_OK;
}

static at_status read_tensor_type(reader *r, wire w, net_port *out) {
    wire_field f;
    while (wire_next(&w, &f, &r->broken)) {
        if (f.number == 1) out->type = f.value < 64 ? (at_net_type)f.value : AT_NET_UNDEFINED;
        if (f.number == 2) AT_TRY(read_shape(r, message(r, &f), out));
    }
    return AT_OK;
}

static at_status read_port(reader *r, wire w, net_port *out) {
    static const char *const others[] = {[4] = "a sequence",
                                         [5] = "a map",
                                         [7] = "a value of its own",
                                         [8] = "a sparse tensor",
                                         [9] = "an optional value"};
    wire_field f, type;
    *out = (net_port){.name = ""};
    AT_TRY(count(r));
    while (wire_next(&w, &f, &r->broken)) {
        if (f.number == 1) AT_TRY(take_text(r, &f, &out->name));
        if (f.number != 2) continue;
        wire of = message(r, &f);
        while (wire_next(&of, &type, &r->broken)) {
            if (type.number == 1) AT_TRY(read_tensor_type(r, message(r, &type), out));
            else if (type.number < 10 && others[type.number]) out->other = others[type.number];
        }
    }
    return whole(r, "an input or output");
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static at_status read_graph(reader *r, wire w, at_net_subgraph **out);

typedef struct attribute_lists {
    number_list ints;
    AT_VEC(float) floats;
    AT_VEC(const char *) strings;
    uint64_t type;
} attribute_lists;

static at_status take_floats(reader *r, const wire_field *f, attribute_lists *l) {
    if (f->kind == WIRE_FIXED32) {
        AT_TRY(count(r));
        *at_push(r->arena, &l->floats) = wire_float(f->value);
        return AT_OK;
    }
    const wire w = message(r, f);
    if ((w.end - w.at) % 4) r->broken = true;
    for (const uint8_t *p = w.at; !r->broken && p < w.end; p += 4)
        memcpy(at_push(r->arena, &l->floats), p, 4);
    return AT_OK;
}

static at_status read_attribute_field(reader *r, const wire_field *f, at_net_attribute *out,
                                      attribute_lists *l) {
    switch (f->number) {
    case 1: return take_text(r, f, &out->name);
    case 2: out->f = wire_float(f->value); return AT_OK;
    case 3: out->i = (int64_t)f->value; return AT_OK;
    case 4: return take_text(r, f, &out->s);
    case 5: {
        at_net_tensor *t = AT_NEW(r->arena, at_net_tensor);
        out->tensor = t;
        return read_tensor(r, message(r, f), t);
    }
    case 6: {
        at_net_subgraph *g;
        AT_TRY(read_graph(r, message(r, f), &g));
        out->graph = g;
        return AT_OK;
    }
    case 7: return take_floats(r, f, l);
    case 8: return take_numbers(r, f, &l->ints);
    case 9: return take_text(r, f, at_push(r->arena, &l->strings));
    case 20: l->type = f->value; return AT_OK;
    default: return AT_OK;
    }
}

/* Older files do not say which kind it is. */
static at_net_attribute_kind kind_of(const at_net_attribute *a, const attribute_lists *l) {
    if (l->type && l->type <= AT_NET_ATTR_STRINGS) return (at_net_attribute_kind)l->type;
    if (l->type) return AT_NET_ATTR_NONE;
    if (a->tensor) return AT_NET_ATTR_TENSOR;
    if (a->graph) return AT_NET_ATTR_GRAPH;
    if (l->ints.len) return AT_NET_ATTR_INTS;
    if (l->floats.len) return AT_NET_ATTR_FLOATS;
    if (l->strings.len) return AT_NET_ATTR_STRINGS;
    if (a->s) return AT_NET_ATTR_STRING;
    return a->f != 0 ? AT_NET_ATTR_FLOAT : AT_NET_ATTR_INT;
}

static at_status read_attribute(reader *r, wire w, at_net_attribute *out) {
    wire_field f;
    attribute_lists l = {0};
    *out = (at_net_attribute){.name = ""};
    AT_TRY(count(r));
    while (wire_next(&w, &f, &r->broken)) AT_TRY(read_attribute_field(r, &f, out, &l));
    out->kind = kind_of(out, &l);
    out->num = out->kind == AT_NET_ATTR_INTS      ? l.ints.len
               : out->kind == AT_NET_ATTR_FLOATS  ? l.floats.len
               : out->kind == AT_NET_ATTR_STRINGS ? l.strings.len
                                                  : 0;
    out->ints = out->kind == AT_NET_ATTR_INTS ? l.ints.data : NULL;
    out->floats = out->kind == AT_NET_ATTR_FLOATS ? l.floats.data : NULL;
    out->strings = out->kind == AT_NET_ATTR_STRINGS ? l.strings.data : NULL;
    if (out->kind != AT_NET_ATTR_TENSOR) out->tensor = NULL;
    if (out->kind != AT_NET_ATTR_GRAPH) out->graph = NULL;
    if (out->kind == AT_NET_ATTR_STRING && !out->s) out->s = "";
    const bool lacks = (out->kind == AT_NET_ATTR_TENSOR && !out->tensor) ||
                       (out->kind == AT_NET_ATTR_GRAPH && !out->graph);
    if (lacks) out->kind = AT_NET_ATTR_NONE;
    return whole(r, "an attribute");
}

static at_status read_node(reader *r, wire w, net_raw_node *out) {
    wire_field f;
    *out = (net_raw_node){.name = "", .op = "", .domain = ""};
    AT_TRY(count(r));
    while (wire_next(&w, &f, &r->broken)) {
        switch (f.number) {
        case 1: AT_TRY(take_text(r, &f, at_push(r->arena, &out->inputs))); break;
        case 2: AT_TRY(take_text(r, &f, at_push(r->arena, &out->outputs))); break;
        case 3: AT_TRY(take_text(r, &f, &out->name)); break;
        case 4: AT_TRY(take_text(r, &f, &out->op)); break;
        case 5:
            AT_TRY(read_attribute(r, message(r, &f), at_push(r->arena, &out->attributes)));
            break;
        case 7: AT_TRY(take_text(r, &f, &out->domain)); break;
        default: break;
        }
    }
    if (!strcmp(out->domain, "ai.onnx")) out->domain = "";
    return whole(r, "a node");
}

/* ---- graph and model ------------------------------------------------------------------------- */

static at_status read_graph_field(reader *r, const wire_field *f, at_net_subgraph *g) {
    switch (f->number) {
    case 1: return read_node(r, message(r, f), at_push(r->arena, &g->nodes));
    case 2: return take_text(r, f, &g->name);
    case 5: return read_tensor(r, message(r, f), at_push(r->arena, &g->constants));
    case 11: return read_port(r, message(r, f), at_push(r->arena, &g->inputs));
    case 12: return read_port(r, message(r, f), at_push(r->arena, &g->outputs));
    case 15: g->has_sparse = true; return AT_OK;
    default: return AT_OK;
    }
}

/* A node without a name is told by its place, as Python writes it. */
static void name_nodes(const reader *r, at_net_subgraph *g) {
    const char *graph = r->depth && g->name ? g->name : "graph";
    for (int i = 0; i < g->nodes.len; i++)
        if (!*g->nodes.data[i].name)
            g->nodes.data[i].name = at_format(r->arena, "%s.node[%d]", graph, i);
}

static at_status read_graph(reader *r, wire w, at_net_subgraph **out) {
    wire_field f;
    if (r->depth == MOST_DEPTH) return fail(r, "has graphs in graphs, more than 16 deep");
    at_net_subgraph *g = *out = AT_NEW(r->arena, at_net_subgraph);
    r->depth++;
    while (wire_next(&w, &f, &r->broken)) AT_TRY(read_graph_field(r, &f, g));
    r->depth--;
    name_nodes(r, g);
    return whole(r, "a graph");
}

static at_status read_import(reader *r, wire w, net_import *out) {
    wire_field f;
    *out = (net_import){.domain = ""};
    AT_TRY(count(r));
    while (wire_next(&w, &f, &r->broken)) {
        if (f.number == 1) AT_TRY(take_text(r, &f, &out->domain));
        if (f.number == 2) out->version = (int64_t)f.value;
    }
    if (!strcmp(out->domain, "ai.onnx")) out->domain = "";
    return whole(r, "a version");
}

at_status net_read_model(at_arena *a, const char *path, wire w, net_external *x, net_model *out,
                         at_error *err) {
    reader r = {.arena = a, .path = path, .external = x, .err = err};
    wire_field f;
    *out = (net_model){0};
    while (wire_next(&w, &f, &r.broken)) {
        if (f.number == 1) out->ir_version = (int64_t)f.value;
        if (f.number == 7) AT_TRY(read_graph(&r, message(&r, &f), &out->graph));
        if (f.number == 8) AT_TRY(read_import(&r, message(&r, &f), at_push(a, &out->imports)));
        if (f.number == 25) out->num_functions++;
    }
    AT_TRY(whole(&r, "the file"));
    if (!out->graph || !out->graph->outputs.len)
        return at_fail(err, AT_E_INPUT, "%s is no ONNX file: it has no graph with an output", path);
    return AT_OK;
}
