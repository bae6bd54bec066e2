/* sketch/starts.c: what further sketches begin with, beside those of the computation as it is: a
 * row for each.
 *
 * strip: what is padded is copied with its padding, so that nothing cuts into lanes that go along
 * it, or into the rows of dot products:
 *
 *     n, c, h, w, .. @conv reads pad    ->    n, c, y, x0, x1:vec => @pad
 *                                             n, h, w0, .. w1:vec => @conv
 *
 * Where other lanes are cut from one step of a sum to the next, sums would wait in memory for each
 * step, so these sketches are what a task has by default, unless lanes read every second element in
 * rows of more than two registers, or every third or fourth by a condition, where some windows take
 * less time so and some more; a bound of an index finds elements further apart one by one. They are
 * the default, too, where bytes are padded by another number than 0, such as a zero point, or to
 * more channels, and where the points of a row and their channels become one axis: such products
 * are no dot products.
 *
 * whole: what is calculated of elements that a sum needs many times is computed as a whole before
 * it:
 *
 *     As[i, k] = A[i, k]*s[k]; .. sum(k) As[i, k]*B[k, j]    ->    i, k0, k1:vec => @As
 *                                                                  j0, i0, .. @out
 *
 * So is what takes several operations and is needed in windows, as the rows of a separable filter:
 * the rows of a tile share some of it, and only their own. What takes several operations and is
 * needed many times is worked out so by default.
 *
 * pairs: products of two bf16 are added two at a time (tile_dots.c). Not every set has such dot
 * products, and where it has them they may take longer than multiply-adds, so these sketches are
 * never the default: estimates know.
 *
 * kept: stages that take few operations, and are needed in windows, are kept row by row
 * (nest_chain.c).
 *
 * words: bytes are widened to s16 for dot products, where a set has dot products of bytes by
 * several instructions alone (rewrite_operands.c). These sketches are the default for such sets
 * alone, and only where factors are needed often, unless a set has no others. */
#include "schedule/access.h"
#include "sketch/nests.h"

/* ---- strip ----------------------------------------------------------------------------------- */

static bool is_cut(const sketch_state *s, int stage, const at_access *x) {
    int vec = tile_vector_of(s, stage), dot = tile_dot_of(s, stage);
    bool any = false;
    if (vec >= 0) return x->is_cut[vec] && x->stride[vec] >= 1 && x->stride[vec] <= MOST_LANE_STEP;
    for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++) any |= x->is_cut[k];
    return dot >= 0 && any;
}

static bool is_zero(const at_expr *e) {
    return (e->op == AT_X_INT && !e->integer) || (e->op == AT_X_FLOAT && e->number == 0);
}

/* Does a sum of products of bytes read them by a condition, or else something that is not 0? */
static bool is_padded_otherwise(const at_compute *c, int stage, const at_access *x) {
    const at_expr *e = c->tensors[x->from].body;
    return tile_sums_bytes(c, &c->tensors[stage]) && x->is_guarded && x->from != x->tensor &&
           e->op == AT_X_SELECT && !is_zero(e->arg[1]) && !is_zero(e->arg[2]);
}

/* Are terms of dot products, which lie side by side, more than memory has, as where three channels
 * are padded to four? A condition would stand between them. */
static bool is_longer(const sketch_state *s, int stage, const at_access *x) {
    const at_compute *c = s->facts->compute;
    const at_tensor *t = &c->tensors[stage];
    const int row = c->tensors[x->from].num_axes - 1, of = c->tensors[x->tensor].num_axes - 1;
    bool terms = false;
    if (!tile_dot_terms(c, t) || !x->is_guarded || x->from == x->tensor || row < 0 || of < 0)
        return false;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++) {
        if (x->stride[k] == 1 && k < t->num_axes) return false;
        terms |=
            x->stride[k] == 1 && s->facts->extents[x->from][row] == s->facts->of[stage].extent[k];
    }
    return terms && s->facts->extents[x->from][row] > s->facts->extents[x->tensor][of];
}

static bool is_quotient(const at_expr *e, const void *rest) {
    const at_expr *const r = rest;
    return e->op == AT_X_DIV && at_expr_equal(e->arg[0], r->arg[0]) &&
           at_expr_equal(e->arg[1], r->arg[1]);
}

