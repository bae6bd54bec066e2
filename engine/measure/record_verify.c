/* engine/measure/record_verify.c: a record is run again under the circumstances it tells, checked
 * and timed: in pairs with the first anchor of its log, if that is the same kernel still, else
 * alone.
 */
#include "engine/measure/record_verify.h"

#include <math.h>
#include <string.h>

#include "engine/measure/anchors.h"
#include "engine/measure/log_objective.h"
#include "engine/measure/machine.h"
#include "engine/measure/states.h"
#include "engine/measure/target_here.h"
#include "engine/task/record_use.h"
#include "engine/task/task_config.h"
#include "engine/task/template_change.h"
#include "engine/measure/bench.h"

/* One sample may be disturbed; a kernel that has become slower is slower every time. */
enum { MOST_TRIES = 5 };
/* In pairs: as many as this holds, unless fewer say it, and the level of their interval. */
static const double pairs_s = 0.3, level = 0.05;
enum { LEAST_PAIRS = 11, MOST_PAIRS = 200 };
/* So many times the slowest time by the clock, pairs that tell no difference were disturbed. */
#define MOST_CLOCK 3
/* A trial has two or three pairs, and one in twenty trials is lucky by 6 to 13 %. */
static const double few_margin = 0.15;

struct at_verifier {
    at_arena *arena;
    const at_engine_options *given;
    double margin;
    at_log *log;
    const char *log_path;
    at_known *known;           /* what the log says of the session's task; NULL without a log */
    const at_record *first;    /* whose circumstances these are; NULL: there is none */
    const char *obstacle;      /* why nothing can be run under them; NULL: it can */
    at_engine_options options; /* of the session */
    bool is_open;
    at_session session;
};

const char *at_verdict_name(at_verdict v) {
    static const char *const names[AT_VERDICT_COUNT] = {
        [AT_REPRODUCED] = "reproduced", [AT_UNCLEAR] = "unclear",     [AT_STALE] = "stale",
        [AT_WRONG] = "wrong",           [AT_OTHER_CPU] = "other_cpu", [AT_NOT_RUN] = "not_run",
    };
    return names[v];
}

at_verifier *at_verifier_new(at_arena *a, const at_engine_options *o, double margin, at_log *log,
                             const char *path) {
    at_verifier *v = AT_NEW(a, at_verifier);
    v->log = log;
    v->log_path = path;
    v->arena = a;
    v->given = o;
    v->margin = margin;
    return v;
}

static void close_session(at_verifier *v) {
    if (v->is_open) at_session_close(&v->session);
    v->is_open = false;
}

void at_verifier_free(at_verifier *v) { close_session(v); }

/* ---- circumstances --------------------------------------------------------------------------- */

static bool same_circumstances(const at_record *x, const at_record *y) {
    const at_extra *e = &x->extra, *f = &y->extra;
    return at_same_task(x->task, x->args, y->task, y->args) && e->present == f->present &&
           !strcmp(e->context_hash, f->context_hash) && e->seed == f->seed;
}

/* What this program cannot bring about; NULL: nothing. Runs before anything is made of it. */
static const char *impossible(at_arena *a, const at_record *r) {
    const at_context *c = &r->extra.context;
    const at_template_row *row;
    at_compiler compiler;
    const at_target *target = at_target_find(c->isa);
    at_error err;
    at_cache cache;
    if (at_template_find(r->task, &row, NULL) != AT_OK)
        return at_format(a,
                         "unknown template \"%s\"; if it is your own, name its file, %s.te or "
                         "%s.c, before the log",
                         r->task, r->task, r->task);
    if (*c->compiler && !at_compiler_from_name(c->compiler, &compiler))
        return at_format(a, "there is no compiler %s", c->compiler);
    if (*c->compiler && !at_compiler_available(compiler))
        return at_format(a, "%s is not installed", c->compiler);
    if (*c->isa && !target) return at_format(a, "there is no instruction set %s", c->isa);
    if (*c->isa && at_target_check(target, &err) != AT_OK)
        return at_format(a, "%s: %s", c->isa, err.text);
    if (*c->cache && !at_cache_from_name(c->cache, &cache))
        return at_format(a, "there is no state of caches %s", c->cache);
    return NULL;
}

/* Anything but what is wrong with this machine, or us, is an obstacle. */
static at_status try_open(at_verifier *v, const at_record *r, at_error *err) {
    at_selection chosen = {0};
    at_session *s = &v->session;
    AT_TRY(at_engine_check(&v->options, err));
    AT_TRY(at_select_record(v->arena, r, &chosen, err));
    at_session_open_chosen(&v->options, &chosen, s);
    v->is_open = true;
    AT_TRY(at_session_context(s, true, err));
    if (r->extra.present && strcmp(s->how.context.pattern, r->extra.context.pattern) != 0)
        return at_fail(err, AT_E_USAGE, "its sparse weight is not the one that is made here");
    if (!v->given->accept_changed && at_is_of_changed_template(r, s->what.task))
        return at_fail(err, AT_E_USAGE,
                       "the template has changed since; --accept-changed verifies it all the same");
    v->known = v->log ? at_known_new(s->arena) : NULL;
    if (v->log) AT_TRY(at_known_read_log(v->known, s, v->log_path, err));
    AT_TRY(at_session_reserve(s, err));
    return at_session_start(s, err);
}

