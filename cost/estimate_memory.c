/* cost/estimate_memory.c: what comes from beyond each level of the caches. */
#include "cost/estimate_int.h"

#include <math.h>

/* Different bytes that loop i of leaf x, all its turns, touches; leaves beside x in it, too. */
static double held(const at_estimator *e, const est_leaf *x, int i) {
    double sum = 0;
    for (int k = 0; k < x->num_accesses; k++) sum += x->access[k].bytes[i];
    for (int m = 0; m < e->num_leaves; m++) {
        const est_leaf *y = &e->leaf[m];
        if (y == x || est_common(x, y) <= i) continue;
        for (int k = 0; k < y->num_accesses; k++) {
            bool counted = false;
            for (int j = 0; j < x->num_accesses; j++)
                counted |= x->access[j].tensor == y->access[k].tensor;
            if (!counted) sum += y->access[k].bytes[i];
        }
    }
    return sum;
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
        while (fits > 0 && held(e, x, fits - 1) <= size) fits--;
        if (fits == 0) break;
        double times = 1, lines = 0;
        for (int i = 0; i < fits; i++) times *= x->loop[i].turns;
        double around = times / x->loop[fits - 1].turns;
        for (int k = 0; k < x->num_accesses; k++) {
            const est_access *a = &x->access[k];
            /* what two turns of the loop around share is still there */
            double more = fmin(a->lines[fits] * times, a->lines[fits - 1] * around);
            if (a->tensor == in_registers) continue;
            e->out->bytes[level] += more * 64;
            if (k == apart && level == 0) *apart_lines = more;
            else lines += more;
        }
        e->out->memory_ns += lines * (double)s->line_ns[level + 1];
    }
}
