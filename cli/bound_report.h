/* cli/bound_report.h: what bounds a kernel on this CPU, printed, and beside the measured time. */
#ifndef AT_CLI_BOUND_REPORT_H
#define AT_CLI_BOUND_REPORT_H

#include "cli/json_out.h"
#include "engine/engine.h"

/* time_s 0: not measured. */
void at_text_add_why(at_text *out, const at_session *s, const at_bound *b, double time_s);
void at_out_why(at_out *o, const at_session *s, const at_bound *b,
                double time_s); /* "why": {...} */
/* Where the code is not as the tree says; k NULL: nothing. */
void at_text_add_notes(at_text *out, const at_kernel *k);
void at_out_notes(at_out *o, const at_kernel *k); /* "notes": [...] */

#endif
