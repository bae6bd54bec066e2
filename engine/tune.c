/* engine/tune.c: the course of a run: it is prepared, searched here (trials.c) or elsewhere
 * (far_search.c), and ends in a final (final_rounds.c). Commands (command_search.c) have none. */
#include "engine/tune.h"

#include "engine/command/command_search.h"
#include "engine/far/far_search.h"
#include "engine/measure/machine.h"
#include "engine/measure/log_objective.h"
#include "engine/search/trials.h"
#include "engine/task/log_texts.h"

at_status at_tuning_prepare(const at_engine_options *o, const at_request *q, at_tuning *t,
                            at_error *err) {
    at_session *s = &t->s;
    AT_TRY(at_tuning_begin(o, q, t, err));
    if (at_is_command(s)) AT_TRY(at_command_open(t, err));
    else if (o->far) AT_TRY(at_far_prepare(t, q, err));
    else {
        AT_TRY(at_session_context(s, true, err));
        if (o->prune > 0) AT_TRY(at_session_machine(s, err));
        AT_TRY(at_session_reserve(s, err));
    }
    at_tuning_begin_tally(t);
    return AT_OK;
}

at_status at_tuning_add_text(at_tuning *t, at_error *err) {
    const char *text = at_log_text_line(t->s.arena, t->s.what.row);
    if (!text || at_log_text_counts(t->log_path, text)) return AT_OK;
    return at_log_comment(t->log, text, err);
}

at_status at_tunings_read_log(at_tuning *const *all, int n, const char *path, at_log *log,
                              at_error *err) {
    at_arena *a = at_arena_new();
    at_known **known = AT_NEW_ARRAY(a, at_known *, n + 1);
    at_session **sessions = AT_NEW_ARRAY(a, at_session *, n + 1);
    for (int i = 0; i < n; i++) {
        all[i]->log_path = path;
        all[i]->log = log;
        all[i]->shares_log = true;
        known[i] = all[i]->known;
        sessions[i] = &all[i]->s;
    }
    at_status status = at_known_read_logs(known, sessions, n, path, err);
    for (int i = 0; i < n && status == AT_OK; i++)
        status = at_objective_check(sessions[i], known[i], err);
    at_arena_free(a);
    return status;
}

/* What does not need the reference is done while the worker makes it. */
at_status at_tuning_start(at_tuning *t, at_error *err) {
    at_error late;
    AT_TRY(at_session_begin(&t->s, err));
    at_status begun = at_trials_begin(t, &late);
    AT_TRY(at_session_finish(&t->s, err));
    if (begun != AT_OK) *err = late;
    return begun;
}

at_status at_tuning_open(const at_engine_options *o, const at_request *q, const char *log,
                         at_tuning *t, at_error *err) {
    at_session *s = &t->s;
    AT_TRY(at_tuning_prepare(o, q, t, err));
    if (t->far) AT_TRY(at_far_open(t, err));
    t->log_path = log ? log : at_format(s->arena, "%s.log", s->what.row->name);
    AT_TRY(at_log_open(t->log_path, &t->log, err));
    AT_TRY(at_known_read_log(t->known, s, t->log_path, err));
    AT_TRY(at_objective_check(s, t->known, err));
    if (!t->far && !t->command) AT_TRY(at_tuning_start(t, err));
    AT_TRY(at_tuning_add_text(t, err));
    return t->far ? at_far_begin(t, err) : AT_OK;
}

at_status at_tuning_run(at_tuning *t, const at_tune_events *events, at_error *err) {
    const at_session *s = &t->s;
    double time_s = s->options.time_s, final_s = t->command ? 0 : at_final_reserve(time_s);
    t->events = *events;
    if (time_s > 0) t->deadline_ns = s->spent.start_ns + (int64_t)((time_s - final_s) * 1e9);
    if (t->events.begin) t->events.begin(t->events.ctx, t);
    at_status status = t->command ? at_command_trials(t, t->tally.total, err)
                       : t->far   ? at_far_run(t, t->tally.total, err)
                                  : at_trials_run(t, t->tally.total, err);
    if (t->events.end) t->events.end(t->events.ctx, t);
    if (status != AT_OK || at_engine_stopped(&s->options) || t->command) return status;
    if (t->far) return at_far_final(t, at_final_budget(s, t->known).core_s, err);
    AT_TRY(at_final_run(&t->s, t->known, t->log, at_final_budget(s, t->known), &t->final, err));
    at_best best;
    if (!s->options.baseline || !at_tuning_best(t, &best)) return AT_OK;
    return at_baseline_time(&t->s, &best.record->config, &t->baseline, err);
}

const at_record *at_tuning_default(at_tuning *t) {
    at_config c;
    if (!t->known || !at_tuning_default_config(&t->s, &c) || c.index < 0) return NULL;
    const at_record *r = at_known_of_index(t->known, c.index);
    return r && at_record_is_candidate(r) ? r : NULL;
}

bool at_tuning_best(const at_tuning *t, at_best *out) {
    const at_turns *f = NULL;
    const at_record *r = t->known ? at_known_winner(t->known, &f) : NULL;
    if (!r) return false;
    double peak = r->extra.peak_gflops, share = peak > 0 ? r->extra.gflops / peak : 0;
    *out = (at_best){r, f, at_record_mean(r), r->extra.gflops, {share, share, share}, 0};
    if (!f) return true;
    out->time_s = f->time_s;
    out->gflops = t->s.what.work / f->time_s * 1e-9;
    out->of_peak = at_turns_of_peak(f, t->s.what.work);
    const at_finalist *w = t->final.winner;
    if (w && w->result->config.index == r->config.index) out->of_bound = w->of_bound;
    if (out->of_bound <= 1) return true;
    out->of_peak.median /= out->of_bound;
    out->of_peak.low /= out->of_bound;
    out->of_peak.high /= out->of_bound;
    return true;
}

at_status at_tuning_close(at_tuning *t, at_error *err) {
    at_error late;
    if (t->other) at_tuning_close(t->other, &late);
    at_status closed = t->shares_log ? AT_OK : at_log_close(t->log, err);
    if (t->far) at_far_close(t);
    at_command_close(t);
    if (t->tuner) at_tuner_free(t->tuner);
    at_features_end(&t->features);
    at_cost_model_free(t->costs);
    at_session_close(&t->s);
    t->log = NULL;
    t->costs = NULL;
    t->tuner = NULL;
    return closed;
}
