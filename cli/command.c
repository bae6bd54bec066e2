/* cli/command.c: see command.h. */
#include "cli/command.h"

#include "cli/run_end.h"
#include "view/view.h"

/* ---- from the command line ------------------------------------------------------------------- */

static at_status check(const at_options *o, at_error *err) {
    static const char *const others[] = {"--workload",  "--on",      "--baseline",     "--args",
                                         "--transfer",  "--fuse",    "--prune",        "--per-task",
                                         "--only",      "--weight",  "--array",        "--expect",
                                         "--objective", "--threads", "--final-dialect"};
    if (o->num_operands)
        return at_fail(err, AT_E_USAGE,
                       "--command stands in the place of a template; \"%s\" is one",
                       o->operands[0]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (at_given(o, others[i]))
            return at_fail(err, AT_E_USAGE, "%s is of kernels; --command runs as it stands",
                           others[i]);
    if (!o->metric)
        return at_fail(err, AT_E_USAGE,
                       "--command needs --metric: where its figure stands in what it prints, "
                       "--metric 'time: ([0-9.]+) ms'");
    if (!o->command_knobs.num)
        return at_fail(err, AT_E_USAGE, "--command needs a knob: --knob TILE=8,16,32");
    return AT_OK;
}

/* Templates live as long as the process. */
at_status at_command_options(const at_options *o, at_options *out, at_error *err) {
    const at_template_row *row;
    *out = *o;
    AT_TRY(check(o, err));
    const at_bench_command c = {.line = o->command,
                                .knobs = o->command_knobs.items,
                                .num_knobs = o->command_knobs.num,
                                .requires = o->command_requires.items,
                                .num_requires = o->command_requires.num,
                                .metric = o->metric,
                                .higher = o->higher};
    AT_TRY(at_user_command_add(&c, &row, err));
    out->operands[out->num_operands++] = row->name;
    out->request.template_name = row->name;
    if (!out->log) out->log = "command.log";
    return AT_OK;
}

/* ---- at the end ------------------------------------------------------------------------------ */

void at_text_add_command_words(at_text *out, at_session *s, const at_config *c) {
    const char *const *words;
    int num;
    if (at_command_words(s->scratch, s, c, &words, &num, NULL) != AT_OK) return;
    at_text line = {0};
    for (int i = 0; i < num; i++) at_text_add_word(&line, words[i]);
    at_text_add_visible(out, at_text_str(&line) + (line.len > 0)); /* a blank stands before each */
    at_text_free(&line);
}

at_status at_command_print_end(at_tuning *t, const at_best *best, at_error *err) {
    at_text out = {0};
    at_print_program(&out, t->s.what.task, &best->record->config, NULL);
    at_text_add(&out, "\n");
    at_text_add_command_words(&out, &t->s, &best->record->config);
    at_text_addf(&out, "\n\n%s of %lld: ", t->tally.higher ? "Largest" : "Fastest",
                 (long long)t->tally.done);
    if (t->tally.higher) at_text_addf(&out, "%.6g", best->gflops);
    else at_text_add_time(&out, best->time_s);
    at_text_add(&out, ".\n");
    at_text_add_trials(&out, t);
    return at_print(&out, err);
}
