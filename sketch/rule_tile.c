/* sketch/rule_tile.c: multi-level tiling around one register tile. All reductions stand directly
 * around the tile, so that sums live in registers from first to last, and what reads the sums
 * element by element stands beside it, in the same pieces:
 *
 *     i, j, k => @mul = i, j // k             {j0, i0}:para, i1, j1 =>
 *     i, j => @out = i, j              ->         k0, k1:unroll, i2:unroll, j2:vec =>
 *                                                     @mul = {i0, i1, i2}/i, {j0, j1, j2}/j // {k0,
 * k1}/k i2:unroll, j2:vec =>
 *                                                     @out = {i0, i1, i2}/i, {j0, j1, j2}/j  */
#include <string.h>

#include "sketch/sketch_int.h"

enum { MOST_VECTOR = 64, MOST_ROWS = 28, MOST_INNER_SUM = 16, LEAST_LANES = 4 };
enum { SMALL_AXIS = 32 }; /* two levels are enough of it */

/* ---- which axes ------------------------------------------------------------------------------ */

static bool goes(const sketch_state *s, int stage, int axis) {
    return s->facts->of[stage].extent[axis] > 1;
}

/* Elements that one step of an axis moves in the stage's own tensor, row by row. */
static int64_t own_stride(const sketch_state *s, int stage, int axis) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int64_t stride = 1;
    for (int k = t->num_axes - 1; k > axis; k--) stride *= s->facts->of[stage].extent[k];
    return stride;
}

/* Lanes along the axis read what lies side by side, or the same; or they would of a copy. */
static bool reads_vectors(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (!x->known || (x->stride[axis] != 0 && x->stride[axis] != 1 && !x->is_bare))
            return false;
    }
    return true;
}

/* Of what lanes along vec read, rows need the same. */
static bool reuses(const sketch_state *s, int stage, int vec, int row) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[vec] != 0 && f->access[i].stride[row] == 0) return true;
    return false;
}

/* Whether padding or the like cuts into this axis: its loop is peeled, and runs by itself. */
static bool is_guarded(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].is_guarded && f->access[i].stride[axis] != 0) return true;
    return false;
}

static int row_of(const sketch_state *s, int stage, int vec) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int best = -1;
    for (int k = 0; k < t->num_axes; k++) {
        if (k == vec || !goes(s, stage, k)) continue;
        bool better = best < 0 ||
                      (reuses(s, stage, vec, k) && s->facts->of[stage].extent[k] >= 4) ||
                      !reuses(s, stage, vec, best);
        if (better) best = k;
    }
    return best;
}

static rule_verdict applies(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    if (!t->num_reduce) return RULE_SKIP;
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (t->axes[k].begin) return RULE_SKIP; /* bounds from data */
    for (int k = 0; k < t->num_axes; k++)
        if (f->extent[k] >= LEAST_LANES && reads_vectors(s, stage, k)) return RULE_APPLY_ALONE;
    return RULE_SKIP;
}

/* ---- the tile -------------------------------------------------------------------------------- */

typedef struct tiling {
    sketch_state *s;
    int stage, vec, row, second; /* axes; -1: none */
    const char *leaf;
    AT_VEC(const char *) outer, guarded, middle, sums, rows;
    const char *vector;
    at_error *err;
} tiling;

static bool has_parts(int64_t extent, int64_t multiple) {
    int64_t best = 1;
    for (int64_t d = multiple; d <= MOST_VECTOR && d <= extent; d += multiple)
        if (extent % d == 0) best = d;
    return best >= 2 * multiple || best == extent;
}

static at_status split_vector(tiling *t) {
    int64_t extent = t->s->facts->of[t->stage].extent[t->vec];
    bool tails = !has_parts(extent, 8);
    int n = extent > 2 * SMALL_AXIS ? 3 : 2;
    static const at_part_limit three[] = {{0}, {.wide = 4, .narrow = 4}, {.vectors = 2}},
                               two[] = {{0}, {.vectors = 2}};
    const char *filter =
        extent % 4 == 0 || (tails && extent > 8) ? "last % 4 == 0 && last <= 64" : "last <= 64";
    const char *parts[3];
    AT_TRY(sketch_split(t->s, t->leaf, sketch_axis_name(t->s, t->stage, t->vec), n, filter, tails,
                        n == 3 ? three : two, parts, t->err));
    *at_push(t->s->arena, &t->outer) = parts[0];
    if (n == 3) *at_push(t->s->arena, &t->middle) = parts[1];
    t->vector = parts[n - 1];
    return AT_OK;
}

