/* schedule/reference_int.h: what the files that write naive C share: reference_c.c (loops),
 * reference_expr.c (expressions), reference_limits.c (with a limit for each element). */
#ifndef AT_REFERENCE_INT_H
#define AT_REFERENCE_INT_H

#include "schedule/schedule_int.h"

typedef struct hoisted {
    int depth; /* computed inside the loop of this axis */
    const char *text, *name;
} hoisted;

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
    bool *rounded;  /* [tensor] its values are double, with limits; NULL: all is float, without */
    int num_names;  /* of values, in this stage */
    bool in_double; /* all values, without limits */
    const char *const *types; /* [tensor] of inputs and outputs, in double: C's type of what lies in
                                 buf; NULL: float and int, outputs in two parts */
} naive;

static inline const at_tensor *naive_stage(const naive *m) { return &m->c->tensors[m->stage]; }
/* The type of values. */
static inline const char *naive_real(const naive *m) { return m->in_double ? "double" : "float"; }
/* The dimensions of an input have no names. */
const char *naive_axis_name(const naive *m, int axis);

/* The texts of expressions of the stage in hand, inside the loops of its axes 0 .. depth. */
const char *naive_number(naive *m, int64_t x);
const char *naive_value(naive *m, const at_expr *e, int depth);
const char *naive_element(naive *m, int tensor, at_expr *const *index, int depth);
int64_t naive_times(naive *m, int64_t x, int64_t y); /* too large: m->status */

const char *naive_index(naive *m, int tensor, at_expr *const *index, int depth); /* flat */
/* Of the element in hand; own: the axes of the stage. */
static inline const char *naive_own_index(naive *m, at_expr *const *own) {
    return naive_index(m, m->stage, own, naive_stage(m)->num_axes - 1);
}

/* Lines of one stage's loops: before its reductions, in the innermost loop, behind them. again: in
 * the innermost loop when the reductions run once more, which they do under a condition; or NULL.
 */
typedef struct nest_text {
    const char *start, *term, *again_if, *again, *result;
} nest_text;

/* Is the stage in hand a running sum, whose terms are each added once? */
static inline bool naive_runs(const naive *m) {
    const at_tensor *t = naive_stage(m);
    return !at_tensor_goes_in_steps(t) && at_running_axis(t) >= 0;
}

/* Samples of the error that a stage which reads itself, or is of a cycle, keeps beside each
 * element, in D_NAME; where it is exact, none. */
enum { NAIVE_SAMPLES = 8 };
static inline bool naive_keeps_samples(const naive *m, int stage) {
    return at_tensor_goes_in_steps(&m->c->tensors[stage]) && m->rounded && m->rounded[stage];
}
/* With limits (reference_limits.c): which tensors have them; the stage in hand, whose axes are own;
 * the function that makes one. */
void naive_find_rounded(naive *m);
nest_text naive_with_limits(naive *m, const at_expr *body, at_expr *const *own);
void naive_limit_helper(const naive *m, at_text *out);
void naive_sample_helpers(const naive *m, at_text *out);

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
