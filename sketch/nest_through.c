/* sketch/nest_through.c: a block of rows goes through a chain of stages up to a sum, or to a stage
 * that sums nothing, so that what lies between them is as large as the block, and stays in a cache
 * near the core: what that last stage reads of its own row alone stands in the loop of its blocks.
 *
 *     i, j, k => @score = i, j // k
 *     i, j => @most = i // j
 *     i, j => @e = i, j
 *     i, n => @total = i // n
 *     i, d, j => @mixed = i, d // j
 *     i, d => @out = i, d
 *
 * becomes
 *
 *     i0:para =>
 *         j0, i1, k0, k1:unroll, i2:unroll, j1:vec => @score
 *         i1, i2, m0, m1:vec => @most
 *         i1, i2, n0 =>
 *             n1:vec => @e
 *             n1:vec => @total
 *         d0, i1 =>
 *             l0, l1:unroll, i2:unroll, d1:vec => @mixed
 *             i2:unroll, d1:vec => @out
 *
 * Short rows have their @e in loops of its own, as @most is. Stages that read themselves go step by
 * step within the block, each in loops of its own: a softmax by blocks of keys, whose largest
 * elements and sums go on from block to block. */
#include "sketch/nests.h"

typedef struct through {
    sketch_state *s;
    int last, vec, row; /* the stage whose blocks they are; its axes */
    nest_members in;    /* what stands in the loop of the blocks */
    const char *leaf, *block, *rows[AT_TREE_MOST_DIGITS]; /* loops of a block's rows */
    int num_rows;
    bool *is_placed; /* [tensor] in its last place */
} through;

/* ---- which stages ---------------------------------------------------------------------------- */

static const at_tensor *last_of(const through *b) {
    return &b->s->facts->compute->tensors[b->last];
}

/* Whether an axis of the last stage has a loop around the blocks. */
static bool is_outside(const through *b, int k) {
    return k != b->vec && b->s->facts->of[b->last].extent[k] > 1;
}

/* Whether loops over axes of its own suit a stage of the chain. */
static bool has_plain_axes(const through *b, int t) {
    const int vec = tile_vector_of(b->s, t);
    if (b->s->facts->compute->tensors[t].is_output || !nest_may_join(b->s, t)) return false;
    for (int k = 0; k < last_of(b)->num_axes; k++)
        if (vec >= 0 && b->in.axis_of[t][k] == vec && (last_of(b)->num_reduce || k != b->vec))
            return false;
    return true;
}

/* Axes of a stage along which it reads itself elsewhere; 0: it does not read itself. */
static uint32_t moves_of(const through *b, int t) {
    const at_recurrence r = at_recurrence_of(b->s->facts->compute, t);
    uint32_t moves = r.steps | r.beyond;
    for (int k = 0; k < AT_RECURRENCE_AXES; k++)
        if (r.steps >> k & 1) moves |= r.back[k] | r.across[k];
    return moves;
}

/* Whether all that reads a stage stands in the blocks, and needs of it the rows of a block alone.
 */
static bool belongs(through *b, int t) {
    const uint32_t moves = moves_of(b, t);
    if (!nest_is_read_within(&b->in, t)) return false;
    for (int k = 0; k < last_of(b)->num_axes; k++) {
        const int axis = b->in.axis_of[t][k];
        if (is_outside(b, k) && (axis < 0 || moves >> axis & 1)) return false;
    }
    return has_plain_axes(b, t);
}

static void add_reader(through *b) {
    const at_facts *f = b->s->facts;
    const int reader = f->of[b->last].reader;
    if (!f->of[b->last].has_matched_reader) return;
    b->in.is_member[reader] = true;
    for (int k = 0; k < f->compute->tensors[b->last].num_axes; k++)
        b->in.axis_of[reader][k] =
            at_compute_read_axis(b->s->arena, f->compute, f->dissolved, reader, b->last, k);
}

/* The rows of tiles, or, where these are few, the longest axis of such as share what lanes read. */
static int row_of(const through *b) {
    const at_stage_facts *f = &b->s->facts->of[b->last];
    int row = tile_row_of(b->s, b->last, b->vec);
    for (int k = 0; k < b->s->facts->compute->tensors[b->last].num_axes && row >= 0; k++)
        if (k != b->vec && f->extent[row] < TILE_SMALL_AXIS && f->extent[k] > f->extent[row] &&
            tile_reuses(b->s, b->last, b->vec, k))
            row = k;
    return row >= 0 && f->extent[row] >= THROUGH_LEAST_ROWS ? row : -1;
}

