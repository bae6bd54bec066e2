/* engine/recorded_space.c: reading a recorded space, and searching it many times. */
#include "engine/recorded_space.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const double at_goals[AT_NUM_GOALS] = {0.9, 0.95, 0.99};

/* One number per index is kept. */
enum { MOST_INDICES = 100000000 };

/* ---- reading -------------------------------------------------------------------------------- */

typedef struct measured {
    int64_t index;
    double time_s; /* as in at_recorded */
} measured;

typedef struct reading {
    at_arena *arena, *scratch;
    const char *path;
    at_warn_fn *warn; /* may be NULL */
    void *ctx;
    at_recorded *to;
    AT_VEC(measured) all;
    int64_t others, strange;
} reading;

static const char *task_name(const at_recorded *r) { return at_task_record_name(r->task); }

static at_status find_task(at_arena *a, const char *task, const at_json *args, at_recorded *to,
                           at_error *err) {
    at_status s = at_task_of_record(a, task, args, &to->task, err);
    if (s != AT_OK) {
        err->status = AT_E_INPUT;
        return s;
    }
    to->space = at_task_space(to->task);
    to->points = at_space_len(to->space);
    return AT_OK;
}

/* The task of the first record. */
static at_status begin(reading *r, const at_record *first, at_error *err) {
    at_recorded *to = r->to;
    if (find_task(r->arena, first->task, first->args, to, err) != AT_OK)
        return at_fail_at(err, "%s:%lld: ", r->path, (long long)first->line);
    int64_t range = at_space_range_length(to->space);
    if (range > MOST_INDICES)
        return at_fail(err, AT_E_INPUT, "%s: the space of %s %s has %lld indices; replay takes %d",
                       r->path, task_name(to), at_task_args_text(to->task), (long long)range,
                       MOST_INDICES);
    const at_extra *extra = &first->extra;
    to->extra = (at_extra){.present = extra->present, .same_as = -1};
    to->extra.version = at_strdup(r->arena, extra->version);
    strcpy(to->extra.context_hash, extra->context_hash);
    to->extra.context = at_context_copy(r->arena, &extra->context);
    to->time_s = AT_NEW_ARRAY(r->arena, double, range);
    return AT_OK;
}

static void take(reading *r, const at_record *record) {
    at_config config;
    at_recorded *to = r->to;
    if (strcmp(record->task, task_name(to)) ||
        strcmp(record->extra.context_hash, to->extra.context_hash) ||
        !at_args_equal(record->args, at_task_args(to->task))) {
        r->others++;
        return;
    }
    if (at_config_rebind(r->scratch, to->space, &record->config, &config, NULL) != AT_OK ||
        config.index < 0 || !at_space_is_valid(to->space, config.index)) {
        r->strange++;
        return;
    }
    double mean_s = at_record_mean(record);
    measured m = {config.index, record->error_no ? -record->error_no : mean_s};
    if (m.time_s != 0 && isfinite(m.time_s)) *at_push(r->arena, &r->all) = m;
    if (to->first_s == 0 || record->timestamp_s < to->first_s) to->first_s = record->timestamp_s;
    if (record->timestamp_s > to->last_s) to->last_s = record->timestamp_s;
}

/* By index; failures behind. */
static int by_index(const void *x, const void *y) {
    const measured *a = x, *b = y;
    if (a->index != b->index) return a->index < b->index ? -1 : 1;
    if ((a->time_s > 0) != (b->time_s > 0)) return a->time_s > 0 ? -1 : 1;
    return (a->time_s > b->time_s) - (a->time_s < b->time_s);
}

/* Of a point that was measured several times the median counts. */
static void take_medians(reading *r) {
    const measured *all = r->all.data;
    if (r->all.len) qsort(r->all.data, (size_t)r->all.len, sizeof *all, by_index);
    for (int i = 0, end, valid; i < r->all.len; i = end) {
        for (end = i, valid = 0; end < r->all.len && all[end].index == all[i].index; end++)
            valid += all[end].time_s > 0;
        r->to->time_s[all[i].index] = all[valid ? i + (valid - 1) / 2 : i].time_s;
    }
}

static int descending(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a < b) - (a > b);
}

static void sort_shares(at_arena *a, at_recorded *to) {
    int64_t n = 0, range = at_space_range_length(to->space);
    for (int64_t i = 0; i < range; i++) {
        double time_s = to->time_s[i];
        to->recorded += time_s != 0;
        if (time_s > 0 && (to->best_s == 0 || time_s < to->best_s)) to->best_s = time_s;
    }
    to->shares = AT_NEW_ARRAY(a, double, to->points);
    for (int64_t i = 0; i < range && n < to->points; i++)
        if (to->time_s[i] > 0) to->shares[n++] = to->best_s / to->time_s[i];
    qsort(to->shares, (size_t)n, sizeof *to->shares, descending);
}

