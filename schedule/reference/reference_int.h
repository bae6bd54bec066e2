/* schedule/reference/reference_int.h: what the files that write naive C share: reference_c.c
 * (loops), reference_expr.c (expressions), reference_limits.c (with a limit for each element). */
#ifndef AT_REFERENCE_INT_H
#define AT_REFERENCE_INT_H

#include <string.h>

#include "schedule/schedule_int.h"

enum { NAIVE_SAMPLES = 8 };

typedef struct hoisted {
    int depth; /* computed inside the loop of this axis */
    const char *text, *name;
} hoisted;

/* Errors of a stage: as squares; with signs (reference_signs.c); and samples of them kept beside
 * each element, in D_NAME, for stages behind it or later steps. */
typedef enum naive_signs { NAIVE_SQUARES, NAIVE_SIGNS, NAIVE_KEPT_SIGNS } naive_signs;

typedef struct naive {
    at_arena *arena;
    const at_compute *c;
    const int64_t *values;
    int64_t **extents;
    const char *entry;
    at_error *err;
    at_status status; /* of the first failure */
    int stage;
    AT_VEC(hoisted) hoists;          /* of this stage */
    const at_projection *projection; /* NULL: the whole computation */
    uint64_t seed;
    bool *rounded; /* [tensor] its values are double, with limits; NULL: all is float, without */
    naive_signs *signs; /* [tensor] where there are limits */
    bool *shares;       /* [stage] an element hangs on a rounded value that others hang on, too */
    double
        *grains; /* [tensor] as grains_of has them: inputs are integers; NULL: they need not be */
    bool apart;  /* what several terms of the sum in hand share counts as exact */
    /* Reads of rounded values that the expression in hand has more than once, each once. */
    const at_expr *repeated[NAIVE_SAMPLES];
    int num_repeated;
    int num_names;                   /* of values, in this stage */
    struct naive_products *products; /* sums of products may be those of matrices; or NULL */
    bool in_double;                  /* all values, without limits */
    const char *const *types; /* [tensor] of inputs and outputs, in double: C's type of what lies in
                                 buf; NULL: float and int, outputs in two parts */
} naive;

/* What products of matrices need: floats of the workspace from `first` on, to `end`; iterations of
 * all loops that are left. */
typedef struct naive_products {
    int64_t first, end;
    double points;
} naive_products;

static inline const at_tensor *naive_stage(const naive *m) { return &m->c->tensors[m->stage]; }
/* The type of values. */
static inline const char *naive_real(const naive *m) { return m->in_double ? "double" : "float"; }
/* The dimensions of an input have no names. */
const char *naive_axis_name(const naive *m, int axis);

/* The texts of expressions of the stage in hand, inside the loops of its axes 0 .. depth. */
const char *naive_number(naive *m, int64_t x);
const char *naive_value(naive *m, const at_expr *e, int depth);
/* A number out of memory, and a value as it is stored: floats of 16 bits are their bits there. */
const char *naive_load(naive *m, int tensor, const char *at);
const char *naive_bits(naive *m, int tensor, const char *value);
const char *naive_element(naive *m, int tensor, at_expr *const *index, int depth);
int64_t naive_times(naive *m, int64_t x, int64_t y); /* too large: m->status */

/* The first n axes of the stage in hand as indices. */
void naive_own_indices(naive *m, int n, at_expr **own);
const char *naive_index(naive *m, int tensor, at_expr *const *index, int depth); /* flat */
/* Of the element in hand; own: the axes of the stage. */
static inline const char *naive_own_index(naive *m, at_expr *const *own) {
    return naive_index(m, m->stage, own, naive_stage(m)->num_axes - 1);
}

/* A number that the terms of a reduction change, and what it is before the first. */
typedef struct naive_total {
    const char *name, *first;
} naive_total;

/* Lines of one stage's loops: before its reductions, in the innermost loop, behind them. again: in
 * the innermost loop when the reductions run once more, which they do under a condition; or NULL.
 */
