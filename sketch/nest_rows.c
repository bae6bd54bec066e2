/* sketch/nest_rows.c: whole computations row by row, while each row is near: one more sketch.
 *
 * rows: what reads reductions of a row, such as softmax, and the reductions; single numbers of a
 * row are worked out once; and what is summed next is summed as it is made:
 *
 *     i, k => @most = i // k         i0:para =>
 *     i, j => @e = i, j                  k0, i1:unroll, k1:vec => @most = {i0, i1}/i // {k0, k1}/k
 *     i, n => @total = i // n            n0 =>
 *     i, j => @out = i, j        ->          i1:unroll, n1:vec => @e = {i0, i1}/i, {n0, n1}/j
 *                                            i1:unroll, n1:vec => @total = {i0, i1}/i // {n0, n1}/n
 *                                        j0, i1:unroll, j1:vec => @out = {i0, i1}/i, {j0, j1}/j
 *
 * row_by_row: short sums, each of which reads windows along a row of the one before; of what is
 * between them a row at a time is kept, near the core:
 *
 *     h, w, r => @a = h, w // r          h:para =>
 *     h, w, q => @out = h, w // q            a_w0, r:unroll, a_w1:vec =>
 *                                                @a = h, {a_w0, a_w1}/w // r
 *                                ->          w0, q:unroll, w1:vec => @out = h, {w0, w1}/w // q  */
#include "sketch/nests.h"

/* ---- rows: which stages ---------------------------------------------------------------------- */

typedef struct rows {
    sketch_state *s;
    int last, num;             /* the last stage; how many axes all stages have in common */
    bool *has_leaf;            /* [tensor] */
    const char *outer, *inner; /* loops over the last of those axes; inner NULL: it is not split */
    at_error *err;
} rows;

static bool is_packed(const at_compute *c, int t) { return c->tensors[t].is_packing; }

