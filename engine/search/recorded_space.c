/* engine/search/recorded_space.c: reading a recorded space. */
#include "engine/search/recorded_space.h"

#include "base/json_value.h"
#include "engine/search/machine_speeds.h"
#include "engine/search/file_space.h"
#include "sketch/sketch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NOT_TOLD = -2 };

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct measured {
    int64_t index;
    double time_s; /* as in at_recorded */
    bool is_bound; /* from below */
} measured;

typedef struct reading {
    at_arena *arena, *scratch;
    const char *path;
    at_warn_fn *warn; /* may be NULL */
    void *ctx;
    at_recorded *to;
    AT_VEC(measured) all;
    at_file_space *file_space; /* of records of no template here; NULL: of a template's */
    int64_t others, strange;
} reading;

static at_status find_task(at_arena *a, const char *task, const at_json *args, at_recorded *to,
                           at_error *err) {
    at_status s = at_task_of_record(a, task, args, &to->task, err);
    if (s != AT_OK) {
        err->status = AT_E_INPUT;
        return s;
    }
    to->space = at_task_space(to->task);
    to->name = at_task_record_name(to->task);
    to->args = at_task_args(to->task);
    to->args_text = at_task_args_text(to->task);
    return AT_OK;
}

/* Whether its knobs are those that its template has. */
static bool is_point(reading *r, const at_record *record) {
    at_config config;
    return at_config_rebind(r->scratch, r->to->space, &record->config, &config, NULL) == AT_OK;
}

/* The task of the first record. A log of a template that is not here, and what another tuner's file
 * has under a name of ours or not, are spaces of their own. */
static at_status begin(reading *r, const at_record *first, bool is_log, at_error *err) {
    at_recorded *to = r->to;
    const at_template_row *row;
    bool known = at_template_find(first->task, &row, NULL) == AT_OK;
    at_status s = known ? find_task(r->arena, first->task, first->args, to, err) : AT_E_INPUT;
    if (known && s != AT_OK && is_log)
        return at_fail_at(err, "%s:%lld: ", r->path, (long long)first->line);
    if (s != AT_OK || (!is_log && !is_point(r, first))) {
        to->task = NULL;
        to->name = at_strdup(r->arena, first->task);
        to->args = at_json_copy(r->arena, first->args);
        to->args_text = at_json_text(r->arena, to->args);
        r->file_space = at_file_space_new(r->arena);
    } else if (at_space_range_length(to->space) > AT_MOST_RECORDED)
        return at_fail(err, AT_E_INPUT, "%s: the space of %s %s has %lld indices; replay takes %d",
                       r->path, to->name, to->args_text,
                       (long long)at_space_range_length(to->space), AT_MOST_RECORDED);
    const at_extra *extra = &first->extra;
    to->extra = (at_extra){.present = extra->present, .same_as = -1};
    to->extra.version = at_strdup(r->arena, extra->version);
    strcpy(to->extra.context_hash, extra->context_hash);
    to->extra.context = at_context_copy(r->arena, &extra->context);
    return AT_OK;
}

/* Of a space that the file makes, the number of the point until the space is there. */
static int64_t index_of(reading *r, const at_record *record) {
    at_config config;
    if (r->file_space) return at_file_space_add(r->file_space, &record->config) ? r->all.len : -1;
    if (at_config_rebind(r->scratch, r->to->space, &record->config, &config, NULL) != AT_OK)
        return -1;
    return at_space_is_valid(r->to->space, config.index) ? config.index : -1;
}

static void take(reading *r, const at_record *record) {
    at_recorded *to = r->to;
    if (!at_same_task(record->task, record->args, to->name, to->args) ||
        strcmp(record->extra.context_hash, to->extra.context_hash)) {
        r->others++;
        return;
    }
    double time_s = record->error_no ? -record->error_no : at_record_mean(record);
    if (!record->error_no && !at_can_be_time(time_s)) return;
    int64_t index = index_of(r, record);
    if (index < 0) {
        r->strange++;
        return;
    }
    *at_push(r->arena, &r->all) = (measured){index, time_s, at_record_is_at_least(record)};
    if (to->first_s == 0 || record->timestamp_s < to->first_s) to->first_s = record->timestamp_s;
    if (record->timestamp_s > to->last_s) to->last_s = record->timestamp_s;
}

