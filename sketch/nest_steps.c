/* sketch/nest_steps.c: what goes on from step to step.
 *
 * running: a running sum takes a term each, instead of a sum from the beginning for each step; a
 * stage that reads itself goes in its order:
 *
 *     p, t, k:dyn(t) => @s = p, t // k   ->   p, t0, t1:unroll => @s[running] = p, {t0, t1}/t // 0
 *     t, c => @h = t, c                  ->   c0:para, t0, t1:unroll, c1:vec => @h = ...
 *
 * (by rows, in one more sketch: t0, c0, t1:unroll, c1:vec => @h)
 *
 * with lanes along the last axis where that is another one, else several rows side by side. Axes
 * that a stage reads itself across (h[t - 1, c + 1]) stand inside of the steps.
 *
 * step: what reads only the step at hand of such a stage stands in the loop of the steps, in one
 * more sketch, so that one step is all that is kept:
 *
 *     h, t, d, e => @S = h, t, d, e         {h, e0}:para, t =>
 *     h, t, e, d => @o = h, t, e // d   ->      d0, d1:unroll, e1:vec =>
 *                                                   @S = h, t, {d0, d1}/d, {e0, e1}/e
 *                                               d0, d1:unroll, e1:vec =>
 *                                                   @o = h, t, {e0, e1}/e // {d0, d1}/d
 *
 * Lanes go along the last axis of what is kept. Where the reader sums over that, several of its
 * rows stand side by side. */
#include "sketch/nests.h"

/* ---- running --------------------------------------------------------------------------------- */

/* The loops of a stage that goes from step to step. */
typedef struct steps {
    sketch_state *s;
    const at_tensor *t;
    int stage;
    uint32_t along, across;    /* axes of steps; of what one step reads of all of another */
    int last_step, lanes, row; /* axes; lanes, rows beside each other: -1, there are none */
    bool by_rows;              /* all lanes of a few steps before the next steps */
    const char *outer, *vector, *rows[2], *written[2]; /* loops; NULL: there is none */
    at_error *err;
} steps;

static bool is_in(uint32_t set, int axis) { return set >> axis & 1; }

/* All but the loops. */
static steps steps_of(sketch_state *s, int stage, at_error *err) {
    const at_compute *c = s->facts->compute;
    const at_tensor *t = &c->tensors[stage];
    const int last = t->num_axes - 1;
    steps x = {.s = s, .t = t, .stage = stage, .lanes = -1, .row = -1, .err = err};
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
    AT_TRY(sketch_vectors(x->s, x->stage, &x->outer, x->err));
    x->vector = d[at_tree_digits(x->s->tree, x->stage, x->lanes, d) - 1].piece;
    return AT_OK;
}

/* Where there are no lanes: rows, each of which goes its own way. */
static at_status split_rows(steps *x) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "1 2 4 8"};
    static const at_part_limit limits[] = {{0}, {.wide = 8, .narrow = 8}};
    if (x->row < 0 || x->s->facts->of[x->stage].extent[x->row] < RUNNING_LEAST_ROWS) return AT_OK;
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

static at_status make_running(steps *x) {
    const at_tensor *t = x->t;
    const uint32_t lanes = x->lanes < 0 ? 0 : 1u << x->lanes;
    at_edit run = {.kind = AT_EDIT_RUNNING, .stage = t->name},
            order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    if (!t->is_recurrence) AT_TRY(sketch_step(x->s, &run, x->err));
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
    if (x->written[1]) order.names[n++] = x->written[1];
    if (x->rows[1]) order.names[n++] = x->rows[1];
    if (x->vector) order.names[n++] = x->vector;
    AT_TRY(sketch_step(x->s, &order, x->err));
    return is_shared ? sketch_mark(x->s, t->name, order.names[0], AT_ANN_PARA, x->err) : AT_OK;
}

