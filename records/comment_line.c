/* records/comment_line.c: what comment lines of a log about one task and context begin with:
 *
 *     #NAME {"task": ..., "args": [...], "context_hash": "...", ...}
 */
#include "records/records_int.h"
#include "templates/task.h"

#include <string.h>

bool at_comment_read(at_arena *a, const char *comment, const char *name, at_comment *out) {
    size_t n = name ? strlen(name) : strcspn(comment, " ");
    if ((name && strncmp(comment, name, n) != 0) || comment[n] != ' ') return false;
    comment += n + 1;
    if (at_json_most_values(comment, strlen(comment)) > AT_MOST_VALUES) return false;
    if (at_json_parse(a, comment, strlen(comment), &out->value, NULL) != AT_OK) return false;
    out->task = at_json_string_in(out->value, "task");
    out->context_hash = at_json_string_in(out->value, "context_hash");
    const at_json *args = at_json_get(out->value, "args");
    if (!out->task || !out->context_hash || !args) return false;
    out->args = at_template_record_args(a, out->task, args);
    return true;
}

void at_comment_begin(at_text *out, const char *name, const char *task, const at_json *args,
                      const char *context_hash) {
    at_text_addf(out, "%s {\"task\": ", name);
    at_text_add_json_string(out, task);
    at_text_add(out, ", \"args\": ");
    at_json_print(out, args);
    at_text_add(out, ", \"context_hash\": ");
    at_text_add_json_string(out, context_hash);
}
