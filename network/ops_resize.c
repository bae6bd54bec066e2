/* network/ops_resize.c: Resize and Upsample, axis by axis: where an element of the output lies in
 * the input, and what share of which elements it takes. Places that are no plain quotient are a
 * table of indices, shares a table of weights: constants that the row adds to the node. */
#include "network/network_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZE = 1 << 24 };

typedef struct resizing {
    const char *mode, *coordinates, *nearest;
    double cubic, extrapolation;
    bool excludes_outside, antialias;
    int rank;
    double scale[AT_NET_MAX_RANK];
    double roi_begin[AT_NET_MAX_RANK], roi_end[AT_NET_MAX_RANK];
    int64_t in[AT_NET_MAX_RANK], out[AT_NET_MAX_RANK];
} resizing;

/* ---- what is asked for ----------------------------------------------------------------------- */

static void keep_ratio(net_op *o, resizing *r, const int *axes, int n) {
    const char *policy = op_string(o, "keep_aspect_ratio_policy", "stretch");
    const bool larger = !strcmp(policy, "not_smaller");
    double scale = larger ? 0 : INFINITY;
    if (!strcmp(policy, "stretch")) return;
    for (int i = 0; i < n; i++) {
        const double own = (double)r->out[axes[i]] / (double)r->in[axes[i]];
        scale = larger ? fmax(scale, own) : fmin(scale, own);
    }
    for (int i = 0; i < n; i++) {
        r->scale[axes[i]] = scale;
        r->out[axes[i]] = (int64_t)floor(scale * (double)r->in[axes[i]] + 0.5);
    }
}

static at_status take_axes(net_op *o, int rank, int *axes, int *n) {
    const int64_t *given = op_ints(o, "axes", n);
    if (!given) *n = rank;
    for (int i = 0; i < *n && i < AT_NET_MAX_RANK; i++)
        AT_TRY(op_axis(o, given ? given[i] : i, rank, &axes[i]));
    return AT_OK;
}

/* In float32, as ONNX Runtime does when it runs: 30 elements times 3.3 are 99. */
static int64_t scaled(int64_t size, double scale) {
    return (int64_t)floorf((float)size * (float)scale);
}

/* Scales are input 1 of old versions and of Upsample, else input 2; sizes are input 3. */
static at_status take_sizes(net_op *o, resizing *r, bool is_new) {
    const double *scales, *roi;
    const int64_t *sizes = NULL;
    int axes[AT_NET_MAX_RANK], n, num_scales, num_sizes = 0, num_roi;
    AT_TRY(take_axes(o, r->rank, axes, &n));
    AT_TRY(op_known_floats(o, is_new ? 2 : 1, &scales, &num_scales));
    if (is_new) AT_TRY(op_known_ints(o, 3, &sizes, &num_sizes));
    if ((num_scales && num_scales != n) || (num_sizes && num_sizes != n) ||
        !(num_scales + num_sizes))
        return op_fail(o, "scales or sizes of %d axes are needed", n);
    for (int i = 0; i < n; i++) {
        const int axis = axes[i];
        if (num_sizes) {
            r->out[axis] = sizes[i];
            r->scale[axis] = (double)sizes[i] / (double)r->in[axis];
            continue;
        }
        if (!(scales[i] > 1e-6 && scales[i] < 1e6)) return op_fail(o, "a scale of %g", scales[i]);
        r->scale[axis] = scales[i];
        r->out[axis] = scaled(r->in[axis], scales[i]);
    }
    for (int i = 0; num_sizes && i < n; i++)
        if (sizes[i] < 0 || sizes[i] > MOST_SIZE || !r->in[axes[i]])
            return op_fail(o, "a size of %lld of an axis of %lld", (long long)sizes[i],
                           (long long)r->in[axes[i]]);
    if (num_sizes) keep_ratio(o, r, axes, n);
    if (!is_new || strcmp(r->coordinates, "tf_crop_and_resize") != 0) return AT_OK;
    AT_TRY(op_known_floats(o, 1, &roi, &num_roi));
    if (num_roi != 2 * n) return op_fail(o, "a roi of %d numbers, not %d", num_roi, 2 * n);
    for (int i = 0; i < n; i++) {
        r->roi_begin[axes[i]] = roi[i];
        r->roi_end[axes[i]] = roi[n + i];
    }
    return AT_OK;
}

/* ---- along one axis -------------------------------------------------------------------------- */

