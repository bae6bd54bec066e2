/* cost/estimate_reuse.c: how often the loops around what an access touches go through it (turns
 * that lie beyond the end of an axis, or in which no term counts, touch nothing), what lies between
 * two touches of the same line, and so which lines a cache still has. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cost/estimate_tile_int.h"

/* ---- turns ----------------------------------------------------------------------------------- */

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
    const int64_t line = est_line(a->buffer);
    uint64_t steps = (uint64_t)line;
    for (int d = 0; d < a->num_dims; d++)
        if (a->buffer->limit[d] > 1 && a->buffer->stride[d] >= line)
            steps |= (uint64_t)a->buffer->stride[d];
    return (double)(steps & (~steps + 1));
}

/* Lines of a row, in the mean of where it may begin. */
static double lines_of_row(double row, double begins, double line) {
    return row > 0 ? (ceil(row / begins) - 1) * begins / line + 1 : 0;
}

/* Blocks of so many elements in an extent. A line that a block touches in part counts. */
static double blocks_of(double extent, double block, double row, const est_access *a) {
    const double whole = floor(extent / block), rest = extent - whole * block;
    if (!(row > 1) || rest == 0) return extent / block;
    const double begins = begins_at(a), line = (double)est_line(a->buffer);
    row = est_min(row, block);
    double lines = floor(rest / row) * lines_of_row(row, begins, line) +
                   lines_of_row(fmod(rest, row), begins, line);
    return whole + lines / (ceil(block / row) * lines_of_row(row, begins, line));
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

/* Share of a border's blocks, of the places that loops from one on go through while the access
 * stays where it is, with each term in which any counts. */
static double share_of_border(const est_leaf *x, const est_access *a, est_border *b, int from) {
    double width = 1;
    int64_t step = INT64_MAX; /* from one of these places to the next */
    for (int i = from; i < x->num_loops; i++) {
        if (x->loop[i].axis != b->axis || a->moves >> i & 1) continue;
        width *= x->loop[i].turns;
        if (x->loop[i].coef < step) step = x->loop[i].coef;
    }
    return est_share_along(b, width, width > 1 ? step : 1);
}

double est_share_of_turns(const est_leaf *x, const est_access *a, int once) {
    const est_terms *s = x->terms;
    double share = 1;
    for (est_border *b = s->borders; b < s->borders + s->num_borders; b++)
        share *= share_of_border(x, a, b, once);
    return share;
}

/* Do loops from one on go through all terms of the border, of which the access has each in a place
 * of its own, in dimensions in which it does not go along the border? */
static bool has_terms(const est_leaf *x, const est_access *a, const est_border *b, int from) {
    unsigned along = 0, terms = 0;
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        if (l->axis == b->axis) along |= a->moved[i];
        if (!l->sums || l->axis < 0 || !(b->asked >> l->axis & 1)) continue;
        if (i < from || !a->moved[i]) return false;
        terms |= a->moved[i];
    }
    return terms && !(terms & along);
}

bool est_is_diagonal(const est_leaf *x, const est_border *b) {
    if (!(b->apart > 0)) return false;
    for (const est_access *a = x->access; a < x->access + x->num_accesses; a++)
        for (int i = 0; i < x->num_loops && !a->written; i++)
            if (x->loop[i].axis == b->axis && a->moved[i] && has_terms(x, a, b, 0)) return true;
    return false;
}

double est_share_of_lines(const est_leaf *x, const est_access *a, int from) {
    const est_terms *s = x->terms;
    double share = 1;
    uint32_t asked = 0; /* by borders that counted */
    if (a->written) return 1;
    for (est_border *b = s->borders; b < s->borders + s->num_borders; b++) {
        if (!(b->apart > 0) || asked & b->asked || !has_terms(x, a, b, from)) continue;
        share *= share_of_border(x, a, b, from);
        asked |= b->asked;
    }
    return share;
}

/* Turns of the loops before `once` that lie within their axes and in which terms count, of an
 * access that touches the same lines in loops from there on. */
static double turns_of_lines(const est_leaf *x, const est_access *a, const touched *t, int once) {
    double share, turns = turns_within(x, a, t, once);
    if (a->written || !x->terms->num_borders) return turns;
    if (!share_within(x, a, !t->num_beyond, once, &share))
        share = est_share_of_turns(x, a, once) / a->counted[once];
    return est_max(turns * share, est_min(turns, a->lines[0] / a->lines[once]));
}

