/* sketch/sketch_int.h: a sketch being derived, and the rules that derive it. */
#ifndef AT_SKETCH_INT_H
#define AT_SKETCH_INT_H

#include "sketch/sketch.h"

enum { SKETCH_MOST_NEAR = 2, SKETCH_MOST_WITH = 3 };

/* What is derived from: a computation with its sizes, whose arguments have values. */
typedef struct sketch_derivation {
    const char *name, *args, *record_args; /* as in at_template_row */
    const at_compute *compute;
    const at_tree *tree;              /* the part of it that somebody wrote; NULL: nothing */
    const at_definition *definitions; /* sizes; with a tree, also the knobs that it has */
    int num_definitions;
    const at_symbols *symbols; /* arguments and sizes, and their values */
    const int64_t *values;
    const bool *varies; /* [sizes] that knobs decide; NULL: none */
    at_symbols *names;  /* of the computation; shared by all states, which add theirs */
} sketch_derivation;

/* A stage as it stands in the tree: the tile that computes it. */
typedef struct sketch_tile {
    int stage;         /* of the original computation */
    const char *leaf;  /* the stage that sums: its name, or its copy's */
    int vec, row;      /* axes; -1: none */
    int fours;         /* the reduction of dot products; -1: none */
    const char *inner; /* the last loop around the tile and what stands beside it */
    int near[SKETCH_MOST_NEAR], num_near; /* accesses that are copied in its loops already */
    int with[SKETCH_MOST_WITH], num_with; /* other stages that the tile computes */
} sketch_tile;

/* A loop whose annotation a knob decides. */
typedef struct sketch_mark_knob {
    const char *stage, *piece, *size;
    bool may_vec;
} sketch_mark_knob;

/* Of the ways that a question about a stage left open, the one taken (steps.c). */
typedef struct sketch_choice {
    int stage, question, num_ways, way;
} sketch_choice;

/* A loop of a stage that was split: how, its length as text, and its parts. */
typedef struct sketch_split_of {
    int stage, n;
    at_policy policy;
    const char *filter, *listed, *axis; /* axis: NULL where the loop runs no axis as a whole */
    const char *parts[8];
} sketch_split_of;

typedef struct sketch_edit sketch_edit;
struct sketch_edit { /* shared by all states that went on from there */
    at_edit edit;
    const sketch_edit *before; /* NULL: it is the first */
};

typedef struct sketch_state {
    at_arena *arena;
    const sketch_derivation *from;
    const at_facts *before; /* of the original computation */
    const at_facts *facts;  /* of what rules begin with: with some of its stages inlined */
    at_symbols *symbols;    /* shared by all states; names are added, never moved */
    const at_compute *compute;
    at_tree *tree;
    int *tree_users; /* how many states have the tree; NULL: others may look at it, too */
    AT_VEC(at_definition) definitions;
    AT_VEC(at_split_limits) limits;
    const sketch_edit *last; /* so far */
    AT_VEC(sketch_tile) tiles;
    AT_VEC(sketch_mark_knob) marks;    /* where a tree was begun by hand */
    const at_tree *begun;              /* that tree, complete; NULL: it began as the plain one */
    const at_tree *written;            /* and as it was written */
    bool keeps_weights, joins_weights; /* no operand, or one at least, is of weights alone */
    bool pairs;                        /* of bf16 are terms of dot products */
    bool words;                        /* bytes are widened to s16 for these */
    const char *const *strips;         /* as in sketch_start */
    bool bounds;                       /* sums are 0 where nothing counts of them */
    AT_VEC(const char *) operands;     /* stages that are packed like tensors */
    AT_VEC(const char *) kept;         /* copies, which are not dissolved */
    const char *name;
    at_preference preference; /* what its sketches are the default for */
    const char *undotted;     /* as in at_sketch */
    const int *like;  /* [tensors] the first visited of the stages that are alike, or itself */
    int visited;      /* the stage that rules look at; -1: none */
    int row, choice;  /* how the stage was placed that was visited last (nests.c) */
    at_arena *trials; /* of states that are tried and dropped; shared by all, reset by each */
    AT_VEC(sketch_choice) ways; /* of stages that others may be like */
    AT_VEC(sketch_split_of) splits;
} sketch_state;
typedef AT_VEC(sketch_state *) sketch_states;
int sketch_stages(const sketch_state *s); /* how many stages need loops */
/* Sketches of a computation, and ways to go on with one: SKETCH_MOST, where it has many stages
 * fewer, since each edit of each sketch takes as long as the tree. */
int sketch_most(const sketch_state *s);

/* Stages that are alike go the same way (steps.c). [tensors], in a. */
const int *sketch_find_twins(at_arena *a, const at_facts *f);
/* A question about a stage that has several answers (ways): the answer of the stage that is its
 * twin; -1: the stage has no twin, or the twin had other answers. Then, the stage's own answer. */
