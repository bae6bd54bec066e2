/* engine/measure/measure.c: build, verify, lower, compile, run; and results as records. */
#include "engine/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/measure/foreign_build.h"
#include "engine/measure/foreign_data.h"
#include "engine/measure/kernel_job.h"
#include "engine/measure/machine.h"
#include "engine/measure/states.h"
#include "engine/version.h"
#include "engine/measure/bench.h"

/* AutoTVM's cost of a failure, and the release whose lines ours are. */
static const double failed_cost_s = 1e9;
/* Operations (or bytes): with as many, the slowest kernels take longer than anybody should wait. */
static const double long_work = 1e8;
#define UNLIKELY 1.05 /* times the peak: it is measured again */
enum { MOST_AGAIN = 2 };
static const char *const tvm_version = "0.12.0";

at_lower_options at_session_lower_options(const at_session *s, const char *name) {
    const at_cpu *cpu = at_cpu_facts();
    bool cold = s->options.cache == AT_CACHE_WEIGHTS_COLD;
    return (at_lower_options){.dialect = s->how.dialect,
                              .target = s->how.target,
                              .pack_inline = s->how.packing == AT_PACKING_INLINE,
                              .name = name,
                              .row = s->options.row,
                              .prefetch_above = cold ? cpu->l1d_bytes : cpu->l2_bytes,
                              .prefetch_room = at_ahead_room(cpu->l2_bytes)};
}

/* What is wrong with a candidate is no mistake in the input. */
static at_status of_candidate(at_status status, at_error *err) {
    return status == AT_E_INPUT ? (err->status = AT_E_NO_VALID) : status;
}

/* Inputs and outputs are the task's, whatever computes between. */
static void match_tensors(const at_session *s, at_arena *a, at_candidate *c) {
    const at_compute *of = c->program->compute, *task = at_task_compute(s->what.task);
    c->extents = c->program->extents;
    if (of == task) return;
    int *tensor_of = AT_NEW_ARRAY(a, int, of->num_tensors);
    int64_t **extents = AT_NEW_ARRAY(a, int64_t *, task->num_tensors);
    for (int t = 0; t < of->num_tensors; t++) {
        int same = at_compute_find(task, of->tensors[t].name);
        tensor_of[t] = same;
        if (same >= 0) extents[same] = c->program->extents[t];
    }
    c->tensor_of = tensor_of;
    c->extents = extents;
}

static at_key key_of(const char *hash) {
    at_hash h;
    at_hash_init(&h);
    at_hash_add_str(&h, hash);
    return (at_key){h.lo, h.hi};
}

static at_status build(at_session *s, at_arena *a, const at_config *c, at_candidate *out,
                       at_error *err) {
    *out = (at_candidate){.config = *c};
    AT_TRY(at_task_program(a, s->what.task, c, &out->program, err));
    match_tensors(s, a, out);
    if (s->foreign) {
        AT_TRY(at_foreign_kernel(a, s->what.task, out->program, c, &out->kernel, &out->unit, err));
        out->key = key_of(out->kernel->code_hash);
    } else out->key = at_program_key(out->program);
    return AT_OK;
}

static at_status lower(at_session *s, at_arena *a, const at_lower_options *o, at_candidate *c,
                       at_error *err) {
    s->spent.lowered++;
    if (s->foreign) return AT_OK; /* it is built as it stands */
    AT_TRY(at_lower(a, c->program, o, &c->kernel, err));
    if (s->how.machine) c->bound = at_bound_of(a, c->kernel->lowered, s->how.machine);
    return AT_OK;
}

at_status at_candidate_lower(at_session *s, at_arena *a, const at_config *c,
                             const at_lower_options *o, at_candidate *out, at_error *err) {
    int64_t begin_ns = at_now_ns();
    at_status status = build(s, a, c, out, err);
    if (status == AT_OK) status = lower(s, a, o, out, err);
    s->spent.lower_ns += at_now_ns() - begin_ns;
    return of_candidate(status, err);
}

