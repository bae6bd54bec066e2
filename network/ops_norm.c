/* network/ops_norm.c: operators that divide by what they have summed up: softmax and normalization.
 */
#include "network/network_int.h"

#include <string.h>

/* ---- softmax --------------------------------------------------------------------------------- */

static at_status softmax_axes(net_op *o, uint32_t *set) {
    const at_net_value *x = op_in(o, 0);
    const bool is_one = o->node->version >= 13; /* before, all axes from there on */
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", is_one ? -1 : 1), x->rank, &axis));
    *set = is_one ? 1u << axis : ((1u << x->rank) - 1) & ~((1u << axis) - 1);
    return AT_OK;
}

typedef enum softmax_kind { PLAIN, LOGARITHM, FIRST_LARGEST } softmax_kind;

static at_status softmax_of(net_op *o, softmax_kind kind) {
    const at_net_value *x = op_in(o, 0);
    uint32_t set;
    AT_TRY(softmax_axes(o, &set));
    AT_TRY(op_out_like(o, 0, x));
    const op_reduction r = op_reduce(x, set);
    const char *rows = op_axes(o, "a", x->rank, r.kept), *all = op_axes(o, "a", x->rank, x->dims),
               *in = op_index(o, "a", x->rank), *of = op_term(o, &r, NULL),
               *term = op_term(o, &r, "r"), *terms = op_terms(o, &r);
    op_add(o, "m[%s] = max(%s) x0[%s]\n", rows, terms, term);
    if (kind == FIRST_LARGEST) {
        const char *place = "0", *own = "0";
        for (int i = 0; i < x->rank; i++) {
            if (!(set >> i & 1)) continue;
            place = op_format(o, "(%s)*%lld + r%d", place, (long long)x->dims[i], i);
            own = op_format(o, "(%s)*%lld + a%d", own, (long long)x->dims[i], i);
        }
        op_add(o, "f[%s] = min(%s) x0[%s] == m[%s] ? %s : inf\n", rows, terms, term, of, place);
        op_add(o, "y0[%s] = f[%s] == %s ? 1 : 0\n", all, of, own);
        return AT_OK;
    }
    /* Of a mask of -100, as windows of attention have, e^-100 would be subnormal, for which a core
     * takes thirty times as long, here and in products. NaN is kept. */
    op_add(o, "e[%s] = " OP_SHARE_OF_D " where d = x0[%s] - m[%s]\n", all, in, of);
    op_add(o, "s[%s] = sum(%s) e[%s]\n", rows, terms, term);
    if (kind == LOGARITHM) op_add(o, "y0[%s] = x0[%s] - m[%s] - log(s[%s])\n", all, in, of, of);
    else op_add(o, "y0[%s] = e[%s]/s[%s]\n", all, in, of);
    return AT_OK;
}

static at_status softmax(net_op *o) { return softmax_of(o, PLAIN); }
static at_status log_softmax(net_op *o) { return softmax_of(o, LOGARITHM); }
static at_status hardmax(net_op *o) { return softmax_of(o, FIRST_LARGEST); }

/* ---- mean and variance ----------------------------------------------------------------------- */

/* Stages m, the mean of x over a set of axes, and v, the variance; the sums before them, too. */
static void add_mean_and_variance(net_op *o, const char *x, const op_reduction *r) {
    const char *rows = op_axes(o, "a", r->x->rank, r->kept), *of = op_term(o, r, NULL),
               *term = op_term(o, r, "r"), *terms = op_terms(o, r);
    op_add(o, "t[%s] = sum(%s) %s[%s]\n", rows, terms, x, term);
    op_add(o, "m[%s] = t[%s]/%lld.0\n", rows, of, (long long)r->terms);
    op_add(o, "q[%s] = sum(%s) (%s[%s] - m[%s]) * (%s[%s] - m[%s])\n", rows, terms, x, term, of, x,
           term, of);
    op_add(o, "v[%s] = q[%s]/%lld.0\n", rows, of, (long long)r->terms);
}

