/* cli/open.h: from the command line to a session of the engine. */
#ifndef AT_CLI_OPEN_H
#define AT_CLI_OPEN_H

#include "cli/options.h"
#include "engine/engine.h"

/* Of the task alone (space). */
at_status at_open_task(const at_options *o, at_session *s, at_error *err);
/* Of task and configuration: --config, --index or --log. None of them: the default configuration,
 * or a usage error where one is required. */
at_status at_open_config(const at_options *o, bool required, at_session *s, at_error *err);

#endif
