/* cli/commands.h: one function per verb. Results go to stdout, everything else to stderr; the
 * returned status becomes the exit code, its text the last line on stderr. */
#ifndef AT_CLI_COMMANDS_H
#define AT_CLI_COMMANDS_H

#include "cli/options.h"

/* That of the options' verb; help where that is asked for (commands.c). */
at_status at_command(const at_options *o, at_error *err);

at_status at_cmd_tune(const at_options *o, at_error *err);
at_status at_cmd_run(const at_options *o, at_error *err);
at_status at_cmd_show(const at_options *o, at_error *err);
at_status at_cmd_apply(const at_options *o, at_error *err);
at_status at_cmd_space(const at_options *o, at_error *err);
at_status at_cmd_derive(const at_options *o, at_error *err);
at_status at_cmd_replay(const at_options *o, at_error *err);
at_status at_cmd_pick_best(const at_options *o, at_error *err);
at_status at_cmd_log(const at_options *o, at_error *err);
at_status at_cmd_verify(const at_options *o, at_error *err);
at_status at_cmd_convert(const at_options *o, at_error *err);
at_status at_cmd_plot(const at_options *o, at_error *err);
at_status at_cmd_report(const at_options *o, at_error *err);
at_status at_cmd_workers(const at_options *o, at_error *err);
at_status at_cmd_work(const at_options *o, at_error *err);
at_status at_cmd_agent(const at_options *o, at_error *err);
at_status at_cmd_list(const at_options *o, at_error *err);
at_status at_cmd_machine(const at_options *o, at_error *err);
at_status at_cmd_help(const at_options *o, at_error *err);
extern const char at_args_note[]; /* how lists of arguments are to be read (help.c) */
at_status at_cmd_version(const at_options *o, at_error *err);

#endif
