/* network/ops_conv.c: windows that move over a picture: convolution and pooling, along any number
 * of axes. */
#include "network/network_int.h"

#include <string.h>

enum { MOST_AXES = 6 };

/* A window along each axis. */
typedef struct window {
    int axes;
    int64_t size[MOST_AXES]; /* of the input */
    int64_t kernel[MOST_AXES], stride[MOST_AXES], dilation[MOST_AXES];
    int64_t begin[MOST_AXES], end[MOST_AXES]; /* padding */
    int64_t out[MOST_AXES];
    bool ceil;
} window;

static at_status take_padding(net_op *o, window *w) {
    int64_t pads[2 * MOST_AXES];
    AT_TRY(op_numbers(o, "pads", 2 * w->axes, 0, pads));
    for (int i = 0; i < w->axes; i++) w->begin[i] = pads[i], w->end[i] = pads[w->axes + i];
    return AT_OK;
}

static void pad_same(window *w, bool lower) {
    for (int i = 0; i < w->axes; i++) {
        const int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1;
        const int64_t places = (w->size[i] + w->stride[i] - 1) / w->stride[i];
        int64_t all = (places - 1) * w->stride[i] + span - w->size[i];
        if (all < 0) all = 0;
        w->begin[i] = lower ? (all + 1) / 2 : all / 2;
        w->end[i] = all - w->begin[i];
    }
}

static at_status count_places(net_op *o, window *w) {
    for (int i = 0; i < w->axes; i++) {
        const int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1;
        const int64_t rest = w->size[i] + w->begin[i] + w->end[i] - span;
        if (rest < 0)
            return op_fail(o, "a window of %lld does not fit into %lld", (long long)span,
                           (long long)(w->size[i] + w->begin[i] + w->end[i]));
        w->out[i] = (w->ceil ? (rest + w->stride[i] - 1) : rest) / w->stride[i] + 1;
        /* None begins beyond the picture. */
        if (w->ceil && (w->out[i] - 1) * w->stride[i] >= w->size[i] + w->begin[i]) w->out[i]--;
    }
    return AT_OK;
}

/* kernel: the sizes of the weight, or NULL, as kernel_shape says. */
static at_status window_of(net_op *o, const int64_t *kernel, window *w) {
    const at_net_value *x = op_in(o, 0);
    const char *automatic = op_string(o, "auto_pad", "NOTSET");
    *w = (window){.axes = x->rank - 2, .ceil = op_int(o, "ceil_mode", 0) != 0};
    if (w->axes < 1 || w->axes > MOST_AXES)
        return op_fail(o, "\"%s\" has %d dimensions; 3 to %d are accepted", x->name, x->rank,
                       MOST_AXES + 2);
    for (int i = 0; i < w->axes; i++) w->size[i] = x->dims[2 + i];
    AT_TRY(op_numbers(o, "strides", w->axes, 1, w->stride));
    AT_TRY(op_numbers(o, "dilations", w->axes, 1, w->dilation));
    const bool is_given = op_has(o, "kernel_shape", AT_NET_ATTR_INTS);
    if (!kernel && !is_given) return op_fail(o, "kernel_shape is missing");
    if (is_given) AT_TRY(op_numbers(o, "kernel_shape", w->axes, 1, w->kernel));
    for (int i = 0; kernel && i < w->axes; i++) {
        if (is_given && w->kernel[i] != kernel[i])
            return op_fail(o, "kernel_shape: %lld; the weight's size is %lld",
                           (long long)w->kernel[i], (long long)kernel[i]);
        w->kernel[i] = kernel[i];
    }
    AT_TRY(take_padding(o, w));
    if (!strcmp(automatic, "SAME_UPPER")) pad_same(w, false);
    else if (!strcmp(automatic, "SAME_LOWER")) pad_same(w, true);
    else if (strcmp(automatic, "NOTSET") != 0 && strcmp(automatic, "VALID") != 0)
        return op_fail(o, "auto_pad \"%s\"; NOTSET, VALID, SAME_UPPER and SAME_LOWER are accepted",
                       automatic);
    return count_places(o, w);
}

/* ", p0:3, p1:3" */
static const char *spatial(const net_op *o, const char *letter, int n, const int64_t *size) {
    return n ? op_format(o, ", %s", op_axes(o, letter, n, size)) : "";
}

