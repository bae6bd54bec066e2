/* view/curve.c: from the lines of logs to searches, task by task. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/curve.h"
#include "templates/task.h"
#include "sketch/sketch.h"

/* A log does not say where a later run went on with it; no search takes a minute to choose its next
 * trial. */
static const double pause_s = 60;

/* Nobody looks at more: pictures of tasks and searches in them, and knobs of a task. */
enum { MOST_SEARCHES = 2000, MOST_KNOBS = 2000 };

typedef struct reading {
    bool too_many; /* searches, or knobs */
    int searches;
    at_arena *arena;
    const char *path, *only;
    at_pick_fn *use;
    void *use_ctx;
    at_curves *out;
    double last_s;            /* timestamp of the record before, in this log */
    const at_series *last_of; /* its series */
    at_finals finals;         /* of this log */
    at_text text;
} reading;

/* ---- panels and series ---------------------------------------------------------------------- */

/* Of a task that a template here computes too: operations, in few signs what it is, and by which
 * template. */
static void describe_task(reading *g, const at_record *r, at_panel *p) {
    at_arena *a = at_arena_new();
    at_task *task;
    if (at_task_of_record(a, r->task, r->args, &task, NULL) == AT_OK) {
        const double flops = at_task_flops(task);
        p->flops = flops > 0 ? flops : 0;
        p->label = at_task_title(g->arena, task);
        p->by = at_strdup(g->arena, at_task_row(task)->name);
    }
    at_arena_free(a);
    at_text name = {0};
    at_text_add_record_name(&name, r->task, r->args);
    p->name = at_text_take(g->arena, &name);
}

/* NULL: not wanted. */
static at_panel *panel_of(reading *g, const at_record *r) {
    for (int i = 0; i < g->out->panels.len; i++) {
        at_panel *p = g->out->panels.data[i];
        if (at_same_task(p->task, p->args, r->task, r->args)) return p;
    }
    at_text_clear(&g->text);
    at_text_add_record_task(&g->text, r->task, r->args);
    at_panel new = {0};
    describe_task(g, r, &new);
    if (g->only && !strstr(at_text_str(&g->text), g->only) && !strstr(new.name, g->only))
        return NULL;
    if (g->searches == MOST_SEARCHES) {
        g->too_many = true;
        return NULL;
    }
    at_panel *p = at_copy(g->arena, &new, sizeof new);
    p->task = at_strdup(g->arena, r->task);
    p->args = at_json_copy(g->arena, r->args);
    p->title = at_strdup(g->arena, at_text_str(&g->text));
    *at_push(g->arena, &g->out->panels) = p;
    return p;
}

/* What is usual is not said. */
static const char *where_of(at_arena *a, const at_context *c) {
    const char *threads = c->threads > 1 ? at_format(a, ", %d threads", c->threads) : "";
    at_packing packing = AT_PACKING_AHEAD;
    at_cache cache = AT_CACHE_HOT;
    at_packing_from_name(c->packing, &packing);
    at_cache_from_name(c->cache, &cache);
    return at_format(a, "%s %s%s%s%s", c->compiler, c->isa,
                     packing == AT_PACKING_INLINE ? ", packed inline" : "",
                     cache == AT_CACHE_COLD           ? ", cold caches"
                     : cache == AT_CACHE_WEIGHTS_COLD ? ", cold weights"
                                                      : "",
                     threads);
}

/* NULL: there are too many. */
static at_series *series_of(reading *g, at_panel *p, const at_record *r) {
    const at_extra *e = &r->extra;
    const char *identity = e->present ? e->context_hash : r->target;
    const char *tuner = e->present && e->tuner ? e->tuner : "";
    for (int i = 0; i < p->series.len; i++) {
        at_series *s = p->series.data[i];
        if (s->log == g->path && !strcmp(s->identity, identity) && !strcmp(s->tuner, tuner))
            return s;
    }
    if (g->searches == MOST_SEARCHES) {
        g->too_many = true;
        return NULL;
    }
    g->searches++;
    at_series *s = AT_NEW(g->arena, at_series);
    *s = (at_series){.log = g->path,
                     .tuner = at_strdup(g->arena, tuner),
                     .identity = at_strdup(g->arena, identity),
                     .where = e->present ? where_of(g->arena, &e->context)
                                         : at_strdup(g->arena, r->target),
                     .best = -1,
                     .winner = -1};
    *at_push(g->arena, &p->series) = s;
    return s;
}

/* ---- winners -------------------------------------------------------------------------------- */

