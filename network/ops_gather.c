/* network/ops_gather.c: elements by indices that are data themselves. Such an index may count from
 * the end of its axis; where it leads outside of it is checked with the data. */
#include "network/network_int.h"

#include <string.h>

/* "a1, a2" from .. to - 1 of a letter's axes; NULL: none. */
static const char *range(const net_op *o, const char *letter, int from, int to) {
    at_text t = {0};
    for (int i = from; i < to; i++) at_text_addf(&t, "%s%s%d", i > from ? ", " : "", letter, i);
    return t.len ? at_text_take(o->arena, &t) : "";
}

static const char *joined(const net_op *o, const char *before, const char *middle,
                          const char *behind) {
    return op_format(o, "%s%s%s%s%s", before, *before ? ", " : "", middle, *behind ? ", " : "",
                     behind);
}

/* As net_reference.c says it of indices that come with the data. */
static at_status fail_of_index(net_op *o, int64_t i, int64_t size) {
    const at_net_value *indices = op_in(o, 1);
    const int64_t entry = at_net_element_int(indices->type, indices->data, i);
    return op_fail(o, "%s is %lld; %lld to %lld are accepted",
                   at_net_element_name(o->arena, indices, i), (long long)entry, (long long)-size,
                   (long long)size - 1);
}

/* Indices of ScatterND and its like, which read nothing: entry i counts along axis[i % depth] of x.
 * ONNX has each within its axis. */
static at_status check_entries(net_op *o, const int64_t *sizes, int depth) {
    const at_net_value *indices = op_in(o, 1);
    for (int64_t i = 0; indices->is_constant && i < indices->elements; i++) {
        const int64_t at = at_net_element_int(indices->type, indices->data, i),
                      size = sizes[i % depth];
        if (at < -size || at >= size) return fail_of_index(o, i, size);
    }
    if (!indices->is_constant) op_limit_entries(o, 1, sizes, depth);
    return AT_OK;
}

static at_status gather(net_op *o) {
    const at_net_value *x = op_in(o, 0), *indices = op_in(o, 1);
    int64_t dims[AT_NET_MAX_RANK];
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", 0), x->rank, &axis));
    const int rank = x->rank - 1 + indices->rank;
    if (rank > AT_NET_MAX_RANK) return op_fail(o, "more than %d dimensions", AT_NET_MAX_RANK);
    memcpy(dims, x->dims, sizeof *dims * (size_t)axis);
    memcpy(dims + axis, indices->dims, sizeof *dims * (size_t)indices->rank);
    memcpy(dims + axis + indices->rank, x->dims + axis + 1,
           sizeof *dims * (size_t)(x->rank - axis - 1));
    AT_TRY(op_out(o, 0, x->type, rank, dims));
    const int64_t size = x->dims[axis];
    const char *entry;
    if (indices->is_constant && indices->elements == 1) { /* a part of an axis */
        int64_t at = at_net_element_int(indices->type, indices->data, 0);
        if (at < 0) at += size;
        if (at < 0 || at >= size) return fail_of_index(o, 0, size);
        entry = op_format(o, "%lld", (long long)at);
    } else {
        const char *index = range(o, "a", axis, axis + indices->rank);
        entry = op_entry(o, 1, *index ? index : "0", size);
    }
    op_add(o, "y0[%s] = x0[%s]\n", op_axes(o, "a", rank, dims),
           joined(o, range(o, "a", 0, axis), entry, range(o, "a", axis + indices->rank, rank)));
    return AT_OK;
}

/* The entries of an axis, or of all elements one behind the other, at whose places a known
 * condition holds. */