/* Where a window's element is read along an axis: "a0*2 + p0 - 1". */
static const char *place(const net_op *o, const window *w, int i) {
    at_text t = {0};
    at_text_addf(&t, "a%d", i);
    if (w->stride[i] != 1) at_text_addf(&t, "*%lld", (long long)w->stride[i]);
    if (w->kernel[i] != 1) {
        at_text_addf(&t, " + p%d", i);
        if (w->dilation[i] != 1) at_text_addf(&t, "*%lld", (long long)w->dilation[i]);
    }
    if (w->begin[i]) at_text_addf(&t, " - %lld", (long long)w->begin[i]);
    return at_text_take(o->arena, &t);
}

static bool may_leave(const window *w, int i) {
    const int64_t last = (w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i];
    return w->begin[i] || last - w->begin[i] >= w->size[i];
}

/* ", i0, i1" and the definitions of these places; *inside: the condition, NULL where all are. */
static const char *places(const net_op *o, const window *w, const char **where,
                          const char **inside) {
    at_text index = {0}, defs = {0}, in = {0};
    for (int i = 0; i < w->axes; i++) {
        at_text_addf(&index, ", i%d", i);
        at_text_addf(&defs, "%si%d = %s", i ? ", " : " where ", i, place(o, w, i));
        if (may_leave(w, i))
            at_text_addf(&in, "%s0 <= i%d && i%d < %lld", in.len ? " && " : "", i, i,
                         (long long)w->size[i]);
    }
    *inside = in.len ? "inside" : NULL;
    if (in.len) at_text_addf(&defs, ", inside = %s", at_text_str(&in));
    *where = at_text_take(o->arena, &defs);
    at_text_free(&in);
    return at_text_take(o->arena, &index);
}

static const char *guarded(const net_op *o, const char *inside, const char *term,
                           const char *otherwise) {
    return inside ? op_format(o, "%s ? %s : %s", inside, term, otherwise) : term;
}

/* ---- convolution ----------------------------------------------------------------------------- */

static at_status check_conv(net_op *o, int weight, int bias, int64_t groups) {
    const at_net_value *x = op_in(o, 0), *w = op_in(o, weight), *b = op_in(o, bias);
    if (w->rank != x->rank || x->rank < 3)
        return op_fail(o, "\"%s\" has %d dimensions, \"%s\" %d", x->name, x->rank, w->name,
                       w->rank);
    if (groups < 1 || w->dims[1] * groups != x->dims[1] || w->dims[0] % groups)
        return op_fail(o,
                       "%lld channels of \"%s\" do not fit %lld to %lld of \"%s\" in %lld groups",
                       (long long)x->dims[1], x->name, (long long)w->dims[1], (long long)w->dims[0],
                       w->name, (long long)groups);
    if (b && (b->elements != w->dims[0] || b->rank != 1))
        return op_fail(o, "\"%s\" has %lld elements for %lld channels", b->name,
                       (long long)b->elements, (long long)w->dims[0]);
    return AT_OK;
}

/* The channel of the input that output channel m reads, with the reduction's c. */
static const char *channel_of(const net_op *o, const at_net_value *k, int64_t groups) {
    const long long per_group = k->dims[0] / groups, channels = k->dims[1];
    const char *group = per_group == 1 ? "m" : op_format(o, "m/%lld", per_group);
    return groups == 1 ? "c" : channels == 1 ? group : op_format(o, "%s*%lld + c", group, channels);
}

at_status op_convolve(net_op *o, const op_convolution *how, const char **axes, const char **own) {
    const int64_t groups = op_int(o, "group", 1);
    window w;
    const char *where, *inside;
    AT_TRY(check_conv(o, how->weight, how->bias, groups));
    const at_net_value *x = op_in(o, 0), *k = op_in(o, how->weight);
    AT_TRY(window_of(o, k->dims + 2, &w));
    int64_t dims[AT_NET_MAX_RANK] = {x->dims[0], k->dims[0]};
    memcpy(dims + 2, w.out, sizeof *dims * (size_t)w.axes);
    AT_TRY(op_out(o, 0, how->type, x->rank, dims));
    const char *data =
        op_format(o, "x0[n, %s%s]", channel_of(o, k, groups), places(o, &w, &where, &inside));
    const char *weight = op_format(o, "x%d[m, c, %s]", how->weight, op_index(o, "p", w.axes));
    if (how->data_zero) data = op_format(o, "(%s - %s)", data, how->data_zero);
    if (how->weight_zero) weight = op_format(o, "(%s - %s)", weight, how->weight_zero);
    *axes = op_format(o, "n:%lld, m:%lld%s", (long long)dims[0], (long long)dims[1],
                      spatial(o, "a", w.axes, w.out));
    *own = op_format(o, "n, m, %s", op_index(o, "a", w.axes));
    op_add(o, "%s[%s] = sum(c:%lld%s) %s%s\n", how->stage, *axes, (long long)k->dims[1],
           spatial(o, "p", w.axes, w.kernel),
           guarded(o, inside, op_format(o, "%s * %s", data, weight), "0"), where);
    return AT_OK;
}

