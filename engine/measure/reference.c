/* engine/measure/reference.c: see reference.h. */
#include "engine/measure/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/measure/naive_run.h"
#include "engine/measure/bench.h"
#include "engine/measure/foreign_data.h"

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

/* ---- what outputs must be -------------------------------------------------------------------- */

/* Elements whose limit is larger than they and all others are: what reads itself may enlarge errors
 * from step to step, or not be known not to. */
static void warn_of_limits(const at_session *s, int tensor, const float *limit, int64_t n) {
    const at_dataset *d = &s->bench->data;
    const at_tensor *t = &d->compute->tensors[tensor];
    int64_t count = 0, first = 0;
    const double size = at_dataset_size(d, tensor);
    for (int64_t i = n - 1; i >= 0; i--) {
        const double x = at_dataset_expected(d, tensor, i);
        if (isfinite(x) && (double)limit[i] > fmax(size, fabs(x))) count++, first = i;
    }
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
    const at_dataset *d = &s->bench->data;
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *tensor = &d->compute->tensors[t];
        if (!tensor->is_output || d->is_exact || d->has_specials) continue;
        const float *limit = at_dataset_limits(d, t);
        int64_t n = at_dataset_elements(d, t), count = 0, first = 0;
        const bool grows = at_compute_has_recurrence(d->compute);
        if (grows) warn_of_limits(s, t, limit, n);
        for (int64_t i = n - 1; i >= 0; i--)
            if (!isfinite(at_dataset_expected(d, t, i)) || (limit[i] > largest_limit && !grows))
                count++, first = i;
        if (!count) continue;
        const char *what = at_format(
            s->scratch, "%lld of %lld elements of %s exceed what %s holds (%s[%lld] is one)",
            (long long)count, (long long)n, tensor->name,
            tensor->type == AT_F32 ? "a float32" : at_type_of(tensor->type)->name, tensor->name,
            (long long)first);
        if (s->what.chosen.weight)
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
    const at_dataset *d = &s->bench->data;
    double points = s->what.flops / 2 * (d->is_exact ? 1 : limits_cost);
    for (int t = 0; t < d->compute->num_tensors; t++) {
        const at_tensor *x = &d->compute->tensors[t];
        double elements = at_tensor_goes_in_steps(x) && !d->is_exact ? sampled_points : 0;
        for (int k = 0; k < x->num_axes; k++) elements *= (double)d->extents[t][k];
        points += elements;
    }
    return points;
}

/* The text with products of matrices. *prints: it is worth it: no sum is rounded, whatever its
 * order, and few loops are left. */
static at_status print_products(at_session *s, at_naive_code *out, bool *prints, at_error *err) {
    const at_dataset *d = &s->bench->data;
    at_text source = {0};
    *prints = d->is_exact && !d->has_specials;
    if (!*prints) return AT_OK;
    *out = (at_naive_code){0};
    at_status status = at_compute_products_c(s->scratch, d->compute, d->values, AT_NAIVE_ENTRY,
                                             &source, &out->workspace_bytes, &out->points, err);
    out->source = at_text_take(s->scratch, &source);
    *prints = !at_naive_is_long(out->points);
    return status;
}

/* The text of the whole computation. */
static at_status print_whole(at_session *s, at_naive_code *out, at_error *err) {
    const at_dataset *d = &s->bench->data;
    bool prints;
    AT_TRY(print_products(s, out, &prints, err));
    if (prints) return AT_OK;
    at_naive_print_fn *print = d->is_exact   ? at_compute_reference_c
                               : d->is_whole ? at_compute_whole_limits_c
                                             : at_compute_limits_c;
    return at_naive_print(s, d, print, points_of(s), out, err);
}

static at_status run_on(at_session *s, const at_dataset *d, at_naive_print_fn *print, double points,
                        at_error *err) {
    at_naive_code code;
    AT_TRY(at_naive_print(s, d, print, points, &code, err));
    return at_naive_run_whole(s, d, &code, err);
}

at_status at_reference_in_double(at_session *s, at_dataset *d, at_error *err) {
    return run_on(s, d, at_compute_double_c, s->what.flops / 2, err);
}

