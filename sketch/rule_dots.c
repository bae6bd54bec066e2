/* sketch/rule_dots.c: a register tile of dot products, where no axis suits the lanes: partial sums
 * side by side along the last reduction, rows that need the same beside each other:
 *
 *     w, f, c => @out = w, f // c    ->    {w0, f0}:para =>
 *                                              c0, f1:unroll, w1:unroll, c1:vec =>
 *                                                  @out = {w0, w1}/w, {f0, f1}/f // {c0, c1}/c  */
#include "sketch/tile.h"

static rule_verdict applies(const sketch_state *s, int stage) {
    return tile_dot_of(s, stage) < 0 ? RULE_SKIP : RULE_APPLY_ALONE;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    int vec = tile_dot_of(s, stage), row = tile_row_of(s, stage, vec);
    tile_axes axes = {.vec = vec,
                      .row = row,
                      .second = tile_second_of(s, stage, vec, row),
                      .unrolled = -1,
                      .blocked = -1};
    sketch_tile_add(s, stage, at_format(s->arena, "dots_%s", x->axes[vec].name), &axes, out, err);
}

const sketch_rule at_rule_dots = {applies, apply};