/* Tables of an axis would be too long. */
static at_status check_table(net_op *o, const resizing *r, int axis) {
    enum { MOST = 1 << 22 };
    const double taps = r->antialias && r->scale[axis] < 1 ? 4 / r->scale[axis] : 4;
    if (r->in[axis] && (double)r->out[axis] * taps <= MOST) return AT_OK;
    return op_missing(o, "of %lld to %lld elements", (long long)r->in[axis],
                      (long long)r->out[axis]);
}

/* Which element is nearest is decided in float32, as PyTorch and ONNX Runtime do: 17/1.7 is 10, not
 * a little less. */
static double quotient(const resizing *r, double x, double y) {
    return strcmp(r->mode, "nearest") != 0 ? x / y : (double)((float)x / (float)y);
}

static double place_of(const resizing *r, int axis, int64_t i) {
    const double x = (double)i, scale = r->scale[axis], in = (double)r->in[axis],
                 out = (double)r->out[axis];
    const char *c = r->coordinates;
    if (!strcmp(c, "align_corners")) {
        const double full = scale * in; /* as the scale says, not as it was cut off */
        return full == 1 || out == 1 ? 0 : quotient(r, x * (in - 1), full - 1);
    }
    if (!strcmp(c, "asymmetric")) return quotient(r, x, scale);
    if (!strcmp(c, "tf_half_pixel_for_nn")) return quotient(r, x + 0.5, scale);
    if (!strcmp(c, "pytorch_half_pixel")) return out > 1 ? quotient(r, x + 0.5, scale) - 0.5 : 0;
    if (!strcmp(c, "half_pixel_symmetric")) {
        const double adjustment = out / (scale * in), center = in / 2;
        return center * (1 - adjustment) + quotient(r, x + 0.5, scale) - 0.5;
    }
    if (!strcmp(c, "tf_crop_and_resize")) {
        const double begin = r->roi_begin[axis], end = r->roi_end[axis];
        return out > 1 ? begin * (in - 1) + x * (end - begin) * (in - 1) / (out - 1)
                       : 0.5 * (begin + end) * (in - 1);
    }
    return quotient(r, x + 0.5, scale) - 0.5;
}

static int64_t nearest_of(const resizing *r, double x) {
    if (!strcmp(r->nearest, "floor")) return (int64_t)floor(x);
    if (!strcmp(r->nearest, "ceil")) return (int64_t)ceil(x);
    if (!strcmp(r->nearest, "round_prefer_ceil")) return (int64_t)floor(x + 0.5);
    return (int64_t)ceil(x - 0.5);
}

/* The share of an element so far away. */
static double share_of(const resizing *r, double distance) {
    const double d = fabs(distance), a = r->cubic;
    if (!strcmp(r->mode, "linear")) return d < 1 ? 1 - d : 0;
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    if (d < 2) return (((d - 5) * d + 8) * d - 4) * a;
    return 0;
}

typedef struct taps {
    int64_t num; /* of each element of the output */
    int64_t *index;
    float *weight;
} taps;

static bool leaves(const resizing *r, int axis, double x) {
    return !strcmp(r->coordinates, "tf_crop_and_resize") && (x < 0 || x > (double)r->in[axis] - 1);
}

static taps nearest_taps(net_op *o, const resizing *r, int axis) {
    taps t = {.num = 1, .index = AT_NEW_ARRAY(o->arena, int64_t, r->out[axis] + 1)};
    for (int64_t i = 0; i < r->out[axis]; i++) {
        const int64_t at = nearest_of(r, place_of(r, axis, i));
        t.index[i] = at < 0 ? 0 : at >= r->in[axis] ? r->in[axis] - 1 : at;
    }
    return t;
}

static taps weighted_taps(net_op *o, const resizing *r, int axis) {
    const int reach = !strcmp(r->mode, "linear") ? 1 : 2;
    const double scale = r->antialias && r->scale[axis] < 1 ? r->scale[axis] : 1;
    const int64_t around = (int64_t)ceil(reach / scale), num = 2 * around;
    taps t = {.num = num};
    t.index = AT_NEW_ARRAY(o->arena, int64_t, r->out[axis] * num + 1);
    t.weight = AT_NEW_ARRAY(o->arena, float, r->out[axis] * num + 1);
    double *share = AT_NEW_ARRAY(o->arena, double, num);
    for (int64_t i = 0; i < r->out[axis]; i++) {
        const double x = place_of(r, axis, i);
        const int64_t first = (int64_t)floor(x) - around + 1;
        double sum = 0;
        for (int64_t k = 0; k < num; k++) {
            const int64_t at = first + k;
            share[k] = share_of(r, ((double)at - x) * scale);
            if (r->excludes_outside && (at < 0 || at >= r->in[axis])) share[k] = 0;
            sum += share[k];
        }
        for (int64_t k = 0; k < num; k++) {
            const int64_t at = first + k;
            t.index[i * num + k] = at < 0 ? 0 : at >= r->in[axis] ? r->in[axis] - 1 : at;
            t.weight[i * num + k] = (float)(share[k] / sum);
        }
    }
    return t;
}

