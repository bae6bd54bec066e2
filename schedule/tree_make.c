/* schedule/tree_make.c: a loop tree built by calls: nodes in textual order, names looked up as they
 * come. The parser of trees and edits of them are its users. What depends on numbers is left to
 * build.c, what is legal to verify.c. */
#include "schedule/schedule_int.h"

#include <string.h>

#define FAIL_NODE(m, n, ...)                                                                       \
    ((m)->line = (n)->tag_line, (m)->col = (n)->tag_col, tree_fail(m, __VA_ARGS__))

static tree_node *node(const at_tree_maker *m, int i) { return &m->tree->nodes.data[i]; }

at_status tree_fail(at_tree_maker *m, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (m->lex) return at_lex_fail_at(m->lex, m->line, m->col, m->err, "%s", text);
    return at_fail(m->err, AT_E_INPUT, "%s: %s", m->tree->what, text);
}

at_tree_maker *at_tree_begin(at_arena *a, const at_compute *c, const char *what, at_error *err) {
    at_tree_maker *m = AT_NEW(a, at_tree_maker);
    *m = (at_tree_maker){.arena = a, .c = c, .tree = AT_NEW(a, at_tree), .err = err};
    m->tree->compute = c;
    m->tree->what = at_strdup(a, what);
    return m;
}

void at_tree_expect(at_tree_maker *m, int num_nodes) {
    int cap = num_nodes + num_nodes / 2 + 1;
    AT_ASSERT(!m->tree->nodes.cap);
    m->tree->nodes.data = AT_NEW_ARRAY(m->arena, tree_node, cap);
    m->tree->nodes.cap = cap;
}

void at_tree_new_line(at_tree_maker *m) { m->num_lines++; }

void at_tree_stands_at(at_tree_maker *m, int i, int line, int col) {
    node(m, i)->tag_line = node(m, i)->fixed.line = line;
    node(m, i)->tag_col = col;
}

/* ---- nodes --------------------------------------------------------------------------------- */

static int last_child(const at_tree_maker *m, int parent) {
    int last = parent >= 0 ? node(m, parent)->child : m->tree->nodes.len ? 0 : -1;
    while (last >= 0 && node(m, last)->next >= 0) last = node(m, last)->next;
    return last;
}

static int add_node(at_tree_maker *m, int parent) {
    int i = m->tree->nodes.len, last = last_child(m, parent);
    tree_node *n = at_push(m->arena, &m->tree->nodes);
    *n = (tree_node){
        .parent = parent, .child = -1, .next = -1, .tag_line = m->line, .tag_col = m->col};
    n->fixed.line = m->line;
    n->fixed.line_group = m->num_lines;
    n->fixed.id = n->fixed.dyn_tensor = n->fixed.dyn_axis = -1;
    n->ann_symbol = n->order = -1;
    if (last >= 0) node(m, last)->next = i;
    else if (parent >= 0) node(m, parent)->child = i;
    return i;
}

static int piece_slot(at_tree_maker *m, const char *name) {
    at_tree *t = m->tree;
    for (int i = 0; i < t->piece_names.len; i++)
        if (!strcmp(t->piece_names.data[i], name)) return i;
    *at_push(m->arena, &t->piece_names) = at_strdup(m->arena, name);
    return t->piece_names.len - 1;
}

/* The loop above a node (or the node itself) that has a piece of that name. */
static bool find_loop(const at_tree_maker *m, int from, const char *name, tree_digit *out) {
    for (int i = from; i >= 0; i = node(m, i)->parent)
        for (int k = 0; k < node(m, i)->fixed.num_pieces; k++) {
            int slot = m->tree->pieces.data[node(m, i)->first_piece + k].name;
            if (strcmp(m->tree->piece_names.data[slot], name)) continue;
            *out = (tree_digit){i, k};
            return true;
        }
    return false;
}

/* ---- loops --------------------------------------------------------------------------------- */

int at_tree_add_loop(at_tree_maker *m, int parent, at_ann ann) {
    int loop = add_node(m, parent);
    node(m, loop)->first_piece = m->tree->pieces.len;
    node(m, loop)->fixed.ann = ann;
    return loop;
}

/* Whoever makes a longer one has no use for it, and each look at it is a walk. */
static at_status check_length(at_tree_maker *m) {
    enum { MOST_NODES = 4096 };
    if (m->tree->nodes.len <= MOST_NODES) return AT_OK;
    return tree_fail(m, "a tree has at most %d loops and leaves", MOST_NODES);
}

at_status at_tree_add_piece(at_tree_maker *m, int loop, const char *name) {
    int above = 0;
    tree_digit twice;
    AT_TRY(check_length(m));
    if (find_loop(m, loop, name, &twice))
        return tree_fail(m, "\"%s\" occurs twice on one path", name);
    for (int i = loop; i >= 0; i = node(m, i)->parent) above += node(m, i)->fixed.num_pieces;
    if (above == MAX_PIECES) return tree_fail(m, "more than %d loops on one path", MAX_PIECES);
    AT_ASSERT(node(m, loop)->first_piece + node(m, loop)->fixed.num_pieces == m->tree->pieces.len);
    *at_push(m->arena, &m->tree->pieces) = (tree_piece){.name = piece_slot(m, name)};
    node(m, loop)->fixed.num_pieces++;
    return AT_OK;
}

