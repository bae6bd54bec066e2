/* sketch/tile.c: a register tile of one sum: its loops and what stands beside it. */
#include "schedule/access.h"
#include "sketch/nests.h"

#include <stdlib.h>
#include <string.h>

static bool is_grouped(const tiling *t, int axis) {
    return t->s->facts->of[t->stage].divisor[axis] != NULL;
}

/* A part of a part has no tail of its own. */
static const at_split_spec within_groups = {.policy = AT_FACTORS, .filter = "last <= 144"};

/* Of the groups of the lanes' axis so many that lanes go through them. */
static at_status split_through(tiling *t, const char *group) {
    const int inner = (int)t->s->facts->of[t->stage].inner[t->choice.vec];
    const at_part_limit several = {.wide = 16 / inner, .narrow = 8 / inner};
    const char *parts[2];
    AT_TRY(sketch_split_by(t->s, t->leaf, group, "1 2 4 8", several, parts));
    *at_push(t->s->arena, &t->columns) = parts[0];
    t->group = parts[1];
    return AT_OK;
}

/* Lanes go through so many whole rows, which lie behind each other. */
static at_status split_beside(tiling *t) {
    const at_stage_facts *f = &t->s->facts->of[t->stage];
    const int axis = t->choice.beside;
    const int64_t length = f->extent[t->choice.vec];
    const char *parts[2];
    AT_TRY(sketch_split_by(t->s, t->leaf, t->name[axis], "1 2 3 4 7 8 14 16 28",
                           (at_part_limit){.wide = tile_joined_rows(length, NARROW_LANES),
                                           .narrow = tile_joined_rows(length, NARROW_FIRST_LANES)},
                           parts));
    *at_push(t->s->arena, &t->outer) = parts[0];
    *at_push(t->s->arena, &t->loops) = (tile_loop){parts[0], axis};
    t->group = parts[1];
    t->vector = t->name[t->choice.vec];
    return AT_OK;
}

/* An axis that an index divides becomes groups and what is within them; or what goes on and its
 * phases, which stand outside of the tile, so that conditions on them fold. */
static at_status split_groups(tiling *t) {
    const at_tensor *x = &t->s->facts->compute->tensors[t->stage];
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) {
        t->name[k] = x->axes[k].name;
        if (!is_grouped(t, k) || sketch_is_step(t->s, t->stage, k)) continue;
        const char *group, *within;
        AT_TRY(sketch_split_groups(t->s, t->stage, k, &group, &within));
        bool is_phase = t->s->facts->of[t->stage].is_phase[k];
        t->name[k] = is_phase ? group : within;
        t->phase[k] = is_phase ? within : NULL;
        if (is_phase && k < x->num_axes) *at_push(t->s->arena, &t->phases) = within;
        if (k == t->choice.vec && t->choice.groups) AT_TRY(split_through(t, group));
        else if (!is_phase && k == t->choice.vec) *at_push(t->s->arena, &t->columns) = group;
        else if (!is_phase && k < x->num_axes) *at_push(t->s->arena, &t->outer) = group;
        if (!is_phase && k >= x->num_axes) *at_push(t->s->arena, &t->sums) = group;
    }
    return AT_OK;
}

/* The terms of a dot product are a loop of their own. */
static at_status split_fours(tiling *t) {
    const at_compute *c = t->s->facts->compute;
    const int k = t->choice.fours, terms = tile_dot_terms(c, &c->tensors[t->stage]);
    if (k < 0) return AT_OK;
    return sketch_split_sized(t->s, t->leaf, t->name[k], at_format(t->s->arena, "%d", terms),
                              &t->name[k], &t->fours);
}

/* The sum of each part of a reduction is a stage of its own, which is tiled; what had its name adds
 * them up. A part's sums lie together. */
