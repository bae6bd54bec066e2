/* sketch/nest_lanes.c: vectors along what lies side by side, without a register tile.
 *
 * plain: what sums nothing,
 *
 *     i, j => @out = i, j      ->      i:para, j0, j1:vec => @out = i, {j0, j1}/j
 *
 * and several rows in one tile, where a row is short:
 *
 *     i0:para, i1, j0, j1:vec => @out = {i0, i1}/i, {j0, j1}/j
 *
 * several vectors where there is but one row,
 *
 *     i      ->      i0:para, i1, i2:vec => @out = {i0, i1, i2}/i
 *
 * or where neighbouring rows read some of the same, which a tile loads and works out once:
 *
 *     i0:para, j0, i1:unroll, j1:vec => @out = {i0, i1}/i, {j0, j1}/j
 *
 * groups: where an index takes such an axis in pairs, or in groups of three or four, lanes are the
 * same of each, which lie so many elements apart; conditions on the others fold:
 *
 *     .. j%2 == 0 ? x[j] : ..  ->      j_g0, j_i:unroll, j_g1:vec => @out = {j_g0, j_g1, j_i}/j
 *
 * lanes: a reduction that no axis gives vectors to has partial results side by side, which are
 * joined behind its loops:
 *
 *     i, k => @s = i // k      ->      i:para, k0, k1:vec => @s = i // {k0, k1}/k
 *
 * Several short sums are a tile, some of which are joined together:
 *
 *     i0:para, i1, k0, i2:unroll, k1:vec => @s = {i0, i1, i2}/i // {k0, k1}/k
 *
 * One over lists, whose bounds are data, has them along the list, in one of two sketches; in the
 * other one, which is the first where lists are short, term follows term:
 *
 *     i, e:dyn(i) => @s = i // e      ->      i:para, e:dyn(i) vec => @s = i // e
 *
 * list: a sum over a list has vectors along the last axis where each of its reads takes what lies
 * side by side there, as rows of a table do. The sums stay in registers from the first entry of the
 * list to the last:
 *
 *     b, d, e:dyn => @s = b, d // e        b:para, d0 =>
 *     b, d => @out = b, d            ->        e:dyn, d1:vec => @s = b, {d0, d1}/d // e
 *                                              d1:vec => @out = b, {d0, d1}/d
 *
 * factor: a long sum of few elements is shared out among threads: each has a part of the outermost
 * reduction, and what they find is summed at the end. (A register tile's: tile.c.)
 *
 *     b, i, j0, j1:vec => @s = b // i, ..    ->    i0:para, b, i1, j0, j1:vec => @s_parts = b, i0
 *                                                  b, i0 => @s = b // i0  */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sketch/nests.h"

/* ---- plain ----------------------------------------------------------------------------------- */

bool sketch_stands_beside(const sketch_state *s, int stage) {
    const at_compute *c = s->facts->compute;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        if (f->is_stage && !f->is_written && c->tensors[t].num_reduce && f->has_matched_reader &&
            f->reader == stage &&
            (tile_vector_of(s, t) >= 0 || tile_dot_of(s, t) >= 0 || tile_list_of(s, t) >= 0))
            return true;
    }
    return false;
}

/* An axis that an index divides by a number which neither vectors nor registers go into, as
 * channels in groups of 10 or 20: vectors are so many whole groups, or equal parts of one, so that
 * the lanes of each group are the same ones everywhere. NULL: any sizes will do. */
