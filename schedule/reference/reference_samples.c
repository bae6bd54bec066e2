/* schedule/reference/reference_samples.c: errors with their signs.
 *
 * Of what an expression reads several times: what each makes of the result.
 *
 * Samples of the error of a stage that reads itself, or is of a cycle, which it keeps beside each
 * element: how far it is off after roundings of random signs. They go from step to step by the
 * derivatives, signs and all, so that errors of one origin add up or cancel as they do. What
 * roundings on the way to an element add is kept as one square until the element is stored. */
#include "schedule/reference/reference_pairs.h"

#include <string.h>

/* Declares some, all 0. */
static const char *no_samples(block *b) {
    const char *d = named(b, 'd');
    line(b, at_format(b->m->arena, "double %s[%d] = {0};", d, NAIVE_SAMPLES));
    return d;
}

static void move(block *b, const char *d, const char *from, const char *by) {
    at_arena *a = b->m->arena;
    const char *entry = b->m->entry;
    line(b, !strcmp(by, "1") ? at_format(a, "%s_add(%s, %s);", entry, d, from)
                             : at_format(a, "%s_move(%s, %s, %s);", entry, d, from, by));
}

/* All of a value's error as samples. */
static const char *samples_of(block *b, pair x) {
    const char *own = x.d ? x.own : x.e;
    if (x.d && !own) return x.d;
    if (!own) return no_samples(b);
    const char *d = named(b, 'd');
    line(b, at_format(b->m->arena, "double %s[%d];", d, NAIVE_SAMPLES));
    line(b, at_format(b->m->arena, "%s_spread(%s, %s, &bits);", b->m->entry, d, own));
    if (x.d) move(b, d, x.d, "1");
    return d;
}

void samples_move(block *b, const char *d, const char *own, pair x, const char *derivative) {
    const char *alone = x.d ? x.own : x.e;
    if (x.d) move(b, d, x.d, derivative);
    if (alone)
        line(b,
             at_format(b->m->arena, "%s += %s * (%s) * (%s);", own, alone, derivative, derivative));
}

void samples_begin(block *b, pair *r, const char *own) {
    r->d = no_samples(b);
    r->own = named(b, 'o');
    line(b, at_format(b->m->arena, "double %s = %s;", r->own, own));
}

void samples_of_read(block *b, pair *r, int k, const char *e) {
    samples_begin(b, r, "0");
    /* _square takes 16 times the mean of all. */
    line(b, at_format(b->m->arena, "%s[%d] = %s_root(%s / %d);", r->d, k, b->m->entry, e,
                      16 / NAIVE_SAMPLES));
    samples_take_e(b, *r);
}

/* Elements of other tensors have other seeds. */
static const char *seed_of(block *b, int tensor, const char *at) {
    return at_format(b->m->arena, "(unsigned long)(%s) + %d * 0xd1342543de82ef95UL", at, tensor);
}

const char *samples_seed(block *b, at_expr *const *own) {
    return at_format(b->m->arena, "unsigned long bits = %s; (void)bits;",
                     seed_of(b, b->m->stage, naive_own_index(b->m, own)));
}

void samples_of_element(block *b, const at_expr *read, pair *r) {
    at_arena *a = b->m->arena;
    const char *name = read->name, *at = at_format(a, "%s_at", r->v);
    samples_begin(b, r, "0");
    if (naive_keeps_samples(b->m, read->ref)) {
        line(b, at_format(a, "for (int k = 0; k < %d; k++) %s[k] = D_%s[%s * %d + k];",
                          NAIVE_SAMPLES, r->d, name, at, NAIVE_SAMPLES));
        if (b->m->c->tensors[read->ref].is_output) /* which keeps its own value rounded */
            line(b, at_format(a, "if (%s_square(%s) > 0) %s = %s * %s;", b->m->entry, r->d, r->own,
                              r->v, r->v));
    } else {
        line(b, at_format(a, "unsigned long %s_bits = %s;", r->v, seed_of(b, read->ref, at)));
        line(b,
             at_format(a, "%s_spread(%s, E_%s[%s], &%s_bits);", b->m->entry, r->d, name, at, r->v));
    }
    samples_take_e(b, *r);
}