at_status at_reference_with_limits(at_session *s, at_dataset *d, at_error *err) {
    return run_on(s, d, at_compute_limits_c, s->what.flops / 2 * limits_cost, err);
}

/* ---- the stand-in --------------------------------------------------------------------------- */

/* Is it worth it, and how is it done? */
static bool is_projected(const at_session *s, at_projection *out) {
    const at_dataset *d = &s->bench->data;
    const at_pattern *pattern = d->pattern;
    const double mean_row = pattern ? (double)pattern->nnz / (double)pattern->rows : 1;
    return s->what.flops >= project_from_flops && d->is_exact &&
           at_compute_project(s->scratch, d->compute, d->values, mean_row, out) &&
           2 * out->points * least_gain <= s->what.flops;
}

/* The text that makes the sums of the right output; *sums lies in the store. */
static at_status print_projected(at_session *s, const at_projection *p, at_buf *sums,
                                 at_naive_code *out, at_error *err) {
    at_dataset *d = &s->bench->data;
    at_text source = {0};
    *out = (at_naive_code){.points = p->points, .sums = sums};
    *sums = (at_buf){.name = "sums", .role = AT_BUF_OUT, .type = AT_S32};
    sums->size_bytes = 8 * at_projection_sums(p, d->compute, d->extents);
    AT_TRY(at_store_reserve(d->store, sums->name, sums->size_bytes, &sums->offset, err));
    at_status status = at_compute_projected_c(s->scratch, d->compute, d->values, p, s->options.seed,
                                              AT_NAIVE_ENTRY, &source, &out->workspace_bytes, err);
    out->source = at_text_take(s->scratch, &source);
    return status;
}

/* The default configuration's output, where the expected one belongs; false: it has none. */
static at_status run_default(at_session *s, bool *ran, at_error *err) {
    at_dataset *d = &s->bench->data;
    at_arena *a = s->scratch;
    at_config config;
    at_candidate candidate;
    at_record unused;
    at_outcome outcome = {0};
    *ran = false;
    AT_TRY(at_task_default_config(a, s->what.task, s->how.target->default_lanes, &config, err));
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
        if (status == AT_OK)
            status = at_worker_run(s->bench->worker, job, s->options.stop, &outcome, err);
        *ran = status == AT_OK && !outcome.end;
    }
    at_candidate_drop(&candidate);
    return status;
}

/* Behind a projected run. *stands: the expected output is there, and right. */
static at_status stand_in(at_session *s, const at_projection *p, const at_buf *sums, bool *stands,
                          at_error *err) {
    at_dataset *d = &s->bench->data;
    bool ran;
    *stands = false;
    AT_TRY(run_default(s, &ran, err));
    if (!ran) return AT_OK;
    uint64_t *found = malloc((size_t)sums->size_bytes);
    if (!found) return AT_OK;
    const float *out = at_store_at(d->store, d->expected[p->output]);
    *stands = at_projection_apply(p, d->compute, d->extents, s->options.seed, out, found) < 0 &&
              !memcmp(found, at_store_at(d->store, sums->offset), (size_t)sums->size_bytes);
    free(found);
    if (!*stands)
        at_engine_warn(&s->options,
                       "the default configuration's output is wrong; the reference is computed "
                       "in full");
    return AT_OK;
}

/* ---- outputs of the data that are there ------------------------------------------------------ */

/* An index that lies outside of its tensor would read whatever is there, or crash. */
static at_status check_reads(const at_session *s, at_error *err) {
    const at_dataset *d = &s->bench->data;
    at_data *data = AT_NEW_ARRAY(s->scratch, at_data, d->compute->num_tensors);
    for (int t = 0; t < d->compute->num_tensors; t++)
        if (d->compute->tensors[t].role == AT_ROLE_INDEX)
            data[t].i = at_store_at(d->store, d->offset[t]);
    return at_compute_check_reads(d->compute, d->values, data, s->options.stop, err);
}

/* The worker has begun. */
static at_status begin(at_session *s, at_reference *r, at_error *err) {
    at_naive_code code;
    AT_TRY(check_reads(s, err));
    if (s->foreign && at_foreign_has_no_text(s)) return at_foreign_expect(s, err);
    r->is_projected = is_projected(s, &r->projection);
    if (r->is_projected) AT_TRY(print_projected(s, &r->projection, &r->sums, &code, err));
    else AT_TRY(print_whole(s, &code, err));
    return at_naive_begin(s, &s->bench->data, &code, &r->run, err);
}