static at_status conv(net_op *o) {
    const bool has_bias = op_in(o, 2) != NULL;
    const char *axes, *own;
    const op_convolution how = {
        .weight = 1, .bias = 2, .type = op_in(o, 0)->type, .stage = has_bias ? "s" : "y0"};
    AT_TRY(op_convolve(o, &how, &axes, &own));
    if (has_bias) op_add(o, "y0[%s] = s[%s] + x2[m]\n", axes, own);
    return AT_OK;
}

/* ---- transposed convolution ------------------------------------------------------------------ */

/* What an output's sizes leave of the padding that is asked for. */
static at_status transposed_sizes(net_op *o, window *w) {
    const char *automatic = op_string(o, "auto_pad", "NOTSET");
    int num_more, num_out;
    const int64_t *more = op_ints(o, "output_padding", &num_more),
                  *out = op_ints(o, "output_shape", &num_out);
    const bool upper = !strcmp(automatic, "SAME_UPPER"), lower = !strcmp(automatic, "SAME_LOWER");
    if ((more && num_more != w->axes) || (out && num_out != w->axes && num_out != w->axes + 2))
        return op_fail(o, "output_padding or output_shape does not fit %d axes", w->axes);
    for (int i = 0; more && i < w->axes; i++)
        if (more[i] < 0 || more[i] > 1 << 24)
            return op_fail(o, "output_padding %lld", (long long)more[i]);
    for (int i = 0; i < w->axes; i++) {
        const int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1;
        const int64_t all = w->stride[i] * (w->size[i] - 1) + (more ? more[i] : 0) + span;
        w->out[i] = out              ? out[num_out - w->axes + i]
                    : upper || lower ? w->size[i] * w->stride[i]
                                     : all - w->begin[i] - w->end[i];
        if (w->out[i] < 1) return op_fail(o, "an output of size %lld", (long long)w->out[i]);
        if (!out && !upper && !lower) continue;
        const int64_t gone = all - w->out[i] > 0 ? all - w->out[i] : 0;
        w->begin[i] = upper ? gone / 2 : gone - gone / 2;
        if (!upper && !lower) w->begin[i] = gone / 2;
        w->end[i] = gone - w->begin[i];
    }
    return AT_OK;
}

static at_status check_transposed(net_op *o, int64_t groups) {
    const at_net_value *x = op_in(o, 0), *w = op_in(o, 1), *b = op_in(o, 2);
    if (w->rank != x->rank || x->rank < 3 || x->rank > MOST_AXES + 2)
        return op_fail(o, "\"%s\" has %d dimensions, \"%s\" %d", x->name, x->rank, w->name,
                       w->rank);
    if (groups < 1 || w->dims[0] != x->dims[1] || w->dims[0] % groups)
        return op_fail(o, "%lld channels of \"%s\" do not fit %lld of \"%s\" in %lld groups",
                       (long long)x->dims[1], x->name, (long long)w->dims[0], w->name,
                       (long long)groups);
    if (b && b->elements != w->dims[1] * groups)
        return op_fail(o, "\"%s\" has %lld elements for %lld channels", b->name,
                       (long long)b->elements, (long long)(w->dims[1] * groups));
    return AT_OK;
}

/* Where windows lie side by side each output has one element of a window, and no sum over them. */
static bool lie_side_by_side(const window *w) {
    for (int i = 0; i < w->axes; i++)
        if (w->kernel[i] != w->stride[i] || w->dilation[i] != 1) return false;
    return true;
}

