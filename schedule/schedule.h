/* schedule/schedule.h: the two notations. C-like tensor expressions say *what* is computed, the
 * loop tree says *how*. Texts are parsed once per task; per configuration the tree is built with
 * numbers and verified.
 *
 *   compute := (decl | stage)*
 *   decl    := name "[" extent ("," extent)* "]" ":" ("input" [type] | "weight" [type] | "index")
 *   type    := "f32" | "s32" | "s16" | "s8" | "u8"
 *   stage   := name "[" axis ("," axis)* "]" [kind] "=" [reduction] expr ["where" def ("," def)*]
 *            | name "[" axis ("," axis)* "]" "=" "{" ["-"] number ("," ["-"] number)* "}"
 *   kind    := ":" type
 *   axis    := name ":" extent
 *   reduction := ("sum" | "max" | "min" | "prod") "(" red ("," red)* ")"
 *   red     := name ":" (extent | expr ".." expr)
 *   def     := name "=" expr
 *            | "{" name [":" extent] ("," name ":" extent)* "}" "=" expr
 *
 * # begins a comment. An index tensor holds int32. An extent is an expression of sizes; a reduction
 * from .. to runs to the value before `to`, and its bounds may use earlier axes and index tensors.
 * Braces define the digits of a number, outer first. In a stage, axes hide sizes of their name.
 * Indices are divided by expressions of sizes only, values have no remainder.
 *
 *   tree    := line*                                  children stand 4 blanks deeper
 *   line    := item ("," item)* "=>" (leaf | newline tree) | leaf
 *   item    := name [":" ann] | "{" name ("," name)* "}" [":" ann]
 *            | "{" name [":" integer] ("," name [":" integer])* "}" [mark]
 *            | "[" item ("," item)* "]" ":" "order" "(" size ")"
 *   ann     := "para" | "vec" | "unroll" | "dot" | "ann" "(" size ")"
 *            | integer [mark] | "dyn(" name ("," name)* ")" [mark]
 *   mark    := "para" | "vec" | "unroll" | "dot"
 *   leaf    := "@" stage [".init"] attr* "=" index ("," index)* ["//" index ("," index)*]
 *   attr    := "[" "prefetch" tensor (integer | size) "]"   reads of tensor ask for what lies that
 *                                                            many bytes ahead; 0: not
 *            | "[" "dense" "]"                               rows of its storage follow each other
 *            | "[" "pad" (integer | size) "]"                with so many elements between
 *            | "[" "order" axis+ "]"                         its axes in storage, slowest first
 *            | "[" "pointers" tensor "]"                     reads of tensor go by a list of places
 *   index   := name | "0" | "{" name ("," name)* "}" ["/"] [axis]
 *
 * Lines of one parent run in textual order; a line may go on after a comma. An item in braces is
 * one loop over the product of its members. Behind // stand the reductions; braces in an index are
 * digits, outer first; 0 is an axis of extent 1 without a loop. A name in a tree denotes a piece of
 * an axis: a split part or size of that name gives its extent; a name without one is a whole axis
 * of that name. Legality: rules 1 to 10 of verify.c. */
#ifndef AT_SCHEDULE_H
#define AT_SCHEDULE_H

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
    bool is_output;  /* a stage that no other stage reads, but at an earlier step of its cycle */
    bool is_packing; /* a stage without reduction, or a sum of s32, that reads weights, entries of
                        index tensors that are no places of other reads, packing stages, and stages
                        that read nothing, and one of the first three; with such entries it is no
                        output */
    at_type type;    /* of its elements; role index: AT_S32 */
    bool is_table;   /* a stage of given numbers */
    bool is_recurrence; /* a stage that reads itself, at elements that come before; no sum */
    int cycle;          /* of which cycle it is a stage, from 1; 0: of none */
    bool is_carried;    /* a stage of a cycle that reads, or is read at, an earlier step of it */
    int step_loop;      /* the innermost of the cycle's loops that it stands in */
    int line;           /* in the text, from 1 */
} at_tensor;
/* What is stored there is read again at later elements: of itself, or by way of its cycle. */
static inline bool at_tensor_goes_in_steps(const at_tensor *t) {
    return t->is_recurrence || t->cycle;
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
    /* A tensor has a type of integers that is no index tensor: floats are rounded at each step of
     * an expression, as written, so that whoever works it out gets the same bits. */
    bool in_steps;
} at_compute;
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

