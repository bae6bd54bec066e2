/* schedule/edit/edit_copy.c: E6, copies: of a sum behind it, of what a stage reads before it, of a
 * weight in the order in which it is used. */
#include "schedule/edit/edit_compute.h"

#include <string.h>

#include "schedule/edit/rewrite.h"

/* A copy of a tensor; over axes of fresh names, where loops are to have them. */
static at_tensor copy_stage(rewrite *w, const char *name, const at_tensor *of, bool fresh) {
    at_tensor t = {.name = name, .role = AT_ROLE_STAGE, .type = of->type, .num_axes = of->num_axes};
    at_expr **index = AT_NEW_ARRAY(w->arena, at_expr *, of->num_axes);
    t.axes = AT_NEW_ARRAY(w->arena, at_axis, of->num_axes);
    for (int k = 0; k < of->num_axes; k++) {
        const char *axis = of->axes[k].name ? of->axes[k].name : "i";
        t.axes[k].name =
            fresh ? rewrite_fresh(w, at_format(w->arena, "%s_%s%d", name, axis, k)) : axis;
        t.axes[k].extent = rewrite_copy_expr(w->arena, of->axes[k].extent);
        index[k] = at_expr_name(w->arena, t.axes[k].name);
    }
    t.written = at_expr_read(w->arena, of->name, of->num_axes, index);
    return t;
}

static at_status copy_write(rewrite *w, const char *tensor, const char *name) {
    at_tensor *x = rewrite_find(w, tensor), local = *x;
    tree_node *leaf = tree_leaf(w->made, tensor), *init = tree_init(w->made, tensor);
    if (!local.num_reduce)
        return at_fail(w->err, AT_E_INPUT, "\"%s\" is no sum: its writing needs no copy", tensor);
    if (!leaf) return at_fail(w->err, AT_E_INPUT, "@%s has no leaf in this tree", tensor);
    local.name = name;
    *x = copy_stage(w, tensor, &local, false);
    x->written->name = name;
    rewrite_insert(w, tensor, local);
    tree_node *copy =
        rewrite_add_leaf(w, rewrite_nest_behind(w, leaf, NULL), tensor, local.num_axes);
    for (int k = 0; k < local.num_axes; k++) copy->index[k] = leaf->index[k];
    copy->attributes.rows = leaf->attributes.rows; /* as others read it, it is stored */
    copy->attributes.pad = leaf->attributes.pad;
    leaf->attributes.rows = AT_ROWS_APART;
    leaf->attributes.pad = NULL;
    leaf->stage = name;
    if (init) init->stage = name;
    return AT_OK;
}

static at_status copy_read(rewrite *w, at_copy_kind kind, const char *tensor, const char *reader,
                           const char *name) {
    at_tensor *x = rewrite_find(w, tensor);
    at_tensor copy = copy_stage(w, name, x, true);
    if (kind == AT_COPY_WIDE && !at_type_is_half(x->type) && at_type_bytes(x->type) != 1)
        return at_fail(w->err, AT_E_INPUT,
                       "\"%s\" is of %s: bytes and floats of 16 bits are widened", tensor,
                       at_type_of(x->type)->name);
    if (kind == AT_COPY_WIDE) copy.type = at_type_is_half(x->type) ? AT_F32 : AT_S16;
    AT_TRY(rewrite_reads(w, rewrite_find(w, reader), tensor, name, NULL, NULL));
    rewrite_insert(w, reader, copy);
    tree_insert(w->made, rewrite_outermost(tree_leaf(w->made, reader)), true,
                rewrite_plain_nest(w, &copy));
    return AT_OK;
}

/* An axis of the layout: one piece of one axis of the reader. */
typedef struct layout_axis {
    const char *piece, *name;
    int axis;      /* of the reader */
    bool is_size;  /* the piece has an extent of its own; else it is the whole axis */
    int64_t fixed; /* that extent, where the tree has it as a number */
} layout_axis;

typedef struct layout {
    at_arena *arena;
    const at_tensor *reader, *from;
    tree_node *leaf;
    const at_expr *read; /* the reader's of the tensor */
    bool is_chosen;      /* somewhere by a condition, which keeps it within the tensor */
    bool in_lanes;       /* with all pieces of the reader's vector */
    AT_VEC(int) moved;   /* axes of the reader that its indices have */
    AT_VEC(layout_axis) axes;
} layout;

/* What an axis is compared with: the tensor's own extent where the axis alone is its index. */
static const at_expr *axis_extent(const layout *l, int axis) {
    for (int d = 0; d < l->from->num_axes; d++)
        if (at_expr_is_name(l->read->arg[d], axis)) return l->from->axes[d].extent;
    return l->reader->axes[axis].extent;
}

