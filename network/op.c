/* network/op.c: what the rows of operators are written with: inputs, attributes, sizes. */
#include "network/network_int.h"

#include <stdlib.h>
#include <string.h>

static at_status fail_with(net_op *o, const char *fmt, va_list args) {
    char text[600];
    vsnprintf(text, sizeof text, fmt, args);
    return at_fail(o->err, AT_E_INPUT, "%s: node \"%s\" (%s): %s", o->net->path, o->node->name,
                   o->node->op, text);
}

at_status op_fail(net_op *o, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const at_status s = fail_with(o, fmt, args);
    va_end(args);
    return s;
}

at_status op_missing(net_op *o, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    const at_status s = fail_with(o, fmt, args);
    va_end(args);
    o->is_missing = true;
    return s;
}

/* ---- attributes ------------------------------------------------------------------------------ */

const at_net_attribute *at_net_attribute_find(const at_net_node *n, const char *name,
                                              at_net_attribute_kind kind) {
    for (int i = 0; i < n->num_attributes; i++)
        if (n->attributes[i].kind == kind && !strcmp(n->attributes[i].name, name))
            return &n->attributes[i];
    return NULL;
}

int64_t at_net_int(const at_net_node *n, const char *name, int64_t otherwise) {
    const at_net_attribute *a = at_net_attribute_find(n, name, AT_NET_ATTR_INT);
    return a ? a->i : otherwise;
}

bool op_has(const net_op *o, const char *name, at_net_attribute_kind kind) {
    return at_net_attribute_find(o->node, name, kind) != NULL;
}

int64_t op_int(const net_op *o, const char *name, int64_t otherwise) {
    return at_net_int(o->node, name, otherwise);
}

float op_float(const net_op *o, const char *name, float otherwise) {
    const at_net_attribute *a = at_net_attribute_find(o->node, name, AT_NET_ATTR_FLOAT);
    return a ? a->f : otherwise;
}

const char *op_string(const net_op *o, const char *name, const char *otherwise) {
    const at_net_attribute *a = at_net_attribute_find(o->node, name, AT_NET_ATTR_STRING);
    return a ? a->s : otherwise;
}

const int64_t *op_ints(const net_op *o, const char *name, int *n) {
    const at_net_attribute *a = at_net_attribute_find(o->node, name, AT_NET_ATTR_INTS);
    *n = a ? a->num : 0;
    return a ? a->ints : NULL;
}