static at_status share_sum(tiling *t) {
    static const at_split_spec spec = {.policy = AT_FACTORS, .filter = "first <= 64 && last <= 16"};
    const at_tensor *x = &t->s->facts->compute->tensors[t->stage];
    int k = t->choice.blocked, n = 0,
        blocks = (int)(t->s->facts->of[t->stage].extent[k] / SHARED_PARTS / SHARED_STEPS);
    const at_part_limit limits[] = {{0},
                                    {.wide = blocks, .narrow = blocks},
                                    {.wide = SHARED_STEPS, .narrow = SHARED_STEPS},
                                    {.wide = 1, .narrow = 1}};
    const char *parts[4], *name = sketch_fresh_of(t->s, x->name, "parts");
    AT_TRY(sketch_split(t->s, t->leaf, t->name[k], 4, &spec, limits, parts));
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->leaf, .names = {[0] = parts[0]}};
    for (int i = 0; i < x->num_axes + x->num_reduce; i++)
        if (i != k) order.names[++n] = t->name[i];
    for (int i = 0; i < 3; i++) order.names[++n] = t->rest[i] = parts[i + 1];
    AT_TRY(sketch_step(t->s, &order));
    AT_TRY(sketch_make(t->s, AT_EDIT_FACTOR, t->leaf, NULL, parts[0], name));
    t->part = parts[0];
    t->leaf = name;
    const at_tensor *made = &t->s->compute->tensors[at_compute_find(t->s->compute, name)];
    const char *lies = made->axes[x->num_axes].name;
    for (int i = 0; i < x->num_axes; i++)
        lies = at_format(t->s->arena, "%s %s", lies, made->axes[i].name);
    return sketch_attribute(t->s, name, at_format(t->s->arena, "[order %s]", lies));
}

/* The lanes of dot products: partial sums side by side along the last part of the reduction. */
static at_status split_lanes(tiling *t) {
    static const at_part_limit one = {.vectors = 1};
    const char *parts[2], *loop = t->name[t->choice.vec];
    AT_TRY(sketch_split_by(t->s, t->leaf, loop, "4 8 16 32 64", one, parts));
    t->lanes_outer = parts[0];
    t->vector = parts[1];
    return AT_OK;
}

/* Pixels that lie some multiple of 2 KB apart take each other's places in the first-level cache,
 * and short runs of stores to them are slow. Where lanes have no operand in common, as in a
 * depthwise convolution, a tile may be as wide as it takes. So may one row of short sums, which
 * cost less than a call of the tile. */
static bool may_be_wide(const tiling *t, int64_t extent) {
    const nest_choice *c = &t->choice;
    if (c->row < 0 && c->second < 0 && extent > 2 * TILE_COLUMNS) {
        const double terms = tile_terms_of(t->s, t->stage);
        if (terms > 0 && terms <= SHORT_SUM_TERMS) return true;
    }
    return extent >= TILE_FAR_APART && !tile_shares_operand(t->s, t->stage, c->vec);
}

/* Rows of which data decide by themselves which terms count are each a tile of its own. */
static bool is_by_data(const tiling *t, int axis) {
    const at_compute *c = t->s->facts->compute;
    return at_axes_by_data(c, c->tensors[t->stage].body) >> axis & 1;
}

/* Do conditions cut lanes along an axis? */
static bool is_cut(const tiling *t, int axis) {
    const at_expr *body = t->s->facts->compute->tensors[t->stage].body;
    return tile_is_guarded(t->s, t->stage, axis) ||
           (body->op == AT_X_SELECT && at_expr_axes(body->arg[0]) >> axis & 1);
}

/* Do columns stand beside each other in rows that come from beyond the caches near the core, once
 * for all of them, while what all columns need for a row stays in the nearest cache? */
static bool shares_far_rows(const tiling *t) {
    const at_stage_facts *f = &t->s->facts->of[t->stage];
    const int row = t->choice.row, vec = t->choice.vec;
    const double terms = tile_terms_of(t->s, t->stage);
    if (row < 0 || terms <= 0 || terms * (double)f->inner[vec] > COLUMNS_MOST_SHARED) return false;
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[row] && !f->access[i].stride[vec] &&
            sketch_is_far(t->s, f->access[i].tensor))
            return true;
    return false;
}

