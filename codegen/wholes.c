/* codegen/wholes.c: what is stored as an element of a type of integers is cut to its range, unless
 * it is known to lie within. */
#include "codegen/codegen_int.h"

#include <math.h>

#include "base/range.h"

/* ---- ranges ---------------------------------------------------------------------------------- */

typedef at_range range;

static range range_of(const at_low *l, const at_value *v);

static range range_of_bits(const at_low *l, const at_value *v) {
    const range x = range_of(l, v->a), y = range_of(l, v->b);
    if (v->op == AT_V_SHIFT_RIGHT)
        return (range){floor(ldexp(x.lo, -(int)y.lo)), floor(ldexp(x.hi, -(int)y.lo))};
    if (!(x.lo >= 0) && !(y.lo >= 0)) return (range){-INFINITY, INFINITY};
    return (range){0, !(x.lo >= 0) ? y.hi : !(y.lo >= 0) ? x.hi : fmin(x.hi, y.hi)};
}

static range range_of(const at_low *l, const at_value *v) {
    range x, y, r = {-INFINITY, INFINITY};
    if (v->op == AT_V_CONST) return (range){v->number, v->number};
    if (v->op == AT_V_LOAD && v->whole) {
        const at_type_facts *type = at_type_of(at_low_tensor_type(l, v->tensor));
        return (range){type->least, type->most};
    }
    if (v->op == AT_V_BIT_AND || v->op == AT_V_SHIFT_RIGHT) return range_of_bits(l, v);
    if (v->whole && (v->op == AT_V_ADD || v->op == AT_V_SUB)) {
        x = range_of(l, v->a), y = range_of(l, v->b);
        return v->op == AT_V_ADD ? (range){x.lo + y.lo, x.hi + y.hi}
                                 : (range){x.lo - y.hi, x.hi - y.lo};
    }
    if (v->op == AT_V_CHOOSE) v = v->b;
    const bool either = v->op == AT_V_SELECT || v->op == AT_V_EITHER;
    if (!either && v->op != AT_V_MIN && v->op != AT_V_MAX) return r;
    x = range_of(l, v->a), y = range_of(l, v->b);
    if (either) return at_range_hull(x, y);
    if (v->op == AT_V_MIN) return (range){fmin(x.lo, y.lo), fmin(x.hi, y.hi)};
    return (range){fmax(x.lo, y.lo), fmax(x.hi, y.hi)};
}

/* What rounds a number to an integer rounds it anyway, also before it is cut to between integers.
 */
static const at_value *unrounded(at_low *l, const at_value *v) {
    if (v->op == AT_V_CALL && v->function == AT_FUNCTION_ROUND) return v->a;
    if (v->op != AT_V_MIN && v->op != AT_V_MAX) return v;
    const bool first = v->a->op == AT_V_CONST;
    const at_value *number = first ? v->a : v->b, *rest = first ? v->b : v->a;
    if (number->op != AT_V_CONST || number->number != nearbyint(number->number)) return v;
    rest = unrounded(l, rest);
    return at_value_binary(l, v->op, first ? number : rest, first ? rest : number);
}

/* ---- indices as integers --------------------------------------------------------------------- */

/* Is it an index, or made of such by operators that integers of 32 bits have? */
static bool is_of_indices(const at_value *v) {
    switch (v->op) {
    case AT_V_INDEX: return true;
    case AT_V_CONST: return fabs(v->number) < 0x1p31;
    case AT_V_ADD:
    case AT_V_SUB:
    case AT_V_MUL:
    case AT_V_MIN:
    case AT_V_MAX:
    case AT_V_SELECT:
    case AT_V_EITHER: return is_of_indices(v->a) && is_of_indices(v->b);
    case AT_V_CHOOSE: return is_of_indices(v->b);
    case AT_V_NUMBER: return v->a->whole;
    default: return v->whole;
    }
}

/* Where an index lies, and whether what it is made of may be an integer that no float is. */
typedef struct {
    range all;
    bool is_beyond;
} index_range;

