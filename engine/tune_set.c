/* engine/tune_set.c: the course of a run of several tasks, each of which keeps its tuner and what
 * it knows: rounds of trials, then finals. */
#include "engine/tune_set.h"

#include <math.h>

#include "engine/far/far_search.h"
#include "engine/tune_set_int.h"

static const int64_t default_trials = 500; /* of each problem */
/* A final of a task: of a time limit, of which all may take a quarter, and without one. */
static const double final_of_task_s = 1, least_final_of_task_s = 0.5;
static const double least_final_s = 2, final_share = 0.1;
/* Beside other problems, a way whose best trial takes so many times its problem's best has no
 * final.
 */
static const double far_behind = 1.5;

/* ---- finals ---------------------------------------------------------------------------------- */

static double so_far_s(const at_set_tuning *t) { return at_seconds_since(t->start_ns); }

/* What of a time limit is kept for the finals. */
static double finals_reserve(double time_s, int num_tasks) {
    return fmax(at_final_reserve(time_s), fmin(time_s / 4, final_of_task_s * num_tasks));
}

static bool has_final(const at_set_tuning *t, const at_set_member *m) {
    double own_s = at_set_best_s(t, m), least_s = own_s;
    for (int i = 0; i < t->num_members; i++) {
        double time_s = at_set_best_s(t, &t->members[i]);
        if (t->members[i].problem == m->problem && time_s > 0) least_s = fmin(least_s, time_s);
    }
    return own_s > 0 && (t->num_problems == 1 || own_s <= far_behind * least_s);
}

