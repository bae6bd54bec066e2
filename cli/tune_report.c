/* cli/tune_report.c: what came out of a tuning run, as text and as JSON. */
#include "cli/command.h"
#include "cli/describe.h"
#include "cli/interrupt.h"
#include "cli/reproduce.h"
#include "cli/run_end.h"
#include "cli/tune_report.h"

#include <math.h>
#include <string.h>

/* Where the time went. Building and verifying are parts of lowering, and not timed apart. The last
 * is the part of lowering and compiling that went on while another kernel was measured. */
static void add_seconds(at_out *out, const at_spent *t) {
    const struct {
        const char *name;
        int64_t ns;
    } parts[] = {
        {"total", at_now_ns() - t->start_ns}, {"search", t->search_ns}, {"lower", t->lower_ns},
        {"compile", t->compile_ns},           {"check", t->check_ns},   {"run", t->run_ns},
        {"reference", t->reference_ns},       {"final", t->final_ns},   {"ahead", t->ahead_ns}};
    at_out_begin(out, "seconds", '{');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        at_out_double(out, parts[i].name, (double)parts[i].ns * 1e-9);
    at_out_end(out, '}');
}

static const at_objective single_states[] = {AT_OBJECTIVE_ALONE, AT_OBJECTIVE_COMPANY};

static void add_interval(at_text *out, const at_best *best) {
    const at_turns *f = best->final;
    if (f && (f->among ? isfinite(best->of_peak.low) : f->num_rounds >= AT_FINAL_LEAST))
        at_text_addf(out, ", %.1f to %.1f %%", 100 * best->of_peak.low, 100 * best->of_peak.high);
    at_text_add(out, "\n");
}

static at_status print_text(at_tuning *t, const at_options *o, const at_best *best, at_error *err) {
    at_session *s = &t->s;
    at_text out = {0};
    at_program *program;
    AT_TRY(at_task_program(s->scratch, s->what.task, &best->record->config, &program, err));
    at_text_add_task(&out, s);
    at_text_add(&out, "\n");
    at_text_add_context(&out, &s->how.context);
    at_text_add(&out, "\n\n");
    at_config_print_json(&out, &best->record->config);
    at_text_add(&out, "\n\n");
    at_print_program(&out, s->what.task, &best->record->config, program);
    at_text_add(&out, "\n");
    at_text_add_figure(&out, best->time_s, best->gflops, best->of_peak.median, s);
    add_interval(&out, best);
    at_text_add_bound(&out, best->of_bound);
    at_text_add_accuracy(&out, &best->record->extra.accuracy);
    at_text_add(&out, "\n");
    at_text_add_run_end(&out, t, o, best);
    if (o->stats) at_text_add_stats(&out, t, best);
    return at_print(&out, err);
}

void at_out_failed(at_out *out, const at_tally *t) {
    at_out_begin(out, "failed", '{');
    for (int e = 1; e <= AT_ERR_UNKNOWN; e++)
        if (t->failed[e]) at_out_int(out, at_err_no_name(e), t->failed[e]);
    at_out_end(out, '}');
}

void at_out_best(at_out *out, const char *key, const at_tuning *t, const at_best *best) {
    if (!best) {
        at_out_string(out, key, NULL);
        return;
    }
    at_out_begin(out, key, '{');
    at_out_config(out, &best->record->config);
    at_out_double(out, "time_ns", best->time_s * 1e9);
    at_out_speed(out, best->gflops, t->s.what.in_bytes);
    at_out_double(out, "of_peak", best->of_peak.median);
    at_out_double(out, "of_peak_low", best->of_peak.low);
    at_out_double(out, "of_peak_high", best->of_peak.high);
    at_out_string(out, "measured", best->final ? "final" : "trial");
    at_out_int(out, "tied", t->final.tied);
    at_out_accuracy(out, &best->record->extra.accuracy);
    at_out_end(out, '}');
}

static void out_states(at_out *out, const at_tuning *t) {
    const at_session *s = &t->s;
    const at_seen seen = at_session_seen(s);
    const char *objective = at_objective_name(seen.objective);
    at_out_string(out, "objective", *objective ? objective : NULL);
    at_out_begin(out, "states", '{');
    for (int i = 0; i < AT_STATE_COUNT; i++)
        at_out_double(out, at_state_name((at_state)i), at_states_share(s, (at_state)i));
    at_out_end(out, '}');
    at_out_int(out, "cpu", seen.core);
    at_out_begin(out, "other_winners", '[');
    for (int i = 0; i < 2; i++) {
        at_other_winner other;
        if (!at_final_other_winner(&t->final, single_states[i], &other)) continue;
        at_out_begin(out, NULL, '{');
        at_out_string(out, "objective", at_objective_name(other.objective));
        at_out_config(out, &other.who->result->config);
        at_out_double(out, "ratio", other.ratio);
        at_out_end(out, '}');
    }
    at_out_end(out, ']');
}

