/* cost/estimate_int.h: a leaf of the tree in numbers: the loops around it, and how its accesses
 * move in them. */
#ifndef AT_COST_ESTIMATE_INT_H
#define AT_COST_ESTIMATE_INT_H

#include "codegen/tile/tile_parts.h"
#include "cost/cost.h"
#include "cost/estimate_terms.h"
#include "cost/estimate_work.h"
#include "schedule/access.h"

/* A way of the nearest cache. Steps of so many bytes come to the same place again, and steps of a
 * power of two come to few places. */
enum { WAY_BYTES = 4096, EST_LINE_BYTES = 64 };
enum {
    MAX_LEAVES = 64,
    MAX_LOOPS = 24,
    MAX_READS = 32,
    MAX_DIMS = 10,
    MAX_SIZES = 8,
    MOST_SIZES_THROUGH = 20,
    MOST_SIZES_ASKED = 32
};

typedef struct est_loop { /* around a leaf: a piece of a loop of the tree with several turns */
    const at_node *node;
    int name; /* of the piece */
    at_ann ann;
    int axis; /* of the leaf that it moves; -1: none, the leaf is done again */
    bool sums, is_dynamic;
    bool is_part;    /* it goes through the parts of a tile, as many as there are in the mean */
    bool is_peeled;  /* conditions make each of its turns another code */
    bool is_run;     /* of a vector that lowering makes two loops of, which it cuts no further */
    bool is_shifted; /* of a vector: where its elements lie is no sum of loops */
    bool is_dot;     /* its turns are the terms of one dot product of bytes to a lane */
    double turns;
    int64_t coef;  /* of the axis */
    double extent; /* of the axis; its loops together may go further */
    int64_t run;   /* of a vector: turns in which every access goes on in the same steps */
} est_loop;

typedef struct est_buffer { /* where a tensor lies, the same for all accesses */
    bool is_known;
    int num_dims, scope;      /* depth of the loop that it lives in; -1: none */
    int64_t bytes;            /* of an element */
    int64_t extent[MAX_DIMS]; /* of the tensor */
    double limit[MAX_DIMS];   /* of what is there of it */
    int64_t stride[MAX_DIMS]; /* elements from one to the next along it */
    double places[MAX_DIMS];  /* places of the nearest cache's way that steps along it reach */
    uint64_t hash;            /* of the scope, limits and strides */
} est_buffer;

typedef struct est_access {
    int tensor, num_dims, read; /* read: of the stage's; -1: it is written */
    const est_buffer *buffer;
    bool written;
    bool is_through;              /* what reads it is read through stages that are computed there */
    bool in_registers;            /* a sum that its tile keeps */
    bool piles_up;                /* somewhere: crowd is more than bytes */
    uint32_t moves;               /* bits: loops in another turn of which it touches others */
    uint32_t turned;              /* bits: dimensions that no straight way goes through */
    uint32_t single;              /* bits: loops along which lowering goes element by element */
    double origin[MAX_DIMS];      /* where its loops begin */
    uint8_t skip[MAX_LOOPS];      /* turns from one to the next that touches some of the same */
    uint16_t moved[MAX_LOOPS];    /* bits: dimensions with a reach */
    int64_t step[MAX_LOOPS];      /* elements from one turn to the next */
    double lines[MAX_LOOPS + 1];  /* touched by loops from this one on */
    double joints[MAX_LOOPS + 1]; /* of these lines, those in which two rows meet */
    double counted[MAX_LOOPS + 1]; /* share of them that terms which count read */
    double crowd[MAX_LOOPS + 1];   /* bytes, as if all places were as full as those it reaches */
    double reach[MAX_LOOPS][MAX_DIMS]; /* how far the loop's last turn is from its first */
} est_access;

