/* engine/far_search.c: trials measured by workers elsewhere. The tuner is asked when a worker is
 * free, never waits, and is told of results in the order in which they come. */
#include "engine/far_search.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "engine/far_anchor.h"
#include "engine/far_state.h"
#include "engine/trials.h"

/* How often a trial may be lost with its worker before it counts as failed itself. */
enum { MOST_ATTEMPTS = 3 };
static const double wait_s = 0.1;

typedef at_flight flight;
typedef at_place place;
typedef struct at_far_search far_search;

/* ---- results --------------------------------------------------------------------------------- */

/* A line of the log, for good; *enough: as at_trial_learn says. */
static at_status take(at_tuning *t, flight *x, at_record *r, const at_key *key, bool *enough,
                      at_error *err) {
    at_session *s = &t->s;
    far_search *f = t->far;
    r->extra.trial = x->id;
    r->extra.trial.asked = f->asked;
    r->extra.tuner = s->tuner;
    r->extra.seed = s->options.seed;
    r->extra.part = at_tuner_part(t->tuner, x->index);
    /* Two workers may have come to the same code: one result counts. */
    const at_record *same =
        *r->extra.code_hash ? at_known_by_code(t->known, r->extra.code_hash) : NULL;
    if (same && r->extra.same_as < 0) at_trial_copy(same, r);
    AT_TRY(at_log_append(t->log, r, err));
    const at_record *kept = at_session_keep(s, s->arena, r, x->index);
    at_known_add(t->known, kept, key);
    at_flight_end(&f->flights, x);
    *enough = at_trial_learn(t, kept, false);
    return AT_OK;
}

/* Its program, in f->build; *made false: *r says why there is none. */
static at_status build(at_tuning *t, const flight *x, at_record *r, at_key *key, bool *made,
                       at_error *err) {
    at_arena *a = t->far->build;
    at_config config;
    at_candidate candidate;
    at_arena_reset(a);
    AT_TRY(at_config_at(a, t->s.space, x->index, &config, err));
    *made = at_candidate_build(&t->s, a, &config, &candidate, r);
    *key = candidate.key;
    return AT_OK;
}

/* Its program is known by now. */
static at_status take_known(at_tuning *t, flight *x, const at_record *same, bool *enough,
                            at_error *err) {
    at_record r;
    bool made;
    at_key key;
    AT_TRY(build(t, x, &r, &key, &made, err));
    at_trial_copy(same, &r);
    return take(t, x, &r, &key, enough, err);
}

/* Those that waited for the program of another: it is known, or lost. */
static at_status take_waiting(at_tuning *t, bool *enough, at_error *err) {
    at_flights *f = &t->far->flights;
    for (int i = 0; i < f->len && f->num_with_another && !*enough; i++) {
        flight *x = f->of[i];
        if (x->worker != AT_FLIGHT_WITH_ANOTHER) continue;
        const at_record *same = at_known_by_key(t->known, x->key);
        if (!same) {
            if (!at_flight_has_twin(f, x)) at_flight_move(f, x, AT_FLIGHT_UNSENT);
            continue;
        }
        AT_TRY(take_known(t, x, same, enough, err));
        i--;
    }
    return AT_OK;
}

/* ---- proposals ------------------------------------------------------------------------------- */

static bool propose(at_tuning *t, int64_t *index) {
    int64_t begin_ns = at_now_ns();
    bool is_one = at_tuner_next(t->tuner, index, 1) > 0;
    t->s.spent.search_ns += at_now_ns() - begin_ns;
    t->far->asked += is_one;
    t->exhausted = !is_one;
    return is_one;
}

static flight *enter(at_tuning *t, int64_t number, int64_t index) {
    far_search *f = t->far;
    const at_trial_id id = {.search = f->search, .epoch = f->epoch, .number = number, .attempt = 1};
    return at_flight_new(&f->flights, &id, index);
}

/* A trial that is new, until it is known, fails to be made, or is to be sent. */
static at_status begin_trial(at_tuning *t, flight *x, bool *enough, at_error *err) {
    at_flights *f = &t->far->flights;
    at_record r;
    bool made;
    at_key key;
    AT_TRY(build(t, x, &r, &key, &made, err));
    if (!made) return take(t, x, &r, &key, enough, err);
    const at_record *same = at_known_by_key(t->known, key);
    if (same) {
        at_trial_copy(same, &r);
        return take(t, x, &r, &key, enough, err);
    }
    at_flight_built(f, x, key);
    if (at_flight_has_twin(f, x)) at_flight_move(f, x, AT_FLIGHT_WITH_ANOTHER);
    return AT_OK;
}

