/* runtime/job.c: one job inside the worker, from its code to its times. */
#include "runtime/inside.h"
#include "runtime/cover.h"
#include "runtime/par_apart.h"

#include <string.h>
#include <unistd.h>

#define ERROR_TEXT(out) (out)->error, sizeof(out)->error

static at_job_end fail(at_outcome *out, at_job_end end) { return out->end = end; }

/* The job with a set of its other data; bufs and expected are the copy's own. */
static at_job with_other_data(const at_job *job, int set, at_buf *bufs, int64_t *expected) {
    at_job other = *job;
    for (int i = 0, k = 0; i < job->num_bufs; i++) {
        bufs[i] = job->bufs[i];
        const int64_t offset = bufs[i].other_offset[set], before = bufs[i].other_before_offset[set];
        if (bufs[i].role == AT_BUF_IN && offset) bufs[i].offset = offset;
        if (before) bufs[i].before_offset = before;
        if (bufs[i].role == AT_BUF_OUT && job->expected_offset)
            expected[k] = offset ? offset : job->expected_offset[k], k++;
    }
    other.bufs = bufs;
    other.data_set = set + 1;
    if (job->expected_offset) other.expected_offset = expected;
    return other;
}

/* What follows has the time limit for itself. */
static void begin_again(const at_inside *in) {
    at_msg_send(&(at_channel){.fd = in->fd}, AT_MSG_AGAIN, NULL, 0);
}

/* Whatever it makes of them: a kernel that keeps results of an earlier call has wrong ones then. */
static void call_with_others(const at_inside *in, const at_job *job, const at_code *code,
                             const at_place *places) {
    static at_outcome ignored;
    void *buf[AT_MAX_BUFS];
    at_run r;
    at_run_time t;
    at_job blind = *job;
    blind.expected_offset = NULL;
    at_outcome_clear(&ignored);
    at_place_turn(job, places, in->store, false);
    at_job_first_run(in, &blind, code, places, buf, 0, &r, &t, &ignored);
    at_place_turn(job, places, in->store, true);
}

/* A check run of its own, of memory placed for it. */
static at_job_end run_apart(const at_inside *in, const at_job *job, const at_code *code,
                            at_placing how, at_outcome *out) {
    at_place places[AT_MAX_BUFS + 1];
    void *buf[AT_MAX_BUFS];
    at_run r;
    at_run_time t;
    begin_again(in);
    int failed = at_place_job(job, how, in->store, in->memory_bytes, places, ERROR_TEXT(out));
    if (failed) return fail(out, failed);
    if (job->is_foreign) call_with_others(in, job, code, places);
    at_job_first_run(in, job, code, places, buf, 0, &r, &t, out);
    out->kernel_ns += r.total_ns;
    at_crash_places(NULL, 0);
    at_place_release(job, how, places);
    return out->end;
}

static bool has_other_data(const at_job *job, int set) {
    bool any = false;
    for (int i = 0; i < job->num_bufs && set < AT_MOST_OTHERS; i++)
        any |= job->bufs[i].other_offset[set] > 0;
    return any;
}

static at_job_end run_with(const at_inside *in, const at_job *job, int set, const at_code *code,
                           at_placing how, at_outcome *out) {
    at_buf bufs[AT_MAX_BUFS];
    int64_t expected[AT_MAX_BUFS];
    const at_job other = with_other_data(job, set, bufs, expected);
    return run_apart(in, &other, code, how, out);
}

/* Both ends of every buffer in turn against a guard page: there a stray access of one element
 * faults. And once at places that no vector is aligned to. */
static at_job_end paranoid_runs(const at_inside *in, const at_job *job, const at_code *code,
                                at_outcome *out) {
    if (run_apart(in, job, code, AT_PLACE_FLUSH_END, out)) return out->end;
    if (run_with(in, job, 0, code, AT_PLACE_FLUSH_START, out)) return out->end;
    return at_place_is_aligned(job) ? run_apart(in, job, code, AT_PLACE_FLUSH_APART, out)
                                    : AT_JOB_RAN;
}