static at_status print_json(at_tuning *t, const at_best *best, at_error *err) {
    at_session *s = &t->s;
    const at_seen seen = at_session_seen(s);
    at_out out = at_out_object();
    at_out_task(&out, s);
    at_out_string(&out, "tuner", at_tuner_name(t->tuner));
    at_out_unsigned(&out, "seed", s->options.seed);
    at_out_int(&out, "trials", t->tally.done);
    at_out_int(&out, "from_log", t->tally.answered);
    at_out_failed(&out, &t->tally);
    at_out_best(&out, "best", t, best);
    at_out_double(&out, "times_default",
                  best && at_times_default(t, best) > 0 ? at_times_default(t, best) : NAN);
    if (s->options.baseline)
        at_out_double(&out, "times_baseline", t->baseline.ratio > 0 ? t->baseline.ratio : NAN);
    out_states(&out, t);
    at_out_double(&out, "peak_gflops", seen.peak_gflops);
    add_seconds(&out, &s->spent);
    at_out_double(&out, "fixed_seconds_per_trial", at_fixed_cost_s(t));
    at_out_int(&out, "disturbed", seen.disturbed);
    at_out_string(&out, "reference", seen.is_projected ? "projected" : "whole");
    at_out_string(&out, "log", t->log_path);
    return at_out_print(&out, err);
}

/* Every trial failed: how, and what next. */
static at_status fail_all(at_tuning *t, const at_options *o, at_error *err) {
    const at_record *r = t->first_failed;
    if (at_known_best(t->known)) {
        const at_finalist *f = &t->final.of[0];
        return at_fail(err, AT_E_NO_VALID,
                       "no valid configuration: all %d valid ones failed when they were timed "
                       "again; index %lld: %.*s",
                       t->final.count, (long long)f->result->config.index,
                       (int)strcspn(f->turns.error, "\n"), f->turns.error);
    }
    if (!r)
        return at_fail(err, AT_E_NO_VALID, "no configuration was timed in %lld trial%s",
                       (long long)t->tally.done, at_plural(t->tally.done));
    if (t->tally.inaccurate) {
        at_text why = {0};
        at_text_add_inaccurate(&why, &t->tally, &t->s.options);
        at_fail(err, AT_E_NO_VALID, "no valid configuration in %lld trial%s: %s",
                (long long)t->tally.done, at_plural(t->tally.done), at_text_str(&why));
        at_text_free(&why);
        return AT_E_NO_VALID;
    }
    const char *advice = at_failure_advice(&t->tally);
    at_text failed = {0}, command = {0};
    at_text_add_failed(&failed, &t->tally);
    at_text_add_command(&command, o, &t->s, r->config.index, t->log_path, r->line);
    at_fail(err, AT_E_NO_VALID,
            "no valid configuration in %lld trial%s (%s); the first failure: %.*s; "
            "%s%sto look at it: %s",
            (long long)t->tally.done, at_plural(t->tally.done), at_text_str(&failed),
            (int)strcspn(r->extra.error, "\n"), r->extra.error, advice ? advice : "",
            advice ? "; " : "", at_text_str(&command));
    at_text_free(&command);
    at_text_free(&failed);
    return AT_E_NO_VALID;
}

at_status at_tune_report(at_tuning *t, const at_options *o, at_error *err) {
    at_best best;
    bool found = at_tuning_best(t, &best);
    const at_tally *y = &t->tally;
    at_arena_reset(t->s.scratch);
    if (o->json) AT_TRY(print_json(t, found ? &best : NULL, err));
    else if (found)
        AT_TRY(t->command ? at_command_print_end(t, &best, err) : print_text(t, o, &best, err));
    if (at_interrupted)
        return at_fail(err, AT_E_INTERRUPTED,
                       "interrupted%s after %lld of %lld trials; the same command goes on",
                       at_interrupted_by(), (long long)y->done, (long long)y->total);
    if (found) return AT_OK;
    if (!y->done)
        return at_fail(err, AT_E_NO_VALID,
                       "no trial was made: the time ended first; give a longer --time");
    return fail_all(t, o, err);
}
