/* network/ops_move.c: operators that put elements in another place. What they read where is an
 * index, so that whoever reads their output can read their input instead. */
#include "network/network_int.h"

#include <string.h>

/* ---- other sizes ----------------------------------------------------------------------------- */

static at_status reshaped(net_op *o, int rank, const int64_t *dims) {
    const at_net_value *x = op_in(o, 0);
    const char *where;
    int64_t n = 1;
    for (int i = 0; i < rank; i++)
        if (dims[i] < 0 || !at_mul64(n, dims[i], &n)) n = -1;
    if (n != x->elements) {
        at_text shape = {0};
        at_net_add_shape(&shape, AT_NET_UNDEFINED, rank, dims);
        op_fail(o, "%lld elements of \"%s\" do not fit sizes %s", (long long)x->elements, x->name,
                at_text_str(&shape));
        at_text_free(&shape);
        return AT_E_INPUT;
    }
    AT_TRY(op_out(o, 0, x->type, rank, dims));
    if (x->is_constant) { /* the same elements */
        o->out[0].data = x->data;
        o->out[0].is_constant = true;
        return AT_OK;
    }
    const char *index = op_reshaped(o, "a", rank, dims, x->rank, x->dims, &where);
    op_add(o, "y0[%s] = x0[%s]%s\n", op_axes(o, "a", rank, dims), index, where);
    return AT_OK;
}

static at_status reshape(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *given;
    int64_t dims[AT_NET_MAX_RANK], rest = 1;
    int n, open = -1;
    const bool keeps_zero = op_int(o, "allowzero", 0) != 0;
    AT_TRY(op_known_ints(o, 1, &given, &n));
    if (n > AT_NET_MAX_RANK) return op_fail(o, "more than %d sizes", AT_NET_MAX_RANK);
    for (int i = 0; i < n; i++) {
        dims[i] = given[i];
        if (!dims[i] && !keeps_zero) {
            if (i >= x->rank)
                return op_fail(o, "size %d is that of the input, which has %d", i + 1, x->rank);
            dims[i] = x->dims[i];
        }
        if (dims[i] == -1 && open >= 0) return op_fail(o, "two sizes are -1");
        if (dims[i] == -1) open = i;
        else if (dims[i] < 0 || !at_mul64(rest, dims[i], &rest))
            return op_fail(o, "a size of %lld", (long long)given[i]);
    }
    if (open >= 0) dims[open] = rest ? x->elements / rest : 0;
    return reshaped(o, n, dims);
}

static at_status flatten(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t given = op_int(o, "axis", 1);
    int axis = x->rank;
    int64_t dims[2] = {1, 1};
    if (given != x->rank) AT_TRY(op_axis(o, given, x->rank, &axis));
    for (int i = 0; i < x->rank; i++) dims[i >= axis] *= x->dims[i];
    return reshaped(o, 2, dims);
}

/* Axes of so many dimensions, as a set. */
static at_status axis_set(net_op *o, const int64_t *axes, int n, int rank, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < n; i++) {
        int axis;
        AT_TRY(op_axis(o, axes[i], rank, &axis));
        if (*out >> axis & 1) return op_fail(o, "axis %lld occurs twice", (long long)axes[i]);
        *out |= 1u << axis;
    }
    return AT_OK;
}

static at_status squeeze(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *axes;
    int64_t dims[AT_NET_MAX_RANK];
    int n, rank = 0;
    uint32_t set;
    AT_TRY(op_ints_of(o, "axes", 1, &axes, &n));
    AT_TRY(axis_set(o, axes, n, x->rank, &set));
    for (int i = 0; i < x->rank; i++) {
        const bool goes = axes ? set >> i & 1 : x->dims[i] == 1;
        if (goes && x->dims[i] != 1)
            return op_fail(o, "axis %d of \"%s\" has %lld elements", i, x->name,
                           (long long)x->dims[i]);
        if (!goes) dims[rank++] = x->dims[i];
    }
    return reshaped(o, rank, dims);
}