/* Long rows of many steps lie behind each other, and may be gone through so. */
static bool may_go_by_rows(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const uint32_t along = at_stage_steps(s->facts->compute, stage),
                   beyond = at_recurrence_of(s->facts->compute, stage).beyond;
    const int last = t->num_axes - 1;
    return t->is_recurrence && last > 0 && !is_in(along | beyond, last) && is_in(along, last - 1) &&
           s->facts->of[stage].extent[last] > 2 * TILE_COLUMNS &&
           sketch_elements(s, stage) >= ROWS_OF_STEPS;
}

void nest_find_running(const sketch_state *s, int stage, nest_choices *out) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const uint32_t along = at_stage_steps(s->facts->compute, stage);
    int last = t->num_axes - 1;
    while (last >= 0 && !is_in(along, last)) last--;
    if (last < 0) return;
    nest_add(out, t->axes[last].name, -1);
    if (may_go_by_rows(s, stage)) nest_add(out, t->axes[last].name, -1)->rows_first = true;
}

at_status nest_make_running(sketch_state *s, int stage, const nest_choice *c, at_error *err) {
    steps x = steps_of(s, stage, err);
    x.by_rows = c->rows_first;
    return make_running(&x);
}

/* ---- what reads the step at hand ------------------------------------------------------------- */

enum { NONE = -1 };

/* The two stages; axes of what is kept. */
typedef struct pair {
    at_arena *arena;
    const at_facts *f;
    sketch_state *s; /* that gets their loops */
    int kept, reader;
    int axis[AT_FACTS_MAX_AXES]; /* [axis of kept] which axis of the reader it is read at */
    int step, shared;            /* the axis of the steps; the last other one that both have */
    at_error *err;
} pair;

static const at_tensor *tensor_of(const pair *p, int t) { return &p->f->compute->tensors[t]; }

static bool is_shared(const pair *p, int k) {
    return p->axis[k] < tensor_of(p, p->reader)->num_axes;
}

/* The axis along which it goes, and of which a step needs the one before alone. */
static int step_axis(const at_compute *c, int stage) {
    const uint32_t along = at_stage_steps(c, stage);
    for (int k = 0; k < c->tensors[stage].num_axes; k++)
        if (along == 1u << k) return at_recurrence_of(c, stage).beyond ? NONE : k;
    return NONE;
}

/* Does what will be dissolved read it? It still has a leaf in the tree. */
static bool is_read_on_the_way(const pair *p) {
    const at_facts *f = p->f;
    bool *reads = AT_NEW_ARRAY(p->arena, bool, f->compute->num_tensors), any = false;
    at_compute_reach(f->compute, f->dissolved, p->kept, reads);
    for (int t = p->kept + 1; t < p->reader && !any; t++) any = f->dissolved[t] && reads[t];
    return any;
}

/* Are all reads of it in the reader at these axes, through what is dissolved, too, and each the
 * whole of an axis of its own? Where something dissolved is on the way the axes must keep their
 * order, because loops are then matched by place. */
static bool find_axes(pair *p) {
    const at_facts *f = p->f;
    const bool in_order = is_read_on_the_way(p);
    uint32_t seen = 0;
    for (int k = 0; k < tensor_of(p, p->kept)->num_axes; k++) {
        const int axis =
            at_compute_read_axis(p->arena, f->compute, f->dissolved, p->reader, p->kept, k);
        if (axis < 0 || seen >> axis & 1 || (in_order && axis != k)) return false;
        if (f->extents[p->kept][k] != f->extents[p->reader][axis]) return false;
        seen |= 1u << axis;
        p->axis[k] = axis;
    }
    return true;
}