/* Lanes and rows of the last stage; false: nothing suits. */
static bool find_axes(through *b) {
    const at_stage_facts *f = &b->s->facts->of[b->last];
    const at_tensor *x = last_of(b);
    if (x->num_reduce) {
        b->vec = tile_vector_of(b->s, b->last);
        b->row = b->vec < 0 || tile_sums_are_short(b->s, b->last) ? -1 : row_of(b);
        return b->row >= 0;
    }
    b->vec = x->num_axes - 1;
    b->row = b->vec - 1;
    return x->is_output && b->row >= 0 && f->extent[b->vec] >= LEAST_LANES &&
           f->extent[b->row] >= THROUGH_LEAST_ROWS && nest_may_join(b->s, b->last) &&
           !sketch_stands_beside(b->s, b->last) && !moves_of(b, b->last);
}

/* Whether a chain ends in the stage; *kept: how many elements lie between its stages. */
static bool find_chain(through *b, double *kept) {
    const at_facts *f = b->s->facts;
    const int n = f->compute->num_tensors, axes = f->compute->tensors[b->last].num_axes;
    bool has_tile = false;
    if (!find_axes(b)) return false;
    for (int k = 0; k < axes; k++)
        if (f->of[b->last].divisor[k]) return false;
    b->is_placed = AT_NEW_ARRAY(b->s->arena, bool, n);
    nest_open_members(&b->in, b->s, b->last);
    add_reader(b);
    *kept = 0;
    for (int t = b->last - 1; t >= 0; t--) {
        b->in.is_member[t] = at_facts_has_leaf(b->s->facts, t) && belongs(b, t);
        has_tile |= b->in.is_member[t] && tile_vector_of(b->s, t) >= 0;
        if (b->in.is_member[t]) *kept += sketch_elements(b->s, t);
    }
    return has_tile;
}

void nest_find_through(const sketch_state *s, int stage, nest_choices *out) {
    through b = {.s = (sketch_state *)s, .last = stage};
    double kept;
    if (s->facts->compute->tensors[stage].num_reduce && find_chain(&b, &kept))
        nest_add(out, last_of(&b)->axes[b.row].name, b.vec)->row = b.row;
}

void nest_find_through_rows(const sketch_state *s, int stage, nest_choices *out) {
    through b = {.s = (sketch_state *)s, .last = stage};
    double kept;
    if (!s->facts->compute->tensors[stage].num_reduce && find_chain(&b, &kept))
        nest_add(out, last_of(&b)->axes[b.row].name, b.vec)->row = b.row;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static const char *name_of(const through *b, int t) {
    return b->s->facts->compute->tensors[t].name;
}

/* The loop of a whole axis, as it was put into the block. */
static const char *loop_of(const through *b, int t, int axis) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    const int now = at_compute_find(b->s->compute, name_of(b, t));
    return at_tree_digits(b->s->tree, now, axis, d) > 0 ? d[0].piece : NULL;
}

/* Whether an axis of a stage goes in loops around the blocks or over their rows, where axes of one
 * element stand, too. */
static bool is_shared(const through *b, int t, int axis) {
    for (int k = 0; k < b->s->facts->compute->tensors[b->last].num_axes; k++)
        if (k != b->vec && b->in.axis_of[t][k] == axis) return true;
    return false;
}

static at_status put_before(const through *b, int t, const char *reader, const char *loop) {
    return sketch_put(b->s, AT_EDIT_NEST, name_of(b, t), true, reader, loop);
}

/* A register tile of an earlier sum over the rows of the block; what is made of its elements stands
 * beside it. */
static at_status make_tile(through *b, int t) {
    static const at_part_limit two = {.vectors = 2};
    static const char lanes[] = "4 8 12 16 24 32 48 64";
    const at_facts *f = b->s->facts;
    const at_tensor *x = &f->compute->tensors[t];
    const int vec = tile_vector_of(b->s, t), last = x->num_axes + x->num_reduce - 1;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    const char *part[2], *sums[2];
    int n = 0;
    AT_TRY(sketch_split_by(b->s, x->name, loop_of(b, t, vec), lanes, two, part));
    AT_TRY(sketch_split_terms(b->s, x->name, loop_of(b, t, last), sums));
    for (int k = 0; k < x->num_axes; k++)
        if (k != vec && !is_shared(b, t, k)) order.names[n++] = loop_of(b, t, k);
    order.names[n++] = part[0];
    for (int i = 0; i + 1 < b->num_rows; i++) order.names[n++] = b->rows[i];
    const char *inner = order.names[n - 1];
    for (int k = x->num_axes; k < last; k++) order.names[n++] = loop_of(b, t, k);
    order.names[n++] = sums[0];
    order.names[n++] = sums[1];
    order.names[n++] = b->rows[b->num_rows - 1];
    order.names[n++] = part[1];
    AT_TRY(sketch_step(b->s, &order));
    AT_TRY(sketch_mark(b->s, x->name, sums[1], AT_ANN_UNROLL));
    AT_TRY(sketch_mark(b->s, x->name, part[1], AT_ANN_VEC));
    *at_push(b->s->arena, &b->s->tiles) = (sketch_tile){.stage = t,
                                                        .leaf = x->name,
                                                        .vec = vec,
                                                        .row = b->in.axis_of[t][b->row],
                                                        .fours = -1,
                                                        .inner = inner};
    const int reader = f->of[t].reader;
    if (!f->of[t].has_matched_reader || !b->in.is_member[reader] || f->of[reader].is_expensive)
        return AT_OK;
    b->is_placed[reader] = true;
    return sketch_put(b->s, AT_EDIT_NEST, name_of(b, reader), false, x->name, inner);
}