/* The points have their indices now. */
static at_status end_file_space(reading *r, at_error *err) {
    const int64_t *indices;
    if (!r->all.len)
        return at_fail(err, AT_E_INPUT, "%s: holds no result of %s", r->path, r->to->name);
    if (at_file_space_end(r->file_space, &r->to->space, &indices, err) != AT_OK)
        return at_fail_at(err, "%s: ", r->path);
    for (int i = 0; i < r->all.len; i++) r->all.data[i].index = indices[i];
    return AT_OK;
}

/* By index; bounds behind, then failures. */
static int by_index(const void *x, const void *y) {
    const measured *a = x, *b = y;
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    if ((a->time_s > 0) != (b->time_s > 0)) return a->time_s > 0 ? -1 : 1;
    if (a->is_bound != b->is_bound) return a->is_bound ? 1 : -1;
    return (a->time_s > b->time_s) - (a->time_s < b->time_s);
}

/* Of a point that was measured several times the median counts; what is only known to be slower
 * than so much has the lowest such time, as a search is told it. */
static void take_medians(reading *r) {
    const measured *all = r->all.data;
    if (r->all.len) qsort(r->all.data, (size_t)r->all.len, sizeof *all, by_index);
    for (int i = 0, end, valid; i < r->all.len; i = end) {
        for (end = i, valid = 0; end < r->all.len && all[end].index == all[i].index; end++)
            valid += all[end].time_s > 0 && !all[end].is_bound;
        r->to->time_s[at_space_place(r->to->space, all[i].index)] =
            all[valid ? i + (valid - 1) / 2 : i].time_s;
    }
}

static int descending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

static void sort_shares(at_arena *a, at_recorded *to) {
    int64_t n = 0, best = -1, places = at_space_num_places(to->space);
    to->points = at_space_len(to->space);
    for (int64_t i = 0; i < places; i++) {
        double time_s = to->time_s[i];
        to->recorded += time_s != 0;
        if (time_s > 0 && (to->best_s == 0 || time_s < to->best_s)) {
            to->best_s = time_s;
            best = i;
        }
    }
    if (to->winner == NOT_TOLD) to->winner = best < 0 ? -1 : at_space_at_place(to->space, best);
    to->shares = AT_NEW_ARRAY(a, double, to->points);
    for (int64_t i = 0; i < places && n < to->points; i++)
        if (to->time_s[i] > 0) to->shares[n++] = to->best_s / to->time_s[i];
    qsort(to->shares, (size_t)n, sizeof *to->shares, descending);
}

static void warn_of_skipped(const reading *r) {
    if (!r->warn) return;
    if (r->others)
        r->warn(r->ctx, at_format(r->arena, "%s: %lld record%s of other tasks or contexts; ignored",
                                  r->path, (long long)r->others, at_plural(r->others)));
    if (r->strange)
        r->warn(r->ctx, at_format(r->arena, "%s: %lld record%s of no point of the space; ignored",
                                  r->path, (long long)r->strange, at_plural(r->strange)));
}

/* Finals count here too, though searches are answered with the times of trials. */
static at_status find_winner(reading *r, at_error *err) {
    at_recorded *to = r->to;
    at_log_summary s;
    at_config config;
    to->winner = -1;
    struct stat st;
    if (stat(r->path, &st) != 0 || !S_ISREG(st.st_mode)) return AT_OK;
    AT_TRY(at_log_summarise(r->arena, r->path, NULL, NULL, NULL, NULL, &s, err));
    for (int i = 0; i < s.num_groups; i++) {
        const at_log_group *g = &s.groups[i];
        if (!g->best || !at_same_task(g->task, g->args, to->name, to->args) ||
            strcmp(g->context_hash, to->extra.context_hash))
            continue;
        if (at_config_rebind(r->arena, to->space, &g->best->record.config, &config, NULL) == AT_OK)
            to->winner = config.index;
        break;
    }
    return AT_OK;
}

