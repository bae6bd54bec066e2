/* cli/cmd_tune.c: the main job: what the engine finds, shown while it goes on and at the end. */
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/tune_report.h"
#include "cli/workload.h"

/* What is shown of a run while its trials go on. */
typedef struct shown {
    const at_options *options;
    at_progress progress;
    at_notes notes;
} shown;

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
    return status == AT_OK ? reported : status;
}

static at_status tune_task(const at_options *o, at_error *err) {
    at_tuning t;
    at_error late;
    at_status status = tune(&t, o, err);
    at_status closed = at_tuning_close(&t, status == AT_OK ? err : &late);
    return status == AT_OK ? closed : status;
}

/* A task without a valid configuration does not keep the others from being tuned. */
static at_status tune_all(const at_options *tasks, int n, at_error *err) {
    at_status status = AT_OK;
    for (int i = 0; i < n; i++) {
        at_error why;
        at_status s = tune_task(&tasks[i], &why);
        if (s == AT_OK) continue;
        if (status == AT_OK)
            status = at_fail_lines(err, s, "task %d of %d (%s): %s", i + 1, n,
                                   tasks[i].request.args, why.text);
        if (s != AT_E_NO_VALID) break;
    }
    return status;
}

at_status at_cmd_tune(const at_options *o, at_error *err) {
    at_catch_interrupts();
    if (!o->workload) return tune_task(o, err);
    const at_template_row *row;
    at_options *tasks;
    int n;
    at_arena *a = at_arena_new();
    at_status status = at_template_find(o->operands[0], &row, err);
    if (status == AT_OK) status = at_workload_tasks(a, o, row, &tasks, &n, err);
    if (status == AT_OK) status = tune_all(tasks, n, err);
    at_arena_free(a);
    return status;
}
