/* engine/task/user_template.h: templates of the user's own, compiled when they are named. */
#ifndef AT_ENGINE_USER_TEMPLATE_H
#define AT_ENGINE_USER_TEMPLATE_H

#include "foreign/foreign.h"

/* Is this word the path of a template's C file, or of a computation (.te), or - for one on stdin?
 */
bool at_is_template_file(const char *word);
/* It names logs and functions, and stands among words of the command line. */
bool at_is_template_name(const char *name);
#define AT_TEMPLATE_NAME_RULE                                                                      \
    "a name is a word of letters, digits, _, +, - and ., which begins with a letter, a digit or "  \
    "_ and has at most 120 characters"
/* Compiles or reads it; from then on at_template_find knows its row, before the built-in ones. It
 * holds `const at_template_row at_NAME`, NAME being the file's without folder and ".c", '_' for
 * what C does not allow. A computation's template has the name of its file. AT_E_INPUT: the file
 * cannot be read, or the compiler's message "my.c:3: ..." */
at_status at_user_template_load(const char *path, const at_template_row **out, at_error *err);
/* The same of a computation's text, which stands in no file. */
at_status at_user_computation_add(const char *name, const char *text, at_error *err);
/* The same of a command. AT_E_USAGE, AT_E_INPUT. */
at_status at_user_command_add(const at_bench_command *c, const at_template_row **out,
                              at_error *err);

#endif
