/* cost/estimate_memory.c: what comes from beyond each level of the caches. */
#include "cost/estimate_int.h"

#include <math.h>
#include <string.h>

typedef struct touched {       /* bytes, a line at least each time */
    double own[MAX_LOOPS + 1]; /* by the leaf, in loops from one on */
    double all[MAX_LOOPS + 1]; /* the same with what others touch in these loops */
    struct {
        double bytes[MAX_LOOPS + 1];
        int shared;       /* loops, with the leaf */
    } beside[MAX_LEAVES]; /* the same of other leaves, but for what the leaf itself touches */
    int num_beside;
    int together[MAX_READS];     /* of each access: loops shared with others that touch the same */
    double turns[MAX_LOOPS + 1]; /* of the loops before each */
    bool is_exact;               /* no loops go beyond the end of their axis */
} touched;

/* piled: lines that pile up in a few places of a cache count as if they did so in all. */
static double bytes_of(const est_access *a, int from, bool piled) {
    return piled ? a->crowd[from] : 64 * a->lines[from];
}

/* Of a tensor that several accesses of a leaf touch the largest counts, as of one that several
 * other leaves touch. */
static void touch_by(const at_estimator *e, const est_leaf *x, touched *t) {
    int8_t *shared_by = e->shared_by; /* of a tensor: loops shared with who counts it */
    memset(shared_by, 0, sizeof *shared_by * (size_t)e->compute->num_tensors);
    t->num_beside = 0;
    for (int i = 0; i <= x->num_loops; i++) t->own[i] = 0;
    for (int k = 0; k < x->num_accesses; k++) {
        const est_access *a = &x->access[k];
        int before = k;
        t->together[k] = 0;
        while (--before >= 0 && x->access[before].tensor != a->tensor) {
        }
        for (int i = 0; i <= x->num_loops && !a->in_registers; i++) {
            double bytes = bytes_of(a, i, false);
            if (before >= 0) bytes = fmax(0, bytes - bytes_of(&x->access[before], i, false));
            t->own[i] += bytes;
        }
        shared_by[a->tensor] = MAX_LOOPS + 1;
    }
    for (int m = 0; m < e->num_leaves; m++) {
        const est_leaf *y = &e->leaf[m];
        int shared = y == x ? 0 : est_common(e, x, y), n = t->num_beside;
        if (!shared) continue;
        t->beside[n].shared = shared;
        for (int i = 0; i <= shared; i++) t->beside[n].bytes[i] = 0;
        for (int k = 0; k < y->num_accesses; k++) {
            const est_access *a = &y->access[k];
            for (int j = 0; j < x->num_accesses; j++)
                if (x->access[j].tensor == a->tensor && t->together[j] < shared)
                    t->together[j] = shared;
            if (a->in_registers || shared_by[a->tensor] >= shared) continue;
            shared_by[a->tensor] = (int8_t)shared;
            for (int i = 0; i <= shared; i++) t->beside[n].bytes[i] += bytes_of(a, i, false);
        }
        t->num_beside++;
    }
    memcpy(t->all, t->own, sizeof *t->own * (size_t)(x->num_loops + 1));
    for (int m = 0; m < t->num_beside; m++)
        for (int i = 0; i < t->beside[m].shared; i++) t->all[i] += t->beside[m].bytes[i];
}

void est_touched_by_all(at_estimator *e) {
    e->touched = e->piled = 0;
    for (int m = 0; m < e->num_leaves; m++)
        for (int k = 0; k < e->leaf[m].num_accesses; k++) {
            const est_access *a = &e->leaf[m].access[k];
            if (a->in_registers) continue;
            e->touched += bytes_of(a, 0, false);
            e->piled += bytes_of(a, 0, true);
        }
}

/* Does a cache of that size still have what this access of x touches, from the loops before or from
 * the run before? x touches, all its loops together, no more than that. */