/* Data of one tensor, row-major; f for floats, i for role index and, whatever their size, types of
 * integers. */
typedef struct at_data {
    float *f;
    int32_t *i;
} at_data;
/* Do all integers that are worked out fit 32 bits (inputs of s32 lie within 2^30)? Does every read
 * lie within its tensor, and every index within 64 bits, for all points at which
 * it is evaluated? Conditions over indices guard a read, those over values do not. data (may be
 * NULL): elements of index tensors; without it what hangs on them is not looked at. AT_E_INPUT with
 * stage, line, column, index, point and extent; also where neither a proof nor a point is found.
 * Nothing is run: a computation as templates have it takes microseconds, data take as long as it
 * takes to look through them. AT_E_INTERRUPTED once *stop (may be NULL) is set. */
at_status at_compute_check_reads(const at_compute *c, const int64_t *values, const at_data *data,
                                 const volatile int *stop, at_error *err);

/* The least and the largest value of a stage's axis: of one whose bounds are data, an int32 that
 * lies within all that is read there in any case. */
void at_compute_axis_range(const at_compute *c, int64_t *const *extents, int stage, int axis,
                           int64_t *lo, int64_t *hi);

/* What the entries of an index tensor may be, so that every read lies within its tensor: from lo to
 * hi; where they are bounds of a reduction, one not below that before it. */
typedef struct at_index_range {
    int64_t lo, hi;
    bool ascends;
    bool is_unknown; /* of more than 2^22 entries, which are 0 then */
} at_index_range;
/* out[tensor] of index tensors, as wide as can be, up to the largest extent; numbers that are
 * calculated with, where that makes sums exact, less; not 0 where something is divided by what is
 * computed. {0} where nothing is allowed, and with more than 2^22 entries. Reads are checked some
 * dozens of times with data. AT_E_INTERRUPTED once *stop (may be NULL) is set. */
at_status at_compute_index_ranges(at_arena *a, const at_compute *c, const int64_t *values,
                                  at_index_range *out, const volatile int *stop, at_error *err);
/* n entries of such a range; those that ascend begin with lo and end with hi. */
void at_index_fill(const at_index_range *r, int64_t n, at_rng *rng, int32_t *out);

/* Floating-point work: 2 x the multiply-adds of all sums, one for each product that a term is or
 * adds up, but for those that are 0 since an index leaves a remainder; where there are none, 2 x
 * the terms of all sums. data (may be NULL) serves data-dependent bounds; -1 where they are needed
 * and absent. */
double at_compute_flops(const at_compute *c, const int64_t *values, const at_data *data);
/* Largest |value| and largest sum of |terms| any stage can have when every float input lies within
 * -b .. b (interval arithmetic over the expressions); data-dependent lengths are at most
 * max_dynamic. given (may be NULL): [tensor] the bound of an input that has its own, or of an index
 * tensor's entries, which are not negative then; else -1.
 * *ratio: the largest of these sums in units of its grain, the power of two that all values of the
 * stage are multiples of where inputs are whole numbers. INFINITY, both, if unbounded. */
double at_compute_bound(const at_compute *c, const int64_t *values, double b, const double *given,
                        int64_t max_dynamic, double *ratio);
/* That ratio where inputs and weights have bounds of their own, `most`, and whole multiples of
 * `unit` as values ([tensor], both). At most 2^24: any order of summation is exact in float. */
double at_compute_ratio(const at_compute *c, const int64_t *values, const double *most,
                        const double *unit, const double *given, int64_t max_dynamic);
/* The largest b <= 8 (integer, at least 1) for which any order of summation is exact in float:
 * every value is a multiple of a power of two, and no sum exceeds 2^24 of them. 0 if none, or where
 * a value need not be such a multiple. */
