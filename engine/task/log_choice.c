/* engine/task/log_choice.c: see log_choice.h. */
#include "engine/task/log_choice.h"

#include <string.h>

#include "base/json_value.h"
#include "engine/task/log_others.h"
#include "engine/task/record_use.h"
#include "engine/task/template_change.h"

/* What is kept of tasks without a valid record. That of others is limited as they are chosen. */
enum { MOST_TASK_BYTES = 4 << 20, MOST_UNKNOWN = 20 };

/* Records of a task, failures included, that were measured with one version of its template. */
typedef struct version {
    int task;
    const char *template_hash; /* "": it does not say */
    int64_t count;
} version;

struct at_logged_versions {
    AT_VEC(version) of;
};

typedef struct reading {
    at_arena *arena;                    /* of out */
    const at_template_row *const *rows; /* NULL: every one */
    const at_json *args;                /* NULL: any */
    const char *sketch;                 /* NULL: any */
    at_log_choice *out;
    at_arena *keys_arena;
    at_key_map tasks, versions; /* by their numbers */
    at_key_map unknown;         /* names of the first tasks of no template */
    at_record_uses *uses;
    size_t before; /* bytes of arena */
    at_text key;
} reading;

static bool is_of_template(const at_record *r, const at_template_row *row) {
    const char *name = row->record_name ? row->record_name : row->name;
    return !strcmp(r->task, name) || !strcmp(r->task, row->name);
}

static const at_template_row *template_of(reading *w, const at_record *r) {
    const at_template_row *row;
    for (int i = 0; w->rows && w->rows[i]; i++)
        if (is_of_template(r, w->rows[i])) return w->rows[i];
    if (w->rows) return NULL;
    if (at_template_find(r->task, &row, NULL) == AT_OK) return row;
    if (w->unknown.keys.len < MOST_UNKNOWN) at_key_map_add(&w->unknown, r->task);
    return NULL;
}

static const char *version_of(const at_record *r) {
    return r->extra.present ? r->extra.context.template_hash : "";
}

/* Returns which of the tasks it is. */
static int count(reading *w, const at_template_row *row, const at_record *r) {
    at_text_clear(&w->key);
    at_workload_identity(&w->key, &(at_record){.task = row->name, .args = r->args});
    int task = at_key_map_add(&w->tasks, at_text_str(&w->key));
    if (task == w->out->tasks.len)
        *at_push(w->arena, &w->out->tasks) =
            (at_logged_task){.row = row, .args = at_json_copy(w->arena, r->args), .line = r->line};
    at_text_addf(&w->key, "\n%s", version_of(r));
    int i = at_key_map_add(&w->versions, at_text_str(&w->key));
    if (i == w->out->versions->of.len)
        *at_push(w->arena, &w->out->versions->of) =
            (version){task, at_strdup(w->arena, version_of(r)), 0};
    w->out->versions->of.data[i].count++;
    return task;
}

static bool has_task(reading *w, const at_template_row *row, const at_record *r) {
    at_error why;
    if (at_record_has_task(w->uses, row, r, &why)) return true;
    if (!w->out->unmade++) {
        w->out->unmade_line = r->line;
        w->out->unmade_why = at_strdup(w->arena, why.text);
    }
    return false;
}

/* Failures are none of a configuration's fault. */
static bool fits(reading *w, at_logged_task *t, const at_record *r) {
    at_error why;
    if (!at_record_is_candidate(r) || at_record_use(w->uses, t->row, r, &why) != AT_UNFIT)
        return true;
    if (!t->unfit++) {
        t->unfit_line = r->line;
        t->unfit_why = at_strdup(w->arena, why.text);
    }
    return false;
}

/* An entity names its sketch first. */
static bool is_of_sketch(const at_record *r, const char *sketch) {
    const at_config *c = &r->config;
    bool has_sketch = c->num_knobs && !strcmp(c->names[0], AT_SKETCH_KNOB);
    const char *name = at_json_string_or(has_sketch ? c->entities[0].option : NULL, NULL);
    return name && !strcmp(name, sketch);
}

/* Told each record; what is not of use takes no memory. Which record of one template is wanted is
 * open where it has several tasks: then these are listed, and none of their records is kept. */
