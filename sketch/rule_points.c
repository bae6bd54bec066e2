/* sketch/rule_points.c: of many points whose few parts lie side by side, as complex numbers,
 * colours or small matrices, lanes are the same part of neighbouring points, which lie so many
 * elements apart. All parts are written out, and so are the terms of a short sum, such as of a row
 * of few columns; conditions on them fold, and what a point's parts have in common is worked out
 * once:
 *
 *     p, i, j, k => @out = p, i, j // k
 *         ->      p0:para, p1 =>
 *                     k:unroll, i:unroll, j:unroll, p2:vec => @out_sum = {p0, p1, p2}/p, i, j // k
 *                     i:unroll, j:unroll, p2:vec => @out = {p0, p1, p2}/p, i, j */
#include "sketch/tile.h"

enum {
    LEAST_POINTS = 8,
    MOST_PARTS = 16,   /* elements from lane to lane that loads and stores have */
    MOST_TERMS = 16,   /* of a sum */
    MOST_WRITTEN = 64, /* of all parts together */
    MOST_AXES = 3      /* of parts */
};

/* How many elements apart does the stage read points along axis p, at most? -1: too many. */
static int64_t step_of(const at_stage_facts *f, int p) {
    int64_t step = 0;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (!x->known || x->by_entry || x->stride[p] < 0 || x->stride[p] > MOST_PARTS) return -1;
        if (x->stride[p] > step) step = x->stride[p];
    }
    return step;
}

/* The axis of the points, before those of their parts; -1: it has none. */
static int points_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int p = t->num_axes - 1;
    int64_t parts = 1;
    const double terms = tile_terms_of(s, stage);
    while (p >= 0 && parts * f->extent[p] <= MOST_PARTS) parts *= f->extent[p--];
    if (p < 0 || t->num_axes - 1 - p > MOST_AXES || f->extent[p] < LEAST_POINTS) return -1;
    if (terms <= 0 || terms > MOST_TERMS || terms * (double)parts > MOST_WRITTEN) return -1;
    if (parts == 1 && tile_vector_of(s, stage) >= 0) return -1; /* a tile is better */
    return step_of(f, p) >= (parts > 1 ? 0 : 2) ? p : -1;
}

static rule_verdict applies(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    bool is_one = !t->is_packing && !sketch_stands_beside(s, stage) && points_of(s, stage) >= 0;
    return is_one ? RULE_APPLY : RULE_SKIP;
}

static at_status make(sketch_state *s, int stage, int p, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *parts[3];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(sketch_split_points(s, t->name, t->axes[p].name, p == 0, parts, err));
    order.names[n++] = parts[0];
    if (p == 0) order.names[n++] = parts[1];
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        order.names[n++] = t->axes[k].name;
    for (int k = p + 1; k < t->num_axes; k++) order.names[n++] = t->axes[k].name;
    order.names[n] = parts[2];
    AT_TRY(sketch_step(s, &order, err));
    for (int k = p + 1; k < t->num_axes + t->num_reduce; k++)
        AT_TRY(sketch_mark(s, t->name, t->axes[k].name, AT_ANN_UNROLL, err));
    AT_TRY(sketch_mark(s, t->name, parts[2], AT_ANN_VEC, err));
    AT_TRY(sketch_mark(s, t->name, p ? t->axes[0].name : parts[0], AT_ANN_PARA, err));
    if (!t->num_reduce) return AT_OK;
    /* Sums are in registers: what is stored far apart is no sum. */
    const char *name = sketch_fresh(s, at_format(s->arena, "%s_sum", t->name));
    at_edit copy = {.kind = AT_EDIT_COPY, .stage = t->name, .copy = AT_COPY_WRITE, .names = {name}};
    return sketch_step(s, &copy, err);
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    int p = points_of(s, stage);
    const char *axis = s->facts->compute->tensors[stage].axes[p].name;
    sketch_state *b = sketch_branch(s, at_format(s->arena, "points_%s", axis));
    if (make(b, stage, p, err) == AT_OK) *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_points = {applies, apply};
