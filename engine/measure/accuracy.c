/* engine/measure/accuracy.c: see accuracy.h. Kernels that add up the same terms in the same order
 * round alike, so each such class is measured once. */
#include "engine/measure/accuracy.h"

#include <math.h>

#include "base/agree.h"
#include "engine/measure/foreign_data.h"
#include "engine/measure/reference.h"
#include "engine/measure/kernel_job.h"
#include "engine/measure/bench.h"

AT_AGREES

static const uint64_t seed_of_normals = 20;
/* Errors that are no number, or larger, count as this one. */
static const double most_error = 1e6;
/* Of a kernel that somebody wrote; larger ones are checked on integers alone, since the reference
 * in double takes seconds. */
static const double most_flops = 0x1p31;

static bool matters(const at_session *s) {
    const at_compute *c = at_task_compute(s->what.task);
    at_config config;
    int64_t *values;
    if (c->in_steps) return false; /* a double is rounded to other integers */
    if (s->options.max_error > 0 || at_compute_is_transform(c)) return true;
    /* What goes on from step to step may enlarge errors of such data without end. */
    if (at_compute_has_steps(c) || c->num_cycles ||
        at_task_default_config(s->scratch, s->what.task, AT_ANY_LANES, &config, NULL) != AT_OK ||
        at_task_values(s->scratch, s->what.task, &config, &values, NULL) != AT_OK)
        return false;
    if (s->foreign)
        return !at_foreign_has_no_text(s) && at_compute_flops(c, values, NULL) <= most_flops;
    double *given = AT_NEW_ARRAY(s->scratch, double, c->num_tensors);
    for (int t = 0; t < c->num_tensors; t++) given[t] = -1;
    int64_t longest = s->what.chosen.pattern ? s->what.chosen.pattern->longest : 0;
    return !at_compute_exact_range(c, values, given, longest);
}

/* Is it of interest? Where the options name a limit; where the computation is a transform, which is
 * an algorithm; of a kernel that somebody wrote, which may calculate with fewer bits than integers
 * show; where it is exact on no integers. Not where steps turn a rounding error into a large one.
 */
static bool is_of_interest(at_session *s) {
    at_accuracies *x = &s->bench->accuracy;
    if (!x->is_decided) x->matters = matters(s);
    x->is_decided = true;
    return x->matters;
}

/* Nobody asked for a limit: it holds for algorithms that round more than the definition has to. How
 * much that is elsewhere, the definition decides: each element has a limit of its own. */
static bool is_limited(const at_session *s) {
    return s->options.max_error > 0 || at_compute_is_transform(at_task_compute(s->what.task));
}

static bool is_met(const at_session *s, const at_accuracy *x) {
    return !x->is_known || !is_limited(s) || x->max_error <= at_accuracy_limit(&s->options);
}

bool at_accuracy_failed(const at_record *r) {
    return r->error_no == AT_ERR_WRONG_ANSWER && r->extra.accuracy.is_known;
}

bool at_accuracy_stands(at_session *s, const at_record *r) {
    const at_accuracy *x = &r->extra.accuracy;
    if (at_accuracy_failed(r)) return !is_met(s, x);
    return r->error_no || (x->is_known ? is_met(s, x) : !is_of_interest(s));
}

/* ---- data, made when they are first needed --------------------------------------------------- */

static at_status make_data(at_session *s, at_error *err) {
    at_accuracies *x = &s->bench->accuracy;
    at_error why = {0};
    at_status status = at_session_dataset(s, s->bench->data.store, true, &x->normal, &why);
    if (status == AT_OK) status = at_reference_fill_normal(s, &x->normal, seed_of_normals, &why);
    if (status == AT_OK) status = at_dataset_twin(s->arena, &x->normal, &x->limited, &why);
    if (status == AT_OK) status = at_reference_with_limits(s, &x->limited, &why);
    if (status == AT_OK) status = at_reference_in_double(s, &x->normal, &why);
    if (status != AT_OK && err) *err = why;
    if (status != AT_E_USAGE && status != AT_E_NO_VALID) return status;
    /* A second set of data exceeds this machine, or the time. */
    x->matters = false;
    at_engine_warn(&s->options, at_format(s->scratch,
                                          "errors are not measured, and --max-error does not "
                                          "hold: %s",
                                          why.text));
    return AT_OK;
}

/* ---- one kernel ------------------------------------------------------------------------------ */

/* Where the reference itself is no finite number, nothing is known. */
static at_accuracy compare(const at_dataset *d) {
    at_accuracy x = {true, 0, 0};
    for (int t = 0; t < d->compute->num_tensors; t++) {
        if (!d->compute->tensors[t].is_output) continue;
        int64_t n = at_dataset_elements(d, t);
        const at_type type = d->compute->tensors[t].type;
        const void *got = at_store_at(d->store, d->offset[t]);
        const float *low = at_dataset_limits(d, t); /* what an element is besides */
        double squares = 0, errors = 0, most = 0;
        for (int64_t i = 0; i < n; i++) {
            double want = at_dataset_expected(d, t, i) + (double)low[i],
                   error = fabs(at_type_value(type, got, i) - want);
            squares += want * want;
            errors += error * error;
            if (!(error <= most)) most = error; /* what is not a number stays */
        }
        if (!(squares > 0) || isinf(squares)) return (at_accuracy){0};
        double scale = 1 / sqrt(squares / (double)n), rms = fmin(sqrt(errors / (double)n), most);
        bool is_number = isfinite(errors);
        x.max_error = fmax(x.max_error, is_number ? fmin(most * scale, most_error) : most_error);
        x.rms_error = fmax(x.rms_error, is_number ? fmin(rms * scale, most_error) : most_error);
    }
    return x;
}

