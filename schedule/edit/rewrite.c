/* schedule/edit/rewrite.c: tensors and expressions as they were written, copied and changed. */
#include "schedule/edit/rewrite.h"
#include "schedule/edit/edit.h"

#include <string.h>

/* ---- expressions ----------------------------------------------------------------------------- */

at_expr *rewrite_at_values(const at_expr *e, at_expr *copy, void *values) {
    const rewrite_values *v = values;
    if (v && e->op == AT_X_NAME && e->ref < AT_REF_SIZE)
        return rewrite_copy_expr(v->arena, v->of_axis[e->ref]);
    copy->ref = -1;
    copy->line = copy->col = 0;
    return copy;
}

at_expr *rewrite_copy_expr(at_arena *a, const at_expr *e) {
    return e ? at_expr_map(a, e, rewrite_at_values, NULL) : NULL;
}

at_expr *rewrite_expr_at(at_arena *a, const at_expr *e, at_expr *const *value) {
    return at_expr_map(a, e, rewrite_at_values, &(rewrite_values){a, value});
}

at_expr *rewrite_guarded(at_arena *a, at_expr *condition, at_expr *value) {
    if (!condition) return value;
    return at_expr_new(a, AT_X_SELECT, 3, (at_expr *[]){condition, value, at_expr_int(a, 0)});
}

at_expr **rewrite_axes(at_arena *a, const at_tensor *t) {
    at_expr **axes = AT_NEW_ARRAY(a, at_expr *, axes_of(t));
    for (int k = 0; k < axes_of(t); k++) axes[k] = at_expr_name(a, t->axes[k].name);
    return axes;
}

at_expr *rewrite_element(at_arena *a, const char *name, const at_tensor *t) {
    return at_expr_read(a, name, t->num_axes, rewrite_axes(a, t));
}

typedef struct read_change {
    const char *tensor;
    at_expr_change *f;
    void *ctx;
    int count;
} read_change;

static void change_read(at_expr *e, void *ctx) {
    read_change *x = ctx;
    if (e->op != AT_X_INDEX || strcmp(e->name, x->tensor)) return;
    x->f(e, x->ctx);
    x->count++;
}

int at_tensor_change_reads(at_tensor *reader, const char *tensor, at_expr_change *f, void *ctx) {
    read_change x = {tensor, f, ctx, 0};
    at_expr_each(reader->written, change_read, &x);
    for (int d = 0; d < reader->num_defs; d++) at_expr_each(reader->defs[d].expr, change_read, &x);
    return x.count;
}

typedef struct other_read {
    rewrite *w;
    const char *to;
    rewrite_index *index;
    void *ctx;
} other_read;

static void read_other(at_expr *e, void *ctx) {
    const other_read *x = ctx;
    e->name = x->to;
    if (x->index) e->arg = x->index(x->w, x->ctx, e->arg, &e->nargs);
}

at_status rewrite_reads(rewrite *w, at_tensor *reader, const char *from, const char *to,
                        rewrite_index *index, void *ctx) {
    if (!strcmp(reader->name, from))
        return at_fail(w->err, AT_E_INPUT, "@%s reads itself: that needs no other tensor", from);
    if (at_tensor_change_reads(reader, from, read_other, &(other_read){w, to, index, ctx}))
        return AT_OK;
    return at_fail(w->err, AT_E_INPUT, "@%s does not read \"%s\"", reader->name, from);
}

/* ---- tensors --------------------------------------------------------------------------------- */

at_tensor at_tensor_copy(at_arena *a, const at_tensor *t) {
    at_tensor copy = {.name = t->name,
                      .role = t->role,
                      .num_axes = t->num_axes,
                      .num_reduce = t->num_reduce,
                      .reduction = t->reduction,
                      .type = t->type,
                      .is_s64 = t->is_s64,
                      .is_marked = t->is_marked,
                      .lies_in = t->lies_in,
                      .num_defs = t->num_defs};
    copy.axes = AT_NEW_ARRAY(a, at_axis, axes_of(t));
    for (int k = 0; k < axes_of(t); k++)
        copy.axes[k] =
            (at_axis){t->axes[k].name, rewrite_copy_expr(a, t->axes[k].extent),
                      rewrite_copy_expr(a, t->axes[k].begin), rewrite_copy_expr(a, t->axes[k].end)};
    copy.written = rewrite_copy_expr(a, t->written);
    copy.defs = AT_NEW_ARRAY(a, at_def, t->num_defs);
    for (int i = 0; i < t->num_defs; i++) {
        copy.defs[i] = t->defs[i];
        copy.defs[i].expr = rewrite_copy_expr(a, t->defs[i].expr);
        if (!t->defs[i].is_digits) continue;
        copy.defs[i].extents = AT_NEW_ARRAY(a, at_expr *, t->defs[i].num_names);
        for (int k = 0; k < t->defs[i].num_names; k++)
            copy.defs[i].extents[k] = rewrite_copy_expr(a, t->defs[i].extents[k]);
    }
    return copy;
}