static bool is_left(const at_estimator *e, const est_leaf *x, const est_access *a, double size) {
    double *largest = e->largest, sum = 0;
    memset(largest, 0, sizeof *largest * (size_t)e->compute->num_tensors);
    int n = e->num_leaves, place = (int)(x - e->leaf);
    for (int m = 0; m <= n; m++) {
        const est_leaf *y = &e->leaf[(place - m + n) % n];
        bool found = m == n;
        for (int k = 0; k < y->num_accesses; k++) {
            int tensor = y->access[k].tensor;
            double bytes = bytes_of(&y->access[k], 0, false);
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

static void count_turns(const est_leaf *x, touched *t) {
    enum { MOST_AXES = 32 };
    double product[MOST_AXES], extent[MOST_AXES];
    uint32_t seen = 0;
    t->turns[0] = 1;
    t->is_exact = true;
    for (int i = 0; i < x->num_loops; i++) {
        const est_loop *l = &x->loop[i];
        t->turns[i + 1] = t->turns[i] * l->turns;
        if (l->axis < 0) continue;
        if (!(seen >> l->axis & 1)) product[l->axis] = 1;
        seen |= 1u << l->axis;
        product[l->axis] *= l->turns;
        extent[l->axis] = l->extent;
    }
    for (int k = 0; k < MOST_AXES; k++)
        if (seen >> k & 1 && product[k] > extent[k]) t->is_exact = false;
}

/* What comes between two touches of the same in neighbouring turns of a loop what the leaf touches
 * in loops from `moving` on, and others in a turn; not where one of these touches the same
 * meanwhile. */
static double between(const touched *t, int loop, int moving, bool alone) {
    double sum = t->all[moving];
    for (int m = 0; m < t->num_beside && alone; m++) {
        int shared = t->beside[m].shared;
        if (shared > loop && shared <= moving) sum += t->beside[m].bytes[loop + 1];
    }
    return sum;
}

/* Turns of the loops before `to` that lie within their axes. An access that moves along an axis has
 * no more of it than there is. */
static double turns_within(const est_leaf *x, const est_access *a, int to) {
    double n = 1;
    uint32_t done = 0; /* axes */
    for (int i = to - 1; i >= 0; i--) {
        const est_loop *l = &x->loop[i];
        double turns = 1;
        int64_t step = l->coef; /* the least of the axis's loops */
        bool moves = false;
        if (l->axis < 0 || !(l->extent > 0)) {
            n *= l->turns;
            continue;
        }
        if (done >> l->axis & 1) continue;
        done |= 1u << l->axis;
        for (int k = 0; k < x->num_loops; k++) {
            if (x->loop[k].axis != l->axis) continue;
            if (k < to) turns *= x->loop[k].turns;
            if (k < to && x->loop[k].coef < step) step = x->loop[k].coef;
            moves |= a->moves >> k & 1;
        }
        double most = l->extent / (double)step;
        n *= fmin(turns, moves ? fmax(1, most) : ceil(most));
    }
    return n;
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
    if (turns <= 0) return 0;
    for (const est_access *b = x->access; b < x->access + x->num_accesses; b++)
        if (b->moves >> loop & 1 && !b->in_registers) sum += bytes_of(b, loop + 1, false);
    for (int m = 0; m < t->num_beside; m++)
        if (t->beside[m].shared > loop) sum += t->beside[m].bytes[loop + 1];
    return turns * sum;
}

/* A loop in whose turns an access touches less than so many times the lines of one touches most of
 * them in each. */
static const double MOVED = 1.5;

/* Lines of an access that come anew: where a cache holds what comes between two touches, they come
 * once for all turns of a loop. Those are near each other as far as the loops go on in which the
 * access does not move. piled: in the few places that it reaches, what others touch is as little as
 * everywhere. */
static double fetched(const at_estimator *e, const est_leaf *x, const est_access *a,
                      const touched *t, int shared, double size, bool piled) {
    int once = x->num_loops; /* loops from here on */
    for (int i = once - 1, moving = once; i >= 0; i--) {
        bool moves = a->moves >> i & 1;
        double more = piled ? fmax(0, a->crowd[moving] - 64 * a->lines[moving]) : 0;
        if (!(moves && moving == i + 1 && moving < x->num_loops && goes_on(x, a, i)) &&
            between(t, i, moving, i >= shared) + turns_between(x, a, t, i) + more > size)
            break;
        once = i;
        if (moves && a->lines[i] >= MOVED * a->lines[i + 1]) moving = i;
    }
    if (once == 0 && is_left(e, x, a, size)) return 0;
    return a->lines[once] * (t->is_exact ? t->turns[once] : turns_within(x, a, once));
}

/* Has another access of this leaf touched the same, or a leaf before this one in the same turn of a
 * loop around both, and does the cache hold what all leaves touch in such a turn? */
static bool just_touched(const at_estimator *e, const est_leaf *x, const est_access *a,
                         const touched *t, double size) {
    for (const est_access *b = x->access; b < a; b++)
        if (b->tensor == a->tensor && b->lines[0] == a->lines[0] &&
            !memcmp(b->step, a->step, sizeof *a->step * (size_t)x->num_loops))
            return true;
    for (const est_leaf *y = e->leaf; y < x; y++) {
        int shared = est_common(e, x, y);
        bool same = false;
        for (int k = 0; k < y->num_accesses && shared; k++)
            same |= y->access[k].tensor == a->tensor && !y->access[k].in_registers &&
                    y->access[k].lines[shared] >= a->lines[shared];
        if (!same) continue;
        double sum = t->own[shared];
        for (int m = 0; m < t->num_beside; m++)
            if (t->beside[m].shared >= shared) sum += t->beside[m].bytes[shared];
        if (sum <= size) return true;
    }
    return false;
}

/* Levels whose places an address decides. Of the second one the lower bits do, too; those above are
 * its page's, which lie anywhere, so that what piles up within a page does so in each. */
enum { MOST_PILED = 1 };
/* Some places fill sooner, since pages lie anywhere: of 16 ways with 16 places for pages, 0.86 of
 * what is read again and again is found where it is so large, 0.47 where it is as large as all. */
static const double L2_SHARE = 0.75;

/* Lines from beyond each level for one leaf, as if the least recently used went first. */
void est_memory(at_estimator *e, const est_leaf *x, int apart, double *apart_lines) {
    const at_speeds *s = e->o.speeds;
    const double share = sqrt(e->stages[x->node->tensor].share); /* rows whose terms count */
    double size = 0;
    bool known = false;
    touched all;
    for (int level = 0; level < 3; level++) {
        size += (double)e->o.cache_bytes[level] * (level == 1 ? L2_SHARE : 1);
        if (!e->o.cache_bytes[level]) continue;
        if ((level <= MOST_PILED ? e->piled : e->touched) <= size) break;
        if (!known) touch_by(e, x, &all), count_turns(x, &all);
        known = true;
        double lines = 0;
        for (int k = 0; k < x->num_accesses; k++) {
            const est_access *a = &x->access[k];
            if (a->in_registers || just_touched(e, x, a, &all, size)) continue;
            double more =
                fetched(e, x, a, &all, all.together[k], size, level <= MOST_PILED && a->piles_up);
            if (!a->written) more = fmax(more * share, fmin(more, a->lines[0]));
            e->out->bytes[level] += more * 64;
            if (k == apart && level == 0) *apart_lines = more;
            else lines += more;
        }
        e->out->memory_ns += lines * (double)s->line_ns[level + 1];
    }
}
