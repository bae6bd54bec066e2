/* sketch/nest_both.c: two sums over one tensor, of which one adds up its rows and the other its
 * columns, in one loop, so that what both need is loaded once:
 *
 *     i, j => @q = i // j              i0, j0 =>
 *     j, i => @s = j // i      ->          i1:unroll, j1:vec => @q = {i0, i1}/i // {j0, j1}/j
 *                                          i1:unroll, j1:vec => @s = {j0, j1}/j // {i0, i1}/i
 *
 * Sums of a block of rows stay in registers from its first column to its last one; those of the
 * columns wait in memory from block to block. */
#include "sketch/nests.h"

#include <string.h>

/* The axes of two sums that go together. */
typedef struct both {
    const sketch_state *s;
    int stage, other;               /* other: the earlier one */
    int rows, columns;              /* axes of the stage */
    int axis_of[AT_FACTS_MAX_AXES]; /* [axis of other] the stage's */
} both;

/* Of an expression of the other sum: its axes become those of the stage. */
static at_expr *take_axis(const at_expr *e, at_expr *copy, void *of) {
    const both *b = of;
    const at_tensor *x = &b->s->facts->compute->tensors[b->other];
    if (e->op == AT_X_NAME && e->ref < x->num_axes + x->num_reduce) copy->ref = b->axis_of[e->ref];
    return copy;
}

/* Do both read the same element somewhere, another one in each row and column? */
static bool shares_read(both *b) {
    const at_compute *c = b->s->facts->compute;
    int num, num_other;
    const at_expr *const *reads = at_compute_reads(c, b->stage, &num);
    const at_expr *const *others = at_compute_reads(c, b->other, &num_other);
    for (int k = 0; k < num_other; k++) {
        const at_expr *other = at_expr_map(b->s->arena, others[k], take_axis, b);
        if (!at_expr_uses(other, b->rows) || !at_expr_uses(other, b->columns)) continue;
        for (int i = 0; i < num; i++)
            if (at_expr_same(reads[i], other)) return true;
    }
    return false;
}

/* Whether lanes along an axis read what lies side by side, or the same. */
static bool has_lanes(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[axis] != 0 && f->access[i].stride[axis] != 1) return false;
    return f->extent[axis] >= LEAST_COPIED_LANES;
}

/* Axis k of the stage is what the other one sums over, and its axis m what the stage sums over; all
 * else goes in one order. */
static bool find_axes(both *b, int k, int m) {
    const at_facts *f = b->s->facts;
    const int sum = f->compute->tensors[b->stage].num_axes;
    for (int i = 0, at = 0; i < sum; i++) {
        if (i == m) continue;
        at += at == k;
        b->axis_of[i] = at++;
    }
    b->axis_of[m] = sum;
    b->axis_of[sum] = k;
    for (int i = 0; i <= sum; i++)
        if (f->of[b->other].extent[i] != f->of[b->stage].extent[b->axis_of[i]]) return false;
    for (int by_sum = 0; by_sum < 2; by_sum++) { /* lanes along which of the two */
        b->rows = by_sum ? k : sum;
        b->columns = by_sum ? sum : k;
        if (f->of[b->stage].extent[b->rows] >= BOTH_LEAST_ROWS &&
            has_lanes(b->s, b->stage, b->columns) && has_lanes(b->s, b->other, by_sum ? m : sum) &&
            shares_read(b))
            return true;
    }
    return false;
}

static bool is_one_sum(const sketch_state *s, int stage) {
    return s->facts->compute->tensors[stage].num_reduce == 1 && nest_may_join(s, stage);
}

static bool find_both(both *b) {
    const at_compute *c = b->s->facts->compute;
    const int axes = c->tensors[b->stage].num_axes;
    if (!is_one_sum(b->s, b->stage)) return false;
    for (b->other = b->stage - 1; b->other >= 0; b->other--) {
        if (!is_one_sum(b->s, b->other) || c->tensors[b->other].num_axes != axes ||
            !nest_can_wait(b->s, b->other, b->stage, false))
            continue;
        for (int k = 0; k < axes; k++)
            for (int m = 0; m < axes; m++)
                if (find_axes(b, k, m)) return true;
    }
    return false;
}

/* Are the columns so long that each of several threads may have sums of its own for them? */
static bool may_share_out(const both *b) {
    const at_tensor *x = &b->s->facts->compute->tensors[b->stage];
    return x->num_axes == 1 && b->rows == x->num_axes &&
           b->s->facts->of[b->stage].extent[b->rows] >= BOTH_LEAST_SHARED;
}

/* A condition that leaves out some of the terms along an axis. */
static bool is_cut(const at_expr *e, const void *axis) {
    return e->op == AT_X_SELECT && at_expr_uses(e->arg[0], *(const int *)axis);
}

/* Comparisons of rows with columns in an expression. */
typedef struct diagonals {
    int rows, columns, num;
} diagonals;

static at_walk count_diagonal(const at_expr *e, void *diagonals_seen) {
    diagonals *d = diagonals_seen;
    d->num += at_op_orders(e->op) && at_expr_uses(e, d->rows) && at_expr_uses(e, d->columns);
    return AT_WALK_ON;
}

