/* schedule/edit/edit_search.c: E22, a stage that looks for the first or the last place of an
 * extreme goes over the block that holds it alone: the extreme is one of blocks. Where it is what
 * they begin with, -inf, a block of NaN seems to hold it. */
#include "schedule/edit/edit_compute.h"

#include <math.h>

#include "schedule/edit/rewrite.h"

/* found[i] = min(k:K) term == most[at] ? k : otherwise */
typedef struct search {
    rewrite *w;
    const at_compute *c;
    const at_tensor *found, *most;
    const at_expr *term, *read, *otherwise;
    const char *part, *from, *block; /* the stages that are made, and an axis of theirs */
    int64_t length;                  /* of a block */
} search;

static const at_axis *last_axis(const at_tensor *t) { return &t->axes[axes_of(t) - 1]; }

static bool has_one_reduction(const at_tensor *t) {
    return t->role == AT_ROLE_STAGE && t->num_reduce == 1 && !last_axis(t)->begin &&
           (t->reduction == AT_REDUCE_MAX || t->reduction == AT_REDUCE_MIN) &&
           !at_tensor_goes_in_steps(t);
}

/* ---- what is looked for ---------------------------------------------------------------------- */

static at_expr *at_axes(const at_expr *e, at_expr *copy, void *values) {
    at_expr **value = values;
    return e->op == AT_X_NAME && e->ref < AT_REF_SIZE ? value[e->ref] : copy;
}

/* Are the terms of the extreme those that are compared with it? */
static bool has_same_terms(const search *x) {
    at_expr place = {.op = AT_X_NAME, .ref = axes_of(x->found) - 1}, *value[MAX_AXES];
    at_arena *a = at_arena_new();
    for (int k = 0; k < x->most->num_axes; k++) value[k] = x->read->arg[k];
    value[x->most->num_axes] = &place;
    const bool same = at_expr_same(at_expr_map(a, x->most->body, at_axes, value), x->term);
    at_arena_free(a);
    return same;
}

/* Is an extreme, as it is stored, one of its terms? Else a smaller term in another block may be
 * what the extreme was rounded to. */
static bool keeps_terms(const search *x) {
    const at_expr *e = x->most->body;
    const at_type type = x->most->type,
                  from = e->op == AT_X_INDEX ? x->c->tensors[e->ref].type : AT_S32;
    return type == (at_expr_is_whole(x->c, e) ? AT_S32 : AT_F32) ||
           (e->op == AT_X_INDEX && (type == from || (type == AT_F32 && at_type_bytes(from) < 4)));
}

/* Is one side of the comparison the extreme, the other a term of it? */
static bool compares(search *x, const at_expr *condition, int side) {
    const at_expr *read = condition->arg[side];
    if (read->op != AT_X_INDEX || at_expr_uses(read, axes_of(x->found) - 1)) return false;
    x->read = read;
    x->term = condition->arg[!side];
    x->most = &x->c->tensors[read->ref];
    return has_one_reduction(x->most) &&
           at_expr_equal(last_axis(x->most)->extent, last_axis(x->found)->extent) &&
           has_same_terms(x) && keeps_terms(x);
}

/* What no place reaches: of a first place infinity, or how many there are; of a last one. */
static bool is_beyond(const search *x, const at_expr *e) {
    if (x->found->reduction == AT_REDUCE_MIN)
        return (e->op == AT_X_FLOAT && isinf(e->number)) ||
               at_expr_equal(e, last_axis(x->found)->extent);
    if (e->op == AT_X_INT) return e->integer < 0;
    return e->op == AT_X_NEG && e->arg[0]->op == AT_X_FLOAT && isinf(e->arg[0]->number);
}

static bool find_search(search *x) {
    const at_expr *e = x->found->body;
    if (!has_one_reduction(x->found) || e->op != AT_X_SELECT || e->arg[0]->op != AT_X_EQ ||
        !at_expr_is_name(e->arg[1], axes_of(x->found) - 1) || !is_beyond(x, e->arg[2]))
        return false;
    x->otherwise = e->arg[2];
    return compares(x, e->arg[0], 0) || compares(x, e->arg[0], 1);
}

int at_edit_search_of(const at_compute *c, int stage) {
    search x = {.c = c, .found = &c->tensors[stage]};
    return c->tensors[stage].role == AT_ROLE_STAGE && find_search(&x) ? (int)(x.most - c->tensors)
                                                                      : -1;
}

/* ---- stages ---------------------------------------------------------------------------------- */

static at_expr *extent_of(const search *x) {
    return rewrite_copy_expr(x->w->arena, last_axis(x->found)->extent);
}

static at_expr *pair(const search *x, at_op op, at_expr *a, at_expr *b) {
    return at_expr_pair(x->w->arena, op, a, b);
}

static at_expr *number(const search *x, int64_t n) { return at_expr_int(x->w->arena, n); }

static at_expr *last_begin(const search *x) {
    return pair(x, AT_X_SUB, extent_of(x), number(x, x->length));
}

/* Where block b begins: the last one ends where the reduction does. */
static at_expr *begin_of_block(const search *x) {
    at_expr *b = at_expr_name(x->w->arena, x->block);
    return pair(x, AT_X_MIN, pair(x, AT_X_MUL, b, number(x, x->length)), last_begin(x));
}

static at_axis block_axis(const search *x) {
    at_expr *up = pair(x, AT_X_ADD, extent_of(x), number(x, x->length - 1));
    return (at_axis){.name = x->block, .extent = pair(x, AT_X_DIV, up, number(x, x->length))};
}

