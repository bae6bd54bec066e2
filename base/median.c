/* base/median.c: the median and how well it is known. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 64 };

static int compare_doubles(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

/* The median lies below the k-th smallest of n values (from 0) when at most k of them do, each with
 * probability 1/2: the largest k for which both ends together leave out 5 %. */
static int end_rank(int n) {
    double all = 1, chosen = 1, below = 0;
    for (int i = 0; i < n; i++) all *= 2;
    for (int k = 0;; k++) {
        below += chosen;
        if (2 * below > 0.05 * all) return k > 0 ? k - 1 : 0;
        chosen = chosen * (n - k) / (k + 1);
    }
}

at_interval at_median(const double *values, int n) {
    double sorted[MAX_VALUES];
    AT_ASSERT(n >= 1 && n <= MAX_VALUES);
    memcpy(sorted, values, sizeof *values * (size_t)n);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    int k = end_rank(n);
    return (at_interval){(sorted[(n - 1) / 2] + sorted[n / 2]) / 2, sorted[k], sorted[n - 1 - k]};
}
