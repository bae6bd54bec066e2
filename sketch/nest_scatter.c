/* sketch/nest_scatter.c: sums whose terms say where they belong (at_scatter_of). Where rows of what
 * they add to lie side by side, lanes go along these, and threads have columns of their own:
 *
 *     v, c, n => @g = v, c // n     ->     c0:para, n, c1:vec => @g[scatter] = 0, {c0, c1}/c // n
 *
 * Else lanes go along the terms, each with a copy of its own, so that two that lie side by side do
 * not wait for each other; in one more sketch so do threads:
 *
 *     b, n => @h = b // n           ->     n0, n1:vec => @h_copies[scatter] = n1, 0 // n0
 *                                          b0, n1, b1:vec => @h = {b0, b1}/b // n1 */
#include "sketch/nests.h"

/* The reduction that lanes, or threads, go along; -1: its bounds are data. */
static int terms_of(const at_tensor *t) {
    const int last = t->num_axes + t->num_reduce - 1;
    return t->axes[last].begin ? -1 : last;
}

void nest_find_scatter(const sketch_state *s, int stage, nest_choices *out) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const uint32_t placed = at_scatter_of(t).axes;
    const int last = t->num_axes - 1, terms = terms_of(t);
    if (!placed) return;
    if (!(placed >> last & 1) && f->extent[last] >= LEAST_LANES) {
        nest_add_axis(out, s, stage, last);
    } else if (terms >= 0) {
        nest_add_axis(out, s, stage, terms);
        if (f->extent[terms] < SCATTER_LEAST_SHARED) return;
        nest_choice *c = nest_add_axis(out, s, stage, terms);
        c->blocked = terms;
        c->shared_out = true;
    }
}

/* The loops of a scattering leaf in order: `first`, those of axes along which no term has a place,
 * sums, then the lanes. Axis or sum `cut` has lanes, and `outer` where its loop was; the others
 * have one loop each. */
typedef struct loops {
    const at_tensor *t;
    const char *first; /* that threads share; NULL: there is none */
    int cut;
    const char *outer, *lanes;
} loops;

static at_status put_in_order(sketch_state *s, const char *leaf, const loops *x) {
    const at_tensor *t = x->t;
    const uint32_t placed = at_scatter_of(t).axes;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = leaf};
    bool is_shared = x->first;
    int n = 0;
    if (x->first) order.names[n++] = x->first;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++) {
        if (k < t->num_axes && (placed >> k & 1)) continue;
        is_shared |= k < t->num_axes;
        order.names[n++] = k == x->cut ? x->outer : t->axes[k].name;
    }
    order.names[n] = x->lanes;
    AT_TRY(sketch_step(s, &order));
    return is_shared ? sketch_mark(s, leaf, order.names[0], AT_ANN_PARA) : AT_OK;
}

/* Lanes along the last axis. */
static at_status make_rows(sketch_state *s, int stage, int last) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *parts[2];
    AT_TRY(sketch_step_of(s, AT_EDIT_SCATTER, t->name));
    AT_TRY(sketch_split_lanes(s, t->name, t->axes[last].name, parts));
    AT_TRY(sketch_mark(s, t->name, parts[1], AT_ANN_VEC));
    return put_in_order(s, t->name, &(loops){t, NULL, last, parts[0], parts[1]});
}

/* The copies of a sum are added up, which threads share out. */
static at_status add_up(sketch_state *s, const at_tensor *t, const char *leaf, const char *first,
                        const char *copies) {
    const char *outer;
    AT_TRY(sketch_add_up(s, t, leaf, first, copies, &outer));
    if (!first) first = t->num_axes > 1 ? t->axes[0].name : outer;
    return sketch_mark(s, leaf, first, AT_ANN_PARA);
}

/* The sum is added up of stage `name`, which has a copy for each step of the loop, its first axis.
 */
static at_status copy_for(sketch_state *s, const char *stage, const char *loop, const char *like,
                          const char **name) {
    const at_tensor *t = &s->compute->tensors[at_compute_find(s->compute, stage)];
    *name = sketch_fresh_of(s, stage, like);
    return sketch_make(s, AT_EDIT_FACTOR, stage, t->axes[0].name, loop, *name);
}

/* The loops of the terms go around all others, and so do the loops that have a copy each. */
static at_status put_terms_outside(sketch_state *s, const loops *x) {
    const at_tensor *t = x->t;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    if (x->first) order.names[n++] = x->first;
    order.names[n++] = x->outer;
    order.names[n++] = x->lanes;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++)
        if (k != x->cut) order.names[n++] = t->axes[k].name;
    return sketch_step(s, &order);
}

static at_status make_copies(sketch_state *s, int stage, const nest_choice *c) {
    static const at_part_limit lanes = {.wide = 16, .narrow = 8},
                               shared = {.wide = 1024, .narrow = 1024};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *parts[2], *threads[2], *leaf = t->name, *name;
    AT_TRY(sketch_split_by(s, t->name, t->axes[c->vec].name, "1 2 4 8 16", lanes, parts));
    loops x = {t, NULL, c->vec, parts[0], parts[1]};
    if (c->shared_out) {
        AT_TRY(sketch_split_by(s, t->name, parts[0], "64 256 1024 4096", shared, threads));
        x.first = threads[0];
        x.outer = threads[1];
    }
    AT_TRY(put_terms_outside(s, &x));
    AT_TRY(copy_for(s, leaf, x.lanes, "copies", &name));
    leaf = name;
    if (x.first) AT_TRY(copy_for(s, leaf, x.first, "parts", &name));
    AT_TRY(sketch_step_of(s, AT_EDIT_SCATTER, name));
    AT_TRY(sketch_mark(s, name, x.lanes, AT_ANN_VEC));
    AT_TRY(put_in_order(s, name, &x));
    if (x.first) AT_TRY(add_up(s, t, leaf, x.lanes, x.first));
    return add_up(s, t, t->name, NULL, x.lanes);
}

at_status nest_make_scatter(sketch_state *s, int stage, const nest_choice *c) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    return c->vec < t->num_axes ? make_rows(s, stage, c->vec) : make_copies(s, stage, c);
}
