/* schedule/program.h: a loop tree with numbers, and what is true of it. */
#ifndef AT_SCHEDULE_PROGRAM_H
#define AT_SCHEDULE_PROGRAM_H

#include "schedule/compute_facts.h"
#include "schedule/tree.h"

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
    bool
        is_scatter; /* each term is joined where at_scatter_of says: its axes there have no loops */
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
 * axis. Does a leaf add along this axis where a term's place is? */
int at_leaf_num_counted(const at_program *p, const at_node *leaf);
bool at_leaf_is_placed(const at_compute *c, const at_node *leaf, int axis);
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
