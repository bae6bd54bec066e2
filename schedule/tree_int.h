/* schedule/tree_int.h: the loop tree inside of schedule/: one set of nodes is what the parser reads
 * into, what edits move about, what is printed, and what programs are built of. A node holds names,
 * as they are written; what the names mean in a computation is looked up when the tree is finished,
 * and again when an edited copy is. */
#ifndef AT_SCHEDULE_TREE_INT_H
#define AT_SCHEDULE_TREE_INT_H

#include "schedule/schedule_int.h"

typedef AT_VEC(const char *) name_list;
typedef AT_VEC(int64_t) extent_list;
typedef struct at_tree_node tree_node;
typedef AT_VEC(tree_node *) node_list;

/* Where a piece takes its extent from. */
typedef enum extent_source {
    EXTENT_FIXED,
    EXTENT_SYMBOL,
    EXTENT_AXIS,
    EXTENT_DYNAMIC,
    EXTENT_OPEN
} extent_source;

typedef struct tree_piece {
    int name; /* slot of piece_names */
    extent_source source;
    int64_t fixed;
    int symbol, tensor, axis;
} tree_piece;

typedef struct tree_digit {
    tree_node *loop;
    int member; /* piece of it */
} tree_digit;

typedef struct tree_axis {
    int num_digits, first_digit; /* of all digits of the tree */
    tree_digit *digit;
} tree_axis;

/* [a, b, c]:order(name): the loops run in the order whose number, in the lexicographic list of all
 * orders, is the value of a size. */
enum { MAX_ORDERED = 8 };
typedef struct tree_order {
    const char *name;
    int symbol, num_loops;
    tree_node *loop[MAX_ORDERED]; /* as written */
} tree_order;

/* What stands in brackets behind a leaf's stage. */
typedef struct leaf_attributes {
    int num_prefetch;
    const char *prefetched[AT_MAX_PREFETCH];
    at_expr *prefetch[AT_MAX_PREFETCH]; /* bytes ahead */
    const char *pointers;               /* NULL: there are none */
    bool is_running, is_scatter;
    at_rows rows;
    at_expr *pad; /* elements, or NULL */
    int num_order;
    const char *const *order; /* [num_order] axes of the stage, or NULL */
} leaf_attributes;

struct at_tree_node {
    /* As it is written: edits change this alone. */
    tree_node *parent, *child, *next;
    name_list pieces; /* of a loop; several: fused */
    at_ann ann;
    const char *ann_size; /* name:ann(size), or NULL */
    extent_list extents;  /* [pieces] name:extent, 0: by the name; none: all are */
    name_list dyn_axes;   /* of name:dyn(...) */
    bool dynamic;
    int order, order_place; /* of a loop in [...]:order(name): tree.orders, from 0; else -1 */
    const char *stage;      /* of a leaf; NULL: a loop */
    bool is_init;
    leaf_attributes attributes;
    name_list *index; /* [num_index] digits, outer first; none: 0 */
    int num_index;
    int tag_line, tag_col; /* where it stands */
    bool is_generated;     /* the default initialisation: not in the text */
    /* As it was looked up. */
    at_node fixed; /* everything that no number changes; links are filled by build */
    int number;    /* in textual order, init leaves and their loops included */
    tree_piece *piece;
    int first_piece; /* of all pieces of the tree */
    tree_axis *axes; /* [num_axes] */
    int num_axes, first_axis;
    int ann_symbol; /* slot of ann_size, or -1 */
};

/* What dropped trees leave to later copies. */
typedef struct tree_spares {
    tree_node *first; /* of their nodes, the others by next */
    node_list list;   /* at_tree.nodes of the tree dropped last */
} tree_spares;

struct at_tree {
    at_arena *arena;
    tree_spares *spares; /* of the arena, shared by a tree and its copies there */
    const at_compute *compute;
    const char *what;
    const char *text; /* that it was read from; NULL: from none */
    tree_node *root;  /* first of the outermost nodes */
    AT_VEC(tree_order) orders;
    node_list nodes; /* in textual order */
    AT_VEC(const char *) piece_names;
    int num_loops, num_pieces, num_axes, num_digits;
    int *piece_slots;           /* [num_pieces], what at_node.piece points into */
    int *members;               /* [num_digits], what at_digits.member points into */
    bool *dissolved;            /* [tensor] */
    bool may_be_open, has_open; /* pieces without an extent */
    bool stands;                /* in a file, `what`, whose lines nodes have */
};