static range joined(at_val_op op, range x, range y) {
    switch (op) {
    case AT_V_ADD: return (range){x.lo + y.lo, x.hi + y.hi};
    case AT_V_SUB: return (range){x.lo - y.hi, x.hi - y.lo};
    case AT_V_MUL: return at_range_product(x, y);
    case AT_V_MIN: return (range){fmin(x.lo, y.lo), fmin(x.hi, y.hi)};
    case AT_V_MAX: return (range){fmax(x.lo, y.lo), fmax(x.hi, y.hi)};
    default: return at_range_hull(x, y);
    }
}

static index_range range_of_index(at_low *l, const at_value *v) {
    index_range r = {.is_beyond = false};
    int64_t lo, hi;
    if (v->op == AT_V_CHOOSE) return range_of_index(l, v->b);
    if (v->op == AT_V_INDEX) {
        at_aff_range(l, v->at, &lo, &hi);
        r.all = (range){(double)(v->bounds ? v->bounds[0] : lo),
                        (double)(v->bounds ? v->bounds[1] : hi)};
    } else if (v->op == AT_V_CONST) r.all = (range){v->number, v->number};
    else if (v->whole || v->op == AT_V_NUMBER) {
        r.all = range_of(l, v->op == AT_V_NUMBER ? v->a : v);
        r.all = (range){fmax(r.all.lo, INT32_MIN), fmin(r.all.hi, INT32_MAX)};
    } else {
        const index_range x = range_of_index(l, v->a), y = range_of_index(l, v->b);
        r = (index_range){joined((at_val_op)v->op, x.all, y.all), x.is_beyond || y.is_beyond};
    }
    r.is_beyond |= r.all.lo < -0x1p24 || r.all.hi > 0x1p24;
    return r;
}

static const at_value *in_integers(at_low *l, const at_value *v) {
    if (v->op == AT_V_NUMBER) return v->a;
    if (v->whole || v->op == AT_V_CONST || v->op == AT_V_INDEX) return at_value_as_whole(l, v);
    at_value *n = at_copy(l->arena, v, sizeof *v);
    if (v->op != AT_V_CHOOSE) n->a = in_integers(l, v->a);
    n->b = in_integers(l, v->b);
    n->whole = true;
    return n;
}

const at_value *at_value_of_index(at_low *l, const at_value *v) {
    return !v->whole && is_of_indices(v) && range_of_index(l, v).is_beyond ? in_integers(l, v) : v;
}

/* Rounded down: where both are below 2^24, the quotient in float is below the next integer, too. */
static const at_value *quotient(at_low *l, const at_value *a, const at_value *b) {
    const at_value v = {
        .op = AT_V_CALL, .function = AT_FUNCTION_FLOOR, .a = at_value_binary(l, AT_V_DIV, a, b)};
    return at_value_new(l, v);
}

static const at_value *rest_of(at_low *l, const at_value *a, const at_value *b,
                               const at_value *quotient) {
    return at_value_binary(l, AT_V_SUB, a, at_value_binary(l, AT_V_MUL, b, quotient));
}

/* Is it worked out in integers before it is divided: does it fit 32 bits where entries lie within
 * 2^30, and go beyond floats? */
static bool is_large(at_low *l, const at_value *v) {
    const double most = 3.0 * AT_MOST_GIVEN;
    if (!is_of_indices(v)) return false;
    const index_range r = range_of_index(l, v);
    return r.is_beyond && r.all.lo > -most && r.all.hi < most;
}

/* -1 below 0, else 0. */
static const at_value *sign_of(at_low *l, const at_value *v) {
    const at_value *least = at_value_binary(l, AT_V_MIN, v, at_value_const(l, 0, true));
    return at_value_binary(l, AT_V_MAX, least, at_value_const(l, -1, true));
}

/* What a first quotient leaves of a divisor below 2^23 is at most 2^8 and the divisor, so that
 * floats divide it. One by a larger divisor is off by one at most. */
