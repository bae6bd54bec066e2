/* engine/data/reference.c: see reference.h. */
#include "engine/data/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/measure/measure.h"

static const char *const entry = "reference";
/* Naive code runs at about 0.3 GFLOP/s under TinyCC and 1 to 2 under gcc -O2, which takes 0.1 s to
 * start. */
static const double gcc_from_flops = 5e8;
static const char gcc_flags[] = "-O3 -march=native -fno-trapping-math -fno-math-errno";
/* From here on it takes so long that somebody will wonder. */
static const double long_points = 1e10;
/* With limits it has several times as much to do per point. */
static const double limits_cost = 3;
/* An element of what reads itself keeps samples of its error, which all its operations go through.
 */
static const double sampled_points = 300;
/* 8 u of the largest float: partial sums may exceed it. */
static const float largest_limit = 0x1p-21f * 3.4028235e38f;
/* From here on it takes most of the time until a search has its first results, */
static const double project_from_flops = 1e8;
/* and a projection pays that has so many times fewer points. */
static const double least_gain = 4;
/* Inputs that make most of the outputs say nothing are made so many times smaller, */
static const double shrink = 4;
/* so often at most. */
enum { most_shrinks = 5 };
static const double compile_timeout_s = 60, run_timeout_s = 24 * 3600.0;

/* ---- running naive C ------------------------------------------------------------------------ */

/* Inputs in text order, then the outputs: the expected ones, or, for a projection, its sums; then
 * the limits of expected ones that are not exact. */
static void add_buffers(const at_dataset *d, const at_buf *sums, at_buf *bufs, int *n) {
    enum { INPUTS, OUTPUTS, LIMITS };
    const at_compute *c = d->compute;
    for (int part = INPUTS; part <= (d->is_exact ? OUTPUTS : LIMITS); part++)
        for (int t = 0; t < c->num_tensors; t++) {
            const at_tensor *tensor = &c->tensors[t];
            if (!at_dataset_keeps(tensor) || tensor->is_output != (part != INPUTS)) continue;
            bufs[*n] = (at_buf){.name = tensor->name,
                                .role = part == INPUTS ? AT_BUF_IN : AT_BUF_OUT,
                                .type = tensor->type,
                                .offset = part == INPUTS ? d->offset[t] : d->expected[t],
                                .size_bytes = d->size_bytes[t]};
            if (part == LIMITS) bufs[*n].offset += at_limits_at(d->size_bytes[t]);
            if (part == OUTPUTS && sums) bufs[*n] = *sums;
            (*n)++;
        }
}

/* What is left of a time limit, which is no limit of one kernel. */
static double most_seconds(const at_session *s) {
    double left_s = (double)(s->deadline_ns - at_now_ns()) * 1e-9;
    return s->deadline_ns ? fmax(left_s, 0.001) : run_timeout_s;
}

static at_status do_meanwhile(at_session *s, at_error *err) {
    at_status (*meanwhile)(void *ctx, at_error *err) = s->meanwhile;
    s->meanwhile = NULL;
    return meanwhile ? meanwhile(s->meanwhile_ctx, err) : AT_OK;
}

static at_status run_naive(at_session *s, at_text *source, int64_t workspace_bytes, double points,
                           const at_buf *sums, at_error *err) {
    const at_dataset *d = &s->data;
    at_arena *a = s->scratch;
    const double gib = 1 << 30;
    at_job job = {.compiler = AT_TCC,
                  .source = at_text_str(source),
                  .entry = entry,
                  .threads = 1,
                  .run_only = true,
                  .workspace_bytes = workspace_bytes,
                  .data_version = d->version,
                  .compile_timeout_s = compile_timeout_s,
                  .run_timeout_s = most_seconds(s)};
    if (workspace_bytes > at_cpu_facts()->memory_bytes / 4 * 3)
        return at_fail(err, AT_E_USAGE,
                       "the reference keeps whole stages: %.1f GiB, this machine has %.1f GiB",
                       (double)workspace_bytes / gib, (double)at_cpu_facts()->memory_bytes / gib);
    if (points > long_points)
        at_engine_warn(&s->options,
                       at_format(a,
                                 "the output that kernels are checked against takes long: plain "
                                 "loops of %.0e steps make it",
                                 points));
    at_buf *bufs = AT_NEW_ARRAY(a, at_buf, 2 * d->compute->num_tensors);
    add_buffers(d, sums, bufs, &job.num_bufs);
    job.bufs = bufs;

    at_outcome outcome;
    char *object = NULL;
    if (2 * points > gcc_from_flops && at_compiler_available(AT_GCC)) {
        at_object made;
        /* Where gcc does not serve, TinyCC does. */
        if (at_build_object(a, AT_GCC, job.source, gcc_flags, compile_timeout_s, s->options.stop,
                            &made, err) == AT_OK &&
            !made.end) {
            job.compiler = AT_GCC;
            job.object = object = made.path;
        }
    }
    job.run_timeout_s = most_seconds(s); /* a compiler took some */
    at_error late;
    at_status meanwhile = AT_OK, status = at_worker_begin(s->worker, &job, s->options.stop, err);
    if (status == AT_OK) {
        meanwhile = do_meanwhile(s, &late);
        status = at_worker_end(s->worker, &job, s->options.stop, &outcome, err);
    }
    if (object) at_object_remove(object);
    AT_TRY(status);
    if (meanwhile != AT_OK) *err = late;
    AT_TRY(meanwhile);
    if (outcome.end == AT_JOB_TIMEOUT && s->deadline_ns)
        return at_fail(err, AT_E_NO_VALID,
                       "%s: the time ended first: plain loops make the output that kernels are "
                       "checked against, and were not through; give a longer --time, or smaller "
                       "sizes",
                       s->row->name);
    if (outcome.end)
        return at_fail(err, AT_E_BUG, "the reference failed (%s): %s",
                       at_err_no_name(at_error_of_job(outcome.end)), outcome.error);
    return AT_OK;
}

