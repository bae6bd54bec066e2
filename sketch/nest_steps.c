/* sketch/nest_steps.c: what reads only the step at hand of a running sum, or of a stage that reads
 * itself, stands in the loop of the steps, in one more sketch, so that one step is all that is
 * kept:
 *
 *     h, t, d, e => @S = h, t, d, e         {h, e0}:para, t =>
 *     h, t, e, d => @o = h, t, e // d   ->      d0, d1:unroll, e1:vec =>
 *                                                   @S = h, t, {d0, d1}/d, {e0, e1}/e
 *                                               d0, d1:unroll, e1:vec =>
 *                                                   @o = h, t, {e0, e1}/e // {d0, d1}/d
 *
 * Lanes go along the last axis of what is kept. Where the reader sums over that, several of its
 * rows stand side by side.
 *
 * block: what turns the steps of several rows on their way out does so for a block of them, and
 * copies that turn what the steps read stand there, too:
 *
 *     n, m => @x_turned = n, m              m0:para, n0 =>
 *     n, m => @s[running] = n, m // 0           n1, m1 => @x_turned = {n0, n1}/n, {m0, m1}/m
 *     m, n => @out = m, n             ->        n1, m1:vec => @s[running] = {n0, n1}/n, {m0, m1}/m
 *                                               m1, n1 => @out = {m0, m1}/m, {n0, n1}/n
 *
 * block, unrolled, where there are few steps: the loops within a block are n1:unroll, m1:vec of
 * each stage, so that rows are turned as they are loaded and stored. */
#include "sketch/nests.h"

enum { NONE = -1, MOST_UNROLLED_STEPS = 32 };

/* The two stages; axes of what is kept. */
typedef struct pair {
    at_arena *arena;
    const at_facts *f;
    sketch_state *s; /* that gets their loops */
    int kept, reader;
    int axis[AT_FACTS_MAX_AXES]; /* [axis of kept] which axis of the reader it is read at */
    int step, shared;            /* the axis of the steps; the last other one that both have */
} pair;

static const at_tensor *tensor_of(const pair *p, int t) { return &p->f->compute->tensors[t]; }

static bool is_shared(const pair *p, int k) {
    return p->axis[k] < tensor_of(p, p->reader)->num_axes;
}

/* The axis along which the stage goes: a step needs the step before alone. */
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
        const int axis = at_facts_axis_of(p->arena, f, p->reader, p->kept, k);
        if (axis < 0 || seen >> axis & 1 || (in_order && axis != k)) return false;
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

/* Loops of one of the two stages below the loop of the steps: plain, written out, or
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
    if (n > 1) AT_TRY(sketch_step(p->s, &e));
    if (b->written) AT_TRY(sketch_mark(p->s, e.stage, b->written, AT_ANN_UNROLL));
    return sketch_mark(p->s, e.stage, b->lanes, AT_ANN_VEC);
}

/* An axis that is none of the lanes: whole, or, `is_last`, a few of it written out. */
static at_status add_axis(const pair *p, int stage, int axis, bool is_last, below *b) {
    static const at_part_limit four = {.wide = 4, .narrow = 4};
    const at_tensor *t = tensor_of(p, stage);
    const char *parts[2] = {t->axes[axis].name};
    if (is_last) {
        AT_TRY(sketch_split_by(p->s, t->name, parts[0], "1 2 4 8 16", four, parts));
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
    AT_TRY(sketch_split_lanes(p->s, t->name, t->axes[lane_axis].name, own));
    if (rows) b.plain[b.num++] = rows;
    b.plain[b.num++] = own[0];
    b.lanes = own[1];
    return put_below(p, p->kept, &b);
}

static at_status make_step(pair *p) {
    static const at_part_limit side = {.wide = 8, .narrow = 4};
    const at_facts *f = p->f;
    const at_tensor *t = tensor_of(p, p->kept), *r = tensor_of(p, p->reader);
    const int last = t->num_axes - 1, blocked = p->shared;
    const char *lanes[2], *rows[2] = {NULL}, *step = r->axes[p->axis[p->step]].name;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = r->name};
    int n = 0;
    if (!t->is_recurrence) AT_TRY(sketch_step_of(p->s, AT_EDIT_RUNNING, t->name));
    AT_TRY(sketch_split_lanes(p->s, r->name, r->axes[p->axis[last]].name, lanes));
    if (sums_lanes(p) && blocked >= 0 && f->extents[p->kept][blocked] > 1)
        AT_TRY(sketch_split_by(p->s, r->name, r->axes[p->axis[blocked]].name, "1 2 4 8 16", side,
                               rows));
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
    if (!sums_lanes(p)) order.names[n] = lanes[1]; /* its axis may come before the steps' axis */
    AT_TRY(sketch_step(p->s, &order));
    AT_TRY(make_reader(p, lanes, rows[1]));
    AT_TRY(sketch_put(p->s, AT_EDIT_NEST, t->name, true, r->name, step));
    AT_TRY(make_kept(p, lanes, rows[1]));
    return sketch_share_out(p->s, r->name, order.names, num_outside);
}