void rewrite_open(rewrite *w, at_arena *a, const at_compute *c, at_error *err) {
    *w = (rewrite){.arena = a, .old = c, .err = err};
    for (int i = 0; i < c->num_tensors; i++)
        *at_push(a, &w->tensors) = at_tensor_copy(a, &c->tensors[i]);
}

at_status rewrite_start(rewrite *w, at_arena *a, const at_tree *t, const char *name,
                        at_error *err) {
    if (name && at_compute_find(t->compute, name) >= 0)
        return at_fail(err, AT_E_INPUT, "there is a tensor \"%s\" already", name);
    rewrite_open(w, a, t->compute, err);
    w->tree = t;
    return tree_copy(a, t, &w->made, err);
}

at_status rewrite_start_leaf(rewrite *w, at_arena *a, const at_tree *t, const char *name,
                             const char *stage, const at_tensor **old, tree_node **leaf,
                             at_error *err) {
    const int s = at_compute_find(t->compute, stage);
    AT_TRY(rewrite_start(w, a, t, name, err));
    *leaf = tree_leaf(w->made, stage);
    if (s < 0 || !*leaf || tree_init(w->made, stage))
        return at_fail(err, AT_E_INPUT, "@%s has no leaf of its own in this tree", stage);
    *old = &t->compute->tensors[s];
    return AT_OK;
}

at_tensor *rewrite_find(rewrite *w, const char *name) {
    for (int i = 0; i < w->tensors.len; i++)
        if (!strcmp(w->tensors.data[i].name, name)) return &w->tensors.data[i];
    return NULL;
}

void rewrite_insert(rewrite *w, const char *name, at_tensor t) {
    int at = (int)(rewrite_find(w, name) - w->tensors.data);
    *at_push(w->arena, &w->tensors) = t;
    memmove(w->tensors.data + at + 1, w->tensors.data + at,
            sizeof t * (size_t)(w->tensors.len - 1 - at));
    w->tensors.data[at] = t;
}

/* An output keeps its name, and what computes it in its place has another. */
static void keep_marks(rewrite *w) {
    for (int i = 0; i < w->tensors.len; i++) {
        at_tensor *t = &w->tensors.data[i];
        const int was = at_compute_find(w->old, t->name);
        t->is_marked = was >= 0 && w->old->tensors[was].is_marked;
        t->lies_in = t->is_marked ? w->old->tensors[was].lies_in : NULL;
    }
}

at_status rewrite_finish(rewrite *w, const at_compute **compute, at_tree **out) {
    at_compute *c;
    keep_marks(w);
    AT_TRY(at_compute_make(w->arena, w->old->symbols, w->tensors.data, w->tensors.len,
                           "edited computation", &c, w->err));
    AT_TRY(tree_finish(w->made, c, "edited tree", out, w->err));
    *compute = c;
    return AT_OK;
}

/* ---- over other names ------------------------------------------------------------------------ */

typedef struct slots {
    const at_symbols *from, *to;
} slots;

static bool has_slot(const slots *s, int slot) {
    return slot < s->to->names.len && !strcmp(s->from->names.data[slot], s->to->names.data[slot]);
}

static bool lacks_slot(const at_expr *e, const void *ctx) {
    return e->op == AT_X_NAME && e->ref >= 0 && !has_slot(ctx, e->ref);
}

/* Have all sizes of a computation the same slots there? */
static bool has_slots(const compute_info *c, const at_symbols *symbols) {
    slots s = {c->pub.symbols, symbols};
    bool lacks = false;
    for (int i = 0; i < c->key_sizes.len; i++) lacks |= !has_slot(&s, c->key_sizes.data[i]);
    for (int i = 0; i < c->divisors.len; i++)
        lacks |= at_expr_find(c->divisors.data[i].expr, lacks_slot, &s) != NULL;
    for (int i = 0; i < c->digit_sets.len; i++)
        for (int k = 0; k < c->digit_sets.data[i].num_extents; k++)
            lacks |= at_expr_find(c->digit_sets.data[i].extents[k], lacks_slot, &s) != NULL;
    for (int i = 0; i < c->pub.num_tensors; i++)
        for (int k = 0; k < axes_of(&c->pub.tensors[i]); k++) {
            const at_expr *extent = c->pub.tensors[i].axes[k].extent;
            lacks |= extent && at_expr_find(extent, lacks_slot, &s);
        }
    return !lacks;
}

at_status at_compute_over(at_arena *a, const at_compute *c, const at_symbols *symbols,
                          const char *what, at_compute **out, at_error *err) {
    if (has_slots(info_of(c), symbols)) {
        compute_info *same = at_copy(a, info_of(c), sizeof *same);
        same->pub.symbols = symbols;
        if (same->is_made) same->pub.what = at_strdup(a, what);
        *out = &same->pub;
        return AT_OK;
    }
    rewrite w;
    rewrite_open(&w, a, c, err);
    return at_compute_make(a, symbols, w.tensors.data, w.tensors.len, what, out, err);
}

