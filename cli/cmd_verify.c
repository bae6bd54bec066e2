/* cli/cmd_verify.c: every valid record of some logs, checked and timed again; exit code 7 unless
 * all are reproduced. */
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/json_out.h"
#include "engine/engine.h"
#include "view/view.h"

typedef struct verification {
    at_arena *arena;
    const at_options *options;
    at_verifier *verifier;
    int64_t count[AT_VERDICT_COUNT], records;
    int64_t standing[AT_STANDING_COUNT], unreadable; /* of what the logs hold */
    at_out json;
} verification;

/* ---- text ----------------------------------------------------------------------------------- */

static at_status print_row(const char *path, const at_record *r, bool wins, const at_verified *x,
                           at_error *err) {
    at_text t = {0};
    at_text_add_visible(&t, path);
    at_text_addf(&t, ":%lld: ", (long long)r->line);
    at_text_add_record_task(&t, r->task, r->args);
    at_text_addf(&t, "%s\n  %s", wins ? ", the winner" : "", at_verdict_name(x->verdict));
    if (x->time_s > 0) {
        at_text_add(&t, ": was ");
        at_text_add_time(&t, x->recorded_s);
        at_text_add(&t, ", is ");
        at_text_add_time(&t, x->time_s);
        at_text_addf(&t, " (%+.1f %%%s), %.2f %s", (x->ratio - 1) * 100,
                     x->in_pairs ? " in pairs" : "", x->gflops, at_unit_of_speed(x->in_bytes));
        if (x->of_peak > 0) {
            at_text_add(&t, ", ");
            at_text_add_share(&t, x->of_peak);
            at_text_addf(&t, " of the %s", at_name_of_peak(x->in_bytes, x->of_dots));
        }
    }
    if (*x->note) at_text_add(&t, x->time_s > 0 ? "; " : ": ");
    at_text_add_visible(&t, x->note);
    at_text_add(&t, "\n");
    return at_print(&t, err);
}

static void add_counts(at_text *t, const verification *v) {
    at_text_addf(t, "%lld record%s", (long long)v->records, at_plural(v->records));
    const char *before = ": ";
    for (int i = 0; i < AT_VERDICT_COUNT; i++) {
        if (!v->count[i]) continue;
        at_text_addf(t, "%s%lld %s", before, (long long)v->count[i],
                     at_verdict_name((at_verdict)i));
        before = ", ";
    }
}

static void add_left_out(at_text *t, const verification *v) {
    at_text left = {0};
    at_standings_print(&left, v->standing, v->unreadable);
    if (left.len) at_text_addf(t, "; left out:%s", at_text_str(&left) + 1);
    at_text_free(&left);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void out_positive(at_out *out, const char *key, double x) {
    if (x > 0) at_out_double(out, key, x);
    else at_out_string(out, key, NULL);
}

static void out_row(at_out *out, const char *path, const at_record *r, bool wins,
                    const at_verified *x) {
    at_out_begin(out, NULL, '{');
    at_out_record(out, r);
    at_out_string(out, "source", path);
    at_out_int(out, "line", r->line);
    at_out_bool(out, "winner", wins);
    at_out_string(out, "verdict", at_verdict_name(x->verdict));
    at_out_string(out, "note", x->note);
    at_out_begin(out, "recorded", '{');
    at_out_double(out, "time_ns", x->recorded_s * 1e9);
    at_out_double(out, "low_ns", x->recorded_low_s * 1e9);
    at_out_double(out, "high_ns", x->recorded_high_s * 1e9);
    at_out_end(out, '}');
    out_positive(out, "time_ns", x->time_s * 1e9);
    at_out_speed(out, x->gflops, x->in_bytes);
    out_positive(out, "of_peak", x->of_peak);
    out_positive(out, "ratio", x->ratio);
    if (x->time_s > 0) at_out_string(out, "compared", x->in_pairs ? "pairs" : "time");
    else at_out_string(out, "compared", NULL);
    at_out_end(out, '}');
}

/* ---- the verb ------------------------------------------------------------------------------- */

static bool is_wanted(void *ctx, const at_record *r) {
    verification *v = ctx;
    const at_standing standing = at_record_standing(r);
    v->standing[standing]++;
    return standing == AT_STANDING_CANDIDATE;
}

static at_status verify_log(verification *v, const char *path, at_error *err) {
    at_record *records;
    at_verified x;
    int n;
    at_log_stats stats;
    AT_TRY(
        at_log_read_wanted(v->arena, path, is_wanted, v, at_warn, NULL, &records, &n, &stats, err));
    v->unreadable += stats.bad;
    bool *wins = AT_NEW_ARRAY(v->arena, bool, n);
    at_use_counts *uses = at_use_counts_new(v->arena, v->options->engine.accept_changed);
    at_mark_winners(path, records, n, at_is_usable, uses, wins);
    at_use_counts_end(uses, &v->options->engine);
    for (int i = 0; i < n; i++) {
        const at_record *r = &records[i];
        AT_TRY(at_verify(v->verifier, r, &x, err));
        v->records++;
        v->count[x.verdict]++;
        if (v->options->json) out_row(&v->json, path, r, wins[i], &x);
        else AT_TRY(print_row(path, r, wins[i], &x, err));
    }
    return AT_OK;
}

static at_status print_end(verification *v, at_error *err) {
    at_text t = {0};
    if (v->records) add_counts(&t, v);
    add_left_out(&t, v);
    at_status s = AT_OK;
    if (v->options->json) {
        at_out *out = &v->json;
        at_out_end(out, ']');
        at_out_begin(out, "count", '{');
        for (int i = 0; i < AT_VERDICT_COUNT; i++)
            at_out_int(out, at_verdict_name((at_verdict)i), v->count[i]);
        at_out_end(out, '}');
        int64_t left_out = 0;
        for (int i = 0; i < AT_STANDING_COUNT; i++)
            if (i != AT_STANDING_CANDIDATE) left_out += v->standing[i];
        at_out_int(out, "left_out", left_out);
        at_out_int(out, "unreadable", v->unreadable);
        s = at_out_print(out, err);
    } else if (v->records) {
        at_text_add(&t, "\n");
        s = at_print(&t, err);
    }
    if (s == AT_OK && !v->records)
        s = at_fail(err, AT_E_NO_VALID, "no valid record to verify%s", at_text_str(&t));
    else if (s == AT_OK && v->count[AT_REPRODUCED] < v->records)
        s = at_fail(err, AT_E_DIFFERS, "%lld of %lld records not reproduced",
                    (long long)(v->records - v->count[AT_REPRODUCED]), (long long)v->records);
    at_text_free(&t);
    return s;
}

static at_status verify(verification *v, at_error *err) {
    v->json = at_out_object();
    at_out_begin(&v->json, "records", '[');
    for (int i = 0; i < v->options->num_operands; i++)
        AT_TRY(verify_log(v, v->options->operands[i], err));
    return print_end(v, err);
}

at_status at_cmd_verify(const at_options *o, at_error *err) {
    at_catch_interrupts();
    at_arena *a = at_arena_new();
    at_log *log = NULL;
    at_status status = o->log ? at_log_open(o->log, &log, err) : AT_OK;
    if (status == AT_OK) {
        at_error late;
        verification v = {.arena = a,
                          .options = o,
                          .verifier = at_verifier_new(a, &o->engine, o->margin, log, o->log)};
        status = verify(&v, err);
        at_status closed = at_log_close(log, status == AT_OK ? err : &late);
        if (status == AT_OK) status = closed;
        at_text_free(&v.json.text);
        at_verifier_free(v.verifier);
    }
    at_arena_free(a);
    return status;
}
