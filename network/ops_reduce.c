/* network/ops_reduce.c: reductions along axes: sums, extremes, the places of extremes, running
 * sums. */
#include "network/network_int.h"

#include <string.h>

/* ---- all elements along some axes ------------------------------------------------------------ */

typedef struct reducer {
    const char *reduction, *term; /* %s: the element */
    const char *result;           /* %s: what it was reduced to; NULL: that itself */
    const char *of_none;          /* of no element */
} reducer;

/* The axes of the output in order, and the index of an element in them. */
static const char *term_of(const net_op *o, const op_reduction *r, bool keeps) {
    at_text t = {0};
    for (int i = 0, out = 0; i < r->x->rank; i++) {
        const bool goes = r->set >> i & 1;
        at_text_addf(&t, "%s%s%d", i ? ", " : "", goes ? "r" : "a", goes ? i : out);
        out += keeps || !goes;
    }
    if (!r->x->rank) at_text_add(&t, "0");
    return at_text_take(o->arena, &t);
}

static int kept_dims(const op_reduction *r, bool keeps, int64_t *dims) {
    int rank = 0;
    for (int i = 0; i < r->x->rank; i++)
        if (keeps || !(r->set >> i & 1)) dims[rank++] = r->kept[i];
    return rank;
}

static at_status reduced_axes(net_op *o, uint32_t *set, bool *nothing) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *axes;
    int n;
    AT_TRY(op_ints_of(o, "axes", 1, &axes, &n));
    AT_TRY(op_axis_set(o, axes, n, x->rank, set));
    *nothing = !n && op_int(o, "noop_with_empty_axes", 0);
    if (!n && !*nothing) *set = (1u << x->rank) - 1;
    return AT_OK;
}

static at_status reduce_set(net_op *o, const reducer *how, uint32_t set, bool keeps) {
    const at_net_value *x = op_in(o, 0);
    int64_t dims[AT_NET_MAX_RANK];
    const op_reduction r = op_reduce(x, set);
    const int rank = kept_dims(&r, keeps, dims);
    AT_TRY(op_out(o, 0, x->type, rank, dims));
    const char *axes = op_axes(o, "a", rank, dims);
    const char *in = op_format(o, "x0[%s]", term_of(o, &r, keeps));
    const char *terms = set ? op_terms(o, &r) : "r:1"; /* a single element is one, too */
    if (!r.terms) {
        const bool is_truth = x->type == AT_NET_BOOL && strstr(how->of_none, "inf");
        op_add(o, "y0[%s] = %s\n", axes,
               !is_truth              ? how->of_none
               : *how->of_none == '-' ? "0"
                                      : "1");
        return AT_OK;
    }
    op_add(o, "%s[%s] = %s(%s) ", how->result ? "s" : "y0", axes, how->reduction, terms);
    op_add(o, how->term, in, in);
    if (how->result) {
        const char *s = op_format(o, "s[%s]", op_index(o, "a", rank));
        op_add(o, "\ny0[%s] = ", axes);
        op_add(o, how->result, s, (long long)r.terms);
    }
    op_add(o, "\n");
    return AT_OK;
}

static at_status reduce(net_op *o, const reducer *how) {
    uint32_t set;
    bool nothing;
    AT_TRY(reduced_axes(o, &set, &nothing));
    if (nothing && !how->result && !strcmp(how->term, "%s")) {
        o->node->num_inputs = 1;
        return op_map(o, op_in(o, 0)->type, "X0");
    }
    return reduce_set(o, how, set, op_int(o, "keepdims", 1) != 0);
}

#define REDUCER(name, ...)                                                                         \
    static at_status name(net_op *o) {                                                             \
        static const reducer how = {__VA_ARGS__};                                                  \
        return reduce(o, &how);                                                                    \
    }