enum { SKETCH_ASK_RULES = 0, SKETCH_ASK_PACKED = 1000, SKETCH_ASK_COPIED = 2000 }; /* + access */
int sketch_twin_choice(const sketch_state *s, int stage, int question, int num_ways);
void sketch_record_choice(sketch_state *s, int stage, int question, int num_ways, int way);

/* The same once more, to go on from; word: what is added to its name, "" for nothing. */
sketch_state *sketch_branch(const sketch_state *s, const char *word);
/* The state is given up: nobody goes on with it, or looks at its tree. */
void sketch_leave(sketch_state *s);
/* How many rows a tile may have, for a listed split. */
#define SKETCH_ROWS "1 2 3 4 5 6 7 8 10 12 13 14 16 20 24 28"
/* One edit, kept among the steps. */
at_status sketch_step(sketch_state *s, const at_edit *e);
/* Edits that need a stage alone: AT_EDIT_DISSOLVE, AT_EDIT_RUNNING, AT_EDIT_SCATTER. */
at_status sketch_step_of(sketch_state *s, at_edit_kind kind, const char *stage);
/* AT_EDIT_NEST or AT_EDIT_JOIN: a stage into a loop around `other`, before what is there, or behind
 * it. */
at_status sketch_put(sketch_state *s, at_edit_kind kind, const char *stage, bool before,
                     const char *other, const char *loop);
/* The first loop takes the place of all n; of one loop nothing is to be done. */
at_status sketch_fuse(sketch_state *s, const char *stage, const char *const *loops, int n);
/* The same, and threads share the loop that it becomes; none: nothing is to be done. */
at_status sketch_share_out(sketch_state *s, const char *stage, const char *const *loops, int n);
/* AT_EDIT_FACTOR, AT_EDIT_TURN or AT_EDIT_ACROSS: makes stage `name` of a stage and its loop. */
at_status sketch_make(sketch_state *s, at_edit_kind kind, const char *stage, const char *other,
                      const char *loop, const char *name);
/* Attributes of a leaf, as a tree's text has them; a sum is summed in stage `name` and copied. */
at_status sketch_attribute(sketch_state *s, const char *stage, const char *text);
at_status sketch_copy_sum(sketch_state *s, const char *stage, const char *name);
const at_edit *sketch_edits(const sketch_state *s, int *n); /* all of them, the first one first */
/* Whether a text has a name among its words. */
bool sketch_has_word(const char *text, const char *word);
/* Whether a size, tensor, axis or loop of this sketch has the name. */
bool sketch_is_taken(const sketch_state *s, const char *name);
/* tile_AXIS, or, where there is one already, tile_STAGE_AXIS. */
const char *sketch_fresh_knob(const sketch_state *s, const char *stage, const char *axis);
/* A name that neither size, tensor, axis nor loop has. */
const char *sketch_fresh(const sketch_state *s, const char *like);
/* The same made of another name: FROM_word. */
const char *sketch_fresh_of(const sketch_state *s, const char *from, const char *word);
double sketch_elements(const sketch_state *s, int tensor);
/* Whether an axis goes step by step in a loop around all stages of a cycle. */
static inline bool sketch_is_step(const sketch_state *s, int stage, int axis) {
    return s->facts->of[stage].steps >> axis & 1;
}
/* The loop of a stage's first axis that does not, and has several turns, if any has; NULL: there is
 * none. */
const char *sketch_first_loop(const sketch_state *s, int stage);
/* The loop of a stage's first axis before `end` that has several turns; `other` where none has. */
const char *sketch_first_before(const sketch_state *s, int stage, int end, const char *other);
/* Whether a tensor is a weight, or made of such alone where it is read. */
bool sketch_is_weight(const sketch_state *s, int tensor);
/* Whether a tensor exceeds the caches near the core. */
bool sketch_is_far(const sketch_state *s, int tensor);
/* The loop that runs an axis of a stage into `n` parts by knob tile_AXIS; its parts. limits: [n] of
 * the default; those of a policy whose parts need not divide have tails. */
at_status sketch_split(sketch_state *s, const char *stage, const char *axis, int n,
                       const at_split_spec *spec, const at_part_limit *limits, const char **parts);
/* The same into two by a list of sizes of the second part: parts[0] and parts[1]. */
at_status sketch_split_by(sketch_state *s, const char *stage, const char *axis, const char *listed,
                          at_part_limit second, const char **parts);
/* Into vectors, and what goes over them: parts[0] and parts[1]. */
at_status sketch_split_lanes(sketch_state *s, const char *stage, const char *axis,
                             const char **parts);
/* A reduction's into few terms, which may be written out, and what goes over them, by its factors.
 */
at_status sketch_split_terms(sketch_state *s, const char *stage, const char *axis,
                             const char **parts);
/* Into groups of `size` steps, and what is within a group. */
at_status sketch_split_sized(sketch_state *s, const char *stage, const char *axis, const char *size,
                             const char **group, const char **within);
/* The loop of axis k into groups, as its divisor has them, and what is within one. */
at_status sketch_split_groups(sketch_state *s, int stage, int k, const char **group,
                              const char **within);
