/* sketch/rewrite_sums.c: rewrites of what a sum sums.
 *
 * ranges: a sum whose range another axis bounds on one side, as that of a triangle, goes over all
 * that the range may reach, so that its loop can be cut into tiles and lanes; what lies outside is
 * left out by a condition, which lowering makes bounds of most tiles:
 *
 *     sum(k:0..i+1) l[i, k] * b[k, j]   ->   sum(k:N) (k < i+1 ? l[i, k] * b[k, j] : 0)
 *
 * A band, which is bounded on both sides, stays: most of the whole would lie outside. So does a
 * running sum (nest_steps.c), but a short one.
 *
 * inline: what a sum reads of stages that cost little, and is no choice such as padding's, becomes
 * part of the sum's text, so that rewrites behind it find what is read there:
 *
 *     d[i, j, k] = x[i, k] - y[j, k]; .. sum(k) abs(d[i, j, k])
 *                          ->    .. sum(k) abs(x[i, k] - y[j, k])
 *
 * quotients: a sum of quotients by what its terms share, which stand in it or are computed where it
 * reads them, becomes a sum that is divided, where that has fewer elements than there are
 * quotients:
 *
 *     p[i, k] = e[i, k]/z[i]; y[i, j] = sum(k) p[i, k]*v[k, j]
 *                          ->    y_whole[i, j] = sum(k) e[i, k]*v[k, j]; y[i, j] = y_whole[i,
 * j]/z[i]
 *
 * phases: a sum of whose terms a remainder leaves every S-th, as a transposed convolution has them,
 * becomes one sum for each phase, of the terms that count:
 *
 *     out[h] = sum(r:R) ((h + P - r)%S == 0 ? x[(h + P - r)/S] : 0)*w[r]    ->
 *         out_p[p, h] = sum(r:R/S) x[h - r + (P + p)/S]*w[S*r + (P + p)%S]
 *         out[h] = out_p[h%S, h/S]
 *
 * spread: what is read with zeros between, as a stage, becomes part of the sums that have phases of
 * it then, through the padding around it:
 *
 *     up[h] = h%S == 0 ? x[h/S] : 0; pad[h] = h >= P ? up[h - P] : 0; .. sum(r:R) pad[h + r]*w[r]
 *
 * bounds: in sketches of their own, a sum of which elements count on one side of a diagonal alone,
 * or within a band, or whose terms have a factor that is 0 elsewhere, has that condition itself, so
 * that tiles and steps outside are left out. So has a maximum of terms that are -inf elsewhere, and
 * a function of such terms:
 *
 *     s[i, j] = sum(k) ..; e[i, j] = j <= i ? exp(s[i, j]) : 0; y[i, d] = sum(j) e[i, j]*v[j, d]
 *         ->    s[i, j] = sum(k) j <= i ? .. : 0;  y[i, d] = sum(j) j <= i ? e[i, j]*v[j, d] : 0
 *
 * branches: a sum whose terms choose between two reads, of which lanes suit at most one, becomes a
 * sum of either:
 *
 *     y[i] = sum(j) (j >= i ? a[i, j] : a[j, i])*x[j]    ->
 *         y_where[i] = sum(j) (j >= i ? a[i, j]*x[j] : 0);  y_else[i] = sum(j) (j >= i ? 0 : ..)
 *         y[i] = y_where[i] + y_else[i]
 *
 * search: a stage that looks for the place of the largest term, or the smallest, along which lanes
 * go, looks through the block that has it: the others are read once.
 *
 *     m[i] = max(k:K) x[i, k]; at[i] = min(k:K) x[i, k] == m[i] ? k : inf    ->
 *         m_parts[i, b] = max(k:B) x[i, min(b*B, K - B) + k]; m[i] = max(b) m_parts[i, b]
 *         at_from[i] = min(b) m_parts[i, b] == m[i] ? min(b*B, K - B) : K - B
 *         at[i] = min(k:B) x[i, at_from[i] + k] == m[i] ? at_from[i] + k : inf
 *
 * terms: a sum of a few terms, of which a longer one needs each element once, becomes part of that
 * one's text by its terms: its elements are never stored.
 *
 *     r2[i, j] = sum(d:2) x[i, d]*x[j, d]; out[i] = sum(j) q[j]*exp(r2[i, j])
 *                 ->    out[i] = sum(j) q[j]*exp(x[i, 0]*x[j, 0] + x[i, 1]*x[j, 1])
 *
 * So does one over the few parts of a point, such as its colours, that only parts of points need:
 * lanes along points work it out once.
 *
 *     m[p] = max(c:3) x[p, c]; out[p, c] = x[p, c]/m[p]
 *                 ->    out[p, c] = x[p, c]/max(max(x[p, 0], x[p, 1]), x[p, 2])  */
