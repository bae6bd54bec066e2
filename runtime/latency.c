/* runtime/latency.c: how long one load takes that waits for the one before it. */
#include <stdlib.h>

#include "runtime/runtime.h"

/* Lines in an order that no prefetcher follows: a cycle through all of them, by Sattolo's shuffle.
 */
double at_latency_ns(int64_t bytes) {
    enum { LINE = 64, CHUNKS = 3 };
    const int64_t most = (int64_t)64 << 20;
    int64_t lines = (bytes < most ? bytes : most) / LINE;
    at_rng rng;
    if (lines < 2) return 0;
    char *all = aligned_alloc(LINE, (size_t)(lines * LINE));
    int32_t *order = malloc(sizeof *order * (size_t)lines);
    AT_NEED(all);
    AT_NEED(order);
    at_rng_seed(&rng, 1, 1);
    for (int64_t i = 0; i < lines; i++) order[i] = (int32_t)i;
    for (int64_t i = lines - 1; i > 0; i--) {
        int64_t k = (int64_t)at_rng_below(&rng, (uint64_t)i);
        int32_t t = order[i];
        order[i] = order[k];
        order[k] = t;
    }
    for (int64_t i = 0; i < lines; i++) *(char **)(all + i * LINE) = all + order[i] * (int64_t)LINE;
    double best = 0;
    for (int chunk = 0; chunk <= CHUNKS; chunk++) { /* the first warms the caches */
        int64_t steps = lines > 200000 ? 200000 : 20000 / lines * lines + lines;
        char **at = (char **)all;
        int64_t start = at_now_ns();
        for (int64_t i = 0; i < steps; i++) at = *(char ***)at;
        __asm__ volatile("" : : "r"(at));
        double ns = (double)(at_now_ns() - start) / (double)steps;
        if (chunk == 1 || (chunk && ns < best)) best = ns;
    }
    free(order);
    free(all);
    return best;
}
