/* tuners/metrics.c: how good an order is, and how to choose different candidates. Source of
 * behaviour: TVM v0.12, python/tvm/autotvm/tuner/metric.py and model_based_tuner.py. */
#include "tuners/model.h"

#include <stdlib.h>

typedef struct place {
    double value;
    int row;
} place;

/* Larger values first, equal ones in the order of their rows. */
static int compare(const void *x, const void *y) {
    const place *a = x, *b = y;
    if (a->value != b->value) return a->value < b->value ? 1 : -1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The first num of n rows, largest value first. */
static place *first(const double *values, int n, int num) {
    place *p = malloc(sizeof *p * (size_t)(num + 1));
    AT_NEED(p);
    for (int i = 0, len = 0; i < n; i++) {
        const place mine = {values[i], i};
        if (len == num && (!num || compare(&p[num - 1], &mine) < 0)) continue;
        int at = len < num ? len++ : num - 1;
        for (; at > 0 && compare(&mine, &p[at - 1]) < 0; at--) p[at] = p[at - 1];
        p[at] = mine;
    }
    return p;
}

/* out[num]: the curve whose mean at_average_recall is. */
static void recall(const double *preds, const double *labels, int n, int num, double *out) {
    place *by_pred = first(preds, n, num), *by_label = first(labels, n, num);
    int found = 0; /* of the first i by preds, among the first i + 1 by labels */
    for (int i = 0; i < num; i++) {
        for (int j = 0; i && j <= i; j++) found += by_pred[i - 1].row == by_label[j].row;
        for (int k = 0; k < i - 1; k++) found += by_pred[k].row == by_label[i].row;
        out[i] = (double)found / (i + 1);
    }
    free(by_label);
    free(by_pred);
}

double at_average_recall(const double *preds, const double *labels, int n, int top) {
    int num = top < n ? top : n;
    double sum = 0, *curve = malloc(sizeof *curve * (size_t)(num + 1));
    AT_NEED(curve);
    recall(preds, labels, n, num, curve);
    for (int i = 0; i < num; i++) sum += curve[i];
    free(curve);
    return sum / top;
}

void at_pick_diverse(const double *scores, const int64_t *digits, int n, int num_digits,
                     double weight, int num, int *picked) {
    bool *taken = calloc((size_t)n + 1, sizeof *taken);
    bool *is_old = calloc((size_t)n * (size_t)num_digits + 1, sizeof *is_old); /* as digits */
    AT_NEED(taken && is_old);
    for (int p = 0; p < num; p++) {
        double most = 0;
        picked[p] = -1;
        for (int i = 0; i < n; i++) {
            if (taken[i]) continue;
            double gain = scores ? scores[i] : 0;
            for (int k = 0; k < num_digits; k++) gain += is_old[i * num_digits + k] ? 0 : weight;
            if (picked[p] < 0 || gain > most) most = gain, picked[p] = i;
        }
        taken[picked[p]] = true;
        const int64_t *own = digits + picked[p] * num_digits;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < num_digits; k++)
                is_old[i * num_digits + k] |= digits[i * num_digits + k] == own[k];
    }
    free(is_old);
    free(taken);
}