/* Register tiles are whole vectors wide, and as high as registers suffice for; sizes need not
 * divide. */
static at_status split_vector(tiling *t) {
    if (tile_is_dot(t)) return split_lanes(t);
    if (t->choice.beside >= 0) return split_beside(t);
    if (t->choice.groups) {
        t->vector = t->name[t->choice.vec];
        return AT_OK;
    }
    int64_t extent = t->s->facts->of[t->stage].inner[t->choice.vec];
    const int few = shares_far_rows(t) ? TILE_SMALL_AXIS : 2 * TILE_SMALL_AXIS;
    int n = extent > few ? 3 : 2;
    static const at_part_limit three[] = {{0}, {.wide = 4, .narrow = 4}, {.vectors = 2}},
                               two[] = {{0}, {.vectors = 2}};
    const char *sizes = "4 8 12 16 24 32 48 64";
    if (may_be_wide(t, extent)) sizes = at_format(t->s->arena, "%s 96 128 192 256", sizes);
    at_split_spec spec = {.policy = AT_LISTED,
                          .listed = n == 3 ? at_format(t->s->arena, "pow2 | %s", sizes) : sizes};
    const char *parts[3];
    at_part_limit limits[3];
    memcpy(limits, n == 3 ? three : two, sizeof *limits * (size_t)n);
    /* Where all of the sum is written out, a wide tile only reads what lies side by side; so does
     * one whose rows are tiles of their own. */
    if (t->choice.all || (t->choice.row >= 0 && is_by_data(t, t->choice.row)))
        limits[n - 1].vectors = 4;
    if (t->choice.num_with && t->choice.row >= 0) limits[n - 1].vectors = 1;
    limits[n - 1].cut = is_cut(t, t->choice.vec);
    /* Each row has a pointer, so there are few rows; they are as wide as registers suffice for. */
    if (nest_has_pointers(&t->choice)) limits[n - 1] = (at_part_limit){.wide = 64, .narrow = 16};
    if (is_grouped(t, t->choice.vec)) spec = within_groups;
    AT_TRY(sketch_split(t->s, t->leaf, t->name[t->choice.vec], n, &spec, limits, parts));
    *at_push(t->s->arena, &t->columns) = parts[0];
    *at_push(t->s->arena, &t->loops) = (tile_loop){parts[0], t->choice.vec};
    if (n == 3) *at_push(t->s->arena, &t->middle) = t->column = parts[1];
    t->vector = parts[n - 1];
    return AT_OK;
}

/* Does each row along an axis read vectors of its own, in pages of its own? Blocks of such rows
 * inside of the columns share nothing, and read a little of each of many pages. */
static bool reads_far_apart(const tiling *t, int axis) {
    const at_stage_facts *f = &t->s->facts->of[t->stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[t->choice.vec] && llabs(f->access[i].stride[axis]) < PAGE_ELEMENTS)
            return false;
    return true;
}

static at_status split_rows(tiling *t, int axis, bool several_levels, int wide, int narrow) {
    int64_t extent = t->s->facts->of[t->stage].inner[axis];
    int n = several_levels && extent > TILE_SMALL_AXIS ? 3 : 2;
    at_part_limit limits[3] = {{0}, {.wide = 8, .narrow = 8}};
    const char *sizes = nest_has_pointers(&t->choice)
                            ? "1 2 3 4 5 6 7" /* a tile has few pointers */
                            : SKETCH_ROWS;
    at_split_spec spec = {.policy = AT_LISTED,
                          .listed = n == 3 ? at_format(t->s->arena, "pow2 | %s", sizes) : sizes};
    const char *parts[3];
    if (reads_far_apart(t, axis)) limits[1] = (at_part_limit){.wide = 1, .narrow = 1};
    if (t->choice.height)
        limits[1] = (at_part_limit){.wide = t->choice.height, .narrow = t->choice.height};
    limits[n - 1] = (at_part_limit){.wide = wide, .narrow = narrow};
    if (is_by_data(t, axis)) limits[n - 1] = (at_part_limit){.wide = 1, .narrow = 1};
    if (is_grouped(t, axis)) spec = within_groups;
    AT_TRY(sketch_split(t->s, t->leaf, t->name[axis], n, &spec, limits, parts));
    if (tile_is_guarded(t->s, t->stage, axis) && !nest_has_pointers(&t->choice))
        *at_push(t->s->arena, &t->guarded) = parts[0];
    else *at_push(t->s->arena, &t->shared) = parts[0];
    *at_push(t->s->arena, &t->loops) = (tile_loop){parts[0], axis};
    /* The rows of a block stand inside its columns, so that the weights of a column stay near. */
    if (n == 3) *at_push(t->s->arena, &t->middle) = parts[1];
    *at_push(t->s->arena, &t->rows) = parts[n - 1];
    return AT_OK;
}