/* The first stage with a leaf that reads it, through what has none; -1: none. */
static int first_reader(const rows *r, int tensor) {
    const at_compute *c = r->s->facts->compute;
    bool *passes = AT_NEW_ARRAY(r->s->arena, bool, c->num_tensors),
         *reads = AT_NEW_ARRAY(r->s->arena, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        passes[t] = c->tensors[t].role == AT_ROLE_STAGE && !r->has_leaf[t];
    at_compute_reach(c, passes, tensor, reads);
    for (int t = tensor + 1; t <= r->last; t++)
        if (r->has_leaf[t] && reads[t]) return t;
    return -1;
}

/* Whether a stage's axes are the first ones of the last, and both count the same elements. */
static bool has_rows_of(const at_facts *f, int stage, int last) {
    const at_tensor *t = &f->compute->tensors[stage], *r = &f->compute->tensors[last];
    if (t->num_axes > r->num_axes) return false;
    for (int k = 0; k < t->num_axes; k++)
        if (f->extents[stage][k] != f->extents[last][k]) return false;
    return true;
}

/* A number of a row that others would work out for each of their elements. */
static bool is_number_of_row(const rows *r, int stage) {
    const at_compute *c = r->s->facts->compute;
    const at_tensor *t = &c->tensors[stage];
    if (t->num_axes != r->num || !has_rows_of(r->s->facts, stage, r->last)) return false;
    int reader = first_reader(r, stage);
    return reader >= 0 && c->tensors[reader].num_axes + c->tensors[reader].num_reduce > r->num;
}

/* Does a stage read, element by element, what leaves as well? */
static bool has_marks(const rows *r) {
    const at_compute *c = r->s->facts->compute;
    for (int t = 0; t < r->last; t++)
        if (r->has_leaf[t] && c->tensors[t].is_output && first_reader(r, t) >= 0) return true;
    return false;
}

/* Which stages have leaves, and how many axes these have in common; false: there is no such row. */
static bool find_rows(rows *r) {
    const at_facts *f = r->s->facts;
    const at_compute *c = f->compute;
    int sums = 0;
    r->last = -1;
    r->has_leaf = AT_NEW_ARRAY(r->s->arena, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++)
        if (f->of[t].is_stage && !is_packed(c, t)) {
            r->has_leaf[t] = !f->of[t].is_dissolved;
            if (r->has_leaf[t]) r->last = t;
        }
    if (r->last < 0 || c->tensors[r->last].num_reduce) return false;
    r->num = c->tensors[r->last].num_axes;
    for (int t = 0; t < r->last; t++) {
        if (!r->has_leaf[t]) continue;
        if (!has_rows_of(f, t, r->last) || tile_vector_of(r->s, t) >= 0 ||
            tile_dot_of(r->s, t) >= 0 || tile_list_of(r->s, t) >= 0)
            return false;
        if (first_reader(r, t) < 0 && !c->tensors[t].is_output) return false;
        sums += c->tensors[t].num_reduce > 0;
        if (c->tensors[t].num_axes < r->num) r->num = c->tensors[t].num_axes;
    }
    if (!sums && has_marks(r) && r->num == c->tensors[r->last].num_axes) r->num--;
    else if (!sums) return false;
    if (!r->num) return false;
    for (int t = r->last - 1; t >= 0; t--)
        if (f->of[t].is_stage && f->of[t].is_dissolved) r->has_leaf[t] = is_number_of_row(r, t);
    return true;
}

/* ---- rows: loops ----------------------------------------------------------------------------- */

/* Vectors along axis `k` of a stage, outside of which its rows and everything else stand. */
static at_status make_lanes(rows *r, int stage, int k, const char **outer) {
    const at_tensor *t = &r->s->facts->compute->tensors[stage];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    const char *parts[2] = {t->axes[k].name};
    bool goes = r->s->facts->of[stage].extent[k] >= LEAST_ROW_LANES &&
                (k < t->num_axes || tile_lanes_of(r->s, stage) == k);
    int n = 0;
    if (goes) {
        AT_TRY(sketch_split_lanes(r->s, t->name, t->axes[k].name, parts, r->err));
        AT_TRY(sketch_mark(r->s, t->name, parts[1], AT_ANN_VEC, r->err));
    }
    *outer = parts[0];
    for (int i = r->num; i < t->num_axes + t->num_reduce; i++)
        order.names[n++] = i == k ? parts[0] : t->axes[i].name;
    if (r->inner) order.names[n++] = r->inner;
    if (goes) order.names[n++] = parts[1];
    return n > 1 ? sketch_step(r->s, &order, r->err) : AT_OK;
}

/* The last stage's loops: rows, a few of them side by side, then the rest. */
static at_status make_last(rows *r) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "1 2 3 4"};
    static const at_part_limit limits[] = {{0}, {.wide = 1, .narrow = 1}};
    const at_tensor *t = &r->s->facts->compute->tensors[r->last];
    const char *parts[2], *unused;
    int row = r->num - 1;
    r->outer = t->axes[row].name;
    if (r->s->facts->of[r->last].extent[row] > 1) {
        AT_TRY(sketch_split(r->s, t->name, r->outer, 2, &spec, limits, parts, r->err));
        AT_TRY(sketch_mark(r->s, t->name, parts[1], AT_ANN_UNROLL, r->err));
        r->outer = parts[0];
        r->inner = parts[1];
    }
    if (t->num_axes > r->num) AT_TRY(make_lanes(r, r->last, t->num_axes - 1, &unused));
    return sketch_mark(r->s, t->name, row ? t->axes[0].name : r->outer, AT_ANN_PARA, r->err);
}

static at_status put_before(rows *r, int stage, int reader, const char *loop) {
    const at_compute *c = r->s->facts->compute;
    return sketch_step(r->s,
                       &(at_edit){.kind = AT_EDIT_NEST,
                                  .stage = c->tensors[stage].name,
                                  .other = c->tensors[reader].name,
                                  .loop = loop,
                                  .before = true},
                       r->err);
}

/* A stage that sums nothing, each of whose elements this sum takes, in the sum's last loop; -1. */
static int summed_of(const rows *r, int sum) {
    const at_facts *f = r->s->facts;
    const at_tensor *x = &f->compute->tensors[sum];
    int last = x->num_axes + x->num_reduce - 1, found = -1;
    if (x->num_reduce != 1 || x->num_axes != r->num) return -1;
    for (int i = 0; i < f->of[sum].num_accesses; i++) {
        const at_access *a = &f->of[sum].access[i];
        const at_tensor *e = &f->compute->tensors[a->tensor];
        if (r->has_leaf[a->tensor] && !e->num_reduce && e->num_axes == r->num + 1 && a->is_bare &&
            f->extents[a->tensor][r->num] == f->of[sum].extent[last])
            found = first_reader(r, a->tensor) == sum ? a->tensor : found;
    }
    return found;
}