/* What the access touches in such turns, of what it touches in others. */
static double size_of(const est_leaf *x, const small_turns *s, const est_access *a) {
    const est_loop *l = &x->loop[s->loop];
    bool moves = s->axis < 0;
    for (int i = s->loop + 1; i < x->num_loops; i++)
        moves |= x->loop[i].axis == s->axis && a->moves >> i & 1;
    if (!moves) return 1;
    if (s->axis < 0) return s->size;
    return blocks_of(s->size * (double)l->coef, (double)l->coef, row_along(x, a, s->axis), a);
}

/* The same of what loops from one on touch. */
static double size_of_all(const est_leaf *x, const small_turns *s, int from) {
    double all = 0, smaller = 0;
    for (const est_access *a = x->access; a < x->access + x->num_accesses; a++) {
        if (a->in_registers) continue;
        all += a->lines[from];
        smaller += size_of(x, s, a) * a->lines[from];
    }
    return all > 0 ? smaller / all : 1;
}

/* ---- reuse ----------------------------------------------------------------------------------- */

/* What comes between two touches of the same in neighbouring turns of a loop what the leaf touches
 * in loops from `moving` on, and others in a turn; not where one of these touches the same
 * meanwhile. */
static double between(const touched *t, int loop, int moving, bool alone) {
    double sum = t->all[moving];
    for (int m = 0; m < t->num_beside && alone; m++) {
        int shared = t->beside[m].shared;
        if (shared > loop && shared <= moving) sum += t->beside[m].bytes[shared];
    }
    return sum;
}

/* What lies between two touches beside what loops from `moving` on touch, in which the access goes
 * through its lines. What others touch in each of these turns is another in the next turn of a loop
 * before that: both lie between. Where a line is touched again and again in its turn, nothing of
 * that turn does. */
static double twice(const est_leaf *x, const est_access *a, int loop, int moving) {
    const unsigned before = ((1u << moving) - 1) & ~((1u << loop) - 1);
    const double turns = x->loop[moving].turns;
    const bool stays = moving + 1 < x->num_loops && !(a->moves >> (moving + 1) & 1);
    double sum = 0;
    for (const est_access *b = x->access; b < x->access + x->num_accesses; b++) {
        if (b->in_registers) continue;
        double one = b->lines[moving + 1], all = b->lines[moving];
        double more = (all - one) / est_max(1, turns - 1);
        if (stays && b->moves >> moving & 1) sum -= more;
        if (b->tensor == a->tensor || !(b->moves & before) || (stays && turns <= 2)) continue;
        sum += est_max(0, one - more);
    }
    return EST_LINE_BYTES * sum;
}

/* Does the access go on, in the next turn of a loop, where the last turn of the loop inside it was?
 */
static bool goes_on(const est_leaf *x, const est_access *a, int loop) {
    const double turns = x->loop[loop].turns - 1, inside = x->loop[loop + 1].turns - 1;
    if ((a->step[loop] < 0) != (a->step[loop + 1] < 0)) return false;
    for (int d = 0; d < a->num_dims; d++) {
        double there = a->reach[loop][d], least = a->reach[loop + 1][d] * turns;
        if (there < least || there * inside > least * (inside + 1)) return false;
    }
    return true;
}

/* What the turns of a loop touch that lie between two of an access that touch the same. */
static double turns_between(const est_leaf *x, const est_access *a, const touched *t, int loop) {
    double turns = a->skip[loop] - 1, sum = 0;
    for (const est_access *b = x->access; b < x->access + x->num_accesses; b++)
        if (b->moves >> loop & 1 && !b->in_registers) sum += est_bytes(b, loop + 1, false);
    for (int m = 0; m < t->num_beside; m++)
        if (t->beside[m].shared > loop) sum += t->beside[m].bytes[loop + 1];
    return turns * sum;
}

/* A loop in whose turns an access touches less than so many times the lines of one touches most of
 * them in each. */
static const double MOVED = 1.5;
/* Such a share of the lines of all turns, and none is touched in two of them. */
static const double ALL_OTHERS = 0.99;

typedef struct reuse {
    const at_estimator *e;
    const est_leaf *x;
    const est_access *a;
    const touched *t;
    int shared; /* loops, with others that touch the same */
    bool piled;
} reuse;

/* A line that several successive turns of a loop touch is touched by no other turn: of all that the
 * turns touch, so much does not lie between two touches of such a line. */
