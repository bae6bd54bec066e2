/* engine/far/far_search.h: a search whose trials are measured by workers elsewhere, in any order.
 * Every trial has a number; each number is recorded once, whoever delivers it and how often. The
 * same seed and the same order of results make the same search, so a log with the trials' numbers
 * (at_trial_id) brings it back to where it was, however many workers there were and are. */
#ifndef AT_ENGINE_FAR_SEARCH_H
#define AT_ENGINE_FAR_SEARCH_H

#include "engine/search/tuning.h"

/* What of it is under way at a worker: the one that it measures, and the next. Where workers are
 * few, more, as long as their trials are short and many are known: a model is fitted in the time of
 * some trials, and nobody is to wait for that; and results then come several at a time (agent.c),
 * so that whoever reads them seldom takes a core that others measure on. */
enum { AT_FAR_DEPTH = 2, AT_FAR_MOST_DEPTH = 12, AT_FAR_FEW = 8 };

/* What workers will be told; none is reached. Ended by at_far_close. */
at_status at_far_prepare(at_tuning *t, const at_request *q, at_error *err);
/* Begins to reach workers and waits for the first, whose context the session takes.
 * AT_E_INTERRUPTED, AT_E_BUG: none comes. */
at_status at_far_open(at_tuning *t, at_error *err);
/* Once the log is read: which search it is, and that it begins again. AT_E_OUTPUT */
at_status at_far_begin(at_tuning *t, at_error *err);
/* What the log knows of this search is answered, until so many trials are done, and the worker that
 * it began with joins. at_far_run does so first, unless it is done. */
at_status at_far_go_on(at_tuning *t, int64_t until, at_error *err);
/* As at_trials_run, in each context. */
at_status at_far_run(at_tuning *t, int64_t until, at_error *err);
/* Its workers turn to another search, as whose task is begun next; and they come back. */
void at_far_rest(at_tuning *t);
at_status at_far_wake(at_tuning *t, at_error *err);
/* The final (far_final.c), on two nodes where there are as many: compared within each, put on one
 * scale, and counted together. budget_s: of each context. */
at_status at_far_final(at_tuning *t, double budget_s, at_error *err);
void at_far_close(at_tuning *t);

#endif
