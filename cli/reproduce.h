/* cli/reproduce.h: the command that measures one configuration again just so, and what it leaves
 * behind to be looked at. */
#ifndef AT_CLI_REPRODUCE_H
#define AT_CLI_REPRODUCE_H

#include "cli/options.h"
#include "engine/engine.h"

/* "autotune run TEMPLATE --args ... --index 12 --keep" with all options of this run that bear on
 * the measurement, quoted for a shell. Of a template whose text a log alone has, "autotune run
 * TEMPLATE --log LOG --line 34 --keep". log: where the session's records are, NULL: nowhere; line:
 * that of the index, 0: the last one. */
void at_text_add_command(at_text *out, const at_options *o, at_session *s, int64_t index,
                         const char *log, int64_t line);
/* Writes the session's configuration to the folder TEMPLATE-INDEX: what happened, the
 * configuration, the loop tree, the program after each pass, the C as it was compiled, and, where
 * there is a kernel, the same as a program of its own. *folder: owned by the session's arena.
 * AT_E_OUTPUT. */
at_status at_keep(at_session *s, const at_options *o, const at_record *r, const char **folder,
                  at_error *err);

#endif
