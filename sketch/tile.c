/* sketch/tile.c: a register tile of one sum: its loops and what stands beside it. */
#include "sketch/tile.h"

enum { SMALL_AXIS = 32 }; /* two levels are enough of it */

typedef struct tiling {
    sketch_state *s;
    const char *name[AT_FACTS_MAX_AXES]; /* of the loop that is tiled: the axis', or its groups' */
    int stage;
    tile_axes axes;
    const char *leaf;
    const char *phase[AT_FACTS_MAX_AXES]; /* loop of an axis' phases; NULL: it has none */
    AT_VEC(const char *) columns, outer, phases, guarded, blocks, middle, sums, rows;
    const char *vector;
    const char *lanes_outer; /* of lanes along a reduction: what is left of it */
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
                     .other = at_text_take(t->s->arena, &size),
                     .names = {group, within}};
        AT_TRY(sketch_step(t->s, &e, t->err));
        bool is_phase = t->s->facts->of[t->stage].is_phase[k];
        t->name[k] = is_phase ? group : within;
        t->phase[k] = is_phase ? within : NULL;
        if (is_phase && k < x->num_axes) *at_push(t->s->arena, &t->phases) = within;
        if (!is_phase && k == t->axes.vec) *at_push(t->s->arena, &t->columns) = group;
        else if (!is_phase && k < x->num_axes) *at_push(t->s->arena, &t->outer) = group;
        if (!is_phase && k >= x->num_axes) *at_push(t->s->arena, &t->sums) = group;
    }
    return AT_OK;
}

static bool is_dot(const tiling *t) {
    return t->axes.vec >= t->s->facts->compute->tensors[t->stage].num_axes;
}

/* Partial sums side by side: lanes are a part of a reduction. */
static at_status split_lanes(tiling *t) {
    static const at_part_limit limits[] = {{0}, {.vectors = 1}};
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "4 8 16 32 64"};
    const char *parts[2];
    AT_TRY(sketch_split(t->s, t->leaf, t->name[t->axes.vec], 2, &spec, limits, parts, t->err));
    t->lanes_outer = parts[0];
    t->vector = parts[1];
    return AT_OK;
}

/* Register tiles are whole vectors wide, and as high as registers suffice for; sizes need not
 * divide. */
static at_status split_vector(tiling *t) {
    if (is_dot(t)) return split_lanes(t);
    int64_t extent = t->s->facts->of[t->stage].inner[t->axes.vec];
    int n = extent > 2 * SMALL_AXIS ? 3 : 2;
    static const at_part_limit three[] = {{0}, {.wide = 4, .narrow = 4}, {.vectors = 2}},
                               two[] = {{0}, {.vectors = 2}};
    static const char sizes[] = "4 8 12 16 24 32 48 64";
    at_split_spec spec = {.policy = AT_LISTED,
                          .listed = n == 3 ? at_format(t->s->arena, "pow2 | %s", sizes) : sizes};
    const char *parts[3];
    if (is_grouped(t, t->axes.vec)) spec = within_groups;
    AT_TRY(sketch_split(t->s, t->leaf, t->name[t->axes.vec], n, &spec, n == 3 ? three : two, parts,
                        t->err));
    *at_push(t->s->arena, &t->columns) = parts[0];
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
    if (tile_is_guarded(t->s, t->stage, axis)) *at_push(t->s->arena, &t->guarded) = parts[0];
    else *at_push(t->s->arena, &t->outer) = parts[0];
    /* Rows go round inside columns: what a column needs of the weights stays near. */
    if (n == 3) *at_push(t->s->arena, &t->middle) = parts[1];
    *at_push(t->s->arena, &t->rows) = parts[n - 1];
    return AT_OK;
}

/* One reduction: whole, or a little of it unrolled, or blocks of that outside of the tiles. */
static at_status split_sum(tiling *t, int axis, bool is_last) {
    static const at_part_limit limits[] = {{0}, {.wide = 1, .narrow = 1}},
                               blocked[] = {
                                   {0}, {.wide = 256, .narrow = 256}, {.wide = 1, .narrow = 1}};
    static const at_split_spec spec = {.policy = AT_FACTORS, .filter = "last <= 16"};
    const char *parts[3] = {t->name[axis]};
    int n = !is_last ? 1 : axis == t->axes.blocked ? 3 : 2;
    if (n > 1)
        AT_TRY(sketch_split(t->s, t->leaf, t->name[axis], n, &spec, n == 3 ? blocked : limits,
                            parts, t->err));
    if (n == 3) *at_push(t->s->arena, &t->blocks) = parts[0];
    for (int i = n == 3; i < n; i++) *at_push(t->s->arena, &t->sums) = parts[i];
    if (t->phase[axis]) *at_push(t->s->arena, &t->sums) = t->phase[axis];
    return AT_OK;
}

/* The reductions as they stand; the last one that is long enough is unrolled a little. */
static at_status split_sums(tiling *t) {
    const at_tensor *x = &t->s->facts->compute->tensors[t->stage];
    const int64_t *extent = t->s->facts->of[t->stage].inner;
    int last = -1;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        if (extent[k] >= 4 && k != t->axes.vec) last = k;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++) {
        if (k == t->axes.unrolled) continue;
        if (k == t->axes.vec) *at_push(t->s->arena, &t->sums) = t->lanes_outer;
        else AT_TRY(split_sum(t, k, k == last));
    }
    if (last >= 0 && last != t->axes.unrolled)
        AT_TRY(sketch_mark(t->s, t->leaf, t->sums.data[t->sums.len - 1], AT_ANN_UNROLL, t->err));
    if (t->axes.unrolled < 0) return AT_OK;
    for (int i = 0; i < t->sums.len && t->axes.all; i++)
        AT_TRY(sketch_mark(t->s, t->leaf, t->sums.data[i], AT_ANN_UNROLL, t->err));
    *at_push(t->s->arena, &t->sums) = t->name[t->axes.unrolled];
    return sketch_mark(t->s, t->leaf, t->name[t->axes.unrolled], AT_ANN_UNROLL, t->err);
}

