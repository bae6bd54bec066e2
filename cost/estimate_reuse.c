/* cost/estimate_reuse.c: what lies between two touches of the same line, and so which lines a cache
 * still has. */
#include "cost/estimate_memory_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    return 64 * sum;
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

/* Lines that are touched in several turns of a loop, one after the other, are not touched in the
 * others: of what its turns touch, so much does not lie between two touches. */
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
    return 64 * sum;
}

/* What comes between two touches in neighbouring turns of a loop. */
static double window_of(const reuse *r, int loop, int moving) {
    const est_access *a = r->a;
    double sum = between(r->t, loop, moving, loop >= r->shared);
    if (moving < r->x->num_loops) sum -= gone_on(r, moving);
    if (r->piled) sum += est_max(0, a->crowd[moving] - 64 * a->lines[moving]);
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
    const double turns = est_turns_of_lines(r->x, r->a, r->t, once);
    const double left = left_over(r, size, once);
    double lines = (r->a->lines[once] - left + met_again(r, size, once)) * turns;
    return left > 0 ? est_max(lines, r->a->lines[0]) : lines; /* each comes once at least */
}

/* The same as far as a scan came. */
static double lines_of(const reuse *r, double size, const est_scan *s) {
    const double lines = lines_from(r, size, s->once);
    if (s->window_of_some <= size) return lines;
    const double turns = est_turns_of_lines(r->x, r->a, r->t, s->some);
    return est_max(lines, (r->a->lines[s->some] - s->stay) * turns);
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
    double lines = lines_of(&r, size, scan), sum = lines;
    for (const small_turns *s = t->small; s < t->small + t->num_small && once > 0; s++) {
        if (once <= s->loop || scan->window * s->size > size) continue;
        double less = est_size_of_all(x, s, once), own = est_size(x, s, a);
        est_scan further = *scan;
        if (scan->window * less > size) continue;
        scan_to(&r, size / less, s->loop + 1, &further);
        double share = own * s->number / (own * s->number + 1 - s->number);
        sum += share * (lines_of(&r, size, &further) - lines);
    }
    return sum;
}
