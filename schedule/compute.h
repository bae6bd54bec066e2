/* schedule/compute.h: a computation: tensors, stages and their expressions. */
#ifndef AT_SCHEDULE_COMPUTE_H
#define AT_SCHEDULE_COMPUTE_H

#include "base/base.h"

/* ---- symbols: arguments, sizes and split parts; values come per configuration --------------- */

typedef struct at_symbols {
    AT_VEC(const char *) names; /* slot -> name */
} at_symbols;
int at_symbol_find(const at_symbols *s, const char *name);       /* -1 if absent */
int at_symbol_add(at_arena *a, at_symbols *s, const char *name); /* finds or adds */

/* ---- computation (compute_parse.c, compute_resolve.c, compute_print.c) ----------------------- */

/* What the terms of a stage become. Each has a neutral element, which it starts from and which
 * stands for a term that is left out. max and min ignore what is not a number (of nothing else they
 * make -inf and inf), and which of two zeros they give is open. The order of the terms is open. */
typedef enum at_reduction {
    AT_REDUCE_SUM,
    AT_REDUCE_MAX,
    AT_REDUCE_MIN,
    AT_REDUCE_PROD,
    AT_REDUCE_COUNT
} at_reduction;
const char *at_reduction_name(at_reduction r); /* as written */
int at_reduction_find(const char *name);       /* -1: none */
float at_reduction_neutral(at_reduction r);
double at_reduction_neutral_of(at_reduction r, at_type t); /* of integers the least or the most */
bool at_reduction_is_extreme(at_reduction r); /* one of its terms, unrounded: max, min */
double at_reduction_join(at_reduction r, double term, double partial); /* one more term */
/* The same as a statement of C, each operand of which is a name; the C of the neutral element. */
const char *at_reduction_c(at_reduction r, at_arena *a, const char *term, const char *partial);
const char *at_reduction_start_c(at_reduction r);
/* The larger or smaller of two numbers; what is not a number is ignored, as in a reduction: of
 * nothing else it is -inf or inf. */
double at_extreme(bool is_max, double x, double y);
/* Of two variables or constants, as C: does x count rather than y; and the value. */
const char *at_extreme_first_c(at_arena *a, bool is_max, const char *x, const char *y);
const char *at_extreme_c(at_arena *a, bool is_max, const char *x, const char *y);

typedef enum at_role { AT_ROLE_INPUT, AT_ROLE_WEIGHT, AT_ROLE_INDEX, AT_ROLE_STAGE } at_role;

typedef struct at_axis {
    const char *name; /* NULL for the dimensions of an input */
    at_expr *extent;  /* over sizes, refs are slots; NULL when data-dependent */
    at_expr *begin;   /* data-dependent reduction: begin .. end-1, as in a body; else NULL */
    at_expr *end;
} at_axis;

/* In a resolved expression (body, begin, end), where-definitions are substituted and
 *   NAME  ref < AT_REF_SIZE: axis of the stage (spatial first, then reductions);
 *         else AT_REF_SIZE + slot
 *   INDEX ref: tensor number, args the index expressions
 * Digits {n, h:H, w:W} = y are w = y % W, h = y / W % H, n = y / W / H. Division and remainder of
 * indices are floored. */
#define AT_REF_SIZE 65536

typedef struct at_def { /* one where-definition as written, for printing */
    int num_names;      /* 1, or as many as there are digits */
    const char **names;
    at_expr **extents; /* digits: NULL for one left out */
    bool is_digits;
    at_expr *expr;
} at_def;

typedef struct at_tensor {
    const char *name;
    at_role role;
    int num_axes, num_reduce;
    at_reduction reduction; /* where num_reduce > 0 */
    at_axis *axes;          /* [num_axes + num_reduce], spatial first */
    at_expr *body;          /* stage: resolved; the term where num_reduce > 0 */
    at_expr *written;       /* stage: as written */
    int num_defs;
    at_def *defs;
    bool is_output; /* a stage that no other stage reads, but at an earlier step of its cycle; or
                       one that is marked */
    bool is_marked; /* ": output": others read it, and it leaves all the same */
    /* Marked ": in NAME": the caller's memory of that input is this output's, which keeps the
     * elements that it does not change. NULL: its own. */
    const char *lies_in;
    bool is_updated; /* such an output whose new elements are made of the old ones at their places:
                        each is worked out once a call */
    bool is_held;    /* an input that such an output lies in: kernels have one pointer for both */
    bool is_packing; /* an unmarked stage without reduction, or a sum of s32, that reads weights,
                        entries of index tensors that are no places of other reads, packing stages,
                        and stages that read nothing, and one of the first three; with such entries
                        it is no output */
    at_type type;    /* of its elements; role index: AT_S32 */
    bool is_s64;     /* an input or index of AT_S32 that callers have in 64 bits */
    bool is_table;   /* a stage of given numbers */
    bool is_places;  /* a stage of s32 whose elements are indices of what is read below it */
    bool is_recurrence; /* a stage that reads itself, at elements that come before; no sum */
    int cycle;          /* of which cycle it is a stage, from 1; 0: of none */
    bool is_carried;    /* a stage of a cycle that reads, or is read at, an earlier step of it */
    int step_loop;      /* the innermost of the cycle's loops that it stands in */
    const char *what;   /* names its text in errors, or the file that this includes */
    int line;           /* in that, from 1 */
} at_tensor;
/* Is each element checked on the way in: is there anything that it must not be? */
bool at_tensor_is_checked(const at_tensor *t);
#define AT_MOST_GIVEN 0x1p30 /* elements of an input of s32 lie within */
/* What is stored there is read again at later elements: of itself, or by way of its cycle. */
static inline bool at_tensor_goes_in_steps(const at_tensor *t) {
    return t->is_recurrence || t->cycle;
}

