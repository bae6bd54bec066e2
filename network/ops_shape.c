/* network/ops_shape.c: operators whose output depends on sizes alone: constants, from here on. */
#include "network/network_int.h"

#include <math.h>
#include <string.h>

static at_status constant_tensor(net_op *o, const at_net_tensor *t) {
    if (!at_net_type_bytes(t->type)) return op_missing(o, "of strings");
    AT_TRY(op_out(o, 0, t->type, t->rank, t->dims));
    o->out[0].data = t->data;
    o->out[0].is_constant = true;
    return AT_OK;
}

/* The only output's elements. */
static at_status give(net_op *o, const void *elements, size_t bytes) {
    void *data;
    AT_TRY(op_constant(o, 0, &data));
    if (bytes) memcpy(data, elements, bytes);
    return AT_OK;
}

static at_status constant(net_op *o) {
    for (int i = 0; i < o->node->num_attributes; i++) {
        const at_net_attribute *a = &o->node->attributes[i];
        const int64_t n = a->num;
        switch (a->kind) {
        case AT_NET_ATTR_TENSOR: return constant_tensor(o, a->tensor);
        case AT_NET_ATTR_FLOAT:
            AT_TRY(op_out(o, 0, AT_NET_FLOAT, 0, NULL));
            return give(o, &a->f, sizeof a->f);
        case AT_NET_ATTR_INT:
            AT_TRY(op_out(o, 0, AT_NET_INT64, 0, NULL));
            return give(o, &a->i, sizeof a->i);
        case AT_NET_ATTR_FLOATS:
            AT_TRY(op_out(o, 0, AT_NET_FLOAT, 1, &n));
            return give(o, a->floats, sizeof *a->floats * (size_t)n);
        case AT_NET_ATTR_INTS:
            AT_TRY(op_out(o, 0, AT_NET_INT64, 1, &n));
            return give(o, a->ints, sizeof *a->ints * (size_t)n);
        default: return op_missing(o, "of attribute %s", a->name);
        }
    }
    return op_fail(o, "has no value");
}

static at_status constant_of_shape(net_op *o) {
    const at_net_attribute *value = at_net_attribute_find(o->node, "value", AT_NET_ATTR_TENSOR);
    const at_net_tensor *t = value ? value->tensor : NULL;
    const int64_t *dims;
    int rank;
    AT_TRY(op_known_ints(o, 0, &dims, &rank));
    if (t && (t->elements != 1 || !at_net_type_bytes(t->type)))
        return op_fail(o, "value is no single number");
    AT_TRY(op_out(o, 0, t ? t->type : AT_NET_FLOAT, rank, dims));
    const size_t bytes = t ? (size_t)at_net_type_bytes(t->type) : sizeof(float);
    int64_t n = 1;
    for (int i = 0; i < rank; i++) n *= dims[i];
    void *data;
    AT_TRY(op_constant(o, 0, &data));
    for (int64_t i = 0; t && i < n; i++) memcpy((char *)data + (size_t)i * bytes, t->data, bytes);
    return AT_OK;
}

static at_status shape(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    int64_t start = op_int(o, "start", 0), end = op_int(o, "end", x->rank);
    if (start < 0) start += x->rank;
    if (end < 0) end += x->rank;
    start = start < 0 ? 0 : start > x->rank ? x->rank : start;
    end = end < start ? start : end > x->rank ? x->rank : end;
    const int64_t n = end - start;
    AT_TRY(op_out(o, 0, AT_NET_INT64, 1, &n));
    return give(o, x->dims + start, sizeof n * (size_t)n);
}

static at_status size(net_op *o) {
    AT_TRY(op_out(o, 0, AT_NET_INT64, 0, NULL));
    return give(o, &op_in(o, 0)->elements, sizeof op_in(o, 0)->elements);
}

/* ---- numbers of constants -------------------------------------------------------------------- */

static at_status range(net_op *o) {
    const double *bounds[3];
    enum { MOST = 1 << 24 };
    for (int k = 0; k < 3; k++) {
        int n;
        AT_TRY(op_known_floats(o, k, &bounds[k], &n));
        if (n != 1) return op_fail(o, "\"%s\" is no single number", op_in(o, k)->name);
    }
    const double start = *bounds[0], step = *bounds[2], count = ceil((*bounds[1] - start) / step);
    if (!(step != 0) || !(count <= MOST))
        return op_fail(o, "from %g to %g in steps of %g", start, *bounds[1], step);
    const int64_t n = count > 0 ? (int64_t)count : 0;
    AT_TRY(op_out(o, 0, op_in(o, 0)->type, 1, &n));
    void *data;
    AT_TRY(op_constant(o, 0, &data));
    for (int64_t i = 0; i < n; i++)
        at_net_store(op_in(o, 0)->type, data, i, start + (double)i * step);
    return AT_OK;
}

