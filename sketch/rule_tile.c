/* sketch/rule_tile.c: multi-level tiling around one register tile. All reductions stand directly
 * around the tile, so that sums live in registers from first to last, and what reads the sums
 * element by element stands beside it, in the same pieces:
 *
 *     i, j, k => @mul = i, j // k             {j0, i0}:para, i1, j1 =>
 *     i, j => @out = i, j              ->         k0, k1:unroll, i2:unroll, j2:vec =>
 *                                                     @mul = {i0, i1, i2}/i, {j0, j1, j2}/j // {k0,
 * k1}/k i2:unroll, j2:vec =>
 *                                                     @out = {i0, i1, i2}/i, {j0, j1, j2}/j  */
#include "sketch/tile.h"

enum { SMALL_AXIS = 64 };

static rule_verdict applies(const sketch_state *s, int stage) {
    int vec = tile_vector_of(s, stage), windows = tile_windows_of(s, stage);
    /* Sums of lanes along another axis than the windows' would be stored one by one. */
    return vec < 0 || (windows >= 0 && windows != vec) ? RULE_SKIP : RULE_APPLY;
}

/* Whether columns may stand inside of the rows: there are several, and rows that padding or the
 * like cuts into. Channels of groups then read each part of the picture as it lies. */
static bool may_go_by_rows(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    int64_t columns = f->extent[vec] / (f->divisor[vec] ? f->inner[vec] : SMALL_AXIS);
    for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++)
        if (k != vec && !sketch_is_step(s, stage, k) && tile_is_guarded(s, stage, k))
            return columns > 1;
    return false;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    int vec = tile_vector_of(s, stage), row = tile_row_of(s, stage, vec),
        second = tile_rows_beside(s, stage, vec, row), all = tile_sums_are_short(s, stage);
    int sums[2], num_sums = tile_short_sums(s, stage, row, second, sums);
    tile_axes axes = {.vec = vec, .row = row, .second = second, .blocked = -1};
    for (int by_rows = 0; by_rows <= may_go_by_rows(s, stage, vec); by_rows++)
        for (int i = 0; i <= (all && num_sums ? 1 : num_sums); i++) {
            const char *word = at_format(s->arena, "tile_%s", x->axes[vec].name);
            axes.all = !i && all && num_sums;
            axes.unrolled = i ? sums[i - 1] : axes.all ? sums[0] : -1;
            axes.rows_first = by_rows;
            if (axes.all) word = at_format(s->arena, "%s+unroll", word);
            else if (axes.unrolled >= 0)
                word = at_format(s->arena, "%s+unroll_%s", word, x->axes[axes.unrolled].name);
            if (by_rows) word = at_format(s->arena, "%s+rows_first", word);
            sketch_tile_add(s, stage, word, &axes, out, err);
        }
    int blocked = tile_long_sum(s, stage, vec), shared = tile_shared_sum(s, stage);
    axes =
        (tile_axes){.vec = vec, .row = row, .second = second, .unrolled = -1, .blocked = blocked};
    if (blocked >= 0)
        sketch_tile_add(
            s, stage,
            at_format(s->arena, "tile_%s+block_%s", x->axes[vec].name, x->axes[blocked].name),
            &axes, out, err);
    if (shared < 0 || row < 0) return;
    axes.blocked = shared;
    axes.shared_out = true;
    sketch_tile_add(
        s, stage, at_format(s->arena, "tile_%s+factor_%s", x->axes[vec].name, x->axes[shared].name),
        &axes, out, err);
}

const sketch_rule at_rule_tile = {applies, apply};
