/* network/ops_quant.c: numbers of 8 and 16 bits with a scale and a zero: to and from them, and
 * products of them. */
#include "network/network_int.h"

#include <string.h>

/* What a type holds. */
static bool limits_of(at_net_type t, double *least, double *most) {
    static const struct {
        at_net_type type;
        double least, most;
    } rows[] = {{AT_NET_UINT8, 0, 255},
                {AT_NET_INT8, -128, 127},
                {AT_NET_UINT16, 0, 65535},
                {AT_NET_INT16, -32768, 32767}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == t) return *least = rows[i].least, *most = rows[i].most, true;
    return false;
}

static at_status saturated(net_op *o, at_net_type type, const char *x, const char **out) {
    double least, most;
    if (!limits_of(type, &least, &most))
        return op_missing(o, "to element type %s", at_net_type_name(type));
    *out = op_format(o, "min(max(%s, %s), %s)", x, op_number(o, least), op_number(o, most));
    return AT_OK;
}

/* Where input k, a scale or a zero, has the number of an element: one for all, one for each place
 * of the axis, or one for each block of it. */
static at_status number_at(net_op *o, int k, const char **out) {
    const at_net_value *x = op_in(o, 0), *v = op_in(o, k);
    const int64_t block = op_int(o, "block_size", 0);
    int axis = 0;
    *out = "0";
    if (!v) return AT_OK;
    if (v->elements != 1 || v->rank > 1) AT_TRY(op_axis(o, op_int(o, "axis", 1), x->rank, &axis));
    if (v->elements == 1 && v->rank <= 1) {
        *out = op_format(o, "x%d[0]", k);
    } else if (v->rank == 1 && v->dims[0] == x->dims[axis]) {
        *out = op_format(o, "x%d[a%d]", k, axis);
    } else if (block > 0 && v->rank == x->rank &&
               v->dims[axis] == (x->dims[axis] + block - 1) / block) {
        *out = op_format(o, "x%d[", k);
        for (int i = 0; i < x->rank; i++)
            *out = op_format(o, i == axis ? "%s%sa%d/%lld" : "%s%sa%d", *out, i ? ", " : "", i,
                             (long long)block);
        *out = op_format(o, "%s]", *out);
    } else {
        return op_fail(o, "\"%s\" does not fit \"%s\"", v->name, x->name);
    }
    return AT_OK;
}

static at_status quantize_linear(net_op *o) {
    const at_net_value *x = op_in(o, 0), *zero = op_in(o, 2);
    const int64_t asked = op_int(o, "output_dtype", 0);
    const at_net_type type = zero ? zero->type : asked ? (at_net_type)asked : AT_NET_UINT8;
    const char *scale, *from, *y;
    AT_TRY(number_at(o, 1, &scale));
    AT_TRY(number_at(o, 2, &from));
    const char *axes = op_axes(o, "a", x->rank, x->dims), *in = op_index(o, "a", x->rank);
    AT_TRY(saturated(o, type, op_format(o, "round(q[%s]) + %s", in, from), &y));
    AT_TRY(op_out(o, 0, type, x->rank, x->dims));
    op_add(o, "q[%s] = x0[%s]/%s\n", axes, in, scale);
    op_add(o, "y0[%s] = %s\n", axes, y);
    return AT_OK;
}

static at_status dequantize_linear(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const int64_t asked = op_int(o, "output_dtype", 0);
    const char *scale, *from;
    AT_TRY(number_at(o, 1, &scale));
    AT_TRY(number_at(o, 2, &from));
    AT_TRY(op_out(o, 0, asked ? (at_net_type)asked : op_in(o, 1)->type, x->rank, x->dims));
    op_add(o, "y0[%s] = (x0[%s] - %s)*%s\n", op_axes(o, "a", x->rank, x->dims),
           op_index(o, "a", x->rank), from, scale);
    return AT_OK;
}