static at_status begin_next(at_tuning *t, bool *enough, at_error *err) {
    int64_t index;
    if (!propose(t, &index)) return AT_OK;
    const at_record *known = at_known_by_index(t->known, index);
    if (known) return *enough = at_trial_learn(t, known, true), AT_OK;
    return begin_trial(t, enter(t, t->far->asked - 1, index), enough, err);
}

/* There is room at a worker; those that wait longest come first. */
static void add_free(far_search *f, int worker) {
    if (f->num_free == f->cap_free && f->first_free > f->cap_free / 2) {
        f->num_free -= f->first_free;
        memmove(f->free, f->free + f->first_free, sizeof *f->free * (size_t)f->num_free);
        f->first_free = 0;
    }
    if (f->num_free == f->cap_free) {
        f->cap_free = f->cap_free ? 2 * f->cap_free : 64;
        f->free = realloc(f->free, sizeof *f->free * (size_t)f->cap_free);
        AT_NEED(f->free);
    }
    f->free[f->num_free++] = worker;
}

static bool has_room(const far_search *f, int worker) {
    int depth = f->num_places > AT_FAR_FEW ? AT_FAR_DEPTH : AT_FAR_DEPTH_OF_FEW;
    return f->places[worker].is_in && f->places[worker].under_way < depth;
}

/* The first of them, -1: none; it stays there until something is sent. */
static int free_worker(far_search *f) {
    for (; f->first_free < f->num_free; f->first_free++) {
        int worker = f->free[f->first_free];
        if (has_room(f, worker)) return worker;
    }
    return -1;
}

static at_status send(at_tuning *t, flight *x, int worker, at_error *err) {
    far_search *f = t->far;
    const at_record *best = at_known_best(t->known);
    at_text entity = {0};
    at_config config;
    at_arena_reset(f->build);
    AT_TRY(at_config_at(f->build, t->s.space, x->index, &config, err));
    at_config_print_json(&entity, &config);
    f->far->trial(f->far->self, worker, &x->id, at_text_str(&entity),
                  best ? at_record_mean(best) * f->places[worker].scale : 0);
    at_text_free(&entity);
    at_flight_move(&f->flights, x, worker);
    f->first_free++;
    f->places[worker].under_way++;
    if (has_room(f, worker)) add_free(f, worker);
    return AT_OK;
}

/* Every free worker gets a trial. */
static at_status fill(at_tuning *t, int64_t until, bool *enough, at_error *err) {
    far_search *f = t->far;
    for (int worker; !*enough && (worker = free_worker(f)) >= 0;) {
        flight *x = at_flight_unsent(&f->flights);
        if (x) {
            AT_TRY(send(t, x, worker, err));
            continue;
        }
        if (t->tally.done + f->flights.len >= until || at_engine_stopped(&t->s.options)) break;
        AT_TRY(begin_next(t, enough, err));
        if (t->exhausted) break;
    }
    return AT_OK;
}

/* ---- what comes ------------------------------------------------------------------------------ */

static bool is_of_task(const at_tuning *t, const at_record *r) {
    return !strcmp(r->task, at_task_record_name(t->s.task)) &&
           at_args_equal(r->args, at_task_args(t->s.task));
}

static bool is_of_search(const at_tuning *t, const at_record *r) {
    return !strcmp(r->extra.context_hash, t->far->said_hash) && is_of_task(t, r);
}

static at_status begin_beside(at_tuning *t, const at_far_event *e, const at_context *c,
                              at_error *err);

/* The search that a worker belongs to. Each context has its own: times of different machines are
 * not compared. NULL: the worker is not used, or not yet. */
static at_status choose_search(at_tuning *first, const at_far_event *e, at_tuning **out,
                               at_error *err) {
    far_search *f = first->far;
    *out = NULL;
    if (e->worker >= AT_FAR_WORKERS || !is_of_task(first, &e->record)) {
        f->far->refuse(f->far->self, e->worker, "");
        at_engine_warn(&first->s.options,
                       at_format(f->scratch, "%s: it measures another task; not used", e->name));
        return AT_OK;
    }
    for (;;) {
        char hash[33];
        bool odd, later;
        const at_context c = at_far_anchor_context(first, f->scratch, e, &odd, &later);
        if (later) return AT_OK;
        at_context_hash(&c, hash);
        for (at_tuning *t = first; t && !*out; t = t->other)
            if (!strcmp(t->s.context_hash, hash)) *out = t;
        if (*out) return AT_OK;
        const char *text =
            odd ? at_format(f->scratch,
                            "%s: two kernels compare in another way than on the first such "
                            "machine (%s)",
                            e->name, c.machine)
                : at_format(f->scratch, "%s: its context is another one (%s, %s, %s)", e->name,
                            c.cpu, c.machine, c.isa);
        if (first->s.options.same_context)
            return at_fail(err, AT_E_USAGE, "--same-context: %s", text);
        at_engine_warn(&first->s.options, at_format(f->scratch, "%s: a search of its own", text));
        /* Whose log may know a machine that this worker is apart from. */
        AT_TRY(begin_beside(first, e, &c, err));
    }
}