static void warn_of_skipped(const reading *r) {
    if (!r->warn) return;
    if (r->others)
        r->warn(r->ctx, at_format(r->arena, "%s: %lld records of other tasks or contexts; ignored",
                                  r->path, (long long)r->others));
    if (r->strange)
        r->warn(r->ctx, at_format(r->arena, "%s: %lld records of no point of the space; ignored",
                                  r->path, (long long)r->strange));
}

static at_status read_records(reading *r, at_log_reader *log, at_error *err) {
    at_record record;
    at_status s = AT_OK;
    while (s == AT_OK && at_log_reader_next(log, &record)) {
        at_arena_reset(r->scratch);
        if (!r->to->task) s = begin(r, &record, err);
        if (s == AT_OK) take(r, &record);
    }
    return s == AT_OK ? at_log_reader_status(log, err) : s;
}

static at_status read_log(reading *r, at_error *err) {
    at_log_reader *log;
    AT_TRY(at_log_reader_open(r->path, r->warn, r->ctx, &log, err));
    r->scratch = at_arena_new();
    at_status s = read_records(r, log, err);
    at_log_reader_close(log);
    at_arena_free(r->scratch);
    AT_TRY(s);
    take_medians(r);
    return r->to->task ? AT_OK : at_fail(err, AT_E_INPUT, "%s: holds no record", r->path);
}

/* Finals count here too, though searches are answered with the times of trials. */
static at_status find_winner(reading *r, at_error *err) {
    at_recorded *to = r->to;
    at_log_summary s;
    at_config config;
    struct stat st;
    if (stat(r->path, &st) != 0 || !S_ISREG(st.st_mode)) return AT_OK;
    AT_TRY(at_log_summarise(r->arena, r->path, NULL, NULL, &s, err));
    for (int i = 0; i < s.num_groups; i++) {
        const at_log_group *g = &s.groups[i];
        if (!g->best || strcmp(g->task, task_name(to)) ||
            strcmp(g->context_hash, to->extra.context_hash) ||
            !at_args_equal(g->args, at_task_args(to->task)))
            continue;
        if (at_config_rebind(r->arena, to->space, &g->best->record.config, &config, NULL) == AT_OK)
            to->winner = config.index;
        break;
    }
    return AT_OK;
}

/* What a file of a space holds is of use only as long as indices mean the same. */
static at_status read_space_file(at_arena *a, const char *path, at_recorded *out, at_error *err) {
    at_space_file file;
    AT_TRY(at_space_file_read(a, path, &file, err));
    if (find_task(a, file.task, file.args, out, err) != AT_OK) return at_fail_at(err, "%s: ", path);
    if (strcmp(at_json_text(a, file.knobs), at_json_text(a, at_space_knobs(a, out->space))) != 0)
        return at_fail(err, AT_E_INPUT, "%s: its knobs are not those that %s %s has here", path,
                       task_name(out), at_task_args_text(out->task));
    out->extra = file.extra;
    out->first_s = file.first_s;
    out->last_s = file.last_s;
    out->time_s = file.time_s;
    for (int64_t i = 0; i < file.range; i++)
        if (file.time_s[i] > 0 && (out->winner < 0 || file.time_s[i] < file.time_s[out->winner]))
            out->winner = i;
    return AT_OK;
}

at_status at_recorded_read(at_arena *a, const char *path, at_warn_fn *warn, void *ctx,
                           at_recorded *out, at_error *err) {
    reading r = {.arena = a, .path = path, .warn = warn, .ctx = ctx, .to = out};
    *out = (at_recorded){.winner = -1};
    if (at_is_space_file(path)) AT_TRY(read_space_file(a, path, out, err));
    else {
        AT_TRY(read_log(&r, err));
        AT_TRY(find_winner(&r, err));
    }
    sort_shares(a, out);
    if (out->best_s == 0)
        return at_fail(err, AT_E_INPUT, "%s: all %lld records of %s %s are failures", path,
                       (long long)out->recorded, task_name(out), at_task_args_text(out->task));
    warn_of_skipped(&r);
    return AT_OK;
}

