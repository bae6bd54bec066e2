/* sketch/rule_flat.c: a short last axis, as of colours, points or complex numbers, which is less
 * than a vector, makes lanes together with the one before, as its elements lie:
 *
 *     p, c => @out = p, c      ->      p0:para, {p1, c}:vec => @out = {p0, p1}/p, c
 *
 * What is the same for all points goes round in such lanes, and what a point has alone is spread
 * over its own. A short sum has its terms one behind the other, outside of the lanes:
 *
 *     p, c, k => @s = p, c // k      ->      p0:para, k, {p1, c}:vec => @s = {p0, p1}/p, c // k
 *
 * A long sum over points has partial ones side by side, which are joined behind its loops:
 *
 *     c, p => @s = c // p      ->      p0, {p1, c}:vec => @s_parts = p1, c // p0
 *                                      c, p1 => @s = c // p1  */
#include "sketch/tile.h"

enum {
    MOST_PARTS = 15, /* of the last axis: lanes go round in fewer than the widest register has */
    LEAST_POINTS = 8,
    LEAST_SUMMED = 1024, /* so that joining the partial sums is little beside them */
    MOST_OF_MATRIX = 64,
    MOST_SUMS = 64, /* of all parts: their partial ones are in memory */
    MOST_TERMS = 16 /* of a sum */
};

/* Do lanes along points and their parts lie side by side, or do all points read the same, or all
 * parts of a point? */
static bool is_flat(const at_access *x, int points, int parts, int64_t count) {
    const int64_t far = x->stride[points], near = x->stride[parts];
    if (!x->known || x->by_entry || x->is_cut[points] || x->is_cut[parts]) return false;
    if (near < 0 || near > TILE_MOST_STEP) return false;
    if (near == 0) return far >= 0 && far <= TILE_MOST_STEP;
    return far == near * count || (far == 0 && near == 1);
}

/* The same once they are packed in the order of use: weights for all points. */
static bool is_packed(const sketch_state *s, int stage, const at_access *x, int points) {
    return x->stride[points] == 0 && sketch_is_weight(s, x->tensor) && tile_may_pack(s, stage, x) &&
           tile_reads_once(s, stage, x->tensor);
}

/* A condition or a number that an index of the lanes decides is none of all lanes. */
static bool asks_for(const at_expr *e, int axis) {
    if (e->op == AT_X_NAME) return e->ref == axis;
    for (int i = 0; e->op != AT_X_INDEX && i < e->nargs; i++)
        if (asks_for(e->arg[i], axis)) return true;
    return false;
}

/* The axis of the points: the one before the last, or, of a long sum, the innermost reduction. */
static int points_of(const at_tensor *t, double terms) {
    if (terms <= MOST_TERMS) return t->num_axes - 2;
    return t->num_reduce ? t->num_axes + t->num_reduce - 1 : -1;
}

/* Are they small matrices, each of which is whole registers? */
static bool has_matrices(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = s->facts->compute->tensors[stage].num_axes - 1;
    const int64_t elements = last >= 2 ? f->extent[last - 1] * f->extent[last] : 0;
    return elements && elements <= MOST_OF_MATRIX && elements % 8 == 0 &&
           f->extent[last - 2] >= LEAST_POINTS;
}

static rule_verdict applies(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const double terms = tile_terms_of(s, stage);
    double sums = 1;
    const int parts = t->num_axes - 1, points = points_of(t, terms);
    if (terms <= 0 || parts < 0 || points < 0 || t->is_packing || sketch_stands_beside(s, stage))
        return RULE_SKIP;
    const bool is_sum = points > parts;
    if (f->extent[parts] < 2 || f->extent[parts] > MOST_PARTS ||
        (f->extent[points] < LEAST_POINTS && (is_sum || !has_matrices(s, stage))))
        return RULE_SKIP;
    for (int k = 0; k < parts; k++) sums *= (double)f->extent[k];
    if (is_sum && (terms < LEAST_SUMMED || sums > MOST_SUMS)) return RULE_SKIP;
    if (asks_for(t->body, points) || asks_for(t->body, parts)) return RULE_SKIP;
    for (int i = 0; i < f->num_accesses; i++)
        if (s->facts->compute->tensors[f->access[i].tensor].role == AT_ROLE_INDEX) return RULE_SKIP;
    for (int i = 0; i < f->num_accesses; i++)
        if (!is_flat(&f->access[i], points, parts, f->extent[parts]) &&
            (is_sum || !is_packed(s, stage, &f->access[i], points)))
            return RULE_SKIP;
    return RULE_APPLY;
}