static at_status put_in_order(tiling *t) {
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = t->leaf};
    int n = 0;
#define ADD(list)                                                                                  \
    for (int i = 0; i < t->list.len && n < AT_EDIT_MAX_NAMES; i++) e.names[n++] = t->list.data[i]
    if (!t->axes.rows_first) ADD(columns);
    ADD(outer);
    ADD(phases);
    ADD(guarded);
    if (t->axes.rows_first) ADD(columns);
    ADD(blocks);
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
    for (int i = 0; i < t->columns.len && !t->axes.rows_first && n < AT_EDIT_MAX_NAMES; i++)
        e.names[n++] = t->columns.data[i];
    for (int i = 0; i < t->outer.len && n < AT_EDIT_MAX_NAMES; i++) e.names[n++] = t->outer.data[i];
    if (!n) return AT_OK;
    AT_TRY(sketch_mark(t->s, t->leaf, e.names[0], AT_ANN_PARA, t->err));
    return n > 1 ? sketch_step(t->s, &e, t->err) : AT_OK;
}

/* The last loop around the tile and what stands beside it; around all tiles of a block. */
static const char *innermost(const tiling *t) {
    const char *inner = NULL;
#define LAST_OF(list)                                                                              \
    if (t->list.len) inner = t->list.data[t->list.len - 1]
    LAST_OF(columns);
    LAST_OF(outer);
    LAST_OF(phases);
    LAST_OF(guarded);
    if (t->axes.rows_first) LAST_OF(columns);
    if (!t->blocks.len) LAST_OF(middle);
#undef LAST_OF
    return inner;
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
    if (is_dot(t)) return AT_OK; /* its sums are joined where they are stored */
    const char *sum = sketch_fresh(t->s, at_format(t->s->arena, "%s_sum", x->name));
    at_edit e = {.kind = AT_EDIT_COPY, .stage = x->name, .copy = AT_COPY_WRITE, .names = {sum}};
    t->leaf = sum;
    return sketch_step(t->s, &e, t->err);
}

/* What reads a panel of sums goes over it as the tiles did. */
static at_status order_reader(tiling *t) {
    const at_facts *f = t->s->facts;
    const at_stage_facts *x = &f->of[t->stage];
    int reader = x->has_matched_reader ? x->reader : t->stage, n = 0;
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = f->compute->tensors[reader].name};
    for (int i = 0; i < t->middle.len; i++) e.names[n++] = t->middle.data[i];
    for (int i = 0; i < t->rows.len; i++) e.names[n++] = t->rows.data[i];
    e.names[n] = t->vector;
    return sketch_step(t->s, &e, t->err);
}

static at_status make(tiling *t) {
    const at_tensor *x = &t->s->facts->compute->tensors[t->stage];
    sketch_state *s = t->s;
    t->leaf = x->name;
    AT_TRY(split_groups(t));
    AT_TRY(split_vector(t));
    int others = 0;
    for (int shared = 0; shared < 2; shared++) /* what needs the same vectors again, inside */
        for (int k = 0; k < x->num_axes; k++) {
            bool is_shared = tile_reuses(s, t->stage, t->axes.vec, k);
            if (k == t->axes.vec || k == t->axes.row || k == t->axes.second) continue;
            if (is_shared != shared) continue;
            *at_push(s->arena, &t->outer) = t->name[k];
            others += tile_goes(s, t->stage, k) && is_shared;
        }
    int wide = is_dot(t) ? 4 : 14, narrow = is_dot(t) ? 2 : 6, second = is_dot(t) ? 3 : 1;
    if (t->axes.second >= 0) AT_TRY(split_rows(t, t->axes.second, false, second, second));
    if (t->axes.row >= 0)
        AT_TRY(split_rows(t, t->axes.row, !others && t->axes.second < 0, wide, narrow));
    AT_TRY(split_sums(t));
    AT_TRY(put_in_order(t));
    for (int i = 0; i < t->rows.len; i++)
        AT_TRY(sketch_mark(s, t->leaf, t->rows.data[i], AT_ANN_UNROLL, t->err));
    AT_TRY(sketch_mark(s, t->leaf, t->vector, AT_ANN_VEC, t->err));
    AT_TRY(share_out(t));
    const char *inner = innermost(t);
    AT_TRY(put_reader(t, inner));
    if (t->blocks.len) AT_TRY(order_reader(t));
    *at_push(s->arena, &s->tiles) = (sketch_tile){.stage = t->stage,
                                                  .leaf = t->leaf,
                                                  .vec = t->axes.vec,
                                                  .row = t->axes.row,
                                                  .outer = t->columns.len ? t->columns.data[0]
                                                           : t->outer.len ? t->outer.data[0]
                                                                          : NULL,
                                                  .inner = inner};
    return AT_OK;
}

bool sketch_tile_add(const sketch_state *s, int stage, const char *word, const tile_axes *axes,
                     sketch_states *out, at_error *err) {
    tiling t = {.s = sketch_branch(s, word), .stage = stage, .axes = *axes, .err = err};
    if (make(&t) != AT_OK) return false;
    *at_push(s->arena, out) = t.s;
    return true;
}