/* Output o takes in x[i]*w[p] where i*stride + p*dilation = o + begin. */
static at_status conv_transpose(net_op *o) {
    const int64_t groups = op_int(o, "group", 1);
    const at_net_value *x = op_in(o, 0), *k = op_in(o, 1);
    window w;
    AT_TRY(check_transposed(o, groups));
    w = (window){.axes = x->rank - 2};
    for (int i = 0; i < w.axes; i++) w.size[i] = x->dims[2 + i], w.kernel[i] = k->dims[2 + i];
    AT_TRY(op_numbers(o, "strides", w.axes, 1, w.stride));
    AT_TRY(op_numbers(o, "dilations", w.axes, 1, w.dilation));
    AT_TRY(take_padding(o, &w));
    AT_TRY(transposed_sizes(o, &w));
    int64_t dims[AT_NET_MAX_RANK] = {x->dims[0], k->dims[1] * groups};
    memcpy(dims + 2, w.out, sizeof *dims * (size_t)w.axes);
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    const long long per_in = k->dims[0] / groups, per_out = k->dims[1];
    const char *channel = groups == 1 ? "c" : op_format(o, "m/%lld*%lld + c", per_out, per_in),
               *row = groups == 1 ? "m" : op_format(o, "m%%%lld", per_out), *index = "",
               *where = "", *in = "", *taps = "", *tap = "";
    const bool one = lie_side_by_side(&w);
    for (int i = 0; i < w.axes; i++) {
        const char *step = op_format(o, " - p%d*%lld", i, (long long)w.dilation[i]);
        where =
            op_format(o, "%s%st%d = a%d + %lld%s, i%d = t%d/%lld", where, i ? ", " : " where ", i,
                      i, (long long)w.begin[i], one ? "" : step, i, i, (long long)w.stride[i]);
        if (one) tap = op_format(o, "%s, t%d%%%lld", tap, i, (long long)w.stride[i]);
        else
            taps = op_format(o, "%s, p%d:%lld", taps, i, (long long)w.kernel[i]),
            tap = op_format(o, "%s, p%d", tap, i);
        in = op_format(o, "%s%s0 <= i%d && i%d < %lld", in, i ? " && " : "", i, i,
                       (long long)w.size[i]);
        if (w.stride[i] > 1 && !one)
            in = op_format(o, "%s && t%d%%%lld == 0", in, i, (long long)w.stride[i]);
        index = op_format(o, "%s, i%d", index, i);
    }
    const char *head = op_format(o, "[n:%lld, m:%lld%s]", (long long)dims[0], (long long)dims[1],
                                 spatial(o, "a", w.axes, w.out));
    op_add(o, "%s%s = sum(c:%lld%s) inside ? x0[n, %s%s] * x1[%s, %s%s] : 0%s, inside = %s\n",
           op_in(o, 2) ? "s" : "y0", head, per_in, taps, channel, index, channel, row, tap, where,
           in);
    if (op_in(o, 2)) op_add(o, "y0%s = s[n, m, %s] + x2[m]\n", head, op_index(o, "a", w.axes));
    return AT_OK;
}

/* ---- pooling --------------------------------------------------------------------------------- */

static at_status pool_out(net_op *o, const window *w, int64_t *dims) {
    const at_net_value *x = op_in(o, 0);
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    memcpy(dims + 2, w->out, sizeof *dims * (size_t)w->axes);
    return op_out(o, 0, x->type, x->rank, dims);
}

static void pool_stage(net_op *o, const char *name, const int64_t *dims, const window *w,
                       const char *reduction, const char *rest) {
    op_add(o, "%s[n:%lld, c:%lld%s] = %s(%s) %s\n", name, (long long)dims[0], (long long)dims[1],
           spatial(o, "a", w->axes, w->out), reduction, op_axes(o, "p", w->axes, w->kernel), rest);
}

/* The places of the largest elements, of several the first. They count all of the input, row by row
 * or, with storage_order, column by column. */
