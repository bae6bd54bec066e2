/* schedule/reference/reference_pairs.h: what the files that write limits share: reference_limits.c
 * (values with their errors), reference_samples.c (samples of errors), reference_sums.c
 * (reductions). */
#ifndef AT_REFERENCE_PAIRS_H
#define AT_REFERENCE_PAIRS_H

#include "schedule/reference/reference_int.h"

#define NEAR "2.2737367544323206e-13"     /* 2^-42: (8 u)^2 */
#define SMALLEST "1.3817869688151111e-76" /* 2^-252: of a result below the normal floats, by u */

/* Text of statements inside the loops. */
typedef struct block {
    naive *m;
    at_text text;
    int depth; /* loops around, which all expressions are inside of */
    int nested;
} block;

/* Names of a value and of its e; NULL: it is exact. */
typedef struct pair {
    const char *v, *e;
    /* Samples of its error (what each of m->repeated makes of it, where there are such), and the e
     * of what is independent of them, of which e is made; NULL: there are none. */
    const char *d, *own;
} pair;

/* Names of truths: as the values have it; whether it may be true, and may be false, in a kernel. */
typedef struct truth {
    const char *is, *may, *may_not;
} truth;

/* An e of 0 where there is none. */
static inline const char *e_of(pair x) { return x.e ? x.e : "0"; }

static inline void line(block *b, const char *text) {
    for (int i = 0; i < b->depth + b->nested + 2; i++) at_text_add(&b->text, "    ");
    at_text_add(&b->text, text);
    at_text_add(&b->text, "\n");
}

static inline const char *named(block *b, char kind) {
    return at_format(b->m->arena, "%c%d", kind, b->m->num_names++);
}

/* reference_limits.c: the statements that make a value or a condition. An if begins, and what is
 * between stands deeper; it ends. May a kernel see two values the other way round? The e of one of
 * two; of both, where it may. */
pair limits_value(block *b, const at_expr *e);
truth limits_condition(block *b, const at_expr *e);
void limits_open(block *b, const char *condition);
void limits_close(block *b);
const char *limits_close_by(block *b, pair x, pair y);
const char *limits_extreme_e(block *b, pair x, pair y, const char *chosen);

/* Are errors of the stage in hand samples? */
static inline bool has_samples(const block *b) { return b->m->signs[b->m->stage] != NAIVE_SQUARES; }
/* Do errors of the expression in hand have signs? */
static inline bool has_signs(const block *b) { return has_samples(b) || b->m->num_repeated; }
/* A result begins to have samples, of an e of its own. */
void samples_begin(block *b, pair *r, const char *own);
/* What x is off goes on to samples d and the independent rest `own`, times the derivative. */
void samples_move(block *b, const char *d, const char *own, pair x, const char *derivative);
/* A read of the k-th of m->repeated, which is off by e. */
void samples_of_read(block *b, pair *r, int k, const char *e);
/* A read in a stage with samples: the samples that are kept; else some that are the same wherever
 * the element is read. */
void samples_of_element(block *b, const at_expr *read, pair *r);
/* e of a value that has samples. */
void samples_take_e(block *b, pair r);
/* Of a result, r, one of whose operands has some; own: the e of its own rounding. */
void samples_of_operation(block *b, at_op op, pair x, pair y, pair *r, const char *own);
/* Of the smaller or the larger one; of both, where `close` says that a kernel may see the other
 * first. */
void samples_of_extreme(block *b, at_op op, pair x, pair y, pair *r, const char *close);
/* Of a function's result, r.e being what it adds of its own, or where there is no derivative;
 * slope: the square of that. */
pair samples_of_call(block *b, at_function f, pair x, pair r, const char *slope);
/* What signs of roundings of the element in hand, whose axes are own, are drawn from. */
const char *samples_seed(block *b, at_expr *const *own);
/* Beside that element, where they are kept. */
void samples_keep(block *b, at_expr *const *own, pair x);
/* Of a reduction, samples_reduced: where it begins; one more factor of a product; one more term of
 * a maximum or minimum, which is `better`, or may be (`close`); where it ends, with an e of its own
 * (NULL: none). */
extern const pair samples_reduced;
void samples_begin_sum(block *b, at_expr *const *own);
void samples_multiply(block *b, pair x);
const char *samples_are(block *b); /* an e of all samples so far */
void samples_choose(block *b, pair x, const char *better, const char *close);
void samples_end_sum(block *b, const char *own);

#endif