/* The axis with fewer rows becomes the inner loop, so that tiles go down it: a tile shares more
 * with the one above it than with the one beside it. */
static void turn(tiling *t) {
    for (int i = 0; i + 1 < t->guarded.len; i++) {
        const char *next = t->guarded.data[i + 1];
        t->guarded.data[i + 1] = t->guarded.data[i];
        t->guarded.data[i] = next;
    }
}

static bool hides(const at_expr *e, const void *axis) {
    return (e->op == AT_X_MIN || e->op == AT_X_MAX) && at_expr_reads(e) &&
           at_expr_uses(e, *(const int *)axis);
}

/* Does the axis move an index whose bound an entry of an index tensor moves, too? Addresses are
 * known then for steps that are written out. */
static bool is_hidden(const tiling *t, int axis) {
    return at_expr_find_index(t->s->facts->compute->tensors[t->stage].body, hides, &axis);
}

/* One reduction: whole, or a little of it unrolled, or blocks of it outside of the tiles. */
static at_status split_sum(tiling *t, int axis, bool is_last) {
    static const at_part_limit one[] = {{0}, {.wide = 1, .narrow = 1}},
                               few[] = {{0}, {.wide = 4, .narrow = 4}},
                               written[] = {{0}, {.wide = 8, .narrow = 8}},
                               blocked[] = {
                                   {0}, {.wide = 256, .narrow = 256}, {.wide = 1, .narrow = 1}};
    static const at_split_spec spec = {.policy = AT_FACTORS, .filter = "last <= 16"};
    const char *parts[3] = {t->name[axis]};
    int n = !is_last ? 1 : axis == t->choice.blocked ? 3 : 2;
    if (n == 3 && t->part) memcpy(parts, t->rest, sizeof parts);
    else if (n > 1)
        AT_TRY(sketch_split(t->s, t->leaf, t->name[axis], n, &spec,
                            n == 3               ? blocked
                            : is_hidden(t, axis) ? written
                            : t->choice.groups   ? few
                                                 : one,
                            parts));
    if (n == 3) {
        *at_push(t->s->arena, &t->blocks) = parts[0];
        *at_push(t->s->arena, &t->loops) = (tile_loop){parts[0], axis};
    }
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
        if (extent[k] >= 4 && k != t->choice.vec) last = k;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++) {
        if (k == t->choice.unrolled && t->phase[k]) *at_push(t->s->arena, &t->sums) = t->phase[k];
        if (k == t->choice.unrolled) continue;
        if (k == t->choice.vec) *at_push(t->s->arena, &t->sums) = t->lanes_outer;
        else AT_TRY(split_sum(t, k, k == last));
    }
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        if (extent[k] > 1 && extent[k] < 4 && k != t->choice.unrolled && is_hidden(t, k))
            AT_TRY(sketch_mark(t->s, t->leaf, t->name[k], AT_ANN_UNROLL));
    if (last >= 0 && last != t->choice.unrolled)
        AT_TRY(sketch_mark(t->s, t->leaf, t->sums.data[t->sums.len - 1], AT_ANN_UNROLL));
    if (t->choice.unrolled < 0) return AT_OK;
    for (int i = 0; i < t->sums.len && t->choice.all; i++)
        AT_TRY(sketch_mark(t->s, t->leaf, t->sums.data[i], AT_ANN_UNROLL));
    *at_push(t->s->arena, &t->sums) = t->name[t->choice.unrolled];
    return sketch_mark(t->s, t->leaf, t->name[t->choice.unrolled], AT_ANN_UNROLL);
}

