/* schedule/outline.h: a loop tree as names that can be moved about: what edits work on. A tree is
 * taken apart into an outline, the outline is changed, and a tree is made of it again by calls, so
 * that every name is looked up anew. */
#ifndef AT_SCHEDULE_OUTLINE_H
#define AT_SCHEDULE_OUTLINE_H

#include "schedule/schedule_int.h"

typedef AT_VEC(const char *) name_list;
typedef AT_VEC(int64_t) extent_list;

typedef struct outline_node outline_node;
struct outline_node {
    outline_node *parent, *child, *next;
    /* loop */
    name_list pieces; /* several: fused */
    at_ann ann;
    const char *ann_size; /* name:ann(size), or NULL */
    extent_list extents;  /* [pieces] name:extent, 0: by the name; none: all are */
    name_list dyn_axes;   /* of name:dyn(...) */
    bool dynamic;
    /* leaf */
    const char *stage; /* NULL: a loop */
    bool is_init;
    const char *attributes; /* as text, beside those that it has; NULL: none */
    const at_tree *of;      /* and the node there whose attributes it has; NULL: it is new */
    const tree_node *written;
    name_list *index; /* [num_index] digits, outer first; none: 0 */
    int num_index;
};

typedef struct outline {
    at_arena *arena;
    outline_node *root; /* first of the outermost nodes */
    bool may_be_open;   /* as at_tree_parse_open's */
} outline;

/* AT_E_INPUT: loops of it come in several orders. */
at_status outline_of(at_arena *a, const at_tree *t, outline *out, at_error *err);
/* The tree of an outline over a computation that has its stages. */
at_status outline_tree(const outline *o, const at_compute *c, const char *what, at_tree **out,
                       at_error *err);

/* The leaf of a stage that is no init, or of "STAGE.init"; NULL: it has none. */
outline_node *outline_leaf(const outline *o, const char *stage);
outline_node *outline_init(const outline *o, const char *stage); /* its own .init; else NULL */
/* The leaf as by outline_leaf. AT_E_INPUT: the stage has none. */
at_status outline_find(const outline *o, const char *stage, outline_node **leaf, at_error *err);
/* A tree's outline, and a leaf there. */
at_status outline_with(at_arena *a, const at_tree *t, const char *stage, outline *out,
                       outline_node **leaf, at_error *err);
/* The loop around a leaf that has a piece of this name; NULL: there is none. */
outline_node *outline_loop(outline_node *leaf, const char *piece);
outline_node *outline_new(const outline *o);
/* As the last child of parent (NULL: the root), or right before or behind a node. */
void outline_append(outline *o, outline_node *parent, outline_node *n);
void outline_insert(outline *o, outline_node *beside, bool before, outline_node *n);
/* Takes a node out, and the loops above that are empty then. */
void outline_remove(outline *o, outline_node *n);
/* The number that a loop's piece is written with; 0: its name says. */
int64_t outline_extent(const outline_node *loop, const char *piece);
bool names_have(const name_list *l, const char *name);
/* Is the loop used as a reduction by a leaf inside? */
bool outline_reduces(const at_compute *c, const outline_node *loop);
/* Does the node's line go on with a single loop? That loop; else NULL. */
outline_node *outline_only_child(const outline_node *n);

#endif
