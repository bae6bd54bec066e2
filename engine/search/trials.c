/* engine/search/trials.c: one trial after the other, each on its way through lowering, worker and
 * log. Several are made in a row before they are measured, since what made one is in the caches for
 * the next, and not behind a kernel's run any more; with --jobs 2 the next is made while one is
 * measured.
 *
 * The search is the same either way: a tuner decides about a round of proposals when all results
 * before are in, however many of the round are asked for ahead. */
#include "engine/search/log_speeds.h"
#include "engine/search/trials.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/measure/accuracy.h"
#include "engine/measure/anchors.h"
#include "engine/measure/foreign_build.h"
#include "engine/measure/machine.h"

/* Kernels that add up the same sums round alike: one of them is tried, the others are passed over.
 * Where so many ways of adding up are too inaccurate and none is not, or nothing else is proposed
 * so many times, that is how it stays. */
enum { MOST_INACCURATE = 16, MOST_PASSED_OVER = 1024 };
enum { AHEAD = 16 }; /* trials that are made before the first of them is measured, at most */
/* The peak that is noted with a result is at most that old. */
static const double peak_age_s = 60;

/* AutoTVM's cooldown_interval: after what was measured, and no part of its cost. */
static void cool_down(at_session *s) {
    double pause_s = s->options.cooldown_s;
    int64_t begin_ns = at_now_ns();
    if (pause_s <= 0 || at_engine_stopped(&s->options)) return;
    struct timespec t = {.tv_sec = (time_t)pause_s};
    t.tv_nsec = (long)((pause_s - (double)t.tv_sec) * 1e9);
    nanosleep(&t, NULL); /* a signal ends it */
    s->spent.cooldown_ns += at_now_ns() - begin_ns;
}

/* ---- one candidate -------------------------------------------------------------------------- */

typedef struct trial {
    at_arena *arena; /* of what follows */
    bool proposed;
    int64_t index;
    const at_record *answer; /* of the log, or when it is done; NULL: none yet */
    bool made;               /* it is a program; else result says why not */
    bool passed_over;        /* another one that adds up the same sums was too inaccurate */
    bool lowered, compiled;  /* not lowered: an earlier one was the same program */
    at_config config;
    at_candidate candidate;
    at_record result;
} trial;

void at_trial_copy(const at_record *same, at_record *r) {
    at_extra *e = &r->extra, own = *e;
    r->error_no = same->error_no;
    r->costs_s = same->costs_s;
    r->num_costs = same->num_costs;
    *e = same->extra;
    e->version = own.version;
    e->compiler_version = own.compiler_version;
    e->cpu_flags = own.cpu_flags;
    e->sandbox = own.sandbox;
    e->tuner = own.tuner;
    e->part = own.part;
    e->seed = own.seed;
    e->trial = own.trial;
    e->same_as = e->same_as >= 0 ? e->same_as : same->config.index;
    r->timestamp_s = at_wall_time_s();
}

/* Its bound alone is too far from the best. */
static bool is_hopeless(const at_session *s, double best_s, const at_candidate *c) {
    double factor = s->options.prune;
    return factor > 0 && best_s > 0 && at_bound_seconds(s, c->bound) > factor * best_s;
}

/* Those that come before the one that is made, and have no result yet. */
typedef struct before {
    const trial *list[AHEAD];
    int num;
    const trial *under_way; /* one of them, which is being measured meanwhile; or NULL */
} before;

/* The program of x is known, or will be when those before are in. */
static bool is_known_program(const at_tuning *t, const trial *x, const before *b) {
    bool known = at_known_by_key(t->known, x->candidate.key) != NULL;
    for (int i = 0; i < b->num && !known; i++)
        known = b->list[i]->made && at_key_equal(b->list[i]->candidate.key, x->candidate.key);
    return known;
}

