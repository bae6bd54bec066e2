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

#define BITS(name, since, inputs, function)                                                        \
    { name, "", since, AT_NET_MAP, inputs, inputs, 1, function }

const at_net_row net_rows_bits[] = {
    BITS("BitwiseAnd", 18, 2, bitwise_and), BITS("BitwiseOr", 18, 2, bitwise_or),
    BITS("BitwiseXor", 18, 2, bitwise_xor), BITS("BitwiseNot", 18, 1, bitwise_not),
    BITS("BitShift", 11, 2, bit_shift),     NET_ROWS_END,
};