void at_recorded_print(at_arena *a, const at_recorded *r, at_text *out) {
    at_space_file_print(out, &(at_space_file){.task = task_name(r),
                                              .args = at_task_args(r->task),
                                              .knobs = at_space_knobs(a, r->space),
                                              .extra = r->extra,
                                              .first_s = r->first_s,
                                              .last_s = r->last_s,
                                              .range = at_space_range_length(r->space),
                                              .time_s = r->time_s});
}

/* ---- random search, computed ---------------------------------------------------------------- */

/* The i-th best of n is the best of t drawn with probability C(n-i-1, t-1) / C(n, t). */
double at_recorded_expected_share(const at_recorded *r, int64_t trials) {
    int64_t n = r->points, t = trials < n ? trials : n;
    double p = (double)t / (double)n, share = 0;
    for (int64_t i = 0; i < n && p > 0; i++) {
        share += p * r->shares[i];
        p *= (double)(n - i - t) / (double)(n - i - 1);
    }
    return share;
}

/* Mean of a negative hypergeometric distribution. */
double at_recorded_expected_trials(const at_recorded *r, double share) {
    int64_t good = 0;
    while (good < r->points && r->shares[good] >= share) good++;
    return (double)(r->points + 1) / (double)(good + 1);
}

/* ---- searches ------------------------------------------------------------------------------- */

static int ascending_floats(const void *x, const void *y) {
    float a = *(const float *)x, b = *(const float *)y;
    return (a > b) - (a < b);
}

/* Tuners look for speed; where there are no multiply-adds, any measure of it is as good. */
static double scored_work(const at_task *t) { return at_task_flops(t) > 0 ? at_task_flops(t) : 1; }

/* One search; its curve goes to column `repeat`. An exhausted space ends it with the optimum. */
static at_status search(const at_recorded *r, const at_tuner_options *o, at_searches *s, int repeat,
                        double (*to)[AT_NUM_GOALS], at_error *err) {
    at_tuner *tuner;
    double best = 0;
    int64_t index;
    AT_TRY(at_tuner_new(s->tuner, r->space, o, &tuner, err));
    for (int g = 0; g < AT_NUM_GOALS; g++) to[repeat][g] = INFINITY;
    for (int t = 0; t < s->trials; t++) {
        if (at_tuner_next(tuner, &index, 1) == 1) {
            double time_s = r->time_s[index];
            bool valid = time_s > 0;
            at_tuner_update(
                tuner, &(at_trial){index, valid, valid ? scored_work(r->task) / time_s * 1e-9 : 0},
                1);
            if (valid && r->best_s / time_s > best) best = r->best_s / time_s;
        }
        for (int g = 0; g < AT_NUM_GOALS; g++)
            if (best >= at_goals[g] && to[repeat][g] > t + 1) to[repeat][g] = t + 1;
        s->best[(size_t)t * (size_t)s->repeats + (size_t)repeat] = (float)best;
    }
    at_tuner_free(tuner);
    return AT_OK;
}

at_status at_recorded_search(at_arena *a, const at_recorded *r, const char *tuner,
                             at_tuner_options o, int trials, int repeats, at_searches *out,
                             at_error *err) {
    *out = (at_searches){.tuner = tuner, .repeats = repeats};
    out->trials = trials < r->points ? trials : (int)r->points;
    out->best = AT_NEW_ARRAY(a, float, (int64_t)out->trials *repeats);
    double(*to)[AT_NUM_GOALS] = at_alloc(a, sizeof *to * (size_t)repeats);
    double *column = AT_NEW_ARRAY(a, double, repeats);
    int64_t begin_ns = at_now_ns();
    for (int i = 0; i < repeats; i++, o.seed++) AT_TRY(search(r, &o, out, i, to, err));
    out->seconds = (double)(at_now_ns() - begin_ns) * 1e-9 / repeats;
    for (int t = 0; t < out->trials; t++)
        qsort(out->best + (size_t)t * (size_t)repeats, (size_t)repeats, sizeof *out->best,
              ascending_floats);
    for (int g = 0; g < AT_NUM_GOALS; g++) {
        for (int i = 0; i < repeats; i++) column[i] = to[i][g];
        at_sort_doubles(column, repeats);
        out->to[g] = at_sorted_median(column, repeats);
    }
    return AT_OK;
}

double at_searches_share(const at_searches *s, int64_t trials, double quantile) {
    if (trials > s->trials) trials = s->trials;
    const float *row = s->best + (size_t)(trials - 1) * (size_t)s->repeats;
    double at = quantile * (s->repeats - 1);
    int low = (int)at, high = low + 1 < s->repeats ? low + 1 : low;
    return (double)row[low] + (at - low) * (double)(row[high] - row[low]);
}
