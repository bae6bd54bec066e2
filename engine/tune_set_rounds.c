/* engine/tune_set_rounds.c: rounds of trials, each of the task that task_share.c names. */
#include <string.h>

#include "engine/far/far_search.h"
#include "engine/search/trials.h"
#include "engine/tune_set_int.h"

/* A round is short beside a search, and long beside a change of tasks: with data in memory changes
 * took 4 % of the time (the layers of ResNet-50, 90 s). */
enum { LONGEST_ROUND = 16, LEAST_ROUNDS = 4 };
/* The first round of each task is so many times shorter: all have a result early, also where the
 * time is short. */
enum { FIRST_ROUND_SHORTER = 4 };
/* Where data have to be made anew, as by workers elsewhere, that takes as long as many trials do.
 */
enum { LONG_ROUNDS = 4, LEAST_ROUNDS_FAR = 2 };

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

double at_set_best_s(const at_set_tuning *t, const at_set_member *m) {
    const at_tuning *u = at_set_on(m, t->like);
    return u && u->best_gflops > 0 ? u->s.what.work / u->best_gflops * 1e-9 : 0;
}

/* What decides about it is the same whenever the command is given again: the options, the tasks and
 * the machine's memory. */
static int64_t round_length(const at_set_tuning *t) {
    const bool is_far = t->options.far != NULL;
    const int64_t rounds = is_far ? LEAST_ROUNDS_FAR : LEAST_ROUNDS;
    const int64_t n = t->tally.total / (t->num_members * rounds);
    const int64_t longest =
        at_set_keeps_all(t) && !is_far ? LONGEST_ROUND : LONGEST_ROUND * LONG_ROUNDS;
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
    AT_TRY(at_set_switch_to(t, number, err));
    t->rounds++;
    t->tally.best = u->tally.best;
    t->tally.best_s = u->tally.best_s;
    t->tally.in_bytes = u->tally.in_bytes;
    if (t->events.round) t->events.round(t->events.ctx, t, number);
    AT_TRY(u->far ? at_far_run(u, until, err) : at_trials_run(u, until, err));
    const bool ends = u->stopped_early || u->exhausted || u->tally.done >= u->tally.total ||
                      u->tally.done == begun;
    if (!ends && u->tally.done < t->first_trials) at_shares_add_piece(t->shares, number);
    else at_shares_add(t->shares, number, at_set_best_s(t, m));
    if (ends) at_shares_end(t->shares, number);
    return AT_OK;
}

int64_t at_set_first_trials(const at_set_tuning *t) {
    return t->num_problems == 1 ? t->tally.total / (2 * t->num_members) : 0;
}

/* Up to the end of its first trials, where it has more than a piece of them. */
static int64_t next_round(const at_set_tuning *t, const at_tally *own, int64_t length) {
    const int64_t left = t->first_trials - own->done;
    int64_t n = own->done ? length : length / FIRST_ROUND_SHORTER;
    if (left > 0 && n > left) n = left;
    return n > 0 ? n : 1;
}

bool at_set_nobody_came(const at_set_tuning *t) { return t->options.far && !t->like; }

bool at_set_is_time_up(const at_set_tuning *t, at_status status, int64_t deadline_ns,
                       const at_error *err) {
    if (at_set_nobody_came(t)) return false;
    if (status != AT_E_NO_VALID || !deadline_ns || at_now_ns() < deadline_ns) return false;
    at_engine_warn(&t->options, err->text);
    return true;
}

at_status at_set_run_rounds(at_set_tuning *t, int64_t deadline_ns, at_error *err) {
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
        if (at_set_is_time_up(t, status, deadline_ns, err)) break;
        AT_TRY(status);
    }
    return AT_OK;
}
