/* cli/outputs.h: files that a verb writes (-o): neither over what it reads nor over anything of the
 * user's that is no such file. */
#ifndef AT_CLI_OUTPUTS_H
#define AT_CLI_OUTPUTS_H

#include "cli/options.h"

/* AT_E_USAGE: a file that the verb writes is one that it reads, by whatever name. */
at_status at_check_outputs(const at_options *o, at_error *err);
/* AT_E_USAGE: the output, which the option names, is this input. input NULL is fine. */
at_status at_check_not_read(const char *option, const char *output, const char *input,
                            at_error *err);
/* AT_E_USAGE: --name is given, and cannot name a function of C and C++. */
at_status at_check_name(const at_options *o, at_error *err);
/* --force, or what it would do. */
at_force at_force_of(const at_options *o);
/* What the verb, with these options, may replace without --force. */
at_output_rules at_rules_of_output(const at_options *o);
/* kernel.h beside kernel.c; NULL where the output is no .c file, which then has the declarations
 * itself. Owned by arena. */
const char *at_header_path(at_arena *a, const char *output);

/* From here on the program writes where its options say, to temporary files and to its cache, and
 * nowhere else, where the system can hold it to that. Not where it starts workers elsewhere, whose
 * ways are the user's. */
void at_limit_outputs(const at_options *o);

/* Writes the page to the file of --output, else to REPORTED.html in the working folder, and tells
 * how many tasks, or networks, there are; or prints it. reported: a file's path. */
at_status at_report_write(const at_options *o, int num, const char *of, const char *reported,
                          at_text *page, at_error *err);

#endif
