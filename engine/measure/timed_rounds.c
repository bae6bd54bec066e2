/* engine/measure/timed_rounds.c: machine and clock drift; one round in half a second says where
 * they were then. */
#include "engine/measure/timed_rounds.h"

#include "engine/measure/accuracy.h"
#include "engine/measure/machine.h"
#include "engine/measure/bench.h"

/* c is compiled; r is what at_candidate_make began. */
static at_status time_rounds(at_session *s, at_candidate *c, at_record *r, at_timing *t,
                             at_error *err) {
    enum { MOST = 40 };
    static const double budget_s = 0.7;
    double costs_s[MOST], peaks[MOST], shares[MOST];
    const at_engine_options *o = &s->options;
    bool once = o->number || o->repeat || o->min_repeat_ms;
    int64_t begin_ns = at_now_ns();
    const at_record made = *r;
    int n = 0;
    do {
        *r = made;
        AT_TRY(at_candidate_run(s, s->arena, c, r, err));
        AT_TRY(at_session_measure_peak(s, err));
        if (r->error_no) return AT_OK;
        costs_s[n] = at_record_mean(r);
        peaks[n] = s->bench->peak;
        shares[n++] = r->extra.gflops / s->bench->peak;
    } while (n < MOST && !once && !at_engine_stopped(o) && at_seconds_since(begin_ns) <= budget_s);
    t->time = at_median(costs_s, n);
    t->rounds = n;
    t->time_s = t->time.median;
    t->gflops = s->what.work / t->time_s * 1e-9;
    r->extra.gflops = t->gflops;
    s->bench->peak = at_median(peaks, n).median;
    if (!s->what.in_bytes && !s->what.dot_terms) s->bench->peak_gflops = s->bench->peak;
    t->of_peak = at_median(shares, n).median;
    t->of_bound = at_share_of_bound(s, s->arena, c->kernel->lowered, t->time_s, s->bench->peak);
    if (t->of_bound > 1) t->of_peak /= t->of_bound;
    return AT_OK;
}

at_status at_config_time(at_session *s, const at_config *config, at_candidate *c, at_record *result,
                         at_timing *t, at_error *err) {
    *t = (at_timing){0};
    bool compiled = at_candidate_make(s, s->arena, config, c, result);
    if (compiled) AT_TRY(at_candidate_compile(s, s->arena, c, result, &compiled, err));
    if (!compiled) return at_engine_stopped(&s->options) ? at_fail_stopped(err) : AT_OK;
    /* It is told in any case; only a limit of the user's own is one here. */
    at_status status = at_accuracy_measure(s, s->arena, c, result, err);
    bool met =
        s->options.max_error > 0 ? at_accuracy_require(s, s->arena, result) : !result->error_no;
    if (status == AT_OK && met) status = time_rounds(s, c, result, t, err);
    at_candidate_drop(c);
    return status;
}
