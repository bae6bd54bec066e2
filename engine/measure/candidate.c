/* engine/measure/candidate.c: a configuration becomes a kernel and a job: built, verified, lowered
 * and compiled. */
#include "engine/measure/measure.h"

#include "engine/measure/bench.h"
#include "engine/measure/foreign_build.h"
#include "engine/measure/foreign_data.h"
#include "engine/measure/kernel_job.h"
#include "engine/measure/machine.h"

/* Operations (or bytes): with as many, the slowest kernels take longer than anybody should wait. */
static const double long_work = 1e8;

at_lower_options at_session_lower_options(const at_session *s, const char *name) {
    const at_cpu *cpu = at_cpu_facts();
    bool cold = s->options.cache == AT_CACHE_WEIGHTS_COLD;
    return (at_lower_options){.dialect = s->how.dialect,
                              .target = s->how.target,
                              .pack_inline = s->how.packing == AT_PACKING_INLINE,
                              .name = name,
                              .row = s->options.row,
                              .prefetch_above = cold ? cpu->l1d_bytes : cpu->l2_bytes,
                              .prefetch_apart_above = cold ? 0 : cpu->l3_bytes,
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

/* A step that began then is done. */
static bool step_done(at_session *s, at_arena *a, at_record *result, int64_t begin_ns,
                      at_status status, const at_error *err) {
    int64_t spent_ns = at_now_ns() - begin_ns;
    s->spent.lower_ns += spent_ns;
    result->all_cost_s += (double)spent_ns * 1e-9;
    if (status != AT_OK) at_candidate_fail(a, result, AT_ERR_INSTANTIATION, err->text);
    return status == AT_OK;
}

bool at_candidate_build(at_session *s, at_arena *a, const at_config *c, at_candidate *out,
                        at_record *result) {
    at_error err;
    at_session_record(s, c, result);
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

/* The kernel beside the session's data; what is asked of its run. */
static void prepare_job(at_session *s, at_arena *a, at_candidate *c) {
    const at_dataset *d = &s->bench->data;
    at_places where = {.at = d->offset, .expected = d->expected, .tensor_of = c->tensor_of};
    for (; where.num_others < s->bench->num_others; where.num_others++) {
        where.other_at[where.num_others] = s->bench->others[where.num_others].offset;
        where.other_expected[where.num_others] = s->bench->others[where.num_others].expected;
    }
    if (s->bench->moved.runs)
        where.moved = &s->bench->moved, where.cover_at = s->bench->cover.offset;
    c->job = at_kernel_job(a, c->kernel, s->how.threads, &where);
    if (s->foreign && at_foreign_is_unchecked(s))
        c->job.expected_offset = NULL, c->job.cover_runs = 0;
    c->job.ahead = c->ahead;
    c->job.is_foreign = s->foreign != NULL;
    c->job.has_limits = !d->is_exact;
    c->job.compiler = s->how.compiler;
    c->job.unwritten_sign = at_unwritten_sign(at_task_compute(s->what.task));
    c->job.vector_set = at_vector_set(s->how.target->name);
    c->job.paranoid = s->options.paranoid;
    c->job.number = (int)s->options.number;
    c->job.repeat = (int)s->options.repeat;
    c->job.min_repeat_ms = s->options.min_repeat_ms;
    c->job.flush_bytes = s->bench->flush_bytes;
    c->job.ring_bytes = s->bench->ring_bytes;
    c->job.compile_timeout_s = c->job.run_timeout_s = s->options.timeout_s;
}

at_status at_candidate_compile(at_session *s, at_arena *a, at_candidate *c, at_record *result,
                               bool *compiled, at_error *err) {
    const at_engine_options *o = &s->options;
    const char *misfit = at_dataset_misfit(&s->bench->data, c->extents);
    *compiled = !misfit;
    if (misfit) {
        at_candidate_fail(
            a, result, AT_ERR_INSTANTIATION,
            at_format(a,
                      "the shape of %s depends on the configuration; its template says with "
                      "at_layout how the task's own data lie in it",
                      misfit));
        return AT_OK;
    }
    prepare_job(s, a, c);
    if (s->how.compiler == AT_TCC) return AT_OK;

    at_object made;
    if (s->foreign) AT_TRY(build_foreign(s, a, c, result, &made, err));
    else
        AT_TRY(at_build_object(a, s->how.compiler, c->kernel->source,
                               compiler_flags(s->how.compiler, s->how.target), o->timeout_s,
                               o->stop, &made, err));
    s->spent.compile_ns += made.compile_ns;
    result->all_cost_s += (double)made.compile_ns * 1e-9;
    *compiled = !made.end;
    if (made.end) at_candidate_fail(a, result, at_error_of_job(made.end), made.error);
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

void at_candidate_drop(at_candidate *c) {
    if (c->object) at_object_remove(c->object);
    c->object = NULL;
}
