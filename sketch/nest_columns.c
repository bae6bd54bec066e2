/* sketch/nest_columns.c: a block of columns goes through several stages along whose last axis lanes
 * go, so that what they read is near when the next one reads it again: what a stage reads of its
 * own columns alone stands in the loop of its blocks.
 *
 *     p, k => @most = p // k       {p0}:para, p1 =>
 *     p, k => @place = p // k  ->      most_k0, most_k1:unroll, p2:vec => @most = .. // {..}/k
 *                                      k0, k1:unroll, p2:vec => @place_sum = .. // {k0, k1}/k
 *                                      p2:vec => @place = {p0, p1, p2}/p
 *
 * The last stage may be a sum or not, as in a softmax along channels that come first:
 *
 *     p0:para =>
 *         most_c0, most_c1:unroll, p1:vec => @most = {p0, p1}/p // {most_c0, most_c1}/c
 *         e_c, p1:vec => @e = e_c, {p0, p1}/p
 *         total_c0, total_c1:unroll, p1:vec => @total = {p0, p1}/p // {total_c0, total_c1}/c
 *         c, p1:vec => @out = c, {p0, p1}/p  */
#include "sketch/nests.h"

/* ---- members --------------------------------------------------------------------------------- */

void nest_open_members(nest_members *m, sketch_state *s, int of) {
    const at_compute *c = s->facts->compute;
    const int axes = c->tensors[of].num_axes;
    *m = (nest_members){.s = s,
                        .of = of,
                        .is_member = AT_NEW_ARRAY(s->arena, bool, c->num_tensors),
                        .axis_of = AT_NEW_ARRAY(s->arena, int *, c->num_tensors)};
    for (int t = 0; t < c->num_tensors; t++) m->axis_of[t] = AT_NEW_ARRAY(s->arena, int, axes);
    m->is_member[of] = true;
    for (int k = 0; k < axes; k++) m->axis_of[of][k] = k;
}

/* The axis of a stage that its reader reads where axis k of the blocks is; -1: there is none. */
static int axis_by(const nest_members *m, int reader, int stage, int k) {
    const at_facts *f = m->s->facts;
    const int of = m->axis_of[reader][k];
    for (int d = 0; of >= 0 && d < f->compute->tensors[stage].num_axes; d++)
        if (at_facts_axis_of(m->s->arena, f, reader, stage, d) == of) return d;
    return -1;
}

bool nest_is_read_within(nest_members *m, int stage) {
    const at_compute *c = m->s->facts->compute;
    const bool *reads = sketch_readers(m->s, stage, NULL);
    bool is_read = false;
    for (int r = stage + 1; r < c->num_tensors; r++) {
        if (!reads[r]) continue;
        if (!m->is_member[r]) return false;
        for (int k = 0; k < c->tensors[m->of].num_axes; k++) {
            const int axis = axis_by(m, r, stage, k);
            const bool differs = is_read && axis != m->axis_of[stage][k];
            m->axis_of[stage][k] = differs ? -1 : axis;
        }
        is_read = true;
    }
    return is_read;
}

bool nest_may_stand_beside(const sketch_state *s, int stage) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    if (!at_facts_has_leaf(s->facts, stage) || x->is_packing || x->is_places || f->is_written ||
        f->steps || sketch_is_joined(s, stage) || at_scatter_of(x).axes ||
        tile_list_of(s, stage) >= 0)
        return false;
    for (int k = 0; k < x->num_axes + x->num_reduce; k++)
        if (x->axes[k].begin) return false;
    return true;
}

bool nest_may_join(const sketch_state *s, int stage) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    if (!nest_may_stand_beside(s, stage)) return false;
    for (int k = 0; k < x->num_axes + x->num_reduce; k++)
        if (s->facts->of[stage].divisor[k]) return false;
    return true;
}

/* ---- which stages ---------------------------------------------------------------------------- */

typedef struct columns {
    sketch_state *s;
    int last, vec, row; /* the stage whose blocks they are; its axes; row -1: none */
    nest_members in;
    bool *is_shared;                 /* [axis of the last] goes in loops around all stages */
    const char *leaf, *block, *rows; /* of the last; rows: loop of those of a tile, or NULL */
    const char *lanes;
} columns;

/* Another output of the same points, which reads some of what the last stage does. */
static bool is_beside(columns *b, int t) {
    const at_facts *f = b->s->facts;
    const at_tensor *x = &f->compute->tensors[t], *y = &f->compute->tensors[b->last];
    bool reads_same = false;
    if (!x->is_output || sketch_first_reader(b->s, t, NULL) >= 0 || x->num_axes != y->num_axes)
        return false;
    for (int k = 0; k < x->num_axes; k++) {
        if (f->extents[t][k] != f->extents[b->last][k]) return false;
        b->in.axis_of[t][k] = k;
    }
    for (int u = 0; u < t && !reads_same; u++)
        if (at_facts_has_leaf(f, u)) {
            const bool *reads = sketch_readers(b->s, u, NULL);
            reads_same = reads[t] && reads[b->last];
        }
    return reads_same;
}