typedef struct loop_names {
    const char *data[AT_EDIT_MAX_NAMES];
    int len;
} loop_names;

/* The loops outside of the tiles, in their order. */
static loop_names outside(const tiling *t) {
    loop_names n = {.len = 0};
#define ADD(list)                                                                                  \
    for (int i = 0; i < t->list.len && n.len < AT_EDIT_MAX_NAMES; i++)                             \
    n.data[n.len++] = t->list.data[i]
    if (t->part) n.data[n.len++] = t->part;
    if (!t->choice.rows_first) ADD(columns);
    ADD(outer);
    if (t->choice.panels) ADD(blocks);
    ADD(shared);
    ADD(inside);
    ADD(phases);
    ADD(guarded);
    if (t->choice.rows_first) ADD(columns);
    return n;
}

static at_status put_in_order(tiling *t) {
    at_edit e = {.kind = AT_EDIT_ORDER, .stage = t->leaf};
    loop_names n = outside(t);
    if (!t->choice.panels) ADD(blocks);
    ADD(middle);
    ADD(sums);
    ADD(rows);
#undef ADD
    if (n.len + 2 >= AT_EDIT_MAX_NAMES) return AT_E_INPUT;
    for (int i = 0; i < n.len; i++) e.names[i] = n.data[i];
    if (t->group) e.names[n.len++] = t->group;
    e.names[n.len] = t->vector;
    e.names[n.len + 1] = t->fours;
    return sketch_step(t->s, &e);
}

typedef enum loop_move { MOVES, STAYS, ONCE /* a loop that runs once */ } loop_move;

static loop_move move_of(const tiling *t, const char *loop, const at_access *x) {
    for (int k = 0; k < t->loops.len; k++) {
        int axis = t->loops.data[k].axis;
        if (strcmp(t->loops.data[k].name, loop)) continue;
        if (!tile_goes(t->s, t->stage, axis)) return ONCE;
        return x->stride[axis] ? MOVES : STAYS;
    }
    return MOVES;
}

/* The innermost of the loops outside that moves an access: what is copied there stays for all tiles
 * inside; NULL: none. */
static const char *place_of(const tiling *t, int access) {
    const at_access *x = &t->s->facts->of[t->stage].access[access];
    const loop_names all = outside(t);
    int place = all.len - 1;
    while (place >= 0 && move_of(t, all.data[place], x) != MOVES) place--;
    if (place < 0) return NULL;
    while (place + 1 < all.len && move_of(t, all.data[place + 1], x) == ONCE) place++;
    return all.data[place];
}

static bool is_place(const tiling *t, const char *loop) {
    for (int i = 0; i < t->choice.num_reads && nest_copies(&t->choice); i++) {
        const char *place = place_of(t, t->choice.read[i].access);
        if (place && !strcmp(place, loop)) return true;
    }
    return false;
}

/* Is it a loop over the tiles of a row? */
static bool is_along_row(const tiling *t, const char *loop) {
    for (int i = 0; i < t->loops.len; i++)
        if (!strcmp(t->loops.data[i].name, loop)) return t->loops.data[i].axis == t->choice.row;
    return false;
}

/* The outer loops are shared out among threads, down to the first in which something is copied, or
 * stands behind tiles. */
static at_status share_out(tiling *t) {
    int n = 0, most = t->choice.panels ? t->columns.len + t->outer.len : AT_EDIT_MAX_NAMES;
    bool goes_on = true;
    const loop_names all = outside(t);
    int apart = nest_copies(&t->choice) ? 0 : t->phases.len + t->guarded.len;
    if (t->choice.rows_first) apart += t->columns.len;
    if (all.len - apart < most) most = all.len - apart;
    if (t->part) most = 1;
    while (n < most && goes_on) {
        if (t->choice.by_rows && is_along_row(t, all.data[n])) break;
        goes_on = !is_place(t, all.data[n++]);
    }
    return sketch_share_out(t->s, t->leaf, all.data, n);
}

