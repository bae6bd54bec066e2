/* schedule/tree_make.c: a loop tree built by calls, and what its names mean. The parser of trees
 * and readers of other tuners' records make one; edits change a copy of one. What depends on
 * numbers is left to build.c, what is legal to verify.c. */
#include "schedule/tree_int.h"

#include <string.h>

#define FAIL_NODE(m, n, ...)                                                                       \
    ((m)->line = (n)->tag_line, (m)->col = (n)->tag_col, tree_fail(m, __VA_ARGS__))

at_tree_maker *at_tree_begin(at_arena *a, const at_compute *c, const char *what, at_error *err) {
    at_tree_maker *m = AT_NEW(a, at_tree_maker);
    *m = (at_tree_maker){.arena = a, .c = c, .tree = AT_NEW(a, at_tree), .err = err};
    *m->tree = (at_tree){.arena = a, .compute = c, .what = at_strdup(a, what)};
    return m;
}

void at_tree_new_line(at_tree_maker *m) { m->num_lines++; }

/* ---- names --------------------------------------------------------------------------------- */

static int piece_slot(at_tree_maker *m, const char *name) {
    at_tree *t = m->tree;
    for (int i = 0; i < t->piece_names.len; i++)
        if (is_same_name(t->piece_names.data[i], name)) return i;
    *at_push(m->arena, &t->piece_names) = at_strdup(m->arena, name);
    return t->piece_names.len - 1;
}

/* The loop above a node (or the node itself) that has a piece of that name. */
static bool find_loop(tree_node *from, const char *name, tree_digit *out) {
    for (tree_node *n = from; n; n = n->parent)
        for (int k = 0; k < n->pieces.len; k++) {
            if (!is_same_name(n->pieces.data[k], name)) continue;
            *out = (tree_digit){n, k};
            return true;
        }
    return false;
}

static at_status find_digit(at_tree_maker *m, tree_node *leaf, const char *name, tree_digit *out) {
    if (find_loop(leaf->parent, name, out)) return AT_OK;
    return tree_fail(m, "\"%s\" is no loop around this leaf", name);
}

/* Whoever makes a longer one has no use for it, and each look at it is a walk. */
static at_status check_length(at_tree_maker *m) {
    enum { MOST_NODES = 4096 };
    if (m->num_nodes <= MOST_NODES) return AT_OK;
    return tree_fail(m, "a tree has at most %d loops and leaves", MOST_NODES);
}

/* Of a loop, that has pieces [i] so far. */
static at_status check_piece(at_tree_maker *m, tree_node *loop, int i) {
    const char *name = loop->pieces.data[i];
    int above = i;
    tree_digit twice = {0};
    AT_TRY(check_length(m));
    for (int k = 0; k < i && !twice.loop; k++)
        if (is_same_name(loop->pieces.data[k], name)) twice.loop = loop;
    if (twice.loop || find_loop(loop->parent, name, &twice))
        return tree_fail(m, "\"%s\" occurs twice on one path", name);
    for (const tree_node *n = loop->parent; n; n = n->parent) above += n->pieces.len;
    if (above >= MAX_PIECES) return tree_fail(m, "more than %d loops on one path", MAX_PIECES);
    return AT_OK;
}

static at_status find_size(at_tree_maker *m, const char *name, int *slot) {
    *slot = at_symbol_find(m->c->symbols, name);
    if (*slot >= 0) return AT_OK;
    const char *near = at_nearest(name, m->c->symbols->names.data, m->c->symbols->names.len);
    if (!near) return tree_fail(m, "there is no size \"%s\"", name);
    return tree_fail(m, "there is no size \"%s\"; did you mean \"%s\"?", name, near);
}

static at_status unknown_stage(at_tree_maker *m, const char *name) {
    AT_VEC(const char *) stages = {0};
    for (int i = 0; i < m->c->num_tensors; i++)
        if (m->c->tensors[i].role == AT_ROLE_STAGE)
            *at_push(m->arena, &stages) = m->c->tensors[i].name;
    const char *near = at_nearest(name, stages.data, stages.len);
    if (!near) return tree_fail(m, "unknown stage \"%s\"", name);
    return tree_fail(m, "unknown stage \"%s\"; did you mean \"%s\"?", name, near);
}

