/* network/ops_map.c: operators that work element by element, inputs broadcast to the output. */
#include "network/network_int.h"

#include <math.h>
#include <string.h>

#define UNARY(name, text)                                                                          \
    static at_status name(net_op *o) { return op_map(o, op_in(o, 0)->type, text); }

UNARY(relu, "max(X0, 0)")
/* At least 4e-18: what is smaller makes subnormal numbers, there or where it is multiplied, for
 * which a core may take thirty times as long. */
#define LOGISTIC(x) "sigmoid(max(-40, " x "))"
UNARY(sigmoid, LOGISTIC("X0"))
UNARY(tanh_of, "tanh(X0)")
UNARY(exp_of, "exp(X0)")
UNARY(sin_of, "sin(X0)")
UNARY(cos_of, "cos(X0)")
UNARY(log_of, "log(X0)")
UNARY(sqrt_of, "sqrt(X0)")
UNARY(erf_of, "erf(X0)")
UNARY(abs_of, "abs(X0)")
UNARY(floor_of, "floor(X0)")
UNARY(neg, "-X0")
UNARY(reciprocal, "1/X0")
UNARY(softplus, "max(X0, 0) + log(1 + exp(-abs(X0)))")
UNARY(softsign, "X0/(1 + abs(X0))")
UNARY(sign, "X0 > 0 ? 1 : X0 < 0 ? -1 : 0")
UNARY(mish, "X0*tanh(max(X0, 0) + log(1 + exp(-abs(X0))))")
UNARY(hard_swish, "X0*min(max(X0*0.16666667163372 + 0.5, 0), 1)")
UNARY(not_of, "X0 == 0 ? 1 : 0")

#undef UNARY

/* ---- with attributes ------------------------------------------------------------------------- */

static at_status leaky_relu(net_op *o) {
    const char *alpha = op_number(o, op_float(o, "alpha", 0.01f));
    return op_map(o, op_in(o, 0)->type, "X0 >= 0 ? X0 : X0*%s", alpha);
}

static at_status elu(net_op *o) {
    const char *alpha = op_number(o, op_float(o, "alpha", 1));
    return op_map(o, op_in(o, 0)->type, "X0 >= 0 ? X0 : (exp(X0) - 1)*%s", alpha);
}

static at_status celu(net_op *o) {
    const char *alpha = op_number(o, op_float(o, "alpha", 1));
    return op_map(o, op_in(o, 0)->type, "X0 >= 0 ? X0 : (exp(X0/%s) - 1)*%s", alpha, alpha);
}

static at_status selu(net_op *o) {
    const char *alpha = op_number(o, op_float(o, "alpha", 1.67326319217681884765625f)),
               *gamma = op_number(o, op_float(o, "gamma", 1.05070102214813232421875f));
    return op_map(o, op_in(o, 0)->type, "(X0 > 0 ? X0 : (exp(X0) - 1)*%s)*%s", alpha, gamma);
}

static at_status thresholded_relu(net_op *o) {
    const char *alpha = op_number(o, op_float(o, "alpha", 1));
    return op_map(o, op_in(o, 0)->type, "X0 > %s ? X0 : 0", alpha);
}

static at_status shrink(net_op *o) {
    const double lambda = op_float(o, "lambd", 0.5f);
    const char *bias = op_number(o, op_float(o, "bias", 0));
    return op_map(o, op_in(o, 0)->type, "X0 < %s ? X0 + %s : X0 > %s ? X0 - %s : 0",
                  op_number(o, -lambda), bias, op_number(o, lambda), bias);
}

static at_status hard_sigmoid(net_op *o) {
    const char *alpha = op_number(o, op_float(o, "alpha", 0.2f)),
               *beta = op_number(o, op_float(o, "beta", 0.5f));
    return op_map(o, op_in(o, 0)->type, "min(max(X0*%s + %s, 0), 1)", alpha, beta);
}

/* GELU of the sum with a second input where there is one, as ONNX Runtime's joined nodes have it.
 */
static at_status gelu_of(net_op *o, bool by_tanh) {
    const char *x = op_in(o, 1) ? "(X0 + X1)" : "X0";
    if (by_tanh)
        return op_map(o, op_in(o, 0)->type,
                      "0.5*%s*(1 + tanh(0.7978845608028654*(%s + 0.044715*%s*%s*%s)))", x, x, x, x,
                      x);
    return op_map(o, op_in(o, 0)->type, "0.5*%s*(1 + erf(%s*0.7071067811865476))", x, x);
}

