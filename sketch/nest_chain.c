/* sketch/nest_chain.c: short sums, each of which reads windows along a row of the one before; of
 * what is between them a row at a time is kept, near the core: one more sketch.
 *
 *     h, w, r => @a = h, w // r          h:para =>
 *     h, w, q => @out = h, w // q            a_w0, r:unroll, a_w1:vec =>
 *                                                @a = h, {a_w0, a_w1}/w // r
 *                                ->          w0, q:unroll, w1:vec => @out = h, {w0, w1}/w // q  */
#include "sketch/nests.h"

typedef struct chain {
    sketch_state *s;
    int last, num; /* the last stage; how many first axes all have in common */
} chain;

typedef struct common {
    int tensor, num; /* first axes along which each point reads the tensor at its own place */
} common;

static at_walk find_common(const at_expr *e, void *ctx) {
    common *x = ctx;
    for (int k = 0; k < x->num && k < e->nargs && at_expr_is_read(e, &x->tensor); k++)
        if (e->arg[k]->op != AT_X_NAME || e->arg[k]->ref != k) x->num = k;
    return AT_WALK_ON;
}

/* Each stage has one reader, which has rows of it alone; false: they are no such chain. */
static bool find_chain(chain *c) {
    const at_facts *f = c->s->facts;
    bool has_windows = false;
    int stages = 0;
    for (int t = 0; t < f->compute->num_tensors; t++) {
        const at_tensor *x = &f->compute->tensors[t];
        if (!at_facts_has_leaf(c->s->facts, t)) continue;
        if (x->is_packing || x->is_places || !tile_sums_are_short(c->s, t)) return false;
        for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
            if (x->axes[k].begin) return false;
        if (!stages++ || x->num_axes - 1 < c->num) c->num = x->num_axes - 1;
        c->last = t;
    }
    for (int t = 0; t < c->last && stages > 1; t++) {
        if (!at_facts_has_leaf(c->s->facts, t)) continue;
        int reader = f->of[t].reader;
        if (f->of[t].num_readers != 1 || f->compute->tensors[t].is_output) return false;
        const at_expr *body = f->compute->tensors[reader].body;
        if (!at_expr_count_reads(body, t)) return false;
        for (int i = 0; i < f->of[reader].num_accesses; i++) {
            const at_access *x = &f->of[reader].access[i];
            if (x->tensor == t && x->from != t && x->from >= 0) return false;
        }
        common found = {t, c->num};
        at_expr_walk(body, find_common, &found);
        c->num = found.num;
        for (int k = 0; k < c->num; k++)
            if (f->extents[t][k] != f->extents[reader][k]) c->num = k;
        has_windows |= !f->of[t].is_read_in_place;
    }
    return stages > 1 && stages <= CHAIN_MOST_STAGES && has_windows && c->num > 0;
}

/* What stands below the rows: other axes, reductions that are written out, vectors. */
static at_status make_row(chain *c, int stage) {
    const at_tensor *t = &c->s->facts->compute->tensors[stage];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    const char *parts[2];
    int last = t->num_axes - 1, n = 0;
    AT_TRY(sketch_split_lanes(c->s, t->name, t->axes[last].name, parts));
    for (int k = c->num; k < last; k++) order.names[n++] = t->axes[k].name;
    order.names[n++] = parts[0];
    for (int k = last + 1; k < t->num_axes + t->num_reduce; k++) {
        order.names[n++] = t->axes[k].name;
        AT_TRY(sketch_mark(c->s, t->name, t->axes[k].name, AT_ANN_UNROLL));
    }
    order.names[n++] = parts[1];
    AT_TRY(sketch_step(c->s, &order));
    return sketch_mark(c->s, t->name, parts[1], AT_ANN_VEC);
}

/* From the last stage to the first, each right before what reads it. */
static at_status make_chain(chain *c) {
    const at_facts *f = c->s->facts;
    const at_tensor *last = &f->compute->tensors[c->last];
    const char *row = last->axes[c->num - 1].name;
    for (int t = c->last; t >= 0; t--) {
        const char *name = f->compute->tensors[t].name;
        if (!f->of[t].is_stage) continue;
        if (f->of[t].is_dissolved) {
            AT_TRY(sketch_step_of(c->s, AT_EDIT_DISSOLVE, name));
            continue;
        }
        const int reader = f->of[t].reader;
        if (t < c->last)
            AT_TRY(
                sketch_put(c->s, AT_EDIT_NEST, name, true, f->compute->tensors[reader].name, row));
        AT_TRY(make_row(c, t));
    }
    const char *const shared =
        sketch_first_before(c->s, c->last, last->num_axes - 1, last->axes[0].name);
    return sketch_mark(c->s, last->name, shared, AT_ANN_PARA);
}

void sketch_chain(const sketch_state *s, sketch_states *out) {
    chain c = {.s = sketch_branch(s, "row_by_row"), .last = -1};
    if (find_chain(&c) && make_chain(&c) == AT_OK) *at_push(s->arena, out) = c.s;
}
