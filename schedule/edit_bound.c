/* schedule/edit_bound.c: E24, a sum is 0 where nothing counts of it: where all that reads it would
 * take another value, or goes no further by what entries say, and where a factor of its terms is
 * 0. */
#include "schedule/edit.h"

#include "schedule/rewrite.h"

enum { MOST_BOUNDS = 8 };

typedef struct bounds {
    at_arena *arena;
    const at_compute *compute;
    const at_tensor *reader; /* whose reads are looked at */
    int stage;
    at_expr *of[MOST_BOUNDS]; /* of the stage's axes, as written */
    int num;
} bounds;

/* Conditions that hold where an expression is worked out. */
typedef struct around {
    const at_expr *condition;
    const struct around *next;
} around;

static const at_tensor *stage_of(const bounds *b) { return &b->compute->tensors[b->stage]; }

/* ---- conditions ------------------------------------------------------------------------------ */

static void add(bounds *b, at_expr *e) {
    for (int i = 0; i < b->num; i++)
        if (at_expr_equal(b->of[i], e)) return;
    if (b->num < MOST_BOUNDS) b->of[b->num++] = e;
}

static bool is_no_entry(const at_expr *e, const void *compute) {
    const at_compute *c = compute;
    return e->op == AT_X_INDEX && c->tensors[e->ref].role != AT_ROLE_INDEX;
}

/* Has each axis of an expression, of one at least, a value, and are entries all that it reads? */
static bool is_known(const bounds *b, const at_expr *e, at_expr *const *value) {
    const uint32_t axes = at_expr_axes(e);
    if (at_expr_find(e, is_no_entry, b->compute)) return false;
    for (int k = 0; k < 32; k++)
        if (axes >> k & 1 && !value[k]) return false;
    return true;
}

/* A comparison of several axes, or of one with entries: it bounds loops. */
static bool is_bound(const bounds *b, const at_expr *e, at_expr *const *value) {
    const uint32_t axes = at_expr_axes(e);
    return e->op >= AT_X_LT && e->op <= AT_X_GE && axes &&
           (axes & (axes - 1) || at_expr_reads(e)) && is_known(b, e, value);
}

static void add_all(bounds *b, const at_expr *e, at_expr *const *value) {
    if (e->op == AT_X_AND) add_all(b, e->arg[0], value), add_all(b, e->arg[1], value);
    else if (is_bound(b, e, value)) add(b, rewrite_expr_at(b->arena, e, value));
}

/* ---- where it is read ------------------------------------------------------------------------ */

/* What a reduction's range says of an axis of the stage. */
static void add_ranges(bounds *b, const at_tensor *reader, at_expr *const *value) {
    for (int k = reader->num_axes; k < reader->num_axes + reader->num_reduce && k < 32; k++) {
        const at_axis *x = &reader->axes[k];
        if (!x->begin || !value[k]) continue;
        if (is_known(b, x->begin, value) && !is_zero_expr(x->begin))
            add(b, at_expr_pair(b->arena, AT_X_LE, rewrite_expr_at(b->arena, x->begin, value),
                                rewrite_copy_expr(b->arena, value[k])));
        if (is_known(b, x->end, value))
            add(b, at_expr_pair(b->arena, AT_X_LT, rewrite_copy_expr(b->arena, value[k]),
                                rewrite_expr_at(b->arena, x->end, value)));
    }
}

/* Those of a read that hold at all reads before it, too; of the first one all. */
static void meet(bounds *b, const at_expr *read, const around *conditions, bool *is_first) {
    at_expr **value = AT_NEW_ARRAY(b->arena, at_expr *, 32);
    bounds own = {.arena = b->arena, .compute = b->compute};
    int kept = 0;
    for (int k = 0; k < read->nargs; k++)
        if (read->arg[k]->op == AT_X_NAME && read->arg[k]->ref < 32)
            value[read->arg[k]->ref] = at_expr_name(b->arena, stage_of(b)->axes[k].name);
    for (; conditions; conditions = conditions->next) add_all(&own, conditions->condition, value);
    add_ranges(&own, b->reader, value);
    if (*is_first) {
        for (int i = 0; i < own.num; i++) b->of[b->num++] = own.of[i];
    } else {
        for (int i = 0; i < b->num; i++)
            for (int k = 0; k < own.num; k++)
                if (at_expr_equal(b->of[i], own.of[k])) {
                    b->of[kept++] = b->of[i];
                    break;
                }
        b->num = kept;
    }
    *is_first = false;
}