static at_status compress(net_op *o) {
    const at_net_value *x = op_in(o, 0), *condition = op_in(o, 1);
    const bool all = !op_has(o, "axis", AT_NET_ATTR_INT);
    int axis = 0;
    if (!condition->is_constant)
        return op_missing(o, "how many elements \"%s\" takes depends on data", condition->name);
    if (!all) AT_TRY(op_axis(o, op_int(o, "axis", 0), x->rank, &axis));
    const int64_t size = all ? x->elements : x->dims[axis];
    const int64_t depth = all ? x->rank : 1;
    if (condition->rank != 1 || !x->rank)
        return op_fail(o, "\"%s\" is no condition of one dimension", condition->name);
    AT_VEC(int64_t) places = {0};
    for (int64_t i = 0; i < condition->elements; i++) {
        if (!at_net_element_int(condition->type, condition->data, i)) continue;
        if (i >= size)
            return op_fail(o, "\"%s\" takes element %lld of %lld", condition->name, (long long)i,
                           (long long)size);
        for (int64_t k = 0; k < depth; k++) *at_push(o->arena, &places) = 0;
        at_unravel(i, (int)depth, all ? x->dims : &size, &places.data[places.len - depth]);
    }
    int64_t dims[AT_NET_MAX_RANK], taken[] = {places.len / depth, depth};
    memcpy(dims, x->dims, sizeof *dims * (size_t)x->rank);
    dims[axis] = taken[0];
    const int rank = all ? 1 : x->rank;
    AT_TRY(op_out(o, 0, x->type, rank, dims));
    if (!taken[0]) return AT_OK; /* no elements */
    const int entries = op_add_constant(o, AT_NET_INT64, 2, taken, places.data);
    const char *index = range(o, "a", 0, axis);
    for (int64_t k = 0; k < depth; k++)
        index = joined(o, index,
                       op_entry(o, entries, op_format(o, "a%d, %lld", axis, (long long)k),
                                all ? x->dims[k] : size),
                       "");
    op_add(o, "y0[%s] = x0[%s]\n", op_axes(o, "a", rank, dims),
           joined(o, "", index, range(o, "a", axis + 1, rank)));
    return AT_OK;
}

static at_status gather_elements(net_op *o) {
    const at_net_value *x = op_in(o, 0), *indices = op_in(o, 1);
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", 0), x->rank, &axis));
    if (indices->rank != x->rank)
        return op_fail(o, "indices have %d dimensions, not %d", indices->rank, x->rank);
    for (int i = 0; i < x->rank; i++)
        if (i != axis && indices->dims[i] > x->dims[i])
            return op_fail(o, "\"%s\" is larger than \"%s\"", indices->name, x->name);
    AT_TRY(op_out(o, 0, x->type, x->rank, indices->dims));
    op_add(o, "y0[%s] = x0[%s]\n", op_axes(o, "a", x->rank, indices->dims),
           joined(o, range(o, "a", 0, axis),
                  op_entry(o, 1, op_index(o, "a", x->rank), x->dims[axis]),
                  range(o, "a", axis + 1, x->rank)));
    return AT_OK;
}

static at_status gather_nd(net_op *o) {
    const at_net_value *x = op_in(o, 0), *indices = op_in(o, 1);
    const int64_t batch = op_int(o, "batch_dims", 0);
    const int q = indices->rank;
    int64_t dims[AT_NET_MAX_RANK];
    if (q < 1 || batch < 0 || batch >= q || batch >= x->rank)
        return op_fail(o, "batch_dims %lld", (long long)batch);
    const int64_t depth = indices->dims[q - 1];
    if (depth < 0 || depth + batch > x->rank)
        return op_fail(o, "indices of %lld numbers", (long long)depth);
    const int places = q - 1, rest = x->rank - (int)(batch + depth), rank = places + rest;
    if (rank > AT_NET_MAX_RANK) return op_fail(o, "more than %d dimensions", AT_NET_MAX_RANK);
    memcpy(dims, indices->dims, sizeof *dims * (size_t)places);
    memcpy(dims + places, x->dims + batch + depth, sizeof *dims * (size_t)rest);
    AT_TRY(op_out(o, 0, x->type, rank, dims));
    if (!indices->is_constant && depth) op_limit_entries(o, 1, x->dims + batch, (int)depth);
    const char *index = range(o, "a", 0, (int)batch), *place = range(o, "a", 0, places);
    for (int k = 0; k < depth; k++)
        index = joined(o, index,
                       op_entry(o, 1, op_format(o, "%s%s%d", place, *place ? ", " : "", k),
                                x->dims[batch + k]),
                       "");
    const char *behind = range(o, "a", places, rank);
    op_add(o, "y0[%s] = x0[%s]\n", op_axes(o, "a", rank, dims),
           *index ? op_format(o, "%s%s%s", index, *behind ? ", " : "", behind) : behind);
    return AT_OK;
}

/* ---- scattered --------------------------------------------------------------------------------
 */

/* The stage y0 where an element is the last update that hits it, if one does: of updates along
 * `terms` the one with the largest `number`, whose place is `update`, from n on. Updates are for
 * elements `inside` alone ("... && "). */