/* What the reader may stand beside; false: nothing. */
static bool find_kept(pair *p) {
    const at_facts *f = p->f;
    const at_tensor *r = tensor_of(p, p->reader);
    if (at_stage_steps(f->compute, p->reader) || r->is_packing) return false;
    for (int t = 0; t < p->reader; t++) {
        p->kept = t;
        if (!f->of[t].is_stage || f->of[t].num_readers != 1 || f->of[t].reader != p->reader ||
            tensor_of(p, t)->is_output || f->of[t].is_written)
            continue;
        p->step = step_axis(f->compute, t);
        if (p->step < 0 || p->step == tensor_of(p, t)->num_axes - 1 || !find_axes(p)) continue;
        p->shared = NONE;
        for (int k = 0; k < tensor_of(p, t)->num_axes; k++)
            if (k != p->step && is_shared(p, k)) p->shared = k;
        if (is_shared(p, p->step)) return true;
    }
    return false;
}

/* Loops of one of the two stages below that of the steps: plain ones, one that is written out, or
 * NULL, and lanes. */
typedef struct below {
    const char *plain[AT_FACTS_MAX_AXES], *written, *lanes;
    int num;
} below;

static at_status put_below(const pair *p, int stage, const below *b) {
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = tensor_of(p, stage)->name};
    int n = 0;
    for (int i = 0; i < b->num; i++) e.names[n++] = b->plain[i];
    if (b->written) e.names[n++] = b->written;
    e.names[n++] = b->lanes;
    if (n > 1) AT_TRY(sketch_step(p->s, &e, p->err));
    if (b->written) AT_TRY(sketch_mark(p->s, e.stage, b->written, AT_ANN_UNROLL, p->err));
    return sketch_mark(p->s, e.stage, b->lanes, AT_ANN_VEC, p->err);
}

/* An axis that is none of the lanes: whole, or, `is_last`, a few of it written out. */
static at_status add_axis(const pair *p, int stage, int axis, bool is_last, below *b) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "1 2 4 8 16"};
    static const at_part_limit limits[] = {{0}, {.wide = 4, .narrow = 4}};
    const at_tensor *t = tensor_of(p, stage);
    const char *parts[2] = {t->axes[axis].name};
    if (is_last) {
        AT_TRY(sketch_split(p->s, t->name, parts[0], 2, &spec, limits, parts, p->err));
        b->written = parts[1];
    }
    b->plain[b->num++] = parts[0];
    return AT_OK;
}

/* Which axis of what is kept is this one of the reader? NONE: none. */
static int axis_kept(const pair *p, int k) {
    for (int j = 0; j < tensor_of(p, p->kept)->num_axes; j++)
        if (p->axis[j] == k) return j;
    return NONE;
}

/* Does the reader sum over the lanes? */
static bool sums_lanes(const pair *p) { return !is_shared(p, tensor_of(p, p->kept)->num_axes - 1); }

/* lanes: loops of the axis along which they go, outer and inner ones, of the reader; rows: of the
 * reader's rows side by side, where it sums over the lanes and there are some, or NULL. */
static at_status make_reader(const pair *p, const char *const *lanes, const char *rows) {
    const at_tensor *r = tensor_of(p, p->reader);
    const int all = r->num_axes + r->num_reduce;
    below b = {.lanes = lanes[1]};
    int last = NONE; /* of its reductions */
    for (int k = r->num_axes; k < all && !sums_lanes(p); k++) last = k;
    for (int k = 0; k < all; k++) {
        const bool is_sum = k >= r->num_axes, is_own = axis_kept(p, k) < 0;
        if (is_sum && axis_kept(p, k) == tensor_of(p, p->kept)->num_axes - 1)
            b.plain[b.num++] = lanes[0];
        else if (is_sum || is_own) AT_TRY(add_axis(p, p->reader, k, k == last, &b));
    }
    if (rows) b.written = rows;
    return put_below(p, p->reader, &b);
}

