/* cli/network_why.h: where the time of a network goes. */
#ifndef AT_CLI_NETWORK_WHY_H
#define AT_CLI_NETWORK_WHY_H

#include "cli/json_out.h"
#include "network/program.h"
#include "view/view.h"

/* A table of the kinds of parts, which were made with bounds; steps_s: of at_net_program_time. */
void at_network_add_why(at_text *out, const at_net_program *p, const double *steps_s);
/* The same as facts, the longest first. In the program's arena. */
at_net_page_kind *at_network_kinds(const at_net_program *p, const double *steps_s, int *n);
/* What its parts are, and by what algorithm. */
const char *at_network_part_title(const at_net_program *p, const at_net_kernel *k);
/* The same as the member why of an object of --json. */
void at_out_net_why(at_out *out, const at_net_program *p, const double *steps_s);

#endif
