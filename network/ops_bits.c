/* network/ops_bits.c: bits of integers, by arithmetic: texts compute in floats, which have no
 * bits of integers. Bit b of v is floor(v/2^b) less its even part, below 0, too, where integers
 * are complements of two. */
#include "network/network_int.h"

#include <math.h>
#include <string.h>

enum { MOST_BITS = 53 }; /* that a double, in which plain C computes, has */

static bool has_sign(at_net_type t) {
    return t == AT_NET_INT8 || t == AT_NET_INT16 || t == AT_NET_INT32 || t == AT_NET_INT64;
}

static at_status check_bits(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    if (!at_net_type_is_int(x->type))
        return op_fail(o, "\"%s\" is of type %s; integers are accepted", x->name,
                       at_net_type_name(x->type));
    return AT_OK;
}

static const char *power(const net_op *o, int exponent) { return op_number(o, ldexp(1, exponent)); }

static void define_bit(net_op *o) { op_add(o, "def bit(v) = floor(v) - 2*floor(v*0.5)\n"); }

/* The sum of what both have, the bit of the sign below 0. */
static at_status map_both(net_op *o, const char *around) {
    const at_net_type type = op_in(o, 0)->type;
    const int bits = 8 * at_net_type_bytes(type), last = (bits < MOST_BITS ? bits : MOST_BITS) - 1;
    const char *sum = "bit(X0)*bit(X1)";
    AT_TRY(check_bits(o));
    AT_TRY(op_same_type(o, 0, 1));
    define_bit(o);
    for (int b = 1; b <= last; b++)
        sum = op_format(o, "%s %s bit(X0/%s)*bit(X1/%s)*%s", sum,
                        b == last && has_sign(type) ? "-" : "+", power(o, b), power(o, b),
                        power(o, b));
    return op_map(o, type, around, sum);
}

static at_status bitwise_and(net_op *o) { return map_both(o, "%s"); }
static at_status bitwise_or(net_op *o) { return map_both(o, "X0 + X1 - (%s)"); }
static at_status bitwise_xor(net_op *o) { return map_both(o, "X0 + X1 - 2*(%s)"); }

static at_status bitwise_not(net_op *o) {
    const at_net_type type = op_in(o, 0)->type;
    AT_TRY(check_bits(o));
    if (has_sign(type)) return op_map(o, type, "-1 - X0");
    if (at_net_type_bytes(type) == 8) return op_missing(o, "of 64 bits without a sign");
    return op_map(o, type, "%s - X0", op_number(o, ldexp(1, 8 * at_net_type_bytes(type)) - 1));
}

/* Times 2^X1, or by it: factor by factor, bit by bit of X1. */
static at_status bit_shift(net_op *o) {
    const at_net_type type = op_in(o, 0)->type;
    const int bits = 8 * at_net_type_bytes(type);
    const char *direction = op_string(o, "direction", ""), *by = "(1 + bit(X1))";
    const bool left = !strcmp(direction, "LEFT");
    AT_TRY(check_bits(o));
    AT_TRY(op_same_type(o, 0, 1));
    if (!left && strcmp(direction, "RIGHT") != 0)
        return op_fail(o, "direction \"%s\"; LEFT and RIGHT are accepted", direction);
    define_bit(o);
    for (int b = 1; 1 << b < bits; b++)
        by = op_format(o, "%s*(bit(X1/%s) > 0 ? %s : 1)", by, power(o, b), power(o, 1 << b));
    if (!left)
        return op_map(o, type, "0 <= X1 && X1 < %d ? floor(X0/(%s)) : X0 < 0 ? -1 : 0", bits, by);
    op_add(o, "def cut(v) = v - floor(v/%s%s)*%s\n", power(o, bits), has_sign(type) ? " + 0.5" : "",
           power(o, bits));
    return op_map(o, type, "0 <= X1 && X1 < %d ? cut(X0*(%s)) : 0", bits, by);
}

/* ---- BitCast --------------------------------------------------------------------------------- */

/* A float's bits: those of its fraction, and what is added to its exponent. */
typedef struct float_bits {
    int fraction, bias;
} float_bits;

static float_bits bits_of(at_net_type t) {
    return t == AT_NET_FLOAT     ? (float_bits){23, 127}
           : t == AT_NET_FLOAT16 ? (float_bits){10, 15}
                                 : (float_bits){7, 127};
}

/* A constant input: powers of 2 from `first` on, each the step higher. */
static int add_powers(net_op *o, int first, int step, int num) {
    double *x = AT_NEW_ARRAY(o->arena, double, num);
    const int64_t dims[] = {num};
    for (int i = 0; i < num; i++) x[i] = ldexp(1, first + i * step);
    return op_add_constant(o, AT_NET_DOUBLE, 1, dims, x);
}

/* Its exponent is known by the powers of 2 that it reaches; what is left of it is the fraction,
 * of subnormal numbers as well. */
