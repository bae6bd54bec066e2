/* schedule/tree_open.c: trees that leave something open: pieces without an extent, stages without a
 * leaf. What they say, and the leaves they lack as plain loops; sketch/partial.c goes on from it.
 */
#include "schedule/edit/edit.h"
#include "schedule/tree_int.h"

static const tree_node *leaf_of(const at_tree *t, int stage) {
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = t->nodes.data[i];
        if (n->stage && !n->is_init && n->fixed.tensor == stage) return n;
    }
    return NULL;
}

const char *at_tree_what(const at_tree *t) { return t->what; }

const at_symbols *at_tree_symbols(const at_tree *t) { return t->compute->symbols; }

bool at_tree_has_leaf(const at_tree *t, int stage) { return leaf_of(t, stage) != NULL; }

bool at_tree_has_piece(const at_tree *t, const char *name) {
    for (int i = 0; i < t->piece_names.len; i++)
        if (is_same_name(t->piece_names.data[i], name)) return true;
    return false;
}

bool at_tree_is_open(const at_tree *t) {
    if (t->has_open) return true;
    for (int i = 0; i < t->compute->num_tensors; i++)
        if (at_stage_needs_leaf(&t->compute->tensors[i]) && !leaf_of(t, i)) return true;
    return false;
}

int at_tree_digits(const at_tree *t, int stage, int axis, at_leaf_digit *out) {
    const tree_node *leaf = leaf_of(t, stage);
    if (!leaf) return -1;
    const tree_axis *x = &leaf->axes[axis];
    for (int d = 0; d < x->num_digits; d++) {
        const tree_node *loop = x->digit[d].loop;
        const tree_piece *piece = &loop->piece[x->digit[d].member];
        bool is_plain = loop->pieces.len == 1 && !loop->dynamic;
        const tree_node *below = leaf;
        while (below->parent != loop && !below->parent->fixed.is_reduce) below = below->parent;
        out[d] = (at_leaf_digit){.piece = loop->pieces.data[x->digit[d].member],
                                 .ann = loop->ann_size ? AT_ANN_UNROLL : loop->ann,
                                 .has_mark = loop->ann_size || loop->ann != AT_ANN_NONE,
                                 .is_open = piece->source == EXTENT_OPEN,
                                 .line = loop->fixed.line,
                                 .fixed = piece->fixed,
                                 .is_own = is_plain && below == leaf && !leaf->next &&
                                           loop->child == leaf,
                                 .in_tile = is_plain && below->parent == loop};
    }
    return x->num_digits;
}

const char *at_tree_around_sum(const at_tree *t, int stage) {
    const tree_node *leaf = leaf_of(t, stage), *around = NULL;
    for (const tree_node *loop = leaf ? leaf->parent : NULL; loop; loop = loop->parent)
        if (loop->fixed.is_reduce) around = NULL;
        else if (!around) around = loop;
    return around ? around->pieces.data[0] : NULL;
}

const char *at_tree_sum_waits(const at_tree *t, int stage) {
    const tree_node *leaf = leaf_of(t, stage), *inner = NULL;
    for (const tree_node *loop = leaf ? leaf->parent : NULL; loop; loop = loop->parent) {
        if (loop->fixed.is_reduce && inner) return loop->pieces.data[0];
        bool is_tile = loop->ann_size || loop->ann == AT_ANN_VEC || loop->ann == AT_ANN_UNROLL;
        if (!loop->fixed.is_reduce && !is_tile) inner = loop;
    }
    return NULL;
}

const char *at_tree_around_both(const at_tree *t, int stage, int other) {
    const tree_node *x = leaf_of(t, stage), *y = leaf_of(t, other);
    for (const tree_node *n = x ? x->parent : NULL; n; n = n->parent)
        for (const tree_node *k = y ? y->parent : NULL; k; k = k->parent)
            if (n == k) return n->pieces.data[0];
    return NULL;
}

/* ---- what it lacks --------------------------------------------------------------------------- */

/* A stage in loops of its own, one per axis but for those that stand around. Bounds from data may
 * use any of the axes before. */
static tree_node *plain_nest(const at_tree *o, const at_tensor *t, uint32_t around) {
    at_arena *a = o->arena;
    tree_node *leaf = tree_new_node(o->arena), *first = NULL, *last = NULL;
    leaf->stage = t->name;
    leaf->num_index = axes_of(t);
    leaf->index = AT_NEW_ARRAY(a, name_list, axes_of(t));
    for (int k = 0; k < axes_of(t); k++) {
        *at_push(a, &leaf->index[k]) = t->axes[k].name;
        if (around >> k & 1) continue;
        tree_node *loop = tree_new_node(o->arena);
        *at_push(a, &loop->pieces) = t->axes[k].name;
        loop->dynamic = t->axes[k].begin != NULL;
        for (int b = 0; b < k && loop->dynamic; b++) *at_push(a, &loop->dyn_axes) = t->axes[b].name;
        loop->parent = last;
        if (last) last->child = loop;
        else first = loop;
        last = loop;
    }
    leaf->parent = last;
    if (last) last->child = leaf;
    return first ? first : leaf;
}

