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
 * rows_across: the same of rows that are shorter than registers: lanes are rows beside each other,
 * which are turned on their way in and out:
 *
 *     i0:para =>
 *         k, i1:vec => @x_turned = k, {i0, i1}/i
 *         k, i1:vec => @most = {i0, i1}/i // k
 *         j, i1:vec => @e = {i0, i1}/i, j
 *         n, i1:vec => @total = {i0, i1}/i // n
 *         j, i1:vec => @out_across = j, {i0, i1}/i
 *         i1:unroll, j:vec => @out = {i0, i1}/i, j  */
#include "sketch/nests.h"

/* ---- rows: which stages ---------------------------------------------------------------------- */

typedef struct rows {
    sketch_state *s;
    int last, num;             /* the last stage; how many axes all stages have in common */
    bool *has_leaf;            /* [tensor] */
    const char *outer, *inner; /* loops over the last axis in common; inner NULL: it is not split */
} rows;

static bool is_packed(const at_compute *c, int t) { return c->tensors[t].is_packing; }

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
    int reader = sketch_first_reader(r->s, stage, r->has_leaf);
    return reader >= 0 && c->tensors[reader].num_axes + c->tensors[reader].num_reduce > r->num;
}

/* Does a stage read, element by element, what leaves as well? */
static bool has_marks(const rows *r) {
    const at_compute *c = r->s->facts->compute;
    for (int t = 0; t < r->last; t++)
        if (r->has_leaf[t] && c->tensors[t].is_output &&
            sketch_first_reader(r->s, t, r->has_leaf) >= 0)
            return true;
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
        if (sketch_first_reader(r->s, t, r->has_leaf) < 0 && !c->tensors[t].is_output) return false;
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
        AT_TRY(sketch_split_lanes(r->s, t->name, t->axes[k].name, parts));
        AT_TRY(sketch_mark(r->s, t->name, parts[1], AT_ANN_VEC));
    }
    *outer = parts[0];
    for (int i = r->num; i < t->num_axes + t->num_reduce; i++)
        order.names[n++] = i == k ? parts[0] : t->axes[i].name;
    if (r->inner) order.names[n++] = r->inner;
    if (goes) order.names[n++] = parts[1];
    return n > 1 ? sketch_step(r->s, &order) : AT_OK;
}

/* Does a stage that reads itself go from step to step along an axis of the rows? */
static bool is_step(const rows *r, int axis) {
    uint32_t steps = 0;
    for (int t = 0; t <= r->last; t++)
        if (r->has_leaf[t])
            steps |= r->s->facts->of[t].steps | at_recurrence_of(r->s->facts->compute, t).steps;
    return steps >> axis & 1;
}

/* The loop of the rows that threads share: the outermost one with several turns that are no steps,
 * or else the first. */
static const char *shared_loop(const rows *r) {
    const at_tensor *t = &r->s->facts->compute->tensors[r->last];
    const int row = r->num - 1;
    for (int k = 0; k <= row; k++)
        if (r->s->facts->of[r->last].extent[k] > 1 && !is_step(r, k))
            return k < row ? t->axes[k].name : r->outer;
    return row ? t->axes[0].name : r->outer;
}

/* The last stage's loops: rows, a few of them side by side, then the rest. */
static at_status make_last(rows *r) {
    static const at_part_limit one = {.wide = 1, .narrow = 1};
    const at_tensor *t = &r->s->facts->compute->tensors[r->last];
    const char *parts[2], *unused;
    int row = r->num - 1;
    r->outer = t->axes[row].name;
    if (r->s->facts->of[r->last].extent[row] > 1) {
        AT_TRY(sketch_split_by(r->s, t->name, r->outer, "1 2 3 4", one, parts));
        AT_TRY(sketch_mark(r->s, t->name, parts[1], AT_ANN_UNROLL));
        r->outer = parts[0];
        r->inner = parts[1];
    }
    if (t->num_axes > r->num) AT_TRY(make_lanes(r, r->last, t->num_axes - 1, &unused));
    return sketch_mark(r->s, t->name, shared_loop(r), AT_ANN_PARA);
}

static at_status put_before(rows *r, int stage, int reader, const char *loop) {
    const at_compute *c = r->s->facts->compute;
    return sketch_put(r->s, AT_EDIT_NEST, c->tensors[stage].name, true, c->tensors[reader].name,
                      loop);
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
            found = sketch_first_reader(r->s, a->tensor, r->has_leaf) == sum ? a->tensor : found;
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
            AT_TRY(sketch_step_of(r->s, AT_EDIT_DISSOLVE, c->tensors[t].name));
    AT_TRY(make_last(r));
    bool *placed = AT_NEW_ARRAY(r->s->arena, bool, c->num_tensors);
    for (int t = r->last - 1; t >= 0; t--) {
        const at_tensor *x = &c->tensors[t];
        const char *loop;
        int all = x->num_axes + x->num_reduce;
        if (!r->has_leaf[t] || placed[t]) continue;
        int reader = sketch_first_reader(r->s, t, r->has_leaf);
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
        if (at_tensor_has_entries(&c->tensors[t]) || !sketch_is_far(r->s, t)) continue;
        if (c->tensors[t].role != AT_ROLE_STAGE) leaf = goes_over(r, t, &stride);
        for (int k = r->num; k < c->tensors[t].num_axes && leaf == t; k++)
            stride *= f->extents[t][k];
        if (leaf >= 0) AT_TRY(sketch_prefetch(r->s, c->tensors[leaf].name, t, stride, r->inner));
    }
    return AT_OK;
}

