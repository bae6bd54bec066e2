/* cli/template_file.h: a schedulable as the C file of a template (-o). */
#ifndef AT_CLI_TEMPLATE_FILE_H
#define AT_CLI_TEMPLATE_FILE_H

#include "cli/options.h"
#include "sketch/schedulable.h"

/* To o->output, which ends in .c and names the template. AT_E_USAGE: it does not, or another file,
 * or one that somebody went on with, stands there. */
at_status at_write_template(at_arena *a, const at_options *o, const at_schedulable *s,
                            const char *help, at_error *err);

#endif