/* From the last stage to the first, each right before what reads it first, or before the last where
 * nothing does. */
static at_status make_rows(rows *r, bool as_made) {
    const at_facts *f = r->s->facts;
    const at_compute *c = f->compute;
    for (int t = r->last; t >= 0; t--)
        if (f->of[t].is_stage && !r->has_leaf[t] && !is_packed(c, t))
            AT_TRY(sketch_step(
                r->s, &(at_edit){.kind = AT_EDIT_DISSOLVE, .stage = c->tensors[t].name}, r->err));
    AT_TRY(make_last(r));
    bool *placed = AT_NEW_ARRAY(r->s->arena, bool, c->num_tensors);
    for (int t = r->last - 1; t >= 0; t--) {
        const at_tensor *x = &c->tensors[t];
        const char *loop;
        int all = x->num_axes + x->num_reduce;
        if (!r->has_leaf[t] || placed[t]) continue;
        int reader = first_reader(r, t);
        AT_TRY(put_before(r, t, reader < 0 ? r->last : reader, r->outer));
        if (all == r->num) continue;
        if (x->num_reduce || (reader >= 0 && f->of[t].reader < 0))
            AT_TRY(make_lanes(r, t, all - 1, &loop));
        int summed = as_made && x->num_reduce ? summed_of(r, t) : -1;
        if (summed < 0) continue;
        AT_TRY(put_before(r, summed, t, loop));
        placed[summed] = true;
    }
    return AT_OK;
}

/* The stage whose loop asks for the next rows of a tensor: the last one before the last stage of
 * all that reads it row by row, else the last stage itself; -1: none reads it so. */
static int goes_over(const rows *r, int tensor, int64_t *stride) {
    const at_facts *f = r->s->facts;
    int found = -1;
    for (int t = r->last; t >= 0; t--)
        for (int i = 0; i < f->of[t].num_accesses && (found < 0 || found == r->last); i++) {
            const at_access *a = &f->of[t].access[i];
            bool is_row = r->has_leaf[t] && a->known && a->stride[r->num - 1] > 1;
            if (a->tensor != tensor || !is_row) continue;
            found = t;
            *stride = a->stride[r->num - 1];
        }
    return found;
}

/* Asks for the next rows of all that lies beyond the caches near the core, written rows, too. */
static at_status prefetch(rows *r) {
    const at_facts *f = r->s->facts;
    const at_compute *c = f->compute;
    for (int t = 0; t < c->num_tensors; t++) {
        int64_t stride = 1;
        int leaf = t == r->last ? t : -1;
        if (c->tensors[t].role == AT_ROLE_INDEX || !sketch_is_far(r->s, t)) continue;
        if (c->tensors[t].role != AT_ROLE_STAGE) leaf = goes_over(r, t, &stride);
        for (int k = r->num; k < c->tensors[t].num_axes && leaf == t; k++)
            stride *= f->extents[t][k];
        if (leaf >= 0)
            AT_TRY(sketch_prefetch(r->s, c->tensors[leaf].name, t, stride, r->inner, r->err));
    }
    return AT_OK;
}

void sketch_rows(const sketch_state *s, sketch_states *out, at_error *err) {
    rows r = {.s = sketch_branch(s, "rows"), .err = err};
    if (!find_rows(&r)) return;
    bool has_next = s->facts->of[r.last].extent[r.num - 1] > 1;
    if (make_rows(&r, true) == AT_OK && (!has_next || prefetch(&r) == AT_OK))
        *at_push(s->arena, out) = r.s;
}

/* ---- row by row ------------------------------------------------------------------------------ */

typedef struct chain {
    sketch_state *s;
    int last, num; /* the last stage; how many first axes all have in common */
    at_error *err;
} chain;

static bool has_leaf(const sketch_state *s, int t) {
    return s->facts->of[t].is_stage && !s->facts->of[t].is_dissolved;
}

