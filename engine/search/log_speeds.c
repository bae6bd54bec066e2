/* engine/search/log_speeds.c: comment lines that tell what a search estimates with:
 *
 *     #speeds {"task": ..., "args": [...], "context_hash": "...", "machine": {...}}
 */
#include "engine/search/log_speeds.h"

#include "engine/search/machine_speeds.h"

/* Of one instruction set; false: nothing is known of it, and it is guessed everywhere alike. */
static bool speeds_of_target(const at_session *s, at_speed_table *out) {
    at_speeds_known(out);
    const at_speeds *of = at_speed_table_find(out, s->how.target->name);
    if (!of) return false;
    out->sets[0] = *of;
    out->num_sets = 1;
    return true;
}

static void print(at_text *out, const at_session *s, const at_speed_table *t) {
    at_comment_begin(out, "speeds", at_task_record_name(s->what.task), at_task_args(s->what.task),
                     s->how.context_hash);
    at_text_add(out, ", \"machine\": ");
    at_speed_table_print(out, t);
    at_text_add(out, "}");
}

at_status at_speeds_begin(at_session *s, at_known *known, at_log *log, at_cost_model *m,
                          at_error *err) {
    at_status status = AT_OK;
    at_speed_table table;
    at_text text = {0};
    if (!at_known_speeds(known)) {
        if (!speeds_of_target(s, &table)) return AT_OK;
        print(&text, s, &table);
        at_known_add_speeds(known, s, at_text_str(&text));
        if (log) status = at_log_comment(log, at_text_str(&text), err);
        at_text_free(&text);
    }
    /* As they were written, to the last digit. */
    if (at_known_speeds(known)) at_cost_model_set(m, at_known_speeds(known));
    return status;
}
