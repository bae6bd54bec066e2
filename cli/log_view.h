/* cli/log_view.h: what the verb log shows of a log. */
#ifndef AT_CLI_LOG_VIEW_H
#define AT_CLI_LOG_VIEW_H

#include "cli/options.h"

/* The best of two logs, task by task. */
at_status at_log_print_diff(const at_options *o, at_error *err);

#endif
