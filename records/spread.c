/* records/spread.c: how far the samples of a record are apart. */
#include "records/records_int.h"

#include <stdlib.h>
#include <string.h>

static int compare_doubles(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* Between neighbours where the place is none of an element. */
static double quantile(const double *sorted, int n, double share) {
    double place = share * (n - 1);
    int i = (int)place;
    return i + 1 < n ? sorted[i] + (place - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

at_spread at_record_spread(const at_record *r) {
    const double *samples = r->costs_s;
    int n = r->num_costs;
    if (r->extra.num_samples) samples = r->extra.samples_s, n = r->extra.num_samples;
    if (r->num_finals) samples = r->finals_s, n = r->num_finals;
    double *sorted = malloc((size_t)n * sizeof *sorted);
    AT_ASSERT(sorted && n);
    memcpy(sorted, samples, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    bool few = n < 4;
    at_spread s = {.samples = n,
                   .median_s = quantile(sorted, n, 0.5),
                   .low_s = few ? sorted[0] : quantile(sorted, n, 0.25),
                   .high_s = few ? sorted[n - 1] : quantile(sorted, n, 0.75)};
    free(sorted);
    return s;
}