/* ---- the text -------------------------------------------------------------------------------- */

/* A table as floor((i*p + s)/q), if it is one; else as an input of indices. */
static const char *index_text(net_op *o, const taps *t, const resizing *r, int axis,
                              const char *place) {
    const int64_t n = r->out[axis], in = r->in[axis];
    if (t->num == 1) {
        const int64_t g = at_gcd(n, in), p = in / g, q = n / g;
        int64_t i = 0;
        while (i < n && t->index[i] == i * p / q) i++;
        if (i == n && p == 1) return op_format(o, "a%d/%lld", axis, (long long)q);
        if (i == n && q == 1) return op_format(o, "a%d*%lld", axis, (long long)p);
        if (i == n) return op_format(o, "a%d*%lld/%lld", axis, (long long)p, (long long)q);
    }
    const int64_t dims[] = {n, t->num};
    const int k = op_add_constant(o, AT_NET_INT64, t->num == 1 ? 1 : 2, dims, t->index);
    op_reads_index(o, k);
    return op_format(o, "x%d[%s]", k, place);
}

/* One axis of the value so far, a stage or the input. */
static void resize_axis(net_op *o, const resizing *r, int axis, const int64_t *dims,
                        const char *from, const char *to) {
    const bool nearest = !strcmp(r->mode, "nearest");
    const taps t = nearest ? nearest_taps(o, r, axis) : weighted_taps(o, r, axis);
    const char *place = op_format(o, t.num == 1 ? "a%d" : "a%d, k", axis);
    const char *at = index_text(o, &t, r, axis, place);
    op_add(o, "%s[%s] = ", to, op_axes(o, "a", r->rank, dims));
    if (!nearest) op_add(o, "sum(k:%lld) ", (long long)t.num);
    op_add(o, "%s[", from);
    for (int i = 0; i < r->rank; i++) {
        if (i == axis) op_add(o, "%s%s", i ? ", " : "", at);
        else op_add(o, "%sa%d", i ? ", " : "", i);
    }
    op_add(o, "]");
    if (!nearest) {
        const int64_t sizes[] = {r->out[axis], t.num};
        op_add(o, " * x%d[%s]", op_add_constant(o, AT_NET_FLOAT, 2, sizes, t.weight), place);
    }
    op_add(o, "\n");
}

/* What lies outside of the region has a value of its own. */
static void add_outside(net_op *o, const resizing *r, const char *from) {
    const char *inside = "";
    for (int i = 0; i < r->rank; i++) {
        float *is_in = AT_NEW_ARRAY(o->arena, float, r->out[i] + 1);
        bool any = false;
        for (int64_t k = 0; k < r->out[i]; k++) {
            is_in[k] = leaves(r, i, place_of(r, i, k)) ? 0 : 1;
            any |= is_in[k] == 0;
        }
        if (!any) continue;
        const int input = op_add_constant(o, AT_NET_FLOAT, 1, &r->out[i], is_in);
        inside = op_format(o, "%s%sx%d[a%d] != 0", inside, *inside ? " && " : "", input, i);
    }
    op_add(o, "y0[%s] = ", op_axes(o, "a", r->rank, r->out));
    if (*inside) op_add(o, "%s ? ", inside);
    op_add(o, "%s[%s]", from, op_index(o, "a", r->rank));
    op_add(o, *inside ? " : %s\n" : "\n", op_number(o, r->extrapolation));
}

