/* schedule/edit/edit_bound.c: E24, a stage is nothing where conditions on its axes say so: a sum is
 * 0 where all that reads it would take another value, or goes no further by its range, and where
 * its terms are; a maximum leaves out terms that are -inf; what calls a function is not asked where
 * its value is 0 whatever it reads.
 */
#include "schedule/edit/edit_compute.h"

#include "schedule/edit/rewrite.h"
#include "schedule/value_set.h"

typedef struct bounds {
    at_arena *arena;
    const at_compute *compute;
    valuer v;
    conditions *counts; /* [tensor] what holds where an element of a stage counts */
} bounds;

/* ---- nothing --------------------------------------------------------------------------------- */

static bool calls(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_CALL && at_expr_reads(e);
}

/* What an element, or a term, is where a condition fails: VALUE_ZERO, VALUE_NOTHING or 0, no one
 * thing. */
static int find_nothing(bounds *b, int stage, conditions *of) {
    const at_tensor *t = &b->compute->tensors[stage];
    const bool is_max = t->reduction == AT_REDUCE_MAX;
    of->num = 0;
    if (at_tensor_goes_in_steps(t) || t->is_table ||
        (t->num_reduce && !is_max && t->reduction != AT_REDUCE_SUM))
        return 0;
    for (int nothing = VALUE_ZERO; nothing <= VALUE_NOTHING; nothing *= 4) {
        if (t->num_reduce && is_max != (nothing == VALUE_NOTHING)) continue;
        *of = conditions_of_value(&b->v, t->body, nothing);
        if (of->num) return nothing;
    }
    return 0;
}

/* ---- where it is read ------------------------------------------------------------------------ */

/* A stage's axes by their places in what it reads. */
static at_expr *take_place(const at_expr *e, at_expr *copy, void *places) {
    if (e->op == AT_X_NAME && e->ref < AT_REF_SIZE) copy->ref = ((const int *)places)[e->ref];
    return copy;
}

/* What conditions of a reader say about the axes of what it reads. */
static conditions at_read(const bounds *b, const at_expr *read, const conditions *own) {
    conditions out = {.num = 0};
    int place[32];
    uint32_t known = 0;
    for (int k = 0; k < read->nargs; k++)
        if (read->arg[k]->op == AT_X_NAME && read->arg[k]->ref < 32) {
            known |= UINT32_C(1) << read->arg[k]->ref;
            place[read->arg[k]->ref] = k;
        }
    for (int i = 0; i < own->num; i++) {
        if (at_expr_axes(own->of[i].of) & ~known) continue;
        const at_expr *e = at_expr_map(b->arena, own->of[i].of, take_place, place);
        if (condition_is_bound(b->compute, e))
            conditions_add(&out, (condition){e, own->of[i].holds});
    }
    return out;
}

/* Conditions of either side that follow from the other, too. */
static conditions meet(const conditions *x, const conditions *y) {
    const conditions *all[] = {x, y};
    conditions out = {.num = 0};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < all[side]->num; i++)
            for (int k = 0; k < all[!side]->num; k++)
                if (condition_implies(&all[!side]->of[k], &all[side]->of[i])) {
                    conditions_add(&out, all[side]->of[i]);
                    break;
                }
    return out;
}

typedef struct reads {
    bounds *b;
    int stage;
    bool is_read;
    conditions all; /* what holds at all reads so far */
} reads;

static void find_reads(reads *r, const at_expr *e, const conditions *known) {
    if (e->op == AT_X_INDEX && e->ref == r->stage) {
        const conditions own = at_read(r->b, e, known);
        r->all = r->is_read ? meet(&r->all, &own) : own;
        r->is_read = true;
    }
    for (int i = 0; i < e->nargs; i++) {
        conditions within = *known;
        if (e->op == AT_X_SELECT && i > 0)
            conditions_take(&within, r->b->compute, e->arg[0], i == 1);
        find_reads(r, e->arg[i], &within);
    }
}

/* What ranges of a reader's reductions say. */
static void add_ranges(const bounds *b, const at_tensor *reader, conditions *known) {
    for (int k = reader->num_axes; k < axes_of(reader); k++) {
        const at_axis *x = &reader->axes[k];
        if (!x->begin) continue;
        at_expr *axis = at_expr_name(b->arena, x->name);
        axis->ref = k;
        at_expr *const sides[] = {at_expr_pair(b->arena, AT_X_LE, x->begin, axis),
                                  at_expr_pair(b->arena, AT_X_LT, axis, x->end)};
        for (int i = 0; i < 2; i++)
            if (condition_is_bound(b->compute, sides[i]))
                conditions_add(known, (condition){sides[i], true});
    }
}

/* What holds where an element counts; what reads the stage is known. */
static conditions find_counts(bounds *b, int stage) {
    const at_tensor *t = &b->compute->tensors[stage];
    reads r = {.b = b, .stage = stage};
    if (t->is_output || at_tensor_goes_in_steps(t)) return r.all;
    for (int k = stage + 1; k < b->compute->num_tensors; k++) {
        const at_tensor *reader = &b->compute->tensors[k];
        conditions known;
        if (reader->role != AT_ROLE_STAGE || !at_expr_read_of(reader->body, stage)) continue;
        find_nothing(b, k, &known);
        add_ranges(b, reader, &known);
        for (int i = 0; i < b->counts[k].num; i++) conditions_add(&known, b->counts[k].of[i]);
        find_reads(&r, reader->body, &known);
    }
    return r.all;
}