static const char *sizes_in_groups(const sketch_state *s, int stage, int axis,
                                   at_part_limit *limit) {
    enum { WIDE = 16, MOST = 256, MOST_WIDE = 4 * WIDE, MOST_NARROW = MOST_WIDE / 2 };
    const at_stage_facts *f = &s->facts->of[stage];
    const int group = f->inner[axis] < INT_MAX / 2 ? (int)f->inner[axis] : 1;
    const bool are_whole = group < WIDE; /* as a load takes them apart */
    at_text sizes = {0};
    if (!f->divisor[axis] || f->is_phase[axis] || MOST % group == 0) return NULL;
    for (int n = are_whole ? group : LEAST_LANES; n <= MOST; n = are_whole ? 2 * n : n + 1) {
        if (!are_whole && group % n) continue;
        if (n <= MOST_WIDE || !limit->wide) limit->wide = n;
        if (n <= MOST_NARROW || !limit->narrow) limit->narrow = n;
        at_text_addf(&sizes, "%s%d", sizes.len ? " " : "", n);
    }
    const char *text = at_text_take(s->arena, &sizes);
    return limit->narrow ? text : NULL;
}

at_status sketch_vectors(sketch_state *s, int stage, const char **outer) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    at_part_limit limit = {0};
    int last = t->num_axes - 1;
    const char *parts[2] = {NULL};
    *outer = NULL;
    if (s->facts->of[stage].extent[last] < LEAST_LANES || sketch_is_step(s, stage, last))
        return AT_OK;
    const char *sizes = sizes_in_groups(s, stage, last, &limit);
    AT_TRY(sizes ? sketch_split_by(s, t->name, t->axes[last].name, sizes, limit, parts)
                 : sketch_split_lanes(s, t->name, t->axes[last].name, parts));
    *outer = parts[0];
    return sketch_mark(s, t->name, parts[1], AT_ANN_VEC);
}

/* Of two axes the second one is short, and there are many of the first. */
static bool has_short_rows(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    return s->facts->compute->tensors[stage].num_axes == 2 && !f->steps &&
           f->extent[1] <= SHORT_ROW && f->extent[0] >= SHORT_ROW;
}

/* The axis of rows of which a tile has several, since a call for each row costs too much beside its
 * few elements or terms, `length` of them; -1: there is none. Beside other stages short rows alone
 * are worth a knob. */
static int rows_of_tile(const sketch_state *s, int stage, int axes, double length,
                        at_part_limit *limit) {
    enum { MOST = 16, LEAST_ROWS = 8 };
    const at_stage_facts *f = &s->facts->of[stage];
    int k = axes - 1;
    while (k > 0 && f->extent[k] == 1) k--;
    if (k < 0 || f->steps || length > LONG_ROW / 2 || f->extent[k] < LEAST_ROWS ||
        (sketch_stages(s) > 1 && !has_short_rows(s, stage)))
        return -1;
    const int most = (int)(2 * LONG_ROW / length);
    limit->wide = limit->narrow = most < MOST ? most : MOST;
    return k;
}

/* Splits the loop of these rows; its outer part is *first where the loop was. */
static at_status split_rows_of_tile(sketch_state *s, int stage, int axis, at_part_limit limit,
                                    const char **first) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *parts[2];
    if (axis < 0) return AT_OK;
    AT_TRY(sketch_split_by(s, t->name, t->axes[axis].name, "1 4 16 64", limit, parts));
    if (!strcmp(*first, t->axes[axis].name)) *first = parts[0];
    return AT_OK;
}

/* Vectors of a row that rows up to so many further along axis k read, too; windows: another of
 * their reads. */
static bool reads_again(const at_stage_facts *f, const at_access *x, int k, int axes,
                        bool windows) {
    const int last = axes - 1;
    if (!x->known || x->stride[last] == AT_FACTS_ANYWHERE || x->stride[last] == 0) return false;
    if (x->stride[k] == 0) return !windows;
    for (const at_access *y = f->access; y < f->access + f->num_accesses; y++) {
        const int64_t apart = y->origin - x->origin;
        bool alike = y->known && y->tensor == x->tensor;
        for (int j = 0; j < axes && alike; j++) alike = y->stride[j] == x->stride[j];
        if (alike && x->stride[k] != AT_FACTS_ANYWHERE && apart && apart % x->stride[k] == 0 &&
            llabs(apart / x->stride[k]) < MOST_ROWS_APART)
            return true;
    }
    return false;
}

typedef struct row_axes {
    int rows, lanes;
} row_axes;

