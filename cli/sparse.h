/* cli/sparse.h: the pattern of a template's block-sparse weight. */
#ifndef AT_CLI_SPARSE_H
#define AT_CLI_SPARSE_H

#include "cli/options.h"
#include "templates/pattern.h"
#include "templates/task.h"

/* The task of these arguments. Where the template has a sparse weight, its pattern and the
 * arguments nnz, R and C come from --sparsity and --block, or the pattern from the nnz of the
 * arguments; else *pattern is NULL. AT_E_USAGE */
at_status at_sparse_task(at_arena *a, const at_options *o, const at_template_row *row,
                         const char *args, at_task **task, const at_pattern **pattern,
                         at_error *err);

#endif