at_status tree_find_stage(at_tree_maker *m, tree_node *leaf) {
    const int tensor = at_compute_find(m->c, leaf->stage);
    const at_tensor *stage = tensor < 0 ? NULL : &m->c->tensors[tensor];
    if (!stage) return unknown_stage(m, leaf->stage);
    if (stage->role != AT_ROLE_STAGE)
        return tree_fail(m, "\"%s\" is given: only stages are computed", leaf->stage);
    if (leaf->is_init && !stage->num_reduce)
        return tree_fail(m, "@%s sums nothing: it needs no init", leaf->stage);
    AT_TRY(check_length(m));
    leaf->stage = stage->name;
    leaf->fixed.is_leaf = true;
    leaf->fixed.is_init = leaf->is_init;
    leaf->fixed.tensor = tensor;
    return AT_OK;
}

/* ---- calls --------------------------------------------------------------------------------- */

static tree_node *add_node(at_tree_maker *m, tree_node *parent) {
    tree_node *n = tree_new_node(m->arena);
    tree_stands_at(n, m->line, m->col);
    n->fixed.line_group = m->num_lines;
    m->num_nodes++;
    tree_append(m->tree, parent, n);
    return n;
}

at_tree_node *at_tree_add_loop(at_tree_maker *m, at_tree_node *parent, at_ann ann) {
    tree_node *loop = add_node(m, parent);
    loop->ann = ann;
    return loop;
}

at_status at_tree_add_piece(at_tree_maker *m, at_tree_node *loop, const char *name) {
    *at_push(m->arena, &loop->pieces) = name;
    return check_piece(m, loop, loop->pieces.len - 1);
}

void at_tree_set_ann(at_tree_node *loop, at_ann ann) { loop->ann = ann; }

void at_tree_set_extent(at_tree_maker *m, at_tree_node *loop, int64_t extent) {
    while (loop->extents.len < loop->pieces.len) *at_push(m->arena, &loop->extents) = 0;
    loop->extents.data[loop->pieces.len - 1] = extent;
}

void at_tree_set_dynamic(at_tree_maker *m, at_tree_node *loop, const char *const *axes,
                         int num_axes) {
    loop->dynamic = true;
    for (int i = 0; i < num_axes; i++) *at_push(m->arena, &loop->dyn_axes) = axes[i];
}

at_status at_tree_set_ann_size(at_tree_maker *m, at_tree_node *loop, const char *size) {
    loop->ann_size = at_strdup(m->arena, size);
    return find_size(m, size, &loop->ann_symbol);
}

at_status at_tree_set_order(at_tree_maker *m, at_tree_node *first, int num_loops,
                            const char *size) {
    tree_order order = {.name = at_strdup(m->arena, size), .num_loops = num_loops};
    tree_node *loop = first;
    AT_TRY(find_size(m, size, &order.symbol));
    if (num_loops < 2 || num_loops > MAX_ORDERED)
        return tree_fail(m, "an order is of 2 to %d loops", MAX_ORDERED);
    for (int i = 0; i < num_loops; i++, loop = loop->child) {
        if (loop->dynamic)
            return tree_fail(m, "a dyn loop has its place: it cannot be in an order");
        loop->order = m->tree->orders.len;
        loop->order_place = i;
        order.loop[i] = loop;
    }
    *at_push(m->arena, &m->tree->orders) = order;
    return AT_OK;
}

at_status at_tree_add_leaf(at_tree_maker *m, at_tree_node *parent, const char *stage, bool is_init,
                           at_tree_node **leaf) {
    tree_node *n = *leaf = add_node(m, parent);
    n->stage = stage;
    n->is_init = is_init;
    AT_TRY(tree_find_stage(m, n));
    n->index = AT_NEW_ARRAY(m->arena, name_list, axes_of(&m->c->tensors[n->fixed.tensor]));
    return AT_OK;
}

