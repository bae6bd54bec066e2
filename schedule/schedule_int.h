/* schedule/schedule_int.h: what the files of this folder share and nobody else sees. */
#ifndef AT_SCHEDULE_INT_H
#define AT_SCHEDULE_INT_H

#include <string.h>

#include "schedule/schedule.h"

/* Limits that keep sets in one word and small arrays on the stack; the parsers refuse more. */
enum {
    MAX_AXES = AT_RECURRENCE_AXES, /* of one tensor, reductions included */
    MAX_PIECES = 64,               /* on one path of the tree */
    MAX_NODES_OF = 10000,          /* of one expression once its definitions are substituted */
};

/* Names are compared so often that a call for each takes a quarter of deriving. */
static inline bool is_same_name(const char *x, const char *y) {
    return x == y || (*x == *y && (!*x || (x[1] == y[1] && !strcmp(x, y))));
}

/* ---- computation --------------------------------------------------------------------------- */

/* What changes no result of a reduction, as it is written: 0, 1, inf, -inf (reduction.c). */
at_expr *neutral_expr(at_arena *a, at_reduction r);

/* A size expression that a resolved body divides by. Refs are slots, as in an axis extent. */
typedef struct divisor {
    int tensor;
    const at_expr *expr;
} divisor;

/* {a:A, b:B, ...} = axis with an extent on the first name: the product must reach the axis. */
typedef struct digit_set {
    int tensor, axis;
    int num_extents;
    at_expr *const *extents; /* refs are slots */
} digit_set;

typedef struct tensor_info {
    int num_reads; /* INDEX nodes of body and bounds, each once */
    const at_expr **reads;
    uint32_t *bound_axes; /* [num_reduce] the axes that begin and end use, as a set */
    bool of_entries;      /* a packing stage that an index tensor goes into */
} tensor_info;

/* at_compute_parse makes these; the public part comes first, so info_of() is a cast. */
typedef struct compute_info {
    at_compute pub;
    tensor_info *info; /* [num_tensors] */
    AT_VEC(divisor) divisors;
    AT_VEC(digit_set) digit_sets;
    at_hash form;          /* of all tensors but for the values of sizes and the extents */
    AT_VEC(int) key_sizes; /* slots of the sizes in bodies and bounds, each once */
    bool is_made;          /* by calls: it stands in no text */
} compute_info;

static inline const compute_info *info_of(const at_compute *c) { return (const compute_info *)c; }

static inline int axes_of(const at_tensor *t) { return t->num_axes + t->num_reduce; }

/* Second half of at_compute_parse: names and types (compute_resolve.c). The tensors of c hold what
 * was written, bounds included; afterwards what schedule.h says. */
at_status compute_resolve(at_arena *a, const at_lex *l, compute_info *c, at_error *err);

/* The first axis that a stage's read of itself goes back along (recurrence.c); -1: it reads nothing
 * that comes before. */
int recurrence_first(const at_tensor *t, const at_expr *read);
/* The axis whose index in this read of its own stage, or of one of its cycle, is the first that is
 * not the axis itself; the first axis where all are. For messages. */
const char *recurrence_axis(const at_tensor *t, const at_expr *read);
/* Whether index i of a read in a stage's body is its axis i itself, at least a step of it before,
 * one or the other, or none of these, as far as the text says: t - 1, k of sum(k:0..t), or where k
 * < t is asked (recurrence.c). */
typedef enum where { SAME, BEFORE, UP_TO, ELSEWHERE } where;
where index_leads(const at_tensor *t, const at_expr *read, int i);
/* Which stages read each other, once all are resolved, and what of that is an error (cycle.c). */
at_status compute_find_cycles(at_arena *a, const at_lex *l, compute_info *c, at_error *err);
/* Outputs that lie in inputs: marks these, and tells what is an error (held.c). */
at_status compute_check_held(const at_lex *l, compute_info *c, at_error *err);
/* Does a leaf read what an earlier turn of its own loops made? */
static inline bool leaf_goes_on(const at_program *p, const at_node *leaf) {
    return leaf->is_running || p->compute->tensors[leaf->tensor].is_recurrence;
}

/* Afterwards: what of it goes into keys, whatever the configuration (program_key.c). */
void compute_key_form(at_arena *a, compute_info *c);
/* The numbers of a stage, from "{" on, into t->written (compute_table.c). axes: of t. */
at_status compute_parse_table(at_arena *a, at_lex *l, at_tensor *t, const at_axis *axes,
                              at_error *err);

/* Does the current token stand on a later line than the token before it? */
bool starts_line(const at_lex *l);
bool compute_is_reserved(const char *name); /* a word of the notation, and no name */
/* def name(parameter, ..) = expr, with the lexer at "def" (compute_function.c). */
at_status compute_parse_function(at_arena *a, at_lex *l, at_text_functions *out, at_error *err);

/* ---- evaluation of resolved expressions (eval.c) ------------------------------------------- */

