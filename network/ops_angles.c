/* network/ops_angles.c: trigonometric and hyperbolic functions of an element and their inverses, of
 * those that texts can call. Near 0, where differences would cancel, an odd polynomial in x: its
 * coefficients, the highest power of x*x first, interpolate at Chebyshev's points. */
#include "network/network_int.h"

#define POLYNOMIAL(...)                                                                            \
    (const double[]){__VA_ARGS__}, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double))

/* The definition of a function of one value, "v*P(v*v)". */
static void define(net_op *o, const char *name, const double *coefficients, int n) {
    const char *p = op_number(o, coefficients[0]);
    for (int i = 1; i < n; i++)
        p = op_format(o, "(%s*(v*v) + %s)", p, op_number(o, coefficients[i]));
    op_add(o, "def %s(v) = v*%s\n", name, p);
}

static at_status result(net_op *o, const char *expression) {
    return op_map(o, op_in(o, 0)->type, "%s", expression);
}

static at_status tangent(net_op *o) { return result(o, "sin(X0)/cos(X0)"); }

/* Up to 1, with an error below 2e-11. */
static at_status arc_tangent(net_op *o) {
    define(o, "near",
           POLYNOMIAL(0.000419233938676, -0.00319546183462, 0.0114277296458, -0.026006141722,
                      0.0436467291335, -0.0602220521889, 0.0749526609112, -0.0904918011477,
                      0.111053069079, -0.142852256253, 0.19999978337, -0.333333329517,
                      0.999999999989));
    return result(o, "abs(X0) <= 1 ? near(X0) : X0 > 0 ? 1.5707963267948966 - near(1/X0) : "
                     "-1.5707963267948966 - near(1/X0)");
}

/* Up to 0.5, with an error below 2e-12. */
static void define_arc_sine(net_op *o) {
    define(o, "near",
           POLYNOMIAL(0.0329563047205, 0.00191689681394, 0.0206808049207, 0.0218558537152,
                      0.0304281057943, 0.0446405655624, 0.075000056529, 0.166666666133, 1));
}

static at_status arc_sine(net_op *o) {
    define_arc_sine(o);
    op_add(o, "def far(v) = 1.5707963267948966 - 2*near(sqrt((1 - v)*0.5))\n");
    return result(o, "abs(X0) <= 0.5 ? near(X0) : X0 > 0 ? far(X0) : -far(-X0)");
}

static at_status arc_cosine(net_op *o) {
    define_arc_sine(o);
    op_add(o, "def far(v) = 2*near(sqrt((1 - v)*0.5))\n");
    return result(o, "abs(X0) <= 0.5 ? 1.5707963267948966 - near(X0) : X0 > 0 ? far(X0) : "
                     "3.141592653589793 - far(-X0)");
}

/* Half of e^abs(x) in two factors: the whole may be too large where the half is not. */
#define HALF_OF_POWER "exp(abs(X0)*0.5)*(0.5*exp(abs(X0)*0.5))"

/* Up to 1, with an error below 1e-13. */
static at_status hyperbolic_sine(net_op *o) {
    define(o, "near",
           POLYNOMIAL(2.55381564784e-08, 2.75518353495e-06, 0.000198412983208, 0.00833333326649,
                      0.166666666672, 1));
    return result(o, "abs(X0) <= 1 ? near(X0) : (X0 > 0 ? 1 : -1)*(" HALF_OF_POWER
                     " - 0.5*exp(-abs(X0)))");
}

static at_status hyperbolic_cosine(net_op *o) {
    return result(o, HALF_OF_POWER " + 0.5*exp(-abs(X0))");
}

/* Of a value from 0. Up to 0.5 with an error below 3e-12; squares of large values are too large. */
static void define_area_sine(net_op *o) {
    define(o, "near",
           POLYNOMIAL(-0.00651364028454, 0.0147803825967, -0.0218698058088, 0.030325671428,
                      -0.0446393717672, 0.0749998928195, -0.166666665401, 0.999999999998));
    op_add(o, "def area(v) = v <= 0.5 ? near(v) : log(v + sqrt(v*v + 1))\n"
              "def large(v) = log(v) + 0.6931471805599453\n");
}

static at_status area_sine(net_op *o) {
    define_area_sine(o);
    return result(o, "abs(X0) <= 0.5 ? near(X0) : (X0 > 0 ? 1 : -1)*(abs(X0) > 1000000.0 ? "
                     "large(abs(X0)) : area(abs(X0)))");
}

static at_status area_cosine(net_op *o) {
    define_area_sine(o);
    return result(o, "X0 > 1000000.0 ? large(X0) : area(sqrt(X0 - 1)*sqrt(X0 + 1))");
}

/* Up to 0.5, with an error below 6e-12. */
static at_status area_tangent(net_op *o) {
    define(o, "near",
           POLYNOMIAL(0.178905744678, -0.00151396945903, 0.0958358482111, 0.0879677090357,
                      0.111374514923, 0.142844052577, 0.200000323151, 0.333333330282, 1));
    return result(o, "abs(X0) <= 0.5 ? near(X0) : 0.5*log((1 + X0)/(1 - X0))");
}

#define ANGLE(name, since, function)                                                               \
    { name, "", since, AT_NET_MAP, 1, 1, 1, function }

const at_net_row net_rows_angles[] = {
    ANGLE("Tan", 7, tangent),          ANGLE("Atan", 7, arc_tangent),
    ANGLE("Asin", 7, arc_sine),        ANGLE("Acos", 7, arc_cosine),
    ANGLE("Sinh", 9, hyperbolic_sine), ANGLE("Cosh", 9, hyperbolic_cosine),
    ANGLE("Asinh", 9, area_sine),      ANGLE("Acosh", 9, area_cosine),
    ANGLE("Atanh", 9, area_tangent),   NET_ROWS_END,
};
