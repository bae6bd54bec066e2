/* sketch/rule_lanes.c: a reduction that no axis gives vectors to has partial results side by side,
 * which are joined behind its loops:
 *
 *     i, k => @s = i // k      ->      i:para, k0, k1:vec => @s = i // {k0, k1}/k  */
#include "sketch/tile.h"

static rule_verdict applies(const sketch_state *s, int stage) {
    bool has_tile = tile_vector_of(s, stage) >= 0;
    return has_tile || tile_lanes_of(s, stage) < 0 ? RULE_SKIP : RULE_APPLY_ALONE;
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
    return t->num_axes ? sketch_mark(s, t->name, t->axes[0].name, AT_ANN_PARA, err) : AT_OK;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    sketch_state *b =
        sketch_branch(s, at_format(s->arena, "lanes_%s", s->facts->compute->tensors[stage].name));
    const char *outer;
    if (sketch_lanes(b, stage, &outer, err) == AT_OK) *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_lanes = {applies, apply};
