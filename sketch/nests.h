/* sketch/nests.h: what is chosen for a stage: where it stands, in which nest of loops, which axis
 * goes where in that, and how operands are read. A kind of nest is a row of the table in nests.c;
 * what of it suits a stage, its find says, and its make turns a choice into loops. */
#ifndef AT_NESTS_H
#define AT_NESTS_H

#include "sketch/limits.h"
#include "sketch/tile.h"

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
    int unrolled;    /* a short reduction, the innermost and written out */
    int fours;       /* the reduction of which dot products take four terms at once */
    int blocked;     /* a long one, in blocks that several tiles share; sums are then in memory */
    bool all;        /* all reductions are written out */
    bool rows_first; /* rows outside of what lanes are a part of */
    bool panels;     /* blocks of the reduction outside of rows */
    bool shared_out; /* parts of the blocked one are summed by threads, and added up behind */
    bool late;       /* what reads the sums goes over those of several tiles */
    operand_read read[SKETCH_MOST_NEAR];
    int num_reads;
    int with[SKETCH_MOST_WITH], num_with; /* stages whose sums the nest has, too */
} nest_choice;
enum { NEST_MOST_CHOICES = 12 };

typedef struct nest_choices {
    nest_choice of[NEST_MOST_CHOICES];
    int num;
} nest_choices;

/* Adds the choices that suit a stage; none: the row says nothing of it. */
typedef void nest_find(const sketch_state *s, int stage, nest_choices *out);
/* Makes the loops; what cannot be made after all is no sketch. */
typedef at_status nest_make(sketch_state *s, int stage, const nest_choice *c, at_error *err);

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
void sketch_visit(int stage, sketch_states *states, at_error *err);

/* Where a written stage stands (partial.c); vectors without a tile (nest_lanes.c); points of few
 * parts (nest_points.c); blocks of rows and columns (nest_blocks.c); what goes on from step to step
 * (nest_steps.c); register tiles (tile_choices.c, tile.c). */
nest_find nest_find_written, nest_find_plain, nest_find_groups, nest_find_lanes, nest_find_list,
    nest_find_flat, nest_find_points, nest_find_blocks, nest_find_running, nest_find_step,
    nest_find_tile, nest_find_dots, nest_find_late, nest_find_near, nest_find_windows,
    nest_find_pointers, nest_find_tile_with, nest_find_lanes_with;
nest_make nest_make_written, nest_make_plain, nest_make_groups, nest_make_lanes, nest_make_list,
    nest_make_flat, nest_make_points, nest_make_blocks, nest_make_running, nest_make_step,
    nest_make_tile;

#endif
