/* network/ops_move.c: operators that put elements in another place. What they read where is an
 * index, so that whoever reads their output can read their input instead. */
#include "network/network_int.h"

#include <stdlib.h>
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

static at_status squeeze(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *axes;
    int64_t dims[AT_NET_MAX_RANK];
    int n, rank = 0;
    uint32_t set;
    AT_TRY(op_ints_of(o, "axes", 1, &axes, &n));
    AT_TRY(op_axis_set(o, axes, n, x->rank, &set));
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
    AT_TRY(op_axis_set(o, axes, n, rank, &set));
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
        op_add(o, "x%d[%s]%s", k, op_shifted(o, first->rank, axis, -at), k < last ? " : " : "\n");
        at += x->dims[axis];
    }
    return AT_OK;
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* A part of an axis as ONNX's Slice means it: what lies beyond the ends is left out. */
static int64_t clamp(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }

static int64_t slice_axis(int64_t size, int64_t step, int64_t *start, int64_t end) {
    if (*start < 0) *start += size;
    if (end < 0 && end > INT64_MIN / 2) end += size;
    *start = step > 0 ? clamp(*start, 0, size) : clamp(*start, 0, size - 1);
    end = step > 0 ? clamp(end, 0, size) : clamp(end, -1, size - 1);
    const int64_t span = step > 0 ? end - *start : *start - end, each = step > 0 ? step : -step;
    return span > 0 ? (span - 1) / each + 1 : 0;
}

typedef struct slicing {
    const int64_t *starts, *ends, *axes, *steps;
    int n, num_ends, num_axes, num_steps;
} slicing;

static at_status take_slicing(net_op *o, slicing *s) {
    if (o->node->version < 10) {
        s->starts = op_ints(o, "starts", &s->n);
        s->ends = op_ints(o, "ends", &s->num_ends);
        s->axes = op_ints(o, "axes", &s->num_axes);
    } else {
        AT_TRY(op_known_ints(o, 1, &s->starts, &s->n));
        AT_TRY(op_known_ints(o, 2, &s->ends, &s->num_ends));
        AT_TRY(op_known_ints(o, 3, &s->axes, &s->num_axes));
        AT_TRY(op_known_ints(o, 4, &s->steps, &s->num_steps));
    }
    const bool fits = s->n == s->num_ends && (!s->axes || s->num_axes == s->n) &&
                      (!s->steps || s->num_steps == s->n) && s->starts;
    return fits ? AT_OK : op_fail(o, "starts, ends, axes and steps do not fit each other");
}

static at_status slice(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    int64_t dims[AT_NET_MAX_RANK], start[AT_NET_MAX_RANK] = {0}, step[AT_NET_MAX_RANK];
    slicing s = {0};
    AT_TRY(take_slicing(o, &s));
    for (int i = 0; i < x->rank; i++) {
        dims[i] = x->dims[i];
        step[i] = 1;
    }
    for (int i = 0; i < s.n; i++) {
        int axis;
        AT_TRY(op_axis(o, s.axes ? s.axes[i] : i, x->rank, &axis));
        step[axis] = s.steps ? s.steps[i] : 1;
        start[axis] = s.starts[i];
        if (!step[axis] || step[axis] < -(1LL << 40))
            return op_fail(o, "a step of %lld", (long long)step[axis]);
        dims[axis] = slice_axis(x->dims[axis], step[axis], &start[axis], s.ends[i]);
    }
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    op_add(o, "y0[%s] = x0[", op_axes(o, "a", x->rank, dims));
    for (int i = 0; i < x->rank; i++) {
        op_add(o, "%s", i ? ", " : "");
        if (dims[i] == 1) op_add(o, "%lld", (long long)start[i]);
        else if (step[i] == 1) op_add(o, start[i] ? "a%d + %lld" : "a%d", i, (long long)start[i]);
        else if (step[i] > 0)
            op_add(o, start[i] ? "a%d*%lld + %lld" : "a%d*%lld", i, (long long)step[i],
                   (long long)start[i]);
        else op_add(o, "%lld - a%d*%lld", (long long)start[i], i, -(long long)step[i]);
    }
    op_add(o, "]\n");
    return AT_OK;
}