static uint64_t hash_of(const char *key) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add_str(&h, key);
    return h.lo;
}

static uint64_t finalist_of(reading *g, const at_record *r) {
    if (!r->extra.present) return 0;
    at_text_clear(&g->text);
    at_finals_key(&g->text, r);
    return hash_of(at_text_str(&g->text));
}

static int by_finalist(const void *x, const void *y) {
    const at_point *a = *(at_point *const *)x, *b = *(at_point *const *)y;
    return (a->finalist > b->finalist) - (a->finalist < b->finalist);
}

/* The points of a series that finalist number i is. */
static void give_finals(reading *g, const at_series *s, at_point **sorted, int i,
                        at_contender *contenders) {
    at_final_line who;
    at_point key = {.finalist = hash_of(g->finals.keys.keys.data[i])}, *to = &key;
    int n = s->points.len, turns;
    at_point **at = bsearch(&to, sorted, (size_t)n, sizeof *sorted, by_finalist);
    if (!at) return;
    while (at > sorted && at[-1]->finalist == key.finalist) at--;
    for (; at < sorted + n && (*at)->finalist == key.finalist; at++) {
        at_contender *c = &contenders[*at - s->points.data];
        c->finals = at_finals_get(&g->finals, i, &who, &turns);
        c->num_finals = turns;
    }
}

static void find_winner(reading *g, at_series *s) {
    int n = s->points.len, valid = 0;
    at_arena *a = at_arena_new();
    at_point **sorted = AT_NEW_ARRAY(a, at_point *, n);
    at_contender *all = AT_NEW_ARRAY(a, at_contender, n);
    int *points = AT_NEW_ARRAY(a, int, n);
    for (int i = 0; i < n; i++) sorted[i] = &s->points.data[i];
    qsort(sorted, (size_t)n, sizeof *sorted, by_finalist);
    for (int i = 0; i < g->finals.of.len; i++) give_finals(g, s, sorted, i, all);
    for (int i = 0; i < n; i++) {
        const at_point *p = &s->points.data[i];
        if (p->error_no) continue;
        points[valid] = i;
        all[valid] = all[i];
        all[valid++].mean_s = p->time_s;
    }
    int winner = at_winner(all, valid);
    if (winner >= 0) {
        const at_contender *c = &all[winner];
        s->winner = points[winner];
        s->won_final = c->num_finals > 0;
        s->winner_speed = s->won_final ? c->finals[c->num_finals - 1].time_s : c->mean_s;
    }
    at_arena_free(a);
}

/* ---- trials --------------------------------------------------------------------------------- */

const char *at_knob_text(at_text *out, const at_entity *e) {
    at_text_clear(out);
    if (e->kind == AT_KNOB_OPTION) {
        at_json_print(out, e->option);
        return at_text_str(out);
    }
    at_text_add(out, "[");
    for (int i = 0; i < e->n; i++) {
        if (i) at_text_add(out, ", ");
        if (e->kind == AT_KNOB_ANNOTATE && e->marks) at_text_add_visible(out, e->marks[i]);
        else at_text_addf(out, "%lld", (long long)e->sizes[i]);
    }
    at_text_add(out, "]");
    return at_text_str(out);
}

static at_knob_values *knob_of(at_arena *a, at_panel *p, const char *name) {
    p->knob_numbers.arena = a;
    int k = at_key_map_add(&p->knob_numbers, name);
    if (k == p->knobs.len)
        *at_push(a, &p->knobs) = (at_knob_values){.name = p->knob_numbers.keys.data[k]};
    return &p->knobs.data[k];
}

static at_knob_value *value_of(at_arena *a, at_knob_values *k, const char *text) {
    k->numbers.arena = a;
    int i = at_key_map_add(&k->numbers, text);
    if (i == k->values.len)
        *at_push(a, &k->values) = (at_knob_value){.text = k->numbers.keys.data[i]};
    return &k->values.data[i];
}

static void count_knobs(reading *g, at_panel *p, const at_record *r, const at_point *point) {
    const at_config *c = &r->config;
    for (int i = 0; i < c->num_knobs; i++) {
        at_knob_values *k = knob_of(g->arena, p, c->names[i]);
        at_knob_value *v = value_of(g->arena, k, at_knob_text(&g->text, &c->entities[i]));
        v->trials += at_record_is_trial(r);
        if (point->error_no == AT_POINT_AT_LEAST) continue;
        if (point->error_no) v->failed++;
        else
            *at_push(g->arena, &v->speeds) = point->time_s; /* speeds later, when flops are known */
    }
    if (p->knobs.len > MOST_KNOBS) g->too_many = true;
}