/* To uint8, by the range of all elements and 0. */
static at_status dynamic_quantize_linear(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const op_reduction r = op_reduce(x, (1u << x->rank) - 1);
    const char *terms = x->rank ? op_terms(o, &r) : "r:1", *term = op_term(o, &r, "r"), *zero, *y;
    AT_TRY(op_out(o, 0, AT_NET_UINT8, x->rank, x->dims));
    AT_TRY(op_out(o, 1, AT_NET_FLOAT, 0, NULL));
    AT_TRY(op_out(o, 2, AT_NET_UINT8, 0, NULL));
    AT_TRY(saturated(o, AT_NET_UINT8, "round(f[i])", &zero));
    AT_TRY(saturated(o, AT_NET_UINT8,
                     op_format(o, "round(q[%s]) + z[0]", op_index(o, "a", x->rank)), &y));
    op_add(o, "most[i:1] = max(%s) x0[%s]\n", terms, term);
    op_add(o, "least[i:1] = min(%s) x0[%s]\n", terms, term);
    op_add(o, "d[i:1] = (max(most[i], 0) - min(least[i], 0))/255.0\n");
    op_add(o, "s[i:1] = d[i] == 0 ? 1 : d[i]\n");
    op_add(o, "f[i:1] = -min(least[i], 0)/s[i]\n");
    op_add(o, "z[i:1] = %s\n", zero);
    const char *axes = op_axes(o, "a", x->rank, x->dims);
    op_add(o, "q[%s] = x0[%s]/s[0]\n", axes, op_index(o, "a", x->rank));
    op_add(o, "y0[%s] = %s\n", axes, y);
    if (op_has_out(o, 1)) op_add(o, "y1[i:1] = s[i]\n");
    if (op_has_out(o, 2)) op_add(o, "y2[i:1] = z[i]\n");
    return AT_OK;
}

/* ---- products -------------------------------------------------------------------------------- */

/* The zero of input k: one for all, or one for each place of `axis`; NULL: not given. */
static at_status zero_of(net_op *o, int k, const char *axis, int64_t extent, const char **out) {
    const at_net_value *v = op_in(o, k);
    *out = NULL;
    if (!v) return AT_OK;
    if (v->elements == 1 && v->rank <= 1) *out = op_format(o, "x%d[0]", k);
    else if (v->rank == 1 && v->dims[0] == extent) *out = op_format(o, "x%d[%s]", k, axis);
    else return op_missing(o, "a scale or zero of %d dimensions", v->rank);
    return AT_OK;
}

/* The stage of a product of matrices; b: the number of the second one. */
static at_status products(net_op *o, int b, int a_zero, int b_zero, at_net_type type,
                          const char *stage, const char **axes, const char **own) {
    const at_net_value *x = op_in(o, 0), *w = op_in(o, b);
    int64_t dims[AT_NET_MAX_RANK];
    const char *from, *taken, *before = "", *before_w = "";
    const int rank = x->rank;
    if (rank < 2 || w->rank < 2 || w->rank > rank || x->dims[rank - 1] != w->dims[w->rank - 2])
        return op_fail(o, "\"%s\" and \"%s\" do not fit each other", x->name, w->name);
    for (int i = 0; i < rank - 1; i++) dims[i] = x->dims[i];
    dims[rank - 1] = w->dims[w->rank - 1];
    for (int i = 0; i < rank - 2; i++) {
        const int own_axis = i - (rank - w->rank);
        before = op_format(o, "%sa%d, ", before, i);
        if (own_axis < 0) continue;
        if (w->dims[own_axis] != x->dims[i]) return op_missing(o, "with broadcasting");
        before_w = op_format(o, "%sa%d, ", before_w, i);
    }
    AT_TRY(zero_of(o, a_zero, op_format(o, "a%d", rank - 2), dims[rank - 2], &from));
    AT_TRY(zero_of(o, b_zero, op_format(o, "a%d", rank - 1), dims[rank - 1], &taken));
    AT_TRY(op_out(o, 0, type, rank, dims));
    *axes = op_axes(o, "a", rank, dims);
    *own = op_index(o, "a", rank);
    op_add(o, "%s[%s] = sum(k:%lld) (x0[%sa%d, k] - %s) * (x%d[%sk, a%d] - %s)\n", stage, *axes,
           (long long)x->dims[rank - 1], before, rank - 2, from ? from : "0", b, before_w, rank - 1,
           taken ? taken : "0");
    return AT_OK;
}

