/* network/ops_boxes.c: what lies in boxes of a picture, in as many bins for each. */
#include "network/network_int.h"

#include <string.h>

/* ---- RoiAlign -------------------------------------------------------------------------------- */

static const char *roi_place(const net_op *o) {
    return op_string(o, "coordinate_transformation_mode", "half_pixel");
}

static bool begins_half_before(const net_op *o) {
    return !strcmp(roi_place(o), "half_pixel") && o->node->version >= 16;
}

/* Of box r along y (axis 0) or x, in elements of the picture. */
static const char *box_begin(const net_op *o, int axis) {
    return op_format(o, "x1[r, %d]*%s%s", 1 - axis, op_number(o, op_float(o, "spatial_scale", 1)),
                     begins_half_before(o) ? " - 0.5" : "");
}

static const char *box_length(const net_op *o, int axis) {
    return op_format(o,
                     begins_half_before(o) ? "(x1[r, %d] - x1[r, %d])*%s"
                                           : "max((x1[r, %d] - x1[r, %d])*%s, 1)",
                     3 - axis, 1 - axis, op_number(o, op_float(o, "spatial_scale", 1)));
}

/* Stages of samples along y (axis 0) or x: q where they lie, i0 and i1 the elements around, w0 and
 * w1 their weights, 0 where a sample is outside. */
static void add_samples(net_op *o, int axis, int64_t size, int64_t bins, int64_t samples) {
    const char *of = op_format(o, "r:%lld, b:%lld, s:%lld", (long long)op_in(o, 1)->dims[0],
                               (long long)bins, (long long)samples);
    op_add(o, "q%d[%s] = %s + (b + (s + 0.5)*%s)*(%s)*%s\n", axis, of, box_begin(o, axis),
           op_number(o, 1 / (double)samples), box_length(o, axis), op_number(o, 1 / (double)bins));
    op_add(o, "p%d[%s] = min(max(q%d[r, b, s], 0), %lld)\n", axis, of, axis, (long long)size - 1);
    const char *p = op_format(o, "p%d[r, b, s]", axis), *q = op_format(o, "q%d[r, b, s]", axis);
    const char *in = op_format(o, "%s >= -1 && %s <= %lld", q, q, (long long)size);
    for (int tap = 0; tap < 2; tap++) {
        op_add(o, "i%d%d[%s] : s32 = min(max(floor(%s)%s, 0), %lld)\n", axis, tap, of, p,
               tap ? " + 1" : "", (long long)size - 1);
        op_add(o,
               tap ? "w%d%d[%s] = %s ? %s - floor(%s) : 0\n"
                   : "w%d%d[%s] = %s ? 1 - (%s - floor(%s)) : 0\n",
               axis, tap, of, in, p, p);
    }
}

/* The stage g: the share of each row (axis 0) or column of the picture in the mean of a bin that
 * has a sample for each element begun. Samples are more than half an element apart, or there is
 * one: of those around a row, which are within one element of it, the first is number f. */
static void add_shares(net_op *o, int axis, int64_t size, int64_t bins) {
    enum { MOST_AROUND = 6 };
    const long long boxes = op_in(o, 1)->dims[0], last = size - 1;
    const char *bin = op_format(o, "(%s)/%lld.0", box_length(o, axis), (long long)bins);
    op_add(o, "l%d[r:%lld] = %s\n", axis, boxes, bin);
    op_add(o, "n%d[r:%lld] = max(ceil(l%d[r]), 0)\n", axis, boxes, axis);
    op_add(o, "d%d[r:%lld] = l%d[r]/max(n%d[r], 1)\n", axis, boxes, axis, axis);
    op_add(o, "e%d[r:%lld, b:%lld] = %s + b*l%d[r] + 0.5*d%d[r]\n", axis, boxes, (long long)bins,
           box_begin(o, axis), axis, axis);
    op_add(o,
           "f%d[r:%lld, b:%lld, h:%lld] = d%d[r] > 0 ? max(floor((h - 1 - e%d[r, b])/d%d[r]), 0) : "
           "0\n",
           axis, boxes, (long long)bins, (long long)size, axis, axis, axis);
    op_add(o,
           "t%d[r:%lld, b:%lld, h:%lld] = sum(k:%d) s < n%d[r] && q >= -1 && q <= %lld ? max(1 - "
           "abs(min(max(q, 0), %lld) - h), 0) : 0 where s = f%d[r, b, h] + k, q = e%d[r, b] + "
           "s*d%d[r]\n",
           axis, boxes, (long long)bins, (long long)size, MOST_AROUND, axis, (long long)size, last,
           axis, axis, axis);
    op_add(o, "g%d[r:%lld, b:%lld, h:%lld] = t%d[r, b, h]/max(n%d[r], 1)\n", axis, boxes,
           (long long)bins, (long long)size, axis, axis);
}

