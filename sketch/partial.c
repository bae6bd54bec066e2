/* sketch/partial.c: a tree of which somebody wrote a part. Pieces without an extent get one, by a
 * knob where there is a choice; stages without a leaf begin in plain loops, and rules go on with
 * them. What is written stays as it is.
 *
 *     i0:para, j0 =>                                   knobs tile_i, tile_j, tile_k, mark_k1
 *         k0, k1, i1:unroll, j1:vec =>          ->     and @out beside @mul
 *             @mul = {i0, i1}/i, {j0, j1}/j // {k0, k1}/k  */
#include <string.h>

#include "sketch/nests.h"

typedef struct completion {
    sketch_state *s;
    const at_tree *tree; /* with open pieces */
    const char *stage;
    int stage_number;
    int unrolled; /* axes of the stage that have had their rows */
    at_error *err;
} completion;

/* ---- extents --------------------------------------------------------------------------------- */

static at_status check_name(const completion *c, const char *name, int line) {
    if (sketch_is_taken(c->s, name))
        return at_fail(
            c->err, AT_E_INPUT,
            "%s:%d: \"%s\" is a part of an axis without a size, and the name of something "
            "else: a part needs a name of its own",
            at_tree_what(c->tree), line, name);
    return AT_OK;
}

/* How long is what is left of an axis, when the parts that have sizes already are taken away? As an
 * expression. */
static const char *rest_of(const completion *c, const at_axis *axis, const at_leaf_digit *d,
                           int n) {
    const char *all = at_expr_text(c->s->arena, axis->extent);
    at_text known = {0};
    for (int i = 0; i < n; i++) {
        if (d[i].is_open) continue;
        if (known.len) at_text_add(&known, "*");
        if (d[i].fixed) at_text_addf(&known, "%lld", (long long)d[i].fixed);
        else at_text_add(&known, d[i].piece);
    }
    const char *by = at_text_str(&known);
    if (known.len) all = at_format(c->s->arena, "((%s) + %s - 1)/(%s)", all, by, by);
    at_text_free(&known);
    return all;
}

/* By what stands at the loop. */
static const char *sizes_for(const at_leaf_digit *d, bool is_reduce) {
    if (d->ann == AT_ANN_VEC) return is_reduce ? "4 8 16 32 64" : "4 8 12 16 24 32 48 64";
    if (d->ann == AT_ANN_UNROLL) return SKETCH_ROWS;
    return "pow2";
}

static at_part_limit limit_for(completion *c, const at_leaf_digit *d, bool is_reduce) {
    if (d->ann == AT_ANN_VEC) return (at_part_limit){.vectors = is_reduce ? 1 : 2};
    if (d->ann == AT_ANN_UNROLL && !is_reduce && !c->unrolled++)
        return (at_part_limit){.wide = 14, .narrow = 6};
    if (d->has_mark || is_reduce) return (at_part_limit){.wide = 1, .narrow = 1};
    return (at_part_limit){.wide = 8, .narrow = 8};
}

/* A knob for several parts: as sketch_split, whose loops stand already. Only where the slowest is
 * among them may what they count go beyond the axis. */
static void add_split(completion *c, const at_axis *axis, bool is_reduce, bool has_slowest,
                      const char *length, const at_leaf_digit *open, int n) {
    at_arena *a = c->s->arena;
    const char *knob = sketch_fresh_knob(c->s, c->stage, axis->name);
    at_split_limits l = {.knob = knob, .axis = length, .num_parts = n};
    at_split_spec spec = {.policy = AT_LISTED};
    at_text parts = {0}, listed = {0};
    bool has_lanes = false;
    for (int i = 0; i < n; i++) {
        at_text_addf(&parts, "%s%s", i ? " " : "", open[i].piece);
        if (i) at_text_addf(&listed, "%s%s", i > 1 ? " | " : "", sizes_for(&open[i], is_reduce));
        if (i) l.part[i] = limit_for(c, &open[i], is_reduce);
        has_lanes |= open[i].ann == AT_ANN_VEC;
    }
    if (!has_slowest || (is_reduce && !has_lanes)) /* rules have parts that divide in sums, too */
        spec = (at_split_spec){.policy = AT_FACTORS, .filter = "last <= 64"};
    else spec.listed = at_strdup(a, at_text_str(&listed));
    l.tails = spec.policy != AT_FACTORS;
    *at_push(a, &c->s->definitions) = (at_definition){
        .kind = AT_DEFINE_SPLIT, .text = {knob, length, at_text_take(a, &parts)}, .spec = spec};
    *at_push(a, &c->s->limits) = l;
    at_text_free(&listed);
}

