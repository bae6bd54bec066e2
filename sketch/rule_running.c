/* sketch/rule_running.c: what goes on from step to step. A running sum takes a term each, instead
 * of a sum from the beginning for each step; a stage that reads itself goes in its order:
 *
 *     p, t, k:dyn(t) => @s = p, t // k   ->   p, t0, t1:unroll => @s[running] = p, {t0, t1}/t // 0
 *     t, c => @h = t, c                  ->   c0:para, t0, t1:unroll, c1:vec => @h = ...
 *
 * with lanes along the last axis where that is another one, else several rows side by side. Axes
 * that a stage reads itself across (h[t - 1, c + 1]) stand inside of the steps. */
#include "sketch/tile.h"

enum { LEAST_ROWS = 4 };

/* The loops of a stage that goes from step to step. */
typedef struct steps {
    sketch_state *s;
    const at_tensor *t;
    int stage;
    uint32_t along, across;    /* axes of steps; of what one step reads of all of another */
    int last_step, lanes, row; /* axes; lanes, rows beside each other: -1, there are none */
    const char *outer, *vector, *rows[2], *written[2]; /* loops; NULL: there is none */
    at_error *err;
} steps;

static bool is_in(uint32_t set, int axis) { return set >> axis & 1; }

static rule_verdict applies(const sketch_state *s, int stage) {
    return at_stage_steps(s->facts->compute, stage) ? RULE_APPLY_ALONE : RULE_SKIP;
}

/* All but the loops, and the state that gets them. */
static steps steps_of(const sketch_state *s, int stage, at_error *err) {
    const at_compute *c = s->facts->compute;
    const at_tensor *t = &c->tensors[stage];
    const int last = t->num_axes - 1;
    steps x = {.t = t, .stage = stage, .lanes = -1, .row = -1, .err = err};
    x.along = at_stage_steps(c, stage);
    x.across = at_recurrence_of(c, stage).beyond;
    for (int k = 0; k < t->num_axes; k++)
        if (is_in(x.along, k)) x.last_step = k;
    if (!is_in(x.along, last) && (t->is_recurrence || tile_list_of(s, stage) >= 0)) x.lanes = last;
    for (int k = 0; k < t->num_axes && x.lanes < 0 && t->is_recurrence; k++)
        if (!is_in(x.along | x.across, k)) x.row = k;
    return x;
}

static at_status split_lanes(steps *x) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    if (x->lanes < 0) return AT_OK;
    AT_TRY(sketch_vectors(x->s, x->stage, &x->outer, x->err));
    x->vector = d[at_tree_digits(x->s->tree, x->stage, x->lanes, d) - 1].piece;
    return AT_OK;
}

/* Where there are no lanes: rows, each of which goes its own way. */
static at_status split_rows(steps *x) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "1 2 4 8"};
    static const at_part_limit limits[] = {{0}, {.wide = 8, .narrow = 8}};
    if (x->row < 0 || x->s->facts->of[x->stage].extent[x->row] < LEAST_ROWS) return AT_OK;
    AT_TRY(
        sketch_split(x->s, x->t->name, x->t->axes[x->row].name, 2, &spec, limits, x->rows, x->err));
    return sketch_mark(x->s, x->t->name, x->rows[1], AT_ANN_UNROLL, x->err);
}

/* Some steps are written out, but where all of one is to be done before the next. */
static at_status split_steps(steps *x) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "1 2 4 8 16"};
    static const at_part_limit vectors[] = {{0}, {.wide = 2, .narrow = 2}},
                               single[] = {{0}, {.wide = 8, .narrow = 8}};
    if (x->across) return AT_OK;
    AT_TRY(sketch_split(x->s, x->t->name, x->t->axes[x->last_step].name, 2, &spec,
                        x->vector ? vectors : single, x->written, x->err));
    return sketch_mark(x->s, x->t->name, x->written[1], AT_ANN_UNROLL, x->err);
}

/* The axes of a set, in their order; of those that are cut, the outer loops. */
static void add_axes(const steps *x, uint32_t set, at_edit *order, int *n) {
    for (int k = 0; k < x->t->num_axes; k++) {
        if (!is_in(set, k)) continue;
        const char *const *parts = k == x->row         ? x->rows
                                   : k == x->last_step ? x->written
                                                       : (const char *const[2]){NULL};
        order->names[(*n)++] = parts[0] ? parts[0] : x->t->axes[k].name;
    }
}

static at_status make(steps *x) {
    const at_tensor *t = x->t;
    const uint32_t lanes = x->lanes < 0 ? 0 : 1u << x->lanes;
    at_edit run = {.kind = AT_EDIT_RUNNING, .stage = t->name},
            order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    if (!t->is_recurrence) AT_TRY(sketch_step(x->s, &run, x->err));
    AT_TRY(split_lanes(x));
    AT_TRY(split_rows(x));
    AT_TRY(split_steps(x));
    add_axes(x, ~(x->along | x->across | lanes), &order, &n); /* each goes its own way */
    if (x->outer && !(x->across & lanes)) order.names[n++] = x->outer;
    const bool is_shared = n > 0;
    add_axes(x, x->along, &order, &n);
    add_axes(x, x->across & ~lanes, &order, &n);
    if (x->outer && x->across & lanes) order.names[n++] = x->outer;
    if (x->written[1]) order.names[n++] = x->written[1];
    if (x->rows[1]) order.names[n++] = x->rows[1];
    if (x->vector) order.names[n++] = x->vector;
    AT_TRY(sketch_step(x->s, &order, x->err));
    return is_shared ? sketch_mark(x->s, t->name, order.names[0], AT_ANN_PARA, x->err) : AT_OK;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    steps x = steps_of(s, stage, err);
    x.s = sketch_branch(s, at_format(s->arena, "running_%s", x.t->axes[x.last_step].name));
    if (make(&x) == AT_OK) *at_push(s->arena, out) = x.s;
}

const sketch_rule at_rule_running = {applies, apply};
