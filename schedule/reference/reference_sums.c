/* schedule/reference/reference_sums.c: reductions with limits: what the terms add to the error of
 * the result, in whichever order they come. */
#include "schedule/reference/reference_pairs.h"

#include <math.h>

#define ABSORBED "1.4210854715202004e-14"     /* 2^-46: (2 u)^2 */
#define LEAST_NORMAL "1.1754943508222875e-38" /* 2^-126, and its square */
#define LEAST_SQUARE "1.3817869688151111e-76"

/* ---- stages ---------------------------------------------------------------------------------- */

static void store(block *b, at_expr *const *own, const char *v, const char *e) {
    at_arena *a = b->m->arena;
    const at_tensor *t = naive_stage(b->m);
    const char *at = naive_own_index(b->m, own);
    if (!t->is_output) {
        line(b, at_format(a, "T_%s[%s] = %s, E_%s[%s] = %s;", t->name, at, v, t->name, at, e));
        return;
    }
    line(b, at_format(a, "T_%s[%s] = %s;", t->name, at,
                      naive_bits(b->m, b->m->stage, at_format(a, "(float)%s", v))));
    line(b, at_format(a, "L_%s[%s] = %s_limit(%s, %s);", t->name, at, b->m->entry, v, e));
    if (!naive_keeps_error(b->m, b->m->stage)) return;
    /* What reads it reads the rounded value. */
    line(b, at_format(a, "E_%1$s[%2$s] = %4$s + (%5$s == %3$s ? 0 : %3$s * %3$s);", t->name, at, v,
                      e, naive_load(b->m, b->m->stage, at)));
}

/* The statements, which end here. */
static const char *taken(block *b) { return at_text_take(b->m->arena, &b->text); }

/* One more factor. In which order they come moves no result further than each of them may. */
static void product_term(block *b, pair x) {
    at_arena *a = b->m->arena;
    if (b->m->grains)
        line(b, at_format(a, "if (!%s_holds(s * %s, %s + %s)) {", b->m->entry, x.v, e_of(x),
                          has_samples(b) ? samples_are(b) : "e"));
    if (has_samples(b)) samples_multiply(b, x);
    else
        line(b, at_format(a, "e = e * %s * %s + %s * s * s + s * %s * s * %s + " SMALLEST ";", x.v,
                          x.v, e_of(x), x.v, x.v));
    if (b->m->grains) line(b, "}");
    line(b, at_format(a, "s *= %s;", x.v));
}

/* One more term of a maximum or minimum, in the manner of min and max of two. */
static void extreme_term(block *b, at_reduction r, pair x) {
    at_arena *a = b->m->arena;
    const pair s = {.v = "s", .e = "e"};
    const char *better = at_format(a, "%s %c s", x.v, r == AT_REDUCE_MAX ? '>' : '<');
    if (has_samples(b)) samples_choose(b, x, better, limits_close_by(b, s, x));
    else
        line(b, at_format(a, "e = %s;",
                          limits_extreme_e(b, s, x, at_format(a, "%s ? %s : e", better, e_of(x)))));
    line(b, at_format(a, "if (%s) s = %s;", better, x.v));
}

/* A whole number that no value of `other` is worse than; false: it is none, or may be. */
static bool is_worst(const naive *m, const at_expr *e, const at_expr *other, at_reduction r,
                     double *number) {
    at_expr *arg[] = {(at_expr *)(uintptr_t)other};
    const at_expr negative = {.op = AT_X_NEG, .nargs = 1, .arg = arg};
    if (!at_type_of(naive_stage(m)->type)->is_int || !at_expr_is_size(e) ||
        is_float_expr(m->c, e) || is_float_expr(m->c, other))
        return false;
    *number = smallest_int(m->c, m->values, m->extents, m->stage, e);
    return r == AT_REDUCE_MAX
               ? smallest_int(m->c, m->values, m->extents, m->stage, other) >= *number
               : smallest_int(m->c, m->values, m->extents, m->stage, &negative) >= -*number;
}

/* The side of a choice that counts in a maximum or minimum, where the other one stands for no term
 * and values decide; NULL: it is no such choice. *nothing: what the other one is. */
static const at_expr *counted_side(const naive *m, const at_expr *body, at_reduction r,
                                   const char **nothing) {
    const double least = at_reduction_neutral(r);
    if (body->op != AT_X_SELECT || naive_is_certain(m, body->arg[0])) return NULL;
    for (int i = 1; i <= 2; i++) {
        const at_expr *e = body->arg[i];
        double number;
        bool is_negative = e->op == AT_X_NEG;
        if (is_worst(m, e, body->arg[3 - i], r, &number)) {
            *nothing = at_format(m->arena, "%.1f", number);
            return body->arg[3 - i];
        }
        if (is_negative) e = e->arg[0];
        *nothing = at_reduction_start_c(r);
        if (e->op == AT_X_FLOAT && (is_negative ? -e->number : e->number) == least)
            return body->arg[3 - i];
    }
    return NULL;
}

/* A value; where its text reads some rounded one several times, their errors added up as they are
 * where that is more. */