static at_status end(at_session *s, at_reference *r, at_error *err) {
    at_naive_code code;
    s->bench->is_projected = false;
    if (s->foreign && at_foreign_has_no_text(s)) return AT_OK;
    AT_TRY(at_naive_end(s, &r->run, err));
    if (!r->is_projected) return AT_OK;
    AT_TRY(stand_in(s, &r->projection, &r->sums, &s->bench->is_projected, err));
    if (s->bench->is_projected) return AT_OK;
    AT_TRY(print_whole(s, &code, err));
    return at_naive_run_whole(s, &s->bench->data, &code, err);
}

static at_status make(at_session *s, at_error *err) {
    at_reference r;
    AT_TRY(begin(s, &r, err));
    return end(s, &r, err);
}

at_status at_reference_run(at_session *s, at_error *err) {
    AT_TRY(make(s, err));
    return check_finite(s, err);
}

at_status at_reference_run_moved(at_session *s, at_moved *moved, at_error *err) {
    at_naive_code code;
    AT_TRY(print_whole(s, &code, err));
    code.points *= (double)moved->runs;
    code.moved = moved;
    return at_naive_run_whole(s, &s->bench->data, &code, err);
}

/* ---- data and their outputs ------------------------------------------------------------------ */

static at_status end_of_filling(const at_session *s, const at_dataset *d, bool filled,
                                at_error *err) {
    if (filled) return at_engine_stopped(&s->options) ? at_fail_stopped(err) : AT_OK;
    return at_fail(err, AT_E_NO_VALID,
                   "%s: the time ended first: its data, %.2f GB, were not made yet; give a longer "
                   "--time, or smaller sizes",
                   s->what.row->name, (double)at_dataset_bytes(d) * 1e-9);
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
        const float *limit = at_dataset_limits(d, t);
        for (int64_t i = 0; i < n; i++)
            if (limit[i] != 0 || !isfinite(at_dataset_expected(d, t, i))) return false;
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

static at_status make_again(at_session *s, at_error *err) {
    AT_TRY(at_reference_fill(s, &s->bench->data, s->options.seed, err));
    return make(s, err);
}

/* Behind a run of integers of both signs: of either, where all values of those stay small; where
 * there are none such, inputs are no integers. */
static at_status choose_integers(at_session *s, at_error *err) {
    static const int signs[] = {0, 1, -1, 0};
    at_dataset *d = &s->bench->data;
    for (int i = 1; d->is_whole && draws(d) && !is_all_exact(d); i++) {
        d->is_whole = i < 3;
        d->sign = signs[i];
        AT_TRY(make_again(s, err));
    }
    return AT_OK;
}

at_status at_reference_begin(at_session *s, at_reference *r, at_error *err) {
    s->bench->data.sign = 0;
    AT_TRY(at_reference_fill(s, &s->bench->data, s->options.seed, err));
    return begin(s, r, err);
}

/* Behind a run: inputs become smaller while most outputs say little. */
static at_status shrink_idle(at_session *s, at_error *err) {
    at_dataset *d = &s->bench->data;
    double first, share;
    bool is_idle = at_dataset_is_idle(d, &first);
    share = first;
    for (int i = 0; i < AT_MOST_SHRINKS && is_idle && at_dataset_shrink(d, AT_SHRINK); i++) {
        AT_TRY(make_again(s, err));
        is_idle = at_dataset_is_idle(d, &share);
    }
    if (share >= first && d->scale != 1) { /* it does not depend on their size */
        d->scale = 1;
        AT_TRY(make_again(s, err));
    }
    return AT_OK;
}

at_status at_reference_end(at_session *s, at_reference *r, at_error *err) {
    AT_TRY(end(s, r, err));
    AT_TRY(choose_integers(s, err));
    AT_TRY(shrink_idle(s, err));
    return check_finite(s, err);
}

at_status at_reference_find_scale(at_session *s, at_error *err) {
    s->bench->data.scale = 1;
    AT_TRY(make_again(s, err));
    return shrink_idle(s, err);
}