/* ---- rows beside each other ------------------------------------------------------------------ */

/* The axis or reduction behind the rows; -1: there is none; -2: there are several. */
static int part_of(const rows *r, int stage) {
    const at_tensor *t = &r->s->facts->compute->tensors[stage];
    const int n = t->num_axes + t->num_reduce - r->num;
    return n == 1 ? r->num : n ? -2 : -1;
}

/* Is what a stage reads of a tensor to be turned? */
static bool goes_across(const rows *r, const at_access *x) {
    return x->stride[r->num - 1] > 1 &&
           r->s->facts->compute->tensors[x->tensor].role != AT_ROLE_STAGE;
}

/* Many short rows, of which each stage goes over one axis, and all that is read lies in them, or is
 * the same for all of them. */
static bool are_short(const rows *r) {
    const at_facts *f = r->s->facts;
    bool sums = false;
    if (f->of[r->last].extent[r->num - 1] < ACROSS_LEAST_ROWS || has_marks(r) ||
        part_of(r, r->last) < 0)
        return false;
    for (int t = 0; t <= r->last; t++) {
        const int part = r->has_leaf[t] ? part_of(r, t) : -1;
        if (part == -2 || (part >= 0 && f->of[t].extent[part] > ACROSS_MOST_PARTS) ||
            (r->has_leaf[t] && (f->compute->tensors[t].type != AT_F32 || f->of[t].steps)))
            return false;
        sums |= r->has_leaf[t] && f->compute->tensors[t].num_reduce > 0;
        for (int i = 0; r->has_leaf[t] && i < f->of[t].num_accesses; i++) {
            const at_access *x = &f->of[t].access[i];
            if (!x->known || x->is_guarded || (goes_across(r, x) && x->from != x->tensor))
                return false;
        }
    }
    return sums;
}

/* What is worked out of an element stands in memory, too, where lanes are rows; false: the last
 * stage's rows are long, or few. */
static bool keep_all(rows *r) {
    const at_facts *f = r->s->facts;
    const at_facts_given given = {.values = f->values, .varies = f->varies};
    const int part = part_of(r, r->last);
    if (part < 0 || f->of[r->last].extent[part] > ACROSS_MOST_PARTS) return false;
    for (int t = 0; t < f->compute->num_tensors; t++)
        if (f->of[t].is_stage && !is_packed(f->compute, t))
            *at_push(r->s->arena, &r->s->kept) = f->compute->tensors[t].name;
    return sketch_refresh_facts(r->s, &given) == AT_OK;
}

/* A stage reads copies of inputs in which rows lie beside each other; those of another one, where
 * it has them. */
static at_status turn_reads(rows *r, int stage, const char **copies) {
    const at_facts *f = r->s->facts;
    const at_tensor *t = &f->compute->tensors[stage];
    for (int i = 0; i < f->of[stage].num_accesses; i++) {
        const at_access *x = &f->of[stage].access[i];
        const char *from = f->compute->tensors[x->tensor].name, **to = &copies[x->tensor];
        bool is_done = !goes_across(r, x);
        for (int k = 0; k < i && !is_done; k++)
            is_done = f->of[stage].access[k].tensor == x->tensor;
        if (is_done) continue;
        if (!*to) *to = sketch_fresh_of(r->s, from, "turned");
        AT_TRY(sketch_make(r->s, AT_EDIT_TURN, t->name, from, t->axes[r->num - 1].name, *to));
    }
    return AT_OK;
}

/* The loops of a stage below the loops of the rows: its own, then the lanes. */
static at_status put_lanes_last(rows *r, const char *stage, const char *part) {
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = stage, .names = {part, r->inner}};
    if (part) AT_TRY(sketch_step(r->s, &order));
    if (part) AT_TRY(sketch_mark(r->s, stage, part, AT_ANN_NONE));
    return sketch_mark(r->s, stage, r->inner, AT_ANN_VEC);
}

static at_status put_across(rows *r, const char *stage, const char *beside, const char *part) {
    AT_TRY(sketch_put(r->s, AT_EDIT_NEST, stage, true, beside, r->outer));
    return put_lanes_last(r, stage, part);
}

/* Rows of what stays within the computation lie beside each other, too. */
static at_status store_across(rows *r, int stage) {
    const at_tensor *t = &r->s->facts->compute->tensors[stage];
    at_text text = {0};
    at_text_add(&text, "[order");
    for (int k = 0; k < t->num_axes; k++)
        at_text_addf(&text, " %s",
                     t->axes[k < r->num - 1        ? k
                             : k + 1 < t->num_axes ? k + 1
                                                   : r->num - 1]
                         .name);
    at_text_add(&text, "]");
    return sketch_attribute(r->s, t->name, at_text_take(r->s->arena, &text));
}

