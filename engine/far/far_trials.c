/* engine/far/far_trials.c: trials of workers elsewhere, from the proposal to the line of the log.
 * The tuner is asked when a worker is free, and never waits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/far/far_state.h"
#include "engine/search/trials.h"

/* What is under way beyond AT_FAR_DEPTH: so many seconds of trials, and not more than this part of
 * those that are known, since no proposal has learned from what is under way. */
static const double ahead_s = 0.1, ahead_of_known = 1.0 / 8;

typedef at_flight flight;
typedef struct at_far_search far_search;

/* ---- results --------------------------------------------------------------------------------- */

at_status at_far_take(at_tuning *t, flight *x, at_record *r, const at_key *key, bool *enough,
                      at_error *err) {
    at_session *s = &t->s;
    far_search *f = t->far;
    const bool is_trial = x->id.number != AT_FLIGHT_OF_ANCHOR;
    if (is_trial) r->extra.trial = x->id, r->extra.trial.asked = f->asked;
    r->extra.tuner = s->how.tuner;
    r->extra.seed = s->options.seed;
    r->extra.part = is_trial ? at_tuner_part(t->tuner, x->index) : at_part_anchor;
    /* Two workers may have come to the same code: one result counts. */
    const at_record *same =
        *r->extra.code_hash ? at_known_by_code(t->known, r->extra.code_hash) : NULL;
    if (same && r->extra.same_as < 0) at_trial_copy(same, r);
    AT_TRY(at_log_append(t->log, r, err));
    const at_record *kept = at_session_keep(s, s->arena, r, x->index);
    at_known_add(t->known, kept, key);
    at_flight_end(&f->flights, x);
    if (is_trial) *enough = at_trial_learn(t, kept, false);
    return AT_OK;
}

at_status at_far_build(at_tuning *t, const flight *x, at_record *r, at_key *key, bool *made,
                       at_error *err) {
    at_arena *a = t->far->build;
    at_config config;
    at_candidate candidate;
    at_arena_reset(a);
    AT_TRY(at_config_at(a, t->s.what.space, x->index, &config, err));
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
    AT_TRY(at_far_build(t, x, &r, &key, &made, err));
    at_trial_copy(same, &r);
    return at_far_take(t, x, &r, &key, enough, err);
}

at_status at_far_take_waiting(at_tuning *t, bool *enough, at_error *err) {
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

bool at_far_propose(at_tuning *t, int64_t *index) {
    int64_t begin_ns = at_now_ns();
    bool is_one = at_tuner_next(t->tuner, index, 1) > 0;
    t->s.spent.search_ns += at_now_ns() - begin_ns;
    t->far->asked += is_one;
    t->exhausted = !is_one;
    return is_one;
}

flight *at_far_enter(at_tuning *t, int64_t number, int64_t index) {
    far_search *f = t->far;
    const at_trial_id id = {.search = f->search, .epoch = f->epoch, .number = number, .attempt = 1};
    return at_flight_new(&f->flights, &id, index);
}

at_status at_far_begin_trial(at_tuning *t, flight *x, bool *enough, at_error *err) {
    at_flights *f = &t->far->flights;
    at_record r;
    bool made;
    at_key key;
    AT_TRY(at_far_build(t, x, &r, &key, &made, err));
    if (!made) return at_far_take(t, x, &r, &key, enough, err);
    const at_record *same = at_known_by_key(t->known, key);
    if (same) {
        at_trial_copy(same, &r);
        return at_far_take(t, x, &r, &key, enough, err);
    }
    at_flight_built(f, x, key);
    if (at_flight_has_twin(f, x)) at_flight_move(f, x, AT_FLIGHT_WITH_ANOTHER);
    return AT_OK;
}

at_status at_far_begin_default(at_tuning *t, at_error *err) {
    far_search *f = t->far;
    const at_known *k = t->known;
    at_config c;
    bool enough;
    if (!f->has_anchor || !at_tuning_default_config(&t->s, &c) ||
        !at_trial_is_searched(&t->s, c.index) || at_known_of_index(k, c.index) ||
        at_known_by_code(k, f->anchor.first))
        return AT_OK;
    for (int i = 0; i < f->flights.len; i++)
        if (f->flights.of[i]->index == c.index) return AT_OK;
    return at_far_begin_trial(t, at_far_enter(t, AT_FLIGHT_OF_ANCHOR, c.index), &enough, err);
}

static int64_t trials_under_way(const at_flights *f) {
    return f->len - (f->len && f->of[0]->id.number == AT_FLIGHT_OF_ANCHOR);
}

static at_status begin_next(at_tuning *t, bool *enough, at_error *err) {
    int64_t index;
    if (!at_far_propose(t, &index)) return AT_OK;
    const at_record *known = at_known_by_index(t->known, index);
    if (known) *enough = at_trial_learn(t, known, true);
    else AT_TRY(at_far_begin_trial(t, at_far_enter(t, t->far->asked - 1, index), enough, err));
    return t->far->asked == 1 ? at_far_begin_default(t, err) : AT_OK;
}

/* There is room at a worker; those that wait longest come first. */
void at_far_add_free(far_search *f, int worker) {
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

static int depth_of(const at_tuning *t, const at_place *p) {
    const far_search *f = t->far;
    if (f->num_places > AT_FAR_FEW || !(p->trial_s > 0)) return AT_FAR_DEPTH;
    double known = (double)t->tally.done / f->num_places * ahead_of_known;
    double depth = AT_FAR_DEPTH + fmin(ahead_s / p->trial_s, known);
    return depth < AT_FAR_MOST_DEPTH ? (int)depth : AT_FAR_MOST_DEPTH;
}

static bool has_room(const at_tuning *t, int worker) {
    const at_place *p = &t->far->places[worker];
    return p->is_in && p->under_way < depth_of(t, p);
}

/* The first of them, -1: none; it stays there until something is sent. */
static int free_worker(const at_tuning *t) {
    far_search *f = t->far;
    for (; f->first_free < f->num_free; f->first_free++) {
        int worker = f->free[f->first_free];
        if (has_room(t, worker)) return worker;
    }
    return -1;
}

static at_status send(at_tuning *t, flight *x, int worker, at_error *err) {
    far_search *f = t->far;
    const at_record *best = at_known_best(t->known);
    at_text entity = {0};
    at_config config;
    at_arena_reset(f->build);
    AT_TRY(at_config_at(f->build, t->s.what.space, x->index, &config, err));
    at_config_print_json(&entity, &config);
    f->far->trial(f->far->self, worker, &x->id, at_text_str(&entity),
                  best ? at_record_mean(best) * f->places[worker].scale : 0);
    at_text_free(&entity);
    at_flight_move(&f->flights, x, worker);
    f->first_free++;
    f->places[worker].under_way++;
    if (has_room(t, worker)) at_far_add_free(f, worker);
    return AT_OK;
}

at_status at_far_fill(at_tuning *t, int64_t until, bool *enough, at_error *err) {
    far_search *f = t->far;
    for (int worker; !*enough && (worker = free_worker(t)) >= 0;) {
        flight *x = at_flight_unsent(&f->flights);
        if (x) {
            AT_TRY(send(t, x, worker, err));
            continue;
        }
        if (t->tally.done + trials_under_way(&f->flights) >= until ||
            at_engine_stopped(&t->s.options))
            break;
        AT_TRY(begin_next(t, enough, err));
        if (t->exhausted) break;
    }
    return AT_OK;
}
