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

enum { MOST_ROWS = 28, SMALL_AXIS = 64 };

static rule_verdict applies(const sketch_state *s, int stage) {
    return tile_vector_of(s, stage) < 0 ? RULE_SKIP : RULE_APPLY_ALONE;
}

/* Where one axis has fewer rows than a tile, or windows share what they read in two directions. */
static int second_of(const sketch_state *s, int stage, int vec, int row) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    int second = -1;
    if (row < 0) return -1;
    if (s->facts->of[stage].inner[row] >= MOST_ROWS && !tile_sums_are_short(s, stage)) return -1;
    for (int k = 0; k < x->num_axes; k++)
        if (k != vec && k != row && tile_goes(s, stage, k) && tile_reuses(s, stage, vec, k))
            second = k;
    return second;
}

/* Whether columns may stand inside of the rows: there are several, and rows that padding or the
 * like cuts into. Channels of groups then read each part of the picture as it lies. */
static bool may_go_by_rows(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    int64_t columns = f->extent[vec] / (f->divisor[vec] ? f->inner[vec] : SMALL_AXIS);
    for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++)
        if (k != vec && tile_is_guarded(s, stage, k)) return columns > 1;
    return false;
}

/* A reduction so long that what a tile reads of it exceeds the first-level cache; -1: none. */
static int long_sum(const sketch_state *s, int stage, int vec) {
    enum { LONG = 512 };
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int last = x->num_axes + x->num_reduce - 1;
    return f->inner[last] >= LONG && !f->divisor[last] && f->inner[vec] > SMALL_AXIS ? last : -1;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    int vec = tile_vector_of(s, stage), row = tile_row_of(s, stage, vec),
        short_sum = tile_short_sum(s, stage);
    int second = second_of(s, stage, vec, row), all = tile_sums_are_short(s, stage);
    tile_axes axes = {.vec = vec, .row = row, .second = second, .blocked = -1};
    for (int by_rows = 0; by_rows <= may_go_by_rows(s, stage, vec); by_rows++)
        for (int written_out = 0; written_out <= (short_sum >= 0); written_out++) {
            const char *word = at_format(s->arena, "tile_%s", x->axes[vec].name);
            axes.unrolled = written_out || all ? short_sum : -1;
            axes.all = written_out && all;
            axes.rows_first = by_rows;
            if (axes.all) word = at_format(s->arena, "%s+unroll", word);
            else if (axes.unrolled >= 0)
                word = at_format(s->arena, "%s+unroll_%s", word, x->axes[short_sum].name);
            if (by_rows) word = at_format(s->arena, "%s+rows_first", word);
            sketch_tile_add(s, stage, word, &axes, out, err);
        }
    axes = (tile_axes){vec, row, second, -1, false, long_sum(s, stage, vec), false};
    if (axes.blocked >= 0)
        sketch_tile_add(
            s, stage,
            at_format(s->arena, "tile_%s+block_%s", x->axes[vec].name, x->axes[axes.blocked].name),
            &axes, out, err);
}

const sketch_rule at_rule_tile = {
    "tile",
    "a sum in a register tile: its reductions directly around the tile, what reads it beside it",
    applies, apply};