/* A read that takes an axis apart: one index is its rest, and the quotient is in another one. */
static at_walk find_parted(const at_expr *e, void *axis) {
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    for (int r = 0; r < e->nargs; r++) {
        const at_expr *rest = e->arg[r];
        if (rest->op != AT_X_MOD || rest->arg[0]->op != AT_X_NAME) continue;
        for (int q = 0; q < e->nargs; q++)
            if (at_expr_find(e->arg[q], is_quotient, rest)) {
                *(int *)axis = rest->arg[0]->ref;
                return AT_WALK_END;
            }
    }
    return AT_WALK_ON;
}

int nest_parted_axis(const at_expr *body) {
    int axis = -1;
    at_expr_walk(body, find_parted, &axis);
    return axis;
}

/* Do terms of dot products go along an axis that is two in memory, as the points of a picture's row
 * and their few channels are? */
static bool is_joined(const sketch_state *s, int stage, const at_access *x) {
    const at_compute *c = s->facts->compute;
    const at_tensor *t = &c->tensors[stage];
    uint32_t axes = 0;
    bool divides = false;
    if (!tile_dot_terms(c, t) || x->from == x->tensor) return false;
    const int joined = nest_parted_axis(c->tensors[x->from].body);
    const at_expr *read = at_expr_read_of(t->body, x->from);
    if (!read || joined < 0 || joined >= read->nargs) return false;
    at_index_look(read->arg[joined], &axes, &divides);
    const uint32_t own = (1u << t->num_axes) - 1;
    return (axes & own) && (axes & ~own);
}

/* Is the padding between elements, as in a transposed convolution? Phases take care of that, a copy
 * would hold mostly zeros. */
static bool has_phases(const at_stage_facts *f, int axes) {
    for (int k = 0; k < axes; k++)
        if (f->divisor[k] && f->is_phase[k]) return true;
    return false;
}

/* "strip_pad+strip_x" of a word so far, or NULL. */
static const char *add_word(const sketch_state *s, const char *word, const char *what,
                            const at_tensor *t) {
    return at_format(s->arena, "%s%s%s_%s", word ? word : "", word ? "+" : "", what, t->name);
}

/* Some are stages that rewrites make. */
static void keep(const sketch_state *s, sketch_start *out, const bool *strips) {
    const at_compute *c = s->facts->compute, *before = s->before->compute;
    const char **made = AT_NEW_ARRAY(s->arena, const char *, c->num_tensors + 1);
    out->kept = AT_NEW_ARRAY(s->arena, bool, before->num_tensors);
    out->strips = made;
    for (int t = 0; t < c->num_tensors; t++) {
        const int known = at_compute_find(before, c->tensors[t].name);
        if (strips[t] && known >= 0) out->kept[known] = true;
        else if (strips[t]) *made++ = c->tensors[t].name;
    }
}

static const char *strip(const sketch_state *s, sketch_start *out) {
    const at_compute *c = s->facts->compute;
    const char *word = NULL;
    bool *strips = AT_NEW_ARRAY(s->arena, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        if (!at_facts_has_leaf(s->facts, t) || !c->tensors[t].num_reduce) continue;
        const bool phases = has_phases(f, c->tensors[t].num_axes);
        for (int i = 0; i < f->num_accesses; i++) {
            const int from = f->access[i].from, vec = tile_vector_of(s, t);
            const bool joined = is_joined(s, t, &f->access[i]),
                       other = joined || is_padded_otherwise(c, t, &f->access[i]) ||
                               is_longer(s, t, &f->access[i]);
            if (from == f->access[i].tensor || strips[from] || (phases && !joined) ||
                !(other || is_cut(s, t, &f->access[i])))
                continue;
            strips[from] = true;
            out->is_preferred |= other;
            out->is_preferred |=
                vec >= 0 && f->access[i].is_cut_unevenly[vec] &&
                (f->access[i].stride[vec] == 1 ||
                 (f->access[i].stride[vec] == 2 && f->inner[vec] <= STRIP_MOST_APART) ||
                 (f->access[i].stride[vec] > 2 && !f->access[i].is_guarded));
            word = add_word(s, word, "strip", &c->tensors[from]);
        }
    }
    keep(s, out, strips);
    return word;
}

/* ---- whole ----------------------------------------------------------------------------------- */