/* Seconds since the trial before: what lies between two runs, or between the lines of two logs that
 * were put together, is none of the search's. */
static double step_s(reading *g, at_series *s, const at_record *r) {
    double gap_s = r->timestamp_s - g->last_s;
    bool follows = g->last_of == s;
    g->last_s = r->timestamp_s;
    g->last_of = s;
    if (!follows) return r->all_cost_s;
    if (gap_s >= 0 && gap_s - r->all_cost_s < pause_s) return gap_s;
    s->has_pauses = true;
    return r->all_cost_s;
}

static void add(reading *g, const at_record *r) {
    at_panel *p = panel_of(g, r);
    if (!p) return;
    at_series *s = series_of(g, p, r);
    if (!s) return;
    const at_point before = s->points.len ? s->points.data[s->points.len - 1] : (at_point){0};
    at_point *point = at_push(g->arena, &s->points);
    bool checked = at_record_is_candidate(r);
    bool valid = checked && (!g->use || g->use(g->use_ctx, g->path, r));
    *point = (at_point){.finalist = finalist_of(g, r),
                        .seconds = before.seconds + step_s(g, s, r),
                        .trial = before.trial + at_record_is_trial(r),
                        .time_s = valid ? at_record_mean(r) : 0,
                        .error_no = valid                      ? 0
                                    : checked                  ? AT_POINT_NOT_USED
                                    : at_record_is_at_least(r) ? AT_POINT_AT_LEAST
                                    : r->error_no              ? r->error_no
                                                               : AT_POINT_UNCHECKED};
    if (valid && r->extra.gflops > 0 && !p->flops) {
        p->flops = r->extra.gflops * 1e9 * point->time_s;
        p->in_bytes = r->extra.in_bytes;
        p->of_dots = r->extra.of_dots;
    }
    if (point->error_no != AT_POINT_NOT_USED) count_knobs(g, p, r, point);
}

static at_status read_log(reading *g, at_error *err) {
    at_log_reader *reader;
    AT_TRY(at_log_reader_open(g->path, at_warn, NULL, &reader, err));
    g->last_of = NULL;
    at_finals_init(&g->finals, g->arena);
    at_log_reader_on_comment(reader, at_finals_add, &g->finals);
    for (at_record r; !g->too_many && at_log_reader_next(reader, &r);) add(g, &r);
    for (int i = 0; i < g->out->panels.len; i++) {
        const at_panel *p = g->out->panels.data[i];
        for (int k = 0; k < p->series.len; k++)
            if (p->series.data[k]->log == g->path) find_winner(g, p->series.data[k]);
    }
    at_status s = at_log_reader_status(reader, err);
    if (g->too_many)
        s = at_fail(err, AT_E_INPUT,
                    "%s: more than %d different tasks, searches of them or knobs of one; --only "
                    "TEXT takes the tasks whose name, title or arguments hold a text",
                    g->path, MOST_SEARCHES);
    at_log_reader_close(reader);
    return s;
}

/* ---- figures -------------------------------------------------------------------------------- */

/* A log may hold times that no clock shows; axes end somewhere even so. */
static double speed_of(const at_panel *p, double time_s) {
    static const double most = 1e30;
    return fmin(most, p->flops > 0 ? p->flops * 1e-9 / time_s : 1 / time_s);
}

static void finish_series(const at_panel *p, at_series *s) {
    if (s->winner >= 0) s->winner_speed = speed_of(p, s->winner_speed);
    for (int i = 0; i < s->points.len; i++) {
        at_point *t = &s->points.data[i];
        if (t->error_no) {
            s->failed += t->error_no >= AT_POINT_UNCHECKED;
            continue;
        }
        t->speed = speed_of(p, t->time_s);
        if (s->best < 0 || t->speed > s->points.data[s->best].speed) s->best = i;
    }
}

static int best_first(const void *x, const void *y) {
    const at_knob_value *a = x, *b = y;
    if (a->best != b->best) return (a->best < b->best) - (a->best > b->best);
    return strcmp(a->text, b->text);
}

