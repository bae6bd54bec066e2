/* engine/states.c: the time that states of the machine had while pairs were timed. */
#include "engine/states.h"

void at_states_ask(const at_session *s, at_job *job) {
    job->reach = s->states.reach;
    job->wanted = at_objective_state(s->states.objective);
}

at_state at_states_take(at_session *s, const at_pair *p) {
    at_states *states = &s->states;
    at_state state = p->state;
    states->seen_alone |= state == AT_STATE_ALONE;
    if (!states->seen_alone) state = AT_STATE_UNKNOWN;
    states->time_s[state] += p->time_s + p->anchor_s;
    return state;
}

static double all_s(const at_session *s) {
    double all = 0;
    for (int i = 0; i < AT_STATE_COUNT; i++) all += s->states.time_s[i];
    return all;
}

double at_states_share(const at_session *s, at_state state) {
    double all = all_s(s);
    return all > 0 ? s->states.time_s[state] / all : 0;
}

double at_states_counting(const at_session *s) {
    double share = 0;
    for (int i = 0; i < AT_STATE_COUNT; i++)
        if (at_objective_counts(s->states.objective, (at_state)i))
            share += at_states_share(s, (at_state)i);
    return all_s(s) > 0 ? share : 1;
}
