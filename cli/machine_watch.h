/* cli/machine_watch.h: states of the machine's cores as they come. */
#ifndef AT_CLI_MACHINE_WATCH_H
#define AT_CLI_MACHINE_WATCH_H

#include "cli/options.h"

/* For o->watch_s, or until it is interrupted; with an output file a picture, too. AT_E_OUTPUT
 * AT_E_USAGE */
at_status at_machine_watch(const at_options *o, at_error *err);

#endif
