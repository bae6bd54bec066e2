/* schedule/outline.c: trees to outlines and back; finding, putting in and taking out nodes. */
#include "schedule/outline.h"

#include <string.h>

/* ---- from a tree ----------------------------------------------------------------------------- */

static const char *name_of(const at_tree *t, int piece) {
    return t->piece_names.data[t->pieces.data[piece].name];
}

static void take_loop(at_arena *a, const at_tree *t, const tree_node *from, outline_node *n) {
    const tree_piece *piece = &t->pieces.data[from->first_piece];
    bool has_numbers = false;
    for (int m = 0; m < from->fixed.num_pieces; m++) {
        *at_push(a, &n->pieces) = name_of(t, from->first_piece + m);
        has_numbers |= piece[m].source == EXTENT_FIXED;
    }
    for (int m = 0; has_numbers && m < from->fixed.num_pieces; m++)
        *at_push(a, &n->extents) = piece[m].source == EXTENT_FIXED ? piece[m].fixed : 0;
    n->ann = from->fixed.ann;
    n->ann_size = from->ann_name;
    n->dynamic = from->dynamic;
    for (int i = 0; i < from->num_dyn_args; i++) *at_push(a, &n->dyn_axes) = from->dyn_args[i];
}

static void take_leaf(at_arena *a, const at_tree *t, const tree_node *from, outline_node *n) {
    n->stage = t->compute->tensors[from->fixed.tensor].name;
    n->is_init = from->fixed.is_init;
    n->of = t;
    n->written = from;
    n->num_index = from->num_axes;
    n->index = AT_NEW_ARRAY(a, name_list, from->num_axes);
    for (int k = 0; k < from->num_axes; k++) {
        const tree_axis *axis = &t->axes.data[from->first_axis + k];
        for (int d = 0; d < axis->num_digits; d++) {
            const tree_digit *digit = &t->digits.data[axis->first_digit + d];
            const tree_node *loop = &t->nodes.data[digit->loop];
            *at_push(a, &n->index[k]) = name_of(t, loop->first_piece + digit->member);
        }
    }
}

static void take(outline *o, const at_tree *t, int i, outline_node *parent) {
    for (; i >= 0; i = t->nodes.data[i].next) {
        const tree_node *from = &t->nodes.data[i];
        if (from->is_generated) continue;
        outline_node *n = outline_new(o);
        outline_append(o, parent, n);
        if (from->fixed.is_leaf) take_leaf(o->arena, t, from, n);
        else {
            take_loop(o->arena, t, from, n);
            take(o, t, from->child, n);
        }
    }
}

at_status outline_of(at_arena *a, const at_tree *t, outline *out, at_error *err) {
    *out = (outline){.arena = a, .may_be_open = t->may_be_open};
    if (t->orders.len)
        return at_fail(err, AT_E_INPUT, "%s orders loops of this tree: edits take one order only",
                       t->orders.data[0].name);
    take(out, t, 0, NULL);
    return AT_OK;
}

/* ---- to a tree ------------------------------------------------------------------------------- */

static at_status make(at_tree_maker *m, const at_compute *c, const outline_node *first, int parent);

/* A loop that is all there is inside another stands on its line. */
static at_status make_loop(at_tree_maker *m, const at_compute *c, const outline_node *n,
                           int parent) {
    if (!n->parent || n->next || n->parent->child != n) at_tree_new_line(m);
    int loop = at_tree_add_loop(m, parent, n->ann);
    for (int i = 0; i < n->pieces.len; i++) {
        AT_TRY(at_tree_add_piece(m, loop, n->pieces.data[i]));
        int64_t extent = outline_extent(n, n->pieces.data[i]);
        if (extent) at_tree_set_extent(m, loop, extent);
    }
    if (n->ann_size) AT_TRY(at_tree_set_ann_size(m, loop, n->ann_size));
    if (n->dynamic) at_tree_set_dynamic(m, loop, n->dyn_axes.data, n->dyn_axes.len);
    return make(m, c, n->child, loop);
}

static at_status make_leaf(at_tree_maker *m, const outline_node *n, int parent) {
    int leaf;
    at_tree_new_line(m);
    AT_TRY(at_tree_add_leaf(m, parent, n->stage, n->is_init, &leaf));
    if (n->attributes) AT_TRY(tree_parse_attributes(m, leaf, n->attributes));
    if (n->of) AT_TRY(tree_copy_attributes(m, leaf, n->of, n->written));
    for (int k = 0; k < n->num_index; k++) {
        at_tree_add_index(m, leaf);
        for (int d = 0; d < n->index[k].len; d++)
            AT_TRY(at_tree_add_digit(m, leaf, n->index[k].data[d]));
    }
    return AT_OK;
}

