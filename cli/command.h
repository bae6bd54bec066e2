/* cli/command.h: tune --command: a command of the user's instead of a template. */
#ifndef AT_CLI_COMMAND_H
#define AT_CLI_COMMAND_H

#include "cli/options.h"

/* The same options for the task that the command is. AT_E_USAGE: it lacks a part, or something
 * that does not fit it stands beside it; AT_E_INPUT: a condition is wrong. */
at_status at_command_options(const at_options *o, at_options *out, at_error *err);
/* What came out of it, as text. */
at_status at_command_print_end(at_tuning *t, const at_best *best, at_error *err);
/* "./bench --tile 16", as a shell takes it. */
void at_text_add_command_words(at_text *out, at_session *s, const at_config *c);

#endif
