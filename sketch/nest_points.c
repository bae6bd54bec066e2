/* sketch/nest_points.c: points of few parts, such as pixels of colours, complex numbers or small
 * matrices.
 *
 * flat: a short last axis, which is less than a vector, makes lanes together with the one before,
 * as its elements lie:
 *
 *     p, c => @out = p, c      ->      p0:para, {p1, c}:vec => @out = {p0, p1}/p, c
 *
 * What is the same for all points goes round in such lanes, and what a point has alone is spread
 * over its own. A short sum has its terms one behind the other, outside of the lanes:
 *
 *     p, c, k => @s = p, c // k      ->      p0:para, k, {p1, c}:vec => @s = {p0, p1}/p, c // k
 *
 * A condition on whole points, such as padding, cuts the lanes where a point begins.
 *
 * A long sum over points has partial ones side by side, which are joined behind its loops:
 *
 *     c, p => @s = c // p      ->      p0, {p1, c}:vec => @s_parts = p1, c // p0
 *                                      c, p1 => @s = c // p1
 *
 * points: lanes are the same part of neighbouring points, which lie so many elements apart. All
 * parts are written out, and so are the terms of a short sum; conditions on them fold, and what a
 * point's parts have in common is worked out once:
 *
 *     p, i, j, k => @out = p, i, j // k
 *         ->      p0:para, p1 =>
 *                     k:unroll, i:unroll, j:unroll, p2:vec => @out_sum = {p0, p1, p2}/p, i, j // k
 *                     i:unroll, j:unroll, p2:vec => @out = {p0, p1, p2}/p, i, j
 *
 * with: what the stage reads of its own points alone is worked out in the same lanes, before it, so
 * that what both read is near:
 *
 *     p, k => @most = p // k           p0:para, p1 =>
 *     p, k => @first = p // k    ->        k:unroll, p2:vec => @most = {p0, p1, p2}/p // k
 *                                          k:unroll, p2:vec => @first_sum = {p0, p1, p2}/p // k
 *                                          p2:vec => @first = {p0, p1, p2}/p */
#include <string.h>

#include "sketch/nests.h"

/* Into points whose parts lanes are, parts[2], and what goes over them: parts[0] and, in blocks
 * that threads share out, parts[1], else parts[2] again. are_vectors: elements of the lanes lie so
 * near that registers hold them. */
static at_status split_points(sketch_state *s, const char *stage, const char *axis, bool in_blocks,
                              bool are_vectors, const char **parts) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "8 16 32 64"},
                               blocks = {.policy = AT_LISTED, .listed = "4 16 64 | 8 16 32"};
    const at_part_limit points[] = {{0}, {.wide = 16, .narrow = 16, .lanes = are_vectors}},
                        in[] = {{0},
                                {.wide = 16, .narrow = 16},
                                {.wide = 16, .narrow = 8, .lanes = are_vectors}};
    AT_TRY(sketch_split(s, stage, axis, in_blocks ? 3 : 2, in_blocks ? &blocks : &spec,
                        in_blocks ? in : points, parts));
    if (!in_blocks) parts[2] = parts[1];
    return AT_OK;
}

/* ---- flat: does it suit? --------------------------------------------------------------------- */

/* Do lanes along points and their parts lie side by side, or do all points read the same, or all
 * parts of a point? A choice by points cuts whole points off. */
static bool is_flat(const at_access *x, int points, int parts, int64_t count) {
    const int64_t far = x->stride[points], near = x->stride[parts];
    const bool is_chosen = x->is_guarded && x->from == x->tensor && far == near * count;
    if (!x->known || x->by_entry || x->is_cut[parts] || (x->is_cut[points] && !is_chosen))
        return false;
    if (near < 0 || near > MOST_LANE_STEP) return false;
    if (near == 0) return far >= 0 && far <= MOST_LANE_STEP;
    return far == near * count || (far == 0 && near == 1);
}

/* The same once they are packed in the order of use: weights for all points. */
static bool is_packed(const sketch_state *s, int stage, const at_access *x, int points) {
    return x->stride[points] == 0 && sketch_is_weight(s, x->tensor) && tile_may_pack(s, stage, x) &&
           tile_reads_once(s, stage, x->tensor);
}

/* Does the index of an axis of the lanes decide a condition, or is it a number of the sum? */
static bool asks_for(const at_expr *e, const void *axis) {
    return at_expr_is_name(e, *(const int *)axis);
}

