/* engine/task_config.c: from arguments, entity, index or log to a task and a configuration. */
#include "engine/task_config.h"

#include <string.h>
#include <unistd.h>

#include "engine/task_weight.h"
#include "engine/template_change.h"

static at_status find_row(const at_request *q, at_selection *out, at_error *err) {
    out->row = q->row;
    if (!q->row && !q->template_name) return at_fail(err, AT_E_USAGE, "no template: give its name");
    return q->row ? AT_OK : at_template_find(q->template_name, &out->row, err);
}

at_status at_select_task(at_arena *a, const at_request *q, at_selection *out, at_error *err) {
    AT_TRY(find_row(q, out, err));
    return at_weight_task(a, q, q->args, out, err);
}

/* ---- from a log ---------------------------------------------------------------------------------
 */

typedef struct log_view {
    const char *path;
    at_record *records; /* of the templates that were asked for */
    int count;
    int64_t total; /* records of whatever */
} log_view;

/* What a log is read for. */
typedef struct wish {
    const at_template_row *row; /* NULL: any template that there is */
    int64_t line;               /* and the record there; 0: none */
    int64_t total;
    AT_VEC(const char *) unknown; /* names of the first tasks of no template */
    at_arena *arena;
} wish;

static bool is_of_template(const at_record *r, const at_template_row *row) {
    const char *name = row->record_name ? row->record_name : row->name;
    return !strcmp(r->task, name) || !strcmp(r->task, row->name);
}

/* The arguments of the log's only task of that template; several are listed. */
static at_status only_task(at_arena *a, const at_template_row *row, const log_view *log,
                           const at_json **args, at_error *err) {
    AT_VEC(const at_json *) tasks = {0};
    at_key_map known = {.arena = a};
    at_text key = {0};
    for (int i = 0; i < log->count; i++) {
        const at_record *r = &log->records[i];
        if (!is_of_template(r, row)) continue;
        at_text_clear(&key);
        at_workload_identity(&key, &(at_record){.task = row->name, .args = r->args});
        if (at_key_map_add(&known, at_text_str(&key)) == tasks.len) *at_push(a, &tasks) = r->args;
    }
    at_text_free(&key);
    if (!tasks.len)
        return at_fail(
            err, AT_E_INPUT,
            "%s: holds no record of %s among its %lld records; autotune log %s lists its tasks",
            log->path, row->name, (long long)log->total, log->path);
    *args = tasks.data[0];
    if (tasks.len == 1) return AT_OK;
    at_text list = {0};
    for (int t = 0; t < tasks.len && t < 8; t++) {
        at_text_add(&list, t ? "; " : "");
        at_json_print(&list, tasks.data[t]);
    }
    if (tasks.len > 8) at_text_add(&list, "; ...");
    at_status s = at_fail(err, AT_E_USAGE, "%s: holds %d tasks of %s; choose one with --args: %s",
                          log->path, tasks.len, row->name, at_text_str(&list));
    at_text_free(&list);
    return s;
}

static at_status record_on_line(int64_t line, const log_view *log, const at_template_row *row,
                                const at_record **out, at_error *err) {
    for (int i = 0; i < log->count; i++) {
        if (log->records[i].line != line) continue;
        if (!is_of_template(&log->records[i], row))
            return at_fail(err, AT_E_USAGE, "--line %lld: that record of %s is of %s, not of %s",
                           (long long)line, log->path, log->records[i].task, row->name);
        *out = &log->records[i];
        return AT_OK;
    }
    return at_fail(err, AT_E_USAGE,
                   "--line %lld: that line of %s holds no record; autotune log %s --csv lists them",
                   (long long)line, log->path, log->path);
}

/* Whether it was measured on another sparsity pattern; foreign records do not say. */
static bool is_of_other_pattern(const at_record *r, const at_pattern *p) {
    return p && r->extra.present && strcmp(r->extra.context.pattern, p->hash) != 0;
}