static at_status unsqueeze(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *axes;
    int64_t dims[AT_NET_MAX_RANK];
    int n;
    uint32_t set;
    AT_TRY(op_ints_of(o, "axes", 1, &axes, &n));
    const int rank = x->rank + n;
    if (rank > AT_NET_MAX_RANK) return op_fail(o, "more than %d dimensions", AT_NET_MAX_RANK);
    AT_TRY(axis_set(o, axes, n, rank, &set));
    for (int i = 0, k = 0; i < rank; i++) dims[i] = set >> i & 1 ? 1 : x->dims[k++];
    return reshaped(o, rank, dims);
}

/* ---- other orders ---------------------------------------------------------------------------- */

static at_status transpose(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    int64_t dims[AT_NET_MAX_RANK];
    int n, place[AT_NET_MAX_RANK] = {0};
    uint32_t seen = 0;
    const int64_t *perm = op_ints(o, "perm", &n);
    if (perm && n != x->rank) return op_fail(o, "perm has %d numbers, not %d", n, x->rank);
    for (int i = 0; i < x->rank; i++) {
        int from = x->rank - 1 - i;
        if (perm) AT_TRY(op_axis(o, perm[i], x->rank, &from));
        if (seen >> from & 1) return op_fail(o, "perm has axis %d twice", from);
        seen |= 1u << from;
        dims[i] = x->dims[from];
        place[from] = i;
    }
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    op_add(o, "y0[%s] = x0[", op_axes(o, "a", x->rank, dims));
    for (int i = 0; i < x->rank; i++) op_add(o, "%sa%d", i ? ", " : "", place[i]);
    op_add(o, "%s]\n", x->rank ? "" : "0");
    return AT_OK;
}

/* "a0, a1 - 4, a2" */
static const char *shifted(const net_op *o, int rank, int axis, int64_t by) {
    at_text t = {0};
    for (int i = 0; i < rank; i++) {
        at_text_addf(&t, "%sa%d", i ? ", " : "", i);
        if (i == axis && by)
            at_text_addf(&t, " %c %lld", by < 0 ? '-' : '+', (long long)(by < 0 ? -by : by));
    }
    return at_text_take(o->arena, &t);
}

static at_status concat(net_op *o) {
    const at_net_value *first = op_in(o, 0);
    int64_t dims[AT_NET_MAX_RANK], at = 0;
    int axis, last = 0;
    AT_TRY(op_axis(o, op_int(o, "axis", 1), first->rank, &axis));
    memcpy(dims, first->dims, sizeof *dims * (size_t)first->rank);
    dims[axis] = 0;
    for (int k = 0; k < o->node->num_inputs; k++) {
        const at_net_value *x = op_in(o, k);
        if (!x) return op_fail(o, "input %d is missing", k + 1);
        AT_TRY(op_same_type(o, 0, k));
        bool fits = x->rank == first->rank;
        for (int i = 0; fits && i < x->rank; i++) fits = i == axis || x->dims[i] == dims[i];
        if (!fits) return op_fail(o, "\"%s\" does not fit \"%s\"", x->name, first->name);
        dims[axis] += x->dims[axis];
        if (x->elements) last = k;
    }
    AT_TRY(op_out(o, 0, first->type, first->rank, dims));
    op_add(o, "y0[%s] = ", op_axes(o, "a", first->rank, dims));
    for (int k = 0; k <= last; k++) {
        const at_net_value *x = op_in(o, k);
        if (!x->elements) continue;
        if (k < last) op_add(o, "a%d < %lld ? ", axis, (long long)(at + x->dims[axis]));
        op_add(o, "x%d[%s]%s", k, shifted(o, first->rank, axis, -at), k < last ? " : " : "\n");
        at += x->dims[axis];
    }
    return AT_OK;
}

const at_net_row net_rows_move[] = {
    {"Reshape", "", 5, AT_NET_MOVE, 2, 2, 1, reshape},
    {"Flatten", "", 1, AT_NET_MOVE, 1, 1, 1, flatten},
    {"Squeeze", "", 1, AT_NET_MOVE, 1, 2, 1, squeeze},
    {"Unsqueeze", "", 1, AT_NET_MOVE, 1, 2, 1, unsqueeze},
    {"Transpose", "", 1, AT_NET_MOVE, 1, 1, 1, transpose},
    {"Concat", "", 4, AT_NET_MOVE, 1, -1, 1, concat},
    NET_ROWS_END,
};