static at_status gelu(net_op *o) {
    return gelu_of(o, !strcmp(op_string(o, "approximate", "none"), "tanh"));
}
static at_status bias_gelu(net_op *o) { return gelu_of(o, false); }
static at_status fast_gelu(net_op *o) { return gelu_of(o, true); }

static at_status quick_gelu(net_op *o) {
    return op_map(o, op_in(o, 0)->type, "X0*" LOGISTIC("X0*%s"),
                  op_number(o, op_float(o, "alpha", 1.702f)));
}

static at_status swish(net_op *o) {
    const double alpha = op_float(o, "alpha", 1);
    if (alpha == 1) return op_map(o, op_in(o, 0)->type, "X0*" LOGISTIC("X0"));
    return op_map(o, op_in(o, 0)->type, "X0*" LOGISTIC("X0*%s"), op_number(o, alpha));
}

static at_status swiglu(net_op *o) {
    AT_TRY(op_same_type(o, 0, 1));
    return op_map(o, op_in(o, 0)->type, "X0*" LOGISTIC("X0*%s") "*X1",
                  op_number(o, op_float(o, "alpha", 1)));
}

static at_status clip_attributes(net_op *o) {
    const float least = op_float(o, "min", -INFINITY), most = op_float(o, "max", INFINITY);
    return op_map(o, op_in(o, 0)->type, "min(max(X0, %s), %s)", op_number(o, least),
                  op_number(o, most));
}

/* A bound that is known is a number of the text. */
static at_status bound(net_op *o, int k, const char *otherwise, const char **out) {
    const at_net_value *v = op_in(o, k);
    *out = otherwise;
    if (v && v->elements != 1) return op_fail(o, "\"%s\" is no single number", v->name);
    if (v && v->is_constant) *out = op_number(o, at_net_element(v->type, v->data, 0));
    else if (v) *out = op_format(o, "X%d", k);
    return AT_OK;
}

static at_status clip(net_op *o) {
    const char *least, *most;
    AT_TRY(bound(o, 1, NULL, &least));
    AT_TRY(bound(o, 2, NULL, &most));
    const char *x = least ? op_format(o, "max(X0, %s)", least) : "X0";
    if (most) x = op_format(o, "min(%s, %s)", x, most);
    return op_map(o, op_in(o, 0)->type, "%s", x);
}

/* ---- two inputs and more --------------------------------------------------------------------- */

static at_status binary(net_op *o, const char *text) {
    AT_TRY(op_same_type(o, 0, 1));
    return op_map(o, op_in(o, 0)->type, "%s", text);
}

static at_status add(net_op *o) { return binary(o, "X0 + X1"); }
static at_status sub(net_op *o) { return binary(o, "X0 - X1"); }
static at_status mul(net_op *o) { return binary(o, "X0*X1"); }

static at_status divide(net_op *o) {
    /* Of whole numbers the part behind the point is cut off. */
    if (at_net_type_is_int(op_in(o, 0)->type))
        return binary(o, "X0/X1 >= 0 ? floor(X0/X1) : -floor(-(X0/X1))");
    return binary(o, "X0/X1");
}

/* The rest has the sign of the divisor or, of fmod, of the dividend. */
static at_status modulo(net_op *o) {
    const bool is_whole = at_net_type_is_int(op_in(o, 0)->type);
    const char *rest = op_int(o, "fmod", 0)
                           ? "X0 - (X0/X1 >= 0 ? floor(X0/X1) : -floor(-(X0/X1)))*X1"
                           : "X0 - floor(X0/X1)*X1";
    if (is_whole) return binary(o, rest);
    const char *of_infinite = op_int(o, "fmod", 0) ? "X0" : "(X0*X1 < 0 ? X1 : X0)";
    return binary(o, op_format(o, "abs(X1) == inf ? %s : %s", of_infinite, rest));
}

static at_status prelu(net_op *o) { return binary(o, "X0 >= 0 ? X0 : X0*X1"); }

static at_status compare(net_op *o, const char *condition) {
    return op_map(o, AT_NET_BOOL, "%s ? 1 : 0", condition);
}

static at_status equal(net_op *o) { return compare(o, "X0 == X1"); }
static at_status less(net_op *o) { return compare(o, "X0 < X1"); }
static at_status greater(net_op *o) { return compare(o, "X0 > X1"); }
static at_status less_or_equal(net_op *o) { return compare(o, "X0 <= X1"); }
static at_status greater_or_equal(net_op *o) { return compare(o, "X0 >= X1"); }
static at_status and_of(net_op *o) { return compare(o, "X0 != 0 && X1 != 0"); }
static at_status or_of(net_op *o) { return compare(o, "X0 != 0 || X1 != 0"); }
static at_status xor_of(net_op *o) {
    return compare(o, "(X0 != 0) && X1 == 0 || X0 == 0 && X1 != 0");
}