static at_status replaced(net_op *o, const char *inside, const char *terms, const char *hit,
                          const char *number, const char *update) {
    const at_net_value *x = op_in(o, 0);
    const char *axes = op_axes(o, "a", x->rank, x->dims), *in = op_index(o, "a", x->rank);
    AT_TRY(op_out_like(o, 0, x));
    op_add(o, "last[%s] : s32 = max(%s) %s%s ? %s : -1\n", axes, terms, inside, hit, number);
    op_add(o, "y0[%s] = %slast[%s] >= 0 ? x2[%s] : x0[%s] where n = max(last[%s], 0)\n", axes,
           inside, in, update, in, in);
    return AT_OK;
}

/* The stage y0 where an element takes in the updates along `terms` for which `hit` holds, joined as
 * the reduction says. */
static at_status scattered(net_op *o, const char *terms, const char *hit, const char *update) {
    const at_net_value *x = op_in(o, 0);
    const char *how = op_string(o, "reduction", "none"), *axes = op_axes(o, "a", x->rank, x->dims),
               *in = op_index(o, "a", x->rank);
    static const struct {
        const char *name, *reduction, *neutral, *joined;
    } rows[] = {{"add", "sum", "0", "x0[%s] + s[%s]"},
                {"mul", "prod", "1", "x0[%s]*s[%s]"},
                {"max", "max", "-inf", "max(x0[%s], s[%s])"},
                {"min", "min", "inf", "min(x0[%s], s[%s])"}};
    AT_TRY(op_out_like(o, 0, x));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(how, rows[i].name) != 0) continue;
        op_add(o, "s[%s] = %s(%s) %s ? %s : %s\n", axes, rows[i].reduction, terms, hit, update,
               rows[i].neutral);
        op_add(o, "y0[%s] = ", axes);
        op_add(o, rows[i].joined, in, in);
        op_add(o, "\n");
        return AT_OK;
    }
    return op_fail(o, "reduction \"%s\"", how);
}

/* Without updates. */
static at_status unchanged(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    AT_TRY(op_out_like(o, 0, x));
    op_add(o, "y0[%s] = x0[%s]\n", op_axes(o, "a", x->rank, x->dims), op_index(o, "a", x->rank));
    return AT_OK;
}

static bool replaces(const net_op *o) { return !strcmp(op_string(o, "reduction", "none"), "none"); }

static at_status scatter_elements(net_op *o) {
    const at_net_value *x = op_in(o, 0), *indices = op_in(o, 1), *updates = op_in(o, 2);
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", 0), x->rank, &axis));
    if (indices->rank != x->rank || updates->rank != x->rank)
        return op_fail(o, "indices have %d dimensions, not %d", indices->rank, x->rank);
    const char *inside = "";
    AT_TRY(check_entries(o, &x->dims[axis], 1));
    for (int i = 0; i < x->rank; i++) {
        if (updates->dims[i] != indices->dims[i]) return op_fail(o, "updates do not fit indices");
        if (i != axis && indices->dims[i] > x->dims[i])
            return op_fail(o, "\"%s\" is larger than \"%s\"", indices->name, x->name);
        if (i != axis && indices->dims[i] < x->dims[i])
            inside = op_format(o, "%sa%d < %lld && ", inside, i, (long long)indices->dims[i]);
    }
    if (!indices->elements) return unchanged(o);
    const char *before = range(o, "a", 0, axis), *behind = range(o, "a", axis + 1, x->rank),
               *place = joined(o, before, "k", behind),
               *terms = op_format(o, "k:%lld", (long long)indices->dims[axis]),
               *hit = op_format(o, "%s == a%d", op_entry(o, 1, place, x->dims[axis]), axis);
    if (replaces(o)) return replaced(o, inside, terms, hit, "k", joined(o, before, "n", behind));
    return scattered(o, terms, op_format(o, "%s%s", inside, hit), op_format(o, "x2[%s]", place));
}

/* Known places that are a box, as an assigned slice is: begin[k] + step[k] times the place along
 * the k-th axis of the indices, for each axis that they count. */