at_err_no at_error_of_job(at_job_end end) {
    static const at_err_no numbers[AT_JOB_END_COUNT] = {
        [AT_JOB_RAN] = AT_ERR_NONE,
        [AT_JOB_NOT_COMPILED] = AT_ERR_COMPILE_HOST,
        [AT_JOB_COMPILE_TIMEOUT] = AT_ERR_BUILD_TIMEOUT,
        [AT_JOB_CRASHED] = AT_ERR_RUNTIME,
        [AT_JOB_TIMEOUT] = AT_ERR_RUN_TIMEOUT,
        [AT_JOB_WRONG] = AT_ERR_WRONG_ANSWER,
        [AT_JOB_LOST] = AT_ERR_UNKNOWN,
    };
    return numbers[end];
}

static bool fail(at_arena *a, at_record *r, at_err_no error_no, const char *text) {
    r->error_no = error_no;
    r->extra.error = at_strdup(a, text);
    r->extra.accuracy = (at_accuracy){0}; /* which only what is refused for it keeps */
    r->extra.check = error_no == AT_ERR_WRONG_ANSWER ? AT_CHECK_FAILED : AT_CHECK_UNCHECKED;
    r->timestamp_s = at_wall_time_s();
    r->costs_s = at_copy(a, &failed_cost_s, sizeof failed_cost_s);
    r->num_costs = 1;
    return false;
}

/* What a record of this session says before anything is measured. */
static void start_record(const at_session *s, const at_config *c, at_record *out) {
    *out = (at_record){.target = s->how.record_target,
                       .task = at_task_record_name(s->what.task),
                       .args = at_task_args(s->what.task),
                       .config = *c,
                       .tvm_version = tvm_version};
    out->extra = (at_extra){.present = true,
                            .context = s->how.context,
                            .version = AT_VERSION,
                            .compiler_version = s->how.compiler_version,
                            .cpu_flags = s->how.cpu_flags,
                            .sandbox = s->how.sandbox,
                            .tuner = s->how.tuner,
                            .part = "",
                            .seed = s->options.seed,
                            .check = AT_CHECK_UNCHECKED,
                            .in_bytes = s->what.in_bytes,
                            .of_dots = s->what.dot_terms > 0,
                            .peak_gflops = s->bench->peak,
                            .error = "",
                            .code_hash = "",
                            .same_as = -1};
    memcpy(out->extra.context_hash, s->how.context_hash, sizeof s->how.context_hash);
}

/* A step that began then is done. */
static bool step_done(at_session *s, at_arena *a, at_record *result, int64_t begin_ns,
                      at_status status, const at_error *err) {
    int64_t spent_ns = at_now_ns() - begin_ns;
    s->spent.lower_ns += spent_ns;
    result->all_cost_s += (double)spent_ns * 1e-9;
    return status == AT_OK || fail(a, result, AT_ERR_INSTANTIATION, err->text);
}

bool at_candidate_build(at_session *s, at_arena *a, const at_config *c, at_candidate *out,
                        at_record *result) {
    at_error err;
    start_record(s, c, result);
    int64_t begin_ns = at_now_ns();
    at_status status = build(s, a, c, out, &err);
    return step_done(s, a, result, begin_ns, status, &err);
}

bool at_candidate_generate(at_session *s, at_arena *a, at_candidate *c, at_record *result) {
    at_error err;
    at_lower_options lo = at_session_lower_options(s, "kernel");
    lo.memo = s->tiles;
    lo.can_stop = s->what.work >= long_work;
    int64_t begin_ns = at_now_ns();
    at_status status = lower(s, a, &lo, c, &err);
    if (status == AT_OK) result->extra.code_hash = c->kernel->code_hash;
    return step_done(s, a, result, begin_ns, status, &err);
}

bool at_candidate_make(at_session *s, at_arena *a, const at_config *c, at_candidate *out,
                       at_record *result) {
    return at_candidate_build(s, a, c, out, result) && at_candidate_generate(s, a, out, result);
}

void at_candidate_fail(at_arena *a, at_record *r, at_err_no error_no, const char *text) {
    fail(a, r, error_no, text);
}

void at_candidate_lose(at_arena *a, at_record *r, const char *why) {
    fail(a, r, AT_ERR_UNKNOWN, why);
}

void at_candidate_prune(at_arena *a, at_record *r) {
    fail(a, r, AT_ERR_INSTANTIATION, at_pruned_text);
}

