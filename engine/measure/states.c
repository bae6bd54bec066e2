/* engine/measure/states.c: the time that states of the machine had while pairs were timed or waited
 * for, and how far such pairs deviate. */
#include "engine/measure/states.h"
#include "engine/measure/bench.h"

#include <math.h>
#include <string.h>

/* Waiting for the state that counts takes at most so many times what pairs in it have taken. */
static const double wait_share = 4, first_wait_s = 0.3;

void at_states_count(at_session *s, at_objective o) { s->bench->states.objective = o; }

void at_states_ask(const at_session *s, at_job *job) {
    const at_states *states = &s->bench->states;
    job->reach = states->reach;
    job->wanted = at_objective_state(states->objective);
    job->wait_ns = 0;
    /* Nobody waits for company that did not ask for it. */
    if (job->wanted == AT_STATE_COMPANY && !s->options.objective) return;
    double left_s = first_wait_s + wait_share * states->time_s[job->wanted] - states->waited_s;
    if (s->deadline_ns) left_s = fmin(left_s, (double)(s->deadline_ns - at_now_ns()) * 1e-9);
    job->wait_ns = left_s > 0 ? (int64_t)(left_s * 1e9) : 1; /* in vain, without waiting */
}

void at_states_waited(at_session *s, const at_outcome *o) {
    at_states *states = &s->bench->states;
    const double waited_s = (double)o->waited_ns * 1e-9;
    at_state was_there = AT_STATE_ALONE;
    if (at_objective_state(states->objective) == AT_STATE_ALONE)
        was_there = states->seen_alone ? AT_STATE_COMPANY : AT_STATE_UNKNOWN;
    states->waited_s += waited_s;
    states->time_s[was_there] += waited_s;
}

void at_states_differ(at_session *s, const double *ratios, const char *states, int n) {
    at_states *x = &s->bench->states;
    double first = 0;
    for (int i = 0; i < n; i++) {
        at_state state;
        if (!at_state_from_letter(states[i], &state) || !at_objective_counts(x->objective, state))
            continue;
        if (first > 0) {
            x->differences[x->num_differences++ % AT_DIFFERENCES] = fabs(log(ratios[i] / first));
            return;
        }
        first = ratios[i];
    }
}

double at_states_deviation(const at_session *s) {
    enum { FEW = 16 };
    /* Of a normal distribution the median of such differences is 0.954 of the deviation. */
    static const double of_deviation = 0.954;
    const at_states *x = &s->bench->states;
    double sorted[AT_DIFFERENCES];
    int n = x->num_differences < AT_DIFFERENCES ? x->num_differences : AT_DIFFERENCES;
    if (n < FEW) return 0;
    memcpy(sorted, x->differences, sizeof *sorted * (size_t)n);
    at_sort_doubles(sorted, n);
    return at_sorted_median(sorted, n) / of_deviation;
}

at_state at_states_take(at_session *s, const at_pair *p) {
    at_states *states = &s->bench->states;
    at_state state = p->state;
    states->seen_alone |= state == AT_STATE_ALONE;
    if (!states->seen_alone) state = AT_STATE_UNKNOWN;
    states->time_s[state] += p->time_s + p->anchor_s;
    return state;
}

static double all_s(const at_session *s) {
    double all = 0;
    for (int i = 0; i < AT_STATE_COUNT; i++) all += s->bench->states.time_s[i];
    return all;
}

double at_states_share(const at_session *s, at_state state) {
    double all = all_s(s);
    return all > 0 ? s->bench->states.time_s[state] / all : 0;
}

double at_states_counting(const at_session *s) {
    double share = 0;
    for (int i = 0; i < AT_STATE_COUNT; i++)
        if (at_objective_counts(s->bench->states.objective, (at_state)i))
            share += at_states_share(s, (at_state)i);
    return all_s(s) > 0 ? share : 1;
}
