/* engine/template_change.c: see template_change.h. */
#include "engine/template_change.h"

#include <string.h>

typedef struct task_hash {
    const char *name;
    const at_json *args;
    const at_task *task; /* NULL: it cannot be made */
} task_hash;

struct at_changes {
    at_arena *arena;
    AT_VEC(task_hash) tasks;
};

bool at_is_of_changed_template(const at_record *r, const at_task *task) {
    const char *was = r->extra.context.template_hash;
    return r->extra.present && *was && strcmp(was, at_task_hash(task)) != 0;
}

const char *at_changed_text(at_arena *a, const char *path, int64_t count, const char *name) {
    return at_format(
        a,
        "%s: %lld record%s of another version of %s %s not used; --accept-changed uses "
        "%s",
        path, (long long)count, at_plural(count), name, count == 1 ? "is" : "are",
        count == 1 ? "it" : "them");
}

at_changes *at_changes_new(at_arena *a) {
    at_changes *c = AT_NEW(a, at_changes);
    c->arena = a;
    return c;
}

/* The task of the record before is mostly that of this one. */
static const at_task *task_of(at_changes *c, const at_record *r) {
    for (int i = c->tasks.len - 1; i >= 0; i--)
        if (!strcmp(c->tasks.data[i].name, r->task) &&
            at_args_equal(c->tasks.data[i].args, r->args))
            return c->tasks.data[i].task;
    at_task *task = NULL;
    const char *name = at_strdup(c->arena, r->task);
    const at_json *args = at_json_copy(c->arena, r->args);
    if (at_task_of_record(c->arena, name, args, &task, NULL) != AT_OK) task = NULL;
    *at_push(c->arena, &c->tasks) = (task_hash){name, args, task};
    return task;
}

bool at_changes_hold(at_changes *c, const at_record *r) {
    const at_template_row *row;
    if (!r->extra.present || !*r->extra.context.template_hash ||
        at_template_find(r->task, &row, NULL) != AT_OK)
        return false;
    const at_task *task = task_of(c, r);
    return task && at_is_of_changed_template(r, task);
}