/* Lowered unless its result is known. */
static at_status make(at_tuning *t, trial *x, const before *b, at_error *err) {
    at_session *s = &t->s;
    const trial *under_way = b->under_way;
    int64_t begin_ns = at_now_ns();
    x->made = x->lowered = x->compiled = x->passed_over = false;
    AT_TRY(at_config_at(x->arena, s->what.space, x->index, &x->config, err));
    x->made = at_candidate_build(s, x->arena, &x->config, &x->candidate, &x->result);
    if (t->tuner) x->result.extra.part = at_tuner_part(t->tuner, x->index);
    x->passed_over = t->tuner && x->made && at_accuracy_is_refused(s, x->candidate.program);
    if (x->passed_over) return AT_OK;
    if (x->made && !is_known_program(t, x, b))
        x->made = x->lowered = at_candidate_generate(s, x->arena, &x->candidate, &x->result);
    /* gcc and clang run here; what is the same code is compiled once. */
    if (x->lowered && under_way && s->how.compiler != AT_TCC && !s->options.prune &&
        !at_known_by_code(t->known, x->result.extra.code_hash) &&
        strcmp(under_way->result.extra.code_hash, x->result.extra.code_hash)) {
        AT_TRY(at_candidate_compile(s, x->arena, &x->candidate, &x->result, &x->made, err));
        x->compiled = true;
    }
    if (under_way) s->spent.ahead_ns += at_now_ns() - begin_ns;
    return AT_OK;
}

at_status at_trials_begin(at_tuning *t, at_error *err) {
    if (t->costs && !t->costs_begun)
        AT_TRY(at_speeds_begin(&t->s, t->known, t->log, t->costs, err));
    if (!t->costs_begun) at_tuner_begin(t->tuner);
    t->costs_begun = true;
    return AT_OK;
}

/* The next proposal, made. false: there is none before results are in, or none at all. */
static at_status propose(at_tuning *t, trial *x, const before *b, at_error *err) {
    int64_t begin_ns = at_now_ns();
    AT_TRY(at_trials_begin(t, err));
    for (int passed_over = 0;; passed_over++) {
        at_arena_reset(x->arena);
        x->proposed = passed_over < MOST_PASSED_OVER && at_tuner_next(t->tuner, &x->index, 1) > 0;
        t->s.spent.search_ns += at_now_ns() - begin_ns;
        if (!x->proposed) return AT_OK;
        x->answer = at_known_by_index(t->known, x->index);
        if (x->answer) return AT_OK;
        AT_TRY(make(t, x, b, err));
        if (!x->passed_over) return AT_OK;
        begin_ns = at_now_ns();
        at_tuner_update(t->tuner, &(at_trial){.index = x->index}, 1);
    }
}

/* What a trial is without being measured: it cannot be made, its program or its code is known, or
 * it is hopeless. */
static at_status settle(at_tuning *t, trial *x, double best_s, bool *settled, at_error *err) {
    at_session *s = &t->s;
    *settled = true;
    /* What it was made behind of was the same program, and may have failed. */
    if (x->made && !x->lowered && !at_known_by_key(t->known, x->candidate.key))
        x->made = x->lowered = at_candidate_generate(s, x->arena, &x->candidate, &x->result);
    if (!x->made) return AT_OK;
    const at_record *same = x->lowered ? at_known_by_code(t->known, x->result.extra.code_hash)
                                       : at_known_by_key(t->known, x->candidate.key);
    if (same) at_trial_copy(same, &x->result);
    else if (is_hopeless(s, best_s, &x->candidate)) at_candidate_prune(x->arena, &x->result);
    else {
        bool compiled = true;
        if (!x->compiled)
            AT_TRY(at_candidate_compile(s, x->arena, &x->candidate, &x->result, &compiled, err));
        same =
            compiled && s->foreign ? at_known_by_code(t->known, x->result.extra.code_hash) : NULL;
        if (same) at_trial_copy(same, &x->result);
        *settled = !compiled || same;
    }
    return AT_OK;
}