static at_expr *extent_of(rewrite *w, const layout *l, const layout_axis *x) {
    if (x->fixed) return at_expr_int(w->arena, x->fixed);
    if (x->is_size) return at_expr_name(w->arena, x->piece);
    return rewrite_copy_expr(w->arena, l->reader->axes[x->axis].extent);
}

static const layout_axis *axis_of_piece(const layout *l, const char *piece) {
    for (int i = 0; i < l->axes.len; i++)
        if (!strcmp(l->axes.data[i].piece, piece)) return &l->axes.data[i];
    return NULL;
}

/* The reader's index: each piece of an axis' value, `x / inner % extent`. */
static at_expr **layout_index(rewrite *w, void *ctx, at_expr **old, int *n) {
    const layout *l = ctx;
    (void)old;
    at_expr **index = AT_NEW_ARRAY(w->arena, at_expr *, l->axes.len);
    for (int i = 0; i < l->axes.len; i++) {
        const layout_axis *x = &l->axes.data[i];
        const name_list *digits = &l->leaf->index[x->axis];
        at_expr *value = at_expr_name(w->arena, l->reader->axes[x->axis].name), *inner = NULL;
        for (int d = digits->len - 1; strcmp(digits->data[d], x->piece); d--) {
            at_expr *e = extent_of(w, l, axis_of_piece(l, digits->data[d]));
            inner = inner ? at_expr_pair(w->arena, AT_X_MUL, e, inner) : e;
        }
        if (inner) value = at_expr_pair(w->arena, AT_X_DIV, value, inner);
        if (strcmp(digits->data[0], x->piece))
            value = at_expr_pair(w->arena, AT_X_MOD, value, extent_of(w, l, x));
        index[i] = value;
    }
    *n = l->axes.len;
    return index;
}

int at_index_axis(const at_expr *e) {
    if (e->op == AT_X_NAME) return e->ref < AT_REF_SIZE ? e->ref : AT_INDEX_SIZE;
    if (e->op == AT_X_INT) return AT_INDEX_SIZE;
    if (e->op < AT_X_NEG || e->op > AT_X_MOD) return AT_INDEX_OTHER;
    int axis = AT_INDEX_SIZE;
    for (int i = 0; i < e->nargs; i++) {
        int own = at_index_axis(e->arg[i]);
        if (own == AT_INDEX_OTHER || (own >= 0 && axis >= 0)) return AT_INDEX_OTHER;
        if (own >= 0 && e->op != AT_X_ADD && e->op != AT_X_SUB) return AT_INDEX_OTHER;
        if (own >= 0) axis = own;
    }
    return axis;
}

static bool moves(const layout *l, int axis) {
    for (int i = 0; i < l->moved.len; i++)
        if (l->moved.data[i] == axis) return true;
    return false;
}

/* An axis of an index; what a tensor holds is none. */
static at_walk find_axis(const at_expr *e, void *ctx) {
    layout *l = ctx;
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE && !moves(l, e->ref))
        *at_push(l->arena, &l->moved) = e->ref;
    return e->op == AT_X_INDEX ? AT_WALK_END : AT_WALK_ON;
}

static bool is_same(const at_expr *e, const void *read) { return at_expr_equal(e, read); }

/* Is a choice made between this read and something else? */
static bool is_choice(const at_expr *e, const void *read) {
    return e->op == AT_X_SELECT &&
           (at_expr_find(e->arg[1], is_same, read) || at_expr_find(e->arg[2], is_same, read));
}

/* With which indices the reader reads the tensor, always the same. */
static at_status find_read(rewrite *w, layout *l) {
    int t = at_compute_find(w->old, l->from->name), r = at_compute_find(w->old, l->reader->name);
    const tensor_info *info = &info_of(w->old)->info[r];
    for (int i = 0; i < info->num_reads; i++) {
        if (info->reads[i]->ref != t) continue;
        if (l->read && !at_expr_equal(l->read, info->reads[i]))
            return at_fail(w->err, AT_E_INPUT, "@%s reads \"%s\" in several ways", l->reader->name,
                           l->from->name);
        l->read = info->reads[i];
    }
    if (!l->read)
        return at_fail(w->err, AT_E_INPUT, "@%s does not read \"%s\"", l->reader->name,
                       l->from->name);
    for (int d = 0; d < l->from->num_axes; d++)
        if (at_expr_walk(l->read->arg[d], find_axis, l))
            return at_fail(w->err, AT_E_INPUT, "\"%s\" is read where another tensor says",
                           l->from->name);
    l->is_chosen = at_expr_find(w->old->tensors[r].body, is_choice, l->read);
    return AT_OK;
}

/* The axis of the reader that an axis of the layout for this piece is of: one that moves what is
 * read, or, of the vector's pieces, one that ends in this piece; -1: none. */
