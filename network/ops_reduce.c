/* network/ops_reduce.c: sums of products, reductions along axes, and what divides by them. */
#include "network/network_int.h"

#include <string.h>

/* ---- products -------------------------------------------------------------------------------- */

static at_status gemm(net_op *o) {
    const at_net_value *a = op_in(o, 0), *b = op_in(o, 1), *c = op_in(o, 2);
    const bool ta = op_int(o, "transA", 0) != 0, tb = op_int(o, "transB", 0) != 0;
    const double alpha = op_float(o, "alpha", 1), beta = op_float(o, "beta", 1);
    if (a->rank != 2 || b->rank != 2) return op_fail(o, "inputs of two dimensions are accepted");
    int64_t dims[AT_NET_MAX_RANK] = {a->dims[ta], b->dims[!tb]};
    int rank = 2;
    if (a->dims[!ta] != b->dims[tb])
        return op_fail(o, "%lld columns of \"%s\" and %lld rows of \"%s\"", (long long)a->dims[!ta],
                       a->name, (long long)b->dims[tb], b->name);
    if (c) AT_TRY(op_broadcast(o, &rank, dims, c));
    if (rank != 2 || dims[0] != a->dims[ta] || dims[1] != b->dims[!tb])
        return op_fail(o, "\"%s\" is larger than the product", c->name);
    AT_TRY(op_out(o, 0, a->type, 2, dims));
    const bool plain = alpha == 1 && !c;
    const char *axes = op_axes(o, "a", 2, dims);
    op_add(o, "%s[%s] = sum(k:%lld) x0[%s] * x1[%s]\n", plain ? "y0" : "s", axes,
           (long long)a->dims[!ta], ta ? "k, a0" : "a0, k", tb ? "a1, k" : "k, a1");
    if (plain) return AT_OK;
    op_add(o, "y0[%s] = s[a0, a1]", axes);
    if (alpha != 1) op_add(o, "*%s", op_number(o, alpha));
    if (c) op_add(o, " + %s", op_read(o, 2, "a", 2));
    if (c && beta != 1) op_add(o, "*%s", op_number(o, beta));
    op_add(o, "\n");
    return AT_OK;
}

/* "a0, 0" of the axes before the matrix. */
static const char *batch(const net_op *o, const at_net_value *v, int rank) {
    at_text t = {0};
    for (int i = 0; i < v->rank - 2; i++) {
        if (v->dims[i] == 1) at_text_add(&t, "0, ");
        else at_text_addf(&t, "a%d, ", rank - v->rank + i);
    }
    return at_text_take(o->arena, &t);
}

static at_status mat_mul(net_op *o) {
    const at_net_value *a = op_in(o, 0), *b = op_in(o, 1);
    if (!a->rank || !b->rank) return op_fail(o, "inputs of one dimension and more are accepted");
    const int64_t terms = a->dims[a->rank - 1],
                  rows = b->rank > 1 ? b->dims[b->rank - 2] : b->dims[0];
    if (terms != rows)
        return op_fail(o, "%lld columns of \"%s\" and %lld rows of \"%s\"", (long long)terms,
                       a->name, (long long)rows, b->name);
    int64_t dims[AT_NET_MAX_RANK];
    int rank = 0;
    at_net_value outer_a = *a, outer_b = *b;
    outer_a.rank = a->rank > 2 ? a->rank - 2 : 0;
    outer_b.rank = b->rank > 2 ? b->rank - 2 : 0;
    AT_TRY(op_broadcast(o, &rank, dims, &outer_a));
    AT_TRY(op_broadcast(o, &rank, dims, &outer_b));
    const int outer = rank;
    if (a->rank > 1) dims[rank++] = a->dims[a->rank - 2];
    if (b->rank > 1) dims[rank++] = b->dims[b->rank - 1];
    if (rank > AT_NET_MAX_RANK) return op_fail(o, "more than %d dimensions", AT_NET_MAX_RANK);
    AT_TRY(op_out(o, 0, a->type, rank, dims));
    const char *row = a->rank > 1 ? op_format(o, "a%d, k", outer) : "k",
               *column = b->rank > 1 ? op_format(o, "k, a%d", outer + (a->rank > 1)) : "k";
    op_add(o, "y0[%s] = sum(k:%lld) x0[%s%s] * x1[%s%s]\n", op_axes(o, "a", rank, dims),
           (long long)terms, batch(o, a, outer + 2), row, batch(o, b, outer + 2), column);
    return AT_OK;
}

