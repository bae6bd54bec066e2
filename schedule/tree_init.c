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
#include "schedule/schedule_int.h"

#include <stdlib.h>
#include <string.h>

static tree_node *node(const at_tree *t, int i) { return &t->nodes.data[i]; }

/* Does a leaf use a loop for one of the axes from .. to-1? */
static bool uses(const at_tree *t, const tree_node *leaf, int loop, int from, int to) {
    for (int k = from; k < to; k++) {
        const tree_axis *axis = &t->axes.data[leaf->first_axis + k];
        for (int d = 0; d < axis->num_digits; d++)
            if (t->digits.data[axis->first_digit + d].loop == loop) return true;
    }
    return false;
}

static void insert_before(at_tree *t, int i, int sibling) {
    int parent = node(t, sibling)->parent;
    node(t, i)->parent = parent;
    node(t, i)->next = sibling;
    for (int k = 0; k < t->nodes.len; k++) {
        tree_node *n = node(t, k);
        if (k == i) continue;
        if (n->next == sibling && n->parent == parent) n->next = i;
        if (k == parent && n->child == sibling) n->child = i;
    }
}

static int copy_of(at_arena *a, at_tree *t, int original, int group) {
    int i = t->nodes.len;
    tree_node *n = at_push(a, &t->nodes);
    *n = *node(t, original);
    n->child = n->next = -1;
    n->is_generated = true;
    n->order = -1;
    n->fixed.line_group = group;
    n->fixed.is_reduce = false;
    return i;
}

static int slot_of(at_arena *a, at_tree *t, const char *name) {
    int i = 0;
    while (i < t->piece_names.len && strcmp(t->piece_names.data[i], name) != 0) i++;
    if (i == t->piece_names.len) *at_push(a, &t->piece_names) = name;
    return i;
}

/* A loop over all of an axis. */
static int whole_axis(at_arena *a, at_tree *t, int leaf, int axis, int group) {
    const int tensor = node(t, leaf)->fixed.tensor, i = copy_of(a, t, leaf, group);
    const at_tensor *stage = &t->compute->tensors[tensor];
    tree_node *n = node(t, i);
    n->fixed.is_leaf = n->fixed.is_scatter = false;
    n->fixed.ann = axis == stage->num_axes - 1 ? AT_ANN_VEC : AT_ANN_NONE;
    n->fixed.id = n->fixed.dyn_tensor = n->fixed.dyn_axis = -1;
    n->fixed.num_pieces = 1;
    n->first_piece = t->pieces.len;
    n->num_axes = 0;
    *at_push(a, &t->pieces) = (tree_piece){.name = slot_of(a, t, stage->axes[axis].name),
                                           .source = EXTENT_AXIS,
                                           .tensor = tensor,
                                           .axis = axis};
    return i;
}

/* The new loop stands in the last one, or, the first of all, before what is to be summed. */
static int chained(at_tree *t, int i, int chain, int before) {
    if (chain < 0) {
        insert_before(t, i, before);
    } else {
        node(t, i)->parent = chain;
        node(t, chain)->child = i;
    }
    return i;
}

static void add_init(at_arena *a, at_tree *t, int leaf, int group) {
    const at_tensor *stage = &t->compute->tensors[node(t, leaf)->fixed.tensor];
    int spatial = stage->num_axes, all = axes_of(stage);
    int path[MAX_PIECES + 1], length = 0, outermost = leaf;
    for (int i = leaf; i >= 0; i = node(t, i)->parent) {
        path[length++] = i;
        if (i != leaf && uses(t, node(t, leaf), i, spatial, all)) outermost = i;
    }
    int copied[MAX_PIECES + 1][2], num_copied = 0, chain = -1;
    const bool scatters = node(t, leaf)->fixed.is_scatter;
    const uint32_t placed = scatters ? at_scatter_of(stage).axes : 0;
    const bool ends_placed = spatial && placed >> (spatial - 1) & 1;
    int over[MAX_AXES] = {0};
    while (path[length - 1] != outermost) length--;
    for (int k = 0; k < spatial - ends_placed; k++)
        if (placed >> k & 1)
            chain = over[k] = chained(t, whole_axis(a, t, leaf, k, group), chain, outermost);
    for (int k = length - 1; k >= 0; k--) {
        int original = path[k];
        if (original == leaf && ends_placed)
            chain = over[spatial - 1] =
                chained(t, whole_axis(a, t, leaf, spatial - 1, group), chain, outermost);
        if (original != leaf && !uses(t, node(t, leaf), original, 0, spatial)) continue;
        int i = copy_of(a, t, original, original == leaf ? group + 1 : group);
        copied[num_copied][0] = original;
        copied[num_copied++][1] = i;
        if (ends_placed && node(t, i)->fixed.ann == AT_ANN_VEC) node(t, i)->fixed.ann = AT_ANN_NONE;
        chain = chained(t, i, chain, outermost);
    }
    tree_node *init = node(t, chain);
    int from = init->first_axis;
    init->fixed.is_init = true;
    init->fixed.is_scatter = false;
    init->num_axes = spatial;
    init->first_axis = t->axes.len;
    for (int k = 0; k < spatial; k++) {
        tree_axis axis = t->axes.data[from + k];
        int first = t->digits.len;
        for (int d = 0; d < axis.num_digits; d++) {
            tree_digit digit = t->digits.data[axis.first_digit + d];
            for (int x = 0; x < num_copied; x++)
                if (copied[x][0] == digit.loop) {
                    digit.loop = copied[x][1];
                    break;
                }
            *at_push(a, &t->digits) = digit;
        }
        if (placed >> k & 1) {
            *at_push(a, &t->digits) = (tree_digit){.loop = over[k]};
            axis.num_digits = 1;
        }
        *at_push(a, &t->axes) = (tree_axis){first, axis.num_digits};
    }
}