static at_status split(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *sizes;
    int n, axis;
    const int parts = o->node->num_outputs;
    AT_TRY(op_axis(o, op_int(o, "axis", 0), x->rank, &axis));
    AT_TRY(op_ints_of(o, "split", 1, &sizes, &n));
    if (sizes && n != parts) return op_fail(o, "%d sizes of %d parts", n, parts);
    const int64_t each = parts ? (x->dims[axis] + parts - 1) / parts : 0;
    int64_t at = 0;
    for (int k = 0; k < parts; k++) {
        int64_t dims[AT_NET_MAX_RANK];
        memcpy(dims, x->dims, sizeof *dims * (size_t)x->rank);
        dims[axis] = sizes ? sizes[k] : clamp(x->dims[axis] - at, 0, each);
        AT_TRY(op_out(o, k, x->type, x->rank, dims));
        if (at + dims[axis] > x->dims[axis] || dims[axis] < 0)
            return op_fail(o, "parts of more than %lld elements", (long long)x->dims[axis]);
        if (dims[axis] && op_has_out(o, k))
            op_add(o, "y%d[%s] = x0[%s]\n", k, op_axes(o, "a", x->rank, dims),
                   op_shifted(o, x->rank, axis, at));
        at += dims[axis];
    }
    return at == x->dims[axis] ? AT_OK
                               : op_fail(o, "parts of %lld of %lld elements", (long long)at,
                                         (long long)x->dims[axis]);
}

/* ---- more of the same ------------------------------------------------------------------------ */

static at_status expand(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *wanted;
    int64_t dims[AT_NET_MAX_RANK];
    int n, rank;
    AT_TRY(op_known_ints(o, 1, &wanted, &n));
    if (n > AT_NET_MAX_RANK) return op_fail(o, "more than %d dimensions", AT_NET_MAX_RANK);
    for (rank = 0; rank < n; rank++) dims[rank] = wanted[rank];
    AT_TRY(op_broadcast(o, &rank, dims, x));
    AT_TRY(op_out(o, 0, x->type, rank, dims));
    op_add(o, "y0[%s] = %s\n", op_axes(o, "a", rank, dims), op_read(o, 0, "a", rank));
    return AT_OK;
}

static at_status tile(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *times;
    int64_t dims[AT_NET_MAX_RANK];
    int n;
    AT_TRY(op_known_ints(o, 1, &times, &n));
    if (n != x->rank) return op_fail(o, "%d numbers for %d dimensions", n, x->rank);
    for (int i = 0; i < n; i++)
        if (!at_mul64(x->dims[i], times[i], &dims[i])) dims[i] = -1;
    AT_TRY(op_out(o, 0, x->type, n, dims));
    op_add(o, "y0[%s] = x0[", op_axes(o, "a", n, dims));
    for (int i = 0; i < n; i++) {
        if (x->dims[i] == 1) op_add(o, i ? ", 0" : "0");
        else
            op_add(o, times[i] == 1 ? "%sa%d" : "%sa%d%%%lld", i ? ", " : "", i,
                   (long long)x->dims[i]);
    }
    op_add(o, n ? "]\n" : "0]\n");
    return AT_OK;
}

typedef struct padding {
    int64_t begin[AT_NET_MAX_RANK], end[AT_NET_MAX_RANK], dims[AT_NET_MAX_RANK];
} padding;

static at_status take_padding(net_op *o, padding *p) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *pads, *axes = NULL;
    int n, num_axes = x->rank;
    AT_TRY(op_ints_of(o, "pads", 1, &pads, &n));
    if (op_in(o, 3)) AT_TRY(op_known_ints(o, 3, &axes, &num_axes));
    if (n != 2 * num_axes) return op_fail(o, "%d pads of %d axes", n, num_axes);
    *p = (padding){{0}, {0}, {0}};
    for (int i = 0; i < num_axes; i++) {
        int axis = i;
        if (axes) AT_TRY(op_axis(o, axes[i], x->rank, &axis));
        p->begin[axis] = pads[i];
        p->end[axis] = pads[num_axes + i];
        if (llabs(pads[i]) > 1LL << 40 || llabs(pads[num_axes + i]) > 1LL << 40)
            return op_fail(o, "a padding of %lld", (long long)pads[i]);
    }
    for (int i = 0; i < x->rank; i++) p->dims[i] = x->dims[i] + p->begin[i] + p->end[i];
    return AT_OK;
}