/* The last loop around the tile and what stands beside it; around all tiles of a block. */
static const char *innermost(const tiling *t) {
    const loop_names all = outside(t);
    int n = all.len;
    if (t->choice.panels) n = t->columns.len + t->outer.len;
    else if (!t->blocks.len && !t->choice.late && t->middle.len)
        return t->middle.data[t->middle.len - 1];
    return n ? all.data[n - 1] : NULL;
}

/* What the leaf reads by an access is copied in the order of use for all tiles that share it. */
static at_status copy_near(tiling *t, int access) {
    const char *loop = place_of(t, access), *name, *first;
    if (!loop) return AT_E_INPUT;
    AT_TRY(sketch_copy_blocks(t->s, t->leaf, t->stage, t->choice.vec, access, &name, &first));
    return sketch_put(t->s, AT_EDIT_JOIN, name, true, t->leaf, loop);
}

static at_status read_by_pointers(tiling *t, int access) {
    sketch_state *s = t->s;
    int tensor = s->facts->of[t->stage].access[access].tensor;
    const char *text =
        at_format(s->arena, "[pointers %s]", s->facts->compute->tensors[tensor].name);
    return sketch_attribute(s, t->leaf, text);
}

/* Operands that are not read as they lie. */
static at_status read_operands(tiling *t) {
    for (int i = 0; i < t->choice.num_reads; i++) {
        const operand_read *r = &t->choice.read[i];
        AT_TRY(r->how == READ_POINTERS ? read_by_pointers(t, r->access) : copy_near(t, r->access));
    }
    return AT_OK;
}

/* Axes that are no part of the tile; axes that need the same vectors again stand inside, and so do,
 * in the order of memory, those behind rows that lead. Returns how many axes need vectors again. */
static int put_outside(tiling *t, int third) {
    sketch_state *s = t->s;
    const nest_choice *c = &t->choice;
    const bool leads = c->rows_first && tile_rows_lead(s, t->stage, c->vec, c->row);
    int num_shared = 0;
    for (int shared = 0; shared < 2; shared++)
        for (int k = 0; k < s->facts->compute->tensors[t->stage].num_axes; k++) {
            bool is_shared = tile_reuses(s, t->stage, c->vec, k);
            if (k == c->vec || k == c->row || k == c->second || k == third || k == c->beside)
                continue;
            if (is_shared != shared || sketch_is_step(s, t->stage, k)) continue;
            if (is_shared) *at_push(s->arena, &t->shared) = t->name[k];
            else if (k > c->row && leads) *at_push(s->arena, &t->inside) = t->name[k];
            else *at_push(s->arena, &t->outer) = t->name[k];
            *at_push(s->arena, &t->loops) = (tile_loop){t->name[k], k};
            num_shared += tile_goes(s, t->stage, k) && is_shared;
        }
    return num_shared;
}

/* As many rows as registers, or pointers, suffice for. */
static at_status split_all_rows(tiling *t) {
    const nest_choice *c = &t->choice;
    const bool is_dot = tile_is_dot(t);
    const int third = nest_copies(c) || c->beside >= 0
                          ? -1
                          : tile_third_of(t->s, t->stage, c->vec, c->row, c->second),
              num_shared = put_outside(t, third), second = is_dot ? 3 : 1;
    int wide = is_dot ? 4 : nest_has_pointers(c) ? 7 : 14, narrow = is_dot ? 2 : 6;
    if (c->num_with) { /* each sum has as many registers, rows of one vector */
        wide = 2 * wide / (1 + c->num_with);
        narrow = 2 * narrow / (1 + c->num_with);
    }
    if (third >= 0) AT_TRY(split_rows(t, third, false, 1, 1));
    if (c->second >= 0) AT_TRY(split_rows(t, c->second, false, second, second));
    if (c->row >= 0) AT_TRY(split_rows(t, c->row, !num_shared && c->second < 0, wide, narrow));
    if (c->all) turn(t);
    return AT_OK;
}