static at_status mat_mul_integer(net_op *o) {
    const char *axes, *own;
    return products(o, 1, 2, 3, AT_NET_INT32, "y0", &axes, &own);
}

static at_status conv_integer(net_op *o) {
    const char *axes, *own, *from, *taken;
    if (op_in(o, 1)->rank < 1) return op_fail(o, "weights without a dimension");
    AT_TRY(zero_of(o, 2, "", -1, &from));
    AT_TRY(zero_of(o, 3, "m", op_in(o, 1)->dims[0], &taken));
    const op_convolution how = {.weight = 1,
                                .bias = -1,
                                .type = AT_NET_INT32,
                                .stage = "y0",
                                .data_zero = from,
                                .weight_zero = taken};
    return op_convolve(o, &how, &axes, &own);
}

/* Back to 8 bits: q are the sums in units of the output. */
static at_status to_output(net_op *o, const char *axes, const char *own, int zero,
                           at_net_type type) {
    const char *y;
    AT_TRY(saturated(o, type, op_format(o, "round(q[%s]) + x%d[0]", own, zero), &y));
    op_add(o, "y0[%s] = %s\n", axes, y);
    return AT_OK;
}

static at_status q_linear_mat_mul(net_op *o) {
    const char *axes, *own, *row, *column;
    const at_net_type type = op_in(o, 7)->type;
    const at_net_value *x = op_in(o, 0), *w = op_in(o, 3);
    AT_TRY(products(o, 3, 2, 5, type, "s", &axes, &own));
    AT_TRY(zero_of(o, 1, op_format(o, "a%d", x->rank - 2), x->dims[x->rank - 2], &row));
    AT_TRY(zero_of(o, 4, op_format(o, "a%d", x->rank - 1), w->dims[w->rank - 1], &column));
    op_add(o, "q[%s] = s[%s]*%s*%s/x6[0]\n", axes, own, row, column);
    return to_output(o, axes, own, 7, type);
}

static at_status q_linear_conv(net_op *o) {
    const char *axes, *own, *scale, *from, *taken;
    const at_net_type type = op_in(o, 7)->type;
    if (op_in(o, 3)->rank < 1) return op_fail(o, "weights without a dimension");
    const int64_t channels = op_in(o, 3)->dims[0];
    AT_TRY(zero_of(o, 2, "", -1, &from));
    AT_TRY(zero_of(o, 4, "m", channels, &scale));
    AT_TRY(zero_of(o, 5, "m", channels, &taken));
    const op_convolution how = {.weight = 3,
                                .bias = 8,
                                .type = type,
                                .stage = "s",
                                .data_zero = from,
                                .weight_zero = taken};
    AT_TRY(op_convolve(o, &how, &axes, &own));
    op_add(o, "q[%s] = (s[%s]%s)*x1[0]*%s/x6[0]\n", axes, own, op_in(o, 8) ? " + x8[m]" : "",
           scale);
    return to_output(o, axes, own, 7, type);
}

/* ---- of ONNX Runtime's own domain ------------------------------------------------------------ */

/* "(x0[a0, a1] - x2[0])*x1[0]": input k with the scale and the zero behind it, which may be left
 * out. */
static at_status real_of(net_op *o, int k, const char *element, const char **out) {
    const char *scale, *zero;
    AT_TRY(zero_of(o, k + 1, "", -1, &scale));
    AT_TRY(zero_of(o, k + 2, "", -1, &zero));
    if (!scale) return op_fail(o, "input %d, a scale, is missing", k + 2);
    *out = zero ? op_format(o, "(%s - %s)*%s", element, zero, scale)
                : op_format(o, "%s*%s", element, scale);
    return AT_OK;
}

