/* sketch/rule_near.c: what the tiles of a block read is copied into the order of use right before
 * them, so that the copy stays in the caches for all of them: vectors for all rows; and, in blocks
 * of a reduction that is so long that these would not stay, also rows for all columns:
 *
 *     j0:para =>                            j0:para =>
 *         j1, k0, k1, j2 => @Y_packed           k0 =>
 *         i0, j1, i1 =>                             j1, k1, k2, j2 => @Y_packed
 *             .. @mul                               i0 =>
 *                                                       i1, k1, k2, i2 => @X_packed
 *                                                       j1, i1, .. @mul
 *                                               i0, j1, i1, .. @out  */
#include "sketch/tile.h"

enum { LONG_PANEL = 2048 }; /* steps whose vectors exceed half of a second-level cache */

/* What is not packed ahead of the kernel, and is read as it lies. */
static bool may_copy(const sketch_state *s, int stage, const at_access *x) {
    const at_tensor *from = &s->facts->compute->tensors[x->tensor];
    return x->is_bare && from->role == AT_ROLE_INPUT && tile_reads_once(s, stage, x->tensor);
}

/* Vectors from beyond the caches near the core, which several rows need; -1: there are none. */
static int vectors_of(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++)
            if (f->access[i].stride[vec] && !f->access[i].stride[k] && tile_goes(s, stage, k) &&
                may_copy(s, stage, &f->access[i]) && sketch_is_far(s, f->access[i].tensor))
                return i;
    return -1;
}

/* Rows that several columns need; -1: there are none. */
static int rows_of(const sketch_state *s, int stage, int vec, int row) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (row >= 0 && tile_has_columns(s, stage, vec) && f->access[i].stride[row] &&
            !f->access[i].stride[vec] && may_copy(s, stage, &f->access[i]))
            return i;
    return -1;
}

static rule_verdict applies(const sketch_state *s, int stage) {
    int vec = tile_vector_of(s, stage);
    return vec >= 0 && vectors_of(s, stage, vec) >= 0 ? RULE_APPLY : RULE_SKIP;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_compute *c = s->facts->compute;
    const at_stage_facts *f = &s->facts->of[stage];
    int vec = tile_vector_of(s, stage), row = tile_row_of(s, stage, vec),
        vectors = vectors_of(s, stage, vec), rows = rows_of(s, stage, vec, row);
    const char *word = at_format(s->arena, "tile_%s", c->tensors[stage].axes[vec].name);
    tile_axes axes = {.vec = vec,
                      .row = row,
                      .second = tile_rows_beside(s, stage, vec, row),
                      .unrolled = -1,
                      .blocked = -1,
                      .near = {vectors},
                      .num_near = 1};
    sketch_tile_add(
        s, stage,
        at_format(s->arena, "%s+near_%s", word, c->tensors[f->access[vectors].tensor].name), &axes,
        out, err);
    axes.blocked = tile_long_sum(s, stage, vec);
    if (rows < 0 || axes.blocked < 0 || f->inner[axes.blocked] < LONG_PANEL) return;
    axes.panels = true;
    axes.near[axes.num_near++] = rows;
    sketch_tile_add(
        s, stage,
        at_format(s->arena, "%s+panels_%s", word, c->tensors[stage].axes[axes.blocked].name), &axes,
        out, err);
}

const sketch_rule at_rule_near = {applies, apply};
