/* cli/run_end.c: see run_end.h. */
#include "cli/run_end.h"

#include <math.h>
#include <string.h>

#include "cli/describe.h"
#include "cli/progress.h"
#include "view/view.h"

/* ---- what was found -------------------------------------------------------------------------- */

double at_times_default(at_tuning *t, const at_best *best) {
    const at_record *r = at_tuning_default(t);
    return r ? at_record_mean(r) / best->time_s : 0;
}

/* Three digits: 2.1 s for people, not for sums. */
static void add_short_time(at_text *out, double seconds) {
    static const char *const units[] = {"s", "ms", "us", "ns"};
    int i = 0;
    while (i < 3 && seconds < 0.9995) seconds *= 1e3, i++;
    at_text_addf(out, "%.3g %s", seconds < 999.5 ? seconds : round(seconds), units[i]);
}

static void add_times(at_text *out, double times) {
    at_text_addf(out, "%.*f times", times < 9.95 ? 1 : 0, times);
}

static void add_result(at_text *out, at_tuning *t, const at_best *best) {
    const double times = at_times_default(t, best);
    const int tied = t->final.tied;
    at_text_addf(out, "Fastest of %lld: ", (long long)t->tally.done);
    add_short_time(out, best->time_s);
    at_text_addf(out, ", %.*f %% of the %s", best->of_peak.median < 0.0995 ? 1 : 0,
                 100 * best->of_peak.median, t->s.what.in_bytes ? "bandwidth" : "peak");
    if (!at_record_is_trial(best->record)) at_text_add(out, ", the default configuration itself");
    else if (times > 0 && times < 1.05)
        at_text_add(out, ", no faster than the default configuration");
    else if (times > 0) {
        at_text_add(out, ", ");
        add_times(out, times);
        at_text_add(out, " the default configuration");
    }
    if (tied) at_text_addf(out, "; %d other%s as fast", tied, tied == 1 ? " is" : "s are");
    if (best->final && best->final->dialect)
        at_text_addf(out, "; timed as apply writes it in dialect %s, through gcc",
                     at_visible(t->s.scratch, best->final->dialect));
    at_text_add(out, ".\n");
}

/* Why the time is another one than the progress line had last. */
static void add_told(at_text *out, const at_tuning *t, const at_best *best) {
    static const double apart = 1.1;
    const double told_s = t->tally.best_s;
    if (!best->final || told_s <= 0) return;
    if (best->time_s < told_s * apart && told_s < best->time_s * apart) return;
    at_text_add(out, "The best trial's ");
    add_short_time(out, told_s);
    at_text_add(out, " was of one moment; the final timed the best few in turn, and counts.\n");
}

static void add_baseline(at_text *out, const at_baseline *b) {
    if (b->ratio > 0) {
        add_times(out, b->ratio);
        at_text_add(out, " as fast as plain loops through gcc " AT_BASELINE_FLAGS
                         ", timed in alternation.\n");
    } else if (b->why) at_text_addf(out, "Plain loops were not timed: %s.\n", b->why);
}

/* ---- where it was measured ------------------------------------------------------------------- */

static const at_objective single_states[] = {AT_OBJECTIVE_ALONE, AT_OBJECTIVE_COMPANY};

static void add_machine(at_text *out, const at_tuning *t) {
    static const double nearly_all = 0.95;
    const at_session *s = &t->s;
    const at_seen seen = at_session_seen(s);
    const at_objective o = seen.objective;
    if (!o) return;
    at_text_addf(out, "Measured %s",
                 o == AT_OBJECTIVE_ALONE     ? "alone"
                 : o == AT_OBJECTIVE_COMPANY ? "in company"
                                             : "as the machine was");
    if (t->far) at_text_add(out, " elsewhere");
    else {
        at_text_addf(out, " on CPU %d", seen.core);
        if (seen.cores > 1) at_text_addf(out, ", the quieter of %d", seen.cores);
    }
    const double share = at_states_counting(s);
    if (share > 0 && share < nearly_all)
        at_text_addf(out, ", in %s%.0f %% of the time, which alone counts",
                     share < 0.01 ? "less than " : "", fmax(100 * share, 1));
    at_text_add(out, ".\n");
    for (int i = 0; i < 2; i++) {
        at_other_winner other;
        if (!at_final_other_winner(&t->final, single_states[i], &other)) continue;
        const char *name = at_objective_name(other.objective);
        at_text_addf(out,
                     "%s%s another one is faster, by %.1f %%: index %lld (apply --objective %s)\n",
                     single_states[i] == AT_OBJECTIVE_COMPANY ? "in " : "", name,
                     100 * (other.ratio - 1), (long long)other.who->result->config.index, name);
    }
}

/* ---- what next ------------------------------------------------------------------------------- */

void at_text_add_trials(at_text *out, const at_tuning *t) {
    const at_tally *y = &t->tally;
    at_text_add(out, "Log ");
    at_text_add_visible(out, t->log_path);
    at_text_addf(out, ": %lld trial%s", (long long)y->done, at_plural(y->done));
    if (y->answered) at_text_addf(out, ", %lld of them from the log", (long long)y->answered);
    if (at_tally_failed(y)) {
        at_text_add(out, "; ");
        at_text_add_failed(out, y);
    }
    if (t->stopped_early && t->best_trial)
        at_text_addf(out, "; stopped early, the best was trial %lld", (long long)t->best_trial);
    else if (t->stopped_early) at_text_add(out, "; stopped early, no trial has a time");
    at_text_add(out, ".\n");
}