/* A stage with the axes of another, then so many more; it is no output. */
static at_tensor with_axes(const search *x, const at_tensor *of, const char *name, int more) {
    at_tensor t = at_tensor_copy(x->w->arena, of);
    at_axis *axes = AT_NEW_ARRAY(x->w->arena, at_axis, t.num_axes + more);
    for (int k = 0; k < t.num_axes; k++) axes[k] = t.axes[k];
    t.name = name;
    t.axes = axes;
    t.num_reduce = 1;
    t.num_defs = 0;
    return t;
}

/* part[.., b] = max(k:B) of the terms of block b. */
static at_tensor parts(const search *x) {
    at_tensor t = with_axes(x, x->most, x->part, 2);
    const char *name = last_axis(x->most)->name;
    at_expr **value = rewrite_axes(x->w->arena, x->most);
    value[t.num_axes] = pair(x, AT_X_ADD, begin_of_block(x), at_expr_name(x->w->arena, name));
    t.written = rewrite_expr_at(x->w->arena, x->most->body, value);
    t.axes[t.num_axes++] = block_axis(x);
    t.axes[t.num_axes] = (at_axis){.name = name, .extent = number(x, x->length)};
    return t;
}

/* The part at a place of the extreme. */
static at_expr *part_at(const search *x, int n, at_expr *const *place) {
    at_expr **index = AT_NEW_ARRAY(x->w->arena, at_expr *, n + 1);
    for (int k = 0; k < n; k++) index[k] = rewrite_copy_expr(x->w->arena, place[k]);
    index[n] = at_expr_name(x->w->arena, x->block);
    return at_expr_read(x->w->arena, x->part, n + 1, index);
}

/* most[..] = max(b) part[.., b] */
static void join_parts(const search *x) {
    at_tensor *t = rewrite_find(x->w, x->most->name);
    t->written = part_at(x, t->num_axes, rewrite_axes(x->w->arena, x->most));
    t->num_defs = 0;
    t->axes[t->num_axes] = block_axis(x);
}

static at_expr *where_equal(const search *x, at_expr *term, at_expr *place, at_expr *otherwise) {
    at_expr *is = pair(x, AT_X_EQ, term, rewrite_copy_expr(x->w->arena, x->read));
    return at_expr_new(x->w->arena, AT_X_SELECT, 3, (at_expr *[]){is, place, otherwise});
}

/* from[..] = min(b) part[.., b] == most[..] ? where b begins : where the last one does. */
static at_tensor begins(const search *x) {
    at_tensor t = with_axes(x, x->found, x->from, 1);
    const bool is_last = x->found->reduction == AT_REDUCE_MAX;
    t.type = AT_S32;
    t.axes[t.num_axes] = block_axis(x);
    t.written = where_equal(x, part_at(x, x->most->num_axes, x->read->arg), begin_of_block(x),
                            is_last ? number(x, 0) : last_begin(x));
    return t;
}

/* found[..] = min(k:B) term at from[..] + k == most[..] ? from[..] + k : otherwise */
static void search_block(const search *x) {
    at_arena *a = x->w->arena;
    at_tensor *t = rewrite_find(x->w, x->found->name);
    at_expr **value = rewrite_axes(a, x->found);
    value[t->num_axes] = pair(x, AT_X_ADD, rewrite_element(a, x->from, x->found),
                              at_expr_name(a, last_axis(x->found)->name));
    t->written =
        where_equal(x, rewrite_expr_at(a, x->term, value), rewrite_copy_expr(a, value[t->num_axes]),
                    rewrite_copy_expr(a, x->otherwise));
    t->num_defs = 0;
    t->axes[t->num_axes].extent = number(x, x->length);
}

/* The leaf of a stage whose loops go over another axis, in loops of its own, or beside what was
 * made for it. */
static void replace_nest(rewrite *w, const char *stage, const at_tensor *before) {
    tree_node *leaf = tree_leaf(w->made, stage), *outermost = rewrite_outermost(leaf);
    tree_insert(w->made, outermost, true, rewrite_plain_nest(w, before));
    tree_insert(w->made, outermost, true, rewrite_plain_nest(w, rewrite_find(w, stage)));
    tree_remove(w->made, leaf);
}

at_status at_edit_search(at_arena *a, const at_tree *t, const char *stage, const char *const *names,
                         int64_t length, const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w;
    tree_node *leaf;
    search x = {.w = &w, .c = t->compute, .part = names[0], .from = names[1], .length = length};
    AT_TRY(rewrite_start_leaf(&w, a, t, names[0], stage, &x.found, &leaf, err));
    if (rewrite_find(&w, names[1]))
        return at_fail(err, AT_E_INPUT, "there is a tensor \"%s\" already", names[1]);
    if (!find_search(&x))
        return at_fail(err, AT_E_INPUT, "@%s looks for no place of a largest or smallest term",
                       stage);
    if (!tree_leaf(w.made, x.most->name) || tree_init(w.made, x.most->name))
        return at_fail(err, AT_E_INPUT, "@%s has no leaf of its own in this tree", x.most->name);
    x.block = rewrite_fresh(&w, at_format(a, "%s_b", last_axis(x.most)->name));
    const at_tensor part = parts(&x), from = begins(&x);
    join_parts(&x);
    search_block(&x);
    replace_nest(&w, x.most->name, &part);
    replace_nest(&w, stage, &from);
    rewrite_insert(&w, x.most->name, part);
    rewrite_insert(&w, stage, from);
    return rewrite_finish(&w, compute, out);
}