/* The root of the mean square of what is finite. */
static double size_of(const float *x, int64_t n) {
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        if (isfinite(x[i])) squares += (double)x[i] * (double)x[i];
    return sqrt(squares / (double)n);
}

/* Elements whose limit is larger than they and all others are: what reads itself may enlarge errors
 * from step to step, or not be known not to. */
static void warn_of_limits(const at_session *s, const at_tensor *t, const float *x,
                           const float *limit, int64_t n) {
    int64_t count = 0, first = 0;
    const double size = size_of(x, n);
    for (int64_t i = n - 1; i >= 0; i--)
        if (isfinite(x[i]) && (double)limit[i] > fmax(size, fabs((double)x[i]))) count++, first = i;
    if (!count) return;
    at_engine_warn(&s->options,
                   at_format(s->scratch,
                             "%lld of %lld elements of %s are not checked: the only known limit of "
                             "their error is their own size (%s[%lld] is one)",
                             (long long)count, (long long)n, t->name, t->name, (long long)first));
}

/* A value that no float holds cannot be checked. With a weight of the user's that is an error,
 * which the user can mend by scaling it; else the computation itself gives such values on ordinary
 * data. */
static at_status check_finite(const at_session *s, at_error *err) {
    const at_dataset *d = &s->data;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (!tensor->is_output || d->is_exact || d->has_specials) continue;
        const float *x = at_store_at(d->store, d->expected[t]),
                    *limit = x + at_dataset_elements(d, t);
        int64_t n = at_dataset_elements(d, t), count = 0, first = 0;
        const bool grows = at_compute_has_recurrence(d->compute);
        if (grows) warn_of_limits(s, tensor, x, limit, n);
        for (int64_t i = n - 1; i >= 0; i--)
            if (!isfinite(x[i]) || (limit[i] > largest_limit && !grows)) count++, first = i;
        if (!count) continue;
        const char *what = at_format(
            s->scratch, "%lld of %lld elements of %s exceed what a float32 holds (%s[%lld] is one)",
            (long long)count, (long long)n, tensor->name, tensor->name, (long long)first);
        if (s->chosen.weight)
            return at_fail(err, AT_E_INPUT,
                           "--weight: %s, or their partial sums do; scale the weight", what);
        at_engine_warn(
            &s->options,
            at_format(s->scratch, "%s, or are not a number: of these only that is checked", what));
    }
    return AT_OK;
}

/* How many points of a sum it takes as long as. */
static double points_of(const at_session *s) {
    const at_dataset *d = &s->data;
    double points = s->flops / 2 * (d->is_exact ? 1 : limits_cost);
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        double elements = at_tensor_goes_in_steps(x) && !d->is_exact ? sampled_points : 0;
        for (int k = 0; k < x->num_axes; k++) elements *= (double)d->extents[t][k];
        points += elements;
    }
    return points;
}

static at_status run_whole(at_session *s, at_error *err) {
    at_text source = {0};
    int64_t workspace_bytes;
    const at_dataset *d = &s->data;
    const double points = points_of(s);
    at_status status = (d->is_exact   ? at_compute_reference_c
                        : d->is_whole ? at_compute_whole_limits_c
                                      : at_compute_limits_c)(s->scratch, d->compute, d->values,
                                                             entry, &source, &workspace_bytes, err);
    if (status == AT_OK) status = run_naive(s, &source, workspace_bytes, points, NULL, err);
    at_text_free(&source);
    return status;
}