static at_status open_session(at_verifier *v, const at_record *r, at_error *err) {
    close_session(v);
    v->first = r;
    v->options = *v->given;
    v->options.seed = r->extra.seed;
    at_cache_from_name(r->extra.context.cache, &v->options.cache);
    v->obstacle = impossible(v->arena, r);
    if (v->obstacle) return AT_OK;
    at_status status = try_open(v, r, err);
    if (status == AT_OK || status == AT_E_INTERRUPTED || status == AT_E_BUG ||
        status == AT_E_OUTPUT)
        return status;
    v->obstacle = at_strdup(v->arena, err->text);
    return AT_OK;
}

/* What is not as it was, though the record can be run. */
static const char *changes(at_verifier *v, const at_record *r, const at_record *now) {
    const at_session *s = &v->session;
    const at_extra *e = &r->extra;
    at_text t = {0};
    if (!e->present) return "";
    if (*e->compiler_version && strcmp(e->compiler_version, s->how.compiler_version) != 0)
        at_text_addf(&t, "; %s %s, was %s", s->how.context.compiler, s->how.compiler_version,
                     e->compiler_version);
    if (at_is_of_changed_template(r, s->what.task)) at_text_add(&t, "; the template has changed");
    if (*e->code_hash && *now->extra.code_hash && strcmp(e->code_hash, now->extra.code_hash) != 0)
        at_text_add(&t, "; the code has changed");
    const char *text = at_strdup(v->arena, t.len ? t.data + 2 : "");
    at_text_free(&t);
    return text;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

at_verdict at_verdict_of(const at_interval *now, double limit, double clock) {
    if (now->low > limit) return AT_STALE;
    return now->median <= limit && clock <= MOST_CLOCK ? AT_REPRODUCED : AT_UNCLEAR;
}

/* The slowest of its interval, as a time and as a share of the peak of the moment: a core whose
 * clock is lower today makes no record stale. */
static double slowest_s(const at_verifier *v, const at_record *r, const at_verified *out) {
    const double was = at_record_peak(r), now = out->of_peak > 0 ? v->session.bench->peak : 0;
    return out->recorded_high_s * (1 + v->margin) * (now > 0 && was > now ? was / now : 1);
}

/* Beyond it a ratio to the first anchor is slower than any that was recorded. */
static double slowest(const at_ratios *was, double margin) {
    return was->high * (1 + (was->is_interval ? margin : fmax(margin, few_margin))) * (1 + AT_TIE);
}

/* A peak that the kernel is beyond was disturbed, and is measured again; of_peak stays 0 where it
 * stays so. */
static at_status share_of_peak(at_verifier *v, const at_candidate *c, double time_s, double *out,
                               at_error *err) {
    at_session *s = &v->session;
    double of_bound = INFINITY;
    *out = 0;
    for (int i = 0; i < MOST_TRIES && of_bound > AT_IMPOSSIBLE; i++) {
        AT_TRY(at_session_measure_peak(s, err));
        of_bound =
            at_share_of_bound(s, s->scratch, c->kernel->lowered, time_s, s->bench->peak_gflops);
    }
    if (of_bound <= AT_IMPOSSIBLE)
        *out = s->what.work / time_s * 1e-9 / s->bench->peak / fmax(of_bound, 1);
    return AT_OK;
}

/* x: the interval of what was measured over what was recorded. */
static void judge_pace(at_verifier *v, at_interval x, double limit, double clock,
                       at_verified *out) {
    out->ratio = x.median;
    out->note = ""; /* of an earlier try */
    out->verdict = at_verdict_of(&x, limit, clock);
    if (out->verdict != AT_UNCLEAR) return;
    const bool is_wide = x.median > limit && isfinite(x.low) && isfinite(x.high);
    const char *why =
        is_wide ? at_format(v->arena, "its time cannot be told, from %+.1f to %+.1f %%",
                            (x.low - 1) * 100, (x.high - 1) * 100)
        : clock > MOST_CLOCK
            ? at_format(v->arena, "the clock says %.1f times its slowest sample", clock)
            : "its time cannot be told";
    out->note = at_format(v->arena, "%s; verify again when nothing else runs", why);
}

/* *done: it was, or failed. */
static at_status measure_in_pairs(at_verifier *v, const at_record *r, at_candidate *c,
                                  at_record *now, at_verified *out, bool *done, at_error *err) {
    at_session *s = &v->session;
    at_ratios was;
    *done = false;
    if (!at_is_of_this_cpu(r) || !at_record_ratios(r, &was)) return AT_OK;
    AT_TRY(at_objective_take(s, was.objective, v->known, v->log, err));
    AT_TRY(at_anchor_first(s, was.first, v->known, v->log, done, err));
    if (!*done) return AT_OK;
    at_record again = *now;
    double pair_s = s->bench->anchors.first_s * (1 + was.ratio);
    c->job.pairs = (int)fmax(LEAST_PAIRS, fmin(MOST_PAIRS, pairs_s / pair_s));
    c->job.to_the_end = true;
    c->job.border = slowest(&was, v->margin);
    c->job.border_level = level;
    c->job.pair_seed = s->options.seed;
    at_states_ask(s, &c->job);
    AT_TRY(at_candidate_run(s, s->scratch, c, &again, err));
    c->job.pairs = 0;
    c->job.border_level = 0;
    *done = again.error_no || again.extra.pairs.num_ratios;
    if (!*done) return AT_OK; /* the anchor was lost */
    *now = again;
    if (again.error_no) return AT_OK;
    at_interval x = at_ratio_interval(&now->extra.pairs, was.objective, level);
    out->in_pairs = true;
    out->time_s = c->clocked_s;
    AT_TRY(share_of_peak(v, c, out->time_s, &out->of_peak, err));
    judge_pace(v, (at_interval){x.median / was.ratio, x.low / was.ratio, x.high / was.ratio},
               slowest(&was, v->margin) / was.ratio, out->time_s / slowest_s(v, r, out), out);
    return AT_OK;
}

static at_status measure_alone(at_verifier *v, const at_record *r, at_candidate *c, at_record *now,
                               at_verified *out, at_error *err) {
    at_session *s = &v->session;
    const double was_s = out->recorded_s;
    for (int i = 0; i < MOST_TRIES && out->verdict != AT_REPRODUCED; i++) {
        at_record again = *now;
        AT_TRY(at_candidate_run(s, s->scratch, c, &again, err));
        if (again.error_no) {
            *now = again;
            return AT_OK;
        }
        const at_spread x = at_record_spread(&again);
        if (i && x.median_s >= out->time_s) continue;
        *now = again;
        out->time_s = x.median_s;
        AT_TRY(share_of_peak(v, c, out->time_s, &out->of_peak, err));
        const double limit_s = slowest_s(v, r, out);
        judge_pace(v, (at_interval){x.median_s / was_s, x.low_s / was_s, x.high_s / was_s},
                   limit_s / was_s, x.median_s / limit_s, out);
    }
    if (!at_is_of_this_cpu(r)) out->verdict = AT_OTHER_CPU, out->note = "";
    return AT_OK;
}

static at_status judge(at_verifier *v, const at_record *r, at_verified *out, at_error *err) {
    at_session *s = &v->session;
    at_config config;
    at_candidate c;
    at_record now;
    at_arena_reset(s->scratch);
    if (at_config_of_record(s->scratch, s->what.task, r, &config, err) != AT_OK) {
        out->note = at_strdup(v->arena, err->text);
        return AT_OK;
    }
    bool compiled = at_candidate_make(s, s->scratch, &config, &c, &now);
    if (compiled) AT_TRY(at_candidate_compile(s, s->scratch, &c, &now, &compiled, err));
    if (compiled) {
        bool done;
        at_status status = measure_in_pairs(v, r, &c, &now, out, &done, err);
        if (status == AT_OK && !done) status = measure_alone(v, r, &c, &now, out, err);
        at_candidate_drop(&c);
        if (!at_engine_stopped(v->given)) AT_TRY(status);
    }
    if (at_engine_stopped(v->given)) return at_fail_stopped(err);
    if (v->log) AT_TRY(at_log_append(v->log, &now, err));
    if (now.error_no) {
        out->verdict = AT_WRONG;
        out->time_s = out->of_peak = out->ratio = 0;
        out->note = at_format(v->arena, "%s: %s", at_err_no_name(now.error_no), now.extra.error);
        return AT_OK;
    }
    out->in_bytes = s->what.in_bytes;
    out->of_dots = s->what.dot_terms > 0;
    out->gflops = s->what.work / out->time_s * 1e-9;
    const char *changed = changes(v, r, &now);
    if (*changed)
        out->note = at_format(v->arena, "%s%s%s", out->note, *out->note ? "; " : "", changed);
    return AT_OK;
}

at_status at_verify(at_verifier *v, const at_record *r, at_verified *out, at_error *err) {
    at_spread was = at_record_spread(r);
    *out = (at_verified){.verdict = AT_NOT_RUN,
                         .note = "",
                         .recorded_s = was.median_s,
                         .recorded_low_s = was.low_s,
                         .recorded_high_s = was.high_s};
    if (!v->first || !same_circumstances(v->first, r)) AT_TRY(open_session(v, r, err));
    if (!v->obstacle) return judge(v, r, out, err);
    out->note = v->obstacle;
    return AT_OK;
}
