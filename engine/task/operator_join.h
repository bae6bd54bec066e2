/* engine/task/operator_join.h: the best tasks of a log, where several of them are ways of computing
 * one layer. */
#ifndef AT_ENGINE_OPERATOR_JOIN_H
#define AT_ENGINE_OPERATOR_JOIN_H

#include "engine/task/task_config.h"

/* Its kernel is called as the operator's: with its name, by its layer, of which plain is the
 * first template's task without stages, with the names of that layer's tensors, and the weight in
 * its form. */
void at_operator_call(at_arena *a, const char *name, const at_task *plain, at_selection *s);
/* Of each list, n[list] long: where the lists together have an operator's layers by several
 * templates, of each layer the fastest way stays, to be called as the operator's. Tasks
 * with an operand more than the operator, and with a sparse weight, stay as they are. */
void at_operators_join(at_arena *a, at_selection *const *lists, int *n, int num_lists);

#endif
