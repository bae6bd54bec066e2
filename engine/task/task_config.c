/* engine/task/task_config.c: from arguments, entity, index or log to a task and a configuration. */
#include "engine/task/task_config.h"

#include <string.h>
#include <unistd.h>

#include "engine/task/log_choice.h"
#include "engine/task/task_arrays.h"
#include "engine/task/task_weight.h"
#include "engine/task/template_change.h"
#include "sketch/sketch.h"

enum { MOST_FILE_BYTES = 4 << 20 }; /* of a configuration, of steps */

static at_status find_row(const at_request *q, at_selection *out, at_error *err) {
    out->row = q->row;
    if (!q->row && !q->template_name) return at_fail(err, AT_E_USAGE, "no template: give its name");
    return q->row ? AT_OK : at_template_find(q->template_name, &out->row, err);
}

static at_status find_sketch(const at_request *q, at_selection *out, at_error *err) {
    out->has_sketch = q->sketch;
    return q->sketch ? at_task_find_sketch(out->task, q->sketch, &out->sketch, err) : AT_OK;
}

at_status at_select_task(at_arena *a, const at_request *q, at_selection *out, at_error *err) {
    AT_TRY(find_row(q, out, err));
    AT_TRY(at_weight_task(a, q, q->args, out, err));
    AT_TRY(find_sketch(q, out, err));
    return at_arrays_read(a, q, out->task, &out->arrays, err);
}

/* ---- from a log ------------------------------------------------------------------------------ */

bool at_selection_has_other_pattern(const at_selection *s) {
    return s->record && at_is_of_other_pattern(s->record, s->pattern);
}

/* Values of a kernel's knobs reach its compiler: they are those of its head. */
static at_status check_point(const at_task *t, const at_config *c, at_error *err) {
    if (!at_task_foreign(t) || c->index >= 0) return AT_OK;
    return at_fail(err, AT_E_INPUT,
                   "no configuration of %s: a value is none of its knob's, or a condition forbids "
                   "it",
                   at_task_record_name(t));
}

at_status at_config_of_record(at_arena *a, const at_task *t, const at_record *r, at_config *out,
                              at_error *err) {
    AT_TRY(at_config_rebind(a, at_task_space(t), &r->config, out, err));
    return check_point(t, out, err);
}

static at_status take_record(at_arena *a, const char *log, at_selection *out, at_error *err) {
    out->from = at_format(a, "%s:%lld", log, (long long)out->record->line);
    if (at_config_of_record(a, out->task, out->record, &out->config, err) == AT_OK) return AT_OK;
    return at_fail_at(err, "%s: ", out->from);
}

/* The task of arguments that the log holds on that line. */
static at_status task_of_log(at_arena *a, const at_request *q, const at_json *args, int64_t line,
                             at_selection *out, at_error *err) {
    if (at_weight_task(a, q, at_json_text(a, args), out, err) == AT_OK) return AT_OK;
    if (q->weight) return err->status;
    at_fail_at(err, "%s:%lld: ", q->log, (long long)line);
    return err->status = AT_E_INPUT;
}

static at_status from_line(at_arena *a, const at_engine_options *o, const at_request *q,
                           at_selection *out, at_error *err) {
    AT_TRY(at_log_record_on_line(a, o, q->log, q->line, out->row, &out->record, err));
    AT_TRY(q->args ? at_weight_task(a, q, q->args, out, err)
                   : task_of_log(a, q, out->record->args, out->record->line, out, err));
    if (o->accept_changed || !at_is_of_changed_template(out->record, out->task)) return AT_OK;
    return at_fail(err, AT_E_NO_VALID,
                   "--line %lld: that record of %s is of another version of %s; "
                   "--accept-changed uses it",
                   (long long)q->line, q->log, out->row->name);
}

static at_status take_best(at_arena *a, const at_engine_options *o, const at_log_choice *choice,
                           const at_logged_task *logged, at_selection *out, at_error *err) {
    const at_pick *best;
    AT_TRY(at_log_best(a, o, choice, logged, out->task, out->pattern, &best, &out->others, err));
    out->record = &best->record;
    out->time_s = best->time_s;
    return AT_OK;
}