static double gone_on(const reuse *r, int loop) {
    const double turns = r->x->loop[loop].turns;
    const double share = r->a->lines[loop + 1] / r->a->lines[loop]; /* of the turns */
    if (!(share * turns > 1)) return 0;
    return (r->t->all[loop] - r->t->all[loop + 1]) * (share * turns - 1) / (turns - 1);
}

/* The same of other leaves: what one touches in each of these turns, and another in the next turn
 * of a loop before that, comes twice between. Not where the turn is the first: the leaf touches its
 * lines again before the other leaf's turn. */
static double twice_beside(const reuse *r, int loop, int moving) {
    const unsigned before = ((1u << moving) - 1) & ~((1u << loop) - 1);
    const double turns = r->x->loop[moving].turns;
    double sum = 0;
    for (const est_leaf *y = r->e->leaf; y < r->e->leaf + r->e->num_leaves; y++) {
        if (y->place <= r->x->place || est_common(r->e, r->x, y) <= moving) continue;
        for (const est_access *b = y->access; b < y->access + y->num_accesses; b++) {
            double one = b->lines[moving + 1];
            if (b->in_registers || b->tensor == r->a->tensor || !(b->moves & before)) continue;
            sum += est_max(0, one - (b->lines[moving] - one) / est_max(1, turns - 1));
        }
    }
    return EST_LINE_BYTES * sum;
}

/* What comes between two touches in neighbouring turns of a loop. */
static double window_of(const reuse *r, int loop, int moving) {
    const est_access *a = r->a;
    double sum = between(r->t, loop, moving, loop >= r->shared);
    if (moving < r->x->num_loops) sum -= gone_on(r, moving);
    if (r->piled) sum += est_max(0, a->crowd[moving] - EST_LINE_BYTES * a->lines[moving]);
    if (a->skip[loop] > 1) sum += turns_between(r->x, a, r->t, loop);
    if (moving < r->x->num_loops) sum += twice(r->x, a, loop, moving);
    return sum;
}

/* Goes on to the first loop, not before `least`, from which on each line comes once into a cache of
 * that size. */
static void scan_to(const reuse *r, double size, int least, est_scan *s) {
    const est_leaf *x = r->x;
    const est_access *a = r->a;
    for (; s->once > least; s->once--, s->is_known = false) {
        const int i = s->once - 1;
        const bool moves = a->moves >> i & 1;
        if (!moves || (a->lines[i] < ALL_OTHERS * x->loop[i].turns * a->lines[i + 1] &&
                       !(s->moving == i + 1 && s->moving < x->num_loops && goes_on(x, a, i)))) {
            if (!s->is_known) s->window = window_of(r, i, s->moving);
            s->is_known = true;
            if (s->window > size) return;
            const double beside = s->moving < x->num_loops ? twice_beside(r, i, s->moving) : 0;
            if (s->window + beside > est_max(size, s->window_of_some)) {
                s->some = s->once;
                s->window_of_some = s->window + beside;
                s->stay = a->lines[s->moving + 1];
            }
        }
        if (moves && a->lines[i] >= MOVED * a->lines[i + 1]) s->moving = i;
    }
}

/* Of two parts of a tile whose lines lie in a row the lines where they meet are still there when
 * the first one comes again, if a cache holds what one of them touches. */
static double left_over(const reuse *r, double size, int once) {
    const est_leaf *x = r->x;
    const est_access *a = r->a;
    int i = once;
    while (i < x->num_loops && !(a->moves >> i & 1)) i++;
    if (once == 0 || i == x->num_loops || !x->loop[i].is_part || x->loop[i].turns > 2 ||
        a->step[i] != x->loop[i].coef || r->t->all[i + 1] > size)
        return 0;
    return est_max(0, 2 * a->lines[i + 1] - a->lines[i]);
}

/* Where a loop goes through parts of rows, the lines in which two rows meet are touched in its
 * first turn and in its last one: they come twice where a cache does not hold what lies between.
 * Blocks of rows it goes through one after the other: of each, the first and the last turn. */