void at_tree_set_ann(at_tree_maker *m, int loop, at_ann ann) { node(m, loop)->fixed.ann = ann; }

void at_tree_set_extent(at_tree_maker *m, int loop, int64_t extent) {
    tree_node *n = node(m, loop);
    tree_piece *piece = &m->tree->pieces.data[n->first_piece + n->fixed.num_pieces - 1];
    piece->source = EXTENT_FIXED;
    piece->fixed = extent;
}

void at_tree_set_dynamic(at_tree_maker *m, int loop, const char *const *axes, int num_axes) {
    tree_node *n = node(m, loop);
    n->dynamic = true;
    n->num_dyn_args = num_axes;
    n->dyn_args = at_copy(m->arena, axes, sizeof *axes * (size_t)num_axes);
}

static at_status find_size(at_tree_maker *m, const char *name, int *slot) {
    *slot = at_symbol_find(m->c->symbols, name);
    if (*slot >= 0) return AT_OK;
    const char *near = at_nearest(name, m->c->symbols->names.data, m->c->symbols->names.len);
    if (!near) return tree_fail(m, "there is no size \"%s\"", name);
    return tree_fail(m, "there is no size \"%s\"; did you mean \"%s\"?", name, near);
}

at_status at_tree_set_ann_size(at_tree_maker *m, int loop, const char *size) {
    tree_node *n = node(m, loop);
    n->ann_name = at_strdup(m->arena, size);
    return find_size(m, size, &n->ann_symbol);
}

at_status at_tree_set_order(at_tree_maker *m, int first, int num_loops, const char *size) {
    tree_order order = {.name = at_strdup(m->arena, size), .num_loops = num_loops};
    AT_TRY(find_size(m, size, &order.symbol));
    if (num_loops < 2 || num_loops > MAX_ORDERED)
        return tree_fail(m, "an order is of 2 to %d loops", MAX_ORDERED);
    for (int i = 0, loop = first; i < num_loops; i++, loop = node(m, loop)->child) {
        if (node(m, loop)->dynamic)
            return tree_fail(m, "a dyn loop has its place: it cannot be in an order");
        node(m, loop)->order = m->tree->orders.len;
        node(m, loop)->order_place = i;
    }
    *at_push(m->arena, &m->tree->orders) = order;
    return AT_OK;
}

/* ---- leaves -------------------------------------------------------------------------------- */

static at_status unknown_stage(at_tree_maker *m, const char *name) {
    AT_VEC(const char *) stages = {0};
    for (int i = 0; i < m->c->num_tensors; i++)
        if (m->c->tensors[i].role == AT_ROLE_STAGE)
            *at_push(m->arena, &stages) = m->c->tensors[i].name;
    const char *near = at_nearest(name, stages.data, stages.len);
    if (!near) return tree_fail(m, "unknown stage \"%s\"", name);
    return tree_fail(m, "unknown stage \"%s\"; did you mean \"%s\"?", name, near);
}

at_status at_tree_add_leaf(at_tree_maker *m, int parent, const char *stage, bool is_init,
                           int *leaf) {
    int tensor = at_compute_find(m->c, stage);
    if (tensor < 0) return unknown_stage(m, stage);
    if (m->c->tensors[tensor].role != AT_ROLE_STAGE)
        return tree_fail(m, "\"%s\" is given: only stages are computed", stage);
    if (is_init && !m->c->tensors[tensor].num_reduce)
        return tree_fail(m, "@%s sums nothing: it needs no init", stage);
    *leaf = add_node(m, parent);
    AT_TRY(check_length(m));
    tree_node *n = node(m, *leaf);
    n->fixed.is_leaf = true;
    n->fixed.is_init = is_init;
    n->fixed.tensor = tensor;
    n->first_axis = m->tree->axes.len;
    return AT_OK;
}

void at_tree_add_index(at_tree_maker *m, int leaf) {
    *at_push(m->arena, &m->tree->axes) = (tree_axis){.first_digit = m->tree->digits.len};
    node(m, leaf)->num_axes++;
}

at_status at_tree_add_digit(at_tree_maker *m, int leaf, const char *name) {
    tree_digit d;
    if (!find_loop(m, leaf, name, &d))
        return tree_fail(m, "\"%s\" is no loop around this leaf", name);
    *at_push(m->arena, &m->tree->digits) = d;
    m->tree->axes.data[m->tree->axes.len - 1].num_digits++;
    return AT_OK;
}

/* ---- what the leaves say about the loops --------------------------------------------------- */

