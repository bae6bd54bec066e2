/* engine/measure/states.h: how pairs are labelled with states of the machine, and how much of the
 * time each had. docs/notes/measuring.md */
#ifndef AT_ENGINE_STATES_H
#define AT_ENGINE_STATES_H

#include "engine/measure/session.h"

/* This state counts from now on. */
void at_states_count(at_session *s, at_objective o);
/* Pairs of this job are labelled, and those that count are wanted, and waited for as long as that
 * is worth it. */
void at_states_ask(const at_session *s, at_job *job);
/* Counts the time that such a job has waited as that of the state which was there. */
void at_states_waited(at_session *s, const at_outcome *o);
/* Notes how far the first two ratios that count are from each other. */
void at_states_differ(at_session *s, const double *ratios, const char *states, int n);
/* The standard deviation of a pair's ratio, as a share of it; 0: too few were seen. */
double at_states_deviation(const at_session *s);
/* As records say it: of a machine that was never seen alone company is not known. Counts the pair's
 * time. */
at_state at_states_take(at_session *s, const at_pair *p);
/* Of the time that pairs took. */
double at_states_share(const at_session *s, at_state state);
/* Of that time the share of the states that count; 1: there were no pairs. */
double at_states_counting(const at_session *s);

#endif
