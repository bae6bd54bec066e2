/* engine/task_config.h: which task and which configuration the command line means. */
#ifndef AT_ENGINE_TASK_CONFIG_H
#define AT_ENGINE_TASK_CONFIG_H

#include "cli/options.h"
#include "records/records.h"
#include "templates/pattern.h"
#include "templates/task.h"

typedef struct at_selection {
    const at_template_row *row;
    at_task *task;
    const at_record *record;   /* the one taken from a log, or NULL */
    const at_pattern *pattern; /* of the task's sparse weight, or NULL */
    const float *weight;       /* values of --weight for this tensor; NULL: seeded integers */
    int weight_tensor;
    bool has_config;
    at_config config;
    const char *from; /* "default", "--index 7", "conv.log:12" */
} at_selection;

/* The task of the template and --args alone (tune, space). */
at_status at_select_task(at_arena *a, const at_options *o, at_selection *out, at_error *err);
/* Task and configuration: --config, --index or --log. None of them: the default configuration, or a
 * usage error where one is required. A record whose index means another entity is warned about. */
at_status at_select_config(at_arena *a, const at_options *o, bool required, at_selection *out,
                           at_error *err);
/* The task of a record; its configuration is not looked at. AT_E_USAGE: there is no such template,
 * or its arguments are wrong. */
at_status at_select_record(at_arena *a, const at_options *o, const at_record *r, at_selection *out,
                           at_error *err);
/* The best configuration of every task of the log --log; tasks of templates that are not built in,
 * and those without a valid record, are warned about and left out. AT_E_NO_VALID: none is left. */
at_status at_select_all(at_arena *a, const at_options *o, at_selection **out, int *n,
                        at_error *err);

#endif
