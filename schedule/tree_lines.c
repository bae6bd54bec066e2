/* schedule/tree_lines.c: where the nodes of a tree stand in the file of whoever wrote it: of a tree
 * that rules completed, where the part stands that was written. Messages name it. */
#include "schedule/schedule_int.h"

#include <string.h>

static const char *piece_name(const at_tree *t, const tree_node *loop, int member) {
    return t->piece_names.data[t->pieces.data[loop->first_piece + member].name];
}

static const char *stage_name(const at_tree *t, const tree_node *leaf) {
    return t->compute->tensors[leaf->fixed.tensor].name;
}

/* The leaf of the same stage; an init that nobody wrote stands where its sum does. */
static const tree_node *written_leaf(const at_tree *written, const at_tree *t,
                                     const tree_node *leaf) {
    bool is_init = leaf->fixed.is_init && !leaf->is_generated;
    for (int i = 0; i < written->nodes.len; i++) {
        const tree_node *n = &written->nodes.data[i];
        if (n->fixed.is_leaf && !n->is_generated && n->fixed.is_init == is_init &&
            !strcmp(stage_name(written, n), stage_name(t, leaf)))
            return n;
    }
    return NULL;
}

static bool has_piece(const at_tree *t, const tree_node *loop, const char *name) {
    for (int m = 0; m < loop->fixed.num_pieces; m++)
        if (!strcmp(piece_name(t, loop, m), name)) return true;
    return false;
}

/* The line of the loop around a written leaf that has a piece of this one; 0: there is none. */
static int line_of_loop(const at_tree *written, const tree_node *leaf, const at_tree *t,
                        const tree_node *loop) {
    for (int i = leaf->parent; i >= 0; i = written->nodes.data[i].parent)
        for (int m = 0; m < loop->fixed.num_pieces; m++)
            if (has_piece(written, &written->nodes.data[i], piece_name(t, loop, m)))
                return written->nodes.data[i].fixed.line;
    return 0;
}

void at_tree_stands(at_tree *t, const at_tree *written) {
    t->stands = !written || written->stands;
    if (!written) return;
    t->what = written->what;
    for (int i = 0; i < t->nodes.len; i++) t->nodes.data[i].fixed.line = 0;
    for (int i = 0; i < t->nodes.len; i++) {
        tree_node *leaf = &t->nodes.data[i];
        const tree_node *like = leaf->fixed.is_leaf ? written_leaf(written, t, leaf) : NULL;
        if (!like) continue;
        leaf->fixed.line = like->fixed.line;
        for (int k = leaf->parent; k >= 0; k = t->nodes.data[k].parent)
            if (!t->nodes.data[k].fixed.line)
                t->nodes.data[k].fixed.line = line_of_loop(written, like, t, &t->nodes.data[k]);
    }
    for (int i = 0; i < t->nodes.len; i++) { /* what rules added stands where it was put */
        tree_node *n = &t->nodes.data[i];
        if (!n->fixed.line)
            n->fixed.line = n->parent >= 0 ? t->nodes.data[n->parent].fixed.line
                                           : written->nodes.data[0].fixed.line;
    }
}
