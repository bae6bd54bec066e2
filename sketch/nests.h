/* sketch/nests.h: what is chosen for a stage: where it stands, in which nest of loops, which axis
 * goes where in that, and how operands are read. A kind of nest is a row of the table in nests.c;
 * what of it suits a stage, its find says, and its make turns a choice into loops. */
#ifndef AT_NESTS_H
#define AT_NESTS_H

#include "sketch/limits.h"
#include "sketch/sketch_int.h"
#include "sketch/tile_axes.h"

/* How tiles read an operand that is not read as it lies. */
typedef enum read_kind {
    READ_NEAR,     /* a copy of a block, in the order of use, right before its tiles */
    READ_PANEL,    /* the same of rows, in blocks of a reduction */
    READ_WINDOWS,  /* the same, where lanes would read windows in steps or across padding: im2col */
    READ_POINTERS, /* rows by a list of places */
    READ_TURNED    /* as it lies, and turned round in registers */
} read_kind;
typedef struct operand_read {
    int access;
    read_kind how;
} operand_read;

/* Axes of the stage; -1: none. */
typedef struct nest_choice {
    const char *of;  /* the axis or stage that the name says; NULL: it says nothing */
    int vec;         /* of the lanes; of a dot product a reduction */
    int row, second; /* unrolled beside each other */
    int beside;      /* the one before vec, where lanes go through rows of both */
    int unrolled;    /* a short reduction, the innermost and written out */
    int fours;       /* the reduction whose terms dot products take four at once */
    int blocked;     /* a long one, in blocks that several tiles share; sums are then in memory */
    bool all;        /* all reductions are written out */
    bool rows_first; /* rows outside of what lanes are a part of */
    bool by_rows;    /* what reads the sums stands behind the tiles of a row of them */
    bool panels;     /* blocks of the reduction outside of rows */
    bool shared_out; /* parts of the blocked one are summed by threads, and added up behind */
    bool groups;     /* lanes go through several groups */
    bool late;       /* the sums' reader goes over the sums of several tiles */
    operand_read read[SKETCH_MOST_NEAR];
    int num_reads;
    int height; /* tiles of a block that stand below each other by default; 0: as many as usual */
    int with[SKETCH_MOST_WITH], num_with; /* stages whose sums the nest has, too */
    /* "both" alone, [axis of with[0]]: the axis of the stage that goes with it. */
    int axis_of[AT_FACTS_MAX_AXES];
} nest_choice;
enum { NEST_MOST_CHOICES = 12 };

typedef struct nest_choices {
    nest_choice of[NEST_MOST_CHOICES];
    int num;
} nest_choices;

/* Adds the choices that suit a stage; none: the row says nothing of it. */
typedef void nest_find(const sketch_state *s, int stage, nest_choices *out);
/* Makes the loops; what cannot be made after all is no sketch. */
typedef at_status nest_make(sketch_state *s, int stage, const nest_choice *c);

typedef struct nest_row {
    const char *word; /* "tile", as in tile_j; NULL: the name says nothing */
    bool in_cycles;   /* also of stages that read each other, within a step */
    bool is_only;     /* where it makes a sketch no later row is looked at */
    nest_find *find;
    nest_make *make;
} nest_row;

/* One more choice, with lanes along vec and no other axes; of: as in nest_choice. */
nest_choice *nest_add(nest_choices *out, const char *of, int vec);
/* The same, called by the axis of its lanes. */
nest_choice *nest_add_axis(nest_choices *out, const sketch_state *s, int stage, int vec);
void nest_read(nest_choice *c, int access, read_kind how);
/* Does a tile read copies, or rows by a list of places? */
static inline bool nest_copies(const nest_choice *c) {
    return c->num_reads && c->read[0].how != READ_POINTERS;
}
static inline bool nest_has_pointers(const nest_choice *c) {
    return c->num_reads && c->read[0].how == READ_POINTERS;
}
/* Visits a stage: all choices of all states. */
void sketch_visit(int stage, sketch_states *states);

