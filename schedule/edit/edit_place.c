/* schedule/edit/edit_place.c: where a stage is computed. */
#include "schedule/edit/edit.h"

#include "schedule/tree_int.h"

static const char edited[] = "edited tree";

typedef struct moving {
    at_arena *arena;
    const at_compute *c;
    at_tree *made;            /* a copy, being changed */
    tree_node *leaf, *beside; /* of the stage that moves; of the one it goes to */
    tree_node *loop;          /* that it goes into */
    tree_node *inner; /* the last of its new loops; the loop itself as long as there is none */
    tree_node *first; /* the first of them, or the leaf */
    at_error *err;
} moving;

static const at_tensor *tensor_of(const at_compute *c, const char *stage) {
    return &c->tensors[at_compute_find(c, stage)];
}

/* Through stages between that have no leaf. */
static int axis_of_reads(const moving *m, int reader, int t, int d) {
    bool *passes = AT_NEW_ARRAY(m->arena, bool, m->c->num_tensors);
    for (int r = 0; r < reader; r++) {
        const at_tensor *x = &m->c->tensors[r];
        passes[r] = x->role == AT_ROLE_STAGE && !tree_leaf(m->made, x->name);
    }
    return at_compute_read_axis(m->arena, m->c, passes, reader, t, d);
}

static bool reads(const moving *m, int reader, int t) {
    return reader > t && axis_of_reads(m, reader, t, 0) != AT_READ_NONE;
}

/* For each axis of the moving stage, the axis of the other that has its values; -1: none. Where
 * neither reads the other, as two outputs, those in the same place that are as long. */
static void match_axes(const moving *m, bool before, int *match) {
    int stage = at_compute_find(m->c, m->leaf->stage),
        other = at_compute_find(m->c, m->beside->stage);
    const at_tensor *s = &m->c->tensors[stage], *t = &m->c->tensors[other];
    for (int k = 0; k < s->num_axes; k++) match[k] = -1;
    if (!reads(m, other, stage) && !reads(m, stage, other)) {
        for (int k = 0; k < s->num_axes && k < t->num_axes; k++)
            if (at_expr_equal(s->axes[k].extent, t->axes[k].extent)) match[k] = k;
        return;
    }
    if (before) { /* it is read by the other */
        for (int k = 0; k < s->num_axes; k++) match[k] = axis_of_reads(m, other, stage, k);
        return;
    }
    for (int d = 0; d < m->c->tensors[other].num_axes; d++) {
        int k = axis_of_reads(m, stage, other, d);
        if (k >= 0 && k < s->num_axes) match[k] = d;
    }
}

static bool stands_above(const tree_node *x, const tree_node *below) {
    for (; below; below = below->parent)
        if (below == x) return true;
    return false;
}

static at_status add_loop(moving *m, const tree_node *like, const char *piece) {
    for (tree_node *x = m->inner; x; x = x->parent)
        if (names_have(&x->pieces, piece))
            return at_fail(m->err, AT_E_INPUT,
                           "@%s needs a loop \"%s\" there, and one of that name stands around it",
                           m->leaf->stage, piece);
    tree_node *n = tree_new_node(m->made->arena);
    *at_push(m->arena, &n->pieces) = piece;
    if (like) {
        n->ann = like->ann == AT_ANN_PARA ? AT_ANN_NONE : like->ann;
        n->ann_size = like->ann_size;
        int64_t extent = tree_extent(like, piece);
        if (extent) *at_push(m->arena, &n->extents) = extent;
        n->dynamic = like->dynamic;
        n->dyn_axes = like->dyn_axes;
    }
    if (m->first) tree_append(m->made, m->inner, n);
    else m->first = n, n->parent = m->loop;
    m->inner = n;
    return AT_OK;
}

/* The digits of an axis that both have: loops around the new place stay, the others are made anew.
 */
static at_status share(moving *m, const name_list *digits) {
    for (int i = 0; i < digits->len; i++) {
        const tree_node *like = tree_loop(m->beside, digits->data[i]);
        if (stands_above(like, m->loop)) continue;
        bool made = false;
        for (tree_node *x = m->first ? m->inner : NULL; x && x != m->loop; x = x->parent)
            made |= names_have(&x->pieces, digits->data[i]);
        if (!made) AT_TRY(add_loop(m, like, digits->data[i]));
    }
    return AT_OK;
}