at_status op_numbers(net_op *o, const char *name, int n, int64_t least, int64_t *out) {
    enum { MOST = 1 << 24 };
    int num;
    const int64_t *given = op_ints(o, name, &num);
    if (num && num != n) return op_fail(o, "%s has %d numbers, not %d", name, num, n);
    for (int i = 0; i < n; i++) {
        out[i] = num ? given[i] : least;
        if (out[i] < least || out[i] > MOST)
            return op_fail(o, "%s: %lld; numbers from %lld to %d are accepted", name,
                           (long long)out[i], (long long)least, MOST);
    }
    return AT_OK;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

at_status op_axis(net_op *o, int64_t axis, int rank, int *out) {
    *out = 0;
    if (axis < -rank || axis >= rank)
        return op_fail(o, "axis %lld of a value with %d dimensions", (long long)axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return AT_OK;
}

/* n elements; none of an input that is left out. */
static at_status known(net_op *o, int k, const at_net_value **out, int *n) {
    enum { MOST_KNOWN = 1 << 16 };
    const at_net_value *v = op_in(o, k);
    *out = v;
    *n = v ? (int)v->elements : 0;
    if (v && !v->is_constant)
        return op_missing(o, "\"%s\" depends on data, and must be known", v->name);
    if (v && v->elements > MOST_KNOWN)
        return op_fail(o, "\"%s\" has more than %d elements", v->name, MOST_KNOWN);
    return AT_OK;
}

at_status op_known_ints(net_op *o, int k, const int64_t **out, int *n) {
    const at_net_value *v;
    AT_TRY(known(o, k, &v, n));
    int64_t *x = AT_NEW_ARRAY(o->arena, int64_t, *n + 1);
    for (int i = 0; i < *n; i++) x[i] = at_net_element_int(v->type, v->data, i);
    *out = v ? x : NULL;
    return AT_OK;
}

at_status op_known_floats(net_op *o, int k, const double **out, int *n) {
    const at_net_value *v;
    AT_TRY(known(o, k, &v, n));
    double *x = AT_NEW_ARRAY(o->arena, double, *n + 1);
    for (int i = 0; i < *n; i++) x[i] = at_net_element(v->type, v->data, i);
    *out = v ? x : NULL;
    return AT_OK;
}

at_status op_ints_of(net_op *o, const char *attribute, int input, const int64_t **out, int *n) {
    if (op_in(o, input)) return op_known_ints(o, input, out, n);
    *out = op_ints(o, attribute, n);
    return AT_OK;
}

at_status op_same_type(net_op *o, int k, int other) {
    const at_net_value *x = op_in(o, k), *y = op_in(o, other);
    if (!x || !y || x->type == y->type) return AT_OK;
    return op_fail(o, "\"%s\" is of %s, \"%s\" of %s", x->name, at_net_type_name(x->type), y->name,
                   at_net_type_name(y->type));
}

int op_add_constant(net_op *o, at_net_type type, int rank, const int64_t *dims, const void *data) {
    at_net *net = o->net;
    at_net_node *n = o->node;
    int64_t elements = 1;
    for (int i = 0; i < rank; i++) elements *= dims[i];
    int *inputs = AT_NEW_ARRAY(net->arena, int, n->num_inputs + 1);
    memcpy(inputs, n->inputs, sizeof *inputs * (size_t)n->num_inputs);
    inputs[n->num_inputs] = net->values.len;
    *at_push(net->arena, &net->values) = (at_net_value){
        .name = at_format(net->arena, "%s/%d", n->name, n->num_inputs),
        .type = type,
        .rank = rank,
        .dims = at_copy(net->arena, dims, sizeof *dims * (size_t)rank),
        .elements = elements,
        .data = at_copy(net->arena, data, (size_t)elements * (size_t)at_net_type_bytes(type)),
        .producer = -1,
        .is_constant = true};
    n->inputs = inputs;
    return n->num_inputs++;
}

void op_reads_index(net_op *o, int k) { o->node->index_inputs |= 1u << k; }

void op_limit_entries(net_op *o, int k, const int64_t *sizes, int depth) {
    int64_t *lo = AT_NEW_ARRAY(o->net->arena, int64_t, depth),
            *hi = AT_NEW_ARRAY(o->net->arena, int64_t, depth);
    for (int i = 0; i < depth; i++) lo[i] = -sizes[i], hi[i] = sizes[i] - 1;
    o->node->limited = k;
    o->node->limits = (at_net_limits){depth, lo, hi};
}

const char *op_entry(net_op *o, int k, const char *index, int64_t extent) {
    const at_net_value *v = op_in(o, k);
    bool may_be_negative = !v->is_constant;
    op_reads_index(o, k);
    for (int64_t i = 0; v->is_constant && i < v->elements && !may_be_negative; i++)
        may_be_negative = at_net_element_int(v->type, v->data, i) < 0;
    if (!may_be_negative) return op_format(o, "x%d[%s]", k, index);
    return op_format(o, "(x%d[%s] < 0 ? x%d[%s] + %lld : x%d[%s])", k, index, k, index,
                     (long long)extent, k, index);
}

at_status op_axis_set(net_op *o, const int64_t *axes, int n, int rank, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < n; i++) {
        int axis;
        AT_TRY(op_axis(o, axes[i], rank, &axis));
        if (*out >> axis & 1) return op_fail(o, "axis %lld occurs twice", (long long)axes[i]);
        *out |= 1u << axis;
    }
    return AT_OK;
}

/* ---- outputs --------------------------------------------------------------------------------- */

static at_status elements_of(net_op *o, int rank, const int64_t *dims, int64_t *out) {
    *out = 1;
    if (rank > AT_NET_MAX_RANK)
        return op_fail(o, "an output of %d dimensions; at most %d are accepted", rank,
                       AT_NET_MAX_RANK);
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0 || !at_mul64(*out, dims[i], out) || *out > AT_NET_MAX_ELEMENTS) {
            at_text shape = {0};
            at_net_add_shape(&shape, AT_NET_UNDEFINED, rank, dims);
            op_fail(o, "an output of sizes %s; sizes from 0 and at most 2^32 elements are accepted",
                    at_text_str(&shape));
            at_text_free(&shape);
            return AT_E_INPUT;
        }
    return AT_OK;
}

