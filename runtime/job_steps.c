/* runtime/job_steps.c: steps that a job and an anchor have in common: load, poison, pack, run,
 * check.
 */
#include "runtime/arch.h"
#include "runtime/inside.h"
#include "runtime/cover.h"
#include "runtime/par_apart.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#define LONGEST_S 3e7 /* a year is for ever, and fits */
#define ERROR_TEXT(out) (out)->error, sizeof(out)->error

static at_job_end fail(at_outcome *out, at_job_end end) { return out->end = end; }

at_job_end at_job_load(const at_job *job, at_arena_no number, at_code *code, at_outcome *out) {
    if (job->object) return fail(out, at_so_load(job, code, ERROR_TEXT(out)));
    return fail(out, at_tcc_load(job, number, code, ERROR_TEXT(out)));
}

void at_job_poison_outputs(const at_inside *in, const at_job *job, const at_place *places) {
    for (int i = 0; i < job->num_bufs; i++) {
        const at_buf *b = &job->bufs[i];
        if (b->role != AT_BUF_OUT) continue;
        if (b->stays) memcpy(places[i].start, in->store + b->before_offset, (size_t)b->size_bytes);
        else at_poison(places[i].start, places[i].size_bytes, AT_POISON_OUT);
    }
}

void at_job_fill_large(const at_job *job, const at_place *p) {
    at_fill_large(p->start, p->size_bytes, job->unwritten_sign, job->data_set);
}

static void fill_unwritten(const at_job *job, const at_place *p) {
    if (job->data_set) at_job_fill_large(job, p);
    else at_poison(p->start, p->size_bytes, AT_POISON_WORK);
}

/* Of types without room for a poison every value is legal: elements hold the complement of what is
 * expected. */
static void poison_outputs(const at_inside *in, const at_job *job, const at_place *places) {
    at_job_poison_outputs(in, job, places);
    for (int i = 0, k = 0; i < job->num_bufs && job->expected_offset; i++) {
        const at_buf *b = &job->bufs[i];
        if (b->role != AT_BUF_OUT) continue;
        const unsigned char *expected =
            (const unsigned char *)in->store + job->expected_offset[k++];
        if (at_type_bytes(b->type) == 4 || b->stays) continue;
        unsigned char *to = (unsigned char *)places[i].start;
        for (int64_t j = 0; j < b->size_bytes; j++) to[j] = (unsigned char)~expected[j];
    }
}

at_job_end at_job_check_outputs(const at_inside *in, const at_job *job, const at_place *places,
                                at_outcome *out) {
    for (int i = 0, k = 0; i < job->num_bufs; i++) {
        const at_buf *b = &job->bufs[i];
        if (b->role != AT_BUF_OUT) continue;
        const void *expected = job->expected_offset ? in->store + job->expected_offset[k++] : NULL;
        if (!at_check_output(b, places[i].start, expected, job, out)) return out->end;
    }
    return AT_JOB_RAN;
}

/* What nobody has expected values for goes to the parent, who puts it into the store. */
void at_job_publish(const at_inside *in, const at_job *job, const at_place *places, int64_t run) {
    static struct {
        at_output_head head;
        char bytes[AT_OUTPUT_BYTES];
    } part;
    const at_channel parent = {.fd = in->fd};
    for (int i = 0; i < job->num_bufs; i++) {
        const at_buf *b = &job->bufs[i];
        for (int64_t n, done = 0; b->role == AT_BUF_OUT && done < b->size_bytes; done += n) {
            n = b->size_bytes - done < AT_OUTPUT_BYTES ? b->size_bytes - done : AT_OUTPUT_BYTES;
            part.head = (at_output_head){i, done, run};
            memcpy(part.bytes, places[i].start + done, (size_t)n);
            if (at_msg_send(&parent, AT_MSG_OUTPUT, &part, sizeof part.head + (size_t)n))
                _exit(1); /* nobody is there */
        }
    }
}

at_job_end at_job_pack(const at_job *job, const at_code *code, const at_place *places, at_run *r,
                       at_outcome *out) {
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_PACKED) fill_unwritten(job, &places[i]);
    if (!code->pack) return AT_JOB_RAN;
    at_crash_phase(AT_PHASE_PACK);
    const int failed = code->pack(r->buf, r->workspace, &r->par);
    if (!failed) return AT_JOB_RAN;
    snprintf(ERROR_TEXT(out), "the pack function returned %d", failed);
    return fail(out, AT_JOB_CRASHED);
}

