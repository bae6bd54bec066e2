/* runtime/run_command.h: a command of the user's, run to its end, unconfined: whoever named it may
 * do with it what a shell would. */
#ifndef AT_RUNTIME_RUN_COMMAND_H
#define AT_RUNTIME_RUN_COMMAND_H

#include "runtime/job.h"

typedef struct at_command_end {
    at_job_end end;    /* RAN, CRASHED (a signal, or another exit code than 0), TIMEOUT */
    const char *error; /* why it is not RAN, with the last line that it printed; else "" */
    const char *said;  /* what it printed and complained of, the first 64 KiB */
} at_command_end;

/* words[0] is found in PATH; no shell sees them. Its input is empty, its group is killed at the
 * time limit, once *stop is set, and where this process dies. Texts live in a. AT_E_BUG: this
 * machine has no process or descriptor for it; at_fail_stopped's. */
at_status at_command_run(at_arena *a, const char *const *words, int num_words, double timeout_s,
                         const volatile int *stop, at_command_end *out, at_error *err);

#endif
