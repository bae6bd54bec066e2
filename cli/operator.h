/* cli/operator.h: operators: what several templates compute, each in its own way. */
#ifndef AT_CLI_OPERATOR_H
#define AT_CLI_OPERATOR_H

#include "cli/options.h"

typedef struct at_operator at_operator;
int at_operator_count(void);
const at_operator *at_operator_at(int i);
const char *at_operator_name(const at_operator *p);
const char *at_operator_help(const at_operator *p);
/* "conv2d", also with stages: "conv2d+bias+relu". NULL: there is none of that name, or
 * a template has it. */
const at_operator *at_operator_find(const char *name);
/* A task for each way of computing it: copies of o with template and args, in a. --args are those
 * of its first template. AT_E_USAGE */
at_status at_operator_tasks(at_arena *a, const at_options *o, const at_operator *p,
                            at_options **tasks, int *num_tasks, at_error *err);

#endif