/* A function of what lanes have each for itself, and rows along the other axis alike. */
static bool calls_once(const at_expr *e, const void *axes) {
    const row_axes *a = axes;
    return at_facts_calls(e, NULL) && at_expr_uses(e, a->lanes) && !at_expr_uses(e, a->rows);
}

/* The last axis but vectors' whose rows read, or work out, some of the same; -1: there is none.
 * What all rows read counts only where rows are long and nothing else is computed. */
static int shared_rows(const sketch_state *s, int stage) {
    const bool windows = has_short_rows(s, stage) || sketch_stages(s) > 1;
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->facts->compute->tensors[stage];
    for (int k = t->num_axes - 2; k >= 0; k--) {
        if (f->extent[k] <= 1 || sketch_is_step(s, stage, k)) continue;
        if (at_expr_find(t->body, calls_once, &(row_axes){k, t->num_axes - 1})) return k;
        for (int i = 0; i < f->num_accesses; i++)
            if (reads_again(f, &f->access[i], k, t->num_axes, windows)) return k;
    }
    return -1;
}

/* One axis, which is long: a call of a tile for each vector costs as much as the vector. */
static bool is_one_long_row(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    return s->facts->compute->tensors[stage].num_axes == 1 && !f->steps && f->extent[0] >= LONG_ROW;
}

/* Blocks of vectors, which threads share out. */
static at_status make_long_row(sketch_state *s, int stage) {
    static const at_split_spec spec = {.policy = AT_LISTED,
                                       .listed = "4 16 64 256 | 8 16 32 64 128 256"};
    static const at_part_limit limits[] = {{0}, {.wide = 16, .narrow = 16}, {.vectors = 4}};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *parts[3];
    AT_TRY(sketch_split(s, t->name, t->axes[0].name, 3, &spec, limits, parts));
    AT_TRY(sketch_mark(s, t->name, parts[2], AT_ANN_VEC));
    return sketch_mark(s, t->name, parts[0], AT_ANN_PARA);
}

/* Rows along axis k of a tile; outer: what is left of the vectors' axis. */
static at_status make_shared(sketch_state *s, int stage, int k, const char *outer) {
    static const at_part_limit four = {.wide = 4, .narrow = 4};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *parts[2];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(sketch_split_by(s, t->name, t->axes[k].name, "1 2 4 6 8", four, parts));
    for (int j = k + 1; j < t->num_axes - 1; j++)
        if (!sketch_is_step(s, stage, j)) order.names[n++] = t->axes[j].name;
    order.names[n++] = outer;
    order.names[n] = parts[1];
    AT_TRY(sketch_step(s, &order));
    AT_TRY(sketch_mark(s, t->name, parts[1], AT_ANN_UNROLL));
    const char *first = sketch_first_loop(s, stage);
    return sketch_mark(s, t->name, strcmp(first, t->axes[k].name) ? first : parts[0], AT_ANN_PARA);
}

at_status nest_make_plain(sketch_state *s, int stage, const nest_choice *c) {
    (void)c;
    at_part_limit rows = {0};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1, shared = shared_rows(s, stage),
              row = rows_of_tile(s, stage, last, (double)s->facts->of[stage].extent[last], &rows);
    const char *outer;
    if (s->facts->of[stage].inner_steps >> last & 1) return AT_OK; /* in its plain loops */
    if (is_one_long_row(s, stage)) return make_long_row(s, stage);
    AT_TRY(sketch_vectors(s, stage, &outer));
    if (s->facts->of[stage].inner_steps) return AT_OK;
    if (outer && shared >= 0) return make_shared(s, stage, shared, outer);
    const char *first = sketch_first_loop(s, stage);
    AT_TRY(split_rows_of_tile(s, stage, row, rows, &first));
    const bool is_last = first && !strcmp(first, t->axes[last].name);
    if (!first || (!outer && is_last)) return AT_OK;
    return sketch_mark(s, t->name, is_last ? outer : first, AT_ANN_PARA);
}