static void finish_knobs(at_panel *p) {
    for (int k = 0; k < p->knobs.len; k++) {
        at_knob_values *knob = &p->knobs.data[k];
        for (int i = 0; i < knob->values.len; i++) {
            at_knob_value *v = &knob->values.data[i];
            int n = v->speeds.len;
            if (!n) continue;
            for (int j = 0; j < n; j++) v->speeds.data[j] = speed_of(p, v->speeds.data[j]);
            at_sort_doubles(v->speeds.data, n);
            v->best = v->speeds.data[n - 1];
            v->median = at_sorted_median(v->speeds.data, n);
        }
        qsort(knob->values.data, (size_t)knob->values.len, sizeof *knob->values.data, best_first);
    }
}

at_status at_curves_read(at_arena *a, const char *const *logs, int num_logs, const char *only,
                         at_pick_fn *use, void *use_ctx, at_curves *out, at_error *err) {
    reading g = {.arena = a, .only = only, .use = use, .use_ctx = use_ctx, .out = out};
    at_status status = AT_OK;
    *out = (at_curves){0};
    for (int i = 0; i < num_logs && status == AT_OK; i++) {
        g.path = logs[i];
        status = read_log(&g, err);
    }
    at_text_free(&g.text);
    AT_TRY(status);
    if (!out->panels.len && only)
        return at_fail(err, AT_E_USAGE,
                       "--only %s: no task's name and arguments hold this text; "
                       "autotune log %s lists them",
                       only, at_shell_word(a, logs[0]));
    if (!out->panels.len) return at_fail(err, AT_E_INPUT, "%s: holds no record", logs[0]);
    for (int i = 0; i < out->panels.len; i++) {
        at_panel *p = out->panels.data[i];
        p->unit = p->flops > 0 ? at_unit_of_speed(p->in_bytes) : "runs/s";
        for (int k = 0; k < p->series.len; k++) finish_series(p, p->series.data[k]);
        finish_knobs(p);
    }
    return AT_OK;
}

int64_t at_series_trials(const at_series *s) { return s->points.data[s->points.len - 1].trial; }

int64_t at_panel_trials(const at_panel *p) {
    int64_t most = 0;
    for (int i = 0; i < p->series.len; i++)
        if (at_series_trials(p->series.data[i]) > most) most = at_series_trials(p->series.data[i]);
    return most;
}

static double seconds_of(const at_series *s) { return s->points.data[s->points.len - 1].seconds; }

double at_panel_seconds(const at_panel *p) {
    double most = 0;
    for (int i = 0; i < p->series.len; i++) most = fmax(most, seconds_of(p->series.data[i]));
    return most;
}

double at_panel_speed(const at_panel *p) {
    double most = 0;
    for (int i = 0; i < p->series.len; i++) {
        const at_series *s = p->series.data[i];
        if (s->best >= 0) most = fmax(most, s->points.data[s->best].speed);
    }
    return most;
}

double at_panel_winner(const at_panel *p) {
    double most = 0;
    for (int i = 0; i < p->series.len; i++) most = fmax(most, p->series.data[i]->winner_speed);
    return most;
}

void at_text_add_series(at_text *out, const at_series *s) {
    const char *const parts[] = {s->log, ": ", s->tuner, *s->tuner ? ", " : "", s->where};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) at_text_add_visible(out, parts[i]);
}

void at_text_add_outcome(at_text *out, const at_panel *p, const at_series *s) {
    const long long trials = at_series_trials(s);
    if (s->winner < 0) at_text_addf(out, "no valid trial among %lld, in ", trials);
    else {
        const at_point *won = &s->points.data[s->winner];
        at_text_addf(out, "%.*f %s %s ", s->winner_speed < 10 ? 2 : 1, s->winner_speed, p->unit,
                     s->won_final ? "in the final, found at" : "at");
        if (won->trial) at_text_addf(out, "trial %d of %lld, after ", won->trial, trials);
        else
            at_text_addf(out, "the default configuration, before %lld trial%s, after ", trials,
                         at_plural(trials));
        at_text_add_time(out, won->seconds);
        at_text_add(out, " of ");
    }
    at_text_add_time(out, seconds_of(s));
    if (s->failed) at_text_addf(out, "; %lld failed", (long long)s->failed);
    if (s->has_pauses) at_text_add(out, "; pauses left out");
}

double at_nice_step(double to, int count) {
    if (!(to > 0)) return 1;
    double least = to / count, power = pow(10, floor(log10(least)));
    for (int i = 0; i < 3; i++) {
        static const double factors[] = {1, 2, 5};
        if (factors[i] * power >= least * (1 - 1e-9)) return factors[i] * power;
    }
    return 10 * power;
}

double at_axis_end(double to, double step) {
    return fmax(step, ceil(to / step * 5 - 1e-9) * step / 5);
}
