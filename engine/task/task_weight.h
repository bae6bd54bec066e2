/* engine/task/task_weight.h: the weight of a task: a sparsity pattern made at random, or what a
 * file holds. */
#ifndef AT_ENGINE_TASK_WEIGHT_H
#define AT_ENGINE_TASK_WEIGHT_H

#include "engine/task/task_config.h"

/* Fills task, pattern and weight of out, whose row is known. Where the template has a sparse
 * weight, its pattern and the arguments nnz, R and C come from the file q->weight, or from q's
 * sparsity and block, or the pattern from the nnz of the arguments. AT_E_USAGE, AT_E_INPUT */
at_status at_weight_task(at_arena *a, const at_request *q, const char *args, at_selection *out,
                         at_error *err);

/* Whether such a task can be made at all: blocks that divide the weight, sizes that go together;
 * err says why not. */
bool at_weight_fits(at_arena *a, const at_request *q, const at_template_row *row, const char *args,
                    at_error *err);

#endif