/* The last part of an axis, if nothing is said of its loop, may be lanes where it is the innermost
 * of all, and else written out. What comes first is the default. */
static void add_mark(completion *c, const at_leaf_digit *d, bool is_reduce) {
    at_arena *a = c->s->arena;
    bool may_vec = !is_reduce && d->is_own;
    const char *knob = at_format(a, "mark_%s", d->piece),
               *size = sketch_fresh_of(c->s, d->piece, "mark"),
               *marks = is_reduce ? "try_unroll"
                        : may_vec ? "vec_unroll_none"
                                  : "unroll_none";
    at_symbol_add(a, c->s->symbols, size);
    *at_push(a, &c->s->definitions) =
        (at_definition){.kind = AT_DEFINE_ANNOTATE, .text = {knob, size, marks}};
    *at_push(a, &c->s->marks) = (sketch_mark_knob){c->stage, d->piece, size, may_vec};
}

static at_status take_axis(completion *c, int k) {
    const at_tensor *x = &c->s->compute->tensors[c->stage_number];
    at_leaf_digit digits[AT_TREE_MOST_DIGITS], open[AT_TREE_MOST_DIGITS];
    int n = at_tree_digits(c->tree, c->stage_number, k, digits), num_open = 0;
    bool is_reduce = k >= x->num_axes, may_mark = false;
    for (int i = 0; i < n; i++) {
        digits[i].is_open &= at_symbol_find(c->s->symbols, digits[i].piece) < 0;
        if (i && i == n - 1) may_mark = digits[i].is_open && !digits[i].has_mark;
        if (may_mark && !is_reduce && digits[i].in_tile) { /* as large as if it were marked */
            digits[i].ann = digits[i].is_own ? AT_ANN_VEC : AT_ANN_UNROLL;
            digits[i].has_mark = true;
        }
        if (digits[i].is_open) open[num_open++] = digits[i];
    }
    if (!num_open) return AT_OK;
    if (num_open > 8)
        return at_fail(c->err, AT_E_INPUT, "%s:%d: more than 8 parts of axis \"%s\" have no size",
                       at_tree_what(c->tree), open[8].line, x->axes[k].name);
    const char *length = rest_of(c, &x->axes[k], digits, n);
    for (int i = 0; i < num_open; i++) AT_TRY(check_name(c, open[i].piece, open[i].line));
    for (int i = 0; i < num_open; i++) at_symbol_add(c->s->arena, c->s->symbols, open[i].piece);
    if (num_open == 1) {
        *at_push(c->s->arena, &c->s->definitions) =
            (at_definition){.kind = AT_DEFINE_SIZES,
                            .text = {at_format(c->s->arena, "%s = %s", open[0].piece, length)}};
        return AT_OK;
    }
    add_split(c, &x->axes[k], is_reduce, digits[0].is_open, length, open, num_open);
    if (may_mark && (is_reduce || digits[n - 1].in_tile)) add_mark(c, &digits[n - 1], is_reduce);
    return AT_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

/* A knob decides what every loop of its piece is marked with, where that says nothing itself. */
static at_status put_marks(const sketch_state *s, const sketch_mark_knob *m, at_tree **tree,
                           at_error *err) {
    const at_compute *c = s->compute;
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    for (int t = 0; t < c->num_tensors; t++)
        for (int k = 0; k < c->tensors[t].num_axes + c->tensors[t].num_reduce; k++)
            for (int i = at_tree_digits(*tree, t, k, d); i-- > 0;) {
                if (strcmp(d[i].piece, m->piece) || d[i].has_mark || (m->may_vec && !d[i].is_own))
                    continue;
                AT_TRY(at_edit_mark_size(s->arena, *tree, c, c->tensors[t].name, m->piece, m->size,
                                         tree, err));
            }
    return AT_OK;
}

static bool may_be_lanes(const sketch_state *s, const at_leaf_digit *d) {
    for (int i = 0; i < s->marks.len; i++)
        if (s->marks.data[i].may_vec && !strcmp(s->marks.data[i].piece, d->piece)) return d->is_own;
    return d->ann == AT_ANN_VEC;
}

/* A sum that was written with lanes counts as a tile from here on, so that its operands may be
 * packed. */
static void note_tile(sketch_state *s, int stage) {
    const at_tensor *x = &s->compute->tensors[stage];
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    sketch_tile t = {.stage = stage, .leaf = x->name, .vec = -1, .row = -1, .fours = -1};
    for (int k = 0; k < x->num_axes; k++) {
        int n = at_tree_digits(s->tree, stage, k, d);
        if (n < 1) continue;
        if (may_be_lanes(s, &d[n - 1])) t.vec = k;
        else if (d[n - 1].ann == AT_ANN_UNROLL) t.row = k;
    }
    if (x->num_reduce && t.vec >= 0) *at_push(s->arena, &s->tiles) = t;
}

/* Puts a stage that reads a written sum element by element beside it, where the sum is complete;
 * false: there is no such sum. */
static bool stand_behind_sum(sketch_state *s, int stage) {
    const at_facts *f = s->facts;
    for (int t = f->compute->num_tensors - 1; t >= 0; t--) {
        const at_stage_facts *x = &f->of[t];
        if (!x->is_written || !x->has_matched_reader || x->reader != stage) continue;
        if (!f->compute->tensors[t].num_reduce) continue;
        const char *loop = at_tree_around_sum(s->tree, t);
        return loop && sketch_put(s, AT_EDIT_NEST, f->compute->tensors[stage].name, false,
                                  f->compute->tensors[t].name, loop) == AT_OK;
    }
    return false;
}

/* Puts a stage into the loop in which both what it reads and what reads it are written; false:
 * there is none. */
static bool stand_between(sketch_state *s, int stage) {
    const at_facts *f = s->facts;
    const at_tensor *t = f->compute->tensors, *x = &t[stage];
    const char *outer;
    at_leaf_digit d[AT_TREE_MOST_DIGITS];
    for (int reader = stage + 1; reader < f->compute->num_tensors; reader++)
        for (int from = 0; from < stage; from++) {
            if (!f->of[reader].is_written || !f->of[from].is_written ||
                !at_facts_reads(f, reader, stage) || !at_facts_reads(f, stage, from))
                continue;
            const char *loop = at_tree_around_both(s->tree, from, reader);
            if (!loop) continue;
            if (sketch_put(s, AT_EDIT_NEST, x->name, true, t[reader].name, loop) != AT_OK)
                return false;
            if (x->num_reduce || at_tree_digits(s->tree, stage, x->num_axes - 1, d) != 1 ||
                d->has_mark || strcmp(d->piece, x->axes[x->num_axes - 1].name) != 0)
                return true;
            return sketch_vectors(s, stage, &outer) == AT_OK;
        }
    return false;
}

void nest_find_written(const sketch_state *s, int stage, nest_choices *out) {
    if (s->begun && !s->facts->of[stage].is_dissolved) nest_add(out, NULL, -1);
}

at_status nest_make_written(sketch_state *s, int stage, const nest_choice *c) {
    (void)c;
    return stand_behind_sum(s, stage) || stand_between(s, stage) ? AT_OK : AT_E_INPUT;
}

at_status sketch_open_written(at_arena *a, const at_compute *c, const sketch_derivation *d,
                              const at_tree **tree, bool **written, at_error *err) {
    at_tree *t;
    AT_TRY(at_tree_over(a, d->tree, c, at_tree_what(d->tree), true, &t, err));
    *written = AT_NEW_ARRAY(a, bool, c->num_tensors + 1);
    for (int i = 0; i < c->num_tensors; i++) (*written)[i] = at_tree_has_leaf(t, i);
    *tree = t;
    return AT_OK;
}

at_status sketch_start_written(sketch_state *s, const at_tree *tree, at_error *err) {
    completion c = {.s = s, .tree = tree, .err = err};
    const at_compute *compute = s->compute;
    for (int t = 0; t < compute->num_tensors; t++) {
        c.stage = compute->tensors[t].name;
        c.stage_number = t;
        c.unrolled = 0;
        for (int k = 0; at_tree_has_leaf(tree, t) &&
                        k < compute->tensors[t].num_axes + compute->tensors[t].num_reduce;
             k++)
            AT_TRY(take_axis(&c, k));
    }
    AT_TRY(at_edit_complete(s->arena, compute, tree, &s->tree, err));
    for (int i = 0; i < s->marks.len; i++) AT_TRY(put_marks(s, &s->marks.data[i], &s->tree, err));
    s->name = "written";
    for (int t = 0; t < compute->num_tensors; t++)
        if (at_tree_has_leaf(tree, t)) note_tile(s, t);
    return AT_OK;
}
