/* network/ops_blocks.c: pictures that are put together of columns of blocks, or cut and padded
 * around their middle. */
#include "network/network_int.h"

#include <string.h>

static at_status col2im(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *image, *block;
    enum { MOST = 1 << 24 }; /* so that no product below leaves 64 bits */
    int axes, n;
    int64_t strides[AT_NET_MAX_RANK], dilations[AT_NET_MAX_RANK], pads[2 * AT_NET_MAX_RANK],
        dims[AT_NET_MAX_RANK], taps = 1, places = 1;
    AT_TRY(op_known_ints(o, 1, &image, &axes));
    AT_TRY(op_known_ints(o, 2, &block, &n));
    if (x->rank != 3 || axes < 1 || axes != n || axes + 2 > AT_NET_MAX_RANK)
        return op_fail(o, "columns of 3 dimensions, sizes of a picture and of a block are needed");
    AT_TRY(op_numbers(o, "strides", axes, 1, strides));
    AT_TRY(op_numbers(o, "dilations", axes, 1, dilations));
    AT_TRY(op_numbers(o, "pads", 2 * axes, 0, pads));
    const char *tap = "0", *place = "0", *inside = "", *where = "", *terms = "";
    for (int i = 0; i < axes; i++) {
        if (image[i] < 1 || image[i] > MOST || block[i] < 1 || block[i] > MOST)
            return op_fail(o, "sizes from 1 to %d are accepted", MOST);
        const long long blocks =
            (long long)((image[i] + pads[i] + pads[axes + i] - dilations[i] * (block[i] - 1) - 1) /
                            strides[i] +
                        1);
        if (taps <= x->dims[1]) taps *= block[i];
        if (places <= x->dims[2]) places *= blocks < 0 ? 0 : blocks;
        terms = op_format(o, "%s%sk%d:%lld", terms, i ? ", " : "", i, (long long)block[i]);
        tap = op_format(o, "(%s)*%lld + k%d", tap, (long long)block[i], i);
        place = op_format(o, "(%s)*%lld + t%d/%lld", place, blocks, i, (long long)strides[i]);
        inside = op_format(o, "%s%st%d >= 0 && t%d%%%lld == 0 && t%d/%lld < %lld", inside,
                           i ? " && " : "", i, i, (long long)strides[i], i, (long long)strides[i],
                           blocks);
        where = op_format(o, "%s%st%d = a%d + %lld - k%d*%lld", where, i ? ", " : "", i, 2 + i,
                          (long long)pads[i], i, (long long)dilations[i]);
        dims[2 + i] = image[i];
    }
    if (x->dims[1] % taps || x->dims[2] != places)
        return op_fail(o, "\"%s\" does not have the columns of %lld blocks of %lld elements",
                       x->name, (long long)places, (long long)taps);
    dims[0] = x->dims[0];
    dims[1] = x->dims[1] / taps;
    AT_TRY(op_out(o, 0, x->type, axes + 2, dims));
    op_add(o, "y0[%s] = sum(%s) %s ? x0[a0, a1*%lld + %s, %s] : 0 where %s\n",
           op_axes(o, "a", axes + 2, dims), terms, inside, (long long)taps, tap, place, where);
    return AT_OK;
}

static at_status center_crop_pad(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *sizes;
    int n, given;
    int64_t dims[AT_NET_MAX_RANK];
    const int64_t *axes = op_ints(o, "axes", &given);
    AT_TRY(op_known_ints(o, 1, &sizes, &n));
    if (n != (axes ? given : x->rank))
        return op_fail(o, "%d sizes of %d axes", n, axes ? given : x->rank);
    memcpy(dims, x->dims, sizeof *dims * (size_t)x->rank);
    for (int i = 0; i < n; i++) {
        int axis;
        AT_TRY(op_axis(o, axes ? axes[i] : i, x->rank, &axis));
        dims[axis] = sizes[i];
    }
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    const char *index = "", *inside = "";
    for (int i = 0; i < x->rank; i++) {
        const long long by = (long long)(x->dims[i] - dims[i]) / 2;
        const char *at = op_format(o, "a%d%s", i, by ? op_format(o, " + %lld", by) : "");
        index = op_format(o, "%s%s%s", index, i ? ", " : "", at);
        if (dims[i] > x->dims[i])
            inside = op_format(o, "%s%s0 <= %s && %s < %lld", inside, *inside ? " && " : "", at, at,
                               (long long)x->dims[i]);
    }
    op_add(o, *inside ? "y0[%s] = %s ? x0[%s] : 0\n" : "y0[%s] = %sx0[%s]\n",
           op_axes(o, "a", x->rank, dims), inside, x->rank ? index : "0");
    return AT_OK;
}

/* Of small matrices, by their first rows. */
static at_status det(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t n = x->rank < 2 ? 0 : x->dims[x->rank - 1];
    if (n < 1 || x->dims[x->rank - 2] != n)
        return op_fail(o, "\"%s\" has no square matrices", x->name);
    if (n > 3) return op_missing(o, "of %lld x %lld; up to 3 x 3", (long long)n, (long long)n);
    AT_TRY(op_out(o, 0, x->type, x->rank - 2, x->dims));
    const char *of = x->rank > 2 ? op_format(o, "%s, ", op_index(o, "a", x->rank - 2)) : "",
               *e[3][3];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) e[i][k] = op_format(o, "x0[%s%d, %d]", of, i, k);
    const char *value = e[0][0];
    if (n == 2) value = op_format(o, "%s*%s - %s*%s", e[0][0], e[1][1], e[0][1], e[1][0]);
    for (int i = 0; n == 3 && i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        value = op_format(o, "%s%s*(%s*%s - %s*%s)", i ? op_format(o, "%s + ", value) : "", e[0][i],
                          e[1][j], e[2][k], e[1][k], e[2][j]);
    }
    op_add(o, "y0[%s] = %s\n", op_axes(o, "a", x->rank - 2, x->dims), value);
    return AT_OK;
}

const at_net_row net_rows_blocks[] = {
    {"Col2Im", "", 18, AT_NET_OTHER, 3, 3, 1, col2im},
    {"CenterCropPad", "", 18, AT_NET_OTHER, 2, 2, 1, center_crop_pad},
    {"Det", "", 11, AT_NET_OTHER, 1, 1, 1, det},
    NET_ROWS_END,
};
