/* schedule/tree_lines.c: where the nodes of a tree stand in the file of whoever wrote it: of a tree
 * that rules completed, where the part stands that was written. Messages name it. */
#include "schedule/tree_int.h"

#include <string.h>

/* The leaf of the same stage; an init that nobody wrote stands where its sum does. */
static const tree_node *written_leaf(const at_tree *written, const tree_node *leaf) {
    bool is_init = leaf->is_init && !leaf->is_generated;
    for (int i = 0; i < written->nodes.len; i++) {
        const tree_node *n = written->nodes.data[i];
        if (n->stage && !n->is_generated && n->is_init == is_init && !strcmp(n->stage, leaf->stage))
            return n;
    }
    return NULL;
}

/* The line of the loop around a written leaf that has a piece of this one; 0: there is none. */
static int line_of_loop(const tree_node *leaf, const tree_node *loop) {
    for (const tree_node *n = leaf->parent; n; n = n->parent)
        for (int m = 0; m < loop->pieces.len; m++)
            if (names_have(&n->pieces, loop->pieces.data[m])) return n->fixed.line;
    return 0;
}

void at_tree_stands(at_tree *t, const at_tree *written) {
    t->stands = !written || written->stands;
    if (!written) return;
    t->what = written->what;
    for (int i = 0; i < t->nodes.len; i++) t->nodes.data[i]->fixed.line = 0;
    for (int i = 0; i < t->nodes.len; i++) {
        tree_node *leaf = t->nodes.data[i];
        const tree_node *like = leaf->stage ? written_leaf(written, leaf) : NULL;
        if (!like) continue;
        leaf->fixed.line = like->fixed.line;
        for (tree_node *n = leaf->parent; n; n = n->parent)
            if (!n->fixed.line) n->fixed.line = line_of_loop(like, n);
    }
    for (int i = 0; i < t->nodes.len; i++) { /* what rules added stands where it was put */
        tree_node *n = t->nodes.data[i];
        if (!n->fixed.line) n->fixed.line = (n->parent ? n->parent : written->root)->fixed.line;
    }
}
