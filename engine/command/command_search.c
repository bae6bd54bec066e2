/* engine/command/command_search.c: see command_search.h. */
#include "engine/command/command_search.h"

#include <math.h>
#include <string.h>

#include "engine/command/metric.h"
#include "engine/search/trials.h"
#include "runtime/run_command.h"

/* Runs of a configuration beside the best: one where it is clearly slower, else three, and five
 * where it may win. */
enum { MOST_RUNS = 5, SOME_RUNS = 3, MOST_SILENT = 4 };
static const double clearly_slower = 1.25, may_win = 1.05;
static const double default_timeout_s = 10;

struct at_command_search {
    at_metric metric;
    at_arena *arena; /* of a trial */
    int silent;      /* trials that ended well without a figure, before the first that had one */
};

bool at_is_command(const at_session *s) {
    const at_foreign *f = at_foreign_of(s->what.task);
    return f && f->metric;
}

at_status at_command_words(at_arena *a, const at_session *s, const at_config *c,
                           const char *const **words, int *num, at_error *err) {
    at_foreign_unit unit;
    AT_TRY(at_foreign_unit_of(a, s->what.task, c, NULL, "command", &unit, err));
    *words = unit.flags;
    *num = unit.num_flags;
    return AT_OK;
}

at_status at_command_open(at_tuning *t, at_error *err) {
    at_session *s = &t->s;
    const at_foreign *f = at_foreign_of(s->what.task);
    const char *program = f->flags[0];
    struct at_command_search *x = t->command = AT_NEW(s->arena, struct at_command_search);
    x->arena = at_arena_new();
    AT_TRY(at_metric_open(&x->metric, f->metric, f->higher, err));
    if (!strchr(program, '{') && !at_program_is_there(program))
        return at_fail(err, AT_E_USAGE, "--command: the program %s is not found", program);
    if (f->unused)
        at_engine_warn(&s->options,
                       at_format(s->arena, "--command: no word of it holds {%s}", f->unused));
    if (f->unknown)
        at_engine_warn(&s->options,
                       at_format(s->arena,
                                 "--command: {%s} stays as it is: no --knob has this name",
                                 f->unknown));
    AT_TRY(at_session_context(s, false, err));
    s->how.sandbox = "off";
    return AT_OK;
}

void at_command_close(at_tuning *t) {
    if (!t->command) return;
    at_metric_close(&t->command->metric);
    at_arena_free(t->command->arena);
    t->command = NULL;
}

/* ---- one run --------------------------------------------------------------------------------- */

/* cost: 0 where it failed, or told no figure. */
static at_status run(at_tuning *t, const at_config *c, double *cost, at_command_end *end,
                     at_error *err) {
    at_session *s = &t->s;
    struct at_command_search *x = t->command;
    const double limit_s = s->options.timeout_s > 0 ? s->options.timeout_s : default_timeout_s;
    const char *const *words;
    int num;
    *cost = 0;
    AT_TRY(at_command_words(x->arena, s, c, &words, &num, err));
    int64_t begin_ns = at_now_ns();
    AT_TRY(at_command_run(x->arena, words, num, limit_s, s->options.stop, end, err));
    s->spent.run_ns += at_now_ns() - begin_ns;
    if (end->end == AT_JOB_RAN && !at_metric_read(&x->metric, end->said, cost)) *cost = 0;
    return AT_OK;
}

/* Where none of the first has a figure, the pattern is wrong. */
static at_status fail_silent(at_tuning *t, const char *said, at_record *r, at_error *err) {
    struct at_command_search *x = t->command;
    const char *line = said + strspn(said, " \t\r\n");
    const char *figure = at_metric_figure(x->arena, &x->metric, said);
    const char *text =
        figure ? at_format(x->arena, "the metric found \"%.60s\"; a number above 0 is accepted",
                           figure)
               : at_format(x->arena, "nothing that it printed fits the metric; it begins: %s",
                           *line ? at_strndup(x->arena, line, strcspn(line, "\r\n")) : "(nothing)");
    at_candidate_fail(x->arena, r, AT_ERR_RUNTIME, text);
    if (at_known_best(t->known) || ++x->silent < MOST_SILENT) return AT_OK;
    return at_fail(err, AT_E_USAGE, "--metric %s: %.800s", at_foreign_of(t->s.what.task)->metric,
                   text);
}

/* ---- beside the best ------------------------------------------------------------------------- */

typedef struct runs {
    double cost[MOST_RUNS], ratio[MOST_RUNS]; /* ratio: to the best's run beside it */
    int num, num_ratios;
    at_command_end end; /* of the last */
    bool has_failed;    /* it, or it told no figure */
} runs;

static double median(const double *of, int n) {
    double sorted[MOST_RUNS];
    memcpy(sorted, of, sizeof *of * (size_t)n);
    at_sort_doubles(sorted, n);
    return at_sorted_median(sorted, n);
}

static bool is_enough(const runs *x) {
    if (!x->num_ratios) return x->num >= SOME_RUNS;
    const double ratio = median(x->ratio, x->num_ratios);
    if (x->num < SOME_RUNS) return ratio > clearly_slower;
    return x->num >= MOST_RUNS || ratio > may_win;
}