/* As many samples as a box is large: a mean of columns, then of rows. */
static at_status mean_of_all(net_op *o, const int64_t *dims) {
    const at_net_value *x = op_in(o, 0);
    const long long height = x->dims[2], width = x->dims[3];
    add_shares(o, 0, x->dims[2], dims[2]);
    add_shares(o, 1, x->dims[3], dims[3]);
    op_add(o, "u[a0:%lld, a1:%lld, h:%lld, a3:%lld] = sum(w:%lld) x0[%s, a1, h, w]*g1[a0, a3, w]\n",
           (long long)dims[0], (long long)dims[1], height, (long long)dims[3], width,
           op_entry(o, 2, "a0", x->dims[0]));
    op_add(o, "y0[%s] = sum(h:%lld) g0[a0, a2, h]*u[a0, a1, h, a3]\n", op_axes(o, "a", 4, dims),
           height);
    return AT_OK;
}

/* So many samples along each side of a bin. */
static at_status samples_of(net_op *o, const int64_t *dims, int64_t samples, bool takes_most) {
    const at_net_value *x = op_in(o, 0);
    add_samples(o, 0, x->dims[2], dims[2], samples);
    add_samples(o, 1, x->dims[3], dims[3], samples);
    const char *of = op_axes(o, "a", 4, dims), *terms[4];
    for (int i = 0; i < 4; i++)
        terms[i] =
            op_format(o,
                      "x0[%s, a1, i0%d[a0, a2, s], i1%d[a0, a3, t]]*(w0%d[a0, a2, s]*w1%d[a0, "
                      "a3, t])",
                      op_entry(o, 2, "a0", x->dims[0]), i / 2, i % 2, i / 2, i % 2);
    const char *over = op_format(o, "(s:%lld, t:%lld)", (long long)samples, (long long)samples);
    if (takes_most) {
        op_add(o, "y0[%s] = max%s max(%s, %s, %s, %s)\n", of, over, terms[0], terms[1], terms[2],
               terms[3]);
        return AT_OK;
    }
    op_add(o, "m[%s] = sum%s %s + %s + %s + %s\n", of, over, terms[0], terms[1], terms[2],
           terms[3]);
    op_add(o, "y0[%s] = m[a0, a1, a2, a3]*%s\n", of,
           op_number(o, 1 / ((double)samples * (double)samples)));
    return AT_OK;
}

static at_status roi_align(net_op *o) {
    const at_net_value *x = op_in(o, 0), *rois = op_in(o, 1), *batch = op_in(o, 2);
    enum { MOST_SAMPLES = 1024 };
    const int64_t samples = op_int(o, "sampling_ratio", 0);
    const char *mode = op_string(o, "mode", "avg"), *place = roi_place(o);
    const bool takes_most = !strcmp(mode, "max");
    if (x->rank != 4 || rois->rank != 2 || rois->dims[1] != 4 || batch->rank != 1 ||
        batch->dims[0] != rois->dims[0] || !x->dims[2] || !x->dims[3])
        return op_fail(o,
                       "pictures, boxes of 4 numbers and a picture's number for each are needed");
    if (!takes_most && strcmp(mode, "avg") != 0) return op_missing(o, "mode %s", mode);
    if (strcmp(place, "half_pixel") != 0 && strcmp(place, "output_half_pixel") != 0)
        return op_missing(o, "coordinate_transformation_mode %s", place);
    if (!samples && takes_most)
        return op_missing(o, "the largest of as many samples as a box is large (sampling_ratio 0)");
    if (samples < 0 || samples > MOST_SAMPLES)
        return op_fail(o, "a sampling_ratio of %lld; up to %d are accepted", (long long)samples,
                       MOST_SAMPLES);
    const int64_t dims[] = {rois->dims[0], x->dims[1], op_int(o, "output_height", 1),
                            op_int(o, "output_width", 1)};
    AT_TRY(op_out(o, 0, x->type, 4, dims));
    return samples ? samples_of(o, dims, samples, takes_most) : mean_of_all(o, dims);
}