static at_status add_indices(net_op *o, const window *w, const int64_t *dims, const char *index,
                             const char *where, const char *inside) {
    const bool by_columns = op_int(o, "storage_order", 0) != 0;
    const char *flat = "0";
    AT_TRY(op_out(o, 1, AT_NET_INT64, w->axes + 2, dims));
    for (int i = 0; i < w->axes; i++) {
        const int axis = by_columns ? w->axes - 1 - i : i;
        flat = i ? op_format(o, "(%s)*%lld + i%d", flat, (long long)w->size[axis], axis)
                 : op_format(o, "i%d", axis);
    }
    const char *all = "n";
    all = op_format(o, "n*%lld + c", (long long)dims[1]);
    int64_t plane = 1;
    for (int i = 0; i < w->axes; i++) plane *= w->size[i];
    const char *found = op_format(o, "x0[n, c%s] == m[n, c, %s] ? (%s)*%lld + %s : inf", index,
                                  op_index(o, "a", w->axes), all, (long long)plane, flat);
    pool_stage(
        o, "y1", dims, w, "min",
        op_format(o, "%s%s", inside ? op_format(o, "inside ? (%s) : inf", found) : found, where));
    return AT_OK;
}

static at_status max_pool(net_op *o) {
    window w;
    const char *where, *inside;
    int64_t dims[AT_NET_MAX_RANK];
    AT_TRY(window_of(o, NULL, &w));
    AT_TRY(pool_out(o, &w, dims));
    const char *index = places(o, &w, &where, &inside);
    const char *term = op_format(o, "x0[n, c%s]", index);
    const bool has_indices = op_has_out(o, 1);
    pool_stage(o, has_indices ? "m" : "y0", dims, &w, "max",
               op_format(o, "%s%s", guarded(o, inside, term, "-inf"), where));
    if (!has_indices) return AT_OK;
    op_add(o, "y0[n:%lld, c:%lld%s] = m[n, c, %s]\n", (long long)dims[0], (long long)dims[1],
           spatial(o, "a", w.axes, w.out), op_index(o, "a", w.axes));
    return add_indices(o, &w, dims, index, where, inside);
}

/* How many elements of a window count: padding counts or not, what lies beyond it never does. */
static const char *count_of(net_op *o, const window *w, bool padding_counts) {
    const char *product = NULL;
    for (int i = 0; i < w->axes; i++) {
        window counted = *w;
        if (padding_counts) {
            counted.size[i] += w->begin[i] + w->end[i];
            counted.begin[i] = 0;
        }
        const char *factor;
        if (may_leave(&counted, i)) {
            op_add(o, "n%d[a%d:%lld] = sum(p%d:%lld) 0 <= i && i < %lld ? 1 : 0 where i = %s\n", i,
                   i, (long long)w->out[i], i, (long long)w->kernel[i], (long long)counted.size[i],
                   place(o, &counted, i));
            factor = op_format(o, "n%d[a%d]", i, i);
        } else {
            factor = op_format(o, "%lld.0", (long long)w->kernel[i]);
        }
        product = product ? op_format(o, "%s*%s", product, factor) : factor;
    }
    return product;
}

/* x0 at an index, without the zero. */
static const char *element_at(net_op *o, const char *index, const char *zero) {
    return zero ? op_format(o, "(x0[n, c%s] - %s)", index, zero)
                : op_format(o, "x0[n, c%s]", index);
}

static at_status average_windows(net_op *o, const char *zero, const char *stage, const char **axes,
                                 const char **own) {
    window w;
    const char *where, *inside;
    int64_t dims[AT_NET_MAX_RANK];
    AT_TRY(window_of(o, NULL, &w));
    AT_TRY(pool_out(o, &w, dims));
    const char *term = element_at(o, places(o, &w, &where, &inside), zero);
    pool_stage(o, "s", dims, &w, "sum", op_format(o, "%s%s", guarded(o, inside, term, "0"), where));
    const char *count = count_of(o, &w, op_int(o, "count_include_pad", 0) != 0);
    *axes = op_format(o, "n:%lld, c:%lld%s", (long long)dims[0], (long long)dims[1],
                      spatial(o, "a", w.axes, w.out));
    *own = op_format(o, "n, c, %s", op_index(o, "a", w.axes));
    op_add(o, "%s[%s] = s[%s]/(%s)\n", stage, *axes, *own, count);
    return AT_OK;
}

static at_status average_pool(net_op *o) {
    const char *axes, *own;
    return op_average(o, false, NULL, op_in(o, 0)->type, "y0", &axes, &own);
}