at_status sketch_mark(sketch_state *s, const char *stage, const char *loop, at_ann ann);

/* Trees that somebody began (partial.c). Which stages the text has leaves for, [tensors]; then a
 * state that goes on from it; a stage where what is written asks for it. */
at_status sketch_open_written(at_arena *a, const at_compute *c, const sketch_derivation *d,
                              const at_tree **tree, bool **written, at_error *err);
at_status sketch_start_written(sketch_state *s, const at_tree *tree, at_error *err);
/* Whether a stage stands in the loops of another one already (tile_choices.c, nest_steps.c). */
bool sketch_is_joined(const sketch_state *s, int stage);
/* Has no edit changed its loops, or put anything into them? */
bool sketch_is_untouched(const sketch_state *s, int stage);
/* A reader that stands beside its sum already, or will (nest_lanes.c). */
bool sketch_stands_beside(const sketch_state *s, int stage);
/* What was to stand there, and no tile has taken, goes in vectors by itself. */
void sketch_place_left(sketch_states *states);
/* Stages that need a reduction of a row, beside it in the row's loop (nest_rows.c). */
void sketch_rows(const sketch_state *s, sketch_states *out);
/* Cheap stages and short sums over windows of each other, row by row (nest_chain.c). True: this
 * sketch stands before others. */
bool sketch_chain(const sketch_state *s, sketch_states *out);
/* The loop that runs the last axis of a stage, which sums nothing, in vectors, if it is long
 * enough (nest_lanes.c). outer: what is left of it, or NULL. */
at_status sketch_vectors(sketch_state *s, int stage, const char **outer);
/* The same, and with a long sum of few elements shared out among threads (nest_lanes.c). */
void sketch_factor(const sketch_state *s, sketch_states *out);
/* [tensor] the stages with leaves that read a tensor, also through stages without; the first of
 * these stages, -1: there is none. leaves: [tensor]; NULL: those of the facts. */
const bool *sketch_readers(const sketch_state *s, int tensor, const bool *leaves);
int sketch_first_reader(const sketch_state *s, int tensor, const bool *leaves);
/* A stage that copies another one in its own order stands where it is read, unless it is an output.
 */
at_status sketch_drop_copy(sketch_state *s, const char *name);
/* Facts of what edits made of the computation (steps.c). given: as for s->before. AT_E_INPUT:
 * numbers that do not go together. */
at_status sketch_refresh_facts(sketch_state *s, const at_facts_given *given);
/* An edit, and facts of what it made; false: it cannot be made. */
bool sketch_rewrite_by(sketch_state *s, const at_edit *e, const at_facts_given *given);
/* Is a stage of a computation nothing where conditions say so, of these sizes (rewrite_sums.c)? */
bool sketch_is_bounded(const sketch_state *s, const at_compute *c, int stage);
/* Are there sums that may be stored in another layout (rewrite_layout.c)? */
bool sketch_has_layouts(const sketch_state *s);

/* What sketches begin with. */
typedef struct sketch_start {
    const char *name;
    bool *kept; /* [tensors of the original] stages that are not dissolved; NULL: none */
    const char *const *strips; /* the same of stages that rewrites make, to NULL; NULL: none */
    bool keeps_weights;        /* what is calculated of these alone is no operand */
    bool puts_last;            /* sums are stored in another layout */
    bool pairs;        /* of bf16 are terms of dot products, which not every set is quick at */
    bool words;        /* bytes are widened to s16 for dot products */
    bool bounds;       /* sums are 0 where nothing counts of them */
    bool only_chain;   /* row by row is the one sketch */
    bool is_preferred; /* without, sums would wait in memory */
} sketch_start;
/* Further ones, by what the first one found (starts.c); false: not this one. */
enum { SKETCH_STARTS = 8 };
bool sketch_further_start(const sketch_state *first, int i, sketch_start *out);
/* A leaf asks for the next rows, which are `stride` elements apart, of a tensor that it reads or
 * is; rows: the part that says how many are worked on together, NULL: one (operand_reads.c). */
at_status sketch_prefetch(sketch_state *s, const char *leaf, int tensor, int64_t stride,
                          const char *rows);
/* Finishing touches to every sketch: packing in the order of use (operand_reads.c). */
void sketch_pack(const sketch_state *s, sketch_states *out);
/* A program of a task as a template of one configuration (schedulable_try.c); sizes: "B = 16, k9 =
 * 9", what c and the tree, or a text of one, are made with. Untried. */
at_schedulable *sketch_fixed(at_arena *a, const at_task *t, const char *sizes, const at_compute *c,
                             const at_tree *tree, const char *text);

/* The edits that make a tree with numbers of the plain one over its computation (tree_steps.c),
 * behind those that are in *out. tree: what the program was built from. AT_E_INPUT: it takes more
 * names than an edit has. */
typedef AT_VEC(at_edit) at_edits;
at_status at_tree_steps(at_arena *a, const at_program *p, const at_tree *tree, at_edits *out,
                        at_error *err);

#endif
