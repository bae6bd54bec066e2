/* schedule/reference_samples.c: samples of the error of a stage that reads itself, or that others
 * read which it reads, which it keeps beside each element: how far it is off after roundings of
 * random signs. They go from step to step by the derivatives, signs and all, so that errors of one
 * origin add up or cancel as they do. */
#include "schedule/reference_pairs.h"

const char *samples_spread(block *b, const char *e) {
    at_arena *a = b->m->arena;
    const char *d = named(b, 'd');
    line(b, at_format(a, "double %s[%d];", d, NAIVE_SAMPLES));
    line(b, at_format(a, "%s_spread(%s, %s, &bits);", b->m->entry, d, e));
    return d;
}

/* Those of a value that has an error. */
static const char *samples_of(block *b, pair x) { return x.d ? x.d : samples_spread(b, x.e); }

void samples_move(block *b, const char *d, pair x, const char *derivative) {
    if (!x.e) return;
    line(b, at_format(b->m->arena, "%s_move(%s, %s, %s);", b->m->entry, d, samples_of(b, x),
                      derivative));
}

void samples_take_e(block *b, pair r) {
    line(b, at_format(b->m->arena, "const double %s = %s_square(%s);", r.e, b->m->entry, r.d));
    line(b, at_format(b->m->arena, "(void)%s; /* which only a comparison needs */", r.e));
}

void samples_of_operation(block *b, at_op op, pair x, pair y, pair r, const char *own) {
    at_arena *a = b->m->arena;
    const char *by_x = "1", *by_y = op == AT_X_SUB ? "-1" : "1";
    if (op == AT_X_MUL) by_x = y.v, by_y = x.v;
    if (op == AT_X_DIV) {
        by_x = at_format(a, "1 / %s", y.v);
        by_y = at_format(a, "-%s / %s", r.v, y.v);
    }
    line(b, at_format(a, "double %s[%d];", r.d, NAIVE_SAMPLES));
    line(b, at_format(a, "%s_spread(%s, %s, &bits);", b->m->entry, r.d, own));
    samples_move(b, r.d, x, by_x);
    samples_move(b, r.d, y, by_y);
    samples_take_e(b, r);
}

void samples_of_extreme(block *b, at_op op, pair x, pair y, pair r, const char *close) {
    at_arena *a = b->m->arena;
    const char *entry = b->m->entry, *other = named(b, 'd'), order = op == AT_X_MIN ? '<' : '>';
    line(b, at_format(a, "double %s[%d] = {0}, %s[%d] = {0};", r.d, NAIVE_SAMPLES, other,
                      NAIVE_SAMPLES));
    samples_move(b, r.d, x, "1");
    samples_move(b, other, y, "1");
    line(b, at_format(a, "if (%s) %s_larger(%s, %s);", close, entry, r.d, other));
    line(b, at_format(a, "else if (!(%s %c %s))", x.v, order, y.v));
    line(b, at_format(a, "    for (int k = 0; k < %d; k++) %s[k] = %s[k];", NAIVE_SAMPLES, r.d,
                      other));
    samples_take_e(b, r);
}

pair samples_of_call(block *b, at_function f, pair x, pair r, const char *slope) {
    at_arena *a = b->m->arena;
    const pair all = {r.v, named(b, 'e'), samples_spread(b, r.e)};
    const char *by = at_format(a, "%s_root(%s)", b->m->entry, slope);
    if (f == AT_FUNCTION_RSQRT) by = at_format(a, "-%s", by);
    if (f == AT_FUNCTION_ABS) by = at_format(a, "(%s < 0 ? -1 : 1)", x.v);
    if (f == AT_FUNCTION_SQRT)
        by = at_format(a, "(%s * %s > " NEAR " * %s ? %s : 0)", x.v, x.v, x.e, by);
    if (f != AT_FUNCTION_FLOOR) samples_move(b, all.d, x, by);
    samples_take_e(b, all);
    return all;
}