at_status op_out(net_op *o, int k, at_net_type type, int rank, const int64_t *dims) {
    int64_t n;
    if (k && !op_has_out(o, k)) return AT_OK; /* of the first one texts tell in any case */
    AT_TRY(elements_of(o, rank, dims, &n));
    o->out[k] = (net_out){.type = type,
                          .rank = rank,
                          .dims = at_copy(o->net->arena, dims, sizeof *dims * (size_t)rank)};
    return AT_OK;
}

at_status op_out_like(net_op *o, int k, const at_net_value *v) {
    return op_out(o, k, v->type, v->rank, v->dims);
}

at_status op_constant(net_op *o, int k, void **data) {
    int64_t n = 1;
    net_out *out = &o->out[k];
    for (int i = 0; i < out->rank; i++) n *= out->dims[i];
    const int64_t bytes = n * at_net_type_bytes(out->type);
    if (bytes > o->net->room_bytes)
        return op_missing(o, "constants of more than %lld bytes", (long long)o->net->room_bytes);
    o->net->room_bytes -= bytes;
    out->data = *data = at_alloc(o->net->arena, (size_t)bytes);
    out->is_constant = true;
    return AT_OK;
}

at_status op_broadcast(net_op *o, int *rank, int64_t dims[AT_NET_MAX_RANK], const at_net_value *v) {
    if (v->rank > *rank) {
        memmove(dims + (v->rank - *rank), dims, sizeof *dims * (size_t)*rank);
        for (int i = 0; i < v->rank - *rank; i++) dims[i] = 1;
        *rank = v->rank;
    }
    for (int i = 0; i < v->rank; i++) {
        int64_t *at = &dims[*rank - v->rank + i];
        if (*at == 1) *at = v->dims[i];
        else if (v->dims[i] != 1 && v->dims[i] != *at)
            return op_fail(o, "sizes %lld and %lld of \"%s\" do not fit each other", (long long)*at,
                           (long long)v->dims[i], v->name);
    }
    return AT_OK;
}

at_status op_fits(net_op *o, int k, int rank, const int64_t *dims) {
    int64_t both[AT_NET_MAX_RANK];
    int n = rank;
    memcpy(both, dims, sizeof *both * (size_t)rank);
    AT_TRY(op_broadcast(o, &n, both, op_in(o, k)));
    if (n == rank && !memcmp(both, dims, sizeof *both * (size_t)rank)) return AT_OK;
    return op_fail(o, "\"%s\" is larger than what it is taken to", op_in(o, k)->name);
}

at_status op_map(net_op *o, at_net_type type, const char *fmt, ...) {
    int64_t dims[AT_NET_MAX_RANK];
    int rank = 0;
    for (int k = 0; k < o->node->num_inputs; k++)
        if (op_in(o, k)) AT_TRY(op_broadcast(o, &rank, dims, op_in(o, k)));
    AT_TRY(op_out(o, 0, type, rank, dims));
    op_add(o, "y0[%s] = ", op_axes(o, "a", rank, dims));
    va_list args;
    va_start(args, fmt);
    char *text = NULL;
    if (vasprintf(&text, fmt, args) < 0) at_out_of_memory(0);
    va_end(args);
    /* X0 stands for the element of input 0. */
    for (const char *p = text; *p;) {
        const size_t n = strcspn(p, "X");
        at_text_addn(&o->text, p, n);
        p += n;
        if (!*p) break;
        char *end;
        const int k = (int)strtol(p + 1, &end, 10);
        at_text_add(&o->text, op_read(o, k, "a", rank));
        p = end;
    }
    free(text);
    at_text_add(&o->text, "\n");
    return AT_OK;
}

/* ---- norms ----------------------------------------------------------------------------------- */

at_status op_norm(net_op *o, int64_t p, const char **term, const char **result) {
    if (p < 1) return op_fail(o, "p of %lld; 1 and more are accepted", (long long)p);
    *term = p == 1       ? "abs(%1$s)"
            : p % 2 == 0 ? op_format(o, "pow(%%1$s, %lld)", (long long)p)
                         : op_format(o, "pow(abs(%%1$s), %lld)", (long long)p);
    *result = p == 1 ? NULL : p == 2 ? "sqrt(%s)" : op_format(o, "pow(%%s, %.17g)", 1 / (double)p);
    return AT_OK;
}