/* Records of this pattern count before others. */
static at_status best_record(at_arena *a, const at_engine_options *o, const at_request *q,
                             const log_view *log, const at_record *const *all, int n,
                             const at_selection *s, const at_record **out, at_error *err) {
    const at_task *task = s->task;
    const char *name = at_task_row(task)->name;
    int64_t changed = 0;
    AT_VEC(const at_record *) of_task = {0}, of_pattern = {0}, of_isa = {0};
    for (int i = 0; i < n; i++) {
        const at_record *r = all[i];
        if (!is_of_template(r, at_task_row(task)) || !at_args_equal(r->args, at_task_args(task)))
            continue;
        if (!o->accept_changed && at_is_of_changed_template(r, task)) {
            changed++;
            continue;
        }
        *at_push(a, &of_task) = r;
        if (is_of_other_pattern(r, s->pattern)) continue;
        *at_push(a, &of_pattern) = r;
        bool is_of_isa = q->isa && r->extra.present && !strcmp(r->extra.context.isa, q->isa);
        if (is_of_isa) *at_push(a, &of_isa) = r;
    }
    *out = at_record_best(of_isa.data, of_isa.len);
    if (!*out) *out = at_record_best(of_pattern.data, of_pattern.len);
    if (!*out) *out = at_record_best(of_task.data, of_task.len);
    if (changed && of_task.len) at_engine_warn(o, at_changed_text(a, log->path, changed, name));
    if (*out) return AT_OK;
    if (changed && !of_task.len)
        return at_fail(err, AT_E_NO_VALID, "%s", at_changed_text(a, log->path, changed, name));
    if (of_task.len)
        return at_fail(err, AT_E_NO_VALID,
                       "%s: all %d records of %s %s are failures; autotune log %s shows the first "
                       "of each kind",
                       log->path, of_task.len, at_task_row(task)->name, at_task_args_text(task),
                       log->path);
    return at_fail(err, AT_E_INPUT, "%s: holds no record of %s %s; autotune log %s lists its tasks",
                   log->path, at_task_row(task)->name, at_task_args_text(task), log->path);
}

bool at_selection_has_other_pattern(const at_selection *s) {
    return s->record && is_of_other_pattern(s->record, s->pattern);
}

static at_status take_record(at_arena *a, const char *log, at_selection *out, at_error *err) {
    out->from = at_format(a, "%s:%lld", log, (long long)out->record->line);
    if (at_config_rebind(a, at_task_space(out->task), &out->record->config, &out->config, err) ==
        AT_OK)
        return AT_OK;
    return at_fail_at(err, "%s: ", out->from);
}

/* What is of no use takes no memory: a log may hold millions of records of other tasks. */
static bool is_wanted(void *ctx, const at_record *r) {
    enum { MOST_UNKNOWN = 20 };
    wish *w = ctx;
    const at_template_row *row;
    w->total++;
    if (w->row) return is_of_template(r, w->row) || (w->line && r->line == w->line);
    if (at_template_find(r->task, &row, NULL) == AT_OK) return true;
    for (int i = 0; i < w->unknown.len; i++)
        if (!strcmp(w->unknown.data[i], r->task)) return false;
    if (w->unknown.len < MOST_UNKNOWN)
        *at_push(w->arena, &w->unknown) = at_strdup(w->arena, r->task);
    return false;
}

static at_status read_log(at_arena *a, const at_engine_options *o, const char *path, wish *w,
                          log_view *out, at_error *err) {
    out->path = path;
    w->arena = at_arena_new(); /* a is rewound where a record is not wanted */
    at_status s =
        at_log_read_wanted(a, path, is_wanted, w, o->warn, o->ctx, &out->records, &out->count, err);
    for (int i = 0; s == AT_OK && i < w->unknown.len; i++)
        at_engine_warn(o, at_format(a,
                                    "%s: %s is no template of this program; left out. With its "
                                    "file: autotune apply FILE.c --log %s",
                                    path, w->unknown.data[i], path));
    at_arena_free(w->arena);
    AT_TRY(s);
    out->total = w->total;
    if (w->total) return AT_OK;
    return at_fail(err, AT_E_INPUT, "%s: holds no record; autotune tune writes them", path);
}

static at_status from_log(at_arena *a, const at_engine_options *o, const at_request *q,
                          at_selection *out, at_error *err) {
    log_view log;
    wish w = {.row = out->row, .line = q->line};
    AT_TRY(read_log(a, o, q->log, &w, &log, err));
    if (q->line) AT_TRY(record_on_line(q->line, &log, out->row, &out->record, err));
    const char *args = q->args;
    if (!args) {
        const at_json *json = NULL;
        if (out->record) json = out->record->args;
        else AT_TRY(only_task(a, out->row, &log, &json, err));
        args = at_json_text(a, json);
    }
    if (at_weight_task(a, q, args, out, err) != AT_OK) {
        /* Arguments that a file holds are the file's fault. */
        if (!q->args && !q->weight) err->status = AT_E_INPUT, at_fail_at(err, "%s: ", q->log);
        return err->status;
    }
    const at_record **all = AT_NEW_ARRAY(a, const at_record *, log.count);
    for (int i = 0; i < log.count; i++) all[i] = &log.records[i];
    if (!out->record) AT_TRY(best_record(a, o, q, &log, all, log.count, out, &out->record, err));
    else if (!o->accept_changed && at_is_of_changed_template(out->record, out->task))
        return at_fail(err, AT_E_NO_VALID,
                       "--line %lld: that record of %s is of another version of %s; "
                       "--accept-changed uses it",
                       (long long)q->line, q->log, out->row->name);
    return take_record(a, q->log, out, err);
}