/* ---- the edit -------------------------------------------------------------------------------- */

static bool is_bound(const at_expr *e, const void *compute) {
    return condition_is_bound(compute, e);
}

/* Is there any condition that bounds, and a stage that may be bounded? */
static bool may_bound(const at_compute *c, int stage) {
    const at_tensor *t = &c->tensors[stage];
    bool any = false;
    for (int k = 0; k < c->num_tensors; k++)
        any |=
            c->tensors[k].role == AT_ROLE_STAGE &&
            (at_tensor_has_range(&c->tensors[k]) || at_expr_find(c->tensors[k].body, is_bound, c));
    return any && t->role == AT_ROLE_STAGE && !at_tensor_goes_in_steps(t) && axes_of(t) <= 32;
}

/* What bounds a stage, and what it is elsewhere; num 0: nothing does. */
static conditions find_bounds(bounds *b, int stage, int *nothing) {
    const at_tensor *t = &b->compute->tensors[stage];
    conditions own;
    if (t->body->op == AT_X_SELECT) return (conditions){.num = 0};
    *nothing = find_nothing(b, stage, &own);
    if (!t->num_reduce) {
        if (*nothing == VALUE_ZERO && !at_expr_find(t->body, calls, NULL)) own.num = 0;
        return own;
    }
    if (t->reduction != AT_REDUCE_SUM) return own;
    /* What the text itself chooses is padding, or bounds the sum already. */
    if (t->body->op != AT_X_MUL || at_expr_has(t->body, AT_X_SELECT)) own.num = 0;
    *nothing = VALUE_ZERO;
    b->counts = AT_NEW_ARRAY(b->arena, conditions, b->compute->num_tensors);
    for (int k = b->compute->num_tensors - 1; k >= stage; k--)
        if (b->compute->tensors[k].role == AT_ROLE_STAGE) b->counts[k] = find_counts(b, k);
    for (int i = 0; i < b->counts[stage].num; i++) conditions_add(&own, b->counts[stage].of[i]);
    return own;
}

/* What bounds a stage, what it is elsewhere, and what sizes must be for that. */
static conditions bounds_of(at_arena *a, const at_compute *c, int stage, int *nothing,
                            const at_expr **needs) {
    bounds b = {.arena = a, .compute = c};
    *needs = NULL;
    if (!may_bound(c, stage)) return (conditions){.num = 0};
    b.v = valuer_of(a, c);
    const conditions own = find_bounds(&b, stage, nothing);
    *needs = b.v.needs;
    return own;
}

bool at_edit_has_bound(at_arena *a, const at_compute *c, int stage, const at_expr **needs) {
    int nothing;
    return bounds_of(a, c, stage, &nothing, needs).num > 0;
}

bool at_edit_is_mask(at_arena *a, const at_compute *c, int stage) {
    bounds b = {.arena = a, .compute = c};
    conditions own;
    if (!may_bound(c, stage) || c->tensors[stage].num_reduce || c->tensors[stage].is_output)
        return false;
    b.v = valuer_of(a, c);
    return find_nothing(&b, stage, &own);
}

/* The expression where conditions hold: choices that they decide are made. */
typedef struct decided {
    at_arena *arena;
    const conditions *known;
} decided;

static at_expr *decide(const at_expr *e, at_expr *copy, void *ctx) {
    const decided *d = ctx;
    const int truth = e->op == AT_X_SELECT ? conditions_decide(d->known, e->arg[0]) : -1;
    if (truth >= 0) return copy->arg[truth ? 1 : 2];
    if (e->op == AT_X_ADD && e->arg[1]->op == AT_X_SELECT && is_zero_expr(copy->arg[1]))
        return copy->arg[0];
    return copy;
}

at_status at_edit_bound(at_arena *a, const at_tree *t, const char *stage, const at_expr **needs,
                        const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w;
    const at_tensor *x;
    tree_node *leaf;
    int nothing;
    AT_TRY(rewrite_start_leaf(&w, a, t, NULL, stage, &x, &leaf, err));
    const int at = at_compute_find(t->compute, stage);
    const conditions own = bounds_of(a, t->compute, at, &nothing, needs);
    if (!own.num) return at_fail(err, AT_E_INPUT, "nothing bounds where @%s counts", stage);
    at_expr **axes = rewrite_axes(a, x), *all = condition_expr(a, &own.of[0], axes);
    for (int i = 1; i < own.num; i++)
        all = at_expr_pair(a, AT_X_AND, all, condition_expr(a, &own.of[i], axes));
    at_tensor *made = rewrite_find(&w, stage);
    made->written = rewrite_expr_at(a, at_expr_map(a, x->body, decide, &(decided){a, &own}), axes);
    made->num_defs = 0; /* the expression has them already */
    made->written = at_expr_new(
        a, AT_X_SELECT, 3,
        (at_expr *[]){all, made->written,
                      nothing == VALUE_ZERO ? at_expr_int(a, 0) : neutral_expr(a, AT_REDUCE_MAX)});
    return rewrite_finish(&w, compute, out);
}