static bool is_wanted(void *ctx, const char *path, const at_record *r) {
    reading *w = ctx;
    (void)path;
    w->out->total++;
    const at_template_row *row = template_of(w, r);
    if (!row || w->out->is_full || (w->args && !at_args_equal(r->args, w->args)) ||
        (w->sketch && !is_of_sketch(r, w->sketch)))
        return false;
    if (!has_task(w, row, r)) return false;
    int task = count(w, row, r);
    size_t bytes = at_arena_used(w->arena) - w->before + at_arena_used(w->keys_arena);
    w->out->is_full = bytes > MOST_TASK_BYTES;
    bool is_one = w->rows && !w->rows[1];
    return (!is_one || w->out->tasks.len == 1) && fits(w, &w->out->tasks.data[task], r);
}

static at_status read_all(reading *w, const at_engine_options *o, at_error *err) {
    const char *path = w->out->path;
    at_error why = {0};
    const at_pick_request q = {.logs = &path,
                               .num_logs = 1,
                               .use = is_wanted,
                               .use_ctx = w,
                               .objective = o->objective,
                               .warn = o->warn,
                               .warn_ctx = o->ctx};
    at_status s = at_pick_best(w->arena, &q, &w->out->picks, &w->out->num_picks, &why);
    for (int i = 0; i < w->unknown.keys.len; i++)
        at_engine_warn(o, at_format(w->arena,
                                    "%s: task \"%s\" is of no template of this program; left out. "
                                    "With its file: autotune apply FILE --log %s",
                                    path, w->unknown.keys.data[i], w->out->word));
    /* Which task has no valid record is said when it is asked for. */
    if (s != AT_OK && s != AT_E_NO_VALID) return *err = why, s;
    if (w->out->is_full && !(w->rows && !w->rows[1]))
        return at_fail(err, AT_E_INPUT,
                       "%s: too many different tasks: more than %d MiB; autotune log --split makes "
                       "a log of each",
                       path, MOST_TASK_BYTES >> 20);
    if (w->out->unmade) {
        const char *unmade =
            at_unfit_text(w->arena, path, w->out->unmade_line, w->out->unmade, w->out->unmade_why);
        if (!w->out->tasks.len) return at_fail(err, AT_E_INPUT, "%s", unmade);
        at_engine_warn(o, unmade);
    }
    return AT_OK;
}

at_status at_log_choose(at_arena *a, const at_engine_options *o, const char *path,
                        const at_template_row *const *rows, const at_json *args, const char *sketch,
                        at_log_choice *out, at_error *err) {
    *out = (at_log_choice){.path = path,
                           .word = at_shell_word(a, path),
                           .versions = AT_NEW(a, struct at_logged_versions)};
    at_arena *keys = at_arena_new();
    reading w = {.arena = a,
                 .rows = rows,
                 .args = args,
                 .sketch = sketch,
                 .out = out,
                 .keys_arena = keys,
                 .tasks.arena = keys,
                 .versions.arena = keys,
                 .unknown.arena = keys,
                 .uses = at_record_uses_new(o->accept_changed),
                 .before = at_arena_used(a)};
    at_status s = read_all(&w, o, err);
    at_record_uses_free(w.uses);
    at_text_free(&w.key);
    at_arena_free(keys);
    return s;
}

/* ---- which task ----------------------------------------------------------------------------- */

at_status at_log_only_task(const at_log_choice *c, const at_template_row *row,
                           const at_logged_task **out, at_error *err) {
    enum { MOST_LISTED = 8 };
    if (!c->tasks.len)
        return at_fail(
            err, AT_E_INPUT,
            "%s: holds no record of %s among its %lld record%s; autotune log %s lists its tasks",
            c->path, row->name, (long long)c->total, at_plural(c->total), c->word);
    *out = &c->tasks.data[0];
    if (c->tasks.len == 1) return AT_OK;
    at_text list = {0};
    for (int t = 0; t < c->tasks.len && t < MOST_LISTED; t++) {
        at_text_add(&list, t ? "; " : "");
        at_json_print(&list, c->tasks.data[t].args);
    }
    if (c->tasks.len > MOST_LISTED) at_text_add(&list, "; ...");
    at_status s =
        at_fail(err, AT_E_USAGE, "%s: holds %s%d tasks of %s; choose one with --args: %s", c->path,
                c->is_full ? "more than " : "", c->tasks.len, row->name, at_text_str(&list));
    at_text_free(&list);
    return s;
}