static void find_reads(bounds *b, const at_expr *e, const around *conditions, bool *is_first) {
    const around within = {e->op == AT_X_SELECT ? e->arg[0] : NULL, conditions};
    if (e->op == AT_X_INDEX && e->ref == b->stage) meet(b, e, conditions, is_first);
    for (int i = 0; i < e->nargs; i++)
        find_reads(b, e->arg[i], e->op == AT_X_SELECT && i == 1 ? &within : conditions, is_first);
}

/* ---- factors --------------------------------------------------------------------------------- */

static at_walk add_factor(const at_expr *e, void *ctx) {
    bounds *b = ctx;
    if (e->op == AT_X_NEG || e->op == AT_X_MUL) return AT_WALK_ON;
    if (e->op != AT_X_INDEX) return AT_WALK_PAST;
    const at_tensor *t = &b->compute->tensors[e->ref];
    if (t->role != AT_ROLE_STAGE || t->num_reduce || t->is_recurrence ||
        t->body->op != AT_X_SELECT || !is_zero_expr(t->body->arg[2]))
        return AT_WALK_PAST;
    at_expr **value = AT_NEW_ARRAY(b->arena, at_expr *, 32);
    for (int k = 0; k < e->nargs && k < 32; k++)
        if (!at_expr_reads(e->arg[k]))
            value[k] = rewrite_expr_at(b->arena, e->arg[k], rewrite_axes(b->arena, stage_of(b)));
    add_all(b, t->body->arg[0], value);
    return AT_WALK_PAST;
}

/* ---- the edit -------------------------------------------------------------------------------- */

static bounds find_bounds(at_arena *a, const at_compute *c, int stage) {
    bounds b = {.arena = a, .compute = c, .stage = stage};
    const at_tensor *t = &c->tensors[stage];
    bool is_first = true;
    if (t->role != AT_ROLE_STAGE || !t->num_reduce || t->reduction != AT_REDUCE_SUM ||
        t->body->op == AT_X_SELECT || t->is_recurrence || t->cycle)
        return b;
    for (int r = stage + 1; r < c->num_tensors && !t->is_output; r++)
        if (c->tensors[r].role == AT_ROLE_STAGE) {
            b.reader = &c->tensors[r];
            find_reads(&b, b.reader->body, NULL, &is_first);
        }
    if (t->body->op == AT_X_MUL) at_expr_walk(t->body, add_factor, &b);
    return b;
}

bool at_edit_has_bound(at_arena *a, const at_compute *c, int stage) {
    return find_bounds(a, c, stage).num > 0;
}

at_status at_edit_bound(at_arena *a, const at_tree *t, const char *stage,
                        const at_compute **compute, at_tree **out, at_error *err) {
    rewrite w;
    const at_tensor *x;
    tree_node *leaf;
    AT_TRY(rewrite_start_leaf(&w, a, t, NULL, stage, &x, &leaf, err));
    const bounds b = find_bounds(a, t->compute, at_compute_find(t->compute, stage));
    if (!b.num) return at_fail(err, AT_E_INPUT, "nothing bounds where @%s counts", stage);
    at_expr *all = b.of[0];
    for (int i = 1; i < b.num; i++) all = at_expr_pair(a, AT_X_AND, all, b.of[i]);
    at_tensor *made = rewrite_find(&w, stage);
    made->written = rewrite_guarded(a, all, made->written);
    return rewrite_finish(&w, compute, out);
}
