/* schedule/reference_limits.c: values in double, and how far a kernel's may be from them.
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
 * Terms so small beside another, or beside a sum, that a float sum does not change by them are lost
 * whole, and that is no random walk: what they add up to is allowed, too.
 *
 * Where values that are compared lie so close that a kernel may see them the other way round, both
 * outcomes are allowed. Of a maximum or minimum over terms that such a comparison leaves out (the
 * first place of the largest value) that is what each choice of them would make. */
#include "schedule/reference_pairs.h"

#include <math.h>

/* Names of truths: as the values have it; whether it may be true, and may be false, in a kernel. */
typedef struct truth {
    const char *is, *may, *may_not;
} truth;

#define ALMOST_INFINITE "1e77"                /* the square of 0.93 of the largest float */
#define ABSORBED "1.4210854715202004e-14"     /* 2^-46: (2 u)^2 */
static const double most_exact_int = 1 << 24; /* as a float */

/* ---- what is exact --------------------------------------------------------------------------- */

static bool is_small(const naive *m, const at_expr *e) {
    at_expr *arg[] = {(at_expr *)(uintptr_t)e};
    at_expr negative = {.op = AT_X_NEG, .nargs = 1, .arg = arg};
    return smallest_int(m->c, m->values, m->extents, m->stage, e) >= -most_exact_int &&
           smallest_int(m->c, m->values, m->extents, m->stage, &negative) >= -most_exact_int;
}

static bool is_exact(const naive *m, const at_expr *e);

/* An integer or a condition that no rounding of values changes. */
static bool is_certain(const naive *m, const at_expr *e) {
    for (int i = 0; i < e->nargs && e->op != AT_X_INDEX; i++)
        if (is_float_expr(m->c, e->arg[i]) ? !is_exact(m, e->arg[i]) : !is_certain(m, e->arg[i]))
            return false;
    return true;
}

/* A value that is a float and the same in every kernel. */
static bool is_exact(const naive *m, const at_expr *e) {
    if (!is_float_expr(m->c, e)) return is_small(m, e) && is_certain(m, e);
    switch (e->op) {
    case AT_X_FLOAT: return true;
    case AT_X_INDEX: return !m->rounded[e->ref];
    case AT_X_NEG: return is_exact(m, e->arg[0]);
    case AT_X_MIN:
    case AT_X_MAX: return is_exact(m, e->arg[0]) && is_exact(m, e->arg[1]);
    case AT_X_SELECT:
        return is_certain(m, e->arg[0]) && is_exact(m, e->arg[1]) && is_exact(m, e->arg[2]);
    case AT_X_CALL: return !at_function_ulps((at_function)e->integer) && is_exact(m, e->arg[0]);
    default: return false;
    }
}

static bool rounds_terms(const at_tensor *t) {
    return t->num_reduce && !at_reduction_is_extreme(t->reduction);
}

void naive_find_rounded(naive *m) {
    bool changes = true;
    m->rounded = AT_NEW_ARRAY(m->arena, bool, m->c->num_tensors);
    while (changes) { /* once, but for cycles, whose stages read what is below */
        changes = false;
        for (m->stage = 0; m->stage < m->c->num_tensors; m->stage++) {
            const at_tensor *t = naive_stage(m);
            if (t->role != AT_ROLE_STAGE || m->rounded[m->stage]) continue;
            m->rounded[m->stage] = rounds_terms(t) || !is_exact(m, t->body);
            changes |= m->rounded[m->stage] && t->cycle;
        }
    }
}

/* ---- statements ------------------------------------------------------------------------------ */

/* Begins with an if; what is between stands deeper. */
static void open(block *b, const char *condition) {
    line(b, at_format(b->m->arena, "if (%s) {", condition));
    b->nested++;
}

static void close(block *b) {
    b->nested--;
    line(b, "}");
}

static pair value(block *b, const at_expr *e);

/* ---- conditions: evaluated only as far as the text's own && and || would --------------------- */

static truth declare_truth(block *b, const char *is) {
    truth t = {named(b, 'c'), named(b, 'm'), named(b, 'n')};
    line(b, at_format(b->m->arena, "int %s = %s, %s = %s, %s = !%s;", t.is, is, t.may, t.is,
                      t.may_not, t.is));
    return t;
}

