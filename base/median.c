/* base/median.c: numbers in order, the median, and how well it is known. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 64 };

int at_compare_ints(const void *x, const void *y) {
    const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
    return (a > b) - (a < b);
}

static int compare_doubles(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

void at_sort_doubles(double *x, int n) {
    if (n) qsort(x, (size_t)n, sizeof *x, compare_doubles);
}

double *at_sorted_copy(const double *x, int n) {
    double *sorted = malloc(sizeof *x * (size_t)(n ? n : 1));
    AT_NEED(sorted);
    if (n) memcpy(sorted, x, sizeof *x * (size_t)n);
    at_sort_doubles(sorted, n);
    return sorted;
}

double at_sorted_median(const double *sorted, int n) {
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

double at_sorted_middle(const double *sorted, int n) {
    enum { FEW = 8 };
    if (n < FEW) return at_sorted_median(sorted, n);
    double sum = 0;
    int left_out = n / 4;
    for (int i = left_out; i < n - left_out; i++) sum += sorted[i];
    return sum / (n - 2 * left_out);
}

double at_sorted_quantile(const double *sorted, int n, double share) {
    double at = share * (n - 1);
    int i = (int)at;
    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[i];
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
    at_sort_doubles(sorted, n);
    int k = end_rank(n);
    return (at_interval){at_sorted_median(sorted, n), sorted[k], sorted[n - 1 - k]};
}