static at_status append(at_tuning *t, trial *x, at_error *err) {
    AT_TRY(at_log_append(t->log, &x->result, err));
    x->answer = at_session_keep(&t->s, t->s.arena, &x->result, x->index);
    at_known_add(t->known, x->answer, &x->candidate.key);
    return AT_OK;
}

static double best_s(const at_tuning *t) {
    const at_record *best = at_known_best(t->known);
    return best ? at_record_mean(best) : 0;
}

static at_status try_one(at_tuning *t, trial *x, trial *next, at_error *err);

bool at_trial_is_searched(const at_session *s, int64_t index) {
    const at_tuner_options *o = &s->options.tuner_options;
    return index >= o->begin && (!o->end || index < o->end) &&
           at_space_is_valid(s->what.space, index);
}

/* The default configuration, which trials are timed against, was measured, and counts as a result.
 * Unless it was proposed first, it has a record that is no trial, and is the same kernel for the
 * trial that proposes it. */
static at_status try_anchor(at_tuning *t, int64_t proposed, at_error *err) {
    const at_candidate *k = at_anchor_default(&t->s);
    if (!t->log || !k) return AT_OK;
    const int64_t index = k->config.index;
    if (index == proposed || !at_trial_is_searched(&t->s, index) ||
        at_known_by_code(t->known, k->kernel->code_hash))
        return AT_OK;
    trial x = {.arena = at_arena_new(), .index = index};
    at_status status = make(t, &x, &(before){0}, err);
    x.result.extra.part = at_part_anchor;
    if (status == AT_OK && !x.passed_over) status = try_one(t, &x, NULL, err);
    at_arena_free(x.arena);
    return status;
}

static at_status ready_anchor(at_tuning *t, const trial *x, at_error *err) {
    if (at_anchor_is_ready(&t->s)) return AT_OK;
    AT_TRY(at_anchor_ready(&t->s, t->known, t->log, err));
    return try_anchor(t, x->index, err);
}

/* Measures a candidate, and makes the next one meanwhile if that is wanted: what the tuner
 * proposes, or, where there is none, what next says. */
static at_status measure(at_tuning *t, trial *x, double best_s, trial *next, at_error *err) {
    at_session *s = &t->s;
    const before b = {.list = {x}, .num = 1, .under_way = x};
    at_error late;
    AT_TRY(at_accuracy_measure(s, x->arena, &x->candidate, &x->result, err));
    if (!at_accuracy_require(s, x->arena, &x->result)) return AT_OK;
    AT_TRY(at_session_renew_peak(s, peak_age_s, err));
    AT_TRY(ready_anchor(t, x, err));
    at_anchor_ask(s, t->known, x->index, &x->candidate.job);
    AT_TRY(at_candidate_begin(s, &x->candidate, best_s, err));
    at_status ahead = !next      ? AT_OK
                      : t->tuner ? propose(t, next, &b, &late)
                                 : make(t, next, &b, &late);
    AT_TRY(at_candidate_end(s, x->arena, &x->candidate, &x->result, err));
    if (ahead != AT_OK) *err = late;
    return ahead;
}

/* From a proposal to a line of the log. next: where to put the one after it, or NULL. */
static at_status try_one(at_tuning *t, trial *x, trial *next, at_error *err) {
    bool settled;
    at_status status = settle(t, x, best_s(t), &settled, err);
    if (status == AT_OK && !settled) status = measure(t, x, best_s(t), next, err);
    if (x->made) at_candidate_drop(&x->candidate);
    /* A signal to the whole process group ends compilers and worker as well: no result. */
    if (at_engine_stopped(&t->s.options) && x->result.error_no) status = at_fail_stopped(err);
    AT_TRY(status);
    AT_TRY(append(t, x, err));
    if (!settled) cool_down(&t->s);
    return settled ? AT_OK : at_anchor_consider(&t->s, t->known, t->log, x->answer, err);
}

struct at_trial_pair {
    trial slots[2];
    int current; /* the slot of what comes next, if it was made ahead */
};

