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

static place *order(const double *values, int n) {
    place *p = malloc(sizeof *p * (size_t)(n + 1));
    AT_NEED(p);
    for (int i = 0; i < n; i++) p[i] = (place){values[i], i};
    qsort(p, (size_t)n, sizeof *p, compare);
    return p;
}

static void recall(const double *preds, const double *labels, int n, int num, double *out) {
    place *by_pred = order(preds, n), *by_label = order(labels, n);
    int *rank = malloc(sizeof *rank * (size_t)(n + 1));
    AT_NEED(rank);
    for (int i = 0; i < n; i++) rank[by_label[i].row] = i;
    for (int i = 0; i < num; i++) {
        int found = 0;
        for (int k = 0; k < i; k++) found += rank[by_pred[k].row] <= i;
        out[i] = (double)found / (i + 1);
    }
    free(rank);
    free(by_label);
    free(by_pred);
}

void at_recall_curve(const double *preds, const double *labels, int n, double *out) {
    recall(preds, labels, n, n, out);
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
    AT_NEED(taken);
    for (int p = 0; p < num; p++) {
        double most = 0;
        picked[p] = -1;
        for (int i = 0; i < n; i++) {
            if (taken[i]) continue;
            double gain = scores ? scores[i] : 0;
            for (int k = 0; k < num_digits; k++) {
                bool is_new = true;
                for (int q = 0; q < p && is_new; q++)
                    is_new = digits[picked[q] * num_digits + k] != digits[i * num_digits + k];
                gain += is_new ? weight : 0;
            }
            if (picked[p] < 0 || gain > most) most = gain, picked[p] = i;
        }
        taken[picked[p]] = true;
    }
    free(taken);
}