void samples_take_e(block *b, pair r) {
    const int times = b->m->num_repeated ? 1 : 16; /* as _square takes samples */
    line(b, at_format(b->m->arena, "const double %s = %s_square(%s) + %d * %s;", r.e, b->m->entry,
                      r.d, times, r.own));
    line(b, at_format(b->m->arena, "(void)%s; /* which only a comparison needs */", r.e));
}

void samples_of_operation(block *b, at_op op, pair x, pair y, pair *r, const char *own) {
    at_arena *a = b->m->arena;
    const char *by_x = "1", *by_y = op == AT_X_SUB ? "-1" : "1";
    if (op == AT_X_MUL) by_x = y.v, by_y = x.v;
    if (op == AT_X_DIV) {
        by_x = at_format(a, "1 / %s", y.v);
        by_y = at_format(a, "-%s / %s", r->v, y.v);
    }
    samples_begin(b, r, own);
    samples_move(b, r->d, r->own, x, by_x);
    samples_move(b, r->d, r->own, y, by_y);
    samples_take_e(b, *r);
}

void samples_of_extreme(block *b, at_op op, pair x, pair y, pair *r, const char *close) {
    at_arena *a = b->m->arena;
    pair other = {.v = y.v};
    samples_begin(b, r, "0");
    samples_begin(b, &other, "0");
    samples_move(b, r->d, r->own, x, "1");
    samples_move(b, other.d, other.own, y, "1");
    line(b, at_format(a, "if (%s) {", close));
    line(b, at_format(a, "    %s_larger(%s, %s);", b->m->entry, r->d, other.d));
    line(b, at_format(a, "    if (%1$s > %2$s) %2$s = %1$s;", other.own, r->own));
    line(b, at_format(a, "} else if (!%s) {", at_extreme_first_c(a, op == AT_X_MAX, x.v, y.v)));
    line(b, at_format(a, "    for (int k = 0; k < %d; k++) %s[k] = %s[k];", NAIVE_SAMPLES, r->d,
                      other.d));
    line(b, at_format(a, "    %s = %s;", r->own, other.own));
    line(b, "}");
    samples_take_e(b, *r);
}

pair samples_of_call(block *b, at_function f, pair x, pair r, const char *slope) {
    at_arena *a = b->m->arena;
    pair all = {.v = r.v, .e = named(b, 'e')};
    const char *by = at_format(a, "%s_root(%s)", b->m->entry, slope);
    if (f == AT_FUNCTION_RSQRT) by = at_format(a, "-%s", by);
    if (f == AT_FUNCTION_ABS) by = at_format(a, "(%s < 0 ? -1 : 1)", x.v);
    if (f == AT_FUNCTION_SQRT)
        by = at_format(a, "(%s * %s > " NEAR " * %s ? %s : 0)", x.v, x.v, x.e, by);
    samples_begin(b, &all, r.e);
    if (!at_function_rounds(f)) {
        const char *slope_of = named(b, 'd');
        line(b, at_format(a, "const double %s = %s;", slope_of, by));
        samples_move(b, all.d, all.own, x, slope_of);
    }
    samples_take_e(b, all);
    return all;
}

void samples_keep(block *b, at_expr *const *own, pair x) {
    if (!naive_keeps_samples(b->m, b->m->stage)) return;
    const char *name = naive_stage(b->m)->name;
    const char *kept = x.e ? at_format(b->m->arena, "(float)%s[k]", samples_of(b, x)) : "0";
    line(b, at_format(b->m->arena, "for (int k = 0; k < %d; k++) D_%s[(%s) * %d + k] = %s;",
                      NAIVE_SAMPLES, name, naive_own_index(b->m, own), NAIVE_SAMPLES, kept));
}

/* ---- reductions ------------------------------------------------------------------------------ */

