/* engine/command/command_search.h: trials of a command of the user's: it runs as it stands, beside
 * the best so far, and prints how good it is. There is no worker, no data, and no final. */
#ifndef AT_ENGINE_COMMAND_SEARCH_H
#define AT_ENGINE_COMMAND_SEARCH_H

#include "engine/search/tuning.h"

/* The task of the search is a command: nothing else follows if not. */
bool at_is_command(const at_session *s);
/* Its context. AT_E_USAGE: its program is not there, or its metric no pattern. */
at_status at_command_open(at_tuning *t, at_error *err);
/* Until so many trials are done, as at_trials_run. AT_E_USAGE: of the first commands that ended
 * well none printed a figure. */
at_status at_command_trials(at_tuning *t, int64_t until, at_error *err);
void at_command_close(at_tuning *t);
/* The words with the values of a configuration, in a. */
at_status at_command_words(at_arena *a, const at_session *s, const at_config *c,
                           const char *const **words, int *num, at_error *err);

#endif