int at_compute_exact_range(const at_compute *c, const int64_t *values, const double *given,
                           int64_t max_dynamic);
/* Is there such a multiple for all stages, however large they may become? */
bool at_compute_is_whole(const at_compute *c, const int64_t *values);

/* Of a running sum, `s[t:T] = sum(k:0..t + 1) ..` or `sum(k:0..t) ..`, whose terms say nothing of
 * t, the axis t: an element is that of t - 1 and one more term. -1: it is none. Then, the term is
 * that of t less this: 0 or 1. */
int at_running_axis(const at_tensor *t);
int at_running_lag(const at_tensor *t);
/* Where a stage that reads itself does so; axes as sets. */
#define AT_RECURRENCE_AXES 32
typedef struct at_recurrence {
    uint32_t steps;  /* the first axes along which reads go back: their loops go step by step */
    uint32_t beyond; /* others along which reads lead away */
    /* Of the reads that first go back along this axis: along which others they go back, or lead
     * elsewhere. */
    uint32_t back[AT_RECURRENCE_AXES], across[AT_RECURRENCE_AXES];
} at_recurrence;
at_recurrence at_recurrence_of(const at_compute *c, int stage);
/* The axes along which a stage goes on from step to step: of what reads itself its steps, of a
 * running sum its axis, along which a tree may let it do so. */
uint32_t at_stage_steps(const at_compute *c, int stage);
bool at_compute_has_recurrence(const at_compute *c); /* or a cycle */
/* The cycle of a stage; NULL: it is in none. */
const at_cycle *at_cycle_of(const at_compute *c, int stage);
/* The axes of a stage whose loops of steps it shares, as bits; 0: it is in no cycle. */
uint32_t at_cycle_steps(const at_compute *c, int stage);
/* The axis of its cycle along which a stage's read of a stage goes back to an earlier step; -1: it
 * does not, or is what makes the stage a recurrence. Then, whether it may be of the same step, too.
 */
int at_cycle_back(const at_compute *c, int stage, const at_expr *read);
bool at_cycle_reads_step(const at_compute *c, int stage, const at_expr *read);
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
/* In double as well, of inputs and outputs of any type: types is C's of what lies in buf, of inputs
 * and outputs by tensor; index tensors hold whole numbers. buf: inputs, outputs. */
at_status at_compute_typed_c(at_arena *a, const at_compute *c, const int64_t *values,
                             const char *const *types, const char *entry, at_text *out,
                             int64_t *workspace_bytes, at_error *err);
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

/* ---- loop tree (tree_make.c, tree_parse.c, tree_print.c)
 * -------------------------------------------------- */

typedef enum at_ann { AT_ANN_NONE, AT_ANN_PARA, AT_ANN_VEC, AT_ANN_UNROLL, AT_ANN_DOT } at_ann;

typedef struct at_tree at_tree; /* parsed text: symbolic */
at_status at_tree_parse(at_arena *a, const at_compute *c, const char *text, const char *what,
                        at_tree **out, at_error *err);
/* The same of a tree that may leave something open (tree_open.c): pieces without an extent,
 * stages without the leaf that they need. No program can be built of one that does. */
at_status at_tree_parse_open(at_arena *a, const at_compute *c, const char *text, const char *what,
                             at_tree **out, at_error *err);
bool at_tree_is_open(const at_tree *t);
/* Its text stands in the file that is its `what`, so that broken rules are told with its line; or,
 * where somebody wrote a part (tree_lines.c), nodes stand where that has them. written: NULL, or
 * lives as long. */
void at_tree_stands(at_tree *t, const at_tree *written);
const char *at_tree_what(const at_tree *t); /* for messages */
const at_symbols *at_tree_symbols(const at_tree *t);
bool at_tree_has_leaf(const at_tree *t, int stage);
/* A reduction, an output and what reads itself: no tree can leave such a stage to its readers. */
bool at_stage_needs_leaf(const at_tensor *t);
/* What counts an axis of a stage's leaf, the slowest first, at most AT_TREE_MOST_DIGITS; returns
 * how many, -1 where there is no leaf. */