/* ---- blocks of steps that are turned --------------------------------------------------------- */

static bool is_copy(const at_facts *f, int stage) {
    const at_expr *e = f->compute->tensors[stage].body;
    return f->of[stage].is_stage && e->op == AT_X_INDEX && !f->of[e->ref].is_dissolved &&
           !at_tensor_has_entries(&f->compute->tensors[e->ref]);
}

/* Does the reader copy what is kept, with the steps as its last axis? */
static bool turns(const pair *p) {
    const at_tensor *r = tensor_of(p, p->reader), *t = tensor_of(p, p->kept);
    return is_copy(p->f, p->reader) && r->num_axes == t->num_axes &&
           p->axis[p->step] == r->num_axes - 1 && p->f->of[p->reader].extent[r->num_axes - 1] > 1 &&
           p->f->extents[p->kept][t->num_axes - 1] >= LEAST_LANES;
}

/* The axis of what is kept along which it reads a dimension of a copy; NONE: there is none. */
static int axis_of_copy(const pair *p, const at_expr *index) {
    const at_tensor *t = tensor_of(p, p->kept);
    if (index->op != AT_X_NAME) return NONE;
    return index->ref == t->num_axes ? p->step : index->ref < t->num_axes ? index->ref : NONE;
}

/* Is the read one of a copy that nothing else reads, at the place that a step makes? */
static bool is_own_copy(const pair *p, const at_expr *read) {
    const at_facts *f = p->f;
    const at_tensor *t = tensor_of(p, p->kept);
    uint32_t seen = 0;
    if (!is_copy(f, read->ref) || f->of[read->ref].is_dissolved ||
        f->of[read->ref].num_readers != 1 || tensor_of(p, read->ref)->is_output ||
        tensor_of(p, read->ref)->is_packing || f->of[read->ref].is_written ||
        read->nargs != t->num_axes)
        return false;
    for (int d = 0; d < read->nargs; d++) {
        const int axis = axis_of_copy(p, read->arg[d]);
        if (axis < 0 || f->extents[read->ref][d] != f->extents[p->kept][axis]) return false;
        seen |= 1u << axis;
    }
    return seen == (1u << t->num_axes) - 1;
}

/* Loops of a block, which are called as the reader's. */
typedef struct turned_block {
    const char *parts[AT_FACTS_MAX_AXES][2]; /* [axis of what is kept] around it, and within */
    const char *outer[AT_FACTS_MAX_AXES];    /* the loops around it, in their order */
    int num_outer;
    bool is_unrolled;
} turned_block;

static bool has_few_steps(const pair *p) {
    return p->f->extents[p->kept][p->step] <= MOST_UNROLLED_STEPS;
}

static int lanes_of(const pair *p) { return tensor_of(p, p->kept)->num_axes - 1; }

/* The loops of a stage: around a block, then the loops of steps and lanes. */
static at_status order_block(const pair *p, const turned_block *b, int stage, bool steps_last) {
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = tensor_of(p, stage)->name};
    int n = 0;
    for (; n < b->num_outer; n++) e.names[n] = b->outer[n];
    const char *steps = b->parts[p->step][1], *lanes = b->parts[lanes_of(p)][1];
    e.names[n + steps_last] = steps;
    e.names[n + !steps_last] = lanes;
    AT_TRY(sketch_step(p->s, &e));
    if (b->is_unrolled) AT_TRY(sketch_mark(p->s, e.stage, steps, AT_ANN_UNROLL));
    if (b->is_unrolled || stage == p->kept) AT_TRY(sketch_mark(p->s, e.stage, lanes, AT_ANN_VEC));
    return AT_OK;
}