static pair whole_value(block *b, const at_expr *e) {
    const pair x = limits_value(b, e);
    if (has_samples(b) || !naive_find_repeated(b->m, e)) return x;
    const pair y = limits_value(b, e), r = {.v = x.v, .e = named(b, 'e')};
    b->m->num_repeated = 0;
    line(b, at_format(b->m->arena, "(void)%s;", y.v));
    line(b, at_format(b->m->arena, "const double %1$s = %2$s > %3$s ? %2$s : %3$s;", r.e, e_of(y),
                      e_of(x)));
    return r;
}

/* One more term that may count or not: `best` is of all that may, `sure` of those that must,
 * `unsure` the least of the others. */
static void choice_term(block *b, at_reduction r, const at_expr *body, const at_expr *side) {
    at_arena *a = b->m->arena;
    char better = r == AT_REDUCE_MAX ? '>' : '<', worse = r == AT_REDUCE_MAX ? '<' : '>';
    truth t = limits_condition(b, body->arg[0]);
    if (side == body->arg[2]) t = (truth){at_format(a, "!%s", t.is), t.may_not, t.may};
    limits_open(b, t.may);
    pair x = whole_value(b, side);
    limits_open(b, t.is);
    extreme_term(b, r, x);
    limits_close(b);
    line(b, at_format(a, "if (%s %c best) best = %s;", x.v, better, x.v));
    line(b, at_format(a, "if (%s && %s %c unsure) unsure = %s;", t.may_not, x.v, worse, x.v));
    line(b, at_format(a, "if (!%s && %s %c sure) sure = %s;", t.may_not, x.v, better, x.v));
    limits_close(b);
}

/* Where no term must count, one of those that may does: the largest of rounded values is one of
 * them. */
static void choice_result(block *b, at_reduction r, const char *nothing) {
    at_arena *a = b->m->arena;
    line(b, at_format(a, "if (sure == %s && unsure != -(%s)) sure = unsure;", nothing,
                      at_reduction_start_c(r)));
    line(b, at_format(a, "const double up = %s_apart(s, best), down = %s_apart(s, sure);",
                      b->m->entry, b->m->entry));
    if (has_samples(b)) samples_end_sum(b, "(up > down ? up : down)");
    else line(b, "e += up > down ? up : down;");
}

