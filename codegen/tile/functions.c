/* codegen/tile/functions.c: functions of an element as operations on registers: arithmetic, bits,
 * comparisons. Here and nowhere else; printers know the operations only.
 *
 * Every step is written so that multiply-adds of one rounding or of two serve. Errors over all
 * floats: docs/notes/functions.md. Coefficients: polynomials.def. */
#include "codegen/tile/tile_build.h"

#include <math.h>

#define AT_POLYNOMIAL(name, ...) static const float name##_POLYNOMIAL[] = {__VA_ARGS__};
#include "codegen/tile/polynomials.def"
#undef AT_POLYNOMIAL

/* log(2) in two parts: products of the first with integers below 2^9 are exact. */
#define LOG2_HIGH 0x1.62e4p-1f
#define LOG2_LOW 0x1.7f7d1cp-20f
#define ROUNDER 0x1.8p23f /* added and taken away, it rounds what is below 2^22 to an integer */
#define LEAST_NORMAL 0x1p-126f
#define LEAST 0x1p-149f
#define SIGN 0x80000000u

/* ---- operations ------------------------------------------------------------------------------ */

static int binary(at_builder *b, at_tile_kind kind, int x, int y) {
    return at_build_operation(b, kind, -1, x, y);
}

static int with(at_builder *b, at_tile_kind kind, int x, float y) {
    return binary(b, kind, x, at_build_const(b, y));
}

static int unary(at_builder *b, at_tile_kind kind, int x) {
    return at_build_operation(b, kind, -1, x, -1);
}

static int shift(at_builder *b, at_tile_kind kind, int x, int by) {
    int d = unary(b, kind, x);
    b->ops.data[b->ops.len - 1].by = by;
    return d;
}

static int copy(at_builder *b, int x) { return unary(b, AT_T_MOV, x); }

/* A register of its own, to be updated. */
static int start(at_builder *b, float x) {
    int d = at_build_operation(b, AT_T_CONST, -1, -1, -1);
    at_tile_op *op = &b->ops.data[b->ops.len - 1];
    op->number = x;
    op->mem = AT_MEM_CONST;
    return d;
}

/* sum += x * y */
static void add_product(at_builder *b, int sum, int x, float y) {
    at_build_operation(b, AT_T_FMA, sum, x, at_build_const(b, y));
}

static void blend(at_builder *b, int into, int mask, int from) {
    at_build_operation(b, AT_T_BLEND, into, mask, from);
}

