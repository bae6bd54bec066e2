/* remote/agent_state.h: an agent, for the files that are parts of it (agent*.c). */
#ifndef AT_REMOTE_AGENT_STATE_H
#define AT_REMOTE_AGENT_STATE_H

#include <pthread.h>

#include "engine/engine.h"
#include "remote/agent.h"
#include "remote/core_claim.h"

/* A frame with the texts in it. */
typedef struct at_waiting {
    struct at_waiting *next;
    at_arena *arena;
    at_frame frame;
} at_waiting;

typedef struct at_agent {
    at_link *link;
    const volatile int *stop_all; /* may be NULL */
    const at_agent_told *told;    /* likewise */
    volatile int stop;            /* what goes on comes to an end */
    at_agent_end end;             /* once over */
    bool over;
    double lease_s;
    int64_t heard_ns;
    pthread_mutex_t lock; /* of the queue, the end and what is unsent */
    pthread_cond_t more;
    at_waiting *first, **last;
    int num_waiting;
    int64_t said_ns;
    int64_t held_ns; /* since when something unsent waits for more; 0: nothing does */
    /* of the task: */
    bool has_task;
    at_tuning tuning; /* session and what is known; no tuner and no log */
    at_trial_pair *trials;
    at_core_claim claim;
    char *folder; /* of files that came with the task, as long as they are read */
    int folder_lock;
    int64_t told_ns;
    const char *anchor, *objective; /* lines about them; NULL: none */
    const char *second;             /* as in the task; "": none */
    double last_gflops;
    double last_at_s;
} at_agent;

/* ---- saying and hearing (agent_talk.c) ------------------------------------------------------- */

/* Waits until all is written, or nobody reads it any more. */
void at_agent_say(at_agent *g, const at_frame *f);
void at_agent_say_text(at_agent *g, at_frame_type type, const char *text);
/* With others, where more trials wait. */
void at_agent_say_result(at_agent *g, const at_frame *f);
void at_agent_hello(at_agent *g);
/* It comes to an end; the first reason counts. */
void at_agent_finish(at_agent *g, at_agent_end end);
/* The thread that hears: of an at_agent, until it is over and has no task. */
void *at_agent_listen(void *agent);

/* ---- files that came with the task (agent_folder.c) ------------------------------------------ */

/* A file under the name that it had, without its folders. */
at_status at_agent_put_file(at_agent *g, at_arena *a, const char *name, const char *bytes,
                            size_t len, const char **path, at_error *err);
/* All of at_foreign_files, below the folder of the file that was put there first. */
at_status at_agent_put_files(at_agent *g, at_arena *a, const char *json, at_error *err);
void at_agent_drop_folder(at_agent *g); /* if there is one */

/* ---- the task (agent_task.c) ----------------------------------------------------------------- */

void at_agent_take_task(at_agent *g, const at_frame *f);
void at_agent_drop_task(at_agent *g); /* if it has one */
/* Compares the anchor with the search's second kernel, for at_agent_say_ready. */
at_status at_agent_compare(at_agent *g, at_error *err);
at_status at_agent_say_ready(at_agent *g, at_error *err);
/* What is being done here, for `autotune workers`: once a second, or now. */
void at_agent_tell_state(at_agent *g, bool now);

#endif