/* How often an element of each stage is worked out by sums, or by others, where it is dissolved. */
static double *uses_of(const sketch_state *s, bool by_sums) {
    const at_facts *f = s->before;
    const at_compute *c = f->compute;
    double *uses = AT_NEW_ARRAY(s->arena, double, c->num_tensors); /* of all elements together */
    for (int t = c->num_tensors - 1; t >= 0; t--) {
        for (int r = t + 1; r < c->num_tensors; r++) {
            const at_tensor *x = &c->tensors[r];
            double points = f->of[r].is_dissolved ? uses[r] : by_sums == (x->num_reduce > 0);
            int n = f->of[r].is_stage ? at_expr_count_reads(x->body, t) : 0;
            for (int k = 0; k < x->num_axes + x->num_reduce && !f->of[r].is_dissolved; k++)
                points *= (double)f->extents[r][k];
            if (n) uses[t] += by_sums ? points : points * n;
        }
    }
    for (int t = 0; t < c->num_tensors; t++) uses[t] /= at_facts_elements(f, t);
    return uses;
}

/* Is it a factor of two s16, which lie side by side in memory where they are terms of dot products?
 */
static bool is_word(const at_compute *c, int stage) {
    for (int t = stage + 1; t < c->num_tensors && c->tensors[stage].type == AT_S16; t++)
        if (tile_dot_terms(c, &c->tensors[t]) && at_expr_count_reads(c->tensors[t].body, stage))
            return true;
    return false;
}

static const char *whole(const sketch_state *s, sketch_start *out) {
    const at_compute *c = s->before->compute;
    const double *by_sums = uses_of(s, true), *by_others = uses_of(s, false);
    const char *word = NULL;
    out->kept = AT_NEW_ARRAY(s->arena, bool, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) {
        const at_stage_facts *f = &s->before->of[t];
        const bool takes_several =
            f->operations >= WHOLE_LEAST_OPERATIONS * at_facts_elements(s->before, t);
        const bool in_windows = by_others[t] >= WHOLE_WINDOW && takes_several;
        const bool has_many_uses = by_sums[t] >= WHOLE_MANY_USES;
        if (!f->is_dissolved || f->operations <= 0 || (!has_many_uses && !in_windows)) continue;
        out->kept[t] = true;
        out->is_preferred |= is_word(c, t) || (has_many_uses && takes_several);
        word = add_word(s, word, "whole", &c->tensors[t]);
    }
    return word;
}

/* ---- kept rows ------------------------------------------------------------------------------- */

/* At how many places does a stage read a tensor? */
static int places_of(const at_compute *c, int stage, int tensor) {
    int num, places = 0;
    const at_expr *const *reads = at_compute_reads(c, stage, &num);
    for (int i = 0; i < num; i++) {
        bool is_new = reads[i]->ref == tensor;
        for (int k = 0; k < i && is_new; k++) is_new = !at_expr_equal(reads[i], reads[k]);
        places += is_new;
    }
    return places;
}

/* What readers need in windows is kept where that takes fewer operations, loads and stores than to
 * work it out for each, in a chain alone. */
static const char *keep_rows(const sketch_state *s, sketch_start *out) {
    const at_facts *f = s->before;
    const at_compute *c = f->compute;
    double *uses = AT_NEW_ARRAY(s->arena, double, c->num_tensors); /* of all elements together */
    double again = 0, once = 0;                                    /* operations of all stages */
    bool any = false;
    out->kept = AT_NEW_ARRAY(s->arena, bool, c->num_tensors);
    out->only_chain = true;
    for (int t = c->num_tensors - 1; t >= 0; t--) {
        const double elements = at_facts_elements(f, t);
        double work = f->of[t].operations;
        for (int r = 0; r < c->num_tensors; r++) {
            const bool is_passed = f->of[r].is_dissolved && !out->kept[r];
            double points = is_passed ? uses[r] : 1;
            for (int k = 0; k < c->tensors[r].num_axes + c->tensors[r].num_reduce && !is_passed;
                 k++)
                points *= (double)f->extents[r][k];
            if (r > t && f->of[r].is_stage) uses[t] += points * places_of(c, r, t);
            else if (r < t && f->of[t].is_stage) work += elements * places_of(c, t, r);
        }
        out->kept[t] = f->of[t].is_dissolved && !c->tensors[t].is_packing &&
                       work / elements * (uses[t] - elements) > uses[t] + elements;
        any |= out->kept[t];
        const double times = f->of[t].is_dissolved ? uses[t] / elements : 1;
        again += f->of[t].operations * times;
        once += f->of[t].operations * (out->kept[t] ? 1 : times);
    }
    out->is_preferred = again >= 1.5 * once;
    return any ? "kept" : NULL;
}