static at_status from_best(at_arena *a, const at_engine_options *o, const at_request *q,
                           at_selection *out, at_error *err) {
    at_log_choice choice;
    const at_template_row *rows[] = {out->row, NULL};
    const at_logged_task *task = NULL;
    const at_json *args = NULL;
    if (q->args) {
        AT_TRY(at_weight_task(a, q, q->args, out, err));
        AT_TRY(find_sketch(q, out, err));
        args = at_task_args(out->task);
    }
    AT_TRY(at_log_choose(a, o, q->log, rows, args, q->sketch, &choice, err));
    if (choice.tasks.len || !args) AT_TRY(at_log_only_task(&choice, out->row, &task, err));
    if (!args) AT_TRY(task_of_log(a, q, task->args, task->line, out, err));
    AT_TRY(take_best(a, o, &choice, task, out, err));
    at_log_tell(a, o, q->log, out->row->name, out->record, &out->others);
    return AT_OK;
}

static at_status from_log(at_arena *a, const at_engine_options *o, const at_request *q,
                          at_selection *out, at_error *err) {
    at_status s = q->line ? from_line(a, o, q, out, err) : from_best(a, o, q, out, err);
    if (s != AT_OK && s != AT_E_USAGE && q->sketch) at_fail_at(err, "--sketch %s: ", q->sketch);
    AT_TRY(s);
    return take_record(a, q->log, out, err);
}

/* ---- every task of a log -------------------------------------------------------------------- */

static at_status select_task(at_arena *a, const at_request *q, const char *task,
                             const at_json *args, at_selection *out, at_error *err) {
    AT_TRY(at_template_find(task, &out->row, err));
    return at_weight_task(a, q, at_json_text(a, args), out, err);
}

at_status at_select_record(at_arena *a, const at_record *r, at_selection *out, at_error *err) {
    out->record = r;
    return select_task(a, &(at_request){0}, r->task, r->args, out, err);
}

static at_status select_logged(at_arena *a, const at_engine_options *o, const at_request *q,
                               const at_log_choice *choice, const at_logged_task *t,
                               at_selection *out, at_error *err) {
    if (select_task(a, q, t->row->name, t->args, out, err) != AT_OK) {
        at_fail_at(err, "%s:%lld: ", q->log, (long long)t->line);
        return err->status = AT_E_INPUT;
    }
    AT_TRY(take_best(a, o, choice, t, out, err));
    at_log_tell(a, o, q->log, out->row->name, out->record, &out->others);
    out->has_config = true;
    return take_record(a, q->log, out, err);
}

at_status at_select_logged(at_arena *a, const at_engine_options *o, const at_request *q,
                           const at_log_choice *choice, at_selection *out, at_error *err) {
    AT_TRY(at_select_task(a, q, out, err));
    for (int i = 0; i < choice->tasks.len; i++) {
        const at_logged_task *t = &choice->tasks.data[i];
        if (t->row != out->row || !at_args_equal(t->args, at_task_args(out->task))) continue;
        AT_TRY(take_best(a, o, choice, t, out, err));
        out->has_config = true;
        return take_record(a, choice->path, out, err);
    }
    return AT_OK;
}

at_status at_select_all(at_arena *a, const at_engine_options *o, const at_request *q,
                        at_selection **out, int *n, at_error *err) {
    at_log_choice choice;
    AT_TRY(at_log_choose(a, o, q->log, NULL, NULL, NULL, &choice, err));
    *out = AT_NEW_ARRAY(a, at_selection, choice.tasks.len);
    *n = 0;
    at_error first = {0}; /* line that is no configuration of a task */
    for (int i = 0; i < choice.tasks.len; i++) {
        at_selection s = {0};
        at_error why = {0};
        at_status status = select_logged(a, o, q, &choice, &choice.tasks.data[i], &s, &why);
        if (status == AT_E_USAGE) return *err = why, status;
        if (status == AT_E_INPUT && !first.status) first = why;
        else if (status != AT_OK) at_engine_warn(o, at_format(a, "%s; left out", why.text));
        if (s.has_config) (*out)[(*n)++] = s;
    }
    if (first.status && !*n) return *err = first, first.status;
    if (first.status) at_engine_warn(o, at_format(a, "%s; left out", first.text));
    if (*n) return AT_OK;
    return at_fail(err, AT_E_NO_VALID, "%s: holds no valid record of a template that is built in",
                   q->log);
}

/* ---- one configuration ---------------------------------------------------------------------- */