static at_status layer_normalization(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const char *epsilon = op_number(o, op_float(o, "epsilon", 1e-5f));
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", -1), x->rank, &axis));
    const op_reduction r = op_reduce(x, ((1u << x->rank) - 1) & ~((1u << axis) - 1));
    const char *rows = op_axes(o, "a", x->rank, r.kept), *of = op_term(o, &r, NULL),
               *in = op_index(o, "a", x->rank);
    AT_TRY(op_fits(o, 1, x->rank, x->dims));
    if (op_in(o, 2)) AT_TRY(op_fits(o, 2, x->rank, x->dims));
    AT_TRY(op_out_like(o, 0, x));
    AT_TRY(op_out(o, 1, AT_NET_FLOAT, x->rank, r.kept));
    AT_TRY(op_out(o, 2, AT_NET_FLOAT, x->rank, r.kept));
    add_mean_and_variance(o, "x0", &r);
    op_add(o, "d[%s] = rsqrt(v[%s] + %s)\n", rows, of, epsilon);
    op_add(o, "y0[%s] = (x0[%s] - m[%s])*d[%s]*%s", op_axes(o, "a", x->rank, x->dims), in, of, of,
           op_read(o, 1, "a", x->rank));
    if (op_in(o, 2)) op_add(o, " + %s", op_read(o, 2, "a", x->rank));
    op_add(o, "\n");
    if (op_has_out(o, 1)) op_add(o, "y1[%s] = m[%s]\n", rows, of);
    if (op_has_out(o, 2)) op_add(o, "y2[%s] = d[%s]\n", rows, of);
    return AT_OK;
}

/* The stage q of sums of squares of x, a tensor that is read as the input is. */
static void add_squares(net_op *o, const char *x, const op_reduction *r) {
    const char *term = op_term(o, r, "r");
    op_add(o, "q[%s] = sum(%s) %s[%s] * %s[%s]\n", op_axes(o, "a", op_in(o, 0)->rank, r->kept),
           op_terms(o, r), x, term, x, term);
}

static at_status rms_normalization(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", -1), x->rank, &axis));
    const op_reduction r = op_reduce(x, ((1u << x->rank) - 1) & ~((1u << axis) - 1));
    const char *rows = op_axes(o, "a", x->rank, r.kept), *of = op_term(o, &r, NULL),
               *in = op_index(o, "a", x->rank);
    const char *factor = op_format(o, "rsqrt(q[%s]/%lld.0 + %s)", of, (long long)r.terms,
                                   op_number(o, op_float(o, "epsilon", 1e-5f)));
    AT_TRY(op_fits(o, 1, x->rank, x->dims));
    AT_TRY(op_out_like(o, 0, x));
    AT_TRY(op_out(o, 1, AT_NET_FLOAT, x->rank, r.kept));
    add_squares(o, "x0", &r);
    op_add(o, "y0[%s] = x0[%s]*%s*%s\n", op_axes(o, "a", x->rank, x->dims), in, factor,
           op_read(o, 1, "a", x->rank));
    if (op_has_out(o, 1)) op_add(o, "y1[%s] = %s\n", rows, factor);
    return AT_OK;
}

/* ONNX Runtime's joined nodes: the rows of a sum of two or three, which is an output, too. Inputs
 * behind the scale: with a mean the shift, then a bias that is added first. */
