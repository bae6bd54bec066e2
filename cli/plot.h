/* cli/plot.h: what the verb plot draws, on the terminal and to files. */
#ifndef AT_CLI_PLOT_H
#define AT_CLI_PLOT_H

#include "cli/curve.h"
#include "cli/options.h"

/* Best so far over all trials as points, failures below them, for each task against trials and
 * against seconds; colours of stdout. */
void at_plot_text(at_text *out, at_arena *a, const at_curves *c, const at_options *o);
/* The same as a picture, by gnuplot. The ending of path says the format. AT_E_USAGE: another
 * ending, too many tasks, or no gnuplot; AT_E_OUTPUT: path is old or new, never half. */
at_status at_plot_file(const at_curves *c, const at_options *o, at_error *err);
at_status at_plot_check_path(const char *path, at_error *err);

/* Knob by knob, how good the trials with each value were. */
void at_knobs_text(at_text *out, const at_curves *c);

enum { AT_KNOB_VALUES = 12 }; /* so many are shown, the best */

#endif