static at_status split_rows(tiling *t, int axis, bool several_levels, int wide, int narrow) {
    int64_t extent = t->s->facts->of[t->stage].extent[axis];
    int n = several_levels && extent > SMALL_AXIS ? 3 : 2;
    bool tails = extent > 8 && !has_parts(extent, 2) && !has_parts(extent, 7);
    at_part_limit limits[3] = {{0}, {.wide = 8, .narrow = 8}};
    const char *parts[3];
    limits[n - 1] = (at_part_limit){.wide = wide, .narrow = narrow};
    AT_TRY(sketch_split(t->s, t->leaf, sketch_axis_name(t->s, t->stage, axis), n,
                        at_format(t->s->arena, "last <= %d", MOST_ROWS), tails, limits, parts,
                        t->err));
    if (is_guarded(t->s, t->stage, axis)) *at_push(t->s->arena, &t->guarded) = parts[0];
    else *at_push(t->s->arena, &t->outer) = parts[0];
    /* Rows go round inside columns: what a column needs of the weights stays near. */
    if (n == 3) *at_push(t->s->arena, &t->middle) = parts[1];
    *at_push(t->s->arena, &t->rows) = parts[n - 1];
    return AT_OK;
}

/* The reductions as they stand; the last one that is long enough is unrolled a little. */
static at_status split_sums(tiling *t) {
    const at_tensor *x = &t->s->facts->compute->tensors[t->stage];
    const int64_t *extent = t->s->facts->of[t->stage].extent;
    int last = -1;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        if (extent[k] >= 4) last = k;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++) {
        static const at_part_limit limits[] = {{0}, {.wide = 1, .narrow = 1}};
        const char *parts[2] = {x->axes[k].name, NULL};
        if (k == last)
            AT_TRY(sketch_split(t->s, t->leaf, x->axes[k].name, 2,
                                at_format(t->s->arena, "last <= %d", MOST_INNER_SUM), false, limits,
                                parts, t->err));
        *at_push(t->s->arena, &t->sums) = parts[0];
        if (parts[1]) *at_push(t->s->arena, &t->sums) = parts[1];
    }
    return last < 0
               ? AT_OK
               : sketch_mark(t->s, t->leaf, t->sums.data[t->sums.len - 1], AT_ANN_UNROLL, t->err);
}

static at_status put_in_order(tiling *t) {
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = t->leaf};
    int n = 0;
    for (int i = 0; i < t->outer.len && n < AT_EDIT_MAX_NAMES; i++) e.names[n++] = t->outer.data[i];
    for (int i = 0; i < t->guarded.len && n < AT_EDIT_MAX_NAMES; i++)
        e.names[n++] = t->guarded.data[i];
    for (int i = 0; i < t->middle.len && n < AT_EDIT_MAX_NAMES; i++)
        e.names[n++] = t->middle.data[i];
    for (int i = 0; i < t->sums.len && n < AT_EDIT_MAX_NAMES; i++) e.names[n++] = t->sums.data[i];
    for (int i = 0; i < t->rows.len && n < AT_EDIT_MAX_NAMES; i++) e.names[n++] = t->rows.data[i];
    if (n == AT_EDIT_MAX_NAMES) return at_fail(t->err, AT_E_INPUT, "more loops than an edit takes");
    e.names[n] = t->vector;
    return sketch_step(t->s, &e, t->err);
}

/* The outer loops are shared out among threads. */
static at_status share_out(tiling *t) {
    at_edit e = {.kind = AT_EDIT_FUSE, .stage = t->leaf};
    int n = 0;
    for (; n < t->outer.len && n < AT_EDIT_MAX_NAMES; n++) e.names[n] = t->outer.data[n];
    AT_TRY(sketch_mark(t->s, t->leaf, e.names[0], AT_ANN_PARA, t->err));
    return n > 1 ? sketch_step(t->s, &e, t->err) : AT_OK;
}