static bool is_box(const at_net_value *x, const at_net_value *indices, int64_t *begin,
                   int64_t *step) {
    const int depth = indices->rank - 1;
    if (!indices->is_constant || !indices->elements || depth < 1 || indices->dims[depth] != depth)
        return false;
    for (int64_t i = 0; i < indices->elements; i++) {
        const int k = (int)(i % depth);
        int64_t at = at_net_element_int(indices->type, indices->data, i), inner = depth, place;
        for (int j = k + 1; j < depth; j++) inner *= indices->dims[j];
        place = i / inner % indices->dims[k];
        if (at < 0) at += x->dims[k];
        if (at < 0 || at >= x->dims[k]) return false;
        if (i < depth) begin[k] = at, step[k] = 1;
        if (place == 1 && i < inner + depth) step[k] = at - begin[k];
        if (step[k] < 1 || at != begin[k] + step[k] * place) return false;
    }
    return true;
}

/* What lies in the box is of the updates, all else as it was. */
static at_status set_box(net_op *o, const int64_t *begin, const int64_t *step) {
    const at_net_value *x = op_in(o, 0), *indices = op_in(o, 1);
    const int depth = indices->rank - 1;
    const char *inside = "", *place = "";
    AT_TRY(op_out_like(o, 0, x));
    for (int k = 0; k < depth; k++) {
        const long long from = begin[k], by = step[k], to = from + by * (indices->dims[k] - 1);
        const char *and = k ? " && " : "", *comma = k ? ", " : "";
        inside = op_format(o, "%s%s%lld <= a%d && a%d <= %lld", inside, and, from, k, k, to);
        if (by > 1) inside = op_format(o, "%s && (a%d - %lld)%%%lld == 0", inside, k, from, by);
        place = by > 1 ? op_format(o, "%s%s(a%d - %lld)/%lld", place, comma, k, from, by)
                       : op_format(o, "%s%sa%d - %lld", place, comma, k, from);
    }
    op_add(o, "y0[%s] = inside ? x2[%s] : x0[%s] where inside = %s\n",
           op_axes(o, "a", x->rank, x->dims),
           depth < x->rank ? op_format(o, "%s, %s", place, range(o, "a", depth, x->rank)) : place,
           op_index(o, "a", x->rank), inside);
    return AT_OK;
}

/* Known places that are anywhere: for each element of the axes that they count, where in the
 * updates its value lies, the last of several; -1: nowhere. NULL: a place is outside, or there are
 * too many elements. */
static int64_t *updates_of(net_op *o, const int64_t *dims, int64_t elements) {
    enum { MOST = 1 << 24 };
    const at_net_value *x = op_in(o, 0), *indices = op_in(o, 1);
    const int axes = indices->rank - 1, depth = (int)indices->dims[axes];
    if (!indices->is_constant || elements > MOST) return NULL;
    int64_t *out = AT_NEW_ARRAY(o->arena, int64_t, elements + 1);
    for (int64_t i = 0; i < elements; i++) out[i] = -1;
    for (int64_t i = 0; i < indices->elements / depth; i++) {
        int64_t at = 0;
        for (int k = 0; k < depth; k++) {
            int64_t place = at_net_element_int(indices->type, indices->data, i * depth + k);
            if (place < 0) place += x->dims[k];
            if (place < 0 || place >= x->dims[k]) return NULL;
            at = at * x->dims[k] + place;
        }
        at_unravel(i, axes, indices->dims, &out[at * dims[depth]]);
    }
    return out;
}

/* false: their places are not known. */
static bool set_known(net_op *o, at_status *status) {
    int64_t dims[AT_NET_MAX_RANK + 1], elements;
    const at_net_value *x = op_in(o, 0), *indices = op_in(o, 1);
    const int axes = indices->rank - 1, depth = (int)indices->dims[axes];
    memcpy(dims, x->dims, sizeof *dims * (size_t)depth);
    dims[depth] = elements = axes;
    for (int k = 0; k < depth; k++) elements *= dims[k];
    const int64_t *from = axes && depth < AT_NET_MAX_RANK ? updates_of(o, dims, elements) : NULL;
    if (!from) return false;
    const int table = op_add_constant(o, AT_NET_INT64, depth + 1, dims, from);
    const char *place = "", *at = range(o, "a", 0, depth);
    op_reads_index(o, table);
    for (int k = 0; k < axes; k++)
        place = joined(o, place, op_format(o, "x%d[%s, %d]", table, at, k), "");
    *status = op_out_like(o, 0, x);
    op_add(o, "y0[%s] = x%d[%s, 0] < 0 ? x0[%s] : x2[%s]\n", op_axes(o, "a", x->rank, x->dims),
           table, at, op_index(o, "a", x->rank),
           joined(o, "", place, range(o, "a", depth, x->rank)));
    return true;
}