static at_status non_zero(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    if (!x->is_constant) return op_missing(o, "of data");
    AT_VEC(int64_t) found = {0};
    for (int64_t i = 0; i < x->elements; i++)
        if (at_net_element(x->type, x->data, i) != 0) *at_push(o->arena, &found) = i;
    const int64_t dims[] = {x->rank, found.len};
    AT_TRY(op_out(o, 0, AT_NET_INT64, 2, dims));
    void *room;
    AT_TRY(op_constant(o, 0, &room));
    int64_t *data = room;
    for (int i = 0; i < found.len; i++) {
        int64_t rest = found.data[i];
        for (int axis = x->rank - 1; axis >= 0; axis--) {
            data[(int64_t)axis * found.len + i] = rest % x->dims[axis];
            rest /= x->dims[axis];
        }
    }
    return AT_OK;
}

static at_status eye_like(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const at_net_type type = (at_net_type)op_int(o, "dtype", x->type);
    const int64_t k = op_int(o, "k", 0);
    if (x->rank != 2 || !at_net_type_bytes(type)) return op_fail(o, "\"%s\" is no matrix", x->name);
    AT_TRY(op_out(o, 0, type, 2, x->dims));
    void *data;
    AT_TRY(op_constant(o, 0, &data));
    for (int64_t i = 0; i < x->elements; i++)
        at_net_store(type, data, i, i % x->dims[1] - i / x->dims[1] == k ? 1 : 0);
    return AT_OK;
}

/* a - b cos(w) + c cos(2w), w once around. A symmetric one of one element, of which ONNX's text
 * makes 0/0, is 1. */
static at_status window(net_op *o, double a, double b, double c) {
    const at_net_type type = (at_net_type)op_int(o, "output_datatype", AT_NET_FLOAT);
    enum { MOST = 1 << 24 };
    const int64_t *size;
    int n;
    AT_TRY(op_known_ints(o, 0, &size, &n));
    if (n != 1 || size[0] < 0 || size[0] > MOST)
        return op_fail(o, "a size from 0 to %d is accepted", MOST);
    if (!at_net_type_is_float(type)) return op_missing(o, "of element type %d", (int)type);
    AT_TRY(op_out(o, 0, type, 1, size));
    void *data;
    AT_TRY(op_constant(o, 0, &data));
    const double steps = (double)(op_int(o, "periodic", 1) ? size[0] : size[0] - 1);
    for (int64_t i = 0; i < size[0]; i++) {
        const double w = OP_TURN * (double)i / steps;
        at_net_store(type, data, i, steps > 0 ? a - b * cos(w) + c * cos(2 * w) : 1);
    }
    return AT_OK;
}

static at_status hann_window(net_op *o) { return window(o, 0.5, 0.5, 0); }
static at_status hamming_window(net_op *o) { return window(o, 25 / 46.0, 21 / 46.0, 0); }
static at_status blackman_window(net_op *o) { return window(o, 0.42, 0.5, 0.08); }

const at_net_row net_rows_shape[] = {
    {"Constant", "", 1, AT_NET_OTHER, 0, 0, 1, constant},
    {"ConstantOfShape", "", 9, AT_NET_OTHER, 1, 1, 1, constant_of_shape},
    {"Shape", "", 1, AT_NET_OTHER, 1, 1, 1, shape},
    {"Range", "", 11, AT_NET_OTHER, 3, 3, 1, range},
    {"NonZero", "", 9, AT_NET_OTHER, 1, 1, 1, non_zero},
    {"EyeLike", "", 9, AT_NET_OTHER, 1, 1, 1, eye_like},
    {"HannWindow", "", 17, AT_NET_OTHER, 1, 1, 1, hann_window},
    {"HammingWindow", "", 17, AT_NET_OTHER, 1, 1, 1, hamming_window},
    {"BlackmanWindow", "", 17, AT_NET_OTHER, 1, 1, 1, blackman_window},
    {"Size", "", 1, AT_NET_OTHER, 1, 1, 1, size},
    NET_ROWS_END,
};