at_status at_config_of_text(at_arena *a, const at_engine_options *o, const char *text,
                            at_selection *out, at_error *err) {
    const at_json *json;
    const char *given = text;
    if (!text || !strcmp(text, "default")) {
        out->from = "default";
        return at_task_default_config(
            a, out->task, at_engine_target_for(o, at_task_compute(out->task))->default_lanes,
            &out->config, err);
    }
    out->from = "--config";
    size_t len = strlen(text);
    if (!strchr(text, '{')) { /* no JSON, so a file that holds it */
        char *read;
        out->from = at_format(a, "--config %s", text);
        if (access(text, F_OK) != 0)
            return at_fail(
                err, AT_E_USAGE,
                "--config %s: neither a configuration, {\"entity\": [...]}, nor default, "
                "nor a file",
                *text ? text : "\"\"");
        AT_TRY(at_read_file(a, text, MOST_FILE_BYTES, &read, &len, err));
        text = read;
    }
    at_status s = at_json_parse(a, text, len, &json, err);
    if (s == AT_OK) s = at_config_from_json(a, at_task_space(out->task), json, &out->config, err);
    if (s == AT_OK) s = check_point(out->task, &out->config, err);
    if (s == AT_OK) return AT_OK;
    at_fail_at(err, "%s: ", out->from);
    return err->status = text == given ? AT_E_USAGE : AT_E_INPUT;
}

static at_status from_sketch(at_arena *a, const at_engine_options *o, const at_request *q,
                             at_selection *out, at_error *err) {
    AT_TRY(find_sketch(q, out, err));
    out->from = at_format(a, "--sketch %s", q->sketch);
    return at_task_sketch_default(
        a, out->task, out->sketch,
        at_engine_target_for(o, at_task_compute(out->task))->default_lanes, &out->config, err);
}

static at_status from_index(at_arena *a, int64_t index, at_selection *out, at_error *err) {
    if (at_config_at(a, at_task_space(out->task), index, &out->config, err) != AT_OK) {
        at_fail_at(err, "--index: ");
        return err->status = AT_E_USAGE;
    }
    out->from = at_format(a, "--index %lld", (long long)index);
    return AT_OK;
}

static void warn_of_index(const at_engine_options *o, const at_selection *s) {
    const at_config *c = &s->config;
    if (c->recorded_index == c->index || c->recorded_index < 0) return;
    at_text text = {0};
    at_text_addf(&text, "%s: index %lld does not mean this entity", s->from,
                 (long long)c->recorded_index);
    if (c->index >= 0) at_text_addf(&text, ", %lld does", (long long)c->index);
    at_text_add(&text, "; the entity counts");
    at_engine_warn(o, at_text_str(&text));
    at_text_free(&text);
}

/* The task becomes one of a single configuration. */
static at_status from_steps(at_arena *a, const at_engine_options *o, const at_request *q,
                            at_selection *out, at_error *err) {
    at_steps h;
    char *text;
    size_t len;
    AT_TRY(at_read_file(a, q->steps, MOST_FILE_BYTES, &text, &len, err));
    if (strlen(text) != len)
        return at_fail(err, AT_E_INPUT, "%s: byte %zu is no text; steps are lines of edits",
                       q->steps, strlen(text));
    AT_TRY(at_steps_parse(a, q->steps, text, &h, err));
    AT_TRY(at_steps_row(a, out->task, q->steps, &h, &out->row, err));
    AT_TRY(at_weight_task(a, q, "", out, err));
    AT_TRY(at_config_of_text(a, o, "default", out, err));
    out->from = at_format(a, "--from-steps %s", q->steps);
    return AT_OK;
}

at_status at_select_config(at_arena *a, const at_engine_options *o, const at_request *q,
                           at_selection *out, at_error *err) {
    AT_TRY(find_row(q, out, err));
    if (q->log) AT_TRY(from_log(a, o, q, out, err));
    else {
        AT_TRY(at_weight_task(a, q, q->args, out, err));
        if (q->steps) AT_TRY(from_steps(a, o, q, out, err));
        else if (q->sketch) AT_TRY(from_sketch(a, o, q, out, err));
        else if (q->has_index) AT_TRY(from_index(a, q->index, out, err));
        else AT_TRY(at_config_of_text(a, o, q->config, out, err));
    }
    out->has_config = true;
    warn_of_index(o, out);
    return at_arrays_read(a, q, out->task, &out->arrays, err);
}