/* q[own] are the numbers in reals; the output's scale and zero are inputs from `scale` on. */
static at_status to_own_output(net_op *o, const char *axes, const char *own, int scale,
                               at_net_type type) {
    const char *by, *zero, *y;
    AT_TRY(zero_of(o, scale, "", -1, &by));
    AT_TRY(zero_of(o, scale + 1, "", -1, &zero));
    if (!by) return op_fail(o, "input %d, a scale, is missing", scale + 1);
    AT_TRY(saturated(o, type, op_format(o, "round(q[%s]) + %s", own, zero ? zero : "0"), &y));
    op_add(o, "q[%s] = (r[%s])/%s\n", axes, own, by);
    op_add(o, "y0[%s] = %s\n", axes, y);
    return AT_OK;
}

/* Gemm of bytes, to bytes where an output's scale is given, else to reals. */
static at_status q_gemm(net_op *o) {
    const at_net_value *x = op_in(o, 0), *w = op_in(o, 3);
    const bool turned = op_int(o, "transA", 0) != 0, turned_w = op_int(o, "transB", 0) != 0;
    const char *from, *taken, *scale, *scale_w;
    if (x->rank != 2 || w->rank != 2 || x->dims[turned ? 0 : 1] != w->dims[turned_w ? 1 : 0])
        return op_fail(o, "\"%s\" and \"%s\" do not fit each other", x->name, w->name);
    const int64_t terms = x->dims[turned ? 0 : 1];
    const int64_t dims[] = {x->dims[turned ? 1 : 0], w->dims[turned_w ? 0 : 1]};
    const char *axes = op_axes(o, "a", 2, dims);
    AT_TRY(zero_of(o, 1, "", -1, &scale));
    AT_TRY(zero_of(o, 2, "", -1, &from));
    AT_TRY(zero_of(o, 4, "a1", dims[1], &scale_w));
    AT_TRY(zero_of(o, 5, "a1", dims[1], &taken));
    if (op_in(o, 6)) AT_TRY(op_fits(o, 6, 2, dims));
    AT_TRY(op_out(o, 0, op_in(o, 7) ? x->type : AT_NET_FLOAT, 2, dims));
    if (op_in(o, 8)) o->out[0].type = op_in(o, 8)->type;
    op_add(o, "s[%s] = sum(k:%lld) (x0[%s] - %s)*(x3[%s] - %s)\n", axes, (long long)terms,
           turned ? "k, a0" : "a0, k", from, turned_w ? "a1, k" : "k, a1", taken);
    op_add(o, "%s[%s] = (s[a0, a1]%s)*%s*%s*%s\n", op_in(o, 7) ? "r" : "y0", axes,
           op_in(o, 6) ? op_format(o, " + %s", op_read(o, 6, "a", 2)) : "", scale, scale_w,
           op_number(o, op_float(o, "alpha", 1)));
    return op_in(o, 7) ? to_own_output(o, axes, "a0, a1", 7, o->out[0].type) : AT_OK;
}

static at_status q_linear_binary(net_op *o, char operator) {
    const at_net_value *a = op_in(o, 0), *b = op_in(o, 3);
    int64_t dims[AT_NET_MAX_RANK];
    int rank = 0;
    const char *x, *y;
    AT_TRY(op_same_type(o, 0, 3));
    AT_TRY(op_broadcast(o, &rank, dims, a));
    AT_TRY(op_broadcast(o, &rank, dims, b));
    AT_TRY(op_out(o, 0, a->type, rank, dims));
    AT_TRY(real_of(o, 0, op_read(o, 0, "a", rank), &x));
    AT_TRY(real_of(o, 3, op_read(o, 3, "a", rank), &y));
    const char *axes = op_axes(o, "a", rank, dims);
    op_add(o, "r[%s] = %s %c %s\n", axes, x, operator, y);
    return to_own_output(o, axes, op_index(o, "a", rank), 6, a->type);
}

