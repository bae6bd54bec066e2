/* schedule/edit/edit_loops.c: edits of loops that stay where they are. */
#include "schedule/edit/edit.h"

#include <string.h>

#include "schedule/tree_int.h"

static const char edited[] = "edited tree";

/* The loop that an edit is about. */
static at_status find(const at_tree *o, const char *stage, const char *piece, tree_node **loop,
                      at_error *err) {
    tree_node *leaf;
    AT_TRY(tree_find_leaf(o, stage, &leaf, err));
    *loop = tree_loop(leaf, piece);
    if (*loop) return AT_OK;
    return at_fail(err, AT_E_INPUT, "\"%s\" is no loop around @%s", piece, stage);
}

/* ---- E1 -------------------------------------------------------------------------------------- */

/* In the leaves below, the parts count what the piece did. */
static void replace_digit(at_arena *a, tree_node *first, const char *piece,
                          const char *const *parts, int n) {
    for (tree_node *x = first; x; x = x->next) {
        if (!x->stage) replace_digit(a, x->child, piece, parts, n);
        for (int k = 0; k < x->num_index; k++) {
            name_list old = x->index[k];
            if (!names_have(&old, piece)) continue;
            x->index[k] = (name_list){0};
            for (int d = 0; d < old.len; d++) {
                if (strcmp(old.data[d], piece)) *at_push(a, &x->index[k]) = old.data[d];
                for (int i = 0; i < n && !strcmp(old.data[d], piece); i++)
                    *at_push(a, &x->index[k]) = parts[i];
            }
        }
    }
}

static at_ann ann_of_part(at_ann whole, int i, int n) {
    bool here = whole == AT_ANN_UNROLL || (whole == AT_ANN_PARA && i == 0) ||
                (whole == AT_ANN_VEC && i == n - 1);
    return here ? whole : AT_ANN_NONE;
}

at_status at_edit_split(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                        const char *piece, const char *const *parts, int n, at_tree **out,
                        at_error *err) {
    at_tree *o;
    tree_node *loop;
    AT_TRY(tree_copy(a, t, &o, err));
    AT_TRY(find(o, stage, piece, &loop, err));
    if (loop->pieces.len > 1)
        return at_fail(err, AT_E_INPUT, "\"%s\" is fused with other loops: it cannot be split",
                       piece);
    if (loop->ann_size)
        return at_fail(err, AT_E_INPUT, "%s annotates \"%s\": it cannot be split", loop->ann_size,
                       piece);
    if (loop->dynamic && n > 1)
        return at_fail(err, AT_E_INPUT, "\"%s\" has an extent from data: it cannot be split",
                       piece);
    replace_digit(a, loop->child, piece, parts, n);
    at_ann ann = loop->ann;
    loop->extents.len = 0;
    tree_node *above = loop;
    for (int i = 0; i < n; i++) {
        tree_node *part = loop;
        if (i) {
            part = tree_new_node(a);
            part->child = above->child;
            part->parent = above;
            above->child = part;
            for (tree_node *x = part->child; x; x = x->next) x->parent = part;
        }
        part->pieces = (name_list){0};
        *at_push(a, &part->pieces) = parts[i];
        part->ann = ann_of_part(ann, i, n);
        above = part;
    }
    return tree_finish(o, c, edited, out, err);
}

/* ---- E2, E3 ---------------------------------------------------------------------------------- */

/* What makes a loop what it is, without its place. */
static void exchange(tree_node *x, tree_node *y) {
    tree_node old = *x;
    x->pieces = y->pieces, x->ann = y->ann, x->ann_size = y->ann_size;
    x->extents = y->extents;
    x->dyn_axes = y->dyn_axes, x->dynamic = y->dynamic;
    y->pieces = old.pieces, y->ann = old.ann, y->ann_size = old.ann_size;
    y->extents = old.extents;
    y->dyn_axes = old.dyn_axes, y->dynamic = old.dynamic;
}

static int place_in_order(const tree_node *loop, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (names_have(&loop->pieces, names[i])) return i;
    return -1;
}

/* The loops of these names, as they stand: outermost first. They follow each other without a
 * branch; `adjacent`: with nothing between. */
static at_status find_chain(const at_tree *o, const char *stage, const char *const *names, int n,
                            bool adjacent, tree_node **chain, at_error *err) {
    int found = 0;
    tree_node *leaf = tree_leaf(o, stage), *up[MAX_PIECES];
    for (int i = 0; i < n; i++) {
        AT_TRY(find(o, stage, names[i], &chain[0], err));
        for (int k = 0; k < i; k++)
            if (names_have(&chain[0]->pieces, names[k]))
                return at_fail(err, AT_E_INPUT, "\"%s\" and \"%s\" are the same loop", names[k],
                               names[i]);
    }
    int depth = 0;
    for (tree_node *x = leaf->parent; x; x = x->parent) up[depth++] = x;
    for (int i = depth - 1; i >= 0; i--) {
        if (place_in_order(up[i], names, n) >= 0) chain[found++] = up[i];
        if (found == 0 || found == n) continue;
        const tree_node *below = tree_only_child(up[i]);
        if (!below)
            return at_fail(err, AT_E_INPUT, "the tree branches below \"%s\"",
                           up[i]->pieces.data[0]);
        if (adjacent && place_in_order(below, names, n) < 0)
            return at_fail(err, AT_E_INPUT, "\"%s\" stands between these loops",
                           below->pieces.data[0]);
    }
    return AT_OK;
}

