/* sketch/rule_lists.c: a sum over a list, whose bounds are data, has vectors along the last axis
 * where each of its reads takes what lies side by side there, as rows of a table do. The sums stay
 * in registers from the first entry of the list to the last:
 *
 *     b, d, e:dyn => @s = b, d // e        b:para, d0 =>
 *     b, d => @out = b, d            ->        e:dyn, d1:vec => @s = b, {d0, d1}/d // e
 *                                              d1:vec => @out = b, {d0, d1}/d  */
#include "sketch/tile.h"

enum { MOST_WRITTEN_OUT = 8 };

static rule_verdict applies(const sketch_state *s, int stage) {
    return tile_list_of(s, stage) >= 0 ? RULE_APPLY_ALONE : RULE_SKIP;
}

/* What reads the sums, or a copy of them where they are an output, stands beside them. */
static at_status put_reader(sketch_state *s, int stage, const char *leaf, const char *loop,
                            at_error *err) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *all = s->facts->compute->tensors;
    at_edit e = {
        .kind = AT_EDIT_COPY, .stage = all[stage].name, .copy = AT_COPY_WRITE, .names = {leaf}};
    if (f->has_matched_reader)
        e = (at_edit){
            .kind = AT_EDIT_NEST, .stage = all[f->reader].name, .other = leaf, .loop = loop};
    return sketch_step(s, &e, err);
}

/* Rows of a tile, of which each entry of the list is read once; parts: what is left of their axis,
 * and they themselves. */
static at_status split_rows(sketch_state *s, const at_tensor *t, int row, const char **parts,
                            at_error *err) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = SKETCH_ROWS};
    static const at_part_limit limits[] = {{0}, {.wide = 14, .narrow = 6}};
    AT_TRY(sketch_split(s, t->name, t->axes[row].name, 2, &spec, limits, parts, err));
    return sketch_mark(s, t->name, parts[1], AT_ANN_UNROLL, err);
}

/* Short sums within an entry are written out. */
static at_status unroll_sums(sketch_state *s, int stage, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (!t->axes[k].begin && s->facts->of[stage].extent[k] <= MOST_WRITTEN_OUT)
            AT_TRY(sketch_mark(s, t->name, t->axes[k].name, AT_ANN_UNROLL, err));
    return AT_OK;
}

static at_status make(sketch_state *s, int stage, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int row = tile_list_row_of(s, stage);
    const char *outer, *inner, *leaf = t->name, *rows[2] = {NULL};
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(sketch_vectors(s, stage, &outer, err));
    inner = d[at_tree_digits(s->tree, stage, t->num_axes - 1, d) - 1].piece;
    if (row >= 0) {
        AT_TRY(split_rows(s, t, row, rows, err));
        AT_TRY(unroll_sums(s, stage, err));
    }
    for (int k = 0; k < t->num_axes - 1; k++)
        if (k != row && !sketch_is_step(s, stage, k)) order.names[n++] = t->axes[k].name;
    if (row >= 0) order.names[n++] = rows[0];
    order.names[n++] = outer;
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        order.names[n++] = t->axes[k].name;
    if (row >= 0) order.names[n++] = rows[1];
    order.names[n] = inner;
    AT_TRY(sketch_step(s, &order, err));
    if (!s->facts->of[stage].has_matched_reader)
        leaf = sketch_fresh(s, at_format(s->arena, "%s_sum", t->name));
    AT_TRY(sketch_mark(s, t->name, order.names[0], AT_ANN_PARA, err));
    return put_reader(s, stage, leaf, outer, err);
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    sketch_state *b =
        sketch_branch(s, at_format(s->arena, "list_%s", t->axes[t->num_axes - 1].name));
    if (make(b, stage, err) == AT_OK) *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_lists = {applies, apply};