/* An e of 0 where there is none. */
static const char *e_of(pair x) { return x.e ? x.e : "0"; }

/* May a kernel see the two the other way round? */
static const char *close_by(block *b, pair x, pair y) {
    return at_format(b->m->arena, "%s_close(%s - %s, %s + %s)", b->m->entry, x.v, y.v, e_of(x),
                     e_of(y));
}

static truth compared(block *b, const at_expr *e) {
    static const char *const spelled[] = {[AT_X_LT] = "<",  [AT_X_LE] = "<=", [AT_X_GT] = ">",
                                          [AT_X_GE] = ">=", [AT_X_EQ] = "==", [AT_X_NE] = "!="};
    at_arena *a = b->m->arena;
    pair x = value(b, e->arg[0]), y = value(b, e->arg[1]);
    truth t = declare_truth(b, at_format(a, "%s %s %s", x.v, spelled[e->op], y.v));
    line(b, at_format(a, "if (%s) %s = %s = 1;", close_by(b, x, y), t.may, t.may_not));
    return t;
}

static truth condition(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    if (is_certain(b->m, e)) return declare_truth(b, naive_value(b->m, e, b->depth));
    if (e->op == AT_X_NOT) {
        truth t = condition(b, e->arg[0]);
        return (truth){at_format(a, "!%s", t.is), t.may_not, t.may};
    }
    if (e->op != AT_X_AND && e->op != AT_X_OR) return compared(b, e);
    bool and = e->op == AT_X_AND;
    truth x = condition(b, e->arg[0]), t = declare_truth(b, x.is);
    line(b, at_format(a, "%s = %s, %s = %s;", t.may, x.may, t.may_not, x.may_not));
    open(b, and? x.may : x.may_not);
    truth y = condition(b, e->arg[1]);
    if (and)
        line(b, at_format(a, "%s = %s && %s, %s = %s, %s = %s || %s;", t.is, t.is, y.is, t.may,
                          y.may, t.may_not, t.may_not, y.may_not));
    else
        line(b, at_format(a, "%s = %s || %s, %s = %s || %s, %s = %s;", t.is, t.is, y.is, t.may,
                          t.may, y.may, t.may_not, y.may_not));
    close(b);
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
    line(b, at_format(b->m->arena, keeps_samples(b) ? "double %s;" : "double %s, %s;", r.v, r.e));
    if (keeps_samples(b)) samples_begin(b, &r, "0");
    open(b, naive_value(b->m, e->arg[0], b->depth));
    take_side(b, r, value(b, e->arg[1]));
    b->nested--;
    line(b, "} else {");
    b->nested++;
    take_side(b, r, value(b, e->arg[2]));
    close(b);
    if (r.d) samples_take_e(b, r);
    return r;
}

static pair selected(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    if (is_certain(b->m, e->arg[0])) return selected_surely(b, e);
    sides s = {{.v = named(b, 'v'), .e = named(b, 'e')}, {.v = NULL}};
    truth t = condition(b, e->arg[0]);
    s.other = (pair){.v = named(b, 'v'), .e = named(b, 'e')};
    line(b, at_format(a, "double %s = 0, %s = 0;", s.chosen.v, s.other.v));
    if (keeps_samples(b)) samples_begin(b, &s.chosen, "0"), samples_begin(b, &s.other, "0");
    else line(b, at_format(a, "double %s = 0, %s = 0;", s.chosen.e, s.other.e));
    open(b, t.may);
    take_side(b, s.chosen, value(b, e->arg[1]));
    close(b);
    open(b, t.may_not);
    take_side(b, s.other, value(b, e->arg[2]));
    close(b);
    open(b, at_format(a, "%s && %s", t.may, t.may_not));
    join_sides(b, &s);
    close(b);
    open(b, at_format(a, "!%s", t.is));
    line(b, at_format(a, "%s = %s;", s.chosen.v, s.other.v));
    if (s.chosen.d) {
        line(b, at_format(a, "for (int k = 0; k < %d; k++) %s[k] = %s[k];", NAIVE_SAMPLES,
                          s.chosen.d, s.other.d));
        line(b, at_format(a, "%s = %s;", s.chosen.own, s.other.own));
    } else line(b, at_format(a, "%s = %s;", s.chosen.e, s.other.e));
    close(b);
    if (s.chosen.d) samples_take_e(b, s.chosen);
    return s.chosen;
}

