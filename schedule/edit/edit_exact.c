/* schedule/edit/edit_exact.c: edits that take loops exactly as they are said to be, so that every
 * tree can be had from the plain one. */
#include "schedule/edit/edit.h"

#include <string.h>

#include "schedule/tree_int.h"

static const char edited[] = "edited tree";

static bool has_piece(const tree_node *n, const char *piece) {
    for (; n; n = n->parent)
        if (names_have(&n->pieces, piece)) return true;
    return false;
}

/* The loop goes away: what stands in it alone is the leaf's. */
static at_status take_out(at_tree *o, tree_node *leaf, tree_node *loop, const char *piece,
                          at_error *err) {
    bool alone = loop->pieces.len == 1;
    for (const tree_node *x = leaf; x != loop; x = x->parent)
        alone &= !x->next && x->parent->child == x;
    if (!alone) return at_fail(err, AT_E_INPUT, "\"%s\" is not of @%s alone", piece, leaf->stage);
    for (int k = 0; k < leaf->num_index; k++)
        if (names_have(&leaf->index[k], piece)) leaf->index[k] = (name_list){0};
    tree_node *inside = loop->child;
    loop->child = NULL;
    tree_insert(o, loop, true, inside);
    tree_remove(o, loop);
    return AT_OK;
}

at_status at_edit_drop(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *piece, at_tree **out, at_error *err) {
    at_tree *o;
    tree_node *leaf;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    tree_node *loop = tree_loop(leaf, piece);
    if (!loop) return at_fail(err, AT_E_INPUT, "\"%s\" is no loop around @%s", piece, stage);
    AT_TRY(take_out(o, leaf, loop, piece, err));
    return tree_finish(o, c, edited, out, err);
}

at_status at_edit_running(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                          at_tree **out, at_error *err) {
    at_tree *o;
    tree_node *leaf;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    const at_tensor *s = &c->tensors[at_compute_find(c, leaf->stage)];
    if (leaf->is_init || at_running_axis(s) < 0)
        return at_fail(err, AT_E_INPUT, "@%s is no running sum", stage);
    const name_list *sum = &leaf->index[s->num_axes];
    if (tree_init(o, stage) || sum->len != 1)
        return at_fail(err, AT_E_INPUT, "@%s has an init, or runs already", stage);
    AT_TRY(take_out(o, leaf, tree_loop(leaf, sum->data[0]), sum->data[0], err));
    leaf->attributes.is_running = true;
    return tree_finish(o, c, edited, out, err);
}

at_status at_edit_scatter(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                          at_tree **out, at_error *err) {
    at_tree *o;
    tree_node *leaf;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    const at_tensor *s = &c->tensors[at_compute_find(c, leaf->stage)];
    const at_scatter places = at_scatter_of(s);
    if (leaf->is_init || !places.axes || leaf->attributes.is_scatter)
        return at_fail(err, AT_E_INPUT, "no term of @%s has a place of its own", stage);
    for (int k = 0; k < s->num_axes; k++) {
        if (!(places.axes >> k & 1)) continue;
        while (leaf->index[k].len) {
            const char *piece = leaf->index[k].data[0];
            AT_TRY(take_out(o, leaf, tree_loop(leaf, piece), piece, err));
        }
    }
    leaf->attributes.is_scatter = true;
    return tree_finish(o, c, edited, out, err);
}

at_status at_edit_repeat(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                         const char *piece, const char *inside, at_tree **out, at_error *err) {
    at_tree *o;
    tree_node *leaf, *at;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    at = inside ? tree_loop(leaf, inside) : leaf;
    if (!at) return at_fail(err, AT_E_INPUT, "\"%s\" is no loop around @%s", inside, stage);
    if (has_piece(leaf->parent, piece))
        return at_fail(err, AT_E_INPUT, "there is a loop \"%s\" around @%s", piece, stage);
    tree_node *loop = tree_new_node(a);
    *at_push(a, &loop->pieces) = piece;
    tree_insert(o, at, true, loop);
    loop->next = at->next;
    at->next = NULL;
    at->parent = loop;
    loop->child = at;
    return tree_finish(o, c, edited, out, err);
}

at_status at_edit_init(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       at_tree **out, at_error *err) {
    at_tree *o;
    tree_node *leaf;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    const at_tensor *s = &c->tensors[at_compute_find(c, leaf->stage)];
    if (leaf->is_init || !s->num_reduce)
        return at_fail(err, AT_E_INPUT, "@%s sums nothing: it needs no init", stage);
    if (tree_init(o, stage)) return at_fail(err, AT_E_INPUT, "@%s.init is a leaf already", stage);
    tree_node *top = leaf, *first = NULL, *inner = NULL, *init = tree_new_node(a);
    while (top->parent) top = top->parent;
    init->stage = s->name;
    init->is_init = true;
    init->num_index = s->num_axes;
    init->index = AT_NEW_ARRAY(a, name_list, s->num_axes);
    for (int k = 0; k < s->num_axes; k++) {
        tree_node *loop = tree_new_node(a);
        *at_push(a, &loop->pieces) = s->axes[k].name;
        *at_push(a, &init->index[k]) = s->axes[k].name;
        if (inner) tree_append(o, inner, loop);
        else first = loop;
        inner = loop;
    }
    if (inner) tree_append(o, inner, init);
    tree_insert(o, top, true, first ? first : init);
    return tree_finish(o, c, edited, out, err);
}