static at_status lp_pool(net_op *o) {
    window w;
    const char *where, *inside;
    int64_t dims[AT_NET_MAX_RANK];
    const char *of_term, *of_sum;
    AT_TRY(op_norm(o, op_int(o, "p", 2), &of_term, &of_sum));
    AT_TRY(window_of(o, NULL, &w));
    AT_TRY(pool_out(o, &w, dims));
    const char *x = op_format(o, "x0[n, c%s]", places(o, &w, &where, &inside)),
               *term = op_format(o, of_term, x);
    pool_stage(o, of_sum ? "s" : "y0", dims, &w, "sum",
               op_format(o, "%s%s", guarded(o, inside, term, "0"), where));
    if (!of_sum) return AT_OK;
    const char *own = op_index(o, "a", w.axes);
    op_add(o, "y0[n:%lld, c:%lld%s] = ", (long long)dims[0], (long long)dims[1],
           spatial(o, "a", w.axes, w.out));
    op_add(o, of_sum, op_format(o, "s[n, c, %s]", own));
    op_add(o, "\n");
    return AT_OK;
}

/* ---- back from a pooled picture -------------------------------------------------------------- */

/* What windows make of the sizes of the input; dims: as output_shape says, or the same. */
static at_status unpooled_sizes(net_op *o, int64_t *made, int64_t *dims) {
    const at_net_value *x = op_in(o, 0);
    window w = {.axes = x->rank - 2};
    const int64_t *asked;
    int n;
    AT_TRY(op_numbers(o, "kernel_shape", w.axes, 1, w.kernel));
    AT_TRY(op_numbers(o, "strides", w.axes, 1, w.stride));
    AT_TRY(take_padding(o, &w));
    AT_TRY(op_known_ints(o, 2, &asked, &n));
    if (asked && n != x->rank) return op_fail(o, "output_shape has %d numbers", n);
    for (int i = 0; i < x->rank; i++) {
        const int k = i - 2;
        made[i] = k < 0 ? x->dims[i]
                        : (x->dims[i] - 1) * w.stride[k] + w.kernel[k] - w.begin[k] - w.end[k];
        dims[i] = asked ? asked[i] : made[i];
        if (made[i] < 1 || dims[i] < made[i] || (k < 0 && dims[i] != made[i]))
            return op_fail(o, "%lld elements of %lld along axis %d", (long long)made[i],
                           (long long)dims[i], i);
    }
    return AT_OK;
}

/* Elements lie where they were before, by their places in all that windows make, of several of the
 * same place the last; all others are 0. */
static at_status max_unpool(net_op *o) {
    const at_net_value *x = op_in(o, 0), *places = op_in(o, 1);
    int64_t dims[AT_NET_MAX_RANK], made[AT_NET_MAX_RANK], all = 1, behind = 1;
    const char *where, *place = "", *inside = "", *from = "";
    if (x->rank < 3 || x->rank > MOST_AXES + 2 || places->rank != x->rank || !x->elements ||
        memcmp(places->dims, x->dims, sizeof *x->dims * (size_t)x->rank) != 0)
        return op_fail(o, "pictures with a place for each element are needed");
    AT_TRY(unpooled_sizes(o, made, dims));
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    for (int i = 0; i < x->rank; i++) {
        if (dims[i] > made[i])
            inside = op_format(o, "%sa%d < %lld && ", inside, i, (long long)made[i]);
        place = i ? op_format(o, "(%s)*%lld + a%d", place, (long long)made[i], i) : "a0";
        all *= made[i];
    }
    for (int i = x->rank - 1; i >= 0; behind *= x->dims[i--])
        from = op_format(o, "n/%lld%%%lld%s%s", (long long)behind, (long long)x->dims[i],
                         *from ? ", " : "", from);
    op_reads_index(o, 1);
    const char *element = op_reshaped(o, "k", 1, &x->elements, x->rank, x->dims, &where);
    op_add(o, "last[p:%lld] : s32 = max(k0:%lld) x1[%s] == p ? k0 : -1%s\n", (long long)all,
           (long long)x->elements, element, where);
    op_add(o, "y0[%s] = %slast[%s] >= 0 ? x0[%s] : 0 where n = max(last[%s], 0)\n",
           op_axes(o, "a", x->rank, dims), inside, place, from, place);
    return AT_OK;
}

/* ---- all of a picture ------------------------------------------------------------------------ */