/* Where an element is read along an axis, in a mode without a value. */
static at_status padded_place(net_op *o, const padding *p, const char *mode, int i,
                              const char **out) {
    const int64_t size = op_in(o, 0)->dims[i];
    const char *at = p->begin[i] ? op_format(o, "a%d %c %lld", i, p->begin[i] > 0 ? '-' : '+',
                                             llabs(p->begin[i]))
                                 : op_format(o, "a%d", i);
    *out = at;
    if (p->begin[i] <= 0 && p->end[i] <= 0) return AT_OK;
    if (!strcmp(mode, "wrap")) {
        *out = op_format(o, "(%s)%%%lld", at, (long long)size);
    } else if (!strcmp(mode, "edge")) {
        *out = op_format(o, "min(max(%s, 0), %lld)", at, (long long)size - 1);
    } else {
        if (p->begin[i] >= size || p->end[i] >= size)
            return op_missing(o, "reflected more than once");
        *out = op_format(o, "min(max(%s, %lld - a%d), %lld - a%d)", at, (long long)p->begin[i], i,
                         (long long)(2 * size - 2 + p->begin[i]), i);
    }
    return AT_OK;
}

static const char *pad_value(net_op *o) {
    const at_net_value *v = op_in(o, 2);
    if (o->node->version < 11) return op_number(o, op_float(o, "value", 0));
    if (!v) return "0";
    return v->is_constant ? op_number(o, at_net_element(v->type, v->data, 0)) : "x2[0]";
}

static at_status pad(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const char *mode = op_string(o, "mode", "constant"), *inside = NULL, *index = "";
    const bool has_value = !strcmp(mode, "constant");
    padding p;
    AT_TRY(take_padding(o, &p));
    if (!has_value && strcmp(mode, "edge") && strcmp(mode, "reflect") && strcmp(mode, "wrap"))
        return op_fail(o, "mode \"%s\"", mode);
    AT_TRY(op_out(o, 0, x->type, x->rank, p.dims));
    for (int i = 0; i < x->rank; i++) {
        const char *place;
        AT_TRY(padded_place(o, &p, has_value ? "wrap" : mode, i, &place));
        if (has_value && (p.begin[i] > 0 || p.end[i] > 0)) {
            inside = op_format(o, "%s%s%lld <= a%d && a%d < %lld", inside ? inside : "",
                               inside ? " && " : "", (long long)p.begin[i], i, i,
                               (long long)(x->dims[i] + p.begin[i]));
            place = p.begin[i] ? op_format(o, "a%d - %lld", i, (long long)p.begin[i])
                               : op_format(o, "a%d", i);
            if (p.begin[i] < 0) place = op_format(o, "a%d + %lld", i, -(long long)p.begin[i]);
        }
        index = op_format(o, "%s%s%s", index, i ? ", " : "", place);
    }
    if (!x->rank) index = "0";
    const char *axes = op_axes(o, "a", x->rank, p.dims);
    if (!x->elements) op_add(o, "y0[%s] = %s\n", axes, pad_value(o));
    else if (inside) op_add(o, "y0[%s] = %s ? x0[%s] : %s\n", axes, inside, index, pad_value(o));
    else op_add(o, "y0[%s] = x0[%s]\n", axes, index);
    return AT_OK;
}

/* ---- channels and pixels --------------------------------------------------------------------- */

static at_status block_of(net_op *o, int64_t *block) {
    const at_net_value *x = op_in(o, 0);
    *block = op_int(o, "blocksize", 0);
    if (x->rank != 4) return op_fail(o, "\"%s\" has %d dimensions, not 4", x->name, x->rank);
    return *block >= 1 && *block <= 1 << 20 ? AT_OK
                                            : op_fail(o, "a block of %lld", (long long)*block);
}

