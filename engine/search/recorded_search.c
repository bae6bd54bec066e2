/* engine/search/recorded_search.c: searching a recorded space many times, and at random by
 * computing. */
#include "engine/search/recorded_space.h"

#include <math.h>
#include <stdlib.h>

const double at_goals[AT_NUM_GOALS] = {0.9, 0.95, 0.99};

/* ---- random search, computed ---------------------------------------------------------------- */

/* The i-th best of n is the best of t drawn with probability C(n-i-1, t-1) / C(n, t). */
double at_recorded_expected_share(const at_recorded *r, int64_t trials) {
    int64_t n = r->points, t = trials < n ? trials : n;
    double p = (double)t / (double)n, share = 0;
    for (int64_t i = 0; i < n && p > 0; i++) {
        share += p * r->shares[i];
        p *= (double)(n - i - t) / (double)(n - i - 1);
    }
    return share;
}

/* Mean of a negative hypergeometric distribution. */
double at_recorded_expected_trials(const at_recorded *r, double share) {
    int64_t good = 0;
    while (good < r->points && r->shares[good] >= share) good++;
    return (double)(r->points + 1) / (double)(good + 1);
}

/* ---- searches ------------------------------------------------------------------------------- */

static int ascending_floats(const void *x, const void *y) {
    float a = *(const float *)x, b = *(const float *)y;
    return (a > b) - (a < b);
}

/* Tuners look for speed; where there are no multiply-adds, any measure of it is as good. */
static double scored_work(const at_task *t) {
    return t && at_task_flops(t) > 0 ? at_task_flops(t) : 1;
}

/* One search; its curve goes to column `repeat`. An exhausted space ends it with the optimum. */
static at_status search(const at_recorded *r, const at_tuner_options *o, at_searches *s, int repeat,
                        double (*to)[AT_NUM_GOALS], at_error *err) {
    at_tuner *tuner;
    double best = 0;
    int64_t index;
    AT_TRY(at_tuner_new(s->tuner, r->space, o, &tuner, err));
    for (int g = 0; g < AT_NUM_GOALS; g++) to[repeat][g] = INFINITY;
    for (int t = 0; t < s->trials; t++) {
        at_step *step = s->steps ? &s->steps[(size_t)repeat * (size_t)s->trials + (size_t)t] : NULL;
        bool proposed = at_tuner_next(tuner, &index, 1) == 1;
        if (step) *step = (at_step){proposed ? index : -1, at_tuner_part(tuner, index)};
        if (proposed) {
            double time_s = r->time_s[at_space_place(r->space, index)];
            bool valid = time_s > 0;
            at_tuner_update(tuner,
                            &(at_trial){.index = index,
                                        .valid = valid,
                                        .score = valid ? scored_work(r->task) / time_s * 1e-9 : 0},
                            1);
            if (valid && r->best_s / time_s > best) best = r->best_s / time_s;
        }
        for (int g = 0; g < AT_NUM_GOALS; g++)
            if (best >= at_goals[g] && to[repeat][g] > t + 1) to[repeat][g] = t + 1;
        s->best[(size_t)t * (size_t)s->repeats + (size_t)repeat] = (float)best;
    }
    at_tuner_free(tuner);
    return AT_OK;
}

at_status at_recorded_search(at_arena *a, const at_recorded *r, const char *tuner,
                             at_tuner_options o, int trials, int repeats, bool steps,
                             at_searches *out, at_error *err) {
    *out = (at_searches){.tuner = tuner, .repeats = repeats};
    out->trials = trials < r->points ? trials : (int)r->points;
    out->best = AT_NEW_ARRAY(a, float, (int64_t)out->trials *repeats);
    if (steps) out->steps = AT_NEW_ARRAY(a, at_step, (int64_t)out->trials * repeats);
    double(*to)[AT_NUM_GOALS] = at_alloc(a, sizeof *to * (size_t)repeats);
    double *column = AT_NEW_ARRAY(a, double, repeats);
    int64_t begin_ns = at_now_ns();
    for (int i = 0; i < repeats; i++, o.seed++) AT_TRY(search(r, &o, out, i, to, err));
    out->seconds = at_seconds_since(begin_ns) / repeats;
    for (int t = 0; t < out->trials; t++)
        qsort(out->best + (size_t)t * (size_t)repeats, (size_t)repeats, sizeof *out->best,
              ascending_floats);
    for (int g = 0; g < AT_NUM_GOALS; g++) {
        for (int i = 0; i < repeats; i++) column[i] = to[i][g];
        at_sort_doubles(column, repeats);
        out->to[g] = at_sorted_median(column, repeats);
    }
    return AT_OK;
}

double at_searches_share(const at_searches *s, int64_t trials, double quantile) {
    if (trials > s->trials) trials = s->trials;
    const float *row = s->best + (size_t)(trials - 1) * (size_t)s->repeats;
    double at = quantile * (s->repeats - 1);
    int low = (int)at, high = low + 1 < s->repeats ? low + 1 : low;
    return (double)row[low] + (at - low) * (double)(row[high] - row[low]);
}
