/* See onnx_writer.h. */
#include "tests/network/onnx_writer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the cache ------------------------------------------------------------------------------- */

/* Estimates read a table of this machine's speeds in the user's cache folder, where there is one.
 * Tests of networks have a folder of their own: what they check is the same on all machines. */
static void __attribute__((constructor)) take_own_cache(void) {
    char *here = getcwd(NULL, 0);
    at_text folder = {0};
    if (here) at_text_addf(&folder, "%s/build/tests", here);
    setenv("XDG_CACHE_HOME", here ? at_text_str(&folder) : "/dev/null", 1);
    at_text_free(&folder);
    free(here);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void add_varint(at_text *t, uint64_t x) {
    do {
        const char byte = (char)((x & 0x7f) | (x > 0x7f ? 0x80 : 0));
        at_text_addn(t, &byte, 1);
        x >>= 7;
    } while (x);
}

void pb_varint(at_text *t, int field, uint64_t x) {
    add_varint(t, (uint64_t)field << 3);
    add_varint(t, x);
}

void pb_bytes(at_text *t, int field, const void *data, size_t n) {
    add_varint(t, (uint64_t)field << 3 | 2);
    add_varint(t, n);
    at_text_addn(t, data, n);
}

void pb_string(at_text *t, int field, const char *s) { pb_bytes(t, field, s, strlen(s)); }

void pb_message(at_text *t, int field, at_text *m) {
    pb_bytes(t, field, at_text_str(m), m->len);
    at_text_free(m);
}

static void pb_float(at_text *t, int field, float x) {
    add_varint(t, (uint64_t)field << 3 | 5);
    at_text_addn(t, (const char *)&x, sizeof x);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void add_list(at_text *m, const char *text) {
    const size_t length = strcspn(text, "]");
    const bool is_float = memchr(text, '.', length);
    for (const char *p = text + 1; *p && *p != ']'; p += strspn(p, ", ")) {
        char *end;
        if (is_float) pb_float(m, 7, strtof(p, &end));
        else pb_varint(m, 8, (uint64_t)strtoll(p, &end, 10));
        p = end;
    }
    pb_varint(m, 20, is_float ? 6 : 7);
}

static void add_attribute(at_text *node, const char *text, size_t n) {
    char item[512];
    at_text m = {0};
    memcpy(item, text, n);
    item[n] = 0;
    char *value = strchr(item, '=');
    *value++ = 0;
    pb_string(&m, 1, item);
    if (*value == '[') {
        add_list(&m, value);
    } else if (*value == '\'') {
        pb_bytes(&m, 4, value + 1, strlen(value) - 2);
        pb_varint(&m, 20, 3);
    } else if (strchr(value, '.')) {
        pb_float(&m, 2, strtof(value, NULL));
        pb_varint(&m, 20, 1);
    } else {
        pb_varint(&m, 3, (uint64_t)strtoll(value, NULL, 10));
        pb_varint(&m, 20, 2);
    }
    pb_message(node, 5, &m);
}

static void add_names(at_text *node, int field, const char *names) {
    for (const char *p = names; *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        pb_bytes(node, field, p, n == 1 && *p == '-' ? 0 : n);
        p += n;
    }
}

static at_text begin_node(const char *op, const char *inputs, const char *outputs) {
    at_text node = {0};
    add_names(&node, 1, inputs);
    add_names(&node, 2, outputs);
    const bool is_named = *op != '?';
    op += !is_named;
    const char *colon = strchr(op, ':'), *name = colon ? colon + 1 : op;
    if (is_named) pb_string(&node, 3, name);
    pb_string(&node, 4, name);
    if (colon) pb_bytes(&node, 7, op, (size_t)(colon - op));
    return node;
}

static void add_attributes(at_text *node, const char *attributes) {
    for (const char *p = attributes; *p; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        add_attribute(node, p, n);
        p += n;
    }
}

void onnx_node(onnx_graph *g, const char *op, const char *inputs, const char *outputs,
               const char *attributes) {
    at_text node = begin_node(op, inputs, outputs);
    add_attributes(&node, attributes);
    pb_message(&g->bytes, 1, &node);
}

void onnx_node_with_graphs(onnx_graph *g, const char *op, const char *inputs, const char *outputs,
                           const char *attributes, const char *name1, onnx_graph *g1,
                           const char *name2, onnx_graph *g2) {
    at_text node = begin_node(op, inputs, outputs);
    add_attributes(&node, attributes);
    const char *const names[] = {name1, name2};
    onnx_graph *const graphs[] = {g1, g2};
    for (int i = 0; i < 2; i++) {
        at_text m = {0};
        if (!names[i]) continue;
        pb_string(&m, 1, names[i]);
        pb_message(&m, 6, &graphs[i]->bytes);
        pb_varint(&m, 20, 5);
        pb_message(&node, 5, &m);
    }
    pb_message(&g->bytes, 1, &node);
}

/* ---- values ---------------------------------------------------------------------------------- */

static at_text shape_of(const char *dims) {
    at_text shape = {0};
    for (const char *p = dims; *p; p += strspn(p, ", ")) {
        const size_t n = strcspn(p, ",");
        at_text dim = {0};
        if (isdigit((unsigned char)*p)) pb_varint(&dim, 1, strtoull(p, NULL, 10));
        else if (*p != '?') pb_bytes(&dim, 2, p, n);
        pb_message(&shape, 1, &dim);
        p += n;
    }
    return shape;
}

void onnx_input(onnx_graph *g, const char *name, at_net_type type, const char *dims) {
    at_text port = {0}, of = {0}, tensor = {0}, shape = shape_of(dims);
    pb_string(&port, 1, name);
    pb_varint(&tensor, 1, type);
    pb_message(&tensor, 2, &shape);
    pb_message(&of, 1, &tensor);
    pb_message(&port, 2, &of);
    pb_message(&g->bytes, 11, &port);
}

void onnx_output(onnx_graph *g, const char *name) {
    at_text port = {0};
    pb_string(&port, 1, name);
    pb_message(&g->bytes, 12, &port);
}

static void add_dims(at_text *m, const char *dims) {
    for (const char *p = dims; *p; p += strspn(p, ", ")) {
        char *end;
        pb_varint(m, 1, strtoull(p, &end, 10));
        p = end;
    }
}

void onnx_constant(onnx_graph *g, const char *name, at_net_type type, const char *dims,
                   const char *elements, bool raw) {
    at_text m = {0}, data = {0};
    add_dims(&m, dims);
    pb_varint(&m, 2, type);
    pb_string(&m, 8, name);
    for (const char *p = elements; *p; p += strspn(p, " ")) {
        char *end, element[8];
        const double x = strtod(p, &end);
        p = end;
        at_net_store(type, element, 0, x);
        if (raw) at_text_addn(&data, element, (size_t)at_net_type_bytes(type));
        else if (type == AT_NET_FLOAT) pb_float(&m, 4, (float)x);
        else pb_varint(&m, type == AT_NET_INT64 ? 7 : 5, (uint64_t)(int64_t)x);
    }
    if (raw) pb_message(&m, 9, &data);
    pb_message(&g->bytes, 5, &m);
}

static void add_entry(at_text *m, const char *key, const char *value) {
    at_text entry = {0};
    if (!value) return;
    pb_string(&entry, 1, key);
    pb_string(&entry, 2, value);
    pb_message(m, 13, &entry);
}

void onnx_external(onnx_graph *g, const char *name, const char *dims, const char *location,
                   const char *offset, const char *length) {
    at_text m = {0};
    add_dims(&m, dims);
    pb_varint(&m, 2, AT_NET_FLOAT);
    pb_string(&m, 8, name);
    add_entry(&m, "location", location);
    add_entry(&m, "offset", offset);
    add_entry(&m, "length", length);
    pb_varint(&m, 14, 1);
    pb_message(&g->bytes, 5, &m);
}

at_text onnx_model(onnx_graph *g, int version) {
    at_text model = {0}, import = {0};
    pb_varint(&model, 1, 8);
    pb_message(&model, 7, &g->bytes);
    pb_string(&import, 1, "");
    pb_varint(&import, 2, (uint64_t)version);
    pb_message(&model, 8, &import);
    import = (at_text){0};
    pb_string(&import, 1, "com.microsoft");
    pb_varint(&import, 2, 1);
    pb_message(&model, 8, &import);
    return model;
}

at_status onnx_write(onnx_graph *g, int version, const char *path, at_error *err) {
    at_text bytes = onnx_model(g, version);
    const at_status status = at_write_file(path, at_text_str(&bytes), bytes.len, err);
    at_text_free(&bytes);
    return status;
}
