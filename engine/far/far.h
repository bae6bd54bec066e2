/* engine/far/far.h: workers elsewhere, as the engine sees them. Whoever reaches them (remote/)
 * fills an at_far; a search (far_search.h) tells it what to measure, and takes what comes, in any
 * order. */
#ifndef AT_ENGINE_FAR_H
#define AT_ENGINE_FAR_H

#include "engine/options.h"
#include "engine/task/task_config.h"

/* What every worker is told before it measures. Borrowed until at_far.end. */
typedef struct at_far_task {
    const at_engine_options *options;
    const at_request *request;
    const char *template_name, *template_file; /* the file of a user's own, else NULL */
    const char *template_text;                 /* what it holds; NULL: it is read */
    const char *files;                         /* of a kernel: at_foreign_files; "": none */
    const char *program;       /* its compiler, where the search names one; "": the head's */
    const char *args;          /* as at_request.args */
    const char *template_hash; /* must be the worker's, too */
    const char *second;        /* entity of a kernel to compare the anchor with; NULL: none */
} at_far_task;

typedef enum at_far_kind {
    AT_FAR_NOTHING, /* the time to wait is over */
    AT_FAR_JOINED,  /* ready; record: of the default configuration, as it would begin there. Again
                       after at_far.compare */
    AT_FAR_LEFT,    /* what it had to do is lost */
    AT_FAR_RESULT,  /* record; trial: which */
    AT_FAR_TURNS,   /* text: the lines of a final */
    AT_FAR_TOLD     /* text, for the user */
} at_far_kind;

/* Texts and records live in the arena given to next. */
typedef struct at_far_event {
    at_far_kind kind;
    int worker;       /* a small number, the same as long as it is reached in the same way */
    const char *name; /* of the worker, for people: "ssh:board" */
    const char *node; /* the machine that it is on */
    at_trial_id trial;
    at_record record; /* RESULT: of its configuration the index alone counts */
    const char *text;
    const char *anchor;    /* JOINED: what its trials are timed against, as at_anchor_line_print has
                              it; NULL: nothing */
    const char *objective; /* JOINED: what counts there, as at_objective_line_print has it; NULL */
} at_far_event;

typedef struct at_far {
    void *self;
    const char *places; /* where workers are awaited, for people */
    /* Starts to reach workers; between begin and end once more: workers that are reached turn
     * to another task, and each of them joins again; all others leave, who may have left before.
     * AT_E_USAGE: it cannot be done with this task. */
    at_status (*begin)(void *self, const at_far_task *task, at_error *err);
    /* The next event, after at most wait_s. AT_E_BUG: no worker is left, and none will come. */
    at_status (*next)(void *self, at_arena *a, double wait_s, at_far_event *out, at_error *err);
    /* Asks a worker for a trial; best_s: as of at_candidate_begin. */
    void (*trial)(void *self, int worker, const at_trial_id *id, const char *entity, double best_s);
    /* Asks it for a final of these records (lines of a log). */
    void (*final)(void *self, int worker, const char *records, double budget_s);
    /* Asks it to compare the anchor with the second kernel again. */
    void (*compare)(void *self, int worker);
    /* It is not used; why is for the user. */
    void (*refuse)(void *self, int worker, const char *why);
    int (*workers)(void *self); /* ready now */
    /* Ends all of them, and what runs there. */
    void (*end)(void *self);
} at_far;

#endif
