/* sketch/tile_axes.h: which axes of a sum lanes, rows and blocks of a register tile go along, and
 * which sums are dot products. Axes and reductions are counted as a stage has them. */
#ifndef AT_TILE_AXES_H
#define AT_TILE_AXES_H

#include "sketch/sketch_int.h"

/* ---- choosing axes (tile_axes.c) ------------------------------------------------------------- */

/* Whether lanes along vec need an operand that is the same for all of them. */
bool tile_shares_operand(const sketch_state *s, int stage, int vec);
/* More than one step, in its group where an index divides it; none of a cycle's steps, whose loops
 * stand around. */
bool tile_goes(const sketch_state *s, int stage, int axis);
/* Whether a copy in the order of use is as large as what it copies: each dimension has an axis of
 * its own, or several axes go through it once, as the heads of attention and what is within them.
 */
bool tile_may_pack(const sketch_state *s, int stage, const at_access *x);
/* Lanes along the axis read what lies side by side, or the same, or every so many elements of a
 * short sum or along the sum; or they would of a copy in blocks. */
bool tile_reads_vectors(const sketch_state *s, int stage, int axis);
/* Has a sum lanes along one of its axes, or along its last reduction? */
bool tile_has_lanes(const sketch_state *s, int stage);
/* Terms of an element's sum, 1 where it sums nothing; 0 where an axis goes as far as data or other
 * axes say, or an index divides it. */
double tile_terms_of(const sketch_state *s, int stage);
/* Is a copy of the tensor along which the stage's lanes go read often enough to be made? Of what
 * goes on from step to step lanes are worth more than a copy costs. */
bool tile_turn_pays(const sketch_state *s, int stage, int tensor);
/* Lanes along the axis read every so many elements, or from last to first, which a copy would not
 * make faster. */
bool tile_is_picked(const sketch_state *s, int stage, const at_access *x, int axis);
/* Of what lanes along vec read, rows need the same. */
bool tile_reuses(const sketch_state *s, int stage, int vec, int row);
/* Do rows have so little in common that they may go in the order of memory, before axes behind? */
bool tile_rows_lead(const sketch_state *s, int stage, int vec, int row);
/* Whether padding or the like cuts into this axis: its loop is peeled, and runs by itself. */
bool tile_is_guarded(const sketch_state *s, int stage, int axis);
/* The axis of the lanes: the last one that is long enough; -1: none. */
int tile_vector_of(const sketch_state *s, int stage);
/* The last reduction, where rows have something in common if lanes go along it; -1: none is. */
int tile_last_sum_of(const sketch_state *s, int stage);
/* The same where none of the stage's axes suits lanes; -1: none. */
int tile_dot_of(const sketch_state *s, int stage);
/* The same where lanes are so few that they are a part of a register alone: at least `from`, fewer
 * than `below`, of sums of many terms; -1: it is none such. */
int tile_narrow_of(const sketch_state *s, int stage, int from, int below);
/* The same where lanes along one of the axes would read a copy of what few elements need, which
 * takes as long to make as they do; -1: none. */
int tile_few_of(const sketch_state *s, int stage);
/* The last reduction, where lanes along it read what lies side by side; -1: it is none such. */
int tile_lanes_of(const sketch_state *s, int stage);
/* Of a sum over a list, the axis of the lanes; -1: it is none such. */
int tile_list_of(const sketch_state *s, int stage);
/* And the axis of rows that go through the same list, of which each reads some of the same; -1:
 * none. */
int tile_list_row_of(const sketch_state *s, int stage);
/* The last reduction of a sum over lists, where lanes along a list read what lies side by side, and
 * whether the lists are long, as far as what is read tells; -1: it is none such. */
int tile_list_lanes_of(const sketch_state *s, int stage, bool *are_long);
int tile_row_of(const sketch_state *s, int stage, int vec);
int tile_second_of(const sketch_state *s, int stage, int vec, int row);
/* Whether all reductions are so short that their terms are written out together. */
bool tile_sums_are_short(const sketch_state *s, int stage);
/* Short reductions beside longer ones, such as the width of a kernel, of which each may be written
 * out: the last one, and one of which rows share what they read. How many; sums: [2]. */
int tile_short_sums(const sketch_state *s, int stage, int row, int second, int *sums);

/* Rows beside the row's, where that has fewer than a tile, or windows share what they read in two
 * directions; -1: none. */
int tile_rows_beside(const sketch_state *s, int stage, int vec, int row);
/* How many rows of such a length, one behind the other, go into a tile's registers of so many
 * lanes: of rows shorter than a register as many as a tile is wide, else as few as end with a whole
 * one; 1: such rows would be too wide. */
int tile_joined_rows(int64_t length, int lanes);
/* A further axis for rows: a step along it reads what one along `row` or `second` does, so that
 * rows along both share vectors, as in the correlation of two pictures; -1: none. */
int tile_third_of(const sketch_state *s, int stage, int vec, int row, int second);
/* A reduction so long that what a tile reads of it exceeds the first-level cache; -1: none. */
int tile_long_sum(const sketch_state *s, int stage, int vec);
/* A reduction so long, of so few sums, that threads share it out rather than these; -1: none. */
int tile_shared_sum(const sketch_state *s, int stage);
/* Whether tiles stand beside each other along the lanes. */
bool tile_has_columns(const sketch_state *s, int stage, int vec);
/* Whether a stage reads a tensor in one place. */
bool tile_reads_once(const sketch_state *s, int stage, int tensor);

/* ---- dot products (tile_dots.c) -------------------------------------------------------------- */

/* Is it a sum of s32 whose terms are products of two elements of a byte each? */
bool tile_sums_bytes(const at_compute *c, const at_tensor *t);
/* Terms of a dot product of a lane, as many elements as 32 bits hold: of a sum of s32 whose terms
 * are products of two bytes or of two s16, of a sum of f32 whose terms are products of two bf16; 0:
 * of another one. */
int tile_dot_terms(const at_compute *c, const at_tensor *t);
/* The reduction of which so many terms are one dot product of a lane, where lanes go along vec; -1:
 * none, and the state says why, where terms are products of integers. */
int tile_fours_of(sketch_state *s, int stage, int vec);
/* How many partial sums of each element fill lanes that its last axis leaves a part of empty; 0: it
 * fills them, or a sum of dot products along its last reduction it is not, or rows do not fill
 * lanes of its reader. */
int tile_parts_of(const sketch_state *s, int stage);
/* Must the operands of a tile's dot products be copied for that? */
bool tile_packs_fours(const sketch_state *s, const sketch_tile *tile, const at_access *x);

#endif