/* Of a small matrix tiles at a diagonal are most of it. */
static bool is_mostly_cut(const both *b) {
    const int64_t *extent = b->s->facts->of[b->stage].extent;
    diagonals d = {.rows = b->rows, .columns = b->columns};
    (void)at_expr_walk(b->s->facts->compute->tensors[b->stage].body, count_diagonal, &d);
    return extent[b->rows] < BOTH_LEAST_CUT * d.num || extent[b->columns] < BOTH_LEAST_CUT * d.num;
}

void nest_find_both(const sketch_state *s, int stage, nest_choices *out) {
    both b = {.s = s, .stage = stage};
    if (!find_both(&b) || is_mostly_cut(&b)) return;
    const int64_t *extent = s->facts->of[stage].extent;
    const bool may = may_share_out(&b),
               is_first = extent[b.rows] * extent[b.columns] > FAR_ELEMENTS &&
                          !at_expr_find(s->facts->compute->tensors[stage].body, is_cut, &b.columns);
    for (int i = 0; i < 1 + may; i++) { /* of a far, whole tensor threads' parts first */
        nest_choice *c = nest_add_axis(out, s, stage, b.columns);
        c->row = b.rows;
        c->shared_out = may && is_first == (i == 0);
        c->blocked = c->shared_out ? b.rows : -1;
        c->with[c->num_with++] = b.other;
        memcpy(c->axis_of, b.axis_of, sizeof b.axis_of);
    }
}

/* ---- loops ----------------------------------------------------------------------------------- */

typedef struct both_loops {
    const char *part, *rows[2],
        *columns[2];                       /* part: of the rows, a thread's; NULL: there is none */
    const char *others[AT_FACTS_MAX_AXES]; /* over the other axes */
    int num_others;
} both_loops;

static at_status make_loops(sketch_state *s, int stage, const nest_choice *c, both_loops *of) {
    static const at_part_limit height = {.wide = 8, .narrow = 4}, one = {.vectors = 1};
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const int blocks = (int)(s->facts->of[stage].extent[c->row] / height.wide / BOTH_PARTS);
    const at_part_limit of_part = {.wide = blocks, .narrow = blocks};
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    const char *parts[2];
    int n = 0;
    AT_TRY(sketch_split_by(s, x->name, x->axes[c->row].name, "1 2 4 6 8 12 16", height, of->rows));
    AT_TRY(sketch_split_by(s, x->name, x->axes[c->vec].name, "4 8 16 32 64", one, of->columns));
    for (int k = 0; k < x->num_axes; k++)
        if (k != c->row && k != c->vec) of->others[of->num_others++] = x->axes[k].name;
    for (; n < of->num_others; n++) order.names[n] = of->others[n];
    if (c->shared_out) {
        AT_TRY(sketch_split_by(s, x->name, of->rows[0], "4 8 16 32 64 128 256", of_part, parts));
        order.names[n++] = of->part = parts[0];
        of->rows[0] = parts[1];
    }
    for (int i = 0; i < 2; i++) {
        order.names[n++] = of->rows[i];
        order.names[n++] = of->columns[i];
    }
    AT_TRY(sketch_step(s, &order));
    AT_TRY(sketch_mark(s, x->name, of->rows[1], AT_ANN_UNROLL));
    return sketch_mark(s, x->name, of->columns[1], AT_ANN_VEC);
}

/* Each thread adds up columns of its part of the rows, then all threads those of all parts. */
static at_status share_out(sketch_state *s, const at_tensor *x, const both_loops *of,
                           const char *leaf) {
    const at_edit order = {.kind = AT_EDIT_ORDER,
                           .stage = x->name,
                           .names = {of->columns[0], of->part, of->columns[1]}};
    AT_TRY(sketch_mark(s, leaf, of->part, AT_ANN_PARA));
    AT_TRY(sketch_step(s, &order));
    AT_TRY(sketch_mark(s, x->name, of->columns[1], AT_ANN_VEC));
    return sketch_mark(s, x->name, of->columns[0], AT_ANN_PARA);
}

at_status nest_make_both(sketch_state *s, int stage, const nest_choice *c) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const sketch_edit *first = s->last;
    const char *leaf = x->name, *other = s->facts->compute->tensors[c->with[0]].name;
    both_loops of = {.part = NULL};
    AT_TRY(make_loops(s, stage, c, &of));
    AT_TRY(sketch_loops_of(s, x->name, c->with[0], c->axis_of, first));
    if (of.part) {
        leaf = sketch_fresh_of(s, x->name, "parts");
        AT_TRY(sketch_make(s, AT_EDIT_FACTOR, x->name, x->axes[0].name, of.part, leaf));
    }
    AT_TRY(sketch_put(s, AT_EDIT_JOIN, other, true, leaf, of.columns[0]));
    return of.part ? share_out(s, x, &of, leaf)
                   : sketch_share_out(s, x->name, of.others, of.num_others);
}