void at_tree_add_index(at_tree_maker *m, at_tree_node *leaf) {
    AT_ASSERT(leaf->num_index < axes_of(&m->c->tensors[leaf->fixed.tensor]));
    leaf->num_index++;
}

at_status at_tree_add_digit(at_tree_maker *m, at_tree_node *leaf, const char *name) {
    tree_digit d;
    *at_push(m->arena, &leaf->index[leaf->num_index - 1]) = name;
    return find_digit(m, leaf, name, &d);
}

/* ---- what the names mean ------------------------------------------------------------------- */

static at_status look_up_loop(at_tree_maker *m, tree_node *n) {
    n->piece = AT_NEW_ARRAY(m->arena, tree_piece, n->pieces.len);
    for (int i = 0; i < n->pieces.len; i++) {
        AT_TRY(check_piece(m, n, i));
        const int slot = piece_slot(m, n->pieces.data[i]);
        const int64_t extent = i < n->extents.len ? n->extents.data[i] : 0;
        n->piece[i] = (tree_piece){
            .name = slot, .source = extent ? EXTENT_FIXED : EXTENT_OPEN, .fixed = extent};
        n->pieces.data[i] = m->tree->piece_names.data[slot];
    }
    n->fixed.num_pieces = n->pieces.len;
    n->fixed.ann = n->ann;
    n->ann_symbol = -1;
    return n->ann_size ? find_size(m, n->ann_size, &n->ann_symbol) : AT_OK;
}

static at_status look_up_leaf(at_tree_maker *m, tree_node *n) {
    const leaf_attributes given = n->attributes;
    const at_node *old = &n->fixed;
    n->fixed = (at_node){.line = old->line, .line_group = old->line_group};
    n->attributes = (leaf_attributes){0};
    n->ann_symbol = -1;
    AT_TRY(tree_find_stage(m, n));
    AT_TRY(tree_add_attributes(m, n, &given));
    n->num_axes = n->num_index;
    n->axes = AT_NEW_ARRAY(m->arena, tree_axis, n->num_index);
    for (int k = 0; k < n->num_index; k++) {
        const name_list *names = &n->index[k];
        n->axes[k].num_digits = names->len;
        n->axes[k].digit = AT_NEW_ARRAY(m->arena, tree_digit, names->len);
        for (int d = 0; d < names->len; d++) {
            tree_digit *digit = &n->axes[k].digit[d];
            AT_TRY(find_digit(m, n, names->data[d], digit));
            names->data[d] = digit->loop->pieces.data[digit->member];
        }
    }
    return AT_OK;
}

static at_status look_up_names(at_tree_maker *m, tree_node *first) {
    for (tree_node *n = first; n; n = n->next) {
        m->num_nodes++;
        AT_TRY(n->stage ? look_up_leaf(m, n) : look_up_loop(m, n));
        n->fixed.id = n->fixed.dyn_tensor = n->fixed.dyn_axis = -1;
        n->number = m->tree->nodes.len;
        *at_push(m->arena, &m->tree->nodes) = n;
        AT_TRY(look_up_names(m, n->child));
    }
    return AT_OK;
}

/* ---- what the leaves say about the loops --------------------------------------------------- */

/* Fused members are recovered from one counter, so they run or reduce together. */
static at_status check_kinds(at_tree_maker *m, const tree_node *leaf) {
    const at_tensor *stage = &m->c->tensors[leaf->fixed.tensor];
    char *seen = at_alloc(m->arena, (size_t)m->tree->nodes.len);
    for (int i = 0; i < leaf->num_axes; i++) {
        const tree_axis *axis = &leaf->axes[i];
        bool reduce = i >= stage->num_axes;
        for (int d = 0; d < axis->num_digits; d++) {
            tree_node *n = axis->digit[d].loop;
            n->fixed.is_reduce |= reduce;
            seen[n->number] |= reduce ? 2 : 1;
            if (seen[n->number] == 3 && n->fixed.num_pieces > 1)
                return FAIL_NODE(m, n, "this fused loop mixes axes and reductions of @%s",
                                 stage->name);
        }
    }
    return AT_OK;
}

