/* cli/run_end.h: how a run ends, in sentences: what was found, where it was measured, what next. */
#ifndef AT_CLI_RUN_END_H
#define AT_CLI_RUN_END_H

#include "cli/options.h"
#include "engine/engine.h"

/* "Fastest of 200: 900 us, 94 % of the peak, 6.8 times the default configuration; 31 others are as
 * fast.", "Measured alone on CPU 1, the quieter of 2.", "Next:
 * autotune apply ...", and what else has to be known. */
void at_text_add_run_end(at_text *out, at_tuning *t, const at_options *o, const at_best *best);
/* "Log a.log: 200 trials, 12 of them from the log." */
void at_text_add_trials(at_text *out, const at_tuning *t);
/* --stats: where the time went. */
void at_text_add_stats(at_text *out, const at_tuning *t, const at_best *best);
/* What a trial costs beside its kernel's own runs, in seconds: of those that the log did not
 * answer. */
double at_fixed_cost_s(const at_tuning *t);
/* How many times as fast as the default configuration the winner is; 0: not known. */
double at_times_default(at_tuning *t, const at_best *best);

#endif