static at_status join(at_tuning *first, const at_far_event *e, at_error *err) {
    at_tuning *t = e->worker < AT_FAR_WORKERS ? first->far->owners[e->worker] : NULL;
    if (t && t->far->places[e->worker].is_in) return at_far_anchor_hear(t, e), AT_OK;
    AT_TRY(choose_search(first, e, &t, err));
    if (!t) return AT_OK;
    at_far_anchor_settle(first, e->worker);
    far_search *f = t->far;
    first->far->owners[e->worker] = t;
    f->places[e->worker] = (place){
        .is_in = true, .node = at_strdup(t->s.arena, e->node), .scale = at_far_anchor_scale(t, e)};
    if (e->worker >= f->num_places) f->num_places = e->worker + 1;
    add_free(f, e->worker);
    return AT_OK;
}

/* Its trials go to others, from the front; what is lost too often is itself to blame. */
static at_status leave(at_tuning *t, const at_far_event *e, bool *enough, at_error *err) {
    far_search *f = t->far;
    if (e->worker < f->num_places) f->places[e->worker] = (place){0};
    for (int i = 0; i < f->flights.len; i++) {
        flight *x = f->flights.of[i];
        if (x->worker != e->worker) continue;
        at_flight_move(&f->flights, x, AT_FLIGHT_UNSENT);
        if (x->id.attempt++ < MOST_ATTEMPTS) continue;
        x->id.attempt--;
        at_record r;
        bool made;
        AT_TRY(build(t, x, &r, &(at_key){0}, &made, err));
        at_candidate_lose(f->build, &r,
                          at_format(f->build, "%d workers were lost with it", MOST_ATTEMPTS));
        AT_TRY(take(t, x, &r, NULL, enough, err));
        i--;
    }
    return take_waiting(t, enough, err);
}

/* Whether the record is of the flight's configuration; then it has it, in f->build, with its space.
 */
static bool is_of_flight(at_tuning *t, const flight *x, at_record *r) {
    at_arena_reset(t->far->build);
    return r->config.index == x->index &&
           at_config_at(t->far->build, t->s.space, x->index, &r->config, NULL) == AT_OK;
}

/* Of this search and epoch, under way, and of the attempt that is: once. */
static at_status arrive(at_tuning *t, at_far_event *e, bool *enough, at_error *err) {
    far_search *f = t->far;
    at_record *r = &e->record;
    flight *x = e->trial.search == f->search && e->trial.epoch == f->epoch
                    ? at_flight_find(&f->flights, e->trial.number)
                    : NULL;
    if (!x || x->worker != e->worker || e->trial.attempt != x->id.attempt) return AT_OK;
    f->places[e->worker].under_way--;
    add_free(f, e->worker);
    if (!is_of_search(t, r) || !is_of_flight(t, x, r)) {
        f->far->refuse(f->far->self, e->worker, "its result is of another trial");
        e->text = "";
        return leave(t, e, enough, err);
    }
    at_far_anchor_apply(t, &f->places[e->worker], r);
    t->s.spent.measured++;
    at_key key = x->key;
    AT_TRY(take(t, x, r, &key, enough, err));
    bool is_wanted = at_flights_may_have(&f->flights, key); /* by those that wait for it */
    return *enough || !is_wanted ? AT_OK : take_waiting(t, enough, err);
}

at_status at_far_next_event(at_tuning *t, at_far_event *e, at_error *err) {
    far_search *f = t->far;
    at_arena_reset(f->scratch);
    *e = (at_far_event){0};
    AT_TRY(f->far->next(f->far->self, f->scratch, wait_s, e, err));
    t->tally.workers = f->far->workers(f->far->self);
    if (e->kind == AT_FAR_TOLD) at_engine_warn(&t->s.options, e->text);
    return AT_OK;
}