static bool is_left(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    return at_facts_has_leaf(s->facts, stage) && !f->is_written && !t->num_reduce &&
           !t->is_packing && sketch_stands_beside(s, stage) && sketch_is_untouched(s, stage);
}

void sketch_place_left(sketch_states *states) {
    for (int i = 0; i < states->len; i++)
        for (int t = 0; t < states->data[i]->facts->compute->num_tensors; t++) {
            if (!is_left(states->data[i], t)) continue;
            sketch_state *b = sketch_branch(states->data[i], "");
            if (nest_make_plain(b, t, NULL) != AT_OK) {
                sketch_leave(b);
                continue;
            }
            sketch_leave(states->data[i]);
            states->data[i] = b;
        }
}

/* ---- in groups ------------------------------------------------------------------------------- */

/* Points and their channels that become one axis lie side by side: that takes no groups. */
bool nest_has_groups(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1;
    if (f->num_accesses == 1 && f->access[0].stride[last] == 1 && nest_parted_axis(t->body) == last)
        return false;
    return !f->steps && f->divisor[last] && !f->is_phase[last] &&
           f->inner[last] <= MOST_LANE_STEP && f->extent[last] >= LEAST_GROUPS * f->inner[last];
}

at_status nest_split_into_groups(sketch_state *s, int stage, const char **parts) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1,
              most = GROUPS_MOST_VECTORS / (int)s->facts->of[stage].inner[last];
    const char *group, *of[2];
    AT_TRY(sketch_split_groups(s, stage, last, &group, &parts[1]));
    AT_TRY(
        sketch_split_by(s, t->name, group, "4 8 16 32 64", (at_part_limit){.vectors = most}, of));
    parts[0] = of[0], parts[2] = of[1];
    return AT_OK;
}

at_status nest_make_groups(sketch_state *s, int stage, const nest_choice *c) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    AT_TRY(nest_split_into_groups(s, stage, order.names));
    AT_TRY(sketch_step(s, &order));
    AT_TRY(sketch_mark(s, t->name, order.names[1], AT_ANN_UNROLL));
    AT_TRY(sketch_mark(s, t->name, order.names[2], AT_ANN_VEC));
    return sketch_mark(s, t->name, sketch_first_before(s, stage, c->vec, order.names[0]),
                       AT_ANN_PARA);
}

static bool is_plain(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    return !t->num_reduce && !t->is_packing && !sketch_stands_beside(s, stage);
}

void nest_find_groups(const sketch_state *s, int stage, nest_choices *out) {
    if (is_plain(s, stage) && nest_has_groups(s, stage))
        nest_add_axis(out, s, stage, s->facts->compute->tensors[stage].num_axes - 1);
}

void nest_find_plain(const sketch_state *s, int stage, nest_choices *out) {
    if (is_plain(s, stage)) nest_add(out, NULL, -1);
}

/* ---- lanes along a reduction ----------------------------------------------------------------- */

/* Choices are two only where the reduction goes over lists; that with lanes has them along vec. */
void nest_find_lanes(const sketch_state *s, int stage, nest_choices *out) {
    const char *name = s->facts->compute->tensors[stage].name;
    bool are_long;
    const int list = tile_list_lanes_of(s, stage, &are_long), sum = tile_lanes_of(s, stage);
    if (list >= 0) {
        if (!are_long) nest_add(out, NULL, -1);
        nest_add(out, name, list);
        if (are_long) nest_add(out, NULL, -1);
    } else if (sum >= 0 && tile_vector_of(s, stage) < 0) nest_add(out, name, sum);
}

static at_status share_out(sketch_state *s, int stage) {
    const char *first = sketch_first_loop(s, stage);
    if (!first) return AT_OK;
    return sketch_mark(s, s->facts->compute->tensors[stage].name, first, AT_ANN_PARA);
}

/* The axis of rows that a tile has several of, of short sums along the last reduction; -1: none,
 * as where entries say which rows are read. */
