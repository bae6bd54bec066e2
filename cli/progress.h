/* cli/progress.h: the line on stderr that shows how far a run is. */
#ifndef AT_CLI_PROGRESS_H
#define AT_CLI_PROGRESS_H

#include "engine/engine.h"

/* "2 failed: 2 timeout", or nothing. */
void at_text_add_failed(at_text *out, const at_tally *t);

/* On a terminal one line, redrawn at most ten times a second, no wider than the terminal; elsewhere
 * a plain line every few seconds. Nothing with --quiet, nor beside the lines of --debug. */
typedef struct at_progress {
    const char *name;
    bool shown, terminal;
    int64_t start_ns, shown_ns;
    int64_t shown_done; /* trials done when it was shown; -1: not shown yet */
    double time_s;      /* limit of the run; 0: none */
} at_progress;
void at_progress_start(at_progress *p, const char *name, double time_s);
void at_progress_show(at_progress *p, const at_tally *t);
/* The last state, and the end of the line. */
void at_progress_end(at_progress *p, const at_tally *t);

#endif
