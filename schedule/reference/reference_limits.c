/* schedule/reference/reference_limits.c: values in double, and how far a kernel's may be from them.
 *
 * A kernel computes in float, in an order of its own. Each operation is wrong by at most u = 2^-24
 * of its result, up or down, so the errors of an element add up like a random walk: its limit is
 * 8 u times the root of the sum of the squares of all partial results on its way. That sum, e,
 * stands beside each value v here. Where an operand is not exact, its own e goes on to the result,
 * times the square of the derivative.
 *
 * What the running sums of a reduction are depends on the order of the terms. Of n terms t with
 * the sum s, the squares of the running sums add up, over all orders on the average, to
 *     (n + 1)/6 sum(t t) + (n + 1)/3 s s.
 * That or the order of the text counts, whichever is more: one large term that stands last in the
 * text may come first in the kernel, and then every partial sum is large.
 *
 * What is worked out of a stage's own elements before, in a filter or in steps in time, or by
 * stages that read each other, has errors of the same origin in it, which may add up or cancel:
 * their squares tell too little or too much. Such a stage keeps some samples of its error beside
 * each element, as roundings of random signs make it, and takes them along by the derivatives,
 * signs and all. e is so many times their mean square that so few samples are enough.
 *
 * A rounded value that an expression reads several times, as s in s*0.5 + s, is wrong by the same
 * in each: what a derivative of the whole makes of it, signs and all, counts where that is more.
 *
 * A rounded value that several terms of a sum read, as the total in sum(k) p[k]/total, is wrong by
 * the same in all of them: what it means for each term is added up as it is, not as a random walk.
 * So are the roundings of equal terms: while a sum stays within one power of two, the same term
 * added again is rounded the same way again. Each by half of a unit of the running sum at most.
 *
 * Where inputs are integers, values are multiples of a power of two. A sum or product that a float
 * holds, of operands that are exact, is exact itself; a reduction is so in any order where the sum
 * of the sizes of its terms is small enough.
 *
 * Terms so small beside another, or beside a sum, that a float sum does not change by them are lost
 * whole, and that is no random walk: what they add up to is allowed, too.
 *
 * Dot products of bf16 take numbers below the normal floats for 0: what terms lose by that adds up,
 * too.
 *
 * Where values that are compared lie so close that a kernel may see them the other way round, both
 * outcomes are allowed. Of a maximum or minimum over terms that such a comparison leaves out (the
 * first place of the largest value) that is what each choice of them would make. */
#include "schedule/reference/reference_pairs.h"

#include <math.h>

#define ALMOST_INFINITE "1e77" /* the square of 0.93 of the largest float */

/* ---- statements ------------------------------------------------------------------------------ */

void limits_open(block *b, const char *condition) {
    line(b, at_format(b->m->arena, "if (%s) {", condition));
    b->nested++;
}

void limits_close(block *b) {
    b->nested--;
    line(b, "}");
}

/* ---- conditions: evaluated only as far as the text's own && and || would --------------------- */

static truth declare_truth(block *b, const char *is) {
    truth t = {named(b, 'c'), named(b, 'm'), named(b, 'n')};
    line(b, at_format(b->m->arena, "int %s = %s, %s = %s, %s = !%s;", t.is, is, t.may, t.is,
                      t.may_not, t.is));
    return t;
}

const char *limits_close_by(block *b, pair x, pair y) {
    return at_format(b->m->arena, "%s_close(%s - %s, %s + %s)", b->m->entry, x.v, y.v, e_of(x),
                     e_of(y));
}

static truth compared(block *b, const at_expr *e) {
    static const char *const spelled[] = {[AT_X_LT] = "<",  [AT_X_LE] = "<=", [AT_X_GT] = ">",
                                          [AT_X_GE] = ">=", [AT_X_EQ] = "==", [AT_X_NE] = "!="};
    at_arena *a = b->m->arena;
    pair x = limits_value(b, e->arg[0]), y = limits_value(b, e->arg[1]);
    truth t = declare_truth(b, at_format(a, "%s %s %s", x.v, spelled[e->op], y.v));
    line(b, at_format(a, "if (%s) %s = %s = 1;", limits_close_by(b, x, y), t.may, t.may_not));
    return t;
}