static int short_sums_of(const sketch_state *s, int stage, int vec, at_part_limit *limit) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const double terms = tile_terms_of(s, stage);
    if (terms <= 0 || sketch_stages(s) > 1 || vec != t->num_axes + t->num_reduce - 1) return -1;
    for (int i = 0; i < f->num_accesses; i++)
        if (!f->access[i].known || f->access[i].by_entry) return -1;
    return rows_of_tile(s, stage, t->num_axes, terms, limit);
}

/* Of short sums along the last reduction, which is lanes within `outer`, a tile has several rows:
 * four of them end with their lanes joined together. */
static at_status make_rows_of_sums(sketch_state *s, int stage, int row, int most,
                                   const char *outer) {
    static const at_split_spec spec = {.policy = AT_LISTED, .listed = "1 2 4 8 16 | 1 4 8"};
    const at_part_limit limits[] = {
        {0}, {.wide = most / 4, .narrow = most / 4}, {.wide = 4, .narrow = 4}};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *first = sketch_first_loop(s, stage), *parts[3];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(sketch_split(s, t->name, t->axes[row].name, 3, &spec, limits, parts));
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce - 1; k++)
        order.names[n++] = t->axes[k].name;
    order.names[n++] = outer;
    order.names[n] = parts[2];
    AT_TRY(sketch_step(s, &order));
    AT_TRY(sketch_mark(s, t->name, parts[2], AT_ANN_UNROLL));
    return sketch_mark(s, t->name, strcmp(first, t->axes[row].name) ? first : parts[0],
                       AT_ANN_PARA);
}

at_status nest_make_lanes(sketch_state *s, int stage, const nest_choice *c) {
    static const at_part_limit eight = {.vectors = 8};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const sketch_edit *first = s->last;
    const char *parts[2] = {NULL, c->vec < 0 ? NULL : t->axes[c->vec].name};
    const bool is_list = c->vec < 0 || t->axes[c->vec].begin;
    at_part_limit rows;
    const int row = is_list ? -1 : short_sums_of(s, stage, c->vec, &rows);
    if (!is_list) AT_TRY(sketch_split_by(s, t->name, parts[1], "8 16 32 64 128 256", eight, parts));
    if (c->vec >= 0) AT_TRY(sketch_mark(s, t->name, parts[1], AT_ANN_VEC));
    if (row >= 0) return make_rows_of_sums(s, stage, row, rows.wide, parts[0]);
    AT_TRY(share_out(s, stage));
    for (int i = 0; i < c->num_with; i++)
        AT_TRY(sketch_sum_beside(s, t->name, c->with[i], parts[0], first));
    return AT_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

void nest_find_list(const sketch_state *s, int stage, nest_choices *out) {
    const int last = tile_list_of(s, stage);
    if (last >= 0) nest_add_axis(out, s, stage, last);
}

/* What reads the sums, or a copy of them where they are an output, stands beside them. */
static at_status put_reader(sketch_state *s, int stage, const char *leaf, const char *loop) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_tensor *all = s->facts->compute->tensors;
    return f->has_matched_reader
               ? sketch_put(s, AT_EDIT_NEST, all[f->reader].name, false, leaf, loop)
               : sketch_copy_sum(s, all[stage].name, leaf);
}

/* Rows of a tile, of which each entry of the list is read once; parts: what is left of their axis,
 * and they themselves. */
static at_status split_rows(sketch_state *s, const at_tensor *t, int row, const char **parts) {
    static const at_part_limit rows = {.wide = 14, .narrow = 6};
    AT_TRY(sketch_split_by(s, t->name, t->axes[row].name, SKETCH_ROWS, rows, parts));
    return sketch_mark(s, t->name, parts[1], AT_ANN_UNROLL);
}

/* Short sums within an entry are written out. */
static at_status unroll_sums(sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (!t->axes[k].begin && s->facts->of[stage].extent[k] <= LIST_MOST_WRITTEN)
            AT_TRY(sketch_mark(s, t->name, t->axes[k].name, AT_ANN_UNROLL));
    return AT_OK;
}

