/* runtime/cover.c: see cover.h. */
#include "runtime/cover.h"

#include <string.h>
#include <sys/mman.h>

enum { ALWAYS = 16 }; /* of the runs, the first; their order is the parent's */
/* Of the core's time: of a trial's, of what is timed alone, of a reference. */
static const int64_t trial_ns = 4000000, alone_ns = 200000000, reference_ns = 400000000;

/* Are inputs others in each run? Then no run is more important than others, and trials, each of
 * which begins with one of its own, make fewer. */
static bool is_drawn_again(const at_job *job) {
    bool any = false;
    for (int i = 0; i < job->num_bufs; i++)
        any |= job->bufs[i].role == AT_BUF_IN && job->bufs[i].cover_step;
    return any;
}

static int64_t budget_ns(const at_job *job) {
    if (!job->expected_offset) return reference_ns;
    return job->pairs <= 0 ? alone_ns : is_drawn_again(job) ? trial_ns / 4 : trial_ns;
}

static int64_t always(const at_job *job) { return is_drawn_again(job) ? 0 : ALWAYS; }

/* The job with the data that runs have; bufs and expected are the copy's own. */
static at_job with_cover(const at_job *job, at_buf *bufs, int64_t *expected) {
    at_job other = *job;
    for (int i = 0, k = 0; i < job->num_bufs; i++) {
        bufs[i] = job->bufs[i];
        if (bufs[i].role == AT_BUF_IN) bufs[i].offset = bufs[i].cover_offset;
        if (bufs[i].role == AT_BUF_OUT) expected[k++] = bufs[i].cover_offset;
    }
    other.bufs = bufs;
    other.data_set = 1;
    other.data_version = 0;
    if (job->expected_offset) other.expected_offset = expected;
    return other;
}

/* back: elements are again what the store has. */
static void move(const at_inside *in, const at_job *job, const at_place *places, int64_t run,
                 bool back) {
    for (int i = 0; i < job->num_bufs; i++) {
        const at_buf *b = &job->bufs[i];
        if (b->role != AT_BUF_IN) continue;
        if (b->cover_step && !back)
            memcpy(places[i].start, in->store + b->cover_offset + run * b->cover_step,
                   (size_t)b->size_bytes);
        if (!b->num_moves) continue;
        const at_move *moves =
            (const at_move *)(const void *)(in->store + b->moves_offset) + run * b->num_moves;
        const size_t bytes = (size_t)at_type_bytes(b->type);
        for (int k = 0; k < b->num_moves; k++)
            memcpy(places[i].start + moves[k].at,
                   back ? in->store + b->offset + moves[k].at : (const char *)&moves[k].bits,
                   bytes);
    }
}

static void let_write(const at_job *job, const at_place *places) {
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].num_moves || (job->bufs[i].role == AT_BUF_IN && job->bufs[i].cover_step))
            mprotect(places[i].span, (size_t)(places[i].span_end - places[i].span),
                     PROT_READ | PROT_WRITE);
}

static void expect_run(const at_job *job, int64_t run, int64_t *expected) {
    for (int i = 0, k = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_OUT)
            expected[k++] = job->bufs[i].cover_offset + run * job->bufs[i].cover_step;
}

/* The n-th that is made. */
static int64_t run_of(const at_job *job, int64_t n) {
    const int64_t first = always(job), others = job->cover_runs - first;
    if (n < first || !job->expected_offset) return n;
    return first + (n - first + (int64_t)(job->pair_seed % (uint64_t)others)) % others;
}

static at_job_end run_moved(const at_inside *in, const at_job *job, const at_code *code,
                            const at_place *places, at_run *r, at_outcome *out) {
    if (code->pack && at_job_pack(job, code, places, r, out)) return out->end;
    at_crash_phase(AT_PHASE_RUN);
    const int failed = at_job_run_anew(in, job, places, r);
    if (!failed) return at_job_check_outputs(in, job, places, out);
    snprintf(out->error, sizeof out->error, "the kernel returned %d when run again", failed);
    return out->end = AT_JOB_CRASHED;
}

static at_job_end run_all(const at_inside *in, const at_job *job, const at_code *code,
                          const at_place *places, int64_t *expected, at_outcome *out) {
    const int64_t end_ns = at_machine_clock.thread_ns() + budget_ns(job);
    void *buf[AT_MAX_BUFS];
    at_run r;
    at_run_time t;
    for (int64_t n = 0; n < job->cover_runs; n++) {
        const int64_t run = run_of(job, n);
        expect_run(job, run, expected);
        move(in, job, places, run, false);
        if (n ? run_moved(in, job, code, places, &r, out)
              : at_job_first_run(in, job, code, places, buf, 0, &r, &t, out))
            return out->end;
        if (!job->expected_offset) at_job_publish(in, job, places, run + 1);
        move(in, job, places, run, true);
        out->cover_runs = n + 1;
        if ((n >= always(job) && at_machine_clock.thread_ns() >= end_ns) ||
            at_run_is_late(&r, 2 * t.ns))
            break;
    }
    out->kernel_ns += r.total_ns;
    return out->end = at_place_check(job, places, out->error, sizeof out->error);
}

at_job_end at_job_cover(const at_inside *in, const at_job *job, const at_code *code,
                        at_outcome *out) {
    const double max_error = out->max_error, of_limit = out->of_limit;
    at_buf bufs[AT_MAX_BUFS];
    int64_t expected[AT_MAX_BUFS];
    at_place places[AT_MAX_BUFS + 1];
    const at_job moved = with_cover(job, bufs, expected);
    const int failed = at_place_job(&moved, AT_PLACE_FLUSH_END, in->store, in->memory_bytes, places,
                                    out->error, sizeof out->error);
    if (failed) return out->end = failed;
    let_write(&moved, places);
    run_all(in, &moved, code, places, expected, out);
    at_crash_places(NULL, 0);
    at_place_release(&moved, AT_PLACE_FLUSH_END, places);
    out->max_error = max_error;
    out->of_limit = of_limit;
    return out->end;
}