truth limits_condition(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    if (naive_is_certain(b->m, e)) return declare_truth(b, naive_value(b->m, e, b->depth));
    if (e->op == AT_X_NOT) {
        truth t = limits_condition(b, e->arg[0]);
        return (truth){at_format(a, "!%s", t.is), t.may_not, t.may};
    }
    if (e->op != AT_X_AND && e->op != AT_X_OR) return compared(b, e);
    bool and = e->op == AT_X_AND;
    truth x = limits_condition(b, e->arg[0]), t = declare_truth(b, x.is);
    line(b, at_format(a, "%s = %s, %s = %s;", t.may, x.may, t.may_not, x.may_not));
    limits_open(b, and? x.may : x.may_not);
    truth y = limits_condition(b, e->arg[1]);
    if (and)
        line(b, at_format(a, "%s = %s && %s, %s = %s, %s = %s || %s;", t.is, t.is, y.is, t.may,
                          y.may, t.may_not, t.may_not, y.may_not));
    else
        line(b, at_format(a, "%s = %s || %s, %s = %s || %s, %s = %s;", t.is, t.is, y.is, t.may,
                          t.may, y.may, t.may_not, y.may_not));
    limits_close(b);
    return t;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Samples of the sides of a choice, each in a block of its own. */
typedef struct sides {
    pair chosen, other;
} sides;

static void take_side(block *b, pair to, pair x) {
    at_arena *a = b->m->arena;
    line(b, at_format(a, "%s = %s;", to.v, x.v));
    if (to.d) samples_move(b, to.d, to.own, x, "1");
    else line(b, at_format(a, "%s = %s;", to.e, e_of(x)));
}

/* Where a kernel may choose either: both are as far off as the other one is, too. */
static void join_sides(block *b, const sides *s) {
    at_arena *a = b->m->arena;
    const char *entry = b->m->entry, *e = s->chosen.e, *other_e = s->other.e;
    const char *apart = at_format(a, "%s_apart(%s, %s)", entry, s->chosen.v, s->other.v);
    if (!s->chosen.d) {
        line(b, at_format(a, "%s = (%s > %s ? %s : %s) + %s;", e, e, other_e, e, other_e, apart));
        line(b, at_format(a, "%s = %s;", other_e, e));
        return;
    }
    const char *own = s->chosen.own, *other_own = s->other.own;
    line(b, at_format(a, "%s_larger(%s, %s);", entry, s->chosen.d, s->other.d));
    line(b, at_format(a, "%s = (%s > %s ? %s : %s) + %s;", own, own, other_own, own, other_own,
                      apart));
    line(b, at_format(a, "%s = %s;", other_own, own));
}

/* By a condition that no rounding changes. */
static pair selected_surely(block *b, const at_expr *e) {
    pair r = {.v = named(b, 'v'), .e = named(b, 'e')};
    line(b, at_format(b->m->arena, has_signs(b) ? "double %s;" : "double %s, %s;", r.v, r.e));
    if (has_signs(b)) samples_begin(b, &r, "0");
    limits_open(b, naive_value(b->m, e->arg[0], b->depth));
    take_side(b, r, limits_value(b, e->arg[1]));
    b->nested--;
    line(b, "} else {");
    b->nested++;
    take_side(b, r, limits_value(b, e->arg[2]));
    limits_close(b);
    if (r.d) samples_take_e(b, r);
    return r;
}

static pair selected(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    if (naive_is_certain(b->m, e->arg[0])) return selected_surely(b, e);
    sides s = {{.v = named(b, 'v'), .e = named(b, 'e')}, {.v = NULL}};
    truth t = limits_condition(b, e->arg[0]);
    s.other = (pair){.v = named(b, 'v'), .e = named(b, 'e')};
    line(b, at_format(a, "double %s = 0, %s = 0;", s.chosen.v, s.other.v));
    if (has_signs(b)) samples_begin(b, &s.chosen, "0"), samples_begin(b, &s.other, "0");
    else line(b, at_format(a, "double %s = 0, %s = 0;", s.chosen.e, s.other.e));
    limits_open(b, t.may);
    take_side(b, s.chosen, limits_value(b, e->arg[1]));
    limits_close(b);
    limits_open(b, t.may_not);
    take_side(b, s.other, limits_value(b, e->arg[2]));
    limits_close(b);
    limits_open(b, at_format(a, "%s && %s", t.may, t.may_not));
    join_sides(b, &s);
    limits_close(b);
    limits_open(b, at_format(a, "!%s", t.is));
    line(b, at_format(a, "%s = %s;", s.chosen.v, s.other.v));
    if (s.chosen.d) {
        line(b, at_format(a, "for (int k = 0; k < %d; k++) %s[k] = %s[k];", NAIVE_SAMPLES,
                          s.chosen.d, s.other.d));
        line(b, at_format(a, "%s = %s;", s.chosen.own, s.other.own));
    } else line(b, at_format(a, "%s = %s;", s.chosen.e, s.other.e));
    limits_close(b);
    if (s.chosen.d) samples_take_e(b, s.chosen);
    return s.chosen;
}

/* One of two; of both, where a kernel may see the other first. */
const char *limits_extreme_e(block *b, pair x, pair y, const char *chosen) {
    return at_format(b->m->arena, "%s ? (%s > %s ? %s : %s) : %s", limits_close_by(b, x, y),
                     e_of(x), e_of(y), e_of(x), e_of(y), chosen);
}

/* What a divisor that is infinite as a float makes 0 may be off by all of its own size. */
static const char *vanished(block *b, const char *by, const char *r) {
    return at_format(b->m->arena, "(%s * %s > " ALMOST_INFINITE " ? %s * %s / " NEAR " : 0)", by,
                     by, r, r);
}

/* What the e of an operand means for the result, the square of the derivative being `slope`. 0
 * times infinity: what is infinite as a float makes the same of the result in every kernel, as
 * x/exp(-y) is 0, however far its exponent may be. An e that is no number stays so. */
static const char *carried(block *b, pair x, const char *slope) {
    at_arena *a = b->m->arena;
    if (!x.e) return "0";
    if (!slope) return x.e;
    const char *moved = named(b, 'd');
    line(b, at_format(a, "const double %s = %s * (%s);", moved, x.e, slope));
    return at_format(a, "(%1$s == %1$s || %2$s != %2$s ? %1$s : 0)", moved, x.e);
}

/* What x means for its product with y. What an infinite one makes infinite is no number where a
 * kernel has 0 instead, as of an exponential below the normal floats: the e is none, either. */
static const char *carried_by(block *b, pair x, pair y) {
    at_arena *a = b->m->arena;
    if (!x.e) return "0";
    return at_format(a,
                     "(%1$s * %1$s > 1e300 && (%2$s * %2$s < " SMALLEST
                     " || %3$s_close(%2$s, %4$s)) ? 0.0 / 0.0 : %5$s)",
                     y.v, x.v, b->m->entry, x.e, carried(b, x, at_format(a, "%1$s * %1$s", y.v)));
}

static const char *result_of(block *b, const at_expr *e, pair x, pair y) {
    at_arena *a = b->m->arena;
    switch (e->op) {
    case AT_X_ADD: return at_format(a, "%s + %s", x.v, y.v);
    case AT_X_SUB: return at_format(a, "%s - %s", x.v, y.v);
    case AT_X_MUL: return at_format(a, "%s * %s", x.v, y.v);
    case AT_X_DIV: return at_format(a, "%s / %s", x.v, y.v);
    case AT_X_MIN:
    case AT_X_MAX: return at_extreme_c(a, e->op == AT_X_MAX, x.v, y.v);
    default: AT_BUG("operator %d on values", e->op);
    }
}

/* A divisor that changes the exponent alone. */
static bool is_power_of_two(const at_expr *e) {
    int exponent;
    const double x = at_expr_number(e);
    return fabs(frexp(x, &exponent)) == 0.5;
}

/* The e of an operation's own rounding; 0 where operands are exact and a float holds the result. */
static const char *own_of_whole(block *b, const at_expr *e, pair x, pair y, const char *r,
                                const char *own) {
    at_arena *a = b->m->arena;
    const bool adds = e->op == AT_X_ADD || e->op == AT_X_SUB;
    if (!b->m->grains || (e->op == AT_X_DIV && !is_power_of_two(e->arg[1]))) return own;
    if (adds)
        return at_format(a, "(%s_adds(%s, %s, %c%s, %s + %s) ? 0 : %s)", b->m->entry, r, x.v,
                         e->op == AT_X_ADD ? '+' : '-', y.v, e_of(x), e_of(y), own);
    return at_format(a, "(%s_holds(%s, %s + %s) ? 0 : %s)", b->m->entry, r, e_of(x), e_of(y), own);
}

static pair operation(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    pair x = limits_value(b, e->arg[0]), y = limits_value(b, e->arg[1]),
         r = {.v = named(b, 'v'), .e = named(b, 'e')};
    const char *by_x = NULL, *by_y = NULL, *own = at_format(a, "%s * %s", r.v, r.v);
    const bool is_extreme = e->op == AT_X_MIN || e->op == AT_X_MAX;
    const bool samples = x.d || y.d;
    line(b, at_format(a, "const double %s = %s;", r.v, result_of(b, e, x, y)));
    if (is_extreme && samples) {
        samples_of_extreme(b, e->op, x, y, &r, limits_close_by(b, x, y));
        return r;
    }
    if (is_extreme) {
        own = at_format(a, "%s ? %s : %s", at_extreme_first_c(a, e->op == AT_X_MAX, x.v, y.v),
                        e_of(x), e_of(y));
        line(b, at_format(a, "const double %s = %s;", r.e, limits_extreme_e(b, x, y, own)));
        return r;
    }
    if (e->op == AT_X_MUL) {
        own = at_format(a, "%s + " SMALLEST, own);
    } else if (e->op == AT_X_DIV) {
        by_x = at_format(a, "1 / (%s * %s)", y.v, y.v);
        by_y = at_format(a, "%s * %s / (%s * %s)", r.v, r.v, y.v, y.v);
        own = at_format(a, "%s + " SMALLEST " + %s", own, vanished(b, y.v, r.v));
    }
    own = own_of_whole(b, e, x, y, r.v, own);
    if (samples) {
        samples_of_operation(b, e->op, x, y, &r, own);
        return r;
    }
    const bool multiplies = e->op == AT_X_MUL;
    const char *from_x = multiplies ? carried_by(b, x, y) : carried(b, x, by_x),
               *from_y = multiplies ? carried_by(b, y, x) : carried(b, y, by_y);
    line(b, at_format(a, "const double %s = %s + %s + %s;", r.e, from_x, from_y, own));
    return r;
}

/* The square of the derivative of a function at x, r being its value there. */
static const char *slope(block *b, const at_expr *e, const char *x, const char *r) {
    at_arena *a = b->m->arena;
    switch ((at_function)e->integer) {
    case AT_FUNCTION_EXP: return at_format(a, "%s * %s", r, r);
    case AT_FUNCTION_LOG: return at_format(a, "1 / (%s * %s)", x, x);
    case AT_FUNCTION_SQRT: return at_format(a, "0.25 / %s", x);
    case AT_FUNCTION_RSQRT: return at_format(a, "0.25 / (%s * %s * %s)", x, x, x);
    case AT_FUNCTION_TANH: return at_format(a, "(1 - %s * %s) * (1 - %s * %s)", r, r, r, r);
    case AT_FUNCTION_ERF: /* at most, and near 0 not much less */ return "1.2732395447351628";
    case AT_FUNCTION_SIGMOID: return at_format(a, "%s * %s * (1 - %s) * (1 - %s)", r, r, r, r);
    default: return "1";
    }
}

/* A function that is wrong by n units in the last place, 2 n u of its result, adds the square of a
 * half of n: then 8 u times the root allow twice as much. Where its argument is not exact, what
 * that means for the result; a root near 0 is moved by no more than the root of how far its
 * argument is, and between two integers a kernel may round down to either. */
static pair called(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    at_function f = (at_function)e->integer;
    pair x = limits_value(b, e->arg[0]), r = {.v = named(b, 'v'), .e = named(b, 'e')};
    double half = at_function_ulps(f) / 2.0;
    line(b, at_format(a, "const double %s = %s_%s_of(%s);", r.v, b->m->entry, at_function_name(f),
                      x.v));
    line(b, at_format(a, "double %s = %g * %s * %s%s;", r.e, half * half, r.v, r.v,
                      half > 0 ? " + " SMALLEST : ""));
    if (f == AT_FUNCTION_RSQRT) line(b, at_format(a, "%s += %s;", r.e, vanished(b, x.v, r.v)));
    if (!x.e) return r;
    if (at_function_narrows(f)) {
        /* The next float of 16 bits, where a kernel rounds something else. */
        const char *unit = f == AT_FUNCTION_F16 ? "2050" : "16400";
        line(b, at_format(a, "if (%s > 0) %s += %s%s * %s * %s * %s + %s;", x.e, r.e,
                          x.d ? "" : at_format(a, "%s + ", x.e), unit, unit, r.v, r.v,
                          f == AT_FUNCTION_F16 ? "0.016" : SMALLEST));
    } else if (at_function_rounds(f)) {
        /* Where it goes from one number to the next, less that number. */
        const double to[] = {f == AT_FUNCTION_ROUND ? 0.5 : 0, f == AT_FUNCTION_ROUND  ? -0.5
                                                               : f == AT_FUNCTION_CEIL ? -1
                                                                                       : 1};
        for (int i = 0; i < 2; i++)
            line(b, at_format(a, "%s(%s - %s - %g) * (%s - %s - %g) <= " NEAR " * %s%s",
                              i ? "    " : at_format(a, "if (%s > 0 && (", x.e), x.v, r.v, to[i],
                              x.v, r.v, to[i], x.e, i ? "))" : " ||"));
        line(b, at_format(a, "    %s += %s_apart(1, 0) + 4 * %s;", r.e, b->m->entry, x.e));
    } else if (f == AT_FUNCTION_SQRT) {
        line(b, x.d ? at_format(a, "if (%s * %s > " NEAR " * %s) ;", x.v, x.v, x.e)
                    : at_format(a, "if (%s * %s > " NEAR " * %s) %s += %s * (%s);", x.v, x.v, x.e,
                                r.e, x.e, slope(b, e, x.v, r.v)));
        line(b, at_format(a, "else %s += %s_sqrt_of(%s / " NEAR ");", r.e, b->m->entry, x.e));
    } else if (!x.d) line(b, at_format(a, "%s += %s;", r.e, carried(b, x, slope(b, e, x.v, r.v))));
    return x.d ? samples_of_call(b, f, x, r, slope(b, e, x.v, r.v)) : r;
}

/* An integer as a value. Those beyond 2^24 may be rounded; where one is divided that hangs on
 * compared values, no limit is known but its own size. */
static pair integer(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    pair r = {.v = named(b, 'v'), .e = named(b, 'e')};
    line(b, at_format(a, "const double %s = (double)%s;", r.v, naive_value(b->m, e, b->depth)));
    line(b, naive_is_certain(b->m, e)
                ? at_format(a, "const double %s = %s > 16777216 || -%s > 16777216 ? %s * %s : 0;",
                            r.e, r.v, r.v, r.v, r.v)
                : at_format(a, "const double %s = (%s * %s + 1) / " NEAR ";", r.e, r.v, r.v));
    return r;
}

/* The e of an element: of one whose place a kernel may see elsewhere nothing is known. */
static const char *e_of_place(block *b, const at_expr *read, const char *e) {
    for (int i = 0; i < read->nargs; i++) {
        if (naive_is_certain(b->m, read->arg[i])) continue;
        const pair place = limits_value(b, read->arg[i]);
        if (place.e) e = at_format(b->m->arena, "%s > 0 ? 1.0 / 0.0 : %s", place.e, e);
    }
    return e;
}

pair limits_value(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    if (b->m->apart && naive_is_shared(b->m, e)) {
        b->m->apart = false;
        pair r = limits_value(b, e);
        b->m->apart = true;
        if (r.e) line(b, at_format(a, "(void)%s;", r.e));
        return (pair){.v = r.v};
    }
    bool is_divided = e->op == AT_X_DIV || e->op == AT_X_MOD;
    if (naive_is_exact(b->m, e)) {
        pair r = {.v = named(b, 'v')};
        line(b, at_format(a, "const double %s = (double)%s;", r.v, naive_value(b->m, e, b->depth)));
        return r;
    }
    if (!is_float_expr(b->m->c, e) && (is_divided || naive_is_certain(b->m, e)))
        return integer(b, e);
    if (e->op == AT_X_SELECT) return selected(b, e);
    if (e->op == AT_X_NEG) {
        pair x = limits_value(b, e->arg[0]), r = {.v = at_format(a, "(-%s)", x.v), .e = x.e};
        if (!x.d) return r;
        samples_begin(b, &r, "0");
        samples_move(b, r.d, r.own, x, "-1");
        return r;
    }
    if (e->op == AT_X_CALL) return called(b, e);
    if (e->op != AT_X_INDEX) return operation(b, e);
    pair r = {.v = named(b, 'v'), .e = named(b, 'e')};
    const char *at = naive_index(b->m, e->ref, e->arg, b->depth), *name = e->name;
    line(b, at_format(a, "const long %s_at = %s;", r.v, at));
    line(b, at_format(a, "const double %s = %s;", r.v,
                      naive_load(b->m, e->ref, at_format(a, "%s_at", r.v))));
    const int repeated = naive_repeated(b->m, e);
    const bool in_steps = at_tensor_goes_in_steps(naive_stage(b->m));
    if (repeated >= 0) samples_of_read(b, &r, repeated, at_format(a, "E_%s[%s_at]", name, r.v));
    else if (has_samples(b) && (!in_steps || naive_keeps_samples(b->m, e->ref)))
        samples_of_element(b, e, &r);
    else {
        const char *own = b->m->rounded[e->ref] ? at_format(a, "E_%s[%s_at]", name, r.v) : "0";
        line(b, at_format(a, "const double %s = %s;", r.e, e_of_place(b, e, own)));
    }
    return r;
}

/* Not a number, or infinite: it is compared as what it is. What is only too large for a float may
 * have become no number in a kernel, which took an infinite one from another. The root is Newton's.
 * What is infinite is so in every kernel, and close to nothing, whatever its e. What is exact is
 * seen by every kernel as it is. But what grows in steps beyond a float is infinite in a kernel
 * before it is so here, and then no number. The square of how far two outcomes lie apart counts
 * four thirds: whatever rounds besides, before or behind, the limit is then more than the jump and
 * half of what it were without it, since (j + l/2)^2 <= 4/3 j^2 + l^2. Where one outcome is
 * infinite, of the other one no limit is known but its own size. An e that is no number is of what
 * may be any in a kernel. */
void naive_limit_helper(const naive *m, at_text *out) {
    const bool grows = at_compute_has_recurrence(m->c);
    at_text_addf(out,
                 "static inline int %s_close(double off, double e) {\n"
                 "    return e > 0 && off * off < 1e300 && off * off <= 2 * " NEAR " * e;\n"
                 "}\n"
                 "static inline double %s_apart(double x, double y) {\n"
                 "    const double off = x == y ? 0 : x - y;\n"
                 "    if (off * off < 1e300) return off * off / (0.75 * " NEAR ");\n"
                 "    return ((x * x < 1e300 ? x * x : y * y) + 1) / " NEAR ";\n"
                 "}\n"
                 "static inline double %s_root(double e) {\n"
                 "    union { double d; unsigned long long bits; } root;\n"
                 "    if (!(e > 0) || e > 1e300) return e;\n"
                 "    root.d = e;\n"
                 "    root.bits = (root.bits >> 1) + (1023ULL << 51);\n"
                 "    for (int i = 0; i < 4; i++) root.d = 0.5 * (root.d + e / root.d);\n"
                 "    return root.d;\n"
                 "}\n"
                 "static float %s_limit(double v, double e) {\n"
                 "    (void)%s_close, (void)%s_apart; /* which not every computation calls */\n"
                 "    if (e != e && v == v) return (float)1e300;\n"
                 "    if (!(v < 3.4028235677973366e38 && -v < 3.4028235677973366e38 && e > 0)) "
                 "return %s;\n"
                 "    if (e > %s) return (float)1e300;\n"
                 "    return (float)(4.76837158203125e-7 * %s_root(e)); /* 8 times 2^-24 */\n"
                 "}\n",
                 m->entry, m->entry, m->entry, m->entry, m->entry, m->entry,
                 grows ? "e > 0 ? (float)1e300 : 0" : "v - v == 0 && e > 0 ? 3.4028235e38f : 0",
                 grows ? ALMOST_INFINITE : "1e300", m->entry);
    if (m->grains) /* does a float hold a result of exact operands, which adding them up makes? */
        at_text_addf(out,
                     "static inline int %1$s_holds(double r, double e) {\n"
                     "    return !(e > 0) && (double)(float)r == r;\n"
                     "}\n"
                     "static inline int %1$s_adds(double r, double x, double y, double e) {\n"
                     "    return %1$s_holds(r, e) && r - x == y && r - y == x;\n"
                     "}\n",
                     m->entry);
}