at_trial_pair *at_trial_pair_new(void) {
    at_trial_pair *p = calloc(1, sizeof *p);
    AT_NEED(p);
    for (int i = 0; i < 2; i++) p->slots[i].arena = at_arena_new();
    return p;
}

static void give_up(trial *x) {
    if (x->proposed && x->made) at_candidate_drop(&x->candidate);
    x->proposed = false;
    at_arena_reset(x->arena);
}

void at_trial_pair_free(at_trial_pair *p) {
    if (!p) return;
    for (int i = 0; i < 2; i++) {
        give_up(&p->slots[i]);
        at_arena_free(p->slots[i].arena);
    }
    free(p);
}

at_status at_trial_measure(at_tuning *t, at_trial_pair *p, int64_t index, int64_t next_index,
                           double known_best_s, at_record *out, at_error *err) {
    at_session *s = &t->s;
    trial *x = &p->slots[p->current], *next = &p->slots[!p->current];
    bool settled;
    if (!x->proposed || x->index != index) {
        give_up(x);
        x->proposed = true;
        x->index = index;
        AT_TRY(make(t, x, &(before){0}, err));
    }
    double own_s = best_s(t), least_s = own_s > 0 ? own_s : known_best_s;
    if (known_best_s > 0 && known_best_s < least_s) least_s = known_best_s;
    give_up(next);
    next->index = next_index;
    next->proposed = next_index >= 0 && s->options.jobs > 1;
    at_status status = settle(t, x, least_s, &settled, err);
    if (status == AT_OK && settled) next->proposed = false;
    if (status == AT_OK && !settled)
        status = measure(t, x, least_s, next->proposed ? next : NULL, err);
    if (x->made) at_candidate_drop(&x->candidate);
    x->proposed = false;
    p->current = !p->current;
    AT_TRY(status);
    *out = x->result;
    at_known_add(t->known, at_session_keep(s, s->arena, &x->result, x->index), &x->candidate.key);
    if (!settled) cool_down(s);
    return AT_OK;
}

/* ---- all of them ---------------------------------------------------------------------------- */

static void count(at_tuning *t, const at_record *r) {
    at_tally *y = &t->tally;
    const at_record *best = at_known_best(t->known);
    y->done++;
    if (r->error_no) y->failed[r->error_no <= AT_ERR_UNKNOWN ? r->error_no : AT_ERR_UNKNOWN]++;
    if (r->error_no && !t->first_failed) t->first_failed = r;
    if (at_accuracy_failed(r)) {
        double error = r->extra.accuracy.max_error;
        if (!y->inaccurate++ || error < y->least_error) y->least_error = error;
    }
    /* The known best may be one of the log that this search has not come to. */
    if (at_record_is_candidate(r) && r->extra.gflops > t->best_gflops)
        t->best_gflops = r->extra.gflops, t->best_trial = y->done;
    y->best = best ? best->extra.gflops : 0;
    y->best_s = best ? at_record_mean(best) : 0;
}

bool at_trial_learn(at_tuning *t, const at_record *r, bool answered) {
    at_session *s = &t->s;
    int64_t begin_ns = at_now_ns(), patience = s->options.early_stopping;
    /* By what is known, since the session has no objective while answers are of a log. */
    const double gflops = at_state_shift_learn(&t->shift, r, at_known_counting(t->known));
    at_tuner_update(t->tuner,
                    &(at_trial){r->config.index, !r->error_no, gflops,
                                !r->error_no && at_record_is_at_least(r)},
                    1);
    s->spent.search_ns += at_now_ns() - begin_ns;
    t->tally.answered += answered;
    if (answered) at_accuracy_learn(s, r);
    count(t, r);
    at_arena_reset(s->scratch); /* for whoever listens */
    if (t->events.trial) t->events.trial(t->events.ctx, t, r, answered);
    bool hopeless = !t->best_gflops && t->tally.inaccurate == MOST_INACCURATE;
    return t->stopped_early = hopeless || (patience && t->tally.done - t->best_trial >= patience);
}

