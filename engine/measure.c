/* engine/measure.c: build, verify, lower, compile, run; and results as records. */
#include "engine/measure.h"

#include <string.h>

#include "engine/kernel_job.h"
#include "engine/version.h"

/* AutoTVM's cost of a failure, and the release whose lines ours are. */
static const double failed_cost_s = 1e9;
static const char *const tvm_version = "0.12.0";

at_lower_options at_session_lower_options(const at_session *s, const char *name) {
    return (at_lower_options){.dialect = s->dialect,
                              .isa = s->isa,
                              .pack_inline = s->pack_inline,
                              .name = name,
                              .machine = s->machine,
                              .prefetch_above = at_cpu_facts()->l2_bytes};
}

at_status at_candidate_lower(at_session *s, at_arena *a, const at_config *c,
                             const at_lower_options *o, at_candidate *out, at_error *err) {
    memset(out, 0, sizeof *out);
    out->config = *c;
    int64_t begin_ns = at_now_ns();
    at_status status = at_task_program(a, s->task, c, &out->program, err);
    if (status == AT_OK) status = at_lower(a, out->program, o, &out->kernel, err);
    s->spent.lower_ns += at_now_ns() - begin_ns;
    return status == AT_E_INPUT ? (err->status = AT_E_NO_VALID) : status;
}

static bool fail(at_arena *a, at_result *r, int error_no, const char *text) {
    r->error_no = error_no;
    r->error = at_strdup(a, text);
    r->check = error_no == AT_ERR_WRONG_ANSWER ? "failed" : "unchecked";
    r->timestamp_s = at_wall_time_s();
    r->costs_s = at_copy(a, &failed_cost_s, sizeof failed_cost_s);
    r->num_costs = 1;
    return false;
}

bool at_candidate_make(at_session *s, at_arena *a, const at_config *c, at_candidate *out,
                       at_result *result) {
    at_error err;
    at_lower_options lo = at_session_lower_options(s, "kernel");
    *result = (at_result){.index = c->index,
                          .error = "",
                          .check = "unchecked",
                          .sample_kind = "",
                          .code_hash = "",
                          .same_as = -1,
                          .peak_gflops = s->peak_gflops};
    int64_t begin_ns = at_now_ns();
    at_status status = at_candidate_lower(s, a, c, &lo, out, &err);
    result->all_cost_s = (double)(at_now_ns() - begin_ns) * 1e-9;
    if (status != AT_OK) return fail(a, result, AT_ERR_INSTANTIATION, err.text);
    result->code_hash = out->kernel->code_hash;
    return true;
}

static const char *const pruned = "pruned";

void at_result_prune(at_arena *a, at_result *r) { fail(a, r, AT_ERR_INSTANTIATION, pruned); }

bool at_result_is_pruned(const at_result *r) {
    return r->error_no == AT_ERR_INSTANTIATION && !strcmp(r->error, pruned);
}

/* Tiles name their instruction set themselves; the C around them is integers. With -march=native
 * both sse2 and avx2 would get instructions of larger sets. Tiles are unrolled as far as is good,
 * and clang's unrolling on top of that costs four times the compile time. */
static const char *compiler_flags(at_compiler compiler, at_isa isa) {
    if (compiler == AT_GCC) return isa == AT_ISA_SCALAR ? "-O3 -fno-tree-vectorize" : "-O3";
    return isa == AT_ISA_SCALAR ? "-O3 -fno-unroll-loops -fno-vectorize -fno-slp-vectorize"
                                : "-O3 -fno-unroll-loops";
}

at_status at_candidate_compile(at_session *s, at_arena *a, at_candidate *c, at_result *result,
                               bool *compiled, at_error *err) {
    const at_engine_options *o = &s->options;
    const at_kernel *k = c->kernel;
    const at_dataset *d = &s->data, *other = s->other.store ? &s->other : NULL;
    const char *misfit = at_dataset_misfit(d, c->program->extents);
    *compiled = !misfit;
    if (misfit) {
        fail(a, result, AT_ERR_INSTANTIATION,
             at_format(a, "the shape of %s depends on the configuration", misfit));
        return AT_OK;
    }
    c->job = at_kernel_job(a, k, s->threads,
                           &(at_places){.at = d->offset,
                                        .expected = d->expected,
                                        .other_at = other ? other->offset : NULL,
                                        .other_expected = other ? other->expected : NULL});
    c->job.compiler = s->compiler;
    c->job.isa = s->isa;
    c->job.tolerance = d->tolerance;
    c->job.magnitude = d->magnitude;
    c->job.paranoid = o->paranoid;
    c->job.number = (int)o->number;
    c->job.repeat = (int)o->repeat;
    c->job.min_repeat_ms = o->min_repeat_ms;
    c->job.flush_bytes = s->flush_bytes;
    c->job.compile_timeout_s = c->job.run_timeout_s = o->timeout_s;
    if (s->compiler == AT_TCC) return AT_OK;

    at_object made;
    AT_TRY(at_build_object(a, s->compiler, k->source, compiler_flags(s->compiler, s->isa),
                           o->timeout_s, o->stop, &made, err));
    s->spent.compile_ns += made.compile_ns;
    result->all_cost_s += (double)made.compile_ns * 1e-9;
    if (made.error_no) *compiled = fail(a, result, made.error_no, made.error);
    else c->job.object = c->object = made.path;
    return AT_OK;
}

