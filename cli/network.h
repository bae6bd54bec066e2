/* cli/network.h: what verbs do with a network, an ONNX file in place of a template. */
#ifndef AT_CLI_NETWORK_H
#define AT_CLI_NETWORK_H

#include "cli/options.h"
#include "network/program.h"

/* Is the operand of these options a network? */
bool at_is_network(const at_options *o);
/* AT_E_USAGE: options that are about networks beside something else. */
at_status at_check_no_network(const at_options *o, at_error *err);
/* AT_E_USAGE: options that are about kernels beside a network. */
at_status at_check_network(const at_options *o, at_error *err);
/* With the sizes that the options give. */
at_status at_network_open(const at_options *o, at_net **out, at_error *err);
/* What its kernels are made with. */
at_net_build at_network_build(const at_options *o);

/* cmd_network.c: the verb's command for it. AT_E_USAGE: the verb has none. */
at_status at_cmd_network(const at_options *o, at_error *err);
/* network_run.c, network_apply.c */
at_status at_network_run(const at_options *o, at_error *err);
at_status at_network_apply(const at_options *o, at_error *err);

#endif