/* Tiles name their instruction set themselves; the C around them is integers. With -march=native
 * narrow ones would get instructions of larger sets. Tiles are unrolled as far as is good, and
 * clang's unrolling on top of that costs four times the compile time. */
static const char *compiler_flags(at_compiler compiler, const at_target *target) {
    bool is_plain = !target->prelude; /* and shall stay so */
    if (compiler == AT_GCC) return is_plain ? "-O3 -fno-tree-vectorize" : "-O3";
    return is_plain ? "-O3 -fno-unroll-loops -fno-vectorize -fno-slp-vectorize"
                    : "-O3 -fno-unroll-loops";
}

/* What compilers make the same of is the same code. */
static at_status build_foreign(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                               at_object *made, at_error *err) {
    char hash[33] = "";
    int64_t number = c->ahead;
    c->ahead = c->job.ahead = 0;
    AT_TRY(at_foreign_build(s, a, &c->unit, number, made, hash, err));
    if (*hash) result->extra.code_hash = at_strdup(a, hash);
    return AT_OK;
}

at_status at_candidate_compile(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                               bool *compiled, at_error *err) {
    const at_engine_options *o = &s->options;
    const at_kernel *k = c->kernel;
    const at_dataset *d = &s->bench->data;
    const char *misfit = at_dataset_misfit(d, c->extents);
    *compiled = !misfit;
    if (misfit) {
        fail(a, result, AT_ERR_INSTANTIATION,
             at_format(a,
                       "the shape of %s depends on the configuration; its template says with "
                       "at_layout how "
                       "the task's own data lie in it",
                       misfit));
        return AT_OK;
    }
    at_places where = {.at = d->offset, .expected = d->expected, .tensor_of = c->tensor_of};
    for (; where.num_others < s->bench->num_others; where.num_others++) {
        where.other_at[where.num_others] = s->bench->others[where.num_others].offset;
        where.other_expected[where.num_others] = s->bench->others[where.num_others].expected;
    }
    if (s->bench->moved.runs)
        where.moved = &s->bench->moved, where.cover_at = s->bench->cover.offset;
    c->job = at_kernel_job(a, k, s->how.threads, &where);
    if (s->foreign && at_foreign_is_unchecked(s))
        c->job.expected_offset = NULL, c->job.cover_runs = 0;
    c->job.ahead = c->ahead;
    c->job.is_foreign = s->foreign != NULL;
    c->job.has_limits = !d->is_exact;
    c->job.compiler = s->how.compiler;
    c->job.unwritten_sign = at_unwritten_sign(at_task_compute(s->what.task));
    c->job.vector_set = at_vector_set(s->how.target->name);
    c->job.paranoid = o->paranoid;
    c->job.number = (int)o->number;
    c->job.repeat = (int)o->repeat;
    c->job.min_repeat_ms = o->min_repeat_ms;
    c->job.flush_bytes = s->bench->flush_bytes;
    c->job.ring_bytes = s->bench->ring_bytes;
    c->job.compile_timeout_s = c->job.run_timeout_s = o->timeout_s;
    if (s->how.compiler == AT_TCC) return AT_OK;

    at_object made;
    if (s->foreign) AT_TRY(build_foreign(s, a, c, result, &made, err));
    else
        AT_TRY(at_build_object(a, s->how.compiler, k->source,
                               compiler_flags(s->how.compiler, s->how.target), o->timeout_s,
                               o->stop, &made, err));
    s->spent.compile_ns += made.compile_ns;
    result->all_cost_s += (double)made.compile_ns * 1e-9;
    if (made.end) *compiled = fail(a, result, at_error_of_job(made.end), made.error);
    else c->job.object = c->object = made.path;
    return AT_OK;
}

void at_candidate_ahead(at_session *s, at_arena *a, at_candidate *c) {
    if (s->foreign) {
        at_foreign_ahead(s, a, c);
        return;
    }
    at_job code = at_kernel_code(a, c->kernel);
    code.compiler = s->how.compiler;
    at_worker_ahead(s->bench->worker, &code, s->options.stop);
    c->ahead = code.ahead;
}

static void take_samples(at_arena *a, const at_outcome *o, at_record *r) {
    at_extra *e = &r->extra;
    e->samples_s = at_copy(a, o->costs_s, sizeof *o->costs_s * (size_t)o->num_costs);
    e->num_samples = o->num_costs;
    r->costs_s = at_costs_of_samples(a, e->samples_s, e->num_samples, &r->num_costs);
}