/* What at_tree_begin makes. The parser says where in the tree's text the next piece stands, and
 * errors show that place. */
struct at_tree_maker {
    at_arena *arena;
    const at_compute *c;
    at_tree *tree;
    at_error *err;
    int num_lines, num_nodes;
    int line, col;
};
/* AT_E_INPUT at the maker's place. */
at_status tree_fail(at_tree_maker *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* What a leaf's stage is in the maker's computation. */
at_status tree_find_stage(at_tree_maker *m, tree_node *leaf);
/* Where errors about a node point. */
void tree_stands_at(tree_node *n, int line, int col);

/* Attributes of leaves (tree_attribute.c). All that are given are looked up and added to the
 * leaf's. */
at_status tree_add_attributes(at_tree_maker *m, tree_node *leaf, const leaf_attributes *given);
at_status build_attributes(const tree_node *from, const int64_t *values, at_node *n, at_error *err);
at_status tree_parse_attributes(at_tree_maker *m, tree_node *leaf,
                                const char *text); /* tree_parse.c */
void tree_print_attributes(at_text *out, const at_compute *c, const tree_node *leaf);

/* Inserts the default initialisation of every reducing leaf that has no .init, and numbers all
 * nodes (tree_init.c). */
void tree_add_inits(at_tree *t);

/* Which of its values the numbers of a tree depend on, and which of these differ from the last time
 * (watch.c); the first time all do. */
typedef struct watch watch;
watch *watch_of(at_arena *a, const at_tree *t, watched *out);
uint64_t watch_changes(watch *w, const int64_t *values);

/* ---- nodes (tree_nodes.c) -------------------------------------------------------------------- */

/* The leaf of a stage that is no init, or of "STAGE.init"; NULL: it has none. */
tree_node *tree_leaf(const at_tree *t, const char *stage);
tree_node *tree_init(const at_tree *t, const char *stage); /* its own .init; else NULL */
/* The leaf as by tree_leaf. AT_E_INPUT: the stage has none. */
at_status tree_find_leaf(const at_tree *t, const char *stage, tree_node **leaf, at_error *err);
/* The loop around a leaf that has a piece of this name; NULL: there is none. */
tree_node *tree_loop(tree_node *leaf, const char *piece);
tree_node *tree_new_node(at_arena *a);
tree_node *tree_take_node(at_tree *t); /* the same, a spare one first */
/* As the last child of parent (NULL: the root), or right before or behind a node. */
void tree_append(at_tree *t, tree_node *parent, tree_node *n);
void tree_insert(at_tree *t, tree_node *beside, bool before, tree_node *n);
/* Takes a node out, and the loops above that are empty then. */
void tree_remove(at_tree *t, tree_node *n);
/* The number that a loop's piece is written with; 0: its name says. */
int64_t tree_extent(const tree_node *loop, const char *piece);
bool names_have(const name_list *l, const char *name);
/* Is the loop used as a reduction by a leaf inside? */
bool tree_reduces(const at_compute *c, const tree_node *loop);
/* Does the node's line go on with a single loop? That loop; else NULL. */
tree_node *tree_only_child(const tree_node *n);

/* ---- edits (tree_edit.c) --------------------------------------------------------------------- */

/* A copy of what is written, to be changed. AT_E_INPUT: loops of it come in several orders. */
at_status tree_copy(at_arena *a, const at_tree *t, at_tree **out, at_error *err);
/* Looks up all names of a changed tree in a computation that has its stages. */
at_status tree_finish(at_tree *t, const at_compute *c, const char *what, at_tree **out,
                      at_error *err);
/* A tree's copy, and a leaf there. */
at_status tree_copy_with(at_arena *a, const at_tree *t, const char *stage, at_tree **out,
                         tree_node **leaf, at_error *err);

#endif
