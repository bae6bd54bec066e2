/* sketch/rule_late.c: a reader that calls functions, and so needs registers of its own, goes over
 * the sums of several tiles, which are in a cache meanwhile:
 *
 *     {j0, i0}:para =>
 *         j1, i1, k0, k1:unroll, i2:unroll, j2:vec => @mul = ..
 *         j1, i1, i2:unroll, j2:vec => @out = ..  */
#include "sketch/tile.h"

static rule_verdict applies(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    bool suits = tile_vector_of(s, stage) >= 0 && f->has_matched_reader &&
                 s->facts->of[f->reader].is_expensive;
    return suits ? RULE_APPLY : RULE_SKIP;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    int vec = tile_vector_of(s, stage), row = tile_row_of(s, stage, vec);
    const tile_axes axes = {.vec = vec,
                            .row = row,
                            .second = tile_rows_beside(s, stage, vec, row),
                            .unrolled = -1,
                            .blocked = -1,
                            .late = true};
    sketch_tile_add(
        s, stage,
        at_format(s->arena, "tile_%s+late", s->facts->compute->tensors[stage].axes[vec].name),
        &axes, out, err);
}

const sketch_rule at_rule_late = {applies, apply};