static at_status make(at_tree_maker *m, const at_compute *c, const outline_node *first,
                      int parent) {
    for (const outline_node *n = first; n; n = n->next)
        if (n->stage) AT_TRY(make_leaf(m, n, parent));
        else AT_TRY(make_loop(m, c, n, parent));
    return AT_OK;
}

static int count_nodes(const outline_node *first) {
    int count = 0;
    for (const outline_node *n = first; n; n = n->next) count += 1 + count_nodes(n->child);
    return count;
}

at_status outline_tree(const outline *o, const at_compute *c, const char *what, at_tree **out,
                       at_error *err) {
    at_tree_maker *m = at_tree_begin(o->arena, c, what, err);
    m->tree->may_be_open = o->may_be_open;
    at_tree_expect(m, count_nodes(o->root));
    AT_TRY(make(m, c, o->root, -1));
    return at_tree_finish(m, out);
}

/* ---- finding --------------------------------------------------------------------------------- */

static outline_node *find_leaf(outline_node *first, const char *stage, bool is_init) {
    for (outline_node *n = first; n; n = n->next) {
        if (n->stage && n->is_init == is_init && !strcmp(n->stage, stage)) return n;
        outline_node *below = n->stage ? NULL : find_leaf(n->child, stage, is_init);
        if (below) return below;
    }
    return NULL;
}

outline_node *outline_leaf(const outline *o, const char *stage) {
    const char *dot = strchr(stage, '.');
    if (dot && !strcmp(dot, ".init"))
        return outline_init(o, at_strndup(o->arena, stage, (size_t)(dot - stage)));
    return find_leaf(o->root, stage, false);
}

outline_node *outline_init(const outline *o, const char *stage) {
    return find_leaf(o->root, stage, true);
}

at_status outline_find(const outline *o, const char *stage, outline_node **leaf, at_error *err) {
    *leaf = outline_leaf(o, stage);
    return *leaf ? AT_OK : at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", stage);
}

at_status outline_with(at_arena *a, const at_tree *t, const char *stage, outline *out,
                       outline_node **leaf, at_error *err) {
    AT_TRY(outline_of(a, t, out, err));
    return outline_find(out, stage, leaf, err);
}

int64_t outline_extent(const outline_node *loop, const char *piece) {
    for (int i = 0; i < loop->extents.len; i++)
        if (!strcmp(loop->pieces.data[i], piece)) return loop->extents.data[i];
    return 0;
}

bool names_have(const name_list *l, const char *name) {
    for (int i = 0; i < l->len; i++)
        if (!strcmp(l->data[i], name)) return true;
    return false;
}

outline_node *outline_loop(outline_node *leaf, const char *piece) {
    for (outline_node *n = leaf->parent; n; n = n->parent)
        if (names_have(&n->pieces, piece)) return n;
    return NULL;
}

static bool reduces_in(const at_compute *c, const outline_node *first, const outline_node *loop) {
    for (const outline_node *n = first; n; n = n->next) {
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

bool outline_reduces(const at_compute *c, const outline_node *loop) {
    return reduces_in(c, loop->child, loop);
}

outline_node *outline_only_child(const outline_node *n) {
    return n->child && !n->child->next && !n->child->stage ? n->child : NULL;
}

/* ---- changing -------------------------------------------------------------------------------- */

outline_node *outline_new(const outline *o) {
    outline_node *n = AT_NEW(o->arena, outline_node);
    *n = (outline_node){0};
    return n;
}

static outline_node **place_of(outline *o, const outline_node *n) {
    outline_node **p = n->parent ? &n->parent->child : &o->root;
    while (*p != n) p = &(*p)->next;
    return p;
}

void outline_append(outline *o, outline_node *parent, outline_node *n) {
    outline_node **p = parent ? &parent->child : &o->root;
    while (*p) p = &(*p)->next;
    n->parent = parent;
    n->next = NULL;
    *p = n;
}

void outline_insert(outline *o, outline_node *beside, bool before, outline_node *n) {
    outline_node **p = before ? place_of(o, beside) : &beside->next;
    n->parent = beside->parent;
    n->next = *p;
    *p = n;
}

void outline_remove(outline *o, outline_node *n) {
    while (n) {
        outline_node *parent = n->parent;
        *place_of(o, n) = n->next;
        if (!parent || parent->child) return;
        n = parent;
    }
}
