/* sketch/nest_blocks.c: what lies along another axis than it is written along. Elements of a row
 * are read far apart then, and of each line that is read one is used. In blocks of both axes all of
 * a line is used while it is near. A plain copy is turned round in registers (tile_transpose.c),
 * and its blocks follow each other as their source lies:
 *
 *     i, j => @out = x[j, i]    ->    j0:para, i0, j1, i1, j2 => @out = {i0, i1}/i, {j0, j1, j2}/j
 *
 * What else is calculated of such elements reads a copy of the block, which is turned that way:
 *
 *     j0:para, i0 =>
 *         i1, j1 => @x_packed
 *         i1, j1:vec => @out = {i0, i1}/i, {j0, j1}/j
 *
 * Where a sum that is stored so has tiles that go row by row, what is read of it is turned behind
 * the tiles of each row, while it is near:
 *
 *     h:para =>
 *         w0, f0 => ... @s = h, {w0, w1}/w, {f0, f1}/f // k
 *         w2, f2 =>
 *             f3, w3 => @s_packed
 *             f3, w3:vec => @out = {f2, f3}/f, h, {w2, w3}/w  */
#include <stdlib.h>
#include <string.h>

#include "sketch/nests.h"

/* An axis along which what is read lies side by side, though it is not the last one; -1: none. A
 * step along the last axis goes over at least a block's side of these elements. */
static int loaded_of(const sketch_state *s, int stage, const at_access *x) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int last = t->num_axes - 1, found = -1;
    if (!x->known || at_tensor_has_entries(&s->facts->compute->tensors[x->tensor]) ||
        llabs(x->stride[last]) < BLOCK_LEAST_SIDE || f->divisor[last] ||
        f->extent[last] < BLOCK_LEAST_SIDE)
        return -1;
    for (int k = 0; k < last; k++)
        if (x->stride[k] == 1 && f->inner[k] >= BLOCK_LEAST_SIDE && !f->is_phase[k]) found = k;
    return found;
}

/* Is nothing calculated, also in what is dissolved on the way? */
static bool is_copy(const at_facts *f, const at_expr *e) {
    if (e->op != AT_X_INDEX || at_tensor_has_entries(&f->compute->tensors[e->ref])) return false;
    return !f->of[e->ref].is_dissolved || is_copy(f, f->compute->tensors[e->ref].body);
}

/* The sum that a tensor is, or that makes it in the same tile; -1: there is none. */
static int sum_of(const sketch_state *s, int tensor) {
    if (s->facts->compute->tensors[tensor].num_reduce) return tensor;
    for (int t = tensor - 1; t >= 0; t--)
        if (s->facts->compute->tensors[t].num_reduce && s->facts->of[t].has_matched_reader &&
            s->facts->of[t].reader == tensor)
            return t;
    return -1;
}

/* The last one of the axes outside of a sum's tiles. Each has to be an axis of what reads a tensor
 * that the tiles make, of the same name, so that loops over it are for both; -1: one is not, or
 * there are none. */
static int row_outside(const sketch_state *s, int stage, int tensor, const nest_choice *tile) {
    const int of_sum = sum_of(s, tensor);
    const at_tensor *all = s->facts->compute->tensors, *sum = &all[of_sum];
    int found = -1;
    for (int k = 0; k < sum->num_axes; k++) {
        const int of = at_facts_axis_of(s->arena, s->facts, stage, tensor, k);
        if (of < 0 || s->facts->of[of_sum].divisor[k]) return -1;
        if (k == tile->vec || k == tile->row) continue;
        if (strcmp(all[stage].axes[of].name, sum->axes[k].name)) return -1;
        if (s->facts->extents[of_sum][k] > 1) found = k;
    }
    return found;
}

/* A tile with rows along one axis, of a sum that the stage alone reads, or what is made of it
 * beside it. The sum is too large to stay near, and a row of its tiles is not. Returns the axis
 * along which the tiles and their reader go row by row; -1: there is none. */
static int find_tile_by_rows(const sketch_state *s, int stage, const at_access *x,
                             nest_choice *tile) {
    const int sum = sum_of(s, x->tensor);
    if (sum < 0) return -1;
    const at_tensor *t = &s->facts->compute->tensors[x->tensor];
    const at_stage_facts *made = &s->facts->of[x->tensor], *f = &s->facts->of[sum];
    nest_choices tiles = {.num = 0};
    if (t->is_output || made->num_readers != 1 || made->reader != stage || f->steps ||
        at_scatter_of(&s->facts->compute->tensors[sum]).axes ||
        sketch_elements(s, sum) <= FAR_ELEMENTS)
        return -1;
    nest_find_tile(s, sum, &tiles);
    *tile = tiles.of[0];
    if (!tiles.num || tile->groups || tile->row < 0 || tile->second >= 0 ||
        tile_third_of(s, sum, tile->vec, tile->row, -1) >= 0 ||
        f->extent[tile->vec] * f->extent[tile->row] > FAR_ELEMENTS)
        return -1;
    tile->rows_first = tile->by_rows = true;
    return row_outside(s, stage, x->tensor, tile);
}

