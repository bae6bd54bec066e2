/* records/spread.c: samples: costs out of them, and how far they are apart. */
#include "records/records_int.h"

#include <stdlib.h>

const double *at_costs_of_samples(at_arena *a, const double *samples, int n, int *num_costs) {
    double *costs = at_copy(a, samples, (size_t)n * sizeof *costs);
    *num_costs = n;
    if (n <= 2) return costs;
    at_sort_doubles(costs, n);
    *num_costs -= 2;
    return costs + 1;
}

static double *sorted_rounds(const at_turns *t) {
    double *times = malloc((size_t)t->num_rounds * sizeof *times);
    AT_NEED(times);
    for (int i = 0; i < t->num_rounds; i++) times[i] = t->rounds[i].time_s;
    at_sort_doubles(times, t->num_rounds);
    return times;
}

at_spread at_spread_of(const double *sorted, int n) {
    bool few = n < 4;
    return (at_spread){.samples = n,
                       .median_s = at_sorted_quantile(sorted, n, 0.5),
                       .low_s = few ? sorted[0] : at_sorted_quantile(sorted, n, 0.25),
                       .high_s = few ? sorted[n - 1] : at_sorted_quantile(sorted, n, 0.75)};
}

at_spread at_record_spread(const at_record *r) {
    const at_turns *final = at_record_final(r);
    const double *samples = r->costs_s;
    int n = r->num_costs;
    if (r->extra.num_samples) samples = r->extra.samples_s, n = r->extra.num_samples;
    if (final) n = final->num_rounds;
    AT_ASSERT(n);
    double *sorted = final ? sorted_rounds(final) : at_sorted_copy(samples, n);
    at_spread s = at_spread_of(sorted, n);
    free(sorted);
    return s;
}