/* ---- E4, with loops as they stand ------------------------------------------------------------ */

static tree_node *child_with(tree_node *loop, tree_node *leaf) {
    while (leaf->parent != loop) leaf = leaf->parent;
    return leaf;
}

/* The stage's own nest, outermost loop first, which nothing else may stand in. */
static at_status take_nest(at_tree *o, tree_node *leaf, const char *stage, tree_node **first,
                           at_error *err) {
    tree_node *top = leaf;
    for (; top->parent; top = top->parent)
        if (top->next || top->parent->child != top)
            return at_fail(err, AT_E_INPUT, "other stages stand in loops of @%s", stage);
    tree_remove(o, top);
    top->next = top->parent = NULL;
    *first = top;
    return AT_OK;
}

/* Does a leaf come first, or last, of all that stands in a loop? */
static bool is_at_end(const tree_node *leaf, const tree_node *loop, bool first) {
    for (const tree_node *n = leaf; n != loop; n = n->parent)
        if (first ? n->parent->child != n : n->next != NULL) return false;
    return true;
}

/* The innermost loop around a leaf in which others stand, too; NULL: there is none. */
static tree_node *innermost_shared(tree_node *leaf) {
    tree_node *n = leaf;
    while (n->parent && !n->next && n->parent->child == n) n = n->parent;
    return n->parent;
}

at_status at_edit_fission(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                          at_tree **out, at_error *err) {
    at_tree *o;
    tree_node *leaf, *top;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    tree_node *shared = innermost_shared(leaf), *own = leaf;
    for (top = leaf; top->parent; top = top->parent) continue;
    const bool first = is_at_end(leaf, top, true);
    if (!shared) return at_fail(err, AT_E_INPUT, "@%s stands alone in its loops", stage);
    if (!first && !is_at_end(leaf, top, false))
        return at_fail(err, AT_E_INPUT, "@%s is neither the first nor the last in its loops",
                       stage);
    while (own->parent != shared) own = own->parent;
    tree_remove(o, own);
    own->next = own->parent = NULL;
    for (const tree_node *n = shared; n; n = n->parent) {
        tree_node *loop = at_copy(a, n, sizeof *n);
        loop->next = loop->parent = NULL;
        loop->child = own;
        own->parent = loop;
        own = loop;
    }
    tree_insert(o, top, first, own);
    return tree_finish(o, c, edited, out, err);
}

/* The loops of a nest that stand around the place already are those; what is left of it. */
static at_status share_loops(tree_node *first, const tree_node *around, const char *stage,
                             tree_node **left, at_error *err) {
    tree_node *kept = NULL, *last = NULL;
    for (tree_node *n = first; n; n = n->stage ? NULL : n->child) {
        int shared = 0;
        for (int i = 0; i < n->pieces.len; i++) shared += has_piece(around, n->pieces.data[i]);
        if (shared && shared < n->pieces.len)
            return at_fail(err, AT_E_INPUT, "\"%s\" of @%s is fused with loops that stand there",
                           n->pieces.data[0], stage);
        if (shared) continue;
        if (last) last->child = n;
        else kept = n;
        n->parent = last;
        last = n;
    }
    *left = kept;
    return AT_OK;
}

at_status at_edit_join(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *beside, const char *loop, bool before, at_tree **out,
                       at_error *err) {
    at_tree *o;
    tree_node *leaf, *other, *around = NULL, *nest = NULL;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    AT_TRY(tree_find_leaf(o, beside, &other, err));
    if (loop && !(around = tree_loop(other, loop)))
        return at_fail(err, AT_E_INPUT, "\"%s\" is no loop around @%s", loop, beside);
    if (!loop) { /* all that stands around it goes along */
        nest = child_with(NULL, leaf);
        if (nest == child_with(NULL, other))
            return at_fail(err, AT_E_INPUT, "@%s and @%s stand in one loop", stage, beside);
        tree_remove(o, nest);
    } else {
        for (tree_node *n = leaf; n; n = n->parent)
            if (n == around)
                return at_fail(err, AT_E_INPUT, "@%s stands inside \"%s\" already", stage, loop);
        AT_TRY(take_nest(o, leaf, stage, &nest, err));
        AT_TRY(share_loops(nest, around, stage, &nest, err));
    }
    tree_insert(o, child_with(around, other), before, nest);
    return tree_finish(o, c, edited, out, err);
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* As they are written behind the stage's name in the tree's text; they come before those that the
 * leaf has. */
at_status at_edit_attribute(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                            const char *text, at_tree **out, at_error *err) {
    at_tree *o;
    tree_node *leaf;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    const leaf_attributes had = leaf->attributes;
    at_tree_maker m = {.arena = a, .c = c, .tree = o, .err = err};
    o->what = edited;
    leaf->attributes = (leaf_attributes){0};
    AT_TRY(tree_find_stage(&m, leaf));
    AT_TRY(tree_parse_attributes(&m, leaf, text));
    AT_TRY(tree_add_attributes(&m, leaf, &had));
    return tree_finish(o, c, edited, out, err);
}
