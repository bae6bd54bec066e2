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

enum { MOST_ROWS = 28, LEAST_LANES = 4 };
enum { SMALL_AXIS = 32 }; /* two levels are enough of it */

/* ---- which axes ------------------------------------------------------------------------------ */

static bool goes(const sketch_state *s, int stage, int axis) {
    return s->facts->of[stage].inner[axis] > 1;
}

/* Whether a copy in blocks would be read several times: there is an axis that does not move it. */
static bool is_worth_packing(const sketch_state *s, int stage, const at_access *x) {
    const at_compute *c = s->facts->compute;
    if (!x->is_bare || c->tensors[x->tensor].role == AT_ROLE_STAGE) return false;
    for (int k = 0; k < c->tensors[stage].num_axes; k++)
        if (goes(s, stage, k) && x->stride[k] == 0) return true;
    return c->tensors[x->tensor].role == AT_ROLE_WEIGHT;
}

/* Lanes along the axis read what lies side by side, or the same; or they would of a copy. */
static bool reads_vectors(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (!x->known) return false;
        if (x->stride[axis] != 0 && x->stride[axis] != 1 && !is_worth_packing(s, stage, x))
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

/* The axis of the lanes: the last one that is long enough; -1: none. */
static int vector_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    for (int k = t->num_axes - 1; k >= 0; k--)
        if (s->facts->of[stage].inner[k] >= LEAST_LANES && reads_vectors(s, stage, k)) return k;
    return -1;
}

static rule_verdict applies(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    if (!t->num_reduce) return RULE_SKIP;
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (t->axes[k].begin) return RULE_SKIP; /* bounds from data */
    return vector_of(s, stage) < 0 ? RULE_SKIP : RULE_APPLY_ALONE;
}

/* ---- the tile -------------------------------------------------------------------------------- */

typedef struct tiling {
    sketch_state *s;
    const char *name[AT_FACTS_MAX_AXES]; /* of the loop that is tiled: the axis', or its groups' */
    int stage, vec, row, second;         /* axes; -1: none */
    int unrolled; /* a short reduction, the innermost and written out; -1: none */
    const char *leaf;
    const char *phase[AT_FACTS_MAX_AXES]; /* loop of an axis' phases; NULL: it has none */
    AT_VEC(const char *) outer, phases, guarded, middle, sums, rows;
    const char *vector;
    at_error *err;
} tiling;

static bool is_grouped(const tiling *t, int axis) {
    return t->s->facts->of[t->stage].divisor[axis] != NULL;
}

/* A part of a part has no tail of its own. */
static const at_split_spec within_groups = {.policy = AT_FACTORS, .filter = "last <= 64"};

/* An axis that an index divides becomes groups and what is within them; or what goes on and its
 * phases, which stand outside of the tile, so that conditions on them fold. */
static at_status split_groups(tiling *t) {
    const at_tensor *x = &t->s->facts->compute->tensors[t->stage];
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
        t->name[k] = x->axes[k].name;
        if (!is_grouped(t, k)) continue;
        at_text size = {0};
        at_expr_print(&size, t->s->facts->of[t->stage].divisor[k]);
        const char *group = sketch_fresh(t->s, at_format(t->s->arena, "%s_g", x->axes[k].name)),
                   *within = sketch_fresh(t->s, at_format(t->s->arena, "%s_i", x->axes[k].name));
        at_edit e = {.kind = AT_EDIT_SPLIT,
                     .stage = t->leaf,
                     .loop = x->axes[k].name,
                     .other = at_strdup(t->s->arena, at_text_str(&size)),
                     .names = {group, within}};
        at_text_free(&size);
        AT_TRY(sketch_step(t->s, &e, t->err));
        bool is_phase = t->s->facts->of[t->stage].is_phase[k];
        t->name[k] = is_phase ? group : within;
        t->phase[k] = is_phase ? within : NULL;
        if (is_phase && k < x->num_axes) *at_push(t->s->arena, &t->phases) = within;
        if (!is_phase && k < x->num_axes) *at_push(t->s->arena, &t->outer) = group;
        if (!is_phase && k >= x->num_axes) *at_push(t->s->arena, &t->sums) = group;
    }
    return AT_OK;
}

/* Register tiles are whole vectors wide, and as high as registers suffice for; sizes need not
 * divide. */
static at_status split_vector(tiling *t) {
    int64_t extent = t->s->facts->of[t->stage].inner[t->vec];
    int n = extent > 2 * SMALL_AXIS ? 3 : 2;
    static const at_part_limit three[] = {{0}, {.wide = 4, .narrow = 4}, {.vectors = 2}},
                               two[] = {{0}, {.vectors = 2}};
    static const char sizes[] = "4 8 12 16 24 32 48 64";
    at_split_spec spec = {.policy = AT_LISTED,
                          .listed = n == 3 ? at_format(t->s->arena, "pow2 | %s", sizes) : sizes};
    const char *parts[3];
    if (is_grouped(t, t->vec)) spec = within_groups;
    AT_TRY(sketch_split(t->s, t->leaf, t->name[t->vec], n, &spec, n == 3 ? three : two, parts,
                        t->err));
    *at_push(t->s->arena, &t->outer) = parts[0];
    if (n == 3) *at_push(t->s->arena, &t->middle) = parts[1];
    t->vector = parts[n - 1];
    return AT_OK;
}