/* The result of a reduction. */
static void store_reduced(block *b, at_expr *const *own) {
    if (has_samples(b)) samples_keep(b, own, samples_reduced);
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

/* A term whose error is no small part of it, as where a comparison may turn: several such may all
 * turn the same way, so what each may be off by is added up as it is. */
#define TURNED "67108864.0" /* 2^26: beyond 2^-8 of the term */

static void add_own(block *term, const char *e) {
    line(term, at_format(term->m->arena,
                         "if (%1$s > " TURNED " * square) turned += %2$s_root(%1$s); else e += "
                         "%1$s;",
                         e, term->m->entry));
}

/* A term: of its e what is its own, and what it shares with others. */
static void add_apart(block *term, const at_expr *body, pair x) {
    at_arena *a = term->m->arena;
    term->m->apart = true;
    const pair own = limits_value(term, body);
    term->m->apart = false;
    line(term, at_format(a, "(void)%s;", own.v));
    add_own(term, e_of(own));
    line(term, at_format(a, "if (!(%s <= %s)) shared += %s_root(%s - %s);", x.e, e_of(own),
                         term->m->entry, x.e, e_of(own)));
}

static bool is_bf16(const naive *m, const at_expr *e) {
    return e->op == AT_X_INDEX && m->c->tensors[e->ref].type == AT_BF16;
}

/* Ends at a product of two bf16 among the terms. */
static at_walk find_pair(const at_expr *e, void *m) {
    if (e->op == AT_X_MUL && is_bf16(m, e->arg[0]) && is_bf16(m, e->arg[1])) return AT_WALK_END;
    return e->op == AT_X_ADD ? AT_WALK_ON : AT_WALK_PAST;
}

/* What a dot product may lose of its terms: the terms with a denormal factor, and what two
 * additions and the dot product itself leave below the normal floats. */
static at_walk add_flushed(const at_expr *e, void *ctx) {
    block *term = ctx;
    const at_walk walk = find_pair(e, term->m);
    if (walk != AT_WALK_END) return walk;
    const pair x = limits_value(term, e->arg[0]), y = limits_value(term, e->arg[1]);
    line(term, at_format(term->m->arena,
                         "flushed += 3 * " LEAST_NORMAL " + (%1$s * %1$s < " LEAST_SQUARE
                         " || %2$s * %2$s < " LEAST_SQUARE
                         " ? (%1$s * %2$s < 0 ? -%1$s * %2$s : %1$s * %2$s) : 0);",
                         x.v, y.v));
    return AT_WALK_PAST;
}

/* A sum: the terms, once more those that are lost, and the result. */
static void add_up(naive *m, const at_expr *body, pair x, block *term, block *result,
                   nest_text *out) {
    static const char *const totals[] = {"s",    "e",    "n",    "running", "terms",
                                         "most", "lost", "last", "before",  "biased"};
    const bool samples = has_samples(term), shares = !samples && naive_has_shared(m, body);
    block again = {.m = m, .depth = term->depth};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
        naive_add_total(m, out, totals[i], "0");
    naive_add_total(m, out, "least", "1e300");
    const bool flushes = at_expr_walk(body, find_pair, m);
    if (flushes) naive_add_total(m, out, "flushed", "0");
    if (x.e && !samples) naive_add_total(m, out, "turned", "0");
    if (shares) naive_add_total(m, out, "shared", "0"); /* errors that terms share */
    if (m->grains && m->grains[m->stage] > 0)
        naive_add_total(m, out, "all", "0");                   /* sizes of terms */
    if (naive_runs(m)) naive_add_total(m, out, "judged", "0"); /* `most`, when all were */
    line(term, at_format(m->arena, "const double square = %s * %s;", x.v, x.v));
    line(term, at_format(m->arena, "s += %s, n++, running += s * s, terms += square;", x.v));
    line(term, "if (square > most) most = square;");
    line(term, at_format(m->arena, "if (%s == last || %s == before) biased += s < 0 ? -s : s;", x.v,
                         x.v));
    line(term, at_format(m->arena, "else if (square > 0) before = last, last = %s;", x.v));
    line(term, "if (square < least && square > 0) least = square;");
    if (flushes) at_expr_walk(body, add_flushed, term);
    if (x.e && samples) samples_move(term, samples_reduced.d, samples_reduced.own, x, "1");
    else if (x.e && shares) add_apart(term, body, x);
    else if (x.e) add_own(term, x.e);
    if (m->grains && m->grains[m->stage] > 0) {
        line(term, at_format(m->arena, "all += %s < 0 ? -%s : %s;", x.v, x.v, x.v));
        line(result, at_format(m->arena, "if (!(%s == 0 && all <= %.17g)) {",
                               samples ? samples_are(result) : "e",
                               NAIVE_MOST_EXACT * m->grains[m->stage]));
    }
    line(result, "const double mean = (n + 1) / 6 * terms + (n + 1) / 3 * s * s;");
    line(result, "if (n > 1) e += running > mean ? running : mean;");
    line(result, "e += biased * biased / 64;");
    if (x.e && !samples) line(result, "e += turned * turned;");
    if (shares) line(result, "e += shared * shared;");
    line(result, "e += lost * lost * (2 / " NEAR ");");
    if (flushes) line(result, "e += flushed * flushed * (1 / " NEAR ");");
    if (m->grains && m->grains[m->stage] > 0) line(result, "}");
    if (samples) samples_end_sum(result, "e");
    m->num_names = 0;
    x = limits_value(&again, body);
    line(&again,
         at_format(m->arena, "if (%s * %s < most * " ABSORBED ") lost += %s;", x.v, x.v, x.v));
    if (x.e) line(&again, at_format(m->arena, "(void)%s;", x.e));
    out->again_if = "least < most * " ABSORBED;
    out->again = taken(&again);
}

nest_text naive_with_limits(naive *m, const at_expr *body, at_expr *const *own) {
    const at_tensor *t = naive_stage(m);
    nest_text out = {.start = "", .type = "double"};
    block head = {.m = m, .depth = t->num_axes - 1}, term = {.m = m, .depth = axes_of(t) - 1},
          result = {.m = m, .depth = t->num_axes - 1};
    m->num_names = 0;
    bool is_extreme = t->num_reduce && at_reduction_is_extreme(t->reduction);
    const char *nothing = NULL;
    const at_expr *side = is_extreme ? counted_side(m, body, t->reduction, &nothing) : NULL;
    const bool samples = has_samples(&term);
    if (samples && t->num_reduce) samples_begin_sum(&head, own);
    else if (samples) line(&term, samples_seed(&term, own));
    pair x = side ? (pair){0} : whole_value(&term, body);
    if (!t->num_reduce) {
        if (samples) samples_keep(&term, own, x);
        store(&term, own, x.v, e_of(x));
        out.term = taken(&term);
        out.result = taken(&result);
        return out;
    }
    begin_result(&result, side);
    if (side) {
        static const char *const totals[] = {"s", "best", "sure"};
        for (int i = 0; i < 3; i++) naive_add_total(m, &out, totals[i], nothing);
        naive_add_total(m, &out, "e", "0");
        naive_add_total(m, &out, "unsure",
                        at_format(m->arena, "-(%s)", at_reduction_start_c(t->reduction)));
        choice_term(&term, t->reduction, body, side);
        choice_result(&result, t->reduction, nothing);
    } else if (t->reduction != AT_REDUCE_SUM) {
        naive_add_total(m, &out, "s", at_reduction_start_c(t->reduction));
        naive_add_total(m, &out, "e", "0");
        if (t->reduction == AT_REDUCE_PROD) product_term(&term, x);
        else extreme_term(&term, t->reduction, x);
        if (samples) samples_end_sum(&result, NULL);
    } else {
        add_up(m, body, x, &term, &result, &out);
    }
    store_reduced(&result, own);
    end_result(&result, side);
    out.start = taken(&head);
    out.term = taken(&term);
    out.result = taken(&result);
    return out;
}