static bool is_no_sum(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_INDEX || e->op == AT_X_DIV || e->op == AT_X_MOD;
}

/* The same of points, which may be compared with others: a condition on whole points cuts lanes. */
static at_walk find_asked_for(const at_expr *e, void *points) {
    if (e->op == AT_X_INDEX || (at_op_orders(e->op) && !at_expr_find(e, is_no_sum, NULL)))
        return AT_WALK_PAST;
    return asks_for(e, points) ? AT_WALK_END : AT_WALK_ON;
}

static bool is_bound(const at_expr *e, const void *unused) {
    (void)unused;
    return e->op == AT_X_MIN || e->op == AT_X_MAX;
}

/* Is each element a choice by its point, and what it reads at places that no bound moves? Runs of
 * narrower elements are copied as they lie, in fewer pieces. */
static bool may_ask(const at_tensor *t, int points) {
    return points < t->num_axes && !t->num_reduce && at_type_bytes(t->type) == 4 &&
           !at_expr_walk(t->body, find_asked_for, &points) &&
           !at_expr_find_index(t->body, is_bound, NULL);
}

/* The axis of the points: the one before the last, or, of a long sum, the innermost reduction. */
static int flat_points_of(const at_tensor *t, double terms) {
    if (terms <= POINT_MOST_TERMS) return t->num_axes - 2;
    return t->num_reduce ? t->num_axes + t->num_reduce - 1 : -1;
}

/* Are the points small matrices, each of which is whole registers? */
static bool has_matrices(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = s->facts->compute->tensors[stage].num_axes - 1;
    const int64_t elements = last >= 2 ? f->extent[last - 1] * f->extent[last] : 0;
    return elements && elements <= FLAT_MOST_OF_MATRIX && elements % 8 == 0 &&
           f->extent[last - 2] >= LEAST_POINTS;
}

/* Are there so many points, of so few parts, and of a long sum so few sums? */
static bool has_flat_extents(const sketch_state *s, int stage, int points, double terms) {
    const at_stage_facts *f = &s->facts->of[stage];
    const int parts = s->facts->compute->tensors[stage].num_axes - 1;
    const bool is_sum = points > parts;
    double sums = 1;
    if (f->extent[parts] < 2 || f->extent[parts] > FLAT_MOST_PARTS ||
        (f->extent[points] < LEAST_POINTS && (is_sum || !has_matrices(s, stage))))
        return false;
    for (int k = 0; k < parts; k++) sums *= (double)f->extent[k];
    return !is_sum || (terms >= FLAT_LEAST_SUMMED && sums <= FLAT_MOST_SUMS);
}

/* Do rows of a tile with lanes along the parts share what lanes along points would load for each of
 * them? */
static bool has_tile_rows(const sketch_state *s, int stage, int parts) {
    const int row = tile_row_of(s, stage, parts);
    return s->facts->of[stage].extent[parts] >= NARROW_FIRST_LANES && row >= 0 &&
           tile_vector_of(s, stage) == parts && tile_reuses(s, stage, parts, row);
}

void nest_find_flat(const sketch_state *s, int stage, nest_choices *out) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const double terms = tile_terms_of(s, stage);
    const int parts = t->num_axes - 1, points = flat_points_of(t, terms);
    if (terms <= 0 || parts < 0 || points < 0 || t->is_packing || sketch_stands_beside(s, stage) ||
        !has_flat_extents(s, stage, points, terms) || has_tile_rows(s, stage, parts) ||
        (at_expr_find_value(t->body, asks_for, &points) &&
         (!may_ask(t, points) || has_matrices(s, stage))) ||
        at_expr_find_value(t->body, asks_for, &parts))
        return;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (at_tensor_has_entries(&s->facts->compute->tensors[x->tensor])) return;
        if (!is_flat(x, points, parts, f->extent[parts]) &&
            (points > parts || !is_packed(s, stage, x, points)))
            return;
    }
    nest_add_axis(out, s, stage, points);
}

/* ---- flat: loops ----------------------------------------------------------------------------- */