#include "schedule/access.h"
#include "schedule/edit/edit_phases.h"
#include "sketch/nests.h"

/* ---- inline ---------------------------------------------------------------------------------- */

/* Does an expression consist of arithmetic alone, of elements whose places axes give? Counts these.
 */
static at_walk take_arithmetic(const at_expr *e, void *reads) {
    if (e->op == AT_X_SELECT) return AT_WALK_END;
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    ++*(int *)reads;
    for (int i = 0; i < e->nargs; i++)
        if (at_index_axis(e->arg[i]) == AT_INDEX_OTHER) return AT_WALK_END;
    return AT_WALK_PAST;
}

static bool is_arithmetic(const at_expr *e, int *reads) {
    return !at_expr_walk(e, take_arithmetic, reads);
}

/* In how many places do sums read a stage, once all behind it is inlined? 0: other stages read it,
 * too. */
static int places_of(const at_facts *f, int stage, const int *places) {
    int n = 0;
    for (int r = stage + 1; r < f->compute->num_tensors; r++) {
        const at_tensor *reader = &f->compute->tensors[r];
        int reads = f->of[r].is_stage ? at_expr_count_reads(reader->body, stage) : 0;
        if (reads && !reader->num_reduce && !places[r]) return 0;
        n += reads * (reader->num_reduce ? 1 : places[r]);
    }
    return n;
}

bool rewrite_inlined(sketch_state *s, const at_facts_given *given) {
    const at_facts *f = s->facts;
    bool any = false;
    int *places = AT_NEW_ARRAY(s->arena, int, f->compute->num_tensors); /* of those inlined */
    for (int t = f->compute->num_tensors - 1; t >= 0; t--) {
        int reads = 0, n = f->of[t].is_dissolved ? places_of(f, t, places) : 0;
        if (!n || !is_arithmetic(f->compute->tensors[t].body, &reads) || !reads ||
            n * reads > INLINE_MOST_READS)
            continue;
        at_edit e = {.kind = AT_EDIT_INLINE, .stage = f->compute->tensors[t].name};
        if (sketch_step(s, &e) != AT_OK) continue; /* a list is read there */
        places[t] = n;
        any = true;
    }
    return any && sketch_refresh_facts(s, given) == AT_OK;
}

/* ---- ranges ---------------------------------------------------------------------------------- */

static bool is_triangle(const at_axis *x) {
    return x->begin && !at_expr_reads(x->begin) && !at_expr_reads(x->end) &&
           (at_expr_axes(x->begin) != 0) != (at_expr_axes(x->end) != 0);
}

static bool runs_on(const at_tensor *t, const int64_t *values) {
    const int axis = at_running_axis(t);
    int64_t n;
    return axis >= 0 && at_expr_eval(t->axes[axis].extent, values, &n, NULL) == AT_OK &&
           n > RANGE_SHORT;
}

/* Of these sizes; a range that is always empty goes over nothing. */
static bool reaches(const at_axis *x, const int64_t *values) {
    int64_t n;
    return at_expr_eval(x->extent, values, &n, NULL) == AT_OK && n > 0;
}