/* The last stage copies what is made of rows beside each other. */
static at_status turn_last(rows *r, const char **across) {
    static const at_part_limit many = {.wide = 16, .narrow = 8};
    const at_tensor *t = &r->s->facts->compute->tensors[r->last];
    const char *parts[2], *row = t->axes[r->num - 1].name;
    *across = sketch_fresh_of(r->s, t->name, "across");
    AT_TRY(sketch_make(r->s, AT_EDIT_ACROSS, t->name, NULL, row, *across));
    AT_TRY(sketch_split_by(r->s, t->name, row, "8 16 32 64", many, parts));
    AT_TRY(sketch_mark(r->s, t->name, parts[1], AT_ANN_UNROLL));
    AT_TRY(sketch_mark(r->s, t->name, t->axes[r->num].name, AT_ANN_VEC));
    r->outer = parts[0];
    r->inner = parts[1];
    AT_TRY(sketch_mark(r->s, t->name, shared_loop(r), AT_ANN_PARA));
    return put_across(r, *across, t->name, t->axes[r->num].name);
}

/* A copy stands before its first reader, in loops that are called as that one's are. */
static at_status put_copy(rows *r, const char *copy, const char *reader) {
    const at_compute *c = r->s->compute;
    const int t = at_compute_find(c, copy), of = at_compute_find(c, reader);
    const at_expr *read = at_expr_read_of(c->tensors[of].body, t);
    at_edit names = {.kind = AT_EDIT_RENAME, .stage = copy};
    for (int k = 0; read && k < c->tensors[t].num_axes; k++) {
        const int axis = at_index_axis(read->arg[k]);
        names.names[k] = c->tensors[axis >= 0 ? of : t].axes[axis >= 0 ? axis : k].name;
    }
    if (!read) return AT_E_INPUT;
    AT_TRY(sketch_step(r->s, &names));
    return put_across(r, copy, reader, names.names[c->tensors[t].num_axes - 2]);
}

static at_status make_across(rows *r) {
    const at_facts *f = r->s->facts;
    const at_compute *c = f->compute;
    const char **copies = AT_NEW_ARRAY(r->s->arena, const char *, c->num_tensors), *across;
    int *used = AT_NEW_ARRAY(r->s->arena, int, c->num_tensors);
    for (int t = r->last; t >= 0; t--)
        if (f->of[t].is_stage && !r->has_leaf[t] && !is_packed(c, t))
            AT_TRY(sketch_step_of(r->s, AT_EDIT_DISSOLVE, c->tensors[t].name));
    for (int t = r->last; t >= 0; t--)
        for (int i = 0; r->has_leaf[t] && i < f->of[t].num_accesses; i++)
            used[f->of[t].access[i].tensor] = t;
    for (int t = 0; t <= r->last; t++)
        if (r->has_leaf[t]) AT_TRY(turn_reads(r, t, copies));
    AT_TRY(turn_last(r, &across));
    for (int t = r->last - 1; t >= 0; t--) {
        if (!r->has_leaf[t]) continue;
        const at_tensor *x = &c->tensors[t];
        const int reader = sketch_first_reader(r->s, t, r->has_leaf), part = part_of(r, t);
        AT_TRY(put_across(r, x->name,
                          reader < 0 || reader == r->last ? across : c->tensors[reader].name,
                          part < 0 ? NULL : x->axes[part].name));
        if (x->num_axes > r->num) AT_TRY(store_across(r, t));
    }
    for (int t = 0; t < c->num_tensors; t++) {
        if (!copies[t]) continue;
        AT_TRY(put_copy(r, copies[t], used[t] == r->last ? across : c->tensors[used[t]].name));
    }
    return AT_OK;
}

static void add_across(const sketch_state *s, sketch_states *out) {
    rows r = {.s = sketch_branch(s, "rows_across")};
    if (find_rows(&r) && keep_all(&r) && find_rows(&r) && are_short(&r) && make_across(&r) == AT_OK)
        *at_push(s->arena, out) = r.s;
}

/* ---- both ------------------------------------------------------------------------------------ */

/* The default, which is the first, has lanes across rows where these are no longer than a register.
 */
void sketch_rows(const sketch_state *s, sketch_states *out) {
    rows r = {.s = sketch_branch(s, "rows")};
    if (!find_rows(&r)) return;
    const at_stage_facts *last = &s->facts->of[r.last];
    const int part = part_of(&r, r.last);
    const bool is_short = part >= 0 && last->extent[part] <= ACROSS_FIRST_PARTS,
               has_next = last->extent[r.num - 1] > 1;
    if (is_short) add_across(s, out);
    if (make_rows(&r, true) == AT_OK && (!has_next || prefetch(&r) == AT_OK))
        *at_push(s->arena, out) = r.s;
    if (!is_short) add_across(s, out);
}