/* Loops of a long sum over points, which begins with those of all axes but the last. */
static at_status make_sum(sketch_state *s, int stage, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1, points = t->num_axes + t->num_reduce - 1;
    const char *parts[3], *name = sketch_fresh(s, at_format(s->arena, "%s_parts", t->name));
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name},
            factor = {.kind = AT_EDIT_FACTOR,
                      .stage = t->name,
                      .other = t->axes[last].name,
                      .names = {name}},
            fuse = {.kind = AT_EDIT_FUSE, .stage = name};
    int n = 0;
    AT_TRY(sketch_split_points(s, t->name, t->axes[points].name, false, parts, err));
    for (int k = 0; k < points; k++)
        if (k != last) order.names[n++] = t->axes[k].name;
    order.names[n++] = parts[0];
    fuse.names[0] = order.names[n++] = factor.loop = parts[1];
    fuse.names[1] = order.names[n++] = t->axes[last].name;
    AT_TRY(sketch_step(s, &order, err));
    AT_TRY(sketch_step(s, &factor, err));
    AT_TRY(sketch_mark(s, name, parts[1], AT_ANN_VEC, err));
    AT_TRY(sketch_step(s, &fuse, err));
    return last ? sketch_mark(s, name, t->axes[0].name, AT_ANN_PARA, err) : AT_OK;
}

/* In blocks of points, parts[0] and parts[1], or of matrices; parts[2]: what lanes are of. */
static at_status split(sketch_state *s, int stage, const char **parts, at_error *err) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "4 16 64"};
    static const at_part_limit limits[] = {{0}, {.wide = 16, .narrow = 16}};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1;
    if (!has_matrices(s, stage))
        return sketch_split_points(s, t->name, t->axes[last - 1].name, last == 1, parts, err);
    parts[2] = t->axes[last - 1].name;
    return sketch_split(s, t->name, t->axes[last - 2].name, 2, &spec, limits, parts, err);
}

static at_status make(sketch_state *s, int stage, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = t->num_axes - 1;
    const char *parts[3], *name, *first;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name},
            fuse = {.kind = AT_EDIT_FUSE, .stage = t->name};
    int n = 0;
    AT_TRY(split(s, stage, parts, err));
    order.names[n++] = parts[0];
    if (parts[1] != parts[2]) order.names[n++] = parts[1];
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        order.names[n++] = t->axes[k].name;
    fuse.names[0] = order.names[n++] = parts[2];
    fuse.names[1] = order.names[n++] = t->axes[last].name;
    AT_TRY(sketch_step(s, &order, err));
    for (int i = 0; i < f->num_accesses; i++)
        if (!is_flat(&f->access[i], last - 1, last, f->extent[last]))
            AT_TRY(sketch_copy_blocks(s, t->name, stage, last, i, &name, &first, err));
    AT_TRY(sketch_mark(s, t->name, parts[2], AT_ANN_VEC, err));
    AT_TRY(sketch_step(s, &fuse, err));
    const bool is_first = last == 1 || (last == 2 && has_matrices(s, stage));
    return sketch_mark(s, t->name, is_first ? parts[0] : t->axes[0].name, AT_ANN_PARA, err);
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int points = points_of(t, tile_terms_of(s, stage));
    sketch_state *b = sketch_branch(s, at_format(s->arena, "flat_%s", t->axes[points].name));
    if ((points < t->num_axes ? make : make_sum)(b, stage, err) == AT_OK)
        *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_flat = {applies, apply};