/* The loops of the sum itself. */
static at_status make_loops(tiling *t) {
    AT_TRY(split_groups(t));
    AT_TRY(split_fours(t));
    if (t->choice.shared_out) AT_TRY(share_sum(t));
    AT_TRY(split_vector(t));
    AT_TRY(split_all_rows(t));
    AT_TRY(split_sums(t));
    AT_TRY(put_in_order(t));
    for (int i = 0; i < t->rows.len; i++)
        AT_TRY(sketch_mark(t->s, t->leaf, t->rows.data[i], AT_ANN_UNROLL));
    if (!t->group) AT_TRY(sketch_mark(t->s, t->leaf, t->vector, AT_ANN_VEC));
    return t->fours ? sketch_mark(t->s, t->leaf, t->fours, AT_ANN_DOT) : AT_OK;
}

static at_status store_dense(sketch_state *s, const char *stage) {
    static const char text[] = "[dense]";
    for (const sketch_edit *e = s->last; e; e = e->before)
        if (e->edit.kind == AT_EDIT_ATTRIBUTE && !strcmp(e->edit.stage, stage) &&
            !strcmp(e->edit.other, text))
            return AT_OK;
    return sketch_attribute(s, stage, text);
}

/* Rows that are longer than a register would be stored apart: those of sums, and of stages that
 * lanes go along. */
static at_status keep_close(tiling *t) {
    const at_facts *all = t->s->facts;
    const at_stage_facts *f = &all->of[t->stage];
    AT_TRY(store_dense(t->s, t->leaf));
    for (int i = 0; i < f->num_accesses; i++) {
        const at_tensor *of = &all->compute->tensors[f->access[i].tensor];
        if (of->role == AT_ROLE_STAGE && !of->is_output && f->access[i].stride[t->choice.vec])
            AT_TRY(store_dense(t->s, of->name));
    }
    return AT_OK;
}

/* The loops of groups and of what is within one, or of rows beside each other, become lanes
 * together, of the sums and of what stands beside them. */
static at_status join_groups(tiling *t) {
    const at_stage_facts *f = &t->s->facts->of[t->stage];
    const int reader = f->has_matched_reader ? f->reader : t->stage;
    const char *stages[] = {t->leaf, t->s->facts->compute->tensors[reader].name},
               *lanes[] = {t->group, t->vector};
    for (int i = 0; i < 2 && t->group; i++) {
        AT_TRY(sketch_fuse(t->s, stages[i], lanes, 2));
        AT_TRY(sketch_mark(t->s, stages[i], t->group, AT_ANN_VEC));
    }
    return t->group && t->choice.beside >= 0 && f->extent[t->choice.vec] >= NARROW_LANES
               ? keep_close(t)
               : AT_OK;
}

at_status nest_make_tile(sketch_state *s, int stage, const nest_choice *c) {
    tiling t = {
        .s = s, .stage = stage, .leaf = s->facts->compute->tensors[stage].name, .choice = *c};
    const sketch_edit *first = s->last;
    t.choice.fours = tile_fours_of(s, stage, c->vec);
    AT_TRY(make_loops(&t));
    for (int i = 0; i < c->num_with; i++)
        AT_TRY(sketch_sum_beside(s, t.leaf, c->with[i], t.sums.data[t.sums.len - 2], first));
    AT_TRY(share_out(&t));
    const char *inner = innermost(&t);
    AT_TRY(t.part ? tile_join_parts(&t) : tile_put_readers(&t, inner));
    AT_TRY(join_groups(&t));
    AT_TRY(tile_ask_ahead(&t));
    if (!t.part && (t.blocks.len || c->late)) AT_TRY(tile_order_reader(&t));
    AT_TRY(read_operands(&t));
    tile_keep(&t, -1, t.leaf, inner);
    return AT_OK;
}
