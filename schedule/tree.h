/* schedule/tree.h: the loop tree. */
#ifndef AT_SCHEDULE_TREE_H
#define AT_SCHEDULE_TREE_H

#include "schedule/compute.h"

/* ---- loop tree (tree_make.c, tree_parse.c, tree_print.c)
 * -------------------------------------------------- */

typedef enum at_ann { AT_ANN_NONE, AT_ANN_PARA, AT_ANN_VEC, AT_ANN_UNROLL, AT_ANN_DOT } at_ann;
static inline const char *at_ann_name(at_ann a) { /* as written; "": none */
    static const char *const names[] = {"", "para", "vec", "unroll", "dot"};
    return names[a];
}

typedef struct at_tree at_tree; /* parsed text: symbolic */
at_status at_tree_parse(at_arena *a, const at_compute *c, const char *text, const char *what,
                        at_tree **out, at_error *err);
/* The same of a tree that may leave something open (tree_open.c): pieces without an extent,
 * stages without the leaf that they need. No program can be built of one that does. */
at_status at_tree_parse_open(at_arena *a, const at_compute *c, const char *text, const char *what,
                             at_tree **out, at_error *err);
/* Gives up a tree that nobody looks at again. Trees that are copied later, of its copies or of what
 * it is a copy of, take its nodes. */
void at_tree_drop(at_tree *t);
bool at_tree_is_open(const at_tree *t);
/* Its text stands in the file that is its `what`, so that broken rules are told with its line; or,
 * where somebody wrote a part (tree_lines.c), nodes stand where that has them. written: NULL, or
 * lives as long. */
void at_tree_stands(at_tree *t, const at_tree *written);
const char *at_tree_what(const at_tree *t); /* for messages */
const at_symbols *at_tree_symbols(const at_tree *t);
bool at_tree_has_leaf(const at_tree *t, int stage);
bool at_tree_has_piece(const at_tree *t, const char *name); /* a loop of it has */
/* A reduction, an output and what reads itself: no tree can leave such a stage to its readers. */
bool at_stage_needs_leaf(const at_tensor *t);
/* What counts an axis of a stage's leaf, the slowest first, at most AT_TREE_MOST_DIGITS; returns
 * how many, -1 where there is no leaf. */
typedef struct at_leaf_digit {
    const char *piece;
    at_ann ann;    /* of its loop; written :ann(size): unroll */
    bool has_mark; /* an annotation of any kind */
    bool is_open;  /* without an extent */
    int line;      /* where the loop stands */
    int64_t fixed; /* its extent as a number, where it is written as one; else 0 */
    bool is_own;   /* a loop around this leaf alone, right around it */
    bool in_tile;  /* a loop of its own, around no reduction of the leaf */
} at_leaf_digit;
enum { AT_TREE_MOST_DIGITS = 64 };
int at_tree_digits(const at_tree *t, int stage, int axis, at_leaf_digit *out);
/* A piece of the innermost loop around all reductions of a stage's leaf; NULL: there is none. */
const char *at_tree_around_sum(const at_tree *t, int stage);
/* A piece of the loop between whose steps sums wait in memory: inside one of the reduction a loop
 * goes over the sums themselves, and neither in a vector nor written out. NULL: they need not. */
const char *at_tree_sum_waits(const at_tree *t, int stage);
/* A piece of the innermost loop around the leaves of both; NULL: there is none. */
const char *at_tree_around_both(const at_tree *t, int stage, int other);
bool at_tree_has_para(const at_tree *t);             /* a loop of it runs on several threads */
bool at_tree_has_init(const at_tree *t, int tensor); /* @STAGE.init is a leaf of its own */
void at_tree_print(at_text *out, const at_tree *t);  /* canonical text; parses back equal */

/* A tree by calls, in the order of its text; the parser of trees uses them, too. Parent NULL is the
 * root. A fault is AT_E_INPUT in the err of at_tree_begin, which lives as long; names and
 * expressions are borrowed until at_tree_finish, which hands out the tree. */
typedef struct at_tree_maker at_tree_maker;
typedef struct at_tree_node at_tree_node;
at_tree_maker *at_tree_begin(at_arena *a, const at_compute *c, const char *what, at_error *err);
void at_tree_new_line(at_tree_maker *m); /* the nodes that follow are written on another line */
/* Without pieces at first. */
at_tree_node *at_tree_add_loop(at_tree_maker *m, at_tree_node *parent, at_ann ann);
at_status at_tree_add_piece(at_tree_maker *m, at_tree_node *loop, const char *name);
void at_tree_set_ann(at_tree_node *loop, at_ann ann);
/* name:ann(size), whose value is 0 for none, 1 unroll, 2 vec. */
at_status at_tree_set_ann_size(at_tree_maker *m, at_tree_node *loop, const char *size);
/* [a, b, c]:order(size): so many loops, each inside the one before, in the order of that number. */
at_status at_tree_set_order(at_tree_maker *m, at_tree_node *first, int num_loops, const char *size);
/* name:extent, of the last piece. */
void at_tree_set_extent(at_tree_maker *m, at_tree_node *loop, int64_t extent);
void at_tree_set_dynamic(at_tree_maker *m, at_tree_node *loop, const char *const *axes,
                         int num_axes);
at_status at_tree_add_leaf(at_tree_maker *m, at_tree_node *parent, const char *stage, bool is_init,
                           at_tree_node **leaf);
/* Attributes of a leaf (tree_attribute.c). bytes, pad: a number, or a name with its slot as ref. */
#define AT_MAX_PREFETCH 4
at_status at_tree_add_prefetch(at_tree_maker *m, at_tree_node *leaf, const char *tensor,
                               at_expr *bytes);
typedef enum at_rows { AT_ROWS_APART, AT_ROWS_DENSE, AT_ROWS_PADDED } at_rows;
/* pad: of padded ones, else NULL. */
at_status at_tree_set_rows(at_tree_maker *m, at_tree_node *leaf, at_rows rows, at_expr *pad);
at_status at_tree_set_axes(at_tree_maker *m, at_tree_node *leaf, const char *const *axes, int num);
/* The input whose rows the leaf reads by a list of places, padding included. */
at_status at_tree_set_pointers(at_tree_maker *m, at_tree_node *leaf, const char *tensor);
at_status at_tree_set_running(at_tree_maker *m, at_tree_node *leaf);
at_status at_tree_set_scatter(at_tree_maker *m, at_tree_node *leaf);
/* Of the next axis, without digits at first; a digit is of the last index. */
void at_tree_add_index(at_tree_maker *m, at_tree_node *leaf);
at_status at_tree_add_digit(at_tree_maker *m, at_tree_node *leaf, const char *name);
at_status at_tree_finish(at_tree_maker *m, at_tree **out);

#endif