/* Has each axis of a stage a loop around the blocks or in the lanes? */
static bool has_axes_of_last(const columns *b, int t) {
    const at_facts *f = b->s->facts;
    int own = 0, found = 0;
    for (int k = 0; k < f->compute->tensors[t].num_axes; k++) own += f->of[t].extent[k] > 1;
    for (int k = 0; k < f->compute->tensors[b->last].num_axes; k++)
        found += b->in.axis_of[t][k] >= 0 && f->of[b->last].extent[k] > 1;
    return own == found;
}

/* The axis of a sum's rows that need the same vectors; -1: there is none. */
static int rows_of(const sketch_state *s, int sum, int vec) {
    const int row = tile_row_of(s, sum, vec);
    return row >= 0 && tile_reuses(s, sum, vec, row) ? row : -1;
}

/* Do tiles of the last stage's rows and lanes suit a sum, and what it reads for a block stays near?
 */
static bool suits(const columns *b, int sum, int vec) {
    const int row = rows_of(b->s, sum, vec);
    return tile_vector_of(b->s, sum) == vec && has_axes_of_last(b, sum) &&
           tile_terms_of(b->s, sum) * TILE_COLUMNS <= FAR_ELEMENTS &&
           (row < 0 || (b->row >= 0 && b->in.axis_of[sum][b->row] == row));
}

/* Would a stage be made again for each turn of a loop over an axis of a last sum, which it lacks?
 */
static bool is_made_again(const columns *b, int t) {
    const at_facts *f = b->s->facts;
    const at_tensor *x = &f->compute->tensors[b->last];
    for (int k = 0; k < x->num_axes && x->num_reduce; k++)
        if (b->in.axis_of[t][k] < 0 && f->of[b->last].extent[k] > 1) return true;
    return false;
}

/* Does a stage that stands in the blocks have lanes along the same axis? */
static bool belongs(columns *b, int t) {
    const at_compute *c = b->s->facts->compute;
    const at_tensor *x = &c->tensors[t];
    if (!nest_may_join(b->s, t) || at_recurrence_of(c, t).steps ||
        (!nest_is_read_within(&b->in, t) && !is_beside(b, t)) || is_made_again(b, t))
        return false;
    const int vec = b->in.axis_of[t][b->vec];
    return vec >= 0 && (x->num_reduce ? suits(b, t, vec) : vec == x->num_axes - 1);
}

/* Which axes of the last stage all sums have, too. */
static void find_shared(columns *b) {
    const at_facts *f = b->s->facts;
    const at_tensor *x = &f->compute->tensors[b->last];
    b->is_shared = AT_NEW_ARRAY(b->s->arena, bool, x->num_axes);
    for (int k = 0; k < x->num_axes; k++) {
        b->is_shared[k] = true;
        for (int t = 0; t < b->last; t++)
            if (b->in.is_member[t] && f->compute->tensors[t].num_reduce)
                b->is_shared[k] &= b->in.axis_of[t][k] >= 0;
    }
}

/* The axis of the last stage's lanes; -1: there is none that suits. */
static int lanes_of(const sketch_state *s, int stage) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const int last = x->num_axes - 1;
    if (last < 0 || !nest_may_join(s, stage)) return -1;
    if (x->num_reduce) return tile_vector_of(s, stage);
    return s->facts->of[stage].extent[last] < LEAST_LANES || sketch_stands_beside(s, stage) ? -1
                                                                                            : last;
}

/* Whether a sum stands in the blocks of a stage that reads it. */
static bool find_columns(columns *b) {
    const at_facts *f = b->s->facts;
    bool has_sum = false;
    b->vec = lanes_of(b->s, b->last);
    if (b->vec < 0) return false;
    b->row = f->compute->tensors[b->last].num_reduce ? rows_of(b->s, b->last, b->vec) : -1;
    nest_open_members(&b->in, b->s, b->last);
    for (int t = b->last - 1; t >= 0; t--) {
        b->in.is_member[t] = belongs(b, t);
        has_sum |= b->in.is_member[t] && f->compute->tensors[t].num_reduce &&
                   sketch_first_reader(b->s, t, NULL) >= 0;
    }
    if (has_sum) find_shared(b);
    return has_sum;
}

void nest_find_columns(const sketch_state *s, int stage, nest_choices *out) {
    columns b = {.s = (sketch_state *)s, .last = stage};
    if (find_columns(&b)) nest_add_axis(out, s, stage, b.vec)->row = b.row;
}

/* ---- loops ----------------------------------------------------------------------------------- */

static const char *name_of(const columns *b, int t) {
    return b->s->facts->compute->tensors[t].name;
}