static at_status run_finals(at_set_tuning *t, at_error *err) {
    double time_s = t->options.time_s, end_s = so_far_s(t) * (1 + final_share);
    double least_s = fmax(least_final_s, least_final_of_task_s * t->num_members);
    int left = 0;
    end_s = time_s > 0 ? time_s : fmax(end_s, so_far_s(t) + least_s);
    for (int i = 0; i < t->num_members; i++) {
        at_session *s = &t->members[i].tuning.s;
        if (time_s > 0) s->deadline_ns = t->start_ns + (int64_t)(time_s * 1e9);
        left += has_final(t, &t->members[i]);
    }
    for (int i = 0; i < t->num_members && !at_engine_stopped(&t->options); i++) {
        at_tuning *u = &t->members[i].tuning;
        if (!has_final(t, &t->members[i])) continue;
        double budget_s = (end_s - so_far_s(t)) / left--;
        if (budget_s <= 0) break;
        int64_t begin_ns = at_now_ns();
        at_status status = at_set_switch_to(t, i, err);
        if (at_set_is_time_up(t, status, u->s.deadline_ns, err)) break;
        AT_TRY(status);
        budget_s -= at_seconds_since(begin_ns);
        if (budget_s <= 0) continue;
        const at_final_limits limits = {budget_s, budget_s, 0};
        AT_TRY(u->far ? at_far_final(u, budget_s, err)
                      : at_final_run(&u->s, u->known, t->log, limits, &u->final, err));
    }
    return AT_OK;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Nothing is measured yet; what is wrong with a task is told before the log is there. */
static at_status prepare(at_set_tuning *t, int number, at_error *err) {
    at_set_member *m = &t->members[number];
    const at_request *q = &t->problems[m->problem].ways[m->way];
    at_tuning *u = &m->tuning;
    at_engine_options o = t->options;
    o.trials = INT64_MAX;
    o.time_s = 0;
    m->prepared = true; /* to be closed */
    AT_TRY(at_tuning_prepare(&o, q, u, err));
    if (u->far) return AT_OK; /* whose data are elsewhere */
    m->data_bytes = at_session_data_bytes(&u->s);
    at_session_stop(&u->s);
    return AT_OK;
}

static at_status plan(at_set_tuning *t, at_error *err) {
    int n = t->num_members;
    int64_t trials = t->options.trials, most = 0;
    if (!trials) trials = default_trials * t->num_problems;
    at_share_task *tasks = AT_NEW_ARRAY(t->arena, at_share_task, n);
    for (int i = 0; i < n; i++) {
        const at_set_member *m = &t->members[i];
        const at_session *s = &m->tuning.s;
        double count = (double)t->problems[m->problem].count;
        tasks[i] = (at_share_task){count, s->what.work, s->what.row->name, m->problem + 1};
        most += t->members[i].tuning.tally.total;
    }
    if (trials < n)
        return at_fail(err, AT_E_USAGE,
                       "%lld trial%s too few for %d tasks: each takes one at least",
                       (long long)trials, trials == 1 ? " is" : "s are", n);
    t->shares = at_shares_new(t->arena, tasks, n, t->options.seed);
    t->tally.total = trials < most ? trials : most;
    t->first_trials = at_set_first_trials(t);
    return AT_OK;
}

/* Tasks of workers elsewhere of which the log has results, in whatever context: theirs is not known
 * yet. A log that is not there has none. */
static void put_off_far(at_set_tuning *t) {
    at_log_reader *reader;
    at_record r;
    if (at_log_reader_open(t->log_path, NULL, NULL, &reader, NULL) != AT_OK) return;
    while (at_log_reader_next(reader, &r)) {
        if (!r.extra.present) continue; /* another program's */
        for (int i = 0; i < t->num_members; i++) {
            const at_task *task = t->members[i].tuning.s.what.task;
            if (at_same_task(r.task, r.args, at_task_record_name(task), at_task_args(task)))
                at_shares_put_off(t->shares, i);
        }
    }
    at_log_reader_close(reader);
}

/* What the log knows of each task, also of those whose turn never comes. */
static at_status read_log(at_set_tuning *t, at_error *err) {
    if (t->options.far) return put_off_far(t), AT_OK;
    at_tuning **all = AT_NEW_ARRAY(t->arena, at_tuning *, t->num_members);
    for (int i = 0; i < t->num_members; i++) all[i] = &t->members[i].tuning;
    AT_TRY(at_tunings_read_log(all, t->num_members, t->log_path, t->log, err));
    for (int i = 0; i < t->num_members; i++)
        if (at_known_count(all[i]->known)) at_shares_put_off(t->shares, i);
    return AT_OK;
}

at_status at_set_open(const at_engine_options *o, const at_problem *problems, int n,
                      const char *log, at_set_tuning *t, at_error *err) {
    *t = (at_set_tuning){.options = *o, .problems = problems, .num_problems = n, .current = -1};
    t->start_ns = at_now_ns();
    t->arena = at_arena_new();
    for (int p = 0; p < n; p++) t->num_members += problems[p].num_ways;
    t->members = AT_NEW_ARRAY(t->arena, at_set_member, t->num_members);
    at_set_member *m = t->members;
    for (int p = 0; p < n; p++)
        for (int w = 0; w < problems[p].num_ways; w++, m++) m->problem = p, m->way = w;
    for (int i = 0; i < t->num_members; i++) {
        if (prepare(t, i, err) == AT_OK) continue;
        const at_request *q = &problems[t->members[i].problem].ways[t->members[i].way];
        return at_fail_at(err, "%s, task %d of %d: ", q->row ? q->row->name : q->template_name,
                          i + 1, t->num_members);
    }
    AT_TRY(plan(t, err));
    t->log_path = log ? log : at_format(t->arena, "%s.log", t->members[0].tuning.s.what.row->name);
    AT_TRY(at_log_open(t->log_path, &t->log, err));
    return read_log(t, err);
}

at_status at_set_run(at_set_tuning *t, const at_set_events *events, at_error *err) {
    double time_s = t->options.time_s;
    int64_t deadline_ns = 0;
    if (time_s > 0)
        deadline_ns =
            t->start_ns + (int64_t)((time_s - finals_reserve(time_s, t->num_members)) * 1e9);
    t->events = *events;
    if (t->events.begin) t->events.begin(t->events.ctx, t);
    at_status status = at_set_run_rounds(t, deadline_ns, err);
    if (t->events.end) t->events.end(t->events.ctx, t);
    if (status == AT_OK && !at_engine_stopped(&t->options)) status = run_finals(t, err);
    if (status == AT_E_NO_VALID && at_set_nobody_came(t)) return status;
    if (at_is_end(status)) status = AT_OK;
    return status;
}

int at_set_best(const at_set_tuning *t, int problem, at_best *out) {
    int way = -1;
    for (int i = 0; i < t->num_members; i++) {
        const at_set_member *m = &t->members[i];
        at_best best;
        const at_tuning *u = at_set_on(m, t->like);
        if (m->problem != problem || !u || !at_tuning_best(u, &best)) continue;
        if (way < 0 || best.time_s < out->time_s) *out = best, way = m->way;
    }
    return way;
}

at_status at_set_close(at_set_tuning *t, at_error *err) {
    for (int i = 0; i < t->num_members; i++)
        if (t->members[i].prepared) (void)at_tuning_close(&t->members[i].tuning, NULL);
    at_status closed = at_log_close(t->log, err);
    at_arena_free(t->arena);
    t->log = NULL;
    return closed;
}
