/* sketch/rule_lanes.c: a reduction that no axis gives vectors to has partial results side by side,
 * which are joined behind its loops:
 *
 *     i, k => @s = i // k      ->      i:para, k0, k1:vec => @s = i // {k0, k1}/k
 *
 * One over lists, whose bounds are data, has them along the list, in one of two sketches; in the
 * other one, which is the first where lists are short, term follows term:
 *
 *     i, e:dyn(i) => @s = i // e      ->      i:para, e:dyn(i) vec => @s = i // e  */
#include "sketch/tile.h"

static rule_verdict applies(const sketch_state *s, int stage) {
    bool has_tile = tile_vector_of(s, stage) >= 0, are_long;
    if (tile_list_lanes_of(s, stage, &are_long) >= 0) return RULE_APPLY_ALONE;
    return has_tile || tile_lanes_of(s, stage) < 0 ? RULE_SKIP : RULE_APPLY_ALONE;
}

static at_status share_out(sketch_state *s, int stage, at_error *err) {
    const char *first = sketch_first_loop(s, stage);
    if (!first) return AT_OK;
    return sketch_mark(s, s->facts->compute->tensors[stage].name, first, AT_ANN_PARA, err);
}

at_status sketch_lanes(sketch_state *s, int stage, const char **outer, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "8 16 32 64 128 256"};
    static const at_part_limit limits[] = {{0}, {.vectors = 8}};
    const char *parts[2];
    AT_TRY(sketch_split(s, t->name, t->axes[tile_lanes_of(s, stage)].name, 2, &spec, limits, parts,
                        err));
    AT_TRY(sketch_mark(s, t->name, parts[1], AT_ANN_VEC, err));
    *outer = parts[0];
    return share_out(s, stage, err);
}

static at_status make_list(sketch_state *s, int stage, int list, bool has_lanes, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    if (has_lanes) AT_TRY(sketch_mark(s, t->name, t->axes[list].name, AT_ANN_VEC, err));
    return share_out(s, stage, err);
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const char *word = at_format(s->arena, "lanes_%s", s->facts->compute->tensors[stage].name),
               *outer;
    bool are_long;
    const int list = tile_list_lanes_of(s, stage, &are_long);
    for (int i = 0; i < 2 && list >= 0; i++) {
        const bool has_lanes = i ? !are_long : are_long;
        sketch_state *b = sketch_branch(s, has_lanes ? word : "");
        if (make_list(b, stage, list, has_lanes, err) == AT_OK) *at_push(s->arena, out) = b;
    }
    if (list >= 0) return;
    sketch_state *b = sketch_branch(s, word);
    if (sketch_lanes(b, stage, &outer, err) == AT_OK) *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_lanes = {applies, apply};