/* Loops of a long sum over points: first the loops of all axes but the last. */
static at_status make_flat_sum(sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1, points = t->num_axes + t->num_reduce - 1;
    const char *parts[3], *name = sketch_fresh_of(s, t->name, "parts");
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(split_points(s, t->name, t->axes[points].name, false, true, parts));
    for (int k = 0; k < points; k++)
        if (k != last) order.names[n++] = t->axes[k].name;
    order.names[n++] = parts[0];
    order.names[n++] = parts[1];
    order.names[n] = t->axes[last].name;
    AT_TRY(sketch_step(s, &order));
    AT_TRY(sketch_make(s, AT_EDIT_FACTOR, t->name, t->axes[last].name, parts[1], name));
    AT_TRY(sketch_mark(s, name, parts[1], AT_ANN_VEC));
    AT_TRY(sketch_fuse(s, name, &order.names[n - 1], 2));
    return last ? sketch_mark(s, name, t->axes[0].name, AT_ANN_PARA) : AT_OK;
}

/* In blocks of points, parts[0] and parts[1], or of matrices; parts[2]: what lanes are of. */
static at_status split_flat(sketch_state *s, int stage, const char **parts) {
    static const at_part_limit blocks = {.wide = 16, .narrow = 16};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1;
    if (!has_matrices(s, stage))
        return split_points(s, t->name, t->axes[last - 1].name, last == 1, true, parts);
    parts[2] = t->axes[last - 1].name;
    return sketch_split_by(s, t->name, t->axes[last - 2].name, "4 16 64", blocks, parts);
}

at_status nest_make_flat(sketch_state *s, int stage, const nest_choice *c) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = t->num_axes - 1;
    const char *parts[3], *name, *first;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    if (c->vec >= t->num_axes) return make_flat_sum(s, stage);
    AT_TRY(split_flat(s, stage, parts));
    order.names[n++] = parts[0];
    if (parts[1] != parts[2]) order.names[n++] = parts[1];
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        order.names[n++] = t->axes[k].name;
    order.names[n++] = parts[2];
    order.names[n] = t->axes[last].name;
    AT_TRY(sketch_step(s, &order));
    for (int i = 0; i < f->num_accesses; i++)
        if (!is_flat(&f->access[i], last - 1, last, f->extent[last]))
            AT_TRY(sketch_copy_blocks(s, t->name, stage, last, i, &name, &first));
    AT_TRY(sketch_mark(s, t->name, parts[2], AT_ANN_VEC));
    AT_TRY(sketch_fuse(s, t->name, &order.names[n - 1], 2));
    const bool is_first = last == 1 || (last == 2 && has_matrices(s, stage));
    return sketch_mark(s, t->name, sketch_first_before(s, stage, is_first ? 0 : last - 1, parts[0]),
                       AT_ANN_PARA);
}

/* ---- points ---------------------------------------------------------------------------------- */

/* How many elements apart does the stage read points along axis p, at most? -1: too many. */
static int64_t step_of(const at_stage_facts *f, int p) {
    int64_t step = 0;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (!x->known || x->by_entry || x->stride[p] < 0 || x->stride[p] > POINT_MOST_PARTS)
            return -1;
        if (x->stride[p] > step) step = x->stride[p];
    }
    return step;
}

/* Are a point's parts a whole register of elements that lie side by side, and no sums? The point is
 * a row. */
static bool are_rows(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1;
    if (t->num_reduce || f->extent[last] < POINT_MOST_PARTS ||
        at_expr_find(t->body, at_facts_calls, NULL))
        return false;
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[last] < 0 || f->access[i].stride[last] > 1) return false;
    return true;
}

/* The axis of a stage's points, before the axes of their parts; -1: it has none. */
static int points_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int p = t->num_axes - 1;
    int64_t parts = 1;
    const double terms = tile_terms_of(s, stage);
    while (p >= 0 && parts * f->extent[p] <= POINT_MOST_PARTS) parts *= f->extent[p--];
    if (p < 0 || t->num_axes - 1 - p > POINT_MOST_AXES || f->extent[p] < LEAST_POINTS) return -1;
    if (terms <= 0 || terms > POINT_MOST_TERMS || terms * (double)parts > POINT_MOST_WRITTEN)
        return -1;
    if (parts == 1 && tile_vector_of(s, stage) >= 0) return -1; /* a tile is better */
    if (parts > 1 && are_rows(s, stage)) return -1;
    /* Registers of narrower elements are not stored apart; lanes of a sum are of 32 bits. */
    if (parts > 1 && !t->num_reduce && at_type_bytes(t->type) != 4) return -1;
    return step_of(f, p) >= (parts > 1 ? 0 : 2) ? p : -1;
}