/* What reads the sums, beside the tile; an output's sum becomes a stage of its own, so that its
 * last value goes from registers to memory. */
static at_status put_reader(tiling *t, const char *loop) {
    const at_facts *f = t->s->facts;
    const at_tensor *x = &f->compute->tensors[t->stage];
    if (f->of[t->stage].has_matched_reader) {
        at_edit e = {.kind = AT_EDIT_NEST,
                     .stage = f->compute->tensors[f->of[t->stage].reader].name,
                     .other = t->leaf,
                     .loop = loop};
        return sketch_step(t->s, &e, t->err);
    }
    const char *sum = sketch_fresh(t->s, at_format(t->s->arena, "%s_sum", x->name));
    at_edit e = {.kind = AT_EDIT_COPY, .stage = x->name, .copy = AT_COPY_WRITE, .names = {sum}};
    t->leaf = sum;
    return sketch_step(t->s, &e, t->err);
}

static at_status make(tiling *t) {
    const at_tensor *x = &t->s->facts->compute->tensors[t->stage];
    sketch_state *s = t->s;
    t->leaf = x->name;
    AT_TRY(split_vector(t));
    int others = 0;
    for (int k = 0; k < x->num_axes; k++) {
        if (k == t->vec || k == t->row || k == t->second) continue;
        *at_push(s->arena, &t->outer) = x->axes[k].name;
        others += goes(s, t->stage, k) && reuses(s, t->stage, t->vec, k);
    }
    if (t->second >= 0) AT_TRY(split_rows(t, t->second, false, 1, 1));
    if (t->row >= 0) AT_TRY(split_rows(t, t->row, !others && t->second < 0, 14, 6));
    AT_TRY(split_sums(t));
    AT_TRY(put_in_order(t));
    for (int i = 0; i < t->rows.len; i++)
        AT_TRY(sketch_mark(s, t->leaf, t->rows.data[i], AT_ANN_UNROLL, t->err));
    AT_TRY(sketch_mark(s, t->leaf, t->vector, AT_ANN_VEC, t->err));
    AT_TRY(share_out(t));
    const char *inner = t->middle.len    ? t->middle.data[t->middle.len - 1]
                        : t->guarded.len ? t->guarded.data[t->guarded.len - 1]
                                         : t->outer.data[t->outer.len - 1];
    AT_TRY(put_reader(t, inner));
    *at_push(s->arena, &s->tiles) = (sketch_tile){.stage = t->stage,
                                                  .leaf = t->leaf,
                                                  .vec = t->vec,
                                                  .row = t->row,
                                                  .outer = t->outer.data[0],
                                                  .inner = inner};
    return AT_OK;
}

static void add(const sketch_state *s, int stage, int vec, sketch_states *out, at_error *err) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    tiling t = {.s = sketch_branch(s, at_format(s->arena, "tile_%s", x->axes[vec].name)),
                .stage = stage,
                .vec = vec,
                .row = row_of(s, stage, vec),
                .second = -1,
                .err = err};
    if (t.row >= 0 && s->facts->of[stage].extent[t.row] < MOST_ROWS)
        for (int k = 0; k < x->num_axes; k++)
            if (k != vec && k != t.row && goes(s, stage, k) && reuses(s, stage, vec, k))
                t.second = k;
    if (make(&t) == AT_OK) *at_push(s->arena, out) = t.s;
}

/* Along the axis whose elements the sum's reader stores side by side; another one where that is
 * short. */
static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    bool found = false;
    for (int k = x->num_axes - 1; k >= 0; k--) {
        if (f->extent[k] < LEAST_LANES || !reads_vectors(s, stage, k)) continue;
        bool side_by_side = own_stride(s, stage, k) == 1;
        if (found && (f->extent[k] < 2 * LEAST_LANES || side_by_side)) continue;
        if (found) continue;
        add(s, stage, k, out, err);
        found = true;
    }
}

const sketch_rule at_rule_tile = {
    "tile",
    "a sum in a register tile: its reductions directly around the tile, what reads it beside it",
    applies, apply};