static at_status write_text(net_op *o, resizing *r) {
    const bool crops = !strcmp(r->coordinates, "tf_crop_and_resize");
    int changed[AT_NET_MAX_RANK], n = 0;
    int64_t dims[AT_NET_MAX_RANK];
    const char *from = "x0";
    for (int i = 0; i < r->rank; i++)
        if (r->out[i] != r->in[i] || r->scale[i] != 1 ||
            (crops && (r->roi_begin[i] != 0 || r->roi_end[i] != 1)))
            changed[n++] = i;
    AT_TRY(op_out(o, 0, op_in(o, 0)->type, r->rank, r->out));
    for (int i = 0; i < r->rank; i++)
        if (!r->out[i]) return AT_OK;
    memcpy(dims, r->in, sizeof dims);
    for (int i = 0; i < n; i++) {
        const char *to = i == n - 1 && !crops ? "y0" : op_format(o, "s%d", i);
        dims[changed[i]] = r->out[changed[i]];
        AT_TRY(check_table(o, r, changed[i]));
        resize_axis(o, r, changed[i], dims, from, to);
        from = to;
    }
    if (crops) add_outside(o, r, from);
    else if (!n)
        op_add(o, "y0[%s] = x0[%s]\n", op_axes(o, "a", r->rank, r->out), op_index(o, "a", r->rank));
    return AT_OK;
}

static bool is_one_of(const char *word, const char *const *words) {
    for (; *words; words++)
        if (!strcmp(word, *words)) return true;
    return false;
}

static at_status check_words(net_op *o, const resizing *r) {
    static const char *const modes[] = {"nearest", "linear", "cubic", NULL};
    static const char *const coordinates[] = {
        "half_pixel",    "asymmetric",           "pytorch_half_pixel", "tf_half_pixel_for_nn",
        "align_corners", "half_pixel_symmetric", "tf_crop_and_resize", NULL};
    static const char *const nearest[] = {"floor", "ceil", "round_prefer_floor",
                                          "round_prefer_ceil", NULL};
    if (!is_one_of(r->mode, modes)) return op_missing(o, "mode %s", r->mode);
    if (!is_one_of(r->coordinates, coordinates))
        return op_missing(o, "coordinate_transformation_mode %s", r->coordinates);
    if (!is_one_of(r->nearest, nearest)) return op_missing(o, "nearest_mode %s", r->nearest);
    return AT_OK;
}

static at_status resize(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const bool is_new = o->node->version >= 11;
    resizing r = {.mode = op_string(o, "mode", "nearest"),
                  .coordinates = is_new
                                     ? op_string(o, "coordinate_transformation_mode", "half_pixel")
                                     : "asymmetric",
                  .nearest = is_new ? op_string(o, "nearest_mode", "round_prefer_floor") : "floor",
                  .cubic = op_float(o, "cubic_coeff_a", -0.75f),
                  .extrapolation = op_float(o, "extrapolation_value", 0),
                  .excludes_outside = op_int(o, "exclude_outside", 0) != 0,
                  .antialias = op_int(o, "antialias", 0) != 0,
                  .rank = x->rank};
    AT_TRY(check_words(o, &r));
    for (int i = 0; i < x->rank; i++) {
        r.in[i] = r.out[i] = x->dims[i];
        r.scale[i] = r.roi_end[i] = 1;
    }
    AT_TRY(take_sizes(o, &r, is_new));
    return write_text(o, &r);
}

static at_status upsample(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    resizing r = {.mode = op_string(o, "mode", "nearest"),
                  .coordinates = "asymmetric",
                  .nearest = "floor",
                  .rank = x->rank};
    const at_net_attribute *scales = at_net_attribute_find(o->node, "scales", AT_NET_ATTR_FLOATS);
    AT_TRY(check_words(o, &r));
    for (int i = 0; i < x->rank; i++) r.in[i] = r.out[i] = x->dims[i], r.scale[i] = 1;
    if (op_in(o, 1)) {
        AT_TRY(take_sizes(o, &r, false));
        return write_text(o, &r);
    }
    if (!scales || scales->num != x->rank || !scales->floats)
        return op_fail(o, "scales of %d axes are needed", x->rank);
    for (int i = 0; i < x->rank; i++) {
        if (!(scales->floats[i] > 1e-6f && scales->floats[i] < 1e6f))
            return op_fail(o, "a scale of %g", (double)scales->floats[i]);
        r.scale[i] = scales->floats[i];
        r.out[i] = scaled(r.in[i], scales->floats[i]);
    }
    return write_text(o, &r);
}

const at_net_row net_rows_resize[] = {
    {"Resize", "", 10, AT_NET_MOVE, 1, 4, 1, resize},
    {"Upsample", "", 7, AT_NET_MOVE, 1, 2, 1, upsample},
    NET_ROWS_END,
};
