/* cli/network.h: what verbs do with a network, an ONNX file in place of a template. */
#ifndef AT_CLI_NETWORK_H
#define AT_CLI_NETWORK_H

#include "cli/options.h"
#include "network/network.h"

/* AT_E_USAGE: options that are about networks beside something else. */
at_status at_check_no_network(const at_options *o, at_error *err);
at_status at_show_network(const at_options *o, at_error *err);
at_status at_run_network(const at_options *o, at_error *err);

#endif