static at_status q_linear_add(net_op *o) { return q_linear_binary(o, '+'); }
static at_status q_linear_mul(net_op *o) { return q_linear_binary(o, '*'); }

/* The real number's place in a text of it. */
static const char *real_place(const net_op *o) {
    return op_format(o, "e[%s]", op_index(o, "a", op_in(o, 0)->rank));
}

static at_status q_linear_unary(net_op *o, const char *of_real) {
    const at_net_value *v = op_in(o, 0);
    const char *x, *axes = op_axes(o, "a", v->rank, v->dims), *own = op_index(o, "a", v->rank);
    AT_TRY(op_out_like(o, 0, v));
    AT_TRY(real_of(o, 0, op_format(o, "x0[%s]", own), &x));
    op_add(o, "e[%s] = %s\n", axes, x);
    op_add(o, "r[%s] = %s\n", axes, of_real);
    return to_own_output(o, axes, own, 3, v->type);
}

static at_status q_linear_sigmoid(net_op *o) {
    return q_linear_unary(o, op_format(o, "sigmoid(max(%s, -40))", real_place(o)));
}

static at_status q_linear_leaky_relu(net_op *o) {
    const char *e = real_place(o), *alpha = op_number(o, op_float(o, "alpha", 0.01f));
    return q_linear_unary(o, op_format(o, "%s >= 0 ? %s : %s*%s", e, e, e, alpha));
}

static at_status q_linear_average(net_op *o, bool whole) {
    const at_net_value *v = op_in(o, 0);
    const char *axes, *own, *scale, *zero;
    if (op_int(o, "channels_last", 0)) return op_missing(o, "with channels last");
    AT_TRY(zero_of(o, 1, "", -1, &scale));
    AT_TRY(zero_of(o, 2, "", -1, &zero));
    AT_TRY(op_average(o, whole, zero, v->type, "e", &axes, &own));
    op_add(o, "r[%s] = e[%s]*%s\n", axes, own, scale);
    return to_own_output(o, axes, own, 3, v->type);
}

static at_status q_linear_average_pool(net_op *o) { return q_linear_average(o, false); }
static at_status q_linear_global_average_pool(net_op *o) { return q_linear_average(o, true); }

/* The output's scale and zero, then each input with its own. */
static at_status q_linear_concat(net_op *o) {
    enum { FIRST = 2, EACH = 3 };
    const at_net_value *first = op_in(o, FIRST);
    const int num = (o->node->num_inputs - FIRST) / EACH;
    int64_t dims[AT_NET_MAX_RANK], at = 0;
    int axis, last = 0;
    if ((o->node->num_inputs - FIRST) % EACH || !first)
        return op_fail(o, "an input without its scale and zero");
    AT_TRY(op_axis(o, op_int(o, "axis", 0), first->rank, &axis));
    memcpy(dims, first->dims, sizeof *dims * (size_t)first->rank);
    dims[axis] = 0;
    for (int i = 0; i < num; i++) {
        const at_net_value *x = op_in(o, FIRST + EACH * i);
        bool fits = x && x->rank == first->rank;
        for (int k = 0; fits && k < x->rank; k++) fits = k == axis || x->dims[k] == dims[k];
        if (!fits) return op_fail(o, "input %d does not fit the first", FIRST + EACH * i + 1);
        AT_TRY(op_same_type(o, FIRST, FIRST + EACH * i));
        dims[axis] += x->dims[axis];
        if (x->elements) last = i;
    }
    AT_TRY(op_out(o, 0, first->type, first->rank, dims));
    const char *axes = op_axes(o, "a", first->rank, dims), *all = "";
    for (int i = 0; i <= last; i++) {
        const int k = FIRST + EACH * i;
        const char *x;
        if (!op_in(o, k)->elements) continue;
        const char *element = op_shifted(o, first->rank, axis, -at);
        AT_TRY(real_of(o, k, op_format(o, "x%d[%s]", k, element), &x));
        at += op_in(o, k)->dims[axis];
        all = i < last ? op_format(o, "%sa%d < %lld ? %s : ", all, axis, (long long)at, x)
                       : op_format(o, "%s%s", all, x);
    }
    op_add(o, "r[%s] = %s\n", axes, all);
    return to_own_output(o, axes, op_index(o, "a", first->rank), 0, first->type);
}