/* Where a written stage stands (partial.c); vectors without a tile (nest_lanes.c); points of few
 * parts (nest_points.c); blocks of rows and columns (nest_blocks.c); what goes on from step to step
 * (nest_steps.c); sums whose terms have places (nest_scatter.c); blocks of rows through chains
 * (nest_through.c), of columns (nest_columns.c); strips channel by channel (nest_strip.c); partial
 * sums in lanes (nest_parts.c); a tensor's rows and columns (nest_both.c); register tiles
 * (tile_choices.c, tile.c). */
nest_find nest_find_written, nest_find_plain, nest_find_groups, nest_find_lanes, nest_find_list,
    nest_find_flat, nest_find_points, nest_find_blocks, nest_find_running, nest_find_step,
    nest_find_tile, nest_find_dots, nest_find_late, nest_find_near, nest_find_windows,
    nest_find_pointers, nest_find_tile_with, nest_find_lanes_with, nest_find_scatter,
    nest_find_through, nest_find_through_rows, nest_find_columns, nest_find_narrow,
    nest_find_narrower, nest_find_few, nest_find_parts, nest_find_strip, nest_find_both;
nest_make nest_make_written, nest_make_plain, nest_make_groups, nest_make_lanes, nest_make_list,
    nest_make_flat, nest_make_points, nest_make_blocks, nest_make_running, nest_make_step,
    nest_make_tile, nest_make_scatter, nest_make_through, nest_make_columns, nest_make_parts,
    nest_make_strip, nest_make_both;

/* ---- reads (starts.c) ------------------------------------------------------------------------ */

/* The axis of a stage that a read of its body takes apart: one index is its rest, the quotient is
 * in another one, as x%C and x/C - P are; -1: there is none. */
int nest_parted_axis(const at_expr *body);

/* ---- stages in blocks of another one (nest_columns.c) ---------------------------------------- */

/* Stages that stand in the loop of the blocks of another one, as all that reads them does. */
typedef struct nest_members {
    sketch_state *s;
    int of;
    bool *is_member; /* [tensor] that stage is one, too */
    int **axis_of;   /* [tensor][axis of that stage] the member's that goes with it; -1: none */
} nest_members;
void nest_open_members(nest_members *m, sketch_state *s, int of);
/* Whether all that reads a stage is a member; then its axes that go with those of the blocks are
 * known: none does where readers differ. */
bool nest_is_read_within(nest_members *m, int stage);
/* Whether loops over whole axes suit a stage, and it stands nowhere yet. */
bool nest_may_join(const sketch_state *s, int stage);
/* The same, where indices that divide axes are no matter. */
bool nest_may_stand_beside(const sketch_state *s, int stage);
/* Do lanes go through the last axis of a stage in groups of a few elements (nest_lanes.c)? */
bool nest_has_groups(const sketch_state *s, int stage);
/* Splits the last axis into three loops: over blocks of groups, over the elements of a group, which
 * is written out, and over lanes. */
at_status nest_split_into_groups(sketch_state *s, int stage, const char **parts);
/* All that follows from a sum before the later one stands beside its tile (tile_choices.c). */
bool nest_can_wait(const sketch_state *s, int sum, int later, bool is_tile);

/* ---- loops (tile.c) -------------------------------------------------------------------------- */

/* The leaf, which computes a stage's sums, reads a copy of what an access does, in the order of its
 * loops. *name: the copy's; *first: the outermost of its loops that runs more than once, or NULL
 * (operand_reads.c). */
at_status sketch_copy_blocks(sketch_state *s, const char *leaf, int stage, int vec, int access,
                             const char **name, const char **first);
/* The leaf of a stage reads a copy of what an access does, in the order of its lanes, once for each
 * turn of a loop of them, whether or not that moves it (operand_reads.c). */
at_status sketch_copy_lanes(sketch_state *s, const char *leaf, int stage, int access);
/* A leaf of stage t adds up the parts of its sum, in vectors, in loop `copies` of these; first: a
 * loop around all others, or NULL. *outer: what the vectors left of the last axis. */