static at_status where(net_op *o) {
    AT_TRY(op_same_type(o, 1, 2));
    return op_map(o, op_in(o, 1)->type, "X0 != 0 ? X1 : X2");
}

/* All inputs joined by an operator or a function of two. */
static at_status join(net_op *o, const char *joined, const char *result) {
    const char *x = "X0";
    for (int k = 1; k < o->node->num_inputs; k++) {
        if (!op_in(o, k)) return op_fail(o, "input %d is missing", k + 1);
        AT_TRY(op_same_type(o, 0, k));
        x = op_format(o, joined, x, k);
    }
    return op_map(o, op_in(o, 0)->type, result, x);
}

static at_status sum(net_op *o) { return join(o, "%s + X%d", "%s"); }
static at_status most(net_op *o) { return join(o, "max(%s, X%d)", "%s"); }
static at_status least(net_op *o) { return join(o, "min(%s, X%d)", "%s"); }
static at_status mean(net_op *o) {
    return join(o, "%s + X%d", op_format(o, "(%%s)/%d.0", o->node->num_inputs));
}

/* ---- powers ---------------------------------------------------------------------------------- */

static at_status power(net_op *o) {
    const at_net_value *y = op_in(o, 1);
    const at_net_type type = op_in(o, 0)->type;
    const double known =
        y->is_constant && y->elements == 1 ? at_net_element(y->type, y->data, 0) : NAN;
    const bool is_whole = known >= 0 && known == floor(known);
    if (isfinite(known) && (is_whole || !at_net_type_is_int(type)))
        return op_map(o, type, "%s", op_format(o, "pow(X0, %.17g)", known));
    /* Below 0, only of a whole exponent. */
    const char *p = "exp(X1*log(abs(X0)))";
    p = op_format(o,
                  "X1 == 0 ? 1 : X0 == 0 ? (X1 > 0 ? 0 : inf) : X0 > 0 ? %s : X1 != floor(X1) ? "
                  "log(X0) : X1*0.5 == floor(X1*0.5) ? %s : -%s",
                  p, p, p);
    return op_map(o, type, at_net_type_is_int(type) ? "floor((%s) + 0.5)" : "%s", p);
}

/* ---- types ----------------------------------------------------------------------------------- */

static at_status cast_to(net_op *o, int64_t to) {
    const at_net_type from = op_in(o, 0)->type, type = (at_net_type)to;
    if (to <= 0 || to > 64 || !at_net_type_bytes(type))
        return op_missing(o, "to element type %lld", (long long)to);
    if (type == AT_NET_BOOL) return op_map(o, type, "X0 != 0 ? 1 : 0");
    if (at_net_type_is_int(type) && at_net_type_is_float(from))
        return op_map(o, type, "X0 >= 0 ? floor(X0) : -floor(-X0)");
    return op_map(o, type, "X0");
}

static at_status cast(net_op *o) { return cast_to(o, op_int(o, "to", 0)); }

static at_status cast_like(net_op *o) {
    const at_net_value *like = op_in(o, 1);
    o->node->num_inputs = 1; /* the second one is a type alone */
    return cast_to(o, like->type);
}

static at_status ceil_of(net_op *o) { return op_map(o, op_in(o, 0)->type, "ceil(X0)"); }
static at_status round_of(net_op *o) { return op_map(o, op_in(o, 0)->type, "round(X0)"); }

static at_status is_nan(net_op *o) { return op_map(o, AT_NET_BOOL, "X0 == X0 ? 0 : 1"); }

static at_status is_inf(net_op *o) {
    const bool above = op_int(o, "detect_positive", 1) != 0,
               below = op_int(o, "detect_negative", 1) != 0;
    return op_map(o, AT_NET_BOOL,
                  above && below ? "abs(X0) == inf ? 1 : 0"
                  : above        ? "X0 == inf ? 1 : 0"
                  : below        ? "X0 == -inf ? 1 : 0"
                                 : "X0 == X0 ? 0 : 0");
}

/* ---- as in inference ------------------------------------------------------------------------- */

static at_status dropout(net_op *o) {
    const int64_t *training;
    int n;
    AT_TRY(op_known_ints(o, 2, &training, &n));
    if (n && training[0]) return op_missing(o, "of training");
    const at_net_value *x = op_in(o, 0);
    o->node->num_inputs = 1;
    AT_TRY(op_out(o, 1, AT_NET_BOOL, x->rank, x->dims));
    if (op_has_out(o, 1)) {
        void *data;
        AT_TRY(op_constant(o, 1, &data));
        memset(data, 1, (size_t)x->elements);
    }
    return op_map(o, x->type, "X0");
}

