/* schedule/tree_nodes.c: nodes of a loop tree: made, found, put in and taken out; where errors
 * about them point. */
#include "schedule/tree_int.h"

#include <string.h>

at_status tree_fail(at_tree_maker *m, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    const at_lex lex = {.text = m->tree->text, .what = m->tree->what};
    return at_lex_fail_at(&lex, m->line, m->col, m->err, "%s", text);
}

void tree_stands_at(tree_node *n, int line, int col) {
    n->tag_line = n->fixed.line = line;
    n->tag_col = col;
}

tree_node *tree_new_node(at_arena *a) {
    tree_node *n = AT_NEW(a, tree_node);
    *n = (tree_node){.order = -1};
    return n;
}

tree_node *tree_take_node(at_tree *t) {
    tree_node *n = t->spares ? t->spares->first : NULL;
    if (!n) return tree_new_node(t->arena);
    t->spares->first = n->next;
    *n = (tree_node){.order = -1};
    return n;
}

void at_tree_drop(at_tree *t) {
    if (!t->spares) return;
    for (int i = 0; i < t->nodes.len; i++) {
        t->nodes.data[i]->next = t->spares->first;
        t->spares->first = t->nodes.data[i];
    }
    t->spares->list = t->nodes;
}

/* ---- finding --------------------------------------------------------------------------------- */

static tree_node *find_leaf(tree_node *first, const char *stage, bool is_init) {
    for (tree_node *n = first; n; n = n->next) {
        if (n->stage && n->is_init == is_init && is_same_name(n->stage, stage)) return n;
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

int64_t tree_extent(const tree_node *loop, const char *piece) {
    for (int i = 0; i < loop->extents.len; i++)
        if (is_same_name(loop->pieces.data[i], piece)) return loop->extents.data[i];
    return 0;
}

bool names_have(const name_list *l, const char *name) {
    for (int i = 0; i < l->len; i++)
        if (is_same_name(l->data[i], name)) return true;
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