void samples_keep(block *b, at_expr *const *own, pair x) {
    const char *name = naive_stage(b->m)->name;
    const char *kept = x.e ? at_format(b->m->arena, "(float)%s[k]", samples_of(b, x)) : "0";
    line(b, at_format(b->m->arena, "for (int k = 0; k < %d; k++) D_%s[(%s) * %d + k] = %s;",
                      NAIVE_SAMPLES, name, naive_own_index(b->m, own), NAIVE_SAMPLES, kept));
}

/* ---- reductions ------------------------------------------------------------------------------ */

static const pair reduced = {"s", "e", "d"};

void samples_begin(block *b, at_expr *const *own) {
    line(b, at_format(b->m->arena, "double d[%d] = {0};", NAIVE_SAMPLES));
    line(b, at_format(b->m->arena, "unsigned long bits = (unsigned long)(%s);",
                      naive_own_index(b->m, own)));
}

void samples_add_term(block *b, pair x) { samples_move(b, reduced.d, x, "1"); }

void samples_multiply(block *b, pair x) {
    at_arena *a = b->m->arena;
    const char *own = at_format(a, "%s * %s * s * s + " SMALLEST, x.v, x.v);
    line(b, at_format(a, "for (int k = 0; k < %d; k++) d[k] *= %s;", NAIVE_SAMPLES, x.v));
    samples_move(b, reduced.d, x, "s");
    samples_move(b, reduced.d, (pair){x.v, own, NULL}, "1");
}

void samples_choose(block *b, pair x, const char *better, const char *close) {
    at_arena *a = b->m->arena;
    const char *other = named(b, 'd');
    line(b, at_format(a, "double %s[%d] = {0};", other, NAIVE_SAMPLES));
    samples_move(b, other, x, "1");
    line(b, at_format(a, "if (%s) %s_larger(d, %s);", close, b->m->entry, other));
    line(b, at_format(a, "else if (%s) for (int k = 0; k < %d; k++) d[k] = %s[k];", better,
                      NAIVE_SAMPLES, other));
    line(b, at_format(a, "e = %s_square(d);", b->m->entry));
}

void samples_end(block *b, const char *own) {
    if (own) samples_move(b, reduced.d, (pair){"s", own, NULL}, "1");
    line(b, at_format(b->m->arena, "e = %s_square(d);", b->m->entry));
}

/* Roundings of random signs, of samples that are independent; derivatives; 16 times the mean
 * square: of so few samples it is seldom far too small. What is no number any more is off by any
 * amount. */
void naive_sample_helpers(const naive *m, at_text *out) {
    const char *n = m->entry;
    at_text_addf(out,
                 "static inline void %1$s_spread(double *d, double e, unsigned long *bits) {\n"
                 "    const double root = %1$s_root(e);\n"
                 "    unsigned long x = *bits += 0x9e3779b97f4a7c15UL;\n"
                 "    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9UL;\n"
                 "    x = (x ^ x >> 27) * 0x94d049bb133111ebUL;\n"
                 "    x ^= x >> 31;\n"
                 "    for (int k = 0; k < %2$d; k++) d[k] = x >> k & 1 ? root : -root;\n"
                 "}\n"
                 "static inline void %1$s_move(double *d, const double *from, double by) {\n"
                 "    for (int k = 0; k < %2$d; k++) {\n"
                 "        const double moved = from[k] * by;\n"
                 "        if (moved == moved) d[k] += moved;\n"
                 "    }\n"
                 "}\n"
                 "static inline double %1$s_square(const double *d) {\n"
                 "    double sum = 0;\n"
                 "    for (int k = 0; k < %2$d; k++) sum += d[k] * d[k];\n"
                 "    return sum == sum ? 16 * sum / %2$d : 1.0 / 0.0;\n"
                 "}\n"
                 "static inline void %1$s_larger(double *d, double *o) {\n"
                 "    for (int k = 0; k < %2$d; k++)\n"
                 "        if (d[k] * d[k] > o[k] * o[k]) o[k] = d[k];\n"
                 "        else d[k] = o[k];\n"
                 "}\n",
                 n, NAIVE_SAMPLES);
}
