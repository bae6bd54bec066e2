/* cli/trial_note.c: single trials on stderr. */
#include "cli/trial_note.h"

#include <string.h>

#include "cli/reproduce.h"
#include "view/view.h"

/* Text that may have several lines, each indented. */
static void add_indented(at_text *out, const char *text) {
    while (*text) {
        size_t n = strcspn(text, "\n");
        at_text_add(out, "    ");
        at_text_addn(out, text, n);
        at_text_add(out, "\n");
        text += n + (text[n] == '\n');
    }
}

static void add_config(at_text *out, at_session *s, int64_t index) {
    at_config config;
    if (at_config_at(s->scratch, s->what.space, index, &config, NULL) == AT_OK)
        at_config_print_json(out, &config);
}

const char *at_failure_remedy(int error_no) {
    bool late = error_no == AT_ERR_BUILD_TIMEOUT || error_no == AT_ERR_RUN_TIMEOUT;
    return late ? "; --timeout gives it more time" : "";
}

static void say_failure(const at_notes *n, at_session *s, const at_tally *tally,
                        const at_record *r) {
    at_text out = {0};
    at_text_addf(&out, "autotune: trial %lld ", (long long)tally->done);
    at_text_add_styled(&out, AT_STYLE_BAD, "failed");
    at_text_addf(&out, ": %s\n", at_err_no_name(r->error_no));
    add_indented(&out, r->extra.error);
    if (*at_failure_remedy(r->error_no))
        at_text_addf(&out, "    %s\n", at_failure_remedy(r->error_no) + 2);
    at_text_add(&out, "    ");
    add_config(&out, s, r->config.index);
    at_text_add(&out, "\n    once more: ");
    at_text_add_command(&out, n->options, s, r->config.index, n->log, r->line);
    at_text_add(&out, "\n");
    at_say(&out);
}

static void say_line(at_session *s, const at_tally *tally, const at_record *r) {
    at_text out = {0};
    at_text_addf(&out, "trial %lld: ", (long long)tally->done);
    if (r->error_no)
        at_text_addf(&out, "%s: %.*s", at_err_no_name(r->error_no),
                     (int)strcspn(r->extra.error, "\n"), r->extra.error);
    else {
        if (tally->higher) at_text_addf(&out, "%.6g", r->extra.gflops);
        else at_text_add_time(&out, at_record_mean(r));
        if (!tally->is_command)
            at_text_addf(&out, ", %.2f %s", r->extra.gflops, at_unit_of_speed(s->what.in_bytes));
    }
    at_text_add(&out, "; ");
    add_config(&out, s, r->config.index);
    at_text_add(&out, "\n");
    at_say(&out);
}

static void add_result(at_text *out, const at_record *r) {
    at_text_add(out, "MeasureResult(costs=(");
    for (int i = 0; i < r->num_costs; i++) {
        if (i) at_text_add(out, ", ");
        at_text_add_double(out, r->costs_s[i]);
    }
    at_text_add(out, r->num_costs == 1 ? ",)" : ")");
    at_text_add(out, ", error_no=MeasureErrorNo.NO_ERROR, all_cost=");
    at_text_add_double(out, r->all_cost_s);
    at_text_add(out, ", timestamp=");
    at_text_add_double(out, r->timestamp_s);
    at_text_add(out, ")");
}

static void say_debug(at_session *s, const at_tally *tally, const at_record *r) {
    at_text out = {0};
    at_config config;
    at_text_addf(&out, "No: %lld\tGFLOPS: %.2f/%.2f\tresult: ", (long long)tally->done,
                 r->extra.gflops, tally->best);
    if (r->error_no) at_text_add_visible(&out, r->extra.error);
    else add_result(&out, r);
    at_text_add(&out, "\t");
    if (at_config_at(s->scratch, s->what.space, r->config.index, &config, NULL) == AT_OK)
        at_config_print_str(&out, &config);
    at_text_add(&out, "\n");
    at_say(&out);
}

void at_note_trial(at_notes *n, at_session *s, const at_tally *tally, const at_record *r,
                   bool is_better) {
    at_verbosity v = at_terminal_verbosity();
    int kind = r->error_no <= AT_ERR_UNKNOWN ? r->error_no : AT_ERR_UNKNOWN;
    bool first = kind && !n->seen[kind] && !at_record_is_pruned(r);
    if (v == AT_VERBOSITY_DEBUG) say_debug(s, tally, r);
    if (first) {
        n->seen[kind] = true;
        say_failure(n, s, tally, r);
    } else if (v == AT_VERBOSITY_VERBOSE && (kind || is_better)) say_line(s, tally, r);
}

const char *at_failure_advice(const at_tally *tally) {
    static const char *const advice[AT_ERR_UNKNOWN + 1] = {
        [AT_ERR_INSTANTIATION] = "the schedule does not fit this task; other --args may",
        [AT_ERR_COMPILE_HOST] = "what was emitted does not compile; another --compiler may do",
        [AT_ERR_COMPILE_DEVICE] = "what was emitted does not compile; another --compiler may do",
        [AT_ERR_RUNTIME] = "--paranoid tells accesses out of bounds",
        [AT_ERR_WRONG_ANSWER] = "the kernel computes something else than the computation says",
        [AT_ERR_BUILD_TIMEOUT] = "give more time with --timeout, or --compiler tcc",
        [AT_ERR_RUN_TIMEOUT] = "give more time with --timeout",
        [AT_ERR_UNKNOWN] = "they were not measured; on a machine with less to do they may be",
    };
    int most = 1;
    for (int e = 2; e <= AT_ERR_UNKNOWN; e++)
        if (tally->failed[e] > tally->failed[most]) most = e;
    /* What a command reads is not watched. */
    return tally->is_command && most == AT_ERR_RUNTIME ? NULL : advice[most];
}
