/* cost/estimate_turns.c: how often the loops around what an access touches go through it: turns
 * that lie beyond the end of an axis, or in which no term counts, touch nothing. */
#include "cost/estimate_memory_int.h"

#include <math.h>

enum { LINE = 16 }; /* elements */

/* Elements along the axis that lie in a row; 0: none do. */
static double row_along(const est_leaf *x, const est_access *a, int axis) {
    double row = 0;
    for (int k = 0; k < x->num_loops; k++) {
        const est_loop *l = &x->loop[k];
        if (l->axis == axis && a->step[k] == l->coef)
            row = est_max(row, (double)l->coef * ceil(l->turns));
    }
    return row;
}

/* Elements at whose multiples rows of the access begin: at most a line. */
static double begins_at(const est_access *a) {
    uint64_t steps = LINE;
    for (int d = 0; d < a->num_dims; d++)
        if (a->buffer->limit[d] > 1 && a->buffer->stride[d] >= LINE)
            steps |= (uint64_t)a->buffer->stride[d];
    return (double)(steps & (~steps + 1));
}

/* Lines of a row, in the mean of where it may begin. */
static double lines_of_row(double row, double begins) {
    return row > 0 ? (ceil(row / begins) - 1) * begins / LINE + 1 : 0;
}

/* Blocks of so many elements in an extent. A line counts that is touched in part. */
static double blocks_of(double extent, double block, double row, const est_access *a) {
    const double whole = floor(extent / block), rest = extent - whole * block;
    if (!(row > 1) || rest == 0) return extent / block;
    const double begins = begins_at(a);
    row = est_min(row, block);
    double lines =
        floor(rest / row) * lines_of_row(row, begins) + lines_of_row(fmod(rest, row), begins);
    return whole + lines / (ceil(block / row) * lines_of_row(row, begins));
}

/* The last turn of an axis that its loops exceed. */
static void add_tail(const est_leaf *x, int axis, touched *t) {
    int loop = -1;
    for (int i = 0; i < x->num_loops; i++)
        if (x->loop[i].axis == axis && (loop < 0 || x->loop[i].coef > x->loop[loop].coef)) loop = i;
    const est_loop *l = &x->loop[loop];
    double whole = floor(l->extent / (double)l->coef), rest = l->extent - whole * (double)l->coef;
    if (t->num_small == MOST_SMALL || !(rest > 0) || l->turns <= 1) return;
    t->small[t->num_small++] =
        (small_turns){loop, axis, .size = rest / (double)l->coef, .number = 1 / (whole + 1)};
}

/* Places along an axis where fewer terms count, in a loop that goes from one to the next. */
static void add_borders(const est_terms *s, const est_leaf *x, touched *t) {
    for (est_border *b = s->borders; b < s->borders + s->num_borders; b++) {
        int loops = 0, loop = 0;
        for (int i = 0; i < x->num_loops; i++)
            if (x->loop[i].axis == b->axis) loop = i, loops++;
        if (loops != 1) continue;
        for (int k = 0; k < EST_FEWER && t->num_small < MOST_SMALL; k++)
            if (b->fewer[k].number > 0)
                t->small[t->num_small++] =
                    (small_turns){loop, -1, b->fewer[k].size, b->fewer[k].number};
    }
}

void est_count_turns(const est_leaf *x, touched *t) {
    enum { MOST_AXES = 32 };
    double product[MOST_AXES], extent[MOST_AXES];
    uint32_t seen = 0;
    t->turns[0] = 1;
    t->num_beyond = 0;
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        t->turns[i + 1] = t->turns[i] * l->turns;
        if (l->axis < 0) continue;
        if (!(seen >> l->axis & 1)) product[l->axis] = 1;
        seen |= 1u << l->axis;
        product[l->axis] *= l->turns;
        extent[l->axis] = l->extent;
    }
    t->num_small = 0;
    for (int k = 0; k < MOST_AXES; k++) {
        if (!(seen >> k & 1) || !(extent[k] > 0) || product[k] <= extent[k]) continue;
        t->beyond[t->num_beyond++] = k;
        add_tail(x, k, t);
    }
    add_borders(x->terms, x, t);
}

/* Does what loops from `from` on touch end with the tensor along a dimension that this axis moves?
 * Then no more is counted than there is: by all loops together as soon as they come to the last
 * element, since parts of a tile come no further. */
static bool ends_with_tensor(const est_leaf *x, const est_access *a, int axis, int from) {
    for (int d = 0; d < a->num_dims; d++) {
        double reach = 0;
        bool moves = false;
        for (int i = from; i < x->num_loops; i++) {
            reach += a->reach[i][d];
            moves |= x->loop[i].axis == axis && a->reach[i][d] > 0;
        }
        if (moves && reach + (from == 0) >= a->buffer->limit[d]) return true;
    }
    return false;
}

/* Of one axis: how often what loops from `to` on touch of the access is gone through. An access
 * that moves along an axis has no more of it than there is; parts of a tile are counted as they
 * are.
 */
