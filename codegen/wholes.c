/* codegen/wholes.c: what is stored as an element of a type of integers is cut to its range, unless
 * it is known to lie within. */
#include "codegen/codegen_int.h"

#include <math.h>

/* ---- what is stored -------------------------------------------------------------------------- */

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

/* An entry of an index tensor: it has 32 bits. */
static bool is_entry(const at_low *l, const at_value *v) {
    return v->op == AT_V_INDEX && v->at->n == 1 && !v->at->c && v->at->t[0].k == 1 &&
           l->syms.data[v->at->t[0].sym].kind == AT_SYM_LOAD;
}

/* What is not a number is the least: the second operand. */
const at_value *at_value_as_stored(at_low *l, const at_value *v, at_type type) {
    const at_type_facts *facts = at_type_of(type);
    if (!facts->is_int) return at_value_as_number(l, v);
    const double least = facts->least, most = v->whole ? facts->most : at_type_most_float(type);
    if (v->op == AT_V_CONST)
        return at_value_const(l, fmin(fmax(nearbyint(v->number), least), most), true);
    if (type == AT_S32 && (v->whole || is_entry(l, v))) return at_value_as_whole(l, v);
    if (!v->whole) v = unrounded(l, v);
    const range r = range_of(l, v);
    if (!(r.lo >= least)) v = at_value_binary(l, AT_V_MAX, v, at_value_const(l, least, v->whole));
    if (!(r.hi <= most)) v = at_value_binary(l, AT_V_MIN, v, at_value_const(l, most, v->whole));
    return at_value_as_whole(l, v);
}