/* A reduction with bounds of its own takes exactly one loop, and that one says dyn. */
static at_status check_dynamic(at_tree_maker *m, const tree_node *leaf, int i) {
    const at_tensor *stage = &m->c->tensors[leaf->fixed.tensor];
    const tree_axis *axis = &leaf->axes[i];
    bool wanted = stage->axes[i].begin != NULL;
    if (wanted && leaf->fixed.is_running) {
        if (!axis->num_digits) return AT_OK;
        return FAIL_NODE(m, leaf, "@%s is running: \"%s\" has no loop, write 0", stage->name,
                         stage->axes[i].name);
    }
    if (wanted && axis->num_digits != 1)
        return FAIL_NODE(m, leaf, "\"%s\" has data-dependent bounds: it takes one loop",
                         stage->axes[i].name);
    for (int d = 0; d < axis->num_digits; d++) {
        tree_node *n = axis->digit[d].loop;
        if (n->dynamic != wanted)
            return FAIL_NODE(
                m, n,
                wanted ? "this loop runs \"%s\" of @%s, whose bounds are data: it needs :dyn(...)"
                       : "\"%s\" of @%s has an extent: its loop is not dyn",
                stage->axes[i].name, stage->name);
        if (!wanted) continue;
        if (n->fixed.dyn_tensor >= 0) return FAIL_NODE(m, n, "a dyn loop serves one leaf");
        n->fixed.dyn_tensor = leaf->fixed.tensor;
        n->fixed.dyn_axis = i;
        uint32_t named = 0;
        for (int k = 0; k < n->dyn_axes.len; k++) {
            int found = -1;
            for (int x = 0; x < i; x++)
                if (!strcmp(stage->axes[x].name, n->dyn_axes.data[k])) found = x;
            if (found < 0)
                return FAIL_NODE(m, n, "\"%s\" is no axis of @%s before \"%s\"",
                                 n->dyn_axes.data[k], stage->name, stage->axes[i].name);
            named |= 1u << found;
        }
        uint32_t used = info_of(m->c)->info[leaf->fixed.tensor].bound_axes[i - stage->num_axes];
        for (int x = 0; x < i; x++)
            if (used & ~named & (1u << x))
                return FAIL_NODE(m, n, "the bounds of \"%s\" depend on \"%s\": name it in dyn(...)",
                                 stage->axes[i].name, stage->axes[x].name);
    }
    return AT_OK;
}

/* The axis that the first leaf below uses this piece for, whole and under its own name. */
static bool find_axis(const at_tree_maker *m, const tree_node *loop, int member,
                      tree_piece *piece) {
    const char *name = loop->pieces.data[member];
    for (int i = loop->number; i < m->tree->nodes.len; i++) {
        const tree_node *leaf = m->tree->nodes.data[i];
        for (int k = 0; k < leaf->num_axes; k++) {
            const tree_axis *axis = &leaf->axes[k];
            const tree_digit *d = axis->digit;
            if (axis->num_digits != 1 || d->loop != loop || d->member != member) continue;
            if (!is_same_name(m->c->tensors[leaf->fixed.tensor].axes[k].name, name)) continue;
            piece->tensor = leaf->fixed.tensor;
            piece->axis = k;
            return true;
        }
    }
    return false;
}

static at_status find_extents(at_tree_maker *m, tree_node *n) {
    for (int i = 0; i < n->fixed.num_pieces; i++) {
        tree_piece *piece = &n->piece[i];
        const char *name = n->pieces.data[i];
        if (n->dynamic) {
            piece->source = EXTENT_DYNAMIC;
            if (n->fixed.dyn_tensor < 0)
                return FAIL_NODE(m, n, "no leaf below sums over \"%s\" with bounds from data",
                                 name);
        } else if (!piece->fixed) {
            piece->symbol = at_symbol_find(m->c->symbols, name);
            piece->source = piece->symbol >= 0 ? EXTENT_SYMBOL : EXTENT_AXIS;
            if (piece->symbol >= 0 || find_axis(m, n, i, piece)) continue;
            piece->source = EXTENT_OPEN;
            m->tree->has_open = true;
            if (!m->tree->may_be_open)
                return FAIL_NODE(m, n,
                                 "\"%s\" has no extent: it is neither a size nor a whole axis "
                                 "of a leaf below",
                                 name);
        }
    }
    return AT_OK;
}

