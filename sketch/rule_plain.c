/* sketch/rule_plain.c: what sums nothing, in vectors along what lies side by side:
 *
 *     i, j => @out = i, j      ->      i:para, j0, j1:vec => @out = i, {j0, j1}/j
 *
 * and several rows in one tile, where a row is short:
 *
 *     i0:para, i1, j0, j1:vec => @out = {i0, i1}/i, {j0, j1}/j
 *
 * or where neighbouring rows read some of the same, which a tile loads and works out once:
 *
 *     i0:para, j0, i1:unroll, j1:vec => @out = {i0, i1}/i, {j0, j1}/j
 *
 * Where an index takes such an axis in pairs, or in groups of three or four, lanes are the same of
 * each, which lie so many elements apart; conditions on the others fold:
 *
 *     .. j%2 == 0 ? x[j] : ..  ->      j_g0, j_i:unroll, j_g1:vec => @out = {j_g0, j_g1, j_i}/j  */
#include <stdlib.h>
#include <string.h>

#include "sketch/tile.h"

enum {
    LEAST_LANES = 4,
    LEAST_GROUPS = 8,
    MOST_APART = 8, /* rows of a tile */
    SHORT_ROW = 128 /* calls of a tile for each cost more than a tenth */
};

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

static rule_verdict applies(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    return t->num_reduce || t->is_packing || sketch_stands_beside(s, stage) ? RULE_SKIP
                                                                            : RULE_APPLY_ALONE;
}

at_status sketch_vectors(sketch_state *s, int stage, const char **outer, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int last = t->num_axes - 1;
    const char *parts[2] = {NULL};
    *outer = NULL;
    if (s->facts->of[stage].extent[last] < LEAST_LANES || sketch_is_step(s, stage, last))
        return AT_OK;
    AT_TRY(sketch_split_lanes(s, t->name, t->axes[last].name, parts, err));
    *outer = parts[0];
    return sketch_mark(s, t->name, parts[1], AT_ANN_VEC, err);
}

/* Of two axes the second one is short, and there are many of the first. */
static bool has_short_rows(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    return s->facts->compute->tensors[stage].num_axes == 2 && !f->steps &&
           f->extent[1] <= SHORT_ROW && f->extent[0] >= SHORT_ROW;
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
            llabs(apart / x->stride[k]) < MOST_APART)
            return true;
    }
    return false;
}

/* The last axis but vectors' whose rows read some of the same; -1: there is none. What all rows
 * read counts only where rows are long and nothing else is computed. */
static int shared_rows(const sketch_state *s, int stage) {
    const bool windows = has_short_rows(s, stage) || sketch_stages(s) > 1;
    const at_stage_facts *f = &s->facts->of[stage];
    const int axes = s->facts->compute->tensors[stage].num_axes;
    for (int k = axes - 2; k >= 0; k--)
        for (int i = 0; i < f->num_accesses && f->extent[k] > 1 && !sketch_is_step(s, stage, k);
             i++)
            if (reads_again(f, &f->access[i], k, axes, windows)) return k;
    return -1;
}

/* Rows along axis k of a tile; outer: what is left of the vectors' axis. */
static at_status make_shared(sketch_state *s, int stage, int k, const char *outer, at_error *err) {
    static const at_split_spec rows = {.policy = AT_LISTED, .listed = "1 2 4 6 8"};
    static const at_part_limit limits[] = {{0}, {.wide = 4, .narrow = 4}};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const char *parts[2];
    at_edit order = {.kind = AT_EDIT_ORDER, .stage = t->name};
    int n = 0;
    AT_TRY(sketch_split(s, t->name, t->axes[k].name, 2, &rows, limits, parts, err));
    for (int j = k + 1; j < t->num_axes - 1; j++)
        if (!sketch_is_step(s, stage, j)) order.names[n++] = t->axes[j].name;
    order.names[n++] = outer;
    order.names[n] = parts[1];
    AT_TRY(sketch_step(s, &order, err));
    AT_TRY(sketch_mark(s, t->name, parts[1], AT_ANN_UNROLL, err));
    const char *first = sketch_first_loop(s, stage);
    return sketch_mark(s, t->name, strcmp(first, t->axes[k].name) ? first : parts[0], AT_ANN_PARA,
                       err);
}