/* Whether an update of these axes lands on an element: each coordinate is compared. Where several
 * are, and a float holds their number exactly, a stage `at` has the place of each update as one
 * number, -1 for one outside. */
static const char *lands(net_op *o, const char *axes, const char *update, const char *place,
                         int depth) {
    enum { MOST_PLACES = 1 << 24 };
    const at_net_value *x = op_in(o, 0);
    const char *inside = "", *at = "", *element = "", *each = "";
    int64_t places = 1;
    for (int k = 0; k < depth; k++) {
        const long long size = (long long)x->dims[k];
        const char *of = joined(o, place, op_format(o, "%d", k), ""), *and = k ? " && " : "",
                   *entry = op_entry(o, 1, of, size);
        inside =
            op_format(o, "%s%s-%lld <= x1[%s] && x1[%s] < %lld", inside, and, size, of, of, size);
        at = k ? op_format(o, "(%s)*%lld + %s", at, size, entry) : entry;
        element = k ? op_format(o, "(%s)*%lld + a%d", element, size, k) : "a0";
        each = op_format(o, "%s%s%s == a%d", each, and, entry, k);
        places *= size;
    }
    if (depth == 1 || places > MOST_PLACES) return each;
    op_add(o, "at[%s] = %s ? %s : -1\n", axes, inside, at);
    return op_format(o, "at[%s] == %s", update, element);
}

static at_status scatter_nd(net_op *o) {
    at_status status;
    int64_t begin[AT_NET_MAX_RANK], step[AT_NET_MAX_RANK];
    const at_net_value *x = op_in(o, 0), *indices = op_in(o, 1), *updates = op_in(o, 2);
    const int q = indices->rank;
    if (q < 1) return op_fail(o, "indices without a dimension");
    const int64_t depth = indices->dims[q - 1];
    if (depth < 1 || depth > x->rank || updates->rank != q - 1 + x->rank - depth)
        return op_fail(o, "indices of %lld numbers", (long long)depth);
    for (int i = 0; i < updates->rank; i++) {
        const int64_t size = i < q - 1 ? indices->dims[i] : x->dims[depth + i - (q - 1)];
        if (updates->dims[i] != size) return op_fail(o, "updates do not fit indices");
    }
    AT_TRY(check_entries(o, x->dims, (int)depth));
    if (!updates->elements) return unchanged(o);
    if (replaces(o) && is_box(x, indices, begin, step)) return set_box(o, begin, step);
    if (replaces(o) && set_known(o, &status)) return status;
    const char *place = range(o, "k", 0, q - 1), *own = range(o, "a", (int)depth, x->rank);
    const char *axes = q > 1 ? op_axes(o, "k", q - 1, indices->dims) : "k:1";
    const char *hit = lands(o, axes, q > 1 ? place : "k", place, (int)depth);
    const char *number = q > 1 ? "k0" : "k", *last = "";
    int64_t behind = 1;
    for (int i = 1; i < q - 1; i++)
        number = op_format(o, "(%s)*%lld + k%d", number, (long long)indices->dims[i], i);
    for (int i = q - 2; i >= 0; behind *= indices->dims[i--])
        last = joined(o, "",
                      op_format(o, i ? "n/%lld%%%lld" : "n/%lld", (long long)behind,
                                (long long)indices->dims[i]),
                      last);
    if (replaces(o))
        return replaced(o, "", axes, hit, number,
                        *own    ? joined(o, last, own, "")
                        : *last ? last
                                : "0");
    const char *update = *own ? joined(o, place, own, "") : *place ? place : "0";
    return scattered(o, axes, hit, op_format(o, "x2[%s]", update));
}