static at_status make_turned(const pair *p, turned_block *b) {
    static const at_part_limit one = {.vectors = 1}, few = {.vectors = 4},
                               many = {.wide = 64, .narrow = 64};
    const at_tensor *r = tensor_of(p, p->reader);
    const int last = lanes_of(p);
    for (int k = 0; k < last; k++)
        if (k != p->step) {
            b->parts[k][0] = r->axes[p->axis[k]].name;
            b->outer[b->num_outer++] = b->parts[k][0];
        }
    AT_TRY(sketch_split_by(p->s, r->name, r->axes[p->axis[last]].name, "4 8 16 32 64",
                           has_few_steps(p) ? few : one, b->parts[last]));
    AT_TRY(sketch_split_by(p->s, r->name, r->axes[p->axis[p->step]].name,
                           b->is_unrolled ? "4 8 16" : "16 32 64 128", many, b->parts[p->step]));
    b->outer[b->num_outer++] = b->parts[last][0];
    b->outer[b->num_outer++] = b->parts[p->step][0];
    AT_TRY(order_block(p, b, p->reader, !b->is_unrolled));
    return sketch_mark(p->s, r->name, b->outer[0], AT_ANN_PARA);
}

/* A stage that the reader, or what is kept, reads, in the loops of a block; axes: [of the stage]
 * the axes of what is kept. */
static at_status put_in_block(const pair *p, const turned_block *b, int stage, int before,
                              const int *axes) {
    const at_tensor *x = tensor_of(p, stage);
    at_edit names = {.kind = AT_EDIT_RENAME, .stage = x->name};
    for (int d = 0; d < x->num_axes; d++)
        names.names[d] = b->parts[axes[d]][1] ? x->axes[d].name : b->parts[axes[d]][0];
    if (stage != p->kept) AT_TRY(sketch_step(p->s, &names));
    for (int d = 0; d < x->num_axes; d++) {
        const char *const *parts = b->parts[axes[d]];
        const at_edit split = {.kind = AT_EDIT_SPLIT,
                               .stage = x->name,
                               .loop = x->axes[d].name,
                               .names = {parts[0], parts[1]}};
        if (parts[1]) AT_TRY(sketch_step(p->s, &split));
    }
    AT_TRY(order_block(p, b, stage, false));
    return sketch_put(p->s, AT_EDIT_JOIN, x->name, true, tensor_of(p, before)->name,
                      b->parts[p->step][0]);
}

static at_status make_block(const pair *p, bool is_unrolled) {
    const at_tensor *t = tensor_of(p, p->kept);
    turned_block b = {.is_unrolled = is_unrolled};
    int axes[AT_FACTS_MAX_AXES], num;
    const at_expr *const *reads = at_compute_reads(p->f->compute, p->kept, &num);
    for (int k = 0; k < t->num_axes; k++) axes[k] = k;
    if (!t->is_recurrence) AT_TRY(sketch_step_of(p->s, AT_EDIT_RUNNING, t->name));
    AT_TRY(make_turned(p, &b));
    AT_TRY(put_in_block(p, &b, p->kept, p->reader, axes));
    for (int i = 0; i < num; i++) {
        if (!is_own_copy(p, reads[i]) || sketch_is_joined(p->s, reads[i]->ref)) continue;
        for (int d = 0; d < reads[i]->nargs; d++) axes[d] = axis_of_copy(p, reads[i]->arg[d]);
        AT_TRY(put_in_block(p, &b, reads[i]->ref, p->kept, axes));
    }
    return sketch_fuse(p->s, tensor_of(p, p->reader)->name, b.outer, b.num_outer - 1);
}

void nest_find_step(const sketch_state *s, int stage, nest_choices *out) {
    pair p = {.arena = s->arena, .f = s->facts, .reader = stage};
    if (sketch_stands_beside(s, stage) || !find_kept(&p)) return;
    for (int all = 0; turns(&p) && all < 1 + has_few_steps(&p); all++) {
        nest_choice *c = nest_add(out, tensor_of(&p, p.kept)->axes[p.step].name, -1);
        c->blocked = p.axis[p.step];
        c->all = all;
    }
    nest_add(out, tensor_of(&p, p.kept)->axes[p.step].name, -1);
}

at_status nest_make_step(sketch_state *s, int stage, const nest_choice *c) {
    pair p = {.arena = s->arena, .f = s->facts, .s = s, .reader = stage};
    if (!find_kept(&p)) return AT_E_INPUT;
    return c->blocked >= 0 ? make_block(&p, c->all) : make_step(&p);
}
