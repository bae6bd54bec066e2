/* network/joined.h: the computation of a part while it is put together: texts of nodes joined, the
 * axes of tensors changed in order, stages that only move data dissolved into their readers. */
#ifndef AT_NETWORK_JOINED_H
#define AT_NETWORK_JOINED_H

#include "schedule/schedule.h"

typedef struct at_joined_axis {
    const char *name;
    int64_t extent;
    at_expr *begin, *end; /* of a reduction whose bounds are expressions; else NULL */
} at_joined_axis;

/* In expressions NAME has the number of an axis of its stage as ref, INDEX that of a tensor. */
typedef struct at_joined_tensor {
    const char *name;
    int value; /* of the graph; -1: a stage within a node */
    at_role role;
    int num_axes, num_reduce;
    at_reduction reduction;
    at_joined_axis *axes; /* [num_axes + num_reduce] */
    at_expr *body;        /* of a stage */
    at_type type;         /* of its elements */
    bool is_output;       /* of the part */
    bool is_gone;         /* its readers compute it, or nothing reads it */
} at_joined_tensor;

typedef struct at_joined {
    at_arena *arena;
    AT_VEC(at_joined_tensor) tensors; /* each behind what it reads */
    int first, second;                /* the sums of a part by bands; second 0: it is none */
} at_joined;

/* An input of the part (a weight, an index), rank 0 as one element. Its number. */
int at_join_input(at_joined *j, int value, at_role role, at_type type, int rank,
                  const int64_t *dims);
/* The stages of a text whose inputs x0, x1 .. are the tensors `inputs` (-1: not given). outputs:
 * the tensors of y0, y1 .. (-1: not written). AT_E_BUG-like faults of the text are AT_E_INPUT. */
at_status at_join_text(at_joined *j, const char *text, const char *what, const int *inputs,
                       int num_inputs, int *outputs, int num_outputs, at_error *err);
/* The tensor has its axes in another order from now on: axis k is what order[k] was. Reductions of
 * it alone, whose rows fill vectors, go along it as it lies then. */
void at_join_permute(at_joined *j, int tensor, const int *order);
/* Stages without a sum that are no output go into their readers where that costs nothing; what
 * nothing reads, as of a node of several outputs, goes. */
void at_join_dissolve(at_joined *j);
/* After at_join_dissolve: has the text an output that is none of the part, a stage of a recurrence
 * that only stages before it read? */
bool at_join_has_stray(const at_joined *j);
/* Stages between lose last axes of extent 1 that their readers have more elements along, as the
 * largest of a row has. */
void at_join_shorten(at_joined *j);
/* bands.c: a sum, and another one by windows of what becomes of it, by bands of rows, which so many
 * threads share; weights are stages with channels last. false: nothing has changed, they are no
 * such sums, or no number of rows suits. */
bool at_join_bands(at_joined *j, int threads);
/* The tree of such a part, as far as it is not left to rules; nothing of another part. */
void at_join_print_bands(at_text *out, const at_joined *j);
/* Names inputs x0, x1 .., weights w0 .., outputs y0 .., stages between t0 .. in order. */
void at_join_name(at_joined *j);
/* As the text of a .te file: declarations, then stages. */
void at_join_print(at_text *out, const at_joined *j);
/* The tensors that are parameters, in the order of the text: inputs, then outputs. */
int at_join_parameters(const at_joined *j, int *out);

/* net_indices.c: an expression with its indices simplified; axes and type: of its stage. Lives in
 * a. */
at_expr *at_join_simplify(at_arena *a, const at_expr *e, const at_joined_axis *axes, at_type type);
/* A copy with other expressions for its axes, and other numbers for its tensors (NULL: the same).
 */
at_expr *at_join_replace(at_arena *a, const at_expr *e, at_expr *const *axes, const int *tensors);

#endif
