/* cli/network_parts.h: the parts of a network as what a search tunes. */
#ifndef AT_CLI_NETWORK_PARTS_H
#define AT_CLI_NETWORK_PARTS_H

#include "cli/network.h"
#include "cli/set_report.h"

/* Opens the network, and makes problems of its parts and of those of other cuts that would take
 * about as long. net and plan are the caller's to end, also after an error. */
at_status at_network_parts(const at_options *o, const char *log, at_net **net, at_net_program *plan,
                           at_set_result *r, at_error *err);
/* Behind a search: how often each runs in the network as it is cut by what the log has measured. */
at_status at_network_count_parts(const at_options *o, const char *log, const at_net *net,
                                 at_set_result *r, at_error *err);

#endif
