/* engine/task/log_choice.h: what a log says of tasks: which there are, and the best record of each.
 * The log is read once, and of each task the records that can win are kept while it goes by. */
#ifndef AT_ENGINE_LOG_CHOICE_H
#define AT_ENGINE_LOG_CHOICE_H

#include "engine/task/log_others.h"
#include "records/records.h"
#include "templates/task.h"

/* One task of a log. */
typedef struct at_logged_task {
    const at_template_row *row;
    const at_json *args;
    int64_t line;              /* of its first record */
    int64_t unfit, unfit_line; /* records that are no configuration of it; the first of them, */
    const char *unfit_why;     /* and why it is not */
} at_logged_task;

/* Lives in the arena that it was made in. */
typedef struct at_log_choice {
    const char *path, *word;      /* word: the path as a command has it */
    AT_VEC(at_logged_task) tasks; /* in order of first appearance */
    bool is_full;                 /* there are more tasks of the template */
    int64_t total;                /* records of whatever */
    int64_t unmade, unmade_line;  /* records whose arguments make no task; the first of them, */
    const char *unmade_why;       /* and why */
    struct at_logged_versions *versions;
    at_pick *picks; /* the best of each task and context */
    int num_picks;
} at_log_choice;

/* Reads a log for the records of some templates (rows, NULL behind the last; NULL: of every one
 * that there is; the names of others are warned about), of one task's arguments and one sketch
 * (NULL: of any). Where one template has several tasks, these are listed alone. AT_E_INPUT:
 * unreadable, without a record, too many different tasks. */
at_status at_log_choose(at_arena *a, const at_engine_options *o, const char *path,
                        const at_template_row *const *rows, const at_json *args, const char *sketch,
                        at_log_choice *out, at_error *err);
/* The log's only task of that template. AT_E_INPUT: none; AT_E_USAGE: several, which are listed. */
at_status at_log_only_task(const at_log_choice *c, const at_template_row *row,
                           const at_logged_task **out, at_error *err);
/* The best record of a task (logged NULL: the log holds none of it), out of the winners of its
 * contexts: the context that is what was asked for comes first. Those of this pattern count before
 * those of another, then those of this CPU, of the instruction set, threads, compiler and packing
 * that o sets, and with caches in the state of o->cache. Those of another version of the template
 * count where o says so only, and are told of, as are those that are no configuration of the task,
 * which never count. Of several such contexts the least time wins; others: what is to be told.
 * AT_E_NO_VALID: all are failures, or of another version; AT_E_INPUT: none, or none that fits. */
at_status at_log_best(at_arena *a, const at_engine_options *o, const at_log_choice *c,
                      const at_logged_task *logged, const at_task *task, const at_pattern *pattern,
                      const at_pick **out, at_log_others *others, at_error *err);
/* The record on a line, of that template. AT_E_USAGE: there is none. */
at_status at_log_record_on_line(at_arena *a, const at_engine_options *o, const char *path,
                                int64_t line, const at_template_row *row, const at_record **out,
                                at_error *err);

#endif
