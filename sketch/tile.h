/* sketch/tile.h: register tiles of sums: which axes they have, and their loops. */
#ifndef AT_SKETCH_TILE_H
#define AT_SKETCH_TILE_H

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
/* Terms of an element's sum, 1 where it sums nothing; 0 where an axis goes as far as data or other
 * axes say, or an index divides it. */
double tile_terms_of(const sketch_state *s, int stage);
/* Lanes along the axis read every so many elements, which a copy would not make faster. */
bool tile_is_picked(const sketch_state *s, int stage, const at_access *x, int axis);
/* Of what lanes along vec read, rows need the same. */
bool tile_reuses(const sketch_state *s, int stage, int vec, int row);
/* Whether padding or the like cuts into this axis: its loop is peeled, and runs by itself. */
bool tile_is_guarded(const sketch_state *s, int stage, int axis);
/* The axis of the lanes: the last one that is long enough; -1: none. */
int tile_vector_of(const sketch_state *s, int stage);
/* A reduction for the lanes where no axis suits, and rows have something in common; -1: none. */
int tile_dot_of(const sketch_state *s, int stage);
/* The last reduction, where lanes along it read what lies side by side; -1: it is none such. */
int tile_lanes_of(const sketch_state *s, int stage);
/* Whether data decide how much is summed. */
bool tile_has_lists(const at_tensor *t);
/* Of a sum over a list, the axis of the lanes; -1: it is none such. */
int tile_list_of(const sketch_state *s, int stage);
/* How many terms a stage has; in sums over lists as many as the longest of what these go through.
 */
double tile_points(const sketch_state *s, int stage);
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

/* ---- dot products (tile_fours.c) --------------------------------------------------------------
 */

/* Is it a sum of s32 whose terms are products of two elements of a byte each? */
bool tile_sums_bytes(const at_compute *c, const at_tensor *t);
/* The reduction of which four terms are one dot product of a lane, where lanes go along vec; -1:
 * none, and the state says why, where terms are products of bytes. */
int tile_fours_of(sketch_state *s, int stage, int vec);
/* Must the operands of a tile's dot products be copied for that? */
bool tile_packs_fours(const sketch_tile *tile, const at_access *x);

/* ---- loops (tile.c) -------------------------------------------------------------------------- */

/* The leaf, which computes a stage's sums, reads a copy of what an access does, in the order of its
 * loops. *name: the copy's; *first: the outermost of its loops that runs more than once, or NULL
 * (operand_reads.c). */
at_status sketch_copy_blocks(sketch_state *s, const char *leaf, int stage, int vec, int access,
                             const char **name, const char **first, at_error *err);
/* Another sum goes into a loop of the leaf's, the innermost of the reduction that is not written
 * out, in loops of its own, which are made as those of the leaf were since edit `first`
 * (tile_readers.c). */
at_status sketch_sum_beside(sketch_state *s, const char *leaf, int other, const char *loop,
                            const sketch_edit *first, at_error *err);

#endif