static void float_to_bits(net_op *o, at_net_type type) {
    const at_net_value *x = op_in(o, 0);
    const float_bits f = bits_of(x->type);
    const int normal = 2 * f.bias - 1, least = 1 - f.bias;
    const char *axes = op_axes(o, "a", x->rank, x->dims), *in = op_index(o, "a", x->rank);
    const int reached = add_powers(o, least + 1, 1, normal),
              unit = add_powers(o, f.fraction - least, -1, normal + 1);
    const char *largest = power(o, f.fraction);
    op_add(o, "e[%s] : s32 = sum(k:%d) abs(x0[%s]) >= x%d[k] ? 1 : 0\n", axes, normal, in, reached);
    op_add(o,
           "b[%s] = x0[%s] != x0[%s] ? %s : abs(x0[%s]) == inf ? %s : e[%s]*%s + "
           "abs(x0[%s])*x%d[e[%s]]\n",
           axes, in, in, op_number(o, (2 * f.bias + 1.5) * ldexp(1, f.fraction)), in,
           op_number(o, (2 * f.bias + 1) * ldexp(1, f.fraction)), in, largest, in, unit, in);
    op_add(o, "y0[%s] = x0[%s] < 0 || x0[%s] == 0 && 1/x0[%s] < 0 ? b[%s] %c %s : b[%s]\n", axes,
           in, in, in, in, has_sign(type) ? '-' : '+', power(o, 8 * at_net_type_bytes(type) - 1),
           in);
}

static void bits_to_float(net_op *o, at_net_type type) {
    const at_net_value *x = op_in(o, 0);
    const float_bits f = bits_of(type);
    const int bits = 8 * at_net_type_bytes(type), exponents = 2 * f.bias + 2;
    const char *axes = op_axes(o, "a", x->rank, x->dims), *in = op_index(o, "a", x->rank),
               *half = power(o, bits - 1), *one = power(o, f.fraction);
    const int units = add_powers(o, -f.bias - f.fraction, 1, exponents);
    op_add(o, "s[%s] = x0[%s] < 0 || x0[%s] >= %s ? 1 : 0\n", axes, in, in, half);
    op_add(o, "b[%s] = x0[%s] %c s[%s]*%s\n", axes, in, has_sign(x->type) ? '+' : '-', in, half);
    op_add(o, "e[%s] : s32 = min(max(floor(b[%s]/%s), 0), %d)\n", axes, in, one, exponents - 1);
    op_add(o, "m[%s] = b[%s] - e[%s]*%s\n", axes, in, in, one);
    op_add(o,
           "v[%s] = e[%s] == %d ? (m[%s] == 0 ? inf : inf - inf) : e[%s] == 0 ? "
           "m[%s]*2*x%d[e[%s]] : (m[%s] + %s)*x%d[e[%s]]\n",
           axes, in, exponents - 1, in, in, in, units, in, in, one, units, in);
    op_add(o, "y0[%s] = s[%s] > 0 ? -v[%s] : v[%s]\n", axes, in, in, in);
}

/* The same number, or that of the other kind of sign which has the same bits. */
static at_status cast_integers(net_op *o, at_net_type type) {
    const int bits = 8 * at_net_type_bytes(type);
    const char *half = power(o, bits - 1), *turn = power(o, bits);
    if (bits == 64 || has_sign(op_in(o, 0)->type) == has_sign(type)) return op_map(o, type, "X0");
    if (has_sign(type)) return op_map(o, type, "X0 >= %s ? X0 - %s : X0", half, turn);
    return op_map(o, type, "X0 < 0 ? X0 + %s : X0", turn);
}

/* Floats of up to 32 bits and integers; more bits than a double has are those of constants. */
static at_status bit_cast(net_op *o) {
    const at_net_value *x = op_in(o, 0);
    const at_net_type type = (at_net_type)op_int(o, "to", 0);
    const int bytes = at_net_type_bytes(type);
    if (!bytes) return op_missing(o, "to element type %d", (int)type);
    if (bytes != at_net_type_bytes(x->type))
        return op_fail(o, "%s to %s, which has other bits", at_net_type_name(x->type),
                       at_net_type_name(type));
    AT_TRY(op_out(o, 0, type, x->rank, x->dims));
    if (x->is_constant) {
        void *data;
        AT_TRY(op_constant(o, 0, &data));
        if (x->elements) memcpy(data, x->data, (size_t)(x->elements * bytes));
        return AT_OK;
    }
    const bool from_int = at_net_type_is_int(x->type), to_int = at_net_type_is_int(type);
    if (x->type == type) return op_map(o, type, "X0");
    if (from_int && to_int) return cast_integers(o, type);
    if (from_int == to_int || bytes == 8 || x->type == AT_NET_BOOL || type == AT_NET_BOOL)
        return op_missing(o, "%s to %s", at_net_type_name(x->type), at_net_type_name(type));
    if (to_int) float_to_bits(o, type);
    else bits_to_float(o, type);
    return AT_OK;
}

#define BITS(name, since, inputs, function)                                                        \
    { name, "", since, AT_NET_MAP, inputs, inputs, 1, function }

const at_net_row net_rows_bits[] = {
    BITS("BitwiseAnd", 18, 2, bitwise_and),
    BITS("BitwiseOr", 18, 2, bitwise_or),
    BITS("BitwiseXor", 18, 2, bitwise_xor),
    BITS("BitwiseNot", 18, 1, bitwise_not),
    BITS("BitShift", 11, 2, bit_shift),
    BITS("BitCast", 26, 1, bit_cast),
    NET_ROWS_END,
};