/* Initialisation runs over a leaf's axes, and stands before its outermost reduction: whichever
 * order its loops are in, it is the same. */
static at_status check_order(at_tree_maker *m, const tree_node *n) {
    if (n->order < 0 || n->order_place == 0) return AT_OK;
    if (n->fixed.is_reduce == n->parent->fixed.is_reduce) return AT_OK;
    return FAIL_NODE(m, n, "an order is of reductions only, or of none");
}

/* What is computed where it is read multiplies: a chain of twenty stages that read the one before
 * twice is a million reads. */
static at_status check_reads(at_tree_maker *m) {
    const at_tree *t = m->tree;
    int64_t *counts = AT_NEW_ARRAY(m->arena, int64_t, m->c->num_tensors);
    for (int i = 0; i < m->c->num_tensors; i++)
        counts[i] = at_compute_count_reads(m->c, i, t->dissolved, counts);
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = t->nodes.data[i];
        if (n->fixed.is_leaf && counts[n->fixed.tensor] == AT_MOST_READS)
            return FAIL_NODE(m, n,
                             "@%s reads %d elements or more through stages without a leaf; one of "
                             "them needs a leaf",
                             m->c->tensors[n->fixed.tensor].name, AT_MOST_READS);
    }
    return AT_OK;
}

bool at_stage_needs_leaf(const at_tensor *t) {
    return t->role == AT_ROLE_STAGE &&
           (t->num_reduce || t->is_output || t->is_recurrence || t->is_carried || t->is_places);
}

static at_status look_up(at_tree_maker *m) {
    at_tree *t = m->tree;
    t->dissolved = AT_NEW_ARRAY(m->arena, bool, m->c->num_tensors);
    for (int i = 0; i < m->c->num_tensors; i++) {
        const at_tensor *s = &m->c->tensors[i];
        t->dissolved[i] = s->role == AT_ROLE_STAGE && !at_stage_needs_leaf(s);
    }
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = t->nodes.data[i];
        if (!n->fixed.is_leaf) continue;
        t->dissolved[n->fixed.tensor] = false;
        const at_mark before = at_arena_mark(m->arena);
        AT_TRY(check_kinds(m, n));
        at_arena_rewind(m->arena, before);
        for (int k = 0; k < n->num_axes; k++) AT_TRY(check_dynamic(m, n, k));
    }
    for (int i = 0; i < t->nodes.len; i++) {
        AT_TRY(find_extents(m, t->nodes.data[i]));
        AT_TRY(check_order(m, t->nodes.data[i]));
    }
    return t->may_be_open ? AT_OK : check_reads(m); /* rules have yet to give leaves */
}

/* The parser has counted the indices; calls may give too many or too few. */
static at_status check_count(at_tree_maker *m, const tree_node *n) {
    const at_tensor *stage = &m->c->tensors[n->fixed.tensor];
    int wanted = n->fixed.is_init ? stage->num_axes : axes_of(stage);
    if (n->num_axes == wanted) return AT_OK;
    return FAIL_NODE(m, n, "@%s takes %d indices, not %d", stage->name, wanted, n->num_axes);
}

at_status at_tree_finish(at_tree_maker *m, at_tree **out) {
    at_tree *t = m->tree;
    if (!t->root) return tree_fail(m, "a tree needs a line");
    m->num_nodes = 0;
    AT_TRY(look_up_names(m, t->root));
    for (int i = 0; i < t->orders.len; i++)
        AT_TRY(find_size(m, t->orders.data[i].name, &t->orders.data[i].symbol));
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = t->nodes.data[i];
        if (n->stage) AT_TRY(check_count(m, n));
        else if (!n->child) return FAIL_NODE(m, n, "there is no leaf inside this loop");
    }
    AT_TRY(look_up(m));
    tree_add_inits(t);
    *out = t;
    return AT_OK;
}