static double met_again(const reuse *r, double size, int once) {
    const est_access *a = r->a;
    int i = once, fast = a->num_dims - 1; /* dimension */
    while (fast > 0 && a->buffer->limit[fast] <= 1) fast--;
    while (i < r->x->num_loops && !(a->moved[i] >> fast & 1 && a->joints[i] > a->joints[i + 1]))
        i++;
    if (i == r->x->num_loops) return 0;
    double share = 1; /* of the loop's turns */
    if (a->turned >> fast & 1) {
        double turns = ceil(a->buffer->limit[fast] / est_max(1, (double)llabs(a->step[i])));
        share = est_min(1, (turns - 1) / est_max(1, r->x->loop[i].turns - 1));
    }
    if (!(share > 0) || (r->t->all[i] - r->t->all[i + 1]) * share <= size) return 0;
    return a->joints[i] * a->lines[once] / a->lines[i];
}

/* Lines that come anew into a cache of that size where they come once for all turns of loops from
 * `once` on. */
static double lines_from(const reuse *r, double size, int once) {
    const double turns = turns_of_lines(r->x, r->a, r->t, once);
    const double left = left_over(r, size, once);
    double lines = (r->a->lines[once] - left + met_again(r, size, once)) * turns;
    return left > 0 ? est_max(lines, r->a->lines[0]) : lines; /* each comes once at least */
}

/* The same as far as a scan came. */
static double lines_of(const reuse *r, double size, const est_scan *s) {
    const double lines = lines_from(r, size, s->once);
    if (s->window_of_some <= size) return lines;
    const double turns = turns_of_lines(r->x, r->a, r->t, s->some);
    return est_max(lines, (r->a->lines[s->some] - s->stay) * turns);
}

/* Of so many lines that come since one place or two are too full, those that are there all the
 * same: where what is too much is less than a line of each place, one comes there now and then. Of
 * more places others that touch the same ones would have to be known. */
static double still_in_place(const reuse *r, double size, const est_scan *s, double lines) {
    enum { FEW = 2 };
    const double beyond = (s->window - size) / WAY_BYTES;
    const bool is_few = FEW * r->a->crowd[s->moving] >= WAY_BYTES * r->a->lines[s->moving];
    if (!is_few || !(beyond > 0 && beyond < 1)) return 0;
    est_scan further = *s;
    scan_to(r, s->window, 0, &further);
    return (1 - beyond) * est_max(0, lines - lines_of(r, s->window, &further));
}

/* Does a cache of that size still have what this access of x touches, from the loops before or from
 * the run before? x touches, all its loops together, no more than that. */
static bool is_left(const at_estimator *e, const est_leaf *x, const est_access *a, double size) {
    double *largest = e->largest, sum = 0;
    memset(largest, 0, sizeof *largest * (size_t)e->compute->num_tensors);
    int n = e->num_leaves, place = x->place;
    for (int m = 0; m <= n; m++) {
        const est_leaf *y = &e->leaf[(place - m + n) % n];
        bool found = m == n;
        for (int k = 0; k < y->num_accesses; k++) {
            int tensor = y->access[k].tensor;
            double bytes = est_bytes(&y->access[k], 0, false);
            found |= m > 0 && tensor == a->tensor;
            if (y->access[k].in_registers || bytes <= largest[tensor]) continue;
            sum += bytes - largest[tensor];
            largest[tensor] = bytes;
        }
        if (sum > size) return false;
        if (found) return true;
    }
    return true;
}

/* Where a cache holds what comes between two touches, lines come once for all turns of a loop.
 * Those are near each other as far as the loops go on in which the access does not move. piled: in
 * the few places that it reaches, what others touch is as little as everywhere. Turns that touch
 * less may fit where the others do not. */
double est_fetched(const at_estimator *e, const est_leaf *x, const est_access *a, const touched *t,
                   int shared, double size, bool piled, est_scan *scan) {
    const reuse r = {e, x, a, t, shared, piled};
    scan_to(&r, size, 0, scan);
    const int once = scan->once;
    if (once == 0 && is_left(e, x, a, size)) return 0;
    double lines = lines_of(&r, size, scan), sum;
    if (piled && once > 0) lines -= still_in_place(&r, size, scan, lines);
    sum = lines;
    for (const small_turns *s = t->small; s < t->small + t->num_small && once > 0; s++) {
        if (once <= s->loop || scan->window * s->size > size) continue;
        double less = size_of_all(x, s, once), own = size_of(x, s, a);
        est_scan further = *scan;
        if (scan->window * less > size) continue;
        scan_to(&r, size / less, s->loop + 1, &further);
        double share = own * s->number / (own * s->number + 1 - s->number);
        sum += share * (lines_of(&r, size, &further) - lines);
    }
    return sum;
}
