/* records/speeds_line.c: the comment line that tells what a search estimates with:
 *
 *     #speeds {"task": ..., "args": [...], "context_hash": "...", "machine": {...}}
 */
#include "records/records_int.h"

#include <string.h>

static const char *text_in(const at_json *v, const char *name) {
    const at_json *m = at_json_get(v, name);
    return m && m->kind == AT_JSON_STRING ? m->string : NULL;
}

bool at_speeds_line_read(at_arena *a, const char *comment, at_speeds_line *out) {
    static const char head[] = "speeds ";
    const at_json *v;
    if (strncmp(comment, head, sizeof head - 1) != 0) return false;
    comment += sizeof head - 1;
    if (at_json_most_values(comment, strlen(comment)) > AT_MOST_VALUES) return false;
    if (at_json_parse(a, comment, strlen(comment), &v, NULL) != AT_OK) return false;
    *out = (at_speeds_line){.task = text_in(v, "task"),
                            .context_hash = text_in(v, "context_hash"),
                            .args = at_json_get(v, "args"),
                            .machine = at_json_get(v, "machine")};
    if (!out->task || !out->context_hash || !out->args || !out->machine) return false;
    out->args = at_own_args(a, out->task, out->args);
    return true;
}
