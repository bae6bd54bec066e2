/* engine/measure/anchor_scale.c: links and times by state. */
#include "engine/measure/anchor_scale.h"

#include <math.h>

#include "engine/measure/states.h"
#include "engine/measure/bench.h"

enum { LEAST_OF_SCALE = 5 }; /* pairs in a state that say something of it */

/* Of the pairs whose state is one of these. */
static at_scale scale_of(const at_outcome *o, const at_state *states, const bool *wanted,
                         double *anchor_s) {
    double logs[AT_MAX_PAIRS], times_s[AT_MAX_PAIRS];
    int n = 0;
    for (int i = 0; i < o->num_pairs; i++) {
        if (!wanted[states[i]]) continue;
        logs[n] = log(o->pairs[i].time_s / o->pairs[i].anchor_s);
        times_s[n++] = o->pairs[i].anchor_most_s;
    }
    *anchor_s = 0;
    if (!n) return (at_scale){0};
    at_interval m = at_median_always(logs, n, 0.05);
    at_sort_doubles(times_s, n);
    *anchor_s = at_sorted_median(times_s, n);
    return (at_scale){.pairs = n,
                      .link = m.median,
                      .link_error = isfinite(m.high - m.low) ? (m.high - m.low) / 2 : 1};
}

at_linked at_linked_of(at_session *s, const at_outcome *o) {
    const at_anchors *a = &s->bench->anchors;
    at_state states[AT_MAX_PAIRS];
    at_linked out = {0};
    bool counts[AT_STATE_COUNT];
    at_states_waited(s, o);
    for (int i = 0; i < o->num_pairs; i++) states[i] = at_states_take(s, &o->pairs[i]);
    for (int k = 0; k < AT_STATE_COUNT; k++) {
        bool only[AT_STATE_COUNT] = {false};
        double anchor_s;
        only[k] = k != AT_STATE_MIXED;
        at_scale x = scale_of(o, states, only, &anchor_s), to = a->by[k];
        if (x.pairs < LEAST_OF_SCALE) continue;
        if (!to.pairs) to = (at_scale){.of_first = a->of_first, .first_s = anchor_s / a->of_first};
        x.of_first = to.of_first * exp(x.link);
        x.first_s = to.first_s;
        out.by[k] = x;
    }
    for (int k = 0; k < AT_STATE_COUNT; k++)
        counts[k] = at_objective_counts(s->bench->states.objective, (at_state)k);
    at_scale all = scale_of(o, states, counts, &out.anchor_s);
    if (all.pairs) out.state = at_objective_state(s->bench->states.objective);
    for (int k = 0; k < AT_STATE_COUNT; k++) counts[k] = true;
    if (!all.pairs) all = scale_of(o, states, counts, &out.anchor_s);
    out.pairs = all.pairs;
    out.link = all.link;
    out.error = all.link_error;
    return out;
}
