/* sketch/rule_running.c: a running sum goes on from step to step, a term each, instead of a sum
 * from the beginning for each step:
 *
 *     p, t, k:dyn(t) => @s = p, t // k   ->   p, t0, t1:unroll => @s[running] = p, {t0, t1}/t // 0
 *
 * with lanes along the last axis where that is another one. */
#include "sketch/tile.h"

static rule_verdict applies(const sketch_state *s, int stage) {
    return at_running_axis(&s->facts->compute->tensors[stage]) >= 0 ? RULE_APPLY_ALONE : RULE_SKIP;
}

static at_status make(sketch_state *s, int stage, at_error *err) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "1 2 4 8 16"};
    static const at_part_limit vectors[] = {{0}, {.wide = 2, .narrow = 2}},
                               single[] = {{0}, {.wide = 8, .narrow = 8}};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int along = at_running_axis(t), last = t->num_axes - 1,
              lanes = last != along && tile_list_of(s, stage) >= 0 ? last : -1;
    const char *steps[2], *outer = NULL;
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    at_edit run = {.kind = AT_EDIT_RUNNING, .stage = t->name},
            order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(sketch_step(s, &run, err));
    if (lanes >= 0) AT_TRY(sketch_vectors(s, stage, &outer, err));
    AT_TRY(sketch_split(s, t->name, t->axes[along].name, 2, &spec, lanes < 0 ? single : vectors,
                        steps, err));
    for (int k = 0; k < t->num_axes; k++)
        if (k != along && k != lanes) order.names[n++] = t->axes[k].name;
    if (lanes >= 0) order.names[n++] = outer;
    const bool is_shared = n > 0;
    order.names[n++] = steps[0];
    order.names[n++] = steps[1];
    if (lanes >= 0) order.names[n] = d[at_tree_digits(s->tree, stage, last, d) - 1].piece;
    AT_TRY(sketch_step(s, &order, err));
    AT_TRY(sketch_mark(s, t->name, steps[1], AT_ANN_UNROLL, err));
    return is_shared ? sketch_mark(s, t->name, order.names[0], AT_ANN_PARA, err) : AT_OK;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    sketch_state *b =
        sketch_branch(s, at_format(s->arena, "running_%s", t->axes[at_running_axis(t)].name));
    if (make(b, stage, err) == AT_OK) *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_running = {applies, apply};