static at_status read_log(reading *r, at_error *err) {
    at_log_reader *log;
    at_record record;
    AT_TRY(at_log_reader_open(r->path, r->warn, r->ctx, &log, err));
    at_status s = AT_OK;
    while (s == AT_OK && at_log_reader_next(log, &record)) {
        at_arena_reset(r->scratch);
        if (!r->to->name) s = begin(r, &record, true, err);
        if (s == AT_OK) take(r, &record);
    }
    if (s == AT_OK) s = at_log_reader_status(log, err);
    at_log_reader_close(log);
    return s;
}

static at_status read_other(reading *r, at_error *err) {
    const at_file_format *format;
    at_exchange x = {.arena = r->arena, .warn = r->warn, .ctx = r->ctx};
    at_record *records;
    int n;
    AT_TRY(at_exchange_read(&x, r->path, &format, &records, &n, err));
    for (int i = 0; i < n; i++) {
        at_arena_reset(r->scratch);
        if (!r->to->name) AT_TRY(begin(r, &records[i], false, err));
        take(r, &records[i]);
    }
    return AT_OK;
}

static at_status read_file(reading *r, at_error *err) {
    bool other;
    AT_TRY(at_is_exchange_file(r->path, &other, err));
    r->scratch = at_arena_new();
    at_status s = other ? read_other(r, err) : read_log(r, err);
    at_arena_free(r->scratch);
    AT_TRY(s);
    if (!r->to->name) return at_fail(err, AT_E_INPUT, "%s: holds no record", r->path);
    if (r->file_space) AT_TRY(end_file_space(r, err));
    r->to->time_s = AT_NEW_ARRAY(r->arena, double, at_space_num_places(r->to->space));
    take_medians(r);
    return other || r->file_space ? AT_OK : find_winner(r, err);
}

static bool has_knobs_of_file(at_arena *a, const at_space_file *f, const at_recorded *to) {
    return !strcmp(at_json_text(a, f->knobs), at_json_text(a, at_space_knobs(a, to->space)));
}

/* Has the template its first knob? A file of another tuner may bear the name of one of ours. */
static bool is_of_template(const at_space_file *f, const at_recorded *to) {
    const char *name = at_json_string_in(f->knobs->child, "name");
    return name && at_space_find_knob(to->space, name) >= 0;
}

/* Of no template here: the space is what the file holds. */
static at_status take_own_space(at_arena *a, const at_space_file *f, at_recorded *to,
                                at_error *err) {
    int64_t *recorded = AT_NEW_ARRAY(a, int64_t, f->range), n = 0;
    for (int64_t i = 0; i < f->range; i++)
        if (f->time_s[i] != 0) recorded[n++] = i;
    if (f->knobs->child && at_json_get(f->knobs->child, "knobs"))
        return at_fail(err, AT_E_INPUT, "there is no computation \"%s\" here; name its file",
                       f->task);
    if (!n) return at_fail(err, AT_E_INPUT, "holds no result of %s", f->task);
    AT_TRY(at_file_space_of_knobs(a, f->knobs, recorded, n, &to->space, err));
    to->task = NULL;
    to->name = f->task;
    to->args = f->args;
    to->args_text = at_json_text(a, f->args);
    to->time_s = AT_NEW_ARRAY(a, double, at_space_num_places(to->space));
    for (int64_t i = 0; i < n; i++)
        to->time_s[at_space_place(to->space, recorded[i])] = f->time_s[recorded[i]];
    return AT_OK;
}

