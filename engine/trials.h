/* engine/trials.h: the trials of a search: proposed, made, measured, logged, learned from. */
#ifndef AT_ENGINE_TRIALS_H
#define AT_ENGINE_TRIALS_H

#include "engine/tune.h"

/* Until so many are done, those of calls before included; nothing is left to try; or the time is
 * up. With --jobs 2 the next candidate is made while one is measured, on another core. AT_E_OUTPUT,
 * AT_E_BUG; an interrupt is no error. */
at_status at_trials_run(at_tuning *t, int64_t until, at_error *err);

#endif
