/* schedule/tree_init.c: the default initialisation of reducing leaves, and the final numbering of
 * nodes.
 *
 *     ko, yi, xi =>                       yi, xi =>
 *         @acc = yi, xi // ko      ->         @acc.init = yi, xi
 *                                         ko, yi, xi =>
 *                                             @acc = yi, xi // ko
 *
 * Where terms say where they belong along an axis, a loop goes over all of it:
 *
 *     c0, n, c1:vec =>                          c0, h_at, c1:vec =>
 *         @h[scatter] = 0, {c0, c1}/c // n  ->      @h.init = h_at, {c0, c1}/c
 *                                               .. */
#include "schedule/tree_int.h"

#include <string.h>

/* Does a leaf use a loop for one of the axes from .. to-1? */
static bool uses(const tree_node *leaf, const tree_node *loop, int from, int to) {
    for (int k = from; k < to; k++)
        for (int d = 0; d < leaf->axes[k].num_digits; d++)
            if (leaf->axes[k].digit[d].loop == loop) return true;
    return false;
}

static tree_node *copy_of(at_tree *t, const tree_node *original, int group) {
    tree_node *n = tree_take_node(t);
    *n = *original;
    n->parent = n->child = n->next = NULL;
    n->is_generated = true;
    n->order = -1;
    n->fixed.line_group = group;
    n->fixed.is_reduce = false;
    return n;
}

static int slot_of(at_tree *t, const char *name) {
    int i = 0;
    while (i < t->piece_names.len && !is_same_name(t->piece_names.data[i], name)) i++;
    if (i == t->piece_names.len) *at_push(t->arena, &t->piece_names) = name;
    return i;
}

/* A loop over all of an axis. */
static tree_node *whole_axis(at_tree *t, const tree_node *leaf, int axis, int group) {
    const at_tensor *stage = &t->compute->tensors[leaf->fixed.tensor];
    tree_node *n = tree_take_node(t);
    tree_stands_at(n, leaf->tag_line, leaf->tag_col);
    *at_push(t->arena, &n->pieces) = stage->axes[axis].name;
    n->is_generated = true;
    n->ann_symbol = -1;
    n->ann = axis == stage->num_axes - 1 ? AT_ANN_VEC : AT_ANN_NONE;
    n->piece = AT_NEW(t->arena, tree_piece);
    *n->piece = (tree_piece){.name = slot_of(t, stage->axes[axis].name),
                             .source = EXTENT_AXIS,
                             .tensor = leaf->fixed.tensor,
                             .axis = axis};
    n->fixed = (at_node){.line = leaf->fixed.line,
                         .line_group = group,
                         .num_pieces = 1,
                         .ann = n->ann,
                         .dyn_tensor = -1,
                         .dyn_axis = -1};
    return n;
}

/* The new loop stands in the last one, or, the first of all, before what is to be summed. */
static tree_node *chained(at_tree *t, tree_node *n, tree_node *chain, tree_node *before) {
    if (chain) tree_append(t, chain, n);
    else tree_insert(t, before, true, n);
    return n;
}

typedef struct copied {
    const tree_node *original;
    tree_node *copy;
} copied;

/* The digits of an axis that initialisation runs over, in copied loops. */
static tree_axis init_axis(at_tree *t, const tree_axis *from, const copied *loops, int num) {
    tree_axis axis = *from;
    axis.digit = at_copy(t->arena, from->digit, sizeof *from->digit * (size_t)from->num_digits);
    for (int d = 0; d < axis.num_digits; d++)
        for (int i = 0; i < num; i++)
            if (loops[i].original == from->digit[d].loop) axis.digit[d].loop = loops[i].copy;
    return axis;
}

