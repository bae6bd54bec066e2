/* records/speeds_line.c: the comment line that tells what a search estimates with:
 *
 *     #speeds {"task": ..., "args": [...], "context_hash": "...", "machine": {...}}
 */
#include "records/records_int.h"

bool at_speeds_line_read(at_arena *a, const char *comment, at_speeds_line *out) {
    at_comment c;
    if (!at_comment_read(a, comment, "speeds", &c)) return false;
    *out = (at_speeds_line){.task = c.task,
                            .context_hash = c.context_hash,
                            .args = c.args,
                            .machine = at_json_get(c.value, "machine")};
    return out->machine;
}
