/* sketch/rule_with.c: sums over the same reduction that read some of the same are added up in one
 * tile, so that this is read once, and what reads all of them stands beside it:
 *
 *     m, f, k => @g = m, f // k        {f0, m0}:para, f1 =>
 *     m, f, k => @u = m, f // k            k0 =>
 *     m, f => @h = m, f                        k1, m1, f2:vec => @g = {m0, m1}/m, ..
 *                                ->            k1, m1, f2:vec => @u = {m0, m1}/m, ..
 *                                          m1, f2:vec => @h = {m0, m1}/m, ..  */
#include "sketch/tile.h"

#include <string.h>

/* Loops of both have the same lengths, and no index divides them. */
static bool has_loops_of(const sketch_state *s, int one, int other) {
    const at_facts *f = s->facts;
    const at_tensor *a = &f->compute->tensors[one], *b = &f->compute->tensors[other];
    if (a->num_axes != b->num_axes || a->num_reduce != b->num_reduce) return false;
    for (int k = 0; k < a->num_axes + a->num_reduce; k++)
        if (f->of[one].extent[k] != f->of[other].extent[k] || f->of[one].divisor[k] ||
            f->of[other].divisor[k] || a->axes[k].begin || b->axes[k].begin)
            return false;
    return true;
}

/* Something that both read in the same way; lanes have it as it lies. */
static bool shares_read(const sketch_state *s, int one, int other, int vec) {
    const at_stage_facts *a = &s->facts->of[one], *b = &s->facts->of[other];
    const at_tensor *x = &s->facts->compute->tensors[one];
    size_t size = sizeof *a->access->stride * (size_t)(x->num_axes + x->num_reduce);
    bool shares = false;
    for (int i = 0; i < a->num_accesses; i++)
        for (int j = 0; j < b->num_accesses; j++) {
            const at_access *r = &a->access[i];
            if (r->tensor != b->access[j].tensor || memcmp(r->stride, b->access[j].stride, size))
                continue;
            if (r->stride[vec] != 0 && r->stride[vec] != 1) return false;
            shares = true;
        }
    return shares;
}

/* Everything that follows from the earlier sum before the later one stands beside the tile. */
static bool can_wait(const sketch_state *s, int sum, int later, bool is_tile) {
    const at_facts *f = s->facts;
    const at_compute *c = f->compute;
    bool *passes = AT_NEW_ARRAY(s->arena, bool, c->num_tensors),
         *reads = AT_NEW_ARRAY(s->arena, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) passes[t] = c->tensors[t].role == AT_ROLE_STAGE;
    at_compute_reach(c, passes, sum, reads);
    for (int t = sum + 1; t <= later; t++)
        if (reads[t] && !f->of[t].is_dissolved &&
            !(is_tile && f->of[sum].has_matched_reader && f->of[sum].reader == t))
            return false;
    return true;
}

/* Lanes along an axis, along which sums are stored; or along the last reduction; -1: none. */
static int lanes_of(const sketch_state *s, int stage, bool *is_tile) {
    int vec = tile_vector_of(s, stage), windows = tile_windows_of(s, stage);
    *is_tile = vec >= 0;
    if (vec < 0) return tile_dot_of(s, stage) < 0 ? tile_lanes_of(s, stage) : -1;
    return (windows < 0 || windows == vec) && !tile_sums_are_short(s, stage) ? vec : -1;
}

/* The sums before `stage` that may stand with it. */
static int find(const sketch_state *s, int stage, int *with) {
    const at_facts *f = s->facts;
    bool is_tile, is_other;
    int n = 0, vec = lanes_of(s, stage, &is_tile);
    for (int t = stage - 1; t >= 0 && n < SKETCH_MOST_WITH && vec >= 0; t--)
        if (f->of[t].is_stage && !f->of[t].is_dissolved && !f->of[t].is_written &&
            !sketch_is_joined(s, t) && f->compute->tensors[t].num_reduce &&
            has_loops_of(s, t, stage) && lanes_of(s, t, &is_other) == vec &&
            shares_read(s, t, stage, vec) && can_wait(s, t, stage, is_tile))
            with[n++] = t;
    return n;
}

static rule_verdict applies(const sketch_state *s, int stage) {
    int with[SKETCH_MOST_WITH];
    return find(s, stage, with) ? RULE_APPLY : RULE_SKIP;
}

static at_status make_lanes(sketch_state *s, int stage, const tile_axes *axes, at_error *err) {
    const sketch_edit *first = s->last;
    const char *outer, *leaf = s->facts->compute->tensors[stage].name;
    AT_TRY(sketch_lanes(s, stage, &outer, err));
    for (int i = 0; i < axes->num_with; i++)
        AT_TRY(sketch_sum_beside(s, leaf, axes->with[i], outer, first, err));
    return AT_OK;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_compute *c = s->facts->compute;
    bool is_tile;
    int vec = lanes_of(s, stage, &is_tile), row = is_tile ? tile_row_of(s, stage, vec) : -1;
    tile_axes axes = {.vec = vec,
                      .row = row,
                      .second = tile_rows_beside(s, stage, vec, row),
                      .unrolled = -1,
                      .blocked = -1};
    axes.num_with = find(s, stage, axes.with);
    const char *word = is_tile ? at_format(s->arena, "tile_%s", c->tensors[stage].axes[vec].name)
                               : at_format(s->arena, "lanes_%s", c->tensors[stage].name);
    for (int i = axes.num_with - 1; i >= 0; i--)
        word = at_format(s->arena, "%s+with_%s", word, c->tensors[axes.with[i]].name);
    if (is_tile) {
        sketch_tile_add(s, stage, word, &axes, out, err);
        return;
    }
    sketch_state *b = sketch_branch(s, word);
    if (make_lanes(b, stage, &axes, err) == AT_OK) *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_with = {applies, apply};