typedef struct at_leaf_digit {
    const char *piece;
    at_ann ann;    /* of its loop; written :ann(size): unroll */
    bool has_mark; /* an annotation of any kind */
    bool is_open;  /* without an extent */
    int line;      /* where the loop stands */
    int64_t fixed; /* its extent as a number, where it is written as one; else 0 */
    bool is_own;   /* a loop around this leaf alone, right around it */
    bool in_tile;  /* a loop of its own, around no reduction of the leaf */
} at_leaf_digit;
enum { AT_TREE_MOST_DIGITS = 64 };
int at_tree_digits(const at_tree *t, int stage, int axis, at_leaf_digit *out);
/* A piece of the innermost loop around all reductions of a stage's leaf; NULL: there is none. */
const char *at_tree_around_sum(const at_tree *t, int stage);
/* A piece of the loop between whose steps sums wait in memory: inside one of the reduction a loop
 * goes over the sums themselves, and neither in a vector nor written out. NULL: they need not. */
const char *at_tree_sum_waits(const at_tree *t, int stage);
/* A piece of the innermost loop around the leaves of both; NULL: there is none. */
const char *at_tree_around_both(const at_tree *t, int stage, int other);
bool at_tree_has_para(const at_tree *t);             /* a loop of it runs on several threads */
bool at_tree_has_init(const at_tree *t, int tensor); /* @STAGE.init is a leaf of its own */
void at_tree_print(at_text *out, const at_tree *t);  /* canonical text; parses back equal */

/* A tree by calls, in the order of its text; the parser of trees uses them, too. Nodes have
 * numbers, parent -1 is the root. A fault is AT_E_INPUT in the err of at_tree_begin, which lives as
 * long; names and expressions are borrowed until at_tree_finish, which hands out the tree. */
typedef struct at_tree_maker at_tree_maker;
at_tree_maker *at_tree_begin(at_arena *a, const at_compute *c, const char *what, at_error *err);
void at_tree_expect(at_tree_maker *m, int num_nodes); /* room for so many, and their inits */
void at_tree_new_line(at_tree_maker *m); /* the nodes that follow are written on another line */
int at_tree_add_loop(at_tree_maker *m, int parent, at_ann ann); /* without pieces at first */
at_status at_tree_add_piece(at_tree_maker *m, int loop, const char *name); /* of the last loop */
void at_tree_set_ann(at_tree_maker *m, int loop, at_ann ann);
/* name:ann(size), whose value is 0 for none, 1 unroll, 2 vec. */
at_status at_tree_set_ann_size(at_tree_maker *m, int loop, const char *size);
/* [a, b, c]:order(size): so many loops, each inside the one before, in the order of that number. */
at_status at_tree_set_order(at_tree_maker *m, int first, int num_loops, const char *size);
void at_tree_set_extent(at_tree_maker *m, int loop, int64_t extent); /* name:extent */
void at_tree_set_dynamic(at_tree_maker *m, int loop, const char *const *axes, int num_axes);
at_status at_tree_add_leaf(at_tree_maker *m, int parent, const char *stage, bool is_init,
                           int *leaf);
/* Attributes of a leaf (tree_attribute.c). bytes, pad: a number, or a name with its slot as ref. */
#define AT_MAX_PREFETCH 4
at_status at_tree_add_prefetch(at_tree_maker *m, int leaf, const char *tensor, at_expr *bytes);
typedef enum at_rows { AT_ROWS_APART, AT_ROWS_DENSE, AT_ROWS_PADDED } at_rows;
/* pad: of padded ones, else NULL. */
at_status at_tree_set_rows(at_tree_maker *m, int leaf, at_rows rows, at_expr *pad);
at_status at_tree_set_axes(at_tree_maker *m, int leaf, const char *const *axes, int num);
/* The input whose rows the leaf reads by a list of places, padding included. */
at_status at_tree_set_pointers(at_tree_maker *m, int leaf, const char *tensor);
at_status at_tree_set_running(at_tree_maker *m, int leaf);
void at_tree_add_index(at_tree_maker *m, int leaf); /* of the next axis, without digits at first */
at_status at_tree_add_digit(at_tree_maker *m, int leaf, const char *name); /* of the last index */
at_status at_tree_finish(at_tree_maker *m, at_tree **out);