/* ---- every task of a log -------------------------------------------------------------------- */

/* The records of one task, in their order. */
typedef struct task_records {
    AT_VEC(const at_record *) of;
} task_records;
typedef AT_VEC(task_records) tasks_of_log;

static void group(at_arena *a, const log_view *log, tasks_of_log *out) {
    at_key_map keys = {.arena = a};
    at_text key = {0};
    for (int i = 0; i < log->count; i++) {
        const at_record *r = &log->records[i];
        const at_template_row *row;
        AT_ASSERT(at_template_find(r->task, &row, NULL) == AT_OK);
        at_text_clear(&key);
        at_workload_identity(&key, &(at_record){.task = row->name, .args = r->args});
        int number = at_key_map_add(&keys, at_text_str(&key));
        if (number == out->len) *at_push(a, out) = (task_records){0};
        *at_push(a, &out->data[number].of) = r;
    }
    at_text_free(&key);
}

at_status at_select_record(at_arena *a, const at_request *q, const at_record *r, at_selection *out,
                           at_error *err) {
    AT_TRY(at_template_find(r->task, &out->row, err));
    out->record = r;
    return at_weight_task(a, q, at_json_text(a, r->args), out, err);
}

static at_status select_task_of(at_arena *a, const at_engine_options *o, const at_request *q,
                                const log_view *log, const task_records *t, at_selection *out,
                                at_error *err) {
    const at_record *first = t->of.data[0];
    if (at_select_record(a, q, first, out, err) != AT_OK) {
        at_fail_at(err, "%s:%lld: ", log->path, (long long)first->line);
        return err->status = AT_E_INPUT;
    }
    AT_TRY(best_record(a, o, q, log, t->of.data, t->of.len, out, &out->record, err));
    out->has_config = true;
    return take_record(a, log->path, out, err);
}

at_status at_select_all(at_arena *a, const at_engine_options *o, const at_request *q,
                        at_selection **out, int *n, at_error *err) {
    log_view log;
    wish w = {0};
    tasks_of_log tasks = {0};
    AT_TRY(read_log(a, o, q->log, &w, &log, err));
    group(a, &log, &tasks);
    *out = AT_NEW_ARRAY(a, at_selection, tasks.len);
    *n = 0;
    for (int i = 0; i < tasks.len; i++) {
        at_selection s = {0};
        at_status status = select_task_of(a, o, q, &log, &tasks.data[i], &s, err);
        if (status == AT_E_NO_VALID) at_engine_warn(o, at_format(a, "%s; left out", err->text));
        else if (status != AT_OK) return status;
        if (s.has_config) (*out)[(*n)++] = s;
    }
    if (*n) return AT_OK;
    return at_fail(err, AT_E_NO_VALID, "%s: holds no valid record of a template that is built in",
                   log.path);
}

/* ---- one configuration ---------------------------------------------------------------------- */

at_status at_config_of_text(at_arena *a, const at_engine_options *o, const char *text,
                            at_selection *out, at_error *err) {
    const at_json *json;
    const char *given = text;
    if (!text || !strcmp(text, "default")) {
        out->from = "default";
        return at_task_default_config(a, out->task, at_engine_target(o)->default_lanes,
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
                text);
        AT_TRY(at_read_file(a, text, &read, &len, err));
        text = read;
    }
    at_status s = at_json_parse(a, text, len, &json, err);
    if (s == AT_OK) s = at_config_from_json(a, at_task_space(out->task), json, &out->config, err);
    if (s != AT_OK) {
        at_fail_at(err, "%s: ", out->from);
        return err->status = text == given ? AT_E_USAGE : AT_E_INPUT;
    }
    return AT_OK;
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

at_status at_select_config(at_arena *a, const at_engine_options *o, const at_request *q,
                           at_selection *out, at_error *err) {
    AT_TRY(find_row(q, out, err));
    if (q->log) AT_TRY(from_log(a, o, q, out, err));
    else {
        AT_TRY(at_weight_task(a, q, q->args, out, err));
        if (q->has_index) AT_TRY(from_index(a, q->index, out, err));
        else AT_TRY(at_config_of_text(a, o, q->config, out, err));
    }
    out->has_config = true;
    warn_of_index(o, out);
    return AT_OK;
}