/* What one set of data cannot show. How large errors are is told of the first. */
static at_job_end check_other_data(const at_inside *in, const at_job *job, int first,
                                   const at_code *code, at_outcome *out) {
    const double max_error = out->max_error, of_limit = out->of_limit;
    for (int set = first; has_other_data(job, set); set++)
        if (run_with(in, job, set, code, AT_PLACE_FLUSH_END, out)) return out->end;
    out->max_error = max_error;
    out->of_limit = of_limit;
    return AT_JOB_RAN;
}

static int run_last(at_run *r, const at_job *job) {
    if (r->fresh) at_run_freshen(r);
    r->registers = at_large_word(job->unwritten_sign, job->data_set);
    int64_t begin_ns = at_now_ns();
    int failed = at_run_next(r);
    r->registers = 0;
    r->total_ns += at_now_ns() - begin_ns;
    return failed;
}

/* A kernel of somebody's own may do something else at every fifth call. */
static at_job_end call_again(const at_inside *in, const at_job *job, const at_place *places,
                             int64_t run_ns, at_run *r, at_outcome *out) {
    enum { CALLS = 8 };
    for (int i = 0; i < CALLS && !at_run_is_late(r, run_ns); i++) {
        at_job_poison_outputs(in, job, places);
        at_job_fill_large(job, &places[job->num_bufs]);
        const int failed = run_last(r, job);
        if (failed) {
            snprintf(ERROR_TEXT(out), "the kernel returned %d when run again", failed);
            return fail(out, AT_JOB_CRASHED);
        }
        if (at_job_check_outputs(in, job, places, out)) return out->end;
    }
    return AT_JOB_RAN;
}

/* Everything up to the timing. */
static at_job_end check(const at_inside *in, const at_job *job, const at_code *code,
                        at_place *places, void **buf, at_run *r, at_run_time *t, at_outcome *out) {
    if (job->flush_bytes > 0 && !at_flush_prepare(job->flush_bytes)) {
        snprintf(ERROR_TEXT(out), "out of memory: flushing the caches takes %.1f GiB",
                 (double)job->flush_bytes / (1024.0 * 1024 * 1024));
        return fail(out, AT_JOB_CRASHED);
    }
    if (job->paranoid) {
        if (paranoid_runs(in, job, code, out)) return out->end;
        begin_again(in);
    }
    int failed =
        at_place_job(job, AT_PLACE_PLAIN, in->store, in->memory_bytes, places, ERROR_TEXT(out));
    if (failed) return fail(out, failed);
    double anchor_ns = job->pairs > 0 ? at_anchor_run_ns() : 0;
    double best_ns = anchor_ns > 0 ? anchor_ns * at_best_ratio(job) : (double)job->best_ns;
    if (at_job_first_run(in, job, code, places, buf, best_ns, r, t, out)) return out->end;
    if (job->threads > 1 && !out->is_cut && at_job_run_apart(in, job, places, t->ns, r, out))
        return out->end;
    if (job->is_foreign && !out->is_cut && call_again(in, job, places, t->ns, r, out))
        return out->end;
    const int others = job->paranoid; /* the first of them has been run */
    const bool is_new = job->is_foreign && !job->paranoid && !has_other_data(job, 0);
    if (is_new && !out->is_cut && !at_run_is_late(r, 2 * t->ns)) {
        if (run_apart(in, job, code, AT_PLACE_FLUSH_END, out)) return out->end;
        at_crash_places(places, job->num_bufs + 1);
        begin_again(in);
    }
    const bool may_be_aligned = job->is_foreign && !job->paranoid && at_place_is_aligned(job);
    if (may_be_aligned && !out->is_cut && !at_run_is_late(r, 2 * t->ns)) {
        if (run_apart(in, job, code, AT_PLACE_FLUSH_APART, out)) return out->end;
        at_crash_places(places, job->num_bufs + 1);
        begin_again(in);
    }
    if (!out->is_cut && has_other_data(job, others)) {
        if (check_other_data(in, job, others, code, out)) return out->end;
        begin_again(in);
        at_crash_places(places, job->num_bufs + 1);
    }
    if (!out->is_cut && job->cover_runs) {
        begin_again(in);
        if (at_job_cover(in, job, code, out)) return out->end;
        begin_again(in);
        at_crash_places(places, job->num_bufs + 1);
    }
    if (!job->expected_offset) at_job_publish(in, job, places, 0);
    return AT_JOB_RAN;
}