/* Is each element within its limit? Whether or not errors as such have one. */
static bool keeps_promise(at_arena *a, const at_dataset *d, const at_dataset *limited,
                          at_record *result) {
    for (int t = 0; t < d->compute->num_tensors; t++) {
        if (!d->compute->tensors[t].is_output) continue;
        const int64_t n = at_dataset_elements(d, t);
        const at_type type = d->compute->tensors[t].type;
        const void *got = at_store_at(d->store, d->offset[t]);
        const float *limit = at_dataset_limits(limited, t);
        int64_t differ = 0, first = -1;
        for (int64_t i = 0; i < n; i++)
            if (!at_agrees((float)at_type_value(type, got, i),
                           (float)at_dataset_expected(limited, t, i), limit[i]) &&
                differ++ == 0)
                first = i;
        if (!differ) continue;
        at_candidate_fail(a, result, AT_ERR_WRONG_ANSWER,
                          at_format(a,
                                    "%s[%lld]: got %.9g, expected %.9g +- %.3g; %lld of %lld "
                                    "elements differ (of standard-normal data)",
                                    d->compute->tensors[t].name, (long long)first,
                                    at_type_value(type, got, first),
                                    at_dataset_expected(limited, t, first), (double)limit[first],
                                    (long long)differ, (long long)n));
        return false;
    }
    return true;
}

static at_status run(at_session *s, at_arena *a, const at_candidate *c, at_record *result,
                     at_accuracy *out, at_error *err) {
    at_dataset *d = &s->bench->accuracy.normal;
    at_outcome outcome = {0};
    AT_TRY(at_dataset_shape(d, c->extents, err));
    AT_TRY(at_dataset_shape(&s->bench->accuracy.limited, c->extents, err));
    at_job job = at_kernel_job(
        a, c->kernel, s->how.threads,
        &(at_places){.at = d->offset, .expected = d->expected, .tensor_of = c->tensor_of});
    job.expected_offset = NULL;
    job.run_only = true;
    job.compiler = c->job.compiler;
    job.object = c->job.object;
    job.vector_set = c->job.vector_set;
    job.compile_timeout_s = c->job.compile_timeout_s;
    job.run_timeout_s = c->job.run_timeout_s;
    AT_TRY(at_worker_run(s->bench->worker, &job, s->options.stop, &outcome, err));
    result->all_cost_s += (double)outcome.total_ns * 1e-9;
    if (outcome.end) at_candidate_fail(a, result, at_error_of_job(outcome.end), outcome.error);
    else if (keeps_promise(a, d, &s->bench->accuracy.limited, result)) *out = compare(d);
    return AT_OK;
}

static const at_accuracy *find(const at_session *s, at_key sums) {
    for (int i = 0; i < s->bench->accuracy.known.len; i++)
        if (at_key_equal(s->bench->accuracy.known.data[i].sums, sums))
            return &s->bench->accuracy.known.data[i].of;
    return NULL;
}

at_status at_accuracy_measure(at_session *s, at_arena *a, const at_candidate *c, at_record *result,
                              at_error *err) {
    at_accuracy *x = &result->extra.accuracy;
    if (!is_of_interest(s)) return AT_OK;
    const at_key sums = at_program_sums_key(c->program);
    const at_accuracy *known = find(s, sums);
    if (known) return *x = *known, AT_OK;
    if (!s->bench->accuracy.normal.store) AT_TRY(make_data(s, err));
    if (!s->bench->accuracy.matters) return AT_OK;
    AT_TRY(run(s, a, c, result, x, err));
    /* A foreign kernel adds in an order that its text alone says. */
    if (!result->error_no && !s->foreign)
        *at_push(s->arena, &s->bench->accuracy.known) = (at_known_accuracy){sums, *x};
    return AT_OK;
}

void at_accuracy_learn(at_session *s, const at_record *r) {
    at_program *p;
    if (s->foreign || !at_accuracy_failed(r) ||
        at_task_build(s->scratch, s->what.task, &r->config, &p, NULL) != AT_OK)
        return;
    at_key sums = at_program_sums_key(p);
    if (!find(s, sums))
        *at_push(s->arena, &s->bench->accuracy.known) =
            (at_known_accuracy){sums, r->extra.accuracy};
}

bool at_accuracy_is_refused(const at_session *s, const at_program *p) {
    if (!s->bench->accuracy.known.len) return false;
    const at_accuracy *x = find(s, at_program_sums_key(p));
    return x && !is_met(s, x);
}

bool at_accuracy_require(const at_session *s, at_arena *a, at_record *result) {
    const at_accuracy x = result->extra.accuracy;
    if (result->error_no || is_met(s, &x)) return !result->error_no;
    at_candidate_fail(a, result, AT_ERR_WRONG_ANSWER,
                      at_format(a,
                                "the largest error is %.2g of the output's root mean square; "
                                "--max-error is %.2g",
                                x.max_error, at_accuracy_limit(&s->options)));
    result->extra.accuracy = x;
    return false;
}