typedef struct nest_text {
    AT_VEC(naive_total) totals;
    const char *type; /* of these */
    const char *start, *term, *again_if, *again, *result;
} nest_text;
static inline void naive_add_total(naive *m, nest_text *t, const char *name, const char *first) {
    *at_push(m->arena, &t->totals) = (naive_total){name, first};
}

typedef enum nest {
    NEST_PLAIN,    /* every element is worked out */
    NEST_LIMITED,  /* with a limit beside it */
    NEST_LINEAR,   /* axes that are summed over are left out */
    NEST_WEIGHTED, /* every element, times its weight, is added to what is left */
} nest;
/* reference_loops.c: blanks; the head of a loop, without and with what needs the axes up to it; all
 * of the stage in hand, in its axes from `from` on: its steps are loops around. */
void naive_indent(at_text *out, int depth);
void naive_open_axis(naive *m, at_text *out, int axis, const char *begin, const char *end);
void naive_open_loop(naive *m, at_text *out, int axis, const char *begin, const char *end);
void naive_emit_nest(naive *m, at_text *out, nest kind, const at_expr *body, int from);

/* reference_products.c: the stage in hand as a product of matrices; false: it is none, or a small
 * one. */
bool naive_emit_product(naive *m, at_text *out);

/* Is the stage in hand a running sum, whose terms are each added once? */
static inline bool naive_runs(const naive *m) {
    const at_tensor *t = naive_stage(m);
    return !at_tensor_goes_in_steps(t) && at_running_axis(t) >= 0;
}

/* An output that others read stands beside its error. */
static inline bool naive_keeps_error(const naive *m, int stage) {
    return m->rounded && m->rounded[stage] && m->c->tensors[stage].is_marked;
}

static inline bool naive_keeps_samples(const naive *m, int stage) {
    return m->rounded && m->signs[stage] == NAIVE_KEPT_SIGNS;
}
/* reference_exact.c: which tensors have limits. Is a value a float that is the same in every
 * kernel, an integer or a condition one that no rounding changes? Is a rounded value in several
 * terms of the sum in hand, or made of such, and is there one in it? */
#define NAIVE_MOST_EXACT 0x1p24 /* integers up to it are floats */
void naive_find_rounded(naive *m);
void naive_find_signs(naive *m); /* reference_signs.c: m->signs; m->rounded is known */
bool naive_is_exact(const naive *m, const at_expr *e);
bool naive_is_certain(const naive *m, const at_expr *e);
bool naive_is_shared(const naive *m, const at_expr *e);
bool naive_has_shared(const naive *m, const at_expr *e);
/* Finds m->repeated of an expression. Which of them is this read? -1: none. */
bool naive_find_repeated(naive *m, const at_expr *e);
int naive_repeated(const naive *m, const at_expr *e);
/* With limits: the stage in hand, whose axes are own (reference_sums.c); the function that makes
 * one (reference_limits.c). */
nest_text naive_with_limits(naive *m, const at_expr *body, at_expr *const *own);
void naive_limit_helper(const naive *m, at_text *out);
void naive_sample_helpers(const naive *m, const char *body, at_text *out);

/* Does the text call this helper of the function? */
static inline bool naive_calls(const naive *m, const char *body, const char *helper) {
    return strstr(body, at_format(m->arena, "%s_%s(", m->entry, helper)) != NULL;
}

/* Under a projection: is this axis of the tensor summed over, is any of its axes? Elements that are
 * left of it; a value as an integer modulo 2^64; an element of what is left; the weight of an
 * element of the stage in hand. */
bool naive_is_summed(const naive *m, int tensor, int axis);
bool naive_is_projected(const naive *m, int tensor);
int64_t naive_projected_count(const naive *m, int tensor);
const char *naive_projected(naive *m, const at_expr *e, int depth);
const char *naive_projected_element(naive *m, int tensor, at_expr *const *index, int depth);
const char *naive_weight(naive *m, at_expr *const *own);

#endif