const pair samples_reduced = {.v = "s", .e = "e", .d = "d", .own = "own"};

void samples_begin_sum(block *b, at_expr *const *own) {
    line(b, at_format(b->m->arena, "double d[%d] = {0}, own = 0;", NAIVE_SAMPLES));
    line(b, samples_seed(b, own));
}

void samples_multiply(block *b, pair x) {
    at_arena *a = b->m->arena;
    line(b,
         at_format(a, "own = own * %s * %s + %s * %s * s * s + " SMALLEST ";", x.v, x.v, x.v, x.v));
    line(b, at_format(a, "for (int k = 0; k < %d; k++) d[k] *= %s;", NAIVE_SAMPLES, x.v));
    samples_move(b, "d", "own", x, "s");
}

const char *samples_are(block *b) {
    return at_format(b->m->arena, "(%s_square(d) + own)", b->m->entry);
}

void samples_choose(block *b, pair x, const char *better, const char *close) {
    at_arena *a = b->m->arena;
    const char *of_x = samples_of(b, x), *other = no_samples(b);
    move(b, other, of_x, "1");
    line(b, at_format(a, "if (%s) %s_larger(d, %s);", close, b->m->entry, other));
    line(b, at_format(a, "else if (%s) for (int k = 0; k < %d; k++) d[k] = %s[k];", better,
                      NAIVE_SAMPLES, other));
    line(b, at_format(a, "e = %s_square(d);", b->m->entry));
}

void samples_end_sum(block *b, const char *own) {
    if (own) line(b, at_format(b->m->arena, "own += %s;", own));
    line(b, at_format(b->m->arena, "e = %s_square(d) + 16 * own;", b->m->entry));
}

/* Roundings of random signs, of samples that are independent; derivatives; 16 times the mean
 * square: of so few samples it is seldom far too small. What is no number any more is off by any
 * amount, and stays so. */
static const char *const helpers[][2] = {
    {"spread", "static inline void %1$s_spread(double *d, double e, unsigned long *bits) {\n"
               "    const double root = %1$s_root(e);\n"
               "    unsigned long x = *bits += 0x9e3779b97f4a7c15UL;\n"
               "    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;\n"
               "    x = (x ^ x >> 27) * 0x94d049bb133111ebUL;\n"
               "    x ^= x >> 31;\n"
               "    for (int k = 0; k < %2$d; k++) d[k] = x >> k & 1 ? root : -root;\n"
               "}\n"},
    {"move", "static inline void %1$s_move(double *d, const double *from, double by) {\n"
             "    for (int k = 0; k < %2$d; k++) {\n"
             "        const double moved = from[k] * by;\n"
             "        d[k] += moved == moved               ? moved\n"
             "                : from[k] == 0 || by == 0 ? 0\n"
             "                                          : 1.0 / 0.0;\n"
             "    }\n"
             "}\n"},
    {"add", "static inline void %1$s_add(double *d, const double *from) {\n"
            "    for (int k = 0; k < %2$d; k++) d[k] += from[k];\n"
            "}\n"},
    {"square", "static inline double %1$s_square(const double *d) {\n"
               "    double sum = 0;\n"
               "    for (int k = 0; k < %2$d; k++) sum += d[k] * d[k];\n"
               "    return sum == sum ? 16 * sum / %2$d : 1.0 / 0.0;\n"
               "}\n"},
    {"larger", "static inline void %1$s_larger(double *d, double *o) {\n"
               "    for (int k = 0; k < %2$d; k++)\n"
               "        if (d[k] * d[k] > o[k] * o[k]) o[k] = d[k];\n"
               "        else d[k] = o[k];\n"
               "}\n"},
};

void naive_sample_helpers(const naive *m, const char *body, at_text *out) {
    for (size_t i = 0; i < sizeof helpers / sizeof *helpers; i++)
        if (naive_calls(m, body, helpers[i][0]))
            at_text_addf(out, helpers[i][1], m->entry, NAIVE_SAMPLES);
}
