/* schedule/tree_open.c: trees that leave something open: pieces without an extent, stages without a
 * leaf. What they say, and the leaves they lack as plain loops; sketch/partial.c goes on from it.
 */
#include "schedule/edit.h"
#include "schedule/outline.h"

static const tree_node *leaf_of(const at_tree *t, int stage) {
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = &t->nodes.data[i];
        if (n->fixed.is_leaf && !n->fixed.is_init && n->fixed.tensor == stage) return n;
    }
    return NULL;
}

const char *at_tree_what(const at_tree *t) { return t->what; }

const at_symbols *at_tree_symbols(const at_tree *t) { return t->compute->symbols; }

bool at_tree_has_leaf(const at_tree *t, int stage) { return leaf_of(t, stage) != NULL; }

bool at_tree_is_open(const at_tree *t) {
    if (t->has_open) return true;
    for (int i = 0; i < t->compute->num_tensors; i++)
        if (at_stage_needs_leaf(&t->compute->tensors[i]) && !leaf_of(t, i)) return true;
    return false;
}

int at_tree_digits(const at_tree *t, int stage, int axis, at_leaf_digit *out) {
    const tree_node *leaf = leaf_of(t, stage);
    if (!leaf) return -1;
    const tree_axis *x = &t->axes.data[leaf->first_axis + axis];
    for (int d = 0; d < x->num_digits; d++) {
        const tree_digit *digit = &t->digits.data[x->first_digit + d];
        const tree_node *loop = &t->nodes.data[digit->loop];
        const tree_piece *piece = &t->pieces.data[loop->first_piece + digit->member];
        bool is_plain = loop->fixed.num_pieces == 1 && !loop->dynamic;
        const tree_node *below = leaf;
        while (below->parent != digit->loop && !t->nodes.data[below->parent].fixed.is_reduce)
            below = &t->nodes.data[below->parent];
        out[d] = (at_leaf_digit){.piece = t->piece_names.data[piece->name],
                                 .ann = loop->ann_name ? AT_ANN_UNROLL : loop->fixed.ann,
                                 .has_mark = loop->ann_name || loop->fixed.ann != AT_ANN_NONE,
                                 .is_open = piece->source == EXTENT_OPEN,
                                 .line = loop->fixed.line,
                                 .fixed = piece->fixed,
                                 .is_own = is_plain && below == leaf && leaf->next < 0 &&
                                           loop->child == leaf - t->nodes.data,
                                 .in_tile = is_plain && below->parent == digit->loop};
    }
    return x->num_digits;
}

static const char *first_piece(const at_tree *t, const tree_node *loop) {
    return t->piece_names.data[t->pieces.data[loop->first_piece].name];
}

const char *at_tree_around_sum(const at_tree *t, int stage) {
    const tree_node *leaf = leaf_of(t, stage), *around = NULL;
    for (int i = leaf ? leaf->parent : -1; i >= 0; i = t->nodes.data[i].parent) {
        const tree_node *loop = &t->nodes.data[i];
        if (loop->fixed.is_reduce) around = NULL;
        else if (!around) around = loop;
    }
    return around ? first_piece(t, around) : NULL;
}

const char *at_tree_sum_waits(const at_tree *t, int stage) {
    const tree_node *leaf = leaf_of(t, stage), *inner = NULL;
    for (int i = leaf ? leaf->parent : -1; i >= 0; i = t->nodes.data[i].parent) {
        const tree_node *loop = &t->nodes.data[i];
        if (loop->fixed.is_reduce && inner) return first_piece(t, loop);
        bool is_tile =
            loop->ann_name || loop->fixed.ann == AT_ANN_VEC || loop->fixed.ann == AT_ANN_UNROLL;
        if (!loop->fixed.is_reduce && !is_tile) inner = loop;
    }
    return NULL;
}

const char *at_tree_around_both(const at_tree *t, int stage, int other) {
    const tree_node *x = leaf_of(t, stage), *y = leaf_of(t, other);
    for (int i = x ? x->parent : -1; i >= 0; i = t->nodes.data[i].parent)
        for (int k = y ? y->parent : -1; k >= 0; k = t->nodes.data[k].parent)
            if (i == k) return first_piece(t, &t->nodes.data[i]);
    return NULL;
}

/* ---- what it lacks --------------------------------------------------------------------------- */

/* A stage in loops of its own, one per axis but for those that stand around. Bounds from data may
 * use any of the axes before. */
