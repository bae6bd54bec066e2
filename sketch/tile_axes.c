/* sketch/tile_axes.c: which axes a register tile has: the axis of its lanes, and those of its rows.
 */
#include "schedule/access.h"
#include "schedule/edit/edit.h"
#include "sketch/nests.h"

bool tile_goes(const sketch_state *s, int stage, int axis) {
    return s->facts->of[stage].inner[axis] > 1 && !sketch_is_step(s, stage, axis);
}

bool tile_may_pack(const sketch_state *s, int stage, const at_access *x) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    double elements = 1;
    if (t->cycle && s->facts->compute->tensors[x->tensor].cycle == t->cycle) return false;
    if (x->is_bare || !x->known || x->is_guarded || x->from != x->tensor) return x->is_bare;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++) {
        if (x->stride[k] == AT_FACTS_ANYWHERE) return false;
        if (x->stride[k]) elements *= (double)s->facts->of[stage].extent[k];
    }
    return elements <= sketch_elements(s, x->tensor);
}

/* How many of a stage's elements need the same element of what it reads. */
static int64_t uses_of(const sketch_state *s, int stage, const at_access *x) {
    int64_t uses = 1;
    for (int k = 0; k < s->facts->compute->tensors[stage].num_axes; k++)
        if (tile_goes(s, stage, k) && x->stride[k] == 0) uses *= s->facts->of[stage].extent[k];
    return uses;
}

/* Whether a copy in blocks would be read several times: there are axes that do not move it. */
static bool is_worth_packing(const sketch_state *s, int stage, const at_access *x) {
    return tile_may_pack(s, stage, x) &&
           (uses_of(s, stage, x) >= PACK_LEAST_USES || sketch_is_weight(s, x->tensor));
}

/* Steps of a reduction, without its phases, if they are few enough to be written out; else 0. */
static int64_t short_steps(const at_stage_facts *f, int sum) {
    int64_t n = f->divisor[sum] && !f->is_phase[sum] ? 0 : f->inner[sum];
    return n > 1 && n <= SHORT_SUM_STEPS ? n : 0;
}

/* Sums of few terms, or of a short window's rows, of which each output has its own: what lanes pick
 * there no copy would serve several times. */
static bool has_own_window(const sketch_state *s, int stage, const at_access *x) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    if (tile_sums_are_short(s, stage)) return true;
    for (int k = 0; k < t->num_axes; k++)
        if (tile_goes(s, stage, k) && x->stride[k] == 0) return false;
    return t->num_reduce > 1 && short_steps(f, t->num_axes + t->num_reduce - 1);
}

/* Has the axis points whose two to four parts, the last axis, lie side by side? */
static bool has_parts(const sketch_state *s, int stage, int axis) {
    const int last = s->facts->compute->tensors[stage].num_axes - 1;
    const int64_t parts = axis == last - 1 ? s->facts->of[stage].extent[last] : 0;
    return parts > 1 && parts <= MOST_LANE_STEP;
}

bool tile_is_picked(const sketch_state *s, int stage, const at_access *x, int axis) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const bool is_wide = at_type_bytes(s->facts->compute->tensors[x->tensor].type) == 4;
    if (x->stride[axis] == -1 && is_wide)
        return !is_worth_packing(s, stage, x) && !tile_turn_pays(s, stage, x->tensor);
    if (x->stride[axis] <= 1 || x->stride[axis] > MOST_LANE_STEP) return false;
    if (has_parts(s, stage, axis) && tile_sums_are_short(s, stage)) return true;
    bool stored = axis == t->num_axes - 1 && has_own_window(s, stage, x),
         summed = axis >= t->num_axes && axis == t->num_axes + t->num_reduce - 1;
    return (stored || summed) && !is_worth_packing(s, stage, x);
}

/* gathers: or what entries say. */
static bool reads_vectors(const sketch_state *s, int stage, int axis, bool gathers) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (gathers && x->by_entry >> axis & 1) continue;
        if (x->stride[axis] != 0 && x->stride[axis] != 1 && !is_worth_packing(s, stage, x) &&
            !tile_is_picked(s, stage, x, axis))
            return false;
    }
    return true;
}

