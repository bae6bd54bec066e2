/* cli/network_why.h: where the time of a network goes. */
#ifndef AT_CLI_NETWORK_WHY_H
#define AT_CLI_NETWORK_WHY_H

#include "cli/json_out.h"
#include "network/program.h"

/* A table of the kinds of parts, which were made with bounds; steps_s: of at_net_program_time. */
void at_network_add_why(at_text *out, const at_net_program *p, const double *steps_s);
/* The same as the member why of an object of --json. */
void at_out_net_why(at_out *out, const at_net_program *p, const double *steps_s);

#endif
