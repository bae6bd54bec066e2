/* cli/operator.h: operators: what several templates compute, each in its own way. */
#ifndef AT_CLI_OPERATOR_H
#define AT_CLI_OPERATOR_H

#include "cli/options.h"
#include "templates/task.h"

typedef struct at_operator at_operator;
int at_operator_count(void);
const at_operator *at_operator_at(int i);
const char *at_operator_name(const at_operator *p);
const char *at_operator_help(const at_operator *p);
const char *at_operator_way(const at_operator *p, int i); /* a template's name; NULL: no more */
/* That the first operand names, "conv2d", also with stages: "conv2d+bias+relu". NULL: there is none
 * of that name, or a template has it, and the options do not ask for more ways than that one:
 * --all-ways, or a sparse weight's --sparsity or --block; or arguments that are searched where
 * --args leaves them open, as Winograd's m and points. A file of the user's comes first in any
 * case. */
const at_operator *at_operator_find(const at_options *o);
/* Which of a template's arguments tune searches where --args does not give them: "m and points".
 * NULL: none. */
const char *at_operator_open_args(const char *template_name);
/* A task for each way of computing it: copies of o with template and args, in a. --args are those
 * of its first template. --weight, --sparsity and --block are for the ways with a sparse weight,
 * which there are only then. AT_E_USAGE */
at_status at_operator_tasks(at_arena *a, const at_options *o, const at_operator *p,
                            at_options **tasks, int *num_tasks, at_error *err);
/* What a record's template computes with its arguments, whatever the way: the operator, with the
 * record's stages, and arguments of its first template, in a. false: it is of none, or its weight
 * is sparse. */
bool at_operator_of_record(at_arena *a, const at_record *r, const char **name,
                           const at_json **args);

/* The same of sparse weights, too: the layer without its weight, "conv2d N=1,H=56,...". task: the
 * record's own. */
bool at_operator_layer(at_arena *a, const at_record *r, const char **layer, const at_task **task);

#endif