static int axis_for(const layout *l, const tree_node *loop, const char *piece) {
    for (int i = 0; i < l->moved.len; i++)
        if (names_have(&l->leaf->index[l->moved.data[i]], piece)) return l->moved.data[i];
    for (int k = 0; l->in_lanes && loop->ann == AT_ANN_VEC && k < l->reader->num_axes; k++) {
        const name_list *digits = &l->leaf->index[k];
        if (digits->len && !strcmp(digits->data[digits->len - 1], piece)) return k;
    }
    return -1;
}

/* The pieces in the order of the loops around the reader. */
static at_status order_pieces(rewrite *w, layout *l) {
    const tree_node *path[MAX_PIECES];
    int depth = 0;
    for (const tree_node *n = l->leaf->parent; n; n = n->parent) path[depth++] = n;
    while (depth--)
        for (int m = 0; m < path[depth]->pieces.len; m++) {
            const char *piece = path[depth]->pieces.data[m];
            const int k = axis_for(l, path[depth], piece);
            if (k < 0) continue;
            int64_t fixed = tree_extent(path[depth], piece);
            bool is_size = fixed || at_symbol_find(w->old->symbols, piece) >= 0;
            if (path[depth]->dynamic || axis_of_piece(l, piece))
                return at_fail(w->err, AT_E_INPUT, "loop \"%s\" cannot be an axis of a layout",
                               piece);
            *at_push(w->arena, &l->axes) = (layout_axis){
                .piece = piece,
                .name = is_size ? rewrite_fresh(w, at_format(w->arena, "%s_i", piece)) : piece,
                .axis = k,
                .is_size = is_size,
                .fixed = fixed};
        }
    for (int i = 0; i < l->moved.len; i++)
        if (!l->leaf->index[l->moved.data[i]].len)
            return at_fail(w->err, AT_E_INPUT, "axis \"%s\" of @%s has no loop",
                           l->reader->axes[l->moved.data[i]].name, l->reader->name);
    return AT_OK;
}

static at_expr *both(rewrite *w, at_expr *x, at_expr *y) {
    return x ? at_expr_pair(w->arena, AT_X_AND, x, y) : y;
}

/* Can the index be outside of its dimension where the axes are within theirs? */
static bool may_leave(const layout *l, int dimension) {
    const at_expr *e = l->read->arg[dimension];
    if (at_index_axis(e) == AT_INDEX_OTHER) return true;
    if (!l->is_chosen || e->op == AT_X_INT) return false;
    return e->op != AT_X_NAME || e->ref >= AT_REF_SIZE ||
           !at_expr_equal(l->reader->axes[e->ref].extent, l->from->axes[dimension].extent);
}

/* Parts that do not divide go beyond the axes, and what the reader reads by a condition alone
 * beyond the tensor: where both are within; NULL: everywhere. */
static at_expr *inside(rewrite *w, const layout *l, at_expr *const *value, at_expr *const *index) {
    at_expr *all = NULL;
    for (int i = 0; i < l->moved.len; i++) {
        int k = l->moved.data[i];
        const name_list *digits = &l->leaf->index[k];
        if (digits->len < 2 && !axis_of_piece(l, digits->data[0])->fixed) continue;
        at_expr *one = at_expr_pair(w->arena, AT_X_LT, rewrite_copy_expr(w->arena, value[k]),
                                    rewrite_copy_expr(w->arena, axis_extent(l, k)));
        all = both(w, all, one);
    }
    for (int d = 0; d < l->from->num_axes; d++) {
        if (!may_leave(l, d)) continue;
        all = both(w, all,
                   at_expr_pair(w->arena, AT_X_LE, at_expr_int(w->arena, 0),
                                rewrite_copy_expr(w->arena, index[d])));
        all = both(w, all,
                   at_expr_pair(w->arena, AT_X_LT, rewrite_copy_expr(w->arena, index[d]),
                                rewrite_copy_expr(w->arena, l->from->axes[d].extent)));
    }
    return all;
}

/* The nest that the copy stands in front of: the first one; of a stage, which must be there, its
 * reader's. */
static tree_node *place_of_copy(const rewrite *w, const layout *l) {
    return l->from->role == AT_ROLE_STAGE ? rewrite_outermost(l->leaf) : w->made->root;
}

/* Another name of a tensor, with other axes. */
static bool is_renaming(const at_expr *body) {
    bool is = body->op == AT_X_INDEX;
    for (int i = 0; i < body->nargs; i++) is &= body->arg[i]->op == AT_X_NAME;
    return is;
}

/* Whether a stage is computed in the loops of its reader, or at each read, where it is neither of
 * weights alone nor a tensor's other name. */
