/* cli/replay_workers.h: replay with workers that are simulated. */
#ifndef AT_CLI_REPLAY_WORKERS_H
#define AT_CLI_REPLAY_WORKERS_H

#include "cli/options.h"

/* A line per number of workers. AT_E_USAGE */
at_status at_replay_workers(const at_options *o, const at_recorded *space, at_error *err);

#endif
