/* cli/progress.h: counts of a run, and the line on stderr that shows them. */
#ifndef AT_CLI_PROGRESS_H
#define AT_CLI_PROGRESS_H

#include "base/base.h"
#include "runtime/runtime.h"

typedef struct at_tally {
    int64_t total;                      /* trials asked for, at most the space */
    int64_t done, answered;             /* answered: of those done, from the log */
    int64_t failed[AT_ERR_UNKNOWN + 1]; /* by error number */
    double current, best;               /* GFLOP/s: of the last valid trial, and the best */
} at_tally;

int64_t at_tally_failed(const at_tally *t);
/* "2 failed: 2 timeout", or nothing. */
void at_text_add_failed(at_text *out, const at_tally *t);

/* On a terminal one line, redrawn at most ten times a second, no wider than the terminal; elsewhere
 * a plain line every few seconds. Nothing with --quiet, nor beside the lines of --debug. */
typedef struct at_progress {
    const char *name;
    bool shown, terminal;
    int64_t start_ns, shown_ns;
    double time_s; /* limit of the run; 0: none */
} at_progress;
void at_progress_start(at_progress *p, const char *name, double time_s);
void at_progress_show(at_progress *p, const at_tally *t);
/* The last state, and the end of the line. */
void at_progress_end(at_progress *p, const at_tally *t);

#endif
