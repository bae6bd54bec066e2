/* engine/tune_set.c: rounds of trials, each of the task that task_share.c names. Every task
 * keeps its tuner and what it knows; there is one worker at a time, and data of tasks that wait are
 * kept as long as they are small beside the machine's memory. */
#include "engine/tune_set.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/far/far_search.h"
#include "engine/search/trials.h"

static const int64_t default_trials = 500; /* of each problem */
/* A round is short beside a search, and long beside a change of tasks: with data in memory changes
 * took 4 % of the time (the layers of ResNet-50, 90 s). */
enum { LONGEST_ROUND = 16, LEAST_ROUNDS = 4 };
/* The first round of each task is so many times shorter: all have a result early, also where the
 * time is short. */
enum { FIRST_ROUND_SHORTER = 4 };
/* Where data have to be made anew, as by workers elsewhere, that takes as long as many trials do.
 */
enum { LONG_ROUNDS = 4, LEAST_ROUNDS_FAR = 2 };
/* Data of tasks that wait: their share of the machine's memory, and their number, for each takes an
 * open file. */
static const double kept_share = 0.125;
enum { MOST_KEPT = 64 };
/* A final of a task: of a time limit, of which all may take a quarter, and without one. */
static const double final_of_task_s = 1, least_final_of_task_s = 0.5;
static const double least_final_s = 2, final_share = 0.1;
/* Beside other problems, a way whose best trial takes so many times its problem's best has no
 * final.
 */
static const double far_behind = 1.5;

/* ---- whose turn it is ------------------------------------------------------------------------ */

static void drop_data(at_set_tuning *t, at_set_member *m) {
    at_session_stop(&m->tuning.s);
    m->has_data = false;
    t->kept_bytes -= m->data_bytes;
}

/* Of the files that may be open a quarter. */
static int most_kept(void) {
    struct rlimit r;
    rlim_t files = getrlimit(RLIMIT_NOFILE, &r) ? RLIM_INFINITY : r.rlim_cur / 4;
    return files < MOST_KEPT ? (int)files : MOST_KEPT;
}

/* Until there is room for so much more, those whose turn is longest ago give up their data. */
static void make_room(at_set_tuning *t, int64_t bytes) {
    int64_t most = (int64_t)(kept_share * (double)at_cpu_facts()->memory_bytes);
    const int most_open = most_kept();
    for (;;) {
        at_set_member *oldest = NULL;
        int kept = 0;
        for (int i = 0; i < t->num_members; i++) {
            at_set_member *m = &t->members[i];
            if (!m->has_data) continue;
            kept++;
            if (!oldest || m->turn < oldest->turn) oldest = m;
        }
        if (!oldest || (kept < most_open && t->kept_bytes + bytes <= most)) return;
        drop_data(t, oldest);
    }
}

static at_status make_data(at_set_tuning *t, at_set_member *m, at_error *err) {
    int64_t begin_ns = at_now_ns();
    make_room(t, m->data_bytes);
    AT_TRY(at_session_reserve(&m->tuning.s, err));
    m->has_data = true;
    t->kept_bytes += m->data_bytes;
    if (t->kept_bytes > t->most_kept_bytes) t->most_kept_bytes = t->kept_bytes;
    at_status status = at_tuning_start(&m->tuning, err);
    if (status != AT_OK) drop_data(t, m);
    AT_TRY(status);
    t->made++;
    t->made_ns += at_now_ns() - begin_ns;
    return AT_OK;
}

static at_status start(at_set_member *m, at_error *err) {
    AT_TRY(at_tuning_add_text(&m->tuning, err));
    m->started = true;
    return AT_OK;
}

/* Workers elsewhere make data and reference of this task. What is not known before the first of
 * them is there: which context it is, and so which results of the log. */
static at_status turn_workers_to(at_set_tuning *t, at_set_member *m, at_error *err) {
    at_tuning *u = &m->tuning;
    if (m->started) return at_far_wake(u, err);
    AT_TRY(at_far_open(u, err));
    if (!t->like) t->like = u;
    AT_TRY(at_tunings_read_log(&u, 1, t->log_path, t->log, err));
    AT_TRY(start(m, err));
    AT_TRY(at_far_begin(u, err));
    return at_far_go_on(u, t->tally.total - t->tally.done, err);
}