at_status nest_make_list(sketch_state *s, int stage, const nest_choice *c) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int row = tile_list_row_of(s, stage);
    const char *outer, *inner, *leaf = t->name, *rows[2] = {NULL};
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(sketch_vectors(s, stage, &outer));
    inner = d[at_tree_digits(s->tree, stage, c->vec, d) - 1].piece;
    if (row >= 0) {
        AT_TRY(split_rows(s, t, row, rows));
        AT_TRY(unroll_sums(s, stage));
    }
    for (int k = 0; k < c->vec; k++)
        if (k != row && !sketch_is_step(s, stage, k)) order.names[n++] = t->axes[k].name;
    if (row >= 0) order.names[n++] = rows[0];
    order.names[n++] = outer;
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        order.names[n++] = t->axes[k].name;
    if (row >= 0) order.names[n++] = rows[1];
    order.names[n] = inner;
    AT_TRY(sketch_step(s, &order));
    if (!s->facts->of[stage].has_matched_reader) leaf = sketch_fresh_of(s, t->name, "sum");
    AT_TRY(sketch_mark(s, t->name, order.names[0], AT_ANN_PARA));
    return put_reader(s, stage, leaf, outer);
}

/* ---- a long sum shared out ------------------------------------------------------------------- */

/* The reduction that is shared out; -1: none is. */
static int factor_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int64_t elements = 1, terms = 1;
    if (tile_lanes_of(s, stage) < 0) return -1;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++) {
        if (t->axes[k].begin || f->divisor[k]) return -1;
        if (k < t->num_axes) elements *= f->extent[k];
        else terms *= f->extent[k];
    }
    int64_t steps = f->extent[t->num_axes] / (t->num_reduce > 1 ? 1 : FACTOR_LANES);
    bool suits = elements <= FACTOR_MOST_ELEMENTS && terms >= FACTOR_LEAST_TERMS &&
                 tile_vector_of(s, stage) < 0;
    return suits && steps >= 2 * FACTOR_PARTS ? t->num_axes : -1;
}

/* The loop that runs the reduction, or what lanes left of it. */
static const char *loop_of(const sketch_state *s, const char *stage, const char *axis) {
    const char *loop = axis;
    for (const sketch_edit *e = s->last; e; e = e->before)
        if (e->edit.kind == AT_EDIT_SPLIT && !strcmp(e->edit.stage, stage) &&
            !strcmp(e->edit.loop, axis))
            loop = e->edit.names[0]; /* of the first such */
    return loop;
}

static at_status make_factor(sketch_state *s, int stage, int k) {
    static const at_split_spec spec = {.policy = AT_FACTORS, .filter = "first <= 256"};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int limit = (int)(s->facts->of[stage].extent[k] / (t->num_reduce > 1 ? 1 : FACTOR_LANES) /
                      FACTOR_PARTS);
    const at_part_limit limits[] = {{0}, {.wide = limit, .narrow = limit}};
    const char *parts[2], *name = sketch_fresh_of(s, t->name, "parts");
    if (t->num_axes) AT_TRY(sketch_mark(s, t->name, t->axes[0].name, AT_ANN_NONE));
    AT_TRY(sketch_split(s, t->name, loop_of(s, t->name, t->axes[k].name), 2, &spec, limits, parts));
    AT_TRY(sketch_make(s, AT_EDIT_FACTOR, t->name, NULL, parts[0], name));
    return sketch_mark(s, name, parts[0], AT_ANN_PARA);
}

void sketch_factor(const sketch_state *s, sketch_states *out) {
    *at_push(s->arena, out) = sketch_branch(s, "");
    for (int t = 0; t < s->facts->compute->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        int k = at_facts_has_leaf(s->facts, t) && !f->steps ? factor_of(s, t) : -1;
        if (k < 0) continue;
        sketch_state *b = sketch_branch(
            s, at_format(s->arena, "factor_%s", s->facts->compute->tensors[t].axes[k].name));
        if (make_factor(b, t, k) == AT_OK) *at_push(s->arena, out) = b;
        return;
    }
}
