/* runtime/worker_process.h: the worker's process as its parent has it: started, looked after,
 * ended. What it is given to do is worker.c's. */
#ifndef AT_WORKER_PROCESS_H
#define AT_WORKER_PROCESS_H

#include "runtime/runtime_int.h"

/* A job, the peak, a start: where the worker was killed from outside, or stopped meanwhile. A
 * kernel that does that itself is found out so. */
enum { AT_WORKER_TRIES = 3 };

struct at_worker {
    at_store *store;     /* borrowed */
    const char *program; /* borrowed; NULL: this one */
    int cpu;
    int64_t memory_bytes;
    at_sandbox sandbox;
    at_ready ready;       /* what the process said when it began */
    pid_t pid;            /* 0: not running */
    int jobs;             /* that it was given */
    const at_job *anchor; /* borrowed; NULL: none */
    bool has_anchor;      /* the process does */
    int ahead;            /* codes that it compiles, and has not said to be done */
    int64_t last_ahead;   /* number of such a code */
    int fd;
    int64_t begin_ns; /* of the job under way */
    at_nap nap;       /* looked at since then */
    at_io sent;       /* how that went */
    at_msg reply;
    at_text text; /* the encoded job */
    at_arena *arena;
    const char *control[AT_COMPILER_COUNT]; /* objects of the control, once made */
};

/* Ends the process if it has not ended already; returns its wait status, or -1 if somebody else
 * took it. at_worker_wake (runtime.h) starts another one. */
int at_worker_bury(at_worker *w);

#endif