static at_status depth_to_space(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    long long b;
    int64_t block;
    AT_TRY(block_of(o, &block));
    b = block;
    const bool columns_first = !strcmp(op_string(o, "mode", "DCR"), "CRD");
    if (x->dims[1] % (b * b))
        return op_fail(o, "%lld channels in blocks of %lld", (long long)x->dims[1], b * b);
    const int64_t dims[] = {x->dims[0], x->dims[1] / (b * b), x->dims[2] * b, x->dims[3] * b};
    AT_TRY(op_out(o, 0, x->type, 4, dims));
    const char *inner = op_format(o, "a2%%%lld*%lld + a3%%%lld", b, b, b);
    const char *channel = columns_first ? op_format(o, "a1*%lld + %s", b * b, inner)
                                        : op_format(o, "(%s)*%lld + a1", inner, (long long)dims[1]);
    op_add(o, "y0[%s] = x0[a0, %s, a2/%lld, a3/%lld]\n", op_axes(o, "a", 4, dims), channel, b, b);
    return AT_OK;
}

static at_status space_to_depth(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    long long b;
    int64_t block;
    AT_TRY(block_of(o, &block));
    b = block;
    if (x->dims[2] % b || x->dims[3] % b)
        return op_fail(o, "a picture of %lld x %lld in blocks of %lld", (long long)x->dims[2],
                       (long long)x->dims[3], b);
    const long long c = x->dims[1];
    const int64_t dims[] = {x->dims[0], c * b * b, x->dims[2] / b, x->dims[3] / b};
    AT_TRY(op_out(o, 0, x->type, 4, dims));
    const bool columns_first = !strcmp(op_string(o, "mode", "DCR"), "CRD");
    if (columns_first)
        op_add(o, "y0[%s] = x0[a0, a1/%lld, a2*%lld + a1/%lld%%%lld, a3*%lld + a1%%%lld]\n",
               op_axes(o, "a", 4, dims), b * b, b, b, b, b, b);
    else
        op_add(o, "y0[%s] = x0[a0, a1%%%lld, a2*%lld + a1/%lld, a3*%lld + a1/%lld%%%lld]\n",
               op_axes(o, "a", 4, dims), c, b, c * b, b, c, b);
    return AT_OK;
}

static at_status trilu(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *given;
    int n;
    AT_TRY(op_known_ints(o, 1, &given, &n));
    if (x->rank < 2) return op_fail(o, "\"%s\" has fewer than 2 dimensions", x->name);
    AT_TRY(op_out_like(o, 0, x));
    op_add(o, "y0[%s] = a%d - a%d %s %lld ? x0[%s] : 0\n", op_axes(o, "a", x->rank, x->dims),
           x->rank - 1, x->rank - 2,
           op_int(o, "upper", 1) ? ">=" : "<=", n ? (long long)given[0] : 0LL,
           op_index(o, "a", x->rank));
    return AT_OK;
}

const at_net_row net_rows_move[] = {
    {"Reshape", "", 5, AT_NET_MOVE, 2, 2, 1, reshape},
    {"Flatten", "", 1, AT_NET_MOVE, 1, 1, 1, flatten},
    {"Squeeze", "", 1, AT_NET_MOVE, 1, 2, 1, squeeze},
    {"Unsqueeze", "", 1, AT_NET_MOVE, 1, 2, 1, unsqueeze},
    {"Transpose", "", 1, AT_NET_MOVE, 1, 1, 1, transpose},
    {"Concat", "", 4, AT_NET_MOVE, 1, -1, 1, concat},
    {"Slice", "", 1, AT_NET_MOVE, 1, 5, 1, slice},
    {"Split", "", 2, AT_NET_MOVE, 1, 2, -1, split},
    {"Expand", "", 8, AT_NET_MOVE, 2, 2, 1, expand},
    {"Tile", "", 6, AT_NET_MOVE, 2, 2, 1, tile},
    {"Pad", "", 2, AT_NET_MOVE, 1, 4, 1, pad},
    {"DepthToSpace", "", 1, AT_NET_MOVE, 1, 1, 1, depth_to_space},
    {"SpaceToDepth", "", 1, AT_NET_MOVE, 1, 1, 1, space_to_depth},
    {"Trilu", "", 14, AT_NET_MAP, 1, 2, 1, trilu},
    NET_ROWS_END,
};
