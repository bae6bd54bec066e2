/* engine/search/trials.h: the trials of a search: proposed, made, measured, logged, learned from.
 */
#ifndef AT_ENGINE_TRIALS_H
#define AT_ENGINE_TRIALS_H

#include "engine/search/tuning.h"

/* Until so many are done, those of calls before included; nothing is left to try; or the time is
 * up. With --jobs 2 the next candidate is made while one is measured, on another core. AT_E_OUTPUT,
 * AT_E_BUG; an interrupt is no error. */
at_status at_trials_run(at_tuning *t, int64_t until, at_error *err);

/* What the first proposal takes, of what no result decides: the log is read. AT_E_OUTPUT */
at_status at_trials_begin(at_tuning *t, at_error *err);

/* Room for a trial that is measured, and for the next, which is made meanwhile. */
typedef struct at_trial_pair at_trial_pair;
at_trial_pair *at_trial_pair_new(void);
void at_trial_pair_free(at_trial_pair *p); /* NULL is fine */
/* One trial that somebody else has proposed and will record: made, measured unless its program or
 * code is known here, and known from now on. next_index: what will come next, made meanwhile with
 * --jobs 2; -1: not known. known_best_s: elsewhere, 0: none. The record lives until the trial after
 * the next one. AT_E_INTERRUPTED, AT_E_OUTPUT, AT_E_BUG. */
at_status at_trial_measure(at_tuning *t, at_trial_pair *p, int64_t index, int64_t next_index,
                           double known_best_s, at_record *out, at_error *err);
/* Within the part of the space that is searched. */
bool at_trial_is_searched(const at_session *s, int64_t index);
/* The same program or code was measured before: its result, under the index of r. */
void at_trial_copy(const at_record *same, at_record *r);
/* Tally and tuner are told of a result that is known now; true: that is enough. */
bool at_trial_learn(at_tuning *t, const at_record *r, bool answered);

#endif