/* The stages of a cycle that lack a leaf in the loops of its steps. */
static tree_node *cycle_nest(at_tree *o, const at_compute *c, const at_cycle *cycle,
                             const bool *lacking) {
    tree_node **loops = AT_NEW_ARRAY(o->arena, tree_node *, cycle->num_loops);
    for (int i = 0; i < c->num_tensors; i++) {
        const at_tensor *t = &c->tensors[c->order[i]];
        if (at_cycle_of(c, c->order[i]) != cycle || !lacking[c->order[i]]) continue;
        tree_node *inside = plain_nest(o, t, at_cycle_steps(c, c->order[i]));
        for (int k = t->step_loop; k >= 0 && inside; k = cycle->loops[k].parent) {
            const bool stands = loops[k] != NULL;
            if (!stands) {
                loops[k] = tree_new_node(o->arena);
                *at_push(o->arena, &loops[k]->pieces) = t->axes[cycle->loops[k].axis].name;
            }
            tree_append(o, loops[k], inside);
            inside = stands ? NULL : loops[k];
        }
    }
    return loops[0];
}

/* A leaf of another stage of the cycle; NULL: none has one. */
static tree_node *leaf_of_cycle(const at_tree *o, const at_compute *c, const at_cycle *cycle) {
    tree_node *leaf = NULL;
    for (int i = 0; i < cycle->num && !leaf; i++)
        leaf = tree_leaf(o, c->tensors[cycle->stages[i]].name);
    return leaf;
}

static bool has_later(const at_compute *c, const tree_node *n, int cycle, int stage) {
    const int own = n->stage ? at_compute_find(c, n->stage) : -1;
    if (own > stage && c->tensors[own].cycle == cycle) return true;
    for (const tree_node *x = n->child; x; x = x->next)
        if (has_later(c, x, cycle, stage)) return true;
    return false;
}

/* A stage in the loops of the steps of a leaf of its cycle, before the stages below it there. */
static void stand_in_steps(at_tree *o, const at_compute *c, const at_cycle *cycle, int stage,
                           tree_node *beside) {
    const at_tensor *t = &c->tensors[stage];
    const uint32_t steps = at_cycle_steps(c, stage);
    tree_node *nest = plain_nest(o, t, steps), *leaf = nest, *inner = NULL;
    while (!leaf->stage) leaf = leaf->child;
    for (int k = 0; k < cycle->depth; k++) {
        if (!(steps >> k & 1)) continue;
        leaf->index[k] = beside->index[k];
        for (int d = 0; d < leaf->index[k].len; d++) {
            tree_node *loop = tree_loop(beside, leaf->index[k].data[d]), *x = loop;
            while (x && x != inner) x = x->parent;
            if (x || !inner) inner = loop; /* it stands inside of the one before */
        }
    }
    tree_node *later = inner ? inner->child : o->root;
    while (later && !has_later(c, later, t->cycle, stage)) later = later->next;
    if (later) tree_insert(o, later, true, nest);
    else tree_append(o, inner, nest);
}

static bool reads_inside(const at_compute *c, const tree_node *n, const bool *readers) {
    if (n->stage) return readers[at_compute_find(c, n->stage)];
    for (const tree_node *x = n->child; x; x = x->next)
        if (reads_inside(c, x, readers)) return true;
    return false;
}

/* Which leaves read a stage, or any one of its cycle, through what lacks a leaf. */
static void find_readers(at_arena *a, const at_compute *c, const bool *lacking, int stage,
                         bool *readers) {
    const at_cycle *cycle = at_cycle_of(c, stage);
    bool *of_one = AT_NEW_ARRAY(a, bool, c->num_tensors);
    at_compute_reach(c, lacking, stage, readers);
    for (int i = 0; cycle && i < cycle->num; i++) {
        at_compute_reach(c, lacking, cycle->stages[i], of_one);
        for (int t = 0; t < c->num_tensors; t++) readers[t] |= of_one[t];
    }
}

at_status at_edit_complete(at_arena *a, const at_compute *c, const at_tree *t, at_tree **out,
                           at_error *err) {
    at_tree *o = AT_NEW(a, at_tree);
    bool *lacking = AT_NEW_ARRAY(a, bool, c->num_tensors),
         *readers = AT_NEW_ARRAY(a, bool, c->num_tensors);
    o->arena = a;
    if (t) AT_TRY(tree_copy(a, t, &o, err));
    o->may_be_open = false; /* what had no extent is a size by now */
    for (int i = 0; i < c->num_tensors; i++)
        lacking[i] = c->tensors[i].role == AT_ROLE_STAGE && !tree_leaf(o, c->tensors[i].name);
    for (int i = c->num_tensors - 1; i >= 0; i--) { /* each before what reads it */
        if (!lacking[i]) continue;
        const at_cycle *cycle = at_cycle_of(c, i);
        tree_node *beside = cycle ? leaf_of_cycle(o, c, cycle) : NULL;
        if (beside) {
            stand_in_steps(o, c, cycle, i, beside);
            lacking[i] = false;
            continue;
        }
        tree_node *nest =
                      cycle ? cycle_nest(o, c, cycle, lacking) : plain_nest(o, &c->tensors[i], 0),
                  *reader = o->root;
        find_readers(a, c, lacking, i, readers);
        while (reader && t && !reads_inside(c, reader, readers)) reader = reader->next;
        if (reader) tree_insert(o, reader, true, nest);
        else tree_append(o, NULL, nest);
        lacking[i] = false;
        for (int k = 0; cycle && k < cycle->num; k++) lacking[cycle->stages[k]] = false;
    }
    return tree_finish(o, c, t ? t->what : "plain tree", out, err);
}

at_status at_edit_plain(at_arena *a, const at_compute *c, at_tree **out, at_error *err) {
    return at_edit_complete(a, c, NULL, out, err);
}
