/* sketch/nest_running.c: what goes on from step to step: a running sum takes a term each, instead
 * of a sum from the beginning for each step; a stage that reads itself goes in its order:
 *
 *     p, t, k:dyn(t) => @s = p, t // k   ->   p, t0, t1:unroll => @s[running] = p, {t0, t1}/t // 0
 *     t, c => @h = t, c                  ->   c0:para, t0, t1:unroll, c1:vec => @h = ...
 *
 * (by rows, in one more sketch: t0, c0, t1:unroll, c1:vec => @h)
 *
 * with lanes along the last axis where that is another one, else several rows side by side. Axes
 * that a stage reads itself across (h[t - 1, c + 1]) stand inside of the steps.
 *
 * Stages that read themselves along the same axes go together, where one reads another's steps up
 * to its own:
 *
 *     t, c => @m = t, c                  c0:para, t =>
 *     t, c => @i = t, c          ->          c1:vec => @m = t, {c0, c1}/c
 *                                            c1:vec => @i = t, {c0, c1}/c  */
#include "sketch/nests.h"

#include <string.h>

/* The loops of a stage that goes from step to step. */
typedef struct steps {
    sketch_state *s;
    const at_tensor *t;
    int stage;
    uint32_t along, across;    /* axes of steps; of what one step reads of all of another */
    int last_step, lanes, row; /* axes; lanes, rows beside each other: -1, there are none */
    bool together; /* with other stages, which read earlier steps: none are written out */
    bool by_rows;  /* all lanes of a few steps before the next steps */
    const char *outer, *vector, *rows[2], *written[2]; /* loops; NULL: there is none */
} steps;

static bool is_in(uint32_t set, int axis) { return set >> axis & 1; }

/* All but the loops. */
static steps steps_of(sketch_state *s, int stage) {
    const at_compute *c = s->facts->compute;
    const at_tensor *t = &c->tensors[stage];
    const int last = t->num_axes - 1;
    steps x = {.s = s, .t = t, .stage = stage, .lanes = -1, .row = -1};
    x.along = at_stage_steps(c, stage);
    x.across = at_recurrence_of(c, stage).beyond;
    for (int k = 0; k < t->num_axes; k++)
        if (is_in(x.along, k)) x.last_step = k;
    if (!is_in(x.along, last) && (t->is_recurrence || tile_list_of(s, stage) >= 0)) x.lanes = last;
    for (int k = 0; k < t->num_axes && x.lanes < 0 && t->is_recurrence; k++)
        if (!is_in(x.along | x.across, k)) x.row = k;
    return x;
}

static at_status split_step_lanes(steps *x) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    if (x->lanes < 0) return AT_OK;
    AT_TRY(sketch_vectors(x->s, x->stage, &x->outer));
    x->vector = d[at_tree_digits(x->s->tree, x->stage, x->lanes, d) - 1].piece;
    return AT_OK;
}

/* Where there are no lanes: rows, each of which goes its own way. */
static at_status split_rows(steps *x) {
    static const at_part_limit eight = {.wide = 8, .narrow = 8};
    if (x->row < 0 || x->s->facts->of[x->stage].extent[x->row] < RUNNING_LEAST_ROWS) return AT_OK;
    AT_TRY(sketch_split_by(x->s, x->t->name, x->t->axes[x->row].name, "1 2 4 8", eight, x->rows));
    return sketch_mark(x->s, x->t->name, x->rows[1], AT_ANN_UNROLL);
}

/* Some steps are written out, but where all of one is to be done before the next. */
static at_status split_steps(steps *x) {
    static const at_part_limit vectors = {.wide = 2, .narrow = 2},
                               single = {.wide = 8, .narrow = 8};
    if (x->across || x->together) return AT_OK;
    AT_TRY(sketch_split_by(x->s, x->t->name, x->t->axes[x->last_step].name, "1 2 4 8 16",
                           x->vector ? vectors : single, x->written));
    return sketch_mark(x->s, x->t->name, x->written[1], AT_ANN_UNROLL);
}

/* The axes of a set, in their order; of an axis that is cut, its outer loop. */
static void add_axes(const steps *x, uint32_t set, at_edit *order, int *n) {
    for (int k = 0; k < x->t->num_axes; k++) {
        if (!is_in(set, k)) continue;
        const char *const *parts = k == x->row         ? x->rows
                                   : k == x->last_step ? x->written
                                                       : (const char *const[2]){NULL};
        order->names[(*n)++] = parts[0] ? parts[0] : x->t->axes[k].name;
    }
}

/* *inner: the last loop that is neither written out nor lanes. */
static at_status make_running(steps *x, const char **inner) {
    const at_tensor *t = x->t;
    const uint32_t lanes = x->lanes < 0 ? 0 : 1u << x->lanes;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    if (!t->is_recurrence) AT_TRY(sketch_step_of(x->s, AT_EDIT_RUNNING, t->name));
    AT_TRY(split_step_lanes(x));
    AT_TRY(split_rows(x));
    AT_TRY(split_steps(x));
    add_axes(x, ~(x->along | x->across | lanes), &order, &n); /* each goes its own way */
    const bool goes_inside = x->by_rows || x->across & lanes;
    if (x->outer && !goes_inside) order.names[n++] = x->outer;
    const bool is_shared = n > 0;
    add_axes(x, x->along, &order, &n);
    add_axes(x, x->across & ~lanes, &order, &n);
    if (x->outer && goes_inside) order.names[n++] = x->outer;
    *inner = order.names[n - 1];
    if (x->written[1]) order.names[n++] = x->written[1];
    if (x->rows[1]) order.names[n++] = x->rows[1];
    if (x->vector) order.names[n++] = x->vector;
    AT_TRY(sketch_step(x->s, &order));
    return is_shared ? sketch_mark(x->s, t->name, order.names[0], AT_ANN_PARA) : AT_OK;
}