/* Data, reference and worker of this task, and no other worker. */
static at_status switch_to(at_set_tuning *t, int number, at_error *err) {
    at_set_member *m = &t->members[number];
    at_tuning *last = t->current < 0 ? NULL : &t->members[t->current].tuning;
    m->turn = ++t->turns;
    if (t->current == number) return AT_OK;
    int64_t begin_ns = at_now_ns();
    t->current = -1;
    if (last && last->far) at_far_rest(last);
    else if (last) at_session_rest(&last->s);
    if (m->tuning.far) {
        AT_TRY(turn_workers_to(t, m, err));
        t->current = number;
        t->made++;
        t->made_ns += at_now_ns() - begin_ns;
        return AT_OK;
    }
    if (!m->started) AT_TRY(start(m, err));
    if (m->has_data) {
        AT_TRY(at_session_wake(&m->tuning.s, err));
        t->switches++;
        t->switch_ns += at_now_ns() - begin_ns;
    } else AT_TRY(make_data(t, m, err));
    t->current = number;
    return AT_OK;
}

/* ---- kinds of machines ----------------------------------------------------------------------- */

static bool is_like(const at_tuning *x, const at_tuning *y) {
    const at_context *a = &x->s.how.context, *b = &y->s.how.context;
    return !strcmp(a->cpu, b->cpu) && !strcmp(a->machine, b->machine) && !strcmp(a->isa, b->isa);
}

