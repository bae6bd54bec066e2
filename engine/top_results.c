/* engine/top_results.c: which results go into a final. */
#include "engine/top_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 16 };

static bool has_counting(const at_record *r, at_objective objective) {
    const at_paired *p = &r->extra.pairs;
    int counting = 0;
    if (!p->num_ratios || !p->states || !*p->states) return true; /* states are not known */
    at_median_that_counts(p->ratios, p->states, p->num_ratios, objective, &counting);
    return counting > 0;
}

/* By how much results in other states seem better, as a logarithm. sorted: those which count, and
 * those which do not. */
static double shift_of(double *const sorted[2], const int num[2]) {
    if (num[0] < FEW || num[1] < FEW) return 0;
    return sorted[0][num[0] / 4] - sorted[1][num[1] / 4];
}

int at_top_results(const at_record *const *results, int n, at_objective objective,
                   const at_record **out, int most) {
    double *worth = malloc(sizeof *worth * (size_t)(3 * n + 1));
    bool *is_other = malloc(sizeof *is_other * (size_t)(n + 1));
    AT_NEED(worth && is_other);
    double *sorted[2] = {worth + n, worth + 2 * n}, kept[256];
    int num[2] = {0, 0}, count = 0;
    AT_ASSERT(most <= (int)(sizeof kept / sizeof *kept));
    for (int i = 0; i < n; i++) {
        const at_record *r = results[i];
        worth[i] = INFINITY;
        if (!at_record_is_candidate(r) || r->extra.same_as >= 0) continue;
        worth[i] = log(at_record_mean(r));
        is_other[i] = !has_counting(r, objective);
        sorted[is_other[i]][num[is_other[i]]++] = worth[i];
    }
    for (int k = 0; k < 2; k++) at_sort_doubles(sorted[k], num[k]);
    const double shift = shift_of(sorted, num);
    for (int i = 0; i < n; i++) {
        if (!isfinite(worth[i])) continue;
        const double x = worth[i] + (is_other[i] ? shift : 0);
        int at = count;
        while (at > 0 && x < kept[at - 1]) at--;
        if (at == most) continue;
        if (count < most) count++;
        memmove(out + at + 1, out + at, sizeof *out * (size_t)(count - 1 - at));
        memmove(kept + at + 1, kept + at, sizeof *kept * (size_t)(count - 1 - at));
        out[at] = results[i];
        kept[at] = x;
    }
    free(is_other);
    free(worth);
    return count;
}
