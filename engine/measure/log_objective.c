/* engine/measure/log_objective.c: what counts in a log, and since when. */
#include "engine/measure/log_objective.h"

#include <string.h>

#include "engine/measure/quieter_core.h"
#include "engine/measure/bench.h"
#include "engine/measure/states.h"

static const int64_t watch_ns = 20000000; /* of the core, when a log begins */
/* What has as much of the time counts by itself. */
static const double most_of_the_time = 0.75;

/* By what is seen now. */
static at_objective choose(const at_core_seen *seen) {
    if (seen->share[AT_STATE_ALONE] >= most_of_the_time) return AT_OBJECTIVE_ALONE;
    if (seen->share[AT_STATE_COMPANY] >= most_of_the_time && seen->share[AT_STATE_ALONE] > 0)
        return AT_OBJECTIVE_COMPANY;
    return AT_OBJECTIVE_TYPICAL;
}

static at_core_seen watch(at_states *states) {
    at_core_seen seen;
    if (!at_core_watch(states->core, watch_ns, &states->reach, &seen)) seen = (at_core_seen){0};
    states->seen_alone = seen.share[AT_STATE_ALONE] > 0;
    return seen;
}

/* seen: the core, just now. */
static at_status tell(const at_session *s, at_known *known, at_log *log, const at_core_seen *seen,
                      bool by_probes, at_error *err) {
    const at_states *states = &s->bench->states;
    at_objective_line l = {.task = at_task_record_name(s->what.task),
                           .args = at_task_args(s->what.task),
                           .context_hash = s->how.context_hash,
                           .objective = states->objective,
                           .by_probes = by_probes};
    memcpy(l.share, seen->share, sizeof l.share);
    if (!states->seen_alone) {
        l.share[AT_STATE_UNKNOWN] += l.share[AT_STATE_COMPANY];
        l.share[AT_STATE_COMPANY] = 0;
    }
    at_text text = {0};
    at_objective_line_print(&text, &l);
    at_known_add_objective(known, s, at_text_str(&text));
    at_status status = log ? at_log_comment(log, at_text_str(&text), err) : AT_OK;
    at_text_free(&text);
    return status;
}

static at_status begin_log(at_session *s, at_known *known, at_log *log, at_error *err) {
    at_core_seen seen = watch(&s->bench->states);
    bool by_probes = !s->options.objective;
    s->bench->states.objective = by_probes ? choose(&seen) : s->options.objective;
    return tell(s, known, log, &seen, by_probes, err);
}

at_status at_objective_check(const at_session *s, const at_known *known, at_error *err) {
    const at_objective_line *l = at_known_objective(known);
    if (!l || !s->options.objective || l->objective == s->options.objective) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "--objective %s: results of this task in the log are for %s, which a log keeps; "
                   "name another --log",
                   at_objective_name(s->options.objective), at_objective_name(l->objective));
}

at_status at_objective_begin(at_session *s, at_known *known, at_log *log, at_error *err) {
    at_states *states = &s->bench->states;
    if (states->is_begun) return AT_OK;
    states->is_begun = true;
    states->reach = at_reach_here();
    const at_objective_line *l = at_known_objective(known);
    if (!l) return begin_log(s, known, log, err);
    states->objective = l->objective;
    states->seen_alone = l->share[AT_STATE_ALONE] > 0;
    return AT_OK;
}

at_status at_objective_take(at_session *s, at_objective o, at_known *known, at_log *log,
                            at_error *err) {
    at_states *states = &s->bench->states;
    at_states_count(s, o);
    if (states->is_begun) return AT_OK;
    states->is_begun = true;
    states->reach = at_reach_here();
    at_core_seen seen = watch(states);
    return log && !at_known_objective(known) ? tell(s, known, log, &seen, false, err) : AT_OK;
}