/* What a file of a template's space holds is of use only as long as indices mean the same. */
static at_status read_space_file(at_arena *a, const char *path, at_recorded *out, at_error *err) {
    at_space_file file;
    const at_template_row *row;
    AT_TRY(at_space_file_read(a, path, &file, err));
    const bool is_known = at_template_find(file.task, &row, NULL) == AT_OK;
    if (is_known && find_task(a, file.task, file.args, out, err) != AT_OK)
        return at_fail_at(err, "%s: ", path);
    const bool is_ours = is_known && has_knobs_of_file(a, &file, out);
    if (is_known && !is_ours && is_of_template(&file, out))
        return at_fail(err, AT_E_INPUT, "%s: its knobs are not those that %s %s has here", path,
                       out->name, out->args_text);
    out->time_s = file.time_s;
    if (!is_ours && take_own_space(a, &file, out, err) != AT_OK)
        return at_fail_at(err, "%s: ", path);
    if (file.machine) {
        at_speed_table *t = AT_NEW(a, at_speed_table);
        if (at_speed_table_read(file.machine, t, err) != AT_OK)
            return at_fail_at(err, "%s: recorded space: \"machine\": ", path);
        out->machine = t;
    }
    out->extra = file.extra;
    out->first_s = file.first_s;
    out->last_s = file.last_s;
    return AT_OK;
}

/* A log of this machine, where that has been measured. */
static const at_speed_table *machine_of_log(at_arena *a, const at_recorded *r) {
    at_speed_table *t = AT_NEW(a, at_speed_table);
    const char *cpu = r->extra.present ? r->extra.context.cpu : NULL;
    return cpu && !strcmp(cpu, at_cpu_facts()->name) && at_speeds_kept(t) ? t : NULL;
}

static const at_json *json_of(at_arena *a, const at_speed_table *t) {
    at_text text = {0};
    const at_json *json;
    if (!t) return NULL;
    at_speed_table_print(&text, t);
    AT_ASSERT(at_json_parse(a, at_strdup(a, at_text_str(&text)), text.len, &json, NULL) == AT_OK);
    at_text_free(&text);
    return json;
}

at_status at_recorded_read(at_arena *a, const char *path, at_warn_fn *warn, void *ctx,
                           at_recorded *out, at_error *err) {
    reading r = {.arena = a, .path = path, .warn = warn, .ctx = ctx, .to = out};
    *out = (at_recorded){.winner = NOT_TOLD};
    if (at_is_space_file(path)) AT_TRY(read_space_file(a, path, out, err));
    else {
        AT_TRY(read_file(&r, err));
        out->machine = machine_of_log(a, out);
    }
    sort_shares(a, out);
    if (out->best_s == 0)
        return at_fail(err, AT_E_INPUT, "%s: all %lld records of %s %s are failures", path,
                       (long long)out->recorded, out->name, out->args_text);
    warn_of_skipped(&r);
    return AT_OK;
}

at_status at_recorded_print(at_arena *a, const at_recorded *r, at_text *out, at_error *err) {
    const int64_t range = at_space_range_length(r->space), places = at_space_num_places(r->space);
    if (range > AT_MOST_RECORDED)
        return at_fail(err, AT_E_INPUT, "%s: its knobs have %lld combinations; %d are written",
                       r->name, (long long)range, AT_MOST_RECORDED);
    double *time_s = AT_NEW_ARRAY(a, double, range);
    for (int64_t i = 0; i < places; i++) time_s[at_space_at_place(r->space, i)] = r->time_s[i];
    at_space_file_print(out, &(at_space_file){.task = r->name,
                                              .args = r->args,
                                              .knobs = at_space_knobs(a, r->space),
                                              .extra = r->extra,
                                              .first_s = r->first_s,
                                              .last_s = r->last_s,
                                              .range = range,
                                              .time_s = time_s,
                                              .machine = json_of(a, r->machine)});
    return AT_OK;
}