bool tile_reads_vectors(const sketch_state *s, int stage, int axis) {
    return reads_vectors(s, stage, axis, false);
}

bool tile_reuses(const sketch_state *s, int stage, int vec, int row) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[vec] != 0 && f->access[i].stride[row] == 0) return true;
    return false;
}

bool tile_shares_operand(const sketch_state *s, int stage, int vec) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[vec] == 0) return true;
    return false;
}

/* Does each comparison of a condition, where it is one of this axis, compare it with a long one? */
static bool is_long_diagonal(const at_stage_facts *f, const at_expr *e, int axis) {
    const uint32_t axes = at_expr_axes(e), own = 1u << axis;
    bool is_long = !(axes & own);
    if (e->op == AT_X_AND)
        return is_long_diagonal(f, e->arg[0], axis) && is_long_diagonal(f, e->arg[1], axis);
    for (int k = 0; k < AT_FACTS_MAX_AXES && !is_long; k++)
        is_long = (axes & ~own) >> k & 1 && f->extent[k] > TILE_SMALL_AXIS;
    return is_long && !at_expr_reads(e);
}

bool tile_is_guarded(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    const at_expr *body = s->facts->compute->tensors[stage].body;
    if (body->op == AT_X_SELECT && at_expr_axes(body->arg[0]) >> axis & 1 &&
        is_long_diagonal(f, body->arg[0], axis))
        return false;
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].is_guarded && f->access[i].stride[axis] != 0) return true;
    return false;
}

/* Rows beside each other have addresses that a tile knows. */
static bool has_rows(const sketch_state *s, int stage, int axis) {
    const at_stage_facts *f = &s->facts->of[stage];
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[axis] == AT_FACTS_ANYWHERE) return false;
    return tile_goes(s, stage, axis);
}

bool tile_rows_lead(const sketch_state *s, int stage, int vec, int row) {
    const at_stage_facts *f = &s->facts->of[stage];
    bool moves = false, any = false;
    for (int i = 0; i < f->num_accesses && row >= 0; i++) {
        const bool is_few =
            at_facts_elements(s->facts, f->access[i].tensor) <= ROWS_LEAD_MOST_SHARED;
        if (f->access[i].stride[row] == 0 && !is_few) return false;
        moves |= !is_few;
    }
    for (int k = row + 1; k < s->facts->compute->tensors[stage].num_axes && moves; k++)
        any |= k != vec && tile_goes(s, stage, k) && !tile_reuses(s, stage, vec, k);
    return any;
}

int tile_row_of(const sketch_state *s, int stage, int vec) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int best = -1;
    for (int k = 0; k < t->num_axes; k++) {
        if (k == vec || !has_rows(s, stage, k)) continue;
        bool better = best < 0 ||
                      (tile_reuses(s, stage, vec, k) && s->facts->of[stage].extent[k] >= 4) ||
                      !tile_reuses(s, stage, vec, best);
        if (better) best = k;
    }
    return best;
}

static bool has_counted_sums(const at_tensor *t) {
    return t->num_reduce && !at_tensor_has_range(t);
}

int tile_vector_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1, sum = last + t->num_reduce;
    if (!has_counted_sums(t)) return -1;
    for (int k = last; k >= 0; k--)
        if (s->facts->of[stage].inner[k] >= LEAST_LANES && !sketch_is_step(s, stage, k) &&
            reads_vectors(s, stage, k, false))
            return k;
    /* Rather than from element to element lanes go along the sum, where its terms lie side by side.
     */
    const bool may_gather =
        last >= 0 && s->facts->of[stage].inner[last] >= LEAST_LANES &&
        !sketch_is_step(s, stage, last) &&
        (s->facts->of[stage].extent[sum] < LEAST_DOT_LANES || !reads_vectors(s, stage, sum, false));
    return may_gather && reads_vectors(s, stage, last, true) ? last : -1;
}

/* Whether rows beside each other read some of the same along a reduction. */
static bool shares_windows(const at_stage_facts *f, int row, int sum) {
    for (int i = 0; i < f->num_accesses && row >= 0; i++) {
        int64_t step = f->access[i].stride[sum], apart = f->access[i].stride[row];
        if (step && apart && apart % step == 0 && apart / step < f->inner[sum]) return true;
    }
    return false;
}

