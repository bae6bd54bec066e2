/* engine/task/task_config.h: from what is asked for to a task and a configuration of it. */
#ifndef AT_ENGINE_TASK_CONFIG_H
#define AT_ENGINE_TASK_CONFIG_H

#include "engine/options.h"
#include "engine/task/log_choice.h"
#include "engine/task/weight_form.h"
#include "templates/pattern.h"
#include "sketch/sketch.h"
#include "templates/task.h"

enum { AT_MAX_ARRAYS = 32 };

typedef struct at_request {
    const at_template_row *row; /* NULL: the one of this name, */
    const char *template_name;  /* or record name */
    const char
        *fuse; /* stages behind an operator's name, "bias,relu"; a template's name has its own */
    bool all_ways;    /* of an operator, also where a template has its name */
    const char *args; /* as at_task_new's; NULL: the record's, else the defaults */
    const char *sparsity, *block, *weight; /* of the weight: task_weight.h */
    at_weight_form form;         /* in which an operator's way takes what the file --weight holds */
    const at_input *weight_file; /* that, where it has been read; NULL: it is read. Borrowed */
    const char *arrays[AT_MAX_ARRAYS]; /* of inputs, "NAME=FILE": task_arrays.h */
    int num_arrays;
    const char *expects[AT_MAX_ARRAYS]; /* of a kernel without a computation, what outputs should
                                           be: "NAME=FILE" */
    int num_expects;
    /* Of a task made of sketches, this one: its default configuration, its best record of a log, or
     * what a search is of. NULL: the first, the best, and all. */
    const char *sketch;
    /* The configuration, one of four; none: the default one. */
    const char *config; /* JSON, or "default" */
    const char *steps;  /* a file of edits of the plain tree: history.h */
    bool has_index;
    int64_t index;
    const char *log; /* its best record of the task, */
    int64_t line;    /* or the one on this line; 0: the best */
} at_request;

typedef struct at_selection {
    const at_template_row *row;
    at_task *task;
    const at_record *record;   /* the one taken from a log, or NULL */
    double time_s;             /* of the best of a log, as at_pick tells it; else 0 */
    at_log_others others;      /* contexts that the log has records in, too */
    const at_pattern *pattern; /* of the task's sparse weight, or NULL */
    const float *weight;       /* values of --weight for this tensor; NULL: seeded integers */
    int weight_tensor;
    const struct at_arrays *arrays; /* of --array, or NULL */
    const char *const *expects;     /* of --expect, [num_expects] */
    int num_expects;
    /* Of an operator's way, as whose its kernel is called: its name with stages, and its layer, of
     * the first template (operator_join.h). NULL: it is called as its template. */
    const char *operator_name;
    const at_task *layer;
    const char *const *tensor_names; /* [tensor] by which callers know them; NULL: as they are */
    /* Of an operator's way: the order of this tensor's axes in the form that its callers give it
     * in, operator.h; NULL: as they are. */
    const int *weight_order;
    int ordered_weight;
    bool has_sketch; /* one is asked for: */
    int sketch;
    bool has_config;
    at_config config;
    const char *from; /* "default", "--index 7", "conv.log:12" */
} at_selection;

/* One of its arrays: "NAME=FILE" with both (task_arrays.c); from: who says so, "--array ".
 * AT_E_USAGE */
at_status at_check_named_file(const char *from, const char *text, at_error *err);
/* The task alone. */
at_status at_select_task(at_arena *a, const at_request *q, at_selection *out, at_error *err);
/* Task and configuration. A record whose index means another entity is warned about. */
at_status at_select_config(at_arena *a, const at_engine_options *o, const at_request *q,
                           at_selection *out, at_error *err);
/* The task that q names, and, where a log that was read holds valid records of it, the best of
 * them; out->has_config tells. AT_E_NO_VALID: all are failures. */
at_status at_select_logged(at_arena *a, const at_engine_options *o, const at_request *q,
                           const at_log_choice *choice, at_selection *out, at_error *err);
/* Of out, whose task is known, config and from: text is as at_request.config. AT_E_USAGE AT_E_INPUT
 */
at_status at_config_of_text(at_arena *a, const at_engine_options *o, const char *text,
                            at_selection *out, at_error *err);
/* The task of a record; its configuration is not looked at. AT_E_USAGE: there is no such template,
 * or its arguments are wrong. */
at_status at_select_record(at_arena *a, const at_record *r, at_selection *out, at_error *err);
/* A record's configuration, of its task. AT_E_INPUT: it is none. */
at_status at_config_of_record(at_arena *a, const at_task *t, const at_record *r, at_config *out,
                              at_error *err);
/* Whether the record was measured with another sparse weight than the task has now. */
bool at_selection_has_other_pattern(const at_selection *s);
/* The best configuration of every task of the log q->log; tasks of templates that are not built in,
 * and those without a valid record, are warned about and left out. AT_E_NO_VALID: none is left. */
at_status at_select_all(at_arena *a, const at_engine_options *o, const at_request *q,
                        at_selection **out, int *n, at_error *err);

#endif
