/* tuners/anneal.c: simulated annealing over a predicted score. Source of behaviour: TVM v0.12,
 * python/tvm/autotvm/tuner/sa_model_optimizer.py. Differences: what is not allowed is never kept,
 * and predictions below 0 count like any other. */
#include "tuners/model.h"

#include <math.h>
#include <stdlib.h>

enum { ITERATIONS = 500 };

void at_best_init(at_best *b, int cap) {
    *b = (at_best){.cap = cap};
    b->indices = malloc(sizeof *b->indices * ((size_t)cap + 1));
    b->scores = malloc(sizeof *b->scores * ((size_t)cap + 1));
    AT_NEED(b->indices && b->scores);
}

void at_best_free(at_best *b) {
    free(b->indices);
    free(b->scores);
}

static bool takes(const at_best *b, double score) {
    return b->len < b->cap || (b->cap && score > b->scores[b->len - 1]);
}

bool at_best_offer(at_best *b, int64_t index, double score) {
    if (!takes(b, score)) return false;
    for (int i = 0; i < b->len; i++)
        if (b->indices[i] == index) return false;
    int at = b->len < b->cap ? b->len++ : b->len - 1;
    for (; at > 0 && b->scores[at - 1] < score; at--) {
        b->indices[at] = b->indices[at - 1];
        b->scores[at] = b->scores[at - 1];
    }
    b->indices[at] = index;
    b->scores[at] = score;
    return true;
}

static void start(at_annealer *a, at_rng *rng) {
    const at_book *b = a->book;
    int64_t first = at_space_place(b->space, b->begin);
    int64_t length = at_tuner_places(b->space, b->begin, b->end);
    a->num_points = length < a->most_points ? (int)length : a->most_points;
    a->points = malloc(sizeof *a->points * (size_t)(a->num_points + 1));
    AT_NEED(a->points);
    /* Distinct ones; of a sparse space those that are invalid walk to a valid neighbour. */
    at_shuffle order;
    at_shuffle_init(&order, length);
    for (int i = 0; i < a->num_points; i++) {
        int64_t draw = (int64_t)at_rng_below(rng, (uint64_t)order.remaining);
        int64_t index = at_space_at_place(b->space, first + at_shuffle_take(&order, draw));
        if (!at_space_is_valid(b->space, index)) index = at_space_random_walk(b->space, index, rng);
        if (!at_space_is_valid(b->space, index)) index = b->entered.indices[0];
        a->points[i] = index;
    }
    at_shuffle_free(&order);
}

static bool offer_all(const at_annealer *a, at_best *best, const int64_t *points,
                      const double *scores) {
    bool changed = false;
    for (int i = 0; i < a->num_points; i++) {
        if (!takes(best, scores[i])) continue;
        if (at_book_allows(a->book, points[i]))
            changed |= at_best_offer(best, points[i], scores[i]);
    }
    return changed;
}

int at_anneal(at_annealer *a, at_rng *rng, int num, int64_t *out) {
    if (!a->points) start(a, rng);
    int n = a->num_points;
    double *scores = malloc(sizeof *scores * (size_t)(n + 1));
    double *new_scores = malloc(sizeof *new_scores * (size_t)(n + 1));
    int64_t *moved = malloc(sizeof *moved * (size_t)(n + 1));
    AT_NEED(scores && new_scores && moved);
    at_best best;
    at_best_init(&best, num);

    a->score(a->ctx, a->points, n, scores);
    offer_all(a, &best, a->points, scores);
    double temperature = 1, cooling = 1.0 / (ITERATIONS + 1);
    for (int k = 0, improved = 0; k < ITERATIONS && k < improved + a->patience; k++) {
        for (int i = 0; i < n; i++)
            moved[i] = at_space_random_walk(a->book->space, a->points[i], rng);
        a->score(a->ctx, moved, n, new_scores);
        for (int i = 0; i < n; i++) {
            double gain = fmin((new_scores[i] - scores[i]) / (temperature + 1e-5), 1);
            if (at_rng_unit(rng) >= exp(gain)) continue;
            a->points[i] = moved[i];
            scores[i] = new_scores[i];
        }
        if (offer_all(a, &best, moved, new_scores)) improved = k;
        temperature -= cooling;
    }
    for (int i = 0; i < best.len; i++) out[i] = best.indices[i];
    n = best.len;
    at_best_free(&best);
    free(moved);
    free(new_scores);
    free(scores);
    return n;
}
