/* cost/estimate_memory.c: what comes from beyond each level of the caches. */
#include "cost/estimate_int.h"

#include <math.h>

/* Different bytes that loop i of leaf x, all its turns, touches; leaves beside x in it, too. Lines
 * that pile up in a few places of a cache count as if they did so in all. */
static double held(const at_estimator *e, const est_leaf *x, int i, bool piled) {
    double sum = 0;
#define BYTES(a) (piled ? (a).crowd[i] : (a).bytes[i])
    for (int k = 0; k < x->num_accesses; k++) sum += BYTES(x->access[k]);
    for (int m = 0; m < e->num_leaves; m++) {
        const est_leaf *y = &e->leaf[m];
        if (y == x || est_common(x, y) <= i) continue;
        for (int k = 0; k < y->num_accesses; k++) {
            bool counted = false;
            for (int j = 0; j < x->num_accesses; j++)
                counted |= x->access[j].tensor == y->access[k].tensor;
            if (!counted) sum += BYTES(y->access[k]);
        }
    }
#undef BYTES
    return sum;
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

/* Lines from beyond each level for one leaf, as if the least recently used went first. */
void est_memory(at_estimator *e, const est_leaf *x, int in_registers, int apart,
                double *apart_lines) {
    const at_speeds *s = e->o.speeds;
    int fits = x->num_loops; /* loops from here on leave what they touch in the cache */
    double size = 0;
    for (int level = 0; level < 3; level++) {
        size += (double)e->o.cache_bytes[level];
        if (!e->o.cache_bytes[level]) continue;
        int piled = level ? 0 : kept_from(e, x, fits, size, true);
        fits = kept_from(e, x, fits, size, false);
        if (piled < fits) piled = fits;
        if (piled == 0) break;
        double lines = 0;
        for (int k = 0; k < x->num_accesses; k++) {
            const est_access *a = &x->access[k];
            bool piles_up = piled > fits && a->crowd[piled - 1] > a->bytes[piled - 1];
            double more = fetched(x, a, piles_up ? piled : fits);
            if (a->tensor == in_registers) continue;
            e->out->bytes[level] += more * 64;
            if (k == apart && level == 0) *apart_lines = more;
            else lines += more;
        }
        e->out->memory_ns += lines * (double)s->line_ns[level + 1];
    }
}