/* ---- which record --------------------------------------------------------------------------- */

static void count_versions(const at_engine_options *o, const at_log_choice *c,
                           const at_logged_task *logged, const at_task *task, int64_t *used,
                           int64_t *changed) {
    for (int i = 0; logged && i < c->versions->of.len; i++) {
        const version *v = &c->versions->of.data[i];
        if (v->task != logged - c->tasks.data) continue;
        bool is_changed = *v->template_hash && strcmp(v->template_hash, at_task_hash(task)) != 0;
        *(is_changed && !o->accept_changed ? changed : used) += v->count;
    }
}

static bool is_pick_of(const at_pick *p, const at_engine_options *o, const at_logged_task *logged,
                       const at_task *task) {
    const at_record *r = &p->record;
    return is_of_template(r, logged->row) && at_args_equal(r->args, logged->args) &&
           (o->accept_changed || !at_is_of_changed_template(r, task));
}

at_status at_log_best(at_arena *a, const at_engine_options *o, const at_log_choice *c,
                      const at_logged_task *logged, const at_task *task, const at_pattern *pattern,
                      const at_pick **out, at_log_others *others, at_error *err) {
    const char *name = at_task_row(task)->name;
    int64_t used = 0, changed = 0;
    int highest = -1, n = 0;
    const at_pick *best = NULL;
    const at_record **of = AT_NEW_ARRAY(a, const at_record *, c->num_picks + 1);
    *out = NULL;
    count_versions(o, c, logged, task, &used, &changed);
    for (int i = 0; logged && i < c->num_picks; i++) {
        if (!is_pick_of(&c->picks[i], o, logged, task)) continue;
        of[n++] = &c->picks[i].record;
        int rank = at_log_rank(a, o, of[n - 1], pattern);
        if (rank > highest || (rank == highest && c->picks[i].time_s < best->time_s))
            highest = rank, best = &c->picks[i];
    }
    *out = best;
    if (best) at_log_find_others(a, o, of, n, pattern, &best->record, others);
    const char *changed_text = changed ? at_changed_text(a, c->path, changed, name) : NULL;
    if (changed && used) at_engine_warn(o, changed_text);
    if (best && !best->is_in_state)
        at_engine_warn(o, at_format(a,
                                    "%s: no pair of %s was timed for --objective %s; the best for "
                                    "what its log is for is taken",
                                    c->path, name, at_objective_name(o->objective)));
    if (logged && logged->unfit) {
        const char *unfit =
            at_unfit_text(a, c->path, logged->unfit_line, logged->unfit, logged->unfit_why);
        if (!*out) return at_fail(err, AT_E_INPUT, "%s", unfit);
        at_engine_warn(o, unfit);
    }
    if (*out) return AT_OK;
    if (changed && !used) return at_fail(err, AT_E_NO_VALID, "%s", changed_text);
    if (used)
        return at_fail(
            err, AT_E_NO_VALID, "%s: %s of %s %s %s; autotune log %s shows the first of each kind",
            c->path,
            used == 1 ? "the only record" : at_format(a, "all %lld records", (long long)used), name,
            at_task_args_text(task), used == 1 ? "is a failure" : "are failures", c->word);
    return at_fail(err, AT_E_INPUT, "%s: holds no record of %s %s; autotune log %s lists its tasks",
                   c->path, name, at_task_args_text(task), c->word);
}

static bool is_on_line(void *line, const at_record *r) { return r->line == *(int64_t *)line; }

at_status at_log_record_on_line(at_arena *a, const at_engine_options *o, const char *path,
                                int64_t line, const at_template_row *row, const at_record **out,
                                at_error *err) {
    at_record *found;
    int n;
    AT_TRY(at_log_read_wanted(a, path, is_on_line, &line, o->warn, o->ctx, &found, &n, NULL, err));
    if (!n)
        return at_fail(
            err, AT_E_USAGE,
            "--line %lld: that line of %s holds no record; autotune log %s --csv lists them",
            (long long)line, path, at_shell_word(a, path));
    if (!is_of_template(found, row))
        return at_fail(err, AT_E_USAGE, "--line %lld: that record of %s is of %s, not of %s",
                       (long long)line, path, found->task, row->name);
    *out = found;
    return AT_OK;
}