typedef struct eval_value {
    bool is_float; /* else an integer or a truth value */
    int64_t i;
    double f;
} eval_value;

typedef struct eval_ctx eval_ctx;
struct eval_ctx {
    const at_compute *compute;
    const int64_t *values;   /* by symbol slot */
    int64_t *const *extents; /* [tensor][axis] */
    const at_data *data;     /* [tensor] */
    int stage;               /* whose expression it is, for axis names in errors */
    const int64_t *axis;     /* value of each of its axes */
    at_error *err;
    /* Reads a float; NULL: straight from data. offset is within the tensor. */
    at_status (*read)(eval_ctx *ctx, int tensor, const int64_t *index, int64_t offset, double *out);
    /* The same of an entry of an index tensor. */
    int64_t (*entry)(eval_ctx *ctx, int tensor, int64_t offset);
    bool has_floats; /* numbers are as kernels have them, of 32 bits */
    /* Told of each value that is worked out; NULL: nobody is. */
    void (*seen)(eval_ctx *ctx, const at_expr *e, double value);
    void *user;
};

at_status eval_int(eval_ctx *ctx, const at_expr *e, int64_t *out);
at_status eval_float(eval_ctx *ctx, const at_expr *e, double *out);
double load_element(const at_tensor *t, const at_data *data, int64_t offset);
/* Stores an element as its type has it; is_whole: what is stored was worked out in integers. */
void store_element(const at_tensor *t, bool is_whole, const at_data *data, int64_t offset,
                   double x);
double stored_value(const at_tensor *t, bool is_whole, double x); /* saturated; a float as it is */
/* Storage for stages that have none yet, so that callers give only what they want to see. */
void allocate_stages(at_arena *a, const at_compute *c, int64_t *const *extents, at_data *data);
/* whole.c: do all integers on the way fit 32 bits? AT_E_INPUT with the expression and its range.
 * Inputs of s32 are taken to lie within 2^30. */
at_status at_compute_check_whole(const at_compute *c, const int64_t *values, at_error *err);
/* A stage of integers that are entries as they lie (compute_resolve.c): nothing is worked out. */
bool copies_entries(const at_compute *c, const at_tensor *t);
bool is_float_expr(const at_compute *c, const at_expr *e);
/* Is a value, or an index, a whole number by the last step of its expression? */
bool is_rounded(const at_compute *c, const at_expr *e);
/* compute_facts.c: [tensor] what all values of each are multiples of where inputs are integers: a
 * power of two; 0: there is none. */
double *grains_of(at_arena *a, const at_compute *c, const int64_t *values, int64_t *const *extents);
/* A lower bound of an integer expression of a stage, -INFINITY if there is none (compute_facts.c).
 */
double smallest_int(const at_compute *c, const int64_t *values, int64_t *const *extents, int stage,
                    const at_expr *e);

/* The number 0, of integers or floats; and what part of the products that this expression, a term
 * of ctx->stage's sum, stands for is not 0 by a remainder that one of their factors asks for
 * (zero_terms.c). */
bool is_zero_expr(const at_expr *e);
double part_of_products(eval_ctx *ctx, const at_expr *product);

/* Bits: values that numbers depend on (watch.c). */
typedef struct watched {
    uint64_t *tensor;  /* [tensors] of the computation: extents */
    uint64_t *divisor; /* [divisors] of it */
    uint64_t *digits;  /* [digit sets] of it */
    uint64_t *node;    /* [nodes] of the tree */
} watched;
static inline bool is_changed(uint64_t bits, uint64_t changes) {
    return (bits & changes) || changes == ~UINT64_C(0); /* all */
}

/* Room for what at_compute_extents makes, and the numbers in it (extents.c). w: of a program that
 * was filled before, all of whose numbers but for such changes are right; NULL: of none. */
int64_t **extents_room(at_arena *a, const at_compute *c);
at_status fill_extents(const at_compute *c, const int64_t *values, const watched *w,
                       uint64_t changes, int64_t **extents, at_error *err);

/* ---- program (scope.c) --------------------------------------------------------------------- */

/* How many loops two nodes share; *deepest is the last of them, NULL at the root. */
int common_loops(const at_node *x, const at_node *y, const at_node **deepest);
int count_leaves(const at_node *first, int *num_pieces); /* adds to *num_pieces */
/* scope[tensor]: the deepest loop around its leaf, its init and every leaf that reads it, dissolved
 * stages between included: its buffer lives inside. NULL: at the root, as outputs do. */
void stage_scopes(const at_program *p, int num_leaves, const at_node *const *leaves,
                  const at_node *const *leaf_of, const at_node **scope);

/* reference_expr.c: a number of a computation as C. */
const char *float_c(at_arena *a, double x);
/* function_c.c: the functions that the stages call, as static C99 functions of double named
 * ENTRY_exp_of and so on. */
void function_texts(const at_compute *c, const char *entry, at_text *out);

#endif
