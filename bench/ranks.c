/* bench/ranks.c: whether two lists of numbers have the same order. */
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

typedef struct item {
    double value;
    int number;
} item;

static int by_value(const void *a, const void *b) {
    const item *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* Equal ones share their mean rank. */
static void rank(const double *values, int n, item *items, double *ranks) {
    for (int i = 0; i < n; i++) items[i] = (item){values[i], i};
    qsort(items, (size_t)n, sizeof *items, by_value);
    for (int i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && items[end].value == items[i].value;) end++;
        for (int j = i; j < end; j++) ranks[items[j].number] = (i + end - 1) / 2.0;
    }
}

double at_bench_rank_correlation(const double *x, const double *y, int n) {
    item *items = malloc(sizeof *items * (size_t)(n + 1));
    double *ranks = malloc(sizeof *ranks * 2 * (size_t)(n + 1)), *other = ranks + n;
    double mean = (n - 1) / 2.0, xy = 0, xx = 0, yy = 0;
    AT_NEED(items);
    AT_NEED(ranks);
    rank(x, n, items, ranks);
    rank(y, n, items, other);
    for (int i = 0; i < n; i++) {
        double a = ranks[i] - mean, b = other[i] - mean;
        xy += a * b, xx += a * a, yy += b * b;
    }
    free(items);
    free(ranks);
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}