static at_status skip_normalization(net_op *o, bool has_mean) {
    const at_net_value *x = op_in(o, 0);
    const int shift = has_mean ? 3 : -1, bias = has_mean ? 4 : 3;
    if (!x->rank) return op_fail(o, "\"%s\" has no dimension", x->name);
    if (!has_mean && op_has_out(o, 1)) return op_fail(o, "there is no mean for output 1");
    const op_reduction r = op_reduce(x, 1u << (x->rank - 1));
    const char *rows = op_axes(o, "a", x->rank, r.kept), *all = op_axes(o, "a", x->rank, x->dims),
               *of = op_term(o, &r, NULL), *in = op_index(o, "a", x->rank);
    for (int k = 1; k <= bias; k++)
        if (op_in(o, k)) AT_TRY(op_fits(o, k, x->rank, x->dims));
    AT_TRY(op_out_like(o, 0, x));
    for (int k = 1; k < 3; k++) AT_TRY(op_out(o, k, AT_NET_FLOAT, x->rank, r.kept));
    AT_TRY(op_out(o, 3, x->type, x->rank, x->dims));
    op_add(o, "h[%s] = x0[%s] + %s", all, in, op_read(o, 1, "a", x->rank));
    if (op_in(o, bias)) op_add(o, " + %s", op_read(o, bias, "a", x->rank));
    op_add(o, "\n");
    if (has_mean) add_mean_and_variance(o, "h", &r);
    else {
        add_squares(o, "h", &r);
        op_add(o, "v[%s] = q[%s]/%lld.0\n", rows, of, (long long)r.terms);
    }
    op_add(o, "d[%s] = rsqrt(v[%s] + %s)\n", rows, of,
           op_number(o, op_float(o, "epsilon", 1e-12f)));
    op_add(o, "y0[%s] = ", all);
    op_add(o, has_mean ? "(h[%s] - m[%s])" : "h[%s]", in, of);
    op_add(o, "*d[%s]*%s", of, op_read(o, 2, "a", x->rank));
    if (shift > 0 && op_in(o, shift)) op_add(o, " + %s", op_read(o, shift, "a", x->rank));
    op_add(o, "\n");
    if (op_has_out(o, 1)) op_add(o, "y1[%s] = m[%s]\n", rows, of);
    if (op_has_out(o, 2)) op_add(o, "y2[%s] = d[%s]\n", rows, of);
    if (op_has_out(o, 3)) op_add(o, "y3[%s] = h[%s]\n", all, in);
    return AT_OK;
}

static at_status skip_layer_normalization(net_op *o) { return skip_normalization(o, true); }
static at_status skip_rms_normalization(net_op *o) { return skip_normalization(o, false); }

static at_status check_channels(net_op *o, int k, int64_t channels) {
    const at_net_value *v = op_in(o, k);
    if (v->elements == channels) return AT_OK;
    return op_fail(o, "\"%s\" has %lld elements, not %lld", v->name, (long long)v->elements,
                   (long long)channels);
}

/* By the mean and the variance of the batch itself, which the running ones come nearer to. */
static at_status add_own_batch(net_op *o, const char *epsilon) {
    const at_net_value *x = op_in(o, 0);
    const op_reduction r = op_reduce(x, ((1u << x->rank) - 1) & ~2u);
    const char *of = op_term(o, &r, NULL), *kept = op_number(o, op_float(o, "momentum", 0.9f));
    o->node->kind = AT_NET_OTHER;
    add_mean_and_variance(o, "x0", &r);
    op_add(o, "y0[%s] = (x0[%s] - m[%s])*rsqrt(v[%s] + %s)*x1[a1] + x2[a1]\n",
           op_axes(o, "a", x->rank, x->dims), op_index(o, "a", x->rank), of, of, epsilon);
    for (int k = 1; k < 3; k++) {
        AT_TRY(op_out(o, k, op_in(o, k + 2)->type, 1, &x->dims[1]));
        if (!op_has_out(o, k)) continue;
        op_add(o, "y%d[a1:%lld] = x%d[a1]*%s + %s[", k, (long long)x->dims[1], k + 2, kept,
               k == 1 ? "m" : "v");
        for (int i = 0; i < x->rank; i++) op_add(o, "%s%s", i ? ", " : "", i == 1 ? "a1" : "0");
        op_add(o, "]*(1 - %s)\n", kept);
    }
    return AT_OK;
}

