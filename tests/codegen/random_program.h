/* tests/codegen/random_program.h: random computations with random loop trees, as texts in the two
 * notations and numbers for their sizes. Texts and numbers are apart, so that a failing program can
 * be made smaller by changing numbers and annotations only. */
#ifndef AT_TESTS_RANDOM_PROGRAM_H
#define AT_TESTS_RANDOM_PROGRAM_H

#include "schedule/schedule.h"

enum {
    RP_NAME = 20,
    RP_EXPR = 120,
    RP_SIZES = 120,
    RP_NODES = 200,
    RP_INDICES = 4,
    RP_FUSED = 12,
};

typedef struct rp_size {
    char name[RP_NAME];
    int64_t value;      /* base size: may be made smaller */
    char expr[RP_EXPR]; /* of sizes above; "": value */
} rp_size;

/* How an index tensor is filled: positions 0 .. limit, ascending; or any values below limit; or, in
 * turn, those and the smallest, the largest and other numbers of 32 bits. */
typedef struct rp_index {
    char tensor[RP_NAME];
    bool pointers, edges;
    char limit[RP_EXPR];
} rp_index;

/* A loop or a leaf of the tree; node 0 is the root. */
typedef struct rp_node {
    bool is_leaf;
    char leaf[2 * RP_EXPR];
    int num_pieces;
    char piece[RP_FUSED][RP_NAME];
    int fixed;         /* extent written in the tree, 0: none */
    char dyn[RP_NAME]; /* axis in dyn(...), "": not dynamic */
    bool reduce;       /* counts a reduction */
    at_ann ann;
    bool own_line; /* starts a line even where it need not */
    int parent, child, next;
} rp_node;

typedef struct random_program {
    uint64_t seed;
    int nans;  /* each so many'th element of its inputs is not a number; 0: none */
    int range; /* of the values of its inputs, -range .. range; 0: as large as sums are exact */
    char compute[8000];
    int num_sizes, num_indices, num_nodes;
    rp_size size[RP_SIZES];
    rp_index index[RP_INDICES];
    rp_node node[RP_NODES];
    const char *tree; /* the tree as text, instead of nodes; NULL: of nodes */
    const struct built
        *entries_of; /* its index tensors have the ranges of these; NULL: their own */
    bool pack_inline;
    bool full; /* a table above was too small: not to be used */
} random_program;

void random_program_make(uint64_t seed, random_program *p);
void random_program_sizes(const random_program *p, at_text *out); /* "N=3, Y=N*2" */
void random_program_tree(const random_program *p, at_text *out);

/* ---- a program with numbers ---------------------------------------------------------------- */

typedef struct built {
    at_arena *arena;
    at_symbols symbols;
    int64_t values[RP_SIZES];
    at_compute *compute;
    at_tree *tree;
    at_program *program;
    int range;               /* float inputs are integers in -range .. range */
    at_data *data;           /* [tensor] inputs */
    at_index_range *entries; /* [tensor] of index tensors that the program says nothing about */
    at_error err;
} built;

/* Why a program is not used; REFUSED is for those that the notation or the verifier refuses. */
typedef enum use { USE_OK, USE_REFUSED, USE_TOO_LARGE } use;
/* Parses, builds, verifies and fills the inputs. Makes the arena; build_close frees it. */
use build_open(built *b, const random_program *p);
void build_close(built *b);
int64_t build_elements(const built *b, int tensor);

/* ---- shrinking ----------------------------------------------------------------------------- */

/* Makes *p smaller as long as fails() stays true. */
void random_program_shrink(random_program *p, bool (*fails)(void *context, const random_program *p),
                           void *context);

#endif