static at_status take_event(at_tuning *first, at_error *err) {
    at_far_event e;
    AT_TRY(at_far_next_event(first, &e, err));
    if (e.kind == AT_FAR_JOINED) return join(first, &e, err);
    bool is_known = e.worker >= 0 && e.worker < AT_FAR_WORKERS;
    at_tuning *t = is_known ? first->far->owners[e.worker] : NULL;
    if (is_known && e.kind == AT_FAR_LEFT) at_far_anchor_settle(first, e.worker);
    if (!t) return AT_OK;
    if (e.kind == AT_FAR_LEFT) return leave(t, &e, &t->far->is_enough, err);
    if (e.kind == AT_FAR_RESULT) return arrive(t, &e, &t->far->is_enough, err);
    return AT_OK;
}

/* ---- from the log ---------------------------------------------------------------------------- */

/* Of the log's trials those that have a number, in the order of their results: the tuner is asked
 * as often before each as it was then, and told the same. false: it is another search. */
static bool follow(at_tuning *t, const at_record *r, int64_t until, bool *enough) {
    far_search *f = t->far;
    int64_t index;
    flight *x;
    while (f->asked < r->extra.trial.asked) {
        if (!propose(t, &index)) return false;
        const at_record *known = at_known_by_index(t->known, index);
        /* Known without a number: it was answered then, too. */
        if (known && known->extra.trial.search != f->search) {
            if (t->tally.done < until) *enough = at_trial_learn(t, known, true);
            continue;
        }
        enter(t, f->asked - 1, index);
    }
    x = at_flight_find(&f->flights, r->extra.trial.number);
    if (!x || x->index != r->config.index) return false;
    at_flight_end(&f->flights, x);
    *enough = at_trial_learn(t, r, true);
    return true;
}

/* Brings the search back to where the log ends; what was under way then is begun again. */
static at_status resume(at_tuning *t, int64_t until, bool *enough, at_error *err) {
    far_search *f = t->far;
    for (int i = 0; i < at_known_count(t->known) && !*enough && t->tally.done < until; i++) {
        const at_record *r = at_known_at(t->known, i);
        if (r->extra.trial.search != f->search) continue;
        if (!follow(t, r, until, enough)) break;
    }
    for (int i = 0; i < f->flights.len && !*enough; i++) {
        flight *x = f->flights.of[i];
        const at_record *known = at_known_by_index(t->known, x->index);
        int before = f->flights.len;
        if (known) {
            at_flight_end(&f->flights, x);
            *enough = at_trial_learn(t, known, true);
        } else AT_TRY(begin_trial(t, x, enough, err));
        i -= before - f->flights.len;
    }
    return AT_OK;
}

static uint64_t search_of(const at_known *k) {
    uint64_t search = 0;
    for (int i = at_known_count(k) - 1; i >= 0 && !search; i--)
        search = at_known_at(k, i)->extra.trial.search;
    while (!search)
        if (getrandom(&search, sizeof search, 0) != sizeof search) search = 0;
    return search;
}

/* ---- the whole of it ------------------------------------------------------------------------- */

/* What the worker's records say of its machine is what this session's say. */
static at_status adopt(at_tuning *t, const at_far_event *e, const at_context *c, at_error *err) {
    at_session *s = &t->s;
    const at_extra *x = &e->record.extra;
    s->target = at_target_find(x->context.isa);
    if (!s->target)
        return at_fail(err, AT_E_BUG, "%s measures with --isa %s, which this version does not know",
                       e->name, x->context.isa);
    s->context = at_context_copy(s->arena, c);
    at_context_hash(c, s->context_hash);
    memcpy(t->far->said_hash, x->context_hash, sizeof t->far->said_hash);
    s->threads = x->context.threads;
    s->record_target = at_strdup(s->arena, e->record.target);
    s->compiler_version = at_strdup(s->arena, x->compiler_version);
    s->cpu_flags = at_strdup(s->arena, x->cpu_flags);
    s->peak = x->peak_gflops;
    s->peak_gflops = s->in_bytes ? 0 : x->peak_gflops;
    t->far->begun = true;
    return AT_OK;
}

static far_search *new_search(at_tuning *t, const at_far *far, const at_request *q) {
    far_search *f = t->far = AT_NEW(t->s.arena, far_search);
    f->far = far;
    f->request = *q;
    f->scratch = at_arena_new();
    f->build = at_arena_new();
    return f;
}