/* The same of what is kept; its lanes are the reader's, or, where that sums over them, its own. */
static at_status make_kept(const pair *p, const char *const *lanes, const char *rows) {
    const at_tensor *t = tensor_of(p, p->kept);
    const int lane_axis = t->num_axes - 1;
    below b = {.lanes = lanes[1]};
    const char *own[2];
    int last = NONE;
    for (int k = 0; k < lane_axis && !sums_lanes(p); k++)
        if (k != p->step && !is_shared(p, k)) last = k;
    for (int k = 0; k < lane_axis; k++)
        if (k != p->step && !is_shared(p, k)) AT_TRY(add_axis(p, p->kept, k, k == last, &b));
    if (!sums_lanes(p)) return put_below(p, p->kept, &b);
    AT_TRY(sketch_split_lanes(p->s, t->name, t->axes[lane_axis].name, own, p->err));
    if (rows) b.plain[b.num++] = rows;
    b.plain[b.num++] = own[0];
    b.lanes = own[1];
    return put_below(p, p->kept, &b);
}

static at_status make_step(pair *p) {
    static const at_split_spec side = {.policy = AT_LISTED, .listed = "1 2 4 8 16"};
    static const at_part_limit limits[] = {{0}, {.wide = 8, .narrow = 4}};
    const at_facts *f = p->f;
    const at_tensor *t = tensor_of(p, p->kept), *r = tensor_of(p, p->reader);
    const int last = t->num_axes - 1, blocked = p->shared;
    const char *lanes[2], *rows[2] = {NULL}, *step = r->axes[p->axis[p->step]].name;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = r->name},
            run = {.kind = AT_EDIT_RUNNING, .stage = t->name},
            nest = {.kind = AT_EDIT_NEST,
                    .stage = t->name,
                    .other = r->name,
                    .loop = step,
                    .before = true};
    int n = 0;
    if (!t->is_recurrence) AT_TRY(sketch_step(p->s, &run, p->err));
    AT_TRY(sketch_split_lanes(p->s, r->name, r->axes[p->axis[last]].name, lanes, p->err));
    if (sums_lanes(p) && blocked >= 0 && f->extents[p->kept][blocked] > 1)
        AT_TRY(sketch_split(p->s, r->name, r->axes[p->axis[blocked]].name, 2, &side, limits, rows,
                            p->err));
    for (int k = 0; k < t->num_axes; k++) {
        if (k == p->step || !is_shared(p, k)) continue;
        order.names[n++] = k == blocked && rows[0]       ? rows[0]
                           : k == last && !sums_lanes(p) ? lanes[0]
                                                         : r->axes[p->axis[k]].name;
    }
    const int num_outside = n;
    order.names[n++] = step;
    for (int k = 0; k < r->num_axes; k++)
        if (axis_kept(p, k) < 0) order.names[n++] = r->axes[k].name;
    if (!sums_lanes(p)) order.names[n] = lanes[1]; /* its axis may come before that of the steps */
    AT_TRY(sketch_step(p->s, &order, p->err));
    AT_TRY(make_reader(p, lanes, rows[1]));
    AT_TRY(sketch_step(p->s, &nest, p->err));
    AT_TRY(make_kept(p, lanes, rows[1]));
    if (!num_outside) return AT_OK;
    AT_TRY(sketch_mark(p->s, r->name, order.names[0], AT_ANN_PARA, p->err));
    at_edit fuse = {.kind = AT_EDIT_FUSE, .stage = r->name};
    for (int i = 0; i < num_outside; i++) fuse.names[i] = order.names[i];
    return num_outside > 1 ? sketch_step(p->s, &fuse, p->err) : AT_OK;
}

void nest_find_step(const sketch_state *s, int stage, nest_choices *out) {
    pair p = {.arena = s->arena, .f = s->facts, .reader = stage};
    if (!sketch_stands_beside(s, stage) && find_kept(&p))
        nest_add(out, tensor_of(&p, p.kept)->axes[p.step].name, -1);
}

at_status nest_make_step(sketch_state *s, int stage, const nest_choice *c, at_error *err) {
    pair p = {.arena = s->arena, .f = s->facts, .s = s, .reader = stage, .err = err};
    (void)c;
    return find_kept(&p) ? make_step(&p) : AT_E_INPUT;
}
