/* tuners/learned_costs.c: how trials of other tasks would have corrected costs. What is learned
 * is how far costs were off there, from numbers that mean the same in every task; how fast a task
 * is as a whole says nothing about another one. */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 256,
    ROUNDS = 40,     /* of boosting: a rough idea is what another task can tell */
    MOST_WIDTH = 64, /* numbers of a point */
};

struct at_learned_costs {
    at_features common;
    at_model *model;
    int width;
};

/* Powers of two that the trial was faster than its cost says; false: nothing is known. */
static bool is_off_by(const at_history *h, int i, double *out) {
    if (!(h->scores[i] > 0) || !isfinite(h->costs_ns[i]) || !(h->costs_ns[i] > 0)) return false;
    *out = log2(h->scores[i]) + log2(h->costs_ns[i]);
    return true;
}

/* Labels of the rows that have one, less the mean of their task; how many. */
static int fill(const at_history *h, int width, float *data, const float **rows, float *labels) {
    int n = 0;
    for (int i = 0, end; i < h->count; i = end) {
        double sum = 0, off;
        int first = n;
        for (end = i; end < h->count && h->tasks[end] == h->tasks[i]; end++) {
            if (!is_off_by(h, end, &off)) continue;
            float *row = data + (size_t)n * (size_t)width;
            memcpy(row, h->rows[end], sizeof *row * (size_t)h->lengths[end]);
            rows[n] = row;
            labels[n++] = (float)off;
            sum += off;
        }
        for (int k = first; k < n; k++) labels[k] -= (float)(sum / (n - first));
    }
    return n;
}

at_learned_costs *at_learned_costs_new(const at_features *common, const at_history *h,
                                       uint64_t seed) {
    at_learned_costs *l = calloc(1, sizeof *l);
    AT_NEED(l);
    *l = (at_learned_costs){.common = *common};
    for (int i = 0; i < h->count; i++)
        if (h->lengths[i] > l->width) l->width = h->lengths[i];
    AT_ASSERT(l->width <= MOST_WIDTH);
    float *data = calloc((size_t)h->count * (size_t)l->width + 1, sizeof *data);
    const float **rows = malloc(sizeof *rows * (size_t)(h->count + 1));
    float *labels = malloc(sizeof *labels * (size_t)(h->count + 1));
    AT_NEED(data && rows && labels);
    unsigned n = (unsigned)fill(h, l->width, data, rows, labels);
    at_model_data d = {.num_rows = (int)n,
                       .width = l->width,
                       .rows = rows,
                       .labels = labels,
                       .groups = &n,
                       .num_groups = 1};
    const at_model_options o = {
        .loss = AT_LOSS_REG, .most_rounds = ROUNDS, .patience = ROUNDS, .top = 1, .seed = seed};
    if (n) l->model = at_model_fit(&d, &o);
    free(labels);
    free(rows);
    free(data);
    return l;
}

void at_learned_costs_free(at_learned_costs *l) {
    if (!l) return;
    at_model_free(l->model);
    free(l);
}

void at_learned_costs_off(at_learned_costs *l, const int64_t *indices, int n, double *out) {
    float numbers[CHUNK][MOST_WIDTH];
    const float *rows[CHUNK];
    memset(out, 0, sizeof *out * (size_t)n);
    for (int begin = 0; begin < n && l->model; begin += CHUNK) {
        int count = n - begin < CHUNK ? n - begin : CHUNK;
        for (int i = 0; i < count; i++) {
            rows[i] = numbers[i];
            int length = l->common.of(l->common.ctx, indices[begin + i], numbers[i], MOST_WIDTH);
            for (int k = length < 0 ? 0 : length; k < MOST_WIDTH; k++) numbers[i][k] = 0;
        }
        at_model_predict(l->model, rows, count, out + begin);
    }
}