REDUCER(reduce_sum, "sum", "%s", NULL, "0")
REDUCER(reduce_max, "max", "%s", NULL, "-inf")
REDUCER(reduce_min, "min", "%s", NULL, "inf")
REDUCER(reduce_prod, "prod", "%s", NULL, "1")
REDUCER(reduce_l1, "sum", "abs(%s)", NULL, "0")
REDUCER(reduce_l2, "sum", "%s * %s", "sqrt(%s)", "0")
REDUCER(reduce_sum_square, "sum", "%s * %s", NULL, "0")
REDUCER(reduce_log_sum, "sum", "%s", "log(%s)", "-inf")

static at_status reduce_mean(net_op *o) {
    static const reducer of_floats = {"sum", "%s", "%s/%lld.0", "0"},
                         of_whole = {"sum", "%s", "floor(%s/%lld.0)", "0"};
    return reduce(o, at_net_type_is_int(op_in(o, 0)->type) ? &of_whole : &of_floats);
}

/* Of each channel. */
static at_status global_lp_pool(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    reducer how = {.reduction = "sum", .of_none = "0"};
    AT_TRY(op_norm(o, op_int(o, "p", 2), &how.term, &how.result));
    if (x->rank < 3)
        return op_fail(o, "\"%s\" has %d dimensions; 3 and more are accepted", x->name, x->rank);
    return reduce_set(o, &how, (1u << x->rank) - 4, true);
}

static at_status reduce_log_sum_exp(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const bool keeps = op_int(o, "keepdims", 1) != 0;
    int64_t dims[AT_NET_MAX_RANK];
    uint32_t set;
    bool nothing;
    AT_TRY(reduced_axes(o, &set, &nothing));
    const op_reduction r = op_reduce(x, set);
    const int rank = kept_dims(&r, keeps, dims);
    AT_TRY(op_out(o, 0, x->type, rank, dims));
    const char *axes = op_axes(o, "a", rank, dims), *in = term_of(o, &r, keeps),
               *terms = set ? op_terms(o, &r) : "r:1", *of = op_index(o, "a", rank);
    if (!r.terms) {
        op_add(o, "y0[%s] = -inf\n", axes);
        return AT_OK;
    }
    op_add(o, "m[%s] = max(%s) x0[%s]\n", axes, terms, in);
    op_add(o, "s[%s] = sum(%s) " OP_SHARE_OF_D " where d = x0[%s] - m[%s]\n", axes, terms, in, of);
    op_add(o, "y0[%s] = m[%s] + log(s[%s])\n", axes, of, of);
    return AT_OK;
}

/* ---- places of extremes ---------------------------------------------------------------------- */

static at_status arg_extreme(net_op *o, const char *extreme) {
    const at_net_value *x = op_in(o, 0);
    const bool keeps = op_int(o, "keepdims", 1) != 0, last = op_int(o, "select_last_index", 0) != 0;
    int64_t dims[AT_NET_MAX_RANK];
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", 0), x->rank, &axis));
    const op_reduction r = op_reduce(x, 1u << axis);
    const int rank = kept_dims(&r, keeps, dims);
    AT_TRY(op_out(o, 0, AT_NET_INT64, rank, dims));
    const char *axes = op_axes(o, "a", rank, dims), *in = term_of(o, &r, keeps);
    op_add(o, "m[%s] = %s(%s) x0[%s]\n", axes, extreme, op_terms(o, &r), in);
    op_add(o, "y0[%s] = %s(%s) x0[%s] == m[%s] ? r%d : %sinf\n", axes, last ? "max" : "min",
           op_terms(o, &r), in, op_index(o, "a", rank), axis, last ? "-" : "");
    return AT_OK;
}

static at_status arg_max(net_op *o) { return arg_extreme(o, "max"); }
static at_status arg_min(net_op *o) { return arg_extreme(o, "min"); }

