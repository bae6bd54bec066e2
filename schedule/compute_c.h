/* schedule/compute_c.h: a computation interpreted, and as plain C. */
#ifndef AT_SCHEDULE_COMPUTE_C_H
#define AT_SCHEDULE_COMPUTE_C_H

#include "schedule/compute_facts.h"

/* The interpreter of the expressions: every stage over its whole extent, in text order, sums in
 * double. data[t] of inputs is read, of stages written; a stage without storage gets it from the
 * arena. AT_E_INPUT for an index outside its tensor, named. It shares nothing with the schedule: it
 * is the reference of tests. */
at_status at_compute_interpret(at_arena *a, const at_compute *c, const int64_t *values,
                               at_data *data, at_error *err);
/* The same with all elements in double, those of index tensors too. */
at_status at_compute_interpret_double(at_arena *a, const at_compute *c, const int64_t *values,
                                      double **data, at_error *err);
/* A look at some elements of each stage, in text order, of computations of any size: what they are
 * worked out from, the same for the same place whenever it is asked for, and who is told of the
 * value of each expression on the way, operands before what is made of them. AT_E_INPUT as above.
 */
typedef struct at_sample at_sample;
struct at_sample {
    double (*element)(const at_sample *s, int tensor, int64_t offset); /* of an input or weight */
    int64_t (*entry)(const at_sample *s, int tensor, int64_t offset);  /* of an index tensor */
    void (*seen)(at_sample *s, const at_expr *e, double value);
};
at_status at_compute_sample(at_arena *a, const at_compute *c, const int64_t *values, at_sample *of,
                            at_error *err);
/* The same as naive C99 text, for shapes where the interpreter is too slow: one function
 *   int ENTRY(void *const buf[], void *workspace, void *par)
 * and, where needed, static helpers ENTRY_div, _mod, _min, _max. buf: all inputs in text order,
 * then the outputs; stages between live in workspace (*workspace_bytes). Plain loops, `long`
 * indices, floats accumulated in float (exact on data of at_compute_exact_range); no libc, no
 * labels, signed arithmetic only. Nothing is checked: run the texts of users through the
 * interpreter on a small shape first. */
at_status at_compute_reference_c(at_arena *a, const at_compute *c, const int64_t *values,
                                 const char *entry, at_text *out, int64_t *workspace_bytes,
                                 at_error *err);
/* The same, but large sums of products call
 *   void at_products(const float *a, const float *b, float *out, long rows, long terms, long
 * columns) out[r, c] = sum(k:terms) a[r, k]*b[c, k], in any order (runtime/code.h). *points:
 * iterations of the loops that are left. */
at_status at_compute_products_c(at_arena *a, const at_compute *c, const int64_t *values,
                                const char *entry, at_text *out, int64_t *workspace_bytes,
                                double *points, at_error *err);

/* The same for data on which sums are not exact: values in double, and for each element of an
 * output how far a kernel's may be from it: 8 times 2^-24 times the root of the sum of the squares
 * of all partial results on its way (reference_limits.c; 0: it is exact, or no finite float). buf:
 * inputs, outputs (rounded to float), then the limits of the outputs (float). Not a number or too
 * large for a float: the element is compared as what it is. */
at_status at_compute_limits_c(at_arena *a, const at_compute *c, const int64_t *values,
                              const char *entry, at_text *out, int64_t *workspace_bytes,
                              at_error *err);

/* The same for inputs that are integers: what the run shows to be exact in any order, since it and
 * all sums on its way are small enough, has the limit 0. */
at_status at_compute_whole_limits_c(at_arena *a, const at_compute *c, const int64_t *values,
                                    const char *entry, at_text *out, int64_t *workspace_bytes,
                                    at_error *err);

/* The same in double throughout, numbers of the text included: what a kernel's errors are measured
 * by. buf: inputs, outputs (rounded to float), then what that rounding took away (float). */
at_status at_compute_double_c(at_arena *a, const at_compute *c, const int64_t *values,
                              const char *entry, at_text *out, int64_t *workspace_bytes,
                              at_error *err);
/* In double as well, where all sizes are numbers, of inputs and outputs of any type: types is C's
 * of what lies in buf, of inputs and outputs by tensor; index tensors hold whole numbers. buf:
 * inputs, outputs. */
at_status at_compute_typed_c(at_arena *a, const at_compute *c, const char *const *types,
                             const char *entry, at_text *out, int64_t *workspace_bytes,
                             at_error *err);