/* What a sum adds up as it is made: a stage that sums nothing, each of whose elements the sum takes
 * first of all; -1. Short rows are made first, all rows of a block in one call, and then added up:
 * calls for each row would cost as much as the rows. */
static int summed_of(const through *b, int sum) {
    const at_facts *f = b->s->facts;
    const at_tensor *x = &f->compute->tensors[sum];
    if (x->num_reduce != 1 || f->of[sum].extent[x->num_axes] < THROUGH_LEAST_TERMS) return -1;
    for (int i = 0; i < f->of[sum].num_accesses; i++) {
        const at_access *a = &f->of[sum].access[i];
        const at_tensor *e = &f->compute->tensors[a->tensor];
        if (b->in.is_member[a->tensor] && !b->is_placed[a->tensor] && !e->num_reduce &&
            a->is_bare && sketch_first_reader(b->s, a->tensor, NULL) == sum &&
            sketch_elements(b->s, a->tensor) ==
                sketch_elements(b->s, sum) * (double)f->of[sum].extent[x->num_axes])
            return a->tensor;
    }
    return -1;
}

/* A stage whose last axis is that of the rows, which goes in vectors along these. */
static at_status make_across(through *b, int t) {
    const at_tensor *x = &b->s->facts->compute->tensors[t];
    const char *lanes = b->rows[b->num_rows - 1];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    int n = 0;
    for (int i = 0; i + 1 < b->num_rows; i++) order.names[n++] = b->rows[i];
    for (int k = 0; k < x->num_axes; k++)
        if (!is_shared(b, t, k)) order.names[n++] = loop_of(b, t, k);
    order.names[n++] = lanes;
    AT_TRY(sketch_step(b->s, &order));
    return sketch_mark(b->s, x->name, lanes, AT_ANN_VEC);
}

/* Any other stage: row by row, in vectors along its last axis. */
static at_status make_row(through *b, int t) {
    const at_facts *f = b->s->facts;
    const at_tensor *x = &f->compute->tensors[t];
    const int last = x->num_axes + x->num_reduce - 1;
    const bool has_lanes = !is_shared(b, t, last) && !(moves_of(b, t) >> last & 1) &&
                           f->of[t].extent[last] >= LEAST_ROW_LANES &&
                           (last < x->num_axes || tile_lanes_of(b->s, t) == last);
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    const char *parts[2];
    int n = 0;
    if (!x->num_reduce && b->in.axis_of[t][b->row] == last) return make_across(b, t);
    if (has_lanes) AT_TRY(sketch_split_lanes(b->s, x->name, loop_of(b, t, last), parts));
    for (int i = 0; i < b->num_rows; i++) order.names[n++] = b->rows[i];
    for (int k = 0; k < last + !has_lanes; k++)
        if (!is_shared(b, t, k)) order.names[n++] = loop_of(b, t, k);
    for (int i = 0; i < 2 && has_lanes; i++) order.names[n++] = parts[i];
    AT_TRY(sketch_step(b->s, &order));
    AT_TRY(sketch_mark(b->s, x->name, b->rows[b->num_rows - 1], AT_ANN_NONE));
    if (!has_lanes) return AT_OK;
    AT_TRY(sketch_mark(b->s, x->name, parts[1], AT_ANN_VEC));
    const int summed = x->num_reduce ? summed_of(b, t) : -1;
    if (summed < 0) return AT_OK;
    b->is_placed[summed] = true;
    return put_before(b, summed, x->name, parts[0]);
}

/* How many elements sums read that are the same for each block of rows. */
static double read_again(const through *b) {
    const at_facts *f = b->s->facts;
    double n = 0;
    for (int t = 0; t <= b->last; t++)
        for (int i = 0; b->in.is_member[t] && i < f->of[t].num_accesses; i++) {
            const at_access *x = &f->of[t].access[i];
            if (f->compute->tensors[t].num_reduce && !b->in.is_member[x->tensor] &&
                !x->stride[b->in.axis_of[t][b->row]])
                n += sketch_elements(b->s, x->tensor);
        }
    return n;
}