/* How many elements go before each one says which place it has. */
static at_status top_k(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const bool largest = op_int(o, "largest", 1) != 0;
    const int64_t *count;
    int n, axis;
    AT_TRY(op_known_ints(o, 1, &count, &n));
    AT_TRY(op_axis(o, op_int(o, "axis", -1), x->rank, &axis));
    if (n != 1 || count[0] < 0 || count[0] > x->dims[axis])
        return op_fail(o, "%lld of %lld elements", n == 1 ? (long long)count[0] : -1LL,
                       (long long)x->dims[axis]);
    int64_t dims[AT_NET_MAX_RANK];
    memcpy(dims, x->dims, sizeof *dims * (size_t)x->rank);
    dims[axis] = count[0];
    AT_TRY(op_out(o, 0, x->type, x->rank, dims));
    AT_TRY(op_out(o, 1, AT_NET_INT64, x->rank, dims));
    const op_reduction r = op_reduce(x, 1u << axis);
    const char *all = op_axes(o, "a", x->rank, x->dims), *in = op_index(o, "a", x->rank),
               *term = op_term(o, &r, "r"), *out = op_axes(o, "a", x->rank, dims);
    op_add(o, "place[%s] = sum(%s) x0[%s] %c x0[%s] || (x0[%s] == x0[%s] && r%d < a%d) ? 1 : 0\n",
           all, op_terms(o, &r), term, largest ? '>' : '<', in, term, in, axis, axis);
    op_add(o, "y0[%s] = sum(%s) place[%s] == a%d ? x0[%s] : 0\n", out, op_terms(o, &r), term, axis,
           term);
    if (op_has_out(o, 1))
        op_add(o, "y1[%s] = sum(%s) place[%s] == a%d ? r%d : 0\n", out, op_terms(o, &r), term, axis,
               axis);
    return AT_OK;
}

/* ---- running sums ---------------------------------------------------------------------------- */

static at_status running(net_op *o, const char *reduction) {
    const at_net_value *x = op_in(o, 0);
    const int64_t *given;
    int n, axis;
    const bool excludes = op_int(o, "exclusive", 0) != 0, reverse = op_int(o, "reverse", 0) != 0;
    AT_TRY(op_known_ints(o, 1, &given, &n));
    if (n != 1) return op_fail(o, "the axis is one number");
    AT_TRY(op_axis(o, given[0], x->rank, &axis));
    AT_TRY(op_out_like(o, 0, x));
    op_add(o, "y0[%s] = %s(k:", op_axes(o, "a", x->rank, x->dims), reduction);
    if (reverse)
        op_add(o, "a%d%s..%lld) x0[", axis, excludes ? " + 1" : "", (long long)x->dims[axis]);
    else op_add(o, "0..a%d%s) x0[", axis, excludes ? "" : " + 1");
    for (int i = 0; i < x->rank; i++) {
        if (i == axis) op_add(o, "%sk", i ? ", " : "");
        else op_add(o, "%sa%d", i ? ", " : "", i);
    }
    op_add(o, "]\n");
    return AT_OK;
}

static at_status cum_sum(net_op *o) { return running(o, "sum"); }
static at_status cum_prod(net_op *o) { return running(o, "prod"); }

#define REDUCE(name, function)                                                                     \
    { name, "", 1, AT_NET_SUM, 1, 2, 1, function }

const at_net_row net_rows_reduce[] = {
    REDUCE("ReduceSum", reduce_sum),
    REDUCE("ReduceMean", reduce_mean),
    REDUCE("ReduceMax", reduce_max),
    REDUCE("ReduceMin", reduce_min),
    REDUCE("ReduceProd", reduce_prod),
    REDUCE("ReduceL1", reduce_l1),
    REDUCE("ReduceL2", reduce_l2),
    REDUCE("ReduceSumSquare", reduce_sum_square),
    REDUCE("ReduceLogSum", reduce_log_sum),
    REDUCE("ReduceLogSumExp", reduce_log_sum_exp),
    {"GlobalLpPool", "", 2, AT_NET_SUM, 1, 1, 1, global_lp_pool},
    {"ArgMax", "", 1, AT_NET_OTHER, 1, 1, 1, arg_max},
    {"ArgMin", "", 1, AT_NET_OTHER, 1, 1, 1, arg_min},
    {"TopK", "", 10, AT_NET_OTHER, 2, 2, 2, top_k},
    {"CumSum", "", 11, AT_NET_SUM, 2, 2, 1, cum_sum},
    {"CumProd", "", 1, AT_NET_SUM, 2, 2, 1, cum_prod},
    NET_ROWS_END,
};