void nest_find_blocks(const sketch_state *s, int stage, nest_choices *out) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int turned = 0; /* the first access that is read so */
    if (t->num_reduce || t->is_packing || sketch_stands_beside(s, stage)) return;
    while (turned < f->num_accesses && loaded_of(s, stage, &f->access[turned]) < 0) turned++;
    if (turned == f->num_accesses) return;
    if (is_copy(s->facts, t->body))
        nest_read(nest_add_axis(out, s, stage, t->num_axes - 1), turned, READ_TURNED);
    nest_read(nest_add_axis(out, s, stage, t->num_axes - 1), turned, READ_NEAR);
    const at_access *x = &f->access[turned];
    nest_choice tile;
    if (f->divisor[loaded_of(s, stage, x)] || find_tile_by_rows(s, stage, x, &tile) < 0) return;
    nest_choice *c = nest_add_axis(out, s, stage, t->num_axes - 1);
    nest_read(c, turned, is_copy(s->facts, t->body) ? READ_TURNED : READ_NEAR);
    c->with[c->num_with++] = sum_of(s, x->tensor);
}

/* ---- loops ----------------------------------------------------------------------------------- */

typedef struct block {
    sketch_state *s;
    int stage, access, loaded;
    const char *row[2], *column[3]; /* parts of the axis along which it is read, of the last one */
    int num_columns;
    const char *outer[AT_EDIT_MAX_NAMES]; /* loops of the other axes, and the first column */
    int num_outer;
} block;

/* Loops outside of a block, as they move the source: the furthest outermost. */
static void find_outer(block *b) {
    const at_tensor *t = &b->s->facts->compute->tensors[b->stage];
    const at_access *x = &b->s->facts->of[b->stage].access[b->access];
    int64_t stride[AT_EDIT_MAX_NAMES];
    for (int i = 0; i < b->num_outer; i++) stride[i] = INT64_MAX; /* groups of what is loaded */
    for (int k = 0; k < t->num_axes; k++) {
        if (k == b->loaded) continue;
        int64_t own = llabs(x->stride[k]);
        int at = b->num_outer++;
        for (; at > 0 && own > stride[at - 1]; at--) {
            stride[at] = stride[at - 1];
            b->outer[at] = b->outer[at - 1];
        }
        stride[at] = own;
        b->outer[at] = k < t->num_axes - 1 ? t->axes[k].name : b->column[0];
    }
}

/* Elements of a block's row, in whole squares that registers turn round: of as many times more as
 * they have fewer bits. */
static at_part_limit side_of(const block *b) {
    enum { SIDE = 16, SQUARE = 4 };
    const int times = at_type_per_lane(b->s->facts->compute->tensors[b->stage].type),
              side = SIDE * times;
    return (at_part_limit){.wide = side, .narrow = side, .square = SQUARE * times};
}

/* Where an index divides the axis that is read along, the axis is in groups, and a block stays in
 * one group. */
static at_status split_rows(block *b) {
    static const at_split_spec any = {.policy = AT_LISTED, .listed = "4 8 16 32 64 128 256"},
                               divides = {.policy = AT_FACTORS, .filter = "last <= 256"};
    const at_part_limit limits[] = {{0}, side_of(b)};
    const at_tensor *t = &b->s->facts->compute->tensors[b->stage];
    const char *loop = t->axes[b->loaded].name, *group;
    bool has_groups = b->s->facts->of[b->stage].divisor[b->loaded] != NULL;
    if (has_groups) {
        AT_TRY(sketch_split_groups(b->s, b->stage, b->loaded, &group, &loop));
        b->outer[b->num_outer++] = group;
    }
    return sketch_split(b->s, t->name, loop, 2, has_groups ? &divides : &any, limits, b->row);
}

static at_status split_columns(block *b, bool two_levels) {
    const at_tensor *t = &b->s->facts->compute->tensors[b->stage];
    int last = t->num_axes - 1;
    const at_part_limit side = side_of(b), three[] = {{0}, {.wide = 1, .narrow = 1}, side},
                        two[] = {{0}, side};
    b->num_columns =
        two_levels && b->s->facts->of[b->stage].extent[last] > BLOCK_SMALL_AXIS ? 3 : 2;
    at_split_spec spec = {.policy = AT_LISTED,
                          .listed =
                              b->num_columns == 3 ? "pow2 | 4 8 16 32 64" : "4 8 16 32 64 128"};
    return sketch_split(b->s, t->name, t->axes[last].name, b->num_columns, &spec,
                        b->num_columns == 3 ? three : two, b->column);
}