static at_status batch_normalization(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const char *epsilon = op_number(o, op_float(o, "epsilon", 1e-5f));
    const bool own = op_int(o, "training_mode", 0) != 0;
    if (!own && op_has_out(o, 1)) return op_missing(o, "of training before version 14");
    if (x->rank < 2) return op_fail(o, "\"%s\" has fewer than 2 dimensions", x->name);
    for (int k = 1; k < 5; k++) AT_TRY(check_channels(o, k, x->dims[1]));
    AT_TRY(op_out_like(o, 0, x));
    if (own) return add_own_batch(o, epsilon);
    op_add(o, "y0[%s] = (x0[%s] - x3[a1])*rsqrt(x4[a1] + %s)*x1[a1] + x2[a1]\n",
           op_axes(o, "a", x->rank, x->dims), op_index(o, "a", x->rank), epsilon);
    return AT_OK;
}

static at_status instance_normalization(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    if (x->rank < 3) return op_fail(o, "\"%s\" has fewer than 3 dimensions", x->name);
    AT_TRY(check_channels(o, 1, x->dims[1]));
    AT_TRY(check_channels(o, 2, x->dims[1]));
    const op_reduction r = op_reduce(x, ((1u << x->rank) - 1) & ~3u);
    const char *of = op_term(o, &r, NULL);
    AT_TRY(op_out_like(o, 0, x));
    add_mean_and_variance(o, "x0", &r);
    op_add(o, "y0[%s] = (x0[%s] - m[%s])*rsqrt(v[%s] + %s)*x1[a1] + x2[a1]\n",
           op_axes(o, "a", x->rank, x->dims), op_index(o, "a", x->rank), of, of,
           op_number(o, op_float(o, "epsilon", 1e-5f)));
    return AT_OK;
}

/* Groups of neighbouring channels; scale and bias have an element for each group in version 18, for
 * each channel later. */
static at_status group_normalization(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t groups = op_int(o, "num_groups", 0);
    if (x->rank < 2 || groups < 1 || x->dims[1] % groups)
        return op_fail(o, "%lld groups of %lld channels", (long long)groups,
                       x->rank > 1 ? (long long)x->dims[1] : 0LL);
    const bool by_group = o->node->version < 21;
    const int64_t each = x->dims[1] / groups;
    AT_TRY(check_channels(o, 1, by_group ? groups : x->dims[1]));
    AT_TRY(check_channels(o, 2, by_group ? groups : x->dims[1]));
    AT_TRY(op_out_like(o, 0, x));
    const char *sizes = "", *places = "", *own = "";
    int64_t terms = each;
    for (int i = 2; i < x->rank; i++) {
        sizes = op_format(o, "%s%sr%d:%lld", sizes, *sizes ? ", " : "", i, (long long)x->dims[i]);
        places = op_format(o, "%s, r%d", places, i);
        own = op_format(o, "%s, a%d", own, i);
        terms *= x->dims[i];
    }
    const char *rows = op_format(o, "n:%lld, g:%lld", (long long)x->dims[0], (long long)groups);
    const char *channels =
        op_format(o, "n:%lld, c:%lld", (long long)x->dims[0], (long long)x->dims[1]);
    const char *in = op_format(o, "x0[n, c%s]", places),
               *of = op_format(o, "k:%lld", (long long)each);
    op_add(o, "u[%s] = %s%s%s%s\n", channels, *sizes ? "sum(" : "", sizes, *sizes ? ") " : "", in);
    op_add(o, "t[%s] = sum(%s) u[n, g*%lld + k]\n", rows, of, (long long)each);
    op_add(o, "m[%s] = t[n, g]/%lld.0\n", rows, (long long)terms);
    op_add(o, "v[%s] = %s%s%s(%s - m[n, c/%lld]) * (%s - m[n, c/%lld])\n", channels,
           *sizes ? "sum(" : "", sizes, *sizes ? ") " : "", in, (long long)each, in,
           (long long)each);
    op_add(o, "q[%s] = sum(%s) v[n, g*%lld + k]\n", rows, of, (long long)each);
    op_add(o, "d[%s] = rsqrt(q[n, g]/%lld.0 + %s)\n", rows, (long long)terms,
           op_number(o, op_float(o, "epsilon", 1e-5f)));
    const char *channel = by_group ? "g" : "a1";
    op_add(o, "y0[%s] = (x0[a0, a1%s] - m[a0, g])*d[a0, g]*x1[%s] + x2[%s] where g = a1/%lld\n",
           op_axes(o, "a", x->rank, x->dims), own, channel, channel, (long long)each);
    return AT_OK;
}