static at_status identity(net_op *o) { return op_map(o, op_in(o, 0)->type, "X0"); }

#define MAP(name, since, least, most, function)                                                    \
    { name, "", since, AT_NET_MAP, least, most, 1, function }

const at_net_row net_rows_map[] = {
    MAP("Relu", 1, 1, 1, relu),
    MAP("Sigmoid", 1, 1, 1, sigmoid),
    MAP("Tanh", 1, 1, 1, tanh_of),
    MAP("Exp", 1, 1, 1, exp_of),
    MAP("Sin", 7, 1, 1, sin_of),
    MAP("Cos", 7, 1, 1, cos_of),
    MAP("Log", 1, 1, 1, log_of),
    MAP("Sqrt", 1, 1, 1, sqrt_of),
    MAP("Erf", 1, 1, 1, erf_of),
    MAP("Abs", 1, 1, 1, abs_of),
    MAP("Floor", 1, 1, 1, floor_of),
    MAP("Ceil", 1, 1, 1, ceil_of),
    MAP("Round", 1, 1, 1, round_of),
    MAP("Neg", 1, 1, 1, neg),
    MAP("Reciprocal", 1, 1, 1, reciprocal),
    MAP("Softplus", 1, 1, 1, softplus),
    MAP("Softsign", 1, 1, 1, softsign),
    MAP("Sign", 1, 1, 1, sign),
    MAP("Mish", 1, 1, 1, mish),
    MAP("HardSwish", 1, 1, 1, hard_swish),
    MAP("HardSigmoid", 1, 1, 1, hard_sigmoid),
    MAP("LeakyRelu", 1, 1, 1, leaky_relu),
    MAP("Elu", 1, 1, 1, elu),
    MAP("Celu", 1, 1, 1, celu),
    MAP("Selu", 1, 1, 1, selu),
    MAP("ThresholdedRelu", 1, 1, 1, thresholded_relu),
    MAP("Shrink", 1, 1, 1, shrink),
    MAP("Gelu", 1, 1, 1, gelu),
    {"Gelu", "com.microsoft", 1, AT_NET_MAP, 1, 1, 1, bias_gelu},
    {"BiasGelu", "com.microsoft", 1, AT_NET_MAP, 2, 2, 1, bias_gelu},
    {"FastGelu", "com.microsoft", 1, AT_NET_MAP, 1, 2, 1, fast_gelu},
    {"QuickGelu", "com.microsoft", 1, AT_NET_MAP, 1, 1, 1, quick_gelu},
    MAP("Swish", 1, 1, 1, swish),
    MAP("SwiGLU", 28, 2, 2, swiglu),
    MAP("Clip", 1, 1, 1, clip_attributes),
    MAP("Clip", 11, 1, 3, clip),
    MAP("Add", 7, 2, 2, add),
    MAP("Sub", 7, 2, 2, sub),
    MAP("Mul", 7, 2, 2, mul),
    MAP("Div", 7, 2, 2, divide),
    MAP("Mod", 1, 2, 2, modulo),
    MAP("Pow", 7, 2, 2, power),
    MAP("PRelu", 1, 2, 2, prelu),
    MAP("Equal", 7, 2, 2, equal),
    MAP("Less", 7, 2, 2, less),
    MAP("Greater", 7, 2, 2, greater),
    MAP("LessOrEqual", 1, 2, 2, less_or_equal),
    MAP("GreaterOrEqual", 1, 2, 2, greater_or_equal),
    MAP("And", 7, 2, 2, and_of),
    MAP("Or", 7, 2, 2, or_of),
    MAP("Xor", 7, 2, 2, xor_of),
    MAP("Not", 1, 1, 1, not_of),
    MAP("Where", 1, 3, 3, where),
    MAP("Sum", 1, 1, -1, sum),
    MAP("Max", 1, 1, -1, most),
    MAP("Min", 1, 1, -1, least),
    MAP("Mean", 1, 1, -1, mean),
    MAP("Cast", 1, 1, 1, cast),
    MAP("CastLike", 1, 2, 2, cast_like),
    MAP("IsNaN", 1, 1, 1, is_nan),
    MAP("IsInf", 1, 1, 1, is_inf),
    MAP("Identity", 1, 1, 1, identity),
    {"Dropout", "", 1, AT_NET_MAP, 1, 3, 2, dropout},
    NET_ROWS_END,
};