static outline_node *plain_nest(const outline *o, const at_tensor *t, uint32_t around) {
    at_arena *a = o->arena;
    outline_node *leaf = outline_new(o), *first = NULL, *last = NULL;
    leaf->stage = t->name;
    leaf->num_index = axes_of(t);
    leaf->index = AT_NEW_ARRAY(a, name_list, axes_of(t));
    for (int k = 0; k < axes_of(t); k++) {
        *at_push(a, &leaf->index[k]) = t->axes[k].name;
        if (around >> k & 1) continue;
        outline_node *loop = outline_new(o);
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
static outline_node *cycle_nest(outline *o, const at_compute *c, const at_cycle *cycle,
                                const bool *lacking) {
    outline_node **loops = AT_NEW_ARRAY(o->arena, outline_node *, cycle->num_loops);
    for (int i = 0; i < c->num_tensors; i++) {
        const at_tensor *t = &c->tensors[c->order[i]];
        if (at_cycle_of(c, c->order[i]) != cycle || !lacking[c->order[i]]) continue;
        outline_node *inside = plain_nest(o, t, at_cycle_steps(c, c->order[i]));
        for (int k = t->step_loop; k >= 0 && inside; k = cycle->loops[k].parent) {
            const bool stands = loops[k] != NULL;
            if (!stands) {
                loops[k] = outline_new(o);
                *at_push(o->arena, &loops[k]->pieces) = t->axes[cycle->loops[k].axis].name;
            }
            outline_append(o, loops[k], inside);
            inside = stands ? NULL : loops[k];
        }
    }
    return loops[0];
}

/* A leaf of another stage of the cycle; NULL: none has one. */
static outline_node *leaf_of_cycle(const outline *o, const at_compute *c, const at_cycle *cycle) {
    outline_node *leaf = NULL;
    for (int i = 0; i < cycle->num && !leaf; i++)
        leaf = outline_leaf(o, c->tensors[cycle->stages[i]].name);
    return leaf;
}

static bool has_later(const at_compute *c, const outline_node *n, int cycle, int stage) {
    const int own = n->stage ? at_compute_find(c, n->stage) : -1;
    if (own > stage && c->tensors[own].cycle == cycle) return true;
    for (const outline_node *x = n->child; x; x = x->next)
        if (has_later(c, x, cycle, stage)) return true;
    return false;
}

/* A stage in the loops of the steps of a leaf of its cycle, before the stages below it there. */
static void stand_in_steps(outline *o, const at_compute *c, const at_cycle *cycle, int stage,
                           outline_node *beside) {
    const at_tensor *t = &c->tensors[stage];
    const uint32_t steps = at_cycle_steps(c, stage);
    outline_node *nest = plain_nest(o, t, steps), *leaf = nest, *inner = NULL;
    while (!leaf->stage) leaf = leaf->child;
    for (int k = 0; k < cycle->depth; k++) {
        if (!(steps >> k & 1)) continue;
        leaf->index[k] = beside->index[k];
        for (int d = 0; d < leaf->index[k].len; d++) {
            outline_node *loop = outline_loop(beside, leaf->index[k].data[d]), *x = loop;
            while (x && x != inner) x = x->parent;
            if (x || !inner) inner = loop; /* it stands inside of the one before */
        }
    }
    outline_node *later = inner ? inner->child : o->root;
    while (later && !has_later(c, later, t->cycle, stage)) later = later->next;
    if (later) outline_insert(o, later, true, nest);
    else outline_append(o, inner, nest);
}

static bool reads_inside(const at_compute *c, const outline_node *n, const bool *readers) {
    if (n->stage) return readers[at_compute_find(c, n->stage)];
    for (const outline_node *x = n->child; x; x = x->next)
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
    outline o = {.arena = a};
    bool *lacking = AT_NEW_ARRAY(a, bool, c->num_tensors),
         *readers = AT_NEW_ARRAY(a, bool, c->num_tensors);
    if (t) AT_TRY(outline_of(a, t, &o, err));
    o.may_be_open = false; /* what had no extent is a size by now */
    for (int i = 0; i < c->num_tensors; i++)
        lacking[i] = c->tensors[i].role == AT_ROLE_STAGE && !outline_leaf(&o, c->tensors[i].name);
    for (int i = c->num_tensors - 1; i >= 0; i--) { /* each before what reads it */
        if (!lacking[i]) continue;
        const at_cycle *cycle = at_cycle_of(c, i);
        outline_node *beside = cycle ? leaf_of_cycle(&o, c, cycle) : NULL;
        if (beside) {
            stand_in_steps(&o, c, cycle, i, beside);
            lacking[i] = false;
            continue;
        }
        outline_node *nest = cycle ? cycle_nest(&o, c, cycle, lacking)
                                   : plain_nest(&o, &c->tensors[i], 0),
                     *reader = o.root;
        find_readers(a, c, lacking, i, readers);
        while (reader && t && !reads_inside(c, reader, readers)) reader = reader->next;
        if (reader) outline_insert(&o, reader, true, nest);
        else outline_append(&o, NULL, nest);
        lacking[i] = false;
        for (int k = 0; cycle && k < cycle->num; k++) lacking[cycle->stages[k]] = false;
    }
    return outline_tree(&o, c, t ? t->what : "plain tree", out, err);
}

at_status at_edit_plain(at_arena *a, const at_compute *c, at_tree **out, at_error *err) {
    return at_edit_complete(a, c, NULL, out, err);
}