/* Puts a node and all below it behind those placed already; depth counts the loops above. */
static void place(at_tree *t, int i, int depth, int *order, int *count) {
    for (; i >= 0; i = node(t, i)->next) {
        node(t, i)->fixed.depth = depth;
        order[(*count)++] = i;
        place(t, node(t, i)->child, depth + 1, order, count);
    }
}

static void renumber(at_arena *a, at_tree *t, int first) {
    int n = t->nodes.len, count = 0;
    int *order = AT_NEW_ARRAY(a, int, n), *number = AT_NEW_ARRAY(a, int, n);
    place(t, first, 0, order, &count);
    AT_ASSERT(count == n);
    for (int i = 0; i < n; i++) number[order[i]] = i;
    tree_node *nodes = t->nodes.data, *as_written = malloc(sizeof *nodes * (size_t)n);
    AT_NEED(as_written);
    memcpy(as_written, nodes, sizeof *nodes * (size_t)n);
    for (int i = 0; i < n; i++) {
        nodes[i] = as_written[order[i]];
        if (nodes[i].parent >= 0) nodes[i].parent = number[nodes[i].parent];
        if (nodes[i].child >= 0) nodes[i].child = number[nodes[i].child];
        if (nodes[i].next >= 0) nodes[i].next = number[nodes[i].next];
        if (!nodes[i].fixed.is_leaf) nodes[i].fixed.id = t->num_loops++;
    }
    for (int i = 0; i < t->digits.len; i++) t->digits.data[i].loop = number[t->digits.data[i].loop];
    for (int i = 0; i < n; i++)
        if (nodes[i].order >= 0) t->orders.data[nodes[i].order].loop[nodes[i].order_place] = i;
    free(as_written);
}

void tree_add_inits(at_arena *a, at_tree *t) {
    int written = t->nodes.len, group = 0;
    bool *has_init = AT_NEW_ARRAY(a, bool, t->compute->num_tensors);
    for (int i = 0; i < written; i++) {
        const at_node *n = &node(t, i)->fixed;
        if (n->is_leaf && n->is_init) has_init[n->tensor] = true;
        if (n->line_group > group) group = n->line_group;
    }
    for (int i = 0; i < written; i++) {
        const at_node *n = &node(t, i)->fixed;
        if (!n->is_leaf || n->is_init || n->is_running || has_init[n->tensor]) continue;
        if (!t->compute->tensors[n->tensor].num_reduce) continue;
        has_init[n->tensor] = true;
        add_init(a, t, i, group + 1);
        group += 2;
    }
    int first = 0;
    for (int i = 0; i < t->nodes.len; i++) /* an init may stand before what was first */
        if (node(t, i)->parent < 0) {
            bool has_previous = false;
            for (int k = 0; k < t->nodes.len; k++) has_previous |= node(t, k)->next == i;
            if (!has_previous) first = i;
        }
    renumber(a, t, first);
    t->piece_slots = AT_NEW_ARRAY(a, int, t->pieces.len);
    for (int i = 0; i < t->pieces.len; i++) t->piece_slots[i] = t->pieces.data[i].name;
    t->members = AT_NEW_ARRAY(a, int, t->digits.len);
    for (int i = 0; i < t->digits.len; i++) t->members[i] = t->digits.data[i].member;
    for (int i = 0; i < t->nodes.len; i++)
        if (!node(t, i)->fixed.is_leaf)
            node(t, i)->fixed.piece = t->piece_slots + node(t, i)->first_piece;
}