/* Does a sum, which stands before the stage, have the same points, each of which is one element? */
static bool has_points_of(const nest_members *m, int sum, int p) {
    const at_facts *f = m->s->facts;
    if (!f->compute->tensors[sum].num_reduce || points_of(m->s, sum) != p ||
        f->compute->tensors[sum].num_axes != p + 1)
        return false;
    for (int k = 0; k <= p; k++)
        if (m->axis_of[sum][k] != k || f->extents[sum][k] != f->extents[m->of][k]) return false;
    return true;
}

/* The sums that the stage reads of its own points alone, from the last to the first. */
static void find_with(const sketch_state *s, int stage, int p, nest_choice *c) {
    nest_members m;
    nest_open_members(&m, (sketch_state *)s, stage);
    for (int t = stage - 1; t >= 0 && c->num_with < SKETCH_MOST_WITH; t--) {
        m.is_member[t] =
            nest_may_join(s, t) && nest_is_read_within(&m, t) && has_points_of(&m, t, p);
        if (m.is_member[t]) c->with[c->num_with++] = t;
    }
}

void nest_find_points(const sketch_state *s, int stage, nest_choices *out) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    if (t->is_packing || sketch_stands_beside(s, stage)) return;
    const int p = points_of(s, stage);
    if (p < 0) return;
    nest_choice with = {.num_with = 0};
    if (nest_may_join(s, stage)) find_with(s, stage, p, &with);
    nest_choice *c = nest_add_axis(out, s, stage, p);
    if (!with.num_with) return;
    memcpy(c->with, with.with, sizeof with.with);
    c->num_with = with.num_with;
    nest_add_axis(out, s, stage, p);
}

/* A sum that stands in the lanes of the stage's points, `lanes`, before it. */
static at_status make_with(sketch_state *s, int sum, const char *lanes) {
    const at_tensor *t = &s->facts->compute->tensors[sum];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        order.names[n++] = t->axes[k].name;
    order.names[n] = lanes;
    AT_TRY(sketch_step(s, &order));
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        AT_TRY(sketch_mark(s, t->name, t->axes[k].name, AT_ANN_UNROLL));
    AT_TRY(sketch_mark(s, t->name, lanes, AT_ANN_VEC));
    return t->is_output ? sketch_copy_sum(s, t->name, sketch_fresh_of(s, t->name, "sum")) : AT_OK;
}

at_status nest_make_points(sketch_state *s, int stage, const nest_choice *c) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int p = c->vec;
    const at_stage_facts *f = &s->facts->of[stage];
    const char *parts[3];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    const int64_t apart = step_of(f, p);
    int64_t stored = 1;
    int n = 0;
    for (int k = p + 1; k < t->num_axes; k++) stored *= f->extent[k];
    const bool are_vectors = apart <= MOST_LANE_STEP && stored <= MOST_LANE_STEP;
    AT_TRY(split_points(s, t->name, t->axes[p].name, p == 0, are_vectors, parts));
    order.names[n++] = parts[0];
    if (p == 0) order.names[n++] = parts[1];
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        order.names[n++] = t->axes[k].name;
    for (int k = p + 1; k < t->num_axes; k++) order.names[n++] = t->axes[k].name;
    order.names[n] = parts[2];
    AT_TRY(sketch_step(s, &order));
    for (int k = p + 1; k < t->num_axes + t->num_reduce; k++)
        AT_TRY(sketch_mark(s, t->name, t->axes[k].name, AT_ANN_UNROLL));
    AT_TRY(sketch_mark(s, t->name, parts[2], AT_ANN_VEC));
    AT_TRY(sketch_mark(s, t->name, sketch_first_before(s, stage, p, parts[0]), AT_ANN_PARA));
    const char *before = t->name, *block = parts[p == 0];
    for (int i = 0; i < c->num_with; i++) {
        const char *name = s->facts->compute->tensors[c->with[i]].name;
        AT_TRY(sketch_put(s, AT_EDIT_NEST, name, true, before, block));
        AT_TRY(make_with(s, c->with[i], parts[2]));
        before = name;
    }
    /* Sums are in registers: what is stored far apart is no sum. */
    return t->num_reduce ? sketch_copy_sum(s, t->name, sketch_fresh_of(s, t->name, "sum")) : AT_OK;
}