int tile_short_sums(const sketch_state *s, int stage, int row, int second, int *sums) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int last = -1, windows = -1, n = 0;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce && x->num_reduce > 1; k++) {
        if (!short_steps(f, k)) continue;
        if (!f->is_phase[k]) last = k;
        if (shares_windows(f, row, k) || shares_windows(f, second, k)) windows = k;
    }
    if (last >= 0) sums[n++] = last;
    if (windows >= 0 && windows != last) sums[n++] = windows;
    return n;
}

bool tile_sums_are_short(const sketch_state *s, int stage) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int64_t terms = 1;
    for (int k = x->num_axes; k < x->num_axes + x->num_reduce; k++)
        terms *=
            f->divisor[k] || f->extent[k] > SHORT_SUM_TERMS ? SHORT_SUM_TERMS + 1 : f->extent[k];
    return terms <= SHORT_SUM_TERMS;
}

double tile_terms_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    double terms = 1;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++) {
        if (t->axes[k].begin || f->divisor[k]) return 0;
        if (k >= t->num_axes) terms *= (double)f->extent[k];
    }
    return terms;
}

/* A second axis for rows: one that leaves alone a read that moves with `row`. Rows along it have
 * that read in common, and rows along `row` another one. */
int tile_second_of(const sketch_state *s, int stage, int vec, int row) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int found = -1;
    for (int k = 0; k < t->num_axes; k++) {
        if (k == vec || k == row || !has_rows(s, stage, k)) continue;
        for (int i = 0; i < f->num_accesses; i++)
            if (f->access[i].stride[k] == 0 && f->access[i].stride[row] != 0) found = k;
    }
    return found;
}

int tile_last_sum_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int last = t->num_axes + t->num_reduce - 1;
    if (!has_counted_sums(t) || f->divisor[last] || f->extent[last] < LEAST_DOT_LANES ||
        !reads_vectors(s, stage, last, false))
        return -1;
    int row = tile_row_of(s, stage, last);
    return row >= 0 && tile_reuses(s, stage, last, row) ? last : -1;
}

int tile_dot_of(const sketch_state *s, int stage) {
    return tile_vector_of(s, stage) < 0 ? tile_last_sum_of(s, stage) : -1;
}

int tile_few_of(const sketch_state *s, int stage) {
    const int vec = tile_vector_of(s, stage);
    const at_stage_facts *f = &s->facts->of[stage];
    if (vec < 0 || tile_terms_of(s, stage) < FEW_LEAST_TERMS) return -1;
    for (int i = 0; i < f->num_accesses; i++) {
        const at_access *x = &f->access[i];
        if (x->stride[vec] != 0 && x->stride[vec] != 1 && !sketch_is_weight(s, x->tensor) &&
            !tile_is_picked(s, stage, x, vec) && uses_of(s, stage, x) <= FEW_MOST_USES)
            return tile_last_sum_of(s, stage);
    }
    return -1;
}

int tile_lanes_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int last = t->num_axes + t->num_reduce - 1;
    if (!t->num_reduce || t->axes[last].begin || f->divisor[last] ||
        f->extent[last] < LEAST_DOT_LANES)
        return -1;
    for (int i = 0; i < f->num_accesses; i++)
        if (f->access[i].stride[last] != 0 && f->access[i].stride[last] != 1 &&
            !(f->access[i].by_entry >> last & 1) && !tile_is_picked(s, stage, &f->access[i], last))
            return -1;
    return last;
}

bool tile_has_lanes(const sketch_state *s, int stage) {
    return tile_vector_of(s, stage) >= 0 || tile_dot_of(s, stage) >= 0 ||
           tile_lanes_of(s, stage) >= 0;
}

/* The axis that a tile has more rows along; -1: none. It is wanted where the first axis has fewer
 * rows than a tile could, or where windows share what they read in two directions. */