at_status at_far_open(at_tuning *t, const at_request *q, at_error *err) {
    at_session *s = &t->s;
    const at_engine_options *o = &s->options;
    far_search *f = new_search(t, o->far, q);
    f->is_first = true;
    AT_TRY(at_session_context(s, false, err));
    at_far_task *task = AT_NEW(s->arena, at_far_task);
    *task = (at_far_task){.options = o,
                          .request = q,
                          .template_name = s->row->name,
                          .template_file = at_template_file(s->row),
                          .args = at_json_text(s->arena, at_task_args(s->task)),
                          .template_hash = at_task_hash(s->task),
                          .second = at_far_anchor_second(t)};
    at_engine_note(o, "waiting for the first worker ...");
    AT_TRY(f->far->begin(f->far->self, task, err));
    while (!f->begun) {
        at_far_event e;
        AT_TRY(at_far_next_event(t, &e, err));
        if (at_engine_stopped(o)) return at_fail(err, AT_E_INTERRUPTED, "interrupted");
        if (e.kind != AT_FAR_JOINED) continue;
        AT_TRY(adopt(t, &e, &e.record.extra.context, err));
        f->first = e;
        f->kept = f->scratch;
        f->scratch = at_arena_new();
    }
    return AT_OK;
}

at_status at_far_begin(at_tuning *t, at_error *err) {
    far_search *f = t->far;
    at_text line = {0};
    f->search = search_of(t->known);
    f->epoch = at_known_epochs(t->known) + 1;
    at_search_line_print(&line, f->search, f->epoch);
    at_status status = at_log_comment(t->log, at_text_str(&line), err);
    at_text_free(&line);
    return status == AT_OK ? at_far_anchor_begin(t, err) : status;
}

/* The search of another context: with the same log, and what is known so far to learn from. */
static at_status begin_beside(at_tuning *first, const at_far_event *e, const at_context *c,
                              at_error *err) {
    at_tuning *last = first, *t = AT_NEW(first->s.arena, at_tuning);
    const at_request *q = &first->far->request;
    while (last->other) last = last->other;
    AT_TRY(first->begin_other(first, q, t, err));
    last->other = t;
    new_search(t, first->far->far, q);
    AT_TRY(at_session_context(&t->s, false, err));
    AT_TRY(adopt(t, e, c, err));
    t->far->first = *e;
    AT_TRY(at_known_read_log(t->known, &t->s, t->log_path, err));
    AT_TRY(at_far_begin(t, err));
    return resume(t, t->tally.total, &t->far->is_enough, err);
}

static bool is_finished(const at_tuning *t, int64_t until) {
    const far_search *f = t->far;
    return f->is_enough || (!f->flights.len && (t->exhausted || t->tally.done >= until));
}

static bool has_workers(const far_search *f) {
    for (int i = 0; i < f->num_places; i++)
        if (f->places[i].is_in) return true;
    return false;
}

/* All are finished, or those that are not have nobody left who could measure for them. */
static bool all_finished(const at_tuning *first, int64_t until) {
    bool some = false, waits = false;
    if (first->far->num_doubts) return false; /* whose search may have to begin yet */
    for (const at_tuning *t = first; t; t = t->other) {
        bool finished = is_finished(t, t == first ? until : t->tally.total);
        some |= finished;
        if (!finished && (has_workers(t->far) || !first->other)) return false;
        waits |= !finished;
    }
    return some || !waits;
}

static at_status fill_all(at_tuning *first, int64_t until, at_error *err) {
    for (at_tuning *t = first; t; t = t->other) {
        if (t->far->is_enough) continue;
        AT_TRY(fill(t, t == first ? until : t->tally.total, &t->far->is_enough, err));
    }
    return AT_OK;
}

at_status at_far_run(at_tuning *t, int64_t until, at_error *err) {
    far_search *f = t->far;
    const at_engine_options *o = &t->s.options;
    int64_t start_ns = at_now_ns();
    at_status status = resume(t, until, &f->is_enough, err);
    if (status == AT_OK && f->kept) {
        status = join(t, &f->first, err);
        at_arena_free(f->kept);
        f->kept = NULL;
    }
    while (status == AT_OK && !at_engine_stopped(o)) {
        if (t->deadline_ns && at_now_ns() >= t->deadline_ns) break;
        status = fill_all(t, until, err);
        if (status != AT_OK || all_finished(t, until)) break;
        status = take_event(t, err);
    }
    t->s.spent.trials_ns += at_now_ns() - start_ns;
    return status;
}

void at_far_close(at_tuning *t) {
    far_search *f = t->far;
    if (f->is_first) f->far->end(f->far->self);
    at_flights_free(&f->flights);
    at_arena_free(f->build);
    free(f->free);
    at_arena_free(f->scratch);
    if (f->kept) at_arena_free(f->kept);
    t->far = NULL;
}
