/* tests/codegen/random_make.h: a random program being made. */
#ifndef AT_TESTS_RANDOM_MAKE_H
#define AT_TESTS_RANDOM_MAKE_H

#include "tests/codegen/random_program.h"

enum { RANK = 6, CLASSES = 60, TENSORS = 24, READS = 12 };

/* An axis that several stages may run over with the same loops: its split. */
typedef struct rp_class {
    char name[RP_NAME];
    char extent[RP_EXPR];
    int num_pieces;
    char piece[3][RP_NAME];
    bool dynamic;
    bool whole; /* the one piece carries the axis' name and needs no size */
} rp_class;

typedef struct rp_read { /* by a stage, of a tensor: dimension d is indexed by exactly axis[d] */
    int tensor;
    int axis[RANK]; /* class, -1: something else */
} rp_read;

typedef struct rp_tensor {
    char name[RP_NAME];
    bool is_stage, has_leaf, is_read, packs;
    bool runs;      /* a running sum along its first axis */
    unsigned steps; /* axes along which it reads itself, or what reads it */
    bool in_cycle;
    int stands_with; /* the stage of its cycle whose loops of the steps it needs, or 0 */
    int rank, num_reduce;
    const char *reduction; /* NULL: sum */
    int axis[2 * RANK];    /* classes: dimensions, then reductions; -1 of an input: none yet */
    char axis_name[2 * RANK][RP_NAME]; /* as written in the computation */
    char extent[RANK][RP_EXPR];
    char dyn[RP_NAME];
    int num_reads;
    rp_read read[READS];
} rp_tensor;

typedef struct maker {
    random_program *p;
    at_rng rng;
    bool big;   /* tiles larger than a register file or a body of code */
    bool nasty; /* names that clash with what emitted code uses */
    int num_classes, num_tensors;
    rp_class cls[CLASSES];
    rp_tensor tensor[TENSORS];
    at_text text; /* of the computation */
} maker;

/* ---- names, sizes, axes, tensors (random_tensors.c) ---------------------------------------- */

int below(maker *m, int n);
bool chance(maker *m, int percent);
/* A name not used before, made of `stem`. */
void fresh_name(maker *m, const char *stem, char out[RP_NAME]);
void add_size(maker *m, const char *name, int64_t value, const char *expr);
/* A base size of that value; of a random one. */
void small_size(maker *m, const char *stem, int value, char out[RP_NAME]);
void random_extent(maker *m, int most, char out[RP_NAME]);
/* @ and # in fmt stand for a and b. */
void substitute(maker *m, char out[RP_EXPR], const char *fmt, const char *a, const char *b);

/* A new class over an extent; last: size of its innermost piece, or NULL. */
int new_class(maker *m, const char *stem, const char *extent, const char *last);
/* The same axis cut otherwise. */
int clone_class(maker *m, int c);
/* A class that runs over some pieces of another: x/B over its leading ones, x%B over its last. */
int part_class(maker *m, const char *stem, const char *extent, int of, bool last);
int dynamic_class(maker *m, const char *stem);
const char *axis_of(const maker *m, int c);
const char *extent_of(const maker *m, int c);

int add_input(maker *m, const char *stem, const char *role, int rank, const char *const *extents);
/* An input indexed by exactly these axes; weight: percent of those that are a weight. */
int add_operand(maker *m, const char *stem, int weight, int rank, const int *classes);
/* Says how an index tensor is filled. */
void fill_input(maker *m, int t, bool pointers, const char *limit);

/* A stage: its axes, spatial ones first, then its reads into a text, then the text. */
int begin_stage(maker *m, const char *stem);
void add_axis(maker *m, int stage, int c, bool reduction);
bool has_axis(const maker *m, int stage, int c);
/* The class to run over dimension d of a tensor: its own, so that loops can be shared. */
int class_of_dim(maker *m, int stage, int tensor, int d);
/* Notes that a stage reads a tensor, and writes the read: index[d] is an expression; classes[d] the
 * axis it is exactly, or -1. */
void read_tensor(maker *m, int stage, int tensor, char index[][RP_EXPR], const int *classes,
                 at_text *out);
void read_plain(maker *m, int stage, int tensor, const int *classes, at_text *out);
/* name[y:Y, x:X] = sum(k:K) body; bounds: of a dynamic reduction. Frees body. */
void finish_stage(maker *m, int stage, at_text *body, const char *bounds);

/* ---- operations: a stage that reads src; what it makes -------------------------------------- */

/* A condition over axes of the stage, or over values (random_maps.c). */
void condition(maker *m, int stage, at_text *out);
/* Another tensor over the same axes, or a new input over some of them. */
void second_operand(maker *m, int stage, at_text *out);
int map_stage(maker *m, int src);
void function_stage(maker *m, int src);
int shift_stage(maker *m, int src);
int pad_stage(maker *m, int src, int from, int n); /* of dimensions from .. from+n-1 */
int reshape_stage(maker *m, int src);

/* What the stage's reduction does; others: percent of those that are no sum (random_sums.c). */
void choose_reduction(maker *m, int stage, int others);
int sum_stage(maker *m, int src);
int normal_stage(maker *m, int src);
int matmul_stage(maker *m, int src);
int conv_stage(maker *m, int src);
int im2col_stage(maker *m);

int bounds_stage(maker *m, int src); /* random_bounds.c */
int steps_stage(maker *m, int src);  /* random_steps.c */
int cycle_stage(maker *m, int src);  /* random_cycles.c */

int sparse_stage(maker *m); /* random_indices.c */
int segment_stage(maker *m, int src);
int gather_stage(maker *m, int src);

/* ---- the two halves of a program ----------------------------------------------------------- */

void make_compute(maker *m); /* random_compute.c */
void make_tree(maker *m);    /* random_tree.c */

#endif