/* The innermost loop over an axis of a leaf. */
static const char *inner_of(const columns *b, const char *leaf, int axis) {
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    const int n = at_tree_digits(b->s->tree, at_compute_find(b->s->compute, leaf), axis, d);
    return n > 0 ? d[n - 1].piece : NULL;
}

/* The last stage, where it sums nothing: the loops that all have, then its own. */
static at_status make_last(columns *b) {
    const at_tensor *x = &b->s->facts->compute->tensors[b->last];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    const char *parts[2];
    int n = 0, shared = 0;
    AT_TRY(sketch_split_lanes(b->s, x->name, x->axes[b->vec].name, parts));
    for (int own = 0; own < 2; own++) {
        for (int k = 0; k < b->vec; k++)
            if (b->is_shared[k] != own) order.names[n++] = x->axes[k].name;
        if (!own) order.names[n++] = parts[0], shared = n;
    }
    order.names[n] = parts[1];
    AT_TRY(sketch_step(b->s, &order));
    AT_TRY(sketch_mark(b->s, x->name, parts[1], AT_ANN_VEC));
    b->leaf = x->name;
    b->block = parts[0];
    b->lanes = parts[1];
    return sketch_share_out(b->s, x->name, order.names, shared);
}

static bool is_shared(const columns *b, int t, int axis) {
    for (int k = 0; k < b->s->facts->compute->tensors[b->last].num_axes; k++)
        if (b->is_shared[k] && b->in.axis_of[t][k] == axis) return true;
    return false;
}

/* The tile of a sum within a block, as packing knows it; an output copies its sum. */
static at_status keep_tile(columns *b, int t) {
    const at_tensor *x = &b->s->facts->compute->tensors[t];
    const char *leaf = x->is_output ? sketch_fresh_of(b->s, x->name, "sum") : x->name;
    if (x->is_output) AT_TRY(sketch_copy_sum(b->s, x->name, leaf));
    *at_push(b->s->arena, &b->s->tiles) =
        (sketch_tile){.stage = t,
                      .leaf = leaf,
                      .vec = b->in.axis_of[t][b->vec],
                      .row = b->row < 0 ? -1 : b->in.axis_of[t][b->row],
                      .fours = -1,
                      .inner = b->block};
    return AT_OK;
}

/* The loops of a stage within a block: its own, then those of its tile. */
static at_status make_loops(columns *b, int t) {
    const at_tensor *x = &b->s->facts->compute->tensors[t];
    const int last = x->num_axes + x->num_reduce - 1;
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = x->name};
    const char *sums[2] = {NULL};
    int n = 0;
    if (x->num_reduce) AT_TRY(sketch_split_terms(b->s, x->name, inner_of(b, x->name, last), sums));
    for (int k = 0; k <= last - (x->num_reduce > 0); k++)
        if (!is_shared(b, t, k)) order.names[n++] = inner_of(b, x->name, k);
    for (int i = 0; i < 2 && x->num_reduce; i++) order.names[n++] = sums[i];
    if (b->rows) order.names[n++] = b->rows;
    order.names[n] = b->lanes;
    if (n) AT_TRY(sketch_step(b->s, &order));
    if (b->rows) AT_TRY(sketch_mark(b->s, x->name, b->rows, AT_ANN_UNROLL));
    if (sums[1]) AT_TRY(sketch_mark(b->s, x->name, sums[1], AT_ANN_UNROLL));
    AT_TRY(sketch_mark(b->s, x->name, b->lanes, AT_ANN_VEC));
    return x->num_reduce ? keep_tile(b, t) : AT_OK;
}

/* The last stage's own loops; then all others, from the last to the first, each before what reads
 * it first, or before the last where nothing does; then their loops. */
at_status nest_make_columns(sketch_state *s, int stage, const nest_choice *c) {
    columns b = {.s = s, .last = stage};
    if (!find_columns(&b)) AT_BUG("no columns end in \"%s\"", name_of(&b, stage));
    if (s->facts->compute->tensors[stage].num_reduce) {
        AT_TRY(nest_make_tile(s, stage, c));
        const sketch_tile *tile = &s->tiles.data[s->tiles.len - 1];
        b.leaf = tile->leaf;
        b.block = tile->inner;
        b.lanes = inner_of(&b, b.leaf, b.vec);
        b.rows = b.row < 0 ? NULL : inner_of(&b, b.leaf, b.row);
    } else AT_TRY(make_last(&b));
    for (int t = stage - 1; t >= 0; t--) {
        const int reader = b.in.is_member[t] ? sketch_first_reader(s, t, NULL) : -1;
        if (b.in.is_member[t])
            AT_TRY(sketch_put(s, AT_EDIT_NEST, name_of(&b, t), true,
                              reader < 0 || reader == stage ? b.leaf : name_of(&b, reader),
                              b.block));
    }
    for (int t = stage - 1; t >= 0; t--)
        if (b.in.is_member[t]) AT_TRY(make_loops(&b, t));
    return AT_OK;
}