/* A leaf with such numbers, as it was worked out at the last point that had them. */
enum { MOST_NUMBERS = 192, FORMS = 16, EST_SEEN_BESIDE = 3 };
typedef struct est_form {
    uint64_t made; /* no two have the same; 0: nothing of it is known but its loops */
    int num_loops, num_accesses, num_numbers; /* num_numbers -1: too many, it is no other's */
    int tail;                                 /* of the leaf, where none of the loops is peeled */
    bool is_split;                            /* its loops are others than the tree's by now */
    bool is_peeled;                           /* one of the loops is */
    uint32_t registers;                       /* bits of the accesses in registers */
    const est_terms *terms;
    int64_t *number; /* [num_numbers] that all of it but where tensors lie depends on */
    uint64_t *lies;  /* [num_accesses] where the tensors lay: hashes */
    uint64_t *shown; /* [num_shown] hashes of what others see of it: estimate_form.c */
    int num_shown;
    uint32_t shown_registers; /* `registers` at that time */
    at_estimate own;          /* with its end */
    uint64_t *seen;           /* [num_seen] what that depends on beside the form itself */
    int num_seen;
    est_loop loop[MAX_LOOPS]; /* outermost first */
    est_access access[];      /* what it writes, then what it reads */
} est_form;

typedef struct est_leaf {
    const at_node *node;
    const at_tensor *stage;
    int place; /* among the leaves */
    int num_loops, num_accesses;
    est_loop *loop;     /* of its form, as accesses are */
    est_access *access; /* what it writes, then what it reads */
    const est_terms *terms;
    const struct est_leaf *end; /* of a sum: what uses it up in the same tile, from registers */
    int root;                   /* the first loop of that tile */
    int tail;                   /* the first loop from which on all are unrolled */
    int together;               /* sums in it, this one included */
    bool in_blocks;             /* its tile stands in loops over tiles, inside of its own sum */
    bool is_beside;             /* it is none of these sums' first */
    bool is_end_of_other;       /* an earlier sum ends in the same */
    /* A leaf that is made by cutting has nothing of what follows. */
    bool is_new;     /* its form is another than at the point before */
    est_form *form;  /* the one at hand */
    unsigned filled; /* the last fill of its node and the loops around it, when that was taken */
    est_form *forms[FORMS];
    uint64_t hash[FORMS]; /* of their numbers */
    int num_forms, most_forms;
    unsigned asked, found; /* how often a form was asked for, and was among the kept ones */
    bool is_conditional;   /* some terms of the sum may not count */
    const int *sizes;      /* [num_sizes] that its reads depend on, slots of values */
    int num_sizes;         /* -1: too many */
} est_leaf;

enum { KEPT_TERMS = 256 };
typedef struct est_stage {                       /* what no configuration changes, but for terms */
    const at_expr *const *read, *const *written; /* without bounds; as they are written */
    int num_reads;
    bool selects;                      /* it has a condition itself */
    bool is_conditional;               /* it does, or a stage that it reads */
    uint32_t bounded, bounded_through; /* bits: axes in a bounded index; in one of what it reads */
    uint32_t by_data;                  /* the same: compared with what an index tensor holds */
    const est_terms *kept[KEPT_TERMS]; /* terms of programs, by their hash */
    int sizes_asked[MOST_SIZES_ASKED]; /* that terms may hang on, slots of values */
    const bool *asked_in, *through_in; /* the tree's stages that are dissolved then, or NULL */
    int num_sizes_asked;               /* -1: more than these: all are taken to count */
    double operations;                 /* arithmetic per element */
    est_works own, through;            /* what it takes; with that of dissolved stages */
    uint16_t moved_by[MAX_READS][32];  /* bits: dimensions whose index an axis is in */
    bool listed[MAX_READS][MAX_DIMS];  /* it depends on what an index tensor holds */
    bool divides[MAX_READS][MAX_DIMS]; /* it is not affine */
    int sizes[MAX_READS][MAX_DIMS][MAX_SIZES];        /* that it depends on, slots of values */
    int num_sizes[MAX_READS][MAX_DIMS];               /* -1: more than these */
    int sizes_through[MAX_READS][MOST_SIZES_THROUGH]; /* the same of a read and what it passes on */
    int num_sizes_through[MAX_READS];
    const at_expr *passed_on; /* a read that this stage is nothing but; NULL: it is more */
} est_stage;

