/* codegen/wholes.c: what is stored as an element of a type of integers is cut to its range, unless
 * it is known to lie within. */
#include "codegen/codegen_int.h"

#include <math.h>

/* ---- ranges ---------------------------------------------------------------------------------- */

typedef struct {
    double lo, hi;
} range;

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
    if (either) return (range){fmin(x.lo, y.lo), fmax(x.hi, y.hi)};
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

/* May it be an integer that no float is? */
static bool goes_beyond_floats(at_low *l, const at_value *v) {
    const double most = 0x1p24;
    if (v->op == AT_V_CONST) return fabs(v->number) > most;
    if (v->op == AT_V_CHOOSE) return goes_beyond_floats(l, v->b);
    if (v->op == AT_V_MIN || v->op == AT_V_MAX || v->op == AT_V_SELECT || v->op == AT_V_EITHER)
        return goes_beyond_floats(l, v->a) || goes_beyond_floats(l, v->b);
    if (v->op != AT_V_INDEX) return true;
    int64_t lo, hi;
    at_aff_range(l, v->at, &lo, &hi);
    return (double)(v->bounds ? v->bounds[0] : lo) < -most ||
           (double)(v->bounds ? v->bounds[1] : hi) > most;
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
    return !v->whole && is_of_indices(v) && goes_beyond_floats(l, v) ? in_integers(l, v) : v;
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

/* A sum of indices, which fits 32 bits where entries lie within 2^30. */
static bool is_sum(at_low *l, const at_value *v) {
    if (v->op == AT_V_ADD || v->op == AT_V_SUB) return is_sum(l, v->a) && is_sum(l, v->b);
    if (v->op != AT_V_INDEX) return is_of_indices(v) && v->op != AT_V_MUL;
    int64_t lo, hi;
    at_aff_range(l, v->at, &lo, &hi);
    return lo > -3 * (int64_t)AT_MOST_GIVEN && hi < 3 * (int64_t)AT_MOST_GIVEN;
}

/* Of what is beyond 2^24 the quotient in float leaves a rest of at most 2^8 and the divisor, so
 * that the quotient of this is what is missing. */
const at_value *at_value_index_quotient(at_low *l, const at_value *a, const at_value *b,
                                        bool rest) {
    const bool is_large = is_sum(l, a) && goes_beyond_floats(l, a);
    if (!is_large || b->op != AT_V_CONST || b->number >= 0x1p23) {
        const at_value *q = quotient(l, a, b);
        return rest ? rest_of(l, a, b, q) : q;
    }
    const at_value *of = in_integers(l, a), *by = at_value_as_whole(l, b);
    const at_value *first = at_value_as_whole(l, quotient(l, at_value_as_number(l, of), b));
    const at_value *left = rest_of(l, of, by, first);
    const at_value *more = at_value_as_whole(l, quotient(l, at_value_as_number(l, left), b));
    return rest ? rest_of(l, left, by, more) : at_value_binary(l, AT_V_ADD, first, more);
}

/* ---- what is stored -------------------------------------------------------------------------- */

/* What is not a number is the least: the second operand. */
const at_value *at_value_as_stored(at_low *l, const at_value *v, at_type type) {
    const at_type_facts *facts = at_type_of(type);
    if (!facts->is_int) return at_value_as_number(l, v);
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