/* ---- the rows -------------------------------------------------------------------------------- */

static const char *keep_weights(const sketch_state *s, sketch_start *out) {
    out->keeps_weights = true;
    return s->joins_weights ? "" : NULL;
}

/* Does a choice cut lanes of some terms otherwise than those of others? */
static bool is_cut_unevenly(const sketch_state *s, int stage, const at_access *x) {
    const int vec = tile_vector_of(s, stage);
    return is_cut(s, stage, x) && (vec < 0 || x->is_cut_unevenly[vec]);
}

/* Do lanes of a sum go along what a condition of its own cuts, which no strip gets rid of? */
static bool is_cut_itself(const sketch_state *s) {
    const at_compute *c = s->facts->compute;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        if (!at_facts_has_leaf(s->facts, t) || !c->tensors[t].num_reduce) continue;
        for (int i = 0; i < f->num_accesses; i++)
            if (f->access[i].from == f->access[i].tensor && is_cut_unevenly(s, t, &f->access[i]))
                return true;
    }
    return false;
}

/* Do lanes of a sum suit an axis whose elements do not lie side by side? Each would be stored
 * alone, or windows copied for lanes that do. */
static bool stores_apart(const sketch_state *s) {
    const at_compute *c = s->facts->compute;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_stage_facts *f = &s->facts->of[t];
        if (!at_facts_has_leaf(s->facts, t) || !c->tensors[t].num_reduce) continue;
        const int vec = tile_vector_of(s, t);
        int64_t apart = 1;
        for (int k = vec + 1; vec >= 0 && k < c->tensors[t].num_axes; k++) apart *= f->extent[k];
        if (apart > 1) return true;
    }
    return false;
}

static const char *put_last(const sketch_state *s, sketch_start *out) {
    out->puts_last = true;
    out->is_preferred = is_cut_itself(s) || stores_apart(s);
    return sketch_has_layouts(s) ? "" : NULL;
}

static const char *take_pairs(const sketch_state *s, sketch_start *out) {
    const at_compute *c = s->facts->compute;
    out->pairs = true;
    for (int t = 0; t < c->num_tensors; t++) {
        const at_tensor *x = &c->tensors[t];
        if (at_facts_has_leaf(s->facts, t) && x->type == AT_F32 && tile_dot_terms(c, x) &&
            tile_vector_of(s, t) >= 0)
            return "pairs";
    }
    return NULL;
}

static const char *take_words(const sketch_state *s, sketch_start *out) {
    const at_compute *c = s->before->compute;
    out->words = true;
    for (int t = 0; t < c->num_tensors; t++)
        if (s->before->of[t].is_stage && tile_sums_bytes(c, &c->tensors[t])) return "words";
    return NULL;
}

/* Are two axes at least of a stage long, so that whole tiles or steps are left out? */
static bool is_long(const at_stage_facts *f, const at_tensor *x) {
    int long_axes = 0;
    for (int k = 0; k < x->num_axes + x->num_reduce; k++) long_axes += f->extent[k] >= BOUND_LONG;
    return long_axes > 1;
}

static const char *bound_sums(const sketch_state *s, sketch_start *out) {
    const at_compute *c = s->before->compute;
    const char *word = NULL;
    out->bounds = true;
    for (int t = 0; t < c->num_tensors; t++)
        if (sketch_is_bounded(s, c, t)) {
            word = "bounds";
            out->is_preferred |= is_long(&s->before->of[t], &c->tensors[t]);
        }
    return word;
}

bool sketch_further_start(const sketch_state *first, int i, sketch_start *out) {
    static const char *(*const rows[])(const sketch_state *, sketch_start *) = {
        keep_weights, strip, whole, put_last, take_pairs, take_words, bound_sums, keep_rows};
    _Static_assert(sizeof rows / sizeof *rows == SKETCH_STARTS, "a row for each");
    *out = (sketch_start){.name = NULL};
    out->name = rows[i](first, out);
    return out->name;
}