static at_status split_rows(tiling *t, int axis, bool several_levels, int wide, int narrow) {
    int64_t extent = t->s->facts->of[t->stage].inner[axis];
    int n = several_levels && extent > SMALL_AXIS ? 3 : 2;
    at_part_limit limits[3] = {{0}, {.wide = 8, .narrow = 8}};
    static const char sizes[] = "1 2 3 4 5 6 7 8 10 12 13 14 16 20 24 28";
    at_split_spec spec = {.policy = AT_LISTED,
                          .listed = n == 3 ? at_format(t->s->arena, "pow2 | %s", sizes) : sizes};
    const char *parts[3];
    limits[n - 1] = (at_part_limit){.wide = wide, .narrow = narrow};
    if (is_grouped(t, axis)) spec = within_groups;
    AT_TRY(sketch_split(t->s, t->leaf, t->name[axis], n, &spec, limits, parts, t->err));
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
    const int64_t *extent = t->s->facts->of[t->stage].inner;
    int last = -1;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        if (extent[k] >= 4) last = k;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++) {
        static const at_part_limit limits[] = {{0}, {.wide = 1, .narrow = 1}};
        const char *parts[2] = {t->name[k], NULL};
        if (k == t->unrolled) continue;
        static const at_split_spec spec = {.policy = AT_FACTORS, .filter = "last <= 16"};
        if (k == last)
            AT_TRY(sketch_split(t->s, t->leaf, t->name[k], 2, &spec, limits, parts, t->err));
        *at_push(t->s->arena, &t->sums) = parts[0];
        if (parts[1]) *at_push(t->s->arena, &t->sums) = parts[1];
        if (t->phase[k]) *at_push(t->s->arena, &t->sums) = t->phase[k];
    }
    if (last >= 0 && last != t->unrolled)
        AT_TRY(sketch_mark(t->s, t->leaf, t->sums.data[t->sums.len - 1], AT_ANN_UNROLL, t->err));
    if (t->unrolled < 0) return AT_OK;
    *at_push(t->s->arena, &t->sums) = t->name[t->unrolled];
    return sketch_mark(t->s, t->leaf, t->name[t->unrolled], AT_ANN_UNROLL, t->err);
}

static at_status put_in_order(tiling *t) {
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = t->leaf};
    int n = 0;
#define ADD(list)                                                                                  \
    for (int i = 0; i < t->list.len && n < AT_EDIT_MAX_NAMES; i++) e.names[n++] = t->list.data[i]
    ADD(outer);
    ADD(phases);
    ADD(guarded);
    ADD(middle);
    ADD(sums);
    ADD(rows);
#undef ADD
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
    AT_TRY(split_groups(t));
    AT_TRY(split_vector(t));
    int others = 0;
    for (int k = 0; k < x->num_axes; k++) {
        if (k == t->vec || k == t->row || k == t->second) continue;
        *at_push(s->arena, &t->outer) = t->name[k];
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
                        : t->phases.len  ? t->phases.data[t->phases.len - 1]
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

/* A short reduction beside a longer one, such as the width of a kernel; -1: none. */
static int short_sum(const sketch_state *s, int stage) {
    enum { SHORT = 7 };
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int found = -1;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        if (f->extent[k] > 1 && f->extent[k] <= SHORT && !f->divisor[k]) found = k;
    return x->num_reduce > 1 ? found : -1;
}

static void add(const sketch_state *s, int stage, int vec, int unrolled, sketch_states *out,
                at_error *err) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const char *word = at_format(s->arena, "tile_%s", x->axes[vec].name);
    if (unrolled >= 0) word = at_format(s->arena, "%s+unroll_%s", word, x->axes[unrolled].name);
    tiling t = {.s = sketch_branch(s, word),
                .stage = stage,
                .vec = vec,
                .row = row_of(s, stage, vec),
                .second = -1,
                .unrolled = unrolled,
                .err = err};
    if (t.row >= 0 && s->facts->of[stage].inner[t.row] < MOST_ROWS)
        for (int k = 0; k < x->num_axes; k++)
            if (k != vec && k != t.row && goes(s, stage, k) && reuses(s, stage, vec, k))
                t.second = k;
    if (make(&t) == AT_OK) *at_push(s->arena, out) = t.s;
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    int vec = vector_of(s, stage), unrolled = short_sum(s, stage);
    add(s, stage, vec, -1, out, err);
    if (unrolled >= 0) add(s, stage, vec, unrolled, out, err);
}

const sketch_rule at_rule_tile = {
    "tile",
    "a sum in a register tile: its reductions directly around the tile, what reads it beside it",
    applies, apply};