/* ---- which go together ----------------------------------------------------------------------- */

/* An index that is the axis, or the axis less a number. */
static bool is_up_to(const at_expr *e, int axis) {
    const at_expr *name = e->op == AT_X_SUB && e->arg[1]->op == AT_X_INT ? e->arg[0] : e;
    return at_expr_is_name(name, axis);
}

typedef struct steps_read {
    int tensor;
    uint32_t along; /* its axes of steps */
} steps_read;

/* Is it a read of the tensor elsewhere than at its own place or at steps before it? */
static bool reads_beyond(const at_expr *e, const void *ctx) {
    const steps_read *x = ctx;
    for (int i = 0; i < e->nargs && at_expr_is_read(e, &x->tensor); i++) {
        const bool is_own = at_expr_is_name(e->arg[i], i);
        if (!is_own && !(is_in(x->along, i) && is_up_to(e->arg[i], i))) return true;
    }
    return false;
}

/* Has another stage the same steps, as long, and does nothing stand between the two? */
static bool goes_along(const sketch_state *s, int stage, int other) {
    const at_facts *f = s->facts;
    const at_compute *c = f->compute;
    const at_tensor *t = &c->tensors[stage], *x = &c->tensors[other];
    const at_recurrence one = at_recurrence_of(c, stage), two = at_recurrence_of(c, other);
    bool *reads = AT_NEW_ARRAY(s->arena, bool, c->num_tensors);
    if (!at_facts_has_leaf(f, other) || f->of[other].is_written || !x->is_recurrence ||
        x->num_axes != t->num_axes || one.beyond || two.beyond ||
        at_stage_steps(c, stage) != at_stage_steps(c, other) || sketch_is_joined(s, other))
        return false;
    for (int k = 0; k < t->num_axes; k++)
        if (f->extents[stage][k] != f->extents[other][k]) return false;
    at_compute_reach(c, f->dissolved, other, reads);
    for (int k = other + 1; k < stage; k++)
        if (reads[k] || (f->of[k].is_dissolved && at_expr_count_reads(c->tensors[k].body, other)))
            return false;
    const steps_read read = {other, at_stage_steps(c, stage)};
    return reads[stage] && !at_expr_find(t->body, reads_beyond, &read);
}

static void find_with(const sketch_state *s, int stage, nest_choice *c) {
    if (!s->facts->compute->tensors[stage].is_recurrence) return;
    for (int t = stage - 1; t >= 0 && c->num_with < SKETCH_MOST_WITH; t--)
        if (goes_along(s, stage, t)) c->with[c->num_with++] = t;
}

/* Long rows of many steps lie behind each other, and may be gone through so. */
static bool may_go_by_rows(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const uint32_t along = at_stage_steps(s->facts->compute, stage),
                   beyond = at_recurrence_of(s->facts->compute, stage).beyond;
    const int last = t->num_axes - 1;
    int before = last - 1;
    while (before > 0 && s->facts->of[stage].extent[before] == 1) before--;
    return t->is_recurrence && last > 0 && !is_in(along | beyond, last) && is_in(along, before) &&
           s->facts->of[stage].extent[last] > 2 * TILE_COLUMNS &&
           sketch_elements(s, stage) >= ROWS_OF_STEPS;
}

/* Long rows first, whose loops threads do not share. */
static void add_ways(const sketch_state *s, int stage, int axis, const nest_choice *with,
                     nest_choices *out) {
    const bool by_rows = may_go_by_rows(s, stage);
    for (int i = 0; i <= by_rows; i++) {
        nest_choice *c = nest_add_axis(out, s, stage, axis);
        memcpy(c->with, with->with, sizeof c->with);
        c->num_with = with->num_with;
        c->rows_first = by_rows && !i;
        c->vec = -1;
    }
}

void nest_find_running(const sketch_state *s, int stage, nest_choices *out) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const uint32_t along = at_stage_steps(s->facts->compute, stage);
    nest_choice with = {.num_with = 0}, alone = {.num_with = 0};
    int last = t->num_axes - 1;
    while (last >= 0 && !is_in(along, last)) last--;
    if (last < 0) return;
    find_with(s, stage, &with);
    if (with.num_with) add_ways(s, stage, last, &with, out);
    add_ways(s, stage, last, &alone, out);
}

at_status nest_make_running(sketch_state *s, int stage, const nest_choice *c) {
    steps x = steps_of(s, stage);
    const sketch_edit *first = s->last;
    const char *inner;
    x.by_rows = c->rows_first;
    x.together = c->num_with > 0;
    AT_TRY(make_running(&x, &inner));
    for (int i = 0; i < c->num_with; i++)
        AT_TRY(sketch_sum_beside(s, x.t->name, c->with[i], inner, first));
    return AT_OK;
}
