/* cli/cmd_tune.c: the main job: the trials (trials.c), the final, and what came out. */
#include "cli/commands.h"
#include "engine/final_rounds.h"
#include "cli/interrupt.h"
#include "engine/trials.h"
#include "cli/why.h"
#include "cli/workload.h"

static at_status make_tuner(at_tuning *t, const at_options *o, at_error *err) {
    at_session *s = &t->s;
    at_history history;
    const at_tuner_class *row;
    int64_t begin_ns = at_now_ns();
    at_tuner_options to = at_tuner_options_of(o);
    AT_TRY(at_tuner_find(o->tuner, &row, err));
    AT_TRY(at_features_of(&t->features, s->task, o, &to.features, err));
    if (o->num_transfer) {
        if (!row->learns_features)
            return at_fail(err, AT_E_USAGE,
                           "--transfer: the tuner %s learns nothing from other "
                           "tasks; xgb does",
                           row->name);
        AT_TRY(at_history_read(s->arena, o, s->task, &history, err));
        to.history = &history;
    }
    AT_TRY(at_tuner_new(o->tuner, s->space, &to, &t->tuner, err));
    s->spent.search_ns += at_now_ns() - begin_ns;
    return AT_OK;
}

static at_status prepare(at_tuning *t, const at_options *o, at_error *err) {
    at_session *s = &t->s;
    AT_TRY(at_session_open(o, s, err));
    AT_TRY(make_tuner(t, o, err));
    AT_TRY(at_session_context(s, true, err));
    if (o->prune > 0) AT_TRY(at_session_machine(s, err));
    AT_TRY(at_session_reserve(s, err));
    int64_t len = o->range_end ? at_space_subrange_length(s->space, o->range_begin, o->range_end)
                               : at_space_len(s->space);
    t->tally.total = o->trials < len ? o->trials : len;
    t->log_path = o->log ? o->log : at_format(s->arena, "%s.log", s->row->name);
    t->known = at_known_new(s->arena);
    AT_TRY(at_log_open(t->log_path, &t->log, err));
    AT_TRY(at_known_read_log(t->known, s, t->log_path, err));
    return at_session_start(s, err);
}

static at_status tune(at_tuning *t, const at_options *o, at_error *err) {
    at_error late;
    AT_TRY(prepare(t, o, err));
    at_status status = at_trials_run(t, err);
    if (status == AT_OK && !at_interrupted)
        status = at_final_run(&t->s, t->known, t->log, &t->final, err);
    /* Where the log or the worker failed, what was found until then is shown all the same. */
    at_status reported = at_tune_report(t, status == AT_OK ? err : &late);
    return status == AT_OK ? reported : status;
}

static at_status tune_task(const at_options *o, at_error *err) {
    at_tuning t = {0};
    at_error late;
    at_status status = tune(&t, o, err);
    at_status closed = at_log_close(t.log, status == AT_OK ? err : &late);
    if (t.tuner) at_tuner_free(t.tuner);
    at_features_end(&t.features);
    at_session_close(&t.s);
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
            status = at_fail(err, s, "task %d of %d (%s): %s", i + 1, n, tasks[i].args, why.text);
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