/* The text of a reference, as schedule.h prints it. */
typedef at_status print_fn(at_arena *a, const at_compute *c, const int64_t *values,
                           const char *entry, at_text *out, int64_t *workspace_bytes,
                           at_error *err);

static at_status run_on(at_session *s, at_dataset *d, print_fn *print, double points,
                        at_error *err) {
    at_text source = {0};
    int64_t workspace_bytes;
    at_dataset checked = s->data;
    s->data = *d; /* as long as it runs */
    at_status status =
        print(s->scratch, d->compute, d->values, entry, &source, &workspace_bytes, err);
    if (status == AT_OK) status = run_naive(s, &source, workspace_bytes, points, NULL, err);
    at_text_free(&source);
    s->data = checked;
    return status;
}

at_status at_reference_in_double(at_session *s, at_dataset *d, at_error *err) {
    return run_on(s, d, at_compute_double_c, s->flops / 2, err);
}

at_status at_reference_with_limits(at_session *s, at_dataset *d, at_error *err) {
    return run_on(s, d, at_compute_limits_c, s->flops / 2 * limits_cost, err);
}

/* ---- the stand-in --------------------------------------------------------------------------- */

/* What the sums of the right output are; *sums lies in the store. */
static at_status run_projected(at_session *s, const at_projection *p, at_buf *sums, at_error *err) {
    at_dataset *d = &s->data;
    at_text source = {0};
    int64_t workspace_bytes;
    *sums = (at_buf){.name = "sums", .role = AT_BUF_OUT, .type = AT_S32};
    sums->size_bytes = 8 * at_projection_sums(p, d->compute, d->extents);
    AT_TRY(at_store_reserve(d->store, sums->name, sums->size_bytes, &sums->offset, err));
    at_status status = at_compute_projected_c(s->scratch, d->compute, d->values, p, s->options.seed,
                                              entry, &source, &workspace_bytes, err);
    if (status == AT_OK) status = run_naive(s, &source, workspace_bytes, p->points, sums, err);
    at_text_free(&source);
    return status;
}

/* The default configuration's output, where the expected one belongs; false: it has none. */
static at_status run_default(at_session *s, bool *ran, at_error *err) {
    at_dataset *d = &s->data;
    at_arena *a = s->scratch;
    at_config config;
    at_candidate candidate;
    at_record unused;
    at_outcome outcome = {0};
    *ran = false;
    AT_TRY(at_task_default_config(a, s->task, s->target->default_lanes, &config, err));
    if (!at_candidate_make(s, a, &config, &candidate, &unused)) return AT_OK;
    bool compiled;
    at_status status = at_candidate_compile(s, a, &candidate, &unused, &compiled, err);
    if (status == AT_OK && compiled) {
        at_job *job = &candidate.job;
        at_buf *bufs = at_copy(a, job->bufs, sizeof *bufs * (size_t)job->num_bufs);
        for (int i = 0, outputs = 0; i < job->num_bufs; i++)
            if (bufs[i].role == AT_BUF_OUT) bufs[i].offset = job->expected_offset[outputs++];
        job->bufs = bufs;
        job->expected_offset = NULL;
        job->run_only = true;
        job->paranoid = false;
        job->data_version = d->version;
        status = at_dataset_shape(d, candidate.extents, err);
        if (status == AT_OK) status = at_worker_run(s->worker, job, s->options.stop, &outcome, err);
        *ran = status == AT_OK && !outcome.end;
    }
    at_candidate_drop(&candidate);
    return status;
}

/* *stands: the expected output is there, and right. */
static at_status stand_in(at_session *s, bool *stands, at_error *err) {
    at_dataset *d = &s->data;
    at_projection p;
    at_buf sums;
    const at_pattern *pattern = d->pattern;
    double mean_row = pattern ? (double)pattern->nnz / (double)pattern->rows : 1;
    *stands = false;
    if (s->flops < project_from_flops || !d->is_exact ||
        !at_compute_project(s->scratch, d->compute, d->values, mean_row, &p) ||
        2 * p.points * least_gain > s->flops)
        return AT_OK;
    bool ran;
    AT_TRY(run_projected(s, &p, &sums, err));
    AT_TRY(run_default(s, &ran, err));
    if (!ran) return AT_OK;
    uint64_t *found = malloc((size_t)sums.size_bytes);
    if (!found) return AT_OK;
    const float *out = at_store_at(d->store, d->expected[p.output]);
    *stands = at_projection_apply(&p, d->compute, d->extents, s->options.seed, out, found) < 0 &&
              !memcmp(found, at_store_at(d->store, sums.offset), (size_t)sums.size_bytes);
    free(found);
    if (!*stands)
        at_engine_warn(&s->options,
                       "the default configuration's output is wrong; the reference is computed "
                       "in full");
    return AT_OK;
}

