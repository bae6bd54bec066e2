/* cli/other_file.h: files that are no template, computation or network: what they are, and what
 * takes them. */
#ifndef AT_CLI_OTHER_FILE_H
#define AT_CLI_OTHER_FILE_H

#include "base/base.h"

/* The name of a file of another kind where a template is expected: AT_E_USAGE with what it is and
 * what to do with it. AT_OK: its name says nothing. */
at_status at_other_file(const char *word, at_error *err);

#endif