/* Which of the two is first changes from pair to pair. best: NULL, there is none. */
static at_status run_in_turn(at_tuning *t, const at_config *c, const at_config *best, runs *x,
                             at_error *err) {
    *x = (runs){0};
    while (!is_enough(x)) {
        const bool best_first = x->num % 2;
        double cost, other = 0;
        at_command_end unused;
        if (best && best_first) AT_TRY(run(t, best, &other, &unused, err));
        AT_TRY(run(t, c, &cost, &x->end, err));
        x->has_failed = !(cost > 0);
        if (x->has_failed) return AT_OK;
        if (best && !best_first) AT_TRY(run(t, best, &other, &unused, err));
        x->cost[x->num++] = cost;
        if (other > 0) x->ratio[x->num_ratios++] = cost / other;
    }
    return AT_OK;
}

/* On the scale of the first that was the best, whatever the machine did meanwhile. */
static void take_runs(at_tuning *t, const runs *x, double best_s, at_record *r) {
    at_arena *a = t->command->arena;
    const int n = x->num_ratios ? x->num_ratios : x->num;
    double *samples = AT_NEW_ARRAY(a, double, n);
    for (int i = 0; i < n; i++)
        samples[i] =
            at_with_digits(x->num_ratios ? x->ratio[i] * best_s : x->cost[i], AT_TIME_DIGITS);
    const double cost = at_with_digits(median(samples, n), AT_TIME_DIGITS);
    r->extra.samples_s = samples;
    r->extra.num_samples = n;
    r->extra.number = 1;
    r->extra.sample_kind = AT_SAMPLES_FULL;
    r->extra.check = AT_CHECK_NOTHING;
    r->costs_s = at_copy(a, &cost, sizeof cost);
    r->num_costs = 1;
    r->timestamp_s = at_wall_time_s();
}

static at_status measure(at_tuning *t, const at_config *c, at_record *r, at_error *err) {
    struct at_command_search *x = t->command;
    const at_record *best = at_known_best(t->known);
    const int64_t begin_ns = at_now_ns();
    runs of;
    AT_TRY(run_in_turn(t, c, best ? &best->config : NULL, &of, err));
    if (of.has_failed && of.end.end == AT_JOB_RAN) AT_TRY(fail_silent(t, of.end.said, r, err));
    else if (of.has_failed)
        at_candidate_fail(x->arena, r, at_error_of_job(of.end.end), of.end.error);
    else take_runs(t, &of, best ? at_record_mean(best) : 0, r);
    r->all_cost_s += at_seconds_since(begin_ns);
    t->s.spent.measured++;
    return AT_OK;
}

/* ---- trials ---------------------------------------------------------------------------------- */

/* A log has no speed of a command whose figure is to be small: how much work a run does is not
 * known. */
static at_status keep(at_tuning *t, at_record *r, int64_t index, const at_key *key,
                      const at_record **kept, at_error *err) {
    at_session *s = &t->s;
    const double speed =
        r->error_no ? 0 : at_with_digits(s->what.work / at_record_mean(r) * 1e-9, 8);
    r->extra.gflops = t->command->metric.higher ? speed : 0;
    AT_TRY(at_log_append(t->log, r, err));
    r->extra.gflops = speed;
    *kept = at_session_keep(s, s->arena, r, index);
    at_known_add(t->known, *kept, key);
    return AT_OK;
}

static at_status try_one(at_tuning *t, int64_t index, const at_record **kept, at_error *err) {
    at_session *s = &t->s;
    at_arena *a = t->command->arena;
    at_config config;
    at_candidate c;
    at_record r;
    at_arena_reset(a);
    AT_TRY(at_config_at(a, s->what.space, index, &config, err));
    const bool made = at_candidate_build(s, a, &config, &c, &r);
    r.extra.part = at_tuner_part(t->tuner, index);
    const at_record *same = made ? at_known_by_key(t->known, c.key) : NULL;
    if (made) r.extra.code_hash = c.kernel->code_hash;
    if (same) at_trial_copy(same, &r);
    else if (made) AT_TRY(measure(t, &config, &r, err));
    return keep(t, &r, index, made ? &c.key : NULL, kept, err);
}

at_status at_command_trials(at_tuning *t, int64_t until, at_error *err) {
    const at_engine_options *o = &t->s.options;
    t->tally.is_command = true;
    t->tally.higher = t->command->metric.higher;
    AT_TRY(at_trials_begin(t, err));
    while (t->tally.done < until && !at_engine_stopped(o)) {
        int64_t index;
        if (t->deadline_ns && at_now_ns() >= t->deadline_ns) break;
        t->exhausted = at_tuner_next(t->tuner, &index, 1) <= 0;
        if (t->exhausted) break;
        const at_record *known = at_known_by_index(t->known, index);
        const bool answered = known != NULL;
        if (!known) {
            at_status s = try_one(t, index, &known, err);
            if (at_is_end(s)) break;
            AT_TRY(s);
        }
        if (at_trial_learn(t, known, answered)) break;
    }
    return AT_OK;
}
