/* cli/network.h: what verbs do with a network, an ONNX file in place of a template. */
#ifndef AT_CLI_NETWORK_H
#define AT_CLI_NETWORK_H

#include "cli/json_out.h"
#include "cli/options.h"
#include "network/net_truth.h"

/* Is the operand of these options a network? */
bool at_is_network(const at_options *o);
/* AT_E_USAGE: options that are about networks beside something else. */
at_status at_check_no_network(const at_options *o, at_error *err);
/* AT_E_USAGE: options that are about kernels beside a network. */
at_status at_check_network(const at_options *o, at_error *err);
/* With the sizes that the options give. */
at_net_options at_network_options(const at_options *o);
at_status at_network_open(const at_options *o, at_net **out, at_error *err);
/* " net.onnx --dim N=1": what a command that is proposed says of it. */
void at_network_add_words(at_text *out, const at_options *o);
/* What its kernels are made with. */
at_net_build at_network_build(const at_options *o);
/* Warns where --log names a log that has no part of any of the n programs. */
void at_network_check_own(const at_options *o, const at_net_program *programs, int n);
/* What is said of a network that is looked at and not run, and the same as members of --json. */
typedef void at_network_describe(at_text *out, const at_net_program *p, const at_options *o);
typedef void at_network_members(at_out *out, const at_net_program *p, const at_options *o);
/* Makes the program without its weights, and prints what is said of it. */
at_status at_network_look(const at_options *o, at_network_describe *describe,
                          at_network_members *members, at_error *err);

/* network_json.c: members that several objects have: name, type and dims of a value; title, name,
 * count and way of a kind of parts, NULL: conversions; how many kinds there are, and are tuned. */
void at_out_net_value(at_out *out, const at_net_value *v);
void at_out_net_part(at_out *out, const at_net_kernel *k);
void at_out_net_kinds(at_out *out, const at_net_program *p);

/* network_judge.c: the largest error that is right: --max-error, or without it AT_NET_MAX_ERROR. */
double at_network_limit(const at_options *o);
/* Compares the outputs with those in double: errors[outputs] over the root mean square. Where
 * --max-error asks for it, parts are computed in other ways until the outputs are within it.
 * AT_E_NO_VALID: an output is wrong. */
at_status at_network_judge(const at_options *o, at_net_program *p, const at_net_build *b,
                           at_net_truth *t, at_net_distance *errors, at_error *err);
/* The same of arrays that another program made of the same inputs; NAN: of an output without one.
 */
at_status at_network_judge_others(const at_options *o, at_net_truth *t,
                                  const at_net_distance *errors, at_error *err);
/* "largest error over the root mean square: 1.2e-06" */
void at_network_add_error(at_text *out, const at_net_truth *t, int output, at_net_distance error,
                          double limit);
/* The same as members: error, moved, verdict. */
void at_out_net_error(at_out *out, const at_net_truth *t, int output, at_net_distance error,
                      double limit);
/* expected_error, expected_verdict; null where the error is NAN */
void at_out_net_others(at_out *out, const at_net_truth *t, int output, at_net_distance error,
                       double limit);
/* Behind a search: the network with what its log holds now, on inputs that are made; told, or
 * given to json as the member outputs, and written into the log. */
at_status at_network_check_log(const at_options *o, const at_net *net, const char *log,
                               at_out *json, at_error *err);

/* cmd_network.c: the verb's command for it. AT_E_USAGE: the verb has none. */
at_status at_cmd_network(const at_options *o, at_error *err);
/* network_estimate.c: what a search of no trials tells. */
at_status at_network_estimate(const at_options *o, at_error *err);
/* network_run.c, network_apply.c, network_report.c */
at_status at_network_run(const at_options *o, at_error *err);
at_status at_network_apply(const at_options *o, at_error *err);
at_status at_network_report(const at_options *o, at_error *err);

#endif