static at_status mean_variance_normalization(net_op *o) {
    static const int64_t usual[] = {0, 2, 3};
    const at_net_value *x = op_in(o, 0);
    int n;
    uint32_t set;
    const int64_t *axes = op_ints(o, "axes", &n);
    AT_TRY(op_axis_set(o, axes ? axes : usual, axes ? n : 3, x->rank, &set));
    const op_reduction r = op_reduce(x, set);
    const char *of = op_term(o, &r, NULL);
    AT_TRY(op_out_like(o, 0, x));
    add_mean_and_variance(o, "x0", &r);
    op_add(o, "y0[%s] = (x0[%s] - m[%s])/(sqrt(v[%s]) + 1e-09)\n",
           op_axes(o, "a", x->rank, x->dims), op_index(o, "a", x->rank), of, of);
    return AT_OK;
}

static at_status lp_normalization(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t p = op_int(o, "p", 2);
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", -1), x->rank, &axis));
    if (p != 1 && p != 2) return op_fail(o, "p is 1 or 2");
    const op_reduction r = op_reduce(x, 1u << axis);
    const char *of = op_term(o, &r, NULL), *term = op_format(o, "x0[%s]", op_term(o, &r, "r"));
    AT_TRY(op_out_like(o, 0, x));
    op_add(o, "s[%s] = sum(%s) ", op_axes(o, "a", x->rank, r.kept), op_terms(o, &r));
    op_add(o, p == 1 ? "abs(%s)\n" : "%s * %s\n", term, term);
    op_add(o, "y0[%s] = s[%s] == 0 ? 0 : x0[%s]/", op_axes(o, "a", x->rank, x->dims), of,
           op_index(o, "a", x->rank));
    op_add(o, p == 1 ? "s[%s]\n" : "sqrt(s[%s])\n", of);
    return AT_OK;
}

#define NORM(name, since, least, most, outputs, function)                                          \
    { name, "", since, AT_NET_OTHER, least, most, outputs, function }

const at_net_row net_rows_norm[] = {
    NORM("Softmax", 1, 1, 1, 1, softmax),
    NORM("LogSoftmax", 1, 1, 1, 1, log_softmax),
    NORM("Hardmax", 1, 1, 1, 1, hardmax),
    NORM("LayerNormalization", 17, 2, 3, 3, layer_normalization),
    NORM("RMSNormalization", 23, 2, 2, 1, rms_normalization),
    NORM("SimplifiedLayerNormalization", 1, 2, 2, 2, rms_normalization),
    {"SkipLayerNormalization", "com.microsoft", 1, AT_NET_OTHER, 3, 5, 4, skip_layer_normalization},
    {"SkipSimplifiedLayerNormalization", "com.microsoft", 1, AT_NET_OTHER, 3, 4, 4,
     skip_rms_normalization},
    {"BatchNormalization", "", 7, AT_NET_MAP, 5, 5, 5, batch_normalization},
    NORM("InstanceNormalization", 6, 3, 3, 1, instance_normalization),
    NORM("GroupNormalization", 18, 3, 3, 1, group_normalization),
    NORM("MeanVarianceNormalization", 9, 1, 1, 1, mean_variance_normalization),
    NORM("LpNormalization", 1, 1, 1, 1, lp_normalization),
    NET_ROWS_END,
};
