/* engine/task/log_texts.h: a log brings along the texts of computations that it is about, so that
 * whoever has the log needs nothing else:
 *
 *     #te {"name": "product", "text": "args N=64, ..."} */
#ifndef AT_ENGINE_LOG_TEXTS_H
#define AT_ENGINE_LOG_TEXTS_H

#include "records/record.h"
#include "templates/task.h"

/* The line without its '#', of a task whose template is a computation in a file; NULL: it is none,
 * or its text is too long for a log. In a. */
const char *at_log_text_line(at_arena *a, const at_template_row *row);
/* The same of a record's template. */
const char *at_log_text_of(at_arena *a, const at_record *r);
/* The computation of that name is known from now on, before a template. AT_E_INPUT: it is none. */
at_status at_log_text_take(const char *name, const char *text, at_error *err);
/* Does the log at that path have that line, and no later one of another text of its name? */
bool at_log_text_counts(const char *path, const char *line);
/* Computations that logs bring along are known from now on, where no template has their name; of
 * several texts of one name the first log's last. All count that are of records (of the first
 * 16,384 names), and the first 256 of others. What is no computation is passed over. Only files are
 * read, no pipes. before_built_in: so are texts of a name that a built-in template has, where the
 * logs have records of the name, and none of these has arguments that the template takes. */
void at_log_texts_load(const char *const *paths, int n, bool before_built_in);

#endif