/* Blocks, which threads share out; the loops inside of one stand as they are to. */
static at_status make_blocks(block *b, bool is_copied) {
    const char *stage = b->s->facts->compute->tensors[b->stage].name;
    AT_TRY(split_columns(b, !is_copied));
    AT_TRY(split_rows(b));
    find_outer(b);
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = stage};
    int n = 0;
    for (; n < b->num_outer; n++) order.names[n] = b->outer[n];
    order.names[n++] = b->row[0];
    if (b->num_columns == 3) order.names[n++] = b->column[1];
    order.names[n++] = b->row[1];
    order.names[n] = b->column[b->num_columns - 1];
    AT_TRY(sketch_step(b->s, &order));
    return sketch_share_out(b->s, stage, b->outer, b->num_outer);
}

/* Each block is copied for the stage, whose columns are vectors then. */
static at_status copy_blocks(block *b) {
    const at_stage_facts *f = &b->s->facts->of[b->stage];
    const char *stage = b->s->facts->compute->tensors[b->stage].name, *name, *first;
    int last = b->s->facts->compute->tensors[b->stage].num_axes - 1;
    for (int i = 0; i < f->num_accesses; i++) {
        if (loaded_of(b->s, b->stage, &f->access[i]) != b->loaded) continue;
        AT_TRY(sketch_copy_blocks(b->s, stage, b->stage, last, i, &name, &first));
        AT_TRY(sketch_put(b->s, AT_EDIT_JOIN, name, true, stage, b->row[0]));
    }
    return sketch_mark(b->s, stage, b->column[b->num_columns - 1], AT_ANN_VEC);
}

/* The loops of a block. The loops along which the sum's tiles go stand outside of them. */
static at_status order_by_rows(block *b, int tensor, const nest_choice *tile) {
    const at_tensor *t = &b->s->facts->compute->tensors[b->stage];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(split_columns(b, false));
    AT_TRY(split_rows(b));
    for (int k = 0; k < b->s->facts->compute->tensors[tensor].num_axes; k++)
        if (k != tile->vec && k != tile->row)
            order.names[n++] =
                t->axes[at_facts_axis_of(b->s->arena, b->s->facts, b->stage, tensor, k)].name;
    order.names[n++] = b->column[0];
    order.names[n++] = b->row[0];
    order.names[n++] = b->row[1];
    order.names[n] = b->column[1];
    return sketch_step(b->s, &order);
}

/* The tiles of the sum, and behind each row of tiles its blocks, which are copied first. */
static at_status make_behind_tiles(block *b, bool is_copied) {
    sketch_state *s = b->s;
    const char *stage = s->facts->compute->tensors[b->stage].name, *copy, *first;
    const at_access *x = &s->facts->of[b->stage].access[b->access];
    const int of_sum = sum_of(s, x->tensor);
    const at_tensor *sum = &s->facts->compute->tensors[of_sum];
    nest_choice tile;
    const int row = find_tile_by_rows(s, b->stage, x, &tile);
    if (row < 0) AT_BUG("\"%s\" has no tile", sum->name);
    AT_TRY(order_by_rows(b, x->tensor, &tile));
    if (is_copied)
        AT_TRY(sketch_copy_blocks(s, stage, b->stage,
                                  s->facts->compute->tensors[b->stage].num_axes - 1, b->access,
                                  &copy, &first));
    AT_TRY(nest_make_tile(s, of_sum, &tile));
    AT_TRY(sketch_put(s, AT_EDIT_JOIN, stage, false, sum->name, sum->axes[row].name));
    if (!is_copied) return AT_OK;
    AT_TRY(sketch_put(s, AT_EDIT_JOIN, copy, true, stage, b->row[0]));
    return sketch_mark(s, stage, b->column[1], AT_ANN_VEC);
}

at_status nest_make_blocks(sketch_state *s, int stage, const nest_choice *c) {
    block b = {.s = s, .stage = stage, .access = c->read[0].access};
    const bool is_copied = c->read[0].how == READ_NEAR;
    b.loaded = loaded_of(s, stage, &s->facts->of[stage].access[b.access]);
    if (c->num_with) return make_behind_tiles(&b, is_copied);
    AT_TRY(make_blocks(&b, is_copied));
    return is_copied ? copy_blocks(&b) : AT_OK;
}
