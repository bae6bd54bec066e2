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
        int64_t place[AT_NET_MAX_RANK];
        at_unravel(found.data[i], x->rank, x->dims, place);
        for (int axis = 0; axis < x->rank; axis++)
            data[(int64_t)axis * found.len + i] = place[axis];
    }
    return AT_OK;
}

/* Entries of an axis, or all elements, of which equal ones are one. */
typedef struct distinct {
    const at_net_value *x;
    int64_t num, inner, outer; /* entries; elements behind and before the axis */
    int64_t len;               /* distinct entries, numbered by when they come */
    int64_t *at;               /* [len] their numbers in order of size */
    int64_t *first, *count;    /* [len] where each comes first, and how often */
    int64_t *which;            /* [num] the distinct entry that an entry is */
} distinct;

static double element_of(const distinct *d, int64_t entry, int64_t k) {
    const int64_t at = (k / d->inner * d->num + entry) * d->inner + k % d->inner;
    return at_net_element(d->x->type, d->x->data, at);
}

static int order_of(const distinct *d, int64_t a, int64_t b) {
    for (int64_t k = 0; k < d->inner * d->outer; k++) {
        const double x = element_of(d, a, k), y = element_of(d, b, k);
        if (x != y) return x < y ? -1 : 1;
    }
    return 0;
}

/* Each entry goes where it belongs among those before it. */
static void find_distinct(net_op *o, distinct *d) {
    d->at = AT_NEW_ARRAY(o->arena, int64_t, d->num + 1);
    d->first = AT_NEW_ARRAY(o->arena, int64_t, d->num + 1);
    d->count = AT_NEW_ARRAY(o->arena, int64_t, d->num + 1);
    d->which = AT_NEW_ARRAY(o->arena, int64_t, d->num + 1);
    for (int64_t i = 0; i < d->num; i++) {
        int64_t lo = 0, hi = d->len;
        while (lo < hi) {
            const int64_t middle = (lo + hi) / 2;
            if (order_of(d, d->first[d->at[middle]], i) < 0) lo = middle + 1;
            else hi = middle;
        }
        if (lo == d->len || order_of(d, d->first[d->at[lo]], i)) {
            memmove(d->at + lo + 1, d->at + lo, sizeof *d->at * (size_t)(d->len - lo));
            d->at[lo] = d->len;
            d->first[d->len++] = i;
        }
        d->which[i] = d->at[lo];
        d->count[d->at[lo]]++;
    }
}

/* Numbers of the outputs behind the first: place[k] is the k-th by when it comes in the output. */
static at_status give_numbers(net_op *o, const distinct *d, const int64_t *place) {
    for (int k = 1; k < o->node->num_outputs; k++) {
        const bool of_entries = k == 2;
        const int64_t n = of_entries ? d->num : d->len, *numbers = k == 1 ? d->first : d->count;
        void *data;
        if (!op_has_out(o, k)) continue;
        AT_TRY(op_out(o, k, AT_NET_INT64, 1, &n));
        AT_TRY(op_constant(o, k, &data));
        int64_t *room = data;
        for (int64_t i = 0; i < n; i++)
            if (of_entries) room[i] = place[d->which[i]];
            else room[place[i]] = numbers[i];
    }
    return AT_OK;
}

static at_status unique(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const bool whole = !op_has(o, "axis", AT_NET_ATTR_INT), sorted = op_int(o, "sorted", 1) != 0;
    int64_t dims[AT_NET_MAX_RANK];
    int axis;
    if (!x->is_constant) return op_missing(o, "of data");
    AT_TRY(op_axis(o, op_int(o, "axis", 0), x->rank ? x->rank : 1, &axis));
    distinct d = {.x = x, .num = whole ? x->elements : x->dims[axis], .inner = 1, .outer = 1};
    memcpy(dims, x->dims, sizeof *dims * (size_t)x->rank);
    for (int i = 0; i < x->rank && !whole; i++)
        if (i != axis) *(i < axis ? &d.outer : &d.inner) *= x->dims[i];
    find_distinct(o, &d);
    int64_t *place = AT_NEW_ARRAY(o->arena, int64_t, d.len + 1);
    for (int64_t i = 0; i < d.len; i++) place[sorted ? d.at[i] : i] = i;
    dims[whole ? 0 : axis] = d.len;
    AT_TRY(op_out(o, 0, x->type, whole ? 1 : x->rank, dims));
    void *data;
    AT_TRY(op_constant(o, 0, &data));
    const size_t bytes = (size_t)at_net_type_bytes(x->type), row = bytes * (size_t)d.inner;
    for (int64_t b = 0; b < d.outer; b++)
        for (int64_t i = 0; i < d.len; i++)
            memcpy((char *)data + row * (size_t)(b * d.len + place[i]),
                   (const char *)x->data + row * (size_t)(b * d.num + d.first[i]), row);
    return give_numbers(o, &d, place);
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
    {"Unique", "", 11, AT_NET_OTHER, 1, 1, 4, unique},
    {"EyeLike", "", 9, AT_NET_OTHER, 1, 1, 1, eye_like},
    {"HannWindow", "", 17, AT_NET_OTHER, 1, 1, 1, hann_window},
    {"HammingWindow", "", 17, AT_NET_OTHER, 1, 1, 1, hamming_window},
    {"BlackmanWindow", "", 17, AT_NET_OTHER, 1, 1, 1, blackman_window},
    {"Size", "", 1, AT_NET_OTHER, 1, 1, 1, size},
    NET_ROWS_END,
};