/* The sum or the largest of each picture. */
static at_status reduce_pictures(net_op *o, const char *reduction, const char *zero,
                                 const char *stage, const char **axes, const char **own) {
    const at_net_value *x = op_in(o, 0);
    if (x->rank < 3 || x->rank > MOST_AXES + 2)
        return op_fail(o, "\"%s\" has %d dimensions; 3 to %d are accepted", x->name, x->rank,
                       MOST_AXES + 2);
    int64_t dims[AT_NET_MAX_RANK] = {x->dims[0], x->dims[1]}, ones[MOST_AXES];
    const int n = x->rank - 2;
    for (int i = 0; i < n; i++) dims[2 + i] = ones[i] = 1;
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    *axes = op_format(o, "n:%lld, c:%lld%s", (long long)dims[0], (long long)dims[1],
                      spatial(o, "a", n, ones));
    *own = op_format(o, "n, c, %s", op_index(o, "a", n));
    op_add(o, "%s[%s] = %s(%s) %s\n", stage, *axes, reduction, op_axes(o, "p", n, x->dims + 2),
           element_at(o, op_format(o, ", %s", op_index(o, "p", n)), zero));
    return AT_OK;
}

static at_status average_pictures(net_op *o, const char *zero, const char *stage, const char **axes,
                                  const char **own) {
    const at_net_value *x = op_in(o, 0);
    int64_t plane = 1;
    for (int i = 2; i < x->rank; i++) plane *= x->dims[i];
    AT_TRY(reduce_pictures(o, "sum", zero, "s", axes, own));
    op_add(o, "%s[%s] = s[%s]/%lld.0\n", stage, *axes, *own, (long long)plane);
    return AT_OK;
}

at_status op_average(net_op *o, bool whole, const char *data_zero, at_net_type type,
                     const char *stage, const char **axes, const char **own) {
    AT_TRY(whole ? average_pictures(o, data_zero, stage, axes, own)
                 : average_windows(o, data_zero, stage, axes, own));
    o->out[0].type = type;
    return AT_OK;
}

static at_status global_average_pool(net_op *o) {
    const char *axes, *own;
    return op_average(o, true, NULL, op_in(o, 0)->type, "y0", &axes, &own);
}

static at_status global_max_pool(net_op *o) {
    const char *axes, *own;
    return reduce_pictures(o, "max", NULL, "y0", &axes, &own);
}

/* Across channels. */
static at_status lrn(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t size = op_int(o, "size", 0), below = (size - 1) / 2;
    const double alpha = op_float(o, "alpha", 0.0001f), beta = op_float(o, "beta", 0.75f);
    if (x->rank < 2 || size < 1) return op_fail(o, "a size from 1 and 2 dimensions are needed");
    const int rest = x->rank - 2;
    const char *tail = rest ? op_format(o, ", %s", op_index(o, "a", rest)) : "";
    const char *head = op_format(o, "[n:%lld, c:%lld%s]", (long long)x->dims[0],
                                 (long long)x->dims[1], spatial(o, "a", rest, x->dims + 2));
    AT_TRY(op_out_like(o, 0, x));
    op_add(o,
           "q%s = sum(k:%lld) 0 <= i && i < %lld ? x0[n, i%s]*x0[n, i%s] : 0 where i = c + k - "
           "%lld\n",
           head, (long long)size, (long long)x->dims[1], tail, tail, (long long)below);
    op_add(o, "y0%s = x0[n, c%s]*exp(%s*log(%s + %s*q[n, c%s]))\n", head, tail, op_number(o, -beta),
           op_number(o, op_float(o, "bias", 1)), op_number(o, (float)(alpha / (double)size)), tail);
    return AT_OK;
}

const at_net_row net_rows_conv[] = {
    {"Conv", "", 1, AT_NET_SUM, 2, 3, 1, conv},
    {"ConvTranspose", "", 1, AT_NET_SUM, 2, 3, 1, conv_transpose},
    {"MaxPool", "", 1, AT_NET_SUM, 1, 1, 2, max_pool},
    {"AveragePool", "", 1, AT_NET_SUM, 1, 1, 1, average_pool},
    {"LpPool", "", 1, AT_NET_SUM, 1, 1, 1, lp_pool},
    {"GlobalAveragePool", "", 1, AT_NET_SUM, 1, 1, 1, global_average_pool},
    {"GlobalMaxPool", "", 1, AT_NET_SUM, 1, 1, 1, global_max_pool},
    {"MaxUnpool", "", 9, AT_NET_OTHER, 2, 3, 1, max_unpool},
    {"LRN", "", 1, AT_NET_OTHER, 1, 1, 1, lrn},
    NET_ROWS_END,
};