/* ---- program: the tree with numbers (build.c, verify.c, program_print.c) --------------------- */

typedef struct at_node at_node;

/* One axis of a leaf as a mixed-radix number of loop pieces, outer first; n = 0: extent 1, value 0.
 * The product may exceed the axis by less than one outermost iteration: what lies beyond is
 * skipped. */
typedef struct at_digits {
    int n;
    at_node *const *loop;  /* the loop on the leaf's path */
    const int *member;     /* which piece of it (fused loops have several) */
    const int64_t *extent; /* of the piece */
} at_digits;

typedef struct at_prefetch {
    int tensor;    /* reads of it ask for what lies */
    int64_t bytes; /* so many ahead; 0: they do not */
} at_prefetch;

struct at_node {
    bool is_leaf;
    at_node *parent, *child, *next; /* textual order */
    int line;                       /* of the tree's text, from 1 */
    int line_group;                 /* loops written on one line share it: `a, b =>` */
    /* loop */
    int num_pieces;              /* > 1: fused, one loop over the product, members by division */
    const int *piece;            /* [num_pieces] slot of at_program.piece_names */
    const int64_t *piece_extent; /* of this loop: a name without size may differ elsewhere */
    int64_t extent;              /* product of the pieces; -1: data-dependent */
    at_ann ann;
    bool is_reduce;           /* a leaf below uses it as a reduction */
    int dyn_tensor, dyn_axis; /* data-dependent: runs that axis from its begin; else -1 */
    int id;                   /* 0 .. num_loops-1 in textual order; leaves: -1 */
    int depth;                /* loops above */
    unsigned filled;          /* which of at_program_fill's calls set its numbers last */
    /* leaf */
    int tensor;
    bool is_init;     /* sets the accumulator to the neutral element before a reduction */
    at_digits *axes;  /* [num_axes + num_reduce]; an init leaf: [num_axes] */
    int num_axes;     /* length of axes */
    int num_prefetch; /* the tree says whether: */
    at_prefetch prefetch[AT_MAX_PREFETCH];
    bool is_running; /* each step along at_running_axis adds a term to the sum of the one before */
    bool has_pointers; /* reads of the tensor `pointers` go by a list of places */
    int pointers;
    /* The stage's storage, where it is the program's own; of an init: nothing. */
    at_rows rows;     /* APART: as caches like it */
    int64_t pad;      /* PADDED: elements behind each row */
    const int *order; /* its axes, slowest first; NULL: as declared */
};

typedef struct at_program {
    const at_compute *compute;
    const char *file;      /* where the lines of its nodes are; NULL: in no file */
    const int64_t *values; /* by symbol slot; borrowed */
    int64_t **extents;     /* [tensor][axis] */
    const char *const *piece_names;
    at_node *root; /* first of the outermost nodes, and of an array of all in textual order; init
                      leaves already inserted */
    int num_loops;
    bool *dissolved; /* [tensor]: a stage without leaf, computed inside its readers */
} at_program;

/* Numbers from values (by slot). Loops of extent 1 stay. Inserts the default initialisation of
 * reducing leaves: a copy of the leaf's spatial loops below its outermost reduction loop, with
 * their annotations, right before that loop. AT_E_INPUT when the numbers cannot be: the text goes
 * into the record as error 1. The program borrows from tree and values. */
at_status at_program_build(at_arena *a, const at_tree *t, const int64_t *values, at_program **out,
                           at_error *err);
/* The two halves of it, for who asks of many values: all that no number changes, and numbers, as
 * often as there are others. After an error a program is of use only to be filled again. */