static int polynomial(at_builder *b, const float *of, size_t n, int x) {
    int sum = start(b, of[0]);
    for (size_t i = 1; i < n; i++)
        at_build_operation(b, AT_T_MUL_ADD, sum, x, at_build_const(b, of[i]));
    return sum;
}
#define POLYNOMIAL(b, name, x)                                                                     \
    polynomial(b, name##_POLYNOMIAL, sizeof name##_POLYNOMIAL / sizeof(float), x)

static int magnitude(at_builder *b, int x) { return with(b, AT_T_AND, x, at_of_bits(~SIGN)); }

static int with_sign_of(at_builder *b, int x, int sign) {
    return binary(b, AT_T_OR, x, with(b, AT_T_AND, sign, at_of_bits(SIGN)));
}

/* ---- functions ------------------------------------------------------------------------------- */

/* What is known of an exponential's argument: below 71, above -70, or neither. */
typedef enum { AT_ANY, AT_LOW, AT_HIGH } bound;

/* 2^-24 or 2^24, whichever is the second factor of 2^k; the first is 2^(k + 24) or 2^(k - 24). */
#define SECOND_LOW 0x1p-24f
#define SECOND_HIGH 0x1p24f
#define SECONDS (48u << 23) /* what their bits differ by */

/* What is added before, so that the lowest bits of the sum are the exponent of the first factor. */
static float rounder_of(bound of) { return ROUNDER + (of == AT_LOW ? 127 + 24 : 127 - 24); }

/* x * 2^k, k from -151 to 128, rounded: k and the number above. The first product is normal where
 * the second may not be, and so is rounded once. For k = -151, where the result is 0, the bits of
 * the first factor are 0: no product underflows, for which a core may take a hundred times as long.
 */
static int scaled(at_builder *b, int x, int k, int rounded, bound of) {
    int first = shift(b, AT_T_SHIFT_LEFT, rounded, 23);
    if (of != AT_ANY) {
        x = binary(b, AT_T_MUL, x, first);
        return with(b, AT_T_MUL, x, of == AT_LOW ? SECOND_LOW : SECOND_HIGH);
    }
    int less = with(b, AT_T_AND, shift(b, AT_T_SHIFT_RIGHT, k, 31), at_of_bits(SECONDS));
    first = binary(b, AT_T_INT_ADD, first, less);
    int second = binary(b, AT_T_INT_SUB, at_build_const(b, SECOND_HIGH), less);
    return binary(b, AT_T_MUL, binary(b, AT_T_MUL, x, first), second);
}

/* exp(x) = 2^k exp(r), |r| <= log(2)/2. Beyond -104 and 89 the result is 0 or infinite; what is not
 * a number passes, as the second operand. An instruction that scales takes any k and makes 0 where
 * it is below -150: beyond, exp(r) is positive, or, where k is infinite, not a number, and the
 * result infinite. */
static int exponential(at_builder *b, int x, bound of) {
    bool any_k = b->l->target->scales;
    float rounder = any_k ? ROUNDER : rounder_of(of);
    if (!any_k && of != AT_LOW) x = binary(b, AT_T_MIN, at_build_const(b, 89), x);
    if (!any_k && of != AT_HIGH) x = binary(b, AT_T_MAX, at_build_const(b, -104.5f), x);
    int rounded = start(b, rounder);
    add_product(b, rounded, x, 0x1.715476p+0f); /* 1/log(2) */
    int k = with(b, AT_T_SUB, rounded, rounder), r = copy(b, x);
    add_product(b, r, k, -LOG2_HIGH);
    add_product(b, r, k, -LOG2_LOW);
    int sum = POLYNOMIAL(b, EXP, r);
    at_build_operation(b, AT_T_MUL_ADD, sum, r, at_build_const(b, 1));
    at_build_operation(b, AT_T_MUL_ADD, sum, r, at_build_const(b, 1));
    if (!any_k) return scaled(b, sum, k, rounded, of);
    int result = binary(b, AT_T_SCALE, sum, k);
    b->ops.data[b->ops.len - 1].number = -150;
    return result;
}

/* log(x) = k log(2) + log(1 + f), sqrt(1/2) <= 1 + f < sqrt(2); subnormal numbers are made normal
 * first. */
static int logarithm(at_builder *b, int x) {
    int tiny = with(b, AT_T_LESS, x, LEAST_NORMAL), y = copy(b, x);
    blend(b, y, tiny, with(b, AT_T_MUL, x, 0x1p25f));
    int e = shift(b, AT_T_SHIFT_RIGHT, with(b, AT_T_INT_SUB, y, 0x1.6a09e6p-1f), 23);
    int m = binary(b, AT_T_INT_SUB, y, shift(b, AT_T_SHIFT_LEFT, e, 23));
    int k = unary(b, AT_T_TO_FLOAT, e), added = with(b, AT_T_AND, tiny, 25);
    k = binary(b, AT_T_SUB, k, added);
    int f = with(b, AT_T_SUB, m, 1), square = binary(b, AT_T_MUL, f, f);
    int cube = binary(b, AT_T_MUL, square, f);
    int rest = binary(b, AT_T_MUL, POLYNOMIAL(b, LOG, f), cube);
    add_product(b, rest, k, LOG2_LOW);
    add_product(b, rest, square, -0.5f);
    int sum = binary(b, AT_T_ADD, rest, f), result = copy(b, x), none = start(b, -INFINITY);
    add_product(b, sum, k, LOG2_HIGH);
    blend(b, result, with(b, AT_T_LESS, x, INFINITY), sum);
    blend(b, none, with(b, AT_T_LESS, x, 0), at_build_const(b, at_of_bits(0x7fc00000)));
    blend(b, result, with(b, AT_T_LESS, x, LEAST), none);
    return result;
}

static int reciprocal_root(at_builder *b, int x) {
    return binary(b, AT_T_DIV, at_build_const(b, 1), unary(b, AT_T_SQRT, x));
}

/* Near 0 an odd polynomial, beyond 1 - 2/(exp(2|x|) + 1). */
static int hyperbolic_tangent(at_builder *b, int x) {
    int of = magnitude(b, x), square = binary(b, AT_T_MUL, of, of), near = copy(b, of);
    int factor = binary(b, AT_T_MUL, POLYNOMIAL(b, TANH, square), square);
    at_build_operation(b, AT_T_FMA, near, of, factor);
    int e = with(b, AT_T_ADD, exponential(b, binary(b, AT_T_ADD, of, of), AT_HIGH), 1);
    int far =
        binary(b, AT_T_SUB, at_build_const(b, 1), binary(b, AT_T_DIV, at_build_const(b, 2), e));
    blend(b, far, with(b, AT_T_LESS, of, 0.625f), near);
    return with_sign_of(b, far, x);
}

/* Near 0 an odd polynomial, beyond 1 - exp(P(|x|)), from 4 on 1. */
static int error_function(at_builder *b, int x) {
    int of = magnitude(b, x), square = binary(b, AT_T_MUL, of, of), near = copy(b, of);
    at_build_operation(b, AT_T_FMA, near, of, POLYNOMIAL(b, ERF, square));
    int within = binary(b, AT_T_MIN, at_build_const(b, 4), of);
    int far = binary(b, AT_T_SUB, at_build_const(b, 1),
                     exponential(b, POLYNOMIAL(b, ERFC, within), AT_LOW));
    blend(b, far, with(b, AT_T_LESS, of, 1), near);
    return with_sign_of(b, far, x);
}

/* e/(1 + e) below 0, 1/(1 + e) above, e = exp(-|x|), which cannot overflow. */
static int logistic(at_builder *b, int x) {
    int e = exponential(b, with(b, AT_T_OR, x, at_of_bits(SIGN)), AT_LOW), above = start(b, 1);
    blend(b, above, with(b, AT_T_LESS, x, 0), e);
    return binary(b, AT_T_DIV, above, with(b, AT_T_ADD, e, 1));
}

/* Half of pi in parts, of which all but the last have 7 digits: products with integers below 2^17
 * are exact. */
static const float half_pi[] = {0x1.9p+0f,  0x1.0cp-7f,  0x1.ecp-14f, 0x1.5p-22f,
                                0x1.1p-30f, 0x1.68p-39f, 0x1.84p-48f, 0x1.a62634p-58f};
#define MOST_ANGLE 0x1p17f

/* The sine of x + quarter*pi/2. |x| = k pi/2 + r, |r| <= pi/4: by k + quarter the sine of r or its
 * cosine, of either sign. */
static int sine(at_builder *b, int x, unsigned quarter) {
    int of = magnitude(b, x), rounded = start(b, ROUNDER), r = copy(b, of);
    add_product(b, rounded, of, 0x1.45f306p-1f); /* 2/pi */
    int k = with(b, AT_T_SUB, rounded, ROUNDER);
    for (size_t i = 0; i < sizeof half_pi / sizeof *half_pi; i++) add_product(b, r, k, -half_pi[i]);
    int z = binary(b, AT_T_MUL, r, r), odd = copy(b, r), even = start(b, 1);
    int factor = binary(b, AT_T_MUL, POLYNOMIAL(b, SIN, z), z);
    at_build_operation(b, AT_T_FMA, odd, r, factor);
    add_product(b, even, z, -0.5f);
    factor = binary(b, AT_T_MUL, POLYNOMIAL(b, COS, z), z);
    at_build_operation(b, AT_T_FMA, even, z, factor);
    int turns = quarter ? with(b, AT_T_INT_ADD, rounded, at_of_bits(quarter)) : rounded;
    int is_cosine = shift(b, AT_T_SHIFT_RIGHT, shift(b, AT_T_SHIFT_LEFT, turns, 31), 31);
    int sign = with(b, AT_T_AND, shift(b, AT_T_SHIFT_LEFT, turns, 30), at_of_bits(SIGN));
    blend(b, odd, is_cosine, even);
    int result = binary(b, AT_T_INT_ADD, odd, sign), all = start(b, at_of_bits(0x7fc00000));
    if (!quarter) result = binary(b, AT_T_INT_ADD, result, with(b, AT_T_AND, x, at_of_bits(SIGN)));
    blend(b, all, binary(b, AT_T_AT_MOST, of, at_build_const(b, MOST_ANGLE)), result);
    return all;
}

/* Rounded to the nearest by a large number, halves to the even one; for floor down by 1 where that
 * was up. ceil(x) is -floor(-x). */
static int rounded(at_builder *b, int x, at_function f) {
    if (f == AT_FUNCTION_CEIL)
        return with(b, AT_T_MUL, rounded(b, with(b, AT_T_MUL, x, -1), AT_FUNCTION_FLOOR), -1);
    int of = magnitude(b, x), result = copy(b, x);
    int near = with(b, AT_T_SUB, with(b, AT_T_ADD, of, 0x1p23f), 0x1p23f);
    near = with_sign_of(b, near, x);
    if (f == AT_FUNCTION_FLOOR) {
        int up = with(b, AT_T_AND, binary(b, AT_T_LESS, x, near), 1);
        near = binary(b, AT_T_SUB, near, up);
    }
    blend(b, result, with(b, AT_T_LESS, of, 0x1p23f), near);
    return result;
}

/* The float of 16 bits whose bits are the integer x. Its exponent and fraction, taken as those of a
 * float of 32 bits, are its absolute value times 2^-112, subnormal or not; infinity, and what is no
 * number, has all bits of the exponent. */
static int of_half(at_builder *b, int x) {
    x = with(b, AT_T_MIN, with(b, AT_T_MAX, x, 0), 65535);
    const int bits = with(b, AT_T_ADD, x, 0x1p23f); /* the lowest are x's as an integer */
    const int sign = shift(b, AT_T_SHIFT_LEFT, shift(b, AT_T_SHIFT_RIGHT, bits, 15), 31);
    const int size = with(b, AT_T_AND, shift(b, AT_T_SHIFT_LEFT, bits, 13), at_of_bits(0x0fffe000));
    const int beyond = binary(b, AT_T_AT_MOST, at_build_const(b, 0x1p-96f), size);
    const int value = with(b, AT_T_MUL, size, 0x1p112f);
    const int all = with(b, AT_T_AND, beyond, INFINITY);
    return binary(b, AT_T_OR, binary(b, AT_T_OR, value, all), sign);
}

/* The float of 16 bits that is nearest, halves to the even one. Added to 2^13 times its power of
 * two, or to one half, a number is rounded to 11 digits, or to a multiple of 2^-24. */
static int nearest_half(at_builder *b, int x) {
    const int of = magnitude(b, x);
    const int power = with(b, AT_T_AND, of, at_of_bits(0x7f800000));
    int by = with(b, AT_T_MIN, with(b, AT_T_MUL, power, 0x1p13f), 0x1p40f);
    by = with(b, AT_T_MAX, by, 0.5f);
    const int near = binary(b, AT_T_SUB, binary(b, AT_T_ADD, of, by), by), all = copy(b, near);
    blend(b, all, binary(b, AT_T_AT_MOST, at_build_const(b, 0x1p16f), near),
          at_build_const(b, INFINITY));
    return with_sign_of(b, all, x);
}

/* The same of the upper half of a float: one less than half of a unit is added, and one more where
 * the last bit that stays is set. What is no number stays so by a bit that stays. */
static int nearest_upper(at_builder *b, int x) {
    const int last = with(b, AT_T_AND, shift(b, AT_T_SHIFT_RIGHT, x, 16), at_of_bits(1));
    int near = with(b, AT_T_INT_ADD, binary(b, AT_T_INT_ADD, x, last), at_of_bits(0x7fff));
    const int result = with(b, AT_T_OR, x, at_of_bits(0x00400000));
    blend(b, result, binary(b, AT_T_EQUAL, x, x), near);
    return with(b, AT_T_AND, result, at_of_bits(0xffff0000));
}

int at_build_function(at_builder *b, at_function f, int x) {
    switch (f) {
    case AT_FUNCTION_EXP: return exponential(b, x, AT_ANY);
    case AT_FUNCTION_LOG: return logarithm(b, x);
    case AT_FUNCTION_SQRT: return unary(b, AT_T_SQRT, x);
    case AT_FUNCTION_RSQRT: return reciprocal_root(b, x);
    case AT_FUNCTION_TANH: return hyperbolic_tangent(b, x);
    case AT_FUNCTION_ERF: return error_function(b, x);
    case AT_FUNCTION_SIGMOID: return logistic(b, x);
    case AT_FUNCTION_SIN: return sine(b, x, 0);
    case AT_FUNCTION_COS: return sine(b, x, 1);
    case AT_FUNCTION_ABS: return magnitude(b, x);
    case AT_FUNCTION_FLOOR:
    case AT_FUNCTION_CEIL:
    case AT_FUNCTION_ROUND: return rounded(b, x, f);
    case AT_FUNCTION_HALF: return of_half(b, x);
    case AT_FUNCTION_F16: return nearest_half(b, x);
    case AT_FUNCTION_BF16: return nearest_upper(b, x);
    case AT_FUNCTION_COUNT: break;
    }
    AT_BUG("function %d is not in registers", f);
}

int at_build_number(at_builder *b, int x) { return unary(b, AT_T_TO_FLOAT, x); }

int at_build_whole(at_builder *b, int x) { return unary(b, AT_T_TO_INT, x); }
