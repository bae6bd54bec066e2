/* cost/estimate_memory.c: what comes from beyond each level of the caches. */
#include "cost/estimate_int.h"

#include <math.h>

/* Bytes of different tensors. Not cleared whole, since points are many. */
typedef struct touched {
    int tensor[MAX_LEAVES * MAX_READS], num;
    double bytes[MAX_LEAVES * MAX_READS], sum;
} touched;

static void touch(touched *t, const est_access *a, double bytes) {
    int i = 0;
    while (i < t->num && t->tensor[i] != a->tensor) i++;
    if (i == t->num) {
        t->tensor[t->num] = a->tensor;
        t->bytes[t->num++] = 0;
    }
    if (bytes <= t->bytes[i]) return;
    t->sum += bytes - t->bytes[i];
    t->bytes[i] = bytes;
}

/* Different bytes that loop i of leaf x, all its turns, touches; leaves beside x in it, too. Lines
 * that pile up in a few places of a cache count as if they did so in all. */
static double held(const at_estimator *e, const est_leaf *x, int i, bool piled) {
    touched t;
    t.num = 0;
    t.sum = 0;
    for (int m = 0; m < e->num_leaves; m++) {
        const est_leaf *y = &e->leaf[m];
        if (y != x && est_common(x, y) <= i) continue;
        for (int k = 0; k < y->num_accesses; k++)
            touch(&t, &y->access[k], piled ? y->access[k].crowd[i] : y->access[k].bytes[i]);
    }
    return t.sum;
}

/* Does a cache of that size still have what this access of x touches, from the loops before or from
 * the run before? x touches, all its loops together, no more than that. */
static bool is_left(const at_estimator *e, const est_leaf *x, const est_access *a, double size) {
    touched t;
    int n = e->num_leaves, place = (int)(x - e->leaf);
    t.num = 0;
    t.sum = 0;
    for (int m = 0; m <= n; m++) {
        const est_leaf *y = &e->leaf[(place - m + n) % n];
        bool found = m == n;
        for (int k = 0; k < y->num_accesses; k++) {
            touch(&t, &y->access[k], y->access[k].bytes[0]);
            found |= m > 0 && y->access[k].tensor == a->tensor;
        }
        if (t.sum > size) return false;
        if (found) return true;
    }
    return true;
}

/* The loop, of the first `from`, from which on a cache of that size keeps what is touched. */
static int kept_from(const at_estimator *e, const est_leaf *x, int from, double size, bool piled) {
    while (from > 0 && held(e, x, from - 1, piled) <= size) from--;
    return from;
}

/* Lines of an access that come anew where loops from `fits` on keep theirs: what two turns of the
 * loop around share is still there. */
static double fetched(const est_leaf *x, const est_access *a, int fits) {
    double around = fits > 0 ? est_turns(x, 0, fits - 1) : 0;
    return fits > 0 ? fmin(a->lines[fits] * est_turns(x, 0, fits), a->lines[fits - 1] * around) : 0;
}

static bool all_fits(const at_estimator *e, double size) {
    double sum = 0;
    for (int m = 0; m < e->num_leaves; m++)
        for (int k = 0; k < e->leaf[m].num_accesses; k++) sum += e->leaf[m].access[k].bytes[0];
    return sum <= size;
}

enum { LAST = 2 }; /* level; what it lacks comes from memory */

/* Lines from beyond each level for one leaf, as if the least recently used went first. */
void est_memory(at_estimator *e, const est_leaf *x, int in_registers, int apart,
                double *apart_lines) {
    const at_speeds *s = e->o.speeds;
    int fits = x->num_loops; /* loops from here on leave what they touch in the cache */
    double size = 0;
    for (int level = 0; level <= LAST; level++) {
        size += (double)e->o.cache_bytes[level];
        if (!e->o.cache_bytes[level]) continue;
        int piled = level ? 0 : kept_from(e, x, fits, size, true);
        fits = kept_from(e, x, fits, size, false);
        if (piled < fits) piled = fits;
        if (piled == 0 && (level < LAST || all_fits(e, size))) continue; /* what is left is near */
        double lines = 0;
        for (int k = 0; k < x->num_accesses; k++) {
            const est_access *a = &x->access[k];
            bool piles_up = piled > fits && a->crowd[piled - 1] > a->bytes[piled - 1];
            double more = fetched(x, a, piles_up ? piled : fits);
            if (a->tensor == in_registers) continue;
            if (piled == 0) more = is_left(e, x, a, size) ? 0 : a->lines[0];
            e->out->bytes[level] += more * 64;
            if (k == apart && level == 0) *apart_lines = more;
            else lines += more;
        }
        e->out->memory_ns += lines * (double)s->line_ns[level + 1];
    }
}