static double turns_of_axis(const est_leaf *x, const est_access *a, int axis, int to) {
    double extent = 0, before = 1, parts = 1, covered = 0;
    int64_t step = INT64_MAX, first = INT64_MAX;
    bool moves = false;
    for (int k = 0; k < x->num_loops; k++) {
        const est_loop *l = &x->loop[k];
        if (l->axis != axis) continue;
        extent = l->extent;
        moves |= a->moves >> k & 1;
        if (k >= to) {
            covered = est_max(covered, (double)l->coef * ceil(l->turns));
            continue;
        }
        if (l->is_part) parts *= l->turns;
        else before *= l->turns;
        if (!l->is_part && l->coef < first) first = l->coef;
        if (l->coef < step) step = l->coef;
    }
    if (!moves && first == INT64_MAX) return parts;
    if (!moves) return est_min(before, ceil(extent / (double)first)) * parts;
    const double row = row_along(x, a, axis);
    if (step < INT64_MAX)
        return est_min(before * parts, est_max(1, blocks_of(extent, (double)step, row, a)));
    if (covered <= extent || ends_with_tensor(x, a, axis, to)) return 1;
    return blocks_of(extent, covered, row, a);
}

/* Turns of the loops before `to` that lie within their axes. */
static double turns_within(const est_leaf *x, const est_access *a, const touched *t, int to) {
    double n = t->turns[to];
    for (const int *axis = t->beyond; axis < t->beyond + t->num_beyond; axis++) {
        for (int k = 0; k < to; k++)
            if (x->loop[k].axis == *axis) n /= x->loop[k].turns;
        n *= turns_of_axis(x, a, *axis, to);
    }
    return n;
}

/* What blocks that begin at `first`, `step` apart, have before 0 in the mean. */
static double before_0(double first, double step, double blocks) {
    double sum = 0;
    for (double at = -first, n = 0; at > 0 && n < blocks; at -= step, n++) sum += at;
    return sum / blocks;
}

/* Share of what loops from `once` on touch of an access that lies within its tensor. false: it does
 * not go beyond. */
static bool share_within(const est_leaf *x, const est_access *a, bool is_exact, int once,
                         double *share) {
    bool is_beyond = false;
    *share = 1;
    for (int d = 0; d < a->num_dims; d++) {
        double inside = 0, outside = 0, blocks = 1;
        if (a->turned >> d & 1) continue;
        for (int i = 0; i < x->num_loops; i++)
            if (i >= once) inside += a->reach[i][d];
            else if (a->reach[i][d] > 0) outside += a->reach[i][d], blocks *= x->loop[i].turns;
        double most = a->buffer->limit[d] - 1, step = blocks > 1 ? outside / (blocks - 1) : 1;
        double left = before_0(a->origin[d], step, blocks), right = 0;
        if (is_exact) right = before_0(most - (a->origin[d] + outside + inside), step, blocks);
        if (!(left + right > 0)) continue;
        *share *= est_min(1, est_max(0, inside + 1 - left - right) / est_min(inside + 1, most + 1));
        is_beyond = true;
    }
    return is_beyond;
}

/* Share of the turns of loops before `once` in which any term counts that touches the same. */
static double share_of_turns(const est_leaf *x, const est_access *a, int once) {
    const est_terms *s = x->terms;
    double share = 1;
    for (est_border *b = s->borders; b < s->borders + s->num_borders; b++) {
        double width = 1;
        for (int i = once; i < x->num_loops; i++)
            if (x->loop[i].axis == b->axis && !(a->moves >> i & 1)) width *= x->loop[i].turns;
        share *= est_share_along(b, width);
    }
    return share;
}

double est_turns_of_lines(const est_leaf *x, const est_access *a, const touched *t, int once) {
    double share, turns = turns_within(x, a, t, once);
    if (a->written || !x->terms->num_borders) return turns;
    if (!share_within(x, a, !t->num_beyond, once, &share)) share = share_of_turns(x, a, once);
    return est_max(turns * share, est_min(turns, a->lines[0] / a->lines[once]));
}

double est_size(const est_leaf *x, const small_turns *s, const est_access *a) {
    const est_loop *l = &x->loop[s->loop];
    bool moves = s->axis < 0;
    for (int i = s->loop + 1; i < x->num_loops; i++)
        moves |= x->loop[i].axis == s->axis && a->moves >> i & 1;
    if (!moves) return 1;
    if (s->axis < 0) return s->size;
    return blocks_of(s->size * (double)l->coef, (double)l->coef, row_along(x, a, s->axis), a);
}

double est_size_of_all(const est_leaf *x, const small_turns *s, int from) {
    double all = 0, smaller = 0;
    for (const est_access *a = x->access; a < x->access + x->num_accesses; a++) {
        if (a->in_registers) continue;
        all += a->lines[from];
        smaller += est_size(x, s, a) * a->lines[from];
    }
    return all > 0 ? smaller / all : 1;
}
