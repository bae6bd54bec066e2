/* records/turns.c: the turns of one finalist in a final: the samples that count, and the time, the
 * interval and the order that come of them. */
#include "records/records_int.h"

#include <stdlib.h>

static const double level = 0.05;

/* Is a sample of a round in a state that counts? */
static bool does_count(const at_turns *t, int round, int sample) {
    const char *states = t->rounds[round].states;
    at_state s;
    return states && *states && at_state_from_letter(states[sample], &s) &&
           at_objective_counts(t->objective, s);
}

/* The samples that count, or all where none does. Owned. */
static double *take_samples(const at_turns *t, int *n) {
    int all = 0, counting = 0;
    for (int i = 0; i < t->num_rounds; i++) all += t->rounds[i].num_samples;
    double *of = malloc((size_t)all * sizeof *of + 1);
    AT_NEED(of);
    for (int pass = 0; pass < 2 && !counting; pass++)
        for (int i = 0; i < t->num_rounds; i++) {
            const at_round *r = &t->rounds[i];
            for (int k = 0; k < r->num_samples; k++)
                if (pass || does_count(t, i, k)) of[counting++] = r->samples_s[k];
        }
    *n = counting;
    return of;
}

bool at_turns_have_states(const at_turns *t) {
    return t->among && t->num_rounds && t->rounds[0].states && *t->rounds[0].states;
}

double at_turns_time(const at_turns *t) {
    int n = t->num_rounds;
    if (!n) return 0;
    double *times =
        at_turns_have_states(t) ? take_samples(t, &n) : malloc((size_t)n * sizeof *times);
    AT_NEED(times);
    for (int i = 0; i < n && !at_turns_have_states(t); i++) times[i] = t->rounds[i].time_s;
    at_sort_doubles(times, n);
    double time_s = !n                        ? 0
                    : at_turns_have_states(t) ? at_sorted_middle(times, n)
                                              : at_sorted_median(times, n);
    free(times);
    return time_s;
}

int at_turns_counting(const at_turns *t) {
    int n;
    free(take_samples(t, &n));
    return n;
}

bool at_turns_are_few(const at_turns *t) {
    int seen = 0;
    for (int i = 0; i < t->num_rounds; i++)
        for (int k = 0; k < t->rounds[i].num_samples; k++) seen += does_count(t, i, k);
    return at_turns_have_states(t) && seen < AT_FEW_SAMPLES;
}

int at_turns_for(at_turns *t, at_objective o, at_round *rounds) {
    int counting = 0;
    if (!at_turns_have_states(t)) return 0;
    for (int i = 0; i < t->num_rounds; i++) {
        int n;
        rounds[i] = t->rounds[i];
        double time_s = at_median_that_counts(rounds[i].samples_s, rounds[i].states,
                                              rounds[i].num_samples, o, &n);
        if (n) rounds[i].time_s = time_s;
        counting += n;
    }
    if (!counting) return 0;
    if (o != t->objective) t->first = NULL; /* its time was another one there */
    t->objective = o;
    t->rounds = rounds;
    t->time_s = at_turns_time(t);
    return counting;
}

at_interval at_turns_interval(const at_turns *t) {
    int n;
    double *all = take_samples(t, &n);
    at_interval m = at_median_always(all, n, level / (t->among > 0 ? t->among : 1));
    free(all);
    return m;
}

bool at_turns_behind(const at_turns *x, const at_turns *y) {
    return at_turns_interval(x).low > at_turns_interval(y).high * (1 + AT_TIE);
}
