/* engine/task/operator.h: operators: what several templates compute, each in its own way. */
#ifndef AT_ENGINE_OPERATOR_H
#define AT_ENGINE_OPERATOR_H

#include "engine/task/task_config.h"

typedef struct at_operator at_operator;
int at_operator_count(void);
/* NULL: there are no more. Behind those that count are templates, which are listed as such. */
const at_operator *at_operator_at(int i);
const char *at_operator_name(const at_operator *p);
const char *at_operator_help(const at_operator *p);
bool at_operator_is_sparse(const at_operator *p);         /* its weight is, by default */
const char *at_operator_way(const at_operator *p, int i); /* a template's name; NULL: no more */
/* That the request names, "conv2d", also with stages: "conv2d+bias+relu". NULL: there is none of
 * that name, or a template has it, and the request does not ask for more ways than that one:
 * all_ways, or a sparse weight's sparsity or block; or arguments that are searched where args
 * leaves them open, as Winograd's m and points. A request with a row, and a file of the user's,
 * come first in any case. */
const at_operator *at_operator_find(const at_request *q);
/* Which of a template's arguments tune searches where --args does not give them: "m and points".
 * NULL: none. */
const char *at_operator_open_args(const char *template_name);
/* The template of a way, with the stages that q asks for. AT_E_USAGE */
at_status at_operator_way_row(at_arena *a, const at_request *q, const char *template_name,
                              const at_template_row **out, at_error *err);
/* Those that compute what q asks for, each as a request of one task, in a. q's args are those of
 * the first template. Of weight, sparsity and block are the ways with a sparse weight, which there
 * are only then. Of ways that round more than o's limit of errors allows those are left out that
 * nobody asked for. AT_E_USAGE */
at_status at_operator_ways(at_arena *a, const at_engine_options *o, const at_request *q,
                           const at_operator *p, const at_request **ways, int *num_ways,
                           at_error *err);
/* What a record's template computes with its arguments, whatever the way: the operator, with the
 * record's stages, and arguments of its first template, in a. false: it is of none, or its weight
 * is sparse. */
bool at_operator_of_record(at_arena *a, const at_record *r, const char **name,
                           const at_json **args);

/* The same of sparse weights, too: the layer without its weight, "conv2d N=1,H=56,...". task: the
 * record's own. */
bool at_operator_layer(at_arena *a, const at_record *r, const char **layer, const at_task **task);

/* As at_operator_of_record, of a task; layer: of the operator's first template, without stages. */
bool at_operator_of_task(at_arena *a, const at_task *task, const char **name,
                         const at_task **layer);
/* The same of this operator, with these stages: also where another one is named first, as of
 * convolutions that are products. false: the task is no way of it that tells its layer. */
bool at_operator_layer_of(at_arena *a, const char *name, const at_task *task,
                          const at_task **layer);
/* [axes of the weight] in which order they make up the weight as the operator's first template has
 * it; NULL: as they are. *tensor: of the task's computation. */
const int *at_operator_weight_order(const char *name, const at_task *task, int *tensor);

#endif
