/* cli/cmd_tune.c: the main job: what the engine finds, shown while it goes on and at the end. */
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/operator.h"
#include "cli/set_report.h"
#include "remote/remote.h"
#include "cli/workload.h"

#include <string.h>

/* What is shown of a run while its trials go on. */
typedef struct shown {
    const at_options *options;
    at_progress progress;
    at_notes notes;
    /* of several tasks: */
    const at_options *tasks;
    const char *const *names;
} shown;

/* Layers of several templates have the log of their file: net.workload's is net.log. */
static const char *log_of(at_arena *a, const at_options *o) {
    if (o->log) return o->log;
    if (!o->workload) return at_format(a, "%s.log", o->operands[0]);
    if (o->num_operands) return NULL;
    const char *slash = strrchr(o->workload, '/'), *name = slash ? slash + 1 : o->workload;
    const char *dot = strrchr(name, '.');
    return at_format(a, "%.*s.log", (int)(dot && dot > name ? dot - name : (long)strlen(name)),
                     name);
}

static void begin(void *ctx, at_tuning *t) {
    shown *v = ctx;
    const at_options *o = v->options;
    const char *name = t->s.row->name;
    if (o->num_tasks) name = at_format(t->s.arena, "[Task %d/%d] %s", o->task, o->num_tasks, name);
    at_progress_start(&v->progress, name, o->engine.time_s);
}

static void trial(void *ctx, at_tuning *t, const at_record *r, bool answered) {
    shown *v = ctx;
    const at_tally *y = &t->tally;
    if (!answered) at_note_trial(&v->notes, &t->s, y, r, t->best_trial == y->done);
    at_progress_show(&v->progress, y);
}

static void end(void *ctx, at_tuning *t) {
    shown *v = ctx;
    at_progress_end(&v->progress, &t->tally);
}

static at_status tune(at_tuning *t, const at_options *o, at_error *err) {
    at_error late;
    shown v = {.options = o, .notes.options = o};
    const at_tune_events events = {begin, trial, end, &v};
    AT_TRY(at_tuning_open(&o->engine, &o->request, o->log, t, err));
    at_status status = at_tuning_run(t, &events, err);
    /* Where the log or the worker failed, what was found until then is shown all the same. */
    at_status reported = at_tune_report(t, o, status == AT_OK ? err : &late);
    /* On machines of other contexts; --json is of the first. */
    for (at_tuning *u = t->other; u && !o->json && reported == AT_OK; u = u->other)
        reported = at_tune_report(u, o, status == AT_OK ? err : &late);
    return status == AT_OK ? reported : status;
}

static at_status tune_task(const at_options *o, at_set_result *result, at_error *err) {
    at_tuning t;
    at_error late;
    at_status status = tune(&t, o, err);
    if (result && t.known) at_set_result_add(result, &t, o->count);
    at_status closed = at_tuning_close(&t, status == AT_OK ? err : &late);
    return status == AT_OK ? closed : status;
}

/* ---- several tasks --------------------------------------------------------------------------- */

/* A task without a valid configuration does not keep the others from being tuned. */
static at_status tune_each(const at_options *o, const at_options *tasks, int n,
                           at_set_result *result, at_error *err) {
    at_error late;
    at_status status = AT_OK;
    for (int i = 0; i < n; i++) {
        at_error why;
        at_status s = tune_task(&tasks[i], result, &why);
        if (s == AT_OK) continue;
        if (status == AT_OK)
            status = at_fail_lines(err, s, "task %d of %d (%s): %s", i + 1, n,
                                   tasks[i].request.args, why.text);
        if (s != AT_E_NO_VALID) break;
    }
    if (!result->layers.len) return status;
    at_status reported = at_set_report(result, o, status == AT_OK ? err : &late);
    return status == AT_OK ? reported : status;
}

/* Workers elsewhere hold the data of one task: each gets an equal part of what is for all, in one
 * log. */
static at_status tune_in_turn(const at_options *o, at_options *tasks, int n, at_set_result *result,
                              at_error *err) {
    const char *log = log_of(result->arena, o);
    int64_t trials = o->engine.trials;
    bool is_given = at_given(o, "--trials");
    if (is_given && trials < n)
        return at_fail(err, AT_E_USAGE,
                       "%lld trials are too few for %d tasks: each takes one at least",
                       (long long)trials, n);
    for (int i = 0; i < n; i++) {
        at_engine_options *e = &tasks[i].engine;
        if (is_given) e->trials = trials / n + (i < trials % n);
        else if (!o->workload) e->trials = (trials ? trials : 500) / n + 1;
        e->time_s = o->engine.time_s / n;
        if (!tasks[i].log) tasks[i].log = log;
    }
    return tune_each(o, tasks, n, result, err);
}

static void begin_set(void *ctx, at_set_tuning *t) {
    shown *v = ctx;
    const at_options *o = v->options;
    at_progress_start(&v->progress, o->workload ? o->workload : o->operands[0], t->options.time_s);
}

static void round_of_set(void *ctx, at_set_tuning *t, int member) {
    shown *v = ctx;
    const at_options *o = &v->tasks[member];
    v->progress.name = v->names[member];
    v->notes.options = o;
    at_progress_show(&v->progress, &t->tally);
}