/* As many tiles below each other as leave the rows of all stages between near. */
static int height_of(const through *b, double kept) {
    double rows = 1;
    for (int k = 0; k < b->s->facts->compute->tensors[b->last].num_axes; k++)
        if (is_outside(b, k)) rows *= (double)b->s->facts->of[b->last].extent[k];
    const double height = FAR_ELEMENTS * rows / kept / THROUGH_ROWS;
    return height < 1 ? 1 : height > THROUGH_MOST_HEIGHT ? THROUGH_MOST_HEIGHT : (int)height;
}

/* Blocks of rows of a last stage that sums nothing. */
static at_status make_blocks(through *b, int height) {
    static const at_split_spec two = {.policy = AT_LISTED, .listed = SKETCH_ROWS},
                               three = {.policy = AT_LISTED, .listed = "pow2 | " SKETCH_ROWS};
    const at_tensor *x = last_of(b);
    const int n = b->s->facts->of[b->last].extent[b->row] > TILE_SMALL_AXIS ? 3 : 2;
    at_part_limit limits[3] = {{0}, {.wide = height, .narrow = height}};
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    const char *rows[3];
    int num = 0;
    limits[n - 1] = (at_part_limit){.wide = THROUGH_ROWS, .narrow = THROUGH_NARROW_ROWS};
    AT_TRY(
        sketch_split(b->s, x->name, x->axes[b->row].name, n, n == 3 ? &three : &two, limits, rows));
    for (int k = 0; k < b->row; k++) order.names[num++] = x->axes[k].name;
    order.names[num++] = rows[0];
    const int outside = num;
    for (int i = 1; i < n; i++) order.names[num++] = rows[i];
    order.names[num] = x->axes[b->vec].name;
    AT_TRY(sketch_step(b->s, &order));
    AT_TRY(sketch_mark(b->s, x->name, rows[n - 1], AT_ANN_UNROLL)); /* as tiles have them */
    b->leaf = x->name;
    return sketch_share_out(b->s, x->name, order.names, outside);
}

/* The last stage's blocks of rows; of a sum also its tile, with columns within these. */
static at_status make_end(through *b, const nest_choice *c, double kept) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    nest_choice own = *c;
    own.rows_first = true;
    own.height = height_of(b, kept);
    if (last_of(b)->num_reduce) {
        AT_TRY(nest_make_tile(b->s, b->last, &own));
        b->leaf = b->s->tiles.data[b->s->tiles.len - 1].leaf;
    } else AT_TRY(make_blocks(b, own.height));
    const int n = at_tree_digits(b->s->tree, at_compute_find(b->s->compute, b->leaf), b->row, d);
    b->block = d[0].piece;
    for (int i = 1; i < n; i++) b->rows[b->num_rows++] = d[i].piece;
    return AT_OK;
}

/* Lanes of a last stage that sums nothing, once others have the rows alone in common with it. */
static at_status make_lanes(through *b) {
    const at_tensor *x = last_of(b);
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    const char *lanes[2];
    if (x->num_reduce) return AT_OK;
    AT_TRY(sketch_split_lanes(b->s, x->name, x->axes[b->vec].name, lanes));
    for (int i = 0; i < b->num_rows; i++) order.names[i] = b->rows[i];
    order.names[b->num_rows] = lanes[0];
    order.names[b->num_rows + 1] = lanes[1];
    AT_TRY(sketch_step(b->s, &order));
    AT_TRY(sketch_mark(b->s, x->name, b->rows[b->num_rows - 1], AT_ANN_NONE));
    return sketch_mark(b->s, x->name, lanes[1], AT_ANN_VEC);
}

/* The last stage's blocks; then all others, from the last to the first, each before the next one;
 * then their loops. */
at_status nest_make_through(sketch_state *s, int stage, const nest_choice *c) {
    through b = {.s = s, .last = stage};
    double kept;
    if (!find_chain(&b, &kept)) AT_BUG("no chain ends in \"%s\"", name_of(&b, stage));
    AT_TRY(make_end(&b, c, kept));
    const char *next = b.leaf;
    for (int t = stage - 1; t >= 0; t--) {
        if (!b.in.is_member[t]) continue;
        AT_TRY(put_before(&b, t, next, b.block));
        next = name_of(&b, t);
    }
    AT_TRY(make_lanes(&b));
    for (int t = stage - 1; t >= 0; t--)
        if (b.in.is_member[t] && tile_vector_of(s, t) >= 0) AT_TRY(make_tile(&b, t));
    for (int t = stage - 1; t >= 0; t--)
        if (b.in.is_member[t] && tile_vector_of(s, t) < 0 && !b.is_placed[t])
            AT_TRY(make_row(&b, t));
    if (kept > FAR_ELEMENTS && kept > read_again(&b)) s->preference.general++;
    return AT_OK;
}