/* 0 of a state without pairs. */
static double median_anchor_s(const at_outcome *o, const char *states, at_state state) {
    double times_s[AT_MAX_PAIRS];
    int n = 0;
    for (int i = 0; i < o->num_pairs; i++)
        if (states[i] == at_state_letter(state)) times_s[n++] = o->pairs[i].anchor_most_s;
    at_sort_doubles(times_s, n);
    return n ? at_sorted_median(times_s, n) : 0;
}

/* What ratios are made times with: the first anchor's time and the links to it. An anchor that is
 * not on that scale has the time that it took in these pairs. */
static double scale_s(const at_anchors *anchor, const at_outcome *o) {
    double times_s[AT_MAX_PAIRS];
    if (anchor->of_first > 0) return anchor->of_first * anchor->first_s;
    for (int i = 0; i < o->num_pairs; i++) times_s[i] = o->pairs[i].anchor_most_s;
    at_sort_doubles(times_s, o->num_pairs);
    return at_sorted_median(times_s, o->num_pairs);
}

/* Ratios to the anchor, and the times that come of them with the time of the first one: these are
 * comparable throughout the log, whatever the machine did meanwhile. */
static void take_pairs(at_session *s, at_arena *a, const at_outcome *o, at_record *r) {
    const at_anchors *anchor = &s->bench->anchors;
    at_paired *p = &r->extra.pairs;
    int n = o->num_pairs;
    double *ratios = AT_NEW_ARRAY(a, double, n), *times_s = AT_NEW_ARRAY(a, double, n);
    char *states = AT_NEW_ARRAY(a, char, n + 1);
    double anchor_s = scale_s(anchor, o), cost_s;
    at_states_waited(s, o);
    for (int i = 0; i < n; i++) {
        /* More digits than a clock gives would only make lines long. */
        ratios[i] = round(o->pairs[i].time_s / o->pairs[i].anchor_s * 1e6) / 1e6;
        if (!(ratios[i] > 0)) ratios[i] = 1e-6;
        times_s[i] = at_with_digits(ratios[i] * anchor_s, AT_TIME_DIGITS);
        states[i] = at_state_letter(at_states_take(s, &o->pairs[i]));
    }
    at_states_differ(s, ratios, states, n);
    *p = (at_paired){.anchor = anchor->number,
                     .first = anchor->first,
                     .ratios = ratios,
                     .num_ratios = n,
                     .states = states,
                     .ratio =
                         at_median_that_counts(ratios, states, n, s->bench->states.objective, NULL),
                     .is_bracketed = o->is_bracketed};
    p->of_first = p->ratio * anchor->of_first;
    p->of_first_error = anchor->of_first_error;
    cost_s = at_with_digits(p->ratio * anchor_s, AT_TIME_DIGITS);
    r->extra.samples_s = times_s;
    r->extra.num_samples = n;
    r->costs_s = at_copy(a, &cost_s, sizeof cost_s);
    r->num_costs = 1;
}

at_status at_candidate_begin(at_session *s, at_candidate *c, double best_s, at_error *err) {
    /* AutoTVM's numbers, once given, are kept for every trial. */
    bool by_numbers = s->options.number || s->options.repeat;
    c->job.best_ns = by_numbers ? 0 : (int64_t)(best_s * 1e9);
    AT_TRY(at_dataset_shape(&s->bench->data, c->extents, err));
    for (int i = 0; i < s->bench->num_others; i++)
        AT_TRY(at_dataset_shape(&s->bench->others[i], c->extents, err));
    c->job.data_version = s->bench->data.version;
    return at_worker_begin(s->bench->worker, &c->job, s->options.stop, err);
}

static int by_kernel_time(const void *x, const void *y) {
    const at_pair *a = x, *b = y;
    return (a->time_s > b->time_s) - (a->time_s < b->time_s);
}

/* By the clock, where ratios make the result. */
static double clocked_s(const at_outcome *o, const at_record *r) {
    if (!o->num_pairs) return at_record_mean(r);
    at_pair sorted[AT_MAX_PAIRS];
    memcpy(sorted, o->pairs, sizeof *sorted * (size_t)o->num_pairs);
    qsort(sorted, (size_t)o->num_pairs, sizeof *sorted, by_kernel_time);
    return sorted[o->num_pairs / 2].time_s;
}

