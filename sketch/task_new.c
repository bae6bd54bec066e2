/* sketch/task_new.c: a task of a template and arguments, of a template that leaves its schedule
 * open by the rules. */
#include "sketch/sketch_int.h"

at_status at_task_new(at_arena *a, const at_template_row *row, const char *args, at_task **out,
                      at_error *err) {
    return at_task_new_over(a, row, args, "", out, err);
}

at_status at_task_new_over(at_arena *a, const at_template_row *row, const char *args,
                           const char *over, at_task **out, at_error *err) {
    at_task *t;
    AT_TRY(at_task_open(a, row, args, over, &t, err));
    at_template *open = at_task_left_open(t);
    if (open) sketch_derive(open);
    AT_TRY(at_task_finish(t, err));
    *out = t;
    return AT_OK;
}

at_status at_task_of_record(at_arena *a, const char *task, const at_json *args, at_task **out,
                            at_error *err) {
    const at_template_row *row;
    AT_TRY(at_template_find(task, &row, err));
    return at_task_new(a, row, at_json_text(a, args), out, err);
}
