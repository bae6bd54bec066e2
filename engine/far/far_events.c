/* engine/far/far_events.c: what comes from workers elsewhere, in any order: they join and leave,
 * and each trial's result counts once. */
#include <string.h>

#include "engine/far/far_anchor.h"
#include "engine/far/far_state.h"

/* How often a trial may be lost with its worker before it counts as failed itself. */
enum { MOST_ATTEMPTS = 3 };
static const double newest = 0.2; /* what the last trial counts in at_place.trial_s */

typedef at_flight flight;
typedef at_place place;
typedef struct at_far_search far_search;

static bool is_of_task(const at_tuning *t, const at_record *r) {
    return at_same_task(r->task, r->args, at_task_record_name(t->s.what.task),
                        at_task_args(t->s.what.task));
}

static bool is_of_search(const at_tuning *t, const at_record *r) {
    return !strcmp(r->extra.context_hash, t->far->said_hash) && is_of_task(t, r);
}

/* It belongs to nobody until it joins. */
static void forget(at_tuning *first, int worker) {
    at_tuning **owner = &first->far->owners[worker];
    at_far_anchor_settle(first, worker);
    if (*owner && worker < (*owner)->far->num_places) (*owner)->far->places[worker] = (place){0};
    *owner = NULL;
}

/* The search that a worker belongs to. Each context has its own: times of different machines are
 * not compared. NULL: the worker is not used, or not yet. */
static at_status choose_search(at_tuning *first, const at_far_event *e, at_tuning **out,
                               at_error *err) {
    far_search *f = first->far;
    *out = NULL;
    if (e->worker >= AT_FAR_WORKERS || !is_of_task(first, &e->record)) {
        f->far->refuse(f->far->self, e->worker, "");
        if (e->worker < AT_FAR_WORKERS) forget(first, e->worker);
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
            if (!strcmp(t->s.how.context_hash, hash)) *out = t;
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
        AT_TRY(at_far_begin_beside(first, e, &c, err));
    }
}

at_status at_far_join(at_tuning *first, const at_far_event *e, at_error *err) {
    at_tuning *t = e->worker < AT_FAR_WORKERS ? first->far->owners[e->worker] : NULL;
    if (t && t->far->places[e->worker].is_in) return at_far_anchor_hear(t, e), AT_OK;
    AT_TRY(choose_search(first, e, &t, err));
    if (!t) return AT_OK;
    forget(first, e->worker);
    far_search *f = t->far;
    first->far->owners[e->worker] = t;
    f->places[e->worker] = (place){
        .is_in = true, .node = at_strdup(t->s.arena, e->node), .scale = at_far_anchor_scale(t, e)};
    if (e->worker >= f->num_places) f->num_places = e->worker + 1;
    at_far_add_free(f, e->worker);
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
        AT_TRY(at_far_build(t, x, &r, &(at_key){0}, &made, err));
        at_candidate_lose(f->build, &r,
                          at_format(f->build, "%d workers were lost with it", MOST_ATTEMPTS));
        AT_TRY(at_far_take(t, x, &r, NULL, enough, err));
        i--;
    }
    return at_far_take_waiting(t, enough, err);
}

/* Whether the record is of the flight's configuration; then it has it, in f->build, with its space.
 */
static bool is_of_flight(at_tuning *t, const flight *x, at_record *r) {
    at_arena_reset(t->far->build);
    return r->config.index == x->index &&
           at_config_at(t->far->build, t->s.what.space, x->index, &r->config, NULL) == AT_OK;
}

/* Of this search and epoch, under way, and of the attempt that is: once. */
static at_status arrive(at_tuning *t, at_far_event *e, bool *enough, at_error *err) {
    far_search *f = t->far;
    at_record *r = &e->record;
    flight *x = e->trial.search == f->search && e->trial.epoch == f->epoch
                    ? at_flight_find(&f->flights, e->trial.number)
                    : NULL;
    if (!x || x->worker != e->worker || e->trial.attempt != x->id.attempt) return AT_OK;
    place *p = &f->places[e->worker];
    p->under_way--;
    p->trial_s += (p->trial_s > 0 ? newest : 1) * (r->all_cost_s - p->trial_s);
    at_far_add_free(f, e->worker);
    if (!is_of_search(t, r) || !is_of_flight(t, x, r)) {
        f->far->refuse(f->far->self, e->worker, "its result is of another trial");
        e->text = "";
        return leave(t, e, enough, err);
    }
    at_far_anchor_apply(t, p, r);
    t->s.spent.measured++;
    at_key key = x->key;
    AT_TRY(at_far_take(t, x, r, &key, enough, err));
    bool is_wanted = at_flights_may_have(&f->flights, key); /* by those that wait for it */
    return *enough || !is_wanted ? AT_OK : at_far_take_waiting(t, enough, err);
}

at_status at_far_next_event(at_tuning *t, double wait_s, at_far_event *e, at_error *err) {
    far_search *f = t->far;
    at_arena_reset(f->scratch);
    *e = (at_far_event){0};
    AT_TRY(f->far->next(f->far->self, f->scratch, wait_s, e, err));
    t->tally.workers = f->far->workers(f->far->self);
    if (e->kind == AT_FAR_TOLD) at_engine_warn(&t->s.options, e->text);
    return AT_OK;
}

at_status at_far_take_event(at_tuning *first, double wait_s, bool *some, at_error *err) {
    at_far_event e;
    AT_TRY(at_far_next_event(first, wait_s, &e, err));
    *some = e.kind != AT_FAR_NOTHING;
    if (e.kind == AT_FAR_JOINED) return at_far_join(first, &e, err);
    bool is_known = e.worker >= 0 && e.worker < AT_FAR_WORKERS;
    at_tuning *t = is_known ? first->far->owners[e.worker] : NULL;
    if (is_known && e.kind == AT_FAR_LEFT) at_far_anchor_settle(first, e.worker);
    if (!t) return AT_OK;
    if (e.kind == AT_FAR_LEFT) return leave(t, &e, &t->far->is_enough, err);
    if (e.kind == AT_FAR_RESULT) return arrive(t, &e, &t->far->is_enough, err);
    return AT_OK;
}