static bool is_made_beside(const rewrite *w, const layout *l, const at_tensor *from) {
    if (from->role != AT_ROLE_STAGE) return false;
    tree_node *maker = tree_leaf(w->made, from->name);
    if (maker) return rewrite_outermost(maker) == rewrite_outermost(l->leaf);
    if (from->is_packing) return false;
    return !is_renaming(from->body) || is_made_beside(w, l, &w->old->tensors[from->body->ref]);
}

static at_status copy_layout(rewrite *w, at_copy_kind kind, const char *tensor, const char *reader,
                             const char *name) {
    at_tensor copy = {.name = name, .role = AT_ROLE_STAGE};
    layout l = {.arena = w->arena,
                .reader = rewrite_find(w, reader),
                .from = rewrite_find(w, tensor),
                .leaf = tree_leaf(w->made, reader),
                .in_lanes = kind == AT_COPY_LANES};
    at_expr *index[MAX_AXES] = {0}, *value[MAX_AXES] = {0};
    copy.type = l.from->type;
    if (is_made_beside(w, &l, &w->old->tensors[at_compute_find(w->old, tensor)]))
        return at_fail(w->err, AT_E_INPUT, "@%s is in the loops of @%s: no copy of it goes there",
                       tensor, reader);
    AT_TRY(find_read(w, &l));
    AT_TRY(order_pieces(w, &l));
    if (l.axes.len > MAX_AXES)
        return at_fail(w->err, AT_E_INPUT, "\"%s\" would have over %d axes", name, MAX_AXES);
    copy.num_axes = l.axes.len;
    copy.axes = AT_NEW_ARRAY(w->arena, at_axis, l.axes.len);
    for (int i = 0; i < l.axes.len; i++)
        copy.axes[i] =
            (at_axis){.name = l.axes.data[i].name, .extent = extent_of(w, &l, &l.axes.data[i])};
    for (int m = 0; m < l.moved.len; m++) { /* ((p0*|p1| + p1)*|p2| + p2) */
        int k = l.moved.data[m];
        const name_list *digits = &l.leaf->index[k];
        for (int i = 0; i < digits->len; i++) {
            const layout_axis *p = axis_of_piece(&l, digits->data[i]);
            at_expr *digit = at_expr_name(w->arena, p->name);
            if (value[k])
                digit = at_expr_pair(
                    w->arena, AT_X_ADD,
                    at_expr_pair(w->arena, AT_X_MUL, value[k], extent_of(w, &l, p)), digit);
            value[k] = digit;
        }
    }
    for (int d = 0; d < l.from->num_axes; d++)
        index[d] = rewrite_expr_at(w->arena, l.read->arg[d], value);
    copy.written = rewrite_guarded(w->arena, inside(w, &l, value, index),
                                   at_expr_read(w->arena, tensor, l.from->num_axes, index));
    AT_TRY(rewrite_reads(w, rewrite_find(w, reader), tensor, name, layout_index, &l));
    tree_node *first = NULL, *inner = NULL;
    for (int i = 0; i < l.axes.len; i++) {
        inner = rewrite_add_loop(w, inner, l.axes.data[i].piece);
        if (l.axes.data[i].fixed) *at_push(w->arena, &inner->extents) = l.axes.data[i].fixed;
        if (!first) first = inner;
    }
    tree_node *leaf = rewrite_add_leaf(w, inner, name, l.axes.len);
    for (int i = 0; i < l.axes.len; i++) *at_push(w->arena, &leaf->index[i]) = l.axes.data[i].piece;
    tree_insert(w->made, place_of_copy(w, &l), true, first);
    rewrite_insert(w, reader, copy);
    return AT_OK;
}

at_status at_edit_copy(at_arena *a, const at_tree *t, at_copy_kind kind, const char *tensor,
                       const char *reader, const char *name, const at_compute **compute,
                       at_tree **out, at_error *err) {
    rewrite w;
    AT_TRY(rewrite_start(&w, a, t, name, err));
    if (!rewrite_find(&w, tensor))
        return at_fail(err, AT_E_INPUT, "there is no tensor \"%s\"", tensor);
    if (kind == AT_COPY_WRITE) {
        AT_TRY(copy_write(&w, tensor, name));
        return rewrite_finish(&w, compute, out);
    }
    const at_tensor *r = rewrite_find(&w, reader);
    if (!r || r->role != AT_ROLE_STAGE || !tree_leaf(w.made, reader))
        return at_fail(err, AT_E_INPUT, "@%s has no leaf in this tree", reader);
    if (at_tensor_has_entries(rewrite_find(&w, tensor)))
        return at_fail(err, AT_E_INPUT, "\"%s\" holds indices: it cannot be copied", tensor);
    if (kind == AT_COPY_LAYOUT || kind == AT_COPY_LANES)
        AT_TRY(copy_layout(&w, kind, tensor, reader, name));
    else AT_TRY(copy_read(&w, kind, tensor, reader, name));
    return rewrite_finish(&w, compute, out);
}