static at_status end(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                     at_error *err) {
    at_outcome outcome;
    at_outcome_clear(&outcome);
    AT_TRY(at_worker_end(s->bench->worker, &c->job, s->options.stop, &outcome, err));
    s->spent.compile_ns += outcome.compile_ns;
    s->spent.check_ns += outcome.check_ns;
    s->spent.measured++;
    s->spent.run_ns += outcome.run_ns;
    s->spent.core_ns += outcome.end ? outcome.total_ns : outcome.core_ns;
    /* One that was killed has not said how long it ran. */
    s->spent.kernel_ns +=
        outcome.end == AT_JOB_TIMEOUT ? outcome.total_ns - outcome.compile_ns : outcome.kernel_ns;
    s->bench->disturbed += outcome.disturbed;
    result->all_cost_s += (double)(outcome.total_ns + outcome.ahead_ns) * 1e-9;
    c->max_error = outcome.max_error;
    c->of_limit = outcome.of_limit;
    if (outcome.end) {
        fail(a, result, at_error_of_job(outcome.end), outcome.error);
        return AT_OK;
    }
    result->extra.pairs = (at_paired){0}; /* those of a measurement before */
    if (outcome.num_pairs) {
        take_pairs(s, a, &outcome, result);
        for (int i = 0; i < AT_STATE_COUNT; i++)
            c->anchor_s[i] = median_anchor_s(&outcome, result->extra.pairs.states, (at_state)i);
    } else take_samples(a, &outcome, result);
    c->clocked_s = clocked_s(&outcome, result);
    result->extra.number = outcome.number;
    result->extra.min_repeat_ms = outcome.number ? s->options.min_repeat_ms : 0;
    result->extra.sample_kind = outcome.at_least ? AT_SAMPLES_AT_LEAST : AT_SAMPLES_FULL;
    result->extra.check = outcome.is_cut            ? AT_CHECK_UNCHECKED
                          : !c->job.expected_offset ? AT_CHECK_NOTHING
                          : c->job.has_limits       ? AT_CHECK_TOLERANCE
                                                    : AT_CHECK_EXACT;
    if (result->extra.check == AT_CHECK_TOLERANCE) result->extra.of_limit = outcome.of_limit;
    result->timestamp_s = at_wall_time_s();
    result->extra.gflops = s->what.work / at_record_mean(result) * 1e-9;
    return AT_OK;
}

/* By the clock, beside the peak of this moment. */
static bool is_clock_beyond(const at_session *s, at_arena *a, const at_candidate *c, double times) {
    if (s->foreign) return false; /* what it does is not known */
    return at_is_beyond_peak(s, a, c->kernel->lowered, c->clocked_s, times);
}

/* On the scale of the first anchor, beside the peak of the moment when that was timed, too. */
static bool is_scale_beyond(const at_session *s, at_arena *a, const at_candidate *c,
                            const at_record *r, double times) {
    const at_anchors *of = &s->bench->anchors;
    if (s->foreign || !r->extra.pairs.num_ratios) return false;
    if (!(of->of_first > 0) || !(of->peak_gflops > 0)) return false;
    double higher = fmax(1, of->peak_gflops / s->bench->peak_gflops);
    return at_is_beyond_peak(s, a, c->kernel->lowered, at_record_mean(r), times * higher);
}

/* As of a kernel that was timed alone: what is wrong is the scale, the first anchor's time or the
 * links to it. */
static void take_clock(const at_session *s, at_arena *a, const at_candidate *c, at_record *r) {
    const double cost_s = at_with_digits(c->clocked_s, AT_TIME_DIGITS);
    r->extra.pairs = (at_paired){0};
    r->extra.samples_s = r->costs_s = at_copy(a, &cost_s, sizeof cost_s);
    r->extra.num_samples = r->num_costs = 1;
    r->extra.gflops = s->what.work / cost_s * 1e-9;
}

/* The peak was measured in a bad moment, or the anchor was disturbed unseen, which another time
 * will hardly show again; or a clock is wrong, or the kernel leaves out what it must do, and there
 * is no result. */
