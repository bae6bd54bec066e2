/* engine/far/far_search.c: trials measured by workers elsewhere: how such a search begins, goes on
 * where its log ends, and is over. */
#include "engine/far/far_search.h"

#include <stdlib.h>

#include "engine/far/far_anchor.h"
#include "engine/far/far_state.h"

enum { MOST_AT_ONCE = 16 };
static const int64_t tell_waiting_ns = 5000000000; /* workers of this machine come within 1 s */

typedef struct at_far_search far_search;

at_status at_far_prepare(at_tuning *t, const at_request *q, at_error *err) {
    at_session *s = &t->s;
    const at_engine_options *o = &s->options;
    far_search *f = at_far_new(t, o->far, q);
    f->is_first = true;
    AT_TRY(at_session_context(s, false, err));
    at_far_task *task = AT_NEW(s->arena, at_far_task);
    const at_foreign *foreign = at_foreign_of(s->what.task);
    const char *files = "", *program = "", *file = at_template_file(s->what.row);
    const char *text = at_template_own_text(s->what.row);
    if (text && !file) file = at_format(s->arena, "%s.te", at_template_base(s->what.row)->name);
    if (foreign) AT_TRY(at_foreign_files(s->arena, foreign, &files, err));
    if (foreign && o->set & AT_SET_COMPILER)
        program = o->program ? o->program : at_compiler_name(o->compiler);
    *task = (at_far_task){.options = o,
                          .files = files,
                          .program = program,
                          .request = q,
                          .template_name = s->what.row->name,
                          .template_file = file,
                          .template_text = text,
                          .args = at_json_text(s->arena, at_task_args(s->what.task)),
                          .template_hash = at_task_hash(s->what.task),
                          .second = at_far_anchor_second(t)};
    f->task = task;
    return AT_OK;
}

/* The time is over, or the user stopped the search, before a worker came. */
static at_status fail_alone(const far_search *f, at_error *err) {
    at_error stopped;
    at_status status = at_fail_stopped(&stopped);
    if (status == AT_E_NO_VALID)
        return at_fail(err, status, "the time ended before a worker came from %s", f->far->places);
    *err = stopped;
    return status;
}

at_status at_far_open(at_tuning *t, at_error *err) {
    const at_engine_options *o = &t->s.options;
    far_search *f = t->far;
    const int64_t begin_ns = at_now_ns();
    bool is_told = false;
    at_engine_note(o, "waiting for the first worker ...");
    AT_TRY(f->far->begin(f->far->self, f->task, err));
    while (!f->begun) {
        at_far_event e;
        AT_TRY(at_far_next_event(t, AT_FAR_WAIT_S, &e, err));
        if (at_engine_stopped(o)) return fail_alone(f, err);
        if (!is_told && at_now_ns() - begin_ns > tell_waiting_ns) {
            is_told = true;
            at_engine_warn(o, at_format(f->scratch, "no worker came yet from %s", f->far->places));
        }
        if (e.kind != AT_FAR_JOINED) continue;
        AT_TRY(at_far_adopt(t, &e, &e.record.extra.context, err));
        f->first = e;
        f->kept = f->scratch;
        f->scratch = at_arena_new();
    }
    return AT_OK;
}

static bool is_finished(const at_tuning *t, int64_t until) {
    const far_search *f = t->far;
    return f->is_enough || (!f->flights.len && (t->exhausted || t->tally.done >= until));
}

static bool has_workers(const far_search *f) {
    for (int i = 0; i < f->num_places; i++)
        if (f->places[i].is_in || f->places[i].is_coming) return true;
    return false;
}

/* All are finished, or those that are not have nobody left who could measure for them. */
static bool all_finished(const at_tuning *first, int64_t until) {
    bool some = false, waits = false;
    if (first->far->num_doubts) return false; /* whose search may have to begin yet */
    for (const at_tuning *t = first; t; t = t->other) {
        bool finished = is_finished(t, until);
        some |= finished;
        if (!finished && (has_workers(t->far) || !first->other)) return false;
        waits |= !finished;
    }
    return some || !waits;
}

static at_status fill_all(at_tuning *first, int64_t until, at_error *err) {
    for (at_tuning *t = first; t; t = t->other) {
        if (t->far->is_enough) continue;
        AT_TRY(at_far_fill(t, until, &t->far->is_enough, err));
    }
    return AT_OK;
}

/* Waits for an event, and takes those that came with it: who is free then is told at once. */
static at_status take_events(at_tuning *first, at_error *err) {
    bool some;
    AT_TRY(at_far_take_event(first, AT_FAR_WAIT_S, &some, err));
    for (int i = 1; i < MOST_AT_ONCE && some && !first->far->is_enough; i++)
        AT_TRY(at_far_take_event(first, 0, &some, err));
    return AT_OK;
}

at_status at_far_go_on(at_tuning *t, int64_t until, at_error *err) {
    far_search *f = t->far;
    AT_TRY(at_far_resume(t, until, &f->is_enough, err));
    AT_TRY(at_far_join(t, &f->first, err));
    at_arena_free(f->kept);
    f->kept = NULL;
    return AT_OK;
}

at_status at_far_run(at_tuning *t, int64_t until, at_error *err) {
    const at_engine_options *o = &t->s.options;
    int64_t start_ns = at_now_ns();
    at_status status = t->far->kept ? at_far_go_on(t, until, err) : AT_OK;
    while (status == AT_OK && !at_engine_stopped(o)) {
        if (t->deadline_ns && at_now_ns() >= t->deadline_ns) break;
        status = fill_all(t, until, err);
        if (status != AT_OK || all_finished(t, until)) break;
        status = take_events(t, err);
    }
    t->s.spent.trials_ns += at_now_ns() - start_ns;
    return status;
}

/* What was under way is sent again; all compare with their new anchors. */
static void rest_one(far_search *f) {
    for (int i = 0; i < f->flights.len; i++)
        if (f->flights.of[i]->worker >= 0)
            at_flight_move(&f->flights, f->flights.of[i], AT_FLIGHT_UNSENT);
    for (int i = 0; i < f->num_places; i++)
        f->places[i] = (at_place){.is_coming = f->places[i].is_in || f->places[i].is_coming};
    f->num_free = f->first_free = 0;
    f->has_again = f->asked_again = false;
}

void at_far_rest(at_tuning *t) {
    for (int i = 0; i < AT_FAR_WORKERS; i++) at_far_anchor_settle(t, i);
    for (; t; t = t->other) rest_one(t->far);
}

at_status at_far_wake(at_tuning *t, at_error *err) {
    return t->far->far->begin(t->far->far->self, t->far->task, err);
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