/* Fused members are recovered from one counter, so they run or reduce together. */
static at_status check_kinds(at_tree_maker *m, const tree_node *leaf) {
    const at_tensor *stage = &m->c->tensors[leaf->fixed.tensor];
    int num_nodes = m->tree->nodes.len;
    char *seen = at_alloc(m->arena, (size_t)num_nodes);
    for (int i = 0; i < leaf->num_axes; i++) {
        const tree_axis *axis = &m->tree->axes.data[leaf->first_axis + i];
        bool reduce = i >= stage->num_axes;
        for (int d = 0; d < axis->num_digits; d++) {
            int loop = m->tree->digits.data[axis->first_digit + d].loop;
            tree_node *n = node(m, loop);
            n->fixed.is_reduce |= reduce;
            seen[loop] |= reduce ? 2 : 1;
            if (seen[loop] == 3 && n->fixed.num_pieces > 1)
                return FAIL_NODE(m, n, "this fused loop mixes axes and reductions of @%s",
                                 stage->name);
        }
    }
    return AT_OK;
}

/* A reduction with bounds of its own takes exactly one loop, and that one says dyn. */
static at_status check_dynamic(at_tree_maker *m, const tree_node *leaf, int i) {
    const at_tensor *stage = &m->c->tensors[leaf->fixed.tensor];
    const tree_axis *axis = &m->tree->axes.data[leaf->first_axis + i];
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
        tree_node *n = node(m, m->tree->digits.data[axis->first_digit + d].loop);
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
        for (int k = 0; k < n->num_dyn_args; k++) {
            int found = -1;
            for (int x = 0; x < i; x++)
                if (!strcmp(stage->axes[x].name, n->dyn_args[k])) found = x;
            if (found < 0)
                return FAIL_NODE(m, n, "\"%s\" is no axis of @%s before \"%s\"", n->dyn_args[k],
                                 stage->name, stage->axes[i].name);
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
static bool find_axis(const at_tree_maker *m, int loop, int member, tree_piece *piece) {
    const char *name = m->tree->piece_names.data[piece->name];
    for (int i = loop; i < m->tree->nodes.len; i++) {
        const tree_node *leaf = node(m, i);
        for (int k = 0; k < leaf->num_axes; k++) {
            const tree_axis *axis = &m->tree->axes.data[leaf->first_axis + k];
            const tree_digit *d = &m->tree->digits.data[axis->first_digit];
            if (axis->num_digits != 1 || d->loop != loop || d->member != member) continue;
            if (strcmp(m->c->tensors[leaf->fixed.tensor].axes[k].name, name)) continue;
            piece->tensor = leaf->fixed.tensor;
            piece->axis = k;
            return true;
        }
    }
    return false;
}

static at_status find_extents(at_tree_maker *m, int loop) {
    tree_node *n = node(m, loop);
    for (int i = 0; i < n->fixed.num_pieces; i++) {
        tree_piece *piece = &m->tree->pieces.data[n->first_piece + i];
        const char *name = m->tree->piece_names.data[piece->name];
        if (n->dynamic) {
            piece->source = EXTENT_DYNAMIC;
            if (n->fixed.dyn_tensor < 0)
                return FAIL_NODE(m, n, "no leaf below sums over \"%s\" with bounds from data",
                                 name);
        } else if (!piece->fixed) {
            piece->symbol = at_symbol_find(m->c->symbols, name);
            piece->source = piece->symbol >= 0 ? EXTENT_SYMBOL : EXTENT_AXIS;
            if (piece->symbol >= 0 || find_axis(m, loop, i, piece)) continue;
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
static at_status check_order(at_tree_maker *m, int loop) {
    const tree_node *n = node(m, loop);
    if (n->order < 0 || n->order_place == 0) return AT_OK;
    if (n->fixed.is_reduce == node(m, n->parent)->fixed.is_reduce) return AT_OK;
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
        const tree_node *n = node(m, i);
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
           (t->num_reduce || t->is_output || t->is_recurrence || t->is_carried);
}

static at_status look_up(at_tree_maker *m) {
    at_tree *t = m->tree;
    t->dissolved = AT_NEW_ARRAY(m->arena, bool, m->c->num_tensors);
    for (int i = 0; i < m->c->num_tensors; i++) {
        const at_tensor *s = &m->c->tensors[i];
        t->dissolved[i] = s->role == AT_ROLE_STAGE && !at_stage_needs_leaf(s);
    }
    for (int i = 0; i < t->nodes.len; i++) {
        const tree_node *n = node(m, i);
        if (!n->fixed.is_leaf) continue;
        t->dissolved[n->fixed.tensor] = false;
        AT_TRY(check_kinds(m, n));
        for (int k = 0; k < n->num_axes; k++) AT_TRY(check_dynamic(m, n, k));
    }
    for (int i = 0; i < t->nodes.len; i++) {
        AT_TRY(find_extents(m, i));
        AT_TRY(check_order(m, i));
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
    if (!m->tree->nodes.len) return tree_fail(m, "a tree needs a line");
    for (int i = 0; i < m->tree->nodes.len; i++) {
        const tree_node *n = node(m, i);
        if (n->fixed.is_leaf) AT_TRY(check_count(m, n));
        else if (n->child < 0) return FAIL_NODE(m, n, "there is no leaf inside this loop");
    }
    AT_TRY(look_up(m));
    tree_add_inits(m->arena, m->tree);
    *out = m->tree;
    return AT_OK;
}