/* Times the kernel, and looks at what its last run has left: one that is right only once, or faster
 * because it does nothing any more, is found. */
static at_job_end time_and_recheck(const at_inside *in, const at_job *job, const at_place *places,
                                   at_run *r, at_run_time first, at_outcome *out) {
    static at_ring ring;
    const int64_t before_ns = r->total_ns;
    if (!at_ring_make(&ring, job, r)) {
        snprintf(ERROR_TEXT(out), "out of memory: copies of the packed weights take %.1f GiB",
                 (double)job->ring_bytes / (1024.0 * 1024 * 1024));
        return fail(out, AT_JOB_CRASHED);
    }
    at_anchor *anchor = job->pairs > 0 ? at_anchor_beside(job, places, r) : NULL;
    int failed = 0;
    if (anchor) {
        failed = at_time_pairs(r, anchor, job, first, out);
        /* The anchor has written to the same memory. */
        bool ran_again = r->total_ns != before_ns;
        if (ran_again) {
            at_job_poison_outputs(in, job, places);
            at_job_fill_large(job, &places[job->num_bufs]);
        }
        if (ran_again && !failed) failed = run_last(r, job);
    } else {
        at_job_poison_outputs(in, job, places);
        at_job_fill_large(job, &places[job->num_bufs]);
        failed = at_time_job(r, job, first, out);
    }
    if (failed) {
        snprintf(ERROR_TEXT(out), "the kernel returned %d when run again", failed);
        return fail(out, AT_JOB_CRASHED);
    }
    bool ran_again = r->total_ns != before_ns;
    if (!ran_again || !job->expected_offset) return AT_JOB_RAN;
    if (fail(out, at_place_check(job, places, ERROR_TEXT(out)))) return out->end;
    return at_job_check_outputs(in, job, places, out);
}

static void run_loaded(const at_inside *in, const at_job *job, const at_code *code,
                       at_outcome *out) {
    at_place places[AT_MAX_BUFS + 1];
    void *buf[AT_MAX_BUFS];
    at_run r = {0};
    at_run_time t;
    int64_t start = at_now_ns();
    int failed = check(in, job, code, places, buf, &r, &t, out);
    int64_t checked = at_now_ns();
    out->check_ns = checked - start;
    if (!failed && !job->run_only && !out->is_cut) {
        time_and_recheck(in, job, places, &r, t, out);
        out->run_ns = at_now_ns() - checked;
    }
    out->kernel_ns += r.total_ns;
    at_crash_places(NULL, 0);
}

void at_job_execute(at_inside *in, const at_job *job, at_outcome *out) {
    at_code code;
    int64_t start = at_now_ns(), core_ns = at_machine_clock.thread_ns();
    at_outcome_clear(out);
    at_crash_phase(AT_PHASE_COMPILE);
    int failed = 0;
    if (!at_ahead_load(job, &code, &out->ahead_ns))
        failed = at_job_load(job, AT_ARENA_JOB, &code, out);
    out->compile_ns = at_now_ns() - start + out->ahead_ns;
    if (!failed) {
        at_msg_send(&(at_channel){.fd = in->fd}, AT_MSG_COMPILED, NULL, 0);
        run_loaded(in, job, &code, out);
        if (out->end) at_ahead_forget(); /* nobody knows where else it has written */
        at_so_unload(&code);
    }
    out->core_ns = at_machine_clock.thread_ns() - core_ns;
    at_crash_phase(AT_PHASE_IDLE);
}
