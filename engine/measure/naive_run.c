/* engine/measure/naive_run.c: see naive_run.h. */
#include "engine/measure/naive_run.h"
#include "engine/measure/bench.h"
#include "runtime/kept_object.h"

#include <math.h>

/* A point takes some 6 ns under TinyCC and less than 1 under gcc, which takes 0.05 to 0.1 s to
 * start.
 */
static const double gcc_from_points = 2e7;
/* No product becomes part of a multiply-add: each step is rounded where integers are. */
static const char gcc_flags[] =
    "-O3 -march=native -ffp-contract=off -fno-trapping-math -fno-math-errno";
/* From here on it takes so long that somebody will wonder. */
static const double long_points = 1e10;
static const double compile_timeout_s = 60, run_timeout_s = 24 * 3600.0;

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
            if (part == LIMITS) {
                bufs[*n].type = AT_F32;
                bufs[*n].offset += at_limits_at(d->size_bytes[t]);
                bufs[*n].size_bytes = at_dataset_elements(d, t) * at_type_bytes(AT_F32);
            }
            if (part == OUTPUTS && sums) bufs[*n] = *sums;
            (*n)++;
        }
}

/* Limits lie behind what outputs should be, in each run. */
static void add_moves(const at_dataset *d, const at_moved *m, at_job *job, at_buf *bufs) {
    const at_compute *c = d->compute;
    int n = 0;
    job->cover_runs = m->runs;
    for (int t = 0; t < c->num_tensors; t++) {
        if (!at_dataset_keeps(&c->tensors[t]) || c->tensors[t].is_output) continue;
        bufs[n].cover_step = m->step[t];
        bufs[n].cover_offset = m->step[t] ? m->first[t] : d->offset[t];
        bufs[n].moves_offset = m->moves[t];
        bufs[n++].num_moves = m->num[t];
    }
    for (int limits = 0; limits <= !d->is_exact; limits++)
        for (int t = 0; t < c->num_tensors; t++) {
            if (!c->tensors[t].is_output) continue;
            bufs[n].cover_offset = m->first[t] + (limits ? at_limits_at(d->size_bytes[t]) : 0);
            bufs[n++].cover_step = m->step[t];
        }
}

/* What is left of a time limit, which is no limit of one kernel. */
static double most_seconds(const at_session *s) {
    double left_s = (double)(s->deadline_ns - at_now_ns()) * 1e-9;
    return s->deadline_ns ? fmax(left_s, 0.001) : run_timeout_s;
}

/* What gcc made of the same text before, with other data or in another run; NULL: nothing. */
static char *kept_object(at_arena *a, const char *path) {
    char *bytes, *object;
    size_t size;
    const bool is_there = path && at_kept_read(a, path, &bytes, &size) &&
                          at_object_of_bytes(a, bytes, size, &object, NULL) == AT_OK;
    return is_there ? object : NULL;
}

/* Where gcc does not serve, TinyCC does. */
static void compile_by_gcc(at_session *s, at_job *job) {
    at_object made;
    const char *path = at_kept_path(s->scratch, "reference", gcc_flags, job->source);
    char *object = kept_object(s->scratch, path);
    if (!object) {
        if (at_build_object(s->scratch, AT_GCC, job->source, gcc_flags, compile_timeout_s,
                            s->options.stop, &made, NULL) != AT_OK ||
            made.end)
            return;
        object = made.path;
        at_kept_add(s->scratch, path, object);
    }
    job->compiler = AT_GCC;
    job->object = object;
}

static at_status check_workspace(int64_t bytes, at_error *err) {
    const double gib = 1 << 30;
    if (bytes <= at_cpu_most_bytes()) return AT_OK;
    return at_fail(err, AT_E_USAGE,
                   "the reference keeps whole stages: %.1f GiB, this machine has %.1f GiB",
                   (double)bytes / gib, (double)at_cpu_facts()->memory_bytes / gib);
}

bool at_naive_is_long(double points) { return points > gcc_from_points; }

at_status at_naive_begin(at_session *s, const at_dataset *d, const at_naive_code *code,
                         at_naive_run *r, at_error *err) {
    at_arena *a = s->scratch;
    r->job = (at_job){.compiler = AT_TCC,
                      .source = code->source,
                      .entry = AT_NAIVE_ENTRY,
                      .threads = 1,
                      .run_only = true,
                      .workspace_bytes = code->workspace_bytes,
                      .data_version = d->version,
                      .compile_timeout_s = compile_timeout_s,
                      .run_timeout_s = most_seconds(s)};
    AT_TRY(check_workspace(code->workspace_bytes, err));
    if (code->points > long_points)
        at_engine_warn(&s->options,
                       at_format(a,
                                 "the output that kernels are checked against takes long: plain "
                                 "loops of %.0e steps make it",
                                 code->points));
    at_buf *bufs = AT_NEW_ARRAY(a, at_buf, 2 * d->compute->num_tensors);
    add_buffers(d, code->sums, bufs, &r->job.num_bufs);
    if (code->moved) add_moves(d, code->moved, &r->job, bufs);
    r->moved = code->moved;
    r->job.bufs = bufs;
    if (at_naive_is_long(code->points) && at_compiler_available(AT_GCC)) compile_by_gcc(s, &r->job);
    r->job.run_timeout_s = most_seconds(s); /* a compiler took some */
    at_status status = at_worker_begin(s->bench->worker, &r->job, s->options.stop, err);
    if (status != AT_OK && r->job.object) at_object_remove(r->job.object);
    return status;
}

at_status at_naive_end(at_session *s, at_naive_run *r, at_error *err) {
    at_outcome outcome;
    at_status status = at_worker_end(s->bench->worker, &r->job, s->options.stop, &outcome, err);
    if (r->job.object) at_object_remove(r->job.object);
    const bool is_late = at_is_end(status) && !at_is_set(s->options.stop);
    if (!is_late) AT_TRY(status);
    if (is_late || (outcome.end == AT_JOB_TIMEOUT && s->deadline_ns))
        return at_fail(err, AT_E_NO_VALID,
                       "%s: the time ended first: plain loops make the output that kernels are "
                       "checked against, and were not through; give a longer --time, or smaller "
                       "sizes",
                       s->what.row->name);
    if (outcome.end)
        return at_fail(err, AT_E_BUG, "the reference failed (%s): %s",
                       at_err_no_name(at_error_of_job(outcome.end)), outcome.error);
    if (r->moved) r->moved->runs = outcome.cover_runs;
    return AT_OK;
}

at_status at_naive_print(at_session *s, const at_dataset *d, at_naive_print_fn *print,
                         double points, at_naive_code *out, at_error *err) {
    at_text source = {0};
    *out = (at_naive_code){.points = points};
    at_status status = print(s->scratch, d->compute, d->values, AT_NAIVE_ENTRY, &source,
                             &out->workspace_bytes, err);
    out->source = at_text_take(s->scratch, &source);
    return status;
}

at_status at_naive_run_whole(at_session *s, const at_dataset *d, const at_naive_code *code,
                             at_error *err) {
    at_naive_run r;
    AT_TRY(at_naive_begin(s, d, code, &r, err));
    return at_naive_end(s, &r, err);
}