static void set_costs(at_arena *a, at_result *r, double flops) {
    r->costs_s = at_costs_of_samples(a, r->samples_s, r->num_samples, &r->num_costs);
    for (int i = 0; i < r->num_costs; i++) r->mean_s += r->costs_s[i] / r->num_costs;
    r->gflops = flops / r->mean_s * 1e-9;
}

at_status at_candidate_begin(at_session *s, at_candidate *c, double best_s, at_error *err) {
    /* AutoTVM's numbers, once given, are kept for every trial. */
    bool by_numbers = s->options.number || s->options.repeat;
    c->job.best_ns = by_numbers ? 0 : (int64_t)(best_s * 1e9);
    AT_TRY(at_dataset_shape(&s->data, c->program->extents, err));
    if (s->other.store) AT_TRY(at_dataset_shape(&s->other, c->program->extents, err));
    c->job.data_version = s->data.version;
    return at_worker_begin(s->worker, &c->job, s->options.stop, err);
}

at_status at_candidate_end(at_session *s, at_arena *a, at_candidate *c, at_result *result,
                           at_error *err) {
    at_outcome outcome = {0};
    AT_TRY(at_worker_end(s->worker, &c->job, s->options.stop, &outcome, err));
    s->spent.compile_ns += outcome.compile_ns;
    s->spent.check_ns += outcome.check_ns;
    s->spent.measured++;
    s->spent.run_ns += outcome.run_ns;
    /* One that was killed has not said how long it ran. */
    s->spent.kernel_ns += outcome.error_no == AT_ERR_RUN_TIMEOUT
                              ? outcome.total_ns - outcome.compile_ns
                              : outcome.kernel_ns;
    s->disturbed += outcome.disturbed;
    result->all_cost_s += (double)outcome.total_ns * 1e-9;
    result->max_error = outcome.max_error;
    if (outcome.error_no) {
        fail(a, result, outcome.error_no, outcome.error);
        return AT_OK;
    }
    result->samples_s =
        at_copy(a, outcome.costs_s, sizeof *outcome.costs_s * (size_t)outcome.num_costs);
    result->num_samples = outcome.num_costs;
    result->number = outcome.number;
    result->sample_kind = outcome.kind == AT_SAMPLE_SINGLE ? "single" : "full";
    result->check = c->job.tolerance > 0 ? "tolerance" : "exact";
    result->timestamp_s = at_wall_time_s();
    set_costs(a, result, s->flops);
    return AT_OK;
}

at_status at_candidate_run(at_session *s, at_arena *a, at_candidate *c, double best_s,
                           at_result *result, at_error *err) {
    AT_TRY(at_candidate_begin(s, c, best_s, err));
    return at_candidate_end(s, a, c, result, err);
}

void at_candidate_drop(at_candidate *c) {
    if (c->object) at_object_remove(c->object);
    c->object = NULL;
}

void at_result_to_record(const at_session *s, const at_result *r, const at_config *c,
                         at_record *out) {
    const at_engine_options *o = &s->options;
    *out = (at_record){.target = s->target,
                       .task = at_task_record_name(s->task),
                       .args = at_task_args(s->task),
                       .config = *c,
                       .costs_s = r->costs_s,
                       .num_costs = r->num_costs,
                       .error_no = r->error_no,
                       .all_cost_s = r->all_cost_s,
                       .timestamp_s = r->timestamp_s,
                       .tvm_version = tvm_version};
    out->extra = (at_extra){.present = true,
                            .context = s->context,
                            .version = AT_VERSION,
                            .compiler_version = s->compiler_version,
                            .cpu_flags = at_cpu_facts()->flags,
                            .tuner = s->tuner,
                            .seed = o->seed,
                            .samples_s = r->samples_s,
                            .num_samples = r->num_samples,
                            .number = r->number,
                            .min_repeat_ms = r->number ? o->min_repeat_ms : 0,
                            .sample_kind = r->sample_kind,
                            .peak_gflops = r->peak_gflops,
                            .gflops = r->gflops,
                            .error = r->error,
                            .check = r->check,
                            .code_hash = r->code_hash,
                            .same_as = r->same_as};
    memcpy(out->extra.context_hash, s->context_hash, sizeof s->context_hash);
}

void at_result_from_record(at_arena *a, const at_record *record, int64_t index, double flops,
                           at_result *out) {
    const at_extra *e = &record->extra;
    *out = (at_result){.index = index,
                       .error_no = record->error_no,
                       .error = at_strdup(a, e->error ? e->error : ""),
                       .num_costs = record->num_costs,
                       .num_samples = e->num_samples,
                       .number = e->number,
                       .sample_kind = at_strdup(a, e->sample_kind ? e->sample_kind : ""),
                       .check = at_strdup(a, e->check ? e->check : ""),
                       .peak_gflops = e->peak_gflops,
                       .code_hash = at_strdup(a, e->code_hash ? e->code_hash : ""),
                       .same_as = e->same_as,
                       .all_cost_s = record->all_cost_s,
                       .timestamp_s = record->timestamp_s};
    out->costs_s = at_copy(a, record->costs_s, sizeof *record->costs_s * (size_t)record->num_costs);
    out->samples_s = at_copy(a, e->samples_s, sizeof *e->samples_s * (size_t)e->num_samples);
    if (record->error_no) return;
    out->mean_s = at_record_mean(record);
    out->gflops = flops / out->mean_s * 1e-9;
}