at_job_end at_job_first_run(const at_inside *in, const at_job *job, const at_code *code,
                            const at_place *places, void **buf, double best_ns, at_run *r,
                            at_run_time *t, at_outcome *out) {
    const at_place *workspace = &places[job->num_bufs];
    const double limit_s = fmin(job->run_timeout_s, LONGEST_S);
    for (int i = 0; i < job->num_bufs; i++) buf[i] = places[i].start;
    *r = (at_run){.clock = &at_machine_clock,
                  .entry = code->entry,
                  .buf = buf,
                  .workspace = workspace->start,
                  .vector_set = job->vector_set,
                  .late_ns = limit_s > 0 ? at_now_ns() + (int64_t)(limit_s * 1e9 / 2) : 0,
                  .flush_bytes = job->run_only ? 0 : job->flush_bytes,
                  .store = in->store};
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].is_fresh) r->fresh = job;
    at_par_setup(&r->par, job->threads);
    at_crash_places(places, job->num_bufs + 1);
    if (at_job_pack(job, code, places, r, out)) return out->end;
    at_crash_phase(AT_PHASE_RUN);
    const int64_t limit_ns = at_run_limit(job, best_ns);
    const uint64_t mode = at_arch_float_mode();
    int64_t ns = 0;
    int failed = 0;
    out->is_cut = limit_ns && at_part_is_behind(r, job->turns, limit_ns, &ns, &failed);
    poison_outputs(in, job, places);
    fill_unwritten(job, workspace);
    if (!failed && !out->is_cut) {
        r->registers =
            job->data_set ? at_large_word(job->unwritten_sign, job->data_set) : AT_POISON_WORK;
        failed = at_run_limited(r, limit_ns, AT_BEHIND * best_ns, t, &out->is_cut);
        r->registers = 0;
        ns = t->ns;
    }
    const bool keeps_mode = at_arch_float_mode() == mode;
    if (!keeps_mode) at_arch_set_float_mode(mode); /* for the next kernel */
    if (failed) {
        snprintf(ERROR_TEXT(out), "the kernel returned %d", failed);
        return fail(out, AT_JOB_CRASHED);
    }
    if (!keeps_mode) {
        snprintf(ERROR_TEXT(out), "the kernel leaves another mode of rounding, or of numbers below "
                                  "the normal ones, than it was called in");
        return fail(out, AT_JOB_WRONG);
    }
    if (fail(out, at_place_check(job, places, ERROR_TEXT(out)))) return out->end;
    if (out->is_cut) {
        out->at_least = true;
        out->number = 1;
        out->costs_s[out->num_costs++] = (double)ns * 1e-9;
        return AT_JOB_RAN;
    }
    return at_job_check_outputs(in, job, places, out);
}

int at_job_run_anew(const at_inside *in, const at_job *job, const at_place *places, at_run *r) {
    poison_outputs(in, job, places);
    fill_unwritten(job, &places[job->num_bufs]);
    if (r->fresh) at_run_freshen(r);
    return at_run_next(r);
}

at_job_end at_job_run_apart(const at_inside *in, const at_job *job, const at_place *places,
                            int64_t run_ns, at_run *r, at_outcome *out) {
    const at_par par = r->par;
    /* One thread takes all turns, and may begin them once more just before there is no time left.
     */
    if (at_run_is_late(r, 2 * par.threads * run_ns)) return AT_JOB_RAN;
    if (!at_par_apart_begin(&r->par, job, places, run_ns, r->late_ns)) return AT_JOB_RAN;
    const int failed = at_job_run_anew(in, job, places, r);
    r->par = par;
    if (!at_par_apart_end(ERROR_TEXT(out))) return fail(out, AT_JOB_WRONG);
    if (failed) {
        snprintf(ERROR_TEXT(out), "the kernel returned %d when turns of its loops ran apart",
                 failed);
        return fail(out, AT_JOB_CRASHED);
    }
    return at_job_check_outputs(in, job, places, out);
}