static void add_init(at_tree *t, tree_node *leaf, int group) {
    const at_tensor *stage = &t->compute->tensors[leaf->fixed.tensor];
    const int spatial = stage->num_axes, all = axes_of(stage);
    tree_node *path[MAX_PIECES + 1], *outermost = leaf, *chain = NULL, *over[MAX_AXES] = {0};
    copied loops[MAX_PIECES + 1];
    int length = 0, num = 0;
    for (tree_node *n = leaf; n; n = n->parent) {
        path[length++] = n;
        if (n != leaf && uses(leaf, n, spatial, all)) outermost = n;
    }
    const uint32_t placed = leaf->fixed.is_scatter ? at_scatter_of(stage).axes : 0;
    const bool ends_placed = spatial && placed >> (spatial - 1) & 1;
    while (path[length - 1] != outermost) length--;
    for (int k = 0; k < spatial - ends_placed; k++)
        if (placed >> k & 1)
            chain = over[k] = chained(t, whole_axis(t, leaf, k, group), chain, outermost);
    for (int k = length - 1; k >= 0; k--) {
        const tree_node *original = path[k];
        if (original == leaf && ends_placed)
            chain = over[spatial - 1] =
                chained(t, whole_axis(t, leaf, spatial - 1, group), chain, outermost);
        if (original != leaf && !uses(leaf, original, 0, spatial)) continue;
        tree_node *n = copy_of(t, original, original == leaf ? group + 1 : group);
        loops[num++] = (copied){original, n};
        if (ends_placed && n->fixed.ann == AT_ANN_VEC) n->fixed.ann = n->ann = AT_ANN_NONE;
        chain = chained(t, n, chain, outermost);
    }
    chain->is_init = chain->fixed.is_init = true;
    chain->fixed.is_scatter = false;
    chain->num_axes = spatial;
    chain->axes = AT_NEW_ARRAY(t->arena, tree_axis, spatial);
    for (int k = 0; k < spatial; k++) {
        chain->axes[k] = init_axis(t, &leaf->axes[k], loops, num);
        if (!(placed >> k & 1)) continue;
        chain->axes[k] = (tree_axis){.num_digits = 1, .digit = AT_NEW(t->arena, tree_digit)};
        chain->axes[k].digit->loop = over[k];
    }
}

/* Numbers nodes, and their pieces, axes and digits; depth counts the loops above. */
static void number(at_tree *t, tree_node *first, int depth) {
    for (tree_node *n = first; n; n = n->next) {
        n->number = t->nodes.len;
        *at_push(t->arena, &t->nodes) = n;
        n->fixed.depth = depth;
        n->fixed.id = n->stage ? -1 : t->num_loops++;
        n->first_piece = t->num_pieces;
        t->num_pieces += n->fixed.num_pieces;
        n->first_axis = t->num_axes;
        t->num_axes += n->num_axes;
        for (int k = 0; k < n->num_axes; k++) {
            n->axes[k].first_digit = t->num_digits;
            t->num_digits += n->axes[k].num_digits;
        }
        number(t, n->child, depth + 1);
    }
}

/* What nodes of programs point into. */
static void set_numbers(at_tree *t) {
    t->piece_slots = AT_NEW_ARRAY(t->arena, int, t->num_pieces);
    t->members = AT_NEW_ARRAY(t->arena, int, t->num_digits);
    for (int i = 0; i < t->nodes.len; i++) {
        tree_node *n = t->nodes.data[i];
        for (int m = 0; m < n->fixed.num_pieces; m++)
            t->piece_slots[n->first_piece + m] = n->piece[m].name;
        if (!n->stage) n->fixed.piece = t->piece_slots + n->first_piece;
        for (int k = 0; k < n->num_axes; k++)
            for (int d = 0; d < n->axes[k].num_digits; d++)
                t->members[n->axes[k].first_digit + d] = n->axes[k].digit[d].member;
    }
}

void tree_add_inits(at_tree *t) {
    int group = 0;
    bool *has_init = AT_NEW_ARRAY(t->arena, bool, t->compute->num_tensors);
    for (int i = 0; i < t->nodes.len; i++) {
        const at_node *n = &t->nodes.data[i]->fixed;
        if (n->is_leaf && n->is_init) has_init[n->tensor] = true;
        if (n->line_group > group) group = n->line_group;
    }
    for (int i = 0; i < t->nodes.len; i++) { /* as they are written */
        const at_node *n = &t->nodes.data[i]->fixed;
        if (!n->is_leaf || n->is_init || n->is_running || has_init[n->tensor]) continue;
        if (!t->compute->tensors[n->tensor].num_reduce) continue;
        has_init[n->tensor] = true;
        add_init(t, t->nodes.data[i], group + 1);
        group += 2;
    }
    t->nodes.len = 0;
    number(t, t->root, 0);
    set_numbers(t);
}
