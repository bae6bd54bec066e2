/* schedule/edit/tree_edit.c: a tree is copied to be changed, and has its names looked up again. */
#include "schedule/edit/edit.h"
#include "schedule/tree_int.h"

/* ---- a copy ---------------------------------------------------------------------------------- */

static name_list copy_names(at_arena *a, const name_list *l) {
    return (name_list){at_copy(a, l->data, sizeof *l->data * (size_t)l->len), l->len, l->len};
}

/* As it is written, without its place. */
static tree_node *copy_node(at_tree *into, const tree_node *from) {
    at_arena *a = into->arena;
    tree_node *n = tree_take_node(into);
    n->pieces = copy_names(a, &from->pieces);
    n->ann = from->ann;
    n->ann_size = from->ann_size;
    for (int i = 0; i < from->extents.len; i++) *at_push(a, &n->extents) = from->extents.data[i];
    n->dyn_axes = copy_names(a, &from->dyn_axes);
    n->dynamic = from->dynamic;
    n->stage = from->stage;
    n->is_init = from->is_init;
    n->attributes = from->attributes;
    n->order = from->order;
    n->order_place = from->order_place;
    n->num_index = from->num_index;
    n->index = AT_NEW_ARRAY(a, name_list, from->num_index);
    for (int k = 0; k < from->num_index; k++) n->index[k] = copy_names(a, &from->index[k]);
    return n;
}

/* stand: nodes stand in the same lines of a text. */
static tree_node *copy_nodes(at_tree *into, const tree_node *first, tree_node *parent, bool stand) {
    tree_node *copied = NULL, **end = &copied;
    for (const tree_node *from = first; from; from = from->next) {
        if (from->is_generated) continue;
        tree_node *n = *end = copy_node(into, from);
        if (stand) tree_stands_at(n, from->tag_line, from->tag_col);
        n->fixed.line_group = from->fixed.line_group;
        n->parent = parent;
        n->child = copy_nodes(into, from->child, n, stand);
        end = &n->next;
    }
    return copied;
}

static tree_spares *spares_for(at_arena *a, const at_tree *t) {
    return t->spares && t->arena == a ? t->spares : AT_NEW(a, tree_spares);
}

static node_list take_list(tree_spares *s) {
    const node_list taken = {s->list.data, 0, s->list.cap};
    s->list = (node_list){0};
    return taken;
}

at_status tree_copy(at_arena *a, const at_tree *t, at_tree **out, at_error *err) {
    if (t->orders.len)
        return at_fail(err, AT_E_INPUT, "%s orders loops of this tree: edits take one order only",
                       t->orders.data[0].name);
    *out = AT_NEW(a, at_tree);
    **out = (at_tree){.arena = a,
                      .spares = spares_for(a, t),
                      .compute = t->compute,
                      .may_be_open = t->may_be_open};
    (*out)->nodes = take_list((*out)->spares);
    (*out)->root = copy_nodes(*out, t->root, NULL, false);
    return AT_OK;
}

at_status tree_copy_with(at_arena *a, const at_tree *t, const char *stage, at_tree **out,
                         tree_node **leaf, at_error *err) {
    AT_TRY(tree_copy(a, t, out, err));
    return tree_find_leaf(*out, stage, leaf, err);
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

/* ---- over another computation ---------------------------------------------------------------- */

/* What is in an order is so in the copy. */
static void copy_orders(at_tree *out, tree_node *first) {
    for (tree_node *n = first; n; n = n->next) {
        if (n->order >= 0) out->orders.data[n->order].loop[n->order_place] = n;
        copy_orders(out, n->child);
    }
}

/* What nobody wrote stands where it would be printed. */
static void stand_as_printed(tree_node *first) {
    for (tree_node *n = first; n; n = n->next) {
        tree_stands_at(n, n->fixed.line_group, 0);
        stand_as_printed(n->child);
    }
}

at_status at_tree_over(at_arena *a, const at_tree *t, const at_compute *c, const char *what,
                       bool may_be_open, at_tree **out, at_error *err) {
    at_tree *copy = AT_NEW(a, at_tree);
    at_tree_maker m = {.arena = a, .c = c, .tree = copy, .err = err};
    *copy = (at_tree){.arena = a,
                      .spares = spares_for(a, t),
                      .compute = c,
                      .what = at_strdup(a, what),
                      .text = t->text,
                      .stands = t->stands,
                      .may_be_open = may_be_open};
    copy->nodes = take_list(copy->spares);
    copy->root = copy_nodes(copy, t->root, NULL, t->text != NULL);
    for (int i = 0; i < t->orders.len; i++) *at_push(a, &copy->orders) = t->orders.data[i];
    copy_orders(copy, copy->root);
    if (!t->text) stand_as_printed(copy->root);
    return at_tree_finish(&m, out);
}