/* One of two; of both, where a kernel may see the other first. */
static const char *extreme_e(block *b, pair x, pair y, const char *chosen) {
    return at_format(b->m->arena, "%s ? (%s > %s ? %s : %s) : %s", close_by(b, x, y), e_of(x),
                     e_of(y), e_of(x), e_of(y), chosen);
}

/* What a divisor that is infinite as a float makes 0 may be off by all of its own size. */
static const char *vanished(block *b, const char *by, const char *r) {
    return at_format(b->m->arena, "(%s * %s > " ALMOST_INFINITE " ? %s * %s / " NEAR " : 0)", by,
                     by, r, r);
}

/* What the e of an operand means for the result, the square of the derivative being `slope`. 0
 * times infinity: what is infinite as a float makes the same of the result in every kernel, as
 * x/exp(-y) is 0, however far its exponent may be. */
static const char *carried(block *b, pair x, const char *slope) {
    at_arena *a = b->m->arena;
    if (!x.e) return "0";
    if (!slope) return x.e;
    const char *moved = named(b, 'd');
    line(b, at_format(a, "const double %s = %s * (%s);", moved, x.e, slope));
    return at_format(a, "(%s == %s ? %s : 0)", moved, moved, moved);
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

static pair operation(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    pair x = value(b, e->arg[0]), y = value(b, e->arg[1]),
         r = {.v = named(b, 'v'), .e = named(b, 'e')};
    const char *by_x = NULL, *by_y = NULL, *own = at_format(a, "%s * %s", r.v, r.v);
    const bool is_extreme = e->op == AT_X_MIN || e->op == AT_X_MAX;
    const bool samples = x.d || y.d;
    line(b, at_format(a, "const double %s = %s;", r.v, result_of(b, e, x, y)));
    if (is_extreme && samples) {
        samples_of_extreme(b, e->op, x, y, &r, close_by(b, x, y));
        return r;
    }
    if (is_extreme) {
        own = at_format(a, "%s ? %s : %s", at_extreme_first_c(a, e->op == AT_X_MAX, x.v, y.v),
                        e_of(x), e_of(y));
        line(b, at_format(a, "const double %s = %s;", r.e, extreme_e(b, x, y, own)));
        return r;
    }
    if (e->op == AT_X_MUL) {
        by_x = at_format(a, "%s * %s", y.v, y.v);
        by_y = at_format(a, "%s * %s", x.v, x.v);
        own = at_format(a, "%s + " SMALLEST, own);
    } else if (e->op == AT_X_DIV) {
        by_x = at_format(a, "1 / (%s * %s)", y.v, y.v);
        by_y = at_format(a, "%s * %s / (%s * %s)", r.v, r.v, y.v, y.v);
        own = at_format(a, "%s + " SMALLEST " + %s", own, vanished(b, y.v, r.v));
    }
    if (samples) {
        samples_of_operation(b, e->op, x, y, &r, own);
        return r;
    }
    const char *from_x = carried(b, x, by_x), *from_y = carried(b, y, by_y);
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
    pair x = value(b, e->arg[0]), r = {.v = named(b, 'v'), .e = named(b, 'e')};
    double half = at_function_ulps(f) / 2.0;
    line(b, at_format(a, "const double %s = %s_%s_of(%s);", r.v, b->m->entry, at_function_name(f),
                      x.v));
    line(b, at_format(a, "double %s = %g * %s * %s%s;", r.e, half * half, r.v, r.v,
                      half > 0 ? " + " SMALLEST : ""));
    if (f == AT_FUNCTION_RSQRT) line(b, at_format(a, "%s += %s;", r.e, vanished(b, x.v, r.v)));
    if (!x.e) return r;
    if (at_function_rounds(f)) {
        /* Where it goes from one number to the next, less that number. */
        const double to[] = {f == AT_FUNCTION_ROUND ? 0.5 : 0, f == AT_FUNCTION_ROUND  ? -0.5
                                                               : f == AT_FUNCTION_CEIL ? -1
                                                                                       : 1};
        for (int i = 0; i < 2; i++)
            line(b, at_format(a, "%s(%s - %s - %g) * (%s - %s - %g) <= " NEAR " * %s%s",
                              i ? "    " : "if (", x.v, r.v, to[i], x.v, r.v, to[i], x.e,
                              i ? ")" : " ||"));
        line(b, at_format(a, "    %s += 1 / " NEAR " + 4 * %s;", r.e, x.e));
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
    line(b, is_certain(b->m, e)
                ? at_format(a, "const double %s = %s > 16777216 || -%s > 16777216 ? %s * %s : 0;",
                            r.e, r.v, r.v, r.v, r.v)
                : at_format(a, "const double %s = (%s * %s + 1) / " NEAR ";", r.e, r.v, r.v));
    return r;
}

static pair value(block *b, const at_expr *e) {
    at_arena *a = b->m->arena;
    bool is_divided = e->op == AT_X_DIV || e->op == AT_X_MOD;
    if (is_exact(b->m, e)) {
        pair r = {.v = named(b, 'v')};
        line(b, at_format(a, "const double %s = (double)%s;", r.v, naive_value(b->m, e, b->depth)));
        return r;
    }
    if (!is_float_expr(b->m->c, e) && (is_divided || is_certain(b->m, e))) return integer(b, e);
    if (e->op == AT_X_SELECT) return selected(b, e);
    if (e->op == AT_X_NEG) {
        pair x = value(b, e->arg[0]), r = {.v = at_format(a, "(-%s)", x.v), .e = x.e};
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
    line(b, at_format(a, "const double %s = T_%s[%s_at];", r.v, name, r.v));
    const int cycle = naive_stage(b->m)->cycle;
    if (e->ref != b->m->stage && (!cycle || b->m->c->tensors[e->ref].cycle != cycle)) {
        line(b, at_format(a, "const double %s = E_%s[%s_at];", r.e, name, r.v));
        return r;
    }
    samples_begin(b, &r, "0");
    line(b, at_format(a, "for (int k = 0; k < %d; k++) %s[k] = D_%s[%s_at * %d + k];",
                      NAIVE_SAMPLES, r.d, name, r.v, NAIVE_SAMPLES));
    if (b->m->c->tensors[e->ref].is_output) /* which keeps its own value rounded */
        line(b, at_format(a, "if (%s_square(%s) > 0) %s = %s * %s;", b->m->entry, r.d, r.own, r.v,
                          r.v));
    samples_take_e(b, r);
    return r;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static void store(block *b, at_expr *const *own, const char *v, const char *e) {
    at_arena *a = b->m->arena;
    const at_tensor *t = naive_stage(b->m);
    const char *at = naive_own_index(b->m, own);
    if (!t->is_output) {
        line(b, at_format(a, "T_%s[%s] = %s, E_%s[%s] = %s;", t->name, at, v, t->name, at, e));
        return;
    }
    line(b, at_format(a, "T_%s[%s] = (float)%s;", t->name, at, v));
    line(b, at_format(a, "L_%s[%s] = %s_limit(%s, %s);", t->name, at, b->m->entry, v, e));
}

/* The statements, which end here. */
static const char *taken(block *b) { return at_text_take(b->m->arena, &b->text); }

/* One more factor. In which order they come moves no result further than each of them may. */
static void product_term(block *b, pair x) {
    at_arena *a = b->m->arena;
    if (keeps_samples(b)) samples_multiply(b, x);
    else
        line(b, at_format(a, "e = e * %s * %s + %s * s * s + s * %s * s * %s + " SMALLEST ";", x.v,
                          x.v, e_of(x), x.v, x.v));
    line(b, at_format(a, "s *= %s;", x.v));
}

/* One more term of a maximum or minimum, in the manner of min and max of two. */
static void extreme_term(block *b, at_reduction r, pair x) {
    at_arena *a = b->m->arena;
    const pair s = {.v = "s", .e = "e"};
    const char *better = at_format(a, "%s %c s", x.v, r == AT_REDUCE_MAX ? '>' : '<');
    if (keeps_samples(b)) samples_choose(b, x, better, close_by(b, s, x));
    else
        line(b, at_format(a, "e = %s;",
                          extreme_e(b, s, x, at_format(a, "%s ? %s : e", better, e_of(x)))));
    line(b, at_format(a, "if (%s) s = %s;", better, x.v));
}

/* The side of a choice that counts in a maximum or minimum, where the other one stands for no term
 * and values decide; NULL: it is no such choice. */
static const at_expr *counted_side(const naive *m, const at_expr *body, at_reduction r) {
    double nothing = r == AT_REDUCE_MAX ? -INFINITY : INFINITY;
    if (body->op != AT_X_SELECT || is_certain(m, body->arg[0])) return NULL;
    for (int i = 1; i <= 2; i++) {
        const at_expr *e = body->arg[i];
        bool is_negative = e->op == AT_X_NEG;
        if (is_negative) e = e->arg[0];
        if (e->op == AT_X_FLOAT && (is_negative ? -e->number : e->number) == nothing)
            return body->arg[3 - i];
    }
    return NULL;
}

/* One more term that may count or not: `best` is of all that may, `sure` of those that must,
 * `unsure` the least of the others. */
static void choice_term(block *b, at_reduction r, const at_expr *body, const at_expr *side) {
    at_arena *a = b->m->arena;
    char better = r == AT_REDUCE_MAX ? '>' : '<', worse = r == AT_REDUCE_MAX ? '<' : '>';
    truth t = condition(b, body->arg[0]);
    if (side == body->arg[2]) t = (truth){at_format(a, "!%s", t.is), t.may_not, t.may};
    open(b, t.may);
    pair x = value(b, side);
    open(b, t.is);
    extreme_term(b, r, x);
    close(b);
    line(b, at_format(a, "if (%s %c best) best = %s;", x.v, better, x.v));
    line(b, at_format(a, "if (%s && %s %c unsure) unsure = %s;", t.may_not, x.v, worse, x.v));
    line(b, at_format(a, "if (!%s && %s %c sure) sure = %s;", t.may_not, x.v, better, x.v));
    close(b);
}

/* Where no term must count, one of those that may does: the largest of rounded values is one of
 * them. */
static void choice_result(block *b, const char *nothing) {
    at_arena *a = b->m->arena;
    line(b, at_format(a, "if (sure == %s && unsure != -(%s)) sure = unsure;", nothing, nothing));
    line(b, at_format(a, "const double up = %s_apart(s, best), down = %s_apart(s, sure);",
                      b->m->entry, b->m->entry));
    if (keeps_samples(b)) samples_end_sum(b, "(up > down ? up : down)");
    else line(b, "e += up > down ? up : down;");
}

/* The result of a reduction. */
static void store_reduced(block *b, at_expr *const *own) {
    if (keeps_samples(b)) samples_keep(b, own, samples_reduced);
    store(b, own, "s", "e");
}

/* What the result of a running sum changes is as the terms left it where the next one comes. */
static void begin_result(block *b, bool chooses) {
    if (!naive_runs(b->m)) return;
    line(b, "const double e_of_terms = e;");
    if (chooses) line(b, "const double sure_of_terms = sure;");
}

static void end_result(block *b, bool chooses) {
    if (!naive_runs(b->m)) return;
    line(b, "e = e_of_terms;");
    if (chooses) line(b, "sure = sure_of_terms;");
}

/* A sum: the terms, once more those that are lost, and the result. */
static void add_up(naive *m, const at_expr *body, pair x, block *head, block *term, block *result,
                   nest_text *out) {
    const bool samples = keeps_samples(term);
    block again = {.m = m, .depth = term->depth};
    line(head, "double s = 0, e = 0, n = 0, running = 0, terms = 0;");
    line(head, "double least = 1e300, most = 0, lost = 0;");
    if (naive_runs(m)) line(head, "double judged = 0; /* as `most` was when all were */");
    line(term, at_format(m->arena, "const double square = %s * %s;", x.v, x.v));
    line(term, at_format(m->arena, "s += %s, n++, running += s * s, terms += square;", x.v));
    line(term, "if (square > most) most = square;");
    line(term, "if (square < least && square > 0) least = square;");
    if (x.e && samples) samples_move(term, samples_reduced.d, samples_reduced.own, x, "1");
    else if (x.e) line(term, at_format(m->arena, "e += %s;", x.e));
    line(result, "const double mean = (n + 1) / 6 * terms + (n + 1) / 3 * s * s;");
    line(result, "if (n > 1) e += running > mean ? running : mean;");
    line(result, "e += lost * lost * (2 / " NEAR ");");
    if (samples) samples_end_sum(result, "e");
    m->num_names = 0;
    x = value(&again, body);
    line(&again,
         at_format(m->arena, "if (%s * %s < most * " ABSORBED ") lost += %s;", x.v, x.v, x.v));
    if (x.e) line(&again, at_format(m->arena, "(void)%s;", x.e));
    out->again_if = "least < most * " ABSORBED;
    out->again = taken(&again);
}

nest_text naive_with_limits(naive *m, const at_expr *body, at_expr *const *own) {
    const at_tensor *t = naive_stage(m);
    nest_text out = {.start = ""};
    block head = {.m = m, .depth = t->num_axes - 1}, term = {.m = m, .depth = axes_of(t) - 1},
          result = {.m = m, .depth = t->num_axes - 1};
    m->num_names = 0;
    bool is_extreme = t->num_reduce && at_reduction_is_extreme(t->reduction);
    const at_expr *side = is_extreme ? counted_side(m, body, t->reduction) : NULL;
    const bool samples = keeps_samples(&term);
    if (samples && t->num_reduce) samples_begin_sum(&head, own);
    else if (samples)
        line(&term, at_format(m->arena, "unsigned long bits = (unsigned long)(%s);",
                              naive_own_index(m, own)));
    pair x = side ? (pair){0} : value(&term, body);
    if (!t->num_reduce) {
        if (samples) samples_keep(&term, own, x);
        store(&term, own, x.v, e_of(x));
        out.term = taken(&term);
        out.result = taken(&result);
        return out;
    }
    begin_result(&result, side);
    if (side) {
        const char *nothing = at_reduction_start_c(t->reduction);
        line(&head, at_format(m->arena, "double s = %s, e = 0, best = s, sure = s, unsure = -s;",
                              nothing));
        choice_term(&term, t->reduction, body, side);
        choice_result(&result, nothing);
    } else if (t->reduction != AT_REDUCE_SUM) {
        line(&head,
             at_format(m->arena, "double s = %s, e = 0;", at_reduction_start_c(t->reduction)));
        if (t->reduction == AT_REDUCE_PROD) product_term(&term, x);
        else extreme_term(&term, t->reduction, x);
        if (samples) samples_end_sum(&result, NULL);
    } else {
        add_up(m, body, x, &head, &term, &result, &out);
    }
    store_reduced(&result, own);
    end_result(&result, side);
    out.start = taken(&head);
    out.term = taken(&term);
    out.result = taken(&result);
    return out;
}

/* Not a number, or too large for a float: it is compared as what it is. The root is Newton's. What
 * is infinite is so in every kernel, and close to nothing, whatever its e. What is exact is seen by
 * every kernel as it is. But what grows in steps beyond a float is infinite in a kernel before it
 * is so here, and then no number. The square of how far two outcomes lie apart, where one is
 * infinite: of the other one no limit is known but its own size. */
void naive_limit_helper(const naive *m, at_text *out) {
    const bool grows = at_compute_has_recurrence(m->c);
    at_text_addf(out,
                 "static inline int %s_close(double off, double e) {\n"
                 "    return e > 0 && off * off < 1e300 && off * off <= 2 * " NEAR " * e;\n"
                 "}\n"
                 "static inline double %s_apart(double x, double y) {\n"
                 "    const double off = x == y ? 0 : x - y;\n"
                 "    if (off * off < 1e300) return off * off / " NEAR ";\n"
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
                 "    if (!(v < 3.4028235677973366e38 && -v < 3.4028235677973366e38 && e > 0)) "
                 "return %s;\n"
                 "    if (e > %s) return (float)1e300;\n"
                 "    return (float)(4.76837158203125e-7 * %s_root(e)); /* 8 times 2^-24 */\n"
                 "}\n",
                 m->entry, m->entry, m->entry, m->entry, m->entry, m->entry,
                 grows ? "e > 0 ? (float)1e300 : 0" : "0", grows ? ALMOST_INFINITE : "1e300",
                 m->entry);
}