at_status sketch_add_up(sketch_state *s, const at_tensor *t, const char *leaf, const char *first,
                        const char *copies, const char **outer);
/* The loops of another sum are made as those of the leaf were since edit `first`. axis_of: [axis of
 * other] the leaf's that it goes with; NULL: that of the same number (tile_readers.c). */
at_status sketch_loops_of(sketch_state *s, const char *leaf, int other, const int *axis_of,
                          const sketch_edit *first);
/* Another sum goes into a loop of the leaf's, the innermost of the reduction that is not written
 * out, in such loops of its own. */
at_status sketch_sum_beside(sketch_state *s, const char *leaf, int other, const char *loop,
                            const sketch_edit *first);

/* ---- a register tile while its loops are made ------------------------------------------------ */

typedef struct tile_loop {
    const char *name;
    int axis;
} tile_loop;

typedef struct tiling {
    sketch_state *s;
    const char *name[AT_FACTS_MAX_AXES]; /* of the loop that is tiled: the axis', or its groups' */
    int stage;
    nest_choice choice;
    const char *leaf;
    const char *phase[AT_FACTS_MAX_AXES]; /* loop of an axis' phases; NULL: it has none */
    const char *part;    /* loop of the parts of a sum that is shared out, or NULL */
    const char *rest[3]; /* of such a sum: blocks, steps, those that are written out */
    /* outer: of axes that move what lanes read; shared: of others */
    AT_VEC(const char *)
    columns, outer, shared, inside, phases, guarded, blocks, middle, sums, rows;
    AT_VEC(tile_loop) loops; /* which axis those outside of the tile run; others: groups, phases */
    const char *column;      /* the one of middle that runs over the columns of a block, or NULL */
    const char *vector;
    const char *group;       /* loop of the groups that lanes go through; NULL: there is none */
    const char *fours;       /* loop of the terms of a dot product; NULL: there is none */
    const char *lanes_outer; /* of lanes along a reduction: what is left of it */
} tiling;

static inline bool tile_is_dot(const tiling *t) {
    return t->choice.vec >= t->s->facts->compute->tensors[t->stage].num_axes;
}

/* ---- what stands beside the sum (tile_readers.c) --------------------------------------------- */

/* What reads the sums goes into `loop`. */
at_status tile_put_readers(tiling *t, const char *loop);
/* A tile of several sums, as packing knows it: that of the i-th other one, or its own for -1. */
void tile_keep(tiling *t, int i, const char *leaf, const char *inner);
/* Parts of a sum are added up in vectors, and what reads the sums stands beside that. */
at_status tile_join_parts(tiling *t);
/* What else the reader beside a tile takes from afar, such as an addend, is asked for while the
 * next rows are summed. */
at_status tile_ask_ahead(tiling *t);
/* What reads the sums of a block goes over its rows, as they lie in memory: tiles would read and
 * write a line here and there of all rows, which no prefetcher follows. What stands beside tiles of
 * late readers goes over them as the tiles did. */
at_status tile_order_reader(tiling *t);

/* ---- rewrites, before any stage has a nest --------------------------------------------------- */

/* Rewrites a stage where that serves; false: the state is thrown away. New stages stand before the
 * stage. given: as for s->before. */
typedef bool rewrite_stage(sketch_state *s, int stage, const at_facts_given *given);
/* What sums sum (rewrite_sums.c), under which conditions (rewrite_padding.c); their operands
 * (rewrite_operands.c); in which order tensors are stored (rewrite_layout.c). */
rewrite_stage rewrite_ranges, rewrite_quotients, rewrite_bounded, rewrite_spread, rewrite_phases,
    rewrite_padding, rewrite_terms, rewrite_branches, rewrite_operands, rewrite_unpacked,
    rewrite_words, rewrite_shifted, rewrite_apart, rewrite_places, rewrite_search, rewrite_last,
    rewrite_first, rewrite_turned;

/* The same of all stages at once. */
typedef bool rewrite_all(sketch_state *s, const at_facts_given *given);
rewrite_all rewrite_inlined;

#endif
