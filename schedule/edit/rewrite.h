/* schedule/edit/rewrite.h: a computation being rewritten, with the tree over it: what copies of
 * tensors (edit_copy.c) and sums in two steps (edit_factor.c) share. */
#ifndef AT_SCHEDULE_REWRITE_H
#define AT_SCHEDULE_REWRITE_H

#include "schedule/tree_int.h"

typedef struct rewrite {
    at_arena *arena;
    const at_compute *old;
    const at_tree *tree; /* or NULL */
    at_error *err;
    AT_VEC(at_tensor) tensors;
    at_tree *made; /* a copy of it, being changed */
} rewrite;

/* Copies the tensors as they were written; there is no tree over them. */
void rewrite_open(rewrite *w, at_arena *a, const at_compute *c, at_error *err);
/* The same with the tree. name: of a new tensor, or NULL. AT_E_INPUT: one has it already. */
at_status rewrite_start(rewrite *w, at_arena *a, const at_tree *t, const char *name, at_error *err);
/* The same for an edit of a stage's sum: the stage as it was, and its leaf. AT_E_INPUT also where
 * the stage has no leaf, or a leaf for its start as well. */
at_status rewrite_start_leaf(rewrite *w, at_arena *a, const at_tree *t, const char *name,
                             const char *stage, const at_tensor **old, tree_node **leaf,
                             at_error *err);
/* The computation and the tree as rewritten. */
at_status rewrite_finish(rewrite *w, const at_compute **compute, at_tree **out);

at_tensor *rewrite_find(rewrite *w, const char *name); /* NULL: there is none */
/* Right before the tensor of that name, where what it reads is known. */
void rewrite_insert(rewrite *w, const char *name, at_tensor t);
/* A stage that a reader with a leaf, whose expression becomes `written`, reads from now on: right
 * before the reader, in loops of its own before the reader's. */
void rewrite_add_stage(rewrite *w, const char *reader, at_tensor made, at_expr *written);
/* A name that nothing has, made of another. */
const char *rewrite_fresh(const rewrite *w, const char *like);

at_expr *rewrite_copy_expr(at_arena *a, const at_expr *e);
/* The axes of a stage as names, reductions behind: fresh nodes. */
at_expr **rewrite_axes(at_arena *a, const at_tensor *t);
/* The element of tensor `name` at the axes of a stage. */
at_expr *rewrite_element(at_arena *a, const char *name, const at_tensor *t);
/* A copy of a stage's expression with copies of other values for its axes: value[axis]. */
at_expr *rewrite_expr_at(at_arena *a, const at_expr *e, at_expr *const *value);
/* What at_expr_map makes such a copy by; values NULL: axes stay names. */
typedef struct rewrite_values {
    at_arena *arena;
    at_expr *const *of_axis;
} rewrite_values;
at_expr *rewrite_at_values(const at_expr *e, at_expr *copy, void *values);
/* condition ? value : 0; NULL: no condition. */
at_expr *rewrite_guarded(at_arena *a, at_expr *condition, at_expr *value);
/* A read's new indices, made of its old ones. */
typedef at_expr **rewrite_index(rewrite *w, void *ctx, at_expr **old, int *n);
/* A stage's reads of one tensor become reads of another. index NULL: with the same indices.
 * AT_E_INPUT: there are none. */
at_status rewrite_reads(rewrite *w, at_tensor *reader, const char *from, const char *to,
                        rewrite_index *index, void *ctx);

tree_node *rewrite_add_loop(rewrite *w, tree_node *parent, const char *piece);
tree_node *rewrite_add_leaf(rewrite *w, tree_node *parent, const char *stage, int num_index);
/* Loops over the whole axes of a stage, with its leaf; no parent yet. */
tree_node *rewrite_plain_nest(rewrite *w, const at_tensor *t);
tree_node *rewrite_outermost(tree_node *n); /* of the loops around it, or itself */
/* Behind the sum of a leaf, loops that count its axes where the sum did: those inside its outermost
 * reduction, or from a vec loop around that on, copied; around them one for `piece` (NULL: none).
 * Returns the last. */
tree_node *rewrite_nest_behind(rewrite *w, tree_node *leaf, const char *piece);

#endif