static bool is_used(const rewrite *w, const char *name) {
    if (at_symbol_find(w->old->symbols, name) >= 0) return true;
    for (int i = 0; i < w->tensors.len; i++) {
        const at_tensor *t = &w->tensors.data[i];
        if (!strcmp(t->name, name)) return true;
        for (int k = 0; k < axes_of(t); k++)
            if (t->axes[k].name && !strcmp(t->axes[k].name, name)) return true;
        for (int d = 0; d < t->num_defs; d++)
            for (int k = 0; k < t->defs[d].num_names; k++)
                if (!strcmp(t->defs[d].names[k], name)) return true;
    }
    return w->tree && at_tree_has_piece(w->tree, name);
}

const char *rewrite_fresh(const rewrite *w, const char *like) {
    const char *name = like;
    for (int i = 0; is_used(w, name); i++) name = at_format(w->arena, "%s_%d", like, i);
    return name;
}

/* ---- trees ----------------------------------------------------------------------------------- */

tree_node *rewrite_add_loop(rewrite *w, tree_node *parent, const char *piece) {
    tree_node *n = tree_new_node(w->made->arena);
    *at_push(w->arena, &n->pieces) = piece;
    n->parent = parent;
    if (parent) tree_append(w->made, parent, n);
    return n;
}

tree_node *rewrite_add_leaf(rewrite *w, tree_node *parent, const char *stage, int num_index) {
    tree_node *n = tree_new_node(w->made->arena);
    n->stage = stage;
    n->num_index = num_index;
    n->index = AT_NEW_ARRAY(w->arena, name_list, num_index);
    tree_append(w->made, parent, n);
    return n;
}

tree_node *rewrite_plain_nest(rewrite *w, const at_tensor *t) {
    tree_node *first = NULL, *inner = NULL;
    for (int k = 0; k < axes_of(t); k++) {
        inner = rewrite_add_loop(w, inner, t->axes[k].name);
        if (!first) first = inner;
    }
    tree_node *leaf = rewrite_add_leaf(w, inner, t->name, axes_of(t));
    for (int k = 0; k < axes_of(t); k++) *at_push(w->arena, &leaf->index[k]) = t->axes[k].name;
    return first;
}

tree_node *rewrite_outermost(tree_node *n) {
    while (n->parent) n = n->parent;
    return n;
}

/* Where what follows a sum begins: behind its outermost reduction, and behind a vec loop around
 * that, since such a loop is around one leaf, with the unrolled loops that it is in. */
static tree_node *top_of_sum(rewrite *w, tree_node *leaf) {
    tree_node *top = NULL, *vec = NULL;
    for (tree_node *p = leaf->parent; p; p = p->parent)
        if (tree_reduces(w->old, p)) top = p, vec = NULL;
        else if (p->ann == AT_ANN_VEC) vec = p;
    if (!vec) return top;
    while (vec->parent && vec->parent->ann == AT_ANN_UNROLL && vec->parent->child == vec &&
           !vec->next)
        vec = vec->parent;
    return vec;
}

tree_node *rewrite_nest_behind(rewrite *w, tree_node *leaf, const char *piece) {
    tree_node *first = NULL, *inner = NULL, *path[MAX_PIECES], *top = NULL;
    const tree_node *start = top_of_sum(w, leaf);
    int depth = 0;
    for (tree_node *p = leaf->parent; p; p = p->parent) path[depth++] = p;
    while (depth--) {
        tree_node *p = path[depth];
        bool reduces = tree_reduces(w->old, p);
        if (p == start) {
            top = p;
            if (piece) first = inner = rewrite_add_loop(w, NULL, piece);
        }
        if (!top || reduces) continue;
        inner = rewrite_add_loop(w, inner, p->pieces.data[0]);
        inner->pieces = p->pieces;
        inner->ann = p->ann == AT_ANN_PARA ? AT_ANN_NONE : p->ann;
        inner->ann_size = p->ann_size;
        inner->extents = p->extents;
        if (!first) first = inner;
    }
    if (first) tree_insert(w->made, top, false, first);
    if (!top) return leaf->parent; /* a sum whose loops are gone, since they run once */
    return inner ? inner : top->parent;
}

void rewrite_add_stage(rewrite *w, const char *reader, at_tensor made, at_expr *written) {
    at_tensor *x = rewrite_find(w, reader);
    x->written = written;
    x->num_defs = 0; /* the expression has them already */
    tree_insert(w->made, rewrite_outermost(tree_leaf(w->made, reader)), true,
                rewrite_plain_nest(w, &made));
    rewrite_insert(w, reader, made);
}