/* A cache of keys or values with an update written from an index on, one for each batch. */
static at_status tensor_scatter(net_op *o) {
    const at_net_value *x = op_in(o, 0), *update = op_in(o, 1), *from = op_in(o, 2);
    const bool circular = !strcmp(op_string(o, "mode", "linear"), "circular");
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", -2), x->rank, &axis));
    if (!axis || update->rank != x->rank || (from && from->elements != x->dims[0]))
        return op_fail(o, "a batch comes before the axis, an update has as many dimensions as the "
                          "cache, and an index for each batch");
    for (int i = 0; i < x->rank; i++)
        if (i == axis ? update->dims[i] > x->dims[i] : update->dims[i] != x->dims[i])
            return op_fail(o, "\"%s\" does not fit into \"%s\"", update->name, x->name);
    AT_TRY(op_same_type(o, 0, 1));
    AT_TRY(op_out_like(o, 0, x));
    if (from) op_reads_index(o, 2);
    const long long size = (long long)x->dims[axis], steps = (long long)update->dims[axis];
    const char *place = from ? op_format(o, "a%d - x2[a0]", axis) : op_format(o, "a%d", axis);
    if (from && circular)
        place = op_format(o, "(a%d + %lld - x2[a0]%%%lld)%%%lld", axis, size, size, size);
    op_add(o, "y0[%s] = 0 <= k && k < %lld ? x1[%s] : x0[%s] where k = %s\n",
           op_axes(o, "a", x->rank, x->dims), steps,
           joined(o, range(o, "a", 0, axis), "k", range(o, "a", axis + 1, x->rank)),
           op_index(o, "a", x->rank), place);
    return AT_OK;
}

static at_status one_hot(net_op *o) {
    const at_net_value *x = op_in(o, 0), *values = op_in(o, 2);
    const int64_t *depth;
    int64_t dims[AT_NET_MAX_RANK];
    int n, axis;
    AT_TRY(op_known_ints(o, 1, &depth, &n));
    if (n != 1 || depth[0] < 1 || values->elements != 2)
        return op_fail(o, "a depth from 1 and 2 values are accepted");
    if (x->rank == AT_NET_MAX_RANK) return op_fail(o, "more than %d dimensions", AT_NET_MAX_RANK);
    AT_TRY(op_axis(o, op_int(o, "axis", -1), x->rank + 1, &axis));
    memcpy(dims, x->dims, sizeof *dims * (size_t)axis);
    dims[axis] = depth[0];
    memcpy(dims + axis + 1, x->dims + axis, sizeof *dims * (size_t)(x->rank - axis));
    AT_TRY(op_out(o, 0, values->type, x->rank + 1, dims));
    const char *before = range(o, "a", 0, axis), *behind = range(o, "a", axis + 1, x->rank + 1);
    const char *in =
        op_format(o, "x0[%s%s%s]", before, *before && *behind ? ", " : "", x->rank ? behind : "0");
    op_add(o, "y0[%s] = %s == a%d || %s + %lld == a%d ? x2[1] : x2[0]\n",
           op_axes(o, "a", x->rank + 1, dims), in, axis, in, (long long)depth[0], axis);
    return AT_OK;
}

static at_status reverse_sequence(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t time = op_int(o, "time_axis", 0), batch = op_int(o, "batch_axis", 1);
    if (x->rank < 2 || time < 0 || time > 1 || batch != 1 - time)
        return op_fail(o, "time_axis %lld, batch_axis %lld", (long long)time, (long long)batch);
    AT_TRY(op_out_like(o, 0, x));
    op_reads_index(o, 1);
    const char *place = op_format(o, "(a%d < x1[a%d] ? x1[a%d] - 1 - a%d : a%d)", (int)time,
                                  (int)batch, (int)batch, (int)time, (int)time);
    op_add(o, "y0[%s] = x0[%s, %s%s%s]\n", op_axes(o, "a", x->rank, x->dims), time ? "a0" : place,
           time ? place : "a1", x->rank > 2 ? ", " : "", range(o, "a", 2, x->rank));
    return AT_OK;
}

#define GATHER(name, since, inputs, function)                                                      \
    { name, "", since, AT_NET_MOVE, inputs, inputs, 1, function }

const at_net_row net_rows_gather[] = {
    GATHER("Gather", 1, 2, gather),
    GATHER("Compress", 9, 2, compress),
    GATHER("GatherElements", 11, 2, gather_elements),
    GATHER("GatherND", 11, 2, gather_nd),
    {"ScatterElements", "", 11, AT_NET_OTHER, 3, 3, 1, scatter_elements},
    {"Scatter", "", 9, AT_NET_OTHER, 3, 3, 1, scatter_elements},
    {"ScatterND", "", 11, AT_NET_OTHER, 3, 3, 1, scatter_nd},
    {"TensorScatter", "", 24, AT_NET_OTHER, 2, 3, 1, tensor_scatter},
    {"OneHot", "", 9, AT_NET_MAP, 3, 3, 1, one_hot},
    GATHER("ReverseSequence", 10, 2, reverse_sequence),
    NET_ROWS_END,
};