static const at_value *missing(at_low *l, const at_value *left, const at_value *by) {
    if (by->number < 0x1p23)
        return at_value_as_whole(
            l, quotient(l, at_value_as_number(l, left), at_value_const(l, by->number, false)));
    const at_value *none = at_value_const(l, 0, true), *one = at_value_const(l, 1, true),
                   *most = at_value_const(l, by->number - 1, true);
    const at_value *below = sign_of(l, left);
    const at_value *above = at_value_binary(
        l, AT_V_MIN, at_value_binary(l, AT_V_MAX, at_value_binary(l, AT_V_SUB, left, most), none),
        one);
    return at_value_binary(l, AT_V_ADD, below, above);
}

/* By a divisor that no integer of 32 bits is. What 2^31 leaves is an integer, by the last 32 bits.
 * A larger divisor leaves so much and, below 0, what it is beyond 2^31: a float, and no difference
 * of two large ones, of which little but their roundings may be left. */
static const at_value *quotient_by_larger(at_low *l, const at_value *of, const at_value *b,
                                          bool rest) {
    const at_value *q = sign_of(l, of);
    if (!rest) return q;
    const at_value *left = rest_of(l, of, at_value_const(l, INT32_MIN, true), q);
    if (b->number == 0x1p31) return left;
    return rest_of(l, at_value_as_number(l, left), at_value_const(l, b->number - 0x1p31, false),
                   at_value_as_number(l, q));
}

const at_value *at_value_index_quotient(at_low *l, const at_value *a, const at_value *b,
                                        bool rest) {
    if (!is_large(l, a) || b->op != AT_V_CONST) {
        const at_value *x = at_value_as_number(l, a), *y = at_value_as_number(l, b),
                       *q = quotient(l, x, y);
        return rest ? rest_of(l, x, y, q) : q;
    }
    const at_value *of = in_integers(l, a);
    if (b->number > INT32_MAX) return quotient_by_larger(l, of, b, rest);
    const at_value *by = at_value_as_whole(l, b);
    const at_value *first =
        at_value_as_whole(l, quotient(l, at_value_as_number(l, of), at_value_as_number(l, by)));
    const at_value *left = rest_of(l, of, by, first);
    const at_value *more = missing(l, left, by);
    return rest ? rest_of(l, left, by, more) : at_value_binary(l, AT_V_ADD, first, more);
}

bool at_value_are_near(const at_low *l, const at_value *x, const at_value *y) {
    const range a = range_of(l, x), b = range_of(l, y);
    return a.hi - b.lo < 0x1p31 && b.hi - a.lo < 0x1p31;
}

/* ---- what is stored -------------------------------------------------------------------------- */

/* Is it made of indices and lies within 32 bits, so that integers say the same without bounds? */
static bool is_index_of_32_bits(at_low *l, const at_value *v) {
    if (v->whole || v->op == AT_V_CONST || !is_of_indices(v)) return false;
    const range r = range_of_index(l, v).all;
    return r.lo >= INT32_MIN && r.hi <= INT32_MAX;
}

/* What is not a number is the least: the second operand. */
const at_value *at_value_as_stored(at_low *l, const at_value *v, at_type type) {
    const at_type_facts *facts = at_type_of(type);
    if (!facts->is_int) return at_value_as_number(l, v);
    if (is_index_of_32_bits(l, v)) v = in_integers(l, v);
    const double least = facts->least, most = v->whole ? facts->most : at_type_most_float(type);
    if (v->op == AT_V_CONST)
        return at_value_const(l, fmin(fmax(nearbyint(v->number), least), most), true);
    if (v->whole && type == AT_S32) return v;
    if (!v->whole) v = unrounded(l, v);
    const range r = range_of(l, v);
    if (!(r.lo >= least)) v = at_value_binary(l, AT_V_MAX, v, at_value_const(l, least, v->whole));
    if (!(r.hi <= most)) v = at_value_binary(l, AT_V_MIN, v, at_value_const(l, most, v->whole));
    return at_value_as_whole(l, v);
}
