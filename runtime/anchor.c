/* runtime/anchor.c: inside the worker, the kernel that others are timed against. It comes like a
 * job, is checked like one, and stays: code, packed weights and workspace in places of their own,
 * inputs and outputs where those of the job beside it are, so that the caches hold them once. */
#include "runtime/inside.h"

#include <string.h>

static at_anchor anchor;
static at_job job_of_it;
static at_msg message; /* that the job lies in */

static void forget(void) {
    at_so_unload(&anchor.code);
    anchor = (at_anchor){.ring = anchor.ring}; /* whose memory the next one takes */
}

/* The fastest of a few: the first run is cold, and others may be disturbed. Of long ones fewer tell
 * as much. */
static int time_it(at_run *r, at_run_time t) {
    int failed = 0;
    int64_t ns = t.ns, spent_ns = t.disturbed ? 0 : t.ns;
    for (int i = 0; i < 4 && !failed && spent_ns < AT_LONG_NS; i++) {
        failed = at_run_once(r, 0, &t);
        if (!t.disturbed) spent_ns += t.ns;
        if (t.ns < ns) ns = t.ns;
    }
    if (!failed) failed = at_run_glance(r, &anchor.tick, &ns);
    anchor.run_ns = (double)ns;
    return failed;
}

/* What it has packed, and inputs of its own, stay. */
static bool settle(const at_inside *in, const at_job *job, const at_place *places) {
    at_anchor *a = &anchor;
    if (!at_place_anchor(job, in->store, in->memory_bytes, a->places)) return false;
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_PACKED)
            memcpy(a->places[i].start, places[i].start, (size_t)places[i].size_bytes);
    a->run.buf = a->buf;
    a->run.workspace = a->places[job->num_bufs].start;
    a->run.total_ns = 0;
    a->job = job;
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_PACKED) a->buf[i] = a->places[i].start;
    return at_ring_make(&a->ring, job, &a->run);
}

void at_anchor_execute(at_inside *in, at_msg *m, at_outcome *out) {
    static const char *const no_memory = "out of memory: no room for the anchor beside others";
    at_place places[AT_MAX_BUFS + 1];
    void *buf[AT_MAX_BUFS];
    at_run_time t;
    forget();
    at_msg was = message;
    message = *m;
    *m = was;
    at_outcome_clear(out);
    if (!at_decode_job(&message, &job_of_it)) return;
    const at_job *job = &job_of_it;
    at_crash_phase(AT_PHASE_COMPILE);
    if (at_job_load(job, AT_ARENA_ANCHOR, &anchor.code, out)) return;
    at_msg_send(&(at_channel){.fd = in->fd}, AT_MSG_COMPILED, NULL, 0);
    out->end = at_place_job(job, AT_PLACE_PLAIN, in->store, in->memory_bytes, places, out->error,
                            sizeof out->error);
    if (!out->end &&
        !at_job_first_run(in, job, &anchor.code, places, buf, 0, &anchor.run, &t, out)) {
        if (time_it(&anchor.run, t)) out->end = AT_JOB_CRASHED;
        out->kernel_ns = anchor.run.total_ns;
        if (!out->end && !settle(in, job, places)) out->end = AT_JOB_CRASHED;
        if (out->end) snprintf(out->error, sizeof out->error, "%s", no_memory);
    }
    if (out->end) forget();
    at_crash_places(NULL, 0);
    at_crash_phase(AT_PHASE_IDLE);
}

/* The input of a job that holds the same; NULL: none. */
static void *same_input(const at_job *job, const at_place *places, const at_buf *b) {
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_IN && job->bufs[i].offset == b->offset)
            return places[i].start;
    return NULL;
}

/* Its output number n; NULL: there is none of that size. */
static void *output_number(const at_job *job, const at_place *places, int n, int64_t size_bytes) {
    for (int i = 0; i < job->num_bufs; i++)
        if (job->bufs[i].role == AT_BUF_OUT && n-- == 0)
            return job->bufs[i].size_bytes >= size_bytes ? places[i].start : NULL;
    return NULL;
}

/* The same code for the same buffers. Objects of gcc and clang: the same file, which is there as
 * long as the anchor is. */
static bool is_same_kernel(const at_job *x, const at_job *y) {
    bool same = x->compiler == y->compiler && at_same_text(x->source, y->source) &&
                at_same_text(x->object, y->object) && at_same_text(x->entry, y->entry) &&
                at_same_text(x->pack, y->pack) && x->num_blobs == y->num_blobs &&
                x->num_bufs == y->num_bufs && x->workspace_bytes == y->workspace_bytes &&
                x->threads == y->threads;
    for (int i = 0; i < x->num_blobs && same; i++) {
        const at_blob *b = &x->blobs[i], *c = &y->blobs[i];
        same = at_same_text(b->symbol, c->symbol) && b->size_bytes == c->size_bytes &&
               !memcmp(b->bytes, c->bytes, (size_t)b->size_bytes);
    }
    for (int i = 0; i < x->num_bufs && same; i++) {
        const at_buf *b = &x->bufs[i], *c = &y->bufs[i];
        same = b->role == c->role && b->size_bytes == c->size_bytes && b->offset == c->offset;
    }
    return same;
}

double at_anchor_run_ns(void) { return anchor.job ? anchor.run_ns : 0; }

at_anchor *at_anchor_beside(const at_job *job, const at_place *places, const at_run *r) {
    at_anchor *a = &anchor;
    int outputs = 0;
    if (!a->job) return NULL;
    a->beside = a->run;
    if (is_same_kernel(a->job, job)) {
        a->beside = *r;
        a->beside.total_ns = 0;
        return a;
    }
    for (int i = 0; i < a->job->num_bufs; i++) {
        const at_buf *b = &a->job->bufs[i];
        a->buf[i] = a->places[i].start;
        if (b->role == AT_BUF_OUT) a->buf[i] = output_number(job, places, outputs++, b->size_bytes);
        else if (!a->buf[i]) a->buf[i] = same_input(job, places, b);
        if (!a->buf[i] && b->size_bytes) return NULL;
    }
    at_par_setup(&a->beside.par, a->job->threads);
    a->beside.store = r->store; /* it may have moved */
    return a;
}