static at_status q_linear_softmax(net_op *o) {
    const at_net_value *v = op_in(o, 0);
    const char *x;
    int axis;
    AT_TRY(op_axis(o, op_int(o, "axis", -1), v->rank, &axis));
    AT_TRY(op_out_like(o, 0, v));
    const bool is_one = op_int(o, "opset", 13) >= 13; /* before, all axes from there on */
    const uint32_t before = (1u << axis) - 1, all_axes = (1u << v->rank) - 1;
    const op_reduction r = op_reduce(v, is_one ? 1u << axis : all_axes & ~before);
    const char *rows = op_axes(o, "a", v->rank, r.kept), *all = op_axes(o, "a", v->rank, v->dims),
               *in = op_index(o, "a", v->rank), *of = op_term(o, &r, NULL),
               *term = op_term(o, &r, "r"), *terms = op_terms(o, &r);
    AT_TRY(real_of(o, 0, op_format(o, "x0[%s]", in), &x));
    op_add(o, "e[%s] = %s\n", all, x);
    op_add(o, "m[%s] = max(%s) e[%s]\n", rows, terms, term);
    op_add(o, "p[%s] = " OP_SHARE_OF_D " where d = e[%s] - m[%s]\n", all, in, of);
    op_add(o, "s[%s] = sum(%s) p[%s]\n", rows, terms, term);
    op_add(o, "r[%s] = p[%s]/s[%s]\n", all, in, of);
    return to_own_output(o, all, in, 3, v->type);
}

#define OWN(name, kind, least, most, function)                                                     \
    { name, "com.microsoft", 1, kind, least, most, 1, function }

const at_net_row net_rows_quant[] = {
    OWN("QGemm", AT_NET_SUM, 6, 9, q_gemm),
    OWN("QLinearAdd", AT_NET_MAP, 7, 8, q_linear_add),
    OWN("QLinearMul", AT_NET_MAP, 7, 8, q_linear_mul),
    OWN("QLinearSigmoid", AT_NET_MAP, 4, 5, q_linear_sigmoid),
    OWN("QLinearLeakyRelu", AT_NET_MAP, 4, 5, q_linear_leaky_relu),
    OWN("QLinearAveragePool", AT_NET_SUM, 4, 5, q_linear_average_pool),
    OWN("QLinearGlobalAveragePool", AT_NET_SUM, 5, 5, q_linear_global_average_pool),
    OWN("QLinearConcat", AT_NET_OTHER, 5, -1, q_linear_concat),
    OWN("QLinearSoftmax", AT_NET_OTHER, 4, 5, q_linear_softmax),
    {"QuantizeLinear", "", 10, AT_NET_MAP, 2, 3, 1, quantize_linear},
    {"DequantizeLinear", "", 10, AT_NET_MAP, 2, 3, 1, dequantize_linear},
    {"DynamicQuantizeLinear", "", 11, AT_NET_OTHER, 1, 1, 3, dynamic_quantize_linear},
    {"MatMulInteger", "", 10, AT_NET_SUM, 2, 4, 1, mat_mul_integer},
    {"ConvInteger", "", 10, AT_NET_SUM, 2, 4, 1, conv_integer},
    {"QLinearMatMul", "", 10, AT_NET_SUM, 8, 8, 1, q_linear_mat_mul},
    {"QLinearConv", "", 10, AT_NET_SUM, 8, 9, 1, q_linear_conv},
    NET_ROWS_END,
};
