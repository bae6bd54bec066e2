/* engine/task/template_change.c: see template_change.h. */
#include "engine/task/template_change.h"

bool at_is_of_changed_template(const at_record *r, const at_task *task) {
    return r->extra.present &&
           at_context_is_of_other_template(&r->extra.context, at_task_hash(task));
}

const char *at_changed_text(at_arena *a, const char *path, int64_t count, const char *name) {
    return at_format(
        a,
        "%s: %lld record%s of another version of %s %s not used; --accept-changed uses "
        "%s",
        path, (long long)count, at_plural(count), name, count == 1 ? "is" : "are",
        count == 1 ? "it" : "them");
}