at_status at_edit_order(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                        const char *const *loops, int n, at_tree **out, at_error *err) {
    at_tree *o;
    AT_TRY(tree_copy(a, t, &o, err));
    tree_node **chain = AT_NEW_ARRAY(a, tree_node *, n + 1);
    AT_TRY(find_chain(o, stage, loops, n, false, chain, err));
    for (int i = 0; i < n; i++)
        for (int k = i; k < n; k++)
            if (names_have(&chain[k]->pieces, loops[i])) {
                if (k > i) exchange(chain[i], chain[k]);
                break;
            }
    return tree_finish(o, c, edited, out, err);
}

at_status at_edit_fuse(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *const *loops, int n, at_tree **out, at_error *err) {
    at_tree *o;
    AT_TRY(tree_copy(a, t, &o, err));
    tree_node **chain = AT_NEW_ARRAY(a, tree_node *, n + 1);
    AT_TRY(find_chain(o, stage, loops, n, true, chain, err));
    for (int i = 0; i < n; i++) {
        if (!names_have(&chain[i]->pieces, loops[i]))
            return at_fail(err, AT_E_INPUT, "\"%s\" does not stand in this place", loops[i]);
        if (chain[i]->dynamic || chain[i]->extents.len)
            return at_fail(err, AT_E_INPUT, "\"%s\" has an extent of its own: it cannot be fused",
                           loops[i]);
        if (tree_reduces(c, chain[i]) != tree_reduces(c, chain[0]))
            return at_fail(err, AT_E_INPUT, "\"%s\" and \"%s\": an axis and a reduction", loops[0],
                           loops[i]);
    }
    for (int i = 1; i < n; i++)
        for (int k = 0; k < chain[i]->pieces.len; k++)
            *at_push(a, &chain[0]->pieces) = chain[i]->pieces.data[k];
    chain[0]->child = chain[n - 1]->child;
    for (tree_node *x = chain[0]->child; x; x = x->next) x->parent = chain[0];
    return tree_finish(o, c, edited, out, err);
}

/* ---- E8 -------------------------------------------------------------------------------------- */

static at_status mark(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                      const char *piece, at_ann ann, const char *size, at_tree **out,
                      at_error *err) {
    at_tree *o;
    tree_node *loop;
    bool marks = size || ann != AT_ANN_NONE;
    AT_TRY(tree_copy(a, t, &o, err));
    AT_TRY(find(o, stage, piece, &loop, err));
    if (loop->dynamic && marks && ann != AT_ANN_VEC)
        return at_fail(err, AT_E_INPUT,
                       "\"%s\" has an extent from data: it may be vec, if anything", piece);
    if (loop->extents.len && marks)
        return at_fail(err, AT_E_INPUT, "\"%s\" is written with its extent: it takes no annotation",
                       piece);
    loop->ann = ann;
    loop->ann_size = size;
    return tree_finish(o, c, edited, out, err);
}

at_status at_edit_mark(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *piece, at_ann ann, at_tree **out, at_error *err) {
    return mark(a, t, c, stage, piece, ann, NULL, out, err);
}

bool at_edit_mark_in_place(at_tree *t, const char *stage, const char *piece, at_ann ann) {
    tree_node *leaf = tree_leaf(t, stage),
              *loop = leaf && !leaf->is_generated ? tree_loop(leaf, piece) : NULL;
    if (!loop || loop->dynamic || loop->extents.len || t->orders.len) return false;
    for (int i = 0; i < t->nodes.len; i++) { /* where more than its copies may hang on it */
        const tree_node *n = t->nodes.data[i];
        const bool is_like = n != loop && !n->is_generated && n->pieces.data == loop->pieces.data;
        if (n->fixed.is_scatter || is_like) return false;
    }
    for (int i = 0; i < t->nodes.len; i++) { /* the loop, and its copies around initialisations */
        tree_node *n = t->nodes.data[i];
        if (n->pieces.data != loop->pieces.data) continue;
        n->ann = n->fixed.ann = ann;
        n->ann_size = NULL;
        n->ann_symbol = -1;
    }
    return true;
}

at_status at_edit_mark_size(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                            const char *piece, const char *size, at_tree **out, at_error *err) {
    return mark(a, t, c, stage, piece, AT_ANN_NONE, size, out, err);
}