/* An index that lies outside of its tensor would read whatever is there, or crash. */
static at_status check_reads(const at_session *s, at_error *err) {
    const at_dataset *d = &s->data;
    at_data *data = AT_NEW_ARRAY(s->scratch, at_data, d->compute->num_tensors);
    for (int t = 0; t < d->compute->num_tensors; t++)
        if (d->compute->tensors[t].role == AT_ROLE_INDEX)
            data[t].i = at_store_at(d->store, d->offset[t]);
    return at_compute_check_reads(d->compute, d->values, data, s->options.stop, err);
}

static at_status make(at_session *s, at_error *err) {
    AT_TRY(check_reads(s, err));
    AT_TRY(stand_in(s, &s->is_projected, err));
    return s->is_projected ? AT_OK : run_whole(s, err);
}

at_status at_reference_run(at_session *s, at_error *err) {
    AT_TRY(make(s, err));
    return check_finite(s, err);
}

static at_status end_of_filling(const at_session *s, const at_dataset *d, bool filled,
                                at_error *err) {
    if (at_engine_stopped(&s->options)) return at_fail(err, AT_E_INTERRUPTED, "interrupted");
    if (filled) return AT_OK;
    return at_fail(err, AT_E_NO_VALID,
                   "%s: the time ended first: its data, %.2f GB, were not made yet; give a longer "
                   "--time, or smaller sizes",
                   s->row->name, (double)at_dataset_bytes(d) * 1e-9);
}

at_status at_reference_fill(at_session *s, at_dataset *d, uint64_t seed, at_error *err) {
    return end_of_filling(s, d, at_dataset_fill(d, seed), err);
}

at_status at_reference_fill_normal(at_session *s, at_dataset *d, uint64_t seed, at_error *err) {
    return end_of_filling(s, d, at_dataset_fill_normal(d, seed), err);
}

/* Are all outputs as they should be to the last bit, as the run has shown? */
static bool is_all_exact(const at_dataset *d) {
    for (int t = 0; t < d->compute->num_tensors; t++) {
        if (!d->compute->tensors[t].is_output) continue;
        const int64_t n = at_dataset_elements(d, t);
        const float *x = at_store_at(d->store, d->expected[t]), *limit = x + n;
        for (int64_t i = 0; i < n; i++)
            if (limit[i] != 0 || !isfinite(x[i])) return false;
    }
    return true;
}

static bool draws(const at_dataset *d) {
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        if (x->role != AT_ROLE_STAGE && x->role != AT_ROLE_INDEX && !d->given[t]) return true;
    }
    return false;
}

/* Of integers of both signs, or of either, those that all values stay small of; where there are
 * none such, inputs are no integers. */
static at_status make_first(at_session *s, uint64_t seed, at_error *err) {
    static const int signs[] = {0, 1, -1};
    at_dataset *d = &s->data;
    for (int i = 0; i < 3 && d->is_whole; i++) {
        d->sign = signs[i];
        AT_TRY(at_reference_fill(s, d, seed, err));
        AT_TRY(make(s, err));
        if (!draws(d) || is_all_exact(d)) return AT_OK;
    }
    d->is_whole = false;
    d->sign = 0;
    AT_TRY(at_reference_fill(s, d, seed, err));
    return make(s, err);
}

at_status at_reference_make(at_session *s, uint64_t seed, at_error *err) {
    at_dataset *d = &s->data;
    AT_TRY(make_first(s, seed, err));
    double first, share;
    bool is_idle = at_dataset_is_idle(d, &first);
    share = first;
    for (int i = 0; i < most_shrinks && is_idle && at_dataset_shrink(d, shrink); i++) {
        AT_TRY(at_reference_fill(s, d, seed, err));
        AT_TRY(make(s, err));
        is_idle = at_dataset_is_idle(d, &share);
    }
    if (share >= first && d->scale != 1) { /* it does not depend on their size */
        d->scale = 1;
        AT_TRY(at_reference_fill(s, d, seed, err));
        AT_TRY(make(s, err));
    }
    return check_finite(s, err);
}
