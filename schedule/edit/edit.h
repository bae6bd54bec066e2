/* schedule/edit/edit.h: edits of a loop tree and of the computation below it. An edit changes
 * nothing: it makes another tree (and computation) out of the one it is given. Each checks what it
 * needs and says what is missing; whether the result is legal is for at_program_verify, with
 * numbers. Here are those of the tree alone; edit_compute.h has those of computations, epilogue.h
 * stages behind an output. E1 to E8 cover Ansor's sketch rules and MetaSchedule's primitives on a
 * CPU.
 *
 * A loop is named by a stage and a piece: the loop around that stage's leaf that has it. c is the
 * computation of the result: the old one, or one whose symbols know the new names. The result is
 * owned by a and borrows c. AT_E_INPUT: it cannot be done; the text says why. */
#ifndef AT_SCHEDULE_EDIT_H
#define AT_SCHEDULE_EDIT_H

#include "schedule/schedule.h"

/* The plain tree: each stage in loops of its own, one per axis, in text order (tree_open.c). */
at_status at_edit_plain(at_arena *a, const at_compute *c, at_tree **out, at_error *err);
/* A tree that lacks leaves with those in such loops, each before all that reads it. Pieces that had
 * no extent are sizes of c by now. */
at_status at_edit_complete(at_arena *a, const at_compute *c, const at_tree *t, at_tree **out,
                           at_error *err);

/* ---- over other names (rewrite.c, tree_edit.c) ----------------------------------------------- */

/* The computation over symbols that have all names it uses, maybe in other slots; it shares with c
 * what it can, and lives as long at most. */
at_status at_compute_over(at_arena *a, const at_compute *c, const at_symbols *symbols,
                          const char *what, at_compute **out, at_error *err);
/* The tree over a computation that has its stages and sizes, such as its own over other symbols.
 * may_be_open: as at_tree_parse_open's. Lines stay those of its text, if it was read from one. */
at_status at_tree_over(at_arena *a, const at_tree *t, const at_compute *c, const char *what,
                       bool may_be_open, at_tree **out, at_error *err);

/* A tensor as it was written, copied: changes of the one are none of the other (rewrite.c). */
at_tensor at_tensor_copy(at_arena *a, const at_tensor *t);
/* Changes each read of a tensor in a stage's text, in place. Returns how many there are. */
int at_tensor_change_reads(at_tensor *reader, const char *tensor, at_expr_change *f, void *ctx);

/* ---- loops (edit_loops.c) -------------------------------------------------------------------- */

/* E1: the loop becomes n loops, outermost first, which count the same together; one: it has another
 * name. para goes to the first of them, vec to the last, unroll to all.
 *     k => @s = .. // k       ->       k0, k1 => @s = .. // {k0, k1}/k */
at_status at_edit_split(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                        const char *loop, const char *const *parts, int n, at_tree **out,
                        at_error *err);
/* E2: loops that follow each other without a branch come into this order. */
at_status at_edit_order(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                        const char *const *loops, int n, at_tree **out, at_error *err);
/* E3: loops that follow each other in this order become one, with the annotation of the first. */
at_status at_edit_fuse(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *const *loops, int n, at_tree **out, at_error *err);
/* E8: para, vec, unroll, or none of them. */
at_status at_edit_mark(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *loop, at_ann ann, at_tree **out, at_error *err);
/* The same in the tree itself, which nobody else has. false: it needs the other. */
bool at_edit_mark_in_place(at_tree *t, const char *stage, const char *loop, at_ann ann);
/* The same as at_edit_mark by a number: loop:ann(size). */
at_status at_edit_mark_size(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                            const char *loop, const char *size, at_tree **out, at_error *err);

/* ---- places (edit_place.c) ------------------------------------------------------------------- */

/* E4: the leaf of `stage` moves into the loop `loop` of `beside`, before what computes `beside`
 * there or behind it; its loops are made anew: of axes that the two have in common (a reduction of
 * `beside` where the loop is inside one of its loops), those that stand below the loop; else whole
 * axes. */
at_status at_edit_nest(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *beside, const char *loop, bool before, at_tree **out,
                       at_error *err);
/* E5: the stage is computed where it is read. */
at_status at_edit_dissolve(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                           at_tree **out, at_error *err);

/* ---- exactly (edit_exact.c) ------------------------------------------------------------------ */

/* A stage's sum may have a leaf for its start, which edits know as "STAGE.init": this makes it, in
 * plain loops before everything that the stage stands in. */
at_status at_edit_init(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       at_tree **out, at_error *err);
/* A loop of the stage's own that runs once goes away: its axis is 0. */
at_status at_edit_drop(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *loop, at_tree **out, at_error *err);
/* A running sum (at_running_axis) goes on from step to step: the loop of its terms goes away.
 *     i, k:dyn(i) => @s = i // k   ->   i => @s[running] = i // 0 */
at_status at_edit_running(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                          at_tree **out, at_error *err);
/* Each term of a reduction is joined where it belongs (at_scatter_of): the loops of these axes go
 * away.
 *     b, n => @h = b // n   ->   n => @h[scatter] = 0 // n */
at_status at_edit_scatter(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                          at_tree **out, at_error *err);
/* A loop `piece`, which the stage does not use, around its loop `inside`, or, NULL, its leaf. */
at_status at_edit_repeat(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                         const char *piece, const char *inside, at_tree **out, at_error *err);
/* The stage, the first or the last one in its outermost loop, leaves the loops that it shares with
 * others: it stands before them, or behind, in the same loops of its own.
 *     t => {@s; @h}   ->   t => @s;  t => @h */
at_status at_edit_fission(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                          at_tree **out, at_error *err);
/* E4 with the stage's own loops: those whose names stand around the new place are the ones that
 * stand there, the others follow as they are. loop NULL: outside of all loops, and what stands in
 * the stage's loops goes along. */
at_status at_edit_join(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *beside, const char *loop, bool before, at_tree **out,
                       at_error *err);
/* Attributes behind those that the leaf has, as the text of a tree has them: "[dense]". */
at_status at_edit_attribute(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                            const char *text, at_tree **out, at_error *err);

#endif
