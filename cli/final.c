/* cli/final.c: single trials are minutes apart and the machine drifts; the winner is chosen among
 * samples of the same moment. */
#include "cli/final.h"

#include <stdlib.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/json_out.h"
#include "cli/message.h"

static const double least_budget_s = 2, budget_share = 0.1; /* of the run so far */

static int compare_doubles(const void *x, const void *y) {
    double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

static double median(const double *values, int n) {
    double sorted[AT_FINAL_ROUNDS];
    memcpy(sorted, values, sizeof *values * (size_t)n);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_doubles);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static at_status prepare(at_session *s, const at_result *result, at_finalist *f, bool *ready,
                         at_error *err) {
    at_config config;
    at_result unused;
    memset(f, 0, sizeof *f);
    f->result = result;
    AT_TRY(at_config_at(s->arena, s->space, result->index, &config, err));
    *ready = at_candidate_make(s, s->arena, &config, &f->candidate, &unused) &&
             at_candidate_compile(s, s->arena, &f->candidate, &unused);
    /* One sample per round, unless numbers were given. */
    if (*ready && !s->options->repeat) f->candidate.job.repeat = 1;
    return AT_OK;
}

static at_status log_sample(const at_session *s, at_log *log, const at_finalist *f,
                            const at_result *r, at_error *err) {
    at_out o = {0};
    at_text value = {0};
    at_text_add(&o.text, "final ");
    at_out_begin(&o, NULL, '{');
    at_out_string(&o, "task", at_task_record_name(s->task));
    at_json_print(&value, at_task_args(s->task));
    at_out_raw(&o, "args", at_text_str(&value));
    at_out_string(&o, "context_hash", s->context_hash);
    at_out_int(&o, "index", f->result->index);
    at_text_clear(&value);
    at_config_print_entity(&value, &f->candidate.config);
    at_out_raw(&o, "entity", at_text_str(&value));
    at_out_begin(&o, "samples_s", '[');
    for (int i = 0; i < r->num_samples; i++) at_out_double(&o, NULL, r->samples_s[i]);
    at_out_end(&o, ']');
    at_out_double(&o, "gflops", r->gflops);
    at_out_double(&o, "peak_gflops", s->peak_gflops);
    at_out_double(&o, "timestamp", r->timestamp_s);
    at_out_end(&o, '}');
    at_status status = at_log_comment(log, at_text_str(&o.text), err);
    at_text_free(&value);
    at_text_free(&o.text);
    return status;
}

/* One sample of one finalist, the peak beside it. */
static at_status sample(at_session *s, at_log *log, at_finalist *f, at_error *err) {
    at_result r = {.error = ""};
    at_arena_reset(s->scratch);
    AT_TRY(at_candidate_run(s, s->scratch, &f->candidate, 0, &r, err));
    if (r.error_no) {
        char text[256];
        snprintf(text, sizeof text, "index %lld failed when timed again: %s",
                 (long long)f->result->index, r.error);
        at_warn(NULL, text);
        f->rounds = -1;
        return AT_OK;
    }
    AT_TRY(at_session_measure_peak(s, err));
    f->costs_s[f->rounds] = r.mean_s;
    f->peaks[f->rounds++] = s->peak_gflops;
    return log ? log_sample(s, log, f, &r, err) : AT_OK;
}

static at_status sample_all(at_session *s, at_log *log, at_final *final, at_error *err) {
    int64_t begin_ns = at_now_ns();
    double budget_s = budget_share * (double)(begin_ns - s->spent.start_ns) * 1e-9;
    if (budget_s < least_budget_s) budget_s = least_budget_s;
    for (int round = 0; round < AT_FINAL_ROUNDS; round++) {
        for (int i = 0; i < final->count && !at_interrupted; i++) {
            at_finalist *f = &final->of[i];
            if (f->rounds >= 0) AT_TRY(sample(s, log, f, err));
        }
        if (at_interrupted || (double)(at_now_ns() - begin_ns) * 1e-9 > budget_s) break;
    }
    return AT_OK;
}

static void judge(const at_session *s, at_final *final) {
    for (int i = 0; i < final->count; i++) {
        at_finalist *f = &final->of[i];
        if (f->rounds <= 0) continue;
        f->time_s = median(f->costs_s, f->rounds);
        f->peak_gflops = median(f->peaks, f->rounds);
        f->gflops = s->flops / f->time_s * 1e-9;
        f->of_peak = f->gflops / f->peak_gflops;
        if (!final->winner || f->time_s < final->winner->time_s) final->winner = f;
    }
}

at_status at_final_run(at_session *s, const at_known *known, at_log *log, at_final *out,
                       at_error *err) {
    const at_result *top[AT_FINALISTS];
    int n = at_known_top(known, top, AT_FINALISTS);
    int64_t begin_ns = at_now_ns();
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n && !at_interrupted; i++) {
        bool ready;
        AT_TRY(prepare(s, top[i], &out->of[out->count], &ready, err));
        if (ready) out->count++;
        else at_candidate_drop(&out->of[out->count].candidate);
    }
    at_status status = sample_all(s, log, out, err);
    for (int i = 0; i < out->count; i++) at_candidate_drop(&out->of[i].candidate);
    if (status != AT_OK && status != AT_E_INTERRUPTED) return status;
    judge(s, out);
    s->spent.final_ns = at_now_ns() - begin_ns;
    return AT_OK;
}