/* Trials that are made and not measured yet, in order. */
typedef struct line {
    trial slots[AHEAD];
    int first, num;
} line;

/* The i-th of them; behind the last: where the next one is made. */
static trial *in_line(line *l, int i) { return &l->slots[(l->first + i) % AHEAD]; }

/* At most so many in a row. The first result does not wait long for others. */
static at_status make_some(at_tuning *t, line *l, int64_t most, at_error *err) {
    before b = {0};
    if (most > t->tally.done + 1) most = t->tally.done + 1;
    if (t->s.foreign && most > at_foreign_in_a_row(&t->s)) most = at_foreign_in_a_row(&t->s);
    if (most > AHEAD) most = AHEAD;
    for (l->first = l->num = 0; l->num < most; l->num++) {
        trial *x = in_line(l, l->num);
        AT_TRY(propose(t, x, &b, err));
        if (!x->proposed) break;
        if (x->answer) continue;
        if (most > 1 && x->lowered && !at_known_by_code(t->known, x->result.extra.code_hash))
            at_candidate_ahead(&t->s, x->arena, &x->candidate);
        b.list[b.num++] = x;
    }
    return AT_OK;
}

/* Meanwhile another one that adds up the same sums was too inaccurate: no trial. */
static bool is_passed_over(at_tuning *t, trial *x) {
    if (x->answer || !x->made || !at_accuracy_is_refused(&t->s, x->candidate.program)) return false;
    at_candidate_drop(&x->candidate);
    at_tuner_update(t->tuner, &(at_trial){.index = x->index}, 1);
    return true;
}

static void leave(line *l) {
    in_line(l, 0)->proposed = false;
    l->first++;
    l->num--;
}

static at_status search(at_tuning *t, int64_t until, line *l, at_error *err) {
    const at_session *s = &t->s;
    const at_engine_options *o = &s->options;
    while (t->tally.done < until && !at_engine_stopped(o)) {
        if (t->deadline_ns && at_now_ns() >= t->deadline_ns) break;
        int64_t left = until - t->tally.done;
        if (!l->num) AT_TRY(make_some(t, l, o->jobs > 1 ? 1 : left, err));
        t->exhausted = !l->num;
        if (t->exhausted) break;
        trial *x = in_line(l, 0), *next = o->jobs > 1 && left > 1 ? in_line(l, 1) : NULL;
        bool answered = x->answer != NULL;
        if (is_passed_over(t, x)) {
            leave(l);
            continue;
        }
        if (!answered) AT_TRY(try_one(t, x, next, err));
        if (!answered && next && next->proposed) l->num++;
        if (at_trial_learn(t, x->answer, answered)) break;
        leave(l);
    }
    return AT_OK;
}

at_status at_trials_run(at_tuning *t, int64_t until, at_error *err) {
    at_session *s = &t->s;
    const at_engine_options *o = &s->options;
    line l = {0};
    for (int i = 0; i < AHEAD; i++) l.slots[i].arena = at_arena_new();
    int64_t start_ns = at_now_ns(), start_kernel_ns = s->spent.kernel_ns;
    if (o->jobs > 1)
        at_cpu_leave(s->how.threads); /* at_session_context has seen that there are others */
    at_status status = search(t, until, &l, err);
    s->spent.trials_ns += at_now_ns() - start_ns;
    s->spent.trials_kernel_ns += s->spent.kernel_ns - start_kernel_ns;
    if (o->jobs > 1) at_cpu_return();
    for (int i = 0; i < AHEAD; i++) {
        /* proposed, but not measured any more */
        if (l.slots[i].proposed && l.slots[i].made) at_candidate_drop(&l.slots[i].candidate);
        at_arena_free(l.slots[i].arena);
    }
    return at_is_end(status) ? AT_OK : status;
}