static at_status make(sketch_state *s, int stage, at_error *err) {
    static const at_split_spec rows = {.policy = AT_LISTED, .listed = "1 4 16 64"};
    static const at_part_limit limits[] = {{0}, {.wide = 16, .narrow = 16}};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int last = t->num_axes - 1, shared = shared_rows(s, stage);
    const char *outer, *parts[2];
    if (s->facts->of[stage].inner_steps >> last & 1) return AT_OK; /* in its plain loops */
    AT_TRY(sketch_vectors(s, stage, &outer, err));
    if (s->facts->of[stage].inner_steps) return AT_OK;
    if (outer && shared >= 0) return make_shared(s, stage, shared, outer, err);
    if (has_short_rows(s, stage)) {
        AT_TRY(sketch_split(s, t->name, t->axes[0].name, 2, &rows, limits, parts, err));
        return sketch_mark(s, t->name, parts[0], AT_ANN_PARA, err);
    }
    const char *first = sketch_first_loop(s, stage);
    if (!first || (!outer && last == 0)) return AT_OK;
    const bool is_lanes = outer && !strcmp(first, t->axes[last].name);
    return sketch_mark(s, t->name, is_lanes ? outer : first, AT_ANN_PARA, err);
}

static bool is_left(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    return f->is_stage && !f->is_dissolved && !f->is_written && !t->num_reduce && !t->is_packing &&
           sketch_stands_beside(s, stage) && sketch_is_untouched(s, stage);
}

void sketch_place_left(sketch_states *states) {
    at_error why;
    for (int i = 0; i < states->len; i++)
        for (int t = 0; t < states->data[i]->facts->compute->num_tensors; t++) {
            if (!is_left(states->data[i], t)) continue;
            sketch_state *b = sketch_branch(states->data[i], "");
            if (make(b, t, &why) == AT_OK) states->data[i] = b;
        }
}

/* ---- in groups ------------------------------------------------------------------------------- */

static bool has_groups(const sketch_state *s, int stage) {
    const at_stage_facts *f = &s->facts->of[stage];
    int last = s->facts->compute->tensors[stage].num_axes - 1;
    return !f->steps && f->divisor[last] && !f->is_phase[last] &&
           f->inner[last] <= TILE_MOST_STEP && f->extent[last] >= LEAST_GROUPS * f->inner[last];
}

static at_status make_groups(sketch_state *s, int stage, at_error *err) {
    /* A part of a part has no tail of its own. */
    static const at_split_spec spec = {.policy = AT_FACTORS, .filter = "last <= 64"};
    static const at_part_limit limits[] = {{0}, {.vectors = 2}};
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int last = t->num_axes - 1;
    const char *group, *within, *parts[2];
    AT_TRY(sketch_split_groups(s, stage, last, &group, &within, err));
    AT_TRY(sketch_split(s, t->name, group, 2, &spec, limits, parts, err));
    at_edit order = {
        .kind = AT_EDIT_ORDER, .stage = t->name, .names = {parts[0], within, parts[1]}};
    AT_TRY(sketch_step(s, &order, err));
    AT_TRY(sketch_mark(s, t->name, within, AT_ANN_UNROLL, err));
    AT_TRY(sketch_mark(s, t->name, parts[1], AT_ANN_VEC, err));
    return sketch_mark(s, t->name, last > 0 ? t->axes[0].name : parts[0], AT_ANN_PARA, err);
}

static void apply(const sketch_state *s, int stage, sketch_states *out, at_error *err) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    sketch_state *b;
    if (has_groups(s, stage)) {
        b = sketch_branch(s, at_format(s->arena, "groups_%s", t->axes[t->num_axes - 1].name));
        if (make_groups(b, stage, err) == AT_OK) *at_push(s->arena, out) = b;
    }
    b = sketch_branch(s, "");
    if (make(b, stage, err) == AT_OK) *at_push(s->arena, out) = b;
}

const sketch_rule at_rule_plain = {applies, apply};