/* ---- softmax --------------------------------------------------------------------------------- */

/* The axes of a value, those of a set reduced: "r1:4" of these, "a0:2" of the others. */
typedef struct reduced {
    const at_net_value *x;
    uint32_t set;
    int64_t kept[AT_NET_MAX_RANK]; /* sizes, 1 where reduced */
    int64_t terms;
} reduced;

static reduced reduce_axes(const at_net_value *x, uint32_t set) {
    reduced r = {.x = x, .set = set, .terms = 1};
    for (int i = 0; i < x->rank; i++) {
        r.kept[i] = set >> i & 1 ? 1 : x->dims[i];
        if (set >> i & 1) r.terms *= x->dims[i];
    }
    return r;
}

static const char *terms(const net_op *o, const reduced *r) {
    at_text t = {0};
    for (int i = 0; i < r->x->rank; i++)
        if (r->set >> i & 1)
            at_text_addf(&t, "%sr%d:%lld", t.len ? ", " : "", i, (long long)r->x->dims[i]);
    return at_text_take(o->arena, &t);
}

/* The index of a term, or, in the stages behind, of what its element was reduced to. */
static const char *term_index(const net_op *o, const reduced *r, const char *letter) {
    at_text t = {0};
    for (int i = 0; i < r->x->rank; i++) {
        const bool goes = r->set >> i & 1;
        at_text_add(&t, i ? ", " : "");
        if (goes && !letter) at_text_add(&t, "0");
        else at_text_addf(&t, "%s%d", goes ? letter : "a", i);
    }
    return at_text_take(o->arena, &t);
}

static at_status softmax_axes(net_op *o, uint32_t *set) {
    const at_net_value *x = op_in(o, 0);
    const bool is_one = o->node->version >= 13; /* before, all axes from there on */
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", is_one ? -1 : 1), x->rank, &axis));
    *set = is_one ? 1u << axis : ((1u << x->rank) - 1) & ~((1u << axis) - 1);
    return AT_OK;
}

static at_status softmax_of(net_op *o, bool of_log) {
    const at_net_value *x = op_in(o, 0);
    uint32_t set;
    AT_TRY(softmax_axes(o, &set));
    AT_TRY(op_out_like(o, 0, x));
    const reduced r = reduce_axes(x, set);
    const char *rows = op_axes(o, "a", x->rank, r.kept), *all = op_axes(o, "a", x->rank, x->dims),
               *in = op_index(o, "a", x->rank), *of = term_index(o, &r, NULL),
               *term = term_index(o, &r, "r");
    op_add(o, "m[%s] = max(%s) x0[%s]\n", rows, terms(o, &r), term);
    op_add(o, "e[%s] = exp(x0[%s] - m[%s])\n", all, in, of);
    op_add(o, "s[%s] = sum(%s) e[%s]\n", rows, terms(o, &r), term);
    if (of_log) op_add(o, "y0[%s] = x0[%s] - m[%s] - log(s[%s])\n", all, in, of, of);
    else op_add(o, "y0[%s] = e[%s]/s[%s]\n", all, in, of);
    return AT_OK;
}

static at_status softmax(net_op *o) { return softmax_of(o, false); }
static at_status log_softmax(net_op *o) { return softmax_of(o, true); }

const at_net_row net_rows_reduce[] = {
    {"Gemm", "", 7, AT_NET_SUM, 2, 3, 1, gemm},
    {"MatMul", "", 1, AT_NET_SUM, 2, 2, 1, mat_mul},
    {"Softmax", "", 1, AT_NET_OTHER, 1, 1, 1, softmax},
    {"LogSoftmax", "", 1, AT_NET_OTHER, 1, 1, 1, log_softmax},
    NET_ROWS_END,
};