static void trial_of_set(void *ctx, at_set_tuning *t, int member, const at_record *r,
                         bool answered) {
    shown *v = ctx;
    at_tuning *u = &t->members[member].tuning;
    if (!answered) at_note_trial(&v->notes, &u->s, &t->tally, r, u->best_trial == u->tally.done);
    at_progress_show(&v->progress, &t->tally);
}

static void end_set(void *ctx, at_set_tuning *t) {
    shown *v = ctx;
    at_progress_end(&v->progress, &t->tally);
}

static at_status report_set(const at_set_tuning *t, const at_options *o, at_set_result *result,
                            at_error *err) {
    result->tuning = t;
    result->log_path = t->log_path;
    result->trials = t->tally.total;
    for (int i = 0; i < t->num_members; i++)
        at_set_result_add(result, &t->members[i].tuning, t->members[i].count);
    return at_set_report(result, o, err);
}

/* All with one budget. */
static at_status tune_together(const at_options *o, const at_options *tasks, int n,
                               at_set_result *result, at_error *err) {
    at_arena *a = result->arena;
    at_set_tuning t;
    at_error late;
    at_set_task *of = AT_NEW_ARRAY(a, at_set_task, n);
    const char **names = AT_NEW_ARRAY(a, const char *, n);
    shown v = {.options = o, .notes.options = o, .tasks = tasks, .names = names};
    const at_set_events events = {begin_set, round_of_set, trial_of_set, end_set, &v};
    at_engine_options options = o->engine;
    if (!at_given(o, "--trials") && o->workload) options.trials = 0;
    for (int i = 0; i < n; i++) {
        of[i] = (at_set_task){tasks[i].request, tasks[i].count};
        names[i] = at_format(a, "[Task %d/%d] %s", i + 1, n, tasks[i].request.template_name);
    }
    at_share_goal goal = o->workload ? AT_SHARE_SUM : AT_SHARE_LEAST;
    at_status status = at_set_open(&options, of, n, goal, log_of(a, o), &t, err);
    bool begun = status == AT_OK;
    if (begun) status = at_set_run(&t, &events, err);
    /* Where the log or a worker failed, what was found until then is shown all the same. */
    at_status reported = begun ? report_set(&t, o, result, status == AT_OK ? err : &late) : AT_OK;
    if (status == AT_OK) status = reported;
    at_status closed = at_set_close(&t, status == AT_OK ? err : &late);
    return status == AT_OK ? closed : status;
}

static at_status tune_set(const at_options *o, at_arena *a, at_error *err) {
    const at_template_row *row = NULL;
    at_options *tasks;
    int n;
    at_set_result result = {.arena = a, .start_ns = at_now_ns()};
    if (o->num_operands) AT_TRY(at_template_find(o->operands[0], &row, err));
    AT_TRY(at_workload_tasks(a, o, row, &tasks, &n, err));
    if (o->per_task) return tune_each(o, tasks, n, &result, err);
    return o->engine.far ? tune_in_turn(o, tasks, n, &result, err)
                         : tune_together(o, tasks, n, &result, err);
}

/* All ways of computing one thing, with one budget. */
static at_status tune_operator(const at_options *o, const at_operator *p, at_arena *a,
                               at_error *err) {
    at_options *tasks;
    int n;
    at_set_result result = {.arena = a, .start_ns = at_now_ns(), .operator_name = o->operands[0]};
    AT_TRY(at_operator_tasks(a, o, p, &tasks, &n, err));
    return o->engine.far ? tune_in_turn(o, tasks, n, &result, err)
                         : tune_together(o, tasks, n, &result, err);
}

static at_status tune_here(const at_options *o, at_error *err) {
    const at_operator *p = o->num_operands ? at_operator_find(o) : NULL;
    if (!o->workload && !p) return tune_task(o, NULL, err);
    at_arena *a = at_arena_new();
    at_status status = o->workload ? tune_set(o, a, err) : tune_operator(o, p, a, err);
    at_arena_free(a);
    return status;
}

/* The same with workers elsewhere. */
static at_status tune_far(const at_options *o, at_error *err) {
    at_fleet *fleet;
    at_options far = *o;
    if (o->lease_s < AT_LEASE_LEAST || o->lease_s > AT_LEASE_MOST)
        return at_fail(err, AT_E_USAGE, "--lease: must be from %ds to %ds", AT_LEASE_LEAST,
                       AT_LEASE_MOST);
    AT_TRY(at_fleet_new(o->on, o->num_on, o->lease_s, &fleet, err));
    far.engine.far = at_fleet_far(fleet);
    at_status status = tune_here(&far, err);
    at_fleet_free(fleet);
    return status;
}

at_status at_cmd_tune(const at_options *o, at_error *err) {
    at_catch_interrupts();
    if (o->all_ways && (o->workload || !o->num_operands || !at_operator_find(o)))
        return at_fail(err, AT_E_USAGE,
                       "--all-ways: there is no operator %s; autotune list names them",
                       o->num_operands ? o->operands[0] : "of a workload");
    if (!o->workload && o->per_task) return at_fail(err, AT_E_USAGE, "--per-task needs --workload");
    if (o->request.sketch && at_given(o, "--range"))
        return at_fail(err, AT_E_USAGE, "give one of --sketch and --range: a sketch is a range");
    if (!o->num_on && o->engine.same_context)
        return at_fail(err, AT_E_USAGE, "--same-context is of workers elsewhere, which --on names");
    return o->num_on ? tune_far(o, err) : tune_here(o, err);
}
