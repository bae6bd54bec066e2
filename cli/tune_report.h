/* cli/tune_report.h: what came out of a tuning run. */
#ifndef AT_CLI_TUNE_REPORT_H
#define AT_CLI_TUNE_REPORT_H

#include "cli/json_out.h"
#include "cli/trial_note.h"

/* Prints it. AT_E_NO_VALID where there is no best, AT_E_INTERRUPTED. */
at_status at_tune_report(at_tuning *t, const at_options *o, at_error *err);
/* Members that other objects have, too. best NULL: null. */
void at_out_failed(at_out *out, const at_tally *t);
void at_out_best(at_out *out, const char *key, const at_tuning *t, const at_best *best);

#endif