/* Along how many first axes each point reads the tensor at its own place. */
static int common_axes(const at_expr *e, int tensor, int most) {
    for (int i = 0; i < e->nargs; i++) most = common_axes(e->arg[i], tensor, most);
    if (e->op != AT_X_INDEX || e->ref != tensor) return most;
    for (int k = 0; k < most && k < e->nargs; k++)
        if (e->arg[k]->op != AT_X_NAME || e->arg[k]->ref != k) most = k;
    return most;
}

/* Each stage has one reader, which has rows of it alone; false: they are no such chain. */
static bool find_chain(chain *c) {
    const at_facts *f = c->s->facts;
    bool has_windows = false;
    int stages = 0;
    for (int t = 0; t < f->compute->num_tensors; t++) {
        const at_tensor *x = &f->compute->tensors[t];
        if (!has_leaf(c->s, t)) continue;
        if (x->is_packing || x->role == AT_ROLE_INDEX || !tile_sums_are_short(c->s, t))
            return false;
        for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
            if (x->axes[k].begin) return false;
        if (!stages++ || x->num_axes - 1 < c->num) c->num = x->num_axes - 1;
        c->last = t;
    }
    for (int t = 0; t < c->last && stages > 1; t++) {
        if (!has_leaf(c->s, t)) continue;
        int reader = f->of[t].reader;
        if (f->of[t].num_readers != 1 || f->compute->tensors[t].is_output) return false;
        const at_expr *body = f->compute->tensors[reader].body;
        if (!at_expr_count_reads(body, t)) return false;
        for (int i = 0; i < f->of[reader].num_accesses; i++) {
            const at_access *x = &f->of[reader].access[i];
            if (x->tensor == t && x->from != t && x->from >= 0) return false;
        }
        c->num = common_axes(body, t, c->num);
        for (int k = 0; k < c->num; k++)
            if (f->extents[t][k] != f->extents[reader][k]) c->num = k;
        has_windows |= !f->of[t].is_read_in_place;
    }
    return stages > 1 && stages <= CHAIN_MOST_STAGES && has_windows && c->num > 0;
}

/* What stands below the rows: other axes, reductions that are written out, vectors. */
static at_status make_row(chain *c, int stage) {
    const at_tensor *t = &c->s->facts->compute->tensors[stage];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    const char *parts[2];
    int last = t->num_axes - 1, n = 0;
    AT_TRY(sketch_split_lanes(c->s, t->name, t->axes[last].name, parts, c->err));
    for (int k = c->num; k < last; k++) order.names[n++] = t->axes[k].name;
    order.names[n++] = parts[0];
    for (int k = last + 1; k < t->num_axes + t->num_reduce; k++) {
        order.names[n++] = t->axes[k].name;
        AT_TRY(sketch_mark(c->s, t->name, t->axes[k].name, AT_ANN_UNROLL, c->err));
    }
    order.names[n++] = parts[1];
    AT_TRY(sketch_step(c->s, &order, c->err));
    return sketch_mark(c->s, t->name, parts[1], AT_ANN_VEC, c->err);
}

/* From the last stage to the first, each right before what reads it. */
static at_status make_chain(chain *c) {
    const at_facts *f = c->s->facts;
    const at_tensor *last = &f->compute->tensors[c->last];
    const char *row = last->axes[c->num - 1].name;
    for (int t = c->last; t >= 0; t--) {
        const char *name = f->compute->tensors[t].name;
        at_edit away = {.kind = AT_EDIT_DISSOLVE, .stage = name},
                nest = {.kind = AT_EDIT_NEST, .stage = name, .loop = row, .before = true};
        if (!f->of[t].is_stage) continue;
        if (f->of[t].is_dissolved) {
            AT_TRY(sketch_step(c->s, &away, c->err));
            continue;
        }
        if (t < c->last) {
            nest.other = f->compute->tensors[f->of[t].reader].name;
            AT_TRY(sketch_step(c->s, &nest, c->err));
        }
        AT_TRY(make_row(c, t));
    }
    return sketch_mark(c->s, last->name, last->axes[0].name, AT_ANN_PARA, c->err);
}

void sketch_chain(const sketch_state *s, sketch_states *out, at_error *err) {
    chain c = {.s = sketch_branch(s, "row_by_row"), .last = -1, .err = err};
    if (find_chain(&c) && make_chain(&c) == AT_OK) *at_push(s->arena, out) = c.s;
}