/* ---- MaxRoiPool ------------------------------------------------------------------------------ */

/* Stages of a box's bins along y (axis 0) or x: from h<axis> up to e<axis>, cut at the picture. */
static void add_bins(net_op *o, int axis, int64_t size, int64_t bins) {
    const long long boxes = op_in(o, 1)->dims[0];
    const char *scale = op_number(o, op_float(o, "spatial_scale", 1));
    const char *of = op_format(o, "[r:%lld, b:%lld]", boxes, (long long)bins);
    op_add(o, "f%d[r:%lld] = floor(x1[r, %d]*%s + 0.5)\n", axis, boxes, 2 - axis, scale);
    op_add(o, "l%d[r:%lld] = max(floor(x1[r, %d]*%s + 0.5) - f%d[r] + 1, 1)\n", axis, boxes,
           4 - axis, scale, axis);
    op_add(o, "h%d%s = min(max(floor(b*l%d[r]/%lld.0) + f%d[r], 0), %lld)\n", axis, of, axis,
           (long long)bins, axis, (long long)size);
    op_add(o, "e%d%s = min(max(ceil((b + 1)*l%d[r]/%lld.0) + f%d[r], 0), %lld)\n", axis, of, axis,
           (long long)bins, axis, (long long)size);
}

/* The largest element of each bin, 0 of an empty one: along rows, then along columns. */
static at_status max_roi_pool(net_op *o) {
    const at_net_value *x = op_in(o, 0), *rois = op_in(o, 1);
    int64_t bins[2];
    AT_TRY(op_numbers(o, "pooled_shape", 2, 1, bins));
    if (x->rank != 4 || rois->rank != 2 || rois->dims[1] != 5 || !x->elements)
        return op_fail(o, "pictures and boxes of 5 numbers, the first of them a picture's, are "
                          "needed");
    const int64_t dims[] = {rois->dims[0], x->dims[1], bins[0], bins[1]};
    AT_TRY(op_out(o, 0, x->type, 4, dims));
    add_bins(o, 0, x->dims[2], bins[0]);
    add_bins(o, 1, x->dims[3], bins[1]);
    op_add(o, "n[r:%lld] : s32 = min(max(floor(x1[r, 0]), 0), %lld)\n", (long long)dims[0],
           (long long)x->dims[0] - 1);
    op_add(o,
           "u[a0:%lld, a1:%lld, h:%lld, a3:%lld] = max(w:%lld) h1[a0, a3] <= w && w < e1[a0, a3] ? "
           "x0[n[a0], a1, h, w] : -inf\n",
           (long long)dims[0], (long long)dims[1], (long long)x->dims[2], (long long)dims[3],
           (long long)x->dims[3]);
    op_add(o, "m[%s] = max(h:%lld) h0[a0, a2] <= h && h < e0[a0, a2] ? u[a0, a1, h, a3] : -inf\n",
           op_axes(o, "a", 4, dims), (long long)x->dims[2]);
    op_add(o,
           "y0[%s] = h0[a0, a2] < e0[a0, a2] && h1[a0, a3] < e1[a0, a3] ? m[a0, a1, a2, a3] : 0\n",
           op_axes(o, "a", 4, dims));
    return AT_OK;
}

const at_net_row net_rows_boxes[] = {
    {"RoiAlign", "", 10, AT_NET_OTHER, 3, 3, 1, roi_align},
    {"MaxRoiPool", "", 1, AT_NET_OTHER, 2, 2, 1, max_roi_pool},
    NET_ROWS_END,
};