/* How an index moves in a loop, as worked out before for the same sizes. */
typedef struct est_move {
    const at_expr *index; /* NULL: none is kept here */
    int axis;
    int64_t coef, turns, sizes[MAX_SIZES];
    int64_t origin, one; /* at the first turn, and from there to the second */
    double reach;        /* how far from the first turn it comes */
} est_move;
enum { MOVES = 1024 };

/* The same of what is read through stages, in all dimensions. */
typedef struct est_way {
    const at_expr *read; /* the first of them; NULL: none is kept here */
    int num, axis;       /* reads, one through the other */
    uint64_t hash;       /* of what does not depend on the loop */
    int64_t coef, turns, sizes[MOST_SIZES_THROUGH], stride[MAX_DIMS];
    int64_t step, run; /* run: as est_loop's; 0: not asked yet */
    bool straight;     /* all turns are such steps */
    uint32_t moves;    /* bits: dimensions */
    uint32_t turned;   /* the same of those in which it goes back */
    double reach[MAX_DIMS];
} est_way;
enum { WAYS = 2048 };

/* What is kept of one program from point to point. */
typedef struct est_tree {
    const at_program *program;
    struct est_tree *next;
    bool is_known;  /* the point before was estimated */
    est_leaf *leaf; /* [num_leaves] */
    int num_leaves;
    int8_t *owner; /* [tensor] the leaf that writes it; -1: none */
    int8_t *taker; /* [tensor] the only leaf with accesses that read it; < 0: none, or several */
    uint64_t *readers;  /* [tensor] bits: leaves that read it, themselves or by stages that are
                           computed there, or that read a stage which does */
    est_buffer *buffer; /* [tensor] */
    int8_t (*common)[MAX_LEAVES]; /* [num_leaves] loops that two leaves share */
} est_tree;

struct at_estimator {
    at_arena *arena;
    const at_compute *compute;
    at_estimate_options o;
    at_speeds speeds;
    est_stage *stages; /* [tensor] */
    int room;          /* leaves of a tree at most */
    est_tree *trees;   /* of all programs so far; the next seven are the one at hand's */
    est_leaf *leaf;
    int num_leaves;
    int8_t *owner, *taker;
    uint64_t *readers;
    est_buffer *buffer;
    int8_t (*common)[MAX_LEAVES];
    int8_t *shared_by; /* [tensor] and */
    double *largest;   /* [tensor]: room for estimate_memory.c */
    int64_t *row;      /* [tensor] from one row of the last axis to the next; 0: as long as it is */
    est_move moves[MOVES];
    est_way ways[WAYS];
    uint64_t last_made;                              /* of forms */
    int64_t number[MOST_NUMBERS];                    /* room for those of a leaf */
    uint64_t seen[EST_SEEN_BESIDE + 2 * MAX_LEAVES]; /* and for what its estimate depends on */
    est_leaf cut;                                    /* its loops and accesses are the next two */
    est_loop cut_loop[MAX_LOOPS];
    est_access cut_access[MAX_READS];
    unsigned levels;  /* bits: of the caches, that do not hold everything */
    int num_new;      /* leaves that were worked out for the point at hand */
    at_estimate *out; /* of the leaf at hand */
};

/* Numbers only: fmax and fmin, which look for what is none, are calls. */
static inline double est_max(double a, double b) { return a > b ? a : b; }
static inline double est_min(double a, double b) { return a < b ? a : b; }

/* Elements of a line. */
static inline int64_t est_line(const est_buffer *b) { return EST_LINE_BYTES / b->bytes; }