at_status at_candidate_end(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                           at_error *err) {
    for (int i = 0;; i++) {
        AT_TRY(end(s, a, c, result, err));
        double peak_gflops = s->bench->peak_gflops, peak = s->bench->peak,
               times = i ? AT_IMPOSSIBLE : UNLIKELY;
        if (result->error_no) return AT_OK;
        const bool by_clock = is_clock_beyond(s, a, c, times);
        if (!by_clock && !is_scale_beyond(s, a, c, result, times)) return AT_OK;
        if (i == MOST_AGAIN && by_clock) break;
        if (i == MOST_AGAIN) {
            take_clock(s, a, c, result);
            return AT_OK;
        }
        s->bench->disturbed++;
        AT_TRY(at_session_measure_peak(s, err));
        s->bench->peak_gflops = fmax(s->bench->peak_gflops, peak_gflops);
        s->bench->peak = fmax(s->bench->peak, peak);
        AT_TRY(at_worker_begin(s->bench->worker, &c->job, s->options.stop, err));
    }
    at_candidate_lose(a, result,
                      at_format(a,
                                "measured %d times, each time faster than its multiply-adds can be "
                                "(%.4g GFLOP/s, the FMA peak is %.4g): this machine's clock is "
                                "wrong, or the kernel does not do all of them",
                                MOST_AGAIN + 1, s->what.work / c->clocked_s * 1e-9,
                                s->bench->peak));
    return AT_OK;
}

at_status at_candidate_run(at_session *s, at_arena *a, at_candidate *c, double best_s,
                           at_record *result, at_error *err) {
    AT_TRY(at_candidate_begin(s, c, best_s, err));
    return at_candidate_end(s, a, c, result, err);
}

void at_candidate_drop(at_candidate *c) {
    if (c->object) at_object_remove(c->object);
    c->object = NULL;
}

/* Most texts are those of the session, which outlives what is kept. */
static const char *share(at_arena *a, const char *ours, const char *text) {
    if (!text) return "";
    return strcmp(ours, text) ? at_strdup(a, text) : ours;
}

at_record *at_session_keep(const at_session *s, at_arena *a, const at_record *r, int64_t index) {
    at_record *kept = at_copy(a, r, sizeof *r);
    at_extra *e = &kept->extra;
    if (at_config_at(a, s->what.space, index, &kept->config, NULL) != AT_OK)
        AT_BUG("index %lld is no point of the space", (long long)index);
    kept->target = share(a, s->how.record_target, r->target);
    kept->task = at_task_record_name(s->what.task);
    kept->args = at_task_args(s->what.task);
    kept->args_written = NULL;
    kept->code_hash = r->code_hash ? at_strdup(a, r->code_hash) : NULL;
    kept->tvm_version = share(a, tvm_version, r->tvm_version);
    kept->costs_s = at_copy(a, r->costs_s, sizeof *r->costs_s * (size_t)r->num_costs);
    kept->finals = NULL;
    kept->num_finals = 0;
    e->context = s->how.context;
    memcpy(e->context_hash, s->how.context_hash, sizeof e->context_hash);
    e->version = share(a, AT_VERSION, e->version);
    e->compiler_version = share(a, s->how.compiler_version, e->compiler_version);
    e->cpu_flags = share(a, s->how.cpu_flags, e->cpu_flags);
    e->sandbox = share(a, s->how.sandbox, e->sandbox);
    e->tuner = share(a, s->how.tuner, e->tuner);
    e->part = share(a, "", e->part);
    e->error = share(a, "", e->error);
    e->code_hash = share(a, "", e->code_hash);
    e->check_word = e->check_word ? at_strdup(a, e->check_word) : NULL;
    e->sample_word = e->sample_word ? at_strdup(a, e->sample_word) : NULL;
    e->samples_s = at_copy(a, e->samples_s, sizeof *e->samples_s * (size_t)e->num_samples);
    at_paired *p = &e->pairs;
    p->ratios = at_copy(a, p->ratios, sizeof *p->ratios * (size_t)p->num_ratios);
    p->first = p->first ? at_strdup(a, p->first) : "";
    p->states = p->states ? at_strdup(a, p->states) : "";
    return kept;
}