/* Does a reduction go from one expression to another? Then there may be no term. */
static inline bool at_tensor_has_range(const at_tensor *t) {
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (t->axes[k].begin) return true;
    return false;
}

/* Is an element of it an integer that may be an index? */
static inline bool at_tensor_has_entries(const at_tensor *t) {
    return t->role == AT_ROLE_INDEX || t->is_places;
}

/* Stages that read each other, or a sum that reads itself (cycle.c). Their first axes go from step
 * to step: what one of them reads of another is of an earlier step, or of a stage above it. */
typedef struct at_cycle {
    int num;
    const int *stages; /* in text order */
    int depth;         /* so many axes of each, which are the same in all */
    uint32_t steps;    /* those of these axes along which a read goes back */
    /* Loops of steps that stages share: what goes back along an axis stands in one, and in it those
     * that do so along a further one in another. [num_loops], outer ones first. */
    int num_loops;
    const struct at_step_loop *loops;
} at_cycle;
typedef struct at_step_loop {
    int axis, parent; /* parent: the loop around it, or -1 */
} at_step_loop;

typedef struct at_compute {
    const char *text, *what;
    const at_symbols *symbols; /* borrowed: lives as long as this */
    int num_tensors;
    at_tensor *tensors; /* in text order; a stage reads only tensors above it, and of its cycle */
    int num_cycles;
    const at_cycle *cycles; /* number 1 first */
    /* All tensors, each behind what it reads, stages of a cycle together, and of a loop of steps.
     */
    const int *order;
    /* A tensor has a type of integers that is no index tensor; other than copies of such: floats
     * are rounded at each step of an expression, as written, so that whoever works it out gets the
     * same bits. */
    bool has_integers, in_steps;
    bool has_halves; /* a tensor has elements of 16-bit floats */
} at_compute;
/* The input that an output lies in; -1: there is none. The tensor whose memory kernels use as
 * this one's: of an input that an output lies in that output, else itself (held.c). */
int at_compute_held(const at_compute *c, int output);
int at_compute_holder(const at_compute *c, int tensor);
/* Of resolved expressions (expr_axes.c): its axes as a set, of those below 32; is it of sizes and
 * numbers alone; does it read a tensor of this role? */
uint32_t at_expr_axes(const at_expr *e);
bool at_expr_is_size(const at_expr *e);
bool at_expr_reads_role(const at_compute *c, const at_expr *e, at_role role);
bool at_expr_reads_entries(const at_compute *c, const at_expr *e); /* at_tensor_has_entries */
/* Does a read take the element at its reader's own axes, in their order? */
bool at_expr_is_in_place(const at_expr *read);
/* Is a resolved expression worked out in 32-bit integers? An index, or integers alone. */
bool at_expr_is_whole(const at_compute *c, const at_expr *e);

/* what names the text in errors. AT_E_INPUT with line, column and a caret: unknown names, wrong
 * number of indices, a value used as an index, reading below, no stage, ... */
at_status at_compute_parse(at_arena *a, const at_symbols *symbols, const char *text,
                           const char *what, at_compute **out, at_error *err);
/* The same of tensors made by calls, as the parser makes them: name, role, axes with their counts,
 * and of a stage `written` and its definitions. Takes them; their expressions are of this
 * computation alone. */
at_status at_compute_make(at_arena *a, const at_symbols *symbols, const at_tensor *tensors, int n,
                          const char *what, at_compute **out, at_error *err);
/* Parses back equal, prints the same again. */
void at_compute_print(at_text *out, const at_compute *c);
int at_compute_find(const at_compute *c, const char *name); /* -1 if absent */

/* Numeric extents: out[tensor][axis]; -1 for a data-dependent one. AT_E_INPUT where one is below 1
 * (0 is allowed for inputs), a tensor exceeds 2^63 elements, an index is divided by less than 1, or
 * digits have fewer values than the axis they are of. values: by slot. */
at_status at_compute_extents(at_arena *a, const at_compute *c, const int64_t *values,
                             int64_t ***out, at_error *err);
/* How many elements a tensor has whose extents these are. */
int64_t at_tensor_elements(const at_tensor *t, const int64_t *extents);

#endif