int tile_rows_beside(const sketch_state *s, int stage, int vec, int row) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    int second = -1;
    if (row < 0) return -1;
    if (!tile_shares_operand(s, stage, vec)) second = tile_second_of(s, stage, vec, row);
    if (second >= 0) return second;
    if (s->facts->of[stage].inner[row] >= TILE_MOST_ROWS && !tile_sums_are_short(s, stage))
        return -1;
    for (int k = 0; k < x->num_axes; k++)
        if (k != vec && k != row && has_rows(s, stage, k) && tile_reuses(s, stage, vec, k))
            second = k;
    return second;
}

int tile_joined_rows(int64_t length, int lanes) {
    if (length < NARROW_LANES) return (int)(TILE_COLUMNS / length);
    const int64_t n = lanes / at_gcd(length, lanes);
    return n * length <= 2 * TILE_COLUMNS ? (int)n : 1;
}

int tile_third_of(const sketch_state *s, int stage, int vec, int row, int second) {
    const at_stage_facts *f = &s->facts->of[stage];
    int found = -1;
    for (int k = 0; k < s->facts->compute->tensors[stage].num_axes && second >= 0; k++)
        for (int i = 0; i < f->num_accesses; i++) {
            const int64_t *stride = f->access[i].stride;
            if (k != vec && k != row && k != second && has_rows(s, stage, k) && stride[vec] &&
                stride[k] && f->access[i].known &&
                (stride[k] == stride[row] || stride[k] == stride[second]))
                found = k;
        }
    return found;
}

/* A reduction so long that what a tile reads of it exceeds the first-level cache; -1: none. */
int tile_long_sum(const sketch_state *s, int stage, int vec) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int last = x->num_axes + x->num_reduce - 1;
    return f->inner[last] >= LONG_SUM && !f->divisor[last] && f->inner[vec] > TILE_COLUMNS ? last
                                                                                           : -1;
}

int tile_shared_sum(const sketch_state *s, int stage) {
    const at_tensor *x = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    int last = x->num_axes + x->num_reduce - 1;
    int64_t sums = 1;
    for (int k = 0; k <= last; k++) {
        if (f->divisor[k] || x->axes[k].begin) return -1;
        if (k < x->num_axes) sums *= f->extent[k];
    }
    return x->num_reduce && f->extent[last] >= SHARED_LEAST_STEPS && sums <= SHARED_MOST_SUMS ? last
                                                                                              : -1;
}

bool tile_has_columns(const sketch_state *s, int stage, int vec) {
    return s->facts->of[stage].inner[vec] > TILE_COLUMNS;
}

bool tile_reads_once(const sketch_state *s, int stage, int tensor) {
    int reads = 0;
    for (int i = 0; i < s->facts->of[stage].num_accesses; i++)
        reads += s->facts->of[stage].access[i].tensor == tensor;
    return reads == 1;
}

/* ---- sums over lists ------------------------------------------------------------------------- */

/* An entry of an index tensor that is the next one a step along the axis further, perhaps times a
 * number and moved. */
static bool moves_by_entry(const sketch_state *s, const at_expr *e, int axis) {
    bool alone = e->nargs > 0;
    for (int i = 0; i < e->nargs - 1 && e->op == AT_X_INDEX; i++)
        alone &= !at_expr_uses(e->arg[i], axis);
    if (e->op == AT_X_INDEX)
        return alone && at_tensor_has_entries(&s->facts->compute->tensors[e->ref]) &&
               at_index_step(e->arg[e->nargs - 1], axis) == 1;
    if (e->op != AT_X_ADD && e->op != AT_X_SUB && e->op != AT_X_MUL) return false;
    const bool second = at_expr_uses(e->arg[1], axis);
    return !at_expr_uses(e->arg[!second], axis) && !(second && e->op == AT_X_SUB) &&
           moves_by_entry(s, e->arg[second], axis);
}

typedef struct lane_reads {
    const sketch_state *s;
    int axis;
    bool gathers; /* lanes read what entries say, too */
    double most;  /* elements of the largest tensor whose neighbours lanes read */
} lane_reads;

