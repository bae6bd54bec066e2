/* cli/cmd_tune.c: the main job: propose, measure, log, learn; then the final, and what came out. */
#include <string.h>
#include <time.h>

#include "cli/commands.h"
#include "cli/final.h"
#include "cli/interrupt.h"
#include "cli/tune.h"
#include "cli/why.h"
#include "cli/workload.h"

/* AutoTVM's cooldown_interval: after what was measured, and no part of its cost. */
static void cool_down(at_session *s) {
    double pause_s = s->options->cooldown_s;
    int64_t begin_ns = at_now_ns();
    if (pause_s <= 0 || at_interrupted) return;
    struct timespec t = {.tv_sec = (time_t)pause_s};
    t.tv_nsec = (long)((pause_s - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL); /* a signal ends it */
    s->spent.cooldown_ns += at_now_ns() - begin_ns;
}

/* ---- trials --------------------------------------------------------------------------------- */

/* The same code was measured before: its result, under this index. */
static void copy_result(const at_result *same, at_result *r) {
    at_result own = *r;
    *r = *same;
    r->index = own.index;
    r->same_as = same->same_as >= 0 ? same->same_as : same->index;
    r->all_cost_s = own.all_cost_s;
    r->timestamp_s = at_wall_time_s();
}

static const at_result *keep(at_arena *a, const at_result *r) {
    at_result *kept = at_copy(a, r, sizeof *r);
    kept->error = at_strdup(a, r->error);
    kept->code_hash = at_strdup(a, r->code_hash);
    kept->costs_s = at_copy(a, r->costs_s, sizeof *r->costs_s * (size_t)r->num_costs);
    kept->samples_s = at_copy(a, r->samples_s, sizeof *r->samples_s * (size_t)r->num_samples);
    return kept;
}

/* Its bound alone is too far from the best. */
static bool is_hopeless(const at_session *s, const at_result *best, const at_candidate *c) {
    double factor = s->options->prune;
    return factor > 0 && best && at_bound_seconds(s, c->kernel->bound) > factor * best->mean_s;
}

/* Measures one index and appends it to the log. */
static at_status try_index(at_tuning *t, int64_t index, const at_result **out, at_error *err) {
    at_session *s = &t->s;
    at_config config;
    at_candidate candidate;
    at_result r;
    const at_result *best = at_known_best(t->known), *same = NULL;
    at_arena_reset(s->scratch);
    AT_TRY(at_session_renew_peak(s, err));
    AT_TRY(at_config_at(s->scratch, s->space, index, &config, err));
    if (at_candidate_make(s, s->scratch, &config, &candidate, &r)) {
        same = at_known_by_code(t->known, r.code_hash);
        at_status status = AT_OK;
        if (same) copy_result(same, &r);
        else if (is_hopeless(s, best, &candidate)) at_result_prune(s->scratch, &r);
        else if (at_candidate_compile(s, s->scratch, &candidate, &r))
            status = at_candidate_run(s, s->scratch, &candidate, best ? best->mean_s : 0, &r, err);
        at_candidate_drop(&candidate);
        /* A signal to the whole process group ends compilers and worker as well: no result. */
        if (at_interrupted && r.error_no) status = AT_E_INTERRUPTED;
        AT_TRY(status);
    }
    at_record record;
    at_result_to_record(s, &r, &config, &record);
    AT_TRY(at_log_append(t->log, &record, err));
    *out = keep(s->arena, &r);
    at_known_add(t->known, *out);
    if (!same) cool_down(s);
    return AT_OK;
}

static void count(at_tuning *t, const at_result *r) {
    at_tally *y = &t->tally;
    const at_result *best = at_known_best(t->known);
    y->done++;
    if (r->error_no) y->failed[r->error_no <= AT_ERR_UNKNOWN ? r->error_no : AT_ERR_UNKNOWN]++;
    else y->current = r->gflops;
    if (r->error_no && !t->first_failed) t->first_failed = r;
    /* The known best may be one of the log that this search has not come to. */
    if (!r->error_no && r->gflops > t->best_gflops)
        t->best_gflops = r->gflops, t->best_trial = y->done;
    y->best = best ? best->gflops : 0;
}

static at_status search(at_tuning *t, at_error *err) {
    at_session *s = &t->s;
    const at_options *o = s->options;
    at_progress progress;
    at_status status = AT_OK;
    const char *name = s->row->name;
    if (o->num_tasks) name = at_format(s->arena, "[Task %d/%d] %s", o->task, o->num_tasks, name);
    int64_t start_ns = at_now_ns(), start_kernel_ns = s->spent.kernel_ns;
    at_progress_start(&progress, name, o->time_s);
    while (t->tally.done < t->tally.total && !at_interrupted) {
        int64_t index, begin_ns = at_now_ns();
        if (o->time_s > 0 && (double)(begin_ns - s->spent.start_ns) * 1e-9 >= o->time_s) break;
        int n = at_tuner_next(t->tuner, &index, 1);
        s->spent.search_ns += at_now_ns() - begin_ns;
        if (!n) break;
        int64_t answered = t->tally.answered;
        const at_result *r = at_known_by_index(t->known, index);
        if (r) t->tally.answered++;
        else if ((status = try_index(t, index, &r, err)) != AT_OK) break;
        begin_ns = at_now_ns();
        at_tuner_update(t->tuner, &(at_trial){index, !r->error_no, r->gflops}, 1);
        s->spent.search_ns += at_now_ns() - begin_ns;
        count(t, r);
        if (t->tally.answered == answered)
            at_note_trial(&t->notes, s, &t->tally, r, t->best_trial == t->tally.done);
        at_progress_show(&progress, &t->tally);
        t->stopped_early = o->early_stopping && t->tally.done - t->best_trial >= o->early_stopping;
        if (t->stopped_early) break;
    }
    s->spent.trials_ns = at_now_ns() - start_ns;
    s->spent.trials_kernel_ns = s->spent.kernel_ns - start_kernel_ns;
    at_progress_end(&progress, &t->tally);
    return status == AT_E_INTERRUPTED ? AT_OK : status;
}

/* ---- the command ---------------------------------------------------------------------------- */

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
    at_status status = search(t, err);
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