bool rewrite_ranges(sketch_state *s, int stage, const at_facts_given *given) {
    bool any = false;
    for (int k = 0; k < s->compute->tensors[stage].num_reduce; k++) {
        const at_tensor *x = &s->compute->tensors[stage];
        const at_axis *axis = &x->axes[x->num_axes + k];
        at_edit e = {.kind = AT_EDIT_WIDEN, .stage = x->name, .loop = axis->name};
        sketch_state *b = sketch_branch(s, "");
        if (!is_triangle(axis) || x->cycle || runs_on(x, given->values) ||
            sketch_step(b, &e) != AT_OK ||
            !reaches(&b->compute->tensors[stage].axes[x->num_axes + k], given->values))
            continue;
        *s = *b;
        any = true;
    }
    return any && sketch_refresh_facts(s, given) == AT_OK;
}

/* ---- quotients ------------------------------------------------------------------------------- */

/* Where no other stage reads it, a quotient that the sum would compute anew becomes part of it. */
static bool inline_quotients(sketch_state *s, int stage, const at_facts_given *given,
                             double *elements) {
    const at_facts *f = s->facts;
    const char *name = f->compute->tensors[stage].name;
    for (int t = 0; t < stage; t++) {
        const at_tensor *x = &f->compute->tensors[t];
        const at_edit e = {.kind = AT_EDIT_INLINE, .stage = x->name};
        int readers = 0;
        if (!f->of[t].is_dissolved || x->body->op != AT_X_DIV || x->type != AT_F32 ||
            !at_expr_count_reads(f->compute->tensors[stage].body, t))
            continue;
        for (int r = t + 1; r < f->compute->num_tensors; r++)
            readers += f->of[r].is_stage && at_expr_count_reads(f->compute->tensors[r].body, t);
        if (readers != 1) continue;
        *elements = sketch_elements(s, t);
        return sketch_rewrite_by(s, &e, given) &&
               at_edit_has_quotient(s->compute,
                                    &s->compute->tensors[at_compute_find(s->compute, name)]);
    }
    return false;
}