/* Ends where lanes along the axis read neither neighbours nor all of them the same. */
static at_walk take_row(const at_expr *e, void *ctx) {
    lane_reads *x = ctx;
    const at_facts *f = x->s->facts;
    if (e->op != AT_X_INDEX) return AT_WALK_ON;
    if (!at_expr_uses(e, x->axis)) return AT_WALK_PAST;
    if (f->of[e->ref].is_dissolved || at_tensor_has_entries(&f->compute->tensors[e->ref]))
        return AT_WALK_END;
    int uses = 0, gathered = 0;
    for (int i = 0; i < e->nargs; i++) {
        uses += at_expr_uses(e->arg[i], x->axis);
        gathered += at_expr_uses(e->arg[i], x->axis) && moves_by_entry(x->s, e->arg[i], x->axis);
    }
    if (x->gathers && uses == gathered) return AT_WALK_PAST;
    if (uses > 1 || at_index_step(e->arg[e->nargs - 1], x->axis) != 1) return AT_WALK_END;
    if (sketch_elements(x->s, e->ref) > x->most) x->most = sketch_elements(x->s, e->ref);
    return AT_WALK_PAST;
}

/* Whether the axis decides where a list begins or ends. */
static bool bounds_list(const at_tensor *t, int axis) {
    for (int k = t->num_axes; k < t->num_axes + t->num_reduce; k++)
        if (t->axes[k].begin &&
            (at_expr_uses(t->axes[k].begin, axis) || at_expr_uses(t->axes[k].end, axis)))
            return true;
    return false;
}

int tile_list_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const int last = t->num_axes - 1;
    lane_reads x = {.s = s, .axis = last};
    if (!at_tensor_has_range(t) || bounds_list(t, last) ||
        s->facts->of[stage].extent[last] < LEAST_LANES || sketch_is_step(s, stage, last))
        return -1;
    return at_expr_walk(t->body, take_row, &x) ? -1 : last;
}

/* The longest dimension that a stage reads along the axis, step by step. */
static int64_t longest_of(const at_facts *f, int stage, int axis) {
    int64_t longest = 1;
    int num;
    const at_expr *const *reads = at_compute_reads(f->compute, stage, &num);
    for (int r = 0; r < num; r++)
        for (int i = 0; i < reads[r]->nargs; i++)
            if (at_index_step(reads[r]->arg[i], axis) == 1 &&
                f->extents[reads[r]->ref][i] > longest)
                longest = f->extents[reads[r]->ref][i];
    return longest;
}

/* How many terms a stage has; in sums over lists as many as the longest of what these go through.
 */
static double points_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    double points = 1;
    for (int k = 0; k < t->num_axes + t->num_reduce; k++) {
        if (t->axes[k].begin) points *= (double)longest_of(s->facts, stage, k);
        else if (!bounds_list(t, k)) points *= f->extent[k] > 0 ? (double)f->extent[k] : 1;
    }
    return points;
}

bool tile_turn_pays(const sketch_state *s, int stage, int tensor) {
    return sketch_is_weight(s, tensor) || at_stage_steps(s->facts->compute, stage) ||
           points_of(s, stage) >= TURN_LEAST_READS * sketch_elements(s, tensor);
}

int tile_list_row_of(const sketch_state *s, int stage) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    int best = -1;
    for (int k = 0; k < t->num_axes - 1; k++)
        if (!bounds_list(t, k) && has_rows(s, stage, k) &&
            tile_reuses(s, stage, t->num_axes - 1, k) &&
            (best < 0 || s->facts->of[stage].extent[k] > s->facts->of[stage].extent[best]))
            best = k;
    return best;
}

int tile_list_lanes_of(const sketch_state *s, int stage, bool *are_long) {
    const at_tensor *t = &s->facts->compute->tensors[stage];
    const at_stage_facts *f = &s->facts->of[stage];
    const int last = t->num_axes + t->num_reduce - 1;
    lane_reads x = {.s = s, .axis = last, .gathers = true};
    double lists = 1;
    if (!t->num_reduce || !t->axes[last].begin || at_expr_walk(t->body, take_row, &x)) return -1;
    for (int k = 0; k < last; k++)
        if (f->extent[k] > 0) lists *= (double)f->extent[k];
    *are_long = x.most >= LEAST_DOT_LANES * lists;
    return last;
}
