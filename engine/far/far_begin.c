/* engine/far/far_begin.c: a search over workers elsewhere begins, or goes on where its log ends. */
#include <string.h>
#include <sys/random.h>

#include "engine/far/far_anchor.h"
#include "engine/far/far_state.h"
#include "engine/search/trials.h"

typedef at_flight flight;
typedef struct at_far_search far_search;

at_status at_far_adopt(at_tuning *t, const at_far_event *e, const at_context *c, at_error *err) {
    at_session *s = &t->s;
    const at_extra *x = &e->record.extra;
    s->how.target = at_target_find(x->context.isa);
    if (!s->how.target)
        return at_fail(err, AT_E_BUG, "%s measures with --isa %s, which this version does not know",
                       e->name, x->context.isa);
    s->how.context = at_context_copy(s->arena, c);
    at_context_hash(c, s->how.context_hash);
    memcpy(t->far->said_hash, x->context_hash, sizeof t->far->said_hash);
    s->how.threads = x->context.threads;
    s->how.record_target = at_strdup(s->arena, e->record.target);
    s->how.compiler_version = at_strdup(s->arena, x->compiler_version);
    s->how.cpu_flags = at_strdup(s->arena, x->cpu_flags);
    s->how.sandbox = at_strdup(s->arena, x->sandbox ? x->sandbox : "");
    at_session_take_peak(s, x->peak_gflops);
    t->far->begun = true;
    return AT_OK;
}

far_search *at_far_new(at_tuning *t, const at_far *far, const at_request *q) {
    far_search *f = t->far = AT_NEW(t->s.arena, far_search);
    f->far = far;
    f->request = *q;
    f->scratch = at_arena_new();
    f->build = at_arena_new();
    return f;
}

/* Of the log's trials those that have a number, in the order of their results: the tuner is asked
 * as often before each as it was then, and told the same. false: it is another search. */
static bool follow(at_tuning *t, const at_record *r, int64_t until, bool *enough) {
    far_search *f = t->far;
    int64_t index;
    flight *x;
    while (f->asked < r->extra.trial.asked) {
        if (!at_far_propose(t, &index)) return false;
        const at_record *known = at_known_by_index(t->known, index);
        /* Known without a number: it was answered then, too. */
        if (known && known->extra.trial.search != f->search) {
            if (t->tally.done < until) *enough = at_trial_learn(t, known, true);
            continue;
        }
        at_far_enter(t, f->asked - 1, index);
    }
    x = at_flight_find(&f->flights, r->extra.trial.number);
    if (!x || x->index != r->config.index) return false;
    at_flight_end(&f->flights, x);
    *enough = at_trial_learn(t, r, true);
    return true;
}

at_status at_far_resume(at_tuning *t, int64_t until, bool *enough, at_error *err) {
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
        } else AT_TRY(at_far_begin_trial(t, x, enough, err));
        i -= before - f->flights.len;
    }
    return f->asked ? at_far_begin_default(t, err) : AT_OK;
}

static uint64_t search_of(const at_known *k) {
    uint64_t search = 0;
    for (int i = at_known_count(k) - 1; i >= 0 && !search; i--)
        search = at_known_at(k, i)->extra.trial.search;
    while (!search)
        if (getrandom(&search, sizeof search, 0) != sizeof search) search = 0;
    return search;
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

at_status at_far_begin_beside(at_tuning *first, const at_far_event *e, const at_context *c,
                              at_error *err) {
    at_tuning *last = first, *t = AT_NEW(first->s.arena, at_tuning);
    const at_request *q = &first->far->request;
    while (last->other) last = last->other;
    AT_TRY(at_tuning_begin_other(first, q, t, err));
    last->other = t;
    at_far_new(t, first->far->far, q);
    AT_TRY(at_session_context(&t->s, false, err));
    AT_TRY(at_far_adopt(t, e, c, err));
    t->far->first = *e;
    AT_TRY(at_known_read_log(t->known, &t->s, t->log_path, err));
    AT_TRY(at_far_begin(t, err));
    return at_far_resume(t, t->tally.total, &t->far->is_enough, err);
}