bool rewrite_quotients(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *x = &s->compute->tensors[stage];
    const double sums = sketch_elements(s, stage);
    double quotients = sums;
    if (!x->num_reduce || x->is_packing) return false;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        quotients *= (double)s->facts->of[stage].extent[k];
    if (!at_edit_has_quotient(s->compute, x) && !inline_quotients(s, stage, given, &quotients))
        return false;
    const at_edit e = {.kind = AT_EDIT_QUOTIENT,
                       .stage = x->name,
                       .names = {sketch_fresh_of(s, x->name, "whole")}};
    return sums <= quotients && sketch_rewrite_by(s, &e, given);
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* What undoes the factor of the sum's reduction, which is 1 mostly; false: nobody knows it yet. */
static bool take_inverse(at_edit *e, const at_phase_steps *by, const at_facts_given *given) {
    const at_read_facts numbers = {.values = given->values, .varies = given->varies};
    int64_t step, factor;
    if (!by->factor) return true;
    if (!at_size_value(&numbers, by->step, &step) || step < 1 ||
        !at_size_value(&numbers, by->factor, &factor) || factor < 1)
        return false;
    const at_phase_inverse inverse = at_phase_inverse_of(step, factor);
    e->names[1] = "inverse", e->sizes[1] = inverse.inverse;
    e->names[2] = "common", e->sizes[2] = inverse.common;
    return true;
}

/* Along one axis; all phases are as long where together they have the terms that there were. */
static at_status make_one(sketch_state *s, at_edit *e, const at_facts_given *given) {
    const at_compute *c = s->compute;
    const int from = at_compute_find(c, e->stage), n = c->tensors[from].num_axes;
    const int64_t *before = s->facts->extents[from];
    sketch_state *b = sketch_branch(s, "");
    AT_TRY(sketch_step(b, e));
    AT_TRY(sketch_refresh_facts(b, given));
    const int64_t *by = b->facts->extents[at_compute_find(b->compute, e->names[0])];
    int64_t terms = e->names[2] ? e->sizes[2] : 1, of_phases = by[0];
    for (int k = n; k < n + c->tensors[from].num_reduce; k++)
        terms *= before[k], of_phases *= by[k + 1];
    if (of_phases == terms) e->other = "whole";
    return sketch_step(s, e);
}

/* The phases of one axis after the other; what picks those of the first stands where it is read. */
static at_status make_phases(sketch_state *s, const char *name, const at_facts_given *given) {
    const char *first = name;
    for (int k = 0; k < s->compute->tensors[at_compute_find(s->compute, name)].num_axes; k++) {
        const at_tensor *x = &s->compute->tensors[at_compute_find(s->compute, name)];
        at_phase_steps by;
        if (!at_edit_has_phases(x, k, &by)) continue;
        at_edit e = {.kind = AT_EDIT_PHASES,
                     .stage = name,
                     .loop = x->axes[k].name,
                     .names = {sketch_fresh_of(s, first, "p")}};
        if (!take_inverse(&e, &by, given)) return AT_E_INPUT;
        AT_TRY(make_one(s, &e, given));
        if (name != first) AT_TRY(sketch_drop_copy(s, name));
        AT_TRY(sketch_refresh_facts(s, given));
        name = e.names[0];
        k++; /* the phase stands before the axis */
    }
    return AT_OK;
}

static bool has_phases(const at_tensor *x) {
    at_phase_steps by;
    bool any = false;
    for (int k = 0; k < x->num_axes && !x->cycle; k++) any |= at_edit_has_phases(x, k, &by);
    return any;
}

bool rewrite_phases(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *x = &s->compute->tensors[stage];
    at_error why;
    /* The last phase of an axis that steps do not divide reads beyond. */
    return has_phases(x) && make_phases(s, x->name, given) == AT_OK &&
           at_compute_check_reads(s->compute, given->values, NULL, NULL, &why) == AT_OK;
}

/* ---- spread ---------------------------------------------------------------------------------- */

/* Does a sum go by phases already, outside of tiles whose lanes have none (tile.c)? */
static bool goes_by_phases(const sketch_state *s, int sum) {
    const at_tensor *x = &s->compute->tensors[sum];
    const at_stage_facts *f = &s->facts->of[sum];
    const int vec = tile_vector_of(s, sum);
    bool any = false;
    for (int k = 0; k < x->num_axes; k++) any |= f->is_phase[k];
    return any && vec >= 0 && !f->is_phase[vec];
}

/* Into what reads it, and that into its readers, up to the sums, all of which have phases then. */
static bool inline_spread(sketch_state *s, const char *name, const at_facts_given *given) {
    const at_edit e = {.kind = AT_EDIT_INLINE, .stage = name};
    const at_facts *f = s->facts;
    const int stage = at_compute_find(f->compute, name);
    bool *readers = AT_NEW_ARRAY(s->arena, bool, f->compute->num_tensors), any = false;
    for (int r = stage + 1; r < f->compute->num_tensors; r++) {
        readers[r] =
            f->of[r].is_stage && at_expr_count_reads(f->compute->tensors[r].body, stage) > 0;
        any |= readers[r] && !(at_facts_has_leaf(f, r) && goes_by_phases(s, r));
    }
    if (!f->of[stage].is_dissolved) return false;
    if (!any) return true;
    if (!sketch_rewrite_by(s, &e, given)) return false;
    for (int r = stage + 1; r < f->compute->num_tensors; r++) {
        const char *reader = f->compute->tensors[r].name;
        const int now = readers[r] ? at_compute_find(s->compute, reader) : -1;
        if (now < 0) continue; /* it is a part of its own readers already */
        if (!has_phases(&s->compute->tensors[now]) && !inline_spread(s, reader, given))
            return false;
    }
    return true;
}

bool rewrite_spread(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *x = &s->compute->tensors[stage];
    const at_read_facts numbers = {.values = given->values, .varies = given->varies};
    const at_expr *by = at_edit_zeros_between(x);
    int64_t steps;
    return by && at_size_value(&numbers, by, &steps) && steps > 1 &&
           inline_spread(s, x->name, given);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

bool sketch_is_bounded(const sketch_state *s, const at_compute *c, int stage) {
    const at_expr *needs;
    int64_t holds = 1;
    return at_edit_has_bound(s->arena, c, stage, &needs) &&
           (!needs || at_expr_eval(needs, s->from->values, &holds, NULL) == AT_OK) && holds;
}

bool rewrite_bounded(sketch_state *s, int stage, const at_facts_given *given) {
    at_edit e = {.kind = AT_EDIT_BOUND, .stage = s->compute->tensors[stage].name};
    if (!s->bounds) return false;
    if (at_facts_has_leaf(s->facts, stage))
        return sketch_is_bounded(s, s->compute, stage) && sketch_rewrite_by(s, &e, given);
    e.kind = AT_EDIT_INLINE; /* what reads a mask decides it */
    return s->facts->of[stage].is_dissolved && at_edit_is_mask(s->arena, s->compute, stage) &&
           sketch_rewrite_by(s, &e, given);
}

/* ---- branches -------------------------------------------------------------------------------- */

bool rewrite_branches(sketch_state *s, int stage, const at_facts_given *given) {
    const at_tensor *x = &s->compute->tensors[stage];
    if (x->cycle || x->is_recurrence || x->is_packing || !at_edit_has_branches(x) ||
        tile_has_lanes(s, stage))
        return false;
    const at_edit e = {
        .kind = AT_EDIT_BRANCHES,
        .stage = x->name,
        .names = {sketch_fresh_of(s, x->name, "where"), sketch_fresh_of(s, x->name, "else")}};
    return sketch_rewrite_by(s, &e, given) &&
           tile_has_lanes(s, at_compute_find(s->compute, e.names[0])) &&
           tile_has_lanes(s, at_compute_find(s->compute, e.names[1]));
}

/* ---- terms ----------------------------------------------------------------------------------- */

/* A size that knobs decide. */
static bool varies(const at_expr *e, const void *f) {
    const bool *of_size = ((const at_facts *)f)->varies;
    return e->op == AT_X_NAME && of_size && of_size[e->ref];
}

/* How many terms its elements have; 0: too many, or not known. */
static int64_t terms_of(const at_facts *f, int stage) {
    const at_tensor *x = &f->compute->tensors[stage];
    int64_t terms = 1;
    if (!x->num_reduce || x->num_reduce > AT_INLINE_SUMS || x->is_output ||
        at_tensor_has_entries(x) || x->is_carried || f->of[stage].is_kept)
        return 0;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++) {
        int64_t n = f->of[stage].extent[k];
        if (x->axes[k].begin || at_expr_find(x->axes[k].extent, varies, f) || n < 1 ||
            n > TERMS_MOST)
            return 0;
        terms *= n;
    }
    return terms <= TERMS_MOST ? terms : 0;
}

/* The only stage that reads it, a longer sum whose points need each element once; -1: there is none
 * such. */
static int reader_of(const sketch_state *s, int stage) {
    const at_facts *f = s->facts;
    double points = 0;
    int found = -1;
    for (int r = stage + 1; r < f->compute->num_tensors; r++) {
        if (!f->of[r].is_stage || !at_expr_count_reads(f->compute->tensors[r].body, stage))
            continue;
        if (found >= 0) return -1;
        found = r;
    }
    const at_tensor *reader = found < 0 ? NULL : &f->compute->tensors[found];
    if (!reader || !reader->num_reduce || tile_sums_are_short(s, found)) return -1;
    for (int i = 0; i < f->of[found].num_accesses; i++)
        points += f->of[found].access[i].tensor == stage;
    for (int k = 0; k < reader->num_axes + reader->num_reduce; k++)
        points *= (double)f->of[found].extent[k];
    return points <= sketch_elements(s, stage) ? found : -1;
}

/* Does the reader need an element for each part of a point: the last axis of its own? */
static bool has_parts(const at_facts *f, int stage, int reader) {
    const at_tensor *x = &f->compute->tensors[stage], *r = &f->compute->tensors[reader];
    const int points = x->num_axes - 1;
    if (r->num_reduce || r->num_axes != x->num_axes + 1 ||
        f->of[reader].extent[points + 1] > MOST_LANE_STEP)
        return false;
    for (int i = 0; i < f->of[reader].num_accesses; i++) {
        const at_access *a = &f->of[reader].access[i];
        if (a->tensor != stage) continue;
        int64_t stride = 1;
        bool moves = !a->known || a->stride[points + 1] != 0;
        for (int k = points; k >= 0; stride *= f->of[stage].extent[k--])
            moves |= a->stride[k] != stride;
        if (moves) return false;
    }
    return true;
}

/* Is it a sum over the parts of a point that only parts of points need? */
static bool is_of_points(const sketch_state *s, int stage) {
    const at_facts *f = s->facts;
    const int points = f->compute->tensors[stage].num_axes - 1;
    int readers = 0;
    if (points < 0 || f->of[stage].extent[points] < TERMS_LEAST_POINTS ||
        terms_of(f, stage) > MOST_LANE_STEP)
        return false;
    for (int i = 0; i < f->of[stage].num_accesses; i++) {
        const int64_t stride = f->of[stage].access[i].stride[points];
        if (stride < 1 || stride > MOST_LANE_STEP) return false;
    }
    for (int r = stage + 1; r < f->compute->num_tensors; r++) {
        if (!f->of[r].is_stage || !at_expr_count_reads(f->compute->tensors[r].body, stage))
            continue;
        if (!has_parts(f, stage, r)) return false;
        readers++;
    }
    return readers > 0;
}

bool rewrite_terms(sketch_state *s, int stage, const at_facts_given *given) {
    const at_facts *f = s->facts;
    const at_tensor *x = &f->compute->tensors[stage];
    int64_t terms = terms_of(f, stage);
    const bool of_points = terms && is_of_points(s, stage);
    int reader = terms && !of_points ? reader_of(s, stage) : -1, reads = 0;
    if ((reader < 0 && !of_points) || !is_arithmetic(x->body, &reads)) return false;
    for (int r = stage + 1; r < f->compute->num_tensors; r++)
        if (f->of[r].is_stage &&
            terms * reads * at_expr_count_reads(f->compute->tensors[r].body, stage) >
                TERMS_MOST_READS)
            return false;
    at_edit e = {.kind = AT_EDIT_INLINE, .stage = x->name};
    for (int k = 0; k < x->num_reduce; k++) {
        e.names[k] = x->axes[x->num_axes + k].name;
        e.sizes[k] = f->of[stage].extent[x->num_axes + k];
    }
    /* Of what lies apart no vectors are read. */
    return sketch_rewrite_by(s, &e, given) &&
           (of_points ||
            tile_has_lanes(s, at_compute_find(s->compute, f->compute->tensors[reader].name)));
}

/* ---- search ---------------------------------------------------------------------------------- */

/* Blocks of which reading one again takes about as long as joining the lanes of all. */
static int64_t block_of(int64_t terms) {
    int64_t n = 1;
    while (2 * n * n <= SEARCH_BLOCK_SQUARED * terms) n *= 2;
    return n;
}

/* Do lanes go along the terms of a stage, and do these follow from arguments? */
static bool goes_along(const sketch_state *s, int stage) {
    const at_tensor *x = &s->compute->tensors[stage];
    return tile_vector_of(s, stage) < 0 && tile_lanes_of(s, stage) >= 0 &&
           !at_expr_find(x->axes[x->num_axes].extent, varies, s->facts);
}

bool rewrite_search(sketch_state *s, int stage, const at_facts_given *given) {
    const int most = at_edit_search_of(s->compute, stage);
    if (most < 0 || !goes_along(s, stage) || !goes_along(s, most)) return false;
    const at_tensor *x = &s->compute->tensors[stage];
    const int64_t terms = s->facts->of[stage].extent[x->num_axes];
    if (terms < SEARCH_LEAST_TERMS) return false;
    const at_edit e = {.kind = AT_EDIT_SEARCH,
                       .stage = x->name,
                       .names = {sketch_fresh_of(s, s->compute->tensors[most].name, "parts"),
                                 sketch_fresh_of(s, x->name, "from")},
                       .sizes = {block_of(terms)}};
    at_error why;
    return sketch_rewrite_by(s, &e, given) &&
           at_compute_check_reads(s->compute, given->values, NULL, NULL, &why) == AT_OK;
}