/* A hash goes on with a number. */
static inline uint64_t est_mixed(uint64_t hash, uint64_t x) {
    return (hash ^ x) * UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
}

/* The same for one that stands for its numbers: of two that differ the same comes once in 2^64. */
static inline uint64_t est_joined(uint64_t hash, uint64_t x) {
    hash = est_mixed(hash, x);
    return hash ^ hash >> 29;
}

static inline bool est_unrolled(const est_loop *l) {
    return l->ann == AT_ANN_UNROLL || l->ann == AT_ANN_VEC || l->is_peeled;
}
static inline int est_tail(const est_leaf *x) {
    int i = x->num_loops;
    while (i > 0 && est_unrolled(&x->loop[i - 1])) i--;
    return i;
}
static inline double est_turns(const est_leaf *x, int from, int to) {
    double n = 1;
    for (int i = from; i < to; i++) n *= x->loop[i].turns;
    return n;
}

/* estimate_terms.c: has the stage a condition in this tree, its own or one of what is computed
 * where it reads? Which terms of the leaf's stage count, kept with the stage. */
bool est_is_conditional(const est_stage *stages, const at_program *p, int tensor);
const est_terms *est_terms_of(at_estimator *e, const at_program *p, const est_leaf *x);

/* estimate_leaf.c: sets e->leaf: all leaves of the kernel that are no initialisation, in order;
 * false: too many of something. */
bool est_leaves(at_estimator *e, const at_program *p);
/* Loops two leaves share. */
static inline int est_common(const at_estimator *e, const est_leaf *x, const est_leaf *y) {
    return e->common[x->place][y->place];
}

/* estimate_form.c: all leaves of the program that are no initialisation, in order, with nothing
 * known of them. NULL: too many. */
est_tree *est_tree_of(at_estimator *e, const at_program *p);
/* Takes the form with the leaf's numbers at this point, if there is one that is not split; else
 * begins one, whose loops are not set. false. */
bool est_take_form(at_estimator *e, const at_program *p, est_leaf *x);

/* Is what the leaf takes, with its end, known? If not, what it depends on is
 * noted as what form->own is of. */
bool est_is_known(at_estimator *e, const est_leaf *x);

/* estimate_access.c: sets the accesses of a leaf but for what they touch; false: too many. */
bool est_tensors(at_estimator *e, const at_program *p, est_leaf *x); /* first: which they are of */
void est_accesses(at_estimator *e, const at_program *p, est_leaf *x);

/* estimate_memory.c: fills lines, crowd and moves, but of what is in registers. */
void est_touch(est_leaf *x);

/* Sets what all leaves touch in one run, a tensor as often as leaves touch it, and levels. */
void est_touched_by_all(at_estimator *e);
/* The least time of a leaf whose output comes line by line from beyond L2; 0 of others. */
double est_written_ns(const at_estimator *e, const est_leaf *x);

/* These add to e->out.
 * estimate_memory.c: lines from beyond each level for one leaf, as if the least recently used went
 * first, that come beside sums, between multiply-adds' own loads, or beside nothing. What access
 * number `apart` (-1: none) has from L2 is told instead of timed, [0], and what from L3, [1]. */
typedef enum est_lines { EST_BESIDE, EST_BETWEEN, EST_ALONE } est_lines;
void est_memory(at_estimator *e, const est_leaf *x, est_lines come, int apart, double *apart_lines);
/* estimate_calls.c: a sum, with the leaf that uses it up (or NULL): the tile are loops from root
 * on. Of several in a tile the first has its calls and time, each its own operations and lines. */
void est_sum(at_estimator *e, const at_program *p, const est_leaf *x, const est_leaf *end,
             int root);

/* estimate_threads.c: the busiest thread's share of a leaf's time; what several wait for. */
double est_share(const at_estimator *e, const est_leaf *x);
void est_add_apart(const at_estimator *e, at_estimate *sum);

#endif