/* Does it have a stage of given numbers, as algorithms by transforms do, and no quotient by what
 * was computed, root, exponential or logarithm of it, which may make a rounding error a large one?
 */
bool at_compute_is_transform(const at_compute *c);
/* Does a value decide in steps: by floor, by comparing what was computed, or as an index? */
bool at_compute_has_steps(const at_compute *c);

/* A random projection (project.c): the same computation with some axes of its only output summed
 * over, each element times a random number of 64 bits, in integers modulo 2^64; a small part of the
 * work. It stands in for the reference where inputs are integers and every sum is below 2^24: an
 * output that differs from the right one in any of the elements that are summed to one number
 * passes with a probability of at most 2^-39 (the difference, below 2^25, times a random number is
 * 0 modulo 2^64). */
typedef struct at_projection {
    int start, output; /* the tensor where it begins; the output */
    /* [tensor][axis] 0: not summed over; else the axis' stride in the weights: the number of an
     * element's weight is the sum of its indices times the strides. */
    int64_t *const *stride;
    /* [tensor] of a stage that is summed over, the body is the sum of these: what is linear in the
     * projected values it reads, and the rest, which reads none (NULL: 0). */
    at_expr *const *linear, *const *rest;
    double points; /* iterations of it */
} at_projection;
/* The cheapest there is, owned by a; false: none. Data-dependent lengths are mean_dynamic on the
 * average. */
bool at_compute_project(at_arena *a, const at_compute *c, const int64_t *values,
                        double mean_dynamic, at_projection *out);
/* The i-th weight. Source: S. Vigna, splitmix64. */
uint64_t at_projection_weight(uint64_t seed, uint64_t i);
/* An output summed up in the same way: how many sums there are, and the sums. -1, or the first
 * element that is no integer of at most 2^24. */
int64_t at_projection_sums(const at_projection *p, const at_compute *c, int64_t *const *extents);
int64_t at_projection_apply(const at_projection *p, const at_compute *c, int64_t *const *extents,
                            uint64_t seed, const float *out, uint64_t *sums);
/* As at_compute_reference_c; buf holds the inputs, then room for the output's elements that are
 * left, 8 bytes each. */
at_status at_compute_projected_c(at_arena *a, const at_compute *c, const int64_t *values,
                                 const at_projection *p, uint64_t seed, const char *entry,
                                 at_text *out, int64_t *workspace_bytes, at_error *err);

/* ---- any shape (general.c, general_c.c) ------------------------------------------------------ */

/* How the numbers of a computation come about from the arguments, which are its first symbols:
 * sizes in order, and what must be true of a shape to be of this form: slot -1, the expression has
 * this value. Every part of a split is 1, but the first: nothing is in blocks, and what at_layout
 * says leaves every tensor as it is. */
typedef struct at_general_step {
    int slot;            /* of the symbol that is defined; -1: a condition */
    const at_expr *expr; /* refs are slots; NULL: value */
    int64_t value;
} at_general_step;
typedef struct at_general {
    const at_compute *compute;
    int num_args;
    const int64_t *least; /* [num_args] the smallest value of each */
    const at_general_step *steps;
    int num_steps;
    /* C's type of what lies in buf, by tensor, and all is worked out in double; NULL: floats, and
     * of index tensors ints. */
    const char *const *types;
} at_general;
/* All symbols, by slot. AT_E_INPUT: the shape is of another form. */
at_status at_general_values(at_arena *a, const at_general *g, const int64_t *args, int64_t **values,
                            at_error *err);
bool at_general_equal(const at_general *x, const at_general *y);
/* The computation as C99 for all shapes of this form, without libc, as static functions:
 *   int ENTRY_sizes(const long *args, long *elements, long *workspace_bytes)
 *     1, and the elements of inputs and outputs (both in text order); 0: it is of another form
 *   void ENTRY(const long *args, void *const buf[], void *workspace)
 * Stages without a sum are worked out where they are read, others live in the workspace. */
void at_general_c(at_arena *a, const at_general *g, const char *entry, at_text *out);
/* Has it nothing that such loops lack: bits, tables, floats of 16 bits, integers but indices and
 * stages that are places? */
bool at_general_fits(const at_compute *c);
/* Bytes of workspace where these are the extents. */
int64_t at_general_workspace(const at_general *g, int64_t *const *extents);

#endif