/* Whether the new place is inside a loop that runs this axis of the other stage. Only there is a
 * reduction of it something that the two have in common. */
static bool is_inside(const moving *m, int axis) {
    const name_list *digits = &m->beside->index[axis];
    for (int i = 0; i < digits->len; i++)
        if (stands_above(tree_loop(m->beside, digits->data[i]), m->loop)) return true;
    return false;
}

/* The whole axis in a loop of its name. */
static at_status run_whole(moving *m, const at_tensor *s, int k) {
    const char *name = s->axes[k].name;
    if (at_symbol_find(m->c->symbols, name) >= 0)
        return at_fail(m->err, AT_E_INPUT,
                       "axis \"%s\" of @%s needs a loop of that name, which is a size", name,
                       s->name);
    m->leaf->index[k] = (name_list){0};
    *at_push(m->arena, &m->leaf->index[k]) = name;
    return add_loop(m, NULL, name);
}

static at_status make_loops(moving *m, bool before) {
    const at_tensor *s = tensor_of(m->c, m->leaf->stage);
    int match[MAX_AXES], beside_axes = tensor_of(m->c, m->beside->stage)->num_axes;
    match_axes(m, before, match);
    tree_node *old = m->leaf;
    m->leaf = at_copy(m->arena, old, sizeof *old);
    m->leaf->index = at_copy(m->arena, old->index, sizeof *old->index * (size_t)old->num_index);
    for (int k = 0; k < s->num_axes; k++) {
        if (match[k] < 0 || (match[k] >= beside_axes && !is_inside(m, match[k])))
            AT_TRY(run_whole(m, s, k));
        else {
            m->leaf->index[k] = m->beside->index[match[k]];
            AT_TRY(share(m, &m->leaf->index[k]));
        }
    }
    for (int k = s->num_axes; k < axes_of(s); k++) /* sums keep their loops */
        for (int d = 0; d < old->index[k].len; d++)
            AT_TRY(add_loop(m, tree_loop(old, old->index[k].data[d]), old->index[k].data[d]));
    if (m->first) tree_append(m->made, m->inner, m->leaf);
    else m->first = m->leaf, m->leaf->parent = m->loop;
    tree_remove(m->made, old);
    return AT_OK;
}

at_status at_edit_nest(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                       const char *beside, const char *loop, bool before, at_tree **out,
                       at_error *err) {
    moving m = {.arena = a, .c = c, .err = err};
    AT_TRY(tree_copy_with(a, t, stage, &m.made, &m.leaf, err));
    AT_TRY(tree_find_leaf(m.made, beside, &m.beside, err));
    m.loop = m.inner = tree_loop(m.beside, loop);
    if (!m.loop) return at_fail(err, AT_E_INPUT, "\"%s\" is no loop around @%s", loop, beside);
    if (stands_above(m.loop, m.leaf))
        return at_fail(err, AT_E_INPUT, "@%s stands inside \"%s\" already", stage, loop);
    tree_node *at = m.beside; /* the child of the loop in which the other stage is computed */
    while (at->parent != m.loop) at = at->parent;
    AT_TRY(make_loops(&m, before));
    tree_insert(m.made, at, before, m.first);
    return tree_finish(m.made, c, edited, out, err);
}

at_status at_edit_dissolve(at_arena *a, const at_tree *t, const at_compute *c, const char *stage,
                           at_tree **out, at_error *err) {
    at_tree *o;
    tree_node *leaf;
    AT_TRY(tree_copy_with(a, t, stage, &o, &leaf, err));
    const at_tensor *s = tensor_of(c, stage);
    if (s->num_reduce)
        return at_fail(err, AT_E_INPUT, "rule 1 (leaf): @%s is a sum, which cannot be dissolved",
                       stage);
    if (s->is_output)
        return at_fail(err, AT_E_INPUT,
                       "rule 1 (leaf): @%s is an output, which cannot be dissolved", stage);
    if (s->is_places)
        return at_fail(err, AT_E_INPUT,
                       "rule 1 (leaf): @%s holds indices, which cannot be dissolved", stage);
    tree_remove(o, leaf);
    return tree_finish(o, c, edited, out, err);
}
