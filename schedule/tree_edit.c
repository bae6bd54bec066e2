/* schedule/tree_edit.c: what edits of a tree are made of: a copy of its nodes; finding, putting in
 * and taking out nodes; looking all names up again. */
#include "schedule/tree_int.h"

#include <string.h>

/* ---- a copy ---------------------------------------------------------------------------------- */

static name_list copy_names(at_arena *a, const name_list *l) {
    return (name_list){at_copy(a, l->data, sizeof *l->data * (size_t)l->len), l->len, l->len};
}

tree_node *tree_new_node(at_arena *a) {
    tree_node *n = AT_NEW(a, tree_node);
    *n = (tree_node){.order = -1};
    return n;
}

/* As it is written, without its place. */
static tree_node *copy_node(at_arena *a, const tree_node *from) {
    tree_node *n = tree_new_node(a);
    n->pieces = copy_names(a, &from->pieces);
    n->ann = from->ann;
    n->ann_size = from->ann_size;
    for (int i = 0; i < from->extents.len; i++) *at_push(a, &n->extents) = from->extents.data[i];
    n->dyn_axes = copy_names(a, &from->dyn_axes);
    n->dynamic = from->dynamic;
    n->stage = from->stage;
    n->is_init = from->is_init;
    n->attributes = from->attributes;
    n->num_index = from->num_index;
    n->index = AT_NEW_ARRAY(a, name_list, from->num_index);
    for (int k = 0; k < from->num_index; k++) n->index[k] = copy_names(a, &from->index[k]);
    return n;
}

static tree_node *copy_nodes(at_arena *a, const tree_node *first, tree_node *parent) {
    tree_node *copied = NULL, **end = &copied;
    for (const tree_node *from = first; from; from = from->next) {
        if (from->is_generated) continue;
        tree_node *n = *end = copy_node(a, from);
        n->parent = parent;
        n->child = copy_nodes(a, from->child, n);
        end = &n->next;
    }
    return copied;
}

at_status tree_copy(at_arena *a, const at_tree *t, at_tree **out, at_error *err) {
    if (t->orders.len)
        return at_fail(err, AT_E_INPUT, "%s orders loops of this tree: edits take one order only",
                       t->orders.data[0].name);
    *out = AT_NEW(a, at_tree);
    **out = (at_tree){.arena = a, .compute = t->compute, .may_be_open = t->may_be_open};
    (*out)->root = copy_nodes(a, t->root, NULL);
    return AT_OK;
}

/* ---- finished -------------------------------------------------------------------------------- */

/* A loop that is all there is inside another stands on its line. */
static void set_lines(tree_node *first, int *line) {
    for (tree_node *n = first; n; n = n->next) {
        if (n->stage || !n->parent || n->next || n->parent->child != n) ++*line;
        n->fixed.line_group = *line;
        set_lines(n->child, line);
    }
}

at_status tree_finish(at_tree *t, const at_compute *c, const char *what, at_tree **out,
                      at_error *err) {
    at_tree_maker m = {.arena = t->arena, .c = c, .tree = t, .err = err};
    int line = 0;
    t->compute = c;
    t->what = at_strdup(t->arena, what);
    set_lines(t->root, &line);
    return at_tree_finish(&m, out);
}

/* ---- finding --------------------------------------------------------------------------------- */

static tree_node *find_leaf(tree_node *first, const char *stage, bool is_init) {
    for (tree_node *n = first; n; n = n->next) {
        if (n->stage && n->is_init == is_init && !strcmp(n->stage, stage)) return n;
        tree_node *below = n->stage ? NULL : find_leaf(n->child, stage, is_init);
        if (below) return below;
    }
    return NULL;
}

tree_node *tree_leaf(const at_tree *t, const char *stage) {
    const char *dot = strchr(stage, '.');
    if (dot && !strcmp(dot, ".init"))
        return tree_init(t, at_strndup(t->arena, stage, (size_t)(dot - stage)));
    return find_leaf(t->root, stage, false);
}

tree_node *tree_init(const at_tree *t, const char *stage) {
    return find_leaf(t->root, stage, true);
}

at_status tree_find_leaf(const at_tree *t, const char *stage, tree_node **leaf, at_error *err) {
    *leaf = tree_leaf(t, stage);
    return *leaf ? AT_OK : at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
}

at_status tree_copy_with(at_arena *a, const at_tree *t, const char *stage, at_tree **out,
                         tree_node **leaf, at_error *err) {
    AT_TRY(tree_copy(a, t, out, err));
    return tree_find_leaf(*out, stage, leaf, err);
}

int64_t tree_extent(const tree_node *loop, const char *piece) {
    for (int i = 0; i < loop->extents.len; i++)
        if (!strcmp(loop->pieces.data[i], piece)) return loop->extents.data[i];
    return 0;
}

bool names_have(const name_list *l, const char *name) {
    for (int i = 0; i < l->len; i++)
        if (!strcmp(l->data[i], name)) return true;
    return false;
}

tree_node *tree_loop(tree_node *leaf, const char *piece) {
    for (tree_node *n = leaf->parent; n; n = n->parent)
        if (names_have(&n->pieces, piece)) return n;
    return NULL;
}

static bool reduces_in(const at_compute *c, const tree_node *first, const tree_node *loop) {
    for (const tree_node *n = first; n; n = n->next) {
        if (!n->stage) {
            if (reduces_in(c, n->child, loop)) return true;
            continue;
        }
        int t = at_compute_find(c, n->stage);
        for (int k = t < 0 ? n->num_index : c->tensors[t].num_axes; k < n->num_index; k++)
            for (int i = 0; i < loop->pieces.len; i++)
                if (names_have(&n->index[k], loop->pieces.data[i])) return true;
    }
    return false;
}

bool tree_reduces(const at_compute *c, const tree_node *loop) {
    return reduces_in(c, loop->child, loop);
}

tree_node *tree_only_child(const tree_node *n) {
    return n->child && !n->child->next && !n->child->stage ? n->child : NULL;
}

/* ---- changing -------------------------------------------------------------------------------- */

static tree_node **place_of(at_tree *t, const tree_node *n) {
    tree_node **p = n->parent ? &n->parent->child : &t->root;
    while (*p != n) p = &(*p)->next;
    return p;
}

void tree_append(at_tree *t, tree_node *parent, tree_node *n) {
    tree_node **p = parent ? &parent->child : &t->root;
    while (*p) p = &(*p)->next;
    n->parent = parent;
    n->next = NULL;
    *p = n;
}

void tree_insert(at_tree *t, tree_node *beside, bool before, tree_node *n) {
    tree_node **p = before ? place_of(t, beside) : &beside->next;
    n->parent = beside->parent;
    n->next = *p;
    *p = n;
}

void tree_remove(at_tree *t, tree_node *n) {
    while (n) {
        tree_node *parent = n->parent;
        *place_of(t, n) = n->next;
        if (!parent || parent->child) return;
        n = parent;
    }
}