const at_tuning *at_set_on(const at_set_member *m, const at_tuning *like) {
    if (!like) return &m->tuning;
    const at_tuning *u = m->started ? &m->tuning : NULL;
    while (u && !is_like(u, like)) u = u->other;
    return u;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Its own, or one of another context. */
static bool has_tuning(const at_set_member *m, const at_tuning *tuning) {
    const at_tuning *u = &m->tuning;
    while (u && u != tuning) u = u->other;
    return u;
}

static int member_of(const at_set_tuning *t, const at_tuning *tuning) {
    int i = 0;
    while (!has_tuning(&t->members[i], tuning)) i++;
    return i;
}

static void trial(void *ctx, at_tuning *tuning, const at_record *r, bool answered) {
    at_set_tuning *t = ctx;
    at_tally *all = &t->tally;
    const int member = member_of(t, tuning);
    const int kind = r->error_no <= AT_ERR_UNKNOWN ? r->error_no : AT_ERR_UNKNOWN;
    all->workers = tuning->tally.workers;
    if (tuning != &t->members[member].tuning) return; /* the budget is of the first context */
    all->done++;
    all->answered += answered;
    if (kind) all->failed[kind]++;
    all->best = tuning->tally.best;
    all->best_s = tuning->tally.best_s;
    all->in_bytes = tuning->tally.in_bytes;
    if (t->events.trial) t->events.trial(t->events.ctx, t, member, r, answered);
}

/* Of the trials done: the log may know of better ones that this search has not come to. 0: none. */
static double best_s(const at_set_tuning *t, const at_set_member *m) {
    const at_tuning *u = at_set_on(m, t->like);
    return u && u->best_gflops > 0 ? u->s.what.work / u->best_gflops * 1e-9 : 0;
}

/* What decides about it is the same whenever the command is given again: the options, the tasks and
 * the machine's memory. */
static int64_t round_length(const at_set_tuning *t) {
    const bool is_far = t->options.far != NULL;
    const int64_t rounds = is_far ? LEAST_ROUNDS_FAR : LEAST_ROUNDS;
    int64_t n = t->tally.total / (t->num_members * rounds), bytes = 0;
    for (int i = 0; i < t->num_members; i++) bytes += t->members[i].data_bytes;
    bool fits = (double)bytes <= kept_share * (double)at_cpu_facts()->memory_bytes &&
                t->num_members <= MOST_KEPT;
    int64_t longest = fits && !is_far ? LONGEST_ROUND : LONGEST_ROUND * LONG_ROUNDS;
    return n < 1 ? 1 : n < longest ? n : longest;
}

static at_status run_round(at_set_tuning *t, int number, int64_t length, at_error *err) {
    at_set_member *m = &t->members[number];
    at_tuning *u = &m->tuning;
    const int64_t left = t->tally.total - t->tally.done;
    const int64_t least = (int64_t)AT_FAR_DEPTH * t->tally.workers; /* who wait for each other */
    if (length < least) length = least;
    if (length > left) length = left;
    const int64_t begun = u->tally.done;
    int64_t until = begun + length;
    if (until > u->tally.total) until = u->tally.total;
    AT_TRY(switch_to(t, number, err));
    t->rounds++;
    t->tally.best = u->tally.best;
    t->tally.best_s = u->tally.best_s;
    t->tally.in_bytes = u->tally.in_bytes;
    if (t->events.round) t->events.round(t->events.ctx, t, number);
    AT_TRY(u->far ? at_far_run(u, until, err) : at_trials_run(u, until, err));
    const bool ends = u->stopped_early || u->exhausted || u->tally.done >= u->tally.total ||
                      u->tally.done == begun;
    if (!ends && u->tally.done < t->first_trials) at_shares_add_piece(t->shares, number);
    else at_shares_add(t->shares, number, best_s(t, m));
    if (ends) at_shares_end(t->shares, number);
    return AT_OK;
}

/* Of ways of doing one thing each gets half of an equal share before they compete, in turn: what a
 * few trials find tells little of it. Beside other problems, which want a result as well, each has
 * a short round. */
static int64_t first_trials(const at_set_tuning *t) {
    return t->num_problems == 1 ? t->tally.total / (2 * t->num_members) : 0;
}

/* Up to the end of its first trials, where it has more than a piece of them. */
static int64_t next_round(const at_set_tuning *t, const at_tally *own, int64_t length) {
    const int64_t left = t->first_trials - own->done;
    int64_t n = own->done ? length : length / FIRST_ROUND_SHORTER;
    if (left > 0 && n > left) n = left;
    return n > 0 ? n : 1;
}

/* There is not even a context whose results of the log could count. */
static bool nobody_came(const at_set_tuning *t) { return t->options.far && !t->like; }

/* The time went to make a task's data; what the others have found stays. */
static bool is_time_up(const at_set_tuning *t, at_status status, int64_t deadline_ns,
                       const at_error *err) {
    if (nobody_came(t)) return false;
    if (status != AT_E_NO_VALID || !deadline_ns || at_now_ns() < deadline_ns) return false;
    at_engine_warn(&t->options, err->text);
    return true;
}

static at_status run_rounds(at_set_tuning *t, int64_t deadline_ns, at_error *err) {
    int64_t length = round_length(t);
    for (int i = 0; i < t->num_members; i++) {
        at_tuning *u = &t->members[i].tuning;
        u->deadline_ns = u->s.deadline_ns = deadline_ns;
        u->events = (at_tune_events){.trial = trial, .ctx = t};
    }
    while (t->tally.done < t->tally.total && !at_engine_stopped(&t->options)) {
        int next = at_shares_next(t->shares);
        if (next < 0 || (deadline_ns && at_now_ns() >= deadline_ns)) break;
        const int64_t n = next_round(t, &t->members[next].tuning.tally, length);
        at_status status = run_round(t, next, n, err);
        if (is_time_up(t, status, deadline_ns, err)) break;
        AT_TRY(status);
    }
    return AT_OK;
}

/* ---- finals ---------------------------------------------------------------------------------- */

static double so_far_s(const at_set_tuning *t) { return at_seconds_since(t->start_ns); }

/* What of a time limit is kept for the finals. */
static double finals_reserve(double time_s, int num_tasks) {
    return fmax(at_final_reserve(time_s), fmin(time_s / 4, final_of_task_s * num_tasks));
}

static bool has_final(const at_set_tuning *t, const at_set_member *m) {
    double own_s = best_s(t, m), least_s = own_s;
    for (int i = 0; i < t->num_members; i++) {
        double time_s = best_s(t, &t->members[i]);
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
        at_status status = switch_to(t, i, err);
        if (is_time_up(t, status, u->s.deadline_ns, err)) break;
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
                       "%lld trials are too few for %d tasks: each takes one at least",
                       (long long)trials, n);
    t->shares = at_shares_new(t->arena, tasks, n, t->options.seed);
    t->tally.total = trials < most ? trials : most;
    t->first_trials = first_trials(t);
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
    at_status status = run_rounds(t, deadline_ns, err);
    if (t->events.end) t->events.end(t->events.ctx, t);
    if (status == AT_OK && !at_engine_stopped(&t->options)) status = run_finals(t, err);
    if (status == AT_E_NO_VALID && nobody_came(t)) return status;
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