at_program *at_program_empty(at_arena *a, const at_tree *t);
at_status at_program_fill(const at_tree *t, const int64_t *values, at_program *p, at_error *err);
/* Checks the eleven rules; AT_E_INPUT "rule 4 (completion): ..." naming stage and loop. */
at_status at_program_verify(at_arena *a, const at_program *p, at_error *err);
/* The tree with extents, `yt:320, xo:8, yi:7 unroll =>`, without loops that run once; read again
 * over the same computation, it becomes the same code. Init leaves that reading puts there are not
 * shown unless all. A leaf that ignores loops around it is followed by its recompute factor, as a
 * comment: # (x8). */
void at_program_print(at_text *out, const at_program *p, bool all);
/* What stands in brackets behind a leaf's stage, with numbers; all: prefetches of 0 bytes, too. */
void at_leaf_print_attributes(at_text *out, const at_program *p, const at_node *leaf, bool all);
/* Executes the tree as written, serially. Reading what is not computed in the iteration at hand of
 * the loops around producer and readers is an error, since buffers live inside them; elements never
 * written are NaN. data as for at_compute_interpret. */
at_status at_program_interpret(at_arena *a, const at_program *p, at_data *data, at_error *err);
/* An index of a resolved expression at these values of the stage's axes (nest.c); what an index
 * tensor holds counts as 0. */
int64_t at_program_index(const at_program *p, const at_expr *e, const int64_t *axis);
/* Has a resolved index a product of axes or entries, beside those within reads in it? */
bool at_index_multiplies(const at_expr *e);
/* The reads in a stage's body and bounds, each once. */
const at_expr *const *at_compute_reads(const at_compute *c, int tensor, int *num);
/* passes: [tensor], stages that are computed where they are read (reach.c). Which stages read a
 * tensor, directly or through those. */
void at_compute_reach(const at_compute *c, const bool *passes, int tensor, bool *out);
/* Which axis of `reader` every read of a tensor, directly or through those, has as its index d. */
enum { AT_READ_NONE = -2 /* it reads none */, AT_READ_SEVERAL = -1 /* or another expression */ };
int at_compute_read_axis(at_arena *a, const at_compute *c, const bool *passes, int reader,
                         int tensor, int d);
/* How many reads stand in one element of a stage with all that is computed there; counts: that of
 * each tensor before it. No leaf reaches AT_MOST_READS. */
enum { AT_MOST_READS = 8192 };
int64_t at_compute_count_reads(const at_compute *c, int tensor, const bool *passes,
                               const int64_t *counts);
/* The axes of a leaf that its loops count: all but a running sum's, whose term goes along with its
 * axis. */
int at_leaf_num_counted(const at_program *p, const at_node *leaf);
/* How often a leaf's statement runs per element of its iteration space (product of ignored loops,
 * data-dependent ones aside). */
int64_t at_leaf_recompute(const at_node *leaf);

/* Which program it is (program_key.c): a hash of the computation with the numbers of extents and
 * sizes, and of the loops, leaves and annotations of the tree. Programs of equal keys become the
 * same code under the same options, but for the names in it. No part of it are names, places in the
 * text, how loops are divided into lines, and loops that run once. Which of a tree's names a loop
 * has is one, by its place among them: lowering cuts the loops over one name alike, and the code
 * shows it. The key is worked out in less than a microsecond, and never kept: another version of
 * this program may make others. */
typedef struct at_key {
    uint64_t hi, lo;
} at_key;
at_key at_program_key(const at_program *p);
/* Which terms it adds up in which order: programs of one computation whose keys of this kind are
 * equal round alike, as long as their tiles are made for one target. */
at_key at_program_sums_key(const at_program *p);
/* Of the computation alone: with equal keys all reads are the same. */
at_key at_compute_key(const at_compute *c, const int64_t *values, int64_t *const *extents);
bool at_key_equal(at_key x, at_key y);

/* ---- features (nest.c, features.c) ----------------------------------------------------------- */

typedef enum at_feature_kind { AT_FEATURE_ITERVAR, AT_FEATURE_CURVE } at_feature_kind;
/* What a cost model learns from, as AutoTVM defines it, but for the values of options. Writes at
 * most max numbers and returns how many there are. Temporary storage comes from a. */
int at_program_features(at_arena *a, const at_program *p, at_feature_kind kind, float *out,
                        int max);

#endif