/* The task as the log has it, where it is not the template's own. */
static void add_next(at_text *out, const at_tuning *t, const at_options *o) {
    at_text line = {0};
    at_text_add(&line, "Next: autotune apply");
    at_template_add_words(&line, t->s.what.row, true);
    if (o->request.args || o->request.sparsity || o->request.weight) {
        at_text_add(&line, " --args");
        at_text_add_word(&line, at_task_args_text(t->s.what.task));
    }
    at_text_add_log(&line, t->log_path, at_known_has_others(t->known), t->s.how.threads,
                    t->s.how.context.isa);
    const at_foreign *kernel = at_foreign_of(t->s.what.task);
    at_text_addf(&line, " -o kernel%s", kernel ? at_foreign_ending(kernel) : ".c");
    at_text_add_visible(out, at_text_str(&line));
    at_text_add(out, "\n");
    at_text_free(&line);
}

void at_text_add_run_end(at_text *out, at_tuning *t, const at_options *o, const at_best *best) {
    add_result(out, t, best);
    add_told(out, t, best);
    add_baseline(out, &t->baseline);
    add_machine(out, t);
    at_text_add_trials(out, t);
    add_next(out, t, o);
}

/* ---- where the time went --------------------------------------------------------------------- */

double at_fixed_cost_s(const at_tuning *t) {
    const at_spent *spent = &t->s.spent;
    int64_t trials = t->tally.done - t->tally.answered;
    int64_t fixed_ns = spent->trials_ns - spent->trials_kernel_ns - spent->cooldown_ns;
    return trials > 0 ? (double)fixed_ns / (double)trials * 1e-9 : 0;
}

/* Parts that follow each other; their shares add up to 100 as they are printed. */
static void add_shares(at_text *out, const at_spent *p) {
    enum { PARTS = 4 };
    const int64_t total_ns = at_now_ns() - p->start_ns;
    const struct {
        const char *name;
        int64_t ns;
    } parts[PARTS] = {{"data and reference", p->reference_ns},
                      {"trials", p->trials_ns},
                      {"final", p->final_ns},
                      {"the rest", total_ns - p->reference_ns - p->trials_ns - p->final_ns}};
    long left = 1000;
    at_text_addf(out, "%.3f s:", (double)total_ns * 1e-9);
    for (int i = 0; i < PARTS; i++) {
        const int64_t ns = parts[i].ns > 0 ? parts[i].ns : 0;
        long tenths = lround(1000 * (double)ns / (double)total_ns);
        if (tenths > left || i == PARTS - 1) tenths = left;
        left -= tenths;
        at_text_addf(out, "%s %s %.3f s (%ld.%ld %%)", i ? "," : "", parts[i].name,
                     (double)ns * 1e-9, tenths / 10, tenths % 10);
    }
    at_text_addf(out,
                 "\nof all of it: searching %.3f s, lowering %.3f s, compiling %.3f s, checking "
                 "%.3f s, running %.3f s; %.3f s of lowering and compiling beside another kernel\n",
                 (double)p->search_ns * 1e-9, (double)p->lower_ns * 1e-9,
                 (double)p->compile_ns * 1e-9, (double)p->check_ns * 1e-9, (double)p->run_ns * 1e-9,
                 (double)p->ahead_ns * 1e-9);
}

static void add_states(at_text *out, const at_tuning *t, const at_best *best) {
    const at_session *s = &t->s;
    const char *comma = "";
    const at_objective o = at_session_seen(s).objective;
    if (!o) return;
    at_text_addf(out, "objective %s; of the time ", at_objective_name(o));
    size_t before = out->len;
    for (int i = 0; i < AT_STATE_COUNT; i++) {
        double share = at_states_share(s, (at_state)i);
        if (share < 0.001) continue;
        at_text_addf(out, "%s%.1f %% %s%s", comma, 100 * share, i == AT_STATE_COMPANY ? "in " : "",
                     at_state_name((at_state)i));
        comma = ", ";
    }
    if (out->len == before) at_text_add(out, "nothing was timed now");
    if (best->final)
        at_text_addf(out, "; the winner's final has %d round%s%s", best->final->num_rounds,
                     at_plural(best->final->num_rounds),
                     t->final.winner ? "" : " of an earlier run");
    at_text_add(out, "\n");
}

void at_text_add_stats(at_text *out, const at_tuning *t, const at_best *best) {
    const at_spent *spent = &t->s.spent;
    add_shares(out, spent);
    at_text_addf(out,
                 "fixed cost per trial %.2f ms (all but the kernels' own runs); "
                 "disturbed samples %lld\nkernels: %lld lowered, %lld measured\n",
                 at_fixed_cost_s(t) * 1e3, (long long)at_session_seen(&t->s).disturbed,
                 (long long)spent->lowered, (long long)spent->measured);
    add_states(out, t, best);
}
