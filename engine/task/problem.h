/* engine/task/problem.h: what is to be computed, and the ways of computing it, which compete: of a
 * template with its arguments one, of an operator several templates (operator.h), and whatever else
 * computes the same, as texts from which trees are derived. */
#ifndef AT_ENGINE_PROBLEM_H
#define AT_ENGINE_PROBLEM_H

#include "engine/task/task_config.h"

/* Texts are borrowed. */
typedef struct at_problem {
    const char *name;       /* "conv2d+relu": the operator's, or the only way's template */
    const at_request *ways; /* each of one task, without a configuration */
    int num_ways;           /* at least 1 */
    int64_t count;          /* how often it runs in the whole; 0: the whole does without it */
    const char *from;       /* the line that names it, "net.workload:3"; NULL: none does */
    bool is_operator;       /* name is one's */
} at_problem;

/* What q asks for: its row; or, by its template_name, an operator, with q's arguments for the first
 * of its ways, or a template. Lives in a. AT_E_USAGE */
at_status at_problem_make(at_arena *a, const at_engine_options *o, const at_request *q,
                          at_problem *out, at_error *err);
/* The template that q asks for, or, of an operator, that of its first way, with stages: what two
 * names that mean the same have in common. AT_E_USAGE */
at_status at_problem_row(at_arena *a, const at_request *q, const at_template_row **out,
                         at_error *err);

/* An operator's name with all stages, in the spelling of templates' names. */
const char *at_problem_name(at_arena *a, const at_request *q);
/* Task and configuration of what q asks for, as at_select_config; of an operator, the best record
 * of a log whatever its way, or the default configuration of the first way. AT_E_USAGE: an
 * operator's configuration is none of a log, or the log holds several of its layers, which are
 * listed. */
at_status at_problem_select(at_arena *a, const at_engine_options *o, const at_request *q,
                            at_selection *out, at_error *err);

#endif
